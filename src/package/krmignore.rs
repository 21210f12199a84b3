//! `.krmignore`, as kpt has it.
//!
//! Seen with kpt 1.0.0-beta.56 (`kpt fn source DIR`; kyaml 0.15 with monochromegane/go-gitignore), and the tests
//! run next to kpt where it is on PATH. The patterns look like those of git and mean something else in places,
//! which is why no gitignore library is used here:
//!
//! - The file counts in the package's root and in the root of each sub-package (a folder with a `Kptfile`, be that file
//!   itself ignored). In any other folder it means nothing.
//! - It governs its own package only: patterns of a package say nothing about what lies in its sub-packages, whether
//!   these have a `.krmignore` or not (`a.yaml` does not ignore `pkg/a.yaml`, and neither does `pkg/a.yaml` or `pkg/*`).
//! - But a pattern that matches the folder of a sub-package, or a folder around it, ignores it with everything in it
//!   (kyaml's own comment says the contrary).
//! - A pattern without leading `/` matches at the end of a path, also if it has a `/` inside: `sub/a.yaml` ignores
//!   `dir/sub/a.yaml`; in git it would be anchored. With a leading `/` it matches the whole path.
//! - `**` is `*`: one component, never none and never several.
//! - A negated pattern wins wherever it is (`!a.yaml` before `*.yaml` as well as after), but not for what is in an
//!   ignored folder.
//! - A pattern that ends in `/` matches folders only. A folder that matches is not entered.
//! - Spaces at both ends are cut off, also those after a backslash; lines that begin with `#` are comments, `\#` is `#`;
//!   CRLF is understood. `\` escapes only in patterns that have one of `*?[`; `[^a]` negates and `[!a]` does not;
//!   a malformed pattern matches nothing. Upper and lower case differ.
//! - `Kptfile` can be ignored. The `.krmignore` is read through a link, wherever that leads; a dangling one is as none.
//!
//! Where we differ: lines `!` and `/` make kpt panic and match nothing here. An anchored pattern that ends in a negated class
//! (`/?[^a]`) matches all below a folder `b` in kpt, since there the class takes the slash after it. The `.krmignore` of a
//! sub-package `pkg` governs siblings `pkg2` and `pkg-x` too in kpt, which compares paths without regard to
//! components; here it does not. A `.krmignore` that is a FIFO or a device hangs kpt and is an error here.

/// The name of the file.
pub(super) const KRMIGNORE: &str = ".krmignore";

/// The `.krmignore` of one package.
pub(super) struct Krmignore {
    /// The package's folder, relative to the root package; empty for that one.
    folder: String,
    ignore: Vec<IgnorePattern>,
    keep: Vec<IgnorePattern>,
}

impl Krmignore {
    pub(super) fn parse(folder: String, text: &str) -> Self {
        let mut rules = Krmignore {
            folder,
            ignore: Vec::new(),
            keep: Vec::new(),
        };
        for line in text.lines() {
            let line = line.trim_matches(' ');
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = if line.starts_with("\\#") {
                &line[1..]
            } else {
                line
            };
            match line.strip_prefix('!') {
                Some(line) => rules.keep.extend(IgnorePattern::parse(line)),
                None => rules.ignore.extend(IgnorePattern::parse(line)),
            }
        }
        rules
    }

    /// Is a file or folder of this package (not of a sub-package) ignored? The path is relative to the root package.
    pub(super) fn ignores(&self, path: &str, is_folder: bool) -> bool {
        let path = if self.folder.is_empty() {
            path
        } else {
            &path[self.folder.len() + 1..]
        };
        let matches =
            |patterns: &[IgnorePattern]| patterns.iter().any(|p| p.matches(path, is_folder));
        matches(&self.ignore) && !matches(&self.keep)
    }
}

struct IgnorePattern {
    anchored: bool,
    folders_only: bool,
    /// How many components it has, and a path (or its end) must have.
    components: usize,
    text: PatternText,
}

enum PatternText {
    /// No `*`, `?` or `[`; a backslash is just one.
    Plain(String),
    Glob(Vec<Token>),
}

enum Token {
    Character(char),
    /// `?`: not `/`.
    Any,
    /// `*`: any number of characters that are not `/`.
    Many,
    /// `[a-z]`
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl IgnorePattern {
    /// None if it can match nothing.
    fn parse(line: &str) -> Option<Self> {
        let text = line.trim_matches('/');
        if text.is_empty() {
            return None;
        }
        Some(IgnorePattern {
            anchored: line.starts_with('/'),
            folders_only: line.ends_with('/'),
            components: text.matches('/').count() + 1,
            text: if text.contains(['*', '?', '[']) {
                PatternText::Glob(parse_glob(text)?)
            } else {
                PatternText::Plain(text.into())
            },
        })
    }

    fn matches(&self, path: &str, is_folder: bool) -> bool {
        if self.folders_only && !is_folder {
            return false;
        }
        let depth = path.matches('/').count() + 1;
        if depth < self.components || (self.anchored && depth > self.components) {
            return false;
        }
        let end = match path.rmatch_indices('/').nth(self.components - 1) {
            Some((slash, _)) => &path[slash + 1..],
            None => path,
        };
        match &self.text {
            PatternText::Plain(text) => text == end,
            PatternText::Glob(tokens) => glob_matches(tokens, &end.chars().collect::<Vec<_>>()),
        }
    }
}

/// The syntax of Go's `filepath.Match`; none if malformed.
fn parse_glob(text: &str) -> Option<Vec<Token>> {
    let mut characters = text.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(character) = characters.next() {
        tokens.push(match character {
            '*' => Token::Many,
            '?' => Token::Any,
            '\\' => Token::Character(characters.next()?),
            '[' => {
                let negated = characters.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                while ranges.is_empty() || characters.next_if_eq(&']').is_none() {
                    let low = class_character(&mut characters)?;
                    let high = match characters.next_if_eq(&'-') {
                        Some(_) => class_character(&mut characters)?,
                        None => low,
                    };
                    ranges.push((low, high));
                }
                Token::Class { negated, ranges }
            }
            other => Token::Character(other),
        });
    }
    Some(tokens)
}

fn class_character(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<char> {
    match characters.next()? {
        '-' | ']' => None,
        '\\' => characters.next(),
        other => Some(other),
    }
}

/// Only the last `*` ever needs to take more: an earlier one could only give later ones less room.
fn glob_matches(tokens: &[Token], text: &[char]) -> bool {
    let (mut token, mut position) = (0, 0);
    let mut last_many: Option<(usize, usize)> = None;
    loop {
        match (tokens.get(token), text.get(position)) {
            (None, None) => return true,
            (Some(Token::Many), _) => {
                token += 1;
                last_many = Some((token, position));
                continue;
            }
            (Some(one), Some(&character)) if one.matches(character) => {
                token += 1;
                position += 1;
                continue;
            }
            _ => {}
        }
        match last_many {
            Some((after, taken)) if text.get(taken).is_some_and(|&character| character != '/') => {
                last_many = Some((after, taken + 1));
                (token, position) = (after, taken + 1);
            }
            _ => return false,
        }
    }
}

impl Token {
    fn matches(&self, character: char) -> bool {
        match self {
            Token::Character(own) => *own == character,
            Token::Any => character != '/',
            Token::Many => false,
            Token::Class { negated, ranges } => {
                ranges
                    .iter()
                    .any(|&(low, high)| (low..=high).contains(&character))
                    != *negated
            }
        }
    }
}
