//! Selects the resources that a patch applies to.

use regex::Regex;

use super::built::BuiltObject;
use super::patched::PatchedObjects;
use krm_core::resource::DEFAULT_NAMESPACE;
use krm_core::selector::LabelSelector;
use krm_core::text_map::TextMap;
use krm_patch::target::parse_labels;
use krm_yaml::Value;

/// The resources that a patch applies to.
pub(super) enum PatchSelection {
    /// The resource that the patch names.
    Named,
    /// The resources that match a `target`: patterns for its fields, its label selector and its annotation selector.
    Fields {
        patterns: Vec<(&'static str, Regex)>,
        /// The name, if its pattern matches only one.
        name: Option<String>,
        selectors: [LabelSelector; 2],
    },
}

const FIELDS: [&str; 5] = ["group", "version", "kind", "name", "namespace"];

impl PatchSelection {
    /// Reads a `target`.
    pub(super) fn read(target: Option<&Value>) -> Result<Self, String> {
        let Some(target) = target else {
            return Ok(Self::Named);
        };
        let text = |key: &str| {
            target
                .get(key)
                .map(Value::plain_text)
                .filter(|text| !text.is_empty())
        };
        let mut fields = Vec::new();
        for name in FIELDS {
            if let Some(pattern) = text(name) {
                let whole = Regex::new(&format!("^(?:{pattern})$"));
                fields.push((
                    name,
                    whole.map_err(|error| format!("target.{name}: {error}"))?,
                ));
            }
        }
        let selector = |key: &str| {
            parse_labels(&text(key).unwrap_or_default())
                .map_err(|part| format!("target: expected a selector, found `{part}`"))
        };
        let selectors = [selector("labelSelector")?, selector("annotationSelector")?];
        Ok(Self::Fields {
            patterns: fields,
            name: text("name").as_deref().and_then(only_match),
            selectors,
        })
    }

    /// The positions of the resources that the patch may apply to.
    pub(super) fn candidates(&self, objects: &PatchedObjects<'_>, patch: &Value) -> Vec<usize> {
        match self {
            Self::Named => {
                // The identity of the patch, without a copy of its values.
                let text = |path: &[&str]| patch.get_path(path).cloned();
                let field = |key| text(&[key]).map(|value| Value::entry(key, value));
                let metadata = ["name", "namespace"].into_iter();
                let metadata = metadata.filter_map(|key| {
                    let value = text(&["metadata", key])?;
                    Some(Value::entry(key, value))
                });
                let metadata = Value::entry("metadata", Value::Mapping(metadata.collect()));
                let fields = ["apiVersion", "kind"].into_iter().filter_map(field);
                let identity = Value::Mapping(fields.chain([metadata]).collect());
                objects.with_id(&BuiltObject::made(identity, "").id())
            }
            Self::Fields {
                name: Some(name), ..
            } => objects.with_name(name),
            Self::Fields { .. } => objects.all(),
        }
    }

    /// Whether the patch applies to a resource.
    pub(super) fn selects(&self, object: &BuiltObject<'_>, patch: &Value) -> bool {
        match self {
            Self::Named => {
                // Its candidates have its ID.
                let version = patch.get("apiVersion").and_then(Value::as_str);
                version.unwrap_or_default() == object.text(&["apiVersion"])
            }
            Self::Fields {
                patterns: fields,
                selectors,
                ..
            } => {
                let version = object
                    .text(&["apiVersion"])
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                let id = object.id();
                let of = |name: &str| match name {
                    "group" => &*id.group,
                    "version" => &version,
                    "kind" => &id.kind,
                    "name" => id.name.text(),
                    _ => id.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE),
                };
                let fits = |key: &str, selector: &LabelSelector| {
                    let texts: TextMap = object.metadata(key).collect();
                    selector.matches(&texts)
                };
                fields
                    .iter()
                    .all(|(name, pattern)| pattern.is_match(of(name)))
                    && fits("labels", &selectors[0])
                    && fits("annotations", &selectors[1])
            }
        }
    }
}

/// The text that a pattern matches, if it is only one.
fn only_match(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => text.push(characters.next().filter(char::is_ascii_punctuation)?),
            c if regex_syntax_has(c) => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

/// Whether a character has a meaning in a pattern.
fn regex_syntax_has(c: char) -> bool {
    r"\.+*?()|[]{}^$#&-~".contains(c) && c != '-'
}

#[cfg(test)]
mod tests {
    use super::only_match;

    #[test]
    fn a_pattern_with_only_one_match_is_a_name() {
        for (pattern, expected) in [
            ("app", Some("app")),
            ("app-1", Some("app-1")),
            (r"a\.b", Some("a.b")),
            ("a.b", None),
            ("app.*", None),
            (r"app\d", None),
            ("a|b", None),
            ("", Some("")),
        ] {
            assert_eq!(only_match(pattern).as_deref(), expected, "{pattern}");
        }
    }
}
