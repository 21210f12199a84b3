//! Any three documents, set off by lines `%%`: the merge is YAML, merged again it stays, and its laws
//! hold. The laws are those of `any_documents` in `tests/krm/merge_laws.rs`.

#![no_main]

use krm_merge::MergeSchema;
use krm_merge::{Side, fields};
use krm_core::resource::Resource;
use krm_core::schema::Schema;
use krm_yaml::{EditError, Editor, OwnedDocument, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut parts = text.splitn(3, "\n%%\n");
    let (Some(base), Some(local), Some(upstream)) = (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    if [base, local, upstream].iter().any(|text| read(text).is_none()) {
        return;
    }
    for winner in [Side::Local, Side::Upstream] {
        for same in [base, local] {
            let (merged, _) = merge(base, local, same, winner).expect("local as it is");
            assert_eq!(merged, local);
        }
        if let Some((taken, _)) = merge(base, base, upstream, winner) {
            assert_eq!(value(&taken), value(upstream));
        }
        if let Some((merged, false)) = merge(base, local, upstream, winner)
            && let Some((again, false)) = merge(base, &merged, upstream, winner)
            && kind(&merged) == kind(local)
        {
            assert_eq!(value(&again), value(&merged));
        }
    }
});

/// A document that is a mapping.
fn read(text: &str) -> Option<OwnedDocument> {
    let owned = OwnedDocument::parse(text.to_owned()).ok()?;
    // Identifiers and annotations of a pipeline are local's own.
    let own = ["kubernetes.io", "kpt"].iter().any(|word| text.contains(word));
    let root = owned.root()?;
    let fits = owned.document().len() == 1 && root.kind().is_mapping() && root.value().is_some();
    // To JSON keys are strings.
    let json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    (fits && !own && !json && root.entries().next().is_some()).then_some(owned)
}

fn value(text: &str) -> Option<Value> {
    OwnedDocument::parse(text.to_owned()).ok()?.root()?.value()
}

/// Which lists have keys follows from the kind.
fn kind(text: &str) -> Option<[Option<Value>; 2]> {
    let value = value(text)?;
    Some(["apiVersion", "kind"].map(|key| value.get(key).cloned()))
}

/// The result, and whether a list has two elements of one identity: those are matched by position,
/// which another merge may find changed. `None`: refused, as below an anchor that is read elsewhere.
fn merge(base: &str, local: &str, upstream: &str, winner: Side) -> Option<(String, bool)> {
    let (base, local, upstream) = (read(base)?, read(local)?, read(upstream)?);
    let schema = Schema::builtin();
    let (old, ours, theirs) = (base.root()?, local.root()?, upstream.root()?);
    let merge_schema = MergeSchema::of(&Resource::read(ours), &schema, false);
    let mut editor = Editor::new(local.document());
    let found =
        fields::merge_resource(Some(old), ours, theirs, merge_schema, winner, &mut editor).ok()?;
    match editor.finish() {
        Ok(text) => Some((text, !found.duplicates.is_empty())),
        // The nesting limit can be passed by one.
        Err(EditError::Broken(error)) if error.message.contains("nested") => None,
        Err(error) => panic!("what was merged is YAML: {error}"),
    }
}
