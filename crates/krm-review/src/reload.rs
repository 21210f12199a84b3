//! ConfigMaps and Secrets that change while pods that read them only at startup keep running.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::change::ResourceChange;
use super::find::each;
use super::references::{REFERENCES, Reference};
use super::row::{Segment, pod_path, segments};
use super::units::{ClusterObject, Objects, may_be_one, object_key};
use super::walk::{given, text};
use super::{ReviewFinding, Risk};
use krm_core::resource_key::ResourceKey;
use krm_core::results::Reason;
use krm_yaml::{NodeRef, Path};

/// Reports each ConfigMap and Secret with changed data, if pods that are not replaced read it only at startup.
pub(super) fn find(
    pairs: &[ResourceChange<'_>],
    after: &Objects<'_>,
    found: &mut Vec<ReviewFinding>,
) {
    let changed: Vec<(&ResourceChange<'_>, ResourceKey, &str)> =
        pairs.iter().filter_map(changed_data).collect();
    if changed.is_empty() {
        return;
    }
    // The pods of these workloads are replaced, so they read the new data.
    let restarted: HashSet<ResourceKey> = pairs.iter().filter_map(restarted).collect();
    let workloads = after.of_kinds(|kind| pod_path(kind).is_some());
    let mut readers_of: HashMap<(&str, &str), Vec<(usize, ResourceKey)>> = HashMap::new();
    for (at, workload) in workloads.iter().enumerate() {
        let own = object_key(workload.resource).filter(|own| !restarted.contains(own));
        let Some(own) = own else { continue };
        for named in read_once(workload, &own) {
            readers_of.entry(named).or_default().push((at, own.clone()));
        }
    }
    for (pair, key, field) in changed {
        let Some(unit) = &pair.after else { continue };
        let readers = readers_of.get(&(&*key.kind, key.name.text()));
        let readers = readers
            .into_iter()
            .flatten()
            .filter(|(_, own)| may_be_one(own.namespace.as_deref(), key.namespace.as_deref()));
        let readers: Vec<String> = readers
            .map(|(at, _)| {
                let unit = &workloads[*at];
                let name = unit.resource.name.as_deref().unwrap_or_default();
                format!("{}/{name}", unit.resource.kind)
            })
            .collect();
        if readers.is_empty() {
            continue;
        }
        let message = format!(
            "running pods keep the old values until they restart: {}",
            readers.join(", ")
        );
        let finding = unit.finding(Risk::Notable, Reason::ConfigNotReloaded, message);
        let by = pair.upstream.map(|upstream| {
            let steps = [super::walk::PathStep::Field(field)];
            upstream.of_field(&steps, Some(unit.node), None)
        });
        found.push(finding.at(Path::fields(&[field])).by(by));
    }
}

/// A ConfigMap or Secret with other data, its key, and the first field that changes.
fn changed_data<'p, 'l>(
    pair: &'p ResourceChange<'l>,
) -> Option<(&'p ResourceChange<'l>, ResourceKey, &'static str)> {
    let (before, after) = (pair.before.as_ref()?, pair.after.as_ref()?);
    let key = object_key(after.resource)?;
    if !key.group.is_empty() || !matches!(&*key.kind, "ConfigMap" | "Secret") {
        return None;
    }
    let differs = |field: &str| {
        let [before, after] = [before.node, after.node].map(|node| given(node.get(field)));
        !NodeRef::same(before, after)
    };
    let mut fields = ["data", "stringData", "binaryData"].into_iter();
    let field = fields.find(|field| differs(field))?;
    Some((pair, key, field))
}

/// The key of a workload whose pods are replaced, because its pod template changes.
fn restarted(pair: &ResourceChange<'_>) -> Option<ResourceKey> {
    let after = pair.after.as_ref()?;
    let key = object_key(after.resource)?;
    let (_, above) = pod_path(&key.group_kind())?.split_last()?;
    let template =
        |unit: &ClusterObject<'_>| unit.node.get_path(above).and_then(|node| node.value());
    let before = pair.before.as_ref().map(template);
    (before != Some(template(after))).then_some(key)
}

/// The ConfigMaps and Secrets that the pods of a workload read only when they start: their kinds and names.
fn read_once<'l>(
    workload: &ClusterObject<'l>,
    own: &ResourceKey,
) -> BTreeSet<(&'static str, &'l str)> {
    let kind = own.group_kind();
    let mut found = BTreeSet::new();
    let at = |path| -> Vec<Segment> { segments(path, &kind).unwrap_or_default() };
    // A container reads its environment only at startup.
    let is_read_once = |one: &&Reference| one.path.contains("{containers}[].env");
    for reference in REFERENCES.iter().filter(is_read_once) {
        each(workload.node, &at(reference.path), &mut |node| {
            found.extend(text(node.get(reference.name)).map(|name| (reference.to, name)));
        });
    }
    // A file that is mounted with `subPath` is not updated in a running container.
    let mut mounted: HashSet<Option<&str>> = HashSet::new();
    each(
        workload.node,
        &at("{pod}.{containers}[].volumeMounts[]"),
        &mut |mount| {
            if text(mount.get("subPath")).is_some() {
                mounted.insert(text(mount.get("name")));
            }
        },
    );
    each(workload.node, &at("{pod}.volumes[]"), &mut |volume| {
        if !mounted.contains(&text(volume.get("name"))) {
            return;
        }
        let sources = [
            ("Secret", ["secret", "secretName"]),
            ("ConfigMap", ["configMap", "name"]),
        ];
        for (kind, path) in sources {
            found.extend(text(volume.get_path(&path)).map(|name| (kind, name)));
        }
    });
    found
}
