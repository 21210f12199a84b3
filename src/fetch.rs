//! `krmv fetch`: fetches a revision into the cache and prints its path, in the form that the roles of all functions take.
//!
//! ```text
//! $ merge-package --package web --upstream "$(krmv fetch oci://ghcr.io/org/app:1.3.0)"
//! ```

use serde_json::json;

use super::cli::{Common, FetchArguments};
use super::failure::Result;
use super::get::chosen;
use super::print;
use super::source::SourceArgument;
use super::upstream::UpstreamSource;

pub(crate) fn run(fetch: &FetchArguments, common: &Common) -> Result<u8> {
    let mut source = SourceArgument::with_tags(&fetch.source, fetch.tags.as_deref())?;
    let upstream = UpstreamSource::opened(&mut source, common.offline)?;
    let revision = chosen(&source, &upstream)?;
    let place = upstream.fetch(&source.path, &revision)?.place;
    let document =
        || json!({"place": place, "revision": revision.lock_ref, "commit": revision.commit});
    print::answer(common, document, |page| page.line(&place))
}
