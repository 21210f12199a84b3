//! Merges a package three-way: keeps local's changes since `original`, takes the changes of `upstream`, and reports
//! every field that both changed.
//!
//! ```yaml
//! spec:            # original     # local            # upstream         # merged
//!   replicas: 1                     replicas: 5         replicas: 1         replicas: 5
//!   image: app:1                    image: app:1        image: app:2        image: app:2
//! ```
//!
//! Source: contract, merge-package; pipeline document; merging-fields document.

pub mod config;
mod driver;
mod update;

use std::collections::BTreeSet;

use krm_core::config::enum_fields::names;
use krm_core::config::{API_VERSION, CONFIG_MAP, Key, Keys, UsageError};
use krm_core::resource::MERGE_SOURCE_ANNOTATION as MERGE_SOURCE;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::Results;
use krm_follow::outside_git;
use krm_function::package_revision::within;
use krm_function::supplied::{Role, SuppliedPackage, only_package};
use krm_function::{Function, Output, StepRun};
use krm_merge::OnConflict;
use krm_merge::package::Strategy;
use krm_upstream::SOURCES;
use krm_yaml::NodeRef;

use config::{Settings, read_options};
pub use driver::{ConflictStyle, merge_versions};
use update::Update;

/// The key `onConflict`, which every function that merges has.
pub const ON_CONFLICT: Key = Key {
    name: "onConflict",
    words: &names(&OnConflict::WORDS),
    help: "which side wins where both changed a value",
};

/// The key `strategy`; see [`ON_CONFLICT`].
pub const STRATEGY: Key = Key {
    name: "strategy",
    words: &names(&Strategy::WORDS),
    help: "as in kpt",
};

/// The key `combine`; see [`ON_CONFLICT`].
pub const COMBINE: Key = Key {
    name: "combine",
    words: &["image,list,text,document"],
    help: "what to merge part by part where both sides changed it; `none` for nothing",
};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "merge-package",
    about: "Merges a package three-way with a new upstream revision: keeps local changes, takes upstream's, and reports every value that both changed.",
    examples: &[
        "merge-package --package DIR --original v1 --upstream v2 --diff",
        "merge-package --package DIR --original v1 --upstream v2 onConflict=local",
        "merge-package --package DIR --upstream 'catalog//shop?ref=v2'",
        "merge-package --package DIR --original auto --upstream 'catalog//shop?ref=v2'",
    ],
    configs: &[(API_VERSION, "MergePackage"), CONFIG_MAP],
    roles: &[Role::Original, Role::Upstream],
    keys: Keys::These(&[
        ON_CONFLICT,
        STRATEGY,
        COMBINE,
        Key {
            name: "allowEmpty",
            words: &["false", "true"],
            help: "accept an empty upstream or original",
        },
        Key {
            name: "createKptfile",
            words: &["false", "true"],
            help: "create a Kptfile for the lock if the package has none (upstream from Git)",
        },
        Key {
            name: "conflictStyle",
            words: &names(&ConflictStyle::WORDS),
            help: "with --git-merge-driver: how a conflict looks in the file",
        },
    ]),
    uses_schema: true,
    sources: SOURCES,
    merge_driver: Some(driver::merge_file),
    step,
    ..Function::PLAIN
};

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    match read_options(run.config, run.supplied.conflicts.as_ref(), run.results)? {
        Some(settings) => merge(settings, run),
        None => Ok(Output::Edited),
    }
}

/// Merges local, the items, with the packages of the roles.
///
/// # Errors
/// [`UsageError`]: a role is filled twice or not at all, or a package cannot be read.
pub fn merge(settings: Settings, run: StepRun<'_>) -> Result<Output, UsageError> {
    let [original, upstream] = take_annotated(run.list, run.results)?;
    let given = |role| run.supplied.one(role);
    let upstream = source(Role::Upstream, given(Role::Upstream), upstream.as_ref())?;
    let follows = given(Role::Upstream).and_then(SuppliedPackage::upstream);
    let original = source(Role::Original, given(Role::Original), original.as_ref());
    let original = match (original, follows) {
        (Ok(_), _) if run.supplied.searches_original => {
            return Err(UsageError::expected(
                "role `original`",
                "one source for it",
                "`--original auto` and items",
            ));
        }
        (Err(_), Some(_)) if given(Role::Original).is_none() => None,
        (Err(_), None) if run.supplied.searches_original => {
            return Err(outside_git());
        }
        (original, _) => Some(original?),
    };
    let schema = run.supplied.schema()?;
    let update = Update {
        original,
        searches: run.supplied.searches_original.then_some(run.supplied),
        upstream,
        supplied: [given(Role::Original), given(Role::Upstream)],
        follows,
        settings,
        schema,
    };
    // Items that filled a role have been removed, so a PackageRevisionResources is the only item left.
    match only_package(run.list) {
        Some(item) => {
            let update = |package: &mut _, results: &mut _| update.run(package, results);
            within(item, run.list, run.results, update)?;
        }
        None => update.run(run.list, run.results)?,
    }
    Ok(Output::Edited)
}

/// The package of a role: a supplied input, or the items with the role's annotation.
fn source<'s>(
    role: Role,
    given: Option<&'s SuppliedPackage>,
    annotated: Option<&'s ResourceList>,
) -> Result<&'s ResourceList, UsageError> {
    match (given, annotated) {
        (Some(_), Some(_)) => Err(UsageError::expected(
            format_args!("role `{role}`"),
            "one source for it",
            format_args!("items annotated `{MERGE_SOURCE}` too"),
        )),
        (None, None) => Err(UsageError::expected(
            format_args!("role `{role}`"),
            format_args!(
                "a package (--{role} PATH, the field `{role}` of a MergePackage, or items annotated `{MERGE_SOURCE}`)"
            ),
            "none",
        )),
        (Some(package), None) => Ok(package.list()),
        (None, Some(list)) => Ok(list),
    }
}

/// Removes the items annotated as original and as upstream from the list, and returns them.
fn take_annotated(
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<[Option<ResourceList>; 2], UsageError> {
    let mut take = |word: &str, role| {
        let is = |node: NodeRef<'_>| {
            let found = node.get_path(&["metadata", "annotations", MERGE_SOURCE]);
            found.and_then(|value| value.as_str()) == Some(word)
        };
        let items = list.items_that_may_contain(&[MERGE_SOURCE]);
        let ids: BTreeSet<ItemId> = items
            .map(|(id, _)| id)
            .filter(|id| list.read(*id, is))
            .collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let taken = list.extract(&ids);
        // The only item may be a PackageRevisionResources, which contains the package.
        let package = SuppliedPackage::of_only_item(role, &taken, results)?;
        Ok(Some(package.map_or(taken, SuppliedPackage::into_list)))
    };
    Ok([
        take("original", Role::Original)?,
        take("updated", Role::Upstream)?,
    ])
}
