//! What is wrong, and what to do next.

use super::{World, hints};

/// A failure with code 2 and at least one hint; the message.
fn refused(world: &World, folder: &str, arguments: &[&str]) -> String {
    let outcome = world.krmv_in(folder, arguments);
    assert_eq!(
        outcome.code,
        Some(2),
        "{arguments:?}: {}{}",
        outcome.stdout,
        outcome.stderr
    );
    assert!(
        !hints(&outcome.stderr).is_empty(),
        "{arguments:?}: {}",
        outcome.stderr
    );
    outcome.stderr
}

#[test]
fn a_directory_without_kptfile() {
    let world = World::with_package();
    world.write("bare/app.yaml", super::SERVICE);
    world.write("web/deep/x.txt", "x\n");
    for command in ["upgrade", "resolve", "diff", "status"] {
        let said = refused(&world, "own", &[command, "bare"]);
        assert!(said.contains("'bare' is not a package"), "{said}");
        let said = refused(&world, "own/web/deep", &[command, "."]);
        assert!(said.contains("hint: krmv status ..\n"), "{said}");
    }
    assert!(refused(&world, "own", &["upgrade", "nowhere"]).contains("nowhere"));
}

#[test]
fn a_kptfile_without_upstream() {
    let world = World::new();
    world.write(
        "web/Kptfile",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n",
    );
    for command in ["upgrade", "resolve", "diff", "status"] {
        let said = refused(&world, "own", &[command, "web"]);
        assert!(
            said.contains("upstreamLock") && said.contains("--adopt"),
            "{said}"
        );
    }
}

#[test]
fn a_lock_whose_commit_is_nowhere() {
    let world = World::with_package();
    let text = world
        .read("web/Kptfile")
        .replace(&world.commit_of("v1.0.0"), &"1".repeat(40));
    world.write("web/Kptfile", &text);
    world.commit("broken");
    let said = refused(&world, "own", &["upgrade", "web"]);
    assert!(said.contains("cannot read the original revision"), "{said}");
    let mut hints = hints(&said).into_iter();
    let adopt = hints.find(|hint| hint.starts_with("krmv get --adopt"));
    world.shell(adopt.expect(&said)).assert_code(0);
    let locked = world.commit_of("v1.0.0");
    assert!(world.read("web/Kptfile").contains(&locked));
    // This lock can be read.
    let said = refused(&world, "own", &["get", "--adopt", "../catalog//web", "web"]);
    assert!(said.contains("already has a lock"), "{said}");
}

#[test]
fn a_moved_tag_is_a_new_revision() {
    let world = World::with_package();
    // The lock's commit is still in the repository; the tag is elsewhere.
    world
        .folder
        .git(&["tag", "-f", "-a", "-m", "x", "v1.0.0", "v1.1.0"]);
    let outcome = world.krmv(&["upgrade", "web", "v1.0.0"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(world.read("web/app.yaml").contains("app:2"));
    assert!(
        world
            .read("web/Kptfile")
            .contains(&world.commit_of("v1.1.0"))
    );
}

#[test]
fn a_repository_that_moved_or_is_empty() {
    let world = World::with_package();
    world.folder.git_in("", &["init", "--quiet", "empty"]);
    assert!(refused(&world, "own", &["get", "../empty"]).contains("is empty"));
    std::fs::rename(world.folder.path("catalog"), world.folder.path("moved")).expect("a move");
    let said = refused(&world, "own", &["upgrade", "web"]);
    assert!(said.contains("is not a Git repository"), "{said}");
    let said = refused(&world, "own", &["get", "../catalog//web"]);
    assert!(said.contains("'../catalog' does not exist"), "{said}");
}

#[test]
fn a_remote_that_cannot_be_reached_or_asks_for_a_password_is_an_error() {
    let world = World::new();
    let said = refused(
        &world,
        "own",
        &["get", "ssh://git@127.0.0.1:1/o/r.git/web@v1"],
    );
    assert!(
        said.contains("cannot read ssh://git@127.0.0.1:1/o/r"),
        "{said}"
    );
    assert!(
        said.contains("hint: git ls-remote ssh://git@127.0.0.1:1/o/r"),
        "{said}"
    );
}

/// A server that wants a password for everything.
#[test]
fn a_remote_that_asks_for_a_password() {
    use std::io::{Read, Write};
    let world = World::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in server.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                          Content-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let address = format!("http://127.0.0.1:{port}/o/r");
    let said = refused(&world, "own", &["get", &format!("{address}.git/web@v1")]);
    assert!(said.contains(&format!("cannot read {address}")), "{said}");
    assert!(
        said.contains("Username") || said.contains("Authentication"),
        "{said}"
    );
    assert!(
        said.contains(&format!("hint: git ls-remote {address}")),
        "{said}"
    );
}

#[test]
fn a_repository_that_moved_is_found_at_its_new_address() {
    let world = World::with_package();
    std::fs::rename(world.folder.path("catalog"), world.folder.path("moved")).expect("a move");
    let said = refused(&world, "own", &["upgrade", "web"]);
    assert!(
        said.contains("catalog', where the package comes from"),
        "{said}"
    );
    let text = world.read("web/Kptfile").replace("/catalog", "/moved");
    world.write("web/Kptfile", &text);
    world.commit("moved");
    world.krmv(&["upgrade", "web", "v1.1.0"]).assert_code(0);
}

#[test]
fn an_upstream_directory_that_moved_is_followed() {
    let world = World::edited();
    world.move_to_shop(&super::deployment(4, "app:4", "64Mi"));
    assert!(
        world
            .krmv(&["status"])
            .stdout
            .contains("v4.0.0: 1 conflict")
    );
    let outcome = world.krmv(&["upgrade", "web", "v4.0.0"]);
    outcome.assert_code(1);
    assert!(
        outcome.stdout.contains("path in upstream: web -> shop"),
        "{}",
        outcome.stdout
    );
    let kptfile = world.read("web/Kptfile");
    let directories =
        ["/shop", "/web"].map(|path| kptfile.matches(&format!("directory: {path}\n")).count());
    assert_eq!(directories, [1, 1], "{kptfile}");
    world
        .krmv(&["resolve", "web", "--take", "local"])
        .assert_code(0);
    let kptfile = world.read("web/Kptfile");
    assert_eq!(
        kptfile.matches("directory: /shop\n").count(),
        2,
        "{kptfile}"
    );
    assert!(world.read("web/app.yaml").contains("app:4"));
    world.commit("upgrade");
    world.krmv(&["diff", "web"]).assert_code(0);
}

#[test]
fn a_directory_that_upstream_removed_is_named() {
    let world = World::with_package();
    world.folder.git(&["rm", "-r", "--quiet", "web"]);
    world.folder.put("catalog/other/x.txt", "x\n");
    world.folder.commit("remove");
    world.folder.git(&["tag", "v4.0.0"]);
    let said = refused(&world, "own", &["upgrade", "web", "v4.0.0"]);
    assert!(said.contains("web"), "{said}");
}

/// A limit for the size of files stands for a disk that gets full: the package is as it was, or as a whole run leaves it.
#[test]
#[cfg(unix)]
fn a_full_disk_leaves_old_files_or_new_ones() {
    let files = ["app.yaml", "service.yaml", "notes.txt", "Kptfile"];
    let read = |world: &World| files.map(|file| world.read(&format!("web/{file}")));
    let mut codes = std::collections::BTreeSet::new();
    for limit in 0..4 {
        let world = World::edited();
        let old = read(&world);
        let script = format!(
            "trap '' XFSZ; ulimit -f {limit}; exec {} upgrade web v2.0.0",
            super::KRMV
        );
        let outcome = world.shell(&script);
        let now = read(&world);
        if outcome.code == Some(2) {
            assert!(
                !hints(&outcome.stderr).is_empty(),
                "{limit}: {}",
                outcome.stderr
            );
            assert_eq!(now, old, "{limit}");
        }
        codes.insert(outcome.code);
        world.krmv(&["upgrade", "web", "v2.0.0"]).assert_code(1);
        let text = world.read("web/app.yaml");
        assert!(
            text.contains("image: app:3") && text.contains("replicas: 5"),
            "{limit}: {text}"
        );
    }
    assert!(codes.contains(&Some(2)), "{codes:?}");
}

#[test]
#[cfg(unix)]
fn a_directory_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::edited();
    let mode = |mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.path("web"), mode).expect("a mode");
    };
    mode(0o555);
    // Root may write everywhere.
    let is_root = std::fs::write(world.path("web/probe"), "").is_ok();
    let text = world.read("web/app.yaml");
    let outcome = world.krmv(&["upgrade", "web", "v2.0.0"]);
    mode(0o755);
    if !is_root {
        outcome.assert_code(2);
        assert!(
            outcome.stderr.contains("Permission denied"),
            "{}",
            outcome.stderr
        );
        assert_eq!(hints(&outcome.stderr).len(), 1);
        assert_eq!(world.read("web/app.yaml"), text);
    }
}

#[test]
fn a_tag_that_was_moved_upstream_does_not_lose_the_original() {
    let world = World::edited();
    let locked = world.commit_of("v1.0.0");
    world
        .folder
        .git(&["tag", "-f", "-a", "-m", "x", "v1.0.0", "v2.0.0"]);
    let outcome = world.krmv(&["diff", "web"]);
    outcome.assert_code(0);
    assert!(
        outcome.stdout.contains("-  replicas: 1"),
        "{}",
        outcome.stdout
    );
    let json = world.json(&["status"]);
    assert_eq!(json["packages"][0]["commit"], locked.as_str());
}

#[test]
fn variables_that_git_sets_for_a_hook_are_ignored() {
    for variable in [
        "GIT_DIR",
        "GIT_COMMON_DIR",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_GLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
    ] {
        let world = World::edited();
        let mut command = world.command(super::KRMV.as_ref());
        command
            .args(["upgrade", "web", "v1.1.0"])
            .env(variable, "1");
        super::outcome(command).assert_code(0);
    }
}

/// A linked work tree whose main work tree moved, or the repository of another user.
#[test]
fn a_repository_that_git_refuses() {
    let world = World::edited();
    std::fs::rename(world.path(".git"), world.folder.path("moved")).expect("a move");
    world.write(".git", "gitdir: /nowhere/at/all\n");
    for arguments in [
        ["upgrade", "web"],
        ["review", "web"],
        ["blame", "web/app.yaml"],
    ] {
        let said = refused(&world, "own", &arguments);
        let expected = "cannot read the repository of 'web': git: fatal: not a git repository: ";
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("hint: git status"), "{said}");
    }
    world
        .krmv(&["upgrade", "web", "v1.1.0", "--force"])
        .assert_code(0);
    // Git passes over an empty folder.
    std::fs::remove_file(world.path(".git")).expect("a file");
    std::fs::create_dir(world.path(".git")).expect("a folder");
    world.krmv(&["upgrade", "web", "v2.0.0"]).assert_code(1);
}

#[test]
fn offline_reads_the_cache_only() {
    let world = World::new();
    let said = world.krmv(&["get", "https://127.0.0.1:1/o/r.git/web@v1", "--offline"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("is not in the cache"),
        "{}",
        said.stderr
    );
}

#[test]
fn no_git_on_path() {
    let world = World::with_package();
    let mut command = world.command(super::KRMV.as_ref());
    command
        .args(["upgrade", "web"])
        .env("PATH", world.path("nothing"));
    let outcome = super::outcome(command);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("cannot find `git` on PATH"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_missing_revision() {
    let world = World::with_package();
    let said = refused(&world, "own", &["upgrade", "web", "v1.2.0"]);
    assert!(
        said.contains("the nearest are v1.0.0") || said.contains("the nearest are v1.1.0"),
        "{said}"
    );
    assert!(refused(&world, "own", &["get", "../catalog//wbe@v1.0.0"]).contains("web"));
}

#[test]
fn crlf_line_endings_stay() {
    let world = World::with_package();
    for file in ["Kptfile", "app.yaml"] {
        let text = world.read(&format!("web/{file}")).replace('\n', "\r\n");
        world.write(&format!("web/{file}"), &text);
    }
    world.commit("crlf");
    let outcome = world.krmv(&["upgrade", "web", "v1.1.0"]);
    outcome.assert_code(0);
    for file in ["Kptfile", "app.yaml"] {
        let text = world.read(&format!("web/{file}"));
        assert_eq!(
            text.matches('\n').count(),
            text.matches("\r\n").count(),
            "{text:?}"
        );
    }
    assert!(world.read("web/app.yaml").contains("app:2"));
}

/// The files of a checkout with `core.autocrlf`.
#[test]
fn other_line_endings_are_not_edits() {
    let world = World::with_package();
    for file in ["Kptfile", "app.yaml", "service.yaml", "notes.txt"] {
        let text = world.read(&format!("web/{file}")).replace('\n', "\r\n");
        world.write(&format!("web/{file}"), &text);
    }
    world.commit("crlf");
    assert_eq!(world.krmv(&["diff", "web"]).stdout, "");
    assert_eq!(world.json(&["status"])["packages"][0]["edits"], 0);
    world.edit_app();
    let diff = world.krmv(&["diff", "web"]).stdout;
    let changed = diff.lines().filter(|line| line.starts_with(['+', '-']));
    assert_eq!(changed.count(), 4, "{diff}");
    world.folder.git(&["rm", "--quiet", "web/notes.txt"]);
    world.folder.commit("less");
    world
        .krmv(&["upgrade", "web", "main", "--take", "local"])
        .assert_code(0);
    assert!(!world.path("web/notes.txt").exists());
}

#[test]
fn a_package_inside_another_is_a_separate_package() {
    let world = World::with_package();
    let outcome = world.krmv(&["get", "../catalog//web@v1.1.0", "web/inner"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    world.commit("inner");
    let json = world.json(&["status"]);
    let paths: Vec<&str> = (0..2)
        .filter_map(|at| json["packages"][at]["path"].as_str())
        .collect();
    assert_eq!(paths, ["web", "web/inner"]);
    let inner = world.read("web/inner/Kptfile");
    assert_eq!(world.krmv(&["upgrade", "web", "v2.0.0"]).code, Some(0));
    assert_eq!(world.read("web/inner/Kptfile"), inner);
}

#[test]
fn without_a_terminal_it_lists_and_asks_nothing() {
    let world = World::open();
    let outcome = world.krmv(&["resolve", "web"]);
    assert_eq!(outcome.code, Some(1));
    assert!(!outcome.stdout.contains("decide ["), "{}", outcome.stdout);
    assert!(!hints(&outcome.stdout).is_empty());
}

#[test]
fn two_runs_at_once_wait_for_each_other() {
    let world = World::with_package();
    let _lock = krm_package::PackageLock::acquire(&world.path("web")).expect("a lock");
    let said = refused(&world, "own", &["upgrade", "web"]);
    assert!(said.contains("another krmv works on 'web'"), "{said}");
}

#[test]
fn remains_of_a_killed_run_do_not_count_as_edits() {
    let world = World::with_package();
    let left = "web/.krm-variants-0-1-2-AbCdEf.tmp";
    world.write(left, "half of a file\n");
    let outcome = world.krmv(&["upgrade", "web", "v1.1.0"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(world.read("web/app.yaml").contains("app:2"));
}
