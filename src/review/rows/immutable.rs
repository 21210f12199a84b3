//! Fields that an API server refuses to change. `tests/review_api_server.py` asks a real one about each.

use crate::results::Reason;
use crate::review::Risk;
use crate::review::row::{FieldChange, FiresWhen, Row};
use crate::review::walk::text;
use crate::yaml::{NodeRef, Value};

/// A row for a field whose absence means `absent`.
const fn row(
    kinds: &'static [&'static str],
    path: &'static str,
    absent: &'static str,
    source: &'static str,
) -> Row {
    says(kinds, path, FiresWhen::Changes(absent), source)
}

const fn says(
    kinds: &'static [&'static str],
    path: &'static str,
    when: FiresWhen,
    source: &'static str,
) -> Row {
    Row {
        kinds,
        path,
        when,
        risk: Risk::Blocking,
        reason: Reason::ImmutableField,
        message: MESSAGE,
        source,
    }
}

const MESSAGE: &str = "the field is immutable: the API server refuses the change; delete the object and create it again";

const STATEFUL_SET: &[&str] = &["apps/StatefulSet"];
const JOB: &[&str] = &["batch/Job"];
const SERVICE: &[&str] = &["Service"];
const STORAGE_CLASS: &[&str] = &["storage.k8s.io/StorageClass"];
const PRIORITY_CLASS: &[&str] = &["scheduling.k8s.io/PriorityClass"];
const CSI_DRIVER: &[&str] = &["storage.k8s.io/CSIDriver"];
const DEFINITION: &[&str] = &["apiextensions.k8s.io/CustomResourceDefinition"];

const APPS: &str = "pkg/apis/apps/validation";
const STATEFUL: &str = "ValidateStatefulSetUpdate, pkg/apis/apps/validation";
const BATCH: &str = "ValidateJobSpecUpdate, pkg/apis/batch/validation";
const CORE: &str = "pkg/apis/core/validation";
const STORAGE: &str = "ValidateStorageClassUpdate, pkg/apis/storage/validation";
const DRIVER: &str = "ValidateCSIDriverUpdate, pkg/apis/storage/validation";
const PRIORITY: &str = "ValidatePriorityClassUpdate, pkg/apis/scheduling/validation";
const RBAC: &str = "pkg/apis/rbac/validation";
const EXTENSIONS: &str = "ValidateCustomResourceDefinitionUpdate, apiextensions-apiserver/pkg/apis/apiextensions/validation";

pub(crate) const ROWS: &[Row] = &[
    row(
        &["apps/Deployment", "apps/DaemonSet", "apps/ReplicaSet"],
        "spec.selector",
        "",
        APPS,
    ),
    row(STATEFUL_SET, "spec.selector", "", STATEFUL),
    row(STATEFUL_SET, "spec.serviceName", "", STATEFUL),
    row(
        STATEFUL_SET,
        "spec.podManagementPolicy",
        "OrderedReady",
        STATEFUL,
    ),
    row(STATEFUL_SET, "spec.volumeClaimTemplates", "", STATEFUL),
    says(
        JOB,
        "spec.template",
        FiresWhen::Says(changes_template),
        BATCH,
    ),
    row(JOB, "spec.selector", "", BATCH),
    row(JOB, "spec.completionMode", "NonIndexed", BATCH),
    says(
        JOB,
        "spec.completions",
        FiresWhen::Says(changes_completions),
        BATCH,
    ),
    row(JOB, "spec.podFailurePolicy", "", BATCH),
    row(JOB, "spec.successPolicy", "", BATCH),
    row(JOB, "spec.backoffLimitPerIndex", "", BATCH),
    row(JOB, "spec.managedBy", "kubernetes.io/job-controller", BATCH),
    says(
        SERVICE,
        "spec.clusterIP",
        FiresWhen::Says(changes_address),
        "ValidateServiceUpdate, pkg/apis/core/validation; patchAllocatedValues, pkg/registry/core/service",
    ),
    says(
        &["PersistentVolumeClaim"],
        "spec.*",
        FiresWhen::Says(changes_claim),
        "ValidatePersistentVolumeClaimUpdate, pkg/apis/core/validation",
    ),
    says(
        &["PersistentVolume"],
        "spec.*",
        FiresWhen::Says(changes_volume),
        "ValidatePersistentVolumeUpdate, pkg/apis/core/validation",
    ),
    row(
        &[
            "rbac.authorization.k8s.io/RoleBinding",
            "rbac.authorization.k8s.io/ClusterRoleBinding",
        ],
        "roleRef",
        "",
        RBAC,
    ),
    says(
        &["ConfigMap", "Secret"],
        "data",
        FiresWhen::Says(changes_frozen),
        CORE,
    ),
    says(
        &["ConfigMap", "Secret"],
        "binaryData",
        FiresWhen::Says(changes_frozen),
        CORE,
    ),
    says(
        &["Secret"],
        "stringData",
        FiresWhen::Says(changes_frozen),
        CORE,
    ),
    says(
        &["ConfigMap", "Secret"],
        "immutable",
        FiresWhen::Says(changes_frozen),
        CORE,
    ),
    row(&["Secret"], "type", "Opaque", CORE),
    row(STORAGE_CLASS, "provisioner", "", STORAGE),
    row(STORAGE_CLASS, "parameters", "", STORAGE),
    row(STORAGE_CLASS, "reclaimPolicy", "Delete", STORAGE),
    row(STORAGE_CLASS, "volumeBindingMode", "Immediate", STORAGE),
    row(PRIORITY_CLASS, "value", "0", PRIORITY),
    row(
        PRIORITY_CLASS,
        "preemptionPolicy",
        "PreemptLowerPriority",
        PRIORITY,
    ),
    row(CSI_DRIVER, "spec.attachRequired", "true", DRIVER),
    row(CSI_DRIVER, "spec.volumeLifecycleModes", "", DRIVER),
    row(
        &["storage.k8s.io/VolumeAttributesClass"],
        "driverName",
        "",
        "ValidateVolumeAttributesClassUpdate, pkg/apis/storage/validation",
    ),
    row(
        &["storage.k8s.io/VolumeAttributesClass"],
        "parameters",
        "",
        "ValidateVolumeAttributesClassUpdate, pkg/apis/storage/validation",
    ),
    row(
        &["networking.k8s.io/IngressClass"],
        "spec.controller",
        "",
        "ValidateIngressClassUpdate, pkg/apis/networking/validation",
    ),
    row(
        &["node.k8s.io/RuntimeClass"],
        "handler",
        "",
        "ValidateRuntimeClassUpdate, pkg/apis/node/validation",
    ),
    row(
        &["ResourceQuota"],
        "spec.scopes",
        "",
        "ValidateResourceQuotaUpdate, pkg/apis/core/validation",
    ),
    row(
        &["discovery.k8s.io/EndpointSlice"],
        "addressType",
        "",
        "ValidateEndpointSliceUpdate, pkg/apis/discovery/validation",
    ),
    row(
        &["apps/ControllerRevision"],
        "data",
        "",
        "ValidateControllerRevisionUpdate, pkg/apis/apps/validation",
    ),
    row(DEFINITION, "spec.scope", "", EXTENSIONS),
    row(DEFINITION, "spec.group", "", EXTENSIONS),
    row(DEFINITION, "spec.names.kind", "", EXTENSIONS),
    row(DEFINITION, "spec.names.plural", "", EXTENSIONS),
    says(
        &["Pod"],
        "spec.*",
        FiresWhen::Says(changes_pod),
        "ValidatePodUpdate, pkg/apis/core/validation",
    ),
];

fn refused(refuses: bool) -> Option<String> {
    refuses.then(|| MESSAGE.to_owned())
}

/// A Job that waits may get another template for its nodes, which no package does.
fn changes_template(change: &FieldChange<'_, '_>) -> Option<String> {
    refused(change.object_remains)
}

/// An indexed Job can grow or shrink together with its parallelism.
fn changes_completions(change: &FieldChange<'_, '_>) -> Option<String> {
    let [_, parallelism] = change.of_root(&["spec", "parallelism"]);
    let [_, mode] = change.of_root(&["spec", "completionMode"]);
    let is_elastic = text(mode) == Some("Indexed") && text(parallelism) == text(change.after());
    refused(change.object_remains && !is_elastic)
}

/// A field that is left out keeps what the server allocated.
fn changes_address(change: &FieldChange<'_, '_>) -> Option<String> {
    let types = change.of_root(&["spec", "type"]);
    let is_name = types.iter().any(|kind| text(*kind) == Some("ExternalName"));
    let is_set = text(change.after()).is_some_and(|address| !address.is_empty());
    refused(change.object_remains && is_set && !is_name)
}

/// A claim can grow, and move to another class of attributes.
fn changes_claim(change: &FieldChange<'_, '_>) -> Option<String> {
    const MUTABLE: [&str; 1] = ["volumeAttributesClassName"];
    let field = change.last_field();
    if !change.object_remains || MUTABLE.contains(&field) {
        return None;
    }
    // What the server sets where it is left out.
    if change.after().is_none() && matches!(field, "volumeName" | "storageClassName") {
        return None;
    }
    let is_default = |word: &str| {
        let sides = [text(change.before()), text(change.after())];
        sides.contains(&Some(word)) && sides.contains(&None)
    };
    if field == "volumeMode" && is_default("Filesystem") {
        return None;
    }
    if field != "resources" {
        return refused(true);
    }
    let storage =
        |node: Option<NodeRef<'_>>| quantity(text(node?.get_path(&["requests", "storage"]))?);
    match (storage(change.before()), storage(change.after())) {
        (Some(before), Some(after)) if after < before => Some(
            "the claim shrinks: an API server refuses it until the claim is deleted, with its data"
                .to_owned(),
        ),
        (_, Some(_)) => None,
        _ => refused(true),
    }
}

/// The source of a volume stays.
fn changes_volume(change: &FieldChange<'_, '_>) -> Option<String> {
    const MUTABLE: [&str; 7] = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
    ];
    refused(change.object_remains && !MUTABLE.contains(&change.last_field()))
}

fn changes_frozen(change: &FieldChange<'_, '_>) -> Option<String> {
    let [before, _] = change.of_root(&["immutable"]);
    refused(change.object_remains && text(before) == Some("true"))
}

/// Of a running pod its images, its deadline and more tolerations can change.
fn changes_pod(change: &FieldChange<'_, '_>) -> Option<String> {
    const MUTABLE: [&str; 3] = ["activeDeadlineSeconds", "tolerations", "schedulingGates"];
    let field = change.last_field();
    if !change.object_remains || MUTABLE.contains(&field) {
        return None;
    }
    if !matches!(field, "containers" | "initContainers") {
        return refused(true);
    }
    refused(without_images(change.before()) != without_images(change.after()))
}

/// The fields of containers other than their images.
fn without_images(list: Option<NodeRef<'_>>) -> Vec<(&str, Option<Value>)> {
    let containers = list.into_iter().flat_map(|list| list.items());
    let entries = containers.flat_map(|container| container.resolved().entries());
    let others = entries.filter(|entry| entry.key.as_str() != Some("image"));
    others
        .map(|entry| (entry.key.field_name(), entry.value.value()))
        .collect()
}

/// A quantity as a number: `10Gi`, `500m`, `1e3`.
fn quantity(text: &str) -> Option<f64> {
    const SUFFIXES: [(&str, f64); 13] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("m", 0.001),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    let suffix = SUFFIXES.iter().find(|(suffix, _)| text.ends_with(suffix));
    let (suffix, factor) = suffix.unwrap_or(&("", 1.0));
    let number: f64 = text.strip_suffix(suffix)?.parse().ok()?;
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::quantity;

    #[test]
    fn quantities_are_numbers() {
        for (small, large) in [("10Gi", "11G"), ("900m", "1"), ("1e3", "2k"), ("1G", "1Gi")] {
            assert!(quantity(small) < quantity(large), "{small} {large}");
        }
        assert_eq!(quantity("much"), None);
    }
}
