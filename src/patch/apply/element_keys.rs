//! Reads and checks the keys of a list's elements.

use std::collections::HashSet;

use super::super::directive::short;
use super::super::node::{ListItem, Node, Shape};
use super::super::order::{ElementKey, different_kinds};
use super::super::rules::{ListRule, key_values};
use super::Apply;
use crate::results::Reason;
use crate::yaml::{Trail, Value};

impl Apply<'_> {
    /// The keys of all elements. If an element has none, adds a finding and returns `None`.
    pub(super) fn keys(
        &mut self,
        items: &[ListItem<'_>],
        rule: ListRule<'_>,
        owner: &str,
        trail: &Trail<'_>,
    ) -> Option<Vec<ElementKey>> {
        let mut keys = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let key = match rule {
                ListRule::Keyed(keys) => key_values(keys, &item.value),
                ListRule::Atomic | ListRule::Set => match item.value.shape() {
                    Shape::Scalar | Shape::Null => {
                        Ok(vec![item.value.scalar().unwrap_or(Value::Null)])
                    }
                    shape => {
                        let found = shape.with_article();
                        Err(format!("expected a string or number, found {found}"))
                    }
                },
            };
            match key {
                Ok(key) => keys.push(key),
                Err(message) => {
                    let at = trail.element(index);
                    let message = format!("element of {owner}: {message}");
                    self.findings.error(&at, Reason::InvalidPatch, message);
                    return None;
                }
            }
        }
        Some(keys)
    }

    /// Refuses the two cases that the preserve-order document rejects: an element of the patch is missing in
    /// `$setElementOrder`, or the orders differ.
    pub(super) fn check_order(
        &mut self,
        patch: &[ElementKey],
        order: &[ElementKey],
        trail: &Trail<'_>,
    ) {
        let listed: HashSet<&ElementKey> = order.iter().collect();
        let missing: Vec<String> = patch
            .iter()
            .filter(|key| !listed.contains(key))
            .map(key_text)
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "expected all elements of the patch's list in its $setElementOrder, found {} outside of {}",
                missing.join(", "),
                keys_text(order)
            );
            self.findings
                .error(trail, Reason::NotInElementOrder, message);
            return;
        }
        let mut listed = order.iter();
        if !patch.iter().all(|key| listed.any(|other| other == key)) {
            let message = format!(
                "expected the elements of the patch's list in the order of its $setElementOrder {}, found {}",
                keys_text(order),
                keys_text(patch)
            );
            self.findings
                .error(trail, Reason::ElementOrderMismatch, message);
        }
    }

    /// Refuses a list of primitives whose elements are of different kinds.
    pub(super) fn check_kinds(
        &mut self,
        live: &[ElementKey],
        patch: &[ElementKey],
        trail: &Trail<'_>,
    ) {
        if let Some(message) = different_kinds(live.iter().chain(patch)) {
            self.findings.error(trail, Reason::InvalidPatch, message);
        }
    }
}

fn key_text(key: &ElementKey) -> String {
    let parts: Vec<String> = key.iter().map(Value::plain_text).collect();
    let text = parts.join("/");
    format!("`{}`", short(&Node::of_value(text)))
}

/// The first keys of a list in a message.
fn keys_text(keys: &[ElementKey]) -> String {
    const SHOWN: usize = 16;
    let mut texts: Vec<String> = keys.iter().take(SHOWN).map(key_text).collect();
    if keys.len() > SHOWN {
        texts.push("…".to_owned());
    }
    format!("[{}]", texts.join(", "))
}
