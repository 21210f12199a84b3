//! Failures of targets, as results.

use std::collections::HashMap;

use super::select::Candidate;
use crate::results::{FunctionResult, Reason};
use crate::variant::template::Failure;

/// Failures of targets; those with the same field and reason are one result.
#[derive(Default)]
pub(super) struct Failures {
    results: Vec<(FunctionResult, usize)>,
    known: HashMap<(Option<String>, String), usize>,
}

impl Failures {
    pub(super) fn add(&mut self, candidate: &Candidate<'_>, failure: Failure) {
        let mut result = *failure.result;
        // An expression fails at its own field, and a repository is missing for all alike.
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
        match self.known.get(&key) {
            Some(index) => self.results[*index].1 += 1,
            None => {
                if result.field.as_deref() != Some(&candidate.place.path().to_string()) {
                    let Candidate { repo, package, .. } = candidate;
                    result.message += &format!(" (for repository `{repo}`, package `{package}`)");
                }
                self.known.insert(key, self.results.len());
                self.results.push((result, 0));
            }
        }
    }

    pub(super) fn into_results(self) -> impl Iterator<Item = FunctionResult> {
        self.results.into_iter().map(|(mut result, more)| {
            if more > 0 {
                result.message += &format!("; and for {more} more targets");
            }
            result
        })
    }
}
