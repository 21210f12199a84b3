//! The examples, rules and tables of the documents, as data.

use krm_core::results::Severity;
use krm_core::schema::Schema;
use krm_patch::annotations::{with_field, without_tool_annotations};
use krm_patch::{Applied, Findings, ListOrder, Node, Rules, apply, apply_config, create_patch};
use krm_yaml::{Document, ParseOptions, Tree, Value};

/// Runs the cases of a file; gives their number.
fn run(text: &str) -> usize {
    let tree = Tree::parse(text, ParseOptions::default()).expect("the cases");
    let root = Document::new(text, &tree).root(0).expect("a list");
    let mut count = 0;
    for case in root.items() {
        let case = Node::Text(case);
        let name = case.get("name").expect("a name");
        Case {
            name: name.as_str().expect("text").to_owned(),
            case,
        }
        .run();
        count += 1;
    }
    count
}

struct Case<'a> {
    name: String,
    case: Node<'a>,
}

impl<'a> Case<'a> {
    fn get(&self, key: &str) -> Option<Node<'a>> {
        self.case.get(key)
    }

    fn text(&self, key: &str, default: &str) -> String {
        let found = self.get(key);
        found
            .as_ref()
            .and_then(Node::as_str)
            .unwrap_or(default)
            .to_owned()
    }

    fn run(&self) {
        let schema = Schema::builtin();
        let kind = self.text("kind", "ServiceAccount");
        let version = match kind.as_str() {
            "Deployment" => "apps/v1",
            _ => "v1",
        };
        let rules = Rules::of(&schema, &self.text("apiVersion", version), &kind);
        let orders = [
            ("document", ListOrder::Document),
            ("apiserver", ListOrder::ApiServer),
        ];
        for (word, order) in orders {
            let expected = self.get(word).map(|node| node.to_value());
            let fails = self.get("error").is_some() || self.get("deleted").is_some();
            if expected.is_none() && !fails {
                continue;
            }
            let mut findings = Findings::default();
            let result = self.result(rules, order, &mut findings);
            self.check_findings(&findings);
            if findings.has_errors() {
                continue;
            }
            assert_eq!(
                self.comparable(result),
                expected.map(|e| self.without_live_only(e)),
                "{} ({word})",
                self.name
            );
        }
    }

    fn comparable(&self, result: Option<Value>) -> Option<Value> {
        result.map(|result| {
            for name in self.live_only() {
                assert!(
                    result.to_json().contains(&name),
                    "{}: {name} is lost",
                    self.name
                );
            }
            self.without_live_only(result)
        })
    }

    fn live_only(&self) -> Vec<String> {
        let names = self
            .get("liveOnly")
            .map(|node| node.items())
            .unwrap_or_default();
        let text = |value: &Node<'_>| value.as_str().expect("text").to_owned();
        names.iter().map(|item| text(&item.value)).collect()
    }

    /// Elements that have no place in the document's order.
    fn without_live_only(&self, value: Value) -> Value {
        let names = self.live_only();
        fn walk(value: Value, names: &[String]) -> Value {
            let is_named = |value: &Value| {
                let name = value.as_str().or(value.get("name").and_then(Value::as_str));
                name.is_some_and(|name| names.iter().any(|other| other == name))
            };
            match value {
                Value::Sequence(items) => {
                    let items = items.into_iter().filter(|item| !is_named(item));
                    Value::Sequence(items.map(|item| walk(item, names)).collect())
                }
                Value::Mapping(entries) => Value::Mapping(
                    entries
                        .into_iter()
                        .map(|(key, value)| (key, walk(value, names)))
                        .collect(),
                ),
                other => other,
            }
        }
        walk(value, &names)
    }

    /// The result of the case's operation; `None` if the resource is deleted.
    fn result(&self, rules: Rules<'_>, order: ListOrder, findings: &mut Findings) -> Option<Value> {
        let live = self.get("live").expect("live");
        let value = |applied: Applied<'_>| match applied {
            Applied::Resource(result) => Some(result.to_value()),
            Applied::Deleted => None,
        };
        if let Some(patch) = self.get("patch") {
            return value(apply(&live, &patch, rules, order, findings));
        }
        let (original, config) = (self.get("original"), self.get("config").expect("config"));
        let patch = create_patch(original.as_ref(), &config, &live, rules, findings);
        if let Some(made) = self.get("made") {
            let patch = patch.as_ref().map(Node::to_value);
            assert_eq!(patch, Some(made.to_value()), "{}", self.name);
        }
        let applied = apply_config(original.as_ref(), &config, &live, rules, order, findings);
        // The annotation aside, that is the patch applied to live.
        let mut plain = without_tool_annotations(&applied);
        let metadata = plain.get("metadata");
        if metadata.is_some_and(|metadata| metadata.is_empty()) && live.get("metadata").is_none() {
            plain = with_field(plain, "metadata", None);
        }
        let by_patch = match &patch {
            Some(patch) => value(apply(&live, patch, rules, order, findings)),
            None => Some(live.to_value()),
        };
        assert_eq!(Some(plain.to_value()), by_patch, "{}: by patch", self.name);
        by_patch
    }

    fn check_findings(&self, findings: &Findings) {
        let lines = |severity| -> Vec<String> {
            let all = findings
                .0
                .iter()
                .filter(|finding| finding.severity == severity);
            all.map(|finding| format!("{}: {}", finding.path, finding.message))
                .collect()
        };
        let expected = |key: &str| -> Vec<String> {
            self.get(key)
                .iter()
                .map(|node| node.as_str().expect("text").to_owned())
                .collect()
        };
        assert_eq!(lines(Severity::Error), expected("error"), "{}", self.name);
        assert_eq!(
            lines(Severity::Warning),
            expected("warning"),
            "{}",
            self.name
        );
    }
}

#[test]
fn the_preserve_order_document() {
    assert_eq!(run(include_str!("../cases/patch/order.yaml")), 19);
}

#[test]
fn directives() {
    assert_eq!(run(include_str!("../cases/patch/directives.yaml")), 22);
}

#[test]
fn the_merging_fields_document() {
    assert_eq!(run(include_str!("../cases/patch/merging_fields.yaml")), 29);
}
