//! From a target to the `spec` of its PackageVariant.
//!
//! A template is planned once, its expressions compiled, and the plan followed for each target.
//! Computed entries win over plain ones; a plain entry keeps its place.
//!
//! Source: package-variant document, PackageVariant Template.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::expression::{Compiler, Evaluator, Expression, ExpressionError, Variable, Variables};
use super::package_variant_set::{
    FunctionTemplate, InjectorTemplate, MapExpr, StringMap, Template, given, reserved, twice,
};
use crate::results::{FunctionResult, Reason};
use crate::yaml::{Path, Value};

/// A template with its expressions compiled.
#[derive(Debug, Default)]
pub struct Plan {
    repo: Option<Text>,
    /// Whether an expression gives it, even one that does not compile.
    is_repo_computed: bool,
    package: Option<Text>,
    adoption_policy: Option<String>,
    deletion_policy: Option<String>,
    labels: Entries,
    annotations: Entries,
    data: Entries,
    remove_keys: Vec<String>,
    remove_key_exprs: Vec<Computed>,
    mutators: Vec<PlannedFunction>,
    validators: Vec<PlannedFunction>,
    injectors: Vec<PlannedInjector>,
    /// The variables that the expressions read.
    reads: BTreeSet<Variable>,
}

/// A text that is given or computed.
#[derive(Debug)]
enum Text {
    Plain(String),
    Computed(Computed),
}

#[derive(Debug)]
struct Computed {
    expression: Expression,
    path: Path,
}

/// A map, its plain part and its computed part.
#[derive(Debug, Default)]
struct Entries {
    plain: Vec<(String, String)>,
    computed: Vec<Entry>,
    /// Whether this is the package context.
    is_context: bool,
}

#[derive(Debug)]
struct Entry {
    key: Text,
    value: Text,
    path: Path,
}

#[derive(Debug)]
struct PlannedFunction {
    /// The function as it is written, without its computed part.
    value: Value,
    config_map: Entries,
}

#[derive(Debug)]
struct PlannedInjector {
    group: Option<String>,
    version: Option<String>,
    kind: Option<String>,
    name: Text,
}

/// Why a target gives no PackageVariant.
#[derive(Debug)]
pub struct Failure {
    /// What is reported.
    pub result: Box<FunctionResult>,
    /// Whether the run ends: an expression took more than it may.
    pub ends_run: bool,
}

impl From<FunctionResult> for Failure {
    fn from(result: FunctionResult) -> Self {
        Self {
            result: Box::new(result),
            ends_run: false,
        }
    }
}

fn invalid(path: &Path, message: impl Into<String>) -> FunctionResult {
    FunctionResult::error(Reason::InvalidConfig, message).at(path)
}

/// Compiles the expressions of one template.
struct Planner<'p> {
    compiler: &'p mut Compiler,
    variables: Variables,
    findings: &'p mut Vec<FunctionResult>,
    reads: BTreeSet<Variable>,
}

impl Planner<'_> {
    fn compile(&mut self, source: &str, path: Path, variables: Variables) -> Option<Computed> {
        match self.compiler.compile(source, &variables) {
            Ok(expression) => {
                self.reads.extend(expression.reads());
                Some(Computed { expression, path })
            }
            Err(error) => {
                let result = FunctionResult::error(Reason::InvalidExpression, error.to_string());
                self.findings.push(result.at(path));
                None
            }
        }
    }

    /// One of two fields: the plain one, or the expression.
    fn text(
        &mut self,
        path: &Path,
        plain: &Option<String>,
        expr: (&str, &Option<String>),
    ) -> Option<Text> {
        match given(expr.1) {
            Some(source) => {
                let computed = self.compile(source, path.field(expr.0), self.variables)?;
                Some(Text::Computed(computed))
            }
            None => plain.clone().map(Text::Plain),
        }
    }

    fn entries(&mut self, plain: &StringMap, exprs: &[MapExpr], path: &Path) -> Entries {
        let mut entries = Entries {
            plain: plain.0.clone(),
            ..Entries::default()
        };
        for (index, entry) in exprs.iter().enumerate() {
            let path = path.index(index);
            let key = self.text(&path, &entry.key, ("keyExpr", &entry.key_expr));
            let value = self.text(&path, &entry.value, ("valueExpr", &entry.value_expr));
            if let (Some(key), Some(value)) = (key, value) {
                entries.computed.push(Entry { key, value, path });
            }
        }
        entries
    }

    fn functions(&mut self, functions: &[FunctionTemplate], path: &Path) -> Vec<PlannedFunction> {
        let mut planned = Vec::with_capacity(functions.len());
        for (index, function) in functions.iter().enumerate() {
            let path = path.index(index).field("configMapExprs");
            let exprs = &function.config_map_exprs;
            planned.push(PlannedFunction {
                value: function.value.clone().unwrap_or(Value::Null),
                config_map: self.entries(&function.config_map, exprs, &path),
            });
        }
        planned
    }

    fn injectors(
        &mut self,
        injectors: &[InjectorTemplate],
        path: &Path,
        planned: &mut Vec<PlannedInjector>,
    ) {
        for (index, injector) in injectors.iter().enumerate() {
            let path = path.index(index);
            let name_expr = ("nameExpr", &injector.name_expr);
            let Some(name) = self.text(&path, &injector.name, name_expr) else {
                continue;
            };
            planned.push(PlannedInjector {
                group: injector.group.clone(),
                version: given(&injector.version).map(str::to_owned),
                kind: given(&injector.kind).map(str::to_owned),
                name,
            });
        }
    }
}

impl Plan {
    /// Compiles all expressions of a template; what is wrong with them is added to `findings`.
    #[must_use]
    pub fn new(
        template: &Template,
        path: &Path,
        variables: Variables,
        compiler: &mut Compiler,
        findings: &mut Vec<FunctionResult>,
    ) -> Self {
        let mut planner = Planner {
            compiler,
            variables: Variables {
                repository: false,
                ..variables
            },
            findings,
            reads: BTreeSet::new(),
        };
        let plain = |field: &Option<String>| given(field).map(str::to_owned);
        let downstream = path.field("downstream");
        let field = &template.downstream;
        let repo = planner.text(
            &downstream,
            &plain(&field.repo),
            ("repoExpr", &field.repo_expr),
        );
        planner.variables = variables;
        let package_expr = ("packageExpr", &field.package_expr);
        let package = planner.text(&downstream, &plain(&field.package), package_expr);
        let context_path = path.field("packageContext");
        let context = &template.package_context;
        let mut data = planner.entries(
            &context.data,
            &context.data_exprs,
            &context_path.field("dataExprs"),
        );
        data.is_context = true;
        let label_exprs = path.field("labelExprs");
        let annotation_exprs = path.field("annotationExprs");
        let mut plan = Self {
            repo,
            package,
            adoption_policy: plain(&template.adoption_policy),
            deletion_policy: plain(&template.deletion_policy),
            labels: planner.entries(&template.labels, &template.label_exprs, &label_exprs),
            annotations: planner.entries(
                &template.annotations,
                &template.annotation_exprs,
                &annotation_exprs,
            ),
            data,
            remove_keys: context.remove_keys.clone(),
            ..Self::default()
        };
        let exprs = context_path.field("removeKeyExprs");
        let is_given = |(_, source): &(usize, &String)| !source.is_empty();
        for (index, source) in context.remove_key_exprs.iter().enumerate().filter(is_given) {
            let computed = planner.compile(source, exprs.index(index), variables);
            plan.remove_key_exprs.extend(computed);
        }
        let pipeline = path.field("pipeline");
        let list = &template.pipeline.mutators;
        plan.mutators = planner.functions(list, &pipeline.field("mutators"));
        let list = &template.pipeline.validators;
        plan.validators = planner.functions(list, &pipeline.field("validators"));
        let list = &template.injectors;
        planner.injectors(list, &path.field("injectors"), &mut plan.injectors);
        let list = &template.injector_exprs;
        planner.injectors(list, &path.field("injectorExprs"), &mut plan.injectors);
        plan.reads = planner.reads;
        let expr = template.downstream.repo_expr.as_deref();
        plan.is_repo_computed = expr.is_some_and(|expr| !expr.is_empty());
        plan
    }

    /// Whether an expression reads the variable.
    #[must_use]
    pub fn reads(&self, variable: Variable) -> bool {
        self.reads.contains(&variable)
    }

    /// The name of the downstream Repository, where nothing must be computed for it.
    #[must_use]
    pub fn plain_repo<'a>(&'a self, default: &'a str) -> Option<&'a str> {
        match &self.repo {
            None if self.is_repo_computed => None,
            None => Some(default),
            Some(Text::Plain(repo)) => Some(repo),
            Some(Text::Computed(_)) => None,
        }
    }

    /// The name of the downstream Repository, if the template says it.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn repo(&self, evaluator: &mut Evaluator<'_>) -> Result<Option<String>, Failure> {
        let repo = self.repo.as_ref().map(|repo| repo.name(evaluator));
        repo.transpose()
    }

    /// The name of the downstream package, if the template says it.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn package(&self, evaluator: &mut Evaluator<'_>) -> Result<Option<String>, Failure> {
        let package = self.package.as_ref().map(|package| package.name(evaluator));
        package.transpose()
    }

    /// `spec` of the PackageVariant.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn spec(
        &self,
        upstream: &Value,
        (repo, package): (&str, &str),
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Value, Failure> {
        let mut spec = vec![entry("upstream", upstream.clone())];
        let downstream = vec![entry("repo", repo.into()), entry("package", package.into())];
        spec.push(entry("downstream", Value::Mapping(downstream)));
        for (name, policy) in [
            ("adoptionPolicy", &self.adoption_policy),
            ("deletionPolicy", &self.deletion_policy),
        ] {
            spec.extend(policy.as_deref().map(|policy| entry(name, policy.into())));
        }
        spec.extend(self.labels.field("labels", evaluator)?);
        spec.extend(self.annotations.field("annotations", evaluator)?);
        let mut context: Vec<(Value, Value)> =
            self.data.field("data", evaluator)?.into_iter().collect();
        let remove = self.removed_keys(evaluator)?;
        if !remove.is_empty() {
            let remove = remove.into_iter().map(Value::from).collect();
            context.push(entry("removeKeys", Value::Sequence(remove)));
        }
        if !context.is_empty() {
            spec.push(entry("packageContext", Value::Mapping(context)));
        }
        let mut pipeline = Vec::new();
        for (name, functions) in [
            ("validators", &self.validators),
            ("mutators", &self.mutators),
        ] {
            let values = functions.iter().map(|function| function.value(evaluator));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            if !values.is_empty() {
                pipeline.push(entry(name, Value::Sequence(values)));
            }
        }
        if !pipeline.is_empty() {
            spec.push(entry("pipeline", Value::Mapping(pipeline)));
        }
        let injectors = self
            .injectors
            .iter()
            .map(|injector| injector.value(evaluator));
        let injectors = injectors.collect::<Result<Vec<_>, _>>()?;
        if !injectors.is_empty() {
            spec.push(entry("injectors", Value::Sequence(injectors)));
        }
        Ok(Value::Mapping(spec))
    }

    fn removed_keys(&self, evaluator: &mut Evaluator<'_>) -> Result<Vec<String>, Failure> {
        let mut keys = self.remove_keys.clone();
        let mut computed = HashSet::new();
        for expression in &self.remove_key_exprs {
            let key = expression.text(evaluator)?;
            if key.is_empty() {
                return Err(
                    invalid(&expression.path, "expected a key, found an empty string").into(),
                );
            }
            if let Some(finding) = reserved(&expression.path, &key) {
                return Err(finding.into());
            }
            if !computed.insert(key.clone()) {
                return Err(twice(&expression.path, &key).into());
            }
            if !self.remove_keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(keys)
    }
}

fn entry(key: &str, value: Value) -> (Value, Value) {
    (Value::from(key), value)
}

impl Computed {
    fn text(&self, evaluator: &mut Evaluator<'_>) -> Result<String, Failure> {
        evaluator
            .evaluate(&self.expression)
            .map_err(|error: ExpressionError| {
                let result = FunctionResult::error(Reason::ExpressionFailed, error.to_string());
                Failure {
                    ends_run: error.is_over_budget,
                    result: Box::new(result.at(&self.path)),
                }
            })
    }
}

impl Text {
    fn text(&self, evaluator: &mut Evaluator<'_>) -> Result<String, Failure> {
        match self {
            Self::Plain(text) => Ok(text.clone()),
            Self::Computed(computed) => computed.text(evaluator),
        }
    }

    /// The text of something that must have a name.
    fn name(&self, evaluator: &mut Evaluator<'_>) -> Result<String, Failure> {
        let text = self.text(evaluator)?;
        match self {
            Self::Computed(computed) if text.is_empty() => {
                Err(invalid(&computed.path, "expected a name, found an empty string").into())
            }
            _ => Ok(text),
        }
    }
}

impl Entries {
    fn resolve(&self, evaluator: &mut Evaluator<'_>) -> Result<Vec<(String, String)>, Failure> {
        let mut entries = self.plain.clone();
        if self.computed.is_empty() {
            return Ok(entries);
        }
        let plain = self.plain.iter().enumerate();
        let places: HashMap<&str, usize> = plain
            .map(|(place, (key, _))| (key.as_str(), place))
            .collect();
        let mut computed = HashSet::new();
        for entry in &self.computed {
            let key = entry.key.text(evaluator)?;
            if key.is_empty() {
                return Err(invalid(&entry.path, "expected a key, found an empty string").into());
            }
            if let Some(finding) = reserved(&entry.path, &key).filter(|_| self.is_context) {
                return Err(finding.into());
            }
            let value = entry.value.text(evaluator)?;
            if !computed.insert(key.clone()) {
                return Err(twice(&entry.path, &key).into());
            }
            match places.get(key.as_str()) {
                Some(place) => entries[*place].1 = value,
                None => entries.push((key, value)),
            }
        }
        Ok(entries)
    }

    /// The map as a field, unless it is empty.
    fn field(
        &self,
        name: &str,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Option<(Value, Value)>, Failure> {
        let entries = self.resolve(evaluator)?;
        Ok((!entries.is_empty()).then(|| entry(name, string_map(entries))))
    }
}

fn string_map(entries: Vec<(String, String)>) -> Value {
    let entries = entries.into_iter();
    Value::Mapping(
        entries
            .map(|(key, value)| (Value::from(key), Value::from(value)))
            .collect(),
    )
}

impl PlannedFunction {
    fn value(&self, evaluator: &mut Evaluator<'_>) -> Result<Value, Failure> {
        let mut value = self.value.clone();
        if self.config_map.computed.is_empty() {
            return Ok(value);
        }
        let config_map = string_map(self.config_map.resolve(evaluator)?);
        if let Value::Mapping(fields) = &mut value {
            let mut fields_of = fields.iter_mut();
            match fields_of.find(|(key, _)| key.as_str() == Some("configMap")) {
                Some((_, old)) => *old = config_map,
                None => fields.push(entry("configMap", config_map)),
            }
        }
        Ok(value)
    }
}

impl PlannedInjector {
    fn value(&self, evaluator: &mut Evaluator<'_>) -> Result<Value, Failure> {
        let mut fields = Vec::new();
        for (name, field) in [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
        ] {
            fields.extend(field.as_deref().map(|field| entry(name, field.into())));
        }
        fields.push(entry("name", self.name.name(evaluator)?.into()));
        Ok(Value::Mapping(fields))
    }
}
