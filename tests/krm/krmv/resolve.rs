//! `krmv resolve`.

use std::path::Path;

use super::{SERVICE, World, deployment, hints};

#[test]
fn a_conflict_in_a_list_is_decided_by_its_resource() {
    let world = World::new();
    let list = |replicas: u8| {
        let element = deployment(replicas, "app:1", "64Mi")
            .trim_end()
            .replace('\n', "\n  ");
        format!("apiVersion: v1\nkind: List\nitems:\n- {element}\n")
    };
    world.release("v4.0.0", &list(1), SERVICE);
    world
        .krmv(&["get", "../catalog//web@v4.0.0"])
        .assert_code(0);
    world.commit("get");
    world.write("web/app.yaml", &list(5));
    world.commit("more replicas");
    world.release("v4.1.0", &list(3), SERVICE);
    let outcome = world.krmv(&["upgrade", "web"]);
    outcome.assert_code(1);
    for expected in [
        "Deployment/app  spec.replicas",
        "last changed on your side by ",
        "last changed upstream in v4.1.0",
    ] {
        assert!(
            outcome.stdout.contains(expected),
            "{expected}: {}",
            outcome.stdout
        );
    }
    world
        .krmv(&["resolve", "web", "--take", "upstream", "spec.replicas"])
        .assert_code(0);
    assert_eq!(world.read("web/app.yaml"), list(3));
}

#[test]
fn conflicts_are_decided_one_today_and_one_tomorrow() {
    let world = World::open();
    let outcome = world.krmv(&["resolve", "web", "--take", "local", "spec.replicas"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("1 conflict undecided"),
        "{}",
        outcome.stdout
    );
    let kptfile = world.read("web/Kptfile");
    assert!(
        kptfile.contains("app.yaml:Deployment/app:spec.replicas"),
        "{kptfile}"
    );
    world.commit("tomorrow");
    let outcome = world.krmv(&["resolve", "web", "--take", "upstream", "*memory"]);
    outcome.assert_code(0);
    let text = world.read("web/app.yaml");
    assert!(
        text.contains("replicas: 5 # by load") && text.contains("memory: 128Mi"),
        "{text}"
    );
    let kptfile = world.read("web/Kptfile");
    assert!(
        !kptfile.contains("v1.0.0") && !kptfile.contains("annotations"),
        "{kptfile}"
    );
    assert!(kptfile.contains(&world.commit_of("v2.0.0")), "{kptfile}");
    let hint = hints(&outcome.stdout)[0];
    assert_eq!(world.shell(hint).code, Some(0), "{hint}");
    let after = world.krmv(&["resolve", "web"]);
    assert_eq!(after.code, Some(0));
    assert!(
        after.stdout.contains("nothing to decide"),
        "{}",
        after.stdout
    );
}

#[test]
fn a_decision_does_not_bring_back_what_a_person_changed_since() {
    let world = World::open();
    // Upstream brought both: the image is set back, the Service is gone.
    let text = world.read("web/app.yaml").replace("app:3", "app:1");
    world.write("web/app.yaml", &text);
    std::fs::remove_file(world.path("web/service.yaml")).expect("a file");
    world.write("web/notes.txt", "mine\n");
    let outcome = world.krmv(&[
        "resolve",
        "web",
        "--take",
        "upstream",
        "spec.replicas",
        "*memory",
    ]);
    assert!(
        outcome.code == Some(0) || outcome.code == Some(1),
        "{}",
        outcome.stderr
    );
    let decided = text
        .replace("replicas: 5", "replicas: 2")
        .replace("256Mi", "128Mi");
    assert_eq!(world.read("web/app.yaml"), decided);
    assert!(!world.path("web/service.yaml").exists());
    assert_eq!(world.read("web/notes.txt"), "mine\n");
}

#[test]
fn a_place_with_upstreams_or_the_original_value_is_decided() {
    for value in ["replicas: 2", "replicas: 1"] {
        let world = World::open();
        let text = world.read("web/app.yaml").replace("replicas: 5", value);
        world.write("web/app.yaml", &text);
        let outcome = world.krmv(&["resolve", "web"]);
        assert!(
            outcome.stdout.contains("1 conflict undecided"),
            "{}",
            outcome.stdout
        );
        let outcome = world.krmv(&["resolve", "web", "--take", "local"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(world.read("web/app.yaml"), text);
    }
}

#[test]
fn another_value_by_hand_is_decided_when_the_file_is_taken() {
    let world = World::open();
    let text = world
        .read("web/app.yaml")
        .replace("replicas: 5", "replicas: 7");
    world.write("web/app.yaml", &text);
    let listed = world.krmv(&["resolve", "web"]);
    assert!(listed.stdout.contains("local     7"), "{}", listed.stdout);
    let outcome = world.krmv(&["resolve", "web", "--take", "file", "app.yaml"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(world.read("web/app.yaml"), text);
}

#[test]
fn a_remembered_decision_decides_later_upgrades() {
    let world = World::open();
    let arguments = [
        "resolve",
        "web",
        "--take",
        "local",
        "--remember",
        "spec.replicas",
    ];
    assert_eq!(world.krmv(&arguments).code, Some(1));
    let rules = world.read("web/.krmv.yaml");
    assert!(
        rules.contains("kind: UpgradePolicy") && rules.contains("local-config"),
        "{rules}"
    );
    let more = ["resolve", "web", "--take", "upstream", "--remember"];
    assert_eq!(world.krmv(&more).code, Some(0));
    assert_eq!(world.read("web/.krmv.yaml").matches("take:").count(), 2);
    world.commit("settled");
    let outcome = world.krmv(&["upgrade", "web", "v3.0.0-rc.1"]);
    outcome.assert_code(0);
    assert!(
        outcome.stdout.contains("1 decided by a rule"),
        "{}",
        outcome.stdout
    );
    let text = world.read("web/app.yaml");
    assert!(
        text.contains("replicas: 5 # by load") && text.contains("memory: 9Mi"),
        "{text}"
    );
}

#[test]
fn kpt_can_complete_an_open_upgrade() {
    let Some(kpt) = super::on_path("kpt") else {
        return;
    };
    let world = World::open();
    world.krmv(&["resolve", "web", "--take", "local", "spec.replicas"]);
    world.commit("open");
    let mut command = world.command(&kpt);
    command.args(["pkg", "update", "web@v2.0.0"]);
    let outcome = super::outcome(command);
    outcome.assert_code(0);
    world.commit("kpt");
    let outcome = world.krmv(&["resolve", "web"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let outcome = world.krmv(&["upgrade", "web", "v3.0.0-rc.1", "--take", "upstream"]);
    outcome.assert_code(0);
    assert!(
        !world.read("web/Kptfile").contains("fn.kpt.dev"),
        "{}",
        world.read("web/Kptfile")
    );
    world.commit("krmv");
    let mut command = world.command(&kpt);
    command.args(["pkg", "update", "web@v2.0.0"]);
    assert_eq!(super::outcome(command).code, Some(0));
    let mut command = world.command(&kpt);
    command.args(["fn", "render", "web"]);
    assert_eq!(super::outcome(command).code, Some(0));
}

#[test]
fn a_pattern_that_fits_nothing_is_an_error() {
    let world = World::open();
    let outcome = world.krmv(&["resolve", "web", "--take", "local", "spec.nothing"]);
    assert_eq!(outcome.code, Some(2));
    assert_eq!(hints(&outcome.stderr), ["krmv resolve web --list"]);
}

#[test]
fn a_moved_branch_does_not_change_decisions() {
    let world = World::edited();
    let outcome = world.krmv(&["upgrade", "web", "main"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let merged = world.folder.git(&["rev-parse", "main"]);
    world.release(
        "v9.0.0",
        &super::deployment(8, "app:8", "8Mi"),
        super::SERVICE,
    );
    let moved = world.krmv(&["upgrade", "web", "main"]);
    assert_eq!(moved.code, Some(1));
    assert!(moved.stderr.contains("has moved"), "{}", moved.stderr);
    let outcome = world.krmv(&["resolve", "web", "--take", "upstream"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        world.read("web/app.yaml").contains("replicas: 9"),
        "{}",
        world.read("web/app.yaml")
    );
    assert!(world.read("web/Kptfile").contains(&merged));
}

#[test]
fn additions_to_a_map_that_local_removed_are_undecided() {
    let begin = || {
        let world = World::with_package();
        let more = deployment(1, "app:1", "64Mi") + "            cpu: 1\n";
        world.release("v4.0.0", &more, SERVICE);
        let text = world.read("web/app.yaml");
        let at = text.find("        resources:").expect("resources");
        world.write("web/app.yaml", &text[..at]);
        world.commit("no resources");
        let outcome = world.krmv(&["upgrade", "web", "v4.0.0"]);
        outcome.assert_code(1);
        assert!(!world.read("web/app.yaml").contains("cpu"));
        (world, outcome)
    };
    let (world, upgraded) = begin();
    world.krmv(&["resolve", "web"]).assert_code(1);
    world.shell(hints(&upgraded.stdout)[0]).assert_code(0);
    assert!(!world.read("web/app.yaml").contains("cpu"));
    let (world, _) = begin();
    world
        .krmv(&["resolve", "web", "--take", "upstream"])
        .assert_code(0);
    let text = world.read("web/app.yaml");
    assert!(
        text.contains("cpu: 1") && !text.contains("memory"),
        "{text}"
    );
}

#[test]
fn the_history_of_a_conflict_covers_the_whole_value() {
    let world = World::with_package();
    let deployment = super::deployment(1, "app:1", "64Mi");
    let side =
        "      - name: side\n        image: side:1\n      - name: gone\n        image: gone:1\n";
    let with_side = format!("{deployment}{side}");
    world.release("v4.0.0", &with_side, super::SERVICE);
    world.krmv(&["upgrade", "web", "v4.0.0"]).assert_code(0);
    world.commit("upgrade");
    let own = world.read("web/app.yaml");
    world.write("web/app.yaml", &own.replace("side:1", "side:mine"));
    let mut commit = world.command(Path::new("git"));
    commit.args(["commit", "--quiet", "-am", "the edit"]);
    commit.env("GIT_COMMITTER_DATE", "2026-02-01T00:00:00Z");
    assert!(commit.status().expect("git runs").success());
    world.release("v5.0.0", &deployment, super::SERVICE);
    let outcome = world.krmv(&["upgrade", "web", "v5.0.0"]);
    outcome.assert_code(1);
    let (_, since) = outcome
        .stdout
        .split_once("last changed on your side by ")
        .expect("a commit");
    let (since, _) = since.split_once('\n').expect("a line");
    assert!(since.ends_with(" \"the edit\")"), "{}", outcome.stdout);
}
