//! `krmv overlay`: shows a package as its upstream and a kustomize overlay. `--check` lists the patches of an overlay
//! that have no effect.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use krm_core::mask::SecretTexts;
use krm_core::results::{Results, Severity};
use krm_core::schema::Schema;
use krm_function::filter::write_documents;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_function::{Document, Inputs, Items, SuppliedInput, run_step};
use krm_overlay::{OverlayError, OverlayFinding, OverlayState, PackageTexts, check, differences};
use krm_package::escaped::ShownLine;
use krm_package::is_setting;
use krm_yaml::Value;
use serde_json::json;

use super::cli::{Common, OverlayArguments};
use super::client;
use super::exit;
use super::failure::{Failure, Result};
use super::package::{Contents, LocalPackage, RULES};
use super::print::{self, GREEN, RED, YELLOW};
use super::rendering::values_within;
use super::report::{print_errors, result_json};
use super::session::FollowedPackage;
use super::source::SourceArgument;
use super::upstream::{UpstreamSource, contents, supplied};

pub(crate) fn run(overlay: &OverlayArguments, common: &Common) -> Result<u8> {
    if let Some(directory) = &overlay.check {
        return checked(directory, common);
    }
    let package = LocalPackage::open(&overlay.directory)?;
    let followed = FollowedPackage::open_cached(&package)?;
    let base = followed.original()?;
    let revision = followed.upstream.locked_revision(followed.lock)?;
    let is_folder = package.only_file()?.is_none() && followed.rendering.is_none();
    let remote = (followed.upstream.is_remote() && is_folder).then(|| {
        let path = &followed.lock.directory;
        let slashes = if path.is_empty() { "" } else { "//" };
        let repository = &followed.upstream.address;
        format!("{repository}{slashes}{path}?ref={}", revision.lock_ref)
    });
    let (documents, results) = made(&package, &base, remote.as_deref())?;
    if results.has_errors() {
        return print_errors(&results, common);
    }
    if overlay.verify {
        // Verify with a copy of upstream as the base, so that kustomize fetches nothing.
        verify(&package, &made(&package, &base, None)?.0)?;
    }
    if let Some(into) = &overlay.into {
        write_documents(into, &documents)?;
    }
    let secrets = secrets_of(&package, &base)?;
    let shown = |text| {
        if overlay.show_secrets {
            Cow::Borrowed(text)
        } else {
            secrets.masked(text)
        }
    };
    let document = || {
        let files: BTreeMap<&str, Cow<'_, str>> = documents
            .iter()
            .filter_map(|file| Some((file.path.as_deref()?, shown(&file.text))))
            .collect();
        let list: Vec<_> = results.iter().map(result_json).collect();
        json!({"path": package.name(), "files": files, "verified": overlay.verify, "results": list})
    };
    print::answer(common, document, |page| {
        if overlay.into.is_none() {
            for file in &documents {
                page.line(format_args!(
                    "# {}",
                    file.path.as_deref().unwrap_or_default()
                ));
                page.document(&format!("{}\n", shown(&file.text).trim_end()));
                page.line("---");
            }
        }
        for result in results
            .iter()
            .filter(|result| result.severity == Severity::Info)
        {
            page.wrapped(result, 2);
        }
        if overlay.verify {
            let done = page.styled(GREEN, "kustomize builds the same resources");
            page.line(done);
        }
        if overlay.into.is_none() {
            page.hint(&package.command(&["overlay", "--into", "OVERLAY"]));
        }
    })
}

/// The values of Secrets in the package and in its base, which patches repeat.
fn secrets_of(package: &LocalPackage, base: &SuppliedPackage) -> Result<SecretTexts> {
    let original = contents(base)?;
    let texts = package.contents.iter().chain(&original);
    let texts = texts.filter_map(|(_, bytes)| str::from_utf8(bytes).ok());
    Ok(SecretTexts::of(texts))
}

/// Creates the files of the overlay. Without `remote`, the base is a copy of upstream.
fn made(
    package: &LocalPackage,
    base: &Arc<SuppliedPackage>,
    remote: Option<&str>,
) -> Result<(Vec<Document>, Results)> {
    let inputs = Inputs {
        supplied: vec![(Role::Upstream, SuppliedInput::Package(Arc::clone(base)))],
        ..Inputs::default()
    };
    let mut own = package.own(&package.contents)?;
    let values = values_within(&own);
    own.retain(|path, _| (path == RULES || !is_setting(path)) && !values.contains(path));
    let outcome = run_step(
        &create_overlay::FUNCTION,
        |run| create_overlay::create_overlay(remote, run),
        inputs,
        Items::Package(own),
    )?;
    Ok((outcome.documents, outcome.results))
}

/// Builds the overlay with the user's kustomize, and compares the result with the package.
fn verify(package: &LocalPackage, documents: &[Document]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let overlay = folder.path().join("overlay");
    write_documents(&overlay, documents)?;
    let built = kustomize(&overlay)?;
    let built = PackageTexts::read([("built.yaml".to_owned(), built)].into());
    let fork = texts(&package.own(&package.contents)?);
    let found = differences(&built, &fork, &Schema::builtin())?;
    match found.first() {
        None => Ok(()),
        Some((resource, place)) => {
            let message = format!(
                "the overlay, built by kustomize, differs from the package in {} resources; {}: {place}",
                found.len(),
                resource.kind
            );
            Err(Failure::new(message).hint(package.command(&["overlay"])))
        }
    }
}

/// What `kustomize build`, or else `kubectl kustomize`, prints.
fn kustomize(directory: &Path) -> Result<String> {
    for (program, word) in [("kustomize", "build"), ("kubectl", "kustomize")] {
        let mut command = Command::new(program);
        // It runs Git for the bases that a kustomization names.
        client::guard(&mut command);
        let Ok(output) = command.arg(word).arg(directory).output() else {
            continue;
        };
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Failure::new(format!("{program} {word}: {message}")));
        }
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = "--verify: expected `kustomize` or `kubectl` on PATH, found neither";
    Err(Failure::new(message).hint("kustomize version"))
}

fn texts(contents: &Contents) -> PackageTexts {
    let krm = contents.iter().filter(|(path, _)| {
        path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with("Kustomization")
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    PackageTexts::read(
        krm.map(|(path, bytes)| (path.clone(), text(bytes)))
            .collect(),
    )
}

/// `--check`: lists the patches of an overlay that match nothing in its base, or change nothing.
fn checked(directory: &Path, common: &Common) -> Result<u8> {
    let package = LocalPackage::open_any(directory)?;
    let base = |name: &str| {
        base_of(directory, name).map_err(|failure| OverlayError::NotYaml {
            file: name.to_owned(),
            error: failure.message,
        })
    };
    let found = check(&texts(&package.contents), &Schema::builtin(), &base)?;
    let word = |state: OverlayState| match state {
        OverlayState::Dead => "dead",
        OverlayState::Needless => "needless",
        OverlayState::Unknown => "unknown",
    };
    let counts = found
        .iter()
        .any(|finding| finding.state != OverlayState::Unknown);
    let document = || {
        let finding = |one: &OverlayFinding| json!({"place": one.place, "state": word(one.state), "message": one.message});
        let list: Vec<_> = found.iter().map(finding).collect();
        json!({"path": package.name(), "findings": list})
    };
    print::answer(common, document, |page| {
        let mut last = None;
        for finding in &found {
            if last != Some(&finding.place) {
                page.line(&finding.place);
            }
            last = Some(&finding.place);
            let style = if finding.state == OverlayState::Dead {
                RED
            } else {
                YELLOW
            };
            let state = page.styled(style, word(finding.state));
            page.wrapped(ShownLine::of(&[&"  ", &state, &": ", &finding.message]), 4);
        }
        if found.is_empty() {
            page.line("every patch has an effect");
        }
    })?;
    Ok(exit::open_if(counts))
}

/// The resources of a base: a directory or file next to the overlay, or a revision that the cache has.
fn base_of(directory: &Path, name: &str) -> Result<Vec<Value>> {
    let path = directory.join(name);
    let contents: Contents = if path.is_dir() {
        LocalPackage::open_any(&path)?.contents
    } else if path.is_file() {
        [("base.yaml".to_owned(), std::fs::read(&path)?)].into()
    } else {
        let source = SourceArgument::parse(name)?;
        let origin = source.origin_of_data()?;
        let mut upstream = UpstreamSource::open(origin, true)?;
        upstream.list(&source.path)?;
        let request = source.revision.as_deref().unwrap_or("HEAD");
        let revision = upstream.requested(&source.path, request)?;
        let files = upstream.fetch(&source.path, &revision)?.snapshot;
        contents(&*supplied(files, Role::Upstream, None, &[])?)?
    };
    Ok(texts(&contents).built(&Schema::builtin())?)
}
