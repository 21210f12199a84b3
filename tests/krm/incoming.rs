//! What upstream may bring: one hostile upstream, from every source, through everything that brings upstream's files.

use indoc::indoc;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use krm_function::supplied::Role;
use krm_upstream::SOURCES;
use krmv::FUNCTIONS;

use crate::git::{Folder, KPTFILE, files_in, map};
use crate::krmv::World;
use crate::running::Outcome;
use crate::sources::images::layout;
use crate::sources::{gz, tar_of};

const RULES: &str = indoc! {r#"
    apiVersion: fn.kpt.dev/v1alpha1
    kind: ConflictRules
    metadata:
      name: rules
      annotations:
        config.kubernetes.io/local-config: "true"
    conflicts:
    - {take: upstream}
"#};

/// What upstream must not bring.
const REFUSED: [(&str, &str); 13] = [
    (".krmv.yaml", RULES),
    ("sub/.krmv.yaml", RULES),
    (".krmv/rules.yaml", RULES),
    (".KRMV.yaml", RULES),
    (".krm-variants-journal.tmp", "{\"files\":[]}"),
    ("sub/.krm-variants-x.tmp", "x"),
    ("HEAD", "ref: refs/heads/main\n"),
    ("objects/pack/x", "x"),
    ("refs/heads/x", "x"),
    ("tools/HEAD", "ref: refs/heads/main\n"),
    ("tools/objects/x", "x"),
    ("tools/refs/x", "x"),
    ("tools/commondir", ".\n"),
];

/// What comes all the same, and is named because it runs somewhere.
const RUNS: [&str; 5] = [
    ".gitattributes",
    "sub/.gitmodules",
    ".github/workflows/x.yaml",
    ".gitlab-ci.yml",
    "run.sh",
];

/// What comes.
const COMES: [&str; 5] = [
    "Kptfile",
    "cm.yaml",
    "config",
    "tools/config",
    "tools/refs.txt",
];

fn clean() -> Vec<(&'static str, String)> {
    vec![("Kptfile", KPTFILE.to_owned()), ("cm.yaml", map("1", "0"))]
}

fn hostile() -> Vec<(&'static str, String)> {
    let refused = REFUSED.map(|(path, text)| (path, text.to_owned()));
    let runs = RUNS.map(|path| (path, "# runs\n".to_owned()));
    let comes = COMES[2..].iter().map(|path| (*path, "x\n".to_owned()));
    let all = refused.into_iter().chain(runs).chain(comes);
    let own = [("Kptfile", KPTFILE.to_owned()), ("cm.yaml", map("2", "0"))];
    own.into_iter().chain(all).collect()
}

/// Two versions of an upstream, the second hostile, in every kind of source.
fn sources() -> Folder {
    let folder = Folder::new(&[]);
    for (version, files) in [("v1", clean()), ("v2", hostile())] {
        for place in [version, "catalog/nginx"] {
            for (path, text) in &files {
                folder.put(&format!("{place}/{path}"), text);
                let mode = if path.ends_with(".sh") { 0o755 } else { 0o644 };
                let file = folder.path(place).join(path);
                let mode = std::fs::Permissions::from_mode(mode);
                std::fs::set_permissions(file, mode).expect("a mode");
            }
        }
        folder.git(&["add", "--all", "--force", "nginx"]);
        folder.commit(version);
        folder.git(&["tag", version]);
        folder.put(&format!("{version}.tgz"), gz(&tar_of(&files)));
        layout(&folder, "layout", version, &tar_of(&files));
        folder.put(&format!("{version}.yaml"), package_revision(&files));
    }
    folder
}

fn package_revision(files: &[(&str, String)]) -> String {
    let mut text = indoc! {"
        apiVersion: porch.kpt.dev/v1alpha1
        kind: PackageRevisionResources
        metadata:
          name: x
        spec:
          packageName: nginx
          repository: catalog
          resources:
    "}
    .to_owned();
    for (path, content) in files {
        text += &format!("    {path}: |\n");
        for line in content.lines() {
            text += &format!("      {line}\n");
        }
    }
    text
}

/// The flags that name a version, one for each kind of source.
fn flags(version: &str) -> Vec<String> {
    // A new kind of source belongs in the table.
    assert_eq!(SOURCES.len(), 3, "archives, image layouts, repositories");
    vec![
        version.to_owned(),
        format!("catalog//nginx?ref={version}"),
        format!("{version}.tgz"),
        format!("oci:layout:{version}"),
        format!("{version}.yaml"),
    ]
}

/// Checks what a run brought into a package, and what it printed.
fn check(folder: &Folder, package: &str, printed: &str, what: &str) {
    let found = files_in(&folder.path(package));
    let found: BTreeSet<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    for (path, _) in REFUSED {
        assert!(!found.contains(path), "{what} brought {path}: {printed}");
    }
    for path in COMES.iter().chain(&RUNS) {
        assert!(found.contains(path), "{what} lacks {path}: {printed}");
    }
    for (path, _) in REFUSED {
        // Readers know their own temporary files, and leave them out without a word.
        let named = path.split('/').take(2).collect::<Vec<_>>().join("/");
        let named = named.strip_suffix("/pack").unwrap_or(&named);
        let named = [named, named.split('/').next().unwrap_or_default()];
        let is_named = named.iter().any(|path| printed.contains(path));
        assert!(
            is_named || path.ends_with(".tmp"),
            "{what}, {path}: {printed}"
        );
    }
    assert!(
        printed.contains("not taken from upstream"),
        "{what}: {printed}"
    );
    // A PackageRevisionResources has no permission bits.
    let has_modes = !what.ends_with(".yaml");
    for path in RUNS.iter().filter(|path| has_modes || **path != "run.sh") {
        assert!(printed.contains(path), "{what}, {path}: {printed}");
    }
}

const VARIANT: &str = indoc! {"
    apiVersion: config.porch.kpt.dev/v1alpha1
    kind: PackageVariant
    metadata:
      name: a
    spec:
      upstream: {repo: catalog, package: nginx, revision: v2}
      downstream: {repo: east, package: app}
"};

fn binary(name: &str) -> String {
    let path = crate::all_functions::binary(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// A copy of the first version as the local package.
fn copy(folder: &Folder) {
    let local = folder.path("local");
    if local.exists() {
        std::fs::remove_dir_all(&local).expect("removed");
    }
    for (path, text) in clean() {
        folder.put(&format!("local/{path}"), text);
    }
}

fn done(outcome: &Outcome, what: &str) {
    assert_eq!(outcome.code, Some(0), "{what}: {}", outcome.stderr);
}

fn merge_package(folder: &Folder) {
    for (original, upstream) in flags("v1").iter().zip(flags("v2")) {
        for strategy in [
            "resource-merge",
            "copy-merge",
            "force-delete-replace",
            "fast-forward",
        ] {
            copy(folder);
            let strategy = format!("strategy={strategy}");
            let arguments = ["--original", original, "--upstream", &upstream, &strategy];
            let outcome = folder.merge(&arguments);
            let what = format!("merge-package {strategy} {upstream}");
            done(&outcome, &what);
            assert!(
                outcome.stderr.contains("(RefusedFile)"),
                "{}",
                outcome.stderr
            );
            check(folder, "local", &outcome.stderr, &what);
            // The user's own file of that name stays as it is, and is not reported again.
            folder.put("local/.krmv.yaml", "# mine\n");
            let again = ["--original", &upstream, "--upstream", &upstream];
            let outcome = folder.merge(&again);
            done(&outcome, &what);
            assert!(!outcome.stderr.contains("not taken"), "{}", outcome.stderr);
            assert!(
                !outcome.stderr.contains("runs somewhere"),
                "{}",
                outcome.stderr
            );
            assert_eq!(folder.get("local/.krmv.yaml"), "# mine\n");
        }
    }
}

fn render_variant(folder: &Folder) {
    folder.put("pv.yaml", VARIANT);
    for (original, upstream) in flags("v1").iter().zip(flags("v2")) {
        let made = folder.path("made");
        if made.exists() {
            std::fs::remove_dir_all(made).expect("removed");
        }
        let binary = binary("render-variant");
        let arguments = [
            "--package",
            "made",
            "--config",
            "pv.yaml",
            "--upstream",
            &upstream,
        ];
        let outcome = folder.run(&binary, &arguments);
        let what = format!("render-variant, clone, {upstream}");
        done(&outcome, &what);
        check(folder, "made", &outcome.stderr, &what);
        copy(folder);
        let arguments = [
            "--package",
            "local",
            "--config",
            "pv.yaml",
            "--original",
            original,
            "--upstream",
            &upstream,
        ];
        let outcome = folder.run(&binary, &arguments);
        let what = format!("render-variant, update, {upstream}");
        done(&outcome, &what);
        check(folder, "local", &outcome.stderr, &what);
    }
}

fn render_fleet(folder: &Folder) {
    let binary = binary("render-fleet");
    for (name, first) in [("clone", "v2"), ("update", "v1")] {
        folder.put(
            &format!("variants-{name}/a.yaml"),
            VARIANT.replace("v2", first),
        );
        let (fleet, variants) = (format!("fleet-{name}"), format!("variants-{name}"));
        let arguments = [
            "--package",
            &fleet,
            "--variants",
            &variants,
            "--catalog",
            "catalog=catalog",
        ];
        let mut outcome = folder.run(&binary, &arguments);
        done(&outcome, name);
        if first == "v1" {
            folder.put(&format!("variants-{name}/a.yaml"), VARIANT);
            outcome = folder.run(&binary, &arguments);
            done(&outcome, name);
        }
        let what = format!("render-fleet, {name}");
        check(folder, &format!("{fleet}/east/app"), &outcome.stderr, &what);
    }
}

#[test]
fn no_function_accepts_forbidden_files_from_upstream() {
    let folder = sources();
    for function in FUNCTIONS {
        match function.name {
            "merge-package" => merge_package(&folder),
            "render-variant" => render_variant(&folder),
            "render-fleet" => render_fleet(&folder),
            // Their output is documents, reviews or other objects, and not the package.
            "create-overlay" | "review-package" | "expand-variant-set" => {}
            name => assert!(
                !function.roles.contains(&Role::Upstream)
                    && !function.roles.contains(&Role::Original)
                    || ["apply-config", "create-patch"].contains(&name),
                "does {name} bring files of upstream? Then it belongs in this test"
            ),
        }
    }
}

/// As a pipeline gives packages: items with paths.
#[test]
fn no_item_from_upstream_has_a_forbidden_path() {
    let item = |source: &str, path: &str, name: &str, value: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n    annotations:\n      \
             config.kubernetes.io/path: {path}\n      config.kubernetes.io/merge-source: {source}\n  data: {{a: \"{value}\"}}\n"
        )
    };
    let local = |path: &str, name: &str| {
        item("dest", path, name, "1").replace("      config.kubernetes.io/merge-source: dest\n", "")
    };
    let list = [
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n".to_owned(),
        local("cm.yaml", "cm"),
        item("original", "cm.yaml", "cm", "1"),
        item("updated", "cm.yaml", "cm", "2"),
        item("updated", ".krmv.yaml", "rules", "1"),
        item("updated", "sub/.krmv/a.yaml", "more", "1"),
    ];
    let mut command = assert_cmd::Command::new(binary("merge-package"));
    let output = command
        .write_stdin(list.concat())
        .output()
        .expect("it runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let items = printed.split("\nresults:").next().unwrap_or_default();
    assert!(
        items.contains("\"2\"") && !items.contains("krmv"),
        "{printed}"
    );
    assert!(printed.contains("RefusedFile"), "{printed}");
}

/// The commands of `krmv` that bring files of upstream; the others do not.
const BRINGING: [&str; 3] = ["get", "resolve", "upgrade"];
const OTHERS: [&str; 13] = [
    "allow",
    "blame",
    "completion",
    "diff",
    "fetch",
    "functions",
    "help",
    "man",
    "overlay",
    "review",
    "skip",
    "status",
    "version",
];

#[test]
fn no_command_accepts_forbidden_files_from_upstream() {
    let world = World::new();
    let help = world.krmv(&["--help"]).stdout;
    let commands = help.split("Commands:\n").nth(1).expect("commands");
    let commands = commands.split("\n\n").next().expect("commands").lines();
    let commands = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for name in commands.filter_map(|line| line.split_whitespace().next()) {
        let is_known = BRINGING.contains(&name) || OTHERS.contains(&name);
        assert!(
            is_known,
            "does `krmv {name}` bring files of upstream? Then it belongs in this test"
        );
    }
    let files = hostile();
    for (path, text) in &files {
        if !["Kptfile", "cm.yaml"].contains(path) {
            world.folder.put(&format!("catalog/web/{path}"), text);
        }
    }
    world.folder.put("catalog/web/cm.yaml", map("2", "0"));
    let script = world.folder.path("catalog/web/run.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    world
        .krmv(&["get", "../catalog//web@v1.0.0"])
        .assert_code(0);
    world.edit_app();
    world.folder.git(&["add", "--all", "--force", "web"]);
    let app = super::krmv::deployment(7, "app:7", "7Mi");
    world.release("v7.0.0", &app, super::krmv::SERVICE);
    world.folder.put("hostile-1.0.0.tgz", gz(&tar_of(&files)));
    layout(&world.folder, "layout", "v1", &tar_of(&files));
    for (source, package) in [
        ("../catalog//web@v7.0.0", "git"),
        ("../hostile-1.0.0.tgz", "archive"),
        ("oci:../layout:v1", "image"),
    ] {
        let outcome = world.krmv(&["get", source, package]);
        outcome.assert_code(0);
        let printed = unwrapped(&outcome.stdout);
        check(&world.folder, &format!("own/{package}"), &printed, source);
    }
    let outcome = world.krmv(&["upgrade", "web", "v7.0.0"]);
    outcome.assert_code(1);
    let printed = unwrapped(&outcome.stdout);
    check(&world.folder, "own/web", &printed, "krmv upgrade");
    world
        .krmv(&["resolve", "web", "--take", "upstream"])
        .assert_code(0);
    check(&world.folder, "own/web", &printed, "krmv resolve");
    // A file of its own.
    let outcome = world.krmv(&["get", "../catalog//web/.krmv.yaml@v7.0.0", "one"]);
    assert_ne!(outcome.code, Some(0), "{}", outcome.stdout);
    assert!(!Path::new(&world.path("one")).exists());
}

/// The words of a page without its line breaks.
fn unwrapped(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}
