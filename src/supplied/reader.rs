//! Collects the texts and files of one supplied input into a package.

use std::ops::Range;

use arcstr::ArcStr;

use super::contents::{Contents, PACKAGE_REVISION_RESOURCES, elements};
use super::package::SuppliedPackage;
use super::{Role, UsageError};
use crate::identity;
use crate::package::{
    Package, PackageFile, Skipped, check_package_path, is_revision_metadata, normalize_package_path,
};
use crate::parallel;
use crate::resource::{PATH_ANNOTATIONS, Resource};
use crate::resource_list::{ResourceList, is_text};
use crate::results::{FunctionResult, Reason, Results};
use crate::source_text::{Locator, SourceText, is_krm};
use crate::text::Text;
use crate::yaml::scan::is_in_use;
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

    /// Adds all files of a package.
    pub(super) fn add_package(&mut self, package: Package) -> Result<(), UsageError> {
        self.warn_of_skipped(&package.skipped);
        let krm: Vec<(&str, &Text)> = package.krm().collect();
        let documents = parallel::map(
            &krm,
            |(_, text)| text.len(),
            |(_, text)| documents(self.role, text),
        );
        for ((path, text), documents) in krm.into_iter().zip(documents) {
            self.add_krm(path, text.clone(), documents)?;
        }
        self.package.files = package;
        Ok(())
    }

    fn warn_of_skipped(&mut self, skipped: &[Skipped]) {
        for skipped in skipped.iter().filter(|s| s.reason.is_warning()) {
            let message = format!("{}: skipped: {}", self.package.place, skipped.reason);
            let result = FunctionResult::warning(Reason::SkippedFile, message);
            self.results.push(result.in_file(skipped.path.clone()));
            self.package.skipped.insert(skipped.path.clone());
        }
    }

    /// Adds a text with the contents of its documents, whose paths come from data.
    pub(super) fn push(&mut self, text: SourceText, contents: Contents) -> Result<(), UsageError> {
        let Contents {
            mut items,
            files,
            revisions,
        } = contents;
        self.package.revisions.extend(revisions);
        self.check_paths(items.iter_mut().map(|(_, resource)| resource));
        self.package.list.push_text(text, nodes(items));
        files
            .into_iter()
            .try_for_each(|(path, text)| self.add_file(path, text))
    }

    /// Adds the documents of a single file without trees; false if they must be read from its tree.
    pub(super) fn push_documents(&mut self, text: &Text) -> bool {
        let Some(mut found) = documents(self.role, text) else {
            return false;
        };
        let is_plain = |found: &Found| {
            let kind = &found.resource.kind;
            !kind.ends_with("List") && kind != PACKAGE_REVISION_RESOURCES
        };
        let all = found.iter().map(|found| found.range.len()).sum::<usize>() == text.len();
        if !all || !found.iter().all(is_plain) {
            return false;
        }
        self.check_paths(found.iter_mut().map(|found| &mut found.resource));
        self.push_separately(text, found);
        true
    }

    /// Checks the paths of resources, which come from data.
    fn check_paths<'f>(&mut self, resources: impl Iterator<Item = &'f mut Resource>) {
        for resource in resources {
            resource.origin.package_path = None;
            let path = resource.origin.path.as_deref();
            if let Some(Err(error)) = path.map(check_package_path) {
                let field = Path::fields(&["metadata", "annotations", PATH_ANNOTATIONS[0]]);
                let message = format!("{}: {error}", self.package.place);
                let result = FunctionResult::error(Reason::InvalidPath, message);
                self.results.push(result.about(resource).at(field));
            }
        }
    }

    /// Adds documents of a text with a text each, since few may be read.
    fn push_separately(&mut self, text: &Text, found: Vec<Found>) {
        let list = &mut self.package.list;
        list.reserve(found.len());
        for found in found {
            let item = (Locator::Document(0), found.resource);
            list.push_text(whole(text.slice(found.range)), [item]);
        }
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
        if is_revision_metadata(&name) {
            return Ok(());
        }
        if self.package.files.get(&name).is_some() {
            self.results
                .push(refuse("the file is there twice".to_owned()));
            return Ok(());
        }
        let file = PackageFile::of_text(&name, text);
        if let Some(text) = file.krm() {
            let documents = documents(self.role, text);
            self.add_krm(&name, text.clone(), documents)?;
        }
        self.package.files.insert(name, file);
        Ok(())
    }

    /// Adds the resources of a file that is named like KRM, with its [`documents`]. YAML that is not KRM is
    /// passed over.
    pub(super) fn add_krm(
        &mut self,
        path: &str,
        text: Text,
        documents: Option<Vec<Found>>,
    ) -> Result<(), UsageError> {
        let number = match documents {
            Some(mut found) => {
                place_in_file(found.iter_mut().map(|found| &mut found.resource), path);
                if !self.role.is_package() {
                    // Only the resources are asked for, not the file.
                    self.push_separately(&text, found);
                    return Ok(());
                }
                let located = |found: Found| (Locator::Document(found.index), found.resource);
                let items = found.into_iter().map(located);
                self.package.list.push_text(whole(text), items)
            }
            None => match SourceText::parse(text) {
                Ok(text) => self.push_parsed(path, text)?,
                Err(error) if self.role.is_package() && is_text(path, &error) => {
                    self.package.not_yaml.insert(path.to_owned(), error);
                    return Ok(());
                }
                Err(error) => {
                    let place = &self.package.place;
                    return Err(UsageError(format!("{place}/{path}: {error}")));
                }
            },
        };
        self.package.numbers.insert(path.to_owned(), number);
        Ok(())
    }

    /// Adds a text of a package whose resources are read from its tree; gives its number.
    fn push_parsed(&mut self, path: &str, text: SourceText) -> Result<usize, UsageError> {
        let place = format!("{}/{path}", self.package.place);
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

/// A KRM document of a text.
pub(super) struct Found {
    /// Its number among the documents of the text.
    index: usize,
    range: Range<usize>,
    resource: Resource,
}

/// The KRM documents of a text; `None` if they must be read from its tree.
fn documents(role: Role, text: &str) -> Option<Vec<Found>> {
    if !is_in_use() || role == Role::Patches {
        return None;
    }
    let documents = identity::separate_documents(text)?.into_iter().enumerate();
    let found = documents.filter_map(|(index, (range, resource))| {
        let resource = resource?;
        Some(Found {
            index,
            range,
            resource,
        })
    });
    let found: Vec<Found> = found.collect();
    let is_list = |found: &Found| found.resource.kind.ends_with("List");
    (role.is_package() || !found.iter().any(is_list)).then_some(found)
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
    let path = ArcStr::from(path);
    for (number, resource) in resources.enumerate() {
        let origin = &mut resource.origin;
        origin.path = Some(path.clone());
        origin.index = Some(number);
        origin.package_path = None;
    }
}

pub(super) fn parse(text: Text, place: &str) -> Result<SourceText, UsageError> {
    SourceText::parse(text).map_err(|error| UsageError(format!("{place}: {error}")))
}
