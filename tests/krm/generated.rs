//! Documents in random style, edited at random.

use krm_yaml::{Content, Document, EditError, Editor, ParseOptions, Part, Tree};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::edit_law::{self, Place};
use crate::texts;

/// Numbers that a document is made of: 0 always chooses the simplest, so that failures shrink.
struct Choices<'c> {
    left: std::slice::Iter<'c, u16>,
    comments: usize,
    anchors: usize,
    step: usize,
    wide: bool,
}

impl<'c> Choices<'c> {
    fn new(choices: &'c [u16]) -> Self {
        let mut new = Self {
            left: choices.iter(),
            comments: 0,
            anchors: 0,
            step: 2,
            wide: false,
        };
        new.step = [2, 4, 1, 3][new.pick(4)];
        new.wide = new.pick(2) == 1;
        new
    }

    fn pick(&mut self, count: usize) -> usize {
        usize::from(*self.left.next().unwrap_or(&0)) % count
    }

    fn rarely(&mut self) -> bool {
        self.pick(6) == 5
    }

    fn comment(&mut self) -> String {
        self.comments += 1;
        format!("# comment {}", self.comments)
    }

    fn line_comment(&mut self) -> String {
        if self.rarely() {
            format!(" {}", self.comment())
        } else {
            String::new()
        }
    }

    /// Blank and comment lines in front of an entry or item.
    fn trivia(&mut self, column: usize, out: &mut String) {
        while self.rarely() {
            match self.pick(3) {
                0 => out.push('\n'),
                1 => out.push_str(&format!("{:column$}{}\n", "", self.comment())),
                _ => {
                    let column = column + self.pick(4);
                    out.push_str(&format!("{:column$}{}\n", "", self.comment()));
                }
            }
        }
    }

    fn word(&mut self) -> &'static str {
        let words = [
            "a",
            "word",
            "two words",
            "1",
            "true",
            "'quoted'",
            "\"double\\n\"",
            "x:y",
            "''",
            "~",
            "\"#\"",
            "2001-01-01",
            "http://x#y",
        ];
        words[self.pick(words.len())]
    }

    fn key(&mut self, index: usize) -> String {
        match self.pick(5) {
            0..3 => format!("k{index}"),
            3 => format!("'k {index}'"),
            _ => format!("\"k{index}\""),
        }
    }

    fn flow(&mut self, depth: usize, column: usize, lines: bool) -> String {
        let mapping = self.pick(2) == 0;
        let count = self.pick(4);
        let mut out = String::from(if mapping { "{" } else { "[" });
        for index in 0..count {
            if lines {
                out.push_str(&self.line_comment());
                out.push_str(&format!("\n{:column$}", ""));
                if self.rarely() {
                    out.push_str(&format!("{}\n{:column$}", self.comment(), ""));
                }
            } else if index > 0 {
                out.push(' ');
            }
            if mapping {
                out.push_str(&format!("{}: ", self.key(index)));
            }
            match self.pick(4) {
                3 if depth > 0 => out.push_str(&self.flow(depth - 1, column + 2, lines)),
                _ => out.push_str(self.word()),
            }
            if index + 1 < count || (lines && self.rarely()) {
                out.push(',');
            }
        }
        if lines && count > 0 {
            out.push_str(&self.line_comment());
            out.push_str(&format!(
                "\n{:width$}",
                "",
                width = column.saturating_sub(1)
            ));
        }
        out.push(if mapping { '}' } else { ']' });
        out
    }

    /// What stands behind a key or dash; ends with a line break.
    fn value(&mut self, depth: usize, owner: usize, dash: bool, out: &mut String) {
        let kinds = if depth > 0 { 11 } else { 8 };
        match self.pick(kinds) {
            0..3 => {
                let anchored = self.rarely();
                if anchored {
                    self.anchors += 1;
                    out.push_str(&format!(" &a{}", self.anchors));
                }
                out.push_str(&format!(" {}", self.word()));
                out.push_str(&self.line_comment());
                out.push('\n');
            }
            3 => {
                out.push_str(&self.line_comment());
                out.push('\n');
            }
            4 => self.block_scalar(owner, out),
            5 => {
                let flow = self.flow(2, owner + 2, false);
                out.push_str(&format!(" {flow}{}\n", self.line_comment()));
            }
            6 => {
                let flow = self.flow(2, owner + 2, true);
                out.push_str(&format!(" {flow}{}\n", self.line_comment()));
            }
            7 if self.anchors > 0 => {
                let anchor = 1 + self.pick(self.anchors);
                out.push_str(&format!(" *a{anchor}{}\n", self.line_comment()));
            }
            7 => {
                let column = owner + 1 + self.pick(3);
                out.push_str(&format!(" plain\n{:column$}goes on\n", ""));
            }
            8 if dash => {
                let column = owner + 2 + self.pick(2);
                let mut inner = String::new();
                self.mapping(depth - 1, column, &mut inner, true);
                let inner = &inner[owner + 1..];
                out.push_str(inner);
            }
            8 | 9 => {
                out.push_str(&self.line_comment());
                out.push('\n');
                let column = owner + self.step;
                self.mapping(depth - 1, column, out, false);
            }
            _ => {
                out.push_str(&self.line_comment());
                out.push('\n');
                let column = if self.wide || dash {
                    owner + self.step
                } else {
                    owner
                };
                self.sequence(depth - 1, column, out);
            }
        }
    }

    fn block_scalar(&mut self, owner: usize, out: &mut String) {
        let header = ["|", "|-", ">", ">-", "|+", ">+"][self.pick(6)];
        let column = owner + self.step;
        out.push_str(&format!(" {header}{}\n", self.line_comment()));
        for line in 0..=self.pick(3) {
            let deeper = self.pick(2);
            let text = ["text", "# no comment", "- no: item", "more words"][self.pick(4)];
            let deeper = if line == 0 { 0 } else { deeper };
            out.push_str(&format!("{:width$}{text}\n", "", width = column + deeper));
            if deeper == 0 && self.rarely() {
                out.push('\n');
            }
        }
    }

    fn mapping(&mut self, depth: usize, column: usize, out: &mut String, behind_dash: bool) {
        for index in 0..=self.pick(4) {
            if index > 0 || !behind_dash {
                self.trivia(column, out);
            }
            let key = self.key(index);
            out.push_str(&format!("{:column$}{key}:", ""));
            self.value(depth, column, false, out);
        }
        if self.rarely() {
            out.push_str(&format!("{:column$}{}\n", "", self.comment()));
        }
    }

    fn sequence(&mut self, depth: usize, column: usize, out: &mut String) {
        for _ in 0..=self.pick(4) {
            self.trivia(column, out);
            out.push_str(&format!("{:column$}-", ""));
            self.value(depth, column, true, out);
        }
    }

    fn document(&mut self, out: &mut String) {
        match self.pick(4) {
            0..2 => self.mapping(4, 0, out, false),
            2 => self.sequence(4, 0, out),
            _ => {
                let lines = self.pick(2) == 1;
                let flow = self.flow(3, 2, lines);
                out.push_str(&flow);
                out.push('\n');
            }
        }
    }

    fn text(&mut self) -> String {
        let mut text = String::new();
        self.document(&mut text);
        while self.rarely() {
            text.push_str("---\n");
            self.anchors = 0;
            self.document(&mut text);
        }
        match self.pick(6) {
            4 => drop(text.pop()),
            5 => text = text.replace('\n', "\r\n"),
            _ => {}
        }
        text
    }
}

fn choices() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..160)
}

/// Runs a property over always the same cases.
fn hold<S: Strategy>(cases: u32, strategy: S, property: impl Fn(S::Value) -> Result<(), String>) {
    let cases =
        std::env::var("KRM_VARIANTS_CASES").map_or(cases, |text| text.parse().expect("a number"));
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let seed = std::env::var("KRM_VARIANTS_SEED").map_or(7, |text| text.parse().expect("a byte"));
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&strategy, |value| {
        property(value).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

fn parse(text: &str) -> Result<Tree, String> {
    Tree::parse(text, ParseOptions::default()).map_err(|error| format!("{error}\n{text}"))
}

#[test]
fn edits_of_generated_documents() {
    let strategy = (choices(), prop::collection::vec(any::<u16>(), 2..8));
    hold(1500, strategy, |(choices, picks)| {
        let text = Choices::new(&choices).text();
        let tree = parse(&text)?;
        let document = Document::new(&text, &tree);
        let places = edit_law::places(document);
        let mut chosen: Vec<(&Place<'_>, edit_law::Edit)> = Vec::new();
        for pair in picks.chunks_exact(2) {
            let place = &places[usize::from(pair[0]) % places.len()];
            let edits = edit_law::edits(place.node);
            if chosen
                .iter()
                .all(|(other, _)| other.node.id != place.node.id)
            {
                chosen.push((place, edits[usize::from(pair[1]) % edits.len()].clone()));
            }
        }
        edit_law::check(document, &chosen)
            .map(drop)
            .map_err(|problem| {
                let edits: Vec<_> = chosen
                    .iter()
                    .map(|(place, edit)| format!("{} {edit:?}", place.node.path()))
                    .collect();
                format!("{problem}\n--- before:\n{text}\n--- edits: {edits:#?}")
            })
    });
}

#[test]
fn entries_and_items_of_one_document_go_into_another() {
    let strategy = (choices(), choices(), any::<(u16, u16, u16)>());
    hold(1500, strategy, |(from, to, picks)| {
        let (from, to) = (Choices::new(&from).text(), Choices::new(&to).text());
        let (from_tree, to_tree) = (parse(&from)?, parse(&to)?);
        let source = texts::nodes(Document::new(&from, &from_tree));
        let parts: Vec<_> = source
            .iter()
            .flat_map(|node| {
                node.entries()
                    .map(|e| (Some(e), e.value))
                    .chain(node.items().map(|i| (None, i)))
            })
            .collect();
        let document = Document::new(&to, &to_tree);
        let places: Vec<_> = edit_law::places(document);
        let Some((entry, value)) = parts.get(usize::from(picks.0) % parts.len().max(1)) else {
            return Ok(());
        };
        let targets: Vec<_> = places
            .iter()
            .filter(|place| match entry {
                Some(entry) => {
                    let key = entry.key.as_str().unwrap_or_default();
                    place.node.kind().is_mapping() && place.node.entry(key).is_none()
                }
                None => place.node.kind().is_sequence(),
            })
            .collect();
        let Some(target) = targets.get(usize::from(picks.1) % targets.len().max(1)) else {
            return Ok(());
        };
        let count = target.node.items().count() + target.node.entries().count();
        let position = usize::from(picks.2) % (count + 1);
        let mut editor = Editor::new(document);
        let edited = match entry {
            Some(entry) => editor.insert(
                target.node,
                Some(position),
                Part::Entry(*entry, Content::Node(entry.value)),
            ),
            None => editor.insert(
                target.node,
                Some(position),
                Part::Item(*value, Content::Node(*value)),
            ),
        };
        match edited {
            Err(EditError::SharedAnchor { .. }) => return Ok(()),
            other => other.map_err(|e| e.to_string())?,
        }
        let fail = |problem: String| {
            let part = value.source();
            Err(format!(
                "{problem}\n--- the part:\n{part}\n--- of:\n{from}\n--- into {} at {position} of:\n{to}",
                target.node.path()
            ))
        };
        let after = match editor.finish() {
            Ok(after) => after,
            Err(error) => return fail(error.to_string()),
        };
        let Some(content) = value.value() else {
            return Ok(());
        };
        let mut expected: Vec<_> = texts::values(document).into_iter().flatten().collect();
        let edit = match entry {
            Some(_) => edit_law::Edit::InsertEntry(position, content),
            None => edit_law::Edit::InsertItem(position, content),
        };
        let key = entry.and_then(|entry| entry.key.value());
        edit_law::apply_to_value_with_key(&mut expected, target, &edit, key);
        let tree = parse(&after)?;
        let result = Document::new(&after, &tree);
        let found: Vec<_> = texts::values(result).into_iter().flatten().collect();
        if !edit_law::same_values(&expected, &found) {
            return fail(format!(
                "expected {expected:?}\nfound    {found:?}\n--- after:\n{after}"
            ));
        }
        // Comments within come along where there is room for comments.
        let block = target.node.kind().is_block_collection();
        if !block || value.source().contains('*') {
            return Ok(());
        }
        let start = entry.map_or(value.range().start, |entry| entry.key.range().end);
        for comment in value.document.comments() {
            let within = comment.start >= start && comment.start < value.range().end;
            let comment = &value.document.text[comment];
            if within && !after.contains(comment.trim_end()) {
                return fail(format!("`{comment}` is lost\n--- after:\n{after}"));
            }
        }
        Ok(())
    });
}
