//! Digests of content, as OCI writes them.

use std::fmt;

use sha2::{Digest, Sha256};

/// The digest of content: `sha256:` and 64 hexadecimal digits in lower case.
///
/// ```
/// use krm_upstream::ContentDigest;
/// let digest = ContentDigest::of(b"x");
/// assert_eq!(ContentDigest::parse(digest.as_str()), Some(digest));
/// assert_eq!(ContentDigest::parse("sha256:../x"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentDigest(String);

impl ContentDigest {
    /// Parses what data contains.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:")?;
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_digest = hex.len() == 64 && hex.bytes().all(is_hex);
        is_digest.then(|| Self(text.to_owned()))
    }

    /// Reads a digest that another program wrote. The error says what was expected.
    pub fn read(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| format!("expected a digest sha256:HEX, found `{text}`"))
    }

    /// Refuses content with another digest.
    pub fn check(&self, bytes: &[u8]) -> Result<(), String> {
        match Self::of(bytes) {
            found if found == *self => Ok(()),
            found => Err(format!(
                "expected content with the digest {self}, found {found}"
            )),
        }
    }

    pub fn of(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        let hex = digest.iter().map(|byte| format!("{byte:02x}"));
        Self(format!("sha256:{}", hex.collect::<String>()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digits alone.
    pub fn hex(&self) -> &str {
        &self.0["sha256:".len()..]
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_64_digits() {
        let hex = "ab".repeat(32);
        assert!(ContentDigest::parse(&format!("sha256:{hex}")).is_some());
        for text in [
            &*hex,
            "sha256:../x",
            "sha512:ab",
            &format!("sha256:{}", hex.to_uppercase()),
        ] {
            assert!(ContentDigest::parse(text).is_none(), "{text}");
        }
    }
}
