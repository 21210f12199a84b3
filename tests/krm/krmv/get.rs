//! `krmv get`.

use indoc::indoc;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use super::{KRMV, SERVICE, World, deployment, hints, outcome};
use crate::git::Folder;

#[test]
fn a_new_package_equals_what_kpt_pkg_get_writes() {
    let Some(kpt) = super::on_path("kpt") else {
        return;
    };
    let world = World::new();
    world.folder.put(
        "catalog/flow/Kptfile",
        indoc! {"
            apiVersion: kpt.dev/v1
            kind: Kptfile
            metadata:
              name: flow
            info:
              description: x
        "},
    );
    world.folder.put(
        "catalog/flow/cm.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: cm
              namespace: n
            data: {}
        "},
    );
    world.folder.put("catalog/flow/deep/run.sh", "#!/bin/sh\n");
    world.folder.commit("flow");
    world.folder.git(&["tag", "flow/v4"]);
    for (directory, revision) in [("web", "v1.0.0"), ("flow", "v4")] {
        let source = format!(
            "file://{}/.git/{directory}@{revision}",
            world.folder.path("catalog").display()
        );
        let mut command = world.command(&kpt);
        command.args(["pkg", "get", &source, &format!("kpt/{directory}")]);
        std::fs::create_dir_all(world.path("kpt")).expect("a folder");
        let outcome = super::outcome(command);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let outcome = world.krmv(&["get", &source, &format!("ours/{directory}")]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        for (path, text) in files(&world, &format!("kpt/{directory}")) {
            let ours = world.read(&format!("ours/{directory}/{path}"));
            // kpt writes the repository with a slash at its end.
            let text = text.replace("catalog/\n", "catalog\n");
            // kpt names the object of an annotated tag.
            let tag = world.folder.git(&["rev-parse", "v1.0.0"]);
            let text = text.replace(&tag, &world.commit_of("v1.0.0"));
            // Without a Kptfile, upstream is not kpt's.
            let is_of_kpt = directory == "flow" || path == "Kptfile";
            if is_of_kpt {
                assert_eq!(ours, text, "{directory}/{path}");
            } else {
                let object = format!("{revision}:{directory}/{path}");
                let upstream = world.folder.git(&["show", &object]);
                assert_eq!(ours.trim(), upstream.trim(), "{directory}/{path}");
            }
        }
        let [kpt, ours] =
            ["kpt", "ours"].map(|who| files(&world, &format!("{who}/{directory}")).len());
        assert_eq!(kpt, ours);
    }
}

fn files(world: &World, folder: &str) -> Vec<(String, String)> {
    let listed = world
        .folder
        .git_in("own", &["ls-files", "--others", "--cached", folder]);
    let strip = |path: &str| {
        path.strip_prefix(&format!("{folder}/"))
            .expect("below")
            .to_owned()
    };
    listed
        .lines()
        .map(|path| (strip(path), world.read(path)))
        .collect()
}

#[test]
fn without_a_revision_it_is_the_newest_final_release() {
    let world = World::new();
    let outcome = world.krmv(&["get", "../catalog//web"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(world.read("web/Kptfile").contains("ref: v2.0.0"));
    assert_eq!(hints(&outcome.stdout), ["krmv status web"]);
    let commit = world.commit_of("v2.0.0");
    assert!(outcome.stdout.contains(&commit[..12]), "{}", outcome.stdout);
}

#[test]
fn a_source_has_many_forms() {
    let world = World::new();
    let catalog = world.folder.path("catalog");
    let catalog = catalog.display();
    for (number, (source, revision)) in [
        ("../catalog/web@v1.0.0".to_owned(), "v1.0.0"),
        (format!("{catalog}//web@~1.0"), "v1.0.0"),
        (format!("{catalog}/.git/web@v1.1.0"), "v1.1.0"),
        (format!("file://{catalog}//web@main"), "main"),
        (format!("file://{catalog}/web@latest"), "v2.0.0"),
        ("../catalog//web?ref=v1.1".to_owned(), "v1.1.0"),
    ]
    .iter()
    .enumerate()
    {
        let directory = format!("web{number}");
        let outcome = world.krmv(&["get", source, &directory]);
        assert_eq!(outcome.code, Some(0), "{source}: {}", outcome.stderr);
        let kptfile = world.read(&format!("{directory}/Kptfile"));
        assert!(
            kptfile.contains(&format!("name: {directory}\n")),
            "{source}: {kptfile}"
        );
        assert!(
            kptfile.contains(&format!("ref: {revision}\n")),
            "{source}: {kptfile}"
        );
        assert!(kptfile.contains("directory: /web\n"), "{source}: {kptfile}");
    }
}

#[test]
fn a_package_goes_below_a_directory_that_exists() {
    let world = World::new();
    world.write("apps/here.txt", "x\n");
    assert_eq!(
        world.krmv(&["get", "../catalog//web@v1.0.0", "apps"]).code,
        Some(0)
    );
    assert!(world.path("apps/web/Kptfile").is_file());
    let before = files(&world, "apps");
    let again = world.krmv(&["get", "../catalog//web@v1.0.0", "apps"]);
    again.assert_code(0);
    assert!(
        again
            .stdout
            .starts_with("apps/web: already there at v1.0.0\n")
    );
    // Also where the package itself is named: never a copy inside.
    for directory in ["apps", "apps/web"] {
        let newer = world.krmv(&["get", "../catalog//web@v1.1.0", directory]);
        newer.assert_code(2);
        assert_eq!(hints(&newer.stderr), ["krmv upgrade apps/web v1.1.0"]);
    }
    assert_eq!(files(&world, "apps"), before);
}

/// What is left of a run that was killed before it wrote the first file.
#[test]
fn a_killed_get_is_completed_by_the_same_command() {
    let world = World::new();
    for directory in ["p", "q"] {
        world.write(&format!("{directory}/.krm-variants-0-1-2-x.tmp"), "x");
        std::fs::create_dir(world.path(directory).join("sub")).expect("a folder");
    }
    let source = "../catalog//web@v1.0.0";
    world.krmv(&["get", source, "p"]).assert_code(0);
    assert!(world.path("p/Kptfile").is_file() && !world.path("p/web").exists());
    // A file of the user: the package goes below.
    world.write("q/mine.txt", "x");
    world.krmv(&["get", source, "q"]).assert_code(0);
    assert!(world.path("q/web/Kptfile").is_file());
}

#[test]
fn one_file_is_a_package() {
    let world = World::new();
    let outcome = world.krmv(&["get", "../catalog//web/app.yaml@v1.0.0", "app"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(!world.path("app/service.yaml").exists());
    assert!(
        world
            .read("app/Kptfile")
            .contains("fn.kpt.dev/upstream-file: app.yaml")
    );
    world.write("app/own.yaml", SERVICE_OF_OWN);
    world.commit("get");
    let outcome = world.krmv(&["upgrade", "app", "v1.1.0"]);
    outcome.assert_code(0);
    assert!(world.read("app/app.yaml").contains("image: app:2"));
    assert_eq!(world.read("app/own.yaml"), SERVICE_OF_OWN);
    assert!(!world.path("app/service.yaml").exists());
}

const SERVICE_OF_OWN: &str = "apiVersion: v1\nkind: Service\nmetadata:\n  name: own\n";

#[test]
fn a_copy_is_adopted_by_its_content() {
    let world = World::new();
    world.write("copy/app.yaml", &super::deployment(5, "app:2", "64Mi"));
    world.write("copy/service.yaml", super::SERVICE);
    let outcome = world.krmv(&["get", "--adopt", "../catalog//web", "copy"]);
    outcome.assert_code(0);
    assert!(
        world.read("copy/Kptfile").contains("ref: v1.1.0"),
        "{}",
        world.read("copy/Kptfile")
    );
    let outcome = world.krmv(&["upgrade", "copy", "v2.0.0", "--force"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
}

/// A program in place of `ssh` that serves the repositories here.
fn ssh(world: &World) -> String {
    let script = "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n";
    world.folder.put("ssh", script);
    format!("sh {}", world.folder.path("ssh").display())
}

#[test]
fn a_remote_with_sha_256_has_a_clone_with_it() {
    let folder = Folder::new(&["--object-format=sha256"]);
    let world = World { folder };
    world.release("v1.0.0", &deployment(1, "app:1", "64Mi"), SERVICE);
    std::fs::create_dir(world.path("")).expect("a folder");
    let catalog = world.folder.path("catalog");
    let source = format!("ssh://git@example.com{}//web", catalog.display());
    let mut command = world.command(Path::new(KRMV));
    command.env("GIT_SSH_COMMAND", ssh(&world));
    command.args(["get", &source]);
    outcome(command).assert_code(0);
    assert!(
        world
            .read("web/Kptfile")
            .contains(&world.commit_of("v1.0.0"))
    );
}

/// A copy over SSH, with `git` doing the talking.
#[test]
fn a_package_comes_over_ssh_and_is_upgraded_from_the_cache() {
    let world = World::new();
    let serve = ssh(&world);
    let run = |arguments: &[&str], serve: &str| {
        let mut command = world.command(Path::new(KRMV));
        command.env("GIT_SSH_COMMAND", serve).args(arguments);
        // The clone in the cache is a bare repository that no flag names.
        command.env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", "safe.bareRepository");
        command.env("GIT_CONFIG_VALUE_0", "explicit");
        outcome(command)
    };
    let catalog = world.folder.path("catalog");
    let source = format!("ssh://git@example.com{}//web@v1.0.0", catalog.display());
    run(&["get", &source], &serve).assert_code(0);
    let kptfile = world.read("web/Kptfile");
    assert!(
        kptfile.contains("repo: ssh://git@example.com/"),
        "{kptfile}"
    );
    world.commit("get");
    run(&["status", "web"], &serve);
    run(&["upgrade", "web", "v1.1.0", "--offline"], "false").assert_code(0);
    assert!(world.read("web/app.yaml").contains("app:2"));
    let said = run(&["upgrade", "web", "main"], "false");
    assert_ne!(said.code, Some(0), "{}", said.stdout);
    // The clone still has a branch that upstream deleted.
    world.folder.git(&["branch", "gone", "v1.0.0"]);
    let gone = source.replace("v1.0.0", "gone");
    run(&["get", &gone, "first"], &serve).assert_code(0);
    world.folder.git(&["branch", "-D", "gone"]);
    let said = run(&["get", &gone, "second"], &serve);
    said.assert_code(2);
    assert!(
        said.stderr.contains("no revision `gone`"),
        "{}",
        said.stderr
    );
    // The configuration of the repository counts for all of Git's commands.
    let config = |key: &str, value: &str| {
        world.folder.git_in("own", &["config", key, value]);
    };
    config("core.sshCommand", &serve);
    config(
        "url.ssh://git@example.com/.insteadOf",
        "https://example.com/",
    );
    let source = source.replace("ssh://git@", "https://");
    world.krmv(&["get", &source, "again"]).assert_code(0);
    world.krmv(&["status", "again"]).assert_code(3);
}

/// A server of files knows no shallow clones: the whole history is fetched.
#[test]
fn a_server_that_gives_no_single_commits_gives_its_history() {
    let world = World::new();
    let catalog = world.folder.path("catalog");
    world.folder.git(&["update-server-info"]);
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in server.incoming().flatten() {
            let mut request = String::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let _ = reader.read_line(&mut request);
            let path = request.split([' ', '?']).nth(1).unwrap_or_default();
            let path = path.trim_start_matches("/catalog/");
            let found = std::fs::read(catalog.join(".git").join(path));
            let status = if found.is_ok() {
                "200 OK"
            } else {
                "404 Not Found"
            };
            let body = found.unwrap_or_default();
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            // The rest of the request is read, or the connection is reset.
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let _ = stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(&body));
        }
    });
    let source = format!("http://127.0.0.1:{port}/catalog.git//web@v1.0.0");
    let outcome = world.krmv(&["get", &source]);
    outcome.assert_code(0);
    world.commit("get");
    world.krmv(&["upgrade", "web", "v1.1.0"]).assert_code(0);
    assert!(world.read("web/app.yaml").contains("app:2"));
}

#[test]
fn a_password_in_a_url_is_for_git_only() {
    let world = World::new();
    let catalog = format!("file://{}", world.folder.path("catalog").display());
    let clean = "https://e.invalid/catalog";
    for (user, copy) in [("me:s3cret", "a"), ("s3cret", "b")] {
        let given = clean.replace("://", &format!("://{user}@"));
        // Git gets the URL without the password, which is in its environment.
        let krmv = |known: &str, arguments: &[&str]| {
            let mut command = world.command(Path::new(KRMV));
            command.env("GIT_CONFIG_COUNT", "1");
            command.env("GIT_CONFIG_KEY_0", format!("url.{catalog}.insteadOf"));
            command.env("GIT_CONFIG_VALUE_0", known).args(arguments);
            let outcome = outcome(command);
            for text in [&outcome.stdout, &outcome.stderr] {
                assert!(!text.contains("s3cret"), "{text}");
            }
            outcome
        };
        let source = format!("{given}.git/web@v1.0.0");
        let got = krmv(clean, &["get", &source, copy]);
        got.assert_code(0);
        assert!(got.stdout.contains("credential helper"), "{}", got.stdout);
        let file = format!("{copy}/Kptfile");
        let text = world.read(&file);
        assert!(text.contains(&format!("repo: {clean}\n")), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
        krmv(clean, &["status", copy]).assert_code(3);
        // Errors and hints do not show it either.
        world.write("full/web/file", "");
        let again = krmv(clean, &["get", &source, "full"]);
        assert!(
            again.stderr.contains(&format!("--adopt {clean}")),
            "{}",
            again.stderr
        );
        krmv("none", &["get", &source, "other"]).assert_code(2);
        krmv(clean, &["get", &format!("{given}@"), "other"]).assert_code(2);
        // A user in a Kptfile stays, and works. A password is an error.
        world.write(&file, &text.replace(clean, &given));
        world.commit("a password");
        if user.contains(':') {
            let refused = krmv(&given, &["status", copy]);
            refused.assert_code(2);
            let expected = "upstream.git.repo: expected an address without a password";
            assert!(refused.stderr.contains(expected), "{}", refused.stderr);
            continue;
        }
        let diff = krmv(&given, &["diff", copy]);
        assert_eq!(diff.stdout, "", "{}", diff.stderr);
        krmv(&given, &["upgrade", copy]).assert_code(0);
        assert_eq!(world.read(&file).matches(&given).count(), 2);
        world.write(&file, &text.replace("upstream", "x"));
        krmv(clean, &["get", "--adopt", &source, copy]).assert_code(0);
        assert!(!world.read(&file).contains("s3cret"));
    }
    let cache = std::fs::read_dir(world.folder.path("cache/krmv")).expect("a cache");
    let names: Vec<_> = cache
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn a_typed_password_reaches_git_by_its_environment_only() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let log = world.folder.path("log");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{0}.arguments'\nenv >> '{0}.environment'\nexit 1\n",
        log.display()
    );
    world.folder.put("bin/git", script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.folder.path("bin/git"), mode).expect("a mode");
    let mut command = world.command(std::path::Path::new(super::KRMV));
    let path = std::env::var("PATH").expect("a PATH");
    command.env(
        "PATH",
        format!("{}:{path}", world.folder.path("bin").display()),
    );
    command.args(["get", "https://bob:hunt%21er2@127.0.0.1:1/r//web@v1"]);
    let output = command.output().expect("it runs");
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    let arguments = world.folder.get("log.arguments");
    let environment = world.folder.get("log.environment");
    assert!(arguments.contains("https://127.0.0.1:1/r"), "{arguments}");
    for text in [&arguments, &shown] {
        assert!(!text.contains("hunt") && !text.contains("bob"), "{text}");
    }
    assert!(environment.contains("KRMV_TYPED_PASSWORD=hunt!er2"));
    assert!(environment.contains("credential.https://127.0.0.1:1.helper"));
}

#[test]
fn a_repository_in_the_work_tree_of_the_package_is_refused() {
    let world = World::new();
    world
        .folder
        .git_in("", &["clone", "--quiet", "catalog", "own/copy"]);
    for arguments in [
        ["get", "copy//web@v1.0.0"],
        ["get", "../own/copy//web@v1.0.0"],
    ] {
        let outcome = world.krmv(&arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("outside of the work tree"),
            "{}",
            outcome.stderr
        );
        assert!(!world.path("web").exists());
    }
}

#[test]
fn a_missing_path_is_named_as_it_was_typed() {
    let world = World::with_package();
    let folder = world.folder.path("catalog").display().to_string();
    let nope = format!("{folder}-nope");
    for (source, what) in [
        ("nope", "'nope' does not exist"),
        ("web/none.yaml", "'web/none.yaml' does not exist"),
        ("../nope//p", "'../nope' does not exist"),
        (nope.as_str(), "-nope' does not exist"),
        ("/proc//p", "'/proc' is not in a Git repository"),
    ] {
        let outcome = world.krmv(&["get", source, "new"]);
        outcome.assert_code(2);
        assert!(
            outcome.stderr.contains(what),
            "{source}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn get_reports_the_revision_it_chose_and_what_the_package_follows() {
    let world = World::new();
    world.folder.git(&["tag", "stable"]);
    world.folder.git(&["tag", "web-chart-1.0.0"]);
    let commit = world.commit_of("v1.0.0");
    for (revision, what) in [
        ("", "v2.0.0 is the newest release"),
        ("@v1.0.0", ""),
        ("@main", "the package follows the branch main"),
        ("@stable", "this tag, which is not a release, when it moves"),
        ("@web-chart-1.0.0", "the releases named web-chart-VERSION"),
        (
            &format!("@{commit}"),
            "the next release that contains this commit",
        ),
    ] {
        let source = format!("../catalog//web{revision}");
        let outcome = world.krmv(&["get", &source, &format!("new{revision}")]);
        outcome.assert_code(0);
        let text = outcome
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(text.contains(what), "{text}");
        assert_eq!(
            what.is_empty(),
            !text.contains("follows") && !text.contains("newest"),
            "{text}"
        );
    }
}

#[test]
fn adopting_a_copy_of_something_else_prints_the_command_that_names_a_release() {
    let world = World::new();
    world.write(
        "copy/app.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: other
            data:
              a: b
        "},
    );
    world.commit("copy");
    let outcome = world.krmv(&["get", "--adopt", "../catalog//web", "copy"]);
    outcome.assert_code(1);
    let hints = hints(&outcome.stdout);
    let [hint] = &hints[..] else {
        panic!("{}", outcome.stdout);
    };
    let words = hint.starts_with("krmv get --adopt ") && hint.ends_with(" copy");
    assert!(words && hint.contains("//web@"), "{hint}");
    assert!(!world.folder.path("own/copy/Kptfile").exists());
}

#[test]
fn releases_of_several_kinds_are_named() {
    let world = World::new();
    for tag in ["v1.0.0", "v1.1.0", "v2.0.0", "v3.0.0-rc.1"] {
        world.folder.git_in("catalog", &["tag", "-d", tag]);
    }
    for tag in [
        "v1.2.3+k3s1",
        "v1.2.10+k3s1",
        "v1.2.4+rke2r1",
        "v2.0.0-rc1+k3s1",
    ] {
        world.folder.git_in("catalog", &["tag", tag]);
    }
    let outcome = world.krmv(&["get", "../catalog//web"]);
    outcome.assert_code(0);
    let kinds = "has several kinds of releases (v1.2.10+k3s1, v1.2.4+rke2r1)";
    let text = outcome.stdout.replace("\n    ", " ");
    assert!(text.contains(kinds), "{text}");
    let outcome = world.krmv(&["get", "../catalog//web@v1.2.3+k3s1", "k3s"]);
    let follows = "the package follows the releases named VERSION+kNsN";
    assert!(outcome.stdout.contains(follows), "{}", outcome.stdout);
}
