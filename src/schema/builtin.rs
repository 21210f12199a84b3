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
use std::sync::LazyLock;

use super::extensions::{MapType, PatchStrategy};
use super::table::{Field, KeyEntry, ListRelation, Run, Table, Type, offset};

pub(super) static BUILTIN: LazyLock<Table> = LazyLock::new(|| read(include_str!("builtin.txt")));

/// The type of which nothing is said.
const LEAF: u32 = 0;

fn read(text: &'static str) -> Table {
    let (kinds, types) = text.split_once("\n\n").unwrap_or_default();
    let is_type = |line: &&str| !line.starts_with(' ');
    let names = types.lines().filter(is_type).map(|line| line.split(' '));
    let names = names.filter_map(|mut words| words.next());
    let named: HashMap<&str, u32> = names.zip(1..).collect();
    let types_of_names = vec![Type::LEAF; named.len() + 1];
    let table = Table {
        types: types_of_names,
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
    let mut type_ = LEAF;
    for line in types.lines() {
        match line.strip_prefix(' ') {
            Some(field) => reader.field(type_, field),
            None => {
                type_ += 1;
                let (_, facts) = line.split_once(' ').unwrap_or_default();
                let start = offset(reader.table.fields.len());
                let fields = Run { start, len: 0 };
                let facts = reader.facts(facts);
                reader.table.types[type_ as usize] = Type { fields, ..facts };
            }
        }
    }
    reader.table.sort_kinds();
    reader.table
}

struct TableReader {
    table: Table,
    named: HashMap<&'static str, u32>,
}

impl TableReader {
    fn index(&self, name: &str) -> u32 {
        self.named.get(name).copied().unwrap_or(LEAF)
    }

    fn field(&mut self, of: u32, line: &str) {
        let (name, words) = line.split_once(' ').unwrap_or((line, "-"));
        let index = match self.named.get(words) {
            Some(index) => *index,
            None if words == "-" => LEAF,
            None => {
                let facts = self.facts(words);
                self.table.types.push(facts);
                offset(self.table.types.len() - 1)
            }
        };
        let name = self.table.add_name(name);
        self.table.fields.push(Field { name, index });
        self.table.types[of as usize].fields.len += 1;
    }

    fn facts(&mut self, words: &str) -> Type {
        let mut facts = Type::LEAF;
        for word in words.split(' ') {
            match word.split_once('=').unwrap_or((word, "")) {
                ("set", _) => facts.list = ListRelation::Set,
                ("map", keys) => {
                    facts.list = ListRelation::Map;
                    facts.keys = self.keys(keys);
                }
                ("by", key) => facts.merge_key = self.table.add_name(key),
                ("items", name) => facts.items = self.index(name),
                ("values", name) => facts.values = self.index(name),
                ("atomic", _) => facts.map = MapType::Atomic,
                ("open", _) => facts.open = true,
                ("patch", strategy) => facts.strategy = PatchStrategy::parse(strategy),
                _ => {}
            }
        }
        facts
    }

    fn keys(&mut self, names: &str) -> Run {
        let start = offset(self.table.keys.len());
        for name in names.split(',') {
            let (default, name) = (self.table.known_default(name), self.table.add_name(name));
            self.table.keys.push(KeyEntry { name, default });
        }
        Run::new(start, offset(self.table.keys.len()) - start)
    }
}
