//! Values that know where their text is.
//!
//! A [`Node`] that a patch did not change is a node of a document. A changed one records the node that it was made
//! from. So a result shows which text to keep, which to move and which to write.

mod fields;
mod finder;

use std::rc::Rc;

pub use fields::{Field, Fields};
pub(super) use finder::Finder;

use fields::key_text;
use krm_yaml::{NodeKind, NodeRef, Value};

/// A value, or a part of one.
#[derive(Debug, Clone)]
pub enum Node<'a> {
    /// A node of a document.
    Text(NodeRef<'a>),
    /// A scalar that no document has.
    Scalar(Rc<Value>),
    /// A list that a patch made.
    List(Rc<List<'a>>),
    /// A map that a patch made.
    Map(Rc<Map<'a>>),
}

/// A list that a patch made.
#[derive(Debug, Clone, Default)]
pub struct List<'a> {
    pub items: Vec<ListItem<'a>>,
    /// The list that it was made from, if any.
    pub source: Option<NodeRef<'a>>,
}

/// An element of a list.
#[derive(Debug, Clone)]
pub struct ListItem<'a> {
    pub value: Node<'a>,
    /// The element of a document that it was made from, with its index there; `None` if it is new.
    pub place: Option<(usize, NodeRef<'a>)>,
}

/// A map that a patch made.
#[derive(Debug, Clone, Default)]
pub struct Map<'a> {
    pub fields: Fields<'a>,
    /// The map that it was made from, if any.
    pub source: Option<NodeRef<'a>>,
}

/// What kind of value a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `null` or empty.
    Null,
    /// A string, number or boolean.
    Scalar,
    List,
    Map,
}

impl Shape {
    /// The name of the shape in messages, with its article.
    pub fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Scalar => "a scalar",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}

impl<'a> Node<'a> {
    /// A scalar that no document has.
    pub fn of_value(value: impl Into<Value>) -> Self {
        Self::Scalar(Rc::new(value.into()))
    }

    /// A list, and the list of a document that it was made from, if any. It is that list if no element changed.
    pub fn list(items: Vec<ListItem<'a>>, source: Option<NodeRef<'a>>) -> Self {
        let is_unchanged = |list: NodeRef<'a>| {
            let mut old = list.items().map(Node::Text);
            let mut own = items.iter().map(|item| &item.value);
            let all = own.all(|value| old.next().is_some_and(|old| value.is(&old)));
            all && old.next().is_none()
        };
        match source.filter(|list| list.kind().is_sequence()) {
            Some(list) if is_unchanged(list) => Self::Text(list),
            source => Self::List(Rc::new(List { items, source })),
        }
    }

    /// A map, and the map of a document that it was made from, if any. It is that map if no field changed.
    pub fn map(fields: Fields<'a>, source: Option<NodeRef<'a>>) -> Self {
        match source.filter(|map| map.kind().is_mapping()) {
            Some(map) if fields.are_of(map) => Self::Text(map),
            source => Self::Map(Rc::new(Map { fields, source })),
        }
    }

    /// A map without entries.
    pub(crate) fn empty_map() -> Self {
        Self::map(Fields::default(), None)
    }

    /// What kind of value it is.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Text(node) => match node.resolved() {
                node if node.kind().is_mapping() => Shape::Map,
                node if node.kind().is_sequence() => Shape::List,
                node if node.is_null() => Shape::Null,
                _ => Shape::Scalar,
            },
            Self::Scalar(value) if **value == Value::Null => Shape::Null,
            Self::Scalar(_) => Shape::Scalar,
            Self::List(_) => Shape::List,
            Self::Map(_) => Shape::Map,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.shape() == Shape::Null
    }

    /// The node of a document that it is, or was made from.
    pub fn source(&self) -> Option<NodeRef<'a>> {
        match self {
            Self::Text(node) => Some(node.resolved()),
            Self::Scalar(_) => None,
            Self::List(list) => list.source,
            Self::Map(map) => map.source,
        }
    }

    /// The entries of a map; none for other nodes.
    pub fn fields(&self) -> Fields<'a> {
        match self {
            Self::Text(node) => node.resolved().entries().map(Field::of).collect(),
            Self::Map(map) => map.fields.clone(),
            _ => Fields::default(),
        }
    }

    /// The entries of a map whose keys fit; none for other nodes.
    pub(super) fn fields_if(&self, fits: impl Fn(&str) -> bool) -> Fields<'a> {
        let mut fields = self.fields();
        fields.retain(|_, key| fits(key));
        fields
    }

    /// Adds the key fields of an element before the fields of this patch, in the element's order.
    pub(super) fn with_keys(&self, element: &Self, is_key: impl Fn(&str) -> bool) -> Self {
        let mut fields = element.fields_if(|key| is_key(key) && self.get(key).is_none());
        fields.extend(self.each_field());
        Self::map(fields, self.source())
    }

    /// The entries of a map one by one; none for other nodes.
    pub fn each_field<'s>(&'s self) -> Box<dyn Iterator<Item = Field<'a>> + 's> {
        match self {
            Self::Text(node) => Box::new(node.resolved().entries().map(Field::of)),
            Self::Map(map) => Box::new(map.fields.iter()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// The entries of a map, which are not copied if no other node shares them.
    pub(crate) fn into_fields(self) -> Fields<'a> {
        match self {
            Self::Map(map) => Rc::unwrap_or_clone(map).fields,
            other => other.fields(),
        }
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        match self {
            Self::Text(node) => {
                let mut entries = node.resolved().entries();
                let found = entries.find(|entry| key_text(entry.key) == key)?;
                Some(Self::Text(found.value))
            }
            Self::Map(map) => {
                let fields = &map.fields;
                Some(fields.get(fields.position(key)?).value)
            }
            _ => None,
        }
    }

    /// The value at the end of a chain of keys.
    pub fn get_path(&self, keys: &[&str]) -> Option<Node<'a>> {
        let Some((first, rest)) = keys.split_first() else {
            return Some(self.clone());
        };
        rest.iter()
            .try_fold(self.get(first)?, |node, key| node.get(key))
    }

    /// The elements of a list; none for other nodes.
    pub fn items(&self) -> Vec<ListItem<'a>> {
        self.placed_items().collect()
    }

    /// The elements of a list one by one, with their places; none for other nodes.
    pub(crate) fn placed_items<'s>(&'s self) -> Box<dyn Iterator<Item = ListItem<'a>> + 's> {
        match self {
            Self::Text(node) => {
                let items = node.resolved().items().enumerate();
                Box::new(items.map(|(index, item)| ListItem {
                    value: Node::Text(item),
                    place: Some((index, item)),
                }))
            }
            Self::List(list) => Box::new(list.items.iter().cloned()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// The elements of a list one by one; none for other nodes.
    pub fn each_item<'s>(&'s self) -> impl Iterator<Item = Node<'a>> + use<'s, 'a> {
        self.placed_items().map(|item| item.value)
    }

    /// Whether a map or list is empty. True for scalars.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(node) => !node.resolved().is_filled(),
            Self::List(list) => list.items.is_empty(),
            Self::Map(map) => map.fields.is_empty(),
            Self::Scalar(_) => true,
        }
    }

    /// The value of a scalar; `None` for other nodes.
    pub fn scalar(&self) -> Option<Value> {
        match self {
            Self::Text(node) if matches!(node.resolved().kind(), NodeKind::Scalar(_)) => {
                node.resolved().value()
            }
            Self::Scalar(value) => Some(Value::clone(value)),
            _ => None,
        }
    }

    /// The text of a string; `None` for other nodes.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(node) => node.as_str(),
            Self::Scalar(value) => value.as_str(),
            _ => None,
        }
    }

    /// The value. Keys of maps become strings, as in JSON.
    pub fn to_value(&self) -> Value {
        match self.shape() {
            Shape::Null | Shape::Scalar => self.scalar().unwrap_or(Value::Null),
            Shape::List => Value::Sequence(self.each_item().map(|item| item.to_value()).collect()),
            Shape::Map => {
                let entry = |field: Field<'_>| (Value::from(&*field.key), field.value.to_value());
                Value::Mapping(self.each_field().map(entry).collect())
            }
        }
    }

    /// Whether both are the same node of the same document, or aliases of it.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => same_place(a.resolved(), b.resolved()),
            _ => false,
        }
    }

    /// Whether both have the same value.
    pub fn equals(&self, other: &Self) -> bool {
        if self.is(other) {
            return true;
        }
        match (self.shape(), other.shape()) {
            (Shape::Null, Shape::Null) => true,
            (Shape::Scalar, Shape::Scalar) => match (self.as_str(), other.as_str()) {
                (Some(own), Some(other)) => own == other,
                (None, None) => self.scalar() == other.scalar(),
                _ => false,
            },
            (Shape::List, Shape::List) => {
                let (mut own, mut other) = (self.each_item(), other.each_item());
                loop {
                    match (own.next(), other.next()) {
                        (None, None) => return true,
                        (Some(own), Some(other)) if own.equals(&other) => {}
                        _ => return false,
                    }
                }
            }
            (Shape::Map, Shape::Map) => {
                let theirs = Finder::of(Some(other));
                let mut count = 0;
                let all = self.each_field().all(|field| {
                    count += 1;
                    let found = theirs.find(&field.key);
                    found.is_some_and(|found| found.equals(&field.value))
                });
                all && other.each_field().count() == count
            }
            _ => false,
        }
    }
}

/// Whether two nodes are the same node of the same document.
pub(crate) fn same_place(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.id == b.id && std::ptr::eq(a.document.text, b.document.text)
}

impl<'a> ListItem<'a> {
    /// A new element, which no document has.
    pub fn made(value: Node<'a>) -> Self {
        Self { value, place: None }
    }
}

/// Depth limit of a value whose aliases are written out.
const MAX_DEPTH: usize = 1024;

/// Whether a value, as JSON with its aliases written out, has at most `bytes` bytes more than twice its text.
pub fn adds_at_most(bytes: usize, root: NodeRef<'_>) -> bool {
    let written = root.source().len().saturating_mul(2);
    fits(root, written.saturating_add(bytes), |node| {
        let keys = node
            .entries()
            .map(|entry| entry.key.source().len() + "'':,".len());
        if node.kind().is_mapping() || node.kind().is_sequence() {
            keys.sum()
        } else {
            node.source().len() + "'',".len()
        }
    })
}

/// Whether a budget suffices for all nodes of a value with its aliases written out.
fn fits(root: NodeRef<'_>, mut budget: usize, cost: impl Fn(NodeRef<'_>) -> usize) -> bool {
    if memchr::memchr(b'*', root.source().as_bytes()).is_none() {
        return true;
    }
    let mut pending = vec![(root, 0_usize)];
    while let Some((node, depth)) = pending.pop() {
        let node = node.resolved();
        let left = budget.checked_sub(cost(node));
        let Some(left) = left.filter(|_| depth <= MAX_DEPTH) else {
            return false;
        };
        budget = left;
        pending.extend(node.items().map(|item| (item, depth + 1)));
        pending.extend(node.entries().map(|entry| (entry.value, depth + 1)));
    }
    true
}
