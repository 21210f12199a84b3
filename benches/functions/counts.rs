//! Instructions that every function takes for a byte of its input, next to the recorded ones.
//!
//! A count depends on the program alone, not on the machine's moment. Two sizes are counted and their difference is
//! taken, so that the start of the process is left out. The threads of the scanner count as well.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::each::{Case, cases};
use super::measure::with_input;

/// Bytes of the lists.
const SIZES: [usize; 2] = [100_000, 400_000];
/// How much more than recorded is a failure, in percent.
const TOLERANCE: f64 = 30.0;
const RECORDED: &str = "benches/instructions.txt";

/// Prints the table. `UPDATE_EXPECT=1` records the counts again; otherwise one that is far above its recorded one ends the process
/// with an error. Left out without valgrind.
pub(crate) fn table() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("\nleft out: instructions for a byte, which valgrind counts");
        return;
    }
    let recorded = std::fs::read_to_string(RECORDED).unwrap_or_default();
    println!("\nInstructions for a byte of lists, and those recorded\n");
    println!("| function | instructions | recorded |\n|---|---|---|");
    let directories = SIZES.map(|_| tempfile::tempdir().expect("a temporary directory"));
    let both = [0, 1].map(|index| {
        cases(SIZES[index], &|name, text| {
            put(directories[index].path(), name, text)
        })
    });
    let (mut lines, mut failed) = (String::new(), false);
    for (small, large) in both[0].iter().zip(&both[1]) {
        let more = count(large) - count(small);
        let each = more / (large.bytes - small.bytes) as f64;
        let before = recorded.lines().find_map(|line| {
            let (number, name) = line.split_once(' ')?;
            (name == small.function).then(|| number.parse::<f64>().expect("a number"))
        });
        let is_more = before.is_none_or(|before| each > before * (1.0 + TOLERANCE / 100.0));
        failed |= is_more;
        let before = before.map_or("-".to_owned(), |before| format!("{before:.1}"));
        let verdict = if is_more { ", FAILED" } else { "" };
        println!("| {} | {each:.1} | {before}{verdict} |", small.function);
        lines += &format!("{each:.1} {}\n", small.function);
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(RECORDED, lines).expect("the counts are recorded");
    } else if failed {
        println!(
            "\nover {TOLERANCE} % more than recorded, or not recorded; UPDATE_EXPECT=1 records them again"
        );
        std::process::exit(1);
    }
}

fn put(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text).expect("a file");
    path
}

/// Instructions of one run.
fn count(case: &Case) -> f64 {
    let arguments = [
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        case.program,
    ];
    let flags = case.flags.iter().map(String::as_str);
    let arguments: Vec<&str> = arguments.into_iter().chain(flags).collect();
    let mut command = with_input("valgrind", &arguments, &case.input);
    let output = command
        .stdout(Stdio::null())
        .output()
        .expect("valgrind starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let (_, count) = count.unwrap_or_else(|| panic!("{}: no count: {said}", case.function));
    count.trim().parse().expect("a count")
}
