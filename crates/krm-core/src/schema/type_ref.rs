//! The facts of a schema about a place in a resource.

use std::hash::{Hash, Hasher};
use std::{fmt, ptr};

use super::builtin::BUILTIN;
use super::extensions::{MapType, PatchStrategy};
use super::list_type::{Key, Keys, ListType};
use super::table::{FieldEntry, ListRelation, Table, Type};

/// A place in a resource, as a schema knows it: an object, a map, a list or a scalar.
#[derive(Clone, Copy)]
pub struct TypeRef<'s> {
    pub(super) table: &'s Table,
    pub(super) index: usize,
}

impl<'s> TypeRef<'s> {
    fn get(self) -> &'s Type {
        &self.table.types[self.index]
    }

    /// The type of the value of a key: the type of the field, or else of the map's values.
    ///
    /// `None` if the schema has no facts about it: the field may be unknown, a scalar, or an object or list without
    /// annotations. Then a list is atomic, and an object merges.
    pub fn field(self, name: &str) -> Option<Self> {
        let this = self.get();
        if this.resource && name == "metadata" {
            return object_meta();
        }
        let index = this.field(name).or(this.values)?;
        Some(Self { index, ..self })
    }

    /// The fields that [`TypeRef::field`] knows by name, sorted.
    pub fn fields(self) -> impl Iterator<Item = (&'s str, Self)> {
        let fields = self.get().fields.iter();
        fields.map(move |FieldEntry { name, index }| {
            let index = *index;
            (&**name, Self { index, ..self })
        })
    }

    /// The type of the values in a map with keys of the user's choice (`additionalProperties`), such as labels.
    pub fn values(self) -> Option<Self> {
        let index = self.get().values?;
        Some(Self { index, ..self })
    }

    /// The type of the elements of a list.
    pub fn items(self) -> Option<Self> {
        let index = self.get().items?;
        Some(Self { index, ..self })
    }

    /// How the elements of a list relate in server-side apply, and in a three-way merge.
    ///
    /// If a schema has no list type, the patch strategy `merge` implies one, as in Kubernetes' own conversion
    /// (kube-openapi, `pkg/schemaconv`). This can differ from the patch strategy: the ports of a container have the
    /// keys `containerPort` and `protocol` here, and the one merge key `containerPort` in a patch; the conditions of a
    /// Job are atomic here, and merge in a patch.
    pub fn list(self) -> ListType<'s> {
        match &self.get().list {
            Some(ListRelation::Atomic) | None => ListType::Atomic,
            Some(ListRelation::Set) => ListType::Set,
            Some(ListRelation::Map(keys)) => ListType::Map(Keys::of(keys)),
        }
    }

    /// How the entries of an object or map relate in server-side apply, and in a three-way merge.
    pub fn map(self) -> MapType {
        self.get().map.unwrap_or_default()
    }

    /// How a strategic merge patch treats the place.
    pub fn patch_strategy(self) -> PatchStrategy {
        self.get().strategy
    }

    /// The one field by which a strategic merge patch distinguishes the elements of a list.
    pub fn patch_merge_key(self) -> Option<&'s Key> {
        self.get().merge_key.as_deref()
    }

    /// Whether keys that the schema does not name are allowed: in a map, or in free content such as
    /// `x-kubernetes-preserve-unknown-fields`.
    pub fn takes_unknown_fields(self) -> bool {
        self.get().open
    }

    /// Whether this comes from the built-in schema, and not from a CRD or an OpenAPI document.
    pub fn is_builtin(self) -> bool {
        ptr::eq(self.table, &*BUILTIN)
    }
}

/// The type of the `metadata` of every resource, taken from ConfigMap.
fn object_meta() -> Option<TypeRef<'static>> {
    let root = BUILTIN.version("", "v1", "ConfigMap")?;
    let index = BUILTIN.types[root].field("metadata")?;
    let table = &*BUILTIN;
    Some(TypeRef { table, index })
}

impl PartialEq for TypeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.table, other.table) && self.index == other.index
    }
}

impl Eq for TypeRef<'_> {}

impl Hash for TypeRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ptr::from_ref(self.table).hash(state);
        self.index.hash(state);
    }
}

/// Prints only this type, without the rest of the schema.
impl fmt::Debug for TypeRef<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("TypeRef");
        debug.field("list", &self.list()).field("map", &self.map());
        debug.field("patch_strategy", &self.patch_strategy());
        debug.field("patch_merge_key", &self.patch_merge_key());
        debug.finish_non_exhaustive()
    }
}
