//! Creates the strategic merge patches that turn live resources into a configuration.
//!
//! ```yaml
//! spec:             # previous     # config       # live         # patch
//!   replicas:                                       5
//!   paused:           true                          true           null
//!   image:            app:1          app:2          app:1          app:2
//! ```
//!
//! Source: preserve-order document; contract, create-patch.

pub mod pairing;

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::pairing::{Pair, each_pair, each_removed};
use krm_core::config::{API_VERSION, CONFIG_MAP, Keys, UsageError, typed_config};
use krm_core::resource::Resource;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::schema::Schema;
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_function::{Document, Function, OnPackage, Output, StepRun};
use krm_patch::annotations::without_pipeline_annotations;
use krm_patch::config::{create_patch, modified};
use krm_patch::finding::Findings;
use krm_patch::identity::sparse;
use krm_patch::kustomize::{self, Targets};
use krm_patch::node::Node;
use krm_patch::options::{self, Options, PatchFormat};
use krm_patch::rules::Rules;
use krm_patch::write::to_text;
use krm_upstream::SOURCES;
use krm_yaml::{EditError, NodeRef, to_block_text};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "create-patch",
    about: "Creates the strategic merge patches that `kubectl apply` would send: they turn live resources into the items. Its output is the patches, so it does not belong in a Kptfile's pipeline.",
    examples: &[
        "create-patch --package DIR --live live.yaml",
        "create-patch --package DIR --live live.yaml allowMissing=true",
        "create-patch --package DIR --live BASE --original BASE format=kustomize",
    ],
    configs: &[(API_VERSION, "CreatePatch"), CONFIG_MAP],
    roles: &[Role::Live, Role::Original],
    keys: Keys::These(&[options::FORMAT, options::LIST_ORDER, options::ALLOW_MISSING]),
    uses_schema: true,
    sources: SOURCES,
    step,
    on_package: OnPackage::Prints,
    ..Function::PLAIN
};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub struct CreatePatch ignores live, original {
        list_order: Option<String>,
        allow_missing: Option<bool>,
        format: Option<String>,
    }
}

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    let options =
        options::read::<CreatePatch>(run.config, FUNCTION.configs, FUNCTION.keys, run.results)?;
    if !run.supplied.has(Role::Live) {
        return Err(Role::Live.missing("live resources", "CreatePatch"));
    }
    let Some(options) = options else {
        return Ok(Output::Edited);
    };
    let schema = run.supplied.schema_with_crds(run.list)?;
    let patches = create_all(options, &schema, run.supplied, run.list, run.results);
    let patched: BTreeSet<ItemId> = patches.iter().filter_map(|patch| patch.item).collect();
    let others = run.list.items().map(|(id, _)| id);
    let others: Vec<ItemId> = others.filter(|id| !patched.contains(id)).collect();
    others.into_iter().for_each(|id| run.list.remove(id));
    Ok(Output::Documents(patches))
}

fn create_all(
    options: Options,
    schema: &Schema,
    supplied: &Supplied,
    list: &ResourceList,
    results: &mut Results,
) -> Vec<Document> {
    let live = supplied.of(Role::Live).map(SuppliedPackage::list);
    let targets: Targets<'_> = match options.format {
        PatchFormat::Kubectl => Targets::default(),
        PatchFormat::Kustomize => live
            .flat_map(|list| list.items().map(|(_, live)| live))
            .collect(),
    };
    let maker = PatchMaker {
        schema,
        options,
        targets,
    };
    let made = each_pair(list, supplied, results, |pair, results| {
        let resource = list.resource(pair.id);
        let made = maker.one(pair, resource, results);
        made.unwrap_or_else(|error| {
            results.push(FunctionResult::refused(&error).with_resource(resource));
            Vec::new()
        })
    });
    let mut patches: Vec<Document> = made.into_iter().flatten().collect();
    if options.format == PatchFormat::Kustomize {
        patches.extend(delete_all(list, supplied, results));
    }
    if patches.is_empty() && !results.has_errors() {
        results.push(FunctionResult::info("no patch: nothing to change"));
    }
    patches
}

/// The patches that delete the resources that are in the previous configuration but not among the items.
fn delete_all(list: &ResourceList, supplied: &Supplied, results: &mut Results) -> Vec<Document> {
    let removed = each_removed(list, supplied, |resource, live| {
        let text = to_text(&kustomize::delete(&Node::Text(live)));
        (resource.clone(), text)
    });
    let made = removed.into_iter().filter_map(|(resource, text)| {
        let failed = |error| results.push(FunctionResult::refused(&error).with_resource(&resource));
        Some(document(None, &resource, text.map_err(failed).ok()?))
    });
    made.collect()
}

fn document(item: Option<ItemId>, resource: &Resource, text: String) -> Document {
    Document {
        item,
        resource: resource.clone(),
        path: None,
        before: String::new(),
        text,
    }
}

struct PatchMaker<'a> {
    schema: &'a Schema,
    options: Options,
    /// The live resources, for patches with a target.
    targets: Targets<'a>,
}

impl PatchMaker<'_> {
    /// The patches for one configuration.
    fn one(
        &self,
        pair: &Pair<'_>,
        resource: &Resource,
        results: &mut Results,
    ) -> Result<Vec<Document>, EditError> {
        let Some(live) = pair.live else {
            results.push(self.no_live().with_resource(resource));
            return Ok(Vec::new());
        };
        let rules = Rules::of(self.schema, &resource.api_version, &resource.kind);
        let mut findings = Findings::default();
        let config = Node::Text(pair.config);
        let texts = match self.options.format {
            PatchFormat::Kubectl => for_kubectl(pair, &config, live, rules, &mut findings)?,
            PatchFormat::Kustomize => {
                self.for_kustomize(pair, &config, live, rules, &mut findings)?
            }
        };
        findings.report(resource, &[pair.config, live], None, results);
        if findings.has_errors() {
            return Ok(Vec::new());
        }
        if self.options.format == PatchFormat::Kubectl && !rules.is_known() && !texts.is_empty() {
            let message = "the kind has no schema: this is a JSON merge patch, for `kubectl patch --type merge`";
            results.push(FunctionResult::info(message).with_resource(resource));
        }
        let items = std::iter::once(Some(pair.id)).chain(std::iter::repeat(None));
        let made = items.zip(texts);
        Ok(made
            .map(|(item, text)| document(item, resource, text))
            .collect())
    }

    fn no_live(&self) -> FunctionResult {
        let message = "expected a live resource to make a patch for, found none";
        if self.options.allow_missing {
            FunctionResult::warning(Reason::NoLive, message)
        } else {
            FunctionResult::error(Reason::NoLive, message)
        }
    }

    /// The patches with which kustomize has the effect of kubectl's patch.
    fn for_kustomize(
        &self,
        pair: &Pair<'_>,
        config: &Node<'_>,
        live: NodeRef<'_>,
        rules: Rules<'_>,
        findings: &mut Findings,
    ) -> Result<Vec<String>, EditError> {
        let node = Node::Text(live);
        let order = self.options.list_order;
        let original = pair.original();
        let modified = modified(original.as_ref(), config, &node, rules, order, findings);
        let Some(modified) = modified.filter(|_| !findings.has_errors()) else {
            return Ok(Vec::new());
        };
        let node = without_pipeline_annotations(&node);
        let patches = kustomize::create(&node, &modified, rules);
        let merge = patches.merge.as_ref().map(to_text).transpose()?;
        let entry = patches.entry(&Resource::read(live), &self.targets);
        let entry = entry.as_ref().map(to_block_text);
        Ok(merge.into_iter().chain(entry).collect())
    }
}

fn for_kubectl(
    pair: &Pair<'_>,
    config: &Node<'_>,
    live: NodeRef<'_>,
    rules: Rules<'_>,
    findings: &mut Findings,
) -> Result<Vec<String>, EditError> {
    let original = pair.original();
    let patch = create_patch(
        original.as_ref(),
        config,
        &Node::Text(live),
        rules,
        findings,
    );
    let patch = patch.filter(|_| !findings.has_errors());
    let text = patch.map(|patch| to_text(&sparse(&patch, config)));
    Ok(text.transpose()?.into_iter().collect())
}
