//! The one writer: gives a node another value with the fewest edits. Parts that the node has already keep their text.
//!
//! ```
//! use krm_yaml::{Document, Editor, ParseOptions, Tree, Value};
//! let text = "env:\n- {name: A, value: one} # the first\nage: 4 # years\nold: 1\n";
//! let tree = Tree::parse(text, ParseOptions::default()).unwrap();
//! let root = Document::new(text, &tree).root(0).unwrap();
//! let item = |value: &str| Value::Mapping(vec![Value::entry("name", "A"), Value::entry("value", value)]);
//! let env = |value: &str| Value::entry("env", Value::Sequence(vec![item(value)]));
//! let new = Value::Mapping(vec![Value::entry("new", "yes"), Value::entry("age", 4), env("two")]);
//! let mut editor = Editor::new(root.document);
//! editor.write(root, &&new).unwrap();
//! let after = "env:\n- {name: A, value: two} # the first\nage: 4 # years\nnew: \"yes\"\n";
//! assert_eq!(editor.finish().unwrap(), after);
//! ```

use std::collections::HashMap;

use super::{Editor, Part};
use crate::children::Children;
use crate::comments::has_comments;
use crate::content::Content;
use crate::error::EditError;
use crate::node::NodeRef;
use crate::value::Value;

/// A value that a node is to have. It knows which of its parts are parts of the node.
pub trait NewValue<'d, 'f>: Sized {
    /// The entries or items of the value.
    type Parts;

    /// What happens to a node that gets the value.
    ///
    /// # Errors
    /// As [`Editor::replace`].
    fn change(&self, node: NodeRef<'d>) -> Result<ValueChange<'f, Self::Parts>, EditError>;

    /// The value of a part that was the part `old` of the node. `None` if it keeps the value that it has there.
    fn kept(&self, parts: &Self::Parts, at: usize, old: usize) -> Option<Self>;

    /// A part that the node does not have.
    ///
    /// # Errors
    /// As [`Editor::replace`].
    fn new_part(&self, parts: &Self::Parts, at: usize) -> Result<Part<'f>, EditError>;

    /// Writes the comments of a kept part.
    fn write_comments(&self, _: &Self::Parts, _at: usize, _: &mut Editor<'d, 'f>) {}
}

/// The parts of a new value in order: the position of the part of the node that each one is, if any, and its position
/// among the new parts.
pub type PartOrder = Vec<(Option<usize>, usize)>;

/// What happens to a node that gets a new value.
#[derive(Debug)]
pub enum ValueChange<'f, P> {
    /// It has the value.
    None,
    /// No part of it stays. The comments around the source are copied, if there is one.
    Replaced(Content<'f>, Option<NodeRef<'f>>),
    /// Some parts may stay.
    Parts(P, PartOrder),
}

/// Keeps the entries of a mapping in order, given their positions among the new entries. New ones follow.
pub fn kept_in_order(places: impl Iterator<Item = Option<usize>>, count: usize) -> PartOrder {
    let mut is_new = vec![true; count];
    let mut order = PartOrder::with_capacity(count);
    for (old, place) in places.enumerate() {
        if let Some(at) = place {
            is_new[at] = false;
            order.push((Some(old), at));
        }
    }
    let new = is_new.into_iter().enumerate();
    order.extend(new.filter_map(|(at, is_new)| is_new.then_some((None, at))));
    order
}

impl<'d, 'f> Editor<'d, 'f> {
    /// Gives a node a value. Returns whether elements of a list with comments were added, removed or moved.
    ///
    /// # Errors
    /// As [`Editor::replace`].
    pub fn write<V: NewValue<'d, 'f>>(
        &mut self,
        node: NodeRef<'d>,
        new: &V,
    ) -> Result<bool, EditError> {
        let moves_comments = || node.kind().is_sequence() && has_comments(node);
        match new.change(node)? {
            ValueChange::None => Ok(false),
            ValueChange::Replaced(content, source) => {
                let moves_comments = moves_comments();
                if let Some(source) = source {
                    self.bring_value_comments(node, source);
                }
                self.replace(node, content)?;
                Ok(moves_comments)
            }
            ValueChange::Parts(parts, order) => {
                let own = Children::of(node);
                let mut moved = false;
                for &(old, at) in &order {
                    let Some(old) = old else { continue };
                    if let Some(value) = new.kept(&parts, at, old) {
                        moved |= self.write(own.value(old), &value)?;
                    }
                    new.write_comments(&parts, at, self);
                }
                let mut places = order.iter().enumerate();
                let stays = places.all(|(place, (old, _))| *old == Some(place));
                if !stays || order.len() != own.count() {
                    moved |= moves_comments();
                    let part = |(old, at): (Option<usize>, usize)| match old {
                        Some(old) => Ok(Part::Kept(old)),
                        None => new.new_part(&parts, at),
                    };
                    self.arrange(node, order.into_iter().map(part))?;
                }
                Ok(moved)
            }
        }
    }
}

/// Entries are paired by their keys, and items by their positions.
impl<'d, 'f> NewValue<'d, 'f> for &Value {
    type Parts = ();

    fn change(&self, node: NodeRef<'d>) -> Result<ValueChange<'f, ()>, EditError> {
        if node.value().as_ref() == Some(self) {
            return Ok(ValueChange::None);
        }
        Ok(match self {
            Value::Mapping(fields) if node.kind().is_mapping() => {
                let keys = fields.iter().enumerate();
                let keys = keys.filter_map(|(at, (key, _))| Some((key.as_str()?, at)));
                let mut places: HashMap<&str, usize> = keys.collect();
                let old = node
                    .entries()
                    .map(|entry| places.remove(entry.key.key_text()?));
                ValueChange::Parts((), kept_in_order(old, fields.len()))
            }
            Value::Sequence(items) if node.kind().is_sequence() => {
                let count = node.items().count();
                let order = (0..items.len()).map(|at| (Some(at).filter(|at| *at < count), at));
                ValueChange::Parts((), order.collect())
            }
            value => ValueChange::Replaced(Content::Value((*value).clone()), None),
        })
    }

    fn kept(&self, (): &(), at: usize, _: usize) -> Option<Self> {
        match self {
            Value::Mapping(fields) => fields.get(at).map(|(_, value)| value),
            Value::Sequence(items) => items.get(at),
            _ => None,
        }
    }

    fn new_part(&self, (): &(), at: usize) -> Result<Part<'f>, EditError> {
        let key = match self {
            Value::Mapping(fields) => fields.get(at).map(|(key, _)| key.clone()),
            _ => None,
        };
        let value = self.kept(&(), at, at).cloned().unwrap_or(Value::Null);
        Ok(Part::New(key, Content::Value(value)))
    }
}
