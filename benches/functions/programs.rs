//! The programs that are measured. Each is a crate of its own, so cargo builds only `krmv` along with the benchmark.

use std::path::Path;

/// The path of the program `name`: in the folder that `KRM_VARIANTS_PROGRAMS` names, or else next to `krmv`.
pub(crate) fn program(name: &str) -> &'static str {
    let path = match std::env::var_os("KRM_VARIANTS_PROGRAMS") {
        Some(folder) => Path::new(&folder).join(name),
        None => Path::new(env!("CARGO_BIN_EXE_krmv")).with_file_name(name),
    };
    assert!(
        path.is_file(),
        "{}: there is no such program, run `cargo build --release` first",
        path.display()
    );
    path.display().to_string().leak()
}
