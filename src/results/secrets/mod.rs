//! Values of Secrets are marked where they are read. What quotes a value must have its mark.
//!
//! ```yaml
//! kind: Secret
//! stringData: {a: one}   # quoted as <redacted>
//! type: Opaque           # quoted as "Opaque"
//! ```
//!
//! A [`Mark`] is made from the node of the value, of each version that has one. Only a mark makes a [`Quoted`], and messages,
//! tags and values of results take nothing else. A mark is made when a value is quoted, so what is not quoted costs nothing.

mod carriers;
mod texts;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

pub use carriers::LAST_APPLIED;
pub use texts::speaks_of_secret;

use crate::yaml::{NodeId, NodeRef, Path, PathElement, Value};
use carriers::{Inside, Place, holds, of_root};

/// Replaces a value of a Secret.
const REDACTED: &str = "<redacted>";

/// Texts within texts that are followed.
const TEXTS: usize = 8;

/// Whether the value of a place may be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    place: Place,
    /// How many of the last elements of the value's path lie below the outermost hidden one.
    below: usize,
}

impl Mark {
    /// The mark of a value that no document has: a count, a name, a path of a file. It is still hidden if it is a text with a
    /// Secret.
    pub(crate) const OWN: Self = Self {
        place: Place::Plain,
        below: 0,
    };

    const HIDDEN: Self = Self {
        place: Place::Hidden,
        below: 0,
    };

    /// The mark of a whole resource of a kind.
    #[must_use]
    pub fn of_resource(kind: &str) -> Self {
        if kind == "Secret" {
            Self::HIDDEN
        } else {
            Self::OWN
        }
    }

    /// The mark of a node's place. What the node holds is seen when it is quoted.
    #[must_use]
    pub fn at(node: NodeRef<'_>) -> Self {
        Marks::default().at(node)
    }

    /// The mark of parts of a node. They are hidden too if the node holds a Secret anywhere.
    #[must_use]
    pub fn within(node: NodeRef<'_>) -> Self {
        Marks::default().within(node)
    }

    /// The mark of parts of texts.
    #[must_use]
    pub fn within_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut texts = texts.into_iter();
        if texts.any(|text| texts::holds_secret(text, false, TEXTS)) {
            Self::HIDDEN
        } else {
            Self::OWN
        }
    }

    /// The mark of the value at a path below a root: of the last node on the way that exists.
    #[must_use]
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
            if place == Place::Hidden {
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
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let place = match (self.place, other.place) {
            (Place::Hidden, _) | (_, Place::Hidden) => Place::Hidden,
            (Place::Plain | Place::OtherPatch, place) => place,
            (place, _) => place,
        };
        Self {
            place,
            below: self.below.max(other.below),
        }
    }

    /// Whether the place itself is a value of a Secret.
    #[must_use]
    pub fn is_hidden(self) -> bool {
        self.place == Place::Hidden
    }

    /// Whether a value may not be quoted.
    fn hides(self, value: &Value) -> bool {
        holds(self.place, value, TEXTS)
    }

    /// The value as it may be quoted: itself, or `<redacted>`.
    pub(crate) fn quotable(self, value: &Value) -> Value {
        if self.hides(value) {
            Value::from(REDACTED)
        } else {
            value.clone()
        }
    }

    /// The path of the value as it may be quoted. Elements that name a secret value are those of `by_position`, which has the
    /// same elements by their positions.
    #[must_use]
    pub fn path(self, path: &Path, by_position: &Path) -> Path {
        let elements = path.elements().iter().zip(by_position.elements());
        let first = path.elements().len().saturating_sub(self.below);
        let open = elements.enumerate().map(|(at, (element, position))| {
            let is_below = self.is_hidden() && at >= first;
            let names = |text: &str| is_below || texts::holds_secret(text, false, TEXTS);
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
pub(crate) struct Marks {
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
            if place == Place::Hidden {
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
    pub(crate) fn at_any<'n>(&self, nodes: impl IntoIterator<Item = NodeRef<'n>>) -> Mark {
        let marks = nodes.into_iter().map(|node| self.at(node));
        marks.reduce(Mark::or).unwrap_or(Mark::OWN)
    }

    /// The mark of parts of the versions of a value.
    pub(crate) fn within_any<'n>(&self, nodes: impl IntoIterator<Item = NodeRef<'n>>) -> Mark {
        let marks = nodes.into_iter().map(|node| self.within(node));
        marks.reduce(Mark::or).unwrap_or(Mark::OWN)
    }

    fn inside(&self, place: Place, collection: NodeRef<'_>) -> Inside {
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
pub struct Quoted(String);

impl Quoted {
    /// Quotes a value with the mark of its place.
    #[must_use]
    pub fn of(mark: Mark, value: &Value) -> Self {
        if mark.hides(value) {
            Self::redacted()
        } else {
            Self(value.to_json())
        }
    }

    /// Quotes a text that is part of a value, such as the name of an element, without quotes around it.
    pub(crate) fn name(mark: Mark, name: &str) -> Self {
        if mark.hides(&Value::from(name)) {
            Self::redacted()
        } else {
            Self(name.to_owned())
        }
    }

    /// Takes the place of a value that is not shown.
    #[must_use]
    pub fn redacted() -> Self {
        Self(REDACTED.to_owned())
    }

    /// The same with a shorter text: parts of the quoted one.
    pub(crate) fn map(&self, shorten: impl FnOnce(&str) -> String) -> Self {
        Self(shorten(&self.0))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Quoted> for String {
    fn from(quoted: Quoted) -> Self {
        quoted.0
    }
}

/// The outermost nodes with values of Secrets below a root. `is_secret` means that the root is a Secret without saying so.
pub(crate) fn hidden_nodes(root: NodeRef<'_>, is_secret: bool) -> Vec<NodeRef<'_>> {
    let mut found = Vec::new();
    let place = if is_secret {
        Place::Secret
    } else {
        of_root(root)
    };
    carriers::hidden_nodes(place, root, &mut |node| found.push(node));
    found
}

/// Whether a text holds a value of a Secret.
pub(crate) fn text_holds_secret(text: &str) -> bool {
    texts::holds_secret(text, false, TEXTS)
}
