//! The words of `x-kubernetes-*` extensions that say how a map or a patched place is treated.

/// How the entries of a map or object relate (`x-kubernetes-map-type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MapType {
    /// Every entry is a value of its own.
    #[default]
    Granular,
    /// The map is one value.
    Atomic,
}

/// How a strategic merge patch treats a place (`x-kubernetes-patch-strategy`); the words can be
/// combined: `merge,retainKeys`. None of them: objects and maps merge, lists are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PatchStrategy {
    /// `merge`: of a list, by the patch merge key, or as a set of primitives.
    pub merge: bool,
    /// `replace`: also of an object, as one value.
    pub replace: bool,
    /// `retainKeys`: a patch names the keys of the object that stay; of a list, of its elements.
    pub retain_keys: bool,
}

impl PatchStrategy {
    /// Reads the words of `x-kubernetes-patch-strategy`; unknown ones say nothing.
    pub(super) fn parse(text: &str) -> Self {
        let has = |word| text.split(',').any(|part| part.trim() == word);
        Self {
            merge: has("merge"),
            replace: has("replace"),
            retain_keys: has("retainKeys"),
        }
    }
}
