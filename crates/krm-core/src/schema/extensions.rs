//! The values of `x-kubernetes-*` extensions that say how a map or a patched place is treated.

/// How the entries of a map or object relate (`x-kubernetes-map-type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MapType {
    /// Every entry is a separate value.
    #[default]
    Granular,
    /// The map is one value.
    Atomic,
}

/// How a strategic merge patch treats a place (`x-kubernetes-patch-strategy`). The words can be combined:
/// `merge,retainKeys`. Without any of them, objects and maps merge, and lists are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PatchStrategy {
    /// `merge`: a list merges, by the patch merge key or as a set of primitives.
    pub merge: bool,
    /// `replace`: a list or an object is replaced as one value.
    pub replace: bool,
    /// `retainKeys`: a patch lists the keys to keep, of an object or of the elements of a list.
    pub retain_keys: bool,
}

impl PatchStrategy {
    /// Reads the words of `x-kubernetes-patch-strategy`; unknown words are ignored.
    pub(super) fn parse(text: &str) -> Self {
        let has = |word| text.split(',').any(|part| part.trim() == word);
        Self {
            merge: has("merge"),
            replace: has("replace"),
            retain_keys: has("retainKeys"),
        }
    }
}
