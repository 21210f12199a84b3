//! Finds the fields of a kustomization that replace many patches.

use std::collections::{BTreeMap, HashSet};

use super::built::BuiltObject;
use super::transformations::{ImageChange, Transformations, field_at, images, replicas};
use crate::yaml::Value;

/// The transformation to the namespace that all resources of the fork have, if some resource of upstream has another
/// one. Empty if it would change the fork or make two resources the same.
pub(super) fn namespace(upstream: &[BuiltObject<'_>], fork: &[BuiltObject<'_>]) -> Transformations {
    let namespace = |object: &BuiltObject<'_>| object.text(&["metadata", "namespace"]).to_owned();
    let namespaced = |object: &&BuiltObject<'_>| !object.is_cluster_scoped();
    let found: HashSet<String> = fork.iter().filter(namespaced).map(namespace).collect();
    let mut found = found.into_iter();
    let (Some(only), None) = (found.next().filter(|name| !name.is_empty()), found.next()) else {
        return Transformations::default();
    };
    let changed = upstream
        .iter()
        .filter(namespaced)
        .filter(|object| namespace(object) != only);
    if changed.count() == 0 {
        return Transformations::default();
    }
    let made = Transformations {
        namespace: Some(only),
        ..Transformations::default()
    };
    let moved = made.moved(upstream);
    let is_kept = fork
        .iter()
        .all(|object| made.changes(object, &moved).is_empty());
    let mut built = upstream.to_vec();
    made.apply(&mut built);
    let ids: HashSet<_> = built.iter().map(BuiltObject::id).collect();
    if is_kept && ids.len() == built.len() {
        made
    } else {
        Transformations::default()
    }
}

/// Adds labels, images and replicas, each only if the fork agrees with it in all resources.
pub(super) fn explain(
    made: &mut Transformations,
    pairs: &[(&BuiltObject<'_>, &BuiltObject<'_>)],
    fork: &[BuiltObject<'_>],
) {
    made.labels = labels(pairs, fork);
    let mut found: BTreeMap<String, ImageChange> = BTreeMap::new();
    for (old, new) in pairs {
        let new: BTreeMap<_, _> = images(&new.value).into_iter().collect();
        for (place, image) in images(&old.value) {
            if let Some(other) = new.get(&place).filter(|other| **other != image) {
                let change = ImageChange::between(&image, other);
                found.entry(change.name.clone()).or_insert(change);
            }
        }
    }
    let candidates = found.into_values().map(|image| Transformations {
        images: vec![image],
        ..Transformations::default()
    });
    for candidate in candidates.collect::<Vec<_>>() {
        if fits(&candidate, pairs, fork) {
            made.images.extend(candidate.images);
        }
    }
    for (old, new) in pairs {
        let (before, after) = (replicas(old), replicas(new));
        if let Some(count) = after.filter(|after| before.as_ref() != Some(after)) {
            let name = new.text(&["metadata", "name"]).to_owned();
            let candidate = Transformations {
                replicas: vec![(name, count)],
                ..Transformations::default()
            };
            if !made.replicas.contains(&candidate.replicas[0]) && fits(&candidate, pairs, fork) {
                made.replicas.extend(candidate.replicas);
            }
        }
    }
}

/// Whether the fork has every value that the candidate sets in upstream, and the candidate changes nothing in the fork.
fn fits(
    candidate: &Transformations,
    pairs: &[(&BuiltObject<'_>, &BuiltObject<'_>)],
    fork: &[BuiltObject<'_>],
) -> bool {
    let keeps = fork
        .iter()
        .all(|object| candidate.changes(object, &[]).is_empty());
    keeps
        && pairs.iter().all(|(old, new)| {
            let changes = candidate.changes(old, &[]);
            changes
                .iter()
                .all(|(path, value)| field_at(&new.value, path) == Some(value))
        })
}

/// The labels that all resources of the fork have, and that at least two resources of upstream do not have.
fn labels(
    pairs: &[(&BuiltObject<'_>, &BuiltObject<'_>)],
    fork: &[BuiltObject<'_>],
) -> Vec<(String, String)> {
    let of = |object: &BuiltObject<'_>| -> BTreeMap<String, String> {
        let labels = object.value.get_path(&["metadata", "labels"]);
        let texts = labels
            .map_or(&[][..], Value::entries)
            .iter()
            .filter_map(|(key, value)| Some((key.as_str()?, value.as_str()?)));
        texts
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    };
    let Some((first, others)) = fork.split_first() else {
        return Vec::new();
    };
    let others: Vec<_> = others.iter().map(of).collect();
    let before: Vec<_> = pairs.iter().map(|(old, _)| of(old)).collect();
    let mut common = of(first);
    common.retain(|key, value| {
        let lacks = |labels: &BTreeMap<String, String>| labels.get(key) != Some(value);
        !others.iter().any(lacks) && before.iter().filter(|labels| lacks(labels)).count() >= 2
    });
    common.into_iter().collect()
}
