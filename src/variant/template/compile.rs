//! Compiles the expressions of a template, once for all targets.

use std::collections::{BTreeSet, HashMap};

use super::{
    CONTEXT, CompiledTemplate, Computed, ComputedKey, ComputedPart, TemplateText, value_at,
};
use crate::results::{FunctionResult, Reason};
use crate::variant::expression::{Compiler, Variable, Variables};
use crate::variant::package_variant_set::{
    InjectorTemplate, MapExpr, PackageContextTemplate, StringMap, Template, given,
};
use crate::yaml::{Path, Value};

impl CompiledTemplate {
    /// Compiles all expressions of a template; adds errors to `findings`.
    #[must_use]
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
        };
        let downstream = path.field("downstream");
        let field = &template.downstream;
        let repo_expr = ("repoExpr", &field.repo_expr);
        let repo = planner.text(&downstream, given(&field.repo), repo_expr);
        planner.variables = variables;
        let package_expr = ("packageExpr", &field.package_expr);
        let package = planner.text(&downstream, given(&field.package), package_expr);
        planner.rest(template, path);
        Self {
            repo,
            is_repo_computed: given(&field.repo_expr).is_some(),
            package,
            plain: planner.plain,
            computed: planner.computed,
            reads: planner.reads,
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
}

impl Planner<'_> {
    fn compile(&mut self, source: &str, path: Path) -> Option<Computed> {
        match self.compiler.compile(source, &self.variables) {
            Ok(expression) => {
                self.reads.extend(expression.reads());
                Some(Computed { expression, path })
            }
            Err(error) => {
                let result = FunctionResult::error(Reason::InvalidExpression, error.to_string());
                self.findings.push(result.with_field(path));
                None
            }
        }
    }

    /// The plain field, or the compiled expression, which takes precedence.
    fn text(
        &mut self,
        path: &Path,
        plain: Option<&str>,
        expr: (&str, &Option<String>),
    ) -> Option<TemplateText> {
        match given(expr.1) {
            Some(source) => {
                let computed = self.compile(source, path.field(expr.0))?;
                Some(TemplateText::Computed(computed))
            }
            None => plain.map(|plain| TemplateText::Plain(plain.to_owned())),
        }
    }

    /// Compiles all fields except `downstream`, in the order of the fields of `spec`.
    fn rest(&mut self, template: &Template, path: &Path) {
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
        let at = path.field(CONTEXT).field("dataExprs");
        let place = Path::fields(&[CONTEXT, "data"]);
        self.entries(place, &context.data, &context.data_exprs, &at);
        self.removed_keys(context, &path.field(CONTEXT).field("removeKeyExprs"));
        let pipeline = &template.pipeline;
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
            let path = path.field("pipeline").field(name);
            for (index, function) in functions.iter().enumerate() {
                let exprs = &function.config_map_exprs;
                if !exprs.is_empty() {
                    let place = place.index(index).field("configMap");
                    let path = path.index(index).field("configMapExprs");
                    self.entries(place, &function.config_map, exprs, &path);
                }
            }
        }
        self.injectors(&template.injectors, &path.field("injectors"));
        self.injectors(&template.injector_exprs, &path.field("injectorExprs"));
    }

    /// Compiles a map from its plain entries and its computed entries.
    fn entries(&mut self, place: Path, plain: &StringMap, exprs: &[MapExpr], path: &Path) {
        let mut keys = Vec::new();
        for (index, entry) in exprs.iter().enumerate() {
            let path = path.index(index);
            let key = self.text(&path, entry.key.as_deref(), ("keyExpr", &entry.key_expr));
            let value = ("valueExpr", &entry.value_expr);
            let value = self.text(&path, entry.value.as_deref(), value);
            if let (Some(key), value @ Some(_)) = (key, value) {
                keys.push(ComputedKey { key, value, path });
            }
        }
        let names = plain.0.iter().map(|(key, _)| key);
        let entries = plain.0.iter();
        let entries = entries.map(|(key, value)| Value::entry(key.as_str(), value.as_str()));
        self.part(place, Value::Mapping(entries.collect()), names, keys);
    }

    fn removed_keys(&mut self, context: &PackageContextTemplate, path: &Path) {
        let mut keys = Vec::new();
        for (index, source) in context.remove_key_exprs.iter().enumerate() {
            let path = path.index(index);
            let compiled = (!source.is_empty()).then(|| self.compile(source, path.clone()));
            keys.extend(compiled.flatten().map(|computed| ComputedKey {
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
            let name_expr = ("nameExpr", &injector.name_expr);
            let name = self.text(&path.index(index), injector.name.as_deref(), name_expr);
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
