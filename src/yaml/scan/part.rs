//! Some lines of a block collection, read without the text around them.
//!
//! What the scanner makes of a line depends on the columns of the collections that are open, on nothing else above it. So
//! lines that are a collection when they stand alone are entries of the same kind of collection at the same column.

use super::{Bail, Checker, Events, Scalar, scan};
use crate::yaml::limits::Limits;
use crate::yaml::tree::NodeKind;

/// What lines of a block collection hold.
#[derive(Debug)]
pub(crate) struct Part<'t> {
    pub(crate) kind: NodeKind,
    /// Where the first key or dash stands.
    pub(crate) start: usize,
    /// The keys of a mapping.
    pub(crate) keys: Vec<&'t [u8]>,
}

/// Reads whole lines, of which `depth` collections stand around the one that they are part of. `None` if they are not
/// entries or items of one block collection, or if the scanner cannot tell.
pub(crate) fn part(lines: &str, depth: usize) -> Option<Part<'_>> {
    let mut reader = Reader {
        checker: Checker::new(lines, depth, Limits::of(lines)),
        open: 0,
        is_marked: false,
        found: None,
    };
    scan(lines, &mut reader).ok()?;
    let is_block = |part: &Part<'_>| part.kind.is_block_collection();
    reader.found.filter(is_block).filter(|_| !reader.is_marked)
}

struct Reader<'t> {
    checker: Checker<'t>,
    /// Number of collections that are open.
    open: usize,
    /// Whether a document begins or ends with a marker.
    is_marked: bool,
    found: Option<Part<'t>>,
}

impl Events for Reader<'_> {
    fn document(&mut self, _start: usize, body: usize) {
        self.is_marked |= body > 0;
    }

    fn key(&mut self, key: Scalar) -> Result<(), Bail> {
        let name = self.checker.add_key(key)?;
        if let Some(part) = self.found.as_mut().filter(|_| self.open == 1) {
            part.keys.push(name);
        }
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar) -> Result<(), Bail> {
        self.checker.scalar(scalar)
    }

    fn open(&mut self, kind: NodeKind, start: usize, mark: Option<usize>) -> Result<(), Bail> {
        self.open += 1;
        self.found.get_or_insert_with(|| Part {
            kind,
            start,
            keys: Vec::new(),
        });
        self.checker.open(kind, start, mark)
    }

    fn close(&mut self, kind: NodeKind, end: usize) -> Result<(), Bail> {
        self.open -= 1;
        self.checker.close(kind, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_entries_of_one_block_collection_or_nothing() {
        let read = |lines| part(lines, 0).map(|part| (part.start, part.keys.join(&b' ')));
        for (lines, expected) in [
            ("a: 1\nb:\n  c: 2\n", Some((0, "a b"))),
            ("  a: {b: 1}\n\n  'c': |\n    d\n", Some((2, "a c"))),
            ("# e\n  - a: 1\n  - b\n", Some((6, ""))),
            ("a: 1\na: 2\n", None),
            ("  a: 1\nb: 2\n", None),
            ("- a\nb: 2\n", None),
            ("a: 1\n---\nb: 1\n", None),
            ("---\na: 1\n", None),
            ("{a: 1}\n", None),
            ("a\n", None),
            ("# a\n", None),
            ("a: *b\n", None),
            ("", None),
        ] {
            let expected =
                expected.map(|(start, keys): (usize, &str)| (start, keys.as_bytes().to_owned()));
            assert_eq!(read(lines), expected, "{lines}");
        }
        assert!(part("a: 1\n", 511).is_some() && part("a: 1\n", 512).is_none());
    }
}
