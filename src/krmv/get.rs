//! `krmv get`: a new package with its lock, as `kpt pkg get` makes it.

use std::path::{Path, PathBuf};

use krm_variants::functions::render_variant::{Identified, cloned_files};
use krm_variants::git::{Revision, Snapshot, without_password};
use krm_variants::kptfile::NewLock;
use krm_variants::package::{FileChange, Package, write_package};
use krm_variants::results::{Results, Severity, printable};

use super::cli::{Common, GetArguments};
use super::failure::{Failure, Result, command};
use super::package::{KPTFILE, has_decisions, not_a_flag};
use super::print::{self, Page, counted};
use super::report::warnings;
use super::source::SourceArgument;
use super::upstream::{UpstreamSource, to_clone};
use super::{exit, kptfile};

pub(crate) fn run(get: &GetArguments, common: &Common) -> Result<u8> {
    let source = SourceArgument::parse(&get.source)?;
    let upstream = UpstreamSource::listed(&source.repository, &source.path, common.offline)?;
    let revision = chosen(&source, &upstream)?;
    let directory = destination(get, &source)?;
    let files = upstream.snapshot(&source.path, &revision)?;
    let new = write_new(&directory, &source, &revision, files, &upstream)?;
    report(common, &directory, &revision, new)?;
    Ok(exit::DONE)
}

/// The requested revision. Without a request, the newest final release; without a release, the default branch.
pub(crate) fn chosen(source: &SourceArgument, upstream: &UpstreamSource) -> Result<Revision> {
    if let Some(request) = &source.revision {
        return upstream.requested(&source.path, request);
    }
    let releases = &upstream.releases;
    let newest = releases.newest().or(releases.head());
    let newest = newest.ok_or_else(|| upstream.not_found("main"))?;
    Ok(newest.revision())
}

/// The directory for the package: a new directory, or one below an existing directory.
fn destination(get: &GetArguments, source: &SourceArgument) -> Result<PathBuf> {
    let name = source.name();
    let name = match name.rsplit_once('.') {
        Some((stem, "yaml" | "yml" | "json")) => stem,
        _ => name,
    };
    let directory = match &get.directory {
        None => not_a_flag(Path::new(name)),
        Some(directory) if directory.is_dir() && !is_empty(directory) => directory.join(name),
        Some(directory) if directory.is_dir() && directory.as_path() == Path::new(".") => {
            directory.join(name)
        }
        Some(directory) => not_a_flag(directory),
    };
    if directory.exists() && !is_empty(&directory) {
        let shown = directory.to_string_lossy();
        let message = format!("expected a new directory, but '{shown}' exists");
        let next = if directory.join(KPTFILE).is_file() {
            command(["krmv", "upgrade", &shown])
        } else {
            command([
                "krmv",
                "get",
                "--adopt",
                &without_password(&get.source),
                &shown,
            ])
        };
        return Err(Failure::new(message).hint(next));
    }
    Ok(directory)
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

/// Writes the package. Returns the number of its files, and what to report about it.
fn write_new(
    directory: &Path,
    source: &SourceArgument,
    revision: &Revision,
    files: Snapshot,
    upstream: &UpstreamSource,
) -> Result<(usize, Vec<String>)> {
    let is_file = files.package.only_file.is_some();
    let mut results = Results::default();
    let package = to_clone(files, upstream, &source.path, &mut results)?;
    let name = name_of(directory, source);
    let mut changes = cloned_files(&package, &name, Identified::OfKpt, &mut results)?;
    if let Some(error) = results
        .iter()
        .find(|result| result.severity == Severity::Error)
    {
        return Err(Failure::new(error.message.to_string()));
    }
    changes.retain(|change| !has_decisions(change.path()));
    let existing = changes.iter().position(|change| change.path() == KPTFILE);
    let text = match existing.map(|at| changes.swap_remove(at)) {
        Some(FileChange::Write { bytes, .. }) => String::from_utf8_lossy(&bytes).into_owned(),
        _ => kptfile::new(&name),
    };
    let address = source.address();
    let lock = NewLock::of_commit(&address, &source.path, is_file, revision);
    let text = kptfile::locked(&text, &lock)?;
    changes.push(FileChange::write(KPTFILE, text));
    write_package(&Package::empty(directory), &changes).map_err(|error| {
        let above = directory
            .parent()
            .filter(|path| !path.as_os_str().is_empty());
        let above = above.unwrap_or(Path::new(".")).to_string_lossy();
        Failure::new(error.to_string()).hint(command(["ls", "-ld", &above]))
    })?;
    let notes = source.password_note().map(str::to_owned);
    Ok((changes.len(), warnings(&results).chain(notes).collect()))
}

/// The name of the package: the name of its directory.
fn name_of(directory: &Path, source: &SourceArgument) -> String {
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    let name = absolute.file_name().and_then(|name| name.to_str());
    name.unwrap_or(source.name()).to_owned()
}

fn report(
    common: &Common,
    directory: &Path,
    revision: &Revision,
    (count, warnings): (usize, Vec<String>),
) -> Result<()> {
    let shown = directory.to_string_lossy();
    if common.json {
        let json = serde_json::json!({
            "path": shown, "revision": revision.lock_ref, "commit": revision.commit, "files": count,
        });
        return print::json(&json);
    }
    let mut page = Page::new(common);
    let commit = revision.commit.trim_start_matches("sha256:");
    let commit = commit.get(..12).unwrap_or(commit);
    page.line(format_args!(
        "{shown}: {} at {} ({commit})",
        counted(count, "file"),
        revision.lock_ref
    ));
    for warning in &warnings {
        page.wrapped(&format!("  {}", printable(warning)), 4);
    }
    page.hint(&command(["krmv", "status", &shown]));
    page.finish()
}
