//! The fleet as items of a ResourceList.

use crate::config::UsageError;
use crate::functions::{Output, Run};

pub(super) fn render_items(_run: Run<'_>) -> Result<Output, UsageError> {
    Err(UsageError("expected --package FLEET".to_owned()))
}
