//! Compares two packages, resource by resource.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::author::Authors;
use super::change::ResourceChange;
use super::reviewed_pairs::{PairFindings, ReviewedPairs};
use super::row::{FieldChange, Row, Segment, leads_to, segments};
use super::rows::RULES;
use super::served::Release;
use super::units::{ClusterObject, Objects, object_key, without_lists};
use super::walk::{DiffWalk, DifferingPlace, given, path};
use super::{
    Author, Review, ReviewFinding, ReviewInput, Risk, UpstreamChange, references, reload,
    selectors, served, size,
};
use krm_core::resource::{LOCAL_CONFIG_ANNOTATION, Resource};
use krm_core::resource_key::{GivenName, ResourceKey};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{Marks, Reason};
use krm_core::schema::{Schema, TypeRef};
use krm_merge::package::{Members, same_document};
use krm_merge::resources::pair;
use krm_yaml::interner::matches;
use krm_yaml::{NodeRef, Path};

pub(super) fn review(
    packages: ReviewInput<'_>,
    schema: &Schema,
    release: Option<Release>,
    known: Option<&ReviewedPairs>,
) -> Review {
    let own = [packages.before, packages.after].map(without_lists);
    let upstream = packages.upstream.map(|of| {
        let made = [of.original, of.upstream].map(without_lists);
        (of, made)
    });
    let packages = ReviewInput {
        before: own[0].as_ref().unwrap_or(packages.before),
        after: own[1].as_ref().unwrap_or(packages.after),
        upstream: upstream.as_ref().map(|(of, made)| UpstreamChange {
            original: made[0].as_ref().unwrap_or(of.original),
            upstream: made[1].as_ref().unwrap_or(of.upstream),
        }),
    };
    let before = Objects::of(packages.before);
    let after = Objects::of(packages.after);
    let (pairs, not_reviewed) = pairs(packages);
    let mut comparison = Comparison {
        schema,
        known,
        before: &before,
        after: &after,
        rows: HashMap::new(),
        first: Vec::new(),
        review: Review::default(),
    };
    for pair in &pairs {
        comparison.pair(pair);
    }
    let mut review = comparison.review;
    comparison.first.reverse();
    review.findings.splice(0..0, comparison.first);
    let found = &mut review.findings;
    found.extend(not_reviewed.into_iter().map(not_reviewed_finding));
    references::dangling(&pairs, &before, &after, found);
    references::dangling_ports(&pairs, &after, found);
    references::dropped_versions(&pairs, &after, found);
    selectors::find(&pairs, &before, &after, found);
    reload::find(&pairs, &after, found);
    if let Some(release) = release {
        served::find(packages.after, release, found);
    }
    // The sort is stable: findings of the same risk keep the order of the package.
    found.sort_by_key(|finding| Reverse(finding.risk));
    review
}

fn not_reviewed_finding(resource: &Resource) -> ReviewFinding {
    let message = format!(
        "not reviewed, because of the annotation `{LOCAL_CONFIG_ANNOTATION}`; kubectl, Argo CD and Flux apply the {} \
         anyway",
        resource.kind
    );
    ReviewFinding::new(Risk::Notable, Reason::NotReviewed, resource, message)
}

/// The pairs of resources of both packages, and the changed resources that a cluster does not get according to their
/// annotation. Leaves out those that have the same text before and after.
fn pairs(packages: ReviewInput<'_>) -> (Vec<ResourceChange<'_>>, Vec<&Resource>) {
    let (old, new) = (
        Members::read(packages.before),
        Members::read(packages.after),
    );
    let authors = packages.upstream.map(|upstream| {
        (
            Authors::of(upstream, &old, packages.before),
            Authors::of(upstream, &new, packages.after),
        )
    });
    let (of_new, is_paired) = paired(packages, &old, &new);
    let (mut pairs, mut not_reviewed) = (Vec::new(), Vec::new());
    let mut add = |before: Option<usize>, after: Option<usize>| {
        let ids = (before.map(|at| old.ids[at]), after.map(|at| new.ids[at]));
        if let (Some(one), Some(other)) = ids
            && same_document((packages.before, one), (packages.after, other))
        {
            return;
        }
        let one = ids.0.and_then(|id| ClusterObject::of(packages.before, id));
        let other = ids.1.and_then(|id| ClusterObject::of(packages.after, id));
        let upstream = authors
            .as_ref()
            .and_then(|(of_old, of_new)| match (&other, &one) {
                (Some(_), _) => Some(of_new.find(after?)),
                (None, _) => Some(of_old.find(before?)),
            });
        if one.is_none() && other.is_none() {
            let after = ids.1.map(|id| packages.after.resource(id));
            let resource = after.or_else(|| Some(packages.before.resource(ids.0?)));
            not_reviewed.extend(resource.filter(|resource| !resource.is_for_tools()));
        } else {
            pairs.push(ResourceChange {
                before: one,
                after: other,
                upstream,
            });
        }
    };
    for (after, before) in of_new.iter().enumerate() {
        add(*before, Some(after));
    }
    for before in (0..old.ids.len()).filter(|at| !is_paired[*at]) {
        add(Some(before), None);
    }
    (pairs, not_reviewed)
}

/// For each resource after the change, the position of the same one before it; and which of those before are paired.
fn paired(
    packages: ReviewInput<'_>,
    old: &Members,
    new: &Members,
) -> (Vec<Option<usize>>, Vec<bool>) {
    let mut of_new = vec![None; new.ids.len()];
    let mut is_paired = vec![false; old.ids.len()];
    for (before, after) in pair(&old.source(packages.before), &new.source(packages.after)) {
        of_new[after] = Some(before);
        is_paired[before] = true;
    }
    // Pair several copies of one object in a file in their order.
    let key = |list: &ResourceList, id: ItemId| {
        let resource = list.resource(id);
        Some((object_key(resource)?, resource.origin.path.clone()))
    };
    let left = old.ids.iter().zip(&is_paired);
    let left = left.map(|(id, is_paired)| key(packages.before, *id).filter(|_| !is_paired));
    let news = new.ids.iter().zip(&of_new);
    let news = news.map(|(id, old)| key(packages.after, *id).filter(|_| old.is_none()));
    for (after, before) in matches(left.collect::<Vec<_>>(), news)
        .into_iter()
        .enumerate()
    {
        if let Some(before) = before {
            of_new[after] = Some(before);
            is_paired[before] = true;
        }
    }
    (of_new, is_paired)
}

/// The rows for a kind, each with its path parsed for the kind.
type RowsOfKind = Vec<(&'static Row, Vec<Segment>)>;

struct Comparison<'c, 'l> {
    schema: &'l Schema,
    known: Option<&'c ReviewedPairs>,
    before: &'c Objects<'l>,
    after: &'c Objects<'l>,
    rows: HashMap<String, RowsOfKind>,
    /// The deletions that are put before the other findings of their risk, the last one found first.
    first: Vec<ReviewFinding>,
    review: Review,
}

impl<'l> Comparison<'_, 'l> {
    fn pair(&mut self, pair: &ResourceChange<'l>) {
        let Some(unit) = pair.unit() else { return };
        let key = ResourceKey::in_cluster(unit.resource);
        match key.name {
            GivenName::Name(_) => self.named(pair, &key),
            GivenName::Generated(_) => self.generated(pair, &key),
            GivenName::None => self.unnamed(pair, &key),
        }
    }

    fn named(&mut self, pair: &ResourceChange<'l>, key: &ResourceKey) {
        let Some(after) = &pair.after else {
            return self.removed(pair, key);
        };
        let before = pair.before.as_ref();
        let before_key = before.and_then(|unit| object_key(unit.resource));
        match &before_key {
            // Another copy of an object that the package had before.
            None if self.before.has(key) => return self.count(pair),
            None => {
                self.added(pair, after.resource);
                // What a resource without a name or with a `generateName` made was another object, if any.
                let pair = ResourceChange {
                    before: None,
                    ..*pair
                };
                return self.contents(&pair, after, key, false);
            }
            Some(old) if old != key => self.renamed(pair, old, key),
            Some(_) => {}
        }
        self.contents(pair, after, key, before_key.as_ref() == Some(key));
    }

    /// A resource without a name, which an API server refuses. One whose name is not a string is looked at all the same:
    /// programs that read YAML 1.2, such as kustomize, take the name `n` for a string.
    fn unnamed(&mut self, pair: &ResourceChange<'l>, key: &ResourceKey) {
        let named = pair.after.as_ref().filter(|after| {
            let mut names = ["name", "generateName"].into_iter();
            names.any(|name| given(after.node.get_path(&["metadata", name])).is_some())
        });
        let Some(after) = named else {
            return self.count(pair);
        };
        let before = pair.before.as_ref();
        if before.is_none() {
            self.added(pair, after.resource);
        }
        let object_remains = before.is_some_and(|unit| object_key(unit.resource).is_none());
        self.fields(pair, &key.group_kind(), object_remains);
    }

    /// The size and the fields of a resource. Where a review before found it, it is not looked for again.
    fn contents(
        &mut self,
        pair: &ResourceChange<'l>,
        after: &ClusterObject<'l>,
        key: &ResourceKey,
        object_remains: bool,
    ) {
        let resource = after.resource;
        let schema = self.schema.resource(&resource.api_version, &resource.kind);
        let is_own = schema.is_some_and(|schema| !schema.is_builtin());
        let known = self.known.filter(|_| !is_own);
        let known = known
            .and_then(|known| Some((known, known.key(pair, object_remains, schema.is_some())?)));
        if let Some((known, texts)) = &known
            && let Some(PairFindings { findings, routine }) = known.get(texts)
        {
            let findings = findings.into_iter();
            // It may be in another place.
            self.review.findings.extend(findings.map(|finding| {
                let resource = Some(resource.clone());
                ReviewFinding {
                    resource,
                    ..finding
                }
            }));
            if routine > 0 {
                *self.review.routine.entry(None).or_default() += routine;
            }
            return;
        }
        let first = self.review.findings.len();
        let routine = |review: &Review| review.routine.get(&None).copied().unwrap_or_default();
        let counted = routine(&self.review);
        self.size(pair, after);
        self.fields(pair, &key.group_kind(), object_remains);
        if let Some((known, texts)) = known {
            let findings = PairFindings {
                findings: self.review.findings[first..].to_vec(),
                routine: routine(&self.review) - counted,
            };
            known.insert(texts, findings);
        }
    }

    /// A resource with a `generateName`: each time that it is applied, an API server makes another object. Its objects stay
    /// where the resource goes.
    fn generated(&mut self, pair: &ResourceChange<'l>, key: &ResourceKey) {
        match (&pair.before, &pair.after) {
            (_, None) => return self.count(pair),
            (None, Some(after)) => self.added(pair, after.resource),
            (Some(_), Some(_)) => {}
        }
        self.fields(pair, &key.group_kind(), false);
    }

    fn size(&mut self, pair: &ResourceChange<'l>, after: &ClusterObject<'l>) {
        let before = pair.before.as_ref().map(|unit| unit.node);
        let found = size::too_large(after.resource, before, after.node);
        let found = found.map(|finding| finding.by(pair.author()));
        self.review.findings.extend(found);
    }

    fn added(&mut self, pair: &ResourceChange<'l>, resource: &Resource) {
        let message = format!("the {} is new", resource.kind);
        let finding = ReviewFinding::new(Risk::Notable, Reason::ResourceAdded, resource, message);
        self.review.findings.push(finding.by(pair.author()));
    }

    fn removed(&mut self, pair: &ResourceChange<'l>, key: &ResourceKey) {
        let Some(unit) = &pair.before else { return };
        if self.after.has(key) {
            return self.count(pair);
        }
        let with = match &*unit.resource.kind {
            "Namespace" => ", with everything in it",
            "CustomResourceDefinition" => ", with all its objects",
            "PersistentVolumeClaim" | "PersistentVolume" => ", perhaps with its data",
            "StatefulSet" => "; its claims stay",
            _ => "",
        };
        let (reason, message) = match &*unit.resource.kind {
            "NetworkPolicy" => (
                Reason::NetworkOpened,
                "the NetworkPolicy is deleted: its pods may accept any traffic".to_owned(),
            ),
            kind => (
                Reason::ResourceRemoved,
                format!("the {kind} is deleted{with}"),
            ),
        };
        let finding = unit.finding(Risk::Dangerous, reason, message);
        // Deletions with consequences for other objects or for data are put first.
        let findings = match with {
            "" => &mut self.review.findings,
            _ => &mut self.first,
        };
        findings.push(finding.by(pair.author()));
    }

    fn renamed(&mut self, pair: &ResourceChange<'l>, old: &ResourceKey, new: &ResourceKey) {
        let (Some(before), Some(after)) = (&pair.before, &pair.after) else {
            return;
        };
        let (field, place) = if old.group != new.group {
            ("apiVersion", "API group")
        } else if old.name == new.name {
            ("namespace", "namespace")
        } else {
            ("name", "name")
        };
        let namespaces = [&old.namespace, &new.namespace];
        let may_stay = old.group == new.group
            && old.name == new.name
            && namespaces.iter().any(|name| name.is_none());
        let risk = if may_stay {
            Risk::Notable
        } else {
            Risk::Dangerous
        };
        let message = if !may_stay {
            let kind = &after.resource.kind;
            format!("the {kind} is deleted and created again under another {place}")
        } else if old.namespace.is_none() {
            "the resource now names a namespace: if it was applied to a different one, this creates a second object".to_owned()
        } else {
            "the resource no longer names a namespace: if it is applied to a different one, this creates a second object".to_owned()
        };
        let finding = ReviewFinding::new(risk, Reason::ResourceRenamed, after.resource, message);
        let path = match field {
            "apiVersion" => &["apiVersion"][..],
            _ => &["metadata", field],
        };
        let finding = finding.at(Path::fields(path)).with_values(
            before.node.get_path(path),
            after.node.get_path(path),
            &Marks::default(),
        );
        self.review
            .findings
            .push(finding.by(pair.upstream.map(|_| Author::Local)));
    }

    /// Counts the whole change of a resource as one routine change.
    fn count(&mut self, pair: &ResourceChange<'_>) {
        *self.review.routine.entry(pair.author()).or_default() += 1;
    }

    fn fields(&mut self, pair: &ResourceChange<'l>, kind: &str, object_remains: bool) {
        let Some(after) = &pair.after else { return };
        let sides = [pair.before.as_ref().map(|unit| unit.node), Some(after.node)];
        if let [Some(before), Some(after)] = sides
            && before.equals(&after)
        {
            return;
        }
        let resource = after.resource;
        let schema = self.schema.resource(&resource.api_version, &resource.kind);
        let is_custom = !schema.is_some_and(|schema| schema.is_builtin());
        let rows = self.rows.entry(kind.to_owned());
        let rows = rows.or_insert_with_key(|kind| rows_of(kind, is_custom));
        let mut fields = FieldReview {
            pair,
            roots: sides,
            object_remains,
            rows,
            schema,
            review: &mut self.review,
            marks: Marks::default(),
        };
        let mut walk = DiffWalk {
            visit: &mut |place, is_found| fields.visit(place, is_found),
            steps: Vec::new(),
        };
        let is_new = sides[0].is_none();
        walk.value(sides, schema, !is_new, is_new);
    }
}

/// The rows for a kind. A row for `*` applies to all kinds that the built-in schema lacks.
fn rows_of(kind: &str, is_custom: bool) -> RowsOfKind {
    let rows = RULES.iter().filter(|row| {
        let has = |name: &str| row.kinds.contains(&name);
        row.kinds.is_empty() || has(kind) || has("*") && is_custom
    });
    rows.filter_map(|row| Some((row, segments(row.path, kind)?)))
        .collect()
}

/// Applies the rows to the fields of a resource.
struct FieldReview<'f, 'l> {
    pair: &'f ResourceChange<'l>,
    roots: [Option<NodeRef<'l>>; 2],
    object_remains: bool,
    rows: &'f RowsOfKind,
    schema: Option<TypeRef<'l>>,
    review: &'f mut Review,
    marks: Marks,
}

impl<'l> FieldReview<'_, 'l> {
    fn author(&self, place: &DifferingPlace<'_, 'l>) -> Option<Author> {
        let upstream = self.pair.upstream?;
        Some(upstream.of_field(place.steps, self.roots[1], self.schema))
    }

    /// Applies the rows to a place. Returns whether a finding there shows what the change is.
    fn visit(&mut self, place: &DifferingPlace<'_, 'l>, is_found: bool) -> bool {
        let mut is_here = false;
        for (row, segments) in self.rows {
            if !leads_to(segments, place.steps) {
                continue;
            }
            let change = FieldChange {
                roots: self.roots,
                place,
                object_remains: self.object_remains,
            };
            let Some(unit) = self.pair.unit() else {
                continue;
            };
            for found in row.findings(&change) {
                is_here |= found.is_whole;
                let finding = unit.finding(row.risk, row.reason, found.message);
                let below = found.below.into_iter();
                let field = below.fold(path(place.steps), |path, step| path.child(step));
                let finding = finding.at(field).by(self.author(place));
                self.review.findings.push(match found.values {
                    Some([before, after]) => finding.with_values(before, after, &self.marks),
                    None => finding,
                });
            }
        }
        if place.is_leaf && !is_found && !is_here {
            *self.review.routine.entry(self.author(place)).or_default() += 1;
        }
        is_here
    }
}
