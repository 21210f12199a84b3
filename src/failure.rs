//! Why a command stopped, and what to do next.

use std::fmt;

use krm_package::escaped::quoted;
use serde::Serialize;

use krm_process::FetchError;
use krm_remote::RemoteError;

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

/// Makes a failure from an error. Of all errors, only those about other machines have hints.
impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let failure = Self::new(error.to_string());
        let error: &dyn std::error::Error = &error;
        if let Some(RemoteError::Cache { .. }) = error.downcast_ref() {
            return failure.hint("export XDG_CACHE_HOME=\"$(mktemp -d)\"");
        }
        let remote = error.downcast_ref().map(RemoteError::next_command);
        let fetch = || error.downcast_ref().map(FetchError::next_command);
        match remote.or_else(fetch) {
            Some(words) if !words.is_empty() => failure.hint(command(words)),
            _ => failure,
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
