//! Copies supplied resources into a package's injection points, and records it in the Kptfile.
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

mod kptfile;
mod select;

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::IgnoredAny;

use self::kptfile::{Record, record};
use self::select::{Selection, key_of, select};
use super::{Function, Output, Run};
use crate::config::{
    self, API_VERSION, Keys, PACKAGE_VARIANT_API_VERSION, UsageError, kind_of, typed,
};
use crate::functions::set_package_context::is_package_context;
use crate::git;
use crate::kptfile::{ambiguous_roots, has_comments, remove_ids, root_kptfile};
use crate::resource::Resource;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results, Severity, with_article};
use crate::supplied::{Role, Supplied};
use crate::variant::package_variant::{
    InjectionSelector, PackageVariant, Part, validate_injectors,
};
use crate::yaml::{Content, EditError, Editor, EntryRef, NodeKind, NodeRef, Path, Value};

/// Marks a resource as an injection point: `required` or `optional`.
pub const CONFIG_INJECTION_ANNOTATION: &str = "kpt.dev/config-injection";
/// Name of the resource that was injected.
pub const INJECTED_RESOURCE_NAME_ANNOTATION: &str = "kpt.dev/injected-resource-name";
/// What Porch's own controller writes in its place.
pub const INJECTED_RESOURCE_ANNOTATION: &str = "kpt.dev/injected-resource";

const ANNOTATIONS: &str = "metadata.annotations";

/// The function, for its binary.
pub const FUNCTION: Function = Function {
    name: "inject-config",
    about: "Copies supplied resources into the package's injection points (resources annotated \
            kpt.dev/config-injection), and records conditions and readiness gates in the Kptfile.",
    roles: &[Role::Resources],
    keys: Keys::None,
    uses_schema: false,
    git: Some(git::read),
    merge_driver: None,
    step,
};

/// The function's own config.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InjectConfig {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default, rename = "metadata")]
    _metadata: IgnoredAny,
    /// Which resources are injected; the first that matches wins.
    #[serde(default)]
    injectors: Vec<InjectionSelector>,
    /// The role `resources`, read by the filter.
    #[serde(default, rename = "resources")]
    _resources: IgnoredAny,
}

/// What the config says.
struct Plan {
    injectors: Vec<InjectionSelector>,
    /// Where the injectors stand in the config.
    field: Path,
    /// Namespace of the config object; resources of others must not leak.
    namespace: String,
}

impl Plan {
    fn read(config: Option<NodeRef<'_>>) -> Result<Self, UsageError> {
        const EXPECTED: &str = "an InjectConfig (fn.kpt.dev/v1alpha1) or a PackageVariant \
             (config.porch.kpt.dev/v1alpha1)";
        let Some(config) = config else {
            return Err(UsageError(format!(
                "functionConfig: expected {EXPECTED}, found none"
            )));
        };
        match kind_of(config) {
            (API_VERSION, "InjectConfig") => {
                let typed: InjectConfig = typed(config)?;
                Ok(Self::of(
                    config,
                    typed.injectors,
                    Path::fields(&["injectors"]),
                ))
            }
            (PACKAGE_VARIANT_API_VERSION, "PackageVariant") => {
                let typed = PackageVariant::read_part(config, Part::Injectors)?;
                Ok(Self::of_variant(config, &typed))
            }
            _ => Err(config::unexpected(config, EXPECTED)),
        }
    }

    fn of_variant(config: NodeRef<'_>, variant: &PackageVariant) -> Self {
        let field = Path::fields(&["spec", "injectors"]);
        Self::of(config, variant.spec.injectors.clone(), field)
    }

    fn of(config: NodeRef<'_>, injectors: Vec<InjectionSelector>, field: Path) -> Self {
        let namespace = config.get_path(&["metadata", "namespace"]);
        Self {
            injectors,
            field,
            namespace: namespace_or_default(namespace.and_then(|n| n.as_str())).to_owned(),
        }
    }
}

fn namespace_or_default(namespace: Option<&str>) -> &str {
    namespace
        .filter(|namespace| !namespace.is_empty())
        .unwrap_or("default")
}

/// A resource of the package that takes an injection.
struct Point {
    id: ItemId,
    resource: Resource,
    required: bool,
    /// `config.injection.<kind>.<name>`
    condition: String,
}

/// The field that is injected into resources of this kind.
fn field_of(resource: &Resource) -> &'static str {
    match resource.kind == "ConfigMap" && resource.group().is_empty() {
        true => "data",
        false => "spec",
    }
}

/// The entry of the field in a resource to inject; a null counts as none.
fn source_entry<'a>(node: NodeRef<'a>, field: &str) -> Option<EntryRef<'a>> {
    node.resolved()
        .entry(field)
        .filter(|entry| !entry.value.is_null())
}

fn step(run: Run<'_>) -> Result<Output, UsageError> {
    let Run {
        config,
        list,
        supplied,
        results,
    } = run;
    inject(&Plan::read(config)?, list, supplied, results);
    Ok(Output::Edited)
}

/// The step of a PackageVariant that was read, as one of several.
pub(crate) fn inject_variant_config(
    config: NodeRef<'_>,
    variant: &PackageVariant,
    list: &mut ResourceList,
    supplied: &Supplied,
    results: &mut Results,
) {
    inject(&Plan::of_variant(config, variant), list, supplied, results);
}

/// What the step will do to one injection point.
pub(crate) struct Injection {
    /// The injection point.
    pub(crate) id: ItemId,
    /// The type of its condition in the Kptfile.
    pub(crate) condition: String,
    /// The field that is injected.
    pub(crate) field: &'static str,
    /// Whether a resource was found for it.
    pub(crate) is_filled: bool,
}

/// What the step of a PackageVariant will do to a list; what it finds wrong is for the step to say.
pub(crate) fn variant_injections(
    config: NodeRef<'_>,
    variant: &PackageVariant,
    list: &ResourceList,
    supplied: &Supplied,
) -> Vec<Injection> {
    let plan = Plan::of_variant(config, variant);
    let points = points(list, &mut Vec::new());
    let selections = select(&plan, &points, list, supplied, &mut Vec::new());
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

fn inject(plan: &Plan, list: &mut ResourceList, supplied: &Supplied, results: &mut Results) {
    let mut findings = validate_injectors(&plan.injectors, &plan.field);
    let points = points(list, &mut findings);
    findings.extend(ambiguous_conditions(&points));
    if !points.is_empty() {
        findings.extend(ambiguous_roots(list));
    }
    let selections = select(plan, &points, list, supplied, &mut findings);
    if !findings.is_empty() {
        findings
            .into_iter()
            .for_each(|finding| results.push(finding));
        return;
    }
    // Nothing was changed so far.
    let items: Vec<ItemId> = selections.values().filter_map(Selection::item).collect();
    let copies = list.copies_of(&items);
    let sources: HashMap<ItemId, NodeRef<'_>> = items
        .iter()
        .zip(copies.items())
        .map(|(id, (copy, _))| (*id, copies.node(copy)))
        .collect();
    let chosen = |point| chosen(point, &selections, &sources, supplied);
    let fillings = points.iter().filter_map(|point| {
        let (selection, source) = chosen(point)?;
        let entry = source_entry(source, field_of(&point.resource))?;
        let name = &selection.name;
        Some((point.id, Filling { point, name, entry }))
    });
    let fillings: BTreeMap<ItemId, Filling<'_>> = fillings.collect();
    let mut outcomes = fill(&fillings, list);
    let mut said = Results::default();
    let mut records = Vec::with_capacity(points.len());
    for point in &points {
        let outcome = outcomes.remove(&point.id);
        records.push(match (chosen(point), fillings.get(&point.id)) {
            (_, Some(filling)) => filling.record(outcome, &mut said),
            (Some((selection, _)), None) => without_field(point, &selection.name, &mut said),
            (None, None) => unfilled(plan, point, selections.get(&key_of(point)), &mut said),
        });
    }
    match root_kptfile(list) {
        Some(kptfile) => record(list, kptfile, &records, &mut said),
        None if records.is_empty() => {}
        None => {
            let names: Vec<_> = records
                .iter()
                .map(|record| format!("`{}`", record.condition))
                .collect();
            let message = format!(
                "expected a Kptfile to record conditions in, found none; not recorded: {}",
                names.join(", ")
            );
            said.push(FunctionResult::warning(Reason::KptfileNotFound, message));
        }
    }
    // Of a run that fails nothing is kept, and so nothing was done.
    let failed = said.has_errors();
    let told = said
        .iter()
        .filter(|result| !failed || result.severity == Severity::Error);
    told.for_each(|result| results.push(result.clone()));
}

/// The injection points in the order of the items; what is wrong with them goes to the findings.
fn points(list: &ResourceList, findings: &mut Vec<FunctionResult>) -> Vec<Point> {
    let path = ["metadata", "annotations", CONFIG_INJECTION_ANNOTATION];
    let mut points = Vec::new();
    for (id, resource) in list.items_that_may_contain(&["config-injection"]) {
        let Some(value) = list.node(id).get_path(&path) else {
            continue;
        };
        let required = match value.scalar_text() {
            Some("required") => true,
            Some("optional") => false,
            other => {
                let found =
                    other.map_or_else(|| with_article(value.kind_name()), |t| format!("`{t}`"));
                let message = format!("expected `required` or `optional`, found {found}");
                let result = FunctionResult::error(Reason::InvalidValue, message);
                findings.push(result.about(resource).at(Path::fields(&path)));
                false
            }
        };
        if is_package_context(resource) {
            let message = "expected no injection point, found one: an injection would replace the \
                           package's `name` and all other keys of its context";
            let result = FunctionResult::error(Reason::InvalidValue, message);
            findings.push(result.about(resource).at(Path::fields(&path)));
        }
        let mut missing = |field: Path, what: &str| {
            let message = format!("expected {what} of the injection point, found none");
            let result = FunctionResult::error(Reason::InvalidValue, message);
            findings.push(result.about(resource).at(field));
        };
        if resource.api_version.is_empty() {
            missing(Path::fields(&["apiVersion"]), "the apiVersion");
        }
        if resource.kind.is_empty() {
            missing(Path::fields(&["kind"]), "the kind");
        }
        let name = resource.name.as_deref().filter(|name| !name.is_empty());
        if name.is_none() {
            missing(Path::fields(&["metadata", "name"]), "the name");
        }
        points.push(Point {
            id,
            resource: resource.clone(),
            required,
            condition: format!(
                "config.injection.{}.{}",
                resource.kind,
                name.unwrap_or_default()
            ),
        });
    }
    points
}

/// Points that would share a condition, which could not tell of both.
fn ambiguous_conditions(points: &[Point]) -> Vec<FunctionResult> {
    let mut first: HashMap<&str, &Point> = HashMap::new();
    let mut findings = Vec::new();
    for point in points.iter().filter(|point| point.resource.name.is_some()) {
        let other = *first.entry(&point.condition).or_insert(point);
        if other.id != point.id {
            let message = format!(
                "expected one injection point for the condition `{}`, found another in {}; rename one of them",
                point.condition,
                place_of(&other.resource)
            );
            let result = FunctionResult::error(Reason::AmbiguousCondition, message);
            findings.push(result.about(&point.resource).at("metadata.name"));
        }
    }
    findings
}

/// What tells a point from another of its kind and name.
fn place_of(resource: &Resource) -> String {
    let namespace = namespace_or_default(resource.namespace.as_deref());
    let api_version = &resource.api_version;
    let place = format!("namespace `{namespace}`, apiVersion `{api_version}`");
    match &resource.origin.path {
        Some(path) => format!("`{path}` ({place})"),
        None => place,
    }
}

/// An edit that cannot be made, and at which field.
struct Refusal {
    field: &'static str,
    error: EditError,
}

impl Refusal {
    fn at(field: &'static str) -> impl FnOnce(EditError) -> Self {
        move |error| Self { field, error }
    }

    fn result(&self) -> FunctionResult {
        match &self.error {
            error @ EditError::SharedAnchor { .. } => FunctionResult::refused(error),
            error => FunctionResult::refused(error).at(self.field),
        }
    }
}

impl From<EditError> for Refusal {
    fn from(error: EditError) -> Self {
        Self { field: "", error }
    }
}

/// What was selected for a point.
fn chosen<'a>(
    point: &'a Point,
    selections: &'a HashMap<(&'a str, &'a str), Selection>,
    sources: &HashMap<ItemId, NodeRef<'a>>,
    supplied: &'a Supplied,
) -> Option<(&'a Selection, NodeRef<'a>)> {
    let selection = selections.get(&key_of(point))?;
    Some((selection, selection.source(sources, supplied)?))
}

/// A point with what is copied into it.
struct Filling<'a> {
    point: &'a Point,
    /// Name of the selected resource.
    name: &'a str,
    entry: EntryRef<'a>,
}

/// Fills points, each text once. Gives the points that changed, and those that cannot be filled.
fn fill(
    fillings: &BTreeMap<ItemId, Filling<'_>>,
    list: &mut ResourceList,
) -> HashMap<ItemId, Result<(), Refusal>> {
    let in_package = list.is_package();
    let mut changed = Vec::new();
    let mut refused = Vec::new();
    list.edit_items(
        fillings.keys().copied(),
        |id, node, editor| {
            let is_changed = match fillings.get(&id) {
                Some(filling) => filling.write(node, in_package, editor)?,
                None => false,
            };
            changed.extend(is_changed.then_some(id));
            Ok::<_, Refusal>(())
        },
        |id, refusal| refused.push((id, refusal)),
    );
    let changed = changed.into_iter().map(|id| (id, Ok(())));
    let refused = refused.into_iter().map(|(id, refusal)| (id, Err(refusal)));
    changed.chain(refused).collect()
}

impl<'a> Filling<'a> {
    /// Copies the field of the selected resource into the point. Says whether anything changed.
    fn write<'d>(
        &self,
        resource: NodeRef<'d>,
        in_package: bool,
        editor: &mut Editor<'d, 'a>,
    ) -> Result<bool, Refusal> {
        let field = field_of(&self.point.resource);
        let entry = self.entry;
        let resource = resource.resolved();
        let mut changed = true;
        match resource.entry(field) {
            Some(old) if old.value.equals(&entry.value) => changed = false,
            Some(old) => {
                if !in_package && has_list_comments(old.value) {
                    remove_ids(resource, editor).map_err(Refusal::at(ANNOTATIONS))?;
                }
                let replaced = editor.replace(old.value, Content::Node(entry.value));
                replaced.map_err(Refusal::at(field))?;
            }
            None => {
                let inserted = editor.insert_entry_from(resource, None, entry);
                inserted.map_err(Refusal::at(field))?;
            }
        }
        changed |= annotate(resource, self.name, editor).map_err(Refusal::at(ANNOTATIONS))?;
        Ok(changed)
    }

    fn record(&self, outcome: Option<Result<(), Refusal>>, results: &mut Results) -> Record {
        let Self { point, name, .. } = *self;
        let field = field_of(&point.resource);
        match outcome {
            Some(Ok(())) => {
                let result = FunctionResult::info(format!("injected `{field}` of `{name}`"));
                results.push(result.about(&point.resource).at(field));
            }
            Some(Err(refusal)) => results.push(refusal.result().about(&point.resource)),
            None => {}
        }
        Record::injected(point, format!("injected resource `{name}`"))
    }
}

/// The selected resource has nothing to inject; the point stays as it is.
fn without_field(point: &Point, name: &str, results: &mut Results) -> Record {
    let field = field_of(&point.resource);
    let message = format!("the selected resource `{name}` has no `{field}`");
    let result = FunctionResult::warning(Reason::FieldNotFound, message.clone());
    results.push(result.about(&point.resource).at(field));
    Record::unfilled(point, Reason::FieldNotFound, message)
}

/// Writes the name of the injected resource. Says whether anything changed.
fn annotate<'d>(
    resource: NodeRef<'d>,
    name: &str,
    editor: &mut Editor<'d, '_>,
) -> Result<bool, EditError> {
    let metadata = resource.entry("metadata").map(|entry| entry.value);
    let annotations = metadata.and_then(|metadata| metadata.entry("annotations"));
    let Some(annotations) = annotations.map(|entry| entry.value) else {
        // Metadata is an alias; editing that is refused.
        return Err(EditError::WrongKind {
            place: ANNOTATIONS.to_owned(),
            expected: "mapping",
            found: "alias",
        });
    };
    let mut changed = false;
    for (annotation, add) in [
        (INJECTED_RESOURCE_NAME_ANNOTATION, true),
        (INJECTED_RESOURCE_ANNOTATION, false),
    ] {
        let old = annotations.entry(annotation);
        let is_due = match old {
            Some(old) => old.value.as_str() != Some(name),
            None => add,
        };
        if is_due {
            changed = true;
            editor.set(annotations, annotation, Content::Value(Value::from(name)))?;
        }
    }
    Ok(changed)
}

/// Whether elements of a list within the value carry comments, which kpt would restore by position.
fn has_list_comments(value: NodeRef<'_>) -> bool {
    let mut pending = vec![value];
    while let Some(node) = pending.pop() {
        if node.kind() == NodeKind::BlockSequence && has_comments(node) {
            return true;
        }
        pending.extend(node.items());
        pending.extend(node.entries().map(|entry| entry.value));
    }
    false
}

/// The condition of a point for which nothing was selected.
fn unfilled(
    plan: &Plan,
    point: &Point,
    selection: Option<&Selection>,
    results: &mut Results,
) -> Record {
    let Resource {
        api_version, kind, ..
    } = &point.resource;
    let message = match selection {
        Some(_) => "no injection selector matches a supplied resource".to_owned(),
        None => format!(
            "no resource of apiVersion `{api_version}` and kind `{kind}` is supplied in namespace `{}`",
            plan.namespace
        ),
    };
    if point.required {
        let result = FunctionResult::warning(Reason::NoResourceSelected, message.clone());
        let field = Path::fields(&["metadata", "annotations", CONFIG_INJECTION_ANNOTATION]);
        results.push(result.about(&point.resource).at(field));
    }
    Record::unfilled(point, Reason::NoResourceSelected, message)
}
