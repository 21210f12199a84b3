//! `latest`: the highest version among revisions. It means the same in Git, in catalogs and in PackageVariantSets.

use crate::release_name::ReleaseName;

/// The name of a revision that means the highest version.
pub const LATEST: &str = "latest";

/// The revision with the highest version, where `v3` counts as `3.0.0`; a pre-release only if nothing else exists.
/// `None` if no revision is a version. Names with words around the number do not count.
pub fn latest<T>(revisions: impl Iterator<Item = T>, name: impl Fn(&T) -> &str) -> Option<T> {
    let named = |revision: T| Some((ReleaseName::parse(name(&revision))?, revision));
    let versions = revisions.filter_map(named);
    let versions = versions.filter(|(release, _)| release.words() == ["", ""]);
    let highest = versions.max_by(|(a, _), (b, _)| {
        let finals = a.is_final().cmp(&b.is_final());
        finals.then_with(|| a.order(b))
    });
    highest.map(|(_, revision)| revision)
}

/// Whether both revisions are releases with the same words, and the first is lower.
pub fn is_older(revision: &str, than: &str) -> bool {
    let releases = ReleaseName::parse(revision).zip(ReleaseName::parse(than));
    releases.is_some_and(|(revision, than)| {
        revision.words() == than.words() && revision.order(&than).is_lt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_is_the_highest_version() {
        for (names, expected) in [
            (&["v1", "v10", "v9", "main"][..], Some("v10")),
            (&["v1", "v2.0.0", "v3.0.0", "v4.0.0-rc.1"], Some("v3.0.0")),
            (&["v4", "v3.9.9"], Some("v4")),
            (&["v0.9.0", "v0.10.0", "v0.10.0-rc.1"], Some("v0.10.0")),
            (&["1.2.3", "v1.2.4"], Some("v1.2.4")),
            (&["1", "2"], Some("2")),
            (&["v1.2", "v1.1.9"], Some("v1.2")),
            (&["v2.0.0-rc.1", "v2.0.0-rc.2"], Some("v2.0.0-rc.2")),
            (&["v9", "v10.0.0-rc.1", "w11"], Some("v9")),
            (&["v1", "v2.0.0", "v3"], Some("v3")),
            (&["1.2.3", "v1.3"], Some("v1.3")),
            (&["v1.0.0-beta.2", "v1.0.0-beta.10"], Some("v1.0.0-beta.10")),
            (&["2024.01.9", "2024.01.10"], Some("2024.01.10")),
            (&["v1.0.0", "v1.0.0-gke.2"], Some("v1.0.0")),
            (&["main", "stable"], None),
            (&[], None),
        ] {
            let found = latest(names.iter(), |name| name);
            assert_eq!(found.copied(), expected, "{names:?}");
        }
    }
}
