//! One file as a package: on disk, in Git, with a lock next to it.

use super::Folder;

fn resource(name: &str, version: usize, own: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  version: \"{version}\"\n  own: \"{own}\" # own\n"
    )
}

/// The release file of a version: a licence, and one resource more in each.
fn install(version: usize) -> String {
    let resources = (0..=version).map(|at| resource(&format!("r{at}"), version, "0"));
    format!(
        "# Licence\n\n{}",
        resources.collect::<Vec<_>>().join("---\n")
    )
}

fn project() -> Folder {
    let folder = Folder::new(&[]);
    for version in 1..4 {
        folder.put("catalog/manifests/install.yaml", install(version));
        folder.put("catalog/manifests/README.md", "notes\n");
        folder.commit("a version");
        folder.git(&["tag", &format!("v{version}")]);
    }
    folder
}

fn merge(folder: &Folder, arguments: &[&str]) -> crate::running::Outcome {
    let mut all = vec!["--package", "app/argo.yaml"];
    all.extend(arguments);
    folder.run(super::merge_package(), &all)
}

/// A copy of version 1 with an edit, next to a file that is not the package's.
fn copy(folder: &Folder) {
    let text = install(1).replacen("own: \"0\"", "own: \"mine\"", 1);
    folder.put("app/argo.yaml", text);
    folder.put("app/other.yaml", resource("other", 1, "1"));
}

fn merged(version: usize) -> String {
    install(version).replacen("own: \"0\"", "own: \"mine\"", 1)
}

#[test]
fn a_file_is_a_package_under_any_name_on_each_side() {
    let folder = project();
    folder.put("old/v1.yaml", install(1));
    folder.put("new/v2.yml", install(2));
    for (original, upstream) in [
        ("old/v1.yaml", "new/v2.yml"),
        (
            "catalog//manifests/install.yaml?ref=v1",
            "catalog//manifests/install.yaml?ref=v2",
        ),
        ("old/v1.yaml", "catalog//manifests/install.yaml?ref=v2"),
    ] {
        copy(&folder);
        let outcome = merge(&folder, &["--original", original, "--upstream", upstream]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        // The resource that upstream added goes into the file.
        assert_eq!(folder.get("app/argo.yaml"), merged(2), "{upstream}");
        assert_eq!(folder.get("app/other.yaml"), resource("other", 1, "1"));
        assert!(!folder.path("app/install.yaml").exists());
        assert!(!folder.path("app/Kptfile").exists());
    }
}

#[test]
fn the_lock_of_a_file_is_the_kptfile_next_to_it() {
    let folder = project();
    copy(&folder);
    let upstream = |version: usize| format!("catalog//manifests/install.yaml?ref=v{version}");
    let outcome = merge(
        &folder,
        &[
            "--original",
            &upstream(1),
            "--upstream",
            &upstream(2),
            "createKptfile=true",
        ],
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let commit = folder.git(&["rev-parse", "v2"]);
    let kptfile = folder.get("app/Kptfile");
    for expected in [
        "  name: install\n",
        "    fn.kpt.dev/upstream-file: install.yaml\n",
        "    directory: /manifests\n",
        &format!("    commit: {commit}\n"),
    ] {
        assert!(kptfile.contains(expected), "{expected}: {kptfile}");
    }
    // From then on the lock tells the original.
    let outcome = merge(&folder, &["--upstream", &upstream(2)]);
    assert_eq!(
        (outcome.code, outcome.stderr.as_str()),
        (Some(0), "already up to date\n")
    );
    let outcome = merge(&folder, &["--upstream", &upstream(3)]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("app/argo.yaml"), merged(3));
    let commit = folder.git(&["rev-parse", "v3"]);
    assert!(
        folder
            .get("app/Kptfile")
            .contains(&format!("    commit: {commit}\n"))
    );
    assert_eq!(
        folder.get("app/Kptfile").matches("upstream-file").count(),
        1
    );
}

#[test]
fn a_kptfile_of_the_package_around_a_file_is_not_its_lock() {
    let folder = project();
    copy(&folder);
    folder.put("app/Kptfile", super::KPTFILE);
    let upstream = "catalog//manifests/install.yaml?ref=v2";
    let outcome = merge(
        &folder,
        &[
            "--original",
            "catalog//manifests/install.yaml?ref=v1",
            "--upstream",
            upstream,
            "createKptfile=true",
        ],
    );
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("expected no file at 'Kptfile'"),
        "{}",
        outcome.stderr
    );
    assert_eq!(folder.get("app/Kptfile"), super::KPTFILE);
    assert_eq!(folder.get("app/argo.yaml"), merged(1));
}

#[test]
fn the_original_of_a_file_is_found_by_its_content() {
    let folder = project();
    copy(&folder);
    let upstream = "catalog//manifests/install.yaml?ref=v3";
    let outcome = merge(&folder, &["--original", "auto", "--upstream", upstream]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("a copy of `v1`, with 1 changed, 0 added, 0 removed"),
        "{}",
        outcome.stderr
    );
    assert_eq!(folder.get("app/argo.yaml"), merged(3));
}

#[test]
fn a_file_upstream_merges_into_a_package_of_many_files() {
    let folder = project();
    folder.put("local/r0.yaml", resource("r0", 1, "mine"));
    folder.put("local/deep/r1.yaml", resource("r1", 1, "0"));
    let outcome = folder.merge(&[
        "--original",
        "catalog//manifests/install.yaml?ref=v1",
        "--upstream",
        "catalog//manifests/install.yaml?ref=v2",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("local/r0.yaml"), resource("r0", 2, "mine"));
    assert_eq!(folder.get("local/deep/r1.yaml"), resource("r1", 2, "0"));
}

#[test]
fn a_file_in_the_place_of_a_directory_is_named() {
    let folder = project();
    copy(&folder);
    let outcome = merge(
        &folder,
        &["--upstream", "catalog//manifests/README.md?ref=v2"],
    );
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("found the file `manifests/README.md`"),
        "{}",
        outcome.stderr
    );
    // A file that describes the package around it is not one by itself.
    folder.put("app/Kptfile", super::KPTFILE);
    let outcome = folder.run(
        super::merge_package(),
        &[
            "--package",
            "app/Kptfile",
            "--original",
            "app",
            "--upstream",
            "app",
        ],
    );
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("the file is in 'app'"),
        "{}",
        outcome.stderr
    );
}
