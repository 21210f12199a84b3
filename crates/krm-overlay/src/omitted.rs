//! Finds what an overlay cannot express: comments outside of patches, and the order of keys.

use std::collections::{HashMap, HashSet};

use super::built::BuiltObject;
use krm_core::upstream_identifier::MERGE_COMMENT;
use krm_yaml::{OwnedDocument, Value};

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

/// Whether keys that both resources have are in a different order.
pub(super) fn is_reordered(old: &BuiltObject<'_>, new: &BuiltObject<'_>) -> bool {
    differs(&old.value, &new.value)
}

fn differs(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Mapping(old), Value::Mapping(new)) => {
            let places: HashMap<String, usize> = old
                .iter()
                .enumerate()
                .map(|(at, (key, _))| (key.plain_text(), at))
                .collect();
            let both = new
                .iter()
                .filter_map(|(key, value)| Some((*places.get(&key.plain_text())?, value)));
            let both: Vec<(usize, &Value)> = both.collect();
            !both.is_sorted_by_key(|(at, _)| *at)
                || both.iter().any(|(at, value)| differs(&old[*at].1, value))
        }
        (Value::Sequence(old), Value::Sequence(new)) if old.len() == new.len() => {
            old.iter().zip(new).any(|(old, new)| differs(old, new))
        }
        _ => false,
    }
}
