//! Repositories, revisions and trees that are not what they should be: a clear error, nothing written.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use super::{Folder, KPTFILE, catalog, map};

const ORIGINAL: &str = "catalog//nginx?ref=v1";

/// The message for an upstream that is refused.
fn refused(folder: &Folder, upstream: &str) -> String {
    refused_with(folder, ORIGINAL, upstream)
}

fn refused_with(folder: &Folder, original: &str, upstream: &str) -> String {
    folder.put("local/Kptfile", KPTFILE);
    folder.put("local/cm.yaml", map("1", "5"));
    let outcome = folder.merge(&["--original", original, "--upstream", upstream]);
    assert_eq!(outcome.code, Some(2), "{upstream}: {}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert_eq!(folder.get("local/cm.yaml"), map("1", "5"));
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    let message = outcome.stderr.strip_prefix("merge-package: --upstream: ");
    message.expect("the role is named").trim_end().to_owned()
}

#[test]
fn missing_names() {
    let folder = catalog(&[]);
    folder.put("catalog/apps/web/Kptfile", KPTFILE);
    folder.commit("apps");
    for (upstream, expected) in [
        (
            "catalogue//nginx?ref=v1",
            "'catalogue' is not a Git repository: it does not exist",
        ),
        ("local//nginx?ref=v1", "'local' is not a Git repository"),
        (
            "local/cm.yaml//nginx?ref=v1",
            "'local/cm.yaml' is not a Git repository",
        ),
        (
            "catalog//nginx?ref=v22",
            "no revision `v22`: no tag, branch or commit has that name; the nearest are `v2`",
        ),
        (
            "catalog//nginx?ref=refs/tags/v22",
            "no revision `refs/tags/v22`",
        ),
        (
            "catalog//ngin?ref=v1",
            "no directory `ngin` at the revision `v1`; the nearest are `nginx`",
        ),
        ("catalog//app/web?ref=main", "the nearest are `apps/web`"),
        (
            "catalog//nginx/cn.yaml?ref=v1",
            "no file `nginx/cn.yaml` at the revision `v1`; the nearest are `nginx/cm.yaml`",
        ),
        (
            "catalog//apps?ref=v1",
            "no directory `apps` at the revision `v1`",
        ),
        (
            "catalog//nginx/notes.txt?ref=v1",
            "expected a directory, or a file of YAML or JSON",
        ),
        (
            "catalog//nginx?ref=main:nginx",
            "expected a commit, found a path",
        ),
        (
            "catalog//nginx?ref=v1..v2",
            "it is ambiguous: it matches several commits",
        ),
        (
            "catalog//nginx?ref=../../etc/passwd",
            "no revision `../../etc/passwd`",
        ),
        ("catalog//nginx?ref=HEAD~9", "no revision `HEAD~9`"),
        ("catalog//nginx?ref=-v", "no revision `-v`"),
        (
            "catalog//nginx?ref=0000000000000000000000000000000000000000",
            "no revision",
        ),
        (
            "https://e.com/a/b//nginx?ref=v1",
            "git clone --mirror https://e.com/a/b",
        ),
        ("catalog//../nginx?ref=v1", "has a '..' component"),
    ] {
        let message = refused(&folder, upstream);
        assert!(message.contains(expected), "{upstream}: {message}");
    }
}

/// Writes an object that `git` itself would not make.
fn write(folder: &Folder, kind: &str, bytes: impl Into<Vec<u8>>) -> String {
    let arguments = ["hash-object", "-t", kind, "-w", "--stdin", "--literally"];
    let outcome = folder.git_with("catalog", &arguments, bytes);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    outcome.stdout.trim().to_owned()
}

/// An entry of a tree.
fn entry(mode: &str, name: &str, id: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).expect("hexadecimal");
    let mut bytes = format!("{mode} {name}\0").into_bytes();
    bytes.extend((0..id.len()).step_by(2).map(byte));
    bytes
}

/// A commit of a tree; its id.
fn commit_of(folder: &Folder, tree: &str) -> String {
    folder.git(&["commit-tree", "-m", "hostile", tree])
}

#[test]
fn trees_with_names_that_lead_elsewhere() {
    let folder = catalog(&[]);
    let blob = write(&folder, "blob", map("1", "0"));
    for name in [
        "../evil.yaml",
        "/evil.yaml",
        "..",
        ".",
        "a\\b.yaml",
        "a/b.yaml",
    ] {
        let tree = write(&folder, "tree", entry("100644", name, &blob));
        let root = write(&folder, "tree", entry("40000", "nginx", &tree));
        let commit = commit_of(&folder, &root);
        let message = refused(&folder, &format!("catalog//nginx?ref={commit}"));
        assert!(
            message.contains("a name in it is not allowed"),
            "{name}: {message}"
        );
    }
    // The same name twice.
    let twice = [
        entry("100644", "a.yaml", &blob),
        entry("100644", "a.yaml", &blob),
    ]
    .concat();
    let tree = write(&folder, "tree", twice);
    let message = refused(
        &folder,
        &format!("catalog//?ref={}", commit_of(&folder, &tree)),
    );
    assert!(message.contains("a name in it is not allowed"), "{message}");
}

/// Ten trees, each ten times in the next: 10^10 files.
#[test]
fn nested_trees() {
    let folder = catalog(&[]);
    let mut id = write(&folder, "blob", map("1", "0"));
    let mut mode = "100644";
    for _ in 0..10 {
        let entries = (0..10).map(|number| entry(mode, &format!("{number}.yaml"), &id));
        id = write(&folder, "tree", entries.collect::<Vec<_>>().concat());
        mode = "40000";
    }
    let commit = commit_of(&folder, &id);
    let message = refused(&folder, &format!("catalog//?ref={commit}"));
    assert!(message.contains("too large"), "{message}");
}

#[test]
fn a_path_longer_than_any_system_takes() {
    let folder = catalog(&[]);
    let mut id = write(&folder, "blob", map("1", "0"));
    let mut mode = "100644";
    let name = "a".repeat(200);
    for _ in 0..40 {
        id = write(&folder, "tree", entry(mode, &name, &id));
        mode = "40000";
    }
    let message = refused(
        &folder,
        &format!("catalog//?ref={}", commit_of(&folder, &id)),
    );
    assert!(message.contains("too large"), "{message}");
}

/// Folders as deep as a path can name, with so many files in each.
#[test]
fn trees_as_deep_as_a_path_is_long() {
    const DEPTH: usize = 1_900;
    let folder = catalog(&[]);
    let blob = write(&folder, "blob", map("1", "0"));
    for (files, expected) in [(1, None), (100, Some("and 64 MB in all"))] {
        let mut trees = Command::new("git")
            .args(["mktree", "--batch"])
            .current_dir(folder.path("catalog"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git runs");
        let (input, output) = (trees.stdin.take(), trees.stdout.take());
        let mut input = input.expect("a pipe");
        let mut lines = BufReader::new(output.expect("a pipe")).lines();
        let mut id = String::new();
        for depth in 0..DEPTH {
            for number in 0..files {
                writeln!(input, "100644 blob {blob}\t{number}.txt").expect("git reads");
            }
            if depth > 0 {
                writeln!(input, "040000 tree {id}\tz").expect("git reads");
            }
            writeln!(input).expect("git reads");
            id = lines.next().expect("an id").expect("a line");
        }
        drop(input);
        trees.wait().expect("git ends");
        let upstream = format!("catalog//?ref={}", commit_of(&folder, &id));
        match expected {
            Some(expected) => {
                let message = refused(&folder, &upstream);
                assert!(message.contains(expected), "{message}");
            }
            None => {
                folder.put("local/cm.yaml", map("1", "5"));
                let arguments = ["--check", "--original", ORIGINAL, "--upstream", &upstream];
                let outcome = folder.merge(&arguments);
                assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
            }
        }
    }
}

#[test]
fn a_blob_of_a_gigabyte_is_refused_by_its_header() {
    let folder = catalog(&[]);
    let large = folder.path("catalog/nginx/large.yaml");
    // Holes take no room, and zeros hardly any once they are compressed.
    let file = std::fs::File::create(&large).expect("a file");
    file.set_len(200 << 20).expect("a length");
    folder.git(&["config", "core.bigFileThreshold", "1m"]);
    folder.commit("large");
    let start = std::time::Instant::now();
    let message = refused(&folder, "catalog//nginx?ref=main");
    assert!(
        message.contains("the file `large.yaml` is too large"),
        "{message}"
    );
    assert!(start.elapsed().as_secs() < 5);
}

/// Zeros that say they are a tree or a commit: refused by what they say of their length.
#[test]
fn a_tree_or_commit_of_a_gigabyte_is_refused_by_its_header() {
    let folder = catalog(&[]);
    for (object, expected) in [
        ("v2:nginx", "the folder `nginx`"),
        ("v2:", "the folder `nginx`"),
        ("v2^{commit}", "the object `"),
        ("v1", "cannot read"),
    ] {
        let id = folder.git(&["rev-parse", object]);
        let kind = folder.git(&["cat-file", "-t", &id]);
        let path = folder.path(&format!("catalog/.git/objects/{}/{}", &id[..2], &id[2..]));
        let bytes = std::fs::read(&path).expect("an object");
        std::fs::remove_file(&path).expect("removed");
        std::fs::write(&path, stored(format!("{kind} 1000000000\0").as_bytes())).expect("written");
        let revision = if object == "v1" { "v1" } else { "v2" };
        let upstream = format!("catalog//nginx?ref={revision}");
        let message = refused_with(&folder, "local", &upstream);
        assert!(message.contains(expected), "{object}: {message}");
        assert!(message.contains("limit"), "{object}: {message}");
        std::fs::remove_file(&path).expect("removed");
        std::fs::write(&path, bytes).expect("written");
    }
}

/// Bytes as a zlib stream of one block that is not compressed.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("short");
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(bytes);
    stream.extend((high << 16 | low).to_be_bytes());
    stream
}

/// A tag whose commit is damaged is not a revision that is not there.
#[test]
fn a_tag_of_a_damaged_commit() {
    let folder = catalog(&[]);
    let commit = folder.git(&["rev-parse", "v1^{commit}"]);
    let path = format!("catalog/.git/objects/{}/{}", &commit[..2], &commit[2..]);
    std::fs::remove_file(folder.path(&path)).expect("removed");
    folder.put(
        "catalog/.git/refs/tags/v9",
        folder.git(&["rev-parse", "v1"]),
    );
    folder.git(&["tag", "v8", "v2"]);
    let message = refused_with(&folder, "catalog//nginx?ref=v2", "catalog//nginx?ref=v9");
    assert!(
        message.starts_with("cannot read") && message.contains(&commit),
        "{message}"
    );
    let garbage = write(&folder, "tag", "object of nothing\n");
    folder.put("catalog/.git/refs/tags/v9", garbage);
    let message = refused_with(&folder, "catalog//nginx?ref=v2", "catalog//nginx?ref=v9");
    assert!(message.starts_with("cannot read"), "{message}");
}

/// Found by the fuzz target `git`: the tags were followed for ever.
#[test]
fn a_tag_that_refers_to_itself() {
    let folder = catalog(&[]);
    let id = folder.git(&["rev-parse", "v1"]);
    let tag = format!("object {id}\ntype tag\ntag v1\ntagger a <a@b.c> 1700000000 +0000\n\nx\n");
    let path = folder.path(&format!("catalog/.git/objects/{}/{}", &id[..2], &id[2..]));
    std::fs::remove_file(&path).expect("removed");
    let object = stored(format!("tag {}\0{tag}", tag.len()).as_bytes());
    std::fs::write(&path, object).expect("written");
    let is_refused = |revision: &str| {
        let message = refused_with(&folder, "local", &format!("catalog//nginx?ref={revision}"));
        assert!(message.starts_with("cannot read"), "{revision}: {message}");
    };
    is_refused("v1");
    // Before a parent or a kind of object is looked for, and in a tag of the directory's.
    for revision in ["v1~1", "v1^{}", "v1^{commit}", &id] {
        is_refused(revision);
    }
    folder.put("catalog/.git/refs/tags/nginx/v2", format!("{id}\n"));
    is_refused("v2");
    folder.put("catalog/.git/HEAD", "ref: refs/tags/v1\n");
    for revision in ["HEAD", "@", "@{0}^{}", ":/change"] {
        is_refused(revision);
    }
}

/// Found by the fuzz target `git`: it was read without a check on the way to a parent.
#[test]
fn a_damaged_list_of_shallow_commits() {
    let folder = catalog(&[]);
    folder.put("catalog/.git/shallow", "no object\n");
    let message = refused_with(&folder, "local", "catalog//nginx?ref=main~1");
    assert!(message.starts_with("cannot read"), "{message}");
}

/// Found by the fuzz target `git`: the tree of a damaged commit was looked for without a check.
#[test]
fn a_part_of_a_damaged_commit_is_refused() {
    let folder = catalog(&[]);
    let id = folder.git(&["rev-parse", "v1^{commit}"]);
    let path = folder.path(&format!("catalog/.git/objects/{}/{}", &id[..2], &id[2..]));
    std::fs::remove_file(&path).expect("removed");
    std::fs::write(&path, stored(b"commit 4\0tree")).expect("written");
    for (revision, part) in [
        ("v1^{tree}", "tree"),
        ("v1:nginx", "path"),
        ("v1^{blob}", "blob"),
    ] {
        let message = refused_with(&folder, "local", &format!("catalog//nginx?ref={revision}"));
        let expected = format!("expected a commit, found a {part}");
        assert!(message.contains(&expected), "{revision}: {message}");
    }
    for revision in ["v1", "v1~1", "v1^{/a}"] {
        let message = refused_with(&folder, "local", &format!("catalog//nginx?ref={revision}"));
        assert!(!message.is_empty(), "{revision}");
    }
}

#[test]
fn a_folder_of_a_work_tree_is_not_a_repository() {
    let folder = catalog(&[]);
    let message = refused(&folder, "catalog/nginx?ref=v1");
    let root = folder.path("catalog").canonicalize().expect("a path");
    let expected = format!("`{}//nginx`", root.display());
    assert!(message.contains(&expected), "{message}");
}

#[test]
fn unknown_extensions() {
    let folder = catalog(&[]);
    let config = folder.get("catalog/.git/config");
    let config = config.replace("repositoryformatversion = 0", "repositoryformatversion = 1");
    folder.put(
        "catalog/.git/config",
        format!("{config}[extensions]\n\tfuture = true\n"),
    );
    let message = refused_with(&folder, "local", "catalog//nginx?ref=v1");
    assert!(
        message.contains("not supported, extensions.future"),
        "{message}"
    );
}

/// Who opens a pipe waits for somebody to write into it.
#[cfg(unix)]
#[test]
fn pipes_in_the_place_of_files() {
    for file in [
        "HEAD",
        "config",
        "objects/info/alternates",
        "refs/heads/pipe",
    ] {
        let folder = catalog(&[]);
        let pipe = folder.path(&format!("catalog/.git/{file}"));
        let _ = std::fs::remove_file(&pipe);
        std::fs::create_dir_all(pipe.parent().expect("a folder")).expect("folders");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let message = refused_with(&folder, "local", "catalog//nginx?ref=v1");
        assert!(
            message.contains("is not a regular file"),
            "{file}: {message}"
        );
    }
}

#[test]
fn objects_that_are_missing_or_damaged() {
    let folder = catalog(&[]);
    let url = format!("file://{}", folder.path("catalog").display());
    folder.git(&["config", "uploadpack.allowFilter", "true"]);
    folder.git_in(
        "",
        &[
            "clone",
            "--quiet",
            "--bare",
            "--filter=blob:none",
            &url,
            "filtered.git",
        ],
    );
    let message = refused(&folder, "filtered.git//nginx?ref=v2");
    assert!(
        message.contains("is missing") && message.contains("--filter"),
        "{message}"
    );

    folder.git_in("", &["clone", "--quiet", "--bare", &url, "damaged.git"]);
    folder.git_in("damaged.git", &["repack", "--quiet", "-ad"]);
    let packs = folder.path("damaged.git/objects/pack");
    for entry in std::fs::read_dir(packs).expect("packs") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|end| end == "pack") {
            let mut bytes = std::fs::read(&path).expect("a pack");
            let end = bytes.len() - 20;
            bytes[20..end].fill(0xff);
            let mode = std::fs::metadata(&path).expect("a pack").permissions();
            std::fs::remove_file(&path).expect("removed");
            std::fs::write(&path, bytes).expect("written");
            std::fs::set_permissions(&path, mode).expect("a mode");
        }
    }
    refused(&folder, "damaged.git//nginx?ref=v2");

    let blob = folder.git(&["rev-parse", "v2:nginx/cm.yaml"]);
    let loose = folder.path(&format!(
        "catalog/.git/objects/{}/{}",
        &blob[..2],
        &blob[2..]
    ));
    let bytes = std::fs::read(&loose).expect("an object");
    std::fs::remove_file(&loose).expect("removed");
    let message = refused(&folder, "catalog//nginx?ref=v2");
    assert!(
        message.contains("the file `cm.yaml`") && message.contains(&blob),
        "{message}"
    );
    std::fs::write(&loose, &bytes[..bytes.len() / 2]).expect("written");
    let message = refused(&folder, "catalog//nginx?ref=v2");
    assert!(message.contains("the file `cm.yaml`"), "{message}");
}

#[test]
fn files_of_a_tree_that_are_not_yaml() {
    let folder = catalog(&[]);
    folder.put("catalog/nginx/cm.yaml", [b'a', 0xff]);
    folder.commit("no UTF-8");
    folder.put("local/Kptfile", KPTFILE);
    folder.put("local/cm.yaml", map("1", "5"));
    let merge = || {
        folder.merge(&[
            "--original",
            ORIGINAL,
            "--upstream",
            "catalog//nginx?ref=main",
        ])
    };
    let outcome = merge();
    outcome.assert_code(0);
    let message = "line 1, column 2: expected UTF-8, found the byte 0xff (NotYaml)";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert_eq!(folder.get("local/cm.yaml"), map("1", "5"));
    folder.put("catalog/nginx/cm.yaml", "a: 1\na: 2\n");
    folder.commit("a key twice");
    folder.put("local/Kptfile", KPTFILE);
    let outcome = merge();
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("cm.yaml"), "{}", outcome.stderr);
}
