//! Applies strategic merge patches to the items, with all their directives.
//!
//! ```yaml
//! containers:        # before      # patch              # after
//! - name: app                      - name: sidecar      - name: app
//!   image: app:1                     $patch: delete       image: app:2
//! - name: sidecar                  - name: app
//!                                    image: app:2
//! ```
//!
//! Source: preserve-order document; contract, apply-patch.

use std::collections::BTreeMap;

use serde::Deserialize;

use krm_core::config::{API_VERSION, CONFIG_MAP, Cause, Keys, UsageError, typed_config};
use krm_core::kptfile::remove_ids;
use krm_core::resource::Resource;
use krm_core::resource_list::{ItemId, RefusedWalks, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results, with_article};
use krm_core::schema::Schema;
use krm_function::supplied::{Role, Supplied};
use krm_function::{Function, Output, StepRun};
use krm_patch::annotations::{
    keep_pipeline_annotations, leaves_metadata, without_pipeline_annotations,
};
use krm_patch::apply::{Applied, apply};
use krm_patch::finding::Findings;
use krm_patch::identity::{keep_identity, without_identity};
use krm_patch::node::Node;
use krm_patch::options::{self, Options};
use krm_patch::rules::Rules;
use krm_patch::target::{Index, Matches, Target, parse_labels};
use krm_patch::write::write;
use krm_upstream::SOURCES;
use krm_yaml::de::from_value;
use krm_yaml::{NodeRef, OwnedDocument, WalkBudget};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "apply-patch",
    about: "Applies strategic merge patches with all their directives ($patch, $retainKeys, \
            $setElementOrder, $deleteFromPrimitiveList) to the items, and keeps every other byte.",
    examples: &[
        "apply-patch --package DIR --patches patch.yaml --diff",
        "apply-patch --package DIR --patches patch.yaml --patches other/",
        "kpt fn source DIR | apply-patch --patches patch.yaml | kpt fn sink OUT",
    ],
    configs: &[(API_VERSION, "ApplyPatch"), CONFIG_MAP],
    roles: &[Role::Patches],
    keys: Keys::These(&[options::LIST_ORDER, options::ALLOW_MISSING]),
    uses_schema: true,
    sources: SOURCES,
    step,
    ..Function::PLAIN
};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub struct ApplyPatch ignores patches {
        list_order: Option<String>,
        allow_missing: Option<bool>,
    }
}

/// A patch whose target is not resolved yet.
struct Patch<'a> {
    node: Node<'a>,
    /// The file and location, for messages.
    place: String,
    target: Option<Target>,
    /// The identity in the patch itself.
    resource: Resource,
}

/// Reads patches, and refuses what is none.
struct PatchReader<'a, 'r> {
    patches: Vec<Patch<'a>>,
    budget: WalkBudget,
    results: &'r mut Results,
}

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    let options =
        options::read::<ApplyPatch>(run.config, FUNCTION.configs, FUNCTION.keys, run.results)?;
    if !run.supplied.has(Role::Patches) {
        return Err(Role::Patches.missing("patches", "ApplyPatch"));
    }
    let texts = texts(run.supplied)?;
    let patches = read_patches(run.supplied, &texts, run.results)?;
    let Some(options) = options.filter(|_| !run.results.has_errors()) else {
        return Ok(Output::Edited);
    };
    let schema = run.supplied.schema_with_crds(run.list)?;
    apply_patches(&patches, options, &schema, run.list, run.results);
    Ok(Output::Edited)
}

/// Whether this is an entry with `patch` and, optionally, `target`; otherwise it is a sparse resource.
fn is_entry(node: NodeRef<'_>) -> bool {
    node.entry("patch").is_some() && node.entry("kind").is_none()
}

/// All items of the role `patches`, each with its location.
fn documents<'s>(
    supplied: &'s Supplied,
) -> impl Iterator<Item = (NodeRef<'s>, &'s Resource, String)> {
    supplied.of(Role::Patches).flat_map(|package| {
        let list = package.list();
        // Lines are counted from one document to the next, because a file can have many.
        let mut counted = ("", 0);
        list.items().map(move |(id, resource)| {
            let node = list.node(id).resolved();
            let before = list.text_before(id);
            let is_same_file =
                before.as_ptr() == counted.0.as_ptr() && before.len() >= counted.0.len();
            let (from, lines) = if is_same_file {
                (counted.0.len(), counted.1)
            } else {
                (0, 0)
            };
            counted = (before, lines + before[from..].matches('\n').count());
            let mut location = node.location();
            location.line += counted.1;
            (
                node,
                resource,
                format!("{}, {location}", package.place_of(resource)),
            )
        })
    })
}

/// The patches that are given as text, by the number of their item in the role.
fn texts(supplied: &Supplied) -> Result<BTreeMap<usize, OwnedDocument>, UsageError> {
    let mut texts = BTreeMap::new();
    for (number, (node, _, place)) in documents(supplied).enumerate() {
        let Some(text) = node.get("patch").filter(|_| is_entry(node)) else {
            continue;
        };
        if let Some(text) = text.as_str() {
            let document = OwnedDocument::parse_resource(text.to_owned());
            let document =
                document.map_err(|error| UsageError::at(format_args!("{place}: patch"), error))?;
            texts.insert(number, document);
        }
    }
    Ok(texts)
}

fn read_patches<'a>(
    supplied: &'a Supplied,
    texts: &'a BTreeMap<usize, OwnedDocument>,
    results: &mut Results,
) -> Result<Vec<Patch<'a>>, UsageError> {
    let bytes = supplied
        .of(Role::Patches)
        .map(|package| package.list().length());
    let mut read = PatchReader {
        patches: Vec::new(),
        budget: WalkBudget::of(bytes.sum()),
        results,
    };
    for (number, (node, resource, place)) in documents(supplied).enumerate() {
        if !is_entry(node) {
            read.push(node, place, None, resource.clone());
            continue;
        }
        let target = read_target(node, &place)?;
        if let Some(text) = texts.get(&number) {
            for root in text.roots() {
                let place = format!("{place}: patch");
                read.push(root, place, target.clone(), Resource::read(root));
            }
        } else if let Some(patch) = node.get("patch") {
            read.push(patch, place, target, Resource::read(patch));
        }
    }
    Ok(read.patches)
}

fn read_target(entry: NodeRef<'_>, place: &str) -> Result<Option<Target>, UsageError> {
    for field in entry.entries() {
        let key = field.key.key_text().unwrap_or_default();
        if !matches!(key, "patch" | "target") {
            return Err(UsageError::of(format!(
                "{place}: unknown field `{key}`, expected `patch` or `target`"
            )));
        }
    }
    let Some(node) = entry.get("target").filter(|node| !node.is_null()) else {
        return Ok(None);
    };
    let usage = |error: Cause| UsageError::at(format_args!("{place}: target"), error);
    let value = node.value().ok_or_else(|| {
        usage("its aliases expand to too many values, or refer to themselves".into())
    })?;
    let mut target: Target = from_value(&value).map_err(|error| usage(error.into()))?;
    if let Some(selector) = value.get("labelSelector") {
        target.labels = match selector.as_str() {
            Some(text) => parse_labels(text).map_err(|part| {
                let message = format!("labelSelector: expected a requirement, found `{part}`");
                usage(message.into())
            })?,
            None => from_value(selector).map_err(|error| usage(error.into()))?,
        };
    }
    Ok(Some(target))
}

impl<'a> PatchReader<'a, '_> {
    fn push(
        &mut self,
        node: NodeRef<'a>,
        place: String,
        target: Option<Target>,
        resource: Resource,
    ) {
        let mut refuse = |message: String| {
            let message = format!("{place}: {message}");
            let result = FunctionResult::error(Reason::InvalidPatch, message);
            self.results.push(result);
        };
        if node.kind().is_sequence() {
            let is_operation = |item: &NodeRef<'_>| item.get("op").is_some();
            return refuse(
                if node.items().next().is_some_and(|item| is_operation(&item)) {
                    format!(
                        "expected a strategic merge patch, found a list of JSON 6902 operations; {PART}"
                    )
                } else {
                    "expected a patch, found a sequence".to_owned()
                },
            );
        }
        if ["op", "path"].iter().all(|name| node.get(name).is_some()) && node.get("kind").is_none()
        {
            return refuse(format!(
                "expected a strategic merge patch, found a JSON 6902 operation; {PART}"
            ));
        }
        if !node.kind().is_mapping() {
            let found = with_article(node.kind_name());
            return refuse(format!("expected a patch, found {found}"));
        }
        if let Err(error) = self.budget.pay_for(node) {
            return refuse(error.to_string());
        }
        let complete = !resource.api_version.is_empty()
            && !resource.kind.is_empty()
            && resource.name.is_some();
        if target.is_none() && resource.kind.as_ref() == "Kustomization" && resource.name.is_none()
        {
            return refuse(
                "expected a patch, found a Kustomization: give the files that it names".to_owned(),
            );
        }
        if target.is_none() && !complete {
            return refuse(
            "expected apiVersion, kind and metadata.name, or a target next to `patch`, found a patch without them"
                .to_owned(),
        );
        }
        self.patches.push(Patch {
            node: without_identity(&without_pipeline_annotations(&Node::Text(node))),
            place,
            target,
            resource,
        });
    }
}

/// The hint for a JSON 6902 patch, which is not supported.
const PART: &str =
    "write the part of the resource that changes, with apiVersion, kind and metadata.name";

/// The resource that a patch without a target may have meant, for a message: one of its kind and name, or else of its
/// kind or name.
fn alike(wanted: &Resource, list: &ResourceList) -> String {
    let items = || list.items().map(|(_, item)| item);
    let is_alike = |item: &&Resource| item.kind == wanted.kind || item.name == wanted.name;
    let found = items().find(|item| item.kind == wanted.kind && item.name == wanted.name);
    let Some(found) = found.or_else(|| items().find(is_alike)) else {
        return "none".to_owned();
    };
    let name = found.name.as_deref().unwrap_or_default();
    let namespace = match &found.namespace {
        Some(namespace) => format!(", namespace `{namespace}`"),
        None => String::new(),
    };
    format!(
        "{} `{name}` (apiVersion `{}`{namespace})",
        found.kind, found.api_version
    )
}

/// The patches for each item, in the order in which they apply.
fn assign(
    patches: &[Patch<'_>],
    options: Options,
    list: &ResourceList,
    results: &mut Results,
) -> BTreeMap<ItemId, Vec<usize>> {
    let index = Index::of(list);
    let mut assigned: BTreeMap<ItemId, Vec<usize>> = BTreeMap::new();
    for (number, patch) in patches.iter().enumerate() {
        let (found, wanted) = match &patch.target {
            Some(target) => {
                let matches = |(id, resource): &(ItemId, &Resource)| {
                    let matches_labels = || list.read(*id, |node| target.matches_labels(node));
                    target.matches(resource) && (!target.has_labels() || matches_labels())
                };
                let found = list.items().filter(matches).map(|(id, _)| id);
                (found.collect(), target.describe())
            }
            None => match index.find(&patch.resource) {
                Matches::None => {
                    let Resource { kind, name, .. } = &patch.resource;
                    let name = name.as_deref().unwrap_or_default();
                    (Vec::new(), format!("{kind} `{name}`"))
                }
                Matches::One(id) => (vec![id], String::new()),
                Matches::Several(ids) => {
                    for id in ids {
                        let message = format!(
                            "{}: expected one resource that the patch is for, found several: name the namespace",
                            patch.place
                        );
                        let result = FunctionResult::error(Reason::Ambiguous, message);
                        results.push(result.with_resource(list.resource(id)));
                    }
                    continue;
                }
            },
        };
        if found.is_empty() {
            let found = match &patch.target {
                Some(_) => "none".to_owned(),
                None => alike(&patch.resource, list),
            };
            let message = format!(
                "{}: expected a resource for the patch ({wanted}) among the items, found {found}",
                patch.place
            );
            results.push(if options.allow_missing {
                FunctionResult::warning(Reason::TargetNotFound, message)
            } else {
                FunctionResult::error(Reason::TargetNotFound, message)
            });
        }
        for id in found {
            assigned.entry(id).or_default().push(number);
        }
    }
    assigned
}

fn apply_patches(
    patches: &[Patch<'_>],
    options: Options,
    schema: &Schema,
    list: &mut ResourceList,
    results: &mut Results,
) {
    let assigned = assign(patches, options, list, results);
    let in_package = list.is_package();
    let refused_walks = RefusedWalks::of(&[&*list]);
    let mut deleted = Vec::new();
    for ids in list.by_text(assigned.keys().copied()) {
        let (text, refused) = list.rewritten(&ids, |id, node, editor| {
            let resource = list.resource(id);
            if let Some(refused) = refused_walks.get(0, id) {
                results.push(refused.clone());
                return Ok(());
            }
            let rules = Rules::of(schema, &resource.api_version, &resource.kind);
            let own = Node::Text(node);
            let numbers = &assigned[&id];
            // If no patch changes the metadata, its annotations need not be set aside and restored.
            let is_apart = numbers
                .iter()
                .all(|number| leaves_metadata(&patches[*number].node));
            let live = if is_apart {
                own.clone()
            } else {
                without_pipeline_annotations(&own)
            };
            let mut current = live.clone();
            for number in numbers {
                let patch = &patches[*number];
                let mut findings = Findings::default();
                let order = options.list_order;
                let applied = apply(&current, &patch.node, rules, order, &mut findings);
                let nodes = [Some(node), patch.node.source()];
                let nodes: Vec<NodeRef<'_>> = nodes.into_iter().flatten().collect();
                findings.report(resource, &nodes, Some(&patch.place), results);
                match applied {
                    Applied::Resource(result) => current = keep_identity(&live, result),
                    Applied::Deleted => {
                        deleted.push(id);
                        return Ok(());
                    }
                }
            }
            if !is_apart {
                current = keep_pipeline_annotations(&own, current);
            }
            let moves_comments = write(node, node, current, editor)?;
            if moves_comments && !in_package {
                remove_ids(node, editor);
            }
            Ok(())
        });
        for (id, error) in refused {
            results.push(FunctionResult::refused(&error).with_resource(list.resource(id)));
        }
        list.set_text_of(&ids, text);
    }
    for id in deleted {
        list.remove(id);
    }
}
