//! Who last changed a field on each side of a conflict: the commit of the user's repository, and the release of upstream
//! with its commit, where the history is at hand.
//!
//! The later of two changes is the later one in the history, whatever the clocks of the commits say. Nothing is fetched:
//! of an upstream without a complete clone, the releases in the cache are compared. Of a package that is rendered, the
//! releases are rendered with the values of the upgrade: what then differs, a release changed.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use krm_address::release_name::ReleaseName;
use krm_core::resource::Resource;
use krm_package::{Package, is_krm_name};
use krm_review::fields::walkable;
use krm_upstream::git::{ChangingCommit, CommitDescription, Repository, Revision};
use krm_upstream::is_digest;
use krm_yaml::{NodeRef, OwnedDocument, Path as YamlPath, PlaceIndex, Value};
use serde::Serialize;

use super::conflict::{ReportedConflict, is_about};
use super::session::FollowedPackage;
use super::shared::opened;
use super::worktree;

/// What [`ConflictHistories`] knows of one conflict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct FieldHistory {
    pub(crate) local: Option<CommitDescription>,
    pub(crate) upstream: Option<ReleaseChange>,
}

/// The release of upstream that set a field, or removed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ReleaseChange {
    pub(crate) revision: String,
    /// Whether an earlier release may have done it, which is not in the cache.
    #[serde(rename = "orEarlier")]
    pub(crate) is_or_earlier: bool,
    pub(crate) commit: Option<CommitDescription>,
}

impl FieldHistory {
    /// One line for each side that is known.
    pub(crate) fn lines(&self) -> Vec<String> {
        let by = |commit: &CommitDescription| {
            let (author, date) = (&commit.author, &commit.date);
            let id = commit.commit.get(..8).unwrap_or(&commit.commit);
            format!(" by {author}, {date} ({id} \"{}\")", commit.summary)
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
}

/// The histories of the conflicts of one upgrade.
pub(crate) struct ConflictHistories<'h> {
    directory: &'h Path,
    followed: &'h FollowedPackage<'h>,
    target: &'h Revision,
    /// The path of the package at the target.
    path: &'h str,
    /// Read when a conflict first asks.
    releases: OnceCell<Option<ReleaseStates<'h>>>,
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

    /// The target, the releases between it and the lock, and the locked revision. `None` for an older target.
    fn states(&self) -> Option<ReleaseStates<'h>> {
        let (lock, upstream) = (self.followed.lock, &self.followed.upstream);
        let locked = self.followed.upstream.locked_revision(lock).ok()?;
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
        states.add(&short(self.target), &self.target.commit, &[path]);
        for release in between.into_iter().rev() {
            let commit = upstream.kind.known_commit(release).unwrap_or_default();
            // A package that moved is at its new path, or at its old one.
            states.add(&release.short, &commit, &[path, own]);
        }
        states.add(&short(&locked), &locked.commit, &[own]);
        Some(states)
    }
}

/// A package at a release.
struct ReleaseState {
    revision: String,
    commit: String,
    /// Where it may be.
    paths: Vec<String>,
    /// Read when a conflict first asks. `None` if it is not known.
    files: OnceCell<Option<ReleaseFiles>>,
}

/// The files of a package at a release.
struct ReleaseFiles {
    path: String,
    /// The IDs of the files by their paths.
    ids: BTreeMap<String, String>,
}

/// What a conflict is about at one release: its value and its text. `None` if it does not exist.
type PlaceContent = Option<(Value, String)>;

/// How many releases are rendered for the histories of one upgrade, in addition to the two that it is about.
const MOST_RENDERED: usize = 8;

/// The releases of upstream, newest first.
struct ReleaseStates<'h> {
    followed: &'h FollowedPackage<'h>,
    /// `None` for a source without a history, and for a package that is rendered.
    repository: Option<Rc<Repository>>,
    only_file: Option<String>,
    states: Vec<ReleaseState>,
    /// The files of releases without a repository, by ID.
    contents: RefCell<HashMap<String, Vec<u8>>>,
    documents: RefCell<HashMap<String, Option<Rc<OwnedDocument>>>>,
    /// How many more releases may be rendered.
    left: Cell<usize>,
}

impl<'h> ReleaseStates<'h> {
    fn of(followed: &'h FollowedPackage<'h>) -> Option<Self> {
        let git = followed.upstream.kind.history();
        let git = git.filter(|_| followed.rendering.is_none());
        let repository = git.map(|git| opened(git.path()));
        Some(Self {
            followed,
            repository: repository.transpose().ok()?,
            only_file: followed.package.only_file().ok()?,
            states: Vec::new(),
            contents: RefCell::default(),
            documents: RefCell::default(),
            left: Cell::new(MOST_RENDERED),
        })
    }

    /// Adds the next older release.
    fn add(&mut self, revision: &str, commit: &str, paths: &[&str]) {
        self.states.push(ReleaseState {
            revision: revision.to_owned(),
            commit: commit.to_owned(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            files: OnceCell::new(),
        });
    }

    /// The files of a release. `None` if they are not known.
    fn files<'s>(&self, state: &'s ReleaseState) -> Option<&'s ReleaseFiles> {
        let read = |path: &String| self.read(&state.commit, path);
        let known = |files: &ReleaseFiles| !files.ids.is_empty();
        let files = || state.paths.iter().filter_map(read).find(known);
        state.files.get_or_init(files).as_ref()
    }

    fn read(&self, commit: &str, path: &str) -> Option<ReleaseFiles> {
        let files = match (&self.repository, &self.followed.rendering) {
            (Some(repository), _) => repository.files_of(path, commit).ok()?,
            (None, Some(_)) => self.rendered(commit, path)?,
            (None, None) => self.fetched(commit, path)?,
        };
        let ids = match &self.only_file {
            Some(own) => {
                let name = path.rsplit('/').next();
                let is_it = |found: &str| self.repository.is_none() || Some(found) == name;
                let first = files.into_iter().take(1);
                let first = first.filter(|(found, _)| is_it(found));
                first.map(|(_, id)| (own.clone(), id)).collect()
            }
            None => files.into_iter().collect(),
        };
        Some(ReleaseFiles {
            path: path.to_owned(),
            ids,
        })
    }

    /// The files of a release without a repository, if it is in the cache.
    fn fetched(&self, digest: &str, path: &str) -> Option<Vec<(String, String)>> {
        if !is_digest(digest) {
            return None;
        }
        let revision = Revision::named(digest, digest.to_owned());
        let upstream = &self.followed.upstream;
        let package = upstream.fetch(path, &revision).ok()?.snapshot.package;
        let package = package.named_as(self.only_file.as_deref());
        self.kept(digest, &package)
    }

    /// What a release renders to with the values of the upgrade.
    fn rendered(&self, commit: &str, path: &str) -> Option<Vec<(String, String)>> {
        let request = &self.followed.rendering.as_ref()?.next;
        let upstream = &self.followed.upstream;
        if let Some(git) = upstream.kind.history() {
            // No commit is fetched for it.
            opened(git.path()).ok()?.commit_with_id(commit)?;
        }
        let mut revision = Revision::named(commit, commit.to_owned());
        if let Some(known) = upstream.releases.at(commit) {
            revision.lock_ref.clone_from(&known.short);
        }
        if upstream.known_rendering(path, &revision, request).is_none() {
            self.left.set(self.left.get().checked_sub(1)?);
        }
        // Where it is random, it has the local values.
        let known = [&self.followed.package.contents];
        let rendered = upstream.fetch_by(path, &revision, Some(request), &known);
        self.kept(commit, &rendered.ok()?.0.snapshot.package)
    }

    /// Keeps the files of a release. Returns their paths and IDs.
    fn kept(&self, commit: &str, package: &Package) -> Option<Vec<(String, String)>> {
        let mut contents = self.contents.borrow_mut();
        let mut files = Vec::new();
        for (path, _) in package.files() {
            let id = format!("{commit}:{path}");
            let bytes = package.read(path).ok()?.into_owned();
            contents.insert(id.clone(), bytes);
            files.push((path.to_owned(), id));
        }
        Some(files)
    }

    /// The release that gave a place the value that it has at the newest one.
    fn last_change(&self, conflict: &ReportedConflict) -> Option<ReleaseChange> {
        let newest = self.states.first()?;
        let (now, file) = self.place(self.files(newest)?, conflict);
        // Upstream renamed the resource.
        if now.is_none() && conflict.values()[2].is_some() {
            return None;
        }
        let (oldest, _) = self.place(self.files(self.states.last()?)?, conflict);
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
        let (mut last, mut file, mut is_after_gap) = (newest, file, false);
        for state in &self.states[1..] {
            let Some(files) = self.files(state) else {
                is_after_gap = true;
                continue;
            };
            let (content, found) = self.place(files, conflict);
            if !is_same(&content) {
                let file = file.or(found);
                let file = file.filter(|_| !is_after_gap);
                let commit = file.and_then(|file| {
                    self.changing_commit([state, last], &file, conflict, &is_same)
                });
                return Some(ReleaseChange {
                    revision: last.revision.clone(),
                    is_or_earlier: is_after_gap,
                    commit,
                });
            }
            (last, file, is_after_gap) = (state, found.or(file), false);
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
        let path = match (&self.only_file, &*self.files(to)?.path) {
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
        files: &ReleaseFiles,
        conflict: &ReportedConflict,
    ) -> (PlaceContent, Option<String>) {
        let own = conflict.file();
        let own = files.ids.get_key_value(own).into_iter();
        let is_resource = conflict.0.resource.is_some();
        let others = files
            .ids
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
        let mut all = document.roots().flat_map(Resource::all_of);
        let (root, _) = all.find(|(_, found)| is_about(resource, found))?;
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
            None => self.contents.borrow().get(id).cloned(),
        }
    }
}

/// The value and the text of a field, or of the whole document.
fn content(root: NodeRef<'_>, field: Option<&str>) -> PlaceContent {
    let node = match field {
        Some(field) => {
            let path = YamlPath::parse(field)?;
            PlaceIndex::default().place(root, &path).1?
        }
        None => root,
    };
    Some((
        node.value().unwrap_or(Value::Null),
        node.source().to_owned(),
    ))
}
