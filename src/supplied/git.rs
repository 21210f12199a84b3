//! A supplied input that is a directory of a Git repository at a revision.

use super::package::{GitOrigin, SuppliedPackage};
use super::reader::Reader;
use super::{Role, UsageError};
use crate::git::{GitSource, Snapshot};
use crate::results::{FunctionResult, Reason, Results};

impl SuppliedPackage {
    /// Reads a directory or a file of a repository as a package.
    ///
    /// # Errors
    /// [`UsageError`]: one of its files is not YAML.
    pub fn from_git(
        role: Role,
        source: GitSource,
        snapshot: Snapshot,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let origin = GitOrigin {
            revision: snapshot.revision.clone(),
            tree: snapshot.tree.clone(),
            is_file: snapshot.package.only_file.is_some(),
            address: snapshot.address.clone(),
            source,
        };
        let mut package = Self::from_snapshot(role, origin.source.to_string(), snapshot, results)?;
        let GitOrigin {
            revision, source, ..
        } = &origin;
        if revision.is_ambiguous {
            let message = format!(
                "--{role}: `{}` is a tag and a branch of the repository '{}'; the tag was taken, \
                 kpt takes the branch",
                revision.given,
                source.repository.display()
            );
            results.push(FunctionResult::warning(Reason::AmbiguousRevision, message));
        }
        package.git = Some(origin);
        Ok(package)
    }

    /// Reads a directory of a repository as a package that follows no upstream. `place` names it in messages.
    ///
    /// # Errors
    /// [`UsageError`]: one of its files is not YAML.
    pub fn from_snapshot(
        role: Role,
        place: String,
        snapshot: Snapshot,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let mut reader = Reader::new(role, place, results);
        reader.add_package(snapshot.package)?;
        Ok(reader.package)
    }

    /// The repository and revision that the package was read from, if it was.
    #[must_use]
    pub fn git(&self) -> Option<&GitOrigin> {
        self.git.as_ref()
    }
}
