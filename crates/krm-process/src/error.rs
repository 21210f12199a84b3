//! Why a file could not be read.

use std::io;

use krm_address::HttpAddress;
use thiserror::Error;

/// A file could not be read.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct FetchError {
    message: String,
    next: NextStep,
    #[source]
    source: Option<io::Error>,
}

/// What the user can do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Nothing is known to help.
    Unknown,
    /// To fetch the file by hand.
    FetchByHand(HttpAddress),
    /// To look whether `curl` is there.
    CheckCurl,
}

impl FetchError {
    pub(crate) fn of(address: &HttpAddress, message: String) -> Self {
        Self {
            message,
            next: NextStep::FetchByHand(address.clone()),
            source: None,
        }
    }

    pub(crate) fn not_run(message: String, next: NextStep, source: io::Error) -> Self {
        Self {
            message,
            next,
            source: Some(source),
        }
    }

    /// What the user can do: a command line, word by word. Empty if nothing is known to help.
    pub fn next_command(&self) -> Vec<&str> {
        match &self.next {
            NextStep::Unknown => Vec::new(),
            NextStep::FetchByHand(address) => {
                let address = address.as_str();
                let address = address.split('?').next().unwrap_or(address);
                vec!["curl", "--netrc-optional", "-fLO", address]
            }
            NextStep::CheckCurl => vec!["curl", "--version"],
        }
    }
}
