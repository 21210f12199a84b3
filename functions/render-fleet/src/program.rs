//! Runs a function on a fleet in a directory, one package after the other.

use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};
use clap::{ArgGroup, ArgMatches, Args, Command, FromArgMatches};

use super::counts::FleetCounts;
use super::directory::Mode;
use super::outcome::VariantOutcome;
use super::program_arguments::{FleetArguments, REPORTED};
use super::report::{Collector, FleetReport, ReportForm, ReportHead, join};
use super::run::{FleetRun, RunObserver, run_fleet};
use krm_core::config::{Config, UsageError};
use krm_core::result_printer::ResultPrinter;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_function::filter::{
    Arguments, CONFLICTS, DONE, FAILED, ProgressLine, WOULD_CHANGE, config_of_arguments,
    print_result_list, print_results, print_up_to_date, print_verbose, read_rules, shows_progress,
    write_diff, write_results,
};
use krm_function::supplied::CatalogSource;
use krm_function::{FleetProgram, Function};

/// `render-fleet` as a program.
#[derive(Debug)]
pub(super) struct RenderFleetProgram;

impl FleetProgram for RenderFleetProgram {
    fn with_flags(&self, command: Command) -> Command {
        let reported = ArgGroup::new(REPORTED).args(["package", "join"]);
        FleetArguments::augment_args(command).group(reported)
    }

    fn catalogs(&self, matches: &ArgMatches) -> Result<Vec<CatalogSource>, clap::Error> {
        Ok(FleetArguments::from_arg_matches(matches)?.catalogs)
    }

    fn run(&self, function: &Function, arguments: &Arguments) -> Result<Option<u8>, UsageError> {
        // The flags were read once, for the catalogs.
        let fleet = FleetArguments::from_arg_matches(&arguments.matches).map_err(UsageError::of)?;
        if !fleet.joined.is_empty() {
            return join_reports(arguments, &fleet).map(Some);
        }
        let Some(directory) = &arguments.package else {
            return Ok(None);
        };
        on_fleet(function, arguments, &fleet, directory).map(Some)
    }
}

fn on_fleet(
    function: &Function,
    arguments: &Arguments,
    fleet: &FleetArguments,
    directory: &Path,
) -> Result<u8, UsageError> {
    let start = Instant::now();
    let reports = report_files(fleet)?;
    let config = config_of_arguments(arguments)?;
    let conflicts = read_rules(arguments)?;
    mark_unfinished(function, arguments, &reports)?;
    let cores = || available_parallelism().map_or(1, NonZero::get);
    let mode = Mode {
        writes: !arguments.diff && !arguments.check,
        drafts: fleet.drafts,
        keeps_diffs: arguments.diff || !reports.is_empty(),
        reports: !reports.is_empty(),
    };
    let run = FleetRun {
        fleet: directory,
        config: config.as_ref().and_then(Config::node),
        conflicts: conflicts.as_ref(),
        supplied: &arguments.supplied,
        catalogs: fleet.catalogs.clone(),
        shard: fleet.shard,
        jobs: fleet.jobs.map_or_else(cores, usize::from),
        writes_status: fleet.status,
        mode,
    };
    let mut output = RunOutput {
        arguments,
        counts: None,
        results: Results::default(),
        collector: (!reports.is_empty()).then(Collector::default),
        progress: None,
    };
    let results = run_fleet(run, &mut output);
    output.progress = None;
    let mut results = results?;
    let counts = output.counts.take();
    let report = output.collector.take().map(|collector| {
        let counts = counts.clone().unwrap_or_default();
        collector.finish(mode.writes, counts, &results)
    });
    results.append(std::mem::take(&mut output.results));
    if let Some(counts) = &counts {
        results.push(counts.result());
    }
    print_verbose(arguments, start, || "done".to_owned());
    write_results(function, arguments, &results)?;
    if let Some(report) = report {
        write_reports(arguments, fleet, report, &reports)?;
    }
    print_results(function, arguments, &results, ResultPrinter::by_file);
    print_result_list(function, arguments, &results)?;
    if counts.as_ref().is_some_and(|counts| counts.changed() == 0) {
        print_up_to_date(arguments, &results);
    }
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

/// Combines the reports of shards into one.
fn join_reports(arguments: &Arguments, fleet: &FleetArguments) -> Result<u8, UsageError> {
    let reports = report_files(fleet)?;
    write_reports(arguments, fleet, join(&fleet.joined)?, &reports)?;
    Ok(DONE)
}

/// The files of `--report` with their formats. They are checked before the run, so that a wrong path does not fail at
/// its end.
fn report_files(fleet: &FleetArguments) -> Result<Vec<(&Path, ReportForm)>, UsageError> {
    let files = fleet.reports.iter().map(|path| {
        let form = ReportForm::of_file(path)?;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) || path.is_dir() {
            let path = path.display();
            let message =
                format!("--report: expected a file in a directory that exists, found `{path}`");
            return Err(UsageError::of(message));
        }
        Ok((path.as_path(), form))
    });
    files.collect()
}

/// Writes to the files of `--results` and `--report` that the run did not end. If one cannot be written, the run
/// fails before it writes any package, and after an interrupted run no file looks complete.
fn mark_unfinished(
    function: &Function,
    arguments: &Arguments,
    reports: &[(&Path, ReportForm)],
) -> Result<(), UsageError> {
    let message = "the run did not end";
    let mut results = Results::default();
    results.push(FunctionResult::error(Reason::NotWritten, message));
    write_results(function, arguments, &results)?;
    let mut reports = reports.iter();
    reports.try_for_each(|(path, _)| write_report(path, format!("{message}\n")))
}

fn write_report(path: &Path, text: String) -> Result<(), UsageError> {
    std::fs::write(path, text).map_err(|error| {
        let path = path.display();
        UsageError::cannot(format_args!("write the report to {path}"), error)
    })
}

fn write_reports(
    arguments: &Arguments,
    fleet: &FleetArguments,
    mut report: FleetReport,
    files: &[(&Path, ReportForm)],
) -> Result<(), UsageError> {
    report.head = ReportHead {
        date: date_of_run(),
        title: fleet.title.clone().unwrap_or_default(),
        command: arguments.command.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut files = files.iter();
    files.try_for_each(|(path, form)| write_report(path, report.text(*form)?))
}

/// The time in UTC: now, or as for other programs that make the same output twice, the seconds in `SOURCE_DATE_EPOCH`.
fn date_of_run() -> String {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok();
    let given = given.and_then(|text| text.parse::<u64>().ok());
    let now = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map(|now| now.as_secs()).unwrap_or_default()
    };
    date(given.unwrap_or_else(now))
}

/// Seconds since 1970 as a date, at most in the year 9999.
fn date(seconds: u64) -> String {
    const LAST: i64 = 253_402_300_799;
    let seconds = i64::try_from(seconds).map_or(LAST, |seconds| seconds.min(LAST));
    let time = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Counts, results and report of the variants rendered so far.
struct RunOutput<'t> {
    arguments: &'t Arguments,
    /// `None` until the run begins.
    counts: Option<FleetCounts>,
    results: Results,
    /// Collects the report; `None` if no report is requested.
    collector: Option<Collector>,
    progress: Option<ProgressLine>,
}

impl RunObserver for RunOutput<'_> {
    fn begin(&mut self, variants: usize) {
        self.counts = Some(FleetCounts::of(variants));
        let line = || ProgressLine::new("Rendering variants", variants);
        self.progress = shows_progress(self.arguments).then(line);
    }

    fn record(&mut self, mut outcome: VariantOutcome) -> Result<(), UsageError> {
        if let Some(line) = &self.progress {
            line.step(&outcome.entry.name);
        }
        if let Some(collector) = &mut self.collector {
            collector.add(&outcome);
        }
        let diffs = std::mem::take(&mut outcome.diffs);
        if let Some(counts) = &mut self.counts {
            counts.record(outcome, &mut self.results);
        }
        if self.arguments.diff {
            write_diff(self.arguments, diffs.into_iter().map(|diff| diff.text))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::date;

    /// What `date -u -d @SECONDS +%FT%TZ` prints.
    #[test]
    fn seconds_are_dates_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (u64::MAX, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }
}
