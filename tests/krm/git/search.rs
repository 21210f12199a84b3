//! `--original auto`: the revision that a copy was made from.

use super::{Folder, KPTFILE, map, merge_package};
use crate::krmv::on_path;
use indoc::indoc;

fn resource(name: &str, values: &[(String, String)]) -> String {
    let head = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n");
    let data = values
        .iter()
        .map(|(key, value)| format!("  {key}: \"{value}\"\n"));
    head + &data.collect::<String>()
}

/// Ten values, the first of which are of a later version.
fn values(version: usize) -> Vec<(String, String)> {
    let value = |at: usize| {
        if at < version {
            format!("new{version}")
        } else {
            "old".to_owned()
        }
    };
    (0..10).map(|at| (format!("k{at}"), value(at))).collect()
}

/// A project with the tags v0 to v4, of which `v1-again` is v1 once more.
fn project() -> Folder {
    let folder = Folder::new(&[]);
    for version in 0..5 {
        folder.put("catalog/m/a.yaml", resource("a", &values(version)));
        folder.put("catalog/m/b.yaml", resource("b", &values(2 * version)));
        folder.put("catalog/m/notes.txt", format!("notes\nof {version}\n"));
        folder.commit(&format!("v{version}"));
        folder.git(&["tag", &format!("v{version}")]);
    }
    folder
}

/// A copy of a version, with an edit of its own.
fn copy(folder: &Folder, version: usize) {
    let own = resource("a", &values(version)).replace("k9: \"old\"", "k9: \"mine\"");
    folder.put("local/a.yaml", own);
    folder.put("local/b.yaml", resource("b", &values(2 * version)));
    folder.put("local/notes.txt", format!("notes\nof {version}\n"));
}

const AUTO: [&str; 4] = ["--original", "auto", "--upstream", "catalog//m?ref=v4"];

#[test]
fn the_revision_of_a_copy_is_found() {
    let folder = project();
    for version in 0..4 {
        copy(&folder, version);
        let outcome = folder.merge(&[&AUTO[..], &["--results", "results.yaml"]].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let found = format!("a copy of `v{version}`, with 1 changed, 0 added, 0 removed");
        assert!(outcome.stderr.contains(&found), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("(KptfileNotFound)"),
            "{}",
            outcome.stderr
        );
        let results = folder.get("results.yaml");
        for expected in [
            "reason: OriginalFound",
            &format!("original: v{version}"),
            "differences: 1 changed, 0 added, 0 removed",
        ] {
            assert!(results.contains(expected), "{expected}: {results}");
        }
        let expected = resource("a", &values(4)).replace("k9: \"old\"", "k9: \"mine\"");
        assert_eq!(folder.get("local/a.yaml"), expected);
        assert_eq!(folder.get("local/notes.txt"), "notes\nof 4\n");
    }
}

#[test]
fn a_kptfile_is_created_for_the_lock() {
    let folder = project();
    copy(&folder, 1);
    let outcome = folder.merge(&[&AUTO[..], &["createKptfile=true"]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let kptfile = folder.get("local/Kptfile");
    let commit = folder.git(&["rev-parse", "v4"]);
    for expected in [
        "name: m\n",
        "directory: /m\n",
        "ref: v4\n",
        &format!("commit: {commit}\n"),
    ] {
        assert!(kptfile.contains(expected), "{expected}: {kptfile}");
    }
    // From then on the lock tells it.
    let outcome = folder.merge(&["--upstream", "catalog//m?ref=v4"]);
    assert_eq!(
        (outcome.code, outcome.stderr.as_str()),
        (Some(0), "already up to date\n")
    );
}

#[test]
fn without_tags_the_history_is_searched() {
    let folder = project();
    copy(&folder, 2);
    let commit = folder.git(&["rev-parse", "v2"]);
    for tag in 0..5 {
        folder.git(&["tag", "--delete", &format!("v{tag}")]);
    }
    let outcome = folder.merge(&["--original", "auto", "--upstream", "catalog//m?ref=main"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains(&format!("a copy of `{commit}`")),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_newest_of_equals_that_upstream_contains_is_taken() {
    let folder = project();
    // v1 came back, on a branch that upstream does not contain, and in upstream itself.
    folder.git(&["checkout", "--quiet", "-b", "side"]);
    folder.git(&["checkout", "--quiet", "v1", "--", "m"]);
    folder.commit("v1 on the side");
    folder.git(&["tag", "aside"]);
    folder.git(&["tag", "earlier", "v1"]);
    copy(&folder, 1);
    let outcome = folder.merge(&AUTO);
    assert!(
        outcome.stderr.contains("a copy of `v1`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_copy_of_nothing_is_an_error() {
    let folder = project();
    folder.put("local/Kptfile", KPTFILE);
    folder.put("local/other.yaml", map("1", "2"));
    folder.put(
        "local/a.yaml",
        resource(
            "a",
            &[
                ("k0".to_owned(), "mine".to_owned()),
                ("k1".to_owned(), "mine".to_owned()),
            ],
        ),
    );
    let outcome = folder.merge(&AUTO);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("(OriginalUncertain)"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        outcome.stderr.matches(" removed)").count(),
        3,
        "{}",
        outcome.stderr
    );
    let outcome = folder.merge(&["--original", "auto", "--upstream", "catalog/m"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
}

/// A package whose resources name their version, or not, and have more files with each.
fn growing(folder: &Folder, names: bool) {
    for version in 1..6 {
        for file in 0..3 * version {
            let image = if names { version } else { 1 };
            let text = format!(
                "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p{file}\nspec:\n  containers:\n  - name: c\n    \
                 image: app:1.{image}.0\n    args: [--level={}]\n",
                if file < 3 { version } else { 0 }
            );
            folder.put(&format!("catalog/m/p{file}.yaml"), text);
        }
        folder.commit(&format!("v1.{version}.0"));
        folder.git(&["tag", &format!("v1.{version}.0")]);
    }
}

const GROWING: [&str; 4] = ["--original", "auto", "--upstream", "catalog//m?ref=v1.5.0"];

/// Copies some files of a version.
fn subset(folder: &Folder, version: usize, files: &[usize]) {
    folder.git(&["checkout", "--quiet", &format!("v1.{version}.0")]);
    for file in files {
        folder.put(
            &format!("local/p{file}.yaml"),
            folder.get(&format!("catalog/m/p{file}.yaml")),
        );
    }
    folder.git(&["checkout", "--quiet", "main"]);
}

#[test]
fn local_removals_do_not_make_it_an_older_revision() {
    for names in [true, false] {
        for version in 2..5 {
            let folder = Folder::new(&[]);
            growing(&folder, names);
            // More files are missing of the right revision than values differ from older ones.
            subset(&folder, version, &[1]);
            let outcome = folder.merge(&GROWING);
            if names {
                let found = format!("a copy of `v1.{version}.0`, with 0 changed, 0 added,");
                assert!(outcome.stderr.contains(&found), "{}", outcome.stderr);
            } else {
                assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
                assert!(
                    outcome.stderr.contains("(OriginalUncertain)"),
                    "{}",
                    outcome.stderr
                );
            }
        }
    }
}

#[test]
fn local_removals_do_not_come_back() {
    let folder = Folder::new(&[]);
    growing(&folder, true);
    subset(&folder, 4, &[0, 2, 3]);
    let outcome = folder.merge(&GROWING);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for file in [1, 4, 11] {
        assert!(
            !folder.path(&format!("local/p{file}.yaml")).exists(),
            "p{file}"
        );
    }
    // What is new in v1.5.0 arrives.
    assert!(folder.path("local/p12.yaml").exists());
    assert!(folder.get("local/p3.yaml").contains("image: app:1.5.0"));
}

#[test]
fn revisions_that_match_local_equally_are_named_by_the_newest_final_release() {
    let folder = project();
    for tag in ["v5.1.0-rc.1", "v5.1.0", "v5.2.0-rc.1"] {
        folder.put(
            "catalog/m/c.yaml",
            resource(&tag.replace('.', "-"), &values(0)),
        );
        folder.commit(tag);
        folder.git(&["tag", tag]);
    }
    // Of v4, but without the file that tells the others apart.
    copy(&folder, 4);
    let outcome = folder.merge(&[
        "--original",
        "auto",
        "--upstream",
        "catalog//m?ref=v5.2.0-rc.1",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    // A revision that local has all of goes before them.
    assert!(
        outcome.stderr.contains("a copy of `v4`"),
        "{}",
        outcome.stderr
    );
    std::fs::remove_dir_all(folder.path("local")).expect("a folder");
    copy(&folder, 4);
    std::fs::remove_file(folder.path("local/b.yaml")).expect("a file");
    let outcome = folder.merge(&[
        "--original",
        "auto",
        "--upstream",
        "catalog//m?ref=v5.2.0-rc.1",
    ]);
    assert!(
        outcome.stderr.contains("a copy of `v5.1.0`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_tie_is_decided_by_the_versions_that_local_names_or_is_an_error() {
    let pod = |image: &str, label: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels:\n    app.kubernetes.io/version: {label}\n\
             spec:\n  containers:\n  - name: c\n    image: {image}\n    command: [run]\n    tty: true\n"
        )
    };
    for (image, label, expected) in [
        ("mirror/app:v1.0.0", "own", Some("v1.0.0")),
        ("mirror/app:v1.1.0", "own", Some("v1.1.0")),
        ("mirror/app:v1.1.0", "1.0.0", None),
        ("mirror/app:latest", "own", None),
    ] {
        let folder = Folder::new(&[]);
        for version in ["v1.0.0", "v1.1.0"] {
            folder.put("catalog/m/p.yaml", pod(&format!("app:{version}"), version));
            folder.commit(version);
            folder.git(&["tag", version]);
        }
        folder.put("local/p.yaml", pod(image, label));
        let outcome = folder.merge(&["--original", "auto", "--upstream", "catalog//m?ref=v1.1.0"]);
        match expected {
            Some(tag) => {
                assert_eq!(outcome.code, Some(0), "{image} {label}: {}", outcome.stderr);
                let found = format!("a copy of `{tag}`");
                assert!(
                    outcome.stderr.contains(&found),
                    "{image} {label}: {}",
                    outcome.stderr
                );
            }
            None => {
                assert_eq!(outcome.code, Some(1), "{image} {label}: {}", outcome.stderr);
                assert!(
                    outcome.stderr.contains("(OriginalUncertain)"),
                    "{}",
                    outcome.stderr
                );
                assert!(
                    outcome.stderr.contains("2 changed, 0 added, 0 removed"),
                    "{}",
                    outcome.stderr
                );
            }
        }
    }
}

#[test]
fn edits_in_a_file_that_another_revision_lacks_do_not_make_it_that_one() {
    let folder = project();
    let many = |value: &str| {
        resource(
            "many",
            &(0..30)
                .map(|at| (format!("k{at}"), value.to_owned()))
                .collect::<Vec<_>>(),
        )
    };
    folder.put("catalog/m/many.yaml", many("old"));
    folder.commit("v5");
    folder.git(&["tag", "v5"]);
    copy(&folder, 4);
    folder.put(
        "local/many.yaml",
        many("old")
            .replace("k1: \"old\"", "k1: \"mine\"")
            .replace("k2: \"old\"", "k2: \"mine\""),
    );
    let outcome = folder.merge(&["--original", "auto", "--upstream", "catalog//m?ref=v5"]);
    assert!(
        !outcome.stderr.contains("a copy of `v4`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_unchanged_copy_of_a_document_takes_precedence_over_a_longer_one() {
    let folder = Folder::new(&[]);
    for (version, more) in [("v1.0.0", ""), ("v1.1.0", "  more: \"1\"\n")] {
        folder.put("catalog/m/a.yaml", resource("a", &values(0)) + more);
        folder.put("catalog/m/b.yaml", resource("b", &values(0)));
        folder.commit(version);
        folder.git(&["tag", version]);
    }
    folder.put("local/a.yaml", resource("a", &values(0)));
    let outcome = folder.merge(&["--original", "auto", "--upstream", "catalog//m?ref=v1.1.0"]);
    assert!(
        outcome.stderr.contains("a copy of `v1.0.0`"),
        "{}",
        outcome.stderr
    );
    // What upstream added since arrives.
    assert!(folder.get("local/a.yaml").contains("more: \"1\""));
}

#[test]
fn an_edit_that_gives_local_the_values_of_another_revision_does_not_make_it_that_one() {
    let pod = |version: &str, policy: &str| {
        let container = |name: &str, version: &str| {
            format!(
                "  - name: {name}\n    image: registry/{name}:{version}\n    imagePullPolicy: {policy}\n"
            )
        };
        let containers = [("a", version), ("b", version), ("c", "v1.2.0")];
        let containers = containers.map(|(name, version)| container(name, version));
        let head = indoc! {"
            apiVersion: v1
            kind: Pod
            metadata:
              name: p
            spec:
              containers:
        "};
        head.to_owned() + &containers.concat()
    };
    let folder = Folder::new(&[]);
    for (tag, version, policy) in [
        ("v2.0.1", "v2.0.0", "Always"),
        ("v2.1.5", "v2.1.1", "Never"),
    ] {
        folder.put("catalog/m/pod.yaml", pod(version, policy));
        folder.put("catalog/m/a.yaml", resource("a", &values(0)));
        folder.commit(tag);
        folder.git(&["tag", tag]);
    }
    folder.put("local/a.yaml", resource("a", &values(0)));
    let auto = |local: String| {
        folder.put("local/pod.yaml", local);
        folder.merge(&[
            "--original",
            "auto",
            "--upstream",
            "catalog//m?ref=v2.1.5",
            "--check",
        ])
    };
    // Two edits from v2.1.5, three from v2.0.1.
    let outcome = auto(pod("v2.0.0", "Never"));
    assert!(
        outcome.stderr.contains("(OriginalUncertain)"),
        "{}",
        outcome.stderr
    );
    // Images of its own say nothing.
    let outcome = auto(pod("v2.0.0", "Always").replace("a:v2.0.0", "a:v7"));
    assert!(
        outcome.stderr.contains("a copy of `v2.0.1`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_terminal_shows_the_progress_of_a_search_and_a_pipe_does_not() {
    let folder = project();
    copy(&folder, 2);
    let words = [&["--package", "local", "--check"], &AUTO[..]].concat();
    let line = format!("{} {}", merge_package(), words.join(" "));
    let Some(script) = on_path("script") else {
        return;
    };
    let shown = |switch: &str, line: &str| {
        let mut command = std::process::Command::new(&script);
        command.args(["--quiet", "--command", line, "/dev/null"]);
        command
            .current_dir(folder.path(""))
            .env("KRM_VARIANTS_TEST", switch);
        let output = command.output().expect("script runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let text = shown("impatient", &line);
    let progress = text.find("Comparing revisions (0 of 5, 0 s left)\r\u{1b}[K");
    let found = text.find("a copy of `v2`");
    assert!(progress.is_some() && progress < found, "{text}");
    // A search that takes less than a second shows nothing, and neither does a pipe.
    for text in [
        shown("", &line),
        shown("impatient", &format!("{line} 2>&1 | cat")),
    ] {
        assert!(
            text.contains("a copy of `v2`") && !text.contains("revisions"),
            "{text}"
        );
    }
}
