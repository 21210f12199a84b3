//! The places in which two versions of a resource differ.
//!
//! If the schema gives the elements of a list an identity, elements with the same identity are compared. Any other list
//! is compared as one value. In resources that the built-in schema lacks, most lists have no identities, so the mappings
//! in them are paired as a merge pairs them, and visited too. Below a value that was added or removed,
//! each part is visited too, because a rule can be about any of them.

use krm_core::diff::common_ends;
use krm_core::schema::{Identity, ListType, TypeRef};
use krm_merge::compare::{PartPair, in_new_order, pair_elements, pair_entries};
use krm_yaml::{NodeKind, NodeRef, Path, PathElement};

/// A step from a node to one below it.
#[derive(Debug, Clone)]
pub(super) enum PathStep<'n> {
    /// The value of a field.
    Field(&'n str),
    /// An element of a list.
    Element {
        /// Its position after the change, or before it if the element was removed.
        index: usize,
        /// What distinguishes it from the other elements. `None` if the list is compared as one value.
        identity: Option<Identity<'n>>,
    },
}

/// A place that differs.
pub(super) struct DifferingPlace<'p, 'n> {
    pub(super) steps: &'p [PathStep<'n>],
    pub(super) before: Option<NodeRef<'n>>,
    pub(super) after: Option<NodeRef<'n>>,
    /// Whether the nearest list element above the place, or the resource, exists before and after.
    pub(super) owner_remains: bool,
    /// Whether nothing below it is visited.
    pub(super) is_leaf: bool,
}

pub(super) fn path(steps: &[PathStep<'_>]) -> Path {
    steps.iter().fold(Path::root(), |path, step| {
        path.child(match step {
            PathStep::Field(name) => PathElement::Field((*name).to_owned()),
            PathStep::Element { index, .. } => PathElement::Index(*index),
        })
    })
}

/// The node, unless it is null. Null counts as absent.
pub(super) fn given(node: Option<NodeRef<'_>>) -> Option<NodeRef<'_>> {
    node.filter(|node| !node.is_null())
}

/// The elements of a list. None without a list.
pub(super) fn items(list: Option<NodeRef<'_>>) -> impl Iterator<Item = NodeRef<'_>> {
    let items = given(list).into_iter().flat_map(|list| list.items());
    items.map(|item| item.resolved())
}

/// The elements of a list of strings. None without a list.
pub(super) fn strings(list: Option<NodeRef<'_>>) -> Vec<&str> {
    items(list).filter_map(|item| item.value_text()).collect()
}

/// Whether a value has fields or elements.
pub(super) fn has_parts(node: &NodeRef<'_>) -> bool {
    let mut fields = node.entries();
    fields.any(|entry| given(Some(entry.value.resolved())).is_some())
        || node.items().next().is_some()
}

/// The text of a scalar. `None` for null and for other nodes.
pub(super) fn text(node: Option<NodeRef<'_>>) -> Option<&str> {
    given(node)?.value_text()
}

/// Whether this is the boolean true, in any spelling. A string is none.
pub(super) fn is_true(node: Option<NodeRef<'_>>) -> bool {
    is_boolean(node, "true")
}

/// Whether this is the boolean false, in any spelling.
pub(super) fn is_false(node: Option<NodeRef<'_>>) -> bool {
    is_boolean(node, "false")
}

fn is_boolean(node: Option<NodeRef<'_>>, expected: &str) -> bool {
    let value = given(node).filter(|node| node.as_str().is_none());
    value.is_some_and(|value| value.value_text() == Some(expected))
}

/// Gets a place, and whether a finding above or below it shows what the change is. Returns whether a finding at the
/// place does.
type VisitPlace<'v, 'n> = dyn FnMut(&DifferingPlace<'_, 'n>, bool) -> bool + 'v;

/// Visits the places in which two values differ.
pub(super) struct DiffWalk<'v, 'n> {
    pub(super) visit: &'v mut VisitPlace<'v, 'n>,
    pub(super) steps: Vec<PathStep<'n>>,
}

impl<'n> DiffWalk<'_, 'n> {
    /// Visits a value that differs, and what differs below it. Returns whether there is a finding about any of them.
    pub(super) fn value(
        &mut self,
        sides: PartPair<NodeRef<'n>>,
        schema: Option<TypeRef<'n>>,
        owner_remains: bool,
        is_found: bool,
    ) -> bool {
        let [before, after] = sides;
        let below = match self.steps.last() {
            Some(PathStep::Element { .. }) => before.is_some() && after.is_some(),
            _ => owner_remains,
        };
        let all = |is: fn(&NodeRef<'_>) -> bool| sides.iter().flatten().all(is);
        let list = schema.map_or(ListType::Atomic, TypeRef::list);
        let is_one_sided = before.is_none() || after.is_none();
        let is_mapping = all(|node| node.kind().is_mapping());
        let is_sequence = all(|node| node.kind().is_sequence());
        let is_list = is_sequence && (is_one_sided || !matches!(list, ListType::Atomic));
        let is_builtin = schema.is_some_and(TypeRef::is_builtin);
        let is_unkeyed = is_sequence && !is_list && !is_builtin && all(has_mappings);
        // The list is counted as one change, unless a finding shows what changes in it.
        let is_inside = is_unkeyed && self.elements(sides, schema, None, below, true);
        let place = DifferingPlace {
            steps: &self.steps,
            before,
            after,
            owner_remains,
            is_leaf: !is_mapping && !is_list || is_one_sided && !all(has_parts),
        };
        let is_here = (self.visit)(&place, is_found || is_inside);
        let is_found = is_found || is_here;
        let is_below = if is_mapping {
            self.entries(sides, schema, below, is_found)
        } else {
            is_list && self.elements(sides, schema, Some(list), below, is_found)
        };
        is_here || is_below || is_inside
    }

    fn entries(
        &mut self,
        sides: PartPair<NodeRef<'n>>,
        schema: Option<TypeRef<'n>>,
        owner_remains: bool,
        is_found: bool,
    ) -> bool {
        let mut is_below = false;
        for (name, sides) in pair_entries(sides) {
            let schema = schema.and_then(|schema| schema.field(name));
            let sides = sides.map(|side| given(side.map(|node| node.resolved())));
            if NodeRef::same(sides[0], sides[1]) {
                continue;
            }
            self.steps.push(PathStep::Field(name));
            is_below |= self.value(sides, schema, owner_remains, is_found);
            self.steps.pop();
        }
        is_below
    }

    fn elements(
        &mut self,
        [before, after]: PartPair<NodeRef<'n>>,
        schema: Option<TypeRef<'n>>,
        list: Option<ListType<'n>>,
        owner_remains: bool,
        is_found: bool,
    ) -> bool {
        let list = list.unwrap_or(ListType::Atomic);
        let items = |node: Option<NodeRef<'n>>| items(node).collect::<Vec<_>>();
        let (old, new) = (items(before), items(after));
        let both = before.zip(after);
        let same = both.map_or_else(Vec::new, |(before, after)| {
            pair_elements(list, before, after)
        });
        let schema = schema.and_then(TypeRef::items);
        let mut is_below = false;
        for [was, is] in in_new_order(&same, [old.len(), new.len()]) {
            let sides = [was.map(|at| old[at]), is.map(|at| new[at])];
            let index = is.or(was).unwrap_or_default();
            if NodeRef::same(sides[0], sides[1]) {
                continue;
            }
            // An element of a list without keys has none.
            let identity = sides[1].or(sides[0]).and_then(|item| list.identity(item));
            self.steps.push(PathStep::Element { index, identity });
            is_below |= self.value(sides, schema, owner_remains, is_found);
            self.steps.pop();
        }
        is_below
    }
}

fn has_mappings(list: &NodeRef<'_>) -> bool {
    list.items().all(|item| item.resolved().kind().is_mapping())
}

/// The way to the place in which two values differ, its last step first, and its value on both sides. If they differ in
/// several places, it is the nearest mapping or list around these. Each pair of nodes is compared once. One side has no value where a field or an element was added or removed.
pub(super) fn difference<'n>(
    before: NodeRef<'n>,
    after: NodeRef<'n>,
) -> Option<(Vec<PathElement>, PartPair<NodeRef<'n>>)> {
    let [before, after] = [before, after].map(|node| node.resolved());
    let here = (Vec::new(), [Some(before), Some(after)]);
    let all = |is: fn(NodeKind) -> bool| is(before.kind()) && is(after.kind());
    let parts = if all(NodeKind::is_mapping) {
        let both = pair_entries([Some(before), Some(after)]).into_iter();
        both.map(|(name, sides)| (PathElement::Field(name.to_owned()), sides))
            .collect()
    } else if all(NodeKind::is_sequence) {
        match items_of_both(before, after) {
            Some(parts) => parts,
            None => return Some(here),
        }
    } else {
        return (!before.equals(&after)).then_some(here);
    };
    let mut found = None;
    for (step, sides) in parts {
        let below = match sides {
            [Some(before), Some(after)] => difference(before, after),
            sides => Some((Vec::new(), sides)),
        };
        let Some((mut way, sides)) = below else {
            continue;
        };
        way.push(step);
        if found.replace((way, sides)).is_some() {
            return Some(here);
        }
    }
    found
}

/// The elements by their positions; in lists of other lengths, the one element that only one of them has. `None` if there
/// are several.
fn items_of_both<'n>(
    before: NodeRef<'n>,
    after: NodeRef<'n>,
) -> Option<Vec<(PathElement, PartPair<NodeRef<'n>>)>> {
    let [old, new] = [before, after].map(|list| items(Some(list)).collect::<Vec<_>>());
    if old.len() == new.len() {
        let both = old.into_iter().zip(new).enumerate();
        let both = both.map(|(at, (old, new))| (PathElement::Index(at), [Some(old), Some(new)]));
        return Some(both.collect());
    }
    let (head, tail) = common_ends(&old, &new, |old, new| old.equals(new));
    let sides = match (&old[head..old.len() - tail], &new[head..new.len() - tail]) {
        ([], [added]) => [None, Some(*added)],
        ([gone], []) => [Some(*gone), None],
        _ => return None,
    };
    Some(vec![(PathElement::Index(head), sides)])
}

/// The value to which the same steps lead in another version of the resource. A list that is compared as one value is
/// returned itself.
pub(super) fn follow<'o>(
    steps: &[PathStep<'_>],
    root: Option<NodeRef<'o>>,
    schema: Option<TypeRef<'_>>,
) -> Option<NodeRef<'o>> {
    let (mut node, mut schema) = (root?.resolved(), schema);
    for step in steps {
        match step {
            PathStep::Field(name) => {
                let mut entries = node.entries();
                let entry = entries.find(|entry| entry.key.field_name() == *name)?;
                node = entry.value.resolved();
                schema = schema.and_then(|schema| schema.field(name));
            }
            PathStep::Element { identity: None, .. } => return Some(node),
            PathStep::Element {
                identity: Some(identity),
                ..
            } => {
                let list = schema.map_or(ListType::Atomic, TypeRef::list);
                let is_it = |item: &NodeRef<'_>| list.identity(*item).as_ref() == Some(identity);
                node = node.items().find(is_it)?.resolved();
                schema = schema.and_then(TypeRef::items);
            }
        }
    }
    given(Some(node))
}

/// The steps up to the first list that is compared as one value.
pub(super) fn comparable<'s, 'n>(steps: &'s [PathStep<'n>]) -> &'s [PathStep<'n>] {
    let is_one = |step: &PathStep<'_>| matches!(step, PathStep::Element { identity: None, .. });
    let end = steps.iter().position(is_one);
    &steps[..end.unwrap_or(steps.len())]
}
