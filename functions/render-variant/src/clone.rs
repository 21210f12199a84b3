//! Creates the package of a new variant from all files of upstream.
//!
//! Only the Kptfile's name and `name` in the package context change, and each resource gets an annotation with its
//! identity in upstream, for later merges.

use std::sync::Arc;

use krm_core::config::UsageError;
use krm_core::kptfile::{
    PACKAGE_CONTEXT_FILE, PACKAGE_CONTEXT_NAME, find_package_context, new_package_context,
    package_context_path, package_context_path_taken, remove_bookkeeping, remove_ownership,
    root_kptfile,
};
use krm_core::resource::{Resource, file_annotations};
use krm_core::resource_list::{ItemId, ResourceList, annotate};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::upstream_identifier::identify;
use krm_function::supplied::SuppliedPackage;
use krm_merge::package::refuse_empty_upstream;
use krm_package::{FileChange, Package, PackageFile};
use krm_yaml::{EditError, Editor, NodeRef, to_block_text};

use super::new_files::files_of_upstream;
use super::{Variant, is_porch};

/// Clones upstream into the list, which must not contain a package.
pub(super) fn clone(
    variant: &Variant<'_>,
    upstream: &SuppliedPackage,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<(), UsageError> {
    let refused = refuse_package(variant, list).or_else(|| refuse_empty_upstream(upstream.list()));
    if let Some(finding) = refused {
        results.push(finding);
        return Ok(());
    }
    let from_items = upstream.files().is_none_or(Package::is_empty);
    let files = files_of_upstream(upstream, list, results)?;
    refuse_taken(&files, list, results);
    let mut files = Arc::new(files);
    let found = with_context(variant, upstream, &mut files, results)?;
    let Some((package, made_context)) = found.filter(|_| !results.has_errors()) else {
        return Ok(());
    };
    let form = CloneForm {
        from_items,
        made_context,
        identified: Identified::OfKpt,
    };
    let name = name_of(variant.package());
    insert_package(name, upstream, package, form, list, results)?;
    if results.has_errors() {
        return Ok(());
    }
    let count = add_files(&files, list, results)? - usize::from(made_context);
    let made = if made_context {
        format!(", and made `{PACKAGE_CONTEXT_FILE}`")
    } else {
        String::new()
    };
    let message = format!("cloned {count} files of the upstream package{made}");
    results.push(FunctionResult::info(message).with_resource(&variant.resource));
    Ok(())
}

/// Which resources of a clone get the comment and annotation that identify them in later merges, as `kpt pkg get` writes
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identified {
    /// All in a package with a Kptfile, which kpt may upgrade too. Without them, later merges find renamed resources by
    /// their likeness.
    OfKpt,
    /// All.
    All,
}

/// The files of a new package: upstream's files with this name in the Kptfile, if there is one. No package context is
/// created.
///
/// # Errors
/// [`UsageError`]: a file of upstream cannot be read.
pub fn cloned_files(
    upstream: &SuppliedPackage,
    name: &str,
    identified: Identified,
    results: &mut Results,
) -> Result<Vec<FileChange>, UsageError> {
    let mut list = read(&Arc::default(), upstream.list())?;
    let files = Arc::new(files_of_upstream(upstream, &list, results)?);
    let package = read(&files, upstream.list())?;
    let form = CloneForm {
        from_items: false,
        made_context: false,
        identified,
    };
    insert_package(name, upstream, package, form, &mut list, results)?;
    if results.has_errors() {
        return Ok(Vec::new());
    }
    add_files(&files, &mut list, results)?;
    Ok(list.file_changes())
}

/// Adds an error for each file that already exists in the package to clone into.
fn refuse_taken(files: &Package, list: &ResourceList, results: &mut Results) {
    let package_path = list.root_package_path();
    for (path, _) in files.files() {
        if list.has_path(package_path, path) {
            let message = "expected no such file in the package to clone into, found one";
            let result = FunctionResult::error(Reason::PathTaken, message);
            results.push(result.in_file(path));
        }
    }
}

/// Reads the resources of these files. Texts that the list of upstream has already parsed are not parsed again.
fn read(files: &Arc<Package>, upstream: &ResourceList) -> Result<ResourceList, UsageError> {
    let list = ResourceList::from_package_like(Arc::clone(files), false, &[upstream]);
    list.map_err(UsageError::of)
}

/// Adds the resources of upstream to the list, and adapts them to the new package.
fn insert_package(
    name: &str,
    upstream: &SuppliedPackage,
    package: ResourceList,
    form: CloneForm,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<(), UsageError> {
    let refusal = |error: &EditError| {
        let mut result = FunctionResult::refused(error);
        result.message = format!("cannot clone {}: {error}", upstream.place).into();
        result
    };
    let inserted = list.insert_package(package).map_err(UsageError::of)?;
    let root = root_kptfile(list);
    let downstream = DownstreamPackage {
        name,
        root,
        to_files: list.is_package(),
        context: find_package_context(list).ok().flatten(),
        form,
    };
    let refused = list.edit_items(inserted, |id, resource, node, editor| {
        downstream.change(id, resource, node, editor)
    });
    for (id, error) in refused {
        results.push(refusal(&error).with_resource(list.resource(id)));
    }
    // The root Kptfile has a new name, so its identity must be read again.
    root.into_iter().for_each(|root| list.identify(root));
    Ok(())
}

/// Adds files without resources, and sets the permission bits of the others. Returns the number of
/// cloned files.
fn add_files(
    files: &Package,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<usize, UsageError> {
    let mut count = 0;
    for (path, file) in files.files() {
        if file.krm().is_some() {
            count += 1;
            if let Some(mode) = file.mode {
                list.set_mode(path, mode);
            }
        } else if list.is_package() {
            count += 1;
            let bytes = files.read(path);
            let bytes = bytes.map_err(UsageError::of)?;
            list.add_file(path.to_owned(), bytes.into_owned(), file.mode);
        } else {
            let message =
                "not cloned: a ResourceList holds resources only; `--package` clones all files";
            let result = FunctionResult::warning(Reason::SkippedFile, message);
            results.push(result.in_file(path));
        }
    }
    Ok(count)
}

/// The error for a package that already contains resources: it must be updated instead. The PackageVariant itself and
/// Porch's objects do not belong to the package.
pub(super) fn refuse_package(variant: &Variant<'_>, list: &ResourceList) -> Option<FunctionResult> {
    let own = variant.own_item(list);
    let mut items = list
        .items()
        .filter(|(id, resource)| Some(*id) != own && !is_porch(resource));
    let (_, first) = items.next()?;
    let message = format!(
        "expected an empty package to clone into, found {} resources; to update the package, also give the role `original` (the revision that it was made from); to render it again, leave out `upstream`",
        1 + items.count()
    );
    let result = FunctionResult::error(Reason::PackageNotEmpty, message);
    Some(result.with_resource(first))
}

/// Reads the resources of the files. Adds a package context if there is none, and returns whether it did.
fn with_context(
    variant: &Variant<'_>,
    upstream: &SuppliedPackage,
    files: &mut Arc<Package>,
    results: &mut Results,
) -> Result<Option<(ResourceList, bool)>, UsageError> {
    let package = read(files, upstream.list())?;
    let Some(root) = root_kptfile(&package) else {
        let message = format!(
            "expected a Kptfile in the upstream package ({}), found none",
            upstream.place
        );
        results.push(FunctionResult::error(Reason::KptfileNotFound, message));
        return Ok(None);
    };
    match find_package_context(&package) {
        Ok(Some(_)) => return Ok(Some((package, false))),
        Err(several) => {
            for id in several {
                let message = format!(
                    "expected one ConfigMap `{PACKAGE_CONTEXT_NAME}` in the upstream package, found several"
                );
                let result = FunctionResult::error(Reason::Ambiguous, message);
                results.push(result.with_resource(package.resource(id)));
            }
            return Ok(None);
        }
        Ok(None) => {}
    }
    let path = package_context_path(&package.resource(root).origin).unwrap_or_default();
    if files.get(&path).is_some() {
        results.push(package_context_path_taken(&path));
        return Ok(None);
    }
    let text = to_block_text(&new_package_context(name_of(variant.package())));
    drop(package);
    let file = PackageFile::of_text(&path, text);
    Arc::make_mut(files).insert(path, file);
    Ok(Some((read(files, upstream.list())?, true)))
}

/// The last component of a package's path: object names have no slash.
pub(super) fn name_of(package: &str) -> &str {
    package.rsplit('/').next().unwrap_or(package)
}

/// How the clone was made from the upstream package.
struct CloneForm {
    from_items: bool,
    /// Whether the package context was created, rather than cloned from upstream.
    made_context: bool,
    identified: Identified,
}

/// The changes that make upstream's resources those of the new package.
struct DownstreamPackage<'v> {
    name: &'v str,
    root: Option<ItemId>,
    context: Option<ItemId>,
    /// Whether the package is in files, so that no annotations need to name them.
    to_files: bool,
    form: CloneForm,
}

impl DownstreamPackage<'_> {
    fn change<'d>(
        &self,
        id: ItemId,
        resource: &Resource,
        node: NodeRef<'d>,
        editor: &mut Editor<'d, 'static>,
    ) -> Result<(), EditError> {
        let is_context = Some(id) == self.context;
        if Some(id) == self.root {
            editor.set_fields(node, &["metadata"], [(NAME, Some(self.name))])?;
        }
        if resource.is_kptfile() {
            remove_bookkeeping(node, editor);
            remove_ownership(node, editor);
        }
        if is_context {
            let context = [(NAME, Some(self.name)), (PACKAGE_PATH, None)];
            editor.set_fields(node, &["data"], context)?;
        }
        let mut annotations = Vec::new();
        if !self.to_files {
            let path = resource.origin.path.as_deref().unwrap_or_default();
            annotations.extend(file_annotations(
                path,
                resource.origin.index.unwrap_or_default(),
            ));
        }
        let strip = self.form.from_items;
        let is_identified = self.form.identified == Identified::All || self.root.is_some();
        if is_context && self.form.made_context || !is_identified {
            return annotate(node, &annotations, strip, editor);
        }
        identify(resource, node, annotations, strip, editor)
    }
}

/// The key of the package context with the package's path in its repository.
pub(super) const PACKAGE_PATH: &str = "package-path";
/// The key of the package context that names the package.
pub(super) const NAME: &str = "name";
