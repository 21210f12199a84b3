//! What an expression can read.

use std::fmt;

use crate::variant::text_map::TextMap;

/// A variable of a template's expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    /// The repository name that the target gives.
    RepoDefault,
    /// The package name that the target gives.
    PackageDefault,
    /// The upstream PackageRevision.
    Upstream,
    /// The downstream Repository.
    Repository,
    /// The target.
    Target,
}

impl Variable {
    /// All variables.
    pub const ALL: [Self; 5] = [
        Self::RepoDefault,
        Self::PackageDefault,
        Self::Upstream,
        Self::Repository,
        Self::Target,
    ];

    /// Its name in expressions.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RepoDefault => "repoDefault",
            Self::PackageDefault => "packageDefault",
            Self::Upstream => "upstream",
            Self::Repository => "repository",
            Self::Target => "target",
        }
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The variables of an expression.
#[derive(Debug, Clone, Copy)]
pub struct Variables {
    /// Whether the downstream Repository is known: not while it is being determined.
    pub repository: bool,
    /// What the target is.
    pub target: TargetFields,
}

/// The fields of `target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetFields {
    /// An entry of a list: `repo` and `package`.
    Listed,
    /// An object.
    Object,
}

/// The fields of a listed target.
const LISTED_FIELDS: [&str; 2] = ["repo", "package"];
/// The fields of an object that expressions can read; others could hold secrets.
const OBJECT_FIELDS: [&str; 4] = ["name", "namespace", "labels", "annotations"];

impl Variables {
    /// The variable of this name, if there is one.
    pub(super) fn find(&self, name: &str) -> Option<Variable> {
        let mut all = Variable::ALL.into_iter();
        all.find(|variable| variable.as_str() == name)
            .filter(|variable| self.repository || *variable != Variable::Repository)
    }

    /// The fields of a variable that is a structure.
    pub(super) fn fields(&self, variable: Variable) -> Option<&'static [&'static str]> {
        match (variable, self.target) {
            (Variable::RepoDefault | Variable::PackageDefault, _) => None,
            (Variable::Target, TargetFields::Listed) => Some(&LISTED_FIELDS),
            _ => Some(&OBJECT_FIELDS),
        }
    }
}

/// What expressions can read of an object.
#[derive(Debug, Default)]
pub struct ObjectFields {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace` as it is written; empty if absent.
    pub namespace: String,
    /// `metadata.labels`.
    pub labels: TextMap,
    /// `metadata.annotations`.
    pub annotations: TextMap,
}

/// The value of a variable.
#[derive(Debug, Clone, Copy)]
pub(super) enum Binding<'v> {
    Text(&'v str),
    Object(&'v ObjectFields),
    Listed { repo: &'v str, package: &'v str },
}

impl<'v> Binding<'v> {
    /// The string at a path.
    pub(super) fn field(&self, path: &[String]) -> Option<&'v str> {
        match (*self, path) {
            (Self::Text(text), []) => Some(text),
            (Self::Listed { repo, package }, [name]) => match name.as_str() {
                "repo" => Some(repo),
                "package" => Some(package),
                _ => None,
            },
            (Self::Object(object), [name]) => match name.as_str() {
                "name" => Some(&object.name),
                "namespace" => Some(&object.namespace),
                _ => None,
            },
            (Self::Object(object), [map, key]) => {
                let entries = match map.as_str() {
                    "labels" => &object.labels,
                    _ => &object.annotations,
                };
                let found = entries.iter().rfind(|(name, _)| name == key);
                found.map(|(_, value)| value)
            }
            _ => None,
        }
    }
}
