//! Conflicts as values: how a merge reports them, and the patterns by which a user selects them.

use std::collections::BTreeSet;

use krm_core::glob::glob;
use krm_core::resource::Resource;
use krm_core::results::{
    FunctionResult, MergeConflict, QuotedValue, ResourceRef, Results, rule_for,
};
use krm_yaml::Value;

/// The names of the versions of a conflict.
pub(crate) const VERSIONS: [&str; 3] = ["original", "local", "upstream"];

/// A place that both sides changed, as a merge reports it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportedConflict(pub(crate) FunctionResult);

impl ReportedConflict {
    pub(crate) fn file(&self) -> &str {
        self.0.file.as_ref().map_or("", |(path, _)| path)
    }

    /// The line in the current file. `None` if the merge did not report one.
    pub(crate) fn line(&self) -> Option<usize> {
        self.0.line
    }

    pub(crate) fn what(&self) -> &str {
        &self.0.message.what
    }

    /// The part of the value that is in conflict, if the value merges by its parts.
    pub(crate) fn within(&self) -> Option<&str> {
        self.0.conflict()?.within.as_deref()
    }

    /// The values of the versions, in the order of [`VERSIONS`].
    pub(crate) fn values(&self) -> [Option<&str>; 3] {
        let Some(MergeConflict { versions, .. }) = self.0.conflict() else {
            return [None; 3];
        };
        versions
            .each_ref()
            .map(|value| value.as_ref().map(QuotedValue::as_str))
    }

    /// Identifies the place in later runs. The rule path is preferred, because it does not count list elements.
    pub(crate) fn key(&self) -> String {
        let resource = self.resource_name().unwrap_or_default();
        let path = self.0.rule_path.as_deref().or(self.0.field.as_deref());
        let key = [self.file(), &resource, path.unwrap_or_default()].join(":");
        key.replace(['\n', '\r'], " ")
    }

    /// `Deployment/app`, for people.
    pub(crate) fn resource_name(&self) -> Option<String> {
        self.0.resource.as_ref().map(ToString::to_string)
    }

    /// The field, as a user types it in a pattern.
    pub(crate) fn path(&self) -> Option<&str> {
        self.0.field.as_deref().or(self.0.rule_path.as_deref())
    }

    /// Whether a pattern matches this conflict: a glob over `FILE`, `FIELD`, `FILE:FIELD` or `Kind/name`.
    pub(crate) fn fits(&self, pattern: &str) -> bool {
        let fields = [self.0.field.as_deref(), self.0.rule_path.as_deref()];
        let fields = fields.into_iter().flatten();
        let names = self.resource_name();
        let mut names: Vec<String> = names.into_iter().chain([self.file().to_owned()]).collect();
        for field in fields {
            names.push(field.to_owned());
            names.push(format!("{}:{field}", self.file()));
        }
        names.iter().any(|name| glob(pattern, name))
    }

    /// A rule that decides this conflict.
    pub(crate) fn rule(&self, take: &str) -> Value {
        let (resource, path) = self.rule_place();
        rule_for(resource, path, Some(take))
    }

    /// The resource and the path that a rule which decides this conflict names.
    pub(crate) fn rule_place(&self) -> (Option<&ResourceRef>, Option<&str>) {
        (self.0.resource.as_ref(), self.0.rule_path.as_deref())
    }

    /// The key by which similar conflicts are grouped: the last component of the field, and the values.
    pub(crate) fn group_key(&self) -> (Option<&str>, [Option<&str>; 3]) {
        let field = self
            .path()
            .map(|path| path.rsplit('.').next().unwrap_or(path));
        (field, self.values())
    }
}

/// Whether a result names this resource.
pub(crate) fn is_about(named: &ResourceRef, resource: &Resource) -> bool {
    named.kind == resource.kind
        && Some(&*named.name) == resource.name.as_deref()
        && named.namespace.as_deref() == resource.namespace.as_deref()
}

/// The conflicts that no rule decided, in the order of the results.
pub(crate) fn conflicts(results: &Results) -> Vec<ReportedConflict> {
    let open = results.iter().filter(|result| result.is_open_conflict());
    open.cloned().map(ReportedConflict).collect()
}

/// The conflicts that the user has not decided. `decided` has the keys of the others.
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
