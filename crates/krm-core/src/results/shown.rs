//! Values and names for messages: long ones are cut. [`super::secrets`] hides values of Secrets.

use std::fmt;

use super::cut::boundary;
use super::secrets::Mark;
use krm_yaml::Value;

/// A kind of value in a sentence: `a string`, `an alias`, and `nothing` for null.
pub fn with_article(kind: &str) -> String {
    match kind.as_bytes().first().map(u8::to_ascii_lowercase) {
        _ if kind == "null" => "nothing".to_owned(),
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// A list of names in a message: `` `a`, `b` ``, and `none` for no names.
pub fn listed<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.join(", ")
}

/// The end of a message that names the first of some things: nothing for one, ` and 2 more` for three.
pub fn and_more(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    }
}

/// Verbs with the names of what they were done to, in a message: `` set `a`, `b`; removed `c` ``. Empty without names.
pub fn listed_by_verb<T: fmt::Display>(verbs: &[(&str, &[T])]) -> String {
    let verbs = verbs.iter().filter(|(_, names)| !names.is_empty());
    let verbs = verbs.map(|(verb, names)| format!("{verb} {}", listed(*names)));
    verbs.collect::<Vec<_>>().join("; ")
}

/// Limit of the bytes of a value in a result.
pub const LIMIT: usize = 256;

fn cut(mut json: String) -> String {
    if json.len() > LIMIT {
        json.truncate(boundary(&json, LIMIT));
        json.push('…');
    }
    json
}

/// A value of a result. Only the mark of its place makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultValue(Shortened);

#[derive(Debug, Clone, PartialEq)]
enum Shortened {
    Whole(Value),
    /// The beginning of the JSON of a long value.
    Beginning(String),
}

impl ResultValue {
    /// A value with the mark of its place.
    pub fn of(mark: Mark, value: &Value) -> Self {
        let value = mark.quotable(value);
        let json = value.to_json();
        Self(if json.len() > LIMIT {
            Shortened::Beginning(cut(json))
        } else {
            Shortened::Whole(value)
        })
    }

    /// The value as results have it: a beginning is a string.
    pub fn to_value(&self) -> Value {
        match &self.0 {
            Shortened::Whole(value) => value.clone(),
            Shortened::Beginning(json) => Value::from(json.as_str()),
        }
    }

    /// Its JSON, or the beginning of it.
    pub fn to_json(&self) -> String {
        match &self.0 {
            Shortened::Whole(value) => value.to_json(),
            Shortened::Beginning(json) => json.clone(),
        }
    }
}
