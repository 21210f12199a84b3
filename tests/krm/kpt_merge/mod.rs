//! Beside the real `kpt pkg update`: generated resources, and the cases whose outputs are recorded.
//!
//! Compared as data. Every difference must be of a class that `docs/kpt-differences.md` explains;
//! the number of each is printed. Left out where kpt or git is not on PATH; ignored by default, since
//! kpt takes a minute: `cargo test --test krm -- --ignored --nocapture kpt_merge`. Other resources than
//! the usual ones are generated with `KPT_MERGE_SEED=<number>`.

#![allow(clippy::print_stderr, reason = "says what was left out, and counts")]

mod classes;
mod expected;
pub(crate) mod generate;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use krm_yaml::{Value, to_block_text};

use crate::merge_cases::{DEFAULTS, DIFFERENCES, data, map, merge, plain, read};
use generate::{Random, Triple, triple};

const TRIPLES: usize = 1_500;
/// kpt takes quadratic time for the resources of a package.
const PER_PACKAGE: usize = 10;
const SIDES: [&str; 3] = ["original", "local", "upstream"];

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn run(command: &mut Command) {
    let output = command.output().expect("a program");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}");
}

fn kptfile(name: &str) -> String {
    format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n")
}

fn write(path: PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

fn copy(from: &Path, to: &Path) {
    run(Command::new("cp")
        .arg("-R")
        .arg("--no-preserve=mode")
        .arg(from)
        .arg(to));
}

/// What `kpt pkg update` makes of `local` (with a Kptfile) in `folder`; gives the directory, and what
/// it said.
fn kpt_update(folder: &Path) -> (PathBuf, Output) {
    let (repository, package) = (folder.join("repository"), folder.join("kpt"));
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(&repository);
        for setting in [
            "user.name=t",
            "user.email=t@example.com",
            "core.autocrlf=false",
        ] {
            command.args(["-c", setting]);
        }
        run(command.args(arguments));
    };
    std::fs::create_dir(&repository).expect("a folder");
    git(&["init", "-q", "-b", "main"]);
    for (side, tag) in [("original", "v1"), ("upstream", "v2")] {
        run(Command::new("sh")
            .arg("-c")
            .arg("rm -rf -- \"$1\"/*")
            .arg("-")
            .arg(&repository));
        copy(&folder.join(side).join("."), &repository);
        git(&["add", "-A"]);
        git(&["commit", "-q", "--allow-empty", "-m", tag]);
        git(&["tag", tag]);
    }
    let commit = Command::new("git")
        .arg("-C")
        .arg(&repository)
        .args(["rev-parse", "v1"])
        .output()
        .expect("git");
    let commit = String::from_utf8_lossy(&commit.stdout).trim().to_owned();
    copy(&folder.join("local"), &package);
    let at = repository.display();
    let upstream = format!(
        "upstream:\n  type: git\n  git:\n    repo: {at}\n    directory: /\n    ref: v1\n  updateStrategy: resource-merge\nupstreamLock:\n  type: git\n  git:\n    repo: {at}\n    directory: /\n    ref: v1\n    commit: {commit}\n"
    );
    let text = std::fs::read_to_string(package.join("Kptfile")).expect("a Kptfile");
    write(package.join("Kptfile"), &(text + &upstream));
    let output = Command::new("kpt")
        .current_dir(folder)
        .env("KPT_CACHE_DIR", folder.join("cache"))
        .env("HOME", folder)
        .args(["pkg", "update", "kpt@v2", "--strategy", "resource-merge"])
        .output()
        .expect("kpt");
    (package, output)
}

/// Both results as data, by path, kind and name.
fn both(folder: &Path, config: &str) -> [BTreeMap<String, Value>; 2] {
    both_and_said(folder, config).0
}

/// The same, and what ours reports.
fn both_and_said(folder: &Path, config: &str) -> ([BTreeMap<String, Value>; 2], Vec<String>) {
    let at = |side: &str| folder.join(side);
    let (ours, said) = merge(&at("original"), &at("local"), &at("upstream"), config);
    let (package, output) = kpt_update(folder);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let kpts = read(&package);
    ([data(&ours), data(&kpts)], said)
}

/// The resources that a side renamed, by what the merge reports: the side, and the numbers before and after. A resource
/// that one side removed, and one like it that the same side added to another file, are one by the contract.
fn renamed(said: &[String]) -> Vec<(usize, usize, usize)> {
    let renames = said.iter().filter(|line| line.contains("(Renamed)"));
    let renames = renames.map(|line| {
        let (about, names) = line
            .split_once(" renamed the resource from `")
            .expect("names");
        let (from, to) = names.split_once("` to `").expect("two names");
        let number = |name: &str| -> usize {
            let digits = name.rsplit("/r").next().unwrap_or_default();
            let end = digits.find(|c: char| !c.is_ascii_digit());
            let digits = &digits[..end.unwrap_or(digits.len())];
            digits.parse().expect("the number of a resource")
        };
        let side = if about.ends_with("local") { 1 } else { 2 };
        (side, number(from), number(to))
    });
    renames.collect()
}

/// The versions of each resource. What was renamed is one resource with its new number; with the old one, nothing.
fn paired(triples: &[Triple], renamed: &[(usize, usize, usize)]) -> Vec<Triple> {
    let mut paired = triples.to_vec();
    for (side, from, to) in renamed {
        let mut one = triples[*from].clone();
        one[*side].clone_from(&triples[*to][*side]);
        paired[*to] = one;
        paired[*from] = [None, None, None];
    }
    paired
}

#[test]
#[ignore = "kpt takes a minute; .ci/run runs it"]
fn generated_resources() {
    if !is_there("kpt") || !is_there("git") {
        eprintln!("left out: kpt or git is not on PATH");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let seed = std::env::var("KPT_MERGE_SEED").ok();
    let seed = seed.map_or(20_261_121, |seed| seed.parse().expect("a number"));
    let mut random = Random::new(seed);
    let triples: Vec<Triple> = (0..TRIPLES)
        .map(|number| triple(&mut random, number))
        .collect();
    for (side, name) in SIDES.into_iter().enumerate() {
        let root = folder.path().join(name);
        write(root.join("Kptfile"), &kptfile("root"));
        for (number, triple) in triples.iter().enumerate() {
            let package = root.join(format!("p{}", number / PER_PACKAGE));
            write(package.join("Kptfile"), &kptfile("p"));
            if let Some(value) = &triple[side] {
                write(
                    package.join(format!("r{number}.yaml")),
                    &to_block_text(value),
                );
            }
        }
    }
    // The rules that are read plainly know no elements of lists without keys.
    let config = format!("{DEFAULTS}combine: [image, text, document]\n");
    let ([ours, kpts], said) = both_and_said(folder.path(), &config);
    let renamed = renamed(&said);
    let triples = paired(&triples, &renamed);
    let mut counts = BTreeMap::new();
    let (mut equal, mut unnamed, mut wrong) = (0, Vec::new(), Vec::new());
    for (number, triple) in triples.iter().enumerate() {
        let path = format!("p{}/r{number}.yaml ", number / PER_PACKAGE);
        let of = |results: &BTreeMap<String, Value>| {
            let mut found = results
                .range(path.clone()..)
                .take_while(|(key, _)| key.starts_with(&path));
            found.next().map(|(_, value)| value.clone())
        };
        let (a, b) = (of(&ours), of(&kpts));
        let versions = triple.each_ref().map(Option::as_ref);
        let sorted = |value: &Value| expected::sorted("", value);
        let right = expected::merge(versions).map(plain);
        let in_order = a
            .as_ref()
            .is_none_or(|a| expected::is_in_order("", a, versions));
        if !in_order || a.as_ref().map(sorted) != right.as_ref().map(sorted) {
            let texts = [&a, &right].map(|v| v.as_ref().map(Value::to_json).unwrap_or_default());
            let versions = versions.map(|v| v.map(Value::to_json).unwrap_or_default());
            wrong.push(format!(
                "{path}\n  ours {}\n  not  {}\n  {}",
                texts[0],
                texts[1],
                versions.join("\n  ")
            ));
        }
        if a == b {
            equal += 1;
            continue;
        }
        // kpt knows no likeness.
        if renamed
            .iter()
            .any(|(_, from, to)| number == *from || number == *to)
        {
            *counts.entry(classes::RENAMED).or_default() += 1;
            continue;
        }
        let found = classes::explain(a.as_ref(), b.as_ref(), versions, &mut counts);
        if let Err(difference) = found {
            let texts = versions.map(|v| v.map(Value::to_json).unwrap_or_default());
            unnamed.push(format!("{path}{difference}\n  {}", texts.join("\n  ")));
        }
    }
    let count = wrong.len();
    wrong.truncate(20);
    assert!(
        wrong.is_empty(),
        "{count} not as the contract says:\n{}",
        wrong.join("\n")
    );
    eprintln!("{TRIPLES} generated resources, {equal} equal; differences by class: {counts:?}");
    let count = unnamed.len();
    unnamed.truncate(20);
    assert!(
        unnamed.is_empty(),
        "{count} without a class:\n{}",
        unnamed.join("\n")
    );
}

/// Cases that kpt ends with an error for, and what it says.
const REFUSED_BY_KPT: [(&str, &str); 3] = [
    ("R15-dup-ids-in-local", "resources in file \"r.yaml\""),
    (
        "S09-type-change",
        "wrong node kind: expected ScalarNode but got MappingNode",
    ),
    (
        "S10-type-change-local",
        "wrong node kind: expected MappingNode but got ScalarNode",
    ),
];

#[test]
#[ignore = "kpt takes a minute; .ci/run runs it"]
fn cases_that_kpt_refuses() {
    let Some(cases) = shared_cases() else { return };
    for (name, said) in REFUSED_BY_KPT {
        let folder = tempfile::tempdir().expect("a folder");
        for (side, from) in CASE_SIDES {
            let root = folder.path().join(side);
            copy(&cases.join(name).join(from), &root);
            write(root.join("Kptfile"), &kptfile("case"));
        }
        let (_, output) = kpt_update(folder.path());
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && text.contains(said),
            "{name}: {text}"
        );
        let [original, local, upstream] = SIDES.map(|side| folder.path().join(side));
        let (_, said) = merge(&original, &local, &upstream, DEFAULTS);
        let is_refused = said.iter().any(|line| line.starts_with("[error]"));
        assert!(!is_refused, "{name}: {said:?}");
    }
}

/// A comment is no change: what upstream deleted is deleted. To kpt it is one.
#[test]
#[ignore = "kpt takes a minute; .ci/run runs it"]
fn deleted_upstream_and_commented_on_locally() {
    if !is_there("kpt") || !is_there("git") {
        eprintln!("left out: kpt or git is not on PATH");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = map("a", "{x: y}");
    for (side, text) in [
        ("original", Some(text.clone())),
        ("local", Some(text + "# mine\n")),
        ("upstream", None),
    ] {
        let root = folder.path().join(side);
        write(root.join("Kptfile"), &kptfile("case"));
        if let Some(text) = text {
            write(root.join("a.yaml"), &text);
        }
    }
    let [ours, kpts] = both(folder.path(), DEFAULTS);
    assert!(!ours.contains_key("a.yaml ConfigMap a"), "{ours:?}");
    assert!(kpts.contains_key("a.yaml ConfigMap a"), "{kpts:?}");
}

const CASE_SIDES: [(&str, &str); 3] = [
    ("original", "original"),
    ("local", "local"),
    ("upstream", "updated"),
];

/// The directory of the shared cases, if it and the programs are there.
fn shared_cases() -> Option<PathBuf> {
    let shared = std::env::var_os("KRM_VARIANTS_SHARED").map(|s| PathBuf::from(s).join("cases"));
    let cases = shared.filter(|cases| cases.is_dir() && is_there("kpt") && is_there("git"));
    if cases.is_none() {
        eprintln!("left out: kpt or git is not on PATH, or KRM_VARIANTS_SHARED is not set");
    }
    cases
}

#[test]
#[ignore = "kpt takes a minute; .ci/run runs it"]
fn cases() {
    let Some(cases) = shared_cases() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let entries = std::fs::read_dir(&cases).expect("cases");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| REFUSED_BY_KPT.iter().all(|(refused, _)| refused != name))
        // Other folders there hold reproductions of faults.
        .filter(|name| cases.join(name).join("original").is_dir())
        .collect();
    names.sort();
    for (side, from) in CASE_SIDES {
        let root = folder.path().join(side);
        write(root.join("Kptfile"), &kptfile("root"));
        for name in &names {
            copy(&cases.join(name).join(from), &root.join(name));
            if !root.join(name).join("Kptfile").exists() {
                write(root.join(name).join("Kptfile"), &kptfile("case"));
            }
        }
    }
    let [ours, kpts] = both(folder.path(), DEFAULTS);
    let (mut equal, mut counts, mut unnamed) = (0, BTreeMap::new(), Vec::new());
    for name in &names {
        let of = |results: &BTreeMap<String, Value>| -> Vec<(String, Value)> {
            let found = results
                .iter()
                .filter(|(key, _)| key.starts_with(&format!("{name}/")));
            found
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        let (a, b) = (of(&ours), of(&kpts));
        let class = DIFFERENCES
            .iter()
            .find(|(_, cases)| cases.contains(&name.as_str()));
        match (a == b, class) {
            (true, _) => equal += 1,
            (false, Some((class, _))) => *counts.entry(*class).or_insert(0) += 1,
            (false, None) => unnamed.push(format!("{name}\n  ours {a:?}\n  kpt  {b:?}")),
        }
    }
    let total = names.len();
    eprintln!("{total} cases, {equal} equal; differences by class: {counts:?}");
    assert!(
        unnamed.is_empty(),
        "without a class:\n{}",
        unnamed.join("\n")
    );
}
