//! Makes the strategic merge patches that turn live resources into a configuration.
//!
//! ```yaml
//! spec:             # previous     # config       # live         # patch
//!   replicas:                                       5
//!   paused:           true                          true           null
//!   image:            app:1          app:2          app:1          app:2
//! ```
//!
//! Source: preserve-order document; contract, create-patch.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::pairing::{Pair, each_pair};
use super::{Document, Function, Output, Run};
use crate::config::{API_VERSION, CONFIG_MAP, Keys, UsageError, typed_config};
use crate::git;
use crate::patch::config::create_patch;
use crate::patch::fields::Fields;
use crate::patch::finding::Findings;
use crate::patch::node::{Node, Shape};
use crate::patch::options::{self, Options, Scalars};
use crate::patch::rules::Rules;
use crate::patch::write::to_text;
use crate::resource::Resource;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::schema::Schema;
use crate::supplied::{Role, Supplied};
use crate::yaml::EditError;

/// The function that the binary runs.
pub const FUNCTION: Function = Function {
    name: "create-patch",
    about: "Makes the strategic merge patches that take live resources to the items, a configuration, \
            as `kubectl apply` would send them. Its output is the patches, so it does not belong into a Kptfile's pipeline.",
    examples: &[
        "create-patch --package DIR --live live.yaml",
        "create-patch --package DIR --live live.yaml allowMissing=true",
    ],
    configs: &[(API_VERSION, "CreatePatch"), CONFIG_MAP],
    roles: &[Role::Live, Role::Original],
    keys: Keys::These(&[options::LIST_ORDER, options::ALLOW_MISSING]),
    uses_schema: true,
    git: Some(git::read),
    makes_package: false,
    merge_driver: None,
    fleet: None,
    step,
};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub(super) struct CreatePatch ignores live, original {
        list_order: Option<String>,
        allow_missing: Option<bool>,
    }
}

impl From<CreatePatch> for Scalars {
    fn from(config: CreatePatch) -> Self {
        Self {
            list_order: config.list_order,
            allow_missing: config.allow_missing.map(|allowed| allowed.to_string()),
        }
    }
}

fn step(run: Run<'_>) -> Result<Output, UsageError> {
    let Run {
        config,
        list,
        supplied,
        results,
    } = run;
    let options = options::read::<CreatePatch>(config, FUNCTION.configs, true, results)?;
    if !supplied.has(Role::Live) {
        return Err(UsageError(
            "role `live`: expected live resources (--live PATH, or the field `live` of a CreatePatch), found none"
                .to_owned(),
        ));
    }
    let Some(options) = options else {
        return Ok(Output::Edited);
    };
    let schema = supplied.schema_with_crds(list)?;
    let patches = create_all(options, &schema, supplied, list, results);
    let patched: BTreeSet<ItemId> = patches.iter().map(|patch| patch.item).collect();
    let others = list.items().map(|(id, _)| id);
    let others: Vec<ItemId> = others.filter(|id| !patched.contains(id)).collect();
    others.into_iter().for_each(|id| list.remove(id));
    Ok(Output::Documents(patches))
}

fn create_all(
    options: Options,
    schema: &Schema,
    supplied: &Supplied,
    list: &ResourceList,
    results: &mut Results,
) -> Vec<Document> {
    let made = each_pair(list, supplied, results, |pair, results| {
        let resource = list.resource(pair.id);
        let made = one(pair, resource, schema, options, results);
        made.unwrap_or_else(|error| {
            results.push(FunctionResult::refused(&error).about(resource));
            None
        })
    });
    let patches: Vec<Document> = made.into_iter().flatten().collect();
    if patches.is_empty() && !results.has_errors() {
        results.push(FunctionResult::info("no patch: nothing is to be changed"));
    }
    patches
}

fn one(
    pair: &Pair<'_>,
    resource: &Resource,
    schema: &Schema,
    options: Options,
    results: &mut Results,
) -> Result<Option<Document>, EditError> {
    let Some(live) = pair.live else {
        let message = "expected a live resource to make a patch for, found none";
        let result = if options.allow_missing {
            FunctionResult::warning(Reason::NoLive, message)
        } else {
            FunctionResult::error(Reason::NoLive, message)
        };
        results.push(result.about(resource));
        return Ok(None);
    };
    let rules = Rules::of(schema, &resource.api_version, &resource.kind);
    let mut findings = Findings::default();
    let (config, live) = (Node::Text(pair.config), Node::Text(live));
    let patch = create_patch(
        pair.original().as_ref(),
        &config,
        &live,
        rules,
        &mut findings,
    );
    findings.report(resource, None, results);
    let Some(patch) = patch.filter(|_| !findings.has_errors()) else {
        return Ok(None);
    };
    if !rules.is_known() {
        let message =
            "the kind has no schema: this is a JSON merge patch, for `kubectl patch --type merge`";
        results.push(FunctionResult::info(message).about(resource));
    }
    Ok(Some(Document {
        item: pair.id,
        resource: resource.clone(),
        before: String::new(),
        text: to_text(&sparse(&patch, &config))?,
        is_sound: false,
    }))
}

/// A patch with the identity of its resource.
fn sparse<'a>(patch: &Node<'a>, config: &Node<'a>) -> Node<'a> {
    let named = |map: &Node<'a>, names: &[&str]| -> Fields<'a> {
        let mut fields = map.fields();
        fields.retain(|_, key| names.contains(&key));
        fields
    };
    let mut fields = named(config, &["apiVersion", "kind", "metadata"]);
    let patched = patch.get("metadata");
    if let Some(at) = fields.position("metadata") {
        let field = fields.get(at);
        let mut own = named(&field.value, &["name", "namespace"]);
        let more = patched.iter().flat_map(Node::each_field);
        own.extend(more.filter(|field| !matches!(&*field.key, "name" | "namespace")));
        fields.set(at, field.with(Node::map(own, field.value.source())));
    }
    debug_assert!(config.shape() == Shape::Map, "a configuration is a map");
    let rest = patch.each_field();
    fields.extend(rest.filter(|field| !matches!(&*field.key, "apiVersion" | "kind" | "metadata")));
    Node::map(fields, config.source())
}
