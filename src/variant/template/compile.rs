//! Compiles the expressions of a template, once for all targets.

use std::collections::BTreeSet;

use super::{
    CompiledFunction, CompiledTemplate, Computed, Injector, TemplateEntries, TemplateEntry,
    TemplateText,
};
use crate::results::{FunctionResult, Reason};
use crate::variant::expression::{Compiler, Variable, Variables};
use crate::variant::package_variant_set::{
    FunctionTemplate, InjectorTemplate, MapExpr, StringMap, Template, given,
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
        let repo_expr = ("repoExpr", &field.repo_expr);
        let repo = planner.text(&downstream, &plain(&field.repo), repo_expr);
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
        let mut compiled = Self {
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
        compiled.remove_key_exprs = planner.keys(&context.remove_key_exprs, &exprs);
        let pipeline = path.field("pipeline");
        let list = &template.pipeline.mutators;
        compiled.mutators = planner.functions(list, &pipeline.field("mutators"));
        let list = &template.pipeline.validators;
        compiled.validators = planner.functions(list, &pipeline.field("validators"));
        let list = &template.injectors;
        planner.injectors(list, &path.field("injectors"), &mut compiled.injectors);
        let list = &template.injector_exprs;
        planner.injectors(list, &path.field("injectorExprs"), &mut compiled.injectors);
        compiled.reads = planner.reads;
        let expr = template.downstream.repo_expr.as_deref();
        compiled.is_repo_computed = expr.is_some_and(|expr| !expr.is_empty());
        compiled
    }
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

    /// The plain field, or the compiled expression, which takes precedence.
    fn text(
        &mut self,
        path: &Path,
        plain: &Option<String>,
        expr: (&str, &Option<String>),
    ) -> Option<TemplateText> {
        match given(expr.1) {
            Some(source) => {
                let computed = self.compile(source, path.field(expr.0), self.variables)?;
                Some(TemplateText::Computed(computed))
            }
            None => plain.clone().map(TemplateText::Plain),
        }
    }

    fn entries(&mut self, plain: &StringMap, exprs: &[MapExpr], path: &Path) -> TemplateEntries {
        let keys = plain.0.iter().map(|(key, _)| key.clone());
        let mut entries = TemplateEntries {
            plain: plain.0.clone(),
            places: keys.enumerate().map(|(at, key)| (key, at)).collect(),
            ..TemplateEntries::default()
        };
        for (index, entry) in exprs.iter().enumerate() {
            let path = path.index(index);
            let key = self.text(&path, &entry.key, ("keyExpr", &entry.key_expr));
            let value = self.text(&path, &entry.value, ("valueExpr", &entry.value_expr));
            if let (Some(key), Some(value)) = (key, value) {
                entries.computed.push(TemplateEntry { key, value, path });
            }
        }
        entries
    }

    fn keys(&mut self, exprs: &[String], path: &Path) -> Vec<Computed> {
        let exprs = exprs.iter().enumerate();
        let given = exprs.filter(|(_, source)| !source.is_empty());
        given
            .filter_map(|(index, source)| self.compile(source, path.index(index), self.variables))
            .collect()
    }

    fn functions(&mut self, functions: &[FunctionTemplate], path: &Path) -> Vec<CompiledFunction> {
        let mut planned = Vec::with_capacity(functions.len());
        for (index, function) in functions.iter().enumerate() {
            let path = path.index(index).field("configMapExprs");
            let exprs = &function.config_map_exprs;
            planned.push(CompiledFunction {
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
        planned: &mut Vec<Injector>,
    ) {
        for (index, injector) in injectors.iter().enumerate() {
            let path = path.index(index);
            let name_expr = ("nameExpr", &injector.name_expr);
            let Some(name) = self.text(&path, &injector.name, name_expr) else {
                continue;
            };
            planned.push(Injector {
                group: injector.group.clone(),
                version: given(&injector.version).map(str::to_owned),
                kind: given(&injector.kind).map(str::to_owned),
                name,
            });
        }
    }
}
