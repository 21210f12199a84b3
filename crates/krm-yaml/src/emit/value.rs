//! Values in block style.

use super::{Emitter, Tail, is_long};
use crate::format::{Json, KeepChomping, Owner};
use crate::scalar::{self, Context, ScalarStyle};
use crate::value::Value;

impl Emitter<'_> {
    pub(super) fn value(&mut self, value: &Value, owner: Owner) -> Tail {
        match value {
            Value::Sequence(items) if !items.is_empty() => self.block_items(items, owner),
            Value::Mapping(entries) if !entries.is_empty() => {
                self.block_entries(entries, owner, Self::key, Self::value);
            }
            Value::String(text) => return self.string(text, ScalarStyle::Plain, owner),
            scalar => {
                self.open_line(owner);
                self.gap();
                self.flow_value(scalar, Json::No);
                return Tail::Open;
            }
        }
        Tail::Closed
    }

    /// Writes the entries of a mapping in block style; `key` writes a key with its colon at a column, `value` a value.
    pub(super) fn block_entries<K, T>(
        &mut self,
        entries: &[(K, T)],
        owner: Owner,
        key: impl Fn(&mut Self, &K, usize),
        value: impl Fn(&mut Self, &T, Owner) -> Tail,
    ) {
        let column = owner.child(false, &self.format);
        self.open_collection(column);
        let keep_chomping = self.format.keep_chomping;
        for (at, entry) in entries.iter().enumerate() {
            self.format.keep_chomping = keep_chomping.of_part(at + 1 == entries.len());
            self.line(column);
            key(self, &entry.0, column);
            value(self, &entry.1, Owner::Key(column));
            self.end_part();
        }
        self.format.keep_chomping = keep_chomping;
    }

    /// Writes the items of a sequence in block style.
    fn block_items(&mut self, items: &[Value], owner: Owner) {
        let column = owner.child(true, &self.format);
        self.open_collection(column);
        let keep_chomping = self.format.keep_chomping;
        for (at, item) in items.iter().enumerate() {
            self.format.keep_chomping = keep_chomping.of_part(at + 1 == items.len());
            self.line(column);
            self.dash();
            self.value(item, Owner::Dash(column));
            self.end_part();
        }
        self.format.keep_chomping = keep_chomping;
    }

    /// Writes a key in block style, at its column, with its colon.
    pub(super) fn key(&mut self, key: &Value, column: usize) {
        if let Value::String(text) = key {
            return self.text_key(text, column);
        }
        let from = self.out.len();
        self.flow_value(key, Json::No);
        self.end_key(from, column);
    }

    pub(super) fn text_key(&mut self, key: &str, column: usize) {
        let from = self.out.len();
        let key = scalar::write_inline(key, ScalarStyle::Plain, Context::Block);
        self.out.push_str(&key);
        self.end_key(from, column);
    }

    /// Writes a key with the spelling of its source.
    pub(super) fn key_source(&mut self, key: &str, column: usize) {
        let from = self.out.len();
        self.out.push_str(key);
        self.end_key(from, column);
    }

    /// Adds the colon to the key that begins at `from`.
    fn end_key(&mut self, from: usize, column: usize) {
        if is_long(&self.out[from..]) {
            self.out.insert_str(from, "? ");
            self.line(column);
        }
        self.colon(1);
    }

    /// Writes a string in the requested style if possible, otherwise in double quotes.
    ///
    /// New strings of several lines become literal block scalars, with `+` only where the scalar would not include
    /// blank lines that follow it.
    pub(crate) fn string(&mut self, text: &str, style: ScalarStyle, owner: Owner) -> Tail {
        let several = || text.trim_end_matches('\n').contains('\n');
        let is_block = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => true,
            ScalarStyle::Plain => several(),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => false,
        };
        if !is_block {
            self.open_line(owner);
            self.gap();
            let written = scalar::write_inline(text, style, Context::Block);
            self.out.push_str(&written);
            return Tail::Open;
        }
        self.block_string(text, style, owner, self.may_keep_blank_lines(), false)
    }

    /// Whether a block scalar with `+` would not include blank lines that follow it.
    pub(super) fn may_keep_blank_lines(&self) -> bool {
        self.format.keep_chomping == KeepChomping::Everywhere
    }

    /// Writes a string in place of a block scalar with `+`, so that the new one keeps its `+`.
    pub(crate) fn kept_string(&mut self, text: &str, style: ScalarStyle, owner: Owner) -> Tail {
        self.block_string(text, style, owner, true, true)
    }

    /// Writes a string as a block scalar, with `+` only if it `may_keep` blank lines; else double-quoted. `keeps`
    /// writes the `+` of a text with one line feed at its end, too.
    fn block_string(
        &mut self,
        text: &str,
        style: ScalarStyle,
        owner: Owner,
        may_keep: bool,
        keeps: bool,
    ) -> Tail {
        let format = self.format;
        let (parent, column) = match owner {
            Owner::Root(_) => (0, format.step),
            Owner::Key(column) | Owner::Dash(column) => (column, column + format.step),
        };
        let indent = format.body.filter(|body| *body > parent).unwrap_or(column);
        let folded = style == ScalarStyle::Folded;
        // An empty text has no line, so the blank lines below would determine its indentation.
        let below = match format.indent_below {
            0 => 0,
            below => below + usize::from(text.is_empty()),
        };
        let block = scalar::write_block(text, folded, indent, format.newline, indent - parent);
        match block.filter(|_| self.fits_header()) {
            Some((mut header, body)) if indent > below && (may_keep || !header.ends_with('+')) => {
                if keeps && !header.ends_with(['+', '-']) {
                    header.push('+');
                }
                self.inline(&header);
                self.close_header();
                self.out.push_str(format.newline);
                self.out.push_str(&body);
                Tail::Closed
            }
            _ => {
                self.open_line(owner);
                self.inline(&scalar::write_double_quoted(text));
                Tail::Open
            }
        }
    }
}
