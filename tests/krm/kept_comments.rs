//! Upgrades of real packages with comments that local put in at many places: none gets lost that
//! stands on a value which upstream has too.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use krm_yaml::{NodeRef, OwnedDocument};

use crate::merge_cases::{DEFAULTS, Files, merge, read};
use crate::upgrades::{corpus, write};

/// Places of a package by what they are called and hold; how many there are of each.
type Places = HashMap<String, usize>;

/// A comment of local's.
struct Comment {
    place: String,
    /// The line that it stands on or above, without indentation and comment.
    line: String,
    above: bool,
}

/// Names all entries and items of a resource, with where they could get a comment.
fn walk(node: NodeRef<'_>, name: &str, visit: &mut dyn FnMut(NodeRef<'_>, NodeRef<'_>, String)) {
    let json = |node: NodeRef<'_>| {
        node.value()
            .map(|value| value.to_json())
            .unwrap_or_default()
    };
    for entry in node.entries() {
        let below = format!("{name}/{}", entry.key.scalar_text().unwrap_or_default());
        let holds = if entry.value.kind().is_block_collection() {
            String::new()
        } else {
            json(entry.value)
        };
        visit(entry.key, entry.value, format!("{below}={holds}"));
        walk(entry.value, &below, visit);
    }
    for item in node.items() {
        let own = ["name", "type", "path"].map(|field| item.get(field).map(json));
        let own = own.into_iter().flatten().next();
        let below = format!("{name}[{}]", own.unwrap_or_else(|| json(item)));
        visit(item, item, format!("{below}={}", json(item)));
        walk(item, &below, visit);
    }
}

fn of_file(text: &str, visit: &mut dyn FnMut(NodeRef<'_>, NodeRef<'_>, String)) {
    let Ok(owned) = OwnedDocument::parse(text.to_owned()) else {
        return;
    };
    let document = owned.document();
    for root in (0..document.len()).filter_map(|index| document.root(index)) {
        let text = |keys: &[&str]| root.get_path(keys).and_then(|node| node.as_str());
        let kind = text(&["kind"]).unwrap_or_default();
        let resource = format!("{kind} {}", text(&["metadata", "name"]).unwrap_or_default());
        walk(root, &resource, visit);
    }
}

fn places(files: &Files) -> Places {
    let mut places = Places::new();
    for text in files.values() {
        of_file(text, &mut |_, _, place| {
            *places.entry(place).or_default() += 1
        });
    }
    places
}

/// The file with comments at some places, by the same rule each time.
fn commented(text: &str, seed: u64, comments: &mut BTreeMap<usize, Comment>) -> String {
    let mut state = seed;
    let mut chance = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 40 & 7
    };
    let mut edits: BTreeMap<usize, String> = BTreeMap::new();
    let line_at = |at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
        start..end
    };
    of_file(text, &mut |owner, value, place| {
        let in_block = owner
            .parent()
            .is_some_and(|parent| parent.kind().is_block_collection());
        let start = owner
            .indicator()
            .unwrap_or(owner.range().start)
            .min(owner.range().start);
        let line = line_at(start);
        let is_root = owner
            .parent()
            .is_some_and(|parent| parent.parent().is_none());
        let own_line = text[line.start..start].bytes().all(|byte| byte == b' ');
        let number = comments.len();
        let end = value.range().end;
        match chance() {
            0 | 1
                if in_block
                    && line.contains(&end.max(start))
                    && !value.kind().is_block_scalar()
                    && text[end..line.end].trim().is_empty()
                    && end > start
                    && !edits.contains_key(&end) =>
            {
                edits.insert(end, format!(" # keep-{number}."));
            }
            2 if in_block && own_line && !is_root && !edits.contains_key(&line.start) => {
                let indent = &text[line.start..start];
                edits.insert(line.start, format!("{indent}# keep-{number}.\n"));
            }
            _ => return,
        }
        let above = edits
            .get(&line.start)
            .is_some_and(|edit| edit.contains(&format!("-{number}.")));
        let line = text[line]
            .split(" #")
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned();
        comments.insert(number, Comment { place, line, above });
    });
    let mut out = String::new();
    let mut at = 0;
    for (place, edit) in edits {
        out.push_str(&text[at..place]);
        out.push_str(&edit);
        at = place;
    }
    out + &text[at..]
}

/// The lines of a package that hold such a comment, each with the next one that is no comment.
fn marked(files: &Files) -> HashMap<&str, (&str, &str)> {
    let mut found = HashMap::new();
    for text in files.values() {
        let mut below = "";
        for line in text.lines().rev() {
            if let Some((_, mark)) = line.split_once("# keep-") {
                found.insert(mark.trim(), (line.trim(), below));
            }
            if !line.trim_start().starts_with('#') {
                below = line.split(" #").next().unwrap_or_default().trim();
            }
        }
    }
    found
}

/// Whether a comment of local's still belongs to its line.
fn is_kept(number: usize, comment: &Comment, merged: &HashMap<&str, (&str, &str)>) -> bool {
    let Some((line, below)) = merged.get(format!("{number}.").as_str()) else {
        return false;
    };
    // The value may be another in the place of an element that changed.
    let key = |line: &str| line.split(": ").next().unwrap_or_default().to_owned();
    if comment.above {
        key(below) == key(&comment.line)
    } else {
        line.starts_with(&comment.line)
    }
}

#[test]
fn local_comments_on_shared_values_are_kept() {
    let Some(corpus) = corpus() else { return };
    let (mut count, mut lost) = (0, String::new());
    let mut pairs: Vec<_> = std::fs::read_dir(corpus)
        .expect("packages")
        .flatten()
        .collect();
    pairs.sort_by_key(std::fs::DirEntry::path);
    for pair in pairs
        .iter()
        .map(std::fs::DirEntry::path)
        .filter(|path| path.is_dir())
    {
        let (original, upstream) = (read(&pair.join("original")), read(&pair.join("upstream")));
        let (before, after) = (places(&original), places(&upstream));
        for seed in 0..2 {
            let mut comments = BTreeMap::new();
            let texts = original.iter().map(|(path, text)| {
                let is_krm = path.ends_with(".yaml") || path.ends_with("Kptfile");
                let text = if is_krm {
                    commented(text, seed + path.len() as u64, &mut comments)
                } else {
                    text.clone()
                };
                (path.clone(), text)
            });
            let local: Files = texts.collect();
            let folder = tempfile::tempdir().expect("a folder");
            write(folder.path(), &local);
            let at = |name: &str| pair.join(name);
            let (merged, _) = merge(&at("original"), folder.path(), &at("upstream"), DEFAULTS);
            let merged = marked(&merged);
            for (number, comment) in &comments {
                let here =
                    |places: &Places| places.get(&comment.place).copied().unwrap_or_default();
                if here(&after) < here(&before) {
                    continue;
                }
                count += 1;
                if !is_kept(*number, comment, &merged) {
                    let Comment { place, line, above } = comment;
                    lost += &format!(
                        "{}: {seed}: keep-{number} above={above} {place}: {line}\n",
                        name(&pair)
                    );
                }
            }
        }
    }
    assert!(lost.is_empty(), "of {count}:\n{lost}");
    assert!(count > 1_000, "{count}");
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
