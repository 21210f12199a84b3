//! The user's own repository: the one whose work tree holds a package.
//!
//! It is found by its `.git`, and without a program: Git itself would also take a folder for a repository that only has
//! the shape of one (`HEAD`, `objects`, `refs`), and upstream may bring such a folder. A `.git` it cannot bring.

use std::path::{Path, PathBuf};

/// A work tree, and a folder in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnRepository {
    root: PathBuf,
    /// The folder, from the root.
    inner: PathBuf,
}

impl OwnRepository {
    /// The repository whose work tree holds a folder, or is it.
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let root = folder.ancestors().find(|above| has_git(above))?;
        Some(Self {
            root: root.to_path_buf(),
            inner: folder.strip_prefix(root).ok()?.to_path_buf(),
        })
    }

    /// The root of the work tree. `git` runs here.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The path of the folder from the root, without slashes at its ends.
    pub(crate) fn inner(&self) -> String {
        self.inner.to_string_lossy().replace('\\', "/")
    }

    /// A path in the folder as a path from the root. The folder itself is `.`.
    pub(crate) fn path_below_root(&self, path: &str) -> PathBuf {
        let path: PathBuf = self.inner.join(path).components().collect();
        if path.as_os_str().is_empty() {
            return PathBuf::from(".");
        }
        path
    }

    /// A path from the root as a path in the folder. `None` if it is elsewhere.
    pub(crate) fn in_folder<'p>(&self, path: &'p str) -> Option<&'p str> {
        let inner = self.inner();
        if inner.is_empty() {
            return Some(path);
        }
        path.strip_prefix(&*inner)?.strip_prefix('/')
    }
}

/// Whether a folder has the `.git` of a repository, of a linked work tree or of a submodule.
fn has_git(folder: &Path) -> bool {
    let git = folder.join(".git");
    if git.is_dir() {
        return git.join("HEAD").symlink_metadata().is_ok();
    }
    std::fs::read(&git).is_ok_and(|text| text.starts_with(b"gitdir:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_real_git_folder_makes_a_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        for name in [
            ".git",
            "web/objects",
            "web/refs",
            "empty/.git",
            "linked/app",
        ] {
            std::fs::create_dir_all(root.join(name)).expect("a folder");
        }
        for (name, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            ("web/HEAD", "ref: refs/heads/main\n"),
            ("linked/.git", "gitdir: ../.git/worktrees/linked\n"),
        ] {
            std::fs::write(root.join(name), text).expect("a file");
        }
        for (name, expected, inner) in [
            ("web", "", "web"),
            ("empty", "", "empty"),
            ("linked/app", "linked", "app"),
            ("", "", ""),
        ] {
            let found = OwnRepository::around(&root.join(name)).expect("a repository");
            assert_eq!(found.root(), root.join(expected), "{name}");
            assert_eq!(found.inner(), inner, "{name}");
        }
        let web = OwnRepository::around(&root.join("web")).expect("a repository");
        assert_eq!(web.path_below_root("."), Path::new("web"));
        assert_eq!(web.in_folder("web/a.yaml"), Some("a.yaml"));
        assert_eq!(web.in_folder("webs/a.yaml"), None);
    }
}
