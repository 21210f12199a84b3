//! Nights of a bot: `tools/action/update.sh` in a fresh, shallow clone of a bare repository each time.

use expect_test::expect;
use std::path::Path;
use std::process::Command;

use super::{KRMV, World};

/// A world whose `own` has the bare repository `server.git` as `origin`, with the package `web` and two edits.
fn with_server() -> World {
    let world = World::edited();
    world
        .folder
        .git_in("own", &["clone", "--quiet", "--bare", ".", "../server.git"]);
    world
        .folder
        .git_in("own", &["remote", "add", "origin", "../server.git"]);
    world
}

struct Night {
    code: Option<i32>,
    output: String,
    review: String,
    said: String,
}

/// Runs the script in a new clone.
fn night(world: &World, clone: &str) -> Night {
    let at = |name: &str| world.folder.path(name);
    let server = format!("file://{}", at("server.git").display());
    world.folder.git_in(
        "own",
        &[
            "clone",
            "--quiet",
            "--depth=1",
            &server,
            &format!("../{clone}"),
        ],
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/action/update.sh");
    let mut command = world.command(Path::new("bash"));
    let programs = Path::new(KRMV).parent().expect("a folder").display();
    let path = std::env::var("PATH").expect("a PATH");
    command.arg(script).current_dir(at(clone));
    command.env("PATH", format!("{programs}:{path}"));
    command.env("GITHUB_OUTPUT", at(&format!("{clone}.out")));
    command.env("REVIEW", at(&format!("{clone}.md")));
    as_committer(&mut command, "bot");
    let output = command.output().expect("it runs");
    Night {
        code: output.status.code(),
        output: world.folder.get(&format!("{clone}.out")),
        review: world.folder.get(&format!("{clone}.md")),
        said: String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
    }
}

fn as_committer(command: &mut Command, name: &str) {
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), name);
        command.env(format!("GIT_{role}_EMAIL"), format!("{name}@example.com"));
    }
}

/// What a person does in a clone of the branch: a line for a shell.
fn person(world: &World, clone: &str, line: &str) {
    let branch = ["clone", "--quiet", "--branch", "krmv/web", "../server.git"];
    world
        .folder
        .git_in("own", &[&branch[..], &[&format!("../{clone}")]].concat());
    let mut command = world.command(Path::new("sh"));
    let programs = Path::new(KRMV).parent().expect("a folder").display();
    let path = std::env::var("PATH").expect("a PATH");
    command
        .args(["-e", "-c", line])
        .current_dir(world.folder.path(clone));
    command.env("PATH", format!("{programs}:{path}"));
    as_committer(&mut command, "ann");
    let output = command.output().expect("it runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn log(world: &World, range: &str) -> String {
    world
        .folder
        .git_in("server.git", &["log", "--format=%cn %s", range])
}

const DECIDE: &str =
    "krmv resolve web --take local && git commit --quiet --all -m 'ours' && git push --quiet";

#[test]
fn two_nights_with_a_decision_between() {
    let world = with_server();
    let first = night(&world, "first");
    assert_eq!(first.code, Some(0), "{}", first.said);
    expect![[r#"
        branches=krmv/web
        changed=true
        conflicts=true
    "#]]
    .assert_eq(&first.output);
    assert!(
        first.review.contains("## web: upgrade v1.0.0 to v2.0.0"),
        "{}",
        first.review
    );
    assert!(
        first.review.contains("### Undecided: 2 conflicts"),
        "{}",
        first.review
    );
    assert_eq!(
        log(&world, "main..krmv/web"),
        "bot web: upgrade v1.0.0 to v2.0.0"
    );
    // The conflicts are open on the branch, and a colleague decides them there.
    person(&world, "ann", DECIDE);
    world.release(
        "v2.1.0",
        &super::deployment(3, "app:4", "128Mi"),
        super::SERVICE,
    );
    // Meanwhile, main moves on.
    world.write("README.md", "x\n");
    world.commit("readme");
    world
        .folder
        .git_in("own", &["push", "--quiet", "origin", "main"]);
    let second = night(&world, "second");
    assert_eq!(second.code, Some(0), "{}", second.said);
    assert_eq!(
        log(&world, "main..krmv/web"),
        "bot web: upgrade v2.0.0 to v2.1.0\nann ours\nbot web: upgrade v1.0.0 to v2.0.0"
    );
    let app = world
        .folder
        .git_in("server.git", &["show", "krmv/web:web/app.yaml"]);
    assert!(
        app.contains("replicas: 5") && app.contains("256Mi") && app.contains("app:4"),
        "{app}"
    );
}

#[test]
fn a_night_without_news_pushes_nothing() {
    let world = with_server();
    night(&world, "first");
    let tip = || {
        world
            .folder
            .git_in("server.git", &["rev-parse", "krmv/web"])
    };
    let before = tip();
    let second = night(&world, "second");
    assert_eq!(
        second.output, "branches=\nchanged=false\nconflicts=true\n",
        "{}",
        second.said
    );
    assert_eq!(tip(), before);
    // A newer release replaces the bot's commit.
    world.release(
        "v2.1.0",
        &super::deployment(3, "app:4", "128Mi"),
        super::SERVICE,
    );
    night(&world, "third");
    assert_eq!(
        log(&world, "main..krmv/web"),
        "bot web: upgrade v1.0.0 to v2.1.0"
    );
}

#[test]
fn two_bots_at_once_lose_nothing() {
    let world = with_server();
    night(&world, "first");
    person(&world, "ann", DECIDE);
    let mine = world
        .folder
        .git_in("server.git", &["rev-parse", "krmv/web"]);
    // A bot that cloned before the decision, and pushes after it.
    world.folder.git_in(
        "server.git",
        &["update-ref", "refs/heads/krmv/web", &format!("{mine}^")],
    );
    world.release(
        "v2.1.0",
        &super::deployment(3, "app:4", "128Mi"),
        super::SERVICE,
    );
    let hook = "#!/bin/sh\ngit --git-dir=../server.git update-ref refs/heads/krmv/web MINE\n"
        .replace("MINE", &mine);
    let late = world.folder.path("late-hooks");
    std::fs::create_dir(&late).expect("a folder");
    std::fs::write(late.join("pre-push"), hook).expect("a file");
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(late.join("pre-push"), mode).expect("a mode");
    world.folder.put(
        "gitconfig",
        format!("[core]\n\thooksPath = {}\n", late.display()),
    );
    let mut command = world.command(Path::new("git"));
    command
        .args(["clone", "--quiet", "server.git", "late"])
        .current_dir(world.folder.path("."));
    assert!(command.status().expect("it runs").success());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/action/update.sh");
    let mut command = world.command(Path::new("bash"));
    let programs = Path::new(KRMV).parent().expect("a folder").display();
    let path = std::env::var("PATH").expect("a PATH");
    command.arg(script).current_dir(world.folder.path("late"));
    command.env("PATH", format!("{programs}:{path}"));
    command.env("GIT_CONFIG_GLOBAL", world.folder.path("gitconfig"));
    let output = command.output().expect("it runs");
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        world
            .folder
            .git_in("server.git", &["rev-parse", "krmv/web"]),
        mine
    );
}
