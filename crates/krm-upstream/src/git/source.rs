//! Parses `REPOSITORY//DIRECTORY?ref=REVISION`, the form of kustomize and go-getter.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::GitError;
use krm_package::{check_package_path, normalize_package_path};

const REVISION: &str = "?ref=";

/// A directory of a local repository at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSource {
    /// The path of a clone, bare or not.
    pub repository: PathBuf,
    /// The directory, from the repository's root, without `/` at its ends; empty for the root.
    pub directory: String,
    /// Anything that `git rev-parse` accepts as a commit.
    pub revision: String,
}

impl GitSource {
    /// Parses the value of a flag. `None` if it is a path: because a file with that name exists, or because it names
    /// no revision.
    ///
    /// ```
    /// use krm_upstream::git::GitSource;
    /// let flag = std::path::Path::new("../catalog//web/nginx?ref=v2");
    /// let source = GitSource::of_flag(flag)?.expect("not a path");
    /// assert_eq!(source.repository, std::path::Path::new("../catalog"));
    /// assert_eq!(source.directory, "web/nginx");
    /// assert_eq!(source.revision, "v2");
    /// assert_eq!(GitSource::of_flag("../catalog".as_ref())?, None);
    /// # Ok::<(), krm_upstream::git::GitError>(())
    /// ```
    ///
    /// # Errors
    /// [`GitError`]: a URL, or an invalid revision or directory.
    pub fn of_flag(flag: &Path) -> Result<Option<Self>, GitError> {
        if flag.exists() {
            return Ok(None);
        }
        // Only the repository's path may contain bytes that are not UTF-8.
        let bytes = flag.as_os_str().as_encoded_bytes();
        let Some(at) = memchr::memmem::find(bytes, REVISION.as_bytes()) else {
            return match url(&flag.to_string_lossy()) {
                Some(url) => Err(GitError::Url { url }),
                None => Ok(None),
            };
        };
        let found = flag.to_string_lossy();
        if let Some(url) = url(&found) {
            return Err(GitError::Url { url });
        }
        let wrong = |message: &str| GitError::Form {
            found: found.clone().into_owned(),
            message: message.to_owned(),
        };
        let text = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes);
            text.map(str::to_owned)
                .map_err(|_| wrong("it is not UTF-8"))
        };
        let revision = text(&bytes[at + REVISION.len()..])?;
        if revision.is_empty() {
            return Err(wrong("the revision is empty"));
        }
        let (repository, directory) = split(&bytes[..at]);
        if repository.is_empty() {
            return Err(wrong(
                "the repository is empty; `.` is the current directory",
            ));
        }
        let directory = normalize_package_path(&text(directory)?);
        if !directory.is_empty()
            && let Err(error) = check_package_path(&directory)
        {
            return Err(wrong(&error.to_string()));
        }
        Ok(Some(Self {
            repository: PathBuf::from(OsStr::from_bytes(repository)),
            directory,
            revision,
        }))
    }
}

/// Splits at the first `//` that is not at the beginning, into repository and directory.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let root = bytes.iter().take_while(|byte| **byte == b'/').count();
    match memchr::memmem::find(&bytes[root..], b"//") {
        Some(at) => (&bytes[..root + at], &bytes[root + at + 2..]),
        None => (bytes, b""),
    }
}

/// The URL at the beginning of a flag, if there is one: `https://...`, `git@host:...`.
fn url(flag: &str) -> Option<String> {
    let end = flag.find(REVISION).unwrap_or(flag.len());
    let flag = &flag[..end];
    let is_word = |text: &str| {
        let part = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        !text.is_empty() && text.chars().all(part)
    };
    let path = match flag.split_once("://") {
        Some((scheme, _)) if is_word(scheme) => scheme.len() + 3,
        _ => {
            let (host, _) = flag.split_once(':')?;
            let (user, host) = host.split_once('@')?;
            if !(is_word(user) && is_word(host)) {
                return None;
            }
            user.len() + host.len() + 2
        }
    };
    let end = flag[path..].find("//").map_or(flag.len(), |at| path + at);
    Some(flag[..end].to_owned())
}

impl fmt::Display for GitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (repository, directory) = (self.repository.display(), &self.directory);
        write!(f, "{repository}//{directory}{REVISION}{}", self.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flag: &str) -> Result<Option<(String, String, String)>, String> {
        let source = GitSource::of_flag(Path::new(flag)).map_err(|error| error.to_string())?;
        let parts = |source: GitSource| {
            let repository = source.repository.display().to_string();
            (repository, source.directory, source.revision)
        };
        Ok(source.map(parts))
    }

    #[test]
    fn repository_directory_and_revision() {
        for (flag, repository, directory, revision) in [
            ("../c//nginx?ref=v2", "../c", "nginx", "v2"),
            ("./c//a//b/?ref=nginx/v2", "./c", "a/b", "nginx/v2"),
            (".//?ref=HEAD~1", ".", "", "HEAD~1"),
            (".?ref=HEAD", ".", "", "HEAD"),
            ("/srv/c.git///nginx?ref=v2", "/srv/c.git", "nginx", "v2"),
            ("//srv/c//n?ref=v?ref=", "//srv/c", "n", "v?ref="),
        ] {
            let expected = (repository.into(), directory.into(), revision.into());
            assert_eq!(of(flag), Ok(Some(expected)), "{flag}");
        }
        for path in ["../c//nginx", "c", "c?version=v1", "a:b", "-"] {
            assert_eq!(of(path), Ok(None), "{path}");
        }
    }

    #[test]
    fn an_existing_file_is_a_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a?ref=b");
        std::fs::write(&file, "").expect("a file");
        assert_eq!(of(&file.display().to_string()), Ok(None));
    }

    #[test]
    fn urls_say_how_to_clone() {
        for (flag, url) in [
            ("https://e.com/c.git//n?ref=v2", "https://e.com/c.git"),
            ("https://e.com/c", "https://e.com/c"),
            ("git@e.com:a/c//n?ref=v2", "git@e.com:a/c"),
            ("file:///srv/c//n?ref=v2", "file:///srv/c"),
        ] {
            let error = of(flag).expect_err(flag);
            assert!(
                error.ends_with(&format!("git clone --mirror {url}")),
                "{error}"
            );
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for flag in [
            "c//n?ref=",
            "?ref=v1",
            "c//../n?ref=v1",
            "c//a/../../b?ref=v1",
        ] {
            let error = of(flag).expect_err(flag);
            assert!(error.starts_with("expected REPOSITORY//"), "{error}");
        }
    }
}
