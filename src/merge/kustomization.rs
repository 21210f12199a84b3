//! How the elements of a Kustomization file's lists relate.
//!
//! Source: contract, merge-package, Kustomization files.

use crate::schema::{Keys, ListType, StringKey};

/// What tells the elements of `configMapGenerator` and `secretGenerator` apart.
pub(super) const GENERATOR_KEYS: Keys<'static> = Keys::named(&["name", "namespace"]);

/// The list under a key of a kustomization.
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
        "replicas" | "helmCharts" => ListType::Map(Keys::one("name")),
        // Inline ones are distinguished by their value.
        "patches" | "patchesJson6902" | "replacements" => ListType::Map(Keys::one("path")),
        _ => return None,
    })
}

/// The list under a key of a generator.
pub(super) fn list_of_generator(name: &str) -> Option<ListType<'static>> {
    Some(match name {
        "literals" => ListType::KeyedStrings(StringKey::BeforeEquals),
        "files" => ListType::KeyedStrings(StringKey::BeforeEqualsOrFileName),
        "envs" => ListType::Set,
        _ => return None,
    })
}
