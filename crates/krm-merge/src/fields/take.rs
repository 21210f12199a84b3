//! Replaces a local value with upstream's value. Parts that are equal in both keep the local text with its comments.
//!
//! ```yaml
//! # local                   # upstream     # merged
//! - get # for the probe     - get          - get # for the probe
//! - 'list'                  - watch        - watch
//!                           - list         - 'list'
//! ```

use std::hash::RandomState;

use super::align::{align, equal_keys};
use super::child::{Child, Siblings};
use super::comments::{comments_of, take_comments};

use krm_core::kptfile::has_comments;
use krm_yaml::{Content, EditError, Editor, Fingerprints, NodeKind, NodeRef, Part};

/// Takes the comments within an equal value that only upstream changed.
pub(super) fn take_inner_comments<'d, 'f>(
    base: Option<Child<'f>>,
    local: Child<'d>,
    upstream: Child<'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<(), EditError> {
    let Some(base) = base else { return Ok(()) };
    let kind = local.value.kind();
    if !kind.is_block_collection()
        || kind != upstream.value.kind()
        || comments_of(base.value) == comments_of(upstream.value)
        || !local.value.equals(&upstream.value)
    {
        return Ok(());
    }
    take(Some(base), local, upstream, editor).map(|_| ())
}

/// Whether only upstream changed comments in a value that has or gets flow style. Its parts do not have separate lines,
/// so the value is taken as one.
pub(super) fn has_flow_comments_to_take(
    base: Child<'_>,
    local: Child<'_>,
    upstream: Child<'_>,
) -> bool {
    let (base, local, upstream) = (base.value, local.value, upstream.value);
    let are_lines = local.kind().is_block_collection() && upstream.kind().is_block_collection();
    let is_collection = upstream.kind().is_mapping() || upstream.kind().is_sequence();
    !are_lines
        && is_collection
        && comments_of(base) != comments_of(upstream)
        && is_written_alike(base, local)
}

/// Changes the local value to upstream's value. Returns whether a list with comments got, lost or moved elements.
pub(super) fn take<'d, 'f>(
    base: Option<Child<'f>>,
    local: Child<'d>,
    upstream: Child<'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<bool, EditError> {
    let (base, local, upstream) = (base.map(|base| base.value), local.value, upstream.value);
    if local.has_alias_or_merge_key() && is_written_alike(local, upstream) {
        take_through_aliases(local, upstream, editor)?;
        return Ok(false);
    }
    let is_scalar = !local.kind().is_mapping() && !local.kind().is_sequence();
    // In JSON on several lines, what is the same in both keeps its lines.
    let is_commented = || {
        [local, upstream]
            .into_iter()
            .any(|node| !comments_of(node).is_empty())
    };
    let has_flow_lines =
        !local.kind().is_block_collection() && local.source().contains('\n') && !is_commented();
    let is_unchanged = || base.is_some_and(|base| is_written_alike(base, local));
    if is_scalar || !has_flow_lines && is_unchanged() {
        editor.replace(local, Content::Node(upstream))?;
        return Ok(local.kind().is_sequence() && has_comments(local));
    }
    let state = RandomState::new();
    let mut taking = Taking {
        base: base.map(|base| Fingerprints::of(base, &state)),
        local: Fingerprints::of(local, &state),
        upstream: Fingerprints::of(upstream, &state),
        moves_comments: false,
    };
    taking.node(base, local, upstream, editor)?;
    Ok(taking.moves_comments)
}

/// Gives the aliases in a value upstream's values. The text is the same in upstream, so only aliases differ. An alias
/// is kept if its anchor gets the same value.
fn take_through_aliases<'d, 'f>(
    local: NodeRef<'d>,
    upstream: NodeRef<'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<(), EditError> {
    let mut pending = vec![(local, upstream)];
    while let Some((local, upstream)) = pending.pop() {
        if local.equals(&upstream) {
            continue;
        }
        if local.written().kind() == NodeKind::Alias {
            editor.replace(local, Content::Node(upstream))?;
            continue;
        }
        pending.extend(local.items().zip(upstream.items()));
        let entries = local.entries().zip(upstream.entries());
        pending.extend(entries.map(|(own, new)| (own.value, new.value)));
    }
    Ok(())
}

/// Whether two nodes have the same text, including comments, apart from their indentation.
fn is_written_alike(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.kind() == b.kind()
        && a.properties() == b.properties()
        && comments_of(a) == comments_of(b)
        && lines_of(a).eq(lines_of(b))
}

/// The lines of a node, without the indentation that they have in common.
fn lines_of<'a>(node: NodeRef<'a>) -> impl Iterator<Item = &'a str> {
    let column = node.column();
    node.source().lines().enumerate().map(move |(at, line)| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let cut = if at == 0 { 0 } else { indent.min(column) };
        &line[cut..]
    })
}

/// For each child of upstream, the position of the same child in local, and the position of that child in base.
type ChildPairs = Vec<Option<(usize, Option<usize>)>>;

struct Taking {
    base: Option<Fingerprints>,
    local: Fingerprints,
    upstream: Fingerprints,
    moves_comments: bool,
}

impl Taking {
    fn node<'d, 'f>(
        &mut self,
        base: Option<NodeRef<'f>>,
        local: NodeRef<'d>,
        upstream: NodeRef<'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<(), EditError> {
        let is_literal = self.local.get(local).is_some() && self.upstream.get(upstream).is_some();
        let is_equal = self.is_equal(local, upstream);
        let (own, their) = (local.kind(), upstream.kind());
        let are_collections =
            own.is_mapping() && their.is_mapping() || own.is_sequence() && their.is_sequence();
        // If the style differs, local text is kept only if it has comments.
        let fits = own == their || !comments_of(local).is_empty();
        let is_done = is_literal
            && fits
            && are_collections
            && self.collection(base, local, upstream, editor)?;
        if is_done || is_equal {
            return Ok(());
        }
        self.arranges(local);
        editor.replace(local, Content::Node(upstream))
    }

    fn arranges(&mut self, local: NodeRef<'_>) {
        self.moves_comments |= local.kind().is_sequence() && has_comments(local);
    }

    fn is_equal(&self, local: NodeRef<'_>, upstream: NodeRef<'_>) -> bool {
        match (self.local.get(local), self.upstream.get(upstream)) {
            (Some(a), Some(b)) if a != b => false,
            _ => local.equals(&upstream),
        }
    }

    /// Takes a mapping or list part by part. Returns whether any local part is kept.
    fn collection<'d, 'f>(
        &mut self,
        base: Option<NodeRef<'f>>,
        local: NodeRef<'d>,
        upstream: NodeRef<'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<bool, EditError> {
        let is_mapping = local.kind().is_mapping();
        let base = base.filter(|base| {
            if is_mapping {
                base.kind().is_mapping()
            } else {
                base.kind().is_sequence()
            }
        });
        let old = Siblings::of(base);
        let (ours, theirs) = (Siblings::of(Some(local)), Siblings::of(Some(upstream)));
        let pair = if is_mapping { equal_keys } else { align };
        let kept = pair((&self.local, &ours), (&self.upstream, &theirs));
        // For each local child, its position in base.
        let was = match &self.base {
            Some(base) => pair((base, &old), (&self.local, &ours)),
            None => vec![None; ours.len()],
        };
        let pairs = kept.into_iter().map(|kept| kept.map(|at| (at, was[at])));
        let pairs: ChildPairs = pairs.collect();
        self.children((local, upstream), [&old, &theirs], &ours, &pairs, editor)
    }

    /// Returns whether any local part is kept.
    fn children<'d, 'f>(
        &mut self,
        (local, upstream): (NodeRef<'d>, NodeRef<'f>),
        [old, theirs]: [&Siblings<'f>; 2],
        ours: &Siblings<'d>,
        pairs: &[Option<(usize, Option<usize>)>],
        editor: &mut Editor<'d, 'f>,
    ) -> Result<bool, EditError> {
        if pairs.iter().all(Option::is_none) {
            return Ok(false);
        }
        let mut stays = ours.len() == theirs.len();
        for (at, (child, pair)) in theirs.iter().zip(pairs).enumerate() {
            let own = pair.and_then(|(own, was)| Some((own, ours.get(own)?, was)));
            let Some((place, own, was)) = own else {
                stays = false;
                continue;
            };
            stays &= place == at;
            let base = was.and_then(|was| old.get(was));
            let value = base.map(|base| base.value);
            self.node(value, own.value, child.value, editor)?;
            if let Some(base) = base {
                take_comments(base, own, child, editor);
            }
        }
        // Equal mappings keep local's order of keys.
        let is_equal = ours.len() == theirs.len() && self.is_equal(local, upstream);
        if !stays && !is_equal {
            self.arranges(local);
            let parts = theirs.iter().zip(pairs).map(|(child, pair)| match pair {
                Some((own, _)) => Part::Kept(*own),
                None => child.part(Content::Node(child.value)),
            });
            editor.arrange(local, parts)?;
        }
        Ok(true)
    }
}
