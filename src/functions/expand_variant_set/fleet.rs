//! The PackageVariants that are there, and whom they belong to.

use std::collections::HashMap;

use super::GROUP;
use crate::resource_list::{ItemId, ResourceList};
use crate::variant::cluster::namespace_of;
use crate::variant::fan_out::Set;
use crate::variant::naming::label_value;
use crate::variant::package_variant_set::KIND;
use crate::yaml::NodeRef;

/// Label of a PackageVariant that names the set it belongs to.
pub(super) const OWNER_LABEL: &str = "config.porch.kpt.dev/packagevariantset";
/// Version and kind of what is made.
pub(super) const PACKAGE_VARIANT: (&str, &str) =
    (crate::config::PACKAGE_VARIANT_API_VERSION, "PackageVariant");

/// The PackageVariants that are there.
pub(super) struct Fleet {
    pub(super) members: HashMap<(String, String), Member>,
}

pub(super) struct Member {
    pub(super) item: ItemId,
    /// More items of this identity.
    pub(super) is_ambiguous: bool,
    pub(super) owner: Owner,
}

/// What a PackageVariant says of its owner.
pub(super) struct Owner {
    label: Option<String>,
    /// Names and uids of PackageVariantSets.
    references: Vec<(String, String)>,
}

impl Owner {
    fn read(node: NodeRef<'_>) -> Self {
        let label = node.get_path(&["metadata", "labels", OWNER_LABEL]);
        let label = label
            .and_then(|label| label.scalar_text())
            .filter(|text| !text.is_empty());
        let references = node.get_path(&["metadata", "ownerReferences"]);
        let references = references
            .iter()
            .flat_map(NodeRef::items)
            .filter_map(|reference| {
                let text = |name| {
                    reference
                        .get(name)
                        .and_then(|v| v.scalar_text())
                        .unwrap_or_default()
                };
                let group = text("apiVersion")
                    .split_once('/')
                    .map_or("", |(group, _)| group);
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

    /// Whether it may be a set of this name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        let label = self.label.as_deref();
        label == Some(name)
            || label == Some(&label_value(name))
            || self.references.iter().any(|(other, _)| other == name)
    }

    /// Whether there is one.
    pub(super) fn is_named(&self) -> bool {
        self.label.is_some() || !self.references.is_empty()
    }

    pub(super) fn describe(&self) -> String {
        match (self.references.first(), &self.label) {
            (Some((name, _)), _) => format!("the PackageVariantSet `{name}`"),
            (None, Some(label)) => format!("the PackageVariantSet `{label}`"),
            (None, None) => "nobody".to_owned(),
        }
    }
}

impl Fleet {
    pub(super) fn read(list: &ResourceList) -> Self {
        let mut members: HashMap<(String, String), Member> = HashMap::new();
        for (id, resource) in list.items() {
            let is_variant = resource.kind == PACKAGE_VARIANT.1 && resource.group() == GROUP;
            let namespace = namespace_of(resource.namespace.as_deref());
            let Some(name) = resource.name.clone().filter(|_| is_variant) else {
                continue;
            };
            let member = members.entry((namespace.to_owned(), name));
            let member = member.and_modify(|member| member.is_ambiguous = true);
            member.or_insert_with(|| Member {
                item: id,
                is_ambiguous: false,
                owner: list.read(id, Owner::read),
            });
        }
        Self { members }
    }

    /// The variants of a set.
    pub(super) fn owned_by<'a>(
        &'a self,
        set: &'a Set,
    ) -> impl Iterator<Item = (&'a (String, String), &'a Member)> {
        let namespace = namespace_of(set.namespace.as_deref());
        self.members
            .iter()
            .filter(move |((place, _), member)| place == namespace && member.owner.is(set))
    }

    pub(super) fn find(&self, namespace: &str, name: &str) -> Option<&Member> {
        if self.members.is_empty() {
            return None;
        }
        self.members.get(&(namespace.to_owned(), name.to_owned()))
    }
}
