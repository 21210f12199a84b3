//! The identity that a resource has in the package that it comes from, in both of kpt's spellings.
//!
//! ```yaml
//! # before                   # after
//! metadata:                  metadata: # kpt-merge: /web
//!   name: web                  name: web
//!                              annotations:
//!                                internal.kpt.dev/upstream-identifier: apps|Deployment|default|web
//! ```
//!
//! kpt uses the comment. An existing identity is kept: a package in between renamed the resource.
//!
//! Source: contract, merge-package, Identity; kpt's `pkg get`.

use std::fmt;
use std::ops::Range;

use memchr::memmem;

use crate::resource::{Resource, namespace_of};
use crate::resource_list::annotate;
use krm_yaml::{
    EditError, Editor, NodeKind, NodeRef, OwnedDocument, comments_above, line_comment, newline_at,
};

/// The annotation that kpt writes for the identity.
pub const UPSTREAM_IDENTIFIER: &str = "internal.kpt.dev/upstream-identifier";

/// The beginning of the comment after `metadata:`; `<namespace>/<name>` follows.
pub const MERGE_COMMENT: &str = "kpt-merge:";

/// The identity of a resource in upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamIdentifier {
    /// API group; the core group is empty.
    pub group: String,
    pub kind: String,
    /// Namespace; an absent or empty one is `default`.
    pub namespace: String,
    pub name: String,
}

impl UpstreamIdentifier {
    /// The identifier of these parts.
    pub fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace_of(Some(namespace)).to_owned(),
            name: name.to_owned(),
        }
    }

    /// Reads what [`Display`](fmt::Display) writes; `None` if parts are missing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('|').map(str::trim);
        let (group, kind) = (parts.next()?, parts.next()?);
        let (namespace, name) = (parts.next()?, parts.next()?);
        Some(Self::new(group, kind, namespace, name))
    }

    /// The identity that a resource declares in the comment, or otherwise in the annotation.
    pub fn declared(resource: &Resource, node: NodeRef<'_>) -> Option<Self> {
        let metadata = node.resolved().entry("metadata")?;
        let comment = line_comment(metadata.key).unwrap_or_default();
        if let Some((namespace, name)) = in_merge_comment(comment) {
            return Some(Self::new(resource.group(), &resource.kind, namespace, name));
        }
        let annotations = metadata.value.get("annotations")?;
        Self::parse(annotations.get(UPSTREAM_IDENTIFIER)?.as_str()?)
    }
}

impl fmt::Display for UpstreamIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (group, kind) = (&self.group, &self.kind);
        write!(f, "{group}|{kind}|{}|{}", self.namespace, self.name)
    }
}

/// The namespace and the name in a comment of kpt.
fn in_merge_comment(comment: &str) -> Option<(&str, &str)> {
    let comment = comment.trim_start_matches('#').trim();
    let identity = comment.strip_prefix(MERGE_COMMENT)?;
    let (namespace, name) = identity.trim().split_once('/')?;
    Some((namespace.trim(), name.trim()))
}

/// Writes the upstream identity of a resource on it, together with other annotations. `strip` is as in [`annotate`].
///
/// # Errors
/// An edit that cannot be made.
pub fn identify<'d>(
    resource: &Resource,
    node: NodeRef<'d>,
    mut annotations: Vec<(&str, String)>,
    strip: bool,
    editor: &mut Editor<'d, 'static>,
) -> Result<(), EditError> {
    let metadata = node.entry("metadata");
    let Some((metadata, own)) = metadata.zip(OwnIdentity::of(resource, node)) else {
        return annotate(node, &annotations, strip, editor);
    };
    let comment = line_comment(metadata.key);
    if own.annotation.is_none() {
        let merged = in_merge_comment(comment.unwrap_or_default());
        let (namespace, name) = merged.unwrap_or((own.namespace, own.name));
        let new = UpstreamIdentifier::new(resource.group(), &resource.kind, namespace, name);
        annotations.push((UPSTREAM_IDENTIFIER, new.to_string()));
    }
    annotate(node, &annotations, strip, editor)?;
    // kpt does not read the comment of a mapping in flow style.
    let is_read = |comment: &&str| {
        metadata.value.kind() != NodeKind::FlowMapping && !comment.contains(MERGE_COMMENT)
    };
    let Some(comment) = comment.filter(is_read) else {
        return Ok(());
    };
    if let Some(new) = own.comment() {
        if !comment.is_empty() {
            let mut above = comments_above(metadata.key);
            above.push(comment);
            editor.set_comments_above(metadata.key, &above);
        }
        editor.set_comment_after(metadata.key, &new);
    }
    Ok(())
}

/// The identity that a resource has in its own package.
struct OwnIdentity<'r> {
    namespace: &'r str,
    name: &'r str,
    annotation: Option<NodeRef<'r>>,
}

impl<'r> OwnIdentity<'r> {
    /// `None` for resources to which kpt gives no identity: a Kptfile, a resource in a JSON file, or a resource without
    /// name, namespace and labels.
    fn of(resource: &Resource, node: NodeRef<'r>) -> Option<Self> {
        let path = resource.origin.path.as_deref().unwrap_or_default();
        if resource.is_kptfile() || path.ends_with(".json") {
            return None;
        }
        let metadata = node.get("metadata")?;
        let text = |field: &str| {
            let node = metadata.get(field).filter(|node| !node.is_null());
            node.and_then(|node| node.scalar_text()).unwrap_or_default()
        };
        let (namespace, name) = (text("namespace"), text("name"));
        let labels = metadata.get("labels");
        let has_labels = labels.is_some_and(|labels| labels.entries().next().is_some());
        let annotations = metadata.get("annotations");
        (!namespace.is_empty() || !name.is_empty() || has_labels).then(|| Self {
            namespace,
            name,
            annotation: annotations.and_then(|annotations| annotations.get(UPSTREAM_IDENTIFIER)),
        })
    }

    /// The comment. `None` if it would not be one line.
    fn comment(&self) -> Option<String> {
        let (namespace, name) = (&self.namespace, &self.name);
        let is_line =
            |text: &str| !text.contains(|c: char| c.is_control() || "\u{2028}\u{2029}".contains(c));
        let is_line = is_line(namespace) && is_line(name);
        is_line.then(|| format!("# {MERGE_COMMENT} {namespace}/{name}"))
    }
}

/// Rewrites `metadata` in flow style to block style in the documents of a text, because kpt does not read the comment
/// of a mapping in flow style. `None` if nothing changes. A mapping with entries that cannot be lines is unchanged.
pub fn with_metadata_in_lines(text: &str) -> Option<String> {
    if !may_have_flow_metadata(text) {
        return None;
    }
    let parsed = OwnedDocument::parse_resource(text.to_owned()).ok()?;
    let document = parsed.document();
    let (mut new, mut done) = (String::new(), 0);
    for root in (0..document.len()).filter_map(|at| document.root(at)) {
        let metadata = root.entry("metadata").map(|entry| entry.value);
        let is_resource = OwnIdentity::of(&Resource::read(root), root).is_some();
        let is_block = root.kind() == NodeKind::BlockMapping && is_resource;
        if let Some((range, lines)) = metadata.filter(|_| is_block).and_then(in_lines) {
            new.extend([&text[done..range.start], &lines]);
            done = range.end;
        }
    }
    (done > 0).then(|| new + &text[done..])
}

/// Whether a line begins with the key `metadata`, and its value with a brace.
fn may_have_flow_metadata(text: &str) -> bool {
    let at = memmem::find_iter(text.as_bytes(), "metadata").map(|at| (&text[..at], &text[at..]));
    at.into_iter().any(|(before, found)| {
        let before = before.trim_end_matches(['"', '\'']);
        let value = found["metadata".len()..].trim_start_matches(['"', '\'', ' ']);
        let value = value.strip_prefix(':').unwrap_or_default();
        (before.is_empty() || before.ends_with('\n')) && value.trim_start().starts_with('{')
    })
}

/// The range after the colon of a mapping in flow style, and the mapping's entries as lines. `None` for other nodes, or
/// if an entry cannot be a line.
fn in_lines(metadata: NodeRef<'_>) -> Option<(Range<usize>, String)> {
    let document = metadata.document;
    let is_line = |node: NodeRef<'_>| {
        node.properties().is_empty() && !node.source().contains(['\n', '*', '&', '!', '?'])
    };
    let is_flow = metadata.kind() == NodeKind::FlowMapping && metadata.properties().is_empty();
    let mut entries = metadata.entries();
    let are_lines = entries.all(|entry| is_line(entry.key) && is_line(entry.value));
    let has_comments = document.comments_within(metadata.range()).next().is_some();
    let start = metadata
        .indicator()
        .filter(|_| is_flow && are_lines && !has_comments)?
        + 1;
    let rest = &document.text[metadata.range().end..];
    let line = rest.lines().next().unwrap_or_default();
    let newline = newline_at(rest, 0);
    let mut lines = line.trim_end().to_owned();
    for entry in metadata.entries() {
        let (key, value) = (entry.key.source(), entry.value.source());
        lines.push_str(newline);
        lines.push_str(format!("  {key}: {value}").trim_end());
    }
    Some((start..metadata.range().end + line.len(), lines))
}
