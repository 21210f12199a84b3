//! Which resources are the same: moved, renamed, in another API group, several of one identity, in Lists.

use crate::kpt_merge::generate::Random;

use super::*;

fn deployment(name: &str, image: &str, replicas: u8) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  replicas: {replicas}\n  \
         minReadySeconds: 5\n  template:\n    spec:\n      containers:\n      - name: main\n        image: {image}\n        \
         args: [serve, fast]\n"
    )
}

fn reasons<'s>(said: &'s [String], reason: &str) -> Vec<&'s String> {
    let end = format!("({reason})");
    said.iter().filter(|line| line.ends_with(&end)).collect()
}

#[test]
fn a_resource_that_local_renamed_gets_its_updates() {
    let old = format!(
        "{}---\n{}",
        deployment("web", "web:1", 1),
        map("a", "{x: a}")
    );
    let own = old.replace("name: web", "name: frontend");
    let new = old.replace("web:1", "web:2");
    let (files, said) = merge_files(
        [
            &[("a.yaml", &old)],
            &[("a.yaml", &own)],
            &[("a.yaml", &new)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], own.replace("web:1", "web:2"));
    assert_eq!(
        said[0],
        "[info] a.yaml: Deployment/frontend: local renamed the resource from `apps/Deployment/web` to \
         `apps/Deployment/frontend` (Renamed)"
    );
    // Nothing to merge, nothing to report.
    for upstream in [&old, &own] {
        let (files, said) = merge_files(
            [
                &[("a.yaml", &old)],
                &[("a.yaml", &own)],
                &[("a.yaml", upstream)],
            ],
            "",
        );
        assert_eq!((&files["a.yaml"], said.len()), (&own, 0), "{said:?}");
    }
}

#[test]
fn a_resource_that_upstream_renamed_keeps_local_changes() {
    let old = deployment("web", "web:1", 1);
    let own = deployment("web", "web:1", 3);
    let new = deployment("server", "web:2", 1).replace("apps/v1", "example.com/v1");
    for to in ["a.yaml", "b.yaml"] {
        let rest = map("rest", "{x: a}");
        let (files, said) = merge_files(
            [
                &[("a.yaml", &old), ("c.yaml", &rest)],
                &[("a.yaml", &own), ("c.yaml", &rest)],
                &[(to, &new), ("c.yaml", &rest)],
            ],
            "",
        );
        let expected = deployment("server", "web:2", 3).replace("apps/v1", "example.com/v1");
        assert_eq!(keys(&files), [to, "c.yaml"]);
        assert_eq!(files[to], expected, "{said:?}");
        assert_eq!(reasons(&said, "Renamed").len(), 1, "{said:?}");
        assert_eq!(conflicts(&said).len(), 0, "{said:?}");
    }
}

#[test]
fn equally_good_partners_are_a_conflict_that_names_them() {
    let old = deployment("web", "web:1", 1);
    let (one, two) = (deployment("one", "web:1", 1), deployment("two", "web:1", 1));
    let both = format!("{one}---\n{two}");
    let changed = deployment("web", "web:2", 1);
    // Upstream's partners: local's resource stays.
    let (files, said) = merge_files(
        [
            &[("a.yaml", &old)],
            &[("a.yaml", &changed)],
            &[("a.yaml", &both)],
        ],
        "",
    );
    let found = conflicts(&said);
    assert!(
        found.len() == 1 && found[0].contains("`apps/Deployment/one` and `apps/Deployment/two`"),
        "{said:?}"
    );
    assert_eq!(files["a.yaml"].matches("kind:").count(), 3, "{files:?}");
    // Local's partners.
    let (files, said) = merge_files(
        [
            &[("a.yaml", &old)],
            &[("a.yaml", &both)],
            &[("a.yaml", &changed)],
        ],
        "",
    );
    let found = conflicts(&said);
    assert!(
        found.len() == 1 && found[0].contains("`apps/Deployment/one` and `apps/Deployment/two`"),
        "{said:?}"
    );
    assert_eq!(files["a.yaml"], both);
    // Nothing of local is lost: there is nothing to ask.
    let (files, said) = merge_files(
        [
            &[("a.yaml", &old)],
            &[("a.yaml", &old)],
            &[("a.yaml", &both)],
        ],
        "",
    );
    assert_eq!((&files["a.yaml"], conflicts(&said).len()), (&both, 0));
}

#[test]
fn equal_duplicates_count_as_one_and_all_get_the_changes() {
    let twice = |text: &str| format!("{text}---\n{text}");
    let [old, own, new] =
        [("{x: a, y: a}"), ("{x: b, y: a}"), ("{x: a, y: b}")].map(|data| map("a", data));
    let all = map("a", "{x: b, y: b}");
    let (files, said) = merge_files(
        [
            &[("a.yaml", &twice(&old))],
            &[("a.yaml", &own)],
            &[("a.yaml", &new)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], all, "{said:?}");
    assert_eq!(reasons(&said, "DuplicateResource").len(), 1, "{said:?}");
    let (files, said) = merge_files(
        [
            &[("a.yaml", &old)],
            &[("a.yaml", &twice(&own))],
            &[("a.yaml", &new)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], twice(&all), "{said:?}");
}

#[test]
fn different_duplicates_pair_by_likeness() {
    let one = |x: &str| map("a", &format!("{{x: {x}, y: a, z: a}}"));
    let two = |x: &str| map("a", &format!("{{x: {x}, v: b, w: b}}"));
    let text = |first: String, second: String| format!("{first}---\n{second}");
    let (files, said) = merge_files(
        [
            &[("a.yaml", &text(one("a"), two("b")))],
            &[("a.yaml", &text(two("c"), one("a")))],
            &[("a.yaml", &text(one("d"), two("b")))],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], text(two("c"), one("d")), "{said:?}");
    assert_eq!(reasons(&said, "DuplicateResource").len(), 3, "{said:?}");
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
}

#[test]
fn resources_with_a_generate_name_are_not_duplicates() {
    let job = |limit: u8, image: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: hook-\nspec:\n  backoffLimit: {limit}\n  \
             parallelism: 1\n  template:\n    spec:\n      containers:\n      - name: {image}\n        image: {image}\n"
        )
    };
    let text = |first: String, second: String| format!("{first}---\n{second}");
    let (files, said) = merge_files(
        [
            &[("a.yaml", &text(job(1, "a"), job(1, "b")))],
            &[("a.yaml", &text(job(5, "a"), job(1, "b")))],
            &[(
                "a.yaml",
                &text(
                    job(1, "b"),
                    job(1, "a").replace("parallelism: 1", "parallelism: 2"),
                ),
            )],
        ],
        "",
    );
    let first = job(5, "a").replace("parallelism: 1", "parallelism: 2");
    assert_eq!(files["a.yaml"], text(first, job(1, "b")), "{said:?}");
    assert_eq!(reasons(&said, "DuplicateResource").len(), 0, "{said:?}");
}

#[test]
fn a_list_that_becomes_documents_keeps_its_resources() {
    let element = |name: &str, x: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n  data:\n    x: {x} # c\n"
        )
    };
    let list = |items: &[String]| format!("apiVersion: v1\nkind: List\nitems:\n{}", items.concat());
    let document = |name: &str, x: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  x: {x} # c\n")
    };
    let nested = |x: &str| {
        let inner = list(&[element("b", x)]);
        let lines = inner.lines().map(|line| format!("  {line}\n"));
        format!("- {}", lines.collect::<String>().trim_start())
    };
    let old = list(&[element("a", "1"), nested("1")]);
    let own = list(&[element("a", "mine"), nested("1")]);
    let new = format!("{}---\n{}", document("a", "1"), document("b", "2"));
    let merged = format!("{}---\n{}", document("a", "mine"), document("b", "2"));
    let (files, said) = merge_files(
        [
            &[("a.yaml", &old)],
            &[("a.yaml", &own)],
            &[("a.yaml", &new)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], merged, "{said:?}");
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
    // Without a change on one side, each version stays as it is written.
    for (local, upstream, expected) in [(&old, &new, &new), (&new, &old, &new), (&own, &old, &own)]
    {
        let (files, said) = merge_files(
            [
                &[("a.yaml", &old)],
                &[("a.yaml", local)],
                &[("a.yaml", upstream)],
            ],
            "",
        );
        assert_eq!(&files["a.yaml"], expected, "{said:?}");
    }
}

#[test]
fn documents_that_become_a_list_keep_their_resources() {
    let map = |name: &str, x: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  x: {x} # c\n")
    };
    let documents = |a: &str, b: &str| format!("{}---\n{}", map("a", a), map("b", b));
    let element = |text: String| {
        let text = text.replace('\n', "\n  ");
        format!("- {}\n", text.trim_end())
    };
    let list = |items: &[String]| format!("apiVersion: v1\nkind: List\nitems:\n{}", items.concat());
    let flat = |a: &str, b: &str| list(&[element(map("a", a)), element(map("b", b))]);
    let nested =
        |a: &str, b: &str| list(&[element(list(&[element(map("a", a))])), element(map("b", b))]);
    let (old, own, both) = (
        documents("1", "1"),
        documents("mine", "1"),
        documents("mine", "2"),
    );
    for new in [flat("1", "2"), nested("1", "2")] {
        // Upstream collects the documents of one file, or of two files, in a List; its file may have another name.
        for (path, local, merged) in [("a.yaml", &own, &both), ("all.yaml", &own, &both)] {
            let versions: [&[(&str, &str)]; 3] =
                [&[("a.yaml", &old)], &[("a.yaml", local)], &[(path, &new)]];
            let (files, said) = merge_files(versions, "");
            assert_eq!(conflicts(&said).len(), 0, "{said:?}");
            assert_eq!(files[path], *merged, "{said:?}");
            assert_eq!(files.len(), 1, "{files:?}");
        }
        let (a, b) = (map("a", "1"), map("b", "1"));
        let mine = map("a", "mine");
        let versions: [&[(&str, &str)]; 3] = [
            &[("a.yaml", &a), ("b.yaml", &b)],
            &[("a.yaml", &mine), ("b.yaml", &b)],
            &[("all.yaml", &new)],
        ];
        let (files, said) = merge_files(versions, "");
        assert_eq!(conflicts(&said).len(), 0, "{said:?}");
        assert_eq!(
            files.into_iter().collect::<Vec<_>>(),
            [("all.yaml".to_owned(), both.clone())]
        );
    }
    // The other way: local wrote the List.
    let versions: [&[(&str, &str)]; 3] = [
        &[("a.yaml", &old)],
        &[("a.yaml", &flat("mine", "1"))],
        &[("a.yaml", &documents("1", "2"))],
    ];
    let (files, said) = merge_files(versions, "");
    assert_eq!(
        (files["a.yaml"].as_str(), conflicts(&said).len()),
        (both.as_str(), 0),
        "{said:?}"
    );
}

/// A package in which each resource has leaves of its own, and some in common with all others.
struct Renaming {
    name: String,
    file: String,
    data: Vec<(String, String)>,
}

impl Renaming {
    fn new(number: usize, random: &mut Random) -> Self {
        let own = (0..8).map(|leaf| (format!("k{leaf}"), format!("v{number}-{leaf}")));
        let common = (0..3).map(|leaf| (format!("c{leaf}"), "same".to_owned()));
        Self {
            name: format!("r{number}"),
            file: format!("f{}.yaml", random.below(3)),
            data: own.chain(common).collect(),
        }
    }

    /// Renames and moves it now and then, and changes one leaf.
    fn changed(&self, side: &str, leaf: usize, random: &mut Random) -> Self {
        let mut data = self.data.clone();
        data[leaf].1 = format!("{side} of {}", self.name);
        let is_renamed = random.below(3) == 0;
        let is_moved = random.below(3) == 0;
        Self {
            name: if is_renamed {
                format!("{}-{side}", self.name)
            } else {
                self.name.clone()
            },
            file: if is_moved {
                format!("{side}{}.yaml", random.below(2))
            } else {
                self.file.clone()
            },
            data,
        }
    }
}

fn package_of(resources: &[Renaming]) -> Files {
    let mut files = Files::new();
    for resource in resources {
        let data = resource
            .data
            .iter()
            .map(|(key, value)| format!("  {key}: {value}\n"));
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n{}",
            resource.name,
            data.collect::<String>()
        );
        let file = files.entry(resource.file.clone()).or_default();
        if !file.is_empty() {
            file.push_str("---\n");
        }
        file.push_str(&text);
    }
    files
}

/// Whatever each side renamed and moved: each resource is in the result once, with the changes of both sides.
#[test]
fn renamed_and_moved_resources_merge_as_one() {
    let mut both = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed * 7_919 + 1);
        let old: Vec<Renaming> = (0..6)
            .map(|number| Renaming::new(number, &mut random))
            .collect();
        let own: Vec<Renaming> = old
            .iter()
            .map(|of| of.changed("l", 0, &mut random))
            .collect();
        let new: Vec<Renaming> = old
            .iter()
            .map(|of| of.changed("u", 1, &mut random))
            .collect();
        let packages = [&old, &own, &new].map(|of| package_of(of));
        let packages = packages.each_ref().map(|files| {
            let files = files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str()));
            files.collect::<Vec<_>>()
        });
        let (files, said) = merge_files([&packages[0], &packages[1], &packages[2]], "");
        let texts: Vec<&str> = files
            .values()
            .flat_map(|text| text.split("---\n"))
            .collect();
        assert_eq!(texts.len(), old.len(), "seed {seed}: {files:#?} {said:#?}");
        let mut expected = 0;
        for (number, ((old, own), new)) in old.iter().zip(&own).zip(&new).enumerate() {
            let leaf = format!("v{number}-2");
            let found: Vec<_> = texts.iter().filter(|text| text.contains(&leaf)).collect();
            assert_eq!(found.len(), 1, "seed {seed}");
            for change in [format!("l of r{number}\n"), format!("u of r{number}\n")] {
                assert!(
                    found[0].contains(&change),
                    "seed {seed}: {} {said:#?}",
                    found[0]
                );
            }
            let is_both = own.name != old.name && new.name != old.name;
            expected += usize::from(is_both);
            let is_moved = [own, new].iter().all(|of| of.file != old.file);
            expected += usize::from(is_moved && own.file != new.file);
            let name = if new.name == old.name {
                &own.name
            } else {
                &new.name
            };
            assert!(found[0].contains(&format!("name: {name}\n")), "seed {seed}");
        }
        both += expected;
        assert_eq!(conflicts(&said).len(), expected, "seed {seed}: {said:#?}");
    }
    assert!(both > 20, "{both}");
}
