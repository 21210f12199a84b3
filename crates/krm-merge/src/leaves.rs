//! The leaves of a value, by which changed versions of it are recognised.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use krm_yaml::Value;

/// Hashes equal values alike in every run.
pub(crate) type FixedState = BuildHasherDefault<DefaultHasher>;

pub(crate) fn hash(value: &impl Hash) -> u64 {
    FixedState::default().hash_one(value)
}

/// Adds the leaves of a value, each as a hash of its path and value. Positions in lists do not count.
pub(crate) fn collect_leaves(
    value: &Value,
    path: u64,
    state: &impl BuildHasher,
    found: &mut impl Extend<u64>,
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
        leaf => found.extend([state.hash_one((path, leaf))]),
    }
}
