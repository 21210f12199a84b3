//! Lines for a person.

use std::fmt::{self, Display, Write};

use anstyle::Style;

use super::characters::write_escaped;

/// A part of a line: a line, or anything that can be displayed, which enters the line escaped.
pub trait Piece {
    /// Appends the part to a line.
    fn append_to(&self, line: &mut ShownLine);
}

/// A line is not `Display`, so it cannot become part of a text, which would be escaped again.
impl Piece for ShownLine {
    fn append_to(&self, line: &mut ShownLine) {
        line.0.push_str(&self.0);
    }
}

impl<T: Display + ?Sized> Piece for T {
    fn append_to(&self, line: &mut ShownLine) {
        // Writing to a String does not fail.
        let _ = write!(Escaping(&mut line.0), "{self}");
    }
}

/// Escapes what is written.
struct Escaping<'l>(&'l mut String);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write_escaped(self.0, text, |_| false)
    }
}

/// A line, or a part of one, for a person. It has no control characters but the codes of its styles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownLine(String);

impl ShownLine {
    /// A line of these parts.
    pub fn of(parts: &[&dyn Piece]) -> Self {
        let mut line = Self::default();
        for part in parts {
            part.append_to(&mut line);
        }
        line
    }

    /// A part in a style.
    pub fn styled(style: Style, part: &(impl Piece + ?Sized)) -> Self {
        // Writing to a String does not fail.
        let mut line = Self::default();
        let _ = write!(line.0, "{style}");
        part.append_to(&mut line);
        let _ = write!(line.0, "{style:#}");
        line
    }

    /// A line of a document. Its tabs stay.
    pub fn of_document(line: &str) -> Self {
        let mut shown = Self::default();
        // Writing to a String does not fail.
        let _ = write_escaped(&mut shown.0, line, |c| c == '\t');
        shown
    }

    /// Appends a part.
    pub fn push(&mut self, part: &(impl Piece + ?Sized)) {
        part.append_to(self);
    }

    /// The line as a stream gets it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The line, cut at a width.
    pub fn cut(&self, width: usize) -> Self {
        Self(console::truncate_str(&self.0, width, "…").into_owned())
    }

    /// The line as several of at most this width, if its words are that short. Lines after the first are indented.
    pub fn wrapped(&self, width: usize, indent: usize) -> ShownText {
        let words = self.0.trim_start_matches(' ');
        let mut line = " ".repeat(self.0.len() - words.len());
        let mut text = ShownText::default();
        for word in words.split(' ') {
            let columns =
                console::measure_text_width(&line) + 1 + console::measure_text_width(word);
            if !line.trim().is_empty() && columns > width {
                let full = std::mem::replace(&mut line, " ".repeat(indent));
                text.push(Self(full.trim_end().to_owned()));
            } else if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        text.push(Self(line.trim_end().to_owned()));
        text
    }
}

/// Lines for a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownText(String);

impl ShownText {
    /// Adds a line.
    pub fn line(&mut self, line: &(impl Piece + ?Sized)) {
        let mut whole = ShownLine::default();
        whole.push(line);
        self.push(whole);
    }

    fn push(&mut self, line: ShownLine) {
        self.0.push_str(&line.0);
        self.0.push('\n');
    }

    /// Adds lines.
    pub fn append(&mut self, lines: &Self) {
        self.0.push_str(&lines.0);
    }

    /// The lines of a text from data. Tabs stay.
    pub fn of_document(text: &str) -> Self {
        let mut lines = Self(String::with_capacity(text.len() + text.len() / 8));
        for line in text.split_inclusive('\n') {
            let content = line.strip_suffix('\n');
            lines.0 += &ShownLine::of_document(content.unwrap_or(line)).0;
            lines.0 += if content.is_some() { "\n" } else { "" };
        }
        lines
    }

    /// The lines, one by one.
    pub fn lines(&self) -> impl Iterator<Item = ShownLine> {
        self.0.lines().map(|line| ShownLine(line.to_owned()))
    }

    /// The text as a stream gets it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;
    use proptest::prelude::*;

    use super::super::characters::is_unsafe;
    use super::*;

    #[test]
    fn a_line_in_a_line_is_not_escaped_again() {
        let name = ShownLine::styled(AnsiColor::Red.on_default(), "a\u{1b}");
        let line = ShownLine::of(&[&"b\n", &name, &7]);
        assert_eq!(line.as_str(), "b\\n\u{1b}[31ma\\u{1b}\u{1b}[0m7");
    }

    #[test]
    fn a_long_line_is_wrapped() {
        let text = ShownLine::of(&[&"  one two three four"]).wrapped(10, 4);
        assert_eq!(text.as_str(), "  one two\n    three\n    four\n");
    }

    #[test]
    fn the_lines_of_a_document_stay_lines() {
        let text = ShownText::of_document("a\tb\r\n\u{202e}c\n\nd");
        assert_eq!(text.as_str(), "a\tb\\r\n\\u{202e}c\n\nd");
    }

    /// Texts in which many characters are unsafe.
    fn hostile() -> impl Strategy<Value = String> {
        let unsafe_ones = prop::char::ranges(
            vec![
                '\0'..='\u{a0}',
                '\u{2000}'..='\u{206f}',
                '\u{e0000}'..='\u{e0fff}',
            ]
            .into(),
        );
        let any = prop_oneof![unsafe_ones, any::<char>(), Just(' ')];
        prop::collection::vec(any, 0..60).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn no_text_reaches_a_line_unescaped(text in hostile(), other in hostile(), width in 1..50_usize) {
            let line = ShownLine::of(&[&text, &format_args!("{other}: {text:>9}"), &other.as_str()]);
            prop_assert!(!line.as_str().contains(is_unsafe));
            let mut lines = ShownText::default();
            lines.line(&line.cut(width));
            lines.line(&text);
            prop_assert_eq!(lines.lines().count(), 2);
            lines.append(&line.wrapped(width, 4));
            lines.append(&ShownText::of_document(&other));
            let mut shown = lines.as_str().chars();
            prop_assert!(!shown.any(|c| is_unsafe(c) && c != '\n' && c != '\t'));
        }
    }
}
