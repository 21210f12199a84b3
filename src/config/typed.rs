//! Reading a config into a struct.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{UsageError, value_of};
use crate::yaml::{NodeRef, Value, de};

/// Declares the struct of a config that refuses unknown fields. It has the given fields and the
/// head of every object (`apiVersion`, `kind`, `metadata`), which [`kind_of`](super::kind_of) reads,
/// and it ignores fields that others read, such as those of roles.
macro_rules! typed_config {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $name:ident $(ignores $($ignored:ident),+)? {
            $($(#[$field_attribute:meta])* $field_vis:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        $vis struct $name {
            #[allow(dead_code)]
            api_version: ::serde::de::IgnoredAny,
            #[allow(dead_code)]
            kind: ::serde::de::IgnoredAny,
            #[allow(dead_code)]
            #[serde(default)]
            metadata: ::serde::de::IgnoredAny,
            $($(#[$field_attribute])* $field_vis $field: $type,)*
            $(
                $(
                    #[allow(dead_code)]
                    #[serde(default)]
                    $ignored: ::serde::de::IgnoredAny,
                )+
            )?
        }
    };
}
pub(crate) use typed_config;

/// Reads a config into a struct.
///
/// # Errors
/// [`UsageError`] with the path of the field that is unknown or of another type.
pub(crate) fn typed<T: DeserializeOwned>(config: NodeRef<'_>) -> Result<T, UsageError> {
    typed_value(&value_of(config)?)
}

/// Reads the value of a config into a struct.
///
/// # Errors
/// As [`typed`].
pub(crate) fn typed_value<T: DeserializeOwned>(config: &Value) -> Result<T, UsageError> {
    let kind = config
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or("(none)");
    de::from_value(config).map_err(|error| UsageError(format!("functionConfig ({kind}): {error}")))
}

#[derive(Debug, Deserialize)]
struct ConfigMap<D> {
    data: Option<D>,
}

/// Reads `data` of a ConfigMap into a struct; the default if there is none.
///
/// # Errors
/// As [`typed`].
pub(crate) fn typed_data<D: DeserializeOwned + Default>(
    config: NodeRef<'_>,
) -> Result<D, UsageError> {
    let config: ConfigMap<D> = typed(config)?;
    Ok(config.data.unwrap_or_default())
}
