//! The conditions of a PackageVariant, as results and in its `status`.

use std::collections::HashSet;

use crate::conditions::Condition;
use crate::resource::Resource;
use crate::resource::namespace_of;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Results};
use crate::supplied::{GitOrigin, Supplied, SuppliedPackage};
use crate::yaml::{Content, EditError, Editor, NodeRef, Value};

use super::Variant;

/// How a run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::functions) enum Outcome {
    /// The PackageVariant is not valid; no step ran.
    Invalid,
    /// A step failed; nothing is changed.
    Failed,
    /// The package is rendered.
    Ready,
}

impl Outcome {
    /// `Stalled` and `Ready`; a true `Ready` has the message `ready`. Every failure stalls, since it
    /// needs somebody to fix it.
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
                    condition("Ready", "False", "Error", message),
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
                condition("Stalled", "False", "Valid", "the PackageVariant is valid"),
                condition("Ready", "True", "NoErrors", ready),
            ],
        }
    }
}

/// The message of `Ready`. It claims only what this run checked.
pub(super) fn ready(supplied: &Supplied) -> String {
    match supplied.upstream().and_then(SuppliedPackage::git) {
        Some(GitOrigin { revision, .. }) => format!(
            "the package is rendered from `{}`, commit {}",
            revision.lock_ref, revision.commit
        ),
        None => "the package is rendered".to_owned(),
    }
}

/// Writes `status` of the PackageVariant, if it is among the items.
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
    let ready = ready(supplied);
    let conditions = Outcome::Ready.conditions(&ready);
    let outcome = list.edit(id, |root, editor| {
        write_status(root, &conditions, targets.as_ref(), editor)
    });
    if let Err(error) = outcome {
        let result = FunctionResult::refused(&error);
        results.push(result.about(list.resource(id)).at("status"));
    }
}

/// Writes conditions and targets into the status of a PackageVariant. Equal values keep their bytes.
///
/// # Errors
/// As [`Editor::set`].
pub(in crate::functions) fn write_status<'d>(
    root: NodeRef<'d>,
    conditions: &[Condition<'_>],
    targets: Option<&Value>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let Some(status) = root.entry("status").map(|entry| entry.value) else {
        let mut status = vec![(Value::from("conditions"), Condition::list(conditions))];
        if let Some(targets) = targets {
            status.push((Value::from("downstreamTargets"), targets.clone()));
        }
        let status = Content::Value(Value::Mapping(status));
        return editor.insert_entry(root, None, "status", status);
    };
    write_conditions(status, conditions, editor)?;
    let old = status.get("downstreamTargets").and_then(|old| old.value());
    match targets {
        Some(targets) if old.as_ref() != Some(targets) => {
            editor.set(status, "downstreamTargets", Content::Value(targets.clone()))
        }
        _ => Ok(()),
    }
}

fn write_conditions<'d>(
    status: NodeRef<'d>,
    conditions: &[Condition<'_>],
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let Some(old) = status.entry("conditions").map(|entry| entry.value) else {
        let value = Content::Value(Condition::list(conditions));
        return editor.insert_entry(status, None, "conditions", value);
    };
    Condition::update(conditions, old, NodeRef::as_str, editor)
}

/// A package revision that the variant owns.
struct Revision {
    name: String,
    lifecycle: String,
    /// The numbers of `v1`, `1` or `v1.2.3`.
    revision: Vec<u64>,
}

/// The names of the variant's drafts and proposed revisions, or else of its latest published one.
fn downstream_targets(
    variant: &Variant<'_>,
    list: &ResourceList,
    supplied: &Supplied,
) -> Option<Value> {
    let lists = std::iter::once(list).chain(supplied.resources().map(|package| package.list()));
    let mut owned: Vec<Revision> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for list in lists {
        for (id, resource) in list.items() {
            if resource.kind != "PackageRevision" || resource.group() != "porch.kpt.dev" {
                continue;
            }
            let revision = list.read(id, |node| revision(variant, resource, node));
            owned.extend(revision.filter(|new| known.insert(new.name.clone())));
        }
    }
    let drafts = owned
        .iter()
        .filter(|revision| matches!(&*revision.lifecycle, "Draft" | "Proposed"));
    let mut targets: Vec<&Revision> = drafts.collect();
    if targets.is_empty() {
        let published = owned.iter().filter(|r| r.lifecycle == "Published");
        targets.extend(published.max_by(|a, b| a.revision.cmp(&b.revision)));
    }
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    let names = targets
        .iter()
        .map(|revision| Value::Mapping(vec![("name".into(), Value::from(revision.name.as_str()))]));
    (!targets.is_empty()).then(|| Value::Sequence(names.collect()))
}

fn revision(variant: &Variant<'_>, resource: &Resource, node: NodeRef<'_>) -> Option<Revision> {
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
    (is_ours && owners.any(owns)).then(|| Revision {
        name: resource.name.as_deref().unwrap_or_default().to_owned(),
        lifecycle: text(&["spec", "lifecycle"]).unwrap_or_default().to_owned(),
        revision: numbers.map_while(|number| number.parse().ok()).collect(),
    })
}
