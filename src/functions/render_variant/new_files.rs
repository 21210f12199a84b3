//! The files of an upstream package, on their way into a new variant.

use crate::config::UsageError;
use crate::package::{FileContent, PackageFile, PackageFiles, normalize_package_path};
use crate::resource::Origin;
use crate::resource_list::{ItemId, ResourceList};
use crate::supplied::SuppliedPackage;
use crate::yaml::{NodeRef, comments_above, node_text};

/// A file to create.
pub(super) struct NewFile {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) mode: Option<u32>,
    /// Whether it holds resources.
    pub(super) is_krm: bool,
}

pub(super) fn files_of_package(package: &SuppliedPackage) -> Result<Vec<NewFile>, UsageError> {
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

/// Files for the items of a supplied list, named by their annotations, or as kpt names them.
pub(super) fn files_of_items(list: &ResourceList) -> Vec<NewFile> {
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

/// The text of a resource with its comments.
fn own_text(node: NodeRef<'_>) -> String {
    if let Some(text) = node.document_text() {
        return if text.ends_with('\n') {
            text.to_owned()
        } else {
            format!("{text}\n")
        };
    }
    let above = comments_above(node).into_iter();
    let above: String = above.flat_map(|comment| [comment, "\n"]).collect();
    above + &node_text(node)
}

/// The resources of the files.
pub(super) fn read(files: &[NewFile]) -> Result<ResourceList, UsageError> {
    let mut package = PackageFiles::empty("");
    for file in files.iter().filter(|file| file.is_krm) {
        // Empty files are copied.
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
