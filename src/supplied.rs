//! Supplied inputs: resources that a function needs and that are no part of the package.
//!
//! Source: contract, Supplied inputs.

/// Supplied inputs by role.
#[derive(Debug, Default)]
pub struct Supplied {}
