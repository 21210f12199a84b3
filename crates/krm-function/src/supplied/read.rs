//! Reads supplied inputs: files and directories, inline lists, items of the ResourceList.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path as FilePath;

use super::contents::{DocumentContents, elements, is_package_revision_resources};
use super::package::SuppliedPackage;
use super::reader::{Reader, documents};
use super::{Role, UsageError};
use krm_core::config::Cause;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results, with_article};
use krm_core::source_text::SourceText;
use krm_core::upstream_revision::Sources;
use krm_package::text::Text;
use krm_package::{
    Package, PackageFile, check_package_path, is_package_file, normalize_package_path, read_package,
};
use krm_yaml::{NodeRef, ParseOptions, Path};

/// Reads a file, a directory, or a revision of an upstream that a flag names.
pub(super) fn from_path(
    role: Role,
    path: &FilePath,
    sources: Sources,
    only_file: Option<&str>,
    results: &mut Results,
) -> Result<SuppliedPackage, UsageError> {
    let failed = |error: UsageError| UsageError::at(format_args!("--{role}"), error);
    for open in sources {
        let Some(revision) = open(path).map_err(failed)? else {
            continue;
        };
        let package = revision.read().map_err(failed)?.named_as(only_file);
        if let Some((reason, warning)) = revision.warning() {
            let message = format!("--{role}: {warning}");
            results.push(FunctionResult::warning(reason, message));
        }
        return SuppliedPackage::from_upstream(role, package, revision, results);
    }
    let place = path.display().to_string();
    let mut reader = Reader::new(role, place, results);
    if path.is_dir() {
        let package =
            read_package(path).map_err(|error| UsageError::at(format_args!("--{role}"), error));
        reader.add_package(package?)?;
        return reader.finish();
    }
    if role.is_package()
        && path
            .file_name()
            .and_then(OsStr::to_str)
            .is_some_and(is_package_file)
    {
        return Err(UsageError::expected(
            format_args!("--{role}"),
            "a package",
            format_args!(
                "one file of it: give the directory that holds {}",
                path.display()
            ),
        ));
    }
    let text = read_text(role, path, !sources.is_empty())?;
    if let Some(name) = only_file.filter(|_| role.is_package()) {
        reader.add_package(Package::of_one(name, PackageFile::of_text(name, text)))?;
        return reader.finish();
    }
    let text = Text::from(text);
    let found = documents(&text, &reader.package.place)?;
    reader.add_documents(&text, found, None)?;
    reader.finish()
}

fn read_text(role: Role, path: &FilePath, may_be_revision: bool) -> Result<String, UsageError> {
    let unreadable = |error: Cause| {
        let place = format_args!("--{role}: cannot read {}", path.display());
        UsageError::at(place, error)
    };
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        // Users may expect this flag to take only the revision (`v1.0`).
        ErrorKind::NotFound if may_be_revision => unreadable(
            "no such file or directory; a revision in a Git repository is given as \
             REPOSITORY//DIRECTORY?ref=REVISION"
                .into(),
        ),
        ErrorKind::NotFound => unreadable("no such file or directory".into()),
        _ => unreadable(error.into()),
    })?;
    String::from_utf8(bytes).map_err(|error| unreadable(error.into()))
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
        UsageError::expected(
            &place,
            format_args!("a list of resources, {{path: DIR}} or a PackageRevisionResources"),
            found,
        )
    };
    if let Some(path) = node.get("path").filter(|_| node.get("kind").is_none()) {
        let mut keys = node.entries().filter_map(|entry| entry.key.key_text());
        if let Some(other) = keys.find(|key| *key != "path") {
            return Err(shape(&format!("a field `{other}` next to `path`")));
        }
        let package = from_directory(role, path, &field.field("path"), list, results)?;
        return Ok(package.unwrap_or_else(|| SuppliedPackage::new(place)));
    }
    let mut contents = DocumentContents::default();
    if node.kind().is_sequence() {
        for item in node.items() {
            contents.document(role, item.resolved(), &place)?;
        }
    } else if is_package_revision_resources(node) {
        contents.document(role, node, &place)?;
    } else {
        return Err(shape(&with_article(node.kind_name())));
    }
    let mut reader = Reader::new(role, place, results);
    // The same text is parsed into the same tree, so the IDs are valid in this copy of the config.
    let text = Text::from(node.document.text.to_owned());
    let text = SourceText::accepted(text, ParseOptions::of_resources(0));
    reader.push(text, contents);
    reader.finish()
}

/// Takes the items of the ResourceList under a directory that a config names. `None`, with an error result, if the path
/// is not allowed.
pub(super) fn from_directory(
    role: Role,
    node: NodeRef<'_>,
    field: &Path,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<Option<SuppliedPackage>, UsageError> {
    let Some(directory) = node.as_str() else {
        return Err(UsageError::expected(
            format_args!("functionConfig, field `{field}`"),
            "a string",
            with_article(node.kind_name()),
        ));
    };
    if let Err(error) = check_package_path(directory) {
        let result = FunctionResult::error(Reason::InvalidPath, error.to_string());
        results.push(result.with_field(field));
        return Ok(None);
    }
    let directory = normalize_package_path(directory);
    let mut reader = Reader::new(role, directory.clone(), results);
    let taken = list.take_under(&directory);
    let (mut items, files) = taken.map_err(|error| UsageError::at(&directory, error))?;
    reader.package.has_files = list.is_package();
    // Patches need not be resources, so whole files are read.
    if role == Role::Patches {
        for (path, text) in files.krm() {
            let found = documents(text, &format!("{directory}/{path}"))?;
            reader.add_documents(text, found, Some(path))?;
        }
        if reader.package.list.items().next().is_some() {
            return reader.finish().map(Some);
        }
    }
    if items.items().next().is_none() {
        return Err(UsageError::expected(
            format_args!("functionConfig, field `{field}`"),
            format_args!("resources under `{directory}`"),
            "none",
        ));
    }
    if !role.is_package() {
        unfold(role, &mut items, &directory)?;
    }
    if reader.read_only_item(&items)? {
        return reader.finish().map(Some);
    }
    if role.is_package() && list.is_package() {
        reader.add_package(files)?;
    } else {
        reader.package.list = items;
    }
    reader.finish().map(Some)
}

/// Replaces lists with their elements, which get the file and index of the list.
fn unfold(role: Role, items: &mut ResourceList, place: &str) -> Result<(), UsageError> {
    items.unfold(|node, resource| {
        if elements(node).is_none() {
            return Ok(None);
        }
        let mut contents = DocumentContents::default();
        contents.document(role, node, place)?;
        for (_, element) in &mut contents.items {
            element.origin = resource.origin.clone();
        }
        Ok(Some(contents.items))
    })
}

impl SuppliedPackage {
    /// The package in a file or directory.
    ///
    /// # Errors
    /// [`UsageError`]: the path does not exist, or cannot be read.
    pub fn from_path(
        role: Role,
        path: &FilePath,
        sources: Sources,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        from_path(role, path, sources, None, results)?.without_texts()
    }

    /// A package from the texts of its files.
    pub(crate) fn from_files(
        role: Role,
        place: String,
        files: impl IntoIterator<Item = (String, String)>,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let mut reader = Reader::new(role, place, results);
        for (path, text) in files {
            reader.add_file(path, text);
        }
        reader.finish()
    }

    /// The package of a PackageRevisionResources that is the only item of a list. `None` if there is no such item.
    pub fn of_only_item(
        role: Role,
        items: &ResourceList,
        results: &mut Results,
    ) -> Result<Option<Self>, UsageError> {
        let mut reader = Reader::new(role, format!("role `{role}`"), results);
        let is_one = reader.read_only_item(items)?;
        is_one.then(|| reader.finish()).transpose()
    }
}
