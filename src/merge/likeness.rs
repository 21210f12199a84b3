//! Counts the edits with which a user would turn one package into another.
//!
//! ```text
//! replicas: 1 -> 5                         one value changed
//! a label of its own                       one value added
//! a container, a resource, a folder less   one removed, however large
//! ```
//!
//! The content of a document is kept as a tree of hashes, so that equal parts are compared at once.
//!
//! Source: contract, Upstreams from Git (`--original auto`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use memchr::memmem;
use std::sync::Arc;

use super::upstream_identifier::UPSTREAM_IDENTIFIER;
use crate::identity;
use crate::interner::matches;
use crate::kptfile::{OWN_FIELDS, is_ownership_annotation};
use crate::package::is_krm_name;
use crate::resource::{Resource, is_pipeline_annotation};
use crate::yaml::{NodeRef, OwnedDocument};

/// The maximum number of nodes that are read in a document, including nodes that aliases refer to. A larger document is
/// compared by its lines.
const MOST_NODES: usize = 10_000_000;

/// The values of a file.
#[derive(Debug, Default)]
pub struct Values(Vec<Rc<DocumentValues>>);

impl Values {
    /// The number of values.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|document| document.count()).sum()
    }

    /// Whether it has no document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The values of one document.
#[derive(Debug)]
struct DocumentValues {
    identity: Option<ElementIdentity>,
    text: String,
    /// Read when it is first compared: most documents have no counterpart.
    content: OnceCell<DocumentContent>,
}

#[derive(Debug)]
enum DocumentContent {
    HashTree(HashTree),
    /// The lines of a text, each as its hash.
    Lines(Vec<u64>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ElementIdentity {
    group: String,
    kind: Arc<str>,
    /// `None` for a Kptfile, because it has the name of the copy.
    name: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
}

/// A value, or a collection of them.
#[derive(Debug)]
struct HashTree {
    /// Equal for equal content in any order.
    hash: u64,
    /// The number of values in it.
    leaves: usize,
    shape: HashShape,
}

#[derive(Debug)]
enum HashShape {
    Leaf,
    /// By the hashes of the keys, sorted.
    Mapping(Vec<(u64, HashTree)>),
    /// Each with the hash of its name, if it has one.
    Sequence(Vec<(Option<u64>, HashTree)>),
}

/// The edits that lead from an upstream package to local.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EditCount {
    /// Values that differ in upstream, and files that have another path there.
    pub changed: usize,
    /// Values, resources and files that only local has.
    pub added: usize,
    /// Files, folders, resources and elements that local does not have, each counted as one.
    pub removed: usize,
    /// The part of `removed` that is elements and entries of documents that local has.
    pub removed_parts: usize,
    /// Values that both have.
    pub shared: usize,
    /// A hash of the differences in everything that local has. Upstream packages that are alike there have the same
    /// hash.
    pub alike: u64,
}

impl EditCount {
    /// All edits.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values() + self.removed
    }

    /// All edits except removals.
    #[must_use]
    pub fn values(&self) -> usize {
        self.changed + self.added
    }

    /// Adds the edits of another file.
    pub(crate) fn add(&mut self, other: &Self) {
        self.changed += other.changed;
        self.added += other.added;
        self.removed += other.removed;
        self.removed_parts += other.removed_parts;
        self.shared += other.shared;
        self.alike = self.alike.wrapping_add(other.alike);
    }

    /// Adds a difference between upstream and local to `alike`.
    fn differ(&mut self, difference: &impl Hash) {
        self.alike = self.alike.wrapping_add(hash(difference));
    }

    /// Counts entries, elements or lines that local does not have.
    fn remove_parts(&mut self, count: usize) {
        self.removed += count;
        self.removed_parts += count;
    }

    fn change(&mut self, place: u64, local: &HashTree, upstream: &HashTree) {
        self.changed += local.leaves;
        self.differ(&(place, local.hash, upstream.hash));
    }

    fn add_tree(&mut self, place: u64, local: &HashTree) {
        self.added += local.leaves;
        self.differ(&(place, local.hash));
    }

    fn between_documents(&mut self, local: &DocumentValues, upstream: &DocumentValues) {
        match (local.content(), upstream.content()) {
            (DocumentContent::HashTree(local_tree), DocumentContent::HashTree(tree)) => {
                self.between(local_tree, tree, hash(&local.identity));
            }
            (DocumentContent::Lines(local), DocumentContent::Lines(lines)) => {
                self.between_lines(local, lines)
            }
            _ => {
                self.changed += local.count();
                self.differ(&(local.hash(), upstream.hash()));
            }
        }
    }

    fn between(&mut self, local: &HashTree, upstream: &HashTree, place: u64) {
        if local.hash == upstream.hash {
            self.shared += local.leaves;
            return;
        }
        match (&local.shape, &upstream.shape) {
            (HashShape::Mapping(ours), HashShape::Mapping(theirs)) => {
                self.between_mappings(ours, theirs, place);
            }
            (HashShape::Sequence(ours), HashShape::Sequence(theirs)) => {
                self.between_sequences(ours, theirs, place);
            }
            _ => self.change(place, local, upstream),
        }
    }

    fn between_mappings(
        &mut self,
        local: &[(u64, HashTree)],
        upstream: &[(u64, HashTree)],
        place: u64,
    ) {
        let mut theirs = upstream.iter().peekable();
        for (key, value) in local {
            while theirs.next_if(|(other, _)| other < key).is_some() {
                self.remove_parts(1);
            }
            let place = hash(&(place, key));
            match theirs.next_if(|(other, _)| other == key) {
                Some((_, other)) => self.between(value, other, place),
                None => self.add_tree(place, value),
            }
        }
        self.remove_parts(theirs.count());
    }

    fn between_sequences(
        &mut self,
        local: &[(Option<u64>, HashTree)],
        upstream: &[(Option<u64>, HashTree)],
        place: u64,
    ) {
        // Pair elements that are equal or have the same name, wherever they are, then the rest in order.
        let mut by_key: HashMap<u64, Vec<&HashTree>> = HashMap::new();
        for (name, tree) in upstream.iter().rev() {
            by_key
                .entry(name.unwrap_or(tree.hash))
                .or_default()
                .push(tree);
        }
        let mut seen: HashMap<u64, u64> = HashMap::new();
        let mut ours = Vec::new();
        for (name, tree) in local {
            let key = name.unwrap_or(tree.hash);
            match (by_key.get_mut(&key).and_then(Vec::pop), name) {
                (Some(other), _) => {
                    let count = seen.entry(key).or_default();
                    *count += 1;
                    self.between(tree, other, hash(&(place, key, *count)));
                }
                (None, Some(_)) => self.add_tree(hash(&(place, key)), tree),
                (None, None) => ours.push(tree),
            }
        }
        let mut theirs = Vec::new();
        for (name, tree) in upstream {
            let left = by_key.get_mut(&name.unwrap_or(tree.hash));
            if left.and_then(Vec::pop).is_none() {
                continue;
            }
            match name {
                Some(_) => self.remove_parts(1),
                None => theirs.push(tree),
            }
        }
        let mut theirs = theirs.into_iter();
        for (index, tree) in ours.into_iter().enumerate() {
            let place = hash(&(place, index));
            match theirs.next() {
                Some(other) => self.between(tree, other, place),
                None => self.add_tree(place, tree),
            }
        }
        self.remove_parts(theirs.count());
    }

    /// Consecutive lines that local does not have are one part, which was removed or changed.
    fn between_lines(&mut self, local: &[u64], upstream: &[u64]) {
        let theirs: HashSet<u64> = upstream.iter().copied().collect();
        let ours: HashSet<u64> = local.iter().copied().collect();
        let own = local.iter().filter(|line| !theirs.contains(line));
        let own = own.inspect(|line| self.alike = self.alike.wrapping_add(hash(line)));
        let own = own.count();
        let mut parts = 0;
        let mut was_there = true;
        for line in upstream {
            let is_there = ours.contains(line);
            if !is_there {
                parts += usize::from(was_there);
                // It is unknown which of these lines local changed.
                if own > 0 {
                    self.differ(&("line", line));
                }
            }
            was_there = is_there;
        }
        self.shared += local.len() - own;
        let changed = own.min(parts);
        self.changed += changed;
        self.added += own - changed;
        self.remove_parts(parts - changed);
    }
}

/// Reads files, each document once.
#[derive(Debug, Default)]
pub struct SimilarityScanner {
    /// Documents by the hashes of their texts.
    documents: HashMap<u64, Rc<DocumentValues>>,
}

impl SimilarityScanner {
    /// The values of a file.
    pub fn values(&mut self, path: &str, bytes: &[u8]) -> Values {
        let name = path.rsplit('/').next().unwrap_or_default();
        let text = std::str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|_| is_krm_name(name)) else {
            return Values(vec![Rc::new(DocumentValues::of_lines(bytes))]);
        };
        let values = documents(text).into_iter().map(|document| {
            let known = self.documents.entry(hash(&document));
            Rc::clone(known.or_insert_with(|| Rc::new(DocumentValues::of(document))))
        });
        Values(values.collect())
    }
}

/// The texts between the lines `---`.
pub(crate) fn documents(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut start = 0;
    let first = text.starts_with("---").then_some(0);
    let others = memmem::find_iter(text.as_bytes(), "\n---").map(|at| at + 1);
    for at in first.into_iter().chain(others) {
        let line = text[at..].split_inclusive('\n').next().unwrap_or_default();
        if line.trim_end() == "---" {
            documents.push(&text[start..at]);
            start = at + line.len();
        }
    }
    documents.push(&text[start..]);
    documents.retain(|document| !document.trim().is_empty());
    documents
}

impl DocumentValues {
    fn of(text: &str) -> Self {
        let scanned = identity::documents(text);
        let resource = match scanned.as_deref() {
            Some([found]) => found.clone(),
            _ => OwnedDocument::parse(text.to_owned())
                .ok()
                .and_then(|document| document.root().map(Resource::read)),
        };
        let is_krm = |found: &Resource| !found.kind.is_empty() && !found.api_version.is_empty();
        Self {
            identity: resource.filter(is_krm).map(ElementIdentity::of),
            text: text.to_owned(),
            content: OnceCell::new(),
        }
    }

    fn of_lines(bytes: &[u8]) -> Self {
        Self {
            identity: None,
            text: String::new(),
            content: OnceCell::from(lines(bytes)),
        }
    }

    fn content(&self) -> &DocumentContent {
        self.content.get_or_init(|| content_of(&self.text))
    }

    fn count(&self) -> usize {
        match self.content() {
            DocumentContent::HashTree(tree) => tree.leaves,
            DocumentContent::Lines(lines) => lines.len(),
        }
    }

    fn hash(&self) -> u64 {
        match self.content() {
            DocumentContent::HashTree(tree) => tree.hash,
            DocumentContent::Lines(lines) => hash(lines),
        }
    }
}

fn content_of(text: &str) -> DocumentContent {
    let Ok(document) = OwnedDocument::parse(text.to_owned()) else {
        return lines(text.as_bytes());
    };
    let Some(root) = document.root() else {
        return lines(b"");
    };
    let mut trees = Trees {
        is_kptfile: Resource::read(root).is_kptfile(),
        left: MOST_NODES,
    };
    match trees.of(root, 0) {
        Some(tree) => DocumentContent::HashTree(tree),
        None => lines(text.as_bytes()),
    }
}

/// Each line is a separate value, wherever it is.
fn lines(bytes: &[u8]) -> DocumentContent {
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let count = counts.entry(line).or_default();
        *count += 1;
        hash(&(line, *count))
    });
    DocumentContent::Lines(lines.collect())
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

struct Trees {
    is_kptfile: bool,
    /// How many nodes may still be read.
    left: usize,
}

impl Trees {
    /// The tree of a node, with `depth` mappings above it; `None` if there are too many nodes.
    fn of(&mut self, node: NodeRef<'_>, depth: usize) -> Option<HashTree> {
        self.left = self.left.checked_sub(1)?;
        let node = node.resolved();
        let kind = node.kind();
        if kind.is_mapping() && node.entries().next().is_some() {
            let mut entries = Vec::new();
            for entry in node.entries() {
                let key = entry.key.scalar_text().unwrap_or_default();
                if self.is_own(key, depth) {
                    continue;
                }
                let tree = self.of(entry.value, depth + 1)?;
                if tree.leaves > 0 {
                    entries.push((hash(&key), tree));
                }
            }
            entries.sort_unstable_by_key(|(key, _)| *key);
            let content = entries.iter().map(|(key, tree)| (key, tree.hash));
            let content: Vec<_> = content.collect();
            return Some(HashTree {
                hash: hash(&content),
                leaves: entries.iter().map(|(_, tree)| tree.leaves).sum(),
                shape: HashShape::Mapping(entries),
            });
        }
        if kind.is_sequence() && node.items().next().is_some() {
            let mut items = Vec::new();
            for item in node.items() {
                let name = item.resolved().get("name");
                let name = name.and_then(|name| name.scalar_text());
                let name = name.map(|name| hash(&name));
                items.push((name, self.of(item, depth + 1)?));
            }
            let content = items.iter().map(|(_, tree)| hash(&tree.hash));
            let content = content.fold(items.len() as u64, u64::wrapping_add);
            return Some(HashTree {
                hash: hash(&("sequence", content)),
                leaves: items.iter().map(|(_, tree)| tree.leaves).sum(),
                shape: HashShape::Sequence(items),
            });
        }
        let value = node.value().map(|value| value.to_json());
        Some(HashTree {
            hash: hash(&value),
            leaves: 1,
            shape: HashShape::Leaf,
        })
    }

    /// Whether a field describes the copy itself, and not what it was copied from.
    fn is_own(&self, key: &str, depth: usize) -> bool {
        let of_kptfile = self.is_kptfile
            && ((depth == 0 && OWN_FIELDS.contains(&key))
                || (depth == 1 && key == "name")
                || (depth == 2 && is_ownership_annotation(key)));
        let of_pipeline = depth == 2 && (key == UPSTREAM_IDENTIFIER || is_pipeline_annotation(key));
        of_kptfile || of_pipeline
    }
}

/// The edits of a file that both packages have, and the documents that are in one of them only.
#[derive(Debug, Default)]
pub struct FileEditCount {
    /// The edits of documents that are in both.
    pub edits: EditCount,
    local: Vec<Rc<DocumentValues>>,
    upstream: Vec<Rc<DocumentValues>>,
}

impl FileEditCount {
    /// Compares a file in local with the same file in upstream.
    #[must_use]
    pub fn between(local: &Values, upstream: &Values) -> Self {
        let mut found = Self {
            edits: EditCount::default(),
            local: local.0.clone(),
            upstream: upstream.0.clone(),
        };
        for by_namespace in [true, false] {
            let key = |document: &Rc<DocumentValues>| match &document.identity {
                Some(identity) => Some(identity.without_namespace_unless(by_namespace)),
                // A document that is not KRM is identified by its file.
                None => Some(None),
            };
            let Self {
                edits,
                local,
                upstream,
            } = &mut found;
            pair(local, upstream, key, |local, upstream| {
                edits.between_documents(local, upstream);
            });
        }
        found
    }

    /// Whether the local file has resources that upstream's file does not have.
    #[must_use]
    pub fn has_own(&self) -> bool {
        self.local
            .iter()
            .any(|document| document.identity.is_some())
    }
}

impl ElementIdentity {
    fn of(resource: Resource) -> Self {
        Self {
            group: resource.group().to_owned(),
            name: resource.name.clone().filter(|_| !resource.is_kptfile()),
            kind: resource.kind,
            namespace: resource.namespace,
        }
    }

    fn without_namespace_unless(&self, by_namespace: bool) -> Option<Self> {
        let mut identity = self.clone();
        if !by_namespace {
            identity.namespace = None;
        }
        Some(identity)
    }
}

/// Removes elements with the same key from both lists, and calls `found` with each pair.
fn pair<T, K: Eq + Hash>(
    local: &mut Vec<T>,
    upstream: &mut Vec<T>,
    key: impl Fn(&T) -> Option<K>,
    mut found: impl FnMut(&T, &T),
) {
    if local.is_empty() || upstream.is_empty() {
        return;
    }
    let pairs = matches(upstream.iter().map(&key), local.iter().map(&key));
    let mut taken = vec![false; upstream.len()];
    for (document, at) in local.iter().zip(&pairs) {
        if let Some(at) = at {
            taken[*at] = true;
            found(document, &upstream[*at]);
        }
    }
    let mut pairs = pairs.into_iter();
    local.retain(|_| pairs.next().flatten().is_none());
    let mut taken = taken.into_iter();
    upstream.retain(|_| !taken.next().unwrap_or_default());
}

/// The files of local and of an upstream package, by path.
#[derive(Debug, Default)]
pub struct ComparedPackages<'p> {
    files: BTreeMap<&'p str, ComparedFile>,
}

/// Which packages have a file.
#[derive(Debug)]
enum ComparedFile {
    Both(Rc<FileEditCount>),
    Local(Rc<Values>),
    /// `None` if the content is not needed.
    Upstream(Option<Rc<Values>>),
}

/// A document that has no counterpart in its file.
struct Alone<'p> {
    path: &'p str,
    document: Rc<DocumentValues>,
}

impl<'p> ComparedPackages<'p> {
    /// Adds a file that both packages have.
    pub fn both(&mut self, path: &'p str, edits: Rc<FileEditCount>) {
        self.files.insert(path, ComparedFile::Both(edits));
    }

    /// Adds a file that only local has.
    pub fn local(&mut self, path: &'p str, values: Rc<Values>) {
        self.files.insert(path, ComparedFile::Local(values));
    }

    /// Adds a file that only upstream has. `values` is `None` if the content is not needed.
    pub fn upstream(&mut self, path: &'p str, values: Option<Rc<Values>>) {
        self.files.insert(path, ComparedFile::Upstream(values));
    }

    /// Whether local has resources that upstream may have in another file.
    #[must_use]
    pub fn may_have_moved(&self) -> bool {
        let is_resource = |document: &Rc<DocumentValues>| document.identity.is_some();
        self.files.values().any(|sides| match sides {
            ComparedFile::Both(file) => file.has_own(),
            ComparedFile::Local(values) => values.0.iter().any(is_resource),
            ComparedFile::Upstream(_) => false,
        })
    }

    /// The edits that lead from upstream to local.
    #[must_use]
    pub fn edits(&self) -> EditCount {
        let mut edits = EditCount::default();
        let (mut local, mut upstream) = (Vec::new(), Vec::new());
        for (path, sides) in &self.files {
            let alone = |document: &Rc<DocumentValues>| Alone {
                path,
                document: Rc::clone(document),
            };
            match sides {
                ComparedFile::Both(file) => {
                    edits.add(&file.edits);
                    local.extend(file.local.iter().map(alone));
                    upstream.extend(file.upstream.iter().map(alone));
                }
                ComparedFile::Local(values) => local.extend(values.0.iter().map(alone)),
                ComparedFile::Upstream(Some(values)) => upstream.extend(values.0.iter().map(alone)),
                ComparedFile::Upstream(None) => {}
            }
        }
        let mut moved: BTreeSet<(&str, &str)> = BTreeSet::new();
        for by_namespace in [true, false] {
            let key = |alone: &Alone<'_>| {
                let identity = alone.document.identity.as_ref()?;
                Some(identity.without_namespace_unless(by_namespace))
            };
            pair(&mut local, &mut upstream, key, |ours, theirs| {
                edits.between_documents(&ours.document, &theirs.document);
                // Items of a stream need not have a path.
                if !ours.path.is_empty() {
                    moved.insert((ours.path, theirs.path));
                }
            });
        }
        edits.changed += moved.len();
        moved.iter().for_each(|pair| edits.differ(pair));
        self.add_local(&local, &moved, &mut edits);
        self.remove_upstream(&upstream, &moved, &mut edits);
        edits
    }

    /// Counts what only local has: a file, or resources of one.
    fn add_local(
        &self,
        local: &[Alone<'_>],
        moved: &BTreeSet<(&str, &str)>,
        edits: &mut EditCount,
    ) {
        let mut files: BTreeSet<&str> = BTreeSet::new();
        for Alone { path, document } in local {
            edits.differ(&(path, document.hash()));
            let is_file = matches!(self.files.get(path), Some(ComparedFile::Local(_)))
                && !path.is_empty()
                && !moved.iter().any(|(ours, _)| ours == path);
            if !is_file || files.insert(path) {
                edits.added += 1;
            }
        }
    }

    /// Counts what local does not have: resources of a file that it has, files, and folders.
    fn remove_upstream(
        &self,
        upstream: &[Alone<'_>],
        moved: &BTreeSet<(&str, &str)>,
        edits: &mut EditCount,
    ) {
        let has_moved = |path: &str| moved.iter().any(|(_, theirs)| *theirs == path);
        let of_a_file = upstream.iter().filter(|alone| {
            matches!(self.files.get(alone.path), Some(ComparedFile::Both(_)))
                || has_moved(alone.path)
        });
        edits.removed += of_a_file.count();
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for (path, sides) in &self.files {
            if !matches!(sides, ComparedFile::Upstream(_)) {
                folders.extend(folders_of(path));
            }
        }
        let lacking = self.files.iter().filter_map(|(path, sides)| {
            let is_lacking = matches!(sides, ComparedFile::Upstream(_)) && !has_moved(path);
            is_lacking.then_some(*path)
        });
        edits.removed += removed_parts(lacking, &folders).len();
    }
}

/// The files and folders that a package with these folders does not have, each with the number of its files.
fn removed_parts<'p>(
    lacking: impl Iterator<Item = &'p str>,
    folders: &BTreeSet<&str>,
) -> BTreeMap<&'p str, usize> {
    let mut parts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in lacking {
        let folder = folders_of(path).find(|folder| !folders.contains(folder));
        *parts.entry(folder.unwrap_or(path)).or_default() += 1;
    }
    parts
}

/// The paths of a local package.
#[derive(Debug, Default)]
pub struct LocalPaths<'p> {
    files: BTreeSet<&'p str>,
    folders: BTreeSet<&'p str>,
}

impl<'p> LocalPaths<'p> {
    /// Collects the paths. Empty paths are left out: items of a stream need not have a path.
    pub fn new(paths: impl Iterator<Item = &'p str>) -> Self {
        let files: BTreeSet<&str> = paths.filter(|path| !path.is_empty()).collect();
        Self {
            folders: files.iter().flat_map(|path| folders_of(path)).collect(),
            files,
        }
    }

    /// The fewest edits that explain which files are at which paths: a file that only one side has was added or
    /// removed, or resources have moved between two of them.
    #[must_use]
    pub fn fewest_edits(&self, upstream: &BTreeSet<&str>) -> EditCount {
        let added = self.files.difference(upstream).count();
        let lacking = upstream.difference(&self.files).copied();
        let parts = removed_parts(lacking, &self.folders);
        let mut sizes: Vec<usize> = parts.into_values().collect();
        sizes.sort_unstable();
        let mut moved = added;
        let removed = sizes
            .into_iter()
            .filter(|size| match moved.checked_sub(*size) {
                Some(left) => {
                    moved = left;
                    false
                }
                None => true,
            });
        EditCount {
            added,
            removed: removed.count(),
            ..EditCount::default()
        }
    }
}

/// The folders that a path leads through, from the outermost.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
