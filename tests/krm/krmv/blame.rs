//! `krmv blame`.

use super::{World, hints};

/// Who set a field: a release, the summary of a commit, or nothing for what is not committed.
fn setter(world: &World, file: &str, field: &str) -> String {
    let json = world.json(&["blame", file, field]);
    let field = &json["fields"][0];
    let text = |name: &str| field[name].as_str().unwrap_or_default().to_owned();
    match text("by").as_str() {
        "upstream" => format!("upstream {}", text("revision")),
        _ => format!("local {}", text("summary")),
    }
}

const IMAGE: &str = "spec.template.spec.containers[0].image";
const MEMORY: &str = "spec.template.spec.containers[name=app].resources.limits.memory";

#[test]
fn each_field_has_the_release_or_the_commit_that_set_it() {
    let world = World::edited();
    world.krmv(&["upgrade", "web", "v1.1.0"]).assert_code(0);
    world.commit("upgrade one");
    world
        .krmv(&["upgrade", "web", "--take", "local"])
        .assert_code(0);
    world.commit("upgrade two");
    for (file, field, expected) in [
        ("web/app.yaml", "kind", "upstream v1.0.0"),
        ("web/app.yaml", "spec.replicas", "local edits"),
        ("web/app.yaml", MEMORY, "local edits"),
        ("web/app.yaml", IMAGE, "upstream v2.0.0"),
        ("web/service.yaml", "metadata.name", "upstream v1.0.0"),
        ("web/service.yaml", "spec.type", "upstream v2.0.0"),
    ] {
        assert_eq!(setter(&world, file, field), expected, "{file} {field}");
    }
    let text = world
        .krmv(&["blame", "web/app.yaml", "spec.replicas"])
        .stdout;
    assert!(
        text.starts_with("Deployment/app\n  spec.replicas: a on "),
        "{text}"
    );
}

#[test]
fn an_upgrade_over_several_releases_names_the_one_that_brought_a_value() {
    let world = World::with_package();
    world.release(
        "v2.1.0",
        &super::deployment(2, "app:4", "128Mi"),
        super::SERVICE,
    );
    world.krmv(&["upgrade", "web", "v2.1.0"]).assert_code(0);
    world.commit("upgrade");
    assert_eq!(
        setter(&world, "web/app.yaml", "spec.replicas"),
        "upstream v2.0.0"
    );
    assert_eq!(setter(&world, "web/app.yaml", IMAGE), "upstream v2.1.0");
}

#[test]
fn moved_files_and_renamed_resources_do_not_end_the_trail() {
    let world = World::edited();
    world
        .folder
        .git_in("own", &["mv", "web/app.yaml", "web/moved.yaml"]);
    world.commit("move");
    let text = world.read("web/moved.yaml");
    world.write(
        "web/moved.yaml",
        &text.replacen("name: app\n", "name: shop\n", 1),
    );
    world.commit("rename");
    let file = "web/moved.yaml";
    assert_eq!(setter(&world, file, "metadata.name"), "local rename");
    assert_eq!(setter(&world, file, "spec.replicas"), "local edits");
    assert_eq!(setter(&world, file, IMAGE), "upstream v1.0.0");
}

#[test]
fn what_is_not_committed_is_yours() {
    let world = World::edited();
    let text = world.read("web/app.yaml");
    world.write("web/app.yaml", &text.replace("app:1", "own:1"));
    assert_eq!(setter(&world, "web/app.yaml", IMAGE), "local ");
    assert_eq!(
        setter(&world, "web/app.yaml", "spec.replicas"),
        "local edits"
    );
}

#[test]
fn injected_resources_and_rules_are_named_and_values_are_not() {
    let world = World::with_package();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: key\n  annotations:\n    kpt.dev/config-injection: required\n\
                  data:\n  password: aHVzaA==\n";
    world.write("web/secret.yaml", secret);
    world.commit("inject");
    let outcome = world.krmv(&["blame", "web/secret.yaml"]);
    outcome.assert_code(0);
    assert!(outcome.stdout.contains("(injected)"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("aHVz"), "{}", outcome.stdout);
    let rules = "apiVersion: fn.kpt.dev/v1alpha1\nkind: ConflictRules\nconflicts:\n- path: spec.replicas\n  take: local\n";
    world.write("web/.krmv.yaml", rules);
    let json = world.json(&["blame", "web/app.yaml", "spec.replicas"]);
    assert_eq!(json["fields"][0]["rule"], true);
}

#[test]
fn blame_names_what_is_not_there() {
    let world = World::with_package();
    let outcome = world.krmv(&["blame", "web/none.yaml"]);
    outcome.assert_code(2);
    assert_eq!(hints(&outcome.stderr), ["ls web"]);
    let outcome = world.krmv(&["blame", "web/app.yaml", "spec.none"]);
    outcome.assert_code(2);
    assert_eq!(hints(&outcome.stderr), ["krmv blame web/app.yaml"]);
}
