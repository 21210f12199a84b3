//! What data may say about where a package comes from: an address, a name of a tag or branch, a commit, a release.
//!
//! ```text
//! https://github.com/example/catalog   an Address, of a listed scheme or an absolute path
//! nginx/v1.2.0                         a RefName, as Git allows it, and never like a flag
//! 5f0c1a...                            a CommitId, 40 or 64 hexadecimal digits
//! https://e.com/app-1.2.0.tgz          an HttpAddress, of a file; it leads to no weaker protocol
//! chart-1.2.0                          a ReleaseName, in the order of its numbers among those with the same words
//! ```
//!
//! Only these types, and literals of the program, become arguments of a program (`git::GitCommand`).
//!
//! Source: contract, What comes from data, and what it can do.

mod commit_id;
mod credentials;
pub mod encoded;
mod http_address;
pub mod latest;
mod location;
mod ref_name;
pub mod release_name;
mod surroundings;

pub use commit_id::CommitId;
pub use credentials::Credentials;
pub use http_address::HttpAddress;
pub use location::Address;
pub use ref_name::RefName;
pub use surroundings::Surroundings;

/// A text that is not what its place in the data requires. It never contains a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found `{found}`")]
pub struct Unexpected {
    expected: &'static str,
    found: String,
}

/// The most characters of a wrong text that an error shows.
const SHOWN: usize = 120;

impl Unexpected {
    fn new(expected: &'static str, found: &str) -> Self {
        let shown: String = found.chars().take(SHOWN).collect();
        let rest = if shown.len() < found.len() { "..." } else { "" };
        let shown = shown.escape_debug().to_string();
        // `escape_debug` also escapes quotes, which need it in source code only.
        let shown = shown.replace("\\\"", "\"").replace("\\'", "'");
        Self {
            expected,
            found: shown + rest,
        }
    }
}
