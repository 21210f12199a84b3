//! The fan-out: from PackageVariantSets and the objects of a cluster to PackageVariants.
//!
//! In the document's order: the upstream revision, the targets, then for each target its
//! repository and the rest of the template. All expressions are compiled first, targeted or not.
//! Nothing is read or written here.
//!
//! Source: package-variant document, Fan Out of Variant Generation and PackageVariant Template.

use std::collections::HashMap;

use super::cluster::{Cluster, Object, PACKAGE_REVISION, REPOSITORY, Revision, namespace_of};
use super::expression::{Compiler, Evaluator, TargetFields, Variable, Variables};
use super::naming::variant_name;
use super::package_variant::Upstream;
use super::package_variant_set::{PackageVariantSet, Target, Template, given};
use super::template::{Failure, Plan};
use crate::results::{FunctionResult, Reason};
use crate::yaml::{Path, Value};

/// A PackageVariantSet with what its metadata say.
#[derive(Debug)]
pub struct Set {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace` as it is written.
    pub namespace: Option<String>,
    /// `metadata.uid`.
    pub uid: Option<String>,
    /// Its annotations that begin with `fn.kpt.dev/`.
    pub annotations: Vec<(String, String)>,
    /// The rest.
    pub typed: PackageVariantSet,
}

/// A PackageVariant that a set makes.
#[derive(Debug)]
pub struct Variant<T> {
    /// `metadata.name`.
    pub name: String,
    /// Which target of the set it is for.
    pub place: Place,
    /// What the caller made of its `spec`.
    pub made: T,
}

/// An element of a set's targets.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Index of the target.
    pub target: usize,
    repository: Option<usize>,
    package: Option<usize>,
}

impl Place {
    /// Its field path.
    #[must_use]
    pub fn path(&self) -> Path {
        let mut path = Path::fields(&["spec", "targets"]).index(self.target);
        if let Some(index) = self.repository {
            path = path.field("repositories").index(index);
        }
        match self.package {
            Some(index) => path.field("packageNames").index(index),
            None => path,
        }
    }
}

/// What came of a set.
#[derive(Debug)]
pub struct Expansion<T> {
    /// Its PackageVariants, in the order of the targets.
    pub variants: Vec<Variant<T>>,
    /// What is wrong; then the variants are incomplete.
    pub findings: Vec<FunctionResult>,
    /// Targets that selected nothing.
    pub empty: Vec<Path>,
}

/// A repository and package to make a variant for.
struct Candidate<'s> {
    place: Place,
    repo: &'s str,
    package: &'s str,
    /// The selected object; entries of a list have none.
    object: Option<&'s Object>,
}

/// A set on its way.
struct Prepared<'s, T> {
    set: &'s Set,
    upstream: Option<&'s Object>,
    /// By target, with whether nothing is wrong with its expressions.
    plans: Vec<(Plan, bool)>,
    candidates: Vec<Candidate<'s>>,
    expansion: Expansion<T>,
}

/// Expands all sets. What is found for one does not stop another.
///
/// `make` gets the index of a set, that of its target, the name of a PackageVariant and its `spec`. A fleet of specs
/// takes much more memory than what is written of it. An error of `make` ends the run, and so do
/// more than `most` targets: a selector and `packageNames` multiply.
#[must_use]
pub fn fan_out<T>(
    sets: &[Set],
    cluster: &Cluster,
    most: usize,
    mut make: impl FnMut(usize, usize, &str, Value) -> Result<T, Box<FunctionResult>>,
) -> Vec<Expansion<T>> {
    let mut compiler = Compiler::default();
    let mut room = most;
    let mut prepared: Vec<Prepared<'_, T>> = Vec::with_capacity(sets.len());
    for set in sets {
        let one = prepare(set, cluster, room, &mut compiler);
        room = room.saturating_sub(one.candidates.len());
        prepared.push(one);
    }
    let targets = prepared.iter().map(|one| one.candidates.len()).sum();
    let mut evaluator = compiler.evaluator(targets);
    for (index, one) in prepared.iter_mut().enumerate() {
        let mut make = |target, name: &str, spec| make(index, target, name, spec);
        if evaluate(one, cluster, &mut evaluator, &mut make).is_err() {
            break;
        }
    }
    prepared.into_iter().map(|one| one.expansion).collect()
}

fn prepare<'s, T>(
    set: &'s Set,
    cluster: &'s Cluster,
    room: usize,
    compiler: &mut Compiler,
) -> Prepared<'s, T> {
    let mut expansion = Expansion {
        variants: Vec::new(),
        findings: Vec::new(),
        empty: Vec::new(),
    };
    let findings = &mut expansion.findings;
    let spec = &set.typed.spec;
    set.typed.validate_upstream(findings);
    let has_upstream = findings.is_empty();
    set.typed.validate_targets(findings);
    let mut plans = Vec::with_capacity(spec.targets.len());
    let mut is_sound = Vec::with_capacity(spec.targets.len());
    for (index, target) in spec.targets.iter().enumerate() {
        let before = findings.len();
        set.typed.validate_target(index, findings);
        is_sound.push(findings.len() == before);
        plans.push(plan(index, target, compiler, findings));
    }
    let mut prepared = Prepared {
        set,
        upstream: None,
        plans,
        candidates: Vec::new(),
        expansion,
    };
    let namespace = namespace_of(set.namespace.as_deref());
    if let Some(upstream) = spec.upstream.as_ref().filter(|_| has_upstream) {
        match find_upstream(upstream, cluster.all(PACKAGE_REVISION, namespace)) {
            Ok(found) => prepared.upstream = Some(found),
            Err(finding) => {
                let path = Path::fields(&["spec", "upstream"]);
                prepared.expansion.findings.push(finding.at(path));
            }
        }
    }
    let default_package = spec.upstream.as_ref();
    let default_package = default_package.and_then(|upstream| given(&upstream.package));
    let default_package = default_package.unwrap_or_default();
    for (index, target) in spec.targets.iter().enumerate() {
        // What a target selects that is wrong itself says nothing.
        if !is_sound[index] {
            continue;
        }
        let before = prepared.candidates.len();
        let path = Path::fields(&["spec", "targets"]).index(index);
        let selected = select(index, target, default_package, cluster, namespace);
        // One more than there is room for, to see it.
        let selected = selected.take((room + 1).saturating_sub(before));
        prepared.candidates.extend(selected);
        if prepared.candidates.len() > room {
            prepared.expansion.findings.push(too_many().at(path));
            prepared.candidates.clear();
            break;
        }
        if prepared.candidates.len() == before {
            prepared.expansion.empty.push(path);
        }
    }
    prepared
}

/// The plan of a target, and whether all of its expressions compile.
fn plan(
    index: usize,
    target: &Target,
    compiler: &mut Compiler,
    findings: &mut Vec<FunctionResult>,
) -> (Plan, bool) {
    let path = Path::fields(&["spec", "targets"]);
    let path = path.index(index).field("template");
    let target_fields = match target.repositories.is_empty() {
        true => TargetFields::Object,
        false => TargetFields::Listed,
    };
    let variables = Variables {
        repository: true,
        target: target_fields,
    };
    let none = Template::default();
    let template = target.template.as_ref().unwrap_or(&none);
    let before = findings.len();
    let plan = Plan::new(template, &path, variables, compiler, findings);
    (plan, findings.len() == before)
}

fn find_upstream<'s>(
    upstream: &Upstream,
    revisions: &'s [Object],
) -> Result<&'s Object, Box<FunctionResult>> {
    let repo = given(&upstream.repo).unwrap_or_default();
    let package = given(&upstream.package).unwrap_or_default();
    let revision = upstream
        .revision
        .as_ref()
        .map(|revision| revision.0.as_str());
    let revision = revision.filter(|revision| !revision.is_empty());
    let workspace = given(&upstream.workspace_name);
    let is_it = |found: &Revision| {
        found.repository == repo
            && found.package == package
            && revision.is_none_or(|revision| found.revision == revision)
            && workspace.is_none_or(|workspace| found.workspace == workspace)
    };
    let mut found = revisions
        .iter()
        .filter(|object| object.revision.as_deref().is_some_and(is_it));
    let wanted = || {
        let revision = revision
            .map(|text| format!(", revision `{text}`"))
            .unwrap_or_default();
        let workspace = workspace
            .map(|text| format!(", workspace `{text}`"))
            .unwrap_or_default();
        format!(
            "a PackageRevision of repository `{repo}`, package `{package}`{revision}{workspace}"
        )
    };
    let error = |reason, message: String| Box::new(FunctionResult::error(reason, message));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(error(
            Reason::UpstreamNotFound,
            format!(
                "expected {} in the namespace of the set, found none",
                wanted()
            ),
        )),
        (Some(a), Some(b)) => Err(error(
            Reason::Ambiguous,
            format!("expected {}, found `{}` and `{}`", wanted(), a.name, b.name),
        )),
    }
}

/// What is said of more than one run makes.
pub(crate) fn too_many() -> FunctionResult {
    let message = "the PackageVariants of all targets would be more than one run makes: \
                   about 48 MB and four times the size of the input";
    FunctionResult::error(Reason::TooManyTargets, message)
}

/// The repositories and packages of a target, one after the other.
fn select<'s>(
    index: usize,
    target: &'s Target,
    default_package: &'s str,
    cluster: &'s Cluster,
    namespace: &str,
) -> Box<dyn Iterator<Item = Candidate<'s>> + 's> {
    let candidates = move |repository, repo: &'s str, packages: &'s [String], object| {
        let candidate = move |number, package| Candidate {
            place: Place {
                target: index,
                repository,
                package: number,
            },
            repo,
            package,
            object,
        };
        let default = packages
            .is_empty()
            .then(|| candidate(None, default_package));
        let named = packages.iter().enumerate();
        let named = named.map(move |(number, package)| candidate(Some(number), package.as_str()));
        default.into_iter().chain(named)
    };
    let objects = move |objects: &'s [Object], is_selected: Box<dyn Fn(&Object) -> bool + 's>| {
        let selected = objects.iter().filter(move |object| is_selected(object));
        selected.flat_map(move |object| {
            candidates(None, &object.name, &target.package_names, Some(object))
        })
    };
    if let Some(selector) = &target.repository_selector {
        let all = cluster.all(REPOSITORY, namespace);
        let is_selected = |object: &Object| selector.matches(&object.labels);
        return Box::new(objects(all, Box::new(is_selected)));
    }
    if let Some(selector) = &target.object_selector {
        let text = |field| given(field).unwrap_or_default();
        let labels = selector.labels();
        let name = given(&selector.name);
        let type_of = (text(&selector.api_version), text(&selector.kind));
        let all = cluster.all(type_of, namespace);
        let is_selected = move |object: &Object| {
            name.is_none_or(|name| object.name == name) && labels.matches(&object.labels)
        };
        return Box::new(objects(all, Box::new(is_selected)));
    }
    let repositories = target.repositories.iter().enumerate();
    Box::new(repositories.flat_map(move |(number, repository)| {
        let repo = given(&repository.name).unwrap_or_default();
        candidates(Some(number), repo, &repository.package_names, None)
    }))
}

/// An expression or all targets together take more than they may: the run ends.
struct RunEnds;

fn evaluate<'s, T>(
    one: &mut Prepared<'s, T>,
    cluster: &'s Cluster,
    evaluator: &mut Evaluator<'s>,
    make: &mut impl FnMut(usize, &str, Value) -> Result<T, Box<FunctionResult>>,
) -> Result<(), RunEnds> {
    let Prepared {
        set,
        upstream,
        plans,
        candidates,
        expansion,
    } = one;
    let nothing = Value::Null;
    let upstream_value = set.typed.spec.upstream_value.as_ref().map(without_absent);
    let upstream_value = upstream_value.as_ref().unwrap_or(&nothing);
    if let Some(upstream) = upstream {
        evaluator.set_object(Variable::Upstream, upstream.fields());
    }
    let mut failures = Failures::default();
    expansion.variants.reserve(candidates.len());
    for candidate in candidates.iter() {
        let place = candidate.place;
        let (plan, is_compiled) = &plans[place.target];
        let has_upstream = upstream.is_some() || !plan.reads(Variable::Upstream);
        if !(*is_compiled && has_upstream) {
            // Whether the Repository is there can be told all the same.
            if let Some(Err(failure)) = plan.plain_repo(candidate.repo).map(|repo| {
                let namespace = namespace_of(set.namespace.as_deref());
                repository(repo, namespace, place, cluster)
            }) {
                failures.add(candidate, failure);
            }
            continue;
        }
        let made = spec(set, candidate, plan, upstream_value, cluster, evaluator);
        let failure = match made {
            Ok((name, spec)) => match make(place.target, &name, spec) {
                Ok(made) => {
                    expansion.variants.push(Variant { name, place, made });
                    continue;
                }
                Err(finding) => {
                    expansion.findings.extend(failures.into_results());
                    expansion.findings.push(finding.at(place.path()));
                    return Err(RunEnds);
                }
            },
            Err(failure) => failure,
        };
        let ends_run = failure.ends_run;
        failures.add(candidate, failure);
        if ends_run {
            expansion.findings.extend(failures.into_results());
            return Err(RunEnds);
        }
    }
    expansion.findings.extend(failures.into_results());
    Ok(())
}

/// The Repository that a variant goes to.
fn repository<'s>(
    repo: &str,
    namespace: &str,
    place: Place,
    cluster: &'s Cluster,
) -> Result<&'s Object, Failure> {
    cluster.find(REPOSITORY, namespace, repo).ok_or_else(|| {
        let message =
            format!("expected a Repository `{repo}` in the namespace of the set, found none");
        let result = FunctionResult::error(Reason::RepositoryNotFound, message);
        result.at(place.path()).into()
    })
}

/// Empty strings and null count as absent.
fn without_absent(upstream: &Value) -> Value {
    let is_absent = |value: &Value| matches!(value, Value::Null) || value.as_str() == Some("");
    match upstream {
        Value::Mapping(entries) => {
            let entries = entries.iter().filter(|(_, value)| !is_absent(value));
            Value::Mapping(entries.cloned().collect())
        }
        other => other.clone(),
    }
}

/// Name and `spec` of the PackageVariant for a target.
fn spec<'s>(
    set: &Set,
    candidate: &Candidate<'s>,
    plan: &Plan,
    upstream: &Value,
    cluster: &'s Cluster,
    evaluator: &mut Evaluator<'s>,
) -> Result<(String, Value), Failure> {
    evaluator.set_text(Variable::RepoDefault, candidate.repo);
    evaluator.set_text(Variable::PackageDefault, candidate.package);
    match candidate.object {
        Some(object) if plan.reads(Variable::Target) => {
            evaluator.set_object(Variable::Target, object.fields());
        }
        Some(_) => {}
        None => evaluator.set_listed(candidate.repo, candidate.package),
    }
    let repo = plan.repo(evaluator)?;
    let repo = repo.as_deref().unwrap_or(candidate.repo);
    let namespace = namespace_of(set.namespace.as_deref());
    let repository = repository(repo, namespace, candidate.place, cluster)?;
    if plan.reads(Variable::Repository) {
        evaluator.set_object(Variable::Repository, repository.fields());
    }
    let package = plan.package(evaluator)?;
    let package = package.as_deref().unwrap_or(candidate.package);
    let spec = plan.spec(upstream, (repo, package), evaluator)?;
    Ok((variant_name(&set.name, repo, package), spec))
}

/// Failures of targets, one result for all that fail at one field in the same way.
#[derive(Default)]
struct Failures {
    results: Vec<(FunctionResult, usize)>,
    known: HashMap<(Option<String>, String), usize>,
}

impl Failures {
    fn add(&mut self, candidate: &Candidate<'_>, failure: Failure) {
        let mut result = *failure.result;
        // An expression fails at its own field, and a repository is missing for all alike.
        let by_reason = result
            .tags
            .first()
            .map(|(_, reason)| reason.clone())
            .unwrap_or_default();
        let key = match by_reason.as_str() {
            "RepositoryNotFound" => (None, result.message.clone()),
            _ => (result.field.clone(), by_reason),
        };
        match self.known.get(&key) {
            Some(index) => self.results[*index].1 += 1,
            None => {
                if result.field.as_deref() != Some(&candidate.place.path().to_string()) {
                    result.message = format!(
                        "{} (for repository `{}`, package `{}`)",
                        result.message, candidate.repo, candidate.package
                    );
                }
                self.known.insert(key, self.results.len());
                self.results.push((result, 0));
            }
        }
    }

    fn into_results(self) -> impl Iterator<Item = FunctionResult> {
        self.results.into_iter().map(|(mut result, more)| {
            if more > 0 {
                result.message = format!("{}; and for {more} more targets", result.message);
            }
            result
        })
    }
}
