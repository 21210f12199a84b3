//! The packages of many variants under one directory, and the catalogs that they come from.
//!
//! `FLEET/<repository>/<package>/` is the package of a variant. A `Catalogs` finds revisions of upstream
//! packages; `owned` finds the packages that a PackageVariant owns; `lock` keeps two runs off one package;
//! `store` creates, changes and deletes packages so that a killed run leaves each as it was or as it
//! is to be; `shard` shares a fleet out.
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
pub(crate) use downstream::{
    Deletion, DownstreamRepository, Downstreams, PackageRevisions, Unpublished,
};
pub use lock::PackageLock;
pub(crate) use owned::{ClaimedPackage, claimed_packages};
pub use shard::Shard;
pub(crate) use store::{delete_package, remove_empty_folders};
