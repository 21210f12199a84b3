//! merge-package next to `kpt pkg update`: packages of 100 to 100,000 Deployments, of which upstream
//! changed all and local every tenth; and two revisions of real packages.
//!
//! Processor time, user and system, of the whole process with all that it writes; Linux only. Both
//! work in memory where there is a `/dev/shm`: what a disk's file system takes to replace a thousand
//! files says more of what it did before than of who asks. kpt takes quadratic time and is measured
//! up to 1,000 resources.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use krm_core::resource_list::ResourceList;
use tempfile::TempDir;

use super::measure::{is_there, peak_of, run, ticks};
use super::programs::program;

const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];
const MOST_FOR_KPT: usize = 1_000;

/// Prints the table.
pub(crate) fn table() {
    println!(
        "\nmerge-package: generated packages, one resource a file (10 from 100,000 on), and real ones with the local edits of tests/cases/upgrades\n"
    );
    println!(
        "| package | resources | three versions, MB | CPU, merge-package in place | CPU for each resource, µs | CPU with --check | peak memory / input | CPU, kpt pkg update | kpt / ours |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for count in SIZES {
        let folder = folder();
        write(folder.path(), count);
        row("generated", folder.path(), count);
    }
    let shared = std::env::var("KRM_VARIANTS_SHARED").unwrap_or_else(|_| "../shared".to_owned());
    let corpus = Path::new(&shared).join("corpus");
    let pairs = std::fs::read_dir(&corpus).into_iter().flatten().flatten();
    let mut pairs: Vec<_> = pairs.map(|pair| pair.file_name()).collect();
    pairs.sort();
    if pairs.is_empty() || !is_there("git") {
        println!("\nleft out: real packages, which KRM_VARIANTS_SHARED holds and git patches");
        return;
    }
    for pair in pairs {
        let folder = folder();
        let count = real(folder.path(), &corpus.join(&pair));
        row(&pair.to_string_lossy(), folder.path(), count);
    }
}

/// In memory, where that is possible.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    folder.expect("a temporary directory")
}

/// Measures the merge of `original`, `local` and `upstream` in a folder.
fn row(name: &str, root: &Path, count: usize) {
    let bytes: u64 = ["original", "local", "upstream"]
        .iter()
        .map(|side| length(&root.join(side)))
        .sum();
    // Linux counts in hundredths of a second: short work is done more than once.
    let times = (10_000 / count).clamp(3, 30);
    let ours = in_place(root, times);
    let check = cpu(|| {
        for _ in 0..times {
            merge(root, &root.join("local"), Some("--check"));
        }
    }) / times as f64;
    let peak = peak_of(&mut command(root, &root.join("local"), Some("--check")));
    let peak = peak.map_or("-".to_owned(), |peak| {
        format!("{:.1}", peak as f64 / bytes as f64)
    });
    let kpts = (count <= MOST_FOR_KPT && is_there("kpt") && is_there("git")).then(|| kpt(root));
    let (kpts, ratio) = match kpts {
        Some(kpts) => (format!("{kpts:.2} s"), format!("{:.0}", kpts / ours)),
        None => ("-".to_owned(), "-".to_owned()),
    };
    let each = ours / count as f64 * 1e6;
    let megabytes = bytes as f64 / 1e6;
    println!(
        "| {name} | {count} | {megabytes:.1} | {ours:.3} s | {each:.1} | {check:.3} s | {peak} | {kpts} | {ratio} |"
    );
}

/// Bytes of all files below a folder.
fn length(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let lengths = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => length(&entry.path()),
        data => data.map_or(0, |data| data.len()),
    });
    lengths.sum()
}

/// Copies both revisions of a real package, with local edits of the first; gives its number of resources.
fn real(root: &Path, pair: &Path) -> usize {
    for (side, of) in [
        ("original", "original"),
        ("local", "original"),
        ("upstream", "upstream"),
    ] {
        let copied = Command::new("cp")
            .arg("-R")
            .arg(pair.join(of))
            .arg(root.join(side))
            .status();
        assert!(copied.expect("it starts").success(), "{side}");
    }
    let name = pair.file_name().expect("a name");
    let patch = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/upgrades");
    let patch = patch.join(name).join("local.patch");
    run(Command::new("git")
        .current_dir(root.join("local"))
        .arg("apply")
        .arg(&patch));
    let patch = std::fs::read_to_string(patch).expect("local edits");
    for path in patch.lines().filter_map(|line| line.strip_prefix("+++ b/")) {
        // A patch without names of no file leaves the ones that it deletes empty.
        let path = root.join("local").join(path);
        if std::fs::metadata(&path).is_ok_and(|file| file.len() == 0) {
            std::fs::remove_file(path).expect("it is there");
        }
    }
    let krm = krm_package::read_package(&root.join("local")).expect("a package");
    let list = ResourceList::from_package(krm).expect("resources");
    list.items().count()
}

/// Writes original, local and upstream.
pub(crate) fn write(root: &Path, count: usize) {
    let per_file = if count >= 100_000 { 10 } else { 1 };
    for side in ["original", "local", "upstream"] {
        let folder = root.join(side);
        for (file, first) in (0..count).step_by(per_file).enumerate() {
            let mut text = String::new();
            for number in first..(first + per_file).min(count) {
                let separator = if number > first { "---\n" } else { "" };
                let (tag, replicas) = match side {
                    "upstream" => ("v2", 1),
                    "local" if number % 10 == 0 => ("v1", 3),
                    _ => ("v1", 1),
                };
                let _ = write!(
                    text,
                    "{separator}apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{number}\n  namespace: shop\n  labels:\n    app: app-{number}\nspec:\n  replicas: {replicas} # load\n  selector:\n    matchLabels:\n      app: app-{number}\n  template:\n    metadata:\n      labels:\n        app: app-{number}\n    spec:\n      containers:\n      - name: main\n        image: registry.example.com/app-{number}:{tag}\n        args: [\"--port=8080\"]\n        ports:\n        - containerPort: 8080\n          name: http\n        # Where it runs.\n        env:\n        - name: REGION\n          value: us-east1\n"
                );
            }
            let folder = folder.join(format!("d{}", file / 1_000));
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(format!("f{file}.yaml")), &text).expect("a file");
        }
        let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: bench\n";
        std::fs::write(folder.join("Kptfile"), kptfile).expect("a file");
    }
}

/// Seconds for one of so many merges, each into its own copy of the package.
fn in_place(root: &Path, times: usize) -> f64 {
    let copies: Vec<_> = (0..times)
        .map(|number| root.join(format!("copy-{number}")))
        .collect();
    for copy in &copies {
        run(Command::new("cp")
            .arg("-R")
            .arg(root.join("local"))
            .arg(copy));
    }
    let seconds = cpu(|| {
        for copy in &copies {
            merge(root, copy, None);
        }
    });
    seconds / times as f64
}

pub(crate) fn command(root: &Path, package: &Path, flag: Option<&str>) -> Command {
    let mut command = Command::new(program("merge-package"));
    command.arg("--package").arg(package).args(flag);
    command.arg("--original").arg(root.join("original"));
    command.arg("--upstream").arg(root.join("upstream"));
    command.stderr(Stdio::null());
    command
}

fn merge(root: &Path, package: &Path, flag: Option<&str>) {
    let status = command(root, package, flag).status().expect("it starts");
    let expected = if flag.is_some() { 3 } else { 0 };
    assert_eq!(status.code(), Some(expected), "merge-package");
}

/// `kpt pkg update` of the same package, from a git repository with both revisions.
fn kpt(root: &Path) -> f64 {
    let package = root.join("kpt");
    run(Command::new("cp")
        .arg("-R")
        .arg(root.join("local"))
        .arg(&package));
    std::fs::write(package.join("Kptfile"), kptfile(root)).expect("a file");
    cpu(|| run(&mut kpt_update(root, &package)))
}

/// `kpt pkg update` of a package with the [`kptfile`].
pub(crate) fn kpt_update(root: &Path, package: &Path) -> Command {
    let mut command = Command::new("kpt");
    command
        .current_dir(package)
        .env("KPT_CACHE_DIR", root.join("cache"))
        .env("HOME", root)
        .args(["pkg", "update", ".@v2", "--strategy", "resource-merge"]);
    command
}

/// A Kptfile by which kpt follows the [`repository`].
pub(crate) fn kptfile(root: &Path) -> String {
    let commit = repository(root);
    let at = root.join("repository");
    let at = at.display();
    format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: bench\nupstream:\n  type: git\n  git:\n    repo: {at}\n    directory: /\n    ref: v1\n  updateStrategy: resource-merge\nupstreamLock:\n  type: git\n  git:\n    repo: {at}\n    directory: /\n    ref: v1\n    commit: {commit}\n"
    )
}

/// Makes a git repository: `original` is the tag `v1`, `upstream` and `local` behind it the tags `v2` and `local`. Gives the
/// commit of `v1`; `local` is checked out.
fn repository(root: &Path) -> String {
    let repository = root.join("repository");
    std::fs::create_dir(&repository).expect("a folder");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(&repository);
        command.args(["-c", "user.name=b", "-c", "user.email=b@example.com"]);
        run(command.args(arguments));
    };
    git(&["init", "-q", "-b", "main"]);
    for (side, before, branch) in [
        ("original", None, "v1"),
        ("upstream", Some("v1"), "v2"),
        ("local", Some("v1"), "local"),
    ] {
        match before {
            Some(before) => git(&["checkout", "-q", "-b", &format!("to-{branch}"), before]),
            None => git(&["checkout", "-q", "-b", "start"]),
        }
        git(&["rm", "-r", "-q", "--ignore-unmatch", "."]);
        run(Command::new("cp")
            .arg("-R")
            .arg(root.join(side).join("."))
            .arg(&repository));
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", branch]);
        git(&["tag", branch]);
    }
    let commit = Command::new("git")
        .arg("-C")
        .arg(&repository)
        .args(["rev-parse", "v1"])
        .output();
    String::from_utf8_lossy(&commit.expect("git").stdout)
        .trim()
        .to_owned()
}

/// Seconds of processor time that the children of this process took during `work`.
fn cpu(work: impl FnOnce()) -> f64 {
    let before = ticks();
    work();
    // Linux counts in hundredths of a second.
    (ticks() - before) as f64 / 100.0
}
