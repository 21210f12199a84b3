//! Collects the texts and files of one supplied input into a package.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::contents::{DocumentContents, PACKAGE_REVISION_RESOURCES, elements, only_package};
use super::package::SuppliedPackage;
use super::{Role, UsageError};
use crate::identity;
use crate::package::{
    Package, PackageFile, Skipped, check_package_path, is_krm_name, is_revision_metadata,
    normalize_package_path,
};
use crate::parallel;
use crate::resource::{PATH_ANNOTATIONS, Resource};
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};
use crate::source_text::{Locator, SourceText, is_krm};
use crate::text::Text;
use crate::yaml::scan::is_in_use;
use crate::yaml::{Document, NodeId, NodeRef, ParseOptions, Path};

/// Reads file names from comments before documents, as `helm template` prints them: `# Source: CHART/FILE`.
#[derive(Default)]
pub(super) struct TemplateFiles {
    /// The number of resources in each file so far.
    counts: HashMap<String, usize>,
}

impl TemplateFiles {
    /// Gives a resource of a package the path in the comment of its document, if it has no path.
    pub(super) fn name(&mut self, role: Role, document: &str, resource: &mut Resource) {
        let origin = &mut resource.origin;
        if !role.is_package() || origin.path.is_some() {
            return;
        }
        let head = document.lines().map(str::trim_end);
        let source = head
            .take_while(|line| line.is_empty() || line.starts_with('#') || *line == "---")
            .find_map(|line| line.strip_prefix("# Source: "));
        // The name of the chart comes first.
        let path = source.and_then(|source| source.split_once('/'));
        let Some((_, path)) = path.filter(|(_, path)| is_krm_name(path)) else {
            return;
        };
        if check_package_path(path).is_ok() {
            let path = normalize_package_path(path);
            let count = self.counts.entry(path.clone()).or_default();
            origin.path = Some(path.into());
            origin.index = Some(*count);
            *count += 1;
        }
    }
}

pub(super) struct Reader<'r> {
    role: Role,
    pub(super) package: SuppliedPackage,
    /// The files of PackageRevisionResources.
    files: Package,
    /// Packages that share files with this one.
    pub(super) others: Vec<&'r ResourceList>,
    results: &'r mut Results,
}

impl<'r> Reader<'r> {
    pub(super) fn new(role: Role, place: String, results: &'r mut Results) -> Self {
        Self {
            role,
            package: SuppliedPackage::new(place),
            files: Package::default(),
            others: Vec::new(),
            results,
        }
    }

    /// Reads the files of a PackageRevisionResources that is the only item. False if there is no such item.
    pub(super) fn read_only_item(&mut self, items: &ResourceList) -> Result<bool, UsageError> {
        let Some(only) = only_package(items) else {
            return Ok(false);
        };
        let mut contents = DocumentContents::default();
        contents.package(items.node(only), &self.package.place)?;
        self.package.revisions.extend(contents.revisions);
        for (path, text) in contents.files {
            self.add_file(path, text);
        }
        Ok(true)
    }

    /// Adds the files of PackageRevisionResources, and returns the package.
    pub(super) fn finish(mut self) -> Result<SuppliedPackage, UsageError> {
        let files = std::mem::take(&mut self.files);
        if !files.is_empty() {
            self.add_package(files)?;
        }
        Ok(self.package)
    }

    /// Adds all files of a package.
    pub(super) fn add_package(&mut self, package: Package) -> Result<(), UsageError> {
        self.warn_of_skipped(&package.skipped);
        self.package.has_files = true;
        if self.role.is_package() {
            let place = &self.package.place;
            if self.package.list.items().next().is_some() {
                let message = "expected resources or one PackageRevisionResources, found both";
                return Err(UsageError::at(place, message));
            }
            let list = ResourceList::from_package_like(package, true, &self.others);
            self.package.list =
                list.map_err(|error| UsageError::Refused(format!("{place}/{error}")))?;
            return Ok(());
        }
        let krm: Vec<(&str, &Text)> = package.krm().collect();
        let documents = parallel::map(
            &krm,
            |(_, text)| text.len(),
            |(_, text)| documents(self.role, text),
        );
        for ((path, text), documents) in krm.into_iter().zip(documents) {
            self.add_krm(path, text.clone(), documents)?;
        }
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

    /// Adds a text with the contents of its documents. Their paths come from data and are checked.
    pub(super) fn push(&mut self, text: SourceText, contents: DocumentContents) {
        let DocumentContents {
            mut items,
            files,
            revisions,
        } = contents;
        self.package.revisions.extend(revisions);
        self.check_paths(items.iter_mut().map(|(_, resource)| resource));
        self.package.list.push_text(text, nodes(items));
        for (path, text) in files {
            self.add_file(path, text);
        }
    }

    /// Adds the documents of a single file without parsing trees. False if they must be read from its tree.
    pub(super) fn push_documents(&mut self, text: &Text) -> bool {
        let Some(mut found) = documents(self.role, text) else {
            return false;
        };
        let mut end = 0;
        let starts = found.iter().map(|(range, _)| {
            let gap = end..range.start;
            end = range.end;
            gap
        });
        let mut gaps: Vec<Range<usize>> = starts.collect();
        gaps.push(end..text.len());
        // Helm also prints the names of files without resources.
        let says_nothing = |line: &str| line.is_empty() || line.starts_with('#') || line == "---";
        let all = gaps
            .into_iter()
            .all(|gap| text[gap].lines().map(str::trim_end).all(says_nothing));
        let is_package =
            |(_, resource): &FoundDocument| resource.kind.as_ref() == PACKAGE_REVISION_RESOURCES;
        if !all || found.iter().any(is_package) {
            return false;
        }
        let mut files = TemplateFiles::default();
        for (range, resource) in &mut found {
            files.name(self.role, &text[range.clone()], resource);
        }
        self.check_paths(found.iter_mut().map(|(_, resource)| resource));
        self.push_separately(text, found);
        true
    }

    /// Like [`Self::push_documents`], for documents that must be read from their trees.
    pub(super) fn push_separately_parsed(
        &mut self,
        all: Document<'_>,
        place: &str,
    ) -> Result<(), UsageError> {
        let mut files = TemplateFiles::default();
        for index in 0..all.len() {
            let Some(range) = all.range(index).filter(|_| all.root(index).is_some()) else {
                continue;
            };
            let piece = &all.text[range];
            let text = parse(Text::from(piece.to_owned()), place)?;
            let mut contents = DocumentContents::default();
            if let Some(root) = text.document().root(0) {
                contents.document(self.role, root, place)?;
            }
            for (_, resource) in &mut contents.items {
                files.name(self.role, piece, resource);
            }
            self.push(text, contents);
        }
        Ok(())
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

    /// Adds each document as a separate text, because perhaps few of them are parsed.
    fn push_separately(&mut self, text: &Text, found: Vec<FoundDocument>) {
        let list = &mut self.package.list;
        list.reserve(found.len());
        for (range, resource) in found {
            let text = SourceText::accepted(text.slice(range), ParseOptions::default());
            list.push_text(text, [(Locator::Document(0), resource)]);
        }
    }

    /// Adds a file of a PackageRevisionResources.
    pub(super) fn add_file(&mut self, path: String, text: String) {
        let field = || Path::fields(&["spec", "resources", &path]);
        let refuse = |message: String| {
            let message = format!("{}: {message}", self.package.place);
            FunctionResult::error(Reason::InvalidPath, message).at(field())
        };
        if let Err(error) = check_package_path(&path) {
            self.results.push(refuse(error.to_string()));
            return;
        }
        let name = normalize_package_path(&path);
        if is_revision_metadata(&name) {
            return;
        }
        if self.files.get(&name).is_some() {
            self.results
                .push(refuse("the file appears twice".to_owned()));
            return;
        }
        let file = PackageFile::of_text(&name, text);
        self.files.insert(name, file);
    }

    /// Adds the resources of a file with a KRM file name. `documents` is the result of [`documents`]. YAML that is not
    /// KRM is skipped, because the files themselves are not needed.
    pub(super) fn add_krm(
        &mut self,
        path: &str,
        text: Text,
        documents: Option<Vec<FoundDocument>>,
    ) -> Result<(), UsageError> {
        if let Some(mut found) = documents {
            place_in_file(found.iter_mut().map(|(_, resource)| resource), path);
            self.push_separately(&text, found);
            return Ok(());
        }
        let place = format!("{}/{path}", self.package.place);
        let text = parse(text, &place)?;
        let document = text.document();
        let mut items = Vec::new();
        for index in 0..document.len() {
            let is_item = |root: &NodeRef<'_>| is_krm(*root) || self.role == Role::Patches;
            let Some(root) = document.root(index).filter(is_item) else {
                continue;
            };
            if elements(root).is_some() {
                let mut contents = DocumentContents::default();
                contents.resource(self.role, root, &place, None)?;
                items.extend(nodes(contents.items));
            } else {
                items.push((Locator::Document(index), Resource::read(root)));
            }
        }
        place_in_file(items.iter_mut().map(|(_, resource)| resource), path);
        self.package.list.push_text(text, items);
        Ok(())
    }
}

/// The range of a KRM document in its text, and its resource.
type FoundDocument = (Range<usize>, Resource);

/// The KRM documents of a text. `None` if they must be read from its tree.
fn documents(role: Role, text: &str) -> Option<Vec<FoundDocument>> {
    if !is_in_use() || role == Role::Patches {
        return None;
    }
    let documents = identity::separate_documents(text)?.into_iter();
    let found = documents.filter_map(|(range, resource)| Some((range, resource?)));
    let found: Vec<FoundDocument> = found.collect();
    let is_list = |(_, resource): &FoundDocument| resource.kind.ends_with("List");
    (!found.iter().any(is_list)).then_some(found)
}

/// Locates resources by their nodes.
fn nodes(items: Vec<(NodeId, Resource)>) -> impl Iterator<Item = (Locator, Resource)> {
    let items = items.into_iter();
    items.map(|(id, resource)| (Locator::Node(id), resource))
}

/// Gives the resources of a file their path and index, whatever their annotations say.
fn place_in_file<'r>(resources: impl Iterator<Item = &'r mut Resource>, path: &str) {
    let path: Arc<str> = Arc::from(path);
    for (number, resource) in resources.enumerate() {
        let origin = &mut resource.origin;
        origin.path = Some(path.clone());
        origin.index = Some(number);
        origin.package_path = None;
    }
}

pub(super) fn parse(text: Text, place: &str) -> Result<SourceText, UsageError> {
    SourceText::parse(text).map_err(|error| UsageError::at(place, error))
}
