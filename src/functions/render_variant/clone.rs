//! The first step of a new variant: all of upstream's files become the package.
//!
//! What changes on the way: the Kptfile's name, `name` in the package context, and an annotation on
//! each resource that tells later merges which one of upstream's it is.

use crate::config::UsageError;
use crate::kptfile::{
    PACKAGE_CONTEXT_FILE, PACKAGE_CONTEXT_NAME, find_package_context, new_package_context,
    package_context_path, package_context_path_taken, root_kptfile,
};
use crate::merge::upstream_identifier::{UPSTREAM_IDENTIFIER, UpstreamIdentifier};
use crate::package::{FileContent, PackageFile, PackageFiles, normalize_package_path};
use crate::resource::{
    INDEX_ANNOTATIONS, Origin, PATH_ANNOTATIONS, Resource, is_pipeline_annotation,
};
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::supplied::SuppliedPackage;
use crate::yaml::{
    Content, EditError, Editor, NodeKind, NodeRef, Value, comments_above, node_text, to_block_text,
};

use super::Variant;

/// A file to be made.
struct NewFile {
    path: String,
    bytes: Vec<u8>,
    mode: Option<u32>,
    /// Whether it is read for resources.
    is_krm: bool,
}

/// Clones upstream into the list, which must hold no package yet.
pub(super) fn clone(
    variant: &Variant<'_>,
    upstream: &SuppliedPackage,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<(), UsageError> {
    if let Some(finding) = refuse_package(variant, list) {
        results.push(finding);
        return Ok(());
    }
    let from_items = upstream.files().next().is_none();
    let mut files = if from_items {
        files_of_items(upstream.list())
    } else {
        files_of_package(upstream)?
    };
    refuse_taken(&files, list, results);
    let count = files.len();
    let Some(mut package) = with_context(variant, &upstream.place, &mut files, results)? else {
        return Ok(());
    };
    if results.has_errors() {
        return Ok(());
    }
    let form = Form {
        from_items,
        made_context: files.len() > count,
        to_files: list.is_package(),
    };
    adopt(variant, upstream, &mut package, form, list, results);
    if results.has_errors() {
        return Ok(());
    }
    let count = add_files(files, list, results) - usize::from(form.made_context);
    let made = if form.made_context {
        format!(", and made `{PACKAGE_CONTEXT_FILE}`")
    } else {
        String::new()
    };
    let message = format!("cloned {count} files of the upstream package{made}");
    results.push(FunctionResult::info(message).about(&variant.resource));
    Ok(())
}

/// An error for each file that the package to clone into has already.
fn refuse_taken(files: &[NewFile], list: &ResourceList, results: &mut Results) {
    let package_path = list.root_package_path();
    for file in files {
        if list.has_path(package_path, &file.path) {
            let message = "expected no such file in the package to clone into, found one";
            let result = FunctionResult::error(Reason::PathTaken, message);
            results.push(result.in_file(&file.path));
        }
    }
}

/// Edits the resources of upstream for downstream, and takes them into the list.
fn adopt(
    variant: &Variant<'_>,
    upstream: &SuppliedPackage,
    package: &mut ResourceList,
    form: Form,
    list: &mut ResourceList,
    results: &mut Results,
) {
    let mut refused = Vec::new();
    let edited = edit(variant, package, form, &mut refused);
    let adopted = edited.and_then(|()| match refused.is_empty() {
        true => list.adopt(package),
        false => Ok(()),
    });
    let refusal = |error: &EditError| {
        let mut result = FunctionResult::refused(error);
        result.message = format!("cannot clone {}: {error}", upstream.place);
        result
    };
    if let Err(error) = adopted {
        results.push(refusal(&error));
    }
    for (resource, error) in &refused {
        results.push(refusal(error).about(resource));
    }
}

/// Adds the files that hold no resources, and the permission bits of those that do. Gives the number
/// of files that the list holds now.
fn add_files(files: Vec<NewFile>, list: &mut ResourceList, results: &mut Results) -> usize {
    let mut count = 0;
    for file in files {
        if file.is_krm && !file.bytes.is_empty() {
            count += 1;
            if let Some(mode) = file.mode {
                list.set_mode(&file.path, mode);
            }
        } else if list.is_package() {
            count += 1;
            list.add_file(file.path, file.bytes, file.mode);
        } else {
            let message =
                "not cloned: a ResourceList holds resources only; `--package` clones all files";
            let result = FunctionResult::warning(Reason::SkippedFile, message);
            results.push(result.in_file(file.path));
        }
    }
    count
}

/// A package that is there already must be updated instead. The PackageVariant itself and Porch's
/// objects are no part of it.
pub(super) fn refuse_package(variant: &Variant<'_>, list: &ResourceList) -> Option<FunctionResult> {
    let own = variant.own_item(list);
    let is_porch =
        |resource: &Resource| matches!(resource.group(), "porch.kpt.dev" | "config.porch.kpt.dev");
    let mut items = list
        .items()
        .filter(|(id, resource)| Some(*id) != own && !is_porch(resource));
    let (_, first) = items.next()?;
    let message = format!(
        "expected an empty package to clone into, found {} resources; to update the package give the role \
         `original` too (the revision that it was made from), to render it again as it is leave \
         `upstream` out",
        1 + items.count()
    );
    let result = FunctionResult::error(Reason::PackageNotEmpty, message);
    Some(result.about(first))
}

fn files_of_package(package: &SuppliedPackage) -> Result<Vec<NewFile>, UsageError> {
    let files = package.files().map(|file| {
        Ok(NewFile {
            path: file.path.clone(),
            bytes: package.read_file(&file.path)?.into_owned(),
            mode: file.mode,
            is_krm: file.is_krm(),
        })
    });
    files.collect()
}

/// The items of a supplied list, put into files as they say, or as kpt would.
fn files_of_items(list: &ResourceList) -> Vec<NewFile> {
    let mut items: Vec<(String, usize, ItemId)> = list
        .items()
        .map(|(id, resource)| {
            let Origin { path, index, .. } = &resource.origin;
            let name = resource.name.as_deref().unwrap_or_default();
            let named = || format!("{}_{name}.yaml", resource.kind).to_lowercase();
            let path = path.as_deref().map(normalize_package_path);
            let named_so = match resource.is_kptfile() {
                true => "Kptfile".to_owned(),
                false => named(),
            };
            (path.unwrap_or(named_so), index.unwrap_or_default(), id)
        })
        .collect();
    items.sort();
    let mut files: Vec<NewFile> = Vec::new();
    for (path, _, id) in items {
        let text = own_text(list.node(id));
        match files.last_mut().filter(|file| file.path == path) {
            Some(file) => {
                file.bytes.extend_from_slice(b"---\n");
                file.bytes.extend_from_slice(text.as_bytes());
            }
            None => files.push(NewFile {
                path,
                bytes: text.into_bytes(),
                mode: None,
                is_krm: true,
            }),
        }
    }
    files
}

/// The text of a resource with its comments: of its document, or of the item that it is.
fn own_text(node: NodeRef<'_>) -> String {
    if let Some(text) = node.document_text() {
        return match text.ends_with('\n') {
            true => text.to_owned(),
            false => format!("{text}\n"),
        };
    }
    let above = comments_above(node).into_iter();
    let above: String = above.flat_map(|comment| [comment, "\n"]).collect();
    above + &node_text(node)
}

/// The resources of the files, with a package context among them.
fn with_context(
    variant: &Variant<'_>,
    place: &str,
    files: &mut Vec<NewFile>,
    results: &mut Results,
) -> Result<Option<ResourceList>, UsageError> {
    let package = read(files)?;
    let Some(root) = root_kptfile(&package) else {
        let message = format!("expected a Kptfile in the upstream package ({place}), found none");
        results.push(FunctionResult::error(Reason::KptfileNotFound, message));
        return Ok(None);
    };
    match find_package_context(&package, Some(root)) {
        Ok(Some(_)) => return Ok(Some(package)),
        Err(several) => {
            for id in several {
                let message = format!(
                    "expected one ConfigMap `{PACKAGE_CONTEXT_NAME}` in the upstream package, found several"
                );
                let result = FunctionResult::error(Reason::Ambiguous, message);
                results.push(result.about(package.resource(id)));
            }
            return Ok(None);
        }
        Ok(None) => {}
    }
    let path = package_context_path(&package.resource(root).origin).unwrap_or_default();
    if files.iter().any(|file| file.path == path) {
        results.push(package_context_path_taken(&path));
        return Ok(None);
    }
    files.push(NewFile {
        path,
        bytes: to_block_text(&new_package_context(name_of(variant.package()))).into_bytes(),
        mode: None,
        is_krm: true,
    });
    read(files).map(Some)
}

/// The name of a package without its path in the repository: object names hold no slash.
pub(super) fn name_of(package: &str) -> &str {
    package.rsplit('/').next().unwrap_or(package)
}

fn read(files: &[NewFile]) -> Result<ResourceList, UsageError> {
    let mut package = PackageFiles::empty("");
    for file in files.iter().filter(|file| file.is_krm) {
        // Empty files have no text to edit, and are copied as they are.
        let text = String::from_utf8_lossy(&file.bytes);
        if !text.is_empty() {
            package.files.push(PackageFile {
                path: file.path.clone(),
                content: FileContent {
                    text: text.into_owned(),
                    mode: file.mode.unwrap_or(0o644),
                    target: None,
                },
            });
        }
    }
    package.files.sort_by(|a, b| a.path.cmp(&b.path));
    ResourceList::from_files(&package).map_err(|error| UsageError(error.to_string()))
}

/// What the upstream package comes as, and what it becomes.
#[derive(Clone, Copy)]
struct Form {
    from_items: bool,
    /// Its package context is new, and so not upstream's.
    made_context: bool,
    to_files: bool,
}

/// Gives upstream's resources the names and annotations that they have downstream. `refused` gets those
/// that cannot be edited.
fn edit(
    variant: &Variant<'_>,
    package: &mut ResourceList,
    form: Form,
    refused: &mut Vec<(Resource, EditError)>,
) -> Result<(), EditError> {
    let name = name_of(variant.package());
    let place_of = |id: ItemId| {
        let origin = &package.resource(id).origin;
        (origin.path.clone(), origin.index)
    };
    let root = root_kptfile(package);
    let context = find_package_context(package, root)
        .ok()
        .flatten()
        .map(place_of);
    let root = root.map(place_of);
    package.edit_each(|resource, node, editor| {
        let done = (|| {
            let place = Some((resource.origin.path.clone(), resource.origin.index));
            let mut annotations: Vec<(&str, String)> = Vec::new();
            if !form.to_files {
                let path = resource.origin.path.clone().unwrap_or_default();
                let index = resource.origin.index.unwrap_or_default().to_string();
                for (index_name, path_name) in INDEX_ANNOTATIONS.iter().zip(PATH_ANNOTATIONS) {
                    annotations.push((index_name, index.clone()));
                    annotations.push((path_name, path.clone()));
                }
            }
            if place == root {
                set_under(node, "metadata", "name", name, editor)?;
            }
            let is_context = place == context;
            if is_context {
                set_under(node, "data", "name", name, editor)?;
            }
            let identifier =
                UpstreamIdentifier::of(resource).filter(|_| !(is_context && form.made_context));
            annotations.extend(identifier.map(|id| (UPSTREAM_IDENTIFIER, id.to_string())));
            annotate(node, &annotations, form.from_items, editor)
        })();
        if let Err(error) = done {
            refused.push((resource.clone(), error));
        }
        Ok(())
    })
}

/// Sets a field of a mapping, which is made if it is not there; an equal one stays as it is.
fn set_under<'d>(
    node: NodeRef<'d>,
    key: &str,
    field: &str,
    value: &str,
    editor: &mut Editor<'d, 'static>,
) -> Result<(), EditError> {
    match node.entry(key).map(|entry| entry.value) {
        Some(mapping) => {
            let same = mapping.get(field).and_then(|old| old.as_str()) == Some(value);
            if same {
                return Ok(());
            }
            editor.set(mapping, field, Content::Value(Value::from(value)))
        }
        None => {
            let entries = vec![(Value::from(field), Value::from(value))];
            editor.insert_entry(node, None, key, Content::Value(Value::Mapping(entries)))
        }
    }
}

/// Sets annotations; `strip` takes away those by which kpt knew the resource as an item.
fn annotate<'d>(
    node: NodeRef<'d>,
    annotations: &[(&str, String)],
    strip: bool,
    editor: &mut Editor<'d, 'static>,
) -> Result<(), EditError> {
    let Some(metadata) = node.entry("metadata").map(|entry| entry.value) else {
        return Ok(());
    };
    let old = metadata.entry("annotations").map(|entry| entry.value);
    let old = old.filter(|old| old.kind().is_mapping() || old.kind() == NodeKind::Alias);
    let Some(old) = old else {
        if annotations.is_empty() {
            return Ok(());
        }
        let pairs = annotations.iter();
        let pairs = pairs.map(|(key, value)| (Value::from(*key), Value::from(value.as_str())));
        let value = Content::Value(Value::Mapping(pairs.collect()));
        return editor.set(metadata, "annotations", value);
    };
    let is_set = |key: &str| annotations.iter().any(|(name, _)| *name == key);
    if strip {
        let names = old.entries().filter_map(|entry| entry.key.as_str());
        let (gone, kept): (Vec<&str>, Vec<&str>) =
            names.partition(|name| is_pipeline_annotation(name) && !is_set(name));
        if kept.is_empty() && annotations.is_empty() && !gone.is_empty() {
            editor.remove_entry(metadata, "annotations")?;
            return Ok(());
        }
        for name in gone {
            editor.remove_entry(old, name)?;
        }
    }
    for (key, value) in annotations {
        if old.get(key).and_then(|old| old.as_str()) != Some(value) {
            editor.set(old, key, Content::Value(Value::from(value.as_str())))?;
        }
    }
    Ok(())
}
