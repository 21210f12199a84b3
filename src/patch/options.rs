//! What the configs of `apply-config`, `apply-patch` and `create-patch` have in common.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::order::ListOrder;
use crate::config::{API_VERSION, Key, UsageError, Words, kind_of, typed, typed_data, unexpected};
use crate::results::Results;
use crate::yaml::{NodeRef, Path};

/// The key that decides about the order of lists.
pub(crate) const LIST_ORDER: Key = Key {
    name: "listOrder",
    words: &["document", "apiserver"],
    help: "how a list is put together: as documented, or as API servers do it today",
};

/// The key for what is not there.
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

/// Reads the config of a kind; `None` if a word in it is not allowed, which is an error result then.
pub(crate) fn read<T: DeserializeOwned + Into<Scalars>>(
    config: Option<NodeRef<'_>>,
    kind: &str,
    takes_missing: bool,
    results: &mut Results,
) -> Result<Option<Options>, UsageError> {
    let Some(config) = config else {
        return Ok(Some(Options::default()));
    };
    let (fields, prefix) = match kind_of(config) {
        (API_VERSION, found) if found == kind => (typed::<T>(config)?.into(), Path::root()),
        ("v1", "ConfigMap") => {
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
            let expected = format!("a {kind} ({API_VERSION}) or a ConfigMap (v1)");
            return Err(unexpected(config, &expected));
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
