//! The schemas of CustomResourceDefinitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem::Finder;

use super::read::{Definitions, SchemaReader};
use super::table::Table;
use krm_package::text::Text;
use krm_yaml::NodeRef;

/// Limit of the versions of one definition; more are not read.
const MAX_VERSIONS: usize = 100;

/// The API groups of resources. Definitions of other groups need not be read: packages usually have more definitions
/// than kinds that they use.
#[derive(Debug)]
pub struct Groups(BTreeMap<String, Finder<'static>>);

impl Groups {
    /// The groups among these that a definition can have: API servers refuse a group without a dot.
    pub fn of<'g>(groups: impl IntoIterator<Item = &'g str>) -> Self {
        let mut custom = BTreeMap::new();
        for group in groups {
            let is_custom = group.contains('.') && group != "apiextensions.k8s.io";
            if is_custom && !custom.contains_key(group) {
                custom.insert(group.to_owned(), Finder::new(group).into_owned());
            }
        }
        Self(custom)
    }

    /// Whether a resource may define a kind of one of the groups, judging by its kind and by its text, if it has a
    /// separate one. Only its tree shows it for certain.
    pub(crate) fn may_be_defined_by(
        &self,
        kind: &str,
        text: impl FnOnce() -> Option<Text>,
    ) -> bool {
        kind == "CustomResourceDefinition"
            && text().is_none_or(|text| self.may_be_defined_in(&text))
    }

    /// Whether a text may define a kind of one of the groups: it contains the group, or escapes that could spell it.
    fn may_be_defined_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let spells =
            |at: usize| matches!(bytes.get(at + 1), Some(b'x' | b'u' | b'U' | b'\r' | b'\n'));
        let is_named = |group: &Finder<'_>| group.find(bytes).is_some();
        let has_escapes = || memchr::memchr_iter(b'\\', bytes).any(spells);
        !self.0.is_empty() && (self.0.values().any(is_named) || has_escapes())
    }
}

/// The kind that a CustomResourceDefinition defines, in all its versions. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct CustomKind(pub(super) Arc<Table>);

impl CustomKind {
    /// Reads a CustomResourceDefinition (`apiextensions.k8s.io/v1`, or the older `v1beta1` with one schema for all
    /// versions). `None` for other resources, and for definitions of other groups.
    pub(super) fn read(resource: NodeRef<'_>, groups: &Groups) -> Option<Self> {
        groups.define(resource)?;
        Self::of(resource)
    }

    /// Reads a definition, of any group.
    pub(crate) fn of(definition: NodeRef<'_>) -> Option<Self> {
        let mut table = Table::default();
        read_into(definition, &mut table)?;
        table.sort_kinds();
        Some(Self(Arc::new(table)))
    }
}

impl Groups {
    /// The group of a CustomResourceDefinition, if it is one of these.
    pub(crate) fn define<'d>(&self, resource: NodeRef<'d>) -> Option<&'d str> {
        let is_definition = resource.get("kind")?.as_str()? == "CustomResourceDefinition";
        let api_version = resource.get("apiVersion")?.as_str()?;
        let is_definition = is_definition && api_version.starts_with("apiextensions.k8s.io/");
        let group = resource.get_path(&["spec", "group"])?.as_str()?;
        (is_definition && self.0.contains_key(group)).then_some(group)
    }
}

fn read_into(definition: NodeRef<'_>, table: &mut Table) -> Option<()> {
    let spec = definition.get("spec")?;
    let group = spec.get("group")?.as_str()?;
    let kind = spec.get_path(&["names", "kind"])?.as_str()?;
    let common = spec.get_path(&["validation", "openAPIV3Schema"]);
    let mut reader = SchemaReader::new(table, Definitions::new());
    let versions = spec.get("versions");
    for version in versions.iter().flat_map(NodeRef::items).take(MAX_VERSIONS) {
        let schema = version.get("schema").and_then(|s| s.get("openAPIV3Schema"));
        let name = version.get("name").and_then(|name| name.as_str());
        if let (Some(name), Some(schema)) = (name, schema.or(common)) {
            reader.custom_resource([group, name, kind], schema);
        }
    }
    if let (None, Some(version), Some(schema)) = (versions, spec.get("version"), common) {
        reader.custom_resource([group, version.as_str()?, kind], schema);
    }
    reader.finish();
    Some(())
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn definitions_of_groups_without_resources_are_not_read() {
        let groups = Groups::of(["", "apps", "apiextensions.k8s.io", "example.com"]);
        assert!(groups.may_be_defined_in("spec:\n  group: example.com\n"));
        assert!(groups.may_be_defined_in("spec:\n  group: \"ex\\x61mple.com\"\n"));
        assert!(groups.may_be_defined_in("spec: {group: \"exam\\\n    ple.com\"}\n"));
        assert!(!groups.may_be_defined_in("spec:\n  group: other.com\n  pattern: ^apps\\.\n"));
        assert!(!Groups::of(["apps", ""]).may_be_defined_in("group: apps\n"));
    }
}
