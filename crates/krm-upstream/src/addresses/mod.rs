//! Addresses of files on other machines, as browsers show them and as forges release files. Nothing is read here.

mod browser;
mod release_file;

pub use browser::BrowserAddress;
pub use release_file::{ReleaseFile, is_only_file};
