//! Removes, adds and moves whole resources of the local package.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Source;
use super::fates::Fate;
use super::heads::removed_comments;
use super::members::{Members, Package};
use super::new_text::New;
use super::places::{moved_to, places};
use super::report::Report;
use super::untouched::Untouched;
use crate::config::UsageError;
use crate::merge::Side;
use crate::merge::resources::Track;
use crate::resource::{INDEX_ANNOTATIONS, PATH_ANNOTATIONS, is_pipeline_annotation};
use crate::resource_list::{ItemId, NewText, ResourceList};
use crate::results::FunctionResult;
use crate::yaml::{Content, EditError, NodeRef, Value, head_end};

/// What is to be done.
pub(super) struct Work<'w> {
    pub(super) tracks: &'w [Track],
    pub(super) fates: &'w [Fate],
    /// The members of base, local and upstream.
    pub(super) members: [&'w Members; 3],
    pub(super) upstream: &'w Package<'w>,
    /// Original and upstream.
    pub(super) sources: [Source<'w>; 2],
    pub(super) untouched: &'w Untouched,
    /// Whether new resources are annotated with their identity upstream.
    pub(super) identifies: bool,
    pub(super) winner: Side,
}

impl Work<'_> {
    pub(super) fn apply(
        &self,
        list: &mut ResourceList,
        report: &mut Report<'_>,
    ) -> Result<(), UsageError> {
        let [base, local, theirs] = self.members;
        let places = places(self.tracks, self.fates, self.members, self.winner);
        let identifies = self.identifies;
        let before = |number: usize| {
            let at = places.get(&number)?;
            local.ids.get(*at).copied()
        };
        let mut indexes = next_indexes(list);
        let mut files = NewFiles::find(self, list);
        for (number, (track, fate)) in self.tracks.iter().zip(self.fates).enumerate() {
            match (fate, track.local, track.upstream) {
                (Fate::Removed, Some(at), _) => {
                    report.counts.removed += 1;
                    if !self.untouched.has_file(local.path(track.local)) {
                        list.remove(local.ids[at]);
                    }
                }
                (Fate::Added, _, Some(at)) => {
                    report.counts.added += 1;
                    if self.untouched.has_file(theirs.path(track.upstream)) {
                        continue;
                    }
                    let path = theirs.path(Some(at)).map(str::to_owned);
                    let (node, before) = (self.upstream.node(at), before(number));
                    let is_new_file = files.take(path.as_deref());
                    // A file that is there keeps its own.
                    if let (Some(path), Some(mode)) = (&path, self.mode_of(path.as_deref())) {
                        list.set_mode(path, mode);
                    }
                    match is_new_file {
                        Some(true) if !identifies => {
                            let (head, text) =
                                node.document.text.split_at(head_end(node.document.text));
                            if let Some(path) = path.clone() {
                                list.set_head(path, head.to_owned());
                            }
                            let (text, before) = (text.to_owned(), None);
                            list.add_text(NewText { path, text, before });
                            continue;
                        }
                        Some(false) if !identifies => continue,
                        _ => {}
                    }
                    let new = New {
                        node,
                        member: &theirs.members[at],
                        resource: self.upstream.resource(at),
                        identifies,
                        removed: self.removed_comments(node, path.as_deref(), list),
                        with_head: !files.is_known(path.as_deref()),
                    };
                    match new.text(list, &mut indexes) {
                        Ok(text) => list.add_text(NewText { path, text, before }),
                        Err(error) => {
                            let result = FunctionResult::refused(&error);
                            report.say(result.about(self.upstream.resource(at)));
                        }
                    }
                }
                (Fate::Merge, Some(at), Some(new)) if self.untouched.has_document(number) => {
                    let id = local.ids[at];
                    let path = local.path(track.local).map(str::to_owned);
                    let text = self.upstream.text(new).unwrap_or_default().to_owned();
                    list.remove(id);
                    let before = Some(id);
                    list.add_text(NewText { path, text, before });
                }
                (Fate::Merge, Some(at), Some(_)) => {
                    let paths = [
                        base.path(track.base),
                        local.path(track.local),
                        theirs.path(track.upstream),
                    ];
                    let id = local.ids[at];
                    let taken = both_moved(paths)
                        && report.moved(list.resource(id), paths) == Side::Upstream;
                    let moved = moved_to(track, self.members);
                    let Some(path) = moved.or(paths[2].filter(|_| taken)) else {
                        continue;
                    };
                    report.counts.moved += 1;
                    let text = list.node(id).own_text().filter(|_| list.is_package());
                    match text.map(str::to_owned) {
                        Some(text) => {
                            list.remove(id);
                            let (path, before) = (Some(path.to_owned()), before(number));
                            list.add_text(NewText { path, text, before });
                        }
                        None => {
                            let moved = paths[1].and_then(|old| in_package(list, id, old, path));
                            let moved = moved.unwrap_or_else(|| path.to_owned());
                            if let Err(error) = set_path(list, &mut indexes, id, &moved) {
                                let result = FunctionResult::refused(&error);
                                report.say(result.about(list.resource(id)));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        for path in self.untouched.deleted() {
            list.delete_file(path);
        }
        for path in self.untouched.files() {
            if let Some(source) = self.sources[1].files() {
                list.add_file(path.to_owned(), source.read_file(path)?.into_owned(), None);
            }
        }
        Ok(())
    }

    /// The permission bits of one of upstream's files.
    fn mode_of(&self, path: Option<&str>) -> Option<u32> {
        self.sources[1].files()?.mode(path?)
    }

    /// The comments around a new resource that its file had and local removed.
    fn removed_comments(
        &self,
        node: NodeRef<'_>,
        path: Option<&str>,
        list: &ResourceList,
    ) -> BTreeSet<String> {
        let find = || {
            let original = self.sources[0].files()?;
            let (old, ours) = (original.read_file(path?).ok()?, list.read_file(path?).ok()?);
            let [old, ours] = [&old, &ours].map(|bytes| std::str::from_utf8(bytes).ok());
            Some(removed_comments(old?, ours?))
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

/// Whether local and upstream moved a resource to two different files.
fn both_moved(paths: [Option<&str>; 3]) -> bool {
    match paths {
        [Some(old), Some(ours), Some(theirs)] => ours != old && theirs != old && ours != theirs,
        _ => false,
    }
}

/// Files of upstream that are new with all that they hold: they come as they are, with comments
/// that belong to no resource.
struct NewFiles<'w> {
    /// By path: whether it was taken.
    paths: BTreeMap<&'w str, bool>,
    /// The files in which local's items stand.
    known: BTreeSet<String>,
}

impl<'w> NewFiles<'w> {
    fn find(work: &Work<'w>, local: &ResourceList) -> Self {
        let upstream = work.upstream;
        let mut paths = BTreeMap::new();
        if !local.is_package() {
            let items = local.items();
            let known = items.filter_map(|(_, resource)| resource.origin.path.clone());
            let known = known.collect();
            return Self { paths, known };
        }
        let known = local.file_paths();
        let mut others = BTreeSet::new();
        for (track, fate) in work.tracks.iter().zip(work.fates) {
            let Some(at) = track.upstream else { continue };
            let path = upstream.all.path(Some(at));
            let Some(path) = path.filter(|path| !known.contains(*path)) else {
                continue;
            };
            let is_document = || {
                let node = upstream.node(at);
                node.own_range().is_some() && !is_annotated(node)
            };
            if matches!(fate, Fate::Added) && is_document() {
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

/// The first index behind those of the items of each file: two items of one file need distinct ones.
fn next_indexes(list: &ResourceList) -> HashMap<String, usize> {
    let mut next: HashMap<String, usize> = HashMap::new();
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
    indexes: &mut HashMap<String, usize>,
    id: ItemId,
    path: &str,
) -> Result<(), EditError> {
    let index = indexes.entry(path.to_owned()).or_default();
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
