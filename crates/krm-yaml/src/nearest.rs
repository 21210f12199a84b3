//! Finds names that are similar to a name that does not exist.

/// Names must be more alike than this, from 0 to 1: two of three letters may be swapped.
const LIKENESS: f64 = 0.66;
/// Limit of the names that are compared.
const NAMES: usize = 20_000;

/// At most `count` of the names, the most similar ones first.
pub fn nearest<'n>(
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

/// The similarity of two names: by the number of letters to change, or by common letters, as in a path and its end.
fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(one, other).max(strsim::jaro(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_begin_with_the_nearest_and_leave_out_unlike_names() {
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
