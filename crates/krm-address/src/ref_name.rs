//! The name of a tag or branch.

use std::fmt;

use super::Unexpected;

/// The name of a tag or branch, whole (`refs/tags/v1`) or in part (`v1`), by Git's own rules for names. It never begins
/// with a `-`.
///
/// ```
/// use krm_address::RefName;
/// for name in ["v1.2.0", "web/v1", "refs/heads/main"] {
///     assert!(RefName::parse(name).is_ok());
/// }
/// for name in ["--upload-pack=x", "-f", "a b", "a..b", "a:b", "a\n", "HEAD~1", "x.lock", ""] {
///     assert!(RefName::parse(name).is_err());
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefName(String);

impl RefName {
    /// Parses a name.
    ///
    /// # Errors
    /// [`Unexpected`]: Git does not allow the name, or it begins with a `-`.
    pub fn parse(text: &str) -> Result<Self, Unexpected> {
        let is_name = gix_validate::reference::name_partial(text.into()).is_ok();
        if is_name && !text.starts_with('-') {
            return Ok(Self(text.to_owned()));
        }
        Err(Unexpected::new("the name of a tag or branch", text))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
