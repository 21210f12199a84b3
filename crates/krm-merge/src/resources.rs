//! Finds which resources of three packages are the same: one procedure for every function.
//!
//! | evidence | unique among |
//! |---|---|
//! | the identity that one declares (`# kpt-merge: namespace/name`, `internal.kpt.dev/upstream-identifier`) and the file | what is left |
//! | group, kind, namespace, name and file; several in one file by likeness, then by position | what is left |
//! | the declared identity alone, within the package | all |
//! | group, kind, namespace and name, within the package: moved | what is left |
//! | the same, if several are left on a side (variants): by the name of the file, then by likeness | the variants that are left |
//! | without namespace, in one file: pipelines set namespaces | what is left |
//! | without namespace, for kinds that have none | what is left |
//! | the only resource of a file that has one resource in all versions, of one kind | its file |
//! | likeness: see `alike` | what is left |
//!
//! Each step is one walk over a hash map. What likeness cannot decide is a tie, and nothing is paired.
//!
//! New resources of both sides pair by identity. They never do while the original has an unpaired resource of that kind
//! and name, because each of them may be that one.
//!
//! Source: contract, merge-package, Identity.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::hash::Hash;

use super::alike::{Leaves, Likeness, Unpaired, pair_alike};
use super::member::Member;
use super::rule::Side;
use super::versions::Versions;
use krm_core::resource_key::ResourceKey;

/// The resources of a package, to be paired with those of another.
pub struct PairingSource<'m> {
    members: &'m [Member],
    /// Reads the leaves of a resource.
    read: Box<dyn Fn(usize) -> Leaves + 'm>,
    /// The leaves that were read. Most resources pair by identity and are not read.
    leaves: Vec<OnceCell<Leaves>>,
}

impl fmt::Debug for PairingSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.members).finish()
    }
}

impl<'m> PairingSource<'m> {
    /// Resources with a function that reads the leaves of one, by its position.
    pub fn new(members: &'m [Member], read: impl Fn(usize) -> Leaves + 'm) -> Self {
        Self {
            members,
            read: Box::new(read),
            leaves: vec![OnceCell::new(); members.len()],
        }
    }

    fn leaves(&self, at: usize) -> &Leaves {
        self.leaves[at].get_or_init(|| (self.read)(at))
    }

    fn unpaired(&self, at: usize) -> Unpaired<'_> {
        let member = &self.members[at];
        Unpaired {
            number: at,
            kind: &member.key.kind,
            name: member.key.name.name().map(|name| &**name),
            package: &member.package,
            file: member.path.as_deref(),
            leaves: self.leaves(at),
        }
    }
}

/// Pairs the resources of two versions of a package. A resource is in at most one pair.
pub fn pair(left: &PairingSource<'_>, right: &PairingSource<'_>) -> Vec<(usize, usize)> {
    let mut pairing = MemberPairing::new([left, right]);
    pairing.by_identity();
    let only = files_of_one([left.members, right.members]);
    pairing.by_likeness(&only);
    pairing.pairs.sort_unstable();
    pairing.pairs
}

/// The members among which a key must be unique.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Among {
    All,
    Free,
}

struct MemberPairing<'m> {
    sides: [&'m PairingSource<'m>; 2],
    taken: [Vec<bool>; 2],
    pairs: Vec<(usize, usize)>,
    ties: Vec<(usize, Vec<usize>)>,
    any_declared: bool,
}

/// Where a member is: its file or its package.
type PlaceOf = fn(&Member) -> Option<&str>;

const PATH: PlaceOf = |member| member.path.as_deref();
const PACKAGE: PlaceOf = |member| Some(&member.package);

impl<'m> MemberPairing<'m> {
    fn new(sides: [&'m PairingSource<'m>; 2]) -> Self {
        let mut members = sides.iter().flat_map(|side| side.members);
        Self {
            taken: sides.map(|side| vec![false; side.members.len()]),
            pairs: Vec::new(),
            ties: Vec::new(),
            any_declared: members.any(|member| member.declared.is_some()),
            sides,
        }
    }

    fn by_identity(&mut self) {
        self.in_place();
        self.elsewhere();
    }

    /// Pairs members of one file.
    fn in_place(&mut self) {
        if self.any_declared {
            self.by_former(Among::Free, PATH);
        }
        self.by(Among::Free, |m| Some((&m.key, PATH(m))));
        self.by_groups(|m| Some((&m.key, PATH(m))), Self::by_position);
    }

    /// Pairs members by their identity in other files, and then by a part of their identity.
    fn elsewhere(&mut self) {
        if self.any_declared {
            self.by_name_of_other(Among::Free, PATH);
            self.by_former(Among::All, PACKAGE);
            self.by_name_of_other(Among::All, PACKAGE);
        }
        let own = |m: &'m Member| m.is_named().then(|| (&m.key, PACKAGE(m)));
        self.by(Among::Free, own);
        self.by_groups(own, |_, _, _| {});
        self.by(Among::Free, |m| {
            Some((&m.key.group, &m.key.kind, &m.key.name, PATH(m)))
        });
        // Even with a namespace, a resource of such a kind is one object in the cluster.
        self.by(Among::Free, |m| {
            let name = m.key.name.name().filter(|_| m.key.is_cluster_scoped())?;
            Some((&m.key.group, &m.key.kind, name, PACKAGE(m)))
        });
    }

    /// Pairs what identity leaves: the only resources of the files in `only`, and then by likeness.
    fn by_likeness(&mut self, only: &HashSet<&str>) {
        if !only.is_empty() {
            self.by(Among::Free, |m| {
                let path = m.path.as_deref().filter(|path| only.contains(path))?;
                m.key.name.name().map(|_| (&m.key.kind, path))
            });
        }
        let tied: HashSet<usize> = self.ties.iter().map(|(left, _)| *left).collect();
        let left = self.free(0, |at| !tied.contains(&at));
        let right = self.free(1, |_| true);
        if !left.is_empty() && !right.is_empty() {
            let unpaired = |side: usize, all: Vec<usize>| -> Vec<Unpaired<'m>> {
                let all = all.into_iter();
                all.map(|at| self.sides[side].unpaired(at)).collect()
            };
            let found = pair_alike(&unpaired(0, left), &unpaired(1, right));
            self.take(found);
        }
    }

    /// The members of a side that are known by a name and not paired yet.
    fn free(&self, side: usize, is_free: impl Fn(usize) -> bool) -> Vec<usize> {
        let members = self.sides[side].members.iter().enumerate();
        let members = members.filter(|(at, member)| {
            !self.taken[side][*at] && member.is_named() && !member.is_kptfile() && is_free(*at)
        });
        members.map(|(at, _)| at).collect()
    }

    fn take(&mut self, found: Likeness) {
        for (left, right) in found.pairs {
            self.take_pair(left, right);
        }
        self.ties.extend(found.ties);
    }

    fn take_pair(&mut self, left: usize, right: usize) {
        self.taken[0][left] = true;
        self.taken[1][right] = true;
        self.pairs.push((left, right));
    }

    fn has_free(&self) -> bool {
        let has = |side: &Vec<bool>| side.iter().any(|taken| !taken);
        self.taken.iter().all(has)
    }

    /// Pairs members with the same key.
    fn by<K: Hash + Eq>(&mut self, among: Among, key: impl Fn(&'m Member) -> Option<K>) {
        self.by_keys(among, [&key, &key], |_, _| true);
    }

    /// Pairs members with the same former identity, if at least one of them declares it.
    fn by_former(&mut self, among: Among, place: PlaceOf) {
        let key = |m: &'m Member| Some((m.former()?, place(m)));
        let declares = |a: &Member, b: &Member| a.declared.is_some() || b.declared.is_some();
        self.by_keys(among, [&key, &key], declares);
    }

    /// Pairs a member with a member that declares the current identity of the first, whatever the first declares
    /// itself: a package in between renamed the resource.
    fn by_name_of_other(&mut self, among: Among, place: PlaceOf) {
        let declared = |m: &'m Member| Some((m.declared()?, place(m)));
        let now = |m: &'m Member| Some((m.now()?, place(m)));
        self.by_keys(among, [&declared, &now], |_, _| true);
        self.by_keys(among, [&now, &declared], |_, _| true);
    }

    fn by_keys<K: Hash + Eq>(
        &mut self,
        among: Among,
        keys: [&dyn Fn(&'m Member) -> Option<K>; 2],
        fits: impl Fn(&Member, &Member) -> bool,
    ) {
        if !self.has_free() {
            return;
        }
        // For each key, the count of members on each side, and one of them. Only a unique member is paired.
        let [left, right] = self.sides.map(|side| side.members.len());
        let mut found: HashMap<K, [(usize, Option<usize>); 2]> =
            HashMap::with_capacity(left.max(right));
        for (side, source) in self.sides.iter().enumerate() {
            for (at, member) in source.members.iter().enumerate() {
                if among == Among::Free && self.taken[side][at] {
                    continue;
                }
                if let Some(key) = keys[side](member) {
                    let entry = &mut found.entry(key).or_default()[side];
                    *entry = (entry.0 + 1, Some(at));
                }
            }
        }
        for [left, right] in found.into_values() {
            let ((1, Some(a)), (1, Some(b))) = (left, right) else {
                continue;
            };
            let is_free = !self.taken[0][a] && !self.taken[1][b];
            if is_free && fits(&self.sides[0].members[a], &self.sides[1].members[b]) {
                self.take_pair(a, b);
            }
        }
    }

    /// Pairs the free members of a key that several of a side have: by the names of their files if each occurs once,
    /// then by likeness. `rest` gets those that are left.
    fn by_groups<K: Hash + Eq>(
        &mut self,
        key: impl Fn(&'m Member) -> Option<K>,
        rest: impl Fn(&mut Self, &[usize], &[usize]),
    ) {
        if !self.has_free() {
            return;
        }
        let mut groups: HashMap<K, [Vec<usize>; 2]> = HashMap::new();
        for (side, source) in self.sides.iter().enumerate() {
            for (at, member) in source.members.iter().enumerate() {
                if !self.taken[side][at]
                    && let Some(key) = key(member)
                {
                    groups.entry(key).or_default()[side].push(at);
                }
            }
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.retain(|[left, right]| !left.is_empty() && !right.is_empty());
        groups.sort_unstable();
        for [left, right] in groups {
            let found = self.variants(&left, &right);
            self.take(found);
            let free = |side: usize, all: Vec<usize>| -> Vec<usize> {
                let all = all.into_iter();
                all.filter(|at| !self.taken[side][*at]).collect()
            };
            let (left, right) = (free(0, left), free(1, right));
            rest(self, &left, &right);
        }
        let taken = &self.taken[0];
        self.ties.retain(|(left, _)| !taken[*left]);
    }

    /// Pairs resources of one identity.
    fn variants(&self, left: &[usize], right: &[usize]) -> Likeness {
        let unpaired = |side: usize, all: &[usize]| -> Vec<Unpaired<'m>> {
            let all = all.iter();
            all.map(|at| self.sides[side].unpaired(*at)).collect()
        };
        let sides = [unpaired(0, left), unpaired(1, right)];
        let by_name = sides.each_ref().map(|all| {
            let named = all.iter().map(|of| Unpaired {
                name: of.file.map(|file| file.rsplit('/').next().unwrap_or(file)),
                file: None,
                ..*of
            });
            named.collect::<Vec<_>>()
        });
        pair_alike(&by_name[0], &by_name[1])
    }

    /// Pairs duplicates in their order. Resources with a `generateName` are no duplicates.
    fn by_position(&mut self, left: &[usize], right: &[usize]) {
        let is_known = |side: usize, at: &usize| {
            let member: &Member = &self.sides[side].members[*at];
            !member.key.name.is_generated()
        };
        let left: Vec<usize> = left.iter().copied().filter(|at| is_known(0, at)).collect();
        for (left, right) in left.into_iter().zip(right.iter().copied()) {
            self.take_pair(left, right);
        }
    }
}

/// The files with one resource in each of these packages.
fn files_of_one<const N: usize>(packages: [&[Member]; N]) -> HashSet<&str> {
    let counts = packages.map(|members| {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for path in members.iter().filter_map(|member| member.path.as_deref()) {
            *counts.entry(path).or_default() += 1;
        }
        counts
    });
    let is_alone = |path: &&str| counts.iter().all(|counts| counts.get(path) == Some(&1));
    let paths = counts.first().into_iter().flat_map(HashMap::keys);
    paths.copied().filter(is_alone).collect()
}

/// One resource in three packages, by its position among the members of each.
pub type ResourceMatch = Versions<Option<usize>>;

/// The resources of three packages.
#[derive(Debug, Default)]
pub struct ResourceMatches {
    /// All resources: local's in their order, then the others.
    pub all: Vec<ResourceMatch>,
    /// The resources of base that a side has under another identity, found by likeness.
    pub renamed: BTreeSet<(usize, Side)>,
    /// The resources of base that a side lacks, each with the resources that it may be there.
    pub ties: BTreeMap<(usize, Side), Vec<usize>>,
}

const SIDES: [Side; 2] = [Side::Local, Side::Upstream];

/// Finds the same resources in three packages.
pub fn match_resources(packages: Versions<&PairingSource<'_>>) -> ResourceMatches {
    let members = packages.map(|package| package.members);
    let in_base = |base| ResourceMatch {
        base: Some(base),
        ..ResourceMatch::default()
    };
    let mut matches: Vec<_> = (0..members.base.len()).map(in_base).collect();
    let mut found = ResourceMatches::default();
    let mut ties: [Vec<(usize, Vec<usize>)>; 2] = Default::default();
    for (side, ties) in SIDES.into_iter().zip(&mut ties) {
        let mut pairing = MemberPairing::new([packages.base, side.of(packages)]);
        pairing.by_identity();
        for (base, at) in pairing.pairs {
            *side.of_mut(&mut matches[base]) = Some(at);
        }
        *ties = pairing.ties;
    }
    separate_moved_onto_others(members, &mut matches);
    let new = pair_new(packages, &matches);
    let partners = like_base(packages, &matches, &mut ties);
    let mut renamed = Renamed::new(partners, &new);
    renamed.apply(&mut matches, &mut found);
    for (side, ties) in SIDES.into_iter().zip(ties) {
        for (base, others) in ties {
            if side.of(matches[base]).is_none() {
                found.ties.insert((base, side), others);
            }
        }
    }
    matches.extend(renamed.new);
    for side in SIDES {
        let (alone, _) = unmatched(side, members, &matches);
        matches.extend(alone.into_iter().map(|at| {
            let mut matched = ResourceMatch::default();
            *side.of_mut(&mut matched) = Some(at);
            matched
        }));
    }
    matches.sort_by_key(|m| {
        (
            m.local.is_none(),
            m.local,
            m.base.is_none(),
            m.base,
            m.upstream,
        )
    });
    found.all = matches;
    found
}

/// Which members of a side are in a match.
fn taken(side: Side, members: &[Member], matches: &[ResourceMatch]) -> Vec<bool> {
    let mut taken = vec![false; members.len()];
    for at in matches.iter().filter_map(|matched| side.of(*matched)) {
        taken[at] = true;
    }
    taken
}

/// Pairs the resources that both sides added.
fn pair_new(
    packages: Versions<&PairingSource<'_>>,
    matches: &[ResourceMatch],
) -> Vec<(usize, usize)> {
    let mut pairing = MemberPairing::new([packages.local, packages.upstream]);
    pairing.taken = [
        taken(Side::Local, packages.local.members, matches),
        taken(Side::Upstream, packages.upstream.members, matches),
    ];
    if !pairing.has_free() {
        return Vec::new();
    }
    pairing.in_place();
    let lacking = matches
        .iter()
        .zip(packages.base.members)
        .filter(|(matched, _)| matched.local.is_none() || matched.upstream.is_none());
    let lacking: HashSet<_> = lacking
        .map(|(_, base)| (&*base.key.kind, &base.key.name))
        .collect();
    for (side, taken) in pairing.taken.iter_mut().enumerate() {
        for (taken, member) in taken.iter_mut().zip(pairing.sides[side].members) {
            *taken |= lacking.contains(&(&*member.key.kind, &member.key.name));
        }
    }
    pairing.elsewhere();
    pairing.pairs.sort_unstable();
    pairing.pairs
}

/// For each side, the resources of base that are alike to one that the side added.
fn like_base(
    packages: Versions<&PairingSource<'_>>,
    matches: &[ResourceMatch],
    ties: &mut [Vec<(usize, Vec<usize>)>; 2],
) -> [Vec<(usize, usize)>; 2] {
    let only = OnceCell::new();
    let mut partners: [Vec<(usize, usize)>; 2] = Default::default();
    for (number, side) in SIDES.into_iter().enumerate() {
        let own = side.of(packages);
        let mut pairing = MemberPairing::new([packages.base, own]);
        let lacks = |matched: &ResourceMatch| side.of(*matched).is_none();
        pairing.taken = [
            matches.iter().map(|matched| !lacks(matched)).collect(),
            taken(side, own.members, matches),
        ];
        if !pairing.has_free() {
            continue;
        }
        let only =
            only.get_or_init(|| files_of_one(packages.into_array().map(|source| source.members)));
        pairing.ties = std::mem::take(&mut ties[number]);
        pairing.by_likeness(only);
        ties[number] = pairing.ties;
        partners[number] = pairing.pairs;
    }
    partners
}

/// The resources that a side renamed, and the resources that both sides added.
struct Renamed {
    /// For each side, the resource of the side for a resource of base.
    partners: [BTreeMap<usize, usize>; 2],
    new: Vec<ResourceMatch>,
}

impl Renamed {
    fn new(partners: [Vec<(usize, usize)>; 2], new: &[(usize, usize)]) -> Self {
        let new = new.iter().map(|(local, upstream)| ResourceMatch {
            base: None,
            local: Some(*local),
            upstream: Some(*upstream),
        });
        Self {
            partners: partners.map(|pairs| pairs.into_iter().collect()),
            new: new.collect(),
        }
    }

    /// Adds the partners to the matches. A resource that both sides have is one resource: it was renamed only if both
    /// sides agree, or if the side that keeps quiet lacks the resource of base. Otherwise there would be two of it.
    fn apply(&mut self, matches: &mut [ResourceMatch], found: &mut ResourceMatches) {
        let turned = self.partners.each_ref().map(|partners| {
            let pairs = partners.iter().map(|(base, at)| (*at, *base));
            pairs.collect::<HashMap<usize, usize>>()
        });
        // As they were found, so that the order of the new resources does not matter.
        let found_partners = self.partners.clone();
        for new in &mut self.new {
            let own = [new.local, new.upstream];
            let bases = [0, 1].map(|side: usize| turned[side].get(&own[side]?).copied());
            let lacks = |base: usize, side: usize| {
                SIDES[side].of(matches[base]).is_none() && !found_partners[side].contains_key(&base)
            };
            let base = match bases {
                [Some(one), Some(other)] if one == other => Some(one),
                [Some(one), None] if lacks(one, 1) => Some(one),
                [None, Some(one)] if lacks(one, 0) => Some(one),
                _ => None,
            };
            for (side, base) in bases.into_iter().enumerate() {
                base.map(|base| self.partners[side].remove(&base));
            }
            if let Some(base) = base {
                for (side, at) in own.into_iter().enumerate() {
                    self.partners[side].extend(at.map(|at| (base, at)));
                }
                *new = ResourceMatch::default();
            }
        }
        self.new.retain(|new| new.local.is_some());
        for (side, partners) in SIDES.into_iter().zip(&self.partners) {
            for (base, at) in partners {
                *side.of_mut(&mut matches[*base]) = Some(*at);
                found.renamed.insert((*base, side));
            }
        }
    }
}

/// The resources of a side that are in no match, with their positions.
fn unmatched<'m>(
    side: Side,
    packages: Versions<&'m [Member]>,
    matches: &[ResourceMatch],
) -> (Vec<usize>, Vec<&'m Member>) {
    let members = side.of(packages);
    let taken = taken(side, members, matches).into_iter().enumerate();
    taken
        .filter(|(_, taken)| !taken)
        .map(|(at, _)| (at, &members[at]))
        .unzip()
}

/// Separates each resource of base that one side moved to a path where the other side has a new resource of the same
/// identity. The other side did not move the old resource, or removed it. The two resources at the new path are then
/// the same, and the side that moved counts as having removed the old one.
fn separate_moved_onto_others(packages: Versions<&[Member]>, matches: &mut [ResourceMatch]) {
    fn place(member: &Member) -> (&ResourceKey, Option<&str>) {
        (&member.key, member.path.as_deref())
    }
    let mut moved = Vec::new();
    for (matched, base) in matches.iter().zip(packages.base) {
        let elsewhere = |side: Side| {
            let member = &side.of(packages)[side.of(*matched)?];
            (member.path != base.path).then(|| place(member))
        };
        moved.push((elsewhere(Side::Local), elsewhere(Side::Upstream)));
    }
    if moved
        .iter()
        .all(|(local, upstream)| local.is_some() == upstream.is_some())
    {
        return;
    }
    let new = |side| -> HashSet<_> {
        let (_, members) = unmatched(side, packages, matches);
        members.into_iter().map(place).collect()
    };
    let (new_local, new_upstream) = (new(Side::Local), new(Side::Upstream));
    for (matched, moved) in matches.iter_mut().zip(moved) {
        match moved {
            (Some(place), None) if new_upstream.contains(&place) => matched.local = None,
            (None, Some(place)) if new_local.contains(&place) => matched.upstream = None,
            _ => {}
        }
    }
}
