//! One thing in the three versions that a merge knows.

/// One thing as base, local and upstream have it.
///
/// `L` is the type of the local version if it differs: references into the text that is edited have another lifetime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Versions<T, L = T> {
    /// In the package that local was made from.
    pub base: T,
    /// In the local package.
    pub local: L,
    /// In the upstream revision to upgrade to.
    pub upstream: T,
}

impl<T, L> Versions<T, L> {
    /// The three versions, in their order.
    pub fn new(base: T, local: L, upstream: T) -> Self {
        Self {
            base,
            local,
            upstream,
        }
    }
}

impl<T> Versions<T> {
    /// Applies a function to each version, base first.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Versions<U> {
        Versions::new(f(self.base), f(self.local), f(self.upstream))
    }

    /// The versions by reference.
    pub fn as_ref(&self) -> Versions<&T> {
        Versions::new(&self.base, &self.local, &self.upstream)
    }

    /// Pairs each version with the same version of something else.
    pub fn zip<U>(self, other: Versions<U>) -> Versions<(T, U)> {
        Versions {
            base: (self.base, other.base),
            local: (self.local, other.local),
            upstream: (self.upstream, other.upstream),
        }
    }

    /// Base, local and upstream, in this order.
    pub(crate) fn into_array(self) -> [T; 3] {
        [self.base, self.local, self.upstream]
    }
}

impl<T> Versions<Option<T>> {
    /// The versions, if all three exist.
    pub fn all(self) -> Option<Versions<T>> {
        Some(Versions::new(self.base?, self.local?, self.upstream?))
    }
}

/// Base, local and upstream, in this order.
impl<T> From<[T; 3]> for Versions<T> {
    fn from([base, local, upstream]: [T; 3]) -> Self {
        Self::new(base, local, upstream)
    }
}

impl<T> IntoIterator for Versions<T> {
    type Item = T;
    type IntoIter = std::array::IntoIter<T, 3>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_array().into_iter()
    }
}
