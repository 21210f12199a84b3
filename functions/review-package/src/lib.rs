//! Reports what a change to a package means for the cluster that it is applied to.
//!
//! ```yaml
//! kind: StatefulSet          # before        # items        # result
//! spec:
//!   serviceName:               db              db-headless     blocking: the field is immutable
//!   replicas:                  3               0               dangerous: no pods run
//! ```
//!
//! Source: contract, review-package.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use krm_core::config::enum_fields::names;
use krm_core::config::{
    API_VERSION, CONFIG_MAP, EnumFields, Key, Keys, Scalars, UsageError, typed_config,
};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results, listed};
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_function::{Function, OnPackage, Output, ReviewFormats, StepRun};
use krm_review::{Release, Review, ReviewInput, ReviewedPairs, Risk, UpstreamChange, report};
use krm_upstream::SOURCES;
use krm_yaml::NodeRef;

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "review-package",
    about: "Reports what a change to a package means for the cluster: what the API server refuses, what is dangerous, and what is worth a look. It changes nothing.",
    examples: &[
        "review-package --package DIR --before v1",
        "review-package --package DIR --before './/DIR?ref=HEAD'",
        "review-package --package DIR --before OLD --original v1 --upstream v2",
        "review-package --package DIR --before OLD --format markdown",
        "review-package --package DIR --before OLD failOn=blocking",
    ],
    configs: &[(API_VERSION, "ReviewPackage"), CONFIG_MAP],
    roles: &[Role::Before, Role::Original, Role::Upstream],
    keys: Keys::These(&[
        Key {
            name: FAIL_ON,
            words: &names(&RISKS),
            help: "the lowest risk that is an error",
        },
        Key {
            name: KUBERNETES_VERSION,
            words: &["none"],
            help: "the Kubernetes release, such as 1.34, that must serve every API version",
        },
    ]),
    uses_schema: true,
    sources: SOURCES,
    on_package: OnPackage::Reviews(&ReviewFormats {
        text: report::text,
        markdown: report::markdown,
        is_finding: report::is_finding,
    }),
    step,
    ..Function::PLAIN
};

const FAIL_ON: &str = "failOn";
const KUBERNETES_VERSION: &str = "kubernetesVersion";

typed_config! {
    #[derive(Debug, Deserialize)]
    pub struct ReviewPackage ignores before, original, upstream {
        fail_on: Option<String>,
        // Its source text counts, because as a number `1.30` would be `1.3`.
        #[cfg_attr(feature = "schema", schemars(with = "Option<Written>"))]
        kubernetes_version: Option<IgnoredAny>,
    }
}

/// A version, quoted or as a number.
#[cfg(feature = "schema")]
#[allow(dead_code)]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
enum Written {
    Text(String),
    Number(f64),
}

/// What the user asks of a review.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReviewOptions {
    /// The lowest risk that is an error; `None` if none is.
    pub fail_on: Option<Risk>,
    /// The Kubernetes release that must serve every API version.
    pub release: Option<Release>,
}

/// The risks that can be an error, by their words.
pub const RISKS: [(&str, Option<Risk>); 3] = [
    ("never", None),
    ("dangerous", Some(Risk::Dangerous)),
    ("blocking", Some(Risk::Blocking)),
];

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    match read_options(run.config, run.results)? {
        Some(options) => report_change(options, run),
        None => Ok(Output::Edited),
    }
}

/// Reports the change between the package of the role `before` and the items.
///
/// # Errors
/// [`UsageError`]: a role is missing, or a CustomResourceDefinition cannot be read.
pub fn report_change(options: ReviewOptions, run: StepRun<'_>) -> Result<Output, UsageError> {
    let [before, original, upstream] = packages(run.supplied)?;
    let before =
        before.ok_or_else(|| Role::Before.missing("the package as it was", "ReviewPackage"))?;
    let upstream = match (original, upstream) {
        (Some(original), Some(upstream)) => Some(UpstreamChange {
            original: original.list(),
            upstream: upstream.list(),
        }),
        (None, None) => None,
        (found, _) => {
            let (found, other) = match found {
                Some(_) => (Role::Original, Role::Upstream),
                None => (Role::Upstream, Role::Original),
            };
            return Err(UsageError::expected(
                format_args!("role `{other}`"),
                format_args!("a package as well as that of role `{found}`"),
                "none",
            ));
        }
    };
    let schema = run.supplied.schema_with_crds(run.list)?;
    let packages = ReviewInput {
        before: before.list(),
        after: run.list,
        upstream,
    };
    match Review::of(packages, &schema, options.release) {
        Ok(review) => {
            review.report(options.fail_on, run.results);
            report_unread_files(before.list(), run.list, run.results);
        }
        Err(refused) => refused
            .into_iter()
            .for_each(|result| run.results.push(result)),
    }
    Ok(Output::Edited)
}

/// How many files that `.krmignore` excludes are named.
const MOST_NAMED: usize = 16;

/// Names the files that the review does not look at: changed ones that are not YAML, and those that `.krmignore` excludes
/// and that are not read.
fn report_unread_files(before: &ResourceList, after: &ResourceList, results: &mut Results) {
    let lists = [before, after];
    let texts = lists.into_iter().filter_map(ResourceList::not_yaml);
    let texts: BTreeSet<&String> = texts.flat_map(BTreeMap::keys).collect();
    for path in texts {
        let [old, new] = lists.map(|list| list.read_file(path).ok());
        if old == new {
            continue;
        }
        results.push(not_yaml(path));
    }
    let ignored: BTreeSet<&String> = lists.iter().flat_map(|list| list.ignored_files()).collect();
    if !ignored.is_empty() {
        let named = listed(ignored.iter().take(MOST_NAMED));
        let more = match ignored.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!("not reviewed, because `.krmignore` excludes them: {named}{more}");
        let result = FunctionResult::info(message).in_file(".krmignore");
        results.push(result.tag("reason", Reason::NotReviewed.as_str()));
    }
}

/// The finding about a changed file that is not YAML.
pub fn not_yaml(path: &str) -> FunctionResult {
    let message = "not reviewed, because the file is not YAML";
    let result = FunctionResult::info(message).tag("reason", Reason::NotReviewed.as_str());
    result
        .tag(report::RISK, Risk::Notable.as_str())
        .in_file(path)
}

/// Reviews the change between two packages that were already read, without a Kubernetes version and without
/// attributing changes. `known` has what reviews before found in the same pairs of resources.
///
/// # Errors
/// [`UsageError`]: a CustomResourceDefinition in them cannot be read, or a resource is too long to be walked.
pub fn review(
    before: &Arc<SuppliedPackage>,
    after: &SuppliedPackage,
    known: Option<&ReviewedPairs>,
) -> Result<Review, UsageError> {
    let mut supplied = Supplied::default();
    supplied.add(Role::Before, Arc::clone(before));
    let schema = supplied.schema_with_crds(after.list())?;
    let packages = ReviewInput {
        before: before.list(),
        after: after.list(),
        upstream: None,
    };
    Review::of_known(packages, &schema, None, known).map_err(|refused| {
        let first = refused.first().map(|result| result.text().into_owned());
        UsageError::of(first.unwrap_or_default())
    })
}

/// The packages of the roles `before`, `original` and `upstream`.
fn packages(supplied: &Supplied) -> Result<[Option<&SuppliedPackage>; 3], UsageError> {
    if supplied.searches_original {
        let message =
            "--original auto: expected a package or a revision, as merge-package finds it";
        return Err(UsageError::of(message));
    }
    Ok([Role::Before, Role::Original, Role::Upstream].map(|role| supplied.one(role)))
}

/// Reads the options. `None` after an error result about an invalid value.
fn read_options(
    config: Option<NodeRef<'_>>,
    results: &mut Results,
) -> Result<Option<ReviewOptions>, UsageError> {
    let (_, scalars) = Scalars::read::<ReviewPackage>(config, FUNCTION.configs, FUNCTION.keys)?;
    let mut enums = EnumFields::new(scalars.prefix.clone(), results);
    let fail_on = enums.read(FAIL_ON, scalars.get(FAIL_ON), &RISKS);
    let release = match scalars.get(KUBERNETES_VERSION) {
        None | Some("none") => None,
        Some(text) => text
            .parse()
            .map_err(|message| enums.refuse(KUBERNETES_VERSION, message))
            .ok(),
    };
    Ok(enums
        .are_valid()
        .then_some(ReviewOptions { fail_on, release }))
}
