use std::collections::BTreeMap;

use super::*;

/// A history in memory. The id of a commit is its number.
#[derive(Default)]
struct Commits {
    parents: Vec<Vec<usize>>,
    files: Vec<BTreeMap<&'static str, u32>>,
    /// Whether only `contains` fetches the history.
    is_shallow: bool,
}

fn id(commit: usize) -> String {
    format!("{commit:040x}")
}

fn number(id: &str) -> usize {
    usize::from_str_radix(id, 16).expect("an id")
}

impl Commits {
    fn add(&mut self, parents: &[usize], files: &[(&'static str, u32)]) -> usize {
        self.parents.push(parents.to_vec());
        self.files.push(files.iter().copied().collect());
        self.parents.len() - 1
    }

    /// Commits one after the other.
    fn line(states: &[&[(&'static str, u32)]]) -> Self {
        let mut commits = Self::default();
        for (at, files) in states.iter().enumerate() {
            let parent = at.checked_sub(1);
            commits.add(parent.as_slice(), files);
        }
        commits
    }

    fn history(&self, commit: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([commit]);
        let mut left = vec![commit];
        while let Some(next) = left.pop() {
            let parents = self.parents[next].iter();
            left.extend(parents.filter(|parent| found.insert(**parent)));
        }
        found
    }
}

impl CommitGraph for Commits {
    fn contains(&self, commit: &str, other: &str) -> Result<bool> {
        Ok(self.history(number(commit)).contains(&number(other)))
    }

    fn known_in(&self, commit: &str, others: &[&str]) -> BTreeSet<String> {
        let history = self.history(number(commit));
        let others = others.iter();
        let others = others.filter(|other| history.contains(&number(other)));
        others.map(|other| (*other).to_owned()).collect()
    }

    fn known_with(&self, commit: &str, others: &[&str]) -> Option<BTreeSet<String>> {
        let contains = |other: &&&str| self.history(number(other)).contains(&number(commit));
        let with = others.iter().filter(contains);
        (!self.is_shallow).then(|| with.map(|other| (*other).to_owned()).collect())
    }

    fn content(&self, path: &str, commit: &str) -> Result<Option<PathContent>> {
        let files = &self.files[number(commit)];
        if let Some(value) = files.get(path) {
            return Ok(Some(PathContent {
                is_folder: false,
                id: value.to_string(),
            }));
        }
        let inner = files.iter().filter(|(file, _)| {
            file.strip_prefix(path)
                .is_some_and(|rest| rest.starts_with('/'))
        });
        let id: String = inner
            .map(|(file, value)| format!("{}={value} ", &file[path.len()..]))
            .collect();
        Ok((!id.is_empty()).then_some(PathContent {
            is_folder: true,
            id,
        }))
    }

    fn commits_between(&self, from: &str, to: &str, path: &str) -> Result<usize> {
        let old = self.history(number(from));
        let new = self.history(number(to)).into_iter();
        let new = new.filter(|commit| !old.contains(commit));
        let content = |commit: usize| self.content(path, &id(commit)).ok().flatten();
        let changed = new.filter(|commit| {
            let parents = &self.parents[*commit];
            parents
                .iter()
                .all(|parent| content(*parent) != content(*commit))
        });
        Ok(changed.count())
    }

    fn names(&self, folder: &str, commit: &str) -> Result<Vec<String>> {
        let files = self.files[number(commit)].keys();
        let names = files.filter_map(|file| {
            let rest = match folder {
                "" => Some(*file),
                folder => file
                    .strip_prefix(folder)
                    .and_then(|rest| rest.strip_prefix('/')),
            };
            Some(rest?.split('/').next()?.to_owned())
        });
        let names: BTreeSet<String> = names.collect();
        Ok(names.into_iter().collect())
    }

    fn moved(&self, path: &str, from: &str, to: &str) -> Option<String> {
        let content = self.content(path, from).ok()??;
        let files = self.files[number(to)].keys();
        let folders = files.flat_map(|file| {
            file.match_indices('/')
                .map(|(at, _)| &file[..at])
                .chain([*file])
        });
        let mut same =
            folders.filter(|one| self.content(one, to).ok().flatten() == Some(content.clone()));
        same.next().map(str::to_owned)
    }
}

fn lock(reference: &str, commit: usize, path: &str) -> UpstreamLock {
    UpstreamLock {
        directory: path.to_owned(),
        is_file: path.ends_with(".yaml"),
        reference: Some(reference.to_owned()),
        commit: Some(id(commit)),
        update_strategy: None,
    }
}

/// The references as `git ls-remote` lists them: `v1=0` is a tag, `main:3` a branch, the first branch is HEAD.
fn releases(listed: &str, path: &str) -> Releases {
    let mut text = String::new();
    for word in listed.split(' ').filter(|word| !word.is_empty()) {
        let (name, commit, kind) = match (word.split_once('='), word.split_once(':')) {
            (Some((name, commit)), _) => (name, commit, "tags"),
            (_, Some((name, commit))) => (name, commit, "heads"),
            _ => continue,
        };
        let commit = id(commit.parse().expect("a number"));
        if kind == "heads" && !text.contains("HEAD") {
            text += &format!("{commit}\tHEAD\n");
        }
        text += &format!("{commit}\trefs/{kind}/{name}\n");
    }
    Releases::read(&text, path)
}

/// The names of what is newer, and the notes.
fn newer(lock: &UpstreamLock, listed: &str, commits: &Commits) -> String {
    let releases = releases(listed, &lock.directory);
    match Followed::of(lock, &releases, commits) {
        Err(failure) => format!("error: {}", failure.message),
        Ok(followed) => {
            let names = followed.newer.iter().map(|newer| match newer.commits {
                Some(count) => format!("{} ({count})", newer.name),
                None => newer.name.clone(),
            });
            let notes = followed.notes.iter().map(|note| {
                let note = format!("{note:?}");
                note.split(' ').next().unwrap_or_default().to_owned()
            });
            names.chain(notes).collect::<Vec<_>>().join(", ")
        }
    }
}

#[test]
fn releases_with_the_same_words_are_followed() {
    let commits = Commits::line(&[&[("web/a.yaml", 1)][..]; 9]);
    for (reference, listed, expected) in [
        (
            "v1.0.0",
            "v1.0.0=0 v1.1.0=1 v2.0.0-rc.1=2 v1.2.0=3",
            "v1.1.0, v1.2.0",
        ),
        ("v1.0.0", "v1.0.0=0", ""),
        ("v1.1.0", "v1.0.0=0 v1.1.0=0", ""),
        (
            "v2.0.0-rc.1",
            "v1.0.0=0 v2.0.0-rc.1=0 v2.0.0-rc.2=2 v3.0.0-rc.1=3",
            "v2.0.0-rc.2",
        ),
        (
            "v1.2.3+k3s1",
            "v1.2.3+k3s1=0 v1.2.3+k3s2=1 v1.2.4+rke2r1=2 v1.2.4+k3s1=3",
            "v1.2.3+k3s2, v1.2.4+k3s1",
        ),
        (
            "v1.0.0-gke.2",
            "v1.0.0-gke.2=0 v1.0.0-gke.10=1 v1.1.0=2",
            "v1.0.0-gke.10",
        ),
        (
            "2024.01.9",
            "2024.01.9=0 2024.01.10=1 2024.02.1=2",
            "2024.01.10, 2024.02.1",
        ),
        ("24.04", "22.04=1 24.04=0 24.10=2", "24.10"),
        (
            "chart-1.2.0",
            "chart-1.2.0=0 chart-1.10.0=1 app-1.11.0=2 v3=3",
            "chart-1.10.0",
        ),
        ("web/v1", "web/v1=0 web/v2=1 v3=2", "v2"),
        ("v1", "web/v1=0 web/v2=1 v3=2", "v2"),
        // A tag that upstream deleted is still a release.
        ("v1.0.0", "v1.1.0=1", "v1.1.0"),
        // A release of a commit that the lock has.
        ("v1.0.0", "v1.0.0=0 v1.0.1=0 v1.1.0=1", "v1.1.0"),
    ] {
        assert_eq!(
            newer(&lock(reference, 0, "web"), listed, &commits),
            expected,
            "{reference}: {listed}"
        );
    }
}

#[test]
fn a_release_that_the_lock_contains_is_not_newer() {
    let commits = Commits::line(&[&[("web/a.yaml", 1)][..]; 4]);
    // v2.0.0 is an older commit than the lock's.
    let listed = "v1.0.0=2 v2.0.0=1 v3.0.0=3";
    assert_eq!(newer(&lock("v1.0.0", 2, "web"), listed, &commits), "v3.0.0");
}

#[test]
fn a_moved_tag_is_newer_unless_the_lock_contains_it() {
    let commits = Commits::line(&[
        &[("web/a.yaml", 1)],
        &[("web/a.yaml", 2)],
        &[("web/a.yaml", 3)],
    ]);
    let moved = "v1.0.0@0000000";
    for (reference, listed, expected) in [
        ("v1.0.0", "v1.0.0=2", format!("{moved}, TagMoved")),
        (
            "v1.0.0",
            "v1.0.0=2 v1.1.0=2",
            format!("{moved}, v1.1.0, TagMoved"),
        ),
        ("v1.0.0", "v1.0.0=0", "TagMoved".to_owned()),
        ("stable", "stable=2", "stable@0000000, TagMoved".to_owned()),
        ("stable", "stable=1 v2=2", String::new()),
    ] {
        assert_eq!(
            newer(&lock(reference, 1, "web"), listed, &commits),
            expected,
            "{listed}"
        );
    }
}

#[test]
fn a_branch_is_newer_if_its_commits_change_the_package() {
    let mut commits = Commits::line(&[
        &[("web/a.yaml", 1)],
        &[("web/a.yaml", 1), ("other", 1)],
        &[("web/a.yaml", 2), ("other", 1)],
        &[("web/a.yaml", 3), ("other", 1)],
        &[("web/a.yaml", 3), ("other", 2)],
    ]);
    let rewritten = commits.add(&[0], &[("web/a.yaml", 9)]);
    for (locked, tip, expected) in [
        (0, 0, ""),
        (0, 1, ""),
        (0, 2, "main@0000000 (1)"),
        (1, 4, "main@0000000 (2)"),
        (3, 4, ""),
        // The branch went back.
        (3, 0, ""),
        (3, rewritten, "main@0000000 (1), BranchRewritten"),
    ] {
        let listed = format!("v1.0.0=4 main:{tip} main:{tip}");
        let found = newer(&lock("main", locked, "web"), &listed, &commits);
        assert_eq!(found, expected, "{locked} {tip}");
    }
}

#[test]
fn a_renamed_default_branch_is_followed_and_a_lost_branch_is_an_error() {
    let commits = Commits::line(&[&[("web/a.yaml", 1)], &[("web/a.yaml", 2)]]);
    let gone = |name: &str| {
        format!(
            "error: upstream no longer has a branch or tag `{name}`, although the lock names it"
        )
    };
    for (reference, listed, expected) in [
        (
            "master",
            "main:1",
            "main@0000000 (1), BranchRenamed".to_owned(),
        ),
        ("master", "main:0", "BranchRenamed".to_owned()),
        ("feature", "main:1", gone("feature")),
        ("release-1.2", "main:1 v1.3.0=1", gone("release-1.2")),
    ] {
        assert_eq!(
            newer(&lock(reference, 0, "web"), listed, &commits),
            expected,
            "{reference}"
        );
    }
    // It does not contain the lock.
    let mut other = Commits::line(&[&[("web/a.yaml", 1)]]);
    other.add(&[], &[("web/a.yaml", 2)]);
    assert_eq!(
        newer(&lock("master", 0, "web"), "main:1", &other),
        gone("master")
    );
}

#[test]
fn a_commit_is_followed_by_the_newest_release_that_contains_it() {
    let mut commits = Commits::line(&[&[("web/a.yaml", 1)][..]; 5]);
    let locked = id(2);
    for is_shallow in [false, true] {
        commits.is_shallow = is_shallow;
        for (listed, expected) in [
            ("v1.0.0=1 main:4", ""),
            ("v1.0.0=1 v1.1.0=3 v1.2.0=4 main:4", "v1.2.0"),
            ("v1.1.0=3 v9.0.0=0", "v1.1.0"),
            ("v1.0.0=3 v1.1.0=3 v2.0.0=1 v9.0.0=0", "v1.1.0"),
            ("v1.1.0=2 main:4", ""),
            ("main:4", ""),
        ] {
            let found = newer(&lock(&locked, 2, "web"), listed, &commits);
            assert_eq!(found, expected, "{listed} {is_shallow}");
        }
    }
}

#[test]
fn a_newer_sibling_of_a_path_is_newer_on_a_branch() {
    let first: &[(&str, u32)] = &[("task/clone/0.9/task.yaml", 1)];
    let second: &[(&str, u32)] = &[
        ("task/clone/0.9/task.yaml", 1),
        ("task/clone/0.8/task.yaml", 1),
        ("task/clone/0.10/task.yaml", 2),
        ("task/clone/0.11-rc.1/task.yaml", 2),
        ("task/clone/README.md", 2),
    ];
    let commits = Commits::line(&[first, second]);
    let folder = lock("main", 0, "task/clone/0.9");
    assert_eq!(newer(&folder, "main:0", &commits), "");
    assert_eq!(newer(&folder, "main:1", &commits), "task/clone/0.10");
    // An API version is not a release.
    let commits = Commits::line(&[&[("api/v1/a.yaml", 1), ("api/v2/a.yaml", 1)]]);
    assert_eq!(newer(&lock("main", 0, "api/v1"), "main:0", &commits), "");
}

/// The path at the second commit, or the error.
fn path(path: &str, names: [&str; 2], files: [&[(&'static str, u32)]; 2]) -> String {
    let commits = Commits::line(&files);
    let [from, to] = names.map(ReleaseName::parse);
    let names = from.as_ref().zip(to.as_ref()).map(|(from, to)| [from, to]);
    match path_at(path, [&id(0), &id(1)], names, &commits) {
        Ok(found) if found.unchanged_beside.is_empty() => found.path,
        Ok(found) => format!(
            "{} unchanged, like {}",
            found.path,
            found.unchanged_beside.join(", ")
        ),
        Err(failure) => failure.message,
    }
}

#[test]
fn a_path_with_the_version_in_its_name_is_followed() {
    for (own, names, before, after, expected) in [
        (
            "r/op-1.0.0.yaml",
            ["v1.0.0", "v1.1.0"],
            "r/op-1.0.0.yaml",
            "r/op-1.1.0.yaml",
            "r/op-1.1.0.yaml",
        ),
        (
            "r/op-v1.0.yaml",
            ["v1.0.0", "v1.1.0"],
            "r/op-v1.0.yaml",
            "r/op-v1.1.yaml",
            "r/op-v1.1.yaml",
        ),
        (
            "d/1.27/a.yaml",
            ["v1.27.3", "v1.28.0"],
            "d/1.27/a.yaml",
            "d/1.28/a.yaml",
            "d/1.28/a.yaml",
        ),
        (
            "v1/op-1.0.yaml",
            ["v1.0", "v2.0"],
            "v1/op-1.0.yaml",
            "v1/op-2.0.yaml",
            "v1/op-2.0.yaml",
        ),
        // Another program's file, another end.
        (
            "r/op-1.0.0.yaml",
            ["v1.0.0", "v1.1.0"],
            "r/op-1.0.0.yaml",
            "r/crd-1.1.0.yaml",
            "upstream removed `r/op-1.0.0.yaml`",
        ),
        (
            "r/op-1.0.0.yaml",
            ["v1.0.0", "v1.1.0"],
            "r/op-1.0.0.yaml",
            "r/op-1.1.0.json",
            "upstream removed `r/op-1.0.0.yaml`",
        ),
        (
            "api/v1",
            ["v1.0.0", "v2.0.0"],
            "api/v1/a.yaml",
            "api/v2/b.yaml",
            "upstream removed `api/v1`",
        ),
    ] {
        assert_eq!(
            path(own, names, [&[(before, 1)], &[(after, 2)]]),
            expected,
            "{own}"
        );
    }
}

#[test]
fn a_final_release_never_has_the_file_of_a_pre_release() {
    for (names, files, expected) in [
        (
            ["v1.0.0", "v1.1.0"],
            vec!["r/op-1.1.0-rc1.yaml", "r/op-1.1.0.yaml"],
            "r/op-1.1.0.yaml",
        ),
        (
            ["v1.0.0", "v1.1.0-rc1"],
            vec!["r/op-1.1.0-rc1.yaml", "r/op-1.1.0.yaml"],
            "r/op-1.1.0-rc1.yaml",
        ),
        (
            ["v1.0.0", "v1.1.0"],
            vec!["r/op-1.0.0.yaml", "r/op-1.1.0-rc1.yaml"],
            "r/op-1.0.0.yaml",
        ),
        (
            ["v1.0.0", "v1.1.0"],
            vec!["r/op-1.1.0-beta.2.yaml", "r/op-1.1.0.yaml"],
            "r/op-1.1.0.yaml",
        ),
    ] {
        let after: Vec<(&'static str, u32)> = files.iter().map(|file| (*file, 2)).collect();
        let found = path(
            "r/op-1.0.0.yaml",
            names,
            [&[("r/op-1.0.0.yaml", 1)], &after],
        );
        assert_eq!(found, expected, "{names:?} {files:?}");
    }
}

#[test]
fn a_versioned_path_that_did_not_change_names_its_siblings() {
    let before: &[(&str, u32)] = &[("task/clone/0.9/a.yaml", 1)];
    let after: &[(&str, u32)] = &[("task/clone/0.9/a.yaml", 1), ("task/clone/0.10/a.yaml", 2)];
    assert_eq!(
        path("task/clone/0.9", ["v0.50", "v0.51"], [before, after]),
        "task/clone/0.9 unchanged, like task/clone/0.10"
    );
    let changed: &[(&str, u32)] = &[("task/clone/0.9/a.yaml", 3), ("task/clone/0.10/a.yaml", 2)];
    assert_eq!(
        path("task/clone/0.9", ["v0.50", "v0.51"], [before, changed]),
        "task/clone/0.9"
    );
}

#[test]
fn a_path_that_upstream_moved_is_followed_in_its_kind_only() {
    for (own, before, after, expected) in [
        ("web", "web/a.yaml", ("shop/a.yaml", 1), "shop"),
        ("a.yaml", "a.yaml", ("deploy/a.yaml", 1), "deploy/a.yaml"),
        (
            "a.yaml",
            "a.yaml",
            ("a/one.yaml", 1),
            "upstream turned the file `a.yaml` into the directory `a`: it is a different package",
        ),
        (
            "a.yaml",
            "a.yaml",
            ("a.yaml/one.yaml", 1),
            "upstream turned the file `a.yaml` into the directory `a.yaml`: it is a different package",
        ),
        (
            "web",
            "web/a.yaml",
            ("web", 1),
            "upstream turned the directory `web` into a file: it is a different package",
        ),
        ("web", "web/a.yaml", ("other", 2), "upstream removed `web`"),
    ] {
        assert_eq!(
            path(own, ["main", "main"], [&[(before, 1)], &[after]]),
            expected,
            "{own}"
        );
    }
}

/// Never a revision that the lock contains, for any history, tags and branches.
#[test]
fn nothing_newer_is_in_the_history_of_the_lock() {
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).expect("it fits") % below
    };
    let mut found = 0;
    for _ in 0..2000 {
        let mut commits = Commits::default();
        for at in 0..8 {
            let mut parents: Vec<usize> = Vec::new();
            for _ in 0..random(3) {
                parents.extend((at > 0).then(|| random(at.max(1))));
            }
            let value = u32::try_from(random(3)).expect("it fits");
            let sibling = if random(3) == 0 { "p/1.1/a" } else { "p/x" };
            commits.add(&parents, &[("p/1.0/a", value), (sibling, value)]);
        }
        let mut listed = format!("main:{}", random(8));
        for name in ["v1.0.0", "v1.1.0", "v1.2.0-rc.1", "v2", "stable", "web-1.0"] {
            if random(2) == 0 {
                listed += &format!(" {name}={}", random(8));
            }
        }
        let commit = random(8);
        let names = [
            "v1.0.0",
            "v1.1.0",
            "main",
            "stable",
            "master",
            "web-1.0",
            &id(commit),
        ];
        let lock = lock(names[random(names.len())], commit, "p/1.0");
        let releases = releases(&listed, "p/1.0");
        let Ok(followed) = Followed::of(&lock, &releases, &commits) else {
            continue;
        };
        for newer in followed.newer {
            found += 1;
            let is_contained = commits
                .history(commit)
                .contains(&number(&newer.reference.commit));
            // A sibling at the commit of the lock is another path.
            let is_other = newer.path.is_some();
            assert!(is_other || !is_contained, "{lock:?} {listed} {newer:?}");
        }
    }
    assert!(found > 500, "{found}");
}
