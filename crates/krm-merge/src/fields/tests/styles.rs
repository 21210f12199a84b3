//! How a value that is taken is written: indentation, style, line breaks.

use super::{check, check_conflicts, take};
use indoc::indoc;

#[test]
fn indentation_can_change_a_value() {
    take(
        "f:\n  - a\n  - b\n",
        "f:\n - a\n  - b\n",
        "f:\n  - a\n    - b\n",
    );
}

#[test]
fn the_last_line_gets_its_line_break_before_others_come() {
    check(
        "a:\nf:\n",
        "a:\nf:\n  h: 1",
        "f:\n  d:\na:\n",
        "f:\n  h: 1\n  d:\na:",
    );
}

#[test]
fn white_space_below_is_not_part_of_a_new_block_scalar() {
    take("e: |\n ]\n\t\n", "e: |\n", "e: \"\"\n\t\n");
    // White space between the entries is removed in the same merge.
    take(
        "e: |\n  x\ng: 1\n   \nh: 1\n",
        "e: |\n  y\nh: 1\n",
        "e: |\n  y\nh: 1\n",
    );
    take(
        "e: |\n  x\ng: [\n ]\nh: # c\n\t\n",
        "g: [\n ]\nh: # c\ne: |\n",
        "g: [\n ]\nh: # c\ne: |\n",
    );
    // Local's blank line stays, below the entry that is inserted.
    check_conflicts(
        "a:\n  b: |\n",
        "a:\n  b0: |\n  b: |\n  \n",
        "b: |\n",
        "a:\n  b0: |\nb: \"\"\n  \n",
        &["a.b0:local"],
    );
}

#[test]
fn a_changed_scalar_keeps_locals_style() {
    let check_style = |before: &str, after: &str, expected: &str| {
        let text = |value: &str| format!("a: {value}\nb: 1\n");
        take(&text(before), &text(after), &text(expected));
    };
    check_style("\"a:1\"", "a:2", "\"a:2\"");
    check_style("'a:1' # c", "\"a:2\" # c", "'a:2' # c");
    check_style("a:1", "\"a:2\"", "a:2");
    // A value that the style cannot express gets double quotes.
    check_style("one", "'1'", "\"1\"");
    check_style("'one'", "5", "5");
    check_style("'one'", "|\n  one\n  two", "|\n  one\n  two");
    check_style("|\n  one\n  two", "\"one\"", "|-\n  one");
    check_style(
        ">\n  one\n  two",
        ">\n  one\n  two\n  three",
        ">\n  one\n  two\n  three",
    );
    take(
        "e: [\"a\", 'b']\n",
        "e: [\"a\", 'c']\n",
        "e: [\"a\", 'c']\n",
    );
    check(
        "e: {a: \"x\", b: 1}\n",
        "e: {a: \"x\", b: 2}\n",
        "e: {a: y, b: 1}\n",
        "e: {a: \"y\", b: 2}\n",
    );
}

#[test]
fn a_kept_block_scalar_stays_a_block_scalar() {
    let text = |value: &str| format!("a: |+\n{value}b: 1\n");
    take(
        &text("  one\n\n"),
        &text("  two\n\n\n"),
        &text("  two\n\n\n"),
    );
    // Added, and at the end.
    take("a: 1\n", "a: 1\nb: |+\n  x\n\n", "a: 1\nb: |+\n  x\n\n");
    take(
        "a: 1\nc: 2\n",
        "a: 1\nb: |+\n  x\n\nc: 2\n",
        "a: 1\nb: |+\n  x\n\nc: 2\n",
    );
    take(
        "a: x\nc: 2\n",
        "a: |+\n  x\n\nc: 2\n",
        "a: |+\n  x\n\nc: 2\n",
    );
    take(
        "l:\n- x\nc: 2\n",
        indoc! {"
            l:
            - |+
              x

            - y: |+
                z

            c: 2
        "},
        indoc! {"
            l:
            - |+
              x

            - y: |+
                z

            c: 2
        "},
    );
    // Blank lines of the file must not become part of the value.
    let blank = "a: x\n\nc: 2\n";
    take(blank, "a: |+\n  x\n\nc: 2\n", "a: \"x\\n\\n\"\n\nc: 2\n");
    take(
        "a: 1\nd: 1\n\nc: 2\n",
        "a: 1\nb: |+\n  x\n\nc: 2\n",
        "a: 1\nb: |+\n  x\n\nc: 2\n",
    );
    take(
        indoc! {"
            a: |+
              x

            d: 1

            c: 2
        "},
        "a: |+\n  y\n\nc: 2\n",
        "a: |+\n  y\n\nc: 2\n",
    );
}

#[test]
fn lines_that_upstream_adds_keep_their_spaces() {
    take(
        "a: 1\n",
        indoc! {"
            a: 1
            b:
              image:   x  # c
              k :  v
              l:
              - m:   n
                # deep
                  # deeper
                o: p
        "},
        indoc! {"
            a: 1
            b:
              image:   x  # c
              k :  v
              l:
              - m:   n
                # deep
                  # deeper
                o: p
        "},
    );
}

/// An element that one side adds leaves the lines of the others alone.
#[test]
fn json_on_several_lines_keeps_its_lines() {
    let element = |name: &str| {
        format!("    {{\n      \"h\": \"{name}\",\n      \"p\": [\n        1\n      ]\n    }}")
    };
    let text = |names: &[&str], k: u8| {
        let list: Vec<String> = names.iter().map(|name| element(name)).collect();
        format!(
            "{{\n  \"x\": [\n{}\n  ],\n  \"k\": {k}\n}}\n",
            list.join(",\n")
        )
    };
    take(
        &text(&["a", "b"], 1),
        &text(&["a", "b", "c"], 1),
        &text(&["a", "b", "c"], 1),
    );
    check(
        &text(&["a", "b"], 1),
        &text(&["a", "b"], 2),
        &text(&["new", "a", "b"], 1),
        &text(&["new", "a", "b"], 2),
    );
    check(
        &text(&["a", "b"], 1),
        &text(&["a", "b", "mine"], 1),
        &text(&["first", "a"], 1),
        &text(&["first", "a", "mine"], 1),
    );
    // Upstream's indentation is another one: only the new element has it.
    let wide = text(&["a", "b", "c"], 1).replace("  ", "    ");
    let new = "    {\n        \"h\": \"c\",\n        \"p\": [\n            1\n        ]\n    }";
    let expected = text(&["a", "b"], 1).replace("    }\n  ],", &format!("    }},\n{new}\n  ],"));
    take(&text(&["a", "b"], 1), &wide, &expected);
    // A list on one line stays on one line.
    check(
        "{\"x\": [{\"a\": 1}], \"k\": 1}\n",
        "{\"x\": [{\"a\": 1}], \"k\": 2}\n",
        indoc! {r#"
            {"x": [
              {"a": 1},
              {
                "a": 2
              }
            ], "k": 1}
        "#},
        "{\"x\": [{\"a\": 1}, {\"a\": 2}], \"k\": 2}\n",
    );
}

#[test]
fn the_spaces_before_the_comment_of_an_empty_element_are_kept() {
    check(
        "l:\n-  # one\n- x\nm: 1\n",
        "l:\n-  # one\n- x\nm: 2\n",
        "l:\n-  # one\n- y\nm: 1\n",
        "l:\n-  # one\n- y\nm: 2\n",
    );
}

/// The last line break of a text is a part of the value.
#[test]
fn the_end_of_a_text_that_both_sides_changed_merges() {
    let text =
        |header: &str, a: u8, c: u8| format!("t: {header}\n  a: {a}\n  b: 1\n  c: {c}\nz: 1\n");
    check(
        &text("|", 1, 1),
        &text("|", 2, 1),
        &text("|-", 1, 2),
        &text("|-", 2, 2),
    );
    check(
        &text("|", 1, 1),
        &text("|-", 2, 1),
        &text("|", 1, 2),
        &text("|-", 2, 2),
    );
    check(
        &text("|-", 1, 1),
        &text("|-", 2, 1),
        &text("|", 1, 2),
        &text("|", 2, 2),
    );
}
