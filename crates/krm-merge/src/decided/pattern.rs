//! Patterns for the paths of conflicts: `spec.containers[name=app].image`, `metadata.labels.**`.
//!
//! They are written like `field.path` of results. In addition, `*` in a name matches any text, `[*]` any element,
//! `[name=app]` the elements with this value in a field, `[=x]` the elements that are this value, and a trailing `**`
//! everything below. A quoted text matches exactly.

use thiserror::Error;

use crate::trail::Trail;
use krm_core::glob::glob;
use krm_yaml::unquote;

/// A pattern for paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    steps: Vec<PatternStep>,
    /// Whether it ends with `**`.
    all_below: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternStep {
    /// The key of an entry.
    Field(TextPattern),
    AnyElement,
    Index(usize),
    /// Fields of an element with their values; an empty name is the element itself.
    With(Vec<(String, TextPattern)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TextPattern {
    Exact(String),
    /// With `*` for any text.
    Glob(String),
}

impl TextPattern {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == text,
            Self::Glob(pattern) => glob(pattern, text),
        }
    }
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected a path such as `spec.containers[name=app].image`, found `{text}`: {what}")]
pub(crate) struct PatternError {
    text: String,
    what: &'static str,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`PatternError`] if the text is not a pattern.
    pub(crate) fn parse(text: &str) -> Result<Self, PatternError> {
        let parsed = parse(text);
        parsed.map_err(|what| PatternError {
            text: text.to_owned(),
            what,
        })
    }

    /// Whether the pattern can match something within the value that these steps lead to.
    pub(super) fn reaches_below(&self, steps: &[&Trail<'_>]) -> bool {
        let is_longer = self.steps.len() > steps.len();
        let mut pairs = self.steps.iter().zip(steps);
        (is_longer || self.all_below) && pairs.all(|(pattern, step)| fits(pattern, step))
    }
}

fn parse(text: &str) -> Result<Pattern, &'static str> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = bracket(inner)?;
            steps.push(step);
            rest = after;
            match rest.strip_prefix('.') {
                Some("") => return Err("a name is missing at the end"),
                Some(after) => rest = after,
                None if rest.is_empty() || rest.starts_with('[') => {}
                None => return Err("expected `.` or `[` after `]`"),
            }
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        match name {
            "" => return Err("a name is missing"),
            "**" if after.is_empty() => {
                return Ok(Pattern {
                    steps,
                    all_below: true,
                });
            }
            "**" => return Err("`**` is only allowed at the end"),
            name => steps.push(PatternStep::Field(TextPattern::Glob(name.to_owned()))),
        }
        rest = match after.strip_prefix('.') {
            Some("") => return Err("a name is missing at the end"),
            Some(after) => after,
            None => after,
        };
    }
    if steps.is_empty() {
        Err("it is empty")
    } else {
        Ok(Pattern {
            steps,
            all_below: false,
        })
    }
}

/// Parses the inside of brackets. Also returns the text after the brackets.
fn bracket(inner: &str) -> Result<(PatternStep, &str), &'static str> {
    if inner.starts_with('"') {
        let (name, rest) = unquote(inner).ok_or(NO_QUOTE)?;
        let after = rest.strip_prefix(']').ok_or("`]` is missing")?;
        return Ok((PatternStep::Field(TextPattern::Exact(name)), after));
    }
    let mut pairs = Vec::new();
    let mut rest = inner;
    loop {
        let end = rest.find([']', '=', ',']).ok_or("`]` is missing")?;
        let (name, after) = (rest[..end].trim(), &rest[end + 1..]);
        if !rest[end..].starts_with('=') {
            return match name {
                _ if rest.len() < inner.len() => Err(IN_BRACKETS),
                "*" => Ok((PatternStep::AnyElement, after)),
                _ => match name.parse() {
                    Ok(index) => Ok((PatternStep::Index(index), after)),
                    Err(_) => Err(IN_BRACKETS),
                },
            };
        }
        let (value, after) = value(after)?;
        pairs.push((name.to_owned(), value));
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => {
                let after = after.strip_prefix(']').ok_or("`]` is missing")?;
                return Ok((PatternStep::With(pairs), after));
            }
        }
    }
}

const NO_QUOTE: &str = "`\"` is missing, or an escape is unknown";
const IN_BRACKETS: &str = "expected `*`, a number, `key=value` or a quoted name in brackets";

/// Parses a value in brackets. Also returns the text after the value.
fn value(text: &str) -> Result<(TextPattern, &str), &'static str> {
    if text.starts_with('"') {
        let (value, after) = unquote(text).ok_or(NO_QUOTE)?;
        return Ok((TextPattern::Exact(value), after));
    }
    let end = text.find([']', ',']).ok_or("`]` is missing")?;
    let (value, after) = text.split_at(end);
    Ok((TextPattern::Glob(value.trim().to_owned()), after))
}

/// Whether a pattern matches the value that these steps lead to.
pub(super) fn matches(pattern: &Pattern, steps: &[&Trail<'_>]) -> bool {
    let enough = if pattern.all_below {
        steps.len() > pattern.steps.len()
    } else {
        steps.len() == pattern.steps.len()
    };
    let mut pairs = pattern.steps.iter().zip(steps);
    enough && pairs.all(|(pattern, step)| fits(pattern, step))
}

fn fits(pattern: &PatternStep, step: &Trail<'_>) -> bool {
    match (pattern, step) {
        (PatternStep::Field(pattern), Trail::Field(_, name)) => pattern.fits(name),
        (PatternStep::AnyElement, Trail::Element(..)) => true,
        (PatternStep::Index(index), Trail::Element(_, at, _)) => index == at,
        (PatternStep::With(pairs), Trail::Element(_, _, element)) => {
            let node = element.node.resolved();
            pairs.iter().all(|(key, value)| {
                let found = match key.as_str() {
                    "" => Some(node),
                    key => node.get(key),
                };
                let text = found.and_then(|found| found.resolved().value_text());
                text.is_some_and(|text| value.fits(text))
            })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_text() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("*b", "ba", false),
            ("a*b*c", "axbyc", true),
            ("a*b*c", "acb", false),
            ("ab*b", "ab", false),
            ("*ab*", "xaby", true),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn texts_that_are_not_patterns() {
        for text in [
            "",
            ".",
            "a.",
            "a..b",
            "a[",
            "a[]",
            "a[x]",
            "a[0].",
            "a[0]b",
            "a.**.b",
            "a[\"b]",
            "a[\"b\\x\"]",
            "a[b,c]",
            "a[b=c,0]",
            "a[b=\"c\"d]",
        ] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
        for text in [
            "a",
            "a.b[0].c",
            "a[*][name=x].**",
            "**",
            "metadata.annotations[\"a.b/c\"]",
            "a[=x]",
            "a[containerPort=80,protocol=TCP]",
            "a[name=\"b],c\"]",
            "a[=x=y]",
        ] {
            assert!(Pattern::parse(text).is_ok(), "{text}");
        }
    }
}
