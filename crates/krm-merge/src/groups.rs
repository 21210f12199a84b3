//! Keys of one mapping that merge as one value, because two changes of them may be valid separately but not together.
//!
//! ```yaml
//! # local            # upstream                # neither kpt nor an API server takes both
//! configPath: a.yaml configMap: {region: eu}
//! ```
//!
//! Facts of the APIs: kpt's Kptfile v1; Kubernetes' validation of the types named here.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Keys that merge as one value, in some cases.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    keys: Vec<&'static str>,
    /// Whether the group has all keys but these.
    are_others: bool,
    pub(super) when: When,
}

/// When the keys are one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// If local and upstream have different keys, or one side removed the key that the other replaced: the keys exclude
    /// each other.
    Alternatives,
    /// As `Alternatives`, for the version of an image, unless images merge as one value.
    ImageVersion,
    /// If local and upstream differ in a field that determines the allowed values of the others. The strings are the
    /// name and the default of that field.
    Kind(&'static str, &'static str),
}

impl Group {
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains(&key) != self.are_others
    }
}

/// A place, and the groups of the mapping there.
type GroupsOfPlace = (&'static str, Vec<Group>);

/// For each name of a mapping, its groups in each place.
static GROUPS: LazyLock<HashMap<&str, Vec<GroupsOfPlace>>> = LazyLock::new(|| {
    let mut groups: HashMap<_, Vec<GroupsOfPlace>> = HashMap::new();
    let lines = include_str!("groups.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('|').map(str::trim);
        let [mappings, keys, when] = [(); 3].map(|()| columns.next().unwrap_or_default());
        let (place, names) = mappings.split_once(' ').unwrap_or_default();
        for name in names.split(", ") {
            let places = groups.entry(name).or_default();
            let group = group(keys, when);
            match places.iter_mut().find(|(other, _)| *other == place) {
                Some((_, groups)) => groups.push(group),
                None => places.push((place, vec![group])),
            }
        }
    }
    groups
});

fn group(keys: &'static str, when: &'static str) -> Group {
    let others = keys.strip_prefix("all but ");
    Group {
        keys: others.unwrap_or(keys).split(", ").collect(),
        are_others: others.is_some(),
        when: match when.split_once(" is").unwrap_or((when, "")) {
            ("", _) => When::Alternatives,
            ("always", _) => When::Always,
            ("image version", _) => When::ImageVersion,
            (key, default) => When::Kind(key, default.trim_start()),
        },
    }
}

/// The groups of the mapping with a name in a place, as in `groups.txt`.
pub(super) fn of(place: &str, name: &str) -> &'static [Group] {
    let mut places = GROUPS.get(name).into_iter().flatten();
    let found = places.find(|(other, _)| *other == place);
    found.map_or(&[], |(_, groups)| groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let [group] = of("field", "updateStrategy") else {
            panic!("one group")
        };
        assert!(group.has("rollingUpdate") && !group.has("paused"));
        assert_eq!(group.when, When::Kind("type", "RollingUpdate"));
        assert_eq!(
            of("field", "appArmorProfile")[0].when,
            When::Kind("type", "")
        );
        let [volume] = of("element", "volumes") else {
            panic!("one group")
        };
        assert!(volume.has("emptyDir") && !volume.has("name"));
        assert_eq!(of("kpt", "function").len(), 2);
        assert!(of("spec", "serving.knative.dev/Service").is_empty());
    }
}
