//! The fan-out, which creates PackageVariants from PackageVariantSets and the objects of a cluster.
//!
//! It follows the order of the document: the upstream revision, the targets, then for each target its repository and
//! the rest of the template. All expressions are compiled first, even if nothing is targeted. This module does not
//! read or write files.
//!
//! Source: package-variant document, Fan Out of Variant Generation and PackageVariant Template.

mod failures;
mod select;

use std::borrow::Cow;

use self::failures::Failures;
pub use self::select::assume_upstreams;
use self::select::{Candidate, find_upstream, select};
use super::cluster::{Cluster, NamedObjects, Object, PACKAGE_REVISION, REPOSITORY};
use super::expression::{Compiler, Evaluator, TargetFields, Variable, Variables};
use super::naming::variant_name;
use super::package_variant_set::{PackageVariantSet, Target, Template, given};
use super::template::{CompiledTemplate, TemplateFailure};
use krm_core::package_variant::refuse_downstream;
use krm_core::resource::namespace_of;
use krm_core::results::{FunctionResult, Reason};
use krm_yaml::{Path, Value};

/// A PackageVariantSet with the parts of its metadata that the fan-out uses.
#[derive(Debug)]
pub struct Set {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace` as written; `None` if absent.
    pub namespace: Option<String>,
    /// `metadata.uid`.
    pub uid: Option<String>,
    /// Its annotations that begin with `fn.kpt.dev/`.
    pub annotations: Vec<(String, String)>,
    /// The typed object.
    pub typed: PackageVariantSet,
}

/// A PackageVariant that a set creates.
#[derive(Debug)]
pub struct SetVariant<T> {
    /// `metadata.name`.
    pub name: String,
    /// The target of the set that it was created for.
    pub place: TargetElement,
    /// What the caller made from its `spec`.
    pub made: T,
}

/// A target of a set, or an entry of its lists.
#[derive(Debug, Clone, Copy)]
pub struct TargetElement {
    /// The index of the target.
    pub(crate) target: usize,
    repository: Option<u32>,
    package: Option<u32>,
}

impl TargetElement {
    /// The field path of the element.
    pub fn path(&self) -> Path {
        let mut path = Path::fields(&["spec", "targets"]).index(self.target);
        if let Some(index) = self.repository {
            path = path.field("repositories").index(index as usize);
        }
        match self.package {
            Some(index) => path.field("packageNames").index(index as usize),
            None => path,
        }
    }
}

/// The result of expanding a set.
#[derive(Debug)]
pub struct SetExpansion<T> {
    /// The PackageVariants, in the order of the targets.
    pub variants: Vec<SetVariant<T>>,
    /// Errors. If there are any, the variants are incomplete.
    pub findings: Vec<FunctionResult>,
    /// Targets that selected nothing.
    pub empty: Vec<Path>,
}

/// A set after its targets were selected.
struct Prepared<'s, T> {
    set: &'s Set,
    upstream: Option<&'s Object>,
    /// The template of each target, by the target's index.
    templates: Vec<CompiledTemplate>,
    candidates: Vec<Candidate<'s>>,
    expansion: SetExpansion<T>,
}

/// Expands all sets. Errors of one set do not stop another.
///
/// `make` gets the index of a set, the index of its target, the name of a PackageVariant and its `spec`. It is called
/// for one variant at a time, because all specs together would take much memory. An error of `make` ends the run, and
/// so do more than `most` targets, because the numbers of selected objects and of `packageNames` multiply.
pub fn fan_out<'s, T>(
    sets: impl Iterator<Item = &'s Set>,
    cluster: &'s Cluster,
    most: usize,
    mut make: impl FnMut(usize, usize, &str, Value) -> Result<T, Box<FunctionResult>>,
) -> Vec<SetExpansion<T>> {
    let mut compiler = Compiler::default();
    let mut room = most;
    let mut prepared: Vec<Prepared<'_, T>> = Vec::new();
    for set in sets {
        let one = prepare(set, cluster, room, &mut compiler);
        room = room.saturating_sub(one.candidates.len());
        prepared.push(one);
    }
    let targets = prepared.iter().map(|one| one.candidates.len()).sum();
    let mut evaluator = compiler.evaluator(targets);
    for (index, one) in prepared.iter_mut().enumerate() {
        let mut make = |target, name: &str, spec: Value| make(index, target, name, spec);
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
    let mut expansion = SetExpansion {
        variants: Vec::new(),
        findings: Vec::new(),
        empty: Vec::new(),
    };
    let findings = &mut expansion.findings;
    let spec = &set.typed.spec;
    set.typed.validate_upstream(findings);
    let has_upstream = findings.is_empty();
    set.typed.validate_targets(findings);
    let mut templates = Vec::with_capacity(spec.targets.len());
    let mut may_select = Vec::with_capacity(spec.targets.len());
    for (index, target) in spec.targets.iter().enumerate() {
        let path = Path::fields(&["spec", "targets"]).index(index);
        let before = findings.len();
        target.validate(&path, findings);
        may_select.push(findings.len() == before || target.selects_only_listed());
        templates.push(compile(&path, target, compiler, findings));
    }
    let mut prepared = Prepared {
        set,
        upstream: None,
        templates,
        candidates: Vec::new(),
        expansion,
    };
    let namespace = namespace_of(set.namespace.as_deref());
    if let Some(upstream) = spec.upstream.as_ref().filter(|_| has_upstream) {
        match find_upstream(upstream, cluster.all(PACKAGE_REVISION, namespace)) {
            Ok(found) => prepared.upstream = Some(found),
            Err(finding) => {
                let path = Path::fields(&["spec", "upstream"]);
                prepared.expansion.findings.push(finding.with_field(path));
            }
        }
    }
    let default_package = spec.upstream.as_ref();
    let default_package = default_package.and_then(|upstream| given(&upstream.package));
    let default_package = default_package.unwrap_or_default();
    for (index, target) in spec.targets.iter().enumerate() {
        // The selection of an invalid target would be meaningless.
        if !may_select[index] {
            continue;
        }
        let before = prepared.candidates.len();
        let path = Path::fields(&["spec", "targets"]).index(index);
        let selected = select(index, target, default_package, cluster, namespace);
        // Takes one more than the limit, to detect that the limit is exceeded.
        let selected = selected.take((room + 1).saturating_sub(before));
        prepared.candidates.extend(selected);
        if prepared.candidates.len() > room {
            prepared
                .expansion
                .findings
                .push(too_many().with_field(path));
            prepared.candidates.clear();
            break;
        }
        if prepared.candidates.len() == before {
            prepared.expansion.empty.push(path);
        }
    }
    prepared
}

/// Checks and compiles the template of a target.
fn compile(
    path: &Path,
    target: &Target,
    compiler: &mut Compiler,
    findings: &mut Vec<FunctionResult>,
) -> CompiledTemplate {
    let variables = Variables {
        repository: true,
        target: if target.repositories.is_empty() {
            TargetFields::Object
        } else {
            TargetFields::Listed
        },
    };
    let none = Template::default();
    let template = target.template.as_ref().unwrap_or(&none);
    let path = path.field("template");
    CompiledTemplate::new(template, &path, variables, compiler, findings)
}

/// The error for more PackageVariants than one run may create.
pub fn too_many() -> FunctionResult {
    let message = "the PackageVariants of all targets are larger than the limit of a run (about 48 MB plus four times the size of the input)";
    FunctionResult::error(Reason::TooManyTargets, message)
}

/// An expression exceeded the budget, or all targets together exceed a limit, so the run ends.
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
        templates,
        candidates,
        expansion,
    } = one;
    let nothing = Value::Null;
    let upstream_value = set.typed.spec.upstream_value.as_ref().map(without_absent);
    let upstream_value = upstream_value.as_ref().unwrap_or(&nothing);
    if let Some(upstream) = upstream {
        evaluator.set_object(Variable::Upstream, &upstream.fields);
    }
    let namespace = namespace_of(set.namespace.as_deref());
    let repositories = cluster.all(REPOSITORY, namespace);
    let mut failures = Failures::default();
    expansion.variants.reserve(candidates.len());
    for candidate in candidates.iter() {
        let place = candidate.place;
        let template = &templates[place.target];
        let has_upstream = upstream.is_some() || !template.reads(Variable::Upstream);
        if !(template.compiles && has_upstream) {
            // A missing Repository can still be reported.
            if let Some(Err(failure)) = template
                .plain_repo(candidate.repo)
                .map(|repo| repository(repo, repositories, namespace, place))
            {
                failures.add(candidate, failure);
            }
            continue;
        }
        let made = spec(
            set,
            candidate,
            template,
            upstream_value,
            repositories,
            evaluator,
        );
        let failure = match made {
            Ok(_) if !template.is_valid => continue,
            Ok((name, spec)) => match make(place.target, &name, spec) {
                Ok(made) => {
                    expansion.variants.push(SetVariant { name, place, made });
                    continue;
                }
                Err(finding) => {
                    failures.add_to(&mut expansion.findings);
                    expansion.findings.push(finding.with_field(place.path()));
                    return Err(RunEnds);
                }
            },
            Err(failure) => failure,
        };
        let ends_run = failure.ends_run;
        failures.add(candidate, failure);
        if ends_run {
            failures.add_to(&mut expansion.findings);
            return Err(RunEnds);
        }
    }
    failures.add_to(&mut expansion.findings);
    Ok(())
}

/// The downstream Repository of a variant.
fn repository<'s>(
    repo: &str,
    repositories: &'s NamedObjects,
    namespace: &str,
    place: TargetElement,
) -> Result<&'s Object, TemplateFailure> {
    repositories.get(repo).ok_or_else(|| {
        let message = format!(
            "expected a Repository `{repo}` in the namespace `{namespace}` among the resources, found none"
        );
        let result = FunctionResult::error(Reason::RepositoryNotFound, message);
        result.with_field(place.path()).into()
    })
}

/// Removes entries that are empty strings or null, because they count as absent.
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

/// The name and `spec` of the PackageVariant for a target.
fn spec<'s, 't>(
    set: &Set,
    candidate: &'t Candidate<'s>,
    template: &'t CompiledTemplate,
    upstream: &'t Value,
    repositories: &'s NamedObjects,
    evaluator: &mut Evaluator<'s>,
) -> Result<(String, Value), TemplateFailure> {
    evaluator.set_text(Variable::RepoDefault, candidate.repo);
    evaluator.set_text(Variable::PackageDefault, candidate.package);
    match candidate.object {
        Some(object) if template.reads(Variable::Target) => {
            evaluator.set_object(Variable::Target, &object.fields);
        }
        Some(_) => {}
        None => evaluator.set_listed(candidate.repo, candidate.package),
    }
    let repo = template.repo(evaluator)?;
    let repo = repo.unwrap_or(Cow::Borrowed(candidate.repo));
    let namespace = namespace_of(set.namespace.as_deref());
    let repository = repository(&repo, repositories, namespace, candidate.place)?;
    if template.reads(Variable::Repository) {
        evaluator.set_object(Variable::Repository, &repository.fields);
    }
    let package = template.package(evaluator)?;
    let package = package.unwrap_or(Cow::Borrowed(candidate.package));
    for (field, value) in [("repo", &repo), ("package", &package)] {
        if let Some(mut finding) = refuse_downstream(field, value) {
            finding.message = format!("downstream.{field}: {}", finding.message).into();
            return Err(finding.with_field(candidate.place.path()).into());
        }
    }
    let name = variant_name(&set.name, &repo, &package);
    let spec = template.spec(upstream, (repo, package), evaluator)?;
    Ok((name, spec))
}
