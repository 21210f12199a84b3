//! Runs a step on the package in a PackageRevisionResources: on the files in it, which are then written back.
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

use crate::supplied::{RESOURCES, texts_in};
use krm_core::config::UsageError;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::{FileChange, check_package_path};
use krm_yaml::{Content, EditError, Editor, NodeRef, Path, Value};

/// Calls `work` on the package in a PackageRevisionResources, and writes its files back. `None` after an error result
/// about the path of a file.
pub fn within<T>(
    id: ItemId,
    list: &mut ResourceList,
    results: &mut Results,
    work: impl FnOnce(&mut ResourceList, &mut Results) -> Result<T, UsageError>,
) -> Result<Option<T>, UsageError> {
    let files = texts_in(list.node(id), "the local package")?;
    let mut valid = true;
    for (path, _) in &files {
        if let Err(error) = check_package_path(path) {
            valid = false;
            let result = FunctionResult::error(Reason::InvalidPath, error.to_string());
            let field = Path::fields(&RESOURCES).field(path.as_str());
            results.push(result.with_resource(list.resource(id)).with_field(field));
        }
    }
    if !valid {
        return Ok(None);
    }
    let mut package = ResourceList::from_texts(files)
        .map_err(|error| UsageError::of(format!("the local PackageRevisionResources, {error}")))?;
    let done = work(&mut package, results)?;
    for (id, error) in package.refused_removals() {
        results.push(FunctionResult::refused(&error).with_resource(package.resource(id)));
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
        let result = FunctionResult::refused(&error).with_resource(list.resource(id));
        results.push(result.with_field(Path::fields(&RESOURCES)));
    }
    Ok(Some(done))
}

/// The new texts of files; `None` for a file to be deleted. The object can only hold text, so other files are left
/// out with a warning.
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
                None => drop(editor.remove_entry(resources, path)),
            }
        }
        return Ok(());
    }
    let files = changes.iter().filter_map(|(path, text)| {
        let text = text.as_deref()?;
        Some((Value::from(path.as_str()), Value::from(text)))
    });
    let files = Value::Mapping(files.collect());
    editor.set_path(node, &RESOURCES, files.into())
}
