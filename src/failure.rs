//! Why a command stopped, and what to do next.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use krm_package::escaped::quoted;
use serde::Serialize;

use krm_process::FetchError;
use krm_remote::RemoteError;

use super::exit;

/// A command stopped before it wrote anything, unless the message says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Commands that the user can run next.
    pub(crate) hints: Vec<Hint>,
    pub(crate) code: u8,
    /// The error that it was made from.
    pub(crate) source: Option<Arc<dyn Error + Send + Sync>>,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hints: Vec::new(),
            code: exit::USAGE,
            source: None,
        }
    }

    /// Adds a command that the user can run next.
    #[must_use]
    pub(crate) fn hint(mut self, command: impl Into<Hint>) -> Self {
        self.hints.push(command.into());
        self
    }

    /// Says in front of the message what was done.
    /// Adds a command, if there is none.
    pub(crate) fn or_hint(self, command: impl Into<Hint>) -> Self {
        if self.hints.is_empty() {
            self.hint(command)
        } else {
            self
        }
    }

    /// Says in front of the message what was done.
    #[must_use]
    pub(crate) fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// The error of this type in the chain that it was made from.
    pub(crate) fn cause<E: Error + 'static>(&self) -> Option<&E> {
        let first = self.source.as_deref().map(|error| error as &dyn Error);
        let mut chain = std::iter::successors(first, |&error| error.source());
        chain.find_map(|error| error.downcast_ref())
    }
}

/// Makes a failure from an error. Of all errors, only those about other machines have hints.
impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut failure = Self::new(error.to_string());
        failure.source = Some(Arc::new(error));
        if let Some(RemoteError::Cache { .. }) = failure.cause() {
            return failure.hint("export XDG_CACHE_HOME=\"$(mktemp -d)\"");
        }
        let remote = failure.cause().map(RemoteError::next_command);
        let fetch = || failure.cause().map(FetchError::next_command);
        let words = remote.or_else(fetch).filter(|words| !words.is_empty());
        let hint = words.map(command);
        failure.hints.extend(hint);
        failure
    }
}

/// A command line that the user can run as it is printed: text of this program, or words quoted for a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Hint(String);

impl Hint {
    /// The command with more words.
    pub(crate) fn and<S: AsRef<str>>(&self, words: &[S]) -> Self {
        let words = command(words).0;
        Self(format!("{} {words}", self.0))
    }

    /// This command and, if it succeeds, the next one.
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
