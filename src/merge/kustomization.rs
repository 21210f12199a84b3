//! What tells the elements of a Kustomization file's lists apart.
//!
//! Source: contract, merge-package, Kustomization files.

use super::merge_schema::List;
use crate::yaml::NodeRef;

/// Lists of a kustomization whose elements are known by what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// `configMapGenerator`, `secretGenerator`: by name and namespace.
    Generator,
    /// `literals`: by the key, which must be there once.
    Literal,
    /// `files`: by the key, which is the file's name where none is given.
    File,
    /// Patches and replacements: by `path`; inline as a whole.
    PathOrWhole,
}

/// The list under a key of a kustomization.
pub(super) fn list(name: &str) -> Option<List<'static>> {
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
        | "labels" => List::Set,
        "images" | "replicas" | "helmCharts" => List::Field("name"),
        "configMapGenerator" | "secretGenerator" => List::Kustomization(Known::Generator),
        "patches" | "patchesJson6902" | "replacements" => List::Kustomization(Known::PathOrWhole),
        _ => return None,
    })
}

/// The list under a key of a generator.
pub(super) fn list_of_generator(name: &str) -> Option<List<'static>> {
    Some(match name {
        "literals" => List::Kustomization(Known::Literal),
        "files" => List::Kustomization(Known::File),
        "envs" => List::Set,
        _ => return None,
    })
}

/// The key in a text `key=value`.
pub(super) fn key_of(known: Known, text: &str) -> Option<&str> {
    match (known, text.split_once('=')) {
        (Known::Literal | Known::File, Some((key, _))) => Some(key),
        (Known::File, None) => Some(text.rsplit('/').next().unwrap_or(text)),
        _ => None,
    }
}

/// The texts that an element is known by; `None`: its value.
pub(super) fn names<'a>(known: Known, element: NodeRef<'a>) -> Option<[Option<&'a str>; 2]> {
    let text = |key: &str| element.get(key).and_then(|value| value.as_str());
    match known {
        Known::Generator => text("name").map(|name| [Some(name), text("namespace")]),
        Known::PathOrWhole => text("path").map(|path| [Some(path), None]),
        Known::Literal | Known::File => {
            let key = key_of(known, element.as_str()?)?;
            Some([Some(key), None])
        }
    }
}
