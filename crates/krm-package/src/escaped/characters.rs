//! Which characters a reader would not see as what they are.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Whether a character must not be shown as it is: control characters (C0, DEL, C1), line endings, marks that reorder
/// text, and invisible ones.
pub(super) fn is_unsafe(character: char) -> bool {
    match character {
        ' '..='~' => false,
        // Line and paragraph separators; interlinear annotations.
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' => true,
        _ => character.is_control() || is_ignorable(character),
    }
}

/// Whether Unicode calls a code point default ignorable: it is not displayed. Marks of text direction and zero-width
/// characters are among them. A file system may ignore them in a name.
pub(crate) fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Writes a text with its unsafe characters escaped as in Rust, except those that are `kept`.
pub fn write_escaped(
    out: &mut (impl Write + ?Sized),
    text: &str,
    kept: impl Fn(char) -> bool,
) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(|c| is_unsafe(c) && !kept(c)) {
        let (before, from) = rest.split_at(at);
        out.write_str(before)?;
        let mut characters = from.chars();
        if let Some(character) = characters.next() {
            write!(out, "{}", character.escape_default())?;
        }
        rest = characters.as_str();
    }
    out.write_str(rest)
}

/// A text on one line, with the characters escaped that a terminal would obey or hide.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    // Writing to a String does not fail.
    let _ = write_escaped(&mut escaped, text, |_| false);
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_invisible_characters_are_escaped() {
        for (text, shown) in [
            ("plain ö 漢 ✓", "plain ö 漢 ✓"),
            ("\u{1b}[2J\u{7}", "\\u{1b}[2J\\u{7}"),
            ("a\r\nb\tc", "a\\r\\nb\\tc"),
            ("\u{7f}\u{9b}2J\u{85}", "\\u{7f}\\u{9b}2J\\u{85}"),
            (
                "a\u{202e}b\u{2066}c\u{200f}",
                "a\\u{202e}b\\u{2066}c\\u{200f}",
            ),
            (
                "z\u{200b}w\u{200d}\u{feff}\u{2060}",
                "z\\u{200b}w\\u{200d}\\u{feff}\\u{2060}",
            ),
            ("\u{2028}\u{2029}\u{e0041}", "\\u{2028}\\u{2029}\\u{e0041}"),
        ] {
            assert_eq!(printable(text), shown);
            // An escaped text is not escaped again.
            assert_eq!(printable(shown), shown);
        }
    }

    #[test]
    fn no_control_character_is_shown() {
        for character in char::MIN..=char::MAX {
            let text = character.to_string();
            let is_same = printable(&text) == text;
            assert!(!is_same || !character.is_control(), "{character:?}");
            assert!(!is_same || !is_ignorable(character), "{character:?}");
        }
    }
}
