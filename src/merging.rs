//! Merges packages in memory, and applies single decisions to files that were merged before.
//!
//! A decision must not repeat the merge, because the user may have removed or rewritten parts of the files since. So
//! the merge runs twice: once with local's value at every conflict, and once with upstream's value at the decided
//! conflicts. Only the difference between the two results is applied to the files.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use krm_core::config::enum_fields::word;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_function::supplied::{Role, SuppliedPackage};
use krm_function::{DriverFiles, DriverOutcome, Inputs, Items, Outcome, SuppliedInput, run_step};
use krm_merge::markers::has_markers;
use krm_merge::package::{MergeOptions, Strategy};
use krm_merge::{Combine, ConflictRules, OnConflict, Side};
use krm_package::{Package, SkipReason, Skipped};
use krm_upstream::git::GitCommand;
use merge_package::config::Settings;
use merge_package::{ConflictStyle, merge_versions};

use super::client;
use super::conflict::ReportedConflict;
use super::failure::{Failure, Result};
use super::package::Contents;
use super::rendering::PackageRendering;

/// The inputs of a merge, except for the local files.
pub(crate) struct Merger {
    pub(crate) original: Arc<SuppliedPackage>,
    pub(crate) upstream: Arc<SuppliedPackage>,
    /// The local package, if it was parsed before; its files are not parsed again.
    pub(crate) local: Option<Arc<SuppliedPackage>>,
    /// `upstream.updateStrategy`.
    pub(crate) strategy: Option<String>,
    /// The user's conflict rules and guards, in order.
    pub(crate) rules: ConflictRules,
    /// The name of the file, if the package is a single file.
    pub(crate) file: Option<String>,
    /// The name that upstream's new revision gives the file, if the file has its old one: it is renamed.
    pub(crate) new_file: Option<String>,
    /// The path of the package in upstream.
    pub(crate) path: String,
    /// The siblings of a path with a version in its name that the new revision leaves as it was.
    pub(crate) siblings: Vec<String>,
    /// The random places of upstream that have the local values.
    pub(crate) kept: Vec<FunctionResult>,
    /// How the package is rendered.
    pub(crate) rendering: Option<PackageRendering>,
}

pub(crate) struct MergedPackage {
    pub(crate) contents: Contents,
    /// Permission bits of new files.
    pub(crate) modes: HashMap<String, u32>,
    pub(crate) results: Results,
    /// The package of a trial, for its review.
    pub(crate) package: Option<Arc<SuppliedPackage>>,
}

impl Merger {
    /// Merges a package; undecided conflicts get this side's value.
    pub(crate) fn merge(&self, local: &Contents, side: Side) -> Result<MergedPackage> {
        self.merge_by(local, side, self.rules.clone(), false)
    }

    /// Whether upstream has the files of the original.
    pub(crate) fn is_unchanging(&self) -> bool {
        let files = self.original.files().zip(self.upstream.files());
        files.is_some_and(|(old, new)| old.has_files_of(new))
    }

    /// Merges a package to count its conflicts, and to review it.
    pub(crate) fn merge_trial(&self, local: &Contents) -> Result<MergedPackage> {
        self.merge_by(local, Side::Local, self.rules.clone(), true)
    }

    /// The name of the file after the merge.
    pub(crate) fn merged_file(&self) -> Option<&String> {
        self.new_file.as_ref().or(self.file.as_ref())
    }

    /// The files with the file under the name that it has after the merge.
    fn with_new_name<'c>(&self, local: &'c Contents) -> Cow<'c, Contents> {
        let (Some(old), Some(new)) = (&self.file, &self.new_file) else {
            return Cow::Borrowed(local);
        };
        let mut local = local.clone();
        if !local.contains_key(new)
            && let Some(bytes) = local.remove(old)
        {
            local.insert(new.clone(), bytes);
        }
        Cow::Owned(local)
    }

    /// The files of a merged package that belong to it: all files, or its only file.
    pub(crate) fn own(&self, contents: &Contents) -> Contents {
        let mut own = contents.clone();
        if let Some(only) = self.merged_file() {
            own.retain(|path, _| path == only);
        }
        own
    }

    fn merge_by(
        &self,
        local: &Contents,
        side: Side,
        rules: ConflictRules,
        is_trial: bool,
    ) -> Result<MergedPackage> {
        let strategy = self.strategy.as_deref();
        let strategy = strategy
            .map(|found| word(found, &Strategy::WORDS))
            .transpose();
        let settings = Settings {
            options: MergeOptions {
                on_conflict: side.into(),
                decides_all: true,
                strategy: strategy.map_err(Failure::new)?.unwrap_or_default(),
                ..MergeOptions::default()
            },
            names_strategy: true,
            rules,
            ..Settings::default()
        };
        let package = |package: &Arc<SuppliedPackage>| SuppliedInput::Package(Arc::clone(package));
        let inputs = Inputs {
            supplied: vec![
                (Role::Original, package(&self.original)),
                (Role::Upstream, package(&self.upstream)),
            ],
            known: self.local.iter().map(Arc::clone).collect(),
            is_trial,
            ..Inputs::default()
        };
        let local = &*self.with_new_name(local);
        let file = self.merged_file();
        let mut items = local.clone();
        items.retain(|path, _| file.is_none_or(|file| file == path));
        let Outcome {
            items,
            modes,
            results,
            package,
            ..
        } = run_step(
            &merge_package::FUNCTION,
            |run| merge_package::merge(settings, run),
            inputs,
            Items::Package(items),
        )?;
        let Items::Package(mut contents) = items else {
            return Err(Failure::new(
                "expected a package from merge-package, found another form",
            ));
        };
        if let Some(file) = file {
            let others = local.iter().filter(|(path, _)| *path != file);
            contents.extend(others.map(|(path, bytes)| (path.clone(), bytes.clone())));
        }
        Ok(MergedPackage {
            contents,
            modes,
            results,
            package,
        })
    }

    /// Warns of files that are not read, and that a merge takes for deleted: those that only the new revision has as a
    /// Git LFS pointer or the like, and links of the user in the places of upstream's files.
    pub(crate) fn warn_of_skipped(&self, local: &[Skipped], results: &mut Results) {
        let none = Package::default();
        let [original, upstream] =
            [&self.original, &self.upstream].map(|package| package.files().unwrap_or(&none));
        let has = |skipped: &&Skipped| {
            let mut rests = original
                .files()
                .filter_map(|(path, _)| path.strip_prefix(&skipped.path));
            rests.any(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_new = |new: &&Skipped| {
            // The merge itself warns of what upstream must not bring, and of links.
            let is_known = original.skipped.iter().any(|old| old.path == new.path);
            let is_reported = new.reason.is_refusal() || new.reason == SkipReason::OtherLink;
            !is_known && !is_reported
        };
        let local = local
            .iter()
            .filter(has)
            .map(|skipped| ("your package", skipped));
        let upstream = upstream.skipped.iter().filter(is_new);
        let upstream = upstream.map(|skipped| ("upstream's revision", skipped));
        for (place, Skipped { path, reason }) in local.chain(upstream) {
            let message = format!("skipped in {place}: {reason}");
            let result = FunctionResult::warning(Reason::SkippedFile, message);
            results.push(result.in_file(path.clone()));
        }
    }

    /// The package with upstream's value at these conflicts, and nothing else changed.
    pub(crate) fn take_upstream(
        &self,
        local: &Contents,
        chosen: &[&ReportedConflict],
    ) -> Result<Contents> {
        let before = self.merge(local, Side::Local)?.contents;
        let places = chosen.iter().map(|conflict| conflict.rule_place());
        let rules = ConflictRules::deciding(places, OnConflict::Upstream, &self.rules);
        let rules = rules.map_err(Failure::new)?;
        let after = self.merge_by(local, Side::Local, rules, false)?.contents;
        let files: BTreeSet<&str> = chosen.iter().map(|conflict| conflict.file()).collect();
        let mut contents = local.clone();
        for path in files {
            let [own, old, new] = [local, &before, &after].map(|files| files.get(path));
            if old == new {
                let message = format!(
                    "'{path}': upstream's value cannot be taken on its own; edit the file, then keep your edit with --take file"
                );
                return Err(Failure::new(message));
            }
            match (own == old, new) {
                (true, Some(new)) => contents.insert(path.to_owned(), new.clone()),
                (true, None) => contents.remove(path),
                (false, new) => {
                    let merged = decision_alone(path, own, old, new)?;
                    contents.insert(path.to_owned(), merged)
                }
            };
        }
        Ok(contents)
    }
}

/// Merges a decision, the change from `old` to `new`, into a file that the user has edited since the upgrade.
fn decision_alone(
    path: &str,
    own: Option<&Vec<u8>>,
    old: Option<&Vec<u8>>,
    new: Option<&Vec<u8>>,
) -> Result<Vec<u8>> {
    let by_hand = || {
        let message =
            format!("'{path}' was edited since the upgrade: decide its conflict in the file");
        Failure::new(message)
    };
    let text = |bytes: Option<&Vec<u8>>| {
        let bytes = bytes.map(Vec::as_slice).unwrap_or_default();
        String::from_utf8(bytes.to_vec()).map_err(|_| by_hand())
    };
    let files = DriverFiles {
        original: text(old)?,
        local: text(own)?,
        upstream: text(new)?,
        path: path.to_owned(),
        labels: ["local", "upstream"].map(str::to_owned),
    };
    match merge_versions(
        &files,
        OnConflict::Local,
        Combine::default(),
        ConflictStyle::Value,
    )? {
        DriverOutcome::Merged { text, results } if !results.has_open_conflicts() => {
            Ok(text.into_bytes())
        }
        _ => Err(by_hand()),
    }
}

/// A file with Git's conflict markers around both sides' lines. `None` if it has no conflict or is not text.
pub(crate) fn with_markers(
    path: &str,
    versions: [Option<&Vec<u8>>; 3],
    label: &str,
) -> Result<Option<Vec<u8>>> {
    let text = |bytes: Option<&Vec<u8>>| {
        String::from_utf8(bytes.map(Vec::as_slice).unwrap_or_default().to_vec()).ok()
    };
    let [Some(original), Some(local), Some(upstream)] = versions.map(text) else {
        return Ok(None);
    };
    let files = DriverFiles {
        original,
        local,
        upstream,
        path: path.to_owned(),
        labels: ["local".to_owned(), label.to_owned()],
    };
    let style = ConflictStyle::Markers;
    let merged = merge_versions(&files, OnConflict::Local, Combine::default(), style)?;
    let mut marked = match merged {
        DriverOutcome::Merged { text, .. } => text,
        DriverOutcome::Unmerged(_) => lines_with_markers(&files)?,
    };
    // `without_markers` leaves out the line break, too.
    if marked.ends_with(&format!(">>>>>>> {label}\n")) && !files.local.ends_with('\n') {
        marked.pop();
    }
    Ok(has_markers(&marked).then(|| marked.into_bytes()))
}

/// Marks the conflicts of a text without resources with `git merge-file`.
fn lines_with_markers(files: &DriverFiles) -> Result<String> {
    let folder = tempfile::tempdir()?;
    for (name, text) in [
        ("local", &files.local),
        ("original", &files.original),
        ("upstream", &files.upstream),
    ] {
        std::fs::write(folder.path().join(name), text)?;
    }
    // The names of the sides come from data: they replace these labels in the output.
    let labels = ["krmv-label-local", "krmv-label-upstream"];
    let words = "merge-file -p -q -L krmv-label-local -L original -L krmv-label-upstream";
    let words: Vec<&str> = words.split(' ').collect();
    let names = ["local", "original", "upstream"].map(|name| folder.path().join(name));
    let command = GitCommand::new(&words).paths(names);
    let output = client::output(client::Place::Elsewhere, &command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let named = |line: &str| {
        for (label, name) in labels.into_iter().zip(&files.labels) {
            for marker in ["<<<<<<< ", ">>>>>>> "] {
                if line.trim_end() == format!("{marker}{label}") {
                    return line.replacen(label, name, 1);
                }
            }
        }
        line.to_owned()
    };
    Ok(text.split_inclusive('\n').map(named).collect())
}
