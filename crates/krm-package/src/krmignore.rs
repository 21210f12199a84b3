//! The `.krmignore` file, interpreted as in kpt.
//!
//! Observed with kpt 1.0.0-beta.56 (`kpt fn source DIR`; kyaml 0.15 with monochromegane/go-gitignore); the tests
//! compare with kpt where it is on PATH. The patterns look like those of Git but differ in several ways, which is why
//! this module uses no gitignore library:
//!
//! - The file is read in the root of the package and in the root of each sub-package (a folder with a `Kptfile`, even
//!   if that file is itself ignored). In other folders it has no effect.
//! - It applies to its own package only: the patterns of a package do not apply to files of its sub-packages, whether
//!   these have a `.krmignore` or not (`a.yaml` does not ignore `pkg/a.yaml`, and neither does `pkg/a.yaml` or `pkg/*`).
//! - But a pattern that matches the folder of a sub-package, or a folder around it, ignores the sub-package
//!   completely (contrary to kyaml's own comment).
//! - A pattern without a leading `/` matches at the end of a path, even if it contains a `/`: `sub/a.yaml` ignores
//!   `dir/sub/a.yaml`, whereas Git would anchor it. With a leading `/` it matches the whole path.
//! - `**` is the same as `*`: it matches exactly one component.
//! - A negated pattern wins regardless of its position (`!a.yaml` before `*.yaml` as well as after), but not inside
//!   an ignored folder.
//! - A pattern that ends in `/` matches folders only. A folder that matches is not entered.
//! - Spaces at both ends of a line are removed, even after a backslash; lines that begin with `#` are comments, `\#`
//!   is `#`; CRLF is understood. `\` escapes only in patterns that contain one of `*?[`; `[^a]` negates and `[!a]` does not;
//!   a malformed pattern matches nothing. Matching is case-sensitive.
//! - `Kptfile` can be ignored. The `.krmignore` may be a link, whatever its target; a dangling one counts as missing.
//!
//! Differences from kpt: the lines `!` and `/` make kpt panic; here they match nothing. In kpt, an anchored pattern
//! that ends in a negated class (`/?[^a]`) matches everything below a folder `b`, because the class matches the slash
//! after it. In kpt, the `.krmignore` of a sub-package `pkg` also applies to its siblings `pkg2` and `pkg-x`, because
//! kpt compares paths without regard to components; here it does not. A `.krmignore` that is a FIFO or a device hangs
//! kpt and is an error here.

pub(super) const KRMIGNORE: &str = ".krmignore";

/// The `.krmignore` of one package.
pub(super) struct Krmignore {
    /// The package's folder, relative to the root package; empty for the root package.
    pub(super) folder: String,
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

    /// Whether a file or folder of this package (not of a sub-package) is ignored. The path is relative to the root
    /// package.
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
    /// How many components the pattern has. It matches the last so many components of a path.
    components: usize,
    text: PatternText,
}

enum PatternText {
    /// Without `*`, `?` and `[`; a backslash is an ordinary character.
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
    /// `None` if the pattern cannot match anything.
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

/// Parses the syntax of Go's `filepath.Match`; `None` if the pattern is malformed.
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

/// Backtracks to the last `*` only: if an earlier `*` took more, there would only be less text for the later ones.
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
