//! Checks an expression before it is evaluated.
//!
//! It checks all branches for unknown names, functions and fields, and for types that do not match. The types of
//! literals, `repoDefault`, `packageDefault` and values computed from them are known; values of objects are `dyn`.
//! Lists with mixed elements pass, and so does comparing any two types for equality.

use std::collections::BTreeSet;

use cel::IdedExpr;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr, operators,
};

use super::functions::MAX_PATTERN;
use super::types::{GLOBAL, MEMBER, Overload, TYPE_NAMES, ValueType};
use super::variables::{Variable, Variables};

/// The deepest nesting of the syntax tree, because evaluation recurses on it.
const MAX_DEPTH: usize = 256;
/// The most nodes of the syntax tree.
const MAX_NODES: usize = 2048;

/// An error and the id of the node that it is about.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) id: u64,
    pub(super) message: String,
}

fn problem<T>(id: u64, message: impl Into<String>) -> Result<T, Problem> {
    let message = message.into();
    Err(Problem { id, message })
}

/// Checks an expression that must return a string; returns the variables that it reads.
pub(super) fn check(
    expression: &IdedExpr,
    variables: &Variables,
) -> Result<BTreeSet<Variable>, Problem> {
    let mut check = Check {
        variables,
        reads: BTreeSet::new(),
        scope: Vec::new(),
        nodes: 0,
    };
    match check.visit(expression, 0)? {
        ValueType::String => Ok(check.reads),
        found if found.is_open() => Ok(check.reads),
        found => problem(expression.id, format!("expected a string, found {found}")),
    }
}

/// Finds a call of this function in an expression whose macros were not expanded.
pub(super) fn find_call(node: &IdedExpr, name: &str) -> Option<u64> {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match &node.expr {
            Expr::Call(call) if call.func_name == name => return Some(node.id),
            _ => open.extend(children(node)),
        }
    }
    None
}

/// The child nodes of a node; of a comprehension only its range.
pub(super) fn children(node: &IdedExpr) -> Vec<&IdedExpr> {
    match &node.expr {
        Expr::Select(select) => vec![&*select.operand],
        Expr::Call(call) => {
            let target = call.target.as_deref().into_iter();
            target.chain(&call.args).collect()
        }
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => {
            let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => Some([&entry.key, &entry.value]),
                EntryExpr::StructField(_) => None,
            });
            entries.flatten().collect()
        }
        Expr::Comprehension(comprehension) => vec![&comprehension.iter_range],
        _ => Vec::new(),
    }
}

struct Check<'v> {
    variables: &'v Variables,
    reads: BTreeSet<Variable>,
    /// The variables of the enclosing comprehensions, innermost last.
    scope: Vec<(String, ValueType)>,
    nodes: usize,
}

impl Check<'_> {
    fn visit(&mut self, node: &IdedExpr, depth: usize) -> Result<ValueType, Problem> {
        self.nodes += 1;
        if self.nodes > MAX_NODES || depth > MAX_DEPTH {
            let what = if depth > MAX_DEPTH { "deep" } else { "large" };
            return problem(node.id, format!("the expression is too {what}"));
        }
        let depth = depth + 1;
        match &node.expr {
            Expr::Literal(literal) => Ok(literal_type(literal)),
            Expr::Ident(name) => self.name(node.id, name),
            Expr::Select(select) => self.select(node, select, depth),
            Expr::Call(call) => self.call(node, call, depth),
            Expr::List(list) => {
                let mut element = ValueType::Never;
                for item in &list.elements {
                    let found = self.visit(item, depth)?;
                    element = element.unify(&found).unwrap_or(ValueType::Dyn);
                }
                Ok(ValueType::list(element))
            }
            Expr::Map(map) => {
                let (mut key, mut value) = (ValueType::Never, ValueType::Never);
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else {
                        return problem(node.id, "messages are not supported");
                    };
                    let found = self.visit(&entry.key, depth)?;
                    let is_key = matches!(
                        found,
                        ValueType::Bool | ValueType::Int | ValueType::Uint | ValueType::String
                    );
                    if !found.is_open() && !is_key {
                        return problem(
                            entry.key.id,
                            format!("{found} cannot be the key of a map"),
                        );
                    }
                    key = key.unify(&found).unwrap_or(ValueType::Dyn);
                    let found = self.visit(&entry.value, depth)?;
                    value = value.unify(&found).unwrap_or(ValueType::Dyn);
                }
                Ok(ValueType::map(key, value))
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, depth),
            Expr::Struct(_) => problem(node.id, "messages are not supported"),
            Expr::Unspecified => problem(node.id, "expected an expression, found nothing"),
        }
    }

    fn name(&mut self, id: u64, name: &str) -> Result<ValueType, Problem> {
        // `.name` is never a variable of a comprehension.
        let (name, is_absolute) = match name.strip_prefix('.') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let local = self.scope.iter().rev().find(|(local, _)| local == name);
        if let Some((_, found)) = local.filter(|_| !is_absolute) {
            return Ok(found.clone());
        }
        if let Some(variable) = self.variables.find(name) {
            self.reads.insert(variable);
            let fields = self.variables.fields(variable);
            return Ok(fields.map_or(ValueType::String, ValueType::Object));
        }
        if TYPE_NAMES.contains(&name) {
            return Ok(ValueType::Meta);
        }
        let known: Vec<&str> = Variable::ALL
            .into_iter()
            .map(Variable::as_str)
            .filter(|name| self.variables.find(name).is_some())
            .collect();
        let message = format!(
            "undeclared variable `{name}`, expected one of {}",
            known.join(", ")
        );
        problem(id, message)
    }

    fn select(
        &mut self,
        node: &IdedExpr,
        select: &SelectExpr,
        depth: usize,
    ) -> Result<ValueType, Problem> {
        if is_type_name(node) {
            return Ok(ValueType::Meta);
        }
        let operand = self.visit(&select.operand, depth)?;
        if select.test {
            return match operand {
                ValueType::Map(_) | ValueType::Object(_) => Ok(ValueType::Bool),
                found if found.is_open() => Ok(ValueType::Bool),
                found => problem(node.id, no_fields(&found)),
            };
        }
        match operand {
            ValueType::Object(fields) => object_field(node.id, fields, &select.field),
            ValueType::Map(entry) => Ok(entry.map_or(ValueType::Dyn, |entry| entry.1)),
            found if found.is_open() => Ok(ValueType::Dyn),
            found => problem(node.id, no_fields(&found)),
        }
    }

    fn call(
        &mut self,
        node: &IdedExpr,
        call: &CallExpr,
        depth: usize,
    ) -> Result<ValueType, Problem> {
        let mut found = Vec::with_capacity(call.args.len() + 1);
        for argument in call.target.as_deref().into_iter().chain(&call.args) {
            found.push(self.visit(argument, depth)?);
        }
        let name = call.func_name.as_str();
        match (name, found.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                if *condition != ValueType::Bool && !condition.is_open() {
                    let message = format!("expected a bool before `?`, found {condition}");
                    return problem(node.id, message);
                }
                yes.unify(no).map_or_else(
                    || problem(node.id, format!("the branches of `?:` are {yes} and {no}")),
                    Ok,
                )
            }
            (operators::INDEX, [value, index]) => self.index(node, call, value, index),
            (operators::ADD, [ValueType::List(_), ValueType::List(_)]) => Ok(found[0]
                .unify(&found[1])
                .unwrap_or(ValueType::list(ValueType::Dyn))),
            _ => {
                self.pattern(call)?;
                overloaded(node.id, call, &found)
            }
        }
    }

    fn index(
        &self,
        node: &IdedExpr,
        call: &CallExpr,
        value: &ValueType,
        index: &ValueType,
    ) -> Result<ValueType, Problem> {
        let refused = || {
            let found = [value.clone(), index.clone()];
            problem(node.id, no_overload(operators::INDEX, &found))
        };
        match value {
            ValueType::List(element) if *index == ValueType::Int || index.is_open() => {
                Ok(match element.as_deref() {
                    None | Some(ValueType::Never) => ValueType::Dyn,
                    Some(known) => known.clone(),
                })
            }
            ValueType::Map(None) => Ok(ValueType::Dyn),
            ValueType::Map(Some(entry)) if entry.0.unify(index).is_some() => Ok(entry.1.clone()),
            ValueType::Object(fields) => match call.args.get(1).map(|argument| &argument.expr) {
                Some(Expr::Literal(LiteralValue::String(field))) => {
                    object_field(node.id, fields, field.inner())
                }
                _ if *index == ValueType::String || index.is_open() => Ok(ValueType::Dyn),
                _ => refused(),
            },
            open if open.is_open() => Ok(ValueType::Dyn),
            _ => refused(),
        }
    }

    /// Checks the pattern of a `matches` call if it is a literal.
    fn pattern(&self, call: &CallExpr) -> Result<(), Problem> {
        let last = call.args.last().filter(|_| call.func_name == "matches");
        let Some((id, Expr::Literal(LiteralValue::String(pattern)))) =
            last.map(|argument| (argument.id, &argument.expr))
        else {
            return Ok(());
        };
        match super::functions::pattern(pattern.inner()) {
            Ok(_) => Ok(()),
            Err(message) => problem(id, message),
        }
    }

    fn comprehension(
        &mut self,
        comprehension: &ComprehensionExpr,
        depth: usize,
    ) -> Result<ValueType, Problem> {
        let range = &comprehension.iter_range;
        let element = match self.visit(range, depth)? {
            ValueType::List(element) => element.map_or(ValueType::Dyn, |element| *element),
            ValueType::Map(entry) => entry.map_or(ValueType::Dyn, |entry| entry.0),
            ValueType::Object(_) => ValueType::String,
            found if found.is_open() => ValueType::Dyn,
            found => return problem(range.id, format!("expected a list or map, found {found}")),
        };
        let element = if element == ValueType::Never {
            ValueType::Dyn
        } else {
            element
        };
        let start = self.visit(&comprehension.accu_init, depth)?;
        let outer = self.scope.len();
        self.scope
            .push((comprehension.accu_var.clone(), start.clone()));
        self.scope.push((comprehension.iter_var.clone(), element));
        self.visit(&comprehension.loop_cond, depth)?;
        let step = self.visit(&comprehension.loop_step, depth)?;
        self.scope[outer].1 = start.unify(&step).unwrap_or(ValueType::Dyn);
        let result = self.visit(&comprehension.result, depth)?;
        self.scope.truncate(outer);
        Ok(result)
    }
}

fn literal_type(literal: &LiteralValue) -> ValueType {
    match literal {
        LiteralValue::Boolean(_) => ValueType::Bool,
        LiteralValue::Bytes(_) => ValueType::Bytes,
        LiteralValue::Double(_) => ValueType::Double,
        LiteralValue::Int(_) => ValueType::Int,
        LiteralValue::Null => ValueType::Null,
        LiteralValue::String(_) => ValueType::String,
        LiteralValue::UInt(_) => ValueType::Uint,
    }
}

/// Whether a node is a qualified type name, such as `google.protobuf.Timestamp`.
fn is_type_name(node: &IdedExpr) -> bool {
    let mut fields = Vec::new();
    let mut at = node;
    loop {
        match &at.expr {
            Expr::Select(select) if !select.test && fields.len() < 2 => {
                fields.push(select.field.as_str());
                at = &select.operand;
            }
            Expr::Ident(name) => {
                fields.push(name.trim_start_matches('.'));
                fields.reverse();
                return fields.len() == 3 && TYPE_NAMES.contains(&fields.join(".").as_str());
            }
            _ => return false,
        }
    }
}

fn object_field(
    id: u64,
    fields: &'static [&'static str],
    field: &str,
) -> Result<ValueType, Problem> {
    if fields.contains(&field) {
        return Ok(ValueType::Dyn);
    }
    let message = format!(
        "undeclared field `{field}`, expected one of {}",
        fields.join(", ")
    );
    problem(id, message)
}

fn no_fields(found: &ValueType) -> String {
    format!("{found} has no fields")
}

/// An operator as it appears in an expression: `_+_` -> `+`.
pub(super) fn spelled(name: &str) -> &str {
    match name {
        operators::CONDITIONAL => "?:",
        operators::INDEX => "[]",
        name => name.trim_matches(['_', '@']),
    }
}

fn no_overload(name: &str, found: &[ValueType]) -> String {
    let found: Vec<String> = found.iter().map(ValueType::to_string).collect();
    format!("`{}` does not take ({})", spelled(name), found.join(", "))
}

fn overloaded(id: u64, call: &CallExpr, found: &[ValueType]) -> Result<ValueType, Problem> {
    let name = call.func_name.as_str();
    let (table, other) = match call.target {
        None => (GLOBAL, MEMBER),
        Some(_) => (MEMBER, GLOBAL),
    };
    // The table has one operator that compares.
    let listed = match name {
        operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS => operators::LESS,
        name => name,
    };
    let named = |table: &'static [Overload]| table.iter().filter(move |(n, ..)| *n == listed);
    let matching = |(_, takes, _): &&&Overload| {
        takes.len() == found.len() && takes.iter().zip(found).all(|(kind, t)| kind.takes(t))
    };
    let all: Vec<&Overload> = named(table).collect();
    let mut fitting = all.iter().filter(|o| matching(o)).map(|(.., gives)| gives);
    if let Some(first) = fitting.next() {
        let is_sure = fitting.all(|other| other == first);
        let given = if is_sure { first } else { &ValueType::Dyn };
        return Ok(given.clone());
    }
    let is_macro = ["has", "all", "exists", "exists_one", "map", "filter"].contains(&name);
    let message = if all.is_empty() && named(other).next().is_some() {
        let (written, meant) = match call.target {
            Some(_) => (format!("x.{name}()"), format!("{name}(x)")),
            None => (format!("{name}(x)"), format!("x.{name}()")),
        };
        format!("undeclared function `{written}`, expected `{meant}`")
    } else if is_macro {
        format!("the macro `{name}` is used incorrectly")
    } else if all.is_empty() {
        format!("undeclared function `{name}`")
    } else {
        no_overload(name, found)
    };
    problem(id, message)
}

const _: () = assert!(MAX_PATTERN < super::MAX_LENGTH);
