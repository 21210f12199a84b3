//! The definition of a function: its name, inputs and step.

use std::ffi::OsStr;
use std::path::Path;

use super::output::Output;
use crate::config::{ConfigKind, Keys, UsageError};
use crate::package::{is_krm_name, is_package_file};
use crate::resource_list::ResourceList;
use crate::results::Results;
use crate::supplied::{Role, Supplied};
use crate::upstream::Sources;
use crate::yaml::NodeRef;

/// A step: edits the items of the list or creates documents from them, and reports results. Its functionConfig is
/// `None` if it is absent, empty or `null`. Resources that are not part of the package are supplied by role. If one
/// of the results is an error, the caller discards all edits.
pub type Step = fn(
    Option<NodeRef<'_>>,
    &mut ResourceList,
    &Supplied,
    &mut Results,
) -> Result<Output, UsageError>;

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
    /// Whether `--package` creates a missing directory.
    pub makes_package: bool,
    /// Merges one file for Git (`--git-merge-driver`); `None` for functions that are not a merge driver.
    pub merge_driver: Option<MergeDriver>,
    /// Whether `--package` names a fleet, which is processed package by package.
    pub is_of_fleets: bool,
    /// Whether `--package` writes to the package. Other functions print their output.
    pub edits: bool,
    /// Whether the documents are files, which `--into DIR` writes.
    pub makes_files: bool,
    /// Whether the results are a review, which `--package` prints to standard output.
    pub reports: bool,
    /// The step that the function runs.
    pub step: Step,
}

impl Function {
    /// The defaults: a function that only has a step. Each function overrides what differs.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        about: "",
        examples: &[],
        configs: &[],
        roles: &[],
        keys: Keys::None,
        uses_schema: false,
        sources: &[],
        makes_package: false,
        merge_driver: None,
        is_of_fleets: false,
        edits: true,
        makes_files: false,
        reports: false,
        step: |_, _, _, _| Ok(Output::Edited),
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
        let is_merge = has(Role::Upstream) && !has(Role::Before) && !self.makes_files;
        is_merge || self.is_of_fleets
    }

    /// Whether the function reads files that are not valid YAML as plain text.
    pub(crate) fn takes_texts(&self) -> bool {
        self.merge_driver.is_some()
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
