//! The names of a variant in texts, so that texts are alike which differ in these names only.
//!
//! ```text
//! --- a/cluster-01/web/Kptfile                            --- a/‹path›/Kptfile
//!  fn.kpt.dev/package-variant: default/fleet-cluster-01    fn.kpt.dev/package-variant: ‹variant›
//! ```

use memchr::memmem;

use super::Entry;

/// What stands for a name, and which name: the longer ones first, since they hold others.
const PLACEHOLDERS: [(&str, Name); 5] = [
    ("‹path›", Name::Path),
    ("‹variant›", Name::Variant),
    ("‹name›", Name::OfVariant),
    ("‹repository›", Name::Repository),
    ("‹package›", Name::Package),
];

/// What a placeholder begins with. A text that has it already stays as it is.
const MARK: char = '‹';

#[derive(Debug, Clone, Copy)]
enum Name {
    /// `<repository>/<package>`
    Path,
    /// `<namespace>/<name>`
    Variant,
    OfVariant,
    Repository,
    Package,
}

impl Name {
    fn of(self, entry: &Entry) -> &str {
        let behind = |text: &'_ str| text.split_once('/').map_or(0, |(head, _)| head.len() + 1);
        match self {
            Self::Path => &entry.package,
            Self::Variant => &entry.name,
            Self::OfVariant => &entry.name[behind(&entry.name)..],
            Self::Repository => &entry.package[..behind(&entry.package).saturating_sub(1)],
            Self::Package => &entry.package[behind(&entry.package)..],
        }
    }
}

/// The names of one variant.
pub(super) struct Words<'e> {
    /// Each with its placeholder.
    names: Vec<(&'static str, &'e str, memmem::Finder<'e>)>,
}

impl<'e> Words<'e> {
    pub(super) fn of(entry: &'e Entry) -> Self {
        let is_odd = [&entry.name, &entry.package]
            .iter()
            .any(|name| name.contains(MARK));
        let names = PLACEHOLDERS.iter().filter(|_| !is_odd);
        let names = names.filter_map(|(placeholder, name)| {
            let name = name.of(entry);
            let finder = memmem::Finder::new(name);
            (!name.is_empty()).then_some((*placeholder, name, finder))
        });
        Self {
            names: names.collect(),
        }
    }

    /// The text with placeholders; `None` if it has none of the names.
    pub(super) fn hide(&self, text: &str) -> Option<String> {
        if text.contains(MARK) {
            return None;
        }
        let mut hidden = None;
        for (placeholder, name, finder) in &self.names {
            let now = hidden.as_deref().unwrap_or(text);
            if let Some(next) = replaced(now, name, finder, placeholder) {
                hidden = Some(next);
            }
        }
        hidden
    }

    /// The text with the names in place of placeholders.
    pub(super) fn show(&self, text: &str) -> String {
        let names = self.names.iter();
        names.fold(text.to_owned(), |text, (placeholder, name, _)| {
            text.replace(placeholder, name)
        })
    }
}

/// The text with the names that all entries have in common, and whether placeholders are left.
pub(super) fn show_common(text: &str, entries: &[&Entry]) -> (String, bool) {
    let mut shown = text.to_owned();
    let mut is_left = false;
    let Some((first, others)) = entries.split_first() else {
        return (shown, false);
    };
    for (placeholder, name) in PLACEHOLDERS {
        if !shown.contains(placeholder) {
            continue;
        }
        let own = name.of(first);
        if others.iter().all(|other| name.of(other) == own) {
            shown = shown.replace(placeholder, own);
        } else {
            is_left = true;
        }
    }
    (shown, is_left)
}

/// Replaces a name where it is a word of its own; `None` if it is nowhere.
fn replaced(
    text: &str,
    name: &str,
    finder: &memmem::Finder<'_>,
    placeholder: &str,
) -> Option<String> {
    let bytes = text.as_bytes();
    let is_edge = |byte: Option<&u8>| {
        byte.is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())
    };
    let mut new = String::new();
    let mut from = 0;
    for start in finder.find_iter(bytes) {
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

    fn entry(name: &str, package: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            package: package.to_owned(),
            action: None,
            from: None,
            to: None,
            draft: None,
            conflicts: 0,
        }
    }

    #[test]
    fn names_are_hidden_and_shown_again() {
        let entry = entry("default/fleet-a1-web", "a1/web");
        let words = Words::of(&entry);
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
            let hidden = words.hide(text);
            assert_eq!(hidden.as_deref(), expected, "{text}");
            assert_eq!(
                words.show(&hidden.unwrap_or(text.to_owned())),
                match expected {
                    Some(_) => text.to_owned(),
                    None => words.show(text),
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
    fn a_name_that_is_a_placeholder_s_word_is_no_part_of_it() {
        let entry = entry("path/name", "variant/package");
        let words = Words::of(&entry);
        let text = "variant/package path/name package name variant path";
        let hidden = words.hide(text).expect("names");
        assert_eq!(
            hidden,
            "‹path› ‹variant› ‹package› ‹name› ‹repository› path"
        );
        assert_eq!(words.show(&hidden), text);
    }
}
