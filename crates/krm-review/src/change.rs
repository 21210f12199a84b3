//! A resource before and after.

use super::Author;
use super::author::InUpstream;
use super::units::ClusterObject;

/// A resource before and after. At least one side is `Some`.
#[derive(Clone, Copy)]
pub(super) struct ResourceChange<'l> {
    pub(super) before: Option<ClusterObject<'l>>,
    pub(super) after: Option<ClusterObject<'l>>,
    pub(super) upstream: Option<InUpstream<'l>>,
}

impl<'l> ResourceChange<'l> {
    /// Who adds or removes the object.
    pub(super) fn author(&self) -> Option<Author> {
        self.upstream.map(InUpstream::of_resource)
    }

    /// The resource after the change, or before it if it was removed.
    pub(super) fn unit(&self) -> Option<&ClusterObject<'l>> {
        self.after.as_ref().or(self.before.as_ref())
    }
}
