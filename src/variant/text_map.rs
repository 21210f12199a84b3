//! A map of strings in one piece: a cluster can have hundreds of thousands of objects with labels.

/// A map of strings, in the order of the document.
#[derive(Debug, Clone, Default)]
pub struct TextMap {
    /// Keys and values, one after the other.
    text: Box<str>,
    /// Where each key and each value ends.
    ends: Box<[u32]>,
}

impl TextMap {
    /// How many entries it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Its entries.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        (0..self.len()).map(|index| (self.part(2 * index), self.part(2 * index + 1)))
    }

    /// The value of the first entry with this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        let mut entries = self.iter();
        entries
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    }

    fn part(&self, index: usize) -> &str {
        let end = |index: usize| self.ends[index] as usize;
        let start = index.checked_sub(1).map_or(0, end);
        &self.text[start..end(index)]
    }
}

impl<'t> FromIterator<(&'t str, &'t str)> for TextMap {
    fn from_iter<I: IntoIterator<Item = (&'t str, &'t str)>>(entries: I) -> Self {
        // Most have a few short entries; what they do not need is given back.
        let (mut text, mut ends) = (String::with_capacity(128), Vec::with_capacity(16));
        for (key, value) in entries {
            for part in [key, value] {
                text.push_str(part);
                ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            }
        }
        Self {
            text: text.into(),
            ends: ends.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_order() {
        let entries = [("b", "x"), ("", "y"), ("a", ""), ("b", "z")];
        let map: TextMap = entries.into_iter().collect();
        assert_eq!(map.iter().collect::<Vec<_>>(), entries);
        assert_eq!(
            (map.get("b"), map.get(""), map.get("c")),
            (Some("x"), Some("y"), None)
        );
        assert!(!map.is_empty() && TextMap::default().is_empty());
    }
}
