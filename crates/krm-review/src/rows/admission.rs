//! Admission webhooks: whether requests fail when the webhook does not answer.

use crate::row::{FieldChange, PlaceFinding};
use crate::walk::{PathStep, given, strings, text};
use krm_yaml::{NodeRef, PathElement};

/// In `admissionregistration.k8s.io/v1`, the default of `failurePolicy` is `Fail`.
fn is_closed(webhook: NodeRef<'_>) -> bool {
    text(webhook.get("failurePolicy")).unwrap_or("Fail") == "Fail"
}

pub(super) fn fails_closed<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let fails = change.after().is_some_and(is_closed) && !change.before().is_some_and(is_closed);
    let policy = |webhook: Option<NodeRef<'n>>| given(webhook?.get(FAILURE_POLICY));
    Vec::from_iter(fails.then(|| PlaceFinding {
        below: vec![PathElement::Field(FAILURE_POLICY.to_owned())],
        message: "without its server, requests that match the webhook fail".to_owned(),
        values: Some([policy(change.before()), policy(change.after())]),
        is_whole: true,
    }))
}

const FAILURE_POLICY: &str = "failurePolicy";

pub(super) fn stops_denying(change: &FieldChange<'_, '_>) -> bool {
    let denies = |actions| strings(actions).contains(&"Deny");
    change.object_remains && denies(change.before()) && !denies(change.after())
}

/// Whether the webhook that holds the field remains, and fails closed after the change.
fn remains_closed(change: &FieldChange<'_, '_>) -> bool {
    let [_, webhooks] = change.of_root(&["webhooks"]);
    let webhook = match change.place.steps.get(1) {
        Some(PathStep::Element { index, .. }) => webhooks.and_then(|list| list.items().nth(*index)),
        _ => None,
    };
    change.place.owner_remains && webhook.is_some_and(|webhook| is_closed(webhook.resolved()))
}

pub(super) fn asked_about_more(change: &FieldChange<'_, '_>) -> bool {
    let Some((before, after)) = change.both() else {
        return false;
    };
    let known: Vec<_> = before.items().filter_map(|rule| rule.value()).collect();
    let mut rules = after.items().filter_map(|rule| rule.value());
    remains_closed(change) && rules.any(|rule| !known.contains(&rule))
}

/// Whether a selector has fewer or other requirements, or a list of conditions fewer or other conditions.
pub(super) fn loses_filter<'n>(change: &FieldChange<'_, 'n>) -> bool {
    let requirements = |node: Option<NodeRef<'n>>| -> Vec<_> {
        let node = node.into_iter();
        let labels = node.clone().filter_map(|node| node.get("matchLabels"));
        let labels = labels.flat_map(|labels| labels.entries());
        let labels = labels.map(|entry| (Some(entry.key.field_name()), entry.value.value()));
        let lists = node.clone().filter_map(|node| node.get("matchExpressions"));
        let items = node.chain(lists).flat_map(|list| list.items());
        labels
            .chain(items.map(|item| (None, item.value())))
            .collect()
    };
    let [before, after] = [change.before(), change.after()].map(requirements);
    remains_closed(change) && before.iter().any(|one| !after.contains(one))
}
