//! Any text to a terminal, into Markdown, into a page and into a command line: nothing in it is obeyed, hidden or
//! reordered.

#![no_main]

use render_fleet::report::Html;
use krm_package::escaped::{Markdown, ShownLine, ShownText, printable, quoted};
use krm_function::filter::coloured_diff;
use libfuzzer_sys::fuzz_target;

/// Whether a text has a character that is not shown as what it is: control characters, separators of lines and
/// paragraphs, bidirectional controls, and what Unicode calls default ignorable.
fn is_raw(text: &str) -> bool {
    text.chars().any(|c| {
        let is_mark = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
        let is_invisible = matches!(c, '\u{ad}' | '\u{180e}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}');
        c.is_control() || is_mark || is_invisible
    })
}

/// A line without the codes of our own styles.
fn without_styles(line: &str) -> String {
    let styles = ["0", "1", "2", "31", "32", "33", "36"];
    styles.iter().fold(line.to_owned(), |line, style| line.replace(&format!("\u{1b}[{style}m"), ""))
}

fuzz_target!(|input: (&str, &str, u8)| {
    let (text, other, width) = input;
    let shown = printable(text);
    assert!(!is_raw(&shown));
    assert_eq!(printable(&shown), shown);
    let line = ShownLine::of(&[&text, &format_args!("{other:>9}: {text}")]);
    assert!(!is_raw(line.as_str()));
    let mut lines = ShownText::default();
    lines.line(&line.cut(width.into()));
    lines.append(&line.wrapped(width.into(), 4));
    lines.append(&ShownText::of_document(text));
    lines.append(&coloured_diff(other));
    for line in lines.as_str().split('\n') {
        assert!(!is_raw(&without_styles(line).replace('\t', "")), "{line:?}");
    }
    let word = quoted(text);
    assert!(!is_raw(&word));
    for markdown in [Markdown::text(text), Markdown::code(text), Markdown::prose(text)] {
        let own = ["<code>", "</code>", "<span>", "</span>", "&#"];
        let rest = own.iter().fold(markdown.as_str().to_owned(), |rest, own| rest.replace(own, ""));
        assert!(!is_raw(&rest) && !rest.contains(['<', '>', '|', '`', '@', '#', '[', '*', '_', '&']), "{rest:?}");
    }
    let page = Html::escaped(text);
    assert!(!is_raw(&page.replace(['\n', '\t'], "")) && !page.contains(['<', '>', '"', '\'']), "{page:?}");
});
