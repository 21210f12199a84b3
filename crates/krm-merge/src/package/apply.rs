//! Applies the decisions about whole resources and files to the local package.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::actions::ResourceAction;
use super::heads::removed_comments;
use super::members::{Members, PackageMembers};
use super::new_text::{New, head};
use super::plan::Plan;
use super::report::Report;
use krm_core::config::UsageError;
use krm_core::resource::{INDEX_ANNOTATIONS, PATH_ANNOTATIONS};
use krm_core::resource_list::{ItemId, NewText, ResourceList};
use krm_core::results::FunctionResult;
use krm_core::schema::Schema;
use krm_package::PackageError;
use krm_yaml::{Content, EditError, NodeRef, Value};

/// The inputs for applying a plan.
pub(super) struct PlanInputs<'i> {
    /// The resources of local before the merge.
    pub(super) local: &'i Members,
    pub(super) base: &'i PackageMembers<'i>,
    pub(super) upstream: &'i PackageMembers<'i>,
    pub(super) original: &'i ResourceList,
    pub(super) schema: &'i Schema,
    /// The Kptfile of the local root package.
    pub(super) root: Option<ItemId>,
    /// Whether all three packages are made of files.
    pub(super) in_files: bool,
    /// Whether new resources get their upstream identity.
    pub(super) identifies: bool,
}

impl Plan {
    /// Removes, adds and moves resources, then writes files and their heads.
    pub(super) fn apply(
        self,
        inputs: &PlanInputs<'_>,
        list: &mut ResourceList,
        report: &mut Report<'_>,
    ) -> Result<(), UsageError> {
        let mut apply = PlanApplication {
            plan: &self,
            inputs,
            indexes: next_indexes(list),
            known: known_files(list),
            list,
            report,
        };
        for number in 0..self.matches.len() {
            apply.resource(number);
        }
        apply.untouched_files()?;
        self.heads.apply(list);
        self.files.apply(list);
        take_executable_bits(inputs, list).map_err(UsageError::of)
    }
}

/// Makes the files executable that upstream made executable, and the reverse. There are two values, so a change of
/// upstream never contradicts one of local.
fn take_executable_bits(
    inputs: &PlanInputs<'_>,
    list: &mut ResourceList,
) -> Result<(), PackageError> {
    let (Some(original), Some(upstream)) = (inputs.original.files(), inputs.upstream.list.files())
    else {
        return Ok(());
    };
    let is_executable = |mode: u32| mode & 0o100 != 0;
    let local = list.file_paths();
    for (path, file) in upstream.files() {
        if let (Some(old), Some(new)) = (original.mode(path), file.mode)
            && is_executable(old) != is_executable(new)
            && local.contains(path)
        {
            list.set_executable(path, new)?;
        }
    }
    Ok(())
}

struct PlanApplication<'w, 'r> {
    plan: &'w Plan,
    inputs: &'w PlanInputs<'w>,
    list: &'w mut ResourceList,
    /// The next index of an item, by file.
    indexes: HashMap<Arc<str>, usize>,
    /// The files that local has so far, including new ones.
    known: BTreeSet<Arc<str>>,
    report: &'w mut Report<'r>,
}

impl PlanApplication<'_, '_> {
    fn resource(&mut self, number: usize) {
        let plan = self.plan;
        let matched = &plan.matches[number];
        match (plan.actions[number], matched.local, matched.upstream) {
            (ResourceAction::Remove, Some(at), _) => {
                if !plan
                    .untouched
                    .has_file(self.inputs.local.path(matched.local))
                {
                    self.list.remove(self.inputs.local.ids[at]);
                }
            }
            (ResourceAction::Add, _, Some(at)) => self.add(number, at),
            (ResourceAction::Merge, Some(at), Some(new))
                if plan.untouched.documents.contains(&number) =>
            {
                self.take_document(at, new);
            }
            (ResourceAction::Merge, Some(at), _) => {
                if let Some(path) = plan.moves.get(&number) {
                    self.move_to(path, at, number);
                }
            }
            (ResourceAction::Remove, None, _) | (ResourceAction::Add, _, None) => {}
            (ResourceAction::Merge, None, _) | (ResourceAction::Keep, ..) => {}
        }
    }

    /// The item before which a resource that is new in its file is inserted.
    fn before(&self, number: usize) -> Option<ItemId> {
        let at = self.plan.places.get(&number)?;
        self.inputs.local.ids.get(*at).copied()
    }

    /// Adds a resource of upstream, unless its whole file is taken from upstream.
    fn add(&mut self, number: usize, at: usize) {
        let upstream = self.inputs.upstream;
        let path = upstream.all.path(Some(at));
        if self.plan.untouched.has_file(path) {
            return;
        }
        let node = upstream.node(at);
        let is_new_file = path.is_some_and(|path| self.known.insert(path.into()));
        // An existing file keeps its own permission bits.
        let new_file = path.filter(|_| is_new_file);
        if let Some((path, mode)) = new_file.and_then(|path| Some((path, self.mode_of(path)?))) {
            self.list.set_mode(path, mode);
        }
        let resource = upstream.resource(at);
        // In a package, the comments before the first document become the head of the file.
        let with_head = if self.list.is_package() {
            if let Some(path) = path.filter(|_| is_new_file) {
                self.list.set_head(path.to_owned(), head(node).to_owned());
            }
            resource.origin.index.is_some_and(|index| index > 0)
        } else {
            is_new_file
        };
        let before = self.before(number);
        let new = New {
            node,
            member: &upstream.all.members[at],
            resource,
            identifies: self.inputs.identifies,
            is_item: !self.inputs.upstream.list.is_package(),
            removed: self.removed_comments(node, path),
            with_head,
        };
        match new.text(self.list, &mut self.indexes) {
            Ok(text) => {
                let path = path.map(str::to_owned);
                self.list.add_text(NewText { path, text, before });
            }
            Err(error) => {
                let result = FunctionResult::refused(&error);
                self.report.push(result.with_resource(resource));
            }
        }
    }

    /// Replaces local's document with upstream's document.
    fn take_document(&mut self, at: usize, new: usize) {
        let id = self.inputs.local.ids[at];
        let text = self.inputs.upstream.text(new).unwrap_or_default();
        self.list.remove(id);
        self.list.add_text(NewText {
            path: self.inputs.local.path(Some(at)).map(str::to_owned),
            text: text.to_owned(),
            before: Some(id),
        });
    }

    /// Moves a resource to another file. Its fields are merged already.
    fn move_to(&mut self, path: &str, at: usize, number: usize) {
        let id = self.inputs.local.ids[at];
        let is_package = self.list.is_package();
        let text = self.list.node(id).own_text().filter(|_| is_package);
        if let Some(text) = text.map(str::to_owned) {
            self.list.remove(id);
            let (path, before) = (Some(path.to_owned()), self.before(number));
            self.list.add_text(NewText { path, text, before });
            return;
        }
        let old = self.inputs.local.path(Some(at));
        let own = old.and_then(|old| in_package(self.list, id, old, path));
        let own = own.unwrap_or_else(|| path.to_owned());
        if let Err(error) = set_path(self.list, &mut self.indexes, id, &own) {
            let result = FunctionResult::refused(&error);
            self.report
                .push(result.with_resource(self.list.resource(id)));
        }
    }

    /// Writes and deletes the files in which local changed nothing.
    fn untouched_files(&mut self) -> Result<(), UsageError> {
        for path in &self.plan.untouched.deleted {
            self.list.delete_file(path);
        }
        for path in &self.plan.untouched.files {
            // A file that is no longer KRM is written with the files that are not KRM.
            if self.plan.files.has(path) {
                continue;
            }
            let bytes = self.inputs.upstream.list.read_file(path);
            let bytes = bytes.map_err(UsageError::of)?;
            let is_new = !self.known.contains(path.as_str());
            let mode = self.mode_of(path).filter(|_| is_new);
            self.list
                .add_file(path.to_owned(), bytes.into_owned(), mode);
        }
        Ok(())
    }

    /// The permission bits of a file in upstream.
    fn mode_of(&self, path: &str) -> Option<u32> {
        self.inputs.upstream.list.files()?.mode(path)
    }

    /// The comments around a new resource that its file had and local removed.
    fn removed_comments(&self, node: NodeRef<'_>, path: Option<&str>) -> BTreeSet<String> {
        let find = || {
            let path = path?;
            let old = self.inputs.original.read_file(path).ok()?;
            let local = self.list.read_file(path).ok()?;
            let text = |bytes| std::str::from_utf8(bytes).ok();
            Some(removed_comments(text(&old)?, text(&local)?))
        };
        let has_comments = node.own_text().is_some_and(|text| text.contains('#'));
        has_comments.then(find).flatten().unwrap_or_default()
    }
}

/// Makes a path from the root package relative to the package of an item, as in the item's annotations.
fn in_package(list: &ResourceList, id: ItemId, old: &str, new: &str) -> Option<String> {
    let own = list.resource(id).origin.path.as_deref()?;
    let package = old.strip_suffix(own)?;
    new.strip_prefix(package).map(str::to_owned)
}

/// The files of a package, or the paths of the items of a ResourceList.
fn known_files(list: &ResourceList) -> BTreeSet<Arc<str>> {
    if list.is_package() {
        return list.file_paths().into_iter().map(Arc::from).collect();
    }
    let items = list.items();
    items
        .filter_map(|(_, resource)| resource.origin.path.clone())
        .collect()
}

/// The first free index in each file. Two items of a file need different indexes.
fn next_indexes(list: &ResourceList) -> HashMap<Arc<str>, usize> {
    let mut next: HashMap<Arc<str>, usize> = HashMap::new();
    for (_, resource) in list.items() {
        if let Some(path) = &resource.origin.path {
            let index = resource.origin.index.map_or(0, |index| index + 1);
            let last = next.entry(path.clone()).or_default();
            *last = index.max(*last);
        }
    }
    next
}

fn set_path(
    list: &mut ResourceList,
    indexes: &mut HashMap<Arc<str>, usize>,
    id: ItemId,
    path: &str,
) -> Result<(), EditError> {
    let index = indexes.entry(path.into()).or_default();
    let text = index.to_string();
    *index += 1;
    let index = text;
    list.edit(id, |node, editor| {
        let annotations = node
            .entry("metadata")
            .and_then(|m| m.value.entry("annotations"));
        let Some(annotations) = annotations.map(|entry| entry.value) else {
            return Ok(());
        };
        for (names, value) in [
            (PATH_ANNOTATIONS, path),
            (INDEX_ANNOTATIONS, index.as_str()),
        ] {
            for name in names {
                if annotations.entry(name).is_some() {
                    editor.set(annotations, name, Content::Value(Value::from(value)))?;
                }
            }
        }
        Ok(())
    })
}
