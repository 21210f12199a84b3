//! Unit tests of [`resources`](super::resources).

use std::sync::Arc;

use super::alike::Leaves;
use super::member::{Member, duplicates, find_packages};
use super::resources::{PairingSource, ResourceMatch, ResourceMatches, match_resources, pair};
use super::rule::Side;
use krm_core::resource_key::{GivenName, ResourceKey};
use krm_core::upstream_identifier::UpstreamIdentifier;
use krm_yaml::Value;

/// A resource: `path namespace/name`, then in any order `<namespace/name` for a declared identity, `group.example/Kind`,
/// `~prefix` for a `generateName`, and `=a,b,c` for its leaves.
fn resources(texts: &[&str]) -> (Vec<Member>, Vec<Leaves>) {
    let (mut all, mut leaves) = (Vec::new(), Vec::new());
    for text in texts {
        let words: Vec<&str> = text.split(' ').collect();
        let split = |text: &str| {
            let (first, second) = text.split_once('/').expect("two parts");
            (Arc::from(first), Arc::from(second))
        };
        let mut key = ResourceKey {
            kind: "ConfigMap".into(),
            ..ResourceKey::default()
        };
        let mut member = Member {
            path: Some(words[0].to_owned()),
            ..Member::default()
        };
        let mut own = String::new();
        if words[0].ends_with("Kptfile") {
            key.group = "kpt.dev".into();
            key.kind = "Kptfile".into();
        } else {
            let (namespace, name): (Arc<str>, Arc<str>) = split(words[1]);
            key.namespace = Some(namespace).filter(|text: &Arc<str>| !text.is_empty());
            if !name.is_empty() {
                key.name = GivenName::Name(name);
            }
        }
        for word in words.iter().skip(2) {
            if let Some(declared) = word.strip_prefix('<') {
                let (namespace, name): (Arc<str>, Arc<str>) = split(declared);
                let declared = UpstreamIdentifier::new("", &key.kind, &namespace, &name);
                member.declared = Some(declared);
            } else if let Some(name) = word.strip_prefix('~') {
                key.name = GivenName::Generated(name.into());
            } else if let Some(values) = word.strip_prefix('=') {
                own = values.to_owned();
            } else {
                (key.group, key.kind) = split(word);
            }
        }
        let data = own.split(',').filter(|leaf| !leaf.is_empty());
        let data = data.map(|leaf| Value::entry(leaf, leaf)).collect();
        let value = Value::Mapping(vec![Value::entry("data", Value::Mapping(data))]);
        leaves.push(if own.is_empty() {
            Leaves::default()
        } else {
            Leaves::of_value(&value)
        });
        member.key = key;
        all.push(member);
    }
    find_packages(&mut all);
    (all, leaves)
}

fn members(texts: &[&str]) -> Vec<Member> {
    resources(texts).0
}

fn source<'m>((members, leaves): &'m (Vec<Member>, Vec<Leaves>)) -> PairingSource<'m> {
    PairingSource::new(members, |at| leaves[at].clone())
}

/// Members without leaves.
fn bare(members: &[Member]) -> PairingSource<'_> {
    PairingSource::new(members, |_| Leaves::default())
}

fn pair_members(left: &[Member], right: &[Member]) -> Vec<(usize, usize)> {
    pair(&bare(left), &bare(right))
}

fn match_all(packages: [&[Member]; 3]) -> Vec<ResourceMatch> {
    let sources = packages.map(bare);
    match_resources(sources.each_ref().into()).all
}

/// The matches of three packages, each as three positions, and what likeness found.
fn match_texts(packages: [&[&str]; 3]) -> (Vec<[Option<usize>; 3]>, ResourceMatches) {
    let packages = packages.map(resources);
    let sources = packages.each_ref().map(source);
    let found = match_resources(sources.each_ref().into());
    let all = found.all.iter().map(|matched| matched.into_array());
    (all.collect(), found)
}

#[track_caller]
fn check(left: &[&str], right: &[&str], expected: &[(usize, usize)]) {
    let (left, right) = (resources(left), resources(right));
    assert_eq!(pair(&source(&left), &source(&right)), expected);
    let turned: Vec<_> = expected.iter().map(|(a, b)| (*b, *a)).collect();
    let mut other = pair(&source(&right), &source(&left));
    other.sort_by_key(|(a, b)| (*b, *a));
    assert_eq!(other, turned);
}

#[test]
fn by_identity_and_path() {
    check(&["a /x", "b /x"], &["b /x", "a /x"], &[(0, 1), (1, 0)]);
    check(&["a /x", "a /z"], &["a /y", "a /z"], &[(1, 1)]);
}

#[test]
fn moved_within_the_package() {
    check(&["a /x"], &["b /x"], &[(0, 0)]);
    // The rest is unique on each side.
    check(&["a /x", "b /x"], &["a /x", "c /x"], &[(0, 0), (1, 1)]);
    check(&["a /x", "b /x"], &["c /x", "d /x"], &[]);
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
        roles[0].key.group = "rbac.authorization.k8s.io".into();
        roles[0].key.kind = "ClusterRole".into();
        roles
    };
    assert_eq!(pair_members(&role("a /x"), &role("b prod/x")), [(0, 0)]);
    assert_eq!(pair_members(&role("a /x"), &role("b prod/y")), []);
    check(&["a /x =1"], &["b prod/x =2"], &[]);
    let mut both = role("b prod/x");
    both.extend(role("c test/x"));
    assert_eq!(pair_members(&role("a /x"), &both), []);
}

#[test]
fn renamed_by_comment() {
    check(&["a /old"], &["a prod/mine </old"], &[(0, 0)]);
    check(&["a /old"], &["b prod/mine <default/old"], &[(0, 0)]);
    check(&["a other/old"], &["a prod/mine </old", "a /z"], &[]);
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
        member.key.name = GivenName::None;
        member.key.namespace = namespace.map(Arc::from);
        [member]
    };
    assert_eq!(
        pair_members(&nameless(None), &nameless(Some("prod"))),
        [(0, 0)]
    );
}

#[test]
fn a_pipeline_set_the_namespace() {
    check(&["a /x"], &["a prod/x"], &[(0, 0)]);
    // In another file, only what is alike.
    check(&["a /x =1"], &["b prod/x =2"], &[]);
    check(&["a /x =1"], &["b prod/x =1"], &[(0, 0)]);
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
fn a_resource_that_moves_to_an_occupied_place_is_reported() {
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
        matched(Some(0), Some(0), Some(0)),
        matched(None, None, Some(1)),
    ];
    assert_eq!(match_all([&one("a"), &one("b"), &elsewhere]), expected);
}

#[test]
fn two_of_one_identity() {
    let found = duplicates(&members(&["a /x", "b /x", "a /x", "a /x"]));
    assert_eq!(found, [(0, vec![2, 3])]);
    assert_eq!(duplicates(&members(&["a / ~x-", "a / ~x-"])), []);
}

#[test]
fn many_resources_take_linear_time() {
    let many = |directory: &str| -> Vec<Member> {
        let texts: Vec<String> = (0..20_000)
            .map(|i| format!("{directory}{i} /x{i}"))
            .collect();
        members(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(pair_members(&many("a"), &many("b")).len(), 20_000);
}

#[test]
fn variants_pair_by_file_then_by_likeness() {
    // The names of their files.
    check(
        &["a /x =1,2", "b /x =1,3"],
        &["s/b /x =1,3", "s/a /x =1,2"],
        &[(0, 1), (1, 0)],
    );
    let (old, new) = (
        ["a /x =1,2,3", "b /x =1,4,5"],
        ["c /x =1,4,5,6", "d /x =1,2,3"],
    );
    check(&old, &new, &[(0, 1), (1, 0)]);
    // One of them was removed.
    check(&old, &["c /x =1,4,5,6"], &[(1, 0)]);
    // Both are equally like it.
    check(&["a /x =1,2", "b /x =1,2"], &["c /x =1,2"], &[]);
}

#[test]
fn renamed_by_likeness() {
    check(&["a /x =1,2"], &["b /y =1,3"], &[(0, 0)]);
    check(&["a /x =1,2,3"], &["b /y =1,4,5"], &[]);
    check(&["a /x =1,2"], &["b /y =1,2 v1/Secret"], &[]);
    // In another API group.
    check(&["a /x a/Role =1,2"], &["b /y b/Role =1,2"], &[(0, 0)]);
    // Not in another package.
    check(
        &["a /x =1", "sub/Kptfile"],
        &["sub/a /y =1", "sub/Kptfile"],
        &[(1, 1)],
    );
    // Nothing is not alike.
    check(&["a /x"], &["b /y"], &[]);
    // By its name before the likeness of others.
    check(
        &["a n/x =1,2,3", "b n/y =1,2,3"],
        &["c m/y =1,2,3", "d m/x =1,2,3"],
        &[(0, 1), (1, 0)],
    );
}

#[test]
fn the_file_takes_precedence_over_likeness() {
    check(
        &["a /x =1,2,3", "a /z"],
        &["a /y =1,2,4", "b /w =1,2,3", "a /z"],
        &[(0, 0), (1, 2)],
    );
}

#[test]
fn the_best_match_leads_by_at_least_a_tenth() {
    let old = "a /x =1,2,3,4,5,6,7,8,9,10,11";
    let like = "b /y =1,2,3,4,5,6,7,8,9,10,12";
    let equal = "b /z =1,2,3,4,5,6,7,8,9,10,11";
    let less = "b /w =1,2,3,4,5,6,7,8,9,12,13";
    check(&[old], &[like, less], &[]);
    check(&[old], &[like, equal], &[(0, 1)]);
    check(&[old], &[equal, equal.replace("/z", "/v").as_str()], &[]);
    check(&[old], &["b /w =1,2,3,4,5,6,7,8", like], &[(0, 1)]);
    // A pair makes another one certain.
    let second = "a /second =1,2,3,4,5,6,7,8,9,10,12";
    check(&[old, second], &[equal, like], &[(0, 0), (1, 1)]);
}

#[test]
fn the_only_resource_of_a_file_is_renamed_however_little_is_alike() {
    let (old, new) = (["a /x =1,2"], ["a /y =3,4"]);
    check(&old, &new, &[(0, 0)]);
    check(&old, &["a /y =3,4 v1/Secret"], &[]);
    check(&old, &["a /y =3,4", "a /z"], &[]);
    let both: &[&str] = &["a /x =1,2", "a /z"];
    let (matches, _) = match_texts([&old, both, &new]);
    let expected = [
        [Some(0), Some(0), None],
        [None, Some(1), None],
        [None, None, Some(0)],
    ];
    assert_eq!(matches, expected);
    let (matches, found) = match_texts([&old, &old, &new]);
    assert_eq!(matches, [[Some(0); 3]]);
    assert_eq!(found.renamed, [(0, Side::Upstream)].into());
}

#[test]
fn resources_with_a_generate_name() {
    check(
        &["a / ~x- =1", "a / ~y- =1"],
        &["a / ~y- =2", "a / ~x- =2"],
        &[(0, 1), (1, 0)],
    );
    check(
        &["a / ~x- =1,2,3", "a / ~x- =4,5,6"],
        &["a / ~x- =4,5,7", "a / ~x- =1,2,8"],
        &[(0, 1), (1, 0)],
    );
    let (matches, found) = match_texts([
        &["a / ~x- =1,2,3"],
        &["a / ~x- =1,2,4", "a / ~x- =1,2,5"],
        &["a / ~x- =1,2,3"],
    ]);
    let expected = [
        [None, Some(0), None],
        [None, Some(1), None],
        [Some(0), None, Some(0)],
    ];
    assert_eq!(matches, expected);
    assert_eq!(found.ties, [((0, Side::Local), vec![0, 1])].into());
}

#[test]
fn duplicates_pair_by_likeness_then_by_position() {
    check(
        &["a /x =1,2", "a /x =3,4"],
        &["a /x =3,5", "a /x =1,6"],
        &[(0, 1), (1, 0)],
    );
    check(
        &["a /x =1", "a /x =2"],
        &["a /x =3", "a /x =4"],
        &[(0, 0), (1, 1)],
    );
    check(&["a /x =1", "a /x =2"], &["a /x =2"], &[(1, 0)]);
}

#[test]
fn new_resources_never_pair_while_the_original_has_a_candidate() {
    let (base, local, upstream): ([&str; 2], [&str; 3], [&str; 1]) = (
        ["a /x =1,2", "b /x =1,2"],
        ["a /x =1,2", "b /x =1,2", "ours /x =1,2"],
        ["theirs /x =1,2"],
    );
    let (matches, found) = match_texts([&base, &local, &upstream]);
    assert!(matches.contains(&[None, Some(2), None]), "{matches:?}");
    assert!(matches.contains(&[None, None, Some(0)]), "{matches:?}");
    assert_eq!(found.ties.len(), 2);
    // Without one they are what both sides added.
    let (matches, _) = match_texts([&[], &["ours /x =1"], &["theirs /x =2"]]);
    assert_eq!(matches, [[None, Some(0), Some(0)]]);
}

#[test]
fn both_sides_renamed_it() {
    // Alike; one of the two is little like the original.
    for own in ["a /y =1,2", "a /y =3,4"] {
        let (matches, _) = match_texts([&["a /x =1,2", "a /z"], &[own], &["a /y =1,2"]]);
        assert_eq!(matches[0], [Some(0), Some(0), Some(0)], "{own}");
    }
    // Differently.
    let (matches, found) = match_texts([&["a /x =1,2"], &["a /y =1,2"], &["b /w =1,2"]]);
    assert_eq!(matches, [[Some(0); 3]]);
    assert_eq!(found.renamed.len(), 2);
}

#[test]
fn local_keeps_the_old_resource_next_to_the_new_one() {
    let (matches, _) = match_texts([&["a /x =1,2"], &["a /x =1,2", "a /y =1,2"], &["a /y =1,2"]]);
    let expected = [[Some(0), Some(0), None], [None, Some(1), Some(0)]];
    assert_eq!(matches, expected);
}

#[test]
fn equal_partners_are_a_tie_and_not_a_pair() {
    let (matches, found) = match_texts([
        &["a /x =1,2"],
        &["a /x =1,2"],
        &["a /y =1,2", "b /z =1,2", "a /w =1,2"],
    ]);
    assert_eq!(matches[0], [Some(0), Some(0), None]);
    // Those in the same file.
    assert_eq!(found.ties, [((0, Side::Upstream), vec![0, 2])].into());
}

#[test]
fn renamed_resources_take_time_that_grows_with_their_number() {
    // Each has three leaves that no other has, and as many in common with all.
    let many = |prefix: &str, count: usize| {
        let texts: Vec<String> = (0..count)
            .map(|i| format!("f{} /{prefix}{i} =a,b,c,x{i},y{i},z{i}", i % 7))
            .collect();
        resources(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    for count in [50, 1_000] {
        let (old, new) = (many("old", count), many("new", count));
        let expected: Vec<_> = (0..count).map(|at| (at, at)).collect();
        assert_eq!(pair(&source(&old), &source(&new)), expected);
    }
}

/// Random packages in which each side renames, moves and removes resources: whatever is found, each resource is in one
/// match, and a match has a resource of a side at most once.
#[test]
fn every_resource_is_in_one_match() {
    let mut state = 1_u64;
    let mut next = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..500 {
        let mut package = || -> Vec<String> {
            let count = next(6);
            let one = |_| {
                let leaves: Vec<String> =
                    (0..next(5)).map(|at| format!("{at}{}", next(2))).collect();
                format!(
                    "f{} {}/n{} ={}",
                    next(3),
                    ["", "m"][next(2) as usize],
                    next(3),
                    leaves.join(",")
                )
            };
            (0..count).map(one).collect()
        };
        let texts = [package(), package(), package()];
        let texts = texts
            .each_ref()
            .map(|texts| texts.iter().map(String::as_str).collect::<Vec<_>>());
        let (matches, found) = match_texts([&texts[0], &texts[1], &texts[2]]);
        for side in 0..3 {
            let mut all: Vec<usize> = matches.iter().filter_map(|matched| matched[side]).collect();
            all.sort_unstable();
            assert_eq!(all, (0..texts[side].len()).collect::<Vec<_>>(), "{texts:?}");
        }
        for ((base, side), others) in &found.ties {
            let matched = matches.iter().find(|matched| matched[0] == Some(*base));
            let at = [Side::Local, Side::Upstream]
                .iter()
                .position(|of| of == side);
            assert_eq!(
                matched.map(|matched| matched[1 + at.unwrap_or_default()]),
                Some(None)
            );
            assert!(!others.is_empty(), "{texts:?}");
        }
        // Turned round, it is the same.
        let (turned, _) = match_texts([&texts[0], &texts[2], &texts[1]]);
        let mut turned: Vec<_> = turned.into_iter().map(|[b, l, u]| [b, u, l]).collect();
        let mut straight = matches.clone();
        turned.sort_unstable();
        straight.sort_unstable();
        assert_eq!(turned, straight, "{texts:?}");
    }
}
