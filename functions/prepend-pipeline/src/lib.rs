//! Puts functions at the head of the Kptfile's pipeline, and removes those that earlier runs put there.
//!
//! ```yaml
//! pipeline:              # before
//!   mutators:
//!   - image: set-labels
//! ```
//! with `pipeline: {mutators: [{image: set-namespace, name: ns}]}` of a config `my-pv` becomes
//! ```yaml
//! pipeline:              # after
//!   mutators:
//!   - image: set-namespace
//!     name: PackageVariant.my-pv.ns.0
//!   - image: set-labels
//! ```
//!
//! Source: package-variant document, Kptfile Function Pipeline Editing; contract, prepend-pipeline.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use krm_core::config::{
    API_VERSION, PACKAGE_VARIANT, UsageError, expected, kind_of, required, typed, typed_config,
    unexpected,
};
use krm_core::kptfile::{
    PIPELINE_LISTS, ambiguous_roots, function_name, owns, remove_ids, root_kptfile,
};
use krm_core::package_variant::{PackageVariant, Pipeline, validate_name};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Refusal, Results, listed_by_verb};
use krm_function::{Function, Output, StepRun};
use krm_yaml::{
    Content, EditError, Editor, NodeRef, OwnedDocument, Part, Path, Value, has_comments, node_text,
};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "prepend-pipeline",
    about: "Puts functions at the head of the Kptfile's pipeline, under names that record their owner, \
            and removes those that an earlier run put there.",
    examples: &[
        "prepend-pipeline --package DIR --config pipeline.yaml --diff",
        "prepend-pipeline --package DIR --config pipeline.yaml",
    ],
    configs: &[(API_VERSION, "PrependPipeline"), PACKAGE_VARIANT],
    step,
    ..Function::PLAIN
};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub struct PrependPipeline {
        /// The functions; `{}` removes all.
        #[cfg_attr(feature = "schema", schemars(required))]
        pipeline: Option<Pipeline>,
    }
}

/// The functions for the head of the pipeline.
struct Head {
    /// The owner of the functions, which is the config's name.
    owner: String,
    /// The pipeline, with the names that its functions get in the Kptfile.
    pipeline: OwnedDocument,
}

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    let expected = expected(FUNCTION.configs);
    let config = required(run.config, &expected)?;
    let mut findings = validate_name(name_of(config));
    let pipeline = match kind_of(config) {
        (API_VERSION, "PrependPipeline") => {
            let typed: PrependPipeline = typed(config)?;
            let path = Path::fields(&["pipeline"]);
            match typed.pipeline {
                Some(pipeline) => findings.extend(pipeline.validate(&path)),
                None => {
                    let message =
                        "expected a pipeline, found none (`pipeline: {}` removes all functions)";
                    findings.push(
                        FunctionResult::error(Reason::InvalidConfig, message).with_field(path),
                    );
                }
            }
            config.get("pipeline")
        }
        PACKAGE_VARIANT => {
            let variant = PackageVariant::read_field(config, "pipeline")?;
            let path = Path::fields(&["spec", "pipeline"]);
            findings.extend(variant.spec.pipeline.validate(&path));
            config.get_path(&["spec", "pipeline"])
        }
        _ => return Err(unexpected(config, &expected)),
    };
    if findings.is_empty() {
        prepend(config, pipeline, run.list, run.results);
    }
    run.results.extend(findings);
    Ok(Output::Edited)
}

fn name_of(config: NodeRef<'_>) -> Option<&str> {
    config.get_path(&["metadata", "name"])?.as_str()
}

impl Head {
    fn new(owner: &str, pipeline: Option<NodeRef<'_>>) -> Result<Self, EditError> {
        let text = match pipeline.filter(|pipeline| !pipeline.is_null()) {
            Some(pipeline) => node_text(pipeline),
            None => "{}\n".to_owned(),
        };
        let text = OwnedDocument::parse_resource(text).map_err(EditError::Broken)?;
        let pipeline = text.edit(|root, editor| {
            for name in PIPELINE_LISTS {
                let list = root.get(name);
                // An empty list of a template or a Go client is not written to the Kptfile.
                if list.is_some_and(|list| list.items().next().is_none()) {
                    editor.remove_entry(root, name);
                    continue;
                }
                let functions = list.into_iter().flat_map(|list| list.items());
                for (index, function) in functions.enumerate() {
                    let given = function.get("name").and_then(|name| name.as_str());
                    let name = function_name(owner, given.unwrap_or_default(), index);
                    editor.set(function, "name", Content::Value(Value::from(name)))?;
                }
            }
            Ok::<_, EditError>(())
        })?;
        let owner = owner.to_owned();
        Ok(Self { owner, pipeline })
    }

    /// The list of this name in the pipeline; `None` if it has no functions.
    fn list(&self, name: &str) -> Option<NodeRef<'_>> {
        self.pipeline
            .root()?
            .get(name)
            .filter(|list| list.items().next().is_some())
    }

    /// Edits the Kptfile, and adds a summary of each changed list to `summaries`.
    fn apply<'d, 'p>(
        &'p self,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, 'p>,
        in_package: bool,
        summaries: &mut Vec<(&'static str, String)>,
    ) -> Result<(), Refusal> {
        let Some(pipeline) = collection(kptfile, "pipeline", &Path::root(), true)? else {
            if let Some(root) = PIPELINE_LISTS
                .iter()
                .find_map(|name| self.list(name)?.parent())
            {
                editor.insert_entry(kptfile, None, "pipeline", Content::Node(root))?;
                for name in PIPELINE_LISTS {
                    let change = ListChange::new(&self.owner, self.list(name), None);
                    summaries.extend(change.summary().map(|summary| (name, summary)));
                }
            }
            return Ok(());
        };
        let path = Path::fields(&["pipeline"]);
        let (mut emptied, mut added) = (0, 0);
        let mut ids_mislead = false;
        for name in PIPELINE_LISTS {
            let new = self.list(name);
            let old = collection(pipeline, name, &path, false)?;
            let change = ListChange::new(&self.owner, new, old);
            let Some(summary) = change.summary() else {
                continue;
            };
            summaries.push((name, summary));
            ids_mislead |= old.is_some_and(has_comments);
            match (old, new) {
                (Some(_), _) if change.is_emptied() => {
                    editor.remove_entry(pipeline, name);
                    emptied += 1;
                }
                (Some(list), _) => {
                    change.apply(list, editor)?;
                }
                (None, Some(new)) => {
                    editor.insert_entry(pipeline, None, name, Content::Node(new))?;
                    added += 1;
                }
                (None, None) => {}
            }
        }
        if emptied > 0 && added == 0 && emptied == pipeline.entries().count() {
            editor.remove_entry(kptfile, "pipeline");
        }
        if ids_mislead && !in_package {
            remove_ids(kptfile, editor);
        }
        Ok(())
    }
}

/// The mapping or sequence under a key; `None` if it is absent.
fn collection<'d>(
    node: NodeRef<'d>,
    key: &str,
    path: &Path,
    mapping: bool,
) -> Result<Option<NodeRef<'d>>, Refusal> {
    let Some(value) = node.resolved().entry(key).map(|entry| entry.value) else {
        return Ok(None);
    };
    let kind = value.resolved().kind();
    let (fits, expected) = if mapping {
        (kind.is_mapping(), "mapping")
    } else {
        (kind.is_sequence(), "sequence")
    };
    if fits || value.is_null() {
        return Ok(Some(value));
    }
    let error = EditError::WrongKind {
        place: value.path().to_string(),
        expected,
        found: value.kind_name(),
    };
    Err(Refusal::at(path.field(key))(error))
}

/// The changes to one list of the pipeline.
struct ListChange<'d, 'p> {
    /// The functions for the head; with its index if the list already contains the function.
    head: Vec<(NodeRef<'p>, Option<usize>)>,
    /// The indexes and names of removed and replaced functions.
    outdated: Vec<(usize, &'d str)>,
    /// The indexes of functions with other owners.
    others: Vec<usize>,
}

impl<'d, 'p> ListChange<'d, 'p> {
    fn new(owner: &str, new: Option<NodeRef<'p>>, old: Option<NodeRef<'d>>) -> Self {
        let old = old.into_iter().flat_map(|list| list.resolved().items());
        let mut owned: HashMap<&str, (usize, NodeRef<'d>)> = HashMap::new();
        let (mut outdated, mut others) = (Vec::new(), Vec::new());
        for (index, function) in old.enumerate() {
            let name = function.get("name").and_then(|name| name.as_str());
            match name.filter(|name| owns(owner, name)) {
                None => others.push(index),
                // A copy of one of our functions.
                Some(name) if owned.contains_key(name) => outdated.push((index, name)),
                Some(name) => {
                    owned.insert(name, (index, function));
                }
            }
        }
        let mut head = Vec::new();
        for function in new.into_iter().flat_map(|list| list.items()) {
            let name = function.get("name").and_then(|name| name.as_str());
            let name = name.unwrap_or_default();
            let kept = owned.get(name).filter(|(_, old)| old.equals(&function));
            head.push((function, kept.map(|(index, _)| *index)));
            if kept.is_some() {
                owned.remove(name);
            }
        }
        outdated.extend(owned.into_iter().map(|(name, (index, _))| (index, name)));
        outdated.sort_unstable();
        Self {
            head,
            outdated,
            others,
        }
    }

    fn is_emptied(&self) -> bool {
        self.head.is_empty() && self.others.is_empty()
    }

    /// Whether functions that are kept change their order.
    fn is_moved(&self) -> bool {
        !self.order().is_sorted()
    }

    /// The old indexes of the functions that are kept, in their new order.
    fn order(&self) -> Vec<usize> {
        let kept = self.head.iter().filter_map(|(_, index)| *index);
        kept.chain(self.others.iter().copied()).collect()
    }

    /// A summary for the result; `None` if nothing changes.
    fn summary(&self) -> Option<String> {
        let outdated: HashSet<&str> = self.outdated.iter().map(|(_, name)| *name).collect();
        let new = self.head.iter().filter(|(_, kept)| kept.is_none());
        let new = new.filter_map(|(function, _)| function.get("name")?.as_str());
        let (replaced, added): (Vec<&str>, Vec<&str>) =
            new.partition(|name| outdated.contains(name));
        let kept: HashSet<&str> = replaced.iter().copied().collect();
        let removed = self.outdated.iter().map(|(_, name)| *name);
        let removed: Vec<&str> = removed.filter(|name| !kept.contains(name)).collect();
        let summary = listed_by_verb(&[
            ("added", &added[..]),
            ("replaced", &replaced),
            ("removed", &removed),
        ]);
        if summary.is_empty() {
            return self.is_moved().then(|| "moved to the head".to_owned());
        }
        Some(summary)
    }

    fn apply(&self, list: NodeRef<'d>, editor: &mut Editor<'d, 'p>) -> Result<(), EditError> {
        if !self.outdated.is_empty() {
            let outdated: Vec<usize> = self.outdated.iter().map(|(index, _)| *index).collect();
            editor.remove_parts(list, |index| outdated.binary_search(&index).is_ok());
        }
        if self.is_moved() {
            editor.reorder(list, &self.order());
        }
        for (position, (function, kept)) in self.head.iter().enumerate() {
            if kept.is_none() {
                editor.insert(
                    list,
                    Some(position),
                    Part::Item(*function, Content::Node(*function)),
                )?;
            }
        }
        Ok(())
    }
}

/// Puts the functions of a valid pipeline at the head of the Kptfile's pipeline. The config's name is their owner.
pub fn prepend(
    config: NodeRef<'_>,
    pipeline: Option<NodeRef<'_>>,
    list: &mut ResourceList,
    results: &mut Results,
) {
    let ambiguous = ambiguous_roots(list);
    if !ambiguous.is_empty() {
        results.extend(ambiguous);
        return;
    }
    let Some(id) = root_kptfile(list) else {
        let message =
            "expected a Kptfile to add functions to, found none; `kpt pkg init DIR` creates one";
        results.push(FunctionResult::error(Reason::KptfileNotFound, message));
        return;
    };
    let in_package = list.is_package();
    let mut summaries = Vec::new();
    let outcome = match Head::new(name_of(config).unwrap_or_default(), pipeline) {
        Ok(head) => list.edit(id, |kptfile, editor| {
            head.apply(kptfile, editor, in_package, &mut summaries)
        }),
        Err(error) => Err(error.into()),
    };
    let resource = list.resource(id);
    match outcome {
        Ok(()) => {
            for (name, message) in summaries {
                let field = Path::fields(&["pipeline", name]);
                results.push(
                    FunctionResult::info(message)
                        .with_resource(resource)
                        .with_field(field),
                );
            }
        }
        Err(refusal) => {
            let mut result = refusal.result().with_resource(resource);
            result.field.get_or_insert_with(|| "pipeline".into());
            results.push(result);
        }
    }
}
