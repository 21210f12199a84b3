//! The commit of one upgrade, made by the user's own `git commit`.
//!
//! ```text
//! apps/web: upgrade v1.0.0 to v1.1.0
//!
//! the review, and what is undecided
//!
//! Krmv-Upgrade: v1.0.0..v1.1.0
//! Krmv-Digest: 0f3c...
//! ```
//!
//! A branch may be replaced only if krmv made its commits and no one changed them. So a commit on a branch is *sealed*: its
//! last line is a digest of its tree, its committer and the rest of its message.

use std::fmt::Write;

use krm_address::CommitId;
use krm_package::FileChange;
use krm_package::escaped::{Markdown, ShownLine};
use krm_upstream::git::GitCommand;

use super::super::client::{self, Place};
use super::super::conflict::{ReportedConflict, VERSIONS};
use super::super::failure::{Failure, Result, command};
use super::super::own_repository::OwnRepository;
use super::super::package::{Contents, LocalPackage};
use super::super::print::counted;
use super::outcome::PackageOutcome;

const TRAILER: &str = "Krmv-Upgrade: ";
const SEAL: &str = "Krmv-Digest: ";

/// The message of a commit.
pub(super) struct CommitMessage(String);

impl CommitMessage {
    pub(super) fn of(outcome: &PackageOutcome, package: &LocalPackage) -> Self {
        let inner = package.repository.as_ref().map(OwnRepository::inner);
        let inner = inner.unwrap_or_default();
        let path = if inner.is_empty() {
            package.label()
        } else {
            inner.clone()
        };
        let unknown = || "an unknown revision".to_owned();
        let from = outcome.from.clone().unwrap_or_else(unknown);
        let to = outcome.to.clone().unwrap_or_else(unknown);
        let subject = format!("{path}: upgrade {from} to {to}");
        let subject = ShownLine::of(&[&subject]);
        let mut body = outcome.review.trim_end().to_owned();
        if outcome.conflicts > 0 {
            let next = command([
                "krmv",
                "resolve",
                if inner.is_empty() { "." } else { &inner },
            ]);
            let next = ShownLine::of(&[&"Decide them here: ", &next]);
            body = format!("{body}\n\n{}", next.as_str());
        }
        let step = ShownLine::of(&[&from, &"..", &to]);
        let (subject, step) = (subject.as_str(), step.as_str());
        Self(format!("{subject}\n\n{body}\n\n{TRAILER}{step}\n"))
    }
}

impl CommitMessage {
    pub(super) fn subject(&self) -> &str {
        self.0.lines().next().unwrap_or_default()
    }
}

/// The undecided conflicts as a list.
pub(super) fn undecided(open: &[ReportedConflict]) -> Markdown {
    if open.is_empty() {
        return Markdown::default();
    }
    let count = counted(open.len(), "conflict");
    let mut list = Markdown::literal("### Undecided: ") + Markdown::text(count) + "\n\n";
    for conflict in open {
        let line = conflict.line().map(|line| format!(":{line}"));
        let place = format!("{}{}", conflict.file(), line.unwrap_or_default());
        let names = [conflict.resource_name(), conflict.path().map(str::to_owned)];
        let names: Vec<String> = names.into_iter().flatten().collect();
        let mut values = String::new();
        for (name, value) in VERSIONS.into_iter().zip(conflict.values()) {
            let separator = if values.is_empty() { "" } else { ", " };
            // Writing to a String does not fail.
            let _ = write!(values, "{separator}{name} {}", value.unwrap_or("none"));
        }
        list = list + "- " + Markdown::code(place) + " " + Markdown::text(names.join(" "));
        list = list + ": " + Markdown::text(values) + "\n";
    }
    list
}

/// Refuses a repository in which a merge is not finished: Git commits no single paths there.
pub(super) fn refuse_unfinished_merge(package: &LocalPackage) -> Result<()> {
    let verify = GitCommand::new(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]);
    if client::line(Place::Own(repository(package)?), &verify)?.is_none() {
        return Ok(());
    }
    let message = "a merge is not finished in the repository; commit it or abort it first";
    Err(Failure::new(message).hint(package.git_command(&["status"])))
}

/// Commits the changes of a package, and nothing else that is staged. If a hook refuses, the files stay as they are.
pub(super) fn commit(
    package: &LocalPackage,
    changes: &[FileChange],
    merged: &Contents,
    message: &CommitMessage,
) -> Result<CommitId> {
    let repository = repository(package)?;
    let folder = tempfile::tempdir()?;
    let [text, all, new] = ["message", "all", "new"].map(|name| folder.path().join(name));
    std::fs::write(&text, &message.0)?;
    let paths = |prefix: &str, is_meant: &dyn Fn(&str) -> bool| {
        let paths = changes
            .iter()
            .map(FileChange::path)
            .filter(|path| is_meant(path));
        let paths = paths.map(|path| repository.path_below_root(path));
        let lines = paths.map(|path| format!("{prefix}{}\0", path.to_string_lossy()));
        lines.collect::<String>()
    };
    std::fs::write(&all, paths(":(literal)", &|_| true))?;
    let is_new = |path: &str| merged.contains_key(path) && !package.contents.contains_key(path);
    let added = paths("", &is_new);
    std::fs::write(&new, &added)?;
    let place = Place::Own(repository);
    let of_new = |words: &[&'static str]| {
        let command = GitCommand::new(words).own_path("--pathspec-from-file=", &new);
        client::text(place, &command.words(&["--pathspec-file-nul"]))
    };
    if !added.is_empty() {
        // The package is not whole without a file that Git ignores.
        of_new(&["add", "--intent-to-add", "--force"])?;
    }
    let words = ["commit", "--quiet", "--only", "--cleanup=whitespace"];
    let commit = GitCommand::new(&words)
        .own_path("--file=", &text)
        .own_path("--pathspec-from-file=", &all)
        .words(&["--pathspec-file-nul"]);
    let output = client::output(Place::Commit(repository), &commit)?;
    if !output.status.success() {
        if !added.is_empty() {
            of_new(&["reset", "--quiet"])?;
        }
        let message = format!(
            "`git commit` refused the upgrade: {}",
            client::message(&output)
        );
        return Err(Failure::new(message));
    }
    head(repository)
}

fn repository(package: &LocalPackage) -> Result<&OwnRepository> {
    package.repository.as_ref().ok_or_else(|| {
        let message = format!("'{}' is not in a Git work tree", package.name());
        Failure::new(message).hint(package.command(&["upgrade"]))
    })
}

/// The last commit of a repository.
pub(super) fn head(repository: &OwnRepository) -> Result<CommitId> {
    let verify = GitCommand::new(&["rev-parse", "--verify", "--quiet"]).data();
    let id = client::line(
        Place::Own(repository),
        &verify.literal("HEAD^{commit}").done(),
    )?;
    let id = id.ok_or_else(|| Failure::new("the repository has no commit").hint("git status"))?;
    Ok(CommitId::parse(&id)?)
}

/// Seals the last commit of a package's repository.
pub(super) fn seal(package: &LocalPackage) -> Result<CommitId> {
    let repository = repository(package)?;
    let last = head(repository)?;
    let made = MadeCommit::read(repository, &last, None)?;
    let made = made
        .first()
        .ok_or_else(|| Failure::new("expected a commit, found none"))?;
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("message");
    let message = made.message.trim_end();
    std::fs::write(
        &text,
        format!("{message}\n{SEAL}{}\n", made.digest(message)),
    )?;
    // The hooks have seen the commit.
    let words = [
        "-c",
        "core.hooksPath=/dev/null",
        "commit",
        "--amend",
        "--quiet",
    ];
    let amend = GitCommand::new(&words).words(&["--cleanup=verbatim"]);
    client::text(Place::Own(repository), &amend.own_path("--file=", &text))?;
    head(repository)
}

/// A commit as it is in the repository.
pub(super) struct MadeCommit {
    pub(super) id: CommitId,
    tree: String,
    parents: usize,
    committer: String,
    pub(super) author: String,
    pub(super) subject: String,
    message: String,
}

impl MadeCommit {
    /// A commit, or all commits that it has and another commit has not; newest first.
    pub(super) fn read(
        repository: &OwnRepository,
        tip: &CommitId,
        without: Option<&CommitId>,
    ) -> Result<Vec<Self>> {
        let format = "--format=%H%n%T%n%P%n%cn <%ce>%n%an%n%s%n%B";
        let mut log = GitCommand::new(&["log", "-z", "--topo-order", format]);
        if without.is_none() {
            log = log.words(&["-1"]);
        }
        let mut log = log.data().commit(tip);
        if let Some(without) = without {
            log = log.without(without);
        }
        let text = client::text(Place::Own(repository), &log.done())?;
        Ok(text.split('\0').filter_map(Self::parse).collect())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(7, '\n');
        let mut part = || parts.next().map(str::to_owned);
        Some(Self {
            id: CommitId::parse(&part()?).ok()?,
            tree: part()?,
            parents: part()?.split_whitespace().count(),
            committer: part()?,
            author: part()?,
            subject: part()?,
            message: part()?,
        })
    }

    /// The digest of the commit with the rest of a message.
    fn digest(&self, message: &str) -> String {
        let (tree, committer) = (&self.tree, &self.committer);
        let text = format!(
            "tree {tree}\ncommitter {committer}\n\n{}",
            message.trim_end()
        );
        sha1_smol::Sha1::from(text).digest().to_string()
    }

    /// Whether krmv made the commit, and no one changed it.
    pub(super) fn is_sealed(&self) -> bool {
        let Some((message, last)) = self.message.trim_end().rsplit_once('\n') else {
            return false;
        };
        let has_trailer = message.lines().any(|line| line.starts_with(TRAILER));
        let seal = last.strip_prefix(SEAL);
        self.parents == 1 && has_trailer && seal == Some(&*self.digest(message))
    }
}
