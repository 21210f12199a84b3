//! Keys of one mapping that merge as one value, because two changes of them may be valid separately but not together.
//!
//! ```yaml
//! # local            # upstream                # neither kpt nor an API server takes both
//! configPath: a.yaml configMap: {region: eu}
//! ```
//!
//! Facts of the APIs: kpt's Kptfile v1; Kubernetes' validation of the types named here.

/// Keys that merge as one value, in some cases.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    keys: GroupKeys,
    pub(super) when: When,
}

/// Which keys of the mapping belong to a group.
#[derive(Debug, PartialEq, Eq)]
enum GroupKeys {
    These(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

/// When the keys are one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// If local and upstream have different keys, or one side removed the key that the other replaced: the keys exclude
    /// each other.
    Alternatives,
    /// As `Alternatives`, for the version of an image, unless images merge as one value.
    ImageVersion,
    /// If local and upstream differ in a field that determines the allowed values of the others. The strings are the
    /// name and the default of that field.
    Kind(&'static str, &'static str),
}

impl Group {
    pub(super) fn has(&self, key: &str) -> bool {
        match self.keys {
            GroupKeys::These(keys) => keys.contains(&key),
            GroupKeys::AllBut(keys) => !keys.contains(&key),
        }
    }
}

const fn these(keys: &'static [&'static str]) -> Group {
    Group {
        keys: GroupKeys::These(keys),
        when: When::Alternatives,
    }
}

const fn by_kind(
    keys: &'static [&'static str],
    kind: &'static str,
    default: &'static str,
) -> Group {
    Group {
        keys: GroupKeys::These(keys),
        when: When::Kind(kind, default),
    }
}

/// The upstream of a sub-package.
pub(super) static SUB_PACKAGE: [Group; 1] = [Group {
    keys: GroupKeys::These(&["upstream", "upstreamLock"]),
    when: When::Always,
}];

/// A function of a pipeline.
pub(super) static FUNCTION: [Group; 2] = [
    these(&["configMap", "configPath", "configRef"]),
    these(&["image", "exec"]),
];

/// An image of a kustomization.
pub(super) static KUSTOMIZE_IMAGE: [Group; 1] = [Group {
    keys: GroupKeys::These(&["newTag", "digest"]),
    when: When::ImageVersion,
}];

static ENV: [Group; 1] = [these(&["value", "valueFrom"])];
static ENV_SOURCE: [Group; 1] = [these(&[
    "configMapKeyRef",
    "fieldRef",
    "fileKeyRef",
    "resourceFieldRef",
    "secretKeyRef",
])];
static HANDLER: [Group; 1] = [these(&["exec", "grpc", "httpGet", "sleep", "tcpSocket"])];
static VOLUME: [Group; 1] = [Group {
    keys: GroupKeys::AllBut(&["name"]),
    when: When::Alternatives,
}];
static STRATEGY: [Group; 1] = [by_kind(&["type", "rollingUpdate"], "type", "RollingUpdate")];
static PROFILE: [Group; 1] = [by_kind(&["type", "localhostProfile"], "type", "")];
static BACKEND: [Group; 1] = [these(&["resource", "service"])];
static DISRUPTION_BUDGET: [Group; 1] = [these(&["maxUnavailable", "minAvailable"])];
static SERVICE: [Group; 1] = [by_kind(
    &["sessionAffinity", "sessionAffinityConfig"],
    "sessionAffinity",
    "None",
)];
static PERSISTENT_VOLUME: [Group; 1] = [Group {
    keys: GroupKeys::AllBut(&[
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ]),
    when: When::Alternatives,
}];

/// The groups of a `spec`, by group and kind of the resource.
pub(super) fn of_spec(group: &str, kind: &str) -> &'static [Group] {
    match (group, kind) {
        ("", "Service") => &SERVICE,
        ("", "PersistentVolume") => &PERSISTENT_VOLUME,
        ("policy", "PodDisruptionBudget") => &DISRUPTION_BUDGET,
        _ => &[],
    }
}

/// The groups of the mapping under a key, where its type is known.
pub(super) fn of_field(name: &str) -> &'static [Group] {
    match name {
        "valueFrom" => &ENV_SOURCE,
        "livenessProbe" | "readinessProbe" | "startupProbe" | "postStart" | "preStop" => &HANDLER,
        "strategy" | "updateStrategy" => &STRATEGY,
        "seccompProfile" | "appArmorProfile" => &PROFILE,
        "defaultBackend" => &BACKEND,
        _ => &[],
    }
}

/// The groups of each element of the list under a key, where its type is known.
pub(super) fn of_elements(name: &str) -> &'static [Group] {
    match name {
        "env" => &ENV,
        "volumes" => &VOLUME,
        _ => &[],
    }
}
