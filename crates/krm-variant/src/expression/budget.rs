//! The budget for evaluating expressions.
//!
//! One unit covers a step, or 8 bytes that are read or created. Counting is the same on every machine, so that a run
//! fails either everywhere or nowhere.

use std::cell::Cell;

use cel::ExecutionError;
use cel::common::types::{CelBytes, CelString, Kind};
use cel::common::value::Val;

/// Units for one evaluation, which limit it to less than 100 ms and 20 MB.
pub(super) const PER_EVALUATION: u64 = 200_000;
/// Units for a run, in addition to those for its targets.
const PER_RUN: u64 = 10_000_000;
/// Units for each target of a run.
const PER_TARGET: u64 = 400;

/// The units for a run with this many targets.
pub(super) fn of_run(targets: usize) -> u64 {
    PER_RUN.saturating_add(PER_TARGET.saturating_mul(targets as u64))
}

thread_local! {
    /// Remaining units of the current evaluation. Thread-local, because the interpreter cannot pass the budget to
    /// functions.
    static LEFT: Cell<u64> = const { Cell::new(0) };
    /// Units of this evaluation that evaluating the same expression again would not cost.
    static ONCE: Cell<u64> = const { Cell::new(0) };
}

/// Starts an evaluation with this many units.
pub(super) fn begin(units: u64) {
    LEFT.set(units);
    ONCE.set(0);
}

/// Remaining units. Zero means that the evaluation was stopped, even if it returned a value, because `||` and `?:`
/// can swallow an error.
pub(super) fn left() -> u64 {
    LEFT.get()
}

/// Spends units, or stops the evaluation. An exhausted budget stays at zero.
pub(super) fn pay(units: u64) -> Result<(), ExecutionError> {
    // A successful payment never spends the last unit, so that zero can mark the stop.
    match LEFT.get().checked_sub(units).filter(|left| *left > 0) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None => {
            LEFT.set(0);
            Err(ExecutionError::function_error("budget", "exceeded"))
        }
    }
}

/// Pays for something that later evaluations can reuse.
pub(super) fn pay_once(units: u64) -> Result<(), ExecutionError> {
    ONCE.set(ONCE.get().saturating_add(units));
    pay(units)
}

/// The units paid through [`pay_once`] in this evaluation.
pub(super) fn paid_once() -> u64 {
    ONCE.get()
}

/// Pays for reading a value, including its elements.
pub(super) fn pay_for(value: &dyn Val) -> Result<(), ExecutionError> {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        return pay(1 + text.inner().len() as u64 / 8);
    }
    if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        return pay(1 + bytes.inner().len() as u64 / 8);
    }
    pay(1)?;
    let kind = value.get_type().kind();
    if !matches!(kind, Kind::List | Kind::Map) {
        return Ok(());
    }
    let Some(elements) = value.as_iterable() else {
        return Ok(());
    };
    let values = value.as_indexer().filter(|_| kind == Kind::Map);
    let mut elements = elements.iter();
    while let Some(element) = elements.next() {
        pay_for(element)?;
        if let Some(Ok(value)) = values.map(|values| values.get(element)) {
            pay_for(value.as_ref())?;
        }
    }
    Ok(())
}
