//! Reading a package directory: which files belong to it, and what is in them.
//!
//! # `.krmignore`, as kpt has it
//!
//! Seen with kpt 1.0.0-beta.56 (`kpt fn source DIR`; kyaml 0.15 with monochromegane/go-gitignore), and the tests
//! run beside kpt where it is on PATH. The patterns look like those of git and mean something else in places,
//! which is why no gitignore library is used here:
//!
//! - The file counts in the package's root and in the root of each sub-package (a folder with a `Kptfile`, be that file
//!   itself ignored). In any other folder it means nothing.
//! - It governs its own package only: patterns of a package say nothing about what lies in its sub-packages, whether
//!   these have a `.krmignore` or not (`a.yaml` does not ignore `pkg/a.yaml`, and neither does `pkg/a.yaml` or `pkg/*`).
//! - But a pattern that matches the folder of a sub-package, or a folder around it, ignores it with everything in it
//!   (kyaml's own comment says the contrary).
//! - A pattern without leading `/` matches at the end of a path, also if it has a `/` inside: `sub/a.yaml` ignores
//!   `dir/sub/a.yaml`; in git it would be anchored. With a leading `/` it matches the whole path.
//! - `**` is `*`: one component, never none and never several.
//! - A negated pattern wins wherever it stands (`!a.yaml` before `*.yaml` as well as behind), but not for what is in an
//!   ignored folder.
//! - A pattern that ends in `/` matches folders only. A folder that matches is not entered.
//! - Spaces at both ends are cut off, also those behind a backslash; lines that begin with `#` are comments, `\#` is `#`;
//!   CRLF is understood. `\` escapes only in patterns that have one of `*?[`; `[^a]` negates and `[!a]` does not;
//!   a malformed pattern matches nothing. Upper and lower case differ.
//! - `Kptfile` can be ignored. The `.krmignore` is read through a link, wherever that leads; a dangling one is as none.
//!
//! Where we differ: lines `!` and `/` make kpt panic and match nothing here. An anchored pattern that ends in a negated class
//! (`/?[^a]`) matches all below a folder `b` in kpt, since there the class takes the slash behind it. The `.krmignore` of a
//! sub-package `pkg` governs siblings `pkg2` and `pkg-x` too in kpt, which compares paths without regard to
//! components; here it does not. A `.krmignore` that is a FIFO or a device hangs kpt and is an error here.
//!
//! Else kpt reads `.git` folders, every `*.yaml` link wherever it leads, and fails on dangling ones and on links to folders;
//! the rules of [`read_package`] are ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use self::krmignore::Krmignore;
use super::{PackageError, TEMPORARY_PREFIX, TEMPORARY_SUFFIX, is_git, mode_of};

/// A package directory as it was read. [`write_package`](super::write_package) needs it to see whether a file changed since.
#[derive(Debug, Clone, Default)]
pub struct PackageFiles {
    /// The directory, as it was given.
    pub root: PathBuf,
    /// The KRM-named files, sorted by path, bytewise.
    pub files: Vec<PackageFile>,
    /// The paths of all other regular files, sorted; their contents are not read ([`PackageFiles::read_other`] does).
    pub others: Vec<String>,
    /// What `.krmignore` keeps out, sorted. A folder ends in `/` and stands for everything in it.
    pub ignored: Vec<String>,
    /// What was not read, and not because of `.krmignore`; sorted.
    pub skipped: Vec<Skipped>,
    /// How `others` looked when they were listed.
    pub(super) other_stamps: BTreeMap<String, Stamp>,
}

/// A KRM-named file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFile {
    /// Relative to the package, with `/` between components.
    pub path: String,
    /// What was read.
    pub content: FileContent,
}

/// What is remembered of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// Everything in the file, a byte order mark and CRs included.
    pub text: String,
    /// The permission bits.
    pub mode: u32,
    /// If the path is a link to a file that is not listed itself: that file (canonical). It is the one that gets edited.
    pub target: Option<PathBuf>,
}

/// Something in the package directory that was not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Relative to the package; a name that is not UTF-8 has replacement characters.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// Why something was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// A link, named like a KRM file, to a file outside of the package.
    LinkOutOfPackage,
    /// A link, named like a KRM file, to something that is not there (or to itself).
    DanglingLink,
    /// A link to a folder, wherever that is.
    LinkToFolder,
    /// A link, named like a KRM file, into a `.git` folder.
    LinkIntoGit,
    /// A link to a file, not named like a KRM file. Matters only to those who copy or merge files that are not KRM.
    OtherLink,
    /// A FIFO, a socket, a device, or a link (named like a KRM file) to one. They are never opened.
    NotRegular,
    /// A file or folder whose name is not UTF-8.
    NameNotUtf8,
}

impl SkipReason {
    /// Should every function warn of it? Not of links which no function would read as KRM.
    pub fn is_warning(self) -> bool {
        self != SkipReason::OtherLink
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SkipReason::LinkOutOfPackage => "link to a file outside of the package",
            SkipReason::DanglingLink => "link to a file that does not exist",
            SkipReason::LinkToFolder => "link to a folder; these are not followed",
            SkipReason::LinkIntoGit => "link into a .git folder",
            SkipReason::OtherLink => "link",
            SkipReason::NotRegular => "not a regular file (a FIFO, socket or device)",
            SkipReason::NameNotUtf8 => "its name is not valid UTF-8",
        })
    }
}

/// How a file looked that was listed and not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    mode: u32,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Stamp {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            mode: mode_of(metadata),
        }
    }
}

impl PackageFiles {
    /// A package without files, in a directory that need not exist yet.
    pub fn empty(root: impl Into<PathBuf>) -> Self {
        PackageFiles {
            root: root.into(),
            ..PackageFiles::default()
        }
    }

    /// The same package as far as its files that are not named like KRM go.
    pub(crate) fn without_krm(&self) -> Self {
        PackageFiles {
            root: self.root.clone(),
            others: self.others.clone(),
            other_stamps: self.other_stamps.clone(),
            ..PackageFiles::default()
        }
    }

    /// The KRM-named file of this path.
    pub fn get(&self, path: &str) -> Option<&PackageFile> {
        let found = self
            .files
            .binary_search_by(|file| file.path.as_bytes().cmp(path.as_bytes()));
        found.ok().map(|index| &self.files[index])
    }

    /// The permission bits of one of the [`others`](PackageFiles::others).
    #[must_use]
    pub fn mode_of_other(&self, path: &str) -> Option<u32> {
        self.other_stamps.get(path).map(|stamp| stamp.mode)
    }

    /// The bytes of one of the [`others`](PackageFiles::others).
    ///
    /// # Errors
    /// Not one of them, changed since it was listed, or unreadable.
    pub fn read_other(&self, path: &str) -> Result<Vec<u8>, PackageError> {
        let Some(stamp) = self.other_stamps.get(path) else {
            return Err(PackageError::NotInPackage { path: path.into() });
        };
        let file = self.root.join(path);
        let metadata =
            fs::symlink_metadata(&file).map_err(PackageError::io("read", file.as_path()))?;
        if !metadata.is_file() || Stamp::of(&metadata) != *stamp {
            return Err(PackageError::Changed { path: path.into() });
        }
        Ok(read_regular(&file, path)?.0)
    }
}

/// Is this the name (the last component) of a file that is read as KRM: `*.yaml`, `*.yml`, `*.json` or `Kptfile`?
pub fn is_krm_name(name: &str) -> bool {
    name == "Kptfile"
        || [".yaml", ".yml", ".json"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Reads all regular files `*.yaml`, `*.yml`, `*.json` and `Kptfile` (exact, as kpt has it: not `*.YAML`) of a directory,
/// those of sub-packages and hidden folders included, and lists the others.
///
/// `.krmignore` is honoured (see the top of this file). `.git`, file or folder, is left out without a word.
///
/// A link that is named like a KRM file is read if it leads to a regular file inside the package. If that one is listed by
/// itself, or read through another link before, the link adds nothing. Links to folders are not followed.
///
/// ```text
/// Kptfile                  read
/// db/statefulset.yaml      read
/// db.yaml -> db/statefulset.yaml    nothing: read already
/// shared.yaml -> shared.txt         read as `shared.yaml`; edits go to shared.txt
/// base.yaml -> ../base.yaml         skipped, with a warning
/// README.md                listed in `others`
/// ```
///
/// # Errors
/// The directory is missing, none or unreadable; a folder or KRM-named file in it cannot be read; one is not UTF-8.
pub fn read_package(dir: &Path) -> Result<PackageFiles, PackageError> {
    let canonical_root = match fs::canonicalize(dir) {
        Ok(root) => root,
        Err(error) => {
            let path = dir.to_path_buf();
            return Err(match error.kind() {
                ErrorKind::NotFound => PackageError::Missing { path },
                ErrorKind::NotADirectory => PackageError::NotADirectory { path },
                _ => PackageError::io("read", path)(error),
            });
        }
    };
    if !canonical_root.is_dir() {
        return Err(PackageError::NotADirectory {
            path: dir.to_path_buf(),
        });
    }
    let mut listing = Listing::default();
    listing.walk(dir)?;
    let Listing {
        mut krm,
        mut others,
        links,
        mut ignored,
        mut skipped,
    } = listing;

    // Links come after everything else is listed, in order of their paths, so that which one of several wins is fixed.
    let mut targets = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for link in links {
        match resolve(&dir.join(&link), &canonical_root) {
            Err(reason) => skipped.push(Skipped { path: link, reason }),
            Ok(target) => {
                let inside = target.strip_prefix(&canonical_root).ok().and_then(slashed);
                if inside.as_ref().is_some_and(|path| krm.contains(path))
                    || !seen.insert(target.clone())
                {
                    continue;
                }
                if let Some(path) = inside {
                    others.remove(&path);
                }
                targets.insert(link, target);
            }
        }
    }
    krm.extend(targets.keys().cloned());

    let mut files = Vec::with_capacity(krm.len());
    for path in krm {
        let target = targets.remove(&path);
        let file = target.clone().unwrap_or_else(|| dir.join(&path));
        let (bytes, metadata) = read_regular(&file, &path)?;
        let text = String::from_utf8(bytes).map_err(|error| PackageError::NotUtf8 {
            path: path.clone(),
            offset: error.utf8_error().valid_up_to(),
        })?;
        let content = FileContent {
            text,
            mode: mode_of(&metadata),
            target,
        };
        files.push(PackageFile { path, content });
    }
    ignored.sort();
    skipped.sort();
    Ok(PackageFiles {
        root: dir.to_path_buf(),
        files,
        others: others.keys().cloned().collect(),
        ignored,
        skipped,
        other_stamps: others,
    })
}

/// Reads a file after making sure that it is a regular one: opening a FIFO would wait for a writer.
pub(super) fn read_regular(file: &Path, path: &str) -> Result<(Vec<u8>, Metadata), PackageError> {
    let not_regular = || PackageError::NotRegular { path: path.into() };
    if !fs::metadata(file)
        .map_err(PackageError::io("read", file))?
        .is_file()
    {
        return Err(not_regular());
    }
    let mut open = File::open(file).map_err(PackageError::io("read", file))?;
    let metadata = open.metadata().map_err(PackageError::io("read", file))?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    open.read_to_end(&mut bytes)
        .map_err(PackageError::io("read", file))?;
    Ok((bytes, metadata))
}

/// Where a link that is named like a KRM file leads, if it may be read.
fn resolve(link: &Path, canonical_root: &Path) -> Result<PathBuf, SkipReason> {
    // Links in a circle and links through files lead nowhere either.
    let target = fs::canonicalize(link).map_err(|_| SkipReason::DanglingLink)?;
    let metadata = fs::metadata(&target).map_err(|_| SkipReason::DanglingLink)?;
    if metadata.is_dir() {
        return Err(SkipReason::LinkToFolder);
    }
    let inside = target
        .strip_prefix(canonical_root)
        .map_err(|_| SkipReason::LinkOutOfPackage)?;
    if inside
        .iter()
        .any(|component| component.to_str().is_some_and(is_git))
    {
        return Err(SkipReason::LinkIntoGit);
    }
    if !metadata.is_file() {
        return Err(SkipReason::NotRegular);
    }
    Ok(target)
}

/// A relative path with `/` between components; none if it is not UTF-8.
fn slashed(path: &Path) -> Option<String> {
    path.iter()
        .map(|component| component.to_str())
        .collect::<Option<Vec<_>>>()
        .map(|all| all.join("/"))
}

/// What a walk through the directory finds; nothing is read but `.krmignore` files.
#[derive(Default)]
struct Listing {
    krm: BTreeSet<String>,
    others: BTreeMap<String, Stamp>,
    /// Links that are named like KRM files.
    links: BTreeSet<String>,
    ignored: Vec<String>,
    skipped: Vec<Skipped>,
}

impl Listing {
    /// Not recursive: folders may be nested as deep as the file system allows.
    fn walk(&mut self, dir: &Path) -> Result<(), PackageError> {
        let rules = Krmignore::read(dir, String::new())?;
        let mut pending = vec![(String::new(), Rc::new(rules))];
        while let Some((folder, rules)) = pending.pop() {
            let on_disk = dir.join(&folder);
            let entries =
                fs::read_dir(&on_disk).map_err(PackageError::io("read", on_disk.as_path()))?;
            for entry in entries {
                let entry = entry.map_err(PackageError::io("read", on_disk.as_path()))?;
                let name = entry.file_name();
                let Some(name) = name.to_str() else {
                    let path = below(&folder, &name.to_string_lossy());
                    self.skipped.push(Skipped {
                        path,
                        reason: SkipReason::NameNotUtf8,
                    });
                    continue;
                };
                if is_git(name)
                    || (name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX))
                {
                    continue;
                }
                let path = below(&folder, name);
                let metadata = entry
                    .metadata()
                    .map_err(PackageError::io("read", entry.path()))?;
                if rules.ignores(&path, metadata.is_dir()) {
                    self.ignored
                        .push(if metadata.is_dir() { path + "/" } else { path });
                } else if metadata.is_dir() {
                    // Anything of that name makes a sub-package in kpt, even a folder.
                    let rules = if entry.path().join("Kptfile").exists() {
                        Rc::new(Krmignore::read(dir, path.clone())?)
                    } else {
                        Rc::clone(&rules)
                    };
                    pending.push((path, rules));
                } else {
                    self.add_file(path, name, &entry.path(), &metadata);
                }
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: String, name: &str, on_disk: &Path, metadata: &Metadata) {
        if metadata.is_symlink() {
            if is_krm_name(name) {
                self.links.insert(path);
            } else {
                let to_folder = fs::metadata(on_disk).is_ok_and(|target| target.is_dir());
                let reason = if to_folder {
                    SkipReason::LinkToFolder
                } else {
                    SkipReason::OtherLink
                };
                self.skipped.push(Skipped { path, reason });
            }
        } else if !metadata.is_file() {
            self.skipped.push(Skipped {
                path,
                reason: SkipReason::NotRegular,
            });
        } else if is_krm_name(name) {
            self.krm.insert(path);
        } else {
            self.others.insert(path, Stamp::of(metadata));
        }
    }
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.into()
    } else {
        format!("{folder}/{name}")
    }
}

mod krmignore {
    //! The patterns of `.krmignore`, with the meaning that go-gitignore gives them.

    use std::fs;
    use std::io::ErrorKind;
    use std::path::Path;

    use super::{PackageError, below, read_regular};

    /// The `.krmignore` of one package.
    pub(super) struct Krmignore {
        /// The package's folder, relative to the root package; empty for that one.
        folder: String,
        ignore: Vec<Pattern>,
        keep: Vec<Pattern>,
    }

    impl Krmignore {
        pub(super) fn read(root: &Path, folder: String) -> Result<Self, PackageError> {
            let path = below(&folder, ".krmignore");
            let file = root.join(&path);
            let text = match fs::metadata(&file) {
                Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
                Err(error) => return Err(PackageError::io("read", file)(error)),
                // A folder of that name is just a folder.
                Ok(metadata) if metadata.is_dir() => String::new(),
                // Patterns with other bytes cannot match names that are UTF-8.
                Ok(_) => String::from_utf8_lossy(&read_regular(&file, &path)?.0).into_owned(),
            };
            Ok(Krmignore::parse(folder, &text))
        }

        pub(super) fn parse(folder: String, text: &str) -> Self {
            let mut rules = Krmignore {
                folder,
                ignore: Vec::new(),
                keep: Vec::new(),
            };
            for line in text.lines() {
                let line = line.trim_matches(' ');
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                let line = if line.starts_with("\\#") {
                    &line[1..]
                } else {
                    line
                };
                match line.strip_prefix('!') {
                    Some(line) => rules.keep.extend(Pattern::parse(line)),
                    None => rules.ignore.extend(Pattern::parse(line)),
                }
            }
            rules
        }

        /// Is a file or folder of this package (not of a sub-package) ignored? The path is relative to the root package.
        pub(super) fn ignores(&self, path: &str, is_folder: bool) -> bool {
            let path = if self.folder.is_empty() {
                path
            } else {
                &path[self.folder.len() + 1..]
            };
            let matches =
                |patterns: &[Pattern]| patterns.iter().any(|p| p.matches(path, is_folder));
            matches(&self.ignore) && !matches(&self.keep)
        }
    }

    struct Pattern {
        anchored: bool,
        folders_only: bool,
        /// How many components it has, and a path (or its end) must have.
        components: usize,
        text: Text,
    }

    enum Text {
        /// No `*`, `?` or `[`; a backslash is just one.
        Plain(String),
        Glob(Vec<Token>),
    }

    enum Token {
        Character(char),
        /// `?`: not `/`.
        Any,
        /// `*`: any number of characters that are not `/`.
        Many,
        /// `[a-z]`
        Class {
            negated: bool,
            ranges: Vec<(char, char)>,
        },
    }

    impl Pattern {
        /// None if it can match nothing.
        fn parse(line: &str) -> Option<Self> {
            let text = line.trim_matches('/');
            if text.is_empty() {
                return None;
            }
            Some(Pattern {
                anchored: line.starts_with('/'),
                folders_only: line.ends_with('/'),
                components: text.matches('/').count() + 1,
                text: if text.contains(['*', '?', '[']) {
                    Text::Glob(parse_glob(text)?)
                } else {
                    Text::Plain(text.into())
                },
            })
        }

        fn matches(&self, path: &str, is_folder: bool) -> bool {
            if self.folders_only && !is_folder {
                return false;
            }
            let depth = path.matches('/').count() + 1;
            if depth < self.components || (self.anchored && depth > self.components) {
                return false;
            }
            let end = match path.rmatch_indices('/').nth(self.components - 1) {
                Some((slash, _)) => &path[slash + 1..],
                None => path,
            };
            match &self.text {
                Text::Plain(text) => text == end,
                Text::Glob(tokens) => glob_matches(tokens, &end.chars().collect::<Vec<_>>()),
            }
        }
    }

    /// The syntax of Go's `filepath.Match`; none if malformed.
    fn parse_glob(text: &str) -> Option<Vec<Token>> {
        let mut characters = text.chars().peekable();
        let mut tokens = Vec::new();
        while let Some(character) = characters.next() {
            tokens.push(match character {
                '*' => Token::Many,
                '?' => Token::Any,
                '\\' => Token::Character(characters.next()?),
                '[' => {
                    let negated = characters.next_if_eq(&'^').is_some();
                    let mut ranges = Vec::new();
                    while ranges.is_empty() || characters.next_if_eq(&']').is_none() {
                        let low = class_character(&mut characters)?;
                        let high = match characters.next_if_eq(&'-') {
                            Some(_) => class_character(&mut characters)?,
                            None => low,
                        };
                        ranges.push((low, high));
                    }
                    Token::Class { negated, ranges }
                }
                other => Token::Character(other),
            });
        }
        Some(tokens)
    }

    fn class_character(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<char> {
        match characters.next()? {
            '-' | ']' => None,
            '\\' => characters.next(),
            other => Some(other),
        }
    }

    /// Only the last `*` ever needs to take more: an earlier one could only give later ones less room.
    fn glob_matches(tokens: &[Token], text: &[char]) -> bool {
        let (mut token, mut position) = (0, 0);
        let mut last_many: Option<(usize, usize)> = None;
        loop {
            match (tokens.get(token), text.get(position)) {
                (None, None) => return true,
                (Some(Token::Many), _) => {
                    token += 1;
                    last_many = Some((token, position));
                    continue;
                }
                (Some(one), Some(&character)) if one.matches(character) => {
                    token += 1;
                    position += 1;
                    continue;
                }
                _ => {}
            }
            match last_many {
                Some((after, taken))
                    if text.get(taken).is_some_and(|&character| character != '/') =>
                {
                    last_many = Some((after, taken + 1));
                    (token, position) = (after, taken + 1);
                }
                _ => return false,
            }
        }
    }

    impl Token {
        fn matches(&self, character: char) -> bool {
            match self {
                Token::Character(own) => *own == character,
                Token::Any => character != '/',
                Token::Many => false,
                Token::Class { negated, ranges } => {
                    ranges
                        .iter()
                        .any(|&(low, high)| (low..=high).contains(&character))
                        != *negated
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::testing::{CONFIG_MAP, fifo, link, on_path, package, put};
    use super::*;

    fn read(dir: &Path) -> PackageFiles {
        read_package(dir).expect("a package")
    }

    fn paths(files: &PackageFiles) -> Vec<&str> {
        files.files.iter().map(|file| file.path.as_str()).collect()
    }

    fn skipped(files: &PackageFiles) -> Vec<(&str, SkipReason)> {
        files
            .skipped
            .iter()
            .map(|skipped| (skipped.path.as_str(), skipped.reason))
            .collect()
    }

    #[test]
    fn krm_names() {
        for name in ["a.yaml", ".yaml", "a.yml", "a.json", "Kptfile"] {
            assert!(is_krm_name(name), "{name}");
        }
        for name in [
            "a.YAML",
            "kptfile",
            "Kptfile.bak",
            "yaml",
            "a.yaml~",
            ".krm-variants-x.tmp",
        ] {
            assert!(!is_krm_name(name), "{name}");
        }
    }

    #[test]
    fn files_are_sorted_bytewise_and_others_listed() {
        let dir = package(&[
            ("b.yaml", "b\r\n"),
            ("a/z.yml", "\u{feff}z"),
            ("a.json", "{}"),
            ("a-b.yaml", ""),
            ("Kptfile", ""),
            (".hidden/x.yaml", ""),
            ("sub/Kptfile", ""),
            ("README.md", "text"),
            ("a/logo.PNG", "image"),
            (".krmignore", ""),
            (".git/x.yaml", ""),
            ("sub/.git", "gitdir: elsewhere"),
            (".krm-variants-abc.tmp", "left behind"),
        ]);
        put(dir.path(), "binary", [0xff]);
        let files = read(dir.path());
        let krm = [
            ".hidden/x.yaml",
            "Kptfile",
            "a-b.yaml",
            "a.json",
            "a/z.yml",
            "b.yaml",
            "sub/Kptfile",
        ];
        assert_eq!(paths(&files), krm);
        assert_eq!(
            files.others,
            [".krmignore", "README.md", "a/logo.PNG", "binary"]
        );
        assert_eq!(skipped(&files), []);
        assert_eq!(files.get("b.yaml").expect("a file").content.text, "b\r\n");
        assert_eq!(
            files.get("a/z.yml").expect("a file").content.text,
            "\u{feff}z"
        );
        assert_eq!(files.get("README.md"), None);
        assert_eq!(files.read_other("binary").expect("a file"), [0xff]);
        assert!(files.read_other("b.yaml").is_err());
        put(dir.path(), "binary", "changed");
        assert!(matches!(
            files.read_other("binary"),
            Err(PackageError::Changed { .. })
        ));
    }

    #[test]
    fn links_inside_are_read_once() {
        let dir = package(&[
            ("a.yaml", "a"),
            ("shared.txt", "s"),
            ("d/x.yaml", "x"),
            ("README.md", "r"),
        ]);
        link(dir.path(), "a.yaml", "alias.yaml");
        link(dir.path(), "shared.txt", "s1.yaml");
        link(dir.path(), "s1.yaml", "s2.yaml");
        link(&dir.path().join("d"), "../shared.txt", "s3.yaml");
        let files = read(dir.path());
        assert_eq!(paths(&files), ["a.yaml", "d/s3.yaml", "d/x.yaml"]);
        assert_eq!(files.others, ["README.md"]);
        assert_eq!(skipped(&files), []);
        let content = &files.get("d/s3.yaml").expect("a link").content;
        assert_eq!(content.text, "s");
        let target = fs::canonicalize(dir.path())
            .expect("a path")
            .join("shared.txt");
        assert_eq!(content.target, Some(target));
    }

    #[test]
    fn other_links_are_skipped() {
        let outside = package(&[("x.yaml", ": not yaml"), ("d/y.yaml", "")]);
        let dir = package(&[("d/x.yaml", "x"), (".git/config", "")]);
        link(dir.path(), outside.path().join("x.yaml"), "out.yaml");
        link(dir.path(), "nowhere", "dangling.yaml");
        link(dir.path(), "round.yaml", "round.yaml");
        link(dir.path(), "d", "folder");
        link(dir.path(), outside.path().join("d"), "folder.yaml");
        link(dir.path(), ".git/config", "git.yaml");
        link(dir.path(), "nowhere", "README.md");
        link(dir.path(), "/dev/null", "null.yaml");
        let files = read(dir.path());
        assert_eq!(paths(&files), ["d/x.yaml"]);
        assert_eq!(
            skipped(&files),
            [
                ("README.md", SkipReason::OtherLink),
                ("dangling.yaml", SkipReason::DanglingLink),
                ("folder", SkipReason::LinkToFolder),
                ("folder.yaml", SkipReason::LinkToFolder),
                ("git.yaml", SkipReason::LinkIntoGit),
                ("null.yaml", SkipReason::LinkOutOfPackage),
                ("out.yaml", SkipReason::LinkOutOfPackage),
                ("round.yaml", SkipReason::DanglingLink),
            ]
        );
        assert!(!files.skipped[0].reason.is_warning());
    }

    #[test]
    fn a_package_may_be_named_through_a_link() {
        let dir = package(&[("p/a.yaml", "a"), ("p/t.txt", "t")]);
        link(dir.path(), "p", "l");
        link(&dir.path().join("p"), "t.txt", "t.yaml");
        let files = read(&dir.path().join("l"));
        assert_eq!(paths(&files), ["a.yaml", "t.yaml"]);
        assert_eq!(files.root, dir.path().join("l"));
    }

    #[test]
    fn what_is_no_file_is_never_opened() {
        let dir = package(&[("a.yaml", "a")]);
        let has_fifo = fifo(&dir.path().join("f.yaml"));
        link(dir.path(), "f.yaml", "l.yaml");
        let _socket =
            std::os::unix::net::UnixListener::bind(dir.path().join("s")).expect("a socket");
        let files = read(dir.path());
        assert_eq!(paths(&files), ["a.yaml"]);
        if has_fifo {
            let reason = SkipReason::NotRegular;
            assert_eq!(
                skipped(&files),
                [("f.yaml", reason), ("l.yaml", reason), ("s", reason)]
            );
            fifo(&dir.path().join(".krmignore"));
            assert!(matches!(
                read_package(dir.path()),
                Err(PackageError::NotRegular { .. })
            ));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn names_that_are_no_utf_8_are_skipped() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let dir = package(&[("a.yaml", "a")]);
        put(&dir.path().join(OsStr::from_bytes(b"d\xff")), "x.yaml", "");
        fs::write(dir.path().join(OsStr::from_bytes(b"\xff.yaml")), "").expect("a file");
        let files = read(dir.path());
        assert_eq!(paths(&files), ["a.yaml"]);
        let reason = SkipReason::NameNotUtf8;
        assert_eq!(
            skipped(&files),
            [("d\u{fffd}", reason), ("\u{fffd}.yaml", reason)]
        );
    }

    #[test]
    fn errors_name_the_path() {
        let dir = package(&[("a/b.yaml", "")]);
        put(dir.path(), "a/b.yaml", b"abc\xffd");
        let message = |path: &str| {
            read_package(&dir.path().join(path))
                .expect_err("no package")
                .to_string()
        };
        assert_eq!(
            message(""),
            "'a/b.yaml' is not valid UTF-8: byte 3 (counted from 0) cannot be read as text"
        );
        let root = dir.path().display();
        assert_eq!(
            message("x\n"),
            format!("package directory '{root}/x\\n' does not exist")
        );
        for path in ["a/b.yaml", "a/b.yaml/c"] {
            let expected =
                format!("expected a package directory, but '{root}/{path}' is not a directory");
            assert_eq!(message(path), expected);
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for path in ["a.yaml", "d"] {
            let dir = package(&[("a.yaml", "a"), ("d/x.txt", ""), ("o.txt", "")]);
            let permissions: fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o000);
            fs::set_permissions(dir.path().join(path), permissions).expect("permissions");
            if File::open(dir.path().join(path)).is_ok() {
                return; // root may read everything
            }
            let error = read_package(dir.path())
                .expect_err("it cannot be read")
                .to_string();
            let expected = format!("cannot read '{}/{path}': ", dir.path().display());
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn ignored_paths_are_listed() {
        let dir = package(&[
            (".krmignore", "gen/\n*.md\n"),
            ("gen/a.yaml", ""),
            ("README.md", ""),
            ("sub/Kptfile", ""),
            ("sub/.krmignore", "x*"),
            ("sub/x.yaml", ""),
            ("sub/y.md", ""),
        ]);
        let files = read(dir.path());
        assert_eq!(files.ignored, ["README.md", "gen/", "sub/x.yaml"]);
        assert_eq!(files.others, [".krmignore", "sub/.krmignore", "sub/y.md"]);
    }

    /// What `kpt fn source` reads, one run each (recorded with 1.0.0-beta.56, and run again where kpt is on PATH).
    #[test]
    fn krmignore_works_as_in_kpt() {
        const ALL: &str = ".h.yaml Kptfile a.yaml b.yml dir/a.yaml dir/inner/Kptfile dir/inner/a.yaml dir/sub/a.yaml \
                           dir/x/y/a.yaml pkg/Kptfile pkg/a.yaml pkg/b.yaml pkg/dir/a.yaml";
        // Each line: the files with patterns, `;` between lines; then what is missing from ALL.
        let table: &[(&[(&str, &str)], &str)] = &[
            (&[], ""),
            (
                &[("", "a.yaml")],
                "a.yaml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
            ),
            (
                &[("", "  a.yaml \r")],
                "a.yaml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
            ),
            (&[("", "/a.yaml")], "a.yaml"),
            (&[("", "./a.yaml")], ""),
            (&[("", "A.yaml")], ""),
            (&[("", "a.yaml/")], ""),
            (&[("", "#a.yaml;a.yaml #c;a.yaml\\ ")], ""),
            (&[("", "*.yaml;!a.yaml")], ".h.yaml"),
            (&[("", "!a.yaml;*.yaml")], ".h.yaml"),
            (
                &[("", "*.yaml;!/dir/a.yaml")],
                ".h.yaml a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
            ),
            (&[("", "dir")], "dir/*"),
            (&[("", "dir/")], "dir/*"),
            (&[("", "dir;!dir/a.yaml;!a.yaml")], "dir/*"),
            (&[("", "dir;!dir")], ""),
            (&[("", "/dir/*")], "dir/*"),
            (&[("", "dir/**")], "dir/*"),
            (
                &[("", "**/a.yaml")],
                "dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
            ),
            (&[("", "/**/a.yaml")], "dir/a.yaml"),
            (&[("", "dir/**/a.yaml")], "dir/sub/a.yaml"),
            (&[("", "sub/a.yaml")], "dir/sub/a.yaml"),
            (&[("", "y/")], "dir/x/y/*"),
            (&[("", "/y")], ""),
            (&[("", "*/")], "dir/* pkg/*"),
            (
                &[("", "[^b].yaml")],
                "a.yaml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
            ),
            (&[("", "[!b].yaml;[;[a;{a,b}.yaml;a\\.yaml")], ""),
            (
                &[("", "?\\.yaml;[b-c].y*l")],
                "a.yaml b.yml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
            ),
            (&[("", "Kptfile")], "Kptfile"),
            (&[("", ".*")], ".h.yaml"),
            (&[("", "pkg")], "pkg/*"),
            (&[("", "pkg/a.yaml;pkg/*;/pkg/dir")], ""),
            (&[("dir", "a.yaml")], ""),
            (&[("pkg", "a.yaml")], "pkg/a.yaml pkg/dir/a.yaml"),
            (&[("pkg", "/a.yaml")], "pkg/a.yaml"),
            (
                &[("", "*.yaml"), ("pkg", "!a.yaml")],
                ".h.yaml a.yaml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
            ),
            (&[("", "b.y*l"), ("dir/inner", "*")], "b.yml dir/inner/*"),
        ];
        let kpt = on_path("kpt");
        for (rules, missing) in table {
            let dir = package(&[]);
            for path in ALL.split_whitespace() {
                let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n";
                put(
                    dir.path(),
                    path,
                    if path.ends_with("Kptfile") {
                        kptfile
                    } else {
                        CONFIG_MAP
                    },
                );
            }
            for (folder, patterns) in *rules {
                put(
                    dir.path(),
                    &below(folder, ".krmignore"),
                    patterns.replace(';', "\n") + "\n",
                );
            }
            let is_missing = |path: &&str| {
                missing
                    .split_whitespace()
                    .any(|one| match one.strip_suffix('*') {
                        Some(folder) => path.starts_with(folder),
                        None => *path == one,
                    })
            };
            let expected: Vec<_> = ALL
                .split_whitespace()
                .filter(|path| !is_missing(path))
                .collect();
            assert_eq!(paths(&read(dir.path())), expected, "{rules:?}");
            if let Some(kpt) = &kpt {
                assert_eq!(source(kpt, dir.path()), expected, "kpt, {rules:?}");
            }
        }
    }

    /// The paths that kpt reads.
    fn source(kpt: &Path, dir: &Path) -> Vec<String> {
        let output = Command::new(kpt)
            .args(["fn", "source"])
            .arg(dir)
            .output()
            .expect("kpt runs");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let mut paths: Vec<_> = text
            .lines()
            .filter_map(|line| {
                line.trim()
                    .strip_prefix("internal.config.kubernetes.io/path: ")
            })
            .map(|path| path.trim_matches('\'').to_owned())
            .collect();
        paths.sort();
        paths
    }

    #[test]
    fn krmignore_where_kpt_fails() {
        let dir = package(&[
            (".krmignore", "!\n/\n//\nb.yaml\n"),
            ("a.yaml", ""),
            ("b.yaml", ""),
            ("pkg/Kptfile", ""),
            ("pkg/.krmignore", "a.yaml\n"),
            ("pkg/a.yaml", ""),
            ("pkg2/a.yaml", ""),
            ("pkg2/b.yaml", ""),
        ]);
        assert_eq!(
            paths(&read(dir.path())),
            ["a.yaml", "pkg/Kptfile", "pkg2/a.yaml"]
        );
    }

    #[test]
    fn krmignore_may_be_a_link_or_a_folder() {
        let outside = package(&[("ignore", "a.yaml\n")]);
        let dir = package(&[
            ("a.yaml", ""),
            ("b.yaml", ""),
            ("p/Kptfile", ""),
            ("p/.krmignore/a.yaml", ""),
        ]);
        link(dir.path(), outside.path().join("ignore"), ".krmignore");
        assert_eq!(
            paths(&read(dir.path())),
            ["b.yaml", "p/.krmignore/a.yaml", "p/Kptfile"]
        );
        fs::remove_file(outside.path().join("ignore")).expect("removed");
        assert_eq!(paths(&read(dir.path())).len(), 4);
    }

    #[test]
    fn deep_folders_need_no_stack() {
        let dir = package(&[]);
        let path = "d/".repeat(900) + "a.yaml";
        put(dir.path(), &path, "a");
        assert_eq!(paths(&read(dir.path())), [path]);
    }
}
