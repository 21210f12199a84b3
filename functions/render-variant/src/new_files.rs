//! Collects the files of an upstream package for a new variant.

use krm_core::config::UsageError;
use krm_core::resource::Origin;
use krm_core::resource_list::{ItemId, ResourceList, own_text};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::upstream_identifier::with_metadata_in_lines;
use krm_function::supplied::SuppliedPackage;
use krm_merge::package::{decide_incoming, files_of};
use krm_package::text::Text;
use krm_package::{
    FileContent, Package, PackageFile, Skipped, is_revision_metadata, normalize_package_path,
};

/// The content of a file with resources, with its `metadata` in block style so that kpt can add comments.
fn krm(text: &Text) -> FileContent {
    FileContent::Krm(with_metadata_in_lines(text).map_or_else(|| text.clone(), Text::from))
}

/// All files of an upstream package that it may bring into the local one, including those that `.krmignore` excludes.
/// Adds a warning for each file that is not cloned.
pub(super) fn files_of_upstream(
    upstream: &SuppliedPackage,
    local: &ResourceList,
    results: &mut Results,
) -> Result<Package, UsageError> {
    let files = if upstream.files().is_none_or(Package::is_empty) {
        files_of_items(upstream.list())
    } else {
        files_of_package(upstream, results)?
    };
    let incoming = decide_incoming(None, &files_of(local), &files, results)?;
    Ok(files.without(|path| incoming.refusal(path).is_some()))
}

fn files_of_package(
    upstream: &SuppliedPackage,
    results: &mut Results,
) -> Result<Package, UsageError> {
    let mut files = upstream.clone_only_files()?;
    let skipped = std::mem::take(&mut files.skipped);
    for Skipped { path, reason } in &skipped {
        let result = FunctionResult::warning(Reason::SkippedFile, format!("not cloned: {reason}"));
        results.push(result.in_file(path.clone()));
    }
    let is_skipped = |path: &str| skipped.iter().any(|skipped| skipped.path == path);
    let is_yaml = |path: &str| {
        let mut not_yaml = upstream.list().not_yaml().into_iter();
        not_yaml.all(|files| !files.contains_key(path))
    };
    let read = upstream.files().into_iter().flat_map(Package::files);
    for (path, file) in read.filter(|(path, _)| !is_skipped(path)) {
        // An empty file has no text to edit.
        let text = file.krm().filter(|text| !text.is_empty() && is_yaml(path));
        let content = match text {
            Some(text) => krm(text),
            None => FileContent::Other(upstream.read_file(path)?.into_owned()),
        };
        files.insert(path, PackageFile::new(content, file.mode));
    }
    Ok(files)
}

/// Creates files for the items of a supplied list. Their annotations name the files; without one, kpt's naming rule
/// does.
fn files_of_items(list: &ResourceList) -> Package {
    let mut items: Vec<(String, usize, ItemId)> = list
        .items()
        .map(|(id, resource)| {
            let Origin { path, index, .. } = &resource.origin;
            let name = resource.name.as_deref().unwrap_or_default();
            let named = || format!("{}_{name}.yaml", resource.kind).to_lowercase();
            let path = path.as_deref().map(normalize_package_path);
            let named_so = if resource.is_kptfile() {
                "Kptfile".to_owned()
            } else {
                named()
            };
            (path.unwrap_or(named_so), index.unwrap_or_default(), id)
        })
        .filter(|(path, ..)| !is_revision_metadata(path))
        .collect();
    items.sort();
    let mut files: Vec<(String, Vec<ItemId>)> = Vec::new();
    for (path, _, id) in items {
        match files.last_mut().filter(|(last, _)| *last == path) {
            Some((_, ids)) => ids.push(id),
            None => files.push((path, vec![id])),
        }
    }
    let mut package = Package::default();
    for (path, ids) in files {
        let texts = ids.iter().map(|id| list.read(*id, own_text));
        let texts: Vec<String> = texts.collect();
        let content = krm(&Text::from(texts.join("---\n")));
        package.insert(path, PackageFile::new(content, None));
    }
    package
}
