//! The rules about the values of a PackageVariantSet, other than those of its templates.

use super::{PackageVariantSet, Target, given};
use krm_core::package_variant::{invalid, missing, validate_upstream};
use krm_core::results::FunctionResult;
use krm_yaml::Path;

impl PackageVariantSet {
    /// Adds the errors in `upstream`.
    pub(crate) fn validate_upstream(&self, findings: &mut Vec<FunctionResult>) {
        let what = "the package that the variants are made from";
        validate_upstream(self.spec.upstream.as_ref(), what, findings);
    }

    /// Adds an error if there are no targets.
    pub(crate) fn validate_targets(&self, findings: &mut Vec<FunctionResult>) {
        if self.spec.targets.is_empty() {
            let path = Path::fields(&["spec", "targets"]);
            findings.push(missing(&path, "at least one target"));
        }
    }
}

impl Target {
    /// Adds all errors in the selection of the target.
    pub(crate) fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        let kinds = [
            ("repositories", !self.repositories.is_empty()),
            ("repositorySelector", self.repository_selector.is_some()),
            ("objectSelector", self.object_selector.is_some()),
        ];
        let found: Vec<&str> = kinds
            .iter()
            .filter(|(_, is)| *is)
            .map(|(k, _)| *k)
            .collect();
        if found.len() != 1 {
            let found = match found.as_slice() {
                [] => "none".to_owned(),
                several => format!("`{}`", several.join("` and `")),
            };
            let message = format!(
                "expected one of `repositories`, `repositorySelector` and `objectSelector`, found {found}"
            );
            findings.push(invalid(path, message));
        }
        let names = |names: &[String], path: &Path, findings: &mut Vec<FunctionResult>| {
            for (index, name) in names.iter().enumerate() {
                if name.is_empty() {
                    let message = "expected the name of a package, found an empty string";
                    findings.push(invalid(&path.index(index), message));
                }
            }
        };
        for (index, repository) in self.repositories.iter().enumerate() {
            let path = path.field("repositories").index(index);
            if given(&repository.name).is_none() {
                findings.push(missing(&path.field("name"), "the name of a Repository"));
            }
            names(
                &repository.package_names,
                &path.field("packageNames"),
                findings,
            );
        }
        if let Some(selector) = &self.repository_selector {
            findings.extend(selector.validate(&path.field("repositorySelector")));
        }
        if let Some(selector) = &self.object_selector {
            let path = path.field("objectSelector");
            for (name, field) in [
                ("apiVersion", &selector.api_version),
                ("kind", &selector.kind),
            ] {
                if given(field).is_none() {
                    let what = format!("the {name} of the objects");
                    findings.push(missing(&path.field(name), &what));
                }
            }
            findings.extend(selector.labels().validate(&path));
        }
        if !self.repositories.is_empty() && !self.package_names.is_empty() {
            let message = "expected `packageNames` in the entries of `repositories`, found it next to the list";
            findings.push(invalid(&path.field("packageNames"), message));
        }
        names(&self.package_names, &path.field("packageNames"), findings);
    }
}
