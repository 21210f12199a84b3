//! The Repository object of a PackageVariant.

use krm_package::normalize_package_path;
use krm_yaml::NodeRef;

/// The fields of a Repository object that describe a catalog or a downstream repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// `spec.git.repo`.
    pub address: Option<String>,
    /// `spec.git.directory`, without slashes at its ends; empty for the root.
    pub directory: String,
    /// `spec.git.branch`.
    pub branch: Option<String>,
}

impl RepositoryFacts {
    pub fn read(node: NodeRef<'_>) -> Self {
        let text = |field: &str| {
            let text = node.get_path(&["spec", "git", field])?.scalar_text()?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        Self {
            address: text("repo"),
            directory: normalize_package_path(&text("directory").unwrap_or_default()),
            branch: text("branch"),
        }
    }
}
