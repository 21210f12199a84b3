//! One update of a package: what it is merged with, and what is recorded of it.

use super::config::Settings;
use crate::config::UsageError;
use crate::functions::following::{
    Original, Recorded, Standing, find_original, make_kptfile, standing, write_lock,
};
use crate::kptfile::UpstreamLock;
use crate::merge::package::{Merge, Source, Strategy};
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};
use crate::schema::Schema;
use crate::supplied::GitOrigin;

/// What a package is merged with, and how.
pub(super) struct Update<'s> {
    /// What it is based on; `None` if it is to be found.
    pub(super) original: Option<Source<'s>>,
    /// Whether what the package holds shall tell the original, and not the Kptfile's `upstreamLock`.
    pub(super) searches: bool,
    /// The revision wanted.
    pub(super) upstream: Source<'s>,
    /// Where that is from, if it is a repository.
    pub(super) follows: Option<&'s GitOrigin>,
    pub(super) settings: Settings,
    pub(super) schema: Schema,
}

impl Update<'_> {
    /// Brings the package up to date, and its `upstreamLock` too where upstream is from Git. A
    /// package that is at the commit wanted is left alone.
    pub(super) fn run(
        self,
        local: &mut ResourceList,
        results: &mut Results,
    ) -> Result<(), UsageError> {
        let recorded;
        let Settings {
            mut options,
            names_strategy,
            creates_kptfile,
            rules,
        } = self.settings;
        let original = match (self.original, self.follows) {
            (Some(original), _) => original,
            (None, None) => return Ok(()),
            (None, Some(upstream)) if self.searches => {
                let Some(package) = find_original(local, upstream, results)? else {
                    return Ok(());
                };
                recorded = package;
                Source::Supplied(&recorded)
            }
            (None, Some(upstream)) => match standing(local, upstream, results)? {
                Standing::UpToDate | Standing::NotFound => return Ok(()),
                Standing::Unlocked => {
                    let message = "expected the revision that the package is based on (--original \
                                   PATH, or `upstreamLock` in its Kptfile), found none";
                    let result = FunctionResult::error(Reason::OriginalNotFound, message);
                    results.push(result.in_file("Kptfile"));
                    return Ok(());
                }
                Standing::Behind(original) => {
                    let Original { package, lock } = *original;
                    if !names_strategy {
                        options.strategy = strategy_of(&lock);
                    }
                    recorded = package;
                    Source::Supplied(&recorded)
                }
            },
        };
        let merge = Merge {
            original,
            upstream: self.upstream,
            options,
            rules: &rules,
            schema: self.schema,
            is_overwritten: &|_, _| false,
            allow_empty_by: "`allowEmpty: true`",
        };
        merge.run(local, results)?;
        if let Some(upstream) = self.follows.filter(|_| !results.has_errors()) {
            // What was merged may be the Kptfile.
            local
                .settle()
                .map_err(|error| UsageError(error.to_string()))?;
            if creates_kptfile {
                make_kptfile(local, upstream)?;
            }
            write_lock(local, upstream, Recorded::Kept, results);
        }
        Ok(())
    }
}

/// The strategy that a Kptfile asks for; kpt writes one into each.
fn strategy_of(lock: &UpstreamLock) -> Strategy {
    let word = lock.update_strategy.as_deref();
    let known = Strategy::WORDS
        .iter()
        .find(|(known, _)| Some(*known) == word);
    known.map(|(_, strategy)| *strategy).unwrap_or_default()
}
