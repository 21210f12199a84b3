//! Merges packages: a plan first, then one place that changes the local package.
//!
//! In reading order: `incoming` leaves out what upstream must not bring, and `empty` refuses empty packages. `own_upstream`
//! finds sub-packages that are left unchanged, `links` symbolic links, `swapped` files that are
//! folders elsewhere, `lists` turns Lists into documents, and `texts` finds files that are not
//! YAML. `members` and `others` read the resources and other files of a package, and `packages` holds the three packages.
//! `default_paths` gives paths to resources without one. `plan` decides what happens to everything, with `local_changes`,
//! `subpackages`, `actions` for resources, `files` and `combined_file` for files that are not KRM, `heads`, `documents`,
//! `untouched` for parts that need no merge, `removed_comments`, and `places`. `merged_fields` and `apply` carry the plan
//! out, with `new_text`. `report` has the results, and `cut` shortens the values in them.
//!
//! Source: contract, merge-package.

mod actions;
mod apply;
mod combined_file;
mod default_paths;
mod documents;
mod empty;
mod files;
mod heads;
mod incoming;
mod links;
mod lists;
mod local_changes;
mod members;
mod merged_fields;
mod new_text;
mod others;
mod own_upstream;
mod packages;
mod places;
mod plan;
mod removed_comments;
mod report;
mod subpackages;
mod swapped;
mod texts;
mod untouched;

use super::combine::Combine;
use super::decided::ConflictRules;
use super::fields::Conflict;
use super::rule::OnConflict;
use krm_core::config::UsageError;
use krm_core::resource_list::{ItemId, RefusedWalks, ResourceList, with_definitions};
use krm_core::results::{FunctionResult, Results};
use krm_core::schema::Schema;
use krm_core::word_enum;
use krm_package::{Ignored, Incoming};

pub use empty::refuse_empty_upstream;
pub use incoming::decide_incoming;
pub use incoming::files_of;
pub use members::Members;
pub use members::same_document;
pub(crate) use members::without_own_fields;

use apply::PlanInputs;
use links::Links;
use own_upstream::OwnUpstream;
use packages::Packages;
use report::Report;
use swapped::SwappedPaths;

word_enum! {
    /// How a package is upgraded, with kpt's names and meanings.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Strategy {
        /// A three-way merge.
        #[default]
        ResourceMerge = "resource-merge",
        /// Take upstream's package, only if local has no changes.
        FastForward = "fast-forward",
        /// Replace local with upstream.
        ForceDeleteReplace = "force-delete-replace",
        /// Copy upstream over local. Everything that only local has is kept.
        CopyMerge = "copy-merge",
    }
}

impl Strategy {
    /// Whether upstream overwrites what local changed.
    fn overwrites_local(self) -> bool {
        matches!(self, Self::ForceDeleteReplace | Self::CopyMerge)
    }

    /// Whether everything that only local has is kept, even if the original had it.
    fn deletes_nothing(self) -> bool {
        self == Self::CopyMerge
    }

    /// Whether a local change is an error.
    fn refuses_local_changes(self) -> bool {
        self == Self::FastForward
    }
}

/// Reports the resources that are too long to be walked. Returns whether there are any.
fn refuse_walks(lists: &[&ResourceList], results: &mut Results) -> bool {
    let refused = RefusedWalks::of(lists).into_results();
    let is_any = !refused.is_empty();
    refused.into_iter().for_each(|result| results.push(result));
    is_any
}

/// The options of a merge.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeOptions {
    /// Which side wins a conflict.
    pub on_conflict: OnConflict,
    /// Whether this side also wins where a merge would keep what one side added to, or changed in, something that the
    /// other side removed.
    pub decides_all: bool,
    /// Whether it is a conflict if upstream changed a resource that local deleted. Otherwise the deletion is a decision.
    pub asks_about_deletions: bool,
    /// How local is upgraded.
    pub strategy: Strategy,
    /// Whether original and upstream may be empty.
    pub allow_empty: bool,
    /// The values that merge by their parts if both sides changed them.
    pub combine: Combine,
}

/// Whether a later step overwrites the place of a conflict in the merged resources.
pub type IsOverwritten<'m> = dyn Fn(&ResourceList, ItemId, &Conflict) -> bool + 'm;

/// What local is merged with, and how.
pub struct Merge<'m> {
    /// The revision that local was made from.
    pub original: &'m ResourceList,
    /// The upstream revision to upgrade to.
    pub upstream: &'m ResourceList,
    /// Conflict policy and strategy.
    pub options: MergeOptions,
    /// Rules that decide conflicts beforehand.
    pub rules: &'m ConflictRules,
    /// The schema of the types that are not described in the packages.
    pub schema: Schema,
    /// Fields of the merged package that a later step overwrites; conflicts there are not reported.
    pub is_overwritten: &'m IsOverwritten<'m>,
    /// How the user allows an empty original or upstream, for messages. `None` if they may be empty.
    pub allow_empty_by: Option<&'static str>,
    /// Whether the three are revisions of one package, so that no field of its Kptfile is kept as local has it.
    pub is_one_package: bool,
}

impl<'m> Merge<'m> {
    /// Merges revisions of one package, which may be empty.
    pub fn of_one_package(
        original: &'m ResourceList,
        upstream: &'m ResourceList,
        options: MergeOptions,
        rules: &'m ConflictRules,
    ) -> Self {
        Self {
            original,
            upstream,
            options,
            rules,
            schema: Schema::builtin(),
            is_overwritten: &|_, _, _| false,
            allow_empty_by: None,
            is_one_package: true,
        }
    }

    /// Merges upstream into the local package.
    ///
    /// # Errors
    /// [`UsageError`]: a file that can no longer be read.
    pub fn run(self, local: &mut ResourceList, results: &mut Results) -> Result<(), UsageError> {
        let lists = [self.original, &*local, self.upstream].into_iter();
        let ignored = Ignored::by(lists.filter_map(ResourceList::files)).map_err(UsageError::of)?;
        let incoming = if self.is_one_package {
            Incoming::default()
        } else {
            let [original, local, upstream] = [self.original, &*local, self.upstream].map(files_of);
            decide_incoming(Some(&original), &local, &upstream, results)?
        };
        let own_upstream = OwnUpstream::find(self.original, local);
        own_upstream.report(self.original, self.upstream, results);
        let links = Links::find(self.original, local, self.upstream);
        links.report(self.upstream, results);
        let swapped = SwappedPaths::find(self.original, local, self.upstream)?;
        let without = |list: &ResourceList| {
            let is_left_out = |path: &str| {
                incoming.refusal(path).is_some()
                    || own_upstream.has(path)
                    || links.has(path)
                    || swapped.has(path)
            };
            let list = match list.files() {
                Some(_) => list.without_files(|path| ignored.has(path) || is_left_out(path)),
                None => Ok(list.without_items_at(is_left_out)),
            };
            list.map_err(UsageError::of)
        };
        let (mut original, mut upstream) = (without(self.original)?, without(self.upstream)?);
        let lists = lists::files_to_unfold([self.original, local, self.upstream]);
        if !lists.is_empty() {
            lists::unfold(local, &lists).map_err(UsageError::of)?;
            for (copy, list) in [
                (&mut original, self.original),
                (&mut upstream, self.upstream),
            ] {
                let list = copy.take().map_or_else(|| list.copied(), Ok);
                let list = copy.insert(list.map_err(UsageError::of)?);
                lists::unfold(list, &lists).map_err(UsageError::of)?;
            }
        }
        let merge = Merge {
            original: original.as_ref().unwrap_or(self.original),
            upstream: upstream.as_ref().unwrap_or(self.upstream),
            ..self
        };
        merge.run_on(local, &own_upstream, &swapped, results)
    }

    /// Merges without what a `.krmignore` leaves out, and without what upstream must not bring. Local's own files of that kind count as files that only local has.
    fn run_on(
        self,
        local: &mut ResourceList,
        own_upstream: &OwnUpstream,
        swapped: &SwappedPaths,
        results: &mut Results,
    ) -> Result<(), UsageError> {
        if self.refuse_empty(local, results) {
            return Ok(());
        }
        if refuse_walks(&[self.original, local, self.upstream], results) {
            return Ok(());
        }
        let texts = self.text_files(local, results)?;
        // Local is compared with itself, as if it had no changes.
        let copy = self.options.strategy.overwrites_local().then(|| {
            let all: Vec<ItemId> = local.items().map(|(id, _)| id).collect();
            local.copies_of(&all)
        });
        let base = copy.as_ref().unwrap_or(self.original);
        let (original, upstream) = (self.original, self.upstream);
        let mut packages = Packages::read(base, local, original, upstream, &texts, own_upstream);
        if self.is_one_package {
            packages.root = None;
        }
        packages.count_duplicates_once(results);
        let mut report = Report::new(self.options, self.rules);
        swapped.report(&mut report);
        let Some(plan) = self.plan(&mut packages, &mut report, results)? else {
            return Ok(());
        };
        let lists = [packages.base.list, packages.local.list, self.upstream];
        let inputs = PlanInputs {
            in_files: packages.are_files(),
            schema: &with_definitions(self.schema, &lists),
            local: &packages.local.all,
            base: &packages.base,
            upstream: &packages.upstream,
            original: self.original,
            root: packages.root,
            identifies: packages.identifies,
        };
        plan.merge_fields(&inputs, local, self.is_overwritten, &mut report);
        plan.apply(&inputs, local, &mut report)?;
        // Before the summary, which depends on whether anything failed.
        for (id, error) in local.refused_removals() {
            results.push(FunctionResult::refused(&error).with_resource(local.resource(id)));
        }
        report.finish(results);
        Ok(())
    }
}
