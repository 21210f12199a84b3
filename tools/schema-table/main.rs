//! Makes `src/schema/builtin.rs`, the built-in schema, from the definitions of Kubernetes' types.
//!
//! The document is `_definitions.json` as the Python package `kubernetes-validate` holds it (all
//! definitions of an API server's OpenAPI document, with their `x-kubernetes-*` extensions):
//!
//! ```text
//! pip download --no-deps kubernetes-validate==1.37.0
//! unzip -j kubernetes_validate-1.37.0-*.whl '*/v1.37.0-local/_definitions.json' -d target/kubernetes-validate
//! cargo run --example schema-table target/kubernetes-validate/_definitions.json
//! ```
//!
//! Types that say nothing of how their parts relate are left out, and equal types are one.

use std::path::Path;
use std::process::ExitCode;

use krm_variants::schema::{Schema, SchemaError};
use krm_variants::yaml::{Document, NodeRef, ParseError, ParseOptions, Tree};
use sha2::{Digest, Sha256};
use thiserror::Error;

mod table;

/// Where the document comes from.
const SOURCE: &str =
    "kubernetes-validate 1.37.0, kubernetes-json-schema/v1.37.0-local/_definitions.json";

/// The table, relative to the project.
const TABLE: &str = "src/schema/builtin.rs";

/// Why no table was made.
#[derive(Debug, Error)]
enum MakeError {
    #[error("usage: schema-table DEFINITIONS")]
    Usage,
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "schema-table: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), MakeError> {
    let Some(path) = std::env::args().nth(1) else {
        return Err(MakeError::Usage);
    };
    let text = std::fs::read_to_string(&path).map_err(|error| MakeError::Io(path, error))?;
    let table = make(&text)?;
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE);
    std::fs::write(target, table).map_err(|error| MakeError::Io(TABLE.to_owned(), error))
}

fn make(text: &str) -> Result<String, MakeError> {
    let tree = Tree::parse(text, ParseOptions::default())?;
    let document = Document::new(text, &tree);
    let root = document.root(0).ok_or(MakeError::Usage)?;
    let schema = Schema::empty().with_openapi(root)?;
    let counts = Counts::of(root, &schema);
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let header = format!(
        "//! The built-in kinds of Kubernetes. Made by `tools/schema-table`: do not edit.\n\
         //!\n\
         //! Facts of Kubernetes' API (Apache-2.0), from {SOURCE}\n\
         //! sha256 {hash}\n\
         //! {counts}.\n"
    );
    Ok(table::write(&schema, &header))
}

/// What the document holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    definitions: usize,
    kinds: usize,
    list_types: usize,
    list_map_keys: usize,
    patch_strategies: usize,
    patch_merge_keys: usize,
    map_types_of_fields: usize,
}

impl Counts {
    fn of(document: NodeRef<'_>, schema: &Schema) -> Self {
        let mut counts = Self {
            kinds: schema.kinds().count(),
            ..Self::default()
        };
        let definitions = document.get("$defs");
        for definition in definitions.iter().flat_map(NodeRef::entries) {
            counts.definitions += 1;
            let properties = definition.value.get("properties");
            for property in properties.iter().flat_map(NodeRef::entries) {
                let has = |key| usize::from(property.value.get(key).is_some());
                counts.list_types += has("x-kubernetes-list-type");
                counts.list_map_keys += has("x-kubernetes-list-map-keys");
                counts.patch_strategies += has("x-kubernetes-patch-strategy");
                counts.patch_merge_keys += has("x-kubernetes-patch-merge-key");
                counts.map_types_of_fields += has("x-kubernetes-map-type");
            }
        }
        counts
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} definitions, {} kinds; in fields: {} list types, {} list-map-keys, {} patch strategies, {} patch merge keys, {} map types",
            self.definitions,
            self.kinds,
            self.list_types,
            self.list_map_keys,
            self.patch_strategies,
            self.patch_merge_keys,
            self.map_types_of_fields
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use krm_variants::schema::TypeRef;

    use super::*;

    /// The document: `KRM_VARIANTS_DEFINITIONS`, else where `.ci/run` puts it.
    #[expect(clippy::print_stdout, reason = "says that a test was skipped")]
    fn definitions() -> Option<String> {
        let path = std::env::var_os("KRM_VARIANTS_DEFINITIONS").map_or_else(
            || {
                let project = Path::new(env!("CARGO_MANIFEST_DIR"));
                project.join("target/kubernetes-validate/_definitions.json")
            },
            Into::into,
        );
        match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) => {
                let asked = std::env::var_os("KRM_VARIANTS_DEFINITIONS").is_some();
                assert!(!asked, "{}: {error}", path.display());
                println!("skipped: {}: {error}", path.display());
                None
            }
        }
    }

    #[test]
    fn the_table_is_what_the_tool_makes() {
        let Some(text) = definitions() else {
            return;
        };
        let checked_in = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/schema/builtin.rs"
        ));
        let made = make(&text).expect("a table");
        // No assert_eq: the texts are long.
        assert!(made == checked_in, "{TABLE} is not what the tool makes");
    }

    /// Every place below every kind, in the document and in the table side by side.
    #[test]
    fn the_table_says_what_the_document_says() {
        let Some(text) = definitions() else {
            return;
        };
        let tree = Tree::parse(&text, ParseOptions::default()).expect("YAML");
        let root = Document::new(&text, &tree).root(0).expect("a document");
        let document = Schema::empty().with_openapi(root).expect("definitions");
        let builtin = Schema::builtin();
        let expected = Counts {
            definitions: 862,
            kinds: 325,
            list_types: 457,
            list_map_keys: 108,
            patch_strategies: 92,
            patch_merge_keys: 88,
            map_types_of_fields: 6,
        };
        assert_eq!(Counts::of(root, &document), expected);
        assert_eq!(builtin.kinds().count(), 325);

        let mut open: Vec<(TypeRef<'_>, Option<TypeRef<'_>>)> = Vec::new();
        for ((names, root), (other_names, other)) in document.kinds().zip(builtin.kinds()) {
            assert_eq!(names, other_names);
            open.push((root, Some(other)));
        }
        let mut seen = HashSet::new();
        while let Some((type_, other)) = open.pop() {
            if !seen.insert((type_, other)) {
                continue;
            }
            let facts = |of: TypeRef<'_>| format!("{of:?} {}", of.takes_unknown_fields());
            match other {
                Some(other) => assert_eq!(facts(type_), facts(other)),
                // Left out: nothing may be said here, nor below.
                None => assert!(facts(type_).ends_with(NOTHING), "{type_:?}"),
            }
            for (name, field) in type_.fields() {
                open.push((field, other.and_then(|other| other.field(name))));
                assert!(other.is_some() || !name.starts_with('$'));
            }
            open.extend(
                type_
                    .items()
                    .map(|items| (items, other.and_then(TypeRef::items))),
            );
            open.extend(
                type_
                    .values()
                    .map(|values| (values, other.and_then(TypeRef::values))),
            );
            if let Some(other) = other {
                let known: HashSet<&str> = type_.fields().map(|(name, _)| name).collect();
                assert!(other.fields().all(|(name, _)| known.contains(name)));
            }
        }
        assert!(seen.len() > 1000, "{} places", seen.len());
    }

    /// The facts of a type that says nothing.
    const NOTHING: &str = "list: Atomic, map: Granular, patch_strategy: PatchStrategy { merge: false, \
        replace: false, retain_keys: false }, patch_merge_key: None, .. } false";
}
