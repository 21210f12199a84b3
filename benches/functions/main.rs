//! The benchmark: whole processes, from a file as standard input to `/dev/null`, next to reference work on
//! the same bytes in the same run. `cargo bench` prints the tables; only ratios are worth comparing. It measures the programs that
//! `cargo build --release` has built.
//!
//! `cargo bench -- WORD...` prints some of them: `small`, `context`, `counts`, `each`, `everyday`, `fleet`, `merge`, `patches`. Numbers are
//! sizes for `context` and `each` in MB, instead of 1, 10 and 50. `go` builds a function in Go next to ours, with modules from Go's proxy.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    reason = "a benchmark may stop"
)]

mod context;
mod counts;
mod each;
mod everyday;
mod fleet;
mod generate;
mod go_function;
mod measure;
mod merge;
mod patches;
mod programs;
mod reference;
mod small;

const TABLES: [&str; 8] = [
    "small", "context", "counts", "each", "everyday", "fleet", "merge", "patches",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let says = |word: &str| arguments.iter().any(|argument| argument == word);
    let all = !TABLES.iter().any(|table| says(table));
    let asked = |table: &str| all || says(table);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let go = says("go").then(|| go_function::build(directory.path()));
    if go.is_none() && (asked("small") || asked("context")) {
        println!("\nleft out: the Go function, for which `cargo bench -- go` asks");
    }
    let go = go.flatten();
    if asked("small") {
        small::table(go.as_deref());
    }
    let sizes = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok());
    let mut sizes: Vec<usize> = sizes.collect();
    if sizes.is_empty() {
        sizes = vec![1, 10, 50];
    }
    if asked("context") {
        for megabytes in &sizes {
            context::table(*megabytes, go.as_deref());
        }
    }
    if asked("counts") {
        counts::table();
    }
    if asked("each") {
        each::table(&sizes);
    }
    if asked("everyday") {
        everyday::table();
    }
    if asked("patches") {
        patches::table();
    }
    if asked("merge") {
        merge::table();
    }
    if asked("fleet") {
        fleet::table();
    }
}
