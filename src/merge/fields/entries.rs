//! Merges the parts of a mapping or keyed list: each for itself, then their order.

use super::super::identity;
use super::super::merge_schema::MergeSchema;
use super::super::order::merge_order;
use super::super::rule::{self, Side};
use super::comments::take_comments;
use super::take::take;
use super::versions::{Child, Collection, Elementwise, Fate, Trail, Versions};
use super::{Merge, Thing, same};
use crate::kptfile::has_comments;
use crate::yaml::{Content, EditError, Editor, NodeRef, Part, Value};

impl Merge<'_> {
    /// Merges the parts of a mapping or keyed list, then their order.
    ///
    /// `absent` is the side that removed the whole.
    #[allow(
        clippy::too_many_arguments,
        reason = "one place in three versions, and what is said of it"
    )]
    pub(super) fn entries<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        absent: Option<Side>,
        versions: &Versions<'d, 'f>,
        node: NodeRef<'d>,
        collection: &Collection<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        let [base_order, local_order, upstream_order] = &collection.identities;
        let find = |order: &[usize], count: usize| {
            let mut found = vec![None; collection.count];
            order
                .iter()
                .take(count)
                .enumerate()
                .for_each(|(at, number)| found[*number] = Some(at));
            found
        };
        let in_base = find(base_order, collection.base.len());
        let in_local = find(local_order, usize::MAX);
        let in_upstream = find(upstream_order, usize::MAX);
        let groups = self.groups(trail, schema, collection);
        let mut fates: Vec<Option<Fate<'f>>> = (0..collection.count).map(|_| None).collect();
        let added = upstream_order
            .iter()
            .filter(|number| in_local[**number].is_none());
        for number in local_order.iter().chain(added).copied() {
            let one = Versions {
                base: in_base[number].map(|at| collection.base[at]),
                local: in_local[number].map(|at| collection.local[at]),
                upstream: in_upstream[number].map(|at| collection.upstream[at]),
            };
            let forced = match &collection.together {
                Some((marked, side)) => marked[number].then_some(*side),
                None => groups.side_of(&one),
            };
            let fate = match forced {
                Some(side) => self.force(side, &one, collection.together.is_some(), editor)?,
                None if collection.whole.contains(&number) => {
                    self.whole_element(trail, schema, one, editor)?
                }
                None => self.entry(trail, schema, absent, &one, collection.is_list, editor)?,
            };
            if let (Fate::Local, Some(base), Some(local), Some(upstream)) =
                (&fate, one.base, one.local, one.upstream)
            {
                take_comments(base, local, upstream, editor);
            }
            fates[number] = Some(fate);
        }
        let stays = |number: &usize| !matches!(fates[*number], None | Some(Fate::Gone));
        let kept = |order: &[usize]| -> Vec<usize> {
            order
                .iter()
                .copied()
                .filter(|number| stays(number))
                .collect()
        };
        let (ours, theirs) = (kept(local_order), kept(upstream_order));
        if ours.is_empty() && theirs.is_empty() {
            return self.emptied(trail, versions, node, collection, editor);
        }
        let nothing_new = theirs.iter().all(|number| in_local[*number].is_some());
        let order = match *base_order == *upstream_order && nothing_new {
            // Upstream moved and added nothing.
            true => ours,
            false => self.merged_order(trail, schema, collection, [&ours, &theirs]),
        };
        if order == *local_order {
            return Ok(Fate::Local);
        }
        if collection.is_list && has_comments(node) {
            self.findings.moves_comments = true;
        }
        let parts = order.into_iter().filter_map(|number| {
            let fate = fates[number].take();
            match (fate, in_local[number], in_upstream[number]) {
                (Some(Fate::Upstream(content)), None, Some(at)) => {
                    Some(added_part(&collection.upstream[at], content))
                }
                (_, Some(at), _) => Some(Part::Kept(at)),
                _ => None,
            }
        });
        editor.arrange(node, parts.collect())?;
        Ok(Fate::Local)
    }

    /// The order of the parts that stay. A cycle is one conflict, and the order of its winner stands.
    fn merged_order(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        collection: &Collection<'_, '_>,
        [ours, theirs]: [&[usize]; 2],
    ) -> Vec<usize> {
        let base = &collection.identities[0];
        let winner = self.policy.winner;
        let merged = merge_order(base, ours, theirs, winner);
        if !merged.cycle {
            return merged.order;
        }
        match self.order_conflict(trail, schema, collection) {
            side if side == winner => merged.order,
            side => merge_order(base, ours, theirs, side).order,
        }
    }

    /// Merges an element that is one value.
    fn whole_element<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        versions: Versions<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        let Some(child) = versions.local.or(versions.upstream) else {
            return Ok(Fate::Gone);
        };
        let below = Trail::Index(trail, child.index, child.value, schema.list());
        self.single(&below, versions, editor)
    }

    /// Merges one entry or element.
    fn entry<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        absent: Option<Side>,
        versions: &Versions<'d, 'f>,
        is_list: bool,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        let Versions {
            base,
            local,
            upstream,
        } = *versions;
        let key = local.and_then(|child| child.entry).map(|entry| entry.key);
        let key = key.or(upstream
            .and_then(|child| child.entry)
            .map(|entry| entry.key));
        let below = match (key, local.or(upstream)) {
            (Some(key), _) => Trail::Field(trail, key),
            (None, Some(child)) => Trail::Index(trail, child.index, child.value, schema.list()),
            (None, None) => return Ok(Fate::Gone),
        };
        let name = key.and_then(|key| key.scalar_text()).unwrap_or_default();
        if key.is_some() && schema.keeps_local(name) {
            return Ok(Fate::Local);
        }
        if let (Some(side), None) = (absent, base) {
            // What was added to something that the other side removed as a whole.
            let value = |child: Option<Child<'_>>| child.and_then(|child| child.value.value());
            let keeper = match side {
                Side::Local => Side::Upstream,
                Side::Upstream => Side::Local,
            };
            let values = [None, value(local), value(upstream)];
            let decision = self.decide(&below, keeper);
            let stands = self.say(&below, below.thing(), values, decision);
            return Ok(match (local, upstream) {
                _ if stands != keeper => Fate::Gone,
                (None, Some(upstream)) => Fate::Upstream(Content::Node(upstream.value)),
                _ => Fate::Local,
            });
        }
        let schema = if is_list {
            schema.items()
        } else {
            schema.field(name)
        };
        let elementwise = if is_list {
            Elementwise::IfPresent
        } else {
            Elementwise::Yes
        };
        self.child(&below, schema, elementwise, *versions, editor)
    }

    /// Nothing is left: an explicit empty one of the side that stands stays, else the whole goes.
    fn emptied<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        versions: &Versions<'d, 'f>,
        node: NodeRef<'d>,
        collection: &Collection<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        /// Whether a version holds anything; `None` if it is absent.
        fn filled(child: Option<Child<'_>>) -> Option<bool> {
            let node = child?.value.resolved();
            Some(node.entries().next().is_some() || node.items().next().is_some())
        }
        let Versions {
            base,
            local,
            upstream,
        } = *versions;
        let shapes = [filled(base), filled(local), filled(upstream)];
        let winner = self.policy.winner;
        let mut outcome = rule::merge(shapes[0], shapes[1], shapes[2], winner, |a, b| a == b);
        if outcome.conflict {
            let nodes = [base, upstream].map(|child| child.map(|child| child.value));
            let local = local.map(|child| child.value);
            outcome.side = self.conflict(trail, nodes[0], local, nodes[1]);
        }
        let stands = match outcome.side {
            Side::Local => shapes[1],
            Side::Upstream => shapes[2],
        };
        let is_root = matches!(trail, Trail::Root);
        match (stands, local, upstream) {
            (Some(false), Some(_), _) => {}
            (Some(false), None, Some(upstream)) => {
                return Ok(Fate::Upstream(Content::Node(upstream.value)));
            }
            _ if is_root => {}
            _ => return Ok(Fate::Gone),
        }
        if !collection.local.is_empty() {
            editor.arrange(node, Vec::new())?;
        }
        Ok(Fate::Local)
    }

    /// Takes the version of a side that was decided on elsewhere. `equal`: what both have is the same.
    fn force<'d, 'f>(
        &mut self,
        side: Side,
        versions: &Versions<'d, 'f>,
        equal: bool,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        match (side, versions.local, versions.upstream) {
            (Side::Local, Some(_), _) => Ok(Fate::Local),
            (Side::Upstream, Some(local), Some(upstream)) => {
                if !equal && !same(local.value, upstream.value) {
                    self.findings.moves_comments |= take(versions.base, local, upstream, editor)?;
                }
                Ok(Fate::Local)
            }
            (Side::Upstream, None, Some(upstream)) => {
                Ok(Fate::Upstream(Content::Node(upstream.value)))
            }
            _ => Ok(Fate::Gone),
        }
    }

    fn order_conflict(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        collection: &Collection<'_, '_>,
    ) -> Side {
        fn labels(schema: MergeSchema<'_>, children: &[Child<'_>]) -> Option<Value> {
            let label = |child: &Child<'_>| match child.entry {
                Some(entry) => entry.key.value(),
                None => match identity::of_element(schema.list(), child.value) {
                    Some(identity) => Some(identity.to_value()),
                    None => child
                        .value
                        .get("name")
                        .or(child.value.get("image"))?
                        .value(),
                },
            };
            Some(Value::Sequence(children.iter().filter_map(label).collect()))
        }
        let values = [
            labels(schema, &collection.base),
            labels(schema, &collection.local),
            labels(schema, &collection.upstream),
        ];
        let decision = self.decide(trail, self.policy.winner);
        self.say(trail, Thing::Order, values, decision)
    }
}

/// A part that upstream added.
fn added_part<'f>(child: &Child<'f>, content: Content<'f>) -> Part<'f> {
    match child.entry {
        Some(entry) => Part::Entry(entry, content),
        None => Part::Item(child.value, content),
    }
}
