//! The conflicts of an open upgrade, and the effect of decisions on the files in memory. Nothing is written here.

use std::collections::BTreeSet;

use krm_merge::Side;
use krm_merge::markers::{has_markers, without_markers};
use krm_upstream::git::Revision;
use krm_yaml::{Content, Editor, OwnedDocument, Value};

use super::cli::Take;
use super::conflict::{ReportedConflict, conflicts, undecided};
use super::failure::{Failure, Result};
use super::field_history::ConflictHistories;
use super::kptfile::OpenUpgrade;
use super::merging::{MergedPackage, Merger};
use super::package::{Contents, KPTFILE, LocalPackage, RULES};
use super::policy;
use super::session::FollowedPackage;

/// The user's decision about one conflict.
#[derive(Debug, Clone)]
pub(crate) struct UserDecision {
    pub(crate) conflict: ReportedConflict,
    pub(crate) take: Take,
}

/// An open upgrade with its conflicts.
pub(crate) struct Resolution<'t> {
    pub(crate) package: &'t LocalPackage,
    pub(crate) merger: &'t Merger,
    pub(crate) revision: &'t Revision,
    /// Its name for a person.
    pub(crate) revision_name: String,
    /// The files, with local's lines in place of conflict markers.
    pub(crate) contents: Contents,
    /// The files with conflict markers, as they are on disk.
    pub(crate) markers: Contents,
    pub(super) merged: MergedPackage,
    pub(super) open: OpenUpgrade,
    pub(super) histories: ConflictHistories<'t>,
    /// Notes for the user about decisions that cannot be remembered.
    pub(super) notes: Vec<String>,
}

impl<'t> Resolution<'t> {
    pub(super) fn open(
        followed: &'t FollowedPackage<'t>,
        merger: &'t Merger,
        revision: &'t Revision,
        open: OpenUpgrade,
    ) -> Result<Self> {
        let package = followed.package;
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
            revision_name: followed.shown_name(revision),
            histories: ConflictHistories::of(followed, revision, &merger.path),
            notes: Vec::new(),
        })
    }

    pub(super) fn undecided(&self) -> Vec<ReportedConflict> {
        undecided(conflicts(&self.merged.results), &self.open.decided)
    }

    /// The undecided conflicts that match a pattern. All of them if there are no patterns.
    pub(super) fn chosen(&self, patterns: &[String]) -> Result<Vec<ReportedConflict>> {
        let mut all = self.undecided();
        for pattern in patterns {
            if !all.iter().any(|conflict| conflict.fits(pattern)) {
                let message = format!("no undecided conflict matches the pattern '{pattern}'");
                return Err(
                    Failure::new(message).hint(self.package.command(&["resolve", "--list"]))
                );
            }
        }
        let is_meant = |conflict: &ReportedConflict| {
            patterns.is_empty() || patterns.iter().any(|pattern| conflict.fits(pattern))
        };
        all.retain(is_meant);
        Ok(all)
    }

    pub(super) fn decide(&mut self, decisions: &[UserDecision], remember: bool) -> Result<()> {
        self.drop_decided_markers(decisions)?;
        let chosen: Vec<&ReportedConflict> = decisions
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
        // A place that now has upstream's value is no longer a conflict, so its decision needs no record.
        let all: BTreeSet<String> = conflicts(&self.merged.results)
            .iter()
            .map(ReportedConflict::key)
            .collect();
        self.open.decided.retain(|key| all.contains(key));
        Ok(())
    }

    /// Drops the markers of a file whose conflicts all keep your version or upstream's. An error if only some are
    /// decided, or if the file with its markers is to be kept.
    fn drop_decided_markers(&mut self, decisions: &[UserDecision]) -> Result<()> {
        let mut sides: BTreeSet<&str> = BTreeSet::new();
        for decision in decisions {
            let path = decision.conflict.file();
            if !self.markers.contains_key(path) {
                continue;
            }
            if decision.take == Take::File {
                let message = format!("'{path}' still has conflict markers (`<<<<<<< `)");
                return Err(Failure::new(message)
                    .hint(self.package.take_command("local", path))
                    .hint(self.package.take_command("upstream", path)));
            }
            sides.insert(path);
        }
        let undecided = self.undecided();
        for path in sides {
            let is_here = |conflict: &&ReportedConflict| conflict.file() == path;
            let all = undecided.iter().filter(is_here).count();
            let some = decisions
                .iter()
                .filter(|d| d.conflict.file() == path)
                .count();
            if some < all {
                let message = format!(
                    "'{path}' has conflict markers: decide all its conflicts at once, or in the file"
                );
                return Err(Failure::new(message).hint(self.package.take_command("local", path)));
            }
        }
        for decision in decisions {
            self.markers.remove(decision.conflict.file());
        }
        Ok(())
    }

    /// Adds rules to the package, for later upgrades.
    fn remember(&mut self, decisions: &[UserDecision]) -> Result<()> {
        let known = policy::written_rules(&self.package.contents)?;
        let mut rules: Vec<Value> = Vec::new();
        for UserDecision { conflict, take } in decisions {
            if conflict.0.resource.is_none() && conflict.0.rule_path.is_none() {
                self.notes.push(format!(
                    "{}: not remembered: a rule can only take a side, not the file's value",
                    conflict.file()
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
            None => policy::text(rules),
        };
        self.contents.insert(RULES.to_owned(), text.into_bytes());
        Ok(())
    }
}

/// Appends rules to a policy.
fn with_rules(text: &str, rules: Vec<Value>) -> Result<String> {
    let document = OwnedDocument::parse_resource(text.to_owned())?;
    let Some(root) = document.root() else {
        return Ok(policy::text(rules));
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
