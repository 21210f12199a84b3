//! Finds what an overlay cannot express: comments outside of patches, and the order of keys.

use std::collections::{HashMap, HashSet};

use krm_core::upstream_identifier::MERGE_COMMENT;
use krm_merge::MergeSchema;
use krm_merge::compare::pair_entries;
use krm_yaml::{NodeRef, OwnedDocument};

/// The comments of a text. Empty if it is not YAML.
pub(super) fn comments(text: &str) -> Vec<String> {
    let Ok(document) = OwnedDocument::parse_resource(text.to_owned()) else {
        return Vec::new();
    };
    let document = document.document();
    let all = document.comments_within(0..document.text.len());
    all.map(|comment| comment.trim().to_owned()).collect()
}

/// The comments in the fork's text that are neither in upstream's text nor in a patch. kpt's identity comments do not
/// count, because they are not edits.
pub(super) fn omitted_comments(
    fork: &str,
    upstream: &str,
    patches: &HashSet<String>,
) -> Vec<String> {
    let mut known: HashMap<String, usize> = HashMap::new();
    for comment in comments(upstream) {
        *known.entry(comment).or_default() += 1;
    }
    let mut omitted = comments(fork);
    omitted.retain(|comment| !comment.contains(MERGE_COMMENT));
    omitted.retain(|comment| match known.get_mut(comment) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => !patches.contains(comment),
    });
    omitted
}

/// Whether keys that two versions of a resource have are in a different order.
pub(super) fn is_reordered(versions: [NodeRef<'_>; 2], schema: MergeSchema<'_>) -> bool {
    let [old, new] = versions.map(|node| node.resolved());
    // Keys of equal texts have the same order, but for aliases.
    if old.source() == new.source() && !old.source().contains('*') {
        return false;
    }
    let mut last = None;
    let fields = pair_entries([Some(old), Some(new)]);
    let mut both = fields.into_iter().filter_map(|(name, sides)| {
        let [Some(old), Some(new)] = sides else {
            return None;
        };
        Some((name, [old, new]))
    });
    let is_moved = both.any(|(name, sides)| {
        // Nodes are numbered in the order of the text.
        last.replace(sides[0].id) > Some(sides[0].id) || is_reordered(sides, schema.field(name))
    });
    let items = [old, new].map(|list| list.items().collect::<Vec<_>>());
    let mut pairs = schema.pairs(old, new).into_iter();
    is_moved || pairs.any(|(at, now)| is_reordered([items[0][at], items[1][now]], schema.items()))
}
