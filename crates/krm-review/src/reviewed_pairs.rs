//! What reviews found in pairs of resources, for the next review in which the same pairs occur.
//!
//! Releases of a package are reviewed against the same package, one after the other, and most of their resources are the
//! same in several of them.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Mutex, PoisonError};

use super::ReviewFinding;
use super::change::ResourceChange;

/// What reviews without authors found in the fields of pairs of resources. Reviews that share it have schemas that differ
/// at most in types that packages define.
#[derive(Debug, Default)]
pub struct ReviewedPairs {
    key: RandomState,
    found: Mutex<HashMap<PairKey, PairFindings>>,
}

/// The texts of a pair, hashed with a key of the run, and what else the findings depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PairKey {
    hash: u64,
    lengths: [usize; 2],
    object_remains: bool,
    has_schema: bool,
}

/// The findings about a pair, and the number of its other changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct PairFindings {
    pub(crate) findings: Vec<ReviewFinding>,
    pub(crate) routine: usize,
}

impl ReviewedPairs {
    /// The key of a pair. `None` if its findings depend on more than its texts.
    pub(crate) fn key(
        &self,
        pair: &ResourceChange<'_>,
        object_remains: bool,
        has_schema: bool,
    ) -> Option<PairKey> {
        let nodes = [pair.before.as_ref()?.node, pair.after.as_ref()?.node];
        // The aliases of an element of a list may have their anchors elsewhere.
        let is_whole = nodes.iter().all(|node| node.parent().is_none());
        if pair.upstream.is_some() || !is_whole {
            return None;
        }
        let texts = nodes.map(|node| node.source());
        let mut hasher = self.key.build_hasher();
        for text in texts {
            hasher.write(text.as_bytes());
        }
        Some(PairKey {
            hash: hasher.finish(),
            lengths: texts.map(str::len),
            object_remains,
            has_schema,
        })
    }

    pub(crate) fn get(&self, key: &PairKey) -> Option<PairFindings> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(key).cloned()
    }

    pub(crate) fn insert(&self, key: PairKey, findings: PairFindings) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert(key, findings);
    }
}
