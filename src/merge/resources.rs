//! Finds which resources of three packages are the same.
//!
//! Resources are matched by group, kind, name, namespace and path. A renamed resource is matched by the
//! identity that it declares (`# kpt-merge: namespace/name` on `metadata:`, or
//! `internal.kpt.dev/upstream-identifier`). A moved one is matched without the path, if that is unique in its
//! package. The last attempts leave out the namespace: at one path, since pipelines set namespaces, and anywhere in the
//! package for kinds that have none. Each step is one walk over a hash map.
//!
//! Source: contract, merge-package, Identity.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::member::{Member, Own};
use super::rule::Side;
use super::versions::Versions;

/// Pairs the members of two packages. A member is in at most one pair.
#[must_use]
pub fn pair<M: Borrow<Member>>(left: &[M], right: &[M]) -> Vec<(usize, usize)> {
    let sides = [left, right].map(|side| side.iter().map(Borrow::borrow).collect::<Vec<_>>());
    let any_declared = sides.iter().flatten().any(|m| m.declared.is_some());
    let mut pairing = MemberPairing {
        taken: [vec![false; left.len()], vec![false; right.len()]],
        pairs: Vec::new(),
        sides,
    };
    let path: PlaceOf = |member| member.path.as_deref();
    let package: PlaceOf = |member| Some(&member.package);
    if any_declared {
        pairing.by_former(Among::Free, path);
    }
    pairing.by(Among::Free, |m| Some((m.own(), path(m))));
    if any_declared {
        pairing.by_name_of_other(Among::Free, path);
        pairing.by_former(Among::All, package);
        pairing.by_name_of_other(Among::All, package);
    }
    let named = |m: &'_ Member| m.name.is_some();
    pairing.by(Among::All, |m| named(m).then(|| (m.own(), package(m))));
    pairing.by(Among::Free, |m| {
        Some((&m.group, &m.kind, m.name.as_deref(), path(m)))
    });
    // Even with a namespace, a resource of such a kind is one object in the cluster.
    pairing.by(Among::Free, |m| {
        let is_named = m.name.is_some() && m.is_cluster_scoped();
        is_named.then(|| (&m.group, &m.kind, m.name.as_deref(), package(m)))
    });
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
    sides: [Vec<&'m Member>; 2],
    taken: [Vec<bool>; 2],
    pairs: Vec<(usize, usize)>,
}

/// Where a member is: its file or its package.
type PlaceOf = fn(&Member) -> Option<&str>;

impl<'m> MemberPairing<'m> {
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
        if self
            .taken
            .iter()
            .any(|side| side.iter().all(|taken| *taken))
        {
            return;
        }
        // For each key, the count of members on each side, and one of them. Only a unique member is paired.
        let mut found: HashMap<K, [(usize, Option<usize>); 2]> =
            HashMap::with_capacity(self.sides[0].len().max(self.sides[1].len()));
        for (side, members) in self.sides.iter().enumerate() {
            for (at, member) in members.iter().copied().enumerate() {
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
            if is_free && fits(self.sides[0][a], self.sides[1][b]) {
                self.taken[0][a] = true;
                self.taken[1][b] = true;
                self.pairs.push((a, b));
            }
        }
    }
}

/// One resource in three packages, by its position among the members of each.
pub type ResourceMatch = Versions<Option<usize>>;

/// All resources of three packages: local's resources in their order, then the others.
#[must_use]
pub fn match_resources(packages: Versions<&[Member]>) -> Vec<ResourceMatch> {
    let in_base = |base| ResourceMatch {
        base: Some(base),
        ..ResourceMatch::default()
    };
    let mut matches: Vec<_> = (0..packages.base.len()).map(in_base).collect();
    for (base, local) in pair(packages.base, packages.local) {
        matches[base].local = Some(local);
    }
    for (base, upstream) in pair(packages.base, packages.upstream) {
        matches[base].upstream = Some(upstream);
    }
    separate_moved_onto_others(packages, &mut matches);
    let (new_local, local) = unmatched(Side::Local, packages, &matches);
    let (new_upstream, upstream) = unmatched(Side::Upstream, packages, &matches);
    let new = |base, local, upstream| ResourceMatch {
        base,
        local,
        upstream,
    };
    let both = pair(&local, &upstream).into_iter();
    matches.extend(both.map(|(l, u)| new(None, Some(new_local[l]), Some(new_upstream[u]))));
    let (local, _) = unmatched(Side::Local, packages, &matches);
    let (upstream, _) = unmatched(Side::Upstream, packages, &matches);
    matches.extend(local.into_iter().map(|l| new(None, Some(l), None)));
    matches.extend(upstream.into_iter().map(|u| new(None, None, Some(u))));
    matches.sort_by_key(|m| {
        (
            m.local.is_none(),
            m.local,
            m.base.is_none(),
            m.base,
            m.upstream,
        )
    });
    matches
}

/// The resources of a side that are in no match, with their positions.
fn unmatched<'m>(
    side: Side,
    packages: Versions<&'m [Member]>,
    matches: &[ResourceMatch],
) -> (Vec<usize>, Vec<&'m Member>) {
    let mut members: Vec<_> = side.of(packages).iter().map(Some).collect();
    for at in matches.iter().filter_map(|matched| side.of(*matched)) {
        members[at] = None;
    }
    let new = members.into_iter().enumerate();
    new.filter_map(|(at, member)| Some((at, member?))).unzip()
}

/// Separates each resource of base that one side moved to a path where the other side has a new resource of the same
/// identity. The other side did not move the old resource, or removed it. The two resources at the new path are then
/// the same, and the side that moved counts as having removed the old one.
fn separate_moved_onto_others(packages: Versions<&[Member]>, matches: &mut [ResourceMatch]) {
    fn place(member: &Member) -> (Own<'_>, Option<&str>) {
        (member.own(), member.path.as_deref())
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::merge::member::{duplicates, find_packages};
    use crate::merge::upstream_identifier::UpstreamIdentifier;

    /// `path namespace/name`, and `<namespace/name` for a declared identity.
    fn members(texts: &[&str]) -> Vec<Member> {
        let mut members: Vec<Member> = texts
            .iter()
            .map(|text| {
                let words: Vec<&str> = text.split(' ').collect();
                let split = |text: &str| {
                    let (namespace, name) = text.split_once('/').expect("namespace/name");
                    (Arc::from(namespace), Arc::from(name))
                };
                if words[0].ends_with("Kptfile") {
                    return Member {
                        group: "kpt.dev".to_owned(),
                        kind: "Kptfile".into(),
                        path: Some(words[0].to_owned()),
                        ..Member::default()
                    };
                }
                let (namespace, name) = split(words[1]);
                let kind = Arc::from("ConfigMap");
                let declared = words.get(2).map(|text| {
                    let (namespace, name) = split(&text[1..]);
                    UpstreamIdentifier::new("", &kind, &namespace, &name)
                });
                Member {
                    kind,
                    name: Some(name),
                    namespace: Some(namespace).filter(|text| !text.is_empty()),
                    path: Some(words[0].to_owned()),
                    declared,
                    ..Member::default()
                }
            })
            .collect();
        find_packages(&mut members);
        members
    }

    fn match_all(packages: [&[Member]; 3]) -> Vec<ResourceMatch> {
        match_resources(packages.into())
    }

    #[track_caller]
    fn check(left: &[&str], right: &[&str], expected: &[(usize, usize)]) {
        assert_eq!(pair(&members(left), &members(right)), expected);
        let turned: Vec<_> = expected.iter().map(|(a, b)| (*b, *a)).collect();
        let mut other = pair(&members(right), &members(left));
        other.sort_by_key(|(a, b)| (*b, *a));
        assert_eq!(other, turned);
    }

    #[test]
    fn by_identity_and_path() {
        check(&["a /x", "b /x"], &["b /x", "a /x"], &[(0, 1), (1, 0)]);
        check(&["a /x"], &["a /y"], &[]);
    }

    #[test]
    fn moved_within_the_package() {
        check(&["a /x"], &["b /x"], &[(0, 0)]);
        // It is unclear which of two was moved.
        check(&["a /x", "b /x"], &["a /x", "c /x"], &[(0, 0)]);
        // Not from one package to another.
        check(
            &["a /x", "sub/Kptfile"],
            &["sub/a /x", "sub/Kptfile"],
            &[(1, 1)],
        );
    }

    #[test]
    fn moved_with_a_namespace_that_its_kind_does_not_have() {
        let role = |text: &str| {
            let mut roles = members(&[text]);
            roles[0].group = "rbac.authorization.k8s.io".to_owned();
            roles[0].kind = "ClusterRole".into();
            roles
        };
        assert_eq!(pair(&role("a /x"), &role("b prod/x")), [(0, 0)]);
        assert_eq!(pair(&role("a /x"), &role("b prod/y")), []);
        check(&["a /x"], &["b prod/x"], &[]);
        let mut both = role("b prod/x");
        both.extend(role("c test/x"));
        assert_eq!(pair(&role("a /x"), &both), []);
    }

    #[test]
    fn renamed_by_comment() {
        check(&["a /old"], &["a prod/mine </old"], &[(0, 0)]);
        check(&["a /old"], &["b prod/mine <default/old"], &[(0, 0)]);
        check(&["a other/old"], &["a prod/mine </old"], &[]);
        // Both declare the same identity.
        check(&["a /old </id"], &["a /new </id"], &[(0, 0)]);
    }

    #[test]
    fn renamed_by_a_package_in_between() {
        // kpt's comment has the name in the package in between, and the annotation there has the name before it.
        let (old, mine) = ("a prod/new <default/old", "a dev/mine <prod/new");
        check(&[old], &[mine], &[(0, 0)]);
        check(&["b prod/new <default/old"], &[mine], &[(0, 0)]);
        // A resource that has the name now takes precedence over one that had it before.
        check(
            &[old, "a /old"],
            &["a /old", "a dev/mine <prod/new"],
            &[(0, 1), (1, 0)],
        );
    }

    #[test]
    fn a_pipeline_set_the_namespace_of_a_resource_without_name() {
        let nameless = |namespace: Option<&str>| {
            let [mut member] = <[Member; 1]>::try_from(members(&["a /x"])).expect("one");
            member.name = None;
            member.namespace = namespace.map(Arc::from);
            [member]
        };
        assert_eq!(pair(&nameless(None), &nameless(Some("prod"))), [(0, 0)]);
    }

    #[test]
    fn a_pipeline_set_the_namespace() {
        check(&["a /x"], &["a prod/x"], &[(0, 0)]);
        check(&["a /x"], &["b prod/x"], &[]);
        check(&["a one/x", "a two/x"], &["a prod/x"], &[]);
    }

    #[test]
    fn matches_of_three() {
        let (base, local, upstream) = (
            members(&["a /x", "a /gone"]),
            members(&["b /x", "a /l", "a /n"]),
            members(&["a /gone", "a /x", "a /n"]),
        );
        let matched = |base, local, upstream| ResourceMatch {
            base,
            local,
            upstream,
        };
        let expected = [
            matched(Some(0), Some(0), Some(1)),
            matched(None, Some(1), None),
            matched(None, Some(2), Some(2)),
            matched(Some(1), None, Some(0)),
        ];
        assert_eq!(match_all([&base, &local, &upstream]), expected);
    }

    #[test]
    fn moved_to_where_the_other_side_has_one() {
        let one = |path: &str| members(&[&format!("{path} /x")]);
        let both = members(&["a /x", "b /x"]);
        let matched = |base, local, upstream| ResourceMatch {
            base,
            local,
            upstream,
        };
        let expected = [
            matched(Some(0), Some(0), None),
            matched(None, Some(1), Some(0)),
        ];
        assert_eq!(match_all([&one("a"), &both, &one("b")]), expected);
        let expected = [
            matched(None, Some(0), Some(1)),
            matched(Some(0), None, Some(0)),
        ];
        assert_eq!(match_all([&one("a"), &one("b"), &both]), expected);
        // Found by fuzzing: upstream has it in two other places, and local moved it to one of them.
        let elsewhere = members(&["b /x", "c /x"]);
        let expected = [
            matched(None, Some(0), Some(0)),
            matched(Some(0), None, None),
            matched(None, None, Some(1)),
        ];
        assert_eq!(match_all([&one("a"), &one("b"), &elsewhere]), expected);
    }

    #[test]
    fn two_of_one_identity() {
        assert_eq!(duplicates(&members(&["a /x", "b /x", "a /x"])), [(0, 2)]);
    }

    #[test]
    fn many_resources_take_linear_time() {
        let many = |directory: &str| -> Vec<Member> {
            let texts: Vec<String> = (0..20_000)
                .map(|i| format!("{directory}{i} /x{i}"))
                .collect();
            members(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(pair(&many("a"), &many("b")).len(), 20_000);
    }
}
