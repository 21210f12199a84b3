//! Comments in generated triples, by the words of the contract alone: a line that a side added is in the result, one that
//! all versions have is there, and none is there twice. A comment that local added after a value is in the result, or a
//! result names or counts it. An entry that goes takes the comment above it that came with it. The judge knows lines, and of
//! entries only which the result has.

use std::collections::{BTreeMap, BTreeSet};

use super::generate::{read, triple};
use super::plain::Plain;
use super::{Random, merged_with_text, number};

const TRIPLES: u64 = 400;
/// Triples of long runs in which a comment was doubled.
const FOUND: [u64; 3] = [719, 3_421, 4_787];

/// Comments of one version.
struct Author<'r> {
    name: &'static str,
    random: Random,
    count: usize,
    out: &'r mut String,
}

impl Author<'_> {
    fn comment(&mut self, column: usize) {
        while self.random.below(9) == 0 {
            self.count += 1;
            let column = if self.random.below(4) == 0 { 0 } else { column };
            *self.out += &format!("{:column$}# {} {}\n", "", self.name, self.count);
        }
    }

    /// Writes a value in block style. Entries outside of lists have the same comments in all versions.
    fn write(&mut self, value: &Plain, column: usize, path: Option<&str>) {
        for (key, value) in value.entries() {
            let path = path.map(|path| format!("{path}/{key}"));
            if let Some(path) = path.as_ref().filter(|path| path.len().is_multiple_of(3)) {
                *self.out += &format!("{:column$}# base {path}\n", "");
            }
            self.comment(column);
            *self.out += &format!("{:column$}{key:?}:", "");
            self.behind(value, column, path.as_deref());
        }
        for element in value.elements() {
            self.comment(column);
            *self.out += &format!("{:column$}-", "");
            self.behind(element, column, None);
        }
    }

    fn behind(&mut self, value: &Plain, column: usize, path: Option<&str>) {
        if value.entries().is_empty() && value.elements().is_empty() {
            *self.out += &format!(" {value}");
            // After other values, upstream's comments do not come.
            if self.name == "local" && self.random.below(6) == 0 {
                self.count += 1;
                *self.out += &format!(" # {} {}", self.name, self.count);
            }
            self.out.push('\n');
        } else {
            self.out.push('\n');
            self.write(value, column + 2, path);
        }
    }
}

fn text(value: &Plain, name: &'static str, seed: u64) -> String {
    let mut out = String::new();
    let mut author = Author {
        name,
        random: Random::new(seed),
        count: 0,
        out: &mut out,
    };
    author.write(value, 0, Some(""));
    author.comment(0);
    out
}

/// The comments, with how often each is there. The first one in an element may follow its dash.
fn comments<'t>(text: &'t str) -> BTreeMap<&'t str, usize> {
    let mut found = BTreeMap::new();
    let lines = text.lines().map(|line| line.trim_start_matches([' ', '-']));
    let after = |line: &'t str| Some(&line[line.rfind(" # local ")? + 1..]);
    let is_alone = |line: &str| line.starts_with('#');
    for comment in lines.filter_map(|line| {
        if is_alone(line) {
            Some(line)
        } else {
            after(line)
        }
    }) {
        *found.entry(comment).or_default() += 1;
    }
    found
}

/// How many comments a result counts and does not name.
fn counted(said: &str) -> usize {
    let count = |line: &str| {
        let (before, _) = line
            .strip_suffix(" (CommentsRemoved)")?
            .rsplit_once(" more")?;
        before.rsplit(' ').next()?.parse::<usize>().ok()
    };
    said.lines().filter_map(count).sum()
}

/// Whether a value has an entry at a path like `/spec/replicas`.
fn has_entry(value: &Plain, path: &str) -> bool {
    let mut entries = value.entries().iter();
    entries.any(|(key, value)| {
        let rest = path
            .strip_prefix('/')
            .and_then(|path| path.strip_prefix(key.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || has_entry(value, rest))
    })
}

fn faults(texts: [&str; 3], result: &str, said: &str) -> Vec<String> {
    let [base, local, upstream] = texts.map(comments);
    let found = comments(result);
    let merged = read(result);
    let all: BTreeSet<&str> = [&base, &local, &upstream, &found]
        .into_iter()
        .flat_map(|lines| lines.keys().copied())
        .collect();
    let mut faults = Vec::new();
    let mut lost = Vec::new();
    for line in all {
        let has = [&base, &local, &upstream].map(|lines| lines.contains_key(line));
        let count = found.get(line).copied().unwrap_or_default();
        let stays = |path| has_entry(&merged, path);
        let expected = match has {
            [true, local, upstream] => {
                let stays = line.strip_prefix("# base ").is_none_or(stays);
                usize::from(local && upstream && stays)
            }
            [false, local, upstream] => usize::from(local || upstream),
        };
        let fault = format!("{line:?}: expected {expected}, found {count}");
        if count == expected || count == 0 && said.contains(&format!("`{line}`")) {
            continue;
        }
        let is_after_value = texts[1]
            .lines()
            .any(|own| own.ends_with(&format!(" {line}")) && own.trim() != line);
        if count == 0 && is_after_value {
            lost.push(fault);
        } else {
            faults.push(fault);
        }
    }
    if lost.len() > counted(said) {
        faults.append(&mut lost);
    }
    faults
}

#[test]
fn no_comment_is_lost_or_doubled() {
    let from = number("KRM_VARIANTS_TRIPLES_FROM").unwrap_or_default();
    let count = number("KRM_VARIANTS_TRIPLES").unwrap_or(TRIPLES);
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for seed in (from..from + count).chain(FOUND) {
        let triple = triple(seed);
        let [Some(base), Some(local), Some(upstream)] = &triple.versions else {
            continue;
        };
        if triple.kind == "Kptfile" {
            continue;
        }
        let texts = [
            (base, "old", 0),
            (local, "local", 1),
            (upstream, "upstream", 2),
        ];
        let texts = texts.map(|(value, name, side)| text(value, name, seed * 3 + side + 1));
        // Comments of the original alone are removed by both.
        let versions = texts.each_ref().map(|text| Some(text.clone()));
        let (result, said) = merged_with_text("r.yaml", &versions);
        // The winner's value stands with its comments.
        if said.contains("(MergeConflict)") {
            continue;
        }
        judged += 1;
        let faults = faults(texts.each_ref().map(String::as_str), &result, &said);
        if !faults.is_empty() {
            let [base, local, upstream] = &texts;
            wrong.push(format!(
                "seed {seed}: {faults:#?}\n== base\n{base}== local\n{local}== upstream\n{upstream}== merged\n{result}{said}\n"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {judged} wrong\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
    assert!(judged > count / 4, "{judged}");
}
