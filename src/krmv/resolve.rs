//! `krmv resolve`: finds the conflicts of an open upgrade again, and decides them.
//!
//! The merge is made again in memory: original is the lock's revision, local what the files say now, upstream the
//! revision of the open upgrade. A place where local and upstream differ, and both from the original, is undecided
//! until it is decided here. So a place that a person gave upstream's value, or the original one, is decided by
//! that; any other value needs `--take file` (or `local`, which has the same effect: the file stays as it is).

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use krm_variants::git::Revision;
use krm_variants::yaml::{Content, Editor, OwnedDocument, Value};
use serde_json::json;

use super::cli::{Common, Resolve, Take};
use super::conflict::Conflict;
use super::failure::{Failure, Result};
use super::kptfile::{self, OpenUpgrade};
use super::merging::{Merged, Merger, Side, has_markers, rules_text, without_markers};
use super::package::{Contents, KPTFILE, Package};
use super::print::{GREEN, Page, RED, counted, grouped, to_stdout};
use super::report::{commit_command, conflict_json, hints, print_errors};
use super::session::{RULES, followed, merger, open_target, remembered};
use super::upgrade::open_conflicts;
use super::upstream::Upstream;
use super::{exit, interactive};

/// A decision of a person.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub(crate) conflict: Conflict,
    pub(crate) take: Take,
}

pub(crate) fn run(resolve: &Resolve, common: &Common) -> Result<u8> {
    let (directory, patterns) = arguments(&resolve.arguments);
    let package = Package::open(&directory)?;
    let (_, repository) = followed(&package)?;
    let Some(open) = package.tracking.open.clone() else {
        return nothing_open(&package, common);
    };
    // Only `upgrade` goes to the network.
    let upstream = Upstream::open(repository, true)?;
    let releases = upstream.releases(&package.tracking.path()).ok();
    let revision = open_target(&package, &open, releases.as_ref());
    let merger = merger(&package, &upstream, releases.as_ref(), &revision, None);
    let merger = merger.map_err(|error| error.hint(package.command(&["upgrade"])))?;
    let mut table = Table::lay(&package, &merger, revision, open)?;
    if table.merged.results.has_errors() {
        print_errors(&table.merged.results, common)?;
        return Ok(exit::OPEN);
    }
    let chosen = table.chosen(&patterns)?;
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let decisions = match resolve.take {
        Some(take) => {
            let decision = |conflict: Conflict| Decision { conflict, take };
            chosen.into_iter().map(decision).collect()
        }
        None if is_terminal && !resolve.list && !common.json && !chosen.is_empty() => {
            let asked = interactive::ask(&table, &chosen, common)?;
            for (path, text) in asked.edited {
                table.markers.remove(&path);
                table.contents.insert(path, text.into_bytes());
            }
            asked.decisions
        }
        None => Vec::new(),
    };
    let is_asking = decisions.is_empty();
    if !is_asking {
        table.decide(&decisions, resolve.remember)?;
    }
    table.finish(&decisions, common)
}

/// The directory and the patterns among the arguments.
fn arguments(arguments: &[String]) -> (PathBuf, Vec<String>) {
    match arguments.split_first() {
        Some((first, rest)) if Path::new(first).is_dir() => (PathBuf::from(first), rest.to_vec()),
        _ => (PathBuf::from("."), arguments.to_vec()),
    }
}

fn nothing_open(package: &Package, common: &Common) -> Result<u8> {
    let name = package.name();
    if common.json {
        let json = json!({"path": name, "conflicts": [], "decided": 0, "settled": true});
        to_stdout(&format!("{json}\n"))?;
        return Ok(exit::DONE);
    }
    let mut page = Page::new(common);
    page.line(format_args!(
        "{name}: no upgrade is open, nothing to decide"
    ));
    page.hint(&package.command(&["status"]));
    page.finish()?;
    Ok(exit::DONE)
}

/// The same revision again: what is undecided, and nothing else.
pub(crate) fn go_on(
    package: &Package,
    common: &Common,
    merger: &Merger,
    revision: &Revision,
    open: &OpenUpgrade,
) -> Result<u8> {
    let mut table = Table::lay(package, merger, revision.clone(), open.clone())?;
    if table.merged.results.has_errors() {
        print_errors(&table.merged.results, common)?;
        return Ok(exit::OPEN);
    }
    table.finish(&[], common)
}

/// An open upgrade with its conflicts.
pub(crate) struct Table<'t> {
    pub(crate) package: &'t Package,
    pub(crate) merger: &'t Merger,
    pub(crate) revision: Revision,
    /// The files, with local's lines where they have conflict markers.
    pub(crate) contents: Contents,
    /// The files with conflict markers, as they are.
    pub(crate) markers: Contents,
    merged: Merged,
    open: OpenUpgrade,
    notes: Vec<String>,
}

impl<'t> Table<'t> {
    fn lay(
        package: &'t Package,
        merger: &'t Merger,
        revision: Revision,
        open: OpenUpgrade,
    ) -> Result<Self> {
        let mut contents = package.contents.clone();
        let mut markers = Contents::new();
        for (path, bytes) in &mut contents {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            if path != KPTFILE && has_markers(text) {
                let local = without_markers(text, Side::Local);
                markers.insert(path.clone(), std::mem::replace(bytes, local.into_bytes()));
            }
        }
        let merged = merger.merge(&contents, Side::Local)?;
        Ok(Self {
            package,
            merger,
            revision,
            contents,
            markers,
            merged,
            open,
            notes: Vec::new(),
        })
    }

    /// What is undecided.
    fn undecided(&self) -> Vec<Conflict> {
        open_conflicts(&self.merged.results, &self.open)
    }

    /// The undecided conflicts that a pattern means.
    fn chosen(&self, patterns: &[String]) -> Result<Vec<Conflict>> {
        let mut all = self.undecided();
        for pattern in patterns {
            if !all.iter().any(|conflict| conflict.fits(pattern)) {
                let message = format!("no undecided conflict matches the pattern '{pattern}'");
                return Err(
                    Failure::new(message).hint(self.package.command(&["resolve", "--list"]))
                );
            }
        }
        let is_meant = |conflict: &Conflict| {
            patterns.is_empty() || patterns.iter().any(|pattern| conflict.fits(pattern))
        };
        all.retain(is_meant);
        Ok(all)
    }

    fn decide(&mut self, decisions: &[Decision], remember: bool) -> Result<()> {
        self.leave_markers(decisions)?;
        let chosen: Vec<&Conflict> = decisions
            .iter()
            .filter(|decision| decision.take == Take::Upstream)
            .map(|decision| &decision.conflict)
            .collect();
        if !chosen.is_empty() {
            self.contents = self.merger.take_upstream(&self.contents, &chosen)?;
        }
        let keys = decisions.iter().map(|decision| decision.conflict.key());
        self.open.decided.extend(keys);
        if remember {
            self.remember(decisions)?;
        }
        self.merged = self.merger.merge(&self.contents, Side::Local)?;
        // What upstream has now needs no record.
        let all: BTreeSet<String> = super::conflict::conflicts(&self.merged.results)
            .iter()
            .map(Conflict::key)
            .collect();
        self.open.decided.retain(|key| all.contains(key));
        Ok(())
    }

    /// Markers go where all conflicts of a file are decided for one side.
    fn leave_markers(&mut self, decisions: &[Decision]) -> Result<()> {
        let mut sides: BTreeSet<&str> = BTreeSet::new();
        for decision in decisions {
            let path = decision.conflict.file.as_str();
            if !self.markers.contains_key(path) {
                continue;
            }
            if decision.take == Take::File {
                let message = format!("'{path}' still has conflict markers (`<<<<<<< `)");
                return Err(Failure::new(message)
                    .hint(self.package.command(&["resolve", "--take", "local", path]))
                    .hint(
                        self.package
                            .command(&["resolve", "--take", "upstream", path]),
                    ));
            }
            sides.insert(path);
        }
        let undecided = self.undecided();
        for path in sides {
            let is_here = |conflict: &&Conflict| conflict.file == path;
            let all = undecided.iter().filter(is_here).count();
            let some = decisions.iter().filter(|d| d.conflict.file == path).count();
            if some < all {
                let message = format!(
                    "'{path}' has conflict markers: decide all its conflicts at once, or in the file"
                );
                return Err(Failure::new(message)
                    .hint(self.package.command(&["resolve", "--take", "local", path])));
            }
        }
        for decision in decisions {
            self.markers.remove(&decision.conflict.file);
        }
        Ok(())
    }

    /// Adds rules to the package, for later upgrades.
    fn remember(&mut self, decisions: &[Decision]) -> Result<()> {
        let known = remembered(&self.package.contents)?;
        let mut rules: Vec<Value> = Vec::new();
        for Decision { conflict, take } in decisions {
            if conflict.resource.is_none() && conflict.rule_path.is_none() {
                self.notes.push(format!(
                    "{}: not remembered: a rule can only take a side, not the file's value",
                    conflict.file
                ));
                continue;
            }
            let rule = conflict.rule(match take {
                Take::Upstream => "upstream",
                Take::Local | Take::File => "local",
            });
            if !known.contains(&rule) && !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        if rules.is_empty() {
            return Ok(());
        }
        let text = match self.contents.get(RULES) {
            Some(bytes) => with_rules(&String::from_utf8_lossy(bytes), rules)?,
            None => rules_text(Some("krmv"), rules),
        };
        self.contents.insert(RULES.to_owned(), text.into_bytes());
        Ok(())
    }

    /// Writes what was decided, and says what is left.
    fn finish(&mut self, decisions: &[Decision], common: &Common) -> Result<u8> {
        let undecided = self.undecided();
        let (lock, repository) = followed(self.package)?;
        let is_settled = undecided.is_empty() && self.markers.is_empty();
        let text = Package::kptfile(&self.contents);
        let text = if is_settled {
            let lock = kptfile::at(lock, &self.merger.path);
            kptfile::locked(&text, &lock.moved_to(repository, &self.revision))?
        } else {
            kptfile::decided(&text, &self.open)?
        };
        self.contents.insert(KPTFILE.to_owned(), text.into_bytes());
        self.contents.extend(std::mem::take(&mut self.markers));
        let changes = self.package.changes(&self.contents, &self.merged.modes);
        self.package.write(&changes)?;
        let has_markers = self
            .contents
            .values()
            .any(|bytes| std::str::from_utf8(bytes).is_ok_and(has_markers));
        if common.json {
            let open: Vec<_> = undecided.iter().map(conflict_json).collect();
            let json = json!({
                "path": self.package.name(),
                "to": self.revision.lock_ref,
                "conflicts": open,
                "decided": decisions.len(),
                "settled": is_settled,
            });
            to_stdout(&format!("{json}\n"))?;
        } else {
            self.report(&undecided, decisions, is_settled, has_markers, common)?;
        }
        Ok(if is_settled { exit::DONE } else { exit::OPEN })
    }

    fn report(
        &self,
        undecided: &[Conflict],
        decisions: &[Decision],
        is_settled: bool,
        has_markers: bool,
        common: &Common,
    ) -> Result<()> {
        let mut page = Page::new(common);
        let name = self.package.name();
        for take in [Take::Local, Take::Upstream, Take::File] {
            let count = decisions
                .iter()
                .filter(|decision| decision.take == take)
                .count();
            let side = match take {
                Take::Local => "kept your version",
                Take::Upstream => "took upstream's version",
                Take::File => "kept what the file has",
            };
            if count > 0 {
                page.line(format_args!(
                    "{} decided: {side}",
                    counted(count, "conflict")
                ));
            }
        }
        for note in &self.notes {
            page.wrapped(note, 2);
        }
        if is_settled {
            let done = page.styled(GREEN, "all decided");
            page.line(format_args!(
                "{done}: the lock of {name} is at {}",
                self.revision.lock_ref
            ));
            page.hint(&commit_command(self.package, &self.revision));
            return page.finish();
        }
        let count = format!("{} undecided", counted(undecided.len(), "conflict"));
        let count = page.styled(RED, count);
        page.line(format_args!(
            "{name}, upgrade to {}: {count}",
            self.revision.lock_ref
        ));
        let work_tree = (!has_markers).then_some(self.package.directory.as_path());
        page.conflicts(&grouped(undecided), work_tree, common.verbose);
        for hint in hints(self.package, undecided, has_markers) {
            page.hint(&hint);
        }
        page.finish()
    }
}

/// A ConflictRules with more rules at its end.
fn with_rules(text: &str, rules: Vec<Value>) -> Result<String> {
    let document = OwnedDocument::parse(text.to_owned())?;
    let Some(root) = document.root() else {
        return Ok(rules_text(Some("krmv"), rules));
    };
    let mut editor = Editor::new(document.document());
    match root
        .get("conflicts")
        .filter(|list| list.kind().is_sequence())
    {
        Some(list) if list.items().next().is_some() => {
            for rule in rules {
                editor.insert_item(list, None, Content::Value(rule))?;
            }
        }
        _ => editor.set(root, "conflicts", Content::Value(Value::Sequence(rules)))?,
    }
    Ok(editor.finish()?)
}
