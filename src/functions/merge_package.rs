//! Merges a package three-way: what local changed since `original` stays, what `upstream` changed
//! arrives, and every place that both changed is a result.
//!
//! ```yaml
//! spec:            # original     # local            # upstream         # merged
//!   replicas: 1                     replicas: 5         replicas: 1         replicas: 5
//!   image: app:1                    image: app:1        image: app:2        image: app:2
//! ```
//!
//! Source: contract, merge-package; pipeline document; merging-fields document.

mod package_revision;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::config::{API_VERSION, UsageError, kind_of, typed, unexpected};
use crate::filter::{Function, Run};
use crate::merge::OnConflict;
use crate::merge::package::{Merge, MergeOptions, Source, Strategy};
use crate::resource::MERGE_SOURCE_ANNOTATION as MERGE_SOURCE;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::supplied::{Role, SuppliedPackage};
use crate::yaml::{NodeRef, Path};

use package_revision::{merge_package_revision, only_package};

/// The function, for its binary.
pub const FUNCTION: Function = Function {
    name: "merge-package",
    about: "Merges a package three-way: local changes stay, upstream's arrive, and every place that \
            both changed is reported.",
    roles: &[Role::Original, Role::Upstream],
    uses_schema: true,
    step,
};

/// The function's own config.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct MergePackage {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default, rename = "metadata")]
    _metadata: IgnoredAny,
    on_conflict: Option<String>,
    strategy: Option<String>,
    #[serde(default, rename = "original")]
    _original: IgnoredAny,
    #[serde(default, rename = "upstream")]
    _upstream: IgnoredAny,
}

#[derive(Debug, Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: Option<Scalars>,
}

/// The scalar fields of the config.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Scalars {
    on_conflict: Option<String>,
    strategy: Option<String>,
}

fn step(run: Run<'_>) -> Result<(), UsageError> {
    let Run {
        config,
        list,
        supplied,
        results,
    } = run;
    let options = read_options(config, results)?;
    let [original, upstream] = take_annotated(list, results)?;
    let given = |role| supplied.of(role).next();
    let original = source(Role::Original, given(Role::Original), original.as_ref())?;
    let upstream = source(Role::Upstream, given(Role::Upstream), upstream.as_ref())?;
    let schema = supplied.schema()?;
    let Some(options) = options else {
        return Ok(());
    };
    let merge = Merge {
        original,
        upstream,
        options,
        schema,
        is_overwritten: &|_, _| false,
    };
    match only_package(list) {
        Some(item) => merge_package_revision(item, merge, list, results),
        None => merge.run(list, results),
    }
}

/// What fills a role: a supplied input, or the items annotated so.
fn source<'s>(
    role: Role,
    given: Option<&'s SuppliedPackage>,
    annotated: Option<&'s Annotated>,
) -> Result<Source<'s>, UsageError> {
    match (given, annotated) {
        (Some(_), Some(_)) => Err(UsageError(format!(
            "role `{role}`: expected one way to fill it, found items annotated `{MERGE_SOURCE}` too"
        ))),
        (None, None) => Err(UsageError(format!(
            "role `{role}`: expected a package (--{role} PATH, the field `{role}` of a MergePackage, \
             or items annotated `{MERGE_SOURCE}`), found none"
        ))),
        (Some(package), None) => Ok(Source::Supplied(package)),
        (None, Some(Annotated::Items(list))) => Ok(Source::Items(list)),
        (None, Some(Annotated::Package(package))) => Ok(Source::Supplied(package)),
    }
}

/// The items of a role by annotation.
enum Annotated {
    Items(Box<ResourceList>),
    /// Of the only item, a PackageRevisionResources.
    Package(Box<SuppliedPackage>),
}

/// `None` if a word is not one of those allowed, which is an error result then.
fn read_options(
    config: Option<NodeRef<'_>>,
    results: &mut Results,
) -> Result<Option<MergeOptions>, UsageError> {
    const EXPECTED: &str = "a MergePackage (fn.kpt.dev/v1alpha1) or a ConfigMap (v1)";
    let (scalars, prefix) = match config {
        None => (Scalars::default(), None),
        Some(config) => match kind_of(config) {
            (API_VERSION, "MergePackage") => {
                let MergePackage {
                    on_conflict,
                    strategy,
                    ..
                } = typed(config)?;
                (
                    Scalars {
                        on_conflict,
                        strategy,
                    },
                    None,
                )
            }
            ("v1", "ConfigMap") => {
                let typed: ConfigMap = typed(config)?;
                (typed.data.unwrap_or_default(), Some("data"))
            }
            _ => return Err(unexpected(config, EXPECTED)),
        },
    };
    let mut options = MergeOptions::default();
    let mut valid = true;
    let mut refuse = |field: &str, found: &str, words: Vec<&str>| {
        valid = false;
        let message = format!("expected one of {}, found `{found}`", words.join(", "));
        let path = prefix
            .map_or(Path::root(), |prefix| Path::fields(&[prefix]))
            .field(field);
        results.push(FunctionResult::error(Reason::InvalidConfig, message).at(path));
    };
    if let Some(word) = &scalars.on_conflict {
        match OnConflict::WORDS.iter().find(|(known, _)| known == word) {
            Some((_, value)) => options.on_conflict = *value,
            None => refuse(
                "onConflict",
                word,
                OnConflict::WORDS.iter().map(|w| w.0).collect(),
            ),
        }
    }
    if let Some(word) = &scalars.strategy {
        match Strategy::WORDS.iter().find(|(known, _)| known == word) {
            Some((_, value)) => options.strategy = *value,
            None => refuse(
                "strategy",
                word,
                Strategy::WORDS.iter().map(|w| w.0).collect(),
            ),
        }
    }
    Ok(valid.then_some(options))
}

/// The items annotated as original and as upstream, out of the list.
fn take_annotated(
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<[Option<Annotated>; 2], UsageError> {
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
        let taken = list.take_out(&ids);
        Ok(Some(
            match SuppliedPackage::of_only_item(role, &taken, results)? {
                Some(package) => Annotated::Package(Box::new(package)),
                None => Annotated::Items(Box::new(taken)),
            },
        ))
    };
    Ok([
        take("original", Role::Original)?,
        take("updated", Role::Upstream)?,
    ])
}
