//! A fleet in a directory, whose packages are worked on one by one.

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
use crate::functions::render_fleet::{Counts, FleetRun, Mode, VariantOutcome, Watch};
use crate::functions::{FleetDriver, Function};
use crate::result_printer::ResultPrinter;
use crate::results::Results;
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
            drafts: arguments.fleet.drafts,
            keeps_diffs: arguments.diff || !arguments.fleet.reports.is_empty(),
        },
    };
    let mut told = Told {
        arguments,
        counts: None,
        results: Results::default(),
    };
    let mut results = driver(run, &mut told)?;
    let Told {
        counts,
        results: of_variants,
        ..
    } = told;
    of_variants
        .iter()
        .for_each(|result| results.push(result.clone()));
    if let Some(counts) = &counts {
        results.push(counts.result());
    }
    say(arguments, start, || "done".to_owned());
    write_results(function, arguments, &results)?;
    print_results(function, arguments, &results, ResultPrinter::by_file);
    print_result_list(function, arguments, &results)?;
    Ok(if results.has_errors() {
        FAILED
    } else if arguments.check && counts.is_some_and(|counts| counts.changed() > 0) {
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
    /// Absent while nothing began.
    counts: Option<Counts>,
    results: Results,
}

impl Watch for Told<'_> {
    fn begin(&mut self, variants: usize) {
        self.counts = Some(Counts::of(variants));
    }

    fn see(&mut self, mut outcome: VariantOutcome) -> Result<(), UsageError> {
        let diffs = std::mem::take(&mut outcome.diffs);
        if let Some(counts) = &mut self.counts {
            counts.tell(outcome, &mut self.results);
        }
        if self.arguments.diff {
            write_diff(self.arguments, diffs)?;
        }
        Ok(())
    }
}
