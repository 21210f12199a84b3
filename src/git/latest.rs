//! `latest`: the highest version among revisions.

use semver::Version;

use super::Repository;

/// The name that asks for the highest version.
pub(super) const LATEST: &str = "latest";

impl Repository {
    /// The tag of the highest version of a directory: among the tags in its folder, else in a folder around it, else
    /// among those in no folder. The name is without the folder.
    pub(super) fn latest_tag(&self, directory: &str) -> Option<String> {
        let tags = self.names_of_tags();
        let mut folder = directory;
        loop {
            let below = tags.iter().filter_map(|tag| match folder {
                "" => Some(tag.as_str()),
                folder => tag.strip_prefix(folder)?.strip_prefix('/'),
            });
            let highest = highest(below.filter(|name| !name.contains('/')));
            if highest.is_some() || folder.is_empty() {
                return highest.map(str::to_owned);
            }
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
}

/// The highest of these versions, where `v3` counts as `3.0.0`; a pre-release only if there is nothing else.
fn highest<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let versions = names.filter_map(|name| Some((version(name)?, name)));
    let rank = |version: &Version| (version.pre.is_empty(), version.clone());
    let highest = versions.max_by_key(|(version, _)| rank(version));
    highest.map(|(_, name)| name)
}

/// The version that a name is; what it lacks is zero.
fn version(name: &str) -> Option<Version> {
    let text = name.strip_prefix('v').unwrap_or(name);
    let (core, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let lacking = match core.split('.').count() {
        1 => ".0.0",
        2 => ".0",
        _ => "",
    };
    Version::parse(&format!("{core}{lacking}{rest}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_final_release_is_higher_than_a_pre_release() {
        for (names, expected) in [
            (&["v1", "v10", "v9", "main"][..], Some("v10")),
            (&["v9", "v10.0.0-rc.1", "w11"], Some("v9")),
            (&["v1", "v2.0.0", "v3"], Some("v3")),
            (&["1.2.3", "v1.3"], Some("v1.3")),
            (&["v1.0.0-beta.2", "v1.0.0-beta.10"], Some("v1.0.0-beta.10")),
            (&["main", "stable"], None),
        ] {
            assert_eq!(highest(names.iter().copied()), expected, "{names:?}");
        }
    }
}
