//! One place in three versions, and what becomes of it.

use std::collections::HashSet;

use super::super::decided::TrailStep;
use super::super::merge_schema::List;
use super::super::rule::Side;
use super::Thing;
use crate::yaml::{Content, EntryRef, NodeRef, Path, PathElement};

/// The way to a place, made into a [`Path`] only when there is something to say.
pub(super) enum Trail<'t> {
    Root,
    Field(&'t Trail<'t>, NodeRef<'t>),
    /// An element, by its position in local, else in upstream, with what tells it from others.
    Index(&'t Trail<'t>, usize, NodeRef<'t>, List<'t>),
}

impl<'t> Trail<'t> {
    pub(super) fn to_path(&self) -> Path {
        match self {
            Self::Root => Path::root(),
            Self::Field(parent, key) => parent.to_path().field(key.field_name()),
            Self::Index(parent, index, ..) => parent.to_path().child(PathElement::Index(*index)),
        }
    }

    /// The way as steps, for rules.
    pub(super) fn steps(&self) -> Vec<TrailStep<'t>> {
        let mut steps = match self {
            Self::Root => return Vec::new(),
            Self::Field(parent, _) | Self::Index(parent, ..) => parent.steps(),
        };
        steps.push(match self {
            Self::Index(_, index, node, _) => TrailStep::Element(*index, *node),
            Self::Field(_, key) => TrailStep::Field(key.scalar_text().unwrap_or_default()),
            Self::Root => return steps,
        });
        steps
    }

    /// What a conflict over the place as a whole is about.
    pub(super) fn thing(&self) -> Thing {
        match self {
            Self::Index(..) => Thing::Element,
            Self::Root | Self::Field(..) => Thing::Value,
        }
    }

    /// What the nearest element around the place is called: a position says little where the two
    /// lists differ.
    pub(super) fn element(&self) -> Option<String> {
        match self {
            Self::Root => None,
            Self::Field(parent, _) => parent.element(),
            Self::Index(_, _, node, list) => {
                let node = node.resolved();
                let key = list.only_key().and_then(|key| node.get(key)?.scalar_text());
                if let Some(key) = key {
                    return Some(key.to_owned());
                }
                let named = NAMES.iter().find_map(|name| node.get(name)?.as_str());
                let named = named.or(node.scalar_text()).map(str::to_owned);
                named.or_else(|| keys_of(node, *list))
            }
        }
    }
}

/// `80/TCP`
fn keys_of(node: NodeRef<'_>, list: List<'_>) -> Option<String> {
    let List::Map(keys) = list else { return None };
    let texts = keys.names().filter_map(|key| node.get(key)?.scalar_text());
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("/"))
}

/// Fields by which people know an element.
pub(super) const NAMES: [&str; 5] = ["name", "conditionType", "type", "image", "exec"];

/// An entry of a mapping, an item of a sequence, or a root.
#[derive(Clone, Copy)]
pub(super) struct Child<'a> {
    /// Position in its collection.
    pub(super) index: usize,
    pub(super) entry: Option<EntryRef<'a>>,
    pub(super) value: NodeRef<'a>,
}

impl<'a> Child<'a> {
    pub(super) fn of(value: NodeRef<'a>) -> Self {
        Self {
            index: 0,
            entry: None,
            value,
        }
    }

    /// The node that comments are said of.
    pub(super) fn owner(&self) -> NodeRef<'a> {
        self.entry.map_or(self.value, |entry| entry.key)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Versions<'d, 'f> {
    pub(super) base: Option<Child<'f>>,
    pub(super) local: Option<Child<'d>>,
    pub(super) upstream: Option<Child<'f>>,
}

/// What becomes of an entry or element.
pub(super) enum Fate<'f> {
    /// Local's stands, perhaps with changes within.
    Local,
    /// Upstream's content, in a new entry.
    Upstream(Content<'f>),
    Gone,
}

/// How an absent version of a collection is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Elementwise {
    /// As an empty one.
    Yes,
    /// The whole stands or falls, as an element of a list does.
    IfPresent,
}

/// A mapping or keyed list in three versions.
pub(super) struct Collection<'d, 'f> {
    pub(super) base: Vec<Child<'f>>,
    pub(super) local: Vec<Child<'d>>,
    pub(super) upstream: Vec<Child<'f>>,
    pub(super) identities: [Vec<usize>; 3],
    /// How many identities there are.
    pub(super) count: usize,
    /// Elements that stand or fall together, by number, and whose stand.
    pub(super) together: Option<(Vec<bool>, Side)>,
    /// Elements that are one value each, by number.
    pub(super) whole: HashSet<usize>,
    pub(super) is_list: bool,
}

pub(super) fn entries_of<'a>(node: NodeRef<'a>) -> impl Iterator<Item = Child<'a>> {
    let entries = node.entries().enumerate();
    entries.map(|(index, entry)| Child {
        index,
        entry: Some(entry),
        value: entry.value,
    })
}

pub(super) fn items_of<'a>(node: NodeRef<'a>) -> impl Iterator<Item = Child<'a>> {
    node.items().enumerate().map(|(index, value)| Child {
        index,
        entry: None,
        value,
    })
}

pub(super) fn key_text<'a>(child: &Child<'a>) -> &'a str {
    let key = child.entry.map(|entry| entry.key);
    key.and_then(|key| key.scalar_text()).unwrap_or_default()
}
