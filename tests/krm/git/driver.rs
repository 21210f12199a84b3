//! `merge-package` as a merge driver of the real `git`.

use super::{Folder, map, merge_package};
use expect_test::expect;
use indoc::indoc;

/// A repository with two branches that changed one file, and the driver for it.
fn branches(base: &str, ours: &str, theirs: &str, more: &str) -> Folder {
    let folder = Folder::new(&[]);
    folder.put(
        "catalog/.gitattributes",
        "*.yaml merge=krm\nKptfile merge=krm\n",
    );
    let driver = format!(
        "'{}' --git-merge-driver %O %A %B %P {more}",
        merge_package()
    );
    folder.git(&["config", "merge.krm.driver", &driver]);
    folder.git(&["config", "merge.krm.recursive", "binary"]);
    folder.put("catalog/a.yaml", base);
    folder.commit("base");
    folder.git(&["checkout", "--quiet", "-b", "theirs"]);
    folder.put("catalog/a.yaml", theirs);
    folder.commit("theirs");
    folder.git(&["checkout", "--quiet", "main"]);
    folder.put("catalog/a.yaml", ours);
    folder.commit("ours");
    folder
}

const BASE: &str = indoc! {r#"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: cm
        data:
          a: "1"
          b: "1"
    "#};

#[test]
fn changes_in_neighbouring_lines_do_not_conflict() {
    let ours = BASE.replace("a: \"1\"", "a: \"2\" # ours");
    let theirs = BASE.replace("b: \"1\"", "b: \"3\"");
    let both = ours.replace("b: \"1\"", "b: \"3\"");
    for command in [
        &["merge", "--no-edit", "theirs"][..],
        &["cherry-pick", "theirs"],
        &["rebase", "theirs"],
    ] {
        let folder = branches(BASE, &ours, &theirs, "");
        let outcome = folder.git_with("catalog", command, "");
        assert_eq!(outcome.code, Some(0), "{command:?}: {}", outcome.stderr);
        assert_eq!(folder.get("catalog/a.yaml"), both, "{command:?}");
        // Git alone has a conflict there.
        let folder = branches(BASE, &ours, &theirs, "");
        folder.git(&["config", "--remove-section", "merge.krm"]);
        assert_eq!(
            folder.git_with("catalog", command, "").code,
            Some(1),
            "{command:?}"
        );
    }
}

#[test]
fn a_conflict_is_left_to_the_user() {
    let ours = BASE.replace("a: \"1\"", "a: \"2\"");
    let theirs = BASE
        .replace("a: \"1\"", "a: \"3\"")
        .replace("b: \"1\"", "b: \"4\"");
    let folder = branches(BASE, &ours, &theirs, "");
    let outcome = folder.git_with("catalog", &["merge", "--no-edit", "theirs"], "");
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.stderr.contains("data.a") && outcome.stderr.contains("(MergeConflict)"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        folder.get("catalog/a.yaml"),
        ours.replace("b: \"1\"", "b: \"4\"")
    );
    assert_eq!(
        folder.git(&["diff", "--name-only", "--diff-filter=U"]),
        "a.yaml"
    );
    let folder = branches(BASE, &ours, &theirs, "onConflict=upstream");
    assert_eq!(
        folder
            .git_with("catalog", &["merge", "--no-edit", "theirs"], "")
            .code,
        Some(1)
    );
    assert_eq!(folder.get("catalog/a.yaml"), theirs);
    let folder = branches(BASE, &ours, &theirs, "conflictStyle=markers");
    assert_eq!(
        folder
            .git_with("catalog", &["merge", "--no-edit", "theirs"], "")
            .code,
        Some(1)
    );
    let marked = "<<<<<<< ours\n  a: \"2\"\n=======\n  a: \"3\"\n>>>>>>> theirs\n";
    let expected = BASE
        .replace("  a: \"1\"\n", marked)
        .replace("b: \"1\"", "b: \"4\"");
    assert_eq!(folder.get("catalog/a.yaml"), expected);
}

#[test]
fn a_removal_against_an_addition_has_markers() {
    let head = &BASE[..BASE.find("data:\n  a").expect("data")];
    let removed = format!("{head}kept: true\n");
    let base = format!("{BASE}kept: true\n");
    let added = base.replace("b: \"1\"\n", "b: \"1\"\n  c: \"1\"\n");
    for (ours, theirs) in [(&removed, &added), (&added, &removed)] {
        let folder = branches(&base, ours, theirs, "conflictStyle=markers");
        let outcome = folder.git_with("catalog", &["merge", "--no-edit", "theirs"], "");
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let text = folder.get("catalog/a.yaml");
        let is_marked = text.contains("<<<<<<< ours\n") && text.contains("  c: \"1\"\n");
        assert!(is_marked, "{text}");
    }
}

#[test]
fn values_merge_by_their_fields() {
    let base = "a: 1\nb: 1\nc: 1\n";
    let (ours, theirs) = (base.replace("a: 1", "a: 2"), base.replace("b: 1", "b: 2"));
    let folder = branches(base, &ours, &theirs, "");
    let outcome = folder.git_with("catalog", &["merge", "--no-edit", "theirs"], "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    expect![[r#"
        a: 2
        b: 2
        c: 1
    "#]]
    .assert_eq(&folder.get("catalog/a.yaml"));
}

#[test]
fn a_file_without_resources_that_both_add_or_one_empties_is_a_conflict() {
    for (base, ours, theirs) in [
        ("x: 1\n", "x: 2\n", ""),
        ("x: 1\n", "", "x: 2\n"),
        ("", "x: 2\n", "x: 1\ny: 1\n"),
        ("", "- 2\n", "- 1\n"),
    ] {
        let folder = branches(base, ours, theirs, "");
        let outcome = folder.git_with("catalog", &["merge", "--no-edit", "theirs"], "");
        let unmerged = folder.git(&["diff", "--name-only", "--diff-filter=U"]);
        assert_eq!(
            (outcome.code, unmerged.as_str()),
            (Some(1), "a.yaml"),
            "{base} {ours} {theirs}"
        );
    }
    // What both add alike, and a file that only one of them changed, are none.
    for (ours, theirs, both) in [("x: 2\n", "x: 2\n", "x: 2\n"), ("x: 1\n", "", "")] {
        let folder = branches("x: 1\n", ours, theirs, "");
        folder.git(&["merge", "--no-edit", "theirs"]);
        assert_eq!(folder.get("catalog/a.yaml"), both);
    }
}

/// In a package a deletion is a decision; a branch may have moved the resource to another file.
#[test]
fn a_resource_that_one_branch_removed_and_the_other_changed_is_a_conflict() {
    let other = BASE.replace("name: cm", "name: other");
    let base = format!("{BASE}---\n{other}");
    let changed = format!("{BASE}---\n{}", other.replace("a: \"1\"", "a: \"3\""));
    for (ours, theirs) in [(BASE, changed.as_str()), (&changed, BASE)] {
        for command in [&["merge", "--no-edit", "theirs"][..], &["rebase", "theirs"]] {
            let folder = branches(&base, ours, theirs, "");
            let outcome = folder.git_with("catalog", command, "");
            assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
            let conflict = outcome.stderr.contains("ConfigMap/other: ")
                && outcome.stderr.contains("(MergeConflict)");
            assert!(conflict, "{}", outcome.stderr);
        }
    }
    let folder = branches(&base, BASE, &changed, "conflictStyle=markers");
    assert_eq!(
        folder
            .git_with("catalog", &["merge", "--no-edit", "theirs"], "")
            .code,
        Some(1)
    );
    let text = folder.get("catalog/a.yaml");
    assert!(
        text.contains("a: \"3\"") && text.contains(">>>>>>> theirs"),
        "{text}"
    );
}

/// With two merge bases Git first merges these, and what the driver leaves there is the original of the merge.
#[test]
fn a_conflict_that_each_branch_decided_differently_is_one_again() {
    let value = |value: &str| BASE.replace("a: \"1\"", &format!("a: \"{value}\""));
    let folder = branches(BASE, &value("2"), &value("3"), "");
    for name in ["main", "theirs"] {
        folder.git(&["branch", &format!("first-{name}"), name]);
    }
    for (name, other, decided) in [("main", "theirs", "2"), ("theirs", "main", "3")] {
        folder.git(&["checkout", "--quiet", name]);
        let merge = ["merge", "--no-edit", &format!("first-{other}")];
        assert_eq!(folder.git_with("catalog", &merge, "").code, Some(1));
        folder.put("catalog/a.yaml", value(decided));
        folder.commit(&format!("decided in {name}"));
    }
    assert_eq!(
        folder
            .git(&["merge-base", "--all", "main", "theirs"])
            .lines()
            .count(),
        2
    );
    let outcome = folder.git_with("catalog", &["merge", "--no-edit", "main"], "");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(folder.get("catalog/a.yaml"), value("3"));
}

#[test]
fn documents_that_are_not_resources_merge_by_lines() {
    let base = indoc! {"
        a: 1



        b: 1



        c: 1
    "};
    let (ours, theirs) = (base.replace("a: 1", "a: 2"), base.replace("c: 1", "c: 2"));
    let both = ours.replace("c: 1", "c: 2");
    let folder = branches(base, &ours, &theirs, "");
    let outcome = folder.git_with("catalog", &["merge", "--no-edit", "theirs"], "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("catalog/a.yaml"), both);
    // Neither is what is no YAML.
    let broken = indoc! {"
        a: [



        b: 1



        c: 1
    "};
    let folder = branches(base, broken, &theirs, "");
    let outcome = folder.git_with("catalog", &["merge", "--no-edit", "theirs"], "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("a.yaml: merged by lines"),
        "{}",
        outcome.stderr
    );
}

/// Nothing of a Kptfile is local to a branch.
#[test]
fn the_lock_of_a_kptfile_merges_like_any_field() {
    let folder = branches(BASE, BASE, BASE, "");
    let kptfile = |reference: &str, more: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\nupstream:\n  git:\n    ref: {reference}\n{more}"
        )
    };
    folder.put("catalog/Kptfile", kptfile("v1", ""));
    folder.commit("base");
    folder.git(&["checkout", "--quiet", "-B", "theirs"]);
    folder.put("catalog/Kptfile", kptfile("v2", ""));
    folder.commit("theirs");
    folder.git(&["checkout", "--quiet", "main"]);
    let info = "info:\n  description: ours\n";
    folder.put("catalog/Kptfile", kptfile("v1", info));
    folder.commit("ours");
    let outcome = folder.git_with("catalog", &["merge", "--no-edit", "theirs"], "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("catalog/Kptfile"), kptfile("v2", info));
}

#[test]
fn wrong_use_leaves_the_file_alone() {
    let folder = Folder::new(&[]);
    for name in ["o", "a", "b"] {
        folder.put(name, map("1", name));
    }
    for (more, code) in [("conflictStyle=loud", 2), ("strategy=copy-merge", 2)] {
        let arguments = ["--git-merge-driver", "o", "a", "b", "x.yaml", more];
        let outcome = folder.run(merge_package(), &arguments);
        assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
        assert_eq!(folder.get("a"), map("1", "a"));
    }
    let outcome = folder.run(merge_package(), &["--git-merge-driver", "o", "a", "b"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
}
