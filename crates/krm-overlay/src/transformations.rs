//! The fields of a kustomization that change all resources alike.
//!
//! ```yaml
//! images:                       # live             # result
//! - name: app                     image: app:1       image: own/app:2
//!   newName: own/app
//!   newTag: "2"
//! ```

use std::collections::{HashMap, HashSet};

use super::OverlayError;
use super::built::{BuiltObject, FieldReplacement, field_at};
use krm_core::resource::DEFAULT_NAMESPACE;
use krm_core::resource::namespace_of;
use krm_merge::{image_parts, repository};
use krm_yaml::Value;

/// The fields of a kustomization that change resources, other than patches.
#[derive(Debug, Clone, Default)]
pub(super) struct Transformations(pub(super) Vec<Transformation>);

/// An entry of a field of a kustomization.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Transformation {
    Image(ImageChange),
    /// Name and count.
    Replicas(String, Value),
    Label(String, String),
    Namespace(String),
}

/// An entry of `images`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImageChange {
    pub(super) name: String,
    pub(super) new_name: Option<String>,
    pub(super) new_tag: Option<String>,
    pub(super) digest: Option<String>,
}

/// The kinds for which a kustomization sets the replicas.
const SCALED: [&str; 4] = [
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
];

fn steps(path: &[&str]) -> Vec<String> {
    path.iter().map(|step| (*step).to_owned()).collect()
}

impl ImageChange {
    /// The changed image. `None` if the entry is for another image.
    fn apply(&self, image: &str) -> Option<String> {
        let (name, version) = split(image);
        if name != self.name {
            return None;
        }
        let tag = self.new_tag.as_ref().map(|tag| format!(":{tag}"));
        let digest = self.digest.as_ref().map(|digest| format!("@{digest}"));
        let version = match (tag, digest) {
            (None, None) => version.to_owned(),
            (tag, digest) => tag.unwrap_or_default() + &digest.unwrap_or_default(),
        };
        let name = self.new_name.as_deref().unwrap_or(name);
        Some(format!("{name}{version}"))
    }

    /// The entry that changes the image `old` to `new`.
    pub(super) fn between(old: &str, new: &str) -> Self {
        let ((name, old_version), (new_name, version)) = (split(old), split(new));
        let (_, tag, digest) = image_parts(new);
        let is_same = version == old_version;
        Self {
            name: name.to_owned(),
            new_name: (name != new_name).then(|| new_name.to_owned()),
            new_tag: tag.filter(|_| !is_same).map(str::to_owned),
            digest: digest.filter(|_| !is_same).map(str::to_owned),
        }
    }
}

/// Splits an image into its name and its version, which includes the `:` or `@`.
fn split(image: &str) -> (&str, &str) {
    image.split_at(repository(image).len())
}

/// All containers, with their paths.
pub(super) fn containers(object: &Value) -> Vec<(Vec<String>, &Value)> {
    let mut found = Vec::new();
    if object.get("kind").and_then(Value::as_str) != Some("CustomResourceDefinition") {
        find_containers(object, &mut Vec::new(), &mut found);
    }
    found
}

fn find_containers<'v>(
    value: &'v Value,
    path: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, &'v Value)>,
) {
    let list = path.last().map(String::as_str);
    let is_of_pod = matches!(list, Some("containers" | "initContainers"));
    let mut below = |step: String, value: &'v Value, is_container: bool| {
        path.push(step);
        if is_container {
            found.push((path.clone(), value));
        } else {
            find_containers(value, path, found);
        }
        path.pop();
    };
    // Most values are scalars, which hold no containers.
    match value {
        Value::Mapping(entries) => {
            let entries = entries.iter().filter(|(_, value)| value.has_parts());
            entries.for_each(|(key, value)| below(key.plain_text(), value, false));
        }
        Value::Sequence(items) => {
            let items = items.iter().enumerate();
            let items = items.filter(|(_, value)| value.has_parts());
            items.for_each(|(at, item)| below(at.to_string(), item, is_of_pod));
        }
        _ => {}
    }
}

/// All images of containers, with their paths.
pub(super) fn images(object: &Value) -> Vec<(Vec<String>, &str)> {
    let images = containers(object).into_iter();
    let images = images.filter_map(|(mut place, container)| {
        place.push("image".to_owned());
        Some((place, container.get("image")?.as_str()?))
    });
    images.collect()
}

impl ImageChange {
    fn to_value(&self) -> Value {
        let all = [
            ("name", Some(&self.name)),
            ("newName", self.new_name.as_ref()),
            ("newTag", self.new_tag.as_ref()),
            ("digest", self.digest.as_ref()),
        ];
        let given = all.into_iter();
        let given = given.filter_map(|(key, value)| Some(Value::entry(key, value?.as_str())));
        Value::Mapping(given.collect())
    }
}

impl Transformation {
    /// The name of its field in a kustomization.
    fn field(&self) -> &'static str {
        match self {
            Self::Image(_) => "images",
            Self::Replicas(..) => "replicas",
            Self::Label(..) => "labels",
            Self::Namespace(_) => "namespace",
        }
    }

    /// Its place in the kustomization.
    pub(super) fn place(&self) -> String {
        let field = self.field();
        match self {
            Self::Image(ImageChange { name, .. })
            | Self::Replicas(name, _)
            | Self::Label(name, _) => format!("{field}[{name}]"),
            Self::Namespace(_) => field.to_owned(),
        }
    }

    /// Why it changes no resource, whatever its value is: no container has its image, or no workload has its name.
    pub(super) fn without_subject(&self, objects: &[BuiltObject<'_>]) -> Option<String> {
        let mut all = objects.iter();
        match self {
            Self::Image(ImageChange { name, .. }) => {
                let mut used = all.flat_map(|object| images(&object.value));
                let is_used = used.any(|(_, image)| repository(image) == name);
                (!is_used).then(|| format!("no container has the image `{name}`"))
            }
            Self::Replicas(name, _) => {
                let is_there = all.any(|object| object.name() == name && is_scaled(object));
                (!is_there).then(|| format!("the base has no workload `{name}`"))
            }
            Self::Label(..) | Self::Namespace(_) => None,
        }
    }
}

/// The fields of transformations, in the order in which they are written.
const FIELDS: [&str; 4] = ["namespace", "labels", "images", "replicas"];

impl Transformations {
    /// Reads the fields of a kustomization.
    pub(super) fn read(kustomization: &Value) -> Self {
        let items = |key: &str| kustomization.get(key).map_or(&[][..], Value::items).iter();
        let text = |value: &Value, key: &str| {
            let text = value.get(key).map(Value::plain_text);
            text.filter(|text| !text.is_empty())
        };
        let images = items("images").map(|image| {
            Transformation::Image(ImageChange {
                name: text(image, "name").unwrap_or_default(),
                new_name: text(image, "newName"),
                new_tag: text(image, "newTag"),
                digest: text(image, "digest"),
            })
        });
        let replicas = items("replicas").filter_map(|entry| {
            let (name, count) = (text(entry, "name")?, entry.get("count")?);
            Some(Transformation::Replicas(name, count.clone()))
        });
        let labels = items("labels").filter_map(|label| label.get("pairs"));
        let labels = labels
            .flat_map(Value::entries)
            .map(|(key, value)| Transformation::Label(key.plain_text(), value.plain_text()));
        let namespace = text(kustomization, "namespace").map(Transformation::Namespace);
        let all = images.chain(replicas).chain(labels).chain(namespace);
        Self(all.collect())
    }

    pub(super) fn of_field(&self, field: &str) -> impl Iterator<Item = &Transformation> {
        self.0.iter().filter(move |one| one.field() == field)
    }

    pub(super) fn namespace(&self) -> Option<&str> {
        self.0.iter().find_map(|one| match one {
            Transformation::Namespace(namespace) => Some(namespace.as_str()),
            _ => None,
        })
    }

    /// The fields that are set, each with its number of entries.
    pub(super) fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts = FIELDS
            .map(|field| (field, self.of_field(field).count()))
            .to_vec();
        counts.retain(|(_, count)| *count > 0);
        counts
    }

    /// The fields as a kustomization has them.
    pub(super) fn to_fields(&self) -> Vec<(&'static str, Value)> {
        let mut fields = Vec::new();
        if let Some(namespace) = self.namespace() {
            fields.push(("namespace", Value::from(namespace)));
        }
        let mut pairs = Vec::new();
        for field in &FIELDS[1..] {
            let items = self.of_field(field).filter_map(|one| match one {
                Transformation::Image(image) => Some(image.to_value()),
                Transformation::Replicas(name, count) => Some(Value::Mapping(vec![
                    Value::entry("name", name.as_str()),
                    Value::entry("count", count.clone()),
                ])),
                Transformation::Label(key, value) => {
                    pairs.push(Value::entry(key.as_str(), value.as_str()));
                    None
                }
                Transformation::Namespace(_) => None,
            });
            let mut items: Vec<Value> = items.collect();
            if !pairs.is_empty() {
                let pairs = Value::Mapping(std::mem::take(&mut pairs));
                items.push(Value::Mapping(vec![Value::entry("pairs", pairs)]));
            }
            if !items.is_empty() {
                fields.push((*field, Value::Sequence(items)));
            }
        }
        fields
    }

    /// Changes the resources.
    ///
    /// # Errors
    /// [`OverlayError::Patch`]: a change is below a value that has no fields.
    pub(super) fn apply(&self, objects: &mut [BuiltObject<'_>]) -> Result<(), OverlayError> {
        let moved = self.moved(objects);
        let index = self.index();
        for object in objects {
            object.change(&index.changes(object, &moved))?;
        }
        Ok(())
    }

    /// The service accounts and services that get another namespace.
    pub(super) fn moved(&self, objects: &[BuiltObject<'_>]) -> MovedObjects {
        if self.namespace().is_none() {
            return MovedObjects::default();
        }
        let is_named =
            |object: &&BuiltObject<'_>| matches!(object.kind(), "ServiceAccount" | "Service");
        let named = objects.iter().filter(is_named);
        named
            .map(|object| {
                let id = object.id();
                let namespace = id.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
                (
                    id.kind.to_string(),
                    id.name.text().to_owned(),
                    namespace.to_owned(),
                )
            })
            .collect()
    }

    /// The transformations by what they change.
    pub(super) fn index(&self) -> TransformationIndex<'_> {
        let mut index = TransformationIndex {
            all: &self.0,
            ..TransformationIndex::default()
        };
        for (at, one) in self.0.iter().enumerate() {
            match one {
                Transformation::Image(change) => index.of_image.entry(&change.name),
                Transformation::Replicas(name, _) => index.of_workload.entry(name),
                Transformation::Label(..) | Transformation::Namespace(_) => {
                    index.everywhere.push(at);
                    continue;
                }
            }
            .or_default()
            .push(at);
        }
        index
    }

    /// The changes in a resource. `moved` is the result of [`Self::moved`] for all resources.
    pub(super) fn changes(
        &self,
        object: &BuiltObject<'_>,
        moved: &MovedObjects,
    ) -> Vec<FieldReplacement> {
        self.index().changes(object, moved)
    }
}

/// The service accounts and services that get another namespace: kind, name and old namespace.
pub(super) type MovedObjects = HashSet<(String, String, String)>;

/// Transformations by what they change, so that a resource is compared only with those that are about it.
#[derive(Default)]
pub(super) struct TransformationIndex<'t> {
    all: &'t [Transformation],
    /// The positions of those that change all resources.
    everywhere: Vec<usize>,
    /// By the name of the image.
    of_image: HashMap<&'t str, Vec<usize>>,
    /// By the name of the workload whose replicas they set.
    of_workload: HashMap<&'t str, Vec<usize>>,
}

impl<'t> TransformationIndex<'t> {
    /// The transformations that may change a resource, in their order.
    fn about(&self, object: &BuiltObject<'_>) -> impl Iterator<Item = &'t Transformation> {
        let mut found = self.everywhere.clone();
        if !self.of_image.is_empty() {
            let images = images(&object.value).into_iter();
            let names = images.map(|(_, image)| split(image).0);
            found.extend(names.filter_map(|name| self.of_image.get(name)).flatten());
        }
        if is_scaled(object) {
            found.extend(self.of_workload.get(object.name()).into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|at| &self.all[at])
    }

    /// The changes in a resource. `moved` is the result of [`Transformations::moved`] for all resources.
    pub(super) fn changes(
        &self,
        object: &BuiltObject<'_>,
        moved: &MovedObjects,
    ) -> Vec<FieldReplacement> {
        let mut changes = Vec::new();
        let value = &object.value;
        let mut set = |path: Vec<String>, new: Value| {
            if field_at(value, &path) != Some(&new) {
                changes.push((path, new));
            }
        };
        for one in self.about(object) {
            match one {
                Transformation::Image(change) => {
                    for (path, image) in images(value) {
                        if let Some(changed) = change.apply(image) {
                            set(path, Value::from(changed));
                        }
                    }
                }
                Transformation::Replicas(name, count) => {
                    if is_scaled(object) && object.name() == name {
                        set(steps(&["spec", "replicas"]), count.clone());
                    }
                }
                Transformation::Label(key, label) => {
                    let path = steps(&["metadata", "labels", key]);
                    set(path, Value::from(label.as_str()));
                }
                Transformation::Namespace(namespace) => {
                    for path in namespaces(object, moved) {
                        set(path, Value::from(namespace.as_str()));
                    }
                }
            }
        }
        changes
    }
}

/// The paths at which a resource has the namespace that a kustomization sets.
fn namespaces(object: &BuiltObject<'_>, moved: &MovedObjects) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    if !object.is_cluster_scoped() {
        found.push(steps(&["metadata", "namespace"]));
    } else if object.kind() == "Namespace" {
        found.push(steps(&["metadata", "name"]));
    }
    for (mut path, reference) in references(object) {
        let text = |key: &str| reference.get(key).and_then(Value::as_str);
        let name = text("name").unwrap_or_default();
        let kind = if path.first().is_some_and(|step| step == "subjects") {
            "ServiceAccount"
        } else {
            "Service"
        };
        let namespace = namespace_of(text("namespace"));
        let place = [kind, name, namespace].map(str::to_owned);
        let is_moved = moved.contains(&place.into());
        if is_moved || kind == "ServiceAccount" && name == "default" {
            path.push("namespace".to_owned());
            found.push(path);
        }
    }
    found
}

/// Whether a kustomization can set the replicas of a resource.
pub(super) fn is_scaled(object: &BuiltObject<'_>) -> bool {
    SCALED.contains(&object.kind())
}

/// The replicas of a resource. `None` if it has none, or if a kustomization cannot set them.
pub(super) fn replicas(object: &BuiltObject<'_>) -> Option<Value> {
    let found = field_at(&object.value, &["spec", "replicas"]);
    found.filter(|_| is_scaled(object)).cloned()
}

/// The places in which a resource names a service account or a service with a namespace.
fn references<'v>(object: &'v BuiltObject<'_>) -> Vec<(Vec<String>, &'v Value)> {
    let value = &object.value;
    let list = |key: &str| value.get(key).map_or(&[][..], Value::items);
    let mut found = Vec::new();
    match object.kind() {
        "RoleBinding" | "ClusterRoleBinding" => {
            for (at, subject) in list("subjects").iter().enumerate() {
                if subject.get("kind").and_then(Value::as_str) == Some("ServiceAccount") {
                    found.push((vec!["subjects".to_owned(), at.to_string()], subject));
                }
            }
        }
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            for (at, webhook) in list("webhooks").iter().enumerate() {
                let service = webhook.get_path(&["clientConfig", "service"]);
                let path =
                    ["webhooks", &at.to_string(), "clientConfig", "service"].map(str::to_owned);
                found.extend(service.map(|service| (path.to_vec(), service)));
            }
        }
        "APIService" => found.extend(at_path(value, &["spec", "service"])),
        "CustomResourceDefinition" => {
            found.extend(at_path(
                value,
                &["spec", "conversion", "webhook", "clientConfig", "service"],
            ));
        }
        _ => {}
    }
    found
}

fn at_path<'v>(value: &'v Value, path: &[&str]) -> Option<(Vec<String>, &'v Value)> {
    Some((steps(path), field_at(value, path)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_change_by_name() {
        for (old, new) in [
            ("app:1", "app:2"),
            ("app:1", "own/app:1"),
            ("reg:5000/a/app:1", "app@sha256:abc"),
            ("app", "app:2@sha256:abc"),
            ("app:1@sha256:abc", "app:2"),
        ] {
            let change = ImageChange::between(old, new);
            assert_eq!(change.apply(old).as_deref(), Some(new), "{change:?}");
            assert_eq!(change.apply("other:1"), None);
        }
    }
}
