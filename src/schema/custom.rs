//! The schemas of CustomResourceDefinitions.

use super::read::{Definitions, Reader, TableBuilder};
use super::table::Table;
use crate::yaml::NodeRef;

/// More versions of one kind are not read.
const MAX_VERSIONS: usize = 100;

/// Reads CustomResourceDefinitions (`apiextensions.k8s.io/v1`, and the older `v1beta1` with one schema
/// for all versions); passes over all that is none.
pub(super) fn read<'d>(resources: impl IntoIterator<Item = NodeRef<'d>>) -> Option<Table> {
    let mut builder = TableBuilder::default();
    let mut found = false;
    for resource in resources {
        found |= read_one(resource, &mut builder).is_some();
    }
    found.then(|| builder.finish())
}

fn read_one(resource: NodeRef<'_>, builder: &mut TableBuilder) -> Option<()> {
    if resource.get("kind")?.as_str()? != "CustomResourceDefinition"
        || !resource
            .get("apiVersion")?
            .as_str()?
            .starts_with("apiextensions.k8s.io/")
    {
        return None;
    }
    let spec = resource.get("spec")?;
    let group = spec.get("group")?.as_str()?;
    let kind = spec.get_path(&["names", "kind"])?.as_str()?;
    let common = spec.get_path(&["validation", "openAPIV3Schema"]);
    let mut reader = Reader::new(builder, Definitions::new());
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
