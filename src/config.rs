//! The functionConfig: which kinds a function takes, and reading them into typed structs.

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::chunk::Chunk;
use crate::text::Text;
use crate::yaml::{NodeRef, ParseOptions, Value, de};

/// `apiVersion` of the project's own configs.
pub const API_VERSION: &str = "fn.kpt.dev/v1alpha1";
/// `apiVersion` of a PackageVariant.
pub const PACKAGE_VARIANT_API_VERSION: &str = "config.porch.kpt.dev/v1alpha1";

/// The function cannot begin: wrong usage, wrong config, unreadable input. Exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A functionConfig with its text, so that comments and spelling can be carried over.
#[derive(Debug)]
pub struct Config(Chunk);

impl Config {
    /// Reads a config from YAML with one document; `place` names it in errors.
    ///
    /// # Errors
    /// [`UsageError`] if the text is no single YAML document.
    pub fn parse(text: String, place: &str) -> Result<Self, UsageError> {
        let text = Text::from(text);
        let count = Chunk::check(&text, ParseOptions::default(), |document| {
            (0..document.len())
                .filter(|i| document.root(*i).is_some())
                .count()
        });
        match count {
            Ok(1) => Ok(Self(Chunk::new(text, ParseOptions::default()))),
            Ok(found) => Err(UsageError(format!(
                "{place}: expected one functionConfig, found {found} documents"
            ))),
            Err(error) => Err(UsageError(format!("{place}: {error}"))),
        }
    }

    /// The ConfigMap that `kpt fn eval ... -- KEY=VALUE` makes of its arguments.
    ///
    /// # Errors
    /// [`UsageError`] for an argument without `=`, or a key given twice.
    pub fn from_pairs(pairs: &[String]) -> Result<Self, UsageError> {
        let mut data: Vec<(Value, Value)> = Vec::new();
        for pair in pairs {
            let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(UsageError(format!("expected KEY=VALUE, found `{pair}`")));
            };
            if data.iter().any(|(other, _)| other.as_str() == Some(key)) {
                return Err(UsageError(format!("the key `{key}` is given twice")));
            }
            data.push((Value::from(key), Value::from(value)));
        }
        let entry = |key: &str, value| (Value::from(key), value);
        let config = Value::Mapping(vec![
            entry("apiVersion", Value::from("v1")),
            entry("kind", Value::from("ConfigMap")),
            entry(
                "metadata",
                Value::Mapping(vec![entry("name", Value::from("function-input"))]),
            ),
            entry("data", Value::Mapping(data)),
        ]);
        Self::parse(crate::yaml::to_block_text(&config), "arguments")
    }

    /// A copy of the config in a ResourceList.
    ///
    /// # Errors
    /// [`UsageError`] if it holds aliases to places outside of it that do not end.
    pub fn from_node(node: NodeRef<'_>) -> Result<Self, UsageError> {
        if node.value().is_none() {
            return Err(too_many_aliases("functionConfig"));
        }
        Self::parse(crate::yaml::node_text(node), "functionConfig")
    }

    /// The root node.
    #[must_use]
    pub fn node(&self) -> Option<NodeRef<'_>> {
        let document = self.0.document();
        (0..document.len()).find_map(|index| document.root(index))
    }
}

fn too_many_aliases(place: &str) -> UsageError {
    UsageError(format!(
        "{place}: its aliases stand for more than 10 million nodes"
    ))
}

/// `apiVersion` and `kind` of a config.
#[must_use]
pub fn kind_of<'a>(config: NodeRef<'a>) -> (&'a str, &'a str) {
    let field = |key| {
        config
            .get(key)
            .and_then(|value| value.as_str())
            .unwrap_or("(none)")
    };
    (field("apiVersion"), field("kind"))
}

/// Reads a config into a struct.
///
/// # Errors
/// [`UsageError`] with the path of the field that is unknown or of another type.
pub fn typed<T: DeserializeOwned>(config: NodeRef<'_>) -> Result<T, UsageError> {
    let value = config
        .value()
        .ok_or_else(|| too_many_aliases("functionConfig"))?;
    let (_, kind) = kind_of(config);
    de::from_value(&value).map_err(|error| UsageError(format!("functionConfig ({kind}): {error}")))
}

/// The error for a config of a kind that the function does not take.
#[must_use]
pub fn unexpected(config: NodeRef<'_>, expected: &str) -> UsageError {
    let (version, kind) = kind_of(config);
    UsageError(format!(
        "functionConfig: expected {expected}, found apiVersion `{version}`, kind `{kind}`"
    ))
}
