//! `merge-package` without an original: the Kptfile's lock tells it, and is written.

use super::variants::render_variant;
use super::{Folder, KPTFILE, catalog, files_in, map};
use indoc::indoc;

/// The Kptfile as kpt writes it.
fn locked(directory: &str, reference: &str, commit: &str) -> String {
    format!(
        "{KPTFILE}upstream:\n  type: git\n  git:\n    repo: https://e.com/catalog # kept\n    directory: /{directory}\n    ref: {reference}\n  updateStrategy: resource-merge\n\
         upstreamLock:\n  type: git\n  git:\n    repo: https://e.com/catalog\n    directory: /{directory}\n    ref: {reference}\n    commit: {commit}\ninfo:\n  description: ours\n"
    )
}

/// A package at v1, with a local edit.
fn at_v1(folder: &Folder) {
    let first = folder.git(&["rev-parse", "v1^{commit}"]);
    folder.put("local/Kptfile", locked("nginx", "v1", &first));
    folder.put("local/cm.yaml", map("1", "7"));
    folder.put("local/notes.txt", "one\n");
}

#[test]
fn one_command_takes_the_place_of_kpt_pkg_update() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let second = folder.git(&["rev-parse", "v2"]);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("local/cm.yaml"), map("2", "7"));
    assert_eq!(folder.get("local/Kptfile"), locked("nginx", "v2", &second));
    assert!(
        outcome
            .stderr
            .contains(&format!("now based on `v2`, commit {second}"))
    );
    // Already at that commit: left unchanged.
    let before = files_in(&folder.path("local"));
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(
        (outcome.code, outcome.stderr.as_str()),
        (Some(0), "already up to date\n")
    );
    assert_eq!(files_in(&folder.path("local")), before);
    // A package's own tag: the lock has the whole name, as kpt writes it.
    let third = folder.git(&["rev-parse", "nginx/v3"]);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v3"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let expected = locked("nginx", "v3", &third).replacen(
        "ref: v3\n    commit",
        "ref: nginx/v3\n    commit",
        1,
    );
    assert_eq!(folder.get("local/Kptfile"), expected);
    assert_eq!(folder.get("local/cm.yaml"), map("3", "7"));
}

#[test]
fn an_unknown_strategy_of_the_kptfile_is_reported() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let kptfile = folder
        .get("local/Kptfile")
        .replace("resource-merge", "alpha-git-patch");
    folder.put("local/Kptfile", kptfile);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("local/cm.yaml"), map("2", "7"));
    let warning = "found `alpha-git-patch`: merged as `resource-merge` (IgnoredField)";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
}

#[test]
fn a_lock_by_kpt_names_the_object_of_an_annotated_tag() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let object = folder.git(&["rev-parse", "v1"]);
    folder.put("local/Kptfile", locked("nginx", "v1", &object));
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v1"]);
    assert_eq!(
        (outcome.code, outcome.stderr.as_str()),
        (Some(0), "already up to date\n")
    );
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("local/cm.yaml"), map("2", "7"));
    // Ours names the commit.
    folder.git(&["tag", "-a", "-m", "fourth", "v4", "main"]);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v4"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let commit = folder.git(&["rev-parse", "v4^{commit}"]);
    assert_eq!(folder.get("local/Kptfile"), locked("nginx", "v4", &commit));
}

#[test]
fn a_conflict_does_not_hold_back_the_lock_and_has_an_exit_code() {
    let folder = catalog(&[]);
    at_v1(&folder);
    folder.put("local/cm.yaml", map("local", "7"));
    let upstream = ["--upstream", "catalog//nginx?ref=v2", "--exit-conflicts"];
    let with = |more: &[&str]| folder.merge(&[&upstream, more].concat()).code;
    assert_eq!(with(&["--diff"]), Some(0));
    assert_eq!(with(&["--check"]), Some(3));
    assert_eq!(with(&["onConflict=error"]), Some(1));
    let first = folder.git(&["rev-parse", "v1^{commit}"]);
    assert_eq!(folder.get("local/Kptfile"), locked("nginx", "v1", &first));
    assert_eq!(with(&[]), Some(4));
    let second = folder.git(&["rev-parse", "v2"]);
    assert_eq!(folder.get("local/Kptfile"), locked("nginx", "v2", &second));
    assert_eq!(folder.get("local/cm.yaml"), map("2", "7"));
    assert_eq!(with(&[]), Some(0));
    let outcome = folder.run(super::merge_package(), &["--exit-conflicts"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
}

#[test]
fn the_tag_of_a_lock_stands_in_for_a_commit_that_is_not_known() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let unknown = "1".repeat(40);
    folder.put("local/Kptfile", locked("nginx", "v1", &unknown));
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("(CommitNotFound)"),
        "{}",
        outcome.stderr
    );
    assert_eq!(folder.get("local/cm.yaml"), map("2", "7"));
    // A branch may have moved: what it brought since would be lost.
    let before = locked("nginx", "main", &unknown);
    folder.put("local/Kptfile", &before);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=main"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("(OriginalNotFound)"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stderr
            .contains(&format!("git -C 'catalog' fetch origin {unknown}"))
    );
    assert_eq!(folder.get("local/Kptfile"), before);
}

#[test]
fn a_clone_with_a_filter_says_what_to_fetch() {
    let folder = catalog(&[]);
    at_v1(&folder);
    folder.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", folder.path("catalog").display());
    let clone = ["clone", "--quiet", "--no-checkout", "--filter=blob:none"];
    folder.git_in("", &[&clone[..], &[&url, "filtered"]].concat());
    let merge = ["--upstream", "filtered//nginx?ref=v2"];
    let outcome = folder.merge(&merge);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    let fetch = outcome.stderr.split("`git ").nth(1).expect("a command");
    let fetch = fetch.split('`').next().expect("its end");
    let words: Vec<&str> = fetch.split(' ').collect();
    folder.git_in("filtered", &words);
    let outcome = folder.merge(&merge);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn a_shallow_clone_says_what_to_fetch() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let url = format!("file://{}", folder.path("catalog").display());
    folder.git_in(
        "",
        &[
            "clone",
            "--quiet",
            "--depth=1",
            "--branch=v2",
            &url,
            "shallow",
        ],
    );
    let outcome = folder.merge(&["--upstream", "shallow//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("git -C 'shallow' fetch --unshallow"),
        "{}",
        outcome.stderr
    );
    assert_eq!(folder.get("local/cm.yaml"), map("1", "7"));
}

#[test]
fn without_a_lock_the_original_must_be_named() {
    let folder = catalog(&[]);
    folder.put("local/Kptfile", KPTFILE);
    folder.put("local/cm.yaml", map("1", "7"));
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("(OriginalNotFound)"),
        "{}",
        outcome.stderr
    );
    // Then the lock is written as well, where kpt has it.
    folder.put(
        "local/Kptfile",
        format!("{KPTFILE}info:\n  description: ours\n"),
    );
    let outcome = folder.merge(&[
        "--original",
        "catalog//nginx?ref=v1",
        "--upstream",
        "catalog//nginx?ref=v2",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let second = folder.git(&["rev-parse", "v2"]);
    let address = folder.path("catalog").canonicalize().expect("a path");
    let expected = locked("nginx", "v2", &second)
        .replace("https://e.com/catalog # kept", "https://e.com/catalog");
    let expected = expected.replace("https://e.com/catalog", &address.display().to_string());
    assert_eq!(folder.get("local/Kptfile"), expected);
    // Nothing to write it into.
    std::fs::remove_dir_all(folder.path("local")).expect("removed");
    folder.put("local/cm.yaml", map("1", "7"));
    folder.put("catalog/plain/cm.yaml", map("1", "0"));
    folder.commit("plain");
    folder.put("catalog/plain/cm.yaml", map("2", "0"));
    folder.commit("plain, again");
    let outcome = folder.merge(&[
        "--original",
        "catalog//plain?ref=HEAD~1",
        "--upstream",
        "catalog//plain?ref=HEAD",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("(KptfileNotFound)"),
        "{}",
        outcome.stderr
    );
    assert_eq!(folder.get("local/cm.yaml"), map("2", "7"));
}

#[test]
fn the_address_of_a_clone_is_the_address_of_its_remote() {
    let folder = catalog(&[]);
    let url = "https://user:secret@e.com/catalog.git";
    folder.git(&["remote", "add", "origin", url]);
    folder.put("local/Kptfile", KPTFILE);
    folder.put("local/cm.yaml", map("1", "7"));
    folder.merge(&[
        "--original",
        "catalog//nginx?ref=v1",
        "--upstream",
        "catalog//nginx?ref=v2",
    ]);
    let kptfile = folder.get("local/Kptfile");
    assert_eq!(
        kptfile
            .matches("    repo: https://e.com/catalog.git\n")
            .count(),
        2,
        "{kptfile}"
    );
}

#[test]
fn the_strategy_of_the_kptfile_holds_unless_another_is_asked_for() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let kptfile = folder
        .get("local/Kptfile")
        .replace("resource-merge", "fast-forward");
    folder.put("local/Kptfile", kptfile);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.stderr.contains("(LocalChanges)"),
        "{}",
        outcome.stderr
    );
    let outcome = folder.merge(&[
        "--upstream",
        "catalog//nginx?ref=v2",
        "strategy=resource-merge",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn a_package_that_upstream_moved_is_followed() {
    let folder = catalog(&[]);
    at_v1(&folder);
    folder.git(&["mv", "nginx", "web"]);
    let moved = folder.commit("moved");
    let outcome = folder.merge(&["--upstream", "catalog//web?ref=main"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("local/cm.yaml"), map("3", "7"));
    assert_eq!(folder.get("local/Kptfile"), locked("web", "main", &moved));
}

/// As items, and as a PackageRevisionResources.
#[test]
fn a_package_on_standard_input_follows_as_well() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let second = folder.git(&["rev-parse", "v2"]);
    let indent = |text: &str, by: &str| -> String {
        let line = |line: &str| {
            if line.is_empty() {
                "\n".to_owned()
            } else {
                format!("{by}{line}\n")
            }
        };
        text.lines().map(line).collect()
    };
    let item = |path: &str| {
        let text = folder.get(&format!("local/{path}"));
        let annotation = format!("  annotations:\n    config.kubernetes.io/path: {path}\n");
        let text = text.replacen("metadata:\n", &format!("metadata:\n{annotation}"), 1);
        format!("- {}", indent(&text, "  ").trim_start())
    };
    let wrapper = crate::running::WRAPPER;
    let items = format!("{wrapper}{}{}", item("Kptfile"), item("cm.yaml"));
    let file = |path: &str| {
        format!(
            "      {path}: |\n{}",
            indent(&folder.get(&format!("local/{path}")), "        ")
        )
    };
    let resources = format!(
        "{wrapper}- apiVersion: porch.kpt.dev/v1alpha1\n  kind: PackageRevisionResources\n  metadata:\n    name: r\n  spec:\n    resources:\n{}{}",
        file("Kptfile"),
        file("cm.yaml")
    );
    for input in [items, resources] {
        let mut command = std::process::Command::new(super::merge_package());
        command
            .current_dir(folder.path(""))
            .args(["--upstream", "catalog//nginx?ref=v2"]);
        let outcome = super::outcome(command, input);
        assert_eq!(
            outcome.code,
            Some(0),
            "{}\n{}",
            outcome.stderr,
            outcome.stdout
        );
        assert!(
            outcome.stdout.contains(&format!("commit: {second}")),
            "{}",
            outcome.stdout
        );
        assert!(
            outcome.stdout.contains("a: \"2\" # first"),
            "{}",
            outcome.stdout
        );
        assert!(outcome.stdout.contains("b: \"7\""), "{}", outcome.stdout);
    }
}

/// Porch keeps packages in a database too, of which no revision can be read.
#[test]
fn a_lock_of_another_type_is_kept_and_names_no_original() {
    let folder = catalog(&[]);
    let generic = format!(
        "{KPTFILE}upstreamLock:\n  type: generic\n  generic: # Porch's\n    storeID: s\n    resourceID: r\n    resourceVersion: \"7\"\n"
    );
    let variant = indoc! {"
        apiVersion: config.porch.kpt.dev/v1alpha1
        kind: PackageVariant
        metadata: {name: pv}
        spec:
          upstream: {repo: catalog, package: nginx, revision: v2}
          downstream: {repo: edge, package: web}
    "};
    folder.put("pv.yaml", variant);
    folder.put("local/Kptfile", &generic);
    folder.put("local/cm.yaml", map("1", "7"));
    let before = files_in(&folder.path("local"));
    let upstream = ["--upstream", "catalog//nginx?ref=v2"];
    let merged = folder.merge(&upstream);
    let rendered = folder.run(
        render_variant(),
        &[
            &["--package", "local", "--config", "pv.yaml"],
            &upstream[..],
        ]
        .concat(),
    );
    for outcome in [merged, rendered] {
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let place = "[error] Kptfile:6: Kptfile/nginx: upstreamLock.type: ";
        let message = "expected an `upstreamLock` of type `git`, found type `generic`";
        for part in [place, message, "(OriginalNotFound)"] {
            assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
        }
        assert_eq!(files_in(&folder.path("local")), before);
    }
    // With an original that is no revision of Git nothing touches it.
    folder.put("one/Kptfile", KPTFILE);
    folder.put("one/cm.yaml", map("1", "0"));
    folder.put("two/Kptfile", KPTFILE);
    folder.put("two/cm.yaml", map("2", "0"));
    let outcome = folder.merge(&["--original", "one", "--upstream", "two"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("local/Kptfile"), generic);
    assert_eq!(folder.get("local/cm.yaml"), map("2", "7"));
}

#[test]
fn a_lock_that_is_not_text_is_an_error() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let kptfile = folder.get("local/Kptfile");
    let first = folder.git(&["rev-parse", "v1^{commit}"]);
    let (start, lock) = kptfile.split_once("upstreamLock:").expect("a lock");
    for (field, value) in [
        ("commit", first.as_str()),
        ("ref", "v1"),
        ("directory", "/nginx"),
    ] {
        let old = format!("    {field}: {value}\n");
        let lock = lock.replace(&old, &format!("    {field}: [a]\n"));
        let broken = format!("{start}upstreamLock:{lock}");
        assert_ne!(broken, kptfile);
        folder.put("local/Kptfile", &broken);
        let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let place = format!("upstreamLock.git.{field}: ");
        for part in [
            place.as_str(),
            "expected text, found a sequence",
            "(OriginalNotFound)",
        ] {
            assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
        }
        assert_eq!(folder.get("local/Kptfile"), broken);
        assert_eq!(folder.get("local/cm.yaml"), map("1", "7"));
    }
}

#[test]
fn a_lock_of_another_kind_is_an_error_and_does_not_count_as_missing() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let kptfile = folder.get("local/Kptfile");
    let (start, _) = kptfile.split_once("upstreamLock:").expect("a lock");
    for (lock, place, expected) in [
        ("[a]", "upstreamLock", "a mapping"),
        ("v1", "upstreamLock", "a mapping"),
        ("{type: git, git: v1}", "upstreamLock.git", "a mapping"),
        ("{type: [git], git: {ref: v1}}", "upstreamLock.type", "text"),
    ] {
        folder.put("local/Kptfile", format!("{start}upstreamLock: {lock}\n"));
        let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        for part in [format!("{place}: "), format!("expected {expected}, found ")] {
            assert!(outcome.stderr.contains(&part), "{lock}: {}", outcome.stderr);
        }
    }
}

#[test]
fn latest_is_the_highest_version_and_no_release_candidate() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let merged = |version: &str| {
        at_v1(&folder);
        let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=latest"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let kptfile = folder.get("local/Kptfile");
        let written = format!("    ref: {version}\n");
        assert!(kptfile.contains(&written), "{version}: {kptfile}");
    };
    for tag in ["nginx/v4.0.0-rc.1", "nginx/w7", "v9"] {
        folder.git(&["tag", tag, "v2"]);
    }
    merged("v3");
    // Without versions of its own.
    folder.git(&["tag", "--delete", "nginx/v3", "nginx/v4.0.0-rc.1"]);
    merged("v9");
    folder.git(&["tag", "--delete", "v9"]);
    folder.git(&["tag", "v10.0.0-rc.1", "v1"]);
    merged("v2");
    // Without a version it is a name like any other.
    folder.git(&["tag", "--delete", "v1", "v2", "v10.0.0-rc.1"]);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=latest"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    folder.git(&["branch", "latest"]);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=latest"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(folder.get("local/Kptfile").contains("ref: latest\n"));
}

#[test]
fn a_clone_of_another_repository_is_an_error() {
    let folder = catalog(&[]);
    at_v1(&folder);
    let unknown = "1".repeat(40);
    folder.put("local/Kptfile", locked("nginx", "v1", &unknown));
    folder.git(&["remote", "add", "fork", "https://e.com/fork.git"]);
    let before = files_in(&folder.path("local"));
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    for expected in [
        "(WrongRepository)",
        "`https://e.com/catalog`",
        "`https://e.com/fork.git`",
    ] {
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
    assert_eq!(files_in(&folder.path("local")), before);
    // Any remote will do, in any spelling, and so will a clone that has the commit.
    folder.git(&["remote", "add", "own", "git@e.com:catalog.git"]);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    folder.git(&["remote", "remove", "own"]);
    at_v1(&folder);
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        !outcome.stderr.contains("WrongRepository"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn going_back_to_an_older_revision_is_a_warning() {
    let folder = catalog(&[]);
    let second = folder.git(&["rev-parse", "v2"]);
    folder.put("local/Kptfile", locked("nginx", "v2", &second));
    folder.put("local/cm.yaml", map("2", "7"));
    folder.put("local/notes.txt", "one\n");
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v1"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let expected = "`v1` is older than `v2`";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("(OlderRevision)"),
        "{}",
        outcome.stderr
    );
    assert_eq!(folder.get("local/cm.yaml"), map("1", "7"));
    let outcome = folder.merge(&["--upstream", "catalog//nginx?ref=v2"]);
    assert!(
        !outcome.stderr.contains("OlderRevision"),
        "{}",
        outcome.stderr
    );
}
