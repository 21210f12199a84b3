//! `upstream` and `upstreamLock` of a Kptfile: what a package follows, and the revision it is based on.
//!
//! ```yaml
//! upstream:              # what was asked for
//!   type: git
//!   git: {repo: https://github.com/example/catalog, directory: /nginx, ref: v2}
//!   updateStrategy: resource-merge
//! upstreamLock:          # what was found
//!   type: git
//!   git: {repo: https://github.com/example/catalog, directory: /nginx, ref: nginx/v2, commit: 5f0c...}
//! ```
//!
//! The fields are read and written as kpt does it: `ref` of the lock has the package's name as a prefix where the tag
//! has it, and `directory` begins with a slash.

use super::ownership::{
    ANNOTATIONS, UPSTREAM_DIGEST_ANNOTATION, UPSTREAM_FILE_ANNOTATION, UPSTREAM_SOURCE_ANNOTATION,
    remove_annotations,
};
use crate::results::with_article;
use crate::revision::Revision;
use krm_address::{Address, CommitId, RefName, Surroundings, Unexpected};
use krm_package::{join, normalize_package_path};
use krm_yaml::{Content, EditError, Editor, NodeRef, Path, Value};

/// The revision that a package is based on, as its Kptfile records it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamLock {
    /// The directory or file, from the repository's root, without slashes at its ends.
    pub directory: String,
    /// Whether it is a file.
    pub is_file: bool,
    /// The tag or branch: read from a Kptfile, it is a [`RefName`].
    pub reference: Option<String>,
    /// The commit, or the object of an annotated tag, which kpt writes instead: read from a Kptfile, it is a
    /// [`CommitId`].
    pub commit: Option<String>,
    /// The update strategy, by kpt's name for it.
    pub update_strategy: Option<String>,
}

/// Why an `upstreamLock` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableLock {
    /// Another tool stores the upstream elsewhere: Porch in its database (`generic`).
    #[error("expected an `upstreamLock` of type `git`, found type `{0}`")]
    OtherType(String),
    /// The lock, or a field of it, has a value of the wrong kind.
    #[error("expected {expected}, found {found}")]
    WrongKind {
        /// The field.
        path: Path,
        /// The kind that it must have.
        expected: &'static str,
        /// The kind that it has.
        found: String,
    },
    /// A field is not an address, a name of a tag or branch, or the id of a commit.
    #[error("{error}")]
    Unexpected {
        /// The field.
        path: Path,
        /// What it must be, and what it is.
        error: Unexpected,
    },
}

/// Parses a field as one of the types for what comes from data.
fn parsed<T>(
    path: &[&str],
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, Unexpected>,
) -> Result<Option<T>, UnusableLock> {
    let parsed = text.map(parse).transpose();
    parsed.map_err(|error| UnusableLock::Unexpected {
        path: Path::fields(path),
        error,
    })
}

impl UnusableLock {
    /// The field with the problem.
    pub fn path(&self) -> Path {
        match self {
            Self::OtherType(_) => Path::fields(&["upstreamLock", "type"]),
            Self::WrongKind { path, .. } | Self::Unexpected { path, .. } => path.clone(),
        }
    }
}

impl UpstreamLock {
    /// The repository that a Kptfile names, in `upstream` or else in `upstreamLock`.
    pub fn repository(kptfile: NodeRef<'_>) -> Option<String> {
        let text = |path: &[&str]| kptfile.get_path(path).and_then(|node| node.scalar_text());
        let repository = text(&["upstream", "git", "repo"]);
        let repository = repository.or(text(&["upstreamLock", "git", "repo"]));
        repository
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    }

    /// Reads the lock of a Kptfile; `None` if it has none.
    ///
    /// # Errors
    /// [`UnusableLock`] if no revision can be read from the lock.
    pub fn read(kptfile: NodeRef<'_>) -> Result<Option<Self>, UnusableLock> {
        let mapping = |path: &[&str]| {
            present(kptfile, path, "a mapping", |node| {
                node.kind().is_mapping().then_some(())
            })
        };
        let text = |path: &[&str]| present(kptfile, path, "text", |node| node.scalar_text());
        mapping(&["upstreamLock"])?;
        let kind = text(&["upstreamLock", "type"])?.unwrap_or_default();
        if !kind.is_empty() && kind != "git" {
            return Err(UnusableLock::OtherType(kind.to_owned()));
        }
        mapping(&["upstreamLock", "git"])?;
        let field = |field: &str| {
            let text = text(&["upstreamLock", "git", field])?;
            Ok(text.filter(|text| !text.is_empty()).map(str::to_owned))
        };
        let (reference, commit) = (field("ref")?, field("commit")?);
        let place = |field| ["upstreamLock", "git", field];
        let reference = parsed(&place("ref"), reference.as_deref(), RefName::parse)?;
        let commit = parsed(&place("commit"), commit.as_deref(), CommitId::parse)?;
        let directory = normalize_package_path(&field("directory")?.unwrap_or_default());
        let file = upstream_file(kptfile).map(normalize_package_path);
        if reference.is_none() && commit.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            is_file: file.is_some(),
            directory: match file {
                Some(file) => join(&directory, &file),
                None => directory,
            },
            reference: reference.map(|name| name.to_string()),
            commit: commit.map(|id| id.to_string()),
            update_strategy: update_strategy(kptfile),
        }))
    }

    /// The [repository](Self::repository) that a Kptfile names, as a program may contact it. `upstream` and
    /// `upstreamLock` must both be addresses.
    ///
    /// # Errors
    /// [`UnusableLock`]: a value of the wrong kind, or not an address.
    pub fn address(
        kptfile: NodeRef<'_>,
        surroundings: &Surroundings,
    ) -> Result<Option<Address>, UnusableLock> {
        let mut found = None;
        for section in ["upstream", "upstreamLock"] {
            let path = [section, "git", "repo"];
            let text = present(kptfile, &path, "text", |node| node.scalar_text())?;
            let text = text.filter(|text| !text.is_empty());
            let address = parsed(&path, text, |text| Address::parse(text, surroundings))?;
            found = found.or(address);
        }
        Ok(found)
    }

    /// The tag, branch or commit that a Kptfile asks for, in `upstream`.
    ///
    /// # Errors
    /// [`UnusableLock`]: a value of the wrong kind, or not a name that Git allows.
    pub fn requested(kptfile: NodeRef<'_>) -> Result<Option<RefName>, UnusableLock> {
        let path = ["upstream", "git", "ref"];
        let text = present(kptfile, &path, "text", |node| node.scalar_text())?;
        parsed(&path, text.filter(|text| !text.is_empty()), RefName::parse)
    }
}

/// The whole lock of a Kptfile, whatever its type. Locks of different revisions differ.
#[derive(Debug, PartialEq)]
pub struct Lock([Option<Value>; 3]);

impl Lock {
    /// Reads the lock of a Kptfile; `None` if it has none.
    pub fn read(kptfile: NodeRef<'_>) -> Option<Self> {
        let annotation = |name| kptfile.get_path(&["metadata", "annotations", name]);
        let parts = [
            kptfile.get("upstreamLock"),
            annotation(UPSTREAM_SOURCE_ANNOTATION),
            annotation(UPSTREAM_DIGEST_ANNOTATION),
        ];
        let parts = parts.map(|part| part?.value().filter(|value| *value != Value::Null));
        parts.iter().any(Option::is_some).then_some(Self(parts))
    }
}

impl UpstreamLock {
    /// The lock of the same directory or file at another revision.
    pub fn moved_to<'l>(&'l self, repository: &'l str, revision: &'l Revision) -> NewLock<'l> {
        NewLock::of_commit(repository, &self.directory, self.is_file, revision)
    }
}

/// While an upgrade by `krmv` has undecided conflicts: the commits between which the files were merged,
/// `FROM..TO`. For an archive or image, a space and its source follow.
pub const OPEN_UPGRADE_ANNOTATION: &str = "fn.kpt.dev/open-upgrade";

/// Whether an upgrade by `krmv` is open: it began at the revision of the lock. If another program has moved the lock, its
/// merge includes the upgrade.
pub fn has_open_upgrade(kptfile: NodeRef<'_>) -> bool {
    let text = |path: &[&str]| kptfile.get_path(path)?.scalar_text();
    let annotation = |name| text(&["metadata", "annotations", name]);
    let range = annotation(OPEN_UPGRADE_ANNOTATION).and_then(|range| range.split_once(".."));
    let locked =
        text(&["upstreamLock", "git", "commit"]).or(annotation(UPSTREAM_DIGEST_ANNOTATION));
    range.is_some_and(|(from, _)| from == locked.unwrap_or_default())
}

/// The update strategy of a Kptfile.
pub fn update_strategy(kptfile: NodeRef<'_>) -> Option<String> {
    let strategy = kptfile.get_path(&["upstream", "updateStrategy"])?;
    strategy.scalar_text().map(str::to_owned)
}

/// The file that a Kptfile records as the whole upstream package.
pub fn upstream_file(kptfile: NodeRef<'_>) -> Option<&str> {
    let path = ["metadata", "annotations", UPSTREAM_FILE_ANNOTATION];
    let file = kptfile.get_path(&path)?.scalar_text()?;
    (!file.is_empty()).then_some(file)
}

/// Reads a field of a Kptfile that must have a certain kind; `None` if it is absent or null.
fn present<'d, T>(
    kptfile: NodeRef<'d>,
    path: &[&str],
    expected: &'static str,
    read: impl FnOnce(NodeRef<'d>) -> Option<T>,
) -> Result<Option<T>, UnusableLock> {
    let node = kptfile.get_path(path).map(|node| node.resolved());
    let Some(node) = node.filter(|node| !node.is_null()) else {
        return Ok(None);
    };
    let value = read(node).ok_or_else(|| UnusableLock::WrongKind {
        path: Path::fields(path),
        expected,
        found: with_article(node.kind_name()),
    })?;
    Ok(Some(value))
}

/// The revision to record in a Kptfile.
#[derive(Debug, Clone, Copy)]
pub struct NewLock<'l> {
    /// Address of the repository.
    pub repository: &'l str,
    /// The directory or file, from the repository's root.
    pub directory: &'l str,
    /// Whether it is a file.
    pub is_file: bool,
    /// The value of `upstream.git.ref`.
    pub upstream_ref: &'l str,
    /// The value of `upstreamLock.git.ref`.
    pub lock_ref: &'l str,
    /// The commit, if the upstream is in Git.
    pub commit: Option<&'l str>,
}

impl<'l> NewLock<'l> {
    /// The lock for a commit.
    pub fn of_commit(
        repository: &'l str,
        directory: &'l str,
        is_file: bool,
        revision: &'l Revision,
    ) -> Self {
        Self {
            repository,
            directory,
            is_file,
            upstream_ref: &revision.upstream_ref,
            lock_ref: &revision.lock_ref,
            commit: Some(&revision.commit),
        }
    }
}

impl NewLock<'_> {
    /// Writes `upstream` and `upstreamLock` of a Kptfile. Equal values keep their bytes.
    ///
    /// # Errors
    /// As [`Editor::set`].
    pub fn write<'d>(
        &self,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError> {
        // Of several entries inserted before the same one, the last comes first.
        if position(kptfile).is_some() {
            self.write_lock(kptfile, editor)?;
            return self.write_upstream(kptfile, editor);
        }
        self.write_upstream(kptfile, editor)?;
        self.write_lock(kptfile, editor)
    }

    /// Writes only `upstream`, and the annotation of a package that is one file.
    ///
    /// # Errors
    /// As [`Editor::set`].
    fn write_upstream<'d>(
        &self,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError> {
        match self.place().1 {
            Some(file) => {
                let annotation = [(UPSTREAM_FILE_ANNOTATION, Some(file))];
                editor.set_fields(kptfile, &ANNOTATIONS, annotation)?;
            }
            None => {
                remove_annotations(kptfile, |name| name == UPSTREAM_FILE_ANNOTATION, editor);
            }
        }
        self.write_request(kptfile, editor)
    }

    /// Writes only `upstream`. A package that is one file keeps the annotation with the file of its lock.
    ///
    /// # Errors
    /// As [`Editor::set`].
    pub fn write_request<'d>(
        &self,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError> {
        let (directory, _) = self.place();
        let upstream = [
            ("repo", self.repository),
            ("directory", directory.as_str()),
            ("ref", self.upstream_ref),
        ];
        let strategy = (Value::from("updateStrategy"), Value::from("resource-merge"));
        write_git(kptfile, "upstream", &upstream, Some(&strategy), editor)
    }

    fn write_lock<'d>(
        &self,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError> {
        let (directory, _) = self.place();
        let mut lock = vec![
            ("repo", self.repository),
            ("directory", directory.as_str()),
            ("ref", self.lock_ref),
        ];
        lock.extend(self.commit.map(|commit| ("commit", commit)));
        write_git(kptfile, "upstreamLock", &lock, None, editor)
    }

    /// The directory as a Kptfile has it, and the name of the file if the package is one.
    fn place(&self) -> (String, Option<&str>) {
        let (directory, file) = match self.directory.rsplit_once('/') {
            _ if !self.is_file => (self.directory, None),
            Some((directory, file)) => (directory, Some(file)),
            None => ("", Some(self.directory)),
        };
        (format!("/{directory}"), file)
    }
}

/// Writes `upstream` or `upstreamLock`.
fn write_git<'d>(
    kptfile: NodeRef<'d>,
    key: &str,
    fields: &[(&str, &str)],
    more: Option<&(Value, Value)>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let pair = |(key, value): &(&str, &str)| (Value::from(*key), Value::from(*value));
    let section = kptfile.entry(key).map(|entry| entry.value);
    let Some(section) = section.filter(|section| section.get("git").is_some()) else {
        let mut entries = vec![
            (Value::from("type"), Value::from("git")),
            (
                Value::from("git"),
                Value::Mapping(fields.iter().map(pair).collect()),
            ),
        ];
        entries.extend(more.cloned());
        let section_value = Content::Value(Value::Mapping(entries));
        return match section {
            Some(_) => editor.set(kptfile, key, section_value),
            None => editor.insert_entry(kptfile, position(kptfile), key, section_value),
        };
    };
    editor.set_fields(section, &[], [("type", Some("git"))])?;
    let old = section.get("git");
    let is_equal = |(field, value): &(&str, &str)| {
        let recorded = old.and_then(|old| old.get(field)?.scalar_text());
        match *field {
            "directory" => {
                recorded.map(normalize_package_path) == Some(normalize_package_path(value))
            }
            _ => recorded == Some(value),
        }
    };
    let fields = fields.iter().filter(|field| !is_equal(field));
    let fields = fields.map(|(field, value)| (*field, Some(*value)));
    editor.set_fields(section, &["git"], fields)
}

/// The position at which kpt writes `upstream` and `upstreamLock`: after `apiVersion`, `kind` and `metadata`.
fn position(kptfile: NodeRef<'_>) -> Option<usize> {
    const BEFORE: [&str; 5] = ["apiVersion", "kind", "metadata", "upstream", "upstreamLock"];
    let is_before = |key: Option<&str>| key.is_some_and(|key| BEFORE.contains(&key));
    let keys: Vec<_> = kptfile.entries().map(|entry| entry.key.as_str()).collect();
    let last = keys.iter().rposition(|key| is_before(*key));
    let position = last.map_or(0, |last| last + 1);
    (position < keys.len()).then_some(position)
}
