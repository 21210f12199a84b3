//! The report as JSON.

use super::{FleetReport, KIND};
use crate::config::{API_VERSION, UsageError};

pub(super) fn write(report: &FleetReport) -> Result<String, UsageError> {
    let text = serde_json::to_string_pretty(report);
    text.map(|text| text + "\n")
        .map_err(|error| UsageError::cannot("write the report", error))
}

/// Reads a report.
///
/// # Errors
/// A message about what is wrong with the report.
pub(super) fn read(text: &str) -> Result<FleetReport, String> {
    let report: FleetReport = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if (report.api_version.as_str(), report.kind.as_str()) != (API_VERSION, KIND) {
        let found = format!("{} ({})", report.kind, report.api_version);
        return Err(format!("expected a {KIND} ({API_VERSION}), found {found}"));
    }
    Ok(report)
}
