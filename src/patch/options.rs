//! What the configs of `apply-config`, `apply-patch` and `create-patch` have in common.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::order::ListOrder;
use crate::config::{API_VERSION, Key, UsageError, kind_of, typed, unexpected};
use crate::results::{FunctionResult, Reason, Results};
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

/// The words of a typed config.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) list_order: Option<String>,
    pub(crate) allow_missing: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct ConfigMap<D> {
    data: Option<D>,
}

/// The scalar fields, as texts.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Data {
    list_order: Option<String>,
    allow_missing: Option<String>,
}

/// Those of a function that takes nothing for missing.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OrderData {
    list_order: Option<String>,
}

impl From<OrderData> for Data {
    fn from(data: OrderData) -> Self {
        Self {
            list_order: data.list_order,
            allow_missing: None,
        }
    }
}

/// Reads the config of a kind; `None` if a word in it is not allowed, which is an error result then.
pub(crate) fn read<T: DeserializeOwned + Into<Words>>(
    config: Option<NodeRef<'_>>,
    kind: &str,
    takes_missing: bool,
    results: &mut Results,
) -> Result<Option<Options>, UsageError> {
    let Some(config) = config else {
        return Ok(Some(Options::default()));
    };
    let mut prefix = Path::root();
    let mut valid = true;
    let mut refuse = |path: Path, message: String| {
        valid = false;
        results.push(FunctionResult::error(Reason::InvalidConfig, message).at(path));
    };
    let words: Words = match kind_of(config) {
        (API_VERSION, found) if found == kind => typed::<T>(config)?.into(),
        ("v1", "ConfigMap") => {
            prefix = Path::fields(&["data"]);
            let data = match takes_missing {
                true => typed::<ConfigMap<Data>>(config)?.data,
                false => typed::<ConfigMap<OrderData>>(config)?.data.map(Data::from),
            };
            let data = data.unwrap_or_default();
            let allow_missing = match data.allow_missing.as_deref() {
                None => None,
                Some("true") => Some(true),
                Some("false") => Some(false),
                Some(other) => {
                    let message = format!("expected true or false, found `{other}`");
                    refuse(prefix.field("allowMissing"), message);
                    None
                }
            };
            Words {
                list_order: data.list_order,
                allow_missing,
            }
        }
        _ => {
            let expected = format!("a {kind} ({API_VERSION}) or a ConfigMap (v1)");
            return Err(unexpected(config, &expected));
        }
    };
    let mut options = Options {
        allow_missing: words.allow_missing.unwrap_or_default(),
        ..Options::default()
    };
    if let Some(word) = &words.list_order {
        match ListOrder::WORDS.iter().find(|(known, _)| known == word) {
            Some((_, order)) => options.list_order = *order,
            None => {
                let words = ListOrder::WORDS.map(|(word, _)| word);
                let message = format!("expected one of {}, found `{word}`", words.join(", "));
                refuse(prefix.field("listOrder"), message);
            }
        }
    }
    Ok(valid.then_some(options))
}
