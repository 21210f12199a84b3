//! Mappings and keyed lists: which of their parts are the same in three versions.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::merge_schema::MergeSchema;
use super::super::rule::Side;
use super::super::versions::Versions;
use super::child::{Child, ChildVersions, Siblings};
use super::renamed_entries::pair_renamed;
use super::{FieldAction, FieldMerger};
use crate::order::Ranks;
use crate::trail::Trail;
use krm_core::schema::Identity;
use krm_yaml::interner::Interner;
use krm_yaml::{EditError, Editor, NodeRef, OwnedDocument};

/// A mapping or list that merges part by part.
pub(super) struct Collection<'d, 'f> {
    pub(super) versions: ChildVersions<'d, 'f>,
    /// The node that is edited: the local node, or an empty one in its place.
    pub(super) node: NodeRef<'d>,
    /// The side that removed the whole collection, if any.
    pub(super) removed_by: Option<Side>,
    pub(super) parts: Parts<'d, 'f>,
    pub(super) is_list: bool,
}

/// The entries or elements of three versions, numbered: a part has one number in all versions.
pub(super) struct Parts<'d, 'f> {
    pub(super) children: Versions<Siblings<'f>, Siblings<'d>>,
    /// The number of each part, by its position in a version.
    pub(super) numbers: Versions<Vec<u32>>,
    /// The order with which the orders of local and upstream are compared. `None` for the order of base.
    pub(super) base_order: Option<Vec<u32>>,
    /// The count of different numbers.
    pub(super) count: usize,
    /// By number, the side that wins an element that is decided together with others. Empty if there is none.
    pub(super) joint_decision: Vec<Option<Side>>,
    /// The numbers of elements that merge as one value each.
    pub(super) whole: HashSet<u32>,
}

/// Which parts of three versions are the same.
pub(super) struct Numbering {
    numbers: Versions<Vec<u32>>,
    count: usize,
    /// Whether a version has the same part twice.
    pub(super) repeats: bool,
}

impl Numbering {
    /// The numbers of parts of which no version has one twice.
    pub(super) fn of_unique(numbers: Versions<Vec<u32>>, count: u32) -> Self {
        Self {
            numbers,
            count: count as usize,
            repeats: false,
        }
    }

    pub(super) fn of<'i>(identities: Versions<impl Iterator<Item = Identity<'i>>>) -> Self {
        let mut interner = Interner::default();
        let mut repeats = false;
        let numbers = identities.map(|identities| {
            let found = interner.number(identities);
            repeats |= found.repeats;
            found.numbers
        });
        Self {
            numbers,
            count: interner.count(),
            repeats,
        }
    }
}

/// A mapping or list of each version that has one.
pub(super) type NodeVersions<'d, 'f> = Versions<Option<NodeRef<'f>>, NodeRef<'d>>;

impl<'d, 'f> Parts<'d, 'f> {
    pub(super) fn of(children: Versions<Siblings<'f>, Siblings<'d>>, numbering: Numbering) -> Self {
        Self {
            children,
            numbers: numbering.numbers,
            base_order: None,
            count: numbering.count,
            joint_decision: Vec::new(),
            whole: HashSet::new(),
        }
    }

    /// The order with which the orders of local and upstream are compared.
    pub(super) fn base_order(&self) -> &[u32] {
        self.base_order.as_deref().unwrap_or(&self.numbers.base)
    }

    /// For each number, the position of the part in each version.
    pub(super) fn positions(&self) -> Versions<Ranks> {
        self.numbers.as_ref().map(|numbers| Ranks::of(numbers))
    }
}

impl FieldMerger<'_> {
    /// The parts of three versions. `None` if they do not merge part by part. `node` is the local node. If `present`,
    /// an absent base counts as an empty one.
    pub(super) fn collection<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        versions: ChildVersions<'d, 'f>,
        node: NodeRef<'d>,
        present: bool,
    ) -> Option<Collection<'d, 'f>> {
        // An alias refers to a value elsewhere, so it is one value.
        let kind = node.kind();
        let is_list = kind.is_sequence();
        let is_map = kind.is_mapping() && !schema.is_atomic_map();
        if !is_list && !is_map {
            return None;
        }
        let fitting = |child: Option<Child<'f>>| {
            let node = child.map(|child| child.value.resolved())?;
            let kind = node.kind();
            let fits = if is_list {
                kind.is_sequence()
            } else {
                kind.is_mapping()
            };
            fits.then_some(node)
        };
        let nodes = Versions::new(fitting(versions.base), node, fitting(versions.upstream));
        // If both sides have the collection, only base may be of another kind. Otherwise, base is required.
        let other = if present { nodes.upstream } else { nodes.base };
        other?;
        let parts = if is_list {
            self.list(trail, schema, nodes, versions.local.is_none())?
        } else {
            mapping(schema, nodes)
        };
        let removed_by = match (versions.local, versions.upstream) {
            (None, _) => versions.base.map(|_| Side::Local),
            (Some(_), None) => Some(Side::Upstream),
            (Some(_), Some(_)) => None,
        };
        Some(Collection {
            versions,
            node,
            removed_by,
            parts,
            is_list,
        })
    }

    /// Merges a map or list that local does not have, with an empty one in its place. `None` if it merges as one value.
    pub(super) fn without_local<'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        base: Option<Child<'f>>,
        upstream: Child<'f>,
    ) -> Result<Option<FieldAction>, EditError> {
        let node = upstream.value.resolved();
        let has_guards = self.policy.rules.guards_below(trail);
        if base.is_none() && !has_guards && !schema.holds_local_fields(node) {
            return Ok(None);
        }
        let kind = node.kind();
        let fits = |child: Child<'f>| {
            let own = child.value.resolved().kind();
            own.is_mapping() == kind.is_mapping() && own.is_sequence() == kind.is_sequence()
        };
        if !base.is_none_or(fits) {
            return Ok(None);
        }
        let empty = if kind.is_mapping() { "{}\n" } else { "[]\n" };
        let owned =
            OwnedDocument::parse_as(node.reading(), empty.to_owned()).map_err(EditError::Broken)?;
        let Some(root) = owned.root() else {
            return Ok(None);
        };
        let versions = Versions::new(base, None, Some(upstream));
        let Some(collection) = self.collection(trail, schema, versions, root, true) else {
            return Ok(None);
        };
        let mut editor = Editor::new(owned.document());
        let action = self.entries(trail, schema, &collection, &mut editor)?;
        Ok(Some(match action {
            FieldAction::Local => {
                let text = editor.finish_parsed()?;
                FieldAction::Merged(Arc::new(text))
            }
            other => other,
        }))
    }
}

pub(super) fn children_of<'d, 'f>(
    nodes: NodeVersions<'d, 'f>,
) -> Versions<Siblings<'f>, Siblings<'d>> {
    Versions {
        base: Siblings::of(nodes.base),
        local: Siblings::of(Some(nodes.local)),
        upstream: Siblings::of(nodes.upstream),
    }
}

fn mapping<'d, 'f>(schema: MergeSchema<'_>, nodes: NodeVersions<'d, 'f>) -> Parts<'d, 'f> {
    fn keys<'a>(children: &Siblings<'a>) -> impl Iterator<Item = Identity<'a>> {
        let keys = children.iter().filter_map(|child| child.entry);
        keys.map(|entry| Identity::of_key(entry.key))
    }
    let mut children = children_of(nodes);
    for merged in [&mut children.base, &mut children.upstream] {
        merged.retain(|child| !schema.keeps_local(child.name()));
    }
    let numbering = Numbering::of(children.as_ref().map(keys));
    let mut parts = Parts::of(children, numbering);
    if schema.renames_keys() {
        pair_renamed(&parts.children, &mut parts.numbers);
    }
    parts
}
