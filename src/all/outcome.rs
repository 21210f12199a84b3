//! What became of each package, as one line for a person or as JSON.

use std::collections::BTreeMap;

use krm_package::escaped::ShownLine;
use serde::Serialize;
use serde_json::json;

use super::super::cli::Common;
use super::super::exit;
use super::super::failure::{Failure, Hint, Result};
use super::super::print::{self, BOLD, GREEN, Page, RED, YELLOW, counted};
use super::super::upgrade::{MergedUpgrade, Task};
use super::{on_branch_hint, short};

/// What became of a package. The order is that of the counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    Upgraded,
    /// With conflicts that the user has to decide.
    Undecided,
    UpToDate,
    /// A release is newer, but changes nothing in the package.
    Unchanged,
    /// Its upstream was not asked.
    NotContacted,
    #[default]
    Failed,
}

impl State {
    /// How the last line counts packages of this state.
    fn counted(self, is_dry: bool) -> &'static str {
        match self {
            Self::Upgraded if is_dry => "would be upgraded",
            Self::Upgraded => "upgraded",
            Self::Undecided => "with undecided conflicts",
            Self::UpToDate => "up to date",
            Self::Unchanged => "without a change in a newer release",
            Self::NotContacted => "not contacted",
            Self::Failed => "failed",
        }
    }
}

#[derive(Default, Serialize)]
pub(super) struct PackageOutcome {
    pub(super) path: String,
    pub(super) state: State,
    /// The revision in the lock before.
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    /// The number of undecided conflicts.
    pub(super) conflicts: usize,
    /// The review, in Markdown.
    pub(super) review: String,
    pub(super) branch: Option<String>,
    pub(super) commit: Option<String>,
    /// Whether an earlier run had done the same.
    #[serde(rename = "asBefore")]
    pub(super) is_as_before: bool,
    pub(super) message: Option<String>,
    pub(super) hints: Vec<Hint>,
}

impl PackageOutcome {
    pub(super) fn new(path: String, state: State) -> Self {
        Self {
            path,
            state,
            ..Self::default()
        }
    }

    pub(super) fn failed(path: String, failure: Failure) -> Self {
        Self {
            message: Some(failure.message),
            hints: failure.hints,
            ..Self::new(path, State::Failed)
        }
    }

    pub(super) fn merged(task: &Task<'_>, merged: &MergedUpgrade) -> Self {
        let state = if merged.open.is_empty() {
            State::Upgraded
        } else {
            State::Undecided
        };
        let resolve = || task.package.command(&["resolve"]);
        let is_hinted = state == State::Undecided && !task.upgrade.dry_run;
        let [from, to] = task.step(&merged.merger.path);
        Self {
            from,
            to,
            conflicts: merged.open.len(),
            hints: is_hinted.then(resolve).into_iter().collect(),
            ..Self::new(task.package.name(), state)
        }
    }

    /// The outcome on a branch: what the hints name is there.
    pub(super) fn on(mut self, branch: &str) -> Self {
        let hints = self.hints.iter();
        self.hints = hints.map(|hint| on_branch_hint(branch, hint)).collect();
        self.branch = Some(branch.to_owned());
        self
    }

    /// What the user has to do about the package.
    fn write_to(&self, page: &mut Page) {
        if self.hints.is_empty() && self.message.is_none() {
            return;
        }
        let path = page.styled(BOLD, &self.path);
        let what = match (&self.message, self.state) {
            (Some(message), State::Failed) => page.styled(RED, message),
            (Some(message), _) => page.styled(YELLOW, message),
            (None, _) => page.styled(YELLOW, self.undecided()),
        };
        page.wrapped(ShownLine::of(&[&path, &": ", &what]), 2);
        for hint in &self.hints {
            page.hint(hint);
        }
    }

    fn undecided(&self) -> String {
        format!("{} undecided", counted(self.conflicts, "conflict"))
    }

    /// What became of the package.
    fn line(&self, page: &Page) -> ShownLine {
        let step = match (&self.from, &self.to) {
            (Some(from), Some(to)) => format!("{from} -> {to}"),
            (None, Some(name)) | (Some(name), None) => name.clone(),
            (None, None) => String::new(),
        };
        let what = match self.state {
            State::Upgraded => page.styled(GREEN, &step),
            State::Undecided => {
                let undecided = page.styled(YELLOW, self.undecided());
                ShownLine::of(&[&step, &", ", &undecided])
            }
            State::UpToDate => ShownLine::of(&[&"up to date, at ", &step]),
            State::Unchanged => ShownLine::of(&[&step, &" changes nothing here"]),
            State::NotContacted => ShownLine::of(&[&"not contacted"]),
            State::Failed => page.styled(RED, "failed"),
        };
        let mut line = ShownLine::of(&[&page.styled(BOLD, &self.path), &": ", &what]);
        let commit = self.commit.as_ref();
        let commit = commit.map(|commit| format!("commit {}", short(commit)));
        let branch = self.branch.as_ref().map(|branch| format!("on {branch}"));
        let before = self.is_as_before.then(|| "as before".to_owned());
        let commit = commit.filter(|_| branch.is_none());
        for part in [branch, commit, before].into_iter().flatten() {
            line.push(&format_args!(", {part}"));
        }
        line
    }
}

/// Prints one line for each package, and the counts. Returns the exit code.
pub(super) fn finish(outcomes: &[PackageOutcome], is_dry: bool, common: &Common) -> Result<u8> {
    let mut counts: BTreeMap<State, usize> = BTreeMap::new();
    for outcome in outcomes {
        *counts.entry(outcome.state).or_default() += 1;
    }
    let document = || json!({"packages": outcomes, "counts": counts});
    print::answer(common, document, |page| {
        for outcome in outcomes {
            outcome.write_to(page);
        }
        for outcome in outcomes {
            page.line(outcome.line(page));
        }
        let listed = counts.iter();
        let listed: Vec<String> = listed
            .map(|(state, count)| format!("{count} {}", state.counted(is_dry)))
            .collect();
        let all = counted(outcomes.len(), "package");
        page.wrapped(format_args!("{all}: {}", listed.join(", ")), 2);
    })?;
    Ok(code(outcomes))
}

fn code(outcomes: &[PackageOutcome]) -> u8 {
    let has = |state: State| outcomes.iter().any(|outcome| outcome.state == state);
    if has(State::Failed) {
        return exit::USAGE;
    }
    exit::open_if(has(State::Undecided))
}
