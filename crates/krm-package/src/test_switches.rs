//! Switches for tests, in builds with debug assertions: `KRM_VARIANTS_TEST="without_scanner small_shares" cargo test`.
//! The test suite must print the same bytes with and without them (`.ci/run`).

use std::env;
use std::sync::LazyLock;

/// What a test can switch on.
#[derive(Clone, Copy)]
pub enum Switch {
    /// Several threads work on short inputs too.
    SmallShares,
    /// Progress is shown from the start.
    Impatient,
}

impl Switch {
    fn name(self) -> &'static str {
        match self {
            Self::SmallShares => "small_shares",
            Self::Impatient => "impatient",
        }
    }

    /// Whether the switch is on; never in a release build.
    #[inline]
    pub fn is_on(self) -> bool {
        static ON: LazyLock<String> =
            LazyLock::new(|| env::var("KRM_VARIANTS_TEST").unwrap_or_default());
        cfg!(debug_assertions) && ON.split_whitespace().any(|name| name == self.name())
    }
}
