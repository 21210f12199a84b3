//! Any original, modified and live resource: a patch that was made applies, and gives what an apply makes of them.

#![no_main]

#[path = "../grammar.rs"]
mod grammar;

use krm_core::config::Config;
use krm_function::{Function, Inputs, Items, Outcome, SuppliedInput, run};
use krm_core::results::Reason;
use krm_function::supplied::Role;
use krm_yaml::{OwnedDocument, Value};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = one(&mut Unstructured::new(bytes));
});

fn one(u: &mut Unstructured<'_>) -> Result<()> {
    let live = grammar::resource(u, "")?;
    let modified = grammar::edited_text(u, &live)?;
    // A patch cannot make a field null, keys are strings, a resource has no directives, and what stands for a merge may be none.
    let value = OwnedDocument::parse(modified.clone()).ok().and_then(|text| text.root()?.value());
    if live.contains('$') || modified.contains('$') || modified.contains("<<") || value.as_ref().is_none_or(holds_null) {
        return Ok(());
    }
    // It names its target by them, and cannot change them.
    let type_of = |text: &str| {
        let root = OwnedDocument::parse(text.to_owned()).ok()?;
        let root = root.root()?;
        Some((root.get("apiVersion")?.value()?, root.get("kind")?.value()?))
    };
    if type_of(&live) != type_of(&modified) {
        return Ok(());
    }
    // Two ways: live is the original too, so that the patch takes live to modified.
    let Some(made) = function(&create_patch::FUNCTION, &modified, &[(Role::Live, &live), (Role::Original, &live)]) else {
        return Ok(());
    };
    let [patch] = made.documents.as_slice() else {
        return Ok(());
    };
    let patch = patch.text.to_string();
    let applied = outcome(&apply_patch::FUNCTION, &live, &[(Role::Patches, &patch)]).expect("a patch is an input");
    // The value that an alias would get holds anchors itself.
    if applied.results.iter().any(|result| result.has_reason(Reason::SharedAnchor)) {
        return Ok(());
    }
    assert!(!applied.results.has_errors(), "a patch that was made is refused\n{patch}\n{live}");
    let Items::Package(files) = applied.items else { panic!("a package stays one") };
    let text = files.get("a.yaml").map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
    // Nothing is left to change.
    let again = function(&create_patch::FUNCTION, &modified, &[(Role::Live, &text), (Role::Original, &text)]);
    if let Some(again) = again {
        assert!(again.documents.is_empty(), "live\n{live}\nmodified\n{modified}\npatch\n{patch}\napplied\n{text}\nagain\n{}", again.documents[0].text);
    }
    let value = |text: &str| OwnedDocument::parse(text.to_owned()).ok()?.root()?.value();
    assert!(value(&text).is_some());
    Ok(())
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Sequence(items) => items.iter().any(holds_null),
        Value::Mapping(entries) => entries.iter().any(|(key, value)| !matches!(key, Value::String(_)) || holds_null(value)),
        _ => false,
    }
}

/// `None`: refused.
fn function(function: &Function, item: &str, roles: &[(Role, &str)]) -> Option<Outcome> {
    outcome(function, item, roles).filter(|outcome| !outcome.results.has_errors())
}

/// `None`: an input is not one.
fn outcome(function: &Function, item: &str, roles: &[(Role, &str)]) -> Option<Outcome> {
    let files = |text: &str| SuppliedInput::Files([("s.yaml".to_owned(), text.to_owned())].into());
    let inputs = Inputs {
        config: Config::parse(String::new(), "config").ok(),
        supplied: roles.iter().map(|(role, text)| (*role, files(text))).collect(),
        ..Inputs::default()
    };
    let items = Items::Package([("a.yaml".to_owned(), item.as_bytes().to_vec())].into());
    run(function, inputs, items).ok()
}
