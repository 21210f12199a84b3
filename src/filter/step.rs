//! Config and supplied inputs are read, then the step runs.

use super::arguments::Arguments;
use super::function::{Function, Run};
use super::read::{read_config, read_text};
use crate::config::{Config, UsageError};
use crate::resource_list::ResourceList;
use crate::results::Results;
use crate::supplied::Supplied;
use crate::yaml::OwnedDocument;

pub(super) fn run(
    function: &Function,
    arguments: &Arguments,
    list: &mut ResourceList,
) -> Result<Results, UsageError> {
    let config = read_config(arguments, list)?;
    let mut results = Results::default();
    let config = config.as_ref().and_then(Config::node);
    let mut supplied = Supplied::read_with(
        function.git,
        function.roles,
        &arguments.supplied,
        config,
        list,
        &mut results,
    )?;
    if let Some(path) = &arguments.openapi {
        let place = path.display().to_string();
        let document = OwnedDocument::parse(read_text(path, &place)?);
        supplied.set_openapi(document.map_err(|error| UsageError(format!("{place}: {error}")))?);
    }
    if let Some(path) = &arguments.conflicts {
        let place = path.display().to_string();
        let document = OwnedDocument::parse(read_text(path, &place)?);
        supplied.set_conflicts(document.map_err(|error| UsageError(format!("{place}: {error}")))?);
    }
    if results.has_errors() {
        return Ok(results);
    }
    (function.step)(Run {
        config,
        list,
        supplied: &supplied,
        results: &mut results,
    })?;
    leave(supplied);
    Ok(results)
}

/// The process is about to end: what it holds goes back as a whole, which takes less time than
/// piece by piece.
pub(super) fn leave<T>(value: T) {
    std::mem::forget(value);
}
