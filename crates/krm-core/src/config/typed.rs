//! Reads a config into a struct.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::{
    CONFIG_MAP, ConfigKind, Key, Keys, OF_ARGUMENTS, UsageError, expected, kind_of, unexpected,
    value_of,
};
use krm_yaml::de::{self, DeError};
use krm_yaml::{NodeRef, Path, Value};

/// Declares the struct of a config, which refuses unknown fields. It has the given fields and the ones of every object
/// (`apiVersion`, `kind`, `metadata`), which [`kind_of`](super::kind_of) reads. It ignores fields that are read
/// elsewhere, such as the fields of roles. Tests generate its JSON Schema from it (`functions::schemas`).
#[macro_export]
macro_rules! typed_config {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $name:ident $(ignores $($ignored:ident),+)? {
            $($(#[$field_attribute:meta])* $field_vis:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        #[allow(dead_code, reason = "some fields only check the types of a config")]
        $vis struct $name {
            #[cfg_attr(feature = "schema", schemars(with = "String"))]
            api_version: ::serde::de::IgnoredAny,
            #[cfg_attr(feature = "schema", schemars(with = "String"))]
            kind: ::serde::de::IgnoredAny,
            #[serde(default)]
            #[cfg_attr(feature = "schema", schemars(with = "Option<krm_core::config::schema::Metadata>"))]
            metadata: ::serde::de::IgnoredAny,
            $($(#[$field_attribute])* $field_vis $field: $type,)*
            $(
                $(
                    #[serde(default)]
                    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
                    $ignored: ::serde::de::IgnoredAny,
                )+
            )?
        }
    };
}
pub use crate::typed_config;

/// Reads a config into a struct.
///
/// # Errors
/// [`UsageError`] with line and path of a field that is unknown or has another type.
pub fn typed<T: DeserializeOwned>(config: NodeRef<'_>) -> Result<T, UsageError> {
    typed_value(config, &value_of(config)?)
}

/// Reads the value of a config, or a part of it, into a struct.
///
/// # Errors
/// As [`typed`].
pub(crate) fn typed_value<T: DeserializeOwned>(
    config: NodeRef<'_>,
    value: &Value,
) -> Result<T, UsageError> {
    de::from_value(value).map_err(|error| refused(config, error))
}

/// The error for a field that does not fit, with its place in the config.
fn refused(config: NodeRef<'_>, error: DeError) -> UsageError {
    let (_, kind) = kind_of(config);
    // No one has seen the lines of the ConfigMap that arguments make.
    let name = config
        .get_path(&["metadata", "name"])
        .and_then(|name| name.as_str());
    let place = match field_at(config, &error.path).unwrap_or(config).location() {
        _ if name == Some(OF_ARGUMENTS) => String::new(),
        place => format!(", {place}"),
    };
    UsageError::at(format_args!("functionConfig ({kind}){place}"), error)
}

/// The key of the field at a path of [`de::DeError`], or the element of a sequence. Keys may have dots.
pub fn field_at<'c>(config: NodeRef<'c>, path: &str) -> Option<NodeRef<'c>> {
    let below = |found: NodeRef<'c>, value: NodeRef<'c>, rest: &str| match rest.strip_prefix('.') {
        None if rest.is_empty() => Some(found),
        None => field_at(value, rest),
        Some(rest) => field_at(value, rest),
    };
    let config = config.resolved();
    if let Some((index, rest)) = path.strip_prefix('[').and_then(|path| path.split_once(']')) {
        let item = config.items().nth(index.parse().ok()?)?;
        return below(item, item, rest);
    }
    config.entries().find_map(|entry| {
        let rest = path.strip_prefix(entry.key.key_text()?)?;
        below(entry.key, entry.value, rest)
    })
}

/// A ConfigMap as config. It refuses unknown fields, so that a field at its top level, where one of `data` was meant,
/// is not ignored.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ConfigMap<D> {
    #[serde(rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    #[serde(default, rename = "metadata")]
    _metadata: IgnoredAny,
    data: Option<D>,
    #[serde(default, rename = "binaryData")]
    _binary_data: IgnoredAny,
    #[serde(default, rename = "immutable")]
    _immutable: IgnoredAny,
}

/// Reads `data` of a ConfigMap into a struct; the default if there is none.
///
/// # Errors
/// As [`typed`].
pub fn typed_data<D: DeserializeOwned + Default>(config: NodeRef<'_>) -> Result<D, UsageError> {
    let config: ConfigMap<D> = typed(config)?;
    Ok(config.data.unwrap_or_default())
}

/// The scalar fields of a config, as texts. Both forms of a config have them: the function's own kind, and the data of a
/// ConfigMap.
#[derive(Debug, Default)]
pub struct Scalars {
    fields: BTreeMap<String, Option<String>>,
    /// The field that holds them.
    pub prefix: Path,
}

impl Scalars {
    /// Reads a config: as `T` if it is of the function's own kind, the first of `kinds`, or a ConfigMap with some of the keys.
    ///
    /// # Errors
    /// As [`typed`]; a config of another kind.
    pub fn read<T: DeserializeOwned>(
        config: Option<NodeRef<'_>>,
        kinds: &[ConfigKind],
        keys: Keys,
    ) -> Result<(Option<T>, Self), UsageError> {
        let Some(config) = config else {
            return Ok((None, Self::default()));
        };
        let keys = match keys {
            Keys::These(keys) => keys,
            Keys::None | Keys::Any(_) => &[],
        };
        match kind_of(config) {
            found if kinds.first() == Some(&found) => {
                let field = |key: &Key| {
                    let node = config.get(key.name)?;
                    // As a number, `1.30` would be `1.3`.
                    let text = node.scalar_text().map(str::to_owned);
                    let text = text.or_else(|| Some(node.value()?.plain_text()));
                    Some((key.name.to_owned(), text.filter(|_| !node.is_null())))
                };
                let typed: T = typed(config)?;
                let fields = keys.iter().filter_map(field).collect();
                let prefix = Path::root();
                Ok((Some(typed), Self { fields, prefix }))
            }
            CONFIG_MAP => {
                let fields: BTreeMap<String, Option<String>> = typed_data(config)?;
                let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
                let mut found = fields.keys();
                if let Some(unknown) = found.find(|field| !names.contains(&field.as_str())) {
                    let path = format!("data.{unknown}");
                    let error = de::unknown_field(unknown, &names);
                    return Err(refused(config, DeError { path, ..error }));
                }
                let prefix = Path::fields(&["data"]);
                Ok((None, Self { fields, prefix }))
            }
            _ => Err(unexpected(config, &expected(kinds))),
        }
    }

    /// The text of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_deref()
    }
}
