//! Which functions of a Kptfile's pipeline are the same.
//!
//! They are matched by `name` if all functions of all versions have one. If none has a name, and no version
//! has an image twice, they are matched by image without tag or digest (`exec`: by the first word of the
//! command), then by the last component of the image, since catalogs move. Otherwise they merge as one value.
//! Functions named `PackageVariant.*` are always matched by name, and do not count in this choice.
//!
//! Source: pipeline document, Design; contract, merge-package, Kptfile.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::versions::Versions;
use krm_core::kptfile::is_of_package_variant;
use krm_core::schema::Identity;
use krm_yaml::{NodeRef, Value};

/// Identities of the functions of one list in three versions.
pub(super) struct Functions<'a> {
    pub(super) identities: Versions<Vec<Identity<'a>>>,
    /// Whether all functions, except those of PackageVariants, are decided together.
    pub(super) decided_jointly: bool,
}

impl Functions<'_> {
    /// Whether a function is decided together with others.
    pub(super) fn is_decided_jointly(&self, identity: &Identity<'_>) -> bool {
        self.decided_jointly && matches!(identity, Identity::Values(_))
    }
}

/// The identities of the functions in three lists. `None` if an element is not a function.
pub(super) fn identities<'a>(lists: Versions<&[NodeRef<'a>]>) -> Option<Functions<'a>> {
    let all = || lists.into_iter().flatten();
    if !all().all(|function| function.kind().is_mapping()) {
        return None;
    }
    let own = || all().filter(|function| !is_package_variants(**function));
    let by_name = own().all(|function| name(*function).is_some());
    let by_program = !by_name
        && own().all(|function| name(*function).is_none() && program(*function).is_some())
        && lists.into_iter().all(|list| {
            let mut seen = HashSet::new();
            let mut own = list.iter().filter(|one| !is_package_variants(**one));
            own.all(|function| seen.insert(program(*function)))
        });
    let relocated = if by_program {
        relocated(lists.map(|list| {
            let own = list.iter().filter(|one| !is_package_variants(**one));
            own.filter_map(|function| image(*function)).collect()
        }))
    } else {
        HashMap::new()
    };
    let identity = |function: &NodeRef<'a>| {
        if by_name || is_package_variants(*function) {
            return name(*function).map(Identity::Key);
        }
        let value = if by_program {
            let known = image(*function).and_then(|image| relocated.get(image).copied());
            let known = known.map(str::to_owned);
            known.or_else(|| program(*function)).map(Value::from)
        } else {
            function.value()
        };
        value.map(|value| Identity::Values(vec![Some(value)]))
    };
    let of = |list: &[NodeRef<'a>]| list.iter().map(identity).collect::<Option<Vec<_>>>();
    let identities = lists.map(of).all()?;
    let decided_jointly = !by_name && !by_program;
    Some(Functions {
        identities,
        decided_jointly,
    })
}

fn name<'a>(function: NodeRef<'a>) -> Option<&'a str> {
    function
        .get("name")?
        .as_str()
        .filter(|name| !name.is_empty())
}

/// Whether a function is one that a PackageVariant put into the pipeline.
pub(super) fn is_package_variants(function: NodeRef<'_>) -> bool {
    name(function).is_some_and(is_of_package_variant)
}

/// Maps images that moved to another registry or path to the image that each counts as.
///
/// Two images are the same if each is in a version that does not have the other, and no other such image of these
/// versions has the same last component.
pub(super) fn relocated(images: Versions<HashSet<&str>>) -> HashMap<&str, &str> {
    /// Images that are the same, and the versions that have one of them.
    #[derive(Default)]
    struct ImageGroup<'a> {
        images: Vec<&'a str>,
        versions: [bool; 3],
    }
    let mut groups: BTreeMap<&str, ImageGroup<'_>> = BTreeMap::new();
    for (version, images) in images.into_iter().enumerate() {
        for image in images {
            let group = groups.entry(image).or_default();
            group.images = vec![image];
            group.versions[version] = true;
        }
    }
    for [one, other] in [[0, 1], [0, 2], [1, 2]] {
        let mut alone: BTreeMap<&str, [Vec<&str>; 2]> = BTreeMap::new();
        for (image, ImageGroup { versions, .. }) in &groups {
            if versions[one] != versions[other] {
                let sides = alone.entry(last_component(image)).or_default();
                sides[usize::from(versions[other])].push(image);
            }
        }
        for sides in alone.into_values() {
            let ([left], [right]) = (sides[0].as_slice(), sides[1].as_slice()) else {
                continue;
            };
            let overlap = (0..3).any(|at| groups[left].versions[at] && groups[right].versions[at]);
            if overlap {
                continue;
            }
            if let Some(moved) = groups.remove(right)
                && let Some(group) = groups.get_mut(left)
            {
                group.images.extend(moved.images);
                (0..3).for_each(|at| group.versions[at] |= moved.versions[at]);
            }
        }
    }
    let images = groups.into_iter().flat_map(|(first, group)| {
        let others = group
            .images
            .into_iter()
            .filter(move |image| *image != first);
        others.map(move |image| (image, first))
    });
    images.collect()
}

/// What a function runs: its image without tag and digest, or the first word of its command.
fn program(function: NodeRef<'_>) -> Option<String> {
    if let Some(image) = image(function) {
        return Some(image.to_owned());
    }
    let command = function.get("exec")?.as_str()?;
    Some(format!("exec {}", command.split_whitespace().next()?))
}

/// The image of a function without tag and digest.
fn image(function: NodeRef<'_>) -> Option<&str> {
    Some(repository(function.get("image")?.as_str()?))
}

pub(super) fn last_component(image: &str) -> &str {
    image.rsplit('/').next().unwrap_or(image)
}

/// The repository, the tag and the digest of an image reference.
pub fn image_parts(image: &str) -> (&str, Option<&str>, Option<&str>) {
    let (repository, version) = image.split_at(repository(image).len());
    let (tag, digest) = match version.split_once('@') {
        Some((tag, digest)) => (tag, Some(digest)),
        None => (version, None),
    };
    (repository, tag.strip_prefix(':'), digest)
}

/// An image reference without tag and digest. A colon before the last slash is a registry's port.
pub fn repository(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    let path = image.rfind('/').map_or(0, |slash| slash + 1);
    image[path..]
        .find(':')
        .map_or(image, |colon| &image[..path + colon])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[base, local, upstream]`, and the pairs of images that count as one.
    #[test]
    fn images_that_moved_to_another_registry() {
        type Case<'c> = ([&'c [&'c str]; 3], &'c [(&'c str, &'c str)]);
        let table: [Case<'_>; 12] = [
            // One side moved the image; both moved it, to the same place and to different places; both added it.
            ([&["a/f"], &["a/f"], &["b/f"]], &[("b/f", "a/f")]),
            ([&["a/f"], &["b/f"], &["a/f"]], &[("b/f", "a/f")]),
            ([&["a/f"], &["b/f"], &["b/f"]], &[("b/f", "a/f")]),
            (
                [&["a/f"], &["b/f"], &["c/f"]],
                &[("b/f", "a/f"), ("c/f", "a/f")],
            ),
            ([&[], &["a/f"], &["b/f"]], &[("b/f", "a/f")]),
            // A short name, a port.
            (
                [&["f"], &["f"], &["host:5000/x/y/f"]],
                &[("host:5000/x/y/f", "f")],
            ),
            ([&["a/f"], &["a/f"], &["a/g"]], &[]),
            // A second image that is new next to the moved one is another function.
            ([&["a/f"], &["a/f", "l/f"], &["b/f"]], &[("b/f", "a/f")]),
            ([&["a/f"], &["a/f"], &["a/f", "b/f"]], &[]),
            ([&["a/f"], &["a/f", "b/f"], &["b/f"]], &[]),
            // It is unclear which of two images it is.
            ([&["a/f"], &["a/f"], &["b/f", "c/f"]], &[]),
            ([&["a/f", "b/f"], &["a/f", "b/f"], &["c/f"]], &[]),
        ];
        for (versions, expected) in table {
            let [base, local, upstream] = versions.map(|images| images.iter().copied().collect());
            let versions = Versions::new(base, local, upstream);
            let found: BTreeMap<_, _> = relocated(versions.clone()).into_iter().collect();
            assert_eq!(found, expected.iter().copied().collect(), "{versions:?}");
        }
    }

    #[test]
    fn images_without_tag_and_digest() {
        for (image, expected) in [
            ("set-labels", "set-labels"),
            ("set-labels:v0.1", "set-labels"),
            ("gcr.io/kpt-fn/set-labels:v0.1", "gcr.io/kpt-fn/set-labels"),
            ("host:5000/a", "host:5000/a"),
            ("host:5000/a:v1", "host:5000/a"),
            ("host:5000/a:v1@sha256:0123", "host:5000/a"),
            ("a@sha256:0123", "a"),
        ] {
            assert_eq!(repository(image), expected, "{image}");
        }
    }
}
