//! The built-in kinds of Kubernetes: `builtin.txt`, read when a schema is first needed.
//!
//! ```text
//! apps/v1 Deployment apps.v1.Deployment                             # a kind, and the name of its type
//!
//! core.v1.PodSpec                                                   # a type, and its fields
//!  affinity core.v1.Affinity
//!  containers map=name patch=merge by=name items=core.v1.Container
//!  nodeSelector atomic values=-                                     # of its values nothing is said
//! ```
//!
//! `set` and `map=KEYS` are list types, `atomic` a map type; `patch=` and `by=` are the patch strategy and the patch merge
//! key; `open` allows keys that are not named.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::extensions::{MapType, PatchStrategy};
use super::list_type::Key;
use super::table::{FieldEntry, ListRelation, Table, Type};

pub(super) static BUILTIN: LazyLock<Table> = LazyLock::new(|| read(include_str!("builtin.txt")));

/// The type without any facts.
const LEAF: usize = 0;

fn read(text: &'static str) -> Table {
    let (kinds, types) = text.split_once("\n\n").unwrap_or_default();
    let is_type = |line: &&str| !line.starts_with(' ');
    let names = types.lines().filter(is_type).map(|line| line.split(' '));
    let names = names.filter_map(|mut words| words.next());
    let named: HashMap<&str, usize> = names.zip(1..).collect();
    let table = Table {
        types: vec![Type::default(); named.len() + 1],
        ..Table::default()
    };
    let mut reader = TableReader { table, named };
    for line in kinds.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let (group, version) = match words.next().map(|word| (word, word.split_once('/'))) {
            Some((_, Some(of_group))) => of_group,
            Some((version, None)) => ("", version),
            None => continue,
        };
        let kind = words.next().unwrap_or_default();
        let root = reader.index(words.next().unwrap_or_default());
        reader.table.add_kind([group, version, kind], root);
    }
    let mut lines = types.lines().peekable();
    for index in 1.. {
        let Some(line) = lines.next() else { break };
        let (_, facts) = line.split_once(' ').unwrap_or_default();
        let own = std::iter::from_fn(|| lines.next_if(|line| line.starts_with(' ')));
        let fields = own.map(|line| reader.field(line.trim_start())).collect();
        let facts = reader.facts(facts);
        reader.table.types[index] = Type { fields, ..facts };
    }
    reader.table.sort_kinds();
    reader.table
}

struct TableReader {
    table: Table,
    named: HashMap<&'static str, usize>,
}

impl TableReader {
    fn index(&self, name: &str) -> usize {
        self.named.get(name).copied().unwrap_or(LEAF)
    }

    fn field(&mut self, line: &'static str) -> FieldEntry {
        let (name, words) = line.split_once(' ').unwrap_or((line, "-"));
        let index = match self.named.get(words) {
            Some(index) => *index,
            None if words == "-" => LEAF,
            None => {
                let facts = self.facts(words);
                self.table.types.push(facts);
                self.table.types.len() - 1
            }
        };
        let name = name.into();
        FieldEntry { name, index }
    }

    fn facts(&self, words: &'static str) -> Type {
        let mut facts = Type::default();
        for word in words.split(' ') {
            match word.split_once('=').unwrap_or((word, "")) {
                ("set", _) => facts.list = Some(ListRelation::Set),
                ("map", keys) => {
                    let keys = keys.split(',').map(Key::known);
                    facts.list = Some(ListRelation::Map(keys.collect()));
                }
                ("by", key) => facts.merge_key = Some(Arc::new(Key::named(key))),
                ("items", name) => facts.items = Some(self.index(name)),
                ("values", name) => facts.values = Some(self.index(name)),
                ("atomic", _) => facts.map = Some(MapType::Atomic),
                ("open", _) => facts.open = true,
                ("patch", strategy) => facts.strategy = PatchStrategy::parse(strategy),
                _ => {}
            }
        }
        facts
    }
}
