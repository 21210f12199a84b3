//! The arguments of `git`, as values: what a run would do can be looked at without a run.
//!
//! ```text
//! fetch --quiet --end-of-options https://e.com/r +refs/tags/v1:refs/tags/v1
//! literals of the program        what data names, as types
//! ```
//!
//! A word before `--end-of-options` is a literal of the program or a path of the user's own. What data names can only be
//! added after it, and only as an [`Address`], a [`CommitId`] or a [`RefName`]; paths follow a `--`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use krm_address::{Address, CommitId, RefName};

/// The flags of a `git` command, before anything that data names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommand {
    options: Vec<OsString>,
    data: Vec<OsString>,
    paths: Vec<OsString>,
}

/// After this word, Git takes nothing for a flag.
const END_OF_OPTIONS: &str = "--end-of-options";

impl GitCommand {
    /// A command with literal words.
    pub fn new(words: &[&'static str]) -> Self {
        Self {
            options: words.iter().map(OsString::from).collect(),
            data: Vec::new(),
            paths: Vec::new(),
        }
    }

    /// Asks a repository for its tags and branches.
    pub fn list_references(address: &Address) -> Self {
        Self::new(&["ls-remote"]).data().address(address).done()
    }

    /// Fetches single tags, branches and commits, without their histories.
    pub fn fetch(address: &Address, references: &[RefName], commits: &[CommitId]) -> Self {
        let mut data = Self::new(FETCH)
            .words(&["--depth=1", "--no-tags"])
            .data()
            .address(address);
        for reference in references {
            data = data.same_reference(reference);
        }
        for commit in commits {
            data = data.commit(commit);
        }
        data.done()
    }

    /// Fetches a tag or branch with its history since a time, in seconds.
    pub fn fetch_since(address: &Address, reference: &RefName, seconds: i64) -> Self {
        let mut command = Self::new(FETCH).words(&["--no-tags"]);
        command
            .options
            .push(format!("--shallow-since={seconds}").into());
        let data = command.data().address(address);
        data.same_reference(reference).done()
    }

    /// Fetches all tags and branches, with their histories.
    pub fn fetch_all(address: &Address, is_shallow: bool) -> Self {
        let unshallow: &[&str] = if is_shallow { &["--unshallow"] } else { &[] };
        let data = Self::new(FETCH).words(&["--tags"]).words(unshallow).data();
        data.address(address)
            .literal("+refs/heads/*:refs/heads/*")
            .done()
    }

    /// Fetches the branches below a name from the remote `origin` of the user's own repository into its remote branches,
    /// and forgets those that are gone there.
    pub fn fetch_own_branches(prefix: &RefName) -> Self {
        let data = Self::new(&["fetch", "--quiet", "--no-tags", "--prune"]).data();
        data.literal("origin")
            .word(&format!(
                "+refs/heads/{prefix}/*:refs/remotes/origin/{prefix}/*"
            ))
            .done()
    }

    /// Adds literal words.
    #[must_use]
    pub fn words(mut self, words: &[&'static str]) -> Self {
        self.options.extend(words.iter().map(OsString::from));
        self
    }

    /// Adds a literal flag with the path of a file or folder of the user's own: `--git-dir=PATH`.
    #[must_use]
    pub fn own_path(mut self, flag: &'static str, path: &Path) -> Self {
        let mut word = OsString::from(flag);
        word.push(path);
        self.options.push(word);
        self
    }

    /// Adds a setting for one run with the path of a file of the user's own, if there is one: `-c include.path=PATH`.
    pub fn own_setting(self, setting: &'static str, path: Option<&Path>) -> Self {
        match path {
            Some(path) => self.words(&["-c"]).own_path(setting, path),
            None => self,
        }
    }

    /// Adds a literal flag with numbers: `-L1,2`.
    #[must_use]
    pub fn numbers(mut self, flag: &'static str, numbers: &[usize]) -> Self {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        self.options
            .push(format!("{flag}{}", numbers.join(",")).into());
        self
    }

    /// Adds a literal flag with a commit of the user's own repository, for the commands that take one in no other way.
    #[must_use]
    pub fn own_commit(mut self, flag: &'static str, commit: &CommitId) -> Self {
        self.options.push(format!("{flag}{commit}").into());
        self
    }

    /// Ends the flags: what follows comes from data.
    pub fn data(self) -> GitData {
        GitData(self)
    }

    /// Adds paths, after a `--`.
    #[must_use]
    pub fn paths<P: AsRef<OsStr>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
        self.paths.push("--".into());
        self.paths.extend(paths);
        self
    }

    /// The words before what comes from data.
    pub fn options(&self) -> &[OsString] {
        &self.options
    }

    /// All arguments, in their order.
    pub fn arguments(&self) -> Vec<&OsStr> {
        let end = (!self.data.is_empty()).then_some(OsStr::new(END_OF_OPTIONS));
        let options = self.options.iter().map(OsString::as_os_str);
        let rest = self.data.iter().chain(&self.paths);
        options
            .chain(end)
            .chain(rest.map(OsString::as_os_str))
            .collect()
    }
}

const FETCH: &[&str] = &[
    "fetch",
    "--progress",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--force",
];

/// A command whose flags are complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitData(GitCommand);

impl GitData {
    /// Adds the address of a repository.
    pub fn address(self, address: &Address) -> Self {
        self.word(address.as_str())
    }

    /// Adds a commit.
    pub fn commit(self, commit: &CommitId) -> Self {
        self.word(commit.as_str())
    }

    /// Adds a commit whose history is left out.
    pub fn without(self, commit: &CommitId) -> Self {
        self.word(&format!("^{commit}"))
    }

    /// Adds the name of a branch.
    pub fn reference(self, name: &RefName) -> Self {
        self.word(name.as_str())
    }

    /// Adds the first parent of a commit.
    pub fn parent_of(self, commit: &CommitId) -> Self {
        self.word(&format!("{commit}^"))
    }

    /// Adds a tag or branch, to be fetched into the one of the same name.
    pub(crate) fn same_reference(self, name: &RefName) -> Self {
        self.word(&format!("+{name}:{name}"))
    }

    /// Adds a file at a commit, by its path from the repository's root.
    pub fn file_at(self, commit: &CommitId, path: &str) -> Self {
        self.word(&format!("{commit}:{path}"))
    }

    /// Adds a file at the last commit, by its path from the repository's root.
    pub fn file_at_head(self, path: &str) -> Self {
        self.word(&format!("HEAD:{path}"))
    }

    /// Adds paths, for the commands that take no `--` before them.
    #[must_use]
    pub fn paths<P: AsRef<OsStr>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
        self.0.data.extend(paths);
        self
    }

    /// Adds a word of the program.
    pub fn literal(self, word: &'static str) -> Self {
        self.word(word)
    }

    /// The command.
    pub fn done(self) -> GitCommand {
        self.0
    }

    fn word(mut self, word: &str) -> Self {
        self.0.data.push(word.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_address::Surroundings;

    fn shown(command: &GitCommand) -> String {
        let words = command.arguments().into_iter();
        let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
        words.join(" ")
    }

    #[test]
    fn names_from_data_follow_the_end_of_options() {
        let address = Address::parse("https://e.com/r", &Surroundings::default());
        let address = address.expect("an address");
        let name = RefName::parse("refs/tags/v1").expect("a name");
        let commit = CommitId::parse(&"ab".repeat(20)).expect("an id");
        let fetch = "fetch --progress --no-write-fetch-head --no-recurse-submodules --force";
        let end = "--end-of-options https://e.com/r";
        for (command, expected) in [
            (
                GitCommand::list_references(&address),
                format!("ls-remote {end}"),
            ),
            (
                GitCommand::fetch(&address, &[name], std::slice::from_ref(&commit)),
                format!("{fetch} --depth=1 --no-tags {end} +refs/tags/v1:refs/tags/v1 {commit}"),
            ),
            (
                GitCommand::fetch_all(&address, true),
                format!("{fetch} --tags --unshallow {end} +refs/heads/*:refs/heads/*"),
            ),
            (
                GitCommand::new(&["log"])
                    .data()
                    .parent_of(&commit)
                    .done()
                    .paths(["-a"]),
                format!("log --end-of-options {commit}^ -- -a"),
            ),
        ] {
            assert_eq!(shown(&command), expected);
        }
    }
}
