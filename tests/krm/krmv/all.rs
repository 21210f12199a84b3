//! `krmv upgrade --all`.

use expect_test::expect;
use std::os::unix::fs::PermissionsExt;

use std::path::Path;

use super::{KRMV, World, hints, outcome};

/// A world with the packages `web` (edited: two conflicts) and `plain`, both at v1.0.0.
fn two_packages() -> World {
    let world = World::edited();
    let get = ["get", "../catalog//web@v1.0.0", "plain"];
    world.krmv(&get).assert_code(0);
    world.commit("plain");
    world
}

fn git(world: &World, arguments: &[&str]) -> String {
    world.folder.git_in("own", arguments)
}

/// Installs a hook that runs this script.
fn hook(world: &World, name: &str, script: &str) {
    let path = world.path(&format!(".git/hooks/{name}"));
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");
}

#[test]
fn conflicts_and_failures_of_one_package_do_not_stop_the_others() {
    let world = two_packages();
    world.write("broken/Kptfile", "apiVersion: [\n");
    world.write(
        "none/Kptfile",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: none\n",
    );
    world.commit("broken");
    let outcome = world.krmv(&["upgrade", "--all"]);
    outcome.assert_code(2);
    let lines: Vec<&str> = outcome.stdout.lines().rev().take(4).collect();
    assert_eq!(
        lines,
        [
            "3 packages: 1 upgraded, 1 with undecided conflicts, 1 failed",
            "web: v1.0.0 -> v2.0.0, 2 conflicts undecided",
            "plain: v1.0.0 -> v2.0.0",
            "broken: failed",
        ],
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("broken: 'broken': Kptfile: "),
        "{}",
        outcome.stdout
    );
    assert!(world.read("plain/app.yaml").contains("app:3"));
    assert!(world.read("web/app.yaml").contains("replicas: 5"));
    // The files of this run are not committed, so that a second run finds nothing to do and says what is open.
    let outcome = world.krmv(&["upgrade", "--all", "web", "plain"]);
    outcome.assert_code(1);
    assert!(
        outcome
            .stdout
            .contains("web: v1.0.0 -> v2.0.0, 2 conflicts undecided, as before\n"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("plain: up to date, at v2.0.0\n"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn each_package_is_a_commit_of_its_paths_only() {
    let world = two_packages();
    world.write("staged.txt", "mine\n");
    git(&world, &["add", "staged.txt"]);
    hook(
        &world,
        "commit-msg",
        "echo \"$(pwd) $(git diff --cached --name-only -- '*.yaml' | wc -l)\" >>.git/seen",
    );
    world.krmv(&["upgrade", "--all", "--commit"]).assert_code(1);
    assert_eq!(git(&world, &["status", "--porcelain"]), "A  staged.txt");
    let log = git(&world, &["log", "-2", "--format=%s", "--name-only"]);
    let expected = "plain: upgrade v1.0.0 to v2.0.0";
    assert!(log.contains(expected) && !log.contains("staged"), "{log}");
    let body = git(&world, &["log", "-1", "--grep=^web:", "--format=%B"]);
    for expected in [
        "web: upgrade v1.0.0 to v2.0.0\n\n### Review: ",
        "### Undecided: 2 conflicts\n",
        "Decide them here: krmv resolve web\n",
    ] {
        assert!(body.contains(expected), "{expected}: {body}");
    }
    let trailer = git(
        &world,
        &[
            "log",
            "-1",
            "--format=%(trailers:key=Krmv-Upgrade,valueonly)",
        ],
    );
    assert_eq!(trailer.trim(), "v1.0.0..v2.0.0");
    // The hooks run as for the user's own commits: their patterns are patterns.
    let seen = world.read(".git/seen");
    assert_eq!(seen.lines().count(), 2, "{seen}");
    assert!(seen.lines().all(|line| !line.ends_with(" 0")), "{seen}");
}

#[test]
fn a_package_that_a_hook_refuses_has_failed() {
    let world = two_packages();
    world.folder.put(
        "catalog/web/new.yaml",
        super::SERVICE.replace("name: app", "name: new"),
    );
    world.folder.commit("new");
    world.folder.git(&["tag", "v2.1.0"]);
    hook(
        &world,
        "commit-msg",
        "! grep -q '^plain:' \"$1\" || { echo 'not plain' >&2; exit 1; }",
    );
    let outcome = world.krmv(&["upgrade", "--all", "--commit"]);
    outcome.assert_code(2);
    assert!(outcome.stdout.contains("not plain"), "{}", outcome.stdout);
    assert!(!hints(&outcome.stdout).is_empty(), "{}", outcome.stdout);
    // Its files stay as they are, and nothing of it is staged.
    let status = git(&world, &["status", "--porcelain"]);
    expect![[r#"
         M plain/Kptfile
         M plain/app.yaml
         M plain/notes.txt
         M plain/service.yaml
        ?? plain/new.yaml"#]]
    .assert_eq(&status);
    assert!(git(&world, &["log", "-1", "--format=%s"]).starts_with("web: "));
}

#[test]
fn inner_packages_come_first_and_are_not_uncommitted_changes() {
    let world = World::with_package();
    world
        .krmv(&["get", "../catalog//web@v1.0.0", "web/inner"])
        .assert_code(0);
    world.commit("inner");
    let outcome = world.krmv(&["upgrade", "--all"]);
    outcome.assert_code(0);
    let at = |line: &str| {
        outcome
            .stdout
            .find(line)
            .unwrap_or_else(|| panic!("{line}: {}", outcome.stdout))
    };
    assert!(at("web/inner: v1.0.0 -> v2.0.0\n") < at("web: v1.0.0 -> v2.0.0\n"));
    assert!(world.read("web/inner/app.yaml").contains("app:3"));
}

#[test]
fn branches_leave_the_work_tree_as_it_was() {
    let world = two_packages();
    world.write("web/app.yaml", "not committed\n");
    world.write("staged.txt", "mine\n");
    git(&world, &["add", "staged.txt"]);
    let state = || {
        let status = git(&world, &["status", "--porcelain"]);
        (
            status,
            git(&world, &["rev-parse", "HEAD"]),
            git(&world, &["worktree", "list"]),
        )
    };
    let before = state();
    let outcome = world.krmv(&["upgrade", "--all", "--branch"]);
    outcome.assert_code(1);
    assert_eq!(state(), before);
    assert_eq!(world.read("web/app.yaml"), "not committed\n");
    assert!(
        outcome
            .stdout
            .contains("plain: v1.0.0 -> v2.0.0, on krmv/plain\n"),
        "{}",
        outcome.stdout
    );
    assert_eq!(
        hints(&outcome.stdout),
        ["git switch krmv/web && krmv resolve web"]
    );
    for (branch, subject) in [
        ("krmv/web", "web: upgrade v1.0.0 to v2.0.0"),
        ("krmv/plain", "plain: upgrade v1.0.0 to v2.0.0"),
    ] {
        let log = git(&world, &["log", "--format=%s", &format!("HEAD..{branch}")]);
        assert_eq!(log, subject);
    }
    assert!(git(&world, &["show", "krmv/web:web/app.yaml"]).contains("replicas: 5"));
    // A second run changes nothing, and another prefix is other branches.
    let tips = || {
        git(
            &world,
            &["for-each-ref", "--format=%(objectname)", "refs/heads/krmv"],
        )
    };
    let first = tips();
    world.krmv(&["upgrade", "--all", "--branch"]).assert_code(1);
    assert_eq!(tips(), first);
    world
        .krmv(&["upgrade", "--all", "--branch=bot", "plain"])
        .assert_code(0);
    git(&world, &["rev-parse", "bot/plain"]);
    // In a folder, paths are those of the folder.
    let outcome = world.krmv_in("own/plain", &["upgrade", "--all", "--branch=in"]);
    outcome.assert_code(0);
    assert!(
        outcome
            .stdout
            .contains(".: v1.0.0 -> v2.0.0, on in/plain\n"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_release_that_changes_nothing_makes_no_branch() {
    let world = World::with_package();
    world.krmv(&["upgrade", "--all", "--commit"]).assert_code(0);
    world
        .folder
        .git(&["checkout", "--quiet", "v2.0.0", "--", "web"]);
    world.folder.put("catalog/other.txt", "x\n");
    world.folder.commit("other");
    world.folder.git(&["tag", "v2.5.0"]);
    let json = world.json(&["upgrade", "--all", "--branch"]);
    assert_eq!(json["packages"][0]["state"], "unchanged", "{json}");
    assert_eq!(json["counts"]["unchanged"], 1);
    assert_eq!(git(&world, &["branch", "--list", "krmv/*"]), "");
}

#[test]
fn a_branch_is_recreated_over_sealed_commits_only() {
    let world = World::with_package();
    world.krmv(&["upgrade", "--all", "--branch"]).assert_code(0);
    let first = git(&world, &["rev-parse", "krmv/web"]);
    let next = |tag: &str, image: &str| {
        world.release(tag, &super::deployment(2, image, "128Mi"), super::SERVICE);
        world.krmv(&["upgrade", "--all", "--branch"])
    };
    next("v2.1.0", "app:4").assert_code(0);
    let log = || git(&world, &["log", "--format=%an %s", "HEAD..krmv/web"]);
    assert_eq!(log(), "someone web: upgrade v1.0.0 to v2.1.0");
    assert_ne!(git(&world, &["rev-parse", "krmv/web"]), first);
    // The same person amends it: the trailer and the committer stay, the tree does not.
    git(&world, &["switch", "--quiet", "krmv/web"]);
    world.write("web/notes.txt", "by hand\n");
    git(
        &world,
        &["commit", "--quiet", "--all", "--amend", "--no-edit"],
    );
    // While the branch is checked out, it does not move.
    next("v2.2.0", "app:5").assert_code(2);
    git(&world, &["switch", "--quiet", "main"]);
    let outcome = next("v2.3.0", "app:6");
    outcome.assert_code(1);
    assert_eq!(
        log(),
        "someone web: upgrade v2.1.0 to v2.3.0\nsomeone web: upgrade v1.0.0 to v2.1.0"
    );
    assert_eq!(git(&world, &["show", "krmv/web:web/notes.txt"]), "by hand");
}

#[test]
fn a_branch_that_is_checked_out_stays() {
    let world = World::with_package();
    world.krmv(&["upgrade", "--all", "--branch"]).assert_code(0);
    let first = git(&world, &["rev-parse", "krmv/web"]);
    git(
        &world,
        &["worktree", "add", "--quiet", "../elsewhere", "krmv/web"],
    );
    world.release(
        "v2.1.0",
        &super::deployment(2, "app:4", "128Mi"),
        super::SERVICE,
    );
    let outcome = world.krmv(&["upgrade", "--all", "--branch"]);
    outcome.assert_code(2);
    assert!(
        outcome.stdout.contains("krmv/web is checked out in"),
        "{}",
        outcome.stdout
    );
    assert_eq!(git(&world, &["rev-parse", "krmv/web"]), first);
}

#[test]
fn missing_upstreams_and_policies_with_mistakes_are_named() {
    let world = two_packages();
    let kptfile = world.read("web/Kptfile");
    let gone = kptfile.replace("/catalog", "/gone");
    assert_ne!(kptfile, gone);
    world.write("web/Kptfile", &gone);
    world
        .krmv(&["get", "../catalog//web@v1.0.0", "wrong"])
        .assert_code(0);
    world.write(
        "wrong/.krmv.yaml",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: UpgradePolicy\nguards:\n- reason: x\n",
    );
    world.commit("bad");
    let json = world.json(&["upgrade", "--all"]);
    let packages = json["packages"].as_array().expect("a list");
    let message = |path: &str| {
        let found = packages.iter().find(|one| one["path"] == path).expect(path);
        (
            found["state"].as_str().expect("a state").to_owned(),
            found["message"].to_string(),
        )
    };
    let (state, text) = message("web");
    assert!(state == "failed" && text.contains("/gone"), "{text}");
    let (state, text) = message("wrong");
    assert!(
        state == "failed" && text.contains("wrong/.krmv.yaml:4: guards[0]"),
        "{text}"
    );
    assert_eq!(message("plain").0, "upgraded");
}

#[test]
fn broken_kptfiles_and_an_unreachable_network_do_not_stop_the_others() {
    let world = two_packages();
    let kptfile = world.read("web/Kptfile");
    let away = kptfile.replace(
        &world.folder.path("catalog").display().to_string(),
        "https://127.0.0.1:1/away",
    );
    assert_ne!(kptfile, away);
    let broken = [
        ("syntax", "kind: Kptfile\n  upstream: [\n".to_owned(), "2"),
        (
            "lock",
            kptfile.replace("commit: ", "commit: --upload-pack="),
            "commit",
        ),
        ("away", away, "127.0.0.1:1"),
    ];
    for (name, text, _) in &broken {
        world.write(&format!("{name}/Kptfile"), text);
        world.write(&format!("{name}/app.yaml"), &world.read("web/app.yaml"));
    }
    world.commit("broken");
    for flags in [&["--dry-run"][..], &["--commit", "--branch"], &[]] {
        let arguments = [&["upgrade", "--all"], flags].concat();
        let outcome = world.krmv(&arguments);
        outcome.assert_code(2);
        for (name, _, what) in &broken {
            let mut lines = outcome.stdout.lines();
            let start = format!("{name}: ");
            let line = lines.find(|line| line.starts_with(&start));
            let line = line.unwrap_or_else(|| panic!("{name}: {}", outcome.stdout));
            let (_, rest) = outcome.stdout.split_once(line).expect("a line");
            let text = format!("{line}{}", rest.split("\nplain").next().unwrap_or(rest));
            assert!(text.contains("failed") && text.contains(what), "{text}");
        }
        let counts = outcome.stdout.lines().last().unwrap_or_default();
        let upgraded = match flags {
            ["--dry-run"] => "1 would be upgraded",
            _ => "1 upgraded",
        };
        assert!(counts.contains(upgraded), "{}", outcome.stdout);
        assert!(counts.contains("3 failed"), "{}", outcome.stdout);
    }
    assert!(world.read("plain/app.yaml").contains("app:3"));
}

#[test]
fn without_git_the_error_names_each_package() {
    let world = two_packages();
    let empty = world.folder.path("empty");
    std::fs::create_dir_all(&empty).expect("a folder");
    for flags in [&["upgrade", "--all"][..], &["upgrade", "--all", "--branch"]] {
        let mut command = world.command(Path::new(KRMV));
        command.args(flags).env("PATH", &empty);
        let outcome = outcome(command);
        outcome.assert_code(2);
        let text = outcome.stdout + &outcome.stderr;
        assert!(text.contains("cannot find `git` on PATH"), "{text}");
        assert!(text.contains("hint: "), "{text}");
    }
}

/// The name of a branch alone would be the same in each message, and in each commit.
#[test]
fn a_branch_is_named_with_its_commit_and_a_lost_one_with_another() {
    let world = World::new();
    let get = ["get", "../catalog//web@main", "web"];
    world.krmv(&get).assert_code(0);
    world.commit("web");
    let shell = "cd ../catalog && git checkout --quiet main && echo 'a: 1' > web/new.yaml && git add . && \
        git commit --quiet -m new && git rev-parse --short=7 HEAD";
    let outcome = world.shell(shell);
    outcome.assert_code(0);
    let name = format!("main@{}", outcome.stdout.trim());
    let outcome = world.krmv(&["upgrade", "web"]);
    outcome.assert_code(0);
    let done = format!("The package is now at {name}.");
    assert!(outcome.stdout.contains(&done), "{}", outcome.stdout);
    let commit = format!("git add web && git commit -m 'web: upgrade to {name}'");
    assert_eq!(hints(&outcome.stdout), [commit]);
    let kptfile = world.read("web/Kptfile").replace("ref: main", "ref: gone");
    world.write("web/Kptfile", &kptfile);
    world.commit("gone");
    let outcome = world.krmv(&["status", "web"]);
    outcome.assert_code(2);
    assert_eq!(hints(&outcome.stdout), ["krmv upgrade web main"]);
    world.krmv(&["upgrade", "web", "main"]).assert_code(0);
}

#[test]
fn a_folder_of_packages_is_named_with_the_commands_for_several() {
    let world = two_packages();
    for command in ["upgrade", "diff", "resolve"] {
        let outcome = world.krmv(&[command]);
        outcome.assert_code(2);
        let said = &outcome.stderr;
        assert!(
            said.contains("'.' is not a package. Packages below it: plain, web."),
            "{said}"
        );
        assert!(hints(said).contains(&"krmv upgrade --all"), "{said}");
    }
    let outcome = world.krmv(&["upgrade", "web", "plain"]);
    outcome.assert_code(2);
    assert_eq!(hints(&outcome.stderr), ["krmv upgrade --all web plain"]);
    let outcome = world.krmv(&["upgrade", "web", "--commit"]);
    outcome.assert_code(2);
}

#[test]
fn packages_outside_of_git_have_no_commits() {
    let world = World::new();
    world.folder.put("outside/.keep", "");
    world
        .krmv_in("outside", &["get", "../catalog//web@v1.0.0"])
        .assert_code(0);
    let outcome = world.krmv_in("outside", &["upgrade", "--all", "--branch"]);
    outcome.assert_code(2);
    assert!(
        outcome.stderr.contains("is not in a Git work tree"),
        "{}",
        outcome.stderr
    );
    world
        .krmv_in("outside", &["upgrade", "--all"])
        .assert_code(0);
}

#[test]
fn commits_of_a_branch_are_named() {
    let world = World::new();
    world.krmv(&["get", "../catalog//web@main"]).assert_code(0);
    world.commit("get");
    world.release(
        "v4.0.0",
        &super::deployment(4, "app:10", "64Mi"),
        super::SERVICE,
    );
    world.krmv(&["upgrade", "--all", "--commit"]).assert_code(0);
    let subject = git(&world, &["log", "-1", "--format=%s"]);
    let (from, to) = subject.split_once(" to ").expect("two revisions");
    assert!(
        from.starts_with("web: upgrade main@") && to.starts_with("main@"),
        "{subject}"
    );
}

#[test]
fn a_merge_that_is_not_finished_stops_commits_before_anything_is_written() {
    let world = two_packages();
    git(
        &world,
        &["switch", "--quiet", "--create", "other", "HEAD~1"],
    );
    world.write("other.txt", "x\n");
    world.commit("other");
    git(&world, &["switch", "--quiet", "main"]);
    git(
        &world,
        &["merge", "--quiet", "--no-commit", "--no-ff", "other"],
    );
    let before = git(&world, &["status", "--porcelain"]);
    let outcome = world.krmv(&["upgrade", "--all", "--commit"]);
    outcome.assert_code(2);
    assert!(
        outcome.stdout.contains("a merge is not finished"),
        "{}",
        outcome.stdout
    );
    assert_eq!(git(&world, &["status", "--porcelain"]), before);
}

#[test]
fn a_new_file_that_git_ignores_is_committed_too() {
    let world = World::with_package();
    world.write(".gitignore", "*.log\n");
    world.commit("ignore");
    world.folder.put("catalog/web/app.log", "new\n");
    world.folder.commit("log");
    world.folder.git(&["tag", "v2.1.0"]);
    world.krmv(&["upgrade", "--all", "--commit"]).assert_code(0);
    assert_eq!(git(&world, &["show", "HEAD:web/app.log"]), "new");
    assert_eq!(git(&world, &["status", "--porcelain"]), "");
}
