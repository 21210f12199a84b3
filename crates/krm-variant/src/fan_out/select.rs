//! Selects the upstream revision of a set, and a repository and package for each variant.

use super::{Set, TargetElement};
use crate::cluster::{Cluster, NamedObjects, Object, PACKAGE_REVISION, REPOSITORY};
use crate::expression::ObjectFields;
use crate::naming::revision_name;
use crate::package_variant_set::{Target, given};
use crate::revision_request::{Lookup, RevisionRequest};
use krm_address::latest::latest;
use krm_core::package_variant::Upstream;
use krm_core::resource::namespace_of;
use krm_core::results::{FunctionResult, Reason};
use krm_core::revision_name::PackageRevisionName;

/// A repository and package for which a variant is created.
pub(super) struct Candidate<'s> {
    pub(super) place: TargetElement,
    pub(super) repo: &'s str,
    pub(super) package: &'s str,
    /// The selected object; `None` for an entry of a list.
    pub(super) object: Option<&'s Object>,
}

/// Finds the PackageRevision that a set's variants are made from.
pub(super) fn find_upstream<'s>(
    upstream: &Upstream,
    revisions: &'s NamedObjects,
) -> Result<&'s Object, Box<FunctionResult>> {
    let repo = given(&upstream.repo).unwrap_or_default();
    let package = given(&upstream.package).unwrap_or_default();
    let request = RevisionRequest::of(upstream);
    let is_it = |found: &PackageRevisionName| {
        let text = |field| given(field).unwrap_or_default();
        text(&found.repository) == repo
            && text(&found.package) == package
            && request.is(text(&found.revision), text(&found.workspace))
    };
    let mut found = revisions
        .values()
        .filter(|object| object.revision.as_deref().is_some_and(is_it));
    if request.lookup() == Lookup::Latest
        && let Some(latest) = latest(found.clone(), |object| object.revision_name())
    {
        return Ok(latest);
    }
    let wanted = || {
        let revision = request.describe();
        format!("a PackageRevision of repository `{repo}`, package `{package}`, {revision}")
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
            format!(
                "expected {}, found `{}` and `{}`",
                wanted(),
                a.fields.name,
                b.fields.name
            ),
        )),
    }
}

/// Adds the upstream PackageRevisions of sets that the cluster lacks.
pub fn assume_upstreams<'s>(sets: impl Iterator<Item = &'s Set>, cluster: &mut Cluster) {
    for set in sets {
        let Some(upstream) = &set.typed.spec.upstream else {
            continue;
        };
        let namespace = namespace_of(set.namespace.as_deref());
        let found = find_upstream(upstream, cluster.all(PACKAGE_REVISION, namespace));
        if !found.is_err_and(|error| error.has_reason(Reason::UpstreamNotFound)) {
            continue;
        }
        let request = RevisionRequest::of(upstream);
        let text = |field| given(field).unwrap_or_default();
        let (repository, package) = (text(&upstream.repo), text(&upstream.package));
        let revision = request.to_string();
        // Without a workspace in the request, assume that the workspace has the name of the revision.
        let workspace = request.workspace().unwrap_or(&revision).to_owned();
        let name = revision_name(repository, package, &workspace);
        let revision = PackageRevisionName {
            name: Some(name.clone()),
            repository: upstream.repo.clone(),
            package: upstream.package.clone(),
            revision: Some(revision),
            workspace: Some(workspace),
        };
        let fields = ObjectFields {
            name,
            namespace: namespace.to_owned(),
            ..ObjectFields::default()
        };
        let object = Object {
            fields,
            revision: Some(Box::new(revision)),
            ..Object::default()
        };
        cluster.add_revision(namespace, object);
    }
}

/// The repositories and packages of a target, lazily.
pub(super) fn select<'s>(
    index: usize,
    target: &'s Target,
    default_package: &'s str,
    cluster: &'s Cluster,
    namespace: &str,
) -> Box<dyn Iterator<Item = Candidate<'s>> + 's> {
    let candidates = move |repository, repo: &'s str, packages: &'s [String], object| {
        let candidate = move |number, package| Candidate {
            place: TargetElement {
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
        let named = (0..).zip(packages);
        let named = named.map(move |(number, package)| candidate(Some(number), package.as_str()));
        default.into_iter().chain(named)
    };
    let objects = move |objects: &'s NamedObjects,
                        is_selected: Box<dyn Fn(&Object) -> bool + 's>| {
        let selected = objects.values().filter(move |object| is_selected(object));
        selected.flat_map(move |object| {
            candidates(
                None,
                &object.fields.name,
                &target.package_names,
                Some(object),
            )
        })
    };
    if let Some(selector) = &target.repository_selector {
        let all = cluster.all(REPOSITORY, namespace);
        let is_selected = |object: &Object| selector.matches(&object.fields.labels);
        return Box::new(objects(all, Box::new(is_selected)));
    }
    if let Some(selector) = &target.object_selector {
        let text = |field| given(field).unwrap_or_default();
        let labels = selector.labels();
        let name = given(&selector.name);
        let type_of = (text(&selector.api_version), text(&selector.kind));
        let all = cluster.all(type_of, namespace);
        let is_selected = move |object: &Object| {
            name.is_none_or(|name| object.fields.name == name)
                && labels.matches(&object.fields.labels)
        };
        return Box::new(objects(all, Box::new(is_selected)));
    }
    let repositories = (0..).zip(&target.repositories);
    let named = repositories.filter_map(|(number, one)| Some((number, one, given(&one.name)?)));
    Box::new(named.flat_map(move |(number, repository, repo)| {
        candidates(Some(number), repo, &repository.package_names, None)
    }))
}
