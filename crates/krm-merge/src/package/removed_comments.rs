//! Comments that only local has, in resources and files that upstream removed. They are no reason to keep the resource
//! or file, so a result names them.
//!
//! Source: contract, merge-package, Comments.

use std::collections::HashMap;

use super::actions::ResourceAction;
use super::packages::Packages;
use super::report::Report;
use crate::resources::ResourceMatch;
use krm_core::results::{FunctionResult, REDACTED, Reason, listed, speaks_of_secret};
use krm_core::source_text::parse_document;
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
            let text = node.own_text().unwrap_or(node.source());
            let comments = [comments(self.base.node(base)), comments(node)];
            let Some(result) = removed("resource", text, comments) else {
                continue;
            };
            report.push(result.with_resource(self.local.resource(local)));
        }
    }
}

/// A warning about the comments of a file that goes with it.
pub(super) fn of_removed_file(path: &str, base: &[u8], local: &[u8]) -> Option<FunctionResult> {
    let read = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).ok()?;
        parse_document(text).ok()
    };
    let versions = [read(base)?, read(local)?];
    let comments = versions.each_ref().map(|version| {
        let document = version.document();
        let all = document.comments_within(0..document.text.len());
        all.collect()
    });
    let result = removed("file", versions[1].document().text, comments)?;
    Some(result.in_file(path))
}

/// A warning about the comments that are new in the second version of a text, which is removed.
fn removed(what: &str, text: &str, [base, local]: [Vec<&str>; 2]) -> Option<FunctionResult> {
    let own = added(base, local);
    if own.is_empty() {
        return None;
    }
    let named = if speaks_of_secret(text.as_bytes()) {
        REDACTED.to_owned()
    } else {
        let (named, others) = own.split_at(own.len().min(MOST_NAMED));
        let more = format!(" and {} more", others.len());
        listed(named) + if others.is_empty() { "" } else { &more }
    };
    let message =
        format!("upstream removed the {what}, and these comments of local with it: {named}");
    Some(FunctionResult::warning(Reason::CommentsRemoved, message))
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
