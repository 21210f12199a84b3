//! The leaves of a value, by which changed versions of it are recognised.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use krm_yaml::Value;

/// Adds the leaves of a value, each as a hash of its path and value. Positions in lists do not count.
pub(super) fn collect_leaves(
    value: &Value,
    path: u64,
    state: &RandomState,
    found: &mut HashSet<u64>,
) {
    match value {
        Value::Mapping(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                let path = state.hash_one((path, key));
                collect_leaves(value, path, state, found);
            }
        }
        Value::Sequence(items) if !items.is_empty() => {
            let path = state.hash_one(path);
            for item in items {
                collect_leaves(item, path, state, found);
            }
        }
        leaf => {
            found.insert(state.hash_one((path, leaf)));
        }
    }
}
