//! Creates the `spec` of a target's PackageVariant from a template.
//!
//! A template is checked and compiled once, to a `spec` and the positions of its computed parts, and evaluated for each
//! target.
//! A computed entry overrides a plain entry with the same key, at the position of the plain entry.
//!
//! Source: package-variant document, PackageVariant Template.

mod compile;
mod evaluate;

use std::collections::{BTreeSet, HashMap};

use super::expression::{Expression, Variable};
use krm_core::package_variant::invalid;
use krm_core::results::FunctionResult;
use krm_yaml::{Path, PathElement, Value};

/// The field of `spec` with the package context, which has reserved keys.
const CONTEXT: &str = "packageContext";

/// A template with its expressions compiled.
#[derive(Debug)]
pub(crate) struct CompiledTemplate {
    repo: Option<TemplateText>,
    /// Whether an expression computes the repository, even if it does not compile.
    is_repo_computed: bool,
    package: Option<TemplateText>,
    /// `spec` without its computed parts.
    plain: Value,
    /// The computed parts, with their positions in `spec`.
    computed: Vec<(Path, ComputedPart)>,
    /// The variables that the expressions read.
    reads: BTreeSet<Variable>,
    /// Whether all expressions compile.
    pub(crate) compiles: bool,
    /// Whether the other values are valid. If not, the template is evaluated only to find further errors.
    pub(crate) is_valid: bool,
}

/// A text that is either plain or computed.
#[derive(Debug)]
enum TemplateText {
    Plain(String),
    Computed(Computed),
}

#[derive(Debug)]
struct Computed {
    expression: Expression,
    path: Path,
}

/// A computed part of `spec`.
#[derive(Debug)]
enum ComputedPart {
    /// The name of an injector.
    Name(TemplateText),
    /// Entries of a map, or elements of a sorted list of keys.
    Keys {
        keys: Vec<ComputedKey>,
        /// The position of each plain key in the map or list.
        plain: HashMap<String, usize>,
    },
}

#[derive(Debug)]
struct ComputedKey {
    key: TemplateText,
    /// The value of the entry; `None` in a list of keys.
    value: Option<TemplateText>,
    path: Path,
}

/// Why a target cannot get a PackageVariant.
#[derive(Debug)]
pub(crate) struct TemplateFailure {
    /// The result to report.
    pub(crate) result: Box<FunctionResult>,
    /// Whether the run ends because an expression exceeded its budget.
    pub(crate) ends_run: bool,
}

impl From<FunctionResult> for TemplateFailure {
    fn from(result: FunctionResult) -> Self {
        Self {
            result: Box::new(result),
            ends_run: false,
        }
    }
}

/// The error for a repeated key.
fn twice(path: &Path, key: &str) -> FunctionResult {
    invalid(
        path,
        format!("expected each key once in the list, found `{key}` again"),
    )
}

/// Whether a position in `spec` is within the package context.
fn is_in_context(place: &Path) -> bool {
    matches!(place.elements().first(), Some(PathElement::Field(name)) if name == CONTEXT)
}

/// The value at a position in `spec`; adds missing fields. `None` if the position does not fit the value.
fn value_at<'v>(mut value: &'v mut Value, place: &Path) -> Option<&'v mut Value> {
    for element in place.elements() {
        value = match (element, value) {
            (PathElement::Index(index), Value::Sequence(items)) => items.get_mut(*index)?,
            (PathElement::Field(name), value) => value.field_mut(name),
            _ => return None,
        };
    }
    Some(value)
}

impl CompiledTemplate {
    /// Whether an expression reads the variable.
    pub(crate) fn reads(&self, variable: Variable) -> bool {
        self.reads.contains(&variable)
    }

    /// The name of the downstream Repository; `None` if it must be computed.
    pub(crate) fn plain_repo<'a>(&'a self, default: &'a str) -> Option<&'a str> {
        match &self.repo {
            None if self.is_repo_computed => None,
            None => Some(default),
            Some(TemplateText::Plain(repo)) => Some(repo),
            Some(TemplateText::Computed(_)) => None,
        }
    }
}
