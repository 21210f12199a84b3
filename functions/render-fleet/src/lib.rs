//! Renders the packages of a whole fleet of variants: creates, updates, adopts and prunes them.
//!
//! ```text
//! variants/fleet.yaml         a PackageVariantSet: package `web` for each of 40 clusters
//! fleet/cluster-01/web/       its package: cloned, then merged with each new revision
//! fleet/cluster-02/web/
//! ```
//!
//! The steps of `render-variant` render the packages, and the step of `expand-variant-set` expands the sets. Packages
//! are independent: an error in one leaves it unchanged, and the others are processed.
//!
//! Source: package-variant document; contract, render-fleet.

mod cannot_work;
pub mod config;
mod counts;
mod directory;
mod drafts;
mod fleet;
mod items;
mod outcome;
mod owners;
mod program;
mod program_arguments;
mod proposals;
mod prune;
mod render;
pub mod report;
mod run;
mod status;
mod variants;

use krm_core::config::{API_VERSION, CONFIG_MAP, Key, Keys};
use krm_function::supplied::Role;
use krm_function::{Function, OnPackage};
use krm_upstream::SOURCES;
use merge_package::{COMBINE, ON_CONFLICT, STRATEGY};

pub(crate) use counts::FleetCounts;
pub use directory::Mode;
pub use outcome::{Action, VariantEntry, VariantOutcome};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "render-fleet",
    about: "Renders the packages of a whole fleet: expands PackageVariantSets, then creates, updates, adopts or deletes the package of each PackageVariant.",
    examples: &[
        "render-fleet --package fleet --variants variants --catalog web=web.git",
        "render-fleet --package fleet --variants variants --catalog web=web.git --diff",
    ],
    configs: &[(API_VERSION, "RenderFleet"), CONFIG_MAP],
    roles: &[Role::Variants, Role::Resources],
    keys: Keys::These(&[
        ON_CONFLICT,
        STRATEGY,
        COMBINE,
        Key {
            name: "prune",
            words: &["false", "true"],
            help: "delete or orphan packages whose PackageVariant no longer exists, by their deletion policy",
        },
        Key {
            name: "maxDeletions",
            words: &["10%"],
            help: "how many packages a run may delete: a number, or a percentage of those with an owner",
        },
        Key {
            name: "shard",
            words: &["0/1"],
            help: "the share of the fleet to work on: I/N, the first is 0",
        },
        Key {
            name: "allowEmpty",
            words: &["false", "true"],
            help: "accept a fleet without variants",
        },
    ]),
    uses_schema: true,
    sources: SOURCES,
    on_package: OnPackage::Fleet(&program::RenderFleetProgram),
    step: items::render_items,
    ..Function::PLAIN
};
