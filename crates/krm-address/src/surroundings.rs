//! The folders that a package's data may not name as a repository.

use std::path::{Component, Path, PathBuf};

/// The package that a Kptfile belongs to, and the work tree that holds it. Upstream filled them, so that nothing in
/// them counts as a repository of the user's.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    package: PathBuf,
    work_tree: Option<PathBuf>,
}

impl Surroundings {
    /// The surroundings of a package directory.
    pub fn of(package: &Path, work_tree: Option<&Path>) -> Self {
        Self {
            package: resolved(package),
            work_tree: work_tree.map(resolved),
        }
    }

    /// Whether a path leads into them, as it is written or through links.
    pub fn contain(&self, path: &Path) -> bool {
        let folders = [Some(&self.package), self.work_tree.as_ref()];
        let mut folders = folders.into_iter().flatten();
        let (written, found) = (normalized(path), resolved(path));
        folders.any(|folder| {
            let is_known = !folder.as_os_str().is_empty();
            is_known && (written.starts_with(folder) || found.starts_with(folder))
        })
    }

    /// Where a path leads that an archive's or layout's record contains: relative to the package and within its work
    /// tree, or absolute. `None` if a relative path leads out.
    pub fn recorded(&self, path: &Path) -> Option<PathBuf> {
        if path.is_absolute() || self.package.as_os_str().is_empty() {
            return Some(path.to_path_buf());
        }
        let joined = self.package.join(path);
        let found = resolved(&joined);
        self.contain(&found).then_some(found)
    }
}

impl Surroundings {
    /// A path of an archive or layout, as a Kptfile of the package records it: relative to the package if it is in the
    /// same work tree, so that every clone finds it, and absolute otherwise.
    pub fn portable(&self, path: &Path) -> PathBuf {
        let found = resolved(path);
        let root = self
            .work_tree
            .as_ref()
            .filter(|root| found.starts_with(root) && self.package.starts_with(root));
        if root.is_none() {
            return found;
        }
        let common = self.package.components().zip(found.components());
        let common = common.take_while(|(a, b)| a == b).count();
        let up = self
            .package
            .components()
            .skip(common)
            .map(|_| Component::ParentDir);
        up.chain(found.components().skip(common)).collect()
    }
}

/// An absolute path without `.` and `..`, as it is written.
fn normalized(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut normal = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// The path with its links followed, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let found = absolute.ancestors().find_map(|above| {
        let rest = absolute.strip_prefix(above).ok()?;
        Some(normalized(&above.canonicalize().ok()?.join(rest)))
    });
    found.unwrap_or_else(|| normalized(&absolute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_the_package_or_its_work_tree_are_found_however_they_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        for name in ["tree/web/mirror", "tree-2/other", "elsewhere"] {
            std::fs::create_dir_all(root.join(name)).expect("a folder");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("../tree/web", root.join("elsewhere/link")).expect("a link");
        let tree = root.join("tree");
        let surroundings = Surroundings::of(&tree.join("web"), Some(&tree));
        for (path, expected) in [
            ("tree/web/mirror", true),
            ("tree/other", true),
            ("tree/missing/deep", true),
            ("tree-2/../tree/web", true),
            ("elsewhere/missing/../../tree/x", true),
            ("tree-2/other", false),
            ("elsewhere", false),
            (".", false),
        ] {
            assert_eq!(surroundings.contain(&root.join(path)), expected, "{path}");
        }
        #[cfg(unix)]
        assert!(surroundings.contain(&root.join("elsewhere/link/mirror")));
        assert!(!Surroundings::default().contain(&tree));
    }

    #[test]
    fn a_recorded_path_is_relative_to_the_package_and_stays_in_the_work_tree() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        let package = root.join("tree/web");
        std::fs::create_dir_all(&package).expect("a folder");
        let surroundings = Surroundings::of(&package, Some(&root.join("tree")));
        let found = |path: &str| surroundings.recorded(Path::new(path));
        assert_eq!(found("../app.tgz"), Some(root.join("tree/app.tgz")));
        assert_eq!(found("/srv/app.tgz"), Some("/srv/app.tgz".into()));
        assert_eq!(found("../../app.tgz"), None);
        for (path, expected) in [
            ("tree/app.tgz", "../app.tgz"),
            ("tree/web/app.tgz", "app.tgz"),
            ("tree/rel/../rel/app.tgz", "../rel/app.tgz"),
        ] {
            let portable = surroundings.portable(&root.join(path));
            assert_eq!(portable, Path::new(expected), "{path}");
            assert!(found(expected).is_some());
        }
        let elsewhere = root.join("elsewhere/app.tgz");
        assert_eq!(surroundings.portable(&elsewhere), elsewhere);
    }
}
