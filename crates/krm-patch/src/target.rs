//! Finds resources by group, kind, name and namespace, or by the target of a patch.
//!
//! Source: contract, apply-config and apply-patch.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde::Deserialize;
use serde::de::IgnoredAny;

use krm_core::resource::Resource;
use krm_core::resource_key::ResourceKey;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::selector::{LabelSelector, Requirement, is_label_key};
use krm_core::text_map::TextMap;
use krm_yaml::NodeRef;

type NamespacedItem = (Option<Arc<str>>, ItemId);

/// Finds resources by group, kind and name.
#[derive(Debug, Default)]
pub struct Index {
    by_name: HashMap<ResourceKey, Vec<NamespacedItem>>,
}

/// The resources that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matches {
    None,
    One(ItemId),
    Several(Vec<ItemId>),
}

impl Index {
    /// An index of all items of a list that have a name.
    pub fn of(list: &ResourceList) -> Self {
        let mut index = Self::default();
        for (id, resource) in list.items() {
            if let Some((key, namespace)) = key(resource) {
                let candidates = index.by_name.entry(key);
                // Most names occur once.
                candidates
                    .or_insert_with(|| Vec::with_capacity(1))
                    .push((namespace, id));
            }
        }
        index
    }

    /// Finds the resource with the identity of another one. A missing namespace on either side matches any namespace,
    /// if only one resource matches then.
    pub fn find(&self, resource: &Resource) -> Matches {
        let Some((key, namespace)) = key(resource) else {
            return Matches::None;
        };
        let candidates = self.by_name.get(&key);
        let candidates = candidates.map(Vec::as_slice).unwrap_or_default();
        let with = |namespace: &Option<Arc<str>>| -> Vec<ItemId> {
            let found = candidates.iter().filter(|(other, _)| other == namespace);
            found.map(|(_, id)| *id).collect()
        };
        let mut found = with(&namespace);
        if found.is_empty() {
            found = match namespace {
                Some(_) => with(&None),
                None => candidates.iter().map(|(_, id)| *id).collect(),
            };
        }
        match found.as_slice() {
            [] => Matches::None,
            [one] => Matches::One(*one),
            _ => Matches::Several(found),
        }
    }
}

/// Who a resource is in any namespace, and its namespace. `None` without a name.
fn key(resource: &Resource) -> Option<(ResourceKey, Option<Arc<str>>)> {
    let key = ResourceKey::as_written(resource);
    key.name.name()?;
    Some((key.in_any_namespace(), key.namespace))
}

/// The target of a patch; an absent field matches anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Target {
    /// API group; the core group is empty.
    group: Option<String>,
    /// API version without the group.
    version: Option<String>,
    /// Kind.
    kind: Option<String>,
    /// Name.
    name: Option<String>,
    /// Namespace.
    namespace: Option<String>,
    /// Labels, as `app=web` or as a LabelSelector.
    #[serde(default, rename = "labelSelector")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<SelectorOrText>"))]
    _label_selector: IgnoredAny,
    /// Read apart from the rest: it can be a text.
    #[serde(skip)]
    pub labels: LabelSelector,
}

/// `labelSelector` of a [`Target`], for its JSON Schema.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum SelectorOrText {
    Text(String),
    Selector(LabelSelector),
}

impl Target {
    /// Whether the identity of a resource matches.
    pub fn matches(&self, resource: &Resource) -> bool {
        let version = resource.api_version.rsplit('/').next().unwrap_or_default();
        let fits = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        fits(&self.group, Some(resource.group()))
            && fits(&self.version, Some(version))
            && fits(&self.kind, Some(&resource.kind))
            && fits(&self.name, resource.name.as_deref())
            && fits(&self.namespace, resource.namespace.as_deref())
    }

    /// Whether the target selects by labels.
    pub fn has_labels(&self) -> bool {
        !self.labels.match_labels.is_empty() || !self.labels.match_expressions.is_empty()
    }

    /// Whether the labels of a resource match.
    pub fn matches_labels(&self, node: NodeRef<'_>) -> bool {
        self.labels.matches(&labels(node))
    }

    /// The target in words, for messages.
    pub fn describe(&self) -> String {
        let parts = [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
            ("name", &self.name),
            ("namespace", &self.namespace),
        ];
        let given = parts.iter().filter_map(|(name, value)| {
            let value = value.as_deref()?;
            Some(format!("{name} `{value}`"))
        });
        let mut given: Vec<String> = given.collect();
        if self.has_labels() {
            given.push("the labels of its selector".to_owned());
        }
        given.join(", ")
    }
}

fn labels(node: NodeRef<'_>) -> TextMap {
    let labels = node.get_path(&["metadata", "labels"]);
    let entries = labels.into_iter().flat_map(|labels| labels.entries());
    entries
        .filter_map(|entry| {
            let key = entry.key.key_text()?;
            Some((key, entry.value.as_str()?))
        })
        .collect()
}

/// A requirement in the syntax of `kubectl get --selector`, and the comma after it.
#[expect(clippy::expect_used, reason = "the pattern is constant")]
static REQUIREMENT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x) ^\s* (?:
          ! \s* (?<absent> [^\s!=,()]+ )
        | (?<key> [^\s!=,()]+ ) (?:
            \s* (?<sign> ==? | != ) (?<value> [^,()]* )
          | \s+ (?<word> in | notin ) \s* \( (?<values> [^()]* ) \)
          )?
        ) \s* (?: , | $ )";
    Regex::new(pattern).expect("a pattern")
});

/// Reads a label selector in the syntax of `kubectl get --selector`: `app=web,tier in (a, b),!old`.
///
/// # Errors
/// The part that is not a requirement.
pub fn parse_labels(text: &str) -> Result<LabelSelector, String> {
    let mut selector = LabelSelector::default();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let refused = || rest.split(',').next().unwrap_or_default().trim().to_owned();
        let found = REQUIREMENT.captures(rest).ok_or_else(refused)?;
        let group = |name: &str| found.name(name).map(|group| group.as_str());
        let absent = group("absent");
        let key = absent.or(group("key")).filter(|key| is_label_key(key));
        let operator = match group("sign").or(group("word")) {
            Some("!=" | "notin") => "NotIn",
            Some(_) => "In",
            None if absent.is_some() => "DoesNotExist",
            None => "Exists",
        };
        let values = group("value").or(group("values")).into_iter();
        let values = values.flat_map(|values| values.split(','));
        selector.match_expressions.push(Requirement {
            key: Some(key.ok_or_else(refused)?.to_owned()),
            operator: Some(operator.to_owned()),
            values: values.map(|value| value.trim().to_owned()).collect(),
        });
        rest = &rest[found.get_match().end()..];
    }
    Ok(selector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_selectors_as_kubectl_takes_them() {
        let labels = |text: &'static str| -> TextMap {
            let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
            pairs.collect()
        };
        let table = [
            ("", "a=b", true),
            ("a=b", "a=b", true),
            ("a==b, c!=d", "a=b", true),
            ("a=b,c!=d", "a=b,c=d", false),
            ("a in (x, b),!c", "a=b", true),
            ("a notin (x,b)", "a=b", false),
            ("a", "a=b", true),
            ("!a", "a=b", false),
        ];
        for (text, given, expected) in table {
            let selector = parse_labels(text).expect(text);
            assert_eq!(selector.matches(&labels(given)), expected, "{text}");
        }
        for text in [
            "a in b", "ain (b)", "a in (b", "=b", "a of (b)", "a=b,,c=d", "!a=b", "-a",
        ] {
            assert!(parse_labels(text).is_err(), "{text}");
        }
    }
}
