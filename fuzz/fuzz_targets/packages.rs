//! Any three versions of a package, with anchors, merge keys, comments and CRDs: the laws of a merge.

#![no_main]

#[path = "../grammar.rs"]
mod grammar;

use grammar::Files;
use krm_core::config::Config;
use krm_function::{Inputs, Items, Outcome, SuppliedInput, run};
use krm_function::supplied::Role;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = one(&mut Unstructured::new(bytes));
});

fn one(u: &mut Unstructured<'_>) -> Result<()> {
    let base = grammar::package(u)?;
    let local = grammar::edited(u, &base)?;
    let upstream = grammar::edited(u, &base)?;
    let winner = *u.choose(&["local", "upstream"])?;
    for same in [&base, &local] {
        if let Some(merged) = merged(&base, &local, same, winner) {
            assert_eq!(items(&local), merged.items, "merge(b, x, b) and merge(b, x, x) are x");
        }
    }
    if let Some(first) = merged(&base, &local, &upstream, winner) {
        let Items::Package(files) = first.items else { panic!("a package stays one") };
        let files = files.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes).expect("UTF-8")));
        let files: Files = files.collect();
        // Merged with what it holds already it stays, whatever that is.
        let Some(again) = merged(&base, &files, &files, winner) else {
            panic!("what was merged cannot be read: {files:#?}\nof {base:#?}\n{local:#?}\n{upstream:#?}");
        };
        assert_eq!(again.items, items(&files));
    }
    Ok(())
}

fn items(files: &Files) -> Items {
    let files = files.iter();
    Items::Package(files.map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect())
}

/// `None`: refused.
fn merged(base: &Files, local: &Files, upstream: &Files, winner: &str) -> Option<Outcome> {
    let config = format!("apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\nallowEmpty: true\nonConflict: {winner}\n");
    let inputs = Inputs {
        config: Config::parse(config, "config").ok(),
        supplied: vec![
            (Role::Original, SuppliedInput::Files(base.clone())),
            (Role::Upstream, SuppliedInput::Files(upstream.clone())),
        ],
        ..Inputs::default()
    };
    let outcome = run(&merge_package::FUNCTION, inputs, items(local)).ok()?;
    (!outcome.results.has_errors()).then_some(outcome)
}
