//! Merges the parts of a mapping or keyed list one by one.

use super::super::merge_schema::MergeSchema;
use super::super::order::Ranks;
use super::super::rule::{self, Outcome, Side};
use super::super::versions::Versions;
use super::child::{Child, ChildVersions, Siblings, nodes};
use super::collection::Collection;
use super::comments::take_comments;
use super::groups::Forced;
use super::renamed_entries::take_key;
use super::{ConflictKind, Elementwise, FieldAction, FieldMerger};
use crate::trail::{ElementOf, Trail};
use krm_yaml::{EditError, Editor, NodeRef};

/// The part of this number in one version.
fn child<'a>(number: u32, positions: &Ranks, children: &Siblings<'a>) -> Option<Child<'a>> {
    children.get(positions.get(number)?)
}

impl FieldMerger<'_> {
    /// Merges the parts of a mapping or keyed list, then their order.
    pub(super) fn entries<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        collection: &Collection<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<FieldAction, EditError> {
        let parts = &collection.parts;
        let positions = parts.positions();
        let forced = self.groups(trail, schema, parts);
        let mut actions: Vec<FieldAction> =
            (0..parts.count).map(|_| FieldAction::Removed).collect();
        let added = parts.numbers.upstream.iter();
        let added = added.filter(|number| !positions.local.has(**number));
        for number in parts.numbers.local.iter().chain(added).copied() {
            let part = Versions {
                base: child(number, &positions.base, &parts.children.base),
                local: child(number, &positions.local, &parts.children.local),
                upstream: child(number, &positions.upstream, &parts.children.upstream),
            };
            let action = self.part(trail, schema, collection, (number, &part), &forced, editor)?;
            if let (FieldAction::Local, Some(base), Some(local), Some(upstream)) =
                (&action, part.base, part.local, part.upstream)
            {
                take_comments(base, local, upstream, editor);
                take_key(&part, editor)?;
            }
            actions[number as usize] = action;
        }
        self.arrange(trail, schema, collection, &positions, &actions, editor)
    }

    /// Merges one part, by its number.
    fn part<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        collection: &Collection<'d, 'f>,
        (number, part): (u32, &ChildVersions<'d, 'f>),
        forced: &Forced,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<FieldAction, EditError> {
        let parts = &collection.parts;
        let has_joint_decision = !parts.joint_decision.is_empty();
        let forced = match parts.joint_decision.get(number as usize) {
            Some(side) => *side,
            None => forced.side_of(part),
        };
        if let Some(side) = forced {
            // Elements that are decided together are identified by their values, so both sides have the same value.
            let are_equal = |local: Child<'_>, upstream: Child<'_>| {
                has_joint_decision || local.value.equals(&upstream.value)
            };
            return match (part.local, part.upstream) {
                (Some(local), Some(upstream)) if are_equal(local, upstream) => {
                    Ok(FieldAction::Local)
                }
                _ => self.take_side(side, *part, editor),
            };
        }
        let Some(child) = part.local.or(part.upstream) else {
            return Ok(FieldAction::Removed);
        };
        let (below, schema, elementwise) = match child.entry {
            Some(_) => {
                let name = child.name();
                if schema.keeps_local(name) {
                    return Ok(FieldAction::Local);
                }
                (trail.field(name), schema.field(name), Elementwise::Yes)
            }
            None => {
                let (node, list) = (child.value, schema.list());
                if schema.keeps_local_element(node) {
                    return Ok(FieldAction::Local);
                }
                let below = Trail::Element(trail, child.index, ElementOf { node, list });
                (below, schema.items(), Elementwise::IfPresent)
            }
        };
        if parts.whole.contains(&number) {
            return self.single(&below, false, *part, editor);
        }
        match collection.removed_by.filter(|_| part.base.is_none()) {
            Some(side) => Ok(self.added_to_removed(&below, side, *part)),
            None => self.child(&below, schema, elementwise, *part, editor),
        }
    }

    /// Decides about a part that one side added to a collection, while the other side removed the collection.
    fn added_to_removed(
        &mut self,
        trail: &Trail<'_>,
        removed_by: Side,
        part: ChildVersions<'_, '_>,
    ) -> FieldAction {
        let keeper = removed_by.other();
        let values = nodes(part).map(|node| node.and_then(|node| node.value()));
        let winner = if self.policy.decides_all {
            self.policy.winner
        } else {
            keeper
        };
        let decision = self.decide(trail, winner);
        let kind = ConflictKind::at(trail);
        let winner = self.report(trail, kind, values, decision, |marks| {
            marks.at_any(nodes(part).into_iter().flatten())
        });
        match (part.local, part.upstream) {
            _ if winner != keeper => FieldAction::Removed,
            (None, Some(_)) => FieldAction::Upstream,
            _ => FieldAction::Local,
        }
    }

    /// Decides about a collection in which nothing is left. It is kept as an empty one if the winning side has an
    /// explicit empty collection. Otherwise it is removed.
    pub(super) fn emptied<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        collection: &Collection<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<FieldAction, EditError> {
        /// Whether a version holds anything; `None` if it is absent.
        fn is_filled(node: Option<NodeRef<'_>>) -> Option<bool> {
            Some(node?.resolved().is_filled())
        }
        let versions = collection.versions;
        let filled = nodes(versions).map(is_filled);
        let side = match rule::merge(filled, |a, b| a == b) {
            Outcome::Wins(side) => side,
            Outcome::Conflict => self.conflict(trail, nodes(versions)),
        };
        match (side.of(filled), versions.local, versions.upstream) {
            (Some(false), Some(_), _) => {}
            (Some(false), None, Some(_)) => return Ok(FieldAction::Upstream),
            _ if matches!(trail, Trail::Root) => {}
            _ => return Ok(FieldAction::Removed),
        }
        if !collection.parts.children.local.is_empty() {
            editor.arrange(collection.node, std::iter::empty())?;
        }
        Ok(FieldAction::Local)
    }
}
