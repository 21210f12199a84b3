//! Every function takes a PackageRevisionResources as the package, and writes it back as one.

use indoc::indoc;
use std::fs;
use std::path::Path;

use assert_cmd::Command;

use crate::all_functions::binary;

const POINT: &str = "apiVersion: q.example.com/v1
kind: Mesh
metadata:
  name: mesh
  annotations:
    kpt.dev/config-injection: required
spec:
  a: 1
";
const CONTEXT: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: kptfile.kpt.dev
data:
  name: web
";
const KPTFILE: &str = "apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web # ours
";
const VARIANT: &str = "apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: pv
  namespace: default
spec:
  upstream: {repo: b, package: web, revision: 1}
  downstream: {repo: edge, package: web}
  packageContext: {data: {region: x}}
  pipeline: {mutators: [{image: i/x:1}]}
  injectors: [{name: north}]
";
const SET: &str = "apiVersion: config.porch.kpt.dev/v1alpha2
kind: PackageVariantSet
metadata:
  name: fan
  namespace: default
spec:
  upstream: {repo: b, package: web, revision: 1}
  targets: [{repositories: [{name: e1}]}]
";
const CLUSTER: &str = "apiVersion: config.porch.kpt.dev/v1alpha1
kind: Repository
metadata: {name: e1, namespace: default}
---
apiVersion: porch.kpt.dev/v1alpha1
kind: PackageRevision
metadata: {name: b.web.v1, namespace: default}
spec: {repository: b, packageName: web, revision: 1}
---
apiVersion: q.example.com/v1
kind: Mesh
metadata: {name: north, namespace: default}
spec:
  a: 2
";

/// The object as `kubectl get -o yaml` prints it.
fn object(files: &[(&str, &str)]) -> String {
    let mut text = indoc! {"
        apiVersion: porch.kpt.dev/v1alpha1
        kind: PackageRevisionResources
        metadata:
          name: edge.web.v1 # kept
        spec:
          packageName: web
          resources:
    "}
    .to_owned();
    for (path, content) in files {
        let lines = content.lines().map(|line| format!("      {line}\n"));
        text += &format!("    {path}: |\n{}", lines.collect::<String>());
    }
    text + "status:\n  renderStatus: {error: \"\"} # Porch's\n"
}

fn indented(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("  {line}\n")).collect();
    format!("-{}", &lines[1..])
}

/// A folder with the object in a file of its own folder, and with the inputs of all functions.
fn folder(before: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let new_context = CONTEXT.replace("web", "new");
    let old = object(&[("Kptfile", KPTFILE), ("package-context.yaml", CONTEXT)]);
    let new = object(&[("Kptfile", KPTFILE), ("package-context.yaml", &new_context)]);
    for (path, text) in [
        ("package/draft.yaml", before),
        ("pv.yaml", VARIANT),
        ("cluster.yaml", CLUSTER),
        ("patch.yaml", &CONTEXT.replace("name: web", "name: new")),
        ("old.yaml", &old),
        ("new.yaml", &new),
    ] {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        fs::write(file, text).expect("a file");
    }
    folder
}

fn run(name: &str, arguments: &[&str], at: &Path, stdin: &str) -> String {
    let mut command = Command::new(binary(name));
    let output = command
        .current_dir(at)
        .args(arguments)
        .write_stdin(stdin)
        .output()
        .expect("a run");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} {arguments:?}: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs a function on the object as the file of a directory, as a file, and as an item. `after` is what becomes of it.
#[track_caller]
fn check(name: &str, arguments: &[&str], before: &str, after: &str) {
    for package in ["package", "package/draft.yaml"] {
        let folder = folder(before);
        let arguments = [&["--package", package], arguments].concat();
        run(name, &arguments, folder.path(), "");
        let found = fs::read_to_string(folder.path().join("package/draft.yaml")).expect("a file");
        assert_eq!(found, after, "{name} {package}");
        let files = fs::read_dir(folder.path().join("package")).expect("a folder");
        assert_eq!(files.count(), 1, "{name} {package}");
        // The second run changes nothing.
        run(
            name,
            &[&arguments[..], &["--check"]].concat(),
            folder.path(),
            "",
        );
    }
    let list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";
    let folder = folder(before);
    let input = format!("{list}{}", indented(before));
    let found = run(name, arguments, folder.path(), &input);
    let (items, _) = found.split_once("results:\n").unwrap_or((&found, ""));
    assert_eq!(items, format!("{list}{}", indented(after)), "{name}");
}

#[test]
fn functions_that_edit_a_package() {
    let package = |kptfile: &str, context: &str, point: &str| {
        object(&[
            ("Kptfile", kptfile),
            ("package-context.yaml", context),
            ("point.yaml", point),
        ])
    };
    let before = package(KPTFILE, CONTEXT, POINT);
    let context = format!("{CONTEXT}  region: x\n");
    let config = ["--config", "pv.yaml"];
    check(
        "set-package-context",
        &config,
        &before,
        &package(KPTFILE, &context, POINT),
    );
    let function = "pipeline: {mutators: [{image: i/x:1, name: PackageVariant.pv..0}]}\n";
    let piped = format!("{KPTFILE}{function}");
    check(
        "prepend-pipeline",
        &config,
        &before,
        &package(&piped, CONTEXT, POINT),
    );
    let merge = ["--original", "old.yaml", "--upstream", "new.yaml"];
    let merged = package(KPTFILE, &CONTEXT.replace("web", "new"), POINT);
    check("merge-package", &merge, &before, &merged);
    let patched = package(KPTFILE, &CONTEXT.replace("name: web", "name: new"), POINT);
    check(
        "apply-patch",
        &["--patches", "patch.yaml"],
        &before,
        &patched,
    );
}

#[test]
fn the_steps_of_a_package_variant() {
    let before = object(&[
        ("Kptfile", KPTFILE),
        ("package-context.yaml", CONTEXT),
        ("point.yaml", POINT),
    ]);
    for name in ["inject-config", "render-variant"] {
        for package in ["package", "package/draft.yaml"] {
            let folder = folder(&before);
            let arguments = [
                "--package",
                package,
                "--config",
                "pv.yaml",
                "--resources",
                "cluster.yaml",
            ];
            run(name, &arguments, folder.path(), "");
            let file = folder.path().join("package/draft.yaml");
            let found = fs::read_to_string(&file).expect("a file");
            assert!(
                found.starts_with(&before[..before.find("name: web #").expect("a part")]),
                "{found}"
            );
            assert!(
                found.ends_with("status:\n  renderStatus: {error: \"\"} # Porch's\n"),
                "{found}"
            );
            for part in [
                "        kpt.dev/injected-resource-name: north\n      spec:\n        a: 2\n",
                "        - type: config.injection.Mesh.mesh\n",
            ] {
                assert!(found.contains(part), "{name}: {found}");
            }
            assert_eq!(
                found.contains("      region: x\n"),
                name == "render-variant"
            );
        }
    }
}

/// The PackageVariant and its revisions are no part of the package, and get what they get without one.
#[test]
fn a_package_revision_next_to_the_objects_of_a_variant() {
    let variant = VARIANT.replace("  injectors: [{name: north}]\n", "");
    let revision = indoc! {"
        apiVersion: porch.kpt.dev/v1alpha1
        kind: PackageRevision
        metadata:
          name: edge.web.packagevariant-1
          namespace: default
          ownerReferences:
          - {apiVersion: config.porch.kpt.dev/v1alpha1, kind: PackageVariant, name: pv}
        spec: {repository: edge, packageName: web, lifecycle: Draft}
    "};
    let before = object(&[("Kptfile", KPTFILE), ("package-context.yaml", CONTEXT)]);
    let list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";
    let input = [
        list,
        &indented(&variant),
        &indented(&before),
        &indented(revision),
    ]
    .concat();
    let folder = folder(&before);
    let found = run(
        "render-variant",
        &["--config", "pv.yaml"],
        folder.path(),
        &input,
    );
    for part in [
        "name: PackageVariant.pv..0}",
        "          region: x\n",
        "- name: edge.web.packagevariant-1\n",
        "reason: NoErrors",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert_eq!(
        found.matches("kind: PackageRevisionResources").count(),
        1,
        "{found}"
    );
}

#[test]
fn an_empty_package_revision_is_cloned_into() {
    let head = "apiVersion: porch.kpt.dev/v1alpha1\nkind: PackageRevisionResources\nmetadata:\n  name: edge.web.v1\n";
    for before in [
        head.to_owned(),
        format!("{head}spec:\n  packageName: web\n"),
        format!("{head}spec:\n  resources: {{}}\n"),
        format!("{head}spec:\n  resources:\n"),
    ] {
        let folder = folder(&before);
        let upstream = folder.path().join("upstream");
        fs::create_dir(&upstream).expect("a folder");
        fs::write(upstream.join("Kptfile"), KPTFILE).expect("a file");
        fs::write(upstream.join("logo.png"), b"\xff\xfe").expect("a file");
        let mut command = Command::new(binary("render-variant"));
        command.current_dir(folder.path());
        let arguments = "--package package --config pv.yaml --upstream upstream";
        let output = command.args(arguments.split(' ')).output().expect("a run");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let file = folder.path().join("package/draft.yaml");
        let found = fs::read_to_string(file).expect("a file");
        assert!(found.starts_with(head), "{found}");
        for part in ["Kptfile: |", "package-context.yaml: |"] {
            assert!(found.contains(part), "{found}");
        }
        // What is not text cannot be in it.
        assert!(!found.contains("logo.png"), "{found}");
        assert!(
            stderr.contains("logo.png") && stderr.contains("(SkippedFile)"),
            "{stderr}"
        );
    }
}

#[test]
fn functions_that_turn_a_package_into_documents() {
    let live = CONTEXT.replace("\ndata:\n", "\n  labels: {live: \"1\"}\ndata:\n");
    let config = CONTEXT.replace("name: web", "name: new");
    let before = object(&[("a.yaml", &config)]);
    for name in ["apply-config", "create-patch"] {
        let folder = folder(&before);
        fs::write(folder.path().join("live.yaml"), &live).expect("a file");
        let input = format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{}",
            indented(&before)
        );
        let made = run(name, &["--live", "live.yaml"], folder.path(), &input);
        assert_eq!(
            made.matches("kind: PackageRevisionResources").count(),
            1,
            "{made}"
        );
        assert!(
            made.contains("    packageName: web\n") && made.contains("name: new"),
            "{made}"
        );
        assert_eq!(
            made.contains("live: \"1\""),
            name == "apply-config",
            "{made}"
        );
        // Of a package they are printed, and the file stays.
        for package in ["package", "package/draft.yaml"] {
            let arguments = ["--package", package, "--live", "live.yaml"];
            let printed = run(name, &arguments, folder.path(), "");
            assert!(
                printed.starts_with("apiVersion: v1\nkind: ConfigMap\n"),
                "{printed}"
            );
            let file = folder.path().join("package/draft.yaml");
            assert_eq!(fs::read_to_string(file).expect("a file"), before);
        }
    }
}

#[test]
fn a_package_of_sets_is_expanded() {
    let before = object(&[("set.yaml", SET)]);
    let folder = folder(&before);
    let arguments = [
        "--package",
        "package/draft.yaml",
        "--resources",
        "cluster.yaml",
    ];
    run("expand-variant-set", &arguments, folder.path(), "");
    let file = folder.path().join("package/draft.yaml");
    let found = fs::read_to_string(file).expect("a file");
    assert!(found.contains("        name: fan-e1-web\n"), "{found}");
    assert!(found.contains("        - type: Ready\n"), "{found}");
}

#[test]
fn another_file_is_not_a_package() {
    let folder = folder(CONTEXT);
    for package in ["package/draft.yaml", "pv.yaml"] {
        let mut command = Command::new(binary("set-package-context"));
        let output = command
            .current_dir(folder.path())
            .args(["--package", package, "a=b"])
            .output();
        let output = output.expect("a run");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("expected a package directory"), "{stderr}");
    }
}
