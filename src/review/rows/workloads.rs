//! PodDisruptionBudgets that block evictions, or allow all.

use crate::review::row::FieldChange;
use crate::review::walk::text;

pub(super) fn budget(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = (text(change.before()), text(change.after())?);
    match after {
        _ if before == Some(after) => None,
        "0" | "0%" => Some("no pod may be evicted: nodes cannot be drained".to_owned()),
        "100%" => Some("the budget protects no pod: all may be evicted".to_owned()),
        _ => None,
    }
}
