//! What kustomize knows of a place in a resource, whichever version it is: the lists that it merges.

use super::super::node::{Node, Shape};
use super::super::rules::{ListRule, Rules};
use super::distinct::{are_distinct, has_distinct_strings};
use super::is_sayable;
use crate::schema::Keys;

/// Kinds with lists that kustomize merges. Its schema is that of Kubernetes 1.21; lists of other kinds, and all that is
/// newer, a later version may merge or not.
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

/// The lists of these kinds that it merges. Those of a `status` are left out: some have these names, and are newer.
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
pub(super) struct ValuePlace<'s> {
    rules: Rules<'s>,
    /// Whether the kind is one of [`KINDS`], and the place not in its `status`.
    is_known: bool,
    /// Whether the field is one of [`LISTS`].
    is_merged: bool,
}

/// What kustomize makes of a list and that of a patch.
pub(super) enum ListPlace<'s> {
    /// That of the patch.
    Replaced,
    /// Both lists, by the values of these keys.
    Keyed(Keys<'s>),
    /// Both lists of strings.
    Values,
    /// Not certain: one version merges and another one does not.
    Unknown,
}

impl<'s> ValuePlace<'s> {
    /// The root of a resource.
    pub(super) fn of(resource: &Node<'_>, rules: Rules<'s>) -> Self {
        let text = |key: &str| Some(resource.get(key)?.as_str()?.to_owned());
        let [version, kind] = ["apiVersion", "kind"].map(|key| text(key).unwrap_or_default());
        Self::of_kind(&version, &kind, rules)
    }

    /// The root of a resource of this kind.
    pub(super) fn of_kind(api_version: &str, kind: &str, rules: Rules<'s>) -> Self {
        Self {
            rules,
            is_known: KINDS.contains(&(api_version, kind)),
            is_merged: false,
        }
    }

    pub(super) fn field(self, name: &str) -> Self {
        Self {
            rules: self.rules.field(name),
            is_known: self.is_known && name != "status",
            is_merged: LISTS.contains(&name),
        }
    }

    pub(super) fn items(self) -> Self {
        Self {
            rules: self.rules.items(),
            is_merged: false,
            ..self
        }
    }

    pub(super) fn list(self) -> ListPlace<'s> {
        match self.rules.list() {
            ListRule::Atomic => ListPlace::Replaced,
            _ if !self.is_known || !self.is_merged => ListPlace::Unknown,
            ListRule::Set => ListPlace::Values,
            ListRule::Keyed(key) => ListPlace::Keyed(self.rules.map_keys().unwrap_or(key)),
        }
    }

    /// Whether kustomize can merge a patch into a value and leaves everything else as it is: it drops one of two elements
    /// with one key, and refuses keys that are empty.
    pub(super) fn is_mergeable(self, live: &Node<'_>) -> bool {
        match live.shape() {
            Shape::Null | Shape::Scalar => true,
            Shape::Map => live.each_field().all(|field| {
                !field.key.is_empty() && self.field(&field.key).is_mergeable(&field.value)
            }),
            Shape::List => {
                let is_told_apart = match self.rules.list() {
                    ListRule::Atomic => return true,
                    ListRule::Set => has_distinct_strings(live),
                    ListRule::Keyed(key) => {
                        let keys = self.rules.map_keys().unwrap_or(key);
                        are_distinct(live, keys)
                    }
                };
                let items = self.items();
                is_told_apart && live.each_item().all(|item| items.is_mergeable(&item))
            }
        }
    }

    /// Whether a merge patch can add a value: kustomize drops nulls from it, and merges its lists with themselves.
    pub(super) fn takes(self, new: &Node<'_>) -> bool {
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
                let items = self.items();
                is_taken && new.each_item().all(|item| items.takes(&item))
            }
        }
    }
}
