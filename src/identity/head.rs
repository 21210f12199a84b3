//! Where the head of a resource ends: apiVersion, kind and metadata, where they stand first.

use crate::yaml::scan::{Bail, Events, Scalar, scan};
use crate::yaml::{NodeKind, line_start};

/// The bytes of a text from its start to behind the `metadata` of its first resource, which stands within `level` block
/// collections. Read alone they hold that metadata with its comments, as the text does. `None` if the scanner leaves them to
/// the general parser, or if nothing follows.
pub(crate) fn head(text: &str, level: usize) -> Option<&str> {
    let mut found = Head {
        text,
        level: level + 1,
        depth: 0,
        is_metadata: false,
        end: None,
    };
    // It stops where it has found the end, too.
    let _ = scan(text, &mut found);
    Some(&text[..found.end?])
}

/// The sink of the scanner's events: stops at the key behind `metadata`.
struct Head<'t> {
    text: &'t str,
    /// Open collections at the keys of the resource.
    level: usize,
    depth: usize,
    /// Whether the last key of the resource is `metadata`.
    is_metadata: bool,
    end: Option<usize>,
}

impl Events for Head<'_> {
    fn key(&mut self, key: Scalar) -> Result<(), Bail> {
        if self.depth != self.level {
            return Ok(());
        }
        if self.is_metadata {
            self.end = Some(line_start(self.text.as_bytes(), key.start));
            return Err(Bail);
        }
        self.is_metadata = &self.text[key.start..key.end] == "metadata";
        Ok(())
    }

    fn scalar(&mut self, _scalar: Scalar) -> Result<(), Bail> {
        Ok(())
    }

    fn open(&mut self, kind: NodeKind, _start: usize, _mark: Option<usize>) -> Result<(), Bail> {
        let is_above = self.depth < self.level;
        self.depth += 1;
        // Entries in braces have no lines of their own.
        if is_above && !kind.is_block_collection() {
            return Err(Bail);
        }
        Ok(())
    }

    fn close(&mut self, _kind: NodeKind, _end: usize) -> Result<(), Bail> {
        let is_resource = self.depth == self.level;
        self.depth -= 1;
        if is_resource { Err(Bail) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn a_head_ends_behind_metadata() {
        for (text, level, expected) in [
            (
                "# c\nkind: A\nmetadata: # d\n  name: a\n  labels:\n    metadata: b\n# e\nspec: {}\n",
                0,
                Some("spec"),
            ),
            (
                "- kind: A\n  metadata: {name: a}\n  'spec':\n    a: 1\n",
                1,
                Some("  'spec'"),
            ),
            (
                "spec:\n  metadata:\n    name: b\n  a: 1\nmetadata:\n  name: a\nkind: A\n",
                0,
                Some("kind"),
            ),
            ("metadata:\n  name: a\n", 0, None),
            ("kind: A\n---\nmetadata:\n  name: a\nspec: 1\n", 0, None),
            ("{metadata: {name: a}, spec: 1}\n", 0, None),
            ("metadata: &a\n  name: a\nspec: 1\n", 0, None),
            ("kind: A\nspec: 1\n", 0, None),
            ("- a\n", 0, None),
            ("a: 1\n", 1, None),
        ] {
            let expected =
                expected.map(|next| text.split_once(next).map_or(text, |(head, _)| head));
            assert_eq!(head(text, level), expected, "{text}");
        }
    }
}
