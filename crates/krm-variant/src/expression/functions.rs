//! The functions of expressions: the standard functions, and those that [`guard`](super::guard) inserts.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelString, DYN_TYPE, INT_TYPE, Kind, STRING_TYPE,
};
use cel::common::value::{CowVal, Val};
use cel::{Env, ExecutionError};
use regex::{Regex, RegexBuilder};

use super::budget::{pay, pay_for, pay_once};

/// Pays for its argument, and returns it.
pub(super) const PAID: &str = "@paid";
/// Pays for the range of a loop, and sorts the keys if it is a map.
pub(super) const RANGE: &str = "@range";
/// Pays for its first argument plus the units of its second, and returns the first.
pub(super) const STEP: &str = "@step";
/// Pays the units of its argument, and returns true; an error if the budget is exhausted.
pub(super) const AFFORDABLE: &str = "@affordable";
/// `matches` with a limit on patterns and a cache for them.
pub(super) const MATCHES: &str = "@matches";
/// Converts a double to a string as cel-go does; returns other values unchanged.
pub(super) const SPELLED: &str = "@spelled";

/// The most bytes of a pattern for `matches`.
pub(super) const MAX_PATTERN: usize = 256;
/// The most patterns in the cache.
const MAX_PATTERNS: usize = 256;
/// Units for compiling a pattern.
const PATTERN_COST: u64 = 2000;

type CelValues<'b, 'v> = Vec<CowVal<'b, 'v>>;
type CelResult<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

/// The standard functions and macros, without optional values, and the functions of the guard.
#[expect(clippy::expect_used, reason = "the declarations are constant")]
pub(super) fn environment() -> Env {
    let mut environment = Env::stdlib().with_optional_support(false);
    // As in cel-go, the last duplicate wins.
    environment.set_error_on_duplicate_map_keys(false);
    let text = || vec![STRING_TYPE, STRING_TYPE];
    let declared = environment
        .add_overload(PAID, PAID, vec![DYN_TYPE], paid)
        .and_then(|()| environment.add_overload(RANGE, RANGE, vec![DYN_TYPE], range))
        .and_then(|()| environment.add_overload(STEP, STEP, vec![DYN_TYPE, INT_TYPE], step))
        .and_then(|()| environment.add_overload(AFFORDABLE, AFFORDABLE, vec![INT_TYPE], affordable))
        .and_then(|()| environment.add_overload(MATCHES, MATCHES, text(), matches))
        .and_then(|()| environment.add_overload(SPELLED, SPELLED, vec![DYN_TYPE], spelled));
    declared.expect("no standard name begins with @");
    environment
}

fn only<'b, 'v>(mut arguments: CelValues<'b, 'v>) -> CelResult<'b, 'v> {
    arguments
        .pop()
        .ok_or(ExecutionError::MissingArgumentOrTarget)
}

fn paid<'b, 'v>(arguments: CelValues<'b, 'v>) -> CelResult<'b, 'v> {
    let value = only(arguments)?;
    pay_for(value.as_ref())?;
    Ok(value)
}

fn range<'b, 'v>(arguments: CelValues<'b, 'v>) -> CelResult<'b, 'v> {
    let value = paid(arguments)?;
    if value.get_type().kind() != Kind::Map {
        return Ok(value);
    }
    let mut keys: Vec<Box<dyn Val + 'v>> = Vec::new();
    if let Some(iterable) = value.as_iterable() {
        let mut iterator = iterable.iter();
        while let Some(key) = iterator.next() {
            keys.push(key.clone_as_boxed());
        }
    }
    keys.sort_by(|a, b| key_order(a.as_ref(), b.as_ref()));
    Ok(CowVal::owned(CelList::from(keys)))
}

fn key_order(a: &dyn Val, b: &dyn Val) -> Ordering {
    let same = a.as_comparer().and_then(|a| a.compare(b).ok());
    same.unwrap_or_else(|| a.get_type().name().cmp(b.get_type().name()))
}

fn affordable<'b, 'v>(arguments: CelValues<'b, 'v>) -> CelResult<'b, 'v> {
    pay_units(only(arguments)?.as_ref())?;
    Ok(CowVal::owned(CelBool::from(true)))
}

fn step<'b, 'v>(mut arguments: CelValues<'b, 'v>) -> CelResult<'b, 'v> {
    let units = arguments.pop();
    pay_units(
        units
            .ok_or(ExecutionError::MissingArgumentOrTarget)?
            .as_ref(),
    )?;
    paid(arguments)
}

fn pay_units(units: &dyn Val) -> Result<(), ExecutionError> {
    let units = units.downcast_ref::<CelInt>().map(|units| *units.inner());
    pay(units
        .and_then(|units| u64::try_from(units).ok())
        .unwrap_or(1))
}

/// Converts doubles to strings as cel-go does: `1`, `0.1`, `1e+06`, `NaN`, `+Inf`.
fn spelled<'b, 'v>(arguments: CelValues<'b, 'v>) -> CelResult<'b, 'v> {
    let value = only(arguments)?;
    let Some(double) = value.downcast_ref::<CelDouble>() else {
        return Ok(value);
    };
    Ok(CowVal::owned(CelString::from(spell_double(
        *double.inner(),
    ))))
}

/// Go's `strconv.FormatFloat(double, 'g', -1, 64)`: the fewest digits that identify the number, with an exponent if
/// that is below -4 or above 5.
fn spell_double(double: f64) -> String {
    if double.is_nan() {
        return "NaN".to_owned();
    }
    if double.is_infinite() {
        return if double > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{double:e}");
    let exponent = scientific.split_once('e').and_then(|(digits, exponent)| {
        let exponent: i32 = exponent.parse().ok()?;
        Some((digits, exponent))
    });
    match exponent {
        Some((digits, exponent)) if double != 0.0 && !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{double}"),
    }
}

thread_local! {
    /// Compiled patterns, or the errors of compiling them.
    static PATTERNS: RefCell<HashMap<String, Result<Regex, String>>> = RefCell::default();
}

/// Compiles a pattern. Matching takes time linear in the length of the text.
pub(super) fn pattern(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > MAX_PATTERN {
        return Err(format!(
            "expected a pattern of at most {MAX_PATTERN} bytes, found {}",
            pattern.len()
        ));
    }
    let translated = super::pattern::translate(pattern);
    let translated = translated.map_err(|message| format!("bad pattern: {message}"))?;
    let mut builder = RegexBuilder::new(&translated);
    builder
        .size_limit(64 << 10)
        .dfa_size_limit(256 << 10)
        .nest_limit(32);
    builder.build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
        // The last line is the message; the lines above show the location.
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            format!("bad pattern: {}", last.trim_start_matches("error: "))
        }
    })
}

fn matches<'b, 'v>(arguments: CelValues<'b, 'v>) -> CelResult<'b, 'v> {
    let error = |message: &str| ExecutionError::function_error("matches", message);
    let text = |index: usize| {
        let argument = arguments.get(index)?.downcast_ref::<CelString<'_>>()?;
        Some(argument.inner())
    };
    let (Some(text), Some(source)) = (text(0), text(1)) else {
        return Err(error("expected two strings"));
    };
    PATTERNS.with_borrow_mut(|patterns| {
        if patterns.len() > MAX_PATTERNS {
            patterns.clear();
        }
        if !patterns.contains_key(source) {
            pay_once(PATTERN_COST)?;
            patterns.insert(source.to_owned(), pattern(source));
        }
        pay(1 + text.len() as u64 * source.len() as u64 / 64)?;
        match patterns.get(source) {
            Some(Ok(regex)) => Ok(CowVal::owned(CelBool::from(regex.is_match(text)))),
            Some(Err(message)) => Err(error(message)),
            None => Err(error("no pattern")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_spelled_as_go_does() {
        for (double, expected) in [
            (1.0, "1"),
            (-0.5, "-0.5"),
            (0.0, "0"),
            (-0.0, "-0"),
            (100_000.0, "100000"),
            (123_456.0, "123456"),
            (123_456.78, "123456.78"),
            (1e6, "1e+06"),
            (-1e6, "-1e+06"),
            (999_999.5, "999999.5"),
            (123_456_789.0, "1.23456789e+08"),
            (1e20, "1e+20"),
            (1e21, "1e+21"),
            (1e100, "1e+100"),
            (2.5e-100, "2.5e-100"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::from_bits(1), "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::NEG_INFINITY, "-Inf"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(spell_double(double), expected);
        }
    }
}
