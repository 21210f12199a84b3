//! `krmv resolve`: decides the conflicts of an open upgrade.
//!
//! The merge is repeated in memory to find the conflicts: the original is the locked revision, local is the files on
//! disk, and upstream is the revision of the open upgrade. A place is undecided if local and upstream differ from each
//! other and both differ from the original. So a user who gives a place upstream's value, or the original value,
//! decides it by that edit. Any other value needs `--take file` (or `--take local`, which has the same effect: the file
//! is unchanged).

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use krm_merge::markers::has_markers;
use krm_package::escaped::{ShownLine, StandardStream};
use krm_upstream::git::Revision;
use serde_json::json;

use super::cli::{Common, ResolveArguments, Take};
use super::conflict::ReportedConflict;
use super::failure::{Failure, Result};
use super::kptfile::{self, OpenUpgrade};
use super::merging::Merger;
use super::package::{KPTFILE, LocalPackage};
use super::print::{self, GREEN, Page, RED, counted, grouped};
use super::report::{commit_command, conflict_json, hints, print_errors};
use super::resolution::{Resolution, UserDecision};
use super::session::{FollowedPackage, followed};
use super::{exit, interactive};

pub(crate) fn run(resolve: &ResolveArguments, common: &Common) -> Result<u8> {
    let (directory, patterns) = arguments(&resolve.arguments);
    let package = LocalPackage::open(&directory)?;
    followed(&package)?;
    let Some(open) = package.tracking.open.clone() else {
        return nothing_open(&package, common);
    };
    let followed = FollowedPackage::open_cached(&package)?;
    let revision = followed.open_target(&open);
    let merger = followed.merger(&revision);
    let merger = merger.map_err(|error| Failure {
        // It fetches what is missing, and lists what is open.
        hints: vec![package.command(&["upgrade"])],
        ..error
    })?;
    let mut resolution = Resolution::open(&followed, &merger, &revision, open)?;
    if resolution.merged.results.has_errors() {
        return print_errors(&resolution.merged.results, common);
    }
    let chosen = resolution.chosen(&patterns)?;
    let is_terminal = io::stdin().is_terminal() && StandardStream::Output.is_terminal();
    let decisions = match resolve.take {
        Some(take) => {
            let decision = |conflict: ReportedConflict| UserDecision { conflict, take };
            chosen.into_iter().map(decision).collect()
        }
        None if is_terminal && !resolve.list && !common.json && !chosen.is_empty() => {
            let (decisions, edited) = interactive::ask(&resolution, &chosen, common)?;
            for (path, text) in edited {
                resolution.markers.remove(&path);
                resolution.contents.insert(path, text.into_bytes());
            }
            decisions
        }
        None => Vec::new(),
    };
    let is_asking = decisions.is_empty();
    if !is_asking {
        resolution.decide(&decisions, resolve.remember)?;
    }
    resolution.finish(&decisions, common)
}

/// Splits the arguments into the directory and the patterns.
fn arguments(arguments: &[String]) -> (PathBuf, Vec<String>) {
    match arguments.split_first() {
        Some((first, rest)) if Path::new(first).is_dir() => (PathBuf::from(first), rest.to_vec()),
        _ => (PathBuf::from("."), arguments.to_vec()),
    }
}

fn nothing_open(package: &LocalPackage, common: &Common) -> Result<u8> {
    let name = package.name();
    let document = || json!({"path": name, "conflicts": [], "decided": 0, "settled": true});
    print::answer(common, document, |page| {
        page.line(format_args!(
            "{name}: no upgrade is open, nothing to decide"
        ));
        page.hint(&package.command(&["status"]));
    })
}

/// Continues an open upgrade to the same revision: reports what is undecided, without a decision.
pub(crate) fn continue_upgrade(
    followed: &FollowedPackage<'_>,
    common: &Common,
    merger: &Merger,
    revision: &Revision,
    open: &OpenUpgrade,
) -> Result<u8> {
    let mut resolution = Resolution::open(followed, merger, revision, open.clone())?;
    if resolution.merged.results.has_errors() {
        return print_errors(&resolution.merged.results, common);
    }
    resolution.finish(&[], common)
}

impl Resolution<'_> {
    /// Writes the decisions, and reports the conflicts that are left.
    fn finish(&mut self, decisions: &[UserDecision], common: &Common) -> Result<u8> {
        let undecided = self.undecided();
        let (lock, origin) = followed(self.package)?;
        let is_settled = undecided.is_empty() && self.markers.is_empty();
        let text = LocalPackage::kptfile(&self.contents);
        let text = if is_settled {
            let lock = kptfile::at(lock, &self.merger.path);
            if let Some(rendering) = &self.merger.rendering {
                rendering.record(&mut self.contents, false);
            }
            let lock = lock.moved_to(origin.address(), self.revision);
            kptfile::locked(&text, &lock, &self.package.surroundings())?
        } else {
            kptfile::decided(&text, &self.open, &self.package.surroundings())?
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
            let open = undecided.iter().map(|conflict| {
                let mut json = conflict_json(conflict);
                json["lastChanged"] = json!(self.histories.of_conflict(conflict));
                json
            });
            let open: Vec<_> = open.collect();
            let json = json!({
                "path": self.package.name(),
                "to": self.revision.lock_ref,
                "conflicts": open,
                "decided": decisions.len(),
                "settled": is_settled,
            });
            print::json(&json)?;
        } else {
            self.report(&undecided, decisions, is_settled, has_markers, common)?;
        }
        Ok(exit::open_if(!is_settled))
    }

    fn report(
        &self,
        undecided: &[ReportedConflict],
        decisions: &[UserDecision],
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
            if count > 0 {
                let count = counted(count, "conflict");
                page.line(format_args!("{count} decided: {}", take.done()));
            }
        }
        for note in &self.notes {
            page.wrapped(note, 2);
        }
        if is_settled {
            let done = page.styled(GREEN, "All conflicts are decided.");
            let lock = format!(" {name} is now at {}.", self.revision_name);
            page.line(ShownLine::of(&[&done, &lock]));
            page.hint(&commit_command(self.package, &self.revision_name, None)?);
            return page.finish();
        }
        let count = format!("{} undecided", counted(undecided.len(), "conflict"));
        let count = page.styled(RED, count);
        let upgrade = format!("{name}, upgrade to {}: ", self.revision_name);
        page.line(ShownLine::of(&[&upgrade, &count]));
        let history = |conflict: &ReportedConflict| {
            if has_markers {
                Vec::new()
            } else {
                self.histories.of_conflict(conflict).lines()
            }
        };
        page.conflicts(&grouped(undecided), history, common.verbose);
        for hint in hints(self.package, undecided, has_markers) {
            page.hint(&hint);
        }
        page.finish()
    }
}
