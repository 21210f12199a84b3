//! Why a command stopped, and what to do next.

pub(crate) use krm_variants::filter::quoted;

use super::exit;

/// A command stopped before it wrote anything, unless the message says otherwise.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Commands that the user can run next.
    pub(crate) hints: Vec<String>,
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
    pub(crate) fn hint(mut self, command: impl Into<String>) -> Self {
        self.hints.push(command.into());
        self
    }
}

/// Makes a failure without hints from an error.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

/// A command line of these words, quoted for a shell.
pub(crate) fn command<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| quoted(word.as_ref()))
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(
            command(["krmv", "a b", "it's", "x[0]"]),
            r"krmv 'a b' 'it'\''s' 'x[0]'"
        );
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a/b.yaml:spec.replicas"), "a/b.yaml:spec.replicas");
    }
}
