//! From the schema of a document to the text of `src/schema/builtin.rs`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use krm_variants::schema::{KeyDefault, ListType, MapType, PatchStrategy, Schema, TypeRef};

/// The type of which nothing is said.
const LEAF: usize = 0;

/// Writes the table.
pub(crate) fn write(schema: &Schema, header: &str) -> String {
    let graph = Graph::of(schema);
    let classes = graph.merge_equal();
    print(&graph, &classes, header)
}

/// All types that kinds lead to.
struct Graph<'s> {
    /// Group, version, kind and root, in the order of the schema.
    kinds: Vec<([&'s str; 3], usize)>,
    nodes: Vec<Node<'s>>,
}

/// A type with its children by index.
struct Node<'s> {
    /// A field that has this type, for the reader of the table.
    place: String,
    facts: Facts<'s>,
    fields: Vec<(&'s str, usize)>,
    items: Option<usize>,
    values: Option<usize>,
    /// Whether it, or a type below it, says anything.
    kept: bool,
}

/// What a type says by itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Facts<'s> {
    /// No keys: a set; `None`: atomic.
    list: Option<Vec<(&'s str, Option<&'s str>)>>,
    atomic_map: bool,
    strategy: [bool; 3],
    merge_key: Option<&'s str>,
    open: bool,
}

impl<'s> Facts<'s> {
    fn of(of: TypeRef<'s>) -> Self {
        let PatchStrategy {
            merge,
            replace,
            retain_keys,
        } = of.patch_strategy();
        Self {
            list: match of.list() {
                ListType::Atomic => None,
                ListType::Set => Some(Vec::new()),
                ListType::Map(keys) => {
                    let keys = keys.iter().map(|key| match key.default {
                        None => (key.name, None),
                        Some(KeyDefault::String(text)) => (key.name, Some(text)),
                        Some(other) => refuse_default(other),
                    });
                    Some(keys.collect())
                }
                ListType::KeyedStrings(_) | ListType::Functions => {
                    unreachable!("no schema of Kubernetes has such lists")
                }
            },
            atomic_map: of.map() == MapType::Atomic,
            strategy: [merge, replace, retain_keys],
            merge_key: of.patch_merge_key(),
            open: of.takes_unknown_fields(),
        }
    }

    fn say_nothing(&self) -> bool {
        *self == Self::of_leaf()
    }

    fn of_leaf() -> Self {
        Self {
            list: None,
            atomic_map: false,
            strategy: [false; 3],
            merge_key: None,
            open: false,
        }
    }
}

/// Built-in keys are strings; the table has no form for other defaults.
fn refuse_default(default: KeyDefault<'_>) -> ! {
    panic!("the table has no form for a key with the default {default:?}")
}

impl<'s> Graph<'s> {
    fn of(schema: &'s Schema) -> Self {
        let mut indexes = HashMap::new();
        let mut types: Vec<(TypeRef<'s>, String)> = Vec::new();
        let mut index = |of: TypeRef<'s>, place: &str, types: &mut Vec<_>| {
            *indexes.entry(of).or_insert_with(|| {
                types.push((of, place.to_owned()));
                types.len()
            })
        };
        let mut kinds = Vec::new();
        for (names, root) in schema.kinds() {
            let root = index(root, names.kind, &mut types);
            kinds.push(([names.group, names.version, names.kind], root));
        }
        let mut nodes = vec![Node {
            place: "a scalar".to_owned(),
            facts: Facts::of_leaf(),
            fields: Vec::new(),
            items: None,
            values: None,
            kept: false,
        }];
        while let Some((of, place)) = types.get(nodes.len() - 1).cloned() {
            let fields = of.fields().map(|(name, field)| {
                let place = format!("{place}.{name}");
                (name, index(field, &place, &mut types))
            });
            let fields = fields.collect();
            let items = of.items();
            let items = items.map(|of| index(of, &format!("{place}[]"), &mut types));
            let values = of.values();
            let values = values.map(|of| index(of, &format!("{place}.*"), &mut types));
            nodes.push(Node {
                facts: Facts::of(of),
                place,
                fields,
                items,
                values,
                kept: false,
            });
        }
        let mut graph = Self { kinds, nodes };
        graph.prune();
        graph
    }

    /// Drops what says nothing: scalars, and objects and lists of such.
    fn prune(&mut self) {
        loop {
            let kept: Vec<bool> = self.nodes.iter().map(|node| self.is_kept(node)).collect();
            if kept.iter().eq(self.nodes.iter().map(|node| &node.kept)) {
                break;
            }
            for (node, kept) in self.nodes.iter_mut().zip(kept) {
                node.kept = kept;
            }
        }
        let kept: Vec<bool> = self.nodes.iter().map(|node| node.kept).collect();
        for node in &mut self.nodes {
            node.fields
                .retain(|(name, index)| kept[*index] || is_directive_like(name));
            for (_, index) in &mut node.fields {
                *index = if kept[*index] { *index } else { LEAF };
            }
            node.items = node.items.filter(|index| kept[*index]);
            node.values = node.values.map(|i| if kept[i] { i } else { LEAF });
        }
    }

    fn is_kept(&self, node: &Node<'_>) -> bool {
        let is_kept = |index: &usize| self.nodes[*index].kept;
        let mut fields = node.fields.iter();
        !node.facts.say_nothing()
            || fields.any(|(name, index)| is_kept(index) || is_directive_like(name))
            || node.items.as_ref().is_some_and(is_kept)
            || node.values.as_ref().is_some_and(is_kept)
    }

    /// The class of each node: nodes of one class answer all questions alike. Refined from what nodes
    /// say by themselves until no class falls apart.
    fn merge_equal(&self) -> Vec<usize> {
        let mut classes = vec![0; self.nodes.len()];
        let mut count = 0;
        loop {
            let mut numbers = BTreeMap::new();
            let of = |index: &usize| classes[*index];
            let refined: Vec<usize> = self
                .nodes
                .iter()
                .map(|node| {
                    let fields = node.fields.iter().map(|(name, index)| (*name, of(index)));
                    let fields: Vec<_> = fields.collect();
                    let children = (node.items.as_ref().map(of), node.values.as_ref().map(of));
                    let next = numbers.len();
                    *numbers
                        .entry((&node.facts, fields, children))
                        .or_insert(next)
                })
                .collect();
            let before = std::mem::replace(&mut count, numbers.len());
            classes = refined;
            if before == count {
                return classes;
            }
        }
    }
}

/// A strategic merge patch must know these fields from its own directives.
fn is_directive_like(name: &str) -> bool {
    name.starts_with('$')
}

/// Texts in one string, each only once.
#[derive(Default)]
struct Names(String);

impl Names {
    /// Longest first, so that a name within another one takes no place.
    fn of<'s>(names: impl Iterator<Item = &'s str>) -> Self {
        let names: BTreeSet<&str> = names.collect();
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let mut all = String::new();
        for name in names {
            if !all.contains(name) {
                all.push_str(name);
            }
        }
        Self(all)
    }

    fn run(&self, name: &str) -> String {
        let start = self.0.find(name).unwrap_or_default();
        format!("{start}, {}", name.len())
    }
}

// One after the other, as the file reads.
#[allow(clippy::too_many_lines)]
fn print(graph: &Graph<'_>, classes: &[usize], header: &str) -> String {
    // Classes are numbered by their first node, so the leaf comes first; kinds keep even roots that say
    // nothing.
    let used: BTreeSet<usize> = reachable(graph, classes);
    let numbers: BTreeMap<usize, usize> = used.iter().enumerate().map(|(n, c)| (*c, n)).collect();
    let number = |index: usize| numbers[&classes[index]];
    let first = |class: usize| classes.iter().position(|c| *c == class).unwrap_or(LEAF);
    let nodes: Vec<&Node<'_>> = used
        .iter()
        .map(|class| &graph.nodes[first(*class)])
        .collect();
    let keys: BTreeSet<_> = nodes
        .iter()
        .filter_map(|node| node.facts.list.clone())
        .collect();
    let names = Names::of(all_names(graph, &nodes));

    let mut fields = String::new();
    let mut field_count = 0;
    let mut types = String::new();
    for (index, node) in nodes.iter().enumerate() {
        let mut facts = String::new();
        if !node.fields.is_empty() {
            let count = node.fields.len();
            facts += &format!("fields: r({field_count}, {count}), ");
            field_count += count;
            let _ = writeln!(fields, "    // {index}: {}", node.place);
            for (name, field) in &node.fields {
                let (run, field) = (names.run(name), number(*field));
                let _ = writeln!(fields, "    f({run}, {field}), // {name}");
            }
        }
        if let Some(items) = node.items {
            facts += &format!("items: {}, ", number(items));
        }
        if let Some(values) = node.values {
            facts += &format!("values: {}, ", number(values));
        }
        match &node.facts.list {
            None => {}
            Some(of) if of.is_empty() => facts += "list: ListRelation::Set, ",
            Some(of) => {
                let before = keys.iter().take_while(|other| *other != of);
                let start: usize = before.map(Vec::len).sum();
                facts += &format!("list: ListRelation::Map, keys: r({start}, {}), ", of.len());
            }
        }
        if node.facts.atomic_map {
            facts += "map: MapType::Atomic, ";
        }
        if node.facts.strategy != [false; 3] {
            let [merge, replace, retain_keys] = node.facts.strategy;
            facts += &format!("strategy: s({merge}, {replace}, {retain_keys}), ");
        }
        if let Some(key) = node.facts.merge_key {
            facts += &format!("merge_key: r({}), ", names.run(key));
        }
        if node.facts.open {
            facts += "open: true, ";
        }
        let place = &node.place;
        let _ = writeln!(
            types,
            "    Type {{ {facts}..Type::LEAF }}, // {index}: {place}"
        );
    }

    let mut text = header.to_owned();
    text += PRELUDE;
    text += "const NAMES: &str = \"\\\n";
    for line in names.0.as_bytes().chunks(96) {
        text += &String::from_utf8_lossy(line);
        text += "\\\n";
    }
    text += "\";\n";
    let _ = write!(
        text,
        "\nstatic KINDS: [KindEntry; {}] = [\n",
        graph.kinds.len()
    );
    for ([group, version, kind], root) in &graph.kinds {
        let [g, v, k] = [group, version, kind].map(|name| names.run(name));
        let slash = if group.is_empty() { "" } else { "/" };
        let root = number(*root);
        let _ = writeln!(
            text,
            "    k({g}, {v}, {k}, {root}), // {group}{slash}{version} {kind}"
        );
    }
    let _ = write!(
        text,
        "];\n\nstatic TYPES: [Type; {}] = [\n{types}];\n",
        nodes.len()
    );
    let _ = write!(
        text,
        "\nstatic FIELDS: [Field; {field_count}] = [\n{fields}];\n"
    );
    let count: usize = keys.iter().map(Vec::len).sum();
    let _ = write!(text, "\nstatic KEYS: [KeyEntry; {count}] = [\n");
    for (name, default) in keys.iter().flatten() {
        let run = names.run(name);
        let _ = match default {
            None => writeln!(text, "    e({run}, KeyDefaultEntry::None), // {name}"),
            Some(value) => {
                let value_run = names.run(value);
                let default = format!("KeyDefaultEntry::String(r({value_run}))");
                writeln!(text, "    e({run}, {default}), // {name}: {value}")
            }
        };
    }
    text += "];\n";
    text
}

/// The classes that kinds lead to without what was dropped, and the leaf.
fn reachable(graph: &Graph<'_>, classes: &[usize]) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([classes[LEAF]]);
    let mut open: Vec<usize> = graph.kinds.iter().map(|(_, root)| *root).collect();
    let mut seen = vec![false; graph.nodes.len()];
    while let Some(index) = open.pop() {
        if std::mem::replace(&mut seen[index], true) {
            continue;
        }
        found.insert(classes[index]);
        let node = &graph.nodes[index];
        open.extend(node.fields.iter().map(|(_, index)| *index));
        open.extend(node.items.into_iter().chain(node.values));
    }
    found
}

fn all_names<'s>(graph: &'s Graph<'_>, nodes: &'s [&Node<'_>]) -> impl Iterator<Item = &'s str> {
    let kinds = graph
        .kinds
        .iter()
        .flat_map(|(names, _)| names.iter().copied());
    let of_node = |node: &&'s Node<'_>| {
        let fields = node.fields.iter().map(|(name, _)| *name);
        let keys = node.facts.list.iter().flatten();
        let keys = keys.flat_map(|(name, default)| [Some(*name), *default]);
        let keys = keys.flatten();
        fields
            .chain(keys)
            .chain(node.facts.merge_key)
            .collect::<Vec<_>>()
    };
    kinds.chain(nodes.iter().flat_map(of_node))
}

const PRELUDE: &str = "
use std::borrow::Cow;

use super::extensions::{MapType, PatchStrategy};
use super::table::{Field, KeyDefaultEntry, KeyEntry, KindEntry, ListRelation, Run, Table, Type};

pub(super) static BUILTIN: Table = Table {
    names: Cow::Borrowed(NAMES),
    kinds: Cow::Borrowed(&KINDS),
    types: Cow::Borrowed(&TYPES),
    fields: Cow::Borrowed(&FIELDS),
    keys: Cow::Borrowed(&KEYS),
};

const fn r(start: u32, len: u32) -> Run {
    Run::new(start, len)
}

const fn f(start: u32, len: u32, index: u32) -> Field {
    Field { name: r(start, len), index }
}

const fn e(start: u32, len: u32, default: KeyDefaultEntry) -> KeyEntry {
    KeyEntry { name: r(start, len), default }
}

const fn k(g: u32, g_len: u32, v: u32, v_len: u32, k: u32, k_len: u32, root: u32) -> KindEntry {
    KindEntry { group: r(g, g_len), version: r(v, v_len), kind: r(k, k_len), root }
}

const fn s(merge: bool, replace: bool, retain_keys: bool) -> PatchStrategy {
    PatchStrategy { merge, replace, retain_keys }
}

";
