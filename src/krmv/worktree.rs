//! The Git work tree that contains a package, if there is one.

use std::collections::BTreeSet;
use std::path::Path;

use krm_variants::package::is_temporary;
use krm_variants::results::and_more;
use krm_variants::yaml::{OwnedDocument, Path as YamlPath};

use super::client;
use super::conflict::ReportedConflict;
use super::failure::{Failure, Result, command};
use super::kptfile::Tracking;
use super::package::{KPTFILE, LocalPackage};

/// Whether `git` knows the directory as part of a work tree.
fn is_inside(directory: &Path) -> Result<bool> {
    let output = client::output(directory, ["rev-parse", "--is-inside-work-tree"])?;
    Ok(output.status.success() && output.stdout.starts_with(b"true"))
}

/// The output of a Git command for some paths.
fn with_paths(directory: &Path, command: &str, paths: &[String]) -> Result<String> {
    let words = command.split(' ');
    client::text(directory, words.chain(paths.iter().map(String::as_str)))
}

/// The uncommitted changes of a package, as `git status` lists them. Temporary files of a killed run are left out,
/// because the next run removes them. Empty outside of a work tree.
pub(crate) fn uncommitted(package: &LocalPackage) -> Result<Vec<String>> {
    let directory = &package.directory;
    if !is_inside(directory)? {
        return Ok(Vec::new());
    }
    let status = "status --porcelain --untracked-files=all --";
    let listed = with_paths(directory, status, &package.paths()?);
    let name = directory.to_string_lossy();
    let listed = listed.map_err(|error| error.hint(command(["git", "-C", &name, "status"])))?;
    let is_left_behind = |line: &&str| {
        let name = line.trim_end_matches('"').rsplit(['/', ' ', '"']).next();
        name.is_some_and(is_temporary)
    };
    let lines = listed.lines().filter(|line| !is_left_behind(line));
    Ok(lines.map(str::to_owned).collect())
}

/// Refuses a package with changes that are not committed.
pub(crate) fn refuse_uncommitted(package: &LocalPackage, again: &str) -> Result<()> {
    let listed = uncommitted(package)?;
    let Some(first) = listed.first() else {
        return Ok(());
    };
    let name = package.name();
    let more = and_more(listed.len());
    let message = format!(
        "'{name}' has uncommitted changes ({}{more}); commit them first, so that you can compare and go back",
        first.get(3..).unwrap_or(first)
    );
    let commit = format!(
        "{} -- {}",
        package.commit_command("before the upgrade")?,
        package.shell_paths()?
    );
    Err(Failure::new(message)
        .hint(commit)
        .hint(format!("{again} --force")))
}

/// The files of a package that Git ignores, and that therefore no commit has. Empty outside of a work tree.
fn ignored(package: &LocalPackage) -> Result<Vec<String>> {
    let directory = &package.directory;
    if !is_inside(directory)? {
        return Ok(Vec::new());
    }
    let list = "ls-files -z --others --ignored --exclude-standard --";
    let listed = with_paths(directory, list, &package.paths()?)?;
    let paths = listed.split('\0');
    let files =
        paths.filter(|path| !path.is_empty() && !path.rsplit('/').next().is_some_and(is_temporary));
    Ok(files.map(str::to_owned).collect())
}

/// Refuses to change files that Git ignores: no commit could bring their present state back.
pub(crate) fn refuse_ignored(package: &LocalPackage, changed: &[&str], again: &str) -> Result<()> {
    let ignored = ignored(package)?;
    let Some(path) = ignored.iter().find(|path| changed.contains(&path.as_str())) else {
        return Ok(());
    };
    let file = package.directory.join(path);
    let file = file.to_string_lossy();
    let message = format!(
        "Git ignores '{file}', and the upgrade changes it; add it to Git first, so that you can compare and go back"
    );
    Err(Failure::new(message)
        .hint(command(["git", "add", "--force", &file]))
        .hint(format!("{again} --force")))
}

/// Who changed the local value of a conflict last, and when. `None` if there is none, or if the change is not committed.
pub(crate) fn changed_by(directory: &Path, conflict: &ReportedConflict) -> Option<String> {
    let [_, local, _] = conflict.values();
    local?;
    let first = conflict.line()?;
    let last = last_line(directory, conflict).unwrap_or(first).max(first);
    let range = format!("{first},{last}");
    let arguments = ["blame", "-s", "-l", "-L", &range, "--", conflict.file()];
    let text = client::text(directory, arguments).ok()?;
    let commits = text.lines().filter_map(|line| line.split(' ').next());
    // The first commit of a history has `^` before it.
    let commits: BTreeSet<&str> = commits.map(|id| id.trim_start_matches('^')).collect();
    if commits.iter().any(|id| id.bytes().all(|byte| byte == b'0')) {
        return None;
    }
    // The newest of them.
    let format = "--format=%an on %as, %h: %s";
    let newest = ["log", "--no-walk", "-1", "--abbrev=8", format];
    client::line(directory, newest.into_iter().chain(commits))
}

/// The last line of the local value of a conflict.
fn last_line(directory: &Path, conflict: &ReportedConflict) -> Option<usize> {
    let text = std::fs::read_to_string(directory.join(conflict.file())).ok()?;
    let path = YamlPath::parse(conflict.0.field.as_deref()?)?;
    let document = OwnedDocument::parse(text).ok()?;
    let document = document.document();
    let line_at = |offset: usize| document.location(offset).line;
    let roots = (0..document.len()).rev().filter_map(|at| document.root(at));
    let mut roots = roots.skip_while(|root| Some(line_at(root.range().start)) > conflict.line());
    let (_, node) = roots.next()?.place(&path);
    let node = node?;
    Some(line_at(node.range().start + node.source().trim_end().len()))
}

/// Restores a package to its state before the open upgrade. Returns a message with the commit.
pub(crate) fn restore(package: &LocalPackage) -> Result<String> {
    let (directory, name) = (&package.directory, package.name());
    let unknown = |message: String| Failure::new(message).hint(command(["krmv", "resolve", &name]));
    if !is_inside(directory)? {
        let why = "is not in a Git work tree, so its earlier state is unknown";
        return Err(unknown(format!("'{name}' {why}")));
    }
    let before = before_upgrade(directory)?;
    let before = before.ok_or_else(|| {
        unknown(format!(
            "no commit has '{name}' as it was before the upgrade"
        ))
    })?;
    let paths = package.paths()?;
    // Git refuses paths that it does not know.
    let known = |list: &str| -> Result<Vec<String>> {
        if paths == ["."] {
            return Ok(paths.clone());
        }
        let listed = with_paths(directory, list, &paths)?;
        Ok(listed.split_terminator('\0').map(str::to_owned).collect())
    };
    // Save the current state, including new files, as a commit that no branch refers to.
    let present = known("ls-files -z --cached --others --exclude-standard --")?;
    with_paths(directory, "add --all --", &present)?;
    let kept = client::line(directory, ["stash", "create"]);
    let mut all = known(&format!("ls-tree -z --name-only {before} --"))?;
    all.extend(present);
    // Files that were added since are removed.
    let restore = format!("restore --source {before} --staged --worktree --");
    with_paths(directory, &restore, &all)?;
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
    let mut message = format!("back to commit {}", short(&before));
    if let Some(kept) = kept {
        message += &format!(
            "; its state until now is saved: git stash apply {}",
            short(&kept)
        );
    }
    let ignored = ignored(package)?;
    if let Some(first) = ignored.first() {
        let more = and_more(ignored.len());
        message += &format!("; left as they are, because Git ignores them: {first}{more}");
    }
    Ok(message)
}

/// The commit before the open upgrade. The upgrade itself may already be committed.
fn before_upgrade(directory: &Path) -> Result<Option<String>> {
    let log = "log --first-parent --format=%H -100 --";
    let commits = client::text(directory, log.split(' ').chain([KPTFILE]))?;
    let is_open_at = |commit: &str| {
        let text = client::text(directory, ["show", &format!("{commit}:./{KPTFILE}")]);
        Some(Tracking::read(&text.ok()?).ok()?.open.is_some())
    };
    let opened = commits
        .lines()
        .take_while(|commit| is_open_at(commit) == Some(true));
    let parent = opened
        .last()
        .map_or("HEAD".to_owned(), |commit| format!("{commit}^"));
    let before = client::line(directory, ["rev-parse", "--verify", "--quiet", &parent]);
    Ok(before.filter(|before| is_open_at(before) == Some(false)))
}
