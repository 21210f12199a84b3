//! Carries out what was decided over whole resources and files of the local package.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::actions::ResourceAction;
use super::heads::removed_comments;
use super::members::{Members, PackageMembers};
use super::new_text::New;
use super::plan::Plan;
use super::report::Report;
use crate::config::UsageError;
use crate::kptfile::has_bookkeeping;
use crate::resource::{INDEX_ANNOTATIONS, PATH_ANNOTATIONS, is_pipeline_annotation};
use crate::resource_list::{ItemId, NewText, ResourceList};
use crate::results::FunctionResult;
use crate::schema::Schema;
use crate::yaml::{Content, EditError, NodeRef, Value, head_end};

/// What a plan is carried out with.
pub(super) struct PlanInputs<'i> {
    /// The resources of local before the merge.
    pub(super) local: &'i Members,
    pub(super) base: &'i PackageMembers<'i>,
    pub(super) upstream: &'i PackageMembers<'i>,
    pub(super) original: &'i ResourceList,
    pub(super) schema: &'i Schema,
    /// The Kptfile of the local root package.
    pub(super) root: Option<ItemId>,
    /// Whether all three are made of files.
    pub(super) in_files: bool,
    /// Whether new resources get their identity upstream.
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
            new_files: NewFiles::find(&self, inputs, list),
            list,
            report,
        };
        for number in 0..self.tracks.len() {
            apply.resource(number);
        }
        apply.untouched_files()?;
        self.heads.apply(list);
        self.files.apply(list);
        Ok(())
    }
}

struct PlanApplication<'w, 'r> {
    plan: &'w Plan,
    inputs: &'w PlanInputs<'w>,
    list: &'w mut ResourceList,
    /// The next index of an item, by file.
    indexes: HashMap<Arc<str>, usize>,
    new_files: NewFiles<'w>,
    report: &'w mut Report<'r>,
}

impl PlanApplication<'_, '_> {
    fn resource(&mut self, number: usize) {
        let plan = self.plan;
        let track = &plan.tracks[number];
        match (plan.actions[number], track.local, track.upstream) {
            (ResourceAction::Remove, Some(at), _) => {
                if !plan.untouched.has_file(self.inputs.local.path(track.local)) {
                    self.list.remove(self.inputs.local.ids[at]);
                }
            }
            (ResourceAction::Add, _, Some(at)) => self.add(number, at),
            (ResourceAction::Merge, Some(at), Some(new)) if plan.untouched.has_document(number) => {
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

    /// The item that a resource which is new in its file is before.
    fn before(&self, number: usize) -> Option<ItemId> {
        let at = self.plan.places.get(&number)?;
        self.inputs.local.ids.get(*at).copied()
    }

    /// Adds a resource of upstream.
    fn add(&mut self, number: usize, at: usize) {
        let upstream = self.inputs.upstream;
        let path = upstream.all.path(Some(at));
        if self.plan.untouched.has_file(path) {
            return;
        }
        let node = upstream.node(at);
        let is_new_file = self.new_files.take(path);
        // A file that is there keeps its own.
        if let Some((path, mode)) = path.and_then(|path| Some((path, self.mode_of(path)?))) {
            self.list.set_mode(path, mode);
        }
        match (is_new_file, path) {
            (Some(true), Some(path)) if !self.inputs.identifies => {
                return self.add_file(path, node.document.text);
            }
            // It came with the first resource of its file.
            (Some(false), _) if !self.inputs.identifies => return,
            _ => {}
        }
        let before = self.before(number);
        let new = New {
            node,
            member: &upstream.all.members[at],
            resource: upstream.resource(at),
            identifies: self.inputs.identifies,
            is_item: !self.inputs.upstream.list.is_package(),
            removed: self.removed_comments(node, path),
            with_head: !self.new_files.is_known(path),
        };
        match new.text(self.list, &mut self.indexes) {
            Ok(text) => {
                let path = path.map(str::to_owned);
                self.list.add_text(NewText { path, text, before });
            }
            Err(error) => {
                let result = FunctionResult::refused(&error);
                self.report.say(result.about(upstream.resource(at)));
            }
        }
    }

    /// Adds a file with resources as upstream has it.
    fn add_file(&mut self, path: &str, text: &str) {
        let (head, text) = text.split_at(head_end(text));
        self.list.set_head(path.to_owned(), head.to_owned());
        self.list.add_text(NewText {
            path: Some(path.to_owned()),
            text: text.to_owned(),
            before: None,
        });
    }

    /// Puts upstream's document in the place of local's.
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

    /// Moves a resource, merged by now, to another file.
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
            self.report.say(result.about(self.list.resource(id)));
        }
    }

    /// Writes and deletes the files in which local changed nothing.
    fn untouched_files(&mut self) -> Result<(), UsageError> {
        for path in self.plan.untouched.deleted() {
            self.list.delete_file(path);
        }
        for path in self.plan.untouched.files() {
            // One that is no longer KRM is written with those.
            if self.plan.files.has(path) {
                continue;
            }
            let bytes = self.inputs.upstream.list.read_file(path);
            let bytes = bytes.map_err(UsageError::of)?;
            self.list
                .add_file(path.to_owned(), bytes.into_owned(), None);
        }
        Ok(())
    }

    /// The permission bits of one of upstream's files.
    fn mode_of(&self, path: &str) -> Option<u32> {
        self.inputs.upstream.list.files()?.mode(path)
    }

    /// The comments around a new resource that its file had and local removed.
    fn removed_comments(&self, node: NodeRef<'_>, path: Option<&str>) -> BTreeSet<String> {
        let find = || {
            let path = path?;
            let old = self.inputs.original.read_file(path).ok()?;
            let ours = self.list.read_file(path).ok()?;
            let text = |bytes| std::str::from_utf8(bytes).ok();
            Some(removed_comments(text(&old)?, text(&ours)?))
        };
        let has_comments = node.own_text().is_some_and(|text| text.contains('#'));
        has_comments.then(find).flatten().unwrap_or_default()
    }
}

/// A path from the root package, as the annotations of an item of a sub-package have it.
fn in_package(list: &ResourceList, id: ItemId, old: &str, new: &str) -> Option<String> {
    let own = list.resource(id).origin.path.as_deref()?;
    let package = old.strip_suffix(own)?;
    new.strip_prefix(package).map(str::to_owned)
}

/// Files of upstream that are new with all that they hold: they come as they are, with comments
/// that belong to no resource.
struct NewFiles<'w> {
    /// By path: whether it was taken.
    paths: BTreeMap<&'w str, bool>,
    /// The files in which local's items stand.
    known: BTreeSet<Arc<str>>,
}

impl<'w> NewFiles<'w> {
    fn find(plan: &Plan, inputs: &PlanInputs<'w>, local: &ResourceList) -> Self {
        let upstream = inputs.upstream;
        let mut paths = BTreeMap::new();
        if !local.is_package() {
            let items = local.items();
            let known = items.filter_map(|(_, resource)| resource.origin.path.clone());
            let known = known.collect();
            return Self { paths, known };
        }
        let known = local.file_paths().into_iter();
        let known: BTreeSet<Arc<str>> = known.map(Arc::from).collect();
        let mut others = BTreeSet::new();
        for (track, action) in plan.tracks.iter().zip(&plan.actions) {
            let Some(at) = track.upstream else { continue };
            let path = upstream.all.path(Some(at));
            let Some(path) = path.filter(|path| !known.contains(*path)) else {
                continue;
            };
            let is_document = || {
                let node = upstream.node(at);
                // Others have no file of their own upstream.
                let has_file = upstream.resource(at).origin.path.is_some();
                let is_kept = !upstream.resource(at).is_kptfile() || !has_bookkeeping(node);
                let is_item = !inputs.upstream.list.is_package() && is_annotated(node);
                has_file && node.own_range().is_some() && !is_item && is_kept
            };
            if *action == ResourceAction::Add && is_document() {
                paths.insert(path, false);
            } else {
                others.insert(path);
            }
        }
        paths.retain(|path, _| !others.contains(path));
        Self { paths, known }
    }

    /// Whether local has a file.
    fn is_known(&self, path: Option<&str>) -> bool {
        path.is_none_or(|path| self.known.contains(path))
    }

    /// `Some(true)` for the first resource of such a file, `Some(false)` for the others.
    fn take(&mut self, path: Option<&str>) -> Option<bool> {
        let taken = self.paths.get_mut(path?)?;
        Some(!std::mem::replace(taken, true))
    }
}

/// Whether a resource carries annotations of a pipeline.
fn is_annotated(node: NodeRef<'_>) -> bool {
    let annotations = node.get_path(&["metadata", "annotations"]);
    let keys = annotations.into_iter().flat_map(|node| node.entries());
    let mut keys = keys.filter_map(|entry| entry.key.as_str());
    keys.any(is_pipeline_annotation)
}

/// The first index after those of the items of each file: two items of one file need distinct ones.
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
