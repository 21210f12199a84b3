//! Applies a strategic merge patch to a value.
//!
//! ```yaml
//! spec:               # live      # patch              # result
//!   replicas: 3                     replicas: null       paused: true
//!   paused: false                   paused: true
//! ```
//!
//! Maps merge by key, lists as [`Rules`] say, `null` deletes, and directives do what their name says. Directives and
//! nulls are removed from values that a patch adds, so they never reach the result.
//!
//! Source: preserve-order document; contract, apply-patch.

mod list;
mod map;
mod merged_list;

use super::directive::{ListDirective, Word, word};
use super::finding::Findings;
use super::identity::with_identity;
use super::node::{Node, Shape};
use super::order::ListOrder;
use super::rules::Rules;
use krm_yaml::Trail;

/// The outcome of a patch for a resource.
#[derive(Debug, Clone)]
pub enum Applied<'a> {
    /// The patched resource.
    Resource(Node<'a>),
    /// The patch deletes it.
    Deleted,
}

/// Applies a patch to a resource. If there are error findings, the result is not valid.
pub fn apply<'a>(
    live: &Node<'a>,
    patch: &Node<'a>,
    rules: Rules<'_>,
    order: ListOrder,
    findings: &mut Findings,
) -> Applied<'a> {
    let mut apply = Apply { order, findings };
    match apply.map(Some(live), patch, rules, &Trail::Root) {
        None => Applied::Deleted,
        Some(result) if matches!(word(patch), Some(Word::Replace)) => {
            Applied::Resource(with_identity(live, &result))
        }
        Some(result) => Applied::Resource(result),
    }
}

struct Apply<'r> {
    order: ListOrder,
    findings: &'r mut Findings,
}

/// The part of a patch for one field.
struct FieldPatch<'p, 'a> {
    value: Option<&'p Node<'a>>,
    directive: Option<&'p ListDirective<'a>>,
}

impl Apply<'_> {
    /// The new value of a field; `None` if it has none.
    fn field<'a>(
        &mut self,
        live: Option<&Node<'a>>,
        patch: &FieldPatch<'_, 'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let order = patch.directive.and_then(|list| list.order.as_deref());
        let delete = patch.directive.and_then(|list| list.delete.as_deref());
        // An empty order says something only about the elements that the patch has, none of which it names.
        let has_elements = |value: &Node<'_>| value.shape() == Shape::List && !value.is_empty();
        let order =
            order.filter(|order| !order.is_empty() || patch.value.is_some_and(has_elements));
        let result = match (patch.value, order) {
            (None, None) => live.cloned(),
            (Some(value), None) => self.value(live, value, rules, trail),
            (value, Some(order)) => self.ordered(live, value, order, rules, trail),
        };
        match (result, delete, live) {
            (Some(result), Some(delete), Some(_)) => self.delete(result, delete, trail),
            (result, _, _) => result,
        }
    }

    /// Applies a value of the patch to the live value; `None` if the patch deletes it.
    fn value<'a>(
        &mut self,
        live: Option<&Node<'a>>,
        patch: &Node<'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let old = live.filter(|live| live.shape() == patch.shape());
        let result = match (patch.shape(), old) {
            (Shape::Null, _) => return None,
            (Shape::Map, Some(live)) if !rules.replaces_map() => {
                return self.map(Some(live), patch, rules, trail);
            }
            (Shape::List, Some(live)) => return Some(self.list(live, patch, None, rules, trail)),
            (Shape::Map, _) => self.map(None, patch, rules, trail)?,
            (Shape::List, None) => self.new_list(patch, rules, trail),
            (Shape::Scalar, _) => patch.clone(),
        };
        Some(keep_if_equal(live, result))
    }
}

/// The result, or the live value if both are equal, so that its spelling is kept.
fn keep_if_equal<'a>(live: Option<&Node<'a>>, result: Node<'a>) -> Node<'a> {
    match live {
        Some(live) if live.equals(&result) => live.clone(),
        _ => result,
    }
}
