//! Determines the fields that an expression reads, if its text shows them.
//!
//! `has(repository.labels.zone) ? target.name : 'none'` -> `repository.labels.zone`, `target.name`

use cel::IdedExpr;
use cel::common::ast::{Expr, LiteralValue, operators};

use super::check::children;
use super::variables::{Variable, Variables};

/// A field of a variable, or a variable that is a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadField {
    pub(super) variable: Variable,
    /// The path, such as `labels`, `region`; empty for a variable that is a string.
    pub(super) path: Vec<String>,
}

impl ReadField {
    /// Whether this is the field at the path, or a field within it.
    pub(super) fn is_at(&self, path: &[&str]) -> bool {
        self.path.len() >= path.len() && self.path.iter().zip(path).all(|(own, other)| own == other)
    }
}

/// All fields that a checked expression reads; `None` if it reads anything other than strings from its variables.
pub(super) fn fields(expression: &IdedExpr, variables: &Variables) -> Option<Vec<ReadField>> {
    let mut fields = Vec::new();
    let mut open = vec![expression];
    while let Some(node) = open.pop() {
        if let Some(field) = field(node, variables) {
            if !is_string(&field, variables) {
                return None;
            }
            if !fields.contains(&field) {
                fields.push(field);
            }
            continue;
        }
        // The variables of a comprehension can hide the variables of the expression.
        if let Expr::Comprehension(_) = &node.expr {
            return None;
        }
        open.extend(children(node));
    }
    Some(fields)
}

/// The field that a node selects with `.name`, `['name']` or `has`; `None` for other nodes.
fn field(node: &IdedExpr, variables: &Variables) -> Option<ReadField> {
    let mut path = Vec::new();
    let mut at = node;
    let variable = loop {
        match &at.expr {
            Expr::Ident(name) => break variables.find(name.strip_prefix('.').unwrap_or(name))?,
            Expr::Select(select) => {
                path.push(select.field.clone());
                at = &select.operand;
            }
            Expr::Call(call) if call.func_name == operators::INDEX => {
                let [operand, index] = call.args.as_slice() else {
                    return None;
                };
                let Expr::Literal(LiteralValue::String(name)) = &index.expr else {
                    return None;
                };
                path.push(name.inner().to_owned());
                at = operand;
            }
            _ => return None,
        }
    };
    path.reverse();
    Some(ReadField { variable, path })
}

/// Whether the field can only be a string. A map can have more fields than the named ones.
fn is_string(field: &ReadField, variables: &Variables) -> bool {
    let is_map = |name: &String| name == "labels" || name == "annotations";
    match (variables.fields(field.variable), field.path.as_slice()) {
        (None, path) => path.is_empty(),
        (Some(_), [name]) => !is_map(name),
        (Some(_), [map, _]) => is_map(map),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::variables::TargetFields;
    use super::*;

    #[track_caller]
    fn read(source: &str) -> Option<String> {
        let parsed = cel::Env::stdlib().parser().parse(source);
        let variables = Variables {
            repository: true,
            target: TargetFields::Object,
        };
        let fields = fields(&parsed.expect("an expression"), &variables)?;
        let name = |field: &ReadField| {
            let path = field.path.iter().map(|name| format!(".{name}"));
            path.fold(field.variable.to_string(), |name, part| name + &part)
        };
        let mut names: Vec<String> = fields.iter().map(name).collect();
        names.sort();
        Some(names.join(" "))
    }

    #[test]
    fn fields_are_found_where_the_text_names_them() {
        for (source, expected) in [
            ("'a'", Some("")),
            (
                "repoDefault + '-' + packageDefault",
                Some("packageDefault repoDefault"),
            ),
            ("target.name + target.name", Some("target.name")),
            ("target['labels'].zone", Some("target.labels.zone")),
            ("target.labels['a/b.c']", Some("target.labels.a/b.c")),
            (
                "has(upstream.annotations.a) ? '1' : '2'",
                Some("upstream.annotations.a"),
            ),
            ("has(upstream.labels) ? '1' : '2'", None),
            (
                "{'a': target.name}[repoDefault]",
                Some("repoDefault target.name"),
            ),
            ("[target.namespace, 'b'][0]", Some("target.namespace")),
            ("target.labels[repoDefault]", None),
            ("string(target.labels == repository.labels)", None),
            ("string(size(target))", None),
            ("['a'].map(target, target)[0]", None),
            ("'zone' in target.labels ? 'a' : 'b'", None),
            ("target.labels.a.b", None),
        ] {
            assert_eq!(read(source).as_deref(), expected, "{source}");
        }
    }
}
