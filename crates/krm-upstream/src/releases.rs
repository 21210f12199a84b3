//! Finds other releases of a source outside of Git: archives of the same package in the same folder, tags of the same
//! image layout.
//!
//! ```text
//! charts/app-1.2.0.tgz//crds     package app, release 1.2.0, its folder crds; charts/app-1.3.0.tgz is another release
//! oci:layout:v1                  release v1; v2 is another tag
//! ```

use std::fs;
use std::path::Path as FilePath;
use std::sync::Arc;

use super::archive::{is_archive, without_end, without_version};
use super::outside_git::split_folder;
use super::{SOURCES, oci};
use krm_core::config::UsageError;
use krm_core::upstream_revision::UpstreamRevision;
use krm_package::normalize_package_path;

/// The parts of a flag for a source outside of Git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceOutsideGit {
    /// The path of the archive; for images `oci:` and the path of the layout.
    pub address: String,
    /// The folder in the archive or image; empty for all files.
    pub folder: String,
    /// The version in the archive's name, or its name if it has no version; the image's tag or digest; `None` for an
    /// image layout's only image.
    pub release: Option<String>,
}

impl SourceOutsideGit {
    /// Parses a flag; `None` if it does not name an archive or image.
    pub fn parse(flag: &str) -> Option<Self> {
        let is_image = flag.starts_with(oci::SCHEME);
        let (place, folder) = split_folder(flag);
        let (address, release) = if is_image {
            let (path, reference) = oci::parts(&place[oci::SCHEME.len()..]);
            let release = (!reference.is_empty()).then(|| reference[1..].to_owned());
            (format!("{}{path}", oci::SCHEME), release)
        } else {
            let is_archive = is_archive(place) && !FilePath::new(place).is_dir();
            let name = is_archive.then(|| file_name(place))?;
            (place.to_owned(), Some(release_name(name).to_owned()))
        };
        Some(Self {
            address,
            folder: normalize_package_path(folder),
            release,
        })
    }

    /// The path of the archive or image layout, as the flag has it.
    pub fn path(&self) -> &str {
        self.address
            .strip_prefix(oci::SCHEME)
            .unwrap_or(&self.address)
    }

    /// Whether other releases have the same address, as the tags of an image layout do.
    pub fn has_tags(&self) -> bool {
        self.address.starts_with(oci::SCHEME)
    }

    /// The same source with an absolute path, as a Kptfile records it.
    ///
    /// # Errors
    /// [`UsageError`]: the path does not exist.
    pub fn absolute(self) -> Result<Self, UsageError> {
        let path = self.address.trim_start_matches(oci::SCHEME);
        let scheme = &self.address[..self.address.len() - path.len()];
        let found = FilePath::new(path).canonicalize();
        let found =
            found.map_err(|error| UsageError::cannot(format_args!("read '{path}'"), error))?;
        Ok(Self {
            address: format!("{scheme}{}", found.display()),
            ..self
        })
    }

    /// The flag for a folder of this source, without an image's tag or digest.
    pub fn with_folder(&self, folder: &str) -> String {
        format!("{}{}", self.address, source_end(folder))
    }

    /// The names of all releases, each with its flag.
    ///
    /// # Errors
    /// [`UsageError`]: the releases cannot be listed.
    pub fn releases(&self) -> Result<Vec<(String, String)>, UsageError> {
        let folder = source_end(&self.folder);
        if let Some(layout) = self.address.strip_prefix(oci::SCHEME) {
            let tags = oci::all_tags(FilePath::new(layout))?.into_iter();
            let flag = |tag: String| (tag.clone(), format!("{}:{tag}{folder}", self.address));
            return Ok(tags.map(flag).collect());
        }
        let own = FilePath::new(&self.address);
        let above = own.parent().filter(|above| !above.as_os_str().is_empty());
        let entries = fs::read_dir(above.unwrap_or(FilePath::new("."))).map_err(|error| {
            UsageError::cannot(
                format_args!("list the releases next to '{}'", self.address),
                error,
            )
        })?;
        let package = without_version(file_name(&self.address));
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter(|name| is_archive(name) && without_version(name) == package)
            .collect();
        names.sort();
        let flag = |name: String| {
            let flag = format!("{}{folder}", own.with_file_name(&name).display());
            (release_name(&name).to_owned(), flag)
        };
        Ok(names.into_iter().map(flag).collect())
    }
}

/// The end of a source that names a part of it: `//PART`, or nothing for all of it.
pub fn source_end(part: &str) -> String {
    if part.is_empty() {
        return String::new();
    }
    format!("//{part}")
}

/// The name of the package in an archive or image layout; `None` if the address is of another kind.
pub fn package_name(address: &str) -> Option<&str> {
    SourceOutsideGit::parse(address)?;
    Some(without_version(file_name(address)))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', ':']).next().unwrap_or(path)
}

/// The version in the name of an archive; the archive's name if it has no version.
fn release_name(name: &str) -> &str {
    let stem = without_end(name).unwrap_or(name);
    let version = stem.strip_prefix(without_version(name));
    let version = version.and_then(|rest| rest.strip_prefix('-'));
    version.unwrap_or(name)
}

/// Opens the revision that a flag names; `None` if no kind of source matches.
///
/// # Errors
/// [`UsageError`]: the source cannot be read.
pub fn open(flag: &str) -> Result<Option<Arc<dyn UpstreamRevision>>, UsageError> {
    for open in SOURCES {
        if let Some(revision) = open(FilePath::new(flag))? {
            return Ok(Some(revision));
        }
    }
    Ok(None)
}

/// Finds the revision with a digest among these flags. The error is the id of the first revision that was found
/// instead, if any.
pub(super) fn find(
    flags: impl IntoIterator<Item = String>,
    digest: &str,
) -> Result<Arc<dyn UpstreamRevision>, Option<String>> {
    let mut found = None;
    for flag in flags {
        if let Ok(Some(revision)) = open(&flag) {
            if revision.id() == format!("digest {digest}") {
                return Ok(revision);
            }
            found = found.or(Some(revision.id()));
        }
    }
    Err(found)
}

/// The revision that a lock outside of Git names: the recorded source if its digest still matches, or else another
/// release with that digest.
pub fn find_recorded(source: &str, digest: &str) -> Option<Arc<dyn UpstreamRevision>> {
    let flags = [source.to_owned(), oci::exact(source, digest)];
    let sibling_flag = || {
        let releases = SourceOutsideGit::parse(source)?.releases().ok()?;
        find(releases.into_iter().map(|(_, flag)| flag), digest).ok()
    };
    find(flags, digest).ok().or_else(sibling_flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_a_flag_outside_of_git_names() {
        for (flag, address, folder, release) in [
            ("c/app-1.2.0.tgz", "c/app-1.2.0.tgz", "", Some("1.2.0")),
            ("app-v2.tar//crds/", "app-v2.tar", "crds", Some("v2")),
            ("c/app.tar.gz", "c/app.tar.gz", "", Some("app.tar.gz")),
            ("oci:c/layout:v1", "oci:c/layout", "", Some("v1")),
            ("oci:layout//a/b", "oci:layout", "a/b", None),
            ("oci:layout@sha256:00", "oci:layout", "", Some("sha256:00")),
        ] {
            let source = SourceOutsideGit::parse(flag).expect(flag);
            assert_eq!(source.address, address);
            assert_eq!(source.folder, folder);
            assert_eq!(source.release.as_deref(), release);
        }
        for flag in ["c/app", "c//app?ref=v1", "https://e.com/r.git"] {
            assert_eq!(SourceOutsideGit::parse(flag), None);
        }
    }
}
