//! Why a command stopped, and what to do next.

use std::fmt;

use krm_package::escaped::quoted;
use serde::Serialize;

use krm_process::{FetchError, NextStep};

use super::exit;

/// A command stopped before it wrote anything, unless the message says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Commands that the user can run next.
    pub(crate) hints: Vec<Hint>,
    pub(crate) code: u8,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hints: Vec::new(),
            code: exit::USAGE,
        }
    }

    /// Adds a command that the user can run next.
    #[must_use]
    pub(crate) fn hint(mut self, command: impl Into<Hint>) -> Self {
        self.hints.push(command.into());
        self
    }
}

/// Makes a failure from an error. Of all errors, only a file that could not be fetched has a hint.
impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let failure = Self::new(error.to_string());
        let error: &dyn std::error::Error = &error;
        match error.downcast_ref().map(FetchError::next_step) {
            Some(NextStep::FetchByHand(address)) => {
                let address = address.as_str();
                let address = address.split('?').next().unwrap_or(address);
                failure.hint(command(["curl", "--netrc-optional", "-fLO", address]))
            }
            Some(NextStep::CheckCurl) => failure.hint("curl --version"),
            Some(NextStep::Unknown) | None => failure,
        }
    }
}

/// A command line that the user can run as it is printed: text of this program, or words quoted for a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Hint(String);

impl Hint {
    /// The command with more words.
    #[must_use]
    pub(crate) fn and(&self, words: &[&str]) -> Self {
        let words = command(words).0;
        Self(format!("{} {words}", self.0))
    }

    /// This command and, if it succeeds, the next one.
    #[must_use]
    pub(crate) fn then(&self, next: &Self) -> Self {
        Self(format!("{} && {}", self.0, next.0))
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&'static str> for Hint {
    fn from(command: &'static str) -> Self {
        Self(command.to_owned())
    }
}

/// A command line of these words, quoted for a shell.
pub(crate) fn command<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Hint {
    let words = words.into_iter().map(|word| quoted(word.as_ref()));
    Hint(words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(
            command(["krmv", "a b", "it's", "x[0]", "a\n\u{1b}"]).to_string(),
            r"krmv 'a b' 'it'\''s' 'x[0]' $'a\n\033'"
        );
    }
}
