//! Sources that kpt's lock cannot record. Two annotations of the Kptfile are their lock:
//!
//! ```yaml
//! metadata:
//!   annotations:
//!     fn.kpt.dev/upstream-source: charts/app-1.2.0.tgz
//!     fn.kpt.dev/upstream-digest: sha256:9f86...
//! ```
//!
//! The next update uses the recorded source as its original if the digest still matches.

use super::oci;
use super::outside_git::{FolderOutsideGit, split_folder};
use super::releases::find;
use super::unpacked::Unpacked;
use krm_core::config::UsageError;
use krm_core::kptfile::{
    ANNOTATIONS, UPSTREAM_DIGEST_ANNOTATION, UPSTREAM_SOURCE_ANNOTATION, UpstreamLock,
    remove_annotations,
};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::upstream_revision::{Locked, UpstreamRevision};
use krm_package::Package;
use krm_yaml::{EditError, Editor, NodeRef, Path};

fn unpacked(source: &FolderOutsideGit) -> Result<Unpacked, UsageError> {
    let folder = &source.folder;
    let (unpacked, _) = (source.unpack)(source)?.below(folder).ok_or_else(|| {
        UsageError::of(format!(
            "expected a folder `{folder}` in it, found none: {source}"
        ))
    })?;
    if unpacked.has_files() {
        return Ok(unpacked);
    }
    let message = format!("expected a package, found no files: {source}");
    Err(UsageError::of(message))
}

fn annotation(kptfile: NodeRef<'_>, name: &str) -> Option<String> {
    let text = kptfile.get_path(&["metadata", "annotations", name])?;
    let text = text.scalar_text().filter(|text| !text.is_empty());
    text.map(str::to_owned)
}

impl UpstreamRevision for FolderOutsideGit {
    fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> String {
        format!("digest {}", self.digest)
    }

    fn flag(&self) -> String {
        self.to_string()
    }

    fn package_name(&self) -> &str {
        let last = self.folder.rsplit('/').next();
        let last = last.filter(|name| !name.is_empty());
        last.unwrap_or(&self.package_name)
    }

    fn read(&self) -> Result<Package, UsageError> {
        let package = unpacked(self)?.package();
        package.map_err(|error| UsageError::at(self, error))
    }

    fn clone_only_files(&self, is_read: &dyn Fn(&str) -> bool) -> Result<Package, UsageError> {
        let unread = unpacked(self)?.clone_only_files(is_read);
        unread.map_err(|error| UsageError::at(self, error))
    }

    fn locked(
        &self,
        local: &ResourceList,
        kptfile: ItemId,
        results: &mut Results,
    ) -> Result<Locked, UsageError> {
        let Some((source, digest)) = local.read(kptfile, recorded_digest) else {
            let in_git = super::lock_of(local, kptfile);
            return Ok(Locked::Absent(match in_git {
                Err(error) => Some(error),
                Ok(None) => None,
                Ok(Some(_)) => {
                    let message =
                        "expected a lock on an archive or image, found one on a Git repository";
                    let result = FunctionResult::error(Reason::OriginalNotFound, message);
                    Some(Box::new(result.with_resource(local.resource(kptfile))))
                }
            }));
        };
        let folder = split_folder(&source).1.trim_start_matches('/');
        if digest == self.digest && (source == self.to_string() || folder == self.folder) {
            return Ok(Locked::Same);
        }
        let sibling_flag = (self.sibling_flag)(self, &source, &digest);
        let places = [source.clone(), oci::exact(&source, &digest), sibling_flag];
        let found = match find(places, &digest) {
            Ok(revision) => return Ok(Locked::Other(revision)),
            Err(found) => found,
        };
        let found = found.unwrap_or_else(|| "none".to_owned());
        let message = format!(
            "expected the original revision at `{source}`, with the digest {digest}, found {found}"
        );
        let result = FunctionResult::error(Reason::OriginalNotFound, message);
        let result = result.with_resource(local.resource(kptfile));
        results.push(result.with_field(self.place()));
        Ok(Locked::NotFound)
    }

    fn recorded(&self, kptfile: NodeRef<'_>) -> (Option<String>, Option<String>) {
        let digest = annotation(kptfile, UPSTREAM_DIGEST_ANNOTATION);
        let source = annotation(kptfile, UPSTREAM_SOURCE_ANNOTATION);
        let is_same = source.as_deref() == Some(&*self.to_string());
        let id = digest.filter(|_| is_same);
        (source, id.map(|digest| format!("digest {digest}")))
    }

    fn record<'d>(
        &self,
        _: Option<&str>,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError> {
        record_digest(&self.to_string(), &self.digest, kptfile, editor)
    }

    fn place(&self) -> Path {
        Path::fields(&["metadata", "annotations", UPSTREAM_DIGEST_ANNOTATION])
    }
}

/// The source and digest that a Kptfile records; `None` if it records no source outside of Git.
pub fn recorded_digest(kptfile: NodeRef<'_>) -> Option<(String, String)> {
    let source = annotation(kptfile, UPSTREAM_SOURCE_ANNOTATION);
    source.zip(annotation(kptfile, UPSTREAM_DIGEST_ANNOTATION))
}

/// Records a source outside of Git. Equal values keep their bytes.
///
/// # Errors
/// As [`Editor::set`].
pub fn record_digest<'d>(
    source: &str,
    digest: &str,
    kptfile: NodeRef<'d>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let annotations = [
        (UPSTREAM_SOURCE_ANNOTATION, Some(source)),
        (UPSTREAM_DIGEST_ANNOTATION, Some(digest)),
    ];
    // Otherwise the next update from Git would use the old lock as its original.
    if let Ok(Some(_)) = UpstreamLock::read(kptfile) {
        editor.remove_entry(kptfile, "upstream");
        editor.remove_entry(kptfile, "upstreamLock");
    }
    editor.set_fields(kptfile, &ANNOTATIONS, annotations)
}

/// Whether the id of a revision is the digest of a source outside of Git rather than a commit.
pub fn is_digest(id: &str) -> bool {
    id.starts_with("sha256:")
}

/// Removes the record of a source outside of Git, because another source is to be recorded.
pub fn forget<'d>(kptfile: NodeRef<'d>, editor: &mut Editor<'d, '_>) {
    let is_lock =
        |name: &str| [UPSTREAM_SOURCE_ANNOTATION, UPSTREAM_DIGEST_ANNOTATION].contains(&name);
    if annotation(kptfile, UPSTREAM_SOURCE_ANNOTATION).is_some() {
        remove_annotations(kptfile, is_lock, editor);
    }
}
