//! JSON patches (RFC 6902), with their target in a kustomization's `patches`.

use std::collections::HashMap;

use super::super::node::{Finder, Node, Shape};
use super::KustomizePatch;
use super::place::ValuePlace;
use krm_core::diff::common_ends;
use krm_core::resource::{Resource, namespace_of};
use krm_core::schema::Keys;
use krm_yaml::scalar::{Reading, ScalarStyle};
use krm_yaml::{NodeKind, Trail, Value, to_block_text};

/// An operation of a JSON patch.
#[derive(Debug, Clone)]
pub struct Operation<'a> {
    /// A JSON pointer.
    path: String,
    change: JsonChange<'a>,
}

/// The change that an operation makes.
#[derive(Debug, Clone)]
pub(super) enum JsonChange<'a> {
    /// Adds a field, or replaces an existing one; in a list, adds an element before the index.
    Add(Node<'a>),
    Replace(Node<'a>),
    Remove,
    /// Changes nothing. The build fails if the place has another value, or does not exist.
    Test(Node<'a>),
}

impl<'a> Operation<'a> {
    pub(super) fn new(path: String, change: JsonChange<'a>) -> Self {
        Self { path, change }
    }

    pub(super) fn at(place: &ValuePlace<'_, '_>, change: JsonChange<'a>) -> Self {
        Self::new(pointer(&place.trail), change)
    }

    /// Approximate number of bytes that it takes in memory.
    pub(super) fn cost(&self) -> usize {
        self.to_value().cost()
    }

    fn to_value(&self) -> Value {
        let (word, value) = match &self.change {
            JsonChange::Add(value) => ("add", Some(value)),
            JsonChange::Replace(value) => ("replace", Some(value)),
            JsonChange::Remove => ("remove", None),
            JsonChange::Test(value) => ("test", Some(value)),
        };
        let mut fields = vec![Value::entry("op", word), Value::entry("path", &*self.path)];
        fields.extend(value.map(|value| Value::entry("value", value.to_value())));
        Value::Mapping(fields)
    }
}

/// The path to a value as a JSON pointer (RFC 6901).
fn pointer(trail: &Trail<'_>) -> String {
    let mut pointer = String::new();
    for step in trail.steps() {
        pointer.push('/');
        match step {
            Trail::Root => {}
            Trail::Field(_, name) => {
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            }
            Trail::Element(_, index, ()) => pointer.push_str(&index.to_string()),
        }
    }
    pointer
}

impl<'a> KustomizePatch<'a> {
    /// Adds the operations that turn one value into another.
    pub(super) fn differences(
        &mut self,
        live: &Node<'a>,
        new: &Node<'a>,
        place: &ValuePlace<'_, '_>,
    ) {
        match (live.shape(), new.shape()) {
            (Shape::Map, Shape::Map) => self.map_differences(live, new, place),
            (Shape::List, Shape::List) => self.list_differences(live, new, place),
            (Shape::Null, Shape::Null) => self.keep_null(live, place),
            (Shape::Scalar, Shape::Scalar) if live.equals(new) => {}
            _ => self.push(place, JsonChange::Replace(new.clone())),
        }
    }

    fn map_differences(&mut self, live: &Node<'a>, new: &Node<'a>, place: &ValuePlace<'_, '_>) {
        let theirs = Finder::of(Some(live));
        for field in new.each_field() {
            let live = theirs.find(&field.key);
            self.field_differences(live.as_ref(), &field.value, &place.field(&field.key));
        }
        let own = Finder::of(Some(new));
        for field in live.each_field() {
            if own.find(&field.key).is_none() {
                self.push(&place.field(&field.key), JsonChange::Remove);
            }
        }
    }

    /// The same for a field that live may not have.
    pub(super) fn field_differences(
        &mut self,
        live: Option<&Node<'a>>,
        new: &Node<'a>,
        place: &ValuePlace<'_, '_>,
    ) {
        match live {
            Some(live) => self.differences(live, new, place),
            None => self.push(place, JsonChange::Add(new.clone())),
        }
    }

    /// Lists of equal length are compared element by element. In others, the elements between equal heads and tails are
    /// replaced. What identifies an element is tested before the element is changed, because a later base may have
    /// another one at its position.
    fn list_differences(&mut self, live: &Node<'a>, new: &Node<'a>, place: &ValuePlace<'_, '_>) {
        let live: Vec<Node<'a>> = live.each_item().collect();
        let new: Vec<Node<'a>> = new.each_item().collect();
        if live.len() == new.len() {
            for (at, (live, new)) in live.iter().zip(&new).enumerate() {
                self.tested(live, place, at, |create, at| {
                    create.differences(live, new, at)
                });
            }
            return;
        }
        let (head, tail) = common_ends(&live, &new, |live, new| live.equals(new));
        let (live_end, new_end) = (live.len() - tail, new.len() - tail);
        let both = live_end.min(new_end);
        for (at, new) in new.iter().enumerate().take(both).skip(head) {
            let change = JsonChange::Replace(new.clone());
            self.tested(&live[at], place, at, |create, at| create.push(at, change));
        }
        for at in (both..live_end).rev() {
            self.tested(&live[at], place, at, |create, at| {
                create.push(at, JsonChange::Remove)
            });
        }
        for (at, new) in new.iter().enumerate().take(new_end).skip(both) {
            let change = JsonChange::Add(new.clone());
            match live.get(live_end) {
                Some(next) => self.tested(next, place, at, |create, at| create.push(at, change)),
                None => self.push(&place.field("-"), change),
            }
        }
    }

    /// Adds what identifies an element of a list before the operations that `change` adds for its position.
    pub(super) fn tested(
        &mut self,
        element: &Node<'a>,
        list: &ValuePlace<'_, '_>,
        at: usize,
        change: impl FnOnce(&mut Self, &ValuePlace<'_, '_>),
    ) {
        let place = list.element(at);
        let (operations, lost) = (self.operations.len(), self.lost.len());
        change(self, &place);
        for (found, from) in [(&mut self.operations, operations), (&mut self.lost, lost)] {
            if found.len() > from {
                let tests = tests(element, list.keys(), &place);
                found.splice(from..from, tests);
            }
        }
    }
}

/// Tests of what identifies an element: its keys, its name, or a string or number itself.
fn tests<'a>(
    element: &Node<'a>,
    keys: Option<Keys<'_>>,
    place: &ValuePlace<'_, '_>,
) -> Vec<Operation<'a>> {
    let test = |place: &ValuePlace<'_, '_>, value: Node<'a>| {
        is_read_alike(&value).then(|| Operation::at(place, JsonChange::Test(value)))
    };
    match element.shape() {
        Shape::Scalar => test(place, element.clone()).into_iter().collect(),
        Shape::Map => {
            let names: Vec<&str> = keys.map_or_else(|| vec!["name"], |keys| keys.names().collect());
            let found = names.into_iter().filter_map(|name| {
                let value = element.get(name).filter(|key| key.shape() == Shape::Scalar);
                test(&place.field(name), value?)
            });
            found.collect()
        }
        Shape::Null | Shape::List => Vec::new(),
    }
}

/// Whether kustomize, which reads YAML 1.2, takes a scalar for what kubectl takes it for.
fn is_read_alike(scalar: &Node<'_>) -> bool {
    let Some(source) = scalar.source() else {
        return true;
    };
    let text = source.scalar_text().unwrap_or_default();
    match scalar.as_str() {
        Some(_) => {
            source.kind() != NodeKind::Scalar(ScalarStyle::Plain) || Reading::Core.is_string(text)
        }
        None => scalar
            .scalar()
            .is_some_and(|value| value.plain_text() == text),
    }
}

/// An entry of `patches` with these operations.
pub(super) fn entry(operations: &[Operation<'_>], target: Value) -> Value {
    let mut operations: Vec<Value> = operations.iter().map(Operation::to_value).collect();
    // kustomize trims the patch, which would remove the last line break of a text at its end.
    if let Some(last) = operations.last_mut()
        && ends_with_line_break(last)
        && let Value::Mapping(fields) = last
    {
        fields.reverse();
    }
    let patch = to_block_text(&Value::Sequence(operations));
    Value::Mapping(vec![
        Value::entry("target", target),
        Value::entry("patch", patch),
    ])
}

fn ends_with_line_break(value: &Value) -> bool {
    match value {
        Value::String(text) => text.ends_with('\n'),
        Value::Sequence(items) => items.last().is_some_and(ends_with_line_break),
        Value::Mapping(fields) => fields
            .last()
            .is_some_and(|(_, value)| ends_with_line_break(value)),
        _ => false,
    }
}

/// The resources of a kustomization. A target must select only one of them.
#[derive(Debug, Default)]
pub struct Targets<'r> {
    /// The resources by kind and name.
    alike: HashMap<(&'r str, Option<&'r str>), Vec<&'r Resource>>,
}

impl<'r> FromIterator<&'r Resource> for Targets<'r> {
    fn from_iter<I: IntoIterator<Item = &'r Resource>>(resources: I) -> Self {
        let mut alike: HashMap<_, Vec<&'r Resource>> = HashMap::new();
        for resource in resources {
            let key = (&*resource.kind, resource.name.as_deref());
            alike.entry(key).or_default().push(resource);
        }
        Self { alike }
    }
}

impl Targets<'_> {
    /// The target that selects a resource. Each field is a regular expression, and a missing field matches anything. So
    /// the core group and the namespace `default` are named where another resource would match, too.
    pub(super) fn select(&self, resource: &Resource) -> Value {
        let (group, name) = (resource.group(), resource.name.as_deref());
        let namespace = namespace_of(resource.namespace.as_deref());
        let alike = self.alike.get(&(&*resource.kind, name));
        let mut alike = alike.into_iter().flatten();
        let names_group = !group.is_empty() || alike.clone().any(|other| other.group() != group);
        let names_namespace = resource
            .namespace
            .as_deref()
            .is_some_and(|name| !name.is_empty())
            || alike.any(|other| namespace_of(other.namespace.as_deref()) != namespace);
        let literal = |text: &str| regex::escape(text).replace("\\-", "-");
        let group = if group.is_empty() {
            "^$".to_owned()
        } else {
            literal(group)
        };
        let version = resource.api_version.rsplit('/').next().unwrap_or_default();
        let fields = [
            ("group", names_group.then_some(group)),
            ("version", Some(literal(version))),
            ("kind", Some(literal(&resource.kind))),
            ("name", name.map(literal)),
            ("namespace", names_namespace.then(|| literal(namespace))),
        ];
        let given = fields
            .into_iter()
            .filter_map(|(key, value)| Some(Value::entry(key, value?)));
        Value::Mapping(given.collect())
    }
}
