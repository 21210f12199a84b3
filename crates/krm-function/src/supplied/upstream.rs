//! A supplied input that is a revision of an upstream.

use std::sync::Arc;

use super::package::SuppliedPackage;
use super::reader::Reader;
use super::{Role, UsageError};
use krm_core::results::Results;
use krm_core::upstream_revision::UpstreamRevision;
use krm_package::Package;

impl SuppliedPackage {
    /// A package with the files of an upstream revision.
    ///
    /// # Errors
    /// [`UsageError`]: a file that cannot be parsed. In a package, only a Kptfile must be valid YAML.
    pub fn from_upstream(
        role: Role,
        package: Package,
        revision: Arc<dyn UpstreamRevision>,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let place = revision.to_string();
        let mut supplied = Self::from_package_like(role, place, package, &[], results)?;
        supplied.upstream = Some(revision);
        Ok(supplied)
    }

    /// A package without an upstream. A file that one of `others` has too is not parsed again. `place` names the
    /// package in messages.
    ///
    /// # Errors
    /// [`UsageError`]: a file that cannot be parsed. In a package, only a Kptfile must be valid YAML.
    pub fn from_package_like(
        role: Role,
        place: String,
        package: Package,
        others: &[&Self],
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let mut reader = Reader::new(role, place, results);
        reader
            .others
            .extend(others.iter().map(|other| other.list()));
        reader.add_package(package)?;
        Ok(reader.package)
    }

    /// The revision of an upstream that the package was read from, for a Kptfile to record.
    pub fn upstream(&self) -> Option<&dyn UpstreamRevision> {
        self.upstream.as_deref().filter(|_| self.is_recorded)
    }

    /// The same package with the source that it was read from, which no Kptfile may record.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn UpstreamRevision>) -> Self {
        self.upstream = Some(source);
        self.without_record()
    }

    /// The same package, with a source that no Kptfile may record.
    pub fn without_record(mut self) -> Self {
        self.is_recorded = false;
        self
    }
}
