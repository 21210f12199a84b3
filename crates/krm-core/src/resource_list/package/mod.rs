//! The files of a package: a text for each file with a KRM name ([`is_krm_name`]). Other files are only read when a
//! step needs them.

mod files;

pub(super) use files::relative_to;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::changes::{Changes, FileEdits, NewText};
use super::documents::{Added, documents_text};
use super::wrapper::InputError;
use super::{Form, Item, ResourceList};
use crate::resource::Resource;
use crate::source_text::{Locator, SourceText};
use krm_package::parallel;
use krm_package::text::Text;
use krm_package::{FileChange, Package, file_name, is_krm_name};
use krm_yaml::{Document, ParseError, Tree};

/// The files of a package; the text of file N is text N of the list.
#[derive(Debug)]
pub(super) struct PackageForm {
    paths: Vec<String>,
    numbers: HashMap<String, usize>,
    /// The files as they were read.
    read: Arc<Package>,
    /// Files with KRM names that are not YAML; `None` if such files are errors.
    not_yaml: Option<NotYaml>,
}

/// Files with KRM names that are not YAML, each with its parse error.
pub type NotYaml = BTreeMap<String, ParseError>;

/// The resources of a file, each with the index of its document.
type NumberedDocuments = Vec<(usize, Resource)>;

fn numbered(documents: Vec<Option<Resource>>) -> NumberedDocuments {
    let documents = documents.into_iter().enumerate();
    let krm = documents.filter_map(|(number, resource)| Some((number, resource?)));
    krm.collect()
}

impl PackageForm {
    /// Adds a file, whose text becomes the next one of the list; returns the file's number.
    pub(super) fn push(&mut self, path: String) -> usize {
        let number = self.paths.len();
        self.numbers.insert(path.clone(), number);
        self.paths.push(path);
        number
    }

    /// The number of a file with a KRM name.
    pub(super) fn number(&self, path: &str) -> Option<usize> {
        self.numbers.get(path).copied()
    }

    /// Whether a file with a KRM name is treated as text, because it is not YAML.
    fn is_text(&self, path: &str) -> bool {
        let mut not_yaml = self.not_yaml.iter();
        not_yaml.any(|files| files.contains_key(path))
    }

    /// The files with KRM names.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// The files that have no text in the list.
    fn others(&self) -> impl Iterator<Item = &str> {
        let paths = self.read.files().map(|(path, _)| path);
        paths.filter(|path| !self.numbers.contains_key(*path))
    }

    /// Whether there is a file of this path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.numbers.contains_key(path) || self.read.get(path).is_some()
    }

    /// The changed, deleted and new files.
    fn emit(&self, texts: &[SourceText], items: &[Item], changes: &mut Changes) -> Vec<FileChange> {
        let FileEdits {
            copied,
            modes,
            heads,
        } = &changes.files;
        let write = |path: &str, text: String| FileChange::Write {
            path: path.to_owned(),
            bytes: text.into(),
            mode: modes.get(path).copied(),
        };
        let mut removed: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for id in &changes.removed {
            let item = &items[id.0];
            if let Locator::Document(document) = item.locator {
                removed.entry(item.text).or_default().insert(document);
            }
        }
        let mut new = new_documents(items, std::mem::take(&mut changes.inserted));
        let mut files: Vec<FileChange> = Vec::new();
        for (number, (path, text)) in self.paths.iter().zip(texts).enumerate() {
            let added = new.remove(path).unwrap_or_default();
            let head = heads.get(path).map(String::as_str);
            let removed = removed.remove(&number).unwrap_or_default();
            let edited = if !removed.is_empty() || head.is_some() || !added.is_empty() {
                documents_text(text.document(), head, &removed, &added)
            } else if text.is_changed() {
                Some(text.text().to_owned()).filter(|text| !text.is_empty())
            } else if modes.contains_key(path) {
                Some(text.text().to_owned())
            } else {
                continue;
            };
            files.push(match edited {
                Some(text) => write(path, text),
                None => FileChange::delete(path.clone()),
            });
        }
        for (path, added) in new {
            let head = heads.get(&path).map(String::as_str);
            let nothing = Tree::default();
            let empty = Document::new("", &nothing);
            let text = documents_text(empty, head, &BTreeSet::new(), &added);
            files.extend(text.map(|text| write(&path, text)));
        }
        // A file that loses all its resources may also be replaced with a copied file.
        let copies: BTreeSet<&str> = copied.iter().map(FileChange::path).collect();
        debug_assert_eq!(copies.len(), copied.len(), "one change for each file");
        files.retain(|change| !copies.contains(change.path()));
        files.extend(copied.iter().cloned());
        // A diff lists them in this order, as Git does.
        files.sort_by(|one, other| one.path().cmp(other.path()));
        files
    }
}

/// The inserted texts of each file, with the document to insert each before.
fn new_documents(items: &[Item], inserted: Vec<NewText>) -> BTreeMap<String, Vec<Added>> {
    let mut new: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for NewText { path, text, before } in inserted {
        debug_assert!(path.is_some(), "a new resource has a file");
        let Some(path) = path else { continue };
        let before = before.and_then(|id| match items[id.0].locator {
            Locator::Document(index) => Some(index),
            _ => None,
        });
        new.entry(path).or_default().push((before, text));
    }
    new
}

/// The items of a file.
fn items_of_file(
    number: usize,
    path: &str,
    documents: NumberedDocuments,
) -> impl Iterator<Item = Item> {
    let path: Arc<str> = Arc::from(path);
    let documents = documents.into_iter().enumerate();
    documents.map(move |(index, (document, mut resource))| {
        resource.origin.path = Some(path.clone());
        resource.origin.index = Some(index);
        resource.origin.package_path = None;
        Item::new(resource, number, Locator::Document(document))
    })
}

impl ResourceList {
    /// Reads the resources of a package. YAML that is not KRM stays in its file, and does not become an item.
    ///
    /// # Errors
    /// [`InputError::Yaml`] for a file that does not parse.
    pub fn from_package(files: impl Into<Arc<Package>>) -> Result<Self, InputError> {
        Self::from_package_like(files, false, &[])
    }

    /// The same for a package that shares files with others: files that the others have read are not read again. With
    /// `takes_texts`, a file that is not YAML is treated as text, like a file with another name.
    ///
    /// # Errors
    /// As [`from_package`](Self::from_package); with `takes_texts` only for a file that is YAML but that no package may
    /// hold, and for a Kptfile that is not YAML.
    pub fn from_package_like(
        files: impl Into<Arc<Package>>,
        takes_texts: bool,
        others: &[&Self],
    ) -> Result<Self, InputError> {
        let package: Arc<Package> = files.into();
        let files: Vec<(&str, &Text)> = package.krm().collect();
        let read = parallel::map(
            &files,
            |(_, text)| text.len(),
            |(path, text)| {
                let same = others.iter().find_map(|other| other.same_file(path, text));
                let read = || {
                    let (text, documents) = SourceText::documents((*text).clone())?;
                    Ok((text, numbered(documents)))
                };
                same.map_or_else(read, Ok)
            },
        );
        let mut form = PackageForm {
            paths: Vec::with_capacity(files.len()),
            numbers: HashMap::with_capacity(files.len()),
            read: Arc::clone(&package),
            not_yaml: takes_texts.then(NotYaml::new),
        };
        let (mut texts, mut items) = (Vec::with_capacity(files.len()), Vec::new());
        for ((path, text), read) in files.into_iter().zip(read) {
            match (read, &mut form.not_yaml) {
                (Ok((source, documents)), _) => {
                    items.extend(items_of_file(texts.len(), path, documents));
                    texts.push(source);
                    form.push(path.to_owned());
                }
                (Err(error), Some(not_yaml)) if is_text(path, text, &error) => {
                    not_yaml.insert(path.to_owned(), error);
                }
                (Err(error), _) => return Err(not_yaml_error(path, error)),
            }
        }
        for (path, bytes) in package.not_utf8() {
            let Some(error) = ParseError::of_bytes(bytes) else {
                continue;
            };
            match &mut form.not_yaml {
                Some(not_yaml) if file_name(path) != "Kptfile" => {
                    not_yaml.insert(path.to_owned(), error)
                }
                _ => return Err(not_yaml_error(path, error)),
            };
        }
        Ok(Self::new(Form::Package(form), texts, items))
    }

    /// A file of the package with its resources, if the file has this text.
    fn same_file(&self, path: &str, text: &Text) -> Option<(SourceText, NumberedDocuments)> {
        let number = self.package()?.number(path)?;
        let own = self.texts.get(number).filter(|own| own.has_text(text))?;
        if own.is_changed() {
            // What its items say is from before the edits.
            let documents = own.has_tree().then(|| own.resources())?;
            return Some((own.shared(), numbered(documents)));
        }
        let start = self.items.partition_point(|item| item.text < number);
        let items = self.items[start..].iter();
        let items = items.take_while(|item| item.text == number);
        let documents = items.filter_map(|item| match item.locator {
            Locator::Document(document) => Some((document, item.resource.clone())),
            Locator::Item(_) | Locator::Node(_) => None,
        });
        Some((own.shared(), documents.collect()))
    }

    /// Files of a package with KRM names that are not YAML; `None` if such files are errors.
    pub fn not_yaml(&self) -> Option<&NotYaml> {
        self.package()?.not_yaml.as_ref()
    }

    /// The paths that `.krmignore` excludes from a package; a path that ends in `/` is a folder.
    pub fn ignored_files(&self) -> &[String] {
        self.package().map_or(&[], |package| &package.read.ignored)
    }

    /// Treats a file as text because it is not YAML in another version of the package.
    pub fn make_text(&mut self, path: &str, error: &ParseError) {
        if let Form::Package(PackageForm {
            not_yaml: Some(not_yaml),
            ..
        }) = &mut self.form
        {
            not_yaml
                .entry(path.to_owned())
                .or_insert_with(|| error.clone());
        }
    }

    /// Reads a package whose files are given as texts.
    ///
    /// # Errors
    /// [`InputError::Yaml`] for a file that does not parse.
    pub fn from_texts(
        files: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, InputError> {
        Self::from_package(files.into_iter().collect::<Package>())
    }

    /// Whether a file of a package is a text of the list.
    pub(super) fn has_text(&self, path: &str) -> bool {
        self.package()
            .is_some_and(|package| package.number(path).is_some())
    }

    fn package(&self) -> Option<&PackageForm> {
        match &self.form {
            Form::Package(package) => Some(package),
            _ => None,
        }
    }

    /// The changed, deleted and new files of a package. Inserted texts are moved out of the list.
    pub fn file_changes(&mut self) -> Vec<FileChange> {
        match &self.form {
            Form::Package(package) => package.emit(&self.texts, &self.items, &mut self.changes),
            _ => Vec::new(),
        }
    }

    /// Replaces the files of the package with the changed ones, and reads their resources.
    pub(super) fn insert_package_items(&mut self) -> Result<(), InputError> {
        let changed = self.file_changes();
        let Form::Package(package) = &mut self.form else {
            return Ok(());
        };
        let mut modes = std::mem::take(&mut self.changes).files.modes;
        let mut copied = Vec::new();
        let mut replaced = HashSet::new();
        let mut items = Vec::new();
        for change in changed {
            let is_krm = is_krm_name(change.path());
            let (path, text) = match change {
                change if !is_krm || package.is_text(change.path()) => {
                    copied.push(change);
                    continue;
                }
                FileChange::Write { path, bytes, mode } => match String::from_utf8(bytes) {
                    Ok(text) => {
                        modes.extend(mode.map(|mode| (path.clone(), mode)));
                        (path, text)
                    }
                    Err(error) => {
                        let bytes = error.into_bytes();
                        copied.push(FileChange::Write { path, bytes, mode });
                        continue;
                    }
                },
                FileChange::Delete { path } => (path, String::new()),
            };
            let number = package.number(&path).unwrap_or_else(|| {
                self.texts.push(SourceText::default());
                package.push(path.clone())
            });
            let documents = self.texts[number].replace_file(text);
            let documents = documents.map_err(|error| not_yaml_error(&path, error))?;
            replaced.insert(number);
            items.extend(items_of_file(number, &path, numbered(documents)));
        }
        self.items.retain(|item| !replaced.contains(&item.text));
        self.items.append(&mut items);
        if !self.items.is_sorted_by_key(|item| item.text) {
            // Stable: the items of a file keep their order.
            self.items.sort_by_key(|item| item.text);
        }
        self.changes.files.copied = copied;
        self.changes.files.modes = modes;
        Ok(())
    }
}

/// Whether a file with this error is treated as text. A Kptfile never is, because it describes the package. Neither is a
/// resource that no package may hold, such as one with a key twice.
fn is_text(path: &str, text: &str, error: &ParseError) -> bool {
    let may_be_text = error.is_syntax || error.is_duplicate_key && !may_hold_resource(text);
    may_be_text && file_name(path) != "Kptfile"
}

/// Whether a text has the fields of a resource, as far as its lines show.
fn may_hold_resource(text: &str) -> bool {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let has = |field: &str| {
        let is_field = |line: &str| {
            let line = line.trim_start_matches(['"', '\'', '-', ' ', '\u{feff}']);
            line.starts_with(field)
        };
        text.lines().any(is_field) || is_json && text.contains(field)
    };
    has("apiVersion") && has("kind")
}

fn not_yaml_error(path: &str, error: ParseError) -> InputError {
    InputError::Yaml {
        place: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adopted_files_are_found_in_any_order() {
        let package = |path: &str, kind: &str| {
            let text = format!("kind: {kind}\napiVersion: v1\n");
            ResourceList::from_texts([(path.to_owned(), text)]).expect("a package")
        };
        let mut list = package("b.yaml", "B");
        list.insert_package(package("a.yaml", "A")).expect("files");
        for (path, kind) in [("a.yaml", "kind: A"), ("b.yaml", "kind: B")] {
            let bytes = list.read_file(path).expect("a file").into_owned();
            assert!(String::from_utf8_lossy(&bytes).starts_with(kind), "{path}");
        }
        assert_eq!(list.file_changes().len(), 1);
    }
}
