//! Pays for walks over the items of lists, before any of them is walked.

use std::collections::BTreeMap;

use super::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason};
use krm_yaml::WalkBudget;

/// The items of a run that cannot be walked, since their aliases and merge keys expand to too many nodes or have no
/// end.
#[derive(Debug, Default)]
pub struct RefusedWalks {
    /// For each item its list, as the position among the lists that were read, and the error.
    found: BTreeMap<(usize, ItemId), FunctionResult>,
}

impl RefusedWalks {
    /// Pays for all items of the lists from one budget. Reads only the items that may have aliases.
    pub fn of(lists: &[&ResourceList]) -> Self {
        let bytes = lists.iter().map(|list| list.length()).sum();
        let mut budget = WalkBudget::of(bytes);
        let mut refused = Self::default();
        for (at, list) in lists.iter().enumerate() {
            for (id, resource) in list.items_that_may_have_aliases() {
                let paid = list.read(id, |node| budget.pay_for(node.resolved()));
                if let Err(error) = paid {
                    let result = FunctionResult::error(Reason::InvalidValue, error.to_string());
                    let result = result.with_resource(resource);
                    refused.found.insert((at, id), result);
                }
            }
        }
        refused
    }

    /// The error of an item of a list.
    pub fn get(&self, list: usize, id: ItemId) -> Option<&FunctionResult> {
        self.found.get(&(list, id))
    }

    /// The errors. One that is about the same item of several versions occurs once.
    pub fn into_results(self) -> Vec<FunctionResult> {
        let mut results: Vec<FunctionResult> = self.found.into_values().collect();
        results.dedup();
        results
    }
}
