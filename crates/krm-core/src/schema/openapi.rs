//! The schemas of an OpenAPI document, as `kubectl get --raw /openapi/v2` prints it.

use super::SchemaError;
use super::read::{Definitions, SchemaReader};
use super::table::Table;
use krm_yaml::NodeRef;

/// Where documents have their types: OpenAPI v2, JSON schema, OpenAPI v3.
const PLACES: [&[&str]; 3] = [&["definitions"], &["$defs"], &["components", "schemas"]];

pub(super) fn read(document: NodeRef<'_>) -> Result<Table, SchemaError> {
    let places = PLACES.iter();
    let found = places.filter_map(|place| document.get_path(place));
    let Some(place) = found.into_iter().find(|place| place.kind().is_mapping()) else {
        return Err(SchemaError::NoDefinitions(document.kind_name()));
    };
    let entries = place.entries();
    let named = entries.filter_map(|e| Some((e.key.as_str()?, e.value.resolved())));
    let definitions: Definitions<'_> = named.collect();
    let mut table = Table::default();
    let mut reader = SchemaReader::new(&mut table, definitions);
    for definition in place.entries() {
        let schema = definition.value.resolved();
        let kinds = schema.get("x-kubernetes-group-version-kind");
        for kind in kinds.iter().flat_map(NodeRef::items) {
            let kind = kind.resolved();
            let text = |key| kind.get(key).and_then(|value| value.as_str());
            if let (Some(version), Some(name)) = (text("version"), text("kind")) {
                reader.kind([text("group").unwrap_or_default(), version, name], schema);
            }
        }
    }
    reader.finish();
    table.sort_kinds();
    Ok(table)
}
