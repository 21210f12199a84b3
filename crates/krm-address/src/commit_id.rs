//! The id of a commit.

use std::fmt;

use super::Unexpected;

/// The full id of a commit or of another object: 40 or 64 hexadecimal digits, in lower case.
///
/// ```
/// use krm_address::CommitId;
/// assert!(CommitId::parse("--output=/home/you/.bashrc").is_err());
/// assert!(CommitId::parse("5F0C").is_err());
/// let id = CommitId::parse(&"5F".repeat(20))?;
/// assert_eq!(id.as_str(), "5f".repeat(20));
/// # Ok::<(), krm_address::Unexpected>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(String);

impl CommitId {
    /// Parses an id.
    ///
    /// # Errors
    /// [`Unexpected`]: another length, or another character.
    pub fn parse(text: &str) -> Result<Self, Unexpected> {
        let is_length = text.len() == 40 || text.len() == 64;
        if is_length && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        let expected = "the id of a commit (40 or 64 hexadecimal digits)";
        Err(Unexpected::new(expected, text))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
