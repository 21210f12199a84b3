//! The conditions of a PackageVariant, as results and in its `status`.

use std::collections::{HashMap, HashSet};

use krm_core::config::PACKAGE_VARIANT;
use krm_core::resource::{NamespacedName, Resource, namespace_of};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Results};
use krm_core::revision_name::PackageRevisionName;
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_variant::status::{ENSURED, StepsOutcome, write_status};
use krm_yaml::NodeRef;

use super::Variant;

/// The message of `Ready` in the results. It claims only what this run has checked.
pub(super) fn ready(supplied: &Supplied) -> String {
    match supplied
        .one(Role::Upstream)
        .and_then(SuppliedPackage::upstream)
    {
        Some(upstream) => {
            let (name, id) = (upstream.name(), upstream.id());
            format!("the package is rendered from `{name}`, {id}")
        }
        None => "the package is rendered".to_owned(),
    }
}

/// Writes the `status` of the PackageVariant if it is among the items.
pub(super) fn write(
    variant: &Variant<'_>,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) {
    let Some(id) = variant.own_item(list) else {
        return;
    };
    let lists = std::iter::once(&*list).chain(supplied.resources().map(SuppliedPackage::list));
    let uid = variant.config.get_path(&["metadata", "uid"]);
    let downstream = variant.typed.spec.downstream.as_ref();
    let repository = downstream.and_then(|downstream| downstream.repo.as_deref());
    let place = (repository.unwrap_or_default(), variant.package());
    let uid = uid.and_then(|uid| uid.as_str());
    let targets = ListedRevisions::read(lists).targets(&variant.resource, uid, place);
    let conditions = StepsOutcome::Ready.conditions(ENSURED);
    let outcome = list.edit(id, |root, editor| {
        write_status(root, &conditions, &targets, editor)
    });
    if let Err(error) = outcome {
        let result = FunctionResult::refused(&error);
        results.push(result.with_resource(list.resource(id)).with_field("status"));
    }
}

/// A PackageRevision of a cluster.
#[derive(Debug)]
struct ListedRevision {
    name: String,
    lifecycle: String,
    /// The numbers in `v1`, `1` or `v1.2.3`.
    revision: Vec<u64>,
    /// The names and uids of the PackageVariants that own it.
    owners: Vec<(String, Option<String>)>,
}

/// The PackageRevisions among cluster resources, by namespace, repository and package.
#[derive(Debug, Default)]
pub struct ListedRevisions(HashMap<[String; 3], Vec<ListedRevision>>);

impl ListedRevisions {
    /// Reads the PackageRevisions of some lists. If several lists have one of a name, the first list wins.
    pub fn read<'l>(lists: impl Iterator<Item = &'l ResourceList>) -> Self {
        let mut all = Self::default();
        let mut known: HashSet<NamespacedName> = HashSet::new();
        for list in lists {
            for (id, resource) in list.items() {
                if resource.kind.as_ref() != "PackageRevision"
                    || resource.group() != "porch.kpt.dev"
                {
                    continue;
                }
                let (place, revision) = list.read(id, |node| ListedRevision::read(resource, node));
                let name = NamespacedName::new(resource.namespace.as_deref(), &revision.name);
                if known.insert(name) {
                    all.0.entry(place).or_default().push(revision);
                }
            }
        }
        all
    }

    /// The names of the drafts and proposed revisions of a PackageVariant; if there are none, the name of its latest
    /// published revision. `uid` is the uid of the PackageVariant, if it has one.
    pub fn targets(
        &self,
        resource: &Resource,
        uid: Option<&str>,
        (repository, package): (&str, &str),
    ) -> Vec<String> {
        let namespace = namespace_of(resource.namespace.as_deref());
        let place = [namespace, repository, package].map(str::to_owned);
        let name = resource.name.as_deref().unwrap_or_default();
        let is_owner = |(owner, theirs): &(String, Option<String>)| {
            let uids = uid.zip(theirs.as_deref());
            owner == name && uids.is_none_or(|(own, theirs)| own == theirs)
        };
        let all = self.0.get(&place).map_or(&[][..], Vec::as_slice).iter();
        let owned = all.filter(|revision| revision.owners.iter().any(is_owner));
        let is_open =
            |revision: &&ListedRevision| matches!(&*revision.lifecycle, "Draft" | "Proposed");
        let mut targets: Vec<&ListedRevision> = owned.clone().filter(is_open).collect();
        if targets.is_empty() {
            let published = owned.filter(|revision| revision.lifecycle == "Published");
            targets.extend(published.max_by(|a, b| a.revision.cmp(&b.revision)));
        }
        targets.sort_by(|a, b| a.name.cmp(&b.name));
        targets
            .iter()
            .map(|revision| revision.name.clone())
            .collect()
    }
}

impl ListedRevision {
    /// A PackageRevision, with its namespace, repository and package.
    fn read(resource: &Resource, node: NodeRef<'_>) -> ([String; 3], Self) {
        let named = PackageRevisionName::read(node);
        let namespace = namespace_of(resource.namespace.as_deref()).to_owned();
        let owners = node.get_path(&["metadata", "ownerReferences"]);
        let owners = owners.iter().flat_map(NodeRef::items).filter_map(|owner| {
            let field = |name: &str| owner.get(name).and_then(|value| value.as_str());
            let (group, _) = field("apiVersion")?.split_once('/')?;
            let is_variant = field("kind") == Some(PACKAGE_VARIANT.1) && group == GROUP;
            let uid = field("uid").map(str::to_owned);
            is_variant.then_some((field("name")?.to_owned(), uid))
        });
        let lifecycle = node.get_path(&["spec", "lifecycle"]);
        let revision = named.revision.unwrap_or_default();
        let numbers = revision.trim_start_matches('v').split('.');
        let revision = Self {
            name: resource.name.as_deref().unwrap_or_default().to_owned(),
            lifecycle: lifecycle
                .and_then(|text| text.scalar_text())
                .unwrap_or_default()
                .to_owned(),
            revision: numbers.map_while(|number| number.parse().ok()).collect(),
            owners: owners.collect(),
        };
        let [repository, package] =
            [named.repository, named.package].map(Option::unwrap_or_default);
        ([namespace, repository, package], revision)
    }
}

/// The group of PackageVariants.
const GROUP: &str = "config.porch.kpt.dev";
