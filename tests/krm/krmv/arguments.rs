//! What a Kptfile says never becomes a flag, a program or a folder to run in. The commands and their flags are those of
//! `--help`, and the fields those that `krmv get` writes: a new one is in the test without a change here.

use indoc::indoc;
use std::path::Path;
use std::time::{Duration, Instant};

use krm_address::{Address, CommitId, RefName, Surroundings};
use krm_upstream::git::GitCommand;
use proptest::prelude::*;

use super::{KRMV, World, on_path};

/// A password that must not be seen, and the name of a file that must not be made.
const PASSWORD: &str = "hunter2";
const CANARY: &str = "krmv-canary";

/// A repository's configuration that runs a command wherever Git believes it.
fn hostile_configuration(canary: &Path, is_bare: bool) -> String {
    let command = format!("touch {}; false", canary.display());
    format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = {is_bare}\n\tfsmonitor = \"{command}\"\n\tpager = \"{command}\"\n\
         \thooksPath = hooks\n[remote \".\"]\n\tuploadpack = \"{command}\"\n"
    )
}

/// A `git` that writes down how it was called.
fn recorder(git: &Path, log: &Path) -> String {
    format!(
        "#!/bin/sh\n{{\nprintf '%s\\0' BEGIN \"$(pwd -P)\" \"$GIT_ALLOW_PROTOCOL\" \"$(env)\" \"$@\" END\n}} >> '{}'\n\
         exec '{}' \"$@\"\n",
        log.display(),
        git.display()
    )
}

/// The calls of a log: the current directory, the protocols, the environment, the arguments.
fn calls(log: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8_lossy(log);
    let words: Vec<&str> = text.split('\0').collect();
    let calls = words.split(|word| *word == "END");
    let calls = calls.filter_map(|call| {
        call.iter()
            .position(|word| *word == "BEGIN")
            .map(|at| &call[at + 1..])
    });
    calls
        .map(|call| call.iter().map(|word| (*word).to_owned()).collect())
        .collect()
}

/// The names of all commands, as `krmv --help` lists them.
fn commands(world: &World) -> Vec<String> {
    let help = world.krmv(&["--help"]).stdout;
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let names = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect()
}

/// A command line of a command on the package, and its flags without values.
fn command_line(world: &World, command: &str) -> (Vec<String>, Vec<String>) {
    let help = world.krmv(&[command, "--help"]).stdout;
    let usage = help
        .lines()
        .find(|line| line.starts_with("Usage:"))
        .expect(&help);
    let mut line = vec![command.to_owned()];
    for word in usage.split_whitespace().skip(3) {
        line.extend(match word.trim_matches(['[', ']', '<', '>', '.']) {
            "FILE" => Some("web/app.yaml".to_owned()),
            "SOURCE" => Some("../catalog//web".to_owned()),
            "DIR" | "DIRECTORY" | "DIRECTORIES" => Some("web".to_owned()),
            _ => None,
        });
    }
    let flags = help.lines().filter_map(|line| {
        let flag = line.trim_start().split(", ").last()?;
        (flag.starts_with("--") && !flag.contains('<')).then(|| flag.split_whitespace().next())?
    });
    let others = ["--help", "--version"];
    (
        line,
        flags
            .filter(|flag| !others.contains(flag))
            .map(str::to_owned)
            .collect(),
    )
}

/// A package from a repository that brings folders in the shape of repositories.
fn hostile_world() -> World {
    let world = World::new();
    let canary = world.folder.path(CANARY);
    for (folder, is_bare) in [("catalog/web", false), ("catalog/web/mirror", true)] {
        let put = |name: &str, text: &str| world.folder.put(&format!("{folder}/{name}"), text);
        put("HEAD", "ref: refs/heads/main\n");
        put("objects/info/keep", "");
        put("refs/heads/.keep", "");
        put("config", &hostile_configuration(&canary, is_bare));
    }
    world.folder.commit("hostile");
    world.folder.git(&["tag", "v1.0.1"]);
    world
        .krmv(&["get", "../catalog//web@v1.0.1"])
        .assert_code(0);
    // The next commands must hold against such folders even where an earlier version let them in.
    for (folder, is_bare) in [("own/web", false), ("own/web/mirror", true)] {
        let put = |name: &str, text: &str| world.folder.put(&format!("{folder}/{name}"), text);
        put("HEAD", "ref: refs/heads/main\n");
        put("objects/info/keep", "");
        put("refs/heads/.keep", "");
        put("config", &hostile_configuration(&canary, is_bare));
    }
    let git = on_path("git").expect("git");
    world
        .folder
        .put("bin/git", recorder(&git, &world.folder.path("log")));
    world.folder.put(
        "bin/git-remote-other",
        format!("#!/bin/sh\ntouch '{}'\n", canary.display()),
    );
    for name in ["git", "git-remote-other"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.folder.path("bin").join(name), mode).expect("a mode");
    }
    let text = world.read("web/Kptfile").replace(
        "metadata:\n",
        indoc! {"
            metadata:
              annotations:
                fn.kpt.dev/open-upgrade: OPEN
                fn.kpt.dev/upstream-file: app.yaml
                fn.kpt.dev/upstream-source: app.tgz
                fn.kpt.dev/upstream-digest: sha256:00
        "},
    );
    world.write("Kptfile.all", &text);
    world
}

/// Runs a command, and checks every call of `git` that it made.
fn run(world: &World, line: &[String], value: &str) {
    let log = world.folder.path("log");
    std::fs::write(&log, "").expect("a file");
    let path = std::env::var("PATH").expect("a PATH");
    let mut command = world.command(Path::new(KRMV));
    command.args(line).env(
        "PATH",
        format!("{}:{path}", world.folder.path("bin").display()),
    );
    let start = Instant::now();
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .expect("it runs");
    let place = format!("krmv {} with {value:?}", line.join(" "));
    assert!(start.elapsed() < Duration::from_secs(25), "{place}");
    assert!(output.status.code().is_some(), "{place}");
    assert!(!world.folder.path(CANARY).exists(), "{place} ran a command");
    // In other fields, it is a text like any other.
    let shown = String::from_utf8_lossy(&output.stderr);
    let is_address = world.read("web/Kptfile").contains("repo: \"http://bob");
    assert!(!is_address || !shown.contains(PASSWORD), "{place}: {shown}");
    let root = world.folder.path("own").canonicalize().expect("it exists");
    for call in calls(&std::fs::read(&log).expect("a log")) {
        let [directory, protocols, environment, arguments @ ..] = &call[..] else {
            panic!("{place}: {call:?}")
        };
        assert_eq!(Path::new(directory), root, "{place}: {arguments:?}");
        assert_eq!(protocols, "https:http:ssh:git:file", "{place}");
        assert!(
            arguments.contains(&"safe.bareRepository=explicit".to_owned()),
            "{place}"
        );
        assert!(
            !environment.contains(PASSWORD),
            "{place}: in the environment"
        );
        let is_end = |word: &&String| *word == "--end-of-options" || *word == "--";
        for flag in arguments.iter().take_while(|word| !is_end(word)) {
            assert!(!flag.contains(value), "{place}: {arguments:?}");
        }
        assert!(
            !arguments.iter().any(|word| word.contains(PASSWORD)),
            "{place}: {arguments:?}"
        );
    }
}

/// Every line of the Kptfile with each of these values in place of its own.
fn hostile_kptfiles(world: &World) -> Vec<(String, String)> {
    let text = world.read("Kptfile.all");
    let canary = world.folder.path(CANARY);
    let values = [
        format!("--output={}", canary.display()),
        "other::x".to_owned(),
        "fd::7".to_owned(),
        "web/mirror".to_owned(),
        format!("file://{}", world.path("web/mirror").display()),
        format!("http://bob:{PASSWORD}@127.0.0.1:1/x"),
        "http://127.0.0.1:1/hostile".to_owned(),
    ];
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((key, _)) = line.split_once(": ") else {
            continue;
        };
        let is_read =
            ["repo", "ref", "commit", "directory"].contains(&key.trim()) || key.contains('/');
        for value in values.iter().skip(if is_read { 0 } else { 5 }) {
            let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            lines[at] = format!("{key}: {value:?}");
            // The other fields of their kind must not come first.
            let is_files = key.contains("upstream-source") || key.contains("upstream-digest");
            let is_other = |line: &String| {
                let of_files = line.contains("upstream-source") || line.contains("upstream-digest");
                line.ends_with("OPEN") || (of_files && !is_files)
            };
            if is_files {
                lines.retain(|line| !line.starts_with("upstreamLock") && line.contains(": "));
            }
            lines.retain(|line| !is_other(line));
            found.push((value.clone(), lines.join("\n") + "\n"));
        }
    }
    found
}

#[test]
fn no_command_runs_or_passes_on_what_a_kptfile_says() {
    let count = hostile_kptfiles(&hostile_world()).len();
    assert!(count > 60, "{count} Kptfiles");
    let shares: Vec<usize> = (0..4).collect();
    std::thread::scope(|scope| {
        for share in shares {
            scope.spawn(move || {
                let world = hostile_world();
                let commands = commands(&world);
                let is_known = |name: &str| commands.iter().any(|command| command == name);
                assert!(is_known("status") && is_known("blame"), "{commands:?}");
                let lines = commands
                    .iter()
                    .map(|command| command_line(&world, command).0);
                // Commands without a package do not read a Kptfile.
                let lines: Vec<_> = lines
                    .filter(|line| line.len() > 1 && line[0] != "man")
                    .collect();
                let kptfiles = hostile_kptfiles(&world);
                for (value, text) in kptfiles.iter().skip(share).step_by(4) {
                    world.write("web/Kptfile", text);
                    world.commit("hostile");
                    for line in &lines {
                        run(&world, line, value);
                    }
                }
            });
        }
    });
}

#[test]
fn no_flag_changes_where_and_how_git_runs() {
    let world = hostile_world();
    let text = world.read("web/Kptfile");
    let repo = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("repo: "));
    let value = "http://127.0.0.1:1/hostile";
    let remote = text.replace(repo.expect("a repository"), value);
    for text in [&text, &remote] {
        for command in commands(&world) {
            let (line, flags) = command_line(&world, &command);
            for flag in flags {
                world.write("web/Kptfile", text);
                world.commit("again");
                let mut line = line.clone();
                line.push(flag);
                if command != "man" {
                    run(&world, &line, value);
                }
            }
        }
    }
}

/// Texts that are likely to be wrong in an interesting way.
fn hostile_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("-"),
        Just("--"),
        Just("::"),
        Just(":"),
        Just("/"),
        Just("//"),
        Just("@"),
        Just("ext"),
        Just("file"),
        Just("https"),
        Just("ssh"),
        Just("git"),
        Just("host"),
        Just(".."),
        Just("refs/heads/"),
        Just("\n"),
        Just(" "),
        Just("\u{202e}"),
        Just("a"),
        Just("0123456789012345678901234567890123456789"),
        Just("^"),
        Just("~1"),
        Just("*"),
    ];
    let words = proptest::collection::vec(word, 0..7).prop_map(|words| words.concat());
    prop_oneof![words, any::<String>()]
}

proptest! {
    #[test]
    fn names_from_data_are_never_flags(repo in hostile_text(), name in hostile_text(), commit in hostile_text()) {
        let Ok(address) = Address::parse(&repo, &Surroundings::default()) else { return Ok(()) };
        let names: Vec<RefName> = RefName::parse(&name).into_iter().collect();
        let commits: Vec<CommitId> = CommitId::parse(&commit).into_iter().collect();
        let usual = Address::parse("https://e.com/r", &Surroundings::default()).expect("an address");
        for (command, usual) in [
            (GitCommand::list_references(&address), GitCommand::list_references(&usual)),
            (GitCommand::fetch(&address, &names, &commits), GitCommand::fetch(&usual, &[], &[])),
            (GitCommand::fetch_all(&address, true), GitCommand::fetch_all(&usual, true)),
        ] {
            prop_assert_eq!(command.options(), usual.options());
            let data = command.arguments().split_off(command.options().len());
            prop_assert_eq!(data[0], "--end-of-options");
            for word in &data[1..] {
                let word = word.to_str().expect("UTF-8");
                prop_assert!(!word.starts_with('-') && !word.contains(char::is_control));
            }
        }
        let helper = repo.split_once("::").map(|(helper, _)| helper);
        let is_helper = helper.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)));
        prop_assert!(!is_helper);
    }
}
