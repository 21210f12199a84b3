//! Lists without keys, merged by their elements.
//!
//! ```yaml
//! # base        # local         # upstream      # merged
//! - --port=80   - --port=8080   - --port=80     - --port=8080
//! - --quiet     - --quiet       - --metrics     - --metrics
//! ```
//!
//! [`pairing`] finds which elements are the same. Then they merge like the elements of a list with keys.

mod element;
mod pairing;
mod runs;
mod two_versions;

use std::hash::RandomState;

use super::super::child::Siblings;
use super::super::collection::{NodeVersions, Parts};
use super::super::{ConflictKind, FieldMerger};
use crate::combine::PartsOf;
use crate::rule::{self, Outcome, Side};
use crate::trail::Trail;
use crate::versions::Versions;
use element::{Element, elements};
use krm_yaml::{NodeRef, Value};
use pairing::Pairing;
use runs::by_runs;
pub(crate) use two_versions::pair_values;

impl FieldMerger<'_> {
    /// The elements of a list without keys that both sides changed differently, or in which upstream may not change some
    /// place. `None` if it merges as one value.
    pub(in crate::fields) fn elements_without_keys<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        nodes: NodeVersions<'d, 'f>,
        children: Versions<Siblings<'f>, Siblings<'d>>,
    ) -> Option<Parts<'d, 'f>> {
        let lists = Versions::new(nodes.base, Some(nodes.local), Some(nodes.upstream?));
        let is_conflict = rule::merge(lists, |a, b| a.equals(b)) == Outcome::Conflict;
        if !(is_conflict || self.policy.rules.guards_below(trail))
            || !self.combines(trail, PartsOf::List)
        {
            return None;
        }
        let pairing = pair(lists)?;
        if !is_conflict && !pairing.runs.is_empty() {
            return None;
        }
        let brought = [Side::Local, Side::Upstream].map(|side| changes_of(&pairing, side));
        if let [Some(local), Some(upstream)] = brought {
            let values = [local, upstream];
            self.report_combined(trail, PartsOf::List, values, |marks| {
                marks.within_any(lists.into_iter().flatten())
            });
        }
        let (numbers, count) = pairing.numbers();
        let joint_decision = self.decide_runs(trail, lists, &pairing, count);
        Some(Parts {
            children,
            numbers,
            base_order: None,
            count,
            joint_decision,
            whole: pairing.whole.iter().map(|number| 2 * number).collect(),
        })
    }

    /// Decides about the runs of elements that are one value each. Returns the side that wins each element, by number.
    fn decide_runs(
        &mut self,
        trail: &Trail<'_>,
        lists: Versions<Option<NodeRef<'_>>>,
        pairing: &Pairing<'_>,
        count: usize,
    ) -> Vec<Option<Side>> {
        if pairing.runs.is_empty() {
            return Vec::new();
        }
        let decision = self.decide(trail, self.policy.winner);
        let mut sides = vec![None; count];
        for run in &pairing.runs {
            let values = Versions::from([0, 1, 2].map(|version| {
                let elements = &pairing.elements[version][run[version].clone()];
                let values = elements.iter().flat_map(|element| element.values.clone());
                let values: Vec<Value> = values.collect();
                (!values.is_empty()).then_some(Value::Sequence(values))
            }));
            let kind = ConflictKind::Part(pairing.place_of(run));
            self.report(trail, kind, values, decision, |marks| {
                marks.within_any(lists.into_iter().flatten())
            });
            for version in [1, 2] {
                for number in &pairing.numbers[version][run[version].clone()] {
                    let items = 2 * *number as usize..2 * *number as usize + 2;
                    sides[items].fill(Some(decision.side));
                }
            }
        }
        sides
    }
}

/// Pairs the elements of three lists. If some of them cannot be distinguished, the runs that have these are one value
/// each; `None` if that is the whole list.
fn pair(lists: Versions<Option<NodeRef<'_>>>) -> Option<Pairing<'_>> {
    let state = RandomState::new();
    let read = || -> Option<[Vec<Element<'_>>; 3]> {
        let read = lists.map(|list| list.map_or(Some(Vec::new()), |list| elements(list, &state)));
        let [base, local, upstream] = read.into_array();
        Some([base?, local?, upstream?])
    };
    Pairing::between(read()?, true, &state).or_else(|| by_runs(&read()?, &state))
}

/// What only one side changed: the elements that it added, removed and changed, and whether it moved any. An element
/// that both removed counts as upstream's change if local may have replaced it.
fn changes_of(pairing: &Pairing<'_>, side: Side) -> Option<Value> {
    let is_new = |element: Versions<Option<&Element<'_>>>| {
        let own = element.local.filter(|own| own.name.is_none());
        element.base.is_none() && own.is_some() && element.upstream.is_none()
    };
    let may_be_rewritten = side == Side::Upstream && pairing.all().any(is_new);
    let mut lists = ["added", "removed", "changed"].map(|name| (name, Vec::new()));
    for element in pairing.decided_one_by_one() {
        let prints = element.map(|one| one.map(|one| one.print));
        let is_own = side.of(prints) != prints.base && side.other().of(prints) == prints.base;
        let is_rewritten = may_be_rewritten
            && element.base.is_some_and(|old| old.name.is_none())
            && element.local.is_none()
            && element.upstream.is_none();
        if !is_own && !is_rewritten {
            continue;
        }
        let (list, shown) = match (element.base, side.of(element)) {
            (None, own) => (0, own),
            (base, None) => (1, base),
            (_, own) => (2, own),
        };
        lists[list]
            .1
            .extend(shown.into_iter().flat_map(|shown| shown.values.clone()));
    }
    let lists = lists.into_iter().filter(|(_, values)| !values.is_empty());
    let lists = lists.map(|(name, values)| (Value::from(name), Value::Sequence(values)));
    let mut found: Vec<(Value, Value)> = lists.collect();
    let orders = pairing.orders();
    if side.of(orders.clone()) != orders.base && orders.local != orders.upstream {
        found.push((Value::from("moved"), Value::from(true)));
    }
    (!found.is_empty()).then_some(Value::Mapping(found))
}
