//! The fields of a document with their paths, and which of them two documents share.

use std::collections::BTreeSet;

use krm_core::glob::glob;
use krm_core::source_text::parse_document;
use krm_merge::MergeSchema;
use krm_merge::compare::{PartPair, in_new_order, pair_entries};
use krm_yaml::{NodeRef, OwnedDocument, Value, WalkBudget, WalkError};

/// A document whose fields can be listed, or why they cannot. `None` if the text is not YAML.
pub fn walkable(text: String) -> Option<std::result::Result<OwnedDocument, WalkError>> {
    // Each field is kept with its path.
    let mut budget = WalkBudget::of_copies(text.len());
    let document = parse_document(text).ok()?;
    let paid = document.pay_for_walks(&mut budget);
    Some(paid.map(|()| document))
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

/// What two versions of a node have at a field, which is given by its key. Elements of lists are paired as in a merge.
pub enum PairedField {
    /// The same value, in the first version under one key and in the second under another.
    Same([String; 2]),
    /// Another value, or elements without names in another order: the key in the second version.
    Changed(String),
    /// A field that only the first version has.
    Removed(String),
    /// A field that only the second version has.
    Added(String),
}

/// Visits the fields of two versions of a node.
pub fn pair_fields(
    nodes: [NodeRef<'_>; 2],
    schema: MergeSchema<'_>,
    visit: &mut dyn FnMut(PairedField),
) {
    FieldWalk { visit }.field(nodes.map(Some), Default::default(), schema, 0);
}

struct FieldWalk<'v> {
    visit: &'v mut dyn FnMut(PairedField),
}

impl FieldWalk<'_> {
    fn field(
        &mut self,
        nodes: PartPair<NodeRef<'_>>,
        keys: [String; 2],
        schema: MergeSchema<'_>,
        depth: usize,
    ) {
        let [Some(before), Some(after)] = nodes else {
            return self.apart(nodes, keys, depth);
        };
        let nodes = [before, after].map(|node| node.resolved());
        match nodes.map(|node| is_leaf(node, depth)) {
            [true, true] if nodes[0].value() == nodes[1].value() => {
                (self.visit)(PairedField::Same(keys));
            }
            [true, true] => (self.visit)(PairedField::Changed(
                keys.into_iter().nth(1).unwrap_or_default(),
            )),
            [false, false] if nodes[0].kind() == nodes[1].kind() => {
                for (name, sides) in pair_entries(nodes.map(Some)) {
                    let keys = keys.each_ref().map(|key| join(key, name));
                    self.field(sides, keys, schema.field(name), depth + 1);
                }
                self.elements(nodes, &keys, schema, depth);
            }
            _ => self.apart(nodes.map(Some), keys, depth),
        }
    }

    /// Visits the fields of nodes that have nothing in common, or that only one version has.
    fn apart(&mut self, nodes: PartPair<NodeRef<'_>>, keys: [String; 2], depth: usize) {
        let by: [fn(String) -> PairedField; 2] = [PairedField::Removed, PairedField::Added];
        for ((node, key), by) in nodes.into_iter().zip(keys).zip(by) {
            let mut found = Vec::new();
            if let Some(node) = node {
                collect(node, key, String::new(), depth, &mut found);
            }
            let found = found.into_iter();
            found.for_each(|leaf| (self.visit)(by(leaf.key)));
        }
    }

    fn elements(
        &mut self,
        nodes: [NodeRef<'_>; 2],
        keys: &[String; 2],
        schema: MergeSchema<'_>,
        depth: usize,
    ) {
        let items = nodes.map(|node| node.items().collect::<Vec<_>>());
        let names = items.each_ref().map(|items| elements(items));
        let same = schema.pairs(nodes[0], nodes[1]);
        let is_in_order = same.is_sorted_by_key(|pair| pair.1);
        if !is_in_order && names[1].first().is_some_and(|name| name == "[0]") {
            (self.visit)(PairedField::Changed(keys[1].clone()));
        }
        for places in in_new_order(&same, items.each_ref().map(Vec::len)) {
            let item = |side: usize| Some(items[side][places[side]?]);
            let key = |side: usize| {
                let name = places[side].map_or("", |at| &names[side][at]);
                format!("{}{name}", keys[side])
            };
            let pair = [item(0), item(1)];
            self.field(pair, [key(0), key(1)], schema.items(), depth + 1);
        }
    }
}

/// Whether a pattern matches a field, `Kind/name:PATH` or only `PATH`. The pattern is the field, a field above it, or a
/// glob.
pub fn is_meant(pattern: &str, field: &str) -> bool {
    let (_, path) = field.split_once(':').unwrap_or(("", field));
    [field, path].into_iter().any(|name| {
        let rest = name.strip_prefix(pattern);
        glob(pattern, name)
            || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}
