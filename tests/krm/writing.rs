//! What a package directory gets, and when it is said: `--diff` of every kind of file, full disks.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::running::set_package_context;

const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n";

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, bytes) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, bytes).expect("a file");
    }
    folder
}

fn files(folder: &Path, names: &[&str]) -> Vec<Option<Vec<u8>>> {
    let read = |name: &&str| fs::read(folder.join(name)).ok();
    names.iter().map(read).collect()
}

#[test]
fn git_applies_the_diff_of_files_that_are_not_krm() {
    let (old, new) = (b"\x89PNG\0\x01", b"\x89PNG\0\x02 and more");
    let (kptfile, text) = (KPTFILE.as_bytes(), b"one\ntwo\nthree\nfour\nfive\n");
    let folder = folder(&[
        ("original/Kptfile", kptfile),
        ("original/logo.png", old),
        ("original/gone.png", old),
        ("original/README.md", text),
        ("local/Kptfile", kptfile),
        ("local/logo.png", old),
        ("local/gone.png", old),
        ("local/README.md", text),
        ("upstream/Kptfile", kptfile),
        ("upstream/logo.png", new),
        ("upstream/new.png", new),
        ("upstream/README.md", b"one\ntwo\nthree\nfour\n5\n"),
    ]);
    let merge = |flags: &[&str]| {
        let output = Command::new(crate::running::function("merge-package"))
            .args([
                "--package",
                "local",
                "--original",
                "original",
                "--upstream",
                "upstream",
            ])
            .args(flags)
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let names = ["logo.png", "gone.png", "new.png", "README.md"];
    let local = folder.path().join("local");
    let before = files(&local, &names);
    let diff = merge(&["--diff"]);
    assert_eq!(files(&local, &names), before);
    fs::write(folder.path().join("diff"), &diff).expect("a file");
    let git = |flags: &[&str]| {
        let output = Command::new("git")
            .args(["apply", "../diff"])
            .args(flags)
            .current_dir(&local)
            .env("GIT_CEILING_DIRECTORIES", folder.path())
            .output()
            .expect("it runs");
        assert!(
            output.status.success(),
            "{output:?}\n{}",
            String::from_utf8_lossy(&diff)
        );
        files(&local, &names)
    };
    let after = git(&[]);
    assert_eq!(after, files(&folder.path().join("upstream"), &names));
    assert_eq!(git(&["--reverse"]), before);
    merge(&[]);
    assert_eq!(files(&local, &names), after);
}

/// A limit for the size of files stands for a full disk: the results fit, the package's file does not.
#[test]
#[cfg(unix)]
fn a_full_disk_is_not_reported_as_success() {
    let context = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\ndata:\n  name: p\n{}",
        "# a long comment\n".repeat(1000)
    );
    let folder = folder(&[
        ("p/Kptfile", KPTFILE.as_bytes()),
        ("p/package-context.yaml", context.as_bytes()),
    ]);
    let run = |limit: &str| {
        let script = format!(
            "trap '' XFSZ; ulimit -f {limit}; \
             exec {} --package p --results results.yaml region=eu",
            set_package_context()
        );
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let results = fs::read_to_string(folder.path().join("results.yaml"));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr, results.unwrap_or_default())
    };
    let (code, stderr, results) = run("4");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(!stderr.contains("set `region`"), "{stderr}");
    assert!(stderr.contains("cannot write a new version of"), "{stderr}");
    assert!(!results.contains("set `region`"), "{results}");
    assert!(results.contains("exitCode: 1"), "{results}");
    assert!(results.contains("reason: NotWritten"), "{results}");
    let found = fs::read_to_string(folder.path().join("p/package-context.yaml"));
    assert_eq!(found.expect("a file"), context);
    assert_eq!(
        fs::read_dir(folder.path().join("p"))
            .expect("a folder")
            .count(),
        2
    );

    let (code, stderr, results) = run("unlimited");
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("set `region`"), "{stderr}");
    assert!(results.contains("set `region`"), "{results}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_not_reported_as_success() {
    let folder = folder(&[]);
    let input = crate::running::list(&[crate::running::KPTFILE, crate::running::CONTEXT]);
    let file = folder.path().join("input");
    fs::write(&file, input).expect("a file");
    let full = fs::File::options().write(true).open("/dev/full");
    let output = Command::new(set_package_context())
        .args(["--results", "results.yaml", "region=eu"])
        .current_dir(folder.path())
        .stdin(fs::File::open(&file).expect("a file"))
        .stdout(full.expect("a device"))
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let results = fs::read_to_string(folder.path().join("results.yaml")).expect("a file");
    assert!(!results.contains("set `region`"), "{results}");
    assert!(results.contains("reason: NotWritten"), "{results}");
}
