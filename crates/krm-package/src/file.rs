//! Reads single files of a package.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use super::{PackageError, file_name, mode_of};

/// Reads a file after checking that it is a regular one: opening a FIFO would wait for a writer.
pub(super) fn read_regular(file: &Path, path: &str) -> Result<(Vec<u8>, Metadata), PackageError> {
    let metadata = fs::metadata(file).map_err(PackageError::io("read", file))?;
    if !metadata.is_file() {
        return Err(PackageError::NotRegular { path: path.into() });
    }
    read_checked(file, path)
}

/// Reads a file that was just found to be a regular one.
pub(super) fn read_checked(file: &Path, path: &str) -> Result<(Vec<u8>, Metadata), PackageError> {
    let mut open = File::open(file).map_err(PackageError::io("read", file))?;
    let metadata = open.metadata().map_err(PackageError::io("read", file))?;
    if !metadata.is_file() {
        return Err(PackageError::NotRegular { path: path.into() });
    }
    let mut bytes = Vec::new();
    open.read_to_end(&mut bytes)
        .map_err(PackageError::io("read", file))?;
    Ok((bytes, metadata))
}

/// Whether this is the path or name of a file that is read as KRM: `*.yaml`, `*.yml`, `*.json` or `Kptfile`.
pub fn is_krm_name(path: &str) -> bool {
    file_name(path) == "Kptfile"
        || [".yaml", ".yml", ".json"]
            .iter()
            .any(|end| path.ends_with(end))
}

/// The state of a file that was listed and not read, to detect a later change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    pub(super) mode: u32,
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
