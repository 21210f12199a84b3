//! The rule of every merge: of three versions of one thing, which one stands.
//!
//! It is the same for scalars, lists that are one value, elements, Kptfile sections, resources and
//! files: what only one side changed is taken; what both changed to one end is taken; where both
//! changed to different ends, somebody has to win, and that is a conflict.
//!
//! | base | local | upstream | stands |
//! |---|---|---|---|
//! | 1 | 2 | 1 | local |
//! | 1 | 1 | 2 | upstream |
//! | 1 | 2 | 2 | both are the same |
//! | 1 | 2 | 3 | the winner, and a conflict |
//!
//! Absence is a version like any other: to remove is to change.
//!
//! Source: contract, merge-package; merging-fields document, the tables of Field Merge Semantics.

/// One of the two versions that are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The local package.
    Local,
    /// The package revision wanted.
    Upstream,
}

impl Side {
    /// The word in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Upstream => "upstream",
        }
    }
}

/// What happens where both sides changed something to different ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Upstream's version stands.
    #[default]
    Upstream,
    /// The local version stands.
    Local,
    /// Nothing is changed at all; each conflict is an error.
    Error,
}

impl OnConflict {
    /// The values of the field `onConflict`.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("upstream", Self::Upstream),
        ("local", Self::Local),
        ("error", Self::Error),
    ];

    /// The side that stands in a conflict. Under `error` nobody sees it.
    #[must_use]
    pub fn winner(self) -> Side {
        match self {
            Self::Local => Side::Local,
            Self::Upstream | Self::Error => Side::Upstream,
        }
    }
}

/// Which version stands, and whether that was a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The version that stands; `Local` where both are the same, so that nothing has to be done.
    pub side: Side,
    /// Whether both sides changed it, to different ends.
    pub conflict: bool,
}

/// Merges three versions of one thing; `winner` stands in a conflict.
pub fn merge<T>(
    base: Option<T>,
    local: Option<T>,
    upstream: Option<T>,
    winner: Side,
    equal: impl Fn(&T, &T) -> bool,
) -> Outcome {
    let same = |a: &Option<T>, b: &Option<T>| match (a, b) {
        (Some(a), Some(b)) => equal(a, b),
        (None, None) => true,
        _ => false,
    };
    // The cheap question first: mostly upstream did not touch it.
    if same(&base, &upstream) || same(&local, &upstream) {
        return Outcome {
            side: Side::Local,
            conflict: false,
        };
    }
    if same(&base, &local) {
        return Outcome {
            side: Side::Upstream,
            conflict: false,
        };
    }
    Outcome {
        side: winner,
        conflict: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pattern of three versions, with absence: equal letters are equal values.
    #[test]
    fn every_pattern() {
        use Side::{Local, Upstream};
        let clean = |side| (side, false);
        let table: [(&str, Option<(Side, bool)>); 15] = [
            // base, local, upstream; `None` is a conflict.
            ("---", Some(clean(Local))),
            ("--a", Some(clean(Upstream))),
            ("-a-", Some(clean(Local))),
            ("-aa", Some(clean(Local))),
            ("-ab", None),
            ("a--", Some(clean(Local))),
            ("a-a", Some(clean(Local))),
            ("a-b", None),
            ("aa-", Some(clean(Upstream))),
            ("aaa", Some(clean(Local))),
            ("aab", Some(clean(Upstream))),
            ("ab-", None),
            ("aba", Some(clean(Local))),
            ("abb", Some(clean(Local))),
            ("abc", None),
        ];
        for (pattern, expected) in table {
            let mut versions = pattern.chars().map(|c| (c != '-').then_some(c));
            let mut next = || versions.next().flatten();
            let (base, local, upstream) = (next(), next(), next());
            for winner in [Local, Upstream] {
                let outcome = merge(base, local, upstream, winner, |a, b| a == b);
                let (side, conflict) = expected.unwrap_or((winner, true));
                assert_eq!(outcome, Outcome { side, conflict }, "{pattern}, {winner:?}");
                // The laws of the contract, for one thing.
                let stands = if outcome.side == Local {
                    local
                } else {
                    upstream
                };
                if base == upstream {
                    assert_eq!(stands, local, "{pattern}");
                }
                if base == local || local == upstream {
                    assert_eq!(stands, upstream, "{pattern}");
                }
                assert_eq!(
                    outcome.conflict,
                    base != local && base != upstream && local != upstream
                );
            }
        }
    }

    #[test]
    fn an_error_takes_no_side_that_anybody_sees() {
        assert_eq!(OnConflict::Local.winner(), Side::Local);
        assert_eq!(OnConflict::Upstream.winner(), Side::Upstream);
        assert_eq!(OnConflict::default(), OnConflict::Upstream);
    }
}
