//! The file that `krmv blame` is asked about, and the package that it is in.

use std::path::{Path, PathBuf};

use krm_package::is_krm_name;

use super::failure::{Failure, Result, command};
use super::package::KPTFILE;

/// The failure for a directory in place of a file.
pub(super) fn a_directory(directory: &Path) -> Failure {
    let shown = directory.to_string_lossy();
    let message = format!("'{shown}' is a directory; `krmv blame` shows the fields of one file");
    let names = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let file = names
        .filter(|name| is_krm_name(name) && name != KPTFILE)
        .min();
    Failure::new(message).hint(match file {
        Some(file) => command(["krmv", "blame", &directory.join(file).to_string_lossy()]),
        None => command(["ls", &*shown]),
    })
}

/// Finds the package of a file: the nearest directory above it that has a Kptfile.
pub(super) fn package_around(file: &Path) -> Result<PathBuf> {
    for folder in file.ancestors().skip(1) {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        if folder.join(KPTFILE).is_file() {
            return Ok(folder.to_path_buf());
        }
    }
    let message = format!(
        "'{}' is not in a package: neither its folder nor a folder above has a Kptfile",
        file.display()
    );
    Err(Failure::new(message).hint("krmv status ."))
}

pub(super) fn within(directory: &Path, file: &Path) -> Result<String> {
    let absolute = |path: &Path| std::path::absolute(path);
    let (directory, file) = (absolute(directory)?, absolute(file)?);
    let path = file.strip_prefix(&directory).unwrap_or(&file);
    Ok(path.to_string_lossy().replace('\\', "/"))
}
