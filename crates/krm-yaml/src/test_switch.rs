//! A switch for tests, in builds with debug assertions: with `KRM_VARIANTS_TEST=without_scanner`, the general parser
//! reads everything. Programs must print the same bytes with and without it.

use std::env;
use std::sync::LazyLock;

/// Whether the scanner is off; never in a release build.
#[inline]
pub(crate) fn is_scanner_off() -> bool {
    static OFF: LazyLock<bool> = LazyLock::new(|| {
        let names = env::var("KRM_VARIANTS_TEST").unwrap_or_default();
        names
            .split_whitespace()
            .any(|name| name == "without_scanner")
    });
    cfg!(debug_assertions) && *OFF
}
