//! The annotations by which the Kptfile of a package in a fleet names its owner.
//!
//! ```yaml
//! metadata:
//!   annotations:
//!     fn.kpt.dev/package-variant: default/fleet-cluster-01-web
//!     fn.kpt.dev/downstream: cluster-01/web
//!     fn.kpt.dev/deletion-policy: delete
//! ```
//!
//! A copy of the package has the same Kptfile, but is not at the place that `fn.kpt.dev/downstream` names: it has no
//! owner.
//!
//! Source: contract, render-fleet, Lock and ownership.

use memchr::memmem;

use krm_package::normalize_package_path;
use krm_yaml::{Editor, NodeRef, OwnedDocument};

/// The PackageVariant that owns the package: `<namespace>/<name>`.
pub const OWNER_ANNOTATION: &str = "fn.kpt.dev/package-variant";
/// The place that the owner made the package for: `<repository>/<package>`.
pub const DOWNSTREAM_ANNOTATION: &str = "fn.kpt.dev/downstream";
/// What happens to the package when its owner no longer exists.
pub const DELETION_POLICY_ANNOTATION: &str = "fn.kpt.dev/deletion-policy";
/// The digest of the upstream directory that the package is based on.
pub const UPSTREAM_DIGEST_ANNOTATION: &str = "fn.kpt.dev/upstream-digest";
/// The archive or image that the package is based on.
pub const UPSTREAM_SOURCE_ANNOTATION: &str = "fn.kpt.dev/upstream-source";
/// For a package that is one file, the file below `upstream.git.directory`.
pub(super) const UPSTREAM_FILE_ANNOTATION: &str = "fn.kpt.dev/upstream-file";
/// Annotations that are removed with the owner.
const OF_THE_OWNER: [&str; 3] = [
    OWNER_ANNOTATION,
    DOWNSTREAM_ANNOTATION,
    DELETION_POLICY_ANNOTATION,
];

/// The owner of a package, as its Kptfile names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ownership {
    /// The PackageVariant, `<namespace>/<name>`.
    pub owner: Option<String>,
    /// The place that the owner made the package for; `None` in packages of earlier versions.
    pub downstream: Option<String>,
    /// Whether the package is kept when its owner no longer exists.
    pub orphans: bool,
    /// The digest of its upstream directory.
    pub digest: Option<String>,
}

impl Ownership {
    /// Reads the annotations of a Kptfile.
    pub fn read(kptfile: NodeRef<'_>) -> Self {
        let text = |name: &str| {
            let text = kptfile.get_path(&["metadata", "annotations", name])?;
            let text = text.scalar_text().filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        Self {
            owner: text(OWNER_ANNOTATION),
            downstream: text(DOWNSTREAM_ANNOTATION).map(|path| normalize_package_path(&path)),
            orphans: text(DELETION_POLICY_ANNOTATION).as_deref() == Some("orphan"),
            digest: text(UPSTREAM_DIGEST_ANNOTATION),
        }
    }

    /// Reads the bytes of a Kptfile. A Kptfile that is not YAML names no owner.
    pub fn of_bytes(kptfile: Vec<u8>) -> Self {
        let is_named = memmem::find(&kptfile, OWNER_ANNOTATION.as_bytes()).is_some();
        let text = Some(kptfile).filter(|_| is_named);
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        let document = text.and_then(|text| OwnedDocument::parse_resource(text).ok());
        let root = document.as_ref().and_then(OwnedDocument::root);
        root.map(Self::read).unwrap_or_default()
    }

    /// Whether the Kptfile names another place than `path`, which is the place of its package.
    pub fn is_copied_to(&self, path: &str) -> bool {
        let named = self.downstream.as_deref();
        named.is_some_and(|named| named != path)
    }
}

/// Whether an annotation of a Kptfile records the owner of its package, or what the package was made from.
pub fn is_ownership_annotation(name: &str) -> bool {
    let of_upstream = [
        UPSTREAM_DIGEST_ANNOTATION,
        UPSTREAM_FILE_ANNOTATION,
        UPSTREAM_SOURCE_ANNOTATION,
    ];
    of_upstream.contains(&name) || OF_THE_OWNER.contains(&name)
}

/// The path of the annotations of an object.
pub const ANNOTATIONS: [&str; 2] = ["metadata", "annotations"];

/// Removes the owner of a package, its place and its policy. If no annotation is left, `annotations` is removed, too.
pub fn remove_owner<'d>(kptfile: NodeRef<'d>, editor: &mut Editor<'d, '_>) {
    remove_annotations(kptfile, |name| OF_THE_OWNER.contains(&name), editor);
}

/// Removes everything by which a Kptfile names an owner, because the owner of a package does not own its clones.
pub fn remove_ownership<'d>(kptfile: NodeRef<'d>, editor: &mut Editor<'d, '_>) {
    if let Some(metadata) = kptfile.get("metadata") {
        editor.remove_entry(metadata, "ownerReferences");
    }
    remove_annotations(kptfile, is_ownership_annotation, editor);
}

/// Removes annotations of an object. If none is left, `annotations` is removed, too.
pub fn remove_annotations<'d>(
    kptfile: NodeRef<'d>,
    is_removed: impl Fn(&str) -> bool + Copy,
    editor: &mut Editor<'d, '_>,
) {
    let Some(metadata) = kptfile.get("metadata") else {
        return;
    };
    let Some(old) = metadata.get("annotations") else {
        return;
    };
    let names = old.entries().map(|entry| entry.key.as_str());
    let (removed, kept): (Vec<_>, Vec<_>) = names.partition(|name| name.is_some_and(is_removed));
    if !removed.is_empty() && kept.is_empty() {
        editor.remove_entry(metadata, "annotations");
        return;
    }
    for name in removed.into_iter().flatten() {
        editor.remove_entry(old, name);
    }
}
