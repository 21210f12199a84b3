//! The contents of a document of a supplied input: resources, the elements of a `List`, or the files of a
//! PackageRevisionResources.

use super::package::PackageRevisionName;
use super::{Role, UsageError};
use crate::resource::Resource;
use crate::resource_list::ResourceList;
use crate::results::with_article;
use crate::yaml::{NodeId, NodeRef};

/// `apiVersion` of PackageRevisionResources.
const PORCH_API_VERSION: &str = "porch.kpt.dev/v1alpha1";
pub(super) const PACKAGE_REVISION_RESOURCES: &str = "PackageRevisionResources";

/// The contents of documents.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) items: Vec<(NodeId, Resource)>,
    pub(super) files: Vec<(String, String)>,
    pub(super) revisions: Vec<PackageRevisionName>,
}

impl Contents {
    /// The files of a PackageRevisionResources that is the only item of a list.
    pub(super) fn of_only_item(
        role: Role,
        items: &ResourceList,
        place: &str,
    ) -> Result<Option<Contents>, UsageError> {
        let mut ids = items.items();
        let (Some((only, resource)), None) = (ids.next(), ids.next()) else {
            return Ok(None);
        };
        if resource.kind != PACKAGE_REVISION_RESOURCES {
            return Ok(None);
        }
        let mut contents = Contents::default();
        contents.document(role, items.node(only), place)?;
        Ok(Some(contents))
    }

    /// Adds the contents of a document, or of another node that stands for one.
    pub(super) fn document(
        &mut self,
        role: Role,
        node: NodeRef<'_>,
        place: &str,
    ) -> Result<(), UsageError> {
        if is_package_revision_resources(node) {
            return self.package(node, place);
        }
        self.resource(role, node, place, None)
    }

    pub(super) fn resource(
        &mut self,
        role: Role,
        node: NodeRef<'_>,
        place: &str,
        list: Option<&Resource>,
    ) -> Result<(), UsageError> {
        let mut resource = Resource::read(node);
        // API servers leave out of the elements of a typed list what the list says itself.
        if let Some(list) = list {
            let kind = list.kind.strip_suffix("List").unwrap_or_default();
            if resource.kind.is_empty() && kind != "Resource" {
                resource.kind = kind.into();
            }
            if resource.api_version.is_empty() && !kind.is_empty() && kind != "Resource" {
                resource.api_version = list.api_version.clone();
            }
        }
        if let Some(elements) = elements(node) {
            for element in elements {
                self.resource(role, element.resolved(), place, Some(&resource))?;
            }
            return Ok(());
        }
        let complete = !resource.kind.is_empty() && !resource.api_version.is_empty();
        if role != Role::Patches && !(node.kind().is_mapping() && complete) {
            let found = if node.kind().is_mapping() {
                "a mapping without them"
            } else {
                &with_article(node.kind_name())
            };
            return Err(UsageError::expected(
                format_args!("{place}, {}", node.location()),
                "a resource with apiVersion and kind",
                found,
            ));
        }
        self.items.push((node.id, resource));
        Ok(())
    }

    fn package(&mut self, node: NodeRef<'_>, place: &str) -> Result<(), UsageError> {
        self.revisions.push(PackageRevisionName::read(node));
        let Some(resources) = node.get_path(&["spec", "resources"]) else {
            return Ok(());
        };
        for entry in resources.entries() {
            let (Some(path), Some(text)) = (entry.key.scalar_text(), entry.value.as_str()) else {
                return Err(UsageError::expected(
                    format_args!(
                        "{place}, {}: PackageRevisionResources",
                        entry.value.location()
                    ),
                    "the text of a file",
                    with_article(entry.value.kind_name()),
                ));
            };
            self.files.push((path.to_owned(), text.to_owned()));
        }
        Ok(())
    }
}

/// The elements of a `List`, a `*List` with items, or a ResourceList.
pub(super) fn elements<'a>(node: NodeRef<'a>) -> Option<Vec<NodeRef<'a>>> {
    let kind = node.get("kind")?.as_str()?;
    let plain = matches!(kind, "List" | "ResourceList");
    if !plain && !kind.ends_with("List") {
        return None;
    }
    match node.get("items") {
        Some(items) if items.kind().is_sequence() => Some(items.items().collect()),
        Some(items) if !items.is_null() => None,
        Some(_) => Some(Vec::new()),
        None => plain.then(Vec::new),
    }
}

/// Whether a resource is a PackageRevisionResources, which stands for the package in it.
pub(crate) fn is_package_revision_resources(node: NodeRef<'_>) -> bool {
    let is = |key, text| node.get(key).and_then(|value| value.as_str()) == Some(text);
    is("apiVersion", PORCH_API_VERSION) && is("kind", PACKAGE_REVISION_RESOURCES)
}
