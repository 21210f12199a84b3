//! A Git repository as an upstream: read in place if it is on this machine, or else by its bare clone in the cache.
//!
//! Single commits are fetched into the clone, and the whole history only if nothing less is enough.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use krm_address::{Address, CommitId, Credentials, RefName};
use krm_upstream::GitOrigin;
use krm_upstream::git::{GitCommand, GitSource, Repository, Revision};

use super::{FetchedRevision, UpstreamKind};
use crate::client::{self, Place};
use crate::failure::{Failure, Hint, Result, command};
use crate::progress::progress;
use crate::releases::{ListedReference, Releases};
use crate::shared::{Listings, cache, close, folder_of, opened};
use crate::source::existing;

/// A repository.
pub(crate) struct GitUpstream {
    origin: Address,
    /// The address without a user, for the user.
    address: String,
    /// What the user typed in front of the host.
    credentials: Option<Credentials>,
    /// The local repository, or its clone in the cache.
    path: PathBuf,
    is_offline: bool,
}

/// The file in the clone for the list of references that was read last.
const REFERENCES: &str = "krmv-references";

impl GitUpstream {
    pub(super) fn open(
        origin: Address,
        address: &str,
        credentials: Option<Credentials>,
        is_offline: bool,
    ) -> Result<Self> {
        let path = match origin.local() {
            Some(local) => existing(local).ok_or_else(|| {
                let local = local.to_string_lossy();
                let message =
                    format!("'{local}', where the package comes from, is not a Git repository");
                Failure::new(message).hint(command(["git", "clone", "URL", &local]))
            })?,
            None => cache()?.join(folder_of(address)),
        };
        Ok(Self {
            origin,
            address: address.to_owned(),
            credentials,
            path,
            is_offline,
        })
    }

    /// The repository on another machine.
    fn remote_repository(&self) -> Option<&Address> {
        Some(&self.origin).filter(|origin| origin.local().is_none())
    }

    /// Whether it is on another machine.
    pub(crate) fn is_remote(&self) -> bool {
        self.remote_repository().is_some()
    }

    /// Whether only its clone in the cache may be read.
    pub(crate) fn is_only_cached(&self) -> bool {
        self.is_offline && self.is_remote()
    }

    /// The local repository, or the clone in the cache.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The output of `git ls-remote`.
    fn ask(&self) -> Result<String> {
        match self.remote_repository() {
            None => Ok(Repository::open(&self.path)?.listed_references()?),
            Some(_) if self.is_offline => {
                let file = self.path.join(REFERENCES);
                let listed = std::fs::read_to_string(file);
                listed.map_err(|_| self.not_cached("the list of revisions"))
            }
            Some(address) => {
                progress(format_args!("Asking {} for its revisions", self.address));
                let list = GitCommand::list_references(address);
                let credentials = self.credentials.as_ref();
                let listed = client::text_with(Place::Elsewhere, &list, credentials);
                let listed = listed.map_err(|error| self.unreachable(error))?;
                self.prepare(&listed)?;
                // If the cache is not writable, the next fetch into it fails with an error.
                let _ = std::fs::write(self.path.join(REFERENCES), &listed);
                Ok(listed)
            }
        }
    }

    /// Makes a commit available. It is fetched by its tag or branch first, for servers that do not serve single
    /// commits.
    pub(crate) fn fetch_commit(
        &self,
        commit: &str,
        reference: Option<&ListedReference>,
    ) -> Result<(Rc<Repository>, String)> {
        let has = |path: &Path| {
            let repository = opened(path).ok()?;
            // kpt records the ID of an annotated tag, not of the commit.
            let commit = repository.commit_with_id(commit)?;
            // After an interrupted fetch, a clone may have the commit without its files.
            repository.tree_of("", &commit).ok()?;
            Some((repository, commit))
        };
        if let Some(found) = has(&self.path) {
            return Ok(found);
        }
        let name = reference.map_or(commit, |reference| reference.name.as_str());
        let Some(remote) = self.remote_repository() else {
            let message = format!(
                "the commit {commit} is not in the repository {}",
                self.address
            );
            let path = self.path.to_string_lossy();
            return Err(
                Failure::new(message).hint(command(["git", "-C", &path, "fetch", "--tags"]))
            );
        };
        if self.is_offline {
            return Err(self.not_cached(&format!("the revision {name}")));
        }
        let id = CommitId::parse(commit)?;
        progress(format_args!("Fetching {name} from {}", self.address));
        let address = self.address.as_str();
        let mut attempts = Vec::new();
        if let Some(name) =
            reference.and_then(|reference| RefName::parse(&reference.full_name).ok())
        {
            attempts.push(GitCommand::fetch(remote, &[name], &[]));
        }
        attempts.push(GitCommand::fetch(remote, &[], &[id]));
        // The last resort: everything.
        attempts.push(GitCommand::fetch_all(remote, false));
        let mut last = None;
        for attempt in attempts {
            if let Err(error) = self.fetch(&attempt) {
                if error.message == client::NO_ANSWER {
                    return Err(self.unreachable(error));
                }
                last = Some(error);
            }
            if let Some(found) = has(&self.path) {
                return Ok(found);
            }
        }
        Err(match last {
            Some(error) => self.unreachable(error),
            None => Failure::new(format!(
                "the commit {commit} is no longer in the repository {address}"
            ))
            .hint(command(["git", "ls-remote", address])),
        })
    }

    /// Makes the commits of several revisions available at once.
    pub(crate) fn fetch_several(&self, references: &[&ListedReference]) -> Result<()> {
        let repository = opened(&self.path).ok();
        let is_here = |reference: &&&ListedReference| {
            let found = repository
                .as_ref()
                .map(|one| one.commit_with_id(&reference.commit));
            found.flatten().is_some()
        };
        let missing: Vec<&&ListedReference> =
            references.iter().filter(|one| !is_here(one)).collect();
        let remote = self.remote_repository().filter(|_| !self.is_offline);
        let Some(remote) = remote.filter(|_| missing.len() > 1) else {
            return Ok(());
        };
        let count = missing.len();
        progress(format_args!(
            "Fetching {count} revisions from {}",
            self.address
        ));
        let names = missing.iter();
        let names = names.filter_map(|reference| RefName::parse(&reference.full_name).ok());
        let names: Vec<RefName> = names.collect();
        self.fetch(&GitCommand::fetch(remote, &names, &[]))
            .map_err(|error| self.unreachable(error))
    }

    /// Fetches all tags and branches with their histories.
    pub(crate) fn fetch_all(&self) -> Result<()> {
        let Some(remote) = self.remote_repository() else {
            return Ok(());
        };
        if self.is_offline {
            return Err(self.not_cached("the history"));
        }
        progress(format_args!("Fetching the history of {}", self.address));
        let is_shallow = self.path.join("shallow").exists();
        self.fetch(&GitCommand::fetch_all(remote, is_shallow))
            .map_err(|error| self.unreachable(error))
    }

    /// Fetches a part of the history of a repository on another machine.
    pub(crate) fn fetch_history(&self, fetch: impl Fn(&Address) -> GitCommand) -> Result<()> {
        match self.remote_repository() {
            Some(_) if self.is_offline => Err(self.not_cached("the history")),
            Some(address) => {
                progress(format_args!("Fetching the history of {}", self.address));
                self.fetch(&fetch(address))
                    .map_err(|error| self.unreachable(error))
            }
            None => Ok(()),
        }
    }

    /// A command that brings a commit into the cache. `None` for a local repository.
    pub(crate) fn fetch_command(&self, commit: &str) -> Option<Hint> {
        let path = self.path.to_string_lossy();
        let words = [
            "git",
            "-C",
            &path,
            "fetch",
            "--depth=1",
            "--",
            &self.address,
            commit,
        ];
        self.is_remote().then(|| command(words))
    }

    fn fetch(&self, fetch: &GitCommand) -> Result<()> {
        let credentials = self.credentials.as_ref();
        let fetched = client::text_with(Place::Cache(&self.path), fetch, credentials);
        // An open repository may not know where the history ends now.
        close();
        fetched.map(drop)
    }

    /// Makes the clone in the cache, with the object format of the listed references.
    fn prepare(&self, listed: &str) -> Result<()> {
        if self.path.join("HEAD").is_file() {
            return Ok(());
        }
        let refused = |error: std::io::Error| {
            let message = format!(
                "cannot write to the cache '{}': {error}",
                self.path.display()
            );
            Failure::new(message).hint("export XDG_CACHE_HOME=\"$(mktemp -d)\"")
        };
        // The cache of a private repository is for its owner alone.
        let mut folder = std::fs::DirBuilder::new();
        let folder = folder.recursive(true).mode(0o700);
        folder.create(&self.path).map_err(refused)?;
        let is_sha256 = listed.find('\t') == Some(64);
        let format = if is_sha256 { "sha256" } else { "sha1" };
        let init = GitCommand::new(&["init", "--quiet", "--bare", "--object-format", format]);
        client::text(Place::Elsewhere, &init.paths([&self.path]))?;
        Ok(())
    }

    fn unreachable(&self, error: Failure) -> Failure {
        if !error.hints.is_empty() {
            return error;
        }
        // Git prints a user without a password, and a token may be the user.
        let credentials = self.credentials.as_ref();
        let reason = credentials.map(|one| one.removed_from(&error.message));
        let reason = reason.unwrap_or(error.message);
        let whole = self.origin.as_str();
        let start = whole.find("://").map_or(0, |at| at + 3);
        let user = whole.get(start..start + whole.len() - self.address.len());
        let reason = reason.replace(user.unwrap_or_default(), "");
        let message = format!("cannot read {}: {reason}", self.address);
        Failure::new(message).hint(command(["git", "ls-remote", &self.address]))
    }

    fn not_cached(&self, what: &str) -> Failure {
        let message = format!(
            "{what} of {} is not in the cache '{}', and this command does not use the network",
            self.address,
            self.path.display()
        );
        Failure::new(message).hint("krmv status")
    }
}

impl UpstreamKind for GitUpstream {
    fn releases(&self, directory: &str, listings: &mut Listings) -> Result<Releases> {
        let known = listings.references.entry(self.origin.as_str().to_owned());
        let listed = known.or_insert_with(|| self.ask()).clone()?;
        let releases = Releases::read(&listed, directory);
        if releases.is_empty() {
            let message = format!("the repository {} is empty: it has no commit", self.address);
            return Err(Failure::new(message).hint(command(["git", "ls-remote", &self.address])));
        }
        Ok(releases)
    }

    fn fetch(
        &self,
        path: &str,
        revision: &Revision,
        listed: Option<&ListedReference>,
    ) -> Result<FetchedRevision> {
        let (repository, commit) = self.fetch_commit(&revision.commit, listed)?;
        let place = format!("{}//{path}?ref={commit}", self.path.display());
        let revision = Revision {
            commit,
            ..revision.clone()
        };
        let read = repository.read(path, revision.clone()).map_err(|error| {
            // A reader knows the address, and not the folder in the cache.
            let folder = self.path.to_string_lossy();
            let message = error.to_string().replace(&*folder, &self.address);
            Failure::new(message).hint(command([
                "git",
                "-C",
                &folder,
                "ls-tree",
                "-r",
                "--name-only",
                &revision.commit,
            ]))
        });
        let source = GitSource {
            repository: self.path.clone(),
            directory: path.to_owned(),
            revision: revision.commit.clone(),
        };
        let snapshot = read?;
        Ok(FetchedRevision {
            origin: Some(Arc::new(GitOrigin::of(source, &snapshot))),
            snapshot,
            place,
        })
    }

    /// A commit, `HEAD~1`.
    fn by_other_name(
        &self,
        directory: &str,
        name: &str,
        listed: Option<&ListedReference>,
    ) -> Option<Revision> {
        if self.is_remote() && is_commit(name) && name.len() >= 40 {
            self.fetch_commit(name, listed).ok()?;
        }
        let repository = opened(&self.path).ok()?;
        repository.resolve(directory, name).ok()
    }

    /// A clone may still have tags and branches that upstream deleted.
    fn may_have(&self, request: &str) -> bool {
        !self.is_remote() || is_commit(request)
    }

    fn list_command(&self) -> Hint {
        command(["git", "ls-remote", "--tags", &self.address])
    }

    fn history(&self) -> Option<&GitUpstream> {
        Some(self)
    }
}

/// Whether a name is the ID of a commit, or its beginning.
fn is_commit(name: &str) -> bool {
    name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
