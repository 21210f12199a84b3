//! Comments after values in an entry or element that upstream replaced: they follow the value, as a merge of lines would
//! have it.
//!
//! ```yaml
//! # base                  # local                       # upstream         # merged
//! patchesJson6902:        patchesJson6902:              patches:           patches:
//! - path: patch.yaml      - path: patch.yaml # ours     - path: patch.yaml - path: patch.yaml # ours
//! ```

use std::collections::{HashMap, HashSet};

use super::lines::{KeyedOwner, owners};
use crate::leaves::hash;
use krm_core::diff::kept;
use krm_yaml::{Editor, GapOwner, GapWalk, NodeRef, ValueComments};

/// What marks a comment that sets the value before it.
const SETTER: &str = "kpt-set:";

/// A comment of local without its entry or element.
#[derive(Debug)]
pub(super) struct LeftComment {
    /// The key of the entry or element that local has it at.
    local: u64,
    /// The key of the one that upstream has in its place.
    upstream: u64,
    comments: ValueComments<'static>,
    /// How many values of local have these comments.
    count: usize,
}

/// The comments that local added after values of which upstream has a version in another place.
pub(super) fn comments(
    base: Option<NodeRef<'_>>,
    local: NodeRef<'_>,
    upstream: NodeRef<'_>,
    edits: &Editor<'_, '_>,
) -> Vec<LeftComment> {
    let Some(base) = base.filter(|base| !edits.keeps_lines_alone() && has_more(local, *base))
    else {
        return Vec::new();
    };
    // One walk at a time: a large document has a walk that is larger than its text.
    let Some(mut own) = LineOwners::of_document(local).map(|local| local.comments()) else {
        return Vec::new();
    };
    let counts = counts(own.iter().map(|(_, comments)| comments.clone()));
    for (version, is_in_it) in [(upstream, false), (base, true)] {
        if own.is_empty() {
            break;
        }
        let Some(keys) = LineOwners::of_document(version).map(|owners| owners.among(&own)) else {
            return Vec::new();
        };
        own.retain(|(key, _)| keys.contains(key) == is_in_it);
    }
    if own.is_empty() {
        return Vec::new();
    }
    let [Some(base), Some(upstream)] = [base, upstream].map(LineOwners::of_document) else {
        return Vec::new();
    };
    let (in_base, replaced) = (base.positions(), in_place(&base, &upstream));
    let place = |(local, comments): (u64, ValueComments<'static>)| {
        let old = in_base.get(&local)?;
        let new = replaced.get(old)?;
        let was = ValueComments::of(base.all[*old].value());
        let has_none = ValueComments::of(upstream.all[*new].value()) == was;
        (has_none && comments != was).then(|| LeftComment {
            local,
            upstream: upstream.keyed[*new].key,
            count: counts.get(&comments).copied().unwrap_or_default(),
            comments,
        })
    };
    own.into_iter().filter_map(place).collect()
}

/// Whether a version has comments that another does not have.
fn has_more(one: NodeRef<'_>, other: NodeRef<'_>) -> bool {
    let range = |root: NodeRef<'_>| root.own_range().unwrap_or_else(|| root.range());
    let mut first = one.document.comments_within(range(one)).peekable();
    if first.peek().is_none() {
        return false;
    }
    let known = other.document.comments_within(range(other));
    let known: HashSet<&str> = known.collect();
    first.any(|comment| !known.contains(comment))
}

/// How often each value's comments occur.
fn counts<'a>(
    comments: impl Iterator<Item = ValueComments<'a>>,
) -> HashMap<ValueComments<'a>, usize> {
    let mut counts = HashMap::new();
    for comments in comments.filter(|comments| !comments.is_empty()) {
        *counts.entry(comments).or_default() += 1;
    }
    counts
}

/// Puts the comments where the merged text has what upstream has in place of their entry or element. Those that the
/// merged text has as often as local came along with their values. Returns whether there are any.
pub(super) fn bring<'d>(
    left: &[LeftComment],
    merged: NodeRef<'d>,
    editor: &mut Editor<'d, '_>,
) -> bool {
    if left.is_empty() {
        return false;
    }
    let Some(merged) = LineOwners::of_document(merged) else {
        return false;
    };
    let positions = merged.positions();
    let values = merged.all.iter();
    let mut counts = counts(values.map(|owner| ValueComments::of(owner.value())));
    let mut is_changed = false;
    for comment in left {
        let stays = positions.contains_key(&comment.local);
        let Some(at) = positions.get(&comment.upstream).filter(|_| !stays) else {
            continue;
        };
        let owner = &merged.all[*at];
        let count = counts.entry(comment.comments.clone()).or_default();
        if *count < comment.count && ValueComments::of(owner.value()).is_empty() {
            *count += 1;
            editor.set_value_comments(owner.owner, comment.comments.clone());
            is_changed = true;
        }
    }
    is_changed
}

/// The entries and items of a version.
struct LineOwners<'a> {
    all: Vec<GapOwner<'a>>,
    keyed: Vec<KeyedOwner>,
}

impl<'a> LineOwners<'a> {
    /// `None` if the document has lines that are neither entries, items nor gaps.
    fn of_document(root: NodeRef<'a>) -> Option<Self> {
        let all = GapWalk::of(root)?.owners;
        let keyed = owners(&all);
        Some(Self { all, keyed })
    }

    /// The comments after values, by the key of their entry or item. A setter would overwrite another value later.
    fn comments(&self) -> Vec<(u64, ValueComments<'static>)> {
        let all = self.all.iter().zip(&self.keyed);
        let all = all.map(|(owner, keyed)| (keyed.key, ValueComments::of(owner.value())));
        let all = all.filter(|(_, found)| !found.is_empty() && !found.contains(SETTER));
        all.map(|(key, found)| (key, found.into_owned())).collect()
    }

    /// The keys of these comments that are here.
    fn among(&self, comments: &[(u64, ValueComments<'_>)]) -> HashSet<u64> {
        let keys: HashSet<u64> = comments.iter().map(|(key, _)| *key).collect();
        let here = self.keyed.iter().map(|owner| owner.key);
        here.filter(|key| keys.contains(key)).collect()
    }

    /// The position of each key.
    fn positions(&self) -> HashMap<u64, usize> {
        let keys = self.keyed.iter().enumerate();
        keys.map(|(at, owner)| (owner.key, at)).collect()
    }

    /// The lines of each entry and item.
    fn lines(&self) -> Vec<u64> {
        let owners = self.all.iter().zip(&self.keyed);
        let line = |(owner, keyed): (&GapOwner<'_>, &KeyedOwner)| {
            hash(&(keyed.kind, owner.value().scalar_text()))
        };
        owners.map(line).collect()
    }
}

/// For each entry or item of base, the position of the one that upstream has in its place: the same lines, in order.
fn in_place(base: &LineOwners<'_>, upstream: &LineOwners<'_>) -> HashMap<usize, usize> {
    kept(&base.lines(), &upstream.lines()).into_iter().collect()
}
