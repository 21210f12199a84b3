//! Webhooks and policies that are between users and the API server.

use crate::results::Reason;
use crate::review::Risk;
use crate::review::row::{FieldChange, FiresWhen, Row};
use crate::review::walk::text;
use crate::yaml::NodeRef;

const WEBHOOKS: &[&str] = &[
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io/MutatingWebhookConfiguration",
];
const SOURCE: &str = "Kubernetes documentation, Dynamic Admission Control, failure policy";

pub(crate) const ROWS: &[Row] = &[
    Row {
        kinds: WEBHOOKS,
        path: "webhooks[]",
        when: FiresWhen::Says(fails_closed),
        risk: Risk::Dangerous,
        reason: Reason::WebhookFailsClosed,
        message: "",
        source: SOURCE,
    },
    Row {
        kinds: WEBHOOKS,
        path: "webhooks[].rules",
        when: FiresWhen::Says(asked_about_more),
        risk: Risk::Dangerous,
        reason: Reason::WebhookFailsClosed,
        message: "",
        source: SOURCE,
    },
];

/// In v1 a webhook fails closed unless it says otherwise.
fn is_closed(webhook: NodeRef<'_>) -> bool {
    text(webhook.get("failurePolicy")).unwrap_or("Fail") == "Fail"
}

fn fails_closed(change: &FieldChange<'_, '_>) -> Option<String> {
    let was = change.before().is_some_and(is_closed);
    (is_closed(change.after()?) && !was)
        .then(|| "without its server, requests that match the webhook fail".to_owned())
}

fn asked_about_more(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = change.both()?;
    let closed = after.parent().is_some_and(is_closed);
    let known: Vec<_> = before.items().filter_map(|rule| rule.value()).collect();
    let mut rules = after.items().filter_map(|rule| rule.value());
    let is_new = rules.any(|rule| !known.contains(&rule));
    (closed && is_new)
        .then(|| "the webhook matches other requests, which fail without its server".to_owned())
}
