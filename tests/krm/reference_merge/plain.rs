//! Values without spelling, for the reference: equality and nothing else.

use std::fmt;

use krm_yaml::Value;

/// What a node of a resource means.
#[derive(Debug, Clone)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Plain>),
    Map(Vec<(String, Plain)>),
}

/// Numbers are equal across integers and floats, maps in whatever order of their keys.
impl PartialEq for Plain {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::Number(one), Self::Number(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::List(one), Self::List(other)) => one == other,
            (Self::Map(one), Self::Map(map)) => {
                one.len() == map.len()
                    && one.iter().all(|(key, value)| other.get(key) == Some(value))
            }
            _ => false,
        }
    }
}

impl Plain {
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries of a map; none of anything else.
    pub(super) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a list; none of anything else.
    pub(super) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    pub(super) fn is_map(&self) -> bool {
        matches!(self, Self::Map(_))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }

    /// The same with all lists sorted.
    pub(super) fn sorted(self) -> Self {
        match self {
            Self::List(elements) => {
                let mut elements: Vec<Self> = elements.into_iter().map(Self::sorted).collect();
                elements.sort_by_key(ToString::to_string);
                Self::List(elements)
            }
            Self::Map(entries) => {
                let entries = entries.into_iter();
                Self::Map(entries.map(|(key, value)| (key, value.sorted())).collect())
            }
            other => other,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries().is_empty() && self.elements().is_empty()
    }
}

/// Equal values print alike: keys sorted, numbers as floats.
impl fmt::Display for Plain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Number(value) => write!(out, "{value}"),
            Self::Text(text) => write!(out, "{text:?}"),
            Self::List(elements) => {
                out.write_str("[")?;
                elements
                    .iter()
                    .try_for_each(|element| write!(out, "{element},"))?;
                out.write_str("]")
            }
            Self::Map(entries) => {
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_by_key(|(key, _)| key);
                out.write_str("{")?;
                sorted
                    .iter()
                    .try_for_each(|(key, value)| write!(out, "{key:?}:{value},"))?;
                out.write_str("}")
            }
        }
    }
}

impl From<&Value> for Plain {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(_) => {
                let text = value.to_json();
                text.parse().map_or(Self::Text(text), Self::Number)
            }
            Value::String(text) => Self::Text(text.clone()),
            Value::Sequence(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Mapping(entries) => {
                let key = |key: &Value| key.as_str().map_or_else(|| key.to_json(), str::to_owned);
                let entries = entries.iter();
                Self::Map(
                    entries
                        .map(|(name, value)| (key(name), Self::from(value)))
                        .collect(),
                )
            }
        }
    }
}
