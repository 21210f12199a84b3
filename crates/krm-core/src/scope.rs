//! Which kinds have no namespace.
//!
//! Source: `kubectl api-resources --namespaced=false` of Kubernetes up to v1.37 for the built-in kinds, including
//! removed ones, and CustomResourceDefinitions for the kinds that they define.

use std::collections::HashMap;

use crate::resource::Resource;
use krm_yaml::NodeRef;

/// Built-in kinds without namespace, by group and kind, sorted.
const CLUSTER_SCOPED: &[(&str, &str)] = &[
    ("", "ComponentStatus"),
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicyBinding",
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
    ),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("authentication.k8s.io", "SelfSubjectReview"),
    ("authentication.k8s.io", "TokenReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
    ("authorization.k8s.io", "SubjectAccessReview"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("extensions", "PodSecurityPolicy"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "DeviceTaintRule"),
    ("resource.k8s.io", "ResourceClass"),
    ("resource.k8s.io", "ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storage.k8s.io", "VolumeAttributesClass"),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
];

/// Which kinds have no namespace: built-in kinds, and kinds of CustomResourceDefinitions.
#[derive(Debug, Default)]
pub struct Scopes {
    custom: HashMap<(String, String), bool>,
}

impl Scopes {
    /// Records the scope of a CustomResourceDefinition; ignores other resources.
    pub fn learn(&mut self, resource: &Resource, node: NodeRef<'_>) {
        if !is_definition(resource) {
            return;
        }
        let text = |path: &[&str]| node.get_path(path).and_then(|value| value.as_str());
        let group = text(&["spec", "group"]);
        let kind = text(&["spec", "names", "kind"]);
        if let (Some(group), Some(kind)) = (group, kind) {
            let cluster = text(&["spec", "scope"]) == Some("Cluster");
            self.custom
                .insert((group.to_owned(), kind.to_owned()), cluster);
        }
    }

    /// Whether resources of this group and kind have no namespace. Unknown kinds are namespaced.
    pub fn is_cluster_scoped(&self, group: &str, kind: &str) -> bool {
        let built_in = || CLUSTER_SCOPED.binary_search(&(group, kind)).is_ok();
        let custom = self.custom.get(&(group.to_owned(), kind.to_owned()));
        custom.copied().unwrap_or_else(built_in)
    }
}

/// The kind that defines other kinds.
pub const DEFINITION: &str = "CustomResourceDefinition";

/// Whether a resource is a CustomResourceDefinition.
pub fn is_definition(resource: &Resource) -> bool {
    resource.kind.as_ref() == DEFINITION && resource.group() == "apiextensions.k8s.io"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(CLUSTER_SCOPED.is_sorted());
    }

    #[test]
    fn unknown_kinds_have_a_namespace() {
        let scopes = Scopes::default();
        assert!(scopes.is_cluster_scoped("", "Namespace"));
        assert!(scopes.is_cluster_scoped("rbac.authorization.k8s.io", "ClusterRole"));
        assert!(!scopes.is_cluster_scoped("", "ConfigMap"));
        assert!(!scopes.is_cluster_scoped("example.com", "Namespace"));
    }
}
