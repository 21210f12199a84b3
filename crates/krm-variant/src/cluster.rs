//! The objects of a cluster that a fan-out reads: Repositories, PackageRevisions and the targets of selectors.
//!
//! Source: contract, expand-variant-set.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::expression::ObjectFields;
use krm_core::resource::{Resource, namespace_of};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason};
use krm_core::revision_name::PackageRevisionName;
use krm_core::scope::{Scopes, is_definition};
use krm_core::text_map::TextMap;
use krm_yaml::NodeRef;

/// The `apiVersion` and `kind` of an object.
pub type TypeOf = (String, String);

/// `apiVersion` and `kind` of a Repository.
pub const REPOSITORY: (&str, &str) = ("config.porch.kpt.dev/v1alpha1", "Repository");
/// `apiVersion` and `kind` of a PackageRevision.
pub const PACKAGE_REVISION: (&str, &str) = ("porch.kpt.dev/v1alpha1", "PackageRevision");

/// The versions of [`PACKAGE_REVISION`] that are read alike.
const PACKAGE_REVISION_VERSIONS: [&str; 2] = [PACKAGE_REVISION.0, "porch.kpt.dev/v1alpha2"];

/// The type under which an object is stored: all known versions of a PackageRevision count as one.
fn type_of(resource: &Resource) -> TypeOf {
    let (version, kind) = (&*resource.api_version, &*resource.kind);
    if kind == PACKAGE_REVISION.1 && PACKAGE_REVISION_VERSIONS.contains(&version) {
        return (PACKAGE_REVISION.0.to_owned(), kind.to_owned());
    }
    (version.to_owned(), kind.to_owned())
}

/// The namespace key of objects of cluster-scoped kinds.
const ANY: &str = "";

/// An object that a set selects.
#[derive(Debug, Default)]
pub(crate) struct Object {
    /// The fields that expressions can read.
    pub(crate) fields: ObjectFields,
    /// The names in a PackageRevision; `None` for other objects.
    pub(crate) revision: Option<Box<PackageRevisionName>>,
    /// The number of the list that has it.
    pub(crate) list: usize,
    /// The file that has it.
    pub(crate) file: Option<Arc<str>>,
}

impl Object {
    /// The revision of a PackageRevision; empty for other objects.
    pub(crate) fn revision_name(&self) -> &str {
        let revision = self.revision.as_deref();
        revision
            .and_then(|name| name.revision.as_deref())
            .unwrap_or_default()
    }

    fn read(resource: &Resource, node: NodeRef<'_>) -> Self {
        let metadata = node.get("metadata");
        let map = |name: &str| -> TextMap {
            let map = metadata.and_then(|metadata| metadata.get(name));
            let entries = map.iter().flat_map(NodeRef::entries);
            entries
                .filter_map(|entry| {
                    let value = entry.value.resolved().value_text()?;
                    Some((entry.key.key_text()?, value))
                })
                .collect()
        };
        let (version, kind) = type_of(resource);
        let is_revision = (version.as_str(), kind.as_str()) == PACKAGE_REVISION;
        let revision = is_revision.then(|| Box::new(PackageRevisionName::read(node)));
        let fields = ObjectFields {
            name: resource.name.as_deref().unwrap_or_default().to_owned(),
            namespace: resource.namespace.as_deref().unwrap_or_default().to_owned(),
            labels: map("labels"),
            annotations: map("annotations"),
        };
        Self {
            fields,
            revision,
            list: 0,
            file: resource.origin.path.clone(),
        }
    }
}

/// The objects of a type in a namespace, by name.
pub(crate) type NamedObjects = BTreeMap<String, Object>;

/// NamedObjects by type and namespace.
#[derive(Debug, Default)]
pub struct Cluster {
    objects: HashMap<TypeOf, HashMap<String, NamedObjects>>,
}

impl Cluster {
    /// Reads the objects of these types and namespaces. If several lists have an object, the first list wins. An
    /// object that occurs twice in one list is added to `findings`; `place_of` is what a user calls a file of a list.
    pub fn read(
        lists: &[&ResourceList],
        place_of: impl Fn(usize, &str) -> String,
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
        let mut cluster = Self::default();
        for (number, list) in lists.iter().enumerate() {
            for (item, resource) in list.items() {
                let type_of = type_of(resource);
                let name = resource.name.as_ref();
                let Some(name) = name.filter(|_| types.contains(&type_of)) else {
                    continue;
                };
                let namespace = if scopes.is_cluster_scoped(resource.group(), &resource.kind) {
                    ANY
                } else {
                    namespace_of(resource.namespace.as_deref())
                };
                if namespace != ANY && !namespaces.contains(namespace) {
                    continue;
                }
                let of_type = cluster.objects.entry(type_of).or_default();
                let objects = of_type.entry(namespace.to_owned()).or_default();
                match objects.entry(name.to_string()) {
                    Entry::Vacant(free) => {
                        let object = list.read(item, |node| Object::read(resource, node));
                        free.insert(Object {
                            list: number,
                            ..object
                        });
                    }
                    Entry::Occupied(known) if known.get().list == number => {
                        let place =
                            |file: &Option<Arc<str>>| Some(place_of(number, file.as_deref()?));
                        let also = place(&known.get().file);
                        let also = also.map(|file| format!(", also in {file}"));
                        let message =
                            format!("the object appears twice{}", also.unwrap_or_default());
                        let result = FunctionResult::error(Reason::Ambiguous, message);
                        let result = result.with_resource(resource);
                        let path = resource.origin.path.as_deref().unwrap_or_default();
                        let file = place(&resource.origin.path);
                        findings.push(match file.filter(|file| file.ends_with(path)) {
                            Some(file) => result.in_file(file),
                            None => result,
                        });
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
        cluster
    }

    /// Adds a PackageRevision. There may be another one of its name: one that was made in a workspace that has the
    /// name of this revision.
    pub(crate) fn add_revision(&mut self, namespace: &str, object: Object) {
        let (version, kind) = PACKAGE_REVISION;
        let of_type = self.objects.entry((version.to_owned(), kind.to_owned()));
        let objects = of_type.or_default().entry(namespace.to_owned());
        let key = format!("{} {}", object.fields.name, object.revision_name());
        objects.or_default().insert(key, object);
    }

    /// The objects of a type in a namespace. NamedObjects of a cluster-scoped kind are found in every namespace.
    pub(crate) fn all(&self, (api_version, kind): (&str, &str), namespace: &str) -> &NamedObjects {
        static NONE: NamedObjects = NamedObjects::new();
        let type_of = (api_version.to_owned(), kind.to_owned());
        let objects = self.objects.get(&type_of);
        objects
            .and_then(|objects| objects.get(namespace).or_else(|| objects.get(ANY)))
            .unwrap_or(&NONE)
    }
}
