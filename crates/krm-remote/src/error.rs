//! Why a source cannot be used, and what the user can do next.

use std::io;
use std::path::PathBuf;

use krm_address::{Address, HttpAddress, Unexpected};
use krm_core::config::UsageError;
use krm_package::PackageError;
use krm_process::FetchError;
use krm_upstream::ContentDigest;
use thiserror::Error;

pub type Result<T> = std::result::Result<T, RemoteError>;

/// A source on another machine cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RemoteError {
    #[error("expected {expected}, found '{found}'")]
    NotASource {
        expected: &'static str,
        found: String,
    },
    #[error("expected a tag or digest of {image}, found `{found}`")]
    NotAReference { image: String, found: String },
    #[error(transparent)]
    Address(#[from] Unexpected),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("cannot read {}: {reason}", .address.shown())]
    Content {
        address: HttpAddress,
        reason: String,
    },
    /// What was fetched cannot be read as an archive, chart or layout.
    #[error(transparent)]
    Archive(#[from] UsageError),
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("cannot read '{0}'")]
    UnknownForm(String),
    #[error("{address} has no file `{inner}`")]
    NoFile { address: String, inner: String },
    #[error("{0}: expected UTF-8, found other bytes")]
    NotUtf8(String),
    #[error("{addresses} does not exist")]
    Missing { addresses: String },
    #[error("this source has no release {release}: {addresses} does not exist")]
    MissingRelease { release: String, addresses: String },
    #[error(
        "ReleaseReplaced: the release {release} of {address} was replaced: expected the digest {expected}, found {}",
        .found.as_ref().map_or("no longer there", ContentDigest::as_str)
    )]
    Replaced {
        release: String,
        address: String,
        expected: ContentDigest,
        found: Option<ContentDigest>,
    },
    #[error("cannot read the tags of {repository}: {reason}")]
    Tags { repository: Address, reason: String },
    #[error("cannot read oci://{image}: {reason}")]
    Registry { image: String, reason: String },
    #[error("{what} of {address} is not in the cache, and this command does not use the network")]
    NotCached {
        what: String,
        address: String,
        /// What names it for `krmv fetch`.
        arguments: Vec<String>,
    },
    #[error("cannot write to the cache '{}': {source}", .root.display())]
    Cache { root: PathBuf, source: io::Error },
}

impl RemoteError {
    /// What the user can do: a command line, word by word. Empty if nothing is known to help.
    pub fn next_command(&self) -> Vec<&str> {
        match self {
            Self::Address(_)
            | Self::Package(_)
            | Self::Read(_)
            | Self::UnknownForm(_)
            | Self::Replaced { .. }
            | Self::Cache { .. } => Vec::new(),
            Self::Fetch(error) => error.next_command(),
            Self::Content { address, .. } => {
                vec!["curl", "--netrc-optional", "-fLO", address.as_str()]
            }
            Self::Tags { repository, .. } => {
                vec!["git", "ls-remote", "--tags", repository.as_str()]
            }
            Self::Registry { image, .. } => vec!["crane", "ls", image],
            Self::NotCached { arguments, .. } => {
                let fetch = ["krmv", "fetch"].into_iter();
                fetch.chain(arguments.iter().map(String::as_str)).collect()
            }
            Self::NotASource { .. }
            | Self::NotAReference { .. }
            | Self::Archive(_)
            | Self::NoFile { .. }
            | Self::NotUtf8(_)
            | Self::Missing { .. }
            | Self::MissingRelease { .. } => vec!["krmv", "help", "get"],
        }
    }
}
