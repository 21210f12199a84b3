//! A package directory: which files are read, and how changed ones are written back.
//!
//! [`read_package`] reads every KRM file of a directory into memory, [`write_package`] applies a list of
//! changes to it: first everything is checked, then all new contents are put next to their files, then they
//! are renamed into place. What lies between, from bytes to bytes, is done by other modules; these two and
//! the filter are the only ones that touch files.
//!
//! Paths inside a package are UTF-8 text relative to the package's root with `/` between components,
//! as kpt writes them in `config.kubernetes.io/path`. Those that come from data (item annotations, fields of a
//! config) go through [`check_package_path`] first.

mod file;
mod files;
mod journal;
mod krmignore;
mod listing;
mod path;
mod read;
mod temporary;
mod write;

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use files::FileContent;
pub use files::{Package, PackageFile};
pub(crate) use journal::JOURNAL;
pub use journal::recover_package;
pub(crate) use listing::{
    AtPlace, Holder, Kind, Listed, ResolvedLink, follow, list, list_clonable,
};
pub(crate) use read::read_only_file;
pub use temporary::is_temporary;

pub use file::is_krm_name;
pub use listing::{SkipReason, Skipped};
pub use path::{PathError, check_package_path, normalize_package_path};
pub(crate) use path::{check_folders, check_path_of_package, is_git, join};
pub use read::read_package;
pub use write::{FileChange, write_package, write_package_whole};

use path::escape;

/// Advice for a user who named one file of a package.
fn directory_of(path: &Path) -> String {
    match path.parent().filter(|_| path.is_file()) {
        Some(parent) if !parent.as_os_str().is_empty() => {
            format!("; the file is in '{}'", escape(&parent.to_string_lossy()))
        }
        Some(_) => "; the file is in '.'".to_owned(),
        None => String::new(),
    }
}

/// Why a package could not be read or written. Nothing was written, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The package directory is not there.
    #[error("package directory '{}' does not exist", escape(&path.to_string_lossy()))]
    Missing {
        /// The directory as it was given.
        path: PathBuf,
    },
    /// The package is a file or something else that is not a directory.
    #[error("expected a package directory, but '{}' is not a directory{}", escape(&path.to_string_lossy()), directory_of(path))]
    NotADirectory {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The operating system refused. While files were renamed into place or deleted (`action` says so) earlier ones
    /// are done already; each file is old or new.
    #[error("cannot {action} '{}': {source}", escape(&path.to_string_lossy()))]
    Io {
        /// What was tried, such as `read`.
        action: &'static str,
        /// The file or folder on disk.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A KRM file does not hold UTF-8.
    #[error(
        "'{}' is not valid UTF-8: byte {offset} (counted from 0) cannot be read as text",
        escape(path)
    )]
    NotUtf8 {
        /// The file, relative to the package.
        path: String,
        /// The first byte that is not text, counted from 0.
        offset: usize,
    },
    /// A file that must be read is a FIFO, a socket or a device, or has become something else since it was listed.
    #[error("'{}' is not a regular file", escape(path))]
    NotRegular {
        /// The file, relative to the package.
        path: String,
    },
    /// The path of a change cannot be one inside a package.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A change would go through a link.
    #[error(
        "path '{}' leads through the symbolic link '{}'",
        escape(path),
        escape(link)
    )]
    ThroughLink {
        /// The path of the change.
        path: String,
        /// Its component that is a link, relative to the package or the fleet.
        link: String,
    },
    /// A package that would be deleted holds a repository.
    #[error(
        "'{}' is a Git repository or a work tree; expected a package without a '.git'",
        escape(path)
    )]
    HoldsGit {
        /// The folder.
        path: String,
    },
    /// Something that is not a folder stands where a change needs one.
    #[error(
        "path '{}' needs a folder '{}', but that is a file",
        escape(path),
        escape(parent)
    )]
    ParentIsFile {
        /// The path of the change.
        path: String,
        /// The path of the file that is in the way.
        parent: String,
    },
    /// A file is not what it was when it was read.
    #[error(
        "'{}' changed on disk after it was read; nothing was written",
        escape(path)
    )]
    Changed {
        /// The file, relative to the package.
        path: String,
    },
    /// A file is not what it was when it was read; that was seen when others were written already.
    #[error(
        "'{}' changed on disk after it was read, and was left unchanged; {written} other \
         files had been written by then: run again for the rest",
        escape(path)
    )]
    ChangedMeanwhile {
        /// The file, relative to the package.
        path: String,
        /// How many changes were made.
        written: usize,
    },
    /// A new file is there already, though it was not read (ignored by `.krmignore`, or just made).
    #[error(
        "expected no file at '{}', but there is one that was not read as part of the package",
        escape(path)
    )]
    Exists {
        /// The file, relative to the package.
        path: String,
    },
    /// A file to be deleted was not read.
    #[error(
        "expected '{}' to be a file of the package, but it was not read as one",
        escape(path)
    )]
    NotInPackage {
        /// The file, relative to the package.
        path: String,
    },
    /// Two changes for one file.
    #[error("two changes for the file '{}'", escape(path))]
    Duplicate {
        /// The file, relative to the package.
        path: String,
    },
}

impl PackageError {
    /// For `map_err`: the operating system refused to do `action` with `path`.
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

/// Whether a file describes the package around it: merging it as the whole package would remove the rest.
pub(crate) fn is_package_file(name: &str) -> bool {
    let names = [
        "Kptfile",
        "kustomization.yaml",
        "kustomization.yml",
        "Kustomization",
    ];
    names.contains(&name)
}

/// What one file of a repository or an archive may have of bytes.
pub(crate) const LARGEST_FILE: u64 = 128 << 20;
/// What all files of a package in one may have of bytes.
pub(crate) const LARGEST_PACKAGE: u64 = 512 << 20;

/// Permission bits of a file that no one made executable.
pub(crate) const USUAL_MODE: u32 = 0o644;

/// Whether a file is the one in which `porchctl rpkg pull` keeps the name and version of the package's object
/// in the cluster, for `porchctl rpkg push`. It belongs to that copy of the package and to no other one.
pub(crate) fn is_revision_metadata(path: &str) -> bool {
    path.rsplit('/').next() == Some(".KptRevisionMetadata")
}

/// The permission bits of a file.
#[cfg(unix)]
fn mode_of(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o7777
}

/// The permission bits of a file: there are none here.
#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> u32 {
    0o644
}

#[cfg(test)]
mod testing {
    //! What the tests of reading and writing share.

    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// A ConfigMap, so that kpt takes the file for KRM.
    pub(super) const CONFIG_MAP: &str =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: example\n";

    /// A package directory with these files.
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

    /// A program on PATH; tests that run next to another program pass without it.
    pub(super) fn on_path(program: &str) -> Option<PathBuf> {
        std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())
    }

    /// Makes a FIFO; false where there is no `mkfifo`.
    pub(super) fn fifo(file: &Path) -> bool {
        Command::new("mkfifo")
            .arg(file)
            .status()
            .is_ok_and(|status| status.success())
    }
}
