//! Checks paths that come from data: this is the one place that decides where a function may write.
//!
//! [`check_package_path`] checks the text of a path, [`check_folders`] the folders on disk that it leads through.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::PackageError;
use crate::escaped::{is_ignorable, printable};

/// The problem with a path from data (an annotation of an item, a field of a config).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path is empty.
    #[error("expected a path relative to the package, found an empty path")]
    Empty,
    /// An absolute path, such as `/a`.
    #[error("path '{}' is absolute; expected one relative to the package", printable(.0))]
    Absolute(String),
    /// `a/../b`: refused even where it would stay inside.
    #[error("path '{}' has a '..' component; expected a path that stays inside the package", printable(.0))]
    Parent(String),
    /// `.`, `./.`: the package itself.
    #[error("path '{}' names the package itself; expected a path inside it", printable(.0))]
    Root(String),
    /// A NUL character, which no file name can have.
    #[error("path '{}' contains a NUL character", printable(.0))]
    Nul(String),
    /// A backslash, which is a separator on some systems and part of a name on others.
    #[error("path '{}' contains a backslash; expected '/' between components", printable(.0))]
    Backslash(String),
    /// `.git`, or a name that a file system treats as `.git`: Git runs hooks and commands that files in there name.
    #[error(
        "path '{}' leads into a '.git', or into what a file system may take for one; expected a path outside of it",
        printable(.0)
    )]
    Git(String),
}

/// Refuses a path from data unless it is inside the package on every system.
///
/// `./a.yaml`, `a//b.yaml` and `a/` pass; [`normalize_package_path`] removes the redundant components.
///
/// ```
/// use krm_package::check_package_path;
/// assert!(check_package_path("apps/deployment.yaml").is_ok());
/// assert_eq!(
///     check_package_path("apps/../../etc/passwd").unwrap_err().to_string(),
///     "path 'apps/../../etc/passwd' has a '..' component; expected a path that stays inside the package",
/// );
/// ```
///
/// # Errors
/// The path is empty, absolute or only `.`; it has a `..` component, a NUL, a backslash, or a component that a file
/// system may treat as `.git`.
pub fn check_package_path(path: &str) -> Result<(), PathError> {
    check_place(path)?;
    if path.contains('\\') {
        Err(PathError::Backslash(path.into()))
    } else {
        Ok(())
    }
}

/// Refuses the path of a package if it contains `..`, a NUL or a `.git`. A leading `/` passes, because kpt writes
/// such paths as absolute ones.
///
/// # Errors
/// [`PathError::Parent`], [`PathError::Nul`], [`PathError::Git`].
pub fn check_path_of_package(path: &str) -> Result<(), PathError> {
    match check_place(path.trim_start_matches('/')) {
        Err(PathError::Empty | PathError::Root(_)) => Ok(()),
        checked => checked,
    }
}

/// The rules for every path that is written. A name with a backslash passes, because it was read from disk:
/// [`check_package_path`] refuses such names in data.
pub(super) fn check_place(path: &str) -> Result<(), PathError> {
    if path.is_empty() {
        return Err(PathError::Empty);
    }
    if path.contains('\0') {
        return Err(PathError::Nul(path.into()));
    }
    if path.starts_with('/') {
        return Err(PathError::Absolute(path.into()));
    }
    if path.split('/').any(|component| component == "..") {
        return Err(PathError::Parent(path.into()));
    }
    if components(path).next().is_none() {
        return Err(PathError::Root(path.into()));
    }
    if components(path).any(is_git) {
        return Err(PathError::Git(path.into()));
    }
    Ok(())
}

/// Whether some file system treats this component as `.git`, which is never read and never written.
///
/// Git's `core.protectNTFS` and `core.protectHFS` refuse these names on every system: `.git` in another case, with
/// dots and blanks at the end or with a stream (`.git::$INDEX_ALLOCATION`), the short name `git~1`, and names with
/// code points that HFS+ or a case-insensitive ext4 ignores when it compares names.
pub fn is_git(component: &str) -> bool {
    component.split('\\').any(|name| {
        let mut seen = name.chars().filter(|character| !is_ignorable(*character));
        if !matches!(seen.next(), Some('.' | 'g' | 'G')) {
            return false;
        }
        let name = folded(name);
        let short = name.strip_prefix("git~");
        name == ".git"
            || short.is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
    })
}

/// A name as file systems may compare it: without regard to case, invisible code points, a stream, and dots and blanks at
/// the end.
pub(super) fn folded(name: &str) -> String {
    let seen = name.chars().filter(|character| !is_ignorable(*character));
    let seen = seen.map(|character| character.to_ascii_lowercase());
    let mut seen: String = seen.take_while(|character| *character != ':').collect();
    let end = |end: char| end == '.' || end.is_whitespace();
    seen.truncate(seen.trim_end_matches(end).len());
    seen
}

/// Refuses a path if a folder on it below `root` is a link or a file. A link may lead out of the package, into a
/// `.git` or into another package, and its target may change at any moment. Folders that do not exist yet pass.
///
/// # Errors
/// [`PackageError::ThroughLink`], [`PackageError::ParentIsFile`]; or a folder cannot be read.
pub fn check_folders(root: &Path, path: &str) -> Result<(), PackageError> {
    for folder in folders_above(path) {
        let on_disk = root.join(folder);
        let metadata = match fs::symlink_metadata(&on_disk) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            other => other.map_err(PackageError::io("read", on_disk.as_path()))?,
        };
        let (path, folder) = (path.to_owned(), folder.to_owned());
        if metadata.is_symlink() {
            return Err(PackageError::ThroughLink { path, link: folder });
        }
        if !metadata.is_dir() {
            return Err(PackageError::ParentIsFile {
                path,
                parent: folder,
            });
        }
    }
    Ok(())
}

/// The folders above a path, from the outermost, without the root.
pub fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| &path[..slash])
}

/// The path of an entry of a folder; an empty folder is the root.
pub fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Removes empty and `.` components from a path: `./a//b/` becomes `a/b`.
pub fn normalize_package_path(path: &str) -> String {
    components(path).collect::<Vec<_>>().join("/")
}

/// The components of a path, without empty ones and `.`.
pub(super) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter(|component| !component.is_empty() && *component != ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_inside_a_package_pass() {
        for path in [
            "a",
            "a/b.yaml",
            "./a",
            "a//b",
            "a/",
            ".hidden",
            "..a/b..",
            "a b",
            "é/\u{1f600}",
            "...",
            ".github/workflows/ci.yaml",
            ".gitignore",
            ".gitattributes",
            ".gitmodules",
            "git",
            "a.git",
            "git~",
            "git~1.yaml",
            ".git-hooks",
            ".git_",
            "..git",
            "a:.git.yaml",
        ] {
            assert_eq!(check_package_path(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn all_other_paths_are_refused() {
        use PathError as E;
        assert_eq!(check_package_path(""), Err(E::Empty));
        type Case = (&'static str, fn(String) -> E);
        let table: [Case; 16] = [
            ("/", E::Absolute),
            ("/etc/passwd", E::Absolute),
            ("//a", E::Absolute),
            ("..", E::Parent),
            ("../a", E::Parent),
            ("a/..", E::Parent),
            ("a/../b", E::Parent),
            ("./..", E::Parent),
            (".", E::Root),
            ("./", E::Root),
            ("./.", E::Root),
            (".//.", E::Root),
            ("a\0b", E::Nul),
            ("a\\b", E::Backslash),
            ("..\\a", E::Backslash),
            ("C:\\a", E::Backslash),
        ];
        for (path, error) in table {
            assert_eq!(
                check_package_path(path),
                Err(error(path.into())),
                "{path:?}"
            );
        }
    }

    /// Git itself determines which names must at least be refused.
    #[test]
    fn names_that_git_takes_for_its_own_folder_are_refused() {
        let strict = gix_validate::path::component::Options {
            protect_windows: false,
            protect_hfs: true,
            protect_ntfs: true,
        };
        let names = [
            ".git",
            ".GIT",
            ".gIt",
            ".git.",
            ".git...",
            ".git ",
            ".git . .",
            ".git::$INDEX_ALLOCATION",
            ".git:stream",
            ".git . :stream",
            "git~1",
            "GIT~1",
            "git~1.",
            "git~1 ",
            "git~1:stream",
            ".g\u{200c}it",
            "\u{200d}.git",
            ".git\u{200e}",
            ".GI\u{200f}T",
            "\u{202a}.\u{202e}g\u{206a}i\u{206f}t\u{feff}",
        ];
        for name in names {
            assert!(
                gix_validate::path::component(name.into(), None, strict).is_err(),
                "{name:?}"
            );
            for path in [
                name.to_owned(),
                format!("{name}/hooks/post-commit"),
                format!("a/{name}"),
                format!("./a//{name}/b"),
            ] {
                assert_eq!(
                    check_package_path(&path),
                    Err(PathError::Git(path.clone())),
                    "{path:?}"
                );
            }
        }
        // Combinations, and names that only some file systems treat as `.git`.
        for name in [
            ".g\u{200c}it. ",
            "git~1\u{feff}::$INDEX_ALLOCATION",
            "git~2",
            "GIT~12 ",
            ".git\t",
            ".git\u{a0}",
            ".g\u{ad}it",
            ".git\u{fe0f}",
            ".gi\u{2060}t",
            ".git\u{e0041}",
        ] {
            assert!(is_git(name), "{name:?}");
        }
        // Names on disk may contain a backslash.
        assert!(check_place(".git\\hooks").is_err());
    }

    #[test]
    fn messages_escape_the_path_that_they_name() {
        let error = check_package_path("/a\u{1b}[31m\n").expect_err("absolute");
        assert_eq!(
            error.to_string(),
            "path '/a\\u{1b}[31m\\n' is absolute; expected one relative to the package"
        );
        assert_eq!(
            check_package_path("a\0").expect_err("NUL").to_string(),
            "path 'a\\u{0}' contains a NUL character"
        );
    }

    #[test]
    fn normalizing_removes_parts_without_meaning() {
        for (path, normal) in [
            ("a", "a"),
            ("./a//b/", "a/b"),
            ("a/./b", "a/b"),
            (".a/..b", ".a/..b"),
        ] {
            assert_eq!(normalize_package_path(path), normal);
        }
    }
}
