//! The filter: flags, package directories, exit codes, results.

use indoc::indoc;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::running::{CONTEXT, KPTFILE, list, run, run_in, set_package_context};

const KPTFILE_TEXT: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n";
const CONTEXT_TEXT: &str = indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: kptfile.kpt.dev
        data:
          name: example
    "};
const SET: &str = "[info] package-context.yaml: ConfigMap/kptfile.kpt.dev: data: set `region`\n";

/// A package directory with a Kptfile, a package context and these files.
fn package(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let own = [
        ("Kptfile", KPTFILE_TEXT),
        ("package-context.yaml", CONTEXT_TEXT),
    ];
    for (path, text) in own.iter().chain(files) {
        let file = directory.path().join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        fs::write(file, text).expect("a file");
    }
    directory
}

fn read(directory: &Path, path: &str) -> String {
    fs::read_to_string(directory.join(path)).expect("a file")
}

/// All paths of a directory with their contents.
fn snapshot(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                all.push((path.display().to_string(), fs::read(path).expect("a file")));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn a_package_is_edited_in_place() {
    let directory = package(&[
        ("README.md", "# example\n"),
        ("values.yaml", "a:   1 # no KRM\n"),
        ("empty.yaml", ""),
        (
            "many.yaml",
            indoc! {"
                # head
                ---
                a: 1
                ---
                apiVersion: v1
                kind: Service
                metadata:
                    name: x
                ...
            "},
        ),
        ("sub/Kptfile", KPTFILE_TEXT),
        ("sub/package-context.yaml", CONTEXT_TEXT),
    ]);
    let at = directory.path();
    let mode = |mode: u32| {
        fs::set_permissions(
            at.join("package-context.yaml"),
            fs::Permissions::from_mode(mode),
        )
    };
    mode(0o640).expect("a mode");
    let before = snapshot(at);
    let outcome = run_in(at, &["--package", ".", "region=east"], "");
    assert_eq!(
        (outcome.code, &*outcome.stdout, &*outcome.stderr),
        (Some(0), "", SET)
    );
    let changed = format!("{CONTEXT_TEXT}  region: east\n");
    assert_eq!(read(at, "package-context.yaml"), changed);
    let metadata = fs::metadata(at.join("package-context.yaml")).expect("a file");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o640);
    let mut after = snapshot(at);
    for (path, text) in &mut after {
        if path.ends_with("package-context.yaml") && !path.contains("/sub/") {
            *text = CONTEXT_TEXT.into();
        }
    }
    assert_eq!(after, before);
    let outcome = run_in(at, &["--package", ".", "region=east"], "");
    assert_eq!(
        (outcome.code, &*outcome.stdout, &*outcome.stderr),
        (Some(0), "", "already up to date\n")
    );
}

#[test]
fn the_config_map_may_be_any_document_of_a_file() {
    let directory = package(&[(
        "all.yaml",
        &format!("# head\n---\nx: 1\n---\n{CONTEXT_TEXT}---\nlast: 1\n"),
    )]);
    fs::remove_file(directory.path().join("package-context.yaml")).expect("a file");
    let outcome = run_in(directory.path(), &["--package", ".", "region=east"], "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(
        read(directory.path(), "all.yaml"),
        format!("# head\n---\nx: 1\n---\n{CONTEXT_TEXT}  region: east\n---\nlast: 1\n")
    );
}

const DIFF: &str = "\
--- a/package-context.yaml
+++ b/package-context.yaml
@@ -4,3 +4,4 @@
   name: kptfile.kpt.dev
 data:
   name: example
+  region: east
";

#[test]
fn diff_and_check_write_nothing() {
    let directory = package(&[]);
    let at = directory.path();
    let before = snapshot(at);
    for (flags, code, stdout) in [
        (&["--diff"][..], 0, DIFF),
        (&["--check"], 3, ""),
        (&["--diff", "--check"], 3, DIFF),
    ] {
        let arguments = [
            flags,
            &["--package", ".", "region=east", "--results", "/dev/null"],
        ]
        .concat();
        let outcome = run_in(at, &arguments, "");
        assert_eq!(
            (outcome.code, &*outcome.stdout, &*outcome.stderr),
            (Some(code), stdout, SET),
            "{flags:?}"
        );
        let outcome = run_in(at, &[flags, &["--package", ".", "name=x"]].concat(), "");
        assert_eq!(
            (outcome.code, &*outcome.stdout),
            (Some(1), ""),
            "an error goes first: {flags:?}"
        );
    }
    for flags in [&["--diff"][..], &["--check"], &["--diff", "--check"]] {
        let config =
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\nremoveKeys: [other]\n";
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(&file, config).expect("a file");
        let arguments = [
            flags,
            &[
                "--package",
                ".",
                "--config",
                file.path().to_str().expect("UTF-8"),
            ],
        ]
        .concat();
        let outcome = run_in(at, &arguments, "");
        assert_eq!(
            (outcome.code, &*outcome.stdout, &*outcome.stderr),
            (Some(0), "", "already up to date\n"),
            "{flags:?}"
        );
    }
    assert_eq!(snapshot(at), before);
}

#[test]
fn diff_shows_crlf_a_missing_line_break_and_a_new_file() {
    let directory = package(&[(
        "package-context.yaml",
        &CONTEXT_TEXT.trim_end().replace('\n', "\r\n"),
    )]);
    let outcome = run_in(
        directory.path(),
        &["--package", ".", "--diff", "name2=x"],
        "",
    );
    let expected = "--- a/package-context.yaml\n+++ b/package-context.yaml\n@@ -3,4 +3,5 @@\n metadata:\r\n   name: kptfile.kpt.dev\r\n data:\r\n-  name: example\n\\ No newline at end of file\n+  name: example\r\n+  name2: x\n\\ No newline at end of file\n";
    assert_eq!(outcome.stdout, expected);

    fs::remove_file(directory.path().join("package-context.yaml")).expect("a file");
    fs::write(directory.path().join("config.json"), "{\"apiVersion\": \"fn.kpt.dev/v1alpha1\", \"kind\": \"SetPackageContext\", \"createIfMissing\": true}\n").expect("a file");
    let outcome = run_in(
        directory.path(),
        &["--package", ".", "--diff", "--config", "config.json"],
        "",
    );
    let expected = indoc! {r#"
        --- /dev/null
        +++ b/package-context.yaml
        @@ -0,0 +1,8 @@
        +apiVersion: v1
        +kind: ConfigMap
        +metadata:
        +  name: kptfile.kpt.dev
        +  annotations:
        +    config.kubernetes.io/local-config: "true"
        +data:
        +  name: example
    "#};
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (Some(0), expected),
        "{}",
        outcome.stderr
    );
}

/// Root may write everywhere: then there is nothing to see.
fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout == b"0\n")
}

#[test]
fn a_directory_that_cannot_be_written() {
    let directory = package(&[]);
    let at = directory.path();
    let before = snapshot(at);
    let mode =
        |mode: u32| fs::set_permissions(at, fs::Permissions::from_mode(mode)).expect("a mode");
    mode(0o555);
    let diff = run_in(at, &["--package", ".", "--diff", "region=east"], "");
    let check = run_in(at, &["--package", ".", "--check", "region=east"], "");
    let write = (!is_root()).then(|| run_in(at, &["--package", ".", "region=east"], ""));
    mode(0o755);
    assert_eq!((diff.code, &*diff.stdout), (Some(0), DIFF));
    assert_eq!(check.code, Some(3));
    if let Some(write) = write {
        assert_eq!(write.code, Some(2));
        assert!(
            write.stderr.contains("Permission denied"),
            "{}",
            write.stderr
        );
        assert_eq!(snapshot(at), before);
    }
}

#[test]
fn results_that_cannot_be_written_stop_the_run() {
    let directory = package(&[]);
    let before = snapshot(directory.path());
    let outcome = run_in(
        directory.path(),
        &[
            "--package",
            ".",
            "--results",
            "missing/r.yaml",
            "region=east",
        ],
        "",
    );
    assert_eq!(outcome.code, Some(2));
    assert_eq!(
        outcome.stderr,
        "set-package-context: cannot write the results to missing/r.yaml: No such file or directory (os error 2)\n"
    );
    assert_eq!(snapshot(directory.path()), before);
}

/// What kpt 1.0.0-beta.56 writes with `--results-dir`, but for `exec` and `stderr`, which are its own.
const KPT_PASS: &str = "\
apiVersion: kpt.dev/v1
kind: FunctionResultList
metadata:
  name: fnresults
exitCode: 0
items:
- exec: set-package-context
  exitCode: 0
  results:
  - message: set `region`
    severity: info
    resourceRef:
      apiVersion: v1
      kind: ConfigMap
      name: kptfile.kpt.dev
    field:
      path: data
    file:
      path: package-context.yaml
";
const KPT_FAIL: &str = "\
apiVersion: kpt.dev/v1
kind: FunctionResultList
metadata:
  name: fnresults
exitCode: 1
items:
- exec: set-package-context
  exitCode: 1
  results:
  - message: \"the key `name` is reserved: kpt and Porch set it\"
    severity: error
    field:
      path: data.name
    tags:
      reason: ReservedKey
";
const KPT_NOTHING: &str = "\
apiVersion: kpt.dev/v1
kind: FunctionResultList
metadata:
  name: fnresults
exitCode: 0
items:
- exec: set-package-context
  exitCode: 0
";

#[test]
fn the_results_file_has_the_format_of_kpt() {
    let directory = package(&[]);
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("results.yaml");
    let path = file.to_str().expect("UTF-8");
    let table: &[(&[&str], &str)] = &[
        (&["--diff", "region=east"], KPT_PASS),
        (&["--check", "region=east"], KPT_PASS),
        (&["name=x"], KPT_FAIL),
        (&["region=east"], KPT_PASS),
        (&["region=east"], KPT_NOTHING),
    ];
    for (arguments, expected) in table {
        let arguments = [&["--package", ".", "--results", path], *arguments].concat();
        run_in(directory.path(), &arguments, "");
        assert_eq!(
            fs::read_to_string(&file).expect("a file"),
            *expected,
            "{arguments:?}"
        );
    }
    run(
        &["--results", path, "region=east"],
        list(&[KPTFILE, CONTEXT]),
    );
    assert_eq!(fs::read_to_string(&file).expect("a file"), KPT_PASS);
}

#[test]
fn the_results_file_equals_what_kpt_itself_writes() {
    let kpt = |directory: &Path, results: &Path, argument: &str| {
        Command::new("kpt")
            .args(["fn", "eval"])
            .arg(directory)
            .args(["--exec", set_package_context(), "--results-dir"])
            .arg(results)
            .args(["--", argument])
            .output()
    };
    for (argument, recorded) in [("region=east", KPT_PASS), ("name=x", KPT_FAIL)] {
        let directory = package(&[]);
        let results = tempfile::tempdir().expect("a directory");
        // Not on PATH: the recorded form is what other tests compare with.
        let Ok(_) = kpt(directory.path(), results.path(), argument) else {
            return;
        };
        let text = read(results.path(), "results.yaml");
        // kpt indents sequences, quotes otherwise, names the path of the binary, and keeps stderr.
        let mut in_stderr = false;
        let normal = |line: &str| line.trim_start_matches([' ', '-']).replace(['"', '\''], "");
        let found: Vec<_> = text
            .lines()
            .filter(|line| {
                in_stderr = line.contains("stderr: |") || (in_stderr && line.starts_with("      "));
                !in_stderr
            })
            .map(|line| {
                if line.contains("exec: ") {
                    "exec: set-package-context".to_owned()
                } else {
                    normal(line)
                }
            })
            .collect();
        assert_eq!(found, recorded.lines().map(normal).collect::<Vec<_>>());
    }
}

#[test]
fn krmignore_is_honoured() {
    let directory = package(&[
        (".krmignore", "bad.yaml\npackage-context.yaml\n"),
        ("bad.yaml", "a: [\n"),
    ]);
    let outcome = run_in(directory.path(), &["--package", ".", "region=east"], "");
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.stderr.ends_with("(PackageContextNotFound)\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_skipped_step_is_a_warning() {
    let directory = package(&[("sub/x.md", "x")]);
    std::os::unix::fs::symlink("/etc/hostname", directory.path().join("out.yaml")).expect("a link");
    let outcome = run_in(directory.path(), &["--package", ".", "region=east"], "");
    assert_eq!(outcome.code, Some(0));
    assert_eq!(
        outcome.stderr,
        format!(
            "[warning] out.yaml: skipped: link to a file outside of the package (SkippedFile)\n{SET}"
        )
    );
}

#[test]
fn values_of_secrets_do_not_reach_the_output() {
    let secret = indoc! {"
        apiVersion: v1
        kind: Secret
        metadata:
          name: kptfile.kpt.dev
        stringData:
          password: hunter2
    "};
    let directory = package(&[("secret.yaml", secret)]);
    for arguments in [
        &["--package", ".", "--diff", "region=east"][..],
        &["--package", ".", "name=x"],
    ] {
        let outcome = run_in(directory.path(), arguments, "");
        assert!(!format!("{outcome:?}").contains("hunter2"), "{outcome:?}");
    }
    // An error about the file names the place only.
    fs::write(
        directory.path().join("secret.yaml"),
        format!("{secret}  password: hunter2\n"),
    )
    .expect("a file");
    let outcome = run_in(directory.path(), &["--package", ".", "region=east"], "");
    assert_eq!(
        outcome.stderr,
        "set-package-context: secret.yaml: line 7, column 3: the key `password` appears twice in this mapping\n"
    );
}

#[test]
fn colours_on_a_terminal_only() {
    let directory = package(&[]);
    let on_terminal = |no_color: &str| {
        let command = format!(
            "NO_COLOR={no_color} {} --package . name=x",
            set_package_context()
        );
        Command::new("script")
            .current_dir(directory.path())
            .args(["-qec", &command, "/dev/null"])
            .output()
    };
    let line = "[error] data.name: the key `name` is reserved: kpt and Porch set it (ReservedKey)";
    assert_eq!(
        run_in(directory.path(), &["--package", ".", "name=x"], "").stderr,
        format!("{line}\n")
    );
    // `script` makes a terminal; not every system has it.
    let (Ok(coloured), Ok(plain)) = (on_terminal(""), on_terminal("1")) else {
        return;
    };
    assert_eq!(
        String::from_utf8_lossy(&coloured.stdout),
        format!("\u{1b}[31m{line}\u{1b}[0m\r\n")
    );
    assert_eq!(
        String::from_utf8_lossy(&plain.stdout),
        format!("{line}\r\n")
    );
}

#[test]
fn help_and_version_go_to_standard_output() {
    let help = run(&["--help"], "");
    assert_eq!((help.code, &*help.stderr), (Some(0), ""));
    for word in [
        "Usage: set-package-context",
        "--config <FILE>",
        "--package <DIR>",
        "--diff",
        "--check",
        "--results <FILE>",
        "Exit codes:\n  0  done",
    ] {
        assert!(help.stdout.contains(word), "{word}");
    }
    let version = run(&["--version"], "");
    assert_eq!(
        (version.code, version.stdout),
        (
            Some(0),
            format!("set-package-context {}\n", env!("CARGO_PKG_VERSION"))
        )
    );
}

#[test]
fn a_config_file_wins_over_the_resource_list() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(
        directory.path().join("config.yaml"),
        "apiVersion: v1\nkind: ConfigMap\ndata: {region: east}\n",
    )
    .expect("a file");
    let input = list(&[KPTFILE, CONTEXT]) + "functionConfig:\n  kind: Unknown\n";
    for arguments in [&["--config", "config.yaml"][..], &["region=east"]] {
        let outcome = run_in(directory.path(), arguments, input.clone());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(
            outcome.stdout.contains(
                "    name: example\n    region: east\nfunctionConfig:\n  kind: Unknown\nresults:\n"
            ),
            "{}",
            outcome.stdout
        );
    }
}

#[test]
fn a_backslash_in_a_name_on_disk_is_like_any_other_character() {
    let config_map = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: {value}\n")
    };
    let local = package(&[
        ("x\\y/a\\b.yaml", &config_map("1 # mine")),
        ("d\\e.txt", "1\n"),
    ]);
    let original = package(&[("x\\y/a\\b.yaml", &config_map("1")), ("d\\e.txt", "1\n")]);
    let upstream = package(&[
        ("x\\y/a\\b.yaml", &config_map("2")),
        ("c\\d.yaml", "e: f\n"),
    ]);
    let merge = |flags: &[&str]| {
        let mut command = assert_cmd::Command::new(crate::running::function("merge-package"));
        let local = command.arg("--package").arg(local.path());
        let both = local.arg("--original").arg(original.path());
        both.arg("--upstream").arg(upstream.path()).args(flags);
        command.output().expect("the binary runs")
    };
    let output = merge(&["--diff"]);
    let diff = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        diff.contains("--- \"a/x\\\\y/a\\\\b.yaml\"\n+++ \"b/x\\\\y/a\\\\b.yaml\"\n"),
        "{diff}"
    );
    let output = merge(&[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(read(local.path(), "x\\y/a\\b.yaml"), config_map("2 # mine"));
    assert_eq!(read(local.path(), "c\\d.yaml"), "e: f\n");
    assert!(!local.path().join("d\\e.txt").exists());
    // A path that data gives is another matter.
    let item = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: b\n    annotations:\n      internal.config.kubernetes.io/path: a\\b.yaml\n";
    let outcome = run(&["region=a"], list(&[KPTFILE, CONTEXT, item]));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("contains a backslash"),
        "{}",
        outcome.stderr
    );
}
