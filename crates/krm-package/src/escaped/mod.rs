//! Text from data, escaped for the place where it is shown: a terminal, Markdown, or a command line for a shell. Pages in
//! HTML have an escaper of their own, which escapes the same characters.
//!
//! A package, its Kptfile, a repository and an archive can hold any text. Shown as it is, it could move the cursor, set
//! the title of a window, hide or reorder what follows, end a table or mention a user. So each place has a type, and
//! text enters the type escaped only:
//!
//! - [`ShownLine`] and [`ShownText`]: what a person reads on a terminal or in the log of a job;
//! - [`Markdown`]: a comment on a pull request;
//! - [`quoted`]: a word of a command line.
//!
//! [`StandardStream`] is the only writer to standard output and standard error. It takes these types, JSON, and
//! documents, whose bytes reach a pipe or a file as they are, and a terminal escaped.

mod characters;
mod line;
mod markdown;
mod shell;
mod streams;

pub(crate) use characters::is_ignorable;
pub use characters::printable;
pub use characters::write_escaped;
pub use line::{Piece, ShownLine, ShownText};
pub use markdown::Markdown;
pub use shell::quoted;
pub use streams::StandardStream;
