//! Which live resource and which previous configuration belong to each configuration.
//!
//! Source: contract, apply-config.

use std::collections::HashMap;

use crate::patch::finding::unbounded;
use crate::patch::last_applied::LastApplied;
use crate::patch::node::{Node, is_bounded};
use crate::patch::target::{Index, Matches};
use crate::resource::{LOCAL_CONFIG_ANNOTATION, Resource};
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, LAST_APPLIED, Reason, Results};
use crate::supplied::{Role, Supplied};
use crate::yaml::{NodeRef, Path};

/// A configuration with its live resource and its previous configuration.
pub(super) struct Pair<'a> {
    pub(super) id: ItemId,
    pub(super) config: NodeRef<'a>,
    pub(super) live: Option<NodeRef<'a>>,
    previous: Option<Previous<'a>>,
}

enum Previous<'a> {
    Given(NodeRef<'a>),
    LastApplied(Box<LastApplied>),
}

impl Pair<'_> {
    /// The previous configuration.
    pub(super) fn original(&self) -> Option<Node<'_>> {
        self.previous.as_ref().map(|previous| match previous {
            Previous::Given(node) => Node::Text(*node),
            Previous::LastApplied(applied) => applied.node(),
        })
    }
}

/// Hands each configuration among the items to `each`, with what belongs to it. One that cannot be paired is an error
/// result. The results of pairing come before those of `each`.
///
/// One pair at a time has trees.
pub(super) fn for_each_pair(
    list: &ResourceList,
    supplied: &Supplied,
    results: &mut Results,
    mut each: impl FnMut(&Pair<'_>, &mut Results),
) {
    let mut later = Results::default();
    let mut pairing = Pairing {
        list,
        live: SuppliedResources::of(supplied, Role::Live),
        original: SuppliedResources::of(supplied, Role::Original),
        taken: HashMap::new(),
        results,
    };
    for (id, _) in list.items() {
        list.read(id, |config| {
            pairing.pair(id, config, &mut |pair| each(pair, &mut later));
        });
    }
    later.iter().for_each(|result| results.push(result.clone()));
}

/// Pairs one configuration after the other.
struct Pairing<'a> {
    list: &'a ResourceList,
    live: SuppliedResources<'a>,
    original: SuppliedResources<'a>,
    /// The configuration of each live resource.
    taken: HashMap<ItemId, ItemId>,
    results: &'a mut Results,
}

impl Pairing<'_> {
    fn pair(&mut self, id: ItemId, config: NodeRef<'_>, each: &mut dyn FnMut(&Pair<'_>)) {
        let resource = self.list.resource(id);
        if !is_config(resource, config) {
            return;
        }
        if !is_bounded(config) {
            self.results.push(unbounded(resource));
            return;
        }
        let Ok(live) = self.live.find(resource, self.results) else {
            return;
        };
        let Ok(original) = self.original.find(resource, self.results) else {
            return;
        };
        read(live, |live_node| {
            read(original, |original_node| {
                let found = [(live, live_node), (original, original_node)];
                let unbound = found.iter().find(|(_, node)| !node.is_none_or(is_bounded));
                if let Some((Some((list, id)), _)) = unbound {
                    self.results.push(unbounded(list.resource(*id)));
                    return;
                }
                if live.is_some_and(|(_, live)| !self.take(live, id)) {
                    return;
                }
                let Ok(previous) = self.previous(resource, live_node, original_node) else {
                    return;
                };
                each(&Pair {
                    id,
                    config,
                    live: live_node,
                    previous,
                });
            });
        });
    }

    /// Gives a live resource to a configuration; false if another has it.
    fn take(&mut self, live: ItemId, id: ItemId) -> bool {
        let Some(other) = self.taken.insert(live, id) else {
            return true;
        };
        let other = self.list.resource(other);
        let file = other.origin.path.as_deref().unwrap_or("an item");
        let message =
            format!("expected one configuration for a live resource, found another in `{file}`");
        let result = FunctionResult::error(Reason::DuplicateResource, message);
        self.results.push(result.about(self.list.resource(id)));
        false
    }

    fn previous<'n>(
        &mut self,
        resource: &Resource,
        live: Option<NodeRef<'_>>,
        original: Option<NodeRef<'n>>,
    ) -> Result<Option<Previous<'n>>, ()> {
        if let Some(node) = original {
            return Ok(Some(Previous::Given(node)));
        }
        let Some(live) = live else {
            return Ok(None);
        };
        let applied = read_last_applied(live, resource, self.results)?;
        Ok(applied.map(|applied| Previous::LastApplied(Box::new(applied))))
    }
}

/// A supplied resource.
type Found<'a> = (&'a ResourceList, ItemId);

fn read<T>(found: Option<Found<'_>>, read: impl FnOnce(Option<NodeRef<'_>>) -> T) -> T {
    match found {
        Some((list, id)) => list.read(id, |node| read(Some(node.resolved()))),
        None => read(None),
    }
}

/// Whether an item is a configuration: not a Kptfile, not local config, and with a name.
pub(super) fn is_config(resource: &Resource, node: NodeRef<'_>) -> bool {
    let local = ["metadata", "annotations", LOCAL_CONFIG_ANNOTATION];
    let local = node.get_path(&local).and_then(|value| value.scalar_text());
    let complete = !resource.api_version.is_empty() && !resource.kind.is_empty();
    complete
        && resource.name.is_some()
        && !resource.is_kptfile()
        && local.is_none_or(|local| local == "false")
}

fn read_last_applied(
    live: NodeRef<'_>,
    resource: &Resource,
    results: &mut Results,
) -> Result<Option<LastApplied>, ()> {
    let path = ["metadata", "annotations", LAST_APPLIED];
    let Some(text) = live.get_path(&path).and_then(|value| value.as_str()) else {
        let message = format!(
            "expected the annotation `{LAST_APPLIED}` on the live resource, or the role `original`, \
             found neither: nothing is deleted"
        );
        let result = FunctionResult::warning(Reason::NoLastApplied, message);
        results.push(result.about(resource));
        return Ok(None);
    };
    LastApplied::read(text).map(Some).map_err(|error| {
        let message = format!("expected JSON in the live resource's annotation: {error}");
        let result = FunctionResult::error(Reason::InvalidLastApplied, message);
        results.push(result.about(resource).at(Path::fields(&path)));
    })
}

/// A supplied input with its resources by name.
struct SuppliedResources<'a> {
    lists: Vec<(&'a ResourceList, Index)>,
    role: Role,
}

impl<'a> SuppliedResources<'a> {
    fn of(supplied: &'a Supplied, role: Role) -> Self {
        let lists = supplied.of(role).map(|package| package.list());
        Self {
            lists: lists.map(|list| (list, Index::of(list))).collect(),
            role,
        }
    }

    /// The resource with the identity of a configuration.
    fn find(&self, resource: &Resource, results: &mut Results) -> Result<Option<Found<'a>>, ()> {
        for (list, index) in &self.lists {
            match index.find(resource) {
                Matches::None => {}
                Matches::One(id) => return Ok(Some((*list, id))),
                Matches::Several(ids) => {
                    let message = format!(
                        "role `{}`: expected one resource for the configuration, found {}; name the namespace",
                        self.role,
                        ids.len()
                    );
                    let result = FunctionResult::error(Reason::Ambiguous, message);
                    results.push(result.about(resource));
                    return Err(());
                }
            }
        }
        Ok(None)
    }
}
