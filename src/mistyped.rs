//! Words of Git and kpt that people type here, and what they meant.
//!
//! ```text
//! krmv pull            ->  krmv upgrade
//! krmv log app.yaml    ->  krmv blame app.yaml
//! krmv resolve --ours  ->  krmv resolve --take local
//! ```

use std::ffi::OsString;

use super::failure::{Failure, command};

/// A command of another program, and the one that does the same here.
const COMMANDS: [(&str, &str, &str); 18] = [
    ("log", "blame", "shows who set each field of a file"),
    ("annotate", "blame", "shows who set each field of a file"),
    ("pull", "upgrade", UPGRADES),
    ("update", "upgrade", UPGRADES),
    ("merge", "upgrade", UPGRADES),
    ("rebase", "upgrade", UPGRADES),
    ("checkout", "upgrade", UPGRADES),
    ("clone", "get", GETS),
    ("add", "get", GETS),
    ("install", "get", GETS),
    ("init", "get", GETS),
    ("pkg get", "get", GETS),
    ("pkg update", "upgrade", UPGRADES),
    ("pkg diff", "diff", "shows what you changed"),
    ("ls", "status", LISTS),
    ("list", "status", LISTS),
    ("outdated", "status", LISTS),
    (
        "mergetool",
        "resolve",
        "decides the conflicts of an upgrade",
    ),
];

const UPGRADES: &str = "merges the next revision of upstream";
const GETS: &str = "makes a package from a repository";
const LISTS: &str = "lists packages and their newer releases";

/// The flags that name a revision elsewhere. Here it is an argument.
const REVISIONS: [&str; 4] = ["--ref", "--rev", "--tag", "--version"];

/// A flag of Git, and the flag that does the same here.
const FLAGS: [(&str, &[&str]); 4] = [
    ("--ours", &["--take", "local"]),
    ("--theirs", &["--take", "upstream"]),
    ("--mine", &["--take", "local"]),
    ("--yours", &["--take", "local"]),
];

/// The failure for a command line with a word of another program, with what to type here. `None` if it has none.
pub(super) fn meant(arguments: &[OsString]) -> Option<Failure> {
    let words = arguments.iter().skip(1);
    let words: Vec<&str> = words.map(|word| word.to_str()).collect::<Option<_>>()?;
    let first = *words.first()?;
    let is_typed = |word: &str| {
        let count = word.split(' ').count();
        words
            .get(..count)
            .is_some_and(|typed| typed.join(" ") == word)
    };
    if let Some((word, other, does)) = COMMANDS.iter().find(|(word, ..)| is_typed(word)) {
        let message = format!("krmv has no command `{word}`; `krmv {other}` {does}");
        let rest = words.get(word.split(' ').count()..).unwrap_or_default();
        // The flags of other programs mean something else.
        let is_plain = rest.iter().all(|word| !word.starts_with('-'));
        let rest = if is_plain { rest } else { &[] };
        let line = ["krmv", other].into_iter().chain(rest.iter().copied());
        return Some(Failure::new(message).hint(command(line)));
    }
    if ["upgrade", "review"].contains(&first)
        && let Some(at) = words.iter().position(|word| REVISIONS.contains(word))
        && words.get(at + 1).is_some()
    {
        let message = format!(
            "krmv has no flag `{}`; the revision is an argument",
            words[at]
        );
        let meant = words.iter().enumerate().filter(|(other, _)| *other != at);
        let meant = std::iter::once("krmv").chain(meant.map(|(_, word)| *word));
        return Some(Failure::new(message).hint(command(meant)));
    }
    if !["upgrade", "resolve"].contains(&first) {
        return None;
    }
    let words: Vec<&str> = words.into_iter().take_while(|word| *word != "--").collect();
    let (flag, others) = FLAGS.iter().find(|(flag, _)| words.contains(flag))?;
    let message = format!(
        "krmv has no flag `{flag}`; `{}` does that",
        others.join(" ")
    );
    let meant = words.iter().flat_map(|word| {
        let is_flag = word == flag;
        let kept = (!is_flag).then_some(*word);
        kept.into_iter()
            .chain(others.iter().copied().filter(move |_| is_flag))
    });
    Some(Failure::new(message).hint(command(std::iter::once("krmv").chain(meant))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_programs_lead_to_ours() {
        for (line, expected) in [
            ("pull web", Some("krmv upgrade web")),
            ("log web/app.yaml", Some("krmv blame web/app.yaml")),
            (
                "clone https://e.com/r web",
                Some("krmv get https://e.com/r web"),
            ),
            ("clone --depth 1 https://e.com/r", Some("krmv get")),
            ("merge web v2", Some("krmv upgrade web v2")),
            (
                "pkg get https://e.com/r web",
                Some("krmv get https://e.com/r web"),
            ),
            ("pkg update web@v2", Some("krmv upgrade web@v2")),
            ("pkg tree", None),
            ("ls", Some("krmv status")),
            (
                "upgrade web --ref v2 --dry-run",
                Some("krmv upgrade web v2 --dry-run"),
            ),
            ("upgrade web --ref", None),
            ("resolve --ours web", Some("krmv resolve --take local web")),
            (
                "upgrade web v2 --theirs",
                Some("krmv upgrade web v2 --take upstream"),
            ),
            ("resolve web -- --ours", None),
            ("upgrade web", None),
            ("status --ours", None),
            ("", None),
        ] {
            let words = std::iter::once("krmv").chain(line.split_whitespace());
            let words: Vec<OsString> = words.map(OsString::from).collect();
            let hint = meant(&words).map(|failure| failure.hints[0].to_string());
            assert_eq!(hint.as_deref(), expected, "{line}");
        }
    }
}
