//! The config of `merge-package`.

use serde::Deserialize;

use super::FUNCTION;
use krm_core::config::enum_fields::{BOOL, word};
use krm_core::config::{EnumFields, NamedDocument, Scalars, UsageError, typed_config};
use krm_core::results::Results;
use krm_merge::combine::{Combine, WrittenCombine};
use krm_merge::decided::{UpgradePolicy, WrittenRule};
use krm_merge::package::{MergeOptions, Strategy};
use krm_merge::{ConflictRules, OnConflict};
use krm_yaml::{NodeRef, Path};

typed_config! {
    #[derive(Debug, Default, Deserialize)]
    pub struct MergePackage ignores original, upstream {
        on_conflict: Option<String>,
        strategy: Option<String>,
        combine: Option<WrittenCombine>,
        allow_empty: Option<bool>,
        create_kptfile: Option<bool>,
        /// Rules that decide conflicts; the first rule that matches decides.
        conflicts: Option<Vec<WrittenRule>>,
    }
}

/// How to merge, and what to record.
#[derive(Debug, Default)]
pub struct Settings {
    /// The options of the merge.
    pub options: MergeOptions,
    /// Whether the config itself names a strategy.
    pub names_strategy: bool,
    /// Whether to create a missing Kptfile for the lock.
    pub creates_kptfile: bool,
    /// Conflicts decided beforehand, and guards.
    pub rules: ConflictRules,
}

/// Reads the options of the merge, and the conflict rules of the config or of `--conflicts`. `None` after an error
/// result about an invalid value.
pub(super) fn read_options(
    config: Option<NodeRef<'_>>,
    file: Option<&NamedDocument>,
    results: &mut Results,
) -> Result<Option<Settings>, UsageError> {
    let (typed, scalars) = Scalars::read::<MergePackage>(config, FUNCTION.configs, FUNCTION.keys)?;
    let typed = typed.unwrap_or_default();
    let combine = typed.combine.map(WrittenCombine::into_text);
    let mut enums = EnumFields::new(scalars.prefix.clone(), results);
    let names_strategy = scalars.get("strategy").is_some();
    let fields = [
        ("onConflict", scalars.get("onConflict")),
        ("strategy", scalars.get("strategy")),
        ("combine", combine.as_deref().or(scalars.get("combine"))),
        ("allowEmpty", scalars.get("allowEmpty")),
    ];
    let options = merge_options(MergeOptions::default(), fields, &mut enums);
    let creates_kptfile = enums.read_bool("createKptfile", scalars.get("createKptfile"));
    if let Some(found) = scalars.get("conflictStyle") {
        enums.refuse(
            "conflictStyle",
            format!("expected --git-merge-driver with it, found `{found}`"),
        );
    }
    let valid = enums.are_valid();
    let rules = rules_of(typed.conflicts, file, results)?;
    Ok(rules.filter(|_| valid).map(|rules| Settings {
        options,
        names_strategy,
        creates_kptfile,
        rules,
    }))
}

/// The rules of a config or of `--conflicts`; an error if both have rules. `None` after an error result about a rule of the
/// config.
pub fn rules_of(
    in_config: Option<Vec<WrittenRule>>,
    file: Option<&NamedDocument>,
    results: &mut Results,
) -> Result<Option<ConflictRules>, UsageError> {
    match (in_config, file) {
        (Some(_), Some(_)) => {
            let message = "expected `--conflicts` or the field `conflicts`, found both";
            Err(UsageError::of(message))
        }
        (None, Some(file)) => Ok(Some(UpgradePolicy::read(file)?.rules)),
        (written, None) => {
            let at = Path::fields(&["conflicts"]);
            Ok(ConflictRules::read(
                written.unwrap_or_default(),
                &at,
                results,
            ))
        }
    }
}

/// Reads the options of the merge from fields with these names and values, in this order: the side that wins, the
/// strategy, what is merged part by part, and whether upstream may be empty. Absent fields keep the values in
/// `options`.
pub fn merge_options(
    options: MergeOptions,
    [side, strategy, combine, empty]: [(&str, Option<&str>); 4],
    enums: &mut EnumFields<'_>,
) -> MergeOptions {
    let on_conflict = |found: &str| word(found, &OnConflict::WORDS);
    let by_strategy = |found: &str| word(found, &Strategy::WORDS);
    let yes_or_no = |found: &str| word(found, &BOOL);
    MergeOptions {
        on_conflict: enums.read_as(side.0, side.1, on_conflict, options.on_conflict),
        strategy: enums.read_as(strategy.0, strategy.1, by_strategy, options.strategy),
        combine: enums.read_as(combine.0, combine.1, Combine::parse, options.combine),
        allow_empty: enums.read_as(empty.0, empty.1, yes_or_no, options.allow_empty),
        ..options
    }
}
