//! Catalogs, the sources of upstream packages: each is a Git repository or a directory.
//!
//! ```text
//! catalog/nginx/v1/Kptfile      a directory: <package>/<revision>/
//! catalog.git, tag nginx/v1     a repository: tags, branches or commits
//! ```
//!
//! Source: contract, render-fleet.

mod directory;
mod packages;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use krm_core::config::UsageError;
use krm_core::resource::NamespacedName;
use krm_core::results::{FunctionResult, Reason, Results, listed};
use krm_function::supplied::{CatalogSource, Role, SuppliedPackage};
use krm_package::{self as package, normalize_package_path};
use krm_upstream::git::{GitSource, Repository, is_repository};
use krm_upstream::{GitOrigin, SOURCES};
use krm_variant::naming::revision_name;
use krm_variant::revision_request::{Lookup, RevisionRequest};
use render_variant::{RepositoryFacts, find_revision};

use directory::digest;
use packages::PackageCache;

/// The upstream package that a variant requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct UpstreamRequest {
    pub(crate) repository: NamespacedName,
    pub(crate) package: String,
    pub(crate) revision: RevisionRequest,
}

/// A revision of an upstream package in a catalog.
#[derive(Debug)]
pub(crate) enum Resolved {
    /// A commit of a Git repository.
    Git(GitOrigin),
    /// A revision in a directory.
    Directory(DirectoryRevision),
}

/// A revision of a package in a catalog that is a directory.
#[derive(Debug)]
pub(crate) struct DirectoryRevision {
    pub(crate) package: String,
    pub(crate) revision: String,
    /// The flag that opens the revision.
    flag: String,
    /// The digest of the revision's files.
    pub(crate) digest: String,
    /// The address for the Kptfile.
    pub(crate) address: String,
}

impl Resolved {
    /// The name of the revision in the lock of a Kptfile.
    pub(crate) fn reference(&self) -> &str {
        match self {
            Self::Git(origin) => &origin.revision.lock_ref,
            Self::Directory(found) => &found.revision,
        }
    }
}

/// The catalogs of a run. Each revision is resolved only once, and packages are cached while they are in use.
pub(crate) struct Catalogs<'c> {
    sources: &'c [CatalogSource],
    facts: &'c BTreeMap<NamespacedName, RepositoryFacts>,
    /// The repositories of the catalogs opened so far; `None` for a directory.
    open: HashMap<&'c Path, Option<Rc<Repository>>>,
    resolved: HashMap<UpstreamRequest, Result<Rc<Resolved>, Box<FunctionResult>>>,
    packages: PackageCache,
    /// Warnings about upstream packages, such as files that are skipped.
    pub(crate) results: Results,
}

impl<'c> Catalogs<'c> {
    pub(crate) fn new(
        sources: &'c [CatalogSource],
        facts: &'c BTreeMap<NamespacedName, RepositoryFacts>,
    ) -> Self {
        Self {
            sources,
            facts,
            open: HashMap::new(),
            resolved: HashMap::new(),
            packages: PackageCache::default(),
            results: Results::default(),
        }
    }

    /// Finds the revision of an upstream package.
    ///
    /// # Errors
    /// An error result: the catalog, package or revision does not exist.
    pub(crate) fn resolve(
        &mut self,
        wanted: &UpstreamRequest,
    ) -> Result<Rc<Resolved>, Box<FunctionResult>> {
        if let Some(known) = self.resolved.get(wanted) {
            return known.clone();
        }
        let found = self.find(wanted).map(Rc::new);
        let found = found
            .map_err(|message| Box::new(FunctionResult::error(Reason::UpstreamNotFound, message)));
        self.resolved.insert(wanted.clone(), found.clone());
        found
    }

    fn find(&mut self, wanted: &UpstreamRequest) -> Result<Resolved, String> {
        let (catalog, repository) = self.open(&wanted.repository)?;
        let facts = self.facts.get(&wanted.repository);
        let address = facts.and_then(|facts| facts.address.clone());
        match &repository {
            Some(repository) => {
                let below = facts.map_or("", |facts| facts.directory.as_str());
                let directory = join(below, &wanted.package);
                let revision =
                    find_revision(repository, &directory, &wanted.package, &wanted.revision)?;
                let tree = repository.tree_of(&directory, &revision.commit);
                let tree = tree.map_err(|error| error.to_string())?;
                let source = GitSource {
                    repository: catalog.to_path_buf(),
                    directory,
                    revision: revision.given.clone(),
                };
                tree.ok_or_else(|| {
                    let file = repository.file_at(&revision.commit, &source.directory);
                    if let Ok(Some(_)) = file {
                        return format!(
                            "expected the directory of a package, found a file: {source}"
                        );
                    }
                    format!("the catalog has no such directory at this revision: {source}")
                })?;
                Ok(Resolved::Git(GitOrigin {
                    address: address.unwrap_or_else(|| repository.address()),
                    source,
                    revision,
                    is_file: false,
                }))
            }
            None => {
                let (package, request) = (&wanted.package, &wanted.revision);
                let (revision, flag) = directory::revision_in(catalog, package, request)?;
                let package = self.directory_package(&flag);
                let package = package.map_err(|error| error.to_string())?;
                Ok(Resolved::Directory(DirectoryRevision {
                    digest: digest(&package).map_err(|error| error.to_string())?,
                    package: normalize_package_path(&wanted.package),
                    revision,
                    flag,
                    address: address.unwrap_or_else(|| wanted.repository.name.clone()),
                }))
            }
        }
    }

    /// The files of a revision.
    ///
    /// # Errors
    /// [`UsageError`]: the files cannot be read.
    pub(crate) fn package(
        &mut self,
        wanted: &UpstreamRequest,
        resolved: &Resolved,
    ) -> Result<Arc<SuppliedPackage>, UsageError> {
        match resolved {
            Resolved::Git(origin) => self.git_package(&wanted.repository, origin),
            Resolved::Directory(found) => self.directory_package(&found.flag),
        }
    }

    /// The files of a commit.
    ///
    /// # Errors
    /// [`UsageError`]: the files cannot be read.
    pub(crate) fn git_package(
        &mut self,
        catalog: &NamespacedName,
        origin: &GitOrigin,
    ) -> Result<Arc<SuppliedPackage>, UsageError> {
        let (_, repository) = self.open(catalog).map_err(UsageError::of)?;
        let not_git = || format!("the catalog `{}` is not a Git repository", catalog.name);
        let repository = repository.ok_or_else(|| UsageError::of(not_git()))?;
        let (source, revision) = (&origin.source, &origin.revision);
        let key = format!("{source} {} {}", revision.commit, revision.given);
        let results = &mut self.results;
        self.packages.get(&key, || {
            let snapshot = repository.read(&source.directory, revision.clone());
            let mut snapshot = snapshot.map_err(UsageError::of)?;
            snapshot.address.clone_from(&origin.address);
            let origin = Arc::new(GitOrigin::of(source.clone(), &snapshot));
            let package = snapshot.package;
            let package = SuppliedPackage::from_upstream(Role::Upstream, package, origin, results);
            package?.without_texts()
        })
    }

    /// The original revision of a package from a directory: the revision's files, if they still have the recorded
    /// digest.
    ///
    /// # Errors
    /// [`UsageError`]: the files cannot be read, or have changed.
    pub(crate) fn directory_original(
        &mut self,
        catalog: &NamespacedName,
        package: &str,
        revision: &str,
        recorded: Option<&str>,
    ) -> Result<Arc<SuppliedPackage>, UsageError> {
        let wanted = UpstreamRequest {
            repository: catalog.clone(),
            package: package.to_owned(),
            revision: RevisionRequest::new(Some(revision), None),
        };
        let found = self.resolve(&wanted);
        let found = found.map_err(|result| UsageError::of(result.message.to_string()))?;
        match (&*found, recorded) {
            (Resolved::Directory(now), Some(recorded)) if now.digest != recorded => {
                let name = &catalog.name;
                Err(UsageError::of(format!(
                    "expected the folder `{package}/{revision}` of the catalog `{name}` as it was when the package was made \
                     from it (digest {recorded}), found other files"
                )))
            }
            _ => self.package(&wanted, &found),
        }
    }

    /// The name of the PackageRevision for a package in a catalog, as Porch composes it.
    ///
    /// # Errors
    /// [`UsageError`]: the commit cannot be read.
    pub(crate) fn package_revision(
        &mut self,
        wanted: &UpstreamRequest,
        resolved: &Resolved,
    ) -> Result<String, UsageError> {
        let noted = match (resolved, wanted.revision.lookup()) {
            (_, Lookup::Workspace(workspace)) => Some(workspace.to_owned()),
            (Resolved::Git(origin), _) => {
                let (commit, directory) = (&origin.revision.commit, &origin.source.directory);
                let repository = self.repository(&wanted.repository);
                let noted = repository.map(|found| found.workspace_of(commit, directory));
                noted.transpose().map_err(UsageError::of)?.flatten()
            }
            (Resolved::Directory(_), _) => None,
        };
        let reference = resolved.reference();
        let revision = reference.rsplit('/').next().unwrap_or(reference);
        let package = normalize_package_path(&wanted.package);
        Ok(revision_name(
            &wanted.repository.name,
            &package,
            noted.as_deref().unwrap_or(revision),
        ))
    }

    /// The repository of a catalog; `None` if the catalog is a directory.
    pub(crate) fn repository(&mut self, catalog: &NamespacedName) -> Option<Rc<Repository>> {
        self.open(catalog).ok()?.1
    }

    fn directory_package(&mut self, flag: &str) -> Result<Arc<SuppliedPackage>, UsageError> {
        let results = &mut self.results;
        self.packages.get(flag, || {
            let package =
                SuppliedPackage::from_path(Role::Upstream, Path::new(flag), SOURCES, results);
            // The fleet records the revision in the catalog instead.
            package.map(SuppliedPackage::without_record)
        })
    }

    /// The catalog of a Repository and its path. A catalog for the Repository's namespace takes precedence over one
    /// for all namespaces.
    fn open(
        &mut self,
        repository: &NamespacedName,
    ) -> Result<(&'c Path, Option<Rc<Repository>>), String> {
        let NamespacedName { namespace, name } = repository;
        let all = self.sources.iter();
        let serving = all.filter(|source| source.name == *name && source.serves(namespace));
        let Some(source) = serving.max_by_key(|source| source.namespace.is_some()) else {
            let given = listed(self.sources);
            return Err(format!(
                "expected a catalog `{name}` (--catalog {name}=PATH), found {given}"
            ));
        };
        let path = source.path.as_path();
        if let Some(open) = self.open.get(path) {
            return Ok((path, open.clone()));
        }
        let open = if is_repository(path) {
            let repository = Repository::open(path).map_err(|error| error.to_string())?;
            Some(Rc::new(repository))
        } else if path.is_dir() {
            None
        } else {
            return Err(format!(
                "the catalog `{source}`: '{}' is not a directory",
                path.display()
            ));
        };
        self.open.insert(path, open.clone());
        Ok((path, open))
    }
}

/// The path of something in a folder, normalized; an empty path is the folder.
fn join(folder: &str, path: &str) -> String {
    let path = normalize_package_path(path);
    match path.as_str() {
        "" => folder.to_owned(),
        path => package::join(folder, path),
    }
}
