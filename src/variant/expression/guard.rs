//! Rewrites a checked expression so that every step of its evaluation is paid for.
//!
//! `a + b` -> `@paid(a) + @paid(b)`
//!
//! Operands, elements, what a loop goes over and its steps pass through a function that pays. The
//! conditions of loops ask whether there is anything left: `all` and `exists` would take an error
//! for an answer and go on.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use cel::common::types::CelBool;

use super::functions::{AFFORDABLE, MATCHES, PAID, RANGE, SPELLED};

/// Guards an expression that [`check`](super::check) accepts.
pub(super) fn guard(node: IdedExpr) -> IdedExpr {
    let id = node.id;
    let expr = match node.expr {
        Expr::Select(mut select) => {
            *select.operand = guard(std::mem::take(&mut *select.operand));
            Expr::Select(select)
        }
        Expr::List(mut list) => {
            list.elements = list.elements.into_iter().map(paid).collect();
            Expr::List(list)
        }
        Expr::Map(mut map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = paid(std::mem::take(&mut entry.key));
                    entry.value = paid(std::mem::take(&mut entry.value));
                }
            }
            Expr::Map(map)
        }
        Expr::Call(call) => return guard_call(id, call),
        Expr::Comprehension(comprehension) => guard_loop(*comprehension),
        other => other,
    };
    IdedExpr { id, expr }
}

/// A guarded node whose value is paid for, unless it costs nothing.
fn paid(node: IdedExpr) -> IdedExpr {
    let node = guard(node);
    match &node.expr {
        Expr::Literal(_) => node,
        Expr::Ident(name) if name.starts_with('@') => node,
        _ => call(PAID, vec![node]),
    }
}

fn call(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    let id = args.first().map_or(0, |first| first.id);
    let func_name = name.to_owned();
    let target = None;
    let expr = Expr::Call(CallExpr {
        func_name,
        target,
        args,
    });
    IdedExpr { id, expr }
}

fn guard_call(id: u64, written: CallExpr) -> IdedExpr {
    // These look at no more than a boolean, or at one element.
    let is_cheap = matches!(
        written.func_name.as_str(),
        operators::LOGICAL_AND
            | operators::LOGICAL_OR
            | operators::LOGICAL_NOT
            | operators::CONDITIONAL
            | operators::INDEX
            | operators::NOT_STRICTLY_FALSE
    );
    let operand = if is_cheap { guard } else { paid };
    let target = written.target.map(|target| operand(*target));
    let mut args: Vec<IdedExpr> = written.args.into_iter().map(operand).collect();
    let mut func_name = written.func_name;
    let mut target = target.map(Box::new);
    match func_name.as_str() {
        "matches" => {
            if let Some(text) = target.take() {
                args.insert(0, *text);
            }
            func_name = MATCHES.to_owned();
        }
        "string" => args = vec![call(SPELLED, args)],
        // Accessors go by the offset that was written: `string` writes UTC.
        "timestamp" => {
            let given = IdedExpr {
                id,
                ..call("timestamp", args)
            };
            args = vec![IdedExpr {
                id,
                ..call("string", vec![given])
            }];
        }
        _ => {}
    }
    let expr = Expr::Call(CallExpr {
        func_name,
        target,
        args,
    });
    IdedExpr { id, expr }
}

fn guard_loop(written: ComprehensionExpr) -> Expr {
    let accu_init = guard(written.accu_init);
    // `map` and `filter` append in place, as long as the step looks as the parser made it.
    let is_appending = matches!(accu_init.expr, Expr::List(_));
    let loop_cond = match is_appending {
        true => written.loop_cond,
        false => affordable(guard(written.loop_cond)),
    };
    let mut loop_step = guard(written.loop_step);
    if is_appending && let Expr::Call(step) = &mut loop_step.expr {
        if step.func_name == operators::CONDITIONAL {
            if let [condition, append, _] = step.args.as_mut_slice() {
                *condition = call(PAID, vec![std::mem::take(condition)]);
                if let Expr::Call(append) = &mut append.expr {
                    unpay_appended(append);
                }
            }
        } else {
            unpay_appended(step);
        }
    }
    Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: call(RANGE, vec![guard(written.iter_range)]),
        accu_init,
        loop_cond,
        loop_step,
        result: guard(written.result),
        ..written_names(written.iter_var, written.iter_var2, written.accu_var)
    }))
}

fn written_names(
    iter_var: String,
    iter_var2: Option<String>,
    accu_var: String,
) -> ComprehensionExpr {
    ComprehensionExpr {
        iter_var,
        iter_var2,
        accu_var,
        ..ComprehensionExpr::default()
    }
}

/// `@result + @paid([x])` -> `@result + [x]`: the element itself pays.
fn unpay_appended(append: &mut CallExpr) {
    if append.func_name != operators::ADD {
        return;
    }
    if let Some(appended) = append.args.get_mut(1)
        && let Expr::Call(paid) = &mut appended.expr
        && paid.func_name == PAID
        && let Some(list) = paid.args.pop()
    {
        *appended = list;
    }
}

/// The condition of a loop, false once nothing is left.
fn affordable(condition: IdedExpr) -> IdedExpr {
    let never = LiteralValue::Boolean(CelBool::from(false));
    let never = IdedExpr {
        id: 0,
        expr: Expr::Literal(never),
    };
    let affordable = call(AFFORDABLE, Vec::new());
    call(operators::CONDITIONAL, vec![affordable, condition, never])
}
