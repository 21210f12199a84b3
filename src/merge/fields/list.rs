//! Which elements of a list are the same in three versions.

use super::super::kptfile;
use super::super::merge_schema::MergeSchema;
use super::super::rule::{self, Outcome, Side};
use super::super::versions::Versions;
use super::child::{Child, items_of};
use super::collection::{Nodes, Parts};
use super::groups::renamed_keys;
use super::{Merge, Thing};
use crate::merge::trail::Trail;
use crate::schema::{Identity, ListType};
use crate::yaml::{NodeRef, Value};

impl Merge<'_> {
    /// The elements of a list; `None` if it is one value.
    pub(super) fn list<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        nodes: Nodes<'d, 'f>,
    ) -> Option<Parts<'d, 'f>> {
        match schema.list() {
            ListType::Atomic => None,
            ListType::Functions => self.functions(trail, nodes),
            list @ (ListType::Set | ListType::Map(_) | ListType::KeyedStrings(_)) => {
                self.elements(trail, schema, list, nodes)
            }
        }
    }

    /// Elements that are told apart one by one; `None` if one of them cannot be.
    fn elements<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        list: ListType<'_>,
        nodes: Nodes<'d, 'f>,
    ) -> Option<Parts<'d, 'f>> {
        fn identities<'a>(list: ListType<'_>, children: &[Child<'a>]) -> Option<Vec<Identity<'a>>> {
            let identities = children.iter().map(|child| list.identity(child.value));
            identities.collect()
        }
        let children = children_of(nodes);
        let identities = Versions {
            base: identities(list, &children.base)?,
            local: identities(list, &children.local)?,
            upstream: identities(list, &children.upstream)?,
        };
        let (mut parts, repeats) = Parts::number(children, &identities);
        if repeats {
            self.findings.duplicates.push(trail.to_path());
        } else {
            parts.whole = renamed_keys(schema, &mut parts);
        }
        Some(parts)
    }

    /// The functions of a pipeline.
    fn functions<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        nodes: Nodes<'d, 'f>,
    ) -> Option<Parts<'d, 'f>> {
        let children = children_of(nodes);
        let functions = kptfile::identities(Versions {
            base: &resolved(&children.base),
            local: &resolved(&children.local),
            upstream: &resolved(&children.upstream),
        })?;
        let (mut parts, repeats) = Parts::number(children, &functions.identities);
        if !functions.together {
            if repeats {
                self.findings.duplicates.push(trail.to_path());
            }
            return Some(parts);
        }
        let side = self.together(trail, nodes, &functions.identities);
        let mut marked = vec![false; parts.count];
        for (numbers, identities) in parts.numbers.as_ref().zip(functions.identities.as_ref()) {
            for (number, identity) in numbers.iter().zip(identities) {
                marked[*number] = functions.is_together(identity);
            }
        }
        // As if only that side had moved anything.
        parts.base_order = Some(match side {
            Side::Local => parts.numbers.upstream.clone(),
            Side::Upstream => parts.numbers.local.clone(),
        });
        // The others have a base of their own.
        let numbers = std::mem::take(&mut parts.numbers.base).into_iter();
        let base = numbers.zip(std::mem::take(&mut parts.children.base));
        let others = base.filter(|(number, _)| !marked[*number]);
        (parts.numbers.base, parts.children.base) = others.unzip();
        parts.together = Some((marked, side));
        Some(parts)
    }

    /// Decides over functions that cannot be told apart, as one value.
    fn together(
        &mut self,
        trail: &Trail<'_>,
        nodes: Nodes<'_, '_>,
        identities: &Versions<Vec<Identity<'_>>>,
    ) -> Side {
        let mut values = identities.as_ref().map(|identities| {
            let own = identities.iter();
            let own = own.filter(|identity| matches!(identity, Identity::Values(_)));
            Some(Value::Sequence(own.map(Identity::to_value).collect()))
        });
        values.base = values.base.filter(|_| nodes.base.is_some());
        values.upstream = values.upstream.filter(|_| nodes.upstream.is_some());
        match rule::merge(values.as_ref().map(Option::as_ref), |a, b| a == b) {
            Outcome::Stands(side) => side,
            Outcome::Conflict => {
                let decision = self.decide(trail, self.policy.winner);
                self.report(trail, Thing::at(trail), values, decision)
            }
        }
    }
}

fn children_of<'d, 'f>(nodes: Nodes<'d, 'f>) -> Versions<Vec<Child<'f>>, Vec<Child<'d>>> {
    let items = |node: Option<NodeRef<'f>>| node.into_iter().flat_map(items_of).collect();
    Versions {
        base: items(nodes.base),
        local: items_of(nodes.local).collect(),
        upstream: items(nodes.upstream),
    }
}

fn resolved<'a>(children: &[Child<'a>]) -> Vec<NodeRef<'a>> {
    let values = children.iter().map(|child| child.value.resolved());
    values.collect()
}
