//! The config of `merge-package`.

use serde::Deserialize;

use super::FUNCTION;
use crate::config::{
    API_VERSION, UsageError, Words, expected, kind_of, typed, typed_config, typed_data, unexpected,
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
    /// For the merge driver alone; declared here for a better message.
    conflict_style: Option<String>,
}

/// The settings of a config.
pub(super) struct Settings {
    pub(super) options: MergeOptions,
    /// Whether the config names a strategy.
    pub(super) names_strategy: bool,
    /// Whether to create a missing Kptfile for the lock.
    pub(super) creates_kptfile: bool,
    pub(super) rules: ConflictRules,
}

/// Reads how to merge, and the conflict rules of the config or of `--conflicts`. A word that is not
/// allowed is an error result, and gives `None`.
pub(super) fn read_options(
    config: Option<NodeRef<'_>>,
    file: Option<NodeRef<'_>>,
    results: &mut Results,
) -> Result<Option<Settings>, UsageError> {
    let mut written = file.map(written_in_file).transpose()?;
    let (scalars, prefix) = match config {
        None => (Scalars::default(), Path::root()),
        Some(config) => match kind_of(config) {
            (API_VERSION, "MergePackage") => {
                let typed: MergePackage = typed(config)?;
                if typed.conflicts.is_some() && written.is_some() {
                    let message = "expected `--conflicts` or the field `conflicts`, found both";
                    return Err(UsageError::Refused(message.to_owned()));
                }
                written = written.or(typed.conflicts);
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
    let mut words = Words::new(prefix, results);
    let on_conflict = words.read(
        "onConflict",
        scalars.on_conflict.as_deref(),
        &OnConflict::WORDS,
    );
    let names_strategy = scalars.strategy.is_some();
    let strategy = words.read("strategy", scalars.strategy.as_deref(), &Strategy::WORDS);
    let combine = words.read_as(
        "combine",
        scalars.combine.as_deref(),
        Combine::parse,
        Combine::default(),
    );
    let allow_empty = words.read_bool("allowEmpty", scalars.allow_empty.as_deref());
    let creates_kptfile = words.read_bool("createKptfile", scalars.create_kptfile.as_deref());
    if let Some(found) = scalars.conflict_style {
        words.refuse(
            "conflictStyle",
            format!("expected it with --git-merge-driver only, found `{found}`"),
        );
    }
    let options = MergeOptions {
        on_conflict,
        strategy,
        allow_empty,
        combine,
    };
    let valid = words.are_valid();
    let at = Path::fields(&["conflicts"]);
    let rules = ConflictRules::read(written.unwrap_or_default(), &at, results);
    Ok(rules.filter(|_| valid).map(|rules| Settings {
        options,
        names_strategy,
        creates_kptfile,
        rules,
    }))
}
