//! The results of a run.

use std::collections::BTreeMap;

use super::{FunctionResult, Severity};

/// How many results of one severity and reason are listed at most.
///
/// No one reads more of one kind, and a file of some megabytes can have millions of conflicts.
pub const MOST_LISTED: usize = 10_000;

/// All results of a run, in the order in which they were found.
///
/// Of one severity and reason, 10,000 results are listed, and one more that counts the others
/// ([`FunctionResult::more`]).
#[derive(Debug, Default)]
pub struct Results {
    listed: Vec<FunctionResult>,
    /// By severity and reason.
    kinds: BTreeMap<(Severity, Option<String>), ListedKind>,
}

/// The listed results of one severity and reason.
#[derive(Debug, Default)]
struct ListedKind {
    count: usize,
    /// The index of the last listed one.
    last: usize,
}

impl Extend<FunctionResult> for Results {
    fn extend<I: IntoIterator<Item = FunctionResult>>(&mut self, results: I) {
        results.into_iter().for_each(|result| self.push(result));
    }
}

impl FromIterator<FunctionResult> for Results {
    fn from_iter<I: IntoIterator<Item = FunctionResult>>(results: I) -> Self {
        let mut all = Self::default();
        all.extend(results);
        all
    }
}

impl Results {
    pub fn push(&mut self, result: FunctionResult) {
        let reason = result.reason().map(str::to_owned);
        let kind = self.kinds.entry((result.severity, reason)).or_default();
        if kind.count > MOST_LISTED {
            self.listed[kind.last].more += 1 + result.more;
            return;
        }
        kind.count += 1;
        kind.last = self.listed.len();
        self.listed.push(result);
    }

    /// Adds the results of another list after these.
    pub fn append(&mut self, others: Self) {
        self.extend(others.listed);
    }

    /// Whether there is an error, so that the run failed.
    pub fn has_errors(&self) -> bool {
        self.iter().any(|result| result.severity == Severity::Error)
    }

    /// How many results there are, including those that are not listed.
    pub fn len(&self) -> usize {
        self.iter().map(|result| 1 + result.more).sum()
    }

    /// Whether there are conflicts that no rule decided.
    pub fn has_open_conflicts(&self) -> bool {
        self.iter().any(FunctionResult::is_open_conflict)
    }

    /// Whether there are no results.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, FunctionResult> {
        self.listed.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, FunctionResult> {
        self.listed.iter_mut()
    }

    /// The listed results, grouped by file. Results that name no file come first.
    pub fn by_file(self) -> Vec<FunctionResult> {
        fn path(result: &FunctionResult) -> Option<&str> {
            result.file.as_ref().map(|(path, _)| &**path)
        }
        let mut listed = self.listed;
        listed.sort_by(|a, b| path(a).cmp(&path(b)));
        listed
    }
}

impl<'a> IntoIterator for &'a Results {
    type Item = &'a FunctionResult;
    type IntoIter = std::slice::Iter<'a, FunctionResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Reason;

    #[test]
    fn too_many_of_one_kind_are_counted() {
        let mut results = Results::default();
        for number in 0..MOST_LISTED + 5 {
            results.push(FunctionResult::info(format!("info {number}")));
            results.push(FunctionResult::error(Reason::NotWritten, "a"));
        }
        results.push(FunctionResult::error(Reason::InvalidValue, "b"));
        assert_eq!(results.len(), 2 * (MOST_LISTED + 5) + 1);
        let mut again = Results::default();
        let listed = results.by_file();
        assert_eq!(listed.len(), 2 * (MOST_LISTED + 1) + 1);
        listed.into_iter().for_each(|result| again.push(result));
        assert_eq!(again.len(), 2 * (MOST_LISTED + 5) + 1);
        let mut infos = again.iter().filter(|r| r.severity == Severity::Info);
        let last = infos.next_back().expect("infos");
        assert_eq!(last.text(), "info 10000, and 4 more like this");
    }
}
