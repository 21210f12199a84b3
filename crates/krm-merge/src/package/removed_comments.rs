//! Comments that only local has, in resources, files and fields that upstream removed. They are no reason to keep what
//! upstream removed, so a result names them.
//!
//! Source: contract, merge-package, Comments.

use std::collections::{BTreeMap, HashMap};

use super::actions::ResourceAction;
use super::packages::Packages;
use super::report::Report;
use crate::resources::ResourceMatch;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, REDACTED, Reason, listed, speaks_of_secret};
use krm_core::source_text::parse_document;
use krm_yaml::{NodeRef, OwnedDocument};

/// How many comments a result names.
const MOST_NAMED: usize = 5;

impl Packages<'_, '_> {
    /// A warning for each resource that goes with comments of local.
    pub(super) fn warn_of_removed_comments(
        &self,
        matches: &[ResourceMatch],
        actions: &[ResourceAction],
        report: &mut Report<'_>,
    ) {
        for (matched, action) in matches.iter().zip(actions) {
            let (ResourceAction::Remove, Some(base), Some(local)) =
                (action, matched.base, matched.local)
            else {
                continue;
            };
            let node = self.local.node(local);
            let text = node.own_text().unwrap_or(node.source());
            let comments = [comments(self.base.node(base)), comments(node)];
            let Some(result) = removed("resource", text, comments) else {
                continue;
            };
            report.push(result.with_resource(self.local.resource(local)));
        }
    }
}

/// The comments that local added to the resources that merge, without a text.
#[derive(Default)]
pub(super) struct AddedComments(BTreeMap<ItemId, (Vec<String>, bool)>);

impl AddedComments {
    /// Notes the comments of a resource before it merges.
    pub(super) fn note(&mut self, id: ItemId, base: Option<NodeRef<'_>>, local: NodeRef<'_>) {
        let own = comments(local);
        if own.is_empty() {
            return;
        }
        let own = added(base.map(comments).unwrap_or_default(), own);
        if !own.is_empty() {
            let own = own.into_iter().map(str::to_owned).collect();
            let text = local.own_text().unwrap_or(local.source());
            self.0.insert(id, (own, speaks_of_secret(text.as_bytes())));
        }
    }

    /// A warning for each merged resource that lacks some of them.
    pub(super) fn warn_of_removed(&self, merged: &ResourceList, report: &mut Report<'_>) {
        for (id, (own, is_secret)) in &self.0 {
            let found = comments(merged.node(*id));
            let lost = added(found, own.iter().map(String::as_str).collect());
            if let Some(result) = lost_in_merge(&lost, *is_secret) {
                report.push(result.with_resource(merged.resource(*id)));
            }
        }
    }
}

/// A warning about the comments of a file that goes with it.
pub(super) fn of_removed_file(path: &str, base: &[u8], local: &[u8]) -> Option<FunctionResult> {
    let read = |bytes: &[u8]| parse_document(String::from_utf8(bytes.to_vec()).ok()?).ok();
    let versions = [read(base)?, read(local)?];
    let comments = versions.each_ref().map(all_comments);
    let result = removed("file", versions[1].document().text, comments)?;
    Some(result.in_file(path))
}

/// A warning about the comments that local added to a file and that the merged file lacks.
pub(super) fn of_merged_file(
    path: &str,
    base: Option<&str>,
    local: &str,
    merged: &str,
) -> Option<FunctionResult> {
    let read = |text: &str| parse_document(text.to_owned()).ok();
    let (base, own, merged) = (read(base.unwrap_or_default()), read(local)?, read(merged)?);
    let known = base.as_ref().map(all_comments).unwrap_or_default();
    let own = added(known, all_comments(&own));
    let lost = added(all_comments(&merged), own);
    let result = lost_in_merge(&lost, speaks_of_secret(local.as_bytes()))?;
    Some(result.in_file(path))
}

fn lost_in_merge(lost: &[&str], is_secret: bool) -> Option<FunctionResult> {
    if lost.is_empty() {
        return None;
    }
    let named = names_of(lost, is_secret);
    let message = format!(
        "these local comments were removed with fields that upstream removed or replaced: {named}"
    );
    Some(FunctionResult::warning(Reason::CommentsRemoved, message))
}

fn all_comments(owned: &OwnedDocument) -> Vec<&str> {
    let document = owned.document();
    document.comments_within(0..document.text.len()).collect()
}

/// A warning about the comments that are new in the second version of a text, which is removed.
fn removed(what: &str, text: &str, [base, local]: [Vec<&str>; 2]) -> Option<FunctionResult> {
    let own = added(base, local);
    if own.is_empty() {
        return None;
    }
    let named = names_of(&own, speaks_of_secret(text.as_bytes()));
    let message = format!("upstream removed the {what}, and these local comments with it: {named}");
    Some(FunctionResult::warning(Reason::CommentsRemoved, message))
}

fn names_of(comments: &[&str], is_secret: bool) -> String {
    if is_secret {
        return REDACTED.to_owned();
    }
    let (named, others) = comments.split_at(comments.len().min(MOST_NAMED));
    let more = format!(" and {} more", others.len());
    listed(named) + if others.is_empty() { "" } else { &more }
}

fn comments(root: NodeRef<'_>) -> Vec<&str> {
    let range = root.own_range().unwrap_or_else(|| root.range());
    root.document.comments_within(range).collect()
}

/// The comments that `new` has more often than `old`.
fn added<'c>(old: Vec<&'c str>, new: Vec<&'c str>) -> Vec<&'c str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for comment in old {
        *counts.entry(comment.trim()).or_default() += 1;
    }
    let mut found = Vec::new();
    for comment in new.into_iter().map(str::trim) {
        match counts.get_mut(comment) {
            Some(count) if *count > 0 => *count -= 1,
            _ => found.push(comment),
        }
    }
    found
}
