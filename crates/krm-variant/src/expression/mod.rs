//! CEL expressions with limits: one evaluation takes at most about 100 ms and 20 MB.
//!
//! `repository.labels['region'] + '-endpoints'` -> `useast1-endpoints`
//!
//! The interpreter has no type checker and no limits. Therefore an expression is parsed, checked (names, functions,
//! known types, size), and rewritten by a guard, so that each step of its evaluation is paid for from a budget. Its
//! value depends only on its variables: maps are iterated in the order of their keys, and times are in UTC.
//!
//! Compiling and evaluating recurse on the expression, so call them in [`on_large_stack`].
//!
//! Source: package-variant document, PackageVariant Template; contract, expand-variant-set.

mod budget;
mod check;
mod evaluate;
mod functions;
mod guard;
mod memo;
mod pattern;
mod reads;
mod types;
mod variables;

pub use evaluate::Evaluator;
pub use variables::{ObjectFields, TargetFields, Variable, Variables};

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use cel::common::ast::SourceInfo;
use cel::{Env, IdedExpr};
use thiserror::Error;

use reads::ReadField;

/// The most bytes of an expression.
pub(crate) const MAX_LENGTH: usize = 4096;
/// The deepest nesting that the parser accepts.
const MAX_PARSER_DEPTH: u16 = 48;
/// The most bytes of all expressions in a run, to limit the time for parsing.
const MAX_TOTAL_LENGTH: usize = 256 << 10;
/// Bytes of stack for the thread that compiles and evaluates.
const STACK: usize = 64 << 20;

/// Why an expression was refused, or why its evaluation failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}: {source_text}")]
pub struct ExpressionError {
    /// The line in the expression, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The message without the location.
    pub message: String,
    /// The text of the expression, truncated if it is long.
    pub source_text: String,
    /// Whether the budget was exceeded, so that the run must stop.
    pub is_over_budget: bool,
}

impl ExpressionError {
    fn new(source: &str, (line, column): (usize, usize), message: impl Into<String>) -> Self {
        const SHOWN: usize = 120;
        let mut source_text: String = source.chars().take(SHOWN).collect();
        if source_text.len() < source.len() {
            source_text.push('…');
        }
        let mut message: String = message.into();
        if let Some((end, _)) = message.char_indices().nth(2 * SHOWN) {
            message.truncate(end);
            message.push('…');
        }
        Self {
            line,
            column,
            message,
            source_text,
            is_over_budget: false,
        }
    }
}

#[derive(Debug)]
pub struct Expression {
    source: String,
    guarded: IdedExpr,
    /// The minimum units of an evaluation.
    price: u64,
    positions: SourceInfo,
    /// The variables that it reads.
    reads: BTreeSet<Variable>,
    /// The fields that it reads; `None` if they cannot be determined from its text.
    fields: Option<Vec<ReadField>>,
    /// Its number among the expressions of its compiler.
    number: usize,
}

impl Expression {
    /// The variables that the expression reads.
    pub fn reads(&self) -> &BTreeSet<Variable> {
        &self.reads
    }
}

pub struct Compiler {
    environment: Arc<Env>,
    total: usize,
    /// How many expressions were compiled.
    count: usize,
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiler").finish_non_exhaustive()
    }
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            environment: Arc::new(functions::environment()),
            total: 0,
            count: 0,
        }
    }
}

impl Compiler {
    /// Compiles an expression that may read these variables and must return a string.
    ///
    /// # Errors
    /// The syntax is invalid; a variable, field or function is unknown; types do not match; the expression is too
    /// long or too deeply nested.
    pub fn compile(
        &mut self,
        source: &str,
        variables: &Variables,
    ) -> Result<Expression, ExpressionError> {
        let error = |at, message: String| ExpressionError::new(source, at, message);
        if source.len() > MAX_LENGTH {
            let found = source.len();
            let message = format!("expected at most {MAX_LENGTH} bytes, found {found}");
            return Err(error((1, 1), message));
        }
        self.total += source.len();
        if self.total > MAX_TOTAL_LENGTH {
            let message =
                format!("all expressions together have more than {MAX_TOTAL_LENGTH} bytes");
            return Err(error((1, 1), message));
        }
        let parser = self
            .environment
            .parser()
            .max_recursion_depth(MAX_PARSER_DEPTH);
        let (parsed, positions) = parser.parse_with_source_info(source).map_err(|errors| {
            let first = errors.errors.into_iter().next();
            let (at, message) = first.map_or(((1, 1), String::new()), |e| (e.pos, e.msg));
            let number = |n: isize| usize::try_from(n).unwrap_or_default().max(1);
            error((number(at.0), number(at.1)), syntax_message(&message))
        })?;
        if source.contains("existsOne") {
            self.refuse_exists_one(source)?;
        }
        let reads = check::check(&parsed, variables)
            .map_err(|problem| error(position(&positions, problem.id), problem.message))?;
        let fields = reads::fields(&parsed, variables);
        let guarded = guard::guard(parsed);
        let number = self.count;
        self.count += 1;
        Ok(Expression {
            source: source.to_owned(),
            price: guard::weight(&guarded),
            guarded,
            positions,
            reads,
            fields,
            number,
        })
    }

    /// Refuses `existsOne`, which the parser accepts as another spelling of `exists_one` but Porch does not.
    fn refuse_exists_one(&self, source: &str) -> Result<(), ExpressionError> {
        let plain = Env::default().with_optional_support(false).parser();
        let parsed = plain
            .max_recursion_depth(MAX_PARSER_DEPTH)
            .parse_with_source_info(source);
        // Syntax errors have already been reported.
        let Ok((parsed, positions)) = parsed else {
            return Ok(());
        };
        match check::find_call(&parsed, "existsOne") {
            Some(id) => Err(ExpressionError::new(
                source,
                position(&positions, id),
                "undeclared function `existsOne`, expected `exists_one`",
            )),
            None => Ok(()),
        }
    }
}

/// The parser's message without its list of expected tokens.
fn syntax_message(message: &str) -> String {
    if message.contains("Recursion limit") || message.contains("recursion limit") {
        return "the expression is nested too deeply".to_owned();
    }
    // The parser reports this if nesting cuts off parts of a condition.
    if message.starts_with("Incomplete `") {
        return "Syntax error: the expression is nested too deeply, or a part of it is missing"
            .to_owned();
    }
    match message.split_once(" expecting {") {
        Some((found, _)) => found.to_owned(),
        None => message.to_owned(),
    }
}

/// The line and column of a node, counted from 1.
fn position(positions: &SourceInfo, id: u64) -> (usize, usize) {
    let start = positions
        .offset_for(id)
        .map_or(0, |(start, _)| start as usize);
    let before: Vec<char> = positions.source.chars().take(start).collect();
    let line = before.iter().filter(|c| **c == '\n').count() + 1;
    let column = before.iter().rev().take_while(|c| **c != '\n').count() + 1;
    (line, column)
}

thread_local! {
    /// Whether this thread has a stack of [`STACK`] bytes.
    static IS_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a thread with a stack that is large enough for every accepted expression. If this is already such a
/// thread, it is used, so that memory that was freed on it is reused: allocators keep memory by thread.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    if IS_LARGE.get() {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let handle = thread.spawn_scoped(scope, || {
            IS_LARGE.set(true);
            work()
        })?;
        match handle.join() {
            Ok(value) => Ok(value),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
