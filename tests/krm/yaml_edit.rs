//! Given a text and an edit, this text comes out.

use expect_test::expect;
use indoc::indoc;
use std::sync::Arc;

use krm_yaml::{
    Content, Document, EditError, Editor, NodeRef, OwnedDocument, ParseOptions, Tree, Value,
};

fn edit<'t>(
    text: &'t str,
    tree: &'t Tree,
    path: &[&str],
    change: impl FnOnce(&mut Editor<'t, 't>, NodeRef<'t>) -> Result<(), EditError>,
) -> Result<String, EditError> {
    let document = Document::new(text, tree);
    let mut node = document.root(0).expect("a root");
    for name in path {
        node = match name.parse::<usize>() {
            Ok(index) => node.items().nth(index).expect("an item"),
            Err(_) => node.entry(name).expect("an entry").value,
        };
    }
    let mut editor = Editor::new(document);
    change(&mut editor, node)?;
    editor.finish()
}

fn parse(text: &str) -> Tree {
    Tree::parse(text, ParseOptions::default()).expect(text)
}

#[track_caller]
fn set(before: &str, path: &[&str], key: &str, value: &str, after: &str) {
    let tree = parse(before);
    let value = parse_value(value);
    let result = edit(before, &tree, path, |e, n| {
        e.set(n, key, Content::Value(value))
    });
    assert_eq!(result.expect(before), after, "setting {key} in:\n{before}");
}

#[track_caller]
fn remove(before: &str, path: &[&str], keys: &[&str], after: &str) {
    let tree = parse(before);
    let result = edit(before, &tree, path, |e, n| {
        for key in keys {
            assert!(e.remove_entry(n, key), "no {key}");
        }
        Ok(())
    });
    assert_eq!(
        result.expect(before),
        after,
        "removing {keys:?} from:\n{before}"
    );
}

fn parse_value(text: &str) -> Value {
    let tree = parse(text);
    Document::new(text, &tree)
        .root(0)
        .map_or(Value::Null, |root| root.value().expect("finite"))
}

#[test]
fn a_value_is_set_in_its_own_style() {
    set("a: x\nb: 1\n", &[], "a", "w", "a: w\nb: 1\n");
    set("a: 'x' # c\n", &[], "a", "w", "a: 'w' # c\n");
    set("a: \"x\"\n", &[], "a", "w", "a: \"w\"\n");
    set("a: x\n", &[], "a", "'yes'", "a: \"yes\"\n");
    set("a: x\n", &[], "a", "'1e3'", "a: \"1e3\"\n");
    set("a: x\n", &[], "a", "3", "a: 3\n");
    set("a: 'x'\n", &[], "a", "true", "a: true\n");
    set(
        "a: |\n  x\n  y\nb: 1\n",
        &[],
        "a",
        "\"z\\nw\\n\"",
        "a: |\n  z\n  w\nb: 1\n",
    );
    set("a: |\n  x\n\nb: 1\n", &[], "a", "z", "a: |-\n  z\n\nb: 1\n");
    set("a: x\n  y\nb: 1\n", &[], "a", "z", "a: z\nb: 1\n");
    set("a:\nb: 1\n", &[], "a", "z", "a: z\nb: 1\n");
    set("a: # c\nb: 1\n", &[], "a", "z", "a: z # c\nb: 1\n");
    set("a: ~\n", &[], "a", "z", "a: z\n");
    set("a: !!str 5\n", &[], "a", "6", "a: 6\n");
    set("a: &x 5\n", &[], "a", "6", "a: &x 6\n");
    set("a: x", &[], "a", "w", "a: w");
    set("a: x\r\nb: w\r\n", &[], "a", "z", "a: z\r\nb: w\r\n");
    set("{\"a\": \"x\"}\n", &[], "a", "w", "{\"a\": \"w\"}\n");
    // JSON has other escapes than YAML.
    set(
        "{\"a\": \"x\"}\n",
        &[],
        "a",
        r#""\a\e\N/\t""#,
        "{\"a\": \"\\u0007\\u001B\\u0085/\\t\"}\n",
    );
    set("{a: x, b: w}\n", &[], "a", "'z,w'", "{a: \"z,w\", b: w}\n");
    set("{a: , b: w}\n", &[], "a", "z", "{a: z , b: w}\n");
}

#[test]
fn an_entry_goes_after_the_last_one() {
    set("a: x\n", &[], "b", "w", "a: x\nb: w\n");
    set("a: x", &[], "b", "w", "a: x\nb: w");
    set("a: x\r\n", &[], "b", "w", "a: x\r\nb: w\r\n");
    set(
        "a: x # c\n# foot\n",
        &[],
        "b",
        "w",
        "a: x # c\nb: w\n# foot\n",
    );
    set(
        "d:\n  a: x\n  # foot\nz: 1\n",
        &["d"],
        "b",
        "w",
        "d:\n  a: x\n  b: w\n  # foot\nz: 1\n",
    );
    set(
        indoc! {"
            d:
                a: |
                  t


            z: 1
        "},
        &["d"],
        "b",
        "w",
        indoc! {"
            d:
                a: |
                  t
                b: w


            z: 1
        "},
    );
    set(
        "d:\n  a: |+\n    t\n\nz: 1\n",
        &["d"],
        "b",
        "w",
        indoc! {"
            d:
              a: |+
                t

              b: w
            z: 1
        "},
    );
    set(
        "d:\n  a: |\n    t",
        &["d"],
        "b",
        "w",
        "d:\n  a: |-\n    t\n  b: w",
    );
    set("d: {}\nz: 1\n", &["d"], "b", "w", "d:\n  b: w\nz: 1\n");
    set("d: {} # c\n", &["d"], "b", "w", "d: # c\n  b: w\n");
    set("d:\nz: 1\n", &["d"], "b", "w", "d:\n  b: w\nz: 1\n");
    set("d: # c\n", &["d"], "b", "w", "d: # c\n  b: w\n");
    set("d: null # c\n", &["d"], "b", "w", "d: # c\n  b: w\n");
    set("d: {a: x}\n", &["d"], "b", "w", "d: {a: x, b: w}\n");
    set(
        "d: {\n  a: x\n}\n",
        &["d"],
        "b",
        "w",
        "d: {\n  a: x,\n  b: w\n}\n",
    );
    set(
        "{\n  \"a\": \"x\"\n}\n",
        &[],
        "b",
        "w",
        "{\n  \"a\": \"x\",\n  \"b\": \"w\"\n}\n",
    );
    set("{\"d\": {}}", &["d"], "b", "w", "{\"d\": {\"b\": \"w\"}}");
    set(
        "- name: a\n  x: 1\n- name: b\n",
        &["0"],
        "k",
        "v",
        "- name: a\n  x: 1\n  k: v\n- name: b\n",
    );
    set("s:\n- {}\n", &["s", "0"], "k", "v", "s:\n- k: v\n");
    set(
        "a:\n    b: 1\nc:\n    d: 1\n",
        &["c"],
        "e",
        "{f: {g: 1}}",
        indoc! {"
            a:
                b: 1
            c:
                d: 1
                e:
                    f:
                        g: 1
        "},
    );
    set(
        "l:\n  - 1\n",
        &[],
        "m",
        "[{a: 1, b: 2}, x]",
        indoc! {"
            l:
              - 1
            m:
              - a: 1
                b: 2
              - x
        "},
    );
    set(
        "l:\n- 1\n",
        &[],
        "m",
        "[{a: 1, b: 2}, x]",
        indoc! {"
            l:
            - 1
            m:
            - a: 1
              b: 2
            - x
        "},
    );
    set(
        "a: 1\n",
        &[],
        "t",
        "\"l1\\nl2\\n\"",
        "a: 1\nt: |\n  l1\n  l2\n",
    );
    set(
        "a: 1\n---\nb: 2\n",
        &[],
        "c",
        "3",
        "a: 1\nc: 3\n---\nb: 2\n",
    );
    set("a: 1\n...\n", &[], "c", "3", "a: 1\nc: 3\n...\n");
    set("\u{feff}a: 1\n", &[], "c", "3", "\u{feff}a: 1\nc: 3\n");
    set(
        "%YAML 1.2\n---\n# h\na: 1\n",
        &[],
        "c",
        "3",
        "%YAML 1.2\n---\n# h\na: 1\nc: 3\n",
    );
    set("? a\n: 1\n", &[], "c", "3", "? a\n: 1\nc: 3\n");
    set("a: \"x\n  y\"\n", &[], "c", "3", "a: \"x\n  y\"\nc: 3\n");
    set("a: [1,\n  2]\n", &[], "c", "3", "a: [1,\n  2]\nc: 3\n");
}

#[test]
fn collections_and_scalars_replace_each_other() {
    set(
        "a: x # c\nb: 1\n",
        &[],
        "a",
        "{k: v}",
        "a: # c\n  k: v\nb: 1\n",
    );
    set("a: x\nb: 1\n", &[], "a", "[1, 2]", "a:\n- 1\n- 2\nb: 1\n");
    set("a:\n  k: v # x\nb: 1\n", &[], "a", "w", "a: w\nb: 1\n");
    set("a: # c\n  k: v\nb: 1\n", &[], "a", "w", "a: w # c\nb: 1\n");
    set(
        "a: # c\n  k: v\nb: 1\n",
        &[],
        "a",
        "{l: w}",
        "a: # c\n  l: w\nb: 1\n",
    );
    set("a:\n- 1\n- 2\nb: 1\n", &[], "a", "[]", "a: []\nb: 1\n");
    set(
        "a: |\n  x\nb: 1\n",
        &[],
        "a",
        "{k: v}",
        "a:\n  k: v\nb: 1\n",
    );
    set("a: {k: v}\n", &[], "a", "{l: w}", "a:\n  l: w\n");
    set("a: {k: v}\n", &["a"], "k", "{l: w}", "a: {k: {l: w}}\n");
    set("a: &x\n  k: v\nb: 1\n", &[], "a", "w", "a: &x w\nb: 1\n");
}

#[test]
fn a_removed_entry_takes_its_comments_along() {
    remove("a: 1\nb: 2\nc: 3\n", &[], &["b"], "a: 1\nc: 3\n");
    remove(
        "a: 1\n# about b\nb: 2 # t\nc: 3\n",
        &[],
        &["b"],
        "a: 1\nc: 3\n",
    );
    remove(
        indoc! {"
            a: 1
            # apart

            # about b
            b: 2
            c: 3
        "},
        &[],
        &["b"],
        "a: 1\n# apart\n\nc: 3\n",
    );
    remove(
        "d:\n  a: 1\n  # foot of d\nb: 2\n",
        &[],
        &["b"],
        "d:\n  a: 1\n  # foot of d\n",
    );
    remove("d:\n  a: 1\nz: 1\n", &["d"], &["a"], "d: {}\nz: 1\n");
    remove(
        "d: # c\n  a: 1\nz: 1\n",
        &["d"],
        &["a"],
        "d: # c\nz: 1\n".replace("d: # c", "d: {} # c").as_str(),
    );
    remove(
        "d:\n  a: 1\n  b: 2\nz: 1\n",
        &["d"],
        &["a", "b"],
        "d: {}\nz: 1\n",
    );
    remove(
        "- name: a # n\n  # about x\n  x: 1\n",
        &["0"],
        &["name"],
        "- # about x\n  x: 1\n",
    );
    remove("- name: a\n  x: 1\n", &["0"], &["name"], "- x: 1\n");
    remove(
        "- name: a\n  x: 1\n  y: 2\n",
        &["0"],
        &["name", "x"],
        "- y: 2\n",
    );
    remove(
        "- name: a\n  x: 1\n- b\n",
        &["0"],
        &["name", "x"],
        "- {}\n- b\n",
    );
    remove("a: 1\nb: 2", &[], &["b"], "a: 1");
    remove("a: 1\n", &[], &["a"], "{}\n");
    remove("{a: 1, b: 2}\n", &[], &["a"], "{b: 2}\n");
    remove("{a: 1, b: 2}\n", &[], &["b"], "{a: 1}\n");
    remove("{a: 1, b: 2, c: 3}\n", &[], &["b"], "{a: 1, c: 3}\n");
    remove("{a: 1}\n", &[], &["a"], "{}\n");
    remove(
        "{\n  \"a\": 1,\n  \"b\": 2\n}\n",
        &[],
        &["b"],
        "{\n  \"a\": 1\n}\n",
    );
    remove(
        "a: |\n  # no comment\nb: 1\n",
        &[],
        &["b"],
        "a: |\n  # no comment\n",
    );
    remove("a: 1\r\nb: 2\r\nc: 3\r\n", &[], &["b"], "a: 1\r\nc: 3\r\n");
}

#[test]
fn several_changes_at_once() {
    let before = "data:\n  a: 1\n";
    let tree = parse(before);
    let after = edit(before, &tree, &["data"], |e, n| {
        e.remove_entry(n, "a");
        e.set(n, "b", Content::Value(Value::from("x")))
    });
    assert_eq!(after.expect("fine"), "data:\n  b: x\n");
}

#[test]
fn entries_move_with_their_comments() {
    let before = indoc! {"
        # a
        a: 1
        b: # t
          x: 1
        # c
        c: 3
    "};
    let tree = parse(before);
    let after = edit(before, &tree, &[], |e, n| {
        e.reorder(n, &[1, 2, 0]);
        e.set(
            n.entry("a").expect("a").value,
            "z",
            Content::Value(Value::Null),
        )
        .expect_err("scalar");
        e.replace(
            n.entry("a").expect("a").value,
            Content::Value(Value::from("moved")),
        )
    });
    expect![[r#"
        b: # t
          x: 1
        # c
        c: 3
        # a
        a: moved
    "#]]
    .assert_eq(&after.expect("fine"));
    let before = "- name: a # n\n  x: 1\n";
    let tree = parse(before);
    let after = edit(before, &tree, &["0"], |e, n| {
        e.reorder(n, &[1, 0]);
        Ok(())
    });
    assert_eq!(after.expect("fine"), "- x: 1\n  name: a # n\n");
}

#[test]
fn values_of_another_document_keep_their_spelling() {
    let source = indoc! {r#"
        pipeline:
            mutators: # m
              # first
              - image: 'a:v1' # i
                configMap:
                    k: "5"

                    # about t
                    t: |
                        line
                          deeper
    "#};
    let source_tree = parse(source);
    let root = Document::new(source, &source_tree).root(0).expect("root");
    let entry = root.entry("pipeline").expect("pipeline");
    let before = "kind: Kptfile\nlist:\n- x\n";
    let tree = parse(before);
    let after = edit(before, &tree, &[], |e, n| {
        e.insert_entry_from(n, None, entry)
    });
    expect![[r#"
        kind: Kptfile
        list:
        - x
        pipeline:
          mutators: # m
          # first
          - image: 'a:v1' # i
            configMap:
              k: "5"

              # about t
              t: |
                line
                  deeper
    "#]]
    .assert_eq(&after.expect("fine"));
    let mutators = root
        .get("pipeline")
        .and_then(|p| p.get("mutators"))
        .expect("mutators");
    let item = mutators.items().next().expect("one");
    let after = edit(before, &tree, &["list"], |e, n| {
        e.insert_item_from(n, Some(0), item)
    });
    expect![[r#"
        kind: Kptfile
        list:
        # first
        - image: 'a:v1' # i
          configMap:
            k: "5"

            # about t
            t: |
              line
                deeper
        - x
    "#]]
    .assert_eq(&after.expect("fine"));
}

#[test]
fn an_alias_elsewhere_never_reads_something_else() {
    // The alias gets the old value written out.
    for (text, written) in [
        ("a: &x {k: 1}\nb: *x\n", "a: &x {k: null}\nb: {k: 1}\n"),
        ("a: &x\n  k: 1\nb: *x\n", "a: &x\n  k: null\nb:\n  k: 1\n"),
    ] {
        let tree = parse(text);
        let after = edit(text, &tree, &["a"], |e, n| {
            e.set(n, "k", Content::Value(Value::Null))
        });
        assert_eq!(after.as_deref(), Ok(written));
    }
    // What would be written out holds an anchor itself.
    let text = "a: &x {k: 1, l: &y 2}\nb: *x\n";
    let tree = parse(text);
    let refused = edit(text, &tree, &["a"], |e, n| {
        e.set(n, "k", Content::Value(Value::Null))
    });
    let place = "b".to_owned();
    let anchor = "x".to_owned();
    assert_eq!(refused, Err(EditError::SharedAnchor { place, anchor }));
    let text = "a: &x {k: 1}\nb: *x\n";
    let tree = parse(text);
    let after = edit(text, &tree, &[], |e, n| {
        e.set(n, "b", Content::Value(Value::from("w")))
    });
    assert_eq!(after.expect("fine"), "a: &x {k: 1}\nb: w\n");
}

#[track_caller]
fn reverse(before: &str, path: &[&str], after: &str) {
    let tree = parse(before);
    let result = edit(before, &tree, path, |e, n| {
        let count = n.items().count() + n.entries().count();
        e.reorder(n, &(0..count).rev().collect::<Vec<_>>());
        Ok(())
    });
    assert_eq!(result.expect(before), after, "reversing:\n{before}");
}

#[test]
fn a_block_scalar_never_takes_lines_that_are_not_its_own() {
    // Comments and blank lines that follow would become text.
    set(
        "p:\n  a: b\n  # c\nq: 1\n",
        &["p"],
        "a",
        "\"x\\ny\\n\"",
        indoc! {"
            p:
              a: |
                x
                y
              # c
            q: 1
        "},
    );
    set(
        "a: b\n    # c\nq: 1\n",
        &[],
        "a",
        "\"x\\ny\\n\"",
        "a: \"x\\ny\\n\"\n    # c\nq: 1\n",
    );
    set(
        "a: 1\n\nq: 1\n",
        &[],
        "a",
        "\"x\\ny\\n\\n\"",
        "a: \"x\\ny\\n\\n\"\n\nq: 1\n",
    );
    set(
        "a: 1\n   \nq: 1\n",
        &[],
        "a",
        "\"x\\ny\\n\"",
        "a: \"x\\ny\\n\"\n   \nq: 1\n",
    );
    // One that keeps blank lines gets no more of them.
    remove(
        indoc! {"
            a: |+
              x

            b: 1

            c: 1
        "},
        &[],
        &["b"],
        "a: |+\n  x\n\nc: 1\n",
    );
    // Without a line break at its end the text has none.
    set("a: x", &[], "a", "\"x\\ny\\n\"", "a: |\n  x\n  y\n");
    set("a: x", &[], "a", "\"x\\ny\"", "a: |-\n  x\n  y");
    reverse("a: |\n  x\nb: |\n  y", &[], "b: |-\n  y\na: |\n  x\n");
    reverse("a: |\n  x\nb: |+\n  y", &[], "b: |-\n  y\na: |\n  x\n");
    reverse("a: |\n  x\nb: |2+\n  y", &[], "b: |2-\n  y\na: |\n  x\n");
    reverse(
        "a: |\n  x\nb: |+2 # c\n  y",
        &[],
        "b: |-2 # c\n  y\na: |\n  x\n",
    );
}

/// Blank lines below a literal without `+` are none of its own: they stay.
#[test]
fn a_literal_in_the_place_of_an_entry_leaves_the_blank_lines_below() {
    for (lines, expected) in [
        (
            "x\ny\n",
            indoc! {"
            a: 1
            t: |
              x
              y

            c: 3
        "},
        ),
        (
            "x\ny",
            indoc! {"
            a: 1
            t: |-
              x
              y

            c: 3
        "},
        ),
    ] {
        let before = "a: 1\nb: 2\n\nc: 3\n";
        let tree = parse(before);
        let result = edit(before, &tree, &[], |editor, root| {
            editor.remove_entry(root, "b");
            editor.insert_entry(root, Some(1), "t", Value::from(lines).into())
        });
        assert_eq!(result.expect(before), expected);
    }
}

/// `[a: b]` holds a mapping without braces.
#[test]
fn a_pair_without_its_entry_is_an_empty_mapping() {
    remove("- [a: b]\n", &["0", "0"], &["a"], "- [{}]\n");
    remove("- [x, a: b, y]\n", &["0", "1"], &["a"], "- [x, {}, y]\n");
    remove("- [ ? a : b ]\n", &["0", "0"], &["a"], "- [ {} ]\n");
}

/// The edits within `a` take the blank line along that the block scalar would keep; what goes in
/// below `a` stands behind it, where no edit overlaps another.
#[test]
fn an_entry_is_inserted_after_removed_blank_lines() {
    let before = indoc! {"
        a:
          b: |+
            x
          c: 1

        d: 2
    "};
    let tree = parse(before);
    let result = edit(before, &tree, &[], |editor, root| {
        let a = root.entry("a").expect("an entry").value;
        editor.remove_entry(a, "c");
        editor.insert_entry(root, Some(1), "m", Value::from("z").into())
    });
    let after = "a:\n  b: |+\n    x\nm: z\nd: 2\n";
    assert_eq!(result.expect(before), after);
}

#[test]
fn an_empty_item_of_another_document_stays_a_separate_item() {
    let source = indoc! {"
        items:
        -
        - a
        - - b
          -
          - c
    "};
    let source_tree = parse(source);
    let items = Document::new(source, &source_tree).root(0);
    let items = items.and_then(|root| root.get("items")).expect("items");
    let before = "list:\n- x\n";
    let tree = parse(before);
    let result = edit(before, &tree, &["list"], |editor, list| {
        let new = items.items();
        new.into_iter()
            .try_for_each(|item| editor.insert_item_from(list, None, item))
    });
    let after = indoc! {"
        list:
        - x
        -
        - a
        - - b
          -
          - c
    "};
    assert_eq!(result.expect(before), after);
}

#[test]
fn a_deeper_comment_belongs_to_the_node_above_it() {
    set("m:\n  # - x\n", &[], "b", "1", "m:\n  # - x\nb: 1\n");
    remove("a: 1\nm:\n  # - x\nz: 1\n", &[], &["m"], "a: 1\nz: 1\n");
    remove(
        indoc! {"
            a: 1
            m:
              n: 1

              # apart
            z: 1
        "},
        &[],
        &["m"],
        "a: 1\n\n  # apart\nz: 1\n",
    );
}

#[test]
fn flow_collections_keep_their_comments() {
    let before = indoc! {"
        a: [ # open
          1, # one
          # above two
          2 # two
          # foot
        ]
    "};
    reverse(
        before,
        &["a"],
        indoc! {"
            a: [ # open
              # above two
              2, # two
              1 # one
              # foot
            ]
        "},
    );
    reverse("[a, b]\n", &[], "[b, a]\n");
    set("[a: 1]\n", &["0"], "b", "2", "[{a: 1, b: 2}]\n");
    remove("[a: 1]\n", &["0"], &["a"], "[{}]\n");
    remove("{ # c\n  a: 1\n}\n", &[], &["a"], "{ # c\n}\n");
    set("{lone}\n", &[], "lone", "2", "{lone: 2}\n");
    set("[null]\n", &["0"], "b", "2", "[{b: 2}]\n");
}

#[test]
fn anchors_and_tags_are_allowed_where_yaml_has_them() {
    set("a: &x v\n", &[], "a", "[1]", "a: &x\n- 1\n");
    set("- &x\n- 1\n", &["0"], "k", "v", "- &x\n  k: v\n- 1\n");
    set("a: !!map # c\n  k: v\n", &[], "a", "null", "a: null # c\n");
    set("? lone\n", &[], "lone", "v", "? lone\n: v\n");
    set("-   a: 1\n", &["0"], "a", "[1]", "-   a:\n    -   1\n");
    set("a:\r\n- c", &[], "b", "1", "a:\r\n- c\r\nb: 1");
    let text = "a: &x 1\nb: *x\nc: 2\n";
    let tree = parse(text);
    let root = Document::new(text, &tree).root(0).expect("a root");
    let mut editor = Editor::new(Document::new(text, &tree));
    editor.remove_entry(root, "a");
    assert_eq!(editor.finish().expect("fine"), "b: 1\nc: 2\n");
    let mut editor = Editor::new(Document::new(text, &tree));
    editor.reorder(root, &[1, 0, 2]);
    expect![[r#"
        b: 1
        a: &x 1
        c: 2
    "#]]
    .assert_eq(&editor.finish().expect("fine"));
    let mut editor = Editor::new(Document::new(text, &tree));
    editor.remove_entry(root, "c");
    assert_eq!(editor.finish().expect("fine"), "a: &x 1\nb: *x\n");
}

#[test]
fn a_long_key_has_a_question_mark() {
    let key = "k".repeat(1001);
    set("a: 1\n", &[], &key, "2", &format!("a: 1\n? {key}\n: 2\n"));
    set(
        "{a: 1}\n",
        &[],
        &key,
        "2",
        &format!("{{a: 1, ? {key}: 2}}\n"),
    );
    let nested = format!("{{? {key} : [x]}}");
    set(
        "a: 1\n",
        &[],
        "a",
        &nested,
        &format!("a:\n  ? {key}\n  :\n  - x\n"),
    );
}

#[test]
fn comments_below_the_tag_of_a_text_are_kept() {
    let text = "!!map\n# why\na: 1\n".to_owned();
    let text = OwnedDocument::parse(text).expect("YAML");
    let before = "x: 1\n";
    let tree = parse(before);
    let result = edit(before, &tree, &[], |e, n| {
        e.set(n, "x", Content::Text(Arc::new(text)))
    });
    expect![[r#"
        x: !!map
          # why
          a: 1
    "#]]
    .assert_eq(&result.expect("an edit"));
}

#[test]
fn values_that_cannot_be_written_are_refused() {
    let refused = |source: &str| {
        let source_tree = parse(source);
        let value = Document::new(source, &source_tree)
            .root(0)
            .and_then(|root| root.get("a"))
            .expect("a");
        let before = "b: 1\n";
        let tree = parse(before);
        let result = edit(before, &tree, &[], |e, n| {
            e.set(n, "b", Content::Node(value))
        });
        result.expect_err(source).to_string()
    };
    assert_eq!(
        refused("a: &x [*x]\n"),
        "a: the aliases expand to too many values, or refer to themselves"
    );
    assert_eq!(
        refused("a:\n  [x]: 1\n  [ x ]: 2\n"),
        "a: the mapping has the key [\"x\"] twice"
    );
}
