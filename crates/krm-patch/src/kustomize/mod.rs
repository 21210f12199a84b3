//! Creates the patches with which kustomize turns a live resource into a modified one.
//!
//! ```yaml
//! metadata:                # live       # modified   # patches
//!   finalizers:              [a, b]       [b]          {op: test, path: /metadata/finalizers/0, value: a}, {op: remove, ..}
//! spec:
//!   replicas:                1            2            replicas: 2
//!   containers:              [x, y]       [y, z]       containers: [{name: y}, {name: z}, {name: x, $patch: delete}]
//! ```
//!
//! A strategic merge patch makes the changes that it can express, and a JSON patch (RFC 6902) makes the others. It addresses
//! elements by their positions, so it tests their keys first: if the base moves an element, the build fails, and changes
//! no other one.
//! kustomize supports neither `$setElementOrder` nor `$deleteFromPrimitiveList`: it puts the elements that a patch
//! names first, in the order of the patch. So a patch that changes an element also names the elements before it.
//!
//! Source: contract, create-patch; kustomize 5.8 (kyaml, `yaml/walk` and `yaml/merge2`).

mod apply;
mod distinct;
mod keys;
mod list;
mod operation;
mod place;

use super::directive::PATCH;
use super::identity::{sparse, with_identity};
use super::node::{Field, Fields, Finder, Node, Shape};
use super::rules::Rules;
use krm_core::resource::Resource;
use krm_yaml::Value;

pub use apply::{directive, merge, operate};
pub use keys::with_keys_as_read;
use operation::{JsonChange, entry};
pub use operation::{Operation, Targets};
use place::{ListPlace, ValuePlace};

/// The patches with which kustomize turns one resource into another.
#[derive(Debug, Default)]
pub struct Patches<'a> {
    /// A strategic merge patch, as a sparse resource.
    pub merge: Option<Node<'a>>,
    /// The changes that the merge patch cannot express: a JSON patch to apply after it.
    pub operations: Vec<Operation<'a>>,
}

/// Creates the patches that turn `live` into `modified`, a resource of the same kind and name.
pub fn create<'a>(live: &Node<'a>, modified: &Node<'a>, rules: Rules<'_>) -> Patches<'a> {
    let (live, modified) = (&with_keys_as_read(live), &with_keys_as_read(modified));
    let place = ValuePlace::of(live, rules);
    let mut create = KustomizePatch::default();
    if !place.is_mergeable(live) {
        create.differences(live, modified, &place);
        return Patches {
            merge: None,
            operations: create.operations,
        };
    }
    // A merge patch finds its resource by these fields, so it cannot change them.
    let paths = [&["apiVersion"][..], &["metadata", "namespace"]];
    let renames = paths
        .into_iter()
        .filter_map(|path| identity(path, live, modified));
    let renames: Vec<Operation<'a>> = renames.collect();
    let found = match renames.as_slice() {
        [] => modified.clone(),
        _ => with_identity(live, modified),
    };
    let fields = create.map(live, &found, &place);
    let merge = (!fields.is_empty()).then(|| sparse(&Node::map(fields, found.source()), &found));
    let (mut operations, lost) = (create.operations, create.lost);
    // kustomize drops these nulls when it applies a merge patch.
    operations.extend(lost.into_iter().filter(|_| merge.is_some()));
    operations.extend(renames);
    Patches { merge, operations }
}

/// The patch that deletes a resource.
pub fn delete<'a>(live: &Node<'a>) -> Node<'a> {
    sparse(&deletion(), live)
}

fn deletion<'a>() -> Node<'a> {
    let word = Field::made(PATCH, Node::of_value("delete"));
    Node::map([word].into_iter().collect(), None)
}

impl Patches<'_> {
    /// The JSON patch as an entry of a kustomization's `patches`; `None` if it has no operations.
    pub fn entry(&self, live: &Resource, targets: &Targets<'_>) -> Option<Value> {
        (!self.operations.is_empty()).then(|| entry(&self.operations, targets.select(live)))
    }
}

/// The change of a field that identifies a resource; `None` if the field is unchanged.
fn identity<'a>(path: &[&str], live: &Node<'a>, modified: &Node<'a>) -> Option<Operation<'a>> {
    let change = match (live.get_path(path), modified.get_path(path)) {
        (Some(live), Some(new)) if live.equals(&new) => return None,
        (Some(_), Some(new)) => JsonChange::Replace(new),
        (None, Some(new)) => JsonChange::Add(new),
        (Some(_), None) => JsonChange::Remove,
        (None, None) => return None,
    };
    Some(Operation::new(format!("/{}", path.join("/")), change))
}

/// A list of at least this many bytes in memory is long.
const LONG: usize = 1 << 14;

#[derive(Default)]
struct KustomizePatch<'a> {
    operations: Vec<Operation<'a>>,
    /// Adds nulls again. When kustomize merges a patch into a resource, it drops the nulls that are written as empty
    /// text.
    lost: Vec<Operation<'a>>,
}

impl<'a> KustomizePatch<'a> {
    fn push(&mut self, place: &ValuePlace<'_, '_>, change: JsonChange<'a>) {
        self.operations.push(Operation::at(place, change));
    }

    /// Keeps a null that both sides have.
    fn keep_null(&mut self, live: &Node<'a>, place: &ValuePlace<'_, '_>) {
        if live.source().is_some_and(|node| node.source().is_empty()) {
            let null = Node::of_value(Value::Null);
            self.lost.push(Operation::at(place, JsonChange::Add(null)));
        }
    }

    /// The fields of the merge patch for a map that both have.
    fn map(&mut self, live: &Node<'a>, new: &Node<'a>, place: &ValuePlace<'_, '_>) -> Fields<'a> {
        let theirs = Finder::of(Some(live));
        let mut fields = Fields::default();
        for field in new.each_field() {
            let below = &place.field(&field.key);
            let live = theirs.find(&field.key);
            let value = match &live {
                // The key would be a directive in a merge patch.
                _ if !is_sayable(&field.key) => {
                    self.field_differences(live.as_ref(), &field.value, below);
                    None
                }
                Some(live) if !live.is_null() => self.value(live, &field.value, below),
                Some(live) if field.value.is_null() => {
                    self.keep_null(live, below);
                    None
                }
                _ if below.takes(&field.value) => Some(field.value.clone()),
                _ => {
                    self.push(below, JsonChange::Add(field.value.clone()));
                    None
                }
            };
            fields.extend(value.map(|value| field.with(value)));
        }
        let own = Finder::of(Some(new));
        for field in live.each_field() {
            if own.find(&field.key).is_some() {
                continue;
            }
            if is_sayable(&field.key) {
                fields.push_null(field);
            } else {
                self.push(&place.field(&field.key), JsonChange::Remove);
            }
        }
        fields
    }

    /// The merge patch of a value that live has and that is not null; `None` if it needs none.
    fn value(
        &mut self,
        live: &Node<'a>,
        new: &Node<'a>,
        place: &ValuePlace<'_, '_>,
    ) -> Option<Node<'a>> {
        match (live.shape(), new.shape()) {
            (Shape::Map, Shape::Map) => {
                let fields = self.map(live, new, place);
                (!fields.is_empty()).then(|| Node::map(fields, new.source()))
            }
            (Shape::List, Shape::List) => self.list(live, new, place),
            // kustomize keeps the quotes of the live value, and a number in quotes would be a string.
            (Shape::Scalar, Shape::Scalar) if live.as_str().is_some() == new.as_str().is_some() => {
                (!live.equals(new)).then(|| new.clone())
            }
            // kustomize refuses a value of another kind.
            _ => {
                self.push(place, JsonChange::Replace(new.clone()));
                None
            }
        }
    }

    /// Adds operations for the elements of a long list that a merge patch would replace, if few elements differ.
    /// Returns whether it did. Such a list is `versions` of a CustomResourceDefinition, which has thousands of lines.
    fn has_operations(
        &mut self,
        live: &Node<'a>,
        new: &Node<'a>,
        place: &ValuePlace<'_, '_>,
    ) -> bool {
        let length = new.to_value().cost();
        if length < LONG {
            return false;
        }
        let mut apart = Self::default();
        apart.differences(live, new, place);
        let is_short = apart.operations.iter().map(Operation::cost).sum::<usize>() < length / 4;
        if is_short {
            self.operations.append(&mut apart.operations);
            self.lost.append(&mut apart.lost);
        }
        is_short
    }

    fn list(
        &mut self,
        live: &Node<'a>,
        new: &Node<'a>,
        place: &ValuePlace<'_, '_>,
    ) -> Option<Node<'a>> {
        match place.list() {
            ListPlace::Replaced if self.has_operations(live, new, place) => return None,
            ListPlace::Replaced => return (!live.equals(new)).then(|| new.clone()),
            ListPlace::Values => {
                if let Some(patch) = list::values(live, new) {
                    return patch;
                }
            }
            ListPlace::Keyed(keys) => {
                if let Some(lists) = list::keyed(live, new, keys, place) {
                    return self.keyed(&lists, place);
                }
            }
            ListPlace::Unknown => {}
        }
        self.differences(live, new, place);
        None
    }
}

/// Whether a merge patch can contain a key: kustomize fails at an empty key, and a key with `$` is a directive.
fn is_sayable(key: &str) -> bool {
    !key.is_empty() && !key.starts_with('$')
}
