//! The releases that several packages of one upstream are compared and merged with, parsed once for all of them.
//!
//! ```text
//! apps/a   web v1.0.0   the release v1.0.0 is read, and v1.1.0
//! apps/b   web v1.0.0   both are known
//! apps/c   db v3        no other package has this upstream: nothing is kept
//! ```
//!
//! The length of all kept releases is bounded. They are dropped with the last package of their upstream.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use krm_function::supplied::{Role, SuppliedPackage};
use krm_review::ReviewedPairs;
use krm_upstream::git::Revision;

use super::failure::Result;
use super::kptfile::Tracking;
use super::own_repository::OwnRepository;
use super::package::{KPTFILE, around};

/// Limit of the texts that are kept of all upstreams, in bytes. What a merge needs of them is parsed, and takes several times
/// the size.
const MOST_KEPT: usize = 12 << 20;

/// The address of an upstream, and the path of a package in it.
type UpstreamPath = (String, String);

/// The packages of a run by their upstreams, and what each upstream's packages share.
#[derive(Debug, Default)]
pub(crate) struct SharedUpstreams {
    /// The packages that are still to be looked at.
    left: HashMap<UpstreamPath, BTreeSet<PathBuf>>,
    known: HashMap<UpstreamPath, Arc<SharedReleases>>,
    length: Arc<AtomicUsize>,
}

impl SharedUpstreams {
    /// Names the packages of a run.
    pub(crate) fn expect(&mut self, packages: impl IntoIterator<Item = impl AsRef<Path>>) {
        for directory in packages {
            let directory = directory.as_ref();
            if let Some(path) = upstream_path(directory) {
                let left = self.left.entry(path).or_default();
                left.insert(directory.to_path_buf());
            }
        }
        self.left.retain(|_, packages| packages.len() > 1);
    }

    /// What a package shares with others of its upstream.
    pub(crate) fn of(&mut self, address: &str, path: &str) -> Arc<SharedReleases> {
        let path = (address.to_owned(), path.to_owned());
        if !self.left.contains_key(&path) {
            return Arc::default();
        }
        let shared = self.known.entry(path).or_insert_with(|| {
            Arc::new(SharedReleases {
                kept: Some(Mutex::default()),
                length: Arc::clone(&self.length),
                reviewed: ReviewedPairs::default(),
            })
        });
        Arc::clone(shared)
    }

    /// Says that a package was looked at. With the last one of an upstream, what they shared is dropped.
    pub(crate) fn finish(&mut self, directory: &Path) {
        self.left.retain(|path, packages| {
            packages.remove(directory);
            if packages.is_empty() {
                self.known.remove(path);
            }
            !packages.is_empty()
        });
    }
}

/// The upstream of a package, as its Kptfile names it now. `None` if it names none.
fn upstream_path(directory: &Path) -> Option<UpstreamPath> {
    let text = std::fs::read(directory.join(KPTFILE)).ok()?;
    let repository = OwnRepository::around(directory);
    let surroundings = around(directory, repository.as_ref());
    let tracking = Tracking::read(&String::from_utf8_lossy(&text), &surroundings).ok()?;
    let address = tracking.repository?.address().to_owned();
    Some((address, tracking.lock?.directory))
}

/// What packages of one upstream share. By default, nothing: the package is alone.
#[derive(Debug, Default)]
pub(crate) struct SharedReleases {
    kept: Option<Mutex<KeptReleases>>,
    /// The length of the texts that are kept of all upstreams.
    length: Arc<AtomicUsize>,
    /// What reviews of the packages found.
    pub(crate) reviewed: ReviewedPairs,
}

#[derive(Debug, Default)]
struct KeptReleases {
    releases: Vec<(ReleaseKey, Arc<SuppliedPackage>)>,
    /// The length of their texts.
    length: usize,
}

/// A release as an input of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReleaseKey {
    commit: String,
    /// Its name in messages.
    name: String,
    path: String,
    role: Role,
    /// The local name of the file of a single-file package.
    file: Option<String>,
}

impl ReleaseKey {
    pub(crate) fn of(revision: &Revision, path: &str, role: Role, file: Option<&str>) -> Self {
        Self {
            commit: revision.commit.clone(),
            name: revision.lock_ref.clone(),
            path: path.to_owned(),
            role,
            file: file.map(str::to_owned),
        }
    }
}

impl SharedReleases {
    fn kept(&self) -> Option<MutexGuard<'_, KeptReleases>> {
        let kept = self.kept.as_ref()?;
        Some(kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A release, which `read` reads unless it is kept. `read` gets the releases whose files need not be parsed again.
    pub(crate) fn release(
        &self,
        key: ReleaseKey,
        read: impl FnOnce(&[Arc<SuppliedPackage>]) -> Result<Arc<SuppliedPackage>>,
    ) -> Result<Arc<SuppliedPackage>> {
        let Some(kept) = self.kept() else {
            return read(&[]);
        };
        let mut releases = kept.releases.iter();
        if let Some((_, release)) = releases.find(|(known, _)| *known == key) {
            return Ok(Arc::clone(release));
        }
        let others = kept.releases.iter();
        let others: Vec<_> = others.map(|(_, other)| Arc::clone(other)).collect();
        drop(kept);
        let release = read(&others)?;
        let length = new_length(&release, &others);
        if self.length.fetch_add(length, Ordering::Relaxed) + length > MOST_KEPT {
            self.length.fetch_sub(length, Ordering::Relaxed);
        } else if let Some(mut kept) = self.kept() {
            kept.releases.push((key, Arc::clone(&release)));
            kept.length += length;
        }
        Ok(release)
    }
}

impl Drop for SharedReleases {
    fn drop(&mut self) {
        let length = self.kept().map_or(0, |kept| kept.length);
        self.length.fetch_sub(length, Ordering::Relaxed);
    }
}

/// The length of the files that a release does not share with others.
fn new_length(release: &SuppliedPackage, others: &[Arc<SuppliedPackage>]) -> usize {
    let files = release.files().into_iter();
    let texts = files.flat_map(|files| files.krm());
    let is_new = |(path, text): &(&str, &krm_package::text::Text)| {
        let mut others = others.iter().filter_map(|other| other.files());
        !others.any(|other| other.file_like(path, text.as_bytes()).is_some())
    };
    texts.filter(is_new).map(|(_, text)| text.len()).sum()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use krm_core::results::Results;
    use krm_package::{Package, PackageFile};

    use super::*;

    const COMMIT: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    /// Packages, each with the name of its upstream's folder.
    fn packages(all: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |(name, path): &(&str, &str)| {
            let directory = folder.path().join(name);
            std::fs::create_dir(&directory).expect("a folder");
            let git = format!("{{repo: 'https://e.com/r', directory: /{path}, ref: v1}}");
            let lock = git.replace("ref: v1", &format!("ref: v1, commit: {COMMIT}"));
            let text = format!(
                "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: {name}}}\n\
                 upstream: {{type: git, git: {git}}}\nupstreamLock: {{type: git, git: {lock}}}\n"
            );
            std::fs::write(directory.join(KPTFILE), text).expect("a file");
            directory
        };
        let directories = all.iter().map(write).collect();
        (folder, directories)
    }

    fn release(length: usize) -> Arc<SuppliedPackage> {
        let text = format!("kind: A\ndata: {}\n", "a".repeat(length));
        let mut files = Package::default();
        files.insert("a.yaml", PackageFile::of_text("a.yaml", text));
        let (role, mut results) = (Role::Upstream, Results::default());
        let read =
            SuppliedPackage::from_package_like(role, String::new(), files, &[], &mut results);
        Arc::new(read.expect("a package"))
    }

    /// How often the releases `v1` and `v2` of the packages are read, if each has this length.
    fn reads(all: &[(&str, &str)], length: usize) -> usize {
        let (_folder, directories) = packages(all);
        let mut upstreams = SharedUpstreams::default();
        upstreams.expect(&directories);
        let count = Cell::new(0);
        for (directory, (_, path)) in directories.iter().zip(all) {
            let shared = upstreams.of("https://e.com/r", path);
            for name in ["v1", "v2", "v1"] {
                let revision = Revision::named(name, COMMIT.to_owned());
                let key = ReleaseKey::of(&revision, path, Role::Upstream, None);
                let read = |_: &[Arc<SuppliedPackage>]| {
                    count.set(count.get() + 1);
                    Ok(release(length))
                };
                shared.release(key, read).expect("a release");
            }
            upstreams.finish(directory);
        }
        assert!(upstreams.known.is_empty() && upstreams.left.is_empty());
        assert_eq!(upstreams.length.load(Ordering::Relaxed), 0);
        count.get()
    }

    #[test]
    fn a_release_is_read_once_for_all_packages_of_one_upstream() {
        for (packages, length, expected) in [
            (&[("a", "web")][..], 10, 3),
            (&[("a", "web"), ("b", "db")], 10, 6),
            (&[("a", "web"), ("b", "web"), ("c", "web")], 10, 2),
            (
                &[("a", "web"), ("b", "db"), ("c", "web"), ("d", "db")],
                10,
                4,
            ),
            // Both releases have the same text, so that only the first counts.
            (&[("a", "web"), ("b", "web")], MOST_KEPT / 2, 2),
            (&[("a", "web"), ("b", "web")], MOST_KEPT, 6),
        ] {
            assert_eq!(reads(packages, length), expected, "{packages:?} {length}");
        }
    }
}
