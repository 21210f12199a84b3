//! `krmv get`: a new package with its lock, as `kpt pkg get` makes it.

use std::path::{Path, PathBuf};

use krm_core::kptfile::NewLock;
use krm_core::results::{Results, Severity};
use krm_merge::decided::WrittenRender;
use krm_package::{
    FileChange, Package, is_left_by_killed_run, read_package, recover_package, write_package,
};
use krm_render::RenderRequest;
use krm_upstream::git::{Revision, without_password};
use render_variant::{Identified, cloned_files};
use serde_json::json;

use super::cli::{Common, GetArguments, RenderProgram};
use super::failure::{Failure, Result, command};
use super::followed::Following;
use super::kptfile::{PackageOrigin, Tracking, locked_name};
use super::own_repository::OwnRepository;
use super::package::{Contents, KPTFILE, RULES, around, not_a_flag};
use super::print::{self, counted};
use super::rendering::{self, RenderOptions};
use super::report::warnings;
use super::source::SourceArgument;
use super::upstream::{FetchedRevision, UpstreamSource, to_clone};
use super::{kptfile, policy};

pub(crate) fn run(get: &GetArguments, common: &Common) -> Result<u8> {
    let mut source = SourceArgument::with_tags(&get.source, get.tags.as_deref())?;
    let upstream = UpstreamSource::opened(&mut source, common.offline)?;
    let revision = chosen(&source, &upstream)?;
    let options = render_options(get)?;
    let directory = match destination(get, &source)? {
        NewPlace::New(directory) => directory,
        NewPlace::There(directory) => return already_there(common, &directory, &revision),
    };
    upstream.refuse_inside(&directory)?;
    let name = name_of(&directory, &source);
    let rendering = options.map(|options| Rendering::asked(&options, &directory, &name));
    let rendering = rendering.transpose()?;
    let request = rendering.as_ref().map(|rendering| &rendering.request);
    let (files, _) = upstream.fetch_by(&source.path, &revision, request, &[])?;
    let new = NewPackage {
        directory: &directory,
        source: &source,
        revision: &revision,
        upstream: &upstream,
        rendering: rendering.as_ref(),
    };
    let mut new = new.write(files)?;
    new.1.extend(choice(&source, &upstream, &revision));
    report(common, &directory, &revision, new)
}

/// The flags about rendering. An error if flags for Helm are with another program.
pub(crate) fn render_options(get: &GetArguments) -> Result<Option<RenderOptions<'_>>> {
    let Some(program) = get.render else {
        return Ok(None);
    };
    let options = RenderOptions {
        program,
        values: &get.values,
        release: get.release.as_deref(),
        namespace: get.namespace.as_deref(),
        kube_version: get.kube_version.as_deref(),
    };
    let texts = [options.release, options.namespace, options.kube_version];
    let is_for_helm = !options.values.is_empty() || texts.iter().any(Option::is_some);
    if program == RenderProgram::Kustomize && is_for_helm {
        let message = "--values, --release, --namespace and --kube-version are for --render helm";
        return Err(Failure::new(message).hint("krmv help get"));
    }
    Ok(Some(options))
}

/// How a new package is rendered.
pub(crate) struct Rendering {
    request: RenderRequest,
    written: WrittenRender,
}

impl Rendering {
    pub(crate) fn asked(options: &RenderOptions<'_>, directory: &Path, name: &str) -> Result<Self> {
        let written = options.written(directory)?;
        let request = rendering::asked(&written, directory, name)?;
        Ok(Self { request, written })
    }

    pub(crate) fn request(&self) -> &RenderRequest {
        &self.request
    }

    /// Records in the files of a package what was asked for.
    pub(crate) fn record(&self, files: &mut Contents) -> Result<()> {
        let policy = policy::with_render(files, &self.written)?;
        files.insert(RULES.to_owned(), policy.into_bytes());
        rendering::record(&self.request, files, false);
        Ok(())
    }
}

/// The requested revision. Without a request, the newest final release; without a release, the default branch.
pub(crate) fn chosen(source: &SourceArgument, upstream: &UpstreamSource) -> Result<Revision> {
    if let Some(request) = &source.revision {
        let requested = upstream.requested(&source.path, request)?;
        return upstream.kind.resolved(requested, None);
    }
    let releases = &upstream.releases;
    let newest = releases.newest().or(releases.head());
    let newest = newest.ok_or_else(|| upstream.not_found("main"))?;
    upstream.kind.resolved(newest.revision(), None)
}

/// Says what `get` chose, and what the package follows from now on. `None` if the user named a plain release.
fn choice(
    source: &SourceArgument,
    upstream: &UpstreamSource,
    revision: &Revision,
) -> Option<String> {
    let following = Following::of(&revision.lock_ref, &upstream.releases);
    let (address, name) = (&upstream.address, &revision.lock_ref);
    match (&source.revision, &following) {
        (None, Following::Branch(_)) => {
            let kinds: Vec<&str> = upstream.releases.newest_of_each_kind();
            let why = match &kinds[..] {
                [] | [_] => format!("{address} has no final release"),
                kinds => format!(
                    "{address} has several kinds of releases ({}), and you can name one of them",
                    kinds.join(", ")
                ),
            };
            Some(format!("{why}: the package follows its branch {name}"))
        }
        (None, Following::Nothing) => None,
        (None, _) => Some(format!("{name} is the newest release")),
        (Some(_), Following::Releases(release)) if release.words() == ["", ""] => None,
        (Some(_), _) => Some(format!("the package follows {following}")),
    }
}

/// Where a new package goes.
enum NewPlace {
    New(PathBuf),
    /// The package is there, from the same source.
    There(PathBuf),
}

/// The directory for the package: a new directory, or one below an existing directory. What a killed run left there is
/// completed first; a directory with nothing else is a new one.
fn destination(get: &GetArguments, source: &SourceArgument) -> Result<NewPlace> {
    let name = source.name();
    let name = match name.rsplit_once('.') {
        Some((stem, "yaml" | "yml" | "json")) => stem,
        _ => &name,
    };
    let directory = match &get.directory {
        None => not_a_flag(Path::new(name)),
        Some(directory) if directory.is_dir() => {
            recover_package(directory)?;
            let is_below = directory.as_path() == Path::new(".") || !is_free(directory, get)?;
            if is_below && is_from(directory, source) {
                return Ok(NewPlace::There(directory.clone()));
            }
            if is_below {
                directory.join(name)
            } else {
                not_a_flag(directory)
            }
        }
        Some(directory) => not_a_flag(directory),
    };
    if !directory.exists() {
        return Ok(NewPlace::New(directory));
    }
    if directory.is_dir() {
        recover_package(&directory)?;
    }
    if is_free(&directory, get)? {
        return Ok(NewPlace::New(directory));
    }
    if is_from(&directory, source) {
        return Ok(NewPlace::There(directory));
    }
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
    Err(Failure::new(message).hint(next))
}

/// Whether a directory is empty, or has only the values to render with, or what a killed run left before it wrote the
/// first file.
fn is_free(directory: &Path, get: &GetArguments) -> Result<bool> {
    let values = get.values.iter().map(|path| path.canonicalize());
    let values: Vec<PathBuf> = values.filter_map(std::result::Result::ok).collect();
    let is_values = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.and_then(|entry| entry.path().canonicalize());
        path.is_ok_and(|path| values.contains(&path))
    };
    let is_empty = std::fs::read_dir(directory).is_ok_and(|mut entries| entries.all(is_values));
    Ok(is_empty || is_left_by_killed_run(directory)?)
}

/// Whether a directory has a package from this source, at any revision.
fn is_from(directory: &Path, source: &SourceArgument) -> bool {
    tracking(directory).is_some_and(|tracking| {
        let origin = tracking.repository.as_ref().map(PackageOrigin::address);
        origin == Some(&*source.address()) && tracking.path() == source.path
    })
}

fn tracking(directory: &Path) -> Option<Tracking> {
    let text = std::fs::read_to_string(directory.join(KPTFILE)).ok()?;
    let repository = OwnRepository::around(directory);
    Tracking::read(&text, &around(directory, repository.as_ref())).ok()
}

/// Reports a package that is there: it is at the revision, or an upgrade leads to it.
fn already_there(common: &Common, directory: &Path, revision: &Revision) -> Result<u8> {
    let shown = directory.to_string_lossy();
    let lock = tracking(directory).and_then(|tracking| tracking.lock);
    let commit = lock.as_ref().and_then(|lock| lock.commit.as_deref());
    if commit != Some(&revision.commit) {
        let at = lock.as_ref().and_then(locked_name);
        let at = at.map_or_else(String::new, |at| format!(" at {at}"));
        let message = format!("the package is already in '{shown}'{at}");
        let next = command(["krmv", "upgrade", &shown, &revision.upstream_ref]);
        return Err(Failure::new(message).hint(next));
    }
    print::answer(
        common,
        || document(&shown, revision, 0),
        |page| {
            page.line(format_args!(
                "{shown}: already there at {}",
                revision.lock_ref
            ));
            page.hint(&command(["krmv", "status", &shown]));
        },
    )
}

fn document(directory: &str, revision: &Revision, files: usize) -> serde_json::Value {
    json!({
    "path": directory, "revision": revision.lock_ref, "commit": revision.commit, "files": files,
    })
}

/// A package to be written.
struct NewPackage<'n> {
    directory: &'n Path,
    source: &'n SourceArgument,
    revision: &'n Revision,
    upstream: &'n UpstreamSource,
    rendering: Option<&'n Rendering>,
}

impl NewPackage<'_> {
    /// Writes the package. Returns the number of its files, and what to report about it.
    fn write(&self, files: FetchedRevision) -> Result<(usize, Vec<String>)> {
        let (directory, source) = (self.directory, self.source);
        let is_file = files.snapshot.package.only_file.is_some();
        let mut results = Results::default();
        let package = to_clone(files, self.upstream, &mut results)?;
        let name = name_of(directory, source);
        let mut changes = cloned_files(&package, &name, Identified::OfKpt, &mut results)?;
        if let Some(error) = results
            .iter()
            .find(|result| result.severity == Severity::Error)
        {
            return Err(Failure::new(error.message.to_string()));
        }
        if changes.is_empty() {
            let message = "expected a package, found nothing that upstream may bring";
            return Err(Failure::new(message).hint("krmv help get"));
        }
        let existing = changes.iter().position(|change| change.path() == KPTFILE);
        let text = match existing.map(|at| changes.swap_remove(at)) {
            Some(FileChange::Write { bytes, .. }) => String::from_utf8_lossy(&bytes).into_owned(),
            _ => kptfile::new(&name),
        };
        let address = source.address();
        let lock = NewLock::of_commit(&address, &source.path, is_file, self.revision);
        let repository = directory.ancestors().find(|above| above.is_dir());
        let repository = OwnRepository::around(repository.unwrap_or(Path::new(".")));
        let text = kptfile::locked(&text, &lock, &around(directory, repository.as_ref()))?;
        changes.push(FileChange::write(KPTFILE, text));
        let count = changes.len();
        if let Some(rendering) = self.rendering {
            let mut settings = Contents::new();
            rendering.record(&mut settings)?;
            let settings = settings.into_iter();
            changes.extend(settings.map(|(path, bytes)| FileChange::Write {
                path,
                bytes,
                mode: None,
            }));
        }
        self.write_changes(&changes)?;
        let notes = source.password_note().map(str::to_owned);
        let notes = notes.into_iter().chain(source.browser_note());
        let notes = notes.chain(self.upstream.kind.note(&self.revision.lock_ref));
        Ok((count, warnings(&results).chain(notes).collect()))
    }

    fn write_changes(&self, changes: &[FileChange]) -> Result<()> {
        let directory = self.directory;
        // The temporary files of a killed run are removed.
        let present = if directory.exists() {
            read_package(directory)?
        } else {
            Package::empty(directory)
        };
        write_package(&present, changes).map_err(|error| {
            let above = directory
                .parent()
                .filter(|path| !path.as_os_str().is_empty());
            let above = above.unwrap_or(Path::new(".")).to_string_lossy();
            Failure::from(error).hint(command(["ls", "-ld", &above]))
        })
    }
}

/// The name of the package: the name of its directory.
fn name_of(directory: &Path, source: &SourceArgument) -> String {
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    let name = absolute.file_name().and_then(|name| name.to_str());
    name.map_or_else(|| source.name(), str::to_owned)
}

fn report(
    common: &Common,
    directory: &Path,
    revision: &Revision,
    (count, warnings): (usize, Vec<String>),
) -> Result<u8> {
    let shown = directory.to_string_lossy();
    let commit = revision.commit.trim_start_matches("sha256:");
    let commit = commit.get(..12).unwrap_or(commit);
    print::answer(
        common,
        || document(&shown, revision, count),
        |page| {
            page.line(format_args!(
                "{shown}: {} at {} ({commit})",
                counted(count, "file"),
                revision.lock_ref
            ));
            for warning in &warnings {
                page.wrapped(format_args!("  {warning}"), 4);
            }
            page.hint(&command(["krmv", "status", &shown]));
        },
    )
}
