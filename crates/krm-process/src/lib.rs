//! The programs of the user: each run of `git`, `curl`, `helm` and `kustomize` is bounded, and `curl` reads files on web
//! servers, so that the user's proxy, certificates, `.netrc` and `.curlrc` count.
//!
//! ```text
//! running::run   a Command, how long it may be silent, the most bytes  ->  ProgramOutput   what it printed
//! get            a Request: an address, who asks, the most bytes       ->  Response        a status, headers, bytes
//! ```
//!
//! # Invariants
//!
//! - A program that is silent for too long, or prints too much, is ended.
//! - Arguments of `curl` are literals, numbers and a path of ours. Addresses and secrets go by standard input.
//! - A secret goes to the host that it is for. Each redirect is a separate run, so that no other host gets it.
//! - No redirect leads from https to another protocol.
//! - Bytes are counted while they are read.
//!
//! # Limitations
//!
//! The arguments of a [`Command`](std::process::Command) are its caller's; `GitCommand` of krm-upstream and `rendering` of krmv
//! make those of other programs.
//!
//! Source: contract, krmv (the network is bounded).

mod curl;
mod docker_login;
mod error;
pub mod running;

pub use curl::{Refresh, RegistryToken, Request, Response, Secret, get};
pub use docker_login::{DockerLogin, Login};
pub use error::FetchError;

/// The most bytes of a file, chart or layer.
pub const LARGEST_DOWNLOAD: u64 = 128 << 20;
/// The most bytes of an index or list.
pub const LARGEST_LIST: u64 = 16 << 20;
/// The most pages of a list.
pub const MOST_PAGES: usize = 200;
