//! The address of a repository.

use std::fmt;
use std::path::{Path, PathBuf};

use super::encoded::percent_decoded;
use super::{Credentials, Surroundings, Unexpected};

/// The address of a repository: a URL of a listed scheme, an SSH address as `scp` takes it, or an absolute path.
///
/// There is no address that chooses a program (`helper::...`), that looks like a flag, or that has a password: what a
/// user typed is split by [`Address::typed`].
///
/// ```
/// use krm_address::{Address, Surroundings};
/// let anywhere = Surroundings::default();
/// for address in ["https://e.com/r", "ssh://git@e.com:22/r", "git@e.com:o/r", "file:///srv/r", "/srv/r"] {
///     assert_eq!(Address::parse(address, &anywhere)?.to_string(), address);
/// }
/// for address in ["ext::sh -c x", "fd::7", "--upload-pack=x", "ftp://e.com/r", "../r", "https://me:secret@e.com/r"] {
///     assert!(Address::parse(address, &anywhere).is_err());
/// }
/// # Ok::<(), krm_address::Unexpected>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    text: String,
    /// The path on this machine; `None` for a repository that is reached over the network.
    local: Option<PathBuf>,
}

const EXPECTED: &str = "an https, http, ssh, git or file address, or an absolute path";
const PASSWORD: &str =
    "an address without a password (`.netrc` or a credential helper of Git has it)";
const OUTSIDE: &str = "a repository outside of the package and of the work tree that holds it";

/// The schemes of addresses on other machines.
const SCHEMES: [&str; 4] = ["https", "http", "ssh", "git"];

impl Address {
    /// Parses an address that data contains.
    ///
    /// # Errors
    /// [`Unexpected`]: another scheme, a relative path, a path into the surroundings, a password.
    pub fn parse(text: &str, surroundings: &Surroundings) -> Result<Self, Unexpected> {
        let (mut address, credentials) = Self::split(text)?;
        match credentials {
            Some(Credentials { password: None, .. }) => address.text = text.to_owned(),
            Some(_) => return Err(Unexpected::new(PASSWORD, &address.text)),
            None => {}
        }
        let is_inside = |path: &PathBuf| surroundings.contain(path);
        if address.local.as_ref().is_some_and(is_inside) {
            return Err(Unexpected::new(OUTSIDE, text));
        }
        Ok(address)
    }

    /// Parses an address that the user typed, with the user and password in it.
    ///
    /// # Errors
    /// [`Unexpected`]: another scheme, a relative path, a password where the scheme has none.
    pub fn typed(text: &str) -> Result<(Self, Option<Credentials>), Unexpected> {
        Self::split(text)
    }

    /// The path of a repository on this machine.
    pub fn local(&self) -> Option<&Path> {
        self.local.as_deref()
    }

    /// The address as a Kptfile records it. It has no password.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn split(text: &str) -> Result<(Self, Option<Credentials>), Unexpected> {
        let wrong = || Unexpected::new(EXPECTED, &without_user(text));
        let is_plain = |c: char| !c.is_control() && !is_invisible(c);
        if text.is_empty() || text.starts_with('-') || !text.chars().all(is_plain) {
            return Err(wrong());
        }
        let local = |text: &str, path: &str| {
            let path = PathBuf::from(path);
            let local = path.is_absolute().then_some(path)?;
            let (text, local) = (text.to_owned(), Some(local));
            Some((Self { text, local }, None))
        };
        if Path::new(text).is_absolute() {
            return local(text, text).ok_or_else(wrong);
        }
        match text.split_once("://") {
            Some(("file", path)) => local(text, path).ok_or_else(wrong),
            Some((scheme, rest)) if SCHEMES.contains(&scheme) => {
                of_url(scheme, rest).ok_or_else(wrong)?
            }
            Some(_) => Err(wrong()),
            None if is_scp_like(text) => {
                let text = text.to_owned();
                Ok((Self { text, local: None }, None))
            }
            None => Err(wrong()),
        }
    }
}

/// Characters that a reader does not see, or that change the order of others: an address with them is not what it
/// looks like.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

type Typed = Result<(Address, Option<Credentials>), Unexpected>;

/// Splits a URL into the address and what is before its host. `None` if it is not a URL.
fn of_url(scheme: &str, rest: &str) -> Option<Typed> {
    if scheme.starts_with("http") {
        let (host, path, credentials) = authority_of(scheme, rest)?;
        let text = format!("{scheme}://{host}{path}");
        return Some(Ok((Address { text, local: None }, credentials)));
    }
    let (user, host, path) = user_and_host(rest)?;
    let address = |text: String| Address { text, local: None };
    let plain = format!("{scheme}://{host}{path}");
    match user {
        None => Some(Ok((address(plain), None))),
        Some(user) if user.contains(':') => Some(Err(Unexpected::new(PASSWORD, &plain))),
        Some(user) => Some(Ok((
            address(format!("{scheme}://{user}@{host}{path}")),
            None,
        ))),
    }
}

/// Splits what follows the scheme of a URL into the user, the host and the path. `None` if it is not a URL.
fn user_and_host(rest: &str) -> Option<(Option<&str>, &str, &str)> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let is_host = |c: char| c.is_alphanumeric() || ".-_:[]%".contains(c);
    if host.is_empty() || host.starts_with(['-', ':']) || !host.chars().all(is_host) {
        return None;
    }
    if rest.contains(char::is_whitespace) {
        return None;
    }
    if user.is_some_and(|user| user.is_empty() || user.starts_with('-')) {
        return None;
    }
    Some((user, host, path))
}

/// Splits what follows the scheme of an HTTP address into the host, the path, and what a user typed in front of them.
pub(super) fn authority_of<'r>(
    scheme: &str,
    rest: &'r str,
) -> Option<(&'r str, &'r str, Option<Credentials>)> {
    let (user, host, path) = user_and_host(rest)?;
    let Some(user) = user else {
        return Some((host, path, None));
    };
    let (user, password) = match user.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (user, None),
    };
    let credentials = Credentials {
        host: format!("{scheme}://{host}"),
        user: decoded(user)?,
        password: match password {
            Some(password) => Some(decoded(password)?),
            None => None,
        },
    };
    Some((host, path, Some(credentials)))
}

/// Whether a text is `user@host:path` or `host:path`, and not `helper::...`.
fn is_scp_like(text: &str) -> bool {
    let Some((host, path)) = text.split_once(':') else {
        return false;
    };
    let (user, host) = host.split_once('@').unwrap_or(("me", host));
    let is_word = |text: &str| {
        let is_part = |c: char| c.is_alphanumeric() || ".-_+".contains(c);
        !text.is_empty() && !text.starts_with('-') && text.chars().all(is_part)
    };
    is_word(user) && is_word(host) && !path.is_empty() && !path.starts_with([':', '-'])
}

/// A text of a URL with its `%` escapes resolved. `None` if they are wrong, or stand for control characters.
fn decoded(text: &str) -> Option<String> {
    let (bytes, is_right) = percent_decoded(text);
    let text = String::from_utf8(bytes).ok().filter(|_| is_right);
    text.filter(|text| !text.contains(char::is_control))
}

/// A wrong address as an error shows it: what is before an `@` may be a password.
fn without_user(text: &str) -> String {
    let start = text.find("://").map_or(0, |at| at + 3);
    let end = text[start..].find('/').map_or(text.len(), |at| start + at);
    match text[start..end].rfind('@') {
        Some(at) if text[start..start + at].contains(':') => {
            format!("{}{}", &text[..start], &text[start + at + 1..])
        }
        _ => text.to_owned(),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Address, Unexpected> {
        Address::parse(text, &Surroundings::default())
    }

    #[test]
    fn addresses_of_listed_schemes_and_absolute_paths_are_taken() {
        for (text, is_local) in [
            ("https://e.com/r", false),
            ("http://127.0.0.1:8080/r.git", false),
            ("https://[::1]:80/r", false),
            ("ssh://git@e.com:22/o/r", false),
            ("git://e.com/r", false),
            ("git@e.com:o/r", false),
            ("e.com:r", false),
            ("host:/srv/r", false),
            ("file:///srv/r", true),
            ("/srv/r", true),
            ("/srv/a b", true),
            ("/srv/a::b", true),
        ] {
            let address = parsed(text).expect(text);
            assert_eq!(address.to_string(), text);
            assert_eq!(address.local().is_some(), is_local, "{text}");
        }
    }

    #[test]
    fn addresses_that_choose_a_program_or_look_like_a_flag_are_refused() {
        for text in [
            "",
            "-x",
            "--upload-pack=touch x",
            "ext::sh -c touch% x",
            "fd::7",
            "fd::7/https://e.com/r",
            "a::https://e.com/r",
            "ext://e.com",
            "HTTPS://e.com/r",
            "git+ssh://e.com/r",
            "ftp://e.com/r",
            "file://r",
            "../r",
            "r",
            ".",
            "~/r",
            "https://",
            "https:///r",
            "https://-oProxyCommand=x/r",
            "ssh://-oProxyCommand=x/r",
            "ssh://-l@e.com/r",
            "ssh://e.com -oProxyCommand=x/r",
            "-oProxyCommand=x:r",
            "git@-oProxyCommand=x:r",
            "-l@e.com:r",
            "e.com:-x",
            "a b:c",
            "https://e.com/r\n",
            "https://e.com/\u{1b}[31m",
            "https://e.com/\u{202e}r",
            "/srv/r\0",
        ] {
            assert!(parsed(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_password_is_refused_and_not_shown() {
        for text in [
            "https://bob:hunter2@e.com/r",
            "http://:hunter2@e.com/r",
            "ssh://bob:hunter2@e.com/r",
            "git://bob:hunter2@e.com/r",
            "ftp://bob:hunter2@e.com/r",
            "https://bob:hunter2@/r",
            "bob:hunter2@e.com",
        ] {
            let error = parsed(text).map(|address| address.to_string());
            let error = error.map_err(|error| error.to_string());
            if let Err(error) = &error {
                assert!(!error.contains("hunter2"), "{error}");
            }
            assert!(error.is_err() || text == "bob:hunter2@e.com", "{text}");
        }
    }

    #[test]
    fn typed_credentials_leave_the_address() {
        let (address, credentials) =
            Address::typed("https://bob:p%40ss@e.com:8443/r").expect("an address");
        let credentials = credentials.expect("credentials");
        assert_eq!(address.as_str(), "https://e.com:8443/r");
        assert_eq!(credentials.host, "https://e.com:8443");
        assert_eq!(credentials.password.as_deref(), Some("p@ss"));
        assert!(!format!("{credentials:?}").contains("p@ss"));
        assert!(Address::typed("https://bob:a%0ab@e.com/r").is_err());
        let (address, _) = Address::typed("ssh://git@e.com/r").expect("an address");
        assert_eq!(address.as_str(), "ssh://git@e.com/r");
    }
}
