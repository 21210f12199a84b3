//! Merges three versions of a text that is a document, like a resource, into the local text.

use std::collections::BTreeMap;

use crate::gaps::Gaps;
use crate::merge_schema::MergeSchema;
use crate::versions::Versions;
use krm_core::results::Mark;
use krm_yaml::{EditError, Editor, NodeKind, NodeRef, OwnedDocument, Path, Value};

use super::{Findings, Policy, merge_resource};

pub(crate) struct MergedDocument {
    pub(crate) text: String,
    pub(crate) findings: Findings,
    /// What only local changed: the new values by their paths. `upstream` is the same for upstream.
    pub(crate) local: Option<Value>,
    pub(crate) upstream: Option<Value>,
}

/// The maximum number of changes of one side that are listed.
const MOST_CHANGES: usize = 20;

/// Merges three texts, each with one document, the root of which `accepts` allows. An absent base counts as empty.
/// `None` if a text is something else, or if the merge needs an edit that cannot be made.
pub(crate) fn merge_documents(
    texts: Versions<Option<&str>, &str>,
    accepts: fn(&str, NodeKind) -> bool,
    schema: MergeSchema<'_>,
    policy: Policy<'_>,
) -> Option<MergedDocument> {
    let read = |text: &str| {
        let owned = OwnedDocument::parse(text.to_owned()).ok()?;
        let kind = owned.root()?.kind();
        let is_one = owned.document().len() == 1 && accepts(text, kind);
        (is_one && !is_template(owned.root()?)).then_some(owned)
    };
    let base = match texts.base {
        Some(base) => Some(read(base)?),
        None => None,
    };
    let owned = (read(texts.local)?, read(texts.upstream?)?);
    let mut editor = Editor::new(owned.0.document());
    let base = base.as_ref().and_then(OwnedDocument::root);
    let (local, upstream) = (owned.0.root()?, owned.1.root()?);
    let are_alike = |a: NodeRef<'_>, b: NodeRef<'_>| a.kind().is_mapping() == b.kind().is_mapping();
    if !are_alike(local, upstream) || base.is_some_and(|base| !are_alike(base, local)) {
        return None;
    }
    let findings = merge_resource(base, local, upstream, schema, policy, &mut editor).ok()?;
    let gaps = Gaps::of(base, local, upstream, &editor);
    let merged = with_gaps(editor.finish_parsed().ok()?, gaps).ok()?;
    let brought = |side, other| {
        // The other side has everything.
        if NodeRef::same(merged.root(), Some(other)) {
            return None;
        }
        let mut found = Vec::new();
        let nodes = [base, Some(side), Some(other)];
        changes(&Path::root(), nodes, &findings, &mut found);
        (!found.is_empty()).then_some(Value::Mapping(found))
    };
    Some(MergedDocument {
        local: brought(local, upstream),
        upstream: brought(upstream, local),
        text: merged.document().text.to_owned(),
        findings,
    })
}

/// A merged document with the merged comments and blank lines between its entries.
pub(super) fn with_gaps(
    merged: OwnedDocument,
    gaps: Option<Gaps>,
) -> Result<OwnedDocument, EditError> {
    let (Some(gaps), Some(root)) = (gaps, merged.root()) else {
        return Ok(merged);
    };
    let mut editor = Editor::new(merged.document());
    gaps.apply(root, &mut editor);
    if editor.is_empty() {
        return Ok(merged);
    }
    editor.finish_parsed()
}

/// Whether a key is a collection, as in `a: {{ .a }}`: such a text is a template that is YAML by chance.
fn is_template(node: NodeRef<'_>) -> bool {
    let is_one = |key: NodeRef<'_>| !matches!(key.kind(), NodeKind::Scalar(_));
    let mut entries = node.entries();
    entries.any(|entry| is_one(entry.key) || is_template(entry.value))
        || node.items().any(is_template)
}

/// Collects what one side changed and the other did not, and lists that merged by elements. `nodes` are
/// `[base, side, other]`; combined lists and conflicts are reported on their own.
fn changes(
    path: &Path,
    nodes: [Option<NodeRef<'_>>; 3],
    findings: &Findings,
    found: &mut Vec<(Value, Value)>,
) {
    let [base, side, other] = nodes.map(|node| node.map(|node| node.resolved()));
    if found.len() >= MOST_CHANGES || NodeRef::same(base, side) {
        return;
    }
    let is_mapping = |node: Option<NodeRef<'_>>| node.is_some_and(|node| node.kind().is_mapping());
    let is_sequence =
        |node: Option<NodeRef<'_>>| node.is_some_and(|node| node.kind().is_sequence());
    if is_mapping(side) && (is_mapping(base) || base.is_none() && is_mapping(other)) {
        let entries = [base, side, other].map(|node| {
            let entries = node.into_iter().flat_map(|node| node.entries());
            let named = entries.filter_map(|entry| Some((entry.key.key_text()?, entry.value)));
            named.collect::<BTreeMap<_, _>>()
        });
        let [base, side, _] = &entries;
        let names = base
            .keys()
            .chain(side.keys().filter(|name| !base.contains_key(*name)));
        for name in names {
            let below = entries.each_ref().map(|entries| entries.get(name).copied());
            changes(&path.field(name), below, findings, found);
        }
    } else if NodeRef::same(base, other)
        || is_sequence(side)
            && is_sequence(other)
            && !NodeRef::same(side, other)
            && !is_reported(path, findings)
    {
        let value = side.and_then(|node| node.value()).unwrap_or(Value::Null);
        let mark = [base, side, other].into_iter().flatten().map(Mark::at);
        let mark = mark.reduce(Mark::or).unwrap_or_default();
        found.push((Value::from(path.to_string()), mark.quotable(&value)));
    }
}

/// Whether a list is combined, or has a conflict.
fn is_reported(path: &Path, findings: &Findings) -> bool {
    let others = findings.others.iter().map(|(first, _)| first);
    let mut conflicts = findings.conflicts.iter().chain(others);
    findings.combined.iter().any(|one| one.path == *path)
        || conflicts.any(|conflict| conflict.path.elements().starts_with(path.elements()))
}
