//! New content for a document: values, nodes of other documents, texts.

use std::sync::Arc;

use super::document::Document;
use super::error::ParseError;
use super::node::NodeRef;
use super::scalar::Reading;
use super::tree::{ParseOptions, Tree};
use super::value::Value;
use super::walk_budget::{WalkBudget, WalkError};

/// New content for a node, entry or item.
#[derive(Debug, Clone)]
pub enum Content<'f> {
    /// A value; it is written in the format of its surroundings.
    Value(Value),
    /// A string, in single quotes where they can hold it.
    Quoted(String),
    /// A node of this or another document, with its spelling and the comments within it.
    Node(NodeRef<'f>),
    /// A text with one document that was made for this place. It is written like a node of that document.
    Text(Arc<OwnedDocument>),
    /// The entries of a new mapping, with distinct keys.
    Map(Vec<(String, Content<'f>)>),
}

impl Content<'_> {
    /// Approximate number of bytes that it takes in a text.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Value(value) => value.length(),
            // Aliases are written out in full.
            Self::Node(node) if node.has_alias_or_merge_key() => {
                node.value().map_or(0, |v| v.length())
            }
            Self::Node(node) => node.source().len(),
            Self::Text(text) => text.text.len(),
            Self::Quoted(text) => text.len() + 2,
            Self::Map(entries) => {
                let entry = |(key, value): &(String, Self)| key.len() + value.length();
                entries.iter().map(entry).sum()
            }
        }
    }

    /// Whether the last part of this may be written as a block scalar with `+`, which includes the blank lines below
    /// it.
    pub(super) fn may_keep_blank_lines(&self) -> bool {
        match self {
            Self::Value(value) => ends_in_blank_line(value),
            Self::Quoted(_) => false,
            Self::Node(node) => {
                let source = node.source();
                source.contains(['+', '\\', '*']) || source.ends_with('\n')
            }
            Self::Text(text) => text.text.contains(['+', '\\', '*']),
            Self::Map(entries) => {
                let last = entries.last();
                last.is_some_and(|(_, value)| value.may_keep_blank_lines())
            }
        }
    }

    /// Whether a part of this may be written as a block scalar.
    pub(super) fn holds_block_scalar(&self) -> bool {
        match self {
            Self::Value(value) => has_lines(value),
            Self::Quoted(_) => false,
            // A string of several lines becomes a block scalar where its source cannot be copied.
            Self::Node(node) => node.source().contains(['|', '>', '\n', '\\', '*']),
            Self::Text(text) => text.text.contains(['|', '>', '\n', '\\', '*']),
            Self::Map(entries) => entries.iter().any(|(_, value)| value.holds_block_scalar()),
        }
    }

    /// The value; null if it expands to too many values or refers to itself.
    pub(super) fn value(&self) -> Value {
        let value = match self {
            Self::Value(value) => return value.clone(),
            Self::Quoted(text) => return Value::from(text.as_str()),
            Self::Node(node) => node.value(),
            Self::Text(text) => text.root().and_then(|root| root.value()),
            Self::Map(entries) => {
                let entry =
                    |(key, value): &(String, Self)| (Value::from(key.as_str()), value.value());
                return Value::Mapping(entries.iter().map(entry).collect());
            }
        };
        value.unwrap_or(Value::Null)
    }
}

/// Whether the last string within needs a `+` if it is written as a block scalar.
fn ends_in_blank_line(value: &Value) -> bool {
    match value {
        Value::String(text) => text.ends_with("\n\n"),
        Value::Sequence(items) => items.last().is_some_and(ends_in_blank_line),
        Value::Mapping(entries) => entries
            .last()
            .is_some_and(|(_, value)| ends_in_blank_line(value)),
        _ => false,
    }
}

/// Whether any string within has several lines.
fn has_lines(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Sequence(items) => items.iter().any(has_lines),
        Value::Mapping(entries) => entries.iter().any(|(_, value)| has_lines(value)),
        _ => false,
    }
}

impl From<Value> for Content<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl<'f> From<NodeRef<'f>> for Content<'f> {
    fn from(node: NodeRef<'f>) -> Self {
        Self::Node(node)
    }
}

/// A text with its tree: one document, or several ([`OwnedDocument::roots`]).
#[derive(Debug)]
pub struct OwnedDocument {
    pub(super) text: String,
    tree: Tree,
    /// Whether the lines keep their format and are only indented.
    as_it_is: bool,
}

impl OwnedDocument {
    /// A text whose lines are only indented where it is inserted.
    pub(super) fn as_it_is(reading: Reading, text: String) -> Result<Self, ParseError> {
        let as_it_is = true;
        Self::parse_as(reading, text).map(|parsed| Self { as_it_is, ..parsed })
    }

    /// The lines, if they are only indented.
    pub(super) fn lines_as_they_are(&self) -> Option<impl Iterator<Item = &str>> {
        let starts_at_column_0 = self.root()?.column() == 0;
        (self.as_it_is && starts_at_column_0).then(|| self.text.lines())
    }

    /// Parses a text and keeps it.
    ///
    /// A text may hold several documents, separated by `---`, as most files of Kubernetes do. Then [`OwnedDocument::root`]
    /// is the root of the first document **only**; [`OwnedDocument::roots`] has all of them:
    ///
    /// ```
    /// use krm_yaml::OwnedDocument;
    ///
    /// let text = "kind: Service\n---\nkind: Deployment\n";
    /// let document = OwnedDocument::parse(text.to_owned())?;
    /// let kinds: Vec<_> = document.roots().filter_map(|root| root.get("kind")?.as_str()).collect();
    /// assert_eq!(kinds, ["Service", "Deployment"]);
    /// # Ok::<(), krm_yaml::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// An error if the text is not YAML, or is YAML that no package may hold.
    pub fn parse(text: String) -> Result<Self, ParseError> {
        Self::parse_as(Reading::Core, text)
    }

    /// Parses the text of resources, or of a part of one, as Kubernetes reads it.
    ///
    /// # Errors
    /// As [`OwnedDocument::parse`]. A key that is null is an error, too.
    pub fn parse_resource(text: String) -> Result<Self, ParseError> {
        Self::parse_as(Reading::Kubernetes, text)
    }

    /// Parses a text with a reading, and keeps it.
    ///
    /// # Errors
    /// As [`OwnedDocument::parse`].
    pub fn parse_as(reading: Reading, text: String) -> Result<Self, ParseError> {
        let tree = Tree::parse(&text, ParseOptions { depth: 0, reading })?;
        Ok(Self::new(text, tree))
    }

    /// Pairs a text with the tree that was parsed from it.
    pub(super) fn new(text: String, tree: Tree) -> Self {
        let as_it_is = false;
        Self {
            text,
            tree,
            as_it_is,
        }
    }

    /// The text and its tree as a [`Document`].
    #[must_use]
    pub fn document(&self) -> Document<'_> {
        Document::new(&self.text, &self.tree)
    }

    /// Pays for all walks over the documents of the text.
    ///
    /// # Errors
    /// [`WalkError`]: a value has no end, or the budget does not suffice.
    pub fn pay_for_walks(&self, budget: &mut WalkBudget) -> Result<(), WalkError> {
        let mut roots = self.roots();
        roots.try_for_each(|root| budget.pay_for(root))
    }

    /// The roots of all documents of the text, in order.
    pub fn roots(&self) -> impl Iterator<Item = NodeRef<'_>> {
        self.document().roots()
    }

    /// The root of the first document; `None` if the text has no document. [`OwnedDocument::roots`] has all of them.
    #[must_use]
    pub fn root(&self) -> Option<NodeRef<'_>> {
        self.document().root(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Editor;

    #[test]
    fn entries_are_written_as_their_value() {
        let text = |text: &str| Content::Value(Value::from(text));
        let map = Content::Map(vec![
            ("a".to_owned(), text("b")),
            ("5".to_owned(), text("c\nd\n")),
            ("e".to_owned(), Content::Map(Vec::new())),
            (
                "f".to_owned(),
                Content::Map(vec![("g: h".to_owned(), text("true"))]),
            ),
        ]);
        for source in [
            "a: b\n",
            "{a: b}\n",
            "{\n  \"a\": \"b\"\n}\n",
            "- a: b\n  c: d\n",
        ] {
            let document = OwnedDocument::parse(source.to_owned()).expect("YAML");
            let with = |content: Content<'_>| {
                let root = document.root().expect("a node");
                let mapping = root.items().next().unwrap_or(root);
                let mut editor = Editor::new(document.document());
                let inserted = editor.insert_entry(mapping, None, "new", content);
                inserted.and_then(|()| editor.finish()).expect("an edit")
            };
            assert_eq!(with(map.clone()), with(Content::Value(map.value())));
        }
    }
}
