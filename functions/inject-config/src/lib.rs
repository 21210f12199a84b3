//! Copies supplied resources into a package's injection points, and records conditions in the Kptfile.
//!
//! ```yaml
//! kind: ServiceEndpoints                      # before
//! metadata:
//!   name: service-endpoints
//!   annotations:
//!     kpt.dev/config-injection: required
//! spec: {}
//! ```
//! with `injectors: [{name: useast1-service-endpoints}]` and a supplied resource of that name becomes
//! ```yaml
//! kind: ServiceEndpoints                      # after
//! metadata:
//!   name: service-endpoints
//!   annotations:
//!     kpt.dev/config-injection: required
//!     kpt.dev/injected-resource-name: useast1-service-endpoints
//! spec:
//!   auth: auth.useast1.example.com
//! ```
//!
//! Source: package-variant document, Configuration Injection; contract, inject-config.

pub mod config;
mod fill;
mod points;
mod select;

use std::collections::BTreeMap;

use self::config::Injectors;
use self::fill::{Filling, fill, unfilled, without_field};
use self::points::{Point, ambiguous_conditions, field_of, points, source_entry};
use self::select::{Selection, copies, key_of, select};
use krm_core::config::{API_VERSION, PACKAGE_VARIANT, UsageError};
use krm_core::kptfile::{ambiguous_roots, record_conditions, root_kptfile};
use krm_core::package_variant::{PackageVariant, validate_injectors};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results, Severity, listed};
use krm_function::supplied::{Role, Supplied};
use krm_function::{Function, Output, StepRun};
use krm_upstream::SOURCES;
use krm_yaml::NodeRef;

/// The annotation that marks a resource as an injection point: `required` or `optional`.
pub(crate) const CONFIG_INJECTION_ANNOTATION: &str = "kpt.dev/config-injection";
/// The annotation with the name of the resource that was injected.
pub const INJECTED_RESOURCE_NAME_ANNOTATION: &str = "kpt.dev/injected-resource-name";
/// The annotation that Porch's controller writes for the same purpose.
pub const INJECTED_RESOURCE_ANNOTATION: &str = "kpt.dev/injected-resource";

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "inject-config",
    about: "Copies supplied resources into the package's injection points (resources annotated \
            kpt.dev/config-injection), and records conditions and readiness gates in the Kptfile.",
    examples: &[
        "inject-config --package DIR --config inject.yaml --resources cluster.yaml",
        "inject-config --package DIR --config variant.yaml --resources cluster/ --diff",
    ],
    configs: &[(API_VERSION, "InjectConfig"), PACKAGE_VARIANT],
    roles: &[Role::Resources],
    sources: SOURCES,
    step,
    ..Function::PLAIN
};

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    inject(
        &Injectors::read(run.config)?,
        run.list,
        run.supplied,
        run.results,
    );
    Ok(Output::Edited)
}

/// The effect of the step on one injection point.
pub struct Injection {
    pub id: ItemId,
    /// The type of the point's condition in the Kptfile.
    pub condition: String,
    /// The field that is injected.
    pub field: &'static str,
    /// Whether a resource was found for the point.
    pub is_filled: bool,
}

/// The effects of a PackageVariant's injectors on a list. Errors are ignored here, because the step itself reports
/// them.
pub fn variant_injections(
    config: NodeRef<'_>,
    variant: &PackageVariant,
    list: &ResourceList,
    supplied: &Supplied,
) -> Vec<Injection> {
    let injectors = Injectors::of_variant(config, variant);
    let points = points(list, &mut Vec::new());
    let own = ResourceList::read_only();
    let selections = select(&injectors, &points, list, &own, supplied, &mut Vec::new());
    let injection = |point: &Point| Injection {
        id: point.id,
        condition: point.condition.clone(),
        field: field_of(&point.resource),
        is_filled: selections
            .get(&key_of(point))
            .is_some_and(Selection::is_found),
    };
    points.iter().map(injection).collect()
}

/// Fills the injection points of a package.
pub fn inject(
    injectors: &Injectors,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) {
    let mut findings = validate_injectors(&injectors.selectors, &injectors.field);
    let points = points(list, &mut findings);
    findings.extend(ambiguous_conditions(&points));
    if !points.is_empty() {
        findings.extend(ambiguous_roots(list));
    }
    // Copies, because the candidates are read while the list changes.
    let own = if injectors.with_package {
        copies(list, &points)
    } else {
        ResourceList::read_only()
    };
    let selections = select(injectors, &points, list, &own, supplied, &mut findings);
    if !findings.is_empty() {
        results.extend(findings);
        return;
    }
    let chosen = |point| {
        let selection = selections.get(&key_of(point))?;
        Some((selection, selection.source()?))
    };
    let fillings = points.iter().filter_map(|point| {
        let (selection, source) = chosen(point)?;
        let entry = source_entry(source, field_of(&point.resource))?;
        let name = &selection.name;
        Some((point.id, Filling { point, name, entry }))
    });
    let fillings: BTreeMap<ItemId, Filling<'_>> = fillings.collect();
    let mut outcomes = fill(&fillings, list);
    let mut findings = Results::default();
    let mut records = Vec::with_capacity(points.len());
    for point in &points {
        let outcome = outcomes.remove(&point.id);
        records.push(match (chosen(point), fillings.get(&point.id)) {
            (_, Some(filling)) => filling.record(outcome, &mut findings),
            (Some((selection, _)), None) => without_field(point, &selection.name, &mut findings),
            (None, None) => unfilled(
                injectors,
                point,
                selections.get(&key_of(point)),
                &mut findings,
            ),
        });
    }
    match root_kptfile(list) {
        Some(kptfile) => record_conditions(list, kptfile, &records, &mut findings),
        None if records.is_empty() => {}
        None => {
            let names = listed(records.iter().map(|record| &record.condition));
            let message = format!(
                "expected a Kptfile to record conditions in, found none; not recorded: {names}"
            );
            findings.push(FunctionResult::warning(Reason::KptfileNotFound, message));
        }
    }
    // A run that fails discards all edits, so results about them would be false.
    let failed = findings.has_errors();
    let listed = findings
        .iter()
        .filter(|result| !failed || result.severity == Severity::Error);
    results.extend(listed.cloned());
}
