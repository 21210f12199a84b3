//! `krmv overlay`.

use super::{World, hints, on_path};

#[test]
fn the_edits_of_a_package_are_an_overlay() {
    let world = World::edited();
    let shown = world.krmv(&["overlay", "web"]);
    shown.assert_code(0);
    assert!(
        shown
            .stdout
            .contains("replicas:\n- name: app\n  count: 5 # by load\n"),
        "{}",
        shown.stdout
    );
    assert_eq!(hints(&shown.stdout), ["krmv overlay web --into OVERLAY"]);
    world
        .krmv(&["overlay", "web", "--into", "out"])
        .assert_code(0);
    let patch = world.read("out/patches/deployment-app.yaml");
    assert!(
        patch.contains("memory: 256Mi\n") && !patch.contains("replicas"),
        "{patch}"
    );
    // What is there is not overwritten.
    world
        .krmv(&["overlay", "web", "--into", "out"])
        .assert_code(2);
    if on_path("kustomize").or(on_path("kubectl")).is_some() {
        world.krmv(&["overlay", "web", "--verify"]).assert_code(0);
    }
}

#[test]
fn an_overlay_is_checked_after_an_upgrade_of_its_base() {
    let world = World::edited();
    world
        .krmv(&["overlay", "web", "--into", "out"])
        .assert_code(0);
    let outcome = world.krmv(&["overlay", "--check", "out"]);
    outcome.assert_code(0);
    assert_eq!(outcome.stdout, "every patch has an effect\n");
    let base = world.read("out/base/app.yaml");
    world.write("out/base/app.yaml", &base.replace("64Mi", "256Mi"));
    let outcome = world.krmv(&["overlay", "--check", "out"]);
    outcome.assert_code(1);
    assert!(
        outcome
            .stdout
            .starts_with("patches/deployment-app.yaml\n  needless: "),
        "{}",
        outcome.stdout
    );
    world.write("out/base/app.yaml", &base.replace("name: app", "name: web"));
    let json = world.json(&["overlay", "--check", "out"]);
    let states: Vec<&str> = json["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["state"].as_str())
        .collect();
    assert_eq!(states, ["dead", "dead"], "{json}");
}
