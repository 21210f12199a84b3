//! The variants of a fleet: PackageVariants, including those that PackageVariantSets expand to.

use std::collections::BTreeMap;

use super::config::FleetSettings;
use crate::fleet::UpstreamRequest;
use expand_variant_set::expand_valid_sets;
use krm_core::config::{Config, PACKAGE_VARIANT, UsageError};
use krm_core::package_variant::PackageVariant;
use krm_core::resource::{NamespacedName, Resource, namespace_of};
use krm_core::resource_list::{ItemId, ResourceList, own_text};
use krm_core::results::{FunctionResult, Reason, Results, Severity};
use krm_function::supplied::{CatalogSource, Supplied, SuppliedPackage};
use krm_package::normalize_package_path;
use krm_package::text::Text;
use krm_variant::package_variant_set;
use krm_variant::revision_request::RevisionRequest;
use krm_yaml::NodeRef;
use render_variant::RepositoryFacts;

/// A PackageVariant of the fleet. It must be small, because there may be hundreds of thousands.
#[derive(Debug)]
pub(super) struct FleetVariant {
    /// `<namespace>/<name>`.
    pub(super) owner: String,
    pub(super) resource: Resource,
    /// What it requests; errors if it cannot be processed.
    pub(super) place: Result<Destination, Vec<FunctionResult>>,
    /// The PackageVariant as written.
    text: Text,
}

/// The package that a PackageVariant targets, and its upstream.
#[derive(Debug)]
pub(super) struct Destination {
    /// The path in the fleet, `<repository>/<package>`.
    pub(super) path: String,
    pub(super) wanted: UpstreamRequest,
    pub(super) adopts: bool,
    pub(super) orphans: bool,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
}

/// The variants of a fleet sorted by owner, and the relevant Repository objects.
#[derive(Debug, Default)]
pub(super) struct Variants {
    pub(super) all: Vec<FleetVariant>,
    pub(super) repositories: BTreeMap<NamespacedName, RepositoryFacts>,
    /// Whether all sets were expanded. If not, variants may be missing, and nothing may be pruned.
    pub(super) are_complete: bool,
}

/// The Repository objects of catalogs and, for drafts, also of downstream repositories.
fn repositories<'l>(
    lists: impl Iterator<Item = &'l ResourceList>,
    settings: &FleetSettings,
) -> BTreeMap<NamespacedName, RepositoryFacts> {
    let mut found = BTreeMap::new();
    for list in lists {
        let repositories = list.items().filter(|(_, resource)| {
            resource.kind.as_ref() == "Repository" && resource.group() == "config.porch.kpt.dev"
        });
        for (id, resource) in repositories {
            let name = resource.name.as_deref().unwrap_or_default();
            let key = NamespacedName::new(resource.namespace.as_deref(), name);
            let mut catalogs = settings.catalogs.iter();
            let is_catalog =
                |catalog: &CatalogSource| catalog.name == name && catalog.serves(&key.namespace);
            if settings.drafts || catalogs.any(is_catalog) {
                let read = || list.read(id, RepositoryFacts::read);
                found.entry(key).or_insert_with(read);
            }
        }
    }
    found
}

impl Variants {
    /// Expands the sets among the inputs and reads the variants. Uses little memory, because there may be 100,000
    /// variants and as many Repositories. Errors of sets are results.
    ///
    /// # Errors
    /// [`UsageError`]: an input cannot be read.
    pub(super) fn read(
        inputs: &[&ResourceList],
        supplied: &mut Supplied,
        settings: &FleetSettings,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let resources = supplied.resources().map(SuppliedPackage::list);
        let mut variants = Self {
            repositories: repositories(inputs.iter().copied().chain(resources), settings),
            all: Vec::new(),
            are_complete: true,
        };
        let mut items = inputs.iter().flat_map(|list| list.items());
        if items.any(|(_, resource)| is_set(resource)) {
            let (list, all) = expand(inputs, supplied, settings.allow_empty, results)?;
            variants.are_complete = all;
            // The objects that sets select are not needed again. Resources to inject are parsed again when needed.
            supplied.drop_trees();
            variants.take(&list);
        } else {
            supplied.drop_trees();
            inputs.iter().for_each(|list| variants.take(list));
        }
        variants.all.sort_by(|a, b| a.owner.cmp(&b.owner));
        variants.refuse_duplicates();
        Ok(variants)
    }

    /// Adds the variants of a list.
    fn take(&mut self, list: &ResourceList) {
        let found = list.items().filter(|(_, resource)| is_variant(resource));
        let found: Vec<_> = found.collect();
        self.all.reserve_exact(found.len());
        self.all.extend(found.into_iter().map(|(id, resource)| {
            let text = list.text_of(id);
            list.read(id, |node| {
                // Most variants have their own file, whose text can be shared.
                let is_all = node.document_text().is_some_and(|own| *own == *text);
                let own = if is_all {
                    text.clone()
                } else {
                    Text::from(own_text(node))
                };
                FleetVariant::read(resource.clone(), node, own)
            })
        }));
    }

    /// The error for a fleet without variants; `None` if that is allowed, or if a set has errors.
    pub(super) fn none(
        &self,
        inputs: &[&ResourceList],
        settings: &FleetSettings,
    ) -> Option<FunctionResult> {
        if !self.all.is_empty() || settings.allow_empty || !self.are_complete {
            return None;
        }
        let sets = inputs.iter().flat_map(|list| list.items());
        let sets = sets.filter(|(_, resource)| is_set(resource)).count();
        let found = match sets {
            0 => "found none".to_owned(),
            sets => format!(
                "found {sets} PackageVariantSets that select nothing (does `--resources` contain the Repositories and other objects that they select?)"
            ),
        };
        let message = format!(
            "expected PackageVariants or PackageVariantSets in the role `variants`, {found}; \
             if this is intentional, set allowEmpty=true"
        );
        Some(FunctionResult::error(Reason::NoVariants, message))
    }

    /// Refuses PackageVariants of the same namespace and name, because they cannot be distinguished.
    fn refuse_duplicates(&mut self) {
        let mut next = 0;
        while next < self.all.len() {
            let owner = &self.all[next].owner;
            let count = self.all[next..].iter();
            let count = count.take_while(|other| other.owner == *owner).count();
            if count > 1 {
                let message = format!("expected one PackageVariant of this name, found {count}");
                self.all.drain(next + 1..next + count);
                let duplicate = &mut self.all[next];
                duplicate.refuse(FunctionResult::error(Reason::Ambiguous, message));
            }
            next += 1;
        }
    }
}

impl FleetVariant {
    fn read(resource: Resource, node: NodeRef<'_>, text: Text) -> Self {
        Self {
            owner: owner_of(&resource),
            place: place_of(&resource, node),
            resource,
            text,
        }
    }

    /// The PackageVariant as a functionConfig of `render-variant`.
    ///
    /// # Errors
    /// [`UsageError`]: cannot occur, because the text has been parsed before.
    pub(super) fn config(&self) -> Result<Config, UsageError> {
        Config::parse(self.text.to_string(), &self.owner)
    }

    /// The path of its package, `<repository>/<package>`; `None` if the PackageVariant was refused.
    pub(super) fn path(&self) -> Option<&str> {
        let place = self.place.as_ref().ok()?;
        Some(&place.path)
    }

    /// Records an error because of which the variant cannot be processed.
    pub(super) fn refuse(&mut self, error: FunctionResult) {
        self.place = Err(vec![error.with_resource(&self.resource)]);
    }
}

/// The owner of a variant's package: the `<namespace>/<name>` of the PackageVariant.
pub(super) fn owner_of(resource: &Resource) -> String {
    let namespace = namespace_of(resource.namespace.as_deref());
    let name = resource.name.as_deref().unwrap_or_default();
    format!("{namespace}/{name}")
}

pub(super) fn is_variant(resource: &Resource) -> bool {
    resource.kind.as_ref() == PACKAGE_VARIANT.1
        && resource.api_version.as_ref() == PACKAGE_VARIANT.0
}

pub(super) fn is_set(resource: &Resource) -> bool {
    resource.kind.as_ref() == package_variant_set::KIND
        && resource.group() == "config.porch.kpt.dev"
}

/// The destination of a PackageVariant. `render-variant` checks the other fields.
fn place_of(resource: &Resource, node: NodeRef<'_>) -> Result<Destination, Vec<FunctionResult>> {
    let error =
        |reason, message: String| FunctionResult::error(reason, message).with_resource(resource);
    let variant = PackageVariant::read(node);
    let variant = variant.map_err(|wrong| vec![error(Reason::InvalidConfig, wrong.to_string())])?;
    let findings = variant.validate(resource.name.as_deref());
    if !findings.is_empty() {
        let about = findings
            .into_iter()
            .map(|finding| finding.with_resource(resource));
        return Err(about.collect());
    }
    let spec = variant.spec;
    let upstream = spec.upstream.unwrap_or_default();
    let downstream = spec.downstream.unwrap_or_default();
    let text = |text: Option<String>| text.unwrap_or_default();
    let (repo, package) = (text(downstream.repo), text(downstream.package));
    Ok(Destination {
        path: format!(
            "{}/{}",
            normalize_package_path(&repo),
            normalize_package_path(&package)
        ),
        wanted: UpstreamRequest {
            revision: RevisionRequest::of(&upstream),
            repository: NamespacedName::new(resource.namespace.as_deref(), &text(upstream.repo)),
            package: text(upstream.package),
        },
        adopts: spec.adoption_policy.as_deref() == Some("adoptExisting"),
        orphans: spec.deletion_policy.as_deref() == Some("orphan"),
        labels: spec.labels,
        annotations: spec.annotations,
    })
}

/// The PackageVariants after the sets among them are expanded as by `expand-variant-set`, without those of sets with
/// errors; and whether all sets were expanded.
fn expand(
    inputs: &[&ResourceList],
    supplied: &Supplied,
    allow_empty: bool,
    results: &mut Results,
) -> Result<(ResourceList, bool), UsageError> {
    let mut list = ResourceList::read_only();
    for input in inputs {
        list.append(input.copies_of(&variant_items(input)));
    }
    let mut found = Results::default();
    let are_complete = expand_valid_sets(&mut list, supplied, allow_empty, &mut found)?;
    let grave = found
        .iter()
        .filter(|result| result.severity > Severity::Info);
    results.extend(grave.cloned());
    list.apply_insertions().map_err(UsageError::of)?;
    Ok((list, are_complete))
}

/// The PackageVariants and PackageVariantSets of a list.
pub(super) fn variant_items(list: &ResourceList) -> Vec<ItemId> {
    let items = list.items();
    let found = items.filter(|(_, resource)| is_variant(resource) || is_set(resource));
    found.map(|(id, _)| id).collect()
}
