//! The text of a resource that upstream added: upstream's text, with the annotations that it needs in its new list.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::member::Member;
use krm_core::kptfile::remove_bookkeeping;
use krm_core::resource::{PACKAGE_PATH_ANNOTATION, Resource, file_annotations};
use krm_core::resource_list::{ResourceList, annotate};
use krm_core::upstream_identifier::{identify, with_metadata_in_lines};
use krm_yaml::{EditError, NodeRef, OwnedDocument, head_end, node_text};

/// A resource that upstream added.
pub(super) struct New<'n> {
    pub(super) node: NodeRef<'n>,
    pub(super) member: &'n Member,
    pub(super) resource: &'n Resource,
    /// Whether it gets its upstream identity.
    pub(super) identifies: bool,
    /// Whether it comes from a ResourceList, in which items have pipeline annotations. In a file, such annotations are
    /// data.
    pub(super) is_item: bool,
    /// Comments that local removed from its file.
    pub(super) removed: BTreeSet<String>,
    /// Whether the comments at the head of its text are included. A file has another place for the comments before its
    /// first document; an item of a ResourceList does not.
    pub(super) with_head: bool,
}

impl New<'_> {
    /// The text of the resource for `list`, with its comments.
    pub(super) fn text(
        &self,
        list: &ResourceList,
        indexes: &mut HashMap<Arc<str>, usize>,
    ) -> Result<String, EditError> {
        let mut text = self.own_text(list.is_package());
        if self.identifies {
            text = with_metadata_in_lines(&text).unwrap_or(text);
        }
        OwnedDocument::edited(text, |root, editor| {
            if self.member.is_kptfile() {
                remove_bookkeeping(root, editor);
            }
            let annotations = self.annotations(list, indexes);
            if self.identifies {
                identify(self.resource, root, annotations, self.is_item, editor)
            } else {
                annotate(root, &annotations, self.is_item, editor)
            }
        })
    }

    /// The annotations with its path and index. Empty if local is a package of files.
    fn annotations(
        &self,
        list: &ResourceList,
        indexes: &mut HashMap<Arc<str>, usize>,
    ) -> Vec<(&'static str, String)> {
        let mut set = Vec::new();
        if let Some(path) = self.member.path.as_deref().filter(|_| !list.is_package()) {
            let next = indexes.entry(path.into()).or_default();
            set.extend(file_annotations(path, *next));
            *next += 1;
            // The path is relative to the root package.
            if let Some(package) = list.root_package_path() {
                set.push((PACKAGE_PATH_ANNOTATION, package.to_owned()));
            }
        }
        set
    }

    fn own_text(&self, in_package: bool) -> String {
        let node = self.node;
        let Some(own) = node.own_range() else {
            return node_text(node);
        };
        let text = node.document.text;
        let (start, end) = (node.outer_start(), node.range().end);
        let (start, end) = (start.max(own.start), end.clamp(own.start, own.end));
        // Keep the rest of the line after the last value.
        let below = text[end..own.end]
            .find('\n')
            .map_or(own.end, |at| end + at + 1);
        let around = [own.start..start, below..own.end];
        let mut around = around.map(|lines| self.without_removed(&text[lines]));
        if !in_package {
            // A document marker is not allowed after the dash of an item.
            let above = around[0].strip_prefix("---").map(|rest| rest.trim_start());
            around[0] = above.unwrap_or(&around[0]).to_owned();
        }
        if self.with_head {
            around[0].insert_str(0, &comments_of(head(node)));
        }
        format!("{}{}{}", around[0], &text[start..below], around[1])
    }

    /// Lines of comments without those that local removed.
    fn without_removed(&self, lines: &str) -> String {
        let lines = lines.split_inclusive('\n');
        let kept = lines.filter(|line| !self.removed.contains(line.trim()));
        kept.collect()
    }
}

/// The text before the first document. Empty if the node is not the first document.
pub(super) fn head(node: NodeRef<'_>) -> &str {
    let text = node.document.text;
    let first = node.document.root(0);
    first
        .filter(|first| first.id == node.id)
        .map_or("", |_| &text[..head_end(text)])
}

/// The comments and blank lines of a head, with one blank line after them.
fn comments_of(head: &str) -> String {
    let is_kept = |line: &&str| {
        let line = line.trim_start_matches('\u{feff}').trim();
        line.is_empty() || line.starts_with('#')
    };
    let head: String = head.split_inclusive('\n').filter(is_kept).collect();
    match head.trim() {
        "" => String::new(),
        comments => format!("{}\n\n", comments.trim_start_matches('\u{feff}')),
    }
}
