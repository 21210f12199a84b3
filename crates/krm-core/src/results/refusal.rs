//! Error results for edits that are refused.

use std::fmt;

use super::{FunctionResult, Reason, with_article};
use krm_yaml::EditError;

impl FunctionResult {
    /// The error for a refused edit. The caller adds the resource.
    pub fn refused(error: &EditError) -> Self {
        match error {
            EditError::SharedAnchor { place, anchor } => Self::error(
                Reason::SharedAnchor,
                format!(
                    "the value is shared through the anchor `&{anchor}`; write it out in full first"
                ),
            )
            .with_field(place),
            EditError::WrongKind {
                expected, found, ..
            } => {
                let message = format!("expected a {expected}, found {}", with_article(found));
                Self::error(Reason::InvalidValue, message)
            }
            EditError::TooLarge => Self::error(Reason::OutputTooLarge, error.to_string()),
            EditError::Endless { .. }
            | EditError::KeyTwice { .. }
            | EditError::Overlap { .. }
            | EditError::Broken(_) => Self::error(Reason::InvalidValue, error.to_string()),
        }
    }

    /// The error for a refused edit of a field. The field of the error takes precedence over `field`. The caller adds
    /// the resource.
    pub fn refused_at(error: &EditError, field: impl fmt::Display) -> Self {
        let result = Self::refused(error);
        match result.field {
            Some(_) => result,
            None => result.with_field(field),
        }
    }
}

/// A refused edit, and the field that it was for.
#[derive(Debug)]
pub struct Refusal {
    field: Option<String>,
    error: EditError,
}

impl Refusal {
    /// Sets the field of an edit, for `map_err`.
    pub fn at(field: impl fmt::Display) -> impl FnOnce(EditError) -> Self {
        move |error| Self {
            field: Some(field.to_string()),
            error,
        }
    }

    pub fn result(&self) -> FunctionResult {
        match &self.field {
            Some(field) => FunctionResult::refused_at(&self.error, field),
            None => FunctionResult::refused(&self.error),
        }
    }
}

impl From<EditError> for Refusal {
    fn from(error: EditError) -> Self {
        Self { field: None, error }
    }
}
