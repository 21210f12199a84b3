//! `render-variant` with an upstream from Git.

use super::{Folder, catalog, files_in, map};
use crate::running::Outcome;
use crate::running::function;

pub(crate) fn render_variant() -> &'static str {
    function("render-variant")
}

fn variant(revision: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: web\n  namespace: default\nspec:\n  upstream: {{repo: catalog, package: nginx, revision: {revision}}}\n  downstream: {{repo: fleet, package: web}}\n"
    )
}

fn render(folder: &Folder, wanted: &str, revision: &str) -> Outcome {
    folder.put("variant.yaml", variant(wanted));
    let upstream = format!("catalog//nginx?ref={revision}");
    folder.run(
        render_variant(),
        &[
            "--package",
            "local",
            "--config",
            "variant.yaml",
            "--upstream",
            &upstream,
        ],
    )
}

#[test]
fn a_variant_is_cloned_updated_and_then_unchanged() {
    let folder = catalog(&[]);
    let first = folder.git(&["rev-parse", "v1^{commit}"]);
    let outcome = render(&folder, "v1", "v1");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let ready = format!("the package is rendered from `v1`, commit {first}");
    assert!(outcome.stderr.contains(&ready), "{}", outcome.stderr);
    let kptfile = folder.get("local/Kptfile");
    for expected in [
        "name: web # ours\n",
        "directory: /nginx\n",
        "ref: v1\n",
        &format!("commit: {first}\n"),
    ] {
        assert!(kptfile.contains(expected), "{expected}: {kptfile}");
    }
    assert_eq!(folder.get("local/notes.txt"), "one\n");
    // An edit of our own.
    let own = folder.get("local/cm.yaml").replace("b: \"0\"", "b: \"7\"");
    folder.put("local/cm.yaml", &own);
    let before = files_in(&folder.path("local"));
    let outcome = render(&folder, "v1", "v1");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(files_in(&folder.path("local")), before);
    let outcome = render(&folder, "v3", "v3");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(
        folder.get("local/cm.yaml"),
        own.replace("a: \"1\"", "a: \"3\"")
    );
    let third = folder.git(&["rev-parse", "main"]);
    let kptfile = folder.get("local/Kptfile");
    for expected in [
        "    ref: v3\n",
        "    ref: nginx/v3\n",
        &format!("commit: {third}\n"),
    ] {
        assert!(kptfile.contains(expected), "{expected}: {kptfile}");
    }
}

#[test]
fn another_revision_than_the_variant_asks_for_is_refused() {
    let folder = catalog(&[]);
    for (wanted, given) in [("v2", "v1"), ("v9", "v1"), ("v1", "main")] {
        let outcome = render(&folder, wanted, given);
        assert_eq!(
            outcome.code,
            Some(1),
            "{wanted} {given}: {}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("(WrongUpstream)"),
            "{}",
            outcome.stderr
        );
        assert!(!folder.path("local/Kptfile").exists());
    }
    // The same commit by another name.
    let outcome = render(&folder, "v3", "main");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn a_revision_has_one_meaning_however_it_is_spelled() {
    let folder = catalog(&[]);
    for (wanted, given) in [
        ("3", "v3"),
        ("'3'", "nginx/v3"),
        ("v3", "v3"),
        ("latest", "v3"),
        ("-1", "main"),
        ("-1, workspaceName: main", "main"),
        ("''", "main"),
    ] {
        let outcome = render(&folder, wanted, given);
        assert_eq!(outcome.code, Some(0), "{wanted}: {}", outcome.stderr);
    }
    for (wanted, given) in [("latest", "v2"), ("-1", "v2"), ("''", "v1")] {
        let outcome = render(&folder, wanted, given);
        assert_eq!(outcome.code, Some(1), "{wanted}: {}", outcome.stderr);
        let refused = outcome.stderr.contains("(WrongUpstream)");
        assert!(refused, "{}", outcome.stderr);
    }
}

#[test]
fn the_address_comes_from_the_repository_in_the_namespace_of_the_variant() {
    let folder = catalog(&[]);
    let repository = |namespace: &str| {
        format!(
            "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata: {{name: catalog, namespace: {namespace}}}\n\
             spec: {{git: {{repo: 'https://example.com/{namespace}.git'}}}}\n"
        )
    };
    let repositories = ["a", "default", "z"].map(repository);
    folder.put("resources.yaml", repositories.join("---\n"));
    folder.put("variant.yaml", variant("v1"));
    let arguments = "--package local --config variant.yaml --upstream catalog//nginx?ref=v1 --resources resources.yaml";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let outcome = folder.run(render_variant(), &arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let kptfile = folder.get("local/Kptfile");
    assert!(kptfile.contains("example.com/default.git"), "{kptfile}");
}

#[test]
fn a_package_without_a_lock_is_not_cloned_over() {
    let folder = catalog(&[]);
    folder.put("local/Kptfile", super::KPTFILE);
    folder.put("local/cm.yaml", map("1", "7"));
    let outcome = render(&folder, "v2", "v2");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("(PackageNotEmpty)"),
        "{}",
        outcome.stderr
    );
    assert_eq!(folder.get("local/cm.yaml"), map("1", "7"));
}
