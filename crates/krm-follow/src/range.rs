//! Ranges of versions, as a user writes them.

use semver::VersionReq;

/// A range of versions: `~1.2`, `^1`, `>=1.2,<2`, or the beginning of a version, `v1.2`.
pub fn range(request: &str) -> Option<VersionReq> {
    let is_range = request.starts_with(['~', '^', '>', '<', '=', '*']) || request.contains(',');
    let text: Vec<String> = request
        .split(',')
        .map(|part| part.trim().replacen('v', "", 1))
        .collect();
    if is_range {
        return VersionReq::parse(&text.join(",")).ok();
    }
    let beginning = request.strip_prefix('v').unwrap_or(request);
    let is_version = beginning.starts_with(|c: char| c.is_ascii_digit())
        && beginning
            .chars()
            .all(|c| c.is_ascii_digit() || c == '.' || c == 'x');
    is_version.then(|| VersionReq::parse(&format!("={beginning}")).ok())?
}
