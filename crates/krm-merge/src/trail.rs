//! The path to a value in a resource, with the list elements on the way.

use crate::naming::names_of;
use krm_core::schema::ListType;
use krm_yaml::{NodeRef, Path, PathElement};

/// The path from the root of a resource to a value.
pub(super) type Trail<'t> = krm_yaml::Trail<'t, ElementOf<'t>>;

/// A list element on the way: local's element if there is one, otherwise upstream's.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElementOf<'t> {
    pub(super) node: NodeRef<'t>,
    /// How it relates to the other elements of its list.
    pub(super) list: ListType<'t>,
}

/// The name of the nearest element around a value, in the last steps to the value. An index is of little use if the two
/// lists differ.
pub(super) fn element_name(trail: &Trail<'_>, count: usize) -> Option<String> {
    let steps = trail.steps().into_iter().rev().take(count);
    let mut elements = steps.filter_map(|step| match step {
        Trail::Element(_, _, element) => Some(element),
        Trail::Root | Trail::Field(..) => None,
    });
    elements.next()?.name()
}

/// The path to a value with elements by their keys, as in rules for conflicts: an index is valid in one package, a key
/// in all.
pub(super) fn rule_path(trail: &Trail<'_>) -> Path {
    let steps = trail.steps().into_iter();
    steps.fold(Path::root(), |path, step| match step {
        Trail::Root => path,
        Trail::Field(_, name) => path.field(name),
        Trail::Element(_, index, element) => match element.in_rule() {
            Some(key) => path.child(key),
            None => path.index(*index),
        },
    })
}

impl ElementOf<'_> {
    /// How a rule for conflicts names the element. `None` if only its index can.
    fn in_rule(&self) -> Option<PathElement> {
        let node = self.node.resolved();
        match self.list {
            ListType::Map(keys) => {
                let pairs = keys.names().filter_map(|key| {
                    let value = node.get(key)?.resolved().value_text()?;
                    Some((key.to_owned(), value.to_owned()))
                });
                let pairs: Vec<_> = pairs.collect();
                (!pairs.is_empty()).then_some(PathElement::Key(pairs))
            }
            ListType::Set => {
                let value = node.value_text()?;
                Some(PathElement::Value(value.to_owned()))
            }
            ListType::Atomic | ListType::KeyedStrings(_) | ListType::Functions => None,
        }
    }

    fn name(&self) -> Option<String> {
        let node = self.node.resolved();
        let keys = match self.list {
            ListType::Map(keys) => Some(keys),
            ListType::Atomic | ListType::Set | ListType::KeyedStrings(_) | ListType::Functions => {
                None
            }
        };
        let only = keys.and_then(|keys| keys.only());
        if let Some(key) = only.and_then(|key| node.get(key)?.value_text()) {
            return Some(key.to_owned());
        }
        let named = names_of(node).find_map(|(_, name)| name.as_str());
        if let Some(name) = named.or(node.value_text()) {
            return Some(name.to_owned());
        }
        // `80/TCP`
        let texts = keys?.names().filter_map(|key| node.get(key)?.value_text());
        let texts: Vec<_> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("/"))
    }
}
