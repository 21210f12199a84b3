//! A supplied input that is a directory of a Git repository at a revision.

use super::package::{GitOrigin, SuppliedContent, SuppliedFile, SuppliedPackage};
use super::reader::{Reader, parsed_documents};
use super::{Role, UsageError};
use crate::git::{GitSource, Snapshot};
use crate::package::OtherFile;
use crate::results::{FunctionResult, Reason, Results};

impl SuppliedPackage {
    /// Reads a directory of a repository as a package.
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
        let Snapshot {
            files,
            others,
            skipped,
            ..
        } = snapshot;
        let mut reader = Reader::new(role, place, results);
        reader.warn_of_skipped(&skipped);
        let documents = parsed_documents(role, &files);
        for (file, documents) in files.into_iter().zip(documents) {
            let mode = Some(file.content.mode);
            reader.add_krm(file.path, file.content.text, documents, mode)?;
        }
        for OtherFile { path, mode, bytes } in others {
            let file = SuppliedFile {
                path: path.clone(),
                mode: Some(mode),
                content: SuppliedContent::Bytes(bytes),
            };
            reader.package.files.insert(path, file);
        }
        Ok(reader.package)
    }

    /// The repository and revision that the package was read from, if it was.
    #[must_use]
    pub fn git(&self) -> Option<&GitOrigin> {
        self.git.as_ref()
    }
}
