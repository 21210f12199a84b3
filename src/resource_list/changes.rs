//! The changes that steps make in addition to edits of items: what they insert, remove and copy.
//!
//! They are only collected here. The form of the list applies them when it is emitted, or when
//! [`ResourceList::settle`](super::ResourceList::settle) is called.

use std::collections::{BTreeMap, BTreeSet};

use super::{Form, ItemId, ResourceList};
use crate::package::FileChange;
use crate::resource::{PACKAGE_PATH_ANNOTATION, file_annotations};
use crate::yaml::{Value, block_text};

/// Changes to a list in addition to edits of its items.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Resources to insert as they are written.
    pub(super) inserted: Vec<NewText>,
    /// Resources to append.
    pub(super) appended: Vec<WrittenResource>,
    pub(super) removed: BTreeSet<ItemId>,
    /// Changes to the files of a package.
    pub(super) files: FileEdits,
}

/// Changes to files beyond their documents.
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
    /// Whether items are inserted, appended or removed.
    pub(super) fn restructure(&self) -> bool {
        !(self.appended.is_empty() && self.inserted.is_empty() && self.removed.is_empty())
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

/// A resource to append, given as a value.
#[derive(Debug, Clone)]
pub struct NewResource {
    /// Path of its file, in the same terms as the paths of the other items.
    pub path: Option<String>,
    /// The package, where a pipeline runs over several.
    pub package_path: Option<String>,
    /// The resource without path annotations.
    pub value: Value,
}

/// A resource to append, in the form in which the list will emit it.
#[derive(Debug)]
pub struct WrittenResource {
    pub(super) path: Option<String>,
    pub(super) content: WrittenContent,
}

#[derive(Debug)]
pub(super) enum WrittenContent {
    /// Lines of the output: a tenth of what the value takes in memory.
    Text(String),
    /// For a list that is edited as one text.
    Value(Value),
}

impl WrittenResource {
    pub(super) fn value(self) -> Option<Value> {
        match self.content {
            WrittenContent::Value(value) => Some(value),
            WrittenContent::Text(_) => None,
        }
    }

    pub(super) fn text(self) -> Option<String> {
        match self.content {
            WrittenContent::Text(text) => Some(text),
            WrittenContent::Value(_) => None,
        }
    }

    /// About how many bytes it takes in memory.
    #[must_use]
    pub fn cost(&self) -> usize {
        const ITSELF: usize = 300;
        ITSELF
            + match &self.content {
                WrittenContent::Text(text) => text.len(),
                WrittenContent::Value(value) => value.cost(),
            }
    }
}

impl ResourceList {
    /// Inserts a resource as it is written.
    pub fn add_text(&mut self, new: NewText) {
        self.changes.inserted.push(new);
    }

    /// Appends a resource: in a package, as a new file.
    pub fn add(&mut self, resource: NewResource) {
        let written = self.write(resource);
        self.add_written(written);
    }

    /// Writes a new resource for [`ResourceList::add_written`].
    #[must_use]
    pub fn write(&self, new: NewResource) -> WrittenResource {
        // There may be many.
        let text = |text: String| WrittenContent::Text(text.into_boxed_str().into_string());
        let (path, package_path) = (new.path, new.package_path);
        let annotated = |value| with_annotations(value, path.as_deref(), package_path.as_deref());
        let content = match &self.form {
            Form::Stream(stream) => text(stream.item_text(&annotated(new.value))),
            Form::Package(_) => text(document_text(&new.value)),
            Form::Whole | Form::ReadOnly => WrittenContent::Value(annotated(new.value)),
        };
        WrittenResource {
            // An item has it in its annotations.
            path: path.filter(|_| self.is_package()),
            content,
        }
    }

    /// Writes a new resource as a document, for [`ResourceList::add_text`].
    #[must_use]
    pub fn document_text(&self, new: NewResource) -> String {
        if self.is_package() {
            return document_text(&new.value);
        }
        let (path, package_path) = (new.path.as_deref(), new.package_path.as_deref());
        document_text(&with_annotations(new.value, path, package_path))
    }

    /// Appends a resource that [`ResourceList::write`] wrote.
    pub fn add_written(&mut self, resource: WrittenResource) {
        self.changes.appended.push(resource);
    }

    /// Removes an item with the comments directly above it. A file is deleted with its last document.
    pub fn remove(&mut self, id: ItemId) {
        self.changes.removed.insert(id);
    }

    /// Adds a file that is not KRM to a package. A ResourceList cannot hold one.
    pub(crate) fn add_file(&mut self, path: String, bytes: Vec<u8>, mode: Option<u32>) {
        if self.is_package() {
            let file = FileChange::Write { path, bytes, mode };
            self.changes.files.copied.push(file);
        }
    }

    /// Deletes a file that is not KRM from a package.
    pub(crate) fn delete_file(&mut self, path: &str) {
        if let Form::Package(package) = &self.form {
            match package.number(path) {
                // Steps may insert resources into the file.
                Some(number) => self.texts[number].clear(),
                None => self.changes.files.copied.push(FileChange::delete(path)),
            }
        }
    }

    /// Sets the permission bits of a new file of a package.
    pub(crate) fn set_mode(&mut self, path: &str, mode: u32) {
        self.changes.files.modes.insert(path.to_owned(), mode);
    }

    /// Sets the head of a file of a package: what is in front of its first document.
    pub(crate) fn set_head(&mut self, path: String, head: String) {
        self.changes.files.heads.insert(path, head);
    }
}

fn document_text(resource: &Value) -> String {
    block_text(resource, 0, "\n")
}

/// A resource with the annotations by which kpt puts an item into its file, in both spellings.
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
