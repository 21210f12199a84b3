//! Creates the overlay of a fork, and proves that it builds the fork.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::built::{BuiltObject, by_id, remove_copies};
use super::explain::{explain, namespace};
use super::objects::{KustomizeBuild, cleaned};
use super::omitted::{comments, is_reordered, omitted_comments};
use super::transformations::{
    MovedObjects, Transformation, TransformationIndex, Transformations, images, is_scaled,
};
use super::{KUSTOMIZATIONS, OverlayError, PackageTexts};
use krm_core::resource::Resource;
use krm_core::resource_key::ResourceKey;
use krm_core::results::{Mark, QuotedValue, and_more};
use krm_core::schema::Schema;
use krm_merge::{MergeSchema, repository};
use krm_package::file_name;
use krm_patch::annotations::with_field;
use krm_patch::kustomize::{self, Targets};
use krm_patch::node::Node;
use krm_patch::rules::Rules;
use krm_patch::write::to_text;
use krm_yaml::{
    EditError, Editor, NodeRef, OwnedDocument, Value, comments_above, line_comment, to_block_text,
};

/// The input of [`create`].
#[derive(Debug, Clone, Copy)]
pub struct OverlayInput<'i> {
    /// The package that the overlay must build.
    pub fork: &'i PackageTexts,
    /// The upstream revision that the fork was made from.
    pub upstream: &'i PackageTexts,
    /// The name of upstream in the `resources` of the kustomization. If it is `None`, or if upstream has no
    /// kustomization, the overlay contains a copy of upstream.
    pub base: Option<&'i str>,
    /// The schemas of the resources.
    pub schema: &'i Schema,
}

/// An overlay, and what is known about it.
#[derive(Debug, Default)]
pub struct Overlay {
    /// Its files by path.
    pub files: BTreeMap<String, String>,
    /// The resources in which its build differs from the fork, each with the place. Empty if the overlay is correct.
    pub differences: Vec<(Resource, String)>,
    /// The resources that stand once more in a package, equal to the first one, each with the name of the package.
    pub copies: Vec<(Resource, &'static str)>,
    /// What the overlay cannot express, such as a comment, each with its resource.
    pub omitted: Vec<(Resource, String)>,
    /// The numbers of patched, deleted and new resources.
    pub counts: [usize; 3],
    /// The fields of the kustomization that apply to all resources, each with its number of entries.
    pub fields: Vec<(&'static str, usize)>,
    /// The next number for a path that several resources would have.
    next_numbers: HashMap<String, usize>,
}

/// Makes the overlay that turns upstream into the fork.
///
/// # Errors
/// [`OverlayError`]: a package that kustomize would refuse, or that is not evaluated here.
pub fn create(input: OverlayInput<'_>) -> Result<Overlay, OverlayError> {
    let mut overlay = Overlay::default();
    let fork = overlay.built(input.fork, input.schema, FORK)?;
    let upstream = overlay.built(input.upstream, input.schema, UPSTREAM)?;
    let builder = OverlayBuilder::new(&fork, &upstream, input.schema)?;
    let mut kustomization = Vec::new();
    builder.patches(&mut overlay, &mut kustomization)?;
    let mut resources = base(input, &upstream, &mut overlay)?;
    resources.extend(builder.new_files(&mut overlay)?);
    let text = builder.kustomization(resources, kustomization);
    overlay.files.insert(KUSTOMIZATIONS[0].to_owned(), text);
    builder.record_omissions(&mut overlay);
    overlay.fields = builder.transformations.counts();
    for text in overlay.files.values_mut() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    prove(&mut overlay, &fork, &upstream, input.schema)?;
    Ok(overlay)
}

const FORK: &str = "the fork";
const UPSTREAM: &str = "upstream";

impl Overlay {
    /// The resources of a package, each once. kustomize refuses a copy that a kustomization names; in a package without
    /// one, equal resources count as one.
    fn built<'p>(
        &mut self,
        package: &'p PackageTexts,
        schema: &Schema,
        name: &'static str,
    ) -> Result<Vec<BuiltObject<'p>>, OverlayError> {
        let mut objects = package.build_alone(schema)?;
        let Err(duplicate) = by_id(&objects, name) else {
            return Ok(objects);
        };
        if package.kustomization("")?.is_some() {
            return Err(duplicate);
        }
        let copies = remove_copies(&mut objects).into_iter();
        self.copies
            .extend(copies.map(|copy| (copy.resource(), name)));
        by_id(&objects, name)?;
        Ok(objects)
    }
}

/// The folder for the copy of upstream, if the overlay contains one.
const BASE: &str = "base";

/// Adds a copy of upstream to the overlay if it needs one. Returns the name of upstream for the kustomization.
fn base(
    input: OverlayInput<'_>,
    upstream: &[BuiltObject<'_>],
    overlay: &mut Overlay,
) -> Result<Vec<String>, OverlayError> {
    let has_kustomization = input.upstream.kustomization("")?.is_some();
    if let Some(base) = input.base.filter(|_| has_kustomization) {
        return Ok(vec![base.to_owned()]);
    }
    let mut names = Vec::new();
    let mut by_file: HashMap<&str, Vec<&BuiltObject<'_>>> = HashMap::new();
    for object in upstream.iter().filter(|_| !has_kustomization) {
        by_file.entry(&object.file).or_default().push(object);
    }
    for (path, document) in &input.upstream.files {
        let of_file;
        let objects: Vec<&BuiltObject<'_>> = if has_kustomization {
            of_file = input.upstream.objects_of(path)?;
            of_file.iter().collect()
        } else {
            by_file.remove(path.as_str()).unwrap_or_default()
        };
        let Ok(document) = document else { continue };
        let is_kustomization = KUSTOMIZATIONS.contains(&file_name(path));
        let roots = document.roots().count();
        let text = if is_kustomization && has_kustomization
            || objects.len() == roots && !objects.is_empty()
        {
            document.document().text.to_owned()
        } else if objects.is_empty() {
            continue;
        } else {
            let texts: Vec<String> = objects.iter().map(|object| object.source()).collect();
            texts.join("---\n")
        };
        overlay.files.insert(format!("{BASE}/{path}"), text);
        names.push(path.clone());
    }
    if !has_kustomization {
        let head = input.base.map(|base| format!("# {base}\n"));
        let fields = kustomization(vec![("resources", list(names))]);
        let text = head.unwrap_or_default() + &to_block_text(&fields);
        overlay
            .files
            .insert(format!("{BASE}/{}", KUSTOMIZATIONS[0]), text);
    }
    Ok(vec![BASE.to_owned()])
}

fn list(texts: impl IntoIterator<Item = String>) -> Value {
    Value::Sequence(texts.into_iter().map(Value::from).collect())
}

fn kustomization(fields: Vec<(&str, Value)>) -> Value {
    let head = [
        ("apiVersion", "kustomize.config.k8s.io/v1beta1"),
        ("kind", "Kustomization"),
    ];
    let head = head.map(|(key, value)| (key, Value::from(value)));
    let all = head.into_iter().chain(fields);
    Value::Mapping(all.map(|(key, value)| Value::entry(key, value)).collect())
}

struct OverlayBuilder<'b, 'p> {
    fork: &'b [BuiltObject<'p>],
    upstream: &'b [BuiltObject<'p>],
    schema: &'b Schema,
    transformations: Transformations,
    /// For each resource of upstream, the position of the same resource in the fork.
    of_fork: Vec<Option<usize>>,
    /// The result of [`Transformations::moved`] for upstream.
    moved: MovedObjects,
}

impl<'b, 'p> OverlayBuilder<'b, 'p> {
    fn new(
        fork: &'b [BuiltObject<'p>],
        upstream: &'b [BuiltObject<'p>],
        schema: &'b Schema,
    ) -> Result<Self, OverlayError> {
        let mut transformations = namespace(upstream, fork);
        let of_fork = pair(fork, upstream, &transformations)?;
        let pairs = of_fork.iter().zip(upstream);
        let pairs: Vec<_> = pairs
            .filter_map(|(at, old)| Some((old, &fork[(*at)?])))
            .collect();
        explain(&mut transformations, &pairs, fork);
        let moved = transformations.moved(upstream);
        Ok(Self {
            fork,
            upstream,
            schema,
            transformations,
            of_fork,
            moved,
        })
    }

    /// Creates the patches: their files, and their entries in the kustomization.
    fn patches(&self, overlay: &mut Overlay, entries: &mut Vec<Value>) -> Result<(), OverlayError> {
        let resources: Vec<Resource> = self.upstream.iter().map(BuiltObject::resource).collect();
        let targets: Targets<'_> = resources.iter().collect();
        let index = self.transformations.index();
        let mut operations = Vec::new();
        for ((old, resource), at) in self.upstream.iter().zip(&resources).zip(&self.of_fork) {
            let refused = |error: EditError| OverlayError::patch(old.shown(), error);
            let document = self.transformed(old, &index)?;
            let Some(live) = document.root() else {
                continue;
            };
            let live = cleaned(&Node::Text(live));
            let Some(new) = at.map(|at| &self.fork[at]) else {
                let text = to_text(&kustomize::delete(&live)).map_err(refused)?;
                entries.push(add_file(overlay, old, text));
                overlay.counts[1] += 1;
                continue;
            };
            let printed;
            let new = match new.node {
                Some(node) => node,
                None => {
                    printed = new.document()?;
                    let Some(root) = printed.root() else { continue };
                    root
                }
            };
            let new = self.with_identity_of(&live, &cleaned(&Node::Text(new)));
            let rules = Rules::of(self.schema, &resource.api_version, &resource.kind);
            let patches = kustomize::create(&live, &new, rules);
            if let Some(merge) = &patches.merge {
                entries.push(add_file(overlay, old, to_text(merge).map_err(refused)?));
            }
            let entry = patches.entry(resource, &targets);
            overlay.counts[0] += usize::from(patches.merge.is_some() || entry.is_some());
            operations.extend(entry);
        }
        entries.append(&mut operations);
        Ok(())
    }

    /// A resource of upstream after the changes by the other fields of the kustomization. It keeps its name and
    /// namespace, because patches find it by them.
    fn transformed(
        &self,
        old: &BuiltObject<'_>,
        index: &TransformationIndex<'_>,
    ) -> Result<OwnedDocument, OverlayError> {
        let mut changes = index.changes(old, &self.moved);
        changes.retain(|(path, _)| !matches!(path.as_slice(), [metadata, key] if metadata == "metadata" && matches!(&**key, "namespace" | "name")));
        let mut object = old.clone();
        object.change(&changes)?;
        object.document()
    }

    /// The resource of the fork. If the kustomization sets `namespace`, it gets upstream's name and namespace.
    fn with_identity_of<'a>(&self, live: &Node<'a>, new: &Node<'a>) -> Node<'a> {
        let (Some(_), Some(metadata)) = (self.transformations.namespace(), new.get("metadata"))
        else {
            return new.clone();
        };
        let mut metadata = metadata;
        for key in ["name", "namespace"] {
            metadata = with_field(metadata, key, live.get_path(&["metadata", key]));
        }
        with_field(new.clone(), "metadata", Some(metadata))
    }

    /// Adds files with the resources that upstream does not have. Returns their paths.
    fn new_files(&self, overlay: &mut Overlay) -> Result<Vec<String>, OverlayError> {
        let known: HashSet<usize> = self.of_fork.iter().flatten().copied().collect();
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let new = self.fork.iter().enumerate();
        for (_, object) in new.filter(|(at, _)| !known.contains(at)) {
            overlay.counts[2] += 1;
            files
                .entry(object.file.clone())
                .or_default()
                .push(self.new_text(object)?);
        }
        let mut names = Vec::new();
        for (path, texts) in files {
            let path = free_path(overlay, &path);
            overlay.files.insert(path.clone(), texts.join("---\n"));
            names.push(path);
        }
        Ok(names)
    }

    /// The text of a new resource, without the annotations of kpt.
    fn new_text(&self, object: &BuiltObject<'_>) -> Result<String, OverlayError> {
        let source = object.source();
        let Some(node) = object.node else {
            return Ok(source);
        };
        let node = Node::Text(node);
        let new = cleaned(&node);
        if new.is(&node) {
            return Ok(source);
        }
        to_text(&new).map_err(|error| OverlayError::patch(object.shown(), error))
    }

    fn kustomization(&self, resources: Vec<String>, patches: Vec<Value>) -> String {
        let mut fields = vec![("resources", list(resources))];
        fields.extend(self.transformations.to_fields());
        if !patches.is_empty() {
            fields.push(("patches", Value::Sequence(patches)));
        }
        let text = to_block_text(&kustomization(fields));
        self.with_comments(&text).unwrap_or(text)
    }

    /// The text of a kustomization with the fork's comments on the replicas and images that it sets. `None` if there are
    /// none.
    fn with_comments(&self, text: &str) -> Option<String> {
        let (images, replicas) = (self.commented_images(), self.commented_replicas());
        if images.is_empty() && replicas.is_empty() {
            return None;
        }
        let document = OwnedDocument::parse_resource(text.to_owned()).ok()?;
        let root = document.root()?;
        let mut editor = Editor::new(document.document());
        for field in ["images", "replicas"] {
            let entries = root.get(field).into_iter().flat_map(|list| list.items());
            for (made, entry) in self.transformations.of_field(field).zip(entries) {
                let place = match made {
                    Transformation::Image(change) => images.get(change.name.as_str()),
                    Transformation::Replicas(name, _) => replicas.get(name.as_str()),
                    Transformation::Label(..) | Transformation::Namespace(_) => None,
                };
                // The first entry, on the line of the dash, is the name.
                let keys: Vec<NodeRef<'_>> =
                    entry.entries().skip(1).map(|entry| entry.key).collect();
                let (Some(place), Some(first), Some(last)) = (place, keys.first(), keys.last())
                else {
                    continue;
                };
                if !place.above.is_empty() {
                    editor.set_comments_above(*first, &place.above);
                }
                if let Some(comment) = place.behind {
                    editor.set_comment_after(*last, comment);
                }
            }
        }
        if editor.is_empty() {
            return None;
        }
        editor.finish().ok()
    }

    /// The comments of the fork on the images that entries of `images` change, by upstream's name: those of the first
    /// such field with comments.
    fn commented_images(&self) -> HashMap<&str, FieldComments<'p>> {
        let changes = self.transformations.of_field("images");
        let names: HashSet<&str> = changes
            .filter_map(|change| match change {
                Transformation::Image(change) => Some(change.name.as_str()),
                _ => None,
            })
            .collect();
        let mut found = HashMap::new();
        let pairs = self.of_fork.iter().zip(self.upstream);
        for (old, new) in pairs.filter_map(|(at, old)| Some((old, &self.fork[(*at)?]))) {
            let Some(root) = new.node.filter(|_| !names.is_empty()) else {
                continue;
            };
            for (place, image) in images(&old.value) {
                let name = names.get(repository(image)).copied();
                let comments = name.and_then(|_| FieldComments::of(field_key(root, &place)?));
                if let (Some(name), Some(comments)) = (name, comments) {
                    found.entry(name).or_insert(comments);
                }
            }
        }
        found
    }

    /// The comments of the fork on the replicas of a workload, by its name: those of the first workload with the name.
    fn commented_replicas(&self) -> HashMap<&str, FieldComments<'p>> {
        let mut names: HashSet<&str> = HashSet::new();
        let first = self.fork.iter().filter(|object| is_scaled(object));
        let first = first.filter(|object| names.insert(object.name()));
        let comments = first.filter_map(|object| {
            let replicas = object.node?.get("spec")?.entry("replicas")?;
            Some((object.name(), FieldComments::of(replicas.key)?))
        });
        comments.collect()
    }

    /// Records what the overlay cannot express.
    fn record_omissions(&self, overlay: &mut Overlay) {
        let upstream: HashMap<usize, &BuiltObject<'_>> = self
            .of_fork
            .iter()
            .zip(self.upstream)
            .filter_map(|(at, old)| Some(((*at)?, old)))
            .collect();
        let is_base = |path: &str| path.starts_with(&format!("{BASE}/"));
        let own = overlay.files.iter().filter(|(path, _)| !is_base(path));
        let patches: HashSet<String> = own.flat_map(|(_, text)| comments(text)).collect();
        let mut omitted = Vec::new();
        for (at, new) in self.fork.iter().enumerate() {
            let Some(old) = upstream.get(&at) else {
                continue;
            };
            let [text, before] = [new, old].map(BuiltObject::source);
            let Some(node) = new.node.filter(|_| text != before) else {
                continue;
            };
            let comments = omitted_comments(&text, &before, &patches);
            if let Some(first) = comments.first() {
                // A comment can have an old value.
                let first = QuotedValue::name(Mark::within_texts([&*text]), first);
                let more = and_more(comments.len());
                omitted.push((new.resource(), format!("the comment `{first}`{more}")));
            }
            let resource = new.resource();
            let made = old.node.is_none().then(|| old.document().ok()).flatten();
            let before = old.node.or(made.as_ref().and_then(OwnedDocument::root));
            let schema = MergeSchema::of(&resource, self.schema, false);
            if before.is_some_and(|before| is_reordered([before, node], schema)) {
                omitted.push((resource, "the order of its keys".to_owned()));
            }
        }
        overlay.omitted = omitted;
    }
}

/// The comments around a field.
struct FieldComments<'p> {
    above: Vec<&'p str>,
    behind: Option<&'p str>,
}

impl<'p> FieldComments<'p> {
    /// Of a key. `None` if it has none.
    fn of(key: NodeRef<'p>) -> Option<Self> {
        let above = comments_above(key);
        let behind = line_comment(key).filter(|comment| !comment.is_empty());
        (!above.is_empty() || behind.is_some()).then_some(Self { above, behind })
    }
}

/// The key of the field at a path of keys and indexes.
fn field_key<'p>(root: NodeRef<'p>, path: &[String]) -> Option<NodeRef<'p>> {
    let (last, above) = path.split_last()?;
    let holder = above.iter().try_fold(root, |node, step| {
        let index = step.parse::<usize>().ok();
        match index.filter(|_| node.kind().is_sequence()) {
            Some(at) => node.items().nth(at).map(|item| item.resolved()),
            None => node.get(step),
        }
    });
    Some(holder?.entry(last)?.key)
}

/// Finds the resource of the fork for each resource of upstream: by its ID after the change of the namespace, then by
/// kind and name if only one resource on each side has them.
fn pair(
    fork: &[BuiltObject<'_>],
    upstream: &[BuiltObject<'_>],
    transformations: &Transformations,
) -> Result<Vec<Option<usize>>, OverlayError> {
    let mut built = upstream.to_vec();
    transformations.apply(&mut built)?;
    let ids: HashMap<ResourceKey, usize> = fork.iter().map(BuiltObject::id).zip(0..).collect();
    let mut pairs: Vec<Option<usize>> = built
        .iter()
        .map(|old| ids.get(&old.id()).copied())
        .collect();
    let taken: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let anywhere = |object: &BuiltObject<'_>| object.id().in_any_namespace();
    let mut left: HashMap<_, Vec<usize>> = HashMap::new();
    for at in (0..fork.len()).filter(|at| !taken.contains(at)) {
        left.entry(anywhere(&fork[at])).or_default().push(at);
    }
    let mut old: HashMap<_, Vec<usize>> = HashMap::new();
    for at in (0..upstream.len()).filter(|at| pairs[*at].is_none()) {
        old.entry(anywhere(&upstream[at])).or_default().push(at);
    }
    for (key, old) in old {
        if let ([old], Some([new])) = (old.as_slice(), left.get(&key).map(Vec::as_slice)) {
            pairs[*old] = Some(*new);
        }
    }
    Ok(pairs)
}

/// Adds the file of a patch. Returns its entry in the kustomization.
fn add_file(overlay: &mut Overlay, object: &BuiltObject<'_>, text: String) -> Value {
    let name = format!("{}-{}", object.kind(), object.name());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let name = name.replace(|c| !is_plain(c), "-").to_ascii_lowercase();
    let path = free_path(overlay, &format!("patches/{name}.yaml"));
    overlay.files.insert(path.clone(), text);
    Value::Mapping(vec![Value::entry("path", path)])
}

/// A path that no file of the overlay has, and that is not the name of a kustomization.
fn free_path(overlay: &mut Overlay, path: &str) -> String {
    let is_free = |path: &str| !overlay.files.contains_key(path) && !KUSTOMIZATIONS.contains(&path);
    if is_free(path) {
        return path.to_owned();
    }
    let (stem, end) = path.rsplit_once('.').unwrap_or((path, "yaml"));
    let mut number = overlay.next_numbers.get(path).copied().unwrap_or(2);
    loop {
        let free = format!("{stem}-{number}.{end}");
        number += 1;
        if is_free(&free) {
            overlay.next_numbers.insert(path.to_owned(), number);
            return free;
        }
    }
}

/// Builds the overlay from the text that will be written, and compares the result with the fork.
fn prove(
    overlay: &mut Overlay,
    fork: &[BuiltObject<'_>],
    upstream: &[BuiltObject<'_>],
    schema: &Schema,
) -> Result<(), OverlayError> {
    let texts = PackageTexts::read(overlay.files.clone());
    let external = |_: &str| Ok(upstream.iter().map(|object| object.value.clone()).collect());
    let built = KustomizeBuild {
        texts: &texts,
        schema,
        external: &external,
    }
    .build("")?;
    overlay.differences = compared(&built, fork)?;
    Ok(())
}

/// Compares the builds of two packages. Returns the resources that differ, each with the place.
///
/// # Errors
/// [`OverlayError`]: a package that kustomize would refuse, or that is not evaluated here.
pub fn differences(
    built: &PackageTexts,
    fork: &PackageTexts,
    schema: &Schema,
) -> Result<Vec<(Resource, String)>, OverlayError> {
    compared(&built.build_alone(schema)?, &fork.build_alone(schema)?)
}

fn compared(
    built: &[BuiltObject<'_>],
    fork: &[BuiltObject<'_>],
) -> Result<Vec<(Resource, String)>, OverlayError> {
    let mut differences = Vec::new();
    let ids = by_id(built, "the overlay")?;
    let mut left: BTreeSet<usize> = (0..built.len()).collect();
    for object in fork {
        let difference = match ids.get(&object.id()) {
            None => Some("it is missing".to_owned()),
            Some(at) => {
                left.remove(at);
                difference(&built[*at].value, &object.value, "")
            }
        };
        differences.extend(difference.map(|text| (object.resource(), text)));
    }
    for at in left {
        let message = "the fork has no such resource".to_owned();
        differences.push((built[at].resource(), message));
    }
    Ok(differences)
}

/// The first place in which two values differ.
fn difference(built: &Value, fork: &Value, path: &str) -> Option<String> {
    if built == fork {
        return None;
    }
    let below = match (built, fork) {
        (Value::Mapping(own), Value::Mapping(other)) => {
            let mut keys = own.iter().chain(other).map(|(key, _)| key.plain_text());
            keys.find_map(|key| {
                let below = format!("{path}.{key}");
                match (built.get(&key), fork.get(&key)) {
                    (Some(own), Some(other)) if own == other => None,
                    (Some(own), Some(other)) => difference(own, other, &below),
                    _ => Some(below),
                }
            })
        }
        (Value::Sequence(own), Value::Sequence(other)) if own.len() == other.len() => {
            let mut pairs = own.iter().zip(other).enumerate();
            pairs.find_map(|(at, (own, other))| difference(own, other, &format!("{path}[{at}]")))
        }
        _ => None,
    };
    Some(below.unwrap_or_else(|| path.to_owned()))
}
