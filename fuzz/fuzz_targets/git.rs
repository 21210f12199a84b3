//! Any repository, whole or broken, and any directory and revision of it: read, or an error; nothing in it is written,
//! and no path of it leaves the package.
//!
//! Objects are written with the name of another one: trees that hold themselves, tags of tags, names that no tree has.

#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use krm_core::config::Config;
use krm_function::{Inputs, Items, SuppliedInput, run};
use krm_package::check_package_path;
use krm_function::supplied::{CatalogSource, Role};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

const RESOURCE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n";
const VARIANT: &str = "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata: {name: v}\nspec:\n  \
                       upstream: {repo: catalog, package: shop, revision: REVISION}\n  downstream: {repo: a, package: c}\n";

/// A repository as Git made it.
struct Template {
    place: PathBuf,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// One with loose objects, one with a pack; and the names of the objects.
static TEMPLATES: LazyLock<([Template; 2], Vec<String>)> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("krm-variants-fuzz-git-{}", std::process::id()));
    let [loose, packed] = ["loose", "packed"].map(|name| place.join(name));
    fs::create_dir_all(loose.join("shop/sub")).expect("a folder");
    let write = |path: &str, text: &str| fs::write(loose.join(path), text).expect("a file");
    write("shop/Kptfile", KPTFILE);
    write("shop/sub/Kptfile", &KPTFILE.replace("shop", "sub"));
    write("shop/.krmignore", "*.md\n");
    write("shop/notes.md", "# notes\n");
    std::os::unix::fs::symlink("a.yaml", loose.join("shop/link.yaml")).expect("a link");
    git(&loose, &["init", "-q", "-b", "main"]);
    for revision in 1..=3 {
        write("shop/a.yaml", &format!("{RESOURCE}data: {{revision: r{revision}}}\n"));
        git(&loose, &["add", "-A"]);
        git(&loose, &["commit", "-qm", "a change"]);
        git(&loose, &["tag", &format!("v{revision}")]);
    }
    git(&loose, &["tag", "-am", "annotated", "shop/v2", "v2"]);
    git(&place, &["clone", "-q", "--bare", "loose", "packed"]);
    git(&packed, &["gc", "-q"]);
    git(&packed, &["pack-refs", "--all"]);
    let listed = git(&loose, &["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
    let objects = listed.lines().map(str::to_owned).collect();
    fs::remove_dir_all(loose.join(".git/hooks")).expect("hooks");
    fs::remove_dir_all(packed.join("hooks")).expect("hooks");
    let template = |repository: PathBuf, folder: PathBuf| Template { place: repository, files: files(&folder) };
    ([template(loose.clone(), loose.join(".git")), template(packed.clone(), packed)], objects)
});

/// What Git says; the same objects each time.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let who = ["AUTHOR", "COMMITTER"].into_iter().flat_map(|who| {
        [("NAME", "a"), ("EMAIL", "a@example.com"), ("DATE", "1700000000 +0000")].map(|(what, value)| (format!("GIT_{who}_{what}"), value))
    });
    let output = Command::new("git").args(arguments).current_dir(folder).envs(who).output().expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let bytes = fs::read(&path).expect("a file");
            found.insert(path, bytes);
        }
    }
    found
}

fuzz_target!(|bytes: &[u8]| {
    let _ = one(&mut Unstructured::new(bytes));
});

fn one(u: &mut Unstructured<'_>) -> Result<()> {
    let (templates, objects) = &*TEMPLATES;
    let template = &templates[usize::from(u.ratio(1, 3)?)];
    let folder = if template.place.join(".git").exists() { template.place.join(".git") } else { template.place.clone() };
    let mut broken = BTreeMap::new();
    for _ in 0..u.int_in_range(0..=4)? {
        let (path, bytes) = fault(u, template, &folder, objects)?;
        broken.insert(path, bytes);
    }
    for (path, bytes) in &broken {
        put(path, bytes.as_deref());
    }
    work(u, template, objects)?;
    let now = files(&folder);
    for (path, bytes) in &broken {
        assert_eq!(now.get(path), bytes.as_ref(), "{} was written", path.display());
        put(path, template.files.get(path).map(Vec::as_slice));
    }
    let is_ours = |path: &PathBuf| broken.contains_key(path) || template.files.get(path) == now.get(path);
    assert!(now.keys().chain(template.files.keys()).all(is_ours), "something was written");
    Ok(())
}

fn put(path: &Path, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let _ = fs::remove_file(path);
            fs::write(path, bytes).expect("a file");
        }
        None => drop(fs::remove_file(path)),
    }
}

/// What is wrong with the repository: a file, and what stands in it.
fn fault(u: &mut Unstructured<'_>, template: &Template, folder: &Path, objects: &[String]) -> Result<(PathBuf, Option<Vec<u8>>)> {
    if u.ratio(1, 2)? {
        let id = u.choose(objects)?;
        return Ok((folder.join("objects").join(&id[..2]).join(&id[2..]), Some(object(u, objects)?)));
    }
    if u.ratio(1, 3)? {
        let path = *u.choose(&[
            "HEAD", "refs/heads/main", "refs/tags/v1", "refs/tags/shop/v2", "packed-refs", "config", "commondir", "shallow",
            "objects/info/alternates", "info/grafts", "refs/replace/x", "logs/HEAD",
        ])?;
        let id = u.choose(objects)?;
        let text = match u.int_in_range(0..=7)? {
            0 => format!("{id}\n"),
            1 => format!("ref: {}\n", u.choose(&["refs/heads/main", "HEAD", "../../config", "refs/heads/none", "refs/tags/v1"])?),
            2 => format!("# pack-refs with: peeled fully-peeled sorted \n{id} refs/tags/v1\n^{id}\n"),
            3 => "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n".to_owned(),
            4 => format!("{}\n", u.choose(&[".", "..", "../objects", "/dev/null", "/"])?),
            5 => String::new(),
            6 => format!("{} {id} a <a@b.c> 1700000000 +0000\tcommit\n", u.choose(objects)?),
            _ => u.arbitrary::<String>()?,
        };
        return Ok((folder.join(path), Some(text.into_bytes())));
    }
    let paths: Vec<_> = template.files.keys().collect();
    let path = *u.choose(&paths)?;
    let mut bytes = template.files[path].clone();
    match u.int_in_range(0..=4)? {
        0 => return Ok((path.clone(), None)),
        1 => bytes.truncate(u.int_in_range(0..=bytes.len())?),
        2 if !bytes.is_empty() => {
            for _ in 0..=u.int_in_range(0..=3)? {
                let at = u.choose_index(bytes.len())?;
                bytes[at] = u.arbitrary()?;
            }
        }
        3 => bytes.extend(u.arbitrary::<[u8; 8]>()?),
        _ => bytes = u.arbitrary()?,
    }
    Ok((path.clone(), Some(bytes)))
}

/// An object as a file of its own: what it says, compressed without compression.
fn object(u: &mut Unstructured<'_>, objects: &[String]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    let kind = *u.choose(&["tree", "tree", "commit", "tag", "blob"])?;
    let id = u.choose(objects)?;
    match kind {
        "tree" => {
            for _ in 0..u.int_in_range(0..=5)? {
                let mode = *u.choose(&["40000", "100644", "100755", "120000", "160000", "40755", "0", "77777777777", ""])?;
                let name = *u.choose(&[
                    "shop", "sub", "a.yaml", "Kptfile", ".krmignore", "link.yaml", ".", "..", ".git", ".GIT", "a/b", "../up",
                    "a\\b", "", "\u{1b}[31m", "b.yaml",
                ])?;
                body.extend_from_slice(format!("{mode} {name}").as_bytes());
                body.push(0);
                let id = u.choose(objects)?;
                body.extend((0..20).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).expect("a digit")));
            }
        }
        "commit" => {
            body = format!("tree {id}\n").into_bytes();
            for _ in 0..u.int_in_range(0..=2)? {
                body.extend_from_slice(format!("parent {}\n", u.choose(objects)?).as_bytes());
            }
            let time = *u.choose(&["1700000000 +0000", "-1 +9999", "99999999999999999999 -0000", ""])?;
            body.extend_from_slice(format!("author a <a@b.c> {time}\ncommitter a <a@b.c> {time}\n\na change\n").as_bytes());
        }
        "tag" => {
            let of = *u.choose(&["commit", "tag", "tree", "blob", "none"])?;
            body = format!("object {id}\ntype {of}\ntag shop/v2\ntagger a <a@b.c> 1700000000 +0000\n\nx\n").into_bytes();
        }
        _ => {
            let text = *u.choose(&[RESOURCE, KPTFILE, "a.yaml", "link.yaml", "../..", "/etc/passwd", "*\n!a.yaml\n", "a: [\n", "\u{0}", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"])?;
            body = text.as_bytes().to_vec();
        }
    }
    let length = if u.ratio(1, 10)? { u.arbitrary()? } else { body.len() as u64 };
    let kind = if u.ratio(1, 20)? { "blob" } else { kind };
    let mut text = format!("{kind} {length}\0").into_bytes();
    text.extend(body);
    Ok(compressed(&text))
}

/// zlib's form of bytes, in blocks that are stored.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("short");
    let mut out = vec![0x78, 0x01, 0x01];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(bytes);
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    out.extend((high << 16 | low).to_be_bytes());
    out
}

fn revision(u: &mut Unstructured<'_>, objects: &[String]) -> Result<String> {
    Ok(match u.int_in_range(0..=7)? {
        0..=3 => (*u.choose(&["v1", "v2", "v3", "main", "HEAD", "shop/v2"])?).to_owned(),
        4 => u.choose(objects)?[..*u.choose(&[40, 7, 4, 1])?].to_owned(),
        5 => (*u.choose(&[
            "HEAD~1", "HEAD^2", "main@{1}", "@{-1}", ":/change", "v3^{/a}", "v1^{tree}", "v1:shop", "v1..v2", "^v1", ":0:a", "HEAD~99999999999",
            "shop/v2^{}", "@{u}", "v1^{tag}", "main@{yesterday}", "",
        ])?)
        .to_owned(),
        6 => format!("{}{}", u.choose(&["v1", "main"])?, u.arbitrary::<&str>()?),
        _ => u.arbitrary::<String>()?,
    })
}

fn work(u: &mut Unstructured<'_>, template: &Template, objects: &[String]) -> Result<()> {
    let directory = match u.int_in_range(0..=5)? {
        0..=2 => "shop",
        3 => "",
        4 => u.choose(&["shop/sub", "shop/link.yaml", "shop/a.yaml", "none", "shop/", "./shop", "../shop"])?,
        _ => u.arbitrary::<&str>()?,
    };
    let at = revision(u, objects)?;
    let source = |revision: &str| SuppliedInput::Path(format!("{}//{directory}?ref={revision}", template.place.display()).into());
    let mut inputs = Inputs { config: Config::parse(String::new(), "config").ok(), ..Inputs::default() };
    let mut kptfile = KPTFILE.to_owned();
    let (mut function, mut is_empty) = (&merge_package::FUNCTION, false);
    match u.int_in_range(0..=5)? {
        0 => {
            let old = revision(u, objects)?;
            inputs.supplied = vec![(Role::Original, source(&old)), (Role::Upstream, source(&at))];
        }
        1 | 2 => {
            let lock = format!("  type: git\n  git: {{repo: x, directory: shop, ref: '{}'", u.choose(&["v1", "v2", "none", "shop/v2"])?);
            let commit = u.choose(objects)?;
            kptfile += &format!("upstream:\n{lock}}}\nupstreamLock:\n{lock}, commit: '{commit}'}}\n");
            inputs.supplied = vec![(Role::Upstream, source(&at))];
        }
        3 => inputs.supplied = vec![(Role::Original, SuppliedInput::Path("auto".into())), (Role::Upstream, source(&at))],
        kind => {
            let variant = VARIANT.replace("REVISION", &format!("'{}'", at.replace('\'', "''")));
            is_empty = u.ratio(1, 2)?;
            if kind == 4 {
                function = &render_variant::FUNCTION;
                inputs.config = Config::parse(variant, "config").ok();
                inputs.supplied = vec![(Role::Upstream, source(&at))];
            } else {
                function = &render_fleet::FUNCTION;
                inputs.supplied = vec![(Role::Variants, SuppliedInput::Files([("v.yaml".to_owned(), variant)].into()))];
                inputs.catalogs = vec![CatalogSource { namespace: None, name: "catalog".to_owned(), path: template.place.clone() }];
            }
        }
    }
    let files = if is_empty { Vec::new() } else { vec![("Kptfile", kptfile), ("a.yaml", RESOURCE.to_owned())] };
    let folder = if function.name == render_fleet::FUNCTION.name { "a/c/" } else { "" };
    let files = files.into_iter().map(|(path, text)| (format!("{folder}{path}"), text.into_bytes())).collect();
    let Ok(outcome) = run(function, inputs, Items::Package(files)) else {
        return Ok(());
    };
    let Items::Package(files) = outcome.items else { panic!("a package stays one") };
    for path in files.keys() {
        let is_fine = check_package_path(path).is_ok() && !path.split('/').any(|part| part == ".git");
        assert!(is_fine, "{path:?} is in the package");
    }
    Ok(())
}
