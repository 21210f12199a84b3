//! What a process costs before it has worked: start-up, sizes, and a list of 10 resources.

use std::path::Path;
use std::process::Command;

use krm_function::Function;
use krmv::FUNCTIONS;

use super::generate;
use super::measure::{Row, is_there, measure, run, with_input};
use super::programs::program;

/// Prints the table.
pub(crate) fn table(go: Option<&Path>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("list.yaml");
    std::fs::write(&file, generate::resources(10)).expect("a file");
    let input = &*file;
    let function = program("set-package-context");
    let mut rows = vec![
        Row::process("/bin/true", || Command::new("/bin/true")),
        Row::process("set-package-context, 10 resources", move || {
            with_input(function, &["region=eu"], input)
        }),
    ];
    if let Some(go) = go {
        rows.push(Row::process("Go function, 10 resources", move || {
            with_input(go, &["one-key"], input)
        }));
    }
    if is_there("kpt") {
        let package = directory.path().join("package").display().to_string();
        run(&mut with_input("kpt", &["fn", "sink", &package], input));
        rows.push(Row::process(
            "kpt fn eval with cat, 10 resources",
            move || {
                let mut command = Command::new("kpt");
                command.args(["fn", "eval", &package, "--exec", "cat"]);
                command
            },
        ));
    }
    for Function { name, .. } in FUNCTIONS {
        // Cargo builds all of them into one directory.
        let path = Path::new(function).with_file_name(name);
        rows.push(Row::process(format!("{name} --version"), move || {
            let mut command = Command::new(&path);
            command.arg("--version");
            command
        }));
    }
    measure(&mut rows);
    println!("\nWhole processes, median of the rounds (least to most)\n");
    println!("| work | ms | ms more than /bin/true | CPU, ms | size of the binary, MB |");
    println!("|---|---|---|---|---|");
    let base = rows[0].median();
    for row in &rows {
        let [low, median, high] = row.spread().map(|seconds| seconds * 1e3);
        let size = row.name.strip_suffix(" --version").and_then(|name| {
            let binary = Path::new(function).with_file_name(name);
            std::fs::metadata(binary).ok()
        });
        let size = size.map_or("-".to_owned(), |file| {
            format!("{:.1}", file.len() as f64 / 1e6)
        });
        println!(
            "| {} | {median:.2} ({low:.2} to {high:.2}) | {:.2} | {:.2} | {size} |",
            row.name,
            median - base * 1e3,
            row.cpu() * 1e3,
        );
    }
}
