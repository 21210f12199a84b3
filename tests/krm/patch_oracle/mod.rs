//! Patches next to the real code of kubectl and apimachinery, on generated questions.
//!
//! `KRM_VARIANTS_SMP_ORACLE` names the oracle's binary; without it nothing is compared.
//! `KRM_VARIANTS_SMP_QUESTIONS` says how many questions are asked.

#![allow(clippy::print_stdout, reason = "the figures of a test run")]

mod ask;
mod classes;
mod difference;
mod generate;
mod kubectl;
mod properties;
mod prune;
mod random;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::shared_text::shared_text;
use krm_core::results::LAST_APPLIED;
use krm_core::schema::Schema;
use krm_patch::create::create;
use krm_patch::last_applied::{self, LastApplied};
use krm_patch::write::write;
use krm_patch::{Applied, Findings, ListOrder, Node, Rules, apply, apply_config};
use krm_yaml::{Document, EditError, Editor, ParseOptions, Tree, Value, to_block_text};

use ask::{Answer, ask, json};
use generate::{Directives, FEW, MANY, direct, mutate, sparse};
use random::Random;

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    Patch {
        live: Value,
        patch: Value,
    },
    Create2 {
        live: Value,
        modified: Value,
    },
    Create3 {
        original: Value,
        modified: Value,
        live: Value,
    },
    Apply {
        config: Value,
        live: Value,
    },
}

/// What this program answers: the patch, the result, or why not.
#[derive(Debug, Clone)]
pub(crate) struct Own {
    pub(crate) patch: Option<Value>,
    pub(crate) result: Option<Value>,
    pub(crate) errors: Vec<String>,
    /// Whether the result could be written into the text of live.
    pub(crate) is_written: bool,
}

impl Question {
    fn line(&self, gvk: &str) -> String {
        let fields: Vec<(&str, String)> = match self {
            Self::Patch { live, patch } => vec![
                ("op", "\"patch\"".to_owned()),
                ("original", live.to_json()),
                ("patch", patch.to_json()),
            ],
            Self::Create2 { live, modified } => vec![
                ("op", "\"create2\"".to_owned()),
                ("original", live.to_json()),
                ("modified", modified.to_json()),
            ],
            Self::Create3 {
                original,
                modified,
                live,
            } => vec![
                ("op", "\"create3\"".to_owned()),
                ("original", original.to_json()),
                ("modified", modified.to_json()),
                ("current", live.to_json()),
            ],
            Self::Apply { config, live } => vec![
                ("op", "\"apply\"".to_owned()),
                ("config", config.to_json()),
                ("live", live.to_json()),
            ],
        };
        let fields: Vec<String> = fields
            .into_iter()
            .map(|(key, value)| format!("\"{key}\":{value}"))
            .collect();
        format!("{{\"gvk\":\"{gvk}\",{}}}", fields.join(","))
    }

    /// The name of the operation.
    pub(crate) fn op(&self) -> &'static str {
        match self {
            Self::Patch { .. } => "patch",
            Self::Create2 { .. } => "create2",
            Self::Create3 { .. } => "create3",
            Self::Apply { .. } => "apply",
        }
    }
}

/// A resource of a kind.
pub(crate) struct Kind {
    api_version: String,
    kind: String,
    resource: Value,
}

impl Kind {
    fn gvk(&self) -> String {
        format!("{}/{}", self.api_version, self.kind)
    }
}

/// A value as a document, for a view on it.
pub(crate) struct Text {
    text: String,
    tree: Tree,
}

impl Text {
    pub(crate) fn of(value: &Value) -> Self {
        let plain = to_block_text(value);
        let mut random = crate::kpt_merge::generate::Random::new(plain.len() as u64);
        // Every other one with anchors, aliases and merge keys.
        let is_filled = matches!(value, Value::Mapping(entries) if !entries.is_empty());
        let text = if is_filled && random.below(2) == 0 {
            shared_text(value, &mut random)
        } else {
            plain
        };
        let tree = Tree::parse(&text, ParseOptions::default()).expect("own text");
        Self { text, tree }
    }

    pub(crate) fn node(&self) -> Node<'_> {
        Node::Text(
            Document::new(&self.text, &self.tree)
                .root(0)
                .expect("a root"),
        )
    }
}

/// What is written must be what was computed. Text that holds anchors itself cannot be written out for
/// an alias: that is refused, and said here.
fn check_writing<'a>(live: &'a Text, result: &Node<'a>) -> bool {
    let document = Document::new(&live.text, &live.tree);
    let root = document.root(0).expect("a root");
    let mut editor = Editor::new(document);
    let written = write(root, root, result.clone(), &mut editor).map(drop);
    let text = match written.and_then(|()| editor.finish()) {
        Err(EditError::SharedAnchor { .. }) => return false,
        text => text.expect("YAML"),
    };
    assert_eq!(ask::json(&text), result.to_value(), "{}\n{text}", live.text);
    true
}

/// Answers a question.
pub(crate) fn answer(question: &Question, rules: Rules<'_>) -> Own {
    let mut findings = Findings::default();
    let mut own = Own {
        patch: None,
        result: None,
        errors: Vec::new(),
        is_written: true,
    };
    let nothing = Value::Mapping(Vec::new());
    match question {
        Question::Patch { live, patch } => {
            let (live, patch) = (Text::of(live), Text::of(patch));
            let order = ListOrder::ApiServer;
            let applied = apply(&live.node(), &patch.node(), rules, order, &mut findings);
            own.result = Some(match applied {
                Applied::Resource(result) => {
                    own.is_written = check_writing(&live, &result);
                    result.to_value()
                }
                Applied::Deleted => nothing,
            });
        }
        Question::Create2 { live, modified } => {
            let (live, modified) = (Text::of(live), Text::of(modified));
            let live = live.node();
            let patch = create(Some(&live), &modified.node(), &live, rules, &mut findings);
            own.patch = Some(patch.map_or(nothing, |patch| patch.to_value()));
        }
        Question::Create3 {
            original,
            modified,
            live,
        } => {
            let (original, modified) = (Text::of(original), Text::of(modified));
            let live = Text::of(live);
            let (original, live) = (original.node(), live.node());
            let modified = modified.node();
            let patch = create(Some(&original), &modified, &live, rules, &mut findings);
            own.patch = Some(patch.map_or(nothing, |patch| patch.to_value()));
        }
        Question::Apply { config, live } => {
            let (config, live) = (Text::of(config), Text::of(live));
            let text = &live;
            let live = live.node();
            let path = ["metadata", "annotations", LAST_APPLIED];
            let annotation = live.get_path(&path);
            let applied = annotation
                .as_ref()
                .and_then(Node::as_str)
                .map(|text| LastApplied::read(text).expect("JSON"));
            let original = applied.as_ref().map(LastApplied::node);
            let order = ListOrder::ApiServer;
            let config = config.node();
            let result = apply_config(
                original.as_ref(),
                &config,
                &live,
                rules,
                order,
                &mut findings,
            );
            own.is_written = check_writing(text, &result);
            own.result = Some(result.to_value());
        }
    }
    if findings.has_errors() {
        own.patch = None;
        own.result = None;
        own.errors = findings
            .0
            .iter()
            .map(|finding| format!("{}: {}", finding.path, finding.message))
            .collect();
    }
    own
}

pub(crate) fn kinds() -> Vec<Kind> {
    let text = include_str!("../../cases/patch/kinds.yaml");
    let tree = Tree::parse(text, ParseOptions::default()).expect("the kinds");
    let document = Document::new(text, &tree);
    let roots = (0..document.len()).filter_map(|index| document.root(index));
    roots
        .map(|root| {
            let resource = root.value().expect("no aliases");
            let field = |name: &str| resource.get(name).and_then(Value::as_str).expect(name);
            Kind {
                api_version: field("apiVersion").to_owned(),
                kind: field("kind").to_owned(),
                resource: resource.clone(),
            }
        })
        .collect()
}

/// The question of a number.
pub(crate) fn question(kind: &Kind, rules: Rules<'_>, random: &mut Random) -> Question {
    let rates = |random: &mut Random| if random.per_mille(700) { FEW } else { MANY };
    let original_rates = rates(random);
    let original = mutate(&kind.resource, rules, original_rates, random);
    let modified_rates = rates(random);
    let modified = mutate(&original, rules, modified_rates, random);
    let live_rates = rates(random);
    let live = mutate(&original, rules, live_rates, random);
    match random.below(20) {
        0..=8 => {
            let share = *random.pick(&[300, 600, 900]);
            let patch = sparse(&modified, random, share);
            let directives = Directives {
                map: *random.pick(&[0, 10, 40]),
                list: *random.pick(&[0, 100, 300]),
                wrong: *random.pick(&[0, 0, 3]),
            };
            let patch = direct(patch, Some(&live), rules, directives, random, false);
            Question::Patch { live, patch }
        }
        9..=10 => Question::Create2 { live, modified },
        11..=14 => Question::Create3 {
            original,
            modified,
            live,
        },
        _ => {
            let original = Text::of(&original);
            let text = last_applied::write(&original.node());
            let mut live = live;
            if random.per_mille(950) {
                annotate(&mut live, &text);
            }
            Question::Apply {
                config: modified,
                live,
            }
        }
    }
}

fn annotate(resource: &mut Value, text: &str) {
    fn entry<'v>(value: &'v mut Value, key: &str) -> &'v mut Value {
        if !matches!(value, Value::Mapping(_)) {
            *value = Value::Mapping(Vec::new());
        }
        let Value::Mapping(entries) = value else {
            unreachable!("made just above")
        };
        let found = entries
            .iter()
            .position(|(name, _)| name.as_str() == Some(key));
        let at = found.unwrap_or_else(|| {
            entries.push((Value::from(key), Value::Null));
            entries.len() - 1
        });
        &mut entries[at].1
    }
    let annotations = entry(entry(resource, "metadata"), "annotations");
    *entry(annotations, LAST_APPLIED) = Value::from(text);
}

#[test]
fn patches_equal_those_of_kubectl() {
    let Some(oracle) = std::env::var_os("KRM_VARIANTS_SMP_ORACLE").map(PathBuf::from) else {
        println!("skipped: KRM_VARIANTS_SMP_ORACLE is not set");
        return;
    };
    let count = std::env::var("KRM_VARIANTS_SMP_QUESTIONS");
    let count: usize = count
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(5_000);
    let schema = Schema::builtin();
    let kinds = kinds();
    assert!(kinds.len() >= 30);
    let mut tally: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut unnamed = Vec::new();
    const BATCH: usize = 5_000;
    for from in (0..count).step_by(BATCH) {
        let numbers = from..(from + BATCH).min(count);
        let asked: Vec<(&Kind, Rules<'_>, Question)> = numbers
            .map(|number| {
                let kind = &kinds[number % kinds.len()];
                let rules = Rules::of(&schema, &kind.api_version, &kind.kind);
                let mut random = Random::new(number as u64);
                let question = question(kind, rules, &mut random);
                (kind, rules, question)
            })
            .collect();
        let lines: Vec<String> = asked
            .iter()
            .map(|(kind, _, question)| question.line(&kind.gvk()))
            .collect();
        let answers = ask(&oracle, &lines);
        assert_eq!(answers.len(), lines.len(), "an answer for every question");
        for (((kind, rules, question), theirs), line) in asked.iter().zip(&answers).zip(&lines) {
            let own = answer(question, *rules);
            if !own.is_written {
                *tally.entry((question.op(), REFUSED)).or_default() += 1;
            }
            let class = classes::class(question, &own, theirs, *rules);
            let name = class.as_ref().copied().unwrap_or("UNNAMED");
            *tally.entry((question.op(), name)).or_default() += 1;
            if let Err(differences) = class {
                let lines: Vec<String> = differences.iter().map(|d| d.line()).collect();
                let refused = format!(
                    "own {:?} kubectl {} {}",
                    own.errors, theirs.kind, theirs.error
                );
                unnamed.push((kind.gvk(), line.clone(), lines, refused));
            }
        }
    }
    for ((op, class), count) in &tally {
        println!("{op:8} {count:8} {class}");
    }
    for (gvk, line, differences, refused) in unnamed.iter().take(show()) {
        println!("--- {gvk}: {refused}\n{}\n{line}", differences.join("\n"));
    }
    assert!(unnamed.is_empty(), "{} unnamed differences", unnamed.len());
    let refused = tally.iter().filter(|((_, class), _)| *class == REFUSED);
    let refused: usize = refused.map(|(_, count)| count).sum();
    assert!(refused * 100 <= count, "{refused} results not written");
}

/// Results that no text can hold without moving anchors.
const REFUSED: &str = "not written: anchors within what an alias reads";

fn show() -> usize {
    let count = std::env::var("KRM_VARIANTS_SMP_SHOW");
    count.ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

#[allow(dead_code, reason = "for the other tests of patches")]
pub(crate) fn value(text: &str) -> Value {
    json(text)
}

pub(crate) type Theirs = Answer;
