//! How many packages had which action: the last result of a run.

use std::collections::BTreeMap;

use super::outcome::VariantOutcome;
use super::render::Action;
use crate::results::{FunctionResult, Results};

/// How many packages had which action.
#[derive(Debug, Default)]
pub struct Counts {
    variants: usize,
    by_action: BTreeMap<Action, usize>,
    conflicts: usize,
}

impl Counts {
    /// Counts what becomes of so many variants.
    #[must_use]
    pub fn of(variants: usize) -> Self {
        Self {
            variants,
            ..Self::default()
        }
    }

    /// Counts an outcome, and reports its results.
    pub fn tell(&mut self, outcome: VariantOutcome, results: &mut Results) {
        self.add(&outcome);
        outcome
            .results
            .into_iter()
            .for_each(|result| results.push(result));
    }

    fn add(&mut self, outcome: &VariantOutcome) {
        if let Some(action) = outcome.action {
            *self.by_action.entry(action).or_default() += 1;
        }
        self.conflicts += outcome.conflicts;
    }

    fn count(&self, action: Action) -> usize {
        self.by_action.get(&action).copied().unwrap_or_default()
    }

    /// How many packages are, or would be, other than they were.
    #[must_use]
    pub fn changed(&self) -> usize {
        let all: usize = self.by_action.values().sum();
        all - self.count(Action::Failed)
    }

    /// All counts by their names: the variants, each action, what is unchanged, the conflicts.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, usize)> {
        let of_packages = [Action::Orphaned, Action::Deleted].map(|action| self.count(action));
        let worked: usize =
            self.by_action.values().sum::<usize>() - of_packages.iter().sum::<usize>();
        let unchanged = self.variants.saturating_sub(worked);
        let actions = Action::ALL.iter();
        let actions = actions.map(|action| (action.as_str(), self.count(*action)));
        let mut named = vec![("variants", self.variants)];
        named.extend(actions);
        named.extend([("unchanged", unchanged), ("conflicts", self.conflicts)]);
        named
    }

    /// The last result of a run.
    #[must_use]
    pub fn result(&self) -> FunctionResult {
        let named = self.named();
        let shown = named.iter().filter(|(name, count)| match *name {
            "variants" | "conflicts" => false,
            "unchanged" => true,
            _ => *count > 0,
        });
        let shown: Vec<String> = shown
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        let conflicts = match self.conflicts {
            0 => String::new(),
            1 => "; 1 conflict".to_owned(),
            count => format!("; {count} conflicts"),
        };
        let variants = match self.variants {
            1 => "1 variant".to_owned(),
            count => format!("{count} variants"),
        };
        let message = format!("{variants}: {}{conflicts}", shown.join(", "));
        let tag = |result: FunctionResult, (name, count): &(&str, usize)| {
            result.tag(name, count.to_string())
        };
        named.iter().fold(FunctionResult::info(message), tag)
    }
}
