//! `merge-package`: the heads of files and what stands between documents.

use expect_test::expect;
use indoc::indoc;
use merge_package::FUNCTION;

use crate::merge_cases::{DEFAULTS, map, merge_files};
use crate::merge_package::{LIST, item, package_revision};
use crate::step::on_list;

/// Merges one file; gives its text.
#[track_caller]
fn merged(original: &str, local: &str, upstream: &str) -> String {
    let (mut files, said) = merge_files(
        [
            &[("a.yaml", original)],
            &[("a.yaml", local)],
            &[("a.yaml", upstream)],
        ],
        "",
    );
    let conflicts = said.iter().filter(|line| line.contains("(MergeConflict)"));
    assert_eq!(conflicts.count(), 0, "{said:?}");
    files.remove("a.yaml").expect("the file")
}

fn doc(name: &str, value: &str) -> String {
    map(name, &format!("{{x: {value}}}"))
}

const GENERATED: &str = "# auto-generated, do not edit\n# by hack/update.sh\n---\n";
const LICENCE: &str = "# Copyright 2023 The Authors\n# SPDX-License-Identifier: Apache-2.0\n\n";

#[test]
fn a_head_stays_where_local_edited_another_document_than_upstream() {
    let (a, b) = (doc("a", "1"), doc("b", "1"));
    let (mine, theirs) = (doc("b", "mine"), doc("a", "theirs"));
    for head in [GENERATED, LICENCE, "# one\n\n# two\n\n", "---\n"] {
        let file = |first: &str, second: &str| format!("{head}{first}---\n{second}");
        assert_eq!(
            merged(&file(&a, &b), &file(&a, &mine), &file(&theirs, &b)),
            file(&theirs, &mine)
        );
        // A head that only local has.
        let bare = |first: &str, second: &str| format!("{first}---\n{second}");
        assert_eq!(
            merged(&bare(&a, &b), &file(&a, &mine), &bare(&theirs, &b)),
            file(&theirs, &mine)
        );
    }
}

#[test]
fn a_licence_stays_when_upstream_drops_or_swaps_the_first_document() {
    let (a, b, c) = (doc("a", "1"), doc("b", "1"), doc("c", "1"));
    let (mine, theirs) = (doc("b", "mine"), doc("b", "theirs"));
    for head in [GENERATED, LICENCE] {
        let two = format!("{head}{a}---\n{b}");
        let local = format!("{head}{a}---\n{mine}");
        assert_eq!(
            merged(&two, &local, &format!("{head}{b}")),
            format!("{head}{mine}")
        );
        assert_eq!(
            merged(&two, &local, &format!("{head}{c}---\n{b}")),
            format!("{head}{c}---\n{mine}")
        );
        assert_eq!(
            merged(
                &format!("{head}{a}"),
                &format!("{head}{}", doc("a", "mine")),
                &format!("{head}{c}---\n{a}"),
            ),
            format!("{head}{c}---\n{}", doc("a", "mine"))
        );
        // Local has the documents the other way round.
        assert_eq!(
            merged(
                &two,
                &format!("{head}{b}---\n{a}"),
                &format!("{head}{a}---\n{theirs}")
            ),
            format!("{head}{theirs}---\n{a}")
        );
    }
}

#[test]
fn a_licence_merges_three_way() {
    let (a, mine, theirs) = (doc("a", "1"), map("a", "{x: 1, y: 1}"), doc("a", "2"));
    let newer = LICENCE.replace("2023", "2024");
    let with = |head: &str, document: &str| format!("{head}{document}");
    let both = map("a", "{x: 2, y: 1}");
    let base = with(LICENCE, &a);
    // Changed, removed and added upstream; changed and removed locally; both.
    let table = [
        (LICENCE, newer.as_str(), newer.as_str()),
        (LICENCE, "", ""),
        (&newer, LICENCE, &newer),
        ("", LICENCE, ""),
        // Local replaced it, and upstream changed one of the lines.
        (
            "# mine\n\n",
            &newer,
            "# mine\n# Copyright 2024 The Authors\n\n",
        ),
    ];
    for (ours, other, stands) in table {
        assert_eq!(
            merged(&base, &with(ours, &mine), &with(other, &theirs)),
            with(stands, &both),
            "{ours:?} {other:?}"
        );
    }
    assert_eq!(
        merged(&a, &mine, &with(LICENCE, &theirs)),
        with(LICENCE, &both)
    );
    let ours = with(&format!("# our fork\n\n{LICENCE}"), &mine);
    assert_eq!(
        merged(&base, &ours, &with(&newer, &theirs)),
        with(&format!("# our fork\n\n{newer}"), &both)
    );
    // Nothing but the head changed.
    assert_eq!(
        merged(&base, &with(LICENCE, &mine), &with(&newer, &a)),
        with(&newer, &mine)
    );
}

#[test]
fn a_licence_that_both_sides_changed_merges_by_lines() {
    let (a, edited) = (doc("a", "1"), map("a", "{x: 1, y: 1}"));
    let theirs = doc("a", "2");
    let both = map("a", "{x: 2, y: 1}");
    let set_off = "# (c) 2023\n# Licence\n\n";
    let above = "# (c) 2023\n# Licence\n";
    let mine = |lead: &str| lead.replace("(c)", "(c) mine,");
    let newer = |lead: &str| lead.replace("2023", "2024");
    let twice = |lead: &str| {
        let both = "# (c) mine, 2023\n# (c) 2024\n";
        lead.replace("# (c) 2023\n", both)
    };
    // base, local, upstream, and the merged lines: the blank line is one of them.
    let table = [
        // Upstream only removed or added the blank line.
        (set_off, &*mine(set_off), above, &*mine(above)),
        (above, &mine(above), set_off, &mine(set_off)),
        // It changed the text as well.
        (set_off, &mine(set_off), &newer(above), &twice(above)),
        (above, &mine(above), &newer(set_off), &twice(set_off)),
        // Local changed nothing, or only the blank line.
        (set_off, set_off, &newer(above), &newer(above)),
        (above, set_off, &newer(above), &newer(set_off)),
        (set_off, above, &newer(set_off), &newer(above)),
        (above, above, &newer(set_off), &newer(set_off)),
        (above, set_off, &mine(set_off), &mine(set_off)),
        // Both added it.
        ("", set_off, above, set_off),
        ("", above, set_off, set_off),
        // One of several blocks; local's own comment stays at the key.
        (
            set_off,
            "# fork\n\n# (c) 2023\n# Licence\n\n",
            &newer(above),
            "# fork\n\n# (c) 2024\n# Licence\n",
        ),
        (
            set_off,
            "# (c) 2023\n# Licence\n\n# own\n",
            &newer(set_off),
            "# (c) 2024\n# Licence\n\n# own\n",
        ),
    ];
    for (base, local, upstream, stands) in table {
        for (ours, other, document) in [
            (&edited, &theirs, &both),
            (&a, &theirs, &theirs),
            (&edited, &a, &edited),
        ] {
            let file = |lead: &str, document: &str| format!("{lead}{document}");
            assert_eq!(
                merged(&file(base, &a), &file(local, ours), &file(upstream, other)),
                file(stands, document),
                "{base:?} {local:?} {upstream:?}"
            );
        }
    }
}

#[test]
fn a_licence_goes_with_a_file_that_is_renamed() {
    let (a, mine, both) = (
        doc("a", "1"),
        map("a", "{x: 1, y: 1}"),
        map("a", "{x: 2, y: 1}"),
    );
    let newer = LICENCE.replace("2023", "2024");
    let (base, theirs) = (format!("{LICENCE}{a}"), format!("{newer}{}", doc("a", "2")));
    let fork = format!("# our fork\n\n{LICENCE}{mine}");
    let expected = format!("# our fork\n\n{newer}{both}");
    let (files, _) = merge_files(
        [
            &[("a.yaml", &base)],
            &[("a.yaml", &fork)],
            &[("b.yaml", &theirs)],
        ],
        "",
    );
    assert_eq!((files.len(), &files["b.yaml"]), (1, &expected));
    let (files, _) = merge_files(
        [
            &[("a.yaml", &base)],
            &[("l.yaml", &fork)],
            &[("a.yaml", &theirs)],
        ],
        "",
    );
    assert_eq!((files.len(), &files["l.yaml"]), (1, &expected));
}

#[test]
fn a_new_file_has_its_head_once() {
    let (a, n) = (doc("a", "1"), format!("{LICENCE}{}", doc("n", "1")));
    for local in [a.clone(), format!("{LICENCE}{a}")] {
        let (files, _) = merge_files(
            [
                &[("a.yaml", &a)],
                &[("a.yaml", &local)],
                &[("a.yaml", &a), ("n.yaml", &n)],
            ],
            "",
        );
        assert_eq!((&files["a.yaml"], &files["n.yaml"]), (&local, &n));
    }
    // Where resources are annotated, a new file is not taken as it is.
    let annotated = indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: a
          annotations:
            internal.kpt.dev/upstream-identifier: '|ConfigMap|default|a'
    "};
    let (files, _) = merge_files(
        [
            &[("a.yaml", &a)],
            &[("a.yaml", annotated)],
            &[("a.yaml", &a), ("n.yaml", &n)],
        ],
        "",
    );
    assert!(files["n.yaml"].starts_with(LICENCE), "{}", files["n.yaml"]);
}

#[test]
fn force_delete_replace_takes_upstreams_head() {
    let (a, theirs) = (doc("a", "1"), doc("a", "2"));
    let (files, _) = merge_files(
        [
            &[("a.yaml", &a)],
            &[("a.yaml", &format!("# mine\n\n{a}"))],
            &[("a.yaml", &format!("{LICENCE}{theirs}"))],
        ],
        "strategy: force-delete-replace\n",
    );
    assert_eq!(files["a.yaml"], format!("{LICENCE}{theirs}"));
}

#[test]
fn a_comment_after_a_marker_keeps_its_line() {
    let (a, b) = (doc("a", "1"), doc("b", "1"));
    let (mine, theirs) = (doc("a", "mine"), doc("b", "theirs"));
    assert_eq!(
        merged(
            &format!("{a}--- # second\n{b}"),
            &format!("{mine}--- # second\n{b}"),
            &format!("{a}--- # second\n{theirs}"),
        ),
        format!("{mine}--- # second\n{theirs}")
    );
    // A document that is new.
    assert_eq!(
        merged(&a, &mine, &format!("{a}--- # second\n{b}")),
        format!("{mine}--- # second\n{b}")
    );
    // The first document goes.
    assert_eq!(
        merged(
            &format!("{LICENCE}{a}--- # second\n{b}"),
            &format!("{LICENCE}{a}--- # second\n{}", doc("b", "mine")),
            &format!("{LICENCE}--- # second\n{b}"),
        ),
        format!("{LICENCE}--- # second\n{}", doc("b", "mine"))
    );
}

#[test]
fn commented_out_lines_that_local_removed_do_not_come_back_with_a_new_document() {
    let (a, mine, n) = (doc("a", "1"), doc("a", "mine"), doc("n", "1"));
    let old = "# apiVersion: v1\n# kind: Secret\n";
    let base = format!("{a}---\n{old}");
    // Upstream puts a document below them, or above.
    for upstream in [
        format!("{a}---\n{old}# n is new\n{n}"),
        format!("{a}---\n# n is new\n{n}{old}"),
    ] {
        assert_eq!(
            merged(&base, &mine, &upstream),
            format!("{mine}---\n# n is new\n{n}")
        );
        // Where local kept them they are there once at least.
        let kept = merged(&base, &format!("{mine}---\n{old}"), &upstream);
        assert!(
            kept.contains(old) && kept.contains("# n is new\n"),
            "{kept}"
        );
    }
}

#[test]
fn a_package_revision_keeps_the_heads_of_its_files() {
    let (a, b) = (doc("a", "1"), doc("b", "1"));
    let package = |first: &str, second: &str| {
        let file = format!("{GENERATED}{first}---\n{second}");
        package_revision(&[("a.yaml", &file)])
    };
    let input = format!(
        "{LIST}{}{}{}",
        item(&package(&a, &b), Some("original")),
        item(&package(&a, &doc("b", "mine")), None),
        item(&package(&doc("a", "theirs"), &b), Some("updated")),
    );
    let outcome = on_list(&FUNCTION, DEFAULTS, &input).expect("a list");
    let expected = package(&doc("a", "theirs"), &doc("b", "mine"));
    let found = outcome.file("-");
    assert_eq!(found, format!("{LIST}{}", item(&expected, None)));
}

#[test]
fn an_item_that_is_new_in_a_resource_list_brings_the_licence_of_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, n) = (doc("a", "1"), format!("{LICENCE}{}", doc("n", "1")));
    for (package, files) in [
        ("o", vec![("a.yaml", &a)]),
        ("u", vec![("a.yaml", &a), ("n.yaml", &n)]),
    ] {
        for (path, text) in files {
            let file = folder.path().join(package).join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, text).expect("a file");
        }
    }
    let item = indoc! {"
        - apiVersion: v1
          kind: ConfigMap
          metadata:
            name: a
            annotations:
              internal.config.kubernetes.io/path: a.yaml
          data: {x: 1}
    "};
    let at = |name: &str| folder.path().join(name).display().to_string();
    let output = assert_cmd::Command::new(crate::running::function("merge-package"))
        .args(["--original", &at("o"), "--upstream", &at("u")])
        .write_stdin(format!("{LIST}{item}"))
        .output()
        .expect("it runs");
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    let new = "- # Copyright 2023 The Authors\n  # SPDX-License-Identifier: Apache-2.0\n\n  apiVersion: v1\n";
    assert!(found.contains(new), "{found}");
}

#[test]
fn a_file_that_is_not_a_resource_has_a_head_too() {
    let head = "# This overlay\n# builds it\n\n";
    let local = "a: 1 # mine\nb: 1\n";
    let upstream = format!("{head}a: 1\nb: 2\n");
    assert_eq!(
        merged("a: 1\nb: 1\n", local, &upstream),
        format!("{head}a: 1 # mine\nb: 2\n")
    );
    // Both have one.
    let [old, own, new] =
        ["# (c) 2023\n", "# (c) 2023\n# ours\n", "# (c) 2024\n"].map(|head| head.to_owned() + "\n");
    expect![[r#"
        # (c) 2024
        # ours

        a: 1 # mine
        b: 2
    "#]]
    .assert_eq(&merged(
        &format!("{old}a: 1\nb: 1\n"),
        &format!("{own}{local}"),
        &format!("{new}a: 1\nb: 2\n"),
    ));
    // Without a blank line in one version.
    expect![[r#"
        # old
        a: 1 # mine
        b: 2
    "#]]
    .assert_eq(&merged(
        "# old\n\na: 1\nb: 1\n",
        "# old\na: 1 # mine\nb: 1\n",
        "# old\n\na: 1\nb: 2\n",
    ));
}

#[test]
fn a_marker_above_the_comments_below_a_document_removes_none_of_them() {
    let (base, local, upstream) = (doc("a", "1"), doc("a", "mine"), doc("a", "1"));
    let old = "\n# apiVersion: v1\n# kind: Old\n";
    let marked = format!("---\n{}", &old[1..]);
    let text = |document: &str, foot: &str| format!("{document}{foot}");
    assert_eq!(
        merged(
            &text(&base, old),
            &text(&local, old),
            &text(&upstream, &marked)
        ),
        text(&local, old)
    );
    assert_eq!(
        merged(
            &text(&base, &marked),
            &text(&local, &marked),
            &text(&upstream, old)
        ),
        text(&local, &format!("\n{marked}"))
    );
    // Upstream also has another comment there.
    assert_eq!(
        merged(
            &text(&base, old),
            &text(&local, old),
            &text(&upstream, &format!("# new\n{marked}"))
        ),
        text(&local, &format!("{old}# new\n"))
            .replace("\n\n# api", "\n# new\n\n# api")
            .replace("Old\n# new\n", "Old\n")
    );
}
