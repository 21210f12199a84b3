//! What a merge knows about a value: its schema, and whether it merges by special rules.

use super::groups::{self, Group};
use super::kustomization::{self, KustomizationList};
use krm_core::kptfile::{RENDER_STATUS, is_in_status, is_ownership_annotation, is_rendered};
use krm_core::resource::{Resource, is_pipeline_annotation};
use krm_core::schema::{Key, Keys, ListType, MapType, Schema, TypeRef};
use krm_core::upstream_identifier::UPSTREAM_IDENTIFIER;
use krm_yaml::NodeRef;

static CONDITION_TYPE: Key = Key::named("conditionType");
static TYPE: Key = Key::named("type");

/// How a value in a resource merges. The default is a value of unknown type.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeSchema<'s> {
    type_ref: Option<TypeRef<'s>>,
    special: Special,
    /// Whether pipeline annotations are data of a file, and were not added by a pipeline.
    in_files: bool,
}

/// Values that merge by special rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Special {
    #[default]
    None,
    Resource,
    /// A file that SOPS encrypted: its checksum and key are for all values together.
    Encrypted,
    Metadata,
    Annotations,
    /// The Kptfile of the root package keeps its own name and upstream.
    RootKptfile,
    RootKptfileMetadata,
    /// The Kptfile of a sub-package.
    Kptfile,
    KptfileMetadata,
    KptfileAnnotations,
    KptfileInfo,
    KptfileStatus,
    Pipeline,
    /// `mutators` or `validators`.
    Functions,
    /// The readiness gates of a Kptfile.
    Gates,
    /// The conditions of a Kptfile.
    Conditions,
    /// A mapping with keys that merge as one value.
    Grouped(&'static [Group]),
    /// A resource with such a mapping as its `spec`.
    ResourceOf(&'static [Group]),
    /// A list of such mappings.
    ListOf(&'static [Group]),
    /// A list in which `name` is unique, although it is not a key.
    Ports,
    Kustomization,
    /// The images of a kustomization.
    KustomizeImages,
    /// The subjects of a role binding, and one of them: it merges by its fields, although its schema says that it is one
    /// value.
    Subjects,
    Subject,
    /// A list of a kustomization.
    Kustomized(KustomizationList),
    /// The generators of a kustomization.
    Generators,
    Generator,
    /// A list (or a value in its place) that is always one value, even if its elements could be distinguished.
    Whole,
}

impl<'s> MergeSchema<'s> {
    /// The schema of a resource. `root_package` is whether a Kptfile belongs to the root package.
    pub fn of(resource: &Resource, schema: &'s Schema, root_package: bool) -> Self {
        if resource.is_kptfile() {
            let special = if root_package {
                Special::RootKptfile
            } else {
                Special::Kptfile
            };
            // Only the type of a Kptfile's metadata is known.
            return Self {
                type_ref: schema.resource("v1", "ConfigMap"),
                special,
                in_files: false,
            };
        }
        let found = schema.resource(&resource.api_version, &resource.kind);
        // Every resource has metadata. The other fields of a ConfigMap have no lists.
        let type_ref = found.or_else(|| schema.resource("v1", "ConfigMap"));
        let special = match (resource.group(), &*resource.kind) {
            ("kustomize.config.k8s.io", "Kustomization" | "Component") => Special::Kustomization,
            (group, kind) => match groups::of("spec", &format!("{group}/{kind}")) {
                [] => Special::Resource,
                groups => Special::ResourceOf(groups),
            },
        };
        Self {
            type_ref,
            special,
            in_files: false,
        }
    }

    /// The same schema for resources in files, which no pipeline annotated.
    pub(crate) fn in_files(self, in_files: bool) -> Self {
        Self { in_files, ..self }
    }

    /// The same schema for a file in which this node is the root, unless SOPS encrypted it.
    pub(super) fn or_encrypted(self, root: NodeRef<'_>) -> Self {
        let is_encrypted = root.get_path(&["sops", "mac"]).is_some();
        let special = if is_encrypted {
            Special::Encrypted
        } else {
            self.special
        };
        Self { special, ..self }
    }

    /// The value under a key.
    pub fn field(&self, name: &str) -> Self {
        let special = match (self.special, name) {
            (
                Special::Resource
                | Special::ResourceOf(_)
                | Special::Encrypted
                | Special::Kustomization,
                "metadata",
            ) => Special::Metadata,
            (Special::Metadata, "annotations") => Special::Annotations,
            (Special::RootKptfile, "metadata") => Special::RootKptfileMetadata,
            (Special::Kptfile, "metadata") => Special::KptfileMetadata,
            (Special::RootKptfileMetadata | Special::KptfileMetadata, "annotations") => {
                Special::KptfileAnnotations
            }
            (Special::Kptfile | Special::RootKptfile, "pipeline") => Special::Pipeline,
            (Special::Kptfile | Special::RootKptfile, "info") => Special::KptfileInfo,
            (Special::Kptfile | Special::RootKptfile, "status") => Special::KptfileStatus,
            (Special::Pipeline, "mutators" | "validators") => Special::Functions,
            (Special::KptfileInfo, "readinessGates") => Special::Gates,
            (Special::KptfileStatus, "conditions") => Special::Conditions,
            (Special::Grouped(groups), "selectors" | "exclude")
                if groups == groups::of("kpt", "function") =>
            {
                Special::Whole
            }
            (Special::ResourceOf(groups), "spec") => Special::Grouped(groups),
            (Special::Kustomization, "configMapGenerator" | "secretGenerator") => {
                Special::Generators
            }
            (Special::Kustomization, "images") => Special::KustomizeImages,
            (Special::Kustomization, name) => {
                KustomizationList::of(name).map_or(Special::None, Special::Kustomized)
            }
            (Special::Generator, name) => {
                KustomizationList::of_generator(name).map_or(Special::None, Special::Kustomized)
            }
            _ if self.type_ref.is_some() => of_known(name),
            _ => Special::None,
        };
        let type_ref = self.type_ref.and_then(|type_ref| type_ref.field(name));
        Self {
            type_ref,
            special,
            ..*self
        }
    }

    /// The keys of a mapping that merge as one value.
    pub(super) fn groups(&self) -> &'static [Group] {
        match self.special {
            Special::Kptfile => groups::of("kpt", "sub-package"),
            Special::Encrypted => groups::of("sops", "file"),
            Special::Grouped(groups) => groups,
            _ => &[],
        }
    }

    /// The elements of a list.
    pub fn items(&self) -> Self {
        let type_ref = self.type_ref.and_then(TypeRef::items);
        let special = match self.special {
            Special::Functions => Special::Grouped(groups::of("kpt", "function")),
            Special::ListOf(groups) => Special::Grouped(groups),
            Special::Subjects => Special::Subject,
            Special::Generators => Special::Generator,
            Special::KustomizeImages => Special::Grouped(groups::of("kustomize", "image")),
            Special::Kustomized(KustomizationList::Patches) => {
                Special::Grouped(groups::of("kustomize", "patch"))
            }
            Special::Kustomized(KustomizationList::Replacements) => {
                Special::Grouped(groups::of("kustomize", "replacement"))
            }
            _ => Special::None,
        };
        Self {
            type_ref,
            special,
            ..*self
        }
    }

    /// How the elements of a list relate.
    pub fn list(&self) -> ListType<'s> {
        match self.special {
            Special::Functions => ListType::Functions,
            Special::Gates => ListType::Map(Keys::one(&CONDITION_TYPE)),
            Special::Conditions => ListType::Map(Keys::one(&TYPE)),
            Special::Generators => ListType::Map(Keys::of(&kustomization::GENERATOR_KEYS)),
            Special::Kustomized(list) => list.list_type(),
            Special::KustomizeImages => ListType::Map(Keys::one(&kustomization::NAME)),
            _ => self.type_ref.map_or(ListType::Atomic, TypeRef::list),
        }
    }

    /// The list of a kustomization whose elements more than one rule distinguishes.
    pub(super) fn kustomization_list(&self) -> Option<KustomizationList> {
        match self.special {
            Special::Kustomized(KustomizationList::Plain(_)) => None,
            Special::Kustomized(list) => Some(list),
            _ => None,
        }
    }

    /// Whether a list is always one value.
    pub(super) fn is_whole_list(&self) -> bool {
        self.special == Special::Whole
    }

    pub(super) fn is_atomic_map(&self) -> bool {
        let is_atomic = |type_ref: TypeRef<'_>| type_ref.map() == MapType::Atomic;
        self.special == Special::Whole
            || self.special != Special::Subject && self.type_ref.is_some_and(is_atomic)
    }

    /// Whether a merge leaves an entry as local has it.
    pub(super) fn keeps_local(&self, key: &str) -> bool {
        let is_of_tools =
            || key == UPSTREAM_IDENTIFIER || !self.in_files && is_pipeline_annotation(key);
        match self.special {
            Special::Annotations => is_of_tools(),
            Special::KptfileAnnotations => is_of_tools() || is_ownership_annotation(key),
            Special::RootKptfile => matches!(key, "upstream" | "upstreamLock"),
            Special::RootKptfileMetadata => key == "name",
            Special::KptfileStatus => key == RENDER_STATUS,
            _ => false,
        }
    }

    /// Whether a merge leaves an element of a list as local has it.
    pub(super) fn keeps_local_element(&self, element: NodeRef<'_>) -> bool {
        self.special == Special::Conditions && is_rendered(element)
    }

    /// Whether a value has parts that a merge leaves as local has them.
    pub(super) fn holds_local_fields(&self, node: NodeRef<'_>) -> bool {
        match self.special {
            Special::Annotations | Special::KptfileAnnotations => {
                let mut keys = node.entries().map(|entry| entry.key.key_text());
                keys.any(|key| self.keeps_local(key.unwrap_or_default()))
            }
            Special::Metadata | Special::RootKptfileMetadata | Special::KptfileMetadata => {
                let below = node.get("annotations");
                below.is_some_and(|node| self.field("annotations").holds_local_fields(node))
            }
            Special::KptfileStatus => is_in_status(node),
            Special::Conditions => node.items().any(is_rendered),
            _ => false,
        }
    }

    /// Whether the keys of a list are images.
    pub(super) fn keys_are_images(&self) -> bool {
        self.special == Special::KustomizeImages
    }

    /// Whether an entry may get another key and stay the same: in a value of which nothing is known, a user chose the keys;
    /// in a kustomization, newer fields replace older ones (`patches` replaces `patchesJson6902`).
    pub(super) fn renames_keys(&self) -> bool {
        let is_unknown = self.type_ref.is_none() && self.special == Special::None;
        is_unknown || self.special == Special::Kustomization
    }

    /// Whether `name` is unique in a list, although it is not a key.
    pub(super) fn names_are_unique(&self) -> bool {
        self.special == Special::Ports
    }
}

/// Values of a known type that are recognised by their key.
fn of_known(name: &str) -> Special {
    match name {
        "ports" => return Special::Ports,
        "subjects" => return Special::Subjects,
        _ => {}
    }
    match (groups::of("field", name), groups::of("element", name)) {
        ([], []) => Special::None,
        ([], groups) => Special::ListOf(groups),
        (groups, _) => Special::Grouped(groups),
    }
}
