//! Conflicts decided on a terminal: `script` gives the program one.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::{KRMV, World};

const CTRL_C: u8 = 3;

/// Runs `krmv resolve web` on a terminal, and types a key whenever it asks. `None` without `script`.
fn typed(world: &World, keys: &str, editor: &str) -> Option<(bool, String)> {
    let script = super::on_path("script")?;
    let mut command = world.command(&script);
    let line = format!("{KRMV} resolve web --color never");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.env("EDITOR", editor).env("TERM", "xterm");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("script runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stdout.read(&mut buffer) {
            if send.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut keys = keys.bytes();
    let (mut text, mut asked) = (String::new(), 0);
    let (mut last, mut silent) = (None, 0);
    loop {
        match receive.recv_timeout(Duration::from_secs(1)) {
            Ok(bytes) => {
                text += &String::from_utf8_lossy(&bytes);
                silent = 0;
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if silent < 60 => {
                silent += 1;
                // Before the program reads keys, the terminal makes a signal of Ctrl-C, which may be ignored: in jobs in the
                // background, for one.
                if last == Some(CTRL_C) {
                    // It may have ended meanwhile.
                    stdin.write_all(&[CTRL_C]).ok();
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                child.kill().expect("it runs");
                panic!("nothing came any more: {text}");
            }
        }
        let prompts = text.matches("decide [l,u,e,s,b,q,?] ").count();
        if prompts > asked {
            asked = prompts;
            // Else it asked once more than there are keys, and the timeout ends it.
            if let Some(key) = keys.next() {
                stdin.write_all(&[key]).expect("a key");
                stdin.flush().expect("a key");
                last = Some(key);
            }
        }
    }
    let status = child.wait().expect("it ends");
    assert_eq!(keys.next(), None, "{text}");
    Some((status.success(), text))
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
        "All conflicts are decided",
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
fn quitting_writes_decisions_and_an_interrupt_nothing() {
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
fn lines_of_a_file_are_shown_without_control_characters() {
    let world = World::open();
    let own = world.read("web/app.yaml");
    let own = own.replace("# by load", "# by \u{202e}load");
    world.write("web/app.yaml", &own);
    let Some((_, text)) = typed(&world, "q", "") else {
        return;
    };
    assert!(text.contains(r"# by \u{202e}load"), "{text}");
}

#[test]
fn lines_of_a_secret_are_not_shown() {
    let world = World::with_package();
    let release = |tag: &str, value: &str| {
        let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\nstringData:\n  key: ";
        let text = format!("{secret}{value}\n");
        world.folder.put("catalog/web/secret.yaml", text);
        let deployment = super::deployment(1, "app:1", "64Mi");
        world.release(tag, &deployment, super::SERVICE);
    };
    release("v4.0.0", "first");
    world.krmv(&["upgrade", "web", "v4.0.0"]).assert_code(0);
    let own = world.read("web/secret.yaml");
    world.write("web/secret.yaml", &own.replace("first", "hidden"));
    world.commit("a key of our own");
    release("v4.1.0", "second");
    world.krmv(&["upgrade", "web", "v4.1.0"]).assert_code(1);
    let Some((_, text)) = typed(&world, "s", "") else {
        return;
    };
    assert!(
        text.contains("<redacted>") && !text.contains("hidden"),
        "{text}"
    );
}

/// The conflict stays open, and the decisions before it stand.
#[test]
fn an_edit_that_leaves_no_text_decides_nothing() {
    for editor in ["rm", "cp /dev/null"] {
        let world = World::open();
        let before = world.read("web/app.yaml");
        let Some((is_settled, text)) = typed(&world, "leq", editor) else {
            return;
        };
        assert!(text.contains("; nothing is decided"), "{text}");
        assert!(
            !is_settled && text.contains("1 conflict undecided"),
            "{text}"
        );
        assert!(world.read("web/Kptfile").contains("spec.replicas"));
        assert_eq!(world.read("web/app.yaml"), before);
    }
}

#[test]
fn a_place_is_edited_with_the_editor() {
    let world = World::open();
    // Takes both sides apart: a value of its own.
    let editor =
        "sed -i -e '/^<<<<<<< /d' -e '/^=======$/,/^>>>>>>> /d' -e 's/replicas: 5/replicas: 4/'";
    let Some((_, text)) = typed(&world, "el", editor) else {
        return;
    };
    assert!(text.contains("All conflicts are decided"), "{text}");
    assert!(
        world.read("web/app.yaml").contains("replicas: 4 # by load"),
        "{}",
        world.read("web/app.yaml")
    );
}

#[test]
fn undoing_a_decision_keeps_the_edits_for_earlier_ones() {
    let world = World::edited();
    let own = world.read("web/app.yaml");
    world.write("web/app.yaml", &own.replace("app:1", "own:1"));
    world.commit("image");
    world.krmv(&["upgrade", "web", "v2.0.0"]).assert_code(1);
    let editor =
        "sed -i -e '/^<<<<<<< /d' -e '/^=======$/,/^>>>>>>> /d' -e 's/replicas: 5/replicas: 4/'";
    let Some((_, text)) = typed(&world, "elbll", editor) else {
        return;
    };
    assert!(text.contains("All conflicts are decided"), "{text}");
    let own = world.read("web/app.yaml");
    assert!(own.contains("replicas: 4 # by load"), "{own}");
}

/// A command says on a terminal how far it is, and in a pipe nothing; the switch leaves out the second that it waits.
#[test]
fn long_work_says_how_far_it_is() {
    let world = World::edited();
    let Some(script) = super::on_path("script") else {
        return;
    };
    let impatient = ("KRM_VARIANTS_TEST", "impatient");
    for (arguments, expected) in [
        ("status web", "Trying releases: v1.1.0 (1 of 2, 0 s left)"),
        (
            "blame web/app.yaml",
            "Following: 2026-01-01 (1 of 2, 0 s left)",
        ),
    ] {
        let mut on_terminal = world.command(&script);
        let line = format!("{KRMV} {arguments}");
        on_terminal.args(["--quiet", "--command", &line, "/dev/null"]);
        on_terminal
            .stdin(Stdio::null())
            .env(impatient.0, impatient.1)
            .env("TERM", "xterm");
        let shown = on_terminal.output().expect("script runs");
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains(expected), "{shown}");
        let mut piped = world.command(Path::new(KRMV));
        piped.args(arguments.split(' '));
        let piped = piped.env(impatient.0, impatient.1).output();
        let piped = piped.expect("it runs");
        assert_eq!(String::from_utf8_lossy(&piped.stderr), "", "{arguments}");
    }
}
