//! A web server on the loopback address, for tests of what goes over the network. It answers as it is told, wrongly too.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a client asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The path with the query.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What the server answers.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) end: End,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    /// After half of the body.
    CutOff,
    /// Never: the body is sent again and again, without a length.
    Endless,
    /// After this many seconds without a byte.
    Silent(u64),
}

impl Answer {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            end: End::Whole,
        }
    }

    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, body)
    }

    pub(crate) fn missing() -> Self {
        Self::new(404, "no such file")
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::new(302, "").with("Location", to)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn ending(self, end: End) -> Self {
        Self { end, ..self }
    }
}

type Handler = Box<dyn Fn(&Asked) -> Answer + Send + Sync>;

/// A server that runs until the test ends.
pub(crate) struct Server {
    /// `127.0.0.1:PORT`
    pub(crate) host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub(crate) fn start(handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let handler: Arc<Handler> = Arc::new(Box::new(handler));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, handler) = (Arc::clone(&log), Arc::clone(&handler));
                std::thread::spawn(move || {
                    // The client may have gone.
                    let _ = serve(stream, &log, &handler);
                });
            }
        });
        Self { host, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    /// What clients asked for so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    pub(crate) fn forget(&self) {
        self.asked.lock().expect("no panic").clear();
    }
}

fn serve(stream: TcpStream, log: &Mutex<Vec<Asked>>, handler: &Handler) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next(), words.next());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut asked = Asked {
        method: method.unwrap_or_default(),
        path: path.unwrap_or_default(),
        headers,
        body: String::new(),
    };
    let length = asked
        .header("content-length")
        .and_then(|text| text.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    asked.body = String::from_utf8_lossy(&body).into_owned();
    log.lock().expect("no panic").push(asked.clone());
    send(stream, &handler(&asked), asked.method == "HEAD")
}

fn send(mut stream: TcpStream, answer: &Answer, is_head: bool) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\nConnection: close\r\n", answer.status);
    if answer.end != End::Endless {
        head += &format!("Content-Length: {}\r\n", answer.body.len());
    }
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    if is_head {
        return Ok(());
    }
    match answer.end {
        End::Whole => stream.write_all(&answer.body),
        End::CutOff => stream.write_all(&answer.body[..answer.body.len() / 2]),
        End::Endless => loop {
            stream.write_all(&answer.body)?;
        },
        End::Silent(seconds) => {
            std::thread::sleep(Duration::from_secs(seconds));
            stream.write_all(&answer.body)
        }
    }
}
