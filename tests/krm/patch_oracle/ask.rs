//! The oracle: a process that answers one JSON line with another.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use krm_yaml::{Document, ParseOptions, Tree, Value};

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) ok: bool,
    pub(crate) result: Option<Value>,
    pub(crate) patch: Option<Value>,
    pub(crate) kind: String,
    pub(crate) error: String,
}

/// Asks all questions, and gives the answers in their order.
pub(crate) fn ask(oracle: &Path, questions: &[String]) -> Vec<Answer> {
    let mut child = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts");
    let mut stdin = child.stdin.take().expect("piped");
    let stdout = BufReader::new(child.stdout.take().expect("piped"));
    let answers = std::thread::scope(|scope| {
        scope.spawn(move || {
            for question in questions {
                writeln!(stdin, "{question}").expect("the oracle reads");
            }
        });
        stdout
            .lines()
            .map(|line| read(&line.expect("a line")))
            .collect()
    });
    assert!(child.wait().expect("ends").success(), "the oracle failed");
    answers
}

pub(crate) fn json(text: &str) -> Value {
    let tree = Tree::parse(text, ParseOptions::default()).expect(text);
    let root = Document::new(text, &tree).root(0).expect("a value");
    root.value().expect("no aliases")
}

fn read(line: &str) -> Answer {
    let answer = json(line);
    let text = |key: &str| {
        answer
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    Answer {
        ok: answer.get("ok") == Some(&Value::from(true)),
        result: answer.get("result").cloned(),
        patch: answer.get("patch").cloned(),
        kind: text("kind"),
        error: text("error"),
    }
}
