//! A result in the report, which appears once for all its variants.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::words::hide;
use super::{VariantEntry, is_false};
use krm_core::results::{
    FunctionResult, Message, Reason, ResourceRef, ResultValue, Severity, rule_for,
};
use krm_yaml::Value;

/// A result, and the variants that have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SharedResult {
    /// The names of the variants; empty for a result about the whole run.
    pub(super) variants: Vec<String>,
    #[serde(flatten)]
    pub(super) reported: ReportedResult,
    /// The rule that would decide the conflict in the next run, without its `take`; `None` for other results, or if
    /// no rule can decide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<serde_json::Value>,
}

/// A result, in the form of kpt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportedResult {
    pub(super) message: Message,
    pub(super) severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resource_ref: Option<ResourceRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) field: Option<FieldOfResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<FileOfResult>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) tags: BTreeMap<String, String>,
    /// Whether placeholders such as `‹name›` stand for the names of each variant.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) placeholders: bool,
}

/// A field. In a conflict, its path has the form of conflict rules.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FieldOfResult {
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) current_value: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) proposed_value: Option<serde_json::Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct FileOfResult {
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<u64>,
}

/// Tags that the table of variants already shows.
pub(super) const OF_VARIANT: [&str; 6] = ["action", "from", "to", "draft", "conflicts", "variant"];

impl From<&FunctionResult> for ReportedResult {
    fn from(result: &FunctionResult) -> Self {
        let values = result.values.as_deref();
        let value = |value: &Option<ResultValue>| Some(json(&value.as_ref()?.to_value()));
        let path = result.rule_path.as_deref().or(result.field.as_deref());
        Self {
            message: result.message.clone(),
            severity: result.severity,
            resource_ref: result.resource.clone(),
            field: path.map(|path| FieldOfResult {
                path: path.to_owned(),
                current_value: values.and_then(|values| value(&values.current)),
                proposed_value: values.and_then(|values| value(&values.proposed)),
            }),
            file: result.file.as_ref().map(|(path, index)| FileOfResult {
                path: path.to_string(),
                index: index.filter(|index| *index > 0).map(|index| index as u64),
            }),
            tags: (result.all_tags())
                .map(|(name, value)| (name.to_owned(), value.into_owned()))
                .collect(),
            placeholders: false,
        }
    }
}

impl ReportedResult {
    pub(super) fn tag(&self, name: &str) -> Option<&str> {
        self.tags.get(name).map(String::as_str)
    }

    pub(super) fn is_conflict(&self) -> bool {
        self.tag("reason") == Some(Reason::MergeConflict.as_str())
    }

    /// The rule that would decide the conflict for all variants in the next run; `None` if it is not a conflict, or
    /// is already decided. A conflict in a file without resources has no rule, because without a target the rule
    /// would decide other conflicts as well.
    pub(super) fn rule(&self, take: Option<&str>) -> Option<Value> {
        let is_open = self.is_conflict() && self.tag("rule").is_none();
        let about = self.resource_ref.as_ref().filter(|_| is_open)?;
        let target = ResourceRef {
            name: with_stars(&about.name).into(),
            namespace: about
                .namespace
                .as_deref()
                .map(|name| with_stars(name).into()),
            ..about.clone()
        };
        let path = self.field.as_ref().map(|field| field.path.as_str());
        Some(rule_for(Some(&target), path, take))
    }

    pub(super) fn is_about_variant(&self) -> bool {
        let about = self.resource_ref.as_ref();
        about.is_some_and(|about| about.kind.as_ref() == "PackageVariant")
    }

    /// Drops the index of a PackageVariant in its file, so that variants can share the result. The name identifies
    /// it.
    pub(super) fn forget_place_of_variant(&mut self) {
        if self.is_about_variant()
            && let Some(file) = &mut self.file
        {
            file.index = None;
        }
    }

    /// Replaces the names of the variant with placeholders and drops the line, which can differ between otherwise
    /// equal variants.
    pub(super) fn hiding(mut self, entry: &VariantEntry) -> Self {
        self.tags.remove("line");
        let mut any = false;
        self.each_text(|text| {
            if let Some(hidden) = hide(entry, text) {
                any = true;
                *text = hidden;
            }
        });
        self.placeholders = any;
        self
    }

    /// Calls `edit` for every text that can contain names of the variant. The path of a field is excluded, because
    /// rules are made from it.
    pub(super) fn each_text(&mut self, mut edit: impl FnMut(&mut String)) {
        edit(&mut self.message.what);
        edit(&mut self.message.details);
        if let Some(ResourceRef {
            name, namespace, ..
        }) = &mut self.resource_ref
        {
            for part in [name].into_iter().chain(namespace) {
                let mut text = part.to_string();
                edit(&mut text);
                *part = text.into();
            }
        }
        if let Some(file) = &mut self.file {
            edit(&mut file.path);
        }
        self.tags.values_mut().for_each(edit);
    }
}

/// Converts a value for the report.
pub(super) fn json(value: &Value) -> serde_json::Value {
    let json = value.to_json();
    serde_json::from_str(&json).unwrap_or(serde_json::Value::String(json))
}

/// Replaces the placeholders in a name with `*`, because they differ from variant to variant.
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
