//! The config of `merge-package`.

use serde::Deserialize;

use super::FUNCTION;
use crate::config::enum_fields::{BOOL, word};
use crate::config::{
    API_VERSION, EnumFields, UsageError, expected, kind_of, typed, typed_config, typed_data,
    unexpected,
};
use crate::merge::combine::{Combine, WrittenCombine};
use crate::merge::decided::{WrittenRule, written_in_file};
use crate::merge::package::{MergeOptions, Strategy};
use crate::merge::{ConflictRules, OnConflict};
use crate::results::Results;
use crate::yaml::{NodeRef, Path};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub(in crate::functions) struct MergePackage ignores original, upstream {
        on_conflict: Option<String>,
        strategy: Option<String>,
        combine: Option<WrittenCombine>,
        allow_empty: Option<bool>,
        create_kptfile: Option<bool>,
        /// Rules that decide conflicts; the first rule that matches decides.
        conflicts: Option<Vec<WrittenRule>>,
    }
}

/// The scalar fields of the config, as texts.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Scalars {
    on_conflict: Option<String>,
    strategy: Option<String>,
    combine: Option<String>,
    allow_empty: Option<String>,
    create_kptfile: Option<String>,
    /// Only for the merge driver. Declared here so that the error message can explain that.
    conflict_style: Option<String>,
}

pub(super) struct Settings {
    pub(super) options: MergeOptions,
    /// Whether the config itself names a strategy.
    pub(super) names_strategy: bool,
    /// Whether to create a missing Kptfile for the lock.
    pub(super) creates_kptfile: bool,
    pub(super) rules: ConflictRules,
}

/// Reads the options of the merge, and the conflict rules of the config or of `--conflicts`. `None` after an error
/// result about an invalid value.
pub(super) fn read_options(
    config: Option<NodeRef<'_>>,
    file: Option<NodeRef<'_>>,
    results: &mut Results,
) -> Result<Option<Settings>, UsageError> {
    let mut conflicts = None;
    let (scalars, prefix) = match config {
        None => (Scalars::default(), Path::root()),
        Some(config) => match kind_of(config) {
            (API_VERSION, "MergePackage") => {
                let typed: MergePackage = typed(config)?;
                conflicts = typed.conflicts;
                let scalars = Scalars {
                    on_conflict: typed.on_conflict,
                    strategy: typed.strategy,
                    combine: typed.combine.map(WrittenCombine::into_text),
                    allow_empty: typed.allow_empty.map(|allowed| allowed.to_string()),
                    create_kptfile: typed.create_kptfile.map(|create| create.to_string()),
                    conflict_style: None,
                };
                (scalars, Path::root())
            }
            ("v1", "ConfigMap") => (typed_data::<Scalars>(config)?, Path::fields(&["data"])),
            _ => return Err(unexpected(config, &expected(FUNCTION.configs))),
        },
    };
    let written = written_rules(conflicts, file)?;
    let mut enums = EnumFields::new(prefix, results);
    let names_strategy = scalars.strategy.is_some();
    let fields = [
        ("onConflict", scalars.on_conflict.as_deref()),
        ("strategy", scalars.strategy.as_deref()),
        ("combine", scalars.combine.as_deref()),
        ("allowEmpty", scalars.allow_empty.as_deref()),
    ];
    let options = merge_options(MergeOptions::default(), fields, &mut enums);
    let creates_kptfile = enums.read_bool("createKptfile", scalars.create_kptfile.as_deref());
    if let Some(found) = scalars.conflict_style {
        enums.refuse(
            "conflictStyle",
            format!("expected it with --git-merge-driver only, found `{found}`"),
        );
    }
    let valid = enums.are_valid();
    let at = Path::fields(&["conflicts"]);
    let rules = ConflictRules::read(written, &at, results);
    Ok(rules.filter(|_| valid).map(|rules| Settings {
        options,
        names_strategy,
        creates_kptfile,
        rules,
    }))
}

/// The rules of a config or of `--conflicts`; an error if both have rules.
pub(in crate::functions) fn written_rules(
    in_config: Option<Vec<WrittenRule>>,
    file: Option<NodeRef<'_>>,
) -> Result<Vec<WrittenRule>, UsageError> {
    match (in_config, file.map(written_in_file).transpose()?) {
        (Some(_), Some(_)) => {
            let message = "expected `--conflicts` or the field `conflicts`, found both";
            Err(UsageError::Refused(message.to_owned()))
        }
        (written, None) | (None, written) => Ok(written.unwrap_or_default()),
    }
}

/// Reads the options of the merge from fields with these names and values, in this order: the side that wins, the
/// strategy, what is merged part by part, and whether upstream may be empty. Absent fields keep the values in
/// `options`.
pub(in crate::functions) fn merge_options(
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
