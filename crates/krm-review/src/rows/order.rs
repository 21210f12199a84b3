//! Orders that have a meaning. A merge and this review pair the elements of a list by their names, so an order alone is no
//! difference between two elements.

use std::collections::HashMap;

use crate::row::{FieldChange, PlaceFinding};
use crate::walk::{items, text};
use krm_core::results::listed;
use krm_core::schema::{Key, Keys, ListType};
use krm_merge::compare::pair_elements;
use krm_yaml::{NodeRef, PathElement};

static NAME: Key = Key::named("name");

/// The elements that both sides have, in their new order, if the two sides have them in different orders.
fn reordered<'n>(list: ListType<'_>, change: &FieldChange<'_, 'n>) -> Option<Vec<NodeRef<'n>>> {
    let (before, after) = change.both()?;
    let mut places: Vec<usize> = pair_elements(list, before, after)
        .into_iter()
        .map(|(_, new)| new)
        .collect();
    if places.is_sorted() {
        return None;
    }
    places.sort_unstable();
    let elements: Vec<NodeRef<'_>> = items(Some(after)).collect();
    Some(places.into_iter().map(|at| elements[at]).collect())
}

fn named(list: Option<NodeRef<'_>>) -> Vec<(&str, NodeRef<'_>)> {
    let named = items(list).filter_map(|item| Some((text(item.get("name"))?, item)));
    named.collect()
}

/// Init containers run one after the other.
pub(super) fn init_order<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let found = reordered(ListType::Map(Keys::one(&NAME)), change).map(|order| {
        let names = order.iter().filter_map(|item| text(item.get("name")));
        finding(format!(
            "the init containers run in a different order: {}",
            listed(names)
        ))
    });
    found.into_iter().collect()
}

fn finding<'n>(message: String) -> PlaceFinding<'n> {
    PlaceFinding {
        message,
        ..PlaceFinding::default()
    }
}

/// The variables that a value uses as `$(NAME)`.
fn used(value: &str) -> impl Iterator<Item = &str> {
    value.match_indices("$(").filter_map(|(at, _)| {
        // `$$(NAME)` is the text `$(NAME)`.
        let dollars = value[..at].bytes().rev().take_while(|byte| *byte == b'$');
        let (name, _) = value[at + 2..].split_once(')')?;
        (dollars.count() % 2 == 0).then_some(name)
    })
}

/// A variable can use the ones that are defined before it.
pub(super) fn variable_order<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let places = |list| -> HashMap<&str, usize> {
        let named = named(list).into_iter().enumerate();
        named.map(|(at, (name, _))| (name, at)).collect()
    };
    let (old, new) = (places(change.before()), places(change.after()));
    let mut found = Vec::new();
    for (index, item) in items(change.after()).enumerate() {
        let (Some(name), Some(value)) = (text(item.get("name")), text(item.get("value"))) else {
            continue;
        };
        let is_before = |places: &HashMap<&str, usize>, other: &str| {
            Some(places.get(other)? < places.get(name)?)
        };
        for other in used(value) {
            let now = match (is_before(&old, other), is_before(&new, other)) {
                (Some(true), Some(false)) => "after it, so that the text stays as it is written",
                (Some(false), Some(true)) => "before it, so that its value is used",
                _ => continue,
            };
            found.push(PlaceFinding {
                below: vec![
                    PathElement::Index(index),
                    PathElement::Field("value".to_owned()),
                ],
                message: format!(
                    "the environment variable `{name}` uses `$({other})`, which is now defined {now}"
                ),
                            ..PlaceFinding::default()
                        });
        }
    }
    found
}

/// Of the rules of a list, the first that matches decides.
pub(super) fn rule_order<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let message = "the rules are in a different order, and the first match wins";
    let found = reordered(ListType::Atomic, change);
    found
        .map(|_| finding(message.to_owned()))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::used;

    #[test]
    fn a_value_uses_variables_in_parentheses_that_are_not_escaped() {
        for (value, expected) in [
            ("$(A)", &["A"][..]),
            ("x$(A)-$(B)", &["A", "B"]),
            ("$$(A)", &[]),
            ("$$$(A)", &["A"]),
            ("$A ${B} $(C", &[]),
        ] {
            let found: Vec<&str> = used(value).collect();
            assert_eq!(found, expected, "{value}");
        }
    }
}
