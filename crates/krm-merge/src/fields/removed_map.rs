//! A map that one side removed while the other side changed something in it: one conflict. The winner's whole map, or its
//! absence, is the result, never a part of the map. Entries that the other side added are kept.
//!
//! ```yaml
//! # base          # local    # upstream      # merged, if upstream wins   # if local wins
//! service:                   service:        service:
//!   name: a                    name: a         name: a
//!   path: /old                 path: /new      path: /new
//!                              port: 1         port: 1                    # service: {port: 1}
//! ```
//!
//! Source: contract, merge-package (Identity, deletion; Fields).

use super::child::{ChildVersions, nodes};
use super::{Elementwise, FieldAction, FieldMerger};
use crate::merge_schema::MergeSchema;
use crate::rule::Side;
use crate::trail::Trail;
use krm_core::schema::ListType;
use krm_yaml::{EditError, Editor, NodeRef};

impl FieldMerger<'_> {
    /// Merges a map that one side removed and the other side changed; `None` for everything else.
    pub(super) fn removed_map<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        elementwise: Elementwise,
        versions: ChildVersions<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Option<FieldAction>, EditError> {
        let values = nodes(versions);
        let (kept, removed_by) = match (values.local, values.upstream) {
            (Some(kept), None) => (kept, Side::Upstream),
            (None, Some(kept)) => (kept, Side::Local),
            _ => return Ok(None),
        };
        let Some(base) = values.base else {
            return Ok(None);
        };
        let (base, kept) = (base.resolved(), kept.resolved());
        let is_done = self.removed_by.is_some() || elementwise == Elementwise::IfPresent;
        let holds_local_fields = [base, kept].map(|node| schema.holds_local_fields(node));
        if is_done
            || holds_local_fields.contains(&true)
            || !base.kind().is_mapping()
            || !kept.kind().is_mapping()
            || !is_changed(schema, base, kept)
        {
            return Ok(None);
        }
        let side = self.conflict(trail, values);
        if side != removed_by {
            return self.take_side(side, versions, editor).map(Some);
        }
        self.removed_by = Some(side);
        let action = self.child(trail, schema, elementwise, versions, editor);
        self.removed_by = None;
        action.map(Some)
    }
}

/// Whether a side changed a value in a map of base. Entries that it added or removed do not count.
fn is_changed(schema: MergeSchema<'_>, base: NodeRef<'_>, kept: NodeRef<'_>) -> bool {
    let (base, kept) = (base.resolved(), kept.resolved());
    let both = |is: fn(&NodeRef<'_>) -> bool| is(&base) && is(&kept);
    if both(|node| node.kind().is_mapping()) && !schema.is_atomic_map() {
        return kept.entries().any(|entry| {
            let name = entry.key.field_name();
            let old = base.entry(name).map(|entry| entry.value);
            old.is_some_and(|old| is_changed(schema.field(name), old, entry.value))
        });
    }
    if both(|node| node.kind().is_sequence()) && schema.list() != ListType::Atomic {
        let all_in = |one: NodeRef<'_>, other: NodeRef<'_>| {
            one.items()
                .all(|own| other.items().any(|item| item.equals(&own)))
        };
        return !all_in(base, kept) && !all_in(kept, base);
    }
    !base.equals(&kept)
}
