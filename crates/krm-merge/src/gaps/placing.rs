//! Puts the merged lines into the gaps of the merged text.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::lines::{GapLine, GapToken, KeyedOwner, TokensAround, line_key, owners};
use super::merged_line::{AddedBy, MergedLine};
use super::same::unify_owners;
use super::weave::{Woven, weave};
use super::{GapLines, dashes};
use crate::{Side, Versions};
use krm_core::diff::kept;
use krm_yaml::{Editor, GapWalk, NodeRef, ScalarAbove, newline_at};

impl GapLines {
    /// Replaces the gaps of the merged document with the merged gaps.
    pub(super) fn apply<'d>(&self, merged: NodeRef<'d>, editor: &mut Editor<'d, '_>) {
        let Some(walk) = GapWalk::of(merged) else {
            return;
        };
        let result = MergedOwners::of(owners(&walk.owners), self);
        let woven = self.weave(&result);
        let mut slots = Placing::of(self, &result, &woven).run(&woven);
        let text = merged.document.text;
        dashes::without_moved(&walk, text, &self.after_dashes, &mut slots);
        write(&walk, slots, self.keeps_head, text, editor);
    }

    fn weave(&self, result: &MergedOwners) -> Vec<Woven> {
        let keys = self.tokens.as_ref();
        let keys = keys.map(|tokens| tokens.iter().map(GapToken::key).collect::<Vec<_>>());
        let stays = self.stays(result);
        let keys = keys.as_ref().map(Vec::as_slice);
        weave(keys, line_key(""), &|side, at| match side {
            Side::Local => stays[at][0],
            Side::Upstream => stays[at][1],
        })
    }

    /// Which tokens of base are kept although local, or upstream, removed them: entries that the merge keeps, with the
    /// lines in them and directly above them.
    fn stays(&self, result: &MergedOwners) -> Vec<[bool; 2]> {
        let sides = [&self.tokens.local, &self.tokens.upstream].map(|tokens| Self::owners(tokens));
        let base = &self.tokens.base;
        let mut stays = vec![[false; 2]; base.len()];
        for (at, token) in base.iter().enumerate() {
            if let GapToken::Owner(owner) = token
                && result.keys.contains_key(&owner.key)
            {
                stays[at] = sides.each_ref().map(|keys| !keys.contains(&owner.key));
            }
        }
        let around = TokensAround::of(base);
        for (at, token) in base.iter().enumerate() {
            if token.line().is_some() {
                let [above, below] = [around.above[at], around.below[at]]
                    .map(|owner| owner.map_or([false; 2], |owner| stays[owner]));
                let is_direct = around.is_direct[at];
                stays[at] = [0, 1].map(|side| below[side] && (is_direct || above[side]));
            }
        }
        stays
    }

    fn line(
        &self,
        woven: Woven,
        around: &Versions<TokensAround>,
        result: &MergedOwners,
    ) -> Option<MergedLine> {
        let [base, local, upstream] = self.tokens.as_ref().into_array();
        let upstreams = |at: usize| shifted(upstream, &around.upstream, at, result);
        match woven {
            Woven::Added(Side::Local, at) => Some(MergedLine {
                text: local[at].line()?.text.clone(),
                origin: Some(Side::Local),
                above: owner_below(local, &around.local, at),
            }),
            Woven::Added(Side::Upstream, at) => Some(MergedLine {
                text: upstreams(at)?,
                origin: Some(Side::Upstream),
                above: owner_below(upstream, &around.upstream, at),
            }),
            Woven::Kept {
                base: b,
                local: l,
                upstream: u,
            } => {
                let old = base[b].line()?;
                let own = l.and_then(|l| local[l].line());
                let is_kept = |tokens: &[GapToken], around: &TokensAround, at: Option<usize>| {
                    let below = at.and_then(|at| owner_below(tokens, around, at))?;
                    Some(result.keys.contains_key(&below))
                };
                // The entry below it moved to another collection, and local's line is where it was before.
                let is_moved = is_kept(local, &around.local, l) == Some(false)
                    && is_kept(upstream, &around.upstream, u) == Some(true);
                let text = match (own, u) {
                    (Some(_), Some(u)) if is_moved => upstreams(u)?,
                    (Some(own), Some(u)) if own.text == old.text => {
                        let is_changed = upstream[u].line()?.text != old.text
                            && relative(upstream, &around.upstream, u)
                                != relative(base, &around.base, b);
                        if is_changed {
                            upstreams(u)?
                        } else {
                            own.text.clone()
                        }
                    }
                    (Some(own), _) => own.text.clone(),
                    (None, Some(u)) => upstreams(u)?,
                    (None, None) => old.text.clone(),
                };
                Some(MergedLine {
                    text,
                    origin: None,
                    above: None,
                })
            }
        }
    }
}

/// The entry or item at a position.
fn owner_at(tokens: &[GapToken], at: Option<usize>) -> Option<KeyedOwner> {
    tokens[at?].owner()
}

/// The key of the entry or item that a comment is directly above.
fn owner_below(tokens: &[GapToken], around: &TokensAround, at: usize) -> Option<u64> {
    let below = around.below[at].filter(|_| around.is_direct[at]);
    owner_at(tokens, below).map(|owner| owner.key)
}

/// The indentation of a line, relative to the entry below it or else above it.
fn relative(tokens: &[GapToken], around: &TokensAround, at: usize) -> Option<(usize, usize)> {
    let indent = tokens[at].line()?.indent();
    let column = owner_at(tokens, around.below[at].or(around.above[at]))?.column;
    Some((indent.saturating_sub(column), column.saturating_sub(indent)))
}

/// A line of upstream, with its entry or item at the column that it has in the merged text.
fn shifted(
    tokens: &[GapToken],
    around: &TokensAround,
    at: usize,
    result: &MergedOwners,
) -> Option<String> {
    let line: &GapLine = tokens[at].line()?;
    let indent = line.indent();
    let [below, above] = [around.below[at], around.above[at]].map(|at| owner_at(tokens, at));
    let is_at = |owner: &KeyedOwner| owner.column == indent;
    let owner = below.filter(is_at).or(above.filter(is_at));
    let owner = owner.or(below.filter(|below| indent > below.column));
    let new = owner.and_then(|owner| {
        let merged = result.owners[*result.keys.get(&owner.key)?].column;
        Some((indent + merged).saturating_sub(owner.column))
    });
    Some(match new {
        Some(new) if new != indent && !line.is_blank() => {
            format!("{:new$}{}", "", line.text.trim_start_matches(' '))
        }
        _ => line.text.clone(),
    })
}

/// The entries and items of the merged text.
struct MergedOwners {
    owners: Vec<KeyedOwner>,
    /// Their positions, by key.
    keys: HashMap<u64, usize>,
}

impl MergedOwners {
    fn of(mut owners: Vec<KeyedOwner>, gaps: &GapLines) -> Self {
        let versions = &gaps.tokens;
        let tokens = versions.as_ref().into_iter();
        let known = tokens.flat_map(|tokens| tokens.iter().filter_map(GapToken::owner));
        let known: HashSet<u64> = known.map(|owner| owner.key).collect();
        rename(&mut owners, &known, &gaps.renamed);
        for version in [&versions.local, &versions.upstream, &versions.base] {
            let old: Vec<KeyedOwner> = version.iter().filter_map(GapToken::owner).collect();
            let own: HashSet<u64> = owners.iter().map(|owner| owner.key).collect();
            if own.is_subset(&known) {
                break;
            }
            unify_owners(&old, &mut owners, [&known, &own]);
        }
        let keys = owners.iter().enumerate();
        let keys = keys.map(|(at, owner)| (owner.key, at)).collect();
        Self { owners, keys }
    }
}

/// Gives entries and items that a side changed, and that no version has as they are, the keys that they have among the
/// tokens of that side.
fn rename(owners: &mut [KeyedOwner], known: &HashSet<u64>, renamed: &[HashMap<u64, u64>; 2]) {
    if renamed.iter().all(HashMap::is_empty) {
        return;
    }
    let mut taken: HashSet<u64> = owners.iter().map(|owner| owner.key).collect();
    for renamed in renamed {
        for owner in owners.iter_mut().filter(|own| !known.contains(&own.key)) {
            if let Some(key) = renamed.get(&owner.key).filter(|key| taken.insert(**key)) {
                owner.key = *key;
            }
        }
    }
}

/// Finds a gap for each merged line.
struct Placing<'p> {
    gaps: &'p GapLines,
    around: Versions<TokensAround>,
    result: &'p MergedOwners,
    /// The keys of the entries and items of base. What a side moved came with neither side.
    in_base: HashSet<u64>,
    /// The lines directly above each entry and item of base.
    above_in_base: HashSet<(u64, u64)>,
    /// For each merged entry in order, its position in the merged text, if its order is the same there.
    in_order: Vec<Option<usize>>,
    /// The lines of each gap: above each entry of the merged text, and below the last one.
    slots: Vec<Vec<MergedLine>>,
    pending: Vec<MergedLine>,
    /// How many of the pending lines were above an earlier entry.
    seen: usize,
    /// The gap below the last entry that was found.
    next: usize,
}

impl<'p> Placing<'p> {
    fn of(gaps: &'p GapLines, result: &'p MergedOwners, woven: &[Woven]) -> Self {
        let keys = woven.iter().filter_map(|token| gaps.owner(*token));
        let keys: Vec<u64> = keys.map(|(owner, _)| owner.key).collect();
        let merged: Vec<u64> = result.owners.iter().map(|owner| owner.key).collect();
        let mut in_order = vec![None; keys.len()];
        for (number, at) in kept(&keys, &merged) {
            in_order[number] = Some(at);
        }
        let around = gaps.tokens.as_ref().map(|tokens| TokensAround::of(tokens));
        let base = gaps.tokens.base.iter().enumerate();
        let above_in_base = base.filter_map(|(at, token)| {
            let owner = owner_below(&gaps.tokens.base, &around.base, at)?;
            Some((owner, token.line()?.key))
        });
        Self {
            above_in_base: above_in_base.collect(),
            around,
            in_base: GapLines::owners(&gaps.tokens.base),
            gaps,
            result,
            in_order,
            slots: (0..=merged.len()).map(|_| Vec::new()).collect(),
            pending: Vec::new(),
            seen: 0,
            next: 0,
        }
    }

    fn run(mut self, woven: &[Woven]) -> Vec<Vec<MergedLine>> {
        let mut number = 0;
        for token in woven {
            match self.gaps.owner(*token) {
                Some((owner, origin)) => {
                    let origin = origin.filter(|_| !self.in_base.contains(&owner.key));
                    self.owner(owner, origin, self.in_order[number]);
                    self.seen = self.pending.len();
                    number += 1;
                }
                None => {
                    let line = self.gaps.line(*token, &self.around, self.result);
                    self.pending.extend(line);
                }
            }
        }
        let last = self.slots.len() - 1;
        self.slots[last].append(&mut self.pending);
        self.slots.iter_mut().for_each(without_repeated);
        self.slots
    }

    /// Gives the lines above an entry a place.
    fn owner(&mut self, owner: KeyedOwner, origin: AddedBy, at: Option<usize>) {
        self.place_above_others(owner.key);
        if let Some(at) = at {
            if at > self.next {
                // Other entries are in between: only the comments directly above belong to this one.
                let above = self.directly_above();
                self.slots[self.next].append(&mut self.pending);
                self.pending = above;
            }
            self.slots[at].append(&mut self.pending);
            self.next = at + 1;
            return;
        }
        let above = self.directly_above();
        match self.result.keys.get(&owner.key) {
            // It moved.
            Some(moved) => self.slots[*moved].extend(above),
            // Local has another version of it.
            None if origin == Some(Side::Upstream) && self.gaps.has_all_of_upstream => {
                self.pending.extend(above);
            }
            // It goes, with the comments that came with it.
            None => {
                let came_with = |line: &MergedLine| {
                    let line = line_key(&line.text);
                    self.above_in_base.contains(&(owner.key, line))
                };
                let kept = above.into_iter();
                let kept = kept.filter(|line| line.origin != origin && !came_with(line));
                self.pending.extend(kept);
            }
        }
    }

    /// Comments that a side added directly above an entry stay there, where the other side moved the entry or put
    /// another one above it.
    fn place_above_others(&mut self, next: u64) {
        for line in self.pending.split_off(self.seen) {
            let other = line.above.filter(|above| *above != next);
            match other.and_then(|other| self.result.keys.get(&other)) {
                Some(other) => self.slots[*other].push(line),
                None => self.pending.push(line),
            }
        }
    }

    /// Takes the comments from the last blank line on.
    fn directly_above(&mut self) -> Vec<MergedLine> {
        let blank = self.pending[self.seen..]
            .iter()
            .rposition(MergedLine::is_blank);
        let from = blank.map_or(self.seen, |blank| self.seen + blank + 1);
        self.pending.split_off(from)
    }
}

impl GapLines {
    /// The entry or item of a merged token, and the side that added it.
    fn owner(&self, woven: Woven) -> Option<(KeyedOwner, AddedBy)> {
        match woven {
            Woven::Kept { base, .. } => Some((self.tokens.base[base].owner()?, None)),
            Woven::Added(side, at) => {
                let tokens = side.of(self.tokens.as_ref());
                Some((tokens[at].owner()?, Some(side)))
            }
        }
    }
}

/// Leaves out upstream's comments that local added above the same entry too, which each side put at another place.
fn without_repeated(lines: &mut Vec<MergedLine>) {
    let mut counts: HashMap<(u64, u64), usize> = HashMap::new();
    let key = |line: &MergedLine| Some((line.above?, line_key(&line.text)));
    for line in lines.iter().filter(|line| line.origin == Some(Side::Local)) {
        if let Some(key) = key(line) {
            *counts.entry(key).or_default() += 1;
        }
    }
    if counts.is_empty() {
        return;
    }
    lines.retain(|line| {
        let own = key(line).filter(|_| line.origin == Some(Side::Upstream));
        let count = own.and_then(|key| counts.get_mut(&key));
        let Some(count) = count.filter(|count| **count > 0) else {
            return true;
        };
        *count -= 1;
        false
    });
}

/// Replaces the gaps that have other lines now.
fn write(
    walk: &GapWalk<'_>,
    slots: Vec<Vec<MergedLine>>,
    keeps_head: bool,
    text: &str,
    editor: &mut Editor<'_, '_>,
) {
    let owners = walk.owners.iter();
    let gaps = owners.map(|owner| (owner.above.clone(), owner.scalar));
    let gaps = gaps.chain([(Some(walk.foot.clone()), walk.scalar_above_foot)]);
    // Lines without a place (between a dash and the key on the same line) go to the gap before, or the first one.
    let mut carried: Vec<MergedLine> = Vec::new();
    let mut found: Vec<(Range<usize>, Option<ScalarAbove>, Vec<MergedLine>)> = Vec::new();
    for ((range, scalar), lines) in gaps.zip(slots) {
        match (range, found.last_mut()) {
            (Some(range), _) => {
                let mut all = std::mem::take(&mut carried);
                all.extend(lines);
                found.push((range, scalar, all));
            }
            (None, Some((_, _, before))) => before.extend(lines),
            (None, None) => carried.extend(lines),
        }
    }
    let newline = newline_at(text, 0);
    for (number, (mut range, scalar, mut lines)) in found.into_iter().enumerate() {
        if keeps_head && number == 0 {
            continue;
        }
        if let Some(scalar) = scalar {
            keep_apart(&mut lines, scalar);
        }
        dashes::without_own(&mut lines, &text[..range.start], &text[range.clone()]);
        let new = lines.iter();
        let new: String = new.flat_map(|line| [line.text.as_str(), newline]).collect();
        let old = &text[range.clone()];
        if new.trim_end_matches(['\r', '\n']) == old.trim_end_matches(['\r', '\n'])
            && new.lines().count() == old.lines().count()
        {
            continue;
        }
        if range.end == text.len() && !text.ends_with('\n') {
            // During an edit, the last line has a line break.
            if range.is_empty() {
                range.start += newline.len();
            }
            range.end += newline.len();
        }
        editor.replace_gap(range, new);
    }
}

/// Indents lines that would be part of the block scalar above them.
fn keep_apart(lines: &mut Vec<MergedLine>, scalar: ScalarAbove) {
    if scalar.keeps_blank_lines {
        let blank = lines.iter().take_while(|line| line.is_blank()).count();
        lines.drain(..blank);
    }
    for line in lines {
        let indent = line.text.len() - line.text.trim_start().len();
        if line.is_blank() {
            if indent > scalar.body || line.text.contains('\t') {
                line.text.clear();
            }
        } else if indent < scalar.body {
            return;
        } else {
            line.text = format!("{:1$}{2}", "", scalar.column, line.text.trim_start());
        }
    }
}
