//! Renders a fleet whose packages are items of a ResourceList. The paths of items determine which package they belong
//! to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::config::read_settings;
use super::counts::FleetCounts;
use super::outcome::VariantOutcome;
use super::owners::{Owners, copied, is_in};
use super::prune::{prune, too_many};
use super::render::{WorkedPackage, Worker};
use super::run::{add_other_objects, take_flags};
use super::variants::{FleetVariant, Variants, variant_items};
use crate::fleet::ClaimedPackage;
use krm_core::config::UsageError;
use krm_core::kptfile::{Ownership, remove_owner};
use krm_core::resource::{Resource, file_annotations, is_pipeline_annotation};
use krm_core::resource_key::ResourceKey;
use krm_core::resource_list::{ItemId, NewText, ResourceList, annotate, own_text};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_function::output::put_texts;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_function::{Output, StepRun};
use krm_package::{FileChange, Package, folders_above};
use krm_yaml::{EditError, NodeRef, OwnedDocument};

/// The step of the function: renders all packages or, after an error, none.
pub(super) fn render_items(run: StepRun<'_>) -> Result<Output, UsageError> {
    let Some(mut settings) =
        read_settings(run.config, run.supplied.conflicts.as_ref(), run.results)?
    else {
        return Ok(Output::Edited);
    };
    take_flags(&mut settings, &run.supplied.catalogs, None)?;
    let given: Vec<_> = run
        .supplied
        .of(Role::Variants)
        .map(SuppliedPackage::list)
        .collect();
    let among_items;
    let (inputs, ids) = if given.is_empty() {
        let ids = variant_items(run.list);
        among_items = run.list.copies_of(&ids);
        (vec![&among_items], ids)
    } else {
        (given, Vec::new())
    };
    let mut resources = run.supplied.only(Role::Resources);
    add_other_objects(run.supplied.all(Role::Variants), &mut resources);
    let mut fleet = FleetItems::read(run.list, &ids);
    let objects = run.list.copies_of(&fleet.objects(run.list, &ids));
    let objects = SuppliedPackage::of_items("the items".to_owned(), objects);
    resources.add(Role::Resources, Arc::new(objects));
    let mut variants = Variants::read(&inputs, &mut resources, &settings, run.results)?;
    if let Some(error) = variants.none(&inputs, &settings) {
        run.results.push(error);
        return Ok(Output::Edited);
    }
    let is_package = |path: &str| fleet.has_package(path);
    let owners = Owners::new(fleet.claimed(run.list), &mut variants.all, is_package);
    let mut left = owners.abandoned(&variants.all, variants.are_complete, run.results);
    let deleted = left.iter().filter(|package| !package.orphans).count();
    if let Some(error) = too_many(deleted, owners.owned.len(), &settings) {
        run.results.push(error);
        return Ok(Output::Edited);
    }
    variants.all.retain(|variant| settings.has(&variant.owner));
    left.retain(|package| settings.has(&package.owner));
    let mut counts = FleetCounts::of(variants.all.len());
    let mut worker = Worker::new(&settings, &variants.repositories, &resources);
    let mut failed = HashSet::new();
    for variant in &variants.all {
        let outcome = fleet.render(&mut worker, variant, run.list)?;
        if outcome.is_failed() {
            failed.insert(variant.owner.clone());
        }
        counts.record(outcome, run.results);
    }
    run.results.append(worker.into_results());
    for package in left {
        let outcome = prune(package, &settings, &failed, || {
            let removed = fleet.remove(package, &owners, run.list);
            removed.map_err(UsageError::of)?;
            Ok(Vec::new())
        });
        counts.record(outcome, run.results);
    }
    let copies = owners.copies.iter();
    for copy in copies.filter(|copy| settings.has(&copy.owner)) {
        counts.record(copied(copy), run.results);
    }
    run.results.push(counts.result());
    if !run.results.has_errors() {
        fleet.apply(run.list, run.results)?;
    }
    Ok(Output::Edited)
}

/// The items by file, and the changes to the files.
struct FleetItems {
    files: BTreeMap<String, Vec<ItemId>>,
    /// The changes by path from the fleet's directory.
    changes: BTreeMap<String, FileChange>,
}

impl FleetItems {
    fn read(list: &ResourceList, variants: &[ItemId]) -> Self {
        let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
        let mut files: BTreeMap<String, Vec<ItemId>> = BTreeMap::new();
        for (id, path) in ids.iter().zip(list.paths_from_root(&ids)) {
            if let Some(path) = path.filter(|_| !variants.contains(id)) {
                files.entry(path).or_default().push(*id);
            }
        }
        for items in files.values_mut() {
            items.sort_by_key(|id| list.resource(*id).origin.index);
        }
        Self {
            files,
            changes: BTreeMap::new(),
        }
    }

    fn has_package(&self, path: &str) -> bool {
        self.files.contains_key(&format!("{path}/Kptfile"))
    }

    /// The items that are in no package, which count as objects of the cluster.
    fn objects(&self, list: &ResourceList, variants: &[ItemId]) -> Vec<ItemId> {
        let is_in_package = |path: &str| folders_above(path).any(|above| self.has_package(above));
        let in_packages = self.files.iter().filter(|(path, _)| is_in_package(path));
        let in_packages = in_packages.flat_map(|(_, ids)| ids);
        let others: HashSet<ItemId> = in_packages.chain(variants).copied().collect();
        let ids = list.items().map(|(id, _)| id);
        ids.filter(|id| !others.contains(id)).collect()
    }

    /// The packages with an owner in their Kptfile.
    fn claimed(&self, list: &ResourceList) -> Vec<ClaimedPackage> {
        let kptfiles = self.files.iter().filter_map(|(path, ids)| {
            let package = path.strip_suffix("/Kptfile")?;
            Some((package, *ids.first()?))
        });
        let claimed = kptfiles
            .filter_map(|(path, id)| ClaimedPackage::new(path, list.read(id, Ownership::read)));
        claimed.collect()
    }

    /// The files in a package's folder, by their path in the package.
    fn below<'f>(&'f self, package: &'f str) -> impl Iterator<Item = (&'f str, &'f Vec<ItemId>)> {
        let from = format!("{package}/");
        let files = self.files.range(from..);
        files.map_while(move |(path, ids)| {
            let path = path.strip_prefix(package)?.strip_prefix('/')?;
            Some((path, ids))
        })
    }

    fn render(
        &mut self,
        worker: &mut Worker<'_>,
        variant: &FleetVariant,
        list: &ResourceList,
    ) -> Result<VariantOutcome, UsageError> {
        let mut found = Results::default();
        let place = match &variant.place {
            Ok(place) => place,
            Err(findings) => return Ok(VariantOutcome::refused(variant, findings)),
        };
        let texts = self
            .below(&place.path)
            .map(|(path, ids)| Ok((path.to_owned(), list.file_text(ids)?)));
        let files: Result<Package, EditError> = texts.collect();
        let files = files.map_err(UsageError::of)?;
        let is_new = files.is_empty();
        let worked = WorkedPackage::new(Arc::new(files), &mut found, |package, found| {
            worker.render(variant, place, package, is_new, found)
        });
        let worked = worked.unwrap_or_else(|error| {
            found.push(error.about(variant));
            WorkedPackage::default()
        });
        let is_changed = !worked.changes.is_empty();
        for change in worked.changes {
            let path = format!("{}/{}", place.path, change.path());
            self.changes.insert(path, change);
        }
        let rendered = worked.rendered;
        Ok(VariantOutcome::of(variant, rendered, &found, is_changed))
    }

    /// Deletes a package, or removes its owner, according to its policy.
    fn remove(
        &mut self,
        package: &ClaimedPackage,
        owners: &Owners,
        list: &ResourceList,
    ) -> Result<(), EditError> {
        let path = &package.path;
        if package.orphans {
            let kptfile = format!("{path}/Kptfile");
            let ids = self.files.get(&kptfile).map_or(&[][..], Vec::as_slice);
            let text = OwnedDocument::edited(list.file_text(ids)?, |root, editor| {
                remove_owner(root, editor);
                Ok(())
            })?;
            self.changes
                .insert(kptfile, FileChange::write("Kptfile", text));
            return Ok(());
        }
        let others = owners.below(path);
        let paths: Vec<String> = self.below(path).map(|(file, _)| file.to_owned()).collect();
        for file in paths {
            let whole = format!("{path}/{file}");
            if !is_in(&whole, &others) {
                self.changes.insert(whole, FileChange::delete(file));
            }
        }
        Ok(())
    }

    /// Writes the changed files into the list.
    fn apply(self, list: &mut ResourceList, results: &mut Results) -> Result<(), UsageError> {
        let mut texts = Vec::new();
        for (path, change) in self.changes {
            let old = self.files.get(&path).map_or(&[][..], Vec::as_slice);
            let documents = match change {
                FileChange::Delete { .. } => Some(Vec::new()),
                FileChange::Write { bytes, .. } => documents_of(&path, bytes),
            };
            let Some(documents) = documents else {
                let message = "not written: a ResourceList holds resources only; `--package` writes all files";
                let result = FunctionResult::warning(Reason::SkippedFile, message);
                results.push(result.in_file(path.as_str()));
                continue;
            };
            let changed = write_file(&path, documents, old, list);
            texts.extend(changed.map_err(UsageError::of)?);
        }
        put_texts(texts, list, results);
        Ok(())
    }
}

/// The resources of a file, each with its text; `None` if the file is not YAML or has no resources.
fn documents_of(path: &str, bytes: Vec<u8>) -> Option<Vec<(Resource, String)>> {
    let text = String::from_utf8(bytes).ok()?;
    let file = ResourceList::from_texts([(path.to_owned(), text)]).ok()?;
    let documents = file.items();
    let documents = documents.map(|(id, resource)| (resource.clone(), file.read(id, own_text)));
    let documents: Vec<_> = documents.collect();
    (!documents.is_empty()).then_some(documents)
}

/// Inserts new resources of a file into the list, and removes items that are no longer in the file. Returns the new
/// texts of the other items that change.
fn write_file(
    path: &str,
    documents: Vec<(Resource, String)>,
    old: &[ItemId],
    list: &mut ResourceList,
) -> Result<Vec<(ItemId, String)>, EditError> {
    let mut left: HashMap<ResourceKey, VecDeque<ItemId>> = HashMap::new();
    for id in old {
        let key = ResourceKey::as_written(list.resource(*id));
        let alike = left.entry(key).or_default();
        alike.push_back(*id);
    }
    let mut changed = Vec::new();
    for (index, (resource, text)) in documents.into_iter().enumerate() {
        let known = left.get_mut(&ResourceKey::as_written(&resource));
        let known = known.and_then(VecDeque::pop_front);
        let annotations = match known {
            Some(id) if list.file_text(&[id])? == text => continue,
            Some(id) => list.read(id, annotations_of_pipeline),
            None => file_annotations(path, index)
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
        };
        let annotations = annotations.iter();
        let annotations = annotations.map(|(name, value)| (name.as_str(), value.clone()));
        let annotations: Vec<_> = annotations.collect();
        let text = OwnedDocument::edited(text, |node, editor| {
            annotate(node, &annotations, false, editor)
        })?;
        match known {
            Some(id) => changed.push((id, text)),
            None => list.add_text(NewText {
                path: Some(path.to_owned()),
                text,
                before: None,
            }),
        }
    }
    let left: BTreeSet<ItemId> = left.into_values().flatten().collect();
    left.into_iter().for_each(|id| list.remove(id));
    Ok(changed)
}

/// The annotations of an item that the pipeline uses.
fn annotations_of_pipeline(node: NodeRef<'_>) -> Vec<(String, String)> {
    let annotations = node.get_path(&["metadata", "annotations"]);
    let entries = annotations.iter().flat_map(NodeRef::entries);
    let pairs = entries.filter_map(|entry| {
        let name = entry
            .key
            .as_str()
            .filter(|name| is_pipeline_annotation(name))?;
        Some((name.to_owned(), entry.value.scalar_text()?.to_owned()))
    });
    pairs.collect()
}
