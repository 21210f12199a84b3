//! Runs a function in memory, from bytes to bytes.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use crate::function::{Function, StepRun};
use crate::output::{Document, Output};
use crate::package_revision::within;
use crate::supplied::{CatalogSource, Progress, Role, Supplied, SuppliedPackage, only_package};
use krm_core::config::{Config, NamedDocument, UsageError};
use krm_core::resource::PACKAGE_PATH_ANNOTATION;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results, Severity};
use krm_package::{FileChange, Package, check_package_path, check_path_of_package};
use krm_yaml::{OwnedDocument, Path};

/// The inputs of a function in addition to the items.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The functionConfig; if `None`, the one in the ResourceList is used.
    pub config: Option<Config>,
    /// The inputs for roles, in addition to those in the config.
    pub supplied: Vec<(Role, SuppliedInput)>,
    /// Packages that were already read. A file of the items that one of them contains as well is not parsed again.
    pub known: Vec<Arc<SuppliedPackage>>,
    /// An OpenAPI v2 document with the types of custom resources, as with `--openapi`.
    pub openapi: Option<OwnedDocument>,
    /// An UpgradePolicy or a ConflictRules, as with `--conflicts`.
    pub conflicts: Option<NamedDocument>,
    /// Upstream repositories, as with `--catalog`.
    pub catalogs: Vec<CatalogSource>,
    /// Is called with the progress of the search that `--original auto` starts.
    pub progress: Option<Progress>,
    /// Whether the run is a trial: its results have no lines, and the package that it makes is at hand for the next run.
    pub is_trial: bool,
}

/// An input for a role.
#[derive(Debug, Clone)]
pub enum SuppliedInput {
    /// A file or directory; for functions that read from Git, also a directory of a repository at a revision.
    Path(PathBuf),
    /// The files of a package, by path.
    Files(BTreeMap<String, String>),
    /// A package that was already read, which several runs can share.
    Package(Arc<SuppliedPackage>),
}

/// The items that a function works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Items {
    /// The text of a ResourceList.
    ResourceList(String),
    /// The files of a package, by path.
    Package(BTreeMap<String, Vec<u8>>),
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The items after the run. They are unchanged if a result is an error, or if the function created documents
    /// instead. A ResourceList contains only the results that it had before; [`Items::with_results`] adds the results
    /// of this run.
    pub items: Items,
    /// The permission bits of new files, by path, for those that have any.
    pub modes: HashMap<String, u32>,
    /// The documents that the function created from the package's items; empty for other functions.
    pub documents: Vec<Document>,
    /// The results of this run.
    pub results: Results,
    /// The package that a trial makes of a package, for [`Inputs::known`] of other runs: they need not parse it again.
    pub package: Option<Arc<SuppliedPackage>>,
}

/// Runs a function on a ResourceList or on the files of a package, without a process and without
/// writing anything.
///
/// ```
/// use krm_core::config::Config;
/// use krm_function::{Inputs, Items, run};
///
/// let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop # ours\n";
/// let files = [("Kptfile".to_owned(), kptfile.into())].into();
/// let config = "
/// apiVersion: fn.kpt.dev/v1alpha1
/// kind: PrependPipeline
/// metadata: {name: east}
/// pipeline:
///   mutators: [{image: set-labels:v1}]
/// ";
/// let inputs = Inputs {
///     config: Some(Config::parse(config.to_owned(), "config")?),
///     ..Inputs::default()
/// };
///
/// let outcome = run(&prepend_pipeline::FUNCTION, inputs, Items::Package(files))?;
///
/// assert!(!outcome.results.has_errors());
/// let Items::Package(files) = outcome.items else { panic!("a package stays one") };
/// let text = String::from_utf8_lossy(&files["Kptfile"]);
/// assert!(text.starts_with(kptfile) && text.contains("PackageVariant.east..0"), "{text}");
/// # Ok::<(), krm_core::config::UsageError>(())
/// ```
///
/// # Errors
/// [`UsageError`]: the items cannot be read, or the config or a supplied input does not have the form that the
/// function expects. Everything else is a result.
pub fn run(function: &Function, inputs: Inputs, items: Items) -> Result<Outcome, UsageError> {
    run_step(function, function.step, inputs, items)
}

/// Runs another step with the inputs of a function: one that has its settings already, and reads no config.
///
/// # Errors
/// As [`run`].
pub fn run_step(
    function: &Function,
    step: impl FnOnce(StepRun<'_>) -> Result<Output, UsageError>,
    inputs: Inputs,
    items: Items,
) -> Result<Outcome, UsageError> {
    let mut list = match &items {
        Items::ResourceList(text) => read_list(text)?,
        Items::Package(files) => {
            let known = inputs.known.iter().map(|package| package.list());
            let others: Vec<&ResourceList> = known
                .chain(inputs.supplied.iter().filter_map(shared))
                .collect();
            let read: Vec<&Package> = others.iter().filter_map(|other| other.files()).collect();
            let files = Package::of_files_like(files, &read);
            let list = ResourceList::from_package_like(files, function.takes_texts(), &others);
            list.map_err(UsageError::of)?
        }
    };
    let is_trial = inputs.is_trial && list.is_package();
    if is_trial {
        list.keep_edited_trees();
    }
    let (output, results) = run_on(function, step, inputs, &mut list)?;
    let mut documents = Vec::new();
    let mut modes = HashMap::new();
    let items = match (output, items) {
        (_, items) if results.has_errors() => items,
        (Output::Documents(made), items) => {
            documents = made;
            items
        }
        (Output::Edited, Items::ResourceList(_)) => {
            Items::ResourceList(to_text(&mut list, &Results::default())?)
        }
        (Output::Edited, Items::Package(files)) => {
            Items::Package(changed(files, list.file_changes(), &mut modes))
        }
    };
    let results = match &items {
        Items::Package(files) if !is_trial => results.with_lines(|path| {
            let bytes = files.get(path)?;
            Some(String::from_utf8_lossy(bytes))
        }),
        _ => results,
    };
    let package = is_trial.then(|| {
        let place = format!("the output of {}", function.name);
        Arc::new(SuppliedPackage::of_items(place, list))
    });
    Ok(Outcome {
        items,
        modes,
        documents,
        results,
        package,
    })
}

impl Items {
    /// Appends results to a ResourceList, as a program writes it to standard output. A package has no place for
    /// results and is unchanged.
    ///
    /// # Errors
    /// [`UsageError`]: the text is not a ResourceList, or its `results` is not a list.
    pub fn with_results(self, results: &Results) -> Result<Self, UsageError> {
        match self {
            Self::ResourceList(text) => {
                to_text(&mut read_list(&text)?, results).map(Self::ResourceList)
            }
            Self::Package(_) => Ok(self),
        }
    }
}

fn read_list(text: &str) -> Result<ResourceList, UsageError> {
    ResourceList::parse(text.to_owned()).map_err(UsageError::of)
}

fn to_text(list: &mut ResourceList, results: &Results) -> Result<String, UsageError> {
    let text = list.emit(results, true);
    let text = text.map_err(UsageError::of)?;
    Ok(text.iter().map(|piece| &**piece).collect())
}

fn changed(
    mut files: BTreeMap<String, Vec<u8>>,
    changes: Vec<FileChange>,
    modes: &mut HashMap<String, u32>,
) -> BTreeMap<String, Vec<u8>> {
    for change in changes {
        match change {
            FileChange::Write { path, bytes, mode } => {
                modes.extend(mode.map(|mode| (path.clone(), mode)));
                files.insert(path, bytes)
            }
            FileChange::Delete { path } => files.remove(&path),
        };
    }
    files
}

/// Reads config and supplied inputs, then runs the step on a list.
pub(crate) fn run_on(
    function: &Function,
    step: impl FnOnce(StepRun<'_>) -> Result<Output, UsageError>,
    inputs: Inputs,
    list: &mut ResourceList,
) -> Result<(Output, Results), UsageError> {
    let mut results = check_paths(list);
    let are_paths_valid = !results.has_errors();
    let config = match inputs.config {
        Some(config) => Some(config),
        None => list.function_config().map(Config::from_node).transpose()?,
    };
    let config = config.as_ref().and_then(Config::node);
    let mut step_results = Results::default();
    let paths = of_paths(&inputs.supplied);
    let mut supplied = Supplied::read(
        function.sources,
        function.roles,
        &paths,
        config,
        list,
        &mut step_results,
    )?;
    for (role, source) in inputs.supplied {
        match source {
            SuppliedInput::Path(_) => {}
            SuppliedInput::Files(files) => supplied.add_files(role, files, &mut step_results)?,
            SuppliedInput::Package(package) => supplied.add(role, package),
        }
    }
    if list.not_yaml().is_none() {
        supplied.refuse_texts()?;
    }
    supplied.openapi = inputs.openapi;
    supplied.conflicts = inputs.conflicts;
    supplied.catalogs = inputs.catalogs;
    supplied.progress = inputs.progress;
    let mut output = Output::Edited;
    if !step_results.has_errors() {
        let prints = list.is_package();
        let work = |list: &mut ResourceList, results: &mut Results| {
            list.limit_edits(supplied.length());
            let output = step(StepRun {
                config,
                list,
                supplied: &supplied,
                results,
            })?;
            if results.has_errors() {
                return Ok(output);
            }
            output.place_documents(prints, list, &mut supplied, results)
        };
        output = match only_package(list) {
            Some(id) => within(id, list, &mut step_results, work)?.unwrap_or_default(),
            None => work(list, &mut step_results)?,
        };
    }
    if !step_results.has_errors() {
        for (id, error) in list.refused_removals() {
            step_results.push(FunctionResult::refused(&error).with_resource(list.resource(id)));
        }
    }
    if are_paths_valid {
        results = step_results;
    } else {
        // Nothing was changed, so only the errors of the step are true.
        let errors = step_results.iter();
        let errors = errors.filter(|result| result.severity == Severity::Error);
        errors.for_each(|error| results.push(error.clone()));
    }
    Ok((output, results))
}

/// The resources of an input that is a package that was already read; `None` for other inputs.
fn shared((_, source): &(Role, SuppliedInput)) -> Option<&ResourceList> {
    match source {
        SuppliedInput::Package(package) => Some(package.list()),
        SuppliedInput::Path(_) | SuppliedInput::Files(_) => None,
    }
}

fn of_paths(supplied: &[(Role, SuppliedInput)]) -> Vec<(Role, PathBuf)> {
    let paths = supplied.iter().filter_map(|(role, source)| match source {
        SuppliedInput::Path(path) => Some((*role, path.clone())),
        SuppliedInput::Files(_) | SuppliedInput::Package(_) => None,
    });
    paths.collect()
}

/// An error for each path in an annotation that leads out of the package. The paths of a package's files come from
/// its directory, not from data, and are not checked.
fn check_paths(list: &ResourceList) -> Results {
    let mut results = Results::default();
    if list.is_package() {
        return results;
    }
    for (_, resource) in list.items() {
        let origin = &resource.origin;
        let paths = origin.annotated_paths();
        let paths = paths.map(|(name, path)| (name, check_package_path(path)));
        let package = origin.package_path.as_deref();
        let package = package.map(|path| (PACKAGE_PATH_ANNOTATION, check_path_of_package(path)));
        for (name, checked) in paths.chain(package) {
            if let Err(error) = checked {
                let field = Path::fields(&["metadata", "annotations", name]);
                let result = FunctionResult::error(Reason::InvalidPath, error.to_string());
                results.push(result.with_resource(resource).with_field(field));
            }
        }
    }
    results
}
