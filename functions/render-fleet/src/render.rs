//! Renders one variant: determines the state of its package, then creates, updates or refreshes the package.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::cannot_work::CannotWork;
use super::config::FleetSettings;
use super::outcome::{Action, VariantEntry};
use super::variants::{Destination, FleetVariant};
use crate::fleet::{Catalogs, DirectoryRevision, Resolved};
use krm_address::latest::is_older;
use krm_core::config::{UsageError, required};
use krm_core::diff::{FileDiff, change_diff};
use krm_core::kptfile::{
    DELETION_POLICY_ANNOTATION, DOWNSTREAM_ANNOTATION, NewLock, OWNER_ANNOTATION, Ownership,
    UPSTREAM_DIGEST_ANNOTATION, UpstreamLock, root_kptfile,
};
use krm_core::resource::NamespacedName;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::schema::Schema;
use krm_core::upstream_revision::Locked;
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_package::{FileChange, Package, PackageError};
use krm_review::{Review, ReviewInput, Risk};
use krm_upstream::{GitOrigin, lock_of, locked, older_revision};
use krm_yaml::EditError;
use render_variant::RepositoryFacts;
use render_variant::render_package;

/// A package, and the changes from working on it.
#[derive(Default)]
pub(super) struct WorkedPackage {
    /// The files before the changes.
    pub(super) files: Arc<Package>,
    pub(super) rendered: VariantEntry,
    /// None if there was nothing to do, or an error result.
    pub(super) changes: Vec<FileChange>,
    /// The resources after the changes.
    pub(super) list: Option<ResourceList>,
}

impl WorkedPackage {
    /// Calls `work` on the resources of a package.
    ///
    /// # Errors
    /// [`CannotWork`]: a file of the package is not YAML; an input cannot be read.
    pub(super) fn new(
        files: Arc<Package>,
        findings: &mut Results,
        work: impl FnOnce(&mut ResourceList, &mut Results) -> Result<VariantEntry, UsageError>,
    ) -> Result<Self, CannotWork> {
        let mut list = ResourceList::from_package(Arc::clone(&files))?;
        let rendered = work(&mut list, findings)?;
        let changes = match rendered.action {
            Some(_) if !findings.has_errors() => list.file_changes(),
            _ => Vec::new(),
        };
        Ok(Self {
            files,
            rendered,
            changes,
            list: Some(list),
        })
    }

    /// Reviews the changes for a report.
    pub(super) fn review(&mut self) {
        let before = ResourceList::from_package(Arc::clone(&self.files)).ok();
        let (Some(before), Some(after)) = (&before, &self.list) else {
            return;
        };
        let packages = ReviewInput {
            before,
            after,
            upstream: None,
        };
        let Ok(review) = Review::of(packages, &Schema::builtin(), None) else {
            return;
        };
        let counts = Risk::WORST_FIRST.map(|risk| (risk, review.count(risk) as u64));
        let counted = |(risk, count): &(Risk, u64)| *risk != Risk::Routine && *count > 0;
        self.rendered.risks = counts.into_iter().filter(counted).collect();
    }

    /// The diffs of the changed files. Their paths begin with the path of the package.
    ///
    /// # Errors
    /// A file can no longer be read.
    pub(super) fn diffs(&self, path: &str) -> Result<Vec<FileDiff>, PackageError> {
        let changes = self.changes.iter();
        changes
            .map(|change| change_diff(&self.files, change, path))
            .collect()
    }
}

/// The data that one thread needs to render variants.
pub(super) struct Worker<'f> {
    settings: &'f FleetSettings,
    catalogs: Catalogs<'f>,
    /// The cluster resources, which all variants share.
    resources: &'f Supplied,
}

/// The original revision of a package.
enum PackageBase {
    /// There is none, because the package is new.
    New,
    /// The revision that the variant requests.
    Same,
    Other {
        original: Arc<SuppliedPackage>,
        name: String,
    },
}

impl<'f> Worker<'f> {
    pub(super) fn new(
        settings: &'f FleetSettings,
        facts: &'f BTreeMap<NamespacedName, RepositoryFacts>,
        resources: &'f Supplied,
    ) -> Self {
        Self {
            settings,
            catalogs: Catalogs::new(&settings.catalogs, facts),
            resources,
        }
    }

    /// Returns the warnings about upstream packages.
    pub(super) fn into_results(self) -> Results {
        self.catalogs.results
    }

    /// Edits the list so that it becomes the package of the variant. If there is an error result, the edits are
    /// invalid.
    ///
    /// # Errors
    /// [`UsageError`]: an input cannot be read.
    pub(super) fn render(
        &mut self,
        variant: &FleetVariant,
        place: &Destination,
        list: &mut ResourceList,
        is_new: bool,
        results: &mut Results,
    ) -> Result<VariantEntry, UsageError> {
        let (ownership, mut action, upstream) = match self.plan(variant, place, list, is_new) {
            Ok(plan) => plan,
            Err(result) => {
                results.push(*result);
                return Ok(VariantEntry::default());
            }
        };
        let base = match &*upstream {
            _ if is_new => Some(PackageBase::New),
            Resolved::Git(origin) => self.base_in_git(variant, place, origin, list, results)?,
            Resolved::Directory(revision) => {
                self.base_in_directory(variant, place, revision, &ownership, list, results)
            }
        };
        let Some(base) = base else {
            return Ok(VariantEntry::default());
        };
        let mut supplied = self.resources.only(Role::Resources);
        let moves = !matches!(base, PackageBase::Same);
        if moves {
            supplied.add(
                Role::Upstream,
                self.catalogs.package(&place.wanted, &upstream)?,
            );
        }
        let mut from = None;
        if let PackageBase::Other { original, name } = base {
            supplied.add(Role::Original, original);
            from = Some(name);
            if action == Action::Refreshed {
                action = Action::Updated;
            }
        }
        list.limit_edits(supplied.length());
        let config = variant.config()?;
        let config = required(config.node(), "a PackageVariant")?;
        render_package(config, &self.settings.defaults, list, &supplied, results)?;
        if !results.has_errors() {
            let metadata = KptfileMetadata {
                variant,
                place,
                upstream: &upstream,
                is_new,
                moves,
                had_digest: ownership.digest.is_some(),
            };
            if let Err((kptfile, error)) = metadata.write(list) {
                let result = FunctionResult::refused(&error);
                let result = result.with_resource(list.resource(kptfile));
                results.push(result.with_field("metadata"));
            }
        }
        let mut name = || self.catalogs.package_revision(&place.wanted, &upstream);
        Ok(VariantEntry {
            action: Some(action),
            from,
            to: Some(upstream.reference().to_owned()),
            upstream: self.settings.drafts.then(&mut name).transpose()?,
            ..VariantEntry::default()
        })
    }

    /// The ownership in the package's Kptfile, the action to take, and the upstream revision; an error if the package
    /// must be left unchanged.
    fn plan(
        &mut self,
        variant: &FleetVariant,
        place: &Destination,
        list: &ResourceList,
        is_new: bool,
    ) -> Result<(Ownership, Action, Rc<Resolved>), Box<FunctionResult>> {
        let (ownership, action) = ownership_and_action(variant, place, list, is_new)?;
        let upstream = self.catalogs.resolve(&place.wanted);
        let upstream = upstream.map_err(|result| {
            let result = result.with_resource(&variant.resource);
            Box::new(result.with_field("spec.upstream"))
        })?;
        Ok((ownership, action, upstream))
    }

    /// The original revision of a package from Git, according to its lock; `None` after an error result.
    fn base_in_git(
        &mut self,
        variant: &FleetVariant,
        place: &Destination,
        origin: &GitOrigin,
        list: &ResourceList,
        results: &mut Results,
    ) -> Result<Option<PackageBase>, UsageError> {
        let catalog = &place.wanted.repository;
        let found = match (root_kptfile(list), self.catalogs.repository(catalog)) {
            (Some(kptfile), Some(repository)) => {
                locked(list, kptfile, origin, &repository, results)?
            }
            _ => Locked::Absent(None),
        };
        match found {
            Locked::Same => return Ok(Some(PackageBase::Same)),
            Locked::Other(original) => {
                let name = original.name().to_owned();
                if let Some(original) = GitOrigin::of_revision(&*original) {
                    let original = self.catalogs.git_package(catalog, original)?;
                    return Ok(Some(PackageBase::Other { original, name }));
                }
            }
            Locked::Absent(Some(error)) => results.push(*error),
            Locked::Absent(None) => results.push(no_original(variant, list)),
            Locked::NotFound => {}
        }
        Ok(None)
    }

    /// The original revision of a package from a directory, according to its lock; `None` after an error result.
    fn base_in_directory(
        &mut self,
        variant: &FleetVariant,
        place: &Destination,
        wanted: &DirectoryRevision,
        ownership: &Ownership,
        list: &ResourceList,
        results: &mut Results,
    ) -> Option<PackageBase> {
        let kptfile = root_kptfile(list);
        let lock = match kptfile.map(|id| lock_of(list, id)).transpose() {
            Ok(lock) => lock.flatten(),
            Err(error) => {
                results.push(*error);
                return None;
            }
        };
        let reference = lock.as_ref().and_then(|lock| lock.reference.clone());
        let Some((lock, name)) = lock.zip(reference) else {
            results.push(no_original(variant, list));
            return None;
        };
        let recorded = ownership.digest.as_deref();
        if recorded.map_or(name == wanted.revision, |digest| digest == wanted.digest) {
            return Some(PackageBase::Same);
        }
        let package = if lock.directory.is_empty() {
            &wanted.package
        } else {
            &lock.directory
        };
        let catalog = &place.wanted.repository;
        let original = self
            .catalogs
            .directory_original(catalog, package, &name, recorded);
        let at = |path: &str, result: FunctionResult| match kptfile {
            Some(id) => result.with_resource(list.resource(id)).with_field(path),
            None => result,
        };
        if original.is_ok() && is_older(&wanted.revision, &name) {
            let result = older_revision(&wanted.revision, &name);
            results.push(at("upstreamLock.git.ref", result));
        }
        let failed = |error: UsageError| {
            let result = FunctionResult::error(Reason::OriginalNotFound, error.to_string());
            results.push(at("upstreamLock.git.ref", result));
        };
        let original = original.map_err(failed).ok()?;
        Some(PackageBase::Other { original, name })
    }
}

/// The error for a package whose lock does not name a revision.
fn no_original(variant: &FleetVariant, list: &ResourceList) -> FunctionResult {
    let message = "the Kptfile has no `upstreamLock` that names the original revision; `kpt pkg get`, or an update by hand, writes one";
    let result = FunctionResult::error(Reason::NoOriginal, message);
    match root_kptfile(list) {
        Some(kptfile) => result
            .with_resource(list.resource(kptfile))
            .with_field("upstreamLock"),
        None => result.with_resource(&variant.resource),
    }
}

/// The ownership in the package's Kptfile and the action to take; an error if the package must be left unchanged.
fn ownership_and_action(
    variant: &FleetVariant,
    place: &Destination,
    list: &ResourceList,
    is_new: bool,
) -> Result<(Ownership, Action), Box<FunctionResult>> {
    if is_new {
        return Ok((Ownership::default(), Action::Created));
    }
    let path = &place.path;
    let ownership = root_kptfile(list).map(|id| list.read(id, Ownership::read));
    let ownership = ownership.unwrap_or_default();
    let is_copy = ownership.is_copied_to(path);
    match &ownership.owner {
        Some(owner) if *owner == variant.owner && !is_copy => Ok((ownership, Action::Refreshed)),
        // Without a downstream path, the named owner counts only if it targets this path, and only this variant does.
        Some(owner) if !is_copy && ownership.downstream.is_some() => {
            let message = format!(
                "expected the package `{path}` of this PackageVariant, found one of `{owner}`; left unchanged"
            );
            let result = FunctionResult::error(Reason::OtherOwner, message);
            let result = result.with_resource(&variant.resource);
            Err(Box::new(result.with_field("spec.downstream")))
        }
        _ if place.adopts => Ok((ownership, Action::Adopted)),
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
            let result = result.with_resource(&variant.resource);
            Err(Box::new(result.with_field("spec.adoptionPolicy")))
        }
    }
}

fn texts(map: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    map.iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
}

/// The annotations and labels that a package's Kptfile gets.
struct KptfileMetadata<'m> {
    variant: &'m FleetVariant,
    place: &'m Destination,
    upstream: &'m Resolved,
    is_new: bool,
    /// Whether the package moves to another upstream revision.
    moves: bool,
    had_digest: bool,
}

impl KptfileMetadata<'_> {
    /// Writes the annotations and labels to the Kptfile.
    fn write(&self, list: &mut ResourceList) -> Result<(), (ItemId, EditError)> {
        let Some(kptfile) = root_kptfile(list) else {
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
            annotations.extend(texts(&self.place.annotations));
            labels.extend(texts(&self.place.labels));
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
        let findings = list.read(kptfile, UpstreamLock::repository);
        let written = list.edit(kptfile, |node, editor| {
            for (field, entries) in [("labels", &labels), ("annotations", &annotations)] {
                let entries = entries.iter().map(|(key, value)| (*key, Some(*value)));
                editor.set_fields(node, &["metadata", field], entries)?;
            }
            let Some(found) = directory.filter(|_| self.moves) else {
                return Ok(());
            };
            let findings = findings.as_deref().filter(|_| !self.is_new);
            NewLock {
                repository: findings.unwrap_or(&found.address),
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
