//! Runs a step on texts, without a process: on the files of a package, or on a ResourceList.

use std::path::PathBuf;

use krm_core::config::{Config, UsageError};
use krm_function::supplied::Role;
use krm_function::{Function, Inputs, Items, SuppliedInput, run};
use krm_package::Package;

/// What came out of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The files of the package afterwards, by path; or the ResourceList under the path `-`.
    pub(crate) files: Vec<(String, String)>,
    /// The results as lines.
    pub(crate) results: Vec<String>,
    /// The results as compact JSON.
    pub(crate) json: Vec<String>,
    pub(crate) failed: bool,
}

impl Outcome {
    /// The text of a file; empty if there is none.
    pub(crate) fn file(&self, path: &str) -> &str {
        let found = self.files.iter().find(|(name, _)| name == path);
        found.map_or("", |(_, text)| text)
    }
}

/// A package of these files.
pub(crate) fn package(files: &[(&str, &str)]) -> Package {
    let files = files.iter();
    files
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

fn run_step(
    function: &Function,
    config: &str,
    flags: &[(Role, PathBuf)],
    items: Items,
) -> Result<Outcome, UsageError> {
    let flags = flags.iter().cloned();
    let inputs = Inputs {
        config: Some(Config::parse(config.to_owned(), "config")?),
        supplied: flags
            .map(|(role, path)| (role, SuppliedInput::Path(path)))
            .collect(),
        ..Inputs::default()
    };
    let outcome = run(function, inputs, items)?;
    let files = match outcome.items {
        Items::ResourceList(text) => vec![("-".to_owned(), text)],
        Items::Package(files) => {
            let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
            let files = files.into_iter();
            files.map(|(path, bytes)| (path, text(bytes))).collect()
        }
    };
    let results = &outcome.results;
    Ok(Outcome {
        files,
        failed: results.has_errors(),
        results: results.iter().map(ToString::to_string).collect(),
        json: results
            .iter()
            .map(|result| result.to_value().to_json())
            .collect(),
    })
}

/// Runs a step on the files of a package.
pub(crate) fn on_package(
    function: &Function,
    config: &str,
    files: &[(&str, &str)],
) -> Result<Outcome, UsageError> {
    on_package_with(function, config, files, &[])
}

/// Runs a step on the files of a package, with paths for roles.
pub(crate) fn on_package_with(
    function: &Function,
    config: &str,
    files: &[(&str, &str)],
    flags: &[(Role, PathBuf)],
) -> Result<Outcome, UsageError> {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let files = files.iter();
    let files = files.map(|(path, text)| ((*path).to_owned(), bytes(text)));
    run_step(function, config, flags, Items::Package(files.collect()))
}

/// Runs a step on a ResourceList.
pub(crate) fn on_list(
    function: &Function,
    config: &str,
    text: &str,
) -> Result<Outcome, UsageError> {
    on_list_with(function, config, text, &[])
}

/// Runs a step on a ResourceList, with paths for roles.
pub(crate) fn on_list_with(
    function: &Function,
    config: &str,
    text: &str,
    flags: &[(Role, PathBuf)],
) -> Result<Outcome, UsageError> {
    let items = Items::ResourceList(text.to_owned());
    run_step(function, config, flags, items)
}

/// Checks that work on eight times as much takes about eight times as long, and not 64 times. `work`
/// gets the amount and gives what it measures, with [`Clock`].
#[track_caller]
pub(crate) fn assert_linear(few: usize, work: impl Fn(usize) -> u64) {
    const MOST: u64 = 24;
    work(few);
    let mut found = Vec::new();
    // The machine may have other work: one quiet moment is enough.
    for _ in 0..4 {
        let (few, many) = (work(few).max(1), work(few * 8));
        if many < few * MOST {
            return;
        }
        found.push((few, many));
    }
    panic!("nanoseconds for {few} and for {}: {found:?}", few * 8);
}

/// Time of this thread on a processor, where the system tells it, else time.
pub(crate) struct Clock {
    start: std::time::Instant,
    on_cpu: Option<u64>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            start: std::time::Instant::now(),
            on_cpu: Self::on_cpu(),
        }
    }

    /// Nanoseconds since the start.
    pub(crate) fn nanoseconds(&self) -> u64 {
        match (self.on_cpu, Self::on_cpu()) {
            (Some(start), Some(end)) => end - start,
            _ => u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }

    fn on_cpu() -> Option<u64> {
        // The kernel counts at its ticks, milliseconds apart, and whenever a thread gives way.
        std::thread::sleep(std::time::Duration::from_micros(1));
        let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        times.split(' ').next()?.parse().ok()
    }
}
