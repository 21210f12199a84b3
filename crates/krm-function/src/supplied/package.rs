//! One supplied input: its resources, and its files if it is a package.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use krm_core::config::{Cause, UsageError};
use krm_core::resource::Resource;
use krm_core::resource_list::{ItemId, NotYaml, ResourceList};
use krm_core::revision_name::PackageRevisionName;
use krm_core::upstream_revision::UpstreamRevision;
use krm_package::{Package, PackageError};

#[derive(Debug)]
pub struct SuppliedPackage {
    /// Where it comes from, for messages: the path of the flag, or the field of the config.
    pub place: String,
    pub(super) list: ResourceList,
    /// Whether it was read from files, so that resources have a path below `place`.
    pub(super) has_files: bool,
    /// The files that were skipped with a warning.
    pub(super) skipped: BTreeSet<String>,
    /// The names of the PackageRevisionResources in it.
    pub revisions: Vec<PackageRevisionName>,
    /// The upstream revision that it was read from, if any.
    pub(super) upstream: Option<Arc<dyn UpstreamRevision>>,
    /// Whether a Kptfile may record `upstream`.
    pub(super) is_recorded: bool,
    /// The resources of each kind.
    kinds: OnceLock<HashMap<Arc<str>, Vec<ItemId>>>,
    /// The resources of each name.
    names: OnceLock<HashMap<Arc<str>, Vec<ItemId>>>,
    /// The number of bytes in the texts that hold resources.
    length: OnceLock<usize>,
}

impl SuppliedPackage {
    /// The resources of a kind, of any group. Cached: each variant of a fleet looks for some resources of the cluster.
    pub fn of_kind(&self, kind: &str) -> &[ItemId] {
        let kinds = || self.by(|resource| Some(&resource.kind));
        let kinds = self.kinds.get_or_init(kinds);
        kinds.get(kind).map_or(&[], Vec::as_slice)
    }

    /// The resources with a name, of any kind.
    pub fn named(&self, name: &str) -> &[ItemId] {
        let names = || self.by(|resource| resource.name.as_ref());
        let names = self.names.get_or_init(names);
        names.get(name).map_or(&[], Vec::as_slice)
    }

    /// The number of bytes in the texts that hold resources. Cached: each variant of a fleet needs it.
    pub fn length(&self) -> usize {
        *self.length.get_or_init(|| self.list.length())
    }

    fn by(&self, key: impl Fn(&Resource) -> Option<&Arc<str>>) -> HashMap<Arc<str>, Vec<ItemId>> {
        let mut found: HashMap<Arc<str>, Vec<ItemId>> = HashMap::new();
        for (id, resource) in self.list.items() {
            if let Some(key) = key(resource) {
                found.entry(key.clone()).or_default().push(id);
            }
        }
        found
    }

    /// Drops the trees of the resources, which are parsed again if they are needed.
    pub(crate) fn drop_trees(&mut self) {
        self.list.drop_trees();
    }

    pub(super) fn new(place: String) -> Self {
        Self {
            place,
            list: ResourceList::read_only(),
            has_files: false,
            skipped: BTreeSet::new(),
            revisions: Vec::new(),
            kinds: OnceLock::new(),
            names: OnceLock::new(),
            length: OnceLock::new(),
            upstream: None,
            is_recorded: true,
        }
    }

    /// An input that consists of copies of items.
    pub fn of_items(place: String, items: ResourceList) -> Self {
        Self {
            list: items,
            ..Self::new(place)
        }
    }

    /// The resources. Their paths are relative to the input. Resources of an input that is a single file have a path
    /// only if an annotation or a `# Source:` comment gives one. `package_path` is always `None`.
    pub fn list(&self) -> &ResourceList {
        &self.list
    }

    pub fn into_list(self) -> ResourceList {
        self.list
    }

    /// The files, if the input is a package: a directory on disk, in a package or in a repository, or a
    /// PackageRevisionResources. `None` for a single file, an inline list, or items of a ResourceList.
    pub fn files(&self) -> Option<&Package> {
        self.list.files()
    }

    /// Where a resource comes from, for messages.
    pub fn place_of(&self, resource: &Resource) -> String {
        match resource.origin.path.as_deref() {
            Some(path) => self.place_of_file(path),
            None => self.place.clone(),
        }
    }

    /// Where the resources of a file come from, for messages: with the path of the input before its own.
    pub fn place_of_file(&self, path: &str) -> String {
        if self.has_files {
            format!("{}/{path}", self.place)
        } else {
            self.place.clone()
        }
    }

    /// The files that a clone contains in addition to [`files`](Self::files). Its `skipped` has only files without a
    /// warning so far.
    ///
    /// # Errors
    /// [`UsageError`]: it cannot be read.
    pub fn clone_only_files(&self) -> Result<Package, UsageError> {
        let none = Package::default();
        let files = self.files().unwrap_or(&none);
        let is_read = |path: &str| files.get(path).is_some();
        let failed = |error: Cause| UsageError::at(&self.place, error);
        let mut unread = if let Some(upstream) = &self.upstream {
            upstream
                .clone_only_files(&is_read)
                .map_err(|error| failed(error.into()))?
        } else if files.is_on_disk() {
            files
                .clone_only_files()
                .map_err(|error| failed(error.into()))?
        } else {
            Package::default()
        };
        let is_new = |path: &String| !self.skipped.contains(path);
        unread.skipped.retain(|skipped| is_new(&skipped.path));
        Ok(unread)
    }

    /// Refuses files that are not YAML.
    ///
    /// # Errors
    /// [`UsageError`] that names the first.
    pub(crate) fn refuse_texts(&self) -> Result<(), UsageError> {
        match self.list.not_yaml().and_then(NotYaml::first_key_value) {
            None => Ok(()),
            Some((path, error)) => {
                let place = format_args!("{}/{path}", self.place);
                Err(UsageError::at(place, error.clone()))
            }
        }
    }

    /// The same package, if all its files are YAML.
    pub fn without_texts(self) -> Result<Self, UsageError> {
        self.refuse_texts().map(|()| self)
    }

    /// The bytes of one of the files.
    ///
    /// # Errors
    /// [`UsageError`] if the file does not exist, or can no longer be read.
    pub fn read_file(&self, path: &str) -> Result<Cow<'_, [u8]>, UsageError> {
        let read = self.list.read_file(path).map_err(|error| match error {
            PackageError::NotInPackage { .. } => {
                Cause::from(format!("the file `{path}` does not exist"))
            }
            error => error.into(),
        });
        read.map_err(|error| UsageError::at(&self.place, error))
    }
}
