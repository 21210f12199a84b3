//! The value of a node, with aliases and merge keys written out within limits.

use super::expand::insert_merged;
use super::node::{NodeRef, ScalarType};
use super::tree::{MAX_DEPTH, NodeKind};
use super::value::Value;

/// Limit of the nodes that one read may visit (contract, Bad input).
const MAX_ALIAS_NODES: usize = 10_000_000;

/// Memory limit for written-out aliases: a fixed part, and a part for each byte of the text. A few
/// bytes of aliases must not become hundreds of megabytes.
const ALIAS_BYTES: usize = 8 << 20;
const ALIAS_BYTES_PER_BYTE: usize = 1;

/// Memory of a node in a value, without its text.
const NODE_BYTES: usize = 2 * size_of::<Value>();

/// Depth limit of a value whose aliases are written out, so that recursive walks do not overflow the stack.
const MAX_VALUE_DEPTH: usize = 2 * MAX_DEPTH;

/// The rest of the limits while a value is read.
struct Budget {
    nodes: usize,
    /// Bytes that written-out aliases may still take.
    bytes: usize,
    /// Number of aliases around the current node.
    aliases: usize,
    /// Number of nodes that the caller still needs. At 0, the rest of the value is left out.
    needed_nodes: usize,
}

impl Budget {
    /// Counts a node. Its depth counts as bytes, too, because its lines are indented by it when they are written.
    fn take(&mut self, node: NodeRef<'_>, depth: usize) -> Option<()> {
        self.nodes = self.nodes.checked_sub(1)?;
        self.needed_nodes = self.needed_nodes.saturating_sub(1);
        if self.aliases > 0 {
            let text = node.scalar_text().map_or(0, str::len);
            let bytes = NODE_BYTES + text + 2 * depth;
            self.bytes = self.bytes.checked_sub(bytes)?;
        }
        Some(())
    }
}

impl NodeRef<'_> {
    /// The value, with aliases and merge keys written out.
    ///
    /// `None` if that would take too much memory, or if an alias refers to itself.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        self.beginning(usize::MAX)
    }

    /// The value, or only its beginning if it has more than `nodes` nodes. Written out, the beginning equals the start
    /// of the whole value for at least `nodes` bytes.
    #[must_use]
    pub fn beginning(&self, nodes: usize) -> Option<Value> {
        let per_byte = self
            .document
            .text
            .len()
            .saturating_mul(ALIAS_BYTES_PER_BYTE);
        let mut budget = Budget {
            nodes: MAX_ALIAS_NODES,
            bytes: ALIAS_BYTES.saturating_add(per_byte),
            aliases: 0,
            // The entries of a merge key are inserted before the entries that follow it, so none can be left out.
            needed_nodes: if self.document.tree.merges {
                usize::MAX
            } else {
                nodes
            },
        };
        self.value_within(&mut budget, 0)
    }

    fn value_within(&self, budget: &mut Budget, depth: usize) -> Option<Value> {
        budget.take(*self, depth)?;
        if depth > MAX_VALUE_DEPTH {
            return None;
        }
        let node = self.raw();
        if node.kind == NodeKind::Alias {
            // The depth limit stops an alias within the node that it refers to.
            budget.aliases += 1;
            let value = self.resolved().value_within(budget, depth + 1);
            budget.aliases -= 1;
            return value;
        }
        // Loops instead of closures, which would take several stack frames for each level.
        if node.kind.is_mapping() {
            let merge = self.document.merge_key(*self).map(|merge| merge.key.id);
            let mut brought = None;
            let mut entries = Vec::new();
            for entry in self.entries() {
                if budget.needed_nodes == 0 {
                    break;
                }
                let key = entry.key.value_within(budget, depth + 1)?;
                let value = entry.value.value_within(budget, depth + 1)?;
                if merge == Some(entry.key.id) {
                    brought = Some((entries.len(), value))
                } else {
                    entries.push((key, value))
                }
            }
            if let Some((at, brought)) = brought {
                insert_merged(&mut entries, at, brought);
            }
            return Some(Value::Mapping(entries));
        }
        if node.kind.is_sequence() {
            let mut items = Vec::new();
            for item in self.items() {
                if budget.needed_nodes == 0 {
                    break;
                }
                items.push(item.value_within(budget, depth + 1)?);
            }
            return Some(Value::Sequence(items));
        }
        self.scalar_value()
    }

    /// Whether two nodes are both absent, or have the same value.
    pub fn same(one: Option<NodeRef<'_>>, other: Option<NodeRef<'_>>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => one.equals(&other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// Whether two nodes have the same value, however they are written.
    #[must_use]
    pub fn equals(&self, other: &NodeRef<'_>) -> bool {
        let (own, other) = (self.resolved(), other.resolved());
        if own.has_source_of(other) {
            return true;
        }
        let merges = |node: &NodeRef<'_>| node.document.tree.merges;
        if !merges(&own)
            && !merges(&other)
            && let Some(alike) = own.equals_in_order(other)
        {
            return alike;
        }
        match (own.value(), other.value()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }

    /// Whether two nodes have the same source, with the same meaning.
    pub fn has_source_of(&self, other: NodeRef<'_>) -> bool {
        let (kind, source) = (self.kind(), self.source());
        let is_at_end = |node: &NodeRef<'_>| node.range().end == node.document.text.len();
        // The source does not include the indentation of its first line. A block scalar at the end of a text can have
        // another meaning if the text ends without a line break.
        let lines_mean_the_same = || {
            kind.is_block_collection()
                && self.column() == other.column()
                && !is_at_end(self)
                && !is_at_end(&other)
        };
        kind == other.kind()
            && source == other.source()
            && self.properties() == other.properties()
            && memchr::memchr2(b'*', b'!', source.as_bytes()).is_none()
            && (!source.contains('\n') || lines_mean_the_same())
    }

    /// Compares two nodes without merge keys part by part, which takes no memory, unlike values. `None` if that does
    /// not decide: for aliases, and for mappings with other keys or another order of keys.
    fn equals_in_order(&self, other: NodeRef<'_>) -> Option<bool> {
        let kinds = (self.kind(), other.kind());
        let is_any = |is: fn(NodeKind) -> bool| is(kinds.0) || is(kinds.1);
        let are_both = |is: fn(NodeKind) -> bool| is(kinds.0) && is(kinds.1);
        if is_any(|kind| kind == NodeKind::Alias) {
            return None;
        }
        if are_both(NodeKind::is_mapping) || are_both(NodeKind::is_sequence) {
            return self.parts_equal_in_order(other);
        }
        if is_any(|kind| kind.is_mapping() || kind.is_sequence()) {
            return Some(false);
        }
        Some(self.is_scalar_like(other))
    }

    fn parts_equal_in_order(&self, other: NodeRef<'_>) -> Option<bool> {
        let (mut parts, mut others) = (self.children(), other.children());
        let mut is_key = self.kind().is_mapping();
        let mut are_alike = Some(true);
        loop {
            let (part, other) = match (parts.next(), others.next()) {
                (None, None) => return are_alike,
                (Some(part), Some(other)) => (part, other),
                _ => return Some(false),
            };
            match part.equals_in_order(other) {
                Some(true) => {}
                _ if is_key => return None,
                Some(false) => return Some(false),
                None => are_alike = None,
            }
            is_key = !is_key && self.kind().is_mapping();
        }
    }

    fn is_scalar_like(&self, other: NodeRef<'_>) -> bool {
        let (Some(text), Some(other_text)) = (self.scalar_text(), other.scalar_text()) else {
            return false;
        };
        let types = (self.scalar_type(), other.scalar_type());
        if types == (ScalarType::String, ScalarType::String)
            || types.0 == types.1 && text == other_text
        {
            return text == other_text;
        }
        // Most texts are strings, and need no copy.
        match (self.as_str(), other.as_str()) {
            (Some(text), Some(other_text)) => text == other_text,
            (None, None) => self.scalar_value() == other.scalar_value(),
            _ => false,
        }
    }

    /// Whether this contains an alias, a merge key, or a key that is a collection.
    pub fn is_complex(&self) -> bool {
        let nodes = self.ids().map(|id| self.at(id));
        let mut complex = nodes.filter(|node| match node.kind() {
            NodeKind::Alias => true,
            _ if self.document.merge_key(*node).is_some() => true,
            kind if kind.is_mapping() => node
                .entries()
                .any(|entry| !matches!(entry.key.kind(), NodeKind::Scalar(_))),
            _ => false,
        });
        complex.next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Document, ParseOptions, Tree};

    #[test]
    fn nodes_are_equal_as_their_values_are() {
        const TEXTS: [&str; 24] = [
            "a",
            "'a'",
            "1",
            "'1'",
            "0x1",
            "1.0",
            "null",
            "~",
            "[]",
            "{}",
            "[1, a]",
            "- 1\n- 'a'\n",
            "- 1\n",
            "- 1\n- a\n- b\n",
            "{a: 1, b: 2}",
            "b: 2\na: 1\n",
            "a: 1\n",
            "a: 1\nb: 3\n",
            "{a: 1, c: 2}",
            "- {a: 1, b: 2}\n- 3\n",
            "- {b: 2, a: 1}\n- 3\n",
            "- {b: 2, a: 1}\n- 4\n",
            "- &x {a: 1}\n- *x\n",
            "- {a: 1}\n- {a: 1}\n",
        ];
        let tree = |text| Tree::parse(text, ParseOptions::default()).expect("YAML");
        let trees = TEXTS.map(tree);
        let all = trees.iter().zip(TEXTS);
        let all: Vec<_> = all
            .map(|(tree, text)| Document::new(text, tree).root(0).expect("a root"))
            .collect();
        for one in &all {
            for other in &all {
                let texts = [one, other].map(|node| node.document.text);
                let are_equal = one.value() == other.value();
                assert_eq!(one.equals(other), are_equal, "{texts:?}");
            }
        }
    }
}
