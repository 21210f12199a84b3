//! What kpt and Porch record about their own runs is local's and never merges.

use std::fs;

use assert_cmd::Command;

use super::*;

const METADATA: &str = ".KptRevisionMetadata";

fn metadata(name: &str, version: u32) -> String {
    format!(
        "apiVersion: \"\"\nkind: KptRevisionMetadata\nmetadata:\n  name: {name}\n  namespace: ns\n  resourceVersion: \"{version}\"\n"
    )
}

/// As `porchctl rpkg pull NAME DIR` writes three packages.
fn pulled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (package, version, value) in [
        ("original", 1, "1"),
        ("local", 2, "1"),
        ("upstream", 3, "2"),
    ] {
        let package = folder.path().join(package);
        fs::create_dir(&package).expect("a folder");
        let files = [
            (METADATA, metadata("p", version)),
            ("Kptfile", kptfile("p")),
            ("a.yaml", map("a", &format!("{{x: '{value}'}}"))),
        ];
        for (path, text) in files {
            fs::write(package.join(path), text).expect("a file");
        }
    }
    folder
}

#[test]
fn the_metadata_of_a_revision_stays_under_every_strategy() {
    for strategy in [
        "resource-merge",
        "fast-forward",
        "force-delete-replace",
        "copy-merge",
    ] {
        for upstream_has_it in [true, false] {
            let folder = pulled();
            if !upstream_has_it {
                for package in ["original", "upstream"] {
                    fs::remove_file(folder.path().join(package).join(METADATA)).expect("a file");
                }
            }
            let args = "--package local --original original --upstream upstream";
            Command::new(merge_package())
                .current_dir(folder.path())
                .args(args.split(' '))
                .arg(format!("strategy={strategy}"))
                .assert()
                .success()
                .stderr("[info] merged: 1 changed, 0 added, 0 removed, 0 moved, 0 conflicts\n");
            let read = |path: &str| {
                fs::read_to_string(folder.path().join("local").join(path)).expect("a file")
            };
            assert_eq!(read(METADATA), metadata("p", 2), "{strategy}");
            assert_eq!(read("a.yaml"), map("a", "{x: '2'}"), "{strategy}");
        }
    }
}

/// `porchctl rpkg pull NAME | merge-package`: without a directory the metadata is an item.
#[test]
fn the_metadata_of_a_revision_stays_as_an_item() {
    let placed = |text: &str, path: &str, source: Option<&str>| {
        let source = source.map_or(String::new(), |word| {
            format!("    config.kubernetes.io/merge-source: {word}\n")
        });
        let annotations =
            format!("metadata:\n  annotations:\n    config.kubernetes.io/path: {path}\n{source}");
        item(&text.replacen("metadata:\n", &annotations, 1), None)
    };
    let package = |version, value: &str, source| {
        let values = map("a", &format!("{{x: '{value}'}}"));
        [
            placed(&metadata("p", version), METADATA, source),
            placed(&kptfile("p"), "Kptfile", source),
            placed(&values, "a.yaml", source),
        ]
        .concat()
    };
    let input = [
        LIST,
        &package(1, "1", Some("original")),
        &package(2, "1", None),
        &package(3, "2", Some("updated")),
    ]
    .concat();
    let outcome = on_list(&FUNCTION, DEFAULTS, &input).expect("a list");
    assert!(!outcome.failed, "{:?}", outcome.results);
    assert_eq!(outcome.results.len(), 1, "{:?}", outcome.results);
    assert_eq!(outcome.file("-"), [LIST, &package(2, "2", None)].concat());
}

#[test]
fn the_metadata_of_a_revision_stays_in_package_revision_resources() {
    let package = |version, value: &str| {
        package_revision(&[
            (METADATA, &metadata("p", version)),
            ("Kptfile", &kptfile("p")),
            ("a.yaml", &map("a", &format!("{{x: '{value}'}}"))),
        ])
    };
    let input = [
        LIST,
        &item(&package(1, "1"), Some("original")),
        &item(&package(2, "1"), None),
        &item(&package(3, "2"), Some("updated")),
    ]
    .concat();
    let outcome = on_list(&FUNCTION, DEFAULTS, &input).expect("a list");
    assert_eq!(outcome.results.len(), 1, "{:?}", outcome.results);
    assert_eq!(
        outcome.file("-"),
        [LIST, &item(&package(2, "2"), None)].concat()
    );
}

/// A `status` as kpt writes it for these functions, with another condition.
fn rendered(functions: &str, other: &str) -> String {
    let mut status =
        "status:\n  conditions:\n  - type: Rendered # kpt's\n    status: \"True\"\n    reason: RenderSuccess\n"
            .to_owned();
    if !other.is_empty() {
        status += &format!("  - type: Other\n    status: \"{other}\"\n");
    }
    status += "  renderStatus:\n    mutationSteps:\n";
    for function in functions.split(' ') {
        status += &format!("    - image: {function}:v1\n      exitCode: 0\n");
    }
    status
}

fn with(functions: &str, status: &str) -> String {
    let mut text = kptfile("p") + "pipeline:\n  mutators:\n";
    for function in functions.split(' ') {
        text += &format!("  - image: {function}:v1\n");
    }
    text + status
}

#[test]
fn the_record_of_a_render_stays_local_and_never_conflicts() {
    let (old, mine, theirs) = ("a", "a l", "a u");
    let record = |functions| rendered(functions, "");
    let none = String::new;
    // The status of original, local and upstream: wherever it is, local's is kept.
    let table = [
        [record(old), record(mine), record(theirs)],
        [none(), record(mine), record(theirs)],
        [none(), none(), record(theirs)],
        [record(old), none(), record(theirs)],
        [record(old), record(mine), none()],
        [none(), record(mine), none()],
        [record(old), record(old), none()],
        [record(old), record(old), record(theirs)],
        [record(old), none(), none()],
    ];
    for path in ["Kptfile", "sub/Kptfile"] {
        for status in &table {
            let texts = [
                with(old, &status[0]),
                with(mine, &status[1]),
                with(theirs, &status[2]),
            ];
            let root = kptfile("root");
            let files = texts.each_ref().map(|text| {
                let own = (path, text.as_str());
                let mut files = vec![own];
                files.extend((path != "Kptfile").then_some(("Kptfile", root.as_str())));
                files
            });
            for winner in ["upstream", "local", "error"] {
                let fields = format!("onConflict: {winner}\n");
                let (found, said) = merge_files([&files[0], &files[1], &files[2]], &fields);
                let expected = with("a l u", &status[1]);
                assert_eq!(found[path], expected, "{winner} {status:?} {said:?}");
                assert_eq!(conflicts(&said).len(), 0, "{said:?}");
            }
        }
    }
}

#[test]
fn other_conditions_merge_next_to_the_record_of_a_render() {
    let merge = |texts: [&str; 3]| {
        let texts = texts.map(|status| with("a", status));
        let files = texts.each_ref().map(|text| [("Kptfile", text.as_str())]);
        let (found, said) = merge_files([&files[0], &files[1], &files[2]], "");
        (found["Kptfile"].clone(), conflicts(&said).len())
    };
    let status = |record: &str, other: &str| rendered(record, other);
    let found = merge([
        &status("a", "False"),
        &status("l", "False"),
        &status("u", "True"),
    ]);
    assert_eq!(found, (with("a", &status("l", "True")), 0));
    // Upstream's own condition comes without its record.
    let (found, conflicts) = merge(["", "", &status("u", "True")]);
    let other = "status:\n  conditions:\n  - type: Other\n    status: \"True\"\n";
    assert_eq!((found, conflicts), (with("a", other), 0));
    // Removed upstream: the record stays.
    let (found, conflicts) = merge([&status("a", "False"), &status("l", "False"), ""]);
    assert_eq!((found, conflicts), (with("a", &status("l", "")), 0));
}

#[test]
fn the_record_of_a_render_is_not_a_change() {
    let root = kptfile("root");
    let plain = with("a", "");
    let record = with("a", &rendered("a", ""));
    let a = map("a", "{x: a}");
    let package = |kptfile: &str| {
        vec![
            ("Kptfile".to_owned(), root.clone()),
            ("sub/Kptfile".to_owned(), kptfile.to_owned()),
            ("sub/a.yaml".to_owned(), a.clone()),
        ]
    };
    let run = |sources: [Vec<(String, String)>; 3], fields: &str| {
        let files = sources.each_ref().map(|files| {
            let files = files.iter();
            let files = files.map(|(path, text)| (path.as_str(), text.as_str()));
            files.collect::<Vec<_>>()
        });
        merge_files([&files[0], &files[1], &files[2]], fields)
    };
    let without = || vec![("Kptfile".to_owned(), root.clone())];
    // Upstream deleted a sub-package that local only rendered.
    let (found, said) = run([package(&plain), package(&record), without()], "");
    assert_eq!((keys(&found), conflicts(&said).len()), (vec!["Kptfile"], 0));
    // Local deleted one that upstream only rendered.
    let (found, said) = run([package(&plain), without(), package(&record)], "");
    assert_eq!((keys(&found), said.len()), (vec!["Kptfile"], 0), "{said:?}");
    // Both added one that differs in nothing else.
    let (found, said) = run([without(), package(&record), package(&plain)], "");
    assert_eq!(
        (found["sub/Kptfile"].as_str(), said.len()),
        (record.as_str(), 0),
        "{said:?}"
    );
    // A new one comes without the record.
    let (found, _) = run([without(), without(), package(&record)], "");
    assert_eq!(found["sub/Kptfile"], plain);
    // A fast-forward goes through.
    let (found, said) = run(
        [package(&plain), package(&record), package(&with("a b", ""))],
        "strategy: fast-forward\n",
    );
    let expected = with("a b", &rendered("a", ""));
    assert_eq!(found["sub/Kptfile"], expected, "{said:?}");
}
