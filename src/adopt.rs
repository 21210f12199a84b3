//! `krmv get --adopt`: records the upstream of a copy that was made without a lock.

use krm_core::kptfile::{NewLock, UpstreamLock};
use krm_follow::{FoundOriginal, find_original};
use krm_function::filter::search_progress;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_function::{Inputs, Items, Output, SuppliedInput, run_step};
use krm_package::PackageFile;
use krm_render::RenderRequest;
use krm_upstream::git::Revision;
use serde_json::json;

use super::cli::{Common, GetArguments};
use super::failure::{Failure, Result, command};
use super::get::{Rendering, chosen, render_options};
use super::package::{Contents, KPTFILE, LocalPackage};
use super::print::{self, Page, counted};
use super::releases::ListedReference;
use super::report::print_errors;
use super::source::SourceArgument;
use super::status::edits_of;
use super::upstream::{UpstreamSource, supplied};
use super::{exit, kptfile};

pub(crate) fn run(get: &GetArguments, common: &Common) -> Result<u8> {
    let mut source = SourceArgument::with_tags(&get.source, get.tags.as_deref())?;
    let upstream = UpstreamSource::opened(&mut source, common.offline)?;
    let directory = get.directory.clone().unwrap_or_else(|| ".".into());
    let package = LocalPackage::open_any(&directory)?;
    upstream.refuse_inside(&package.directory)?;
    let name = package.name();
    // A lock is searched again only if what it names is gone, or was replaced.
    let is_gone = |lock: &UpstreamLock| upstream.check_locked(lock).is_err();
    let lock = package.tracking.lock.as_ref();
    // Where there is a lock, an archive that is named replaces it.
    let replacing = lock.and(source.named_archive());
    let explicit = source.explicit_revision().or(replacing);
    if lock.is_some_and(|lock| !is_gone(lock)) && explicit.is_none() {
        let message = format!("'{name}' already has a lock; add @REVISION to replace it");
        return Err(Failure::new(message).hint(package.command(&["status"])));
    }
    let mut equals = Vec::new();
    let label = package.label();
    let options = render_options(get)?;
    let rendering = options.map(|options| Rendering::asked(&options, &package.directory, &label));
    let rendering = rendering.transpose()?;
    let request = rendering.as_ref().map(Rendering::request);
    let revision = match explicit {
        Some(_) => chosen(&source, &upstream)?,
        None if !upstream.is_git() || request.is_some() => {
            nearest_release(&package, &source, &upstream, request)?
        }
        None => {
            let newest = chosen(&source, &upstream)?;
            upstream.repository()?.fetch_all()?;
            upstream.fetch_commit(&newest.commit)?;
            let Some(found) = search(&package, &source, &upstream, &newest, common)? else {
                return Ok(exit::OPEN);
            };
            equals = found.equals;
            found.revision
        }
    };
    let known = [&package.contents];
    let (files, _) = upstream.fetch_by(&source.path, &revision, request, &known)?;
    let files = files.snapshot;
    let of_upstream = files.package.get(KPTFILE);
    let of_upstream = of_upstream.and_then(PackageFile::krm);
    let own = package.contents.get(KPTFILE);
    let text = match (own, of_upstream) {
        (Some(bytes), _) => String::from_utf8_lossy(bytes).into_owned(),
        (None, Some(text)) => kptfile::named(text, &package.label())?,
        (None, None) => kptfile::new(&package.label()),
    };
    let (repository, path) = (&source.address(), &source.path);
    let is_file = files.package.only_file.is_some();
    let lock = NewLock::of_commit(repository, path, is_file, &revision);
    let text = kptfile::locked(&text, &lock, &package.surroundings())?;
    let mut contents = package.contents.clone();
    contents.insert(KPTFILE.to_owned(), text.into_bytes());
    if let Some(rendering) = &rendering {
        rendering.record(&mut contents)?;
    }
    package.write(&package.changes(&contents, &Default::default()))?;
    let found = Original { revision, equals };
    found.report(&package, &source, &upstream, common)
}

impl Original {
    /// Reports the revision that was recorded, and the releases that explain the copy equally well.
    fn report(
        &self,
        package: &LocalPackage,
        source: &SourceArgument,
        upstream: &UpstreamSource,
        common: &Common,
    ) -> Result<u8> {
        let (name, equals) = (package.name(), &self.equals);
        let (revision, commit) = (&self.revision.lock_ref, &self.revision.commit);
        let document =
            || json!({"path": name, "revision": revision, "commit": commit, "equals": equals});
        print::answer(common, document, |page| {
            page.line(format_args!("{name}: made from {revision}"));
            if let Some(first) = equals.first() {
                let others = equals.join(", ");
                let verb = if equals.len() == 1 {
                    "explains"
                } else {
                    "explain"
                };
                page.wrapped(format_args!("  {others} {verb} the copy equally well"), 4);
                page.hint(&upstream.adopt_command(&source.path, Some(first), &name));
            }
            if let Some(note) = source.password_note() {
                page.wrapped(format_args!("  {note}"), 4);
            }
            page.hint(&package.command(&["status"]));
        })
    }
}

/// The most releases that are fetched and compared.
const MOST_COMPARED: usize = 50;

/// Finds the release that the package was copied from among the newest ones: the one with the fewest edits.
fn nearest_release(
    package: &LocalPackage,
    source: &SourceArgument,
    upstream: &UpstreamSource,
    request: Option<&RenderRequest>,
) -> Result<Revision> {
    let releases: Vec<&ListedReference> = upstream.releases.finals(|_| true);
    let releases = if releases.is_empty() {
        upstream.releases.head().into_iter().collect()
    } else {
        releases
    };
    let mut found: Vec<(usize, Revision)> = Vec::new();
    for release in releases.into_iter().rev().take(MOST_COMPARED) {
        let known = [&package.contents];
        let revision = release.revision();
        let snapshot = match upstream.fetch_by(&source.path, &revision, request, &known) {
            Ok((fetched, _)) => fetched.snapshot,
            Err(_) if upstream.kind.lacks(&release.name) => continue,
            Err(error) => return Err(error),
        };
        let revision = snapshot.revision.clone();
        let (own, file) = compared(package, snapshot.package.only_file.as_deref());
        let base = supplied(snapshot, Role::Original, file.as_deref(), &[])?;
        let is_known = found.iter().any(|(_, one)| one.commit == revision.commit);
        if !is_known {
            found.push((edits_of(own, &base)?, revision));
        }
    }
    found.sort_by_key(|(count, _)| *count);
    let nearest: Vec<String> = found
        .iter()
        .take(3)
        .map(|(count, revision)| format!("{} ({})", revision.lock_ref, counted(*count, "edit")))
        .collect();
    let least = found.first().map_or(0, |(count, _)| *count);
    let alike = found.partition_point(|(count, _)| *count == least);
    // Among equals, the archive that the user named.
    let named = found[..alike]
        .iter()
        .position(|(_, one)| source.revision.as_deref() == Some(&one.upstream_ref));
    if let Some(at) = named.or((alike == 1).then_some(0)) {
        return Ok(found.swap_remove(at).1);
    }
    let nearest = if nearest.is_empty() {
        "none".to_owned()
    } else {
        nearest.join(", ")
    };
    let message =
        format!("cannot tell which release the package was copied from: the nearest are {nearest}");
    let name = package.name();
    let best = found
        .first()
        .map_or("REVISION", |(_, revision)| revision.lock_ref.as_str());
    Err(Failure::new(message).hint(upstream.adopt_command(&source.path, Some(best), &name)))
}

/// The files of a package that are compared with a release. If the release is one file, also its name in the package: the
/// name in upstream, or the name of the only YAML file.
fn compared(package: &LocalPackage, only: Option<&str>) -> (Contents, Option<String>) {
    let mut own = package.contents.clone();
    let Some(only) = only else {
        return (own, None);
    };
    let is_candidate = |path: &&String| {
        let is_yaml = path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json");
        is_yaml && !path.contains('/') && !path.starts_with('.')
    };
    let candidates: Vec<String> = own.keys().filter(is_candidate).cloned().collect();
    let name = match &candidates[..] {
        [one] => one.clone(),
        _ => only.to_owned(),
    };
    own.retain(|path, _| *path == name);
    (own, Some(name))
}

/// The revision that a package was copied from.
struct Original {
    revision: Revision,
    /// The releases that explain the copy equally well.
    equals: Vec<String>,
}

/// Searches upstream's history for the revision that the package was copied from, by its content. `None` if the search
/// failed; its errors are printed.
fn search(
    package: &LocalPackage,
    source: &SourceArgument,
    upstream: &UpstreamSource,
    newest: &Revision,
    common: &Common,
) -> Result<Option<Original>> {
    let place = format!(
        "{}//{}?ref={}",
        upstream.repository()?.path().display(),
        source.path,
        newest.commit
    );
    let inputs = Inputs {
        supplied: vec![
            (Role::Original, SuppliedInput::Path("auto".into())),
            (Role::Upstream, SuppliedInput::Path(place.into())),
        ],
        progress: search_progress(),
        ..Inputs::default()
    };
    let mut found = None;
    let outcome = run_step(
        &merge_package::FUNCTION,
        |run| {
            let newest = run.supplied.one(Role::Upstream);
            if let Some(newest) = newest.and_then(SuppliedPackage::upstream) {
                found = find_original(run.list, newest, run.supplied, run.results)?;
            }
            Ok(Output::Edited)
        },
        inputs,
        Items::Package(package.contents.clone()),
    )?;
    let Some(FoundOriginal { name, equals, .. }) = found else {
        print_errors(&outcome.results, common)?;
        if !common.json {
            let mut results = outcome.results.iter();
            let nearest = results.find_map(|result| result.tag_value("original"));
            let nearest = nearest.unwrap_or("REVISION");
            let mut page = Page::new(common);
            page.hint(&upstream.adopt_command(&source.path, Some(nearest), &package.name()));
            page.finish()?;
        }
        return Ok(None);
    };
    if let Some(known) = upstream.releases.named(&name) {
        let revision = known.revision();
        return Ok(Some(Original { revision, equals }));
    }
    let other = upstream.by_other_name(&source.path, &name);
    let other = other.ok_or_else(|| {
        let message = format!("the original revision {name} cannot be read");
        Failure::new(message).hint(command(["git", "ls-remote", &upstream.address]))
    })?;
    Ok(Some(Original {
        revision: other,
        equals,
    }))
}
