//! Which elements of two versions of a list are the same: the one answer of merges, reviews, `krmv blame` and the counts of
//! edits.
//!
//! ```
//! use krm_core::schema::ListType;
//! use krm_merge::compare::pair_elements;
//! use krm_yaml::OwnedDocument;
//!
//! let before = OwnedDocument::parse_resource("[{id: api, tag: 1}, {id: web, tag: 1}]".to_owned())?;
//! let after = OwnedDocument::parse_resource("[{id: web, tag: 2}, {id: api, tag: 2}]".to_owned())?;
//! let [before, after] = [&before, &after].map(|list| list.root().ok_or("empty"));
//! assert_eq!(pair_elements(ListType::Atomic, before?, after?), [(0, 1), (1, 0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: contract, Which element is which.

use std::collections::HashMap;

use krm_core::schema::{Identity, ListType};
use krm_yaml::interner;
use krm_yaml::{NodeRef, Value};

use crate::MergeSchema;
use crate::kustomization::{self, NamedElement};

pub(crate) use crate::fields::parts::list::pair_values;

/// The positions of the elements that are the same, sorted by the first: by the keys of the list if it has any, otherwise
/// as a merge pairs the elements of lists without keys. Of several elements with one key, the first are paired.
pub fn pair_elements(
    list: ListType<'_>,
    before: NodeRef<'_>,
    after: NodeRef<'_>,
) -> Vec<(usize, usize)> {
    if matches!(list, ListType::Atomic | ListType::Functions) {
        let values = |node: NodeRef<'_>| -> Option<Vec<Value>> {
            node.items().map(|item| item.value()).collect()
        };
        return match (values(before), values(after)) {
            (Some(before), Some(after)) => pair_values(&before, &after),
            _ => Vec::new(),
        };
    }
    let [old, new] = [before, after].map(|node| {
        let items = node.items().map(|item| list.identity(item.resolved()));
        items.collect::<Vec<Option<Identity<'_>>>>()
    });
    let found = interner::matches(old, new).into_iter().enumerate();
    let mut pairs: Vec<(usize, usize)> = found.filter_map(|(new, old)| Some((old?, new))).collect();
    pairs.sort_unstable();
    pairs
}

/// A part before and after; `None` where a version does not have it.
pub type PartPair<T> = [Option<T>; 2];

/// The values of two versions of a mapping by their names: in the order of the second version, then those that only the
/// first one has.
pub fn pair_entries<'n>(
    [before, after]: PartPair<NodeRef<'n>>,
) -> Vec<(&'n str, PartPair<NodeRef<'n>>)> {
    let entries = |node: Option<NodeRef<'n>>| {
        let entries = node.into_iter().flat_map(|node| node.entries());
        entries.map(|entry| (entry.key.field_name(), entry.value))
    };
    let mut others: HashMap<&str, NodeRef<'n>> = entries(before).collect();
    let mut pairs: Vec<_> = entries(after)
        .map(|(name, value)| (name, [others.remove(name), Some(value)]))
        .collect();
    let removed = |(name, _)| Some((name, [Some(others.remove(name)?), None]));
    pairs.extend(entries(before).filter_map(removed));
    pairs
}

/// The positions of all elements of two versions of a list, given the pairs of the same elements: in the order of the second
/// version, then those that only the first one has.
pub fn in_new_order(same: &[(usize, usize)], counts: [usize; 2]) -> Vec<PartPair<usize>> {
    let mut pairs: Vec<PartPair<usize>> = (0..counts[1]).map(|new| [None, Some(new)]).collect();
    let mut is_alone = vec![true; counts[0]];
    for (old, new) in same {
        pairs[*new][0] = Some(*old);
        is_alone[*old] = false;
    }
    let removed = (0..counts[0]).filter(|old| is_alone[*old]);
    pairs.extend(removed.map(|old| [Some(old), None]));
    pairs
}

impl MergeSchema<'_> {
    /// The positions of the elements of a list that are the same in another version, sorted by the first. In a
    /// kustomization, more than one rule can name an element.
    pub fn pairs(&self, before: NodeRef<'_>, after: NodeRef<'_>) -> Vec<(usize, usize)> {
        let named = self.kustomization_list().and_then(|list| {
            let read = |node: NodeRef<'_>| NamedElement::all(list, node.items());
            Some(kustomization::pair_versions(&read(before)?, &read(after)?))
        });
        named.unwrap_or_else(|| pair_elements(self.list(), before, after))
    }
}
