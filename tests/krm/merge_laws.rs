//! The laws of a merge on generated packages: files of several resources with comments, a Kptfile,
//! a file that is not KRM.

use std::collections::BTreeMap;

use krm_variants::merge::facts::Facts;
use krm_variants::merge::{Side, fields};
use krm_variants::resource::Resource;
use krm_variants::schema::Schema;
use krm_variants::yaml::{Editor, OwnedDocument, Value, to_block_text};

use crate::kpt_merge::generate::{Random, Triple, triple};
use crate::merge_cases::{Files, data, merge_files};

const PACKAGES: u64 = 60;

/// A package in three versions.
fn packages(seed: u64) -> [Files; 3] {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut files: [Files; 3] = Default::default();
    for number in 0..8 {
        let resource = triple(&mut random, number);
        put(&mut files, &resource, number, &mut random);
    }
    for (side, files) in files.iter_mut().enumerate() {
        let pipeline = match random.below(3) {
            0 => "",
            1 => "pipeline:\n  mutators:\n  - image: a:v1\n    configMap: {x: y}\n",
            _ => "pipeline:\n  mutators:\n  - image: b:v1 # ours\n  - image: a:v2\n",
        };
        let head = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n";
        files.insert("Kptfile".to_owned(), format!("{head}{pipeline}"));
        if random.below(4) > 0 {
            let text = format!("text {}\n", random.below(side + 1));
            files.insert("README.md".to_owned(), text);
        }
    }
    files
}

/// Three resources share a file; each version has comments of its own.
fn put(files: &mut [Files; 3], resource: &Triple, number: usize, random: &mut Random) {
    for (side, files) in files.iter_mut().enumerate() {
        let Some(value) = &resource[side] else {
            continue;
        };
        let mut text = String::new();
        for (at, line) in to_block_text(value).lines().enumerate() {
            text += line;
            // The same place has the same comment, but now and then.
            if line.contains(": ") && (at + number).is_multiple_of(5) {
                let which = if random.below(9) == 0 { side } else { 0 };
                text += &format!(" # c{at}-{which}");
            }
            text.push('\n');
        }
        let file = files.entry(format!("f{}.yaml", number / 3)).or_default();
        if !file.is_empty() {
            file.push_str("---\n");
        }
        file.push_str(&text);
    }
}

fn merged(sources: [&Files; 3], fields: &str) -> (Files, Vec<String>) {
    let borrowed = sources.map(|files| {
        let files = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()));
        files.collect::<Vec<_>>()
    });
    merge_files([&borrowed[0], &borrowed[1], &borrowed[2]], fields)
}

#[test]
fn one_side_changed() {
    for seed in 0..PACKAGES {
        let [base, x, _] = packages(seed);
        for fields in ["", "onConflict: local\n"] {
            let (files, said) = merged([&base, &x, &base], fields);
            assert_eq!(
                (&files, said),
                (&x, Vec::new()),
                "merge(b, x, b), seed {seed}"
            );
            let (files, said) = merged([&base, &x, &x], fields);
            assert_eq!(
                (&files, said),
                (&x, Vec::new()),
                "merge(b, x, x), seed {seed}"
            );
            // Comments and order too; the Kptfile's own fields are the same here.
            let (mut files, said) = merged([&base, &base, &x], fields);
            let kptfile =
                |files: &Files| BTreeMap::from([("Kptfile".to_owned(), files["Kptfile"].clone())]);
            assert_eq!(
                data(&kptfile(&files)),
                data(&kptfile(&x)),
                "merge(b, b, x), seed {seed}"
            );
            files.insert("Kptfile".to_owned(), x["Kptfile"].clone());
            assert_eq!(files, x, "merge(b, b, x), seed {seed}");
            assert!(
                !said.iter().any(|line| line.contains("MergeConflict")),
                "{said:?}"
            );
        }
    }
}

/// The texts of the resources, without markers.
fn documents(files: &Files) -> BTreeMap<String, String> {
    let all = files.iter().filter(|(path, _)| path.ends_with(".yaml"));
    let all = all.flat_map(|(path, text)| text.split("---\n").map(move |text| (path, text)));
    all.map(|(path, text)| {
        let name = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("name: r"));
        let name = name
            .unwrap_or_default()
            .split(' ')
            .next()
            .unwrap_or_default();
        (format!("{path} {name}"), text.to_owned())
    })
    .collect()
}

fn leaves(value: &Value, path: &str, out: &mut BTreeMap<String, Value>) {
    match value {
        Value::Mapping(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                leaves(
                    value,
                    &format!("{path}.{}", key.as_str().unwrap_or("?")),
                    out,
                );
            }
        }
        Value::Sequence(items) if items.iter().all(|item| item.get("name").is_some()) => {
            for item in items {
                let name = item.get("name").and_then(Value::as_str).unwrap_or("?");
                leaves(item, &format!("{path}[{name}]"), out);
            }
        }
        value => {
            out.insert(path.to_owned(), value.clone());
        }
    }
}

#[test]
fn nothing_local_is_lost_and_what_upstream_left_alone_stays() {
    for seed in 0..PACKAGES {
        let [base, local, upstream] = packages(seed);
        for fields in ["", "onConflict: local\n"] {
            let (files, said) = merged([&base, &local, &upstream], fields);
            let (again, _) = merged([&base, &files, &upstream], fields);
            assert_eq!(again, files, "merged twice, seed {seed}");
            let (old, ours, theirs) = (documents(&base), documents(&local), documents(&upstream));
            let found = documents(&files);
            for (key, text) in &ours {
                if old.contains_key(key) && old.get(key) == theirs.get(key) {
                    assert_eq!(found.get(key), Some(text), "{key}, seed {seed}");
                }
            }
            let all = [&base, &local, &files].map(data);
            let keys = all[0].keys().chain(all[1].keys());
            for key in keys {
                let of = |at: usize| {
                    let mut out = BTreeMap::new();
                    if let Some(value) = all[at].get(key) {
                        leaves(value, "", &mut out);
                    }
                    out
                };
                let (old, ours, result) = (of(0), of(1), of(2));
                let name = key.rsplit(' ').next().unwrap_or_default();
                let is_said = said.iter().any(|line| {
                    line.contains(&format!("/{name}:")) && line.contains("MergeConflict")
                }) || said
                    .iter()
                    .any(|line| line.contains(&format!("{name}: local and")));
                for path in old.keys().chain(ours.keys()) {
                    let changed = old.get(path) != ours.get(path);
                    let lost = result.get(path) != ours.get(path);
                    assert!(
                        !(changed && lost) || is_said,
                        "{key} {path}, seed {seed}: {said:?}"
                    );
                }
            }
        }
    }
}

/// Lines of a text taken away, doubled, changed and moved.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..1 + random.below(3) {
        if lines.is_empty() {
            break;
        }
        let at = random.below(lines.len());
        match random.below(6) {
            0 => {
                lines.remove(at);
            }
            1 => {
                let line = lines[at].replacen(':', &format!("{}:", random.below(3)), 1);
                lines.insert(at, line);
            }
            2 => lines[at] = lines[at].replacen(": ", ": x", 1),
            3 => lines.insert(at, format!("# c{}\n", random.below(3))),
            4 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            _ => lines[at] = misspelt(&lines[at], random),
        }
    }
    lines.concat()
}

/// A line with one character replaced, put in or taken out.
fn misspelt(line: &str, random: &mut Random) -> String {
    const INDICATORS: &[u8] = b" \t#:-,[]{}\"'\n&!|>x?+";
    let mut characters: Vec<char> = line.chars().collect();
    let at = random.below(characters.len());
    let indicator = char::from(INDICATORS[random.below(INDICATORS.len())]);
    match random.below(3) {
        0 => characters[at] = indicator,
        1 => characters.insert(at, indicator),
        _ => {
            characters.remove(at);
        }
    }
    characters.into_iter().collect()
}

/// A document that is a mapping.
fn document(text: &str) -> Option<OwnedDocument> {
    let owned = OwnedDocument::parse(text.to_owned()).ok()?;
    let root = owned.root()?;
    // Identifiers, and annotations of a pipeline, are local's own: upstream's are not taken.
    let own = ["kubernetes.io", "kpt"]
        .iter()
        .any(|word| text.contains(word));
    // A text of several documents is taken apart before it is merged, and an alias that stands
    // for itself has no value to compare.
    let fits = owned.document().len() == 1 && root.kind().is_mapping() && root.value().is_some();
    (fits && !own && root.entries().next().is_some()).then_some(owned)
}

fn merged_document(base: &str, local: &str, upstream: &str) -> Option<String> {
    let texts = format!("{base}\n== local\n{local}\n== upstream\n{upstream}");
    let (base, local, upstream) = (document(base)?, document(local)?, document(upstream)?);
    let schema = Schema::builtin();
    let (old, ours, theirs) = (base.root()?, local.root()?, upstream.root()?);
    let facts = Facts::of(&Resource::read(ours), &schema, false);
    let mut editor = Editor::new(local.document());
    fields::merge_resource(Some(old), ours, theirs, facts, Side::Upstream, &mut editor).ok()?;
    let merged = editor.finish();
    Some(merged.unwrap_or_else(|error| panic!("what was merged is YAML: {error}\n{texts}")))
}

/// A text as it is, with other line ends, without the last line end, or indented.
fn variant(text: String, number: u64) -> String {
    match number % 4 {
        1 if !text.contains('\r') => text.replace('\n', "\r\n"),
        2 => text.trim_end_matches(['\r', '\n']).to_owned(),
        3 => text.lines().map(|line| format!("  {line}\n")).collect(),
        _ => text,
    }
}

#[test]
fn any_documents() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/yaml");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let mut count = 0;
    // For a long run.
    let times =
        std::env::var("KRM_VARIANTS_MUTATIONS").map_or(25, |n| n.parse().expect("a number"));
    for seed in 7..11 {
        let mut random = Random::new(seed);
        for path in &paths {
            let text = variant(std::fs::read_to_string(path).expect("a text"), seed);
            if document(&text).is_none() {
                continue;
            }
            for _ in 0..times {
                let (local, upstream) = (mutated(&text, &mut random), mutated(&text, &mut random));
                if document(&local).is_none() || document(&upstream).is_none() {
                    continue;
                }
                count += 1;
                let what = format!(
                    "{} {seed}\n== local\n{local}\n== upstream\n{upstream}",
                    path.display()
                );
                laws(&text, &local, &upstream, &what);
            }
        }
    }
    assert!(count > 1_000, "{count}");
}

#[track_caller]
fn laws(base: &str, local: &str, upstream: &str, what: &str) {
    let value = |text: &str| document(text).and_then(|owned| owned.root()?.value());
    for same in [base, local] {
        let merged = merged_document(base, local, same);
        assert_eq!(merged.as_deref(), Some(local), "{what}");
    }
    // None: refused, as below an anchor that is read elsewhere.
    if let Some(taken) = merged_document(base, base, upstream) {
        assert_eq!(value(&taken), value(upstream), "{what}");
    }
    let Some(both) = merged_document(base, local, upstream) else {
        return;
    };
    let again = merged_document(base, &both, upstream);
    // Which lists have keys follows from the kind.
    let kind = |text: &str| {
        let value = value(text)?;
        Some(["apiVersion", "kind"].map(|key| value.get(key).cloned()))
    };
    if let Some(again) = again
        && kind(&both) == kind(local)
    {
        assert_eq!(again, both, "{what}");
    }
    // However it is written; aliases are one value each.
    let texts = [base, local, upstream];
    if !texts.iter().any(|text| text.contains('*')) {
        let anew = texts.map(|text| to_block_text(&value(text).expect("a value")));
        let anew = merged_document(&anew[0], &anew[1], &anew[2]).expect("no anchors");
        assert_eq!(value(&anew), value(&both), "{what}\n== merged\n{both}");
    }
}
