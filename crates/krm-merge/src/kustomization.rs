//! The types of the lists in a Kustomization file.
//!
//! Source: contract, merge-package, Kustomization files.

use krm_core::schema::{Key, Keys, ListType, StringKey};

/// The keys of the elements of `configMapGenerator` and `secretGenerator`.
pub(super) static GENERATOR_KEYS: [Key; 2] = [Key::named("name"), Key::named("namespace")];

pub(super) static NAME: Key = Key::named("name");
static PATH: Key = Key::named("path");

/// The type of the list under a key of a kustomization.
pub(super) fn list(name: &str) -> Option<ListType<'static>> {
    Some(match name {
        "resources"
        | "components"
        | "bases"
        | "crds"
        | "configurations"
        | "generators"
        | "transformers"
        | "validators"
        | "patchesStrategicMerge"
        | "labels" => ListType::Set,
        "replicas" | "helmCharts" => ListType::Map(Keys::one(&NAME)),
        // Inline elements have no path. They are distinguished by their value.
        "replacements" => ListType::Map(Keys::one(&PATH)),
        _ => return None,
    })
}

/// The type of the list under a key of a generator.
pub(super) fn list_of_generator(name: &str) -> Option<ListType<'static>> {
    Some(match name {
        "literals" => ListType::KeyedStrings(StringKey::BeforeEquals),
        "files" => ListType::KeyedStrings(StringKey::BeforeEqualsOrFileName),
        "envs" => ListType::Set,
        _ => return None,
    })
}
