//! Fills injection points, and records a condition for each.
//!
//! The messages of the conditions are the same as Porch's, so that a package does not change when Porch takes it
//! over.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::config::Injectors;
use super::points::{Point, field_of};
use super::select::Selection;
use super::{
    CONFIG_INJECTION_ANNOTATION, INJECTED_RESOURCE_ANNOTATION, INJECTED_RESOURCE_NAME_ANNOTATION,
};
use krm_core::kptfile::{ConditionRecord, remove_ids};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Refusal, Results};
use krm_yaml::{
    Content, EditError, Editor, EntryRef, NodeKind, NodeRef, OwnedDocument, Part, Path, Value,
    has_comments, value_text,
};

const ANNOTATIONS: &str = "metadata.annotations";

/// An injection point and the entry to be copied into it.
pub(super) struct Filling<'a> {
    pub(super) point: &'a Point,
    /// The name of the selected resource.
    pub(super) name: &'a str,
    pub(super) entry: EntryRef<'a>,
}

/// Fills the points with one edit for each text. Returns the points that changed or cannot be filled.
pub(super) fn fill(
    fillings: &BTreeMap<ItemId, Filling<'_>>,
    list: &mut ResourceList,
) -> HashMap<ItemId, Result<(), Refusal>> {
    let in_package = list.is_package();
    let mut changed = Vec::new();
    let refused = list.edit_items(fillings.keys().copied(), |id, _, node, editor| {
        let is_changed = match fillings.get(&id) {
            Some(filling) => filling.write(node, in_package, editor)?,
            None => false,
        };
        changed.extend(is_changed.then_some(id));
        Ok::<_, Refusal>(())
    });
    let changed = changed.into_iter().map(|id| (id, Ok(())));
    let refused = refused.into_iter().map(|(id, refusal)| (id, Err(refusal)));
    changed.chain(refused).collect()
}

impl<'a> Filling<'a> {
    /// Copies the field of the selected resource into the point. Returns whether anything changed.
    fn write<'d>(
        &self,
        resource: NodeRef<'d>,
        in_package: bool,
        editor: &mut Editor<'d, 'a>,
    ) -> Result<bool, Refusal> {
        let field = field_of(&self.point.resource);
        let entry = self.entry;
        let resource = resource.resolved();
        let mut changed = true;
        match resource.entry(field) {
            Some(old) if old.value.equals(&entry.value) => changed = false,
            Some(old) => {
                if !in_package && has_list_comments(old.value) {
                    remove_ids(resource, editor);
                }
                let content = if in_package {
                    Content::Node(entry.value)
                } else {
                    with_room_for_comments(old.value, entry.value).map_err(Refusal::at(field))?
                };
                let replaced = editor.replace(old.value, content);
                replaced.map_err(Refusal::at(field))?;
                editor.keep_value_comments(old.key);
            }
            None => {
                let inserted = editor.insert(
                    resource,
                    None,
                    Part::Entry(entry, Content::Node(entry.value)),
                );
                inserted.map_err(Refusal::at(field))?;
            }
        }
        changed |= annotate(resource, self.name, editor).map_err(Refusal::at(ANNOTATIONS))?;
        Ok(changed)
    }

    pub(super) fn record(
        &self,
        outcome: Option<Result<(), Refusal>>,
        results: &mut Results,
    ) -> ConditionRecord {
        let Self { point, name, .. } = *self;
        let field = field_of(&point.resource);
        match outcome {
            Some(Ok(())) => {
                let result = FunctionResult::info(format!("injected `{field}` of `{name}`"));
                results.push(result.with_resource(&point.resource).with_field(field));
            }
            Some(Err(refusal)) => results.push(refusal.result().with_resource(&point.resource)),
            None => {}
        }
        let message = format!("injected resource \"{name}\" from cluster");
        record(point, "True", "ConfigInjected", message)
    }
}

/// Reports that the selected resource has nothing to inject; the point is left unchanged.
pub(super) fn without_field(point: &Point, name: &str, results: &mut Results) -> ConditionRecord {
    let field = field_of(&point.resource);
    let message = format!("the selected resource `{name}` has no `{field}`");
    let result = FunctionResult::warning(Reason::FieldNotFound, message);
    results.push(result.with_resource(&point.resource).with_field(field));
    let message = format!("field \"{field}\" not found in resource \"{name}\"");
    record(point, "False", Reason::FieldNotFound.as_str(), message)
}

/// Records the name of the injected resource in an annotation. Returns whether anything changed.
fn annotate<'d>(
    resource: NodeRef<'d>,
    name: &str,
    editor: &mut Editor<'d, '_>,
) -> Result<bool, EditError> {
    let metadata = resource.entry("metadata").map(|entry| entry.value);
    let annotations = metadata.and_then(|metadata| metadata.entry("annotations"));
    let Some(annotations) = annotations.map(|entry| entry.value) else {
        // The metadata is an alias, which cannot be edited.
        return Err(EditError::WrongKind {
            place: ANNOTATIONS.to_owned(),
            expected: "mapping",
            found: "alias",
        });
    };
    let mut changed = false;
    for (annotation, add) in [
        (INJECTED_RESOURCE_NAME_ANNOTATION, true),
        (INJECTED_RESOURCE_ANNOTATION, false),
    ] {
        let old = annotations.entry(annotation);
        let is_due = old.map_or(add, |old| old.value.as_str() != Some(name));
        if is_due {
            changed = true;
            editor.set(annotations, annotation, Content::Value(Value::from(name)))?;
        }
    }
    Ok(changed)
}

/// Whether lists in the value have comments, which kpt restores by position.
fn has_list_comments(value: NodeRef<'_>) -> bool {
    let mut pending = vec![value];
    while let Some(node) = pending.pop() {
        if node.kind() == NodeKind::BlockSequence && has_comments(node) {
            return true;
        }
        pending.extend(node.items());
        pending.extend(node.entries().map(|entry| entry.value));
    }
    false
}

/// The new value with room for comments. kpt restores the comments of the old value by their paths. Collections that
/// would get comments are written in block style, because flow style has no room for them.
fn with_room_for_comments<'a>(
    old: NodeRef<'_>,
    new: NodeRef<'a>,
) -> Result<Content<'a>, EditError> {
    let text =
        OwnedDocument::parse_as(new.reading(), value_text(new)).map_err(EditError::Broken)?;
    let mut pending: Vec<_> = text.root().map(|root| (old, root)).into_iter().collect();
    let mut editor = Editor::new(text.document());
    while let Some((old, new)) = pending.pop() {
        let is_flow = matches!(new.kind(), NodeKind::FlowMapping | NodeKind::FlowSequence);
        if is_flow && old.kind().is_block_collection() && has_comments(old) {
            let value = new.value().unwrap_or(Value::Null);
            editor.replace(new, Content::Value(value))?;
            continue;
        }
        let facing = |entry: EntryRef<'_>| old.get(entry.key.as_str()?);
        let entries = new.entries();
        pending.extend(entries.filter_map(|entry| Some((facing(entry)?, entry.value))));
    }
    if editor.is_empty() {
        return Ok(Content::Node(new));
    }
    Ok(Content::Text(Arc::new(editor.finish_parsed()?)))
}

/// The condition of a point for which no resource was selected.
pub(super) fn unfilled(
    injectors: &Injectors,
    point: &Point,
    selection: Option<&Selection<'_>>,
    results: &mut Results,
) -> ConditionRecord {
    let (api_version, kind) = (&point.resource.api_version, &point.resource.kind);
    let recorded = match selection {
        _ if injectors.selectors.is_empty() => "no injectors defined".to_owned(),
        Some(_) => "no resource matched any injection selector for this injection point".to_owned(),
        None => format!("no in-cluster resources of type {api_version}.{kind}"),
    };
    if point.required {
        let message = match selection {
            Some(_) => "no injection selector matches a supplied resource".to_owned(),
            None => format!(
                "no resource of apiVersion `{api_version}` and kind `{kind}` is supplied in namespace `{}`",
                injectors.namespace
            ),
        };
        let result = FunctionResult::warning(Reason::NoResourceSelected, message);
        let field = Path::fields(&["metadata", "annotations", CONFIG_INJECTION_ANNOTATION]);
        results.push(result.with_resource(&point.resource).with_field(field));
    }
    record(
        point,
        "False",
        Reason::NoResourceSelected.as_str(),
        recorded,
    )
}

fn record(
    point: &Point,
    status: &'static str,
    reason: &'static str,
    message: String,
) -> ConditionRecord {
    ConditionRecord {
        condition: point.condition.clone(),
        is_gate: point.required,
        status,
        reason,
        message,
    }
}
