//! `--catalog`: where an upstream repository is.

use std::fmt;
use std::path::PathBuf;

/// A catalog: the name of a Porch Repository, and the repository or directory that is read for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogSource {
    /// The namespace of the PackageVariants that the catalog is for. `None` for all namespaces.
    pub namespace: Option<String>,
    /// The name in `spec.upstream.repo`.
    pub name: String,
    /// A Git repository, or a directory with a folder for each package and revision.
    pub path: PathBuf,
}

impl CatalogSource {
    /// Whether it is for the PackageVariants of a namespace.
    pub fn serves(&self, namespace: &str) -> bool {
        self.namespace.as_deref().is_none_or(|own| own == namespace)
    }
}

/// `NAMESPACE/NAME`, or `NAME` without a namespace.
impl fmt::Display for CatalogSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}
