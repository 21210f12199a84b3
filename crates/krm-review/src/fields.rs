//! The fields of a document with their paths, and which of them two documents share.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use krm_core::resource::Resource;
use krm_core::source_text::parse_document;
use krm_merge::MergeSchema;
use krm_merge::compare::pair_elements;
use krm_merge::decided::glob;
use krm_package::is_krm_name;
use krm_yaml::{NodeRef, OwnedDocument, Value, WalkBudget, WalkError};

/// A document whose fields can be listed, or why they cannot. `None` if the text is not YAML.
#[must_use]
pub fn walkable(text: String) -> Option<std::result::Result<OwnedDocument, WalkError>> {
    // Each field is kept with its path.
    let mut budget = WalkBudget::of_copies(text.len());
    let document = parse_document(text).ok()?;
    Some(match document.pay_for_walks(&mut budget) {
        Ok(()) => Ok(document),
        Err(error) => Err(error),
    })
}

/// A field with no fields or elements below it.
pub struct Leaf {
    /// Its path, with the names of list elements.
    pub key: String,
    /// Its path, with the positions of list elements.
    pub shown: String,
    /// What it contains.
    pub value: Value,
}

/// All fields below a node without fields of their own.
#[must_use]
pub fn leaves(root: NodeRef<'_>) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(root, String::new(), String::new(), 0, &mut found);
    found
}

/// A node at this depth is treated as a leaf.
const DEEPEST: usize = 200;

fn is_leaf(node: NodeRef<'_>, depth: usize) -> bool {
    depth == DEEPEST || node.entries().next().is_none() && node.items().next().is_none()
}

fn join(path: &str, name: &str) -> String {
    match (path, name.contains(['.', '[', '/'])) {
        (path, true) => format!("{path}[\"{name}\"]"),
        ("", false) => name.to_owned(),
        (path, false) => format!("{path}.{name}"),
    }
}

fn collect(node: NodeRef<'_>, key: String, shown: String, depth: usize, found: &mut Vec<Leaf>) {
    let node = node.resolved();
    if is_leaf(node, depth) {
        let value = node.value().unwrap_or(Value::Null);
        found.push(Leaf { key, shown, value });
        return;
    }
    for entry in node.entries() {
        let name = entry.key.key_text().unwrap_or_default();
        let (key, shown) = (join(&key, name), join(&shown, name));
        collect(entry.value, key, shown, depth + 1, found);
    }
    let items: Vec<NodeRef<'_>> = node.items().collect();
    for (at, (item, element)) in items.iter().zip(elements(&items)).enumerate() {
        let (key, shown) = (format!("{key}{element}"), format!("{shown}[{at}]"));
        collect(*item, key, shown, depth + 1, found);
    }
}

/// The keys of list elements: `[name=NAME]` if all elements have names and these are unique, otherwise positions.
fn elements(items: &[NodeRef<'_>]) -> Vec<String> {
    let name = |item: &NodeRef<'_>| Some(format!("[name={}]", item.get("name")?.value_text()?));
    let names: Option<Vec<String>> = items.iter().map(name).collect();
    let are_unique =
        |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    names
        .filter(are_unique)
        .unwrap_or_else(|| (0..items.len()).map(|at| format!("[{at}]")).collect())
}

/// Collects the fields that have the same value in both nodes: the key in the first node maps to the key in the second.
/// Elements of lists are paired as in a merge.
pub fn keep(
    nodes: [NodeRef<'_>; 2],
    keys: [String; 2],
    schema: MergeSchema<'_>,
    depth: usize,
    kept: &mut HashMap<String, String>,
) {
    let [now, other] = nodes.map(|node| node.resolved());
    if is_leaf(now, depth) {
        if is_leaf(other, depth) && now.value() == other.value() {
            let [key, other] = keys;
            kept.insert(key, other);
        }
        return;
    }
    let mut others: HashMap<&str, NodeRef<'_>> = HashMap::new();
    for entry in other.entries() {
        if let Some(name) = entry.key.as_str() {
            others.entry(name).or_insert_with(|| entry.value.resolved());
        }
    }
    for entry in now.entries() {
        let name = entry.key.key_text().unwrap_or_default();
        if let Some(value) = others.get(name).copied() {
            let keys = keys.each_ref().map(|key| join(key, name));
            let schema = schema.field(name);
            keep([entry.value, value], keys, schema, depth + 1, kept);
        }
    }
    let items = [now, other].map(|node| node.items().collect::<Vec<_>>());
    let [names, others] = items.each_ref().map(|items| elements(items));
    for (at, partner) in pair_elements(schema.list(), now, other) {
        let pair = [items[0][at], items[1][partner]];
        let [key, other] = &keys;
        let keys = [
            format!("{key}{}", names[at]),
            format!("{other}{}", others[partner]),
        ];
        keep(pair, keys, schema.items(), depth + 1, kept);
    }
}

/// The fields of resources, by the name of the resource.
pub type FieldsByResource = BTreeMap<String, BTreeMap<String, Value>>;

/// All fields of a package by resource, `Kind/name`, and the files that have resources.
#[must_use]
pub fn fields_by_resource(
    contents: &BTreeMap<String, Vec<u8>>,
) -> (FieldsByResource, BTreeSet<String>) {
    let mut fields = FieldsByResource::new();
    let mut files = BTreeSet::new();
    for (path, bytes) in contents {
        let text = String::from_utf8_lossy(bytes).into_owned();
        // A file that cannot be walked has no fields that could be compared.
        let Some(Ok(parsed)) = is_krm_name(path).then(|| walkable(text)).flatten() else {
            continue;
        };
        let document = parsed.document();
        for root in (0..document.len()).filter_map(|at| document.root(at)) {
            let resource = Resource::read(root);
            if resource.kind.is_empty() {
                continue;
            }
            files.insert(path.clone());
            let name = resource.name.as_deref().unwrap_or(path);
            let name = format!("{}/{name}", resource.kind);
            let all = leaves(root).into_iter();
            let own = fields.entry(name).or_default();
            own.extend(all.map(|leaf| (leaf.key, leaf.value)));
        }
    }
    (fields, files)
}

/// All fields of a package, as `Kind/name:field`.
#[must_use]
pub fn fields_of(contents: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Value> {
    let resources = fields_by_resource(contents).0.into_iter();
    let fields = resources.flat_map(|(name, fields)| {
        let fields = fields.into_iter();
        fields.map(move |(field, value)| (format!("{name}:{field}"), value))
    });
    fields.collect()
}

/// Whether a pattern matches a field, `Kind/name:PATH` or only `PATH`. The pattern is the field, a field above it, or a
/// glob.
#[must_use]
pub fn is_meant(pattern: &str, field: &str) -> bool {
    let (_, path) = field.split_once(':').unwrap_or(("", field));
    [field, path].into_iter().any(|name| {
        let rest = name.strip_prefix(pattern);
        glob(pattern, name)
            || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}
