//! Selects the resources that a patch applies to.

use regex::Regex;

use super::built::BuiltObject;
use crate::patch::target::parse_labels;
use crate::selector::LabelSelector;
use crate::text_map::TextMap;
use crate::yaml::Value;

/// The resources that a patch applies to.
pub(super) enum PatchSelection {
    /// The resource that the patch names.
    Named,
    /// The resources that match a `target`: patterns for its fields, its label selector and its annotation selector.
    Fields(Vec<(&'static str, Regex)>, [LabelSelector; 2]),
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
        Ok(Self::Fields(fields, selectors))
    }

    /// Whether the patch applies to a resource.
    pub(super) fn selects(&self, object: &BuiltObject<'_>, patch: &Value) -> bool {
        match self {
            Self::Named => {
                let named = BuiltObject::made(patch.clone(), "");
                named.id() == object.id()
                    && named.text(&["apiVersion"]) == object.text(&["apiVersion"])
            }
            Self::Fields(fields, selectors) => {
                let version = object
                    .text(&["apiVersion"])
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                let id = object.id();
                let of = |name: &str| match name {
                    "group" => id.group.as_str(),
                    "version" => &version,
                    "kind" => &id.kind,
                    "name" => &id.name.name,
                    _ => &id.name.namespace,
                };
                let fits = |key: &str, selector: &LabelSelector| {
                    let metadata = object.value.get_path(&["metadata", key]);
                    let texts = metadata
                        .map_or(&[][..], Value::entries)
                        .iter()
                        .filter_map(|(key, value)| Some((key.as_str()?, value.as_str()?)));
                    let texts: TextMap = texts.collect();
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
