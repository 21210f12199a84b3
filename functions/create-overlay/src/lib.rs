//! Turns a fork into its upstream and a kustomize overlay.
//!
//! ```yaml
//! # upstream        # fork            # overlay
//! replicas: 1         replicas: 5       replicas: [{name: app, count: 5}]
//! image: app:1        image: own/app:1  images: [{name: app, newName: own/app}]
//! paused: false       paused: true      patches: [{path: patches/deployment-app.yaml}]
//! ```
//!
//! Source: contract, create-overlay.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;

use krm_core::config::{API_VERSION, CONFIG_MAP, Key, Keys, Scalars, UsageError, typed_config};
use krm_core::resource::{Resource, is_local_config};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::schema::Schema;
use krm_follow::{find_original, outside_git};
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_function::{Document, Function, OnPackage, Output, StepRun};
use krm_overlay::{
    KUSTOMIZATIONS, Overlay, OverlayError, OverlayFinding, OverlayInput, OverlayState,
    PackageTexts, check, create,
};
use krm_package::{Incoming, RefusedPath, is_krm_name};
use krm_upstream::SOURCES;
use krm_yaml::own_text;

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "create-overlay",
    about: "Turns a fork into its upstream and a kustomize overlay (patches, images, replicas, deletions, new resources), and proves that they build the same resources.",
    examples: &[
        "create-overlay --package FORK --upstream OLD --into OVERLAY",
        "create-overlay --package FORK --upstream './/shop?ref=v1' base=../base",
        "create-overlay --package FORK --original auto --upstream './/shop?ref=v2'",
        "create-overlay --package FORK --upstream v1 --against v2",
    ],
    configs: &[(API_VERSION, "CreateOverlay"), CONFIG_MAP],
    roles: &[Role::Original, Role::Upstream, Role::Against],
    keys: Keys::These(&[Key {
        name: "base",
        words: &["base"],
        help: "what the kustomization calls upstream: a path, or a URL that kustomize reads",
    }]),
    uses_schema: true,
    sources: SOURCES,
    on_package: OnPackage::PrintsFiles,
    step,
    ..Function::PLAIN
};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub struct CreateOverlay ignores original, upstream, against {
        base: Option<String>,
    }
}

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    let (_, scalars) = Scalars::read::<CreateOverlay>(run.config, FUNCTION.configs, FUNCTION.keys)?;
    create_overlay(scalars.get("base"), run)
}

/// Creates the overlay over a base: a path or address. Without one, upstream's files become the base.
///
/// # Errors
/// [`UsageError`]: there is no upstream, or a package cannot be read.
pub fn create_overlay(base: Option<&str>, run: StepRun<'_>) -> Result<Output, UsageError> {
    let given = upstream(run.supplied)?;
    let searched;
    let original = match run.supplied.one(Role::Original) {
        None if run.supplied.searches_original => {
            let Some(origin) = given.upstream() else {
                return Err(outside_git());
            };
            let Some(found) = find_original(run.list, origin, run.supplied, run.results)? else {
                return Ok(Output::Edited);
            };
            searched = found.package;
            Some(&searched)
        }
        original => original,
    };
    let schema = run.supplied.schema_with_crds(run.list)?;
    let fork = PackageTexts::read(texts_of_list(run.list)?);
    let upstream = PackageTexts::read(texts_of(original.unwrap_or(given), run.results)?);
    let input = OverlayInput {
        fork: &fork,
        upstream: &upstream,
        base,
        schema: &schema,
    };
    let overlay = match create(input) {
        Ok(overlay) => overlay,
        Err(error) => {
            run.results.push(refused(&error));
            return Ok(Output::Edited);
        }
    };
    report(&overlay, run.results);
    report_other_files(run.list, original.unwrap_or(given), run.results);
    report_unnamed(run.list, original.unwrap_or(given), run.results);
    // If there is an original, upstream is a newer revision to check the overlay against.
    let against = run.supplied.one(Role::Against);
    if let Some(against) = against.or(original.map(|_| given)) {
        for finding in against_revision(&overlay, against, &schema)? {
            run.results.push(to_result(&finding));
        }
    }
    let ids: Vec<ItemId> = run.list.items().map(|(id, _)| id).collect();
    ids.into_iter().for_each(|id| run.list.remove(id));
    let files = overlay.files.into_iter();
    Ok(Output::Documents(
        files.map(|(path, text)| document(path, text)).collect(),
    ))
}

/// Names the files of the fork that are no resources and that upstream does not have as they are: kustomize builds
/// resources only.
fn report_other_files(list: &ResourceList, upstream: &SuppliedPackage, results: &mut Results) {
    let with_resources = list.paths_of_resources();
    let is_other = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        !with_resources.contains(path.as_str())
            && !KUSTOMIZATIONS.contains(&name)
            && ![KPTFILE, KRMIGNORE].contains(&name)
    };
    let paths = list.file_paths();
    for path in paths.iter().filter(is_other) {
        let own = list.read_file(path).ok();
        let theirs = upstream.read_file(path).ok();
        if own == theirs {
            continue;
        }
        let message = "an overlay cannot hold this file, which is not a resource";
        let result = FunctionResult::info(message).in_file(path.as_str());
        results.push(result.tag("reason", Reason::NotInOverlay.as_str()));
    }
}

/// Names the resources of the fork that have no name and that upstream does not have as they are: kustomize refuses them.
fn report_unnamed(list: &ResourceList, upstream: &SuppliedPackage, results: &mut Results) {
    fn unnamed(list: &ResourceList) -> impl Iterator<Item = (&Resource, &str)> {
        let items = list.items().filter(|(id, resource)| {
            let has_no_name = resource.name.is_none() && resource.generate_name.is_none();
            let is_read = !resource.is_list() && !resource.is_for_tools();
            has_no_name && is_read && !is_local_config(list.node(*id))
        });
        items.map(|(id, resource)| (resource, own_text(list.node(id))))
    }
    let theirs: HashSet<&str> = unnamed(upstream.list()).map(|(_, text)| text).collect();
    for (resource, _) in unnamed(list).filter(|(_, text)| !theirs.contains(text)) {
        let message = "an overlay cannot hold this resource, which has no name";
        let result = FunctionResult::info(message).with_resource(resource);
        results.push(result.tag("reason", Reason::NotInOverlay.as_str()));
    }
}

const KPTFILE: &str = "Kptfile";
const KRMIGNORE: &str = ".krmignore";

fn document(path: String, text: String) -> Document {
    Document {
        item: None,
        resource: Resource::default(),
        before: String::new(),
        path: Some(path),
        text,
    }
}

fn upstream(supplied: &Supplied) -> Result<&SuppliedPackage, UsageError> {
    let what = "the revision that the fork was made from";
    let upstream = supplied.one(Role::Upstream);
    upstream.ok_or_else(|| Role::Upstream.missing(what, "CreateOverlay"))
}

/// The texts of an upstream package's KRM files that it may bring, by path. Warns of the others.
fn texts_of(
    package: &SuppliedPackage,
    results: &mut Results,
) -> Result<BTreeMap<String, String>, UsageError> {
    let Some(files) = package.files() else {
        return texts_of_list(package.list());
    };
    let incoming = Incoming::of(files.known_paths());
    let mut texts = BTreeMap::new();
    for (path, text) in files.krm() {
        if let Some(RefusedPath { path, reason }) = incoming.refusal(path) {
            let message = format!("not taken from upstream: {reason}");
            results.push(FunctionResult::warning(Reason::RefusedFile, message).in_file(path));
            continue;
        }
        texts.insert(path.to_owned(), text.to_string());
    }
    Ok(texts)
}

fn is_krm_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    is_krm_name(name) || name == "Kustomization"
}

fn texts_of_list(list: &ResourceList) -> Result<BTreeMap<String, String>, UsageError> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    if list.is_package() {
        for path in list
            .file_paths()
            .into_iter()
            .filter(|path| is_krm_path(path))
        {
            let bytes = list.read_file(&path).map_err(UsageError::of)?;
            texts.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
        return Ok(texts);
    }
    let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
    let mut files: BTreeMap<String, Vec<ItemId>> = BTreeMap::new();
    for (id, path) in ids.iter().zip(list.paths_from_root(&ids)) {
        let path = path.unwrap_or_else(|| "resources.yaml".to_owned());
        files.entry(path).or_default().push(*id);
    }
    for (path, ids) in files {
        texts.insert(path, list.file_text(&ids).map_err(UsageError::of)?);
    }
    Ok(texts)
}

fn refused(error: &OverlayError) -> FunctionResult {
    let reason = match error {
        OverlayError::Patch { .. } => Reason::InvalidPatch,
        OverlayError::Duplicate { .. } => Reason::DuplicateResource,
        _ => Reason::InvalidPackage,
    };
    FunctionResult::error(reason, error.to_string())
}

/// Reports what the overlay contains, and what in the fork it cannot express.
fn report(overlay: &Overlay, results: &mut Results) {
    for (resource, place) in &overlay.differences {
        let message = format!("the overlay does not build the same resource as the fork: {place}");
        results
            .push(FunctionResult::error(Reason::OverlayDiffers, message).with_resource(resource));
    }
    for (resource, package) in &overlay.copies {
        let message =
            format!("{package} has the resource twice: the two are equal and count as one");
        let result = FunctionResult::warning(Reason::DuplicateResource, message);
        results.push(result.with_resource(resource));
    }
    for (resource, what) in &overlay.omitted {
        let message = format!("an overlay cannot hold {what}");
        let result = FunctionResult::info(message).with_resource(resource);
        results.push(result.tag("reason", Reason::NotInOverlay.as_str()));
    }
    if !results.has_errors() {
        let [patched, deleted, new] = overlay.counts;
        let fields = overlay.fields.iter();
        let fields: String = fields
            .map(|(name, count)| format!(", {count} in `{name}`"))
            .collect();
        let message = format!(
            "overlay: {patched} patched, {deleted} deleted, {new} new{fields}, which builds the fork"
        );
        results.push(FunctionResult::info(message));
    }
}

/// Finds what a newer revision of upstream makes needless or dead in the overlay.
fn against_revision(
    overlay: &Overlay,
    against: &SuppliedPackage,
    schema: &Schema,
) -> Result<Vec<OverlayFinding>, UsageError> {
    let newer = PackageTexts::read(texts_of(against, &mut Results::default())?);
    // If the overlay includes upstream's files, they are from the old revision.
    let mut files = overlay.files.clone();
    files.retain(|path, _| !path.starts_with("base/"));
    let texts = PackageTexts::read(files);
    let newer = |_: &str| newer.built(schema);
    check(&texts, schema, &newer).map_err(UsageError::of)
}

fn to_result(finding: &OverlayFinding) -> FunctionResult {
    let (file, message) = match finding.place.split_once(": ") {
        Some((file, place)) => (file, format!("{place}: {}", finding.message)),
        None => (finding.place.as_str(), finding.message.clone()),
    };
    let reason = match finding.state {
        OverlayState::Dead => Reason::DeadPatch,
        OverlayState::Needless | OverlayState::Unknown => Reason::NeedlessPatch,
    };
    FunctionResult::warning(reason, message).in_file(file.to_owned())
}
