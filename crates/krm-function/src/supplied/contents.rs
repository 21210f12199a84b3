//! The contents of a document of a supplied input: resources, the elements of a `List`, or the files of a
//! PackageRevisionResources.

use super::{Role, UsageError};
use krm_core::resource::Resource;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::with_article;
use krm_core::revision_name::PackageRevisionName;
use krm_core::source_text::is_krm;
use krm_yaml::{Document, NodeId, NodeRef};

/// `apiVersion` of PackageRevisionResources.
const PORCH_API_VERSION: &str = "porch.kpt.dev/v1alpha1";
pub(super) const PACKAGE_REVISION_RESOURCES: &str = "PackageRevisionResources";

#[derive(Default)]
pub(super) struct DocumentContents {
    pub(super) items: Vec<(NodeId, Resource)>,
    pub(super) files: Vec<(String, String)>,
    pub(super) revisions: Vec<PackageRevisionName>,
}

impl DocumentContents {
    /// Adds the contents of all documents. In a file of a directory, what is not KRM is skipped, and a
    /// PackageRevisionResources is a resource like others.
    pub(super) fn read(
        &mut self,
        role: Role,
        document: Document<'_>,
        place: &str,
        in_directory: bool,
    ) -> Result<(), UsageError> {
        let mut roots = document.roots();
        roots.try_for_each(|root| match in_directory {
            false => self.document(role, root, place),
            true if is_krm(root) || role == Role::Patches => self.resource(role, root, place, None),
            true => Ok(()),
        })
    }

    /// Adds the contents of a document, or of an element of an inline list.
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
        let resource = match list {
            Some(list) => Resource::of_element(node, list),
            None => Resource::read(node),
        };
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

    pub(super) fn package(&mut self, node: NodeRef<'_>, place: &str) -> Result<(), UsageError> {
        self.revisions.push(PackageRevisionName::read(node));
        self.files.extend(texts_in(node, place)?);
        Ok(())
    }
}

/// The paths and texts of the files in a PackageRevisionResources.
///
/// # Errors
/// [`UsageError`]: a file that is not text.
pub(crate) fn texts_in(
    node: NodeRef<'_>,
    place: &str,
) -> Result<Vec<(String, String)>, UsageError> {
    let resources = node.get_path(&RESOURCES);
    let files = resources.iter().flat_map(NodeRef::entries).map(|entry| {
        let (Some(path), Some(text)) = (entry.key.key_text(), entry.value.as_str()) else {
            return Err(UsageError::expected(
                format_args!(
                    "{place}, {}: PackageRevisionResources",
                    entry.value.location()
                ),
                "the text of a file",
                with_article(entry.value.kind_name()),
            ));
        };
        Ok((path.to_owned(), text.to_owned()))
    });
    files.collect()
}

/// The field of the files in a PackageRevisionResources.
pub(crate) const RESOURCES: [&str; 2] = ["spec", "resources"];

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

/// The PackageRevisionResources that is the only item of a list.
pub fn only_package(list: &ResourceList) -> Option<ItemId> {
    only_package_except(list, |_| false)
}

/// The PackageRevisionResources of a list, if it is the only item apart from those that `is_beside` accepts.
pub fn only_package_except(
    list: &ResourceList,
    is_beside: impl Fn(&Resource) -> bool,
) -> Option<ItemId> {
    let is_one = |resource: &Resource| resource.kind.as_ref() == PACKAGE_REVISION_RESOURCES;
    let items = list.items();
    let mut items = items.filter(|(_, resource)| is_one(resource) || !is_beside(resource));
    let (Some((id, resource)), None) = (items.next(), items.next()) else {
        return None;
    };
    (is_one(resource) && list.read(id, is_package_revision_resources)).then_some(id)
}

/// Whether a resource is a PackageRevisionResources, which contains the files of a package.
pub(super) fn is_package_revision_resources(node: NodeRef<'_>) -> bool {
    let is = |key, text| node.get(key).and_then(|value| value.as_str()) == Some(text);
    is("apiVersion", PORCH_API_VERSION) && is("kind", PACKAGE_REVISION_RESOURCES)
}
