//! The definition of a function: its name, inputs and step.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::path::Path;

use clap::{ArgMatches, Command};

use crate::filter::Arguments;
use crate::output::Output;
use crate::supplied::{CatalogSource, Role, Supplied};
use krm_core::config::{ConfigKind, Keys, UsageError};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Results};
use krm_core::upstream_revision::Sources;
use krm_package::escaped::{Markdown, ShownText};
use krm_package::{is_krm_name, is_package_file};
use krm_yaml::NodeRef;

/// A step: edits the items of the list or creates documents from them, and reports results. If one of the results is an
/// error, the caller discards all edits.
pub type Step = fn(StepRun<'_>) -> Result<Output, UsageError>;

/// What a step works with.
#[derive(Debug)]
pub struct StepRun<'r> {
    /// The functionConfig; `None` if it is absent, empty or `null`.
    pub config: Option<NodeRef<'r>>,
    /// The items.
    pub list: &'r mut ResourceList,
    /// Resources that are not part of the package, by role.
    pub supplied: &'r Supplied,
    /// What the step reports.
    pub results: &'r mut Results,
}

/// What a function does with the directory of `--package`.
#[derive(Debug, Clone, Copy)]
pub enum OnPackage {
    /// Edits the files in place.
    Edits,
    /// Edits the files in place, and creates a missing directory.
    EditsOrCreates,
    /// Prints documents, and writes nothing.
    Prints,
    /// Prints documents that are files, or writes them with `--into DIR`.
    PrintsFiles,
    /// Prints the results as a review, and writes nothing.
    Reviews(&'static ReviewFormats),
    /// Processes a fleet, package by package.
    Fleet(&'static dyn FleetProgram),
}

impl OnPackage {
    /// Whether the function writes to the directory.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Edits | Self::EditsOrCreates | Self::Fleet(_))
    }
}

/// A function: the inputs that its program accepts, and the step that it runs.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// The name of the program.
    pub name: &'static str,
    /// One or two sentences for `--help`.
    pub about: &'static str,
    /// Example command lines for `--help`.
    pub examples: &'static [&'static str],
    /// The kinds of config that the function accepts.
    pub configs: &'static [ConfigKind],
    /// The roles that the function accepts, each by a flag, a field of its config, or an annotation.
    pub roles: &'static [Role],
    /// The `KEY=VALUE` arguments that the function accepts.
    pub keys: Keys,
    /// Whether the function accepts `--openapi`, because it uses the schemas of types.
    pub uses_schema: bool,
    /// The sources of its roles in addition to files and directories.
    pub sources: Sources,
    /// What `--package` does with a directory.
    pub on_package: OnPackage,
    /// Merges one file for Git (`--git-merge-driver`); `None` for functions that are not a merge driver.
    pub merge_driver: Option<MergeDriver>,
    /// The step that the function runs.
    pub step: Step,
}

impl Function {
    /// The defaults: a function that only has a step. Each function overrides what differs.
    pub const PLAIN: Self = Self {
        name: "",
        about: "",
        examples: &[],
        configs: &[],
        roles: &[],
        keys: Keys::None,
        uses_schema: false,
        sources: &[],
        on_package: OnPackage::Edits,
        merge_driver: None,
        step: |_| Ok(Output::Edited),
    };

    /// Whether the function accepts this file as a package of one file.
    pub(crate) fn takes_file(&self, file: &Path) -> bool {
        let name = file.file_name().and_then(OsStr::to_str);
        let is_whole = |name: &str| is_krm_name(name) && !is_package_file(name);
        self.merge_driver.is_some() && name.is_some_and(is_whole)
    }

    /// Whether the function merges packages, and so accepts conflict rules.
    pub(crate) fn merges(&self) -> bool {
        let has = |role| self.roles.contains(&role);
        match self.on_package {
            OnPackage::Edits | OnPackage::EditsOrCreates => has(Role::Upstream),
            OnPackage::Fleet(_) => true,
            OnPackage::Prints | OnPackage::PrintsFiles | OnPackage::Reviews(_) => false,
        }
    }

    /// Whether the function reads files that are not valid YAML as plain text.
    pub(crate) fn takes_texts(&self) -> bool {
        self.merge_driver.is_some() || matches!(self.on_package, OnPackage::Reviews(_))
    }
}

/// The three versions of a file that Git gives to its merge driver, and the file's path.
#[derive(Debug, Clone)]
pub struct DriverFiles {
    /// The text of the common ancestor, `%O` in Git; empty if there is none.
    pub original: String,
    /// The text of our branch, `%A` in Git.
    pub local: String,
    /// The text of the branch to merge, `%B` in Git.
    pub upstream: String,
    /// The path in the repository.
    pub path: String,
    /// What conflict markers call local and upstream.
    pub labels: [String; 2],
}

/// The outcome of a merge driver.
#[derive(Debug)]
pub enum DriverOutcome {
    /// The driver merged the resources.
    Merged {
        text: String,
        /// Results to report, conflicts included.
        results: Results,
    },
    /// The driver leaves the file to a merge by lines, with the reason if the user should know it.
    Unmerged(Option<String>),
}

/// Merges one file according to a config.
pub type MergeDriver = fn(&DriverFiles, Option<NodeRef<'_>>) -> Result<DriverOutcome, UsageError>;

/// The forms of a review, and which results belong to it.
#[derive(Debug)]
pub struct ReviewFormats {
    /// For a terminal.
    pub text: fn(&Results) -> ShownText,
    /// For a comment on a pull request.
    pub markdown: fn(&Results) -> Markdown,
    /// Whether a result is part of the review.
    pub is_finding: fn(&FunctionResult) -> bool,
}

/// The program of a function that processes a fleet: its flags, and a run over a directory of packages.
pub trait FleetProgram: Debug + Sync {
    /// Adds its flags to the command line.
    fn with_flags(&self, command: Command) -> Command;

    /// The upstream repositories that the flags name.
    ///
    /// # Errors
    /// [`clap::Error`]: wrong usage.
    fn catalogs(&self, matches: &ArgMatches) -> Result<Vec<CatalogSource>, clap::Error>;

    /// Processes the fleet in the directory of `--package`, and returns the exit code. `None` if the arguments name
    /// neither a directory nor reports: then the function reads a ResourceList.
    ///
    /// # Errors
    /// [`UsageError`]: an input cannot be read, or a report cannot be written.
    fn run(&self, function: &Function, arguments: &Arguments) -> Result<Option<u8>, UsageError>;
}
