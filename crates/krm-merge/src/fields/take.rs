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

use krm_yaml::{
    Content, EditError, Editor, Fingerprints, NewValue, NodeKind, NodeRef, Part, PartOrder,
    ValueChange, has_comments,
};

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
    let prints = Prints {
        base: base.map(|base| Fingerprints::of(base, &state)),
        local: Fingerprints::of(local, &state),
        upstream: Fingerprints::of(upstream, &state),
    };
    let taken = Taken {
        prints: &prints,
        base,
        upstream,
    };
    editor.write(local, &taken)
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

struct Prints {
    base: Option<Fingerprints>,
    local: Fingerprints,
    upstream: Fingerprints,
}

/// Upstream's value, and the one that local's was made from.
struct Taken<'p, 'f> {
    prints: &'p Prints,
    base: Option<NodeRef<'f>>,
    upstream: NodeRef<'f>,
}

struct TakenParts<'d, 'f> {
    base: Siblings<'f>,
    local: Siblings<'d>,
    upstream: Siblings<'f>,
    /// For each local part, its position in base.
    was: Vec<Option<usize>>,
    /// For each part of upstream, its position in local.
    kept: Vec<Option<usize>>,
}

impl<'f> TakenParts<'_, 'f> {
    fn base_of(&self, at: usize) -> Option<Child<'f>> {
        self.base.get(self.was[self.kept[at]?]?)
    }
}

impl Taken<'_, '_> {
    fn is_equal(&self, local: NodeRef<'_>) -> bool {
        match (
            self.prints.local.get(local),
            self.prints.upstream.get(self.upstream),
        ) {
            (Some(a), Some(b)) if a != b => false,
            _ => local.equals(&self.upstream),
        }
    }
}

impl<'d, 'f> NewValue<'d, 'f> for Taken<'_, 'f> {
    type Parts = TakenParts<'d, 'f>;

    fn change(&self, local: NodeRef<'d>) -> Result<ValueChange<'f, Self::Parts>, EditError> {
        let Self {
            prints,
            base,
            upstream,
        } = *self;
        let is_literal =
            prints.local.get(local).is_some() && prints.upstream.get(upstream).is_some();
        let is_equal = self.is_equal(local);
        let is_mapping = local.kind().is_mapping();
        let is_like = |other: NodeRef<'_>| match is_mapping {
            true => other.kind().is_mapping(),
            false => local.kind().is_sequence() && other.kind().is_sequence(),
        };
        // If the style differs, local text is kept only if it has comments.
        let fits = local.kind() == upstream.kind() || !comments_of(local).is_empty();
        if is_literal && fits && is_like(upstream) {
            let pair = if is_mapping { equal_keys } else { align };
            let ours = Siblings::of(Some(local));
            let base = Siblings::of(base.filter(|base| is_like(*base)));
            let theirs = Siblings::of(Some(upstream));
            let kept = pair((&prints.local, &ours), (&prints.upstream, &theirs));
            if kept.iter().any(Option::is_some) {
                let was = match &prints.base {
                    Some(old) => pair((old, &base), (&prints.local, &ours)),
                    None => vec![None; ours.len()],
                };
                let mut order: PartOrder = kept.iter().copied().zip(0..).collect();
                // Equal mappings keep local's order of keys.
                if is_equal && ours.len() == theirs.len() {
                    order.sort_unstable();
                }
                let parts = TakenParts {
                    base,
                    local: ours,
                    upstream: theirs,
                    was,
                    kept,
                };
                return Ok(ValueChange::Parts(parts, order));
            }
        }
        Ok(match is_equal {
            true => ValueChange::None,
            false => ValueChange::Replaced(Content::Node(upstream), None),
        })
    }

    fn kept(&self, parts: &Self::Parts, at: usize, _: usize) -> Option<Self> {
        Some(Self {
            prints: self.prints,
            base: parts.base_of(at).map(|base| base.value),
            upstream: parts.upstream.get(at)?.value,
        })
    }

    fn new_part(&self, parts: &Self::Parts, at: usize) -> Result<Part<'f>, EditError> {
        let child = parts.upstream.get(at);
        let child = child.unwrap_or_else(|| Child::of(self.upstream));
        Ok(child.part(Content::Node(child.value)))
    }

    fn write_comments(&self, parts: &Self::Parts, at: usize, editor: &mut Editor<'d, 'f>) {
        let local = parts.kept[at].and_then(|own| parts.local.get(own));
        if let (Some(base), Some(local), Some(upstream)) =
            (parts.base_of(at), local, parts.upstream.get(at))
        {
            take_comments(base, local, upstream, editor);
        }
    }
}
