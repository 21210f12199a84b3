//! ElementPairs the elements of a list of a kustomization in three versions: by value, then by name, then by position among
//! equal names.

use std::collections::HashMap;

use super::{ElementNames, KustomizationList};
use crate::versions::Versions;
use krm_yaml::{NodeRef, Value};

/// An element of a list.
pub(crate) struct NamedElement {
    pub(crate) value: Value,
    pub(crate) names: ElementNames,
}

impl NamedElement {
    /// The elements of a list; `None` if a value cannot be read.
    pub(crate) fn all<'a>(
        list: KustomizationList,
        items: impl Iterator<Item = NodeRef<'a>>,
    ) -> Option<Vec<Self>> {
        let element = |node: NodeRef<'a>| {
            let value = node.value()?;
            let names = ElementNames::of(list, node);
            Some(Self { value, names })
        };
        items.map(element).collect()
    }
}

/// The positions of the elements that are the same in two versions, sorted by the first.
pub(crate) fn pair_versions(old: &[NamedElement], new: &[NamedElement]) -> Vec<(usize, usize)> {
    let partners = of_original(old, new).into_iter().enumerate();
    let mut pairs: Vec<_> = partners
        .filter_map(|(new, old)| Some((old?, new)))
        .collect();
    pairs.sort_unstable();
    pairs
}

/// For each element of a version, the position of the same one in the original.
fn of_original(original: &[NamedElement], side: &[NamedElement]) -> Vec<Option<usize>> {
    let mut pairs = ElementPairs::new(original, side);
    pairs.by_own_names();
    pairs.by_names(|names| &names.of_original);
    pairs.by_position();
    pairs.old_of_new
}

/// The number of each element, by its position in a version, and the count of numbers. Elements that are the same have
/// one number.
pub(crate) fn pair(lists: &Versions<Vec<NamedElement>>) -> (Versions<Vec<u32>>, u32) {
    let of_local = of_original(&lists.base, &lists.local);
    let of_upstream = of_original(&lists.base, &lists.upstream);
    let mut new = ElementPairs::new(&lists.local, &lists.upstream);
    new.leave_out(&of_local, &of_upstream);
    new.by_own_names();
    let mut count = 0;
    let mut next = || {
        count += 1;
        count - 1
    };
    let base: Vec<u32> = lists.base.iter().map(|_| next()).collect();
    let local = of_local.into_iter().map(|old| match old {
        Some(old) => base[old],
        None => next(),
    });
    let local: Vec<u32> = local.collect();
    let upstream = of_upstream.into_iter().zip(new.old_of_new);
    let upstream = upstream.map(|pair| match pair {
        (Some(old), _) => base[old],
        (None, Some(new)) => local[new],
        (None, None) => next(),
    });
    let upstream: Vec<u32> = upstream.collect();
    let numbers = Versions::new(base, local, upstream);
    (numbers, count)
}

/// Which elements of two lists are the same.
struct ElementPairs<'e> {
    old: &'e [NamedElement],
    new: &'e [NamedElement],
    /// The old elements that have a counterpart, or need none.
    is_taken: Vec<bool>,
    /// The same for the new elements.
    is_placed: Vec<bool>,
    old_of_new: Vec<Option<usize>>,
}

/// How elements with one name are paired.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SameName {
    /// Only if the name is unique in both lists.
    Unique,
    /// In order, if both lists have equally many.
    EquallyMany,
    /// In order, as many as both lists have.
    Any,
}

impl<'e> ElementPairs<'e> {
    fn new(old: &'e [NamedElement], new: &'e [NamedElement]) -> Self {
        Self {
            old,
            new,
            is_taken: vec![false; old.len()],
            is_placed: vec![false; new.len()],
            old_of_new: vec![None; new.len()],
        }
    }

    /// Leaves out the elements that have a counterpart elsewhere.
    fn leave_out(&mut self, of_old: &[Option<usize>], of_new: &[Option<usize>]) {
        self.is_taken = of_old.iter().map(Option::is_some).collect();
        self.is_placed = of_new.iter().map(Option::is_some).collect();
    }

    /// ElementPairs equal elements, then those with the same own names.
    fn by_own_names(&mut self) {
        self.by(SameName::Any, |element| {
            std::slice::from_ref(&element.value)
        });
        self.by_names(|names| &names.own);
    }

    /// ElementPairs the elements that have a name alone, level by level.
    fn by_names(&mut self, levels: fn(&ElementNames) -> &Vec<Vec<Value>>) {
        let all = self.old.iter().chain(self.new);
        let depth = all.map(|element| levels(&element.names).len()).max();
        for level in 0..depth.unwrap_or_default() {
            self.by(SameName::Unique, |element| {
                levels(&element.names).get(level).map_or(&[], Vec::as_slice)
            });
        }
    }

    /// ElementPairs elements whose best name others have too.
    fn by_position(&mut self) {
        self.by(SameName::EquallyMany, |element| {
            element.names.own.first().map_or(&[], Vec::as_slice)
        });
    }

    fn by(&mut self, which: SameName, names_of: impl Fn(&'e NamedElement) -> &'e [Value]) {
        let free = |all: &'e [NamedElement], is_paired: &[bool]| {
            let mut groups: HashMap<&'e Value, Vec<usize>> = HashMap::new();
            for (at, element) in all.iter().enumerate().filter(|(at, _)| !is_paired[*at]) {
                for name in names_of(element) {
                    groups.entry(name).or_default().push(at);
                }
            }
            groups
        };
        let olds = free(self.old, &self.is_taken);
        let news = free(self.new, &self.is_placed);
        let new: &'e [NamedElement] = self.new;
        for (at, element) in new.iter().enumerate() {
            for name in names_of(element) {
                let (Some(olds), Some(news)) = (olds.get(name), news.get(name)) else {
                    continue;
                };
                let is_clear = match which {
                    SameName::Unique => olds.len() == 1 && news.len() == 1,
                    SameName::EquallyMany => olds.len() == news.len(),
                    SameName::Any => true,
                };
                let position = news.iter().position(|new| *new == at);
                let old = position.and_then(|position| olds.get(position)).copied();
                if let Some(old) = old.filter(|_| is_clear)
                    && !self.is_taken[old]
                    && !self.is_placed[at]
                {
                    self.is_taken[old] = true;
                    self.is_placed[at] = true;
                    self.old_of_new[at] = Some(old);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements as `VALUE OWN-NAME NAME-OF-ORIGINAL`, one a word. The result has their numbers.
    fn paired(lists: [&str; 3]) -> [Vec<u32>; 3] {
        let element = |text: &str| {
            let mut parts = text.split('/');
            let value = Value::from(parts.next().unwrap_or_default());
            let mut level = || parts.next().map(|name| vec![Value::from(name)]);
            let (own, of_original) = (level(), level());
            let names = ElementNames {
                own: own.into_iter().collect(),
                of_original: of_original.into_iter().collect(),
            };
            NamedElement { value, names }
        };
        let [base, local, upstream] =
            lists.map(|list| list.split_whitespace().map(element).collect());
        let lists = Versions::new(base, local, upstream);
        pair(&lists).0.into_array()
    }

    #[test]
    fn elements_pair_by_value_then_name_then_position() {
        for (lists, expected) in [
            (["a b", "b a", "b"], [vec![0, 1], vec![1, 0], vec![1]]),
            (["a a", "a", "a a a"], [vec![0, 1], vec![0], vec![0, 1, 2]]),
            // By name, on one side and on both; both new.
            (["a/x", "b/x", "c/x"], [vec![0], vec![0], vec![0]]),
            (["", "b/x", "c/x"], [vec![], vec![0], vec![0]]),
            // A name of the original pairs no new elements.
            (["a/x/n", "b/y/n", "c/z/n"], [vec![0], vec![0], vec![0]]),
            (["", "b/y/n", "c/z/n"], [vec![], vec![0], vec![1]]),
            // A name that is not unique pairs by position, if equally many are left.
            (
                ["a/x b/x", "c/x d/x", "b/x"],
                [vec![0, 1], vec![0, 1], vec![1]],
            ),
            (
                ["a/x b/x", "c/x", "a/x b/x"],
                [vec![0, 1], vec![2], vec![0, 1]],
            ),
        ] {
            assert_eq!(paired(lists), expected, "{lists:?}");
        }
    }
}
