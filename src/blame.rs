//! `krmv blame`: shows who set each field of a file: a release of upstream, or a local commit.
//!
//! Each state of the package is compared with the state before it. Their resources are paired as in a merge, so that a
//! field can be followed through moved files and renamed resources. Values are never shown.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use krm_address::{CommitId, Surroundings};
use krm_core::kptfile::UpstreamLock;
use krm_core::resource::Resource;
use krm_core::results::FunctionResult;
use krm_core::schema::Schema;
use krm_function::filter::ProgressLine;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_merge::{MergeSchema, Side};
use krm_package::escaped::ShownLine;
use krm_package::is_krm_name;
use krm_review::fields::{Leaf, PairedField, is_meant, leaves, pair_fields, walkable};
use krm_upstream::git::{CommitDescription, GitCommand, Repository, Revision, Snapshot};
use krm_upstream::is_digest;
use krm_yaml::OwnedDocument;
use serde::Serialize;
use serde_json::json;

use super::blame_file::{a_directory, package_around, within};
use super::blame_notes::{InjectedValue, RuleDecision, VariantFunction};
use super::blame_states::{FieldOrigin, FollowedResource, ParsedFiles};
use super::cli::{BlameArguments, Common};
use super::client::{self, Place};
use super::failure::{Failure, Result, command};
use super::kptfile::{Tracking, locked_name};
use super::merging::Merger;
use super::own_repository::OwnRepository;
use super::package::{Contents, KPTFILE, LocalPackage, PackageResources, RULES, ResourcePlace};
use super::policy;
use super::print::{self, BOLD, DIM, warning};
use super::releases::ListedReference;
use super::rendering::PackageRendering;
use super::session::followed;
use super::upstream::{UpstreamSource, supplied};
use super::worktree;

pub(crate) fn run(blame: &BlameArguments, common: &Common) -> Result<u8> {
    if blame.file.is_dir() {
        return Err(a_directory(&blame.file));
    }
    let directory = package_around(&blame.file)?;
    let package = LocalPackage::open(&directory)?;
    let file = within(&directory, &blame.file)?;
    if !package.contents.contains_key(&file) {
        let message = format!("the package '{}' has no file '{file}'", package.name());
        return Err(Failure::new(message).hint(command(["ls", &package.name()])));
    }
    let history = FileHistory::of(&package)?;
    let mut fields = history.blame(&package, &file)?;
    for message in history.warnings.borrow().values() {
        warning(format_args!("{message}"));
    }
    if let Some(wanted) = &blame.field {
        fields.retain(|field| is_meant(wanted, &field.shown) || is_meant(wanted, &field.key));
        if fields.is_empty() {
            let message = format!("'{file}' has no field `{wanted}`");
            return Err(Failure::new(message).hint(command([
                "krmv",
                "blame",
                &blame.file.to_string_lossy(),
            ])));
        }
    }
    let document = || json!({"path": package.name(), "file": file, "fields": fields});
    print::answer(common, document, |page| {
        let mut last = None;
        for field in &fields {
            if last != Some(&field.resource) {
                let name = page.styled(BOLD, &field.resource);
                page.line(name);
            }
            last = Some(&field.resource);
            let by = page.styled(DIM, &field.setter);
            // A text without fields is one value.
            let shown = match &*field.shown {
                "" => "  the whole text: ".to_owned(),
                shown => format!("  {shown}: "),
            };
            page.wrapped(ShownLine::of(&[&shown, &by, &field.note()]), 6);
        }
    })
}

/// Who made a state of the package. `Uncommitted` means the files on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by")]
pub(super) enum Setter {
    #[serde(rename = "local")]
    Uncommitted,
    #[serde(rename = "local")]
    Commit(CommitDescription),
    #[serde(rename = "upstream")]
    Upstream { revision: String, commit: String },
}

impl Setter {
    /// When a commit was made, or which release it is.
    fn short(&self) -> &str {
        match self {
            Self::Uncommitted => "your files",
            Self::Commit(commit) => &commit.date,
            Self::Upstream { revision, .. } => revision,
        }
    }
}

impl std::fmt::Display for Setter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Uncommitted => f.write_str("you, not committed"),
            Self::Commit(CommitDescription {
                commit,
                author,
                date,
                summary,
            }) => {
                let id = commit.get(..8).unwrap_or(commit);
                write!(f, "{author} on {date}, {id}: {summary}")
            }
            Self::Upstream { revision, .. } => write!(f, "upstream {revision}"),
        }
    }
}

/// A field and who set it.
#[derive(Serialize)]
struct BlamedField {
    resource: String,
    /// The path with list elements by name: `containers[name=app].image`.
    #[serde(skip)]
    key: String,
    /// The path with list elements by position: `containers[0].image`.
    #[serde(rename = "field")]
    shown: String,
    #[serde(flatten)]
    setter: Setter,
    #[serde(rename = "injected")]
    is_injected: bool,
    /// The name of the injected resource.
    #[serde(rename = "injectedResource")]
    injected_resource: Option<String>,
    #[serde(rename = "variant")]
    is_of_variant: bool,
    /// The function of a PackageVariant that set it.
    function: Option<VariantFunction>,
    /// Whether a rule decided a conflict about this value.
    #[serde(rename = "rule")]
    is_decided: bool,
}

impl BlamedField {
    fn note(&self) -> String {
        let mut note = String::new();
        if self.is_injected {
            note += &match &self.injected_resource {
                Some(name) => format!(" (injected from {name})"),
                None => " (injected)".to_owned(),
            };
        }
        if let Some(VariantFunction { variant, function }) = &self.function {
            note += &match &**function {
                "" => format!(" (a function of the PackageVariant {variant})"),
                function => format!(" (the function {function} of the PackageVariant {variant})"),
            };
        }
        if self.is_decided {
            note += " (decided by a rule in .krmv.yaml)";
        }
        note
    }
}

/// A state of a package. `files` maps each path to the ID of the file's content.
struct HistoricState {
    setter: Setter,
    files: BTreeMap<String, String>,
    /// The indexes of the states that it was made from; all are greater than its own.
    parents: Vec<usize>,
    /// Kept while the state is compared: every resource of the blamed file needs them.
    resources: RefCell<Option<Rc<PackageResources>>>,
}

impl HistoricState {
    fn new(setter: Setter, files: BTreeMap<String, String>) -> Self {
        Self {
            setter,
            files,
            parents: Vec::new(),
            resources: RefCell::default(),
        }
    }
}

/// The fields that have the same value in another version of a resource.
enum KeptFields {
    All,
    /// Their keys, and their keys in the other version.
    These(HashMap<String, String>),
}

impl KeptFields {
    fn key_of(&self, key: &str) -> Option<String> {
        match self {
            Self::All => Some(key.to_owned()),
            Self::These(keys) => keys.get(key).cloned(),
        }
    }
}

/// For each resource of a state, its place in another state.
type PairsOfStates = HashMap<ResourcePlace, ResourcePlace>;

/// The history of the package in its own repository, and the revisions of upstream.
struct FileHistory {
    local: Vec<HistoricState>,
    upstream: Option<UpstreamSource>,
    rendering: Option<PackageRendering>,
    /// The files on disk, whose random values are upstream's.
    contents: Contents,
    repositories: Vec<Repository>,
    only_file: Option<String>,
    /// The contents of the files on disk if some are uncommitted, by the IDs that stand for them (`worktree:PATH`).
    worktree_contents: HashMap<String, Vec<u8>>,
    /// The contents of files of releases that were fetched, by the IDs that Git would give them.
    fetched_contents: RefCell<HashMap<String, Vec<u8>>>,
    parsed: RefCell<ParsedFiles>,
    schema: Schema,
    /// What cannot be read, with a message. Another machine has other revisions in its cache.
    warnings: RefCell<BTreeMap<String, String>>,
}

impl FileHistory {
    fn of(package: &LocalPackage) -> Result<Self> {
        let mut history = Self {
            local: Vec::new(),
            upstream: None,
            rendering: PackageRendering::of(package)?,
            contents: package.contents.clone(),
            repositories: Vec::new(),
            only_file: package.only_file()?,
            worktree_contents: HashMap::new(),
            fetched_contents: RefCell::default(),
            parsed: RefCell::default(),
            schema: Schema::builtin(),
            warnings: RefCell::default(),
        };
        let own = package.repository.as_ref();
        let is_dirty = !worktree::uncommitted(package)?.is_empty() || own.is_none();
        if is_dirty {
            let mut files = BTreeMap::new();
            for (path, bytes) in &package.contents {
                let id = format!("worktree:{path}");
                history.worktree_contents.insert(id.clone(), bytes.clone());
                files.insert(path.clone(), id);
            }
            history
                .local
                .push(HistoricState::new(Setter::Uncommitted, files));
        }
        if let Some(own) = own {
            history.read_commits(package, own)?;
        }
        if let Ok((lock, origin)) = followed(package) {
            // Only `get`, `status` and `upgrade` go to the network.
            let mut upstream = UpstreamSource::open(origin.clone(), true)?;
            if !upstream.is_git() {
                // The list may be missing: then the locked release is known alone.
                let _ = upstream.list(&package.tracking.path());
                upstream.releases.follow(locked_name(lock).as_deref());
                history.upstream = Some(upstream);
                return Ok(history);
            }
            upstream.list(&package.tracking.path())?;
            upstream.releases.follow(lock.reference.as_deref());
            if let Some(git) = upstream.kind.history() {
                history.repositories.push(Repository::open(git.path())?);
            }
            history.upstream = Some(upstream);
        }
        Ok(history)
    }

    /// Keeps the first warning about a subject.
    fn warn(&self, about: &str, message: String) {
        let mut warnings = self.warnings.borrow_mut();
        warnings.entry(about.to_owned()).or_insert(message);
    }

    /// Reads the states of the package from the commits of its own repository, each before its parents. Moves of the
    /// package's directory are followed.
    fn read_commits(&mut self, package: &LocalPackage, own: &OwnRepository) -> Result<()> {
        let repository = Repository::open(own.root())?;
        let paths = package.paths()?;
        // The commit whose parent is the start (`None`: HEAD), the package's directory there, and the state that came
        // after it.
        let mut starts = vec![(None, own.inner(), 0)];
        while let Some((start, prefix, after)) = starts.pop() {
            let first = self.local.len();
            let paths = paths.iter().map(|path| Path::new(&prefix).join(path));
            let log = [
                "log",
                "--topo-order",
                "--parents",
                "--format=%H%x09%P%x09%an%x09%as%x09%s",
            ];
            let log = GitCommand::new(&log).data();
            let log = match &start {
                Some(child) => log.parent_of(child),
                None => log.literal("HEAD"),
            };
            let log = client::text(Place::Own(own), &log.done().paths(paths));
            let parents = self.read_log(&repository, &prefix, &log.unwrap_or_default())?;
            if (after + 1..self.local.len()).contains(&first) {
                self.local[after].parents.push(first);
            }
            let ids = parents.iter().map(|(id, _)| id.as_str());
            let known: HashMap<&str, usize> = ids.zip(first..).collect();
            for (at, (id, parents)) in (first..).zip(&parents) {
                let of_package = parents.iter().filter_map(|id| known.get(&**id).copied());
                self.local[at].parents = of_package.collect();
                if self.local[at].parents.is_empty()
                    && let Ok(parent) = repository.resolve("", &format!("{id}^"))
                    && let Some(old) = repository.moved(&prefix, id, &parent.commit)
                {
                    starts.push((Some(CommitId::parse(id)?), old, at));
                }
            }
        }
        self.repositories.push(repository);
        Ok(())
    }

    /// Reads the states in which the package is in one directory from a log. Returns their commits with the parents of
    /// each.
    fn read_log(
        &mut self,
        repository: &Repository,
        prefix: &str,
        log: &str,
    ) -> Result<Vec<(String, Vec<String>)>> {
        let progress = ProgressLine::new("Reading commits", log.lines().count());
        let mut commits = Vec::new();
        for line in log.lines() {
            let mut parts = line.splitn(5, '\t').map(str::to_owned);
            let mut next = || parts.next().unwrap_or_default();
            let (commit, parents, author, date, summary) = (next(), next(), next(), next(), next());
            progress.step(&date);
            let files: BTreeMap<_, _> = repository.files_of(prefix, &commit)?.into_iter().collect();
            if files.is_empty() {
                continue;
            }
            let parents = parents.split(' ').map(str::to_owned).collect();
            commits.push((commit.clone(), parents));
            let setter = Setter::Commit(CommitDescription {
                commit,
                author,
                date,
                summary,
            });
            self.local.push(HistoricState::new(setter, files));
        }
        Ok(commits)
    }

    /// Finds who set each field of the current version of a file.
    fn blame(&self, package: &LocalPackage, file: &str) -> Result<Vec<BlamedField>> {
        let decisions = self.decisions();
        let mut blamed = Vec::new();
        let Some(now) = self.local.first() else {
            return Ok(blamed);
        };
        let Some(document) = self.document(now, file) else {
            let refused = self.warnings.borrow_mut().remove(file);
            let message = refused.unwrap_or_else(|| format!("'{file}' is not YAML with fields"));
            return Err(Failure::new(message).hint(package.command(&["diff"])));
        };
        let roots = (0..document.document().len()).filter_map(|at| {
            let root = document.document().root(at)?;
            Some((at, Resource::read(root), leaves(root)))
        });
        let resources: Vec<(usize, Resource, Vec<Leaf>)> = roots.collect();
        drop(document);
        let starts = resources.iter().map(|(at, _, leaves)| {
            let keys = leaves.iter().map(|leaf| leaf.key.clone()).collect();
            FollowedResource::new((file.to_owned(), *at), keys, self.local.len())
        });
        let setters = self.setters(starts.collect());
        for ((_, resource, leaves), setters) in resources.into_iter().zip(setters) {
            let injection = InjectedValue::of(&leaves, &setters);
            let name = resource.name.as_deref().unwrap_or(file);
            let name = match &*resource.kind {
                "" => name.to_owned(),
                kind => format!("{kind}/{name}"),
            };
            for (leaf, (since, setter)) in leaves.into_iter().zip(setters) {
                let is_content = leaf.key.starts_with("spec.") || leaf.key.starts_with("data.");
                let is_local = !matches!(setter, Setter::Upstream { .. });
                let injection = injection
                    .as_ref()
                    .filter(|injection| is_content && is_local && injection.is_at(since, &setter));
                let function = VariantFunction::of(&leaf.key);
                let function = function.filter(|_| is_local && resource.is_kptfile());
                blamed.push(BlamedField {
                    resource: name.clone(),
                    is_injected: injection.is_some(),
                    injected_resource: injection.and_then(|injection| injection.name.clone()),
                    is_of_variant: function.is_some(),
                    function,
                    is_decided: decisions
                        .iter()
                        .any(|decision| decision.is_about(&resource, &leaf, since)),
                    key: leaf.key,
                    shown: leaf.shown,
                    setter,
                });
            }
        }
        Ok(blamed)
    }

    /// For each field of the resources in the newest state: the index of the local state that its value dates from, and
    /// who set it.
    fn setters(&self, mut resources: Vec<FollowedResource>) -> Vec<Vec<(usize, Setter)>> {
        self.follow(&self.local, &mut resources);
        let setter = |origin: &FieldOrigin| (origin.at, self.local[origin.at].setter.clone());
        let of_resource =
            |resource: &FollowedResource| resource.origins.iter().map(setter).collect();
        let mut setters: Vec<Vec<(usize, Setter)>> = resources.iter().map(of_resource).collect();
        // Group the fields by state, so that upstream is searched once for each state.
        let mut of_state: BTreeMap<usize, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for (resource, found) in resources.iter().enumerate() {
            for (number, origin) in found.origins.iter().enumerate() {
                let of_resource = of_state.entry(origin.at).or_default();
                of_resource.entry(resource).or_default().push(number);
            }
        }
        for (at, fields) in of_state {
            let states = self.revisions_at(at).unwrap_or_default();
            let Some(first) = states.first() else {
                continue;
            };
            self.parsed.borrow_mut().next();
            let local = &self.local[at];
            let pairs = OnceCell::new();
            let mut places = Vec::new();
            let mut in_upstream = Vec::new();
            for (resource, numbers) in fields {
                let Some(place) = &resources[resource].trail[at] else {
                    continue;
                };
                let Some(location) = self.counterpart(first, local, place, &pairs) else {
                    continue;
                };
                let kept = self.kept((local, place), (first, &location));
                let of_upstream = numbers.into_iter().filter_map(|number| {
                    let key = kept.key_of(&resources[resource].origins[number].key)?;
                    Some(((resource, number), key))
                });
                let (numbers, keys): (Vec<_>, Vec<String>) = of_upstream.unzip();
                places.push(numbers);
                in_upstream.push(FollowedResource::new(location, keys, states.len()));
            }
            local.resources.take();
            self.follow(&states, &mut in_upstream);
            for (numbers, found) in places.into_iter().zip(in_upstream) {
                for ((resource, number), origin) in numbers.into_iter().zip(found.origins) {
                    setters[resource][number].1 = states[origin.at].setter.clone();
                }
            }
        }
        setters
    }

    /// The fields that have the same value in another state.
    fn kept(
        &self,
        (now, place): (&HistoricState, &ResourcePlace),
        (other, other_place): (&HistoricState, &ResourcePlace),
    ) -> KeptFields {
        if place == other_place && is_same_file(now, other, &place.0) {
            return KeptFields::All;
        }
        let mut kept = HashMap::new();
        let documents = (
            self.document(now, &place.0),
            self.document(other, &other_place.0),
        );
        if let (Some(now), Some(other)) = &documents
            && let Some(now) = now.document().root(place.1)
            && let Some(other) = other.document().root(other_place.1)
        {
            if now.source() == other.source() {
                return KeptFields::All;
            }
            let schema = MergeSchema::of(&Resource::read(now), &self.schema, true);
            pair_fields([other, now], schema, &mut |field| {
                if let PairedField::Same([other, now]) = field {
                    kept.insert(now, other);
                }
            });
        }
        KeptFields::These(kept)
    }

    /// The conflicts that the package's rules decided in past upgrades.
    fn decisions(&self) -> Vec<RuleDecision> {
        let decided = (0..self.local.len()).filter_map(|at| {
            let results = self.merged_again(at)?;
            let decided = results.into_iter().filter(|result| {
                result
                    .conflict()
                    .is_some_and(|conflict| conflict.rule.is_some())
            });
            Some(
                decided
                    .map(move |result| RuleDecision { at, result })
                    .collect::<Vec<_>>(),
            )
        });
        decided.flatten().collect()
    }

    /// Repeats the merge of the upgrade that made a state, and returns its results. `None` if no upgrade made the
    /// state, or if the package had no rules before it.
    fn merged_again(&self, at: usize) -> Option<Vec<FunctionResult>> {
        let [before] = *self.local[at].parents else {
            return None;
        };
        let before = &self.local[before];
        before.files.get(RULES)?;
        let (from, to) = (
            self.tracking_of(before)?,
            self.tracking_of(&self.local[at])?,
        );
        let lock = from.lock.filter(|_| from.open.is_none())?;
        let new_lock = to.lock?;
        let new = to.open.map(|open| open.to).or(new_lock.commit)?;
        let old = lock.commit.filter(|old| *old != new)?;
        let contents = before
            .files
            .iter()
            .map(|(path, id)| Some((path.clone(), self.bytes(id, path)?)));
        let contents = contents.collect::<Option<Contents>>()?;
        let merger = Merger {
            original: self.revision(&lock.directory, old, Role::Original)?,
            upstream: self.revision(&new_lock.directory, new, Role::Upstream)?,
            local: None,
            strategy: lock.update_strategy,
            rules: policy::rules(&contents).ok()?,
            file: self.only_file.clone(),
            new_file: None,
            path: lock.directory,
            siblings: Vec::new(),
            kept: Vec::new(),
            rendering: None,
        };
        let merged = merger.merge(&contents, Side::Local).ok()?;
        Some(merged.results.iter().cloned().collect())
    }

    /// The files of a revision, rendered as the locked one is.
    fn snapshot(&self, path: &str, revision: &Revision) -> Option<Snapshot> {
        let request = self.rendering.as_ref().map(|rendering| &rendering.locked);
        let upstream = self.upstream.as_ref()?;
        let read = upstream.fetch_by(path, revision, request, &[&self.contents]);
        Some(read.ok()?.0.snapshot)
    }

    /// The upstream package at a commit.
    fn revision(&self, path: &str, commit: String, role: Role) -> Option<Arc<SuppliedPackage>> {
        let revision = Revision::named(&commit, commit.clone());
        let snapshot = self.snapshot(path, &revision)?;
        supplied(snapshot, role, self.only_file.as_deref(), &[]).ok()
    }

    /// The upstream revisions up to the one that a local state was made from or merged with, newest first. `None` if the
    /// state did not change the upstream revision.
    fn revisions_at(&self, at: usize) -> Option<Vec<HistoricState>> {
        let upstream = self.upstream.as_ref()?;
        let lock = |at: usize| self.tracking_of(self.local.get(at)?)?.lock;
        let lock_now = lock(at)?;
        let mut before = self.local[at].parents.iter().filter_map(|at| lock(*at));
        if before.any(|before| before.commit == lock_now.commit) {
            return None;
        }
        let commit = lock_now.commit.clone()?;
        let (revisions, mut is_partial) = names_of_revisions(upstream, &lock_now, &commit);
        let mut states = Vec::new();
        let (mut path, mut newer) = (lock_now.directory, commit);
        for (revision, commit) in revisions {
            let files = self.upstream_files(&path, &commit).or_else(|| {
                if !upstream.is_git() {
                    return None;
                }
                path = self.repositories.last()?.moved(&path, &newer, &commit)?;
                self.upstream_files(&path, &commit)
            });
            let Some(files) = files else {
                if states.is_empty() {
                    let fetch = upstream.fetch_command(&commit);
                    let fetch = fetch.map(|fetch| format!("; to get it: {fetch}"));
                    let (address, fetch) = (&upstream.address, fetch.unwrap_or_default());
                    let what = "the fields that it set are shown as yours";
                    let message = format!("cannot read {revision} of {address}: {what}{fetch}");
                    self.warn(&revision, message);
                }
                is_partial |= !upstream.is_git();
                break;
            };
            newer.clone_from(&commit);
            let mut state = HistoricState::new(Setter::Upstream { revision, commit }, files);
            state.parents = vec![states.len() + 1];
            states.push(state);
        }
        if let (true, Some(Setter::Upstream { revision, .. })) =
            (is_partial, states.last_mut().map(|state| &mut state.setter))
        {
            revision.push_str(" or earlier");
        }
        Some(states)
    }

    /// The files of a release that was fetched.
    fn fetched_files(&self, path: &str, digest: &str) -> Option<BTreeMap<String, String>> {
        let revision = Revision::named(digest, digest.to_owned());
        let snapshot = self.snapshot(path, &revision)?;
        let package = snapshot.package.named_as(self.only_file.as_deref());
        let mut known = self.fetched_contents.borrow_mut();
        let mut files = BTreeMap::new();
        for (path, _) in package.files() {
            let bytes = package.read(path).ok()?.into_owned();
            // Equal files of the package have the same ID.
            let mut id = sha1_smol::Sha1::from(format!("blob {}\0", bytes.len()));
            id.update(&bytes);
            let id = id.digest().to_string();
            files.insert(path.to_owned(), id.clone());
            known.insert(id, bytes);
        }
        (!files.is_empty()).then_some(files)
    }

    fn upstream_files(&self, path: &str, commit: &str) -> Option<BTreeMap<String, String>> {
        if is_digest(commit) || self.rendering.is_some() {
            return self.fetched_files(path, commit);
        }
        let repository = self.repositories.last()?;
        let Some(own) = &self.only_file else {
            let files = repository.files_of(path, commit).ok()?;
            return (!files.is_empty()).then(|| files.into_iter().collect());
        };
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let files = repository.files_of(directory, commit).ok()?;
        let (_, id) = files.into_iter().find(|(path, _)| path == name)?;
        Some([(own.clone(), id)].into())
    }

    fn tracking_of(&self, state: &HistoricState) -> Option<Tracking> {
        let id = state.files.get(KPTFILE)?;
        let text = String::from_utf8(self.bytes(id, KPTFILE)?).ok()?;
        Tracking::read(&text, &Surroundings::default()).ok()
    }

    /// Follows resources and their fields back through the states, as far as they exist. Each state is compared with
    /// those before it, for all resources at once.
    fn follow(&self, states: &[HistoricState], resources: &mut [FollowedResource]) {
        let progress = ProgressLine::new("Following", states.len());
        for (at, now) in states.iter().enumerate() {
            progress.step(now.setter.short());
            for &parent in &now.parents {
                let Some(before) = states.get(parent) else {
                    continue;
                };
                self.parsed.borrow_mut().next();
                let pairs = OnceCell::new();
                for resource in resources.iter_mut().filter(|one| one.is_open(at)) {
                    self.follow_to(resource, (at, now), (parent, before), &pairs);
                }
            }
            now.resources.take();
        }
    }

    /// Follows a resource and its fields from a state to one before it.
    fn follow_to(
        &self,
        resource: &mut FollowedResource,
        (at, now): (usize, &HistoricState),
        (parent, before): (usize, &HistoricState),
        pairs: &OnceCell<PairsOfStates>,
    ) {
        let Some(place) = resource.trail[at].clone() else {
            return;
        };
        if resource.trail[parent].is_none() {
            let same = is_same_file(now, before, &place.0).then(|| place.clone());
            resource.trail[parent] = same.or_else(|| self.counterpart(before, now, &place, pairs));
        }
        let Some(old) = &resource.trail[parent] else {
            return;
        };
        if resource.origins.iter().all(|origin| origin.at != at) {
            return;
        }
        let kept = self.kept((now, &place), (before, old));
        for origin in resource.origins.iter_mut().filter(|one| one.at == at) {
            if let Some(key) = kept.key_of(&origin.key) {
                *origin = FieldOrigin { at: parent, key };
            }
        }
    }

    /// Finds the resource in the state `wanted` that corresponds to the resource at `location` in the state `of`. `known`
    /// keeps the pairs of the two states.
    fn counterpart(
        &self,
        wanted: &HistoricState,
        of: &HistoricState,
        location: &ResourcePlace,
        known: &OnceCell<PairsOfStates>,
    ) -> Option<ResourcePlace> {
        let pairs = known.get_or_init(|| {
            let (wanted, own) = (self.resources(wanted), self.resources(of));
            let pairs = wanted.pairs(&own).into_iter();
            let places = pairs.filter_map(|(found, at)| {
                Some((
                    own.places.get(at)?.clone(),
                    wanted.places.get(found)?.clone(),
                ))
            });
            places.collect()
        });
        if let Some(found) = pairs.get(location) {
            return Some(found.clone());
        }
        let (path, at) = location;
        let is_resource = |state: &HistoricState, path: &str| {
            let document = self.document(state, path)?;
            let root = document.document().root(*at)?;
            Some(!Resource::read(root).kind.is_empty())
        };
        // A document without a resource stays in its place.
        let is_other = |state: &HistoricState, path: &str| is_resource(state, path) == Some(false);
        if !is_other(of, path) {
            return None;
        }
        if is_other(wanted, path) {
            return Some(location.clone());
        }
        // A file that was renamed without an edit.
        let id = of.files.get(path)?;
        let mut same = wanted.files.iter();
        let is_renamed = |name: &str| !of.files.contains_key(name) && is_other(wanted, name);
        let (renamed, _) = same.find(|(name, other)| *other == id && is_renamed(name))?;
        Some((renamed.clone(), *at))
    }

    fn resources(&self, state: &HistoricState) -> Rc<PackageResources> {
        if let Some(known) = &*state.resources.borrow() {
            return Rc::clone(known);
        }
        let paths = state.files.keys().filter(|path| is_krm_name(path));
        let files = paths.filter_map(|path| Some((path.as_str(), self.document(state, path)?)));
        let read = Rc::new(PackageResources::of(files));
        state.resources.replace(Some(Rc::clone(&read)));
        read
    }

    fn document(&self, state: &HistoricState, path: &str) -> Option<Rc<OwnedDocument>> {
        let id = state.files.get(path)?;
        if let Some(known) = self.parsed.borrow_mut().get(id) {
            return known;
        }
        let text = self
            .bytes(id, path)
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let walked = text.and_then(|text| match walkable(text)? {
            Ok(document) => Some(document),
            Err(error) => {
                self.warn(path, format!("'{path}': {error}"));
                None
            }
        });
        let parsed = walked.map(Rc::new);
        self.parsed.borrow_mut().insert(id, parsed.clone());
        parsed
    }

    fn bytes(&self, id: &str, path: &str) -> Option<Vec<u8>> {
        if let Some(bytes) = self.worktree_contents.get(id) {
            return Some(bytes.clone());
        }
        if let Some(bytes) = self.fetched_contents.borrow().get(id) {
            return Some(bytes.clone());
        }
        let mut first = None;
        for repository in &self.repositories {
            match repository.content(id, path) {
                Ok(bytes) => return Some(bytes),
                Err(error) => first = first.or(Some(error)),
            }
        }
        let message = format!(
            "{}; fields that older commits set are shown as set later",
            first?
        );
        self.warn("", message);
        None
    }
}

/// The names and IDs of the locked revision and of the releases below it, newest first, and whether some are left out: of
/// sources without a history, the cache may have some releases only.
fn names_of_revisions(
    upstream: &UpstreamSource,
    lock: &UpstreamLock,
    commit: &str,
) -> (Vec<(String, String)>, bool) {
    let name = if upstream.is_git() {
        lock.reference.clone()
    } else {
        locked_name(lock)
    };
    let name = name.unwrap_or_else(|| commit.to_owned());
    let mut revisions = vec![(name.clone(), commit.to_owned())];
    let Some(version) = upstream.releases.version_of(&name) else {
        return (revisions, !upstream.is_git());
    };
    let below = upstream
        .releases
        .finals(|other| other.order(version).is_lt());
    let count = below.len();
    let known = |release: &ListedReference| {
        Some((release.short.clone(), upstream.kind.known_commit(release)?))
    };
    revisions.extend(below.into_iter().rev().filter_map(known));
    let is_partial = revisions.len() <= count;
    (revisions, is_partial)
}

/// Whether two states have the same file at a path.
fn is_same_file(one: &HistoricState, other: &HistoricState, path: &str) -> bool {
    one.files.get(path) == other.files.get(path)
}
