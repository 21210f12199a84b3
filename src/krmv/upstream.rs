//! The repository that a package comes from: its revisions, and the files of a revision. The revisions of an archive
//! are the archives next to it; those of an image layout are its tags.
//!
//! A local repository is read in place. Any other repository has a bare clone in the cache. Single commits are fetched
//! into the clone, and the whole history only if nothing less is enough.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use krm_variants::git::{GitSource, Repository, Revision, Snapshot, without_password};
use krm_variants::results::Results;
use krm_variants::supplied::{Role, SuppliedPackage};
use krm_variants::upstream::{self, SourceOutsideGit, UpstreamRevision};

use super::client;
use super::failure::{Failure, Hint, Result, command};
use super::package::{Contents, contents_of, has_decisions};
use super::print::progress;
use super::releases::{ListedReference, Releases};
use super::source::{existing, unreadable};

/// A repository, or archives or images.
pub(crate) struct UpstreamSource {
    /// As a Kptfile names it, for Git. It may have a password.
    remote: String,
    /// The same without a password, for the user.
    address: String,
    /// The local repository, or its clone in the cache. Empty for archives and images.
    path: PathBuf,
    is_local: bool,
    is_offline: bool,
    /// The archive or image layout. `None` for a Git repository.
    files: Option<SourceOutsideGit>,
    /// Its tags and branches, once they are [listed](Self::list).
    pub(crate) releases: Releases,
}

/// The file in the clone for the list of references that was read last.
const REFERENCES: &str = "krmv-references";

/// Flags of a fetch that gets single commits.
const SHALLOW: [&str; 2] = ["--depth=1", "--no-tags"];

/// A user may forbid Git to use bare repositories that no flag names.
const ANY_BARE: [&str; 2] = ["-c", "safe.bareRepository=all"];

impl UpstreamSource {
    pub(crate) fn open(address: &str, is_offline: bool) -> Result<Self> {
        let remote = address.to_owned();
        let address = &without_password(address);
        let files = SourceOutsideGit::parse(address);
        let local = address.strip_prefix("file://").unwrap_or(address);
        let is_url = address.contains("://") || super::source::is_remote_address(address);
        let is_local = files.is_some() || !is_url || local.len() < address.len();
        let path = if files.is_some() {
            PathBuf::new()
        } else if is_local {
            existing(Path::new(local)).ok_or_else(|| {
                let message =
                    format!("'{local}', where the package comes from, is not a Git repository");
                Failure::new(message).hint(command(["git", "clone", "URL", local]))
            })?
        } else {
            cache()?.join(folder_of(address))
        };
        Ok(Self {
            remote,
            address: address.to_owned(),
            path,
            is_local,
            is_offline,
            files,
            releases: Releases::default(),
        })
    }

    /// Opens the source, and lists its tags and branches for a directory.
    pub(crate) fn listed(address: &str, directory: &str, is_offline: bool) -> Result<Self> {
        let mut upstream = Self::open(address, is_offline)?;
        upstream.list(directory)?;
        Ok(upstream)
    }

    /// As a Kptfile names it, for the Kptfile.
    pub(crate) fn remote(&self) -> &str {
        &self.remote
    }

    /// Its name for the user.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether it is a Git repository, and not an archive or image layout.
    pub(crate) fn is_git(&self) -> bool {
        self.files.is_none()
    }

    /// Reads its tags and branches, for a directory.
    pub(crate) fn list(&mut self, directory: &str) -> Result<()> {
        if let Some(files) = &self.files {
            self.releases = Releases::of_files(files, directory)?;
            return Ok(());
        }
        let listed = if self.is_local {
            client::text(&self.path, ["ls-remote", "."]).map_err(|error| self.unreachable(error))?
        } else if self.is_offline {
            let file = self.path.join(REFERENCES);
            std::fs::read_to_string(file).map_err(|_| self.not_cached("its list of revisions"))?
        } else {
            progress(format_args!("Asking {} for its revisions", self.address));
            let listed = client::text(Path::new("."), ["ls-remote", "--", self.remote.as_str()]);
            let listed = listed.map_err(|error| self.unreachable(error))?;
            self.prepare(&listed)?;
            // If the cache is not writable, the next fetch into it fails with an error.
            let _ = std::fs::write(self.path.join(REFERENCES), &listed);
            listed
        };
        self.releases = Releases::read(&listed, directory);
        if self.releases.is_empty() {
            let message = format!("the repository {} is empty: it has no commit", self.address);
            return Err(Failure::new(message).hint(command(["git", "ls-remote", &self.address])));
        }
        Ok(())
    }

    /// The revision that a request names.
    pub(crate) fn requested(&self, directory: &str, request: &str) -> Result<Revision> {
        let listed = self
            .releases
            .requested(request)
            .map(ListedReference::revision);
        // A clone may still have tags and branches that upstream deleted.
        let is_other = self.is_local || is_commit(request);
        let other = || is_other.then(|| self.by_other_name(directory, request));
        let found = listed.or_else(|| other().flatten());
        found.ok_or_else(|| self.not_found(request))
    }

    /// The error for a revision that does not exist. Git lists only what its repositories have.
    pub(crate) fn not_found(&self, request: &str) -> Failure {
        let address = self.address.as_str();
        let next = if self.is_git() {
            command(["git", "ls-remote", "--tags", address])
        } else {
            command(["krmv", "help", "get"])
        };
        self.releases.not_found(request, address).hint(next)
    }

    /// Finds a revision by any name that only the repository itself knows: a commit, `HEAD~1`.
    pub(crate) fn by_other_name(&self, directory: &str, name: &str) -> Option<Revision> {
        if let Some(files) = &self.files {
            let flag = files.with_folder(directory);
            let found = match SourceOutsideGit::parse(name) {
                Some(other) => {
                    upstream::open(&other.absolute().ok()?.with_folder(directory)).ok()?
                }
                None => upstream::find_recorded(&flag, name),
            };
            return found.map(|found| of_file(&*found));
        }
        if !self.is_local && is_commit(name) && name.len() >= 40 {
            self.fetch_commit(name).ok()?;
        }
        let repository = Repository::open(&self.path).ok()?;
        repository.resolve(directory, name).ok()
    }

    /// Makes a commit available. It is fetched by its tag or branch first, for servers that do not serve single
    /// commits.
    pub(crate) fn fetch_commit(&self, commit: &str) -> Result<(Repository, String)> {
        let has = |path: &Path| {
            let repository = Repository::open(path).ok()?;
            // kpt records the ID of an annotated tag, not of the commit.
            let commit = repository.commit_with_id(commit)?;
            // After an interrupted fetch, a clone may have the commit without its files.
            repository.tree_of("", &commit).ok()?;
            Some((repository, commit))
        };
        if let Some(found) = has(&self.path) {
            return Ok(found);
        }
        let reference = self.releases.at(commit);
        let name = reference.map_or(commit, |reference| reference.name.as_str());
        if self.is_local {
            let message = format!(
                "the commit {commit} is not in the repository {}",
                self.address
            );
            return Err(Failure::new(message).hint(command([
                "git",
                "-C",
                &self.path.to_string_lossy(),
                "fetch",
                "--tags",
            ])));
        }
        if self.is_offline {
            return Err(self.not_cached(&format!("the revision {name}")));
        }
        progress(format_args!("Fetching {name} from {}", self.address));
        let address = self.address.as_str();
        let remote = self.remote.as_str();
        let shallow = [SHALLOW.as_slice(), &["--", remote]].concat();
        let full_name = reference.map(|reference| format!("+{0}:{0}", reference.full_name));
        let mut attempts: Vec<Vec<&str>> = Vec::new();
        if let Some(full_name) = &full_name {
            attempts.push([&shallow, [full_name.as_str()].as_slice()].concat());
        }
        attempts.push([&shallow, [commit].as_slice()].concat());
        // The last resort: everything.
        attempts.push(vec!["--tags", "--", remote, "+refs/heads/*:refs/heads/*"]);
        let mut last = None;
        for attempt in attempts {
            if let Err(error) = self.fetch(&attempt) {
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
        let repository = Repository::open(&self.path).ok();
        let is_here = |reference: &&&ListedReference| {
            let found = repository
                .as_ref()
                .map(|one| one.commit_with_id(&reference.commit));
            found.flatten().is_some()
        };
        let missing: Vec<&&ListedReference> =
            references.iter().filter(|one| !is_here(one)).collect();
        if self.is_local || self.is_offline || missing.len() < 2 {
            return Ok(());
        }
        let count = missing.len();
        progress(format_args!(
            "Fetching {count} revisions from {}",
            self.address
        ));
        let names = missing
            .iter()
            .map(|reference| format!("+{0}:{0}", reference.full_name));
        let names: Vec<String> = names.collect();
        let mut arguments = [SHALLOW.as_slice(), &["--", &self.remote]].concat();
        arguments.extend(names.iter().map(String::as_str));
        self.fetch(&arguments)
            .map_err(|error| self.unreachable(error))
    }

    /// Fetches all tags and branches with their histories.
    pub(crate) fn fetch_all(&self) -> Result<()> {
        if self.is_local {
            return Ok(());
        }
        if self.is_offline {
            return Err(self.not_cached("its history"));
        }
        progress(format_args!("Fetching the history of {}", self.address));
        let is_shallow = self.path.join("shallow").exists();
        let mut arguments = vec!["--tags"];
        arguments.extend(is_shallow.then_some("--unshallow"));
        arguments.extend(["--", self.remote.as_str(), "+refs/heads/*:refs/heads/*"]);
        self.fetch(&arguments)
            .map_err(|error| self.unreachable(error))
    }

    /// A command that brings a commit into the cache. `None` for a local repository.
    pub(crate) fn fetch_command(&self, commit: &str) -> Option<Hint> {
        let path = self.path.to_string_lossy();
        let words = [
            "git",
            "-C",
            &path,
            "fetch",
            SHALLOW[0],
            "--",
            &self.address,
            commit,
        ];
        (!self.is_local).then(|| command(words))
    }

    fn fetch(&self, arguments: &[&str]) -> Result<()> {
        let common = ["fetch", "--quiet", "--no-write-fetch-head", "--force"];
        // As for `ls-remote`, the repository of the user may have credentials or another address for a URL.
        let config = "rev-parse --path-format=absolute --git-path config";
        let own = client::line(Path::new("."), config.split(' '));
        let own = own.map(|path| format!("include.path={path}"));
        let own = own
            .iter()
            .flat_map(|own| ["-c", own, "-c", "core.bare=true"]);
        let arguments = own
            .chain(ANY_BARE)
            .chain(common)
            .chain(arguments.iter().copied());
        client::text(&self.path, arguments).map(drop)
    }

    /// The local repository, or the clone in the cache.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Finds the archive or image that has the digest of a revision.
    fn file(
        &self,
        files: &SourceOutsideGit,
        folder: &str,
        revision: &Revision,
    ) -> Result<Arc<dyn UpstreamRevision>> {
        let digest = &revision.commit;
        let known =
            SourceOutsideGit::parse(&revision.upstream_ref).map(|_| revision.upstream_ref.clone());
        let flags = known.into_iter().chain([files.with_folder(folder)]);
        let mut found = flags.filter_map(|flag| upstream::find_recorded(&flag, digest));
        found.next().ok_or_else(|| {
            let place = &revision.upstream_ref;
            let message = format!("expected '{place}' with the digest {digest}, found none");
            Failure::new(message).hint("krmv help get")
        })
    }

    /// Reads a directory at a revision, without upstream's own decisions.
    pub(crate) fn snapshot(&self, path: &str, revision: &Revision) -> Result<Snapshot> {
        let snapshot = self.whole_snapshot(path, revision)?;
        Ok(Snapshot {
            package: snapshot.package.without(has_decisions),
            ..snapshot
        })
    }

    fn whole_snapshot(&self, path: &str, revision: &Revision) -> Result<Snapshot> {
        if let Some(files) = &self.files {
            let package = self.file(files, path, revision)?.read();
            return Ok(Snapshot {
                revision: revision.clone(),
                address: self.address.clone(),
                package: package.map_err(unreadable)?,
            });
        }
        let (repository, commit) = self.fetch_commit(&revision.commit)?;
        let revision = &Revision {
            commit,
            ..revision.clone()
        };
        repository.read(path, revision.clone()).map_err(|error| {
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
        })
    }

    /// Like [`UpstreamSource::snapshot`], and returns the path too. If the path does not exist at the revision, Git's
    /// detection of renames since the commit `from` finds the new one.
    pub(crate) fn snapshot_since(
        &self,
        path: &str,
        from: &str,
        revision: &Revision,
    ) -> Result<(Snapshot, String)> {
        let error = match self.snapshot(path, revision) {
            Ok(snapshot) => return Ok((snapshot, path.to_owned())),
            Err(error) => error,
        };
        let Some(moved) = moved_to(&self.path, path, from, &revision.commit) else {
            return Err(error);
        };
        let snapshot = self.snapshot(&moved, revision)?;
        Ok((snapshot, moved))
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
        std::fs::create_dir_all(&self.path).map_err(refused)?;
        let is_sha256 = listed.find('\t') == Some(64);
        let format = if is_sha256 { "sha256" } else { "sha1" };
        let init = ["init", "--quiet", "--bare", "--object-format", format];
        client::text(&self.path, init)?;
        Ok(())
    }

    fn unreachable(&self, error: Failure) -> Failure {
        if !error.hints.is_empty() {
            return error;
        }
        // Git prints a user without a password, and a token may be the user.
        let user = self.remote.len() - self.address.len();
        let start = self.remote.find("://").map_or(0, |at| at + 3);
        let reason = error.message.replace(&self.remote[start..start + user], "");
        let message = format!("cannot read {}: {reason}", self.address);
        Failure::new(message).hint(command(["git", "ls-remote", &self.address]))
    }

    fn not_cached(&self, what: &str) -> Failure {
        let message = format!(
            "--offline: {what} of {} is not in the cache '{}'; run the command once without --offline",
            self.address,
            self.path.display()
        );
        Failure::new(message)
    }
}

/// Whether a name is the ID of a commit, or its beginning.
fn is_commit(name: &str) -> bool {
    name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The directory to which most files of a directory were renamed between two commits, or the new path of a file.
pub(crate) fn moved_to(repository: &Path, path: &str, from: &str, to: &str) -> Option<String> {
    let command = "diff-tree -r -z -M --diff-filter=R --name-status";
    let arguments = ANY_BARE.into_iter().chain(command.split(' '));
    let listed = client::text(repository, arguments.chain([from, to])).ok()?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut words = listed.split('\0');
    while let (Some(_), Some(old), Some(new)) = (words.next(), words.next(), words.next()) {
        let rest = old.strip_prefix(path);
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if let Some(directory) = rest.and_then(|rest| new.strip_suffix(rest)) {
            *counts.entry(directory).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(directory, _)| directory.to_owned())
}

/// A revision as the upstream of a new package, including the files that merges leave out.
pub(crate) fn to_clone(
    snapshot: Snapshot,
    upstream: &UpstreamSource,
    path: &str,
    results: &mut Results,
) -> Result<SuppliedPackage> {
    if let Some(files) = &upstream.files {
        let Snapshot {
            revision, package, ..
        } = snapshot;
        let file = upstream.file(files, path, &revision)?;
        let supplied = SuppliedPackage::from_upstream(Role::Upstream, package, file, results);
        return Ok(supplied?);
    }
    let source = GitSource {
        repository: upstream.path.clone(),
        directory: path.to_owned(),
        revision: snapshot.revision.commit.clone(),
    };
    Ok(SuppliedPackage::from_git(
        Role::Upstream,
        source,
        snapshot,
        results,
    )?)
}

/// The revision of an archive or image: its flag for the Kptfile, its release and its digest.
fn of_file(found: &dyn UpstreamRevision) -> Revision {
    let flag = found.flag();
    let id = found.id();
    let release = SourceOutsideGit::parse(&flag).and_then(|source| source.release);
    let mut revision = Revision::named(&flag, id.trim_start_matches("digest ").to_owned());
    revision.lock_ref = release.unwrap_or(flag);
    revision
}

/// A revision as the input for a role. Files that are also in `others` are not parsed again. A single-file package gets
/// the local name of the file.
pub(crate) fn supplied(
    snapshot: Snapshot,
    role: Role,
    local_name: Option<&str>,
    others: &[&SuppliedPackage],
) -> Result<Arc<SuppliedPackage>> {
    let place = format!("{role} {}", snapshot.revision.lock_ref);
    let package = snapshot.package.named_as(local_name);
    let mut results = Results::default();
    let package = SuppliedPackage::from_package_like(role, place, package, others, &mut results)?;
    Ok(Arc::new(package))
}

/// The files of a supplied package.
pub(crate) fn contents(package: &SuppliedPackage) -> Result<Contents> {
    package.files().map_or(Ok(Contents::new()), contents_of)
}

/// The folder of all clones.
fn cache() -> Result<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = of("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(PathBuf::from(of("HOME")?).join(".cache")));
    let cache = cache.ok_or_else(|| {
        let message = "expected a folder for the cache (XDG_CACHE_HOME or HOME), found none";
        Failure::new(message).hint("export XDG_CACHE_HOME=\"$(mktemp -d)\"")
    })?;
    Ok(cache.join("krmv"))
}

/// The folder name of a clone: the readable end of the address, and a digest of the address.
fn folder_of(address: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let name: Vec<&str> = address.rsplit(['/', ':']).take(2).collect();
    let name: String = name.into_iter().rev().collect::<Vec<_>>().join("-");
    let name: String = name.chars().filter(|c| is_word(*c)).collect();
    let digest = sha1_smol::Sha1::from(address).digest().to_string();
    format!("{}-{}", name.trim_start_matches('.'), &digest[..12])
}
