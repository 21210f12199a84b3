//! The fields of a Kptfile.

use super::*;

/// Merges Kptfiles with one function, in both lists of the root package and of a sub-package.
#[track_caller]
fn check(functions: [&str; 3], expected: [&str; 2], conflicts_at: &[&str]) {
    for list in ["mutators", "validators"] {
        for path in ["Kptfile", "sub/Kptfile"] {
            let of = |function: &str| {
                format!(
                    "{}pipeline:\n  {list}:\n  - image: a:1\n{function}",
                    kptfile("p")
                )
            };
            let (texts, root) = (functions.map(of), kptfile("root"));
            let files = texts.each_ref().map(|text| {
                let mut files = vec![(path, text.as_str())];
                files.extend((path != "Kptfile").then_some(("Kptfile", root.as_str())));
                files
            });
            for (winner, expected) in ["upstream", "local"].into_iter().zip(expected) {
                let fields = format!("onConflict: {winner}\n");
                let (found, said) = merge_files([&files[0], &files[1], &files[2]], &fields);
                assert_eq!(found[path], of(expected), "{winner}: {said:?}");
                let conflicts = conflicts(&said);
                assert_eq!(conflicts.len(), conflicts_at.len(), "{said:?}");
                for (conflict, field) in conflicts.iter().zip(conflicts_at) {
                    let place = format!(": pipeline.{list}[0].{field}: ");
                    assert!(conflict.contains(&place), "{conflict}");
                }
            }
        }
    }
}

#[test]
fn the_fields_of_a_function_merge_each_for_itself() {
    check(
        [
            "    tag: 1.x\n    when: a\n    condition: a\n",
            "    tag: 1.x\n    when: l\n    condition: a\n",
            "    tag: 2.x\n    when: a\n    condition: u\n",
        ],
        ["    tag: 2.x\n    when: l\n    condition: u\n"; 2],
        &[],
    );
    for field in ["tag", "when", "condition"] {
        let [old, mine, theirs] = ["a", "l", "u"].map(|value| format!("    {field}: {value}\n"));
        check([&old, &mine, &theirs], [&theirs, &mine], &[field]);
        check([&old, "", &theirs], [&theirs, ""], &[field]);
        check([&old, &mine, ""], ["", &mine], &[field]);
        check([&old, "", &old], ["", ""], &[]);
        check(["", &mine, ""], [&mine, &mine], &[]);
    }
}

/// `selectors` and `exclude` are one value each, by whatever they select.
#[test]
fn selectors_and_exclusions_are_one_value_each() {
    for field in ["selectors", "exclude"] {
        let of = |entries: [&str; 2]| {
            let [first, second] = entries;
            format!("    {field}:\n    - kind: Deployment\n      {first}\n    - {second}\n")
        };
        let old = of(["labels: {app: a}", "annotations: {x: a}"]);
        let mine = of(["labels: {app: l}", "annotations: {x: a}"]);
        let theirs = of(["labels: {app: a}", "annotations: {x: u}"]);
        check([&old, &mine, &theirs], [&theirs, &mine], &[field]);
        check([&old, &mine, &old], [&mine, &mine], &[]);
        check([&old, &old, &theirs], [&theirs, &theirs], &[]);
        check([&old, "", &theirs], [&theirs, ""], &[field]);
    }
}

fn mutators(functions: &[&str]) -> String {
    let functions: String = functions
        .iter()
        .map(|function| format!("  - {function}\n"))
        .collect();
    format!("{}pipeline:\n  mutators:\n{functions}", kptfile("p"))
}

#[track_caller]
fn merge_mutators(versions: [&[&str]; 3], fields: &str) -> (String, Vec<String>) {
    let texts = versions.map(mutators);
    let files = texts.each_ref().map(|text| [("Kptfile", text.as_str())]);
    let (found, said) = merge_files([&files[0], &files[1], &files[2]], fields);
    (
        found["Kptfile"].clone(),
        conflicts(&said).into_iter().cloned().collect(),
    )
}

/// A function catalog moved, and local has changed a setter.
#[test]
fn a_function_whose_registry_moved_is_the_same_function() {
    let old = "{image: 'gcr.io/kpt-fn/apply-setters:v0.2', configMap: {size: small, tag: \"1\"}}";
    let mine = "{image: 'gcr.io/kpt-fn/apply-setters:v0.2', configMap: {size: huge, tag: \"1\"}}";
    let theirs = "{image: 'ghcr.io/c/apply-setters:v0.2.2', configMap: {size: small, tag: \"2\"}}";
    let both = "{image: 'ghcr.io/c/apply-setters:v0.2.2', configMap: {size: huge, tag: \"2\"}}";
    let other = "{image: 'gcr.io/kpt-fn/set-labels:v1'}";
    let prepended = "{name: PackageVariant.v..0, image: 'gcr.io/kpt-fn/apply-setters:v0.2'}";
    let found = merge_mutators(
        [&[old, other], &[prepended, mine, other], &[theirs, other]],
        "",
    );
    assert_eq!(found, (mutators(&[prepended, both, other]), vec![]));
    let found = merge_mutators([&[old], &[theirs], &[mine]], "");
    assert_eq!(found, (mutators(&[both]), vec![]));
    // Local has its own mirror, and upstream a new tag: the image alone is in conflict.
    let mirrored = mine.replace("gcr.io/kpt-fn", "mirror/fn");
    let (found, said) = merge_mutators([&[old], &[&mirrored], &[theirs]], "");
    assert_eq!(found, mutators(&[both]));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains(": pipeline.mutators[0].image: "),
        "{said:?}"
    );
    // Two of that name on one side: which of them moved is not known.
    let second = "{image: 'other.io/apply-setters:v0.1'}";
    let (found, said) = merge_mutators([&[old], &[mine], &[theirs, second]], "");
    assert_eq!(found, mutators(&[theirs, second]));
    assert!(said[0].contains("upstream removed the element"), "{said:?}");
}

#[test]
fn a_pipeline_that_is_one_value_names_each_function_that_is_lost() {
    let [a, b] = ["{image: 'r/a:v1'}", "{image: 'r/b:v1'}"];
    let [a2, b2] = ["{image: 'r/a:v2'}", "{image: 'r/b:v2'}"];
    let [mine, named] = ["{image: 'r/mine:v1'}", "{name: own, image: 'r/x'}"];
    let run = "{exec: 'run --all'}";
    let old: &[&str] = &[a, b, a];
    let local: &[&str] = &[a, mine, b, named, a, run, a];
    let upstream: &[&str] = &[a2, b2, a2];
    let lost = |fields: &str| {
        let (_, said) = merge_mutators([old, local, upstream], fields);
        assert_eq!(said.len(), 1, "{said:?}");
        said[0].clone()
    };
    let end = "kept upstream's value, without local's `r/mine:v1`, `own`, `run --all`, `r/a:v1` (MergeConflict)";
    assert!(lost("").ends_with(end), "{}", lost(""));
    let end = "kept your value, without upstream's `r/a:v2`, `r/b:v2`, `r/a:v2` (MergeConflict)";
    assert!(
        lost("onConflict: local\n").ends_with(end),
        "{}",
        lost("onConflict: local\n")
    );
    let end = "left unchanged (MergeConflict)";
    assert!(lost("onConflict: error\n").ends_with(end));
    // What local only removed is not lost.
    let (_, said) = merge_mutators([old, &[a, a], upstream], "");
    assert!(
        said[0].ends_with("kept upstream's value (MergeConflict)"),
        "{said:?}"
    );
}

/// Functions without a name, an image or a command are one value.
#[test]
fn a_side_without_the_list_of_functions_has_no_value_in_the_conflict() {
    let kptfile = |mutators: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: pkg\npipeline:\n  validators:\n  - image: v:1\n{mutators}"
        )
    };
    let base = kptfile("  mutators:\n  - image: a:1\n");
    let absent = kptfile("");
    let changed = kptfile("  mutators:\n  - image: a:1\n  - {}\n");
    for (local, upstream, without, message) in [
        (
            &absent,
            &changed,
            "local",
            "local removed the list, upstream changed it",
        ),
        (
            &changed,
            &absent,
            "upstream",
            "upstream removed the list, local changed it",
        ),
    ] {
        let files = [&base, local, upstream].map(|text| [("Kptfile", text.as_str())]);
        let sources: [&[(&str, &str)]; 3] = [&files[0], &files[1], &files[2]];
        let (_, results) = crate::merge_cases::merge_with_results(sources, "");
        let conflict = results.iter().next().expect("a conflict");
        let tags: Vec<&str> = conflict
            .tags
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert!(!tags.contains(&without), "{tags:?}");
        assert!(conflict.message.what == message, "{}", conflict.message);
    }
}
