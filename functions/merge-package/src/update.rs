//! Updates a package: merges it, and records the update in `upstreamLock`.

use super::config::Settings;
use krm_core::config::UsageError;
use krm_core::config::enum_fields::word;
use krm_core::kptfile::{root_kptfile, update_strategy};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::schema::Schema;
use krm_core::upstream_revision::{Locked, UpstreamRevision};
use krm_follow::{find_original, locked, make_kptfile, read_original, report_ignored, write_lock};
use krm_function::supplied::{Supplied, SuppliedPackage};
use krm_merge::package::{Merge, Strategy};
use krm_yaml::Path;

/// The packages to merge, and how to merge them.
pub(super) struct Update<'s> {
    /// The original revision; `None` if it must be found.
    pub(super) original: Option<&'s ResourceList>,
    /// `Some` if the original is to be found by the package's content instead of by the Kptfile's `upstreamLock`.
    pub(super) searches: Option<&'s Supplied>,
    /// The new upstream revision.
    pub(super) upstream: &'s ResourceList,
    /// Original and upstream as they were supplied; `None` if they are items.
    pub(super) supplied: [Option<&'s SuppliedPackage>; 2],
    /// The source of upstream; `None` if a Kptfile cannot record it.
    pub(super) follows: Option<&'s dyn UpstreamRevision>,
    pub(super) settings: Settings,
    pub(super) schema: Schema,
}

impl Update<'_> {
    /// Merges upstream, and updates the lock if a Kptfile can record upstream's source. A package that is already at
    /// upstream's revision is not changed.
    pub(super) fn run(
        self,
        local: &mut ResourceList,
        results: &mut Results,
    ) -> Result<(), UsageError> {
        let recorded;
        let [mut supplied_original, supplied_upstream] = self.supplied;
        let settings = self.settings;
        let mut options = settings.options;
        let original = match (self.original, self.follows, self.searches) {
            (Some(original), ..) => original,
            (None, None, _) => return Ok(()),
            (None, Some(upstream), Some(supplied)) => {
                let Some(found) = find_original(local, upstream, supplied, results)? else {
                    return Ok(());
                };
                recorded = found.package;
                supplied_original = Some(&recorded);
                recorded.list()
            }
            (None, Some(upstream), None) => match locked(local, upstream, results)? {
                Locked::Same | Locked::NotFound => return Ok(()),
                Locked::Absent(Some(mut error)) => {
                    error.message +=
                        "; --original PATH names it, --original auto finds it by its content";
                    results.push(*error);
                    return Ok(());
                }
                Locked::Absent(None) => {
                    let message = "expected the original revision (`upstreamLock` \
                                   in its Kptfile, or --original PATH), found none; --original auto finds \
                                   it in the repository by its content";
                    let result = FunctionResult::error(Reason::OriginalNotFound, message);
                    results.push(result.in_file("Kptfile"));
                    return Ok(());
                }
                Locked::Other(original) => {
                    if !settings.names_strategy {
                        options.strategy = recorded_strategy(local, results);
                    }
                    recorded = read_original(local, original, results)?;
                    supplied_original = Some(&recorded);
                    recorded.list()
                }
            },
        };
        if let (Some(original), Some(upstream)) = (supplied_original, supplied_upstream) {
            report_ignored(original, local, upstream, results)?;
        }
        let merge = Merge {
            original,
            upstream: self.upstream,
            options,
            rules: &settings.rules,
            schema: self.schema,
            is_overwritten: &|_, _, _| false,
            allow_empty_by: Some("`allowEmpty: true`"),
            is_one_package: false,
        };
        merge.run(local, results)?;
        if let Some(upstream) = self.follows.filter(|_| !results.has_errors()) {
            // The merge may have changed the Kptfile.
            local.apply_insertions().map_err(UsageError::of)?;
            if settings.creates_kptfile {
                make_kptfile(local, upstream)?;
            }
            write_lock(local, upstream, None, results);
        }
        Ok(())
    }
}

/// The strategy in the Kptfile, where kpt writes one. Reports an unknown one.
fn recorded_strategy(local: &ResourceList, results: &mut Results) -> Strategy {
    let kptfile = root_kptfile(local);
    let found = kptfile.and_then(|kptfile| local.read(kptfile, update_strategy));
    let Some(found) = found else {
        return Strategy::default();
    };
    word(&found, &Strategy::WORDS).unwrap_or_else(|message| {
        let default = Strategy::default();
        let message = format!("{message}: merged as `{}`", default.as_str());
        let result = FunctionResult::warning(Reason::IgnoredField, message);
        let path = Path::fields(&["upstream", "updateStrategy"]);
        results.push(result.in_file("Kptfile").with_field(&path));
        default
    })
}
