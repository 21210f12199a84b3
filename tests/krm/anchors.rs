//! Anchors, aliases and merge keys: what an edit leaves of them, and what the functions make of them.

use expect_test::expect;
use indoc::indoc;
use std::collections::BTreeMap;

use krm_core::results::Severity;
use krm_function::supplied::Role;
use krm_function::{Function, Inputs, Items, SuppliedInput, run};
use krm_yaml::{Content, Document, EditError, Editor, NodeRef, ParseOptions, Tree, Value};

use crate::merge_cases::merge_files;

/// The node at a path like `a.0.b`, in an expanded document.
fn at<'d>(document: Document<'d>, path: &str) -> NodeRef<'d> {
    let root = document.root(0).expect("a root");
    let steps = path.split('.').filter(|step| !step.is_empty());
    steps.fold(root, |node, step| match step.parse::<usize>() {
        Ok(index) if node.kind().is_sequence() => node.items().nth(index).expect(path),
        _ => node.entry(step).expect(path).value,
    })
}

fn parse(text: &str) -> Tree {
    Tree::parse(text, ParseOptions::default()).expect(text)
}

fn value(source: &str) -> Value {
    let tree = parse(source);
    let root = Document::new(source, &tree).root(0);
    root.and_then(|root| root.value()).expect(source)
}

/// An edit: a word, a path, and what the word needs.
type Edit = (&'static str, &'static str, &'static str);

fn make<'d>(
    editor: &mut Editor<'d, 'd>,
    document: Document<'d>,
    edit: Edit,
) -> Result<(), EditError> {
    let (word, path, more) = edit;
    let (place, last) = path.rsplit_once('.').unwrap_or(("", path));
    match word {
        "set" => editor.set(at(document, place), last, Content::Value(value(more))),
        "replace" => editor.replace(at(document, path), Content::Value(value(more))),
        "remove" => {
            assert!(editor.remove_entry(at(document, place), last));
            Ok(())
        }
        "drop" => {
            let index: usize = last.parse().expect("an index");
            editor.remove_parts(at(document, place), |item| item == index);
            Ok(())
        }
        "append" => editor.insert_item(at(document, path), None, Content::Value(value(more))),
        "reverse" => {
            let node = at(document, path);
            let count = node.entries().count() + node.items().count();
            editor.reorder(node, &(0..count).rev().collect::<Vec<_>>());
            Ok(())
        }
        _ => unreachable!("{word}"),
    }
}

fn edited(before: &str, edits: &[Edit]) -> Result<String, EditError> {
    let tree = parse(before);
    let document = Document::new(before, &tree);
    let mut editor = Editor::new(document);
    for edit in edits {
        make(&mut editor, document, *edit)?;
    }
    editor.finish()
}

#[track_caller]
fn check(before: &str, edits: &[Edit], after: &str) {
    let found = edited(before, edits).expect(before);
    assert_eq!(found, after, "{edits:?} of\n{before}");
}

const SHARED: &str = "a: &x # why\n  k: 1 # one\n  l: 2\nb: *x # b\nc: [*x, z]\n";

#[test]
fn an_alias_gets_the_old_value_written_out() {
    let written =
        |a: &str| format!("a: &x # why\n{a}b: # b\n  k: 1 # one\n  l: 2\nc: [{{k: 1, l: 2}}, z]\n");
    check(
        SHARED,
        &[("set", "a.k", "5")],
        &written("  k: 5 # one\n  l: 2\n"),
    );
    check(SHARED, &[("remove", "a.k", "")], &written("  l: 2\n"));
    check(
        SHARED,
        &[("set", "a.m", "3")],
        &written("  k: 1 # one\n  l: 2\n  m: 3\n"),
    );
    // The order of keys is no data.
    check(
        SHARED,
        &[("reverse", "a", "")],
        &SHARED.replace("  k: 1 # one\n  l: 2\n", "  l: 2\n  k: 1 # one\n"),
    );
    check(
        "a: &x [1, 2]\nb: *x\n",
        &[("reverse", "a", "")],
        "a: &x [2, 1]\nb: [1, 2]\n",
    );
    check(
        "a: &x [1, 2]\nb: *x\n",
        &[("drop", "a.0", "")],
        "a: &x [2]\nb: [1, 2]\n",
    );
    check(
        "a: &x [1, 2]\nb: *x\n",
        &[("append", "a", "3")],
        "a: &x [1, 2, 3]\nb: [1, 2]\n",
    );
    check(
        "a: &x 'one' # c\nb: *x # d\n",
        &[("replace", "a", "two")],
        "a: &x 'two' # c\nb: 'one' # d\n",
    );
    check(
        "- &x |\n  text\n- *x\n",
        &[("replace", "0", "t")],
        "- &x |-\n  t\n- |\n  text\n",
    );
    check(
        "a: &x 1\nb: *x\nc: *x\n",
        &[("remove", "a", "")],
        "b: 1\nc: 1\n",
    );
    check(
        "- &x {k: v}\n- 2\n- *x\n",
        &[("drop", "0", "")],
        "- 2\n- {k: v}\n",
    );
    // The alias comes to stand in front of its anchor.
    check("- &x 1\n- *x\n", &[("reverse", "", "")], "- 1\n- &x 1\n");
    // Another anchor of that name comes to stand between.
    check(
        "- &x 1\n- *x\n- &x 2\n- *x\n",
        &[("reverse", "", "")],
        "- 2\n- &x 2\n- 1\n- &x 1\n",
    );
    check(
        "a: &x {k: &y 1}\nb: *y\n",
        &[("replace", "a", "2")],
        "a: &x 2\nb: 1\n",
    );
}

#[test]
fn an_alias_stays_if_both_places_get_the_new_value() {
    for path in ["a.k", "b.k"] {
        let other = if path == "a.k" { "b.k" } else { "a.k" };
        let edits = [
            ("set", path, "5"),
            ("set", other, "5"),
            ("set", "c.0.k", "5"),
        ];
        check(SHARED, &edits, &SHARED.replace("k: 1", "k: 5"));
    }
    let whole = [("replace", "a", "{m: 1}"), ("replace", "b", "{m: 1}")];
    check("a: &x {k: 1}\nb: *x\n", &whole, "a: &x\n  m: 1\nb: *x\n");
    check(
        "a: &x {k: 1}\nb: *x\n",
        &[("remove", "a.k", ""), ("remove", "b.k", "")],
        "a: &x {}\nb: *x\n",
    );
    check(
        "a: &x {k: &y 1}\nb: *x\nc: *y\n",
        &[
            ("set", "a.k", "2"),
            ("set", "b.k", "2"),
            ("replace", "c", "2"),
        ],
        "a: &x {k: &y 2}\nb: *x\nc: *y\n",
    );
    // To what it is.
    check(SHARED, &[("set", "b.k", "1")], SHARED);
}

#[test]
fn a_changed_alias_is_replaced_in_place() {
    check(
        SHARED,
        &[("set", "b.k", "5")],
        &SHARED.replace("b: *x # b\n", "b: # b\n  k: 5 # one\n  l: 2\n"),
    );
    check(
        SHARED,
        &[("set", "c.0.m", "5")],
        &SHARED.replace("[*x, z]", "[{k: 1, l: 2, m: 5}, z]"),
    );
    check(
        SHARED,
        &[("replace", "b", "w")],
        &SHARED.replace("b: *x # b", "b: w # b"),
    );
    check(
        "a: &x 1\nb: {k: *x}\n",
        &[("set", "b.k", "2")],
        "a: &x 1\nb: {k: 2}\n",
    );
    check(
        "a: &x [1]\nb:\n- *x\n",
        &[("append", "b.0", "2")],
        "a: &x [1]\nb:\n- [1, 2]\n",
    );
}

#[test]
fn a_value_with_its_own_anchors_is_not_written_twice() {
    let text = "a: &x {k: &y 1}\nb: {c: *x}\nd: *y\n";
    let refused = edited(text, &[("set", "a.l", "2")]);
    let shared = EditError::SharedAnchor {
        place: "b.c".to_owned(),
        anchor: "x".to_owned(),
    };
    assert_eq!(refused, Err(shared));
    // With another value there is nothing to write out.
    check(
        text,
        &[("set", "a.l", "2"), ("replace", "b.c", "3")],
        "a: &x {k: &y 1, l: 2}\nb: {c: 3}\nd: *y\n",
    );
}

const MERGED: &str = indoc! {"
        p: &p
          x: 1 # one
          v: 2
        m:
          # all
          <<: *p # from p
          z: 3
        n: {<<: *p, v: 9}
    "};

#[test]
fn a_text_whose_aliases_have_no_end_is_not_edited() {
    let before = "a: &x [*x]\nb: 1\n";
    assert_eq!(edited(before, &[]).as_deref(), Ok(before));
    let error = edited(before, &[("set", "b", "2")]).expect_err("refused");
    let place = "b".to_owned();
    assert_eq!(error, EditError::Endless { place });
}

#[test]
fn a_merge_key_stays_as_long_as_its_mapping_is_right() {
    let m = |lines: &str| MERGED.replace("  <<: *p # from p\n  z: 3\n", lines);
    let head = "  <<: *p # from p\n";
    check(
        MERGED,
        &[("set", "m.z", "4")],
        &m(&format!("{head}  z: 4\n")),
    );
    check(MERGED, &[("remove", "m.z", "")], &m(head));
    check(
        MERGED,
        &[("set", "m.w", "4")],
        &m(&format!("{head}  z: 3\n  w: 4\n")),
    );
    // An entry that changes is written out next to it.
    check(
        MERGED,
        &[("set", "m.x", "5")],
        &m(&format!("{head}  x: 5\n  z: 3\n")),
    );
    check(
        MERGED,
        &[("set", "n.v", "8")],
        &MERGED.replace("v: 9", "v: 8"),
    );
    check(
        MERGED,
        &[("set", "n.x", "8")],
        &MERGED.replace("{<<: *p, v: 9}", "{<<: *p, x: 8, v: 9}"),
    );
    // One that is removed makes the others be written out in its place.
    check(
        MERGED,
        &[("remove", "m.x", "")],
        &m("  v: 2\n  z: 3\n").replace("  # all\n", ""),
    );
    check(
        MERGED,
        &[("remove", "n.x", "")],
        &MERGED.replace("{<<: *p, v: 9}", "{v: 9}"),
    );
    check(
        MERGED,
        &[("remove", "n.v", "")],
        &MERGED.replace("{<<: *p, v: 9}", "{x: 1}"),
    );
}

#[test]
fn a_merge_key_does_not_bring_what_its_source_got() {
    // Changed in the source alone: the old value is next to the merge key.
    check(
        MERGED,
        &[("set", "p.x", "7")],
        indoc! {"
            p: &p
              x: 7 # one
              v: 2
            m:
              # all
              <<: *p # from p
              x: 1
              z: 3
            n: {<<: *p, x: 1, v: 9}
        "},
    );
    // In all: it stays.
    let all = [
        ("set", "p.x", "7"),
        ("set", "m.x", "7"),
        ("set", "n.x", "7"),
    ];
    check(MERGED, &all, &MERGED.replace("x: 1", "x: 7"));
    // An entry more, and less.
    let all = [
        ("set", "p.w", "7"),
        ("set", "m.w", "7"),
        ("set", "n.w", "7"),
    ];
    check(
        MERGED,
        &all,
        &MERGED.replace("  v: 2\n", "  v: 2\n  w: 7\n"),
    );
    check(
        MERGED,
        &[("set", "p.w", "7"), ("set", "n.w", "6")],
        indoc! {"
            p: &p
              x: 1 # one
              v: 2
              w: 7
            m:
              x: 1
              v: 2
              z: 3
            n: {<<: *p, v: 9, w: 6}
        "},
    );
    check(
        MERGED,
        &[("remove", "p.x", ""), ("remove", "n.x", "")],
        indoc! {"
            p: &p
              v: 2
            m:
              # all
              <<: *p # from p
              x: 1 # one
              z: 3
            n: {<<: *p, v: 9}
        "}
        .replace(" # one", "")
        .as_str(),
    );
    check(
        MERGED,
        &[("remove", "p", "")],
        "m:\n  x: 1\n  v: 2\n  z: 3\nn: {x: 1, v: 9}\n",
    );
}

#[test]
fn merge_keys_read_as_yaml_1_1_has_them() {
    for (text, read) in [
        (
            "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nm: {<<: [*a, *b], x: 3}\n",
            "{x: 3, y: 1, z: 2}",
        ),
        ("a: &a {x: 1}\nm: {x: 3, !!merge <<: *a}\n", "{x: 3}"),
        ("m: {<<: {x: 1}, y: 2}\n", "{x: 1, y: 2}"),
        (
            "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nm: {<<: *b}\n",
            "{x: 1, y: 2}",
        ),
        ("m: {<<: [], y: 2}\n", "{y: 2}"),
        // No merge keys.
        ("m: {\"<<\": {x: 1}}\n", "{\"<<\": {x: 1}}"),
        ("m: {!!str <<: {x: 1}}\n", "{\"<<\": {x: 1}}"),
    ] {
        for tree in [
            parse(text),
            Tree::parse(text, ParseOptions::default()).expect(text),
        ] {
            let m = Document::new(text, &tree)
                .root(0)
                .and_then(|root| root.get("m"));
            assert_eq!(m.and_then(|m| m.value()), Some(value(read)), "{text}");
        }
    }
}

#[test]
fn the_first_of_several_mappings_of_a_merge_key_wins() {
    let text = "a: &a {x: 1, v: 1}\nb: &b {v: 2, z: 2}\nm: {<<: [*a, *b], w: 3}\n";
    check(
        text,
        &[("set", "m.v", "5")],
        &text.replace("*b], w", "*b], v: 5, w"),
    );
    check(text, &[("set", "b.v", "5")], &text.replace("v: 2", "v: 5"));
    check(
        text,
        &[("remove", "a.v", "")],
        &text
            .replace("{x: 1, v: 1}", "{x: 1}")
            .replace("*b], w", "*b], v: 1, w"),
    );
    check(
        text,
        &[("remove", "m.z", "")],
        &text.replace("<<: [*a, *b]", "x: 1, v: 1"),
    );
}

/// The mapping of a merge key may be written in place, with anchors and aliases in it.
#[test]
fn a_merge_key_with_a_mapping_in_place() {
    let text = "m: {<<: &p {x: 1}, z: 3}\nn: *p\n";
    check(text, &[("set", "m.z", "4")], &text.replace('3', "4"));
    check(
        text,
        &[("set", "m.x", "4")],
        "m: {<<: &p {x: 1}, x: 4, z: 3}\nn: *p\n",
    );
    let text = "p: &p {x: 1}\nm: {<<: {a: *p}, z: 3}\n";
    check(text, &[("set", "m.z", "4")], &text.replace('3', "4"));
    // What the alias in it reads would change: it cannot be written out there.
    let refused = edited(text, &[("set", "p.x", "2")]);
    let shared = EditError::SharedAnchor {
        place: "m.a".to_owned(),
        anchor: "p".to_owned(),
    };
    assert_eq!(refused, Err(shared));
}

/// An entry that a merge key brings is written out with the merge key gone, but not with an anchor in it.
#[test]
fn fields_of_a_merge_key_are_not_written_twice_with_its_anchor() {
    let text = "p: &p {x: &y [1], v: 2}\nm: {<<: *p}\nn: *y\n";
    let refused = edited(text, &[("remove", "m.v", "")]);
    assert!(
        matches!(refused, Err(EditError::SharedAnchor { .. })),
        "{refused:?}"
    );
    check(
        text,
        &[("remove", "m.x", "")],
        "p: &p {x: &y [1], v: 2}\nm: {v: 2}\nn: *y\n",
    );
    // Another value has no anchor.
    check(
        text,
        &[("replace", "m.x", "3"), ("remove", "m.v", "")],
        "p: &p {x: &y [1], v: 2}\nm: {x: 3}\nn: *y\n",
    );
}

#[test]
fn another_document_gets_the_entries() {
    let source = indoc! {"
        p: &p
          x: 1 # one
        m:
          # above
          a: b # c
          <<: *p
          # below
          z: *p
    "};
    let tree = parse(source);
    let m = at(Document::new(source, &tree), "m");
    let before = "k:\n  l: 1\n";
    let own = parse(before);
    let mut editor = Editor::new(Document::new(before, &own));
    let root = at(Document::new(before, &own), "");
    editor
        .insert_entry(root, None, "m", Content::Node(m))
        .expect("fits");
    expect![[r#"
        k:
          l: 1
        m:
          # above
          a: b # c
          x: 1 # one
          # below
          z:
            x: 1 # one
    "#]]
    .assert_eq(&editor.finish().expect("YAML"));
}

fn map(data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n{data}")
}

#[track_caller]
fn merged(base: &str, local: &str, upstream: &str, after: &str) -> Vec<String> {
    let texts = [base, local, upstream].map(map);
    let files = texts.each_ref().map(|text| [("a.yaml", text.as_str())]);
    let (files, said) = merge_files([&files[0], &files[1], &files[2]], "");
    assert_eq!(files["a.yaml"], map(after));
    said
}

#[test]
fn upstream_changes_an_anchored_value() {
    let base = "data:\n  x: &v one\n  y: *v\n";
    // Local has a change, so that the file is merged.
    let local = format!("{base}  l: l\n");
    merged(
        base,
        &local,
        "data:\n  x: &v two\n  y: *v\n",
        "data:\n  x: &v two\n  y: *v\n  l: l\n",
    );
    merged(
        base,
        &local,
        "data:\n  x: two\n  y: two\n",
        "data:\n  x: &v two\n  y: *v\n  l: l\n",
    );
    merged(
        base,
        &local,
        "data:\n  x: &v two\n  y: one\n",
        "data:\n  x: &v two\n  y: one\n  l: l\n",
    );
    merged(
        base,
        &local,
        "data:\n  y: one\n",
        "data:\n  y: one\n  l: l\n",
    );
}

const LABELS: &str = indoc! {"
    spec:
      selector:
        matchLabels: &l
          app: a
      template:
        metadata:
          labels: *l
        spec:
          p: &p {x: 1, y: 2}
          q:
            <<: *p
            z: 3
"};

#[test]
fn anchors_aliases_and_merge_keys_in_all_three() {
    let local = LABELS.replace("z: 3\n", "z: 4 # mine\n") + "  l: l\n";
    let upstream = LABELS.replace("template:\n", "u: u\n  template:\n");
    merged(
        LABELS,
        &local,
        &upstream,
        &local.replace("template:\n", "u: u\n  template:\n"),
    );
    // Both add labels, through the anchor.
    let local = LABELS.replace("app: a\n", "app: a\n      mine: x\n");
    let upstream = LABELS
        .replace("app: a\n", "app: b\n")
        .replace("x: 1, y: 2", "x: 1, y: 5");
    merged(
        LABELS,
        &local,
        &upstream,
        &upstream.replace("app: b\n", "app: b\n      mine: x\n"),
    );
}

#[test]
fn a_merge_key_that_upstream_adds_is_written_out() {
    let base = "data: &p {a: b}\n";
    let local = "data: &p {a: b}\nl: l\n";
    merged(
        base,
        local,
        "data: &p {a: b}\nq: {<<: *p, c: d}\n",
        "data: &p {a: b}\nl: l\nq:\n  a: b\n  c: d\n",
    );
}

#[test]
fn one_resource_with_a_shared_anchor_does_not_hide_others() {
    let base = map("data: &x {k: &y v}\nmore: {a: *x}\nalso: *y\n");
    let local = base.clone() + "l: l\n";
    let upstream = base
        .replace("&y v}", "&y v, n: n}")
        .replace("a: *x", "a: {k: v}");
    let second = |text: &str| text.replace("name: a", "name: b");
    let file = |text: &str| format!("{text}---\n{}", second(text));
    let (base, local, upstream) = (file(&base), file(&local), file(&upstream));
    let (files, said) = merge_files(
        [
            &[("a.yaml", &base)],
            &[("a.yaml", &local)],
            &[("a.yaml", &upstream)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], local);
    let refused: Vec<_> = said
        .iter()
        .filter(|line| line.contains("(SharedAnchor)"))
        .collect();
    assert_eq!(refused.len(), 2, "{said:?}");
    for (line, name) in refused.iter().zip(["a", "b"]) {
        assert!(
            line.starts_with(&format!("[error] a.yaml: ConfigMap/{name}: more.a: ")),
            "{line}"
        );
    }
}

#[test]
fn each_patched_resource_with_a_shared_anchor_is_named() {
    let file = map("data: &x {k: &y {v: v}}\nmore: *x\nalso: *y\n");
    let second = |text: &str| text.replace("name: a", "name: b");
    let patch = map("data: {k: {v: new}}\n");
    let both = |text: &str| format!("{text}---\n{}", second(text));
    let files = BTreeMap::from([("p.yaml".to_owned(), both(&patch))]);
    let inputs = Inputs {
        supplied: vec![(Role::Patches, SuppliedInput::Files(files))],
        ..Inputs::default()
    };
    let package = BTreeMap::from([("a.yaml".to_owned(), both(&file).into_bytes())]);
    let outcome = run(&apply_patch::FUNCTION, inputs, Items::Package(package));
    let results = outcome.expect("no usage error").results;
    let said: Vec<String> = results.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    for (line, (number, name)) in said.iter().zip([(6, "a"), (14, "b")]) {
        let start = format!("[error] a.yaml:{number}: ConfigMap/{name}: more: ");
        assert!(
            line.starts_with(&start) && line.ends_with("(SharedAnchor)"),
            "{line}"
        );
    }
}

/// A ResourceList whose second item reads an anchored value of the first, which holds an anchor itself.
fn shared_list() -> String {
    let item = |name: &str, data: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n  data: {data}\n"
        )
    };
    let items = item("a", "&d\n    x: &x \"1\"\n    y: *x") + &item("b", "*d");
    format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}")
}

#[track_caller]
fn check_removal(function: &Function, role: Role, supplied: &str) {
    let files = [("a.yaml".to_owned(), supplied.to_owned())];
    let mut inputs = vec![(role, SuppliedInput::Files(files.into()))];
    if role == Role::Upstream {
        let both = BTreeMap::from([
            (
                "a.yaml".to_owned(),
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
              data: {x: \"1\", y: \"1\"}\n"
                    .to_owned(),
            ),
            ("b.yaml".to_owned(), supplied.to_owned()),
        ]);
        inputs.push((Role::Original, SuppliedInput::Files(both)));
    }
    let inputs = Inputs {
        supplied: inputs,
        ..Inputs::default()
    };
    let list = Items::ResourceList(shared_list());
    let outcome = run(function, inputs, list.clone()).expect("no usage error");
    let errors = outcome
        .results
        .iter()
        .filter(|result| result.severity == Severity::Error);
    let errors: Vec<String> = errors.map(ToString::to_string).collect();
    let message = "ConfigMap/b: data: the value is shared through the anchor `&d`; write it out in \
                   full first (SharedAnchor)";
    assert_eq!(errors, [format!("[error] {message}")], "{}", function.name);
    assert_eq!(outcome.items, list);
}

#[test]
fn a_removed_anchor_around_other_anchors_is_reported_where_an_alias_reads_it() {
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n$patch: delete\n";
    check_removal(&apply_patch::FUNCTION, Role::Patches, patch);
    let upstream =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {x: \"1\", y: \"1\"}\n";
    check_removal(&merge_package::FUNCTION, Role::Upstream, upstream);
}
