//! New text that follows an existing indicator.

use super::{Cursor, Emitter, Tail};
use crate::format::{Format, Owner};

/// Text that follows an indicator.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// The text on the line of the indicator.
    pub(crate) inline: String,
    /// The lines below, each after its line break.
    pub(crate) below: String,
    /// Column of the content, if its first line is in `inline`.
    pub(crate) moved_up: Option<usize>,
    /// Whether the last line ends a scalar or flow collection, so that a comment can follow.
    pub(crate) tail: Tail,
    newline: &'static str,
}

impl Rendered {
    /// The text that `write` emits after the indicator of an owner.
    pub(crate) fn new(
        owner: Owner,
        format: &Format,
        write: impl FnOnce(&mut Emitter<'_>) -> Tail,
    ) -> Self {
        let mut inline = String::new();
        let cursor = match owner {
            Owner::Dash(_) => Cursor::Dash(0),
            Owner::Root(_) | Owner::Key(_) => Cursor::Colon(0),
        };
        let mut emitter = Emitter::at_cursor(&mut inline, *format, cursor);
        let tail = write(&mut emitter);
        let moved_up = emitter.moved_up;
        let newline = format.newline;
        let below = inline.find(newline).map(|line| inline.split_off(line));
        Self {
            inline,
            below: below.unwrap_or_default(),
            moved_up,
            tail,
            newline,
        }
    }

    /// Text of one line.
    pub(crate) fn of_line(inline: String, format: &Format) -> Self {
        Self {
            inline,
            below: String::new(),
            moved_up: None,
            tail: Tail::Open,
            newline: format.newline,
        }
    }

    /// Moves the first line below up to the line of the indicator.
    pub(crate) fn move_up(&mut self) {
        let Some(lines) = self.below.strip_prefix(self.newline) else {
            return;
        };
        if self.inline.is_empty() {
            let end = lines.find(self.newline).unwrap_or(lines.len());
            let (first, rest) = lines.split_at(end);
            self.inline = first.trim_start().to_owned();
            self.moved_up = Some(first.len() - self.inline.len());
            self.below = rest.to_owned();
        }
    }

    /// Moves the first line of a collection from the line of the indicator down again.
    pub(crate) fn move_down(&mut self) {
        if let Some(column) = self.moved_up.take() {
            let first = std::mem::take(&mut self.inline);
            let line = format!("{}{:column$}{first}", self.newline, "");
            self.below.insert_str(0, &line);
        }
    }
}
