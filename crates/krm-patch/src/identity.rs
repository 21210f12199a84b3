//! The fields that identify a resource: no patch changes them.

use super::node::{Node, Shape};

/// Fields that identify a resource; a patch that replaces everything else keeps them.
const IDENTITY: [&str; 2] = ["apiVersion", "kind"];
const METADATA_IDENTITY: [&str; 2] = ["name", "namespace"];

/// A result with the identity of the resource that it replaces.
pub(super) fn with_identity<'a>(live: &Node<'a>, result: &Node<'a>) -> Node<'a> {
    let keep = |from: &Node<'a>, into: &Node<'a>, names: &[&str]| {
        let mut fields = from.fields_if(|key| names.contains(&key));
        fields.extend(into.fields_if(|key| !names.contains(&key)).iter());
        Node::map(fields, from.source())
    };
    let root = keep(live, result, &IDENTITY);
    let Some(metadata) = live.get("metadata") else {
        return root;
    };
    let new = result.get("metadata").unwrap_or_else(Node::empty_map);
    let new = keep(&metadata, &new, &METADATA_IDENTITY);
    let field = live.each_field().find(|field| field.key == "metadata");
    let source = root.source();
    let mut fields = root.into_fields();
    fields.retain(|_, key| key != "metadata");
    fields.extend(field.map(|field| field.with(new)));
    Node::map(fields, source)
}

/// A result with the identity of live, if it has lost a part of it.
pub fn keep_identity<'a>(live: &Node<'a>, result: Node<'a>) -> Node<'a> {
    let lost = |path: &[&str]| live.get_path(path).is_some() && result.get_path(path).is_none();
    let root = IDENTITY.iter().any(|name| lost(&[name]));
    let metadata = METADATA_IDENTITY.iter();
    if root
        || metadata
            .map(|name| ["metadata", name])
            .any(|path| lost(&path))
    {
        return with_identity(live, &result);
    }
    result
}

/// A patch without the fields that identify its resource.
pub fn without_identity<'a>(patch: &Node<'a>) -> Node<'a> {
    let mut fields = patch.fields_if(|key| !IDENTITY.contains(&key));
    if let Some(at) = fields.position("metadata") {
        let field = fields.get(at);
        if field.value.shape() == Shape::Map {
            let own = field
                .value
                .fields_if(|key| !METADATA_IDENTITY.contains(&key));
            fields.set(at, field.with(Node::map(own, field.value.source())));
        }
    }
    Node::map(fields, patch.source())
}

/// A patch with the identity of its resource.
pub fn sparse<'a>(patch: &Node<'a>, resource: &Node<'a>) -> Node<'a> {
    let is_root = |key: &str| key == "metadata" || IDENTITY.contains(&key);
    let mut fields = resource.fields_if(is_root);
    let patched = patch.get("metadata");
    if let Some(at) = fields.position("metadata") {
        let field = fields.get(at);
        let is_own = |key: &str| METADATA_IDENTITY.contains(&key);
        let mut own = field.value.fields_if(is_own);
        let more = patched.iter().flat_map(Node::each_field);
        own.extend(more.filter(|field| !is_own(&field.key)));
        fields.set(at, field.with(Node::map(own, field.value.source())));
    }
    debug_assert!(resource.shape() == Shape::Map, "a configuration is a map");
    let rest = patch.each_field();
    fields.extend(rest.filter(|field| !is_root(&field.key)));
    Node::map(fields, resource.source())
}
