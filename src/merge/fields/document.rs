//! A text that is a document: its three versions merge like those of a resource, into the text of local.

use crate::merge::merge_schema::MergeSchema;
use crate::merge::versions::Versions;
use crate::yaml::{Editor, NodeRef, OwnedDocument};

use super::{Findings, Policy, merge_resource};

/// Merges three texts that are a mapping or list each; an absent base counts as empty. `None` if one is something
/// else, holds more than one document, or the merge needs an edit that cannot be made.
pub(in crate::merge) fn merge_documents(
    texts: Versions<Option<&str>, &str>,
    schema: MergeSchema<'_>,
    policy: Policy<'_>,
) -> Option<(String, Findings)> {
    let base = match texts.base {
        Some(base) => Some(read(base)?),
        None => None,
    };
    let (local, upstream) = (read(texts.local)?, read(texts.upstream?)?);
    let mut editor = Editor::new(local.document());
    let base = base.as_ref().and_then(OwnedDocument::root);
    let (ours, theirs) = (local.root()?, upstream.root()?);
    let are_alike = |a: NodeRef<'_>, b: NodeRef<'_>| a.kind().is_mapping() == b.kind().is_mapping();
    if !are_alike(ours, theirs) || base.is_some_and(|base| !are_alike(base, ours)) {
        return None;
    }
    let found = merge_resource(base, ours, theirs, schema, policy, &mut editor).ok()?;
    Some((editor.finish().ok()?, found))
}

/// A text that is one mapping or list.
fn read(text: &str) -> Option<OwnedDocument> {
    let owned = OwnedDocument::parse(text.to_owned()).ok()?;
    let kind = owned.root()?.kind();
    let is_collection = kind.is_mapping() || kind.is_sequence();
    (owned.document().len() == 1 && is_collection).then_some(owned)
}
