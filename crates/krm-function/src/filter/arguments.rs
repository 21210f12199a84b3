//! The arguments of every function.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Parser, ValueEnum};

use super::flags::{INPUTS, PACKAGE, RESULTS};
use crate::supplied::{CatalogSource, Role};
use krm_package::escaped::StandardStream;

/// Flags of every function.
#[derive(Debug, Parser)]
#[command(
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    max_term_width = 80
)]
pub struct Arguments {
    /// Read the functionConfig from a file; it takes precedence over the one in the ResourceList
    #[arg(long, value_name = "FILE", conflicts_with = "pairs", help_heading = INPUTS)]
    pub config: Option<PathBuf>,
    /// Work on a package directory in place, not on standard input
    #[arg(long, value_name = "DIR", help_heading = PACKAGE)]
    pub package: Option<PathBuf>,
    /// Write nothing, print a unified diff
    #[arg(long, requires = "package", help_heading = PACKAGE)]
    pub diff: bool,
    /// Write nothing, exit with 3 if anything would change
    #[arg(long, requires = "package", help_heading = PACKAGE)]
    pub check: bool,
    /// Also write a FunctionResultList to a file; `-`: to standard output, with --package
    #[arg(long, value_name = "FILE", help_heading = RESULTS, hide_short_help = true)]
    pub results: Option<PathBuf>,
    /// How results are printed on standard error; json: one document
    #[arg(long, value_name = "FORM", default_value = "text", help_heading = RESULTS, hide_short_help = true)]
    pub output: ResultsFormat,
    /// Colours of results and of --diff; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = RESULTS, hide_short_help = true)]
    pub color: Color,
    /// Print errors and warnings only
    #[arg(short, long, conflicts_with = "verbose", help_heading = RESULTS, hide_short_help = true)]
    pub quiet: bool,
    /// Also print each step, with counts and time
    #[arg(short, long, help_heading = RESULTS, hide_short_help = true)]
    pub verbose: bool,
    /// The functionConfig as the data of a ConfigMap
    #[arg(value_name = "KEY=VALUE")]
    pub pairs: Vec<String>,
    /// Files and directories for the function's roles.
    #[arg(skip)]
    pub supplied: Vec<(Role, PathBuf)>,
    /// An OpenAPI document with more types.
    #[arg(skip)]
    pub openapi: Option<PathBuf>,
    /// A file with rules for conflicts.
    #[arg(skip)]
    pub conflicts: Option<PathBuf>,
    /// The files that Git names for its merge driver.
    #[arg(skip)]
    pub merged_files: Vec<PathBuf>,
    /// The upstream repositories of a fleet.
    #[arg(skip)]
    pub catalogs: Vec<CatalogSource>,
    /// What clap found, for the flags that only a fleet has.
    #[arg(skip)]
    pub matches: ArgMatches,
    /// The command line of a fleet, as a shell reads it.
    #[arg(skip)]
    pub command: String,
    /// Whether conflicts have an exit code of their own.
    #[arg(skip)]
    pub exit_conflicts: bool,
    /// What a review looks like.
    #[arg(skip)]
    pub format: Option<ReportFormat>,
    /// The directory for the files that the function makes.
    #[arg(skip)]
    pub into: Option<PathBuf>,
}

/// What a review looks like on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    Text,
    Markdown,
    Json,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResultsFormat {
    Text,
    Json,
}

/// When output has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether output to this stream is coloured.
    pub fn is_on(self, stream: StandardStream) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => !set("NO_COLOR") && stream.is_terminal(),
        }
    }
}

impl Arguments {
    /// Whether the results are printed to standard output.
    pub(crate) fn prints_results(&self) -> bool {
        self.results.as_deref() == Some(Path::new("-"))
    }
}
