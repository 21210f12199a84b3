//! The laws of a merge on generated packages: files of several resources with comments, a Kptfile,
//! a file that is not KRM.

use std::collections::{BTreeMap, BTreeSet};

use krm_core::resource::Resource;
use krm_core::results::{FunctionResult, Results};
use krm_core::schema::Schema;
use krm_merge::{MergeSchema, Side, fields};
use krm_yaml::{Editor, OwnedDocument, Path, Value, to_block_text};

use crate::kpt_merge::generate::{Random, Triple, triple};
use crate::merge_cases::{Files, data, merge_with_results};

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
    let (files, results) = merged_with_results(sources, fields);
    (files, results.iter().map(ToString::to_string).collect())
}

fn merged_with_results(sources: [&Files; 3], fields: &str) -> (Files, Results) {
    let borrowed = sources.map(|files| {
        let files = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()));
        files.collect::<Vec<_>>()
    });
    merge_with_results([&borrowed[0], &borrowed[1], &borrowed[2]], fields)
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

/// A step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Field(String),
    /// An element by what tells it from the others.
    Element(String),
    /// A leaf of a list without keys: the path within, and the value. How many there are is what counts.
    Within(String, String),
}

/// What tells the elements of a list apart; `None` if it is one value.
fn element_keys(list: &str, items: &[Value]) -> Option<Vec<String>> {
    let field = match list {
        "ports" => "port",
        "mutators" => "image",
        _ => "name",
    };
    let key = |item: &Value| {
        let key = item.get(field)?.to_json();
        // Functions are the same by image without tag.
        let end = key.find(':').filter(|_| field == "image");
        Some(key[..end.unwrap_or(key.len())].to_owned())
    };
    let keys: Vec<String> = items.iter().map(key).collect::<Option<_>>()?;
    let is_first = |(at, key): (usize, &String)| !keys[..at].contains(key);
    keys.iter().enumerate().all(is_first).then_some(keys)
}

/// The parts of a map or list; `None` if it is one value, or empty.
fn parts<'v>(list: &str, value: &'v Value) -> Option<Vec<(Step, &'v Value)>> {
    match value {
        Value::Mapping(entries) if !entries.is_empty() => {
            let name = |key: &Value| Step::Field(key.as_str().unwrap_or("?").to_owned());
            Some(entries.iter().map(|(k, v)| (name(k), v)).collect())
        }
        Value::Sequence(items) if !items.is_empty() => {
            let keys = element_keys(list, items)?.into_iter();
            Some(keys.map(Step::Element).zip(items).collect())
        }
        _ => None,
    }
}

/// All values that have no parts, by where they are.
fn leaves(value: &Value, at: &mut Vec<Step>, out: &mut BTreeMap<Vec<Step>, Value>) {
    let list = match at.last() {
        Some(Step::Field(name)) => name.clone(),
        _ => String::new(),
    };
    match parts(&list, value) {
        Some(parts) => {
            for (step, value) in parts {
                at.push(step);
                leaves(value, at, out);
                at.pop();
            }
        }
        None => match value {
            Value::Sequence(items) if !items.is_empty() => within(value, "", at, out),
            _ => {
                out.insert(at.clone(), value.clone());
            }
        },
    }
}

/// Counts the leaves of a list without keys.
fn within(value: &Value, path: &str, at: &[Step], out: &mut BTreeMap<Vec<Step>, Value>) {
    match value {
        Value::Sequence(items) if !items.is_empty() => {
            for item in items {
                within(item, &format!("{path}[*]"), at, out);
            }
        }
        Value::Mapping(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                let key = key.as_str().unwrap_or("?");
                within(value, &format!("{path}.{key}"), at, out);
            }
        }
        leaf => {
            let mut steps = at.to_vec();
            steps.push(Step::Within(path.to_owned(), leaf.to_json()));
            let count = out.entry(steps).or_insert(Value::from(0));
            *count = Value::from(number(Some(count)) + 1);
        }
    }
}

/// How many leaves there are.
fn number(count: Option<&Value>) -> i64 {
    count.map_or(0, |count| count.to_json().parse().expect("a count"))
}

/// Whether the result has more of a leaf where local has more than base, and fewer where local has fewer, but for what
/// upstream took away or added.
fn is_counted(counts: [Option<&Value>; 4]) -> bool {
    let [base, local, upstream, result] = counts.map(number);
    if local > base {
        result >= local - (base - upstream).max(0)
    } else {
        result <= local + (upstream - base).max(0)
    }
}

/// The part of a value, and its position if it is an element.
fn part<'v>(value: &'v Value, list: &str, step: &Step) -> Option<(usize, &'v Value)> {
    let parts = parts(list, value)?;
    let at = parts.iter().position(|(other, _)| other == step)?;
    Some((at, parts[at].1))
}

/// A place as results name it: elements by their position in local, else in upstream.
fn field_path(steps: &[Step], local: Option<&Value>, upstream: Option<&Value>) -> String {
    let (mut path, mut list) = (Path::root(), "");
    let (mut local, mut upstream) = (local, upstream);
    for step in steps {
        let ours = local.and_then(|value| part(value, list, step));
        let theirs = upstream.and_then(|value| part(value, list, step));
        match (step, ours.or(theirs)) {
            (Step::Field(name), _) => {
                path = path.field(name);
                list = name;
            }
            (Step::Element(_), Some((at, _))) => {
                path = path.index(at);
                list = "";
            }
            // Neither side has it: what names the list names it.
            (Step::Element(_), None) => return path.to_string(),
            (Step::Within(within, _), _) => return format!("{path}{within}"),
        }
        (local, upstream) = (ours.map(|(_, v)| v), theirs.map(|(_, v)| v));
    }
    path.to_string()
}

/// Whether a conflict is about a field, or about something that it is part of.
fn names(result: &FunctionResult, field: &str) -> bool {
    let is_conflict = result
        .tags
        .contains(&("reason".to_owned(), "MergeConflict".to_owned()));
    // The order of a list says nothing of what is in it.
    if !is_conflict || result.message.what.contains("changed the order") {
        return false;
    }
    let Some(above) = &result.field else {
        return true;
    };
    let mut above = above.clone();
    // Elements without keys count wherever they stand.
    if let Some((list, _)) = field.split_once("[*]")
        && let Some(within) = above.strip_prefix(list)
    {
        above = format!("{list}{}", without_positions(within));
    }
    let rest = field.strip_prefix(above.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// `[1].a[2]` as `[*].a[*]`.
fn without_positions(path: &str) -> String {
    let mut parts = path.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once(']').map_or("", |(_, behind)| behind));
    rest.fold(first, |path, part| format!("{path}[*]{part}"))
}

/// The local changes that are neither in the result nor named by a conflict.
fn lost(versions: [Option<&Value>; 4], said: &[&FunctionResult]) -> Vec<String> {
    let [base, local, upstream, result] = versions;
    let leaves_of = |value: Option<&Value>| {
        let mut out = BTreeMap::new();
        if let Some(value) = value {
            leaves(value, &mut Vec::new(), &mut out);
        }
        out
    };
    let [old, ours, theirs, found] = [base, local, upstream, result].map(leaves_of);
    let is_empty = |value: &Value| {
        *value == Value::Mapping(Vec::new()) || *value == Value::Sequence(Vec::new())
    };
    let mut lost = Vec::new();
    for steps in old.keys().chain(ours.keys()) {
        let (was, is) = (old.get(steps), ours.get(steps));
        // To empty something is to remove what was in it, each for itself.
        let is_there = match steps.last() {
            Some(Step::Within(..)) => is_counted([was, is, theirs.get(steps), found.get(steps)]),
            _ => found.get(steps) == is || is.is_some_and(is_empty),
        };
        if was == is || is_there {
            continue;
        }
        let field = field_path(steps, local, upstream);
        if !said.iter().any(|result| names(result, &field)) {
            lost.push(field);
        }
    }
    lost
}

/// The files without their lists of maps without names: which of these are the same is known by their leaves, and the
/// leaves of a merged element are others than local's.
fn without_lists<T: AsRef<str>>(files: &BTreeMap<String, T>) -> BTreeMap<&str, String> {
    let without = |text: &str| {
        let mut is_list = false;
        let lines = text.lines().filter(|line| {
            let is_element = line.starts_with("  - ") || line.starts_with("    ");
            is_list = line.starts_with("  items:") || is_list && is_element;
            !is_list
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let files = files.iter();
    files
        .map(|(path, text)| (path.as_str(), without(text.as_ref())))
        .collect()
}

#[test]
fn nothing_local_is_lost_and_what_upstream_left_alone_stays() {
    let mut named = 0;
    for seed in 0..PACKAGES {
        let [base, local, upstream] = packages(seed);
        for fields in ["", "onConflict: local\n"] {
            let (files, said) = merged_with_results([&base, &local, &upstream], fields);
            let (again, _) = merged([&base, &files, &upstream], fields);
            assert_eq!(
                without_lists(&again),
                without_lists(&files),
                "merged twice, seed {seed}"
            );
            // Such a list differs at most where the first merge combined or decided it.
            for (path, text) in files
                .iter()
                .filter(|(path, text)| again.get(*path) != Some(text))
            {
                let is_of_list = |result: &&FunctionResult| {
                    let file = result.file.as_ref().map(|(path, _)| &**path);
                    let field = result.field.as_ref();
                    file == Some(path) && field.is_some_and(|field| field.contains("items"))
                };
                assert!(
                    said.iter().any(|result| is_of_list(&result)),
                    "{path}, seed {seed}:\n{text}\n{}",
                    again[path]
                );
            }
            let (old, ours, theirs) = (documents(&base), documents(&local), documents(&upstream));
            let found = documents(&files);
            for (key, text) in &ours {
                if old.contains_key(key) && old.get(key) == theirs.get(key) {
                    assert_eq!(found.get(key), Some(text), "{key}, seed {seed}");
                }
            }
            let all = [&base, &local, &upstream, &files].map(data);
            let keys: BTreeSet<&String> = all[0].keys().chain(all[1].keys()).collect();
            for key in keys {
                let words: Vec<&str> = key.split(' ').collect();
                let about: Vec<&FunctionResult> = said
                    .iter()
                    .filter(|result| {
                        let file = result.file.as_ref().map(|(path, _)| &**path);
                        let name = result.resource.as_ref().map(|r| &*r.name);
                        file == Some(words[0]) && name == words.get(2).copied()
                    })
                    .collect();
                let versions = all.each_ref().map(|data| data.get(key));
                let nameless = lost(versions, &about);
                assert!(
                    nameless.is_empty(),
                    "{key} {nameless:?}, seed {seed}: {about:#?}"
                );
                named += lost(versions, &[]).len();
            }
        }
    }
    // Some had to be named.
    assert!(named > 50, "{named}");
}

/// Lines of a text taken away, doubled, changed and moved.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..1 + random.below(3) {
        if lines.is_empty() {
            break;
        }
        let at = random.below(lines.len());
        match random.below(7) {
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
            5 => {
                let line = lines[at].trim_end_matches(['\r', '\n']);
                let value = if random.below(2) == 0 { " x" } else { "" };
                let end = &lines[at][line.len()..];
                lines[at] = format!("{line}{value} # c{}{end}", random.below(3));
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
    let merge_schema = MergeSchema::of(&Resource::read(ours), &schema, false);
    let mut editor = Editor::new(local.document());
    fields::merge_resource(
        Some(old),
        ours,
        theirs,
        merge_schema,
        Side::Upstream,
        &mut editor,
    )
    .ok()?;
    let merged = editor.finish();
    Some(merged.unwrap_or_else(|error| panic!("what was merged is YAML: {error}\n{texts}")))
}

/// A text as it is, with other line endings, without the last one, or indented.
fn variant(text: String, number: u64) -> String {
    match number % 4 {
        1 if !text.contains('\r') => text.replace('\n', "\r\n"),
        2 => text.trim_end_matches(['\r', '\n']).to_owned(),
        3 => text.lines().map(|line| format!("  {line}\n")).collect(),
        _ => text,
    }
}

#[test]
fn a_colon_below_a_question_mark() {
    // Found by the fuzz target `merge`: the colon was taken for that of the key in `g`.
    laws("g:\n ?\n:\n", "g:\n ?\n:\n", ":\n", "outer");
    laws(
        "g:\n ? a\n : b\n: c\n",
        "g:\n ? a\n : b\n: c\n",
        ": c\n",
        "both",
    );
    laws("g:\n- ? a\n- b\n", "g:\n- ? a\n- b\n", "g:\n- b\n", "items");
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
        // A comment may come later: some have no place in what is written anew, as where keys are
        // collections.
        assert_eq!(value(&again), value(&both), "{what}\n== merged\n{both}");
    }
    // However it is written; aliases are one value each.
    let texts = [base, local, upstream];
    if !texts.iter().any(|text| text.contains('*')) {
        let anew = texts.map(|text| to_block_text(&value(text).expect("a value")));
        let anew = merged_document(&anew[0], &anew[1], &anew[2]).expect("no anchors");
        assert_eq!(value(&anew), value(&both), "{what}\n== merged\n{both}");
    }
}
