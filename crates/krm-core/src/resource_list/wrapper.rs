//! Checks the parts of a ResourceList around its items, and defines the errors for invalid input.

use thiserror::Error;

use crate::results::with_article;
use crate::source_text::SourceText;
use krm_yaml::{NodeRef, ParseError, newline_at};

/// The `apiVersion`s of a ResourceList; the output keeps the one of the input.
const API_VERSIONS: [&str; 3] = [
    "config.kubernetes.io/v1",
    "config.kubernetes.io/v1beta1",
    "config.kubernetes.io/v1alpha1",
];

/// Input that is not a ResourceList, or a package file that is not YAML.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InputError {
    /// The text does not parse.
    #[error("{place}: {error}")]
    Yaml {
        /// `standard input` or the path of the file.
        place: String,
        /// The problem and its place.
        error: ParseError,
    },
    /// The text is YAML, but does not have the expected form.
    #[error("{place}: {message}")]
    Shape {
        /// `standard input`, with line and column if they are known.
        place: String,
        /// What was expected and what was found.
        message: String,
    },
}

impl InputError {
    /// `standard input` or the path of the file.
    pub fn place(&self) -> &str {
        match self {
            Self::Yaml { place, .. } | Self::Shape { place, .. } => place,
        }
    }

    /// The problem, without its place.
    pub fn problem(&self) -> String {
        match self {
            Self::Yaml { error, .. } => error.to_string(),
            Self::Shape { message, .. } => message.clone(),
        }
    }
}

pub(super) const STDIN: &str = "standard input";

/// Checks that a root is a ResourceList of a known version.
pub(super) fn check_wrapper(root: NodeRef<'_>) -> Result<(), InputError> {
    let field = |key: &str| root.get(key).and_then(|value| value.as_str());
    let found = match (field("apiVersion"), field("kind")) {
        (Some(version), Some("ResourceList")) if API_VERSIONS.contains(&version) => return Ok(()),
        _ if !root.kind().is_mapping() => with_article(root.kind_name()),
        (version, kind) => format!(
            "apiVersion `{}`, kind `{}`",
            version.unwrap_or("(none)"),
            kind.unwrap_or("(none)")
        ),
    };
    Err(InputError::Shape {
        place: format!("{STDIN}, {}", root.location()),
        message: format!(
            "expected a ResourceList ({}), found {found}",
            API_VERSIONS.join(", ")
        ),
    })
}

/// Checks that earlier results, if any, are a sequence to which results can be appended.
pub(super) fn check_results(root: NodeRef<'_>) -> Result<(), InputError> {
    match root.get("results") {
        Some(results) if !results.is_null() && !results.kind().is_sequence() => {
            Err(InputError::Shape {
                place: format!("{STDIN}, {}", results.location()),
                message: format!(
                    "`results`: expected a sequence, found {}",
                    with_article(results.kind_name())
                ),
            })
        }
        _ => Ok(()),
    }
}

/// The line of `items:` in a wrapper whose items were cut out.
pub(super) struct ItemsLine {
    /// The offset after `items:`.
    pub(super) after: usize,
    /// The offset after the line break.
    pub(super) end: usize,
    pub(super) newline: &'static str,
}

impl ItemsLine {
    pub(super) fn of(wrapper: &SourceText) -> Self {
        let text = wrapper.text();
        let items = wrapper.root().and_then(|root| root.entry("items"));
        let after = items.map_or(text.len(), |items| items.value.range().end);
        let end = text[after..]
            .find('\n')
            .map_or(text.len(), |n| after + n + 1);
        Self {
            after,
            end,
            newline: newline_at(text, after),
        }
    }
}
