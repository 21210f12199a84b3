//! The packages of many variants under one directory, and the catalogs that they come from.
//!
//! `FLEET/<repository>/<package>/` is the package of a variant. `Catalogs` finds revisions of upstream packages;
//! `owned` finds the packages that a PackageVariant owns; `shard` divides a fleet among several runs.
//!
//! Source: contract, render-fleet.

mod catalog;
mod downstream;
mod owned;
mod shard;

pub(crate) use catalog::{Catalogs, DirectoryRevision, Resolved, UpstreamRequest};
pub(crate) use downstream::{Deletion, Downstreams, PackageRevisions, Unpublished};
pub(crate) use owned::{ClaimedPackage, claimed_packages};
pub(crate) use shard::Shard;
