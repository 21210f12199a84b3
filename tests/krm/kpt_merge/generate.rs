//! Generated resources in three versions, the same on every run.

use krm_yaml::Value;

/// A source of numbers that needs no more than to be the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

fn map(entries: Vec<(&str, Value)>) -> Value {
    let entries = entries.into_iter();
    Value::Mapping(
        entries
            .map(|(key, value)| (Value::from(key), value))
            .collect(),
    )
}

/// One resource: original, local and upstream.
pub(crate) type Triple = [Option<Value>; 3];

/// A resource of some kind, changed by both sides.
pub(crate) fn triple(random: &mut Random, number: usize) -> Triple {
    let base = resource(random, number);
    let side = |random: &mut Random| {
        let mut value = base.clone();
        for _ in 0..random.below(6) {
            change(&mut value, random, true);
        }
        value
    };
    let (local, upstream) = (side(random), side(random));
    match random.below(24) {
        0 => [Some(base), None, Some(upstream)],
        1 => [Some(base), Some(local), None],
        2 => [None, Some(local), None],
        3 => [None, None, Some(upstream)],
        4 => [Some(base.clone()), Some(base), None],
        _ => [Some(base), Some(local), Some(upstream)],
    }
}

fn resource(random: &mut Random, number: usize) -> Value {
    let name = Value::from(format!("r{number}"));
    let metadata = map(vec![
        ("name", name),
        ("labels", words(random)),
        ("annotations", words(random)),
    ]);
    let head = |version: &str, kind: &str| {
        vec![
            ("apiVersion", Value::from(version)),
            ("kind", Value::from(kind)),
            ("metadata", metadata.clone()),
        ]
    };
    match random.below(4) {
        0 => {
            let mut entries = head("v1", "ConfigMap");
            entries.push(("data", words(random)));
            map(entries)
        }
        1 => {
            let mut entries = head("v1", "Service");
            let ports = list(random, |random, at| {
                map(vec![
                    ("name", Value::from(format!("p{at}"))),
                    ("port", Value::from(80 + at as i64)),
                    ("targetPort", number_or_word(random)),
                ])
            });
            let spec = vec![("selector", words(random)), ("ports", ports)];
            entries.push(("spec", map(spec)));
            map(entries)
        }
        2 => {
            let mut entries = head("example.com/v1", "Thing");
            let items = list(random, |random, _| words(random));
            let nested = map(vec![("one", words(random)), ("two", words(random))]);
            let spec = vec![
                ("size", number_or_word(random)),
                ("nested", nested),
                ("items", items),
            ];
            entries.push(("spec", map(spec)));
            map(entries)
        }
        _ => {
            let mut entries = head("apps/v1", "Deployment");
            let containers = list(random, container);
            let pod = map(vec![
                ("containers", containers),
                ("nodeSelector", words(random)),
            ]);
            let template = map(vec![
                ("metadata", map(vec![("labels", words(random))])),
                ("spec", pod),
            ]);
            let spec = vec![("replicas", number_or_word(random)), ("template", template)];
            entries.push(("spec", map(spec)));
            map(entries)
        }
    }
}

fn container(random: &mut Random, at: usize) -> Value {
    let env = list(random, |random, at| {
        map(vec![
            ("name", Value::from(format!("E{at}"))),
            ("value", Value::from(format!("v{}", random.below(3)))),
        ])
    });
    let args = list(random, |random, _| {
        Value::from(format!("a{}", random.below(4)))
    });
    map(vec![
        ("name", Value::from(format!("c{at}"))),
        ("image", Value::from(format!("app:{}", random.below(3)))),
        ("env", env),
        ("args", args),
        ("resources", map(vec![("limits", words(random))])),
    ])
}

fn list(random: &mut Random, mut element: impl FnMut(&mut Random, usize) -> Value) -> Value {
    let count = 1 + random.below(3);
    Value::Sequence((0..count).map(|at| element(random, at)).collect())
}

fn words(random: &mut Random) -> Value {
    let count = 1 + random.below(3);
    let first = random.below(3);
    let entry = |at| (Value::from(format!("k{at}")), Value::from(format!("w{at}")));
    Value::Mapping((first..first + count).map(entry).collect())
}

fn number_or_word(random: &mut Random) -> Value {
    match random.below(3) {
        0 => Value::from(format!("w{}", random.below(5))),
        _ => Value::from(random.below(5) as i64),
    }
}

/// Changes one place. The head of a resource, and the names of elements, stay.
fn change(value: &mut Value, random: &mut Random, is_root: bool) {
    match value {
        Value::Mapping(entries) => {
            let fixed = |key: &Value| {
                [
                    "apiVersion",
                    "kind",
                    "name",
                    "containers",
                    "template",
                    "spec",
                ]
                .contains(&key.as_str().unwrap_or_default())
            };
            let free: Vec<usize> = (0..entries.len())
                .filter(|at| !fixed(&entries[*at].0))
                .collect();
            let inner: Vec<usize> = (0..entries.len())
                .filter(|at| matches!(entries[*at].1, Value::Mapping(_) | Value::Sequence(_)))
                .collect();
            let is_metadata = entries
                .iter()
                .any(|(key, _)| key.as_str() == Some("labels"));
            match random.below(8) {
                0..5 if !inner.is_empty() => {
                    let at = inner[random.below(inner.len())];
                    change(&mut entries[at].1, random, false);
                }
                _ if is_root => {}
                5 if !free.is_empty() => {
                    entries.remove(free[random.below(free.len())]);
                }
                6 if !is_metadata => {
                    let key = Value::from(format!("n{}", random.below(4)));
                    if entries.iter().all(|(other, _)| *other != key) {
                        let at = random.below(entries.len() + 1);
                        entries.insert(at, (key, Value::from(format!("x{}", random.below(3)))));
                    }
                }
                _ if !free.is_empty() => {
                    let at = free[random.below(free.len())];
                    let text = entries[at].1.to_json();
                    match &mut entries[at].1 {
                        Value::Mapping(_) | Value::Sequence(_) => {}
                        scalar if random.one_in(25) => *scalar = Value::Null,
                        // The same text, and another value.
                        number @ Value::Number(_) if random.one_in(3) => {
                            *number = Value::from(text)
                        }
                        scalar => *scalar = Value::from(format!("y{}", random.below(3))),
                    }
                }
                _ => {}
            }
        }
        Value::Sequence(items) => match random.below(6) {
            0 if items.len() > 1 => {
                items.remove(random.below(items.len()));
            }
            1 if items.len() > 1 => {
                let (a, b) = (random.below(items.len()), random.below(items.len()));
                items.swap(a, b);
            }
            2 => {
                let mut new = items.first().cloned().unwrap_or(Value::from("z"));
                let name = format!("l{}", random.below(4));
                match &mut new {
                    Value::Mapping(entries) => {
                        for (key, value) in entries.iter_mut() {
                            match key.as_str() {
                                Some("name") => *value = Value::from(name.as_str()),
                                Some("port") => *value = Value::from(100 + random.below(9) as i64),
                                _ => {}
                            }
                        }
                    }
                    other => *other = Value::from(name.as_str()),
                }
                let is_there = |item: &Value| {
                    item.get("name").is_some() && item.get("name") == new.get("name")
                };
                if !items.iter().any(is_there) {
                    items.insert(random.below(items.len() + 1), new);
                }
            }
            _ if !items.is_empty() => {
                let at = random.below(items.len());
                change(&mut items[at], random, false);
            }
            _ => {}
        },
        scalar => *scalar = Value::from(format!("s{}", random.below(3))),
    }
}
