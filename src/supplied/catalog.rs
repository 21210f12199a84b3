//! The role `catalog`: where an upstream repository is.

use std::path::PathBuf;

/// A catalog: the name of a Repository, and what stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogSource {
    /// The name in `spec.upstream.repo`.
    pub name: String,
    /// A Git repository, or a directory with a folder for each package and revision.
    pub path: PathBuf,
}
