//! Packages that `helm template` or `kustomize build` renders from their upstream. This crate runs no program: it
//! knows what one is asked for, and what its output means.
//!
//! ```text
//! ---                                   templates/secret.yaml     `# Source:` names the file
//! # Source: web/templates/secret.yaml
//! kind: Secret
//! data:
//!   password: YWFh      YmJi            random: rendered twice, it has two values
//!   name: d2Vi          d2Vi
//! ```
//!
//! Begin in `documents.rs`, then `random.rs`. `request.rs` is what a package is rendered with, and how the package records
//! that. `kustomization.rs` refuses what `kustomize` would load from elsewhere, and finds what it reads outside
//! of its folder.
//!
//! # Invariants
//!
//! - A random value is neither an edit nor a change: it becomes the local one, or the one of the original revision.
//! - A name that becomes an argument of a program was checked, and is never a flag.
//! - Nothing that a chart prints names a path outside of the package.
//!
//! # Limitations
//!
//! - A value that two renderings within some seconds have in common does not count as random. So a caller renders a date in
//!   two time zones.
//! - Templates are not read. Two renderings are compared instead.
//!
//! Source: contract, krmv (Rendering).

mod clock;
mod documents;
mod kustomization;
mod random;
mod request;

pub use clock::{far_zone, reads_clock};
pub use documents::RenderedPackage;
pub use kustomization::{KustomizationFiles, KustomizationLookup, paths_beside, refuse_remote};
pub use random::KnownValues;
pub use request::{
    HelmRequest, KubeVersion, Label, PackageFiles, RenderRequest, recorded, render_value,
    values_name,
};
