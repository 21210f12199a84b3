//! A resource: its identity and its origin.

use std::borrow::Cow;
use std::sync::Arc;

use krm_package::normalize_package_path;
use krm_yaml::NodeRef;

/// The annotations in which kpt and kustomize record the file of an item. The second is the legacy
/// spelling; both must stay equal.
pub const PATH_ANNOTATIONS: [&str; 2] = [
    "internal.config.kubernetes.io/path",
    "config.kubernetes.io/path",
];
/// The annotations with the index of an item in its file.
pub const INDEX_ANNOTATIONS: [&str; 2] = [
    "internal.config.kubernetes.io/index",
    "config.kubernetes.io/index",
];
/// The package of an item, if a pipeline runs over several packages.
pub const PACKAGE_PATH_ANNOTATION: &str = "internal.config.kubernetes.io/package-path";
/// The annotations with ids by which kpt finds the comments of an item, to restore them by position.
pub(crate) const ID_ANNOTATIONS: [&str; 2] =
    ["internal.config.kubernetes.io/id", "config.k8s.io/id"];
/// Annotations that tools set on items in a pipeline, in addition to those that begin with one of [`PIPELINE_PREFIXES`].
const PIPELINE_ANNOTATIONS: [&str; 5] = [
    INDEX_ANNOTATIONS[1],
    PATH_ANNOTATIONS[1],
    ID_ANNOTATIONS[1],
    MERGE_SOURCE_ANNOTATION,
    "kustomize.config.k8s.io/id",
];
const PIPELINE_PREFIXES: [&str; 2] = ["internal.config.kubernetes.io/", "internal.config.k8s.io/"];
/// The side of a merge that an item belongs to.
pub const MERGE_SOURCE_ANNOTATION: &str = "config.kubernetes.io/merge-source";
/// The annotation of resources that are for tools, and not for a cluster.
pub const LOCAL_CONFIG_ANNOTATION: &str = "config.kubernetes.io/local-config";

/// Whether a resource is for tools, as kustomize reads the annotation.
pub fn is_local_config(node: NodeRef<'_>) -> bool {
    let value = node.get_path(&["metadata", "annotations", LOCAL_CONFIG_ANNOTATION]);
    value.is_some_and(|value| value.scalar_text() != Some("false"))
}

/// The namespace of namespaced objects that do not name one.
pub const DEFAULT_NAMESPACE: &str = "default";

/// A namespace; an absent or empty one is `default`.
pub fn namespace_of(namespace: Option<&str>) -> &str {
    let given = namespace.filter(|namespace| !namespace.is_empty());
    given.unwrap_or(DEFAULT_NAMESPACE)
}

/// The namespace and the name of an object, which together identify an object of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespacedName {
    pub namespace: String,
    pub name: String,
}

impl NamespacedName {
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        Self {
            namespace: namespace_of(namespace).to_owned(),
            name: name.to_owned(),
        }
    }
}

/// The annotations by which kpt assigns an item to its file, in both spellings.
pub fn file_annotations(path: &str, index: usize) -> [(&'static str, String); 4] {
    let [path_name, legacy_path] = PATH_ANNOTATIONS;
    let [index_name, legacy_index] = INDEX_ANNOTATIONS;
    [
        (index_name, index.to_string()),
        (path_name, path.to_owned()),
        (legacy_index, index.to_string()),
        (legacy_path, path.to_owned()),
    ]
}

/// Whether an annotation belongs to the pipeline that an item passes through, and not to the resource. Path, index and
/// ids are such annotations.
pub fn is_pipeline_annotation(name: &str) -> bool {
    PIPELINE_ANNOTATIONS.contains(&name)
        || PIPELINE_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Where a resource comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Path of the file, relative to the package at `package_path`.
    pub path: Option<Arc<str>>,
    /// The path in the legacy spelling, if `path` is in the other spelling and differs.
    pub legacy_path: Option<Arc<str>>,
    /// Whether `path` is in the legacy spelling.
    pub is_legacy: bool,
    /// The index of the resource in its file, counted from 0.
    pub index: Option<usize>,
    /// The package, if a pipeline runs over several packages; kpt writes its absolute path.
    pub package_path: Option<Arc<str>>,
}

impl Origin {
    /// The path annotations that are set, each with its name.
    pub fn annotated_paths(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let [name, legacy] = PATH_ANNOTATIONS;
        let own = if self.is_legacy { legacy } else { name };
        let paths = [(own, &self.path), (legacy, &self.legacy_path)];
        paths
            .into_iter()
            .filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }

    /// The path of the file relative to the root package. When kpt renders a sub-package, `path` is relative to the
    /// sub-package.
    pub(crate) fn path_from(&self, root: Option<&str>) -> Option<String> {
        let path = normalize_package_path(self.path.as_deref()?);
        let package = self.package_path.as_deref().unwrap_or_default();
        let below = package.strip_prefix(root.unwrap_or_default());
        Some(match below.unwrap_or_default().trim_matches('/') {
            "" => path,
            below => format!("{below}/{path}"),
        })
    }

    /// The directory of the file, without a `/` at the end; empty for the directory of the package. `None` if there is
    /// no path.
    pub fn directory(&self) -> Option<&str> {
        let path = self.path.as_deref()?;
        Some(path.rsplit_once('/').map_or("", |(directory, _)| directory))
    }
}

/// Identity and origin of a resource. The list that contains the resource has its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resource {
    pub api_version: Arc<str>,
    pub kind: Arc<str>,
    pub name: Option<Arc<str>>,
    /// The beginning of the names that an API server generates for it.
    pub generate_name: Option<Arc<str>>,
    pub namespace: Option<Arc<str>>,
    /// Where it comes from.
    pub origin: Origin,
}

/// The fields that make up a [`Resource`]: strings, and annotations that are scalars.
#[derive(Debug, Default)]
pub(crate) struct ResourceFields<'t> {
    pub(crate) api_version: Option<Arc<str>>,
    pub(crate) kind: Option<Arc<str>>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) generate_name: Option<Arc<str>>,
    pub(crate) namespace: Option<Arc<str>>,
    /// The values of [`PATH_ANNOTATIONS`].
    pub(crate) paths: [Option<Arc<str>>; 2],
    /// The values of [`INDEX_ANNOTATIONS`].
    pub(crate) indexes: [Option<Cow<'t, str>>; 2],
    pub(crate) package_path: Option<Arc<str>>,
}

impl From<ResourceFields<'_>> for Resource {
    fn from(fields: ResourceFields<'_>) -> Self {
        let [path, legacy] = fields.paths;
        let is_legacy = path.is_none() && legacy.is_some();
        let (path, legacy_path) = match path {
            None => (legacy, None),
            Some(path) => {
                let other = legacy.filter(|legacy| *legacy != path);
                (Some(path), other)
            }
        };
        let [index, legacy_index] = fields.indexes;
        let index = index.or(legacy_index);
        Self {
            api_version: fields.api_version.unwrap_or_default(),
            kind: fields.kind.unwrap_or_default(),
            name: fields.name,
            generate_name: fields.generate_name,
            namespace: fields.namespace,
            origin: Origin {
                path,
                legacy_path,
                is_legacy,
                index: index.and_then(|index| index.parse().ok()),
                package_path: fields.package_path,
            },
        }
    }
}

impl Resource {
    /// Reads identity and origin from a resource's root node.
    pub fn read(node: NodeRef<'_>) -> Self {
        let string = |node: Option<NodeRef<'_>>| node?.as_str().map(Arc::from);
        let metadata = node.get("metadata");
        let annotations = metadata.and_then(|m| m.get("annotations"));
        let annotation = |name: &str| {
            let value = annotations.and_then(|a| a.get(name));
            value.and_then(|v| v.scalar_text())
        };
        Self::from(ResourceFields {
            api_version: string(node.get("apiVersion")),
            kind: string(node.get("kind")),
            name: string(metadata.and_then(|m| m.get("name"))),
            generate_name: string(metadata.and_then(|m| m.get("generateName"))),
            namespace: string(metadata.and_then(|m| m.get("namespace"))),
            paths: PATH_ANNOTATIONS.map(|name| annotation(name).map(Arc::from)),
            indexes: INDEX_ANNOTATIONS.map(|name| annotation(name).map(Cow::Borrowed)),
            package_path: annotation(PACKAGE_PATH_ANNOTATION).map(Arc::from),
        })
    }

    /// Reads an element of a list. API servers leave out its version and kind in a list of one kind, such as a
    /// `ConfigMapList`.
    pub fn of_element(node: NodeRef<'_>, list: &Self) -> Self {
        let mut resource = Self::read(node);
        let kind = list.kind.strip_suffix("List").unwrap_or_default();
        if !matches!(kind, "" | "Resource") {
            if resource.kind.is_empty() {
                resource.kind = kind.into();
            }
            if resource.api_version.is_empty() {
                resource.api_version = list.api_version.clone();
            }
        }
        resource
    }

    /// Whether this is a List (`List`, `ConfigMapList`), which only says how a file writes the resources in it.
    pub fn is_list(&self) -> bool {
        self.kind.ends_with("List") && self.name.is_none() && !self.is_for_tools()
    }

    /// The resources in a List and in the Lists within it, each with its node and the origin of the List. `None` if this is
    /// no List, or has no elements.
    pub fn elements<'a>(&self, list: NodeRef<'a>) -> Option<Vec<(NodeRef<'a>, Self)>> {
        let items = list.get("items").filter(|_| self.is_list())?;
        let items = Some(items).filter(|items| items.kind().is_sequence())?;
        let mut found = Vec::new();
        for item in items.items().map(|item| item.resolved()) {
            let mut resource = Self::of_element(item, self);
            resource.origin = self.origin.clone();
            match resource.elements(item) {
                Some(inner) => found.extend(inner),
                None => found.push((item, resource)),
            }
        }
        Some(found)
    }

    /// The resource of a document, and those in it if it is a List.
    #[must_use]
    pub fn all_of(root: NodeRef<'_>) -> Vec<(NodeRef<'_>, Self)> {
        let resource = Self::read(root);
        let elements = resource.elements(root).unwrap_or_default();
        std::iter::once((root, resource)).chain(elements).collect()
    }

    /// Whether this is only for tools such as kpt and kustomize.
    pub fn is_for_tools(&self) -> bool {
        self.is_kptfile()
            || matches!(
                self.group(),
                "kustomize.config.k8s.io" | "fn.kpt.dev" | "config.kubernetes.io"
            )
    }

    /// The API group; the core group is empty.
    pub fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// Whether this is a package's `Kptfile`.
    pub fn is_kptfile(&self) -> bool {
        self.kind.as_ref() == "Kptfile" && self.group() == "kpt.dev"
    }
}
