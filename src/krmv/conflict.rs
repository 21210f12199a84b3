//! Conflicts as values: what a merge reported, and how a person names it.

use std::collections::BTreeSet;

use krm_variants::merge::decided::{glob, rule_for};
use krm_variants::results::{FunctionResult, ResourceRef, Results};
use krm_variants::yaml::Value;

/// A place that both sides changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportedConflict {
    pub(crate) file: String,
    /// The line in the file as it is now, where it is known.
    pub(crate) line: Option<usize>,
    pub(crate) resource: Option<ResourceRef>,
    /// As results write it; `None` for a whole resource or file.
    pub(crate) field: Option<String>,
    /// As a rule for conflicts writes it.
    pub(crate) rule_path: Option<String>,
    /// The place inside a text or document.
    pub(crate) within: Option<String>,
    /// What happened, without the values.
    pub(crate) what: String,
    pub(crate) original: Option<String>,
    pub(crate) local: Option<String>,
    pub(crate) upstream: Option<String>,
}

impl ReportedConflict {
    fn read(result: &FunctionResult) -> Self {
        let tag = |name: &str| result.tag_value(name).map(str::to_owned);
        let file = result.file.as_ref();
        Self {
            file: file.map(|(path, _)| path.to_string()).unwrap_or_default(),
            line: tag("line").and_then(|line| line.parse().ok()),
            resource: result.resource.clone(),
            field: result.field.clone(),
            rule_path: result.rule_path.as_deref().map(str::to_owned),
            within: tag("within"),
            what: result.message.what().to_owned(),
            original: tag("original"),
            local: tag("local"),
            upstream: tag("upstream"),
        }
    }

    /// The place, the same in each run: a rule's path does not count the elements of lists.
    pub(crate) fn key(&self) -> String {
        let resource = self.resource.as_ref().map(named).unwrap_or_default();
        let path = self.rule_path.as_deref().or(self.field.as_deref());
        let key = [self.file.as_str(), &resource, path.unwrap_or_default()].join(":");
        key.replace(['\n', '\r'], " ")
    }

    /// `Deployment/app`, for people.
    pub(crate) fn resource_name(&self) -> Option<String> {
        self.resource.as_ref().map(named)
    }

    /// The field, as a person would type it in a pattern.
    pub(crate) fn path(&self) -> Option<&str> {
        self.field.as_deref().or(self.rule_path.as_deref())
    }

    /// Whether a pattern means this conflict: a glob over `FILE`, `FIELD` or `FILE:FIELD`.
    pub(crate) fn fits(&self, pattern: &str) -> bool {
        let fields = [self.field.as_deref(), self.rule_path.as_deref()];
        let fields = fields.into_iter().flatten();
        let names = self.resource_name();
        let mut names: Vec<String> = names.into_iter().chain([self.file.clone()]).collect();
        for field in fields {
            names.push(field.to_owned());
            names.push(format!("{}:{field}", self.file));
        }
        names.iter().any(|name| glob(pattern, name))
    }

    /// A rule that decides this conflict.
    pub(crate) fn rule(&self, take: &str) -> Value {
        rule_for(
            self.resource.as_ref(),
            self.rule_path.as_deref(),
            Some(take),
        )
    }

    /// What two conflicts have in common that one decision fits: a field of one name, with the same values.
    pub(crate) fn sort_of(&self) -> (Option<&str>, [Option<&str>; 3]) {
        let values = [&self.original, &self.local, &self.upstream];
        let field = self
            .path()
            .map(|path| path.rsplit('.').next().unwrap_or(path));
        (field, values.map(|value| value.as_deref()))
    }
}

fn named(resource: &ResourceRef) -> String {
    match resource.namespace.as_deref() {
        Some(namespace) => format!("{}/{namespace}/{}", resource.kind, resource.name),
        None => format!("{}/{}", resource.kind, resource.name),
    }
}

/// The conflicts that nothing decided, in the order of the files.
pub(crate) fn conflicts(results: &Results) -> Vec<ReportedConflict> {
    let open = results.iter().filter(|result| result.is_open_conflict());
    open.map(ReportedConflict::read).collect()
}

/// Those among them that no person decided.
pub(crate) fn undecided(
    all: Vec<ReportedConflict>,
    decided: &BTreeSet<String>,
) -> Vec<ReportedConflict> {
    let mut all = all;
    all.retain(|conflict| !decided.contains(&conflict.key()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, text, fits) in [
            ("spec.replicas", "spec.replicas", true),
            ("spec.*", "spec.replicas", true),
            ("*replicas", "spec.replicas", true),
            ("*image*", "spec.image", true),
            ("**", "", true),
            ("a*a", "a", false),
            ("a*b*c", "axbyc", true),
            ("a*b*c", "axcyb", false),
            ("x[0].y", "x[0].y", true),
            ("spec", "spec.replicas", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }
}
