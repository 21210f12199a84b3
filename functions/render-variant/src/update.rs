//! Updates the package of an existing variant: merges it with the new upstream revision.
//!
//! Conflicts in fields that a later step overwrites are not reported: functions that the variant owns, keys of its
//! package context, injected fields and their conditions.
//!
//! Source: contract, render-variant.

use std::cell::OnceCell;
use std::collections::HashSet;

use inject_config::{
    INJECTED_RESOURCE_ANNOTATION, INJECTED_RESOURCE_NAME_ANNOTATION, Injection, variant_injections,
};
use krm_core::config::{EnumFields, UsageError};
use krm_core::kptfile::{find_package_context, owns, root_kptfile};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_follow::report_ignored;
use krm_function::supplied::{Supplied, SuppliedPackage};
use krm_merge::decided::{UpgradePolicy, written_in_text};
use krm_merge::package::{Merge, MergeOptions, Strategy};
use krm_merge::{Conflict, ConflictRules};
use krm_yaml::{OwnedDocument, Path, PathElement};
use merge_package::config;

use super::Variant;
use super::clone::{NAME, PACKAGE_PATH, name_of};
use super::fast_forward::refuse_local_changes;

/// Merges the package with the new upstream revision.
pub(super) fn update(
    variant: &Variant<'_>,
    original: &SuppliedPackage,
    upstream: &SuppliedPackage,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<(), UsageError> {
    let package_path = package_path(list);
    let Some(rules) = rules(variant, supplied, results)? else {
        return Ok(());
    };
    let mut options = merge_options(variant, &mut Results::default());
    if options.strategy == Strategy::FastForward {
        refuse_local_changes(variant, original, options, list, supplied, results)?;
        if results.has_errors() {
            return Ok(());
        }
        // Without local changes, the merge takes all of upstream, and what the variant writes stays.
        options.strategy = Strategy::ResourceMerge;
    }
    report_ignored(original, list, upstream, results)?;
    let overwritten = OnceCell::new();
    let merge = Merge {
        original: original.list(),
        upstream: upstream.list(),
        options,
        rules: &rules,
        schema: supplied.schema()?,
        is_overwritten: &|merged, id, conflict| {
            let find = || Overwritten::find(variant, merged, supplied);
            overwritten.get_or_init(find).has(id, conflict)
        },
        allow_empty_by: Some(
            "the annotation `fn.kpt.dev/allow-empty: \"true\"` of the PackageVariant",
        ),
        is_one_package: false,
    };
    merge.run(list, results)?;
    if !results.has_errors() {
        // The next steps also edit new resources.
        list.apply_insertions().map_err(UsageError::of)?;
        keep_context(variant, package_path, list, results);
    }
    Ok(())
}

/// The options of the merge: from the annotations of the PackageVariant, or else from its [`MergeDefaults`].
pub(super) fn merge_options(variant: &Variant<'_>, results: &mut Results) -> MergeOptions {
    let annotations = ["metadata", "annotations"];
    let text = |name: &str| {
        let node = variant.config.get_path(&annotations)?.get(name)?;
        Some(node.scalar_text().unwrap_or(node.kind_name()))
    };
    let mut enums = EnumFields::new(Path::fields(&annotations), results);
    let fields = OPTIONS.map(|name| (name, text(name)));
    config::merge_options(variant.defaults.options, fields, &mut enums)
}

/// The conflict rules of the flag `--conflicts` or of the annotation. `None` after an error result about an invalid
/// rule.
fn rules(
    variant: &Variant<'_>,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<Option<ConflictRules>, UsageError> {
    let path = ["metadata", "annotations", CONFLICTS_ANNOTATION];
    let annotation = variant.config.get_path(&path);
    match (supplied.conflicts.as_ref(), annotation) {
        (None, None) => Ok(Some(variant.defaults.rules.clone())),
        (Some(_), Some(_)) => Err(UsageError::of(format!(
            "expected `--conflicts` or the annotation `{CONFLICTS_ANNOTATION}`, found both"
        ))),
        (Some(file), None) => Ok(Some(UpgradePolicy::read(file)?.rules)),
        (None, Some(node)) => {
            let at = Path::fields(&path);
            let text = node.scalar_text().unwrap_or_default();
            let written = match OwnedDocument::parse_resource(text.to_owned()) {
                Ok(document) => match document.root() {
                    Some(root) => written_in_text(root),
                    None => Ok(Vec::new()),
                },
                Err(error) => Err(error.to_string()),
            };
            match written {
                Ok(written) => Ok(ConflictRules::read(written, &at, results)),
                Err(error) => {
                    let message = format!("expected a list of conflict rules: {error}");
                    let result = FunctionResult::error(Reason::InvalidConfig, message);
                    results.push(result.with_resource(&variant.resource).with_field(at));
                    Ok(None)
                }
            }
        }
    }
}

/// The annotations with the options of the merge.
const OPTIONS: [&str; 4] = [
    "fn.kpt.dev/on-conflict",
    "fn.kpt.dev/strategy",
    "fn.kpt.dev/combine",
    "fn.kpt.dev/allow-empty",
];
/// The annotation with conflict rules, as the text of a YAML list.
const CONFLICTS_ANNOTATION: &str = "fn.kpt.dev/conflicts";

/// The path of the downstream package that its package context records.
fn package_path(list: &ResourceList) -> Option<String> {
    let context = find_package_context(list).ok()?;
    list.read(context?, |node| {
        let path = node.get_path(&["data", PACKAGE_PATH])?;
        path.scalar_text().map(str::to_owned)
    })
}

/// Restores the name and path of the downstream package in its package context, as in a clone.
fn keep_context(
    variant: &Variant<'_>,
    package_path: Option<String>,
    list: &mut ResourceList,
    results: &mut Results,
) {
    let Ok(Some(id)) = find_package_context(list) else {
        return;
    };
    let name = name_of(variant.package());
    let kept = [(NAME, Some(name)), (PACKAGE_PATH, package_path.as_deref())];
    let edited = list.edit(id, |node, editor| editor.set_fields(node, &["data"], kept));
    if let Err(error) = edited {
        let result = FunctionResult::refused(&error).with_resource(list.resource(id));
        results.push(result.with_field(Path::fields(&["data", NAME])));
    }
}

/// The fields that a later step overwrites.
struct Overwritten<'v> {
    kptfile: Option<ItemId>,
    context: Option<ItemId>,
    /// The keys of the package context.
    keys: HashSet<&'v str>,
    /// The variant's name, which is part of the names of its functions.
    owner: &'v str,
    injections: Vec<Injection>,
}

impl<'v> Overwritten<'v> {
    /// Looks at the merged package, because upstream can make a resource an injection point or revoke that.
    fn find(variant: &'v Variant<'_>, list: &ResourceList, supplied: &Supplied) -> Self {
        let kptfile = root_kptfile(list);
        let context = &variant.typed.spec.package_context;
        let set = context.data.keys().map(String::as_str);
        let removed = context.remove_keys.iter().map(String::as_str);
        Self {
            kptfile,
            context: find_package_context(list).ok().flatten(),
            keys: set.chain(removed).chain([NAME, PACKAGE_PATH]).collect(),
            owner: variant.resource.name.as_deref().unwrap_or_default(),
            injections: variant_injections(variant.config, &variant.typed, list, supplied),
        }
    }

    fn has(&self, id: ItemId, conflict: &Conflict) -> bool {
        let fields: Vec<&str> = conflict
            .path
            .elements()
            .iter()
            .map_while(|element| match element {
                PathElement::Field(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let element = conflict.element.as_deref();
        if self.kptfile == Some(id) {
            return match (fields.as_slice(), element) {
                (["pipeline", "mutators" | "validators", ..], Some(name)) => owns(self.owner, name),
                (["status", "conditions", ..] | ["info", "readinessGates", ..], Some(name)) => {
                    self.injections.iter().any(|point| point.condition == name)
                }
                _ => false,
            };
        }
        if self.context == Some(id)
            && let ["data", key, ..] = fields.as_slice()
        {
            return self.keys.contains(key);
        }
        let mut filled = self.injections.iter().filter(|point| point.is_filled);
        filled
            .find(|point| point.id == id)
            .is_some_and(|point| match fields.as_slice() {
                ["metadata", "annotations", name, ..] => INJECTED.contains(name),
                fields => fields.first() == Some(&point.field),
            })
    }
}

const INJECTED: [&str; 2] = [
    INJECTED_RESOURCE_NAME_ANNOTATION,
    INJECTED_RESOURCE_ANNOTATION,
];
