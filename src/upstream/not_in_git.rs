//! What archives and images have in common.

use std::fmt;

use super::unpacked::Unpacked;
use crate::config::UsageError;

/// A folder of an archive or image. It is displayed as a flag names it.
pub(super) trait NotInGit: fmt::Debug + fmt::Display + Send + Sync {
    /// What a user calls it.
    fn name(&self) -> &str;
    /// The digest of all that it is a folder of.
    fn digest(&self) -> &str;
    /// The folder.
    fn folder(&self) -> &str;
    /// The name of a Kptfile that is created for a package made from it.
    fn package_name(&self) -> &str;
    /// All that it is a folder of.
    fn unpack(&self) -> Result<Unpacked, UsageError>;
    /// A flag for what another package was made from, if it is where this one is.
    fn beside(&self, recorded: &str, digest: &str) -> String;
}

/// The place of an archive and the folder in it, with the `//` before that.
pub(super) fn split_folder(source: &str) -> (&str, &str) {
    source.split_at(source.rfind("//").unwrap_or(source.len()))
}
