//! The benchmark: whole processes, from standard input to standard output, beside reference work on the
//! same bytes in the same run. `cargo bench` prints one table per size; only ratios are worth comparing.
//!
//! Peak memory is the child's `VmHWM`, read from `/proc` while it runs (Linux; a dash elsewhere).

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

mod fleet;
mod generate;
mod merge;

use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use krm_variants::yaml::{ParseOptions, Tree};

/// Rounds; every row is measured once in each, so that a slow moment touches all rows.
const ROUNDS: usize = 5;

/// What one run took.
struct Sample {
    time: Duration,
    memory: Option<u64>,
}

type Work<'a> = Box<dyn Fn() -> Sample + 'a>;

struct Row<'a> {
    name: &'static str,
    work: Work<'a>,
    samples: Vec<Sample>,
}

fn main() {
    // `cargo bench -- fleet` is about the fan-out alone, `cargo bench -- merge` about the merge;
    // `cargo bench -- 500` adds a size in MB.
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    if asked("fleet") {
        return fleet::table();
    }
    if asked("merge") {
        return merge::table();
    }
    let mut sizes = vec![1, 10, 50];
    sizes.extend(std::env::args().filter_map(|argument| argument.parse::<usize>().ok()));
    for megabytes in sizes {
        table(megabytes);
    }
    fleet::table();
    merge::table();
}

fn table(megabytes: usize) {
    let text = generate::resource_list(megabytes * 1_000_000);
    let function = env!("CARGO_BIN_EXE_set-package-context");
    let config =
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\nmetadata:\n  name: bench\n";
    let directory = tempfile::tempdir().expect("a temporary directory");
    let nothing = directory.path().join("nothing.yaml");
    let one_key = directory.path().join("one-key.yaml");
    std::fs::write(&nothing, config).expect("the config is written");
    std::fs::write(&one_key, format!("{config}data:\n  region: eu\n"))
        .expect("the config is written");

    let bytes = text.as_bytes();
    let inside = |work: &'static dyn Fn(&str)| -> Work<'_> {
        let text = &text;
        Box::new(move || {
            let start = Instant::now();
            work(text);
            Sample {
                time: start.elapsed(),
                memory: None,
            }
        })
    };
    let process = |program: &'static str, arguments: Vec<String>| -> Work<'_> {
        Box::new(move || run(program, &arguments, bytes))
    };
    let flag = |path: &std::path::Path| vec!["--config".to_owned(), path.display().to_string()];
    let mut rows = vec![
        row(
            "memory copy",
            inside(&|text| drop(black_box(text.to_owned()))),
        ),
        row(
            "count of line breaks",
            inside(&|text| {
                black_box(memchr::memchr_iter(b'\n', text.as_bytes()).count());
            }),
        ),
        row(
            "granit events, bare",
            inside(&|text| {
                let events = granit_parser::Parser::new_from_str(text);
                black_box(events.filter(|event| event.is_ok()).count());
            }),
        ),
        row(
            "tree of the whole text",
            inside(&|text| {
                black_box(Tree::parse(text, ParseOptions::default()).is_ok());
            }),
        ),
        row("cat (process)", process("cat", Vec::new())),
        row(
            "set-package-context, nothing to do (process)",
            process(function, flag(&nothing)),
        ),
        row(
            "set-package-context, one key (process)",
            process(function, flag(&one_key)),
        ),
    ];
    let kpt = Command::new("kpt")
        .arg("version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if kpt.is_ok() && megabytes <= 10 {
        let sink = move |directory: &std::path::Path| {
            let target = directory.join("sink");
            let _ = std::fs::remove_dir_all(&target);
            vec![
                "fn".to_owned(),
                "sink".to_owned(),
                target.display().to_string(),
            ]
        };
        let path = directory.path();
        let work: Work<'_> = Box::new(move || run("kpt", &sink(path), bytes));
        rows.push(row("kpt fn sink (process)", work));
    }
    for _ in 0..ROUNDS {
        for row in &mut rows {
            let sample = (row.work)();
            row.samples.push(sample);
        }
    }
    print(megabytes, bytes.len(), &rows);
}

fn row<'a>(name: &'static str, work: Work<'a>) -> Row<'a> {
    Row {
        name,
        work,
        samples: Vec::new(),
    }
}

/// Runs a process with the text on standard input; its output is read and dropped.
fn run(program: &str, arguments: &[String], input: &[u8]) -> Sample {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    let mut stdout = child.stdout.take().expect("standard output is piped");
    let id = child.id();
    let (memory, code) = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that does not read all of it has ended with an error, which is seen below.
            let _ = stdin.write_all(input);
        });
        let reader = scope.spawn(move || {
            let mut memory = None;
            let mut buffer = vec![0; 1 << 16];
            loop {
                match std::io::Read::read(&mut stdout, &mut buffer) {
                    Ok(0) | Err(_) => return memory,
                    Ok(_) => memory = peak(id).or(memory),
                }
            }
        });
        let memory = reader.join().expect("the reader does not panic");
        (memory, child.wait().expect("the program ends"))
    });
    assert!(code.success(), "{program} failed");
    Sample {
        time: start.elapsed(),
        memory,
    }
}

/// Peak memory of a running process in bytes.
fn peak(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix(" kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kilobytes| kilobytes * 1024)
}

fn print(megabytes: usize, length: usize, rows: &[Row<'_>]) {
    println!(
        "\nResourceList of {megabytes} MB ({length} bytes), median of {ROUNDS} rounds (least to most)\n"
    );
    println!("| work | time / granit events | time / memory copy | MB/s | peak memory / input |");
    println!("|---|---|---|---|---|");
    let events = &rows[2].samples;
    let copy = &rows[0].samples;
    for row in rows {
        let ratio = |base: &[Sample]| {
            let mut ratios: Vec<f64> = row
                .samples
                .iter()
                .zip(base)
                .map(|(sample, base)| sample.time.as_secs_f64() / base.time.as_secs_f64())
                .collect();
            ratios.sort_by(f64::total_cmp);
            ratios
        };
        let by_events = ratio(events);
        let by_copy = ratio(copy);
        let mut times: Vec<f64> = row.samples.iter().map(|s| s.time.as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        let memory = row.samples.iter().filter_map(|sample| sample.memory).max();
        let memory = memory.map_or("-".to_owned(), |m| {
            format!("{:.2}", m as f64 / length as f64)
        });
        println!(
            "| {} | {:.3} ({:.3} to {:.3}) | {:.1} | {:.0} | {memory} |",
            row.name,
            by_events[ROUNDS / 2],
            by_events[0],
            by_events[ROUNDS - 1],
            by_copy[ROUNDS / 2],
            length as f64 / 1e6 / times[ROUNDS / 2],
        );
    }
}
