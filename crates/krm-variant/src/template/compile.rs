//! Compiles the expressions of a template, once for all targets.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{
    CONTEXT, CompiledTemplate, Computed, ComputedKey, ComputedPart, TemplateText, is_in_context,
    twice, value_at,
};
use crate::expression::{Compiler, Variable, Variables};
use crate::package_variant_set::{
    InjectorTemplate, MapExpr, PackageContextTemplate, PipelineTemplate, StringMap, Template,
};
use krm_core::package_variant::{given, invalid, reserved, validate_group, validate_policies};
use krm_core::results::{FunctionResult, Reason};
use krm_yaml::{Path, Value};

impl CompiledTemplate {
    /// Checks a template and compiles all its expressions; adds errors to `findings`.
    pub(crate) fn new(
        template: &Template,
        path: &Path,
        variables: Variables,
        compiler: &mut Compiler,
        findings: &mut Vec<FunctionResult>,
    ) -> Self {
        // Every target sets these two fields, which come first in `spec`.
        let own = ["upstream", "downstream"].map(|name| Value::entry(name, Value::Null));
        let mut planner = Planner {
            compiler,
            variables: Variables {
                repository: false,
                ..variables
            },
            findings,
            plain: Value::Mapping(own.into()),
            computed: Vec::new(),
            reads: BTreeSet::new(),
            compiles: true,
            is_valid: true,
        };
        let downstream = path.field("downstream");
        let field = &template.downstream;
        let repo_expr = ("repoExpr", &field.repo_expr);
        let repo = planner.text(&downstream, ("repo", given(&field.repo)), repo_expr);
        planner.variables = variables;
        let package_expr = ("packageExpr", &field.package_expr);
        let package = ("package", given(&field.package));
        let package = planner.text(&downstream, package, package_expr);
        planner.rest(template, path);
        Self {
            repo,
            is_repo_computed: given(&field.repo_expr).is_some(),
            package,
            plain: planner.plain,
            computed: planner.computed,
            reads: planner.reads,
            compiles: planner.compiles,
            is_valid: planner.is_valid,
        }
    }
}

/// Compiles the expressions of one template.
struct Planner<'p> {
    compiler: &'p mut Compiler,
    variables: Variables,
    findings: &'p mut Vec<FunctionResult>,
    plain: Value,
    computed: Vec<(Path, ComputedPart)>,
    reads: BTreeSet<Variable>,
    compiles: bool,
    is_valid: bool,
}

impl Planner<'_> {
    fn refuse(&mut self, findings: impl IntoIterator<Item = FunctionResult>) {
        let before = self.findings.len();
        self.findings.extend(findings);
        self.is_valid &= self.findings.len() == before;
    }

    fn compile(&mut self, source: &str, path: Path) -> Option<Computed> {
        match self.compiler.compile(source, &self.variables) {
            Ok(expression) => {
                self.reads.extend(expression.reads());
                Some(Computed { expression, path })
            }
            Err(error) => {
                let result = FunctionResult::error(Reason::InvalidExpression, error.to_string());
                self.findings.push(result.with_field(path));
                self.compiles = false;
                None
            }
        }
    }

    /// The plain field, or the compiled expression. Both are an error.
    fn text(
        &mut self,
        path: &Path,
        (plain_name, plain): (&str, Option<&str>),
        (name, expr): (&str, &Option<String>),
    ) -> Option<TemplateText> {
        let Some(source) = given(expr) else {
            return plain.map(|plain| TemplateText::Plain(plain.to_owned()));
        };
        if plain.is_some_and(|plain| !plain.is_empty()) {
            let message = format!("expected `{plain_name}` or `{name}`, found both");
            self.refuse([invalid(path, message)]);
        }
        let computed = self.compile(source, path.field(name))?;
        Some(TemplateText::Computed(computed))
    }

    /// The plain field, or the compiled expression. Both and neither are an error.
    fn required_text(
        &mut self,
        path: &Path,
        plain: (&str, Option<&str>),
        expr: (&str, &Option<String>),
    ) -> Option<TemplateText> {
        if plain.1.is_none() && given(expr.1).is_none() {
            let message = format!("expected `{}` or `{}`, found neither", plain.0, expr.0);
            self.refuse([invalid(path, message)]);
        }
        self.text(path, plain, expr)
    }

    /// Compiles all fields except `downstream`, in the order of the fields of `spec`.
    fn rest(&mut self, template: &Template, path: &Path) {
        let policies = [&template.adoption_policy, &template.deletion_policy];
        self.refuse(validate_policies(policies, path));
        for (name, policy) in [
            ("adoptionPolicy", &template.adoption_policy),
            ("deletionPolicy", &template.deletion_policy),
        ] {
            if let Some(policy) = given(policy) {
                self.plain.push(name, policy);
            }
        }
        let (labels, annotations) = (&template.labels, &template.annotations);
        let (exprs, at) = (&template.label_exprs, path.field("labelExprs"));
        self.entries(Path::fields(&["labels"]), labels, exprs, &at);
        let (exprs, at) = (&template.annotation_exprs, path.field("annotationExprs"));
        self.entries(Path::fields(&["annotations"]), annotations, exprs, &at);
        let context = &template.package_context;
        let at = path.field(CONTEXT);
        let data = at.field("data");
        let keys = context.data.keys();
        self.refuse(keys.filter_map(|key| reserved(&data.field(key), key)));
        let place = Path::fields(&[CONTEXT, "data"]);
        self.entries(
            place,
            &context.data,
            &context.data_exprs,
            &at.field("dataExprs"),
        );
        self.removed_keys(context, &at);
        self.pipeline(&template.pipeline, &path.field("pipeline"));
        self.injectors(&template.injectors, &path.field("injectors"));
        self.injectors(&template.injector_exprs, &path.field("injectorExprs"));
    }

    fn pipeline(&mut self, pipeline: &PipelineTemplate, path: &Path) {
        for name in ["validators", "mutators"] {
            let functions = pipeline.value.as_ref().and_then(|value| value.get(name));
            let functions = functions.map_or(&[][..], Value::items);
            if !functions.is_empty() {
                let functions = Value::Sequence(functions.to_vec());
                *self.plain.field_mut("pipeline").field_mut(name) = functions;
            }
        }
        for (name, functions) in [
            ("mutators", &pipeline.mutators),
            ("validators", &pipeline.validators),
        ] {
            let place = Path::fields(&["pipeline", name]);
            let path = path.field(name);
            for (index, function) in functions.iter().enumerate() {
                let exprs = &function.config_map_exprs;
                if exprs.is_empty() {
                    continue;
                }
                let path = path.index(index);
                let place = place.index(index).field("configMap");
                let at = path.field("configMapExprs");
                self.entries(place, &function.config_map, exprs, &at);
                let others = [
                    ("configPath", given(&function.config_path).is_some()),
                    ("configRef", function.config_ref.is_some()),
                ];
                let others = others.iter().filter(|(_, is_given)| *is_given);
                self.refuse(others.map(|(field, _)| {
                    let message = format!("expected `configMapExprs` or `{field}`, found both");
                    invalid(&path, message)
                }));
            }
        }
        self.refuse(pipeline.plain.validate(path));
    }

    /// Compiles a map from its plain entries and its computed entries.
    fn entries(&mut self, place: Path, plain: &StringMap, exprs: &[MapExpr], path: &Path) {
        let mut keys = Vec::new();
        let mut plain_keys = HashSet::new();
        for (index, entry) in exprs.iter().enumerate() {
            let path = path.index(index);
            let plain_key = given(&entry.key);
            let key_expr = ("keyExpr", &entry.key_expr);
            let key = self.required_text(&path, ("key", plain_key), key_expr);
            // Unlike an absent value, an empty value is allowed.
            let value = ("value", entry.value.as_deref());
            let value = self.required_text(&path, value, ("valueExpr", &entry.value_expr));
            if let Some(key) = plain_key {
                let path = path.field("key");
                let is_new = plain_keys.insert(key);
                self.refuse((!is_new).then(|| twice(&path, key)));
                self.refuse(reserved(&path, key).filter(|_| is_in_context(&place)));
            }
            if let (Some(key), value @ Some(_)) = (key, value) {
                keys.push(ComputedKey { key, value, path });
            }
        }
        let (names, entries) = (plain.keys(), plain.iter());
        let entries = entries.map(|(key, value)| Value::entry(key.as_str(), value.as_str()));
        self.part(place, Value::Mapping(entries.collect()), names, keys);
    }

    fn removed_keys(&mut self, context: &PackageContextTemplate, path: &Path) {
        let mut plain_keys = HashSet::new();
        for (index, key) in context.remove_keys.iter().enumerate() {
            let path = path.field("removeKeys").index(index);
            self.refuse(reserved(&path, key));
            if key.is_empty() {
                self.refuse([invalid(&path, "expected a key, found an empty string")]);
            } else if !plain_keys.insert(key) {
                self.refuse([twice(&path, key)]);
            }
        }
        let mut keys = Vec::new();
        for (index, source) in context.remove_key_exprs.iter().enumerate() {
            let path = path.field("removeKeyExprs").index(index);
            if source.is_empty() {
                let message = "expected an expression, found an empty string";
                self.refuse([invalid(&path, message)]);
                continue;
            }
            let compiled = self.compile(source, path.clone());
            keys.extend(compiled.map(|computed| ComputedKey {
                key: TemplateText::Computed(computed),
                value: None,
                path,
            }));
        }
        let mut names: Vec<&String> = context.remove_keys.iter().collect();
        names.sort_unstable();
        let values = names
            .iter()
            .map(|name| Value::from(name.as_str()))
            .collect();
        let place = Path::fields(&[CONTEXT, "removeKeys"]);
        self.part(place, Value::Sequence(values), names.into_iter(), keys);
    }

    /// Adds a map or list with its plain keys, and records its computed keys.
    fn part<'k>(
        &mut self,
        place: Path,
        value: Value,
        plain: impl Iterator<Item = &'k String>,
        keys: Vec<ComputedKey>,
    ) {
        let plain: HashMap<String, usize> = plain.cloned().zip(0..).collect();
        if plain.is_empty() && keys.is_empty() {
            return;
        }
        if let Some(part) = value_at(&mut self.plain, &place) {
            *part = value;
        }
        if !keys.is_empty() {
            let part = ComputedPart::Keys { keys, plain };
            self.computed.push((place, part));
        }
    }

    fn injectors(&mut self, injectors: &[InjectorTemplate], path: &Path) {
        for (index, injector) in injectors.iter().enumerate() {
            let path = path.index(index);
            let name = ("name", given(&injector.name));
            let name = self.required_text(&path, name, ("nameExpr", &injector.name_expr));
            self.refuse(validate_group(injector.group.as_deref(), &path));
            let Some(name) = name else { continue };
            let group = injector.group.as_deref();
            let fields = [
                ("group", group),
                ("version", given(&injector.version)),
                ("kind", given(&injector.kind)),
                ("name", Some("")),
            ];
            let fields = fields.into_iter();
            let fields = fields.filter_map(|(name, text)| Some(Value::entry(name, text?)));
            let fields = Value::Mapping(fields.collect());
            let place = Path::fields(&["injectors"]);
            let mut at = 0;
            match self.plain.field_mut("injectors") {
                Value::Sequence(others) => {
                    at = others.len();
                    others.push(fields);
                }
                none => *none = Value::Sequence(vec![fields]),
            }
            let place = place.index(at).field("name");
            self.computed.push((place, ComputedPart::Name(name)));
        }
    }
}
