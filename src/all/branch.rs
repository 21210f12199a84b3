//! The branches that `--branch` makes: their names, what is on them, and what may replace it.
//!
//! | on the branch | then |
//! |---|---|
//! | nothing that HEAD has not | a commit on HEAD |
//! | sealed commits of krmv alone | the same: they are replaced, if the package comes out differently |
//! | a commit of a person, perhaps with sealed commits after it | a commit on top of the person's |
//! | commits of persons, here others than at `origin` | nothing: the user has to bring the two together |

use std::collections::{BTreeMap, BTreeSet};

use krm_address::{CommitId, RefName};
use krm_upstream::git::GitCommand;

use super::super::client::{self, Place};
use super::super::failure::{Failure, Result, command};
use super::super::own_repository::OwnRepository;
use super::super::print::warning;
use super::commit::{MadeCommit, head};
use super::short;

/// The branches of a repository below a prefix.
pub(super) struct Branches {
    repository: OwnRepository,
    prefix: RefName,
    head: CommitId,
    /// The commits of all branches below the prefix, here and at `origin`, by their full names.
    known: BTreeMap<String, CommitId>,
}

const HERE: &str = "refs/heads/";
const ORIGIN: &str = "refs/remotes/origin/";

impl Branches {
    /// Reads the branches, and asks `origin` for its own.
    pub(super) fn open(repository: &OwnRepository, prefix: &str, is_offline: bool) -> Result<Self> {
        let prefix = RefName::parse(prefix).map_err(|error| {
            Failure::from(error)
                .context("--branch")
                .hint("krmv upgrade --all --branch")
        })?;
        let head = head(repository)?;
        let place = Place::Own(repository);
        let has_origin = GitCommand::new(&["remote", "get-url", "origin"]);
        if !is_offline && client::line(place, &has_origin)?.is_some() {
            let fetched = client::text(place, &GitCommand::fetch_own_branches(&prefix));
            if let Err(error) = fetched {
                let message = error.message;
                warning(format_args!(
                    "cannot read the branches at origin: {message}"
                ));
            }
        }
        let mut branches = Self {
            repository: repository.clone(),
            prefix,
            head,
            known: BTreeMap::new(),
        };
        branches.read()?;
        branches.complete_history(is_offline)?;
        Ok(branches)
    }

    fn read(&mut self) -> Result<()> {
        let list = GitCommand::new(&["for-each-ref", "--format=%(objectname) %(refname)"]);
        let here = RefName::parse(&format!("{HERE}{}", self.prefix))?;
        let origin = RefName::parse(&format!("{ORIGIN}{}", self.prefix))?;
        let list = list.data().reference(&here).reference(&origin).done();
        let listed = client::text(Place::Own(&self.repository), &list)?;
        for line in listed.lines() {
            if let Some((id, name)) = line.split_once(' ') {
                self.known.insert(name.to_owned(), CommitId::parse(id)?);
            }
        }
        Ok(())
    }

    /// In a shallow clone, commits of HEAD's own history would count as commits of a person.
    fn complete_history(&self, is_offline: bool) -> Result<()> {
        let place = Place::Own(&self.repository);
        let is_shallow = GitCommand::new(&["rev-parse", "--is-shallow-repository"]);
        let is_shallow = client::line(place, &is_shallow)?.as_deref() == Some("true");
        if !is_shallow || is_offline || self.known.is_empty() {
            return Ok(());
        }
        let fetch = GitCommand::new(&["fetch", "--quiet", "--unshallow"]).data();
        client::text(place, &fetch.literal("origin").done()).map(drop)
    }

    pub(super) fn head(&self) -> &CommitId {
        &self.head
    }

    /// The branch of a package. `packages` are the paths of all packages: Git has no branch whose name continues the name of
    /// another branch with a slash.
    pub(super) fn of_package(
        &self,
        path: &str,
        packages: &BTreeSet<String>,
    ) -> Result<PackageBranch> {
        let name = format!("{}/{}", self.prefix, branch_path(path, packages));
        let reference = RefName::parse(&format!("{HERE}{name}"))?;
        let at = |folder: &str| self.known.get(&format!("{folder}{name}")).cloned();
        Ok(PackageBranch {
            here: at(HERE),
            origin: at(ORIGIN),
            path: path.to_owned(),
            reference,
            name,
        })
    }

    fn place(&self) -> Place<'_> {
        Place::Own(&self.repository)
    }

    fn is_ancestor(&self, older: &CommitId, newer: &CommitId) -> Result<bool> {
        let ask = GitCommand::new(&["merge-base", "--is-ancestor"]).data();
        let output = client::output(self.place(), &ask.commit(older).commit(newer).done())?;
        Ok(output.status.success())
    }

    /// The newest commit on a branch that krmv may not replace. `None` if all that HEAD has not are sealed.
    fn of_person(&self, tip: &CommitId) -> Result<Option<MadeCommit>> {
        let commits = MadeCommit::read(&self.repository, tip, Some(&self.head))?;
        Ok(commits.into_iter().find(|commit| !commit.is_sealed()))
    }

    /// Whether a commit on a branch is krmv's, and the branch begins at `base`.
    fn is_replaceable(&self, tip: &CommitId, base: &CommitId) -> Result<bool> {
        if self.is_ancestor(tip, &self.head)? {
            return Ok(false);
        }
        Ok(match self.of_person(tip)? {
            None => *base == self.head,
            Some(person) => person.id == *base && *tip != *base,
        })
    }

    /// The files of a package at a commit, as the id of their tree.
    fn files(&self, commit: &CommitId, path: &str) -> Result<Option<String>> {
        let verify = GitCommand::new(&["rev-parse", "--verify", "--quiet"]).data();
        client::line(self.place(), &verify.file_at(commit, path).done())
    }
}

/// The branch of one package.
pub(super) struct PackageBranch {
    name: String,
    reference: RefName,
    /// The path of the package from the root of the work tree.
    path: String,
    here: Option<CommitId>,
    origin: Option<CommitId>,
}

impl PackageBranch {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The failure to read a package on a branch of a person.
    pub(super) fn not_there(&self, failure: Failure) -> Failure {
        let on_branch = Failure {
            hints: vec![command(["git", "log", &self.name])],
            ..failure
        };
        on_branch.context(format_args!("on the branch {}", self.name))
    }

    /// Whether an earlier run left the branch at this commit.
    pub(super) fn has(&self, commit: &CommitId) -> bool {
        self.tips().contains(commit)
    }

    fn tips(&self) -> BTreeSet<&CommitId> {
        [&self.here, &self.origin].into_iter().flatten().collect()
    }

    /// The commit that the upgrade goes on from: HEAD, or the last commit of a person on the branch.
    pub(super) fn base(&self, branches: &Branches) -> Result<CommitId> {
        let mut persons: Vec<MadeCommit> = Vec::new();
        for tip in self.tips() {
            persons.extend(branches.of_person(tip)?);
        }
        let Some(first) = persons.first() else {
            return Ok(branches.head.clone());
        };
        for newest in &persons {
            let mut has_all = true;
            for other in &persons {
                has_all &= branches.is_ancestor(&other.id, &newest.id)?;
            }
            if has_all {
                return Ok(newest.id.clone());
            }
        }
        let message = format!(
            "the branch {} has commits here that origin lacks, and origin has commits that it lacks ({} \"{}\" by {})",
            self.name,
            short(first.id.as_str()),
            first.subject,
            first.author
        );
        let switch = command(["git", "switch", &self.name]);
        let pull = command(["git", "pull", "--rebase", "origin", &self.name]);
        Err(Failure::new(message).hint(switch.then(&pull)))
    }

    /// Moves the branch to a new commit, and returns the commit that it has then: an earlier commit of krmv stays if the
    /// package comes out the same. Fails if the branch moved meanwhile, or if a work tree has it.
    pub(super) fn move_to(
        &self,
        branches: &Branches,
        base: &CommitId,
        made: &CommitId,
    ) -> Result<CommitId> {
        let mut tip = made.clone();
        // What `origin` has is in a request already.
        for old in [&self.origin, &self.here].into_iter().flatten() {
            let is_same = branches.files(old, &self.path)? == branches.files(made, &self.path)?;
            if is_same && branches.is_replaceable(old, base)? {
                tip = old.clone();
                break;
            }
        }
        if self.here.as_ref() == Some(&tip) {
            return Ok(tip);
        }
        self.refuse_checked_out(branches)?;
        let zeros = "0".repeat(tip.as_str().len());
        let old = match &self.here {
            Some(old) => old.clone(),
            None => CommitId::parse(&zeros)?,
        };
        let update =
            GitCommand::new(&["update-ref", "--create-reflog", "-m", "krmv upgrade"]).data();
        let update = update
            .reference(&self.reference)
            .commit(&tip)
            .commit(&old)
            .done();
        let Err(error) = client::text(branches.place(), &update) else {
            return Ok(tip);
        };
        // Another run may have made the same.
        let verify = GitCommand::new(&["rev-parse", "--verify", "--quiet"]).data();
        let now = client::line(branches.place(), &verify.reference(&self.reference).done())?;
        if let Some(now) = now.and_then(|id| CommitId::parse(&id).ok())
            && branches.files(&now, &self.path)? == branches.files(made, &self.path)?
            && branches.is_replaceable(&now, base)?
        {
            return Ok(now);
        }
        let message = format!("cannot move the branch {}: {}", self.name, error.message);
        Err(Failure::new(message).hint(command(["git", "log", &self.name])))
    }

    /// Refuses a branch that is checked out: its files would no longer match its commit.
    fn refuse_checked_out(&self, branches: &Branches) -> Result<()> {
        let list = GitCommand::new(&["worktree", "list", "--porcelain"]);
        let listed = client::text(branches.place(), &list)?;
        let wanted = format!("branch {}", self.reference);
        let blocks = listed.split("\n\n");
        let mut found = blocks.filter(|block| block.lines().any(|line| line == wanted));
        let Some(block) = found.next() else {
            return Ok(());
        };
        let folder = block
            .lines()
            .find_map(|line| line.strip_prefix("worktree "));
        let message = format!(
            "the branch {} is checked out in '{}'",
            self.name,
            folder.unwrap_or_default()
        );
        Err(Failure::new(message).hint(command([
            "git",
            "-C",
            folder.unwrap_or("."),
            "switch",
            "-",
        ])))
    }
}

/// The name of a package's branch after the prefix. It is the path, except for what Git allows in no name, and for a
/// slash after the path of another package.
fn branch_path(path: &str, packages: &BTreeSet<String>) -> String {
    let mut name = String::new();
    let mut above = String::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        if !name.is_empty() {
            name.push(if packages.contains(&above) { '+' } else { '/' });
            above.push('/');
        }
        name.push_str(part);
        above.push_str(part);
    }
    if name.is_empty() {
        name.push_str("root");
    }
    let is_other = |other: &String| other == "root" || other.starts_with("root/");
    let is_taken = path.is_empty() && packages.iter().any(is_other);
    // Other characters have a meaning in a shell, or in what prints the names.
    let is_word = |c: char| c.is_alphanumeric() || "/-_+.@=,".contains(c);
    let is_name = RefName::parse(&format!("{HERE}{name}")).is_ok();
    if !is_taken && is_name && name.chars().all(is_word) {
        return name;
    }
    let is_word = |c: char| c.is_alphanumeric() || "/-_+".contains(c);
    let words = name.chars().map(|c| if is_word(c) { c } else { '-' });
    let words: String = words.collect();
    let digest = sha1_smol::Sha1::from(path).digest().to_string();
    let digest: String = digest.chars().take(8).collect();
    format!("{words}-{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_a_name_that_git_takes_and_no_two_collide() {
        let paths = [
            "",
            "root",
            "apps",
            "apps/web",
            "apps/web/db",
            "apps/a b",
            "apps/a~b",
            "apps/x.lock",
            "apps/..y",
            "-x",
        ];
        let packages: BTreeSet<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let names: Vec<String> = paths
            .iter()
            .map(|path| branch_path(path, &packages))
            .collect();
        for (at, name) in names.iter().enumerate() {
            assert!(
                RefName::parse(&format!("refs/heads/krmv/{name}")).is_ok(),
                "{name}"
            );
            for other in &names[at + 1..] {
                let collides = |a: &str, b: &str| a == b || a.starts_with(&format!("{b}/"));
                assert!(
                    !collides(name, other) && !collides(other, name),
                    "{name} {other}"
                );
            }
        }
        let alone = BTreeSet::from(["apps/web".to_owned(), String::new()]);
        assert_eq!(branch_path("apps/web", &alone), "apps/web");
        assert_eq!(branch_path("", &alone), "root");
    }
}
