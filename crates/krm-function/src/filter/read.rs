//! Reads the config and other files that arguments name.

use std::path::Path;

use super::arguments::Arguments;
use krm_core::config::{Config, UsageError};
use krm_yaml::ParseError;

/// The config from `--config` or from `KEY=VALUE` arguments; `None` if there is neither.
pub fn config_of_arguments(arguments: &Arguments) -> Result<Option<Config>, UsageError> {
    if let Some(path) = &arguments.config {
        let place = path.display().to_string();
        let text = read_text("--config", path, &place)?;
        return Config::parse(text, &place).map(Some);
    }
    if !arguments.pairs.is_empty() {
        return Config::from_pairs(&arguments.pairs).map(Some);
    }
    Ok(None)
}

/// The text of a file, with the flag that names it in errors.
pub(super) fn read_text(flag: &str, path: &Path, place: &str) -> Result<String, UsageError> {
    let bytes = std::fs::read(path)
        .map_err(|error| UsageError::at(format_args!("{flag}: cannot read {place}"), error))?;
    utf8(bytes, place)
}

pub(super) fn utf8(bytes: Vec<u8>, place: &str) -> Result<String, UsageError> {
    String::from_utf8(bytes).map_err(|error| {
        ParseError::of_bytes(error.as_bytes()).map_or_else(
            || UsageError::at(place, error.utf8_error()),
            |found| UsageError::at(place, found),
        )
    })
}
