//! Runs the user's `curl` for one file.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use krm_address::{Credentials, HttpAddress};

use crate::error::{FetchError, NextStep};
use crate::running::{self, ProgramOutput, StopReason, Watch};

/// How long `curl` may go without a byte. It gives up after 30 seconds with less than 100 bytes each.
const PATIENCE: Duration = Duration::from_secs(70);

/// The most redirects of one file.
const MOST_REDIRECTS: usize = 10;

/// What every run has in common. What a `.curlrc` may say that would change what is read comes last here, and so counts.
const ARGUMENTS: [&str; 20] = [
    "--silent",
    "--show-error",
    "--globoff",
    "--no-location",
    "--no-include",
    "--no-fail",
    "--no-verbose",
    "--netrc-optional",
    "--connect-timeout",
    "30",
    "--speed-limit",
    "100",
    "--speed-time",
    "30",
    "--write-out",
    "",
    "--output",
    "-",
    "--max-redirs",
    "0",
];

/// Who asks.
#[derive(Clone, Default)]
pub enum Secret {
    /// Whoever `.netrc` says.
    #[default]
    None,
    /// A user with a password.
    Basic(Credentials),
    /// The holder of a token.
    Bearer(RegistryToken),
}

/// A token for one header. `Debug` does not show it, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct RegistryToken(String);

impl RegistryToken {
    /// Parses what a server or a configuration contains. `None` if it is not one word.
    pub fn parse(text: &str) -> Option<Self> {
        let is_part = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
        let is_token = !text.is_empty() && text.bytes().all(is_part);
        is_token.then(|| Self(text.to_owned()))
    }
}

impl fmt::Debug for RegistryToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryToken")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Basic(_) => "Basic",
            Self::Bearer(_) => "Bearer",
        })
    }
}

/// A file to get.
#[derive(Debug, Clone)]
pub struct Request<'r> {
    pub address: &'r HttpAddress,
    pub secret: Secret,
    /// The media types that the answer may have, as headers. Empty: any.
    pub accept: &'r [&'static str],
    /// The most bytes.
    pub limit: u64,
    /// Sends this token in a form that trades it for another one (OAuth 2). Its host gets it alone.
    pub refresh: Option<Refresh<'r>>,
}

/// What a form about an identity token contains.
#[derive(Debug, Clone)]
pub struct Refresh<'r> {
    pub token: &'r RegistryToken,
    pub service: String,
    pub scope: String,
}

impl<'r> Request<'r> {
    /// A request of no one in particular.
    pub fn new(address: &'r HttpAddress, limit: u64) -> Self {
        Self {
            address,
            secret: Secret::None,
            accept: &[],
            limit,
            refresh: None,
        }
    }
}

/// What a server answered.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    /// The headers, with names in lower case.
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Where the answer came from, after redirects.
    pub address: HttpAddress,
}

impl Response {
    /// The first header with this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether the server says that there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self.status, 404 | 410)
    }

    /// The bytes. An error if the server refused.
    pub fn bytes(self) -> Result<Vec<u8>, FetchError> {
        if self.status == 200 {
            return Ok(self.body);
        }
        Err(self.refusal())
    }

    /// The bytes of a file that is not a page for browsers. Servers answer with one to ask for a login.
    pub fn file(self) -> Result<Vec<u8>, FetchError> {
        let head = self.body.trim_ascii_start();
        let is_page = ["<!doctype html", "<html"].iter().any(|start| {
            let head = head.get(..start.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
        });
        if self.status == 200 && is_page {
            let shown = self.address.shown();
            let message = format!(
                "cannot read {shown}: expected a file, found a web page (does the address require a login?)"
            );
            return Err(FetchError::of(&self.address, message));
        }
        self.bytes()
    }

    /// What the server's refusal means.
    pub fn refusal(&self) -> FetchError {
        let shown = self.address.shown();
        let meaning = match self.status {
            401 | 403 => {
                " (it requires a user and password, or a token: `.netrc`, or `docker login` for a registry)"
            }
            404 | 410 => " (no such file)",
            429 => " (too many requests)",
            500.. => " (the server failed)",
            _ => "",
        };
        let message = format!(
            "cannot read {shown}: the server answered {}{meaning}",
            self.status
        );
        FetchError::of(&self.address, message)
    }
}

/// Gets a file, following redirects. A refusal of the server is not an error.
pub fn get(request: &Request<'_>) -> Result<Response, FetchError> {
    let mut address = request.address.clone();
    for _ in 0..=MOST_REDIRECTS {
        // Other hosts get no secret.
        let is_same = address.origin() == request.address.origin();
        let mut hop = Request::new(&address, request.limit);
        hop.accept = request.accept;
        if is_same {
            hop.secret = request.secret.clone();
            hop.refresh = request.refresh.clone();
        }
        let response = once(&hop)?;
        let target = match (response.status, response.header("location")) {
            (301 | 302 | 303 | 307 | 308, Some(target)) => target,
            _ => return Ok(response),
        };
        address = address.join(target).map_err(|error| {
            let message = format!("cannot read {}: its redirect: {error}", address.shown());
            FetchError::of(&address, message)
        })?;
    }
    let message = format!(
        "cannot read {}: more than {MOST_REDIRECTS} redirects",
        request.address.shown()
    );
    Err(FetchError::of(request.address, message))
}

/// Gets a file or a redirect.
fn once(request: &Request<'_>) -> Result<Response, FetchError> {
    let folder = tempfile::tempdir().map_err(|error| not_run(request.address, error))?;
    let headers = folder.path().join("headers");
    let mut curl = prepared(request, &headers);
    let input = configuration(request);
    let watch = Watch {
        patience: Some(PATIENCE),
        limit: Some(request.limit),
        input: input.as_bytes(),
    };
    let output =
        running::run(&mut curl, &watch).map_err(|error| not_run(request.address, error))?;
    refuse_failed(request, &output)?;
    let headers = std::fs::read(&headers).unwrap_or_default();
    let (status, headers) = last_head(&String::from_utf8_lossy(&headers)).ok_or_else(|| {
        let message = format!(
            "cannot read {}: expected an HTTP response, found none",
            request.address.shown()
        );
        FetchError::of(request.address, message)
    })?;
    Ok(Response {
        status,
        headers,
        body: output.stdout,
        address: request.address.clone(),
    })
}

fn prepared(request: &Request<'_>, headers: &Path) -> Command {
    let mut curl = Command::new("curl");
    curl.args(ARGUMENTS);
    let protocol = if request.address.is_secure() {
        "=https"
    } else {
        "=http"
    };
    curl.args(["--proto", protocol, "--max-filesize"]);
    curl.arg(request.limit.to_string());
    curl.arg("--dump-header").arg(headers);
    curl.args(["--config", "-"]);
    // `curl` reads no file of a folder that data filled.
    curl.current_dir("/");
    curl
}

/// What goes by standard input: the address, whose query may have a secret, and secrets.
fn configuration(request: &Request<'_>) -> String {
    let mut lines = vec![format!("url = \"{}\"", request.address.encoded())];
    for accept in request.accept {
        lines.push(format!("header = \"Accept: {accept}\""));
    }
    match &request.secret {
        Secret::None => {}
        Secret::Basic(credentials) => lines.push(credentials.curl_setting()),
        Secret::Bearer(token) => {
            lines.push(format!("header = \"Authorization: Bearer {}\"", token.0))
        }
    }
    if let Some(refresh) = &request.refresh {
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", "krmv"),
            ("service", &refresh.service),
            ("scope", &refresh.scope),
            ("refresh_token", &refresh.token.0),
        ];
        for (name, value) in fields {
            // `curl` escapes the value for the form.
            let value = value.replace(['"', '\\', '\n', '\r'], "");
            lines.push(format!("data-urlencode = \"{name}={value}\""));
        }
    }
    lines.join("\n") + "\n"
}

fn not_run(address: &HttpAddress, error: std::io::Error) -> FetchError {
    let shown = address.shown();
    let (message, next) = if error.kind() == ErrorKind::NotFound {
        let message = format!(
            "cannot find `curl` on PATH, which reads files on web servers; fetch {shown} by hand and name the file instead"
        );
        (message, NextStep::CheckCurl)
    } else {
        let message = format!("cannot run `curl` for {shown}: {error}");
        (message, NextStep::Unknown)
    };
    FetchError::not_run(message, next, error)
}

/// An error if `curl` did not get an answer.
fn refuse_failed(request: &Request<'_>, output: &ProgramOutput) -> Result<(), FetchError> {
    let limit = request.limit >> 20;
    let reason = match (output.stopped, output.status.code()) {
        (Some(StopReason::TooMuch), _) | (None, Some(63)) => {
            format!("it has more than {limit} MB")
        }
        (Some(StopReason::Silence), _) | (None, Some(28)) => {
            "gave up: less than 100 bytes a second for 30 seconds".to_owned()
        }
        (None, Some(0)) => return Ok(()),
        (None, Some(18)) => "the response was cut off".to_owned(),
        (None, code) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let line = text.lines().rfind(|line| line.starts_with("curl: "));
            let code = code.map_or_else(
                || output.status.to_string(),
                |code| format!("exit code {code}"),
            );
            line.map_or_else(|| format!("curl ended with {code}"), str::to_owned)
        }
    };
    let message = format!("cannot read {}: {reason}", request.address.shown());
    Err(FetchError::of(request.address, message))
}

/// The status and the headers of the last answer in a dump: earlier ones are of a proxy, or not final.
fn last_head(dump: &str) -> Option<(u16, Vec<(String, String)>)> {
    let heads = dump.match_indices("HTTP/").map(|(at, _)| at);
    let heads = heads.filter(|at| *at == 0 || dump[..*at].ends_with('\n'));
    let mut lines = dump[heads.last()?..].lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines.take_while(|line| !line.trim().is_empty());
    let headers = headers.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
    });
    Some((status, headers.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_of_a_dump_counts() {
        let dump = "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n\
            HTTP/2 302 \r\nLocation: https://e.com/b\r\nX: a: b HTTP/1\r\n\r\n";
        let (status, headers) = last_head(dump).expect("an answer");
        assert_eq!(status, 302);
        assert_eq!(
            headers[0],
            ("location".to_owned(), "https://e.com/b".to_owned())
        );
        assert_eq!(headers[1].1, "a: b HTTP/1");
        for other in ["", "HTTP/1.1", "SSH-2.0", "HTTP/1.1 x\r\n"] {
            assert!(last_head(other).is_none(), "{other}");
        }
    }

    #[test]
    fn no_secret_and_no_address_is_an_argument() {
        let address = HttpAddress::parse("https://e.com/a?sig=hunter2").expect("an address");
        let credentials = Credentials::of_host("https://e.com", "me", "hunter3");
        for secret in [
            Secret::Basic(credentials),
            Secret::Bearer(RegistryToken("hunter4".to_owned())),
        ] {
            let request = Request {
                secret,
                accept: &["a/b"],
                ..Request::new(&address, 1)
            };
            let curl = prepared(&request, Path::new("/tmp/headers"));
            let shown = format!("{curl:?} {request:?}").replace(address.as_str(), "");
            assert!(!shown.contains("hunter"), "{shown}");
            let input = configuration(&request);
            assert!(input.contains("hunter2"), "{input}");
            assert!(
                input.contains("hunter3") || input.contains("hunter4"),
                "{input}"
            );
        }
    }

    #[test]
    fn tokens_are_single_words() {
        assert!(RegistryToken::parse("eyJ.a-b_c~+/==").is_some());
        for text in ["", "a b", "a\"\noutput = \"/x", "a\\", "\u{e4}", "a\n"] {
            assert!(RegistryToken::parse(text).is_none(), "{text:?}");
        }
    }
}
