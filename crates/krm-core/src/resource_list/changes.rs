//! Changes of steps other than edits of items: resources and files that they insert, remove and copy.
//!
//! They are only collected here. The form of the list applies them when it is emitted, or when
//! [`ResourceList::apply_insertions`](super::ResourceList::apply_insertions) is called.

use std::collections::{BTreeMap, BTreeSet};

use super::{Form, ItemId, ResourceList};
use crate::resource::{PACKAGE_PATH_ANNOTATION, file_annotations};
use krm_package::FileChange;
use krm_package::PackageError;
use krm_yaml::{Value, to_block_text};

/// Changes to a list in addition to edits of its items.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Texts of resources to insert.
    pub(super) inserted: Vec<NewText>,
    pub(super) removed: BTreeSet<ItemId>,
    /// Changes to the files of a package.
    pub(super) files: FileEdits,
}

/// Changes to files other than changes of their documents.
#[derive(Debug, Default)]
pub(super) struct FileEdits {
    /// Files that are not KRM and are new, changed or deleted.
    pub(super) copied: Vec<FileChange>,
    /// Permission bits of new files, by path.
    pub(super) modes: BTreeMap<String, u32>,
    /// New heads, by path.
    pub(super) heads: BTreeMap<String, String>,
}

impl Changes {
    /// Whether items are inserted or removed.
    pub(super) fn restructure(&self) -> bool {
        !(self.inserted.is_empty() && self.removed.is_empty())
    }
}

/// A resource to insert, given as text.
#[derive(Debug, Clone)]
pub struct NewText {
    /// Path of its file.
    pub path: Option<String>,
    /// The resource as the text of a document, comments included, without a `---`.
    pub text: String,
    /// The item to insert it before; `None` for the end of its file, or of the list.
    pub before: Option<ItemId>,
}

/// A resource to insert at the end, given as a value.
#[derive(Debug, Clone)]
pub struct NewResource {
    /// Path of its file, in the same terms as the paths of the other items.
    pub path: Option<String>,
    /// The path of its package, if a pipeline runs over several packages.
    pub package_path: Option<String>,
    /// The resource without path annotations.
    pub value: Value,
}

impl ResourceList {
    /// Inserts a resource with this text.
    pub fn add_text(&mut self, new: NewText) {
        self.changes.inserted.push(new);
    }

    /// Writes a new resource as a document, for [`ResourceList::add_text`].
    pub fn write(&self, new: NewResource) -> NewText {
        let (path, package_path) = (new.path, new.package_path);
        let value = match self.form {
            Form::Package(_) | Form::ReadOnly => new.value,
            Form::Stream(_) | Form::Whole => {
                with_annotations(new.value, path.as_deref(), package_path.as_deref())
            }
        };
        // There may be many, so unused capacity is freed.
        let text = to_block_text(&value).into_boxed_str().into_string();
        NewText {
            path,
            text,
            before: None,
        }
    }

    /// Removes an item with the comments directly above it. A file is deleted with its last document.
    pub fn remove(&mut self, id: ItemId) {
        self.changes.removed.insert(id);
    }

    /// Adds a file that is not KRM to a package. A ResourceList cannot hold one.
    pub fn add_file(&mut self, path: String, bytes: Vec<u8>, mode: Option<u32>) {
        if self.is_package() {
            let file = FileChange::Write { path, bytes, mode };
            self.changes.files.copied.push(file);
        }
    }

    /// Deletes a file that is not KRM from a package.
    pub fn delete_file(&mut self, path: &str) {
        if let Form::Package(package) = &self.form {
            match package.number(path) {
                // The text is only emptied, because steps may insert resources into the file.
                Some(number) => self.texts[number].clear(),
                None => self.changes.files.copied.push(FileChange::delete(path)),
            }
        }
    }

    /// Makes a file of a package executable, or no longer executable, as these permission bits are.
    ///
    /// # Errors
    /// An error if the file can no longer be read.
    pub fn set_executable(&mut self, path: &str, wanted: u32) -> Result<(), PackageError> {
        let has_text = self.has_text(path);
        let copied = &mut self.changes.files.copied;
        let mut written = copied.iter_mut().filter(|change| change.path() == path);
        match written.next() {
            Some(FileChange::Write { mode, .. }) => *mode = Some(wanted),
            Some(FileChange::Delete { .. }) => {}
            None if has_text => self.set_mode(path, wanted),
            None => {
                let bytes = self.read_file(path)?.into_owned();
                self.add_file(path.to_owned(), bytes, Some(wanted));
            }
        }
        Ok(())
    }

    /// Sets the permission bits of a new file of a package.
    pub fn set_mode(&mut self, path: &str, mode: u32) {
        self.changes.files.modes.insert(path.to_owned(), mode);
    }

    /// Sets the head of a file of a package: the text before its first document.
    pub fn set_head(&mut self, path: String, head: String) {
        self.changes.files.heads.insert(path, head);
    }
}

/// A resource with the annotations by which kpt assigns an item to its file, in both spellings.
fn with_annotations(mut resource: Value, path: Option<&str>, package_path: Option<&str>) -> Value {
    let Some(path) = path else { return resource };
    let annotations = resource.field_mut("metadata").field_mut("annotations");
    for (name, text) in file_annotations(path, 0) {
        annotations.push(name, text);
    }
    if let Some(package) = package_path {
        annotations.push(PACKAGE_PATH_ANNOTATION, package);
    }
    resource
}
