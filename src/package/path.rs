//! Paths inside a package, as data gives them.

use std::fmt::Write;

/// What is wrong with a path that data (an item's annotation, a field of a config) gave.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing at all.
    #[error("expected a path relative to the package, found an empty path")]
    Empty,
    /// `/a`.
    #[error("path '{}' is absolute; expected one relative to the package", escape(.0))]
    Absolute(String),
    /// `a/../b`: refused even where it would stay inside.
    #[error("path '{}' has a '..' component; expected a path that stays inside the package", escape(.0))]
    Parent(String),
    /// `.`, `./.`: the package itself.
    #[error("path '{}' names the package itself; expected a path inside it", escape(.0))]
    Root(String),
    /// A NUL character, which no file name can have.
    #[error("path '{}' holds a NUL character", escape(.0))]
    Nul(String),
    /// A backslash, which is a separator on some systems and part of a name on others.
    #[error("path '{}' holds a backslash; expected '/' between components", escape(.0))]
    Backslash(String),
}

/// Refuses paths from data that do not lead to a place inside the package on every system.
///
/// `./a.yaml`, `a//b.yaml` and `a/` pass; [`normalize_package_path`] takes out what means nothing.
///
/// ```
/// use krm_variants::package::check_package_path;
/// assert!(check_package_path("apps/deployment.yaml").is_ok());
/// assert_eq!(
///     check_package_path("apps/../../etc/passwd").unwrap_err().to_string(),
///     "path 'apps/../../etc/passwd' has a '..' component; expected a path that stays inside the package",
/// );
/// ```
///
/// # Errors
/// Empty, absolute, nothing but `.`, a `..` component, a NUL, a backslash.
pub fn check_package_path(path: &str) -> Result<(), PathError> {
    check_place(path)?;
    if path.contains('\\') {
        Err(PathError::Backslash(path.into()))
    } else {
        Ok(())
    }
}

/// The rules for every path that is written. A name with a backslash passes: it was read from a
/// disk, since [`check_package_path`] refuses it where data gives it.
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
    Ok(())
}

/// The same path without empty and `.` components: `./a//b/` becomes `a/b`.
pub fn normalize_package_path(path: &str) -> String {
    components(path).collect::<Vec<_>>().join("/")
}

/// The components that mean something.
pub(super) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter(|component| !component.is_empty() && *component != ".")
}

/// A name for a message: control characters escaped, so that a file name cannot steer a terminal.
pub(super) fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() {
            // Writing to a String does not fail.
            let _ = write!(escaped, "{}", character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
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
        ] {
            assert_eq!(check_package_path(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn all_others_are_refused() {
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

    #[test]
    fn messages_name_the_path_and_escape_it() {
        let error = check_package_path("/a\u{1b}[31m\n").expect_err("absolute");
        assert_eq!(
            error.to_string(),
            "path '/a\\u{1b}[31m\\n' is absolute; expected one relative to the package"
        );
        assert_eq!(
            check_package_path("a\0").expect_err("NUL").to_string(),
            "path 'a\\u{0}' holds a NUL character"
        );
    }

    #[test]
    fn normalizing_takes_out_what_means_nothing() {
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
