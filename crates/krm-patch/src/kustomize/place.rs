//! Which lists kustomize merges at a place in a resource, in any version of kustomize.

use super::super::node::{Node, Shape};
use super::super::rules::{ListRule, Rules};
use super::distinct::{are_distinct, are_separate, has_distinct_strings};
use super::is_sayable;
use krm_core::schema::Keys;
use krm_yaml::Trail;

/// Kinds with lists that kustomize merges. Its schema is from Kubernetes 1.21. A later version may or may not merge
/// lists of other kinds, and newer lists.
const KINDS: [(&str, &str); 14] = [
    (
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
    ),
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
    ),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "CronJob"),
    ("batch/v1", "Job"),
    ("batch/v1beta1", "CronJob"),
    ("v1", "Pod"),
    ("v1", "PodTemplate"),
    ("v1", "ReplicationController"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
];

/// The lists of these kinds that kustomize merges. Lists in a `status` are excluded: some have these names, but are
/// newer.
const LISTS: [&str; 14] = [
    "containers",
    "env",
    "finalizers",
    "hostAliases",
    "imagePullSecrets",
    "initContainers",
    "ownerReferences",
    "ports",
    "secrets",
    "topologySpreadConstraints",
    "volumeDevices",
    "volumeMounts",
    "volumes",
    "webhooks",
];

/// A place in a resource.
#[derive(Clone, Copy)]
pub(super) struct ValuePlace<'p, 's> {
    pub(super) trail: Trail<'p>,
    rules: Rules<'s>,
    /// Whether the kind is one of [`KINDS`], and the place is not in its `status`.
    is_known: bool,
    /// Whether the field is one of [`LISTS`].
    is_merged: bool,
}

/// What kustomize does with a list and the list of a patch.
pub(super) enum ListPlace<'s> {
    /// The list of the patch replaces the other one.
    Replaced,
    /// It merges both lists, by the values of these keys.
    Keyed(Keys<'s>),
    /// It merges both lists of strings.
    Values,
    /// Not certain: one version merges and another one does not.
    Unknown,
}

impl<'s> ValuePlace<'_, 's> {
    /// The root of a resource.
    pub(super) fn of(resource: &Node<'_>, rules: Rules<'s>) -> Self {
        let text = |key: &str| Some(resource.get(key)?.as_str()?.to_owned());
        let [version, kind] = ["apiVersion", "kind"].map(|key| text(key).unwrap_or_default());
        Self::of_kind(&version, &kind, rules)
    }

    /// The root of a resource of this kind.
    pub(super) fn of_kind(api_version: &str, kind: &str, rules: Rules<'s>) -> Self {
        Self {
            trail: Trail::Root,
            rules,
            is_known: KINDS.contains(&(api_version, kind)),
            is_merged: false,
        }
    }

    pub(super) fn field<'c>(&'c self, name: &'c str) -> ValuePlace<'c, 's> {
        ValuePlace {
            trail: self.trail.field(name),
            rules: self.rules.field(name),
            is_known: self.is_known && name != "status",
            is_merged: LISTS.contains(&name),
        }
    }

    /// An element of a list.
    pub(super) fn element(&self, at: usize) -> ValuePlace<'_, 's> {
        ValuePlace {
            trail: self.trail.element(at),
            rules: self.rules.items(),
            is_merged: false,
            ..*self
        }
    }

    pub(super) fn list(&self) -> ListPlace<'s> {
        match self.rules.list() {
            ListRule::Atomic => ListPlace::Replaced,
            _ if !self.is_known || !self.is_merged => ListPlace::Unknown,
            ListRule::Set => ListPlace::Values,
            ListRule::Keyed(key) => ListPlace::Keyed(self.keys().unwrap_or(key)),
        }
    }

    /// The keys that name the elements of a list; `None` if its type has none.
    pub(super) fn keys(&self) -> Option<Keys<'s>> {
        self.rules.element_keys()
    }

    /// Whether kustomize can merge a patch into a value without other changes. It drops one of two elements with the
    /// same key, and refuses empty keys.
    pub(super) fn is_mergeable(&self, live: &Node<'_>) -> bool {
        match live.shape() {
            Shape::Null | Shape::Scalar => true,
            Shape::Map => live.each_field().all(|field| {
                !field.key.is_empty() && self.field(&field.key).is_mergeable(&field.value)
            }),
            Shape::List => {
                let has_identity = match self.rules.list() {
                    ListRule::Atomic => return true,
                    ListRule::Set => has_distinct_strings(live),
                    ListRule::Keyed(key) => are_separate(live, self.keys().unwrap_or(key)),
                };
                let items = self.element(0);
                has_identity && live.each_item().all(|item| items.is_mergeable(&item))
            }
        }
    }

    /// Whether a merge patch can add a value unchanged: kustomize drops nulls from it, and merges its lists with
    /// themselves.
    pub(super) fn takes(&self, new: &Node<'_>) -> bool {
        match new.shape() {
            Shape::Null => false,
            Shape::Scalar => true,
            Shape::Map => new
                .each_field()
                .all(|field| is_sayable(&field.key) && self.field(&field.key).takes(&field.value)),
            Shape::List => {
                let is_taken = match self.list() {
                    ListPlace::Replaced => return true,
                    ListPlace::Unknown => false,
                    ListPlace::Values => has_distinct_strings(new),
                    ListPlace::Keyed(keys) => are_distinct(new, keys),
                };
                let items = self.element(0);
                is_taken && new.each_item().all(|item| items.takes(&item))
            }
        }
    }
}
