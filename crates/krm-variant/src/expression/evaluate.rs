//! Evaluates expressions, within the budget.

use std::collections::HashMap;
use std::fmt::Debug;

use cel::common::types::{CelMap, CelMapKey, CelString};
use cel::common::value::Val;
use cel::{Context, ExecutionError, IdedExpr, Value};

use super::check::{children, spelled};
use super::functions::MATCHES;
use super::memo::{Known, Memo, ReadValues};
use super::reads::ReadField;
use super::variables::{Binding, ObjectFields, Variable};
use super::{Compiler, Expression, ExpressionError, budget, position};
use krm_core::text_map::TextMap;

/// Evaluates expressions for one target after another. The values of the variables change with the target.
pub struct Evaluator<'v> {
    context: Context<'v, 'v>,
    /// Remaining units of the run's budget.
    left: u64,
    /// The value of each variable, and whether the context already contains all of it.
    bindings: [(Option<Binding<'v>>, bool); Variable::ALL.len()],
    memo: Memo<'v>,
    /// A buffer for the values of the fields that an expression reads.
    inputs: ReadValues<'v>,
}

impl Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl Compiler {
    /// An evaluator for a run over this many targets.
    pub fn evaluator<'v>(&self, targets: usize) -> Evaluator<'v> {
        Evaluator {
            context: Context::with_env(self.environment.clone()),
            left: budget::of_run(targets),
            bindings: [(None, false); Variable::ALL.len()],
            memo: Memo::default(),
            inputs: Vec::new(),
        }
    }
}

impl<'v> Evaluator<'v> {
    /// Sets a variable that is a string.
    pub fn set_text(&mut self, variable: Variable, text: &'v str) {
        self.set(variable, Binding::Text(text));
    }

    /// Sets a variable that is an object.
    pub fn set_object(&mut self, variable: Variable, object: &'v ObjectFields) {
        // Copying the labels and annotations for each target is paid for.
        let copied = (object.labels.len() + object.annotations.len()) as u64;
        self.left = self.left.saturating_sub(copied / 8);
        self.set(variable, Binding::Object(object));
    }

    /// Sets `target` to an entry of a target's list of repositories.
    pub fn set_listed(&mut self, repo: &'v str, package: &'v str) {
        self.set(Variable::Target, Binding::Listed { repo, package });
    }

    fn set(&mut self, variable: Variable, binding: Binding<'v>) {
        self.bindings[variable as usize] = (Some(binding), false);
    }

    /// Evaluates an expression to its string.
    ///
    /// # Errors
    /// A value of an object has the wrong type, a key is missing, the result is not a string, or the budget is
    /// exceeded.
    pub fn evaluate(&mut self, expression: &Expression) -> Result<String, ExpressionError> {
        let fields = expression.fields.as_ref();
        let Some(fields) = fields.filter(|_| self.memo.keeps(expression.number)) else {
            return self.evaluate_anew(expression).map(|known| known.text);
        };
        let value = |field: &ReadField| {
            let (binding, _) = &self.bindings[field.variable as usize];
            binding.as_ref()?.field(&field.path)
        };
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.clear();
        inputs.extend(fields.iter().map(value));
        let outcome = self.evaluate_for(expression, &inputs);
        self.inputs = inputs;
        outcome
    }

    /// Evaluates an expression for these values of the fields that it reads.
    fn evaluate_for(
        &mut self,
        expression: &Expression,
        inputs: &[Option<&'v str>],
    ) -> Result<String, ExpressionError> {
        if let Some(known) = self.memo.find(expression.number, inputs)
            && known.units < budget::PER_EVALUATION.min(self.left)
        {
            self.left -= known.units;
            return Ok(known.text.clone());
        }
        let known = self.evaluate_anew(expression)?;
        self.memo.keep(expression.number, inputs, &known);
        Ok(known.text)
    }

    fn evaluate_anew(&mut self, expression: &Expression) -> Result<Known, ExpressionError> {
        self.bind(expression);
        let error = |id: u64, message: String| {
            let at = position(&expression.positions, id);
            ExpressionError::new(&expression.source, at, message)
        };
        let units = budget::PER_EVALUATION.min(self.left);
        budget::begin(units);
        let outcome = budget::pay(expression.price)
            .and_then(|()| Value::resolve_val(&expression.guarded, &self.context));
        let outcome = outcome.and_then(|value| budget::pay_for(value.as_ref()).map(|()| value));
        let rest = budget::left();
        let is_last = units < budget::PER_EVALUATION;
        let spent = units - rest;
        self.left = self.left.saturating_sub(spent);
        let root = expression.guarded.id;
        if rest == 0 {
            let message = if is_last {
                "all expressions of the run together take too much time and memory"
            } else {
                "the expression takes too much time or memory (more than 100 ms or 20 MB)"
            };
            return Err(ExpressionError {
                is_over_budget: true,
                ..error(root, message.to_owned())
            });
        }
        match outcome {
            Ok(value) => match value.downcast_ref::<CelString<'_>>() {
                Some(text) => Ok(Known {
                    text: text.inner().to_owned(),
                    units: spent - budget::paid_once(),
                }),
                None => {
                    let found = value.get_type().name();
                    Err(error(root, format!("expected a string, found {found}")))
                }
            },
            Err(found) => {
                let id = self.locate(&expression.guarded, &found);
                Err(error(id, message(&found)))
            }
        }
    }

    /// Adds to the context only what the expression reads, because creating maps takes longer than most expressions.
    fn bind(&mut self, expression: &Expression) {
        for variable in &expression.reads {
            let (Some(binding), is_whole) = &mut self.bindings[*variable as usize] else {
                continue;
            };
            if *is_whole {
                continue;
            }
            let fields = expression.fields.as_ref();
            let reads = |path: &[&str]| {
                let is_read = |field: &ReadField| field.variable == *variable && field.is_at(path);
                fields.is_none_or(|fields| fields.iter().any(is_read))
            };
            let value = match *binding {
                Binding::Text(text) => text_value(text),
                Binding::Object(object) => object_value(object, reads),
                Binding::Listed { repo, package } => {
                    map_value([("repo", text_value(repo)), ("package", text_value(package))])
                }
            };
            *is_whole = fields.is_none() || !matches!(binding, Binding::Object(_));
            self.context.add_variable_as_val(variable.as_str(), value);
        }
    }

    /// The id of the innermost node outside of a loop that fails with the same error when evaluated alone.
    fn locate(&mut self, root: &IdedExpr, error: &ExecutionError) -> u64 {
        let units = budget::PER_EVALUATION.min(self.left);
        budget::begin(units);
        let mut at = root;
        loop {
            let fails = |node: &&IdedExpr| {
                let outcome = Value::resolve_val(node, &self.context);
                budget::left() > 0 && outcome.err().as_ref() == Some(error)
            };
            match children(at).into_iter().find(fails) {
                Some(child) => at = child,
                None => break,
            }
        }
        self.left = self.left.saturating_sub(units - budget::left());
        at.id
    }
}

fn text_value<'v>(text: &'v str) -> Box<dyn Val + 'v> {
    Box::new(CelString::from(text))
}

/// An object as a CEL map, reduced to the fields that are read.
fn object_value<'v>(
    object: &'v ObjectFields,
    reads: impl Fn(&[&str]) -> bool,
) -> Box<dyn Val + 'v> {
    let map = |name: &str, entries: &'v TextMap| {
        let read = entries.iter().filter(|(key, _)| reads(&[name, key]));
        map_value(read.map(|(key, value)| (key, text_value(value))))
    };
    let texts = [("name", &object.name), ("namespace", &object.namespace)];
    let texts = texts.map(|(name, text)| reads(&[name]).then(|| (name, text_value(text))));
    let maps = [
        ("labels", &object.labels),
        ("annotations", &object.annotations),
    ];
    let maps = maps.map(|(name, entries)| reads(&[name]).then(|| (name, map(name, entries))));
    map_value(texts.into_iter().chain(maps).flatten())
}

fn map_value<'v>(
    entries: impl IntoIterator<Item = (&'v str, Box<dyn Val + 'v>)>,
) -> Box<dyn Val + 'v> {
    let entries = entries.into_iter();
    let map: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = entries
        .map(|(key, value)| (CelMapKey::from(key), value))
        .collect();
    Box::new(CelMap::from(map))
}

/// An error of the interpreter in plain words.
fn message(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: `{key}`"),
        ExecutionError::NoSuchOverload(overload) => {
            let name = match overload.function() {
                MATCHES => "matches",
                name => spelled(name),
            };
            let found = overload.argument_types().join(", ");
            format!("`{name}` does not take ({found})")
        }
        ExecutionError::UnsupportedBinaryOperator(name, left, right) => {
            let sign = match *name {
                "add" => "+",
                "sub" => "-",
                "mul" => "*",
                "div" => "/",
                "rem" => "%",
                other => other,
            };
            format!(
                "`{sign}` does not take ({}, {})",
                left.type_of(),
                right.type_of()
            )
        }
        ExecutionError::FunctionError { function, message } => {
            format!("`{}`: {message}", spelled(function))
        }
        other => other.to_string(),
    }
}
