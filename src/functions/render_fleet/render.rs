//! One variant: finds out how its package stands, then makes it, updates it or refreshes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::config::FleetSettings;
use super::variants::{Destination, FleetVariant};
use crate::config::{UsageError, required};
use crate::fleet::{Catalogs, DirectoryRevision, RepositoryFacts, Resolved};
use crate::functions::render_variant::render_package;
use crate::kptfile::{
    DELETION_POLICY_ANNOTATION, DOWNSTREAM_ANNOTATION, NewLock, OWNER_ANNOTATION, Ownership,
    UPSTREAM_DIGEST_ANNOTATION, UpstreamLock, root_kptfile, set_metadata,
};
use crate::latest::is_older;
use crate::resource::NamespacedName;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::supplied::{Role, Supplied, SuppliedPackage};
use crate::upstream::{GitOrigin, Locked, lock_of, locked, older_revision};
use crate::yaml::EditError;

/// What became of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It was made.
    Created,
    /// It has another revision of its upstream.
    Updated,
    /// It has the same revision, with what the variant or the cluster now says.
    Refreshed,
    /// It was there without an owner, and has one now.
    Adopted,
    /// Its owner is gone, and it stays.
    Orphaned,
    /// Its owner is gone, and so is the package.
    Deleted,
    /// It is as it was, since there was an error.
    Failed,
}

impl Action {
    /// All, in the order of reports.
    pub const ALL: [Self; 7] = [
        Self::Created,
        Self::Updated,
        Self::Refreshed,
        Self::Adopted,
        Self::Orphaned,
        Self::Deleted,
        Self::Failed,
    ];

    /// The word in results and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Refreshed => "refreshed",
            Self::Adopted => "adopted",
            Self::Orphaned => "orphaned",
            Self::Deleted => "deleted",
            Self::Failed => "failed",
        }
    }
}

/// How a package was made of a variant.
#[derive(Debug, Default)]
pub(super) struct RenderedPackage {
    /// What was done if anything changed; `None` if the package was left alone.
    pub(super) action: Option<Action>,
    /// The revision that it was based on.
    pub(super) from: Option<String>,
    /// The revision that it is based on now.
    pub(super) to: Option<String>,
}

impl RenderedPackage {
    /// What was done, from which revision to which, for a message.
    pub(super) fn steps(&self) -> String {
        let action = self.action.map_or("changed", Action::as_str);
        let to = self.to.as_deref().unwrap_or_default();
        match (&self.from, self.action) {
            (Some(from), _) => format!("{action} from {from} to {to}"),
            (None, Some(Action::Created)) => format!("{action} from {to}"),
            (None, Some(Action::Orphaned)) => action.to_owned(),
            (None, _) => format!("{action} at {to}"),
        }
    }
}

/// What one thread needs for its variants.
pub(super) struct Worker<'f> {
    settings: &'f FleetSettings,
    catalogs: Catalogs<'f>,
    resources: &'f [Arc<SuppliedPackage>],
}

/// The packages that a package is made from.
enum PackageSources {
    /// It is new.
    Clone(Arc<SuppliedPackage>),
    /// It is based on another revision.
    Update {
        original: Arc<SuppliedPackage>,
        upstream: Arc<SuppliedPackage>,
        from: String,
    },
    /// It is based on this revision.
    Same,
}

/// Whose a package is.
enum OwnerStatus {
    New,
    Mine(Ownership),
    /// It has no owner, and the variant takes it over.
    Adopted(Ownership),
    /// It stays as it is; the result says why.
    LeftAlone(FunctionResult),
}

impl<'f> Worker<'f> {
    pub(super) fn new(
        settings: &'f FleetSettings,
        facts: &'f BTreeMap<NamespacedName, RepositoryFacts>,
        resources: &'f [Arc<SuppliedPackage>],
    ) -> Self {
        Self {
            settings,
            catalogs: Catalogs::new(&settings.catalogs, facts),
            resources,
        }
    }

    /// The name of the PackageRevision that the package of a variant is made from.
    ///
    /// # Errors
    /// [`UsageError`]: the catalog cannot be read.
    pub(super) fn package_revision(&mut self, place: &Destination) -> Result<String, UsageError> {
        let resolved = self.catalogs.resolve(&place.wanted);
        let resolved = resolved.map_err(|result| UsageError::of(result.message))?;
        self.catalogs.package_revision(&place.wanted, &resolved)
    }

    /// Warnings about upstream packages.
    pub(super) fn into_results(self) -> Results {
        self.catalogs.results
    }

    /// Edits the list so that it is the package of the variant. With an error result its edits are void.
    ///
    /// # Errors
    /// [`UsageError`]: an input that cannot be read.
    pub(super) fn render(
        &mut self,
        variant: &FleetVariant,
        place: &Destination,
        list: &mut ResourceList,
        is_new: bool,
        results: &mut Results,
    ) -> Result<RenderedPackage, UsageError> {
        let standing = standing(variant, place, list, is_new);
        let (ownership, action) = match standing {
            OwnerStatus::LeftAlone(result) => {
                results.push(result);
                return Ok(RenderedPackage::default());
            }
            OwnerStatus::New => (Ownership::default(), Action::Created),
            OwnerStatus::Mine(ownership) => (ownership, Action::Refreshed),
            OwnerStatus::Adopted(ownership) => (ownership, Action::Adopted),
        };
        let upstream = match self.catalogs.resolve(&place.wanted) {
            Ok(upstream) => upstream,
            Err(result) => {
                results.push(result.about(&variant.resource).at("spec.upstream"));
                return Ok(RenderedPackage::default());
            }
        };
        let Some(sources) =
            self.sources(variant, place, &upstream, &ownership, list, is_new, results)?
        else {
            return Ok(RenderedPackage::default());
        };
        let mut supplied = Supplied::default();
        for package in self.resources {
            supplied.add(Role::Resources, Arc::clone(package));
        }
        let (mut action, mut from) = (action, None);
        match &sources {
            PackageSources::Same => {}
            PackageSources::Clone(package) => supplied.add(Role::Upstream, Arc::clone(package)),
            PackageSources::Update {
                original,
                upstream,
                from: before,
            } => {
                supplied.add(Role::Original, Arc::clone(original));
                supplied.add(Role::Upstream, Arc::clone(upstream));
                from = Some(before.clone());
                if action == Action::Refreshed {
                    action = Action::Updated;
                }
            }
        }
        list.limit_edits(supplied.length());
        let config = variant.config()?;
        let config = required(config.node(), "a PackageVariant")?;
        render_package(config, &self.settings.defaults, list, &supplied, results)?;
        if !results.has_errors() {
            let marks = Marks {
                variant,
                place,
                upstream: &upstream,
                is_new,
                moves: !matches!(sources, PackageSources::Same),
                had_digest: ownership.digest.is_some(),
            };
            if let Err((kptfile, error)) = marks.write(list) {
                let result = FunctionResult::refused(&error);
                results.push(result.about(list.resource(kptfile)).at("metadata"));
            }
        }
        Ok(RenderedPackage {
            action: Some(action),
            from,
            to: Some(upstream.reference().to_owned()),
        })
    }

    /// Reads what the package is made from; `None` after an error result.
    #[allow(clippy::too_many_arguments)]
    fn sources(
        &mut self,
        variant: &FleetVariant,
        place: &Destination,
        upstream: &Resolved,
        ownership: &Ownership,
        list: &ResourceList,
        is_new: bool,
        results: &mut Results,
    ) -> Result<Option<PackageSources>, UsageError> {
        if is_new {
            let package = self.catalogs.package(&place.wanted, upstream)?;
            return Ok(Some(PackageSources::Clone(package)));
        }
        let found = match upstream {
            Resolved::Git(origin) => self.locked(place, origin, list, results)?,
            Resolved::Directory(revision) => {
                self.locked_directory(place, revision, ownership, list, results)?
            }
        };
        match found {
            UpstreamStatus::Same => Ok(Some(PackageSources::Same)),
            UpstreamStatus::Failed => Ok(None),
            UpstreamStatus::Absent => {
                let message = "the Kptfile has no `upstreamLock` that names the original revision; `kpt pkg get`, or an update by hand, writes one";
                let result = FunctionResult::error(Reason::NoOriginal, message);
                let kptfile = root_kptfile(list).map(|id| list.resource(id));
                results.push(match kptfile {
                    Some(kptfile) => result.about(kptfile).at("upstreamLock"),
                    None => result.about(&variant.resource),
                });
                Ok(None)
            }
            UpstreamStatus::Behind { original, from } => Ok(Some(PackageSources::Update {
                original,
                upstream: self.catalogs.package(&place.wanted, upstream)?,
                from,
            })),
        }
    }

    fn locked(
        &mut self,
        place: &Destination,
        origin: &GitOrigin,
        list: &ResourceList,
        results: &mut Results,
    ) -> Result<UpstreamStatus, UsageError> {
        let catalog = &place.wanted.repository;
        let kptfile = root_kptfile(list);
        let ask = |repository: &_| match kptfile {
            Some(kptfile) => locked(list, kptfile, origin, repository, results),
            None => Ok(Locked::Absent(None)),
        };
        let found = self.catalogs.with_repository(catalog, ask);
        Ok(match found.transpose()?.unwrap_or(Locked::Absent(None)) {
            Locked::Same => UpstreamStatus::Same,
            Locked::Absent(None) => UpstreamStatus::Absent,
            Locked::Absent(Some(error)) => {
                results.push(*error);
                UpstreamStatus::Failed
            }
            Locked::NotFound => UpstreamStatus::Failed,
            Locked::Other(original) => {
                let from = original.name().to_owned();
                let Some(original) = original.git() else {
                    return Ok(UpstreamStatus::Absent);
                };
                let original = self.catalogs.git_package(catalog, original)?;
                UpstreamStatus::Behind { original, from }
            }
        })
    }

    fn locked_directory(
        &mut self,
        place: &Destination,
        wanted: &DirectoryRevision,
        ownership: &Ownership,
        list: &ResourceList,
        results: &mut Results,
    ) -> Result<UpstreamStatus, UsageError> {
        let kptfile = root_kptfile(list);
        let lock = match kptfile.map(|id| lock_of(list, id)).transpose() {
            Ok(lock) => lock.flatten(),
            Err(error) => {
                results.push(*error);
                return Ok(UpstreamStatus::Failed);
            }
        };
        let reference = lock.as_ref().and_then(|lock| lock.reference.clone());
        let Some((lock, from)) = lock.zip(reference) else {
            return Ok(UpstreamStatus::Absent);
        };
        let recorded = ownership.digest.as_deref();
        if recorded.map_or(from == wanted.revision, |digest| digest == wanted.digest) {
            return Ok(UpstreamStatus::Same);
        }
        let package = if lock.directory.is_empty() {
            &wanted.package
        } else {
            &lock.directory
        };
        let catalog = &place.wanted.repository;
        let original = self
            .catalogs
            .directory_original(catalog, package, &from, recorded);
        let at = |path: &str, result: FunctionResult| match kptfile {
            Some(id) => result.about(list.resource(id)).at(path),
            None => result,
        };
        if original.is_ok() && is_older(&wanted.revision, &from) {
            let result = older_revision(&wanted.revision, &from);
            results.push(at("upstreamLock.git.ref", result));
        }
        Ok(match original {
            Ok(original) => UpstreamStatus::Behind { original, from },
            Err(error) => {
                let result = FunctionResult::error(Reason::OriginalNotFound, error.to_string());
                results.push(at("upstreamLock.git.ref", result));
                UpstreamStatus::Failed
            }
        })
    }
}

/// Where the lock of a package points.
enum UpstreamStatus {
    Same,
    Behind {
        original: Arc<SuppliedPackage>,
        from: String,
    },
    /// Nowhere.
    Absent,
    /// An error result says why.
    Failed,
}

/// Whose the package is, by its Kptfile.
fn standing(
    variant: &FleetVariant,
    place: &Destination,
    list: &ResourceList,
    is_new: bool,
) -> OwnerStatus {
    if is_new {
        return OwnerStatus::New;
    }
    let path = &place.path;
    let ownership = own_kptfile(list).map(|id| list.read(id, Ownership::read));
    let ownership = ownership.unwrap_or_default();
    let is_copy = ownership.is_copied_to(path);
    match &ownership.owner {
        Some(owner) if *owner == variant.owner && !is_copy => OwnerStatus::Mine(ownership),
        // Without a place it belongs to a variant that targets this one, and that is not this variant.
        Some(owner) if !is_copy && ownership.downstream.is_some() => {
            let message = format!(
                "expected the package `{path}` of this PackageVariant, found one of `{owner}`; left unchanged"
            );
            let result = FunctionResult::error(Reason::OtherOwner, message);
            OwnerStatus::LeftAlone(result.about(&variant.resource).at("spec.downstream"))
        }
        _ if place.adopts => OwnerStatus::Adopted(ownership),
        named => {
            let copied = match (named, &ownership.downstream) {
                (Some(owner), Some(downstream)) => {
                    format!(" (it is a copy of `{downstream}`, the package of `{owner}`)")
                }
                _ => String::new(),
            };
            let message = format!(
                "the package `{path}` exists but has no owner{copied}; left unchanged, \
                 `spec.adoptionPolicy: adoptExisting` takes it over"
            );
            let result = FunctionResult::warning(Reason::NotAdopted, message);
            OwnerStatus::LeftAlone(result.about(&variant.resource).at("spec.adoptionPolicy"))
        }
    }
}

/// The Kptfile in the package's own directory.
pub(super) fn own_kptfile(list: &ResourceList) -> Option<ItemId> {
    let mut items = list.items();
    let found = items.find(|(_, resource)| {
        resource.is_kptfile() && resource.origin.path.as_deref() == Some("Kptfile")
    });
    found.map(|(id, _)| id)
}

/// What a package says of itself in its Kptfile.
struct Marks<'m> {
    variant: &'m FleetVariant,
    place: &'m Destination,
    upstream: &'m Resolved,
    is_new: bool,
    /// Whether it is based on another revision now.
    moves: bool,
    had_digest: bool,
}

impl Marks<'_> {
    /// Writes them.
    fn write(&self, list: &mut ResourceList) -> Result<(), (ItemId, EditError)> {
        let Some(kptfile) = own_kptfile(list) else {
            return Ok(());
        };
        let policy = if self.place.orphans {
            "orphan"
        } else {
            "delete"
        };
        let mut annotations: Vec<(&str, &str)> = Vec::new();
        let mut labels: Vec<(&str, &str)> = Vec::new();
        if self.is_new {
            let pairs = |map| -> Vec<(&str, &str)> {
                let map: &BTreeMap<String, String> = map;
                let pairs = map.iter();
                pairs
                    .map(|(key, value)| (key.as_str(), value.as_str()))
                    .collect()
            };
            annotations.extend(pairs(&self.place.annotations));
            labels.extend(pairs(&self.place.labels));
        }
        annotations.push((OWNER_ANNOTATION, &self.variant.owner));
        annotations.push((DOWNSTREAM_ANNOTATION, &self.place.path));
        annotations.push((DELETION_POLICY_ANNOTATION, policy));
        let directory = match self.upstream {
            Resolved::Directory(found) => Some(found),
            Resolved::Git(_) => None,
        };
        let directory = directory.filter(|_| self.moves || !self.had_digest);
        annotations
            .extend(directory.map(|found| (UPSTREAM_DIGEST_ANNOTATION, found.digest.as_str())));
        let said = list.read(kptfile, UpstreamLock::repository);
        let written = list.edit(kptfile, |node, editor| {
            set_metadata(node, "labels", &labels, editor)?;
            set_metadata(node, "annotations", &annotations, editor)?;
            let Some(found) = directory.filter(|_| self.moves) else {
                return Ok(());
            };
            let said = said.as_deref().filter(|_| !self.is_new);
            NewLock {
                repository: said.unwrap_or(&found.address),
                directory: &found.package,
                upstream_ref: &found.revision,
                lock_ref: &found.revision,
                commit: None,
                is_file: false,
            }
            .write(node, editor)
        });
        written.map_err(|error| (kptfile, error))
    }
}
