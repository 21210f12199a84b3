//! What a function is: a name, its inputs, a step.

use super::driver::MergeDriver;
use crate::config::{Keys, UsageError};
use crate::git;
use crate::resource_list::ResourceList;
use crate::results::Results;
use crate::supplied::{Role, Supplied};
use crate::yaml::NodeRef;

/// What a step works with.
#[derive(Debug)]
pub struct Run<'r> {
    /// The functionConfig, from wherever it came; `None` if it is absent, empty or `null`.
    pub config: Option<NodeRef<'r>>,
    /// The items; what the step changes.
    pub list: &'r mut ResourceList,
    /// Resources that are not part of the package, by role.
    pub supplied: &'r Supplied,
    /// What is said of it. Error results stand for "nothing shall be changed".
    pub results: &'r mut Results,
}

/// A step: changes the list, reports results.
pub type Step = fn(Run<'_>) -> Result<(), UsageError>;

/// A function: what its binary is called and does.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Name of the binary.
    pub name: &'static str,
    /// One or two sentences for `--help`.
    pub about: &'static str,
    /// The supplied inputs that it takes, each by a flag, a field of its config, or an annotation.
    pub roles: &'static [Role],
    /// The `KEY=VALUE` arguments that it takes.
    pub keys: Keys,
    /// Whether it takes `--openapi`, since it works with the schemas of types.
    pub uses_schema: bool,
    /// How flags of roles are read that name a directory of a Git repository. A function without
    /// is linked without the code for it.
    pub git: Option<git::Reader>,
    /// How it merges one file for Git (`--git-merge-driver`).
    pub merge_driver: Option<MergeDriver>,
    /// What it does.
    pub step: Step,
}

impl Function {
    /// Whether it merges packages, and so takes rules for conflicts.
    pub(crate) fn merges(&self) -> bool {
        self.roles.contains(&Role::Upstream)
    }
}
