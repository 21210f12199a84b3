//! The rule that decides a conflict in the next run.
//!
//! ```yaml
//! - target: {group: apps, kind: Deployment, name: web}
//!   path: spec.template.spec.containers[name=app].image
//!   take: local
//! ```

use serde::{Deserialize, Serialize};

/// A rule for `conflicts`, without the side that it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    target: Target,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Target {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    kind: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
}

/// The resource that a result is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct About {
    #[serde(default)]
    pub(super) api_version: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<String>,
}

impl Rule {
    /// The rule for a conflict over a field of a resource, or over all of it.
    pub(super) fn of(about: &About, path: Option<String>) -> Self {
        let group = about.api_version.split_once('/');
        Self {
            target: Target {
                group: group.map(|(group, _)| group.to_owned()),
                kind: about.kind.clone(),
                name: with_stars(&about.name),
                namespace: about.namespace.as_deref().map(with_stars),
            },
            path,
        }
    }

    /// The rule as an element of `conflicts`.
    pub(super) fn yaml(&self, take: &str) -> String {
        let Target {
            group,
            kind,
            name,
            namespace,
        } = &self.target;
        let fields = [
            ("group", group.as_ref()),
            ("kind", Some(kind)),
            ("name", Some(name)),
            ("namespace", namespace.as_ref()),
        ];
        let fields = fields.iter();
        let fields =
            fields.filter_map(|(key, value)| Some(format!("{key}: {}", scalar((*value)?))));
        let fields: Vec<String> = fields.collect();
        let target = format!("- target: {{{}}}\n", fields.join(", "));
        let path = self.path.as_ref();
        let path = path.map_or(String::new(), |path| format!("  path: {}\n", scalar(path)));
        format!("{target}{path}  take: {take}\n")
    }
}

/// A name with `*` in place of what differs from variant to variant.
fn with_stars(name: &str) -> String {
    let mut stars = String::new();
    let mut rest = name;
    while let Some((before, behind)) = rest.split_once('‹') {
        let Some((_, behind)) = behind.split_once('›') else {
            break;
        };
        stars.push_str(before);
        stars.push('*');
        rest = behind;
    }
    stars + rest
}

/// A text as a YAML scalar in a flow mapping, or a block one; quoted if it could be read as anything else.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._/".contains(c));
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if is_plain && !words.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else if text.contains(char::is_control) {
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}
