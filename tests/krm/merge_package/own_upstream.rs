//! Sub-packages with their own lock, below a package with and without a Kptfile.

use super::*;

fn locked(revision: &str) -> String {
    format!(
        "{}upstream:\n  type: git\n  git:\n    repo: https://git.example.com/db\n    directory: /db\n    ref: {revision}\n\
         upstreamLock:\n  type: git\n  git:\n    repo: https://git.example.com/db\n    directory: /db\n    ref: {revision}\n    \
         commit: {revision}\n",
        kptfile("db")
    )
}

/// A package with a sub-package at a revision, whose file has that value, and other files.
fn package(root: bool, revision: &str, others: &[(&str, &str)]) -> Files {
    let mut files = Files::from([
        ("db/Kptfile".to_owned(), locked(revision)),
        (
            "db/a.yaml".to_owned(),
            map("a", &format!("{{x: {revision}}}")),
        ),
        ("web.yaml".to_owned(), map("web", "{}")),
    ]);
    if root {
        files.insert("Kptfile".to_owned(), kptfile("app"));
    }
    let others = others.iter();
    files.extend(others.map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    files
}

fn merged(packages: [&Files; 3]) -> (Files, Vec<String>) {
    let packages = packages.map(|files| {
        let files = files.iter();
        let files = files.map(|(path, text)| (path.as_str(), text.as_str()));
        files.collect::<Vec<_>>()
    });
    merge_files([&packages[0], &packages[1], &packages[2]], "")
}

#[test]
fn a_sub_package_that_local_upgraded_stays() {
    let only = map("only", "{}");
    let others = [("db/only.yaml", only.as_str()), ("db/notes.txt", "new\n")];
    for root in [true, false] {
        let (old, own) = (package(root, "v1", &[]), package(root, "v2", &[]));
        let new = package(root, "v1.5", &others);
        let (files, said) = merged([&old, &own, &new]);
        assert_eq!(files, own, "{said:?}");
        let expected = "[info] db/Kptfile: local upgraded the sub-package separately, and upstream changed it: left \
                        unchanged (OwnUpstream)";
        assert_eq!(said, [expected]);
        // Upstream removed it.
        let mut without = new;
        without.retain(|path, _| !path.starts_with("db/"));
        let (files, said) = merged([&old, &own, &without]);
        assert_eq!((files, said.len()), (own.clone(), 1), "{said:?}");
        // Upstream left it as it was.
        let (files, said) = merged([&old, &own, &old]);
        assert_eq!((files, said), (own, Vec::new()));
    }
}

#[test]
fn a_sub_package_at_the_lock_of_the_original_merges_with_its_lock() {
    for root in [true, false] {
        let old = package(root, "v1", &[]);
        let own = package(root, "v1", &[("db/own.yaml", &map("own", "{}"))]);
        let new = package(root, "v2", &[]);
        let (files, said) = merged([&old, &own, &new]);
        let expected = package(root, "v2", &[("db/own.yaml", &map("own", "{}"))]);
        assert_eq!(files, expected, "{said:?}");
        assert_eq!(conflicts(&said).len(), 0, "{said:?}");
    }
}
