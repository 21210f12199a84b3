//! Finds where a directory or file went between two commits, as Git's detection of renames does, without running a
//! program in the repository.
//!
//! ```text
//! web/app.yaml      removed   ->  charts/web/app.yaml      added, the same content
//! web/service.yaml  removed   ->  charts/web/service.yaml  added, half of its lines or more
//! the directory `web` moved to `charts/web`
//! ```

use std::collections::{BTreeMap, HashMap};

use gix::ObjectId;

use super::{GitError, Repository};
use krm_package::file_name;

/// The most files and folders that are looked at.
const MOST_ENTRIES: usize = 200_000;
/// The most pairs of files whose lines are compared.
const MOST_PAIRS: usize = 40_000;
/// The most bytes of a file whose lines are compared.
const LARGEST_COMPARED: u64 = 1 << 20;
/// The most bytes that are read for such comparisons.
const MOST_READ: usize = 64 << 20;

/// The files that only one of two trees has, by path.
#[derive(Default)]
struct Difference {
    removed: BTreeMap<String, ObjectId>,
    added: BTreeMap<String, ObjectId>,
    entries: usize,
}

impl Repository {
    /// The directory to which at least half of the files of a directory moved between two commits, or the new path of
    /// a file. `None` if there is none, or if an object cannot be read.
    pub fn moved(&self, path: &str, from: &str, to: &str) -> Option<String> {
        let mut difference = Difference::default();
        let roots = [from, to].map(|commit| self.root_of(commit).ok());
        let [Some(from), Some(to)] = roots else {
            return None;
        };
        self.compare("", Some(from), Some(to), &mut difference)
            .ok()?;
        let is_inside = |name: &str| rest_of(name, path).is_some();
        difference.removed.retain(|name, _| is_inside(name));
        let removed = difference.removed.len();
        let pairs = self.pairs(difference);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (old, new) in &pairs {
            let directory = rest_of(old, path).and_then(|rest| new.strip_suffix(rest));
            if let Some(directory) = directory {
                *counts.entry(directory).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        let (directory, _) = most?;
        // A directory of which upstream moved a few files, and removed the others, did not move.
        let inside = pairs.iter();
        let inside = inside.filter(|(_, new)| rest_of(new, directory).is_some());
        (inside.count() * 2 >= removed).then(|| directory.to_owned())
    }

    /// Collects the files that differ between two trees. Equal folders are not read.
    fn compare(
        &self,
        folder: &str,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        difference: &mut Difference,
    ) -> Result<(), GitError> {
        if old == new {
            return Ok(());
        }
        let [old, new] = [self.children(old)?, self.children(new)?];
        let names = old
            .keys()
            .chain(new.keys().filter(|name| !old.contains_key(*name)));
        for name in names {
            difference.entries += 1;
            if difference.entries > MOST_ENTRIES || folder.len() > 4096 {
                return Err(self.too_many_renames());
            }
            let [before, after] = [old.get(name), new.get(name)];
            if before == after {
                continue;
            }
            let path = match folder {
                "" => name.clone(),
                folder => format!("{folder}/{name}"),
            };
            let of_kind = |entry: Option<&(bool, ObjectId)>, is_tree: bool| {
                entry.filter(|(is, _)| *is == is_tree).map(|(_, id)| *id)
            };
            match (of_kind(before, false), of_kind(after, false)) {
                (Some(id), None) => drop(difference.removed.insert(path.clone(), id)),
                (None, Some(id)) => drop(difference.added.insert(path.clone(), id)),
                // A file that changed in its place did not move.
                _ => {}
            }
            let [before, after] = [before, after].map(|entry| of_kind(entry, true));
            self.compare(&path, before, after, difference)?;
        }
        Ok(())
    }

    /// The files and folders of a tree: whether each is a folder, and its object. Links and submodules are left out.
    fn children(
        &self,
        tree: Option<ObjectId>,
    ) -> Result<BTreeMap<String, (bool, ObjectId)>, GitError> {
        let Some(id) = tree else {
            return Ok(BTreeMap::new());
        };
        let what = || format!("the tree `{id}`");
        let tree = self.tree(id, what)?;
        let decoded = tree.decode();
        let decoded = decoded.map_err(|error| self.unreadable(what(), &error))?;
        let mut found = BTreeMap::new();
        for entry in &decoded.entries {
            let (is_tree, is_file) = (entry.mode.is_tree(), entry.mode.is_blob());
            if let (true, Ok(name)) = (is_tree || is_file, std::str::from_utf8(entry.filename)) {
                found.insert(name.to_owned(), (is_tree, entry.oid.to_owned()));
            }
        }
        Ok(found)
    }

    fn too_many_renames(&self) -> GitError {
        let message = format!("expected at most {MOST_ENTRIES} files and folders, found more");
        self.cannot_read("a difference".to_owned(), message)
    }

    /// Pairs removed files with added ones: first by the same content, then by the same name, then any of
    /// which half of the bytes are in common lines.
    fn pairs(&self, difference: Difference) -> Vec<(String, String)> {
        let Difference {
            removed, mut added, ..
        } = difference;
        let mut pairs = Vec::new();
        let mut by_content: HashMap<ObjectId, Vec<String>> = HashMap::new();
        for (path, id) in added.iter().rev() {
            by_content.entry(*id).or_default().push(path.clone());
        }
        let mut left = Vec::new();
        for (old, id) in removed {
            let same = by_content.get_mut(&id).and_then(|paths| {
                // Among several, the one with the same file name.
                let named = paths
                    .iter()
                    .position(|path| file_name(path) == file_name(&old));
                let at = named.or(paths.len().checked_sub(1))?;
                Some(paths.remove(at))
            });
            match same {
                Some(new) => {
                    added.remove(&new);
                    pairs.push((old, new));
                }
                None => left.push((old, id)),
            }
        }
        let mut lines = LineReader {
            repository: self,
            known: HashMap::new(),
            read: 0,
        };
        let mut compared = 0;
        for is_named in [true, false] {
            left.retain(|(old, id)| {
                let candidates = added.iter();
                let candidates =
                    candidates.filter(|(new, _)| (file_name(new) == file_name(old)) == is_named);
                let mut best: Option<(u64, String)> = None;
                for (new, other) in candidates {
                    compared += 1;
                    if compared > MOST_PAIRS {
                        break;
                    }
                    let share = lines.share(*id, *other);
                    if share >= 50 && best.as_ref().is_none_or(|(most, _)| share > *most) {
                        best = Some((share, new.clone()));
                    }
                }
                let Some((_, new)) = best else {
                    return true;
                };
                added.remove(&new);
                pairs.push((old.clone(), new));
                false
            });
        }
        pairs
    }
}

/// The bytes of a file, and how many of them each line has.
type LineBytes = (u64, HashMap<Vec<u8>, u64>);

/// The lines of files: how many bytes each line has in all its places.
struct LineReader<'r> {
    repository: &'r Repository,
    known: HashMap<ObjectId, Option<LineBytes>>,
    read: usize,
}

impl LineReader<'_> {
    fn load(&mut self, id: ObjectId) {
        if self.known.contains_key(&id) {
            return;
        }
        let header = self.repository.git.find_header(id).ok();
        let size = header.map(|header| header.size());
        let is_fine = size.is_some_and(|size| size <= LARGEST_COMPARED) && self.read <= MOST_READ;
        let bytes = is_fine
            .then(|| self.repository.bytes(id, "").ok())
            .flatten();
        let lines = bytes.map(|bytes| {
            self.read += bytes.len();
            let mut lines: HashMap<Vec<u8>, u64> = HashMap::new();
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                *lines.entry(line.to_vec()).or_default() += line.len() as u64;
            }
            (bytes.len() as u64, lines)
        });
        self.known.insert(id, lines);
    }

    /// The bytes of common lines, as a percentage of the larger file.
    fn share(&mut self, one: ObjectId, other: ObjectId) -> u64 {
        self.load(one);
        self.load(other);
        let known = |id| self.known.get(&id).and_then(Option::as_ref);
        let (Some((size, lines)), Some((other_size, others))) = (known(one), known(other)) else {
            return 0;
        };
        let largest = (*size).max(*other_size);
        if largest == 0 || (*size).min(*other_size) * 2 < largest {
            return 0;
        }
        let common = lines
            .iter()
            .filter_map(|(line, count)| Some(*others.get(line)?.min(count)));
        common.sum::<u64>() * 100 / largest
    }
}

/// What follows a directory or file in a path: `/app.yaml` for `web/app.yaml` and `web`.
fn rest_of<'p>(name: &'p str, path: &str) -> Option<&'p str> {
    let rest = name.strip_prefix(path)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}
