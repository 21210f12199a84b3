//! The rule of every merge: which of three versions of one thing wins. It takes no sides: a conflict is an outcome, and
//! the caller decides it.
//!
//! It is the same for scalars, lists that are one value, elements, Kptfile sections, resources and
//! files: a change that one side made is taken; a change that both made alike is taken; different
//! changes are a conflict.
//!
//! | base | local | upstream | wins |
//! |---|---|---|---|
//! | 1 | 2 | 1 | local |
//! | 1 | 1 | 2 | upstream |
//! | 1 | 2 | 2 | both are the same |
//! | 1 | 2 | 3 | a conflict, which the caller decides |
//!
//! Absence is a version like any other: a removal is a change.
//!
//! Source: contract, merge-package; merging-fields document, the tables of Field Merge Semantics.

use krm_core::word_enum;

use super::versions::Versions;

word_enum! {
    /// One of the two versions that are merged.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Side {
        /// The local package.
        Local = "local",
        /// The upstream revision to upgrade to.
        Upstream = "upstream",
    }
}

impl Side {
    /// The opposite side.
    pub fn other(self) -> Self {
        match self {
            Self::Local => Self::Upstream,
            Self::Upstream => Self::Local,
        }
    }

    /// The version of this side.
    pub fn of<T>(self, versions: Versions<T>) -> T {
        match self {
            Self::Local => versions.local,
            Self::Upstream => versions.upstream,
        }
    }

    /// The version of this side, to be set.
    pub(crate) fn of_mut<T>(self, versions: &mut Versions<T>) -> &mut T {
        match self {
            Self::Local => &mut versions.local,
            Self::Upstream => &mut versions.upstream,
        }
    }
}

word_enum! {
    /// What happens if both sides changed something differently.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum OnConflict {
        /// Upstream's version wins.
        #[default]
        Upstream = "upstream",
        /// The local version wins.
        Local = "local",
        /// Nothing is changed at all; each conflict is an error.
        Error = "error",
    }
}

impl From<Side> for OnConflict {
    fn from(side: Side) -> Self {
        match side {
            Side::Local => Self::Local,
            Side::Upstream => Self::Upstream,
        }
    }
}

impl OnConflict {
    /// The side that wins a conflict. `None` for an error.
    pub fn side(self) -> Option<Side> {
        match self {
            Self::Local => Some(Side::Local),
            Self::Upstream => Some(Side::Upstream),
            Self::Error => None,
        }
    }

    /// The side that wins a conflict. Under `error` no one sees it.
    pub fn winner(self) -> Side {
        self.side().unwrap_or(Side::Upstream)
    }
}

/// The outcome of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The version of a side wins. If both sides are the same, local wins, so that nothing has to be done.
    Wins(Side),
    /// Both sides changed it differently.
    Conflict,
}

/// Merges three versions of one thing.
pub fn merge<T>(versions: Versions<Option<T>>, equal: impl Fn(&T, &T) -> bool) -> Outcome {
    let [base, local, upstream] = versions.into_array();
    let same = |a: &Option<T>, b: &Option<T>| match (a, b) {
        (Some(a), Some(b)) => equal(a, b),
        (None, None) => true,
        _ => false,
    };
    // The most frequent case first: upstream changed nothing.
    if same(&base, &upstream) || same(&local, &upstream) {
        return Outcome::Wins(Side::Local);
    }
    if same(&base, &local) {
        return Outcome::Wins(Side::Upstream);
    }
    Outcome::Conflict
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pattern of three versions, absence included: equal letters are equal values.
    #[test]
    fn every_pattern() {
        let local = Outcome::Wins(Side::Local);
        let upstream = Outcome::Wins(Side::Upstream);
        let table = [
            // base, local, upstream
            ("---", local),
            ("--a", upstream),
            ("-a-", local),
            ("-aa", local),
            ("-ab", Outcome::Conflict),
            ("a--", local),
            ("a-a", local),
            ("a-b", Outcome::Conflict),
            ("aa-", upstream),
            ("aaa", local),
            ("aab", upstream),
            ("ab-", Outcome::Conflict),
            ("aba", local),
            ("abb", local),
            ("abc", Outcome::Conflict),
        ];
        for (pattern, expected) in table {
            let mut letters = pattern.chars().map(|c| (c != '-').then_some(c));
            let mut next = || letters.next().flatten();
            let (base, local, upstream) = (next(), next(), next());
            let versions = Versions::new(base, local, upstream);
            let outcome = merge(versions, |a, b| a == b);
            assert_eq!(outcome, expected, "{pattern}");
            // The laws of the contract, for one thing.
            let winner = match outcome {
                Outcome::Wins(Side::Local) => Some(local),
                Outcome::Wins(Side::Upstream) => Some(upstream),
                Outcome::Conflict => None,
            };
            if base == upstream {
                assert_eq!(winner, Some(local), "{pattern}");
            }
            if base == local || local == upstream {
                assert_eq!(winner, Some(upstream), "{pattern}");
            }
            let all_differ = base != local && base != upstream && local != upstream;
            assert_eq!(outcome == Outcome::Conflict, all_differ, "{pattern}");
        }
    }

    #[test]
    fn an_error_keeps_the_local_side() {
        assert_eq!(OnConflict::Local.winner(), Side::Local);
        assert_eq!(OnConflict::Upstream.winner(), Side::Upstream);
        assert_eq!(OnConflict::default(), OnConflict::Upstream);
    }
}
