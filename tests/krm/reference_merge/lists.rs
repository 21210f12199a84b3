//! How the parts of the generated kinds relate, as Kubernetes' own definitions have it: a table by hand, not
//! the project's schema.

/// How two versions of a place are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// A map merges by key, a list by its elements.
    Plain,
    /// One value, whatever it is.
    Atomic,
    /// A list whose elements are told apart by these fields.
    Keyed(&'static [&'static str]),
    /// A list whose elements are told apart by their values.
    Set,
    /// `mutators` and `validators` of a Kptfile.
    Functions,
}

/// The relation at a place of a resource: the names of the fields on the way, elements left out.
pub(super) fn relation(kind: &str, fields: &[String]) -> Relation {
    use Relation::{Atomic, Functions, Keyed, Plain, Set};
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let parent = fields.iter().rev().nth(1).copied().unwrap_or_default();
    let name = fields.last().copied().unwrap_or_default();
    match (kind, parent, name) {
        (_, "metadata", "finalizers") => Set,
        (_, "metadata", "ownerReferences") => Keyed(&["uid"]),
        ("Kptfile", "pipeline", "mutators" | "validators") => Functions,
        ("Kptfile", "mutators" | "validators", "selectors" | "exclude") => Atomic,
        ("Kptfile", "info", "readinessGates") => Keyed(&["conditionType"]),
        ("Kptfile", "status", "conditions") => Keyed(&["type"]),
        ("Service", "spec", "ports") => Keyed(&["port", "protocol"]),
        ("Service" | "Deployment", "spec", "selector") => Atomic,
        ("ServiceAccount", "", "secrets") => Keyed(&["name"]),
        (
            "Deployment",
            "spec",
            "containers" | "initContainers" | "volumes" | "imagePullSecrets",
        ) => Keyed(&["name"]),
        ("Deployment", "spec", "nodeSelector") => Atomic,
        ("Deployment", "spec", "hostAliases") => Keyed(&["ip"]),
        ("Deployment", "spec", "topologySpreadConstraints") => {
            Keyed(&["topologyKey", "whenUnsatisfiable"])
        }
        ("Deployment", _, "labelSelector") => Atomic,
        ("Deployment", "containers" | "initContainers", "env") => Keyed(&["name"]),
        ("Deployment", "containers" | "initContainers", "ports") => {
            Keyed(&["containerPort", "protocol"])
        }
        ("Deployment", "containers" | "initContainers", "volumeMounts") => Keyed(&["mountPath"]),
        ("Deployment", "valueFrom", "configMapKeyRef" | "secretKeyRef" | "fieldRef") => Atomic,
        _ => Plain,
    }
}

/// Whether the elements of a keyed list are one value each: references to other objects are.
pub(super) fn has_atomic_elements(fields: &[String]) -> bool {
    let name = fields.last().map(String::as_str).unwrap_or_default();
    ["ownerReferences", "imagePullSecrets", "secrets"].contains(&name)
}

/// Fields that exclude each other.
pub(super) enum Group {
    These(&'static [&'static str]),
    AllBut(&'static str),
}

impl Group {
    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Self::These(names) => names.contains(&name),
            Self::AllBut(other) => *other != name,
        }
    }
}

/// The fields of a map that exclude each other: of a function as the contract says, of Kubernetes' types as its
/// API server does.
pub(super) fn exclusive(kind: &str, fields: &[String], is_element: bool) -> Vec<Group> {
    let name = fields.last().map(String::as_str).unwrap_or_default();
    match (kind, name, is_element) {
        ("Kptfile", "mutators" | "validators", true) => vec![
            Group::These(&["configMap", "configPath", "configRef"]),
            Group::These(&["image", "exec"]),
        ],
        ("Deployment", "volumes", true) => vec![Group::AllBut("name")],
        ("Deployment", "env", true) => vec![Group::These(&["value", "valueFrom"])],
        ("Deployment", "valueFrom", false) => {
            vec![Group::These(&[
                "configMapKeyRef",
                "fieldRef",
                "secretKeyRef",
            ])]
        }
        _ => Vec::new(),
    }
}
