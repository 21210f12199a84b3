//! The flags of a function that works on a fleet.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, value_parser};

use super::flags::{INPUTS, PACKAGE, RESULTS, path_flag};
use crate::fleet::Shard;
use crate::supplied::CatalogSource;

const CATALOG: &str = "catalog";
const SHARD: &str = "shard";
const JOBS: &str = "jobs";
const REPORT: &str = "report";
const TITLE: &str = "report-title";
const DRAFTS: &str = "drafts";
const JOIN: &str = "join";
/// What a report can be about.
const REPORTED: &str = "reported";
const STATUS: &str = "status";

/// What the flags say.
#[derive(Debug, Clone, Default)]
pub(super) struct FleetArguments {
    pub(super) catalogs: Vec<CatalogSource>,
    pub(super) shard: Option<Shard>,
    /// How many variants are worked on at a time; as many as there are cores without it.
    pub(super) jobs: Option<u16>,
    pub(super) reports: Vec<PathBuf>,
    /// The first line of a report.
    pub(super) title: Option<String>,
    pub(super) drafts: bool,
    /// Reports of shards.
    pub(super) joined: Vec<PathBuf>,
    pub(super) status: bool,
}

impl FleetArguments {
    pub(super) fn args() -> [Arg; 8] {
        let catalog = Arg::new(CATALOG).long(CATALOG).value_name("NAME=PATH");
        let catalog = catalog.action(ArgAction::Append).help_heading(INPUTS);
        let shard = Arg::new(SHARD).long(SHARD).value_name("I/N");
        let jobs = Arg::new(JOBS).long(JOBS).short('j').value_name("N");
        let help = "Write a report: FILE.html for a page, FILE.json for data";
        let report = path_flag(REPORT, "FILE", help).action(ArgAction::Append);
        let help = "Combine the reports (or --results) of shards, or all reports in a directory, into --report";
        let join = path_flag(JOIN, "PATH", help).action(ArgAction::Append);
        let drafts = Arg::new(DRAFTS).long(DRAFTS).action(ArgAction::SetTrue);
        let on_package = |flag: Arg| flag.requires("package").help_heading(PACKAGE);
        let parse_shard = |text: &str| text.parse::<Shard>().map_err(|error| error.to_string());
        [
            catalog
                .value_parser(catalog_source)
                .help("A catalog: a Git repository, or a directory of <package>/<revision>/; repeatable; NAMESPACE/NAME=PATH for one namespace"),
            on_package(shard.hide_short_help(true))
                .value_parser(parse_shard)
                .help("Work on share I of N of the fleet; the first is 0"),
            on_package(jobs.hide_short_help(true))
                .value_parser(value_parser!(u16).range(1..))
                .help("How many variants to work on at a time (default: one for each core)"),
            on_package(drafts).help("Commit changes to drafts/ branches; leave work trees unchanged"),
            on_package(Arg::new(STATUS).long(STATUS).action(ArgAction::SetTrue))
                .hide_short_help(true)
                .help("Write the `status` of PackageVariants that were read from directories"),
            report.requires(REPORTED).help_heading(RESULTS),
            Arg::new(TITLE)
                .long(TITLE)
                .value_name("TEXT")
                .requires(REPORT)
                .help_heading(RESULTS)
                .hide_short_help(true)
                .help("Write a text into the head of the report, such as the date and the revision of the fleet"),
            join.hide_short_help(true)
                .num_args(1..)
                .requires(REPORT)
                .conflicts_with_all(["package", "config", "results"]),
        ]
    }

    /// What `--report` needs one of.
    pub(super) fn group() -> ArgGroup {
        ArgGroup::new(REPORTED).args(["package", JOIN])
    }

    pub(super) fn read(matches: &ArgMatches) -> Self {
        fn all<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Vec<T> {
            let values = matches.get_many::<T>(name);
            values.into_iter().flatten().cloned().collect()
        }
        Self {
            catalogs: all(matches, CATALOG),
            shard: matches.get_one(SHARD).copied(),
            jobs: matches.get_one(JOBS).copied(),
            reports: all(matches, REPORT),
            title: matches.get_one(TITLE).cloned(),
            drafts: matches.get_flag(DRAFTS),
            joined: all(matches, JOIN),
            status: matches.get_flag(STATUS),
        }
    }
}

fn catalog_source(text: &str) -> Result<CatalogSource, String> {
    let wrong = "expected NAME=PATH or NAMESPACE/NAME=PATH: the name of a Repository, and a Git repository or directory";
    let (repository, path) = text.split_once('=').ok_or(wrong)?;
    let (namespace, name) = match repository.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, repository),
    };
    if namespace == Some("") || name.is_empty() || name.contains('/') || path.is_empty() {
        return Err(wrong.to_owned());
    }
    Ok(CatalogSource {
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
        path: PathBuf::from(path),
    })
}
