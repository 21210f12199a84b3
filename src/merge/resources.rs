//! Which resources of three packages are the same.
//!
//! By group, kind, name, namespace and path; a resource that was renamed by the identity that it
//! declares (`# kpt-merge: namespace/name` on `metadata:`, or `internal.kpt.dev/upstream-identifier`);
//! one that was moved within its package by all but the path, where that is unique; at last without
//! the namespace, since pipelines set namespaces. Each step is one walk over a hash map.
//!
//! Source: contract, merge-package, Identity.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::upstream_identifier::{UPSTREAM_IDENTIFIER, UpstreamIdentifier};
use crate::resource::DEFAULT_NAMESPACE;
use crate::resource::Resource;
use crate::yaml::{NodeRef, line_comment};

/// What tells a resource from others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Member {
    /// API group; the core group is empty.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Name; those without one are known by their path, and so are Kptfiles.
    pub name: Option<String>,
    /// Namespace.
    pub namespace: Option<String>,
    /// Path of the file from the root package.
    pub path: Option<String>,
    /// The directory of its (sub-)package; empty for the root package.
    pub package: String,
    /// The identity that it declares to have had upstream.
    pub declared: Option<UpstreamIdentifier>,
    /// Whether it carries the annotation with that identity.
    pub is_annotated: bool,
}

impl Member {
    /// The identity of a resource; its package, and what it declares, are not known yet.
    #[must_use]
    pub fn of(resource: &Resource, path: Option<String>) -> Self {
        let by_path = resource.is_kptfile();
        let namespace = resource.namespace.clone();
        Self {
            group: resource.group().to_owned(),
            kind: resource.kind.clone(),
            name: resource.name.clone().filter(|_| !by_path),
            namespace: namespace.filter(|namespace| !by_path && !namespace.is_empty()),
            path,
            package: String::new(),
            declared: None,
            is_annotated: false,
        }
    }

    /// Reads the identity that a resource declares.
    pub fn declare(&mut self, resource: &Resource, node: NodeRef<'_>) {
        let annotation = ["metadata", "annotations", UPSTREAM_IDENTIFIER];
        self.is_annotated = node.get_path(&annotation).is_some();
        if !resource.is_kptfile() {
            self.declared = declared(resource, node);
        }
    }

    /// Whether this is a package's `Kptfile`.
    pub(super) fn is_kptfile(&self) -> bool {
        self.kind == "Kptfile" && self.group == "kpt.dev"
    }

    /// What it is called now.
    fn own(&self) -> Own<'_> {
        (
            &self.group,
            &self.kind,
            self.name.as_deref(),
            self.namespace.as_deref(),
        )
    }

    /// What it declares, else what it is, with `default` for an absent namespace.
    fn former(&self) -> Option<(&str, &str, &str, &str)> {
        match &self.declared {
            Some(d) => Some((&d.group, &d.kind, &d.namespace, &d.name)),
            None => {
                let namespace = self.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
                Some((&self.group, &self.kind, namespace, self.name.as_deref()?))
            }
        }
    }
}

type Own<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>);

fn declared(resource: &Resource, node: NodeRef<'_>) -> Option<UpstreamIdentifier> {
    let metadata = node.resolved().entry("metadata")?;
    let comment = line_comment(metadata.key).unwrap_or_default();
    let comment = comment.trim_start_matches('#').trim();
    let old = comment.strip_prefix("kpt-merge:");
    if let Some((namespace, name)) = old.and_then(|old| old.trim().split_once('/')) {
        let (group, kind) = (resource.group(), &resource.kind);
        let (namespace, name) = (namespace.trim(), name.trim());
        return Some(UpstreamIdentifier::new(group, kind, namespace, name));
    }
    let annotations = metadata.value.get("annotations")?;
    UpstreamIdentifier::parse(annotations.get(UPSTREAM_IDENTIFIER)?.as_str()?)
}

/// Finds the (sub-)package of each: the nearest directory above with a Kptfile.
pub fn find_packages(members: &mut [Member]) {
    let directory = |path: &str| {
        path.rsplit_once('/')
            .map_or("", |(directory, _)| directory)
            .to_owned()
    };
    let packages: HashSet<String> = members
        .iter()
        .filter(|member| member.kind == "Kptfile" && member.group == "kpt.dev")
        .filter_map(|member| member.path.as_deref().map(directory))
        .collect();
    for member in members {
        let mut at = member.path.as_deref().map(directory).unwrap_or_default();
        while !at.is_empty() && !packages.contains(&at) {
            at = directory(&at);
        }
        member.package = at;
    }
}

/// Pairs of members of one identity at one path. Those without a name are known by kind and path.
#[must_use]
pub fn duplicates(members: &[Member]) -> Vec<(usize, usize)> {
    let mut seen = HashMap::new();
    let mut found = Vec::new();
    for (at, member) in members.iter().enumerate() {
        if let Some(first) = seen.insert((member.own(), member.path.as_deref()), at) {
            found.push((first, at));
        }
    }
    found
}

/// Pairs the members of two packages; a member is in one pair at most.
#[must_use]
pub fn pair(left: &[Member], right: &[Member]) -> Vec<(usize, usize)> {
    let mut pairing = Pairing {
        left,
        right,
        taken: [vec![false; left.len()], vec![false; right.len()]],
        pairs: Vec::new(),
    };
    let says = |a: &Member, b: &Member| a.declared.is_some() || b.declared.is_some();
    let somebody_says = left.iter().chain(right).any(|m| m.declared.is_some());
    if somebody_says {
        pairing.by(
            Among::Free,
            |m| Some((m.former()?, m.path.as_deref())),
            says,
        );
    }
    pairing.by(
        Among::Free,
        |m| Some((m.own(), m.path.as_deref())),
        |_, _| true,
    );
    if somebody_says {
        pairing.by(
            Among::All,
            |m| Some((m.former()?, m.package.as_str())),
            says,
        );
    }
    let named = |m: &'_ Member| m.name.is_some();
    pairing.by(
        Among::All,
        |m| named(m).then(|| (m.own(), m.package.as_str())),
        |_, _| true,
    );
    pairing.by(
        Among::Free,
        |m| Some((&m.group, &m.kind, m.name.as_deref()?, m.path.as_deref())),
        |_, _| true,
    );
    pairing.pairs.sort_unstable();
    pairing.pairs
}

/// Among whom a key must be unique.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Among {
    All,
    Free,
}

struct Pairing<'m> {
    left: &'m [Member],
    right: &'m [Member],
    taken: [Vec<bool>; 2],
    pairs: Vec<(usize, usize)>,
}

impl<'m> Pairing<'m> {
    fn by<K: Hash + Eq>(
        &mut self,
        among: Among,
        key: impl Fn(&'m Member) -> Option<K>,
        fits: impl Fn(&Member, &Member) -> bool,
    ) {
        if self
            .taken
            .iter()
            .any(|side| side.iter().all(|taken| *taken))
        {
            return;
        }
        // Of each key the only member of either side; more than one count as none.
        let mut found: HashMap<K, [(usize, Option<usize>); 2]> =
            HashMap::with_capacity(self.left.len().max(self.right.len()));
        for (side, members) in [self.left, self.right].into_iter().enumerate() {
            for (at, member) in members.iter().enumerate() {
                if among == Among::Free && self.taken[side][at] {
                    continue;
                }
                if let Some(key) = key(member) {
                    let entry = &mut found.entry(key).or_default()[side];
                    *entry = (entry.0 + 1, Some(at));
                }
            }
        }
        for [left, right] in found.into_values() {
            let ((1, Some(a)), (1, Some(b))) = (left, right) else {
                continue;
            };
            if !self.taken[0][a] && !self.taken[1][b] && fits(&self.left[a], &self.right[b]) {
                self.taken[0][a] = true;
                self.taken[1][b] = true;
                self.pairs.push((a, b));
            }
        }
    }
}

/// One resource in three packages, by its place among the members of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Track {
    /// In the package that local is based on.
    pub base: Option<usize>,
    /// In the local package.
    pub local: Option<usize>,
    /// In the package revision wanted.
    pub upstream: Option<usize>,
}

/// All resources of three packages: local's in their order, then the others.
#[must_use]
pub fn tracks(base: &[Member], local: &[Member], upstream: &[Member]) -> Vec<Track> {
    let mut of_base = vec![(None, None); base.len()];
    let mut from_base = [vec![None; local.len()], vec![None; upstream.len()]];
    for (b, l) in pair(base, local) {
        of_base[b].0 = Some(l);
        from_base[0][l] = Some(b);
    }
    for (b, u) in pair(base, upstream) {
        of_base[b].1 = Some(u);
        from_base[1][u] = Some(b);
    }
    let new = |side: usize, members: &[Member]| -> (Vec<usize>, Vec<Member>) {
        let new = members
            .iter()
            .enumerate()
            .filter(|(at, _)| from_base[side][*at].is_none());
        new.map(|(at, member)| (at, member.clone())).unzip()
    };
    let ((new_local, ours), (new_upstream, theirs)) = (new(0, local), new(1, upstream));
    let mut both = HashMap::new();
    let mut taken = vec![false; upstream.len()];
    for (l, u) in pair(&ours, &theirs) {
        both.insert(new_local[l], new_upstream[u]);
        taken[new_upstream[u]] = true;
    }
    let mut tracks = Vec::new();
    for (l, base) in from_base[0].iter().copied().enumerate() {
        let upstream = match base {
            Some(b) => of_base[b].1,
            None => both.get(&l).copied(),
        };
        tracks.push(Track {
            base,
            local: Some(l),
            upstream,
        });
    }
    for (b, (l, u)) in of_base.iter().enumerate() {
        if l.is_none() {
            tracks.push(Track {
                base: Some(b),
                local: None,
                upstream: *u,
            });
        }
    }
    for u in new_upstream {
        if !taken[u] {
            tracks.push(Track {
                base: None,
                local: None,
                upstream: Some(u),
            });
        }
    }
    tracks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `path namespace/name`, and `<namespace/name` for a declared identity.
    fn members(texts: &[&str]) -> Vec<Member> {
        let mut members: Vec<Member> = texts
            .iter()
            .map(|text| {
                let words: Vec<&str> = text.split(' ').collect();
                let split = |text: &str| {
                    let (namespace, name) = text.split_once('/').expect("namespace/name");
                    (namespace.to_owned(), name.to_owned())
                };
                if words[0].ends_with("Kptfile") {
                    return Member {
                        group: "kpt.dev".to_owned(),
                        kind: "Kptfile".to_owned(),
                        path: Some(words[0].to_owned()),
                        ..Member::default()
                    };
                }
                let (namespace, name) = split(words[1]);
                let kind = "ConfigMap".to_owned();
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
        // Which of two was moved?
        check(&["a /x", "b /x"], &["a /x", "c /x"], &[(0, 0)]);
        // Not from one package to another.
        check(
            &["a /x", "sub/Kptfile"],
            &["sub/a /x", "sub/Kptfile"],
            &[(1, 1)],
        );
    }

    #[test]
    fn renamed_by_comment() {
        check(&["a /old"], &["a prod/mine </old"], &[(0, 0)]);
        check(&["a /old"], &["b prod/mine <default/old"], &[(0, 0)]);
        check(&["a other/old"], &["a prod/mine </old"], &[]);
        // Both declare the same.
        check(&["a /old </id"], &["a /new </id"], &[(0, 0)]);
    }

    #[test]
    fn a_pipeline_set_the_namespace() {
        check(&["a /x"], &["a prod/x"], &[(0, 0)]);
        check(&["a /x"], &["b prod/x"], &[]);
        check(&["a one/x", "a two/x"], &["a prod/x"], &[]);
    }

    #[test]
    fn tracks_of_three() {
        let (base, local, upstream) = (
            members(&["a /x", "a /gone"]),
            members(&["b /x", "a /l", "a /n"]),
            members(&["a /gone", "a /x", "a /n"]),
        );
        let track = |base, local, upstream| Track {
            base,
            local,
            upstream,
        };
        let expected = [
            track(Some(0), Some(0), Some(1)),
            track(None, Some(1), None),
            track(None, Some(2), Some(2)),
            track(Some(1), None, Some(0)),
        ];
        assert_eq!(tracks(&base, &local, &upstream), expected);
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
