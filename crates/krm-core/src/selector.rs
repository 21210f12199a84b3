//! Label selectors, as in Kubernetes.
//!
//! ```yaml
//! matchLabels: {env: prod}
//! matchExpressions:
//! - {key: region, operator: In, values: [useast1, useast2]}
//! ```
//!
//! Source: package-variant document, PackageVariantSet API; Kubernetes, `metav1.LabelSelector`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::results::{FunctionResult, Reason};
use crate::text_map::TextMap;
use krm_yaml::Path;

/// The values of `operator`.
const OPERATORS: [&str; 4] = ["In", "NotIn", "Exists", "DoesNotExist"];

/// Selects by labels: all of its requirements must hold, and without any it selects everything.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelSelector {
    /// Labels with their values.
    #[serde(default)]
    pub match_labels: BTreeMap<String, String>,
    /// Requirements other than equality.
    #[serde(default)]
    pub match_expressions: Vec<Requirement>,
}

/// One of `matchExpressions`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Name of the label.
    #[cfg_attr(feature = "schema", schemars(required, length(min = 1)))]
    pub key: Option<String>,
    /// How the label is compared.
    #[cfg_attr(feature = "schema", schemars(required, extend("enum" = OPERATORS)))]
    pub operator: Option<String>,
    /// Values for `In` and `NotIn`.
    #[serde(default)]
    pub values: Vec<String>,
}

impl LabelSelector {
    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &TextMap) -> bool {
        let label = |name: &str| labels.get(name);
        let mut equal = self.match_labels.iter();
        equal.all(|(key, value)| label(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| {
                let found = label(requirement.key.as_deref().unwrap_or_default());
                let among = found.is_some_and(|f| requirement.values.iter().any(|v| v == f));
                match requirement.operator.as_deref() {
                    Some("In") => among,
                    // An object without the label is selected, as in Kubernetes.
                    Some("NotIn") => !among,
                    Some("Exists") => found.is_some(),
                    Some("DoesNotExist") => found.is_none(),
                    _ => false,
                }
            })
    }

    /// Errors for what Kubernetes would refuse; `path` is the path of the selector.
    pub fn validate(&self, path: &Path) -> Vec<FunctionResult> {
        let mut findings = Vec::new();
        let mut invalid = |path: Path, message: String| {
            findings.push(FunctionResult::error(Reason::InvalidConfig, message).with_field(path));
        };
        let expected_value = |value: &str| {
            format!(
                "expected a label value (at most 63 letters, digits, `-`, `_`, `.`), found `{value}`"
            )
        };
        for (key, value) in &self.match_labels {
            let path = path.field("matchLabels").field(key);
            if !is_label_key(key) {
                invalid(
                    path.clone(),
                    format!("expected the name of a label, found `{key}`"),
                );
            }
            if !is_label_value(value) {
                invalid(path, expected_value(value));
            }
        }
        for (index, requirement) in self.match_expressions.iter().enumerate() {
            let path = path.field("matchExpressions").index(index);
            let key = requirement.key.as_deref().unwrap_or_default();
            if !is_label_key(key) {
                let message = format!("expected the name of a label, found `{key}`");
                invalid(path.field("key"), message);
            }
            for (index, value) in requirement.values.iter().enumerate() {
                if !is_label_value(value) {
                    invalid(path.field("values").index(index), expected_value(value));
                }
            }
            let operator = requirement.operator.as_deref().unwrap_or_default();
            let wants_values = matches!(operator, "In" | "NotIn");
            if !OPERATORS.contains(&operator) {
                let message = format!(
                    "expected one of {}, found `{operator}`",
                    OPERATORS.join(", ")
                );
                invalid(path.field("operator"), message);
            } else if wants_values && requirement.values.is_empty() {
                let message = format!("expected values for `{operator}`, found none");
                invalid(path.field("values"), message);
            } else if !wants_values && !requirement.values.is_empty() {
                invalid(
                    path.field("values"),
                    format!("expected no values for `{operator}`"),
                );
            }
        }
        findings
    }
}

fn is_label_part(text: &str) -> bool {
    let ends = |end: Option<u8>| end.is_some_and(|b| b.is_ascii_alphanumeric());
    text.len() <= 63
        && ends(text.bytes().next())
        && ends(text.bytes().last())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

/// Whether Kubernetes accepts this as the value of a label.
pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_label_part(text)
}

/// Whether Kubernetes accepts this as the name of a label or annotation: `name` or `prefix/name`.
pub fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        None => is_label_part(text),
        Some((prefix, name)) => {
            let is_domain = prefix.split('.').all(|label| {
                is_label_part(label)
                    && !label.contains(['_'])
                    && !label.bytes().any(|b| b.is_ascii_uppercase())
            });
            prefix.len() <= 253 && is_domain && is_label_part(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> TextMap {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.collect()
    }

    fn requirement(key: &str, operator: &str, values: &[&str]) -> LabelSelector {
        let requirement = Requirement {
            key: Some(key.to_owned()),
            operator: Some(operator.to_owned()),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        LabelSelector {
            match_expressions: vec![requirement],
            ..LabelSelector::default()
        }
    }

    #[test]
    fn kubernetes_limits_on_labels() {
        let long = "a".repeat(63);
        for (text, is_value, is_key) in [
            ("a", true, true),
            ("A_b-c.9", true, true),
            (long.as_str(), true, true),
            (&format!("{long}a"), false, false),
            ("", true, false),
            ("-a", false, false),
            ("a-", false, false),
            ("_a", false, false),
            ("a.", false, false),
            ("a b", false, false),
            ("ä", false, false),
            ("example.com/a", false, true),
            ("example.com/", false, false),
            ("example.com/-a", false, false),
            ("/a", false, false),
            ("Example.com/a", false, false),
            ("example_x.com/a", false, false),
            ("example..com/a", false, false),
            ("a/b/c", false, false),
        ] {
            assert_eq!(is_label_value(text), is_value, "{text}");
            assert_eq!(is_label_key(text), is_key, "{text}");
        }
    }

    #[test]
    fn the_four_operators() {
        let east = labels("region=useast1,env=prod");
        let none = labels("");
        for (operator, values, with, without) in [
            ("In", &["useast1", "x"][..], true, false),
            ("In", &["x"], false, false),
            ("NotIn", &["useast1"], false, true),
            ("NotIn", &["x"], true, true),
            ("Exists", &[], true, false),
            ("DoesNotExist", &[], false, true),
        ] {
            let selector = requirement("region", operator, values);
            assert_eq!(selector.matches(&east), with, "{operator} {values:?}");
            assert_eq!(selector.matches(&none), without, "{operator} {values:?}");
            assert!(selector.validate(&Path::root()).is_empty());
        }
        assert!(LabelSelector::default().matches(&none));
    }

    #[test]
    fn bad_selectors_are_named() {
        let path = Path::fields(&["s"]);
        for (selector, field) in [
            (requirement("", "Exists", &[]), "s.matchExpressions[0].key"),
            (
                requirement("a b", "Exists", &[]),
                "s.matchExpressions[0].key",
            ),
            (
                requirement("a", "in", &["x"]),
                "s.matchExpressions[0].operator",
            ),
            (requirement("a", "In", &[]), "s.matchExpressions[0].values"),
            (
                requirement("a", "Exists", &["x"]),
                "s.matchExpressions[0].values",
            ),
            (
                requirement("a", "In", &["x y"]),
                "s.matchExpressions[0].values[0]",
            ),
        ] {
            let findings = selector.validate(&path);
            let fields: Vec<_> = findings.iter().filter_map(|f| f.field.as_deref()).collect();
            assert_eq!(fields, [field]);
        }
    }
}
