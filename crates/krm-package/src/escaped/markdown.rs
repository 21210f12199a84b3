//! Comments on pull requests.

use std::fmt::{Display, Write};

use super::characters::printable;

/// A text in Markdown. Text from data enters it as characters without a meaning in Markdown or HTML.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markdown(String);

impl Markdown {
    /// Markdown that is part of the program.
    pub fn literal(markup: &'static str) -> Self {
        Self(markup.to_owned())
    }

    /// A text in a sentence or a cell of a table.
    pub fn text(text: impl Display) -> Self {
        let mut markdown = Self::default();
        markdown.escape(&text.to_string());
        markdown
    }

    /// A text as code.
    pub fn code(text: impl Display) -> Self {
        Self("<code>".to_owned()) + Self::text(text) + "</code>"
    }

    /// A message: its parts between backticks become code.
    pub fn prose(text: &str) -> Self {
        if text.matches('`').count() % 2 == 1 {
            return Self::text(text);
        }
        let parts = text.split('`').enumerate();
        parts.fold(Self::default(), |prose, (at, part)| {
            if at % 2 == 1 {
                prose + Self::code(part)
            } else {
                prose + Self::text(part)
            }
        })
    }

    fn escape(&mut self, text: &str) {
        for character in printable(text).chars() {
            let is_harmless = !character.is_ascii_punctuation() || "-,.;()/=".contains(character);
            // Writing to a String does not fail.
            let _ = match character {
                // Forges look for mentions and references in the text of the finished page, element by element.
                '@' | '#' | '!' => write!(self.0, "<span>&#{};</span>", u32::from(character)),
                '.' if self.ends_like_www() => write!(self.0, "&#46;"),
                _ if is_harmless => self.0.write_char(character),
                _ => write!(self.0, "&#{};", u32::from(character)),
            };
        }
    }

    /// A link needs no brackets if it begins so.
    fn ends_like_www(&self) -> bool {
        let end = self.0.len().checked_sub(3);
        let end = end.and_then(|at| self.0.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case("www"))
    }

    /// The number of its characters.
    pub fn length(&self) -> usize {
        self.0.chars().count()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The Markdown as a stream gets it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::ops::Add for Markdown {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.0 += &other.0;
        self
    }
}

impl std::ops::Add<&'static str> for Markdown {
    type Output = Self;

    fn add(mut self, markup: &'static str) -> Self {
        self.0 += markup;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markdown() {
        for (text, markdown) in [
            ("a `b|c` d", "a <code>b&#124;c</code> d"),
            ("a ` <b>", "a &#96; &#60;b&#62;"),
            (
                "a\n| b |\r\n\n# c",
                "a&#92;n&#124; b &#124;&#92;r&#92;n&#92;n<span>&#35;</span> c",
            ),
            (
                "@ann o/r#1 !2",
                "<span>&#64;</span>ann o/r<span>&#35;</span>1 <span>&#33;</span>2",
            ),
            (
                "[a](https://b.c) www.d.e",
                "&#91;a&#93;(https&#58;//b.c) www&#46;d.e",
            ),
            (
                "*a* _b_ ~c~ <!-- \u{202e}",
                "&#42;a&#42; &#95;b&#95; &#126;c&#126; &#60;<span>&#33;</span>-- &#92;u&#123;202e&#125;",
            ),
        ] {
            assert_eq!(Markdown::prose(text).as_str(), markdown);
        }
        let code = Markdown::code("</code>`@a`|\n");
        let inside = "&#60;/code&#62;&#96;<span>&#64;</span>a&#96;&#124;&#92;n";
        assert_eq!(code.as_str(), format!("<code>{inside}</code>"));
    }
}
