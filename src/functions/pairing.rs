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

/// Pairs all configurations among the items. One that cannot be paired is an error result.
pub(super) fn pairs<'a>(
    list: &'a ResourceList,
    supplied: &'a Supplied,
    results: &mut Results,
) -> Vec<Pair<'a>> {
    let live = SuppliedResources::of(supplied, Role::Live);
    let original = SuppliedResources::of(supplied, Role::Original);
    let mut taken: HashMap<ItemId, ItemId> = HashMap::new();
    let mut pairs = Vec::new();
    for (id, resource) in list.items() {
        let config = list.node(id);
        if !is_config(resource, config) {
            continue;
        }
        if !is_bounded(config) {
            results.push(unbounded(resource));
            continue;
        }
        let Ok(live) = live.find(resource, results) else {
            continue;
        };
        let Ok(previous) = original.find(resource, results) else {
            continue;
        };
        if let Some((live_id, _)) = live
            && let Some(other) = taken.insert(live_id, id)
        {
            let other = list.resource(other);
            let file = other.origin.path.as_deref().unwrap_or("an item");
            let message = format!(
                "expected one configuration for a live resource, found another in `{file}`"
            );
            let result = FunctionResult::error(Reason::DuplicateResource, message);
            results.push(result.about(resource));
            continue;
        }
        let live = live.map(|(_, node)| node);
        let previous = match previous {
            Some((_, node)) => Some(Previous::Given(node)),
            None => match live.map(|live| read_last_applied(live, resource, results)) {
                Some(Ok(applied)) => {
                    applied.map(|applied| Previous::LastApplied(Box::new(applied)))
                }
                Some(Err(())) => continue,
                None => None,
            },
        };
        pairs.push(Pair {
            id,
            config,
            live,
            previous,
        });
    }
    pairs
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
    fn find(
        &self,
        resource: &Resource,
        results: &mut Results,
    ) -> Result<Option<(ItemId, NodeRef<'a>)>, ()> {
        for (list, index) in &self.lists {
            match index.find(resource) {
                Matches::None => {}
                Matches::One(id) => {
                    let node = list.node(id).resolved();
                    if is_bounded(node) {
                        return Ok(Some((id, node)));
                    }
                    results.push(unbounded(list.resource(id)));
                    return Err(());
                }
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
