//! The resources that a cluster gets from a package. Lists are split into their elements. Kptfiles, kustomizations and
//! local config are left out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::walk::given;
use crate::resource::{Resource, is_local_config};
use crate::resource_list::{ItemId, ResourceList};
use crate::scope::Scopes;
use crate::yaml::NodeRef;

/// A resource that a cluster gets.
#[derive(Clone)]
pub(super) struct ClusterObject<'l> {
    pub(super) resource: Cow<'l, Resource>,
    pub(super) node: NodeRef<'l>,
}

/// The identity of an object in a cluster: group, kind, namespace and name, without the version.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ObjectKey {
    pub(super) group: String,
    pub(super) kind: Arc<str>,
    pub(super) namespace: Option<Arc<str>>,
    pub(super) name: Arc<str>,
}

impl ObjectKey {
    /// `None` for a resource without a name, which the API server rejects.
    pub(super) fn of(resource: &Resource) -> Option<Self> {
        let group = resource.group();
        let is_global = Scopes::default().is_cluster_scoped(group, &resource.kind);
        let namespace = resource.namespace.clone();
        Some(Self {
            group: group.to_owned(),
            kind: resource.kind.clone(),
            namespace: namespace.filter(|namespace| !is_global && !namespace.is_empty()),
            name: resource.name.clone()?,
        })
    }

    /// `group/Kind`, as the table has it.
    pub(super) fn group_kind(&self) -> String {
        group_kind(&self.group, &self.kind)
    }
}

/// Whether two namespaces may be the same. An object without a namespace gets the one that the package is applied to.
pub(super) fn may_be_one(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

pub(super) fn group_kind(group: &str, kind: &str) -> String {
    match group {
        "" => kind.to_owned(),
        group => format!("{group}/{kind}"),
    }
}

/// Whether a resource is only for tools such as kpt and kustomize.
fn is_for_tools(resource: &Resource) -> bool {
    matches!(
        resource.group(),
        "kpt.dev" | "kustomize.config.k8s.io" | "fn.kpt.dev" | "config.kubernetes.io"
    )
}

/// Whether a resource is a list of others.
pub(super) fn is_list(resource: &Resource) -> bool {
    resource.kind.ends_with("List")
}

/// The resources of an item: the elements of a list, otherwise the item itself.
pub(super) fn units(list: &ResourceList, id: ItemId) -> Vec<ClusterObject<'_>> {
    let resource = list.resource(id);
    if is_for_tools(resource) {
        return Vec::new();
    }
    let node = list.node(id).resolved();
    if is_local_config(node) {
        return Vec::new();
    }
    let elements = given(node.get("items")).filter(|items| items.kind().is_sequence());
    if let Some(elements) = elements.filter(|_| is_list(resource)) {
        return elements
            .items()
            .map(|item| of_list(resource, item.resolved()))
            .collect();
    }
    vec![ClusterObject {
        resource: Cow::Borrowed(resource),
        node,
    }]
}

/// An element of a list. In a list of one kind, such as a `ConfigMapList`, it may leave out its version and kind.
fn of_list<'l>(list: &Resource, node: NodeRef<'l>) -> ClusterObject<'l> {
    let mut resource = Resource::read(node);
    if resource.api_version.is_empty() {
        resource.api_version = list.api_version.clone();
    }
    if resource.kind.is_empty() {
        let kind = list.kind.strip_suffix("List").unwrap_or(&list.kind);
        resource.kind = Arc::from(kind);
    }
    resource.origin = list.origin.clone();
    ClusterObject {
        resource: Cow::Owned(resource),
        node,
    }
}

/// The objects that a cluster gets from a package.
pub(super) struct Objects<'l> {
    pub(super) list: &'l ResourceList,
    keys: HashSet<ObjectKey>,
}

impl<'l> Objects<'l> {
    pub(super) fn of(list: &'l ResourceList) -> Self {
        let mut keys = HashSet::new();
        for (id, resource) in list.items() {
            if is_list(resource) {
                let units = units(list, id);
                keys.extend(
                    units
                        .iter()
                        .filter_map(|unit| ObjectKey::of(&unit.resource)),
                );
            } else {
                keys.extend(ObjectKey::of(resource));
            }
        }
        Self { list, keys }
    }

    pub(super) fn has(&self, key: &ObjectKey) -> bool {
        self.keys.contains(key)
    }

    /// The objects that are in this package and not in the other one, sorted.
    pub(super) fn without(&self, other: &Self) -> Vec<&ObjectKey> {
        let keys = self.keys.iter();
        let mut keys: Vec<&ObjectKey> = keys.filter(|key| !other.has(key)).collect();
        keys.sort();
        keys
    }

    /// The resources of the kinds, `group/Kind`, that a function accepts.
    pub(super) fn of_kinds(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<ClusterObject<'l>> {
        let wanted = self.list.items().filter(|(_, resource)| {
            is_list(resource) || is_wanted(&group_kind(resource.group(), &resource.kind))
        });
        let units = wanted.flat_map(|(id, _)| units(self.list, id));
        let is_wanted = |unit: &ClusterObject<'_>| {
            is_wanted(&group_kind(unit.resource.group(), &unit.resource.kind))
        };
        units.filter(is_wanted).collect()
    }

    /// The resources that may contain one of these words. The others need not be parsed.
    pub(super) fn that_may_contain(&self, words: &[&str]) -> Vec<ClusterObject<'l>> {
        let items = self.list.items_that_may_contain(words);
        items.flat_map(|(id, _)| units(self.list, id)).collect()
    }

    /// Whether the package has an object of the same kind and name, in a namespace that may be the same.
    pub(super) fn has_like(&self, key: &ObjectKey) -> bool {
        let is_like = |other: &ObjectKey| {
            other.name == key.name
                && other.kind == key.kind
                && other.group == key.group
                && may_be_one(other.namespace.as_deref(), key.namespace.as_deref())
        };
        self.keys.iter().any(is_like)
    }
}
