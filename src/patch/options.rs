//! What the configs of `apply-config`, `apply-patch` and `create-patch` have in common.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::order::ListOrder;
use crate::config::{
    CONFIG_MAP, ConfigKind, Key, UsageError, Words, expected, kind_of, typed, typed_data,
    unexpected,
};
use crate::results::Results;
use crate::yaml::{NodeRef, Path};

/// The key that decides about the order of lists.
pub(crate) const LIST_ORDER: Key = Key {
    name: "listOrder",
    words: &["document", "apiserver"],
    help: "how a list is put together: as documented, or as API servers do it today",
};

/// The key that allows missing resources.
pub(crate) const ALLOW_MISSING: Key = Key {
    name: "allowMissing",
    words: &["false", "true"],
    help: "whether a resource that is not there is a warning, and no error",
};

/// How to patch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Where elements go that only live has.
    pub list_order: ListOrder,
    /// Whether what is not there is a warning, and no error.
    pub allow_missing: bool,
}

/// The scalar fields of a config, as texts.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Scalars {
    pub(crate) list_order: Option<String>,
    pub(crate) allow_missing: Option<String>,
}

/// The fields of a function that allows nothing to be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OrderScalars {
    list_order: Option<String>,
}

/// Reads a config, of the function's own kind (the first) or another one. A word that is not allowed is an
/// error result, and gives `None`.
pub(crate) fn read<T: DeserializeOwned + Into<Scalars>>(
    config: Option<NodeRef<'_>>,
    kinds: &[ConfigKind],
    takes_missing: bool,
    results: &mut Results,
) -> Result<Option<Options>, UsageError> {
    let Some(config) = config else {
        return Ok(Some(Options::default()));
    };
    let (fields, prefix) = match kind_of(config) {
        found if kinds.first() == Some(&found) => (typed::<T>(config)?.into(), Path::root()),
        CONFIG_MAP => {
            let fields = if takes_missing {
                typed_data::<Scalars>(config)?
            } else {
                let OrderScalars { list_order } = typed_data(config)?;
                Scalars {
                    list_order,
                    ..Scalars::default()
                }
            };
            (fields, Path::fields(&["data"]))
        }
        _ => {
            return Err(unexpected(config, &expected(kinds)));
        }
    };
    let mut words = Words::new(prefix, results);
    let allow_missing = words.read_bool("allowMissing", fields.allow_missing.as_deref());
    let list_order = words.read("listOrder", fields.list_order.as_deref(), &ListOrder::WORDS);
    Ok(words.are_valid().then_some(Options {
        list_order,
        allow_missing,
    }))
}
