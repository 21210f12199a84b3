//! Writes the PackageVariants of valid sets, and reports the changes to each.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::sets::LocatedSet;
use super::status::{NOT_READY, NOT_STALLED, READY};
use super::variant::{SpecChange, update};
use super::{Made, Sets};
use krm_core::config::PACKAGE_VARIANT;
use krm_core::resource::Resource;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Mark, Reason, ResultValue, Results};
use krm_variant::fan_out::{Set, SetExpansion, SetVariant};
use krm_variant::status::write_status;
use krm_yaml::{EditError, Value};

/// The most changes of one PackageVariant that are reported one by one.
const MOST_CHANGES: usize = 16;

/// How many PackageVariants of a set were created, updated and so on.
#[derive(Default)]
struct SetCounts {
    created: usize,
    updated: usize,
    unchanged: usize,
    removed: usize,
}

/// The edits of existing items.
struct Edits<'a> {
    changes: HashMap<ItemId, Vec<SpecChange>>,
    /// Items that could not be edited, with the field that caused it.
    refused: Vec<(ItemId, &'a str, EditError)>,
}

impl Sets {
    /// Writes the PackageVariants of the sets that have not failed. If one cannot be written, adds error results,
    /// writes nothing and returns false.
    pub(super) fn apply(
        &self,
        expansions: Vec<SetExpansion<Made>>,
        failed: &[bool],
        list: &mut ResourceList,
        results: &mut Results,
    ) -> bool {
        let Edits { changes, refused } = self.edit(&expansions, failed, list);
        if !refused.is_empty() {
            for (id, field, error) in refused {
                let result = FunctionResult::refused_at(&error, field);
                results.push(result.with_resource(list.resource(id)));
            }
            for LocatedSet { resource, .. } in &self.all {
                results.push(NOT_STALLED.result().with_resource(resource));
                results.push(NOT_READY.result().with_resource(resource));
            }
            return false;
        }
        let variants = expansions.iter().flat_map(|expansion| &expansion.variants);
        let desired: HashSet<ItemId> = variants.filter_map(|variant| variant.made.item()).collect();
        for (index, expansion) in expansions.into_iter().enumerate() {
            if failed[index] {
                continue;
            }
            let LocatedSet { set, resource, .. } = &self.all[index];
            for path in &expansion.empty {
                let message = "the target selects nothing";
                let result = FunctionResult::warning(Reason::NoTargetSelected, message);
                results.push(result.with_resource(resource).with_field(path));
            }
            let mut counts = SetCounts::default();
            for variant in expansion.variants {
                self.finish(index, variant, &changes, list, &mut counts, results);
            }
            for member in self.fleet.owned_by(set) {
                if desired.contains(&member.item) {
                    continue;
                }
                counts.removed += 1;
                let result = FunctionResult::info("removed: no target selects it");
                let result = result.with_resource(list.resource(member.item));
                results.push(result.tag("action", "removed"));
                list.remove(member.item);
            }
            results.push(counts.result().with_resource(resource));
            for condition in [&NOT_STALLED, &READY] {
                results.push(condition.result().with_resource(resource));
            }
        }
        true
    }

    /// Edits all items in one batch, because one text may contain many variants.
    fn edit<'e>(
        &self,
        expansions: &[SetExpansion<Made>],
        failed: &[bool],
        list: &mut ResourceList,
    ) -> Edits<'e> {
        let mut specs: BTreeMap<ItemId, (&Set, &Value)> = BTreeMap::new();
        for (LocatedSet { set, .. }, expansion) in self.all.iter().zip(expansions) {
            for variant in &expansion.variants {
                if let Made::Changed(id, spec) = &variant.made {
                    specs.insert(*id, (set, spec));
                }
            }
        }
        let all = self.all.iter().zip(failed);
        let statuses = all.filter_map(|(located, failed)| located.item.filter(|_| !failed));
        let statuses: Vec<ItemId> = statuses.collect();
        let ids: Vec<ItemId> = specs.keys().copied().chain(statuses).collect();
        let mut changes = HashMap::new();
        let refused = list.edit_items(ids, |id, _, node, editor| match specs.get(&id) {
            Some((set, spec)) => {
                let found = update(node, set, spec, editor)?;
                changes.insert(id, found);
                Ok(())
            }
            None => write_status(node, &[NOT_STALLED, READY], &[], editor),
        });
        let is_set = |id| specs.contains_key(&id);
        let field = |id| {
            if is_set(id) {
                "spec"
            } else {
                "status.conditions"
            }
        };
        let refused = refused.into_iter();
        let refused = refused.map(|(id, error)| (id, field(id), error));
        Edits {
            refused: refused.collect(),
            changes,
        }
    }

    fn finish(
        &self,
        index: usize,
        variant: SetVariant<Made>,
        changes: &HashMap<ItemId, Vec<SpecChange>>,
        list: &mut ResourceList,
        counts: &mut SetCounts,
        results: &mut Results,
    ) {
        let LocatedSet { set, files, .. } = &self.all[index];
        let created = |name: &str| {
            let mut resource = Resource {
                api_version: PACKAGE_VARIANT.0.into(),
                kind: PACKAGE_VARIANT.1.into(),
                name: Some(name.into()),
                namespace: set.namespace.as_deref().map(Arc::from),
                ..Resource::default()
            };
            resource.origin.path = files.path(name).map(Arc::from);
            let result = FunctionResult::info("created").with_resource(&resource);
            result.tag("action", "created")
        };
        match variant.made {
            Made::Unchanged(_) => counts.unchanged += 1,
            Made::New(new) => {
                counts.created += 1;
                results.push(created(&variant.name));
                list.add_text(new);
            }
            Made::Changed(id, _) => {
                counts.updated += 1;
                let changes = changes.get(&id).map_or(&[][..], Vec::as_slice);
                report_changes(changes, list.resource(id), results);
            }
        }
    }
}

/// Adds a result for each changed field, so that no manual edit is overwritten silently.
fn report_changes(changes: &[SpecChange], resource: &Resource, results: &mut Results) {
    let updated = |result: FunctionResult| result.with_resource(resource).tag("action", "updated");
    for change in changes.iter().take(MOST_CHANGES) {
        let result = updated(FunctionResult::info(change.message())).with_field(&change.path);
        let value = |value: &Option<Value>| Some(ResultValue::of(Mark::default(), value.as_ref()?));
        results.push(result.with_values(value(&change.current), value(&change.proposed)));
    }
    let more = changes.len().saturating_sub(MOST_CHANGES);
    if more > 0 {
        let message = format!("updated: {more} more fields");
        results.push(updated(FunctionResult::info(message)).with_field("spec"));
    }
}

impl SetCounts {
    fn result(&self) -> FunctionResult {
        let counts = [
            ("created", self.created),
            ("updated", self.updated),
            ("unchanged", self.unchanged),
            ("removed", self.removed),
        ];
        let parts = counts.map(|(name, count)| format!("{count} {name}"));
        let result = FunctionResult::info(format!("PackageVariants: {}", parts.join(", ")));
        counts.iter().fold(result, |result, (name, count)| {
            result.tag(name, count.to_string())
        })
    }
}
