//! Comments that only local has, in resources that upstream removed. They are no reason to keep the resource, so a
//! result names them.
//!
//! Source: contract, merge-package, Comments.

use std::collections::HashMap;

use super::actions::ResourceAction;
use super::packages::Packages;
use super::report::Report;
use crate::resources::ResourceMatch;
use krm_core::results::{FunctionResult, REDACTED, Reason, listed, speaks_of_secret};
use krm_yaml::NodeRef;

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
            let own = added(comments(self.base.node(base)), comments(node));
            if own.is_empty() {
                continue;
            }
            let text = node.own_text().unwrap_or(node.source());
            let named = if speaks_of_secret(text.as_bytes()) {
                REDACTED.to_owned()
            } else {
                let (named, others) = own.split_at(own.len().min(MOST_NAMED));
                let more = format!(" and {} more", others.len());
                listed(named) + if others.is_empty() { "" } else { &more }
            };
            let message = format!(
                "upstream removed the resource, and these comments of local with it: {named}"
            );
            let result = FunctionResult::warning(Reason::CommentsRemoved, message);
            report.push(result.with_resource(self.local.resource(local)));
        }
    }
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
