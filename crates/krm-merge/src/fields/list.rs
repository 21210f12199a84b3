//! Finds which elements of a list are the same in three versions.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::super::combine::PartsOf;
use super::super::kptfile;
use super::super::merge_schema::MergeSchema;
use super::super::rule::{self, Outcome, Side};
use super::super::versions::Versions;
use super::child::Siblings;
use super::collection::{NodeVersions, Numbering, Parts, children_of};
use super::groups::renamed_keys;
use super::kustomized;
use super::{ConflictKind, FieldMerger};
use crate::trail::Trail;
use krm_core::results::{Mark, Marks};
use krm_core::schema::{Identity, ListType};
use krm_yaml::{NodeRef, Value};

impl FieldMerger<'_> {
    /// The elements of a list; `None` if it is one value.
    pub(super) fn list<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        nodes: NodeVersions<'d, 'f>,
        local_is_absent: bool,
    ) -> Option<Parts<'d, 'f>> {
        if let Some(list) = schema.kustomization_list() {
            return kustomized::elements(list, nodes);
        }
        match schema.list() {
            ListType::Atomic if local_is_absent || schema.is_whole_list() => None,
            ListType::Atomic => self.elements_without_keys(trail, nodes, children_of(nodes)),
            ListType::Functions => self.functions(trail, nodes, local_is_absent),
            list @ (ListType::Set | ListType::Map(_) | ListType::KeyedStrings(_)) => {
                self.elements(trail, schema, list, nodes)
            }
        }
    }

    /// The elements of a list, distinguished by their identities. `None` if an element has none.
    fn elements<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        list: ListType<'_>,
        nodes: NodeVersions<'d, 'f>,
    ) -> Option<Parts<'d, 'f>> {
        /// The identities of elements, up to one that has none.
        fn identities<'a>(
            list: ListType<'_>,
            children: &Siblings<'a>,
            relocated: &HashMap<&'a str, &'a str>,
            have_all: &Cell<bool>,
        ) -> impl Iterator<Item = Identity<'a>> {
            children.iter().map_while(move |child| {
                let identity = list.identity(child.value);
                have_all.set(have_all.get() && identity.is_some());
                Some(match identity? {
                    Identity::Key(key) => Identity::Key(relocated.get(key).copied().unwrap_or(key)),
                    other => other,
                })
            })
        }
        let mut children = children_of(nodes);
        for merged in [&mut children.base, &mut children.upstream] {
            merged.retain(|child| !schema.keeps_local_element(child.value));
        }
        let relocated = if schema.keys_are_images() && self.combines(trail, PartsOf::Image) {
            kptfile::relocated(children.as_ref().map(|children| keys(list, children)))
        } else {
            HashMap::new()
        };
        let have_all = Cell::new(true);
        let identities = |children| identities(list, children, &relocated, &have_all);
        let numbering = Numbering::of(children.as_ref().map(identities));
        if !have_all.get() {
            return None;
        }
        let repeats = numbering.repeats;
        let mut parts = Parts::of(children, numbering);
        if repeats {
            self.findings.duplicates.push(trail.to_path());
        } else {
            parts.whole = renamed_keys(schema, &mut parts);
        }
        Some(parts)
    }

    /// The elements of a list of pipeline functions. `None` if an element is not a function.
    fn functions<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        nodes: NodeVersions<'d, 'f>,
        local_is_absent: bool,
    ) -> Option<Parts<'d, 'f>> {
        let children = children_of(nodes);
        let functions = children.as_ref().map(resolved);
        let functions = kptfile::identities(functions.as_ref().map(Vec::as_slice))?;
        let identities = functions.identities.as_ref();
        let numbering = Numbering::of(identities.map(|identities| identities.iter().cloned()));
        let repeats = numbering.repeats;
        let mut parts = Parts::of(children, numbering);
        if !functions.decided_jointly {
            if repeats {
                self.findings.duplicates.push(trail.to_path());
            }
            return Some(parts);
        }
        let is_present = Versions::new(
            nodes.base.is_some(),
            !local_is_absent,
            nodes.upstream.is_some(),
        );
        let lists = [nodes.base, Some(nodes.local), nodes.upstream];
        let lists = lists.into_iter().flatten();
        let side = self.decide_jointly(trail, is_present, &functions.identities, |marks| {
            marks.within_any(lists)
        });
        let mut marked = vec![false; parts.count];
        for (numbers, identities) in parts.numbers.as_ref().zip(functions.identities.as_ref()) {
            for (number, identity) in numbers.iter().zip(identities) {
                marked[*number as usize] = functions.is_decided_jointly(identity);
            }
        }
        // Compare with the order of the other side, as if only the winning side had moved anything.
        parts.base_order = Some(side.other().of(parts.numbers.as_ref()).clone());
        // The base is only for the functions that are not decided together.
        let numbers = &mut parts.numbers.base;
        let is_other = |number: u32| !marked[number as usize];
        parts
            .children
            .base
            .retain(|child| is_other(numbers[child.index]));
        numbers.retain(|number| is_other(*number));
        parts.joint_decision = marked
            .into_iter()
            .map(|is_marked| is_marked.then_some(side))
            .collect();
        Some(parts)
    }

    /// Decides about functions that cannot be distinguished, as one value.
    fn decide_jointly(
        &mut self,
        trail: &Trail<'_>,
        is_present: Versions<bool>,
        identities: &Versions<Vec<Identity<'_>>>,
        mark: impl FnOnce(&Marks) -> Mark,
    ) -> Side {
        let values = identities.as_ref().zip(is_present);
        let values = values.map(|(identities, is_present)| {
            let own = identities.iter();
            let own = own.filter(|identity| matches!(identity, Identity::Values(_)));
            is_present.then(|| Value::Sequence(own.map(Identity::to_value).collect()))
        });
        match rule::merge(values.as_ref().map(Option::as_ref), |a, b| a == b) {
            Outcome::Wins(side) => side,
            Outcome::Conflict => {
                let decision = self.decide(trail, self.policy.winner);
                self.report(trail, ConflictKind::Functions, values, decision, mark)
            }
        }
    }
}

/// The keys of the elements that have one.
fn keys<'a>(list: ListType<'_>, children: &Siblings<'a>) -> HashSet<&'a str> {
    let identities = children
        .iter()
        .filter_map(|child| list.identity(child.value));
    let keys = identities.filter_map(|identity| match identity {
        Identity::Key(key) => Some(key),
        _ => None,
    });
    keys.collect()
}

fn resolved<'a>(children: &Siblings<'a>) -> Vec<NodeRef<'a>> {
    let values = children.iter().map(|child| child.value.resolved());
    values.collect()
}
