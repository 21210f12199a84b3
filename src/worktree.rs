//! The Git work tree that contains a package, if there is one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use krm_address::{CommitId, Surroundings};
use krm_core::results::and_more;
use krm_core::source_text::parse_document;
use krm_package::is_temporary;
use krm_upstream::git::{CommitDescription, GitCommand};
use krm_yaml::{Path as YamlPath, PlaceIndex};

use super::client::{self, Place};
use super::conflict::ReportedConflict;
use super::failure::{Failure, Hint, Result, command};
use super::kptfile::Tracking;
use super::own_repository::OwnRepository;
use super::package::{KPTFILE, LocalPackage};

/// The user's repository around a package. `None` outside of a work tree. An error if Git refuses it, such as the
/// repository of another user.
fn repository(package: &LocalPackage) -> Result<Option<&OwnRepository>> {
    let Some(repository) = &package.repository else {
        return Ok(None);
    };
    let command = GitCommand::new(&["rev-parse", "--is-inside-work-tree"]);
    let output = client::output(Place::Own(repository), &command)?;
    if !output.status.success() {
        let message = format!(
            "cannot read the repository of '{}': {}",
            package.name(),
            client::message(&output)
        );
        return Err(Failure::new(message).hint(package.git_command(&["status"])));
    }
    Ok(output.stdout.starts_with(b"true").then_some(repository))
}

/// The paths of a package from the root of its work tree.
fn paths_of(package: &LocalPackage, repository: &OwnRepository) -> Result<Vec<PathBuf>> {
    let paths = package.paths()?;
    Ok(paths
        .iter()
        .map(|path| repository.path_below_root(path))
        .collect())
}

/// The output of a Git command for some paths from the root of the work tree.
fn with_paths<P: AsRef<std::ffi::OsStr>>(
    repository: &OwnRepository,
    words: &[&'static str],
    paths: &[P],
) -> Result<String> {
    let command = GitCommand::new(words).paths(paths);
    client::text(Place::Own(repository), &command)
}

/// The uncommitted changes of a package, as `git status` lists them. Temporary files of a killed run are left out,
/// because the next run removes them. Empty outside of a work tree.
pub(crate) fn uncommitted(package: &LocalPackage) -> Result<Vec<String>> {
    let Some(repository) = repository(package)? else {
        return Ok(Vec::new());
    };
    let status = ["status", "--porcelain", "--untracked-files=all"];
    let listed = with_paths(repository, &status, &paths_of(package, repository)?);
    let listed = listed.map_err(|error| error.hint(package.git_command(&["status"])))?;
    let is_left_behind = |line: &&str| {
        let name = line.trim_end_matches('"').rsplit(['/', ' ', '"']).next();
        name.is_some_and(is_temporary)
    };
    let lines = listed.lines().filter(|line| !is_left_behind(line));
    Ok(lines.map(str::to_owned).collect())
}

/// Refuses a package with changes that are not committed. Changes of the paths in `written`, from the root of the work
/// tree, do not count: this run wrote them.
pub(crate) fn refuse_uncommitted(
    package: &LocalPackage,
    again: &Hint,
    written: &BTreeSet<String>,
) -> Result<()> {
    let mut listed = uncommitted(package)?;
    listed.retain(|line| {
        let path = line.get(3..).unwrap_or(line);
        !written.contains(path.trim_matches('"'))
    });
    let Some(first) = listed.first() else {
        return Ok(());
    };
    let name = package.name();
    let more = and_more(listed.len());
    let message = format!(
        "'{name}' has uncommitted changes ({}{more}); commit them first, so that you can compare and go back",
        first.get(3..).unwrap_or(first)
    );
    Err(Failure::new(message)
        .hint(package.commit_command("before the upgrade", None, true)?)
        .hint(again.and(&["--force"])))
}

/// The files of a package whose edits `git status` does not show, so that no commit may have their present state: the
/// ignored ones, and those with a mark in the index, by path with the mark. Empty outside of a work tree.
fn unseen(package: &LocalPackage) -> Result<BTreeMap<String, Option<&'static str>>> {
    let Some(repository) = repository(package)? else {
        return Ok(BTreeMap::new());
    };
    let paths = paths_of(package, repository)?;
    let list = [
        "ls-files",
        "-z",
        "--others",
        "--ignored",
        "--exclude-standard",
    ];
    let ignored = with_paths(repository, &list, &paths)?;
    let ignored = ignored.split_terminator('\0');
    let ignored = ignored.filter(|path| !path.rsplit('/').next().is_some_and(is_temporary));
    let tracked = with_paths(repository, &["ls-files", "-z", "-v"], &paths)?;
    let marked = tracked.split_terminator('\0').filter_map(|line| {
        let (tag, path) = line.split_once(' ')?;
        let mark = match tag {
            "S" | "s" => "skip-worktree",
            "h" => "assume-unchanged",
            _ => return None,
        };
        Some((path.to_owned(), Some(mark)))
    });
    let found = ignored.map(|path| (path.to_owned(), None)).chain(marked);
    let in_package = found.filter_map(|(path, mark)| {
        let path = repository.in_folder(&path)?;
        Some((path.to_owned(), mark))
    });
    Ok(in_package.collect())
}

/// Refuses to change files whose edits Git does not see: no commit could bring their present state back.
pub(crate) fn refuse_unseen(package: &LocalPackage, changed: &[&str], again: &Hint) -> Result<()> {
    let unseen = unseen(package)?;
    let Some((path, mark)) = unseen
        .iter()
        .find(|(path, _)| changed.contains(&path.as_str()))
    else {
        return Ok(());
    };
    let file = package.directory.join(path);
    let file = file.to_string_lossy();
    let (why, what, next) = match mark {
        None => {
            let next = package.git_command(&["add", "--force", &package.git_path(path)]);
            (format!("Git ignores '{file}'"), "add it to Git", next)
        }
        Some(mark) => {
            let words = [
                "update-index",
                &format!("--no-{mark}"),
                &package.git_path(path),
            ];
            let next = package.git_command(&words);
            let why = format!("Git ignores edits of '{file}' ({mark})");
            (why, "remove the mark", next)
        }
    };
    let message = format!(
        "{why}, and the upgrade changes it; {what} first, so that you can compare and go back"
    );
    Err(Failure::new(message)
        .hint(next)
        .hint(again.and(&["--force"])))
}

/// A file with conflict markers, and its versions: original, local and upstream.
pub(crate) struct MarkedFile {
    pub(crate) path: String,
    pub(crate) versions: [Option<Vec<u8>>; 3],
}

/// Puts the three versions of files with conflict markers into Git's index, as a merge of Git does: `git status` lists
/// them as unmerged, and `git mergetool` has its three sides. Nothing happens outside of a work tree, and to files that
/// Git does not track.
pub(crate) fn stage_versions(package: &LocalPackage, files: &[MarkedFile]) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let Some(repository) = repository(package)? else {
        return Ok(());
    };
    let mut entries = Vec::new();
    for file in files {
        let path = repository.path_below_root(&file.path);
        let listed = with_paths(repository, &["ls-files", "-s", "-z"], &[&path])?;
        let Some((mode, id)) = listed
            .split_once(' ')
            .and_then(|(mode, rest)| Some((mode, rest.split_once(' ')?.0)))
        else {
            continue;
        };
        let path = path.to_string_lossy().replace('\\', "/");
        // Without an entry of stage 0, the file is unmerged.
        entries.push(format!("0 {}\t{path}", "0".repeat(id.len())));
        for (stage, bytes) in (1..).zip(&file.versions) {
            let Some(bytes) = bytes else { continue };
            let hash = GitCommand::new(&["hash-object", "-w", "--stdin"]);
            let id = client::with_input(repository, &hash, bytes)?;
            entries.push(format!("{mode} {} {stage}\t{path}", id.trim()));
        }
    }
    if entries.is_empty() {
        return Ok(());
    }
    let entries: String = entries.iter().map(|entry| format!("{entry}\0")).collect();
    let update = GitCommand::new(&["update-index", "-z", "--index-info"]);
    client::with_input(repository, &update, entries.as_bytes()).map(drop)
}

/// Refuses a package with files that a sparse checkout leaves out: they would count as removed by the user.
pub(crate) fn refuse_sparse(package: &LocalPackage) -> Result<()> {
    let Some(repository) = &package.repository else {
        return Ok(());
    };
    let is_sparse = GitCommand::new(&["config", "--type=bool", "core.sparseCheckout"]);
    // Without Git, there is no sparse checkout.
    let is_sparse = client::line(Place::Own(repository), &is_sparse)
        .ok()
        .flatten();
    if is_sparse.as_deref() != Some("true") {
        return Ok(());
    }
    let top = repository.root().to_string_lossy().into_owned();
    let paths = paths_of(package, repository)?;
    let listed = with_paths(repository, &["ls-files", "-z", "-t"], &paths)?;
    let skipped = listed
        .split_terminator('\0')
        .filter_map(|line| line.strip_prefix("S "));
    let is_absent = |path: &&str| !Path::new(&top).join(path).exists();
    let absent: Vec<&str> = skipped.filter(is_absent).collect();
    let Some(first) = absent.first() else {
        return Ok(());
    };
    let message = format!(
        "the sparse checkout leaves out files of '{}' ({first}{}); krmv needs all files of a package",
        package.name(),
        and_more(absent.len())
    );
    let sparse =
        |words: &[&str]| command([&["git", "-C", &top, "sparse-checkout"], words].concat());
    let mut failure = Failure::new(message);
    if let Some((folder, _)) = first.rsplit_once('/') {
        failure = failure.hint(sparse(&["add", folder]));
    }
    Err(failure.hint(sparse(&["disable"])))
}

/// Who changed the local value of a conflict last, and when. `None` if there is none, or if the change is not committed.
pub(crate) fn changed_by(
    directory: &Path,
    conflict: &ReportedConflict,
) -> Option<CommitDescription> {
    let [_, local, _] = conflict.values();
    local?;
    let first = conflict.line()?;
    let last = last_line(directory, conflict).unwrap_or(first).max(first);
    let repository = OwnRepository::around(directory)?;
    let blame = GitCommand::new(&["blame", "--porcelain"]).numbers("-L", &[first, last]);
    let blame = blame.paths([repository.path_below_root(conflict.file())]);
    let text = client::text(Place::Own(&repository), &blame).ok()?;
    // A line about a commit begins with its whole id; a line of the file begins with a tab.
    let words = text.lines().filter_map(|line| line.split(' ').next());
    let commits: BTreeSet<CommitId> = words.filter_map(|id| CommitId::parse(id).ok()).collect();
    let is_uncommitted = |id: &CommitId| id.as_str().bytes().all(|byte| byte == b'0');
    if commits.iter().any(is_uncommitted) {
        return None;
    }
    let last = last_in_history(&repository, commits.into_iter().collect());
    let format = "--format=%H%x09%as%x09%an%x09%s";
    let mut log = GitCommand::new(&["log", "--no-walk", "-1", format]).data();
    for commit in &last {
        log = log.commit(commit);
    }
    let line = client::line(Place::Own(&repository), &log.done()).ok()??;
    let mut parts = line.splitn(4, '\t').map(str::to_owned);
    Some(CommitDescription {
        commit: parts.next()?,
        date: parts.next()?,
        author: parts.next()?,
        summary: parts.next().unwrap_or_default(),
    })
}

/// Those commits that no other one contains: the last ones of a history, whatever their clocks said.
fn last_in_history(repository: &OwnRepository, commits: Vec<CommitId>) -> Vec<CommitId> {
    if commits.len() < 2 {
        return commits;
    }
    let mut independent = GitCommand::new(&["merge-base", "--independent"]).data();
    for commit in &commits {
        independent = independent.commit(commit);
    }
    let listed = client::text(Place::Own(repository), &independent.done()).unwrap_or_default();
    let last: Vec<CommitId> = listed
        .lines()
        .filter_map(|id| CommitId::parse(id).ok())
        .collect();
    if last.is_empty() { commits } else { last }
}

/// The last line of the local value of a conflict.
fn last_line(directory: &Path, conflict: &ReportedConflict) -> Option<usize> {
    let text = std::fs::read_to_string(directory.join(conflict.file())).ok()?;
    let path = YamlPath::parse(conflict.0.field.as_deref()?)?;
    let document = parse_document(text).ok()?;
    let document = document.document();
    let line_at = |offset: usize| document.location(offset).line;
    let roots = (0..document.len()).rev().filter_map(|at| document.root(at));
    let mut roots = roots.skip_while(|root| Some(line_at(root.range().start)) > conflict.line());
    let (_, node) = PlaceIndex::default().place(roots.next()?, &path);
    let node = node?;
    Some(line_at(node.range().start + node.source().trim_end().len()))
}

/// Restores a package to its state before the open upgrade. Returns a message with the commit.
pub(crate) fn restore(package: &LocalPackage) -> Result<String> {
    let name = package.name();
    let unknown = |message: String| Failure::new(message).hint(command(["krmv", "resolve", &name]));
    let Some(repository) = repository(package)? else {
        let why = "is not in a Git work tree, so its earlier state is unknown";
        return Err(unknown(format!("'{name}' {why}")));
    };
    let before = before_upgrade(repository)?;
    let before = before.ok_or_else(|| {
        unknown(format!(
            "no commit has '{name}' as it was before the upgrade"
        ))
    })?;
    let status = || package.git_command(&["status"]);
    let paths = paths_of(package, repository)?;
    let unseen = unseen(package)?;
    let is_whole = package.paths()? == ["."] && unseen.values().all(Option::is_none);
    // Git refuses paths that it does not know.
    let known = |list: &GitCommand| -> Result<Vec<PathBuf>> {
        if is_whole {
            return Ok(paths.clone());
        }
        let listed = client::text(Place::Own(repository), list)?;
        let listed = listed.split_terminator('\0');
        let is_seen = |path: &&str| {
            let inner = repository.in_folder(path);
            inner.is_none_or(|path| !unseen.contains_key(path))
        };
        Ok(listed.filter(is_seen).map(PathBuf::from).collect())
    };
    // Save the current state, including new files, as a commit that no branch refers to.
    let list = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let present = known(&GitCommand::new(&list).paths(&paths))?;
    with_paths(repository, &["add", "--all"], &present)?;
    let stash = GitCommand::new(&["stash", "create"]);
    let kept = client::text(Place::Own(repository), &stash).map_err(|error| {
        let message = format!(
            "cannot save the state of '{name}', so nothing was restored: {}",
            error.message
        );
        Failure::new(message).hint(status())
    })?;
    let list = GitCommand::new(&["ls-tree", "-r", "-z", "--name-only"]).data();
    let mut all = known(&list.commit(&before).paths(&paths).done())?;
    all.extend(present);
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
    let mut saved = String::new();
    let kept = kept.trim_end();
    if !kept.is_empty() {
        let apply = package.git_command(&["stash", "apply", &short(kept)]);
        saved = format!("; the state before that is saved: {apply}");
    }
    // Files that were added since are removed.
    let restore = GitCommand::new(&["restore", "--staged", "--worktree"]);
    let restore = restore.own_commit("--source=", &before).paths(&all);
    client::text(Place::Own(repository), &restore).map_err(|error| {
        // A filter or a hook may fail when files have changed already.
        Failure::new(error.message + &saved).hint(status())
    })?;
    let mut message = format!("back to commit {}{saved}", short(before.as_str()));
    if let Some(first) = unseen.keys().next() {
        let more = and_more(unseen.len());
        message +=
            &format!("; left as they are, because Git does not see their edits: {first}{more}");
    }
    Ok(message)
}

/// The commit before the open upgrade. The upgrade itself may already be committed.
fn before_upgrade(repository: &OwnRepository) -> Result<Option<CommitId>> {
    let place = Place::Own(repository);
    let kptfile = repository.path_below_root(KPTFILE);
    let log = ["log", "--first-parent", "--format=%H", "-100"];
    let log = GitCommand::new(&log).paths([&kptfile]);
    let commits = client::text(place, &log).unwrap_or_default();
    let path = kptfile.to_string_lossy().replace('\\', "/");
    let is_open_at = |commit: &CommitId| {
        let show = GitCommand::new(&["cat-file", "blob"]).data();
        let text = client::text(place, &show.file_at(commit, &path).done());
        Some(
            Tracking::read(&text.ok()?, &Surroundings::default())
                .ok()?
                .open
                .is_some(),
        )
    };
    let commits = commits.lines().filter_map(|id| CommitId::parse(id).ok());
    let opened = commits.take_while(|commit| is_open_at(commit) == Some(true));
    let verify = GitCommand::new(&["rev-parse", "--verify", "--quiet"]).data();
    let verify = match opened.last() {
        Some(commit) => verify.parent_of(&commit),
        None => verify.literal("HEAD"),
    };
    let before = client::line(place, &verify.done())?;
    let before = before.and_then(|id| CommitId::parse(&id).ok());
    Ok(before.filter(|before| is_open_at(before) == Some(false)))
}
