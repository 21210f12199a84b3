//! The Kptfile: which one is the root package's, and edits of its lists.
//!
//! Source: contract, set-package-context (the root Kptfile), prepend-pipeline and Bytes.

use crate::resource::{ID_ANNOTATIONS, Origin};
use crate::resource_list::{ItemId, ResourceList};
use crate::yaml::{EditError, Editor, NodeRef};

/// How far down a package tree something stands: its package, then its file.
#[must_use]
pub fn depth(origin: &Origin) -> (usize, usize) {
    let count = |path: Option<&str>| {
        path.map_or(0, |path| path.split('/').filter(|p| !p.is_empty()).count())
    };
    (
        count(origin.package_path.as_deref()),
        count(origin.path.as_deref()),
    )
}

/// The Kptfile with the shortest package path and path.
#[must_use]
pub fn root_kptfile(list: &ResourceList) -> Option<ItemId> {
    let kptfiles = list.items().filter(|(_, resource)| resource.is_kptfile());
    kptfiles
        .min_by_key(|(_, resource)| depth(&resource.origin))
        .map(|(id, _)| id)
}

/// Whether elements of a list carry comments: above, behind or inside of them.
#[must_use]
pub fn has_comments(list: NodeRef<'_>) -> bool {
    let text = list.document.text;
    let Some(last) = list.items().last() else {
        return false;
    };
    // A comment on the line of the list's own key belongs to that.
    let mark = list.mark().unwrap_or(list.range().start);
    let line_end = |at: usize| memchr::memchr(b'\n', &text.as_bytes()[at..]).map(|n| at + n);
    let on_one_line = !text[mark..list.range().start].contains('\n');
    let start = match line_end(mark) {
        Some(end) if !on_one_line => end,
        _ => mark,
    };
    let end = line_end(last.range().end.max(start)).unwrap_or(text.len());
    list.document
        .comments()
        .any(|comment| comment.start >= start && comment.end <= end)
}

/// Takes kpt's two id annotations off an item, where its list elements with comments are moved,
/// put in or taken out: kpt would restore those comments by their old positions.
///
/// Only for items of a ResourceList; in a package's files the annotations are the user's own.
///
/// # Errors
/// As [`Editor::remove_entry`].
pub fn remove_ids<'d>(resource: NodeRef<'d>, editor: &mut Editor<'d, '_>) -> Result<(), EditError> {
    let metadata = resource.entry("metadata").map(|entry| entry.value);
    let annotations = metadata
        .and_then(|metadata| metadata.entry("annotations"))
        .map(|entry| entry.value);
    if let Some(annotations) = annotations.filter(|node| node.kind().is_mapping()) {
        for name in ID_ANNOTATIONS {
            editor.remove_entry(annotations, name)?;
        }
    }
    Ok(())
}
