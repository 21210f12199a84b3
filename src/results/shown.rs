//! Values and names for messages: long ones are cut, and values of Secrets hidden.

use std::fmt;

use crate::resource::Resource;
use crate::yaml::{Path, PathElement, Value};

/// A kind of value in a sentence: `a string`, `an alias`, and `nothing` for null.
pub(crate) fn with_article(kind: &str) -> String {
    match kind.as_bytes().first().map(u8::to_ascii_lowercase) {
        _ if kind == "null" => "nothing".to_owned(),
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// A list of names in a message: `` `a`, `b` ``, and `none` for no names.
pub(crate) fn listed<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.join(", ")
}

/// The end of a message that names the first of some things: nothing for one, ` and 2 more` for three.
#[must_use]
pub fn and_more(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    }
}

/// Verbs with the names of what they were done to, in a message: `` set `a`, `b`; removed `c` ``. Empty without names.
pub(crate) fn listed_by_verb<T: fmt::Display>(verbs: &[(&str, &[T])]) -> String {
    let verbs = verbs.iter().filter(|(_, names)| !names.is_empty());
    let verbs = verbs.map(|(verb, names)| format!("{verb} {}", listed(*names)));
    verbs.collect::<Vec<_>>().join("; ")
}

/// Replaces a value of a Secret.
pub(crate) const REDACTED: &str = "<redacted>";

/// A value as a result shows it; values of a Secret are redacted.
#[must_use]
pub fn shown(resource: &Resource, path: &Path, value: &Value) -> String {
    cut(json(resource, path, value))
}

/// Limit of the bytes of a value in a result.
pub(crate) const LIMIT: usize = 256;

fn cut(mut json: String) -> String {
    if json.len() > LIMIT {
        let end = (0..=LIMIT)
            .rev()
            .find(|at| json.is_char_boundary(*at))
            .unwrap_or_default();
        json.truncate(end);
        json.push('…');
    }
    json
}

/// Like [`shown`], but never cut.
pub(crate) fn json(resource: &Resource, path: &Path, value: &Value) -> String {
    let is_secret_text =
        || matches!(value.as_str(), Some(text) if speaks_of_secret(text.as_bytes()));
    if is_secret(resource, path) || is_secret_text() {
        REDACTED.to_owned()
    } else {
        value.to_json()
    }
}

/// A value of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultValue {
    /// The whole value.
    Whole(Value),
    /// The beginning of the JSON of a long value.
    Beginning(String),
}

impl ResultValue {
    pub(super) fn of(value: &Value) -> Self {
        let json = value.to_json();
        if json.len() > LIMIT {
            Self::Beginning(cut(json))
        } else {
            Self::Whole(value.clone())
        }
    }

    /// The value as results have it: a beginning is a string.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Whole(value) => value.clone(),
            Self::Beginning(json) => Value::from(json.as_str()),
        }
    }

    /// Its JSON, or the beginning of it.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Whole(value) => value.to_json(),
            Self::Beginning(json) => json.clone(),
        }
    }
}

/// Whether a text seems to define a Secret, judging by its lines: a file that is not YAML has no resources.
#[must_use]
pub fn speaks_of_secret(text: &[u8]) -> bool {
    let is_part = |byte: &u8| !byte.is_ascii_whitespace() && !b"\"'{},-".contains(byte);
    text.split(|byte| *byte == b'\n').any(|line| {
        let parts: Vec<u8> = line.iter().copied().filter(is_part).collect();
        memchr::memmem::find(&parts, b"kind:Secret").is_some()
    })
}

/// Whether a path of a resource has secret values. A path into a `List` does not say the kind of the element, so each
/// may be a Secret.
pub(crate) fn is_secret(resource: &Resource, path: &Path) -> bool {
    match (resource.kind.as_ref(), path.elements()) {
        ("Secret", path) => is_secret_field(path),
        ("List" | "SecretList", [] | [_]) => true,
        ("List" | "SecretList", [_items, _element, path @ ..]) => is_secret_field(path),
        _ => false,
    }
}

/// Whether a path of a Secret has secret values (`data`, `stringData`, last-applied, or a parent of them).
pub(crate) fn is_secret_field(path: &[PathElement]) -> bool {
    let fields: Vec<&str> = path
        .iter()
        .map_while(|element| match element {
            PathElement::Field(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    match fields.as_slice() {
        [] | ["data" | "stringData", ..] | ["metadata"] | ["metadata", "annotations"] => true,
        ["metadata", "annotations", name, ..] => *name == LAST_APPLIED,
        _ => false,
    }
}

/// The annotation in which `kubectl apply` stores the previous configuration.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_not_shown() {
        let resource = |kind: &str| Resource {
            kind: kind.into(),
            ..Resource::default()
        };
        let value = Value::from("hunter2");
        let path = |names: &[&str]| Path::fields(names);
        let secret = resource("Secret");
        for hidden in [
            path(&[]),
            path(&["data"]),
            path(&["data", "password"]),
            path(&["stringData", "password"]),
            path(&["metadata", "annotations"]),
            path(&["metadata", "annotations", LAST_APPLIED]),
        ] {
            assert_eq!(shown(&secret, &hidden, &value), "<redacted>", "{hidden}");
        }
        assert_eq!(shown(&secret, &path(&["type"]), &value), "\"hunter2\"");
        let element = |names: &[&str]| {
            let item = path(&["items"]).index(0);
            names.iter().fold(item, |path, name| path.field(name))
        };
        for kind in ["List", "SecretList"] {
            for hidden in [
                path(&["items"]),
                element(&[]),
                element(&["data", "password"]),
            ] {
                assert_eq!(
                    shown(&resource(kind), &hidden, &value),
                    "<redacted>",
                    "{hidden}"
                );
            }
            let plain = shown(&resource(kind), &element(&["type"]), &value);
            assert_eq!(plain, "\"hunter2\"");
        }
        let text = Value::from("apiVersion: v1\nkind: Secret\nstringData:\n  password: hunter2\n");
        let file = path(&["data", "secret.yaml"]);
        assert_eq!(shown(&resource("ConfigMap"), &file, &text), "<redacted>");
        assert_eq!(
            shown(&resource("ConfigMap"), &path(&["data"]), &value),
            "\"hunter2\""
        );
    }
}
