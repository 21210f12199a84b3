//! The text of a file whose documents change: its head, the documents that stay, and new ones.

use std::collections::{BTreeSet, HashMap};

use krm_yaml::{Document, head_end, is_marker, newline_at, whole_head_end};

/// A new document, and the index of the document to insert it before; `None` for the end.
pub(super) type Added = (Option<usize>, String);

/// The text of a file without some of its documents and with new ones, each before a document or at the
/// end; with another head, in place of the documents without content too, if one is given. `None` if no document with content is left.
pub(super) fn documents_text(
    document: Document<'_>,
    head: Option<&str>,
    removed: &BTreeSet<usize>,
    added: &[Added],
) -> Option<String> {
    let own = match head {
        Some(_) => whole_head_end(document.text),
        None => head_end(document.text),
    };
    let is_new = document.text.is_empty();
    let first = added.first().map(|(_, text)| text.as_str());
    let first = first.filter(|_| is_new);
    let mut file = FileText {
        text: String::new(),
        like: first.unwrap_or(document.text),
        is_head: true,
    };
    file.text = match head {
        Some(head) => file.with_line_breaks(head),
        None => document.text[..own].to_owned(),
    };
    let mut is_empty = true;
    let mut by_place: HashMap<usize, Vec<&str>> = HashMap::new();
    for (before, text) in added {
        let place = before.unwrap_or(document.len());
        by_place.entry(place).or_default().push(text);
    }
    for index in 0..=document.len() {
        for text in by_place.remove(&index).unwrap_or_default() {
            if is_new {
                file.push(text);
            } else {
                let text = file.with_line_breaks(text);
                file.push(&text);
            }
            is_empty = false;
        }
        let kept = index < document.len() && !removed.contains(&index);
        let Some(range) = document.range(index).filter(|_| kept) else {
            continue;
        };
        let start = match index {
            0 => own.clamp(range.start, range.end),
            _ if range.start < own => own.min(range.end),
            _ => range.start,
        };
        if head.is_some() && range.end <= own {
            continue;
        }
        file.push(&document.text[start..range.end]);
        is_empty &= document.root(index).is_none();
    }
    (!is_empty).then_some(file.text)
}

/// The text of a file so far.
struct FileText<'l> {
    text: String,
    /// A text whose line breaks are used at the start of the file.
    like: &'l str,
    /// Whether there is only the head so far.
    is_head: bool,
}

impl FileText<'_> {
    /// The line break of the last line so far; if there is none, the one of `like`.
    fn newline(&self) -> &'static str {
        if self.text.contains('\n') {
            newline_at(&self.text, self.text.len())
        } else {
            newline_at(self.like, 0)
        }
    }

    fn with_line_breaks(&self, text: &str) -> String {
        let unix = text.replace("\r\n", "\n");
        match self.newline() {
            "\n" => unix,
            newline => unix.replace('\n', newline),
        }
    }

    /// Appends a document, with a `---` before it if one is needed.
    fn push(&mut self, document: &str) {
        // The start of another file that was appended to this one.
        let unmarked = document.strip_prefix('\u{feff}').unwrap_or(document);
        let begins = |marker| is_marker(unmarked.as_bytes(), marker);
        let rest = ["---\n", "---\r\n"]
            .into_iter()
            .find_map(|marker| unmarked.strip_prefix(marker));
        let document = match rest {
            // The first document needs no marker.
            Some(rest) if self.is_head => rest,
            _ => document,
        };
        if !self.is_head {
            self.end_line();
            if !begins(b"---") && !begins(b"...") {
                self.push_marker();
            }
        } else if rest.is_none() && begins(b"---") {
            self.drop_marker();
        } else if !self.is_set_off() {
            self.end_line();
            self.push_marker();
        }
        self.text.push_str(document);
        self.is_head = false;
    }

    fn push_marker(&mut self) {
        self.text.push_str("---");
        self.text.push_str(self.newline());
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(self.newline());
        }
    }

    fn last_line(&self) -> &str {
        let text = self.text.trim_start_matches('\u{feff}');
        text.split_inclusive('\n').next_back().unwrap_or_default()
    }

    /// Whether the comments of the head are separated from the comments of a document that follows.
    fn is_set_off(&self) -> bool {
        let last = self.last_line();
        last.trim().is_empty() || is_marker(last.as_bytes(), b"---")
    }

    /// Removes the marker at the end of the head, because the first document has its own.
    fn drop_marker(&mut self) {
        let last = self.last_line();
        if is_marker(last.as_bytes(), b"---") {
            let rest = self.text.len() - last.len();
            self.text.truncate(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indoc::indoc;
    use krm_yaml::{ParseOptions, Tree};

    fn text(
        before: &str,
        head: Option<&str>,
        removed: &[usize],
        added: &[(Option<usize>, &str)],
    ) -> Option<String> {
        let tree = Tree::parse(before, ParseOptions::default()).expect("YAML");
        let removed = removed.iter().copied().collect();
        let added = added.iter();
        let added: Vec<Added> = added.map(|(at, text)| (*at, (*text).to_owned())).collect();
        documents_text(Document::new(before, &tree), head, &removed, &added)
    }

    #[track_caller]
    fn check(
        before: &str,
        removed: &[usize],
        added: &[(Option<usize>, &str)],
        after: Option<&str>,
    ) {
        assert_eq!(text(before, None, removed, added).as_deref(), after);
    }

    #[test]
    fn documents_come_and_go() {
        let two = "# head\na: 1\n---\n# two\nb: 1\n";
        check(two, &[], &[], Some(two));
        check(two, &[0], &[], Some("# two\nb: 1\n"));
        check(two, &[1], &[], Some("# head\na: 1\n"));
        check(two, &[0, 1], &[], None);
        check(
            two,
            &[],
            &[(Some(1), "n: 1\n")],
            Some(indoc! {"
                # head
                a: 1
                ---
                n: 1
                ---
                # two
                b: 1
            "}),
        );
        check(
            two,
            &[],
            &[(Some(0), "n: 1\n")],
            Some(indoc! {"
                n: 1
                ---
                # head
                a: 1
                ---
                # two
                b: 1
            "}),
        );
        check("a: 1", &[], &[(None, "n: 1\n")], Some("a: 1\n---\nn: 1\n"));
        check(
            "---\na: 1\n",
            &[0],
            &[(None, "n: 1\n")],
            Some("---\nn: 1\n"),
        );
        check(
            "a: 1\r\n",
            &[],
            &[(None, "n: 1\n")],
            Some("a: 1\r\n---\r\nn: 1\r\n"),
        );
        check(
            "",
            &[],
            &[(None, "n: 1\n"), (None, "m: 1\n")],
            Some("n: 1\n---\nm: 1\n"),
        );
    }

    #[test]
    fn the_head_stays_when_documents_are_added_or_removed() {
        for head in ["# file\n\n", "# file\n---\n", "---\n# file\n\n"] {
            let two = format!("{head}a: 1\n---\nb: 1\n");
            check(&two, &[], &[], Some(&two));
            check(&two, &[0], &[], Some(&format!("{head}b: 1\n")));
            check(
                &two,
                &[0],
                &[(Some(0), "n: 1\n")],
                Some(&format!("{head}n: 1\n---\nb: 1\n")),
            );
            check(&two, &[0, 1], &[], None);
        }
    }

    #[test]
    fn a_comment_after_a_marker_stays_there() {
        let two = "# file\n---\na: 1\n--- # b\nb: 1\n";
        check(two, &[], &[], Some(two));
        check(two, &[0], &[], Some("# file\n--- # b\nb: 1\n"));
        check(
            two,
            &[],
            &[(None, "--- # n\nn: 1\n")],
            Some(indoc! {"
                # file
                ---
                a: 1
                --- # b
                b: 1
                --- # n
                n: 1
            "}),
        );
        let first = "# file\n--- # a\na: 1\n---\nb: 1\n";
        check(first, &[], &[], Some(first));
        check(first, &[0], &[], Some("# file\n---\nb: 1\n"));
    }

    #[test]
    fn a_byte_order_mark_before_a_marker_stays_there() {
        let three = "a: 1\n\u{feff}---\nb: 1\n\u{feff}--- # c\nc: 1\n";
        check(three, &[], &[], Some(three));
        check(three, &[0], &[], Some("b: 1\n\u{feff}--- # c\nc: 1\n"));
        check(three, &[1], &[], Some("a: 1\n\u{feff}--- # c\nc: 1\n"));
        let added = "a: 1\n---\nn: 1\n\u{feff}---\nb: 1\n\u{feff}--- # c\nc: 1\n";
        check(three, &[], &[(Some(1), "n: 1\n")], Some(added));
    }

    #[test]
    fn a_head_is_exchanged_with_the_line_breaks_of_the_file() {
        let after = text("# old\r\n\r\na: 1\r\n", Some("# new\n---\n"), &[], &[]);
        assert_eq!(after.as_deref(), Some("# new\r\n---\r\na: 1\r\n"));
        let after = text("# old\n---\na: 1\n", Some(""), &[], &[]);
        assert_eq!(after.as_deref(), Some("a: 1\n"));
        let after = text("", Some("# new\n\n"), &[], &[(None, "n: 1\n")]);
        assert_eq!(after.as_deref(), Some("# new\n\nn: 1\n"));
        let after = text("", Some("# new\n\n"), &[], &[(None, "n: 1\r\n")]);
        assert_eq!(after.as_deref(), Some("# new\r\n\r\nn: 1\r\n"));
    }

    #[test]
    fn a_separator_has_the_line_break_of_the_nearest_line() {
        type Texts<'t> = &'t [(Option<usize>, &'t str)];
        let table: [(&str, Texts<'_>, &str); 5] = [
            // A new file.
            (
                "",
                &[(None, "n: 1\r\n"), (None, "m: 1\r\n")],
                "n: 1\r\n---\r\nm: 1\r\n",
            ),
            (
                "",
                &[(None, "n: 1\r\n"), (None, "m: 1\n"), (None, "o: 1\n")],
                "n: 1\r\n---\r\nm: 1\n---\no: 1\n",
            ),
            // Mixed line breaks.
            (
                "a: 1\n---\nb: 1\r\n",
                &[(Some(1), "n: 1\r\n"), (None, "m: 1\n")],
                "a: 1\n---\nn: 1\n---\nb: 1\r\n---\r\nm: 1\r\n",
            ),
            // No line break at the end.
            (
                "a: 1\r\nb: 1",
                &[(None, "n: 1\n")],
                "a: 1\r\nb: 1\r\n---\r\nn: 1\r\n",
            ),
            ("a: 1", &[(None, "n: 1\n")], "a: 1\n---\nn: 1\n"),
        ];
        for (before, added, after) in table {
            check(before, &[], added, Some(after));
        }
    }
}
