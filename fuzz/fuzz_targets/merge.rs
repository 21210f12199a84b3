//! Any three documents, set off by lines `%%`: the merge is YAML, merged again it stays, and its laws
//! hold.

#![no_main]

use krm_variants::merge::facts::Facts;
use krm_variants::merge::{Side, fields};
use krm_variants::resource::Resource;
use krm_variants::schema::Schema;
use krm_variants::yaml::{Editor, OwnedDocument};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut parts = text.splitn(3, "\n%%\n");
    let (Some(base), Some(local), Some(upstream)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    if [base, local, upstream].iter().any(|text| read(text).is_none()) {
        return;
    }
    for winner in [Side::Local, Side::Upstream] {
        // What cannot be edited is refused: an anchor that is read elsewhere.
        if let Some(merged) = merge(base, local, upstream, winner) {
            if let Some(again) = merge(base, &merged, upstream, winner) {
                assert_eq!(value(&again), value(&merged));
            }
        }
        assert_eq!(merge(base, local, base, winner).as_deref(), Some(local));
        assert_eq!(merge(base, local, local, winner).as_deref(), Some(local));
        if let Some(taken) = merge(base, base, upstream, winner) {
            assert_eq!(value(&taken), value(upstream));
        }
    }
});

/// A document with one root mapping, without aliases.
fn read(text: &str) -> Option<OwnedDocument> {
    let owned = OwnedDocument::parse(text.to_owned()).ok()?;
    // Identifiers and annotations of a pipeline are local's own.
    let own = ["kubernetes.io", "kpt", "*"].iter().any(|word| text.contains(word));
    let single = owned.document().len() == 1 && !own;
    let root = owned.root()?;
    (single && root.kind().is_mapping() && root.entries().next().is_some()).then_some(owned)
}

fn value(text: &str) -> Option<krm_variants::yaml::Value> {
    OwnedDocument::parse(text.to_owned()).ok()?.root()?.value()
}

fn merge(base: &str, local: &str, upstream: &str, winner: Side) -> Option<String> {
    let (base, local, upstream) = (read(base)?, read(local)?, read(upstream)?);
    let schema = Schema::builtin();
    let (old, ours, theirs) = (base.root()?, local.root()?, upstream.root()?);
    let facts = Facts::of(&Resource::read(ours), &schema, false);
    let mut editor = Editor::new(local.document());
    fields::merge_resource(Some(old), ours, theirs, facts, winner, &mut editor).ok()?;
    Some(editor.finish().expect("what was merged is YAML"))
}
