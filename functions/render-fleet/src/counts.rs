//! Counts the packages by action, for the last result of a run and for its report.

use std::collections::HashMap;

use serde::{Deserialize, Serialize, Serializer};

use super::outcome::{Action, VariantOutcome};
use krm_core::results::{FunctionResult, Results};

/// The number of counts: the variants, each action, the unchanged packages and the conflicts.
const COUNT: usize = Action::ALL.len() + 3;

/// The names of the counts, in the order of reports.
fn names() -> impl Iterator<Item = &'static str> {
    let actions = Action::ALL.map(Action::as_str);
    let names = ["variants"].into_iter().chain(actions);
    names.chain(["unchanged", "conflicts"])
}

/// How many packages had which action; in the order of reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "HashMap<String, u64>")]
pub(crate) struct FleetCounts([u64; COUNT]);

impl FleetCounts {
    /// The counts before this many variants are processed: all of them count as unchanged.
    pub(crate) fn of(variants: usize) -> Self {
        let mut counts = Self::default();
        counts.add("variants", variants as u64);
        counts.add("unchanged", variants as u64);
        counts
    }

    /// Counts an outcome, and adds its results.
    pub(crate) fn record(&mut self, outcome: VariantOutcome, results: &mut Results) {
        if let Some(action) = outcome.entry.action {
            self.add(action.as_str(), 1);
            // Orphaned and deleted packages are not among the variants.
            if !matches!(action, Action::Orphaned | Action::Deleted) {
                let unchanged = self.count_mut("unchanged").into_iter();
                unchanged.for_each(|count| *count = count.saturating_sub(1));
            }
        }
        self.add("conflicts", outcome.entry.conflicts);
        results.extend(outcome.results);
    }

    /// Adds to the count with a name. An unknown name is ignored.
    pub(super) fn add(&mut self, name: &str, more: u64) {
        if let Some(count) = self.count_mut(name) {
            *count = count.saturating_add(more);
        }
    }

    fn count_mut(&mut self, name: &str) -> Option<&mut u64> {
        let at = names().position(|other| other == name)?;
        self.0.get_mut(at)
    }

    /// How many packages have changed, or would change.
    pub(crate) fn changed(&self) -> u64 {
        let actions = self.named().skip(1).take(6);
        actions.map(|(_, count)| count).sum()
    }

    /// All counts with their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        names().zip(self.0)
    }

    /// The last result of a run, with the counts.
    pub(crate) fn result(&self) -> FunctionResult {
        let shown = self.named().filter(|(name, count)| match *name {
            "variants" | "conflicts" => false,
            "unchanged" => true,
            _ => *count > 0,
        });
        let shown: Vec<String> = shown
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        let [variants, .., conflicts] = self.0;
        let conflicts = match conflicts {
            0 => String::new(),
            1 => "; 1 conflict".to_owned(),
            count => format!("; {count} conflicts"),
        };
        let noun = if variants == 1 { "variant" } else { "variants" };
        let message = format!("{variants} {noun}: {}{conflicts}", shown.join(", "));
        let message = FunctionResult::info(message);
        self.named().fold(message, |result, (name, count)| {
            result.tag(name, count.to_string())
        })
    }
}

impl From<HashMap<String, u64>> for FleetCounts {
    fn from(named: HashMap<String, u64>) -> Self {
        let mut counts = Self::default();
        named
            .iter()
            .for_each(|(name, count)| counts.add(name, *count));
        counts
    }
}

impl Serialize for FleetCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.named())
    }
}
