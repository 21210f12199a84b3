//! Values of expressions, by the values of the fields that they read.
//!
//! An expression's value depends on these alone, and most targets of a fleet share a region, a tier or a package.

use std::collections::HashMap;

/// Limit of values that are kept of an expression: one that has more reads names, and is not worth it.
const MOST_VALUES: usize = 512;
/// Limit of bytes that are kept, for all expressions together.
const MOST_BYTES: usize = 1 << 20;
/// About how many bytes a value takes in addition to its texts.
const VALUE_COST: usize = 100;

/// The values of the fields that an expression reads; `None` where a field is absent.
pub(super) type ReadValues<'v> = Vec<Option<&'v str>>;

/// The value of an expression.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) text: String,
    /// What evaluating it again would cost.
    pub(super) units: u64,
}

/// Values of expressions.
#[derive(Debug)]
pub(super) struct Memo<'v> {
    /// By the number of the expression; `None` where there were too many.
    values: Vec<Option<HashMap<ReadValues<'v>, Known>>>,
    /// Bytes that may still be kept.
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
    /// Whether values of the expression are kept.
    pub(super) fn keeps(&self, expression: usize) -> bool {
        self.values.get(expression).is_none_or(Option::is_some)
    }

    pub(super) fn find(&self, expression: usize, inputs: &[Option<&'v str>]) -> Option<&Known> {
        self.values.get(expression)?.as_ref()?.get(inputs)
    }

    /// Keeps a value, if there is room.
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
