//! Caches the values of expressions, by the values of the fields that they read.
//!
//! The value of an expression depends only on these fields, and most targets of a fleet share a region, a tier or a
//! package.

use std::collections::HashMap;

/// The most values that are cached for an expression. An expression with more values reads names, for which a cache
/// is useless.
const MOST_VALUES: usize = 512;
/// The most bytes that are cached for all expressions together.
const MOST_BYTES: usize = 1 << 20;
/// Approximate bytes that a cached value takes in addition to its texts.
const VALUE_COST: usize = 100;

/// The values of the fields that an expression reads; `None` for an absent field.
pub(super) type ReadValues<'v> = Vec<Option<&'v str>>;

#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) text: String,
    /// The units that evaluating it again would cost.
    pub(super) units: u64,
}

/// A cache of values.
#[derive(Debug)]
pub(super) struct Memo<'v> {
    /// The values of each expression, by its number; `None` if there were too many.
    values: Vec<Option<HashMap<ReadValues<'v>, Known>>>,
    /// How many more bytes may be cached.
    room: usize,
}

impl Default for Memo<'_> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            room: MOST_BYTES,
        }
    }
}

impl<'v> Memo<'v> {
    /// Whether values of the expression are cached.
    pub(super) fn keeps(&self, expression: usize) -> bool {
        self.values.get(expression).is_none_or(Option::is_some)
    }

    pub(super) fn find(&self, expression: usize, inputs: &[Option<&'v str>]) -> Option<&Known> {
        self.values.get(expression)?.as_ref()?.get(inputs)
    }

    /// Caches a value, if the limits allow it.
    pub(super) fn keep(&mut self, expression: usize, inputs: &[Option<&'v str>], known: &Known) {
        if self.values.len() <= expression {
            let empty = || Some(HashMap::with_capacity(MOST_VALUES));
            self.values.resize_with(expression + 1, empty);
        }
        let Some(values) = &mut self.values[expression] else {
            return;
        };
        let cost = VALUE_COST + size_of_val(inputs) + known.text.len();
        if values.len() == MOST_VALUES {
            self.values[expression] = None;
        } else if let Some(room) = self.room.checked_sub(cost) {
            self.room = room;
            values.insert(inputs.to_vec(), known.clone());
        }
    }
}
