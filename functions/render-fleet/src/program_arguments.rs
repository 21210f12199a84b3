//! The flags of a function that works on a fleet.

use std::path::PathBuf;

use clap::{Args, value_parser};

use crate::fleet::Shard;
use krm_function::filter::{INPUTS, PACKAGE, RESULTS};
use krm_function::supplied::CatalogSource;

/// The id of a group of flags. `--report` requires at least one of them, because each gives it something to report.
pub(super) const REPORTED: &str = "reported";

// Comments of the fields are the text of `--help`. A comment of the struct would replace the function's description
// there.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(super) struct FleetArguments {
    #[arg(
        id = "catalog", long, value_name = "NAME=PATH", value_parser = catalog_source, help_heading = INPUTS,
        help = "A catalog: a Git repository, or a directory of <package>/<revision>/; repeatable; NAMESPACE/NAME=PATH for one namespace"
    )]
    pub(super) catalogs: Vec<CatalogSource>,
    /// Work on share I of N of the fleet; the first is 0
    #[arg(long, value_name = "I/N", requires = "package", help_heading = PACKAGE, hide_short_help = true)]
    pub(super) shard: Option<Shard>,
    /// How many variants to work on at a time (default: one for each core)
    #[arg(long, short, value_name = "N", value_parser = value_parser!(u16).range(1..), requires = "package", help_heading = PACKAGE, hide_short_help = true)]
    pub(super) jobs: Option<u16>,
    /// Commit changes to drafts/ branches; leave work trees unchanged
    #[arg(long, requires = "package", help_heading = PACKAGE)]
    pub(super) drafts: bool,
    /// Write the `status` of PackageVariants that were read from directories
    #[arg(long, requires = "package", help_heading = PACKAGE, hide_short_help = true)]
    pub(super) status: bool,
    /// Write a report: FILE.html for a page, FILE.json for data
    #[arg(id = "report", long, value_name = "FILE", requires = REPORTED, help_heading = RESULTS)]
    pub(super) reports: Vec<PathBuf>,
    /// Write a text into the head of the report, such as the date and the revision of the fleet
    #[arg(id = "report-title", long, value_name = "TEXT", requires = "report", help_heading = RESULTS, hide_short_help = true)]
    pub(super) title: Option<String>,
    /// Combine the reports (or --results) of shards, or all reports in a directory, into --report
    #[arg(
        id = "join", long, value_name = "PATH", num_args = 1.., requires = "report",
        conflicts_with_all = ["package", "config", "results"], help_heading = INPUTS, hide_short_help = true
    )]
    pub(super) joined: Vec<PathBuf>,
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
