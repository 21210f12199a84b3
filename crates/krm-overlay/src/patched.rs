//! The resources that patches change, found by what a patch names.

use std::collections::{BTreeSet, HashMap};

use super::built::BuiltObject;
use krm_core::resource_key::ResourceKey;

/// The resources of a build while its patches are applied. A removed resource keeps its position.
#[derive(Default)]
pub(super) struct PatchedObjects<'p> {
    objects: Vec<Option<BuiltObject<'p>>>,
    by_id: HashMap<ResourceKey, BTreeSet<usize>>,
    by_name: HashMap<String, BTreeSet<usize>>,
}

impl<'p> PatchedObjects<'p> {
    pub(super) fn of(objects: Vec<BuiltObject<'p>>) -> Self {
        let mut made = Self::default();
        for object in objects {
            let at = made.objects.len();
            made.index(at, &object.id());
            made.objects.push(Some(object));
        }
        made
    }

    /// The resources that were not removed.
    pub(super) fn into_objects(self) -> Vec<BuiltObject<'p>> {
        self.objects.into_iter().flatten().collect()
    }

    /// The resource at a position; `None` if it was removed.
    pub(super) fn get(&self, at: usize) -> Option<&BuiltObject<'p>> {
        self.objects.get(at)?.as_ref()
    }

    /// The positions of the resources with an ID, in order.
    pub(super) fn with_id(&self, id: &ResourceKey) -> Vec<usize> {
        let found = self.by_id.get(id).into_iter().flatten();
        found.copied().collect()
    }

    /// The positions of the resources with a name, in order.
    pub(super) fn with_name(&self, name: &str) -> Vec<usize> {
        let found = self.by_name.get(name).into_iter().flatten();
        found.copied().collect()
    }

    /// The positions of all resources.
    pub(super) fn all(&self) -> Vec<usize> {
        let all = 0..self.objects.len();
        all.filter(|at| self.objects[*at].is_some()).collect()
    }

    /// Replaces or removes a resource. Returns the one before.
    pub(super) fn set(
        &mut self,
        at: usize,
        object: Option<BuiltObject<'p>>,
    ) -> Option<BuiltObject<'p>> {
        let (old, new) = (
            self.get(at).map(BuiltObject::id),
            object.as_ref().map(BuiltObject::id),
        );
        if old != new {
            if let Some(id) = old {
                if let Some(places) = self.by_name.get_mut(id.name.text()) {
                    places.remove(&at);
                }
                if let Some(places) = self.by_id.get_mut(&id) {
                    places.remove(&at);
                }
            }
            if let Some(id) = &new {
                self.index(at, id);
            }
        }
        std::mem::replace(self.objects.get_mut(at)?, object)
    }

    fn index(&mut self, at: usize, id: &ResourceKey) {
        let names = self.by_name.entry(id.name.text().to_owned());
        names.or_default().insert(at);
        self.by_id.entry(id.clone()).or_default().insert(at);
    }
}
