//! Finds the existing PackageVariants and their owners.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::RandomState;

use indexmap::IndexMap;

use super::GROUP;
use krm_core::config::PACKAGE_VARIANT;
use krm_core::resource::NamespacedName;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_variant::fan_out::Set;
use krm_variant::naming::label_value;
use krm_variant::package_variant_set::KIND;
use krm_yaml::NodeRef;

/// The label of a PackageVariant that names the set that owns it.
pub(super) const OWNER_LABEL: &str = "config.porch.kpt.dev/packagevariantset";

#[derive(Default)]
pub(super) struct Fleet {
    members: IndexMap<NamespacedName, FleetMember, RandomState>,
    /// Indexes of members by namespace, and by each name or uid of an owner.
    by_owner: HashMap<NamespacedName, Vec<usize>>,
}

pub(super) struct FleetMember {
    pub(super) item: ItemId,
    /// Another item with the same identity.
    pub(super) other: Option<ItemId>,
    pub(super) owner: VariantOwner,
}

/// The owner of a PackageVariant, as its metadata records it.
pub(super) struct VariantOwner {
    label: Option<String>,
    /// The names and uids of owning PackageVariantSets.
    references: Vec<(String, String)>,
}

impl VariantOwner {
    fn read(node: NodeRef<'_>) -> Self {
        let label = node.get_path(&["metadata", "labels", OWNER_LABEL]);
        let label = label
            .and_then(|label| label.value_text())
            .filter(|text| !text.is_empty());
        let references = node.get_path(&["metadata", "ownerReferences"]);
        let references = references.iter().flat_map(NodeRef::items);
        let references = references.filter_map(|reference| {
            let field = |name| reference.get(name)?.value_text();
            let text = |name| field(name).unwrap_or_default();
            let (group, _) = text("apiVersion").split_once('/').unwrap_or_default();
            let is_set = text("kind") == KIND && group == GROUP;
            is_set.then(|| (text("name").to_owned(), text("uid").to_owned()))
        });
        Self {
            label: label.map(str::to_owned),
            references: references.collect(),
        }
    }

    pub(super) fn is(&self, set: &Set) -> bool {
        let label = self.label.as_deref();
        let by_label = |name: &str| label == Some(name) || label == Some(&label_value(name));
        by_label(&set.name)
            || set.uid.as_deref().is_some_and(by_label)
            || self.references.iter().any(|(name, uid)| match &set.uid {
                Some(own) if !uid.is_empty() => own == uid,
                _ => *name == set.name,
            })
    }

    /// Each name or uid that may identify the set.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let references = self.references.iter();
        let references = references.flat_map(|(name, uid)| [name.as_str(), uid.as_str()]);
        let texts = self.label.as_deref().into_iter().chain(references);
        texts.filter(|text| !text.is_empty())
    }

    pub(super) fn describe(&self) -> String {
        match (self.references.first(), &self.label) {
            (Some((name, _)), _) => format!("the PackageVariantSet `{name}`"),
            (None, Some(label)) => format!("the PackageVariantSet `{label}`"),
            (None, None) => "no PackageVariantSet".to_owned(),
        }
    }
}

impl Fleet {
    pub(super) fn read(list: &ResourceList) -> Self {
        let mut fleet = Self::default();
        for (id, resource) in list.items() {
            let is_variant =
                resource.kind.as_ref() == PACKAGE_VARIANT.1 && resource.group() == GROUP;
            let Some(name) = resource.name.as_deref().filter(|_| is_variant) else {
                continue;
            };
            let namespace = resource.namespace.as_deref();
            let identity = NamespacedName::new(namespace, name);
            if let Some(first) = fleet.members.get_mut(&identity) {
                first.other.get_or_insert(id);
                continue;
            }
            let owner = list.read(id, VariantOwner::read);
            for text in owner.texts() {
                let indexes = fleet.by_owner.entry(NamespacedName::new(namespace, text));
                indexes.or_default().push(fleet.members.len());
            }
            let member = FleetMember {
                item: id,
                other: None,
                owner,
            };
            fleet.members.insert(identity, member);
        }
        fleet
    }

    /// The variants that a set owns, in the order of the items.
    pub(super) fn owned_by(&self, set: &Set) -> Vec<&FleetMember> {
        let mut found = self.may_belong_to(set.namespace.as_deref(), &set.name, set.uid.as_deref());
        found.retain(|member| member.owner.is(set));
        found
    }

    fn may_belong_to(
        &self,
        namespace: Option<&str>,
        name: &str,
        uid: Option<&str>,
    ) -> Vec<&FleetMember> {
        let texts = [Some(name), uid].into_iter().flatten();
        let texts = texts.flat_map(|text| [text.to_owned(), label_value(text)]);
        let found =
            texts.filter_map(|text| self.by_owner.get(&NamespacedName::new(namespace, &text)));
        let found: BTreeSet<usize> = found.flatten().copied().collect();
        found.iter().map(|index| &self.members[*index]).collect()
    }

    /// The variants that the set in an item may own, according to its name and uid.
    pub(super) fn may_belong_to_item(&self, list: &ResourceList, set: ItemId) -> Vec<&FleetMember> {
        let resource = list.resource(set);
        let name = resource.name.as_deref().unwrap_or_default();
        let uid = list.read(set, |node| {
            let uid = node.get_path(&["metadata", "uid"])?;
            uid.value_text().map(str::to_owned)
        });
        self.may_belong_to(resource.namespace.as_deref(), name, uid.as_deref())
    }

    /// The variants with an owner that is neither one of these sets nor a set in one of these items.
    pub(super) fn without_owner<'s>(
        &self,
        sets: impl Iterator<Item = &'s Set>,
        list: &ResourceList,
        others: impl Iterator<Item = ItemId>,
    ) -> Vec<&FleetMember> {
        let mut known: HashSet<ItemId> = HashSet::new();
        for set in sets {
            known.extend(self.owned_by(set).iter().map(|member| member.item));
        }
        for other in others {
            let found = self.may_belong_to_item(list, other);
            known.extend(found.iter().map(|member| member.item));
        }
        let is_lost = |member: &&FleetMember| {
            member.owner.texts().next().is_some() && !known.contains(&member.item)
        };
        self.members.values().filter(is_lost).collect()
    }

    pub(super) fn find(&self, namespace: &str, name: &str) -> Option<&FleetMember> {
        let identity = NamespacedName::new(Some(namespace), name);
        self.members.get(&identity)
    }
}
