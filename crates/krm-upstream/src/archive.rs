//! Upstream packages in tar files, which may be compressed: a release of a project, a chart.
//!
//! ```text
//! app-1.2.0.tgz             all files, without the top folder that they share
//! app-1.2.0.tgz//crds       the files of a folder below the top folder
//! ```

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use super::digest::ContentDigest;

use super::outside_git::{FolderOutsideGit, split_folder};
use super::unpacked::Unpacked;
use krm_address::release_name::ReleaseName;
use krm_core::config::UsageError;
use krm_core::upstream_revision::UpstreamRevision;
use krm_package::{LARGEST_PACKAGE, check_package_path, normalize_package_path};

/// The file name extensions of archives.
const ENDS: [&str; 3] = [".tar", ".tar.gz", ".tgz"];

/// Opens the archive that a flag names; `None` if the flag does not name an archive.
pub(super) fn open(flag: &FilePath) -> Result<Option<Arc<dyn UpstreamRevision>>, UsageError> {
    let Some((file, folder)) = split(flag) else {
        return Ok(None);
    };
    if !folder.is_empty() {
        let checked = check_package_path(&folder);
        checked.map_err(|error| UsageError::at(flag.display(), error))?;
    }
    let digest = ContentDigest::of(&bytes(&file)?).to_string();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(Some(Arc::new(FolderOutsideGit {
        source: file.display().to_string(),
        folder: normalize_package_path(&folder),
        package_name: without_version(&name).to_owned(),
        name: name.into_owned(),
        path: file,
        digest,
        unpack,
        sibling_flag,
    })))
}

/// Whether a file has the name of an archive.
pub fn is_archive(path: &str) -> bool {
    without_end(path).is_some()
}

/// The name of an archive without its extension; `None` if it does not have the name of an archive.
pub fn without_end(name: &str) -> Option<&str> {
    ENDS.iter().find_map(|end| name.strip_suffix(end))
}

/// The name of an archive without its extension and version.
pub(super) fn without_version(name: &str) -> &str {
    let name = without_end(name).unwrap_or(name);
    let mut dashes = name.match_indices('-');
    let is_version =
        |text: &str| ReleaseName::parse(text).is_some_and(|release| release.words()[0].is_empty());
    let dash = dashes.find(|(at, _)| is_version(&name[at + 1..]));
    dash.map_or(name, |(at, _)| &name[..at])
}

/// Splits a flag into the archive and the folder in it; `None` if it does not name an archive.
fn split(flag: &FilePath) -> Option<(PathBuf, String)> {
    let is_archive = |path: &str| is_archive(path) && FilePath::new(path).is_file();
    let text = flag.to_str()?;
    if is_archive(text) {
        return Some((flag.to_path_buf(), String::new()));
    }
    let mut parts = text.match_indices("//");
    parts.find_map(|(at, _)| {
        let (file, folder) = text.split_at(at);
        is_archive(file).then(|| (PathBuf::from(file), folder[2..].to_owned()))
    })
}

/// The bytes of a regular file of at most [`LARGEST_PACKAGE`] bytes.
pub(super) fn bytes(file: &FilePath) -> Result<Vec<u8>, UsageError> {
    let failed = |error: std::io::Error| {
        UsageError::cannot(format_args!("read '{}'", file.display()), error)
    };
    let is_file = fs::metadata(file).map_err(failed)?.is_file();
    let mut bytes = Vec::new();
    if is_file {
        let open = File::open(file).map_err(failed)?;
        open.take(LARGEST_PACKAGE + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    }
    if !is_file || bytes.len() as u64 > LARGEST_PACKAGE {
        return Err(UsageError::of(format!(
            "expected a file of at most {} MB, found '{}'",
            LARGEST_PACKAGE >> 20,
            file.display()
        )));
    }
    Ok(bytes)
}

fn unpack(archive: &FolderOutsideGit) -> Result<Unpacked, UsageError> {
    let bytes = bytes(&archive.path)?;
    let path = archive.path.display();
    if ContentDigest::of(&bytes).as_str() != archive.digest {
        return Err(UsageError::of(format!(
            "'{path}' changed after it was read"
        )));
    }
    let mut unpacked = Unpacked::default();
    let read = unpacked.add_tar(&bytes);
    read.map_err(|error| UsageError::at(format_args!("'{path}'"), error))?;
    Ok(unpacked)
}

fn sibling_flag(archive: &FolderOutsideGit, recorded: &str, _: &str) -> String {
    let (file, folder) = split_folder(recorded);
    let name = file.rsplit('/').next().unwrap_or_default();
    format!("{}{folder}", archive.path.with_file_name(name).display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_after_its_archive_without_the_version() {
        for (file, name) in [
            ("app-1.2.0.tgz", "app"),
            ("argo-cd-v2.tar.gz", "argo-cd"),
            ("app-1.0.0-rc.1.tar", "app"),
            ("my-app.tgz", "my-app"),
        ] {
            assert_eq!(without_version(file), name);
        }
    }
}
