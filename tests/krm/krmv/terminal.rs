//! Conflicts decided on a terminal: `script` gives the program one.

use std::io::Write;
use std::process::Stdio;

use super::{KRMV, World};

/// Runs `krmv resolve web` on a terminal, and types these keys. `None` without `script`.
fn typed(world: &World, keys: &str, editor: &str) -> Option<(bool, String)> {
    let script = super::on_path("script")?;
    let mut command = world.command(&script);
    let line = format!("{KRMV} resolve web --color never");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.env("EDITOR", editor).env("TERM", "xterm");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("script runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(keys.as_bytes()).expect("keys");
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some((output.status.success(), text))
}

#[test]
fn conflicts_are_decided_one_by_one() {
    let world = World::open();
    let Some((settled, text)) = typed(&world, "?lu", "") else {
        return;
    };
    assert!(settled, "{text}");
    for part in [
        "(1/2)",
        "(2/2)",
        "undo the last decision",
        "local     5",
        "all decided",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let own = world.read("web/app.yaml");
    assert!(
        own.contains("replicas: 5 # by load") && own.contains("memory: 128Mi"),
        "{own}"
    );
}

#[test]
fn a_decision_can_be_undone_and_skipped() {
    let world = World::open();
    let Some((settled, text)) = typed(&world, "ubsl", "") else {
        return;
    };
    assert!(!settled && text.contains("1 conflict undecided"), "{text}");
    let own = world.read("web/app.yaml");
    assert!(
        own.contains("replicas: 5 # by load") && own.contains("memory: 256Mi"),
        "{own}"
    );
}

#[test]
fn quitting_writes_what_is_decided_and_breaking_off_nothing() {
    let world = World::open();
    let before = [world.read("web/app.yaml"), world.read("web/Kptfile")];
    let Some((_, text)) = typed(&world, "u\u{3}", "") else {
        return;
    };
    assert_eq!(
        [world.read("web/app.yaml"), world.read("web/Kptfile")],
        before,
        "{text}"
    );
    typed(&world, "uq", "").expect("script");
    assert!(world.read("web/app.yaml").contains("replicas: 2 # by load"));
    assert!(world.read("web/app.yaml").contains("256Mi"));
}

#[test]
fn a_place_is_edited_with_the_editor() {
    let world = World::open();
    // Takes both sides apart: a value of its own.
    let editor =
        "sed -i -e '/^<<<<<<< /d' -e '/^=======$/,/^>>>>>>> /d' -e 's/replicas: 5/replicas: 4/'";
    let Some((_, text)) = typed(&world, "ell", editor) else {
        return;
    };
    assert!(text.contains("all decided"), "{text}");
    assert!(
        world.read("web/app.yaml").contains("replicas: 4 # by load"),
        "{}",
        world.read("web/app.yaml")
    );
}
