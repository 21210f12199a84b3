//! Reads the inputs that the arguments name, and runs the step.

use std::borrow::Cow;
use std::path::Path;

use super::arguments::Arguments;
use super::progress;
use super::read::{config_of_arguments, read_text};
use crate::{self as functions, Function, Inputs, Output, SuppliedInput};
use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Results};
use krm_yaml::OwnedDocument;

pub(super) fn run(
    function: &Function,
    arguments: &Arguments,
    list: &mut ResourceList,
) -> Result<(Output, Results), UsageError> {
    let supplied = arguments.supplied.iter();
    let inputs = Inputs {
        config: config_of_arguments(arguments)?,
        supplied: supplied
            .map(|(role, path)| (*role, SuppliedInput::Path(path.clone())))
            .collect(),
        known: Vec::new(),
        openapi: read_document("--openapi", arguments.openapi.as_deref())?,
        conflicts: read_document(CONFLICTS, arguments.conflicts.as_deref())?,
        catalogs: arguments.catalogs.clone(),
        decides_all: false,
        progress: progress::shows_progress(arguments).then_some(progress::show_search),
    };
    let ran = functions::run_on(function, inputs, list);
    let (output, results) = ran.map_err(|error| name_conflicts_file(error, arguments))?;
    Ok((output, place_conflicts(results, arguments)))
}

const CONFLICTS: &str = "--conflicts";

/// The error with the name of the file of `--conflicts` in place of the flag.
#[must_use]
pub fn name_conflicts_file(error: UsageError, arguments: &Arguments) -> UsageError {
    match &arguments.conflicts {
        Some(file) => error.in_file(CONFLICTS, &file.display().to_string()),
        None => error,
    }
}

/// The results with file and line of those that are about the rules of `--conflicts`.
#[must_use]
pub fn place_conflicts(results: Results, arguments: &Arguments) -> Results {
    let Some(path) = &arguments.conflicts else {
        return results;
    };
    let file = path.display().to_string();
    let is_about_rules = |result: &FunctionResult| {
        let field = result.field.as_deref().unwrap_or_default();
        field.starts_with("conflicts[") && result.file.is_none() && result.resource.is_none()
    };
    if !results.iter().any(is_about_rules) {
        return results;
    }
    let mut placed = Results::default();
    for result in &results {
        let result = result.clone();
        placed.push(if is_about_rules(&result) {
            result.in_file(file.as_str())
        } else {
            result
        });
    }
    let text = read_text(CONFLICTS, path, &file).ok();
    placed.with_lines(|other| text.clone().filter(|_| other == file).map(Cow::Owned))
}

pub fn read_document(flag: &str, path: Option<&Path>) -> Result<Option<OwnedDocument>, UsageError> {
    let Some(path) = path else {
        return Ok(None);
    };
    let place = path.display().to_string();
    let document = OwnedDocument::parse_resource(read_text(flag, path, &place)?);
    let document = document.map_err(|error| UsageError::at(&place, error))?;
    Ok(Some(document))
}
