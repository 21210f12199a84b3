//! The package and revision that a PackageRevision is.

use krm_yaml::NodeRef;

/// The package and revision that a PackageRevision or PackageRevisionResources names; absent fields are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageRevisionName {
    /// `metadata.name`.
    pub name: Option<String>,
    /// `spec.repository`.
    pub repository: Option<String>,
    /// `spec.packageName`.
    pub package: Option<String>,
    /// `spec.revision`, or `status.revision` where the object has its revision there (`porch.kpt.dev/v1alpha2`), as text.
    pub revision: Option<String>,
    /// `spec.workspaceName`.
    pub workspace: Option<String>,
}

impl PackageRevisionName {
    pub fn read(node: NodeRef<'_>) -> Self {
        let text = |path: &[&str]| {
            let node = node.get_path(path).filter(|node| !node.is_null())?;
            let text = node.scalar_text().filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        Self {
            name: text(&["metadata", "name"]),
            repository: text(&["spec", "repository"]),
            package: text(&["spec", "packageName"]),
            revision: text(&["spec", "revision"]).or_else(|| text(&["status", "revision"])),
            workspace: text(&["spec", "workspaceName"]),
        }
    }
}
