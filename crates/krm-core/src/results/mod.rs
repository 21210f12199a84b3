//! Results: the reports of a function, for people and for programs.
//!
//! Structure and field names are the same as kpt's (`results` of a ResourceList, `kpt.dev/v1` `FunctionResultList`).
//! Every error and warning has a [`Reason`] as `tags.reason`.

mod cut;
mod lines;
mod list;
mod message;
mod reason;
mod refusal;
mod rule;
mod secrets;
mod shown;

pub use cut::{cut_to_differences, cut_values};
pub use list::MOST_LISTED;
pub use list::Results;
pub use message::Message;
pub use reason::Reason;
pub use refusal::Refusal;
pub use rule::rule_for;
pub use secrets::Marks;
pub use secrets::REDACTED;
pub use secrets::{LAST_APPLIED, Mark, QuotedValue, speaks_of_secret};
pub(crate) use secrets::{hidden_nodes, text_holds_secret};
pub use shown::LIMIT;
pub use shown::listed;
pub use shown::listed_by_verb;
pub use shown::with_article;
pub use shown::{ResultValue, and_more};

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::resource::{Origin, Resource};
use krm_package::escaped::printable;
use krm_yaml::Value;

word_enum! {
    /// Severity of a result. With one error the run fails, and nothing changes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// Information only.
        Info = "info",
        /// A person should check it.
        Warning = "warning",
        /// The function failed.
        Error = "error",
    }
}

/// The resource that a result is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRef {
    /// `apiVersion` of the resource.
    #[serde(default)]
    pub api_version: Arc<str>,
    /// `kind` of the resource.
    #[serde(default)]
    pub kind: Arc<str>,
    /// The name, or its beginning and an asterisk: `seed-*` for `generateName: seed-`.
    #[serde(default)]
    pub name: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Arc<str>>,
}

impl From<&Resource> for ResourceRef {
    fn from(resource: &Resource) -> Self {
        Self {
            api_version: resource.api_version.clone(),
            kind: resource.kind.clone(),
            name: match (&resource.name, &resource.generate_name) {
                (Some(name), _) => name.clone(),
                (None, Some(beginning)) => format!("{beginning}*").into(),
                (None, None) => Arc::default(),
            },
            namespace: resource.namespace.clone(),
        }
    }
}

impl ResourceRef {
    /// API group; the core group is empty.
    pub fn group(&self) -> &str {
        let (group, _) = self.api_version.split_once('/').unwrap_or_default();
        group
    }
}

/// `Deployment/app`, or `Deployment/shop/app` with a namespace.
impl fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// The value of a field before and after; `None` if the field is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldValues {
    /// The value before.
    pub current: Option<ResultValue>,
    /// The value after.
    pub proposed: Option<ResultValue>,
}

/// What a merge reports.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeDetail {
    Conflict(MergeConflict),
    /// A value with the changes of both sides.
    Combined {
        /// What its parts are.
        kind: &'static str,
        local: QuotedValue,
        upstream: QuotedValue,
    },
    /// The counts of all changes.
    Summary,
}

/// A place that both sides changed.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeConflict {
    /// The values in the original, local and upstream, cut to where they differ.
    pub versions: [Option<QuotedValue>; 3],
    /// The part of the value that is in conflict, if the value merges by its parts.
    pub within: Option<String>,
    /// The index of the rule that decided.
    pub rule: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionResult {
    pub severity: Severity,
    /// One sentence, lower case, without a full stop.
    pub message: Message,
    /// The resource that it is about.
    pub resource: Option<ResourceRef>,
    /// The file that it is about, and the index of the resource in it.
    pub file: Option<(Arc<str>, Option<usize>)>,
    /// The field that it is about: `spec.template.spec.containers[0].image`.
    pub field: Option<String>,
    /// For a conflict, the path of the field in a rule for conflicts. It is not part of the emitted results.
    pub rule_path: Option<Box<str>>,
    /// The field's current and proposed values.
    pub values: Option<Box<FieldValues>>,
    /// Tags for programs; `reason` comes first.
    pub tags: Vec<(String, String)>,
    /// The line in the file, counted from 1; the last of the tags.
    pub line: Option<usize>,
    /// What a merge reports, for callers of the library. The tags have the same for programs.
    pub merge: Option<Box<MergeDetail>>,
    /// How many results like this one are not listed; see [`Results`].
    pub more: usize,
}

impl FunctionResult {
    /// A result with a severity and a message only.
    pub fn new(severity: Severity, message: impl Into<Message>) -> Self {
        Self {
            severity,
            message: message.into(),
            resource: None,
            file: None,
            field: None,
            rule_path: None,
            values: None,
            tags: Vec::new(),
            line: None,
            merge: None,
            more: 0,
        }
    }

    /// An error with a reason.
    pub fn error(reason: Reason, message: impl Into<Message>) -> Self {
        Self::new(Severity::Error, message).tag("reason", reason.as_str())
    }

    /// Whether it is a conflict that no rule decided.
    pub fn is_open_conflict(&self) -> bool {
        self.severity > Severity::Info && self.has_reason(Reason::MergeConflict)
    }

    /// Whether the result has this reason.
    pub fn has_reason(&self, reason: Reason) -> bool {
        self.reason() == Some(reason.as_str())
    }

    /// The value of a tag.
    pub fn tag_value(&self, name: &str) -> Option<&str> {
        let mut tags = self.tags.iter();
        let (_, value) = tags.find(|(tag, _)| tag == name)?;
        Some(value)
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        self.tag_value("reason")
    }

    /// A warning with a reason.
    pub fn warning(reason: Reason, message: impl Into<Message>) -> Self {
        Self::new(Severity::Warning, message).tag("reason", reason.as_str())
    }

    /// The message, and how many results like this one are not listed.
    pub fn text(&self) -> Cow<'_, str> {
        match self.more {
            0 if !self.message.has_details() => Cow::Borrowed(&self.message.what),
            0 => self.message.to_string().into(),
            more => format!("{}, and {more} more like this", self.message).into(),
        }
    }

    pub fn info(message: impl Into<Message>) -> Self {
        Self::new(Severity::Info, message)
    }

    /// Sets the resource and its file.
    #[must_use]
    pub fn with_resource(mut self, resource: &Resource) -> Self {
        self.resource = Some(resource.into());
        let Origin { path, index, .. } = &resource.origin;
        self.file = path.clone().map(|path| (path, *index));
        self
    }

    #[must_use]
    pub fn in_file(mut self, path: impl Into<Arc<str>>) -> Self {
        self.file = Some((path.into(), None));
        self
    }

    #[must_use]
    pub fn with_field(mut self, field: impl fmt::Display) -> Self {
        self.field = Some(field.to_string());
        self
    }

    /// Sets the field's current and proposed values.
    #[must_use]
    pub fn with_values(
        mut self,
        current: Option<ResultValue>,
        proposed: Option<ResultValue>,
    ) -> Self {
        self.values = Some(Box::new(FieldValues { current, proposed }));
        self
    }

    #[must_use]
    pub fn tag(mut self, name: &str, value: impl Into<String>) -> Self {
        self.tags.push((name.to_owned(), value.into()));
        self
    }

    /// The conflict of a merge that it reports.
    pub fn conflict(&self) -> Option<&MergeConflict> {
        match self.merge.as_deref()? {
            MergeDetail::Conflict(conflict) => Some(conflict),
            MergeDetail::Combined { .. } | MergeDetail::Summary => None,
        }
    }

    /// All tags, with that of the line.
    pub fn all_tags(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let tags = self.tags.iter();
        let tags = tags.map(|(name, value)| (name.as_str(), Cow::from(value)));
        tags.chain(self.line.map(|line| ("line", line.to_string().into())))
    }

    /// The result as an element of the ResourceList's `results`.
    pub fn to_value(&self) -> Value {
        let text = |key: &'static str, value: &str| Value::entry(key, value);
        let mut fields = Vec::with_capacity(6);
        fields.push(Value::entry("message", self.text()));
        fields.push(text("severity", self.severity.as_str()));
        if let Some(resource) = &self.resource {
            let mut about = Vec::with_capacity(4);
            about.push(text("apiVersion", &resource.api_version));
            about.push(text("kind", &resource.kind));
            about.push(text("name", &resource.name));
            about.extend(
                resource
                    .namespace
                    .iter()
                    .map(|name| text("namespace", name)),
            );
            fields.push(Value::entry("resourceRef", Value::Mapping(about)));
        }
        if let Some(field) = &self.field {
            let mut about = vec![text("path", field)];
            if let Some(FieldValues { current, proposed }) = self.values.as_deref() {
                for (key, value) in [("currentValue", current), ("proposedValue", proposed)] {
                    let value = value.as_ref().map(ResultValue::to_value);
                    about.extend(value.map(|value| Value::entry(key, value)));
                }
            }
            fields.push(Value::entry("field", Value::Mapping(about)));
        }
        if let Some((path, index)) = &self.file {
            let mut file = vec![text("path", path)];
            if let Some(index) = index.filter(|index| *index > 0) {
                file.push(Value::entry("index", Value::from(index as i64)));
            }
            fields.push(Value::entry("file", Value::Mapping(file)));
        }
        if !self.tags.is_empty() {
            let tags = self.all_tags();
            let tags = tags.map(|(name, value)| Value::entry(name, value));
            fields.push(Value::entry("tags", Value::Mapping(tags.collect())));
        }
        Value::Mapping(fields)
    }
}

/// One line: `[error] file.yaml: ConfigMap/name: field: message (Reason)`, with `file.yaml:12` if the line is known.
impl fmt::Display for FunctionResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] ", self.severity.as_str())?;
        if let Some((path, _)) = &self.file {
            write!(f, "{}:", printable(path))?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            f.write_str(" ")?;
        }
        if let Some(resource) = &self.resource {
            write!(f, "{}: ", printable(&resource.to_string()))?;
        }
        if let Some(field) = &self.field {
            write!(f, "{}: ", printable(field))?;
        }
        f.write_str(&printable(&self.text()))?;
        match self.reason() {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_on_a_line() {
        let result = FunctionResult::info("a\u{1b}[31m\nb");
        assert_eq!(result.to_string(), "[info] a\\u{1b}[31m\\nb");
    }
}
