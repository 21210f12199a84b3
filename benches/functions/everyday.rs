//! What a user waits for: packages of 30, 300 and 3,000 files, next to kpt, kustomize and `git merge`.
//!
//! Each run works in a fresh copy of its package, in memory where there is a `/dev/shm`; the copy is not measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::each::{CLUSTER, PATCH, POINT, VARIANT};
use super::generate;
use super::measure::{ROUNDS, is_there, peak_of, run, spread};
use super::merge::{command, folder, kpt_update, kptfile, write};
use super::programs::program;

const FILES: [usize; 3] = [30, 300, 3_000];
/// Kpt takes quadratic time.
const MOST_FOR_KPT: usize = 300;

/// A run in a copy of a folder.
struct Work {
    name: String,
    /// What is copied.
    of: PathBuf,
    command: Box<dyn Fn(&Path) -> Command>,
}

/// Prints the table.
pub(crate) fn table() {
    println!("\nEveryday work: one Deployment a file\n");
    println!(
        "| files | work | ms, median (least to most) | / ours | peak memory of the process, MB |"
    );
    println!("|---|---|---|---|---|");
    for files in FILES {
        let folder = folder();
        let root = folder.path();
        write(root, files);
        for works in [updates(root, files), patches(root), pipes(root, files)] {
            rows(files, root, &works);
        }
    }
    if !is_there("kpt") || kustomize().is_none() {
        println!("\nleft out: what is not on PATH, of kpt and kustomize");
    }
}

/// Measures runs in turns; the first is ours.
fn rows(files: usize, root: &Path, works: &[Work]) {
    let mut times = vec![Vec::new(); works.len()];
    for _ in 0..ROUNDS {
        for (work, times) in works.iter().zip(&mut times) {
            in_copy(root, work, |mut command| {
                let start = Instant::now();
                run(&mut command);
                times.push(start.elapsed().as_secs_f64() * 1e3);
            });
        }
    }
    let ours = spread(times[0].clone())[1];
    for (work, times) in works.iter().zip(times) {
        let [least, median, most] = spread(times);
        let mut peak = None;
        in_copy(root, work, |mut command| {
            // Of a pipe it would be the shell's.
            peak = (command.get_program() != "sh")
                .then(|| peak_of(&mut command))
                .flatten();
        });
        let peak = peak.map_or("-".to_owned(), |peak| format!("{:.0}", peak as f64 / 1e6));
        let name = &work.name;
        println!(
            "| {files} | {name} | {median:.1} ({least:.1} to {most:.1}) | {:.1} | {peak} |",
            median / ours
        );
    }
}

fn in_copy(root: &Path, work: &Work, measured: impl FnOnce(Command)) {
    let copy = root.join("copy");
    run(Command::new("cp").arg("-R").arg(&work.of).arg(&copy));
    measured((work.command)(&copy));
    std::fs::remove_dir_all(copy).expect("the copy is there");
}

/// The package follows upstream.
fn updates(root: &Path, files: usize) -> Vec<Work> {
    let (home, local) = (root.to_owned(), root.join("local"));
    let mut works = vec![Work {
        name: "update: `merge-package --package DIR`".to_owned(),
        of: local.clone(),
        command: Box::new(move |copy| command(&home, copy, None)),
    }];
    if !is_there("git") {
        return works;
    }
    let kptfile = kptfile(root);
    works.push(Work {
        name: "`git merge` of both branches, by lines".to_owned(),
        of: root.join("repository"),
        command: Box::new(|copy| {
            let mut command = Command::new("git");
            command.arg("-C").arg(copy);
            command.args(["-c", "user.name=b", "-c", "user.email=b@example.com"]);
            command.args(["merge", "-q", "--no-edit", "v2"]);
            command
        }),
    });
    if is_there("kpt") && files <= MOST_FOR_KPT {
        let package = root.join("kpt");
        run(Command::new("cp").arg("-R").arg(&local).arg(&package));
        std::fs::write(package.join("Kptfile"), kptfile).expect("a file");
        let root = root.to_owned();
        works.push(Work {
            name: "`kpt pkg update`".to_owned(),
            of: package,
            command: Box::new(move |copy| kpt_update(&root, copy)),
        });
    }
    works
}

/// All Deployments get a field: ours in their files, kustomize prints them.
fn patches(root: &Path) -> Vec<Work> {
    let patch = root.join("patch.yaml");
    std::fs::write(&patch, PATCH).expect("a file");
    let overlay = root.join("overlay");
    run(Command::new("cp")
        .arg("-R")
        .arg(root.join("local"))
        .arg(&overlay));
    let mut names = Vec::new();
    for folder in std::fs::read_dir(&overlay).expect("a folder").flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten() {
            let name = file.expect("a file").path();
            let name = name.strip_prefix(&overlay).expect("within").to_owned();
            names.push(format!("- {}\n", name.display()));
        }
    }
    names.sort();
    let kustomization = format!(
        "resources:\n{}patches:\n- target: {{kind: Deployment}}\n  patch: |\n    kind: Deployment\n    metadata:\n      name: any\n    spec:\n      revisionHistoryLimit: 5\n",
        names.concat()
    );
    std::fs::write(overlay.join("kustomization.yaml"), kustomization).expect("a file");
    let mut works = vec![Work {
        name: "patch all: `apply-patch --package DIR`".to_owned(),
        of: root.join("local"),
        command: Box::new(move |copy| {
            let mut command = Command::new(program("apply-patch"));
            command.arg("--package").arg(copy);
            command.arg("--patches").arg(&patch);
            command
        }),
    }];
    if let Some((name, program)) = kustomize() {
        works.push(Work {
            name: format!("`{name}`, printed"),
            of: overlay,
            command: Box::new(move |copy| {
                let mut command = Command::new(program[0]);
                command.args(&program[1..]).arg(copy);
                command
            }),
        });
    }
    works
}

/// Four functions in one pipe.
fn pipes(root: &Path, files: usize) -> Vec<Work> {
    let folder = root.join("pipe");
    std::fs::create_dir(&folder).expect("a folder");
    let list = generate::resources(files) + POINT;
    for (name, text) in [
        ("list.yaml", &*list),
        ("variant.yaml", VARIANT),
        ("cluster.yaml", CLUSTER),
        ("patch.yaml", PATCH),
    ] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let pipe = [
        ("set-package-context", "region=eu < list.yaml"),
        ("prepend-pipeline", "--config variant.yaml"),
        (
            "inject-config",
            "--config variant.yaml --resources cluster.yaml",
        ),
        ("apply-patch", "--patches patch.yaml"),
    ]
    .map(|(name, arguments)| format!("{} {arguments}", program(name)));
    let script = pipe.join(" | ");
    let mut works = vec![Work {
        name: "four functions in one pipe".to_owned(),
        of: folder,
        command: Box::new(move |copy| {
            let mut command = Command::new("sh");
            command.current_dir(copy).arg("-c").arg(&script);
            command
        }),
    }];
    if is_there("kpt") {
        works.push(Work {
            name: "`kpt fn source`: the package read, and printed as a list".to_owned(),
            of: root.join("local"),
            command: Box::new(|copy| {
                let mut command = Command::new("kpt");
                command.args(["fn", "source"]).arg(copy);
                command
            }),
        });
    }
    works
}

/// Kustomize's name, and how it is called.
fn kustomize() -> Option<(&'static str, &'static [&'static str])> {
    if is_there("kustomize") {
        Some(("kustomize build", &["kustomize", "build"]))
    } else if is_there("kubectl") {
        Some(("kubectl kustomize", &["kubectl", "kustomize"]))
    } else {
        None
    }
}
