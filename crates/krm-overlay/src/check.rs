//! Finds the parts of an overlay that have no effect, for example after its base changed.
//!
//! ```yaml
//! # base                    # patch           # finding
//! replicas: 5                 replicas: 5       changes nothing
//! kind: Deployment            kind: DaemonSet   hits nothing
//! ```

use std::collections::{BTreeSet, HashMap};

use super::built::BuiltObject;
use super::kustomization::{Kustomization, PatchEntry, PatchOutcome};
use super::objects::KustomizeBuild;
use super::patched::PatchedObjects;
use super::transformations::{Transformations, containers};
use super::{OverlayError, PackageTexts};
use krm_core::resource_key::ResourceKey;
use krm_core::schema::{Keys, Schema};
use krm_patch::kustomize::{directive, merge};
use krm_patch::rules::Rules;
use krm_yaml::Value;

const NEEDLESS: &str = "it changes nothing: the base already has this value";

/// A part of an overlay that has no effect, or an unknown effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlayFinding {
    /// Its file, or its place in the kustomization, for messages.
    pub place: String,
    /// Why it is reported.
    pub state: OverlayState,
    /// The explanation for the user.
    pub message: String,
}

/// Why a part of an overlay is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlayState {
    /// The base has nothing that the part applies to.
    Dead,
    /// The base already has the result of the part.
    Needless,
    /// The part is a field of the kustomization that is not evaluated here.
    Unknown,
}

/// Checks the overlay in the root directory of a package against its base. `external` reads a base that is not in the
/// package.
///
/// # Errors
/// [`OverlayError`]: no kustomization; a file or a base that cannot be read.
pub fn check(
    texts: &PackageTexts,
    schema: &Schema,
    external: &dyn Fn(&str) -> Result<Vec<Value>, OverlayError>,
) -> Result<Vec<OverlayFinding>, OverlayError> {
    let Some(kustomization) = texts.kustomization("")? else {
        return Err(OverlayError::missing(".", super::KUSTOMIZATIONS[0]));
    };
    let builder = KustomizeBuild {
        texts,
        schema,
        external,
    };
    let resources = builder.resources(&kustomization)?;
    let mut findings = needless_files(&kustomization, texts, &resources);
    let mut objects = PatchedObjects::of(resources);
    let mut find = |place: String, state, message: String| {
        findings.push(OverlayFinding {
            place,
            state,
            message,
        })
    };
    for field in kustomization.unknown_fields() {
        let message = "its effect cannot be evaluated".to_owned();
        find(
            format!("{}: {field}", kustomization.file),
            OverlayState::Unknown,
            message,
        );
    }
    for entry in kustomization.patches(texts)? {
        match entry.apply(&mut objects, schema) {
            Err(OverlayError::Patch { error, .. }) => {
                find(entry.place, OverlayState::Dead, error);
            }
            Err(error) => return Err(error),
            Ok(outcome) if outcome.hits == 0 => {
                find(
                    entry.place.clone(),
                    OverlayState::Dead,
                    format!("the base has no {}", subject(&entry)),
                );
            }
            Ok(outcome) if outcome.changed.is_empty() => {
                find(entry.place, OverlayState::Needless, NEEDLESS.to_owned());
            }
            Ok(outcome) => changed_parts(&entry, &outcome, &objects, schema, &mut find),
        }
    }
    let objects = objects.into_objects();
    of_fields(
        &kustomization.file,
        &Transformations::read(&kustomization.value),
        &objects,
        &mut find,
    );
    Ok(findings)
}

/// The resources of the overlay's own files that the base has too.
fn needless_files(
    kustomization: &Kustomization,
    texts: &PackageTexts,
    resources: &[BuiltObject<'_>],
) -> Vec<OverlayFinding> {
    let paths = kustomization.resources().into_iter();
    let paths = paths.filter_map(|name| kustomization.path_of(&name));
    let own: BTreeSet<String> = paths
        .filter(|path| texts.files.contains_key(path))
        .collect();
    let is_own = |object: &&BuiltObject<'_>| own.contains(&object.file);
    let base = resources.iter().filter(|object| !is_own(object));
    let base: HashMap<ResourceKey, &BuiltObject<'_>> =
        base.map(|object| (object.id(), object)).collect();
    let both = resources.iter().filter(is_own);
    let both = both.filter_map(|object| Some((object, *base.get(&object.id())?)));
    let findings = both.map(|(object, other)| {
        let next = if object.value == other.value {
            "remove it here"
        } else {
            "its values differ: replace it here with a patch"
        };
        OverlayFinding {
            place: object.file.clone(),
            state: OverlayState::Needless,
            message: format!(
                "the base has {} too, and kustomize refuses a resource that it finds twice; {next}",
                object.shown()
            ),
        }
    });
    findings.collect()
}

/// Reports the parts of a patch that have no effect, while other parts have one.
fn changed_parts(
    entry: &PatchEntry,
    outcome: &PatchOutcome<'_>,
    objects: &PatchedObjects<'_>,
    schema: &Schema,
    find: &mut impl FnMut(String, OverlayState, String),
) {
    for name in half_containers(outcome, objects) {
        let message =
            format!("the base has no container `{name}`: the patch adds one without an image");
        find(entry.place.clone(), OverlayState::Dead, message);
    }
    for part in needless_parts(entry, outcome, objects, schema) {
        let message = format!("`{part}` changes nothing: the base already has this value");
        find(entry.place.clone(), OverlayState::Needless, message);
    }
}

/// The resource that a patch applies to, for messages.
fn subject(entry: &PatchEntry) -> String {
    let text = |value: &Value, path: &[&str]| {
        let found = value.get_path(path);
        found.map(Value::plain_text).unwrap_or_default()
    };
    match entry.patches.first() {
        Some(patch @ Value::Mapping(_)) => {
            format!(
                "{}/{}",
                text(patch, &["kind"]),
                text(patch, &["metadata", "name"])
            )
        }
        _ => "resource that its target selects".to_owned(),
    }
}

/// The names of containers without an image that a patch added.
fn half_containers(outcome: &PatchOutcome<'_>, objects: &PatchedObjects<'_>) -> BTreeSet<String> {
    let changed = || outcome.changed.iter();
    let old: BTreeSet<String> = changed()
        .flat_map(|(_, before)| without_image(&before.value))
        .collect();
    let after = changed().filter_map(|(at, _)| objects.get(*at));
    let new = after.flat_map(|object| without_image(&object.value));
    new.filter(|name| !old.contains(name)).collect()
}

fn without_image(object: &Value) -> Vec<String> {
    let containers = containers(object).into_iter();
    let without = containers.filter(|(_, container)| container.get("image").is_none());
    without
        .filter_map(|(_, container)| Some(container.get("name")?.plain_text()))
        .collect()
}

/// The fields of a strategic merge patch with values that its resource already has.
fn needless_parts(
    entry: &PatchEntry,
    outcome: &PatchOutcome<'_>,
    objects: &PatchedObjects<'_>,
    schema: &Schema,
) -> Vec<String> {
    let mut before: HashMap<ResourceKey, &BuiltObject<'_>> = HashMap::new();
    for (_, object) in &outcome.changed {
        before.entry(object.id()).or_insert(object);
    }
    let mut parts = Vec::new();
    for patch in entry
        .patches
        .iter()
        .filter(|patch| matches!(patch, Value::Mapping(_)))
    {
        let named = BuiltObject::made(patch.clone(), "");
        let id = named.id();
        let unchanged = || objects.get(*objects.with_id(&id).first()?);
        if let Some(found) = before.get(&id).copied().or_else(unchanged) {
            let after = merge(&found.value, patch, schema);
            let rules = Rules::of(schema, found.text(&["apiVersion"]), found.kind());
            let versions = [Some(&found.value), after.as_ref()];
            leaves(patch, versions, rules, "", &mut parts);
        }
    }
    parts
}

/// Collects the paths at which a patch has the value of live, the first of `versions`. The fields that identify a resource
/// or an element do not count. A list that is in the second version, the result, as the patch has it may have replaced the
/// list, and needs all its elements.
fn leaves(
    patch: &Value,
    versions: [Option<&Value>; 2],
    rules: Rules<'_>,
    path: &str,
    found: &mut Vec<String>,
) {
    let [live, after] = versions;
    let mut add = |is_needless: bool| found.extend(is_needless.then(|| path.to_owned()));
    match patch {
        Value::Mapping(fields) if directive(patch).is_none() => {
            for (key, value) in fields {
                let name = key.plain_text();
                let is_identity = path.is_empty() && matches!(&*name, "apiVersion" | "kind")
                    || path == "metadata" && matches!(&*name, "name" | "namespace");
                if !is_identity && !name.starts_with('$') {
                    let below = if path.is_empty() {
                        name.clone()
                    } else {
                        format!("{path}.{name}")
                    };
                    let versions = versions.map(|side| side?.get(&name));
                    leaves(value, versions, rules.field(&name), &below, found);
                }
            }
        }
        Value::Mapping(_) => {}
        Value::Null => add(live.is_none()),
        Value::Sequence(items) => match rules.element_keys() {
            Some(keys) if !items.is_empty() && after != Some(patch) => {
                for item in items {
                    element_leaves(item, keys, versions, rules, path, found);
                }
            }
            _ => add(live == Some(patch)),
        },
        _ => add(live == Some(patch)),
    }
}

/// The same for an element of a list, whose keys do not count. An element that live does not have is new.
fn element_leaves(
    item: &Value,
    keys: Keys<'_>,
    versions: [Option<&Value>; 2],
    rules: Rules<'_>,
    path: &str,
    found: &mut Vec<String>,
) {
    let has_keys_of = |other: &&Value| keys.names().all(|key| other.get(key) == item.get(key));
    let same = versions.map(|side| side?.items().iter().find(has_keys_of));
    let (Value::Mapping(fields), Some(_)) = (item, same[0]) else {
        return;
    };
    let is_key = |key: &Value| keys.names().any(|name| key.as_str() == Some(name));
    let (named, others): (Vec<_>, Vec<_>) =
        fields.iter().cloned().partition(|(key, _)| is_key(key));
    let named = named
        .iter()
        .map(|(key, value)| format!("{}={}", key.plain_text(), value.plain_text()));
    let path = format!("{path}[{}]", named.collect::<Vec<_>>().join(","));
    leaves(&Value::Mapping(others), same, rules.items(), &path, found);
}

/// Checks the other fields, each entry separately.
fn of_fields(
    file: &str,
    all: &Transformations,
    objects: &[BuiltObject<'_>],
    find: &mut impl FnMut(String, OverlayState, String),
) {
    for one in &all.0 {
        let place = format!("{file}: {}", one.place());
        let dead = one.without_subject(objects);
        let is_needless = || {
            let one = Transformations(vec![one.clone()]);
            let moved = one.moved(objects);
            let mut objects = objects.iter();
            objects.all(|object| one.changes(object, &moved).is_empty())
        };
        match dead {
            Some(message) => find(place, OverlayState::Dead, message),
            None if is_needless() => find(place, OverlayState::Needless, NEEDLESS.to_owned()),
            None => {}
        }
    }
}
