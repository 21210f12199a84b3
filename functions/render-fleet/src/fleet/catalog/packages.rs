//! A cache of the upstream packages that were used last. A fleet uses few revisions at a time, so memory depends on
//! these revisions and not on the size of the fleet.

use std::sync::Arc;

use krm_core::config::UsageError;
use krm_function::supplied::SuppliedPackage;

/// The most bytes of cached packages, in addition to the two packages of the current variant.
const ROOM: usize = 32 << 20;
/// The number of packages that a variant uses: the original and the upstream package.
const IN_USE: usize = 2;

/// Packages by key, the most recently used first.
#[derive(Default)]
pub(super) struct PackageCache(Vec<(String, Arc<SuppliedPackage>)>);

impl PackageCache {
    /// The package of a key, from the cache or else from `read`.
    pub(super) fn get(
        &mut self,
        key: &str,
        read: impl FnOnce() -> Result<SuppliedPackage, UsageError>,
    ) -> Result<Arc<SuppliedPackage>, UsageError> {
        let known = self.0.iter().position(|(other, _)| other == key);
        let entry = match known {
            Some(position) => self.0.remove(position),
            None => (key.to_owned(), Arc::new(read()?)),
        };
        let package = Arc::clone(&entry.1);
        self.0.insert(0, entry);
        let mut room = ROOM;
        let mut kept = 0;
        self.0.retain(|(_, package)| {
            kept += 1;
            let length = package.length();
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits || kept <= IN_USE
        });
        Ok(package)
    }
}
