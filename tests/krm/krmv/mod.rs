//! `krmv`, with repositories that the real `git` makes.

mod all;
mod arguments;
mod bad_input;
mod blame;
mod field_history;
mod files;
mod functions;
mod get;
mod nightly;
mod overlay;
mod policy;
mod registries;
mod rendering;
mod resolve;
mod review;
mod skill;
mod sources;
mod sources_faults;
mod state;
mod status;
mod terminal;
mod upgrade;

use indoc::indoc;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::git::Folder;
use crate::running::Outcome;

pub(crate) const KRMV: &str = env!("CARGO_BIN_EXE_krmv");

/// A catalog with a package `web` and a work tree `own` next to it.
pub(crate) struct World {
    pub(crate) folder: Folder,
}

/// A Deployment with these values.
pub(crate) fn deployment(replicas: u8, image: &str, limit: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app\nspec:\n  replicas: {replicas}\n  \
         template:\n    spec:\n      containers:\n      - name: app\n        image: {image}\n        \
         resources:\n          limits:\n            memory: {limit}\n"
    )
}

pub(crate) const SERVICE: &str = indoc! {"
        apiVersion: v1
        kind: Service
        metadata:
          name: app
        spec:
          type: ClusterIP
    "};

impl World {
    /// Releases v1.0.0 (1 replica, 64Mi), v1.1.0 (image 2, notes), v2.0.0 (2 replicas, 128Mi), v3.0.0-rc.1.
    pub(crate) fn new() -> Self {
        let folder = Folder::new(&[]);
        let world = Self { folder };
        world.release("v1.0.0", &deployment(1, "app:1", "64Mi"), SERVICE);
        world.release("v1.1.0", &deployment(1, "app:2", "64Mi"), SERVICE);
        let service = SERVICE.replace("ClusterIP", "NodePort");
        world.release("v2.0.0", &deployment(2, "app:3", "128Mi"), &service);
        world.release("v3.0.0-rc.1", &deployment(9, "app:9", "9Mi"), &service);
        std::fs::create_dir(world.folder.path("own")).expect("a folder");
        world
            .folder
            .git_in("own", &["init", "--quiet", "--initial-branch=main"]);
        world
    }

    /// Commits and tags a revision.
    pub(crate) fn release(&self, tag: &str, deployment: &str, service: &str) {
        self.folder.put("catalog/web/app.yaml", deployment);
        self.folder.put("catalog/web/service.yaml", service);
        self.folder.put("catalog/web/notes.txt", format!("{tag}\n"));
        self.folder.commit(tag);
        self.folder.git(&["tag", "-a", "-m", tag, tag]);
    }

    /// Moves the directory `web` to `shop`, with another deployment, and tags v4.0.0.
    pub(crate) fn move_to_shop(&self, deployment: &str) {
        self.folder.git(&["mv", "web", "shop"]);
        self.folder.put("catalog/shop/app.yaml", deployment);
        self.folder.commit("move");
        self.folder.git(&["tag", "v4.0.0"]);
    }

    /// A world with the package `own/web` at v1.0.0, committed.
    pub(crate) fn with_package() -> Self {
        let world = Self::new();
        let outcome = world.krmv(&["get", "../catalog//web@v1.0.0"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        world.commit("get");
        world
    }

    /// The same with edits that conflict with v2.0.0: replicas and memory.
    pub(crate) fn edited() -> Self {
        let world = Self::with_package();
        world.edit_app();
        world
    }

    /// Commits edits of replicas and memory.
    pub(crate) fn edit_app(&self) {
        let text = self.read("web/app.yaml");
        let text = text
            .replace("replicas: 1", "replicas: 5 # by load")
            .replace("64Mi", "256Mi");
        self.write("web/app.yaml", &text);
        self.commit("edits");
    }

    /// The same with the upgrade to v2.0.0 begun.
    pub(crate) fn open() -> Self {
        let world = Self::edited();
        let outcome = world.krmv(&["upgrade", "web", "v2.0.0"]);
        outcome.assert_code(1);
        world
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path("own").join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        self.folder.get(&format!("own/{path}"))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.folder.put(&format!("own/{path}"), text);
    }

    /// Commits everything in the work tree.
    pub(crate) fn commit(&self, message: &str) {
        self.folder.git_in("own", &["add", "--all"]);
        self.folder.git_in(
            "own",
            &["commit", "--quiet", "--allow-empty", "-m", message],
        );
    }

    /// Runs the program in the work tree.
    pub(crate) fn krmv(&self, arguments: &[&str]) -> Outcome {
        self.krmv_in("own", arguments)
    }

    pub(crate) fn krmv_in(&self, folder: &str, arguments: &[&str]) -> Outcome {
        let mut command = self.command(Path::new(KRMV));
        command
            .current_dir(self.folder.path(folder))
            .args(arguments);
        let outcome = outcome(command);
        check_hints(&outcome);
        outcome
    }

    /// A program with an environment of its own.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path("own"));
        command.env("XDG_CACHE_HOME", self.folder.path("cache"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "someone");
            command.env(format!("GIT_{role}_EMAIL"), "someone@example.com");
        }
        command
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .env_remove("EDITOR")
            .env_remove("VISUAL");
        command
    }

    /// Runs a hint as a shell would, with the program on PATH.
    pub(crate) fn shell(&self, line: &str) -> Outcome {
        let folder = Path::new(KRMV).parent().expect("a folder");
        let path = std::env::var("PATH").expect("a PATH");
        let mut command = self.command(Path::new("sh"));
        command.args(["-c", line]);
        command.env("PATH", format!("{}:{path}", folder.display()));
        outcome(command)
    }

    /// What `--json` prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let outcome = self.krmv(&[arguments, &["--json"]].concat());
        serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", outcome.stdout, outcome.stderr))
    }

    /// The commit of a tag.
    pub(crate) fn commit_of(&self, tag: &str) -> String {
        self.folder
            .git(&["rev-parse", &format!("{tag}^{{commit}}")])
    }
}

pub(crate) fn outcome(mut command: Command) -> Outcome {
    let output = command.output().expect("it runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
    }
}

/// The commands of the lines that begin with `hint: `.
pub(crate) fn hints(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("hint: "))
        .collect()
}

/// The words of a command line as a shell splits it. `None` if it has characters that are written as escapes.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let word = words.last_mut()?;
        match character {
            '$' if !is_quoted => return None,
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => word.extend(characters.next()),
            ' ' if !is_quoted => words.push(String::new()),
            _ => word.push(character),
        }
    }
    Some(words)
}

/// Each command of `krmv` that a run names must be one that `krmv` accepts.
#[track_caller]
fn check_hints(outcome: &Outcome) {
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    for hint in hints(&text) {
        let Some(words) = shell_words(hint) else {
            continue;
        };
        for command in words.split(|word| word == "&&") {
            let is_krmv = command.first().is_some_and(|word| word == "krmv");
            assert!(!is_krmv || krmv::accepts(command), "not accepted: {hint}");
        }
    }
}

/// A program on PATH; tests that run next to another program pass without it.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}
