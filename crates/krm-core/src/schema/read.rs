//! Reads the JSON schemas of CRDs and OpenAPI documents into a [`Table`].
//!
//! Schemas are taken from a list of unread ones, and each node is visited once: types may refer to themselves, and
//! neither deep chains nor aliases make the work longer than the text. For the same reason, only a small number of the
//! parts that an alias could repeat is read.

use std::collections::HashMap;
use std::sync::Arc;

use super::extensions::{MapType, PatchStrategy};
use super::list_type::Key;
use super::table::{FieldEntry, ListRelation, MAX_NAME, Table, Type};
use krm_yaml::value::Number;
use krm_yaml::{NodeId, NodeRef, Value};

/// Limit of references that are followed in a row.
const MAX_REFERENCES: usize = 16;

/// Limit of the keys of one list, and of the types and parts of one schema; more are not read.
const MAX_PARTS: usize = 16;

/// The words of `x-kubernetes-list-type`.
const LISTS: [&str; 3] = ["atomic", "map", "set"];

/// The definitions of a document, by the names that references use.
pub(super) type Definitions<'d> = HashMap<&'d str, NodeRef<'d>>;

/// Reads the schemas of one document.
pub(super) struct SchemaReader<'b, 'd> {
    table: &'b mut Table,
    definitions: Definitions<'d>,
    indexes: HashMap<NodeId, usize>,
    /// The fields that were read already, by the node of `properties`.
    fields: HashMap<NodeId, Arc<[FieldEntry]>>,
    unread: Vec<NodeRef<'d>>,
    /// Index of the first type of this document.
    first: usize,
    drafts: Vec<TypeDraft>,
}

/// A type whose reference and defaults are not resolved yet.
#[derive(Default)]
struct TypeDraft {
    own: Type,
    /// The schema that this one refers to.
    target: Option<usize>,
    default: Option<Value>,
}

impl<'b, 'd> SchemaReader<'b, 'd> {
    pub(super) fn new(table: &'b mut Table, definitions: Definitions<'d>) -> Self {
        let first = table.types.len();
        Self {
            table,
            definitions,
            indexes: HashMap::new(),
            fields: HashMap::new(),
            unread: Vec::new(),
            first,
            drafts: Vec::new(),
        }
    }

    /// Declares a kind with a schema of this document.
    pub(super) fn kind(&mut self, names: [&str; 3], schema: NodeRef<'d>) {
        let root = self.index(schema);
        self.table.add_kind(names, root);
    }

    /// Declares a custom resource. Its own schema does not describe its `metadata`.
    pub(super) fn custom_resource(&mut self, names: [&str; 3], schema: NodeRef<'d>) {
        let root = self.index(schema);
        self.drafts[root - self.first].own.resource = true;
        self.table.add_kind(names, root);
    }

    /// Reads all schemas that the declared kinds refer to.
    pub(super) fn finish(mut self) {
        while let Some(schema) = self.unread.pop() {
            let index = self.index(schema) - self.first;
            let resource = self.drafts[index].own.resource;
            self.drafts[index] = self.read(schema);
            self.drafts[index].own.resource |= resource;
        }
        for index in 0..self.drafts.len() {
            self.read_defaults(index);
        }
        let types = self.drafts.iter().map(|draft| self.decide(draft));
        let types: Vec<Type> = types.collect();
        self.table.types.extend(types);
    }

    fn index(&mut self, schema: NodeRef<'d>) -> usize {
        let schema = schema.resolved();
        let index = self.first + self.drafts.len();
        *self.indexes.entry(schema.id).or_insert_with(|| {
            self.unread.push(schema);
            self.drafts.push(TypeDraft::default());
            index
        })
    }

    fn read(&mut self, schema: NodeRef<'d>) -> TypeDraft {
        let mut draft = TypeDraft::default();
        let mut own = Type::default();
        let (mut list, mut list_keys, mut merge_key) = (None, None, None);
        // A schema without a type allows anything. Alternatives (`oneOf`) are scalars in practice.
        let (mut named, mut object) = (false, None);
        for entry in schema.entries() {
            let value = entry.value.resolved();
            let Some(key) = entry.key.as_str() else {
                continue;
            };
            match key {
                "properties" => {
                    own.fields = self.read_fields(value);
                    named = true;
                }
                "additionalProperties" if value.kind().is_mapping() => {
                    own.values = Some(self.index(value));
                    own.open = true;
                }
                "additionalProperties" => own.open |= is_true(value),
                "items" if value.kind().is_mapping() => own.items = Some(self.index(value)),
                "$ref" => draft.target = self.definition(value),
                "allOf" => {
                    let mut parts = value.items().take(MAX_PARTS);
                    let found = parts.find_map(|part| self.definition(reference(part)?));
                    draft.target = draft.target.or(found);
                }
                "oneOf" | "anyOf" => named = true,
                "type" => object = Some(is_object(value)),
                "default" => draft.default = read_default(value),
                "x-kubernetes-list-type" => {
                    list = value.as_str().filter(|word| LISTS.contains(word));
                }
                "x-kubernetes-list-map-keys" => list_keys = Some(value),
                "x-kubernetes-map-type" => own.map = map_type(value),
                "x-kubernetes-patch-strategy" => {
                    own.strategy = PatchStrategy::parse(value.as_str().unwrap_or_default());
                }
                "x-kubernetes-patch-merge-key" => {
                    merge_key = short(value).filter(|name| !name.is_empty());
                }
                "x-kubernetes-preserve-unknown-fields" => own.open |= is_true(value),
                "x-kubernetes-embedded-resource" => own.resource |= is_true(value),
                _ => {}
            }
        }
        let free = object.unwrap_or(own.items.is_none() && draft.target.is_none());
        own.open |= free && !named;
        own.merge_key = merge_key.map(|name| Arc::new(key(name)));
        let list = match list {
            None if own.strategy.merge && own.items.is_some() => {
                merge_key.map_or(Some("set"), |_| Some("map"))
            }
            list => list,
        };
        own.list = list_relation(list, list_keys, merge_key);
        draft.own = own;
        draft
    }

    fn read_fields(&mut self, properties: NodeRef<'d>) -> Arc<[FieldEntry]> {
        if let Some(fields) = self.fields.get(&properties.id) {
            return Arc::clone(fields);
        }
        let entries = properties.entries();
        let named = entries.filter_map(|entry| Some((entry.key.as_str()?, entry.value)));
        let mut named: Vec<(&'d str, NodeRef<'d>)> = named.collect();
        named.sort_by_key(|(name, _)| *name);
        let fields = named.into_iter().map(|(name, schema)| FieldEntry {
            name: name.into(),
            index: self.index(schema),
        });
        let fields: Arc<[FieldEntry]> = fields.collect();
        self.fields.insert(properties.id, Arc::clone(&fields));
        fields
    }

    /// Gives the keys of a list the defaults that the fields of its elements have.
    fn read_defaults(&mut self, list: usize) {
        let own = &self.drafts[list].own;
        let (Some(ListRelation::Map(keys)), Some(items)) = (&own.list, own.items) else {
            return;
        };
        let elements = self.decide(&self.drafts[items - self.first]);
        let keys = keys.iter().map(|key| {
            let field = elements.field(&key.name);
            let given = field.and_then(|at| self.drafts[at - self.first].default.clone());
            let default = given.or_else(|| key.default.clone());
            Key {
                name: key.name.clone(),
                default,
            }
        });
        let keys = keys.collect();
        self.drafts[list].own.list = Some(ListRelation::Map(keys));
    }

    /// The definition that a reference refers to.
    fn definition(&mut self, reference: NodeRef<'d>) -> Option<usize> {
        let (_, name) = short(reference)?.rsplit_once('/')?;
        let definition = *self.definitions.get(name)?;
        Some(self.index(definition))
    }

    /// The facts of a schema. Facts that it lacks come from the schemas that it refers to.
    fn decide(&self, draft: &TypeDraft) -> Type {
        let (mut own, mut target) = (draft.own.clone(), draft.target);
        for _ in 0..MAX_REFERENCES {
            let Some(next) = target else {
                break;
            };
            let draft = &self.drafts[next - self.first];
            let next = &draft.own;
            if own.fields.is_empty() {
                own.fields = Arc::clone(&next.fields);
            }
            own.values = own.values.or(next.values);
            own.items = own.items.or(next.items);
            own.list = own.list.or_else(|| next.list.clone());
            if own.strategy == PatchStrategy::default() {
                own.strategy = next.strategy;
            }
            own.merge_key = own.merge_key.or_else(|| next.merge_key.clone());
            own.map = own.map.or(next.map);
            own.open |= next.open;
            own.resource |= next.resource;
            target = draft.target;
        }
        own
    }
}

/// The value of `$ref`, as in `{$ref: '#/definitions/io.k8s.api.core.v1.Pod'}`.
fn reference(schema: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let mut entries = schema.resolved().entries().take(MAX_PARTS);
    let found = entries.find(|entry| entry.key.as_str() == Some("$ref"));
    found.map(|entry| entry.value.resolved())
}

/// A string of at most [`MAX_NAME`] bytes.
fn short(node: NodeRef<'_>) -> Option<&str> {
    node.as_str().filter(|text| text.len() <= MAX_NAME)
}

fn is_true(node: NodeRef<'_>) -> bool {
    node.value_text() == Some("true")
}

/// Whether a type is `object`, or a list of types that contains `object`.
fn is_object(node: NodeRef<'_>) -> bool {
    let object = |node: NodeRef<'_>| node.as_str() == Some("object");
    object(node) || node.items().take(MAX_PARTS).any(object)
}

fn read_default(default: NodeRef<'_>) -> Option<Value> {
    let text = default.value_text()?;
    let is_default = |value: &Value| {
        matches!(
            value,
            Value::String(_) | Value::Bool(_) | Value::Number(Number::Int(_))
        )
    };
    let value = || default.value().filter(is_default);
    (text.len() <= MAX_NAME).then(value).flatten()
}

/// The meaning of `x-kubernetes-list-type`, with the keys of a map.
fn list_relation(
    word: Option<&str>,
    keys: Option<NodeRef<'_>>,
    merge_key: Option<&str>,
) -> Option<ListRelation> {
    Some(match word? {
        "map" => {
            let listed = keys.into_iter().flat_map(|keys| keys.items());
            let mut keys: Vec<&str> = listed.take(MAX_PARTS).filter_map(short).collect();
            if keys.is_empty() {
                keys.extend(merge_key);
            }
            if keys.is_empty() {
                // The schema is not valid: without keys, the list is one value.
                return Some(ListRelation::Atomic);
            }
            ListRelation::Map(keys.into_iter().map(key).collect())
        }
        "set" => ListRelation::Set,
        _ => ListRelation::Atomic,
    })
}

fn key(name: &str) -> Key {
    Key::known(name.to_owned())
}

fn map_type(node: NodeRef<'_>) -> Option<MapType> {
    match node.as_str()? {
        "granular" => Some(MapType::Granular),
        "atomic" => Some(MapType::Atomic),
        _ => None,
    }
}
