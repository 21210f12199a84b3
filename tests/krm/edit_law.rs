//! An edit gives what the same edit of the value gives, and leaves the bytes around it alone.

#![allow(clippy::print_stdout, reason = "the figures of a test run")]

use std::collections::HashMap;
use std::ops::Range;

use krm_yaml::scalar::ScalarStyle;
use krm_yaml::value::Number;
use krm_yaml::{
    Content, Document, EditError, Editor, NodeKind, NodeRef, ParseOptions, Tree, Value,
};

use crate::texts;

/// A node that can be edited, with its place in the value of its document.
#[derive(Clone)]
pub(crate) struct Place<'a> {
    pub(crate) node: NodeRef<'a>,
    document: usize,
    /// Positions of entries and items, from the root down.
    path: Vec<usize>,
}

/// One edit of one node.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Replace(Value),
    /// Position and value.
    InsertEntry(usize, Value),
    InsertItem(usize, Value),
    RemoveEntry(usize),
    RemoveItem(usize),
    Reverse,
}

const NEW_KEY: &str = "zz new";

/// Every node that is a root, a value or an item, outside of keys.
pub(crate) fn places(document: Document<'_>) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    for index in 0..document.len() {
        let Some(root) = document.root(index) else {
            continue;
        };
        let mut stack = vec![Place {
            node: root,
            document: index,
            path: Vec::new(),
        }];
        while let Some(place) = stack.pop() {
            let values = place.node.entries().map(|entry| entry.value);
            for (i, node) in place.node.items().chain(values).enumerate() {
                let mut path = place.path.clone();
                path.push(i);
                stack.push(Place {
                    node,
                    document: index,
                    path,
                });
            }
            places.push(place);
        }
    }
    places
}

fn number(value: i64) -> Value {
    Value::Number(Number::Int(value.into()))
}

fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Mapping(entries.map(|(key, value)| (key.into(), value)).into())
}

/// Values of every kind.
fn contents() -> Vec<Value> {
    let list = Value::Sequence(vec![
        "a".into(),
        mapping([("b", "c".into()), ("d", Value::Sequence(vec![]))]),
        Value::Sequence(vec!["e".into(), number(5)]),
    ]);
    vec![
        "plain words".into(),
        "yes".into(),
        "two\nlines\n".into(),
        number(42),
        mapping([]),
        mapping([
            ("m", mapping([("n", list.clone()), ("on", "off".into())])),
            ("o", Value::Null),
        ]),
        list,
        Value::Sequence(vec![]),
        "  odd\n\n text # no comment\n\n\n".into(),
        "".into(),
        "a: b, [c] {d}".into(),
        Value::Null,
        mapping([("text", "x\ny".into())]),
    ]
}

/// The edits of a node, each with what it does to the value.
pub(crate) fn edits(node: NodeRef<'_>) -> Vec<Edit> {
    let mut edits: Vec<_> = contents().into_iter().map(Edit::Replace).collect();
    let kind = node.kind();
    let count = node.items().count() + node.entries().count();
    let empty = node.is_null() && kind != NodeKind::Alias;
    for value in [0, 2, 5, 6, 8].map(|i| contents()[i].clone()) {
        for position in [0, count, count / 2] {
            if kind.is_mapping() || (empty && position == 0) {
                edits.push(Edit::InsertEntry(position, value.clone()));
            }
            if kind.is_sequence() || (empty && position == 0) {
                edits.push(Edit::InsertItem(position, value.clone()));
            }
        }
    }
    for i in 0..count.min(6) {
        let i = if i == 5 { count - 1 } else { i };
        if kind.is_sequence() {
            edits.push(Edit::RemoveItem(i));
        } else if node
            .entries()
            .nth(i)
            .is_some_and(|e| e.key.as_str().is_some())
        {
            edits.push(Edit::RemoveEntry(i));
        }
    }
    if count > 1 {
        edits.push(Edit::Reverse);
    }
    edits
}

fn apply<'a>(editor: &mut Editor<'a, 'a>, node: NodeRef<'a>, edit: &Edit) -> Result<(), EditError> {
    match edit {
        Edit::Replace(value) => editor.replace(node, Content::Value(value.clone())),
        Edit::InsertEntry(position, value) => {
            let content = Content::Value(value.clone());
            editor.insert_entry(node, Some(*position), NEW_KEY, content)
        }
        Edit::InsertItem(position, value) => {
            editor.insert_item(node, Some(*position), Content::Value(value.clone()))
        }
        Edit::RemoveEntry(index) => {
            let entry = node.entries().nth(*index).expect("an entry");
            let key = entry.key.as_str().expect("a string");
            assert!(editor.remove_entry(node, key), "the key is there");
            Ok(())
        }
        Edit::RemoveItem(index) => {
            editor.remove_parts(node, |i| i == *index);
            Ok(())
        }
        Edit::Reverse => {
            let count = node.items().count() + node.entries().count();
            editor.reorder(node, &(0..count).rev().collect::<Vec<_>>());
            Ok(())
        }
    }
}

/// The same edit of the model.
fn apply_to_value(documents: &mut [Value], place: &Place<'_>, edit: &Edit) {
    apply_to_value_with_key(documents, place, edit, None);
}

/// The same edit of the model, with another key than that of the tests.
pub(crate) fn apply_to_value_with_key(
    documents: &mut [Value],
    place: &Place<'_>,
    edit: &Edit,
    key: Option<Value>,
) {
    let key = key.unwrap_or_else(|| NEW_KEY.into());
    let mut at = &mut documents[place.document];
    for index in &place.path {
        at = match at {
            Value::Sequence(items) => &mut items[*index],
            Value::Mapping(entries) => &mut entries[*index].1,
            _ => unreachable!("a path through collections"),
        };
    }
    match (edit, &mut *at) {
        (Edit::Replace(value), at) => *at = value.clone(),
        (Edit::InsertEntry(position, value), Value::Mapping(entries)) => {
            entries.insert(*position, (key, value.clone()));
        }
        (Edit::InsertEntry(_, value), at) => *at = mapping([(NEW_KEY, value.clone())]),
        (Edit::InsertItem(position, value), Value::Sequence(items)) => {
            items.insert(*position, value.clone());
        }
        (Edit::InsertItem(_, value), at) => *at = Value::Sequence(vec![value.clone()]),
        (Edit::RemoveEntry(index), Value::Mapping(entries)) => drop(entries.remove(*index)),
        (Edit::RemoveItem(index), Value::Sequence(items)) => drop(items.remove(*index)),
        (Edit::Reverse, Value::Mapping(entries)) => entries.reverse(),
        (Edit::Reverse, Value::Sequence(items)) => items.reverse(),
        _ => unreachable!("an edit that fits"),
    }
}

/// Equal, the order of keys included.
pub(crate) fn same_values(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| ordered(a) == ordered(b))
}

/// A form that compares with the order of keys.
fn ordered(value: &Value) -> Value {
    match value {
        Value::Mapping(entries) => Value::Sequence(
            entries
                .iter()
                .flat_map(|(key, value)| [ordered(key), ordered(value)])
                .collect(),
        ),
        Value::Sequence(items) => Value::Sequence(items.iter().map(ordered).collect()),
        other => other.clone(),
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |n| n + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |n| at + n)
}

/// Start and end of the entries or items, marks and keys included.
fn units(node: NodeRef<'_>) -> Vec<Range<usize>> {
    let start = |node: NodeRef<'_>| {
        node.outer_start()
            .min(node.indicator().unwrap_or(usize::MAX))
    };
    let end = |node: NodeRef<'_>| node.range().end.max(node.indicator().map_or(0, |m| m + 1));
    node.items()
        .map(|item| start(item)..end(item))
        .chain(
            node.entries()
                .map(|e| start(e.key)..end(e.value).max(end(e.key))),
        )
        .collect()
}

/// Start of the comment lines directly above.
fn above(text: &str, at: usize) -> usize {
    let mut start = line_start(text, at);
    while start > 0 {
        let line = line_start(text, start - 1);
        if !text[line..start]
            .trim_start_matches([' ', '\t', '\u{feff}'])
            .starts_with('#')
        {
            break;
        }
        start = line;
    }
    start
}

/// End of the comment lines below that are indented deeper, blank lines among them.
fn below(text: &str, end: usize, column: usize) -> usize {
    let (mut at, mut behind) = (end, end);
    while at < text.len() {
        let next = line_end(text, (at + 1).min(text.len()));
        let line = &text[(at + 1).min(next)..next];
        let indent = line.len() - line.trim_start().len();
        if line.trim_start().starts_with('#') && indent > column {
            behind = next;
        } else if !line.trim().is_empty() {
            break;
        }
        at = next;
        if at + 1 > text.len() {
            break;
        }
    }
    behind
}

/// The bytes that an edit may change, and those whose comments it may take along.
fn touched(node: NodeRef<'_>, edit: &Edit) -> (Range<usize>, Range<usize>) {
    let text = node.document.text;
    let own = node
        .indicator()
        .unwrap_or(usize::MAX)
        .min(node.outer_start());
    let whole = line_start(text, own)..line_end(text, node.range().end);
    let units = units(node);
    let flow = !node.kind().is_block_collection();
    let count = units.len();
    match edit {
        // The comment behind the owner's indicator stays, those above the first entry go.
        Edit::Replace(_) => {
            let first = line_end(text, node.indicator().unwrap_or(node.outer_start()));
            let gone = if flow {
                node.range()
            } else {
                first.min(node.range().start)..whole.end
            };
            (whole, gone)
        }
        _ if units.is_empty() => (whole, 0..0),
        _ if flow
            && matches!(edit, Edit::RemoveEntry(i) | Edit::RemoveItem(i) if count > 1 && *i < count) =>
        {
            // Comments of the element may stand on either side of it.
            let (Edit::RemoveEntry(i) | Edit::RemoveItem(i)) = edit else {
                return (whole, 0..0);
            };
            let from = if *i == 0 {
                node.range().start
            } else {
                units[i - 1].end
            };
            let to = units.get(i + 1).map_or(node.range().end, |next| next.start);
            (whole, from..to)
        }
        Edit::RemoveEntry(_) | Edit::RemoveItem(_) if count == 1 => {
            let start = above(text, units[0].start);
            let line = whole.start.min(start);
            let column = units[0].start - line_start(text, units[0].start);
            let end = below(text, whole.end, column);
            (line..end, start..end)
        }
        _ if flow => (whole, 0..0),
        Edit::RemoveEntry(i) | Edit::RemoveItem(i) => {
            let start = above(text, units[*i].start);
            let behind_dash = !text[line_start(text, units[*i].start)..units[*i].start]
                .trim()
                .is_empty();
            let column = units[*i].start - line_start(text, units[*i].start);
            let end = below(text, line_end(text, units[*i].end), column);
            let joined = match units.get(i + 1) {
                Some(next) if behind_dash => next.start,
                _ => (end + 1).min(text.len()),
            };
            (start..joined, start..end)
        }
        Edit::InsertEntry(i, _) | Edit::InsertItem(i, _) => {
            let from = match i.checked_sub(1) {
                Some(before) => line_end(text, units[before].end),
                None => above(text, units[0].start),
            };
            let column = units[0].start - line_start(text, units[0].start);
            let to = units.get(*i).map_or_else(
                || below(text, line_end(text, units[count - 1].end), column),
                |next| next.start,
            );
            (from..to.max(from), 0..0)
        }
        Edit::Reverse => {
            let start = above(text, units[0].start);
            let column = units[0].start - line_start(text, units[0].start);
            let end = line_end(text, units[count - 1].end);
            (start..below(text, end, column), 0..0)
        }
    }
}

fn comments<'a>(document: Document<'a>, without: &[Range<usize>]) -> HashMap<&'a str, usize> {
    let mut found = HashMap::new();
    for range in document.comments() {
        if !without.iter().any(|gone| gone.contains(&range.start)) {
            *found.entry(document.text[range].trim_end()).or_default() += 1;
        }
    }
    found
}

fn block_scalar_is_last(document: Document<'_>) -> bool {
    let block = [ScalarStyle::Literal, ScalarStyle::Folded].map(NodeKind::Scalar);
    let last = texts::nodes(document).into_iter().next_back();
    last.is_some_and(|last| block.contains(&last.kind()))
}

/// Line feeds with and without a carriage return.
fn breaks(text: &str) -> (usize, usize) {
    let crlf = text.matches("\r\n").count();
    (crlf, text.matches('\n').count() - crlf)
}

/// Makes edits of different nodes at once; `Ok` has the number that was not refused for an anchor.
pub(crate) fn check(document: Document<'_>, edits: &[(&Place<'_>, Edit)]) -> Result<usize, String> {
    let before = document.text;
    let values: Option<Vec<_>> = texts::values(document).into_iter().collect();
    let Some(mut expected) = values else {
        return Ok(0);
    };
    let mut editor = Editor::new(document);
    let mut made = Vec::new();
    for (place, edit) in edits {
        match apply(&mut editor, place.node, edit) {
            Err(EditError::SharedAnchor { .. }) if before.contains('*') => {}
            Err(error) => return Err(error.to_string()),
            Ok(()) => made.push((*place, edit)),
        }
    }
    if made.is_empty() {
        return Ok(0);
    }
    let after = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| editor.finish())) {
        Err(_) => return Err("panic".into()),
        Ok(Err(EditError::SharedAnchor { .. })) if holds_anchors(document) => return Ok(0),
        Ok(Err(error)) => return Err(error.to_string()),
        Ok(Ok(after)) => after,
    };
    // Inner edits first, as outer ones move what the paths count.
    made.sort_by_key(|(place, _)| std::cmp::Reverse(place.path.len()));
    for (place, edit) in &made {
        apply_to_value(&mut expected, place, edit);
    }
    compare(document, &after, &expected, &made)
        .map(|()| made.len())
        .map_err(|problem| format!("{problem}\n--- after:\n{after}"))
}

fn compare(
    document: Document<'_>,
    after: &str,
    expected: &[Value],
    made: &[(&Place<'_>, &Edit)],
) -> Result<(), String> {
    let before = document.text;
    let tree = Tree::parse(after, ParseOptions::default()).map_err(|e| e.to_string())?;
    let result = Document::new(after, &tree);
    let found: Option<Vec<_>> = texts::values(result).into_iter().collect();
    let found = found.unwrap_or_default();
    let shares = before.contains('*') || before.contains("<<");
    // An alias stays where the order of keys alone is another one.
    let same = if shares {
        found == expected
    } else {
        same_values(&found, expected)
    };
    if !same {
        return Err(format!("expected {expected:?}\nfound    {found:?}"));
    }
    if shares {
        // Something may have been written out.
        return Ok(());
    }
    let touched: Vec<_> = made
        .iter()
        .map(|(place, edit)| touched(place.node, edit))
        .collect();
    let gone: Vec<_> = touched.iter().map(|(_, gone)| gone.clone()).collect();
    let old = comments(document, &gone);
    let new = comments(result, &[]);
    for (comment, count) in old {
        if new.get(comment).copied().unwrap_or(0) < count {
            return Err(format!("the comment `{comment}` is lost"));
        }
    }
    let cut_short = !before.ends_with('\n') && block_scalar_is_last(document);
    let start = touched.iter().map(|(range, _)| range.start).min();
    let mut same_start = &before[..start.unwrap_or(0)];
    if !before.ends_with('\n') {
        // The line break in front goes with the last line.
        same_start = same_start.trim_end_matches(['\r', '\n']);
    }
    if !cut_short && !after.starts_with(same_start) {
        return Err(format!("bytes before {} changed", same_start.len()));
    }
    let end = touched.iter().map(|(range, _)| range.end).max();
    let same_end = &before[end.unwrap_or(before.len())..];
    if !after.ends_with(same_end) {
        return Err(format!("the last {} bytes changed", same_end.len()));
    }
    // A block scalar may need the line break that was missing, and a blank line may be the last.
    let blank_is_last = before.contains("\n\n") || before.contains("\n\r\n");
    if before.ends_with('\n') != after.ends_with('\n')
        && !block_scalar_is_last(result)
        && !blank_is_last
    {
        return Err("the final line break changed".into());
    }
    match (breaks(before), breaks(after)) {
        ((0, _), (0, _)) | ((1.., 0), (_, 0)) | ((1.., 1..), _) => Ok(()),
        (old, new) => Err(format!("line breaks were {old:?}, are {new:?}")),
    }
}

/// Whether an anchored value holds another anchor, which cannot be written twice.
fn holds_anchors(document: Document<'_>) -> bool {
    document.text.matches('&').count() > 1
}

#[test]
fn every_edit_works_on_every_text() {
    let mut report = Report::default();
    for text in texts::own_cases().into_iter().chain(texts::suite()) {
        report.text(&text.name, &text.text, usize::MAX);
    }
    for text in texts::shared() {
        report.text(
            &text.name,
            &text.text,
            (60_000 / (text.text.len() + 100)).clamp(3, 60),
        );
    }
    report.finish();
}

#[derive(Default)]
struct Report {
    texts: usize,
    nodes: usize,
    edits: usize,
    refused: usize,
    problems: Vec<String>,
}

impl Report {
    /// Tries edits of a text: all, or so many of them spread over it.
    fn text(&mut self, name: &str, text: &str, most: usize) {
        let Ok(tree) = Tree::parse(text, ParseOptions::default()) else {
            return;
        };
        if texts::values(Document::new(text, &tree)).contains(&None) {
            return;
        }
        self.document(name, Document::new(text, &tree), most);
    }

    fn document(&mut self, name: &str, document: Document<'_>, most: usize) {
        self.texts += 1;
        let places = places(document);
        self.nodes += places.len();
        let stride = (places.len() / most).max(1);
        for (i, place) in places.iter().enumerate().step_by(stride) {
            let edits = edits(place.node);
            let all = most == usize::MAX;
            let few = [i * 7 % edits.len(), (i * 7 + edits.len() / 2) % edits.len()];
            for (j, edit) in edits.iter().enumerate() {
                if !all && !few.contains(&j) {
                    continue;
                }
                self.edits += 1;
                match check(document, &[(place, edit.clone())]) {
                    Ok(made) => self.refused += 1 - made,
                    Err(problem) => {
                        let path = place.node.path();
                        let kind = place.node.kind();
                        self.problems
                            .push(format!("=== {name}: {path} {kind:?} {edit:?}\n{problem}"));
                    }
                }
            }
        }
    }

    fn finish(self) {
        println!(
            "{} texts, {} nodes, {} edits, {} of them refused for an anchor",
            self.texts, self.nodes, self.edits, self.refused
        );
        assert!(
            self.problems.is_empty(),
            "{} problems:\n{}",
            self.problems.len(),
            self.problems.join("\n")
        );
    }
}
