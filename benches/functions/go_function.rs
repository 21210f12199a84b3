//! A function made in Go with the krm-functions-sdk, built where Go is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::measure::is_there;

/// Builds it into a folder; `None`, with a line that says so, where that cannot be done.
pub(crate) fn build(folder: &Path) -> Option<PathBuf> {
    if !is_there("go") {
        println!("\nleft out: the Go function, since go is not on PATH");
        return None;
    }
    let start = Instant::now();
    let program = folder.join("go-function");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/go-function");
    let output = Command::new("go")
        .args(["-C", source, "build", "-buildvcs=false", "-trimpath", "-o"])
        .arg(&program)
        .arg(".")
        .output();
    match output {
        Ok(output) if output.status.success() => {
            println!("\nThe Go function took {:.0?} to build.", start.elapsed());
            Some(program)
        }
        Ok(output) => {
            let message = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
            println!("\nleft out: the Go function, since it does not build: {message}");
            None
        }
        Err(error) => {
            println!("\nleft out: the Go function: {error}");
            None
        }
    }
}
