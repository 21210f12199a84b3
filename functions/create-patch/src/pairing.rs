//! Finds the live resource and the previous configuration of each configuration.
//!
//! Source: contract, apply-config.

use std::collections::{BTreeSet, HashMap, HashSet};

use krm_core::resource::{Resource, is_local_config, namespace_of};
use krm_core::resource_list::{ItemId, MOST_ADDED, RefusedWalks, ResourceList};
use krm_core::results::{FunctionResult, LAST_APPLIED, Reason, Results, listed};
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_package::parallel;
use krm_patch::last_applied::LastApplied;
use krm_patch::node::{Node, adds_at_most};
use krm_patch::target::{Index, Matches};
use krm_yaml::{EditError, NodeRef, Path};

/// A configuration with its live resource and its previous configuration.
pub struct Pair<'a> {
    pub id: ItemId,
    pub config: NodeRef<'a>,
    pub live: Option<NodeRef<'a>>,
    previous: Option<Previous<'a>>,
}

enum Previous<'a> {
    Given(NodeRef<'a>),
    LastApplied(Box<LastApplied>),
}

impl Pair<'_> {
    /// The previous configuration; `None` if there is none.
    pub fn original(&self) -> Option<Node<'_>> {
        self.previous.as_ref().map(|previous| match previous {
            Previous::Given(node) => Node::Text(*node),
            Previous::LastApplied(applied) => applied.node(),
        })
    }
}

/// How many outcomes are in memory at a time. Most outcomes have results, and only a few of these are kept.
const AT_A_TIME: usize = 1 << 13;

/// Calls `each` for each configuration among the items, with its live resource and previous configuration, and
/// returns the outcomes in the order of the items. A configuration that cannot be paired is an error result. The
/// results of pairing come before those of `each`.
///
/// Several threads process long inputs, and each thread holds the trees of one pair at a time.
pub fn each_pair<T: Send>(
    list: &ResourceList,
    supplied: &Supplied,
    results: &mut Results,
    each: impl Fn(&Pair<'_>, &mut Results) -> T + Sync,
) -> Vec<T> {
    let supplied_lists = [Role::Live, Role::Original].into_iter();
    let supplied_lists =
        supplied_lists.flat_map(|role| supplied.of(role).map(SuppliedPackage::list));
    let walked: Vec<&ResourceList> = std::iter::once(list).chain(supplied_lists).collect();
    let pairing = LivePairing {
        list,
        live: SuppliedResources::of(supplied, Role::Live),
        original: SuppliedResources::of(supplied, Role::Original),
        refused_walks: RefusedWalks::of(&walked),
        walked,
    };
    for (_, found) in list.items().filter(|(_, resource)| resource.is_list()) {
        let message = "the resources in this List are left out; write them as documents";
        results.push(FunctionResult::warning(Reason::SkippedFile, message).with_resource(found));
    }
    let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
    let length = |id: &ItemId| list.text_of(*id).len();
    let mut taken: HashMap<ItemId, ItemId> = HashMap::new();
    let (mut later, mut all) = (Results::default(), Vec::new());
    let outcomes = ids.chunks(AT_A_TIME).flat_map(|ids| {
        let outcomes = parallel::map(ids, length, |id| pairing.pair(*id, &each));
        ids.iter().copied().zip(outcomes)
    });
    for (id, outcome) in outcomes {
        let take = |live: ItemId| taken.insert(live, id).map(|other| (live, other));
        if let Some((_, other)) = outcome.live.and_then(take) {
            results.push(is_taken(list.resource(id), list.resource(other)));
            continue;
        }
        results.append(outcome.pairing);
        later.append(outcome.results);
        all.extend(outcome.made);
    }
    results.append(later);
    all
}

/// Calls `each` for the live resources that have a configuration in the role `original` but none among the items, in
/// the order of the live resources.
pub(super) fn each_removed<T>(
    list: &ResourceList,
    supplied: &Supplied,
    each: impl Fn(&Resource, NodeRef<'_>) -> T,
) -> Vec<T> {
    let live = SuppliedResources::of(supplied, Role::Live);
    // If two live resources match, pairing has already reported the error.
    let find = |resource| live.find(resource, &mut Results::default()).ok().flatten();
    let place = |(list, id): SuppliedResource<'_>| (std::ptr::from_ref(list), id);
    let wanted = list.items().filter_map(|(_, resource)| find(resource));
    let wanted: HashSet<_> = wanted.map(place).collect();
    let mut removed = HashSet::new();
    for original in supplied.of(Role::Original).map(SuppliedPackage::list) {
        for (id, resource) in original.items() {
            let found = find(resource).map(place);
            if original.read(id, |node| is_config(resource, node)) {
                removed.extend(found.filter(|found| !wanted.contains(found)));
            }
        }
    }
    let packages = live.packages.iter();
    let lists = packages.map(|(package, _)| package.list());
    let all = lists.flat_map(|list| list.items().map(move |(id, _)| (list, id)));
    let removed = all.filter(|found| removed.contains(&place(*found)));
    removed
        .map(|(list, id)| list.read(id, |node| each(list.resource(id), node.resolved())))
        .collect()
}

/// The error for a configuration whose live resource belongs to another configuration.
fn is_taken(resource: &Resource, other: &Resource) -> FunctionResult {
    let file = other.origin.path.as_deref().unwrap_or("an item");
    let message =
        format!("expected one configuration for a live resource, found another in `{file}`");
    FunctionResult::error(Reason::DuplicateResource, message).with_resource(resource)
}

/// The outcome for one item.
struct PairOutcome<T> {
    /// The live resource of the configuration.
    live: Option<ItemId>,
    pairing: Results,
    results: Results,
    /// `None` for an item that is not a configuration, or cannot be paired.
    made: Option<T>,
}

struct LivePairing<'a> {
    list: &'a ResourceList,
    live: SuppliedResources<'a>,
    original: SuppliedResources<'a>,
    /// All these lists, and their items that are too long to be walked.
    walked: Vec<&'a ResourceList>,
    refused_walks: RefusedWalks,
}

impl LivePairing<'_> {
    /// The error of an item that is too long to be walked.
    fn refused(&self, list: &ResourceList, id: ItemId) -> Option<&FunctionResult> {
        let mut lists = self.walked.iter();
        let at = lists.position(|walked| std::ptr::eq(*walked, list))?;
        self.refused_walks.get(at, id)
    }

    fn pair<T>(&self, id: ItemId, each: &impl Fn(&Pair<'_>, &mut Results) -> T) -> PairOutcome<T> {
        let mut outcome = PairOutcome {
            live: None,
            pairing: Results::default(),
            results: Results::default(),
            made: None,
        };
        self.list.read(id, |config| {
            let resource = self.list.resource(id);
            if !is_config(resource, config) {
                return;
            }
            let pairing = &mut outcome.pairing;
            if let Some(refused) = self.refused(self.list, id) {
                pairing.push(refused.clone());
                return;
            }
            // The configuration is written out in full, at least into the annotation, so its size is limited.
            if !adds_at_most(MOST_ADDED, config) {
                let refused = FunctionResult::refused(&EditError::TooLarge);
                pairing.push(refused.with_resource(resource));
                return;
            }
            let Ok(live) = self.live.find(resource, pairing) else {
                return;
            };
            let Ok(original) = self.original.find(resource, pairing) else {
                return;
            };
            read(live, |live_node| {
                read(original, |original_node| {
                    let mut found = [live, original].into_iter().flatten();
                    if let Some(refused) = found.find_map(|(list, id)| self.refused(list, id)) {
                        outcome.pairing.push(refused.clone());
                        return;
                    }
                    outcome.live = live.map(|(_, id)| id);
                    let previous =
                        previous(resource, live_node, original_node, &mut outcome.pairing);
                    let Ok(previous) = previous else { return };
                    let pair = Pair {
                        id,
                        config,
                        live: live_node,
                        previous,
                    };
                    outcome.made = Some(each(&pair, &mut outcome.results));
                });
            });
        });
        outcome
    }
}

fn previous<'n>(
    resource: &Resource,
    live: Option<NodeRef<'_>>,
    original: Option<NodeRef<'n>>,
    results: &mut Results,
) -> Result<Option<Previous<'n>>, ()> {
    if let Some(node) = original {
        return Ok(Some(Previous::Given(node)));
    }
    let Some(live) = live else {
        return Ok(None);
    };
    let applied = read_last_applied(live, resource, results)?;
    Ok(applied.map(|applied| Previous::LastApplied(Box::new(applied))))
}

type SuppliedResource<'a> = (&'a ResourceList, ItemId);

fn read<T>(found: Option<SuppliedResource<'_>>, read: impl FnOnce(Option<NodeRef<'_>>) -> T) -> T {
    match found {
        Some((list, id)) => list.read(id, |node| read(Some(node.resolved()))),
        None => read(None),
    }
}

/// Whether an item is a configuration: it has a name, and is neither a Kptfile nor local config.
pub(super) fn is_config(resource: &Resource, node: NodeRef<'_>) -> bool {
    let complete = !resource.api_version.is_empty() && !resource.kind.is_empty();
    complete && resource.name.is_some() && !resource.is_kptfile() && !is_local_config(node)
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
        results.push(result.with_resource(resource));
        return Ok(None);
    };
    LastApplied::read(text).map(Some).map_err(|error| {
        let message = format!("expected JSON in the live resource's annotation: {error}");
        let result = FunctionResult::error(Reason::InvalidLastApplied, message);
        let result = result.with_resource(resource);
        results.push(result.with_field(Path::fields(&path)));
    })
}

/// The resources of a role, indexed by name.
struct SuppliedResources<'a> {
    packages: Vec<(&'a SuppliedPackage, Index)>,
    role: Role,
}

impl<'a> SuppliedResources<'a> {
    fn of(supplied: &'a Supplied, role: Role) -> Self {
        let packages = supplied.of(role);
        Self {
            packages: packages
                .map(|package| (package, Index::of(package.list())))
                .collect(),
            role,
        }
    }

    /// The resource with the identity of a configuration; `None` if there is none, an error result if there are
    /// several.
    fn find(
        &self,
        resource: &Resource,
        results: &mut Results,
    ) -> Result<Option<SuppliedResource<'a>>, ()> {
        for (package, index) in &self.packages {
            let list = package.list();
            match index.find(resource) {
                Matches::None => {}
                Matches::One(id) => return Ok(Some((list, id))),
                Matches::Several(ids) => {
                    let found = ids.iter().map(|id| list.resource(*id));
                    let places = found.clone().map(|found| package.place_of(found));
                    let namespaces = found.map(|found| namespace_of(found.namespace.as_deref()));
                    let namespaces: HashSet<&str> = namespaces.collect();
                    let next = match namespaces.len() {
                        1 => "keep one of them",
                        _ => "name the namespace",
                    };
                    let message = format!(
                        "role `{}`: expected one resource for the configuration, found {}: {}; {next}",
                        self.role,
                        ids.len(),
                        listed(places.collect::<BTreeSet<_>>()),
                    );
                    let result = FunctionResult::error(Reason::Ambiguous, message);
                    results.push(result.with_resource(resource));
                    return Err(());
                }
            }
        }
        Ok(None)
    }
}
