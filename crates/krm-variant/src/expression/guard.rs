//! Rewrites a checked expression so that its evaluation pays for every step.
//!
//! `a + b` -> `@paid(a) + @paid(b)`
//!
//! Operands, elements and ranges of loops pass through a function that pays for the value. Each iteration of a loop
//! pays for all nodes of the loop's step, even in branches that are not taken, because literals, lists of them and
//! errors that `||` swallows cost time too. The conditions of loops check the budget, because `all` and `exists`
//! would swallow the error and continue.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use cel::common::types::{CelBool, CelInt};

use super::check::children;
use super::functions::{AFFORDABLE, MATCHES, PAID, RANGE, SPELLED, STEP};

/// Guards an expression that has passed [`check`](super::check).
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

/// Guards a node, and pays for its value unless that costs nothing.
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
    // These operators read only a boolean or one element.
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
        // Accessors such as `getHours` use the offset that was written. The detour over `string` converts the
        // timestamp to UTC.
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
    // `map` and `filter` append in place only if the step has the form that the parser gave it.
    let is_appending = matches!(accu_init.expr, Expr::List(_));
    let mut loop_cond = written.loop_cond;
    let mut loop_step = guard(written.loop_step);
    let price = weight(&loop_step);
    if is_appending {
        pay_by_element(&mut loop_step, price);
    } else {
        let condition = guard(loop_cond);
        let price = price + weight(&condition);
        loop_cond = affordable(condition, price);
    }
    Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: call(RANGE, vec![guard(written.iter_range)]),
        accu_init,
        loop_cond,
        loop_step,
        result: guard(written.result),
        ..written
    }))
}

/// The cost of a guarded node regardless of its values: the number of its nodes, except the steps of loops, which pay
/// separately.
pub(super) fn weight(node: &IdedExpr) -> u64 {
    let own = match &node.expr {
        Expr::Literal(LiteralValue::String(text)) => text.inner().len() as u64 / 8,
        Expr::Literal(LiteralValue::Bytes(bytes)) => bytes.inner().len() as u64 / 8,
        Expr::Comprehension(inner) => weight(&inner.accu_init) + weight(&inner.result),
        _ => 0,
    };
    1 + own + children(node).into_iter().map(weight).sum::<u64>()
}

/// Rewrites `@result + @paid([x])` to `@result + [@step(x, 5)]`. If the element has a condition, the condition pays
/// instead of the element.
fn pay_by_element(step: &mut IdedExpr, price: u64) {
    let Expr::Call(step) = &mut step.expr else {
        return;
    };
    if step.func_name != operators::CONDITIONAL {
        return append(step, Some(price));
    }
    if let [condition, appended, _] = step.args.as_mut_slice() {
        pay_step(condition, price);
        if let Expr::Call(appended) = &mut appended.expr {
            append(appended, None);
        }
    }
}

fn append(call: &mut CallExpr, price: Option<u64>) {
    if call.func_name != operators::ADD {
        return;
    }
    let Some(appended) = call.args.get_mut(1) else {
        return;
    };
    if let Expr::Call(paid) = &mut appended.expr
        && paid.func_name == PAID
        && let Some(list) = paid.args.pop()
    {
        *appended = list;
    }
    if let Expr::List(list) = &mut appended.expr
        && let (Some(element), Some(price)) = (list.elements.first_mut(), price)
    {
        pay_step(element, price);
    }
}

/// Makes a value pay for itself and for the step that computed it.
fn pay_step(node: &mut IdedExpr, price: u64) {
    let value = std::mem::take(node);
    *node = call(STEP, vec![value, units(price)]);
}

fn units(price: u64) -> IdedExpr {
    let price = i64::try_from(price).unwrap_or(i64::MAX);
    let expr = Expr::Literal(LiteralValue::Int(CelInt::from(price)));
    IdedExpr { id: 0, expr }
}

/// Guards the condition of a loop, so that it stops once the budget is exhausted.
fn affordable(condition: IdedExpr, price: u64) -> IdedExpr {
    let never = LiteralValue::Boolean(CelBool::from(false));
    let never = IdedExpr {
        id: 0,
        expr: Expr::Literal(never),
    };
    let affordable = call(AFFORDABLE, vec![units(price)]);
    call(operators::CONDITIONAL, vec![affordable, condition, never])
}
