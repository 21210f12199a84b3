//! Names like one that is not there.

/// How alike names are, from 0 to 1: of three letters, two may change places.
const LIKENESS: f64 = 0.66;
/// Names beyond these are not looked at.
const NAMES: usize = 20_000;

/// At most `count` of the names, those that are most like one.
pub(crate) fn nearest<'n>(
    name: &str,
    names: impl IntoIterator<Item = &'n str>,
    count: usize,
) -> Vec<&'n str> {
    let names = names.into_iter().take(NAMES);
    let mut found: Vec<_> = names
        .map(|other| (likeness(name, other), other))
        .filter(|(likeness, _)| *likeness > LIKENESS)
        .collect();
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.truncate(count);
    found.into_iter().map(|(_, name)| name).collect()
}

/// By the fewest letters to change, or by those that both have, as in a path and the end of it.
fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(one, other).max(strsim::jaro(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_first_and_nothing_unlike() {
        let names = ["package", "web", "docs"];
        assert_eq!(nearest("wbe", names, 3), ["web"]);
        assert_eq!(
            nearest("manifests", ["apps/manifests", "docs"], 3),
            ["apps/manifests"]
        );
        assert_eq!(
            nearest("onConflct", ["combine", "onConflict"], 3),
            ["onConflict"]
        );
        assert!(nearest("local", ["upstream", "none"], 3).is_empty());
    }
}
