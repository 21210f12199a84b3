//! Finds the fields of a kustomization that replace many patches.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::built::{BuiltObject, field_at};
use super::transformations::{
    ImageChange, MovedObjects, Transformation, Transformations, images, is_scaled, replicas,
};
use krm_merge::repository;

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
    let made = Transformations(vec![Transformation::Namespace(only)]);
    let moved = made.moved(upstream);
    let is_kept = fork
        .iter()
        .all(|object| made.changes(object, &moved).is_empty());
    let mut built = upstream.to_vec();
    let is_applied = made.apply(&mut built).is_ok();
    let ids: HashSet<_> = built.iter().map(BuiltObject::id).collect();
    if is_applied && is_kept && ids.len() == built.len() {
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
    let mut found: BTreeMap<String, ImageChange> = BTreeMap::new();
    for (old, new) in pairs {
        let new: BTreeMap<_, _> = images(&new.value).into_iter().collect();
        for (place, image) in images(&old.value) {
            if let Some(other) = new.get(&place).filter(|other| **other != image) {
                let change = ImageChange::between(image, other);
                found.entry(change.name.clone()).or_insert(change);
            }
        }
    }
    let changed = found.into_values().map(Transformation::Image);
    let scaled = pairs.iter().filter_map(|(old, new)| {
        let count = replicas(new).filter(|count| replicas(old).as_ref() != Some(count))?;
        Some(Transformation::Replicas(new.name().to_owned(), count))
    });
    made.0.extend(labels(pairs, fork));
    let subjects = Subjects::of(pairs, fork);
    let mut counts: HashMap<String, Vec<Transformation>> = HashMap::new();
    for candidate in changed.chain(scaled) {
        let known = counts.entry(candidate.place()).or_default();
        if !known.contains(&candidate) && subjects.fit(&candidate, pairs, fork) {
            known.push(candidate.clone());
            made.0.push(candidate);
        }
    }
}

/// The resources that a candidate may change, by the name of an image or of a workload.
#[derive(Default)]
struct Subjects {
    of_image: HashMap<String, SubjectPlaces>,
    of_workload: HashMap<String, SubjectPlaces>,
}

/// Positions in the fork, and of pairs.
#[derive(Default)]
struct SubjectPlaces {
    fork: Vec<usize>,
    pairs: Vec<usize>,
}

impl Subjects {
    fn of(pairs: &[(&BuiltObject<'_>, &BuiltObject<'_>)], fork: &[BuiltObject<'_>]) -> Self {
        let mut found = Self::default();
        for (at, object) in fork.iter().enumerate() {
            found.add(object, |places| places.fork.push(at));
        }
        for (at, (old, _)) in pairs.iter().enumerate() {
            found.add(old, |places| places.pairs.push(at));
        }
        found
    }

    fn add(&mut self, object: &BuiltObject<'_>, add: impl Fn(&mut SubjectPlaces)) {
        let images = images(&object.value).into_iter();
        let names: HashSet<&str> = images.map(|(_, image)| repository(image)).collect();
        for name in names {
            add(self.of_image.entry(name.to_owned()).or_default());
        }
        if is_scaled(object) {
            add(self
                .of_workload
                .entry(object.name().to_owned())
                .or_default());
        }
    }

    /// Whether the fork has every value that the candidate sets in upstream, and the candidate changes nothing in the
    /// fork.
    fn fit(
        &self,
        candidate: &Transformation,
        pairs: &[(&BuiltObject<'_>, &BuiltObject<'_>)],
        fork: &[BuiltObject<'_>],
    ) -> bool {
        let places = match candidate {
            Transformation::Image(change) => self.of_image.get(&change.name),
            Transformation::Replicas(name, _) => self.of_workload.get(name),
            Transformation::Label(..) | Transformation::Namespace(_) => return false,
        };
        let Some(places) = places else { return true };
        let candidate = Transformations(vec![candidate.clone()]);
        let none = MovedObjects::default();
        let mut own = places.fork.iter().map(|at| &fork[*at]);
        let keeps = own.all(|object| candidate.changes(object, &none).is_empty());
        keeps
            && places.pairs.iter().all(|at| {
                let (old, new) = &pairs[*at];
                let changes = candidate.changes(old, &none);
                let mut changes = changes.iter();
                changes.all(|(path, value)| field_at(&new.value, path) == Some(value))
            })
    }
}

/// The labels that all resources of the fork have, and that at least two resources of upstream do not have.
fn labels(
    pairs: &[(&BuiltObject<'_>, &BuiltObject<'_>)],
    fork: &[BuiltObject<'_>],
) -> Vec<Transformation> {
    let of = |object: &BuiltObject<'_>| -> BTreeMap<String, String> {
        let labels = object.metadata("labels");
        labels
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
    let labels = common.into_iter();
    labels
        .map(|(key, value)| Transformation::Label(key, value))
        .collect()
}
