//! What krmv fetched, by its digest, and the lists of releases as last read.
//!
//! ```text
//! CACHE/fetched/9f86.../app-1.2.0.tgz    a file
//! CACHE/fetched/51ab.../layout/          an image, as a layout
//! CACHE/known/1c2d...                    which digest an address had
//! CACHE/lists/3e4f...                    a list of releases
//! ```
//!
//! The cache of private sources is for its owner alone. Content is checked against its digest when it is read.

use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use krm_upstream::ContentDigest;

use crate::error::{RemoteError, Result};

/// The cache of this user.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    root: PathBuf,
}

impl Cache {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder for content with a digest.
    pub(crate) fn folder(&self, digest: &ContentDigest) -> PathBuf {
        self.root.join("fetched").join(digest.hex())
    }

    /// The file with a digest, if it was fetched and is unchanged.
    pub(crate) fn file(&self, digest: &ContentDigest) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.folder(digest)).ok()?;
        let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        files.find(|file| {
            let is_temporary = file.extension().is_some_and(|end| end == "part");
            let bytes = if is_temporary {
                None
            } else {
                std::fs::read(file).ok()
            };
            bytes.is_some_and(|bytes| ContentDigest::of(&bytes) == *digest)
        })
    }

    /// Keeps a file. `name` is what a reader knows its form by.
    pub(crate) fn keep(&self, name: &str, bytes: &[u8]) -> Result<(ContentDigest, PathBuf)> {
        let digest = ContentDigest::of(bytes);
        if let Some(file) = self.file(&digest) {
            return Ok((digest, file));
        }
        let file = self.folder(&digest).join(file_name(name));
        self.write(&file, bytes)?;
        Ok((digest, file))
    }

    /// The digest that an address had, if that content is still here.
    pub(crate) fn known(&self, address: &str) -> Option<ContentDigest> {
        let text = std::fs::read_to_string(self.entry("known", address)).ok()?;
        ContentDigest::parse(text.trim())
    }

    pub(crate) fn keep_known(&self, address: &str, digest: &ContentDigest) -> Result<()> {
        self.write(&self.entry("known", address), digest.as_str().as_bytes())
    }

    /// The list of releases that was read last.
    pub(crate) fn list(&self, address: &str) -> Option<Vec<u8>> {
        std::fs::read(self.entry("lists", address)).ok()
    }

    pub(crate) fn keep_list(&self, address: &str, list: &[u8]) -> Result<()> {
        self.write(&self.entry("lists", address), list)
    }

    fn entry(&self, kind: &str, address: &str) -> PathBuf {
        let name = ContentDigest::of(address.as_bytes());
        self.root.join(kind).join(&name.hex()[..32])
    }

    /// Writes a file atomically.
    pub(crate) fn write(&self, file: &Path, bytes: &[u8]) -> Result<()> {
        let written = || -> io::Result<()> {
            let folder = file.parent().unwrap_or(&self.root);
            let mut builder = std::fs::DirBuilder::new();
            builder.recursive(true).mode(0o700).create(folder)?;
            let mut temporary = tempfile::Builder::new()
                .suffix(".part")
                .tempfile_in(folder)?;
            temporary.write_all(bytes)?;
            temporary.persist(file)?;
            Ok(())
        };
        written().map_err(|source| RemoteError::Cache {
            root: self.root.clone(),
            source,
        })
    }
}

/// The last part of an address as the name of a file.
fn file_name(name: &str) -> String {
    let is_part = |c: &char| c.is_ascii_alphanumeric() || "-_.+".contains(*c);
    let name: String = name.chars().filter(is_part).collect();
    let name = name.trim_start_matches(['.', '-']);
    let start = name.len().saturating_sub(120);
    if name.is_empty() {
        return "file".to_owned();
    }
    name[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_found_by_its_digest_and_not_when_it_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path().join("krmv"));
        let (digest, file) = cache
            .keep("../a b/app-1.0.0.tgz", b"x")
            .expect("it is kept");
        assert_eq!(file.file_name().expect("a name"), "abapp-1.0.0.tgz");
        assert_eq!(cache.file(&digest), Some(file.clone()));
        assert_eq!(cache.keep("other", b"x").expect("it is kept").1, file);
        std::fs::write(&file, "y").expect("a file");
        assert_eq!(cache.file(&digest), None);
        assert_eq!(cache.keep("app-1.0.0.tgz", b"x").expect("again").0, digest);
        assert!(cache.file(&digest).is_some());
    }

    #[test]
    fn lists_and_digests_are_kept_by_address() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path().to_path_buf());
        let digest = ContentDigest::of(b"x");
        cache.keep_known("https://e.com/a", &digest).expect("kept");
        assert_eq!(cache.known("https://e.com/a"), Some(digest));
        assert_eq!(cache.known("https://e.com/b"), None);
        cache.keep_list("https://e.com", b"v1\n").expect("kept");
        assert_eq!(cache.list("https://e.com").as_deref(), Some(&b"v1\n"[..]));
    }
}
