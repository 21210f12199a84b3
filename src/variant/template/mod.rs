//! Creates the `spec` of a target's PackageVariant from a template.
//!
//! A template is compiled once and evaluated for each target. A computed entry overrides a plain entry with the same
//! key, at the position of the plain entry.
//!
//! Source: package-variant document, PackageVariant Template.

mod compile;
mod evaluate;

use std::collections::{BTreeSet, HashMap};

use super::expression::{Expression, Variable};
use crate::results::{FunctionResult, Message, Reason};
use crate::yaml::{Path, Value};

/// A template with its expressions compiled.
#[derive(Debug, Default)]
pub(crate) struct CompiledTemplate {
    repo: Option<TemplateText>,
    /// Whether an expression computes the repository, even if it does not compile.
    is_repo_computed: bool,
    package: Option<TemplateText>,
    adoption_policy: Option<String>,
    deletion_policy: Option<String>,
    labels: TemplateEntries,
    annotations: TemplateEntries,
    data: TemplateEntries,
    remove_keys: Vec<String>,
    remove_key_exprs: Vec<Computed>,
    mutators: Vec<CompiledFunction>,
    validators: Vec<CompiledFunction>,
    injectors: Vec<Injector>,
    /// The variables that the expressions read.
    reads: BTreeSet<Variable>,
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

/// A map with a plain part and a computed part.
#[derive(Debug, Default)]
struct TemplateEntries {
    plain: Vec<(String, String)>,
    /// The position of each key in the plain part.
    places: HashMap<String, usize>,
    computed: Vec<TemplateEntry>,
    /// Whether this is the package context.
    is_context: bool,
}

#[derive(Debug)]
struct TemplateEntry {
    key: TemplateText,
    value: TemplateText,
    path: Path,
}

#[derive(Debug)]
struct CompiledFunction {
    /// The function as written, without its computed part.
    value: Value,
    config_map: TemplateEntries,
}

#[derive(Debug)]
struct Injector {
    group: Option<String>,
    version: Option<String>,
    kind: Option<String>,
    name: TemplateText,
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

fn invalid(path: &Path, message: impl Into<Message>) -> FunctionResult {
    FunctionResult::error(Reason::InvalidConfig, message).at(path)
}

impl CompiledTemplate {
    /// Whether an expression reads the variable.
    #[must_use]
    pub(crate) fn reads(&self, variable: Variable) -> bool {
        self.reads.contains(&variable)
    }

    /// The name of the downstream Repository; `None` if it must be computed.
    #[must_use]
    pub(crate) fn plain_repo<'a>(&'a self, default: &'a str) -> Option<&'a str> {
        match &self.repo {
            None if self.is_repo_computed => None,
            None => Some(default),
            Some(TemplateText::Plain(repo)) => Some(repo),
            Some(TemplateText::Computed(_)) => None,
        }
    }
}
