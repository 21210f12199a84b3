//! A document that nobody edits comes out as it came in, and means what the parser says.

#![allow(clippy::print_stdout, reason = "the figures of a test run")]

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle as Style, Tag};
use krm_yaml::scalar::{Reading, ScalarStyle};
use krm_yaml::{Document, Editor, NodeKind, NodeRef, ParseOptions, Tree, Value};

use crate::texts::{self, Text};

/// Valid YAML that the contract refuses.
const REFUSED: [&str; 2] = [
    // A list as key, and an alias of it.
    "X38W/in.yaml",
    // The empty key twice.
    "2JQS/in.yaml",
];
/// A document whose aliases stand for more values than this may go unread: they would take too much memory.
const MANY_VALUES: usize = 1_000_000;
/// Invalid YAML that granit takes.
const LENIENT: usize = 1;

#[test]
fn every_text_round_trips_and_means_what_the_events_say() {
    for (source, texts) in [
        ("own cases", texts::own_cases()),
        ("shared", texts::shared()),
        ("suite", texts::suite()),
    ] {
        let mut counts = Counts::default();
        let mut problems = Vec::new();
        for text in &texts {
            if let Err(problem) = round_trip(text, &mut counts) {
                problems.push(format!("{}: {problem}", text.name));
            }
        }
        println!("{source}: {counts:?}");
        println!("{}", problems.join("\n"));
        assert!(
            problems.is_empty(),
            "{} problems:\n{}",
            problems.len(),
            problems.join("\n")
        );
        assert!(counts.invalid_accepted <= LENIENT, "{counts:?}");
    }
}

#[derive(Debug, Default)]
struct Counts {
    accepted: usize,
    refused: usize,
    invalid_accepted: usize,
    nodes: usize,
}

fn round_trip(text: &Text, counts: &mut Counts) -> Result<(), String> {
    let source = &text.text;
    let tree = match Tree::parse(source, ParseOptions::default()) {
        Ok(tree) => tree,
        Err(error) => {
            counts.refused += 1;
            let expected = text.valid != Some(true) || REFUSED.contains(&text.name.as_str());
            return if expected {
                Ok(())
            } else {
                Err(error.to_string())
            };
        }
    };
    counts.accepted += 1;
    counts.invalid_accepted += usize::from(text.valid == Some(false));
    let document = Document::new(source, &tree);
    let same = Editor::new(document).finish().map_err(|e| e.to_string())?;
    check(same == *source, || {
        "an edit of nothing changed bytes".into()
    })?;
    let options = ParseOptions::default();
    let plain =
        Tree::parse_fast(source, options).map_or_else(|| Tree::parse_general(source, options), Ok);
    let plain = plain.map_err(|error| error.to_string())?;
    let nodes = texts::nodes(Document::new(source, &plain));
    counts.nodes += nodes.len();
    for node in &nodes {
        spans(*node).map_err(|problem| format!("{problem}: {node:?}", node = short(*node)))?;
    }
    let expected = values_of_events(source);
    let found = texts::values(document);
    let agree = expected.len() == found.len()
        && expected.iter().zip(&found).all(|pair| match pair {
            (Some(value), None) => size(value) > MANY_VALUES,
            (expected, found) => expected == found,
        });
    check(agree, || {
        format!("expected {expected:?}\nfound    {found:?}")
    })
}

/// How many values there are once every alias is written out.
fn size(value: &Value) -> usize {
    match value {
        Value::Sequence(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Mapping(entries) => {
            entries
                .iter()
                .map(|(k, v)| size(k) + size(v))
                .sum::<usize>()
                + 1
        }
        _ => 1,
    }
}

fn short(node: NodeRef<'_>) -> (NodeKind, std::ops::Range<usize>, &str) {
    (node.kind(), node.range(), node.source())
}

fn check(holds: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}

/// What holds for the span of every node.
fn spans(node: NodeRef<'_>) -> Result<(), String> {
    let text = node.document.text;
    let range = node.range();
    check(range.start <= range.end && range.end <= text.len(), || {
        "not a range".into()
    })?;
    check(node.outer_start() <= range.start, || "properties".into())?;
    if let Some(mark) = node.indicator() {
        let is_item = node.parent().is_some_and(|p| p.kind().is_sequence());
        let expected = if is_item { "-" } else { "?:" };
        let found = text[mark..].chars().next().unwrap_or(' ');
        check(expected.contains(found), || format!("mark `{found}`"))?;
        check(mark < node.outer_start(), || "mark behind the node".into())?;
    }
    let needs_mark = node
        .parent()
        .is_some_and(|p| p.kind() == NodeKind::BlockSequence);
    check(!needs_mark || node.indicator().is_some(), || {
        "no dash".into()
    })?;
    let source = node.source();
    match node.kind() {
        NodeKind::FlowMapping => check(source.starts_with('{') && source.ends_with('}'), || {
            "braces".into()
        }),
        NodeKind::FlowSequence => check(source.starts_with('[') && source.ends_with(']'), || {
            "brackets".into()
        }),
        NodeKind::Alias => check(source.starts_with('*'), || "star".into()),
        NodeKind::Scalar(style) => scalar_span(node, style),
        NodeKind::BlockMapping | NodeKind::BlockSequence | NodeKind::FlowPair => Ok(()),
    }?;
    let children: Vec<_> = node
        .items()
        .chain(node.entries().flat_map(|entry| [entry.key, entry.value]))
        .collect();
    let mut behind = range.start;
    for child in &children {
        let start = child
            .outer_start()
            .min(child.indicator().unwrap_or(usize::MAX));
        check(start >= behind, || {
            format!("child {:?} begins before {behind}", short(*child))
        })?;
        behind = child.range().end;
        check(behind <= range.end, || {
            format!("child {:?} ends behind", short(*child))
        })?;
    }
    let open = node.kind().is_block_collection() || node.kind() == NodeKind::FlowPair;
    if let (true, Some(last)) = (open, children.last()) {
        let mark = last.indicator().map_or(0, |mark| mark + 1);
        let end = last.range().end.max(mark);
        check(end == range.end, || format!("the last child ends at {end}"))?;
        let first = children[0];
        let start = first
            .outer_start()
            .min(first.indicator().unwrap_or(usize::MAX));
        check(start == range.start, || {
            format!("the first child begins at {start}")
        })?;
        let own = node.outer_start() < range.start;
        check(own || node.properties().is_empty(), || "own".into())?;
    }
    Ok(())
}

/// A scalar read alone is the scalar; nothing else is in its span.
fn scalar_span(node: NodeRef<'_>, style: ScalarStyle) -> Result<(), String> {
    let source = node.source();
    let expected = match style {
        ScalarStyle::Plain => {
            let trimmed = source.trim_matches([' ', '\t', '\n', '\r']);
            return check(
                trimmed == source && !source.contains(" #") && reads_alone(node),
                || "plain scalar with more than itself".into(),
            );
        }
        ScalarStyle::SingleQuoted => "'",
        ScalarStyle::DoubleQuoted => "\"",
        ScalarStyle::Literal => "|",
        ScalarStyle::Folded => ">",
    };
    let closed = source.starts_with(expected)
        && (!"'\"".contains(expected) || (source.len() > 1 && source.ends_with(expected)));
    check(closed, || "indicators".into())?;
    check(!"'\"".contains(expected) || reads_alone(node), || {
        "reads as something else alone".into()
    })
}

fn reads_alone(node: NodeRef<'_>) -> bool {
    // Indented, as a continuation line must not look like the end of a document.
    let alone = format!("[\n {}\n]", node.source());
    let Ok(tree) = Tree::parse(&alone, ParseOptions::default()) else {
        // Commas and brackets are text outside of flow collections only.
        return node
            .source()
            .contains([',', '[', ']', '{', '}', ':', '?', '-']);
    };
    let list = Document::new(&alone, &tree).root(0).expect("a list");
    let items: Vec<_> = list.items().collect();
    match items[..] {
        [] => node.source().is_empty(),
        [item] => item.scalar_text() == node.scalar_text() || node.source().contains(':'),
        _ => node.source().contains(','),
    }
}

/// A builder of values that shares nothing with the tree but the parser.
fn values_of_events(text: &str) -> Vec<Option<Value>> {
    let options = granit_parser::options! { max_buffered_comment_events: usize::MAX };
    let mut documents: Vec<Option<Value>> = Vec::new();
    // Collections that are open: whether it is a mapping, its anchor, its children.
    let mut open: Vec<(bool, usize, Vec<Value>)> = Vec::new();
    let mut anchors: HashMap<usize, Value> = HashMap::new();
    let mut endless = false;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.expect("accepted before");
        let (value, anchor) = match event {
            Event::Scalar(value, style, anchor, tag) => {
                let end = span.byte_range().map_or(0, |range| range.end);
                // granit adds a line break where the text ends without one.
                let block = matches!(style, Style::Literal | Style::Folded);
                let cut = block && end == text.len() && !text.ends_with('\n');
                let value = if cut {
                    value.strip_suffix('\n').unwrap_or(&value)
                } else {
                    &value
                };
                (scalar(value, style, tag.as_deref()), anchor)
            }
            Event::Alias(target) => {
                endless |= !anchors.contains_key(&target);
                (anchors.get(&target).cloned().unwrap_or(Value::Null), 0)
            }
            Event::SequenceStart(_, anchor, _) => {
                open.push((false, anchor, Vec::new()));
                continue;
            }
            Event::MappingStart(_, anchor, _) => {
                open.push((true, anchor, Vec::new()));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (mapping, anchor, children) = open.pop().expect("open");
                let value = if mapping {
                    Value::Mapping(pairs(children))
                } else {
                    Value::Sequence(children)
                };
                (value, anchor)
            }
            _ => continue,
        };
        anchors.insert(anchor, value.clone());
        match open.last_mut() {
            Some((_, _, children)) => children.push(value),
            None => documents.push((!endless).then_some(value)),
        }
    }
    documents
}

fn pairs(children: Vec<Value>) -> Vec<(Value, Value)> {
    let mut children = children.into_iter();
    let mut pairs = Vec::new();
    while let (Some(key), Some(value)) = (children.next(), children.next()) {
        pairs.push((key, value));
    }
    // What a merge key brings stands in its place.
    let merge = pairs.iter().position(|(key, _)| key.as_str() == Some("<<"));
    if let Some(at) = merge
        && let (_, Value::Mapping(brought)) = pairs[at].clone()
    {
        let own: Vec<Value> = pairs.iter().map(|(key, _)| key.clone()).collect();
        let new = brought.into_iter().filter(|(key, _)| !own.contains(key));
        pairs.splice(at..=at, new);
    }
    pairs
}

fn scalar(text: &str, style: Style, tag: Option<&Tag>) -> Value {
    let core = tag.filter(|tag| tag.handle() == "tag:yaml.org,2002:" || tag.handle().is_empty());
    match core.map(Tag::suffix) {
        Some("str" | "tag:yaml.org,2002:str") => text.into(),
        Some("int" | "float" | "bool" | "null") => Reading::Core.value(text),
        _ if tag.is_some_and(|tag| tag.handle() == "!" && tag.suffix().is_empty()) => text.into(),
        _ if tag.is_some_and(|tag| tag.handle().is_empty() && tag.suffix() == "!") => text.into(),
        _ if style == Style::Plain => Reading::Core.value(text),
        _ => text.into(),
    }
}
