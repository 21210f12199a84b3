//! Reading supplied inputs: files and directories, inline lists, items of the ResourceList,
//! PackageRevisionResources.

use std::io::ErrorKind;
use std::path::Path as FilePath;

use super::package::{FileContent, PackageRevisionName, SuppliedFile, SuppliedPackage};
use super::{Role, UsageError};
use crate::git::{self, GitError, GitSource};
use crate::identity;
use crate::package::{
    PackageError, PackageFile, Skipped, check_package_path, is_krm_name, normalize_package_path,
    read_package,
};
use crate::parallel;
use crate::resource::{PATH_ANNOTATIONS, Resource};
use crate::resource_list::{FileUnder, ResourceList, is_krm};
use crate::results::{FunctionResult, Reason, Results, with_article};
use crate::source_text::SourceText;
use crate::text::Text;
use crate::yaml::scan::IN_USE;
use crate::yaml::{NodeId, NodeRef, ParseOptions, Path};

/// `apiVersion` of PackageRevisionResources.
const PORCH_API_VERSION: &str = "porch.kpt.dev/v1alpha1";
const PACKAGE_REVISION_RESOURCES: &str = "PackageRevisionResources";

/// Reads a file, a directory, or a directory of a repository that a flag names.
pub(super) fn from_path(
    role: Role,
    path: &FilePath,
    git: Option<git::Reader>,
    results: &mut Results,
) -> Result<SuppliedPackage, UsageError> {
    if let Some(git) = git {
        let failed = |error: GitError| UsageError(format!("--{role}: {error}"));
        if let Some(source) = GitSource::of_flag(path).map_err(failed)? {
            let snapshot = git(&source).map_err(failed)?;
            return SuppliedPackage::from_git(role, source, snapshot, results);
        }
    }
    let place = path.display().to_string();
    let mut reader = Reader::new(role, place, results);
    if path.is_dir() {
        reader.read_directory(path)?;
        return Ok(reader.package);
    }
    let unreadable = |error: &dyn std::fmt::Display| {
        UsageError(format!("--{role}: cannot read {}: {error}", path.display()))
    };
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        // A revision of a package (`v1.0`) is easily taken for what this flag wants.
        ErrorKind::NotFound => unreadable(match git {
            Some(_) => {
                &"there is no such file or directory; a revision in a Git repository is given as \
                  REPOSITORY//DIRECTORY?ref=REVISION"
            }
            None => &"there is no such file or directory",
        }),
        _ => unreadable(&error),
    })?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(&error))?;
    let place = reader.package.place.clone();
    let chunk = parse(Text::from(text), &place)?;
    let document = chunk.document();
    let mut found = Found::default();
    for index in 0..document.len() {
        if let Some(root) = document.root(index) {
            found.document(role, root, &place)?;
        }
    }
    reader.push(chunk, found)?;
    Ok(reader.package)
}

/// Reads the field of a typed config: an inline list, `{path: DIR}`, a PackageRevisionResources.
pub(super) fn from_field(
    role: Role,
    node: NodeRef<'_>,
    field: &Path,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<SuppliedPackage, UsageError> {
    let place = format!("functionConfig, field `{field}`");
    let shape = |found: &str| {
        UsageError(format!(
            "{place}: expected a list of resources, {{path: DIR}} or a PackageRevisionResources, found {found}"
        ))
    };
    if let Some(path) = node.get("path").filter(|_| node.get("kind").is_none()) {
        let mut keys = node.entries().filter_map(|entry| entry.key.scalar_text());
        if let Some(other) = keys.find(|key| *key != "path") {
            return Err(shape(&format!("a field `{other}` beside `path`")));
        }
        let package = from_directory(role, path, &field.field("path"), list, results)?;
        return Ok(package.unwrap_or_else(|| SuppliedPackage::new(place)));
    }
    let mut found = Found::default();
    if node.kind().is_sequence() {
        for item in node.items() {
            found.document(role, item.resolved(), &place)?;
        }
    } else if is_package_revision_resources(node) {
        found.document(role, node, &place)?;
    } else {
        return Err(shape(&with_article(node.kind_name())));
    }
    let mut reader = Reader::new(role, place, results);
    // The same text makes the same tree, so the ids hold in this copy of the config.
    let text = Text::from(node.document.text.to_owned());
    let chunk = SourceText::new(text, ParseOptions::default());
    reader.push(chunk, found)?;
    Ok(reader.package)
}

/// Takes the items of the ResourceList under a directory that a config names. `None` if the path is
/// not allowed, which is an error result then.
pub(super) fn from_directory(
    role: Role,
    node: NodeRef<'_>,
    field: &Path,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<Option<SuppliedPackage>, UsageError> {
    let Some(directory) = node.as_str() else {
        return Err(UsageError(format!(
            "functionConfig, field `{field}`: expected a string, found {}",
            with_article(node.kind_name())
        )));
    };
    if let Err(error) = check_package_path(directory) {
        let result = FunctionResult::error(Reason::InvalidPath, error.to_string());
        results.push(result.at(field));
        return Ok(None);
    }
    let directory = normalize_package_path(directory);
    let mut reader = Reader::new(role, directory.clone(), results);
    let mut items = list.take_under(&directory);
    // Patches need not be resources, so their files are read as a whole.
    if role == Role::Patches && list.is_package() {
        let place = directory.clone();
        let texts = list.krm_texts_under(&directory);
        let texts = texts.map_err(|error| UsageError(format!("{place}: {error}")))?;
        for (path, text) in texts {
            reader.add_krm(path, text, None, None)?;
        }
        if reader.package.list.items().next().is_some() {
            return Ok(Some(reader.package));
        }
    }
    if items.items().next().is_none() {
        return Err(UsageError(format!(
            "functionConfig, field `{field}`: expected resources under `{directory}`, found none"
        )));
    }
    if !role.keeps_lists_of_packages() {
        let place = reader.package.place.clone();
        items.unfold(|node, resource| {
            if elements(node).is_none() {
                return Ok(None);
            }
            let mut found = Found::default();
            found.document(role, node, &place)?;
            for (_, element) in &mut found.items {
                element.origin = resource.origin.clone();
            }
            Ok::<_, UsageError>(Some(found.items))
        })?;
    }
    if reader.read_only_item(&items)? {
        return Ok(Some(reader.package));
    }
    let failed = |error: PackageError| UsageError(format!("{directory}: {error}"));
    let files = list.files_under(&directory).map_err(failed)?;
    let numbers = items.numbers_of_texts();
    for (path, FileUnder { bytes, mode }) in files {
        let content = match numbers.get(path.as_str()) {
            Some(number) => FileContent::Krm(*number),
            None => FileContent::Bytes(bytes),
        };
        let name = path.clone();
        let file = SuppliedFile {
            path,
            mode,
            content,
        };
        reader.package.files.insert(name, file);
    }
    reader.package.list = items;
    Ok(Some(reader.package))
}

/// The files of a PackageRevisionResources that is the only item.
fn files_of_the_only_item(
    role: Role,
    items: &ResourceList,
    place: &str,
) -> Result<Option<Found>, UsageError> {
    let mut ids = items.items();
    let (Some((only, resource)), None) = (ids.next(), ids.next()) else {
        return Ok(None);
    };
    if resource.kind != PACKAGE_REVISION_RESOURCES {
        return Ok(None);
    }
    let mut found = Found::default();
    found.document(role, items.node(only), place)?;
    Ok(Some(found))
}

/// What a document stands for.
#[derive(Default)]
struct Found {
    items: Vec<(NodeId, Resource)>,
    files: Vec<(String, String)>,
    revisions: Vec<PackageRevisionName>,
}

impl Found {
    fn document(&mut self, role: Role, node: NodeRef<'_>, place: &str) -> Result<(), UsageError> {
        if is_package_revision_resources(node) {
            return self.package(node, place);
        }
        self.resource(role, node, place, None)
    }

    fn resource(
        &mut self,
        role: Role,
        node: NodeRef<'_>,
        place: &str,
        list: Option<&Resource>,
    ) -> Result<(), UsageError> {
        let mut resource = Resource::read(node);
        // The elements of a typed list, as API servers write it, leave out what the list tells.
        if let Some(list) = list {
            let kind = list.kind.strip_suffix("List").unwrap_or_default();
            if resource.kind.is_empty() && kind != "Resource" {
                resource.kind = kind.to_owned();
            }
            if resource.api_version.is_empty() && !kind.is_empty() && kind != "Resource" {
                resource.api_version = list.api_version.clone();
            }
        }
        if let Some(elements) = elements(node) {
            for element in elements {
                self.resource(role, element.resolved(), place, Some(&resource))?;
            }
            return Ok(());
        }
        let complete = !resource.kind.is_empty() && !resource.api_version.is_empty();
        if role != Role::Patches && !(node.kind().is_mapping() && complete) {
            let found = match node.kind().is_mapping() {
                true => "a mapping without them",
                false => &with_article(node.kind_name()),
            };
            return Err(UsageError(format!(
                "{place}, {}: expected a resource with apiVersion and kind, found {found}",
                node.location()
            )));
        }
        self.items.push((node.id, resource));
        Ok(())
    }

    fn package(&mut self, node: NodeRef<'_>, place: &str) -> Result<(), UsageError> {
        self.revisions.push(PackageRevisionName::read(node));
        let Some(resources) = node.get_path(&["spec", "resources"]) else {
            return Ok(());
        };
        for entry in resources.entries() {
            let (Some(path), Some(text)) = (entry.key.scalar_text(), entry.value.as_str()) else {
                return Err(UsageError(format!(
                    "{place}, {}: PackageRevisionResources: expected the text of a file, found {}",
                    entry.value.location(),
                    with_article(entry.value.kind_name())
                )));
            };
            self.files.push((path.to_owned(), text.to_owned()));
        }
        Ok(())
    }
}

impl SuppliedPackage {
    /// A package of texts.
    pub(crate) fn from_files(
        role: Role,
        place: String,
        files: Vec<(String, String)>,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let mut reader = Reader::new(role, place, results);
        for (path, text) in files {
            reader.add_file(path, text)?;
        }
        Ok(reader.package)
    }

    /// The package of a PackageRevisionResources that is the only item of a list.
    pub(crate) fn of_only_item(
        role: Role,
        items: &ResourceList,
        results: &mut Results,
    ) -> Result<Option<Self>, UsageError> {
        let mut reader = Reader::new(role, format!("role `{role}`"), results);
        let is_one = reader.read_only_item(items)?;
        Ok(is_one.then_some(reader.package))
    }
}

/// What makes a package of what was read.
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
    fn read_only_item(&mut self, items: &ResourceList) -> Result<bool, UsageError> {
        let found = files_of_the_only_item(self.role, items, &self.package.place)?;
        let Some(found) = found else {
            return Ok(false);
        };
        self.package.revisions.extend(found.revisions);
        for (path, text) in found.files {
            self.add_file(path, text)?;
        }
        Ok(true)
    }

    fn read_directory(&mut self, directory: &FilePath) -> Result<(), UsageError> {
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

    /// Adds what the documents of one text stand for. Their paths come from data.
    fn push(&mut self, chunk: SourceText, found: Found) -> Result<(), UsageError> {
        let Found {
            mut items,
            files,
            revisions,
        } = found;
        self.package.revisions.extend(revisions);
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
        self.package.list.push_chunk(chunk, items);
        files
            .into_iter()
            .try_for_each(|(path, text)| self.add_file(path, text))
    }

    /// Adds a file of a PackageRevisionResources.
    fn add_file(&mut self, path: String, text: String) -> Result<(), UsageError> {
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
            return self.add_krm(name, text, documents, None);
        }
        let file = SuppliedFile {
            path: name.clone(),
            mode: None,
            content: FileContent::Text(text),
        };
        self.package.files.insert(name, file);
        Ok(())
    }

    /// Adds a file of a package that is read for resources, those of its [`documents`]. YAML that is
    /// no KRM is passed over.
    pub(super) fn add_krm(
        &mut self,
        path: String,
        text: String,
        documents: Option<Vec<(usize, Resource)>>,
        mode: Option<u32>,
    ) -> Result<(), UsageError> {
        let number = match documents {
            Some(mut items) => {
                let resources = items.iter_mut().map(|(_, resource)| resource);
                place_in_file(resources, &path);
                self.package.list.push_documents(Text::from(text), items)
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

    /// Adds a text of a package whose resources only its tree can tell; gives its number.
    fn push_parsed(&mut self, path: &str, text: String) -> Result<usize, UsageError> {
        let place = format!("{}/{path}", self.package.place);
        let chunk = parse(Text::from(text), &place)?;
        let document = chunk.document();
        let roots = (0..document.len()).filter_map(|index| document.root(index));
        let is_item = |root: &NodeRef<'_>| is_krm(*root) || self.role == Role::Patches;
        let mut items = Vec::new();
        for root in roots.filter(is_item) {
            if elements(root).is_some() && !self.role.keeps_lists_of_packages() {
                let mut found = Found::default();
                found.resource(self.role, root, &place, None)?;
                items.append(&mut found.items);
            } else {
                items.push((root.id, Resource::read(root)));
            }
        }
        place_in_file(items.iter_mut().map(|(_, resource)| resource), path);
        Ok(self.package.list.push_chunk(chunk, items))
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

/// The KRM documents of a text of a package, if that can be told without a tree.
fn documents(role: Role, text: &str) -> Option<Vec<(usize, Resource)>> {
    if !IN_USE || role == Role::Patches {
        return None;
    }
    let documents = identity::documents(text)?.into_iter().enumerate();
    let items = documents.filter_map(|(index, found)| Some((index, found?)));
    let items: Vec<_> = items.collect();
    let unfolds = !role.keeps_lists_of_packages();
    let is_list = |(_, resource): &(usize, Resource)| resource.kind.ends_with("List");
    (!unfolds || !items.iter().any(is_list)).then_some(items)
}

/// The resources of a file are numbered, wherever their annotations say that they are.
fn place_in_file<'r>(resources: impl Iterator<Item = &'r mut Resource>, path: &str) {
    for (number, resource) in resources.enumerate() {
        let origin = &mut resource.origin;
        origin.path = Some(path.to_owned());
        origin.index = Some(number);
        origin.package_path = None;
    }
}

fn parse(text: Text, place: &str) -> Result<SourceText, UsageError> {
    SourceText::parse(text).map_err(|error| UsageError(format!("{place}: {error}")))
}

/// The elements of a `List`, a `*List` with items, or a ResourceList.
fn elements<'a>(node: NodeRef<'a>) -> Option<Vec<NodeRef<'a>>> {
    let kind = node.get("kind")?.as_str()?;
    let plain = matches!(kind, "List" | "ResourceList");
    if !plain && !kind.ends_with("List") {
        return None;
    }
    match node.get("items") {
        Some(items) if items.kind().is_sequence() => Some(items.items().collect()),
        Some(items) if !items.is_null() => None,
        Some(_) => Some(Vec::new()),
        None => plain.then(Vec::new),
    }
}

/// Whether a resource is a PackageRevisionResources, which stands for the package in it.
pub(crate) fn is_package_revision_resources(node: NodeRef<'_>) -> bool {
    let is = |key, text| node.get(key).and_then(|value| value.as_str()) == Some(text);
    is("apiVersion", PORCH_API_VERSION) && is("kind", PACKAGE_REVISION_RESOURCES)
}
