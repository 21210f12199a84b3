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
fn selectors_and_exclusions_stand_as_a_whole() {
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
