//! No path from data leads out of the package, into a `.git` or into another package: each spelling, wherever a path
//! comes in.

use std::path::{Path, PathBuf};

use krm_core::config::Config;
use krm_function::supplied::Role;
use krm_function::{Function, Inputs, Items, SuppliedInput, run};
use krmv::FUNCTIONS;

use crate::git::Folder;
use crate::render_fleet::Fleet;

/// What some file system takes for `.git`, or for a place outside.
const FORBIDDEN: &[&str] = &[
    ".git",
    ".git/hooks",
    "a/.git/hooks",
    ".GIT/hooks",
    ".Git./hooks",
    ".git /hooks",
    ".git . ./hooks",
    ".git::$INDEX_ALLOCATION/hooks",
    ".git:x",
    "git~1/hooks",
    "GIT~1.",
    "git~2",
    ".g\u{200c}it/hooks",
    "\u{feff}.git",
    ".GIT\u{202e} ",
    "..",
    "../a",
    "a/../../b",
    "/etc",
    "a\0b",
    "a\\b",
];

/// What only looks like it.
const ALLOWED: &[&str] = &[".github", "git", "a.git", ".gitignore", "git~x", "..a"];

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n";
const OWN: &str = "apiVersion: fn.kpt.dev/v1alpha1\n";

/// A string of YAML and JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn variant(repo: &str, package: &str, annotations: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: v\n  annotations: {{{annotations}}}\n\
         spec:\n  upstream: {{repo: up, package: p, revision: v1}}\n  downstream: {{repo: {}, package: {}}}\n",
        quoted(repo),
        quoted(package)
    )
}

fn prr(path: &str) -> String {
    format!(
        "apiVersion: porch.kpt.dev/v1alpha1\nkind: PackageRevisionResources\nmetadata: {{name: r}}\nspec: {{resources: {{{}: {}, Kptfile: {}}}}}\n",
        quoted(path),
        quoted(MAP),
        quoted(KPTFILE)
    )
}

/// An item of this text, one mapping in block style.
fn item(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let rest: String = lines.map(|line| format!("  {line}\n")).collect();
    format!("- {first}\n{rest}")
}

fn list(items: &[String]) -> Items {
    let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";
    Items::ResourceList(format!("{head}{}", items.concat()))
}

fn package(files: &[(&str, &str)]) -> Items {
    let files = files.iter();
    Items::Package(
        files
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect(),
    )
}

fn files(files: &[(&str, &str)]) -> SuppliedInput {
    let files = files.iter();
    let files = files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    SuppliedInput::Files(files.collect())
}

/// A set with one target, of this package.
fn set_of(package: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha2\nkind: PackageVariantSet\nmetadata:\n  name: s\nspec:\n  \
         upstream: {{repo: up, package: p, revision: v1}}\n  targets:\n  - repositories: [{{name: us, packageNames: [{}]}}]\n",
        quoted(package)
    )
}

/// What sets need of a cluster.
fn cluster() -> SuppliedInput {
    let repositories = ["us", "up"].map(|name| {
        format!(
            "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata: {{name: {name}, namespace: default}}\n---\n"
        )
    });
    let revision = "apiVersion: porch.kpt.dev/v1alpha1\nkind: PackageRevision\nmetadata: {name: up.p.v1, namespace: default}\n\
                    spec: {repository: up, packageName: p, revision: v1, lifecycle: Published}\n";
    let text = repositories.concat() + revision;
    files(&[("c.yaml", &text)])
}

/// A way for a path into a function.
struct Entry {
    name: &'static str,
    function: &'static Function,
    config: String,
    supplied: Vec<(Role, SuppliedInput)>,
    items: Items,
}

impl Entry {
    fn new(name: &'static str, function: &'static Function, config: String) -> Self {
        Self {
            name,
            function,
            config,
            supplied: Vec::new(),
            items: package(&[("Kptfile", KPTFILE)]),
        }
    }

    fn with(self, role: Role, input: SuppliedInput) -> Self {
        let mut supplied = self.supplied;
        supplied.push((role, input));
        Self { supplied, ..self }
    }

    fn on(self, items: Items) -> Self {
        Self { items, ..self }
    }
}

/// The path as an annotation of an item, for each function.
fn annotations(path: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    for function in FUNCTIONS {
        let kind = function
            .configs
            .iter()
            .find(|(version, _)| *version == "fn.kpt.dev/v1alpha1");
        let more = match kind.map(|(_, kind)| *kind) {
            Some("PrependPipeline") => "pipeline: {}\n",
            Some("RenderFleet") => "allowEmpty: true\n",
            _ => "",
        };
        let is_render_variant = function.name == "render-variant";
        let config = match kind {
            Some((_, kind)) => format!("{OWN}kind: {kind}\nmetadata: {{name: c}}\n{more}"),
            None if is_render_variant => variant("us", "p", ""),
            None => String::new(),
        };
        for annotation in [
            "internal.config.kubernetes.io/path",
            "config.kubernetes.io/path",
            "internal.config.kubernetes.io/package-path",
        ] {
            // kpt has packages absolute, with the separators of its system.
            if annotation.ends_with("package-path") && (path == "/etc" || path.contains('\\')) {
                continue;
            }
            let annotated = format!("{MAP}  annotations: {{{annotation}: {}}}\n", quoted(path));
            let mut items = vec![item(KPTFILE), item(&annotated)];
            if config.is_empty() {
                items.push(item(&set_of("p")));
            }
            let mut entry = Entry::new(annotation, function, config.clone()).on(list(&items));
            for role in function.roles {
                entry = match role {
                    Role::Resources => entry.with(*role, cluster()),
                    Role::Variants => entry,
                    _ if is_render_variant => entry,
                    _ => entry.with(*role, files(&[("Kptfile", KPTFILE), ("a.yaml", MAP)])),
                };
            }
            entries.push(entry);
        }
    }
    entries
}

/// The path in a config.
fn configs(path: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (function, kind, role) in [
        (&merge_package::FUNCTION, "MergePackage", "upstream"),
        (&merge_package::FUNCTION, "MergePackage", "original"),
        (&review_package::FUNCTION, "ReviewPackage", "before"),
        (&create_overlay::FUNCTION, "CreateOverlay", "upstream"),
        (&inject_config::FUNCTION, "InjectConfig", "resources"),
        (&apply_patch::FUNCTION, "ApplyPatch", "patches"),
        (&create_patch::FUNCTION, "CreatePatch", "live"),
        (&apply_config::FUNCTION, "ApplyConfig", "live"),
        (&render_fleet::FUNCTION, "RenderFleet", "variants"),
    ] {
        let config = format!("{OWN}kind: {kind}\n{role}: {{path: {}}}\n", quoted(path));
        entries.push(Entry::new(role, function, config));
    }
    let (render, prepend) = (&render_variant::FUNCTION, &prepend_pipeline::FUNCTION);
    for role in ["upstream", "original", "resources"] {
        let annotation = format!("fn.kpt.dev/{role}-path: {}", quoted(path));
        let config = variant("us", "p", &annotation);
        entries.push(Entry::new(role, render, config).on(package(&[])));
    }
    let pipeline = format!(
        "pipeline: {{mutators: [{{image: a, configPath: {}}}]}}\n",
        quoted(path)
    );
    let config = format!("{OWN}kind: PrependPipeline\nmetadata: {{name: c}}\n{pipeline}");
    entries.push(Entry::new("configPath", prepend, config));
    let config = format!("{}  {pipeline}", variant("us", "p", ""));
    entries.push(Entry::new("configPath", prepend, config.clone()));
    for (name, config) in [
        ("configPath", config),
        ("repo", variant(path, "p", "")),
        ("package", variant("us", path, "")),
    ] {
        if name != "configPath" {
            let items = package(&[("v.yaml", &config)]);
            let fleet = Entry::new(name, &render_fleet::FUNCTION, String::new());
            entries.push(fleet.on(items));
        }
        let entry = Entry::new(name, render, config).on(package(&[]));
        entries.push(entry.with(Role::Upstream, files(&[("Kptfile", KPTFILE)])));
    }
    let expr = quoted(&quoted(path));
    let template = format!("    template: {{downstream: {{packageExpr: {expr}}}}}\n");
    for (name, set) in [
        ("packageNames", set_of(path)),
        ("packageExpr", set_of("p") + &template),
    ] {
        let entry = Entry::new(name, &expand_variant_set::FUNCTION, String::new());
        let entry = entry.on(package(&[("s.yaml", &set)]));
        entries.push(entry.with(Role::Resources, cluster()));
    }
    entries
}

/// The path as the name of a file in a PackageRevisionResources.
fn names(path: &str) -> Vec<Entry> {
    let merge = |name, config| Entry::new(name, &merge_package::FUNCTION, config);
    let with_kind = |kind: &str| format!("{OWN}kind: {kind}\n");
    let inline =
        |kind: &str, role: &str| format!("{}{role}:\n{}", with_kind(kind), indented(&prr(path)));
    let package = files(&[("Kptfile", KPTFILE)]);
    vec![
        merge("names of an upstream", inline("MergePackage", "upstream")),
        merge("names of a local package", with_kind("MergePackage"))
            .on(list(&[item(&prr(path))]))
            .with(Role::Original, package.clone())
            .with(Role::Upstream, package),
        Entry::new(
            "names of resources",
            &inject_config::FUNCTION,
            inline("InjectConfig", "resources"),
        ),
    ]
}

/// Each way, with this path.
fn entries(path: &str) -> Vec<Entry> {
    let mut entries = annotations(path);
    entries.extend(configs(path));
    entries.extend(names(path));
    entries
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// The errors about paths of a run; nothing may be changed then.
fn refusals(entry: &Entry) -> Vec<String> {
    let Entry {
        name,
        function,
        config,
        supplied,
        items,
    } = entry;
    let config = (!config.is_empty()).then(|| Config::parse(config.clone(), "config"));
    let inputs = Inputs {
        config: config.transpose().expect("a config"),
        supplied: supplied.clone(),
        ..Inputs::default()
    };
    let outcome = match run(function, inputs, items.clone()) {
        Ok(outcome) => outcome,
        // What is allowed may name nothing.
        Err(error) => {
            assert!(
                !error.to_string().contains("InvalidPath"),
                "{name}: {error}"
            );
            return Vec::new();
        }
    };
    if outcome.results.has_errors() {
        assert_eq!(outcome.items, *items, "{name}");
        assert_eq!(outcome.documents.len(), 0, "{name}");
    }
    let results = outcome.results.iter().map(ToString::to_string);
    results
        .filter(|result| result.starts_with("[error]") && result.contains("(InvalidPath)"))
        .collect()
}

#[test]
fn every_function_refuses_every_spelling_wherever_a_path_comes_in() {
    let mut accepted = Vec::new();
    let mut count = 0;
    for path in FORBIDDEN {
        for entry in entries(path) {
            count += 1;
            if refusals(&entry).is_empty() {
                accepted.push(format!("{}: {}: {path:?}", entry.function.name, entry.name));
            }
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
    assert!(count > 900, "{count}");
    for path in ALLOWED {
        for entry in entries(path) {
            assert_eq!(refusals(&entry), [""; 0], "{}: {path}", entry.name);
        }
    }
}

/// An upstream package with a hook, and a fleet inside of a repository.
fn hooked(git: &str) -> Fleet {
    let fleet = Fleet::new();
    fleet.folder.put("catalog/nginx/post-commit", "#!/bin/sh\n");
    fleet.folder.commit("hook");
    fleet.folder.git(&["tag", "v9"]);
    let folder = &fleet.folder;
    match git {
        "folder" => drop(folder.git_in("", &["init", "--quiet", "fleet/us"])),
        "file" => {
            folder.git_in(
                "",
                &[
                    "init",
                    "--quiet",
                    "--separate-git-dir=elsewhere",
                    "fleet/us",
                ],
            );
        }
        _ => drop(folder.git_in("", &["init", "--quiet", "."])),
    }
    fleet
}

#[test]
fn a_fleet_never_writes_into_a_repository_of_any_form() {
    for git in ["folder", "file", "above"] {
        let fleet = hooked(git);
        let places = [
            ("us", ".git"),
            ("us", ".git/hooks"),
            ("us", ".GIT/hooks"),
            ("us", "git~1/hooks"),
            ("us", "../../.git/hooks"),
            ("us", "../.git/hooks"),
            (".git", "hooks"),
            ("..", ".git/hooks"),
            ("../.git", "hooks"),
        ];
        for (number, (repo, package)) in places.iter().enumerate() {
            let text = super::render_fleet::variant("x", "v9", &format!("us/{number}"), "")
                .replace("name: x", &format!("name: v{number}"))
                .replace("repo: us", &format!("repo: {}", quoted(repo)))
                .replace(
                    &format!("package: {number}"),
                    &format!("package: {}", quoted(package)),
                );
            fleet.folder.put(&format!("variants/{number}.yaml"), text);
        }
        let before = tree(&fleet.folder.path(""));
        for flags in [&[][..], &["--diff"], &["--drafts"]] {
            fleet.expect(flags, 1, &["(InvalidPath)", "9 failed"]);
            assert!(tree(&fleet.folder.path("")) == before, "{git} {flags:?}");
        }
    }
}

/// What a folder holds; links are not followed.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            let kind = std::fs::symlink_metadata(&path).expect("an entry");
            let bytes = if kind.is_symlink() {
                let target = std::fs::read_link(&path).expect("a link");
                target.as_os_str().as_encoded_bytes().to_vec()
            } else if kind.is_dir() {
                pending.push(path.clone());
                continue;
            } else {
                std::fs::read(&path).expect("a file")
            };
            let path = path.strip_prefix(folder).expect("below").to_path_buf();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

fn link(target: impl AsRef<Path>, link: impl AsRef<Path>) {
    std::os::unix::fs::symlink(target, link).expect("a link");
}

#[test]
fn a_fleet_never_writes_through_a_link() {
    let fleet = Fleet::new();
    let folder = &fleet.folder;
    folder.git_in("", &["init", "--quiet", "fleet/us"]);
    folder.put("fleet/us/other/Kptfile", KPTFILE);
    std::fs::create_dir(folder.path("outside")).expect("a folder");
    for (name, target) in [
        ("us/out", folder.path("outside")),
        ("us/git", ".git".into()),
        ("us/inside", "other".into()),
        ("us/dangling", "nowhere".into()),
        ("west", folder.path("outside")),
    ] {
        link(target, folder.path("fleet").join(name));
    }
    for (name, place) in [
        ("a", "us/out"),
        ("b", "us/out/a"),
        ("c", "us/git"),
        ("d", "us/git/hooks"),
        ("e", "us/inside/a"),
        ("f", "us/dangling"),
        ("g", "west/a"),
    ] {
        fleet.put(name, "v1", place, "");
    }
    let before = tree(&folder.path(""));
    fleet.expect(
        &[],
        1,
        &["leads through the symbolic link 'us/out'", "7 failed"],
    );
    assert!(tree(&folder.path("")) == before);
}

#[test]
fn a_package_of_a_fleet_is_never_inside_another_package() {
    let fleet = Fleet::new();
    fleet.folder.put("fleet/us/other/Kptfile", KPTFILE);
    fleet.put("a", "v1", "us/other/deep/a", "");
    fleet.put("b", "v1", "us/others/deep/b", "");
    let text = "the package `us/other/deep/a` is inside the package `us/other`";
    fleet.expect(&[], 1, &[text, "(OtherOwner)", "1 created", "1 failed"]);
    assert!(!fleet.folder.path("fleet/us/other/deep").exists());
    assert!(fleet.folder.path("fleet/us/others/deep/b/Kptfile").exists());
}

#[test]
fn a_package_that_holds_a_repository_is_not_deleted() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "us/a", "");
    fleet.expect(&[], 0, &[]);
    fleet
        .folder
        .git_in("", &["init", "--quiet", "fleet/us/a/deep/sub"]);
    fleet.drop("a");
    fleet.put("b", "v1", "us/b", "");
    fleet.expect(&[], 0, &[]);
    let before = tree(&fleet.folder.path("fleet"));
    fleet.expect(
        &["prune=true", "maxDeletions=9"],
        1,
        &["(NotWritten)", "a Git repository"],
    );
    assert!(tree(&fleet.folder.path("fleet")) == before);
}

/// Files of an upstream are never written through a link of the package, which is named.
#[test]
fn a_merge_never_writes_through_a_link() {
    let folder = Folder::new(&[]);
    folder.git_in("", &["init", "--quiet", "repo"]);
    folder.put("outside/x", "");
    for (name, target) in [
        ("out", folder.path("outside")),
        ("git", folder.path("repo/.git")),
        ("own", folder.path("local/.git")),
        ("sub", "other".into()),
    ] {
        folder.put("original/Kptfile", KPTFILE);
        folder.put("local/Kptfile", KPTFILE);
        folder.put("local/other/Kptfile", KPTFILE);
        folder.put("original/other/Kptfile", KPTFILE);
        folder.put("upstream/Kptfile", KPTFILE);
        folder.put("upstream/other/Kptfile", KPTFILE);
        folder.put(&format!("upstream/{name}/hooks/post-commit"), "#!/bin/sh\n");
        link(target, folder.path("local").join(name));
        let before = tree(&folder.path(""));
        let outcome = folder.merge(&["--original", "original", "--upstream", "upstream"]);
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
        let warning = format!("{name}: local has a symbolic link, and upstream a folder");
        assert!(outcome.stderr.contains(&warning), "{}", outcome.stderr);
        assert!(tree(&folder.path("")) == before, "{name}");
        std::fs::remove_dir_all(folder.path("upstream")).expect("removed");
        std::fs::remove_dir_all(folder.path("local")).expect("removed");
    }
}

/// What a file system may take for `.git` is left out of a clone, with a warning.
#[test]
fn a_clone_refuses_names_that_a_file_system_may_take_for_git() {
    let folder = Folder::new(&[]);
    folder.put("upstream/Kptfile", KPTFILE);
    folder.put("upstream/a.yaml", MAP);
    for name in [".GIT/config", "git~1/hooks/post-commit", "sub/.git./config"] {
        folder.put(&format!("upstream/{name}"), "x\n");
    }
    folder.put("pv.yaml", variant("us", "p", ""));
    let arguments = [
        "--package",
        "local",
        "--upstream",
        "upstream",
        "--config",
        "pv.yaml",
    ];
    let outcome = folder.run(crate::running::function("render-variant"), &arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for name in ["git~1", "sub/.git."] {
        let warning = format!("[warning] {name}: upstream: skipped: a file system");
        assert!(outcome.stderr.contains(&warning), "{}", outcome.stderr);
    }
    let names: Vec<_> = tree(&folder.path("local"))
        .into_iter()
        .map(|(name, _)| name.display().to_string())
        .collect();
    assert_eq!(names, ["Kptfile", "a.yaml", "package-context.yaml"]);
}
