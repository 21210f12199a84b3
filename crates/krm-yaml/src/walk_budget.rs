//! The budget of walks over values: how many nodes they may read through aliases and merge keys.
//!
//! ```yaml
//! a: &a [x, x]        # written: its nodes are free
//! b: &b [*a, *a]      # costs 6: two copies of three nodes
//! c: [*b, *b]         # costs 14
//! d: &d {e: *d}       # refused: it has no end
//! ```
//!
//! A text has as many nodes as it has room for, so each walk over what is written is as long as the input. Aliases and
//! merge keys make a value longer than its text, by any factor, or endless. Whoever walks over values pays for a document
//! once, before the walk: then no walk needs another limit. To pay takes one pass over the written nodes, however
//! large the value is.
//!
//! Source: contract, What comes from data; Bad input.

use std::collections::HashMap;

use thiserror::Error;

use super::document::Document;
use super::error::Location;
use super::node::NodeRef;
use super::tree::{MAX_DEPTH, NodeId, NodeKind};

/// Depth limit of a value with its aliases, so that recursive walks do not overflow the stack.
const MOST_LEVELS: u32 = 2 * MAX_DEPTH as u32;

/// What walks may still read through aliases and merge keys.
#[derive(Debug, Clone)]
pub struct WalkBudget {
    most: u64,
    left: u64,
}

/// Why a value cannot be walked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WalkError {
    /// The budget does not suffice.
    #[error(
        "the aliases expand to too many values: expected at most {most} nodes behind all aliases and merge keys, found \
         more; write the values out, or repeat them less often"
    )]
    TooManyNodes { most: u64 },
    /// An alias refers to a collection that contains it.
    #[error(
        "expected aliases outside of the values that they refer to, found one inside at {place}; write the \
         value out instead"
    )]
    Endless { place: Location },
    /// Collections within collections, through aliases.
    #[error(
        "expected at most {MOST_LEVELS} nested collections with aliases written out, found more at {place}; write the \
         values out with fewer levels"
    )]
    TooDeep { place: Location },
}

impl WalkBudget {
    /// The budget of a run, whatever the size of its input is, and its limit.
    const FIXED: u64 = 1_000_000;
    const MOST: u64 = 10_000_000;
    /// The same for walks that keep what they read.
    const FIXED_COPIES: u64 = 1 << 16;
    const BYTES_PER_COPY: u64 = 2;

    /// The budget for texts of so many bytes.
    #[must_use]
    pub fn of(bytes: usize) -> Self {
        Self::limited((Self::FIXED + bytes as u64).min(Self::MOST))
    }

    /// The budget of walks that keep the nodes as values, which take memory.
    #[must_use]
    pub fn of_copies(bytes: usize) -> Self {
        let copies = Self::FIXED_COPIES + bytes as u64 / Self::BYTES_PER_COPY;
        Self::limited(copies.min(Self::MOST))
    }

    fn limited(most: u64) -> Self {
        Self { most, left: most }
    }

    /// Pays for all walks over a value.
    ///
    /// # Errors
    /// [`WalkError`]: the value has no end, or the budget does not suffice. Then nothing is paid.
    pub fn pay_for(&mut self, root: NodeRef<'_>) -> Result<(), WalkError> {
        let cost = cost(root)?;
        let left = self.left.checked_sub(cost);
        self.left = left.ok_or(WalkError::TooManyNodes { most: self.most })?;
        Ok(())
    }
}

/// How many nodes a value has beyond those that are written within it.
fn cost(root: NodeRef<'_>) -> Result<u64, WalkError> {
    let tree = root.document.tree;
    if let Some(expansion) = tree.expansion.as_deref() {
        let ids = root.ids();
        let first = expansion
            .copies
            .partition_point(|copy| copy.end <= ids.start);
        let copies = expansion.copies[first..].iter();
        let within = copies.take_while(|copy| copy.start < ids.end);
        let sizes = within.map(|copy| copy.end.min(ids.end) - copy.start.max(ids.start));
        return Ok(sizes.map(u64::from).sum());
    }
    if !tree.has_references() {
        return Ok(0);
    }
    AliasCosts::of(root)?.beyond(root)
}

/// The sizes of values with their aliases written out. An anchor comes before its aliases, so that one pass suffices.
struct AliasCosts<'d> {
    document: Document<'d>,
    /// The root of the document, to which its aliases are confined.
    first: u32,
    /// For each node from the root on, the size of all nodes before it.
    sums: Vec<u64>,
    /// The levels below each value that an alias refers to.
    levels: HashMap<u32, u32>,
}

impl<'d> AliasCosts<'d> {
    /// Reads the nodes of the document that holds a node, up to the end of the node.
    fn of(node: NodeRef<'d>) -> Result<Self, WalkError> {
        let first = std::iter::successors(Some(node), NodeRef::parent).last();
        let first = first.unwrap_or(node).id.0;
        let mut costs = Self {
            document: node.document,
            first,
            sums: Vec::with_capacity((node.ids().end - first) as usize + 1),
            levels: HashMap::new(),
        };
        let mut sum = 0_u64;
        for id in first..node.ids().end {
            costs.sums.push(sum);
            let size = costs.size(node.document.node(NodeId(id)))?;
            sum = sum.saturating_add(size);
        }
        costs.sums.push(sum);
        Ok(costs)
    }

    /// The size of the nodes with these ids.
    fn sum(&self, ids: std::ops::Range<u32>) -> u64 {
        let before = |id: u32| self.sums[(id - self.first) as usize];
        before(ids.end).saturating_sub(before(ids.start))
    }

    /// The size of a scalar or an alias, or of a collection without its parts.
    fn size(&mut self, node: NodeRef<'d>) -> Result<u64, WalkError> {
        let target = node.resolved();
        if node.kind() != NodeKind::Alias || target.id == node.id {
            return Ok(1);
        }
        let place = || node.location();
        if target.ids().contains(&node.id.0) {
            return Err(WalkError::Endless { place: place() });
        }
        let levels = match self.levels.get(&target.id.0) {
            Some(levels) => *levels,
            None => self.levels_of(target),
        };
        self.levels.insert(target.id.0, levels);
        if levels > MOST_LEVELS {
            return Err(WalkError::TooDeep { place: place() });
        }
        Ok(self.sum(target.ids()))
    }

    /// The levels of a value with its aliases, itself included.
    fn levels_of(&self, node: NodeRef<'d>) -> u32 {
        // The ids at which the collections around the current node end.
        let mut around: Vec<u32> = Vec::new();
        let mut most = 0;
        for id in node.ids() {
            while around.last().is_some_and(|end| *end <= id) {
                around.pop();
            }
            let node = self.document.node(NodeId(id));
            let below = self.levels.get(&node.resolved().id.0).copied();
            let below = below.filter(|_| node.kind() == NodeKind::Alias);
            around.push(node.ids().end);
            most = most.max(around.len() as u32 + below.unwrap_or(0));
        }
        most
    }

    fn beyond(&self, root: NodeRef<'d>) -> Result<u64, WalkError> {
        if self.levels_of(root) > MOST_LEVELS {
            let place = root.location();
            return Err(WalkError::TooDeep { place });
        }
        let ids = root.ids();
        // To read what comes before the value in its document is a step of the walk, too.
        let before = u64::from(ids.start - self.first);
        let beyond = self.sum(ids.clone()).saturating_sub(ids.len() as u64);
        Ok(beyond.saturating_add(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnedDocument;

    fn paid(text: &str, most: u64) -> Result<u64, WalkError> {
        let document = OwnedDocument::parse(text.to_owned()).expect("YAML");
        let root = document.root().expect("a document");
        let mut budget = WalkBudget::limited(most);
        budget.pay_for(root).map(|()| budget.most - budget.left)
    }

    /// Each level has two aliases of the level above.
    fn doubling(levels: usize) -> String {
        let level = |at: usize| format!("a{}: &a{} [*a{at}, *a{at}]\n", at + 1, at + 1);
        "a0: &a0 [x, x]\n".to_owned() + &(0..levels).map(level).collect::<String>()
    }

    #[test]
    fn a_written_name_is_free_afterwards() {
        assert_eq!(paid("a: [b, {c: d}]\n", 0), Ok(0));
        assert_eq!(paid("a: &a [b, {c: d}]\n", 0), Ok(0));
    }

    #[test]
    fn a_copy_costs_its_nodes() {
        assert_eq!(paid("a: &a [x, x]\nb: *a\n", 100), Ok(3));
        assert_eq!(paid("a: &a {k: v}\nb: {<<: *a}\n", 100), Ok(2));
    }

    /// Also in a tree that the parser did not expand, since it would be too large.
    #[test]
    fn a_value_costs_what_its_aliases_expand_to() {
        for levels in [1, 5, 10, 30, 60] {
            let found = paid(&doubling(levels), u64::MAX);
            let size = |level: u32| 2_u64.pow(level + 2) - 1;
            let expected: u64 = (0..levels as u32).map(|level| 2 * size(level)).sum();
            // In a tree that is not expanded, an alias is a node itself.
            let aliases = 2 * levels as u64;
            assert!(
                [Ok(expected), Ok(expected - aliases)].contains(&found),
                "{levels}: {found:?}, expected {expected}"
            );
        }
    }

    #[test]
    fn nothing_is_paid_beyond_the_budget() {
        let text = doubling(30);
        let document = OwnedDocument::parse(text).expect("YAML");
        let small = OwnedDocument::parse(doubling(1)).expect("YAML");
        let mut budget = WalkBudget::of(0);
        let refused = budget.pay_for(document.root().expect("a document"));
        let most = WalkBudget::FIXED;
        assert_eq!(refused, Err(WalkError::TooManyNodes { most }));
        assert_eq!(budget.pay_for(small.root().expect("a document")), Ok(()));
    }

    #[test]
    fn endless_and_deep_values_are_refused() {
        let endless = |text: &str| matches!(paid(text, u64::MAX), Err(WalkError::Endless { .. }));
        assert!(endless("b: &b {c: *b}\n"));
        assert!(endless("b: &b {c: *b}\n<<: *b\n"));
        assert!(endless("a: &a [*a]\n"));
        assert!(endless("a: &a\n  b: &b\n    c: *a\n    d: *b\n"));
        let chain = |at: usize| format!("a{}: &a{} [*a{at}]\n", at + 1, at + 1);
        let deep = "a0: &a0 [x]\n".to_owned() + &(0..2000).map(chain).collect::<String>();
        let found = paid(&deep, u64::MAX);
        assert!(matches!(found, Err(WalkError::TooDeep { .. })), "{found:?}");
    }

    /// To find the cost takes a pass, not a walk over the value.
    #[test]
    fn the_cost_of_a_long_value_is_found_in_one_pass() {
        let text = doubling(400);
        let found = paid(&text, u64::MAX / 2);
        assert!(
            matches!(found, Err(WalkError::TooManyNodes { .. })),
            "{found:?}"
        );
    }
}
