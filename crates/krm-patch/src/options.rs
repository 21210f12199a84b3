//! The options that `apply-config`, `apply-patch` and `create-patch` share.

use serde::de::DeserializeOwned;

use super::order::ListOrder;
use krm_core::config::enum_fields::names;
use krm_core::config::{ConfigKind, EnumFields, Key, Keys, Scalars, UsageError};
use krm_core::results::Results;
use krm_core::word_enum;
use krm_yaml::NodeRef;

/// The config key for the order of lists.
pub const LIST_ORDER: Key = Key {
    name: "listOrder",
    words: &names(&ListOrder::WORDS),
    help: "how lists are merged: as documented, or as API servers do it today",
};

/// The key that allows missing resources.
pub const ALLOW_MISSING: Key = Key {
    name: "allowMissing",
    words: &["false", "true"],
    help: "a missing resource is a warning instead of an error",
};

/// The config key for the program that applies the patches.
pub const FORMAT: Key = Key {
    name: "format",
    words: &names(&PatchFormat::WORDS),
    help: "which program applies the patches",
};

word_enum! {
    /// Which program applies patches.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum PatchFormat {
        /// kubectl, an API server, or `apply-patch`.
        #[default]
        Kubectl = "kubectl",
        /// kustomize.
        Kustomize = "kustomize",
    }
}

/// Options of the functions that patch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The order of list elements that only live has.
    pub list_order: ListOrder,
    /// Whether a missing resource is a warning instead of an error.
    pub allow_missing: bool,
    /// Which program applies the created patches.
    pub format: PatchFormat,
}

/// Reads a config as [`Scalars::read`] does. An unknown word becomes an error result, and the return value is `None`.
pub fn read<T: DeserializeOwned>(
    config: Option<NodeRef<'_>>,
    kinds: &[ConfigKind],
    keys: Keys,
    results: &mut Results,
) -> Result<Option<Options>, UsageError> {
    let (_, scalars) = Scalars::read::<T>(config, kinds, keys)?;
    let mut enums = EnumFields::new(scalars.prefix.clone(), results);
    let allow_missing = enums.read_bool("allowMissing", scalars.get("allowMissing"));
    let list_order = enums.read("listOrder", scalars.get("listOrder"), &ListOrder::WORDS);
    let format = enums.read("format", scalars.get("format"), &PatchFormat::WORDS);
    Ok(enums.are_valid().then_some(Options {
        list_order,
        allow_missing,
        format,
    }))
}
