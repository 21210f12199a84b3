//! The files of an upstream package, on their way into a new variant.

use std::collections::HashSet;

use crate::config::UsageError;
use crate::merge::upstream_identifier::with_metadata_in_lines;
use crate::package::{Package, Skipped, is_revision_metadata, normalize_package_path};
use crate::resource::Origin;
use crate::resource_list::{ItemId, KrmFile, ResourceList, own_text};
use crate::results::{FunctionResult, Reason, Results};
use crate::supplied::SuppliedPackage;
use crate::text::Text;

/// A file to create.
pub(super) struct NewFile {
    pub(super) path: String,
    pub(super) mode: Option<u32>,
    pub(super) content: NewContent,
}

pub(super) enum NewContent {
    /// A file that is read for resources.
    Krm(KrmFile),
    Other(Vec<u8>),
}

impl NewFile {
    pub(super) fn krm(path: String, text: String) -> Result<Self, UsageError> {
        Ok(Self {
            path: path.clone(),
            mode: None,
            content: NewContent::Krm(parsed(path, text)?),
        })
    }

    /// Forgets the identities of its resources, which are in the package by now.
    pub(super) fn forget_identities(&mut self) {
        if let NewContent::Krm(file) = &mut self.content {
            file.documents = Vec::new();
        }
    }

    /// Its resources get a place for comments of kpt.
    pub(super) fn write_metadata_in_lines(&mut self) -> Result<(), UsageError> {
        if let NewContent::Krm(file) = &mut self.content
            && let Some(text) = with_metadata_in_lines(file.text.text())
        {
            *file = parsed(file.path.clone(), text)?;
        }
        Ok(())
    }

    /// Its resources. An empty file has no text to edit, and is copied.
    pub(super) fn resources(&self) -> Option<&KrmFile> {
        match &self.content {
            NewContent::Krm(file) => Some(file).filter(|file| !file.text.text().is_empty()),
            NewContent::Other(_) => None,
        }
    }
}

fn parsed(path: String, text: String) -> Result<KrmFile, UsageError> {
    let file = KrmFile::parse(path, Text::from(text));
    file.map_err(|error| UsageError(error.to_string()))
}

/// All files of a package, those that `.krmignore` names included. What is left out is a warning.
pub(super) fn files_of_package(
    package: &SuppliedPackage,
    results: &mut Results,
) -> Result<Vec<NewFile>, UsageError> {
    let unread = package.unread()?;
    let skipped = unread.skipped.iter();
    let links: HashSet<&str> = skipped.map(|link| link.path.as_str()).collect();
    for Skipped { path, reason } in &unread.skipped {
        let result = FunctionResult::warning(Reason::SkippedFile, format!("not cloned: {reason}"));
        results.push(result.in_file(path.clone()));
    }
    let read = package.files().into_iter().flat_map(Package::files);
    let read = read.filter(|(path, _)| !links.contains(path));
    let mut files = Vec::new();
    for (path, file) in read {
        let content = match package.list().krm_file(path) {
            Some(krm) => NewContent::Krm(krm),
            None => NewContent::Other(package.read_file(path)?.into_owned()),
        };
        files.push(NewFile {
            path: path.to_owned(),
            mode: file.mode,
            content,
        });
    }
    for (path, file) in unread.files() {
        let bytes = unread
            .read(path)
            .map_err(|error| UsageError(error.to_string()))?;
        files.push(NewFile {
            path: path.to_owned(),
            mode: file.mode,
            content: NewContent::Other(bytes.into_owned()),
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Files for the items of a supplied list, named by their annotations, or as kpt names them.
pub(super) fn files_of_items(list: &ResourceList) -> Result<Vec<NewFile>, UsageError> {
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
    let files = files.into_iter();
    files
        .map(|(path, ids)| file_of_items(path, &ids, list))
        .collect()
}

fn file_of_items(path: String, ids: &[ItemId], list: &ResourceList) -> Result<NewFile, UsageError> {
    let texts = ids.iter().map(|id| list.read(*id, own_text));
    let texts: Vec<String> = texts.collect();
    NewFile::krm(path, texts.join("---\n"))
}

/// The resources of the files.
pub(super) fn read(files: &[NewFile]) -> ResourceList {
    let krm = files.iter().filter_map(NewFile::resources);
    let mut krm: Vec<KrmFile> = krm.map(KrmFile::copy).collect();
    krm.sort_by(|a, b| a.path.cmp(&b.path));
    ResourceList::from_krm_files(krm)
}
