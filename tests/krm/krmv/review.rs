//! `krmv review`.

use super::{World, hints};
use expect_test::expect;

fn review(world: &World, arguments: &[&str]) -> String {
    let outcome = world.krmv(&[&["review"], arguments].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    outcome.stdout
}

#[test]
fn an_unchanged_package_has_no_findings() {
    let world = World::with_package();
    let text = review(&world, &["web"]);
    expect![[r#"
        web: v1.0.0 -> your files

        no changes for the cluster
    "#]]
    .assert_eq(&text);
}

#[test]
fn an_upgrade_is_reviewed_with_your_edits() {
    let world = World::edited();
    let text = review(&world, &["web", "v2.0.0"]);
    for expected in [
        "web: v1.0.0 -> v2.0.0\n  2 conflicts undecided; the review uses your value\n",
        "dangerous\n  Service/app  (service.yaml)\n    spec.type: ",
        "[upstream]\n      - \"ClusterIP\"\n      + \"NodePort\"\n",
        "image: ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    // As all output of the program.
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{text}");
    // Your value is in both states.
    assert!(!text.contains("replicas"), "{text}");
    assert_eq!(hints(&text), ["krmv upgrade web v2.0.0"]);
    let unwritten = world.folder.git_in("own", &["status", "--porcelain"]);
    assert_eq!(unwritten, "");
}

#[test]
fn without_a_revision_it_reviews_your_edits() {
    let world = World::edited();
    let json = world.json(&["review", "web"]);
    assert_eq!(json["from"], "v1.0.0");
    assert_eq!(json["counts"]["routine"], 2, "{json}");
    assert_eq!(json["risk"], "routine");
    // All is committed; then there is an upgrade that is not.
    world
        .krmv(&["upgrade", "web", "--take", "local"])
        .assert_code(0);
    let json = world.json(&["review", "web"]);
    assert_eq!(json["from"], "HEAD");
    assert_eq!(json["counts"]["dangerous"], 1, "{json}");
    assert_eq!(json["findings"][0]["tags"]["by"], "upstream");
    let json = world.json(&["review", "web", "--from", "lock"]);
    assert_eq!(json["from"], "v2.0.0");
    assert_eq!(json["counts"]["dangerous"], 0, "{json}");
    let json = world.json(&["review", "web", "--from", "v1.0.0"]);
    assert_eq!(json["counts"]["dangerous"], 1, "{json}");
}

#[test]
fn an_open_upgrade_is_reviewed_from_the_commit_before_it() {
    let world = World::open();
    let json = world.json(&["review", "web"]);
    assert_eq!(json["from"], "HEAD");
    assert_eq!(json["findings"][0]["tags"]["reason"], "ServiceExposed");
    assert_eq!(json["findings"][0]["tags"]["by"], "upstream");
    let outcome = world.krmv(&["review", "web", "v1.1.0"]);
    outcome.assert_code(2);
    assert_eq!(hints(&outcome.stderr), ["krmv resolve web"]);
}

#[test]
fn two_releases_are_compared_without_your_edits() {
    let world = World::edited();
    let text = review(&world, &["web", "--from", "v1.0.0", "v2.0.0"]);
    assert!(text.starts_with("web: v1.0.0 -> v2.0.0\n\n"), "{text}");
    assert!(text.contains("ClusterIP"), "{text}");
    let json = world.json(&["review", "web", "--from", "v1.1.0", "v2.0.0"]);
    assert_eq!(json["conflicts"], 0);
    // Image, replicas and memory.
    assert_eq!(json["counts"]["routine"], 2, "{json}");
}

#[test]
fn markdown_for_a_pull_request_and_an_exit_code_for_a_gate() {
    let world = World::edited();
    let text = review(&world, &["web", "v2.0.0", "--format", "markdown"]);
    assert!(text.starts_with("### Review: 1 dangerous, "), "{text}");
    assert!(
        text.contains("| dangerous | <code>Service/app</code> |"),
        "{text}"
    );
    assert!(text.ends_with("2 conflicts undecided; the review uses your value\n"));
    let gate = ["review", "web", "v2.0.0", "--fail-on", "dangerous"];
    world.krmv(&gate).assert_code(1);
    let gate = ["review", "web", "v2.0.0", "--fail-on", "blocking"];
    world.krmv(&gate).assert_code(0);
    let wrong = ["review", "web", "v2.0.0", "--kubernetes-version", "new"];
    let outcome = world.krmv(&wrong);
    outcome.assert_code(2);
    assert!(
        outcome.stderr.contains("--kubernetes-version: expected"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_review_shows_no_value_of_a_secret() {
    let world = World::with_package();
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: key\nimmutable: true\ndata:\n  a: ";
    world.write("web/secret.yaml", &format!("{secret}aHVzaA==\n"));
    world.commit("a secret");
    world.write("web/secret.yaml", &format!("{secret}bm9pc2U=\n"));
    for format in ["text", "markdown", "json"] {
        let text = review(&world, &["web", "--format", format]);
        assert!(text.contains("blocking"), "{text}");
        assert!(
            !text.contains("aHVzaA") && !text.contains("bm9pc2U"),
            "{text}"
        );
    }
}

#[test]
fn a_review_names_missing_references() {
    let world = World::with_package();
    let outcome = world.krmv(&["review", "web", "v9"]);
    outcome.assert_code(2);
    assert!(
        outcome.stderr.contains("no revision `v9`"),
        "{}",
        outcome.stderr
    );
    let outcome = world.krmv(&["review", "web", "--from", "HEAD~9"]);
    outcome.assert_code(2);
    assert!(
        outcome.stderr.contains("no commit `HEAD~9`"),
        "{}",
        outcome.stderr
    );
    assert_eq!(hints(&outcome.stderr), ["git log"]);
}

#[test]
fn several_packages_are_one_review_with_a_summary_first() {
    let world = World::with_package();
    for name in ["apps/a", "apps/b", "apps/c"] {
        let get = ["get", "../catalog//web@v1.0.0", name];
        world.krmv(&get).assert_code(0);
    }
    world.write("apps/broken/Kptfile", "apiVersion: [\n");
    world.commit("apps");
    world.krmv(&["upgrade", "apps/a"]).assert_code(0);
    world.krmv(&["upgrade", "apps/b", "v1.1.0"]).assert_code(0);
    // The changes since the last commit, of all packages; the broken one is named.
    let outcome = world.krmv(&["review", "apps"]);
    outcome.assert_code(2);
    let (summary, rest) = outcome.stdout.split_once("\n\n").expect("a summary");
    let lines: Vec<&str> = summary.lines().collect();
    assert!(
        lines[0].starts_with("4 packages: 1 dangerous, "),
        "{summary}"
    );
    assert!(lines[1].starts_with("  apps/a: 1 dangerous, "), "{summary}");
    assert!(lines[2].starts_with("  apps/b: "), "{summary}");
    assert_eq!(lines[3], "  apps/c: no changes for the cluster");
    assert!(summary.contains("  apps/broken: "), "{summary}");
    assert!(rest.contains("apps/a: HEAD -> your files\n"), "{rest}");
    assert!(!rest.contains("apps/c: "), "{rest}");
    // Two packages by name, at a revision.
    let text = review(&world, &["web", "apps/c", "v1.1.0"]);
    assert!(
        text.starts_with("2 packages: ") && text.contains("\nweb: v1.0.0 -> v1.1.0\n"),
        "{text}"
    );
    let json = world.json(&["review", "web", "apps/c", "v1.1.0"]);
    assert_eq!(json["packages"].as_array().map(Vec::len), Some(2), "{json}");
    let markdown = review(&world, &["web", "apps/c", "v1.1.0", "--format", "markdown"]);
    assert!(
        markdown.contains("\n## <code>apps/c</code>\n"),
        "{markdown}"
    );
}
