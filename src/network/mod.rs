//! Files on web servers, by the user's `curl`: his proxy, certificates, `.netrc` and `.curlrc` count.
//!
//! ```text
//! Request   an address, who asks, and the most bytes          ->  Response   a status, headers, bytes
//! ```
//!
//! # Invariants
//!
//! - Arguments of `curl` are literals, numbers and a path of ours. Addresses and secrets go by standard input.
//! - A secret goes to the host that it is for. Each redirect is a separate run, so that no other host gets it.
//! - No redirect leads from https to another protocol.
//! - Bytes are counted while they are read.
//!
//! Source: contract, krmv (the network is bounded).

mod curl;
mod docker_login;

pub(crate) use curl::{Refresh, RegistryToken, Request, Response, Secret, get};
pub(crate) use docker_login::{DockerLogin, Login};

/// The most bytes of a file, chart or layer.
pub(crate) const LARGEST_DOWNLOAD: u64 = 128 << 20;
/// The most bytes of an index or list.
pub(crate) const LARGEST_LIST: u64 = 16 << 20;
/// The most pages of a list.
pub(crate) const MOST_PAGES: usize = 200;
