//! Replacements of byte ranges in one text.
//!
//! ```text
//! replicas: 1 # two      10..11 -> "2", 11..17 -> ""      replicas: 2
//! ```
//!
//! Replacements may come in any order. Overlapping replacements are refused, because one of them would be lost
//! silently.

use std::ops::Range;

use super::error::EditError;
use super::tree::offset;

/// Replacements in one text. There can be millions, so their new texts share one buffer.
#[derive(Debug, Default)]
pub(super) struct TextEdit {
    replacements: Vec<Replacement>,
    /// The new texts, one after the other.
    new: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Replacement {
    start: u32,
    end: u32,
    /// The range of its text in `TextEdit::new`.
    new: (u32, u32),
}

impl TextEdit {
    /// Replaces a range with `new`.
    pub(super) fn replace(&mut self, range: Range<usize>, new: String) {
        let from = self.new.len();
        if from == 0 {
            // The first text may be long, so it is moved and not copied.
            self.new = new;
        } else {
            self.new.push_str(&new);
        }
        self.replacements.push(Replacement {
            start: offset(range.start),
            end: offset(range.end),
            new: (offset(from), offset(self.new.len())),
        });
    }

    /// Inserts `new` before the byte `at`. Insertions at the same byte keep their order.
    pub(super) fn insert(&mut self, at: usize, new: String) {
        self.replace(at..at, new);
    }

    pub(super) fn delete(&mut self, range: Range<usize>) {
        self.replace(range, String::new());
    }

    pub(super) fn len(&self) -> usize {
        self.replacements.len()
    }

    /// The replaced ranges in the order in which they were added, starting with the one at `index`.
    pub(super) fn ranges_from(&self, index: usize) -> impl Iterator<Item = Range<usize>> {
        let ranges = self.replacements[index..].iter();
        ranges.map(|one| one.start as usize..one.end as usize)
    }

    /// Whether the byte `at` is replaced or removed.
    pub(super) fn covers(&self, at: usize) -> bool {
        self.ranges_from(0).any(|range| range.contains(&at))
    }

    /// The text with all replacements made. The ranges count from the start of the source; `text` begins at its byte
    /// `base`.
    ///
    /// # Errors
    /// [`EditError::Overlap`] if two replacements overlap, or one lies outside of the text.
    pub(super) fn apply(mut self, text: &str, base: usize) -> Result<String, EditError> {
        // An insertion sorts before a replacement that starts at the same byte. Several insertions at one byte keep
        // their order, which is the order of their texts in the buffer.
        self.replacements.sort_unstable();
        let mut out = String::with_capacity(text.len() + self.new.len());
        let mut done = 0;
        for Replacement { start, end, new } in self.replacements {
            let (start, end) = (start as usize, end as usize);
            let overlap = EditError::Overlap { at: start };
            let kept = start.checked_sub(base).and_then(|at| text.get(done..at));
            let kept = kept.filter(|_| start <= end);
            let new = self.new.get(new.0 as usize..new.1 as usize);
            let (Some(kept), Some(new)) = (kept, new) else {
                return Err(overlap);
            };
            out.push_str(kept);
            out.push_str(new);
            done = end - base;
        }
        let rest = text.get(done..);
        out.push_str(rest.ok_or(EditError::Overlap { at: base + done })?);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Replacements<'r> = &'r [(Range<usize>, &'r str)];

    fn applied(replacements: Replacements<'_>, base: usize) -> Result<String, EditError> {
        let mut edit = TextEdit::default();
        for (range, new) in replacements {
            edit.replace(range.clone(), (*new).to_owned());
        }
        edit.apply("abcdef", base)
    }

    #[test]
    fn disjoint_replacements_are_made_in_any_order() {
        let table: [(Replacements<'_>, &str); 8] = [
            (&[], "abcdef"),
            (&[(1..2, "X"), (2..4, "")], "aXef"),
            (&[(4..6, "Z"), (0..1, "X")], "XbcdZ"),
            (&[(0..0, "X"), (6..6, "Y")], "XabcdefY"),
            // Insertions at one byte keep their order, before the replacement of that byte.
            (&[(2..4, "Z"), (2..2, "X"), (2..2, "Y")], "abXYZef"),
            (&[(2..4, ""), (4..4, "X")], "abXef"),
            (&[(0..6, "")], ""),
            (&[(1..3, ""), (3..5, "")], "af"),
        ];
        for (replacements, expected) in table {
            assert_eq!(applied(replacements, 0).as_deref(), Ok(expected));
            let moved: Vec<_> = replacements
                .iter()
                .map(|(range, new)| (range.start + 9..range.end + 9, *new))
                .collect();
            assert_eq!(applied(&moved, 9).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn overlaps_and_places_outside_of_the_text_are_refused() {
        let table: [(Replacements<'_>, usize); 7] = [
            (&[(1..3, "X"), (2..4, "Y")], 2),
            (&[(1..3, "X"), (1..3, "X")], 1),
            (&[(0..6, ""), (1..2, "")], 1),
            // An insertion within a removed range has no place.
            (&[(1..4, ""), (2..2, "X")], 2),
            (&[(5..7, "X")], 7),
            (&[(7..7, "X")], 7),
            (&[(7..8, ""), (8..9, "")], 7),
        ];
        for (replacements, at) in table {
            assert_eq!(applied(replacements, 0), Err(EditError::Overlap { at }));
        }
        assert_eq!(
            applied(&[(1..2, "X")], 2),
            Err(EditError::Overlap { at: 1 })
        );
    }

    #[test]
    fn covered_bytes_are_the_removed_ones() {
        let mut edit = TextEdit::default();
        edit.delete(1..3);
        edit.insert(4, "X".to_owned());
        let covered: Vec<usize> = (0..6).filter(|at| edit.covers(*at)).collect();
        assert_eq!(covered, [1, 2]);
    }
}
