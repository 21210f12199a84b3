//! Where a package is at another revision of its upstream.
//!
//! ```text
//! releases/op-1.0.0.yaml at v1.0.0   ->  releases/op-1.1.0.yaml at v1.1.0   the version is part of the name
//! deploy/1.27 at v1.27.3             ->  deploy/1.28 at v1.28.0
//! web at v1.0.0                      ->  shop at v2.0.0                     upstream moved the directory
//! ```

use krm_address::release_name::ReleaseName;

use super::CommitGraph;
use crate::failure::{Failure, Result};

/// The path of a package at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathAt {
    pub(crate) path: String,
    /// The siblings of a path with a version in its name, if the version stayed and so did the files.
    pub(crate) unchanged_beside: Vec<String>,
}

/// Finds the path of a package at a commit. `names` are the releases of the lock and of the commit, if both are.
///
/// # Errors
/// The path no longer exists, or is no longer of its kind.
pub(crate) fn path_at(
    path: &str,
    [from, to]: [&str; 2],
    names: Option<[&ReleaseName; 2]>,
    graph: &dyn CommitGraph,
) -> Result<PathAt> {
    let before = graph.content(path, from)?;
    let is_of_kind = |is_folder: bool| {
        before
            .as_ref()
            .is_none_or(|before| before.is_folder == is_folder)
    };
    let found = |path: String| PathAt {
        path,
        unchanged_beside: Vec::new(),
    };
    if let Some(names) = names
        && let Some(versioned) = versioned(path, names, to, graph)?
        && let Some(content) = graph.content(&versioned, to)?
        && is_of_kind(content.is_folder)
    {
        return Ok(found(versioned));
    }
    if let Some(after) = graph.content(path, to)? {
        if !is_of_kind(after.is_folder) {
            return Err(other_kind(path, path, after.is_folder));
        }
        let is_unchanged = before.as_ref() == Some(&after) && from != to;
        let siblings = if is_unchanged {
            newer_siblings(path, to, graph)?
        } else {
            Vec::new()
        };
        return Ok(PathAt {
            path: path.to_owned(),
            unchanged_beside: siblings,
        });
    }
    if before.as_ref().is_some_and(|before| !before.is_folder) {
        // A file that became a folder did not move to one of its files.
        let folder = stem(path).0;
        let is_folder = |commit: &str| -> Result<bool> {
            let content = graph.content(folder, commit)?;
            Ok(content.is_some_and(|content| content.is_folder))
        };
        if is_folder(to)? && !is_folder(from)? {
            return Err(other_kind(path, folder, true));
        }
    }
    if let Some(moved) = graph.moved(path, from, to)
        && let Some(content) = graph.content(&moved, to)?
        && is_of_kind(content.is_folder)
    {
        return Ok(found(moved));
    }
    Err(Failure::new(format!("upstream removed `{path}`")))
}

fn other_kind(path: &str, now: &str, is_folder: bool) -> Failure {
    let message = if is_folder {
        format!(
            "upstream turned the file `{path}` into the directory `{now}`: it is a different package"
        )
    } else {
        format!("upstream turned the directory `{path}` into a file: it is a different package")
    };
    Failure::new(message)
}

/// The path with the new version in place of the old one. `None` if no sibling has it.
fn versioned(
    path: &str,
    [from, to]: [&ReleaseName; 2],
    commit: &str,
    graph: &dyn CommitGraph,
) -> Result<Option<String>> {
    let mut now = String::new();
    let mut is_other = false;
    for component in path.split('/') {
        let sibling = match named(component) {
            Some((own, end)) => {
                let is_beginning = own.parts() > 1 && from.begins_with_number_of(&own);
                let alike = |name: &String| {
                    let (other, other_end) = named(name)?;
                    (other.words() == own.words() && other_end == end).then_some(other)
                };
                let is_exact =
                    |name: &&String| alike(name).is_some_and(|other| other.is_number_of(to));
                // `1.28` for 1.28.3. The pre-releases of a release are next to it.
                let is_beginning = |name: &&String| {
                    alike(name).is_some_and(|other| {
                        let is_same_form = other.parts() == own.parts() && is_beginning;
                        is_same_form && other.is_final() && to.begins_with_number_of(&other)
                    })
                };
                // A number of one part is more often an API version than a release.
                if own.parts() > 1 || own.parts() == from.parts() && own.is_number_of(from) {
                    let names = graph.names(&now, commit)?;
                    let exact = names.iter().find(is_exact);
                    exact.or_else(|| names.iter().find(is_beginning)).cloned()
                } else {
                    None
                }
            }
            None => None,
        };
        is_other |= sibling.as_deref().is_some_and(|name| name != component);
        if !now.is_empty() {
            now.push('/');
        }
        now.push_str(sibling.as_deref().unwrap_or(component));
    }
    Ok(is_other.then_some(now))
}

/// The paths next to a path with a version in its name that have a later version there, lowest first.
pub(crate) fn newer_siblings(
    path: &str,
    commit: &str,
    graph: &dyn CommitGraph,
) -> Result<Vec<String>> {
    let components: Vec<&str> = path.split('/').collect();
    let mut versions = components.iter().enumerate().rev();
    let version = versions.find_map(|(at, name)| {
        let (own, end) = named(name)?;
        (own.parts() > 1).then_some((at, own, end))
    });
    let Some((at, own, end)) = version else {
        return Ok(Vec::new());
    };
    let folder = components[..at].join("/");
    let later = graph.names(&folder, commit)?.into_iter();
    let later = later.filter_map(|name| {
        let (other, other_end) = named(&name)?;
        let is_later = other_end == end && own.is_followed_by(&other);
        is_later.then_some((other, name))
    });
    let mut later: Vec<(ReleaseName, String)> = later.collect();
    later.sort_by(|(a, _), (b, _)| a.order(b));
    let mut found = Vec::new();
    for (_, name) in later {
        let mut sibling = components.clone();
        sibling[at] = &name;
        let sibling = sibling.join("/");
        if graph.content(&sibling, commit)?.is_some() {
            found.push(sibling);
        }
    }
    Ok(found)
}

/// A name of a file or folder as a release, and the end of the name.
fn named(name: &str) -> Option<(ReleaseName, &str)> {
    let (stem, end) = stem(name);
    Some((ReleaseName::parse(stem)?, end))
}

/// Splits off the end of a file's name.
fn stem(name: &str) -> (&str, &str) {
    let ends = [".yaml", ".yml", ".json"];
    let end = ends.iter().find(|end| name.ends_with(*end));
    name.split_at(name.len() - end.map_or(0, |end| end.len()))
}
