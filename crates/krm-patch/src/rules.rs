//! How a patch treats the parts of a resource, derived from the schema.
//!
//! Built-in types have `patchStrategy` and `patchMergeKey`, one key for each list, as API servers use them. Custom
//! resources have neither, so the list types of their CRD are used, with all their keys.

use krm_core::schema::{KeyValue, Keys, ListType, MapType, Schema, TypeRef};
use krm_yaml::Value;

use super::node::{Node, Shape};

/// How a patch treats one value of a resource.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'s> {
    place: Option<TypeRef<'s>>,
    /// Whether the kind is known at all.
    known: bool,
    /// Whether the kind is built in. Then only patch strategies count.
    strict: bool,
    /// Whether the value is within a field that takes unknown fields.
    open: bool,
    /// Whether the value is in a CRD, whose schemas have fields that begin with `$`.
    json_schema: bool,
}

/// How a patch treats a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListRule<'s> {
    /// The whole list is replaced.
    Atomic,
    /// Primitives merge; each is its own key.
    Set,
    /// Maps merge. They are distinguished by fields: the patch merge key, or the keys of a list of a custom resource.
    Keyed(Keys<'s>),
}

/// The values of an element's key fields, or the element itself if it is a primitive.
pub(super) type ElementKey = Vec<Value>;

impl ListRule<'_> {
    /// The key of an element.
    ///
    /// # Errors
    /// A message for an element that is not a primitive, or has no key.
    pub(super) fn key(self, element: &Node<'_>) -> Result<ElementKey, String> {
        match (self, element.shape()) {
            (Self::Keyed(keys), _) => key_values(keys, element),
            (_, Shape::Scalar | Shape::Null) => Ok(vec![element.scalar().unwrap_or(Value::Null)]),
            (_, shape) => {
                let found = shape.with_article();
                Err(format!("expected a string or number, found {found}"))
            }
        }
    }
}

/// The values of the keys of an element.
fn key_values(keys: Keys<'_>, element: &Node<'_>) -> Result<ElementKey, String> {
    if element.shape() != Shape::Map {
        let found = element.shape().with_article();
        return Err(format!(
            "expected a map with the merge key `{}`, found {found}",
            names(keys)
        ));
    }
    let values = keys.values(|name| element.get(name));
    let values = values.map(|(name, value)| match value {
        KeyValue::Given(value) => match value.shape() {
            Shape::Scalar => Ok(value.scalar().unwrap_or(Value::Null)),
            other => Err(format!(
                "merge key `{name}`: expected a string or number, found {}",
                other.with_article()
            )),
        },
        KeyValue::Default(default) => Ok(default.clone()),
        KeyValue::Absent => Err(format!(
            "expected the merge key `{name}`, found a map without it"
        )),
    });
    values.collect()
}

/// The names of keys in a message.
pub(super) fn names(keys: Keys<'_>) -> String {
    keys.names().collect::<Vec<_>>().join(", ")
}

impl<'s> Rules<'s> {
    /// The rules of the root of a resource.
    pub fn of(schema: &'s Schema, api_version: &str, kind: &str) -> Self {
        let place = schema.resource(api_version, kind);
        let is_builtin = |place: TypeRef<'_>| {
            place.is_builtin() || Schema::builtin().resource(api_version, kind).is_some()
        };
        Self {
            place,
            known: place.is_some(),
            strict: place.is_some_and(is_builtin),
            open: false,
            json_schema: kind == "CustomResourceDefinition",
        }
    }

    /// Whether the kind has a schema; without one there are no list directives.
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

    /// The rules of the value of a key.
    pub fn field(self, name: &str) -> Self {
        self.at(self.place.and_then(|place| place.field(name)))
    }

    /// The rules of the elements of a list.
    pub fn items(self) -> Self {
        self.at(self.place.and_then(TypeRef::items))
    }

    /// How a patch treats this list.
    pub fn list(self) -> ListRule<'s> {
        let Some(place) = self.place else {
            return ListRule::Atomic;
        };
        let strategy = place.patch_strategy();
        if strategy.merge {
            return match place.patch_merge_key() {
                Some(key) => ListRule::Keyed(Keys::one(key)),
                None => ListRule::Set,
            };
        }
        if self.strict || place.is_builtin() || strategy.replace {
            return ListRule::Atomic;
        }
        match place.list() {
            ListType::Atomic => ListRule::Atomic,
            ListType::Set => ListRule::Set,
            ListType::Map(keys) => ListRule::Keyed(keys),
            // Lists of kpt and kustomize, which no API server merges.
            ListType::KeyedStrings(_) | ListType::Functions => ListRule::Atomic,
        }
    }

    /// The keys that name the elements of a list that merges: all that server-side apply uses, or else the patch merge key.
    pub fn element_keys(self) -> Option<Keys<'s>> {
        match (self.list(), self.place?.list()) {
            (ListRule::Keyed(_), ListType::Map(keys)) | (ListRule::Keyed(keys), _) => Some(keys),
            (ListRule::Atomic | ListRule::Set, _) => None,
        }
    }

    /// Whether a patch replaces the whole map.
    pub(crate) fn replaces_map(self) -> bool {
        let Some(place) = self.place else {
            return false;
        };
        let by_type = !self.strict && !place.is_builtin() && place.map() == MapType::Atomic;
        place.patch_strategy().replace || by_type
    }

    /// Whether a patch for this map, or for the elements of this list, lists the keys to keep (`$retainKeys`).
    pub fn retains_keys(self) -> bool {
        self.place
            .is_some_and(|place| place.patch_strategy().retain_keys)
    }

    /// Whether a key that begins with `$` can be a field here.
    pub fn takes_dollar(self, name: &str) -> bool {
        if self.open || (self.json_schema && matches!(name, "$ref" | "$schema")) {
            return true;
        }
        self.place
            .is_some_and(|place| place.takes_unknown_fields() || place.field(name).is_some())
    }
}
