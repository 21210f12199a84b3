//! The address of a file on a web server.

use std::fmt;

use super::location::{authority_of, is_invisible};
use super::{Credentials, Unexpected};

/// An address of `https`, or of `http` where a user wrote that. It has no user, no password and no fragment.
///
/// An address that a server names is relative to the one that it was asked for, and never leads from `https` to
/// anything else:
///
/// ```
/// use krm_address::HttpAddress;
/// let index = HttpAddress::parse("https://e.com/charts/index.yaml")?;
/// assert_eq!(index.join("app-1.2.0.tgz")?.as_str(), "https://e.com/charts/app-1.2.0.tgz");
/// assert_eq!(index.join("//cdn.e.com/a.tgz")?.as_str(), "https://cdn.e.com/a.tgz");
/// for reference in ["http://e.com/app.tgz", "ftp://e.com/app.tgz", "file:///etc/passwd", "https://me:pw@e.com/a"] {
///     assert!(index.join(reference).is_err());
/// }
/// # Ok::<(), krm_address::Unexpected>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HttpAddress {
    text: String,
    /// Where the authority begins, and where it ends.
    authority: (usize, usize),
}

const EXPECTED: &str = "an https or http address";
const PASSWORD: &str = "an address without a user and password (`.netrc` has them)";
const SAME_PROTOCOL: &str = "an https address, like the one that named it";

impl HttpAddress {
    /// Parses an address that data contains.
    ///
    /// # Errors
    /// [`Unexpected`]: another scheme, a user or a password, characters that no address has.
    pub fn parse(text: &str) -> Result<Self, Unexpected> {
        match Self::typed(text)? {
            (address, None) => Ok(address),
            (address, Some(_)) => Err(Unexpected::new(PASSWORD, &address.text)),
        }
    }

    /// Parses an address that the user typed, with the user and password in it.
    ///
    /// # Errors
    /// [`Unexpected`]: another scheme, characters that no address has.
    pub fn typed(text: &str) -> Result<(Self, Option<Credentials>), Unexpected> {
        let wrong = || Unexpected::new(EXPECTED, &without_user(text));
        let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !is_invisible(c);
        if !text.chars().all(is_plain) || text.contains(['"', '\\', '<', '>']) {
            return Err(wrong());
        }
        let text = text.split('#').next().unwrap_or_default();
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        if !["https", "http"].contains(&scheme) {
            return Err(wrong());
        }
        let (host, path, credentials) = authority_of(scheme, rest).ok_or_else(wrong)?;
        if !host.is_ascii() {
            return Err(wrong());
        }
        let start = scheme.len() + "://".len();
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        let address = Self {
            text: format!("{scheme}://{host}{path}"),
            authority: (start, start + host.len()),
        };
        Ok((address, credentials))
    }

    /// The address that a server named in an answer from this one.
    ///
    /// # Errors
    /// [`Unexpected`]: as [`parse`](Self::parse), or a way from `https` to another protocol.
    pub fn join(&self, reference: &str) -> Result<Self, Unexpected> {
        let reference = reference.trim();
        let has_scheme = reference.split_once(':').is_some_and(|(scheme, _)| {
            let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_scheme)
        });
        let scheme = &self.text[..self.authority.0 - "://".len()];
        let reference = encoded(reference);
        let text = if has_scheme {
            reference
        } else if reference.starts_with("//") {
            format!("{scheme}:{reference}")
        } else {
            let path = self.path();
            let path = path.split('?').next().unwrap_or(path);
            let path = match reference.chars().next() {
                None => self.path().to_owned(),
                Some('/') => reference,
                Some('?') => format!("{path}{reference}"),
                Some(_) => {
                    let folder = path.rfind('/').map_or(0, |at| at + 1);
                    format!("{}{reference}", &path[..folder])
                }
            };
            format!("{}{}", self.origin(), without_dots(&path))
        };
        let joined = Self::parse(&text)?;
        if self.is_secure() && !joined.is_secure() {
            return Err(Unexpected::new(SAME_PROTOCOL, &joined.shown()));
        }
        Ok(joined)
    }

    /// Whether it is an address of `https`.
    pub fn is_secure(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// The whole address.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The address for a program, with characters outside of ASCII escaped.
    pub fn encoded(&self) -> String {
        encoded(&self.text)
    }

    /// The address for a person: a query may have a secret in it.
    pub fn shown(&self) -> String {
        match self.text.split_once('?') {
            Some((address, _)) => format!("{address}?..."),
            None => self.text.clone(),
        }
    }

    /// Its beginning, to where the path begins: `https://e.com:8443`.
    pub fn origin(&self) -> &str {
        &self.text[..self.authority.1]
    }

    /// The host with its port.
    pub fn authority(&self) -> &str {
        &self.text[self.authority.0..self.authority.1]
    }

    /// The host without its port.
    pub fn host(&self) -> &str {
        let authority = self.authority();
        match authority.rfind(']') {
            Some(end) => &authority[..=end],
            None => authority.split(':').next().unwrap_or(authority),
        }
    }

    /// The path, with the query.
    pub fn path(&self) -> &str {
        &self.text[self.authority.1..]
    }

    /// Whether the host is this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(self.host())
    }
}

/// Whether a host is this machine, as container tools decide it.
fn is_loopback(host: &str) -> bool {
    let is_number = |part: &str| part.parse::<u8>().is_ok();
    let is_ip =
        host.starts_with("127.") && host.split('.').count() == 4 && host.split('.').all(is_number);
    host == "localhost" || host == "[::1]" || is_ip
}

/// A path without `.` and `..`.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut parts: Vec<&str> = Vec::new();
    let mut components = path.split('/').skip(1).peekable();
    while let Some(component) = components.next() {
        let is_last = components.peek().is_none();
        match component {
            "." | ".." => {
                if component == ".." {
                    parts.pop();
                }
                if is_last {
                    parts.push("");
                }
            }
            other => parts.push(other),
        }
    }
    format!("/{}{query}", parts.join("/"))
}

/// A text with the bytes escaped that no address has: blanks and characters outside of ASCII.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// A wrong address as an error shows it: what is before an `@` may be a password.
fn without_user(text: &str) -> String {
    let start = text.find("://").map_or(0, |at| at + 3);
    let end = text[start..].find('/').map_or(text.len(), |at| start + at);
    match text[start..end].rfind('@') {
        Some(at) => format!("{}{}", &text[..start], &text[start + at + 1..]),
        None => text.to_owned(),
    }
}

impl fmt::Display for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> HttpAddress {
        HttpAddress::parse(text).expect(text)
    }

    #[test]
    fn the_parts_of_an_address() {
        for (text, origin, host, path) in [
            (
                "https://e.com/a/b?x=1",
                "https://e.com",
                "e.com",
                "/a/b?x=1",
            ),
            ("https://e.com", "https://e.com", "e.com", "/"),
            ("http://[::1]:80/a#b", "http://[::1]:80", "[::1]", "/a"),
            ("https://e.com:8443/a", "https://e.com:8443", "e.com", "/a"),
            ("https://e.com?x", "https://e.com", "e.com", "/?x"),
        ] {
            let address = parsed(text);
            assert_eq!(address.origin(), origin);
            assert_eq!(address.host(), host);
            assert_eq!(address.path(), path);
        }
        assert_eq!(
            parsed("https://e.com/a?sig=s").shown(),
            "https://e.com/a?..."
        );
        assert_eq!(parsed("https://e.com/ä").encoded(), "https://e.com/%C3%A4");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "ftp://e.com/a",
            "file:///etc/passwd",
            "HTTPS://e.com/a",
            "//e.com/a",
            "https:///a",
            "https://-oX/a",
            "https://e.com/a b",
            "https://e.com/\n",
            "https://e.com/\"",
            "https://e.com/\\..",
            "https://e.com/\u{202e}a",
            "https://me:hunter2@e.com/a",
            "https://hunter2@e.com/a",
        ] {
            let error = HttpAddress::parse(text).expect_err(text).to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn addresses_that_a_server_names_are_relative_to_its_own() {
        let index = parsed("https://e.com/a/b/index.yaml?x=1");
        for (reference, expected) in [
            ("c.tgz", "https://e.com/a/b/c.tgz"),
            ("../c.tgz", "https://e.com/a/c.tgz"),
            ("../../../c.tgz", "https://e.com/c.tgz"),
            ("./c/./d/../e", "https://e.com/a/b/c/e"),
            ("/c.tgz?n=2", "https://e.com/c.tgz?n=2"),
            ("?last=v1", "https://e.com/a/b/index.yaml?last=v1"),
            ("//f.com/c", "https://f.com/c"),
            ("https://f.com/c d", "https://f.com/c%20d"),
            ("..", "https://e.com/a/"),
        ] {
            assert_eq!(index.join(reference).expect(reference).as_str(), expected);
        }
        for reference in [
            "http://e.com/c",
            "ftp://e.com",
            "file:///c",
            "data:x",
            "javascript:x",
        ] {
            assert!(index.join(reference).is_err(), "{reference}");
        }
        let plain = parsed("http://e.com/a");
        assert!(plain.join("https://f.com/b").is_ok() && plain.join("http://f.com/b").is_ok());
        assert!(plain.join("ftp://f.com/b").is_err());
    }

    #[test]
    fn this_machine_is_recognized_by_its_addresses() {
        for (text, expected) in [
            ("http://127.0.0.1:5000/", true),
            ("http://127.1.2.3/", true),
            ("http://localhost:5000/", true),
            ("http://[::1]:5000/", true),
            ("http://127.0.0.1.example.com/", false),
            ("http://localhost.example.com/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(parsed(text).is_loopback(), expected, "{text}");
        }
    }
}
