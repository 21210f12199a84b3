//! What upstream may bring into a package. Clones and merges of every kind of source ask this module, and nothing else.
//!
//! ```text
//! deployment.yaml             comes
//! .krmv.yaml, web/.krmv/a     never comes: these are the decisions of upstream's own copy
//! .krm-variants-x.tmp         never comes: a temporary file or journal of this program
//! tools/HEAD                  do not come together: a folder with these three is a Git repository, and Git runs what
//! tools/objects/a             the configuration in it names
//! tools/refs/b
//! tools/config                comes
//! deploy.sh (executable)      comes, and is named, because a person or a program may run it
//! .gitlab-ci.yml
//! ```
//!
//! Names are compared as the most careless file system compares them: see [`folded`](super::path::folded).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::file_name;
use super::files::Package;
use super::listing::{SkipReason, Skipped};
use super::path::folded;
use super::temporary::is_temporary;

/// The file and the folder with a user's decisions about a package.
const SETTINGS: [&str; 2] = [".krmv.yaml", ".krmv"];

/// Whether a file of a package is about the package: a user's policy, or what krmv keeps for it.
pub fn is_setting(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or(path);
    SETTINGS.contains(&first)
}

/// What upstream may bring, decided for all paths that a package will have.
#[derive(Debug, Default)]
pub struct Incoming {
    /// The folders in the shape of a Git repository, folded.
    repositories: BTreeSet<String>,
}

/// A path, or the folder around it, that upstream must not bring.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedPath {
    pub path: String,
    pub reason: SkipReason,
}

/// The names in a folder that make it a repository for Git.
#[derive(Debug, Clone, Copy, Default)]
struct RepositoryNames {
    head: bool,
    objects: bool,
    refs: bool,
    /// A work tree's private folder. The file names a folder with the other two.
    common: bool,
}

impl RepositoryNames {
    /// Adds a folded name; false if it is none of these names.
    fn add(&mut self, name: &str) -> bool {
        let place = match name {
            "head" => &mut self.head,
            "objects" => &mut self.objects,
            "refs" => &mut self.refs,
            "commondir" => &mut self.common,
            _ => return false,
        };
        *place = true;
        true
    }

    fn are_a_repository(self) -> bool {
        self.head && (self.common || self.objects && self.refs)
    }
}

impl Incoming {
    /// Decides for these paths: those of upstream, and those that are in the package already.
    pub fn of<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut folders: BTreeMap<String, RepositoryNames> = BTreeMap::new();
        for path in paths {
            for (folder, name, _) in steps(path).filter(|(_, name, _)| is_noteworthy(name)) {
                let name = folded(name);
                if RepositoryNames::default().add(&name) {
                    folders.entry(folded_path(folder)).or_default().add(&name);
                }
            }
        }
        folders.retain(|_, names| names.are_a_repository());
        Self {
            repositories: folders.into_keys().collect(),
        }
    }

    /// Why upstream must not bring a file; `None` if it may.
    pub fn refusal(&self, path: &str) -> Option<RefusedPath> {
        let mut steps = steps(path).filter(|(_, name, _)| is_noteworthy(name));
        steps.find_map(|(folder, name, end)| {
            let name = folded(name);
            let reason = if SETTINGS.contains(&name.as_str()) {
                SkipReason::Decisions
            } else if is_temporary(&name) {
                SkipReason::OwnTemporary
            } else if RepositoryNames::default().add(&name)
                && self.repositories.contains(&folded_path(folder))
            {
                SkipReason::RepositoryShape
            } else {
                return None;
            };
            let path = path[..end].to_owned();
            Some(RefusedPath { path, reason })
        })
    }
}

impl Package {
    /// The package without what upstream must not bring, which counts as skipped.
    #[must_use]
    pub fn without_refused(mut self) -> Self {
        let incoming = Incoming::of(self.known_paths());
        let refused: BTreeSet<RefusedPath> = self
            .files()
            .filter_map(|(path, _)| incoming.refusal(path))
            .collect();
        if refused.is_empty() {
            return self;
        }
        let skipped = refused.into_iter();
        let skipped = skipped.map(|RefusedPath { path, reason }| Skipped { path, reason });
        self.skipped.extend(skipped);
        self.skipped.sort();
        self.without(|path| incoming.refusal(path).is_some())
    }

    /// All paths, including files that were not read.
    pub fn known_paths(&self) -> impl Iterator<Item = &str> {
        let ignored = self.ignored.iter().map(String::as_str);
        let skipped = self.skipped.iter().map(|skipped| skipped.path.as_str());
        let files = self.files().map(|(path, _)| path);
        files.chain(ignored).chain(skipped)
    }
}

/// The folders and files that a path leads through: the folder around each, its name, and where it ends in the path.
fn steps(path: &str) -> impl Iterator<Item = (&str, &str, usize)> {
    let separators = path.match_indices(['/', '\\']).map(|(at, _)| at);
    let ends = separators.chain([path.len()]);
    let mut start = 0;
    ends.map(move |end| {
        let step = (&path[..start], &path[start..end], end);
        start = (end + 1).min(path.len());
        step
    })
}

/// Whether a name may be one that is refused: most names are not even folded.
fn is_noteworthy(name: &str) -> bool {
    let first = name.bytes().next().unwrap_or_default();
    b".hHoOrRcC".contains(&first) || !first.is_ascii()
}

fn folded_path(path: &str) -> String {
    let components = path.split(['/', '\\']).filter(|part| !part.is_empty());
    components.map(folded).collect::<Vec<_>>().join("/")
}

/// What runs a file, or what a file makes a program run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunBy {
    /// Git's attributes and submodules name drivers and repositories.
    Git,
    /// A CI service, or a tool that runs when a folder is entered or a commit is made.
    Service,
    /// A person or a program: the file is executable.
    Anyone,
}

impl RunBy {
    /// What runs a file of upstream; `None` if the file is only read.
    pub fn of(path: &str, mode: Option<u32>) -> Option<Self> {
        let path = folded_path(path);
        let name = file_name(&path);
        let is_below = |folder: &&str| {
            path.strip_prefix(*folder)
                .is_some_and(|rest| rest.starts_with('/'))
                || path.contains(&format!("/{folder}/"))
        };
        match name {
            ".gitattributes" | ".gitmodules" | ".gitconfig" => Some(Self::Git),
            name if SERVICE_FILES.contains(&name) => Some(Self::Service),
            _ if SERVICE_FOLDERS.iter().any(is_below) => Some(Self::Service),
            _ if mode.is_some_and(|mode| mode & 0o111 != 0) => Some(Self::Anyone),
            _ => None,
        }
    }
}

impl fmt::Display for RunBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            RunBy::Git => "settings of Git",
            RunBy::Service => "workflows and hooks",
            RunBy::Anyone => "executables",
        })
    }
}

/// Files that CI services and tools of developers run, folded.
const SERVICE_FILES: [&str; 24] = [
    ".appveyor.yml",
    ".cirrus.yml",
    ".drone.yml",
    ".envrc",
    ".gitlab-ci.yaml",
    ".gitlab-ci.yml",
    ".lefthook.yml",
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yaml",
    ".semaphore.yml",
    ".travis.yml",
    ".woodpecker.yaml",
    ".woodpecker.yml",
    "appveyor.yml",
    "azure-pipelines.yaml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "cloudbuild.yml",
    "codefresh.yml",
    "jenkinsfile",
    "lefthook.yml",
    "wercker.yml",
];

/// Folders whose files CI services and tools of developers run, folded.
const SERVICE_FOLDERS: [&str; 14] = [
    ".buildkite",
    ".circleci",
    ".devcontainer",
    ".forgejo/workflows",
    ".gitea/workflows",
    ".github/actions",
    ".github/workflows",
    ".gitlab/ci",
    ".husky",
    ".semaphore",
    ".tekton",
    ".vscode",
    ".woodpecker",
    ".azure-pipelines",
];

#[cfg(test)]
mod tests {
    use super::super::testing::put;
    use super::*;

    fn refused(paths: &[&str]) -> Vec<String> {
        let incoming = Incoming::of(paths.iter().copied());
        let refused = paths.iter().filter_map(|path| incoming.refusal(path));
        let refused: BTreeSet<_> = refused.map(|refused| refused.path).collect();
        refused.into_iter().collect()
    }

    #[test]
    fn decisions_and_temporary_files_never_arrive_from_upstream() {
        for (path, place) in [
            (".krmv.yaml", ".krmv.yaml"),
            ("a/b/.krmv.yaml", "a/b/.krmv.yaml"),
            (".KRMV.yaml", ".KRMV.yaml"),
            (".krmv.yaml.", ".krmv.yaml."),
            (".kr\u{200b}mv.yaml", ".kr\u{200b}mv.yaml"),
            ("a/.krmv/b/c.yaml", "a/.krmv"),
            (".krmv", ".krmv"),
            ("a\\.krmv.yaml", "a\\.krmv.yaml"),
            (".krm-variants-journal.tmp", ".krm-variants-journal.tmp"),
            ("a/.krm-variants-x.tmp/b", "a/.krm-variants-x.tmp"),
            (".KRM-variants-x.TMP", ".KRM-variants-x.TMP"),
        ] {
            assert_eq!(refused(&[path]), [place], "{path}");
        }
        let table = ["krmv.yaml", ".krmv.yml", "a.krmv.yaml", ".krmvx/a", "a.tmp"];
        assert_eq!(refused(&table), Vec::<String>::new());
    }

    #[test]
    fn names_that_make_a_repository_never_arrive_together() {
        for (paths, places) in [
            (
                &["HEAD", "objects/a", "refs/b", "config", "hooks/post-commit"][..],
                &["HEAD", "objects", "refs"][..],
            ),
            (
                &["a/HEAD", "a/objects/a/b", "a/refs/b", "objects/c", "b/HEAD"],
                &["a/HEAD", "a/objects", "a/refs"],
            ),
            // Without regard to case, and an executable file counts as a folder for Git.
            (
                &["A/head", "a/Objects", "a/REFS/x"],
                &["A/head", "a/Objects", "a/REFS"],
            ),
            // As in the private folder of a second work tree.
            (
                &["x/HEAD", "x/commondir", "x/config"],
                &["x/HEAD", "x/commondir"],
            ),
            (&["x/HEAD", "x/objects/a", "y/refs/b"], &[]),
            (&["refs/heads/main", "objects/a", "HEADER"], &[]),
        ] {
            assert_eq!(refused(paths), places, "{paths:?}");
        }
    }

    /// Git itself says which folders are repositories.
    #[test]
    fn a_former_repository_without_the_refused_files_is_not_a_repository() {
        let is_repository = |folder: &std::path::Path| {
            let mut git = std::process::Command::new("git");
            git.args(["rev-parse", "--resolve-git-dir"]).arg(folder);
            git.output().expect("git runs").status.success()
        };
        let names = [
            "HEAD",
            "objects/x",
            "refs/x",
            "commondir",
            "config",
            "gitdir",
        ];
        let mut repositories = 0;
        for chosen in 0..1_u32 << names.len() {
            let all = names.iter().enumerate();
            let chosen = all.filter(|(at, _)| chosen & (1 << at) != 0);
            let paths: Vec<&str> = chosen.map(|(_, name)| *name).collect();
            let incoming = Incoming::of(paths.iter().copied());
            let put = |is_taken: &dyn Fn(&str) -> bool| {
                let folder = tempfile::tempdir().expect("a folder");
                // The folder that `commondir` names.
                let common = folder.path().join("common");
                for name in ["objects", "refs"] {
                    std::fs::create_dir_all(common.join(name)).expect("a folder");
                }
                for path in paths.iter().filter(|path| is_taken(path)) {
                    let text = match *path {
                        "HEAD" => "ref: refs/heads/main\n",
                        "commondir" => "common\n",
                        _ => "",
                    };
                    put(folder.path(), path, text);
                }
                folder
            };
            repositories += u32::from(is_repository(put(&|_| true).path()));
            let folder = put(&|path| incoming.refusal(path).is_none());
            assert!(!is_repository(folder.path()), "{paths:?}");
        }
        assert_eq!(repositories, 20);
    }

    #[test]
    fn files_that_run_somewhere_are_recognized() {
        for (path, mode, by) in [
            (".gitattributes", 0o644, Some(RunBy::Git)),
            ("a/.gitmodules", 0o644, Some(RunBy::Git)),
            (".github/workflows/a.yaml", 0o644, Some(RunBy::Service)),
            ("sub/.GitHub/Workflows/a.yaml", 0o644, Some(RunBy::Service)),
            (".gitlab-ci.yml", 0o644, Some(RunBy::Service)),
            ("Jenkinsfile", 0o644, Some(RunBy::Service)),
            ("run.sh", 0o755, Some(RunBy::Anyone)),
            ("run.sh", 0o644, None),
            (".github/CODEOWNERS", 0o644, None),
            ("x.github/workflows/a.yaml", 0o644, None),
            ("deployment.yaml", 0o644, None),
        ] {
            assert_eq!(RunBy::of(path, Some(mode)), by, "{path}");
        }
        assert_eq!(RunBy::of("deployment.yaml", None), None);
    }
}
