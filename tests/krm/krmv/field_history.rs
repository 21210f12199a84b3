//! Who last changed each side of a conflict, as `krmv upgrade` and `krmv resolve` show it.

use std::path::Path;

use super::{KRMV, SERVICE, World, deployment, files, outcome};

/// Commits a Deployment to the catalog with a clock of its own.
fn upstream_commit(world: &World, day: u8, deployment: &str, message: &str) {
    world.folder.put("catalog/web/app.yaml", deployment);
    let mut commit = world.command(Path::new("git"));
    commit.current_dir(world.folder.path("catalog"));
    commit.args(["commit", "--quiet", "-am", message]);
    commit.env("GIT_AUTHOR_DATE", format!("2026-03-{day:02}T12:00:00Z"));
    commit.env("GIT_COMMITTER_DATE", format!("2026-03-{day:02}T12:00:00Z"));
    assert!(commit.status().expect("git runs").success());
}

/// The line about upstream's side in the report of a conflict about a field.
fn upstream_line(text: &str, field: &str) -> String {
    let (_, conflict) = text.split_once(field).expect("the conflict");
    let (_, rest) = conflict
        .split_once("last changed upstream in ")
        .unwrap_or_else(|| panic!("{text}"));
    // A long line is wrapped, with an indentation.
    let mut lines = rest.lines();
    let first = lines.next().expect("a line");
    let others = lines.take_while(|line| line.starts_with("      "));
    let words: Vec<&str> = [first].into_iter().chain(others).collect();
    let words = words.iter().flat_map(|line| line.split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_release_and_the_commit_of_upstreams_value_are_named() {
    let world = World::edited();
    upstream_commit(&world, 9, &deployment(7, "app:4", "128Mi"), "seven");
    // Set back, and set again, with clocks that run backwards.
    upstream_commit(&world, 8, &deployment(8, "app:4", "128Mi"), "eight");
    upstream_commit(&world, 7, &deployment(7, "app:4", "128Mi"), "seven again");
    world.folder.git(&["tag", "v4.0.0"]);
    world.release("v4.1.0", &deployment(7, "app:5", "128Mi"), SERVICE);
    let upgrade = world.krmv(&["upgrade", "web", "v4.1.0"]);
    upgrade.assert_code(1);
    let id = world.folder.git(&["rev-parse", "v4.0.0"]);
    let replicas = format!(
        "v4.0.0 by someone, 2026-03-07 ({} \"seven again\")",
        &id[..8]
    );
    let resolve = world.krmv(&["resolve", "web"]);
    for text in [&upgrade.stdout, &resolve.stdout] {
        assert!(
            upstream_line(text, "spec.replicas").starts_with(&replicas),
            "{text}"
        );
        let memory = upstream_line(text, "memory");
        assert!(
            memory.starts_with("v2.0.0 by a, ") && memory.contains("\"v2.0.0\")"),
            "{memory}"
        );
    }
    let json = world.json(&["resolve", "web"]);
    let changed = &json["conflicts"][0]["lastChanged"];
    assert_eq!(changed["local"]["summary"], "edits", "{json}");
    assert_eq!(changed["upstream"]["revision"], "v4.0.0", "{json}");
    assert_eq!(changed["upstream"]["orEarlier"], false, "{json}");
    assert_eq!(changed["upstream"]["commit"]["commit"], id, "{json}");
}

#[test]
fn a_field_that_upstream_removed_or_moved_to_another_file_has_its_release() {
    let world = World::edited();
    // The limit is removed, then the Deployment moves to another file.
    let without = deployment(1, "app:4", "1Mi").replace(
        "        resources:\n          limits:\n            memory: 1Mi\n",
        "",
    );
    world.release("v4.0.0", &without, SERVICE);
    world
        .folder
        .git(&["mv", "web/app.yaml", "web/deployment.yaml"]);
    world.folder.commit("moved");
    world.folder.git(&["tag", "v4.1.0"]);
    let outcome = world.krmv(&["upgrade", "web", "v4.1.0"]);
    outcome.assert_code(1);
    let line = upstream_line(&outcome.stdout, "resources");
    assert!(line.starts_with("v4.0.0 by a, "), "{line}");
}

#[test]
fn a_cache_without_the_history_names_the_releases_that_it_has() {
    let world = World::new();
    let catalog = format!("file://{}", world.folder.path("catalog").display());
    let krmv = |arguments: &[&str]| {
        let mut command = world.command(Path::new(KRMV));
        command.env("GIT_CONFIG_COUNT", "1").args(arguments);
        command.env("GIT_CONFIG_KEY_0", format!("url.{catalog}.insteadOf"));
        command.env("GIT_CONFIG_VALUE_0", "https://e.invalid/catalog");
        outcome(command)
    };
    krmv(&["get", "https://e.invalid/catalog//web@v1.0.0"]).assert_code(0);
    world.commit("get");
    world.edit_app();
    world.release("v2.1.0", &deployment(2, "app:4", "128Mi"), SERVICE);
    let upgrade = krmv(&["upgrade", "web", "v2.1.0"]);
    upgrade.assert_code(1);
    let line = upstream_line(&upgrade.stdout, "spec.replicas");
    assert_eq!(line, "v2.1.0 or earlier", "{}", upgrade.stdout);
    // `status` fetches all releases.
    krmv(&["upgrade", "web", "--abort"]).assert_code(0);
    krmv(&["status", "web"]).assert_code(3);
    let upgrade = krmv(&["upgrade", "web", "v2.1.0"]);
    upgrade.assert_code(1);
    let line = upstream_line(&upgrade.stdout, "spec.replicas");
    assert!(
        line.starts_with("v2.0.0") && !line.contains("earlier"),
        "{line}"
    );
}

#[test]
fn archives_have_a_release_and_no_commit() {
    let world = files::world();
    world
        .krmv(&["get", "../charts/web-1.0.0.tgz"])
        .assert_code(0);
    world.commit("get");
    let text = world.read("web/app.yaml");
    world.write("web/app.yaml", &text.replace("replicas: 1", "replicas: 5"));
    world.commit("edits");
    let outcome = world.krmv(&["upgrade", "web", "2.0.0"]);
    outcome.assert_code(1);
    let (_, rest) = outcome
        .stdout
        .split_once("last changed upstream in ")
        .expect("a line");
    assert!(rest.starts_with("2.0.0\n"), "{}", outcome.stdout);
}
