//! Finds the commit of a requested revision.

use krm_address::latest::LATEST;
use krm_package::normalize_package_path;
use krm_upstream::git::{GitError, Repository, Revision, tags_below};
use krm_variant::revision_request::{Lookup, RevisionRequest, spellings};

/// Finds the commit of a requested revision: a tag of the package, another tag, a branch or a commit. Porch names a
/// tag after the package's whole directory; older versions of Porch and users of kpt name it after the package only.
///
/// # Errors
/// A message: the revision does not exist, or was created in another workspace.
pub fn find_revision(
    repository: &Repository,
    directory: &str,
    package: &str,
    request: &RevisionRequest,
) -> Result<Revision, String> {
    let package = normalize_package_path(package);
    let search = RevisionSearch {
        repository,
        directory,
        package: &package,
    };
    let found = match request.lookup() {
        Lookup::Workspace(workspace) => search.workspace(workspace),
        Lookup::Latest => search.latest(),
        Lookup::Named(revision) => search.any_spelling(revision),
    };
    let found = found.map_err(|error| error.to_string())?;
    check_workspace(repository, directory, &found.commit, request)?;
    Ok(Revision {
        // This name is compared with `spec.upstream`.
        given: request.to_string(),
        ..found
    })
}

/// Checks that a commit comes from the requested workspace. A commit without a note of Porch is in the workspace that has the
/// name of its revision.
///
/// # Errors
/// A message: the commit comes from another workspace, or cannot be read.
pub(super) fn check_workspace(
    repository: &Repository,
    directory: &str,
    commit: &str,
    request: &RevisionRequest,
) -> Result<(), String> {
    let (Lookup::Named(revision), Some(_)) = (request.lookup(), request.workspace()) else {
        return Ok(());
    };
    let noted = repository.workspace_of(commit, directory);
    let noted = noted.map_err(|error| error.to_string())?;
    request.check_workspace(noted.as_deref().unwrap_or(revision))
}

struct RevisionSearch<'s> {
    repository: &'s Repository,
    directory: &'s str,
    package: &'s str,
}

impl RevisionSearch<'_> {
    fn folders(&self) -> [&str; 2] {
        [self.directory, self.package]
    }

    fn named(&self, text: &str) -> Result<Revision, GitError> {
        let found = self.repository.resolve(self.directory, text);
        if found.is_err() && self.directory != self.package {
            return self.repository.resolve(self.package, text).or(found);
        }
        found
    }

    fn any_spelling(&self, revision: &str) -> Result<Revision, GitError> {
        let found = self.named(revision);
        let mut others = spellings(revision).skip(1);
        found.or_else(|error| others.find_map(|other| self.named(other).ok()).ok_or(error))
    }

    /// The highest version among the tags of the package, or else among the tags without a folder.
    fn latest(&self) -> Result<Revision, GitError> {
        let newest = self
            .repository
            .latest_tag([self.directory, self.package, ""]);
        match newest {
            Some(newest) => self.named(&newest),
            None => self.named(LATEST),
        }
    }

    /// The draft or proposed revision of a workspace; or else the published revision that Porch created from it; or
    /// else the revision of that name.
    fn workspace(&self, workspace: &str) -> Result<Revision, GitError> {
        for kind in ["drafts", "proposed"] {
            for folder in self.folders() {
                let branch = format!("{kind}/{folder}/{workspace}");
                if let Ok(found) = self.repository.resolve("", &branch) {
                    return Ok(found);
                }
            }
        }
        let tags = self.repository.names_of_tags();
        for folder in self.folders() {
            for name in tags_below(&tags, folder) {
                let tag = self.repository.resolve("", &format!("{folder}/{name}"))?;
                let noted = self.repository.workspace_of(&tag.commit, folder)?;
                if noted.as_deref() == Some(workspace) {
                    return self.repository.resolve(folder, name);
                }
            }
        }
        self.named(workspace)
    }
}
