//! The resources that a cluster gets from a package. Lists are split into their elements. Kptfiles, kustomizations and
//! local config are left out.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;

use super::walk::{items, text};
use super::{ReviewFinding, Risk};
use krm_core::resource::{LOCAL_CONFIG_ANNOTATION, Resource, is_local_config};
use krm_core::resource_key::ResourceKey;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::Reason;
use krm_yaml::{NodeId, NodeRef};

/// A resource that a cluster gets.
#[derive(Clone, Copy)]
pub(super) struct ClusterObject<'l> {
    pub(super) resource: &'l Resource,
    pub(super) node: NodeRef<'l>,
}

/// Which object of a cluster a resource is. `None` for a resource without a name: the API server rejects it, or generates
/// a name that nothing refers to.
pub(super) fn object_key(resource: &Resource) -> Option<ResourceKey> {
    let key = ResourceKey::in_cluster(resource);
    key.name.name().is_some().then_some(key)
}

/// Whether two namespaces may be the same. An object without a namespace gets the one that the package is applied to.
pub(super) fn may_be_one(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

impl<'l> ClusterObject<'l> {
    /// The resource of an item. `None` if no cluster gets it.
    pub(super) fn of(list: &'l ResourceList, id: ItemId) -> Option<Self> {
        let resource = list.resource(id);
        if resource.is_for_tools() {
            return None;
        }
        let node = list.node(id).resolved();
        (!is_local_config(node)).then_some(Self { resource, node })
    }

    /// A finding about the object.
    pub(super) fn finding(
        &self,
        risk: Risk,
        reason: Reason,
        message: impl Into<String>,
    ) -> ReviewFinding {
        ReviewFinding::new(risk, reason, self.resource, message)
    }
}

/// The resources that a cluster gets. Parses only the items that may be local config.
pub(super) fn applied(list: &ResourceList) -> impl Iterator<Item = &Resource> {
    let unclear = list.items_that_may_contain(&[LOCAL_CONFIG_ANNOTATION]);
    let unclear: HashSet<ItemId> = unclear.map(|(id, _)| id).collect();
    let items = list.items().filter(move |(id, resource)| {
        if unclear.contains(id) {
            ClusterObject::of(list, *id).is_some()
        } else {
            !resource.is_for_tools()
        }
    });
    items.map(|(_, resource)| resource)
}

/// The package with its lists replaced by their elements. `None` if it has no lists.
pub(super) fn without_lists(list: &ResourceList) -> Option<ResourceList> {
    let has_lists = list.items().any(|(_, resource)| resource.is_list());
    has_lists.then(|| {
        let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
        let mut copies = list.copies_of(&ids);
        let Ok(()) = copies.unfold(|node, list| Ok::<_, Infallible>(elements(node, list)));
        copies
    })
}

/// The elements of a list that a cluster gets.
fn elements(node: NodeRef<'_>, list: &Resource) -> Option<Vec<(NodeId, Resource)>> {
    let elements = list.elements(node).filter(|_| !is_local_config(node))?;
    let elements = elements.into_iter();
    Some(
        elements
            .map(|(node, resource)| (node.id, resource))
            .collect(),
    )
}

/// The objects that a cluster gets from a package.
pub(super) struct Objects<'l> {
    pub(super) list: &'l ResourceList,
    keys: HashSet<ResourceKey>,
    /// The namespaces of the objects with a group, kind and name.
    namespaces: OnceCell<NamespacesByName>,
    /// The names that the generators of kustomizations have, by the field.
    generated: OnceCell<HashSet<(&'static str, String)>>,
}

/// The namespaces of the objects with a group, kind and name; `None` for an object without one.
type NamespacesByName = HashMap<ResourceKey, HashSet<Option<Arc<str>>>>;

/// The fields of a kustomization that generate resources, and the kinds of these.
const GENERATORS: [(&str, &str); 2] = [
    ("ConfigMap", "configMapGenerator"),
    ("Secret", "secretGenerator"),
];

impl<'l> Objects<'l> {
    pub(super) fn of(list: &'l ResourceList) -> Self {
        let keys = applied(list).filter_map(object_key).collect();
        Self {
            list,
            keys,
            namespaces: OnceCell::new(),
            generated: OnceCell::new(),
        }
    }

    pub(super) fn has(&self, key: &ResourceKey) -> bool {
        self.keys.contains(key)
    }

    /// The objects that are in this package and not in the other one, sorted.
    pub(super) fn without(&self, other: &Self) -> Vec<&ResourceKey> {
        let keys = self.keys.iter();
        let mut keys: Vec<&ResourceKey> = keys.filter(|key| !other.has(key)).collect();
        keys.sort();
        keys
    }

    /// The resources of the kinds, `group/Kind`, that a function accepts.
    pub(super) fn of_kinds(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<ClusterObject<'l>> {
        let wanted = self
            .list
            .items()
            .filter(|(_, resource)| is_wanted(&ResourceKey::of(resource).group_kind()));
        let wanted = wanted.filter_map(|(id, _)| ClusterObject::of(self.list, id));
        wanted.collect()
    }

    /// The resources that may contain one of these words. The others need not be parsed.
    pub(super) fn that_may_contain(&self, words: &[&str]) -> Vec<ClusterObject<'l>> {
        let items = self.list.items_that_may_contain(words);
        items
            .filter_map(|(id, _)| ClusterObject::of(self.list, id))
            .collect()
    }

    /// Whether the package has an object of the same kind and name, in a namespace that may be the same, or kustomize
    /// generates one.
    pub(super) fn has_like(&self, key: &ResourceKey) -> bool {
        let namespaces = self.namespaces.get_or_init(|| self.namespaces());
        let is_like = namespaces
            .get(&key.in_any_namespace())
            .is_some_and(|namespaces| {
                key.namespace.is_none()
                    || namespaces.contains(&None)
                    || namespaces.contains(&key.namespace)
            });
        is_like || self.generates(key)
    }

    fn namespaces(&self) -> NamespacesByName {
        let mut found = NamespacesByName::new();
        for key in &self.keys {
            let namespaces = found.entry(key.in_any_namespace()).or_default();
            namespaces.insert(key.namespace.clone());
        }
        found
    }

    /// Whether a kustomization generates an object.
    fn generates(&self, key: &ResourceKey) -> bool {
        let kind = key.group_kind();
        let mut generators = GENERATORS.into_iter();
        let Some((_, field)) = generators.find(|(generated, _)| *generated == kind) else {
            return false;
        };
        let generated = self.generated.get_or_init(|| self.generated());
        generated.contains(&(field, key.name.to_string()))
    }

    fn generated(&self) -> HashSet<(&'static str, String)> {
        let mut found = HashSet::new();
        for (_, field) in GENERATORS {
            for (id, _) in self.list.items_that_may_contain(&[field]) {
                let all = items(self.list.node(id).get(field));
                let names = all.filter_map(|one| Some((field, text(one.get("name"))?.to_owned())));
                found.extend(names);
            }
        }
        found
    }
}
