//! The local package on disk.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use krm_address::Surroundings;
use krm_core::kptfile::UpstreamLock;
use krm_core::resource::Resource;
use krm_merge::Leaves;
use krm_merge::member::{Member, find_packages};
use krm_merge::resources::{PairingSource, pair};
use krm_package::{
    self as package, FileChange, PackageLock, Skipped, file_name, is_krm_name, read_package,
    recover_package, write_package_whole,
};
use krm_yaml::{Document, NodeRef, OwnedDocument};

use super::failure::{Failure, Hint, Result, command};
use super::kptfile::Tracking;
use super::own_repository::OwnRepository;

/// The files of a package, by path.
pub(crate) type Contents = BTreeMap<String, Vec<u8>>;

pub(crate) const KPTFILE: &str = "Kptfile";

/// The file for remembered decisions.
pub(crate) const RULES: &str = ".krmv.yaml";

/// The resources of a file, each with the number of its document.
pub(crate) fn resources(
    document: Document<'_>,
) -> impl Iterator<Item = (usize, NodeRef<'_>, Resource)> {
    let roots = (0..document.len()).filter_map(move |at| Some((at, document.root(at)?)));
    let read = roots.map(|(at, root)| (at, root, Resource::read(root)));
    read.filter(|(_, _, resource)| !resource.kind.is_empty() && !resource.api_version.is_empty())
}

/// A resource: its file, and its position among the file's documents.
pub(crate) type ResourcePlace = (String, usize);

/// The resources of a package, as a merge pairs them.
#[derive(Default)]
pub(crate) struct PackageResources {
    pub(crate) places: Vec<ResourcePlace>,
    members: Vec<Member>,
    documents: Vec<Rc<OwnedDocument>>,
    /// Cached: a history is compared state by state.
    leaves: Vec<OnceCell<Leaves>>,
}

impl PackageResources {
    /// The resources of parsed files.
    pub(crate) fn of<'f>(files: impl Iterator<Item = (&'f str, Rc<OwnedDocument>)>) -> Self {
        let mut all = Self::default();
        for (path, document) in files {
            for (at, root, resource) in resources(document.document()) {
                let mut member = Member::of(&resource, Some(path.to_owned()));
                member.declare(&resource, root);
                all.places.push((path.to_owned(), at));
                all.members.push(member);
                all.documents.push(Rc::clone(&document));
                all.leaves.push(OnceCell::new());
            }
        }
        find_packages(&mut all.members);
        all
    }

    /// The pairs of these resources with those of a newer version of the package.
    pub(crate) fn pairs(&self, newer: &Self) -> Vec<(usize, usize)> {
        pair(&self.source(), &newer.source())
    }

    fn source(&self) -> PairingSource<'_> {
        PairingSource::new(&self.members, |at| {
            let read = || {
                let root = self.documents[at].document().root(self.places[at].1);
                root.map(Leaves::of).unwrap_or_default()
            };
            self.leaves[at].get_or_init(read).clone()
        })
    }
}

/// A package directory, locked while the command runs.
pub(crate) struct LocalPackage {
    /// As the user gave it.
    pub(crate) directory: PathBuf,
    files: package::Package,
    pub(crate) contents: Contents,
    pub(crate) tracking: Tracking,
    /// The user's repository whose work tree holds the package.
    pub(crate) repository: Option<OwnRepository>,
    _lock: PackageLock,
}

impl LocalPackage {
    /// Locks and reads a package. If an earlier run was killed while it wrote, its changes are completed first.
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let package = Self::open_any(directory)?;
        if package.contents.contains_key(KPTFILE) {
            return Ok(package);
        }
        Err(no_kptfile(&package.directory))
    }

    /// Like [`LocalPackage::open`], but accepts a directory without a Kptfile.
    pub(crate) fn open_any(directory: &Path) -> Result<Self> {
        let directory = &not_a_flag(directory);
        let directory = if directory.is_file() {
            let parent = directory.parent().unwrap_or(Path::new("."));
            if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            }
        } else {
            directory
        };
        let name = directory.to_string_lossy().into_owned();
        if !directory.is_dir() {
            let message = format!("expected a package directory, but '{name}' does not exist");
            return Err(Failure::new(message).hint("krmv get SOURCE DIR"));
        }
        let lock = PackageLock::acquire(directory).map_err(|error| {
            Failure::from(error)
                .context(format_args!("cannot lock '{name}'"))
                .hint(command(["ls", "-ld", &name]))
        })?;
        let lock = lock.ok_or_else(|| {
            Failure::new(format!("another krmv works on '{name}'"))
                .hint(command(["krmv", "status", &name]))
        })?;
        recover_package(directory)?;
        let files = read_package(directory)?;
        let contents = contents_of(&files)?;
        let repository = OwnRepository::around(directory);
        let surroundings = around(directory, repository.as_ref());
        let tracking = match contents.get(KPTFILE) {
            Some(kptfile) => {
                let tracking = Tracking::read(&String::from_utf8_lossy(kptfile), &surroundings);
                tracking.map_err(|error| {
                    let kptfile = directory.join(KPTFILE);
                    let diff = command(["git", "diff", "--", &kptfile.to_string_lossy()]);
                    Failure::new(format!("'{name}': {}", error.message)).hint(diff)
                })?
            }
            None => Tracking::default(),
        };
        Ok(Self {
            directory: directory.to_path_buf(),
            files,
            contents,
            tracking,
            repository,
            _lock: lock,
        })
    }

    /// The directory as the user gave it, for messages and commands.
    pub(crate) fn name(&self) -> String {
        self.directory.to_string_lossy().into_owned()
    }

    /// The folders that its Kptfile may not name as a repository, and that a path in it is relative to.
    pub(crate) fn surroundings(&self) -> Surroundings {
        around(&self.directory, self.repository.as_ref())
    }

    /// The files that were not read.
    pub(crate) fn skipped(&self) -> &[Skipped] {
        &self.files.skipped
    }

    /// The name of its directory.
    pub(crate) fn label(&self) -> String {
        let path = std::path::absolute(&self.directory).ok();
        let name = path.as_deref().and_then(|path| path.file_name()?.to_str());
        name.unwrap_or("package").to_owned()
    }

    /// A `krmv` command for this package. The directory is left out if it is the current one.
    pub(crate) fn command(&self, words: &[&str]) -> Hint {
        let mut line = vec!["krmv".to_owned()];
        let mut words = words.iter();
        line.extend(words.next().map(|word| (*word).to_owned()));
        if self.directory != Path::new(".") {
            line.push(self.name());
        }
        line.extend(words.map(|word| (*word).to_owned()));
        command(line)
    }

    /// A command that decides the conflicts of a pattern.
    pub(crate) fn take_command(&self, side: &str, pattern: &str) -> Hint {
        let dashes = pattern.starts_with('-').then_some("--");
        let words = ["resolve", "--take", side].into_iter().chain(dashes);
        self.command(&words.chain([pattern]).collect::<Vec<_>>())
    }

    /// The text of the root Kptfile among these files.
    pub(crate) fn kptfile(contents: &Contents) -> String {
        let bytes = contents.get(KPTFILE).map(Vec::as_slice).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The name of the file, if the package is a single file: the file that is named as in upstream, otherwise the only
    /// YAML file. `None` if the package is a directory.
    pub(crate) fn only_file(&self) -> Result<Option<String>> {
        let lock = self.tracking.lock.as_ref().filter(|lock| lock.is_file);
        let Some(UpstreamLock { directory, .. }) = lock else {
            return Ok(None);
        };
        let open = self.tracking.open.as_ref();
        let opened = open.and_then(|open| open.path.as_deref());
        let name = file_name(opened.unwrap_or(directory));
        for name in [name, file_name(directory)] {
            if self.contents.contains_key(name) {
                return Ok(Some(name.to_owned()));
            }
        }
        let is_candidate = |path: &&String| {
            !path.contains('/') && *path != KPTFILE && !path.starts_with('.') && is_krm_name(path)
        };
        let mut files = self.contents.keys().filter(is_candidate);
        match (files.next(), files.next()) {
            (Some(file), None) => Ok(Some(file.clone())),
            _ => {
                let message = format!(
                    "expected the file '{name}' next to the Kptfile, as its annotation `fn.kpt.dev/upstream-file` says, found none"
                );
                Err(Failure::new(message).hint(command(["ls", &self.name()])))
            }
        }
    }

    /// The files that belong to the package: all files, or the file of a single-file package.
    pub(crate) fn own(&self, contents: &Contents) -> Result<Contents> {
        let mut own = contents.clone();
        if let Some(only) = self.only_file()? {
            own.retain(|path, _| *path == only);
        }
        Ok(own)
    }

    /// The paths of the package in its directory, for Git: the whole directory, or the files of a single-file package.
    pub(crate) fn paths(&self) -> Result<Vec<String>> {
        Ok(match self.only_file()? {
            None => vec![".".to_owned()],
            Some(file) => {
                let lock = self.tracking.lock.as_ref();
                // An open upgrade may have renamed the file.
                let old = lock.map(|lock| file_name(&lock.directory).to_owned());
                let is_renamed = self
                    .tracking
                    .open
                    .as_ref()
                    .is_some_and(|open| open.path.is_some());
                let old = old.filter(|old| is_renamed && *old != file);
                let files = [file, KPTFILE.to_owned(), RULES.to_owned()];
                files.into_iter().chain(old).collect()
            }
        })
    }

    /// The root of the work tree of the package. `None` if the current directory is in it.
    fn root_elsewhere(&self) -> Option<&OwnRepository> {
        let repository = self.repository.as_ref()?;
        let here = OwnRepository::around(Path::new("."));
        let is_here = here.is_some_and(|here| here.root() == repository.root());
        (!is_here).then_some(repository)
    }

    /// A Git command for the repository of the package.
    pub(crate) fn git_command(&self, words: &[&str]) -> Hint {
        let elsewhere = self.root_elsewhere();
        let elsewhere = elsewhere.map(|repository| repository.root().to_string_lossy());
        let at = elsewhere.iter().flat_map(|root| ["-C", root]);
        command(["git"].into_iter().chain(at).chain(words.iter().copied()))
    }

    /// A path of the package for [`LocalPackage::git_command`].
    pub(crate) fn git_path(&self, path: &str) -> String {
        let path: PathBuf = match self.root_elsewhere() {
            Some(repository) => repository.path_below_root(path),
            // A path loses its last `.`.
            None => self.directory.join(path).components().collect(),
        };
        path.to_string_lossy().into_owned()
    }

    /// A command that commits the package. If it `is_alone`, it leaves out what else is staged. An upgrade may have
    /// given a single file the name `renamed`.
    pub(crate) fn commit_command(
        &self,
        message: &str,
        renamed: Option<&str>,
        is_alone: bool,
    ) -> Result<Hint> {
        let mut paths = self.paths()?;
        let is_one = paths != ["."];
        paths.extend(renamed.filter(|_| is_one).map(str::to_owned));
        // A renamed file was removed under its old name, which Git has to know.
        let is_removed = |path: &String| renamed.is_some() && self.contents.contains_key(path);
        paths.retain(|path| is_removed(path) || self.directory.join(path).exists());
        let paths: Vec<String> = paths.iter().map(|path| self.git_path(path)).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let add = self.git_command(&[&["add"], &paths[..]].concat());
        let mut commit = vec!["commit", "-m", message];
        if is_alone {
            commit.push("--");
            commit.extend(paths);
        }
        Ok(add.then(&self.git_command(&commit)))
    }

    /// The changes that turn the package on disk into these files.
    pub(crate) fn changes(&self, new: &Contents, modes: &HashMap<String, u32>) -> Vec<FileChange> {
        let write = |(path, bytes): (&String, &Vec<u8>)| FileChange::Write {
            path: path.clone(),
            bytes: bytes.clone(),
            mode: modes.get(path).copied(),
        };
        let written = new.iter().filter(|(path, bytes)| {
            let old = self.files.mode(path).filter(|_| modes.contains_key(*path));
            let mode = old.and_then(|old| write((path, &Vec::new())).new_mode(old));
            mode.is_some() || self.contents.get(*path) != Some(bytes)
        });
        let written = written.map(write);
        let deleted = self.contents.keys().filter(|path| !new.contains_key(*path));
        written.chain(deleted.map(FileChange::delete)).collect()
    }

    /// Writes the changes. If the program is killed meanwhile, the next run completes them.
    pub(crate) fn write(&self, changes: &[FileChange]) -> Result<()> {
        write_package_whole(&self.files, changes)
            .map_err(|error| Failure::from(error).hint(command(["ls", "-la", &self.name()])))
    }
}

/// The surroundings of a package directory, which may not exist yet.
pub(crate) fn around(directory: &Path, repository: Option<&OwnRepository>) -> Surroundings {
    Surroundings::of(directory, repository.map(OwnRepository::root))
}

/// A path that no command takes for a flag.
pub(crate) fn not_a_flag(path: &Path) -> PathBuf {
    let is_like_flag = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    let folder = if is_like_flag { "." } else { "" };
    Path::new(folder).join(path)
}

/// All files of a package in memory.
pub(crate) fn contents_of(files: &package::Package) -> Result<Contents> {
    let mut contents = Contents::new();
    for (path, _) in files.files() {
        contents.insert(path.to_owned(), files.read(path)?.into_owned());
    }
    Ok(contents)
}

fn no_kptfile(directory: &Path) -> Failure {
    let name = directory.to_string_lossy().into_owned();
    let mut above = directory.to_path_buf();
    // The most likely mistake is to name a folder inside a package.
    for depth in 1..=8 {
        above.push("..");
        if above.join(KPTFILE).is_file() {
            let path = if directory == Path::new(".") {
                vec![".."; depth].join("/")
            } else {
                above.to_string_lossy().into_owned()
            };
            let message = format!("'{name}' has no Kptfile; it is part of the package '{path}'");
            return Failure::new(message).hint(command(["krmv", "status", &path]));
        }
    }
    let mut below = Vec::new();
    // A folder that cannot be read has no packages to name.
    let _ = collect_packages(directory, 0, &mut below);
    if !below.is_empty() {
        return packages_below(directory, &below);
    }
    let adopt = command(["krmv", "get", "--adopt", "SOURCE", &name]);
    let message = format!(
        "'{name}' is not a package. If this is a copy of upstream's files, `{adopt}` finds the release that it was \
         copied from."
    );
    Failure::new(message).hint("krmv help get")
}

/// The depth to which directories are searched for packages.
const DEEPEST: usize = 16;

/// Collects the directories with a Kptfile, parents before children.
pub(crate) fn collect_packages(
    directory: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> Result<()> {
    if directory.join(KPTFILE).is_file() {
        found.push(directory.to_path_buf());
    }
    let entries = std::fs::read_dir(directory).map_err(|error| {
        let shown = directory.to_string_lossy();
        // `DIR@REV` is for `krmv upgrade` and `krmv review`.
        let named = shown.rsplit_once('@').map(|(named, _)| named);
        let named = named.filter(|named| Path::new(named).is_dir());
        Failure::from(error)
            .context(format_args!("cannot read '{shown}'"))
            .hint(command(["krmv", "status", named.unwrap_or(".")]))
    })?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let is_folder = entry.file_type().ok()?.is_dir();
            (is_folder && !is_hidden).then(|| entry.path())
        })
        .collect();
    folders.sort();
    if depth < DEEPEST {
        for folder in folders {
            let folder = folder
                .strip_prefix("./")
                .map(Path::to_path_buf)
                .unwrap_or(folder);
            collect_packages(&folder, depth + 1, found)?;
        }
    }
    Ok(())
}

/// The failure for a folder of packages: it names them, and the commands for several.
fn packages_below(directory: &Path, below: &[PathBuf]) -> Failure {
    let name = directory.to_string_lossy();
    let named: Vec<_> = below
        .iter()
        .take(2)
        .map(|one| one.to_string_lossy())
        .collect();
    let more = match below.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "'{name}' is not a package. Packages below it: {}{more}.",
        named.join(", ")
    );
    let here = (directory != Path::new(".")).then_some(&*name);
    let for_all = |words: &[&'static str]| command(words.iter().copied().chain(here));
    Failure::new(message)
        .hint(for_all(&["krmv", "status"]))
        .hint(for_all(&["krmv", "upgrade", "--all"]))
}
