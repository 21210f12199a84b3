//! Which functions of a Kptfile's pipeline are the same.
//!
//! They are matched by `name` if all functions of all versions have one. If none has a name, and no version
//! has an image twice, they are matched by image without tag or digest (`exec`: by the first word of the
//! command). Otherwise they merge as one value. Functions named `PackageVariant.*` are always matched by
//! name, and do not count in this choice.
//!
//! Source: pipeline document, Design; contract, merge-package, Kptfile.

use std::collections::HashSet;

use super::versions::Versions;
use crate::kptfile::is_of_package_variant;
use crate::schema::Identity;
use crate::yaml::{NodeRef, Value};

/// Identities of the functions of one list in three versions.
pub(super) struct Functions<'a> {
    pub(super) identities: Versions<Vec<Identity<'a>>>,
    /// Whether they stand or fall together, but for those of PackageVariants.
    pub(super) together: bool,
}

impl Functions<'_> {
    /// Whether a function stands or falls with others.
    pub(super) fn is_together(&self, identity: &Identity<'_>) -> bool {
        self.together && matches!(identity, Identity::Values(_))
    }
}

/// Tells the functions of three lists apart; `None` if an element is no function.
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
    let identity = |function: &NodeRef<'a>| {
        if by_name || is_package_variants(*function) {
            return name(*function).map(Identity::Key);
        }
        let value = if by_program {
            program(*function).map(Value::from)
        } else {
            function.value()
        };
        value.map(|value| Identity::Values(vec![Some(value)]))
    };
    let of = |list: &[NodeRef<'a>]| list.iter().map(identity).collect::<Option<Vec<_>>>();
    let identities = Versions {
        base: of(lists.base)?,
        local: of(lists.local)?,
        upstream: of(lists.upstream)?,
    };
    let together = !by_name && !by_program;
    Some(Functions {
        identities,
        together,
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

/// What a function runs: its image without tag and digest, or the first word of its command.
fn program(function: NodeRef<'_>) -> Option<String> {
    if let Some(image) = function.get("image").and_then(|image| image.as_str()) {
        return Some(repository(image).to_owned());
    }
    let command = function.get("exec")?.as_str()?;
    Some(format!("exec {}", command.split_whitespace().next()?))
}

/// An image reference without tag and digest. A colon before the last slash is a registry's port.
pub(super) fn repository(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    let path = image.rfind('/').map_or(0, |slash| slash + 1);
    match image[path..].find(':') {
        Some(colon) => &image[..path + colon],
        None => image,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
