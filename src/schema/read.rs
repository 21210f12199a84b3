//! JSON schemas, as CRDs and OpenAPI documents hold them, into a [`Table`].
//!
//! Schemas are visited one by one from a list of those still to be read, each node once: types may
//! refer to themselves, and neither deep chains nor aliases make the work longer than the text. For
//! the same reason what an alias could repeat is read up to a small number only.

use std::collections::HashMap;

use super::extensions::{MapType, PatchStrategy};
use super::table::{
    Field, KeyDefaultEntry, KeyEntry, ListRelation, MAX_NAME, NONE, Run, Table, Type, offset,
};
use crate::yaml::value::Number;
use crate::yaml::{NodeId, NodeRef, Value};

/// More references in a row than this are not followed.
const MAX_REFERENCES: usize = 16;

/// More keys of one list, types or parts of one schema are not read.
const MAX_PARTS: usize = 16;

/// The definitions that a document's references name.
pub(super) type Definitions<'d> = HashMap<&'d str, NodeRef<'d>>;

/// Reads the schemas of one document.
pub(super) struct SchemaReader<'b, 'd> {
    table: &'b mut Table,
    definitions: Definitions<'d>,
    indexes: HashMap<NodeId, u32>,
    /// The fields by the node of `properties`.
    fields: HashMap<NodeId, Run>,
    unread: Vec<NodeRef<'d>>,
    /// Index of the first type of this document.
    first: usize,
    drafts: Vec<TypeDraft>,
}

/// A type with what is not yet decided.
#[derive(Clone, Copy)]
struct TypeDraft {
    own: Type,
    list: Option<ListRelation>,
    map: Option<MapType>,
    /// The schema that this one refers to.
    target: Option<u32>,
    default: KeyDefaultEntry,
}

impl TypeDraft {
    const EMPTY: Self = Self {
        own: Type::LEAF,
        list: None,
        map: None,
        target: None,
        default: KeyDefaultEntry::None,
    };
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

    /// Declares a custom resource: its `metadata` is not described in its own schema.
    pub(super) fn custom_resource(&mut self, names: [&str; 3], schema: NodeRef<'d>) {
        let root = self.index(schema);
        self.drafts[root as usize - self.first].own.resource = true;
        self.table.add_kind(names, root);
    }

    /// Reads all schemas that kinds lead to.
    pub(super) fn finish(mut self) {
        while let Some(schema) = self.unread.pop() {
            let index = self.index(schema) as usize - self.first;
            let resource = self.drafts[index].own.resource;
            self.drafts[index] = self.read(schema);
            self.drafts[index].own.resource |= resource;
        }
        for index in 0..self.drafts.len() {
            self.read_defaults(self.drafts[index].own);
        }
        let types = self.drafts.iter().map(|draft| self.decide(draft));
        let types: Vec<Type> = types.collect();
        self.table.types.extend(types);
    }

    fn index(&mut self, schema: NodeRef<'d>) -> u32 {
        let schema = schema.resolved();
        let index = offset(self.first + self.drafts.len());
        *self.indexes.entry(schema.id).or_insert_with(|| {
            self.unread.push(schema);
            self.drafts.push(TypeDraft::EMPTY);
            index
        })
    }

    fn read(&mut self, schema: NodeRef<'d>) -> TypeDraft {
        let mut draft = TypeDraft::EMPTY;
        let mut own = Type::LEAF;
        let (mut list_keys, mut merge_key) = (None, None);
        // Without a type anything goes; alternatives (`oneOf`) are scalars in practice.
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
                    own.values = self.index(value);
                    own.open = true;
                }
                "additionalProperties" => own.open |= is_true(value),
                "items" if value.kind().is_mapping() => own.items = self.index(value),
                "$ref" => draft.target = self.definition(value),
                "allOf" => {
                    let mut parts = value.items().take(MAX_PARTS);
                    let found = parts.find_map(|part| self.definition(reference(part)?));
                    draft.target = draft.target.or(found);
                }
                "oneOf" | "anyOf" => named = true,
                "type" => object = Some(is_object(value)),
                "default" => draft.default = self.read_default(value),
                "x-kubernetes-list-type" => draft.list = list_relation(value),
                "x-kubernetes-list-map-keys" => list_keys = Some(value),
                "x-kubernetes-map-type" => draft.map = map_type(value),
                "x-kubernetes-patch-strategy" => {
                    own.strategy = PatchStrategy::parse(value.as_str().unwrap_or_default());
                }
                "x-kubernetes-patch-merge-key" => merge_key = short(value),
                "x-kubernetes-preserve-unknown-fields" => own.open |= is_true(value),
                "x-kubernetes-embedded-resource" => own.resource |= is_true(value),
                _ => {}
            }
        }
        let free = object.unwrap_or(own.items == NONE && draft.target.is_none());
        own.open |= free && !named;
        own.merge_key = self.table.add_name(merge_key.unwrap_or_default());
        if draft.list.is_none() && own.strategy.merge && own.items != NONE {
            draft.list = Some(match merge_key {
                Some(_) => ListRelation::Map,
                None => ListRelation::Set,
            });
        }
        if draft.list == Some(ListRelation::Map) {
            let listed = list_keys.into_iter().flat_map(|keys| keys.items());
            let mut names: Vec<&'d str> = listed.take(MAX_PARTS).filter_map(short).collect();
            if names.is_empty() {
                names.extend(merge_key);
            }
            own.keys = self.read_keys(&names);
            if names.is_empty() {
                // Invalid: with nothing to tell elements apart, the list is one value.
                draft.list = Some(ListRelation::Atomic);
            }
        }
        draft.own = own;
        draft
    }

    fn read_fields(&mut self, properties: NodeRef<'d>) -> Run {
        if let Some(fields) = self.fields.get(&properties.id) {
            return *fields;
        }
        let entries = properties.entries();
        let named = entries.filter_map(|entry| Some((entry.key.as_str()?, entry.value)));
        let mut named: Vec<(&'d str, NodeRef<'d>)> = named.collect();
        named.sort_by_key(|(name, _)| *name);
        let start = offset(self.table.fields.len());
        for (name, schema) in &named {
            let (name, index) = (self.table.add_name(name), self.index(*schema));
            self.table.fields.push(Field { name, index });
        }
        let fields = Run::new(start, offset(named.len()));
        self.fields.insert(properties.id, fields);
        fields
    }

    fn read_keys(&mut self, names: &[&'d str]) -> Run {
        let start = offset(self.table.keys.len());
        for name in names {
            let (name, default) = (self.table.add_name(name), KeyDefaultEntry::None);
            self.table.keys.push(KeyEntry { name, default });
        }
        Run::new(start, offset(names.len()))
    }

    fn read_default(&mut self, default: NodeRef<'d>) -> KeyDefaultEntry {
        if default
            .scalar_text()
            .is_none_or(|text| text.len() > MAX_NAME)
        {
            return KeyDefaultEntry::None;
        }
        match default.value() {
            Some(Value::String(text)) => KeyDefaultEntry::String(self.table.add_name(&text)),
            Some(Value::Bool(value)) => KeyDefaultEntry::Bool(value),
            Some(Value::Number(Number::Int(value))) => {
                i64::try_from(value).map_or(KeyDefaultEntry::None, KeyDefaultEntry::Integer)
            }
            _ => KeyDefaultEntry::None,
        }
    }

    /// Gives the keys of a list the defaults that the fields of its elements have.
    fn read_defaults(&mut self, list: Type) {
        let fields = match list.items {
            NONE => Run::EMPTY,
            index => {
                self.decide(&self.drafts[index as usize - self.first])
                    .fields
            }
        };
        for at in list.keys.range() {
            let name = self.table.name(self.table.keys[at].name).to_owned();
            let fields = &self.table.fields[fields.range()];
            let found = fields.binary_search_by(|field| self.table.name(field.name).cmp(&name));
            let field = found.map(|at| fields[at].index as usize - self.first);
            let default = field.map_or(KeyDefaultEntry::None, |at| self.drafts[at].default);
            self.table.keys[at].default = match default {
                KeyDefaultEntry::None => self.table.known_default(&name),
                default => default,
            };
        }
    }

    /// The definition that a reference names.
    fn definition(&mut self, reference: NodeRef<'d>) -> Option<u32> {
        let (_, name) = short(reference)?.rsplit_once('/')?;
        let definition = *self.definitions.get(name)?;
        Some(self.index(definition))
    }

    /// What a schema says and, where it says nothing, what those say that it refers to.
    fn decide(&self, draft: &TypeDraft) -> Type {
        let TypeDraft {
            mut own,
            mut list,
            mut map,
            mut target,
            ..
        } = *draft;
        for _ in 0..MAX_REFERENCES {
            let Some(next) = target else {
                break;
            };
            let next = &self.drafts[next as usize - self.first];
            if own.fields.len == 0 {
                own.fields = next.own.fields;
            }
            if own.values == NONE {
                own.values = next.own.values;
            }
            if own.items == NONE {
                own.items = next.own.items;
            }
            if list.is_none() {
                (list, own.keys) = (next.list, next.own.keys);
            }
            if own.strategy == PatchStrategy::UNSET {
                own.strategy = next.own.strategy;
            }
            if own.merge_key.len == 0 {
                own.merge_key = next.own.merge_key;
            }
            map = map.or(next.map);
            own.open |= next.own.open;
            own.resource |= next.own.resource;
            target = next.target;
        }
        own.list = list.unwrap_or_default();
        own.map = map.unwrap_or_default();
        own
    }
}

/// `{$ref: '#/definitions/io.k8s.api.core.v1.Pod'}`
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
    node.scalar_text() == Some("true")
}

/// `type: object`, or a list of types with `object` in it.
fn is_object(node: NodeRef<'_>) -> bool {
    let object = |node: NodeRef<'_>| node.as_str() == Some("object");
    object(node) || node.items().take(MAX_PARTS).any(object)
}

fn list_relation(node: NodeRef<'_>) -> Option<ListRelation> {
    match node.as_str()? {
        "map" => Some(ListRelation::Map),
        "set" => Some(ListRelation::Set),
        "atomic" => Some(ListRelation::Atomic),
        _ => None,
    }
}

fn map_type(node: NodeRef<'_>) -> Option<MapType> {
    match node.as_str()? {
        "granular" => Some(MapType::Granular),
        "atomic" => Some(MapType::Atomic),
        _ => None,
    }
}
