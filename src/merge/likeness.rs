//! How many values two packages differ in.
//!
//! A value is a leaf of a resource, or a line of a file that is not KRM. Its path and its content are kept
//! as hashes, so that a package takes little memory once it was read, and comparing it with many is fast.
//!
//! Source: contract, Upstreams from Git (`--original auto`).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use arcstr::ArcStr;

use super::upstream_identifier::UPSTREAM_IDENTIFIER;
use crate::kptfile::is_ownership_annotation;
use crate::package::is_krm_name;
use crate::resource::{Resource, is_pipeline_annotation};
use crate::yaml::{NodeRef, OwnedDocument};

/// The values of a file.
#[derive(Debug, Default)]
pub struct Values(Vec<Rc<DocumentValues>>);

/// The values of one document.
#[derive(Debug, Default)]
struct DocumentValues {
    identity: Option<Identity>,
    /// Hashes of places and of values, sorted.
    leaves: Vec<(u64, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Identity {
    group: String,
    kind: ArcStr,
    /// A Kptfile has the name of the copy.
    name: Option<ArcStr>,
    namespace: Option<ArcStr>,
}

/// The differences between two packages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Differences {
    /// Values that only one of them has, or that differ.
    pub count: usize,
    /// Values that both have.
    pub shared: usize,
}

/// Reads files, each document once.
#[derive(Debug, Default)]
pub struct Looker {
    documents: HashMap<String, Rc<DocumentValues>>,
}

impl Looker {
    /// The values of a file.
    pub fn values(&mut self, path: &str, bytes: &[u8]) -> Values {
        let name = path.rsplit('/').next().unwrap_or_default();
        let text = std::str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|_| is_krm_name(name)) else {
            return Values(vec![Rc::new(lines(bytes))]);
        };
        let values = documents(text).into_iter().map(|document| {
            if let Some(known) = self.documents.get(document) {
                return Rc::clone(known);
            }
            let values = Rc::new(values_of(document));
            self.documents
                .insert(document.to_owned(), Rc::clone(&values));
            values
        });
        Values(values.collect())
    }
}

/// The texts between the lines `---`.
fn documents(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            documents.push(&text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    documents.push(&text[start..]);
    documents.retain(|document| !document.trim().is_empty());
    documents
}

fn values_of(text: &str) -> DocumentValues {
    let Ok(document) = OwnedDocument::parse(text.to_owned()) else {
        return lines(text.as_bytes());
    };
    let Some(root) = document.root() else {
        return DocumentValues::default();
    };
    let resource = Resource::read(root);
    let is_resource = !resource.kind.is_empty() && !resource.api_version.is_empty();
    let mut leaves = Leaves {
        is_kptfile: resource.is_kptfile(),
        found: Vec::new(),
    };
    leaves.of(root, hash(&"root"), 0);
    let mut leaves = leaves.found;
    leaves.sort_unstable();
    DocumentValues {
        identity: is_resource.then(|| Identity {
            group: resource.group().to_owned(),
            kind: resource.kind.clone(),
            name: resource.name.clone().filter(|_| !resource.is_kptfile()),
            namespace: resource.namespace.clone(),
        }),
        leaves,
    }
}

/// Each line is a value of its own, wherever it stands.
fn lines(bytes: &[u8]) -> DocumentValues {
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    let mut leaves = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let count = counts.entry(line).or_default();
        *count += 1;
        leaves.push((hash(&(line, *count)), 0));
    }
    leaves.sort_unstable();
    DocumentValues {
        identity: None,
        leaves,
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

struct Leaves {
    is_kptfile: bool,
    found: Vec<(u64, u64)>,
}

impl Leaves {
    /// Collects the leaves below a node; `depth` counts the mappings above it.
    fn of(&mut self, node: NodeRef<'_>, place: u64, depth: usize) {
        let node = node.resolved();
        let kind = node.kind();
        let mut is_empty = true;
        if kind.is_mapping() {
            for entry in node.entries() {
                is_empty = false;
                let key = entry.key.scalar_text().unwrap_or_default();
                if !self.is_own(key, depth) {
                    self.of(entry.value, hash(&(place, key)), depth + 1);
                }
            }
        } else if kind.is_sequence() {
            let mut seen: HashMap<u64, u64> = HashMap::new();
            for (index, item) in node.items().enumerate() {
                is_empty = false;
                let item = item.resolved();
                let name = item.get("name").and_then(|name| name.scalar_text());
                let key = match (name, item.kind()) {
                    (Some(name), _) => hash(&("name", name)),
                    (None, kind) if kind.is_mapping() || kind.is_sequence() => hash(&index),
                    (None, _) => hash(&("value", item.scalar_text())),
                };
                let count = seen.entry(key).or_default();
                *count += 1;
                self.of(item, hash(&(place, key, *count)), depth + 1);
            }
        }
        if is_empty {
            let value = node.value().map(|value| value.to_json());
            self.found.push((place, hash(&value)));
        }
    }

    /// Whether a field describes the copy itself, and not what it was copied from.
    fn is_own(&self, key: &str, depth: usize) -> bool {
        const OF_KPTFILES: [&str; 3] = ["upstream", "upstreamLock", "status"];
        let of_kptfile = self.is_kptfile
            && ((depth == 0 && OF_KPTFILES.contains(&key))
                || (depth == 1 && key == "name")
                || (depth == 2 && is_ownership_annotation(key)));
        let of_pipeline = depth == 2 && (key == UPSTREAM_IDENTIFIER || is_pipeline_annotation(key));
        of_kptfile || of_pipeline
    }
}

/// The values of a package's files by their paths.
pub type PackageValues = Vec<(String, Rc<Values>)>;

/// Counts the differences between a package and another.
#[must_use]
pub fn differences(local: &PackageValues, other: &PackageValues) -> Differences {
    let documents = |package: &PackageValues| -> Vec<(String, Rc<DocumentValues>)> {
        let of_file = |(path, values): &(String, Rc<Values>)| {
            let documents = values.0.iter();
            let documents = documents.map(|document| (path.clone(), Rc::clone(document)));
            documents.collect::<Vec<_>>()
        };
        package.iter().flat_map(of_file).collect()
    };
    let (mut ours, mut theirs) = (documents(local), documents(other));
    let mut found = Differences::default();
    // What is the same in all, then in less and less.
    const BY: [(bool, bool); 4] = [(true, true), (false, true), (true, false), (false, false)];
    for (by_path, by_namespace) in BY {
        let mut by_key: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
        for (at, (path, document)) in theirs.iter().enumerate().rev() {
            if let Some(key) = key(path, document, by_path, by_namespace) {
                by_key.entry(key).or_default().push(at);
            }
        }
        let mut taken = vec![false; theirs.len()];
        ours.retain(|(path, document)| {
            let key = key(path, document, by_path, by_namespace);
            let Some(at) = key.and_then(|key| by_key.get_mut(&key)?.pop()) else {
                return true;
            };
            taken[at] = true;
            found.add(&document.leaves, &theirs[at].1.leaves);
            false
        });
        let mut taken = taken.into_iter();
        theirs.retain(|_| !taken.next().unwrap_or_default());
    }
    let alone = ours.iter().chain(&theirs);
    found.count += alone
        .map(|(_, document)| document.leaves.len())
        .sum::<usize>();
    found
}

/// What two documents have in common that are versions of each other.
fn key(
    path: &str,
    document: &DocumentValues,
    by_path: bool,
    by_namespace: bool,
) -> Option<Vec<String>> {
    let text = |text: &Option<ArcStr>| text.as_deref().unwrap_or_default().to_owned();
    let Some(identity) = &document.identity else {
        return by_path.then(|| vec![path.to_owned()]);
    };
    let mut key = vec![
        identity.group.clone(),
        identity.kind.to_string(),
        text(&identity.name),
    ];
    key.extend(by_path.then(|| path.to_owned()));
    key.extend(by_namespace.then(|| text(&identity.namespace)));
    Some(key)
}

impl Differences {
    /// Adds those of two sorted lists of leaves.
    fn add(&mut self, ours: &[(u64, u64)], theirs: &[(u64, u64)]) {
        let (mut a, mut b) = (0, 0);
        while let (Some(one), Some(other)) = (ours.get(a), theirs.get(b)) {
            let same_place = one.0 == other.0;
            self.shared += usize::from(one == other);
            self.count += usize::from(one != other);
            a += usize::from(same_place || one.0 < other.0);
            b += usize::from(same_place || one.0 > other.0);
        }
        self.count += ours.len() - a + theirs.len() - b;
    }
}

/// How many values a package has.
#[must_use]
pub fn count(package: &PackageValues) -> usize {
    let documents = package.iter().flat_map(|(_, values)| values.0.iter());
    documents.map(|document| document.leaves.len()).sum()
}
