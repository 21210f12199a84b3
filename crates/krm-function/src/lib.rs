//! What every KRM function is made of: a [`Function`] with a step that works on a
//! [`ResourceList`](krm_core::resource_list::ResourceList), its [`supplied`] inputs, and the [`filter`] that makes a
//! program of it.
//!
//! [`run`] runs a function in memory, from bytes to bytes. Without an edit, the bytes are the same:
//!
//! ```
//! use krm_function::{Function, Inputs, Items, run};
//!
//! const NOTHING: Function = Function {
//!     name: "do-nothing",
//!     ..Function::PLAIN
//! };
//! let text = "\
//! apiVersion: config.kubernetes.io/v1
//! kind: ResourceList
//! items:
//! - apiVersion: v1
//!   kind: ConfigMap
//!   metadata: {name: app}   # kept
//! ";
//! let items = Items::ResourceList(text.to_owned());
//! let outcome = run(&NOTHING, Inputs::default(), items.clone())?;
//! assert_eq!(outcome.items, items);
//! # Ok::<(), krm_core::config::UsageError>(())
//! ```
//!
//! A program is one line: `krm_function::filter::main(&set_package_context::FUNCTION)`.
//!
//! # Invariants
//!
//! - The filter is the only code of a function that touches standard streams, arguments and exit codes.
//! - It contains no rule of a function. What only some functions need is a field of [`Function`]:
//!   [`sources`](Function::sources), [`on_package`](Function::on_package), [`merge_driver`](Function::merge_driver).
//! - After one error result, the output has the unchanged items, and no file is written.
//! - Inputs for roles are read before the step runs, except for revisions that a step asks an upstream for.
//!
//! # Limitations
//!
//! - It knows no source of upstreams, merge, review or fleet. A function that supports one brings it along.
//! - A step is a plain function pointer: it has no state from one run to the next.
//! - The list of a step is in memory. A fleet, whose packages are too many for that, is a [`FleetProgram`].

mod function;
pub mod output;
pub mod package_revision;
mod run;

pub mod filter;
pub mod supplied;

pub use function::{
    DriverFiles, DriverOutcome, FleetProgram, Function, MergeDriver, OnPackage, ReviewFormats,
    Step, StepRun,
};
pub use output::{Document, Output};
pub use run::{Inputs, Items, Outcome, SuppliedInput, run};

pub use run::run_step;
