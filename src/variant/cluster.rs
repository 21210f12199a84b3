//! The objects of a cluster that a fan-out reads: Repositories, PackageRevisions and the targets of selectors.
//!
//! Source: contract, expand-variant-set.

use std::collections::{BTreeSet, HashMap};

use super::expression::ObjectFields;
use super::text_map::TextMap;
use crate::resource::{Resource, namespace_of};
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason};
use crate::scope::{Scopes, is_definition};
use crate::yaml::NodeRef;

/// The `apiVersion` and `kind` of an object.
pub(crate) type TypeOf = (String, String);

/// `apiVersion` and `kind` of a Repository.
pub(crate) const REPOSITORY: (&str, &str) = ("config.porch.kpt.dev/v1alpha1", "Repository");
/// `apiVersion` and `kind` of a PackageRevision.
pub(crate) const PACKAGE_REVISION: (&str, &str) = ("porch.kpt.dev/v1alpha1", "PackageRevision");

/// The namespace key of objects of cluster-scoped kinds.
const ANY: &str = "";

/// An object that a set selects.
#[derive(Debug, Default)]
pub(crate) struct Object {
    /// The fields that expressions can read.
    pub(crate) fields: ObjectFields,
    /// The `spec` of a PackageRevision; `None` for other objects.
    pub(crate) revision: Option<Box<PackageRevisionSpec>>,
}

/// The fields that identify a PackageRevision; an absent field is empty.
#[derive(Debug, Default)]
pub(crate) struct PackageRevisionSpec {
    /// `spec.repository`.
    pub(crate) repository: String,
    /// `spec.packageName`.
    pub(crate) package: String,
    /// `spec.revision`, as text.
    pub(crate) revision: String,
    /// `spec.workspaceName`.
    pub(crate) workspace: String,
}

impl Object {
    /// The revision of a PackageRevision; empty for other objects.
    pub(crate) fn revision_name(&self) -> &str {
        let revision = self.revision.as_deref();
        revision.map_or("", |revision| revision.revision.as_str())
    }

    fn read(resource: &Resource, node: NodeRef<'_>) -> Self {
        let metadata = node.get("metadata");
        let map = |name: &str| -> TextMap {
            let map = metadata.and_then(|metadata| metadata.get(name));
            let entries = map.iter().flat_map(NodeRef::entries);
            entries
                .filter_map(|entry| {
                    let value = entry.value.resolved().scalar_text()?;
                    Some((entry.key.resolved().scalar_text()?, value))
                })
                .collect()
        };
        let field = |name: &str| {
            let field = node.get_path(&["spec", name]);
            let text = field.filter(|field| !field.is_null());
            text.and_then(|field| field.scalar_text())
                .unwrap_or_default()
                .to_owned()
        };
        let type_of = (&*resource.api_version, &*resource.kind);
        let revision = (type_of == PACKAGE_REVISION).then(|| {
            Box::new(PackageRevisionSpec {
                repository: field("repository"),
                package: field("packageName"),
                revision: field("revision"),
                workspace: field("workspaceName"),
            })
        });
        let fields = ObjectFields {
            name: resource.name.as_deref().unwrap_or_default().to_owned(),
            namespace: resource.namespace.as_deref().unwrap_or_default().to_owned(),
            labels: map("labels"),
            annotations: map("annotations"),
        };
        Self { fields, revision }
    }
}

/// An object, and the list and item that it comes from.
struct FoundObject {
    object: Object,
    place: (usize, ItemId),
}

/// Sorts objects by name and keeps the first one of each name. If one list has a name again, adds the duplicate to
/// `twice`.
fn in_order(mut found: Vec<FoundObject>, twice: &mut Vec<(usize, ItemId)>) -> Vec<Object> {
    found.sort_unstable_by(|a, b| {
        (&a.object.fields.name, a.place).cmp(&(&b.object.fields.name, b.place))
    });
    found.dedup_by(|next, kept| {
        let is_same = next.object.fields.name == kept.object.fields.name;
        if is_same && next.place.0 == kept.place.0 {
            twice.push(next.place);
        }
        is_same
    });
    found.into_iter().map(|found| found.object).collect()
}

/// Objects by type and namespace. The objects of a namespace are sorted by name.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    objects: HashMap<TypeOf, HashMap<String, Vec<Object>>>,
}

impl Cluster {
    /// Reads the objects of these types and namespaces. If several lists have an object, the first list wins. An
    /// object that occurs twice in one list is added to `findings`.
    #[must_use]
    pub(crate) fn read(
        lists: &[&ResourceList],
        types: &BTreeSet<TypeOf>,
        namespaces: &BTreeSet<String>,
        findings: &mut Vec<FunctionResult>,
    ) -> Self {
        let mut scopes = Scopes::default();
        for list in lists {
            for (item, resource) in list.items().filter(|(_, r)| is_definition(r)) {
                list.read(item, |node| scopes.learn(resource, node));
            }
        }
        let numbers = types.iter().enumerate();
        let numbers = numbers.map(|(number, (version, kind))| ((&**version, &**kind), number));
        let numbers: HashMap<(&str, &str), usize> = numbers.collect();
        // For each type, the objects by namespace.
        let mut found: Vec<HashMap<&str, Vec<FoundObject>>> = Vec::new();
        found.resize_with(types.len(), HashMap::new);
        let mut is_cluster_scoped: Vec<Option<bool>> = vec![None; types.len()];
        for (number, list) in lists.iter().enumerate() {
            for (item, resource) in list.items().filter(|(_, r)| r.name.is_some()) {
                let type_of = (&*resource.api_version, &*resource.kind);
                let Some(type_number) = numbers.get(&type_of) else {
                    continue;
                };
                let is_cluster_scoped = is_cluster_scoped[*type_number].get_or_insert_with(|| {
                    scopes.is_cluster_scoped(resource.group(), &resource.kind)
                });
                let namespace = if *is_cluster_scoped {
                    ANY
                } else {
                    namespace_of(resource.namespace.as_deref())
                };
                if namespace != ANY && !namespaces.contains(namespace) {
                    continue;
                }
                let object = list.read(item, |node| Object::read(resource, node));
                let place = (number, item);
                let objects = found[*type_number].entry(namespace).or_default();
                objects.push(FoundObject { object, place });
            }
        }
        let mut cluster = Self::default();
        let mut twice = Vec::new();
        for (type_of, by_namespace) in types.iter().zip(found) {
            let objects = cluster.objects.entry(type_of.clone()).or_default();
            for (namespace, found) in by_namespace {
                objects.insert(namespace.to_owned(), in_order(found, &mut twice));
            }
        }
        twice.sort_unstable();
        findings.extend(twice.into_iter().map(|(number, item)| {
            let result = FunctionResult::error(Reason::Ambiguous, "the object appears twice");
            result.about(lists[number].resource(item))
        }));
        cluster
    }

    /// Adds an object of a namespaced kind.
    pub(crate) fn add(&mut self, (version, kind): (&str, &str), namespace: &str, object: Object) {
        let of_type = self.objects.entry((version.to_owned(), kind.to_owned()));
        let objects = of_type
            .or_default()
            .entry(namespace.to_owned())
            .or_default();
        let place = objects.partition_point(|other| other.fields.name < object.fields.name);
        objects.insert(place, object);
    }

    /// The objects of a type in a namespace, sorted by name. Objects of a cluster-scoped kind are found in every
    /// namespace.
    #[must_use]
    pub(crate) fn all(&self, (api_version, kind): (&str, &str), namespace: &str) -> &[Object] {
        let type_of = (api_version.to_owned(), kind.to_owned());
        let objects = self.objects.get(&type_of);
        objects
            .and_then(|objects| objects.get(namespace).or_else(|| objects.get(ANY)))
            .map_or(&[], Vec::as_slice)
    }
}

/// Finds an object by name among the objects that [`Cluster::all`] returns.
#[must_use]
pub(crate) fn find_by_name<'s>(objects: &'s [Object], name: &str) -> Option<&'s Object> {
    let found = objects.binary_search_by(|object| object.fields.name.as_str().cmp(name));
    found.ok().map(|index| &objects[index])
}
