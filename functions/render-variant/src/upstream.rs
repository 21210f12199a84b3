//! Checks that the upstream package is the one that the PackageVariant names.

use krm_core::results::{FunctionResult, Reason, Results};
use krm_function::supplied::SuppliedPackage;
use krm_variant::revision_request::RevisionRequest;
use krm_yaml::Path;

use super::Variant;

/// Refuses a PackageRevisionResources of another package, repository or revision. The upstream package in a directory
/// is not checked, because a directory does not name its package.
pub(super) fn check(variant: &Variant<'_>, upstream: &SuppliedPackage, results: &mut Results) {
    let Some(wanted) = variant.typed.spec.upstream.as_ref() else {
        return;
    };
    let request = RevisionRequest::of(wanted);
    for revision in &upstream.revisions {
        let mut refuse = |field: &str, wanted: &str, found: &str| {
            let name = revision.name.as_deref();
            let name = name.unwrap_or(upstream.place.as_str());
            let message = format!(
                "expected the upstream package of `{wanted}`, found one of `{found}` (PackageRevisionResources `{name}`)"
            );
            let result = FunctionResult::error(Reason::WrongUpstream, message);
            let path = Path::fields(&["spec", "upstream", field]);
            results.push(result.with_resource(&variant.resource).with_field(path));
        };
        for (field, wanted, found) in [
            ("repo", wanted.repo.as_ref(), &revision.repository),
            ("package", wanted.package.as_ref(), &revision.package),
        ] {
            let wanted = wanted.filter(|text| !text.is_empty());
            if let Some((wanted, found)) = wanted.zip(found.as_ref())
                && wanted != found
            {
                refuse(field, wanted, found);
            }
        }
        let (number, workspace) = (&revision.revision, &revision.workspace);
        let found = request.mismatch(number.as_deref(), workspace.as_deref());
        if let Some((field, wanted, found)) = found {
            refuse(field, wanted, found);
        }
    }
}
