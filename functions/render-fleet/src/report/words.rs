//! Replaces the names of a variant in texts with placeholders, so that texts that differ only in these names become
//! equal.
//!
//! ```text
//! --- a/cluster-01/web/Kptfile                            --- a/‹path›/Kptfile
//!  fn.kpt.dev/package-variant: default/fleet-cluster-01    fn.kpt.dev/package-variant: ‹variant›
//! ```

use memchr::memmem;

use super::VariantEntry;

/// The first character of placeholders. A text that already contains it is not changed.
const MARK: char = '‹';

/// The names of a variant with their placeholders. Longer names come first, because they contain the shorter ones.
fn names(entry: &VariantEntry) -> [(&'static str, &str); 5] {
    fn parts(path: &str) -> (&str, &str) {
        path.split_once('/').unwrap_or(("", path))
    }
    let (_, name) = parts(&entry.name);
    let (repository, package) = parts(&entry.package);
    [
        ("‹path›", &entry.package),
        ("‹variant›", &entry.name),
        ("‹name›", name),
        ("‹repository›", repository),
        ("‹package›", package),
    ]
}

/// The text with placeholders for the names of a variant; `None` if it contains no such name, or already contains a
/// placeholder.
pub(super) fn hide(entry: &VariantEntry, text: &str) -> Option<String> {
    let has_mark = |text: &str| text.contains(MARK);
    if [text, &entry.name, &entry.package]
        .into_iter()
        .any(has_mark)
    {
        return None;
    }
    let mut hidden = None;
    for (placeholder, name) in names(entry) {
        let now = hidden.as_deref().unwrap_or(text);
        if let Some(next) = replaced(now, name, placeholder) {
            hidden = Some(next);
        }
    }
    hidden
}

/// The text with the names that all entries have in common, and whether placeholders remain.
pub(super) fn show_common(text: &str, entries: &[&VariantEntry]) -> (String, bool) {
    let mut shown = text.to_owned();
    let mut is_left = false;
    let Some((first, others)) = entries.split_first() else {
        return (shown, false);
    };
    for (at, (placeholder, own)) in names(first).into_iter().enumerate() {
        if !shown.contains(placeholder) {
            continue;
        }
        if others.iter().all(|other| names(other)[at].1 == own) {
            shown = shown.replace(placeholder, own);
        } else {
            is_left = true;
        }
    }
    (shown, is_left)
}

/// Replaces a name where it is a separate word; `None` if it does not occur.
fn replaced(text: &str, name: &str, placeholder: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let bytes = text.as_bytes();
    let is_edge = |byte: Option<&u8>| {
        byte.is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())
    };
    let mut new = String::new();
    let mut from = 0;
    for start in memmem::find_iter(bytes, name) {
        let end = start + name.len();
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        if start >= from && is_edge(before) && is_edge(bytes.get(end)) {
            new.push_str(&text[from..start]);
            new.push_str(placeholder);
            from = end;
        }
    }
    (from > 0).then(|| new + &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, package: &str) -> VariantEntry {
        VariantEntry {
            name: name.to_owned(),
            package: package.to_owned(),
            ..VariantEntry::default()
        }
    }

    #[test]
    fn names_are_hidden_and_shown_again() {
        let entry = entry("default/fleet-a1-web", "a1/web");
        let show = |text: &str| show_common(text, &[&entry]).0;
        for (text, expected) in [
            ("--- a/a1/web/Kptfile", Some("--- a/‹path›/Kptfile")),
            ("owner: default/fleet-a1-web", Some("owner: ‹variant›")),
            (
                "fleet-a1-web, a1, a12, xa1",
                Some("‹name›, ‹repository›, a12, xa1"),
            ),
            ("name: web", Some("name: ‹package›")),
            ("nothing", None),
            ("a1 ‹name›", None),
        ] {
            let hidden = hide(&entry, text);
            assert_eq!(hidden.as_deref(), expected, "{text}");
            assert_eq!(
                show(hidden.as_deref().unwrap_or(text)),
                match expected {
                    Some(_) => text.to_owned(),
                    None => show(text),
                }
            );
        }
    }

    #[test]
    fn names_that_all_have_are_shown() {
        let (a, b) = (entry("n/a", "r/a"), entry("n/b", "r/b"));
        let shown = show_common("‹repository›: ‹package›", &[&a, &b]);
        assert_eq!(shown, ("r: ‹package›".to_owned(), true));
        let shown = show_common("‹repository›: ‹package›", &[&a]);
        assert_eq!(shown, ("r: a".to_owned(), false));
    }

    #[test]
    fn a_name_equal_to_a_word_of_a_placeholder_is_not_replaced() {
        let entry = entry("path/name", "variant/package");
        let text = "variant/package path/name package name variant path";
        let hidden = hide(&entry, text).expect("names");
        assert_eq!(
            hidden,
            "‹path› ‹variant› ‹package› ‹name› ‹repository› path"
        );
        assert_eq!(show_common(&hidden, &[&entry]).0, text);
    }
}
