//! Runs a function as Git's merge driver, on one file that two branches changed.

use std::borrow::Cow;
use std::path::Path;
use std::process::{Command, Stdio};

use super::arguments::Arguments;
use super::print::{print_line, print_results, write_results};
use super::read::{config_of_arguments, read_text};
use super::{DONE, FAILED};
use crate::{DriverFiles, DriverOutcome, Function, MergeDriver};
use krm_core::config::{Config, UsageError};
use krm_core::result_printer::ResultPrinter;

/// Merges the files that Git names as `%O %A %B %P` into the second one. The exit code tells Git whether conflicts
/// remain.
pub(super) fn on_files(
    function: &Function,
    arguments: &Arguments,
    driver: MergeDriver,
) -> Result<u8, UsageError> {
    let [original, local, upstream, path] = arguments.merged_files.as_slice() else {
        let message = "--git-merge-driver: expected the four files %O %A %B %P";
        return Err(UsageError::of(message));
    };
    let config = config_of_arguments(arguments)?;
    let read = |path: &Path| read_text("--git-merge-driver", path, &path.display().to_string());
    let files = (|| {
        Ok::<_, UsageError>(DriverFiles {
            original: read(original)?,
            local: read(local)?,
            upstream: read(upstream)?,
            path: path.to_string_lossy().into_owned(),
            labels: ["ours", "theirs"].map(str::to_owned),
        })
    })();
    let outcome = match &files {
        Ok(files) => driver(files, config.as_ref().and_then(Config::node))?,
        Err(error) => DriverOutcome::Unmerged(Some(error.to_string())),
    };
    let (text, results) = match outcome {
        DriverOutcome::Merged { text, results } => (text, results),
        DriverOutcome::Unmerged(why) => {
            if let Some(why) = why {
                print_message(
                    function,
                    &format!("{}: merged by lines: {why}", path.display()),
                );
            }
            return by_lines(original, local, upstream);
        }
    };
    let results = results.with_lines(|_| Some(Cow::Borrowed(&text)));
    write_results(function, arguments, &results)?;
    print_results(function, arguments, &results, ResultPrinter::by_file);
    std::fs::write(local, text)
        .map_err(|error| UsageError::cannot(format_args!("write '{}'", local.display()), error))?;
    Ok(if results.has_open_conflicts() {
        FAILED
    } else {
        DONE
    })
}

/// Merges lines, as Git does without a driver. `git merge-file` does the work: Git is installed, because it started
/// this process, and this way its settings apply (`merge.conflictStyle`).
fn by_lines(original: &Path, local: &Path, upstream: &Path) -> Result<u8, UsageError> {
    let mut command = Command::new("git");
    command.args([
        "merge-file",
        "-L",
        "ours",
        "-L",
        "base",
        "-L",
        "theirs",
        "--",
    ]);
    command.arg(local).arg(original).arg(upstream);
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| UsageError::cannot("run git merge-file", error))?;
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        print_line(&line);
    }
    Ok(match output.status.code() {
        Some(0) => DONE,
        _ => FAILED,
    })
}

fn print_message(function: &Function, message: &str) {
    print_line(&format_args!("{}: {message}", function.name));
}
