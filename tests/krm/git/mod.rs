//! Upstreams from Git, with repositories that the real `git` makes.

mod bad_input;
mod dependencies;
mod driver;
mod following;
mod one_file;
mod reading;
mod search;
mod variants;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::running::Outcome;
use crate::running::function;

fn merge_package() -> &'static str {
    function("merge-package")
}

/// A folder with a repository `catalog` and whatever a test puts next to it.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    /// An empty repository; `options` are those of `git init`.
    pub(crate) fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let this = Self { folder };
        let mut arguments = vec!["init", "--quiet", "--initial-branch=main"];
        arguments.extend(options);
        arguments.push("catalog");
        this.git_in("", &arguments);
        this
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.path(path);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        std::fs::write(file, text).expect("a file");
    }

    pub(crate) fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).expect(path)
    }

    /// Runs `git` in a folder; what it prints.
    pub(crate) fn git_in(&self, folder: &str, arguments: &[impl AsRef<OsStr>]) -> String {
        let outcome = self.git_with(folder, arguments, "");
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome.stdout.trim_end().to_owned()
    }

    /// Runs `git` in the repository.
    pub(crate) fn git(&self, arguments: &[impl AsRef<OsStr>]) -> String {
        self.git_in("catalog", arguments)
    }

    /// Runs `git` as nobody in particular, at no time in particular.
    pub(crate) fn git_with(
        &self,
        folder: &str,
        arguments: &[impl AsRef<OsStr>],
        stdin: impl Into<Vec<u8>>,
    ) -> Outcome {
        let mut command = Command::new("git");
        command.current_dir(self.path(folder)).args(arguments);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        for (role, name) in [("AUTHOR", "a"), ("COMMITTER", "c")] {
            command.env(format!("GIT_{role}_NAME"), name);
            command.env(format!("GIT_{role}_EMAIL"), format!("{name}@example.com"));
            command.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
        }
        outcome(command, stdin)
    }

    /// Commits everything in the repository; the commit's id.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs a binary next to the repository.
    pub(crate) fn run(&self, binary: &str, arguments: &[&str]) -> Outcome {
        let mut command = Command::new(binary);
        command.current_dir(self.folder.path()).args(arguments);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_DATE"), "2026-01-02T00:00:00Z");
        }
        outcome(command, "")
    }

    /// Merges the folder `local` with these arguments.
    pub(crate) fn merge(&self, arguments: &[&str]) -> Outcome {
        let mut all = vec!["--package", "local"];
        all.extend(arguments);
        self.run(merge_package(), &all)
    }
}

fn outcome(command: Command, stdin: impl Into<Vec<u8>>) -> Outcome {
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.write_stdin(stdin).output().expect("it runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
    }
}

pub(crate) const KPTFILE: &str =
    "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: nginx # ours\n";

/// A ConfigMap with these two values.
pub(crate) fn map(a: &str, b: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\ndata:\n  a: \"{a}\" # first\n\n  b: \"{b}\"\n"
    )
}

/// A catalog whose package `nginx` has the tags v1 (annotated), v2 and nginx/v3, and whose `a` is the
/// number of the version.
pub(crate) fn catalog(options: &[&str]) -> Folder {
    let folder = Folder::new(options);
    folder.put("catalog/nginx/Kptfile", KPTFILE);
    folder.put("catalog/nginx/notes.txt", "one\n");
    for (number, tag) in [("1", "v1"), ("2", "v2"), ("3", "nginx/v3")] {
        folder.put("catalog/nginx/cm.yaml", map(number, "0"));
        folder.commit(tag);
        let annotated: &[&str] = if number == "1" {
            &["-a", "-m", "first"]
        } else {
            &[]
        };
        folder.git(&[&["tag"], annotated, &[tag]].concat());
    }
    folder
}

/// What a tree of files holds.
pub(crate) fn files_in(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .expect("below")
                    .display()
                    .to_string();
                found.push((name, std::fs::read(&path).expect("a file")));
            }
        }
    }
    found.sort();
    found
}
