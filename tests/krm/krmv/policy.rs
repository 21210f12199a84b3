//! `.krmv.yaml`: releases that do not count, guards, and mistakes.

use super::{World, hints};

#[test]
fn skipped_releases_are_passed_over_and_can_still_be_named() {
    let world = World::with_package();
    world.krmv(&["skip", "web", "v2.0.0"]).assert_code(0);
    let policy = world.read("web/.krmv.yaml");
    for expected in [
        "kind: UpgradePolicy\n",
        "config.kubernetes.io/local-config",
        "releases:\n  skip:\n",
    ] {
        assert!(policy.contains(expected), "{policy}");
    }
    world.krmv(&["skip", "web", "v2.0.0"]).assert_code(0);
    assert_eq!(world.read("web/.krmv.yaml"), policy);
    world.commit("skip");
    let json = world.json(&["status", "web"]);
    let newer = json["packages"][0]["newer"].as_array().expect("a list");
    assert_eq!(newer.len(), 1, "{json}");
    assert_eq!(newer[0]["revision"], "v1.1.0");
    world.krmv(&["upgrade", "web"]).assert_code(0);
    assert!(world.read("web/app.yaml").contains("app:2"));
    world.commit("v1.1.0");
    let outcome = world.krmv(&["upgrade", "web", "v2.0.0"]);
    outcome.assert_code(0);
    assert!(
        outcome.stderr.contains(".krmv.yaml skips v2.0.0"),
        "{}",
        outcome.stderr
    );
    assert!(world.read("web/app.yaml").contains("app:3"));
}

#[test]
fn only_allowed_releases_count() {
    let world = World::with_package();
    let outcome = world.krmv(&["allow", "web", "newest"]);
    outcome.assert_code(2);
    assert!(!hints(&outcome.stderr).is_empty(), "{}", outcome.stderr);
    // The rules of an earlier version stay.
    let rules = "apiVersion: fn.kpt.dev/v1alpha1\nkind: ConflictRules # ours\nconflicts:\n- path: spec.replicas\n  take: local\n";
    world.write("web/.krmv.yaml", rules);
    world.krmv(&["allow", "web", "<2"]).assert_code(0);
    let policy = world.read("web/.krmv.yaml");
    let expected = rules.replace("ConflictRules", "UpgradePolicy") + "releases:\n  allow: <2\n";
    assert_eq!(policy, expected);
    world.commit("allow");
    let json = world.json(&["upgrade", "--all"]);
    assert_eq!(json["packages"][0]["to"], "v1.1.0", "{json}");
}

#[test]
fn a_guard_holds_in_an_upgrade() {
    let world = World::edited();
    let policy = "apiVersion: fn.kpt.dev/v1alpha1\nkind: UpgradePolicy\nguards:\n- path: spec.replicas\n  reason: by load\n";
    world.write("web/.krmv.yaml", policy);
    world.commit("guard");
    let outcome = world.krmv(&["upgrade", "web"]);
    outcome.assert_code(1);
    assert!(
        outcome.stdout.contains("kept your value: by load"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("1 conflict undecided"),
        "{}",
        outcome.stdout
    );
    assert!(world.read("web/app.yaml").contains("replicas: 5"));
}

#[test]
fn a_mistake_names_file_line_and_field() {
    let world = World::with_package();
    let head = "apiVersion: fn.kpt.dev/v1alpha1\nkind: UpgradePolicy\n";
    for (text, expected) in [
        (
            "releases:\n  allow: newest\n",
            "web/.krmv.yaml:4: releases.allow: ",
        ),
        (
            "conflicts:\n- take: mine\n",
            "web/.krmv.yaml:4: conflicts[0].take: ",
        ),
        ("guards: [\n", "web/.krmv.yaml: "),
    ] {
        world.write("web/.krmv.yaml", &format!("{head}{text}"));
        for command in [
            &["upgrade", "web", "--force"][..],
            &["review", "web", "v2.0.0"],
        ] {
            let outcome = world.krmv(command);
            outcome.assert_code(2);
            assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
            assert!(!hints(&outcome.stderr).is_empty(), "{}", outcome.stderr);
        }
    }
}
