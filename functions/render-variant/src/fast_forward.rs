//! The local changes that prevent a fast-forward of a variant. What the variant itself writes into its package is none.
//!
//! ```yaml
//! # original          # the same with    # local           # local changes
//! #                     all steps
//! kind: Kptfile         name: ours         name: ours        none
//! data: {a: "1"}        a: "1"             a: "2"            one
//! ```

use std::collections::BTreeMap;

use krm_core::config::UsageError;
use krm_core::kptfile::root_kptfile;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{Results, Severity};
use krm_function::supplied::{Supplied, SuppliedPackage};
use krm_merge::ConflictRules;
use krm_merge::package::{Merge, MergeOptions, Strategy};
use krm_package::{FileChange, Package, PackageFile};

use super::clone::clone;
use super::{Variant, run_steps};

/// Adds an error for each local change. The original revision is rendered as a new variant, and the package once more, so
/// that both have what the variant writes now.
///
/// # Errors
/// [`UsageError`]: a file that can no longer be read.
pub(super) fn refuse_local_changes(
    variant: &Variant<'_>,
    original: &SuppliedPackage,
    options: MergeOptions,
    list: &ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<(), UsageError> {
    let mut found = Results::default();
    let mut made = read(Package::default())?;
    clone(variant, original, &mut made, &mut found)?;
    let made = rendered(variant, made, supplied, &mut found)?;
    let own = read(files_of(list)?)?;
    let mut own = rendered(variant, own, supplied, &mut found)?;
    if !found.has_errors() {
        let merge = Merge {
            original: &made,
            upstream: &made,
            options: MergeOptions {
                strategy: Strategy::FastForward,
                ..options
            },
            rules: &ConflictRules::default(),
            schema: supplied.schema()?,
            is_overwritten: &|_, _, _| false,
            allow_empty_by: None,
            is_one_package: false,
        };
        merge.run(&mut own, &mut found)?;
    }
    let errors = found.iter();
    let errors = errors.filter(|result| result.severity == Severity::Error);
    results.extend(errors.cloned());
    Ok(())
}

fn read(files: Package) -> Result<ResourceList, UsageError> {
    ResourceList::from_package(files).map_err(UsageError::of)
}

/// The package after the steps that follow a clone or an update.
fn rendered(
    variant: &Variant<'_>,
    mut list: ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<ResourceList, UsageError> {
    run_steps(variant, &mut list, supplied, results);
    let spec = &variant.typed.spec;
    if let Some(kptfile) = root_kptfile(&list) {
        // A package gets them when it is made.
        for (field, entries) in [("labels", &spec.labels), ("annotations", &spec.annotations)] {
            let entries = entries.iter().map(|(key, value)| (&**key, Some(&**value)));
            let edited = list.edit(kptfile, |node, editor| {
                editor.set_fields(node, &["metadata", field], entries)
            });
            edited.map_err(UsageError::of)?;
        }
    }
    let mut files = list.files().cloned().unwrap_or_default();
    for change in list.file_changes() {
        match change {
            FileChange::Write { path, bytes, mode } => {
                let file = PackageFile::read(&path, bytes, mode);
                files.insert(path, file);
            }
            FileChange::Delete { path } => files = files.without(|other| other == path),
        }
    }
    read(files)
}

/// The files of a package, or the items of a ResourceList by their files, as they are now.
fn files_of(list: &ResourceList) -> Result<Package, UsageError> {
    let mut files = Package::default();
    for path in list.file_paths() {
        let bytes = list.read_file(&path).map_err(UsageError::of)?.into_owned();
        let mode = list.files().and_then(|files| files.mode(&path));
        let file = PackageFile::read(&path, bytes, mode);
        files.insert(path, file);
    }
    if list.is_package() {
        return Ok(files);
    }
    let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
    let paths = list.paths_from_root(&ids);
    let mut texts = BTreeMap::<String, Vec<ItemId>>::new();
    for (id, path) in ids.into_iter().zip(paths) {
        texts.entry(path.unwrap_or_default()).or_default().push(id);
    }
    for (path, ids) in texts.into_iter().filter(|(path, _)| !path.is_empty()) {
        let text = list.file_text(&ids).map_err(UsageError::of)?;
        let file = PackageFile::of_text(&path, text);
        files.insert(path, file);
    }
    Ok(files)
}
