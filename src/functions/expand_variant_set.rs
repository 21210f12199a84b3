//! Makes the PackageVariants of PackageVariantSets.
//!
//! ```yaml
//! targets:               # before, in a PackageVariantSet `fleet`
//! - repositories:
//!   - name: cluster-01
//! ```
//! ```yaml
//! downstream:            # after, in a PackageVariant `fleet-cluster-01-foo`
//!   repo: cluster-01
//!   package: foo
//! ```
//!
//! Source: package-variant document, Fan Out of Variant Generation to PackageVariantSet Status;
//! contract, expand-variant-set.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::config::{UsageError, kind_of, unexpected};
use crate::filter::{Function, Run};
use crate::package::check_package_path;
use crate::resource::Resource;
use crate::resource_list::{ItemId, NewResource, ResourceList, WrittenResource};
use crate::results::{FunctionResult, Reason, Results};
use crate::supplied::Role;
use crate::variant::cluster::{Cluster, PACKAGE_REVISION, REPOSITORY, TypeOf, namespace_of};
use crate::variant::expression::on_large_stack;
use crate::variant::fan_out::{Expansion, Place, Set, Variant, fan_out, too_many};
use crate::variant::naming::label_value;
use crate::variant::package_variant_set::{API_VERSION, KIND, PackageVariantSet};
use crate::yaml::{Content, EditError, Editor, NodeRef, Path, Value};

/// The function, for its binary.
pub const FUNCTION: Function = Function {
    name: "expand-variant-set",
    about: "Makes the PackageVariants of PackageVariantSets: one for each target, by template.",
    roles: &[Role::Resources],
    uses_schema: false,
    step,
};

/// Label of a PackageVariant that names the set it belongs to.
const OWNER_LABEL: &str = "config.porch.kpt.dev/packagevariantset";
const GROUP: &str = "config.porch.kpt.dev";
const PACKAGE_VARIANT: (&str, &str) =
    (crate::config::PACKAGE_VARIANT_API_VERSION, "PackageVariant");
/// Bytes of PackageVariants that a run makes, whatever the input.
const ROOM: usize = 48_000_000;
/// And for each byte of the input.
const ROOM_PER_BYTE: usize = 4;
/// Least bytes that a PackageVariant takes.
const LEAST_COST: usize = 500;
/// Errors of one set that are reported one by one.
const MOST_ERRORS: usize = 100;

/// A set, and where it is.
struct Source {
    set: Set,
    /// Identity and file, for results.
    resource: Resource,
    /// The item that gets the status.
    item: Option<ItemId>,
}

fn step(run: Run<'_>) -> Result<(), UsageError> {
    let Run {
        config,
        list,
        supplied,
        results,
    } = run;
    let sources = read_sets(config, list, results)?;
    if sources.is_empty() {
        if results.is_empty() {
            let message =
                "expected a PackageVariantSet as functionConfig or among the items, found none";
            results.push(FunctionResult::warning(
                Reason::NoPackageVariantSet,
                message,
            ));
        }
        return Ok(());
    }
    let mut findings = Vec::new();
    let cluster = {
        let mut lists: Vec<&ResourceList> = vec![list];
        lists.extend(supplied.resources().map(|package| package.list()));
        Cluster::read(
            &lists,
            &types(&sources),
            &namespaces(&sources),
            &mut findings,
        )
    };
    let (sets, sources): (Vec<Set>, Vec<Home>) = sources
        .into_iter()
        .map(|source| (source.set, (source.resource, source.item)))
        .unzip();
    let fleet = Fleet::read(list, &sets);
    let supplied_length = supplied.resources().map(|package| package.list().length());
    let length = list.length() + supplied_length.sum::<usize>();
    let room = ROOM.saturating_add(ROOM_PER_BYTE.saturating_mul(length));
    let places: Vec<NewFiles> = sources
        .iter()
        .zip(&sets)
        .map(|((resource, _), set)| NewFiles::of(list, set, resource))
        .collect();
    let mut expansions = {
        // What a parser leaves behind may change threads, but not be shared by them.
        let list = &mut *list;
        let (sets, fleet, places, cluster) = (&sets, &fleet, &places, &cluster);
        on_large_stack(move || {
            let mut left = room;
            fan_out(sets, cluster, room / LEAST_COST, |index, name, spec| {
                let made = make(&sets[index], name, spec, fleet, &places[index], list);
                left = left
                    .checked_sub(made.cost())
                    .ok_or_else(|| Box::new(too_many()))?;
                Ok(made)
            })
        })
        .map_err(|error| UsageError(format!("cannot start a thread: {error}")))?
    };
    drop(cluster);
    check_names(&sets, &mut expansions, list, &fleet);
    let is_failed = !findings.is_empty() || expansions.iter().any(|one| !one.findings.is_empty());
    for finding in findings {
        results.push(finding);
    }
    if is_failed {
        report_failure(&sources, expansions, results);
        return Ok(());
    }
    let desired: HashSet<(String, String)> = sets
        .iter()
        .zip(&expansions)
        .flat_map(|(set, one)| {
            let namespace = namespace_of(set.namespace.as_deref());
            // Others are not there to be removed.
            one.variants
                .iter()
                .filter(|variant| fleet.find(namespace, &variant.name).is_some())
                .map(|variant| (namespace.to_owned(), variant.name.clone()))
        })
        .collect();
    let mut taken = paths_below(&places, list);
    for (index, expansion) in expansions.into_iter().enumerate() {
        let one = One {
            set: &sets[index],
            resource: &sources[index].0,
            item: sources[index].1,
            files: &places[index],
        };
        apply(&one, expansion, &desired, &fleet, &mut taken, list, results);
    }
    Ok(())
}

/// What is to be done for a target.
enum Made {
    New(WrittenResource),
    Changed(Value),
    Unchanged,
}

impl Made {
    fn cost(&self) -> usize {
        match self {
            Self::New(written) => written.cost(),
            Self::Changed(spec) => spec.cost(),
            Self::Unchanged => LEAST_COST,
        }
    }
}

fn make(
    set: &Set,
    name: &str,
    spec: Value,
    fleet: &Fleet,
    files: &NewFiles,
    list: &ResourceList,
) -> Made {
    let namespace = namespace_of(set.namespace.as_deref());
    let Some(member) = fleet.find(namespace, name) else {
        return Made::New(list.write(NewResource {
            path: files.path(name),
            package_path: files.package_path.clone(),
            value: resource_value(set, name, spec),
        }));
    };
    let old = list.read(member.item, |node| {
        node.get("spec").and_then(|spec| spec.value())
    });
    match old.as_ref() == Some(&spec) {
        true => Made::Unchanged,
        false => Made::Changed(spec),
    }
}

/// A set that is applied.
struct One<'a> {
    set: &'a Set,
    resource: &'a Resource,
    item: Option<ItemId>,
    files: &'a NewFiles,
}

/// A set's identity and file, and the item that gets its status.
type Home = (Resource, Option<ItemId>);

fn read_sets(
    config: Option<NodeRef<'_>>,
    list: &ResourceList,
    results: &mut Results,
) -> Result<Vec<Source>, UsageError> {
    const EXPECTED: &str =
        "a PackageVariantSet (config.porch.kpt.dev/v1alpha2), or none where the items hold some";
    let items = || {
        list.items()
            .filter(|(_, resource)| resource.kind == KIND && resource.group() == GROUP)
    };
    let is_empty = |config: &NodeRef<'_>| config.is_null() || config.source().trim() == "{}";
    if let Some(config) = config.filter(|config| !is_empty(config)) {
        match kind_of(config) {
            (API_VERSION, KIND) => {
                let mut resource = Resource::read(config);
                resource.origin = crate::resource::Origin::default();
                let is_copy = |other: &Resource| {
                    other.api_version == API_VERSION
                        && other.name == resource.name
                        && namespace_of(other.namespace.as_deref())
                            == namespace_of(resource.namespace.as_deref())
                };
                let copy = items().find(|(_, other)| is_copy(other));
                let item = copy.map(|(id, _)| id);
                if let Some((_, copy)) = copy {
                    resource = copy.clone();
                }
                let set = read_set(config, "functionConfig")?;
                return Ok(vec![Source {
                    set,
                    resource,
                    item,
                }]);
            }
            ("v1", "ConfigMap") => {
                let data = config.get("data");
                let key = data.and_then(|data| data.entries().next());
                if let Some(key) = key.and_then(|entry| entry.key.scalar_text()) {
                    let message = format!(
                        "functionConfig (ConfigMap): data.{key}: unknown field, expected none"
                    );
                    return Err(UsageError(message));
                }
            }
            _ => return Err(unexpected(config, EXPECTED)),
        }
    }
    let mut sources: Vec<Source> = Vec::new();
    let mut known = HashSet::new();
    for (id, resource) in items() {
        if resource.api_version != API_VERSION {
            let message = format!(
                "not expanded: expected {API_VERSION}, found {}",
                resource.api_version
            );
            let result = FunctionResult::warning(Reason::UnsupportedVersion, message);
            results.push(result.about(resource));
            continue;
        }
        let place = resource
            .origin
            .path
            .clone()
            .unwrap_or_else(|| "items".to_owned());
        let set = read_set(list.node(id), &place)?;
        let namespace = namespace_of(set.namespace.as_deref()).to_owned();
        if !known.insert((namespace, set.name.clone())) {
            let message = format!("the PackageVariantSet `{}` is there twice", set.name);
            results.push(FunctionResult::error(Reason::Ambiguous, message).about(resource));
            continue;
        }
        sources.push(Source {
            set,
            resource: resource.clone(),
            item: Some(id),
        });
    }
    if results.has_errors() {
        sources.clear();
    }
    Ok(sources)
}

fn read_set(node: NodeRef<'_>, place: &str) -> Result<Set, UsageError> {
    let metadata = |name: &str| {
        let field = node.get_path(&["metadata", name]);
        let text = field
            .and_then(|field| field.as_str())
            .filter(|text| !text.is_empty());
        text.map(str::to_owned)
    };
    let many = || {
        UsageError(format!(
            "{place}: its aliases stand for more than 10 million nodes"
        ))
    };
    let value = node.value().ok_or_else(many)?;
    let typed = PackageVariantSet::read(value)
        .map_err(|error| UsageError(format!("{place} ({KIND}): {error}")))?;
    let name = metadata("name").ok_or_else(|| {
        UsageError(format!(
            "{place} ({KIND}): metadata.name: expected the name of the set, found none"
        ))
    })?;
    Ok(Set {
        name,
        namespace: metadata("namespace"),
        uid: metadata("uid"),
        typed,
    })
}

fn types(sources: &[Source]) -> BTreeSet<TypeOf> {
    let known = [REPOSITORY, PACKAGE_REVISION];
    let mut types: BTreeSet<TypeOf> = known
        .into_iter()
        .map(|(v, k)| (v.to_owned(), k.to_owned()))
        .collect();
    let targets = sources
        .iter()
        .flat_map(|source| &source.set.typed.spec.targets);
    for selector in targets.filter_map(|target| target.object_selector.as_ref()) {
        types.extend(selector.api_version.clone().zip(selector.kind.clone()));
    }
    types
}

fn namespaces(sources: &[Source]) -> BTreeSet<String> {
    let namespaces = sources.iter().map(|source| source.set.namespace.as_deref());
    namespaces
        .map(|namespace| namespace_of(namespace).to_owned())
        .collect()
}

/// The PackageVariants that are there.
struct Fleet {
    members: HashMap<(String, String), Member>,
}

struct Member {
    item: ItemId,
    /// More items of this identity.
    is_ambiguous: bool,
    owner: Owner,
}

/// What a PackageVariant says of its owner.
struct Owner {
    label: Option<String>,
    /// Names and uids of PackageVariantSets.
    references: Vec<(String, String)>,
}

impl Owner {
    fn read(node: NodeRef<'_>) -> Self {
        let label = node.get_path(&["metadata", "labels", OWNER_LABEL]);
        let label = label
            .and_then(|label| label.scalar_text())
            .filter(|text| !text.is_empty());
        let references = node.get_path(&["metadata", "ownerReferences"]);
        let references = references
            .iter()
            .flat_map(NodeRef::items)
            .filter_map(|reference| {
                let text = |name| {
                    reference
                        .get(name)
                        .and_then(|v| v.scalar_text())
                        .unwrap_or_default()
                };
                let group = text("apiVersion")
                    .split_once('/')
                    .map_or("", |(group, _)| group);
                let is_set = text("kind") == KIND && group == GROUP;
                is_set.then(|| (text("name").to_owned(), text("uid").to_owned()))
            });
        Self {
            label: label.map(str::to_owned),
            references: references.collect(),
        }
    }

    fn is(&self, set: &Set) -> bool {
        let label = self.label.as_deref();
        let by_label = |name: &str| label == Some(name) || label == Some(&label_value(name));
        by_label(&set.name)
            || set.uid.as_deref().is_some_and(by_label)
            || self.references.iter().any(|(name, uid)| match &set.uid {
                Some(own) if !uid.is_empty() => own == uid,
                _ => *name == set.name,
            })
    }

    fn describe(&self) -> String {
        match (self.references.first(), &self.label) {
            (Some((name, _)), _) => format!("the PackageVariantSet `{name}`"),
            (None, Some(label)) => format!("the PackageVariantSet `{label}`"),
            (None, None) => "nobody".to_owned(),
        }
    }
}

impl Fleet {
    fn read(list: &ResourceList, sets: &[Set]) -> Self {
        let namespaces: HashSet<&str> = sets
            .iter()
            .map(|set| namespace_of(set.namespace.as_deref()))
            .collect();
        let mut members: HashMap<(String, String), Member> = HashMap::new();
        for (id, resource) in list.items() {
            let is_variant = resource.kind == PACKAGE_VARIANT.1 && resource.group() == GROUP;
            let namespace = namespace_of(resource.namespace.as_deref());
            let Some(name) = resource.name.clone().filter(|_| is_variant) else {
                continue;
            };
            if !namespaces.contains(namespace) {
                continue;
            }
            let member = members.entry((namespace.to_owned(), name));
            let member = member.and_modify(|member| member.is_ambiguous = true);
            member.or_insert_with(|| Member {
                item: id,
                is_ambiguous: false,
                owner: list.read(id, Owner::read),
            });
        }
        Self { members }
    }

    fn find(&self, namespace: &str, name: &str) -> Option<&Member> {
        if self.members.is_empty() {
            return None;
        }
        self.members.get(&(namespace.to_owned(), name.to_owned()))
    }
}

/// Every name must be free, or that of a variant which the set owns.
fn check_names(
    sets: &[Set],
    expansions: &mut [Expansion<Made>],
    list: &ResourceList,
    fleet: &Fleet,
) {
    let mut taken: HashMap<(&str, &str), (&Set, Place)> = HashMap::new();
    for (set, expansion) in sets.iter().zip(expansions) {
        let namespace = namespace_of(set.namespace.as_deref());
        let Expansion {
            variants, findings, ..
        } = expansion;
        for variant in &*variants {
            let place = variant.place;
            let name = variant.name.as_str();
            let mut collision = |reason, message| {
                findings.push(FunctionResult::error(reason, message).at(place.path()));
            };
            match taken.get(&(namespace, name)) {
                Some((other, first)) if other.name == set.name => {
                    let message = format!(
                        "the PackageVariant `{name}` of set `{}` would be made for `{}` and for `{}`",
                        set.name,
                        first.path(),
                        place.path()
                    );
                    collision(Reason::NameCollision, message);
                }
                Some((other, first)) => {
                    let message = format!(
                        "the PackageVariant `{name}` would be made by set `{}` for `{}` and by set `{}` for `{}`",
                        other.name,
                        first.path(),
                        set.name,
                        place.path()
                    );
                    collision(Reason::NameCollision, message);
                }
                None => {
                    taken.insert((namespace, name), (set, place));
                }
            }
            let Some(member) = fleet.find(namespace, name) else {
                continue;
            };
            let file = list.resource(member.item).origin.path.as_deref();
            let file = file.map(|file| format!(" ({file})")).unwrap_or_default();
            if !member.owner.is(set) {
                let message = format!(
                    "expected a PackageVariant `{name}` that set `{}` owns, found one{file} that belongs to {}",
                    set.name,
                    member.owner.describe()
                );
                collision(Reason::OtherOwner, message);
            } else if member.is_ambiguous {
                let message = format!("the PackageVariant `{name}` is there twice{file}");
                collision(Reason::Ambiguous, message);
            }
        }
    }
}

/// A condition of the status.
struct Condition {
    name: &'static str,
    status: &'static str,
    reason: &'static str,
    message: &'static str,
}

const NOT_STALLED: Condition = Condition {
    name: "Stalled",
    status: "False",
    reason: "Valid",
    message: "all validation checks passed",
};
const STALLED: Condition = Condition {
    name: "Stalled",
    status: "True",
    reason: "ValidationError",
    message: "the PackageVariantSet cannot be expanded",
};
const READY: Condition = Condition {
    name: "Ready",
    status: "True",
    reason: "Reconciled",
    message: "package variants successfully reconciled",
};
const NOT_READY: Condition = Condition {
    name: "Ready",
    status: "False",
    reason: "Error",
    message: "nothing was generated",
};

impl Condition {
    fn result(&self) -> FunctionResult {
        let message = format!("{} is {}: {}", self.name, self.status, self.message);
        let result = FunctionResult::info(message).at(Path::fields(&["status", "conditions"]));
        result
            .tag("condition", self.name)
            .tag("status", self.status)
    }

    fn fields(&self) -> [(&'static str, &'static str); 3] {
        [
            ("status", self.status),
            ("reason", self.reason),
            ("message", self.message),
        ]
    }

    fn value(&self) -> Value {
        let name = (Value::from("type"), Value::from(self.name));
        let fields = self
            .fields()
            .map(|(key, value)| (Value::from(key), Value::from(value)));
        Value::Mapping(std::iter::once(name).chain(fields).collect())
    }
}

fn report_failure(places: &[Home], expansions: Vec<Expansion<Made>>, results: &mut Results) {
    for ((resource, _), expansion) in places.iter().zip(expansions) {
        let stalled = if expansion.findings.is_empty() {
            &NOT_STALLED
        } else {
            &STALLED
        };
        let count = expansion.findings.len();
        for finding in expansion.findings.into_iter().take(MOST_ERRORS) {
            let field = finding.field.clone();
            let result = finding.about(resource);
            results.push(match field {
                Some(field) => result.at(field),
                None => result,
            });
        }
        if count > MOST_ERRORS {
            let message = format!("{} more errors of this set", count - MOST_ERRORS);
            results.push(FunctionResult::error(Reason::InvalidConfig, message).about(resource));
        }
        results.push(stalled.result().about(resource));
        results.push(NOT_READY.result().about(resource));
    }
}

/// How many PackageVariants of a set were what.
#[derive(Default)]
struct Counts {
    created: usize,
    updated: usize,
    unchanged: usize,
    removed: usize,
}

/// Writes the variants of one set; nothing can be wrong with it any more but the texts themselves.
fn apply(
    one: &One<'_>,
    expansion: Expansion<Made>,
    desired: &HashSet<(String, String)>,
    fleet: &Fleet,
    taken: &mut HashSet<String>,
    list: &mut ResourceList,
    results: &mut Results,
) {
    let One { set, resource, .. } = *one;
    for path in expansion.empty {
        let message = "the target selects nothing";
        let result = FunctionResult::warning(Reason::NoTargetSelected, message);
        results.push(result.about(resource).at(path));
    }
    let namespace = namespace_of(set.namespace.as_deref());
    let mut counts = Counts::default();
    for Variant { name, made, .. } in expansion.variants {
        match made {
            Made::Unchanged => counts.unchanged += 1,
            Made::New(written) => {
                counts.created += 1;
                if let Some(result) = one.files.refuse(&name, taken) {
                    results.push(result.about(resource));
                }
                list.add_written(written);
            }
            Made::Changed(spec) => {
                counts.updated += 1;
                let Some(member) = fleet.find(namespace, &name) else {
                    continue;
                };
                let edit = list.edit(member.item, |node, editor| update(node, &spec, editor));
                if let Err(error) = edit {
                    let result = FunctionResult::refused(&error);
                    results.push(result.about(list.resource(member.item)).at("spec"));
                }
            }
        }
    }
    let no_longer = fleet.members.iter().filter(|(identity, member)| {
        identity.0 == namespace && member.owner.is(set) && !desired.contains(*identity)
    });
    let mut no_longer: Vec<ItemId> = no_longer.map(|(_, member)| member.item).collect();
    no_longer.sort_unstable();
    counts.removed = no_longer.len();
    for id in no_longer {
        list.remove(id);
    }
    let Counts {
        created,
        updated,
        unchanged,
        removed,
    } = counts;
    let message = format!(
        "PackageVariants: {created} created, {updated} updated, {unchanged} unchanged, {removed} removed"
    );
    let counted = FunctionResult::info(message).about(resource);
    let counted = counted
        .tag("created", created.to_string())
        .tag("updated", updated.to_string());
    let counted = counted
        .tag("unchanged", unchanged.to_string())
        .tag("removed", removed.to_string());
    results.push(counted);
    for condition in [&NOT_STALLED, &READY] {
        results.push(condition.result().about(resource));
    }
    if let Some(id) = one.item
        && let Err(error) = list.edit(id, write_status)
    {
        results.push(
            FunctionResult::refused(&error)
                .about(resource)
                .at("status.conditions"),
        );
    }
}

/// Where new files go.
struct NewFiles {
    directory: Option<String>,
    package_path: Option<String>,
}

impl NewFiles {
    fn of(list: &ResourceList, set: &Set, resource: &Resource) -> Self {
        let package_path = resource.origin.package_path.clone().or_else(|| {
            let origins = list.items().map(|(_, other)| &other.origin);
            let paths = origins.filter_map(|origin| origin.package_path.as_ref());
            paths.min_by_key(|path| path.len()).cloned()
        });
        // Items of kustomize have no paths.
        let mut origins = list.items().map(|(_, other)| &other.origin.path);
        let is_empty = list.items().next().is_none();
        let has_paths = is_empty || list.is_package() || origins.any(Option::is_some);
        Self {
            directory: has_paths.then(|| set.name.clone()),
            package_path,
        }
    }

    fn path(&self, name: &str) -> Option<String> {
        let directory = self.directory.as_ref()?;
        Some(format!("{directory}/{name}.yaml"))
    }

    /// Why a file cannot be made; else its path is taken.
    fn refuse(&self, name: &str, taken: &mut HashSet<String>) -> Option<FunctionResult> {
        let path = self.path(name)?;
        if let Err(error) = check_package_path(&path) {
            return Some(FunctionResult::error(
                Reason::InvalidPath,
                error.to_string(),
            ));
        }
        let key = format!(
            "{}\0{path}",
            self.package_path.as_deref().unwrap_or_default()
        );
        if taken.insert(key) {
            return None;
        }
        let message = format!(
            "the file `{path}` is there, for another resource than the PackageVariant `{name}`"
        );
        Some(FunctionResult::error(Reason::PathTaken, message))
    }
}

/// Paths that are there already, as [`NewFiles::refuse`] notes them.
fn paths_below(places: &[NewFiles], list: &ResourceList) -> HashSet<String> {
    let directories = places.iter().filter_map(|files| files.directory.as_deref());
    let directories: HashSet<&str> = directories.collect();
    let origins = list.items().map(|(_, resource)| &resource.origin);
    let below = origins.filter_map(|origin| {
        let path = origin.path.as_deref()?;
        let (directory, _) = path.rsplit_once('/')?;
        let package = origin.package_path.as_deref().unwrap_or_default();
        directories
            .contains(directory)
            .then(|| format!("{package}\0{path}"))
    });
    below.collect()
}

fn resource_value(set: &Set, name: &str, spec: Value) -> Value {
    let entry = |key: &str, value: Value| (Value::from(key), value);
    let owner = set.uid.as_deref().unwrap_or(&set.name);
    let labels = vec![entry(OWNER_LABEL, Value::from(label_value(owner)))];
    let mut metadata = vec![entry("name", Value::from(name))];
    if let Some(namespace) = &set.namespace {
        metadata.push(entry("namespace", Value::from(namespace.as_str())));
    }
    metadata.push(entry("labels", Value::Mapping(labels)));
    // API servers refuse a reference without uid.
    if let Some(uid) = &set.uid {
        let reference = vec![
            entry("apiVersion", Value::from(API_VERSION)),
            entry("kind", Value::from(KIND)),
            entry("name", Value::from(set.name.as_str())),
            entry("uid", Value::from(uid.as_str())),
            entry("controller", Value::from(true)),
        ];
        let references = Value::Sequence(vec![Value::Mapping(reference)]);
        metadata.push(entry("ownerReferences", references));
    }
    Value::Mapping(vec![
        entry("apiVersion", Value::from(PACKAGE_VARIANT.0)),
        entry("kind", Value::from(PACKAGE_VARIANT.1)),
        entry("metadata", Value::Mapping(metadata)),
        entry("spec", spec),
    ])
}

/// Makes `spec` of a PackageVariant what it shall be.
fn update<'d>(
    resource: NodeRef<'d>,
    spec: &Value,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    match resource.entry("spec") {
        Some(old) => assimilate(old.value, spec, editor),
        None => editor.set(resource, "spec", Content::Value(spec.clone())),
    }
}

/// Changes only what differs.
fn assimilate<'d>(
    old: NodeRef<'d>,
    new: &Value,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    if old.value().as_ref() == Some(new) {
        return Ok(());
    }
    match new {
        Value::Mapping(fields) if old.kind().is_mapping() => {
            let names: HashSet<&str> = fields.iter().filter_map(|(key, _)| key.as_str()).collect();
            for entry in old.entries() {
                let key = entry.key.scalar_text().unwrap_or_default();
                if !names.contains(key) {
                    editor.remove_entry(old, key)?;
                }
            }
            for (key, value) in fields {
                let key = key.as_str().unwrap_or_default();
                match old.entry(key) {
                    Some(entry) => assimilate(entry.value, value, editor)?,
                    None => editor.set(old, key, Content::Value(value.clone()))?,
                }
            }
            Ok(())
        }
        Value::Sequence(elements) if old.kind().is_sequence() => {
            let mut count = 0;
            for (item, element) in old.items().zip(elements) {
                assimilate(item, element, editor)?;
                count += 1;
            }
            if old.items().count() > elements.len() {
                editor.remove_items(old, |index| index >= elements.len())?;
            }
            for element in &elements[count..] {
                editor.insert_item(old, None, Content::Value(element.clone()))?;
            }
            Ok(())
        }
        other => editor.replace(old, Content::Value(other.clone())),
    }
}

fn write_status<'d>(resource: NodeRef<'d>, editor: &mut Editor<'d, '_>) -> Result<(), EditError> {
    let wanted = [&NOT_STALLED, &READY];
    let all = || Value::Sequence(wanted.iter().map(|condition| condition.value()).collect());
    let entry = (Value::from("conditions"), all());
    let Some(status) = resource.entry("status").map(|entry| entry.value) else {
        return editor.set(
            resource,
            "status",
            Content::Value(Value::Mapping(vec![entry])),
        );
    };
    let conditions = status.entry("conditions").map(|entry| entry.value);
    let Some(conditions) = conditions.filter(|conditions| conditions.kind().is_sequence()) else {
        return editor.set(status, "conditions", Content::Value(all()));
    };
    for condition in wanted {
        let text = |item: NodeRef<'d>, key| item.get(key).and_then(|value| value.scalar_text());
        let found = conditions
            .items()
            .find(|item| text(*item, "type") == Some(condition.name));
        let Some(found) = found else {
            editor.insert_item(conditions, None, Content::Value(condition.value()))?;
            continue;
        };
        if text(found, "status") != Some(condition.status) {
            // It would tell of another transition.
            editor.remove_entry(found, "lastTransitionTime")?;
        }
        for (key, value) in condition.fields() {
            if text(found, key) != Some(value) {
                editor.set(found, key, Content::Value(Value::from(value)))?;
            }
        }
    }
    Ok(())
}
