//! Objects are found by namespace and name: Repositories, catalogs, downstream repositories, sets.

use super::Fleet;

/// The PackageVariant `a` of a namespace, with a package of its own.
fn put(fleet: &Fleet, namespace: &str) {
    let text = super::variant("a", "v1", &format!("east/{namespace}"), "");
    let named = format!("  name: a\n  namespace: {namespace}\n");
    let path = format!("variants/{namespace}.yaml");
    fleet.folder.put(&path, text.replace("  name: a\n", &named));
}

fn repository(namespace: &str, name: &str, git: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{git: {{{git}}}}}\n"
    )
}

fn kptfile(fleet: &Fleet, namespace: &str) -> String {
    fleet.folder.get(&format!("fleet/east/{namespace}/Kptfile"))
}

#[test]
fn a_repository_counts_in_its_namespace_only() {
    let fleet = Fleet::new();
    let one = repository("one", "catalog", "repo: 'https://example.com/one.git'");
    let two = repository(
        "two",
        "catalog",
        "repo: 'https://example.com/two.git', directory: /deep",
    );
    fleet.folder.put("resources.yaml", [one, two].join("---\n"));
    let deep = crate::git::map("deep", "0");
    fleet.folder.put("catalog/deep/nginx/cm.yaml", deep);
    fleet
        .folder
        .put("catalog/deep/nginx/Kptfile", crate::git::KPTFILE);
    fleet.folder.commit("deep");
    fleet.folder.git(&["tag", "deep/nginx/v1"]);
    for namespace in ["one", "two", "three"] {
        put(&fleet, namespace);
    }
    fleet.expect(&["--resources", "resources.yaml"], 0, &["3 created"]);
    assert!(kptfile(&fleet, "one").contains("example.com/one.git"));
    let two = kptfile(&fleet, "two");
    assert!(two.contains("example.com/two.git"), "{two}");
    assert!(two.contains("directory: /deep/nginx"), "{two}");
    let three = kptfile(&fleet, "three");
    assert!(!three.contains("example.com"), "{three}");
}

#[test]
fn a_catalog_of_a_namespace_takes_precedence_over_the_one_for_all() {
    let fleet = Fleet::new();
    for (catalog, data) in [("plain", "all"), ("own", "own")] {
        let place = format!("{catalog}/nginx/v1");
        fleet
            .folder
            .put(&format!("{place}/Kptfile"), crate::git::KPTFILE);
        let map = crate::git::map(data, "0");
        fleet.folder.put(&format!("{place}/cm.yaml"), map);
    }
    for namespace in ["one", "two"] {
        put(&fleet, namespace);
    }
    let run = |catalogs: &[&str]| {
        let mut arguments = vec!["--package", "fleet", "--variants", "variants"];
        arguments.extend(catalogs.iter().flat_map(|catalog| ["--catalog", *catalog]));
        fleet.folder.run(super::render_fleet(), &arguments)
    };
    let outcome = run(&["two/catalog=own", "catalog=plain"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for (namespace, data) in [("one", "all"), ("two", "own")] {
        let written = fleet.folder.get(&format!("fleet/east/{namespace}/cm.yaml"));
        assert!(written.contains(&format!("a: \"{data}\"")), "{written}");
    }
    std::fs::remove_dir_all(fleet.folder.path("fleet")).expect("a folder");
    let outcome = run(&["two/catalog=own"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let missing = "expected a catalog `catalog` (--catalog catalog=PATH), found `two/catalog`";
    assert!(outcome.stderr.contains(missing), "{}", outcome.stderr);
    for wrong in ["/catalog=own", "two/=own", "a/b/c=own"] {
        assert_eq!(run(&[wrong]).code, Some(2), "{wrong}");
    }
    let twice = run(&["two/catalog=own", "two/catalog=plain"]);
    let message = "expected one catalog `two/catalog`, found two";
    assert!(twice.stderr.contains(message), "{}", twice.stderr);
}

#[test]
fn a_draft_is_created_on_the_branch_that_the_repository_of_its_namespace_names() {
    let fleet = Fleet::new();
    let east = fleet.folder.path("fleet/east");
    std::fs::create_dir_all(&east).expect("a folder");
    let git = |arguments: &[&str]| fleet.folder.git_in("fleet/east", arguments);
    git(&["init", "-q", "-b", "main"]);
    // A fresh machine does not know who commits.
    git(&["config", "user.name", "Fleet"]);
    git(&["config", "user.email", "fleet@example.com"]);
    fleet.folder.put("fleet/east/README", "main");
    git(&["add", "."]);
    git(&["commit", "-qm", "main"]);
    git(&["checkout", "-qb", "other"]);
    fleet.folder.put("fleet/east/README", "other");
    git(&["commit", "-qam", "other"]);
    git(&["checkout", "-q", "main"]);
    let one = repository("one", "east", "branch: main");
    let two = repository("two", "east", "branch: other");
    fleet.folder.put("resources.yaml", [one, two].join("---\n"));
    for namespace in ["one", "two"] {
        put(&fleet, namespace);
    }
    let arguments = ["--drafts", "--resources", "resources.yaml"];
    fleet.expect(&arguments, 0, &["2 created"]);
    for (namespace, branch) in [("one", "main"), ("two", "other")] {
        let readme = format!("drafts/{namespace}/packagevariant-1:README");
        assert_eq!(git(&["show", &readme]), branch);
    }
}
