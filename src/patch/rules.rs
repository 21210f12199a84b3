//! How the parts of a resource are patched: what the schema says, in the terms of a patch.
//!
//! Built-in types have `patchStrategy` and `patchMergeKey`, one key a list, as API servers use them.
//! Custom resources have none; with their CRD supplied the list types stand in their place, with all
//! their keys.

use crate::schema::{Keys, ListType, MapType, Schema, TypeRef};
use crate::yaml::Value;

use super::node::{Node, Shape};

/// A place in a resource.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'s> {
    place: Option<TypeRef<'s>>,
    /// Whether the kind is known at all.
    known: bool,
    /// Whether the kind is built in: then patch strategies alone count.
    strict: bool,
    /// Whether this is within a field that takes unknown fields.
    open: bool,
    /// Whether this is a schema within a CRD, which has fields that begin with `$`.
    json_schema: bool,
}

/// How the elements of a list relate in a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListRule<'s> {
    /// The list is replaced as a whole.
    Atomic,
    /// Primitives, each its own key.
    Set,
    /// Maps, told apart by fields.
    Keyed(MergeKeys<'s>),
}

/// The fields that tell elements apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeKeys<'s> {
    /// The patch merge key.
    One(&'s str),
    /// The keys of a list of a custom resource.
    Many(Keys<'s>),
}

impl<'s> MergeKeys<'s> {
    /// Their names.
    #[must_use]
    pub fn names(self) -> Vec<&'s str> {
        match self {
            Self::One(name) => vec![name],
            Self::Many(keys) => keys.names().collect(),
        }
    }

    /// The values of the keys of an element.
    ///
    /// # Errors
    /// What is wrong: no map, a key that is missing or no scalar.
    pub fn of(self, element: &Node<'_>) -> Result<Vec<Value>, String> {
        if element.shape() != Shape::Map {
            let found = element.shape().with_article();
            return Err(format!(
                "expected a map with the merge key `{}`, found {found}",
                self.names().join(", ")
            ));
        }
        let read = |name: &str, default: Option<Value>| match element.get(name) {
            None => default
                .ok_or_else(|| format!("expected the merge key `{name}`, found a map without it")),
            Some(value) => match value.shape() {
                Shape::Scalar => Ok(value.scalar().unwrap_or(Value::Null)),
                other => Err(format!(
                    "merge key `{name}`: expected a string or number, found {}",
                    other.with_article()
                )),
            },
        };
        match self {
            Self::One(name) => Ok(vec![read(name, None)?]),
            Self::Many(keys) => keys
                .iter()
                .map(|key| read(key.name, key.default.map(|default| default.to_value())))
                .collect(),
        }
    }
}

impl<'s> Rules<'s> {
    /// The root of a resource.
    #[must_use]
    pub fn of(schema: &'s Schema, api_version: &str, kind: &str) -> Self {
        let place = schema.resource(api_version, kind);
        Self {
            place,
            known: place.is_some(),
            strict: Schema::builtin().resource(api_version, kind).is_some(),
            open: false,
            json_schema: kind == "CustomResourceDefinition",
        }
    }

    /// Whether the kind has a schema; without one there are no list directives.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.known
    }

    fn at(self, place: Option<TypeRef<'s>>) -> Self {
        let open = self.open || self.place.is_some_and(TypeRef::takes_unknown_fields);
        Self {
            place,
            open,
            ..self
        }
    }

    /// The value under a key.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        self.at(self.place.and_then(|place| place.field(name)))
    }

    /// The elements of a list.
    #[must_use]
    pub fn items(self) -> Self {
        self.at(self.place.and_then(TypeRef::items))
    }

    /// How the elements of a list relate.
    #[must_use]
    pub fn list(self) -> ListRule<'s> {
        let Some(place) = self.place else {
            return ListRule::Atomic;
        };
        let strategy = place.patch_strategy();
        if strategy.merge {
            return match place.patch_merge_key() {
                Some(key) => ListRule::Keyed(MergeKeys::One(key)),
                None => ListRule::Set,
            };
        }
        if self.strict || place.is_builtin() || strategy.replace {
            return ListRule::Atomic;
        }
        match place.list() {
            ListType::Atomic => ListRule::Atomic,
            ListType::Set => ListRule::Set,
            ListType::Map(keys) => ListRule::Keyed(MergeKeys::Many(keys)),
        }
    }

    /// Whether a map is replaced as a whole.
    #[must_use]
    pub fn replaces_map(self) -> bool {
        let Some(place) = self.place else {
            return false;
        };
        let by_type = !self.strict && !place.is_builtin() && place.map() == MapType::Atomic;
        place.patch_strategy().replace || by_type
    }

    /// Whether a patch made for a map, or for the elements of a list, names the keys that stay.
    #[must_use]
    pub fn retains_keys(self) -> bool {
        self.place
            .is_some_and(|place| place.patch_strategy().retain_keys)
    }

    /// Whether a key that begins with `$` can be a field here.
    #[must_use]
    pub fn takes_dollar(self, name: &str) -> bool {
        if self.open || (self.json_schema && matches!(name, "$ref" | "$schema")) {
            return true;
        }
        self.place
            .is_some_and(|place| place.takes_unknown_fields() || place.field(name).is_some())
    }
}
