//! Standard output and standard error, which nothing else writes to.

use std::io::{self, BufWriter, IsTerminal, Write};

use console::{Key, Term};

use super::characters::is_unsafe;
use super::line::{ShownLine, ShownText};

/// The terminal codes that erase the current line.
const ERASE: &str = "\r\x1b[K";

/// A standard stream of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardStream {
    Output,
    Error,
}

impl StandardStream {
    /// Whether it is a terminal.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Output => io::stdout().is_terminal(),
            Self::Error => io::stderr().is_terminal(),
        }
    }

    fn term(self) -> Term {
        match self {
            Self::Output => Term::stdout(),
            Self::Error => Term::stderr(),
        }
    }

    /// The columns of the terminal.
    pub fn columns(self) -> usize {
        usize::from(self.term().size().1)
    }

    /// Writes lines for a person.
    ///
    /// # Errors
    /// The stream cannot be written to.
    pub fn print(self, text: &ShownText) -> io::Result<()> {
        self.write([text.as_str()])
    }

    /// Writes one line for a person.
    ///
    /// # Errors
    /// The stream cannot be written to.
    pub fn print_line(self, line: &ShownLine) -> io::Result<()> {
        self.write([&*format!("{}\n", line.as_str())])
    }

    /// Writes a part of a line for a person, who answers on the same line.
    ///
    /// # Errors
    /// The stream cannot be written to.
    pub fn prompt(self, line: &ShownLine) -> io::Result<()> {
        self.write([line.as_str()])
    }

    /// Waits for a key on the terminal.
    ///
    /// # Errors
    /// The terminal cannot be read from.
    pub fn read_key(self) -> io::Result<Key> {
        self.term().read_key()
    }

    /// Overwrites the current line of the terminal, cut at its width.
    pub fn replace_line(self, line: &ShownLine) {
        let line = line.cut(self.columns());
        // If the terminal cannot be written to, only the progress is lost.
        let _ = self.write([ERASE, line.as_str()]);
    }

    /// Erases the current line of the terminal.
    pub fn erase_line(self) {
        let _ = self.write([ERASE]);
    }

    /// Writes a document for programs: its bytes, or escaped line by line on a terminal.
    ///
    /// # Errors
    /// The stream cannot be written to.
    pub fn document(self, pieces: impl IntoIterator<Item = impl AsRef<str>>) -> io::Result<()> {
        let is_terminal = self.is_terminal();
        self.write(pieces.into_iter().map(|piece| {
            if is_terminal {
                DocumentPiece::Shown(ShownText::of_document(piece.as_ref()))
            } else {
                DocumentPiece::Bytes(piece)
            }
        }))
    }

    /// Writes one JSON document and a line ending. On a terminal, its strings have escapes instead of what is unsafe.
    ///
    /// # Errors
    /// The stream cannot be written to.
    pub fn json(self, document: &str) -> io::Result<()> {
        if self.is_terminal() {
            self.write([json_in_ascii_escapes(document), "\n".to_owned()])
        } else {
            self.write([document, "\n"])
        }
    }

    fn write(self, pieces: impl IntoIterator<Item = impl AsRef<str>>) -> io::Result<()> {
        match self {
            Self::Output => write_pieces(io::stdout().lock(), pieces),
            Self::Error => write_pieces(io::stderr().lock(), pieces),
        }
    }
}

/// Short pieces are buffered; long ones are written at once.
fn write_pieces(
    stream: impl Write,
    pieces: impl IntoIterator<Item = impl AsRef<str>>,
) -> io::Result<()> {
    let mut stream = BufWriter::with_capacity(1 << 16, stream);
    for piece in pieces {
        stream.write_all(piece.as_ref().as_bytes())?;
    }
    stream.flush()
}

/// A part of a document as a stream gets it.
enum DocumentPiece<T> {
    Bytes(T),
    Shown(ShownText),
}

impl<T: AsRef<str>> AsRef<str> for DocumentPiece<T> {
    fn as_ref(&self) -> &str {
        match self {
            Self::Bytes(bytes) => bytes.as_ref(),
            Self::Shown(text) => text.as_str(),
        }
    }
}

/// The same JSON, with what is unsafe to show as `\u` escapes. Outside of strings, JSON has no such characters but
/// line endings and tabs.
fn json_in_ascii_escapes(document: &str) -> String {
    let mut shown = String::with_capacity(document.len());
    for character in document.chars() {
        if is_unsafe(character) && character != '\n' && character != '\t' {
            for unit in character.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_is_the_same_document() -> Result<(), serde_json::Error> {
        let text = "a\u{9b}\u{202e}\u{e0041}\u{1b}\n";
        let document = serde_json::json!({ text: [text] });
        let shown = json_in_ascii_escapes(&document.to_string());
        assert!(!shown.contains(is_unsafe), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown)?, document);
        Ok(())
    }
}
