//! Time and memory of one large map: ten times the input and 64 MB, whatever changes in it.

use indoc::indoc;
use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// Watches a process until it ends: its peak memory in bytes, and its time on processors.
pub(crate) fn watch(child: &Child) -> JoinHandle<(u64, Duration)> {
    let process = format!("/proc/{}", child.id());
    std::thread::spawn(move || {
        let (mut peak, mut time) = (0, Duration::ZERO);
        let read = |name: &str| std::fs::read_to_string(format!("{process}/{name}")).ok();
        // A process that has ended has no such line any more.
        while let Some(now) = read("status").as_deref().and_then(peak_memory) {
            peak = peak.max(now);
            time = read("stat")
                .as_deref()
                .and_then(time_on_cpu)
                .unwrap_or(time);
            std::thread::sleep(Duration::from_millis(2));
        }
        (peak, time)
    })
}

/// Time of a process on processors: other load does not count.
fn time_on_cpu(stat: &str) -> Option<Duration> {
    const TICK: Duration = Duration::from_millis(10);
    // The name in parentheses may hold spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = [fields.next()?, fields.next()?].map(str::parse::<u32>);
    let [Ok(user), Ok(system)] = ticks else {
        return None;
    };
    Some(TICK * (user + system))
}

fn peak_memory(status: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}

/// So many that the 64 MB are less than half of the bound.
const KEYS: usize = 300_000;

/// Entries of a map, each on a line or in JSON.
fn entries(count: usize, value: char, is_json: bool) -> String {
    let mut text = String::new();
    for number in 0..count {
        let written = if is_json {
            let comma = if number > 0 { "," } else { "" };
            write!(text, "{comma}\"k{number:09}\":\"{value}\"")
        } else {
            writeln!(text, "  k{number:09}: {value}")
        };
        written.expect("a String takes everything");
    }
    text
}

fn config_map(annotations: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n{annotations}data:\n{data}")
}

/// The annotation of `kubectl apply` for a map of so many entries.
fn last_applied(count: usize) -> String {
    let data = entries(count, 'a', true);
    format!(
        "  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      \
         {{\"apiVersion\":\"v1\",\"data\":{{{data}}},\"kind\":\"ConfigMap\",\
         \"metadata\":{{\"annotations\":{{}},\"name\":\"a\"}}}}\n"
    )
}

#[test]
fn changes_of_one_large_map_take_ten_times_the_input() {
    let plain = |count: usize, value: char| config_map("", &entries(count, value, false));
    let annotated = config_map(&last_applied(KEYS / 2), &entries(KEYS / 2, 'a', false));
    let cases = [
        ("one key of many", plain(KEYS, 'a'), plain(1, 'b')),
        ("all keys change", plain(KEYS, 'a'), plain(KEYS, 'b')),
        ("all keys are new", plain(1, 'a'), plain(KEYS, 'a')),
        ("all keys are removed", annotated.clone(), plain(1, 'a')),
        ("all keys but one stay", annotated, plain(KEYS / 2 - 1, 'a')),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, live, config) in cases {
        let input = (live.len() + config.len()) as u64;
        write(folder.path(), &[("live", live), ("config", config)]);
        for function in [
            crate::running::function("apply-config"),
            crate::running::function("create-patch"),
        ] {
            let arguments = ["--live", "live", "--package", "config"];
            check(name, function, &arguments, folder.path(), input);
        }
    }
}

#[test]
fn merges_of_one_large_collection_take_ten_times_the_input() {
    let map = |count: usize, value: char, own: &str| {
        config_map("", &(own.to_owned() + &entries(count, value, false)))
    };
    let items = |field: &str, count: usize, value: char, own: &str| {
        let mut text = format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n{field}:\n{own}");
        (0..count).for_each(|n| writeln!(text, "    - {value}{n:09}").expect("a String"));
        text
    };
    let args = "spec:\n  containers:\n  - name: a\n    args";
    let env = |count: usize, value: char, own: &str| {
        let head = indoc! {"
            apiVersion: v1
            kind: Pod
            metadata:
              name: a
            spec:
              containers:
              - name: a
                env:
        "};
        let mut text = format!("{head}{own}");
        (0..count).for_each(|n| {
            writeln!(text, "    - {{name: e{n:09}, value: {value}}}").expect("a String");
        });
        text
    };
    let (key, item, variable) = (
        "  mine: 1\n",
        "    - mine # own\n",
        "    - {name: mine, value: x}\n",
    );
    let cases = [
        (
            "one key",
            map(KEYS, 'a', ""),
            map(KEYS, 'a', key),
            map(KEYS + 1, 'a', ""),
        ),
        (
            "all keys",
            map(KEYS, 'a', ""),
            map(KEYS, 'a', key),
            map(KEYS, 'b', ""),
        ),
        (
            "all keys by both",
            map(KEYS, 'a', ""),
            map(KEYS, 'c', key),
            map(KEYS, 'b', ""),
        ),
        (
            "new keys",
            map(1, 'a', ""),
            map(1, 'a', key),
            map(KEYS, 'a', ""),
        ),
        (
            "removed keys",
            map(KEYS, 'a', ""),
            map(KEYS, 'a', key),
            map(1, 'a', ""),
        ),
        (
            "one item",
            items(args, KEYS, 'a', ""),
            items(args, KEYS, 'a', item),
            items(args, KEYS + 1, 'a', ""),
        ),
        (
            "all items",
            items(args, KEYS, 'a', ""),
            items(args, KEYS, 'a', item),
            items(args, KEYS, 'b', ""),
        ),
        (
            "new items",
            items(args, 1, 'a', ""),
            items(args, 1, 'a', item),
            items(args, KEYS, 'a', ""),
        ),
        (
            "new finalizers",
            items("  finalizers", 1, 'a', ""),
            items("  finalizers", 1, 'a', item),
            items("  finalizers", KEYS, 'a', ""),
        ),
        (
            "all variables",
            env(KEYS / 3, 'a', ""),
            env(KEYS / 3, 'a', variable),
            env(KEYS / 3, 'b', ""),
        ),
        (
            "new variables",
            env(1, 'a', ""),
            env(1, 'a', variable),
            env(KEYS / 3, 'b', ""),
        ),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, base, local, upstream) in cases {
        let input = (base.len() + local.len() + upstream.len()) as u64;
        write(
            folder.path(),
            &[("base", base), ("local", local), ("upstream", upstream)],
        );
        let arguments = [
            "--original",
            "base",
            "--upstream",
            "upstream",
            "--package",
            "local",
        ];
        let function = crate::running::function("merge-package");
        check(name, function, &arguments, folder.path(), input);
    }
}

#[test]
fn conflicts_beyond_ten_thousand_are_counted() {
    let map = |value| config_map("", &entries(10_005, value, false));
    let folder = tempfile::tempdir().expect("a folder");
    let roles = [
        ("base", map('a')),
        ("local", map('b')),
        ("upstream", map('c')),
    ];
    write(folder.path(), &roles);
    let run = || {
        let output = Command::new(crate::running::function("merge-package"))
            .args(["--original", "base", "--upstream", "upstream"])
            .args(["--package", "local", "--exit-conflicts"])
            .current_dir(folder.path())
            .output()
            .expect("the binary runs");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        (said, output.status.code())
    };
    let (said, code) = run();
    assert_eq!(said.matches("(MergeConflict)").count(), 10_001);
    assert!(said.contains("data.k000010000: "), "{said}");
    assert!(
        said.contains(", and 4 more like this (MergeConflict)"),
        "{said}"
    );
    assert!(said.contains("0 moved, 10005 conflicts"), "{said}");
    assert_eq!(code, Some(4));
    let merged = std::fs::read_to_string(folder.path().join("local/a.yaml")).expect("a file");
    assert_eq!(merged, map('c'));
}

/// Writes a file into the directory of each role.
fn write(folder: &Path, roles: &[(&str, String)]) {
    for (role, text) in roles {
        std::fs::create_dir_all(folder.join(role)).expect("a folder");
        std::fs::write(folder.join(role).join("a.yaml"), text).expect("a file");
    }
}

/// Pages of the tests' program itself: an unoptimized `krmv`, which is all functions, has 10 MB more than a program of one.
const PROGRAM: u64 = 16 << 20;

/// Runs a function that finds changes, within the bounds of memory and time.
fn check(name: &str, function: &str, arguments: &[&str], folder: &Path, input: u64) {
    let mut child = Command::new(function)
        .arg("--check")
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let watcher = watch(&child);
    let code = child.wait().expect("the binary ends").code();
    let (memory, time) = watcher.join().expect("the watcher ends");
    assert_eq!(code, Some(3), "{name}: {function}");
    let bound = 10 * input + (64 << 20) + PROGRAM;
    assert!(
        memory <= bound,
        "{name}: {function}: {memory} bytes for {input}"
    );
    // Without optimization; what is quadratic takes minutes.
    assert!(
        time < Duration::from_secs(30),
        "{name}: {function}: {time:?}"
    );
}
