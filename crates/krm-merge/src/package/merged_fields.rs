//! Merges the fields of the resources in the plan.

use std::collections::{BTreeMap, BTreeSet};

use super::IsOverwritten;
use super::apply::PlanInputs;
use super::plan::Plan;
use super::removed_comments::AddedComments;
use super::report::Report;
use crate::MergeSchema;
use crate::fields::{self, Findings};
use crate::gaps::Gaps;
use krm_core::kptfile::remove_ids;
use krm_core::resource::Resource;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, MOST_LISTED};
use krm_yaml::{EditError, Editor, NodeRef};

impl Plan {
    /// Merges the fields of the resources that local and upstream have.
    pub(super) fn merge_fields(
        &self,
        inputs: &PlanInputs<'_>,
        local: &mut ResourceList,
        is_overwritten: &IsOverwritten<'_>,
        report: &mut Report<'_>,
    ) {
        let in_package = local.is_package();
        let ids = self.merged.keys().copied();
        let resources: BTreeMap<ItemId, Resource> = ids
            .clone()
            .map(|id| (id, local.resource(id).clone()))
            .collect();
        let mut found: Vec<(ItemId, Findings)> = Vec::new();
        let mut count = 0;
        let mut lines_left = report.lines_left;
        let mut updated: BTreeSet<ItemId> = BTreeSet::new();
        let mut gaps: BTreeMap<ItemId, Gaps> = BTreeMap::new();
        let mut comments = AddedComments::default();
        let refused = local.edit_items(ids, |id, _, node, editor| {
            let matched = &self.merged[&id];
            let Some(upstream) = matched.upstream else {
                return Ok(());
            };
            let base = matched.base.map(|at| inputs.base.node(at));
            let merge_schema =
                MergeSchema::of(&resources[&id], inputs.schema, inputs.root == Some(id))
                    .in_files(inputs.in_files);
            let upstream = inputs.upstream.node(upstream);
            let rules = report.rules.of(&resources[&id]);
            let policy = report.policy(rules, MOST_LISTED.saturating_sub(count), lines_left);
            let findings =
                fields::merge_resource(base, node, upstream, merge_schema, policy, editor)?;
            let above = matched
                .local
                .and_then(|at| self.heads.above_first_key.get(&at));
            set_first_comments(node, above, editor);
            if findings.moves_comments && !in_package {
                remove_ids(node, editor);
            }
            if let Some(mut own) = Gaps::of(base, node, upstream, editor) {
                own.note(above.is_some(), findings.take_all_of_upstream());
                gaps.insert(id, own);
            }
            if !editor.keeps_lines_alone() {
                comments.note(id, base, node);
            }
            count += findings.conflicts.len();
            lines_left = findings.lines_left;
            updated.extend(editor.touches(node).then_some(id));
            found.push((id, findings));
            Ok::<_, EditError>(())
        });
        report.lines_left = lines_left;
        let mut unmerged = BTreeSet::new();
        for (id, error) in refused {
            updated.remove(&id);
            gaps.remove(&id);
            unmerged.insert(id);
            report.push(FunctionResult::refused(&error).with_resource(&resources[&id]));
        }
        updated.extend(write_gaps(&gaps, local, report));
        comments.warn_of_removed(local, report);
        report.counts.updated += updated.len();
        found.retain(|(id, _)| !unmerged.contains(id));
        for (id, mut findings) in found {
            findings
                .conflicts
                .retain(|conflict| !is_overwritten(local, id, conflict));
            report.findings(&resources[&id], &findings);
        }
    }
}

fn set_first_comments<'d>(
    node: NodeRef<'d>,
    above: Option<&Vec<String>>,
    editor: &mut Editor<'d, '_>,
) {
    if let (Some(above), Some(first)) = (above, node.entries().next()) {
        let above: Vec<&str> = above.iter().map(String::as_str).collect();
        editor.set_comments_above(first.key, &above);
    }
}

/// Writes the merged comments and blank lines between the entries of resources whose fields are merged. Returns the
/// resources that change.
fn write_gaps(
    gaps: &BTreeMap<ItemId, Gaps>,
    local: &mut ResourceList,
    report: &mut Report<'_>,
) -> BTreeSet<ItemId> {
    let mut updated = BTreeSet::new();
    let refused = local.edit_items(gaps.keys().copied(), |id, _, node, editor| {
        let is_changed = gaps[&id].apply(node, editor);
        updated.extend(is_changed.then_some(id));
        Ok::<_, EditError>(())
    });
    for (id, error) in refused {
        updated.remove(&id);
        report.push(FunctionResult::refused(&error).with_resource(local.resource(id)));
    }
    updated
}
