//! A local package in the form of a PackageRevisionResources.
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
//! Source: contract, merge-package and Supplied inputs.

use crate::config::UsageError;
use crate::package::{FileChange, check_package_path};
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results, with_article};
use crate::supplied::is_package_revision_resources;
use crate::yaml::{Content, EditError, Path, Value};

/// The PackageRevisionResources that is the only item of a list.
pub(super) fn only_package(list: &ResourceList) -> Option<ItemId> {
    let mut items = list.items();
    let (Some((id, resource)), None) = (items.next(), items.next()) else {
        return None;
    };
    let is_one = resource.kind == "PackageRevisionResources";
    (is_one && list.read(id, is_package_revision_resources)).then_some(id)
}

/// Merges the files in a PackageRevisionResources.
pub(super) fn merge_package_revision(
    id: ItemId,
    merge: impl FnOnce(&mut ResourceList, &mut Results) -> Result<(), UsageError>,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<(), UsageError> {
    let Some(files) = files(id, list, results)? else {
        return Ok(());
    };
    let mut package = ResourceList::from_texts(files)
        .map_err(|error| UsageError(format!("the local PackageRevisionResources, {error}")))?;
    merge(&mut package, results)?;
    if results.has_errors() {
        return Ok(());
    }
    let changes = package.file_changes();
    let written = list.edit(id, |node, editor| {
        let resources = node.get_path(&RESOURCES).map(|node| node.resolved());
        let Some(resources) = resources.filter(|node| node.kind().is_mapping()) else {
            return Ok(());
        };
        for change in &changes {
            match change {
                FileChange::Write { path, bytes, .. } => {
                    let text = Value::from(String::from_utf8_lossy(bytes).into_owned());
                    editor.set(resources, path, Content::Value(text))?;
                }
                FileChange::Delete { path } => {
                    editor.remove_entry(resources, path)?;
                }
            }
        }
        Ok::<_, EditError>(())
    });
    if let Err(error) = written {
        let result = FunctionResult::refused(&error).about(list.resource(id));
        results.push(result.at(Path::fields(&RESOURCES)));
    }
    Ok(())
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
            return Err(UsageError(format!(
                "the local PackageRevisionResources, {}: expected the text of a file, found {}",
                entry.value.location(),
                with_article(entry.value.kind_name())
            )));
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
