//! CustomResourceDefinitions, and the images of custom resources.

use std::collections::{HashMap, HashSet};

use crate::row::{FieldChange, PlaceFinding};
use crate::walk::{given, is_true, items, text};
use krm_yaml::{NodeRef, PathElement, Value};

/// The versions of a definition, with their names.
fn versions<'n>(list: NodeRef<'n>) -> impl Iterator<Item = (&'n str, NodeRef<'n>)> {
    items(Some(list)).filter_map(|item| Some((text(item.get("name"))?, item)))
}

fn is(version: NodeRef<'_>, field: &str) -> bool {
    is_true(version.get(field))
}

fn by_name<'n>(list: NodeRef<'n>) -> HashMap<&'n str, NodeRef<'n>> {
    let mut found = HashMap::new();
    for (name, node) in versions(list) {
        found.entry(name).or_insert(node);
    }
    found
}

pub(super) fn drops_stored(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = change.both()?;
    let mut stored = versions(before).filter(|(_, node)| is(*node, "storage"));
    let after = by_name(after);
    let (name, _) = stored.find(|(name, _)| !after.contains_key(name))?;
    Some(format!(
        "the definition drops the version `{name}`, in which objects are stored: migrate them first"
    ))
}

pub(super) fn changes_storage(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = change.both()?;
    let stored = |list| versions(list).find(|(_, node)| is(*node, "storage"));
    let ((was, _), (name, _)) = (stored(before)?, stored(after)?);
    let is_new = !by_name(before)
        .get(name)
        .is_some_and(|node| is(*node, "served"));
    let back = if is_new {
        ": the previous definition does not serve them"
    } else {
        ""
    };
    let is_other = was != name && by_name(after).contains_key(was);
    is_other.then(|| format!("objects are stored in the version `{name}` from now on{back}"))
}

pub(super) fn drops_served(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = change.both()?;
    let served = versions(before).filter(|(_, node)| is(*node, "served"));
    let after = by_name(after);
    let is_gone = |name: &str| !after.get(name).is_some_and(|node| is(*node, "served"));
    let removed: Vec<&str> = served
        .map(|(name, _)| name)
        .filter(|name| is_gone(name))
        .collect();
    (!removed.is_empty()).then(|| {
        format!(
            "the definition no longer serves `{}`: manifests of that version are refused",
            removed.join("`, `")
        )
    })
}

/// The maximum number of differences that a message names.
const SHOWN: usize = 5;

/// Where a version of a definition has its schema.
const SCHEMA: [&str; 2] = ["schema", "openAPIV3Schema"];

pub(super) fn narrows<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let Some((before, after)) = change.both() else {
        return Vec::new();
    };
    let mut found = NarrowedPlaces::default();
    let before = by_name(before);
    for (index, new) in items(Some(after)).enumerate() {
        let name = text(new.get("name")).unwrap_or_default();
        let old = before
            .get(name)
            .and_then(|old| given(old.get_path(&SCHEMA)));
        if let (Some(old), Some(new)) = (old, given(new.get_path(&SCHEMA))) {
            let mut narrowing = Narrowing {
                version: name,
                index,
                found: &mut found,
            };
            narrowing.schema(old, new, &mut Vec::new());
        }
    }
    let below = std::mem::take(&mut found.way).unwrap_or_default();
    Vec::from_iter(found.message().map(|message| PlaceFinding {
        below,
        message,
        values: None,
        is_whole: true,
    }))
}

const OTHER_RULE: &str = "has a different validation rule";
const KEEPS_UNKNOWN: &str = "x-kubernetes-preserve-unknown-fields";

/// The values of a mapping by their keys.
fn by_key<'n>(mapping: Option<NodeRef<'n>>) -> HashMap<&'n str, NodeRef<'n>> {
    let mut found = HashMap::new();
    for entry in mapping.into_iter().flat_map(|mapping| mapping.entries()) {
        if let Some(key) = entry.key.as_str() {
            found.entry(key).or_insert_with(|| entry.value.resolved());
        }
    }
    found
}

/// The places in which a schema is stricter: how many, and the first ones.
#[derive(Default)]
struct NarrowedPlaces {
    count: usize,
    /// Whether it certainly is stricter in one of them.
    is_clear: bool,
    shown: Vec<String>,
    /// What the ways to all of them begin with, from the list of versions.
    way: Option<Vec<PathElement>>,
}

impl NarrowedPlaces {
    fn message(&self) -> Option<String> {
        if self.count == 0 {
            return None;
        }
        // Another rule can also accept more.
        let stricter = if self.is_clear {
            "is stricter: some objects that were valid no longer are"
        } else {
            "may be stricter: some objects that were valid may no longer be"
        };
        let more = match self.count - self.shown.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let shown = self.shown.join("; ");
        Some(format!("the schema {stricter}: {shown}{more}"))
    }

    fn pass(&mut self, way: Vec<PathElement>) {
        let known = self.way.get_or_insert_with(|| way.clone());
        let both = known.iter().zip(&way);
        let common = both.take_while(|(known, step)| known == step).count();
        known.truncate(common);
    }
}

/// A step from a schema to one below it.
#[derive(Clone, Copy)]
enum SchemaStep<'n> {
    Property(&'n str),
    /// `items` or `additionalProperties`.
    Each(&'static str),
}

impl<'n> SchemaStep<'n> {
    fn name(self) -> &'n str {
        match self {
            Self::Property(name) => name,
            Self::Each(_) => "*",
        }
    }

    fn fields(self) -> impl Iterator<Item = &'n str> {
        let names = match self {
            Self::Property(name) => [Some("properties"), Some(name)],
            Self::Each(field) => [Some(field), None],
        };
        names.into_iter().flatten()
    }
}

struct Narrowing<'v> {
    version: &'v str,
    /// The position of the version.
    index: usize,
    found: &'v mut NarrowedPlaces,
}

impl Narrowing<'_> {
    fn report(&mut self, path: &[SchemaStep<'_>], what: &str) {
        let fields = SCHEMA
            .into_iter()
            .chain(path.iter().flat_map(|step| step.fields()));
        let fields = fields.map(|name| PathElement::Field(name.to_owned()));
        let way = std::iter::once(PathElement::Index(self.index)).chain(fields);
        self.found.pass(way.collect());
        self.found.count += 1;
        self.found.is_clear |= !what.ends_with(OTHER_RULE);
        if self.found.shown.len() == SHOWN {
            return;
        }
        let names: Vec<&str> = path.iter().map(|step| step.name()).collect();
        let path = names.join(".");
        let dot = if path.is_empty() { "" } else { " " };
        let place = format!("{}{dot}{path} {what}", self.version);
        self.found.shown.push(place);
    }

    fn schema<'n>(&mut self, old: NodeRef<'n>, new: NodeRef<'n>, path: &mut Vec<SchemaStep<'n>>) {
        if old.has_source_of(new) {
            return;
        }
        let values = |node: NodeRef<'n>, field: &str| -> Vec<Value> {
            let values = items(node.get(field)).filter_map(|item| item.value());
            values.collect()
        };
        let set = |values: Vec<Value>| values.into_iter().collect::<HashSet<_>>();
        self.types(old, new, path);
        let required = set(values(old, "required"));
        let properties = by_key(new.get("properties"));
        for name in values(new, "required") {
            let default = |name: &str| properties.get(name)?.get("default");
            let has_default = |name: &str| default(name).is_some();
            if let Some(name) = name.as_str().filter(|text| !has_default(text))
                && !required.contains(&name.into())
            {
                self.report(path, &format!("requires `{name}`"));
            }
        }
        let (was, is) = (values(old, "enum"), set(values(new, "enum")));
        if !is.is_empty() && (was.is_empty() || was.iter().any(|value| !is.contains(value))) {
            self.report(path, "accepts fewer values");
        }
        self.bounds(old, new, path);
        self.properties(old, new, path);
        for field in ["items", "additionalProperties"] {
            if let (Some(old), Some(new)) = (given(old.get(field)), given(new.get(field)))
                && old.kind().is_mapping()
                && new.kind().is_mapping()
            {
                path.push(SchemaStep::Each(field));
                self.schema(old, new, path);
                path.pop();
            }
        }
    }

    fn types<'n>(&mut self, old: NodeRef<'n>, new: NodeRef<'n>, path: &[SchemaStep<'_>]) {
        const EITHER: &str = "integer or string";
        let of = |node: NodeRef<'n>| {
            if is_true(node.get("x-kubernetes-int-or-string")) {
                Some(EITHER)
            } else {
                text(node.get("type"))
            }
        };
        if let (Some(was), Some(is)) = (of(old), of(new))
            && was != is
            && !(is == EITHER && EITHER.contains(was))
        {
            self.report(path, &format!("is a {is}, no longer a {was}"));
        }
        if is(old, "nullable") && !is(new, "nullable") {
            self.report(path, "no longer accepts null");
        }
        let keeps_unknown = is(new, KEEPS_UNKNOWN);
        let additional = |node: NodeRef<'_>| given(node.get("additionalProperties")).is_some();
        if (is(old, KEEPS_UNKNOWN) || additional(old)) && !keeps_unknown && !additional(new) {
            self.report(path, "no longer accepts other fields");
        }
        let list = |node: NodeRef<'n>| text(node.get("x-kubernetes-list-type"));
        if matches!(list(new), Some("set" | "map")) && list(old) != list(new) {
            self.report(path, "no longer accepts an element twice");
        }
    }

    fn bounds(&mut self, old: NodeRef<'_>, new: NodeRef<'_>, path: &[SchemaStep<'_>]) {
        let number = |node: NodeRef<'_>, field: &str| text(node.get(field))?.parse::<f64>().ok();
        const LOWER: [&str; 4] = ["minimum", "minLength", "minItems", "minProperties"];
        const UPPER: [&str; 4] = ["maximum", "maxLength", "maxItems", "maxProperties"];
        for (field, sign) in LOWER
            .map(|f| (f, 1.0))
            .into_iter()
            .chain(UPPER.map(|f| (f, -1.0)))
        {
            let Some(is) = number(new, field) else {
                continue;
            };
            let was = number(old, field);
            if was.is_none_or(|was| (is - was) * sign > 0.0)
                && !(was.is_none() && sign > 0.0 && is == 0.0)
            {
                self.report(path, &format!("has a `{field}` of {is}"));
            }
        }
        if let Some(pattern) = text(new.get("pattern"))
            && text(old.get("pattern")) != Some(pattern)
        {
            self.report(path, "has a different `pattern`");
        }
        let rules = |node: NodeRef<'_>| -> Vec<String> {
            let rules = items(node.get("x-kubernetes-validations"));
            let rules = rules.filter_map(|rule| text(rule.get("rule")));
            rules.map(str::to_owned).collect()
        };
        let known: HashSet<String> = rules(old).into_iter().collect();
        if rules(new).iter().any(|rule| !known.contains(rule)) {
            self.report(path, OTHER_RULE);
        }
    }

    fn properties<'n>(
        &mut self,
        old: NodeRef<'n>,
        new: NodeRef<'n>,
        path: &mut Vec<SchemaStep<'n>>,
    ) {
        let keeps_unknown = is(new, KEEPS_UNKNOWN);
        let (Some(was), Some(is)) = (given(old.get("properties")), given(new.get("properties")))
        else {
            return;
        };
        let is = by_key(Some(is));
        for entry in was.entries() {
            let name = entry.key.field_name();
            match is.get(name) {
                Some(new) => {
                    path.push(SchemaStep::Property(name));
                    self.schema(entry.value.resolved(), *new, path);
                    path.pop();
                }
                None if !keeps_unknown => self.report(path, &format!("no longer has `{name}`")),
                None => {}
            }
        }
    }
}
