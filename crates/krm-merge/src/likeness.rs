//! Counts the edits with which a user would turn one package into another.
//!
//! ```text
//! replicas: 1 -> 5                         one value changed
//! one more label                           one value added
//! a container, a resource, a folder less   one removed, however large
//! ```
//!
//! Source: contract, Upstreams from Git (`--original auto`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;

use memchr::memmem;

use super::alike::{Leaves, Unpaired, pair_alike};
use super::bookkeeping::without_bookkeeping_of_tools;
use super::compare::pair_values;
use super::leaves::hash;
use super::package::without_own_fields;
use krm_core::identity;
use krm_core::resource::Resource;
use krm_core::resource_key::ResourceKey;
use krm_core::source_text::parse_document;
use krm_package::{folders_above, is_krm_name};
use krm_yaml::Value;
use krm_yaml::interner::matches;

/// The values of a file.
#[derive(Debug, Default)]
pub struct Values(Vec<Rc<DocumentValues>>);

impl Values {
    /// The number of values.
    pub fn count(&self) -> usize {
        self.0.iter().map(|document| document.count()).sum()
    }

    /// Whether it has no document.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The values of one document.
#[derive(Debug)]
struct DocumentValues {
    identity: Option<ResourceKey>,
    text: String,
    /// Read when it is first compared: most documents have no counterpart.
    content: OnceCell<DocumentContent>,
    /// Read when no identity finds a counterpart.
    leaves: OnceCell<Leaves>,
}

#[derive(Debug)]
enum DocumentContent {
    /// A YAML document, without the fields that describe the copy itself.
    Value(Value),
    /// The lines of a text, each as its hash.
    Lines(Vec<u64>),
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
    pub fn count(&self) -> usize {
        self.values() + self.removed
    }

    /// All edits except removals.
    pub fn values(&self) -> usize {
        self.changed + self.added
    }

    /// Adds the edits of another file.
    pub fn add(&mut self, other: &Self) {
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

    fn add_value(&mut self, place: u64, local: &Value) {
        self.added += leaves(local);
        self.differ(&(place, local));
    }

    fn between_documents(&mut self, local: &DocumentValues, upstream: &DocumentValues) {
        match (local.content(), upstream.content()) {
            (DocumentContent::Value(own), DocumentContent::Value(value)) => {
                self.between(own, value, hash(&local.identity));
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

    fn between(&mut self, local: &Value, upstream: &Value, place: u64) {
        if local == upstream {
            self.shared += leaves(local);
            return;
        }
        match (local, upstream) {
            _ if !local.has_parts() || !upstream.has_parts() => self.change(local, upstream, place),
            (Value::Mapping(local), Value::Mapping(upstream)) => {
                self.between_mappings(local, upstream, place);
            }
            (Value::Sequence(local), Value::Sequence(upstream)) => {
                self.between_sequences(local, upstream, place);
            }
            _ => self.change(local, upstream, place),
        }
    }

    fn change(&mut self, local: &Value, upstream: &Value, place: u64) {
        self.changed += leaves(local);
        self.differ(&(place, local, upstream));
    }

    fn between_mappings(
        &mut self,
        local: &[(Value, Value)],
        upstream: &[(Value, Value)],
        place: u64,
    ) {
        let others = upstream.iter().map(|(key, value)| (key, value));
        let mut others: HashMap<&Value, &Value> = others.collect();
        for (key, value) in local {
            let place = hash(&(place, key));
            match others.remove(key) {
                Some(other) => self.between(value, other, place),
                None => self.add_value(place, value),
            }
        }
        self.remove_parts(others.len());
    }

    fn between_sequences(&mut self, local: &[Value], upstream: &[Value], place: u64) {
        let pairs = pair_values(local, upstream);
        let mut partners = vec![None; local.len()];
        for (own, other) in &pairs {
            partners[*own] = Some(&upstream[*other]);
        }
        for (index, (value, partner)) in local.iter().zip(partners).enumerate() {
            let place = hash(&(place, index));
            match partner {
                Some(other) => self.between(value, other, place),
                None => self.add_value(place, value),
            }
        }
        self.remove_parts(upstream.len() - pairs.len());
    }

    /// Consecutive lines that local does not have are one part, which was removed or changed.
    fn between_lines(&mut self, local: &[u64], upstream: &[u64]) {
        let in_upstream: HashSet<u64> = upstream.iter().copied().collect();
        let in_local: HashSet<u64> = local.iter().copied().collect();
        let own = local.iter().filter(|line| !in_upstream.contains(line));
        let own = own.inspect(|line| self.alike = self.alike.wrapping_add(hash(line)));
        let own = own.count();
        let mut parts = 0;
        let mut was_there = true;
        for line in upstream {
            let is_there = in_local.contains(line);
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
pub fn documents(text: &str) -> Vec<&str> {
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
            _ => parse_document(text.to_owned())
                .ok()
                .and_then(|document| document.root().map(Resource::read)),
        };
        let is_krm = |found: &Resource| !found.kind.is_empty() && !found.api_version.is_empty();
        Self {
            identity: resource.filter(is_krm).map(|found| ResourceKey::of(&found)),
            text: text.to_owned(),
            content: OnceCell::new(),
            leaves: OnceCell::new(),
        }
    }

    fn of_lines(bytes: &[u8]) -> Self {
        Self {
            identity: None,
            text: String::new(),
            content: OnceCell::from(lines(bytes)),
            leaves: OnceCell::new(),
        }
    }

    fn content(&self) -> &DocumentContent {
        self.content.get_or_init(|| content_of(&self.text))
    }

    fn leaves(&self) -> &Leaves {
        self.leaves.get_or_init(|| match self.content() {
            DocumentContent::Value(value) => Leaves::of_value(value),
            DocumentContent::Lines(_) => Leaves::default(),
        })
    }

    fn count(&self) -> usize {
        match self.content() {
            DocumentContent::Value(value) => leaves(value),
            DocumentContent::Lines(lines) => lines.len(),
        }
    }

    fn hash(&self) -> u64 {
        match self.content() {
            DocumentContent::Value(value) => hash(value),
            DocumentContent::Lines(lines) => hash(lines),
        }
    }
}

fn content_of(text: &str) -> DocumentContent {
    let Ok(document) = parse_document(text.to_owned()) else {
        return lines(text.as_bytes());
    };
    let Some(root) = document.root() else {
        return lines(b"");
    };
    let Some(mut value) = root.value() else {
        return lines(text.as_bytes());
    };
    let is_kptfile = Resource::read(root).is_kptfile();
    without_bookkeeping_of_tools(&mut value, is_kptfile);
    if is_kptfile {
        without_own_fields(&mut value);
    }
    DocumentContent::Value(value)
}

/// The number of scalars and empty collections in a value.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Mapping(entries) if !entries.is_empty() => {
            entries.iter().map(|(_, value)| leaves(value)).sum()
        }
        Value::Sequence(items) if !items.is_empty() => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// Each line is a separate value, wherever it is, and whether it ends in LF or CRLF.
fn lines(bytes: &[u8]) -> DocumentContent {
    let mut counts: HashMap<Result<&[u8], &[u8]>, u64> = HashMap::new();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let ended = line.strip_suffix(b"\n").ok_or(line);
        let line = ended.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let count = counts.entry(line).or_default();
        *count += 1;
        hash(&(line, *count))
    });
    DocumentContent::Lines(lines.collect())
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
    pub fn between(local: &Values, upstream: &Values) -> Self {
        let mut found = Self {
            edits: EditCount::default(),
            local: local.0.clone(),
            upstream: upstream.0.clone(),
        };
        for by_namespace in [true, false] {
            // A document that is not KRM is identified by its file.
            let key = |document: &Rc<DocumentValues>| {
                let identity = document.identity.as_ref();
                Some(identity.map(|identity| named(identity, by_namespace)))
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
    pub(crate) fn has_own(&self) -> bool {
        self.local
            .iter()
            .any(|document| document.identity.is_some())
    }
}

/// The key of a resource, with its namespace or without.
fn named(key: &ResourceKey, by_namespace: bool) -> ResourceKey {
    if by_namespace {
        key.clone()
    } else {
        key.in_any_namespace()
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
    files: BTreeMap<&'p str, (FileOf, Rc<FileEditCount>)>,
}

/// Which packages have a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileOf {
    Both,
    Local,
    Upstream,
}

/// A document that has no counterpart in its file.
struct Alone<'p> {
    path: &'p str,
    document: Rc<DocumentValues>,
}

impl<'p> ComparedPackages<'p> {
    /// Adds a file that both packages have.
    pub fn both(&mut self, path: &'p str, edits: Rc<FileEditCount>) {
        self.files.insert(path, (FileOf::Both, edits));
    }

    /// Adds a file that only local has.
    pub fn local(&mut self, path: &'p str, values: &Values) {
        let alone = FileEditCount::between(values, &Values::default());
        self.files.insert(path, (FileOf::Local, Rc::new(alone)));
    }

    /// Adds a file that only upstream has. `values` is empty if the content is not needed.
    pub fn upstream(&mut self, path: &'p str, values: &Values) {
        let alone = FileEditCount::between(&Values::default(), values);
        self.files.insert(path, (FileOf::Upstream, Rc::new(alone)));
    }

    /// Whether local has resources that upstream may have in another file.
    pub fn may_have_moved(&self) -> bool {
        self.files.values().any(|(_, file)| file.has_own())
    }

    /// The edits that lead from upstream to local.
    pub fn edits(&self) -> EditCount {
        let mut edits = EditCount::default();
        let (mut local, mut upstream) = (Vec::new(), Vec::new());
        for (path, (_, file)) in &self.files {
            let alone = |document: &Rc<DocumentValues>| Alone {
                path,
                document: Rc::clone(document),
            };
            edits.add(&file.edits);
            local.extend(file.local.iter().map(alone));
            upstream.extend(file.upstream.iter().map(alone));
        }
        let mut moved: BTreeSet<(&str, &str)> = BTreeSet::new();
        for by_namespace in [true, false] {
            let key = |alone: &Alone<'_>| {
                let identity = alone.document.identity.as_ref()?;
                Some(named(identity, by_namespace))
            };
            pair(&mut local, &mut upstream, key, |local, upstream| {
                edits.between_documents(&local.document, &upstream.document);
                // Items of a stream need not have a path.
                if !local.path.is_empty() {
                    moved.insert((local.path, upstream.path));
                }
            });
        }
        for (local, upstream) in take_alike(&mut local, &mut upstream) {
            edits.between_documents(&local.document, &upstream.document);
            if !local.path.is_empty() && local.path != upstream.path {
                moved.insert((local.path, upstream.path));
            }
        }
        edits.changed += moved.len();
        moved.iter().for_each(|pair| edits.differ(pair));
        self.add_local(&local, &moved, &mut edits);
        self.remove_upstream(&upstream, &moved, &mut edits);
        edits
    }

    fn of(&self, path: &str) -> Option<FileOf> {
        self.files.get(path).map(|(of, _)| *of)
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
            let is_file = self.of(path) == Some(FileOf::Local)
                && !path.is_empty()
                && !moved.iter().any(|(from, _)| from == path);
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
        let has_moved = |path: &str| moved.iter().any(|(_, to)| *to == path);
        let of_a_file = upstream
            .iter()
            .filter(|alone| self.of(alone.path) == Some(FileOf::Both) || has_moved(alone.path));
        edits.removed += of_a_file.count();
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for (path, (of, _)) in &self.files {
            if *of != FileOf::Upstream {
                folders.extend(folders_above(path));
            }
        }
        let lacking = self.files.iter().filter_map(|(path, (of, _))| {
            let is_lacking = *of == FileOf::Upstream && !has_moved(path);
            is_lacking.then_some(*path)
        });
        edits.removed += removed_parts(lacking, &folders).len();
    }
}

/// Removes the renamed resources from both lists, as a merge finds them, and returns them in pairs.
fn take_alike<'p>(
    local: &mut Vec<Alone<'p>>,
    upstream: &mut Vec<Alone<'p>>,
) -> Vec<(Alone<'p>, Alone<'p>)> {
    fn unpaired<'a>((number, alone): (usize, &'a Alone<'_>)) -> Option<Unpaired<'a>> {
        let identity = alone.document.identity.as_ref()?;
        Some(Unpaired {
            number,
            kind: &identity.kind,
            name: Some(identity.name.name()?),
            package: "",
            file: Some(alone.path).filter(|path| !path.is_empty()),
            leaves: alone.document.leaves(),
        })
    }
    if local.is_empty() || upstream.is_empty() {
        return Vec::new();
    }
    let sides = [&*local, &*upstream].map(|side| {
        let all = side.iter().enumerate().filter_map(unpaired);
        all.collect::<Vec<_>>()
    });
    let pairs = pair_alike(&sides[0], &sides[1]).pairs;
    if pairs.is_empty() {
        return Vec::new();
    }
    let [mut ours, mut theirs] = [local, upstream].map(|side| {
        let all = std::mem::take(side).into_iter().map(Some);
        (all.collect::<Vec<_>>(), side)
    });
    let pairs = pairs.into_iter();
    let found = pairs.filter_map(|(l, u)| ours.0[l].take().zip(theirs.0[u].take()));
    let found: Vec<(Alone<'p>, Alone<'p>)> = found.collect();
    for (left, side) in [ours, theirs] {
        side.extend(left.into_iter().flatten());
    }
    found
}

/// The files and folders that a package with these folders does not have, each with the number of its files.
fn removed_parts<'p>(
    lacking: impl Iterator<Item = &'p str>,
    folders: &BTreeSet<&str>,
) -> BTreeMap<&'p str, usize> {
    let mut parts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in lacking {
        let folder = folders_above(path).find(|folder| !folders.contains(folder));
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
            folders: files.iter().flat_map(|path| folders_above(path)).collect(),
            files,
        }
    }

    /// The fewest edits that explain which files are at which paths: a file that only one side has was added or
    /// removed, or resources have moved between two of them.
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
