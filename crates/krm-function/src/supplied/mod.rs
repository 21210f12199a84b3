//! Supplied inputs: resources that a function needs and that are not part of the package.
//!
//! Each has a [`Role`]. A role is filled by a flag with a file or directory, by the field of the same name in a typed
//! config, or by an annotation on a PackageVariant. `merge-package` itself reads a fourth source:
//! `config.kubernetes.io/merge-source` on items.
//!
//! Source: contract, Supplied inputs.

mod catalog;
mod contents;
mod package;
mod read;
mod reader;
mod upstream;

pub use catalog::CatalogSource;
pub use contents::only_package;
pub use contents::only_package_except;
pub(crate) use contents::{RESOURCES, texts_in};
pub use package::SuppliedPackage;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use krm_core::config::{API_VERSION, NamedDocument, PACKAGE_VARIANT, UsageError, kind_of};
use krm_core::resource_list::{ResourceList, with_definitions};
use krm_core::results::{Results, with_article};
use krm_core::schema::Schema;
use krm_core::upstream_revision::Sources;
use krm_core::word_enum;
use krm_yaml::{NodeRef, OwnedDocument, Path};

word_enum! {
    /// What a supplied input is for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Role {
        /// The package before a change.
        Before = "before",
        /// The revision that the package, or the live resource, was made from.
        Original = "original",
        /// The upstream revision to upgrade to.
        Upstream = "upstream",
        /// A newer revision of upstream.
        Against = "against",
        /// Resources as the cluster has them.
        Live = "live",
        /// Strategic merge patches.
        Patches = "patches",
        /// Other cluster resources.
        Resources = "resources",
        /// PackageVariants and PackageVariantSets.
        Variants = "variants",
    }
}

impl Role {
    /// The error of a function that needs this role.
    pub fn missing(self, what: &str, kind: &str) -> UsageError {
        let config = with_article(kind);
        UsageError::expected(
            format_args!("role `{self}`"),
            format_args!("{what} (--{self} PATH, or the field `{self}` of {config})"),
            "none",
        )
    }

    /// The explanation in `--help`.
    pub fn help(self) -> &'static str {
        match self {
            Self::Before => {
                "The package before the change: file, directory, archive, oci:PATH:TAG, or REPOSITORY//DIRECTORY?ref=REVISION in Git"
            }
            Self::Original => {
                "The upstream revision that the package was made from: file, directory, archive, oci:PATH:TAG, or REPOSITORY//DIRECTORY?ref=REVISION in Git"
            }
            Self::Upstream => {
                "The upstream revision to upgrade to: file, directory, archive, oci:PATH:TAG, or REPOSITORY//DIRECTORY?ref=REVISION in Git"
            }
            Self::Against => {
                "A newer upstream revision: file, directory, archive, oci:PATH:TAG, or REPOSITORY//DIRECTORY?ref=REVISION in Git"
            }
            Self::Live => "Live resources, as the cluster has them: file or directory",
            Self::Patches => "Patches: file or directory, repeatable",
            Self::Resources => "Cluster resources: file or directory, repeatable",
            Self::Variants => {
                "PackageVariants and PackageVariantSets: file or directory, repeatable"
            }
        }
    }

    /// Whether the flag can be given several times.
    pub(crate) fn is_repeatable(self) -> bool {
        matches!(self, Self::Patches | Self::Resources | Self::Variants)
    }

    /// The annotation on a PackageVariant that names a directory for the role.
    pub fn annotation(self) -> Option<&'static str> {
        match self {
            Self::Original => Some("fn.kpt.dev/original-path"),
            Self::Upstream => Some("fn.kpt.dev/upstream-path"),
            Self::Resources => Some("fn.kpt.dev/resources-path"),
            Self::Before | Self::Against | Self::Live | Self::Patches | Self::Variants => None,
        }
    }

    /// Whether the input for the role is a package. A `List` in a package is one resource: a merge pairs it with the
    /// `List` of the local package, which is not split into its elements either.
    fn is_package(self) -> bool {
        matches!(
            self,
            Self::Before | Self::Original | Self::Upstream | Self::Against
        )
    }
}

/// Called with the progress of a search for the original: the number of revisions searched so far, and of all.
pub type Progress = fn(usize, usize);

/// Supplied inputs by role.
#[derive(Debug, Default)]
pub struct Supplied {
    inputs: Vec<(Role, Arc<SuppliedPackage>)>,
    /// Whether to search for the original revision.
    pub searches_original: bool,
    /// The OpenAPI document of `--openapi`.
    pub(crate) openapi: Option<OwnedDocument>,
    /// Called with the progress of a search.
    pub(crate) progress: Option<Progress>,
    /// The rules of `--conflicts`.
    pub conflicts: Option<NamedDocument>,
    /// The catalogs of `--catalog`.
    pub catalogs: Vec<CatalogSource>,
}

/// The source of the input for a role.
enum InputSource<'a> {
    Flag(Vec<&'a std::path::Path>),
    Field(NodeRef<'a>, Path),
    Annotation(NodeRef<'a>, Path),
}

impl fmt::Display for InputSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(_) => f.write_str("a flag"),
            Self::Field(_, field) => write!(f, "the field `{field}` of the functionConfig"),
            Self::Annotation(_, field) => write!(f, "`{field}` of the functionConfig"),
        }
    }
}

impl Supplied {
    /// Reads the inputs of these roles: from the paths of flags, the fields of a typed config, the
    /// annotations of a PackageVariant. Items of the list that fill a role are hidden in it.
    ///
    /// Values that are not allowed are error results.
    ///
    /// # Errors
    /// [`UsageError`]: two sources for one role, or an input that does not exist, cannot be read, or has an unexpected
    /// form.
    pub fn read(
        sources: Sources,
        roles: &[Role],
        flags: &[(Role, PathBuf)],
        config: Option<NodeRef<'_>>,
        list: &mut ResourceList,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let mut supplied = Self::default();
        for role in Role::ALL {
            if !roles.contains(&role) {
                continue;
            }
            let mut input_sources = input_sources(role, flags, config).into_iter();
            let Some(source) = input_sources.next() else {
                continue;
            };
            if matches!(&source, InputSource::Flag(paths) if searches(role, paths, roles))
                && !sources.is_empty()
            {
                supplied.searches_original = true;
                continue;
            }
            if let Some(other) = input_sources.next() {
                return Err(UsageError::expected(
                    format_args!("role `{role}`"),
                    "one source for it",
                    format_args!("{source} and {other}"),
                ));
            }
            let packages = match source {
                InputSource::Flag(paths) => paths
                    .into_iter()
                    .map(|path| read::from_path(role, path, sources, list.only_file(), results))
                    .collect::<Result<_, _>>()?,
                InputSource::Field(node, field) => {
                    vec![read::from_field(role, node, &field, list, results)?]
                }
                InputSource::Annotation(node, field) => {
                    read::from_directory(role, node, &field, list, results)?
                        .into_iter()
                        .collect::<Vec<_>>()
                }
            };
            let packages = packages
                .into_iter()
                .map(|package| (role, Arc::new(package)));
            supplied.inputs.extend(packages);
        }
        Ok(supplied)
    }

    /// Fills a role with the files of a package, by path.
    ///
    /// Values that are not allowed are error results.
    ///
    /// # Errors
    /// [`UsageError`]: the role is filled already; a file that is not YAML.
    pub fn add_files(
        &mut self,
        role: Role,
        files: impl IntoIterator<Item = (String, String)>,
        results: &mut Results,
    ) -> Result<(), UsageError> {
        if self.has(role) && !role.is_repeatable() {
            return Err(UsageError::expected(
                format_args!("role `{role}`"),
                "one source for it",
                "several",
            ));
        }
        let package = SuppliedPackage::from_files(role, format!("role `{role}`"), files, results)?;
        self.add(role, Arc::new(package));
        Ok(())
    }

    /// Fills a role with a package, which other runs may share.
    pub fn add(&mut self, role: Role, package: Arc<SuppliedPackage>) {
        self.inputs.push((role, package));
    }

    /// Drops the trees of all inputs that no other run shares.
    pub fn drop_trees(&mut self) {
        let inputs = self.inputs.iter_mut();
        let own = inputs.filter_map(|(_, package)| Arc::get_mut(package));
        own.for_each(SuppliedPackage::drop_trees);
    }

    /// Refuses files of packages that are not YAML.
    ///
    /// # Errors
    /// [`UsageError`] that names the first.
    pub(crate) fn refuse_texts(&self) -> Result<(), UsageError> {
        let mut packages = self.inputs.iter();
        packages.try_for_each(|(_, package)| package.refuse_texts())
    }

    /// Reports the progress of a search.
    pub fn report_progress(&self, done: usize, all: usize) {
        if let Some(progress) = self.progress {
            progress(done, all);
        }
    }

    /// The schema of the built-in types, and of those that `--openapi` adds.
    ///
    /// # Errors
    /// [`UsageError`]: the document holds no definitions.
    pub fn schema(&self) -> Result<Schema, UsageError> {
        match self.openapi.as_ref().and_then(OwnedDocument::root) {
            Some(root) => Schema::builtin()
                .with_openapi(root)
                .map_err(|error| UsageError::at("--openapi", error)),
            None => Ok(Schema::builtin()),
        }
    }

    /// The same schema with the types of the CustomResourceDefinitions among items and supplied
    /// inputs.
    ///
    /// # Errors
    /// As [`schema`](Self::schema).
    pub fn schema_with_crds(&self, items: &ResourceList) -> Result<Schema, UsageError> {
        let roles = [
            Role::Before,
            Role::Live,
            Role::Original,
            Role::Patches,
            Role::Resources,
        ];
        let lists = roles.into_iter().flat_map(|role| self.of(role));
        let lists: Vec<&ResourceList> = std::iter::once(items)
            .chain(lists.map(SuppliedPackage::list))
            .collect();
        Ok(with_definitions(self.schema()?, &lists))
    }

    /// The number of bytes in the texts of all inputs.
    pub fn length(&self) -> usize {
        let packages = self.inputs.iter();
        packages.map(|(_, package)| package.length()).sum()
    }

    /// The inputs of a role in the given order. Empty if the role is not filled.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &SuppliedPackage> {
        self.all(role).map(|package| &**package)
    }

    /// Like [`of`](Self::of), but the packages can be shared with other runs.
    pub fn all(&self, role: Role) -> impl Iterator<Item = &Arc<SuppliedPackage>> {
        let inputs = self.inputs.iter();
        inputs
            .filter(move |(other, _)| *other == role)
            .map(|(_, package)| package)
    }

    /// Only the inputs of a role, to share with another run.
    pub fn only(&self, role: Role) -> Self {
        let inputs = self.all(role).map(|package| (role, Arc::clone(package)));
        Self {
            inputs: inputs.collect(),
            ..Self::default()
        }
    }

    /// Whether the role is filled.
    pub fn has(&self, role: Role) -> bool {
        self.one(role).is_some()
    }

    /// The first input of a role. A role that is not repeatable has no other.
    pub fn one(&self, role: Role) -> Option<&SuppliedPackage> {
        self.of(role).next()
    }

    /// The inputs of [`Role::Resources`].
    pub fn resources(&self) -> impl Iterator<Item = &SuppliedPackage> {
        self.of(Role::Resources)
    }
}

/// Whether a flag asks to search for the original: `--original auto`.
fn searches(role: Role, paths: &[&std::path::Path], roles: &[Role]) -> bool {
    const AUTO: &str = "auto";
    let is_auto = matches!(paths, [path] if path.as_os_str() == AUTO);
    role == Role::Original && roles.contains(&Role::Upstream) && is_auto
}

fn input_sources<'a>(
    role: Role,
    flags: &'a [(Role, PathBuf)],
    config: Option<NodeRef<'a>>,
) -> Vec<InputSource<'a>> {
    let mut input_sources = Vec::new();
    let paths: Vec<_> = flags
        .iter()
        .filter(|(other, _)| *other == role)
        .map(|(_, path)| path.as_path())
        .collect();
    if !paths.is_empty() {
        input_sources.push(InputSource::Flag(paths));
    }
    let Some(config) = config else {
        return input_sources;
    };
    match kind_of(config) {
        (API_VERSION, _) => {
            if let Some(node) = config.get(role.as_str()).filter(|node| !node.is_null()) {
                input_sources.push(InputSource::Field(node, Path::fields(&[role.as_str()])));
            }
        }
        PACKAGE_VARIANT => {
            let found = role.annotation().and_then(|name| {
                let path = ["metadata", "annotations", name];
                Some(InputSource::Annotation(
                    config.get_path(&path)?,
                    Path::fields(&path),
                ))
            });
            input_sources.extend(found);
        }
        _ => {}
    }
    input_sources
}
