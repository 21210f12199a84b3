//! set-package-context over one ResourceList of some MB, next to reference work and other programs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::measure::{self, Row, is_there, run, with_input};
use super::programs::program;
use super::{generate, reference};

const FUNCTION: &str = "set-package-context";
/// The row that the others are compared with.
const BASE: &str = "set-package-context, one key";
/// `kpt fn sink` takes a quarter of a minute for this, and gigabytes for more.
const MOST_FOR_SINK: usize = 50;
/// For more, kpt and Go take minutes and gigabytes.
const MOST_FOR_KPT: usize = 10;
const MOST_FOR_GO: usize = 10;
/// `kpt fn eval` and kustomize take quadratic time: minutes for 10 MB.
const MOST_FOR_QUADRATIC: usize = 1;

/// Prints the table of one size.
pub(crate) fn table(megabytes: usize, go: Option<&Path>) {
    let text = generate::resource_list(megabytes * 1_000_000);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let config =
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\nmetadata:\n  name: bench\n";
    let nothing = write("nothing.yaml", config).display().to_string();
    let one_key = write("one-key.yaml", &format!("{config}data:\n  region: eu\n"));
    let one_key = one_key.display().to_string();
    let input = &*write("list.yaml", &text);

    let with_one_key = || with_input(program(FUNCTION), &["--config", &one_key], input);
    let with_one_key = &with_one_key;

    let mut rows = reference::rows(&text);
    rows.push(Row::process("cat", move || with_input("cat", &[], input)));
    rows.push(Row::process(
        "set-package-context, nothing to do",
        move || with_input(program(FUNCTION), &["--config", &nothing], input),
    ));
    rows.push(Row::process(BASE, with_one_key));
    rows.push(Row::new(format!("{BASE}, input from a pipe"), || {
        let mut command = with_one_key();
        from_pipe(command.stdin(Stdio::piped()), text.as_bytes());
    }));
    rows.push(Row::new(format!("{BASE}, output to a file"), || {
        let output = std::fs::File::create(root.join("output.yaml")).expect("a file");
        let status = with_one_key().stdout(output).status();
        assert!(status.expect("it starts").success(), "{BASE}");
    }));
    // As many bytes, so more or fewer resources.
    let longer = generate::resource_list(megabytes * 1_500_000);
    for (name, printed) in [
        ("JSON on one line", false),
        ("JSON over several lines", true),
    ] {
        let list = generate::json(&longer, text.len(), printed);
        let (list, config) = (write(&format!("{printed}.json"), &list), one_key.clone());
        rows.push(Row::process(format!("{BASE}, {name}"), move || {
            with_input(program(FUNCTION), &["--config", &config], &list)
        }));
    }
    drop(longer);
    if let Some(go) = go.filter(|_| megabytes <= MOST_FOR_GO) {
        rows.push(Row::process("Go function, nothing to do", move || {
            with_input(go, &[], input)
        }));
        rows.push(Row::process("Go function, one key", move || {
            with_input(go, &["one-key"], input)
        }));
    }
    if megabytes <= MOST_FOR_SINK {
        kpt(root, input, megabytes, &mut rows);
    }
    if megabytes <= MOST_FOR_QUADRATIC {
        kustomize(root, &text, &mut rows);
    }
    measure::measure(&mut rows);
    print(megabytes, text.len(), &rows);
}

/// Runs a process with the text on a pipe.
fn from_pipe(command: &mut Command, text: &[u8]) {
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    std::io::Write::write_all(&mut stdin, text).expect("it reads");
    drop(stdin);
    assert!(child.wait().expect("it ends").success(), "{command:?}");
}

/// Adds kpt where it is on PATH.
fn kpt<'a>(root: &'a Path, input: &'a Path, megabytes: usize, rows: &mut Vec<Row<'a>>) {
    let number = AtomicUsize::new(0);
    // kpt writes into no folder that is there.
    let sink = move || {
        let number = number.fetch_add(1, Ordering::Relaxed);
        root.join(format!("sink-{number}")).display().to_string()
    };
    let sink = std::rc::Rc::new(sink);
    if is_there("kpt") {
        let package = sink();
        run(&mut with_input("kpt", &["fn", "sink", &package], input));
        let target = std::rc::Rc::clone(&sink);
        rows.push(Row::process("kpt fn sink", move || {
            with_input("kpt", &["fn", "sink", &target()], input)
        }));
        if megabytes <= MOST_FOR_KPT {
            let (from, target) = (package.clone(), sink);
            rows.push(Row::new(
                "kpt fn source, kpt fn sink in a pipe",
                move || {
                    let line = r#"kpt fn source "$1" | kpt fn sink "$2""#;
                    run(Command::new("sh").args(["-c", line, "sh", &from, &target()]));
                },
            ));
        }
        if megabytes <= MOST_FOR_QUADRATIC {
            rows.push(Row::process("kpt fn eval with cat", move || {
                let mut command = Command::new("kpt");
                command.args(["fn", "eval", &package, "--exec", "cat"]);
                command
            }));
        }
    } else {
        println!("\nleft out: kpt, which is not on PATH");
    }
}

/// Adds kustomize where kubectl is on PATH.
fn kustomize<'a>(root: &Path, text: &str, rows: &mut Vec<Row<'a>>) {
    if is_there("kubectl") {
        let folder = root.join("kustomize");
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("all.yaml"), generate::stream(text)).expect("a file");
        let list = "resources:\n- all.yaml\n";
        std::fs::write(folder.join("kustomization.yaml"), list).expect("a file");
        rows.push(Row::process("kubectl kustomize", move || {
            let mut command = Command::new("kubectl");
            command.arg("kustomize").arg(&folder);
            command
        }));
    } else {
        println!("\nleft out: kubectl, which is not on PATH");
    }
}

fn print(megabytes: usize, length: usize, rows: &[Row<'_>]) {
    let base = rows
        .iter()
        .find(|row| row.name == BASE)
        .expect("it is there");
    println!("\nResourceList of {megabytes} MB, median of the rounds (least to most)\n");
    println!("| work | MB/s | time / \"{BASE}\" | CPU, s | peak memory / input |");
    println!("|---|---|---|---|---|");
    for row in rows {
        let [low, median, high] = row.ratio(base);
        let memory = row.memory_peak.map_or("-".to_owned(), |bytes| {
            format!("{:.2}", bytes as f64 / length as f64)
        });
        println!(
            "| {} | {:.1} | {median:.3} ({low:.3} to {high:.3}) | {:.4} | {memory} |",
            row.name,
            length as f64 / 1e6 / row.median(),
            row.cpu(),
        );
    }
}
