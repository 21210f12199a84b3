//! Quoted scalars whose lines are at the indentation of their parent.
//!
//! ```yaml
//! description: 'kubectl and controller-gen
//!
//! write such lines'
//! ```
//!
//! YAML 1.2 requires deeper indentation. libyaml and the readers derived from it, among them those of kpt and kubectl,
//! do not. The general parser follows YAML 1.2, so this input shows it an additional space at the start of each such
//! line. The parser folds white space at the start of a line and takes offsets from its input, so the space changes no
//! value and no span.

use std::cell::RefCell;
use std::rc::Rc;

use granit_parser::input::{SkipTabs, WhitespaceResult};
use granit_parser::{BorrowedInput, ErrorKind, Input, StrInput};

use super::lines::{is_marker, line_end};

/// Offsets of the lines that were shown with an additional space.
pub(super) type ShownLines = Rc<RefCell<Vec<usize>>>;

/// A text as the general parser reads it.
pub(super) struct LenientInput<'t> {
    text: &'t str,
    inner: StrInput<'t>,
    /// The quote of the scalar that the parser is in, as far as its calls show. The offsets in `shown` reveal a wrong
    /// guess.
    quote: Option<char>,
    escaped: bool,
    /// Whether the next character is the additional space, which is not in the text.
    space: bool,
    shown: ShownLines,
}

impl<'t> LenientInput<'t> {
    pub(super) fn new(text: &'t str) -> (Self, ShownLines) {
        let shown = ShownLines::default();
        let input = Self {
            text,
            inner: StrInput::new(text),
            quote: None,
            escaped: false,
            space: false,
            shown: Rc::clone(&shown),
        };
        (input, shown)
    }

    fn at(&self) -> usize {
        self.inner.byte_offset().unwrap_or(self.text.len())
    }

    /// Follows the quotes in the characters that the parser takes one by one.
    fn took(&mut self, character: char) {
        let escaped = std::mem::take(&mut self.escaped);
        match (self.quote, character) {
            (Some(_), '\n') if !escaped => {
                self.space = self.takes_space();
                if self.space {
                    self.shown.borrow_mut().push(self.at());
                }
            }
            (Some('"'), '\\') => self.escaped = !escaped,
            (Some(quote), _) if character == quote && !escaped => self.quote = None,
            (None, '"' | '\'') => self.quote = Some(character),
            _ => {}
        }
    }

    /// The input for methods that read other tokens, or the white space after a token: the parser is not in quotes.
    fn outside(&mut self) -> &mut StrInput<'t> {
        self.quote = None;
        &mut self.inner
    }

    /// Whether the line that begins here needs the space: it has text, and begins with neither a document marker nor a
    /// tab. At the end of the text, the parser must report the missing quote, not the missing space.
    fn takes_space(&self) -> bool {
        let bytes = &self.text.as_bytes()[self.at()..];
        let line = &bytes[..line_end(bytes, 0)];
        let first = line.iter().find(|byte| **byte != b' ');
        if bytes.is_empty() {
            return true;
        }
        let marker = is_marker(line, b"---") || is_marker(line, b"...");
        first.is_some_and(|byte| !matches!(byte, b'\t' | b'\r')) && !marker
    }
}

impl Input for LenientInput<'_> {
    fn lookahead(&mut self, count: usize) {
        self.inner.lookahead(count);
    }

    fn buflen(&self) -> usize {
        self.inner.buflen()
    }

    fn bufmaxlen(&self) -> usize {
        self.inner.bufmaxlen()
    }

    fn raw_read_ch(&mut self) -> char {
        self.inner.raw_read_ch()
    }

    fn raw_read_non_breakz_ch(&mut self) -> Option<char> {
        self.inner.raw_read_non_breakz_ch()
    }

    fn skip(&mut self) {
        if std::mem::take(&mut self.space) {
            return;
        }
        let character = self.inner.peek();
        self.inner.skip();
        self.took(character);
    }

    fn skip_n(&mut self, count: usize) {
        for _ in 0..count {
            self.skip();
        }
    }

    fn peek(&self) -> char {
        self.peek_nth(0)
    }

    fn peek_nth(&self, n: usize) -> char {
        match (self.space, n) {
            (true, 0) => ' ',
            (true, _) => self.inner.peek_nth(n - 1),
            (false, _) => self.inner.peek_nth(n),
        }
    }

    fn byte_offset(&self) -> Option<usize> {
        self.inner.byte_offset()
    }

    fn slice_bytes(&self, start: usize, end: usize) -> Option<&str> {
        self.inner.slice_bytes(start, end)
    }

    fn take_quoted_scalar_chunk(&mut self, single: bool) -> (&str, usize) {
        self.inner.take_quoted_scalar_chunk(single)
    }

    fn skip_ws_to_eol(
        &mut self,
        skip_tabs: SkipTabs,
    ) -> (usize, Result<WhitespaceResult, ErrorKind>) {
        self.outside().skip_ws_to_eol(skip_tabs)
    }

    fn skip_while_non_breakz(&mut self) -> usize {
        self.outside().skip_while_non_breakz()
    }

    fn fetch_while_is_alpha(&mut self, out: &mut String) -> usize {
        self.outside().fetch_while_is_alpha(out)
    }

    fn fetch_while_is_yaml_non_space(&mut self, out: &mut String) -> usize {
        self.outside().fetch_while_is_yaml_non_space(out)
    }

    fn fetch_block_scalar_line(&mut self, out: &mut String) -> usize {
        self.outside().fetch_block_scalar_line(out)
    }

    fn fetch_plain_scalar_chunk(
        &mut self,
        out: &mut String,
        count: usize,
        in_flow: bool,
    ) -> (bool, usize) {
        self.outside().fetch_plain_scalar_chunk(out, count, in_flow)
    }

    fn skip_plain_scalar_chunk(&mut self, count: usize, in_flow: bool) -> (bool, usize) {
        self.outside().skip_plain_scalar_chunk(count, in_flow)
    }
}

impl<'t> BorrowedInput<'t> for LenientInput<'t> {
    fn slice_borrowed(&self, start: usize, end: usize) -> Option<&'t str> {
        self.text.get(start..end)
    }
}
