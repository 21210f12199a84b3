//! The merge of the contract, written a second time: a judge that shares nothing with `src/merge`.
//!
//! `merge-package` merges generated triples of real kinds, and the reference does. Values, the order of
//! lists and the set of conflicts must be the same. `KRM_VARIANTS_TRIPLES=100000` makes a long run of it,
//! `KRM_VARIANTS_TRIPLE=SEED` shows one.

#![allow(clippy::print_stderr, reason = "counts the readings")]

mod comments;
mod elements;
mod found;
mod generate;
mod identity;
mod lists;
mod merge;
mod order;
mod plain;
mod renames;
mod repeated;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use krm_core::config::Config;
use krm_core::results::Reason;
use krm_function::supplied::Role;
use krm_function::{Inputs, Items, Outcome, SuppliedInput, run};

use crate::kpt_merge::generate::Random;
use elements::Reading;
use generate::{Triple, read, to_yaml, triple};
use merge::{Conflict, Merge};
use plain::Plain;
use texts::with_documents;

const TRIPLES: u64 = 3_000;
/// Triples of long runs in which one of the two was wrong.
const FOUND: [u64; 15] = [
    513, 2_720, 31_793, 44_266, 53_403, 53_727, 58_590, 62_743, 65_315, 66_251, 70_233, 92_440,
    93_733, 97_817, 99_769,
];
/// The class of triples in which the two differ in nothing but lists with equal elements in one version: which of the
/// equal elements a side changed is a guess, and each of the two may draw other lines around it.
const REPEATED: &str = "with equal elements";
const KEEP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: keep\n";

type Files = BTreeMap<String, String>;
type Merged = (Option<Plain>, BTreeSet<Conflict>);

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

fn package(path: &str, text: Option<&String>) -> Files {
    let text = text.map(|text| (path.to_owned(), text.clone()));
    [("keep.yaml".to_owned(), KEEP.to_owned())]
        .into_iter()
        .chain(text)
        .collect()
}

/// Merges three versions of a file.
fn run_merge(path: &str, texts: &[Option<String>; 3], upstream_wins: bool) -> Outcome {
    let [base, local, upstream] = texts.each_ref().map(|text| package(path, text.as_ref()));
    let winner = if upstream_wins { "upstream" } else { "local" };
    let config =
        format!("apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\nonConflict: {winner}\n");
    let inputs = Inputs {
        config: Some(Config::parse(config, "config").expect("a config")),
        supplied: vec![
            (Role::Original, SuppliedInput::Files(base)),
            (Role::Upstream, SuppliedInput::Files(upstream)),
        ],
        ..Inputs::default()
    };
    let local = local
        .into_iter()
        .map(|(path, text)| (path, text.into_bytes()))
        .collect();
    run(&merge_package::FUNCTION, inputs, Items::Package(local)).expect("a run")
}

/// The merged text, empty if the file is gone, and the results.
fn merged_with_text(path: &str, texts: &[Option<String>; 3]) -> (String, String) {
    let outcome = run_merge(path, texts, true);
    let said: Vec<String> = outcome.results.iter().map(ToString::to_string).collect();
    let Items::Package(files) = outcome.items else {
        panic!("a package stays one")
    };
    let text = files.get(path).cloned().unwrap_or_default();
    (String::from_utf8(text).expect("UTF-8"), said.join("\n"))
}

/// What `merge-package` makes of three texts, and whether a list has two elements of one identity.
fn merged(path: &str, texts: &[Option<String>; 3], upstream_wins: bool) -> (Merged, bool) {
    let outcome = run_merge(path, texts, upstream_wins);
    let shown: Vec<String> = outcome.results.iter().map(ToString::to_string).collect();
    assert!(!outcome.results.has_errors(), "{shown:#?}");
    let conflicts = outcome
        .results
        .iter()
        .filter(|result| result.has_reason(Reason::MergeConflict));
    let conflict = |result: &krm_core::results::FunctionResult| {
        let path = result.field.clone().unwrap_or_default();
        if result.message.what.contains("changed the order") {
            Conflict::Order(path)
        } else {
            Conflict::Value(path)
        }
    };
    let conflicts = conflicts.map(conflict).collect();
    let Items::Package(files) = outcome.items else {
        panic!("a package stays one")
    };
    let text = files
        .get(path)
        .map(|bytes| String::from_utf8(bytes.clone()).expect("UTF-8"));
    let repeats = outcome
        .results
        .iter()
        .any(|result| result.has_reason(Reason::DuplicateKey));
    let merged = text.as_deref().map(read).map(with_documents);
    ((merged, conflicts), repeats)
}

/// How lists without keys are read, by their paths.
type Readings = BTreeMap<String, Reading>;

/// What the reference makes of them, whether it leaves an order open, and the lists that can be read in other ways.
fn expected(
    triple: &Triple,
    upstream_wins: bool,
    readings: &Readings,
) -> (Merged, bool, BTreeMap<String, Vec<Reading>>) {
    let mut merge = Merge {
        kind: triple.kind,
        upstream_wins,
        conflicts: BTreeSet::new(),
        is_loose: false,
        readings: readings.clone(),
        open: BTreeMap::new(),
        is_removed: false,
        offset: [0, 0],
    };
    let merged = merge.resource(triple.versions.each_ref().map(Option::as_ref));
    let merged = merged.map(with_documents);
    ((merged, merge.conflicts), merge.is_loose, merge.open)
}

/// Whether the reference agrees if lists are read in another way that is open to them; gives the readings.
fn agrees(triple: &Triple, upstream_wins: bool, found: &Merged, repeats: bool) -> Option<Readings> {
    let mut pending = vec![Readings::new()];
    let mut seen = BTreeSet::new();
    while let Some(readings) = pending.pop() {
        let (mut expected, is_loose, open) = expected(triple, upstream_wins, &readings);
        let mut found = found.clone();
        // Those are paired by position; the contract says nothing of their order.
        if repeats || is_loose {
            without_order(&mut found);
            without_order(&mut expected);
        }
        if found == expected {
            return Some(readings);
        }
        for (path, others) in open {
            for other in others {
                let mut readings = readings.clone();
                // What needs to be paired may be one value each as well.
                let before = readings.insert(path.clone(), other);
                let is_other = before.is_none_or(|before| before == Reading::Needed);
                if is_other && seen.len() < 2_000 && seen.insert(format!("{readings:?}")) {
                    pending.push(readings);
                }
            }
        }
    }
    None
}

fn without_order(merged: &mut Merged) {
    merged.0 = merged.0.take().map(Plain::sorted);
    merged
        .1
        .retain(|conflict| matches!(conflict, Conflict::Value(_)));
}

fn difference(seed: u64, counts: &mut BTreeMap<String, u64>) -> Option<String> {
    difference_of(&triple(seed), seed, counts)
}

/// The texts of a triple, each spelled in its own way.
fn texts_of(triple: &Triple, seed: u64) -> [Option<String>; 3] {
    let mut random = Random::new(seed);
    let versions = triple.versions.each_ref();
    versions.map(|value| value.as_ref().map(|value| to_yaml(value, &mut random)))
}

fn difference_of(triple: &Triple, seed: u64, counts: &mut BTreeMap<String, u64>) -> Option<String> {
    let path = if triple.kind == "Kptfile" {
        "Kptfile"
    } else {
        "r.yaml"
    };
    let texts = texts_of(triple, seed);
    for (value, text) in triple.versions.iter().zip(&texts) {
        assert_eq!(text.as_deref().map(read), *value, "{text:?}");
    }
    for upstream_wins in [true, false] {
        let (found, repeats) = merged(path, &texts, upstream_wins);
        if let Some(readings) = agrees(triple, upstream_wins, &found, repeats) {
            for reading in readings.into_values() {
                *counts.entry(format!("{reading:?}")).or_default() += 1;
            }
        } else {
            let (expected, ..) = expected(triple, upstream_wins, &Readings::new());
            if repeated::differ_only_there(triple, &found, &expected) {
                *counts.entry(REPEATED.to_owned()).or_default() += 1;
                continue;
            }
            let show = |(value, conflicts): Merged| {
                let value = value.map(|value| value.to_string()).unwrap_or_default();
                (value, conflicts)
            };
            let [base, local, upstream] = texts.map(Option::unwrap_or_default);
            let (found, expected) = (show(found), show(expected));
            let same_value = found.0 == expected.0;
            return Some(format!(
                "seed {seed}, upstream wins: {upstream_wins}, same value: {same_value}\n== base\n{base}== local\n{local}== upstream\n{upstream}\
                 == merge-package\n{}\n{:?}\n== reference\n{}\n{:?}\n",
                found.0, found.1, expected.0, expected.1
            ));
        }
    }
    None
}

#[test]
fn merge_package_and_reference_agree() {
    if let Some(seed) = number("KRM_VARIANTS_TRIPLE") {
        panic!(
            "{}",
            difference(seed, &mut BTreeMap::new()).unwrap_or_default()
        );
    }
    let from = number("KRM_VARIANTS_TRIPLES_FROM").unwrap_or_default();
    let count = number("KRM_VARIANTS_TRIPLES").unwrap_or(TRIPLES);
    let mut counts = BTreeMap::new();
    let seeds = (from..from + count).chain(FOUND);
    let found = seeds.filter_map(|seed| difference(seed, &mut counts));
    let found: Vec<String> = found.collect();
    eprintln!("lists without keys, by how they were read: {counts:?}");
    let repeated = counts.get(REPEATED).copied().unwrap_or_default();
    assert!(
        repeated <= 5 + count / 500,
        "{repeated} with equal elements"
    );
    assert!(
        found.is_empty(),
        "{} of {count} differ\n{}",
        found.len(),
        found[..found.len().min(40)].join("\n")
    );
}
