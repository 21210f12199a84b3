//! Lists without keys, by the words of the contract: which elements are the same in three versions.

use std::collections::{BTreeMap, BTreeSet};

use super::merge::{Elements, Versions};
use super::plain::Plain;

/// How elements are read that have neither their value nor their name in another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// They pair by likeness, then by position.
    Paired,
    /// The same, but only those of local that upstream lacks, with what upstream has, and without a likeness only with what
    /// it changed, if it changed any, nor is there a guess about anything else; the fields that name elements are those that
    /// base and upstream have.
    Needed,
    /// The same, and what both sides removed has no other version by its position alone, if they added equal elements.
    Replaced,
    /// The same as what is needed, and any scalar field that is unique names maps.
    Fields,
    /// The same, and each pair is one value.
    One,
    /// The same, and each of these pairs, by their bits, is one value.
    Some(u8),
    /// They cannot be told apart: the list is one value.
    Whole,
    /// They cannot be told apart: each run between elements that nobody touched is one value.
    Runs,
    /// The same, with equal elements found from the end.
    RunsFromEnd,
    /// The same, and where one side's change ends and the other's begins, there are two runs.
    Apart,
    /// The same, and each pair in a run is one value.
    ApartOne,
    /// Runs, in which any scalar field that is unique names maps.
    RunsByFields,
    /// They pair by position too if they have names of which the other version has none.
    Renamed,
}

impl Reading {
    /// Whether the list is read by its runs.
    pub(super) fn has_runs(self) -> bool {
        matches!(
            self,
            Self::Runs | Self::RunsFromEnd | Self::Apart | Self::ApartOne | Self::RunsByFields
        )
    }

    /// How the elements of a run are read.
    pub(super) fn in_run(self) -> Self {
        match self {
            Self::ApartOne => Self::One,
            Self::RunsByFields => Self::Fields,
            _ => Self::Needed,
        }
    }
}

/// The runs of base that each side changed or left alone, each with what the sides have there.
pub(super) fn apart(lists: [&[Plain]; 3]) -> Option<Vec<[Vec<Plain>; 3]>> {
    let count = lists[0].len();
    let kept = [1, 2].map(|side| {
        common(lists[0], lists[side])
            .into_iter()
            .collect::<BTreeMap<_, _>>()
    });
    // Where a side's version of the first elements of base ends. `None` within a change of it.
    let end = |side: usize, at: usize| {
        let kept = &kept[side - 1];
        let before = at
            .checked_sub(1)
            .map_or(Some(0), |last| kept.get(&last).map(|at| at + 1));
        let all = (at == count).then_some(lists[side].len());
        all.or(before).or(kept.get(&at).copied())
    };
    let mut from = [0; 3];
    let mut runs = Vec::new();
    for at in 1..=count {
        let (Some(local), Some(upstream)) = (end(1, at), end(2, at)) else {
            continue;
        };
        let to = [at, local, upstream];
        runs.push([0, 1, 2].map(|side| lists[side][from[side]..to[side]].to_vec()));
        from = to;
    }
    (runs.len() > 1).then_some(runs)
}

/// The lists between the elements that all versions have at the same place, and these elements, by equal values alone.
/// `None` if there are no such elements.
pub(super) fn runs(lists: [&[Plain]; 3], from_end: bool) -> Option<Vec<[Vec<Plain>; 3]>> {
    if from_end {
        let turned = lists.map(|list| list.iter().rev().cloned().collect::<Vec<_>>());
        let mut found = runs(turned.each_ref().map(Vec::as_slice), false)?;
        found.reverse();
        for list in found.iter_mut().flatten() {
            list.reverse();
        }
        return Some(found);
    }
    let [local, upstream] = [1, 2].map(|side| common(lists[0], lists[side]));
    let both = local.iter().filter_map(|(at, l)| {
        let found = upstream.iter().find(|(other, _)| other == at);
        found.map(|(_, u)| [*at, *l, *u])
    });
    let both: Vec<[usize; 3]> = both.collect();
    let mut from = [0; 3];
    let mut runs = Vec::new();
    let end = lists.map(<[Plain]>::len);
    for (place, is_last) in both.iter().map(|at| (*at, false)).chain([(end, true)]) {
        runs.push([0, 1, 2].map(|side| lists[side][from[side]..place[side]].to_vec()));
        if !is_last {
            runs.push([0, 1, 2].map(|side| vec![lists[side][place[side]].clone()]));
        }
        from = place.map(|at| at + 1);
    }
    (!both.is_empty()).then_some(runs)
}

/// The longest run of equal elements in the order of both lists, by the positions in each.
fn common(one: &[Plain], other: &[Plain]) -> Vec<(usize, usize)> {
    let mut lengths = vec![vec![0; other.len() + 1]; one.len() + 1];
    for (a, b) in (0..one.len())
        .rev()
        .flat_map(|a| (0..other.len()).rev().map(move |b| (a, b)))
    {
        lengths[a][b] = if one[a] == other[b] {
            lengths[a + 1][b + 1] + 1
        } else {
            lengths[a + 1][b].max(lengths[a][b + 1])
        };
    }
    let (mut a, mut b, mut found) = (0, 0, Vec::new());
    while a < one.len() && b < other.len() {
        if one[a] == other[b] {
            found.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if lengths[a + 1][b] >= lengths[a][b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    found
}

/// The elements of three versions, with the same words for the same element.
pub(super) struct Paired<'v> {
    pub(super) sources: [Elements<'v>; 3],
    /// Whether the contract calls that a guess.
    pub(super) is_guess: bool,
    /// Those that neither their value nor their name paired.
    pub(super) left: BTreeSet<String>,
    /// The readings that other words than those of the contract allow.
    pub(super) readings: Vec<Reading>,
}

/// What maps are known by, and what tells those apart that have it alike.
const FIELDS: [(&[&str], &[&str]); 15] = [
    (&["name"], &["kind", "namespace", "version"]),
    (&["key"], &["effect"]),
    (&["path"], &[]),
    (&["id"], &[]),
    (&["type"], &[]),
    (&["host"], &[]),
    (&["port"], &["protocol"]),
    (&["image"], &[]),
    (&["apiGroups", "resources"], &["resourceNames"]),
    (&["record|alert"], &["labels"]),
    (&["secretKey"], &[]),
    (&["step"], &[]),
    (&["refId"], &[]),
    (&["path|target|patch"], &["patch"]),
    (&["matches"], &[]),
];

pub(super) fn pair<'v>(versions: Versions<'v>, reading: Reading) -> Paired<'v> {
    let lists = versions.map(|list| list.map(Plain::elements).unwrap_or_default());
    let mut ids = by_value(&lists);
    let counts = |id: &String| {
        let value = id.rsplit_once(' ').map_or("", |(value, _)| value);
        let is = |other: &&String| other.rsplit_once(' ').map_or("", |(value, _)| value) == value;
        ids.each_ref().map(|ids| ids.iter().filter(is).count())
    };
    let is_unclear = |counts: [usize; 3]| {
        let most = counts.into_iter().max().unwrap_or_default();
        most > 1 && !counts.into_iter().all(|count| count == 0 || count == most)
    };
    let mut is_guess = ids.iter().flatten().any(|id| is_unclear(counts(id)));
    let mut readings = Vec::new();
    if is_guess {
        readings.extend([
            Reading::Whole,
            Reading::Runs,
            Reading::RunsFromEnd,
            Reading::Apart,
            Reading::ApartOne,
            Reading::RunsByFields,
        ]);
    }
    let has_unclear_names = by_name(&lists, &mut ids, reading);
    if reading == Reading::Fields {
        by_fields(&lists, &mut ids);
    }
    let lacks = |ids: &[Vec<String>; 3], side: usize| {
        (0..lists[0].len())
            .filter(|at| !ids[side].contains(&ids[0][*at]))
            .collect::<BTreeSet<usize>>()
    };
    let [here, there] = [1, 2].map(|side| lacks(&ids, side));
    let is_new =
        |ids: &[Vec<String>; 3], side: usize| ids[side].iter().any(|id| !ids[0].contains(id));
    let are_left = !(here.is_empty() && there.is_empty()) && (is_new(&ids, 1) || is_new(&ids, 2));
    if are_left || has_unclear_names {
        readings.extend([
            Reading::Whole,
            Reading::Needed,
            Reading::Replaced,
            Reading::Fields,
            Reading::Renamed,
            Reading::Runs,
            Reading::RunsFromEnd,
            Reading::Apart,
            Reading::ApartOne,
            Reading::RunsByFields,
        ]);
    }
    let mut before = ids.clone();
    if reading != Reading::Whole {
        let all: BTreeSet<usize> = (0..lists[2].len()).collect();
        is_guess |= !by_likeness(&lists, &mut ids, 2, [&there, &all]).is_empty();
        // What both sides added alike is a new element.
        let is_theirs = |at: &usize| reading == Reading::Paired || !ids[1].contains(&ids[2][*at]);
        let theirs = all.iter().copied().filter(is_theirs).collect();
        let replaced = replaced_by_both(&ids, reading);
        let others = there.difference(&replaced).copied().collect();
        by_position(&lists, &mut ids, 2, [&others, &theirs], reading);
        before = ids.clone();
        let of_upstream = |at: &usize| ids[2].iter().position(|id| *id == ids[0][*at]);
        let is_changed =
            |at: &usize| of_upstream(at).is_some_and(|place| lists[2][place] != lists[0][*at]);
        let needed = reading != Reading::Paired;
        let has: BTreeSet<usize> = here
            .iter()
            .copied()
            .filter(|at| !needed || of_upstream(at).is_some())
            .collect();
        let changed: BTreeSet<usize> = here
            .iter()
            .copied()
            .filter(|at| !needed || is_changed(at))
            .collect();
        let is_new = |at: &usize| !needed || !ids[2].contains(&ids[1][*at]);
        let new: BTreeSet<usize> = (0..lists[1].len()).filter(is_new).collect();
        let ties = by_likeness(&lists, &mut ids, 1, [&has, &new]);
        is_guess |= ties.iter().any(|at| changed.contains(at));
        let is_open =
            |at: &usize| !ids[1].contains(&ids[0][*at]) && may_move(&ids[0][*at], reading);
        let olds = if changed.iter().any(is_open) {
            changed
        } else {
            has
        };
        let others = olds.difference(&replaced).copied().collect();
        by_position(&lists, &mut ids, 1, [&others, &new], reading);
    }
    let left = ids[1]
        .iter()
        .zip(&before[1])
        .filter(|(now, was)| now != was);
    let left: BTreeSet<String> = left.map(|(now, _)| now.clone()).collect();
    if !left.is_empty() {
        readings.push(Reading::One);
        if (2..5).contains(&left.len()) {
            readings.extend((1..(1 << left.len()) - 1).map(Reading::Some));
        }
    }
    if !ids[1].iter().any(|id| ids[2].contains(id)) {
        readings.push(Reading::Whole);
    }
    let sources = [0, 1, 2].map(|side| ids[side].iter().cloned().zip(lists[side]).collect());
    Paired {
        sources,
        is_guess,
        left,
        readings,
    }
}

/// Equal ones, in their order.
fn by_value(lists: &[&[Plain]; 3]) -> [Vec<String>; 3] {
    lists.map(|list| {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let id = |element: &Plain| {
            let value = format!("value {element}");
            let count = seen.entry(value.clone()).or_default();
            *count += 1;
            format!("{value} {count}")
        };
        list.iter().map(id).collect()
    })
}

/// Those of one name, where that is unique on every side; says whether one is not.
fn by_name(lists: &[&[Plain]; 3], ids: &mut [Vec<String>; 3], reading: Reading) -> bool {
    let name_in = |element: &Plain, fields: &[&str]| {
        let values: Option<Vec<String>> = fields
            .iter()
            .map(|field| {
                let mut one_of = field.split('|');
                one_of.find_map(|field| Some(format!("{field} {}", element.get(field)?)))
            })
            .collect();
        values.map(|values| format!("{fields:?} {values:?}"))
    };
    let is_unique = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let full_name = |element: &Plain, (fields, more): (&[&str], &[&str])| {
        let first = name_in(element, fields)?;
        let is_twice = |list: &&[Plain]| {
            let same = list
                .iter()
                .filter(|other| name_in(other, fields).as_ref() == Some(&first));
            same.count() > 1
        };
        if !lists.iter().any(is_twice) {
            return Some(first);
        }
        let more = more
            .iter()
            .map(|field| element.get(field).map(ToString::to_string));
        Some(format!("{first} {:?}", more.collect::<Vec<_>>()))
    };
    let first_of = |sides: &[usize]| {
        FIELDS.into_iter().find(|fields| {
            sides.iter().map(|side| lists[*side]).all(|list| {
                let maps = list.iter().filter(|element| element.is_map());
                let names: Option<Vec<String>> = maps.map(|map| full_name(map, *fields)).collect();
                names.is_some_and(|names| is_unique(&names))
            })
        })
    };
    let (all, upstreams) = (first_of(&[0, 1, 2]), first_of(&[0, 2]));
    let fields = if reading == Reading::Paired {
        all
    } else {
        upstreams
    };
    let name = |element: &Plain| match element {
        Plain::Map(_) => full_name(element, fields?),
        Plain::Text(text) => match text.split_once('=') {
            Some((flag, _)) => Some(format!("flag {flag}")),
            None => text.starts_with('-').then(|| format!("flag {text}")),
        },
        _ => None,
    };
    let names = lists.map(|list| list.iter().map(name).collect::<Vec<_>>());
    let count = |side: usize, name: &String| {
        names[side]
            .iter()
            .flatten()
            .filter(|other| *other == name)
            .count()
    };
    let is_everywhere_once = |name: &String| (0..3).all(|side| count(side, name) < 2);
    for side in 0..3 {
        for (at, name) in names[side].iter().enumerate() {
            if let Some(name) = name.as_ref().filter(|name| is_everywhere_once(name)) {
                ids[side][at].clone_from(name);
            }
        }
    }
    let mut elements = lists.iter().flat_map(|list| list.iter());
    // Fields that only some have, or that some have alike.
    let has_fields = |element: &Plain| {
        let mut fields = FIELDS.iter();
        fields.any(|(fields, _)| name_in(element, fields).is_some())
    };
    let mut names = names.iter().flatten().flatten();
    all != upstreams
        || fields.is_none() && elements.any(has_fields)
        || names.any(|name| !is_everywhere_once(name))
}

fn leaves(value: &Plain, path: &str, out: &mut BTreeSet<String>) {
    if value.is_empty() {
        out.insert(format!("{path} {value}"));
    }
    for (key, value) in value.entries() {
        leaves(value, &format!("{path}.{key}"), out);
    }
    for element in value.elements() {
        leaves(element, &format!("{path}[]"), out);
    }
}

/// What is left in base and in a side of what is open there, by position in each.
fn left(
    ids: &[Vec<String>; 3],
    side: usize,
    open: [&BTreeSet<usize>; 2],
) -> (Vec<usize>, Vec<usize>) {
    let lacking = |one: usize, other: usize, open: &BTreeSet<usize>| {
        let is_left = |at: &usize| !ids[other].contains(&ids[one][*at]);
        open.iter().copied().filter(is_left).collect()
    };
    (lacking(0, side, open[0]), lacking(side, 0, open[1]))
}

/// Elements that have more than half of their leaves in common; gives those of base where one is as much like two others.
fn by_likeness(
    lists: &[&[Plain]; 3],
    ids: &mut [Vec<String>; 3],
    side: usize,
    open: [&BTreeSet<usize>; 2],
) -> Vec<usize> {
    let (old, new) = left(ids, side, open);
    let of = |element: &Plain| {
        let mut found = BTreeSet::new();
        leaves(element, "", &mut found);
        found
    };
    let mut alike = Vec::new();
    for (a, b) in old.iter().flat_map(|a| new.iter().map(move |b| (*a, *b))) {
        let (one, other) = (of(&lists[0][a]), of(&lists[side][b]));
        let common = one.intersection(&other).count();
        if 2 * common > one.len().max(other.len()) && !is_flag(&lists[0][a]) {
            alike.push((common, a, b));
        }
    }
    alike.sort_unstable_by(|one, other| other.cmp(one));
    let mut ties = Vec::new();
    let mut taken: Vec<(usize, usize, usize)> = Vec::new();
    for (common, a, b) in alike {
        let rival = taken.iter().find(|(_, c, d)| *c == a || *d == b);
        match rival {
            Some((most, c, _)) if *most == common => ties.extend([a, *c]),
            Some(_) => {}
            None => taken.push((common, a, b)),
        }
    }
    for (_, a, b) in taken {
        join(ids, a, side, b);
    }
    ties
}

/// What has a name of its own is another element.
fn is_flag(element: &Plain) -> bool {
    element.text().is_some_and(|text| text.starts_with('-'))
}

/// Whether an element may be another one by its position alone.
fn may_move(id: &str, reading: Reading) -> bool {
    reading == Reading::Renamed || id.starts_with("value ")
}

/// The elements of base that both sides lack, where both added equal elements.
fn replaced_by_both(ids: &[Vec<String>; 3], reading: Reading) -> BTreeSet<usize> {
    let is_new_in_both = |id: &String| ids[2].contains(id) && !ids[0].contains(id);
    if reading != Reading::Replaced || !ids[1].iter().any(is_new_in_both) {
        return BTreeSet::new();
    }
    let is_gone = |id: &String| !ids[1].contains(id) && !ids[2].contains(id);
    let all = 0..ids[0].len();
    all.filter(|at| is_gone(&ids[0][*at])).collect()
}

/// By any scalar field: the first one with texts that all maps of base and upstream have and that is unique there, where
/// they have no name; then any field with a text or a number that no other element of the version has.
fn by_fields(lists: &[&[Plain]; 3], ids: &mut [Vec<String>; 3]) {
    let scalar = |value: &Plain| {
        let is_text = value
            .text()
            .is_some_and(|text| !text.is_empty() && !text.contains('\n'));
        is_text || matches!(value, Plain::Number(_))
    };
    let name = |element: &Plain, field: &str| {
        let value = element
            .get(field)
            .filter(|value| value.text().is_some() && scalar(value))?;
        Some(format!("field {field} {value}"))
    };
    let names = |side: usize, field: &str| -> Option<BTreeSet<String>> {
        let maps = lists[side].iter().filter(|element| element.is_map());
        let names: Vec<String> = maps.map(|map| name(map, field)).collect::<Option<_>>()?;
        let unique: BTreeSet<String> = names.iter().cloned().collect();
        (unique.len() == names.len()).then_some(unique)
    };
    let has_names = ids.iter().flatten().any(|id| !id.starts_with("value "));
    let first = lists[0].iter().find(|element| element.is_map());
    let fields = first.map(Plain::entries).unwrap_or_default().iter();
    let common = |field: &&str| {
        let common = names(0, field)?.intersection(&names(2, field)?).count();
        Some(common).filter(|common| *common > 0)
    };
    let fields = fields.map(|(field, _)| field.as_str());
    let best = fields.filter_map(|field| Some((common(&field)?, field)));
    let best = best.reduce(|best, other| if other.0 > best.0 { other } else { best });
    if let Some((_, field)) = best.filter(|_| !has_names) {
        for side in 0..3 {
            for (id, element) in ids[side].iter_mut().zip(lists[side]) {
                if let Some(name) = name(element, field) {
                    *id = name;
                }
            }
        }
    }
    for side in [2, 1] {
        let all = (0..lists[0].len()).collect();
        let (old, new) = left(ids, side, [&all, &(0..lists[side].len()).collect()]);
        let holder = |side: usize, field: &(String, Plain)| {
            let has = |at: &usize| lists[side][*at].entries().contains(field);
            let holders: Vec<usize> = (0..lists[side].len()).filter(has).collect();
            <[usize; 1]>::try_from(holders).ok().map(|[only]| only)
        };
        let mut pairs = BTreeSet::new();
        for at in &old {
            let fields = lists[0][*at].entries().iter();
            let own = fields.filter(|field| scalar(&field.1) && holder(0, field).is_some());
            pairs.extend(own.filter_map(|field| Some((*at, holder(side, field)?))));
        }
        pairs.retain(|(_, new_at)| new.contains(new_at));
        for (old, new) in &pairs {
            let sharing = pairs.iter().filter(|pair| pair.0 == *old || pair.1 == *new);
            if sharing.count() == 1 {
                join(ids, *old, side, *new);
            }
        }
    }
}

/// As many here as there.
fn by_position(
    lists: &[&[Plain]; 3],
    ids: &mut [Vec<String>; 3],
    side: usize,
    open: [&BTreeSet<usize>; 2],
    reading: Reading,
) {
    let (old, new) = left(ids, side, open);
    let (old, new): (Vec<usize>, Vec<usize>) = (
        old.into_iter()
            .filter(|at| may_move(&ids[0][*at], reading))
            .collect(),
        new.into_iter()
            .filter(|at| may_move(&ids[side][*at], reading))
            .collect(),
    );
    if old.len() == new.len() {
        for (a, b) in old.into_iter().zip(new) {
            if lists[0][a].is_map() == lists[side][b].is_map() {
                join(ids, a, side, b);
            }
        }
    }
}

/// Makes one of an element of base and one of a side; not if the side or the other one has both.
fn join(ids: &mut [Vec<String>; 3], old: usize, side: usize, new: usize) {
    let (old, new) = (ids[0][old].clone(), ids[side][new].clone());
    if ids
        .iter()
        .any(|ids| ids.contains(&old) && ids.contains(&new))
    {
        return;
    }
    for id in ids.iter_mut().flatten().filter(|id| **id == new) {
        id.clone_from(&old);
    }
}
