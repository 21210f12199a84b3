//! Who the user is at a registry, as `docker login` recorded it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use krm_address::Credentials;
use krm_address::encoded::{base64_decoded, is_base64};
use serde::Deserialize;

use crate::running::{self, Watch};

use super::curl::RegistryToken;

/// The configuration of `docker`, with the logins of its registries.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DockerLogin {
    #[serde(default)]
    auths: BTreeMap<String, LoginEntry>,
    #[serde(default)]
    cred_helpers: BTreeMap<String, String>,
    #[serde(default)]
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
struct LoginEntry {
    #[serde(default)]
    auth: String,
    #[serde(default)]
    identitytoken: String,
}

impl std::fmt::Debug for LoginEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginEntry").finish_non_exhaustive()
    }
}

/// What a helper prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

/// Who the user is at a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    Password(Credentials),
    /// The holder of an identity token, which is traded for a token.
    Identity(RegistryToken),
}

/// The name that Docker Hub has in a configuration.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// The user name that stands for an identity token.
const IDENTITY: &str = "<token>";

/// How long a helper may take: it may ask the user.
const PATIENCE: Duration = Duration::from_secs(60);

impl DockerLogin {
    /// Reads the user's configuration. Without one, no registry has a login.
    pub fn read() -> Self {
        let of = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let folder = of("DOCKER_CONFIG").or_else(|| Some(of("HOME")?.join(".docker")));
        let file = folder.map(|folder| folder.join("config.json"));
        let text = file.and_then(|file| std::fs::read(file).ok());
        let read = text.and_then(|text| serde_json::from_slice(&text).ok());
        read.unwrap_or_default()
    }

    /// The login for a registry.
    pub fn at(&self, host: &str) -> Option<Login> {
        let names = names_of(host);
        let helper = names.iter().find_map(|name| self.cred_helpers.get(name));
        if let Some(helper) = helper.or(self.creds_store.as_ref()) {
            let mut found = names.iter().filter_map(|name| ask(helper, name));
            if let Some(login) = found.next() {
                return login.for_host(host);
            }
        }
        let mut entries = names.iter().filter_map(|name| self.auths.get(name));
        let entry = entries.next()?;
        if !entry.identitytoken.is_empty() {
            return RegistryToken::parse(&entry.identitytoken).map(Login::Identity);
        }
        let decoded = from_base64(&entry.auth)?;
        let (user, password) = decoded.split_once(':')?;
        let password = password.trim_end_matches('\0');
        Some(Login::Password(Credentials::of_host(host, user, password)))
    }
}

impl HelperAnswer {
    fn for_host(self, host: &str) -> Option<Login> {
        if self.username == IDENTITY {
            return RegistryToken::parse(&self.secret).map(Login::Identity);
        }
        let credentials = Credentials::of_host(host, &self.username, &self.secret);
        Some(Login::Password(credentials))
    }
}

/// The names that a registry may have in a configuration.
fn names_of(host: &str) -> Vec<String> {
    let mut names = vec![
        host.to_owned(),
        format!("https://{host}"),
        format!("https://{host}/v1/"),
        format!("http://{host}"),
    ];
    if ["registry-1.docker.io", "docker.io", "index.docker.io"].contains(&host) {
        names.insert(0, DOCKER_HUB.to_owned());
        names.push("docker.io".to_owned());
    }
    names
}

/// Asks a helper on PATH.
fn ask(helper: &str, name: &str) -> Option<HelperAnswer> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if helper.is_empty() || !helper.chars().all(is_word) {
        return None;
    }
    let mut program = Command::new(format!("docker-credential-{helper}"));
    program.arg("get").current_dir(Path::new("/"));
    let watch = Watch {
        patience: Some(PATIENCE),
        limit: Some(1 << 20),
        input: name.as_bytes(),
    };
    let output = running::run(&mut program, &watch).ok()?;
    let found = output.status.success().then_some(output.stdout)?;
    serde_json::from_slice(&found).ok()
}

/// The text that is written as base64. `None` if it is not.
fn from_base64(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('=');
    let is_right = text.bytes().all(|byte| is_base64(byte) && byte != b'=');
    let bytes = is_right.then(|| base64_decoded(text.as_bytes()));
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding() {
        for (text, expected) in [
            ("bWU6cHc=", Some("me:pw")),
            ("bWU6cHc", Some("me:pw")),
            ("bWU6cGFzcw==", Some("me:pass")),
            ("", Some("")),
            ("b!", None),
        ] {
            assert_eq!(from_base64(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_login_is_found_by_any_name_of_its_registry() {
        let text = r#"{"auths": {"e.com:5000": {"auth": "bWU6cHc="}, "https://f.com": {"auth": "bWU6cHc="},
            "https://index.docker.io/v1/": {"auth": "bWU6cHc="}, "g.com": {"auth": "x", "identitytoken": "t"},
            "empty.com": {}}, "other": 1}"#;
        let login: DockerLogin = serde_json::from_str(text).expect("a configuration");
        let password = |host: &str| Some(Login::Password(Credentials::of_host(host, "me", "pw")));
        for host in ["e.com:5000", "f.com", "registry-1.docker.io"] {
            assert_eq!(login.at(host), password(host), "{host}");
        }
        let token = RegistryToken::parse("t").expect("a token");
        assert_eq!(login.at("g.com"), Some(Login::Identity(token)));
        for host in ["e.com", "empty.com", "h.com"] {
            assert_eq!(login.at(host), None, "{host}");
        }
        assert!(!format!("{login:?}").contains("bWU6"));
    }

    #[test]
    fn a_helper_is_a_word() {
        for helper in ["../x", "a b", "", "x;y"] {
            assert!(ask(helper, "e.com").is_none(), "{helper}");
        }
    }
}
