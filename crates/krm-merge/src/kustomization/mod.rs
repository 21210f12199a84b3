//! The lists of a Kustomization file, and which of their elements are the same.
//!
//! ```yaml
//! resources:                                    # a reference without its version
//! - https://git.local/org/app//deploy?ref=v1
//! patches:                                      # what they patch
//! - target: {kind: Deployment}
//!   path: replicas.yaml
//! labels:                                       # the keys that they set
//! - pairs: {env: dev}
//! ```
//!
//! Source: contract, merge-package, Kustomization files.

mod names;
mod pairing;
mod source;

use krm_core::schema::{Key, Keys, ListType, StringKey};

use names::ElementNames;
pub(super) use pairing::{NamedElement, pair, pair_versions};
pub(super) use source::{KustomizationSource, Remote};

/// The keys of the elements of `configMapGenerator` and `secretGenerator`.
pub(super) static GENERATOR_KEYS: [Key; 2] = [Key::named("name"), Key::named("namespace")];

pub(super) static NAME: Key = Key::named("name");
static PATH: Key = Key::named("path");

/// A list of a kustomization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KustomizationList {
    /// Elements that one rule distinguishes.
    Plain(ListType<'static>),
    /// Files, folders, remote references, and resources as texts.
    Sources,
    Patches,
    Labels,
    Replacements,
    HelmCharts,
}

impl KustomizationList {
    /// The list under a key of a kustomization.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "resources"
            | "components"
            | "bases"
            | "crds"
            | "configurations"
            | "generators"
            | "transformers"
            | "validators"
            | "patchesStrategicMerge" => Self::Sources,
            "patches" | "patchesJson6902" => Self::Patches,
            "labels" => Self::Labels,
            "replacements" => Self::Replacements,
            "helmCharts" | "helmChartInflationGenerator" => Self::HelmCharts,
            "buildMetadata" => Self::Plain(ListType::Set),
            "replicas" | "vars" => Self::Plain(ListType::Map(Keys::one(&NAME))),
            _ => return None,
        })
    }

    /// The list under a key of a generator.
    pub(super) fn of_generator(name: &str) -> Option<Self> {
        Some(Self::Plain(match name {
            "literals" => ListType::KeyedStrings(StringKey::BeforeEquals),
            "files" => ListType::KeyedStrings(StringKey::BeforeEqualsOrFileName),
            "envs" => ListType::Set,
            _ => return None,
        }))
    }

    /// How results and rules for conflicts name the elements.
    pub(super) fn list_type(self) -> ListType<'static> {
        match self {
            Self::Plain(list) => list,
            Self::Sources => ListType::Set,
            Self::Patches | Self::Replacements => ListType::Map(Keys::one(&PATH)),
            Self::HelmCharts => ListType::Map(Keys::one(&NAME)),
            Self::Labels => ListType::Atomic,
        }
    }
}
