//! Annotations that do not count as part of a resource: the ones that kpt's pipeline adds while an item passes through
//! it, and the one in which `kubectl apply` stores the last applied configuration.
//!
//! Patches, configurations and live resources are read without the pipeline's annotations. A result gets the pipeline's
//! annotations of the item that it replaces.
//!
//! Source: contract, apply-config.

use super::node::{Field, Fields, Node, Shape};
use crate::resource::is_pipeline_annotation;
use crate::results::LAST_APPLIED;

const PATH: [&str; 2] = ["metadata", "annotations"];

/// A resource or a patch without the annotations of the pipeline.
#[must_use]
pub fn without_pipeline_annotations<'a>(resource: &Node<'a>) -> Node<'a> {
    without(resource, is_pipeline_annotation)
}

/// A configuration without the annotations of the pipeline and of `kubectl apply`.
#[must_use]
pub fn without_tool_annotations<'a>(config: &Node<'a>) -> Node<'a> {
    without(config, |name| {
        name == LAST_APPLIED || is_pipeline_annotation(name)
    })
}

/// Whether a patch cannot change any metadata: it has neither `metadata` nor a directive.
#[must_use]
pub fn leaves_metadata(patch: &Node<'_>) -> bool {
    let says = |key: &str| key == PATH[0] || key.starts_with('$');
    patch.shape() == Shape::Map && !patch.each_field().any(|field| says(&field.key))
}

/// A resource without the annotations for which `is_gone` is true. A map of annotations that becomes empty is removed,
/// too.
pub(crate) fn without<'a>(resource: &Node<'a>, is_gone: impl Fn(&str) -> bool) -> Node<'a> {
    let Some(metadata) = resource.get(PATH[0]) else {
        return resource.clone();
    };
    let Some(annotations) = metadata.get(PATH[1]) else {
        return resource.clone();
    };
    let mut fields = annotations.fields();
    let count = fields.len();
    fields.retain(|_, key| !is_gone(key));
    if fields.len() == count {
        return resource.clone();
    }
    let source = annotations.source();
    let left = (!fields.is_empty()).then(|| Node::map(fields, source));
    let metadata = replaced(metadata, PATH[1], left);
    replaced(resource.clone(), PATH[0], Some(metadata))
}

/// A result with the pipeline's annotations of the item that it replaces.
#[must_use]
pub fn keep_pipeline_annotations<'a>(item: &Node<'a>, result: Node<'a>) -> Node<'a> {
    let annotations = item.get_path(&PATH);
    let kept = annotations.as_ref();
    let kept = kept.map_or_else(Fields::default, |own| own.fields_if(is_pipeline_annotation));
    if kept.is_empty() {
        return result;
    }
    let source = |node: &Option<Node<'a>>| node.as_ref().and_then(Node::source);
    let map = |node: Option<Node<'a>>, source| match node {
        Some(node) if node.shape() == Shape::Map => node,
        _ => Node::map(Fields::default(), source),
    };
    let metadata = map(result.get(PATH[0]), source(&item.get(PATH[0])));
    let own = map(metadata.get(PATH[1]), source(&annotations));
    let mut fields = own.fields();
    fields.extend(kept.iter());
    let own = Node::map(fields, own.source());
    with_field(result, PATH[0], with_field(metadata, PATH[1], own))
}

/// Replaces the value of a key, or removes the key if there is no value. A map without the key is unchanged.
#[must_use]
pub fn replaced<'a>(map: Node<'a>, key: &str, value: Option<Node<'a>>) -> Node<'a> {
    let source = map.source();
    let mut fields = map.into_fields();
    match (fields.position(key), value) {
        (Some(at), Some(value)) => fields.set(at, fields.get(at).with(value)),
        (Some(removed), None) => fields.retain(|at, _| at != removed),
        (None, _) => {}
    }
    Node::map(fields, source)
}

/// A map with a key set to a value.
#[must_use]
pub fn with_field<'a>(map: Node<'a>, key: &'static str, value: Node<'a>) -> Node<'a> {
    if map.get(key).is_some() {
        return replaced(map, key, Some(value));
    }
    let source = map.source();
    let mut fields = map.into_fields();
    fields.push(Field::made(key, value));
    Node::map(fields, source)
}
