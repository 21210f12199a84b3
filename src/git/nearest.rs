//! Names like one that is not there.

/// How many are named.
const COUNT: usize = 3;
/// How much of a name must be in another, from 0 to 1.
const LIKENESS: f32 = 0.5;
/// Names beyond these are not looked at.
const NAMES: usize = 20_000;

/// Those of the names that are most like one.
pub(super) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let names: Vec<&str> = names.take(NAMES).collect();
    let found = similar::get_close_matches(name, &names, COUNT, LIKENESS);
    found.into_iter().map(str::to_owned).collect()
}
