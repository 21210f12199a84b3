//! The annotations by which a package of a fleet says whose it is.
//!
//! ```yaml
//! metadata:
//!   annotations:
//!     fn.kpt.dev/package-variant: default/fleet-cluster-01-web
//!     fn.kpt.dev/deletion-policy: delete
//! ```
//!
//! Source: contract, render-fleet, Lock and ownership.

use crate::yaml::{Content, EditError, Editor, NodeKind, NodeRef, Value};

/// The PackageVariant that owns the package: `<namespace>/<name>`.
pub(crate) const OWNER_ANNOTATION: &str = "fn.kpt.dev/package-variant";
/// What becomes of the package without its owner.
pub(crate) const DELETION_POLICY_ANNOTATION: &str = "fn.kpt.dev/deletion-policy";
/// The digest of the upstream directory that the package is based on.
pub(crate) const UPSTREAM_DIGEST_ANNOTATION: &str = "fn.kpt.dev/upstream-digest";

/// Whose a package is, as its Kptfile says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ownership {
    /// The PackageVariant, `<namespace>/<name>`.
    pub(crate) owner: Option<String>,
    /// Whether the package stays without its owner.
    pub(crate) orphans: bool,
    /// The digest of its upstream directory.
    pub(crate) digest: Option<String>,
}

impl Ownership {
    /// Reads the annotations of a Kptfile.
    #[must_use]
    pub(crate) fn read(kptfile: NodeRef<'_>) -> Self {
        let text = |name: &str| {
            let text = kptfile.get_path(&["metadata", "annotations", name])?;
            let text = text.scalar_text().filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        Self {
            owner: text(OWNER_ANNOTATION),
            orphans: text(DELETION_POLICY_ANNOTATION).as_deref() == Some("orphan"),
            digest: text(UPSTREAM_DIGEST_ANNOTATION),
        }
    }
}

/// Sets labels or annotations of an object. Equal values keep their bytes.
///
/// # Errors
/// As [`Editor::set`].
pub(crate) fn set_metadata<'d>(
    object: NodeRef<'d>,
    field: &str,
    entries: &[(&str, &str)],
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    if entries.is_empty() {
        return Ok(());
    }
    let pair = |(key, value): &(&str, &str)| (Value::from(*key), Value::from(*value));
    let all = || Value::Mapping(entries.iter().map(pair).collect());
    let Some(metadata) = object.entry("metadata").map(|entry| entry.value) else {
        let metadata = Value::Mapping(vec![(Value::from(field), all())]);
        return editor.insert_entry(object, None, "metadata", Content::Value(metadata));
    };
    let old = metadata.entry(field).map(|entry| entry.value);
    let old = old.filter(|old| old.kind().is_mapping() || old.kind() == NodeKind::Alias);
    let Some(old) = old else {
        return editor.set(metadata, field, Content::Value(all()));
    };
    for (key, value) in entries {
        if old.get(key).and_then(|old| old.scalar_text()) != Some(value) {
            editor.set(old, key, Content::Value(Value::from(*value)))?;
        }
    }
    Ok(())
}

/// Removes the owner of a package and its policy; `annotations` goes with the last one.
///
/// # Errors
/// As [`Editor::remove_entry`].
pub(crate) fn remove_owner<'d>(
    kptfile: NodeRef<'d>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let names = [OWNER_ANNOTATION, DELETION_POLICY_ANNOTATION];
    let Some(metadata) = kptfile.get("metadata") else {
        return Ok(());
    };
    let Some(old) = metadata.get("annotations") else {
        return Ok(());
    };
    let mut keys = old.entries().map(|entry| entry.key.as_str());
    if keys.all(|key| key.is_some_and(|key| names.contains(&key))) {
        editor.remove_entry(metadata, "annotations")?;
        return Ok(());
    }
    for name in names {
        if old.get(name).is_some() {
            editor.remove_entry(old, name)?;
        }
    }
    Ok(())
}
