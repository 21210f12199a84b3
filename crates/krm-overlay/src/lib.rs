//! Represents a fork as its upstream and a kustomize overlay.
//!
//! ```yaml
//! # upstream        # fork            # overlay
//! replicas: 1         replicas: 5       replicas: [{name: app, count: 5}]
//! image: app:1        image: own/app:1  images: [{name: app, newName: own/app}]
//! paused: false       paused: true      patches: [{path: patches/deployment-app.yaml}]
//! ```
//!
//! In reading order: `objects` has the resources that kustomize builds from a package. `kustomization` reads and
//! applies a kustomization, with `selection` for the resources that a patch applies to, and `transformations` for the
//! fields other than `patches`. `explain` finds the fields that replace many patches. [`create`] creates the overlay
//! and proves that it builds the fork; `omitted` finds what it cannot express. [`check`] finds the parts of an overlay
//! that have no effect.
//!
//! # Invariants
//!
//! - An overlay is read again as it will be written, applied, and compared with the fork. One that does not give the
//!   fork is an error.
//! - What an overlay cannot express (comments in other places, the order of keys) is listed, never dropped silently.
//!
//! # Limitations
//!
//! - A kustomization with other fields than resources, patches, `namespace`, `labels`, `images` and `replicas`
//!   (generators, components, replacements, charts) is refused as [`OverlayError::Unsupported`]: give what
//!   `kustomize build` prints instead.
//! - kustomize is not run. Its behaviour is that of kustomize 5.8.
//! - An overlay holds values. The bytes of the fork's files are not reproduced.

mod built;
mod check;
mod create;
mod explain;
mod kustomization;
mod objects;
mod omitted;
mod patched;
mod selection;
mod transformations;

use std::collections::BTreeMap;

use thiserror::Error;

use krm_yaml::OwnedDocument;

pub use check::{OverlayFinding, OverlayState, check};
pub use create::{Overlay, OverlayInput, create, differences};

/// The file names of a kustomization.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The files of a package, parsed, by path.
#[derive(Debug, Default)]
pub struct PackageTexts {
    files: BTreeMap<String, Result<OwnedDocument, String>>,
}

/// Why an overlay cannot be created or checked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OverlayError {
    /// A file that is read is not YAML.
    #[error("{file}: {error}")]
    NotYaml { file: String, error: String },
    /// A field whose effect is not known here.
    #[error(
        "{file}: expected only kustomization fields that are supported here, found `{field}`; give what \
         `kustomize build` makes of both packages instead"
    )]
    Unsupported { file: String, field: String },
    /// A kustomization names a file or directory that does not exist.
    #[error(
        "{file}: expected a file or a directory with a kustomization in the package, found none at `{name}`"
    )]
    Missing {
        file: String,
        /// What it names.
        name: String,
    },
    /// Two resources have the same ID, which kustomize refuses.
    #[error("expected {object} once in {package}, found two in {}", twice(files))]
    Duplicate {
        object: String,
        package: &'static str,
        files: [String; 2],
    },
    /// A resource has a `generateName`, which kustomize refuses.
    #[error(
        "{file}: expected a `metadata.name`, found `generateName` of {object}: kustomize cannot build it, so no overlay can \
         hold it; keep it in a file that no kustomization names"
    )]
    GeneratedName { file: String, object: String },
    /// A resource has a name that Kubernetes reads as a boolean or a number.
    #[error(
        "{file}: expected a string in `metadata.name` of a {kind}, found `{found}`, which Kubernetes reads as something else: \
         write it in quotes"
    )]
    NameNotAString {
        file: String,
        kind: String,
        found: String,
    },
    /// A patch cannot be made or applied.
    #[error("{place}: {error}")]
    Patch { place: String, error: String },
}

/// Where a resource is found twice, and what to do.
impl OverlayError {
    fn patch(place: impl Into<String>, error: impl ToString) -> Self {
        Self::Patch {
            place: place.into(),
            error: error.to_string(),
        }
    }

    fn missing(file: &str, name: &str) -> Self {
        Self::Missing {
            file: file.to_owned(),
            name: name.to_owned(),
        }
    }
}

fn twice([one, other]: &[String; 2]) -> String {
    if one == other {
        return format!(
            "`{one}`, and kustomize refuses the second one; remove one of them, or give it another name or namespace"
        );
    }
    format!(
        "`{one}` and `{other}`, and kustomize refuses the second one; add a kustomization.yaml whose `resources` name one of \
         these files, not both"
    )
}
