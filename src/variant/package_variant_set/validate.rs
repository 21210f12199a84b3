//! All rules about the values of a PackageVariantSet.

use std::collections::HashSet;

use super::{
    InjectorTemplate, MapExpr, PackageContextTemplate, PackageVariantSet, PipelineTemplate, Target,
    Template, given,
};
use crate::results::{FunctionResult, Message, Reason};
use crate::variant::package_variant::{ADOPTION_POLICIES, DELETION_POLICIES, RESERVED_KEYS};
use crate::yaml::Path;

impl PackageVariantSet {
    /// Adds the errors in `upstream`.
    pub(crate) fn validate_upstream(&self, findings: &mut Vec<FunctionResult>) {
        let path = Path::fields(&["spec", "upstream"]);
        let Some(upstream) = &self.spec.upstream else {
            let message = "expected the package that the variants are made from, found none";
            return findings.push(invalid(&path, message));
        };
        for (name, value, what) in [
            ("repo", &upstream.repo, "the name of a Repository"),
            ("package", &upstream.package, "the name of a package"),
        ] {
            if given(value).is_none() {
                let message = format!("expected {what}, found none");
                findings.push(invalid(&path.field(name), message));
            }
        }
    }

    /// Adds an error if there are no targets.
    pub(crate) fn validate_targets(&self, findings: &mut Vec<FunctionResult>) {
        if self.spec.targets.is_empty() {
            let message = "expected at least one target, found none";
            findings.push(invalid(&Path::fields(&["spec", "targets"]), message));
        }
    }
}

fn invalid(path: &Path, message: impl Into<Message>) -> FunctionResult {
    FunctionResult::error(Reason::InvalidConfig, message).with_field(path)
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
                let message = "expected the name of a Repository, found none";
                findings.push(invalid(&path.field("name"), message));
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
                    let message = format!("expected the {name} of the objects, found none");
                    findings.push(invalid(&path.field(name), message));
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

impl Template {
    /// Adds all errors in the values, in the order of the fields.
    pub(crate) fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        let downstream = path.field("downstream");
        let Self { downstream: d, .. } = self;
        exclusive(
            &downstream,
            ("repo", &d.repo),
            ("repoExpr", &d.repo_expr),
            findings,
        );
        let package = ("package", &d.package);
        exclusive(
            &downstream,
            package,
            ("packageExpr", &d.package_expr),
            findings,
        );
        for (name, value, words) in [
            ("adoptionPolicy", &self.adoption_policy, ADOPTION_POLICIES),
            ("deletionPolicy", &self.deletion_policy, DELETION_POLICIES),
        ] {
            if let Some(value) = given(value).filter(|value| !words.contains(value)) {
                let [first, second] = words;
                let message = format!("expected `{first}` or `{second}`, found `{value}`");
                findings.push(invalid(&path.field(name), message));
            }
        }
        for (name, exprs) in [
            ("labelExprs", &self.label_exprs),
            ("annotationExprs", &self.annotation_exprs),
        ] {
            validate_map_exprs(exprs, &path.field(name), findings);
        }
        self.package_context
            .validate(&path.field("packageContext"), findings);
        self.pipeline.validate(&path.field("pipeline"), findings);
        for (name, injectors) in [
            ("injectors", &self.injectors),
            ("injectorExprs", &self.injector_exprs),
        ] {
            for (index, injector) in injectors.iter().enumerate() {
                injector.validate(&path.field(name).index(index), findings);
            }
        }
    }
}

/// Adds an error if both of two exclusive fields are given; returns whether at least one is given.
fn exclusive(
    path: &Path,
    (plain, plain_value): (&str, &Option<String>),
    (expr, expr_value): (&str, &Option<String>),
    findings: &mut Vec<FunctionResult>,
) -> bool {
    let both = given(plain_value).is_some() && given(expr_value).is_some();
    if both {
        let message = format!("expected `{plain}` or `{expr}`, found both");
        findings.push(invalid(path, message));
    }
    given(plain_value).is_some() || given(expr_value).is_some()
}

fn validate_map_exprs(exprs: &[MapExpr], path: &Path, findings: &mut Vec<FunctionResult>) {
    let mut keys = HashSet::new();
    for (index, entry) in exprs.iter().enumerate() {
        let path = path.index(index);
        let key = ("key", &entry.key);
        if !exclusive(&path, key, ("keyExpr", &entry.key_expr), findings) {
            findings.push(invalid(&path, "expected `key` or `keyExpr`, found neither"));
        }
        let value = ("value", &entry.value);
        // Unlike an absent value, an empty value is allowed.
        if !exclusive(&path, value, ("valueExpr", &entry.value_expr), findings)
            && entry.value.is_none()
        {
            findings.push(invalid(
                &path,
                "expected `value` or `valueExpr`, found neither",
            ));
        }
        if let Some(key) = given(&entry.key).filter(|key| !keys.insert(*key)) {
            findings.push(twice(&path.field("key"), key));
        }
    }
}

/// The error for a repeated key.
pub(crate) fn twice(path: &Path, key: &str) -> FunctionResult {
    invalid(
        path,
        format!("expected each key once in the list, found `{key}` again"),
    )
}

/// The error for a key of the package context that kpt and Porch set.
pub(crate) fn reserved(path: &Path, key: &str) -> Option<FunctionResult> {
    let is_reserved = RESERVED_KEYS.contains(&key);
    is_reserved.then(|| {
        let message = format!("the key `{key}` is reserved: kpt and Porch set it");
        FunctionResult::error(Reason::ReservedKey, message).with_field(path)
    })
}

impl PackageContextTemplate {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        for (key, _) in &self.data.0 {
            findings.extend(reserved(&path.field("data").field(key), key));
        }
        let mut keys = HashSet::new();
        for (index, key) in self.remove_keys.iter().enumerate() {
            let path = path.field("removeKeys").index(index);
            findings.extend(reserved(&path, key));
            if key.is_empty() {
                findings.push(invalid(&path, "expected a key, found an empty string"));
            } else if !keys.insert(key) {
                findings.push(twice(&path, key));
            }
        }
        let exprs = path.field("dataExprs");
        validate_map_exprs(&self.data_exprs, &exprs, findings);
        for (index, entry) in self.data_exprs.iter().enumerate() {
            let key = given(&entry.key).unwrap_or_default();
            findings.extend(reserved(&exprs.index(index).field("key"), key));
        }
        for (index, expr) in self.remove_key_exprs.iter().enumerate() {
            if expr.is_empty() {
                let path = path.field("removeKeyExprs").index(index);
                findings.push(invalid(
                    &path,
                    "expected an expression, found an empty string",
                ));
            }
        }
    }
}

impl PipelineTemplate {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        for (name, functions) in [
            ("mutators", &self.mutators),
            ("validators", &self.validators),
        ] {
            let path = path.field(name);
            for (index, function) in functions.iter().enumerate() {
                let path = path.index(index);
                let exprs = path.field("configMapExprs");
                validate_map_exprs(&function.config_map_exprs, &exprs, findings);
                let others = [
                    ("configPath", given(&function.config_path).is_some()),
                    ("configRef", function.config_ref.is_some()),
                ];
                let exprs_given = !function.config_map_exprs.is_empty();
                for (field, _) in others.iter().filter(|(_, given)| *given && exprs_given) {
                    let message = format!("expected `configMapExprs` or `{field}`, found both");
                    findings.push(invalid(&path, message));
                }
            }
        }
        findings.extend(self.plain.validate(path));
    }
}

impl InjectorTemplate {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        let name = ("name", &self.name);
        if !exclusive(path, name, ("nameExpr", &self.name_expr), findings) {
            findings.push(invalid(
                path,
                "expected `name` or `nameExpr`, found neither",
            ));
        }
        if let Some(group) = given(&self.group).filter(|group| group.contains('/')) {
            let message = format!("expected a group without version, found `{group}`");
            findings.push(invalid(&path.field("group"), message));
        }
    }
}
