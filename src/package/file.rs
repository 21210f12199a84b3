//! One file of a package.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::Path;

use super::PackageError;

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

pub(super) fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.into()
    } else {
        format!("{folder}/{name}")
    }
}
