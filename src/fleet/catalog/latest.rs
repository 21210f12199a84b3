//! The newest of revisions: the highest `v<number>`, else the highest semantic version.

use semver::Version;

/// The newest revision among tags: those of one of these folders, else those of no folder.
pub(super) fn latest(folders: &[&str], tags: &[String]) -> Option<String> {
    let below = folders.iter().map(|folder| {
        let names = tags.iter().filter_map(|tag| {
            let name = tag.strip_prefix(folder)?.strip_prefix('/')?;
            (!name.contains('/')).then_some(name)
        });
        newest(names)
    });
    let plain = tags.iter().map(String::as_str);
    let plain = plain.filter(|tag| !tag.contains('/'));
    below.flatten().next().or_else(|| newest(plain))
}

/// The newest of these names; `None` if none of them is a revision.
pub(super) fn newest<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Option<String> {
    let number = |name: &str| name.strip_prefix('v')?.parse::<u64>().ok();
    let numbered = names.clone().filter_map(|name| Some((number(name)?, name)));
    let by_number = numbered.max_by_key(|(number, _)| *number);
    let version = |name: &str| Version::parse(name.strip_prefix('v').unwrap_or(name)).ok();
    let versions = names.filter_map(|name| Some((version(name)?, name)));
    let by_version = || versions.max_by(|(a, _), (b, _)| a.cmp(b));
    let newest = by_number.map(|(_, name)| name);
    newest
        .or_else(|| by_version().map(|(_, name)| name))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_before_versions() {
        for (names, expected) in [
            (&["v1", "v10", "v9", "v11.0.0", "main"][..], Some("v10")),
            (&["v0.9.0", "v0.10.0", "v0.10.0-rc.1"], Some("v0.10.0")),
            (&["1.2.3", "v1.2.4"], Some("v1.2.4")),
            (&["main", "stable"], None),
            (&[], None),
        ] {
            let found = newest(names.iter().copied());
            assert_eq!(found.as_deref(), expected, "{names:?}");
        }
    }

    #[test]
    fn tags_of_the_package_go_before_others() {
        let tags: Vec<String> = ["v7", "web/nginx/v2", "web/nginx/old/v9", "nginx/v3"]
            .map(str::to_owned)
            .into();
        let found = |folders: &[&str]| latest(folders, &tags);
        assert_eq!(found(&["web/nginx", "nginx"]).as_deref(), Some("v2"));
        assert_eq!(found(&["a/nginx", "nginx"]).as_deref(), Some("v3"));
        assert_eq!(found(&["other"]).as_deref(), Some("v7"));
    }
}
