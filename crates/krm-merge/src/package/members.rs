//! The resources of one of the packages that are merged.

use std::collections::{BTreeSet, HashSet};

use crate::Leaves;
use crate::bookkeeping::{remove_annotations, without_bookkeeping_of_tools};
use crate::member::{Member, find_packages};
use crate::resources::PairingSource;
use krm_core::kptfile::is_ownership_annotation;
use krm_core::resource::Resource;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::upstream_identifier::{MERGE_COMMENT, UPSTREAM_IDENTIFIER};
use krm_package::{is_revision_metadata, normalize_package_path};
use krm_yaml::{NodeRef, Value};

/// The resources of one package, with their identities.
pub struct Members {
    pub ids: Vec<ItemId>,
    pub members: Vec<Member>,
}

impl Members {
    /// Reads the identities of the resources in a package.
    pub fn read(list: &ResourceList) -> Self {
        Self::read_but(list, &|_| false)
    }

    /// Like [`read`](Self::read), without the resources in the files that are left out.
    fn read_but(list: &ResourceList, is_left_out: &dyn Fn(&str) -> bool) -> Self {
        let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
        let paths = list.paths_from_root(&ids);
        let own = ids.into_iter().zip(paths);
        let is_other = |path: &str| is_revision_metadata(path) || is_left_out(path);
        let own = own.filter(|(_, path)| !path.as_deref().is_some_and(is_other));
        let (ids, paths): (Vec<ItemId>, Vec<Option<String>>) = own.unzip();
        // Most resources declare nothing. A search shows this without parsing them.
        let declaring = list.items_that_may_contain(&[MERGE_COMMENT, UPSTREAM_IDENTIFIER]);
        let declaring: HashSet<ItemId> = declaring.map(|(id, _)| id).collect();
        let member = |(id, path): (&ItemId, Option<String>)| {
            let path = path.map(|path| normalize_package_path(&path));
            let mut member = Member::of(list.resource(*id), path);
            if declaring.contains(id) {
                list.read(*id, |node| member.declare(list.resource(*id), node));
            }
            member
        };
        let mut members: Vec<Member> = ids.iter().zip(paths).map(member).collect();
        find_packages(&mut members);
        Self { ids, members }
    }

    /// The resources to be paired with those of another package. `list` is the one that they were read from.
    pub fn source<'m>(&'m self, list: &'m ResourceList) -> PairingSource<'m> {
        PairingSource::new(&self.members, |at| list.read(self.ids[at], Leaves::of))
    }

    /// The path of a member's file.
    pub(super) fn path(&self, at: Option<usize>) -> Option<&str> {
        self.members[at?].path.as_deref()
    }

    /// Removes the members at these positions.
    pub(super) fn leave_out(&mut self, positions: &BTreeSet<usize>) {
        fn keep<T>(all: &mut Vec<T>, removed: &BTreeSet<usize>) {
            let mut position = 0;
            all.retain(|_| {
                position += 1;
                !removed.contains(&(position - 1))
            });
        }
        keep(&mut self.ids, positions);
        keep(&mut self.members, positions);
    }

    /// Whether a member is the only one in its file. The members of a file are neighbours.
    pub(super) fn is_alone(&self, at: Option<usize>) -> bool {
        let Some(at) = at else { return false };
        let path = self.path(Some(at));
        let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let mut neighbours = neighbours.filter_map(|at| self.members.get(at));
        path.is_some() && neighbours.all(|member| member.path.as_deref() != path)
    }
}

/// The resources of one package, with the list that holds them.
pub(super) struct PackageMembers<'p> {
    pub(super) list: &'p ResourceList,
    pub(super) all: Members,
}

impl<'p> PackageMembers<'p> {
    /// Reads the resources of a list, except those in the files that are left out.
    pub(super) fn read(list: &'p ResourceList, is_left_out: &dyn Fn(&str) -> bool) -> Self {
        Self {
            list,
            all: Members::read_but(list, is_left_out),
        }
    }

    pub(super) fn source(&self) -> PairingSource<'_> {
        self.all.source(self.list)
    }

    pub(super) fn resource(&self, at: usize) -> &'p Resource {
        self.list.resource(self.all.ids[at])
    }

    pub(super) fn node(&self, at: usize) -> NodeRef<'p> {
        self.list.node(self.all.ids[at])
    }

    /// The value without the annotations and the bookkeeping of tools; `None` if there is no such resource.
    pub(super) fn own_value(&self, at: Option<usize>) -> Option<Value> {
        at.map(|at| own_value(self.node(at)))
    }

    /// The text of the document without the head of its file. `None` if the resource is not a document.
    pub(super) fn text(&self, at: usize) -> Option<&'p str> {
        self.node(at).own_text()
    }
}

/// Whether two resources are written in the same way, comments included. Then they are equal, and
/// need not be compared field by field.
pub(super) fn same_text(a: (&PackageMembers<'_>, usize), b: (&PackageMembers<'_>, usize)) -> bool {
    same_document((a.0.list, a.0.all.ids[a.1]), (b.0.list, b.0.all.ids[b.1]))
}

/// Whether two resources in lists are written in the same way, including comments.
pub fn same_document(a: (&ResourceList, ItemId), b: (&ResourceList, ItemId)) -> bool {
    if a.0.is_same_text(a.1, b.0, b.1) {
        return true;
    }
    match (a.0.node(a.1).own_text(), b.0.node(b.1).own_text()) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// Whether two resources have the same value, apart from the annotations of tools.
pub(super) fn same_value(
    a: (&PackageMembers<'_>, Option<usize>),
    b: (&PackageMembers<'_>, Option<usize>),
) -> bool {
    match (a.1, b.1) {
        (Some(one), Some(other)) => {
            same_text((a.0, one), (b.0, other)) || a.0.own_value(a.1) == b.0.own_value(b.1)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The value of a resource without the annotations and the bookkeeping of tools.
fn own_value(node: NodeRef<'_>) -> Value {
    let mut value = node.value().unwrap_or(Value::Null);
    without_bookkeeping_of_tools(&mut value, Resource::read(node).is_kptfile());
    value
}

/// The fields of a Kptfile that describe the copy of a package, not the package that it was copied from.
const OWN_FIELDS: [&str; 3] = ["upstream", "upstreamLock", "status"];

/// Removes the fields in which a Kptfile may differ without counting as changed.
pub(crate) fn without_own_fields(value: &mut Value) {
    remove_annotations(value, is_ownership_annotation);
    if let Some(Value::Mapping(entries)) = value.get_mut("metadata") {
        entries.retain(|(key, _)| key.as_str() != Some("name"));
    }
    if let Value::Mapping(entries) = value {
        let is_own = |key: &str, value: &Value| {
            OWN_FIELDS.contains(&key) || key == "metadata" && value.entries().is_empty()
        };
        entries.retain(|(key, value)| !key.as_str().is_some_and(|key| is_own(key, value)));
    }
}

/// Whether a Kptfile has only what `kpt pkg get` writes if upstream has no Kptfile: a name, and where the package comes
/// from.
pub(super) fn is_made_by_get(mut kptfile: Value) -> bool {
    without_own_fields(&mut kptfile);
    let Value::Mapping(entries) = kptfile else {
        return false;
    };
    let mut keys = entries.iter().map(|(key, _)| key.as_str());
    keys.all(|key| matches!(key, Some("apiVersion" | "kind")))
}
