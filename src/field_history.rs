//! Who last changed a field on each side of a conflict: the commit of the user's repository, and the release of upstream
//! with its commit, where the history is at hand.
//!
//! The later of two changes is the later one in the history, whatever the clocks of the commits say. Nothing is fetched:
//! of an upstream without a complete clone, the releases in the cache are compared.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use krm_core::release_name::ReleaseName;
use krm_core::resource::Resource;
use krm_package::is_krm_name;
use krm_review::fields::walkable;
use krm_upstream::git::{ChangingCommit, CommitDescription, Repository, Revision};
use krm_upstream::is_digest;
use krm_yaml::{NodeRef, OwnedDocument, Path as YamlPath, Value};
use serde_json::json;

use super::conflict::{ReportedConflict, is_about};
use super::session::FollowedPackage;
use super::shared::opened;
use super::upstream::UpstreamSource;
use super::worktree;

/// What [`ConflictHistories`] knows of one conflict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldHistory {
    pub(crate) local: Option<CommitDescription>,
    pub(crate) upstream: Option<ReleaseChange>,
}

/// The release of upstream that set a field, or removed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReleaseChange {
    pub(crate) revision: String,
    /// Whether an earlier release may have done it, which is not in the cache.
    pub(crate) is_or_earlier: bool,
    pub(crate) commit: Option<CommitDescription>,
}

impl FieldHistory {
    /// One line for each side that is known.
    pub(crate) fn lines(&self) -> Vec<String> {
        let by = |commit: &CommitDescription| {
            let CommitDescription {
                commit,
                author,
                date,
                summary,
            } = commit;
            let id = commit.get(..8).unwrap_or(commit);
            format!(" by {author}, {date} ({id} \"{summary}\")")
        };
        let local = self.local.iter();
        let local = local.map(|commit| format!("last changed on your side{}", by(commit)));
        let upstream = self.upstream.iter().map(|change| {
            let earlier = if change.is_or_earlier {
                " or earlier"
            } else {
                ""
            };
            let by = change.commit.as_ref().map(by).unwrap_or_default();
            format!("last changed upstream in {}{earlier}{by}", change.revision)
        });
        local.chain(upstream).collect()
    }

    pub(crate) fn document(&self) -> serde_json::Value {
        let commit = |commit: &CommitDescription| {
            json!({
                "commit": commit.commit,
                "author": commit.author,
                "date": commit.date,
                "summary": commit.summary,
            })
        };
        json!({
            "local": self.local.as_ref().map(commit),
            "upstream": self.upstream.as_ref().map(|change| json!({
                "revision": change.revision,
                "orEarlier": change.is_or_earlier,
                "commit": change.commit.as_ref().map(commit),
            })),
        })
    }
}

/// The histories of the conflicts of one upgrade.
pub(crate) struct ConflictHistories<'h> {
    directory: &'h Path,
    followed: &'h FollowedPackage<'h>,
    target: &'h Revision,
    /// The path of the package at the target.
    path: &'h str,
    /// Read when a conflict first asks.
    releases: OnceCell<Option<ReleaseStates>>,
}

impl<'h> ConflictHistories<'h> {
    /// The files on disk must be those that the line numbers of the conflicts refer to.
    pub(crate) fn of(
        followed: &'h FollowedPackage<'h>,
        target: &'h Revision,
        path: &'h str,
    ) -> Self {
        Self {
            directory: &followed.package.directory,
            followed,
            target,
            path,
            releases: OnceCell::new(),
        }
    }

    pub(crate) fn of_conflict(&self, conflict: &ReportedConflict) -> FieldHistory {
        let states = self.releases.get_or_init(|| self.states());
        FieldHistory {
            local: worktree::changed_by(self.directory, conflict),
            upstream: states
                .as_ref()
                .and_then(|states| states.last_change(conflict)),
        }
    }

    /// The target, the known releases between it and the lock, and the locked revision. `None` for an older target.
    fn states(&self) -> Option<ReleaseStates> {
        let (lock, upstream) = (self.followed.lock, &self.followed.upstream);
        let locked = self.followed.locked_revision(lock).ok()?;
        let releases = &upstream.releases;
        let version = |revision: &Revision| releases.version_of(&revision.lock_ref);
        let mut between = Vec::new();
        if let (Some(from), Some(to)) = (version(&locked), version(self.target)) {
            if from.order(to).is_ge() {
                return None;
            }
            let is_between =
                |other: &ReleaseName| from.order(other).is_lt() && other.order(to).is_lt();
            between = releases.finals(is_between);
        }
        let mut states = ReleaseStates::of(self.followed)?;
        let (path, own) = (self.path, lock.directory.as_str());
        let short = |revision: &Revision| {
            let known = releases.named(&revision.lock_ref);
            known.map_or(revision.lock_ref.clone(), |known| known.short.clone())
        };
        if !states.add(upstream, &short(self.target), &self.target.commit, path) {
            return None;
        }
        for release in between.into_iter().rev() {
            let commit = upstream.known_commit(release).unwrap_or_default();
            // A package that moved is at its new path, or at its old one.
            let is_known = states.add(upstream, &release.short, &commit, path)
                || states.add(upstream, &release.short, &commit, own);
            if let (false, Some(newer)) = (is_known, states.states.last_mut()) {
                newer.is_after_gap = true;
            }
        }
        let is_complete = states.add(upstream, &short(&locked), &locked.commit, own);
        is_complete.then_some(states)
    }
}

/// A package at a release.
struct ReleaseState {
    revision: String,
    commit: String,
    path: String,
    /// The IDs of the files by their paths.
    files: BTreeMap<String, String>,
    /// Whether releases between this one and the next state are not known.
    is_after_gap: bool,
}

/// What a conflict is about at one release: its value and its text. `None` if it does not exist.
type PlaceContent = Option<(Value, String)>;

/// The known releases of upstream, newest first.
struct ReleaseStates {
    /// `None` for a source without a history.
    repository: Option<Rc<Repository>>,
    only_file: Option<String>,
    states: Vec<ReleaseState>,
    /// The files of releases without a repository, by ID.
    contents: HashMap<String, Vec<u8>>,
    documents: RefCell<HashMap<String, Option<Rc<OwnedDocument>>>>,
}

impl ReleaseStates {
    fn of(followed: &FollowedPackage<'_>) -> Option<Self> {
        // To render all releases would take too long for a line about a conflict.
        if followed.rendering.is_some() {
            return None;
        }
        let git = followed.upstream.history();
        let repository = git.map(|git| opened(git.path()));
        Some(Self {
            repository: repository.transpose().ok()?,
            only_file: followed.package.only_file().ok()?,
            states: Vec::new(),
            contents: HashMap::new(),
            documents: RefCell::default(),
        })
    }

    /// Adds the next older release. Returns whether its files are known.
    fn add(&mut self, upstream: &UpstreamSource, revision: &str, commit: &str, path: &str) -> bool {
        let files = match &self.repository {
            Some(repository) => repository.files_of(path, commit).unwrap_or_default(),
            None => self.fetched(upstream, commit, path).unwrap_or_default(),
        };
        let files: BTreeMap<String, String> = match &self.only_file {
            Some(own) => {
                let (name, id) = (path.rsplit('/').next(), files.into_iter().next());
                let own_id =
                    id.filter(|(found, _)| self.repository.is_none() || Some(&**found) == name);
                own_id
                    .map(|(_, id)| (own.clone(), id))
                    .into_iter()
                    .collect()
            }
            None => files.into_iter().collect(),
        };
        let is_known = !files.is_empty();
        if is_known {
            self.states.push(ReleaseState {
                revision: revision.to_owned(),
                commit: commit.to_owned(),
                path: path.to_owned(),
                files,
                is_after_gap: false,
            });
        }
        is_known
    }

    /// The files of a release without a repository, if it is in the cache.
    fn fetched(
        &mut self,
        upstream: &UpstreamSource,
        digest: &str,
        path: &str,
    ) -> Option<Vec<(String, String)>> {
        if !is_digest(digest) {
            return None;
        }
        let revision = Revision::named(digest, digest.to_owned());
        let package = upstream.fetch(path, &revision).ok()?.snapshot.package;
        let package = package.named_as(self.only_file.as_deref());
        let mut files = Vec::new();
        for (path, _) in package.files() {
            let id = format!("{digest}:{path}");
            let bytes = package.read(path).ok()?.into_owned();
            self.contents.insert(id.clone(), bytes);
            files.push((path.to_owned(), id));
        }
        Some(files)
    }

    /// The release that gave a place the value that it has at the newest one.
    fn last_change(&self, conflict: &ReportedConflict) -> Option<ReleaseChange> {
        let newest = self.states.first()?;
        let (now, file) = self.place(newest, conflict);
        // Upstream renamed the resource.
        if now.is_none() && conflict.values()[2].is_some() {
            return None;
        }
        let (oldest, _) = self.place(self.states.last()?, conflict);
        let has_same_value = |one: &PlaceContent, other: &PlaceContent| match (one, other) {
            (Some((one, _)), Some((other, _))) => one == other,
            (one, other) => one.is_none() && other.is_none(),
        };
        let is_about_text = has_same_value(&now, &oldest);
        let is_same = |other: &PlaceContent| {
            if is_about_text {
                *other == now
            } else {
                has_same_value(other, &now)
            }
        };
        if is_same(&oldest) {
            return None;
        }
        let (mut last, mut file) = (newest, file);
        for state in &self.states[1..] {
            let (content, found) = self.place(state, conflict);
            if !is_same(&content) {
                let file = file.or(found);
                let file = file.filter(|_| !last.is_after_gap);
                let commit = file.and_then(|file| {
                    self.changing_commit([state, last], &file, conflict, &is_same)
                });
                return Some(ReleaseChange {
                    revision: last.revision.clone(),
                    is_or_earlier: last.is_after_gap,
                    commit,
                });
            }
            (last, file) = (state, found.or(file));
        }
        None
    }

    /// The commit between two releases that gave a place its value: the last one in the history.
    fn changing_commit(
        &self,
        [from, to]: [&ReleaseState; 2],
        file: &str,
        conflict: &ReportedConflict,
        is_same: &dyn Fn(&PlaceContent) -> bool,
    ) -> Option<CommitDescription> {
        let repository = self.repository.as_ref()?;
        let path = match (&self.only_file, &*to.path) {
            (Some(_), path) => path.to_owned(),
            (None, "") => file.to_owned(),
            (None, folder) => format!("{folder}/{file}"),
        };
        let at = |commit: &str| {
            let id = repository.content_of(&path, commit).ok().flatten()?;
            Some(is_same(&self.place_in(&id, &path, conflict)?))
        };
        let gave_it = |commit: &ChangingCommit| {
            // The history of a clone may end at a parent.
            let is_before = |parent: &String| {
                repository.commit_with_id(parent).is_some() && at(parent) != Some(true)
            };
            at(&commit.id) == Some(true) && commit.parents.iter().all(is_before)
        };
        let mut all = repository
            .commits_that_change(&path, &from.commit, &to.commit)
            .ok()?;
        all.retain(gave_it);
        let ids: Vec<&str> = all.iter().map(|commit| commit.id.as_str()).collect();
        let is_last = |id: &&&str| {
            let mut others = ids.iter().filter(|other| *other != *id);
            !others.any(|other| repository.contained(other, &[id]).contains(**id))
        };
        repository.description_of(ids.iter().find(is_last)?)
    }

    /// What a conflict is about at a release, and the file that has it.
    fn place(
        &self,
        state: &ReleaseState,
        conflict: &ReportedConflict,
    ) -> (PlaceContent, Option<String>) {
        let own = conflict.file();
        let own = state.files.get_key_value(own).into_iter();
        let is_resource = conflict.0.resource.is_some();
        let others = state
            .files
            .iter()
            .filter(|(path, _)| is_resource && *path != conflict.file() && is_krm_name(path));
        for (path, id) in own.chain(others) {
            if let Some(content) = self.place_in(id, path, conflict) {
                return (content, Some(path.clone()));
            }
        }
        (None, None)
    }

    /// What a conflict is about in a file. The outer `None` means that the file does not have its resource.
    fn place_in(&self, id: &str, path: &str, conflict: &ReportedConflict) -> Option<PlaceContent> {
        let field = conflict.0.rule_path.as_deref();
        let field = field.or(conflict.0.field.as_deref());
        let Some(resource) = &conflict.0.resource else {
            if field.is_none() {
                let text = self.bytes(id, path)?;
                let text = String::from_utf8_lossy(&text).into_owned();
                return Some(Some((Value::Null, text)));
            }
            let document = self.document(id, path)?;
            return Some(content(document.document().root(0)?, field));
        };
        let document = self.document(id, path)?;
        let document = document.document();
        let mut roots = (0..document.len()).filter_map(|at| document.root(at));
        let root = roots.find(|root| is_about(resource, &Resource::read(*root)))?;
        Some(content(root, field))
    }

    fn document(&self, id: &str, path: &str) -> Option<Rc<OwnedDocument>> {
        if let Some(known) = self.documents.borrow().get(id) {
            return known.clone();
        }
        let text = self.bytes(id, path);
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        // A document whose aliases make it much larger than its text is not compared.
        let walked = text.and_then(walkable).and_then(std::result::Result::ok);
        let parsed = walked.map(Rc::new);
        let mut documents = self.documents.borrow_mut();
        documents.insert(id.to_owned(), parsed.clone());
        parsed
    }

    fn bytes(&self, id: &str, path: &str) -> Option<Vec<u8>> {
        match &self.repository {
            Some(repository) => repository.content(id, path).ok(),
            None => self.contents.get(id).cloned(),
        }
    }
}

/// The value and the text of a field, or of the whole document.
fn content(root: NodeRef<'_>, field: Option<&str>) -> PlaceContent {
    let node = match field {
        Some(field) => root.place(&YamlPath::parse(field)?).1?,
        None => root,
    };
    Some((
        node.value().unwrap_or(Value::Null),
        node.source().to_owned(),
    ))
}
