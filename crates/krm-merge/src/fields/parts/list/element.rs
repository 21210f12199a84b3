//! The elements of a list without keys, and the names that identify them.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::leaves::collect_leaves;
use crate::naming::{NAMING_FIELDS, NameStrength};
use krm_yaml::{NodeRef, Value};

/// An item, or an argument such as `-n` together with its value in the next item.
#[derive(Clone)]
pub(super) struct Element<'a> {
    /// The values of its items.
    pub(super) values: Vec<Value>,
    /// A hash of the values: equal elements have the same one.
    pub(super) print: u64,
    pub(super) name: Option<Name<'a>>,
}

/// The name that identifies an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name<'a> {
    /// The flag before `=`, or an argument that begins with `-`.
    Flag(&'a str),
    /// The fingerprint of a field.
    Field(u64),
    /// The fingerprint of a field that says where an element is, or what it does: others may identify it as well.
    Attribute(u64),
    /// The fingerprint of fields that often change, for example the resources of a rule.
    Fields(u64),
    /// The fingerprint of a field that other elements have too, and the fingerprint that includes the fields that
    /// distinguish these elements.
    Repeated { first: u64, full: u64 },
}

impl Name<'_> {
    /// The fingerprint that it has in common with other elements, if any.
    pub(super) fn shared(self) -> Option<u64> {
        match self {
            Self::Repeated { first, .. } => Some(first),
            _ => None,
        }
    }
}

impl Element<'_> {
    pub(super) fn is_collection(&self) -> bool {
        matches!(self.values[0], Value::Mapping(_) | Value::Sequence(_))
    }

    /// The flag, if its value is a separate item.
    pub(super) fn flag_of_value(&self) -> Option<&str> {
        let (first, others) = self.values.split_first()?;
        first.as_str().filter(|_| !others.is_empty())
    }

    /// Whether it can be another version of an element with another name.
    pub(super) fn may_be_renamed(&self) -> bool {
        let name = self.name;
        name.is_none_or(|name| matches!(name, Name::Fields(_) | Name::Repeated { .. }))
    }

    /// Whether another field than that of its name may identify it.
    pub(super) fn has_other_names(&self) -> bool {
        self.may_be_renamed() || matches!(self.name, Some(Name::Attribute(_)))
    }

    /// The fields that may identify it, each as a hash of its key and value: strings and numbers.
    pub(super) fn fields(&self, state: &RandomState) -> Vec<u64> {
        let entries = self.values[0].entries().iter();
        let named =
            entries.filter(|(_, value)| is_name(value) || matches!(value, Value::Number(_)));
        named.map(|field| state.hash_one(field)).collect()
    }

    /// Its leaves, each as a hash of its path and value. Positions in lists do not count.
    pub(super) fn leaves(&self, state: &RandomState) -> HashSet<u64> {
        let mut found = HashSet::new();
        for value in &self.values {
            collect_leaves(value, 0, state, &mut found);
        }
        found
    }
}

fn is_flag(text: &str) -> bool {
    let name = text.strip_prefix('-').unwrap_or_default();
    name != "-" && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// The flag that a text is, or sets.
fn flag(text: &str) -> Option<&str> {
    match text.split_once('=') {
        Some((flag, _)) if flag.is_empty() || flag.contains(char::is_whitespace) => None,
        Some((flag, _)) => Some(flag),
        None => is_flag(text).then_some(text),
    }
}

/// The maximum number of items in a list that merges by its elements.
const MOST_ITEMS: usize = 10_000;

/// The elements of a list, with flags as their names. `None` if there are too many, or if an element contains itself.
pub(super) fn elements<'a>(list: NodeRef<'a>, state: &RandomState) -> Option<Vec<Element<'a>>> {
    if list.items().nth(MOST_ITEMS).is_some() {
        return None;
    }
    let item = |item: NodeRef<'a>| Some((item.resolved().as_str(), item.value()?));
    let items = list.items().map(item).collect::<Option<Vec<_>>>()?;
    elements_of(items, state)
}

/// The elements of a list of these values, each with its text if it is one.
pub(super) fn elements_of<'a>(
    items: Vec<(Option<&'a str>, Value)>,
    state: &RandomState,
) -> Option<Vec<Element<'a>>> {
    if items.len() > MOST_ITEMS {
        return None;
    }
    let is_value = |(text, value): &(Option<&str>, Value)| match value {
        Value::Sequence(_) | Value::Mapping(_) => false,
        _ => text.is_none_or(|text| !is_flag(text)),
    };
    let mut found = Vec::new();
    let mut items = items.into_iter().peekable();
    while let Some((text, first)) = items.next() {
        let takes_value = text.is_some_and(|text| is_flag(text) && !text.contains('='));
        let second = items.next_if(|next| takes_value && is_value(next));
        let values: Vec<Value> = [Some(first), second.map(|(_, value)| value)]
            .into_iter()
            .flatten()
            .collect();
        found.push(Element {
            print: state.hash_one(&values),
            values,
            name: text.and_then(flag).map(Name::Flag),
        });
    }
    Some(found)
}

/// The kind of the name that fields are, from its fingerprint. `None` if they name no element in another version.
fn name_kind(strength: NameStrength) -> Option<fn(u64) -> Name<'static>> {
    match strength {
        NameStrength::Name => Some(Name::Field),
        NameStrength::Attribute => Some(Name::Attribute),
        NameStrength::Changing => Some(Name::Fields),
        NameStrength::Label => None,
    }
}

/// The fingerprint of a field that identifies a map. For `metadata`, it includes what identifies the resource.
fn print_of(field: &str, map: &Value, state: &RandomState) -> Option<u64> {
    let mut fields = field.split('|');
    let (field, value) = fields.find_map(|field| Some((field, map.get(field)?)))?;
    if field != "metadata" {
        return Some(state.hash_one((field, value)));
    }
    let name = value.get("name")?;
    let fields = [map.get("kind"), value.get("namespace"), Some(name)];
    Some(state.hash_one(fields))
}

/// Names the maps of three versions (base, local, upstream) by the first fields that all maps of base and upstream
/// have, and that are unique in each of these versions.
pub(super) fn name_maps(versions: &mut [Vec<Element<'_>>; 3], state: &RandomState) {
    // Local is left out, so that the result gets the same names when it is the local version of another merge.
    let sources = [0, 2];
    let is_map = |element: &&Element<'_>| matches!(element.values[0], Value::Mapping(_));
    let named = NAMING_FIELDS.iter().find_map(|row| {
        let named = name_kind(row.strength)?;
        let first = |element: &Element<'_>| {
            let prints = row
                .fields
                .iter()
                .map(|field| print_of(field, &element.values[0], state));
            let prints: Vec<u64> = prints.collect::<Option<_>>()?;
            Some(state.hash_one(prints))
        };
        let mut repeated = HashSet::new();
        for source in sources {
            let mut seen = HashSet::new();
            for map in versions[source].iter().filter(is_map) {
                let first = first(map)?;
                if !seen.insert(first) {
                    repeated.insert(first);
                }
            }
        }
        let name = |element: &Element<'_>| {
            let first = first(element)?;
            if !repeated.contains(&first) {
                return Some(named(first));
            }
            let more = row.more.iter().map(|field| element.values[0].get(field));
            let more: Vec<Option<&Value>> = more.collect();
            let full = state.hash_one((first, more));
            Some(Name::Repeated { first, full })
        };
        let are_unique = sources.into_iter().all(|source| {
            let mut seen = HashSet::new();
            let mut maps = versions[source].iter().filter(is_map);
            maps.all(|map| seen.insert(name(map)))
        });
        let names = versions.each_ref().map(|elements| {
            let names = elements.iter().map(name);
            names.collect::<Vec<_>>()
        });
        are_unique.then_some(names)
    });
    let named = named.or_else(|| name_by_only_key(versions, state));
    let named = named.or_else(|| name_by_any_field(versions, state));
    for (elements, names) in versions.iter_mut().zip(named.unwrap_or_default()) {
        for (element, name) in elements.iter_mut().zip(names) {
            element.name = element.name.or(name);
        }
    }
}

/// Names maps of one entry by their keys, if all maps of base and upstream are such maps and the keys of each of these
/// versions are unique. A key that base lacks does not count: each side may have added an element of that kind.
fn name_by_only_key<'a>(
    versions: &[Vec<Element<'_>>; 3],
    state: &RandomState,
) -> Option<[Vec<Option<Name<'a>>>; 3]> {
    let only_key = |element: &Element<'_>| match &element.values[0] {
        Value::Mapping(entries) if entries.len() == 1 => Some(state.hash_one(&entries[0].0)),
        _ => None,
    };
    let keys = versions
        .each_ref()
        .map(|elements| elements.iter().map(only_key).collect::<Vec<_>>());
    for version in [0, 2] {
        let mut seen = HashSet::new();
        let is_new = |key: &Option<u64>| key.is_some_and(|key| seen.insert(key));
        keys[version].iter().all(is_new).then_some(())?;
    }
    let of_base: HashSet<u64> = keys[0].iter().flatten().copied().collect();
    let name = |key: Option<u64>| key.filter(|key| of_base.contains(key)).map(Name::Field);
    Some(keys.map(|keys| keys.into_iter().map(name).collect()))
}

/// A text that may be a name: one line, and not empty.
fn is_name(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| !text.is_empty() && !text.contains('\n'))
}

/// Names maps by the first field with a text that all maps of base and upstream have, and that is unique in each of
/// these versions. Of several such fields, the one with the most values in common.
fn name_by_any_field<'a>(
    versions: &[Vec<Element<'_>>; 3],
    state: &RandomState,
) -> Option<[Vec<Option<Name<'a>>>; 3]> {
    let maps = |version: usize| {
        let elements = versions[version].iter().map(|element| &element.values[0]);
        elements.filter(|value| matches!(value, Value::Mapping(_)))
    };
    let values = |version: usize, field: &Value| {
        let value = |map: &Value| {
            let value = map.entries().iter().find(|(key, _)| key == field);
            let (_, value) = value.filter(|(_, value)| is_name(value))?;
            Some(state.hash_one((field, value)))
        };
        let mut seen = HashSet::new();
        let are_unique = maps(version).all(|map| value(map).is_some_and(|hash| seen.insert(hash)));
        are_unique.then_some(seen)
    };
    // The only element needs no name.
    if versions.iter().all(|elements| elements.len() == 1) {
        return None;
    }
    let mut best: Option<(usize, &Value)> = None;
    for (field, _) in maps(0).next()?.entries() {
        let (Some(base), Some(upstream)) = (values(0, field), values(2, field)) else {
            continue;
        };
        let common = base.intersection(&upstream).count();
        if common > best.map_or(0, |(most, _)| most) {
            best = Some((common, field));
        }
    }
    let (_, field) = best?;
    let name = |element: &Element<'_>| {
        let entries = element.values[0].entries().iter();
        let (_, value) = entries.into_iter().find(|(key, _)| key == field)?;
        is_name(value).then(|| Name::Fields(state.hash_one((field, value))))
    };
    Some(
        versions
            .each_ref()
            .map(|elements| elements.iter().map(name).collect()),
    )
}

/// Removes the names that two elements of a version have. `None` if that would be a guess: local has a name twice that
/// upstream removed, and changed an element of that name.
pub(super) fn drop_repeated_names(versions: &mut [Vec<Element<'_>>; 3]) -> Option<()> {
    let mut counts: HashMap<Name<'_>, [usize; 3]> = HashMap::new();
    for (version, elements) in versions.iter().enumerate() {
        for name in elements.iter().filter_map(|element| element.name) {
            counts.entry(name).or_default()[version] += 1;
        }
    }
    let in_base: HashSet<u64> = versions[0].iter().map(|element| element.print).collect();
    let is_guess = |element: &Element<'_>| {
        let counts = element.name.map(|name| counts[&name]);
        let is_removed =
            counts.is_some_and(|[base, local, upstream]| local > 1 && base > 0 && upstream == 0);
        is_removed && !in_base.contains(&element.print)
    };
    (!versions[1].iter().any(is_guess)).then_some(())?;
    for element in versions.iter_mut().flatten() {
        let is_repeated = |name: &mut Name<'_>| counts[name].iter().any(|count| *count > 1);
        element.name.take_if(is_repeated);
    }
    Some(())
}
