//! Merges the fields of the resources that local and upstream have.

use std::collections::{BTreeMap, BTreeSet};

use super::IsOverwritten;
use super::heads::Heads;
use super::members::PackageMembers;
use super::report::Report;
use crate::kptfile::remove_ids;
use crate::merge::fields::{self, Findings, Policy};
use crate::merge::resources::Track;
use crate::merge::{Combine, ConflictRules, MergeSchema, Side};
use crate::resource::Resource;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, MOST_LISTED};
use crate::schema::Schema;
use crate::yaml::EditError;

/// The merge of resources that local and upstream have.
pub(super) struct FieldMerge<'p> {
    pub(super) base: &'p PackageMembers<'p>,
    pub(super) upstream: &'p PackageMembers<'p>,
    pub(super) schema: &'p Schema,
    pub(super) winner: Side,
    pub(super) rules: &'p ConflictRules,
    pub(super) combine: Combine,
    pub(super) root: Option<ItemId>,
    /// The resources, by their items in local.
    pub(super) tracks: &'p BTreeMap<ItemId, Track>,
    pub(super) heads: &'p Heads,
    /// Whether all three versions come from files.
    pub(super) in_files: bool,
}

impl FieldMerge<'_> {
    pub(super) fn merge(
        &self,
        local: &mut ResourceList,
        is_overwritten: &IsOverwritten<'_>,
        report: &mut Report<'_>,
    ) {
        let in_package = local.is_package();
        let ids = self.tracks.keys().copied();
        let resources: BTreeMap<ItemId, Resource> = ids
            .clone()
            .map(|id| (id, local.resource(id).clone()))
            .collect();
        let mut found: Vec<(ItemId, Findings)> = Vec::new();
        let mut refused: Vec<(ItemId, EditError)> = Vec::new();
        let mut count = 0;
        let mut lines_left = report.lines_left;
        let mut updated: BTreeSet<ItemId> = BTreeSet::new();
        local.edit_items(
            ids,
            |id, _, node, editor| {
                let track = &self.tracks[&id];
                let Some(upstream) = track.upstream else {
                    return Ok(());
                };
                let base = track.base.map(|at| self.base.node(at));
                let merge_schema =
                    MergeSchema::of(&resources[&id], self.schema, self.root == Some(id))
                        .in_files(self.in_files);
                let upstream = self.upstream.node(upstream);
                let rules = self.rules.of(&resources[&id]);
                let policy = Policy {
                    winner: self.winner,
                    rules,
                    combine: self.combine,
                    most: MOST_LISTED.saturating_sub(count),
                    lines_left,
                };
                let findings =
                    fields::merge_resource(base, node, upstream, merge_schema, policy, editor)?;
                let above = track
                    .local
                    .and_then(|at| self.heads.above_first_key.get(&at));
                if let (Some(above), Some(first)) = (above, node.entries().next()) {
                    let above: Vec<&str> = above.iter().map(String::as_str).collect();
                    editor.set_comments_above(first.key, &above);
                }
                if findings.moves_comments && !in_package {
                    remove_ids(node, editor)?;
                }
                count += findings.conflicts.len();
                lines_left = findings.lines_left;
                updated.extend(editor.touches(node).then_some(id));
                found.push((id, findings));
                Ok(())
            },
            |id, error| refused.push((id, error)),
        );
        report.lines_left = lines_left;
        let mut unmerged = BTreeSet::new();
        for (id, error) in refused {
            updated.remove(&id);
            unmerged.insert(id);
            report.say(FunctionResult::refused(&error).about(&resources[&id]));
        }
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
