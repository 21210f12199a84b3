//! Which elements of two lists without keys are the same, or one that was changed.
//!
//! ```yaml
//! - --a=1      - --b=1     # the second
//! - --b=1      - --a=2     # the first, changed
//! ```

use std::collections::HashMap;
use std::hash::RandomState;

use super::child::Siblings;
use crate::merge::trail::NAMES;
use crate::yaml::{Fingerprints, NodeRef};

/// A version of a value, with fingerprints of all its parts.
pub(super) struct Printed<'a> {
    pub(super) node: NodeRef<'a>,
    prints: Fingerprints,
}

impl<'a> Printed<'a> {
    pub(super) fn of(node: NodeRef<'a>, state: &RandomState) -> Self {
        let prints = Fingerprints::of(node, state);
        Self { node, prints }
    }

    pub(super) fn print(&self, node: NodeRef<'a>) -> Option<u64> {
        self.prints.get(node)
    }
}

/// For each element of `theirs`, that of `ours` which has its value or became it.
pub(super) fn align<'a, 'b>(
    ours: (&Printed<'a>, &Siblings<'a>),
    theirs: (&Printed<'b>, &Siblings<'b>),
) -> Vec<Option<usize>> {
    let mut pairs = Pairs {
        of_theirs: vec![None; theirs.1.len()],
        taken: vec![false; ours.1.len()],
    };
    pairs.by_value(ours, theirs);
    if pairs.are_open() {
        pairs.by_name(ours.1, theirs.1);
        pairs.by_place(ours, theirs);
    }
    pairs.of_theirs
}

struct Pairs {
    of_theirs: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Pairs {
    fn are_open(&self) -> bool {
        self.taken.contains(&false) && self.of_theirs.contains(&None)
    }

    fn pair(&mut self, ours: usize, theirs: usize) {
        self.of_theirs[theirs] = Some(ours);
        self.taken[ours] = true;
    }

    /// Equal ones, first with first.
    fn by_value(
        &mut self,
        ours: (&Printed<'_>, &Siblings<'_>),
        theirs: (&Printed<'_>, &Siblings<'_>),
    ) {
        // The first of each print, and for each the next of its print.
        let mut first: HashMap<u64, usize> = HashMap::new();
        let mut next = vec![usize::MAX; ours.1.len()];
        for own in (0..ours.1.len()).rev().filter_map(|at| ours.1.get(at)) {
            if let Some(print) = ours.0.prints.get(own.value)
                && let Some(behind) = first.insert(print, own.index)
            {
                next[own.index] = behind;
            }
        }
        for their in theirs.1.iter() {
            let print = theirs.0.prints.get(their.value);
            let Some(first) = print.and_then(|print| first.get_mut(&print)) else {
                continue;
            };
            if let Some(own) = ours.1.get(*first)
                && own.value.equals(&their.value)
            {
                *first = next[own.index];
                self.pair(own.index, their.index);
            }
        }
    }

    /// Those that have a name which no other has.
    fn by_name(&mut self, ours: &Siblings<'_>, theirs: &Siblings<'_>) {
        type Name<'a> = (&'static str, &'a str);
        fn names<'a>(
            children: &Siblings<'a>,
            is_wanted: impl Fn(usize, &Name<'a>) -> bool,
        ) -> HashMap<Name<'a>, Option<usize>> {
            let mut found = HashMap::new();
            for child in children.iter() {
                let at = child.index;
                if let Some(name) = name_of(child.value).filter(|name| is_wanted(at, name)) {
                    // A name twice tells nothing.
                    let only = found.entry(name).or_insert(Some(at));
                    only.take_if(|only| *only != at);
                }
            }
            found
        }
        let ours = names(ours, |at, _| !self.taken[at]);
        let theirs = names(theirs, |at, name| {
            self.of_theirs[at].is_none() && ours.contains_key(name)
        });
        for (name, at) in theirs {
            if let (Some(Some(own)), Some(at)) = (ours.get(&name).copied(), at) {
                self.pair(own, at);
            }
        }
    }

    /// Collections between the same neighbours that have enough in common.
    fn by_place(
        &mut self,
        ours: (&Printed<'_>, &Siblings<'_>),
        theirs: (&Printed<'_>, &Siblings<'_>),
    ) {
        let count = self.of_theirs.len();
        for at in 0..count {
            let behind = match at.checked_sub(1) {
                Some(before) => self.of_theirs[before].map(|own| own + 1),
                None => Some(0),
            };
            self.try_pair(ours, theirs, behind, at);
        }
        for at in (0..count).rev() {
            let before = match self.of_theirs.get(at + 1) {
                Some(next) => next.and_then(|own| own.checked_sub(1)),
                None => self.taken.len().checked_sub(1),
            };
            self.try_pair(ours, theirs, before, at);
        }
    }

    fn try_pair(
        &mut self,
        ours: (&Printed<'_>, &Siblings<'_>),
        theirs: (&Printed<'_>, &Siblings<'_>),
        own: Option<usize>,
        at: usize,
    ) {
        let open = own.filter(|own| self.taken.get(*own) == Some(&false));
        let open = open.filter(|_| self.of_theirs[at].is_none());
        if let Some(own) = open.and_then(|own| ours.1.get(own))
            && let Some(their) = theirs.1.get(at)
            && is_alike((ours.0, own.value), (theirs.0, their.value))
        {
            self.pair(own.index, at);
        }
    }
}

/// What people know an element by: a field, or the part of a string in front of what changes.
fn name_of(node: NodeRef<'_>) -> Option<(&'static str, &str)> {
    if node.kind().is_mapping() {
        let named = |field: &'static str| Some((field, node.entry(field)?.value.scalar_text()?));
        return NAMES
            .into_iter()
            .chain(["key", "path", "host"])
            .find_map(named);
    }
    let text = node.as_str()?;
    let end = text.find(['=', ':', '@']).filter(|end| *end > 0)?;
    Some(("", &text[..=end]))
}

/// Whether one of two collections may have become the other: half of the parts are equal, or the
/// mappings have the same keys.
fn is_alike(ours: (&Printed<'_>, NodeRef<'_>), theirs: (&Printed<'_>, NodeRef<'_>)) -> bool {
    let (own, their) = (ours.1.kind(), theirs.1.kind());
    if own.is_mapping() && their.is_mapping() {
        let keys: HashMap<&str, Option<u64>> = ours
            .1
            .entries()
            .map(|entry| {
                (
                    entry.key.scalar_text().unwrap_or_default(),
                    ours.0.prints.get(entry.value),
                )
            })
            .collect();
        let mut count = 0;
        let (mut common, mut equal) = (0, 0);
        for entry in theirs.1.entries() {
            count += 1;
            if let Some(print) = keys.get(entry.key.scalar_text().unwrap_or_default()) {
                common += 1;
                equal += usize::from(*print == theirs.0.prints.get(entry.value));
            }
        }
        let most = count.max(keys.len());
        return common == most || 2 * equal >= most;
    }
    if own.is_sequence() && their.is_sequence() {
        let prints = ours.1.items().filter_map(|item| ours.0.prints.get(item));
        let prints: std::collections::HashSet<u64> = prints.collect();
        let equal = theirs
            .1
            .items()
            .filter_map(|item| theirs.0.prints.get(item));
        return equal.filter(|print| prints.contains(print)).count() * 2 >= prints.len().max(1);
    }
    false
}
