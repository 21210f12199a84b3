//! The files of a configuration package: which files belong to it, what they contain, and how changes reach the disk.
//!
//! A [`Package`] is paths to bytes and permission bits, whether they come from a directory, a revision of a repository,
//! an archive, or from memory. [`read_package`] reads every KRM file of a directory, and [`write_package`] applies a
//! list of changes: it first checks everything, then writes all new contents next to their files, then renames them
//! into place.
//!
//! ```text
//! web/Kptfile               belongs to the package
//! web/app.yaml              belongs to it
//! web/.krmignore            says which files do not
//! web/logs/today.yaml       does not, if .krmignore has `logs/`
//! web/db/Kptfile            a subpackage; its files belong to both
//! web/etc.yaml -> /etc/x    is skipped, with a warning: the link leads out of the package
//! ```
//!
//! Paths inside a package are UTF-8 text relative to the package's root with `/` between components, as kpt writes them
//! in `config.kubernetes.io/path`. Paths from data (annotations of items, fields of a config) pass
//! [`check_package_path`] first:
//!
//! ```
//! use krm_package::check_package_path;
//!
//! assert!(check_package_path("apps/deployment.yaml").is_ok());
//! assert!(check_package_path("apps/../../etc/passwd").is_err());
//! assert!(check_package_path("web/.GIT/config").is_err());
//! ```
//!
//! # Invariants
//!
//! - No path from data leads out of the package, into a `.git`, or through a link.
//! - A file that changed on disk after it was read is not overwritten.
//! - A reader sees a file before or after a write, never a part of it. The next run completes the write of a killed
//!   one.
//! - The listing is the same for a directory, a revision and an archive with the same files.
//!
//! # Limitations
//!
//! - It knows no YAML, except by the names of files. krm-core makes resources of them.
//! - It works on Unix: links, permission bits and renames have the meaning that they have there.
//! - Permission bits are kept, owners and times are not. Links to folders, devices, submodules and Git LFS pointers are
//!   skipped.
//! - Files are read into memory. A package is text and small binaries, and not a place for images.
//! - A lock ([`PackageLock`]) keeps other runs of these programs away, and no other program.

mod beneath;
mod delete;
mod file;
mod files;
mod ignored;
mod incoming;
mod journal;
mod krmignore;
mod listing;
mod lock;
mod path;
mod read;
mod temporary;
mod write;

pub mod escaped;
pub mod parallel;
pub mod test_switches;
pub mod text;

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub use delete::delete_package;
pub use delete::remove_empty_folders;
pub use files::FileContent;
pub use files::{Package, PackageFile};
pub use ignored::Ignored;
pub use incoming::RefusedPath;
pub use incoming::RunBy;
pub use incoming::{Incoming, is_setting};
pub use journal::recover_package;
pub use listing::FileSource;
pub use listing::FoundEntry;
pub use listing::Kind;
pub use listing::Listed;
pub use listing::ResolvedLink;
pub use listing::follow;
pub use listing::list;
pub use listing::list_clonable;
pub use lock::PackageLock;
pub use read::read_only_file;
pub use temporary::{is_left_by_killed_run, is_temporary, is_vacant};

pub use file::is_krm_name;
pub use listing::{SkipReason, Skipped};
pub use path::check_folders;
pub use path::check_path_of_package;
pub use path::folders_above;
pub use path::is_git;
pub use path::join;
pub use path::{PathError, check_package_path, normalize_package_path};
pub use read::read_package;
pub use write::{FileChange, write_package, write_package_whole};

use crate::escaped::printable;

/// A hint for a user who named one file instead of a package directory.
fn directory_of(path: &Path) -> String {
    match path.parent().filter(|_| path.is_file()) {
        Some(parent) if !parent.as_os_str().is_empty() => {
            format!(
                "; the file is in '{}'",
                printable(&parent.to_string_lossy())
            )
        }
        Some(_) => "; the file is in '.'".to_owned(),
        None => String::new(),
    }
}

/// Why a package could not be read or written. Nothing was written, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The package directory does not exist.
    #[error("package directory '{}' does not exist", printable(&path.to_string_lossy()))]
    Missing {
        /// The directory as given.
        path: PathBuf,
    },
    /// The package is a file or something else that is not a directory.
    #[error("expected a package directory, but '{}' is not a directory{}", printable(&path.to_string_lossy()), directory_of(path))]
    NotADirectory {
        /// The path as given.
        path: PathBuf,
    },
    /// The operating system refused an operation. If it refused while files were renamed into place or deleted (see
    /// `action`), earlier files have already changed; each file has either its old or its new content.
    #[error("cannot {action} '{}': {source}", printable(&path.to_string_lossy()))]
    Io {
        /// The attempted operation, such as `read`.
        action: &'static str,
        /// The file or folder on disk.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file that must be read is a FIFO, a socket or a device, or is no longer a regular file.
    #[error("'{}' is not a regular file", printable(path))]
    NotRegular {
        /// The file, relative to the package.
        path: String,
    },
    /// The path of a change is not a valid path inside a package.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A change would go through a link.
    #[error(
        "path '{}' leads through the symbolic link '{}'",
        printable(path),
        printable(link)
    )]
    ThroughLink {
        /// The path of the change.
        path: String,
        /// The component of the path that is a link, relative to the package or the fleet.
        link: String,
    },
    /// A package to be deleted contains a Git repository.
    #[error(
        "'{}' is a Git repository or a work tree; expected a package without a '.git'",
        printable(path)
    )]
    HoldsGit {
        /// The folder that contains the `.git`.
        path: String,
    },
    /// A change needs a folder where something else exists.
    #[error(
        "path '{}' needs a folder '{}', but that is a file",
        printable(path),
        printable(parent)
    )]
    ParentIsFile {
        /// The path of the change.
        path: String,
        /// The path that is not a folder.
        parent: String,
    },
    /// A file changed on disk after it was read.
    #[error(
        "'{}' changed on disk after it was read; nothing was written",
        printable(path)
    )]
    Changed {
        /// The file, relative to the package.
        path: String,
    },
    /// A file changed on disk after it was read. This was found after other files had been written.
    #[error(
        "'{}' changed on disk after it was read, and was left unchanged; {written} other \
         files had been written by then: run again for the rest",
        printable(path)
    )]
    ChangedMeanwhile {
        /// The file, relative to the package.
        path: String,
        /// How many changes had been made by then.
        written: usize,
    },
    /// A new file already exists, though it was not read (because `.krmignore` excludes it, or because it was just
    /// created).
    #[error(
        "expected no file at '{}', but there is one that was not read as part of the package",
        printable(path)
    )]
    Exists {
        /// The file, relative to the package.
        path: String,
    },
    /// A file to be deleted was not read as part of the package.
    #[error(
        "expected '{}' to be a file of the package, but it was not read as one",
        printable(path)
    )]
    NotInPackage {
        /// The file, relative to the package.
        path: String,
    },
    /// There are two changes for the same file.
    #[error("two changes for the file '{}'", printable(path))]
    Duplicate {
        /// The file, relative to the package.
        path: String,
    },
}

impl PackageError {
    /// For `map_err`: the operating system refused the operation `action` on `path`.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| PackageError::Io {
            action,
            path,
            source,
        }
    }
}

/// The last part of a path of a package.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a file describes the package around it. Merging such a file as a package of one file would remove the
/// other files.
pub fn is_package_file(name: &str) -> bool {
    name == "Kptfile" || is_kustomization(name)
}

/// Whether this is the path or name of a file that kustomize takes for a kustomization, whatever its content says.
pub fn is_kustomization(path: &str) -> bool {
    ["kustomization.yaml", "kustomization.yml", "Kustomization"].contains(&file_name(path))
}

/// The most bytes that one file of a repository or an archive may have.
pub const LARGEST_FILE: u64 = 128 << 20;
/// The most bytes that all files of a package in a repository or an archive may have together.
pub const LARGEST_PACKAGE: u64 = 512 << 20;

/// The permission bits of a file that is not executable.
pub const USUAL_MODE: u32 = 0o644;

/// Whether `porchctl rpkg pull` stores the name and version of the package's object in the cluster in this file, for
/// `porchctl rpkg push`. The file belongs to that copy of the package only.
pub fn is_revision_metadata(path: &str) -> bool {
    file_name(path) == ".KptRevisionMetadata"
}

fn mode_of(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

#[cfg(test)]
mod testing {
    //! Shared helpers of the tests for reading and writing.

    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// A ConfigMap, so that kpt takes the file for KRM.
    pub(crate) const CONFIG_MAP: &str =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: example\n";

    /// Creates a package directory with these files.
    pub(crate) fn package(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            put(dir.path(), path, text);
        }
        dir
    }

    pub(crate) fn put(dir: &Path, path: &str, text: impl AsRef<[u8]>) {
        let file = dir.join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        fs::write(file, text).expect("a file");
    }

    pub(crate) fn get(dir: &Path, path: &str) -> String {
        fs::read_to_string(dir.join(path)).expect("a file")
    }

    pub(crate) fn link(dir: &Path, target: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(target, dir.join(path)).expect("a link");
    }

    /// The path of a program on PATH. Tests that compare with another program pass if it is missing.
    pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
        std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())
    }

    /// Creates a FIFO; false if there is no `mkfifo`.
    pub(crate) fn fifo(file: &Path) -> bool {
        Command::new("mkfifo")
            .arg(file)
            .status()
            .is_ok_and(|status| status.success())
    }
}
