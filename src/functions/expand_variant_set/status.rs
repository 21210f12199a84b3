//! The conditions of a PackageVariantSet, as results and in its `status`.

use crate::conditions::Condition;
use crate::yaml::{Content, EditError, Editor, NodeRef, Value};

pub(super) const NOT_STALLED: Condition<'_> = Condition {
    kind: "Stalled",
    status: "False",
    reason: "Valid",
    message: "all validation checks passed",
};
pub(super) const STALLED: Condition<'_> = Condition {
    kind: "Stalled",
    status: "True",
    reason: "ValidationError",
    message: "the PackageVariantSet cannot be expanded",
};
pub(super) const READY: Condition<'_> = Condition {
    kind: "Ready",
    status: "True",
    reason: "Reconciled",
    message: "package variants successfully reconciled",
};
pub(super) const NOT_READY: Condition<'_> = Condition {
    kind: "Ready",
    status: "False",
    reason: "Error",
    message: "nothing was generated",
};

/// Writes the conditions of an expanded set into its status.
pub(super) fn write_status<'d>(
    resource: NodeRef<'d>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let wanted = [NOT_STALLED, READY];
    let list = Condition::list(&wanted);
    let Some(status) = resource.entry("status").map(|entry| entry.value) else {
        let status = Value::Mapping(vec![(Value::from("conditions"), list)]);
        return editor.set(resource, "status", Content::Value(status));
    };
    let conditions = status.entry("conditions").map(|entry| entry.value);
    let Some(conditions) = conditions.filter(|conditions| conditions.kind().is_sequence()) else {
        return editor.set(status, "conditions", Content::Value(list));
    };
    Condition::update(&wanted, conditions, NodeRef::scalar_text, editor)
}
