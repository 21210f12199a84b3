//! Does to a live resource what `kubectl apply` does: creates a patch from the previous configuration, the new one and
//! live, applies it to live, and stores the new configuration in an annotation.
//!
//! Source: merging-fields document; contract, apply-config.

use super::annotations::{
    with_annotations, with_field, without_pipeline_annotations, without_tool_annotations,
};
use super::apply::{Applied, apply};
use super::create::create;
use super::finding::Findings;
use super::identity::{keep_identity, sparse};
use super::last_applied;
use super::node::{Field, Fields, Finder, ListItem, Node, Shape};
use super::order::ListOrder;
use super::rules::Rules;
use krm_core::results::LAST_APPLIED;

/// The patch that changes live to match a configuration; `None` if there is nothing to patch.
pub fn create_patch<'a>(
    original: Option<&Node<'a>>,
    config: &Node<'a>,
    live: &Node<'a>,
    rules: Rules<'_>,
    findings: &mut Findings,
) -> Option<Node<'a>> {
    let original = original.map(without_tool_annotations);
    let config = without_tool_annotations(config);
    let live = &without_pipeline_annotations(live);
    let (original, config) = with_empty_annotations(original, config, live);
    create(original.as_ref(), &config, live, rules, findings)
}

/// Lets the patch remove annotations one by one if the previous configuration has annotations and the new one does not.
/// Live has more of them, and `kubectl apply` does the same: its configurations always have `annotations`, because of
/// last-applied.
fn with_empty_annotations<'a>(
    original: Option<Node<'a>>,
    config: Node<'a>,
    live: &Node<'a>,
) -> (Option<Node<'a>>, Node<'a>) {
    const PATH: [&str; 2] = ["metadata", "annotations"];
    let Some(old) = original.clone().filter(|old| old.get_path(&PATH).is_some()) else {
        return (original, config);
    };
    let Some(metadata) = config.get(PATH[0]).filter(|m| m.get(PATH[1]).is_none()) else {
        return (original, config);
    };
    let is_map = |node: Option<Node<'_>>| node.is_some_and(|node| node.shape() == Shape::Map);
    if is_map(old.get_path(&PATH)) && is_map(live.get_path(&PATH)) {
        let metadata = with_field(metadata, PATH[1], Some(Node::empty_map()));
        return (original, with_field(config, PATH[0], Some(metadata)));
    }
    let metadata = old.get(PATH[0]).map(|m| with_field(m, PATH[1], None));
    (Some(with_field(old, PATH[0], metadata)), config)
}

/// The live resource after a patch from [`create_patch`]; `None` if there is nothing to patch. Not valid if there are
/// error findings.
///
/// If live equals the previous configuration, the result is the new configuration. Then no patch has to distinguish
/// elements with the same merge key.
pub fn modified<'a>(
    original: Option<&Node<'a>>,
    config: &Node<'a>,
    live: &Node<'a>,
    rules: Rules<'_>,
    order: ListOrder,
    findings: &mut Findings,
) -> Option<Node<'a>> {
    let own = without_pipeline_annotations(live);
    let is_applied = own
        .get_path(&["metadata", "annotations", LAST_APPLIED])
        .is_some();
    let is_previous = |original: &Node<'a>| without_pipeline_annotations(original).equals(&own);
    if !is_applied && original.is_some_and(is_previous) {
        let config = without_nulls(&without_tool_annotations(config), Some(&own));
        return Some(keep_identity(&own, config));
    }
    let patch = create_patch(original, config, live, rules, findings)?;
    Some(applied(
        &sparse(&patch, config),
        &own,
        rules,
        order,
        findings,
    ))
}

fn applied<'a>(
    patch: &Node<'a>,
    live: &Node<'a>,
    rules: Rules<'_>,
    order: ListOrder,
    findings: &mut Findings,
) -> Node<'a> {
    match apply(live, patch, rules, order, findings) {
        Applied::Resource(result) => result,
        Applied::Deleted => live.clone(),
    }
}

/// The live resource after the configuration was applied. Not valid if there are error findings.
pub fn apply_config<'a>(
    original: Option<&Node<'a>>,
    config: &Node<'a>,
    live: &Node<'a>,
    rules: Rules<'_>,
    order: ListOrder,
    findings: &mut Findings,
) -> Node<'a> {
    let original = original.map(without_tool_annotations);
    let modified = with_last_applied(config);
    let live = &without_pipeline_annotations(live);
    let patch = create(original.as_ref(), &modified, live, rules, findings);
    // These can be large, so they are freed before the next step.
    drop((original, modified));
    let Some(patch) = patch else {
        return live.clone();
    };
    applied(&patch, live, rules, order, findings)
}

/// The resource that `kubectl apply` creates: the configuration with its annotation, without nulls.
pub fn as_created<'a>(config: &Node<'a>) -> Node<'a> {
    without_nulls(&with_last_applied(config), None)
}

/// A configuration with the annotation that stores it.
fn with_last_applied<'a>(config: &Node<'a>) -> Node<'a> {
    let text = Node::of_value(last_applied::write(config));
    let new = without_tool_annotations(config);
    with_annotations(new.clone(), &new, |own| {
        own.push(Field::made(LAST_APPLIED, text));
    })
}

/// A configuration without the nulls that remove a field: all nulls except the ones that live has at the same place.
fn without_nulls<'a>(node: &Node<'a>, live: Option<&Node<'a>>) -> Node<'a> {
    let source = node.source();
    match node.shape() {
        Shape::Null | Shape::Scalar => node.clone(),
        Shape::Map => {
            let theirs = Finder::of(live);
            let mut fields = Fields::default();
            for field in node.each_field() {
                let live = theirs.find(&field.key);
                if !field.value.is_null() || live.as_ref().is_some_and(Node::is_null) {
                    let value = without_nulls(&field.value, live.as_ref());
                    fields.push(field.with(value));
                }
            }
            Node::map(fields, source)
        }
        Shape::List => {
            let theirs = live.map(Node::items).unwrap_or_default();
            let mut items: Vec<ListItem<'a>> = node.items();
            for (index, item) in items.iter_mut().enumerate() {
                let live = theirs.get(index).map(|live| &live.value);
                let value = without_nulls(&item.value, live);
                let is_new = || !theirs.iter().any(|live| live.value.equals(&item.value));
                if !value.is(&item.value) && is_new() {
                    item.value = value;
                }
            }
            Node::list(items, source)
        }
    }
}
