//! Reads package directories, and writes changed files back.
//!
//! [`read_package`] reads every KRM file of a directory into memory, and [`write_package`] applies a list of changes
//! to it: it first checks everything, then writes all new contents next to their files, then renames them into place.
//! Other modules compute the changes in memory; only this module, `fleet` and the filter touch files.
//!
//! Paths inside a package are UTF-8 text relative to the package's root with `/` between components, as kpt writes
//! them in `config.kubernetes.io/path`. Paths from data (annotations of items, fields of a config) must pass
//! [`check_package_path`] first.

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

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use delete::{delete_package, remove_empty_folders};
pub(crate) use files::FileContent;
pub use files::{Package, PackageFile};
pub(crate) use ignored::Ignored;
pub(crate) use incoming::{Incoming, RefusedPath, RunBy};
pub use journal::recover_package;
pub(crate) use listing::{
    FileSource, FoundEntry, Kind, Listed, ResolvedLink, follow, list, list_clonable,
};
pub use lock::PackageLock;
pub(crate) use read::read_only_file;
pub use temporary::{is_left_by_killed_run, is_temporary, is_vacant};

pub use file::is_krm_name;
pub use listing::{SkipReason, Skipped};
pub use path::{PathError, check_package_path, normalize_package_path};
pub(crate) use path::{check_folders, check_path_of_package, folders_above, is_git, join};
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
    /// A KRM file is not UTF-8.
    #[error(
        "'{}' is not valid UTF-8: byte {offset} (counted from 0) cannot be read as text",
        printable(path)
    )]
    NotUtf8 {
        /// The file, relative to the package.
        path: String,
        /// The position of the first byte that is not valid, counted from 0.
        offset: usize,
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
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| PackageError::Io {
            action,
            path,
            source,
        }
    }
}

/// Whether a file describes the package around it. Merging such a file as a package of one file would remove the
/// other files.
pub(crate) fn is_package_file(name: &str) -> bool {
    let names = [
        "Kptfile",
        "kustomization.yaml",
        "kustomization.yml",
        "Kustomization",
    ];
    names.contains(&name)
}

/// The most bytes that one file of a repository or an archive may have.
pub(crate) const LARGEST_FILE: u64 = 128 << 20;
/// The most bytes that all files of a package in a repository or an archive may have together.
pub(crate) const LARGEST_PACKAGE: u64 = 512 << 20;

/// The permission bits of a file that is not executable.
pub(crate) const USUAL_MODE: u32 = 0o644;

/// Whether `porchctl rpkg pull` stores the name and version of the package's object in the cluster in this file, for
/// `porchctl rpkg push`. The file belongs to that copy of the package only.
pub(crate) fn is_revision_metadata(path: &str) -> bool {
    path.rsplit('/').next() == Some(".KptRevisionMetadata")
}

#[cfg(unix)]
fn mode_of(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o7777
}

/// The usual permission bits, because this system has none.
#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> u32 {
    0o644
}

#[cfg(test)]
mod testing {
    //! Shared helpers of the tests for reading and writing.

    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// A ConfigMap, so that kpt takes the file for KRM.
    pub(super) const CONFIG_MAP: &str =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: example\n";

    /// Creates a package directory with these files.
    pub(super) fn package(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            put(dir.path(), path, text);
        }
        dir
    }

    pub(super) fn put(dir: &Path, path: &str, text: impl AsRef<[u8]>) {
        let file = dir.join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        fs::write(file, text).expect("a file");
    }

    pub(super) fn get(dir: &Path, path: &str) -> String {
        fs::read_to_string(dir.join(path)).expect("a file")
    }

    pub(super) fn link(dir: &Path, target: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(target, dir.join(path)).expect("a link");
    }

    /// The path of a program on PATH. Tests that compare with another program pass if it is missing.
    pub(super) fn on_path(program: &str) -> Option<PathBuf> {
        std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())
    }

    /// Creates a FIFO; false if there is no `mkfifo`.
    pub(super) fn fifo(file: &Path) -> bool {
        Command::new("mkfifo")
            .arg(file)
            .status()
            .is_ok_and(|status| status.success())
    }
}
