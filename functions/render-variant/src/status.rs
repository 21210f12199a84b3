//! The conditions of a PackageVariant, as results and in its `status`.

use std::collections::HashSet;

use krm_core::resource::{Resource, namespace_of};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Results};
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_variant::status::{ENSURED, StepsOutcome, write_status};
use krm_yaml::NodeRef;

use super::Variant;

/// The message of `Ready` in the results. It claims only what this run has checked.
pub(super) fn ready(supplied: &Supplied) -> String {
    match supplied
        .one(Role::Upstream)
        .and_then(SuppliedPackage::upstream)
    {
        Some(upstream) => {
            let (name, id) = (upstream.name(), upstream.id());
            format!("the package is rendered from `{name}`, {id}")
        }
        None => "the package is rendered".to_owned(),
    }
}

/// Writes the `status` of the PackageVariant if it is among the items.
pub(super) fn write(
    variant: &Variant<'_>,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) {
    let Some(id) = variant.own_item(list) else {
        return;
    };
    let targets = downstream_targets(variant, list, supplied);
    let conditions = StepsOutcome::Ready.conditions(ENSURED);
    let outcome = list.edit(id, |root, editor| {
        write_status(root, &conditions, &targets, editor)
    });
    if let Err(error) = outcome {
        let result = FunctionResult::refused(&error);
        results.push(result.with_resource(list.resource(id)).with_field("status"));
    }
}

/// A PackageRevision that the variant owns.
struct ListedRevision {
    name: String,
    lifecycle: String,
    /// The numbers in `v1`, `1` or `v1.2.3`.
    revision: Vec<u64>,
}

/// The names of the variant's drafts and proposed revisions; if there are none, the name of its latest published
/// revision.
fn downstream_targets(
    variant: &Variant<'_>,
    list: &ResourceList,
    supplied: &Supplied,
) -> Vec<String> {
    let lists = std::iter::once(list).chain(supplied.resources().map(|package| package.list()));
    let mut owned: Vec<ListedRevision> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for list in lists {
        for (id, resource) in list.items() {
            if resource.kind.as_ref() != "PackageRevision" || resource.group() != "porch.kpt.dev" {
                continue;
            }
            let revision = list.read(id, |node| revision(variant, resource, node));
            owned.extend(revision.filter(|new| known.insert(new.name.clone())));
        }
    }
    let drafts = owned
        .iter()
        .filter(|revision| matches!(&*revision.lifecycle, "Draft" | "Proposed"));
    let mut targets: Vec<&ListedRevision> = drafts.collect();
    if targets.is_empty() {
        let published = owned.iter().filter(|r| r.lifecycle == "Published");
        targets.extend(published.max_by(|a, b| a.revision.cmp(&b.revision)));
    }
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    targets
        .into_iter()
        .map(|revision| revision.name.clone())
        .collect()
}

fn revision(
    variant: &Variant<'_>,
    resource: &Resource,
    node: NodeRef<'_>,
) -> Option<ListedRevision> {
    let namespace = |resource: &Resource| namespace_of(resource.namespace.as_deref()).to_owned();
    let text = |path: &[&str]| node.get_path(path).and_then(|value| value.scalar_text());
    let downstream = variant.typed.spec.downstream.as_ref()?;
    let is_ours = namespace(resource) == namespace(&variant.resource)
        && text(&["spec", "repository"]) == downstream.repo.as_deref()
        && text(&["spec", "packageName"]) == downstream.package.as_deref();
    let uid = variant.config.get_path(&["metadata", "uid"]);
    let uid = uid.and_then(|uid| uid.as_str());
    let mut owners = node.get_path(&["metadata", "ownerReferences"])?.items();
    let owns = |owner: NodeRef<'_>| {
        let field = |name: &str| owner.get(name).and_then(|value| value.as_str());
        let group = field("apiVersion").and_then(|version| version.split_once('/'));
        let same_uid = match (uid, field("uid")) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => true,
        };
        field("kind") == Some("PackageVariant")
            && group.is_some_and(|(group, _)| group == variant.resource.group())
            && field("name") == variant.resource.name.as_deref()
            && same_uid
    };
    let revision = text(&["spec", "revision"]).unwrap_or_default();
    let numbers = revision.trim_start_matches('v').split('.');
    (is_ours && owners.any(owns)).then(|| ListedRevision {
        name: resource.name.as_deref().unwrap_or_default().to_owned(),
        lifecycle: text(&["spec", "lifecycle"]).unwrap_or_default().to_owned(),
        revision: numbers.map_while(|number| number.parse().ok()).collect(),
    })
}
