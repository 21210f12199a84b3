//! What a function is: a name, its inputs, a step.

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

/// A step: edits the items of the list or makes documents of them, and reports results. It gets the functionConfig from wherever
/// it came, `None` if that is absent, empty or `null`, and resources that are not part of the package by their roles. With an
/// error among its results the caller discards all edits.
pub type Step = fn(
    Option<NodeRef<'_>>,
    &mut ResourceList,
    &Supplied,
    &mut Results,
) -> Result<Output, UsageError>;

/// A function: the name and the inputs of its program, and its step.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Name of the program.
    pub name: &'static str,
    /// One or two sentences for `--help`.
    pub about: &'static str,
    /// Command lines for `--help`.
    pub examples: &'static [&'static str],
    /// The kinds of config that it takes.
    pub configs: &'static [ConfigKind],
    /// The supplied inputs that it takes, each by a flag, a field of its config, or an annotation.
    pub roles: &'static [Role],
    /// The `KEY=VALUE` arguments that it takes.
    pub keys: Keys,
    /// Whether it takes `--openapi`, since it works with the schemas of types.
    pub uses_schema: bool,
    /// What its roles are read from, apart from files and directories.
    pub sources: Sources,
    /// Whether `--package` creates a missing directory.
    pub makes_package: bool,
    /// Merges one file for Git (`--git-merge-driver`).
    pub merge_driver: Option<MergeDriver>,
    /// Whether `--package` names a fleet, whose packages are worked on one by one.
    pub is_of_fleets: bool,
    /// Whether `--package` writes to the package; the others print what they make of it.
    pub edits: bool,
    /// Whether its documents are files, which `--into DIR` writes.
    pub makes_files: bool,
    /// Whether its results are a review, which `--package` prints to standard output.
    pub reports: bool,
    /// What it does.
    pub step: Step,
}

impl Function {
    /// A function with nothing but a step; the others name what they have beyond it.
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

    /// Whether it takes this file as a package by itself.
    pub(crate) fn takes_file(&self, file: &Path) -> bool {
        let name = file.file_name().and_then(OsStr::to_str);
        let is_whole = |name: &str| is_krm_name(name) && !is_package_file(name);
        self.merge_driver.is_some() && name.is_some_and(is_whole)
    }

    /// Whether it merges packages, and so takes rules for conflicts.
    pub(crate) fn merges(&self) -> bool {
        let has = |role| self.roles.contains(&role);
        let is_merge = has(Role::Upstream) && !has(Role::Before) && !self.makes_files;
        is_merge || self.is_of_fleets
    }

    /// Whether a file of a package that is not YAML is text to it.
    pub(crate) fn takes_texts(&self) -> bool {
        self.merge_driver.is_some()
    }
}

/// The three versions of a file that Git's merge driver gets, and its path.
#[derive(Debug, Clone)]
pub struct DriverFiles {
    /// The common ancestor's text, empty if there is none.
    pub original: String,
    /// Our text.
    pub local: String,
    /// Their text.
    pub upstream: String,
    /// The path in the repository.
    pub path: String,
}

/// How a merge driver merged a file.
#[derive(Debug)]
pub enum DriverOutcome {
    /// It merged the resources.
    Merged {
        /// The merged text.
        text: String,
        /// Results to report, conflicts included.
        results: Results,
    },
    /// It leaves the file to a merge of lines; with the reason, if the user should know it.
    Unmerged(Option<String>),
}

/// Merges one file, by a config.
pub type MergeDriver = fn(&DriverFiles, Option<NodeRef<'_>>) -> Result<DriverOutcome, UsageError>;
