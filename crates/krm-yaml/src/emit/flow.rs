//! Content in flow style, on one line.

use serde::de::IgnoredAny;

use super::{Emitter, is_long};
use crate::content::Content;
use crate::format::Json;
use crate::node::NodeRef;
use crate::scalar::{self, Context, ScalarStyle};
use crate::tree::NodeKind;
use crate::value::Value;

impl Emitter<'_> {
    pub(crate) fn flow(&mut self, content: &Content<'_>) {
        let node = match content {
            Content::Value(value) => return self.flow_value(value, self.format.json),
            Content::Quoted(text) if self.format.json == Json::No => {
                let text = scalar::write_inline(text, ScalarStyle::SingleQuoted, Context::Flow);
                return self.out.push_str(&text);
            }
            Content::Node(node) => Some(*node),
            Content::Text(text) => text.root(),
            Content::Map(_) | Content::Quoted(_) => None,
        };
        if let Some(lines) = node.and_then(|node| self.json_lines(node)) {
            return self.out.push_str(&lines);
        }
        match node {
            Some(node) if self.fits_in_flow(node) => self.out.push_str(node.source()),
            _ => self.flow_value(&content.value(), self.format.json),
        }
    }

    /// JSON of several lines, without the indentation of its first line. `None` if it goes on one line, or is not JSON.
    fn json_lines(&self, node: NodeRef<'_>) -> Option<String> {
        let source = node.source();
        let is_flow = matches!(node.kind(), NodeKind::FlowMapping | NodeKind::FlowSequence);
        let is_wanted = self.format.json == Json::Document && self.format.json_lines;
        if !is_wanted || !is_flow || !source.contains('\n') {
            return None;
        }
        serde_json::from_str::<IgnoredAny>(source).ok()?;
        let document = node.document;
        let line = &document.text[document.line_start(node.range().start)..];
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let lines = source.lines();
        let lines = lines.map(|line| line.strip_prefix(indent).unwrap_or(line.trim_start()));
        Some(lines.collect::<Vec<_>>().join(self.format.newline))
    }

    /// Whether the source of a node can be copied into a flow collection.
    fn fits_in_flow(&self, node: NodeRef<'_>) -> bool {
        let is_json = self.format.json != Json::No;
        let source = node.source();
        if is_json && !node.document.text.starts_with('{')
            || node.kind().is_block_collection()
            || node.tag().is_some()
            || source.is_empty()
            || source.contains('\n')
        {
            return false;
        }
        match node.kind() {
            NodeKind::Scalar(ScalarStyle::Plain) => {
                !is_json && scalar::plain_is_safe(source, Context::Flow) || node.as_str().is_none()
            }
            NodeKind::Scalar(ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) => true,
            _ => node.is_self_contained(),
        }
    }

    /// Writes a key in flow style, with its colon.
    pub(crate) fn flow_key(&mut self, key: &Value) {
        self.flow_key_as(key, self.format.json);
    }

    fn flow_key_as(&mut self, key: &Value, json: Json) {
        let from = self.out.len();
        match key {
            Value::Number(_) | Value::Bool(_) if json == Json::Document => {
                self.out.push('"');
                self.flow_value(key, json);
                self.out.push('"');
            }
            other => self.flow_value(other, json),
        }
        // JSON has no question mark, and its readers have no limit.
        if json != Json::Document && is_long(&self.out[from..]) {
            self.out.insert_str(from, "? ");
        }
        self.out.push_str(": ");
    }

    pub(super) fn flow_value(&mut self, value: &Value, json: Json) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => self.out.push_str(&number.to_string()),
            Value::String(text) if json == Json::No => {
                let text = scalar::write_inline(text, ScalarStyle::Plain, Context::Flow);
                self.out.push_str(&text);
            }
            Value::String(text) => self.out.push_str(&scalar::write_double_quoted(text)),
            Value::Sequence(items) => {
                self.out.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.comma(at);
                    self.flow_value(item, json);
                }
                self.out.push(']');
            }
            Value::Mapping(entries) => {
                self.out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    self.comma(at);
                    self.flow_key_as(key, json);
                    self.flow_value(value, json);
                }
                self.out.push('}');
            }
        }
    }

    /// Separates an element from the one before.
    fn comma(&mut self, at: usize) {
        if at > 0 {
            self.out.push_str(", ");
        }
    }
}
