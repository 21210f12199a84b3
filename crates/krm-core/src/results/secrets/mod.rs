//! Values of Secrets are marked where they are read. What quotes a value must have its mark.
//!
//! ```yaml
//! kind: Secret
//! stringData: {a: one}   # quoted as <redacted>
//! type: Opaque           # quoted as "Opaque"
//! ```
//!
//! A [`Mark`] is made from the node of the value, of each version that has one. Only a mark makes a [`QuotedValue`], and messages,
//! tags and values of results take nothing else. A mark is made when a value is quoted, so what is not quoted costs nothing.

mod carriers;
mod texts;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

pub use carriers::LAST_APPLIED;
pub use texts::speaks_of_secret;

use carriers::{Inside, SecretPlace, TextReader, holds, of_root};
use krm_yaml::{NodeId, NodeRef, Path, PathElement, Value};

/// Replaces a value of a Secret.
pub const REDACTED: &str = "<redacted>";

/// Texts within texts are followed eight levels deep.
const TEXTS: TextReader = texts::reader(8);

/// Whether the value of a place may be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    place: SecretPlace,
    /// How many of the last elements of the value's path lie below the outermost hidden one.
    below: usize,
}

impl Mark {
    /// The mark of a value that no document has: a count, a name, a path of a file. It is still hidden if it is a text with a
    /// Secret.
    pub const OWN: Self = Self {
        place: SecretPlace::Plain,
        below: 0,
    };

    const HIDDEN: Self = Self {
        place: SecretPlace::Hidden,
        below: 0,
    };

    /// The mark of a whole resource of a kind.
    pub fn of_resource(kind: &str) -> Self {
        if kind == "Secret" {
            Self::HIDDEN
        } else {
            Self::OWN
        }
    }

    /// The mark of a node's place. What the node holds is seen when it is quoted.
    pub fn at(node: NodeRef<'_>) -> Self {
        Marks::default().at(node)
    }

    /// The mark of parts of a node. They are hidden too if the node holds a Secret anywhere.
    pub fn within(node: NodeRef<'_>) -> Self {
        Marks::default().within(node)
    }

    /// The mark of parts of texts.
    pub fn within_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut texts = texts.into_iter();
        if texts.any(|text| TEXTS.holds(text, SecretPlace::Plain)) {
            Self::HIDDEN
        } else {
            Self::OWN
        }
    }

    /// The mark of the value at a path below a root: of the last node on the way that exists.
    pub fn at_path(root: NodeRef<'_>, path: &Path) -> Self {
        let mut place = of_root(root);
        let mut node = Some(root.resolved());
        for (at, element) in path.elements().iter().enumerate() {
            let key = match element {
                PathElement::Field(name) => Some(name.as_str()),
                _ => None,
            };
            place = match node {
                Some(node) => Inside::of(place, node).step(key),
                None => Inside::unknown(place).step(key),
            };
            if place == SecretPlace::Hidden {
                let below = path.elements().len() - at - 1;
                return Self { place, below };
            }
            node = match element {
                PathElement::Field(name) => node.and_then(|node| node.get(name)),
                PathElement::Index(index) => {
                    node.and_then(|node| Some(node.items().nth(*index)?.resolved()))
                }
                _ => None,
            };
        }
        Self { place, below: 0 }
    }

    /// The stricter of two marks, for a value in several versions.
    pub fn or(self, other: Self) -> Self {
        let place = match (self.place, other.place) {
            (SecretPlace::Hidden, _) | (_, SecretPlace::Hidden) => SecretPlace::Hidden,
            (SecretPlace::Plain | SecretPlace::OtherPatch, place) => place,
            (place, _) => place,
        };
        Self {
            place,
            below: self.below.max(other.below),
        }
    }

    /// Whether the place itself is a value of a Secret.
    pub fn is_hidden(self) -> bool {
        self.place == SecretPlace::Hidden
    }

    /// Whether a value may not be quoted.
    fn hides(self, value: &Value) -> bool {
        holds(self.place, value, TEXTS)
    }

    /// The value as it may be quoted: itself, or `<redacted>`.
    pub fn quotable(self, value: &Value) -> Value {
        if self.hides(value) {
            Value::from(REDACTED)
        } else {
            value.clone()
        }
    }

    /// The path of the value as it may be quoted. Elements that name a secret value are those of `by_position`, which has the
    /// same elements by their positions.
    pub fn path(self, path: &Path, by_position: &Path) -> Path {
        let elements = path.elements().iter().zip(by_position.elements());
        let first = path.elements().len().saturating_sub(self.below);
        let open = elements.enumerate().map(|(at, (element, position))| {
            let is_below = self.is_hidden() && at >= first;
            let names = |text: &str| is_below || TEXTS.holds(text, SecretPlace::Plain);
            let names_secret = match element {
                PathElement::Key(keys) => keys.iter().any(|(_, value)| names(value)),
                PathElement::Value(value) => names(value),
                PathElement::Field(_) | PathElement::Index(_) => false,
            };
            if names_secret { position } else { element }
        });
        open.fold(Path::root(), |path, element| path.child(element.clone()))
    }
}

/// Makes marks, and remembers the collections on the way to them: many values of one collection can be quoted.
#[derive(Debug, Default)]
pub struct Marks {
    known: RefCell<HashMap<(usize, NodeId), Inside>>,
    /// By the root: whether a document holds Secrets at all.
    secrets: RefCell<HashMap<(usize, NodeId), bool>>,
}

impl Marks {
    /// See [`Mark::at`].
    pub(crate) fn at(&self, node: NodeRef<'_>) -> Mark {
        let mut chain = vec![node];
        while let Some(parent) = chain.last().and_then(NodeRef::parent) {
            chain.push(parent);
        }
        chain.reverse();
        let Some(root) = chain.first().copied() else {
            return Mark::OWN;
        };
        let mut place = of_root(root);
        for (at, pair) in chain.windows(2).enumerate() {
            let (parent, child) = (pair[0], pair[1]);
            let inside = self.inside(place, parent);
            let is_mapping = parent.kind().is_mapping();
            let key = is_mapping.then(|| child.key_of_value().unwrap_or(child).field_name());
            place = inside.step(key);
            if place == SecretPlace::Hidden {
                let below = chain.len() - at - 2;
                return Mark { place, below };
            }
        }
        // An alias may bring the value to a Secret.
        let is_shared = chain.iter().any(|node| node.anchor().is_some());
        if is_shared && self.has_secret(root) {
            return Mark::HIDDEN;
        }
        Mark { place, below: 0 }
    }

    /// See [`Mark::within`].
    pub(crate) fn within(&self, node: NodeRef<'_>) -> Mark {
        let mark = self.at(node);
        if !mark.is_hidden() && holds(mark.place, node, TEXTS) {
            return Mark::HIDDEN;
        }
        mark
    }

    /// The mark of the versions of a value.
    pub fn at_any<'n>(&self, nodes: impl IntoIterator<Item = NodeRef<'n>>) -> Mark {
        let marks = nodes.into_iter().map(|node| self.at(node));
        marks.reduce(Mark::or).unwrap_or(Mark::OWN)
    }

    /// The mark of parts of the versions of a value.
    pub fn within_any<'n>(&self, nodes: impl IntoIterator<Item = NodeRef<'n>>) -> Mark {
        let marks = nodes.into_iter().map(|node| self.within(node));
        marks.reduce(Mark::or).unwrap_or(Mark::OWN)
    }

    fn inside(&self, place: SecretPlace, collection: NodeRef<'_>) -> Inside {
        let key = (collection.document.address(), collection.id);
        let mut known = self.known.borrow_mut();
        *known
            .entry(key)
            .or_insert_with(|| Inside::of(place, collection))
    }

    fn has_secret(&self, root: NodeRef<'_>) -> bool {
        let key = (root.document.address(), root.id);
        let mut secrets = self.secrets.borrow_mut();
        *secrets
            .entry(key)
            .or_insert_with(|| holds(of_root(root), root, TEXTS))
    }
}

/// A value as a message, tag or page has it: JSON, or `<redacted>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QuotedValue(String);

impl QuotedValue {
    /// Quotes a value with the mark of its place.
    pub fn of(mark: Mark, value: &Value) -> Self {
        if mark.hides(value) {
            Self::redacted()
        } else {
            Self(value.to_json())
        }
    }

    /// Quotes a text that is part of a value, such as the name of an element, without quotes around it.
    pub fn name(mark: Mark, name: &str) -> Self {
        if mark.hides(&Value::from(name)) {
            Self::redacted()
        } else {
            Self(name.to_owned())
        }
    }

    /// Takes the place of a value that is not shown.
    pub fn redacted() -> Self {
        Self(REDACTED.to_owned())
    }

    /// The same with a shorter text: parts of the quoted one.
    pub fn map(&self, shorten: impl FnOnce(&str) -> String) -> Self {
        Self(shorten(&self.0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for QuotedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<QuotedValue> for String {
    fn from(quoted: QuotedValue) -> Self {
        quoted.0
    }
}

/// The outermost nodes with values of Secrets below a root. `is_secret` means that the root is a Secret without saying so.
pub(crate) fn hidden_nodes(root: NodeRef<'_>, is_secret: bool) -> Vec<NodeRef<'_>> {
    let mut found = Vec::new();
    let place = if is_secret {
        SecretPlace::Secret
    } else {
        of_root(root)
    };
    carriers::hidden_nodes(place, root, TEXTS, &mut |node| found.push(node));
    found
}

/// Whether a text holds a value of a Secret.
pub(crate) fn text_holds_secret(text: &str) -> bool {
    TEXTS.holds(text, SecretPlace::Plain)
}

#[cfg(test)]
mod tests {
    use super::{LAST_APPLIED, Mark, QuotedValue};
    use krm_yaml::{OwnedDocument, Path, PlaceIndex, Value};

    /// How the values of paths are quoted.
    fn check(text: &str, paths: &[(Path, &str)]) {
        let owned = OwnedDocument::parse(text.to_owned()).expect(text);
        let root = owned.root().expect("a root");
        for (path, expected) in paths {
            let (_, node) = PlaceIndex::default().place(root, path);
            let node = node.expect("a node");
            let value = node.value().expect("a value");
            for mark in [Mark::at(node), Mark::at_path(root, path)] {
                assert_eq!(QuotedValue::of(mark, &value).as_str(), *expected, "{path}");
            }
            let within = Mark::within(node).is_hidden();
            assert_eq!(within, *expected == "<redacted>", "{path}");
        }
    }

    #[test]
    fn values_of_a_secret_are_not_quoted() {
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations: {{a: b, {LAST_APPLIED}: c}}\n\
             data: {{a: b}}\nother: [1]\ntype: t\n"
        );
        let path = Path::fields;
        let annotations = ["metadata", "annotations", "a"];
        check(
            &text,
            &[
                (path(&[]), "<redacted>"),
                (path(&["data"]), "<redacted>"),
                (path(&["data", "a"]), "<redacted>"),
                (path(&["other"]).index(0), "<redacted>"),
                (path(&["metadata"]), "<redacted>"),
                (path(&annotations[..2]), "<redacted>"),
                (path(&annotations[..2]).field(LAST_APPLIED), "<redacted>"),
                (path(&annotations), "\"b\""),
                (path(&["type"]), "\"t\""),
            ],
        );
    }

    #[test]
    fn the_place_of_a_secret_does_not_matter() {
        let item = Path::fields(&["items"]).index(0);
        check(
            "kind: List\nitems:\n- {kind: Secret, metadata: {name: s}, data: {a: b}, type: t}\n- {kind: A, data: c}\n",
            &[
                (item.field("data").field("a"), "<redacted>"),
                (item.field("type"), "\"t\""),
                (item, "<redacted>"),
                (Path::fields(&["items"]), "<redacted>"),
                (Path::fields(&["items"]).index(1).field("data"), "\"c\""),
            ],
        );
        check(
            "kind: A\nfrom: {kind: Secret, name: s, key: k}\nx: &x {p: q}\ny: {stringData: *x}\n",
            &[
                (
                    Path::fields(&["from"]),
                    r#"{"kind":"Secret","name":"s","key":"k"}"#,
                ),
                (Path::fields(&["y", "stringData"]), "<redacted>"),
            ],
        );
    }

    #[test]
    fn names_of_elements_below_a_secret_value_are_not_in_a_path() {
        let text = "kind: Secret\nmetadata: {name: s}\nstringData: {p: [a]}\n";
        let owned = OwnedDocument::parse(text.to_owned()).expect("YAML");
        let by_position = Path::fields(&["stringData", "p"]).index(0);
        let by_name = Path::fields(&["stringData", "p"]);
        let by_name = by_name.child(krm_yaml::PathElement::Value("a".to_owned()));
        let root = owned.root().expect("a root");
        let (_, node) = PlaceIndex::default().place(root, &by_position);
        let mark = Mark::at(node.expect("a node"));
        assert_eq!(mark.path(&by_name, &by_position), by_position);
        assert_eq!(Mark::OWN.path(&by_name, &by_position), by_name);
        assert_eq!(QuotedValue::name(Mark::OWN, "a").as_str(), "a");
        assert!(Mark::within_texts(["a", "kind: Secret\n"]).is_hidden());
        assert_eq!(
            QuotedValue::of(Mark::OWN, &Value::from(1_i64)).as_str(),
            "1"
        );
    }
}
