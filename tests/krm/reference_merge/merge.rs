//! A second merge, from the contract alone: plain values, no bytes, no speed. It shares nothing with
//! `src/merge` and must not, or it could not judge it.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::Path;

use super::elements::{self, Reading};
use super::identity::{
    are_functions, find, function_id, function_identity, identity, ids, is_prepended, numbered,
    relocated, replaced,
};
use super::lists::{Relation, exclusive, has_atomic_elements, relation};
use super::order::order;
use super::plain::Plain;
use super::texts;

/// A conflict: the path of a field, or of a list whose order both sides changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Conflict {
    Value(String),
    Order(String),
}

/// A place of a resource, for results and for the table of lists.
#[derive(Debug, Clone)]
struct Place {
    path: Path,
    fields: Vec<String>,
    is_element: bool,
}

impl Place {
    fn field(&self, name: &str) -> Self {
        let mut fields = self.fields.clone();
        fields.push(name.to_owned());
        Self {
            path: self.path.clone().field(name),
            fields,
            is_element: false,
        }
    }

    fn element(&self, index: usize) -> Self {
        Self {
            path: self.path.clone().index(index),
            fields: self.fields.clone(),
            is_element: true,
        }
    }
}

/// One thing in three versions.
pub(super) type Versions<'v> = [Option<&'v Plain>; 3];

/// The elements of a list in one version: what tells them apart, in order.
pub(super) type Elements<'v> = Vec<(String, &'v Plain)>;

pub(super) struct Merge<'k> {
    pub(super) kind: &'k str,
    pub(super) upstream_wins: bool,
    pub(super) conflicts: BTreeSet<Conflict>,
    /// Whether the contract leaves the order of some elements open.
    pub(super) is_loose: bool,
    /// How the elements of a list without keys are read, if not by the words of the contract.
    pub(super) readings: BTreeMap<String, Reading>,
    /// The lists of which there are other readings.
    pub(super) open: BTreeMap<String, Vec<Reading>>,
    /// Whether a map around was removed, and that won.
    pub(super) is_removed: bool,
    /// Where a run of a list begins in local and in upstream.
    pub(super) offset: [usize; 2],
}

/// Who stands, where that needs no winner.
fn settled<T: PartialEq + Copy>([base, local, upstream]: [T; 3]) -> Option<T> {
    if local == upstream || base == upstream {
        Some(local)
    } else if base == local {
        Some(upstream)
    } else {
        None
    }
}

/// Three versions of one image, and whether both sides changed a part of it; `None` for other texts.
fn image(texts: [&str; 3], upstream_wins: bool) -> Option<(String, bool)> {
    let parts = |text: &'_ str| -> Option<[String; 4]> {
        let start = text.rfind('=').map_or(0, |at| at + 1);
        let (before, reference) = text.split_at(start);
        let digest = reference.find('@').unwrap_or(reference.len());
        let tag = reference[..digest]
            .rfind(':')
            .filter(|at| !reference[*at..].contains('/'));
        let (repository, version) = reference.split_at(tag.unwrap_or(digest));
        let is_char = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "./_-:".contains(c);
        let is_repository = !repository.is_empty() && repository.chars().all(is_char);
        let last = repository.rsplit('/').next().unwrap_or_default();
        let texts = [before, repository, version, last].map(str::to_owned);
        is_repository.then_some(texts)
    };
    let [base, local, upstream] = texts.map(parts);
    let versions = [base?, local?, upstream?];
    let of = |part: usize| versions.each_ref().map(|version| version[part].as_str());
    let is_one = |part: usize| of(part).iter().all(|other| *other == versions[0][part]);
    if !is_one(0) || !is_one(3) {
        return None;
    }
    let stands = |part: usize| {
        let [_, local, upstream] = of(part);
        settled(of(part)).map_or(
            (if upstream_wins { upstream } else { local }, true),
            |side| (side, false),
        )
    };
    let ((repository, one), (version, other)) = (stands(1), stands(2));
    Some((
        format!("{}{repository}{version}", versions[0][0]),
        one || other,
    ))
}

impl Merge<'_> {
    /// A whole resource.
    pub(super) fn resource(&mut self, versions: Versions<'_>) -> Option<Plain> {
        let [base, local, upstream] = versions;
        if let Some(settled) = settled(versions) {
            return settled.cloned();
        }
        let (Some(ours), Some(theirs)) = (local, upstream) else {
            // Deleted here: stays deleted, a decision. Deleted there and changed here: kept.
            if local.is_some() {
                self.conflicts.insert(Conflict::Value(String::new()));
            }
            return local.cloned();
        };
        let root = Place {
            path: Path::root(),
            fields: Vec::new(),
            is_element: false,
        };
        self.value(&root, [base, Some(ours), Some(theirs)])
    }

    fn value(&mut self, at: &Place, versions: Versions<'_>) -> Option<Plain> {
        if let Some(settled) = settled(versions) {
            return settled.cloned();
        }
        let [base, local, upstream] = versions;
        // An absent map or list had entries only if base has them.
        let all = |is: fn(&Plain) -> bool| {
            let side = |value: Option<&Plain>| value.map_or_else(|| base.is_some_and(is), is);
            side(local) && side(upstream)
        };
        let relation = relation(self.kind, &at.fields);
        match relation {
            Relation::Atomic => self.whole(at, versions),
            _ if all(Plain::is_map) => self.map_or_nothing(at, versions),
            Relation::Plain
                if versions[1..]
                    .iter()
                    .flatten()
                    .filter(|list| list.is_list())
                    .count()
                    == 2 =>
            {
                self.keyless(at, versions)
            }
            Relation::Plain => self.whole(at, versions),
            _ if !all(Plain::is_list) => self.whole(at, versions),
            Relation::Set => self.set(at, versions),
            Relation::Keyed(keys) => {
                let id = |element: &Plain| identity(keys, element);
                self.list(at, versions, &id)
            }
            Relation::Functions => match function_identity(versions) {
                Some(by_name) => self.list(at, versions, &|f| function_id(f, Some(by_name))),
                None if are_functions(versions) => self.functions_as_one(at, versions),
                None => self.whole(at, versions),
            },
        }
    }

    /// Texts of several lines: documents by their fields, others by lines; `None` for anything else.
    fn text(&mut self, at: &Place, versions: Versions<'_>) -> Option<Plain> {
        let [base, local, upstream] = versions.map(|value| value?.text());
        let (local, upstream) = (local?, upstream?);
        let given = [base, Some(local), Some(upstream)];
        let documents = given.map(|text| text.map(texts::document));
        if documents.iter().flatten().all(Option::is_some) {
            let documents = documents.map(Option::flatten);
            return Some(self.document(at, documents.each_ref().map(Option::as_ref)));
        }
        if !texts::has_lines(local) || !texts::has_lines(upstream) {
            return None;
        }
        let lines = [base.unwrap_or_default(), local, upstream];
        let (text, is_conflict) = texts::by_lines(lines, self.upstream_wins);
        if is_conflict {
            self.conflict(at);
        }
        Some(Plain::Text(text))
    }

    /// Documents merge as what no schema knows. Their conflicts are those of the text.
    fn document(&mut self, at: &Place, versions: Versions<'_>) -> Plain {
        let outer = std::mem::take(&mut self.conflicts);
        let kind = std::mem::take(&mut self.kind);
        let merged = self.value(&at.field("within"), versions);
        self.kind = kind;
        let path = at.path.to_string();
        let inner = std::mem::replace(&mut self.conflicts, outer).into_iter();
        self.conflicts.extend(inner.map(|conflict| match conflict {
            Conflict::Value(_) => Conflict::Value(path.clone()),
            Conflict::Order(_) => Conflict::Order(path.clone()),
        }));
        let merged = merged.unwrap_or_else(|| Plain::Map(Vec::new()));
        Plain::Map(vec![("a document".to_owned(), merged)])
    }

    /// One value: both changed it, the winner's is kept.
    fn whole(&mut self, at: &Place, versions: Versions<'_>) -> Option<Plain> {
        if let [Some(base), Some(ours), Some(theirs)] = versions.map(|value| value?.text())
            && let Some((text, is_conflict)) = image([base, ours, theirs], self.upstream_wins)
        {
            if is_conflict {
                self.conflict(at);
            }
            return Some(Plain::Text(text));
        }
        if let Some(text) = self.text(at, versions) {
            return Some(text);
        }
        self.winners(at, versions)
    }

    fn winners(&mut self, at: &Place, [_, local, upstream]: Versions<'_>) -> Option<Plain> {
        self.conflict(at);
        if self.upstream_wins { upstream } else { local }.cloned()
    }

    /// A map that one side took away and the other changed something in is one value, but for what was merely added.
    fn map_or_nothing(&mut self, at: &Place, versions: Versions<'_>) -> Option<Plain> {
        let [base, local, upstream] = versions;
        let is_one = match (base, local.xor(upstream)) {
            (Some(base), Some(kept)) => !self.is_removed && self.has_another_value(at, base, kept),
            _ => false,
        };
        if !is_one {
            return self.map(at, versions);
        }
        self.conflict(at);
        let stands = if self.upstream_wins { upstream } else { local };
        if stands.is_some() {
            return stands.cloned();
        }
        self.is_removed = true;
        let merged = self.map(at, versions);
        self.is_removed = false;
        merged
    }

    /// Whether a value of base is another one now, apart from what was added or taken away.
    fn has_another_value(&self, at: &Place, base: &Plain, kept: &Plain) -> bool {
        match relation(self.kind, &at.fields) {
            Relation::Atomic => base != kept,
            _ if base.is_map() && kept.is_map() => base.entries().iter().any(|(name, old)| {
                let new = kept.get(name);
                new.is_some_and(|new| self.has_another_value(&at.field(name), old, new))
            }),
            Relation::Set | Relation::Keyed(_) | Relation::Functions
                if base.is_list() && kept.is_list() =>
            {
                let lacks = |one: &Plain, other: &Plain| {
                    let mut elements = one.elements().iter();
                    elements.any(|element| !other.elements().contains(element))
                };
                lacks(base, kept) && lacks(kept, base)
            }
            _ => base != kept,
        }
    }

    fn map(&mut self, at: &Place, versions: Versions<'_>) -> Option<Plain> {
        let mut names: Vec<&String> = Vec::new();
        for (name, _) in versions.iter().flatten().flat_map(|map| map.entries()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut entries = Vec::new();
        for group in exclusive(self.kind, &at.fields, at.is_element) {
            let of_group: Vec<&String> = names.iter().copied().filter(|n| group.has(n)).collect();
            if let Some(stands) = self.alternatives(at, versions, &of_group) {
                names.retain(|name| !group.has(name));
                entries.extend(stands);
            }
        }
        for name in names {
            let child = versions.map(|map| map.and_then(|map| map.get(name)));
            let below = at.field(name);
            self.added_to_removed(&below, versions, child);
            entries.extend(self.value(&below, child).map(|value| (name.clone(), value)));
        }
        let sources = versions.map(|map| {
            let entries = map.map(Plain::entries).unwrap_or_default().iter();
            entries.map(|(name, value)| (name.clone(), value)).collect()
        });
        // Maps with other orders of keys are equal: their order is no conflict.
        let entries = self.in_order(&sources, entries).0;
        self.container(at, versions, Plain::Map(entries))
    }

    /// Fields that exclude each other are one value where the sides have different ones.
    fn alternatives(
        &mut self,
        at: &Place,
        versions: Versions<'_>,
        names: &[&String],
    ) -> Option<Vec<(String, Plain)>> {
        let values = versions.map(|map| {
            let entries = map.map(Plain::entries).unwrap_or_default().iter();
            let own = entries.filter(|(name, _)| names.contains(&name));
            own.cloned().collect::<Vec<_>>()
        });
        let set = |entries: &[(String, Plain)]| {
            let set = entries.iter().filter(|(_, value)| *value != Plain::Null);
            set.cloned().collect::<Vec<_>>()
        };
        let [base, local, upstream] = values.each_ref().map(|entries| Plain::Map(set(entries)));
        let keys = |value: &Plain| {
            value
                .entries()
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<BTreeSet<_>>()
        };
        let are_alternatives = match (local.is_empty(), upstream.is_empty()) {
            (false, false) => keys(&local) != keys(&upstream),
            (true, false) => !base.is_empty() && keys(&upstream) != keys(&base),
            (false, true) => !base.is_empty() && keys(&local) != keys(&base),
            (true, true) => false,
        };
        if !are_alternatives {
            return None;
        }
        let stands = settled([&base, &local, &upstream]).unwrap_or_else(|| {
            let first = local.entries().first().or(upstream.entries().first());
            if let Some((first, _)) = first {
                self.conflict(&at.field(first));
            }
            if self.upstream_wins {
                &upstream
            } else {
                &local
            }
        });
        let [_, ours, theirs] = values;
        Some(if std::ptr::eq(stands, &raw const local) {
            ours
        } else {
            theirs
        })
    }

    /// What one side adds to a map or list that the other removed stays, with a conflict.
    fn added_to_removed(
        &mut self,
        at: &Place,
        [_, local, upstream]: Versions<'_>,
        [base, ours, theirs]: Versions<'_>,
    ) {
        let is_removed = local.is_none() || upstream.is_none();
        if is_removed && base.is_none() && (ours.is_some() || theirs.is_some()) {
            self.conflicts.insert(Conflict::Value(at.path.to_string()));
        }
    }

    /// A map or list that has lost all it had goes, but for an explicit empty one of who stands.
    fn container(&mut self, at: &Place, versions: Versions<'_>, merged: Plain) -> Option<Plain> {
        if !merged.is_empty() || at.fields.is_empty() {
            return Some(merged);
        }
        let state = versions.map(|value| value.map(Plain::is_empty));
        let stands = settled(state).unwrap_or_else(|| {
            self.conflict(at);
            if self.upstream_wins {
                state[2]
            } else {
                state[1]
            }
        });
        (stands == Some(true)).then_some(merged)
    }

    fn conflict(&mut self, at: &Place) {
        if self.is_removed {
            return;
        }
        self.conflicts.insert(Conflict::Value(at.path.to_string()));
    }

    fn set(&mut self, at: &Place, versions: Versions<'_>) -> Option<Plain> {
        let sources = versions.map(|list| numbered(list, &|element| element.to_string()));
        let mut kept = Vec::new();
        for id in ids(&sources) {
            let has = sources.each_ref().map(|source| find(source, &id).is_some());
            let of = |source: &Elements<'_>| source.iter().position(|(other, _)| *other == id);
            let index = of(&sources[1]).or(of(&sources[2])).unwrap_or_default();
            let child = sources.each_ref().map(|source| find(source, &id));
            self.added_to_removed(&at.element(index), versions, child);
            if settled(has).unwrap_or_default() {
                kept.push((
                    id.clone(),
                    child
                        .into_iter()
                        .flatten()
                        .next()
                        .expect("a source")
                        .clone(),
                ));
            }
        }
        self.ordered_list(at, versions, &sources, kept)
    }

    fn list(
        &mut self,
        at: &Place,
        versions: Versions<'_>,
        id: &dyn Fn(&Plain) -> String,
    ) -> Option<Plain> {
        let mut sources = versions.map(|list| numbered(list, id));
        // Duplicates are matched by position, and nothing else.
        if sources.iter().flatten().all(|(id, _)| id.ends_with(" 0")) {
            let is_ports = at.fields.last().is_some_and(|name| name == "ports");
            replaced(is_ports, &mut sources);
            relocated(&mut sources);
        }
        let all = sources.clone();
        let kept = self.elements(at, versions, &sources, &all);
        self.ordered_list(at, versions, &sources, kept)
    }

    /// A list whose elements have no keys.
    fn keyless(&mut self, at: &Place, versions: Versions<'_>) -> Option<Plain> {
        let path = at.path.to_string();
        let offset = std::mem::take(&mut self.offset);
        let reading = self.readings.get(&path).copied().unwrap_or(Reading::Paired);
        let versions_of_list = versions.map(|list| list.filter(|list| list.is_list()));
        if reading.has_runs()
            && let Some(merged) = self.runs(at, versions_of_list, reading)
        {
            return Some(merged);
        }
        let paired = elements::pair(versions_of_list, reading);
        let sources = paired.sources;
        let is_left = |id: &String| match (reading, paired.left.iter().position(|one| one == id)) {
            (Reading::One, Some(_)) => true,
            (Reading::Some(bits), Some(at)) => bits & (1 << at) != 0,
            _ => false,
        };
        let before = (self.conflicts.clone(), self.open.clone());
        let mut kept = Vec::new();
        for id in ids(&sources) {
            let child = sources.each_ref().map(|source| find(source, &id));
            let of = |source: &Elements<'_>| source.iter().position(|(other, _)| *other == id);
            let own = of(&sources[1]).map(|index| index + offset[0]);
            let Some(index) = own.or(of(&sources[2]).map(|index| index + offset[1])) else {
                continue;
            };
            let below = at.element(index);
            let merged = match (settled(child), child) {
                (Some(settled), _) => settled.cloned(),
                (None, [_, Some(_), Some(_)]) if !is_left(&id) => self.value(&below, child),
                (None, _) => self.winners(&below, child),
            };
            kept.extend(merged.map(|value| (id, value)));
        }
        let (merged, contradicts) = self.in_order(&sources, kept);
        let is_one =
            reading == Reading::Whole || paired.is_guess || contradicts || merged.is_empty();
        if is_one {
            (self.conflicts, self.open) = before;
        }
        if !paired.readings.is_empty() {
            self.open.insert(path, paired.readings);
        }
        if is_one {
            return self.whole(at, versions);
        }
        Some(Plain::List(
            merged.into_iter().map(|(_, value)| value).collect(),
        ))
    }

    /// A list in which each run of elements that both sides changed is paired for itself, or one value.
    fn runs(&mut self, at: &Place, versions: Versions<'_>, reading: Reading) -> Option<Plain> {
        let lists = versions.map(|list| list.map(Plain::elements).unwrap_or_default());
        let mut merged = Vec::new();
        let mut starts = [0, 0];
        let runs = match reading {
            Reading::Apart => elements::apart(lists)?,
            _ => elements::runs(lists, reading == Reading::RunsFromEnd)?,
        };
        for [base, mut local, mut upstream] in runs {
            let ends = [starts[0] + local.len(), starts[1] + upstream.len()];
            // What both changed alike is no conflict.
            while !local.is_empty()
                && local.first() == upstream.first()
                && local.first() != base.first()
            {
                merged.push(local.remove(0));
                upstream.remove(0);
                starts = starts.map(|start| start + 1);
            }
            if let Some(run) = settled([&base, &local, &upstream]) {
                merged.extend(run.iter().cloned());
            } else if let Some(run) = self.run(at, [&base, &local, &upstream], starts) {
                merged.extend(run);
            } else {
                self.conflict(at);
                merged.extend(if self.upstream_wins { upstream } else { local });
            }
            starts = ends;
        }
        Some(Plain::List(merged))
    }

    /// One run, paired like a list of its own; `None` where its elements cannot be told apart.
    fn run(&mut self, at: &Place, run: [&Vec<Plain>; 3], starts: [usize; 2]) -> Option<Vec<Plain>> {
        let lists = run.map(|elements| Plain::List(elements.clone()));
        let path = at.path.to_string();
        let outer = (std::mem::take(&mut self.conflicts), self.open.clone());
        let reading = self.readings.insert(path.clone(), Reading::Needed);
        let offset = std::mem::replace(&mut self.offset, starts);
        let merged = self.keyless(at, lists.each_ref().map(Some));
        self.offset = offset;
        if let Some(reading) = reading {
            self.readings.insert(path.clone(), reading);
        }
        let inner = std::mem::replace(&mut self.conflicts, outer.0);
        self.open = outer.1;
        let is_one = inner.contains(&Conflict::Value(path));
        let merged = merged.filter(|_| !is_one)?;
        self.conflicts.extend(inner);
        Some(merged.elements().to_vec())
    }

    fn elements(
        &mut self,
        at: &Place,
        versions: Versions<'_>,
        sources: &[Elements<'_>; 3],
        all: &[Elements<'_>; 3],
    ) -> Vec<(String, Plain)> {
        let mut kept = Vec::new();
        for id in ids(sources) {
            let child = sources.each_ref().map(|source| find(source, &id));
            let of = |source: &Elements<'_>| source.iter().position(|(other, _)| *other == id);
            let Some(index) = of(&all[1]).or(of(&all[2])) else {
                continue;
            };
            let below = at.element(index);
            self.added_to_removed(&below, versions, child);
            let is_one = id.starts_with("replaced ") || has_atomic_elements(&at.fields);
            let merged = match (settled(child), child) {
                (Some(settled), _) => settled.cloned(),
                (None, [_, Some(ours), Some(theirs)])
                    if !is_one && ours.is_map() && theirs.is_map() =>
                {
                    self.map(&below, child)
                }
                (None, _) => self.whole(&below, child),
            };
            kept.extend(merged.map(|value| (id, value)));
        }
        kept
    }

    /// Functions that nothing tells apart are one value, and one side's stand. What PackageVariants put
    /// among them is paired by name, as always.
    fn functions_as_one(&mut self, at: &Place, versions: Versions<'_>) -> Option<Plain> {
        let all = versions.map(|list| numbered(list, &|f| function_id(f, None)));
        let those = |prepended: bool| {
            all.each_ref().map(|list| {
                let own = list.iter().filter(|(_, f)| is_prepended(f) == prepended);
                own.cloned().collect::<Elements<'_>>()
            })
        };
        let own = those(false);
        let values = own
            .each_ref()
            .map(|list| list.iter().map(|(_, f)| *f).collect::<Vec<_>>());
        let upstream_stands = if values[1] == values[2] || values[0] == values[2] {
            false
        } else if values[0] == values[1] {
            true
        } else {
            self.conflict(at);
            self.upstream_wins
        };
        let (stands, other) = if upstream_stands { (2, 1) } else { (1, 2) };
        let mut kept = self.elements(at, versions, &those(true), &all);
        kept.extend(own[stands].iter().map(|(id, f)| (id.clone(), (*f).clone())));
        // As if only that side had moved anything.
        let sources = [all[other].clone(), all[1].clone(), all[2].clone()];
        self.ordered_list(at, versions, &sources, kept)
    }

    fn in_order(
        &mut self,
        sources: &[Elements<'_>; 3],
        kept: Vec<(String, Plain)>,
    ) -> (Vec<(String, Plain)>, bool) {
        let names = |list: &Elements<'_>| list.iter().map(|(id, _)| id.clone()).collect();
        let orders: [Vec<String>; 3] = sources.each_ref().map(names);
        let ids: Vec<String> = kept.iter().map(|(id, _)| id.clone()).collect();
        let sources = orders.each_ref().map(Vec::as_slice);
        let found = order(sources, &ids, self.upstream_wins);
        let mut kept: BTreeMap<String, Plain> = kept.into_iter().collect();
        let take = |id: String| kept.remove(&id).map(|value| (id, value));
        self.is_loose |= found.is_loose;
        let elements = found.elements.into_iter().filter_map(take);
        (elements.collect(), found.contradicts)
    }

    /// A list of these elements, in their order.
    fn ordered_list(
        &mut self,
        at: &Place,
        versions: Versions<'_>,
        sources: &[Elements<'_>; 3],
        kept: Vec<(String, Plain)>,
    ) -> Option<Plain> {
        let (elements, contradicts) = self.in_order(sources, kept);
        if contradicts {
            self.conflicts.insert(Conflict::Order(at.path.to_string()));
        }
        let merged = Plain::List(elements.into_iter().map(|(_, value)| value).collect());
        self.container(at, versions, merged)
    }
}
