//! Duplicate keys of mappings.

use std::collections::HashSet;

use super::Builder;
use crate::document::Document;
use crate::error::ParseError;
use crate::node::NodeRef;
use crate::scalar::Reading;
use crate::tree::{NONE, NodeId, NodeKind};

impl Builder<'_> {
    pub(super) fn refuse_duplicate_keys(&self, keys: &[u32]) -> Result<(), ParseError> {
        self.refuse_null_keys(keys)?;
        let Some(twice) = self.equal_key(keys) else {
            return Ok(());
        };
        let key = &self.tree.nodes[keys[twice] as usize];
        let (start, end) = (key.start as usize, key.end as usize);
        let name = match key.kind {
            NodeKind::Scalar(_) => self.tree.decoded(self.text, key),
            _ => &self.text[start..end],
        };
        let is_duplicate_key = true;
        Err(ParseError {
            is_duplicate_key,
            ..self.error(
                start,
                format!("the key `{name}` appears twice in this mapping"),
            )
        })
    }

    /// Refuses keys that cannot be strings, where keys must be.
    fn refuse_null_keys(&self, keys: &[u32]) -> Result<(), ParseError> {
        if self.options.reading == Reading::Core {
            return Ok(());
        }
        let document = Document::new(self.text, &self.tree);
        let mut keys = keys.iter().map(|key| document.node(NodeId(*key)));
        match keys.find(NodeRef::is_null) {
            Some(key) => Err(self.error(
                key.range().start,
                "expected a string as key, found null".to_owned(),
            )),
            None => Ok(()),
        }
    }

    pub(super) fn keys(&self, mapping: u32) -> Vec<u32> {
        let nodes = &self.tree.nodes;
        let end = nodes[mapping as usize].next;
        let mut keys = Vec::new();
        let mut child = mapping + 1;
        while child < end {
            keys.push(child);
            let value = nodes[child as usize].next;
            child = nodes.get(value as usize).map_or(end, |value| value.next);
        }
        keys
    }

    /// The position of the first key that equals a previous one.
    fn equal_key(&self, keys: &[u32]) -> Option<usize> {
        let document = Document::new(self.text, &self.tree);
        let key = |at: usize| {
            let alias = document.node(NodeId(keys[at]));
            let target = alias.resolved();
            // A collection that is a key within itself has no end yet.
            if target.raw().end == NONE {
                alias
            } else {
                target
            }
        };
        let is_scalar = |at: &usize| matches!(key(*at).kind(), NodeKind::Scalar(_));
        let (scalars, others): (Vec<usize>, Vec<usize>) = (0..keys.len()).partition(is_scalar);
        let mut seen = HashSet::new();
        let first = scalars
            .into_iter()
            .find(|at| !seen.insert(key(*at).key_value()));
        let mut others: Vec<(&str, usize)> =
            others.iter().map(|at| (key(*at).source(), *at)).collect();
        // KRM has no collections as keys, so they are equal only if they are written alike. They are sorted by length
        // first, so that the texts of keys within keys are not compared again and again.
        others.sort_unstable_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        let pairs = others.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        pairs
            .map(|pair| pair[0].1.max(pair[1].1))
            .chain(first)
            .min()
    }
}

#[cfg(test)]
mod tests {
    use crate::{ParseOptions, Tree};

    #[test]
    fn keys_are_equal_in_any_spelling() {
        let many: String = (0..100).map(|n| format!("{n:#x}: a\n")).collect();
        for (text, line, twice) in [
            ("1: a\n2: b\n0x2: c\n0x1: d\n".to_owned(), 3, "0x2"),
            ("1: a\n'1': b\n\"1\": c\n".to_owned(), 3, "1"),
            ("a: b\n~: c\nnull: d\n".to_owned(), 3, "null"),
            ("1.5: a\n15e-1: b\n".to_owned(), 2, "15e-1"),
            (format!("{many}57: b\n3: c\n"), 101, "57"),
        ] {
            let error = Tree::parse(&text, ParseOptions::default()).expect_err(&text);
            let message = format!("the key `{twice}` appears twice in this mapping");
            assert_eq!((error.line, &*error.message), (line, &*message));
        }
        let unique = format!("{many}'0x1': b\n'1': c\n");
        Tree::parse(&unique, ParseOptions::default()).expect("other keys");
    }
}
