//! The fields of a kustomization that change all resources alike.
//!
//! ```yaml
//! images:                       # live             # result
//! - name: app                     image: app:1       image: own/app:2
//!   newName: own/app
//!   newTag: "2"
//! ```

use super::built::BuiltObject;
use crate::merge::repository;
use crate::patch::kustomize::operate;
use crate::yaml::Value;

/// The fields of a kustomization that change resources, other than patches.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Transformations {
    pub(super) namespace: Option<String>,
    pub(super) labels: Vec<(String, String)>,
    pub(super) images: Vec<ImageChange>,
    /// Name and count.
    pub(super) replicas: Vec<(String, Value)>,
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

/// The path of a field and its new value, as in a JSON patch.
pub(super) type FieldReplacement = (Vec<String>, Value);

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
        let (tag, digest) = match version.split_once('@') {
            Some((tag, digest)) => (tag, Some(digest)),
            None => (version, None),
        };
        let is_same = version == old_version;
        let tag = tag.strip_prefix(':').filter(|_| !is_same);
        Self {
            name: name.to_owned(),
            new_name: (name != new_name).then(|| new_name.to_owned()),
            new_tag: tag.map(str::to_owned),
            digest: digest.filter(|_| !is_same).map(str::to_owned),
        }
    }
}

/// Splits an image into its name and its version, which includes the `:` or `@`.
fn split(image: &str) -> (&str, &str) {
    image.split_at(repository(image).len())
}

/// All images of containers, with their paths.
pub(super) fn images(object: &Value) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    if object.get("kind").and_then(Value::as_str) != Some("CustomResourceDefinition") {
        find_images(object, &mut Vec::new(), &mut found);
    }
    found
}

fn find_images(value: &Value, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    match value {
        Value::Mapping(entries) => {
            for (key, below) in entries {
                let name = key.plain_text();
                path.push(name.clone());
                if let ("containers" | "initContainers", Value::Sequence(items)) = (&*name, below) {
                    for (at, item) in items.iter().enumerate() {
                        if let Some(image) = item.get("image").and_then(Value::as_str) {
                            let mut place = path.clone();
                            place.extend([at.to_string(), "image".to_owned()]);
                            found.push((place, image.to_owned()));
                        }
                    }
                } else {
                    find_images(below, path, found);
                }
                path.pop();
            }
        }
        Value::Sequence(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push(at.to_string());
                find_images(item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

impl Transformations {
    /// Reads the fields of a kustomization.
    pub(super) fn read(kustomization: &Value) -> Self {
        let items = |key: &str| kustomization.get(key).map_or(&[][..], Value::items).iter();
        let text = |value: &Value, key: &str| {
            value
                .get(key)
                .map(Value::plain_text)
                .filter(|text| !text.is_empty())
        };
        let images = items("images").map(|image| ImageChange {
            name: text(image, "name").unwrap_or_default(),
            new_name: text(image, "newName"),
            new_tag: text(image, "newTag"),
            digest: text(image, "digest"),
        });
        let labels = items("labels").filter_map(|label| label.get("pairs"));
        let labels = labels.flat_map(Value::entries);
        let replicas = items("replicas");
        Self {
            namespace: text(kustomization, "namespace"),
            labels: labels
                .map(|(key, value)| (key.plain_text(), value.plain_text()))
                .collect(),
            images: images.collect(),
            replicas: replicas
                .filter_map(|entry| Some((text(entry, "name")?, entry.get("count")?.clone())))
                .collect(),
        }
    }

    /// Each entry of each field separately, with its place in the kustomization.
    pub(super) fn parts(&self) -> Vec<(String, Self)> {
        let mut parts = Vec::new();
        for image in &self.images {
            let one = Self {
                images: vec![image.clone()],
                ..Self::default()
            };
            parts.push((format!("images[{}]", image.name), one));
        }
        for replica in &self.replicas {
            let one = Self {
                replicas: vec![replica.clone()],
                ..Self::default()
            };
            parts.push((format!("replicas[{}]", replica.0), one));
        }
        for label in &self.labels {
            let one = Self {
                labels: vec![label.clone()],
                ..Self::default()
            };
            parts.push((format!("labels[{}]", label.0), one));
        }
        if self.namespace.is_some() {
            let one = Self {
                namespace: self.namespace.clone(),
                ..Self::default()
            };
            parts.push(("namespace".to_owned(), one));
        }
        parts
    }

    /// Why a part changes no resource, whatever its value is: no container has its image, or no workload has its name.
    pub(super) fn without_subject(&self, objects: &[BuiltObject<'_>]) -> Option<String> {
        let uses = |name: &str| {
            let used = objects.iter().flat_map(|object| images(&object.value));
            used.into_iter()
                .any(|(_, image)| repository(&image) == name)
        };
        let has = |name: &str| {
            let is_it = |object: &BuiltObject<'_>| {
                object.text(&["metadata", "name"]) == name && is_scaled(object)
            };
            objects.iter().any(is_it)
        };
        let image = self.images.iter().find(|image| !uses(&image.name));
        let image = image.map(|image| format!("no container has the image `{}`", image.name));
        image.or_else(|| {
            let (name, _) = self.replicas.iter().find(|(name, _)| !has(name))?;
            Some(format!("the base has no workload `{name}`"))
        })
    }

    /// The fields that are set, each with its number of entries.
    pub(super) fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts = vec![
            ("namespace", usize::from(self.namespace.is_some())),
            ("labels", self.labels.len()),
            ("images", self.images.len()),
            ("replicas", self.replicas.len()),
        ];
        counts.retain(|(_, count)| *count > 0);
        counts
    }

    /// The fields as a kustomization has them, except for `namespace`.
    pub(super) fn to_fields(&self) -> Vec<(Value, Value)> {
        let mut fields = Vec::new();
        let mut list = |key: &str, items: Vec<Value>| {
            if !items.is_empty() {
                fields.push(Value::entry(key, Value::Sequence(items)));
            }
        };
        let pairs: Vec<_> = self
            .labels
            .iter()
            .map(|(key, value)| Value::entry(key.as_str(), value.as_str()))
            .collect();
        let labels = (!pairs.is_empty())
            .then(|| Value::Mapping(vec![Value::entry("pairs", Value::Mapping(pairs))]));
        list("labels", labels.into_iter().collect());
        let image = |image: &ImageChange| {
            let all = [
                ("name", Some(&image.name)),
                ("newName", image.new_name.as_ref()),
                ("newTag", image.new_tag.as_ref()),
                ("digest", image.digest.as_ref()),
            ];
            let given = all
                .into_iter()
                .filter_map(|(key, value)| Some(Value::entry(key, value?.as_str())));
            Value::Mapping(given.collect())
        };
        list("images", self.images.iter().map(image).collect());
        let replicas = |(name, count): &(String, Value)| {
            Value::Mapping(vec![
                Value::entry("name", name.as_str()),
                Value::entry("count", count.clone()),
            ])
        };
        list("replicas", self.replicas.iter().map(replicas).collect());
        fields
    }

    pub(super) fn apply(&self, objects: &mut [BuiltObject<'_>]) {
        let moved = self.moved(objects);
        for object in objects {
            let changes = self.changes(object, &moved);
            if !changes.is_empty() {
                change(&mut object.value, &changes);
                object.node = None;
            }
        }
    }

    /// The service accounts and services that get another namespace: kind, name and old namespace.
    pub(super) fn moved(&self, objects: &[BuiltObject<'_>]) -> Vec<(String, String, String)> {
        if self.namespace.is_none() {
            return Vec::new();
        }
        let is_named =
            |object: &&BuiltObject<'_>| matches!(object.kind(), "ServiceAccount" | "Service");
        let named = objects.iter().filter(is_named);
        named
            .map(|object| {
                let id = object.id();
                (id.kind, id.name.name, id.name.namespace)
            })
            .collect()
    }

    /// The changes in a resource. `moved` is the result of [`Self::moved`] for all resources.
    pub(super) fn changes(
        &self,
        object: &BuiltObject<'_>,
        moved: &[(String, String, String)],
    ) -> Vec<FieldReplacement> {
        let mut changes = Vec::new();
        let value = &object.value;
        let mut set = |path: Vec<String>, new: Value| {
            if field_at(value, &path) != Some(&new) {
                changes.push((path, new));
            }
        };
        if let Some(namespace) = &self.namespace {
            let new = || Value::from(namespace.as_str());
            if !object.is_cluster_scoped() {
                set(steps(&["metadata", "namespace"]), new());
            } else if object.kind() == "Namespace" {
                set(steps(&["metadata", "name"]), new());
            }
            for (path, reference) in references(object) {
                let name = |key: &str| {
                    reference
                        .get(key)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                };
                let kind = if path.first().is_some_and(|step| step == "subjects") {
                    "ServiceAccount"
                } else {
                    "Service"
                };
                let is_moved = moved.iter().any(|(moved, service, old)| {
                    moved == kind
                        && service == name("name")
                        && old == crate::resource::namespace_of(Some(name("namespace")))
                });
                if is_moved || kind == "ServiceAccount" && name("name") == "default" {
                    let mut path = path;
                    path.push("namespace".to_owned());
                    set(path, new());
                }
            }
        }
        for (key, label) in &self.labels {
            set(
                steps(&["metadata", "labels", key]),
                Value::from(label.as_str()),
            );
        }
        for (path, image) in images(value) {
            let changed = self.images.iter().find_map(|change| change.apply(&image));
            if let Some(changed) = changed {
                set(path, Value::from(changed));
            }
        }
        let name = object.text(&["metadata", "name"]);
        let scaled = self.replicas.iter().find(|(other, _)| other == name);
        if let Some((_, count)) = scaled.filter(|_| is_scaled(object)) {
            set(steps(&["spec", "replicas"]), count.clone());
        }
        changes
    }
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

/// The value at a path of keys and indexes.
pub(super) fn field_at<'v>(value: &'v Value, path: &[impl AsRef<str>]) -> Option<&'v Value> {
    let mut steps = path.iter().map(AsRef::as_ref);
    steps.try_fold(value, |value, step| match value {
        Value::Sequence(items) => items.get(step.parse::<usize>().ok()?),
        _ => value.get(step),
    })
}

/// Applies changes to a value. Missing mappings are created.
pub(super) fn change(value: &mut Value, changes: &[FieldReplacement]) {
    for (path, new) in changes {
        let there = (1..path.len()).take_while(|length| {
            field_at(value, &path[..*length]).is_some_and(|value| *value != Value::Null)
        });
        let there = there.last().unwrap_or(0);
        let (above, below) = path.split_at((there + 1).min(path.len()));
        let new = below.iter().rev().fold(new.clone(), |value, key| {
            Value::Mapping(vec![Value::entry(key.as_str(), value)])
        });
        let escaped = above
            .iter()
            .map(|step| step.replace('~', "~0").replace('/', "~1"));
        let pointer: String = escaped.flat_map(|step| ["/".to_owned(), step]).collect();
        let operation = Value::Mapping(vec![
            Value::entry("op", "add"),
            Value::entry("path", pointer),
            Value::entry("value", new),
        ]);
        // The parent exists, so the operation succeeds.
        let _ = operate(value, &Value::Sequence(vec![operation]));
    }
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
