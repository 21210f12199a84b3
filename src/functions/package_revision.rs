//! A package in the form of a PackageRevisionResources: a step works on the files in it, and they are written back.
//!
//! ```yaml
//! apiVersion: porch.kpt.dev/v1alpha1
//! kind: PackageRevisionResources
//! spec:
//!   resources:
//!     Kptfile: |      # the file's text, changed in place
//!       ...
//! ```
//!
//! Source: contract, Supplied inputs and render-variant.

use crate::config::UsageError;
use crate::package::{FileChange, check_package_path};
use crate::resource::Resource;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results, with_article};
use crate::supplied::is_package_revision_resources;
use crate::yaml::{Content, EditError, Editor, NodeRef, Path, Value};

/// The PackageRevisionResources that is the only item of a list.
pub(super) fn only_package(list: &ResourceList) -> Option<ItemId> {
    package_beside(list, |_| false)
}

/// Whether a list holds a package in the form of a PackageRevisionResources and nothing else.
pub(crate) fn is_package_revision(list: &ResourceList) -> bool {
    only_package(list).is_some()
}

/// The only PackageRevisionResources of a list in which all other items are no part of a package.
pub(super) fn package_beside(
    list: &ResourceList,
    is_beside: impl Fn(&Resource) -> bool,
) -> Option<ItemId> {
    let is_one = |resource: &Resource| resource.kind == "PackageRevisionResources";
    let mut items = list.items();
    let mut items = items
        .by_ref()
        .filter(|(_, resource)| is_one(resource) || !is_beside(resource));
    let (Some((id, resource)), None) = (items.next(), items.next()) else {
        return None;
    };
    (is_one(resource) && list.read(id, is_package_revision_resources)).then_some(id)
}

/// Does something with the package in a PackageRevisionResources, and writes its files back. `None` if a path of a file
/// is not allowed, which is an error result then.
pub(super) fn within<T>(
    id: ItemId,
    list: &mut ResourceList,
    results: &mut Results,
    work: impl FnOnce(&mut ResourceList, &mut Results) -> Result<T, UsageError>,
) -> Result<Option<T>, UsageError> {
    let Some(files) = files(id, list, results)? else {
        return Ok(None);
    };
    let mut package = ResourceList::from_texts(files).map_err(|error| {
        UsageError::Refused(format!("the local PackageRevisionResources, {error}"))
    })?;
    let done = work(&mut package, results)?;
    for (id, error) in package.refused_removals() {
        results.push(FunctionResult::refused(&error).about(package.resource(id)));
    }
    if results.has_errors() {
        return Ok(Some(done));
    }
    let changes = texts(package.file_changes(), results);
    if changes.is_empty() {
        return Ok(Some(done));
    }
    let written = list.edit(id, |node, editor| write(node, &changes, editor));
    if let Err(error) = written {
        let result = FunctionResult::refused(&error).about(list.resource(id));
        results.push(result.at(Path::fields(&RESOURCES)));
    }
    Ok(Some(done))
}

const RESOURCES: [&str; 2] = ["spec", "resources"];

/// The files and their texts. A path that is not allowed is an error result, and gives `None`.
fn files(
    id: ItemId,
    list: &ResourceList,
    results: &mut Results,
) -> Result<Option<Vec<(String, String)>>, UsageError> {
    let mut files = Vec::new();
    let mut valid = true;
    let Some(resources) = list.node(id).get_path(&RESOURCES) else {
        return Ok(Some(files));
    };
    for entry in resources.entries() {
        let (Some(path), Some(text)) = (entry.key.scalar_text(), entry.value.as_str()) else {
            return Err(UsageError::expected(
                format_args!(
                    "the local PackageRevisionResources, {}",
                    entry.value.location()
                ),
                "the text of a file",
                with_article(entry.value.kind_name()),
            ));
        };
        if let Err(error) = check_package_path(path) {
            valid = false;
            let result = FunctionResult::error(Reason::InvalidPath, error.to_string());
            let field = Path::fields(&RESOURCES).field(path);
            results.push(result.about(list.resource(id)).at(field));
        }
        files.push((path.to_owned(), text.to_owned()));
    }
    Ok(valid.then_some(files))
}

/// The new texts of files, `None` for a deleted one. What is not text has no place in the object: it is left out,
/// with a warning.
fn texts(changes: Vec<FileChange>, results: &mut Results) -> Vec<(String, Option<String>)> {
    let mut texts = Vec::with_capacity(changes.len());
    for change in changes {
        match change {
            FileChange::Write { path, bytes, .. } => match String::from_utf8(bytes) {
                Ok(text) => texts.push((path, Some(text))),
                Err(_) => {
                    let message = "not written: a PackageRevisionResources holds text, and the file is not UTF-8";
                    let result = FunctionResult::warning(Reason::SkippedFile, message);
                    results.push(result.in_file(path));
                }
            },
            FileChange::Delete { path } => texts.push((path, None)),
        }
    }
    texts
}

fn write<'d>(
    node: NodeRef<'d>,
    changes: &[(String, Option<String>)],
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let content = |text: &str| Content::Value(Value::from(text));
    let resources = node.get_path(&RESOURCES);
    if let Some(resources) = resources.filter(|node| node.kind().is_mapping()) {
        for (path, text) in changes {
            match text {
                Some(text) => editor.set(resources, path, content(text))?,
                None => editor.remove_entry(resources, path).map(drop)?,
            }
        }
        return Ok(());
    }
    let files = changes.iter().filter_map(|(path, text)| {
        let text = text.as_deref()?;
        Some((Value::from(path.as_str()), Value::from(text)))
    });
    let files = Value::Mapping(files.collect());
    match node.get("spec").filter(|spec| spec.kind().is_mapping()) {
        Some(spec) => editor.set(spec, RESOURCES[1], Content::Value(files)),
        None => {
            let spec = Value::Mapping(vec![(Value::from(RESOURCES[1]), files)]);
            editor.set(node, RESOURCES[0], Content::Value(spec))
        }
    }
}
