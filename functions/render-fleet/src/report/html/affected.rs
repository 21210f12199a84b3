//! Describes a set of variants as briefly as possible.

use std::collections::{BTreeSet, HashSet};

use super::{FleetPage, thousands, word};
use crate::Action;

/// The most variants that a list names.
const NAMES: usize = 1_000;
/// Up to this many variants are named directly instead of being counted.
const FEW: usize = 3;

/// A description of some variants.
#[derive(Default)]
pub(super) struct AffectedVariants<'r> {
    /// The number of variants, such as `9,998 variants`; empty for the whole run.
    pub(super) count: String,
    pub(super) label: String,
    pub(super) names: Vec<Link<'r>>,
    /// Whether `names` are the exceptions: the description means all other variants.
    pub(super) is_all_but: bool,
    pub(super) left_out: String,
    /// The numbers of the rows in the table, for the script: `0-8 10-18`.
    pub(super) rows: String,
    /// The number of the description that already lists the same variants.
    pub(super) same_as: Option<usize>,
    pub(super) number: usize,
}

/// A variant, and its row in the table.
pub(super) struct Link<'r> {
    pub(super) row: usize,
    pub(super) name: &'r str,
}

impl<'r> FleetPage<'r> {
    /// Describes the variants with these names: as all variants with an action, as all but a few, or one by one.
    pub(super) fn affected(&mut self, names: &'r [String]) -> AffectedVariants<'r> {
        let rows: Vec<usize> = names
            .iter()
            .filter_map(|name| self.rows.get(name).copied())
            .collect();
        let noun = |count: usize| if count == 1 { "variant" } else { "variants" };
        let number = self.known.len();
        let mut affected = AffectedVariants {
            rows: ranges(&rows),
            number,
            ..AffectedVariants::default()
        };
        if rows.is_empty() {
            return affected;
        }
        affected.count = format!("{} {}", thousands(rows.len() as u64), noun(rows.len()));
        let listed = if rows.len() <= FEW {
            rows
        } else {
            self.name_many(&mut affected, rows)
        };
        let left_out = listed.len().saturating_sub(NAMES);
        if left_out > 0 {
            affected.left_out = format!("and {} more", thousands(left_out as u64));
        }
        let links = listed.into_iter().take(NAMES).map(|row| Link {
            row,
            name: &self.report.variants[row].name,
        });
        affected.names = links.collect();
        affected
    }

    /// Finds a label for many variants; returns the rows that must still be listed.
    fn name_many(&mut self, affected: &mut AffectedVariants<'r>, rows: Vec<usize>) -> Vec<usize> {
        let (alike, actions) = self.alike(&rows);
        if alike.len() == rows.len() {
            affected.label = format!("all {} {actions}", thousands(rows.len() as u64));
            return Vec::new();
        }
        let others = alike.len() - rows.len();
        affected.is_all_but = rows.len() > 3 * others && rows.len() > 12;
        if affected.is_all_but {
            let others = thousands(others as u64);
            affected.label = format!("{}: all {actions} but {others}", affected.count);
        }
        if let Some(known) = self.known.get(&affected.rows) {
            affected.same_as = Some(*known);
            return Vec::new();
        }
        self.known.insert(affected.rows.clone(), affected.number);
        if affected.is_all_but {
            let own: HashSet<usize> = rows.into_iter().collect();
            alike.into_iter().filter(|row| !own.contains(row)).collect()
        } else {
            rows
        }
    }

    /// The rows of all variants with an action that one of these rows has, and the names of these actions.
    fn alike(&self, rows: &[usize]) -> (Vec<usize>, String) {
        let variants = &self.report.variants;
        let actions: BTreeSet<Option<Action>> =
            rows.iter().map(|row| variants[*row].action).collect();
        let alike = variants.iter().enumerate();
        let alike = alike.filter(|(_, entry)| actions.contains(&entry.action));
        let words = actions.iter().map(|action| word(*action));
        (
            alike.map(|(row, _)| row).collect(),
            words.collect::<Vec<_>>().join(" and "),
        )
    }
}

/// Row numbers as ranges: `0-8 10`.
fn ranges(rows: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for row in rows {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *row => *last = *row,
            _ => ranges.push((*row, *row)),
        }
    }
    let texts = ranges.into_iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    texts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 4, 6, 7]), "0-2 4 6-7");
        assert_eq!(ranges(&[]), "");
    }
}
