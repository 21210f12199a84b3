//! Finds which elements of two lists without keys are the same, or changed versions of each other.
//!
//! ```yaml
//! - --a=1      - --b=1     # the second
//! - --b=1      - --a=2     # the first, changed
//! ```

use std::collections::{HashMap, HashSet};

use super::child::{Child, Siblings, unique_by};
use crate::naming::names_of;
use krm_yaml::interner::matches;
use krm_yaml::{Fingerprints, NodeRef};

/// A list, with the fingerprints of everything in it.
type FingerprintedSiblings<'p, 'a> = (&'p Fingerprints, &'p Siblings<'a>);

/// For each element of `theirs`, the position of the element of `ours` that has the same value, or is another version
/// of it.
pub(super) fn align(
    ours: FingerprintedSiblings<'_, '_>,
    theirs: FingerprintedSiblings<'_, '_>,
) -> Vec<Option<usize>> {
    let of_theirs = equal(ours, theirs, |child| Some(child.value));
    let mut taken = vec![false; ours.1.len()];
    of_theirs
        .iter()
        .flatten()
        .for_each(|own| taken[*own] = true);
    let mut pairs = Pairs {
        ours,
        theirs,
        of_theirs,
        taken,
    };
    pairs.by_name();
    pairs.by_place();
    pairs.of_theirs
}

/// For each entry of `theirs`, the position of the entry of `ours` with the same key.
pub(super) fn equal_keys(
    ours: FingerprintedSiblings<'_, '_>,
    theirs: FingerprintedSiblings<'_, '_>,
) -> Vec<Option<usize>> {
    equal(ours, theirs, |child| Some(child.entry?.key))
}

/// For each child of `theirs`, the position of the child of `ours` with an equal `part`. Repeated parts are paired in
/// order.
fn equal(
    ours: FingerprintedSiblings<'_, '_>,
    theirs: FingerprintedSiblings<'_, '_>,
    part: for<'a> fn(Child<'a>) -> Option<NodeRef<'a>>,
) -> Vec<Option<usize>> {
    let prints = |(prints, children): FingerprintedSiblings<'_, '_>| -> Vec<Option<u64>> {
        let print = |child: Child<'_>| prints.get(part(child)?);
        children.iter().map(print).collect()
    };
    matches(prints(ours), prints(theirs))
}

struct Pairs<'p, 'a, 'b> {
    ours: FingerprintedSiblings<'p, 'a>,
    theirs: FingerprintedSiblings<'p, 'b>,
    of_theirs: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Pairs<'_, '_, '_> {
    fn pair(&mut self, ours: usize, theirs: usize) {
        self.of_theirs[theirs] = Some(ours);
        self.taken[ours] = true;
    }

    /// Pairs elements with the same name, if no other element has it.
    fn by_name(&mut self) {
        let (ours, theirs) = (self.ours.1.iter(), self.theirs.1.iter());
        let ours = unique_by(name_of, ours.filter(|own| !self.taken[own.index]));
        let theirs = theirs.filter(|their| self.of_theirs[their.index].is_none());
        for (name, at) in unique_by(name_of, theirs) {
            if let Some(own) = ours.get(&name) {
                self.pair(*own, at);
            }
        }
    }

    /// Pairs similar collections that come after, or before, the same neighbour.
    fn by_place(&mut self) {
        let count = self.of_theirs.len();
        for at in 0..count {
            let after = match at.checked_sub(1) {
                Some(before) => self.of_theirs[before].map(|own| own + 1),
                None => Some(0),
            };
            self.try_pair(after, at);
        }
        for at in (0..count).rev() {
            let before = match self.of_theirs.get(at + 1) {
                Some(next) => next.and_then(|own| own.checked_sub(1)),
                None => self.taken.len().checked_sub(1),
            };
            self.try_pair(before, at);
        }
    }

    fn try_pair(&mut self, own: Option<usize>, at: usize) {
        let open = own.filter(|own| self.taken.get(*own) == Some(&false));
        let open = open.filter(|_| self.of_theirs[at].is_none());
        if let Some(own) = open.and_then(|own| self.ours.1.get(own))
            && let Some(their) = self.theirs.1.get(at)
            && is_alike((self.ours.0, own.value), (self.theirs.0, their.value))
        {
            self.pair(own.index, at);
        }
    }
}

/// The name of an element: a field that identifies it, or the part of a string before the value.
fn name_of(child: Child<'_>) -> Option<(&'static str, &str)> {
    let node = child.value;
    if node.kind().is_mapping() {
        return names_of(node).find_map(|(field, name)| Some((field, name.value_text()?)));
    }
    let text = node.as_str()?;
    let end = text.find(['=', ':', '@']).filter(|end| *end > 0)?;
    Some(("", &text[..=end]))
}

/// Whether two collections may be versions of each other: half of the parts are equal, or the mappings have the same
/// keys.
fn is_alike(ours: (&Fingerprints, NodeRef<'_>), theirs: (&Fingerprints, NodeRef<'_>)) -> bool {
    fn entries<'a>((prints, node): (&Fingerprints, NodeRef<'a>)) -> HashMap<&'a str, Option<u64>> {
        let key = |key: NodeRef<'a>| key.key_text().unwrap_or_default();
        let entries = node.entries();
        entries
            .map(|entry| (key(entry.key), prints.get(entry.value)))
            .collect()
    }
    fn items((prints, node): (&Fingerprints, NodeRef<'_>)) -> HashSet<u64> {
        node.items().filter_map(|item| prints.get(item)).collect()
    }
    let (own, their) = (ours.1.kind(), theirs.1.kind());
    if own.is_mapping() && their.is_mapping() {
        let (ours, theirs) = (entries(ours), entries(theirs));
        let most = ours.len().max(theirs.len());
        let common = theirs.keys().filter(|key| ours.contains_key(*key)).count();
        let equal = theirs
            .iter()
            .filter(|(key, print)| ours.get(*key) == Some(print));
        return common == most || 2 * equal.count() >= most;
    }
    if own.is_sequence() && their.is_sequence() {
        let (ours, theirs) = (items(ours), items(theirs));
        return 2 * ours.intersection(&theirs).count() >= ours.len().max(1);
    }
    false
}
