//! All functions inside: by name, and by a link of that name.

use assert_cmd::Command;
use krmv::FUNCTIONS;

use super::{KRMV, World};
use crate::all_functions::binary;

#[test]
fn each_function_is_byte_for_byte_its_program() {
    let list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";
    for function in FUNCTIONS {
        for arguments in [&["--help"][..], &["--version"], &["--no-such-flag"], &[]] {
            let alone = Command::new(binary(function.name))
                .args(arguments)
                .write_stdin(list)
                .output();
            let inside = Command::new(KRMV)
                .arg(function.name)
                .args(arguments)
                .write_stdin(list)
                .output();
            assert_eq!(
                alone.expect("runs"),
                inside.expect("runs"),
                "{} {arguments:?}",
                function.name
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_named_after_a_function_runs_that_function() {
    let folder = tempfile::tempdir().expect("a folder");
    for function in FUNCTIONS {
        let link = folder.path().join(function.name);
        std::os::unix::fs::symlink(KRMV, &link).expect("a link");
        let output = Command::new(&link).arg("--version").output().expect("runs");
        let expected = format!("{} {}\n", function.name, env!("CARGO_PKG_VERSION"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}

#[test]
fn help_functions_completion_and_manual_pages_are_inside() {
    let world = World::new();
    let said = world.krmv(&["functions"]);
    for function in FUNCTIONS {
        assert!(said.stdout.contains(function.name), "{}", said.stdout);
        let help = world.krmv(&["help", function.name]);
        let words: Vec<&str> = help.stdout.split_whitespace().collect();
        assert!(words.join(" ").contains(function.about), "{}", help.stdout);
    }
    for topic in [
        "conflicts",
        "state",
        "get",
        "upgrade",
        "resolve",
        "diff",
        "status",
    ] {
        let help = world.krmv(&["help", topic]);
        assert_eq!(help.code, Some(0), "{topic}: {}", help.stderr);
        let widest = help.stdout.lines().map(str::len).max();
        assert!(widest <= Some(80), "{topic}: {}", help.stdout);
    }
    assert_eq!(world.krmv(&["help", "nothing"]).code, Some(2));
    for shell in ["bash", "zsh", "fish"] {
        let text = world.krmv(&["completion", shell]).stdout;
        assert!(
            text.contains("krmv") && text.contains("merge-package"),
            "{shell}"
        );
    }
    assert_eq!(world.krmv(&["man", "pages"]).code, Some(0));
    for page in ["krmv.1", "krmv-upgrade.1", "merge-package.1"] {
        let text = world.read(&format!("pages/{page}"));
        assert!(text.contains(".TH"), "{page}: {text}");
    }
}
