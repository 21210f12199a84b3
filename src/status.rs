//! `krmv status`: shows the revision, edits and newer releases of the packages below a directory. Each newer release is
//! merged and reviewed in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use krm_core::results::Severity;
use krm_function::filter::ProgressLine;
use krm_function::supplied::SuppliedPackage;
use krm_merge::Side;
use krm_merge::likeness::{ComparedPackages, FileEditCount, SimilarityScanner};
use krm_package::escaped::ShownLine;
use krm_package::is_setting;
use krm_package::parallel;
use krm_review::fields::is_meant;
use krm_review::{ComparableResources, Review, Risk};
use krm_upstream::git::without_password;
use serde::Serialize;
use serde_json::json;

use super::cli::{Common, StatusArguments};
use super::conflict::{conflicts, undecided};
use super::exit;
use super::failure::{Failure, Hint, Result};
use super::followed::{CommitGraph, NewerRevision, PathContent};
use super::kptfile::locked_name;
use super::merging::{MergedPackage, Merger};
use super::package::{Contents, KPTFILE, LocalPackage, collect_packages};
use super::print::{self, GREEN, Page, RED, YELLOW, counted};
use super::releases::ListedReference;
use super::rendering::values_within;
use super::review::{reviewable, reviewed};
use super::session::{FollowedPackage, followed};
use super::shared::Listings;
use super::upstream::contents;

/// What the command reports about one package.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct PackageStatus {
    path: String,
    revision: String,
    commit: String,
    edits: Option<usize>,
    open: Option<OpenStatus>,
    newer: Vec<Newer>,
    newest_without_conflict: Option<String>,
    first_with_conflict: Option<String>,
    /// For `--bisect`: releases that change a matching field.
    changed: Vec<ChangedField>,
    problem: Option<String>,
    /// What the user should know of the lock: a tag that moved, a branch with another name.
    notes: Vec<String>,
    /// The address of an upstream that was not asked, because upstream brought the package and so chose the address.
    not_contacted: Option<String>,
    #[serde(skip)]
    look: Hint,
    /// What to do about a newer revision, or about the problem.
    #[serde(skip)]
    upgrade: Hint,
    #[serde(skip)]
    resolve: Hint,
}

#[derive(Serialize)]
struct OpenStatus {
    revision: String,
    /// The number of undecided conflicts. `None` if the merge failed.
    conflicts: Option<usize>,
}

#[derive(Default, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Newer {
    revision: String,
    /// The number of conflicts that it would cause. `None` if it cannot be merged.
    conflicts: Option<usize>,
    /// The number of commits of a branch since the lock that change the package.
    commits: Option<usize>,
    /// Whether the package is the same in it as in the lock.
    changes_nothing: bool,
    /// The siblings of a path with a version in its name, which the revision leaves as it was.
    siblings: Vec<String>,
    /// Why it cannot be merged.
    problem: Option<String>,
    /// The worst risk of its changes.
    risk: Option<Risk>,
    /// The number of its changes of each risk. `None` if it could not be merged or reviewed.
    changes: Option<BTreeMap<Risk, usize>>,
}

/// A field that a release changes.
#[derive(Serialize)]
struct ChangedField {
    revision: String,
    field: String,
}

pub(crate) fn run(status: &StatusArguments, common: &Common) -> Result<u8> {
    let mut packages = Vec::new();
    for directory in &status.directories {
        collect_packages(directory, 0, &mut packages)?;
    }
    let mut states = Vec::new();
    let mut listings = Listings::default();
    listings.upstreams.expect(&packages);
    let is_alone = packages.len() == 1;
    let mut above: Vec<PackageAbove> = Vec::new();
    for directory in packages {
        let is_asked = status.all_upstreams || status.directories.contains(&directory);
        let is_brought = !is_asked && above.iter().any(|above| above.brought(&directory));
        let bisect = status.bisect.as_deref();
        let found = state(&directory, is_brought, bisect, common, &mut listings);
        listings.upstreams.finish(&directory);
        let (state, subpackages) = match found {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            // A package that cannot be read must not hide the other packages.
            Err(failure) if is_alone => return Err(failure),
            Err(failure) => {
                let broken = PackageStatus {
                    upgrade: failure.hints.into_iter().next().unwrap_or_default(),
                    path: directory.to_string_lossy().into_owned(),
                    revision: "unknown".to_owned(),
                    problem: Some(failure.message),
                    ..PackageStatus::default()
                };
                (broken, None)
            }
        };
        above.push(PackageAbove {
            directory,
            subpackages,
        });
        states.push(state);
    }
    if states.is_empty() {
        // Return the error of the first directory, which explains why it is not a package with an upstream.
        let first = status
            .directories
            .first()
            .map_or(Path::new("."), PathBuf::as_path);
        let package = LocalPackage::open(first)?;
        followed(&package)?;
    }
    if common.json {
        print::json(&json!({ "packages": states }))?;
    } else {
        print_all(&states, common)?;
    }
    Ok(exit_code(&states))
}

/// A package that could not be looked at goes before a newer revision.
fn exit_code(states: &[PackageStatus]) -> u8 {
    if states.iter().any(|state| state.problem.is_some()) {
        exit::USAGE
    } else if states.iter().any(|state| !state.newer.is_empty()) {
        exit::NEWER
    } else {
        exit::DONE
    }
}

/// Prints all packages, several with a summary first.
fn print_all(states: &[PackageStatus], common: &Common) -> Result<()> {
    let mut page = Page::new(common);
    if states.len() > 1 {
        page.wrapped(summary(states), 2);
    }
    for state in states {
        state.print(&mut page, common);
    }
    page.finish()
}

/// How many packages are in which state.
fn summary(states: &[PackageStatus]) -> String {
    type Is = fn(&PackageStatus) -> bool;
    let kinds: [(&str, Is); 5] = [
        ("up to date", PackageStatus::is_up_to_date),
        ("with a newer revision", |one| !one.newer.is_empty()),
        ("with an open upgrade", |one| one.open.is_some()),
        ("not contacted", |one| one.not_contacted.is_some()),
        ("with a problem", |one| one.problem.is_some()),
    ];
    let counts = kinds.map(|(what, is)| (states.iter().filter(|state| is(state)).count(), what));
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    format!(
        "{}: {}",
        counted(states.len(), "package"),
        counts.join(", ")
    )
}

/// A package with an upstream, for the packages below it.
pub(crate) struct PackageAbove {
    pub(crate) directory: PathBuf,
    /// The directories of the subpackages that its upstream brought. `None` if they are not known.
    pub(crate) subpackages: Option<BTreeSet<String>>,
}

impl PackageAbove {
    /// Whether its upstream brought a package, or may have.
    pub(crate) fn brought(&self, directory: &Path) -> bool {
        let own = self.directory.strip_prefix(".").unwrap_or(&self.directory);
        let Ok(inner) = directory.strip_prefix(own) else {
            return false;
        };
        let inner = inner.to_string_lossy().replace('\\', "/");
        let known = self.subpackages.as_ref();
        !inner.is_empty() && known.is_none_or(|known| known.contains(&inner))
    }
}

/// The directories of the subpackages of a package.
pub(crate) fn subpackages(packages: &[&SuppliedPackage]) -> BTreeSet<String> {
    let files = packages.iter().filter_map(|package| package.files());
    let paths = files.flat_map(|files| files.files().map(|(path, _)| path.to_owned()));
    let directory = |path: String| Some(path.strip_suffix(KPTFILE)?.strip_suffix('/')?.to_owned());
    paths.filter_map(directory).collect()
}

/// The state of one package, and the subpackages that its upstream brought. `None` if the package has no upstream.
fn state(
    directory: &Path,
    is_brought: bool,
    bisect: Option<&str>,
    common: &Common,
    listings: &mut Listings,
) -> Result<Option<(PackageStatus, Option<BTreeSet<String>>)>> {
    let package = LocalPackage::open(directory)?;
    let Ok((lock, origin)) = followed(&package) else {
        return Ok(None);
    };
    let mut state = PackageStatus {
        path: package.name(),
        revision: locked_name(lock)
            .or(lock.commit.clone())
            .unwrap_or_default(),
        commit: lock.commit.clone().unwrap_or_default(),
        look: package.command(&["status"]),
        upgrade: package.command(&["upgrade"]),
        resolve: package.command(&["resolve"]),
        ..PackageStatus::default()
    };
    if is_brought {
        state.not_contacted = Some(without_password(origin.address()));
        return Ok(Some((state, None)));
    }
    // An upstream that cannot be reached must not hide the other packages.
    let followed = FollowedPackage::open_with(&package, None, common.offline, listings);
    let found = followed.and_then(|followed| fill(&mut state, &followed, bisect));
    let found = found.map_err(|failure| {
        state.problem = Some(failure.message);
        if let Some(hint) = failure.hints.into_iter().next() {
            state.upgrade = hint;
        }
    });
    Ok(Some((state, found.ok())))
}

fn fill(
    state: &mut PackageStatus,
    followed: &FollowedPackage<'_>,
    bisect: Option<&str>,
) -> Result<BTreeSet<String>> {
    let package = followed.package;
    if let Some(open) = &package.tracking.open {
        let target = followed.open_target(open);
        let merger = followed.merger(&target)?;
        let merged = merger.merge(&package.contents, Side::Local).ok();
        let count =
            |merged: MergedPackage| undecided(conflicts(&merged.results), &open.decided).len();
        state.open = Some(OpenStatus {
            revision: target.lock_ref,
            conflicts: merged.map(count),
        });
        state.edits = Some(edits(package, &merger.upstream)?);
        return Ok(subpackages(&[&merger.original, &merger.upstream]));
    }
    let base = followed.original()?;
    state.edits = Some(edits(package, &base)?);
    let model = followed.model()?;
    state.notes = model.notes.iter().map(ToString::to_string).collect();
    if followed.is_rendered_anew() {
        let revision = &state.revision;
        state.notes.push(format!(
            "its values or other settings of `render` changed: an upgrade to {revision} renders it again"
        ));
    }
    let mut newer: Vec<&NewerRevision> = model.newer.iter().collect();
    if newer.len() > MOST_TRIED {
        let middle = MOST_TRIED / 2..newer.len() - MOST_TRIED / 2;
        let [first, last] = [middle.start, middle.end - 1].map(|at| &newer[at].name);
        let count = middle.len();
        let note = format!("{count} releases from {first} to {last} were not tried");
        state.notes.push(note);
        newer.drain(middle);
    }
    let references: Vec<&ListedReference> = newer.iter().map(|one| &one.reference).collect();
    followed.upstream.fetch_several(&references)?;
    let trial = Trial {
        followed,
        base: &base,
        before: reviewable(&package.contents, &[&base])?,
        last: Mutex::default(),
    };
    state.newer = trial.all(&newer);
    // A tag without the file is not a release of it.
    state
        .newer
        .retain(|newer| !followed.upstream.kind.lacks(&newer.revision));
    let mut free = state.newer.iter().rev();
    let free = free.find(|newer| newer.conflicts == Some(0));
    state.newest_without_conflict = free.map(|newer| newer.revision.clone());
    let with = state.newer.iter().find(|newer| newer.conflicts > Some(0));
    state.first_with_conflict = with.map(|newer| newer.revision.clone());
    if let Some(field) = bisect {
        state.changed = trial.changed(field, &newer)?;
    }
    Ok(subpackages(&[&base]))
}

/// Of more newer releases, only the first and the last are tried: each can be a download and a merge.
const MOST_TRIED: usize = 200;

/// Releases of larger packages are tried one after the other. Parsed, a merge takes some thirty times the size.
const LARGE_PACKAGE: usize = 1 << 20;

/// The package on which newer releases are tried.
struct Trial<'t> {
    followed: &'t FollowedPackage<'t>,
    base: &'t Arc<SuppliedPackage>,
    /// The package as it is, for reviews.
    before: Arc<SuppliedPackage>,
    /// The release that was tried last. The next one has most of its files, which need not be parsed again. `None` for
    /// a large package: a parsed release takes some ten times the size.
    last: Mutex<Option<Arc<SuppliedPackage>>>,
}

impl Trial<'_> {
    /// Tries all releases, in parallel. Most releases of a repository with many packages leave a package as it was:
    /// each content is tried once.
    fn all(&self, releases: &[&NewerRevision]) -> Vec<Newer> {
        let base = self.locked_content();
        let contents: Vec<Option<ReleaseContent>> = releases
            .iter()
            .map(|release| self.content(release))
            .collect();
        let mut first: HashMap<&PathContent, usize> = HashMap::new();
        let mut untried: Vec<&NewerRevision> = Vec::new();
        let mut places: Vec<Option<usize>> = Vec::new();
        for (release, content) in releases.iter().zip(&contents) {
            let id = content.as_ref().map(|content| &content.id);
            places.push(match id {
                Some(id) if Some(id) == base.as_ref() => None,
                Some(id) => Some(*first.entry(id).or_insert_with(|| {
                    untried.push(release);
                    untried.len() - 1
                })),
                None => {
                    untried.push(release);
                    Some(untried.len() - 1)
                }
            });
        }
        let progress = ProgressLine::new("Trying releases", untried.len());
        let one = |release: &&NewerRevision| {
            progress.step(&release.name);
            self.one(release)
        };
        // Two merges of a large package at once would take twice the memory.
        let tried = if self.is_large() {
            untried.iter().map(one).collect()
        } else {
            parallel::each(&untried, one)
        };
        let all = releases.iter().zip(contents).zip(places);
        let all = all.map(|((release, content), place)| {
            let tried = place.and_then(|place| tried.get(place));
            let siblings = content.map_or_else(Vec::new, |content| content.siblings);
            tried
                .map_or_else(Newer::unchanging, Clone::clone)
                .of(release, siblings)
        });
        all.collect()
    }

    /// What the package is in upstream at the lock. `None` if it is not in a repository.
    fn locked_content(&self) -> Option<PathContent> {
        let FollowedPackage { lock, upstream, .. } = self.followed;
        // A rendered package is made of more than this.
        if self.followed.rendering.is_some() {
            return None;
        }
        let commit = lock.commit.as_deref()?;
        upstream.content(&lock.directory, commit).ok()?
    }

    /// What the package is in a release. `None` if it is not in a repository, or cannot be found.
    fn content(&self, release: &NewerRevision) -> Option<ReleaseContent> {
        let revision = release.revision();
        let upstream = &self.followed.upstream;
        let is_plain = self.followed.rendering.is_none();
        let found = (upstream.is_git() && is_plain).then(|| self.followed.path_at(&revision).ok());
        let found = found.flatten()?;
        Some(ReleaseContent {
            id: upstream.content(&found.path, &revision.commit).ok()??,
            siblings: found.unchanged_beside,
        })
    }

    fn is_large(&self) -> bool {
        let sizes = self.followed.package.contents.values().map(Vec::len);
        sizes.sum::<usize>() > LARGE_PACKAGE
    }

    fn last(&self) -> MutexGuard<'_, Option<Arc<SuppliedPackage>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn merger(&self, release: &NewerRevision) -> Result<Merger> {
        let original = Arc::clone(self.base);
        let last = self.last().clone();
        let others: Vec<&SuppliedPackage> = last.as_deref().into_iter().collect();
        let merger = self
            .followed
            .merger_from(original, &release.revision(), &others)?;
        if !self.is_large() {
            *self.last() = Some(Arc::clone(&merger.upstream));
        }
        Ok(Merger {
            local: Some(Arc::clone(&self.before)),
            ..merger
        })
    }

    /// The releases of upstream that change a field, in their order.
    fn changed(&self, pattern: &str, releases: &[&NewerRevision]) -> Result<Vec<ChangedField>> {
        let mut before = ComparableResources::of(&contents(self.base)?);
        let mut changed = Vec::new();
        let progress = ProgressLine::new("Comparing releases", releases.len());
        for release in releases {
            progress.step(&release.name);
            let after = ComparableResources::of(&contents(&self.merger(release)?.upstream)?);
            for change in before.changes(&after) {
                let fields = change.fields.iter();
                let fields = fields.map(|field| format!("{}:{field}", change.name));
                let fields = fields.filter(|field| is_meant(pattern, field));
                changed.extend(fields.map(|field| ChangedField {
                    revision: release.name.clone(),
                    field,
                }));
            }
            before = after;
        }
        Ok(changed)
    }

    fn one(&self, release: &NewerRevision) -> Newer {
        let merged = self.merger(release).and_then(|merger| {
            let merged = merger.merge_trial(&self.followed.package.contents)?;
            let mut results = merged.results.iter();
            match results.find(|result| result.severity == Severity::Error) {
                Some(error) => Err(Failure::new(error.message.to_string())),
                None => Ok((merger, merged)),
            }
        });
        let reviewed = merged.as_ref().ok().and_then(|(merger, merged)| {
            reviewed(
                &self.before,
                merger,
                merged,
                Some(&self.followed.shared.reviewed),
            )
        });
        let count = |review: &Review| Risk::ALL.map(|risk| (risk, review.count(risk))).into();
        Newer {
            changes_nothing: (merged.as_ref().ok())
                .is_some_and(|(merger, _)| merger.is_unchanging()),
            risk: reviewed.as_ref().and_then(Review::worst),
            changes: reviewed.as_ref().map(count),
            conflicts: (merged.as_ref().ok()).map(|(_, merged)| conflicts(&merged.results).len()),
            problem: merged.err().map(|failure| failure.message),
            ..Newer::default()
        }
    }
}

/// The number of edits that the user made: values, files and resources.
pub(super) fn edits(package: &LocalPackage, base: &SuppliedPackage) -> Result<usize> {
    let mut own = package.own(&package.contents)?;
    for path in values_within(&own) {
        own.remove(&path);
    }
    edits_of(own, base)
}

/// The number of edits that lead from an upstream package to these files.
pub(super) fn edits_of(mut own: Contents, base: &SuppliedPackage) -> Result<usize> {
    let mut base = contents(base)?;
    // The upstream and the lock in the Kptfile are not edits.
    base.remove(KPTFILE);
    own.remove(KPTFILE);
    own.retain(|path, _| !is_setting(path));
    let mut scanner = SimilarityScanner::default();
    let mut packages = ComparedPackages::default();
    for (path, bytes) in &own {
        let values = scanner.values(path, bytes);
        match base.get(path) {
            Some(base) => {
                let base = scanner.values(path, base);
                packages.both(path, Rc::new(FileEditCount::between(&values, &base)));
            }
            None => packages.local(path, &values),
        }
    }
    for (path, bytes) in base.iter().filter(|(path, _)| !own.contains_key(*path)) {
        packages.upstream(path, &scanner.values(path, bytes));
    }
    Ok(packages.edits().count())
}

impl PackageStatus {
    fn is_up_to_date(&self) -> bool {
        let is_known = self.problem.is_none() && self.not_contacted.is_none();
        is_known && self.open.is_none() && self.newer.is_empty()
    }

    fn print(&self, page: &mut Page, common: &Common) {
        let edits = match self.edits {
            Some(0) => ", no edits".to_owned(),
            Some(count) => format!(", {}", counted(count, "edit")),
            None => String::new(),
        };
        page.wrapped(format_args!("{}: {}{edits}", self.path, self.revision), 2);
        if let Some(problem) = &self.problem {
            let problem = page.styled(RED, problem);
            page.wrapped(ShownLine::of(&[&"  ", &problem]), 4);
            page.hint(&self.upgrade);
            return;
        }
        if let Some(address) = &self.not_contacted {
            page.wrapped(
                format_args!(
                    "  not contacted: upstream added this package, with the address {address}"
                ),
                4,
            );
            page.hint(&self.look);
            return;
        }
        if let Some(open) = &self.open {
            let count = open.conflicts.map(|count| counted(count, "conflict"));
            let count = count.unwrap_or_else(|| "conflicts".to_owned());
            let text = page.styled(YELLOW, format!("{count} undecided"));
            let open = format!("  the upgrade to {} is open, ", open.revision);
            page.line(ShownLine::of(&[&open, &text]));
            page.hint(&self.resolve);
            return;
        }
        for note in &self.notes {
            let note = page.styled(YELLOW, note);
            page.wrapped(ShownLine::of(&[&"  ", &note]), 4);
        }
        if self.newer.is_empty() {
            page.line("  up to date");
            return;
        }
        self.print_newer(page, common);
        let mut changed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for ChangedField { revision, field } in &self.changed {
            changed.entry(field).or_default().push(revision);
        }
        for (field, revisions) in changed {
            let revisions = revisions.join(", ");
            page.wrapped(format_args!("  {field} changes in {revisions}"), 6);
        }
        match &self.newest_without_conflict {
            Some(free) if self.first_with_conflict.is_some() => {
                page.hint(&self.upgrade.and(&[free]))
            }
            _ => page.hint(&self.upgrade),
        }
    }

    fn print_newer(&self, page: &mut Page, common: &Common) {
        for run in runs(&self.newer, common.verbose) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                continue;
            };
            let names = match run.len() {
                1 => first.revision.clone(),
                count => format!("{} .. {} ({count} releases)", first.revision, last.revision),
            };
            if let Some(problem) = &first.problem {
                let what = page.styled(RED, "cannot be merged");
                let names = format!("  {names}: ");
                page.wrapped(ShownLine::of(&[&names, &what, &": ", problem]), 4);
                continue;
            }
            let what = match first.conflicts {
                _ if first.changes_nothing => ShownLine::of(&[&first.unchanged()]),
                None | Some(0) => page.styled(GREEN, "no conflict"),
                Some(count) => page.styled(YELLOW, counted(count, "conflict")),
            };
            let risk = risk_of(first, page);
            let commits = first.commits.map(|count| counted(count, "commit"));
            let commits = commits.map_or_else(String::new, |count| format!("{count}, "));
            let names = format!("  {names}: {commits}");
            page.wrapped(ShownLine::of(&[&names, &what, &risk]), 4);
        }
    }
}

/// What a package is in a release.
struct ReleaseContent {
    id: PathContent,
    /// The siblings of a path with a version in its name, if the release leaves the path as it was.
    siblings: Vec<String>,
}

impl Newer {
    /// A release with the content of the lock.
    fn unchanging() -> Self {
        Self {
            conflicts: Some(0),
            changes_nothing: true,
            changes: Some(Risk::ALL.map(|risk| (risk, 0)).into()),
            ..Self::default()
        }
    }

    /// The same for another release with the same content.
    fn of(self, release: &NewerRevision, siblings: Vec<String>) -> Self {
        Self {
            revision: release.name.clone(),
            commits: release.commits,
            siblings,
            ..self
        }
    }

    /// What to say of a revision that has the files of the lock.
    fn unchanged(&self) -> String {
        if self.siblings.is_empty() {
            return "changes nothing in this package".to_owned();
        }
        let siblings = self.siblings.join(", ");
        format!("did not change this path; upstream has newer versions next to it: {siblings}")
    }
}

/// The worst risk of a release, after its conflicts.
fn risk_of(newer: &Newer, page: &Page) -> ShownLine {
    match newer.risk {
        Some(risk @ (Risk::Blocking | Risk::Dangerous)) => {
            ShownLine::of(&[&", ", &page.styled(RED, risk)])
        }
        Some(risk) => ShownLine::of(&[&", ", &risk]),
        None => ShownLine::default(),
    }
}

/// Groups consecutive releases with the same number of conflicts and the same risk.
fn runs(newer: &[Newer], is_verbose: bool) -> Vec<&[Newer]> {
    if is_verbose {
        return newer.chunks(1).collect();
    }
    let is_like = |a: &Newer, b: &Newer| {
        let key = |one: &Newer| (one.conflicts, one.risk, one.changes_nothing, one.commits);
        key(a) == key(b) && (&a.problem, &a.siblings) == (&b.problem, &b.siblings)
    };
    newer.chunk_by(is_like).collect()
}
