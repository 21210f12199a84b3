//! Renders a variant whose upstream revision can be recorded in a Kptfile. The Kptfile's lock determines whether the
//! package is cloned, updated or left unchanged.
//!
//! Source: contract, Upstreams from Git.

use krm_core::config::UsageError;
use krm_core::resource::{Resource, namespace_of};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::upstream_revision::{Locked, UpstreamRevision};
use krm_follow::{find_original, locked, read_original, write_lock};
use krm_function::supplied::{Supplied, SuppliedPackage};
use krm_upstream::GitOrigin;
use krm_upstream::git::{GitError, Repository};
use krm_variant::revision_request::RevisionRequest;
use krm_yaml::{NodeRef, Path};

use super::Variant;
use super::clone::{clone, refuse_package};
use super::repository::RepositoryFacts;
use super::revision::{check_workspace, find_revision};
use super::update::update;

/// Clones the variant, or updates it to the new revision of its upstream.
pub(super) fn follow(
    variant: &Variant<'_>,
    upstream: &SuppliedPackage,
    origin: &dyn UpstreamRevision,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<(), UsageError> {
    let Some(not_empty) = refuse_package(variant, list) else {
        clone(variant, upstream, list, results)?;
        if !results.has_errors() {
            let repository = repository(variant, list, supplied);
            let address = GitOrigin::of_revision(origin).map(|origin| origin.address.as_str());
            let repository = repository.as_deref().or(address);
            write_lock(list, origin, repository, results);
        }
        return Ok(());
    };
    let original = match locked(list, origin, results)? {
        Locked::Same | Locked::NotFound => None,
        Locked::Other(original) => Some(read_original(list, original, results)?),
        Locked::Absent(_) if supplied.searches_original => {
            let found = find_original(list, origin, supplied, results)?;
            found.map(|found| found.package)
        }
        Locked::Absent(error) => {
            results.push(error.map_or(not_empty, |error| *error));
            None
        }
    };
    if let Some(original) = original {
        update(variant, &original, upstream, list, supplied, results)?;
        record(origin, list, results);
    }
    Ok(())
}

/// Records the upstream revision after an update.
pub(super) fn record(
    origin: &dyn UpstreamRevision,
    list: &mut ResourceList,
    results: &mut Results,
) {
    if !results.has_errors() {
        write_lock(list, origin, None, results);
    }
}

/// Refuses an upstream that is not the one in the PackageVariant: another commit, or another directory.
pub(super) fn check(
    variant: &Variant<'_>,
    origin: &GitOrigin,
    results: &mut Results,
) -> Result<(), UsageError> {
    let source = &origin.source;
    if origin.is_file {
        let message = format!(
            "expected the directory of an upstream package, found the file `{}`",
            source.directory
        );
        let result = FunctionResult::error(Reason::WrongUpstream, message);
        let result = result.with_resource(&variant.resource);
        results.push(result.with_field("spec.upstream"));
        return Ok(());
    }
    let Some(wanted) = variant.typed.spec.upstream.as_ref() else {
        return Ok(());
    };
    let mut refuse = |field: &str, message: String| {
        let result = FunctionResult::error(Reason::WrongUpstream, message);
        let path = Path::fields(&["spec", "upstream", field]);
        results.push(result.with_resource(&variant.resource).with_field(path));
    };
    let package = wanted.package.as_deref().unwrap_or_default();
    let directory = format!("/{}", source.directory);
    if !source.directory.is_empty() && !directory.ends_with(&format!("/{package}")) {
        refuse(
            "package",
            format!(
                "expected the upstream package of `{package}`, found the directory `{}`",
                source.directory
            ),
        );
    }
    let request = RevisionRequest::of(wanted);
    let name = request.to_string();
    let is_named = name == origin.revision.given || name == origin.revision.upstream_ref;
    if is_named && request.workspace().is_none() {
        return Ok(());
    }
    let failed = |error: GitError| UsageError::at("role `upstream`", error);
    let repository = Repository::open(&source.repository).map_err(failed)?;
    if is_named {
        let commit = &origin.revision.commit;
        if let Err(message) = check_workspace(&repository, &source.directory, commit, &request) {
            refuse("workspaceName", message);
        }
        return Ok(());
    }
    let found = find_revision(&repository, &source.directory, package, &request);
    if found.is_ok_and(|found| found.commit == origin.revision.commit) {
        return Ok(());
    }
    refuse(
        "revision",
        format!(
            "expected the upstream package at the {}, found it at `{}`, commit {}",
            request.describe(),
            origin.revision.given,
            origin.revision.commit
        ),
    );
    Ok(())
}

/// The address in the Repository object that the PackageVariant's upstream names.
fn repository(variant: &Variant<'_>, list: &ResourceList, supplied: &Supplied) -> Option<String> {
    let wanted = variant.typed.spec.upstream.as_ref()?.repo.as_deref()?;
    let namespace = namespace_of(variant.resource.namespace.as_deref());
    let is_wanted = |resource: &Resource| {
        resource.kind.as_ref() == "Repository"
            && resource.group() == "config.porch.kpt.dev"
            && resource.name.as_deref() == Some(wanted)
            && namespace_of(resource.namespace.as_deref()) == namespace
    };
    let address = |node: NodeRef<'_>| RepositoryFacts::read(node).address;
    let mut items = list.items();
    let own = items.find(|(_, resource)| is_wanted(resource));
    let own = own.and_then(|(id, _)| list.read(id, address));
    own.or_else(|| {
        supplied.resources().find_map(|package| {
            let list = package.list();
            let mut named = package.named(wanted).iter();
            let id = named.find(|id| is_wanted(list.resource(**id)))?;
            list.read(*id, address)
        })
    })
}
