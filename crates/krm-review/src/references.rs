//! References to resources that a package no longer has.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use super::change::ResourceChange;
use super::find::each;
use super::row::segments;
use super::table::{section, words};
use super::units::{ClusterObject, Objects, may_be_one, object_key};
use super::walk::{is_true, items, text};
use super::{ReviewFinding, Risk};
use krm_core::resource_key::ResourceKey;
use krm_core::results::Reason;
use krm_yaml::{NodeRef, Path};

/// A field that names another resource.
pub(super) struct Reference {
    /// The kinds that have it, as in a [`Row`](super::row::Row).
    pub(super) kinds: Vec<&'static str>,
    /// The mapping that holds the field, or the field itself if `name` is empty.
    pub(super) path: &'static str,
    /// The field with the name.
    pub(super) name: &'static str,
    /// The kind that it names, as `group/Kind`. Empty if the field `kind` next to the name gives the kind.
    pub(super) to: &'static str,
}

/// All fields that name another resource.
pub(super) static REFERENCES: LazyLock<Vec<Reference>> = LazyLock::new(|| {
    let rows = section("References").into_iter();
    let rows = rows.map(|[kinds, path, name, to]| Reference {
        kinds: words(kinds),
        path,
        name,
        to,
    });
    rows.collect()
});

/// Reports each reference to a resource that the package had and no longer has.
pub(super) fn dangling(
    pairs: &[ResourceChange<'_>],
    before: &Objects<'_>,
    after: &Objects<'_>,
    found: &mut Vec<ReviewFinding>,
) {
    let removed = before.without(after);
    if removed.is_empty() {
        return;
    }
    let names: BTreeSet<&str> = removed.iter().map(|key| key.name.text()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let authors: BTreeMap<ResourceKey, _> = pairs
        .iter()
        .filter_map(|pair| {
            let unit = pair.before.as_ref()?;
            let by = pair.upstream?.of_resource();
            Some((object_key(unit.resource)?, by))
        })
        .collect();
    let mut found_keys: KeysByName<'_> = KeysByName::default();
    removed.iter().for_each(|key| found_keys.add(key));
    for_each_reference(&names, after, &mut |unit, node, named| {
        let Some(key) = found_keys.find(&named) else {
            return;
        };
        if after.has_like(key) {
            return;
        }
        let message = format!(
            "the package no longer has the {} `{}` that the field names",
            key.kind, key.name
        );
        let finding = unit.finding(Risk::Blocking, Reason::DanglingReference, message);
        let by = authors.get(key).copied();
        found.push(finding.at(path_below(node, unit.node)).by(by));
    });
}

/// The number of names that the texts are searched for.
const MOST_SEARCHED: usize = 16;

/// Keys of objects, by what a reference names.
#[derive(Default)]
struct KeysByName<'k> {
    /// By name, kind and namespace; the smallest key without regard to the namespace under an outer `None`.
    keys: HashMap<(&'k str, String, Option<Option<&'k str>>), &'k ResourceKey>,
}

impl<'k> KeysByName<'k> {
    /// Adds a key. Keys are added in their order.
    fn add(&mut self, key: &'k ResourceKey) {
        for namespace in [None, Some(key.namespace.as_deref())] {
            let place = (key.name.text(), key.group_kind(), namespace);
            self.keys.entry(place).or_insert(key);
        }
    }

    /// The first key that a reference may name. A missing namespace matches any namespace.
    fn find(&self, named: &NamedObject<'_>) -> Option<&'k ResourceKey> {
        let get = |namespace: Option<Option<&str>>| {
            let keys = &self.keys;
            keys.get(&(named.name, named.group_kind.clone(), namespace))
                .copied()
        };
        match named.namespace {
            None => get(None),
            Some(namespace) => {
                let own = get(Some(Some(namespace))).into_iter();
                own.chain(get(Some(None))).min()
            }
        }
    }
}

/// Calls a function for each reference in the resources that may contain one of these names.
fn for_each_reference<'l>(
    names: &[&str],
    after: &Objects<'l>,
    found: &mut impl FnMut(&ClusterObject<'l>, NodeRef<'l>, NamedObject<'_>),
) {
    if names.is_empty() {
        return;
    }
    // To search for many names takes longer than to read all resources.
    let units = if names.len() > MOST_SEARCHED {
        after.of_kinds(|_| true)
    } else {
        after.that_may_contain(names)
    };
    for unit in units {
        let Some(own) = object_key(unit.resource) else {
            continue;
        };
        let kind = own.group_kind();
        for reference in REFERENCES.iter() {
            if !reference.kinds.is_empty() && !reference.kinds.contains(&&*kind) {
                continue;
            }
            let Some(path) = segments(reference.path, &kind) else {
                continue;
            };
            each(unit.node, &path, &mut |node| {
                if let Some(named) = reference.named(node, &own) {
                    found(&unit, node, named);
                }
            });
        }
    }
}

/// Reports each reference to a port that a Service of the package had and no longer has.
pub(super) fn dangling_ports(
    pairs: &[ResourceChange<'_>],
    after: &Objects<'_>,
    found: &mut Vec<ReviewFinding>,
) {
    let services = pairs.iter().filter_map(|pair| {
        let (was, is) = (pair.before.as_ref()?, pair.after.as_ref()?);
        let key = object_key(is.resource).filter(|key| key.group_kind() == "Service")?;
        let left: HashSet<&str> = ports_of(is).into_iter().collect();
        let ports = ports_of(was).into_iter();
        let ports: HashSet<&str> = ports.filter(|port| !left.contains(port)).collect();
        (!ports.is_empty()).then_some((key, ports, pair.author()))
    });
    let services: Vec<_> = services.collect();
    let names: Vec<&str> = services.iter().map(|(key, ..)| key.name.text()).collect();
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, (key, ..)) in services.iter().enumerate() {
        by_name.entry(key.name.text()).or_default().push(at);
    }
    for_each_reference(&names, after, &mut |unit, node, named| {
        if !node.kind().is_mapping() {
            return;
        }
        let by_name_or_number = ["name", "number"].map(|form| text(node.get_path(&["port", form])));
        let port = by_name_or_number.into_iter().flatten().next();
        // The default for webhooks and API services; other references must give a port.
        let port = port.or_else(|| text(node.get("port"))).unwrap_or("443");
        let alike = by_name.get(named.name).into_iter().flatten();
        let mut alike = alike.map(|at| &services[*at]);
        let lost = alike.find(|(key, ports, _)| named.may_be(key) && ports.contains(port));
        if let Some((key, _, by)) = lost {
            let message = format!(
                "the Service `{}` no longer has the port {port} that the field names",
                key.name
            );
            let finding = unit.finding(Risk::Dangerous, Reason::DanglingReference, message);
            found.push(finding.at(path_below(node, unit.node)).by(*by));
        }
    });
}

/// The names and numbers of the ports of a Service.
fn ports_of<'l>(service: &ClusterObject<'l>) -> Vec<&'l str> {
    let ports = items(service.node.get_path(&["spec", "ports"]));
    ports
        .flat_map(|port| [text(port.get("name")), text(port.get("port"))])
        .flatten()
        .collect()
}

/// The object that a reference names.
struct NamedObject<'n> {
    group_kind: String,
    namespace: Option<&'n str>,
    name: &'n str,
}

impl NamedObject<'_> {
    /// Whether the reference may name the object with this key. A missing namespace matches any namespace.
    fn may_be(&self, key: &ResourceKey) -> bool {
        self.name == key.name.text()
            && may_be_one(self.namespace, key.namespace.as_deref())
            && self.group_kind == key.group_kind()
    }
}

impl Reference {
    fn named<'n>(&self, node: NodeRef<'n>, own: &'n ResourceKey) -> Option<NamedObject<'n>> {
        let field = |name: &str| text(node.get(name));
        // The pod also starts without an object that is optional.
        if is_true(node.get("optional")) {
            return None;
        }
        let name = if self.name.is_empty() {
            text(Some(node))?
        } else {
            field(self.name)?
        };
        let group_kind = if self.to.is_empty() {
            let group = field("apiGroup").or_else(|| {
                let version = field("apiVersion")?;
                Some(version.split_once('/').map_or("", |(group, _)| group))
            });
            match group.unwrap_or_default() {
                "" => field("kind")?.to_owned(),
                group => format!("{group}/{}", field("kind")?),
            }
        } else {
            self.to.to_owned()
        };
        Some(NamedObject {
            group_kind,
            namespace: field("namespace").or(own.namespace.as_deref()),
            name,
        })
    }
}

/// The path from a resource to one of its nodes; a resource of a list is not the root of its document.
pub(super) fn path_below(node: NodeRef<'_>, resource: NodeRef<'_>) -> Path {
    let above = resource.path().elements().len();
    let path = node.path();
    let elements = path.elements().get(above..).unwrap_or_default();
    elements
        .iter()
        .fold(Path::root(), |path, element| path.child(element.clone()))
}

/// Reports each custom resource in a version that its definition no longer serves.
pub(super) fn dropped_versions(
    pairs: &[ResourceChange<'_>],
    after: &Objects<'_>,
    found: &mut Vec<ReviewFinding>,
) {
    let mut dropped: BTreeMap<String, String> = BTreeMap::new();
    let definitions = pairs.iter().filter_map(|pair| {
        let (before, after) = (pair.before.as_ref()?, pair.after.as_ref()?);
        (before.resource.kind.as_ref() == krm_core::scope::DEFINITION).then_some((before, after))
    });
    for (before, after) in definitions {
        let served = |unit: &ClusterObject<'_>| -> BTreeSet<String> {
            let versions = items(unit.node.get_path(&["spec", "versions"]));
            let served = versions.filter(|version| is_true(version.get("served")));
            served
                .filter_map(|version| text(version.get("name")).map(str::to_owned))
                .collect()
        };
        let field = |path: &[&str]| text(after.node.get_path(path)).unwrap_or_default();
        let group = field(&["spec", "group"]);
        let kind = field(&["spec", "names", "kind"]);
        for version in served(before).difference(&served(after)) {
            dropped.insert(format!("{group}/{version}"), kind.to_owned());
        }
    }
    if dropped.is_empty() {
        return;
    }
    for (_, resource) in after.list.items() {
        if dropped.get(&*resource.api_version) != Some(&resource.kind.to_string()) {
            continue;
        }
        let message = format!(
            "the definition of {} no longer serves `{}`",
            resource.kind, resource.api_version
        );
        let finding =
            ReviewFinding::new(Risk::Blocking, Reason::CrdVersionDropped, resource, message);
        found.push(finding.at(Path::fields(&["apiVersion"])));
    }
}
