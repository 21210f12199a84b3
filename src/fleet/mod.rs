//! The packages of many variants under one directory, and the catalogs that they come from.
//!
//! `FLEET/<repository>/<package>/` is the package of a variant. `Catalogs` finds revisions of upstream packages;
//! `owned` finds the packages that a PackageVariant owns; `lock` keeps two runs from working on the same package;
//! `store` deletes packages; `shard` divides a fleet among several runs.
//!
//! Source: contract, render-fleet.

mod catalog;
mod downstream;
mod lock;
mod owned;
mod shard;
mod store;

pub(crate) use catalog::{
    Catalogs, DirectoryRevision, RepositoryFacts, Resolved, UpstreamRequest, find_revision,
};
pub(crate) use downstream::{Deletion, Downstreams, PackageRevisions, Unpublished};
pub use lock::PackageLock;
pub(crate) use owned::{ClaimedPackage, claimed_packages};
pub use shard::Shard;
pub(crate) use store::{delete_package, remove_empty_folders};
