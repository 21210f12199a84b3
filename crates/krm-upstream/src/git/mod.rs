//! Reads packages from the object database of Git repositories, without a checkout.
//!
//! `REPOSITORY//DIRECTORY?ref=REVISION` is a [`GitSource`]: a directory of a local clone at a revision. A
//! [`Repository`] resolves the revision to a commit and reads the directory by the rules for package directories on
//! disk. No program is started and the network is not used; only the branches of drafts are written.
//!
//! Source: contract, Upstreams from Git.

mod address;
mod ancestry;
mod command;
mod draft;
mod error;
mod history;
mod latest;
mod listed;
mod references;
mod renames;
mod repository;
mod revision;
mod snapshot;
mod source;
mod tree_source;
mod workspaces;

pub use command::{GitCommand, GitData};
pub use draft::DraftCommit;
pub use error::GitError;
pub use history::{ChangingCommit, CommitDescription, DirectoryState};
pub use krm_core::revision::Revision;
pub use latest::tags_below;
pub use references::Base;
pub use references::Branch;
pub use references::References;
pub use repository::repository_around;
pub use repository::{Repository, is_repository, without_password};
pub use snapshot::Snapshot;
pub use source::GitSource;
pub use workspaces::History;
pub use workspaces::draft_note;
pub use workspaces::numbered_workspace;
pub use workspaces::workspace_number;
