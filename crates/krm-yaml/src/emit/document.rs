//! Whole documents in block style.

use super::Emitter;
use crate::comments::comments_above;
use crate::content::Content;
use crate::format::{Format, KeepChomping, Owner};
use crate::node::NodeRef;
use crate::value::Value;
use crate::verbatim::{collection_text, document_lines};

/// Writes a value as the text of a document in block style.
#[must_use]
pub fn to_block_text(value: &Value) -> String {
    const USUAL: usize = 2048;
    let mut text = String::with_capacity(USUAL);
    let mut emitter = Emitter::at_line_start(&mut text, Format::DEFAULT);
    let is_on_one_line = match value {
        Value::Mapping(entries) => entries.is_empty(),
        Value::Sequence(items) => items.is_empty(),
        _ => true,
    };
    if is_on_one_line {
        emitter.line(0);
        emitter.value(value, Owner::Key(0));
    } else {
        emitter.value(value, Owner::Root(0));
    }
    text.push('\n');
    text
}

/// A node as the text of a separate document, with its spelling and the comments within it.
#[must_use]
pub fn node_text(node: NodeRef<'_>) -> String {
    collection_text(node, true).unwrap_or_else(|| content_text(&Content::Node(node)))
}

/// Like [`node_text`], without the comment on the line of the indicator, for callers that write the comments around the
/// value themselves.
#[must_use]
pub fn value_text(node: NodeRef<'_>) -> String {
    collection_text(node, false).unwrap_or_else(|| content_text(&Content::Node(node)))
}

/// The text of a whole document with its comments: its own lines if they can move to another column, otherwise new
/// ones.
pub fn document_text(root: NodeRef<'_>) -> String {
    if let Some(lines) = document_lines(root) {
        let newline = if lines.ends_with('\n') { "" } else { "\n" };
        return format!("{lines}{newline}");
    }
    with_comments_above(root, &content_text(&Content::Node(root)))
}

/// A text below the comments above a node.
pub fn with_comments_above(node: NodeRef<'_>, text: &str) -> String {
    let above = comments_above(node).into_iter();
    let above: String = above.flat_map(|comment| [comment, "\n"]).collect();
    above + text
}

/// Content as the text of a separate document.
#[must_use]
pub fn content_text(content: &Content<'_>) -> String {
    let format = Format {
        keep_chomping: KeepChomping::Everywhere,
        ..Format::DEFAULT
    };
    let mut text = String::new();
    let mut emitter = Emitter::at_line_start(&mut text, format);
    emitter.content(content, Owner::Root(0));
    if !text.is_empty() {
        text.push_str(format.newline);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, ParseOptions, Tree};
    use indoc::indoc;

    #[track_caller]
    fn written(text: &str) -> String {
        let tree = Tree::parse(text, ParseOptions::default()).expect("YAML");
        let root = Document::new(text, &tree).root(0).expect("a document");
        let value = root.value().expect("a value");
        to_block_text(&value)
    }

    #[test]
    fn every_shape() {
        for text in [
            "a\n",
            "null\n",
            "[]\n",
            "{}\n",
            "a: b\n",
            "a: {}\nb: []\nc: null\nd: 5\ne: true\n",
            "a:\n  b:\n    c: d\n  e: f\n",
            indoc! {"
                a:
                - b
                - c: d
                  e:
                  - f
                  - - g
                    - h: i
                  j: k
                - {}
                - []
            "},
            "- - - a\n    - b\n- c: d\n",
            "\"true\": \"1\"\n\"\": \"\"\n\"a: b\": \"- c\"\n5: x\n",
            indoc! {"
                a: |
                  b

                    c
                d:
                - |-
                  e
                  f
                - g: |
                    h
                    i
            "},
            "|\n  a\n  b\n",
        ] {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn the_text_of_a_node_has_the_blank_lines_that_its_last_scalar_keeps() {
        for text in [
            "a:\n  b: |+\n    c\n\n",
            "a:\n  b: |+\n    c\n\n\n",
            "a:\n- b: >+\n    c\n\n",
            "a:\n  b: |+\n    c\n",
            "a:\n  b: |+\n    c\n\nd: e\n",
            "a:\n  b: |\n    c\n\n",
        ] {
            let tree = Tree::parse(text, ParseOptions::default()).expect("YAML");
            let root = Document::new(text, &tree).root(0).expect("a document");
            for node in [root, root.get("a").expect("a value")] {
                let own = node_text(node);
                let tree = Tree::parse(&own, ParseOptions::default()).expect("YAML");
                let copy = Document::new(&own, &tree).root(0).expect("a document");
                assert_eq!(copy.value(), node.value(), "{text:?}: {own:?}");
            }
        }
    }

    #[test]
    fn a_long_key_has_a_question_mark() {
        let key = "k".repeat(1001);
        let text = format!("- ? {key}\n  : a\n  b: c\n- ? {key}\n  :\n  - d\n");
        assert_eq!(written(&text), text);
    }
}
