//! What a process costs before it has worked: start-up, sizes, and a list of 10 resources.

use std::path::Path;
use std::process::Command;

use super::generate;
use super::measure::{Row, is_there, measure, run, with_input};

const FUNCTIONS: [(&str, &str); 9] = [
    ("apply-config", env!("CARGO_BIN_EXE_apply-config")),
    ("apply-patch", env!("CARGO_BIN_EXE_apply-patch")),
    ("create-patch", env!("CARGO_BIN_EXE_create-patch")),
    (
        "expand-variant-set",
        env!("CARGO_BIN_EXE_expand-variant-set"),
    ),
    ("inject-config", env!("CARGO_BIN_EXE_inject-config")),
    ("merge-package", env!("CARGO_BIN_EXE_merge-package")),
    ("prepend-pipeline", env!("CARGO_BIN_EXE_prepend-pipeline")),
    ("render-variant", env!("CARGO_BIN_EXE_render-variant")),
    (
        "set-package-context",
        env!("CARGO_BIN_EXE_set-package-context"),
    ),
];

/// Prints the table.
pub(crate) fn table(go: Option<&Path>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("list.yaml");
    std::fs::write(&file, generate::resources(10)).expect("a file");
    let input = &*file;
    let function = env!("CARGO_BIN_EXE_set-package-context");
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
    for (name, path) in FUNCTIONS {
        rows.push(Row::process(format!("{name} --version"), move || {
            let mut command = Command::new(path);
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
        let size = FUNCTIONS
            .iter()
            .find(|(name, _)| row.name == format!("{name} --version"))
            .and_then(|(_, path)| std::fs::metadata(path).ok())
            .map_or("-".to_owned(), |file| {
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
