//! The functionConfig: which kinds a function takes, and reading them into typed structs.

pub mod enum_fields;
#[cfg(feature = "schema")]
pub mod schema;
mod typed;

pub use enum_fields::EnumFields;
pub use typed::Scalars;
pub use typed::field_at;
pub use typed::typed;
pub use typed::typed_config;
pub use typed::typed_data;
pub(crate) use typed::typed_value;

use std::error::Error;
use std::fmt::{self, Display};
use std::sync::Arc;

use thiserror::Error as ThisError;

use crate::results::with_article;
use crate::source_text::SourceText;
use krm_package::text::Text;
use krm_yaml::{NodeKind, NodeRef, OwnedDocument, ParseOptions, Value};

/// `apiVersion` of the project's own configs.
pub const API_VERSION: &str = "fn.kpt.dev/v1alpha1";
/// `apiVersion` of a PackageVariant.
const PACKAGE_VARIANT_API_VERSION: &str = "config.porch.kpt.dev/v1alpha1";

/// `apiVersion` and `kind` of a config.
pub type ConfigKind = (&'static str, &'static str);
/// The config that `kpt fn eval ... -- KEY=VALUE` creates from its arguments.
pub const CONFIG_MAP: ConfigKind = ("v1", "ConfigMap");
/// The name that kpt gives to this config.
const OF_ARGUMENTS: &str = "function-input";
/// A PackageVariant as a config.
pub const PACKAGE_VARIANT: ConfigKind = (PACKAGE_VARIANT_API_VERSION, "PackageVariant");

/// The function cannot start: wrong usage, wrong config, unreadable input. Exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum UsageError {
    /// An input is missing, or has the wrong form.
    #[error("{place}: expected {expected}, found {found}")]
    Expected {
        /// The flag, file, field or role.
        place: String,
        /// What the input must be.
        expected: String,
        /// What the input is.
        found: String,
    },
    /// An input cannot be read as the expected format.
    #[error("{place}: {error}")]
    Invalid {
        /// The flag, file, field or role.
        place: String,
        /// The problem with it.
        #[source]
        error: Cause,
    },
    /// The system or another program failed to do something.
    #[error("cannot {action}: {error}")]
    Cannot {
        /// The action that failed.
        action: String,
        /// Why it failed.
        #[source]
        error: Cause,
    },
    /// Anything else: inputs that contradict each other, or an error that names its place itself.
    #[error("{0}")]
    Refused(#[source] Cause),
}

/// The error that a [`UsageError`] reports, with its type and its own source, or only a text. Two are equal if their texts
/// are.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl UsageError {
    pub fn expected(place: impl Display, expected: impl Display, found: impl Display) -> Self {
        Self::Expected {
            place: place.to_string(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    pub fn at(place: impl Display, error: impl Into<Cause>) -> Self {
        Self::Invalid {
            place: place.to_string(),
            error: error.into(),
        }
    }

    pub fn cannot(action: impl Display, error: impl Into<Cause>) -> Self {
        Self::Cannot {
            action: action.to_string(),
            error: error.into(),
        }
    }

    /// An error that names its place itself.
    pub fn of(error: impl Into<Cause>) -> Self {
        Self::Refused(error.into())
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Cause {
    fn from(error: E) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl std::ops::Deref for Cause {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

/// A document that the user named, and how messages name it: the flag with the file, or the file.
#[derive(Debug)]
pub struct NamedDocument {
    /// The name in messages.
    pub place: String,
    /// The document.
    pub document: OwnedDocument,
}

/// The `KEY=VALUE` arguments of a function: the scalar fields of its config.
#[derive(Debug, Clone, Copy)]
pub enum Keys {
    /// No keys: the config is structured.
    None,
    /// Any key, with an explanation for `--help`.
    Any(&'static str),
    /// Only these keys.
    These(&'static [Key]),
}

impl Keys {
    /// The explanation of the arguments in `-h`: only the names of the keys.
    pub fn summary(self) -> String {
        let names: Vec<&str> = self.known().iter().map(|key| key.name).collect();
        match self {
            Self::These(_) => format!("Settings: {}", names.join(", ")),
            Self::None | Self::Any(_) => self.help(),
        }
    }

    /// The explanation of the arguments in `--help`.
    pub fn help(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Any(help) => help.to_owned(),
            Self::These(keys) => {
                let mut help =
                    "The functionConfig as the data of a ConfigMap; each key is also a flag (--KEY VALUE):".to_owned();
                for key in keys {
                    help.extend(["\n", &key.usage(), "\n  ", key.help]);
                }
                help
            }
        }
    }

    /// The keys with fixed names; empty if any key is allowed.
    pub fn known(self) -> &'static [Key] {
        match self {
            Self::These(keys) => keys,
            Self::None | Self::Any(_) => &[],
        }
    }
}

/// A scalar field of a config.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The name of the field in the config.
    pub name: &'static str,
    /// Allowed words, the default first.
    pub words: &'static [&'static str],
    /// Explanation for `--help`.
    pub help: &'static str,
}

impl Key {
    /// The key with its values, `key=word|word`, the default first.
    fn usage(&self) -> String {
        [self.name, "=", &self.words.join("|")].concat()
    }
}

/// A functionConfig with its text, so that its comments and spelling can be copied.
#[derive(Debug)]
pub struct Config(SourceText);

impl Config {
    /// Reads a config from YAML with one document; `place` names it in errors. A text with only comments counts as no
    /// config.
    ///
    /// # Errors
    /// [`UsageError`] if the text is not YAML, or has several documents.
    pub fn parse(text: String, place: &str) -> Result<Self, UsageError> {
        // kpt writes a config by YAML 1.2, where `yes` is a string.
        let options = ParseOptions::default();
        let read = SourceText::read_with(Text::from(text), options, |document| {
            (0..document.len())
                .filter(|i| document.root(*i).is_some())
                .count()
        });
        match read {
            Ok((text, 0 | 1)) => Ok(Self(text)),
            Ok((_, found)) => Err(UsageError::expected(
                place,
                "one functionConfig",
                format_args!("{found} documents"),
            )),
            Err(error) => Err(UsageError::at(place, error)),
        }
    }

    /// The ConfigMap that `kpt fn eval ... -- KEY=VALUE` creates from its arguments.
    ///
    /// # Errors
    /// [`UsageError`] for an argument without `=`, or a key given twice.
    pub fn from_pairs(pairs: &[String]) -> Result<Self, UsageError> {
        let mut data: Vec<(Value, Value)> = Vec::new();
        for pair in pairs {
            let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(UsageError::of(format!(
                    "expected KEY=VALUE, found `{pair}`"
                )));
            };
            if data.iter().any(|(other, _)| other.as_str() == Some(key)) {
                return Err(UsageError::of(format!("the key `{key}` is given twice")));
            }
            data.push((Value::from(key), Value::from(value)));
        }
        let metadata = Value::Mapping(vec![Value::entry("name", OF_ARGUMENTS)]);
        let config = Value::Mapping(vec![
            Value::entry("apiVersion", "v1"),
            Value::entry("kind", "ConfigMap"),
            Value::entry("metadata", metadata),
            Value::entry("data", Value::Mapping(data)),
        ]);
        Self::parse(krm_yaml::to_block_text(&config), "arguments")
    }

    /// A copy of a config node, for example of the config in a ResourceList.
    ///
    /// # Errors
    /// [`UsageError`] if its aliases expand to too many nodes.
    pub fn from_node(node: NodeRef<'_>) -> Result<Self, UsageError> {
        check_aliases(node)?;
        Self::parse(krm_yaml::node_text(node), "functionConfig")
    }

    /// The root node, unless it is `null` or `{}`.
    pub fn node(&self) -> Option<NodeRef<'_>> {
        let root = self.0.document().roots().next();
        root.filter(|config| !is_empty(*config))
    }
}

/// Whether a config counts as absent: it is `null` or `{}`.
pub(crate) fn is_empty(config: NodeRef<'_>) -> bool {
    config.is_null() || (config.kind().is_mapping() && config.entries().next().is_none())
}

/// Limit of the nodes that the aliases of a config expand to. It is lower than elsewhere: a config becomes values, and
/// a few bytes of aliases must not become hundreds of megabytes.
const MAX_ALIAS_NODES: usize = 100_000;

/// Refuses a config whose aliases exceed the limit or are recursive.
fn check_aliases(config: NodeRef<'_>) -> Result<(), UsageError> {
    let mut budget = MAX_ALIAS_NODES;
    let mut pending = vec![(config, 0_usize)];
    while let Some((node, aliases)) = pending.pop() {
        if aliases > 0 {
            budget = budget.checked_sub(1).ok_or_else(|| {
                UsageError::expected(
                    "functionConfig",
                    format_args!("aliases that expand to at most {MAX_ALIAS_NODES} nodes"),
                    "more",
                )
            })?;
        }
        let aliases = aliases + usize::from(node.kind() == NodeKind::Alias);
        let node = node.resolved();
        pending.extend(node.items().map(|item| (item, aliases)));
        for entry in node.entries() {
            pending.extend([(entry.key, aliases), (entry.value, aliases)]);
        }
    }
    Ok(())
}

/// `apiVersion` and `kind` of a config.
pub fn kind_of<'a>(config: NodeRef<'a>) -> (&'a str, &'a str) {
    let field = |key| {
        config
            .get(key)
            .and_then(|value| value.as_str())
            .unwrap_or("(none)")
    };
    (field("apiVersion"), field("kind"))
}

/// The value of a config, with aliases written out.
///
/// # Errors
/// [`UsageError`] if its aliases expand to too many nodes.
pub fn value_of(config: NodeRef<'_>) -> Result<Value, UsageError> {
    check_aliases(config)?;
    config.value().ok_or_else(|| {
        UsageError::of(
            "functionConfig: its aliases expand to too many values, or refer to themselves"
                .to_owned(),
        )
    })
}

/// The config, or an error for a function that needs one.
pub fn required<'c>(
    config: Option<NodeRef<'c>>,
    expected: &str,
) -> Result<NodeRef<'c>, UsageError> {
    config.ok_or_else(|| {
        UsageError::expected(
            "functionConfig",
            expected,
            "none; give one with --config FILE",
        )
    })
}

/// The kinds of config that a message expects: `an A (v1), a B (v1) or a C (v1)`.
pub fn expected(kinds: &[ConfigKind]) -> String {
    let kind = |(version, kind): &ConfigKind| format!("{} ({version})", with_article(kind));
    let kinds: Vec<String> = kinds.iter().map(kind).collect();
    match kinds.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "no config".to_owned(),
    }
}

/// The error for a config of a kind that the function does not take.
pub fn unexpected(config: NodeRef<'_>, expected: &str) -> UsageError {
    unexpected_at("functionConfig", config, expected)
}

/// The same error for another input.
pub fn unexpected_at(place: &str, config: NodeRef<'_>, expected: &str) -> UsageError {
    let found = if config.kind().is_mapping() {
        let (version, kind) = kind_of(config);
        format!("apiVersion `{version}`, kind `{kind}`")
    } else {
        with_article(config.kind_name())
    };
    UsageError::expected(place, expected, found)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn an_error_keeps_the_type_of_its_source() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for error in [
            UsageError::at("--live", denied()),
            UsageError::cannot("read 'a.yaml'", denied()),
            UsageError::of(denied()),
        ] {
            let source = error.source().expect("a source");
            let source = source.downcast_ref::<io::Error>().expect("its own type");
            assert_eq!(source.kind(), io::ErrorKind::PermissionDenied);
            assert!(
                error.to_string().ends_with(&denied().to_string()),
                "{error}"
            );
        }
    }
}
