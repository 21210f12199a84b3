//! Finds the revision that a package was copied from, by its content.
//!
//! Source: contract, Upstreams from Git (`--original auto`).

use std::collections::HashMap;
use std::rc::Rc;

use crate::config::UsageError;
use crate::git::{GitError, GitSource, Repository, Revision, State};
use crate::merge::likeness::{Differences, Looker, PackageValues, Values, count, differences};
use crate::package::is_krm_name;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};
use crate::supplied::{GitOrigin, Role, SuppliedPackage};
use crate::yaml::node_text;

/// How many candidates an error names.
const NAMED: usize = 3;

/// A revision, and its distance to local.
struct Candidate<'s> {
    state: &'s State,
    differences: Differences,
}

/// Finds the revision of upstream's directory that is nearest to a package: the one with the fewest
/// differing values, among the repository's tags or, if no tag has the directory, in the history of
/// the new revision. An info result names it. If it shares less than half of the package's values,
/// that is an error result, and `None`.
///
/// # Errors
/// [`UsageError`]: the repository cannot be read.
pub(crate) fn find_original(
    local: &ResourceList,
    upstream: &GitOrigin,
    results: &mut Results,
) -> Result<Option<SuppliedPackage>, UsageError> {
    let failed = |error: GitError| UsageError(format!("role `{}`: {error}", Role::Original));
    let source = &upstream.source;
    let directory = source.directory.as_str();
    let repository = Repository::open(&source.repository).map_err(failed)?;
    let states = repository
        .states(directory, &upstream.revision.commit)
        .map_err(failed)?;
    let mut seen = Seen {
        repository: &repository,
        directory,
        looker: Looker::default(),
        files: HashMap::new(),
    };
    let ours = seen.local(local)?;
    let mut candidates = Vec::new();
    for state in &states {
        let theirs = seen.state(state).map_err(failed)?;
        candidates.push(Candidate {
            state,
            differences: differences(&ours, &theirs),
        });
    }
    // A stable sort: among equals the first is the newest that the new revision contains.
    candidates.sort_by_key(|candidate| candidate.differences.count);
    let is_like = |found: &Candidate<'_>| 2 * found.differences.shared >= count(&ours);
    let Some(nearest) = candidates.first().filter(|found| is_like(found)) else {
        results.push(uncertain(source, &candidates, count(&ours)));
        return Ok(None);
    };
    results.push(found(&candidates));
    let name = nearest.state.name.clone();
    let revision = Revision {
        given: name.clone(),
        commit: nearest.state.commit.clone(),
        upstream_ref: name.clone(),
        lock_ref: name.clone(),
        is_ambiguous: false,
    };
    let snapshot = repository.read(directory, revision).map_err(failed)?;
    let source = GitSource {
        revision: name,
        ..source.clone()
    };
    SuppliedPackage::from_git(Role::Original, source, snapshot, results).map(Some)
}

fn found(candidates: &[Candidate<'_>]) -> FunctionResult {
    let mut nearest = candidates.iter();
    let said = |candidate: &Candidate<'_>| {
        let Differences { count, .. } = candidate.differences;
        (candidate.state.name.clone(), count.to_string())
    };
    let (name, differences) = nearest.next().map(said).unwrap_or_default();
    let next = nearest.next().map(said);
    let beside = match &next {
        Some((name, differences)) => format!("; the next nearest, `{name}`, in {differences}"),
        None => String::new(),
    };
    let message = format!(
        "the package is a copy of `{name}`, from which it differs in {differences} values{beside}"
    );
    let result = FunctionResult::info(message)
        .tag("reason", Reason::OriginalFound.as_str())
        .tag("original", name)
        .tag("differences", differences);
    match next {
        Some((_, differences)) => result.tag("next", differences),
        None => result,
    }
}

fn uncertain(source: &GitSource, candidates: &[Candidate<'_>], values: usize) -> FunctionResult {
    let name = |candidate: &Candidate<'_>| {
        let shared = candidate.differences.shared;
        format!("`{}` ({shared} of {values} values)", candidate.state.name)
    };
    let named: Vec<String> = candidates.iter().take(NAMED).map(name).collect();
    let found = if named.is_empty() {
        "no revision has that directory".to_owned()
    } else {
        format!("the nearest are {}", named.join(", "))
    };
    let message = format!(
        "expected a revision of `{}` in the repository '{}' that shares at least half of the \
         package's values: {found}; name the original with --original",
        source.directory,
        source.repository.display()
    );
    FunctionResult::error(Reason::OriginalUncertain, message)
}

/// The values of files that were read before.
struct Seen<'r> {
    repository: &'r Repository,
    directory: &'r str,
    looker: Looker,
    /// By the id of the content, and whether it is named like KRM.
    files: HashMap<(String, bool), Rc<Values>>,
}

impl Seen<'_> {
    /// The values of a state of the directory.
    fn state(&mut self, state: &State) -> Result<PackageValues, GitError> {
        let files = self.repository.files_of(self.directory, &state.commit)?;
        let mut values = Vec::new();
        for (path, id) in files {
            let is_krm = is_krm_name(path.rsplit('/').next().unwrap_or_default());
            let known = self.files.get(&(id.clone(), is_krm)).map(Rc::clone);
            let known = match known {
                Some(known) => known,
                None => {
                    let bytes = self.repository.content(&id, &path)?;
                    let read = Rc::new(self.looker.values(&path, &bytes));
                    self.files.insert((id, is_krm), Rc::clone(&read));
                    read
                }
            };
            values.push((path, known));
        }
        Ok(values)
    }

    /// The values of the local package.
    fn local(&mut self, local: &ResourceList) -> Result<PackageValues, UsageError> {
        let mut values = Vec::new();
        if !local.is_package() {
            for (id, resource) in local.items() {
                let path = resource.origin.path.as_deref().unwrap_or_default();
                let text = node_text(local.node(id));
                let read = self.looker.values(path, text.as_bytes());
                values.push((path.to_owned(), Rc::new(read)));
            }
            return Ok(values);
        }
        let of_resources = local.paths_of_resources();
        let of_resources = of_resources.into_iter().map(str::to_owned);
        for path in of_resources.chain(local.paths_of_others()) {
            let bytes = local.read_file(&path);
            let bytes = bytes.map_err(|error| UsageError(error.to_string()))?;
            values.push((path.clone(), Rc::new(self.looker.values(&path, &bytes))));
        }
        Ok(values)
    }
}
