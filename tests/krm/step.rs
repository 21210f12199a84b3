//! Runs a step on texts, without a process: on the files of a package, or on a ResourceList.

use std::path::PathBuf;

use krm_variants::config::{Config, UsageError};
use krm_variants::filter::{Function, Run};
use krm_variants::package::{FileChange, FileContent, PackageFile, PackageFiles};
use krm_variants::resource_list::ResourceList;
use krm_variants::results::Results;
use krm_variants::supplied::{Role, Supplied};

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
pub(crate) fn package(files: &[(&str, &str)]) -> PackageFiles {
    let mut package = PackageFiles::empty("package");
    package.files = files
        .iter()
        .map(|(path, text)| PackageFile {
            path: (*path).to_owned(),
            content: FileContent {
                text: (*text).to_owned(),
                mode: 0o644,
                target: None,
            },
        })
        .collect();
    package.files.sort_by(|a, b| a.path.cmp(&b.path));
    package
}

fn run_step(
    function: &Function,
    config: &str,
    flags: &[(Role, PathBuf)],
    list: &mut ResourceList,
) -> Result<Results, UsageError> {
    let config = Config::parse(config.to_owned(), "config")?;
    let config = config.node();
    let mut results = Results::default();
    let supplied = Supplied::read(function.roles, flags, config, list, &mut results)?;
    (function.step)(Run {
        config,
        list,
        supplied: &supplied,
        results: &mut results,
    })?;
    Ok(results)
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
    let files = package(files);
    let mut list = ResourceList::from_files(&files).expect("a package");
    let results = run_step(function, config, flags, &mut list)?;
    let mut after: Vec<(String, String)> = files
        .files
        .iter()
        .map(|file| (file.path.clone(), file.content.text.clone()))
        .collect();
    let failed = results.has_errors();
    for change in list.file_changes().into_iter().filter(|_| !failed) {
        after.retain(|(path, _)| path != change.path());
        if let FileChange::Write { path, bytes, .. } = change {
            after.push((path, String::from_utf8(bytes).expect("UTF-8")));
        }
    }
    after.sort();
    Ok(Outcome {
        files: after,
        results: results.iter().map(ToString::to_string).collect(),
        json: results
            .iter()
            .map(|result| result.to_value().to_json())
            .collect(),
        failed,
    })
}

/// Runs a step on a ResourceList.
pub(crate) fn on_list(
    function: &Function,
    config: &str,
    text: &str,
) -> Result<Outcome, UsageError> {
    let mut list = ResourceList::parse(text.to_owned()).expect("a ResourceList");
    let results = run_step(function, config, &[], &mut list)?;
    let failed = results.has_errors();
    let texts = list.to_texts(&Results::default(), !failed).expect("a text");
    let text = texts.iter().map(|text| &**text).collect();
    Ok(Outcome {
        files: vec![("-".to_owned(), text)],
        results: results.iter().map(ToString::to_string).collect(),
        json: results
            .iter()
            .map(|result| result.to_value().to_json())
            .collect(),
        failed,
    })
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
        let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        times.split(' ').next()?.parse().ok()
    }
}
