//! Finds the revision that a package was copied from by comparing contents.
//!
//! Source: contract, Upstreams from Git (`--original auto`).

mod versions;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results, listed};
use krm_core::upstream_revision::UpstreamRevision;
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_merge::likeness::{
    ComparedPackages, EditCount, FileEditCount, LocalPaths, SimilarityScanner, Values,
};
use krm_package::{Ignored, Package, file_name, is_krm_name};
use krm_upstream::GitOrigin;
use krm_upstream::git::{DirectoryState, GitError, GitSource, Repository, Revision};
use krm_yaml::node_text;

use versions::{VersionSet, versions_in};

/// How many candidates a result names, at most.
const NAMED: usize = 3;

/// Finds the revision of upstream's directory from which the fewest edits lead to the package. Searches the
/// repository's tags or, if no tag has the directory, the history of the new revision. An info result names the
/// revision. If none is certain, adds an error result and returns `None`.
///
/// # Errors
/// [`UsageError`]: the repository cannot be read.
pub fn find_original(
    package: &ResourceList,
    upstream: &dyn UpstreamRevision,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<Option<FoundOriginal>, UsageError> {
    let failed = |error: GitError| UsageError::at(format_args!("role `{}`", Role::Original), error);
    let Some(upstream) = GitOrigin::of_revision(upstream) else {
        return Err(outside_git());
    };
    let source = &upstream.source;
    let directory = source.directory.as_str();
    let repository = Repository::open(&source.repository).map_err(failed)?;
    let states = repository
        .states(directory, &upstream.revision.commit)
        .map_err(failed)?;
    let progress = |done| supplied.report_progress(done, states.len());
    progress(0);
    let mut scanner = SimilarityScanner::default();
    let local = LocalFiles::read(package, &mut scanner)?;
    let mut search = Search {
        repository: &repository,
        directory,
        local: &local,
        scanner,
        compared: HashMap::new(),
        read: HashMap::new(),
        upstream: Vec::new(),
        ignored: HashMap::new(),
    };
    let of_upstream = repository.files_of(directory, &upstream.revision.commit);
    // An upstream that can only be read in part is searched all the same.
    search.upstream = rules_of(&of_upstream.unwrap_or_default());
    let found = search.run(&states, &progress).map_err(failed)?;
    let candidates = candidates(found);
    let Some(original) = search.decide(&candidates).map_err(failed)? else {
        results.push(uncertain(source, &candidates, &local));
        return Ok(None);
    };
    let revision = search.named_release(original);
    let name = revision.lock_ref.clone();
    let equals = original.equals.iter().filter(|equal| **equal != name);
    let equals: Vec<String> = equals.map(|equal| (*equal).to_owned()).collect();
    results.push(original_found(original, &candidates, &name, &equals));
    let mut snapshot = repository.read(directory, revision).map_err(failed)?;
    snapshot.package = snapshot.package.named_as(package.only_file());
    let source = GitSource {
        revision: name.clone(),
        ..source.clone()
    };
    let origin = Arc::new(GitOrigin::of(source, &snapshot));
    let package =
        SuppliedPackage::from_upstream(Role::Original, snapshot.package, origin, results)?;
    Ok(Some(FoundOriginal {
        package,
        name,
        equals,
    }))
}

/// The revision that a package was copied from.
pub struct FoundOriginal {
    pub package: SuppliedPackage,
    /// The name of the revision.
    pub name: String,
    /// The releases that explain the copy equally well.
    pub equals: Vec<String>,
}

/// The error for an upstream without revisions to search.
pub fn outside_git() -> UsageError {
    let message = "--original auto: expected an upstream from Git (--upstream REPOSITORY//DIRECTORY?ref=REVISION), \
                   found another";
    UsageError::of(message)
}

/// The files of the local package, the shortest first: comparing them costs the least for what it reveals about a
/// revision.
struct LocalFiles {
    files: Vec<LocalFile>,
    numbers: HashMap<String, usize>,
    /// The path of the only file, if the package is one file.
    only_file: Option<String>,
    /// The number of values in all files.
    count: usize,
}

struct LocalFile {
    path: String,
    bytes: Vec<u8>,
    values: Rc<Values>,
}

impl LocalFiles {
    fn read(local: &ResourceList, scanner: &mut SimilarityScanner) -> Result<Self, UsageError> {
        let mut texts: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        if local.is_package() {
            let only = local.only_file().map(str::to_owned);
            let paths = only.map_or_else(|| local.file_paths(), |path| BTreeSet::from([path]));
            for path in paths {
                let bytes = local.read_file(&path).map_err(UsageError::of)?;
                let bytes = bytes.into_owned();
                texts.insert(path, bytes);
            }
        } else {
            for (id, resource) in local.items() {
                let path = resource.origin.path.as_deref().unwrap_or_default();
                let text = texts.entry(path.to_owned()).or_default();
                text.extend(b"\n---\n");
                text.extend(node_text(local.node(id)).as_bytes());
            }
        }
        let mut files: Vec<LocalFile> = Vec::new();
        for (path, bytes) in texts {
            let name = if local.is_package() {
                path.as_str()
            } else {
                ITEMS
            };
            let values = Rc::new(scanner.values(name, &bytes));
            files.push(LocalFile {
                path,
                bytes,
                values,
            });
        }
        files.sort_by_key(|file| file.bytes.len());
        let numbers = files.iter().enumerate();
        let numbers = numbers.map(|(number, file)| (file.path.clone(), number));
        Ok(Self {
            numbers: numbers.collect(),
            only_file: local.only_file().map(str::to_owned),
            count: files.iter().map(|file| file.values.count()).sum(),
            files,
        })
    }
}

/// Those files that say what a package ignores: its `.krmignore` files, and the Kptfiles of the packages that they are
/// of.
fn rules_of(files: &[(String, String)]) -> Vec<(String, String)> {
    let is_rule = |path: &str| file_name(path) == ".krmignore";
    if !files.iter().any(|(path, _)| is_rule(path)) {
        return Vec::new();
    }
    let rules = files.iter();
    let rules = rules.filter(|(path, _)| is_rule(path) || file_name(path) == "Kptfile");
    rules.cloned().collect()
}

/// The path for the items of a stream, so that they are compared as resources whatever their own paths are.
const ITEMS: &str = "items.yaml";

/// A state of upstream's directory whose edits are being counted.
struct Visit<'s> {
    state: &'s DirectoryState,
    /// What the comparison leaves out.
    ignored: Rc<IgnoredFiles>,
    /// The path of each file and the id of its content.
    files: Vec<(String, String)>,
    /// The files that local has as well: the number of the local file, and the id of the state's content.
    common: Vec<(usize, String)>,
    /// How many files of `common` have been compared.
    compared: usize,
    /// The edits counted so far: a lower bound.
    edits: EditCount,
    /// An upper bound on the values that the files share with local's files at the same paths.
    shared: usize,
}

/// A state with the edits that lead from it to local.
struct Found<'s> {
    state: &'s DirectoryState,
    edits: EditCount,
    /// The number of local values that were compared.
    count: usize,
}

/// The local files that a comparison leaves out, because the `.krmignore` of upstream or of a state does.
struct IgnoredFiles {
    ignored: Ignored,
    numbers: HashSet<usize>,
    /// The number of values in the other files.
    count: usize,
}

/// The search for the states that are nearest to local.
struct Search<'r> {
    repository: &'r Repository,
    directory: &'r str,
    local: &'r LocalFiles,
    scanner: SimilarityScanner,
    /// The edits between a local file, by its number, and a content of upstream, by its id.
    compared: HashMap<(usize, String), Rc<FileEditCount>>,
    /// The contents of files that only upstream has, by id.
    read: HashMap<String, Rc<Values>>,
    /// The files of upstream's new revision that say what is ignored.
    upstream: Vec<(String, String)>,
    /// What states leave out, by the paths and ids of the files that say so.
    ignored: HashMap<Vec<(String, String)>, Rc<IgnoredFiles>>,
}

impl Search<'_> {
    /// Finds the nearest states. The result includes the three with the fewest edits and those with the fewest
    /// differing values. Reading a state stops as soon as it cannot be one of these.
    fn run<'s>(
        &mut self,
        states: &'s [DirectoryState],
        progress: &dyn Fn(usize),
    ) -> Result<Vec<Found<'s>>, GitError> {
        let mut visits = Vec::new();
        let local = self.local;
        let mut lower_bounds: HashMap<Vec<usize>, LocalPaths<'_>> = HashMap::new();
        for state in states {
            let mut files = self.files_of(state)?;
            let ignored = self.ignored_by(&files)?;
            files.retain(|(path, _)| !ignored.ignored.has(path));
            let mut left_out: Vec<usize> = ignored.numbers.iter().copied().collect();
            left_out.sort_unstable();
            let paths = lower_bounds.entry(left_out).or_insert_with(|| {
                let files = local.files.iter().enumerate();
                let files = files
                    .filter(|(at, file)| !file.values.is_empty() && !ignored.numbers.contains(at));
                LocalPaths::new(files.map(|(_, file)| file.path.as_str()))
            });
            let numbered = files.iter().filter_map(|(path, id)| {
                let number = self.local.numbers.get(path)?;
                let is_compared = !ignored.numbers.contains(number);
                is_compared.then(|| (*number, id.clone()))
            });
            let mut common: Vec<(usize, String)> = numbered.collect();
            common.sort();
            let edits = paths.fewest_edits(&files.iter().map(|(path, _)| path.as_str()).collect());
            let shared = common
                .iter()
                .filter_map(|(number, _)| local.files.get(*number));
            visits.push(Visit {
                state,
                ignored,
                compared: 0,
                edits,
                shared: shared.map(|file| file.values.count()).sum(),
                files,
                common,
            });
        }
        let numbers = visits.iter().enumerate();
        let numbers = numbers.map(|(number, visit)| Reverse((visit.edits.count(), number)));
        let mut next: BinaryHeap<_> = numbers.collect();
        let mut found: Vec<Found<'s>> = Vec::new();
        let mut begun = 0;
        while let Some(Reverse((_, number))) = next.pop() {
            let Some(visit) = visits.get_mut(number) else {
                continue;
            };
            begun += usize::from(visit.compared == 0);
            // The last step is reported only at the end.
            progress(begun.min(states.len() - 1));
            if visit.is_beaten(&found) {
                continue;
            }
            match visit.common.get(visit.compared) {
                Some((file, id)) => {
                    let edits = self.compare(*file, id)?;
                    visit.compared += 1;
                    visit.edits.add(&edits.edits);
                    visit.shared = visit.shared.saturating_sub(edits.edits.values());
                    next.push(Reverse((visit.edits.count(), number)));
                }
                None => {
                    let edits = self.all_edits(visit)?;
                    found.push(Found {
                        state: visit.state,
                        edits,
                        count: visit.ignored.count,
                    });
                }
            }
        }
        progress(states.len());
        Ok(found)
    }

    /// The files of a state. If both packages are one file, the state's file gets the local name.
    fn files_of(&self, state: &DirectoryState) -> Result<Vec<(String, String)>, GitError> {
        let mut files = self.repository.files_of(self.directory, &state.commit)?;
        if let (Some(name), [(path, _)]) = (&self.local.only_file, files.as_mut_slice()) {
            path.clone_from(name);
        }
        Ok(files)
    }

    /// What the `.krmignore` files of upstream and of a state with these files leave out of local.
    fn ignored_by(&mut self, files: &[(String, String)]) -> Result<Rc<IgnoredFiles>, GitError> {
        let key = rules_of(files);
        if let Some(known) = self.ignored.get(&key) {
            return Ok(Rc::clone(known));
        }
        let read = |files: &[(String, String)]| -> Result<Package, GitError> {
            let text = |(path, id): &(String, String)| {
                let bytes = self.repository.content(id, path)?;
                Ok((path.clone(), String::from_utf8_lossy(&bytes).into_owned()))
            };
            files.iter().map(text).collect()
        };
        let revisions = [read(&self.upstream)?, read(&key)?];
        let ignored = Ignored::by(&revisions).map_err(GitError::Package)?;
        let local = self.local.files.iter().enumerate();
        let numbers = local.filter(|(_, file)| ignored.has(&file.path));
        let numbers: HashSet<usize> = numbers.map(|(at, _)| at).collect();
        let left_out = numbers.iter().filter_map(|at| self.local.files.get(*at));
        let left_out: usize = left_out.map(|file| file.values.count()).sum();
        let found = Rc::new(IgnoredFiles {
            ignored,
            numbers,
            count: self.local.count - left_out,
        });
        self.ignored.insert(key, Rc::clone(&found));
        Ok(found)
    }

    fn compare(&mut self, file: usize, id: &str) -> Result<Rc<FileEditCount>, GitError> {
        let key = (file, id.to_owned());
        if let Some(known) = self.compared.get(&key) {
            return Ok(Rc::clone(known));
        }
        let Some(local) = self.local.files.get(file) else {
            return Ok(Rc::default());
        };
        let bytes = self.repository.content(id, &local.path)?;
        let upstream = self.scanner.values(&local.path, &bytes);
        let edits = Rc::new(FileEditCount::between(&local.values, &upstream));
        self.compared.insert(key, Rc::clone(&edits));
        Ok(edits)
    }

    /// All edits from a state whose common files have been compared.
    fn all_edits(&mut self, visit: &Visit<'_>) -> Result<EditCount, GitError> {
        let local = self.local;
        let mut packages = ComparedPackages::default();
        for (at, file) in local.files.iter().enumerate() {
            if !visit.ignored.numbers.contains(&at) {
                packages.local(&file.path, &file.values);
            }
        }
        for (file, id) in &visit.common {
            let edits = self.compare(*file, id)?;
            if let Some(file) = local.files.get(*file) {
                packages.both(&file.path, edits);
            }
        }
        let is_read = packages.may_have_moved();
        for (path, id) in &visit.files {
            if local.numbers.contains_key(path) {
                continue;
            }
            let values = if is_read && is_krm_name(path) {
                self.read(path, id)?
            } else {
                Rc::default()
            };
            packages.upstream(path, &values);
        }
        Ok(packages.edits())
    }

    fn read(&mut self, path: &str, id: &str) -> Result<Rc<Values>, GitError> {
        if let Some(known) = self.read.get(id) {
            return Ok(Rc::clone(known));
        }
        let bytes = self.repository.content(id, path)?;
        let values = Rc::new(self.scanner.values(path, &bytes));
        self.read.insert(id.to_owned(), Rc::clone(&values));
        Ok(values)
    }

    /// The candidate that the package was copied from. It is certain if no other candidate has as few edits, fewer
    /// differing values, or more values in common with local; or if local names the version of only one such
    /// candidate.
    fn decide<'c, 's>(
        &self,
        candidates: &'c [OriginalCandidate<'s>],
    ) -> Result<Option<&'c OriginalCandidate<'s>>, GitError> {
        let Some(first) = candidates.first() else {
            return Ok(None);
        };
        let may_be = |other: &&OriginalCandidate<'_>| {
            other.fewest == first.fewest
                || other.edits.values() < first.edits.values()
                || other.edits.shared > first.edits.shared
        };
        let possible: Vec<&OriginalCandidate<'_>> = candidates.iter().filter(may_be).collect();
        let original = match possible[..] {
            [only] if self.versions_speak_against(only, candidates)? => None,
            [only] => Some(only),
            _ => self.named_by_versions(&possible)?,
        };
        Ok(original.filter(|original| 2 * original.edits.shared >= original.count))
    }

    /// The revision of a candidate: among tags that explain local equally well, the only one whose version local names.
    fn named_release(&self, original: &OriginalCandidate<'_>) -> Revision {
        let state = original.state;
        let usual = Revision::named(&state.name, state.commit.clone());
        if original.equals.len() < 2 {
            return usual;
        }
        let versions = self.local_versions();
        let mut named = original.equals.iter().filter(|name| versions.names(name));
        let (Some(name), None) = (named.next(), named.next()) else {
            return usual;
        };
        let found = self.repository.resolve("", &format!("refs/tags/{name}"));
        found.map_or(usual, |found| Revision::named(name, found.commit))
    }

    /// The only candidate whose version local names; `None` unless each candidate's own files name its version.
    fn named_by_versions<'c, 's>(
        &self,
        possible: &[&'c OriginalCandidate<'s>],
    ) -> Result<Option<&'c OriginalCandidate<'s>>, GitError> {
        let versions = self.local_versions();
        let are_named = |versions: &VersionSet, candidate: &OriginalCandidate<'_>| {
            candidate.names.iter().any(|name| versions.names(name))
        };
        let mut named = possible
            .iter()
            .copied()
            .filter(|other| are_named(&versions, other));
        let (Some(only), None) = (named.next(), named.next()) else {
            return Ok(None);
        };
        for candidate in possible {
            if !are_named(&self.versions_of(candidate)?, candidate) {
                return Ok(None);
            }
        }
        Ok(Some(only))
    }

    /// Whether another candidate has hardly more edits, and local names more of its versions. One edit that repeats
    /// in many places may have given local the values of a revision that it is not a copy of.
    fn versions_speak_against(
        &self,
        nearest: &OriginalCandidate<'_>,
        candidates: &[OriginalCandidate<'_>],
    ) -> Result<bool, GitError> {
        let most = nearest.fewest + (nearest.fewest / 4).max(1);
        let mut near = candidates
            .iter()
            .filter(|other| other.fewest > nearest.fewest && other.fewest <= most)
            .take(NAMED - 1)
            .peekable();
        if nearest.fewest == 0 || near.peek().is_none() {
            return Ok(false);
        }
        let local = self.local_versions();
        let of_nearest = self.versions_of(nearest)?;
        for other in near {
            if local.speak_for(&self.versions_of(other)?, &of_nearest) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn local_versions(&self) -> VersionSet {
        versions_in(self.local.files.iter().map(|file| file.bytes.as_slice()))
    }

    /// The versions in the files of a candidate that local has as well.
    fn versions_of(&self, candidate: &OriginalCandidate<'_>) -> Result<VersionSet, GitError> {
        let files = self.files_of(candidate.state)?;
        let common = files
            .iter()
            .filter(|(path, _)| self.local.numbers.contains_key(path));
        let texts = common.map(|(path, id)| self.repository.content(id, path));
        let texts: Vec<Vec<u8>> = texts.collect::<Result<_, _>>()?;
        Ok(versions_in(texts.iter().map(Vec::as_slice)))
    }
}

impl Visit<'_> {
    /// Whether the state can neither be among the nearest nor have more values in common with local than those found.
    /// Moved files are considered only for states with few edits, because finding them requires reading all files of
    /// a state.
    fn is_beaten(&self, found: &[Found<'_>]) -> bool {
        let fewest = found.iter().map(|found| found.edits.values()).min();
        let shared = found.iter().map(|found| found.edits.shared).max();
        if fewest.is_none_or(|fewest| self.edits.values() <= fewest)
            || shared.is_none_or(|shared| self.shared >= shared)
        {
            return false;
        }
        // States that are alike are one candidate, so only the best of them counts.
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for Found { edits, .. } in found {
            let count = counts.entry(edits.alike).or_insert(edits.count());
            *count = (*count).min(edits.count());
        }
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable();
        counts
            .get(NAMED - 1)
            .is_some_and(|third| self.edits.count() > *third)
    }
}

/// States that do not differ in what local has.
struct OriginalCandidate<'s> {
    /// The state that names the candidate.
    state: &'s DirectoryState,
    /// The edits from that state.
    edits: EditCount,
    /// The number of local values that were compared.
    count: usize,
    /// The fewest edits from any of the states.
    fewest: usize,
    /// The names of all the states.
    names: Vec<&'s str>,
    /// The names of those states from which as few edits lead to local as from `state`.
    equals: Vec<&'s str>,
}

impl fmt::Display for OriginalCandidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.state.name, split(&self.edits))
    }
}

fn split(edits: &EditCount) -> String {
    let (changed, added) = (edits.changed, edits.added);
    format!(
        "{changed} changed, {added} added, {} removed",
        edits.removed
    )
}

/// Groups states into candidates and sorts them, the fewest edits first.
fn candidates(found: Vec<Found<'_>>) -> Vec<OriginalCandidate<'_>> {
    let mut groups: BTreeMap<u64, Vec<Found<'_>>> = BTreeMap::new();
    for state in found {
        groups.entry(state.edits.alike).or_default().push(state);
    }
    let candidates = groups.into_values().filter_map(|group| {
        let fewest = group.iter().map(|found| found.edits.count()).min()?;
        let names = group.iter().flat_map(|found| &found.state.names);
        let names = names.map(String::as_str).collect();
        // Prefer a state that local contains completely, then the one with the fewest removals within documents that
        // local still has. Otherwise take the state of the highest rank: what local lacks was removed on purpose.
        let named = group.iter().max_by(|a, b| {
            let whole =
                |found: &Found<'_>| (found.edits.removed == 0, Reverse(found.edits.removed_parts));
            let ranks = a.state.rank().cmp(&b.state.rank());
            whole(a).cmp(&whole(b)).then(ranks)
        })?;
        let equals = group.iter();
        let equals = equals.filter(|found| found.edits.count() == named.edits.count());
        let equals = equals.flat_map(|found| &found.state.names);
        let equals = equals.map(String::as_str).collect();
        Some(OriginalCandidate {
            equals,
            state: named.state,
            edits: named.edits,
            count: named.count,
            fewest,
            names,
        })
    });
    let mut candidates: Vec<OriginalCandidate<'_>> = candidates.collect();
    candidates.sort_by(|a, b| {
        let order = |of: &OriginalCandidate<'_>| (of.fewest, of.edits.values());
        order(a)
            .cmp(&order(b))
            .then(b.state.rank().cmp(&a.state.rank()))
    });
    candidates
}

fn original_found(
    original: &OriginalCandidate<'_>,
    candidates: &[OriginalCandidate<'_>],
    name: &str,
    equals: &[String],
) -> FunctionResult {
    let as_well = if equals.is_empty() {
        String::new()
    } else {
        format!("; {} explain it equally well", listed(equals))
    };
    let others = candidates
        .iter()
        .filter(|other| !std::ptr::eq(*other, original));
    let others: Vec<String> = others.take(NAMED - 1).map(ToString::to_string).collect();
    let next = if others.is_empty() {
        String::new()
    } else {
        format!("; the next best: {}", others.join(", "))
    };
    let edits = split(&original.edits);
    let message = format!("the package is a copy of `{name}`, with {edits}{as_well}{next}");
    let result = FunctionResult::info(message).tag("reason", Reason::OriginalFound.as_str());
    let result = if equals.is_empty() {
        result
    } else {
        result.tag("equals", equals.join(" "))
    };
    with_candidates(result, original, name, &others)
}

/// Adds the names of a candidate and of the next ones to a result.
fn with_candidates(
    result: FunctionResult,
    candidate: &OriginalCandidate<'_>,
    name: &str,
    others: &[String],
) -> FunctionResult {
    let result = result
        .tag("original", name.to_owned())
        .tag("differences", split(&candidate.edits));
    if others.is_empty() {
        return result;
    }
    result.tag("next", others.join(", "))
}

fn uncertain(
    source: &GitSource,
    candidates: &[OriginalCandidate<'_>],
    local: &LocalFiles,
) -> FunctionResult {
    let named: Vec<String> = candidates
        .iter()
        .take(NAMED)
        .map(ToString::to_string)
        .collect();
    let found = if named.is_empty() {
        "no revision has that directory".to_owned()
    } else {
        format!("the nearest are {}", named.join(", "))
    };
    let is_like = candidates
        .first()
        .is_some_and(|nearest| 2 * nearest.edits.shared >= nearest.count);
    let expected = if is_like {
        "expected one revision that explains the package with the fewest edits".to_owned()
    } else {
        format!(
            "expected a revision that has at least half of the package's {} values",
            local.count
        )
    };
    let message = format!(
        "{expected}, in `{}` of the repository '{}': {found}; name the original",
        source.directory,
        source.repository.display()
    );
    let result = FunctionResult::error(Reason::OriginalUncertain, message);
    match (candidates.first(), named.split_first()) {
        (Some(nearest), Some((_, others))) => {
            with_candidates(result, nearest, &nearest.state.name, others)
        }
        _ => result,
    }
}
