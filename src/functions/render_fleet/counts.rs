//! How many packages had which action: the last result of a run, and a part of its report.

use std::collections::HashMap;

use serde::{Deserialize, Serialize, Serializer};

use super::outcome::VariantOutcome;
use super::render::Action;
use crate::results::{FunctionResult, Results};

/// What is counted, in the order of reports: the variants, each action, what is unchanged, the conflicts.
const NAMES: [&str; 10] = [
    "variants",
    "created",
    "updated",
    "refreshed",
    "adopted",
    "orphaned",
    "deleted",
    "failed",
    "unchanged",
    "conflicts",
];

/// How many packages had which action, by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "HashMap<String, u64>")]
pub struct FleetCounts([u64; NAMES.len()]);

impl FleetCounts {
    /// Counts what becomes of so many variants.
    #[must_use]
    pub fn of(variants: usize) -> Self {
        let mut counts = Self::default();
        counts.add("variants", variants as u64);
        counts.add("unchanged", variants as u64);
        counts
    }

    /// Counts an outcome, and reports its results.
    pub fn tell(&mut self, outcome: VariantOutcome, results: &mut Results) {
        if let Some(action) = outcome.action {
            self.add(action.as_str(), 1);
            // The other packages have no variant.
            if !matches!(action, Action::Orphaned | Action::Deleted) {
                let unchanged = self.count_mut("unchanged").into_iter();
                unchanged.for_each(|count| *count = count.saturating_sub(1));
            }
        }
        self.add("conflicts", outcome.conflicts as u64);
        let all = outcome.results.into_iter();
        all.for_each(|result| results.push(result));
    }

    /// Adds to the count with a name; other names count nothing.
    pub(super) fn add(&mut self, name: &str, more: u64) {
        if let Some(count) = self.count_mut(name) {
            *count = count.saturating_add(more);
        }
    }

    fn count_mut(&mut self, name: &str) -> Option<&mut u64> {
        let at = NAMES.iter().position(|other| *other == name)?;
        self.0.get_mut(at)
    }

    /// How many packages are, or would be, other than they were.
    #[must_use]
    pub fn changed(&self) -> u64 {
        let actions = self.named().skip(1).take(6);
        actions.map(|(_, count)| count).sum()
    }

    /// All counts with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMES.into_iter().zip(self.0)
    }

    /// The last result of a run.
    #[must_use]
    pub fn result(&self) -> FunctionResult {
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
