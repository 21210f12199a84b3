//! Merges three versions of a text that is a document, like a resource, into the local text.

use std::collections::BTreeMap;

use crate::gaps::{Gaps, Lead, merged_head, merged_lead};
use crate::merge_schema::MergeSchema;
use crate::versions::Versions;
use krm_core::results::Mark;
use krm_yaml::{EditError, Editor, NodeKind, NodeRef, OwnedDocument, Path, Value, head_end};

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
    let head = DocumentHead::of(base, local, upstream);
    if let (Some(above), Some(first)) = (&head.above_first_key, local.entries().next()) {
        let above: Vec<&str> = above.iter().map(String::as_str).collect();
        editor.set_comments_above(first.key, &above);
    }
    let mut gaps = Gaps::of(base, local, upstream, &editor);
    if let Some(gaps) = &mut gaps {
        gaps.note(
            head.above_first_key.is_some(),
            findings.take_all_of_upstream(),
        );
    }
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
        text: head.before(merged.document().text),
        findings,
    })
}

/// The merged head of a text: comments that a blank line separates from its first entry.
struct DocumentHead {
    /// `None` for local's head.
    head: Option<String>,
    /// The comment lines directly above the first entry, if they are decided together with the head.
    above_first_key: Option<Vec<String>>,
}

impl DocumentHead {
    fn of(base: Option<NodeRef<'_>>, local: NodeRef<'_>, upstream: NodeRef<'_>) -> Self {
        let leads = [base, Some(local), Some(upstream)];
        let leads = leads.map(|root| root.map_or_else(|| Some(Lead::default()), Lead::of));
        if let [Some(base), Some(local), Some(upstream)] = &leads
            && let Some((head, above)) = merged_lead(base, local, upstream)
        {
            let above_first_key = Some(above);
            return Self {
                head,
                above_first_key,
            };
        }
        let heads = [base, Some(local), Some(upstream)].map(|root| {
            let text = root.map_or("", |root| root.document.text);
            &text[..head_end(text)]
        });
        let [base, local, upstream] = heads;
        Self {
            head: merged_head(base, local, upstream),
            above_first_key: None,
        }
    }

    /// The text with this head.
    fn before(&self, text: &str) -> String {
        match &self.head {
            Some(head) => format!("{head}{}", &text[head_end(text)..]),
            None => text.to_owned(),
        }
    }
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
