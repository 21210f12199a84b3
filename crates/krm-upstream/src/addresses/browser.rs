//! Addresses as a browser shows them: a file or folder of a repository on GitHub, GitLab, Gitea and their like.
//!
//! ```text
//! https://github.com/o/r/blob/v1/web/app.yaml             repository https://github.com/o/r, rest v1/web/app.yaml
//! https://gitlab.com/g/s/r/-/tree/main/web?ref_type=heads  repository https://gitlab.com/g/s/r, rest main/web
//! https://codeberg.org/o/r/src/tag/v1/web                 repository https://codeberg.org/o/r, rest v1/web
//! ```
//!
//! A name of a tag or branch may have slashes: the references of the repository say where it ends.

use krm_address::encoded::percent_decoded;

/// A file or folder as a browser shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserAddress {
    /// The address of the repository.
    pub repository: String,
    /// The name of a tag or branch, or a commit, then the path.
    pub rest: String,
}

/// The host of GitHub's raw files.
const RAW_HOST: &str = "raw.githubusercontent.com";

impl BrowserAddress {
    /// Parses an address. `None` if it is of another kind.
    pub fn parse(argument: &str) -> Option<Self> {
        let (scheme, rest) = argument.split_once("://")?;
        if !["https", "http"].contains(&scheme) {
            return None;
        }
        let rest = rest.split(['?', '#']).next()?.trim_end_matches('/');
        let (host, path) = rest.split_once('/')?;
        if path.contains("//") || path.contains(".git/") {
            return None;
        }
        let name = host.rsplit('@').next()?;
        let parts: Vec<&str> = path.split('/').collect();
        let at = |host: &str, repository: &[&str], rest: &[&str]| {
            let rest = without_kind(rest).join("/");
            let repository = repository.join("/");
            let repository = repository.strip_suffix(".git").unwrap_or(&repository);
            (!rest.is_empty()).then(|| Self {
                repository: format!("{scheme}://{host}/{repository}"),
                rest: decoded(&rest),
            })
        };
        if name == RAW_HOST {
            let (repository, rest) = parts.split_at_checked(2)?;
            let host = host.replace(RAW_HOST, "github.com");
            return at(&host, repository, rest);
        }
        if let Some(dash) = parts.iter().position(|part| *part == "-") {
            let is_view = matches!(parts.get(dash + 1), Some(&("blob" | "tree" | "raw")));
            return if is_view && dash >= 2 {
                at(host, &parts[..dash], &parts[dash + 2..])
            } else {
                None
            };
        }
        let (repository, rest) = parts.split_at_checked(2)?;
        match rest {
            ["blob" | "tree" | "raw", rest @ ..] => at(host, repository, rest),
            ["src", rest @ ..] if name == "bitbucket.org" => at(host, repository, rest),
            ["src", "tag" | "branch" | "commit", ..] => at(host, repository, &rest[1..]),
            _ => None,
        }
    }

    /// The revision and the path: the longest name among these that the rest begins with, or else its first part.
    pub fn split<'n>(&self, names: impl Iterator<Item = &'n str>) -> (String, String) {
        let rest = &self.rest;
        let is_start = |name: &&str| {
            let after = rest.strip_prefix(name);
            after.is_some_and(|after| after.is_empty() || after.starts_with('/'))
        };
        let longest = names.filter(is_start).max_by_key(|name| name.len());
        let end = longest.map_or(rest.find('/').unwrap_or(rest.len()), str::len);
        let (revision, path) = rest.split_at(end);
        (revision.to_owned(), path.trim_start_matches('/').to_owned())
    }
}

/// Leaves out what says of which kind a reference is.
fn without_kind<'p>(parts: &'p [&'p str]) -> &'p [&'p str] {
    match parts {
        ["refs", "tags" | "heads", rest @ ..] | ["tag" | "branch" | "commit", rest @ ..]
            if !rest.is_empty() =>
        {
            rest
        }
        parts => parts,
    }
}

/// A path with its `%` escapes resolved, where they are text.
pub(super) fn decoded(path: &str) -> String {
    let (bytes, _) = percent_decoded(path);
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // A table.
    #[allow(clippy::too_many_lines)]
    #[test]
    fn files_and_folders_of_all_forges() {
        for (argument, repository, rest) in [
            (
                "https://github.com/o/r/blob/v1.0.0/p/a.yaml",
                "https://github.com/o/r",
                "v1.0.0/p/a.yaml",
            ),
            (
                "https://github.com/o/r/blob/v1/p/a.yaml#L3-L9",
                "https://github.com/o/r",
                "v1/p/a.yaml",
            ),
            (
                "https://github.com/o/r/tree/main/",
                "https://github.com/o/r",
                "main",
            ),
            (
                "https://github.com/o/r/raw/refs/tags/v1/a.yaml",
                "https://github.com/o/r",
                "v1/a.yaml",
            ),
            (
                "https://raw.githubusercontent.com/o/r/v1/a.yaml",
                "https://github.com/o/r",
                "v1/a.yaml",
            ),
            (
                "https://raw.githubusercontent.com/o/r/refs/heads/main/a.yaml?token=x",
                "https://github.com/o/r",
                "main/a.yaml",
            ),
            (
                "https://gitlab.com/g/s/r/-/blob/v1/a%20b.yaml?ref_type=tags",
                "https://gitlab.com/g/s/r",
                "v1/a b.yaml",
            ),
            (
                "https://git.e.com/g/r/-/tree/main/web",
                "https://git.e.com/g/r",
                "main/web",
            ),
            (
                "https://codeberg.org/o/r/src/tag/v1/web",
                "https://codeberg.org/o/r",
                "v1/web",
            ),
            (
                "https://codeberg.org/o/r/src/branch/main/web/a.yaml",
                "https://codeberg.org/o/r",
                "main/web/a.yaml",
            ),
            (
                "https://codeberg.org/o/r/raw/commit/0123456/a.yaml",
                "https://codeberg.org/o/r",
                "0123456/a.yaml",
            ),
            (
                "https://bitbucket.org/o/r/src/v1/a.yaml",
                "https://bitbucket.org/o/r",
                "v1/a.yaml",
            ),
            (
                "http://127.0.0.1:80/o/r.git/blob/v1/a",
                "http://127.0.0.1:80/o/r",
                "v1/a",
            ),
        ] {
            if argument.contains(".git/") {
                assert_eq!(BrowserAddress::parse(argument), None, "kpt's form");
                continue;
            }
            let found = BrowserAddress::parse(argument).expect(argument);
            assert_eq!(
                (&*found.repository, &*found.rest),
                (repository, rest),
                "{argument}"
            );
        }
        for argument in [
            "https://github.com/o/r",
            "https://github.com/o/r/web/app@v1",
            "https://github.com/o/r//blob/v1/a",
            "https://github.com/o/r/blob",
            "https://gitlab.com/o/r/-/releases/v1/downloads/a.yaml",
            "https://e.com/o/r/src/main.yaml",
            "ssh://git@e.com/o/r/blob/v1/a",
            "/srv/o/r/blob/v1",
        ] {
            assert_eq!(BrowserAddress::parse(argument), None, "{argument}");
        }
    }

    #[test]
    fn the_references_say_where_a_name_ends() {
        let names = ["main", "release", "release/1.2", "release/1"];
        for (rest, revision, path) in [
            ("release/1.2/web/a.yaml", "release/1.2", "web/a.yaml"),
            ("release/1.3/web", "release", "1.3/web"),
            ("main", "main", ""),
            ("mainly/web", "mainly", "web"),
            ("0123456789/web/x", "0123456789", "web/x"),
        ] {
            let address = BrowserAddress {
                repository: String::new(),
                rest: rest.to_owned(),
            };
            let found = address.split(names.into_iter());
            assert_eq!(found, (revision.to_owned(), path.to_owned()), "{rest}");
        }
    }
}
