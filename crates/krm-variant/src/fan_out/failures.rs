//! Collects the failures of targets as results.

use std::hash::RandomState;

use indexmap::IndexMap;

use super::select::Candidate;
use crate::template::TemplateFailure;
use krm_core::results::{FunctionResult, Reason};

/// Failures of targets. Failures with the same field and reason are combined into one result.
#[derive(Default)]
pub(super) struct Failures {
    results: IndexMap<(Option<String>, String), (FunctionResult, usize), RandomState>,
}

impl Failures {
    pub(super) fn add(&mut self, candidate: &Candidate<'_>, failure: TemplateFailure) {
        let mut result = *failure.result;
        // An expression fails at its own field. A missing repository is the same failure for all targets that need
        // it.
        let by_reason = result
            .tags
            .first()
            .map(|(_, reason)| reason.clone())
            .unwrap_or_default();
        let key = match by_reason.as_str() {
            reason if reason == Reason::RepositoryNotFound.as_str() => {
                (None, result.message.to_string())
            }
            _ => (result.field.clone(), by_reason),
        };
        if let Some((_, more)) = self.results.get_mut(&key) {
            *more += 1;
            return;
        }
        if result.field.as_deref() != Some(&candidate.place.path().to_string()) {
            let Candidate { repo, package, .. } = candidate;
            result.message += &format!(" (for repository `{repo}`, package `{package}`)");
        }
        self.results.insert(key, (result, 0));
    }

    /// Adds the failures to the findings of the set, unless a finding already reports the same field or a part of it.
    pub(super) fn add_to(self, findings: &mut Vec<FunctionResult>) {
        let fields: Vec<String> = findings
            .iter()
            .filter_map(|one| one.field.clone())
            .collect();
        let is_known = |result: &FunctionResult| {
            let field = result.field.as_deref().unwrap_or_default();
            let in_template = field.contains(".template.");
            in_template && fields.iter().any(|known| known.starts_with(field))
        };
        let new = self
            .results
            .into_values()
            .filter(|(result, _)| !is_known(result));
        findings.extend(new.map(|(mut result, more)| {
            if more > 0 {
                result.message += &format!("; and for {more} more targets");
            }
            result
        }));
    }
}
