//! Which Kubernetes releases no longer serve a version of a kind.
//!
//! Source: Kubernetes documentation, Deprecated API Migration Guide.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::table::{section, words};
use super::units::{applied, object_key};
use super::{ReviewFinding, Risk};
use krm_core::resource::Resource;
use krm_core::resource_list::ResourceList;
use krm_core::results::Reason;
use krm_yaml::Path;

/// A minor release of Kubernetes: `1.34`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    major: u16,
    minor: u16,
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
            let major = parts.next()?.parse().ok()?;
            let minor = parts.next()?.parse().ok()?;
            Some(Self { major, minor })
        };
        read().ok_or_else(|| {
            format!("expected a release of Kubernetes, such as `1.34`, found `{text}`")
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Kinds in an API version that Kubernetes no longer serves from some release on.
pub(super) struct Removed {
    /// `group/version`.
    pub(super) version: &'static str,
    /// The kinds. Empty for all kinds of the version.
    pub(super) kinds: Vec<&'static str>,
    /// The first minor release of Kubernetes 1 that does not serve them.
    pub(super) minor: u16,
    /// The version to use; empty if there is none.
    pub(super) instead: &'static str,
}

/// All removals, the newest first.
pub(super) static REMOVED: LazyLock<Vec<Removed>> = LazyLock::new(|| {
    let rows = section("Removed versions").into_iter();
    let rows = rows.filter_map(|[minor, version, kinds, instead]| {
        Some(Removed {
            version,
            kinds: words(kinds),
            minor: minor.parse().ok()?,
            instead,
        })
    });
    rows.collect()
});

/// The removal because of which a release does not serve a resource. `None` if no removal is known.
fn removal(resource: &Resource, release: Release) -> Option<&'static Removed> {
    let mut all = REMOVED.iter();
    all.find(|removed| {
        let is_kind = removed.kinds.is_empty() || removed.kinds.contains(&&*resource.kind);
        let first = Release {
            major: 1,
            minor: removed.minor,
        };
        is_kind && removed.version == &*resource.api_version && release >= first
    })
}

/// Reports each resource of a package that a release does not serve.
pub(super) fn find(list: &ResourceList, release: Release, found: &mut Vec<ReviewFinding>) {
    for resource in applied(list) {
        let Some(removed) = removal(resource, release) else {
            continue;
        };
        if object_key(resource).is_none() {
            continue;
        }
        let instead = match removed.instead {
            "" => "no other version is served".to_owned(),
            instead => format!("use `{instead}`"),
        };
        let message = format!(
            "Kubernetes {release} does not serve {} of `{}`, since 1.{}: {instead}",
            resource.kind, removed.version, removed.minor
        );
        let finding =
            ReviewFinding::new(Risk::Blocking, Reason::VersionNotServed, resource, message);
        found.push(finding.at(Path::fields(&["apiVersion"])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_a_major_and_a_minor_number() {
        let release = |text: &str| text.parse::<Release>();
        assert_eq!(release("v1.34.2"), release("1.34"));
        assert!(release("1.9") < release("1.22"));
        for wrong in ["", "1", "latest", "1.x"] {
            assert!(release(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_version_is_served_until_it_is_removed() {
        let budget = Resource {
            api_version: "policy/v1beta1".into(),
            kind: "PodDisruptionBudget".into(),
            ..Resource::default()
        };
        let is_removed = |release: &str| {
            let release = release.parse().expect("a release");
            removal(&budget, release).is_some()
        };
        assert!(!is_removed("1.24") && is_removed("1.25") && is_removed("1.34"));
    }
}
