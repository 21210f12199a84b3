//! The conditions of a PackageVariant, as results and in its `status`.

use std::collections::HashSet;

use crate::conditions::Condition;
use crate::resource::{Resource, namespace_of};
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Results};
use crate::supplied::{Role, Supplied, SuppliedPackage};
use crate::yaml::{Content, EditError, Editor, NodeRef, Value};

use super::Variant;

/// The message of a true `Ready` in a `status`, exactly as Porch writes it, so that the status does not change when
/// Porch and these functions take turns.
pub(in crate::functions) const ENSURED: &str = "successfully ensured downstream package variant";

/// The outcome of a run.
#[derive(Debug, Clone, Copy)]
pub(in crate::functions) enum StepsOutcome {
    /// The PackageVariant is not valid; no step ran.
    Invalid,
    /// A step failed; nothing changes.
    Failed,
    /// The package is rendered.
    Ready,
}

impl StepsOutcome {
    /// The conditions `Stalled` and `Ready`; a true `Ready` has the message `ready`. Every failure stalls, because a
    /// person must fix it.
    pub(in crate::functions) fn conditions(self, ready: &str) -> [Condition<'_>; 2] {
        let condition = |kind, status, reason, message| Condition {
            kind,
            status,
            reason,
            message,
        };
        match self {
            Self::Invalid => {
                let message = "the PackageVariant is not valid";
                [
                    condition("Stalled", "True", "ValidationError", message),
                    condition("Ready", "False", "Error", "invalid packagevariant object"),
                ]
            }
            Self::Failed => {
                let message = "a step failed; nothing is changed";
                [
                    condition("Stalled", "True", "Error", message),
                    condition("Ready", "False", "Error", message),
                ]
            }
            Self::Ready => [
                condition("Stalled", "False", "Valid", "all validation checks passed"),
                condition("Ready", "True", "NoErrors", ready),
            ],
        }
    }
}

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

/// Writes conditions and the names of targets into the status of a PackageVariant, or of a set, which has no targets.
/// An existing entry of a target that remains, such as Porch's `renderStatus`, keeps its bytes. Without names, the
/// existing targets are kept, because none is known.
///
/// # Errors
/// As [`Editor::set`].
pub(in crate::functions) fn write_status<'d>(
    root: NodeRef<'d>,
    conditions: &[Condition<'_>],
    targets: &[String],
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let Some(status) = root.entry("status").map(|entry| entry.value) else {
        let mut status = vec![(Value::from("conditions"), Condition::list(conditions))];
        if !targets.is_empty() {
            let targets = targets.iter().map(|name| target(name)).collect();
            status.push((Value::from("downstreamTargets"), Value::Sequence(targets)));
        }
        let status = Content::Value(Value::Mapping(status));
        return editor.set(root, "status", status);
    };
    match status.entry("conditions").map(|entry| entry.value) {
        Some(old) if old.resolved().kind().is_sequence() => {
            Condition::update(conditions, old, editor)?
        }
        _ => {
            let value = Content::Value(Condition::list(conditions));
            editor.set(status, "conditions", value)?;
        }
    }
    if targets.is_empty() {
        return Ok(());
    }
    let old = status.get("downstreamTargets");
    let name = |item: &NodeRef<'d>| item.get("name").and_then(|name| name.as_str());
    let known: Vec<Option<&str>> = old
        .iter()
        .flat_map(NodeRef::items)
        .map(|item| name(&item))
        .collect();
    let stays =
        |known: &Option<&str>| known.is_some_and(|name| targets.iter().any(|one| one == name));
    let new = targets
        .iter()
        .filter(|name| !known.contains(&Some(name.as_str())));
    let Some(old) = old.filter(|_| known.iter().any(stays)) else {
        let targets = targets.iter().map(|name| target(name)).collect();
        let targets = Content::Value(Value::Sequence(targets));
        return editor.set(status, "downstreamTargets", targets);
    };
    for name in new {
        let position = known
            .iter()
            .position(|known| known.is_some_and(|known| known > name.as_str()));
        editor.insert_item(old, position, Content::Value(target(name)))?;
    }
    if !known.iter().all(stays) {
        editor.remove_parts(old, |index| !stays(&known[index]));
    }
    Ok(())
}

fn target(name: &str) -> Value {
    Value::Mapping(vec![("name".into(), name.into())])
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
