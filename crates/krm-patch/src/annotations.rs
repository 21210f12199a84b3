//! Annotations that do not count as part of a resource: the ones that kpt's pipeline adds while an item passes through
//! it, and the one in which `kubectl apply` stores the last applied configuration.
//!
//! Patches, configurations and live resources are read without the pipeline's annotations. A result gets the pipeline's
//! annotations of the item that it replaces.
//!
//! Source: contract, apply-config.

use super::node::{Field, Fields, Node, Shape};
use krm_core::resource::is_pipeline_annotation;
use krm_core::results::LAST_APPLIED;

const PATH: [&str; 2] = ["metadata", "annotations"];

/// A resource or a patch without the annotations of the pipeline.
pub fn without_pipeline_annotations<'a>(resource: &Node<'a>) -> Node<'a> {
    without(resource, is_pipeline_annotation)
}

/// A configuration without the annotations of the pipeline and of `kubectl apply`.
pub fn without_tool_annotations<'a>(config: &Node<'a>) -> Node<'a> {
    without(config, |name| {
        name == LAST_APPLIED || is_pipeline_annotation(name)
    })
}

/// Whether a patch cannot change any metadata: it has neither `metadata` nor a directive.
pub fn leaves_metadata(patch: &Node<'_>) -> bool {
    let says = |key: &str| key == PATH[0] || key.starts_with('$');
    patch.shape() == Shape::Map && !patch.each_field().any(|field| says(&field.key))
}

/// A resource without the annotations for which `is_gone` is true. A map of annotations that becomes empty is removed,
/// too.
pub fn without<'a>(resource: &Node<'a>, is_gone: impl Fn(&str) -> bool) -> Node<'a> {
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
    let metadata = with_field(metadata, PATH[1], left);
    with_field(resource.clone(), PATH[0], Some(metadata))
}

/// A result with the pipeline's annotations of the item that it replaces.
pub fn keep_pipeline_annotations<'a>(item: &Node<'a>, result: Node<'a>) -> Node<'a> {
    let annotations = item.get_path(&PATH);
    let kept = annotations.map(|own| own.fields_if(is_pipeline_annotation));
    match kept.filter(|kept| !kept.is_empty()) {
        Some(kept) => with_annotations(result, item, |own| own.extend(kept.iter())),
        None => result,
    }
}

/// A resource with other annotations. If it has none, they are made like those of `model`.
pub fn with_annotations<'a>(
    resource: Node<'a>,
    model: &Node<'a>,
    change: impl FnOnce(&mut Fields<'a>),
) -> Node<'a> {
    let map = |node: Option<Node<'a>>, path: &[&str]| {
        node.filter(|node| node.shape() == Shape::Map)
            .unwrap_or_else(|| {
                let source = model.get_path(path).and_then(|node| node.source());
                Node::map(Fields::default(), source)
            })
    };
    let metadata = map(resource.get(PATH[0]), &PATH[..1]);
    let annotations = map(metadata.get(PATH[1]), &PATH);
    let source = annotations.source();
    let mut fields = annotations.into_fields();
    change(&mut fields);
    let metadata = with_field(metadata, PATH[1], Some(Node::map(fields, source)));
    with_field(resource, PATH[0], Some(metadata))
}

/// A map with another value of a key, or without the key if `value` is `None`.
pub fn with_field<'a>(map: Node<'a>, key: &'static str, value: Option<Node<'a>>) -> Node<'a> {
    let source = map.source();
    let mut fields = map.into_fields();
    match (fields.position(key), value) {
        (Some(at), Some(value)) => fields.set(at, fields.get(at).with(value)),
        (Some(removed), None) => fields.retain(|at, _| at != removed),
        (None, Some(value)) => fields.push(Field::made(key, value)),
        (None, None) => {}
    }
    Node::map(fields, source)
}
