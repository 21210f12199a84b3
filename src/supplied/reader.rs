//! Collects the texts and files of one supplied input into a package.

use std::ops::Range;
use std::path::Path as FilePath;

use super::contents::{Contents, PACKAGE_REVISION_RESOURCES, elements};
use super::package::{FileContent, SuppliedFile, SuppliedPackage};
use super::{Role, UsageError};
use crate::identity;
use crate::package::{
    PackageFile, Skipped, check_package_path, is_krm_name, normalize_package_path, read_package,
};
use crate::parallel;
use crate::resource::{PATH_ANNOTATIONS, Resource};
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};
use crate::source_text::{Locator, SourceText, is_krm};
use crate::text::Text;
use crate::yaml::scan::IN_USE;
use crate::yaml::{NodeId, NodeRef, ParseOptions, Path};

/// Reads one supplied input.
pub(super) struct Reader<'r> {
    role: Role,
    pub(super) package: SuppliedPackage,
    results: &'r mut Results,
}

impl<'r> Reader<'r> {
    pub(super) fn new(role: Role, place: String, results: &'r mut Results) -> Self {
        Self {
            role,
            package: SuppliedPackage::new(place),
            results,
        }
    }

    /// Reads the files of a PackageRevisionResources that is the only item; false if it is none.
    pub(super) fn read_only_item(&mut self, items: &ResourceList) -> Result<bool, UsageError> {
        let contents = Contents::of_only_item(self.role, items, &self.package.place)?;
        let Some(contents) = contents else {
            return Ok(false);
        };
        self.package.revisions.extend(contents.revisions);
        for (path, text) in contents.files {
            self.add_file(path, text)?;
        }
        Ok(true)
    }

    pub(super) fn read_directory(&mut self, directory: &FilePath) -> Result<(), UsageError> {
        let failed =
            |error: &dyn std::fmt::Display| UsageError(format!("--{}: {error}", self.role));
        let mut files = read_package(directory).map_err(|error| failed(&error))?;
        self.warn_of_skipped(&files.skipped);
        let krm = std::mem::take(&mut files.files);
        let documents = parsed_documents(self.role, &krm);
        for (file, documents) in krm.into_iter().zip(documents) {
            let mode = Some(file.content.mode);
            self.add_krm(file.path, file.content.text, documents, mode)?;
        }
        for path in &files.others {
            let file = SuppliedFile {
                path: path.clone(),
                mode: files.mode_of_other(path),
                content: FileContent::OnDisk,
            };
            self.package.files.insert(path.clone(), file);
        }
        self.package.directory = Some(files);
        Ok(())
    }

    pub(super) fn warn_of_skipped(&mut self, skipped: &[Skipped]) {
        for skipped in skipped.iter().filter(|s| s.reason.is_warning()) {
            let message = format!("{}: skipped: {}", self.package.place, skipped.reason);
            let result = FunctionResult::warning(Reason::SkippedFile, message);
            self.results.push(result.in_file(skipped.path.clone()));
        }
    }

    /// Adds a text with the contents of its documents, whose paths come from data.
    pub(super) fn push(&mut self, text: SourceText, contents: Contents) -> Result<(), UsageError> {
        let Contents {
            items,
            files,
            revisions,
        } = contents;
        self.package.revisions.extend(revisions);
        self.push_located(text, nodes(items).collect());
        files
            .into_iter()
            .try_for_each(|(path, text)| self.add_file(path, text))
    }

    /// Adds a text with its resources, whose paths come from data.
    fn push_located(&mut self, text: SourceText, mut items: Vec<(Locator, Resource)>) {
        for (_, resource) in &mut items {
            resource.origin.package_path = None;
            let path = resource.origin.path.as_deref();
            if let Some(Err(error)) = path.map(check_package_path) {
                let field = Path::fields(&["metadata", "annotations", PATH_ANNOTATIONS[0]]);
                let message = format!("{}: {error}", self.package.place);
                let result = FunctionResult::error(Reason::InvalidPath, message);
                self.results.push(result.about(resource).at(field));
            }
        }
        self.package.list.push_text(text, items);
    }

    /// Adds the documents of a file as they are, without trees; false if they must be read from its tree. Those of a package
    /// stay one text, since a merge reads all of them; of others, few may be read.
    pub(super) fn push_documents(&mut self, text: &Text) -> bool {
        let Some(documents) = separate_documents(self.role, text) else {
            return false;
        };
        if self.role.is_package() {
            let items = documents.into_iter().enumerate();
            let items = items.map(|(index, (_, found))| (Locator::Document(index), found));
            self.push_located(whole(text.clone()), items.collect());
            return true;
        }
        self.package.list.reserve(documents.len());
        for (range, found) in documents {
            self.push_located(
                whole(text.slice(range)),
                vec![(Locator::Document(0), found)],
            );
        }
        true
    }

    /// Adds a file of a PackageRevisionResources.
    pub(super) fn add_file(&mut self, path: String, text: String) -> Result<(), UsageError> {
        let field = || Path::fields(&["spec", "resources", &path]);
        let refuse = |message: String| {
            let message = format!("{}: {message}", self.package.place);
            FunctionResult::error(Reason::InvalidPath, message).at(field())
        };
        if let Err(error) = check_package_path(&path) {
            self.results.push(refuse(error.to_string()));
            return Ok(());
        }
        let name = normalize_package_path(&path);
        if self.package.files.contains_key(&name) {
            self.results
                .push(refuse("the file is there twice".to_owned()));
            return Ok(());
        }
        if is_krm_name(name.rsplit('/').next().unwrap_or_default()) {
            let documents = documents(self.role, &text);
            return self.add_krm(name, Text::from(text), documents, None);
        }
        let file = SuppliedFile {
            path: name.clone(),
            mode: None,
            content: FileContent::Text(text),
        };
        self.package.files.insert(name, file);
        Ok(())
    }

    /// Adds a file of a package that is named like KRM, with its [`documents`]. YAML that is not KRM is
    /// passed over.
    pub(super) fn add_krm(
        &mut self,
        path: String,
        text: Text,
        documents: Option<Vec<(usize, Resource)>>,
        mode: Option<u32>,
    ) -> Result<(), UsageError> {
        let number = match documents {
            Some(mut items) => {
                let resources = items.iter_mut().map(|(_, resource)| resource);
                place_in_file(resources, &path);
                let text = whole(text);
                let items = items.into_iter();
                let items = items.map(|(index, found)| (Locator::Document(index), found));
                self.package.list.push_text(text, items)
            }
            None => self.push_parsed(&path, text)?,
        };
        let file = SuppliedFile {
            path: path.clone(),
            mode,
            content: FileContent::Krm(number),
        };
        self.package.files.insert(path, file);
        Ok(())
    }

    /// Adds a text of a package whose resources are read from its tree; gives its number.
    fn push_parsed(&mut self, path: &str, text: Text) -> Result<usize, UsageError> {
        let place = format!("{}/{path}", self.package.place);
        let text = parse(text, &place)?;
        let document = text.document();
        let mut items = Vec::new();
        for index in 0..document.len() {
            let is_item = |root: &NodeRef<'_>| is_krm(*root) || self.role == Role::Patches;
            let Some(root) = document.root(index).filter(is_item) else {
                continue;
            };
            if elements(root).is_some() && !self.role.is_package() {
                let mut contents = Contents::default();
                contents.resource(self.role, root, &place, None)?;
                items.extend(nodes(contents.items));
            } else {
                items.push((Locator::Document(index), Resource::read(root)));
            }
        }
        place_in_file(items.iter_mut().map(|(_, resource)| resource), path);
        Ok(self.package.list.push_text(text, items))
    }
}

/// The [`documents`] of each file.
pub(super) fn parsed_documents(
    role: Role,
    files: &[PackageFile],
) -> Vec<Option<Vec<(usize, Resource)>>> {
    parallel::map(
        files,
        |file| file.content.text.len(),
        |file| documents(role, &file.content.text),
    )
}

/// The KRM documents of a text of a package; `None` if they must be read from its tree.
fn documents(role: Role, text: &str) -> Option<Vec<(usize, Resource)>> {
    if !IN_USE || role == Role::Patches {
        return None;
    }
    let documents = identity::documents(text)?.into_iter().enumerate();
    let items = documents.filter_map(|(index, found)| Some((index, found?)));
    let items: Vec<_> = items.collect();
    let unfolds = !role.is_package();
    let is_list = |(_, resource): &(usize, Resource)| resource.kind.ends_with("List");
    (!unfolds || !items.iter().any(is_list)).then_some(items)
}

/// The documents of a text with their bytes; `None` if one of them is no KRM, or stands for others.
fn separate_documents(role: Role, text: &str) -> Option<Vec<(Range<usize>, Resource)>> {
    if !IN_USE || role == Role::Patches {
        return None;
    }
    let documents = identity::separate_documents(text)?.into_iter();
    let plain = |(range, found): (Range<usize>, Option<Resource>)| {
        let stands_for_others = |resource: &Resource| {
            resource.kind.ends_with("List") || resource.kind == PACKAGE_REVISION_RESOURCES
        };
        Some((
            range,
            found.filter(|resource| !stands_for_others(resource))?,
        ))
    };
    documents.map(plain).collect()
}

/// A text that the scanner accepted.
fn whole(text: Text) -> SourceText {
    SourceText::accepted(text, ParseOptions::default())
}

/// Locates resources by their nodes.
fn nodes(items: Vec<(NodeId, Resource)>) -> impl Iterator<Item = (Locator, Resource)> {
    let items = items.into_iter();
    items.map(|(id, resource)| (Locator::Node(id), resource))
}

/// Gives the resources of a file their path and index, whatever their annotations say.
fn place_in_file<'r>(resources: impl Iterator<Item = &'r mut Resource>, path: &str) {
    for (number, resource) in resources.enumerate() {
        let origin = &mut resource.origin;
        origin.path = Some(path.to_owned());
        origin.index = Some(number);
        origin.package_path = None;
    }
}

pub(super) fn parse(text: Text, place: &str) -> Result<SourceText, UsageError> {
    SourceText::parse(text).map_err(|error| UsageError(format!("{place}: {error}")))
}
