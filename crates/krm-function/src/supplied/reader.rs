//! Collects the texts and files of one supplied input into a package.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::contents::{DocumentContents, PACKAGE_REVISION_RESOURCES, only_package};
use super::package::SuppliedPackage;
use super::{Role, UsageError};
use krm_core::identity;
use krm_core::resource::{PATH_ANNOTATIONS, Resource};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::source_text::{Locator, SourceText};
use krm_package::parallel;
use krm_package::text::Text;
use krm_package::{
    Package, PackageFile, Skipped, check_package_path, is_krm_name, is_revision_metadata,
    normalize_package_path,
};
use krm_yaml::scan::is_in_use;
use krm_yaml::{NodeId, ParseOptions, Path};

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
        self.add_files(contents);
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
            self.package.list = list.map_err(|error| UsageError::of(format!("{place}/{error}")))?;
            return Ok(());
        }
        let krm: Vec<(&str, &Text)> = package.krm().collect();
        let place = self.package.place.clone();
        let found = parallel::map(
            &krm,
            |(_, text)| text.len(),
            |(path, text)| documents(text, &format!("{place}/{path}")),
        );
        for ((path, text), found) in krm.into_iter().zip(found) {
            self.add_documents(text, found?, Some(path))?;
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
    pub(super) fn push(&mut self, text: SourceText, mut contents: DocumentContents) {
        let items = std::mem::take(&mut contents.items);
        let mut items: Vec<_> = nodes(items).collect();
        for (_, resource) in &mut items {
            self.check_path(resource);
        }
        self.package.list.push_text(text, items);
        self.add_files(contents);
    }

    fn add_files(&mut self, contents: DocumentContents) {
        self.package.revisions.extend(contents.revisions);
        for (path, text) in contents.files {
            self.add_file(path, text);
        }
    }

    /// Checks the path of a resource, which comes from data.
    fn check_path(&mut self, resource: &mut Resource) {
        resource.origin.package_path = None;
        let path = resource.origin.path.as_deref();
        if let Some(Err(error)) = path.map(check_package_path) {
            let field = Path::fields(&["metadata", "annotations", PATH_ANNOTATIONS[0]]);
            let message = format!("{}: {error}", self.package.place);
            let result = FunctionResult::error(Reason::InvalidPath, message);
            self.results
                .push(result.with_resource(resource).with_field(field));
        }
    }

    /// Adds a file of a PackageRevisionResources.
    pub(super) fn add_file(&mut self, path: String, text: String) {
        let field = || Path::fields(&["spec", "resources", &path]);
        let refuse = |message: String| {
            let message = format!("{}: {message}", self.package.place);
            FunctionResult::error(Reason::InvalidPath, message).with_field(field())
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

    /// Adds the documents of a text, each as a separate text, because a function may read only a few of them. In a
    /// `file` of a directory, YAML that is not KRM is skipped; in a text that is the whole input, it is an error.
    pub(super) fn add_documents(
        &mut self,
        text: &Text,
        found: Vec<FoundDocument>,
        file: Option<&str>,
    ) -> Result<(), UsageError> {
        let place = match file {
            Some(path) => format!("{}/{path}", self.package.place),
            None => self.package.place.clone(),
        };
        let path: Option<Arc<str>> = file.map(Arc::from);
        let (mut names, mut number) = (TemplateFiles::default(), 0);
        self.package.list.reserve(found.len());
        for (range, resource) in found {
            let piece = text.slice(range);
            let mut contents = DocumentContents::default();
            let (source, mut items) = match resource.filter(|found| !is_container(found)) {
                Some(resource) => {
                    let source = SourceText::accepted(piece.clone(), ParseOptions::of_resources(0));
                    (source, vec![(Locator::Document(0), resource)])
                }
                None => {
                    let source = parse(piece.clone(), &place)?;
                    let read = contents.read(self.role, source.document(), &place, file.is_some());
                    // The error names a line of the whole text.
                    read.or_else(|error| {
                        let whole = parse(text.clone(), &place)?;
                        let mut all = DocumentContents::default();
                        all.read(self.role, whole.document(), &place, file.is_some())?;
                        Err(error)
                    })?;
                    (source, nodes(std::mem::take(&mut contents.items)).collect())
                }
            };
            for (_, resource) in &mut items {
                if let Some(path) = &path {
                    let origin = &mut resource.origin;
                    origin.path = Some(path.clone());
                    origin.index = Some(number);
                    origin.package_path = None;
                    number += 1;
                } else {
                    names.name(self.role, &piece, resource);
                    self.check_path(resource);
                }
            }
            if !items.is_empty() {
                self.package.list.push_text(source, items);
            }
            self.add_files(contents);
        }
        Ok(())
    }
}

/// The range of a document in its text, and its resource if the scanner found one.
type FoundDocument = (Range<usize>, Option<Resource>);

/// The documents of a text.
pub(super) fn documents(text: &Text, place: &str) -> Result<Vec<FoundDocument>, UsageError> {
    let scanned = is_in_use().then(|| identity::separate_documents(text));
    if let Some(found) = scanned.flatten() {
        return Ok(found);
    }
    let text = parse(text.clone(), place)?;
    let document = text.document();
    let ranges = (0..document.len()).filter_map(|index| document.range(index));
    Ok(ranges.map(|range| (range, None)).collect())
}

/// Whether a resource can hold others.
fn is_container(resource: &Resource) -> bool {
    resource.kind.ends_with("List") || resource.kind.as_ref() == PACKAGE_REVISION_RESOURCES
}

/// Locates resources by their nodes.
fn nodes(items: Vec<(NodeId, Resource)>) -> impl Iterator<Item = (Locator, Resource)> {
    let items = items.into_iter();
    items.map(|(id, resource)| (Locator::Node(id), resource))
}

pub(super) fn parse(text: Text, place: &str) -> Result<SourceText, UsageError> {
    SourceText::parse(text).map_err(|error| UsageError::at(place, error))
}
