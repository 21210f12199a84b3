//! The state of an open upgrade, whatever happens to the package in between: hands, other programs, other people.

use std::path::Path;

use super::{SERVICE, World, deployment, hints, on_path, outcome};
use crate::running::Outcome;

/// Runs a program next to ours, if it is installed.
fn with(world: &World, program: &str, arguments: &[&str]) -> Option<Outcome> {
    let mut command = world.command(&on_path(program)?);
    command.args(arguments);
    Some(outcome(command))
}

fn git(world: &World, arguments: &[&str]) -> String {
    world.folder.git_in("own", arguments)
}

#[test]
fn two_people_decide_in_two_branches() {
    let world = World::open();
    world.commit("open");
    git(&world, &["checkout", "--quiet", "-b", "other"]);
    world
        .krmv(&["resolve", "web", "--take", "upstream", "*memory"])
        .assert_code(1);
    world.commit("memory");
    git(&world, &["checkout", "--quiet", "main"]);
    world
        .krmv(&["resolve", "web", "--take", "local", "spec.replicas"])
        .assert_code(1);
    world.commit("replicas");
    git(&world, &["merge", "--quiet", "--no-edit", "other"]);
    let outcome = world.krmv(&["resolve", "web"]);
    outcome.assert_code(0);
    let text = world.read("web/app.yaml");
    assert!(
        text.contains("replicas: 5") && text.contains("memory: 128Mi"),
        "{text}"
    );
    let kptfile = world.read("web/Kptfile");
    assert!(
        !kptfile.contains("v1.0.0") && !kptfile.contains("fn.kpt.dev"),
        "{kptfile}"
    );
}

/// The files are of two revisions, so a merge from the lock would take decided and merged values for local edits.
#[test]
fn merge_package_refuses_a_package_with_an_open_upgrade() {
    let world = World::open();
    let before = world.read("web/app.yaml");
    let merge = [
        "merge-package",
        "--package",
        "web",
        "--upstream",
        "../catalog//web?ref=v2.0.0",
    ];
    let refused = world.krmv(&merge);
    refused.assert_code(2);
    assert!(
        refused.stderr.contains("`krmv resolve`"),
        "{}",
        refused.stderr
    );
    assert_eq!(world.read("web/app.yaml"), before);
    world
        .krmv(&["resolve", "web", "--take", "local"])
        .assert_code(0);
    world.krmv(&merge).assert_code(0);
    // With another lock, as kpt writes it, the annotation does not count.
    let open = World::open();
    let [from, to] = ["v1.0.0", "v1.1.0"].map(|tag| open.commit_of(tag));
    let [from, to] = [from, to].map(|commit| format!("commit: {commit}"));
    open.write("web/Kptfile", &open.read("web/Kptfile").replace(&from, &to));
    open.krmv(&merge).assert_code(0);
}

#[test]
fn the_lock_of_the_branch_that_completed_counts() {
    let world = World::open();
    world.commit("open");
    git(&world, &["checkout", "--quiet", "-b", "other"]);
    world
        .krmv(&["resolve", "web", "--take", "upstream"])
        .assert_code(0);
    world.commit("all");
    git(&world, &["checkout", "--quiet", "main"]);
    world.write("web/notes.txt", "ours\n");
    world.commit("notes");
    git(&world, &["merge", "--quiet", "--no-edit", "other"]);
    let outcome = world.krmv(&["resolve", "web"]);
    outcome.assert_code(0);
    assert!(
        outcome.stdout.contains("no upgrade is open"),
        "{}",
        outcome.stdout
    );
    assert!(
        world
            .read("web/Kptfile")
            .contains(&world.commit_of("v2.0.0"))
    );
}

/// A world with the package `shop`, which has a sub-package `shop/db` with an edit that conflicts.
fn with_sub_package() -> World {
    let world = World::new();
    let kptfile =
        |name: &str| format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n");
    world.folder.put("catalog/shop/Kptfile", kptfile("shop"));
    world.folder.put("catalog/shop/db/Kptfile", kptfile("db"));
    for (tag, replicas, image) in [("v4.0.0", 1, "app:1"), ("v5.0.0", 2, "app:2")] {
        world.folder.put("catalog/shop/service.yaml", SERVICE);
        world.folder.put(
            "catalog/shop/db/app.yaml",
            deployment(replicas, image, "64Mi"),
        );
        world.folder.commit(tag);
        world.folder.git(&["tag", tag]);
    }
    world
        .krmv(&["get", "../catalog//shop@v4.0.0"])
        .assert_code(0);
    world.commit("get");
    let text = world.read("shop/db/app.yaml");
    world.write(
        "shop/db/app.yaml",
        &text.replace("replicas: 1", "replicas: 5"),
    );
    world.commit("edit");
    world
}

#[test]
fn a_conflict_in_a_sub_package_is_one_of_the_package() {
    let world = with_sub_package();
    let outcome = world.krmv(&["upgrade", "shop", "v5.0.0"]);
    outcome.assert_code(1);
    assert!(outcome.stdout.contains("db/app.yaml"), "{}", outcome.stdout);
    assert!(world.read("shop/db/app.yaml").contains("app:2"));
    let kptfile = world.read("shop/db/Kptfile");
    world.commit("open");
    let outcome = world.krmv(&["resolve", "shop", "--take", "local", "db/app.yaml"]);
    outcome.assert_code(0);
    assert_eq!(world.read("shop/db/Kptfile"), kptfile);
    assert!(world.read("shop/db/app.yaml").contains("replicas: 5"));
    assert!(
        world
            .read("shop/Kptfile")
            .contains(&world.commit_of("v5.0.0"))
    );
}

/// A world with one file as a package, edited.
fn with_one_file() -> World {
    let world = World::new();
    world
        .krmv(&["get", "../catalog//web/app.yaml@v1.0.0", "one"])
        .assert_code(0);
    let text = world.read("one/app.yaml");
    let text = text
        .replace("replicas: 1", "replicas: 5")
        .replace("64Mi", "256Mi");
    world.write("one/app.yaml", &text);
    world.commit("edits");
    world
}

#[test]
fn one_file_is_upgraded_and_decided_in_steps() {
    let world = with_one_file();
    world.krmv(&["upgrade", "one", "v2.0.0"]).assert_code(1);
    world.commit("open");
    let outcome = world.krmv(&["resolve", "one", "--take", "local", "spec.replicas"]);
    outcome.assert_code(1);
    world.commit("half");
    let next = hints(&outcome.stdout)[0].replace("local", "upstream");
    assert_eq!(world.shell(&next).code, Some(0), "{next}");
    let text = world.read("one/app.yaml");
    assert!(
        text.contains("replicas: 5") && text.contains("128Mi") && text.contains("app:3"),
        "{text}"
    );
    assert!(
        world
            .read("one/Kptfile")
            .contains(&world.commit_of("v2.0.0"))
    );
}

/// How far an upgrade is when kpt takes over.
const STATES: [&[&[&str]]; 3] = [
    // Undecided, half decided, settled.
    &[],
    &[&["resolve", "DIR", "--take", "local", "*replicas"]],
    &[&["resolve", "DIR", "--take", "local"]],
];

/// kpt renders and updates a package in each state of an upgrade, and `krmv` goes on after it.
fn kpt_goes_on(make: fn() -> World, directory: &str, to: &str) {
    for decisions in STATES {
        let world = make();
        world.krmv(&["upgrade", directory, to]).assert_code(1);
        for decision in decisions {
            let words: Vec<&str> = decision
                .iter()
                .map(|word| if *word == "DIR" { directory } else { word })
                .collect();
            world.krmv(&words);
        }
        world.commit("state");
        let before = world.read(&format!("{directory}/Kptfile"));
        let Some(rendered) = with(&world, "kpt", &["fn", "render", directory]) else {
            return;
        };
        rendered.assert_code(0);
        world.commit("render");
        let listed = world.krmv(&["resolve", directory, "--list"]);
        assert!(
            matches!(listed.code, Some(0 | 1)),
            "{decisions:?}: {}",
            listed.stderr
        );
        let is_open = |text: &str| text.contains("fn.kpt.dev/open-upgrade");
        assert_eq!(
            is_open(&world.read(&format!("{directory}/Kptfile"))),
            is_open(&before)
        );
        let request = format!("{directory}@{to}");
        let Some(updated) = with(&world, "kpt", &["pkg", "update", &request]) else {
            return;
        };
        updated.assert_code(0);
        world.commit("update");
        let after = world.krmv(&["resolve", directory, "--list"]);
        assert!(
            after.code == Some(0),
            "{decisions:?}: {}{}",
            after.stdout,
            after.stderr
        );
        let outcome = world.krmv(&["upgrade", directory, to, "--take", "local"]);
        outcome.assert_code(0);
        assert!(Path::new(&world.path(directory)).join("Kptfile").is_file());
    }
}

#[test]
fn kpt_goes_on_from_every_state_of_a_package() {
    kpt_goes_on(World::edited, "web", "v2.0.0");
}

#[test]
fn kpt_goes_on_from_every_state_of_a_package_with_a_sub_package() {
    kpt_goes_on(with_sub_package, "shop", "v5.0.0");
}
