//! The user and password that a user typed as part of an address.

use std::fmt;

/// A user, and perhaps a password, for one host. They are for a program's environment only: `Debug` shows neither, and
/// there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// `https://host`, with the port.
    pub(super) host: String,
    pub(super) user: String,
    pub(super) password: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// The helper that Git asks. The text is the same for every user: it names variables, and their values stay in the
/// environment.
const HELPER: &str = r#"!f() { test "$1" = get || exit 0; printf 'username=%s\npassword=%s\n' "$KRMV_TYPED_USER" "$KRMV_TYPED_PASSWORD"; }; f"#;

impl Credentials {
    /// The variables that give them to one run of Git, and to no other host. `first` settings of the environment are
    /// taken by the user.
    ///
    /// A password does not go into a URL of the configuration: Git would pass that URL as an argument to its own
    /// programs.
    pub fn variables(&self, first: usize) -> Vec<(String, String)> {
        let scope = |key: &str| format!("credential.{}.{key}", self.host);
        let mut settings = vec![(scope("username"), self.user.clone())];
        if self.password.is_some() {
            // An empty helper forgets all others: none is asked before this one, and none stores the password.
            settings.push((scope("helper"), String::new()));
            settings.push((scope("helper"), HELPER.to_owned()));
        }
        let mut variables = vec![(
            "GIT_CONFIG_COUNT".to_owned(),
            (first + settings.len()).to_string(),
        )];
        for (at, (key, value)) in (first..).zip(settings) {
            variables.push((format!("GIT_CONFIG_KEY_{at}"), key));
            variables.push((format!("GIT_CONFIG_VALUE_{at}"), value));
        }
        if let Some(password) = &self.password {
            variables.push(("KRMV_TYPED_USER".to_owned(), self.user.clone()));
            variables.push(("KRMV_TYPED_PASSWORD".to_owned(), password.clone()));
        }
        variables
    }

    /// Credentials for one host, from the user's own configuration.
    pub fn of_host(host: &str, user: &str, password: &str) -> Self {
        Self {
            host: host.to_owned(),
            user: user.to_owned(),
            password: Some(password.to_owned()),
        }
    }

    /// The line of a configuration that gives them to one run of `curl`, by its standard input.
    pub fn curl_setting(&self) -> String {
        let password = self.password.as_deref().unwrap_or_default();
        format!("user = {}", curl_word(&format!("{}:{password}", self.user)))
    }

    /// Removes them from a message of Git, which may print the user.
    pub fn removed_from(&self, message: &str) -> String {
        let mut message = message.to_owned();
        for secret in self.password.iter().chain([&self.user]) {
            if !secret.is_empty() {
                message = message.replace(secret.as_str(), "<redacted>");
            }
        }
        message
    }
}

/// A value in a configuration of `curl`.
fn curl_word(text: &str) -> String {
    let mut word = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => word.extend(['\\', c]),
            '\n' => word.push_str("\\n"),
            '\r' => word.push_str("\\r"),
            '\t' => word.push_str("\\t"),
            other => word.push(other),
        }
    }
    word + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_one_value_of_a_setting() {
        let credentials = Credentials::of_host("https://e.com", "me", "a\"b\\c\nurl = x");
        assert_eq!(
            credentials.curl_setting(),
            r#"user = "me:a\"b\\c\nurl = x""#
        );
        assert!(!format!("{credentials:?}").contains("url"));
    }
}
