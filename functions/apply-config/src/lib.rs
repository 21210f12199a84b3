//! Shows how `kubectl apply` would change live resources, without a cluster.
//!
//! ```yaml
//! spec:             # previous     # config       # live         # result
//!   replicas:                                       5              5
//!   paused:           true                          true
//!   image:            app:1          app:2          app:1          app:2
//! ```
//!
//! Source: merging-fields document; contract, apply-config.

use serde::Deserialize;

use create_patch::pairing::{Pair, each_pair};
use krm_core::config::{API_VERSION, CONFIG_MAP, Keys, UsageError, typed_config};
use krm_core::resource::{INDEX_ANNOTATIONS, PACKAGE_PATH_ANNOTATION, PATH_ANNOTATIONS, Resource};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, LAST_APPLIED, Reason, Results};
use krm_core::schema::Schema;
use krm_function::supplied::{Role, Supplied};
use krm_function::{Document, Function, OnPackage, Output, StepRun};
use krm_patch::annotations::with_annotations;
use krm_patch::config::{apply_config, as_created};
use krm_patch::finding::Findings;
use krm_patch::node::{Field, Node};
use krm_patch::options::{self, Options};
use krm_patch::rules::Rules;
use krm_patch::write::{text_of, to_text};
use krm_upstream::SOURCES;
use krm_yaml::{EditError, NodeRef, Path, node_text};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "apply-config",
    about: "Shows how `kubectl apply` would change live resources, without a cluster. The items are the configuration; the output is each live resource after the apply.",
    examples: &[
        "apply-config --package DIR --live live.yaml",
        "apply-config --package DIR --live live.yaml --diff",
        "apply-config --package DIR --live live.yaml listOrder=apiserver",
    ],
    configs: &[(API_VERSION, "ApplyConfig"), CONFIG_MAP],
    roles: &[Role::Live, Role::Original],
    keys: Keys::These(&[options::LIST_ORDER]),
    uses_schema: true,
    sources: SOURCES,
    step,
    on_package: OnPackage::Prints,
    ..Function::PLAIN
};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub struct ApplyConfig ignores live, original {
        list_order: Option<String>,
    }
}

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    let options =
        options::read::<ApplyConfig>(run.config, FUNCTION.configs, FUNCTION.keys, run.results)?;
    if !run.supplied.has(Role::Live) {
        return Err(Role::Live.missing("live resources", "ApplyConfig"));
    }
    let Some(options) = options else {
        return Ok(Output::Edited);
    };
    let schema = run.supplied.schema_with_crds(run.list)?;
    let documents = apply_all(options, &schema, run.supplied, run.list, run.results);
    Ok(Output::Documents(documents))
}

fn apply_all(
    options: Options,
    schema: &Schema,
    supplied: &Supplied,
    list: &ResourceList,
    results: &mut Results,
) -> Vec<Document> {
    let in_list = !list.is_package();
    let made = each_pair(list, supplied, results, |pair, results| {
        let resource = list.resource(pair.id);
        let made = one(pair, resource, schema, options, in_list, results);
        made.map_err(|error| results.push(FunctionResult::refused(&error).with_resource(resource)))
    });
    made.into_iter().flatten().collect()
}

fn one(
    pair: &Pair<'_>,
    resource: &Resource,
    schema: &Schema,
    options: Options,
    in_list: bool,
    results: &mut Results,
) -> Result<Document, EditError> {
    let config = Node::Text(pair.config);
    let with_origin = |node: &Node<'_>| -> bool { in_list && node.get("metadata").is_some() };
    let Some(live) = pair.live else {
        results
            .push(FunctionResult::info("created: no live resource exists").with_resource(resource));
        let mut created = as_created(&config);
        warn_of_size(&created, resource, results);
        if with_origin(&created) {
            created = with_origin_annotations(created, resource);
        }
        return Ok(Document {
            item: Some(pair.id),
            resource: resource.clone(),
            path: None,
            before: String::new(),
            text: to_text(&created)?,
        });
    };
    let rules = Rules::of(schema, &resource.api_version, &resource.kind);
    let mut findings = Findings::default();
    let node = Node::Text(live);
    let mut result = apply_config(
        pair.original().as_ref(),
        &config,
        &node,
        rules,
        options.list_order,
        &mut findings,
    );
    findings.report(resource, &[pair.config, live], None, results);
    warn_of_size(&result, resource, results);
    if with_origin(&result) {
        result = with_origin_annotations(result, resource);
    }
    let text = text_of(live, result)?;
    Ok(Document {
        item: Some(pair.id),
        resource: resource.clone(),
        path: None,
        // Only documents of a package are printed as a diff; items in a ResourceList are not.
        before: if in_list {
            String::new()
        } else {
            whole_text(live)
        },
        text,
    })
}

/// The bytes of keys and values that the annotations of an object may have; an API server refuses an object with more.
/// Source: `TotalAnnotationSizeLimitB` of Kubernetes' apimachinery.
const MOST_ANNOTATIONS: usize = 262_144;

/// Warns of an object whose annotations, with last-applied, are too large.
fn warn_of_size(result: &Node<'_>, resource: &Resource, results: &mut Results) {
    let path = ["metadata", "annotations"];
    let annotations = result.get_path(&path);
    let sizes = annotations.iter().flat_map(Node::each_field);
    let sizes = sizes.map(|field| field.key.len() + field.value.as_str().map_or(0, str::len));
    let size: usize = sizes.sum();
    if size > MOST_ANNOTATIONS {
        let message = format!(
            "expected annotations of at most {MOST_ANNOTATIONS} bytes, found {size} with `{LAST_APPLIED}`: an API server \
             refuses the object; apply it with `kubectl apply --server-side`, or create it with `kubectl create`"
        );
        let result = FunctionResult::warning(Reason::ObjectTooLarge, message);
        let result = result.with_resource(resource);
        results.push(result.with_field(Path::fields(&path)));
    }
}

/// The text of a resource; if it is a document, also the comments above it.
fn whole_text(node: NodeRef<'_>) -> String {
    node.document_text()
        .map_or_else(|| node_text(node), str::to_owned)
}

/// Adds the path and index annotations of the configuration to a result.
fn with_origin_annotations<'a>(result: Node<'a>, resource: &Resource) -> Node<'a> {
    let origin = &resource.origin;
    let mut annotations: Vec<(&'static str, String)> = Vec::new();
    if let Some(index) = origin.index {
        let names = INDEX_ANNOTATIONS.iter();
        annotations.extend(names.map(|name| (*name, index.to_string())));
    }
    if let Some(path) = &origin.path {
        let names = PATH_ANNOTATIONS.iter();
        annotations.extend(names.map(|name| (*name, path.to_string())));
    }
    if let Some(package) = &origin.package_path {
        annotations.push((PACKAGE_PATH_ANNOTATION, package.to_string()));
    }
    if annotations.is_empty() {
        return result;
    }
    with_annotations(result.clone(), &result, |fields| {
        fields.retain(|_, key| annotations.iter().all(|(name, _)| key != *name));
        let new = annotations.into_iter();
        fields.extend(new.map(|(name, value)| Field::made(name, Node::of_value(value))));
    })
}
