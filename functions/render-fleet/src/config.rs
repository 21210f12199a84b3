//! The config of `render-fleet`.

use std::path::PathBuf;

use serde::Deserialize;

use super::FUNCTION;
use crate::fleet::Shard;
use krm_core::config::{EnumFields, NamedDocument, Scalars, UsageError, typed_config};
use krm_core::results::Results;
use krm_function::supplied::CatalogSource;
use krm_merge::combine::WrittenCombine;
use krm_merge::decided::WrittenRule;
use krm_merge::package::MergeOptions;
use krm_yaml::NodeRef;
use merge_package::config::{merge_options, rules_of};
use render_variant::MergeDefaults;

typed_config! {
    #[derive(Debug, Default, Deserialize)]
    pub struct RenderFleet ignores variants, resources {
        on_conflict: Option<String>,
        strategy: Option<String>,
        combine: Option<WrittenCombine>,
        /// Rules that decide conflicts
        conflicts: Option<Vec<WrittenRule>>,
        prune: Option<bool>,
        max_deletions: Option<Deletions>,
        #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9]+/[0-9]+$")))]
        shard: Option<String>,
        allow_empty: Option<bool>,
        /// The upstream repositories
        catalog: Option<Vec<WrittenCatalog>>,
    }
}

/// An upstream repository.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct WrittenCatalog {
    /// The namespace of the PackageVariants that use this catalog; if absent, all namespaces without a catalog of that name
    namespace: Option<String>,
    /// The name of the Repository
    name: String,
    /// A Git repository, or a directory of `<package>/<revision>/`
    path: PathBuf,
}

/// A number of packages, or a percentage such as `10%`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[allow(dead_code, reason = "it checks the type of the field")]
enum Deletions {
    Number(u64),
    Text(
        #[cfg_attr(
            feature = "schema",
            schemars(regex(pattern = r"^([0-9]+|([0-9]|[1-9][0-9]|100)%)$"))
        )]
        String,
    ),
}

/// The most packages that a run may delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MaxDeletions {
    Number(u64),
    /// A percentage of the packages that have an owner, but at least one package.
    Percent(u64),
}

impl MaxDeletions {
    const DEFAULT: Self = Self::Percent(10);

    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected a number or a percentage such as `10%`, found `{text}`");
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        match text.strip_suffix('%') {
            Some(percent) => match number(percent)? {
                percent @ 0..=100 => Ok(Self::Percent(percent)),
                _ => Err(wrong()),
            },
            None => number(text).map(Self::Number),
        }
    }

    /// The limit for this many packages with owners.
    pub(super) fn limit(self, owned: usize) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => (owned as u64 * percent / 100).max(1),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct FleetSettings {
    pub(super) defaults: MergeDefaults,
    /// Whether packages whose owner no longer exists are deleted or orphaned.
    pub(super) prunes: bool,
    pub(super) max_deletions: MaxDeletions,
    pub(super) shard: Option<Shard>,
    pub(super) allow_empty: bool,
    pub(super) catalogs: Vec<CatalogSource>,
    /// Whether changes are committed to drafts instead of written to work trees.
    pub(super) drafts: bool,
}

impl FleetSettings {
    /// Whether an owner belongs to the share of the run; without a share, every owner does.
    pub(super) fn has(&self, owner: &str) -> bool {
        self.shard.is_none_or(|shard| shard.has(owner))
    }
}

impl From<WrittenCatalog> for CatalogSource {
    fn from(written: WrittenCatalog) -> Self {
        Self {
            namespace: written.namespace.filter(|namespace| !namespace.is_empty()),
            name: written.name,
            path: written.path,
        }
    }
}

/// Reads the settings. The conflict rules come from the config or from the file. `None` after an error result about
/// an invalid value.
///
/// # Errors
/// [`UsageError`]: the config is of another kind, or has an unknown field or a field of the wrong type.
pub(crate) fn read_settings(
    config: Option<NodeRef<'_>>,
    file: Option<&NamedDocument>,
    results: &mut Results,
) -> Result<Option<FleetSettings>, UsageError> {
    let (typed, scalars) = Scalars::read::<RenderFleet>(config, FUNCTION.configs, FUNCTION.keys)?;
    let typed = typed.unwrap_or_default();
    let combine = typed.combine.map(WrittenCombine::into_text);
    let catalogs = typed.catalog.unwrap_or_default();
    let mut enums = EnumFields::new(scalars.prefix.clone(), results);
    let fields = [
        ("onConflict", scalars.get("onConflict")),
        ("strategy", scalars.get("strategy")),
        ("combine", combine.as_deref().or(scalars.get("combine"))),
        // The config field of this name applies to the fleet, not to a merge.
        ("allowEmpty", None),
    ];
    let options = merge_options(MergeOptions::default(), fields, &mut enums);
    let prunes = enums.read_bool("prune", scalars.get("prune"));
    let allow_empty = enums.read_bool("allowEmpty", scalars.get("allowEmpty"));
    let max_deletions = enums.read_as(
        "maxDeletions",
        scalars.get("maxDeletions"),
        MaxDeletions::parse,
        MaxDeletions::DEFAULT,
    );
    let shard = scalars.get("shard").map(str::parse::<Shard>).transpose();
    let shard = shard.unwrap_or_else(|error| {
        enums.refuse("shard", error.to_string());
        None
    });
    let valid = enums.are_valid();
    let rules = rules_of(typed.conflicts, file, results)?;
    Ok(rules.filter(|_| valid).map(|rules| FleetSettings {
        defaults: MergeDefaults { options, rules },
        prunes,
        max_deletions,
        shard,
        allow_empty,
        catalogs: catalogs.into_iter().map(CatalogSource::from).collect(),
        drafts: false,
    }))
}
