//! `krmv upgrade`.

use expect_test::expect;
use indoc::indoc;
use std::os::unix::fs::PermissionsExt;

use super::{SERVICE, World, deployment, hints};

#[test]
fn a_merge_without_conflict_moves_the_lock() {
    let world = World::with_package();
    let before = world.read("web/Kptfile");
    let outcome = world.krmv(&["upgrade", "web", "v1.1.0"]);
    outcome.assert_code(0);
    let commit = |tag| world.commit_of(tag);
    let expected = before
        .replace("v1.0.0", "v1.1.0")
        .replace(&commit("v1.0.0"), &commit("v1.1.0"));
    assert_eq!(world.read("web/Kptfile"), expected);
    assert!(world.read("web/app.yaml").contains("image: app:2"));
    assert_eq!(world.read("web/notes.txt"), "v1.1.0\n");
    let hint = hints(&outcome.stdout)[0];
    assert_eq!(world.shell(hint).code, Some(0), "{hint}");
    let again = world.krmv(&["upgrade", "web", "v1.1.0"]);
    assert_eq!(
        (again.code, again.stdout.contains("already up to date")),
        (Some(0), true),
        "{}",
        again.stdout
    );
}

#[test]
fn the_default_is_the_newest_final_release() {
    let world = World::with_package();
    let outcome = world.krmv_in("own/web", &["upgrade"]);
    outcome.assert_code(0);
    assert!(
        outcome.stdout.contains("v1.0.0 -> v2.0.0"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn four_commands_lead_to_a_finished_upgrade_and_each_suggests_the_next() {
    let world = World::new();
    let mut outcome = world.krmv(&["get", "../catalog//web@v1.1.0"]);
    let text = world.read("web/app.yaml");
    let text = text.replace("image: app:", "image: registry.example.com/app:");
    world.write("web/app.yaml", &text.replace("replicas: 1", "replicas: 5"));
    world.commit("get, with a registry and replicas");
    let mut commands = Vec::new();
    loop {
        let hint = hints(&outcome.stdout)[0].to_owned();
        outcome = world.shell(&hint);
        commands.push(hint);
        if commands.last().is_some_and(|last| last.starts_with("git ")) {
            break;
        }
    }
    assert_eq!(
        commands,
        [
            "krmv status web",
            "krmv upgrade web",
            "krmv resolve web --take local spec.replicas",
            "git add web && git commit -m 'web: upgrade to v2.0.0'"
        ]
    );
    outcome.assert_code(0);
    let merged = world.read("web/app.yaml");
    for part in ["registry.example.com/app:3", "replicas: 5", "memory: 128Mi"] {
        assert!(merged.contains(part), "{merged}");
    }
    assert!(world.read("web/Kptfile").contains("ref: v2.0.0"));
}

#[test]
fn a_lone_argument_that_is_not_a_package_is_the_revision() {
    let world = World::with_package();
    for (revision, found) in [
        ("~1.1", "v1.1.0"),
        ("v3.0.0-rc.1", "v3.0.0-rc.1"),
        ("main", "main@"),
    ] {
        let outcome = world.krmv_in("own/web", &["upgrade", revision, "--dry-run"]);
        outcome.assert_code(0);
        let first = outcome.stdout.lines().next().unwrap_or_default();
        let name = first.rsplit(' ').next().unwrap_or_default();
        let is_found = match found.strip_suffix('@') {
            Some(branch) => name
                .split_once('@')
                .is_some_and(|(name, id)| name == branch && id.len() == 7),
            None => name == found,
        };
        assert!(is_found, "{}", outcome.stdout);
    }
    assert!(world.read("web/Kptfile").contains("ref: v1.0.0"));
}

#[test]
fn undecided_conflicts_keep_your_value_and_the_lock() {
    let world = World::edited();
    let outcome = world.krmv(&["upgrade", "web"]);
    outcome.assert_code(1);
    let text = world.read("web/app.yaml");
    assert!(
        text.contains("replicas: 5 # by load") && text.contains("256Mi"),
        "{text}"
    );
    assert!(text.contains("image: app:3"), "{text}");
    let kptfile = world.read("web/Kptfile");
    assert!(
        kptfile.contains("    ref: v2.0.0\n") && kptfile.contains("    ref: v1.0.0\n"),
        "{kptfile}"
    );
    assert!(
        kptfile.contains(&format!("commit: {}", world.commit_of("v1.0.0"))),
        "{kptfile}"
    );
    for value in [
        "2 conflicts undecided",
        "spec.replicas",
        "local     5",
        "upstream  2",
        "last changed on your side by a, ",
        " \"edits\")\n",
    ] {
        assert!(
            outcome.stdout.contains(value),
            "{value}: {}",
            outcome.stdout
        );
    }
    let hints = hints(&outcome.stdout);
    assert_eq!(
        hints,
        [
            "krmv resolve web --take local spec.replicas",
            "krmv resolve web",
            "krmv review web"
        ]
    );
    let review = world.shell("krmv review web").stdout;
    let said = "  for the cluster: 1 dangerous\n";
    assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
    assert!(review.contains("\n1 dangerous, "), "{review}");
    assert_eq!(world.shell(hints[0]).code, Some(1));
}

#[test]
fn the_same_revision_again_lists_open_conflicts_and_merges_nothing() {
    let world = World::open();
    let before = files(&world);
    for arguments in [&["upgrade", "web"][..], &["upgrade", "web", "v2.0.0"]] {
        let outcome = world.krmv(arguments);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(
            outcome.stdout.contains("2 conflicts undecided"),
            "{}",
            outcome.stdout
        );
        assert_eq!(files(&world), before);
    }
    let other = world.krmv(&["upgrade", "web", "v1.1.0"]);
    assert_eq!(other.code, Some(1));
    assert_eq!(
        hints(&other.stderr),
        ["krmv resolve web", "krmv upgrade web --abort"]
    );
    assert_eq!(files(&world), before);
}

fn files(world: &World) -> Vec<String> {
    ["Kptfile", "app.yaml", "service.yaml", "notes.txt"]
        .map(|file| world.read(&format!("web/{file}")))
        .to_vec()
}

#[test]
fn changes_that_are_not_committed_are_refused() {
    let world = World::with_package();
    world.write("web/größe.txt", "x\n");
    world.write("elsewhere.txt", "x\n");
    let outcome = world.krmv(&["upgrade", "web"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("web/größe.txt"),
        "{}",
        outcome.stderr
    );
    assert!(world.read("web/Kptfile").contains("ref: v1.0.0"));
    let hint = hints(&outcome.stderr)[0];
    assert_eq!(world.shell(hint).code, Some(0), "{hint}");
    let outcome = world.krmv(&["upgrade", "web"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    world.write("web/größe.txt", "y\n");
    let outcome = world.krmv(&["upgrade", "web", "v3.0.0-rc.1", "--force"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn all_conflicts_can_be_taken_from_one_side() {
    for (side, replicas) in [
        ("local", "replicas: 5 # by load"),
        ("upstream", "replicas: 2 # by load"),
    ] {
        let world = World::edited();
        let outcome = world.krmv(&["upgrade", "web", "--take", side]);
        outcome.assert_code(0);
        assert!(
            world.read("web/app.yaml").contains(replicas),
            "{}",
            world.read("web/app.yaml")
        );
        let kptfile = world.read("web/Kptfile");
        assert!(
            !kptfile.contains("v1.0.0") && !kptfile.contains("annotations"),
            "{kptfile}"
        );
    }
}

#[test]
fn nothing_is_written_by_a_dry_run_or_a_diff() {
    let world = World::edited();
    let before = files(&world);
    let dry = world.krmv(&["upgrade", "web", "--dry-run"]);
    assert_eq!(dry.code, Some(1));
    for said in ["would merge:", "the files would keep your value there"] {
        assert!(dry.stdout.contains(said), "{}", dry.stdout);
    }
    assert_eq!(
        hints(&dry.stdout),
        ["krmv upgrade web v2.0.0", "krmv review web v2.0.0"]
    );
    let diff = world.krmv(&["upgrade", "web", "--diff"]);
    assert_eq!(files(&world), before);
    world.write("patch", &diff.stdout);
    world
        .folder
        .git_in("own", &["apply", "--directory=web", "patch"]);
    std::fs::remove_file(world.path("patch")).expect("a file");
    let applied = files(&world);
    world.folder.git_in("own", &["checkout", "--quiet", "web"]);
    assert_eq!(world.krmv(&["upgrade", "web"]).code, Some(1));
    assert_eq!(files(&world), applied);
}

#[test]
fn abort_restores_the_state_before_the_upgrade() {
    let world = World::edited();
    world
        .folder
        .put("catalog/web/new.yaml", super::SERVICE.replace("app", "new"));
    world.release(
        "v2.1.0",
        &super::deployment(3, "app:3", "128Mi"),
        super::SERVICE,
    );
    let before = files(&world);
    for (stages, commits) in [(false, false), (true, false), (true, true)] {
        assert_eq!(world.krmv(&["upgrade", "web"]).code, Some(1));
        assert!(world.path("web/new.yaml").exists());
        if commits {
            world.commit("half of an upgrade");
        } else if stages {
            world.folder.git_in("own", &["add", "web"]);
        }
        let outcome = world.krmv(&["upgrade", "web", "--abort"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(files(&world), before);
        assert!(!world.path("web/new.yaml").exists());
    }
    let outcome = world.krmv(&["upgrade", "web", "--abort"]);
    assert_eq!(outcome.code, Some(2));
}

/// Git saves no state while a file elsewhere has a conflict, or is to be added without its content.
#[test]
fn abort_restores_nothing_that_it_cannot_save() {
    let world = World::open();
    let edited = world.read("web/service.yaml") + "  sessionAffinity: ClientIP\n";
    world.write("web/service.yaml", &edited);
    world.write("other.txt", "other\n");
    world
        .folder
        .git_in("own", &["add", "--intent-to-add", "other.txt"]);
    let refused = world.krmv(&["upgrade", "web", "--abort"]);
    refused.assert_code(2);
    let expected = "cannot save the state of 'web', so nothing was restored: git: ";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    world.shell(hints(&refused.stderr)[0]).assert_code(0);
    assert_eq!(world.read("web/service.yaml"), edited);
    assert!(world.read("web/Kptfile").contains("open-upgrade"));
    world.folder.git_in("own", &["add", "other.txt"]);
    world.krmv(&["upgrade", "web", "--abort"]).assert_code(0);
    assert_ne!(world.read("web/service.yaml"), edited);
}

/// As the hook of Git LFS without `git-lfs` on PATH.
#[test]
fn an_abort_that_fails_names_the_saved_state() {
    let world = World::open();
    let open = files(&world);
    let hook = world.path(".git/hooks/post-checkout");
    std::fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
    std::fs::write(&hook, "#!/bin/sh\nexit 2\n").expect("a file");
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).expect("a mode");
    let failed = world.krmv(&["upgrade", "web", "--abort"]);
    failed.assert_code(2);
    let message = failed.stderr.lines().next().expect("a message");
    let (_, apply) = message.split_once("is saved: ").expect(message);
    world.shell(apply).assert_code(0);
    assert_eq!(files(&world), open);
}

#[test]
fn hints_about_git_run_outside_of_the_work_tree() {
    let world = World::edited();
    let shell = |line: &str| {
        let mut command = world.command("sh".as_ref());
        command.current_dir(world.folder.path(""));
        command.args(["-c", line]);
        super::outcome(command)
    };
    let upgrade = |more: &[&str]| world.krmv_in("", &[&["upgrade", "own/web"], more].concat());
    world.write("web/own.txt", "own\n");
    let refused = upgrade(&[]);
    refused.assert_code(2);
    shell(hints(&refused.stderr)[0]).assert_code(0);
    let mark = ["update-index", "--assume-unchanged", "web/app.yaml"];
    world.folder.git_in("own", &mark);
    let refused = upgrade(&["v2.0.0"]);
    refused.assert_code(2);
    shell(hints(&refused.stderr)[0]).assert_code(0);
    upgrade(&["v2.0.0"]).assert_code(1);
    let changed = files(&world);
    let aborted = upgrade(&["--abort"]);
    let words: Vec<&str> = aborted.stdout.split_whitespace().collect();
    let apply = words
        .join(" ")
        .split(": ")
        .nth(2)
        .expect("a command")
        .to_owned();
    let apply = apply.split(" hint").next().expect("its end").to_owned();
    assert_ne!(files(&world), changed);
    shell(&apply).assert_code(0);
    assert_eq!(files(&world), changed);
    let resolved = world.krmv_in("", &["resolve", "own/web", "--take", "local"]);
    shell(hints(&resolved.stdout)[0]).assert_code(0);
    assert_eq!(world.folder.git_in("own", &["status", "--short"]), "");
}

#[test]
fn abort_needs_a_commit() {
    let world = World::new();
    world
        .krmv(&["get", "../catalog//web@v1.0.0"])
        .assert_code(0);
    let edited = world
        .read("web/app.yaml")
        .replace("replicas: 1", "replicas: 5");
    world.write("web/app.yaml", &edited);
    world
        .krmv(&["upgrade", "web", "v2.0.0", "--force"])
        .assert_code(1);
    let refused = world.krmv(&["upgrade", "web", "--abort"]);
    refused.assert_code(2);
    let expected = "no commit has 'web' as it was before the upgrade";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    assert_eq!(hints(&refused.stderr), ["krmv resolve web"]);
}

/// A package of one file at the root of a repository that holds other files.
#[test]
fn abort_leaves_the_files_next_to_a_package_of_one_file_alone() {
    let world = World::new();
    world.write("src/main.go", "code\n");
    world.write(".gitignore", "*.o\n");
    world.write("src/main.o", "built\n");
    world.write(
        "app.yaml",
        &super::deployment(5, "app:1", "64Mi").replace("64Mi", "256Mi"),
    );
    world.commit("one");
    world
        .krmv(&["get", "--adopt", "../catalog//web/app.yaml@v1.0.0"])
        .assert_code(0);
    world.commit("adopt");
    world.write("src/main.go", "work in progress\n");
    world.write("src/new.go", "new\n");
    // Only the file counts as uncommitted.
    let before = world.read("app.yaml");
    world.write("app.yaml", &format!("{before}# mine\n"));
    let refused = world.krmv(&["upgrade", "v2.0.0"]);
    refused.assert_code(2);
    assert_eq!(world.shell(hints(&refused.stderr)[0]).code, Some(0));
    let committed = ["show", "--stat=80", "--format=", "HEAD"];
    let committed = world.folder.git_in("own", &committed);
    assert!(
        committed.contains("app.yaml") && !committed.contains("go"),
        "{committed}"
    );
    let before = world.read("app.yaml");
    world.krmv(&["upgrade", "v2.0.0"]).assert_code(1);
    assert_ne!(world.read("app.yaml"), before);
    let aborted = world.krmv(&["upgrade", "--abort"]);
    aborted.assert_code(0);
    assert!(!aborted.stdout.contains("main.o"), "{}", aborted.stdout);
    assert_eq!(world.read("app.yaml"), before);
    assert_eq!(world.read("src/main.go"), "work in progress\n");
    assert_eq!(world.read("src/new.go"), "new\n");
    assert!(!world.read("Kptfile").contains("open-upgrade"));
}

#[test]
fn rules_from_upstream_decide_nothing() {
    let world = World::new();
    let rules = indoc! {"
        apiVersion: fn.kpt.dev/v1alpha1
        kind: ConflictRules
        metadata:
          name: rules
        conflicts:
        - take: upstream
    "};
    world.folder.put("catalog/web/.krmv.yaml", rules);
    world.release(
        "v3.1.0",
        &super::deployment(1, "app:1", "64Mi"),
        super::SERVICE,
    );
    world
        .krmv(&["get", "../catalog//web@v3.1.0", "copy"])
        .assert_code(0);
    assert!(!world.path("copy/.krmv.yaml").exists());
    world.write("copy/app.yaml", &super::deployment(5, "app:1", "128Mi"));
    world.commit("ours");
    world.folder.put(
        "catalog/web/.krmv.yaml",
        rules.replace("take", "# again\n  take"),
    );
    world.release(
        "v3.2.0",
        &super::deployment(2, "app:1", "128Mi"),
        super::SERVICE,
    );
    assert_eq!(world.krmv(&["upgrade", "copy"]).code, Some(1));
    assert!(world.read("copy/app.yaml").contains("replicas: 5"));
    assert!(!world.path("copy/.krmv.yaml").exists());
}

/// Git LFS has the content elsewhere.
#[test]
fn files_that_are_not_read_are_named() {
    let world = World::with_package();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    world.folder.put("catalog/web/notes.txt", pointer);
    world.folder.commit("pointer");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let got = words(&world.krmv(&["get", "../catalog//web@main", "copy"]).stdout);
    assert!(got.contains("skipped: a Git LFS pointer"), "{got}");
    assert!(!world.path("copy/notes.txt").exists());
    std::fs::remove_dir_all(world.path("copy")).expect("a folder");
    let upgraded = words(&world.krmv(&["upgrade", "web", "main"]).stdout);
    let expected = "notes.txt: skipped in upstream's revision: a Git LFS pointer";
    assert!(upgraded.contains(expected), "{upgraded}");
    world.commit("without notes");
    world.folder.put(
        "catalog/web/app.yaml",
        super::deployment(1, "app:4", "64Mi"),
    );
    world.folder.commit("again");
    let again = world.krmv(&["upgrade", "web", "main"]);
    again.assert_code(0);
    assert!(!again.stdout.contains("skipped"), "{}", again.stdout);
}

#[test]
fn links_in_place_of_files_are_named() {
    let world = World::with_package();
    std::fs::rename(world.path("web/app.yaml"), world.path("shared.yaml")).expect("a move");
    std::os::unix::fs::symlink("../shared.yaml", world.path("web/app.yaml")).expect("a link");
    std::os::unix::fs::symlink("nowhere", world.path("web/own.yaml")).expect("a link");
    world.commit("a link");
    let upgraded = world.krmv(&["upgrade", "web", "v1.1.0"]).stdout;
    let expected = "app.yaml: skipped in your package: link to a file outside";
    assert!(upgraded.contains(expected), "{upgraded}");
    assert!(!upgraded.contains("own.yaml"), "{upgraded}");
}

#[test]
fn files_that_git_ignores_are_guarded() {
    let world = World::edited();
    world
        .folder
        .put("catalog/web/app.env", "A=1\nB=1\nC=1\nD=1\n");
    world.release(
        "v3.1.0",
        &super::deployment(1, "app:1", "64Mi"),
        super::SERVICE,
    );
    world.write(".gitignore", "*.env\n");
    world.krmv(&["upgrade", "web", "v3.1.0"]).assert_code(0);
    expect![[r#"
        A=1
        B=1
        C=1
        D=1
    "#]]
    .assert_eq(&world.read("web/app.env"));
    world.commit("v3.1.0");
    world.write("web/app.env", "A=1\nB=1\nC=1\nD=ours\n");
    world
        .folder
        .put("catalog/web/app.env", "A=2\nB=1\nC=1\nD=1\n");
    world.folder.put("catalog/web/new.env", "C=1\n");
    world.release(
        "v3.2.0",
        &super::deployment(3, "app:1", "64Mi"),
        super::SERVICE,
    );

    let refused = world.krmv(&["upgrade", "web"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("Git ignores 'web/app.env'"),
        "{}",
        refused.stderr
    );
    expect![[r#"
        A=1
        B=1
        C=1
        D=ours
    "#]]
    .assert_eq(&world.read("web/app.env"));
    world.krmv(&["upgrade", "web", "--dry-run"]).assert_code(1);

    world
        .folder
        .git_in("own", &["add", "--force", "web/app.env"]);
    world.commit("what Git ignored");
    assert_eq!(world.krmv(&["upgrade", "web"]).code, Some(1));
    let aborted = world.krmv(&["upgrade", "web", "--abort"]);
    aborted.assert_code(0);
    expect![[r#"
        A=1
        B=1
        C=1
        D=ours
    "#]]
    .assert_eq(&world.read("web/app.env"));
    let stdout = aborted
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        stdout.contains("because Git does not see their edits: new.env"),
        "{stdout}"
    );
}

#[test]
fn files_whose_edits_git_does_not_see_are_guarded() {
    for mark in ["assume-unchanged", "skip-worktree"] {
        let world = World::edited();
        world.write("web/own.txt", "own\n");
        world.commit("own");
        for file in ["web/service.yaml", "web/own.txt"] {
            let set = ["update-index", &format!("--{mark}"), file];
            world.folder.git_in("own", &set);
            world.write(file, &(world.read(file) + "  sessionAffinity: ClientIP\n"));
        }
        let edited = world.read("web/service.yaml");
        assert_eq!(world.folder.git_in("own", &["status", "--short"]), "");
        let refused = world.krmv(&["upgrade", "web"]);
        refused.assert_code(2);
        let expected = format!("Git ignores edits of 'web/service.yaml' ({mark})");
        assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
        assert_eq!(world.read("web/service.yaml"), edited);
        // The hint lets Git see the edit, and then the edit needs a commit.
        world.shell(hints(&refused.stderr)[0]).assert_code(0);
        let refused = world.krmv(&["upgrade", "web"]);
        assert!(refused.stderr.contains("uncommitted"), "{}", refused.stderr);
        world.commit("edit");
        world.krmv(&["upgrade", "web"]).assert_code(1);
        let aborted = world.krmv(&["upgrade", "web", "--abort"]);
        aborted.assert_code(0);
        assert_eq!(world.read("web/service.yaml"), edited);
        assert!(world.read("web/app.yaml").contains("replicas: 5 # by load"));
        // A file that the upgrade did not change is not restored either.
        assert_ne!(world.read("web/own.txt"), "own\n");
        assert!(aborted.stdout.contains("own.txt"), "{}", aborted.stdout);
    }
}

#[test]
fn files_that_a_sparse_checkout_leaves_out_are_not_removed_by_the_user() {
    let world = World::new();
    world.folder.put("catalog/web/sub/more.yaml", SERVICE);
    world.release("v3.1.0", &deployment(1, "app:1", "64Mi"), SERVICE);
    world
        .krmv(&["get", "../catalog//web@v3.1.0"])
        .assert_code(0);
    world.commit("get");
    world
        .folder
        .put("catalog/web/sub/more.yaml", SERVICE.replace("app", "more"));
    world.release("v3.2.0", &deployment(2, "app:1", "64Mi"), SERVICE);
    let sparse = ["sparse-checkout", "set", "--no-cone", "/*", "!/web/sub"];
    world.folder.git_in("own", &sparse);
    assert!(!world.path("web/sub").exists());
    for command in [["upgrade", "web"], ["diff", "web"], ["review", "web"]] {
        let refused = world.krmv(&command);
        refused.assert_code(2);
        let expected = "the sparse checkout leaves out files of 'web' (web/sub/more.yaml)";
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    let status = world.krmv(&["status", "web"]);
    assert!(
        status.stdout.contains("sparse checkout"),
        "{}",
        status.stdout
    );
    let refused = world.krmv(&["upgrade", "web"]);
    world.shell(hints(&refused.stderr)[0]).assert_code(0);
    world.krmv(&["upgrade", "web"]).assert_code(0);
    assert!(world.read("web/sub/more.yaml").contains("name: more"));
}

#[test]
fn markers_show_both_sides_in_the_files() {
    let world = World::edited();
    let outcome = world.krmv(&["upgrade", "web", "--markers"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let text = world.read("web/app.yaml");
    assert!(text.contains("<<<<<<< local\n  replicas: 5 # by load\n=======\n  replicas: 2 # by load\n>>>>>>> v2.0.0\n"), "{text}");
    assert!(!world.read("web/service.yaml").contains("<<<<"));
    assert_eq!(hints(&outcome.stdout), ["krmv resolve web --take file"]);
    // The list of changes reads the files without their markers.
    let report = &outcome.stdout;
    assert!(report.contains("  changed  Deployment/app  "), "{report}");
    assert!(!report.contains("  removed  Deployment/app"), "{report}");
    // Git has the three versions, as after a merge of its own.
    let staged = world.folder.git_in("own", &["ls-files", "--unmerged"]);
    let staged: Vec<&str> = staged
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(_, rest)| &rest[41..])
        .collect();
    assert_eq!(
        staged,
        [1, 2, 3].map(|stage| format!("{stage}\tweb/app.yaml"))
    );
    let versions = [1, 2, 3].map(|stage| {
        let file = format!(":{stage}:web/app.yaml");
        world.folder.git_in("own", &["show", &file])
    });
    for (version, replicas) in versions.iter().zip(["1", "5 # by load", "2"]) {
        assert!(
            version.contains(&format!("replicas: {replicas}\n")),
            "{version}"
        );
    }
    let refused = world.krmv(&["resolve", "web", "--take", "file"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("still has conflict markers"),
        "{}",
        refused.stderr
    );
    let listed = world.krmv(&["resolve", "web"]);
    assert_eq!(listed.code, Some(1), "{}", listed.stderr);
    assert_eq!(world.read("web/app.yaml"), text);
    let by_hand = super::deployment(4, "app:3", "200Mi");
    world.write("web/app.yaml", &by_hand);
    let settled = world.krmv(&["resolve", "web", "--take", "file"]);
    settled.assert_code(0);
    assert_eq!(world.read("web/app.yaml"), by_hand);
    assert!(!world.read("web/Kptfile").contains("v1.0.0"));
}

#[test]
fn a_file_without_a_final_line_break_gets_none_from_markers() {
    let world = World::with_package();
    world.write("web/notes.txt", "mine");
    world.commit("notes");
    world
        .krmv(&["upgrade", "web", "v2.0.0", "--markers"])
        .assert_code(1);
    assert!(
        world
            .read("web/notes.txt")
            .contains("<<<<<<< local\nmine\n")
    );
    world
        .krmv(&["resolve", "web", "--take", "local"])
        .assert_code(0);
    assert_eq!(world.read("web/notes.txt"), "mine");
}

#[test]
fn a_name_that_begins_with_a_dash_is_not_a_flag_in_a_hint() {
    let world = World::new();
    let release = |tag: &str, text: &str| {
        world.folder.put("catalog/-dash/-f.txt", text);
        world.folder.commit(tag);
        world.folder.git(&["tag", tag]);
    };
    release("v4.0.0", "one\n");
    release("v5.0.0", "two\n");
    let outcome = world.krmv(&["get", "../catalog//-dash@v4.0.0"]);
    let next = hints(&outcome.stdout)[0];
    assert_eq!(world.shell(next).code, Some(3), "{next}");
    world.write("-dash/-f.txt", "mine\n");
    world.commit("edit");
    let mut outcome = world.krmv(&["upgrade", "./-dash", "v5.0.0"]);
    outcome.assert_code(1);
    for _ in 0..2 {
        let next = hints(&outcome.stdout)[0].to_owned();
        outcome = world.shell(&next);
        assert_eq!(outcome.code, Some(0), "{next}: {}", outcome.stderr);
    }
}

#[test]
fn markers_go_where_a_side_is_taken_for_the_whole_file() {
    for (side, replicas) in [
        ("local", "replicas: 5 # by load"),
        ("upstream", "replicas: 2 # by load"),
    ] {
        let world = World::edited();
        assert_eq!(world.krmv(&["upgrade", "web", "--markers"]).code, Some(1));
        let one = world.krmv(&["resolve", "web", "--take", side, "spec.replicas"]);
        assert_eq!(one.code, Some(2), "{}", one.stdout);
        let all = world.krmv(&["resolve", "web", "--take", side]);
        all.assert_code(0);
        let text = world.read("web/app.yaml");
        assert!(text.contains(replicas) && !text.contains("<<<"), "{text}");
    }
}

#[test]
fn json_has_the_conflicts() {
    let world = World::edited();
    let json = world.json(&["upgrade", "web"]);
    assert_eq!(json["to"], "v2.0.0");
    assert_eq!(json["conflicts"][0]["local"], "5");
    assert_eq!(json["conflicts"][0]["file"], "app.yaml");
    assert_eq!(json["written"], true);
}

#[test]
fn taking_upstream_at_once_equals_taking_it_afterwards() {
    let begin = || {
        let world = World::with_package();
        let full = deployment(1, "app:1", "64Mi");
        let at = full.find("        resources:").expect("resources");
        world.release("v4.0.0", &full[..at], SERVICE);
        world.folder.git(&["rm", "--quiet", "web/service.yaml"]);
        world.folder.commit("no service");
        world.folder.git(&["tag", "v5.0.0"]);
        let text = world.read("web/app.yaml") + "            cpu: 1\n";
        world.write("web/app.yaml", &text);
        let text = world.read("web/service.yaml");
        let text = text.replace("ClusterIP", "NodePort");
        world.write("web/service.yaml", &text);
        world.commit("edits");
        world
    };
    let world = begin();
    let outcome = world.krmv(&["upgrade", "web", "v5.0.0", "--take", "upstream"]);
    outcome.assert_code(0);
    assert!(outcome.stdout.contains("2 conflicts decided"));
    let at_once = world.read("web/app.yaml");
    assert!(!at_once.contains("cpu"), "{at_once}");
    assert!(!world.path("web/service.yaml").exists());
    let world = begin();
    world.krmv(&["upgrade", "web", "v5.0.0"]).assert_code(1);
    assert!(world.read("web/app.yaml").contains("cpu"));
    assert!(world.path("web/service.yaml").exists());
    world
        .krmv(&["resolve", "web", "--take", "upstream"])
        .assert_code(0);
    assert_eq!(world.read("web/app.yaml"), at_once);
    assert!(!world.path("web/service.yaml").exists());
}

#[test]
fn files_that_krmignore_leaves_out_are_named_where_upstream_changed_them() {
    let world = World::new();
    for (tag, value) in [("v4.0.0", "1"), ("v5.0.0", "2")] {
        world.folder.put("catalog/web/.krmignore", "gen/\n");
        let values = format!("a: {value}\n");
        world.folder.put("catalog/web/gen/values.yaml", values);
        world.folder.commit(tag);
        world.folder.git(&["tag", tag]);
    }
    world
        .krmv(&["get", "../catalog//web@v4.0.0"])
        .assert_code(0);
    world.commit("get");
    let outcome = world.krmv(&["upgrade", "web", "v5.0.0"]);
    outcome.assert_code(0);
    assert_eq!(world.read("web/gen/values.yaml"), "a: 1\n");
    // The line is wrapped.
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    let named = "leaves out 1 file that upstream changed, added or removed: `gen/values.yaml`";
    assert!(words.join(" ").contains(named), "{}", outcome.stdout);
}

#[test]
fn a_newer_sibling_in_the_locked_commit_is_an_upgrade() {
    let world = World::new();
    for version in ["0.9", "0.10"] {
        let path = format!("catalog/task/clone/{version}/task.yaml");
        world.folder.put(&path, deployment(1, version, "64Mi"));
    }
    world.folder.commit("tasks");
    for name in ["one", "two"] {
        let source = "../catalog//task/clone/0.9@main";
        world.krmv(&["get", source, name]).assert_code(0);
    }
    world.commit("get");
    let status = world.krmv(&["status", "one"]);
    status.assert_code(3);
    assert!(
        status.stdout.contains("task/clone/0.10"),
        "{}",
        status.stdout
    );
    let upgrade = world.krmv(&["upgrade", "one"]);
    upgrade.assert_code(0);
    let step = "one: task/clone/0.9 -> task/clone/0.10\n";
    assert!(upgrade.stdout.starts_with(step), "{}", upgrade.stdout);
    world.commit("upgrade");
    world.krmv(&["upgrade", "--all"]).assert_code(0);
    for name in ["one", "two"] {
        assert!(
            world
                .read(&format!("{name}/task.yaml"))
                .contains("image: 0.10")
        );
        assert!(
            world
                .read(&format!("{name}/Kptfile"))
                .contains("/task/clone/0.10\n")
        );
        world.krmv(&["status", name]).assert_code(0);
    }
}
