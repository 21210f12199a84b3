//! What `krmv blame` follows through the states of a package, and the parsed files that it keeps meanwhile.

use std::collections::HashMap;
use std::rc::Rc;

use krm_yaml::OwnedDocument;

use super::package::ResourcePlace;

/// Where a field got its value: the index of the state that set it, and the field's key there.
pub(super) struct FieldOrigin {
    pub(super) at: usize,
    pub(super) key: String,
}

/// A resource that is followed through states.
pub(super) struct FollowedResource {
    /// Its place in each state, as far as it is known.
    pub(super) trail: Vec<Option<ResourcePlace>>,
    /// Where its fields come from, as far back as they were followed.
    pub(super) origins: Vec<FieldOrigin>,
}

impl FollowedResource {
    /// A resource of the first of so many states, with the keys of its fields.
    pub(super) fn new(start: ResourcePlace, keys: Vec<String>, states: usize) -> Self {
        let mut trail = vec![None; states];
        if let Some(first) = trail.first_mut() {
            *first = Some(start);
        }
        let origins = keys.into_iter().map(|key| FieldOrigin { at: 0, key });
        Self {
            trail,
            origins: origins.collect(),
        }
    }

    /// Whether one of its fields may come from before a state.
    pub(super) fn is_open(&self, at: usize) -> bool {
        self.origins.iter().any(|origin| origin.at >= at)
    }
}

/// The files that were parsed, by the IDs of their contents. All states of a large file, parsed, would not fit into
/// memory: a file that the next comparison does not need is dropped.
#[derive(Default)]
pub(super) struct ParsedFiles {
    files: HashMap<String, (usize, Option<Rc<OwnedDocument>>)>,
    comparison: usize,
}

impl ParsedFiles {
    pub(super) fn get(&mut self, id: &str) -> Option<Option<Rc<OwnedDocument>>> {
        let (used, document) = self.files.get_mut(id)?;
        *used = self.comparison;
        Some(document.clone())
    }

    pub(super) fn insert(&mut self, id: &str, document: Option<Rc<OwnedDocument>>) {
        self.files
            .insert(id.to_owned(), (self.comparison, document));
    }

    /// Begins the next comparison: the files of the last one are kept.
    pub(super) fn next(&mut self) {
        let last = self.comparison;
        self.files.retain(|_, (used, _)| *used == last);
        self.comparison += 1;
    }
}
