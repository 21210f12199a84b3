//! The options that `apply-config`, `apply-patch` and `create-patch` share.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::order::ListOrder;
use crate::config::enum_fields::names;
use crate::config::{
    CONFIG_MAP, ConfigKind, EnumFields, Key, UsageError, expected, kind_of, typed, typed_data,
    unexpected,
};
use crate::results::Results;
use crate::yaml::{NodeRef, Path};

/// The config key for the order of lists.
pub(crate) const LIST_ORDER: Key = Key {
    name: "listOrder",
    words: &names(&ListOrder::WORDS),
    help: "how lists are merged: as documented, or as API servers do it today",
};

/// The key that allows missing resources.
pub(crate) const ALLOW_MISSING: Key = Key {
    name: "allowMissing",
    words: &["false", "true"],
    help: "a missing resource is a warning instead of an error",
};

/// The config key for the program that applies the patches.
pub(crate) const FORMAT: Key = Key {
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

/// The scalar fields of a `create-patch` config, as texts. The other configs have some of them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PatchScalars {
    pub(crate) list_order: Option<String>,
    pub(crate) allow_missing: Option<String>,
    pub(crate) format: Option<String>,
}

/// The scalar fields of an `apply-patch` config.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ApplyScalars {
    list_order: Option<String>,
    allow_missing: Option<String>,
}

/// The scalar fields of an `apply-config` config.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OrderScalars {
    list_order: Option<String>,
}

impl From<ApplyScalars> for PatchScalars {
    fn from(fields: ApplyScalars) -> Self {
        Self {
            list_order: fields.list_order,
            allow_missing: fields.allow_missing,
            format: None,
        }
    }
}

impl From<OrderScalars> for PatchScalars {
    fn from(fields: OrderScalars) -> Self {
        Self {
            list_order: fields.list_order,
            ..Self::default()
        }
    }
}

/// Reads a config: as `T` if it is of the function's own kind, the first of `kinds`, or the data of a ConfigMap as `D`.
/// An unknown word becomes an error result, and the return value is `None`.
pub(crate) fn read<T, D>(
    config: Option<NodeRef<'_>>,
    kinds: &[ConfigKind],
    results: &mut Results,
) -> Result<Option<Options>, UsageError>
where
    T: DeserializeOwned + Into<PatchScalars>,
    D: DeserializeOwned + Default + Into<PatchScalars>,
{
    let Some(config) = config else {
        return Ok(Some(Options::default()));
    };
    let (fields, prefix): (PatchScalars, Path) = match kind_of(config) {
        found if kinds.first() == Some(&found) => (typed::<T>(config)?.into(), Path::root()),
        CONFIG_MAP => (typed_data::<D>(config)?.into(), Path::fields(&["data"])),
        _ => return Err(unexpected(config, &expected(kinds))),
    };
    let mut enums = EnumFields::new(prefix, results);
    let allow_missing = enums.read_bool("allowMissing", fields.allow_missing.as_deref());
    let list_order = enums.read("listOrder", fields.list_order.as_deref(), &ListOrder::WORDS);
    let format = enums.read("format", fields.format.as_deref(), &PatchFormat::WORDS);
    Ok(enums.are_valid().then_some(Options {
        list_order,
        allow_missing,
        format,
    }))
}
