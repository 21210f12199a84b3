//! A fleet in a directory, whose packages are worked on one by one.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::Instant;

use super::arguments::Arguments;
use super::print::{print_result_list, print_results, say, write_diff, write_results};
use super::read::config_of_arguments;
use super::step::read_document;
use super::{CONFLICTS, DONE, FAILED, WOULD_CHANGE};
use crate::config::{Config, UsageError};
use crate::functions::render_fleet::{Action, FleetRun, Mode, VariantOutcome, Watch};
use crate::functions::{FleetDriver, Function};
use crate::result_printer::ResultPrinter;
use crate::results::{FunctionResult, Results};
use crate::yaml::OwnedDocument;

pub(super) fn on_fleet(
    function: &Function,
    arguments: &Arguments,
    fleet: &Path,
    driver: FleetDriver,
) -> Result<u8, UsageError> {
    let start = Instant::now();
    let config = config_of_arguments(arguments)?;
    let conflicts = read_document("--conflicts", arguments.conflicts.as_deref())?;
    let cores = || available_parallelism().map_or(1, NonZero::get);
    let run = FleetRun {
        fleet,
        config: config.as_ref().and_then(Config::node),
        conflicts: conflicts.as_ref().and_then(OwnedDocument::root),
        supplied: &arguments.supplied,
        catalogs: arguments.fleet.catalogs.clone(),
        shard: arguments.fleet.shard,
        jobs: arguments.fleet.jobs.map_or_else(cores, usize::from),
        mode: Mode {
            writes: !arguments.diff && !arguments.check,
            keeps_diffs: arguments.diff || !arguments.fleet.reports.is_empty(),
        },
    };
    let mut told = Told {
        arguments,
        counts: Counts::default(),
        results: Results::default(),
    };
    let mut results = driver(run, &mut told)?;
    let Told {
        counts,
        results: of_variants,
        ..
    } = told;
    let began = counts.began;
    of_variants.iter().for_each(|result| results.push(result.clone()));
    if began {
        results.push(counts.result());
    }
    say(arguments, start, || "done".to_owned());
    write_results(function, arguments, &results)?;
    print_results(function, arguments, &results, ResultPrinter::by_file);
    print_result_list(function, arguments, &results)?;
    Ok(if results.has_errors() {
        FAILED
    } else if arguments.check && counts.changed() > 0 {
        WOULD_CHANGE
    } else if arguments.exit_conflicts && results.has_open_conflicts() {
        CONFLICTS
    } else {
        DONE
    })
}

/// What was told of the variants so far.
struct Told<'t> {
    arguments: &'t Arguments,
    counts: Counts,
    results: Results,
}

impl Watch for Told<'_> {
    fn begin(&mut self, variants: usize) {
        self.counts.began = true;
        self.counts.variants = variants;
    }

    fn see(&mut self, mut outcome: VariantOutcome) -> Result<(), UsageError> {
        self.counts.add(&outcome);
        if self.arguments.diff {
            write_diff(self.arguments, std::mem::take(&mut outcome.diffs))?;
        }
        outcome
            .results
            .into_iter()
            .for_each(|result| self.results.push(result));
        Ok(())
    }
}

/// How many packages had which action.
#[derive(Debug, Default)]
struct Counts {
    began: bool,
    variants: usize,
    by_action: BTreeMap<Action, usize>,
    conflicts: usize,
}

impl Counts {
    fn add(&mut self, outcome: &VariantOutcome) {
        if let Some(action) = outcome.action {
            *self.by_action.entry(action).or_default() += 1;
        }
        self.conflicts += outcome.conflicts;
    }

    fn of(&self, action: Action) -> usize {
        self.by_action.get(&action).copied().unwrap_or_default()
    }

    fn changed(&self) -> usize {
        let all: usize = self.by_action.values().sum();
        all - self.of(Action::Failed)
    }

    /// The last result.
    fn result(&self) -> FunctionResult {
        let of_packages = [Action::Orphaned, Action::Deleted].map(|action| self.of(action));
        let worked: usize = self.by_action.values().sum::<usize>() - of_packages.iter().sum::<usize>();
        let unchanged = self.variants.saturating_sub(worked);
        let mut counts: Vec<(&str, usize)> = Action::ALL
            .iter()
            .map(|action| (action.as_str(), self.of(*action)))
            .collect();
        counts.push(("unchanged", unchanged));
        counts.push(("conflicts", self.conflicts));
        let shown = counts.iter().filter(|(name, count)| *count > 0 || *name == "unchanged");
        let shown: Vec<String> = shown.map(|(name, count)| format!("{count} {name}")).collect();
        let message = format!("{} variants: {}", self.variants, shown.join(", "));
        let result = FunctionResult::info(message).tag("variants", self.variants.to_string());
        let tag = |result: FunctionResult, (name, count): &(&str, usize)| result.tag(name, count.to_string());
        counts.iter().fold(result, tag)
    }
}
