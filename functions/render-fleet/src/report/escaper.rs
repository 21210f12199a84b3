//! How pages escape text from data.

use std::fmt::{self, Write};

use askama::filters::Escaper;

use krm_package::escaped::write_escaped;

/// How templates of pages escape every value: as HTML, and what a reader would not see as what it is. Line feeds and
/// tabs stay, for texts of several lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Html;

impl Escaper for Html {
    fn write_escaped_str<W: Write>(&self, out: W, text: &str) -> fmt::Result {
        write_escaped(&mut AsHtml(out), text, |c| c == '\n' || c == '\t')
    }
}

impl Html {
    /// A text as templates write it.
    pub fn escaped(text: &str) -> String {
        let mut page = String::with_capacity(text.len());
        // Writing to a String does not fail.
        let _ = Self.write_escaped_str(&mut page, text);
        page
    }
}

/// Escapes what is written as HTML.
struct AsHtml<W>(W);

impl<W: Write> Write for AsHtml<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        askama::filters::Html.write_escaped_str(&mut self.0, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_markup_or_invisible_character_reaches_a_page() {
        let text = "<b onclick='x'>&\"\u{1b}[2J\u{202e}\u{200b}\r\n\t\u{0}";
        assert_eq!(
            Html::escaped(text),
            "&#60;b onclick=&#39;x&#39;&#62;&#38;&#34;\\u{1b}[2J\\u{202e}\\u{200b}\\r\n\t\\u{0}"
        );
    }
}
