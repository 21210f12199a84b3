//! The variables and fields that an expression can read.

use krm_core::text_map::TextMap;
use krm_core::word_enum;

word_enum! {
    /// A variable that the expressions of a template can read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Variable {
        /// The repository name that the target provides.
        RepoDefault = "repoDefault",
        /// The package name that the target provides.
        PackageDefault = "packageDefault",
        /// The upstream PackageRevision.
        Upstream = "upstream",
        /// The downstream Repository.
        Repository = "repository",
        /// The target: an object, or an entry of a list.
        Target = "target",
    }
}

/// The variables that an expression may read.
#[derive(Debug, Clone, Copy)]
pub struct Variables {
    /// Whether the downstream Repository is known. It is not while its name is being computed.
    pub repository: bool,
    /// The fields that the target has.
    pub target: TargetFields,
}

/// The form of `target`, which determines its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetFields {
    /// An entry of a list, with `repo` and `package`.
    Listed,
    /// An object, with its name, namespace, labels and annotations.
    Object,
}

const LISTED_FIELDS: [&str; 2] = ["repo", "package"];
/// The fields of an object that expressions can read. Other fields could contain secrets.
const OBJECT_FIELDS: [&str; 4] = ["name", "namespace", "labels", "annotations"];

impl Variables {
    /// The variable of this name; `None` if there is none.
    pub(super) fn find(&self, name: &str) -> Option<Variable> {
        let mut all = Variable::ALL.into_iter();
        all.find(|variable| variable.as_str() == name)
            .filter(|variable| self.repository || *variable != Variable::Repository)
    }

    /// The fields of a variable that is an object; `None` for strings.
    pub(super) fn fields(&self, variable: Variable) -> Option<&'static [&'static str]> {
        match (variable, self.target) {
            (Variable::RepoDefault | Variable::PackageDefault, _) => None,
            (Variable::Target, TargetFields::Listed) => Some(&LISTED_FIELDS),
            _ => Some(&OBJECT_FIELDS),
        }
    }
}

/// The part of an object that expressions can read.
#[derive(Debug, Default)]
pub struct ObjectFields {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace` as written; empty if absent.
    pub namespace: String,
    /// `metadata.labels`.
    pub labels: TextMap,
    /// `metadata.annotations`.
    pub annotations: TextMap,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Binding<'v> {
    Text(&'v str),
    Object(&'v ObjectFields),
    Listed { repo: &'v str, package: &'v str },
}

impl<'v> Binding<'v> {
    /// The string at a path; `None` if there is none.
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
