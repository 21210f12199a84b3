//! Git's merge driver: merges one file that two branches changed.
//!
//! ```text
//! # .gitattributes
//! *.yaml merge=krm
//! # git config
//! [merge "krm"]
//!   driver = merge-package --git-merge-driver %O %A %B %P
//!   recursive = binary
//! ```
//!
//! Before a merge with several merge bases Git merges these with the driver `recursive`. Ours would leave our value of a
//! conflict, which then counts as the original. The merge sees only this file: a resource that a branch moved to another file counts as removed.
//!
//! Source: contract, Upstreams from Git; merge-package.

use serde::Deserialize;

use krm_core::config::enum_fields::word;
use krm_core::config::{UsageError, typed_data};
use krm_core::diff::{Hunk, hunks};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results, Severity};
use krm_core::word_enum;
use krm_function::{DriverFiles, DriverOutcome};
use krm_merge::package::{Merge, MergeOptions};
use krm_merge::{Combine, ConflictRules, OnConflict, Side};
use krm_package::is_krm_name;
use krm_yaml::NodeRef;

/// The arguments after the files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct DriverOptions {
    on_conflict: Option<String>,
    combine: Option<String>,
    conflict_style: Option<String>,
}

word_enum! {
    /// How a conflict appears in the file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ConflictStyle {
        /// The value of the winning side.
        Value = "value",
        /// The lines of both sides, with Git's conflict markers.
        Markers = "markers",
    }
}

/// Merges the file. A merge driver cannot refuse it, so a conflict is never an error.
pub(super) fn merge_file(
    files: &DriverFiles,
    config: Option<NodeRef<'_>>,
) -> Result<DriverOutcome, UsageError> {
    let found = config.map(typed_data::<DriverOptions>).transpose()?;
    let found = found.unwrap_or_default();
    let sides = OnConflict::WORDS.into_iter();
    let sides: Vec<_> = sides
        .filter(|(_, side)| *side != OnConflict::Error)
        .collect();
    let at = |field: &'static str| {
        move |message| {
            UsageError::at(
                format_args!("functionConfig (ConfigMap): data.{field}"),
                message,
            )
        }
    };
    let side = found.on_conflict.as_deref();
    let side = side.map_or(Ok(OnConflict::Local), |found| word(found, &sides));
    let style = found.conflict_style.as_deref();
    let style = style.map_or(Ok(ConflictStyle::Value), |found| {
        word(found, &ConflictStyle::WORDS)
    });
    let combine = found.combine.as_deref().map(Combine::parse).transpose();
    let style = style.map_err(at("conflictStyle"))?;
    let side = side.map_err(at("onConflict"))?;
    let combine = combine.map_err(at("combine"))?.unwrap_or_default();
    merge_versions(files, side, combine, style)
}

/// Merges three versions of a file. `Unmerged` if one version is not YAML, or if the file has no resources and its lines
/// conflict: Git then merges the lines itself and marks the conflicts.
///
/// # Errors
/// [`UsageError`]: a version cannot be read again to mark its conflicts.
pub fn merge_versions(
    files: &DriverFiles,
    on_conflict: OnConflict,
    combine: Combine,
    style: ConflictStyle,
) -> Result<DriverOutcome, UsageError> {
    let options = MergeOptions {
        on_conflict,
        // Conflict markers enclose the differences between two complete versions, one for each winning side.
        decides_all: style == ConflictStyle::Markers,
        // Of two branches none is upstream.
        asks_about_deletions: true,
        combine,
        ..MergeOptions::default()
    };
    if !is_krm_name(&files.path) {
        return Ok(DriverOutcome::Unmerged(None));
    }
    let merged = match merge(files, options) {
        Err(error) => return Ok(DriverOutcome::Unmerged(Some(error.to_string()))),
        Ok(None) => return Ok(DriverOutcome::Unmerged(None)),
        Ok(Some(merged)) => merged,
    };
    let mut text = merged.text;
    if style == ConflictStyle::Markers && merged.results.has_open_conflicts() {
        let other = MergeOptions {
            on_conflict: options.on_conflict.winner().other().into(),
            ..options
        };
        if let Some(other) = merge(files, other)? {
            text = match options.on_conflict.winner() {
                Side::Local => with_markers(&text, &other.text, &files.labels),
                Side::Upstream => with_markers(&other.text, &text, &files.labels),
            };
        }
    }
    Ok(DriverOutcome::Merged {
        text,
        results: merged.results,
    })
}

struct MergedFile {
    text: String,
    results: Results,
}

/// Merges the versions. `None` if none of them contains a resource and their lines conflict.
fn merge(files: &DriverFiles, options: MergeOptions) -> Result<Option<MergedFile>, UsageError> {
    let mut results = Results::default();
    let version = |side: &str, text: &str| {
        // If both branches added the file, Git gives an empty original.
        let is_missing = text.is_empty() && side == "original";
        let file = (!is_missing).then(|| (files.path.clone(), text.to_owned()));
        ResourceList::from_texts(file)
            .map_err(|error| UsageError::of(format!("{side} version of {error}")))
    };
    let original = version("original", &files.original)?;
    let upstream = version("upstream", &files.upstream)?;
    let mut local = version("local", &files.local)?;
    let resources = [&original, &upstream, &local];
    let is_krm = resources.iter().any(|list| list.items().next().is_some());
    let rules = ConflictRules::default();
    let merge = Merge::of_one_package(&original, &upstream, options, &rules);
    merge.run(&mut local, &mut results)?;
    // A conflict of fields names the field; a conflict of lines does not.
    let is_of_lines = |result: &FunctionResult| {
        result.field.is_none() && result.has_reason(Reason::MergeConflict)
    };
    if !is_krm && results.iter().any(is_of_lines) {
        return Ok(None);
    }
    if let Some(error) = results
        .iter()
        .find(|result| result.severity == Severity::Error)
    {
        return Err(UsageError::of(error.message.to_string()));
    }
    local.apply_insertions().map_err(UsageError::of)?;
    let bytes = local.read_file(&files.path);
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Some(MergedFile {
        // The file may have lost its last resource.
        text: text.unwrap_or_default(),
        results,
    }))
}

/// The lines of both sides, with conflict markers where they differ.
fn with_markers(ours: &str, theirs: &str, labels: &[String; 2]) -> String {
    let [old, new] = [ours, theirs].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let mut text = String::new();
    let put = |text: &mut String, lines: &[&str]| {
        for line in lines {
            text.push_str(line);
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    let mut at = 0;
    for Hunk { before, after } in hunks(&old, &new) {
        put(&mut text, &old[at..before.start]);
        text += &format!("<<<<<<< {}\n", labels[0]);
        at = before.end;
        put(&mut text, &old[before]);
        text.push_str("=======\n");
        put(&mut text, &new[after]);
        text += &format!(">>>>>>> {}\n", labels[1]);
    }
    old[at..].iter().for_each(|line| text.push_str(line));
    text
}
