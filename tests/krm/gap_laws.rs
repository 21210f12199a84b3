//! `merge-package`: comments and blank lines between entries, in generated files. The judge knows only lines: which
//! version has a line, and what stands around it.

use std::collections::{HashMap, HashSet};

use crate::merge_cases::merge_files;

/// A row of a generated file.
#[derive(Clone, Debug)]
enum Row {
    /// The lines of an entry or item, each with a text that no other entry has.
    Entry {
        id: usize,
        indent: usize,
        text: String,
        /// Number of its collection.
        parent: usize,
        is_leaf: bool,
    },
    /// A comment or blank line.
    Gap(String),
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Makes files, and numbers their entries and comments.
struct Generator {
    random: Random,
    count: usize,
}

impl Generator {
    fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    fn base(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        for text in [
            "apiVersion: example.com/v1",
            "kind: Conf",
            "metadata:",
            "  name: c",
            "spec:",
        ] {
            let (indent, text) = (text.len() - text.trim_start().len(), text.to_owned());
            rows.push(Row::Entry {
                id: 0,
                indent,
                text,
                parent: 0,
                is_leaf: false,
            });
        }
        self.mapping(2, 3, &mut rows);
        self.with_gaps(rows, "base", 35)
    }

    fn mapping(&mut self, indent: usize, depth: usize, rows: &mut Vec<Row>) {
        let parent = self.next();
        for _ in 0..2 + self.random.below(3) {
            let id = self.next();
            let kind = if depth == 0 { 0 } else { self.random.below(6) };
            let pad = " ".repeat(indent);
            let (text, is_leaf) = match kind {
                0..3 => (format!("{pad}k{id}: v{id}"), true),
                3 => (
                    format!("{pad}t{id}: |\n{pad}  one {id}\n{pad}  # text {id}"),
                    true,
                ),
                4 => (format!("{pad}s{id}:"), false),
                _ => (format!("{pad}m{id}:"), false),
            };
            rows.push(Row::Entry {
                id,
                indent,
                text,
                parent,
                is_leaf,
            });
            match kind {
                4 => {
                    let deeper = 2 * self.random.below(2);
                    self.list(indent + deeper, rows);
                }
                5 => self.mapping(indent + 2, depth - 1, rows),
                _ => {}
            }
        }
    }

    fn list(&mut self, indent: usize, rows: &mut Vec<Row>) {
        for _ in 0..2 + self.random.below(2) {
            let id = self.next();
            let text = format!("{:indent$}- i{id}", "");
            rows.push(Row::Entry {
                id,
                indent,
                text,
                parent: 0,
                is_leaf: false,
            });
        }
    }

    /// Adds comments and blank lines between rows. A line below a block scalar is not deep enough to be part of it.
    fn with_gaps(&mut self, rows: Vec<Row>, side: &str, percent: usize) -> Vec<Row> {
        let mut out: Vec<Row> = Vec::new();
        let mut deepest = 9;
        for row in rows {
            while out.len() > 1 && self.random.chance(percent) {
                out.push(self.gap(side, deepest));
            }
            if let Row::Entry { indent, text, .. } = &row {
                deepest = if text.contains('|') { indent + 1 } else { 9 };
            }
            out.push(row);
        }
        while self.random.chance(percent) {
            out.push(self.gap(side, deepest));
        }
        out
    }

    fn gap(&mut self, side: &str, deepest: usize) -> Row {
        if self.random.chance(30) {
            return Row::Gap(String::new());
        }
        let indent = self.random.below(deepest + 1);
        Row::Gap(format!("{:indent$}# {side} {}", "", self.next()))
    }

    /// The rows with changes. A side changes only its half of the entries, and any comment.
    fn changed(&mut self, base: &[Row], side: usize) -> Vec<Row> {
        let name = ["local", "upstream"][side];
        let mut left: HashMap<usize, usize> = HashMap::new();
        for row in base {
            if let Row::Entry { parent, .. } = row {
                *left.entry(*parent).or_default() += 1;
            }
        }
        let mut rows = Vec::new();
        let mut deepest = 9;
        for row in base {
            match row {
                Row::Gap(text) if text.is_empty() => {
                    if !self.random.chance(15) {
                        rows.push(row.clone());
                    }
                }
                Row::Gap(_) => match self.random.below(10) {
                    0 => {}
                    1 => {
                        let indent = self.random.below(deepest + 1);
                        let text = format!("{:indent$}# {name} {}", "", self.next());
                        rows.push(Row::Gap(text));
                    }
                    _ => rows.push(row.clone()),
                },
                Row::Entry {
                    id,
                    indent,
                    text,
                    parent,
                    is_leaf,
                } => {
                    // The comments below a removed entry must not become lines of a block scalar above it.
                    let may_go = deepest == 9;
                    deepest = if text.contains('|') { indent + 1 } else { 9 };
                    if !is_leaf || id % 2 != side {
                        rows.push(row.clone());
                        continue;
                    }
                    let remaining = left.get_mut(parent).expect("counted");
                    match self.random.below(8) {
                        // Two siblings are left for each side.
                        0 if *remaining > 3 && may_go => {
                            *remaining -= 1;
                            continue;
                        }
                        1 => rows.push(Row::Entry {
                            id: *id,
                            indent: *indent,
                            text: text.replace(": v", ": w").replace("one", "two"),
                            parent: *parent,
                            is_leaf: true,
                        }),
                        2 => {
                            rows.push(row.clone());
                            let id = self.next();
                            let text = format!("{:indent$}n{id}: {name}", "");
                            let (indent, parent) = (*indent, *parent);
                            rows.push(Row::Entry {
                                id,
                                indent,
                                text,
                                parent,
                                is_leaf: true,
                            });
                            deepest = 9;
                        }
                        _ => rows.push(row.clone()),
                    }
                }
            }
        }
        self.with_gaps(rows, name, 7)
    }
}

fn text(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| match row {
        Row::Entry { text, .. } | Row::Gap(text) => format!("{text}\n"),
    });
    lines.collect()
}

#[track_caller]
fn merged(versions: [&str; 3]) -> String {
    let [base, local, upstream] = versions;
    let (mut files, said) = merge_files(
        [
            &[("a.yaml", base)],
            &[("a.yaml", local)],
            &[("a.yaml", upstream)],
        ],
        "",
    );
    let conflicts = said.iter().filter(|line| line.contains("(MergeConflict)"));
    assert_eq!(
        conflicts.count(),
        0,
        "{said:?}\n{}",
        versions.join("=====\n")
    );
    files.remove("a.yaml").expect("the file")
}

/// The lines with a text, each of which is unique in its version.
fn lines(text: &str) -> HashMap<&str, usize> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| (line, at)).collect()
}

/// What is wrong with a merged file, judged by its lines alone.
fn faults(versions: [&str; 3], merged: &str) -> Vec<String> {
    let [base, local, upstream] = versions.map(lines);
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    for line in merged.lines().filter(|line| !line.trim().is_empty()) {
        if !seen.insert(line) {
            faults.push(format!("twice: {line:?}"));
        }
        if ![&base, &local, &upstream]
            .iter()
            .any(|lines| lines.contains_key(line))
        {
            faults.push(format!("in no version: {line:?}"));
        }
    }
    let all: HashSet<&str> = base
        .keys()
        .chain(local.keys())
        .chain(upstream.keys())
        .copied()
        .collect();
    for line in all {
        let has = [&base, &local, &upstream].map(|lines| lines.contains_key(line));
        let expected = match has {
            [true, local, upstream] => local && upstream,
            [false, ..] => true,
        };
        if expected != seen.contains(line) {
            let what = if expected { "lost" } else { "came back" };
            faults.push(format!("{what}: {line:?}"));
        }
    }
    let merged = lines(merged);
    for (line, place) in &base {
        // The entries around a comment, if all versions have the same.
        let around = versions.map(|text| entries_around(text, line));
        let is_comment = line.trim_start().starts_with("# base");
        let Some(at) = merged.get(line).filter(|_| is_comment) else {
            continue;
        };
        if around[0] != around[1] || around[0] != around[2] {
            continue;
        }
        let [above, below] = around[0].map(|entry| entry.and_then(|entry| merged.get(entry)));
        if above.is_some_and(|above| above > at) || below.is_some_and(|below| below < at) {
            faults.push(format!("moved: {line:?} of line {place}"));
        }
    }
    faults
}

fn entries_around<'t>(text: &'t str, line: &str) -> [Option<&'t str>; 2] {
    let lines: Vec<&str> = text.lines().collect();
    let Some(at) = lines.iter().position(|other| *other == line) else {
        return [None; 2];
    };
    let is_entry = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    [
        lines[..at].iter().rfind(is_entry).copied(),
        lines[at..].iter().find(is_entry).copied(),
    ]
}

#[test]
fn each_line_of_a_gap_is_merged_once_with_its_own_indentation() {
    let mut wrong = Vec::new();
    let mut comments = 0;
    for seed in 1..400 {
        let random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let mut generator = Generator { random, count: 0 };
        let base = generator.base();
        let [local, upstream] = [0, 1].map(|side| text(&generator.changed(&base, side)));
        let base = text(&base);
        comments += base.matches('#').count();
        let versions = [base.as_str(), &local, &upstream];
        let result = merged(versions);
        let faults = faults(versions, &result);
        if !faults.is_empty() {
            let shown = [&base, &local, &upstream, &result].map(String::as_str);
            wrong.push(format!(
                "seed {seed}: {faults:#?}\n{}",
                shown.join("=====\n")
            ));
        }
        // The laws, by bytes.
        assert_eq!(merged([&base, &local, &base]), local, "seed {seed}");
        assert_eq!(merged([&base, &local, &local]), local, "seed {seed}");
        assert_eq!(merged([&base, &base, &upstream]), upstream, "seed {seed}");
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} wrong, the first:\n{}", wrong[0]);
    assert!(comments > 2_000, "{comments}");
}

#[test]
fn one_sided_changes_of_gaps_are_taken_as_they_are() {
    for seed in 1..200 {
        let random = Random(0x2545_f491_4f6c_dd1d_u64.wrapping_mul(seed));
        let mut generator = Generator { random, count: 0 };
        let base = generator.base();
        let upstream = text(&generator.changed(&base, 1));
        let base = text(&base);
        // Local's only change is elsewhere, so that the file is merged and not taken.
        let mark = |text: &str| text.replacen("  name: c", "  name: c\n  labels: {x: y}", 1);
        let result = merged([&base, &mark(&base), &upstream]);
        assert_eq!(result, mark(&upstream), "seed {seed}");
    }
}
