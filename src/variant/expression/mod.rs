//! CEL expressions, bounded: one evaluation takes at most about 100 ms and 20 MB.
//!
//! `repository.labels['region'] + '-endpoints'` -> `useast1-endpoints`
//!
//! The interpreter has no type checker and no limits. So an expression is compiled in three steps: it is
//! parsed, checked (names, functions, known types, size), and rewritten by a guard, so that each step of
//! its evaluation pays from a budget. Its value depends on its variables alone: maps are walked in the
//! order of their keys, and times are UTC.
//!
//! Compiling and evaluating recurse on the expression: call them in [`on_large_stack`].
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

/// Limit of an expression, in bytes.
pub const MAX_LENGTH: usize = 4096;
/// Limit of nesting for the parser.
const MAX_PARSER_DEPTH: u16 = 48;
/// Limit of bytes of all expressions in a run, which bounds the time to parse them.
const MAX_TOTAL_LENGTH: usize = 256 << 10;
/// Stack of the thread that compiles and evaluates.
const STACK: usize = 64 << 20;

/// Why an expression is refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}: {source_text}")]
pub struct ExpressionError {
    /// Line in the expression, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The expression, cut if it is long.
    pub source_text: String,
    /// Whether it exceeded the budget: the run must stop.
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

/// An expression that may be evaluated.
#[derive(Debug)]
pub struct Expression {
    source: String,
    guarded: IdedExpr,
    /// Minimum units of an evaluation.
    price: u64,
    positions: SourceInfo,
    /// The variables that it reads.
    reads: BTreeSet<Variable>,
    /// The fields that it reads, if they can be told.
    fields: Option<Vec<ReadField>>,
    /// Its place among the expressions of its compiler.
    number: usize,
}

impl Expression {
    /// The variables that it reads.
    #[must_use]
    pub fn reads(&self) -> &BTreeSet<Variable> {
        &self.reads
    }
}

/// Compiles expressions.
pub struct Compiler {
    environment: Arc<Env>,
    total: usize,
    /// How many were compiled.
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
    /// Bad syntax; an unknown variable, field or function; types that cannot fit; one too long or
    /// too deep.
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
}

impl Compiler {
    /// The parser knows `existsOne` as another spelling of `exists_one`; Porch does not.
    fn refuse_exists_one(&self, source: &str) -> Result<(), ExpressionError> {
        let plain = Env::default().with_optional_support(false).parser();
        let parsed = plain
            .max_recursion_depth(MAX_PARSER_DEPTH)
            .parse_with_source_info(source);
        // Syntax errors are reported already.
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

/// The parser's message, without its internals.
fn syntax_message(message: &str) -> String {
    if message.contains("Recursion limit") || message.contains("recursion limit") {
        return "the expression is nested too deeply".to_owned();
    }
    // A condition whose parts were cut off.
    if message.starts_with("Incomplete `") {
        return "Syntax error: the expression is nested too deeply, or a part of it is missing"
            .to_owned();
    }
    match message.split_once(" expecting {") {
        Some((found, _)) => found.to_owned(),
        None => message.to_owned(),
    }
}

/// Line and column of a node.
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
    /// Whether this thread has such a stack.
    static IS_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a thread with a stack that is large enough for every accepted expression: on this one if it is such
/// a thread, so that what was freed is used again. Allocators keep memory by thread.
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
