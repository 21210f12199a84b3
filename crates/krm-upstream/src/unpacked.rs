//! Reads the entries of archives as the files of a package.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use tar::{Archive, Entry, EntryType};

use super::checked_tar::CheckedTar;
use krm_package::{
    FileContent, FileSource, FoundEntry, Kind, LARGEST_FILE, LARGEST_PACKAGE, Package,
    PackageError, PackageFile, PathError, ResolvedLink, SkipReason, Skipped, USUAL_MODE,
    check_package_path, folders_above, follow, join, list, list_clonable, normalize_package_path,
};

/// The most entries that archives may have.
const MOST_ENTRIES: usize = 200_000;
/// The most bytes that a path in an archive may have.
const LONGEST_PATH: usize = 4096;
/// The most bytes that archives of any size may unpack to, since a few bytes can expand to any number. Together with
/// the factor, this keeps memory within ten times the size of the archives plus 64 MB.
const SMALLEST_LIMIT: u64 = 48 << 20;
/// The factor by which archives may additionally expand.
const LARGEST_FACTOR: u64 = 9;
/// The permission bits of an executable file, as in Git.
const EXECUTABLE: u32 = 0o755;

#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    #[error(
        "expected a tar file, or a compressed one (tar+gzip), found a different or damaged file: {0}"
    )]
    Damaged(String),
    #[error("expected {what} with at most {limit}, found more")]
    TooLarge { what: String, limit: String },
    #[error("expected each file once, found `{path}` twice")]
    Duplicate { path: String },
    #[error("expected a file or a folder at `{path}`, found both")]
    FileAndFolder { path: String },
    #[error(transparent)]
    Path(#[from] PathError),
}

/// The entries of archives, by path.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    nodes: BTreeMap<String, UnpackedNode>,
    skipped: Vec<Skipped>,
    entries: usize,
    /// The number of unpacked bytes.
    bytes: u64,
    /// The number of bytes of the archives.
    packed: u64,
}

#[derive(Debug, Clone)]
enum UnpackedNode {
    Folder,
    File { bytes: Vec<u8>, mode: u32 },
    Link(String),
    Skipped(SkipReason),
}

impl Unpacked {
    /// Reads an archive. Its files replace those of earlier archives, as layers of an image do.
    pub(super) fn add_tar(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.packed += bytes.len() as u64;
        // Long file names are unpacked as well, so they need a limit too.
        let limit = self.limit() + bytes.len() as u64 + 1;
        let mut archive = Archive::new(CheckedTar::new(bytes, limit));
        let added = self.add_entries(&mut archive);
        let mut tar = archive.into_inner();
        let checked = added.and_then(|()| {
            let whole = tar.check_end();
            whole.map_err(|error| ArchiveError::Damaged(error.to_string()))
        });
        if tar.is_at_limit() {
            return Err(self.too_large());
        }
        checked
    }

    /// The most bytes that the archives so far may unpack to.
    fn limit(&self) -> u64 {
        LARGEST_PACKAGE.min(SMALLEST_LIMIT + LARGEST_FACTOR * self.packed)
    }

    fn too_large(&self) -> ArchiveError {
        let (limit, packed) = (self.limit() >> 20, self.packed);
        ArchiveError::TooLarge {
            what: "the archive".to_owned(),
            limit: format!("{limit} MB for its {packed} bytes"),
        }
    }

    fn add_entries(&mut self, archive: &mut Archive<impl Read>) -> Result<(), ArchiveError> {
        let damaged = |error: std::io::Error| ArchiveError::Damaged(error.to_string());
        let mut seen = BTreeSet::new();
        for entry in archive.entries().map_err(damaged)? {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(ArchiveError::TooLarge {
                    what: "the archive".to_owned(),
                    limit: format!("{MOST_ENTRIES} entries"),
                });
            }
            let entry = entry.map_err(damaged)?;
            if let Some(path) = self.add_entry(entry)?
                && !seen.insert(path.clone())
            {
                return Err(ArchiveError::Duplicate { path });
            }
        }
        Ok(())
    }

    /// Adds an entry. Returns its path unless it is a folder or skipped.
    fn add_entry(
        &mut self,
        mut entry: Entry<'_, impl Read>,
    ) -> Result<Option<String>, ArchiveError> {
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            return Ok(None);
        }
        let name = entry.path_bytes().into_owned();
        let Ok(name) = String::from_utf8(name) else {
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let reason = SkipReason::NameNotUtf8;
            self.skipped.push(Skipped { path, reason });
            return Ok(None);
        };
        let path = normalize_package_path(name.trim_end_matches('/'));
        // The entry of the archived folder itself.
        if path.is_empty() && kind.is_dir() && !name.contains("..") {
            return Ok(None);
        }
        if name.len() > LONGEST_PATH {
            return Err(ArchiveError::TooLarge {
                what: "a path in the archive".to_owned(),
                limit: format!("{LONGEST_PATH} bytes"),
            });
        }
        check_package_path(&name)?;
        if kind.is_dir() {
            self.insert(path, UnpackedNode::Folder)?;
            return Ok(None);
        }
        if self.removes(&path) {
            return Ok(None);
        }
        let node = self.node(kind, &path, &mut entry)?;
        if let Some(node) = node {
            self.insert(path.clone(), node)?;
        }
        Ok(Some(path))
    }

    fn node(
        &mut self,
        kind: EntryType,
        path: &str,
        entry: &mut Entry<'_, impl Read>,
    ) -> Result<Option<UnpackedNode>, ArchiveError> {
        let damaged = |error: std::io::Error| ArchiveError::Damaged(error.to_string());
        if kind.is_symlink() || kind.is_hard_link() {
            let target = entry.link_name_bytes().unwrap_or_default().into_owned();
            let Ok(target) = String::from_utf8(target) else {
                return Ok(Some(UnpackedNode::Skipped(SkipReason::DanglingLink)));
            };
            if kind.is_symlink() {
                return Ok(Some(UnpackedNode::Link(target)));
            }
            // A hard link: the same file under another name.
            let linked = self.nodes.get(&normalize_package_path(&target));
            let Some(node @ UnpackedNode::File { bytes, .. }) = linked else {
                let reason = match check_package_path(&target) {
                    Ok(()) => SkipReason::DanglingLink,
                    Err(_) => SkipReason::LinkOutOfPackage,
                };
                return Ok(Some(UnpackedNode::Skipped(reason)));
            };
            let (node, length) = (node.clone(), bytes.len() as u64);
            self.pay(path, length)?;
            return Ok(Some(node));
        }
        if !(kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse()) {
            return Ok(Some(UnpackedNode::Skipped(SkipReason::NotRegular)));
        }
        let mode = entry.header().mode().unwrap_or(USUAL_MODE);
        let mode = if mode & 0o111 == 0 {
            USUAL_MODE
        } else {
            EXECUTABLE
        };
        // The size in the header is checked before the file is read; a wrong size is found while reading.
        let size = entry.size();
        self.pay(path, size)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let read = entry.take(LARGEST_FILE + 1).read_to_end(&mut bytes);
        if read.map_err(damaged)? as u64 != size {
            return Err(ArchiveError::Damaged(format!("`{path}` is cut off")));
        }
        Ok(Some(UnpackedNode::File { bytes, mode }))
    }

    fn pay(&mut self, path: &str, length: u64) -> Result<(), ArchiveError> {
        self.bytes = self.bytes.saturating_add(length);
        if length > LARGEST_FILE {
            let what = format!("the file `{path}`");
            let limit = format!("{} MB", LARGEST_FILE >> 20);
            return Err(ArchiveError::TooLarge { what, limit });
        }
        if self.bytes > self.limit() {
            return Err(self.too_large());
        }
        Ok(())
    }

    /// Whether an entry of an image layer is a whiteout (`.wh.NAME`). If so, removes the entry of a lower layer that
    /// it names.
    fn removes(&mut self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let name = name.strip_prefix(".wh.");
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return false;
        };
        let removed = match name {
            ".wh..opq" => folder.to_owned(),
            name => join(folder, name),
        };
        let below = format!("{removed}/");
        let is_gone =
            |path: &str| removed.is_empty() || path == removed || path.starts_with(&below);
        self.nodes.retain(|path, _| !is_gone(path));
        true
    }

    /// Adds one file, which counts as an archive of its size.
    pub(super) fn add_file(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), ArchiveError> {
        check_package_path(path)?;
        self.packed += bytes.len() as u64;
        self.pay(path, bytes.len() as u64)?;
        let mode = USUAL_MODE;
        self.insert(
            normalize_package_path(path),
            UnpackedNode::File { bytes, mode },
        )
    }

    /// Adds an entry and the folders above it. A path can name thousands of folders, so they count as unpacked bytes.
    fn insert(&mut self, path: String, node: UnpackedNode) -> Result<(), ArchiveError> {
        for folder in folders_above(&path) {
            if !self.nodes.contains_key(folder) {
                self.pay(folder, folder.len() as u64)?;
                self.nodes.insert(folder.to_owned(), UnpackedNode::Folder);
            } else if !self.is_folder(folder) {
                let path = folder.to_owned();
                return Err(ArchiveError::FileAndFolder { path });
            }
        }
        let becomes_folder = matches!(node, UnpackedNode::Folder);
        if self.nodes.contains_key(&path) && self.is_folder(&path) != becomes_folder {
            return Err(ArchiveError::FileAndFolder { path });
        }
        self.nodes.insert(path, node);
        Ok(())
    }

    /// Whether there is a file, also one that is skipped.
    pub(super) fn has_files(&self) -> bool {
        let is_file = |node: &UnpackedNode| !matches!(node, UnpackedNode::Folder);
        self.nodes.values().any(is_file) || !self.skipped.is_empty()
    }

    fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || matches!(self.nodes.get(path), Some(UnpackedNode::Folder))
    }

    /// The paths of the entries in a folder.
    fn entries_in(&self, folder: &str) -> Vec<String> {
        let prefix = join(folder, "");
        let mut entries = Vec::new();
        let mut start = prefix.clone();
        while let Some((path, _)) = self.nodes.range(start..).next() {
            let Some(rest) = path.strip_prefix(&prefix) else {
                break;
            };
            start = match rest.find('/') {
                // `0` follows `/`, so all entries of that folder come before this.
                Some(end) => format!("{prefix}{}0", &rest[..end]),
                None => {
                    entries.push(path.clone());
                    format!("{path}\0")
                }
            };
        }
        entries
    }

    /// The content of a file; `None` if there is no file at this path.
    pub(super) fn file(&self, path: &str) -> Option<&[u8]> {
        match self.nodes.get(path)? {
            UnpackedNode::File { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// The top folder that all entries share; `None` if there is none.
    fn top(&self) -> Option<String> {
        let mut entries = self.entries_in("").into_iter();
        let top = entries.next().filter(|top| self.is_folder(top));
        top.filter(|_| entries.next().is_none())
    }

    /// The entries in a folder, and the name of the top folder that all entries share. The folder is looked up below
    /// the top folder first.
    pub(super) fn below(mut self, folder: &str) -> Option<(Self, Option<String>)> {
        let top = self.top();
        let folder = match (&top, folder) {
            (Some(top), "") => top.clone(),
            (Some(top), folder) => {
                let inside = format!("{top}/{folder}");
                if self.is_folder(&inside) {
                    inside
                } else {
                    folder.to_owned()
                }
            }
            (None, folder) => folder.to_owned(),
        };
        if folder.is_empty() {
            return Some((self, top));
        }
        if !self.is_folder(&folder) {
            return None;
        }
        let prefix = format!("{folder}/");
        let nodes = std::mem::take(&mut self.nodes).into_iter();
        let inside = nodes.filter_map(|(path, node)| {
            let path = path.strip_prefix(&prefix)?;
            Some((path.to_owned(), node))
        });
        self.nodes = inside.collect();
        self.skipped.retain_mut(|skipped| {
            let inside = skipped.path.strip_prefix(&prefix).map(str::to_owned);
            inside.is_some_and(|inside| {
                skipped.path = inside;
                true
            })
        });
        Some((self, top))
    }

    /// The files as a package, by the rules of [`read_package`](krm_package::read_package).
    pub(super) fn package(mut self) -> Result<Package, PackageError> {
        let listed = list(&self)?;
        let mut package = Package::default();
        let krm = listed.krm.into_iter().map(|path| {
            let file = listed.targets.get(&path).unwrap_or(&path).clone();
            (path, file)
        });
        let others = listed.others.into_keys();
        let others = others.map(|path| (path.clone(), path));
        let all = krm.chain(others);
        // The targets of links are cloned before they are moved into the package as files.
        let (links, files): (Vec<_>, Vec<_>) = all.partition(|(path, file)| path != file);
        for (path, file) in links.into_iter().chain(files) {
            let node = if path == file {
                self.nodes.remove(&file)
            } else {
                self.nodes.get(&file).cloned()
            };
            if let Some(UnpackedNode::File { bytes, mode }) = node {
                let file = PackageFile::read(&path, bytes, Some(mode));
                package.insert(path, file);
            }
        }
        package.ignored = listed.ignored;
        package.skipped = listed.skipped;
        package.skipped.extend(self.skipped);
        package.skipped.sort();
        Ok(package)
    }

    /// The files that a clone contains in addition to those that are read.
    pub(super) fn clone_only_files(
        mut self,
        is_read: &dyn Fn(&str) -> bool,
    ) -> Result<Package, PackageError> {
        let listed = list_clonable(&self)?;
        let mut package = Package::default();
        for path in listed.others.into_keys().filter(|path| !is_read(path)) {
            if let Some(UnpackedNode::File { bytes, mode }) = self.nodes.remove(&path) {
                let file = PackageFile::new(FileContent::Other(bytes), Some(mode));
                package.insert(path, file);
            }
        }
        package.skipped = listed.skipped;
        Ok(package)
    }

    /// The path that a path resolves to when links are followed.
    fn follow(&self, path: &str) -> Result<String, SkipReason> {
        follow(path, |place| match self.nodes.get(place) {
            Some(UnpackedNode::Link(target)) => Ok(FoundEntry::Link(target.clone())),
            Some(UnpackedNode::Skipped(reason)) => Err(*reason),
            Some(UnpackedNode::File { .. }) => Ok(FoundEntry::File),
            Some(UnpackedNode::Folder) => Ok(FoundEntry::Folder),
            None => Err(SkipReason::DanglingLink),
        })
    }
}

impl FileSource for Unpacked {
    type Entry = String;
    type Stamp = ();
    type Target = String;

    fn entries(&self, folder: &str) -> Result<Vec<String>, PackageError> {
        Ok(self.entries_in(folder))
    }

    fn name(&self, entry: &String) -> Result<String, String> {
        Ok(entry.rsplit('/').next().unwrap_or_default().to_owned())
    }

    fn kind(&self, entry: &String) -> Result<Kind, PackageError> {
        Ok(match self.nodes.get(entry) {
            None | Some(UnpackedNode::Folder) => Kind::Folder,
            Some(UnpackedNode::File { .. }) => Kind::File,
            Some(UnpackedNode::Link(_)) => Kind::Link,
            Some(UnpackedNode::Skipped(reason)) => Kind::Skipped(*reason),
        })
    }

    fn stamp(&self, _: &String) -> Result<(), PackageError> {
        Ok(())
    }

    fn has(&self, path: &str) -> bool {
        self.follow(path).is_ok()
    }

    fn krmignore(&self, path: &str) -> Result<Option<Vec<u8>>, PackageError> {
        let file = self.follow(path).ok();
        Ok(file.and_then(|file| self.file(&file).map(<[u8]>::to_vec)))
    }

    fn leads_to_folder(&self, link: &str) -> bool {
        self.follow(link)
            .is_ok_and(|target| self.is_folder(&target))
    }

    fn resolve(&self, link: &str) -> Result<ResolvedLink<String>, SkipReason> {
        let file = self.follow(link)?;
        if self.is_folder(&file) {
            return Err(SkipReason::LinkToFolder);
        }
        Ok(ResolvedLink {
            inside: Some(file.clone()),
            file,
        })
    }
}
