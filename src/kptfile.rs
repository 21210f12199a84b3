//! Reads and edits a Kptfile: its lock, and the annotations of an open upgrade.
//!
//! While conflicts are undecided `upstream.git.ref` names the new revision and `upstreamLock` the old one, and
//! two annotations record the progress of the upgrade:
//!
//! ```yaml
//! metadata:
//!   annotations:
//!     fn.kpt.dev/open-upgrade: 1f2e...3d..9a8b...7c      # merged: from this commit to that one
//!     fn.kpt.dev/decided-conflicts: |                    # decided for the file's value
//!       app.yaml:Deployment/app:spec.replicas
//! ```
//!
//! The lock alone is not enough: a branch or tag may move before all conflicts are decided, and a `ref` that the user
//! edited would look like a merge that never happened. Neither annotation contains values.

use std::collections::BTreeSet;
use std::path::Path;

use krm_address::{Address, CommitId, Surroundings};
use krm_core::kptfile::{
    ANNOTATIONS, NewLock, OPEN_UPGRADE_ANNOTATION, UPSTREAM_DIGEST_ANNOTATION,
    UPSTREAM_SOURCE_ANNOTATION, UnusableLock, UpstreamLock, has_open_upgrade, remove_annotations,
    update_strategy,
};
use krm_package::check_package_path;
use krm_upstream::{SourceOutsideGit, forget_digest, is_digest, record_digest, recorded_digest};
use krm_yaml::{Content, EditError, Editor, NodeRef, OwnedDocument, Value};

use super::failure::{Failure, Result};
use krm_remote::{RemoteError, RemoteSource, release_of};

/// The conflicts that the user decided for the file's value, one key a line. The files do not show these decisions.
const DECIDED: &str = "fn.kpt.dev/decided-conflicts";

/// An upgrade with conflicts to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenUpgrade {
    /// The commit in the lock when the upgrade began.
    pub(crate) from: String,
    /// The commit that it was merged with.
    pub(crate) to: String,
    /// The archive or image that it was merged with; no other field of the Kptfile names it. `None` for a Git
    /// repository.
    pub(crate) source: Option<String>,
    /// The path of the package in the repository at the new revision, if it is another one than in the lock.
    pub(crate) path: Option<String>,
    /// The keys of the conflicts that are decided for the file's value.
    pub(crate) decided: BTreeSet<String>,
}

/// Where a package comes from, as a Kptfile names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PackageOrigin {
    Git(Address),
    /// An archive or image layout. Its path is absolute, or relative to the current directory.
    Files(SourceOutsideGit),
    /// A file, chart or image on another machine.
    Remote(RemoteOrigin),
}

/// A file, chart or image on another machine, and its address for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteOrigin {
    pub(crate) source: RemoteSource,
    address: String,
}

impl From<RemoteSource> for RemoteOrigin {
    fn from(source: RemoteSource) -> Self {
        let address = source.address();
        Self { source, address }
    }
}

impl PackageOrigin {
    /// The address, for a Kptfile and for the user. It has no password.
    pub(crate) fn address(&self) -> &str {
        match self {
            Self::Git(address) => address.as_str(),
            Self::Files(files) => &files.address,
            Self::Remote(remote) => &remote.address,
        }
    }
}

/// What a Kptfile records about the upstream of its package.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tracking {
    /// `upstreamLock`, or the recorded digest of an archive or image.
    pub(crate) lock: Option<UpstreamLock>,
    /// The repository, archive or image layout.
    pub(crate) repository: Option<PackageOrigin>,
    /// `upstream.git.ref`. For an archive or image, the source of the open upgrade.
    pub(crate) requested: Option<String>,
    pub(crate) open: Option<OpenUpgrade>,
}

impl Tracking {
    /// Reads a Kptfile. Its addresses, names of revisions and ids are parsed; an error names the field.
    pub(crate) fn read(text: &str, surroundings: &Surroundings) -> Result<Self> {
        let document = OwnedDocument::parse_resource(text.to_owned())
            .map_err(|error| Failure::from(error).context("Kptfile"))?;
        let Some(root) = document.root() else {
            return Err(Failure::new("Kptfile: expected a mapping, found nothing"));
        };
        let wrong =
            |error: UnusableLock| Failure::new(format!("Kptfile: {}: {error}", error.path()));
        let lock = UpstreamLock::read(root).map_err(wrong)?;
        let files = recorded_digest(root).filter(|_| lock.is_none());
        let files = files.map(|(source, digest)| of_files(&source, digest, surroundings, root));
        let (origin, lock) = match files.transpose()?.flatten() {
            Some((origin, lock)) => (Some(origin), Some(lock)),
            None => {
                let address = UpstreamLock::address(root, surroundings).map_err(wrong)?;
                (address.map(PackageOrigin::Git), lock)
            }
        };
        let requested = UpstreamLock::requested(root).map_err(wrong)?;
        let text = |path: &[&str]| {
            let node = root.get_path(path).filter(|node| !node.is_null());
            let text = node.and_then(|node| node.scalar_text()).map(str::to_owned);
            text.filter(|text| !text.is_empty())
        };
        let annotation = |name: &str| text(&["metadata", "annotations", name]);
        let decided = annotation(DECIDED).unwrap_or_default();
        let decided = decided
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let is_open = has_open_upgrade(root);
        let is_local = matches!(origin, Some(PackageOrigin::Files(_)));
        let open = annotation(OPEN_UPGRADE_ANNOTATION).filter(|_| is_open);
        let mut open = open.and_then(|range| open_upgrade(&range, decided));
        if let Some(open) = &mut open {
            check_open(open)?;
            if is_local && let Some(source) = &mut open.source {
                *source = found_path(source, surroundings).unwrap_or_else(|| source.clone());
            }
        }
        let requested = requested.map(|name| name.to_string());
        Ok(Self {
            repository: origin,
            requested: requested.or(open.as_ref().and_then(|open| open.source.clone())),
            open,
            lock,
        })
    }

    /// The directory or file below the repository's root.
    pub(crate) fn path(&self) -> String {
        let lock = self.lock.as_ref();
        lock.map_or_else(String::new, |lock| lock.directory.clone())
    }
}

/// The name of the locked revision: the release of an archive or image, otherwise `ref`.
pub(crate) fn locked_name(lock: &UpstreamLock) -> Option<String> {
    let reference = lock.reference.as_deref();
    let commit = lock.commit.as_deref().unwrap_or_default();
    let release = reference.and_then(|source| release_outside_git(source, commit));
    release.or_else(|| lock.reference.clone())
}

/// The release that the source of a file or image names. `None` for a revision in Git.
pub(crate) fn release_outside_git(source: &str, commit: &str) -> Option<String> {
    if !is_digest(commit) {
        return None;
    }
    release_of(source).or_else(|| SourceOutsideGit::parse(source)?.release)
}

/// Reads the annotation of an open upgrade: `FROM..TO`, then the archive or image, or the path of the package at TO.
fn open_upgrade<'d>(range: &str, decided: impl Iterator<Item = &'d str>) -> Option<OpenUpgrade> {
    let (range, place) = match range.split_once(' ') {
        Some((range, place)) => (range, Some(place.to_owned())),
        None => (range, None),
    };
    let (from, to) = range.split_once("..")?;
    let is_path = !is_digest(to);
    Some(OpenUpgrade {
        path: place.clone().filter(|_| is_path),
        source: place.filter(|_| !is_path),
        from: from.to_owned(),
        to: to.to_owned(),
        decided: decided.map(str::to_owned).collect(),
    })
}

/// Checks what the annotation of an open upgrade contains.
fn check_open(open: &OpenUpgrade) -> Result<()> {
    let (from, to) = (Some(&open.from), Some(&open.to));
    for id in [from.filter(|id| !id.is_empty()), to].into_iter().flatten() {
        check_id(id, OPEN_UPGRADE_ANNOTATION)?;
    }
    let path = open.path.as_deref().map(check_package_path);
    path.transpose().map(drop).map_err(|error| {
        let place = format!("metadata.annotations[\"{OPEN_UPGRADE_ANNOTATION}\"]");
        Failure::from(error).context(format_args!("Kptfile: {place}"))
    })
}

/// Checks an id that an annotation contains: of a commit, or of an archive or image.
fn check_id(id: &str, annotation: &str) -> Result<()> {
    let digits = id
        .strip_prefix("sha256:")
        .filter(|digits| digits.len() == 64);
    let checked = CommitId::parse(digits.unwrap_or(id));
    checked.map(drop).map_err(|error| {
        Failure::new(format!(
            "Kptfile: metadata.annotations[\"{annotation}\"]: {error}"
        ))
    })
}

/// A recorded archive or image layout with an absolute path. `None` if its path leads out of the work tree.
fn found_path(source: &str, surroundings: &Surroundings) -> Option<String> {
    let recorded = SourceOutsideGit::parse(source)?;
    let path = recorded.path();
    let found = surroundings.recorded(Path::new(path))?;
    Some(source.replacen(path, &found.to_string_lossy(), 1))
}

/// An archive or image layout as a Kptfile records it. Other sources are recorded as they are.
fn portable(source: &str, surroundings: &Surroundings) -> String {
    let is_remote = !matches!(RemoteSource::parse(source, surroundings), Ok(None));
    let Some(files) = SourceOutsideGit::parse(source).filter(|_| !is_remote) else {
        return source.to_owned();
    };
    let path = files.path();
    let portable = surroundings.portable(Path::new(path));
    source.replacen(path, &portable.to_string_lossy(), 1)
}

/// The source outside of Git that a Kptfile records, and its lock. `None` if the record names none.
fn of_files(
    source: &str,
    digest: String,
    surroundings: &Surroundings,
    root: NodeRef<'_>,
) -> Result<Option<(PackageOrigin, UpstreamLock)>> {
    let field = format!("Kptfile: metadata.annotations[\"{UPSTREAM_SOURCE_ANNOTATION}\"]");
    let wrong = |error: RemoteError| Failure {
        hints: Vec::new(),
        ..Failure::from(error).context(&field)
    };
    if let Some(remote) = RemoteSource::parse(source, surroundings).map_err(wrong)? {
        check_id(&digest, UPSTREAM_DIGEST_ANNOTATION)?;
        if remote.credentials.is_some() {
            let message = "expected an address without a password (`.netrc` has it), found one";
            let hint = "touch ~/.netrc && chmod 600 ~/.netrc";
            return Err(Failure::new(format!("{field}: {message}")).hint(hint));
        }
        let is_file = remote.source.is_only_file(&remote.inner);
        let lock = lock_of_files(remote.inner, source.to_owned(), digest, root);
        let lock = UpstreamLock { is_file, ..lock };
        return Ok(Some((PackageOrigin::Remote(remote.source.into()), lock)));
    }
    if SourceOutsideGit::parse(source).is_none() {
        return Ok(None);
    }
    check_id(&digest, UPSTREAM_DIGEST_ANNOTATION)?;
    let found = found_path(source, surroundings).ok_or_else(|| {
        Failure::new(format!(
            "{field}: expected an absolute path, or one in the work tree of the package, found `{}`",
            source.escape_debug()
        ))
    })?;
    let Some(files) = SourceOutsideGit::parse(&found) else {
        return Ok(None);
    };
    let lock = lock_of_files(files.folder.clone(), found, digest, root);
    Ok(Some((PackageOrigin::Files(files), lock)))
}

/// The lock of an archive or image, with the digest in place of a commit.
fn lock_of_files(
    folder: String,
    source: String,
    digest: String,
    root: NodeRef<'_>,
) -> UpstreamLock {
    UpstreamLock {
        directory: folder,
        is_file: false,
        reference: Some(source),
        commit: Some(digest),
        update_strategy: update_strategy(root),
    }
}

fn edited(
    text: &str,
    edit: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, '_>) -> std::result::Result<(), EditError>,
) -> Result<String> {
    Ok(OwnedDocument::edited(text.to_owned(), edit)?)
}

/// A minimal Kptfile, for a package that has none.
pub(crate) fn new(name: &str) -> String {
    krm_yaml::to_block_text(&Value::Mapping(vec![
        Value::entry("apiVersion", "kpt.dev/v1"),
        Value::entry("kind", "Kptfile"),
        Value::entry("metadata", Value::Mapping(vec![Value::entry("name", name)])),
    ]))
}

/// `metadata.name`.
pub(crate) fn name(text: &str) -> Option<String> {
    let document = OwnedDocument::parse_resource(text.to_owned()).ok()?;
    let name = document.root()?.get_path(&["metadata", "name"])?;
    name.scalar_text().map(str::to_owned)
}

/// Gives a Kptfile a `metadata.name`.
pub(crate) fn named(text: &str, new: &str) -> Result<String> {
    edited(text, |root, editor| match root.get("metadata") {
        Some(metadata) if name(text).as_deref() != Some(new) => {
            editor.set(metadata, "name", Content::Value(Value::from(new)))
        }
        _ => Ok(()),
    })
}

/// Gives a Kptfile the upstream and the lock of another Kptfile, and closes an open upgrade.
pub(crate) fn with_lock_of(text: &str, other: &str) -> Result<String> {
    let document = OwnedDocument::parse_resource(other.to_owned())?;
    let root = document.root();
    let text = annotated(text, &[(OPEN_UPGRADE_ANNOTATION, None), (DECIDED, None)])?;
    let recorded = root.and_then(recorded_digest);
    edited(&text, |own, editor| {
        match &recorded {
            Some((source, digest)) => return record_digest(source, digest, own, editor),
            None => forget_digest(own, editor),
        }
        for key in ["upstream", "upstreamLock"] {
            let value = root.and_then(|root| root.get(key)?.value());
            if let Some(value) = value
                .filter(|value| own.get(key).and_then(|node| node.value()).as_ref() != Some(value))
            {
                editor.set(own, key, Content::Value(value))?;
            }
        }
        Ok(())
    })
}

/// A copy of the lock for a package that upstream moved to another directory.
pub(crate) fn at(lock: &UpstreamLock, directory: &str) -> UpstreamLock {
    UpstreamLock {
        directory: directory.to_owned(),
        ..lock.clone()
    }
}

/// Records a revision as merged, and closes an open upgrade.
pub(crate) fn locked(
    text: &str,
    lock: &NewLock<'_>,
    surroundings: &Surroundings,
) -> Result<String> {
    let source = portable(lock.upstream_ref, surroundings);
    let text = edited(text, |root, editor| {
        match lock.commit.filter(|id| is_digest(id)) {
            Some(digest) => record_digest(&source, digest, root, editor),
            None => {
                forget_digest(root, editor);
                lock.write(root, editor)
            }
        }
    })?;
    annotated(&text, &[(OPEN_UPGRADE_ANNOTATION, None), (DECIDED, None)])
}

/// Records an open upgrade: `upstream` names the new revision, and the lock keeps the old one.
pub(crate) fn opened(
    text: &str,
    new: &NewLock<'_>,
    open: &OpenUpgrade,
    surroundings: &Surroundings,
) -> Result<String> {
    if new.commit.is_some_and(is_digest) {
        return decided(text, open, surroundings);
    }
    let text = edited(text, |root, editor| new.write_request(root, editor))?;
    decided(&text, open, surroundings)
}

/// Writes the annotations of an open upgrade, with the conflicts that are decided.
pub(crate) fn decided(
    text: &str,
    open: &OpenUpgrade,
    surroundings: &Surroundings,
) -> Result<String> {
    let lines: String = open
        .decided
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    let source = open.source.iter();
    let source = source.map(|source| portable(source, surroundings));
    let place = source.chain(open.path.clone());
    let place: String = place.map(|place| format!(" {place}")).collect();
    let range = format!("{}..{}{place}", open.from, open.to);
    annotated(
        text,
        &[
            (OPEN_UPGRADE_ANNOTATION, Some(&range)),
            (DECIDED, Some(&*lines).filter(|lines| !lines.is_empty())),
        ],
    )
}

/// Sets annotations, and removes those without a value.
fn annotated(text: &str, annotations: &[(&str, Option<&str>)]) -> Result<String> {
    let text = edited(text, |root, editor| {
        let set = annotations
            .iter()
            .copied()
            .filter(|(_, text)| text.is_some());
        editor.set_fields(root, &ANNOTATIONS, set)
    })?;
    let is_removed = |name: &str| annotations.contains(&(name, None));
    edited(&text, |root, editor| {
        remove_annotations(root, is_removed, editor);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use krm_upstream::git::Revision;

    use super::*;

    const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web # mine\n\
        upstream:\n  type: git\n  git:\n    repo: https://e.com/r\n    directory: /web\n    ref: v1\n  \
        updateStrategy: resource-merge\nupstreamLock:\n  type: git\n  git:\n    repo: https://e.com/r\n    \
        directory: /web\n    ref: web/v1\n    commit: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";

    fn read(text: &str) -> Tracking {
        Tracking::read(text, &Surroundings::default()).expect("a Kptfile")
    }

    fn revision(name: &str, commit: &str) -> Revision {
        Revision {
            given: name.to_owned(),
            commit: commit.to_owned(),
            upstream_ref: name.to_owned(),
            lock_ref: format!("web/{name}"),
            is_ambiguous: false,
        }
    }

    #[test]
    fn an_open_upgrade_leaves_the_lock_alone_and_ends_without_a_trace() {
        let lock = read(KPTFILE).lock.expect("a lock");
        let mut open = OpenUpgrade {
            from: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".to_owned(),
            to: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb".to_owned(),
            source: None,
            path: None,
            decided: BTreeSet::new(),
        };
        let new = revision("v2", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
        let moved = lock.moved_to("https://e.com/r", &new);
        let text = opened(KPTFILE, &moved, &open, &Surroundings::default()).expect("edits");
        assert!(
            text.contains("    ref: v2\n")
                && text.contains("    commit: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"),
            "{text}"
        );
        assert!(
            text.contains("    ref: web/v1\n") && text.contains("name: web # mine"),
            "{text}"
        );
        let tracking = read(&text);
        assert_eq!(tracking.open.as_ref(), Some(&open));

        open.decided
            .insert("app.yaml:Deployment/app:spec.replicas".to_owned());
        open.decided
            .insert("app.yaml:Deployment/app:spec.x[0]".to_owned());
        let text = decided(&text, &open, &Surroundings::default()).expect("edits");
        assert_eq!(read(&text).open, Some(open));

        let text = locked(&text, &moved, &Surroundings::default()).expect("edits");
        let expected = KPTFILE
            .replace("ref: v1", "ref: v2")
            .replace("web/v1", "web/v2");
        assert_eq!(
            text,
            expected.replace(
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
            )
        );
    }

    #[test]
    fn a_lock_without_a_commit_stays_without_one_until_all_is_decided() {
        let kptfile = KPTFILE.replace("    commit: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "");
        let lock = read(&kptfile).lock;
        let lock = lock.expect("a lock");
        let open = OpenUpgrade {
            from: String::new(),
            to: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb".to_owned(),
            source: None,
            path: None,
            decided: BTreeSet::new(),
        };
        let new = revision("v2", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
        let text = opened(
            &kptfile,
            &lock.moved_to("https://e.com/r", &new),
            &open,
            &Surroundings::default(),
        );
        let text = text.expect("edits");
        assert!(!text.contains("commit: "), "{text}");
        let tracking = read(&text);
        assert_eq!(tracking.open, Some(open));
    }

    #[test]
    fn a_lock_that_another_program_moved_closes_the_upgrade() {
        let lock = read(KPTFILE).lock.expect("a lock");
        let open = OpenUpgrade {
            from: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".to_owned(),
            to: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb".to_owned(),
            source: None,
            path: None,
            decided: BTreeSet::new(),
        };
        let new = revision("v2", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
        let moved = lock.moved_to("https://e.com/r", &new);
        let text = opened(KPTFILE, &moved, &open, &Surroundings::default());
        let text = text.expect("edits").replace(
            "commit: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "commit: cccccccccccccccccccccccccccccccccccccccc",
        );
        let tracking = read(&text);
        assert_eq!(tracking.open, None);
    }
}
