//! Renders one variant of a package: clones or updates it, then sets its package context, pipeline and injected
//! resources.
//!
//! ```yaml
//! spec:                  # of the PackageVariant
//!   packageContext: {data: {region: useast1}}
//!   pipeline: {mutators: [{image: set-namespace, name: ns}]}
//!   injectors: [{name: useast1-service-endpoints}]
//! ```
//! The last three steps are the same as in `set-package-context`, `prepend-pipeline` and `inject-config`, in this
//! order. If a step fails, nothing changes.
//!
//! Source: package-variant document, Order of Mutations and PackageVariant Status; contract,
//! render-variant.

mod clone;
mod fast_forward;
mod follow;
mod new_files;
mod repository;
mod revision;
mod status;
mod update;
mod upstream;

pub use clone::{Identified, cloned_files};
pub use repository::RepositoryFacts;
pub use revision::find_revision;
pub use status::ListedRevisions;

use inject_config::config::Injectors;
use inject_config::inject;
use krm_core::config::{PACKAGE_VARIANT, UsageError, expected, kind_of, required, unexpected};
use krm_core::package_variant::PackageVariant;
use krm_core::resource::{Resource, namespace_of};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Results, Severity, listed};
use krm_function::package_revision::within;
use krm_function::supplied::{Role, Supplied, SuppliedPackage, only_package_except};
use krm_function::{Function, OnPackage, Output, StepRun};
use krm_merge::ConflictRules;
use krm_merge::package::MergeOptions;
use krm_upstream::{GitOrigin, SOURCES};
use krm_variant::status::StepsOutcome;
use krm_yaml::NodeRef;
use prepend_pipeline::prepend;
use set_package_context::{ContextChange, change_context};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "render-variant",
    about: "Creates or updates the variant that a PackageVariant describes: clones the upstream package, or merges its new revision into an existing package; then sets the package \
            context, the head of the pipeline and the injected resources.",
    examples: &[
        "render-variant --package NEW --config pv.yaml --upstream v1",
        "render-variant --package DIR --config pv.yaml --original v1 --upstream v2",
        "render-variant --package DIR --config pv.yaml --upstream 'catalog//web?ref=v2'",
    ],
    configs: &[PACKAGE_VARIANT],
    roles: &[Role::Original, Role::Upstream, Role::Resources],
    uses_schema: true,
    sources: SOURCES,
    on_package: OnPackage::EditsOrCreates,
    step,
    ..Function::PLAIN
};

/// A PackageVariant: its node, its identity and its typed form.
struct Variant<'a> {
    config: NodeRef<'a>,
    resource: Resource,
    typed: PackageVariant,
    /// How to merge where the PackageVariant's annotations do not specify it.
    defaults: &'a MergeDefaults,
}

/// How packages are merged where a PackageVariant does not specify it.
#[derive(Debug, Clone, Default)]
pub struct MergeDefaults {
    pub options: MergeOptions,
    pub rules: ConflictRules,
}

impl<'a> Variant<'a> {
    fn read(config: NodeRef<'a>, defaults: &'a MergeDefaults) -> Result<Self, UsageError> {
        Ok(Self {
            config,
            resource: Resource::read(config),
            typed: PackageVariant::read(config)?,
            defaults,
        })
    }

    /// The path of the downstream package in its repository.
    fn package(&self) -> &str {
        let downstream = self.typed.spec.downstream.as_ref();
        let package = downstream.and_then(|downstream| downstream.package.as_deref());
        package.unwrap_or_default()
    }

    /// The item that is the PackageVariant itself; `None` if it is not among the items.
    fn own_item(&self, list: &ResourceList) -> Option<ItemId> {
        let namespace =
            |resource: &Resource| namespace_of(resource.namespace.as_deref()).to_owned();
        list.items()
            .find(|(_, item)| {
                item.kind == self.resource.kind
                    && item.group() == self.resource.group()
                    && item.name == self.resource.name
                    && namespace(item) == namespace(&self.resource)
            })
            .map(|(id, _)| id)
    }
}

/// Whether a resource is an object of Porch, which is not part of the package.
fn is_porch(resource: &Resource) -> bool {
    matches!(resource.group(), "porch.kpt.dev" | "config.porch.kpt.dev")
}

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    let expected = expected(FUNCTION.configs);
    let config = required(run.config, &expected)?;
    if kind_of(config) != PACKAGE_VARIANT {
        return Err(unexpected(config, &expected));
    }
    if run.supplied.has(Role::Original) && !run.supplied.has(Role::Upstream) {
        let message = "role `upstream`: expected the revision to upgrade to, since the role `original` is given, found none";
        return Err(UsageError::of(message));
    }
    let defaults = MergeDefaults::default();
    let variant = Variant::read(config, &defaults)?;
    let mut findings = Results::default();
    let valid = match only_package_except(run.list, is_porch) {
        Some(id) => {
            let render = |package: &mut _, findings: &mut _| {
                render(&variant, package, run.supplied, findings)
            };
            within(id, run.list, &mut findings, render)?.unwrap_or(true)
        }
        None => render(&variant, run.list, run.supplied, &mut findings)?,
    };
    if !findings.has_errors() {
        status::write(&variant, run.list, run.supplied, &mut findings);
    }
    let failed = findings.has_errors();
    // If one step fails, all edits are discarded, so results about them would be false.
    let is_listed = |result: &&FunctionResult| !failed || result.severity > Severity::Info;
    run.results
        .extend(findings.iter().filter(is_listed).cloned());
    let outcome = match (valid, failed) {
        (false, _) => StepsOutcome::Invalid,
        (true, true) => StepsOutcome::Failed,
        (true, false) => StepsOutcome::Ready,
    };
    for condition in outcome.conditions(&status::ready(run.supplied)) {
        run.results
            .push(condition.result().with_resource(&variant.resource));
    }
    Ok(Output::Edited)
}

/// Renders the package of a PackageVariant, without its conditions; for functions that render many packages.
///
/// # Errors
/// [`UsageError`]: the PackageVariant has an unknown field or a field of the wrong type; an input cannot be read.
pub fn render_package(
    config: NodeRef<'_>,
    defaults: &MergeDefaults,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<(), UsageError> {
    let variant = Variant::read(config, defaults)?;
    render(&variant, list, supplied, results)?;
    Ok(())
}

/// Runs the steps if the PackageVariant is valid; returns whether it is.
fn render(
    variant: &Variant<'_>,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<bool, UsageError> {
    results.extend(validate(variant));
    let is_valid = !results.has_errors();
    if is_valid {
        mutate(variant, list, supplied, results)?;
    }
    Ok(is_valid)
}

/// The errors in the PackageVariant itself.
fn validate(variant: &Variant<'_>) -> Vec<FunctionResult> {
    let mut findings = variant.typed.validate(variant.resource.name.as_deref());
    let mut words = Results::default();
    update::merge_options(variant, &mut words);
    findings.extend(words.iter().cloned());
    let about = |finding: FunctionResult| finding.with_resource(&variant.resource);
    findings.into_iter().map(about).collect()
}

/// Runs the steps in order, up to the first that fails.
fn mutate(
    variant: &Variant<'_>,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) -> Result<(), UsageError> {
    let upstream = supplied.one(Role::Upstream);
    let origin = upstream.and_then(SuppliedPackage::upstream);
    if let Some(upstream) = upstream {
        upstream::check(variant, upstream, results);
        if let Some(origin) = origin.and_then(GitOrigin::of_revision) {
            follow::check(variant, origin, results)?;
        }
        if results.has_errors() {
            return Ok(());
        }
    }
    match (upstream, supplied.one(Role::Original), origin) {
        (Some(upstream), Some(original), origin) => {
            update::update(variant, original, upstream, list, supplied, results)?;
            if let Some(origin) = origin {
                follow::record(origin, list, results);
            }
        }
        (Some(upstream), None, Some(origin)) => {
            follow::follow(variant, upstream, origin, list, supplied, results)?;
        }
        (Some(upstream), None, None) => clone::clone(variant, upstream, list, results)?,
        (None, ..) if list.is_package() && list.items().next().is_none() => {
            let message = "role `upstream`: expected the package to clone into the empty one (--upstream PATH), found none";
            return Err(UsageError::of(message));
        }
        (None, ..) => {}
    }
    run_steps(variant, list, supplied, results);
    if let Some(message) = unused_fields(&variant.typed) {
        let result = FunctionResult::info(message).with_resource(&variant.resource);
        results.push(result.with_field("spec"));
    }
    Ok(())
}

/// Runs the steps after a clone or an update, up to the first that fails.
fn run_steps(
    variant: &Variant<'_>,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) {
    if !results.has_errors() {
        let change = ContextChange::of_variant(variant.config, &variant.typed);
        change_context(&change, list, results);
    }
    if !results.has_errors() {
        let pipeline = variant.config.get_path(&["spec", "pipeline"]);
        prepend(variant.config, pipeline, list, results);
    }
    if !results.has_errors() {
        let injectors = Injectors::of_variant(variant.config, &variant.typed);
        inject(&injectors, list, supplied, results);
    }
}

/// A message about the given fields that only Porch uses; `None` if there are none.
fn unused_fields(variant: &PackageVariant) -> Option<String> {
    let spec = &variant.spec;
    let given = [
        ("labels", !spec.labels.is_empty()),
        ("annotations", !spec.annotations.is_empty()),
        ("adoptionPolicy", spec.adoption_policy.is_some()),
        ("deletionPolicy", spec.deletion_policy.is_some()),
    ];
    let mut names = given.iter().filter(|(_, given)| *given).peekable();
    names.peek()?;
    let names = listed(names.map(|(name, _)| name));
    Some(format!("valid, but only Porch uses it: {names}"))
}
