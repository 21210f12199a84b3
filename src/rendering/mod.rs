//! Packages that `helm template` or `kustomize build` renders from their upstream.
//!
//! ```text
//! .krmv.yaml            render: {helm: {values: [../values.yaml]}}      what was asked for
//! .krmv/locked/render   the same, as it was when the lock was written
//! .krmv/locked/values-1 the bytes of the values at that time
//! .krmv/open/...        the same for the new revision of an open upgrade
//! ```
//!
//! The original is rendered with what is in `.krmv/locked`, the new revision with what `.krmv.yaml` asks for now: so a
//! change of values is merged like a new release.
//!
//! # Invariants
//!
//! - A program gets literals, checked names and fixed paths in a private folder. No text of a chart is an argument.
//! - A revision is rendered twice. What differs is random, and is neither an edit nor a change.
//!
//! Source: contract, krmv (Rendering).

mod asked;
mod program;

use std::collections::BTreeSet;

use krm_render::{RenderRequest, recorded};

use super::failure::{Failure, Result};
use super::package::{Contents, LocalPackage, RULES};

pub(crate) use asked::{RenderOptions, asked};
pub(crate) use program::render;

/// What the locked revision was rendered with.
const LOCKED: &str = ".krmv/locked/";
/// What the new revision of an open upgrade was rendered with.
const OPEN: &str = ".krmv/open/";

/// How a package is rendered, at its lock and next.
#[derive(Debug, Clone)]
pub(crate) struct PackageRendering {
    /// For the locked revision.
    pub(crate) locked: RenderRequest,
    /// For another revision: that of the open upgrade, or else a newer one.
    pub(crate) next: RenderRequest,
}

impl PackageRendering {
    /// Reads how a package is rendered. `None` if its files are those of upstream.
    pub(crate) fn of(package: &LocalPackage) -> Result<Option<Self>> {
        let is_open = package.tracking.open.is_some();
        let asked = asked::of(package)?;
        let at = |folder| {
            let found = recorded(folder, |path| package.contents.get(path).cloned());
            found.map_err(|error| {
                let path = package.git_path(folder);
                let log = package.git_command(&["log", "-p", "--", &path]);
                Failure::from(error).hint(log)
            })
        };
        let (locked, open) = (at(LOCKED)?, at(OPEN)?.filter(|_| is_open));
        let Some(asked) = asked else {
            if locked.is_none() {
                return Ok(None);
            }
            let place = package.directory.join(RULES);
            let message = format!(
                "{}: expected `render`, as {LOCKED}render has it: the package was rendered from its upstream, found none",
                place.display()
            );
            return Err(Failure::new(message).hint(package.git_command(&[
                "log",
                "-p",
                "--",
                &package.git_path(RULES),
            ])));
        };
        Ok(Some(Self {
            locked: locked.unwrap_or_else(|| asked.clone()),
            next: open.unwrap_or(asked),
        }))
    }

    /// What a committed state of a package was rendered with.
    pub(crate) fn locked_in(read: impl Fn(&str) -> Option<Vec<u8>>) -> Option<RenderRequest> {
        recorded(LOCKED, read).ok().flatten()
    }

    /// Whether the locked revision would be rendered differently now.
    pub(crate) fn is_changed(&self) -> bool {
        self.locked != self.next
    }

    /// Records what the package was merged with: as its lock, or as an open upgrade.
    pub(crate) fn record(&self, files: &mut Contents, is_open: bool) {
        record(&self.next, files, is_open);
    }
}

/// Records what a package was rendered with.
pub(crate) fn record(request: &RenderRequest, files: &mut Contents, is_open: bool) {
    let folder = if is_open { OPEN } else { LOCKED };
    files.retain(|path, _| !path.starts_with(folder) && (is_open || !path.starts_with(OPEN)));
    files.extend(request.record(folder));
}

/// The files with values in a package, which are not edits of what is rendered.
pub(crate) fn values_within(contents: &Contents) -> BTreeSet<String> {
    asked::values_of(contents)
        .into_iter()
        .filter(|path| contents.contains_key(path))
        .collect()
}
