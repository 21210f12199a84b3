//! Values as text in block style, in one pass.
//!
//! ```yaml
//! metadata:
//!   labels:
//!     app: a
//! args:
//! - x
//! ```

use super::render::{Format, Json, Owner, block_key, is_long, plain, string};
use super::scalar::{self, Context, ScalarStyle};
use super::value::Value;

const FORMAT: Format = Format {
    step: 2,
    wide: false,
    dash: 2,
    newline: "\n",
    json: Json::No,
    indent_below: 0,
    keep: false,
    body: None,
};

/// A value as the text of a document in block style.
#[must_use]
pub fn to_block_text(value: &Value) -> String {
    to_indented_block_text(value, 0, "\n")
}

/// The same with every line indented that is not empty, and another line break.
#[must_use]
pub fn to_indented_block_text(value: &Value, indent: usize, newline: &str) -> String {
    let mut writer = Writer {
        indent,
        newline,
        out: String::new(),
    };
    match value {
        Value::Mapping(entries) if !entries.is_empty() => writer.mapping(entries, 0, false),
        Value::Sequence(items) if !items.is_empty() => writer.sequence(items, 0, false),
        scalar => {
            writer.pad(0);
            writer.inline(scalar, Owner::Root(0), "");
        }
    }
    // Many of these may be kept.
    writer.out.shrink_to_fit();
    writer.out
}

struct Writer<'w> {
    indent: usize,
    newline: &'w str,
    out: String,
}

impl Writer<'_> {
    fn pad(&mut self, column: usize) {
        const SPACES: &str = "                                ";
        let mut rest = self.indent + column;
        while rest > 0 {
            let count = rest.min(SPACES.len());
            self.out.push_str(&SPACES[..count]);
            rest -= count;
        }
    }

    fn end_line(&mut self) {
        self.out.push_str(self.newline);
    }

    /// Entries at a column; the first may stand behind a dash.
    fn mapping(&mut self, entries: &[(Value, Value)], column: usize, behind_dash: bool) {
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 || !behind_dash {
                self.pad(column);
            }
            let from = self.out.len();
            match key {
                Value::String(text) => self.string(text),
                other => self.out.push_str(&block_key(other)),
            }
            if is_long(&self.out[from..]) {
                self.out.insert_str(from, "? ");
                self.end_line();
                self.pad(column);
            }
            self.out.push(':');
            match value {
                Value::Mapping(entries) if !entries.is_empty() => {
                    self.end_line();
                    self.mapping(entries, column + FORMAT.step, false);
                }
                Value::Sequence(items) if !items.is_empty() => {
                    self.end_line();
                    self.sequence(items, column, false);
                }
                scalar => self.inline(scalar, Owner::Key(column), " "),
            }
        }
    }

    /// Items with their dashes at a column; the first may stand behind another dash.
    fn sequence(&mut self, items: &[Value], column: usize, behind_dash: bool) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 || !behind_dash {
                self.pad(column);
            }
            self.out.push('-');
            match item {
                Value::Mapping(entries) if !entries.is_empty() => {
                    self.out.push(' ');
                    self.mapping(entries, column + 2, true);
                }
                Value::Sequence(items) if !items.is_empty() => {
                    self.out.push(' ');
                    self.sequence(items, column + 2, true);
                }
                scalar => self.inline(scalar, Owner::Dash(column), " "),
            }
        }
    }

    /// What stands on the line of its owner; a block scalar goes on below.
    fn inline(&mut self, value: &Value, owner: Owner, space: &str) {
        self.out.push_str(space);
        match value {
            Value::String(text) if text.contains('\n') => {
                let rendered = string(text, ScalarStyle::Plain, owner, &FORMAT);
                self.out.push_str(&rendered.inline);
                for line in &rendered.lines {
                    self.end_line();
                    if !line.is_empty() {
                        self.pad(0);
                        self.out.push_str(line);
                    }
                }
            }
            Value::String(text) => self.string(text),
            Value::Sequence(_) => self.out.push_str("[]"),
            Value::Mapping(_) => self.out.push_str("{}"),
            other => self.out.push_str(&plain(other)),
        }
        self.end_line();
    }

    fn string(&mut self, text: &str) {
        match scalar::plain_is_safe(text, Context::Block) {
            true => self.out.push_str(text),
            false => {
                let written = scalar::write_inline(text, ScalarStyle::Plain, Context::Block);
                self.out.push_str(&written);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Document, ParseOptions, Tree};

    #[track_caller]
    fn written(text: &str, indent: usize, newline: &str) -> String {
        let tree = Tree::parse(text, ParseOptions::default()).expect("YAML");
        let root = Document::new(text, &tree).root(0).expect("a document");
        to_indented_block_text(&root.value().expect("a value"), indent, newline)
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
            "a:\n- b\n- c: d\n  e:\n  - f\n  - - g\n    - h: i\n  j: k\n- {}\n- []\n",
            "- - - a\n    - b\n- c: d\n",
            "\"true\": \"1\"\n\"\": \"\"\n\"a: b\": \"- c\"\n5: x\n",
            "a: |\n  b\n\n    c\nd:\n- |-\n  e\n  f\n- g: |\n    h\n    i\n",
            "|\n  a\n  b\n",
        ] {
            assert_eq!(written(text, 0, "\n"), text);
        }
    }

    #[test]
    fn a_long_key_has_a_question_mark() {
        let key = "k".repeat(1001);
        let text = format!("- ? {key}\n  : a\n  b: c\n- ? {key}\n  :\n  - d\n");
        assert_eq!(written(&text, 0, "\n"), text);
    }

    #[test]
    fn indented_with_another_line_break() {
        let text = "a:\n- b: |\n    c\n\n    d\n";
        let expected = "   a:\r\n   - b: |\r\n       c\r\n\r\n       d\r\n";
        assert_eq!(written(text, 3, "\r\n"), expected);
    }
}
