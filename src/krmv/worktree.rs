//! The Git work tree that contains a package, if there is one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use krm_variants::package::is_temporary;
use krm_variants::results::and_more;
use krm_variants::yaml::{OwnedDocument, Path as YamlPath};

use super::client;
use super::conflict::ReportedConflict;
use super::failure::{Failure, Hint, Result, command};
use super::kptfile::Tracking;
use super::package::{KPTFILE, LocalPackage};

/// Whether `git` knows the directory as part of a work tree. An error if Git refuses the repository around it, such as
/// the repository of another user.
fn is_inside(directory: &Path) -> Result<bool> {
    let output = client::output(directory, ["rev-parse", "--is-inside-work-tree"])?;
    let is_repository = |folder: &Path| {
        let inside = folder.join(".git");
        inside.is_file() || inside.join("HEAD").is_file()
    };
    if !output.status.success() && directory.canonicalize()?.ancestors().any(is_repository) {
        let name = directory.to_string_lossy();
        let message = format!(
            "cannot read the repository of '{name}': {}",
            client::message(&output)
        );
        return Err(Failure::new(message).hint(command(["git", "-C", &name, "status"])));
    }
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
pub(crate) fn refuse_uncommitted(package: &LocalPackage, again: &Hint) -> Result<()> {
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
    Err(Failure::new(message)
        .hint(package.commit_command("before the upgrade", true)?)
        .hint(again.and(&["--force"])))
}

/// The files of a package whose edits `git status` does not show, so that no commit may have their present state: the
/// ignored ones, and those with a mark in the index, by path with the mark. Empty outside of a work tree.
fn unseen(package: &LocalPackage) -> Result<BTreeMap<String, Option<&'static str>>> {
    let directory = &package.directory;
    if !is_inside(directory)? {
        return Ok(BTreeMap::new());
    }
    let paths = package.paths()?;
    let list = "ls-files -z --others --ignored --exclude-standard --";
    let ignored = with_paths(directory, list, &paths)?;
    let ignored = ignored.split_terminator('\0');
    let ignored = ignored.filter(|path| !path.rsplit('/').next().is_some_and(is_temporary));
    let tracked = with_paths(directory, "ls-files -z -v --", &paths)?;
    let marked = tracked.split_terminator('\0').filter_map(|line| {
        let (tag, path) = line.split_once(' ')?;
        let mark = match tag {
            "S" | "s" => "skip-worktree",
            "h" => "assume-unchanged",
            _ => return None,
        };
        Some((path.to_owned(), Some(mark)))
    });
    Ok(ignored
        .map(|path| (path.to_owned(), None))
        .chain(marked)
        .collect())
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
            let why = format!("Git does not look for edits of '{file}' ({mark})");
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

/// Refuses a package with files that a sparse checkout leaves out: they would count as removed by the user.
pub(crate) fn refuse_sparse(package: &LocalPackage) -> Result<()> {
    let directory = &package.directory;
    let is_sparse = ["config", "--type=bool", "core.sparseCheckout"];
    if client::line(directory, is_sparse).as_deref() != Some("true") {
        return Ok(());
    }
    let Some(top) = client::line(directory, ["rev-parse", "--show-toplevel"]) else {
        return Ok(());
    };
    let listed = with_paths(
        directory,
        "ls-files -z -t --full-name --",
        &package.paths()?,
    )?;
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
    let unseen = unseen(package)?;
    // Git refuses paths that it does not know.
    let known = |list: &str| -> Result<Vec<String>> {
        if paths == ["."] && unseen.values().all(Option::is_none) {
            return Ok(paths.clone());
        }
        let listed = with_paths(directory, list, &paths)?;
        let listed = listed.split_terminator('\0');
        let seen = listed.filter(|path| !unseen.contains_key(*path));
        Ok(seen.map(str::to_owned).collect())
    };
    // Save the current state, including new files, as a commit that no branch refers to.
    let present = known("ls-files -z --cached --others --exclude-standard --")?;
    with_paths(directory, "add --all --", &present)?;
    let kept = client::text(directory, ["stash", "create"]).map_err(|error| {
        let message = format!(
            "cannot save the state of '{name}', so nothing was restored: {}",
            error.message
        );
        Failure::new(message).hint(command(["git", "-C", &name, "status"]))
    })?;
    let mut all = known(&format!("ls-tree -r -z --name-only {before} --"))?;
    all.extend(present);
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
    let mut saved = String::new();
    let kept = kept.trim_end();
    if !kept.is_empty() {
        let apply = package.git_command(&["stash", "apply", &short(kept)]);
        saved = format!("; its state until now is saved: {apply}");
    }
    // Files that were added since are removed.
    let restore = format!("restore --source {before} --staged --worktree --");
    with_paths(directory, &restore, &all).map_err(|error| {
        // A filter or a hook may fail when files have changed already.
        let status = command(["git", "-C", &name, "status"]);
        Failure::new(error.message + &saved).hint(status)
    })?;
    let mut message = format!("back to commit {}{saved}", short(&before));
    if let Some(first) = unseen.keys().next() {
        let more = and_more(unseen.len());
        message +=
            &format!("; left as they are, because Git does not see their edits: {first}{more}");
    }
    Ok(message)
}

/// The commit before the open upgrade. The upgrade itself may already be committed.
fn before_upgrade(directory: &Path) -> Result<Option<String>> {
    let log = "log --first-parent --format=%H -100 --";
    let commits = client::text(directory, log.split(' ').chain([KPTFILE])).unwrap_or_default();
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
