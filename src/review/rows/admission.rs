//! Admission webhooks: whether requests fail when the webhook does not answer.

use crate::review::row::FieldChange;
use crate::review::walk::text;
use crate::yaml::NodeRef;

/// In `admissionregistration.k8s.io/v1`, the default of `failurePolicy` is `Fail`.
fn is_closed(webhook: NodeRef<'_>) -> bool {
    text(webhook.get("failurePolicy")).unwrap_or("Fail") == "Fail"
}

pub(super) fn fails_closed(change: &FieldChange<'_, '_>) -> bool {
    change.after().is_some_and(is_closed) && !change.before().is_some_and(is_closed)
}

pub(super) fn asked_about_more(change: &FieldChange<'_, '_>) -> bool {
    let Some((before, after)) = change.both() else {
        return false;
    };
    let closed = after.parent().is_some_and(is_closed);
    let known: Vec<_> = before.items().filter_map(|rule| rule.value()).collect();
    let mut rules = after.items().filter_map(|rule| rule.value());
    closed && rules.any(|rule| !known.contains(&rule))
}
