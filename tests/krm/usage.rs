//! Arguments: what `--help` says, what a wrong one is told, how results are printed.

use indoc::indoc;
use std::path::Path;

use assert_cmd::Command;
use krm_core::config::Keys;
use krmv::FUNCTIONS;

use crate::all_functions::binary;
use crate::running::{CONTEXT, KPTFILE, Outcome, list};

fn run(binary: impl AsRef<Path>, arguments: &[&str], stdin: &str) -> Outcome {
    let mut command = Command::new(binary.as_ref());
    let output = command.args(arguments).write_stdin(stdin).output();
    let output = output.expect("the binary runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// A package directory with a package context.
fn package() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text);
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n";
    write("Kptfile", kptfile).expect("a file");
    let context = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n";
    write("package-context.yaml", context).expect("a file");
    directory
}

#[test]
fn help_messages_and_pages_name_the_same_keys() {
    for function in FUNCTIONS {
        let binary = &binary(function.name);
        let help = run(binary, &["--help"], "");
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
        let page = format!(
            "{}/functions/{}/README.md",
            env!("CARGO_MANIFEST_DIR"),
            function.name
        );
        let page = std::fs::read_to_string(page).expect("a page");
        let Keys::These(keys) = function.keys else {
            continue;
        };
        let (kptfile, none) = (list(&[KPTFILE]), "no-such-key=1");
        let error = run(binary, &[none], &kptfile).stderr;
        for key in keys {
            let usage = format!("{}={}", key.name, key.words.join("|"));
            assert!(help.stdout.contains(&usage), "{}", help.stdout);
            let name = format!("`{}`", key.name);
            assert!(error.contains(&name), "{}: {error}", function.name);
            let argument = format!("`{}=", key.name);
            let is_told = page.contains(&name) || page.contains(&argument);
            assert!(is_told, "{}: {name}", function.name);
            for word in key.words {
                let is_told = word.split(',').all(|part| page.contains(part));
                assert!(is_told, "{}: {word}", function.name);
                let accepted = run(binary, &[&format!("{}={word}", key.name)], &kptfile);
                assert!(
                    !accepted.stderr.contains("expected one of"),
                    "{}",
                    accepted.stderr
                );
            }
        }
        let named = error.matches('`').count() / 2;
        assert_eq!(named, keys.len() + 1, "{}: {error}", function.name);
    }
}

#[test]
fn a_key_is_a_flag_too() {
    for (flags, expected) in [
        (
            &["--on-conflict", "local", "--allow-empty"][..],
            "role `upstream`",
        ),
        (&["--onConflict=local", "--combine=none"], "role `upstream`"),
        (&["--on-conflict"], "a value is required"),
        (&["--on-conflic", "local"], "unexpected argument"),
    ] {
        let error = run(binary("merge-package"), flags, &list(&[KPTFILE])).stderr;
        assert!(error.contains(expected), "{flags:?}: {error}");
    }
    let package = package();
    let at = package.path().to_str().expect("UTF-8");
    let flags = ["--package", at, "--original", at, "--upstream", at];
    let flags = [&flags[..], &["--on-conflict", "ours"]].concat();
    let error = run(binary("merge-package"), &flags, "").stderr;
    assert!(error.contains("found `ours`"), "{error}");
}

#[test]
fn help_fits_a_terminal_and_shows_command_lines_that_exist() {
    for function in FUNCTIONS {
        let help = run(binary(function.name), &["--help"], "").stdout;
        let is_wide = |line: &&str| line.chars().count() > 80;
        assert_eq!(help.lines().find(is_wide), None, "{}", function.name);
        assert!(!function.examples.is_empty(), "{}", function.name);
        for example in function.examples {
            assert!(help.contains(&format!("\n  {example}\n")), "{help}");
            assert!(example.contains(function.name), "{example}");
            let flags = example.split(' ').filter(|word| word.len() > 2);
            for flag in flags.filter(|word| word.starts_with("--") && *word != "--exec") {
                let is_flag = |word: &str| word.trim_end_matches(',') == flag;
                assert!(help.split_whitespace().any(is_flag), "{example}: {flag}");
            }
        }
    }
}

/// What a person looks up most often fits a screen; `--help` has the rest.
#[test]
fn short_help_is_short_and_says_where_the_rest_is() {
    for function in FUNCTIONS {
        let binary = &binary(function.name);
        let [short, long] = ["-h", "--help"].map(|flag| run(binary, &[flag], "").stdout);
        let count = short.lines().count();
        assert!(count <= 45, "{}: {count} lines\n{short}", function.name);
        assert!(
            long.lines().count() > count + 20,
            "{}\n{long}",
            function.name
        );
        for (text, is_in_short) in [
            ("--package <DIR>", true),
            ("--diff", true),
            ("Examples:", true),
            ("--help prints all flags", true),
            ("--output <FORM>", false),
            ("--verbose", false),
            ("Exit codes:", false),
        ] {
            assert_eq!(short.contains(text), is_in_short, "{text}: {short}");
            assert!(
                long.contains(text) || text.starts_with("--help prints"),
                "{text}: {long}"
            );
        }
    }
}

/// `in place` is promised only by functions whose run changes the package.
#[test]
fn help_says_that_a_package_is_edited_only_if_it_is() {
    for function in FUNCTIONS {
        let binary = &binary(function.name);
        let prints = matches!(
            function.name,
            "apply-config" | "create-overlay" | "create-patch" | "review-package"
        );
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for flag in ["-h", "--help"] {
            let help = words(&run(binary, &[flag], "").stdout);
            assert_eq!(
                help.contains("package directory in place"),
                !prints,
                "{help}"
            );
            assert_eq!(help.contains("nothing is written to it"), prints, "{help}");
        }
        let advice = run(binary, &["--in-place", "x"], "").stderr;
        assert_eq!(advice.contains("directory in place"), !prints, "{advice}");
    }
}

/// A second run of every function that edits a package says the same.
#[test]
fn every_function_reports_that_it_had_nothing_to_do() {
    let variant = indoc! {"
        apiVersion: config.porch.kpt.dev/v1alpha1
        kind: PackageVariant
        metadata: {name: v}
        spec:
          upstream: {repo: c, package: example, revision: v1}
          downstream: {repo: d, package: example}
          packageContext: {data: {a: b}}
    "};
    let inputs = tempfile::tempdir().expect("a directory");
    let inputs = inputs.path();
    let write = |path: &str, text: &str| {
        let path = inputs.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let patch = write(
        "patch/p.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kptfile.kpt.dev}\ndata: {a: b}\n",
    );
    let pipeline = write(
        "pipeline.yaml",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: PrependPipeline\nmetadata: {name: p}\npipeline: {mutators: [{image: i}]}\n",
    );
    let inject = write(
        "inject.yaml",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\nmetadata: {name: i}\ninjectors: [{name: s}]\n",
    );
    let variants = write("variants/v.yaml", variant);
    let template = indoc! {"
        apiVersion: config.porch.kpt.dev/v1alpha2
        kind: PackageVariantSet
        metadata: {name: s, namespace: d}
        spec:
          upstream: {repo: c, package: example, revision: v1}
          targets:
          - repositories: [{name: d}]
    "};
    let set = write("set.yaml", template);
    let repository = indoc! {"
        apiVersion: config.porch.kpt.dev/v1alpha1
        kind: Repository
        metadata: {name: d, namespace: d}
        ---
        apiVersion: porch.kpt.dev/v1alpha1
        kind: PackageRevision
        metadata: {name: r, namespace: d}
        spec: {repository: c, packageName: example, revision: v1, lifecycle: Published}
    "};
    let cluster = write("cluster.yaml", repository);
    let upstream = package();
    let upstream = upstream.path().display().to_string();
    let catalog = format!("c={}", inputs.join("catalog").display());
    for name in ["Kptfile", "package-context.yaml"] {
        let text = std::fs::read_to_string(Path::new(&upstream).join(name)).expect("a file");
        write(&format!("catalog/example/v1/{name}"), &text);
    }
    for (name, arguments) in [
        ("set-package-context", vec!["a=b"]),
        ("prepend-pipeline", vec!["--config", &pipeline]),
        (
            "inject-config",
            vec!["--config", &inject, "--resources", &cluster],
        ),
        ("apply-patch", vec!["--patches", &patch]),
        (
            "merge-package",
            vec!["--original", &upstream, "--upstream", &upstream],
        ),
        (
            "expand-variant-set",
            vec!["--config", &set, "--resources", &cluster],
        ),
        ("render-variant", vec!["--config", &variants]),
        (
            "render-fleet",
            vec!["--variants", &variants, "--catalog", &catalog],
        ),
    ] {
        let local = package();
        let local = local.path().display().to_string();
        let arguments: Vec<&str> = ["--package", &local].into_iter().chain(arguments).collect();
        let again = [&arguments[..], &["--check"]].concat();
        let first = run(binary(name), &arguments, "");
        assert_eq!(first.code, Some(0), "{name}: {}", first.stderr);
        for arguments in [&arguments, &again] {
            let second = run(binary(name), arguments, "");
            assert_eq!(second.code, Some(0), "{name}: {}", second.stderr);
            assert!(
                second.stderr.ends_with("already up to date\n"),
                "{name}: {}",
                second.stderr
            );
        }
        let quiet = run(binary(name), &[&arguments[..], &["--quiet"]].concat(), "");
        assert_eq!(quiet.stderr, "", "{name}");
    }
}

/// Both say what was probably meant.
#[test]
fn a_wrong_key_and_a_wrong_value_end_alike() {
    for (function, key, value) in [
        ("merge-package", "onConflct=local", "onConflict=locla"),
        ("review-package", "failOm=never", "failOn=nevr"),
        ("create-patch", "allowMising=true", "allowMissing=tru"),
    ] {
        let local = package();
        let local = local.path().display().to_string();
        let input = if function == "create-patch" {
            "--live"
        } else {
            "--before"
        };
        let input = if function == "merge-package" {
            "--upstream"
        } else {
            input
        };
        for argument in [key, value] {
            let original = ["--original", &local];
            let original = &original[..if function == "merge-package" { 2 } else { 0 }];
            let arguments = [original, &["--package", &local, input, &local, argument]].concat();
            let text = run(binary(function), &arguments, "").stderr;
            assert!(text.contains("; did you mean `"), "{argument}: {text}");
        }
    }
}

#[test]
fn flags_of_every_function_are_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/command-line.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let help = run(binary("set-package-context"), &["--help"], "").stdout;
    let flags = help
        .split_whitespace()
        .filter(|word| word.starts_with("--") && !matches!(*word, "--" | "--exec"));
    let mut count = 0;
    for flag in flags {
        let flag = flag.trim_end_matches([',', ';', ':', '.']);
        let row = |line: &&str| line.starts_with("| `") && line.contains(&format!("`{flag}"));
        assert!(page.lines().any(|line| row(&line)), "{flag}");
        count += 1;
    }
    assert!(count > 9, "{help}");
}

#[test]
fn the_error_for_a_misspelt_flag_does_not_suggest_a_value() {
    let outcome = run(binary("merge-package"), &["--pakage", "x"], "");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("'--pakage'"), "{}", outcome.stderr);
    assert!(
        !outcome.stderr.contains("-- --pakage"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_error_for_directories_without_flags_names_the_flags() {
    let outcome = run(binary("merge-package"), &["DIR", "OLD", "NEW"], "");
    assert_eq!(outcome.code, Some(2));
    assert_eq!(
        outcome.stderr,
        "merge-package: expected KEY=VALUE, found `DIR`; give files and directories with flags: \
         --package DIR, --original PATH, --upstream PATH\n"
    );
}

#[test]
fn a_revision_is_not_a_directory() {
    let package = package();
    let path = package.path().to_str().expect("UTF-8");
    let arguments = [
        "--package",
        path,
        "--original",
        "v1.0",
        "--upstream",
        "v2.0",
    ];
    let outcome = run(binary("merge-package"), &arguments, "");
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome
            .stderr
            .contains("--original: cannot read v1.0: no such file or directory"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn results_go_to_standard_output_where_it_is_free() {
    let package = package();
    let path = package.path().to_str().expect("UTF-8");
    let set = &binary("set-package-context");
    let outcome = run(
        set,
        &["--package", path, "--check", "--results", "-", "a=b"],
        "",
    );
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(
        outcome
            .stdout
            .starts_with("apiVersion: kpt.dev/v1\nkind: FunctionResultList\n")
    );
    assert!(outcome.stdout.contains("set `a`"), "{}", outcome.stdout);
    for arguments in [
        &["--package", path, "--diff", "--results", "-", "a=b"][..],
        &["--results", "-", "a=b"],
    ] {
        let outcome = run(set, arguments, &list(&[KPTFILE, CONTEXT]));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
        assert!(
            outcome
                .stderr
                .contains("--results -: standard output is used for"),
            "{}",
            outcome.stderr
        );
    }
    let live = Path::new(path).join("package-context.yaml");
    let live = live.to_str().expect("UTF-8");
    let arguments = ["--package", path, "--live", live, "--results", "-"];
    let outcome = run(binary("apply-config"), &arguments, "");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
}

#[test]
fn results_are_printed_as_json_quietly_or_with_every_step() {
    let package = package();
    let path = package.path().to_str().expect("UTF-8");
    let set = |flags: &[&str]| {
        let flags = [&["--package", path, "--check", "a=b"], flags].concat();
        run(binary("set-package-context"), &flags, "")
    };
    let json: serde_json::Value =
        serde_json::from_str(&set(&["--output", "json"]).stderr).expect("JSON");
    assert_eq!(json["kind"], "FunctionResultList");
    assert_eq!(json["items"][0]["results"][0]["message"], "set `a`");
    assert_eq!(set(&["-q"]).stderr, "");
    assert_eq!(set(&["--quiet"]).code, Some(3));
    let verbose = set(&["-v"]).stderr;
    assert!(
        verbose.contains(" ms  read 2 files, 2 resources\n"),
        "{verbose}"
    );
    assert!(verbose.contains("1 results, 1 files change\n"), "{verbose}");
    assert_eq!(set(&["-q", "-v"]).code, Some(2));
    // In a filter the results are in the ResourceList: errors alone are printed, or all as JSON.
    let filter = |flags: &[&str]| {
        let flags = [&["a=b"], flags].concat();
        run(
            binary("set-package-context"),
            &flags,
            &list(&[KPTFILE, CONTEXT]),
        )
    };
    assert_eq!(filter(&[]).stderr, "");
    let json = filter(&["--output=json"]);
    assert!(json.stderr.contains("set `a`"), "{}", json.stderr);
    assert_eq!(json.stdout, filter(&[]).stdout);
}

#[test]
fn colours_are_as_asked_for() {
    let package = package();
    let path = package.path().to_str().expect("UTF-8");
    let diff = |flags: &[&str]| {
        let flags = [&["--package", path, "--diff", "a=b"], flags].concat();
        run(binary("set-package-context"), &flags, "")
    };
    let plain = diff(&[]);
    assert!(!plain.stdout.contains('\u{1b}') && !plain.stderr.contains('\u{1b}'));
    assert_eq!(diff(&["--color", "never"]), plain);
    let coloured = diff(&["--color=always"]);
    assert!(
        coloured.stdout.contains("\u{1b}[32m+data:\u{1b}[0m\n"),
        "{}",
        coloured.stdout
    );
    assert!(
        coloured
            .stdout
            .contains("\u{1b}[1m--- a/package-context.yaml\u{1b}[0m\n")
    );
    assert!(
        coloured.stderr.contains("\u{1b}[32m[info]"),
        "{}",
        coloured.stderr
    );
    assert_eq!(diff(&["--color", "sometimes"]).code, Some(2));
}

/// The others are written, and the exit code alone does not tell.
#[test]
fn help_says_what_an_error_leaves_unchanged() {
    for function in FUNCTIONS {
        let help = run(binary(function.name), &["--help"], "").stdout;
        let expected = match function.name {
            "render-fleet" => {
                "  1  an error result; its package is unchanged, the others are written\n"
            }
            _ => "  1  an error result; nothing is changed\n",
        };
        assert!(help.contains(expected), "{help}");
    }
}

#[test]
fn documents_name_the_rust_version_of_the_manifest() {
    let version = env!("CARGO_PKG_RUST_VERSION");
    for page in ["README.md", "docs/stability.md", "docs/compatibility.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = std::fs::read_to_string(path).expect("a page");
        assert!(text.contains(version), "{page}: {version}");
    }
}
