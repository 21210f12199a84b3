//! The order of a collection's parts, once it is decided which of them are kept.

use std::sync::Arc;

use super::super::merge_schema::MergeSchema;
use super::super::order::{Ranks, merge_order};
use super::super::rule::Side;
use super::super::versions::Versions;
use super::child::{Child, Siblings, nodes};
use super::collection::Collection;
use super::{ConflictKind, FieldAction, FieldMerger};
use crate::trail::Trail;
use krm_core::schema::ListType;
use krm_yaml::{Content, EditError, Editor, Part, Value, has_comments};

impl FieldMerger<'_> {
    /// Puts the parts that are kept into their merged order. `positions` and `fates` are by number.
    pub(super) fn arrange<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        collection: &Collection<'d, 'f>,
        positions: &Versions<Ranks>,
        actions: &[FieldAction],
        editor: &mut Editor<'d, 'f>,
    ) -> Result<FieldAction, EditError> {
        let parts = &collection.parts;
        let kept = |numbers: &[u32]| -> Vec<u32> {
            let stays = |number: &u32| !matches!(actions[*number as usize], FieldAction::Removed);
            numbers.iter().copied().filter(stays).collect()
        };
        let (local, upstream) = (kept(&parts.numbers.local), kept(&parts.numbers.upstream));
        if local.is_empty() && upstream.is_empty() {
            return self.emptied(trail, collection, editor);
        }
        let nothing_new = upstream.iter().all(|number| positions.local.has(*number));
        let order = if nothing_new && parts.base_order() == parts.numbers.upstream {
            // Upstream moved and added nothing.
            local
        } else {
            self.merged_order(trail, schema, collection, [&local, &upstream])
        };
        if order == parts.numbers.local {
            return Ok(FieldAction::Local);
        }
        if collection.is_list && has_comments(collection.node) {
            self.findings.moves_comments = true;
        }
        let arranged = order.into_iter().filter_map(|number| {
            if let Some(at) = positions.local.get(number) {
                return Some(Part::Kept(at));
            }
            let child = parts
                .children
                .upstream
                .get(positions.upstream.get(number)?)?;
            let content = match &actions[number as usize] {
                FieldAction::Upstream => Content::Node(child.value),
                FieldAction::Merged(text) => Content::Text(Arc::clone(text)),
                FieldAction::Local | FieldAction::Removed => return None,
            };
            Some(child.part(content))
        });
        editor.arrange(collection.node, arranged.map(Ok))?;
        Ok(FieldAction::Local)
    }

    /// The merged order of the parts that are kept. A cycle is one conflict, in which the winner's order is taken.
    fn merged_order(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        collection: &Collection<'_, '_>,
        [local, upstream]: [&[u32]; 2],
    ) -> Vec<u32> {
        let parts = &collection.parts;
        let base = parts.base_order();
        let winner = self.policy.winner;
        let merged = merge_order(base, local, upstream, winner);
        // The order of keys in a mapping has no meaning, so it is never a conflict.
        if !merged.cycle || !collection.is_list {
            return merged.order;
        }
        match self.order_conflict(trail, schema, collection) {
            side if side == winner => merged.order,
            side => merge_order(base, local, upstream, side).order,
        }
    }

    fn order_conflict(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        collection: &Collection<'_, '_>,
    ) -> Side {
        let parts = &collection.parts;
        let labels = |children: &Siblings<'_>| {
            let labels = children.iter();
            let labels = labels.filter_map(|child| label(schema.list(), &child));
            Some(Value::Sequence(labels.collect()))
        };
        let values = parts.children.as_ref().map(labels);
        let decision = self.decide(trail, self.policy.winner);
        let lists = nodes(collection.versions).into_iter().flatten();
        self.report(trail, ConflictKind::Order, values, decision, |marks| {
            marks.at_any(lists)
        })
    }
}

/// The label of an element in a conflict over the order.
fn label(list: ListType<'_>, child: &Child<'_>) -> Option<Value> {
    match list.identity(child.value) {
        Some(identity) => Some(identity.to_value()),
        None => {
            let name = child.value.get("name").or(child.value.get("image"))?;
            name.value()
        }
    }
}
