//! Merges a package three-way: what local changed since `original` stays, what `upstream` changed
//! arrives, and every place that both changed is a result.
//!
//! ```yaml
//! spec:            # original     # local            # upstream         # merged
//!   replicas: 1                     replicas: 5         replicas: 1         replicas: 5
//!   image: app:1                    image: app:1        image: app:2        image: app:2
//! ```
//!
//! Source: contract, merge-package; pipeline document; merging-fields document.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::config::{API_VERSION, UsageError, kind_of, typed, unexpected};
use crate::filter::{Function, Run};
use crate::kptfile::{remove_ids, root_kptfile};
use crate::merge::facts::{Facts, UPSTREAM_IDENTIFIER, is_pipeline_annotation};
use crate::merge::order::merge_order;
use crate::merge::resources::{Member, Track, duplicates, find_packages, tracks};
use crate::merge::{Findings, OnConflict, Side, fields};
use crate::package::normalize_package_path;
use crate::resource::{INDEX_ANNOTATIONS, PATH_ANNOTATIONS, Resource};
use crate::resource_list::{ItemId, NewText, ResourceList};
use crate::results::{FunctionResult, Reason, Results, Severity, shown};
use crate::schema::Schema;
use crate::supplied::Role;
use crate::yaml::{Content, EditError, Editor, NodeRef, OwnedDocument, Path, Value, node_text};

/// The function, for its binary.
pub const FUNCTION: Function = Function {
    name: "merge-package",
    about: "Merges a package three-way: local changes stay, upstream's arrive, and every place that \
            both changed is reported.",
    roles: &[Role::Original, Role::Upstream],
    step,
};

/// The role of an item, as kyaml's merge has it.
const MERGE_SOURCE: &str = "config.kubernetes.io/merge-source";

/// The function's own config.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct MergePackage {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default, rename = "metadata")]
    _metadata: IgnoredAny,
    on_conflict: Option<String>,
    strategy: Option<String>,
    #[serde(default, rename = "original")]
    _original: IgnoredAny,
    #[serde(default, rename = "upstream")]
    _upstream: IgnoredAny,
}

#[derive(Debug, Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: Option<Scalars>,
}

/// The scalar fields of the config.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Scalars {
    on_conflict: Option<String>,
    strategy: Option<String>,
}

/// How a package is brought up to date; kpt's words and meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Three-way.
    #[default]
    ResourceMerge,
    /// Only if local has no changes.
    FastForward,
    /// Upstream takes local's place.
    ForceDeleteReplace,
    /// Upstream is copied over local; what only local has stays.
    CopyMerge,
}

const STRATEGIES: [(&str, Strategy); 4] = [
    ("resource-merge", Strategy::ResourceMerge),
    ("fast-forward", Strategy::FastForward),
    ("force-delete-replace", Strategy::ForceDeleteReplace),
    ("copy-merge", Strategy::CopyMerge),
];

/// How to merge.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeOptions {
    /// Who stands in a conflict.
    pub on_conflict: OnConflict,
    /// What a merge is.
    pub strategy: Strategy,
}

fn step(run: Run<'_>) -> Result<(), UsageError> {
    let Run {
        config,
        list,
        supplied,
        results,
    } = run;
    let options = read_options(config, results)?;
    let annotated = take_annotated(list);
    let source = |role: Role, annotated: Option<ResourceList>| {
        let given = supplied.of(role).next().map(|package| package.list());
        match (given, annotated) {
            (Some(_), Some(_)) => Err(UsageError(format!(
                "role `{role}`: expected one way to fill it, found items annotated `{MERGE_SOURCE}` too"
            ))),
            (None, None) => Err(UsageError(format!(
                "role `{role}`: expected a package (--{role} PATH, the field `{role}` of a MergePackage, \
                 or items annotated `{MERGE_SOURCE}`), found none"
            ))),
            (Some(list), None) => Ok(Source::Given(list)),
            (None, Some(list)) => Ok(Source::Taken(Box::new(list))),
        }
    };
    let [original, upstream] = annotated;
    let original = source(Role::Original, original)?;
    let upstream = source(Role::Upstream, upstream)?;
    let Some(options) = options else {
        return Ok(());
    };
    merge_package(original.list(), list, upstream.list(), options, results);
    Ok(())
}

enum Source<'s> {
    Given(&'s ResourceList),
    Taken(Box<ResourceList>),
}

impl Source<'_> {
    fn list(&self) -> &ResourceList {
        match self {
            Self::Given(list) => list,
            Self::Taken(list) => list,
        }
    }
}

/// `None` if a word is not one of those allowed, which is an error result then.
fn read_options(
    config: Option<NodeRef<'_>>,
    results: &mut Results,
) -> Result<Option<MergeOptions>, UsageError> {
    const EXPECTED: &str = "a MergePackage (fn.kpt.dev/v1alpha1) or a ConfigMap (v1)";
    let (scalars, prefix) = match config {
        None => (Scalars::default(), None),
        Some(config) => match kind_of(config) {
            (API_VERSION, "MergePackage") => {
                let MergePackage {
                    on_conflict,
                    strategy,
                    ..
                } = typed(config)?;
                (
                    Scalars {
                        on_conflict,
                        strategy,
                    },
                    None,
                )
            }
            ("v1", "ConfigMap") => {
                let typed: ConfigMap = typed(config)?;
                (typed.data.unwrap_or_default(), Some("data"))
            }
            _ => return Err(unexpected(config, EXPECTED)),
        },
    };
    let mut options = MergeOptions::default();
    let mut valid = true;
    let mut refuse = |field: &str, found: &str, words: Vec<&str>| {
        valid = false;
        let message = format!("expected one of {}, found `{found}`", words.join(", "));
        let path = prefix
            .map_or(Path::root(), |prefix| Path::fields(&[prefix]))
            .field(field);
        results.push(FunctionResult::error(Reason::InvalidConfig, message).at(path));
    };
    if let Some(word) = &scalars.on_conflict {
        match OnConflict::WORDS.iter().find(|(known, _)| known == word) {
            Some((_, value)) => options.on_conflict = *value,
            None => refuse(
                "onConflict",
                word,
                OnConflict::WORDS.iter().map(|w| w.0).collect(),
            ),
        }
    }
    if let Some(word) = &scalars.strategy {
        match STRATEGIES.iter().find(|(known, _)| known == word) {
            Some((_, value)) => options.strategy = *value,
            None => refuse("strategy", word, STRATEGIES.iter().map(|w| w.0).collect()),
        }
    }
    Ok(valid.then_some(options))
}

/// The items annotated as original and as upstream, out of the list.
fn take_annotated(list: &mut ResourceList) -> [Option<ResourceList>; 2] {
    ["original", "updated"].map(|word| {
        let is = |node: NodeRef<'_>| {
            let found = node.get_path(&["metadata", "annotations", MERGE_SOURCE]);
            found.and_then(|value| value.as_str()) == Some(word)
        };
        let ids: BTreeSet<ItemId> = list
            .items()
            .map(|(id, _)| id)
            .filter(|id| is(list.node(*id)))
            .collect();
        (!ids.is_empty()).then(|| list.take_out(&ids))
    })
}

/// The resources of one package, by name.
#[derive(Clone)]
struct Members {
    ids: Vec<ItemId>,
    members: Vec<Member>,
}

/// The resources of one package.
struct Package<'p> {
    list: &'p ResourceList,
    all: Members,
}

impl<'p> Package<'p> {
    fn read(list: &'p ResourceList) -> Self {
        let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
        let paths = list.paths_from_root(&ids);
        let member = |(id, path): (&ItemId, Option<String>)| {
            let path = path.map(|path| normalize_package_path(&path));
            Member::read(list.resource(*id), list.node(*id), path)
        };
        let mut members: Vec<Member> = ids.iter().zip(paths).map(member).collect();
        find_packages(&mut members);
        Self {
            list,
            all: Members { ids, members },
        }
    }

    fn resource(&self, at: usize) -> &'p Resource {
        self.list.resource(self.all.ids[at])
    }

    fn node(&self, at: usize) -> NodeRef<'p> {
        self.list.node(self.all.ids[at])
    }
}

/// Merges `upstream` into `local`, which is based on `original`.
pub(crate) fn merge_package(
    original: &ResourceList,
    local: &mut ResourceList,
    upstream: &ResourceList,
    options: MergeOptions,
    results: &mut Results,
) {
    let replaced = matches!(
        options.strategy,
        Strategy::ForceDeleteReplace | Strategy::CopyMerge
    );
    // As if local had no changes.
    let all: Vec<ItemId> = local.items().map(|(id, _)| id).collect();
    let copy = replaced.then(|| local.copies_of(&all));
    let base = Package::read(copy.as_ref().unwrap_or(original));
    let theirs = Package::read(upstream);
    let ours = Package::read(local);
    let mut doubled = false;
    for (package, name) in [(&base, "original"), (&ours, "local"), (&theirs, "upstream")] {
        for (first, second) in duplicates(&package.all.members) {
            doubled = true;
            let path = package.all.members[first].path.clone().unwrap_or_default();
            let message = format!("the {name} package has this resource twice in `{path}`");
            let result = FunctionResult::error(Reason::DuplicateResource, message);
            results.push(result.about(package.resource(second)));
        }
    }
    if doubled {
        return;
    }
    let crds = [&base, &ours, &theirs].into_iter().flat_map(|package| {
        let ids = package.all.ids.iter().enumerate();
        let crds = ids.filter(|(at, _)| package.resource(*at).kind == "CustomResourceDefinition");
        crds.map(|(at, _)| package.node(at))
    });
    let schema = Schema::builtin().with_crds(crds.collect::<Vec<_>>());
    let mut tracks = tracks(&base.all.members, &ours.all.members, &theirs.all.members);
    if options.strategy == Strategy::CopyMerge {
        // Upstream says nothing of what only local has.
        for track in tracks.iter_mut().filter(|track| track.upstream.is_none()) {
            track.base = None;
        }
    }
    let root = root_kptfile(local);
    let mut plan = Plan {
        options,
        said: Vec::new(),
        counts: Counts::default(),
    };
    let fates: Vec<Fate> = tracks
        .iter()
        .map(|track| plan.fate(track, &base, &ours, &theirs, root))
        .collect();
    if options.strategy == Strategy::FastForward
        && plan.has_local_changes(&tracks, &base, &ours, root, results)
    {
        return;
    }
    let in_package = local.is_package();
    let (ours, old, new) = (ours.all.clone(), base.all.clone(), theirs.all.clone());
    let by_id: BTreeMap<ItemId, &Track> = tracks
        .iter()
        .zip(&fates)
        .filter(|(_, fate)| matches!(fate, Fate::Merge))
        .filter_map(|(track, _)| Some((ours.ids[track.local?], track)))
        .collect();
    let winner = options.on_conflict.winner();
    let resources: BTreeMap<ItemId, Resource> = by_id
        .keys()
        .map(|id| (*id, local.resource(*id).clone()))
        .collect();
    let mut found: Vec<(ItemId, Findings)> = Vec::new();
    let mut refused: Vec<(ItemId, EditError)> = Vec::new();
    let mut updated = 0;
    local.edit_items(
        |id, node, editor| {
            let Some(track) = by_id.get(&id) else {
                return Ok(());
            };
            let Some(upstream) = track.upstream else {
                return Ok(());
            };
            let base = track.base.map(|at| base.node(at));
            let facts = Facts::of(&resources[&id], &schema, root == Some(id));
            let upstream = theirs.node(upstream);
            let findings = fields::merge_resource(base, node, upstream, facts, winner, editor)?;
            if findings.moves_comments && !in_package {
                remove_ids(node, editor)?;
            }
            updated += usize::from(editor.touches(node));
            found.push((id, findings));
            Ok(())
        },
        |id, error| refused.push((id, error)),
    );
    for (id, error) in refused {
        results.push(FunctionResult::refused(&error).about(&resources[&id]));
    }
    for (id, findings) in found {
        plan.report(&resources[&id], &findings);
    }
    plan.counts.updated = updated;
    apply(
        &tracks,
        &fates,
        local,
        [&old, &ours, &new],
        &theirs,
        &mut plan,
    );
    plan.finish(results);
}

/// What becomes of a resource.
enum Fate {
    /// Nothing happens.
    Stays,
    /// Local's is merged with upstream's.
    Merge,
    /// Local's is removed.
    Removed,
    /// Upstream's is added.
    Added,
}

#[derive(Debug, Default)]
struct Counts {
    updated: usize,
    added: usize,
    removed: usize,
    moved: usize,
    conflicts: usize,
}

struct Plan {
    options: MergeOptions,
    said: Vec<FunctionResult>,
    counts: Counts,
}

impl Plan {
    fn fate(
        &mut self,
        track: &Track,
        base: &Package<'_>,
        local: &Package<'_>,
        upstream: &Package<'_>,
        root: Option<ItemId>,
    ) -> Fate {
        let resource =
            |package: &Package<'_>, at: Option<usize>| at.map(|at| own_value(package.node(at)));
        match (track.base, track.local, track.upstream) {
            (_, Some(_), Some(_)) => Fate::Merge,
            (None, None, Some(_)) => Fate::Added,
            // The root Kptfile is the package's own.
            (Some(_), Some(l), None) if root == Some(local.all.ids[l]) => Fate::Stays,
            (Some(_), Some(l), None) => {
                let (old, ours) = (resource(base, track.base), resource(local, track.local));
                if old == ours {
                    return Fate::Removed;
                }
                let message =
                    "upstream deleted the resource, and local changed it: local's is kept";
                self.whole(message, local.resource(l), old, ours, None);
                Fate::Stays
            }
            (Some(b), None, Some(_)) => {
                let (old, theirs) = (
                    resource(base, track.base),
                    resource(upstream, track.upstream),
                );
                if old != theirs {
                    let message =
                        "local deleted the resource, and upstream changed it: it stays deleted";
                    self.whole(message, base.resource(b), old, None, theirs);
                }
                Fate::Stays
            }
            _ => Fate::Stays,
        }
    }

    fn has_local_changes(
        &self,
        tracks: &[Track],
        base: &Package<'_>,
        local: &Package<'_>,
        root: Option<ItemId>,
        results: &mut Results,
    ) -> bool {
        let mut changed = false;
        for track in tracks {
            let mut values = [
                track.base.map(|at| own_value(base.node(at))),
                track.local.map(|at| own_value(local.node(at))),
            ];
            if track
                .local
                .is_some_and(|at| root == Some(local.all.ids[at]))
            {
                values.iter_mut().flatten().for_each(without_own_fields);
            }
            let resource = match (track.local, track.base) {
                _ if values[0] == values[1] => continue,
                (Some(at), _) => local.resource(at),
                (None, Some(at)) => base.resource(at),
                (None, None) => continue,
            };
            changed = true;
            let message = "expected no local changes for a fast-forward, found one";
            results.push(FunctionResult::error(Reason::LocalChanges, message).about(resource));
        }
        changed
    }

    fn severity(&self) -> Severity {
        match self.options.on_conflict {
            OnConflict::Error => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// A conflict over a whole resource; local's version stands.
    fn whole(
        &mut self,
        message: &str,
        resource: &Resource,
        original: Option<Value>,
        local: Option<Value>,
        upstream: Option<Value>,
    ) {
        let path = Path::root();
        let result = conflict(
            self.severity(),
            message,
            resource,
            &path,
            [original, local, upstream],
        );
        self.push_conflict(result, Side::Local);
    }

    fn push_conflict(&mut self, result: FunctionResult, winner: Side) {
        let winner = match self.options.on_conflict {
            OnConflict::Error => "none",
            _ => winner.as_str(),
        };
        self.said.push(result.tag("winner", winner));
        self.counts.conflicts += 1;
    }

    fn report(&mut self, resource: &Resource, findings: &Findings) {
        for found in &findings.conflicts {
            let what = if found.is_order {
                "the order of the elements"
            } else {
                "the value"
            };
            let stands = match self.options.on_conflict {
                OnConflict::Error => "nothing is changed".to_owned(),
                _ => format!("{}'s stands", found.winner.as_str()),
            };
            let message = format!("local and upstream both changed {what}: {stands}");
            let values = [
                found.original.clone(),
                found.local.clone(),
                found.upstream.clone(),
            ];
            let result = conflict(self.severity(), &message, resource, &found.path, values);
            self.push_conflict(result.at(&found.path), found.winner);
        }
        for path in &findings.duplicates {
            let message = "two elements have the same keys: they were matched by their position";
            let result = FunctionResult::warning(Reason::DuplicateKey, message);
            self.said.push(result.about(resource).at(path));
        }
    }

    /// The summary, if there is anything to sum up, and all that was found.
    fn finish(self, results: &mut Results) {
        let Counts {
            updated,
            added,
            removed,
            moved,
            conflicts,
        } = self.counts;
        for result in self.said {
            results.push(result);
        }
        if [updated, added, removed, moved, conflicts]
            .iter()
            .any(|count| *count > 0)
        {
            results.push(FunctionResult::info(format!(
                "merged: {updated} changed, {added} added, {removed} removed, {moved} moved, \
                 {conflicts} conflicts"
            )));
        }
    }
}

fn conflict(
    severity: Severity,
    message: &str,
    resource: &Resource,
    path: &Path,
    values: [Option<Value>; 3],
) -> FunctionResult {
    let mut result = FunctionResult::new(severity, message);
    result = result
        .tag("reason", Reason::MergeConflict.as_str())
        .about(resource);
    for (name, value) in ["original", "local", "upstream"].into_iter().zip(values) {
        if let Some(value) = value {
            result = result.tag(name, shown(resource, path, &value));
        }
    }
    result
}

/// The value of a resource without what tools put on it.
fn own_value(node: NodeRef<'_>) -> Value {
    let mut value = node.value().unwrap_or(Value::Null);
    if let Some(metadata) = field_mut(&mut value, "metadata") {
        if let Some(Value::Mapping(annotations)) = field_mut(metadata, "annotations") {
            annotations.retain(|(key, _)| {
                !key.as_str()
                    .is_some_and(|key| key == UPSTREAM_IDENTIFIER || is_pipeline_annotation(key))
            });
        }
        let empty = |value: &Value| matches!(value, Value::Mapping(entries) if entries.is_empty());
        if let Value::Mapping(entries) = metadata {
            entries.retain(|(key, value)| !(key.as_str() == Some("annotations") && empty(value)));
        }
    }
    value
}

/// Takes away what a Kptfile may have of its own without counting as changed.
fn without_own_fields(value: &mut Value) {
    if let Some(Value::Mapping(entries)) = field_mut(value, "metadata") {
        entries.retain(|(key, _)| key.as_str() != Some("name"));
    }
    if let Value::Mapping(entries) = value {
        const OWN: [&str; 3] = ["upstream", "upstreamLock", "status"];
        entries.retain(|(key, _)| !key.as_str().is_some_and(|key| OWN.contains(&key)));
    }
}

fn field_mut<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    let Value::Mapping(entries) = value else {
        return None;
    };
    let found = entries
        .iter_mut()
        .find(|(key, _)| key.as_str() == Some(name));
    found.map(|(_, value)| value)
}

/// Removes, adds and moves whole resources.
fn apply(
    tracks: &[Track],
    fates: &[Fate],
    list: &mut ResourceList,
    packages: [&Members; 3],
    upstream: &Package<'_>,
    plan: &mut Plan,
) {
    let [base, local, theirs] = packages;
    let places = places(tracks, fates, packages, plan.options.on_conflict.winner());
    let identifies = local.ids.iter().any(|id| {
        let path = ["metadata", "annotations", UPSTREAM_IDENTIFIER];
        list.node(*id).get_path(&path).is_some()
    });
    let before = |number: usize| {
        places
            .get(&number)
            .and_then(|at| local.ids.get(*at).copied())
    };
    let mut indexes = next_indexes(list);
    let mut files = NewFiles::find(tracks, fates, upstream, list);
    for (number, (track, fate)) in tracks.iter().zip(fates).enumerate() {
        match (fate, track.local, track.upstream) {
            (Fate::Removed, Some(at), _) => {
                list.remove(local.ids[at]);
                plan.counts.removed += 1;
            }
            (Fate::Added, _, Some(at)) => {
                plan.counts.added += 1;
                let member = &theirs.members[at];
                match files.take(upstream.node(at)) {
                    Some(true) if !identifies => {
                        let text = upstream.node(at).document.text.to_owned();
                        let path = member.path.clone();
                        list.add_text(NewText {
                            path,
                            text,
                            before: None,
                        });
                        continue;
                    }
                    Some(false) if !identifies => continue,
                    _ => {}
                }
                let identifier = if identifies {
                    member.upstream_identifier()
                } else {
                    None
                };
                match new_text(
                    upstream.node(at),
                    member,
                    identifier,
                    list.is_package(),
                    &mut indexes,
                ) {
                    Ok(text) => {
                        let (path, before) = (member.path.clone(), before(number));
                        list.add_text(NewText { path, text, before });
                    }
                    Err(error) => {
                        let result = FunctionResult::refused(&error);
                        plan.said.push(result.about(upstream.resource(at)));
                    }
                }
            }
            (Fate::Merge, Some(at), Some(_)) => {
                let Some(path) = moved_to(track, [base, local, theirs]) else {
                    continue;
                };
                let id = local.ids[at];
                let text = list.node(id).document_text().filter(|_| list.is_package());
                match text.map(str::to_owned) {
                    Some(text) => {
                        list.remove(id);
                        let (path, before) = (Some(path.to_owned()), before(number));
                        list.add_text(NewText { path, text, before });
                    }
                    None => {
                        if let Err(error) = set_path(list, &mut indexes, id, path) {
                            let result = FunctionResult::refused(&error);
                            plan.said.push(result.about(list.resource(id)));
                        }
                    }
                }
                plan.counts.moved += 1;
            }
            _ => {}
        }
    }
}

/// Files of upstream that are new with all that they hold: they come as they are, with comments
/// that belong to no resource.
struct NewFiles {
    /// By the text, which all resources of a file share: whether it was taken.
    texts: BTreeMap<*const u8, bool>,
}

impl NewFiles {
    fn find(
        tracks: &[Track],
        fates: &[Fate],
        upstream: &Package<'_>,
        local: &ResourceList,
    ) -> Self {
        let mut texts = BTreeMap::new();
        if !local.is_package() {
            return Self { texts };
        }
        let known = local.file_paths();
        let mut others = BTreeSet::new();
        for (track, fate) in tracks.iter().zip(fates) {
            let Some(at) = track.upstream else { continue };
            let (node, path) = (upstream.node(at), upstream.all.members[at].path.as_deref());
            let text = node.document.text.as_ptr();
            let is_new = path.is_some_and(|path| !known.contains(path));
            let is_file = node.document_text().is_some() && is_new && !is_annotated(node);
            if matches!(fate, Fate::Added) && is_file {
                texts.insert(text, false);
            } else {
                others.insert(text);
            }
        }
        texts.retain(|text, _| !others.contains(text));
        Self { texts }
    }

    /// `Some(true)` for the first resource of such a file, `Some(false)` for the others.
    fn take(&mut self, node: NodeRef<'_>) -> Option<bool> {
        let taken = self.texts.get_mut(&node.document.text.as_ptr())?;
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

/// The path that only upstream moved a resource to.
fn moved_to<'m>(track: &Track, [base, local, upstream]: [&'m Members; 3]) -> Option<&'m str> {
    let path = |members: &'m Members, at: Option<usize>| members.members[at?].path.as_deref();
    let old = path(base, track.base)?;
    let new = path(upstream, track.upstream)?;
    (path(local, track.local) == Some(old) && new != old).then_some(new)
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

/// For each track that is new in its file: the local member that it stands before, by the order of
/// the file's resources in all three packages.
fn places(
    tracks: &[Track],
    fates: &[Fate],
    packages: [&Members; 3],
    winner: Side,
) -> BTreeMap<usize, usize> {
    let mut files: BTreeMap<&str, [Vec<(usize, usize)>; 3]> = BTreeMap::new();
    let mut fresh = BTreeSet::new();
    for (number, (track, fate)) in tracks.iter().zip(fates).enumerate() {
        let moved = moved_to(track, packages);
        let is_new =
            matches!(fate, Fate::Added) || (matches!(fate, Fate::Merge) && moved.is_some());
        let stays = is_new || matches!(fate, Fate::Merge | Fate::Stays);
        if is_new {
            fresh.insert(number);
        }
        let versions = [track.base, track.local.filter(|_| !is_new), track.upstream];
        for (side, at) in versions.into_iter().enumerate() {
            let path = at.and_then(|at| packages[side].members[at].path.as_deref());
            if let (Some(at), Some(path)) = (at, path.filter(|_| stays)) {
                files.entry(path).or_default()[side].push((at, number));
            }
        }
    }
    let mut places = BTreeMap::new();
    for (_, mut sources) in files {
        let has_new = sources[2].iter().any(|(_, number)| fresh.contains(number));
        if !has_new || sources[1].is_empty() {
            continue;
        }
        sources.iter_mut().for_each(|source| source.sort_unstable());
        let members: BTreeMap<usize, usize> = sources[1].iter().map(|(at, n)| (*n, *at)).collect();
        // What upstream has and local has not is in the result only if it is new here.
        sources[2].retain(|(_, number)| fresh.contains(number) || members.contains_key(number));
        let [base, local, upstream] = sources.map(|source| {
            source
                .into_iter()
                .map(|(_, number)| number)
                .collect::<Vec<_>>()
        });
        let merged = merge_order(&base, &local, &upstream, winner);
        // The order of the resources that were there is theirs.
        let mut next = None;
        for number in merged.order.iter().rev() {
            match members.get(number) {
                Some(at) => next = Some(*at),
                None => {
                    if let Some(at) = next {
                        places.insert(*number, at);
                    }
                }
            }
        }
    }
    places
}

/// The text of a resource that upstream added, with its comments.
fn new_text(
    node: NodeRef<'_>,
    member: &Member,
    identifier: Option<String>,
    in_package: bool,
    indexes: &mut HashMap<String, usize>,
) -> Result<String, EditError> {
    let text = node
        .document_text()
        .map_or_else(|| node_text(node), str::to_owned);
    let owned = OwnedDocument::parse(text.clone()).map_err(EditError::Broken)?;
    let Some(root) = owned.root() else {
        return Ok(text);
    };
    let mut editor = Editor::new(owned.document());
    let mut set = Vec::new();
    if let Some(identifier) = identifier {
        set.push((UPSTREAM_IDENTIFIER, identifier));
    }
    if let Some(path) = member.path.as_deref().filter(|_| !in_package) {
        let next = indexes.entry(path.to_owned()).or_default();
        let index = *next;
        *next += 1;
        for (path_name, index_name) in PATH_ANNOTATIONS.into_iter().zip(INDEX_ANNOTATIONS) {
            set.push((index_name, index.to_string()));
            set.push((path_name, path.to_owned()));
        }
    }
    let metadata = root.entry("metadata").map(|entry| entry.value);
    let annotations = metadata
        .and_then(|m| m.entry("annotations"))
        .map(|entry| entry.value);
    if let Some(annotations) = annotations.filter(|node| node.kind().is_mapping()) {
        let gone = annotations.entries().filter_map(|entry| entry.key.as_str());
        let gone: Vec<&str> = gone.filter(|key| is_pipeline_annotation(key)).collect();
        for key in gone {
            if !set.iter().any(|(name, _)| *name == key) {
                editor.remove_entry(annotations, key)?;
            }
        }
        for (name, value) in set {
            editor.set(annotations, name, Content::Value(Value::from(value)))?;
        }
    } else if let Some(metadata) = metadata.filter(|_| !set.is_empty()) {
        let entries = set
            .into_iter()
            .map(|(name, value)| (Value::from(name), Value::from(value)));
        let value = Value::Mapping(entries.collect());
        editor.set(metadata, "annotations", Content::Value(value))?;
    }
    if editor.is_empty() {
        return Ok(text);
    }
    editor.finish()
}
