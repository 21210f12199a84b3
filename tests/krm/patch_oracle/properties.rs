//! Laws of made patches, over generated triples.

use krm_core::schema::Schema;
use krm_patch::annotations::without_tool_annotations;
use krm_patch::create::create;
use krm_patch::{Applied, Findings, ListOrder, Node, Rules, apply, apply_config};
use krm_yaml::Value;

use super::classes::repeated_in;
use super::generate::{FEW, MANY, mutate};
use super::random::Random;
use super::{Text, kinds};

fn applied<'a>(
    live: &Node<'a>,
    patch: Option<&Node<'a>>,
    rules: Rules<'_>,
    order: ListOrder,
) -> Option<Value> {
    let mut findings = Findings::default();
    let Some(patch) = patch else {
        return Some(live.to_value());
    };
    match apply(live, patch, rules, order, &mut findings) {
        Applied::Resource(result) if !findings.has_errors() => Some(result.to_value()),
        _ => None,
    }
}

/// A resource without annotations, which an apply adds to.
fn plain(mut value: Value) -> Value {
    if let Value::Mapping(fields) = &mut value {
        for (key, metadata) in fields {
            if key.as_str() == Some("metadata")
                && let Value::Mapping(fields) = metadata
            {
                fields.retain(|(key, _)| key.as_str() != Some("annotations"));
            }
        }
    }
    value
}

#[test]
fn made_patches_are_inverse() {
    let schema = Schema::builtin();
    let kinds = kinds();
    let mut compared = 0;
    for number in 0..4_000_usize {
        let kind = &kinds[number % kinds.len()];
        let rules = Rules::of(&schema, &kind.api_version, &kind.kind);
        let mut random = Random::new(2_000_000 + number as u64);
        let mut rates = if number % 3 == 0 { MANY } else { FEW };
        (rates.kind, rates.null) = (0, 0);
        let original = plain(mutate(&kind.resource, rules, rates, &mut random));
        let modified = plain(mutate(&original, rules, rates, &mut random));
        let live = plain(mutate(&original, rules, rates, &mut random));
        let repeats = [&original, &modified, &live]
            .into_iter()
            .any(|value| repeated_in(value, rules));
        let texts = [&original, &modified, &live].map(Text::of);
        let [original, modified, live] = texts.each_ref().map(Text::node);
        let mut findings = Findings::default();
        // Nothing changed: no patch.
        assert!(create(Some(&live), &live, &live, rules, &mut findings).is_none());
        let patch = create(Some(&original), &modified, &live, rules, &mut findings);
        if findings.has_errors() {
            continue;
        }
        for order in [ListOrder::Document, ListOrder::ApiServer] {
            // The patch applied to live is what an apply makes of it, but for the annotation.
            let Some(by_patch) = applied(&live, patch.as_ref(), rules, order) else {
                assert!(repeats, "a made patch is refused");
                continue;
            };
            let original = Some(&original);
            let result = apply_config(original, &modified, &live, rules, order, &mut findings);
            let by_apply = without_tool_annotations(&result).to_value();
            assert_eq!(by_patch, by_apply, "number {number}");
            compared += 1;
            if repeats {
                continue;
            }
            // Twice is once.
            let text = Text::of(&by_patch);
            let again = text.node();
            let mut findings = Findings::default();
            let patch = create(Some(&modified), &modified, &again, rules, &mut findings);
            let patch = patch.map(|patch| patch.to_value().to_json());
            assert_eq!(patch, None, "number {number}");
        }
    }
    assert!(compared > 6_000, "{compared}");
}
