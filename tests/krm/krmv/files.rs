//! `krmv` with packages from archives and image layouts.

use super::{SERVICE, World, deployment, hints};
use crate::sources::{gz, images, tar_of};

/// The releases of [`World::new`] as archives and as tags of a layout.
pub(super) fn world() -> World {
    let world = World::new();
    let service = SERVICE.replace("ClusterIP", "NodePort");
    for (version, deployment, service) in [
        ("1.0.0", deployment(1, "app:1", "64Mi"), SERVICE),
        ("1.1.0", deployment(1, "app:2", "64Mi"), SERVICE),
        ("2.0.0", deployment(2, "app:3", "128Mi"), &service),
        ("3.0.0-rc.1", deployment(9, "app:9", "9Mi"), &service),
    ] {
        let files = [
            ("web/app.yaml", deployment),
            ("web/service.yaml", service.to_owned()),
            ("web/notes.txt", format!("v{version}\n")),
        ];
        let tar = tar_of(&files);
        images::layout(&world.folder, "layout/web", &format!("v{version}"), &tar);
        let file = format!("charts/web-{version}.tgz");
        world.folder.put(&file, gz(&tar));
    }
    world.folder.put("charts/other-9.0.0.tgz", gz(&tar_of(&[])));
    world
}

/// An upgrade without a conflict, and one with two.
pub(super) fn upgrade(world: &World, first: &[&str], request: &str) -> Vec<(String, String)> {
    let outcome = world.krmv(&[&["get"], first].concat());
    outcome.assert_code(0);
    world.commit("get");
    world.edit_app();
    let edits = world.krmv(&["diff", "--stat", "web"]);
    assert!(edits.stdout.ends_with("1 changed\n"), "{}", edits.stdout);
    let status = world.json(&["status", "web"]);
    let status = &status["packages"][0];
    assert_eq!(status["edits"], 2, "{status}");
    assert_eq!(
        status["newer"].as_array().map(Vec::len),
        Some(2),
        "{status}"
    );
    world.krmv(&["upgrade", "web", request]).assert_code(0);
    world.commit("upgrade");
    let outcome = world.krmv(&["upgrade", "web"]);
    outcome.assert_code(1);
    // The same again lists what is open, wherever it is called.
    let again = world.krmv_in("own/web", &["upgrade"]);
    again.assert_code(1);
    assert!(again.stdout.contains("spec.replicas"), "{}", again.stdout);
    let decided = world.krmv(&["resolve", "web", "--take", "local"]);
    decided.assert_code(0);
    assert_eq!(hints(&decided.stdout).len(), 1, "{}", decided.stdout);
    // The release has its short name, wherever it comes from.
    let named = |before: &str, after: &str| {
        let names = ["v2.0.0", "2.0.0"].map(|name| format!("{before}{name}{after}"));
        names.iter().any(|text| decided.stdout.contains(text))
    };
    assert!(
        named("web is now at ", ".\n") && named("web: upgrade to ", "'\n"),
        "{}",
        decided.stdout
    );
    world.commit("upgrade");
    let status = world.krmv(&["status", "web"]);
    status.assert_code(0);
    assert!(
        status.stdout.contains("2.0.0, 2 edits\n"),
        "{}",
        status.stdout
    );
    let files = ["app.yaml", "service.yaml", "notes.txt"].into_iter();
    files
        .map(|file| (file.to_owned(), world.read(&format!("web/{file}"))))
        .collect()
}

#[test]
fn get_and_upgrade_from_every_source_give_the_same_bytes() {
    let of_git = upgrade(&World::new(), &["../catalog//web@v1.0.0"], "v1.1.0");
    for (first, request, source) in [
        (
            "../charts/web-1.0.0.tgz",
            "../charts/web-1.1.0.tgz",
            "charts/web-2.0.0.tgz",
        ),
        ("../charts/web-1.0.0.tgz", "1.1.0", "charts/web-2.0.0.tgz"),
        ("oci:../layout/web:v1.0.0", "v1.1", "layout/web:v2.0.0"),
        ("oci:../layout/web@v1.0.0", "v1.1", "layout/web:v2.0.0"),
    ] {
        let world = world();
        let files = upgrade(&world, &[first], request);
        assert_eq!(files, of_git, "{first}");
        let kptfile = world.read("web/Kptfile");
        let recorded = kptfile.lines().filter(|line| line.contains("fn.kpt.dev/"));
        let recorded: Vec<&str> = recorded.collect();
        assert_eq!(recorded.len(), 2, "{kptfile}");
        assert!(recorded[0].ends_with(source), "{kptfile}");
        assert!(!kptfile.contains("upstreamLock"), "{kptfile}");
    }
}

#[test]
fn an_open_upgrade_names_an_archive_without_releases_next_to_it() {
    let world = world();
    world
        .krmv(&["get", "../charts/web-1.0.0.tgz"])
        .assert_code(0);
    let text = world.read("web/app.yaml");
    world.write("web/app.yaml", &text.replace("replicas: 1", "replicas: 5"));
    world.commit("edits");
    let new = world.folder.path("charts/web-2.0.0.tgz");
    std::fs::create_dir(world.folder.path("new")).expect("a folder");
    std::fs::rename(new, world.folder.path("new/web-2.0.0.tgz")).expect("a file");
    let outcome = world.krmv(&["upgrade", "web", "../new/web-2.0.0.tgz"]);
    outcome.assert_code(1);
    world
        .krmv(&["resolve", "web", "--take", "upstream"])
        .assert_code(0);
    let kptfile = world.read("web/Kptfile");
    assert!(kptfile.contains("/new/web-2.0.0.tgz\n"), "{kptfile}");
    assert!(world.read("web/app.yaml").contains("replicas: 2"));
}

#[test]
fn errors_of_sources_outside_of_git_name_the_fault() {
    let world = world();
    world.folder.put("charts/bad-1.0.0.tgz", "text");
    for (arguments, expected) in [
        (vec!["get", "../charts/none-1.0.0.tgz"], "none-1.0.0.tgz"),
        (vec!["get", "../charts/bad-1.0.0.tgz"], "damaged"),
        (
            vec!["get", "../charts/web-1.0.0.tgz//x"],
            "expected a folder `x`",
        ),
        (vec!["get", "oci:../nowhere:v1"], "nowhere"),
        (vec!["get", "oci:../layout/web:v9"], "has no revision `v9`"),
        (
            vec!["get", "http://127.0.0.1:1/web-1.0.0.tgz"],
            "127.0.0.1:1/web-1.0.0.tgz",
        ),
    ] {
        let outcome = world.krmv(&arguments);
        outcome.assert_code(2);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
        assert!(!hints(&outcome.stderr).is_empty(), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("hint: git"), "{}", outcome.stderr);
    }
    // Another archive of the same name is not the original.
    world
        .krmv(&["get", "../charts/web-1.0.0.tgz"])
        .assert_code(0);
    world.commit("get");
    world.folder.put("charts/web-1.0.0.tgz", gz(&tar_of(&[])));
    let outcome = world.krmv(&["upgrade", "web"]);
    outcome.assert_code(2);
    assert!(
        outcome.stderr.contains("the digest sha256:"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_release_that_cannot_be_found_is_left_out_with_a_warning() {
    let world = world();
    let link = world.folder.path("charts/web-1.5.0.tgz");
    std::os::unix::fs::symlink("nowhere", link).expect("a link");
    let got = world.krmv(&["get", "../charts/web-1.0.0.tgz"]);
    got.assert_code(0);
    let status = world.krmv(&["status", "web"]);
    assert!(!status.stdout.contains("1.5.0"), "{}", status.stdout);
    let missing = world.krmv(&["upgrade", "web", "1.5.0"]);
    missing.assert_code(2);
    for text in [&got.stderr, &status.stderr, &missing.stderr] {
        let start = "warning: left out the release 1.5.0: expected an archive, found none: ";
        assert!(text.starts_with(start), "{text}");
        assert_eq!(text.matches("warning: ").count(), 1, "{text}");
    }
}

#[test]
fn status_says_why_a_release_cannot_be_merged() {
    let world = world();
    world.folder.put("charts/web-1.5.0.tgz", "text");
    images::image(&world.folder, "layout/web", "v1.5.0", &[]);
    for (source, place, release, reason) in [
        ("../charts/web-1.0.0.tgz", "tgz", "1.5.0", "damaged"),
        ("oci:../layout/web:v1.0.0", "oci", "v1.5.0", "no files"),
    ] {
        world.krmv(&["get", source, place]).assert_code(0);
        let status = world.krmv(&["status", place]);
        let line = format!("  {release}: cannot be merged: ");
        let found = status.stdout.lines().any(|found| found.starts_with(&line));
        assert!(found, "{}", status.stdout);
        let status = world.json(&["status", place]);
        let newer = &status["packages"][0]["newer"][1];
        assert_eq!(newer["revision"], release, "{newer}");
        let problem = newer["problem"].as_str().unwrap_or_default();
        assert!(problem.contains(reason), "{newer}");
    }
}

#[test]
fn reviews_and_overlays_from_every_source_are_the_same() {
    let of_git = reviewed(&World::new(), "../catalog//web@v1.0.0", "v");
    for (source, v) in [
        ("../charts/web-1.0.0.tgz", ""),
        ("oci:../layout/web:v1.0.0", "v"),
    ] {
        assert_eq!(reviewed(&world(), source, v), of_git, "{source}");
    }
}

/// What `review` and `overlay` print of an edited package, without the `v` of revisions.
fn reviewed(world: &World, source: &str, v: &str) -> Vec<String> {
    world.krmv(&["get", source]).assert_code(0);
    world.commit("get");
    world.edit_app();
    let (to, from) = (format!("{v}2.0.0"), format!("{v}1.1.0"));
    let mut printed = Vec::new();
    for (code, arguments) in [
        (0, vec!["review", "web"]),
        (0, vec!["review", "web", &to]),
        (0, vec!["review", "web", &to, "--from", &from]),
        (0, vec!["overlay", "web"]),
        (0, vec!["overlay", "web", "--into", "overlay"]),
    ] {
        let outcome = world.krmv(&arguments);
        outcome.assert_code(code);
        assert_eq!(outcome.stderr, "", "{arguments:?}");
        printed.push(outcome.stdout.replace("v1.", "1.").replace("v2.", "2."));
    }
    printed
}

#[test]
fn a_copy_of_an_archive_is_adopted() {
    let world = world();
    world.write("web/app.yaml", &deployment(3, "app:1", "64Mi"));
    world.write("web/service.yaml", SERVICE);
    world.commit("a copy");
    world
        .krmv(&["get", "--adopt", "../charts/web-1.0.0.tgz", "web"])
        .assert_code(0);
    let status = world.krmv(&["status", "web"]);
    assert!(
        status.stdout.contains("web: 1.0.0, 2 edits"),
        "{}",
        status.stdout
    );
    let lost = world.krmv(&["get", "--adopt", "oci:../layout/web", "web"]);
    lost.assert_code(2);
}

#[test]
fn a_copy_is_adopted_by_its_content_among_archives_and_tags() {
    let world = world();
    for (folder, image, source, expected) in [
        // The path says which archive it is, and not which release.
        ("one", "app:2", "../charts/web-1.0.0.tgz", "made from 1.1.0"),
        ("two", "app:1", "../charts/web-1.1.0.tgz", "made from 1.0.0"),
        ("three", "app:2", "oci:../layout/web", "made from v1.1.0"),
    ] {
        world.write(
            &format!("{folder}/app.yaml"),
            &deployment(1, image, "512Mi"),
        );
        world.write(&format!("{folder}/service.yaml"), SERVICE);
        world.commit("a copy");
        let adopted = world.krmv(&["get", "--adopt", source, folder]);
        adopted.assert_code(0);
        assert!(adopted.stdout.contains(expected), "{}", adopted.stdout);
    }
    // Releases that explain the copy equally well: the named one.
    world.write("both/other.yaml", SERVICE);
    world.commit("a copy");
    let adopted = world.krmv(&["get", "--adopt", "../charts/web-1.1.0.tgz", "both"]);
    adopted.assert_code(0);
    assert!(
        adopted.stdout.contains("made from 1.1.0"),
        "{}",
        adopted.stdout
    );
}

#[test]
fn an_archive_that_is_named_needs_no_recorded_folder() {
    let world = world();
    world
        .krmv(&["get", "../charts/web-1.0.0.tgz"])
        .assert_code(0);
    world.commit("get");
    let [from, to] = ["charts", "moved"].map(|name| world.folder.path(name));
    std::fs::rename(from, to).expect("a folder");
    world
        .krmv(&["upgrade", "web", "../moved/web-1.1.0.tgz"])
        .assert_code(0);
    let kptfile = world.read("web/Kptfile");
    assert!(kptfile.contains("moved/web-1.1.0.tgz"), "{kptfile}");
    assert!(world.read("web/app.yaml").contains("app:2"));
}
