//! Generated triples in which a side also renamed the resource: it merges as one, and its name like any field.

use super::generate::{Triple, triple};
use super::plain::Plain;
use super::{Random, difference_of, merged_with_text, number, texts_of};

const TRIPLES: u64 = 400;

/// The resource under another name. `None` if it has none.
fn renamed(resource: &Plain) -> Option<Plain> {
    let mut resource = resource.clone();
    *field(field(&mut resource, "metadata")?, "name")? = Plain::Text("another-name".to_owned());
    Some(resource)
}

fn field<'v>(value: &'v mut Plain, name: &str) -> Option<&'v mut Plain> {
    let Plain::Map(entries) = value else {
        return None;
    };
    let mut found = entries.iter_mut().filter(|(key, _)| key == name);
    found.next().map(|(_, value)| value)
}

fn renamed_triple(seed: u64) -> Option<Triple> {
    let mut triple = triple(seed);
    let has_kind = |kind: &str| triple.kind == kind;
    // The name of a package is its own.
    if has_kind("Kptfile") || triple.versions.iter().any(Option::is_none) {
        return None;
    }
    let side = 1 + Random::new(seed + 1).below(2);
    let name = |version: &Option<Plain>| version.as_ref()?.get("metadata")?.get("name").cloned();
    // Nobody else changed it.
    let names = triple.versions.each_ref().map(name);
    if names[0].is_none() || names[0] != names[1] || names[0] != names[2] {
        return None;
    }
    let version = triple.versions[side].as_ref()?;
    triple.versions[side] = Some(renamed(version)?);
    Some(triple)
}

#[test]
fn a_renamed_resource_merges_as_the_reference_says() {
    let from = number("KRM_VARIANTS_TRIPLES_FROM").unwrap_or_default();
    let count = number("KRM_VARIANTS_TRIPLES").unwrap_or(TRIPLES);
    let mut judged = 0;
    let mut wrong = Vec::new();
    for seed in from..from + count {
        let Some(triple) = renamed_triple(seed) else {
            continue;
        };
        judged += 1;
        let (_, said) = merged_with_text("r.yaml", &texts_of(&triple, seed));
        if !said.contains("(Renamed)") {
            wrong.push(format!(
                "seed {seed}: no result says that it was renamed\n{said}"
            ));
        }
        wrong.extend(difference_of(&triple, seed, &mut Default::default()));
    }
    assert!(
        wrong.is_empty(),
        "{} of {judged} differ\n{}",
        wrong.len(),
        wrong[..wrong.len().min(10)].join("\n")
    );
    assert!(judged > count / 2, "{judged}");
}
