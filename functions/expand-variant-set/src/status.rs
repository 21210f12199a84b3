//! The conditions of a PackageVariantSet.

use krm_core::conditions::Condition;

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
