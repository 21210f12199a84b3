//! `merge-package` on the cases whose outputs by kpt are recorded (kpt 1.0.0-beta.56), and on the
//! examples of the pipeline document.

use indoc::indoc;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use krm_core::config::Config;
use krm_core::resource_list::ResourceList;
use krm_core::results::Results;
use krm_function::StepRun;
use krm_function::supplied::{Role, Supplied};
use krm_package::{FileChange, read_package};
use krm_yaml::{OwnedDocument, Value};
use merge_package::FUNCTION;

pub(crate) type Files = BTreeMap<String, String>;

/// Merges three directories; gives the files of the result and what was said.
pub(crate) fn merge(
    original: &Path,
    local: &Path,
    upstream: &Path,
    config: &str,
) -> (Files, Vec<String>) {
    let (files, results) = merge_directories(original, local, upstream, config);
    (files, results.iter().map(ToString::to_string).collect())
}

fn merge_directories(
    original: &Path,
    local: &Path,
    upstream: &Path,
    config: &str,
) -> (Files, Results) {
    let files = read_package(local).expect("a package");
    let mut list = ResourceList::from_package(files).expect("a package");
    let config = Config::parse(config.to_owned(), "config").expect("a config");
    let mut results = Results::default();
    let flags = [
        (Role::Original, original.to_path_buf()),
        (Role::Upstream, upstream.to_path_buf()),
    ];
    let supplied = Supplied::read(
        &[],
        FUNCTION.roles,
        &flags,
        config.node(),
        &mut list,
        &mut results,
    )
    .expect("roles");
    (FUNCTION.step)(StepRun {
        config: config.node(),
        list: &mut list,
        supplied: &supplied,
        results: &mut results,
    })
    .expect("runs");
    let mut after = read(local);
    if !results.has_errors() {
        for change in list.file_changes() {
            match change {
                FileChange::Write { path, bytes, .. } => {
                    after.insert(path, String::from_utf8(bytes).expect("UTF-8"));
                }
                FileChange::Delete { path } => {
                    after.remove(&path);
                }
            }
        }
    }
    (after, results)
}

pub(crate) const DEFAULTS: &str = "apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\n";

/// All files, those that are not KRM too.
pub(crate) fn read(directory: &Path) -> Files {
    let package = read_package(directory).expect("a package");
    let text = |path: &str| package.read(path).expect("a file").into_owned();
    let files = package.files().map(|(path, _)| {
        let text = String::from_utf8(text(path)).expect("a text");
        (path.to_owned(), text)
    });
    files.collect()
}

/// The resources of files by path, kind and name, without what kpt writes on them.
pub(crate) fn data(files: &Files) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (path, text) in files {
        if !krm_package::is_krm_name(path.rsplit('/').next().unwrap_or_default()) {
            found.insert(path.clone(), Value::from(text.as_str()));
            continue;
        }
        let owned =
            OwnedDocument::parse(text.clone()).unwrap_or_else(|e| panic!("{path}: {e}\n{text}"));
        let document = owned.document();
        for root in (0..document.len()).filter_map(|index| document.root(index)) {
            let text = |keys: &[&str]| {
                root.get_path(keys)
                    .and_then(|n| n.as_str())
                    .unwrap_or_default()
                    .to_owned()
            };
            let mut key = format!("{path} {} {}", text(&["kind"]), text(&["metadata", "name"]));
            while found.contains_key(&key) {
                key.push('+');
            }
            found.insert(key, plain(root.value().expect("a value")));
        }
    }
    found
}

pub(crate) fn plain(value: Value) -> Value {
    let Value::Mapping(entries) = value else {
        return value;
    };
    let entries = entries.into_iter().map(|(key, value)| {
        let Value::Mapping(mut metadata) = value.clone() else {
            return (key, value);
        };
        if key.as_str() != Some("metadata") {
            return (key, value);
        }
        for (name, annotations) in &mut metadata {
            if let (Some("annotations"), Value::Mapping(entries)) =
                (name.as_str(), &mut *annotations)
            {
                entries.retain(|(key, _)| {
                    key.as_str() != Some("internal.kpt.dev/upstream-identifier")
                });
            }
        }
        metadata.retain(|(name, value)| {
            name.as_str() != Some("annotations") || *value != Value::Mapping(Vec::new())
        });
        (key, Value::Mapping(metadata))
    });
    Value::Mapping(entries.collect())
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/merge")
}

/// The classes of differences to kpt, and the cases in each.
pub(crate) const DIFFERENCES: &[(&str, &[&str])] = &[
    (
        "upstream's order of elements is taken, and new elements are between their neighbours",
        &["L01-containers-both", "L02-upstream-reorder"],
    ),
    (
        "a resource moved to another file is followed",
        &[
            "R06-moved-file-upstream",
            "R07-moved-file-local",
            "R11-added-both-same-id",
        ],
    ),
    (
        "a resource that was renamed, or moved to another API group, is followed",
        &[
            "R01-renamed-upstream",
            "R04-renamed-local-no-comment",
            "R13-apiversion-bump",
        ],
    ),
    (
        "a resource that occurs twice is not an error",
        &["R15-dup-ids-in-local"],
    ),
    ("null is an ordinary value", &["R19-no-change", "S02-nulls"]),
    (
        "a number and a string with the same text are different values",
        &["S07-quoting"],
    ),
    (
        "a value that became a collection, or the reverse, is a change like any other",
        &["S09-type-change", "S10-type-change-local"],
    ),
    ("a selector is one value", &["doc09"]),
    (
        "lists without keys merge by their elements",
        &[
            "L07-primitive-lists",
            "L09-nonassoc-list-of-maps",
            "L10-crd-inferred-name-key",
        ],
    ),
    (
        "a string of several lines merges by its lines",
        &["S06-block-scalar-both"],
    ),
    (
        "text that both sides changed merges by lines, and the winner's lines are kept in a conflict",
        &["R17-nonkrm"],
    ),
];

#[test]
fn recorded_outputs_of_kpt() {
    let directory = cases();
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .expect("cases")
        .map(|e| e.expect("entry").path())
        .collect();
    names.sort();
    let mut wrong = Vec::new();
    for case in names {
        let name = case
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        let (ours, said) = merge(
            &case.join("original"),
            &case.join("local"),
            &case.join("updated"),
            DEFAULTS,
        );
        let (ours, theirs) = (data(&ours), data(&read(&case.join("out"))));
        let class = DIFFERENCES
            .iter()
            .find(|(_, cases)| cases.contains(&name.as_str()));
        if ours == theirs {
            assert!(class.is_none(), "{name} differs no more");
        } else if class.is_none() {
            let mut text = format!("== {name}\n");
            for key in ours
                .keys()
                .chain(theirs.keys())
                .collect::<std::collections::BTreeSet<_>>()
            {
                if ours.get(key) != theirs.get(key) {
                    let json =
                        |value: Option<&Value>| value.map(Value::to_json).unwrap_or_default();
                    text += &format!(
                        "{key}\n  ours {}\n  kpt  {}\n",
                        json(ours.get(key)),
                        json(theirs.get(key))
                    );
                }
            }
            for line in said {
                text += &format!("  {line}\n");
            }
            wrong.push(text);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[test]
fn examples_of_the_pipeline_document() {
    let directory = cases();
    for number in 1..=8 {
        for list in ["mutators", "validators"] {
            let folder = tempfile::tempdir().expect("a folder");
            let case = directory.join(format!("doc{number:02}"));
            for source in ["original", "local", "updated", "expected"] {
                let text =
                    std::fs::read_to_string(case.join(source).join("Kptfile")).expect("a Kptfile");
                std::fs::create_dir(folder.path().join(source)).expect("a folder");
                std::fs::write(
                    folder.path().join(source).join("Kptfile"),
                    text.replace("mutators", list),
                )
                .expect("a file");
            }
            let at = |name: &str| folder.path().join(name);
            let (ours, _) = merge(&at("original"), &at("local"), &at("updated"), DEFAULTS);
            assert_eq!(
                data(&ours),
                data(&read(&at("expected"))),
                "doc{number:02} {list}"
            );
        }
    }
}

/// Files in a folder for each source, `path: text`.
fn packages(sources: [&[(&str, &str)]; 3]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, files) in ["original", "local", "upstream"].into_iter().zip(sources) {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(name).join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
    }
    folder
}

pub(crate) fn merge_files(sources: [&[(&str, &str)]; 3], fields: &str) -> (Files, Vec<String>) {
    let (files, results) = merge_with_results(sources, fields);
    (files, results.iter().map(ToString::to_string).collect())
}

pub(crate) fn merge_with_results(sources: [&[(&str, &str)]; 3], fields: &str) -> (Files, Results) {
    let folder = packages(sources);
    let at = |name: &str| folder.path().join(name);
    merge_directories(
        &at("original"),
        &at("local"),
        &at("upstream"),
        &format!("{DEFAULTS}{fields}"),
    )
}

pub(crate) fn map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata: {data}\n")
}

/// Found by the fuzz target `packages`: a value that holds itself is equal to none, and the two were a conflict.
/// Kubernetes reads no such value, so it is an error.
#[test]
fn both_sides_have_a_value_that_contains_itself() {
    let base = map("a", "{x: a}");
    let endless = indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: a
        data: &a
          x: *a
    "};
    for winner in ["local", "upstream"] {
        let (files, results) = merge_with_results(
            [
                &[("a.yaml", &base)],
                &[("a.yaml", endless)],
                &[("a.yaml", endless)],
            ],
            &format!("onConflict: {winner}\n"),
        );
        assert_eq!(files["a.yaml"], endless);
        let results: Vec<String> = results.iter().map(ToString::to_string).collect();
        assert_eq!(results.len(), 1, "{results:?}");
        assert!(
            results[0].contains("expected aliases outside of the values"),
            "{results:?}"
        );
    }
}

/// Found by the fuzz target `functions`: it became `null` in a list that is not cut at its dashes.
#[test]
fn a_new_resource_that_contains_itself() {
    let folder = packages([
        &[],
        &[],
        &[(
            "a.yaml",
            indoc! {"
                kind: A
                apiVersion: v1
                metadata:
                  name: a
                spec: &a
                  x: *a
            "},
        )],
    ]);
    let list = indoc! {"
        apiVersion: config.kubernetes.io/v1
        kind: ResourceList
        items:
        - apiVersion: v1
          kind: B
          metadata: {name: b}
        # more
    "};
    let output = assert_cmd::Command::new(crate::running::function("merge-package"))
        .current_dir(folder.path())
        .args(["--original", "original", "--upstream", "upstream"])
        .arg("allowEmpty=true")
        .write_stdin(list)
        .output()
        .expect("it runs");
    let (out, said) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(!out.contains("- null"), "{out}");
    assert!(
        said.contains("expected aliases outside of the values"),
        "{said}{out}"
    );
}

#[test]
fn resources_come_and_go() {
    let (a, b, c) = (map("a", "{x: a}"), map("b", "{x: b}"), map("c", "{x: c}"));
    let changed = map("b", "{x: mine}");
    // Deleted upstream, and unchanged: gone, file and all.
    let (files, said) = merge_files(
        [
            &[("a.yaml", &a), ("b.yaml", &b)],
            &[("a.yaml", &a), ("b.yaml", &b)],
            &[("a.yaml", &a)],
        ],
        "",
    );
    assert_eq!(files.keys().collect::<Vec<_>>(), ["a.yaml"]);
    assert_eq!(
        said,
        ["[info] merged: 0 changed, 0 added, 1 removed, 0 moved, 0 conflicts"]
    );
    // Deleted upstream, and changed: kept, under `local` and `upstream` alike.
    for fields in ["", "onConflict: local\n"] {
        let (files, said) = merge_files(
            [&[("b.yaml", &b)], &[("b.yaml", &changed)], &[]],
            &format!("allowEmpty: true\n{fields}"),
        );
        assert_eq!(files["b.yaml"], changed);
        assert!(
            said[0].contains("upstream deleted the resource"),
            "{said:?}"
        );
        // Deleted locally: stays deleted.
        let (files, said) = merge_files(
            [
                &[("b.yaml", &b)],
                &[("a.yaml", &a)],
                &[("b.yaml", &changed)],
            ],
            fields,
        );
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a.yaml"]);
        assert!(said[0].contains("local deleted the resource"), "{said:?}");
    }
    // Added: with its text, between its neighbours.
    let both = format!("{a}---\n{b}");
    let three = format!("{a}---\n# new\n{c}---\n{b}");
    let mine = format!("# mine\n{both}");
    let (files, _) = merge_files(
        [
            &[("a.yaml", &both)],
            &[("a.yaml", &mine)],
            &[("a.yaml", &three)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], format!("# mine\n{three}"));
    let (files, _) = merge_files(
        [
            &[("a.yaml", &a)],
            &[("a.yaml", &a)],
            &[("a.yaml", &a), ("new/c.yaml", &c)],
        ],
        "",
    );
    assert_eq!(files["new/c.yaml"], c);
}

#[test]
fn an_error_changes_nothing() {
    let sources = [
        map("a", "{x: a, y: 1}"),
        map("a", "{x: b, y: 1}"),
        map("a", "{x: c, y: 2}"),
    ];
    let files = sources.each_ref().map(|text| [("a.yaml", text.as_str())]);
    let (files, said) = merge_files([&files[0], &files[1], &files[2]], "onConflict: error\n");
    assert_eq!(files["a.yaml"], sources[1]);
    assert_eq!(
        said[0],
        "[error] a.yaml: ConfigMap/a: data.x: local and upstream both changed the value \
         (original \"a\", local \"b\", upstream \"c\"): left unchanged (MergeConflict)"
    );
}

#[test]
fn strategies() {
    let (base, local, upstream) = (map("a", "{x: a}"), map("a", "{x: b}"), map("a", "{x: c}"));
    let extra = map("l", "{}");
    let sources: [&[(&str, &str)]; 3] = [
        &[("a.yaml", &base)],
        &[("a.yaml", &local), ("l.yaml", &extra)],
        &[("a.yaml", &upstream)],
    ];
    let (files, said) = merge_files(sources, "strategy: fast-forward\n");
    assert_eq!(files["a.yaml"], local);
    assert!(said[0].contains("LocalChanges"), "{said:?}");
    let (files, said) = merge_files(sources, "strategy: copy-merge\n");
    assert_eq!(
        (files["a.yaml"].as_str(), files["l.yaml"].as_str()),
        (upstream.as_str(), extra.as_str())
    );
    // What gets lost is said.
    assert!(
        said[0].contains("ConfigMap/a: `copy-merge` overwrites local changes"),
        "{said:?}"
    );
    assert_eq!(said.len(), 2, "{said:?}");
    let (files, said) = merge_files(sources, "strategy: force-delete-replace\n");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["a.yaml"]);
    assert_eq!(files["a.yaml"], upstream);
    assert_eq!(said.len(), 3, "{said:?}");
}

#[test]
fn the_root_kptfile_stays_local_and_that_of_a_sub_package_merges() {
    let kptfile = |name: &str, reference: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\nupstream:\n  git:\n    ref: {reference}\nupstreamLock:\n  git:\n    ref: {reference}\n"
        )
    };
    let (base, local, upstream) = (
        kptfile("p", "v1"),
        kptfile("mine", "v1"),
        kptfile("p", "v2"),
    );
    let (files, said) = merge_files(
        [
            &[("Kptfile", &base), ("s/Kptfile", &base)],
            &[("Kptfile", &local), ("s/Kptfile", &local)],
            &[("Kptfile", &upstream), ("s/Kptfile", &upstream)],
        ],
        "",
    );
    assert_eq!(files["Kptfile"], local);
    assert_eq!(files["s/Kptfile"], kptfile("mine", "v2"));
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn functions_of_package_variants_pair_by_name() {
    let kptfile = |functions: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\npipeline:\n  mutators:\n{functions}"
        )
    };
    let own = "  - image: a:v1\n  - image: b:v1\n";
    let variants = "  - image: a:v1\n    name: PackageVariant.x.y.0\n";
    let (base, local) = (kptfile(own), kptfile(&format!("{variants}{own}")));
    let upstream = kptfile(&own.replace("b:v1", "b:v2"));
    let (files, said) = merge_files(
        [
            &[("Kptfile", &base)],
            &[("Kptfile", &local)],
            &[("Kptfile", &upstream)],
        ],
        "",
    );
    assert_eq!(files["Kptfile"], local.replace("b:v1", "b:v2"));
    assert_eq!(said.len(), 1, "{said:?}");
    // With an image twice they stand or fall together, but for those of the PackageVariant.
    let twice = format!("{own}  - image: a:v9\n");
    let (files, said) = merge_files(
        [
            &[("Kptfile", &base)],
            &[("Kptfile", &local)],
            &[("Kptfile", &kptfile(&twice))],
        ],
        "",
    );
    assert_eq!(files["Kptfile"], kptfile(&format!("{variants}{twice}")));
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn one_identity_twice_is_a_warning() {
    let a = map("a", "{}");
    let twice = format!("{a}---\n{a}");
    let (_, said) = merge_files(
        [&[("a.yaml", &a)], &[("a.yaml", &twice)], &[("a.yaml", &a)]],
        "",
    );
    assert!(said[0].starts_with("[warning]"), "{said:?}");
    assert!(said[0].ends_with("(DuplicateResource)"), "{said:?}");
}

#[test]
fn conflicts_are_found_next_to_a_duplicate_resource() {
    let (a, b) = (map("a", "{}"), map("b", "{x: 1}"));
    let twice = format!("{a}---\n{a}");
    let (ours, theirs) = (map("b", "{x: 2}"), map("b", "{x: 3}"));
    let (_, said) = merge_files(
        [
            &[("a.yaml", &a), ("b.yaml", &b)],
            &[("a.yaml", &twice), ("b.yaml", &ours)],
            &[("a.yaml", &twice), ("b.yaml", &theirs)],
        ],
        "",
    );
    let duplicates = said
        .iter()
        .filter(|text| text.ends_with("(DuplicateResource)"));
    assert_eq!(duplicates.count(), 2, "{said:?}");
    let conflicts = said.iter().filter(|text| text.ends_with("(MergeConflict)"));
    assert_eq!(conflicts.count(), 1, "{said:?}");
    assert_eq!(said.len(), 4, "{said:?}");
}

#[test]
fn values_of_secrets_are_not_shown() {
    let secret = |value: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  k: {value}\n")
    };
    let (base, local, upstream) = (secret("one"), secret("two"), secret("three"));
    let folder = packages([
        &[("s.yaml", &base)],
        &[("s.yaml", &local)],
        &[("s.yaml", &upstream)],
    ]);
    let at = |name: &str| folder.path().join(name);
    let files = read_package(&at("local")).expect("a package");
    let mut list = ResourceList::from_package(files).expect("a package");
    let mut results = Results::default();
    let flags = [
        (Role::Original, at("original")),
        (Role::Upstream, at("upstream")),
    ];
    let supplied =
        Supplied::read(&[], FUNCTION.roles, &flags, None, &mut list, &mut results).expect("roles");
    (FUNCTION.step)(StepRun {
        config: None,
        list: &mut list,
        supplied: &supplied,
        results: &mut results,
    })
    .expect("runs");
    let said: String = results
        .iter()
        .map(|result| result.to_value().to_json())
        .collect();
    assert!(
        said.contains("<redacted>") && !said.contains("two") && !said.contains("three"),
        "{said}"
    );
}

#[test]
fn a_resource_list_with_annotated_items() {
    let item = |source: Option<&str>, value: &str| {
        let source = source
            .map(|s| format!("      config.kubernetes.io/merge-source: {s}\n"))
            .unwrap_or_default();
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n    annotations:\n{source}      config.kubernetes.io/path: a.yaml\n      config.kubernetes.io/index: '0'\n  data:\n    x: {value} # c\n"
        )
    };
    let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";
    let text = format!(
        "{head}{}{}{}",
        item(Some("original"), "1"),
        item(Some("updated"), "2"),
        item(Some("dest"), "1")
    );
    let mut list = ResourceList::parse(text).expect("a list");
    let mut results = Results::default();
    (FUNCTION.step)(StepRun {
        config: None,
        list: &mut list,
        supplied: &Supplied::default(),
        results: &mut results,
    })
    .expect("runs");
    let emitted = list.emit(&Results::default(), true).expect("texts");
    let text: String = emitted.iter().map(|piece| &**piece).collect();
    assert_eq!(text, format!("{head}{}", item(Some("dest"), "2")));
}
