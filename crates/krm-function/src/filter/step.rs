//! Reads the inputs that the arguments name, and runs the step.

use std::path::Path;

use super::arguments::Arguments;
use super::progress;
use super::read::{config_of_arguments, read_text};
use crate::run::run_on;
use crate::{Function, Inputs, Output, SuppliedInput};
use krm_core::config::{NamedDocument, UsageError};
use krm_core::resource_list::ResourceList;
use krm_core::results::Results;
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
        conflicts: read_rules(arguments)?,
        catalogs: arguments.catalogs.clone(),
        progress: progress::shows_progress(arguments).then_some(progress::show_search),
        is_trial: false,
    };
    run_on(function, function.step, inputs, list)
}

/// The file of `--conflicts`.
pub fn read_rules(arguments: &Arguments) -> Result<Option<NamedDocument>, UsageError> {
    let path = arguments.conflicts.as_deref();
    let document = read_document("--conflicts", path)?;
    Ok(document.zip(path).map(|(document, path)| NamedDocument {
        place: format!("--conflicts {}", path.display()),
        document,
    }))
}

fn read_document(flag: &str, path: Option<&Path>) -> Result<Option<OwnedDocument>, UsageError> {
    let Some(path) = path else {
        return Ok(None);
    };
    let place = path.display().to_string();
    let document = OwnedDocument::parse_resource(read_text(flag, path, &place)?);
    let document = document.map_err(|error| UsageError::at(&place, error))?;
    Ok(Some(document))
}
