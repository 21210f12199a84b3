//! A map of strings in one allocation, because a cluster can have hundreds of thousands of objects with labels.

/// A map of strings that keeps the order of the document.
#[derive(Debug, Clone, Default)]
pub struct TextMap {
    /// All keys and values, concatenated.
    text: Box<str>,
    /// The end of each key and value in the text.
    ends: Box<[u32]>,
}

impl TextMap {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    /// Whether the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The entries, as key and value.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        (0..self.len()).map(|index| (self.part(2 * index), self.part(2 * index + 1)))
    }

    /// The value of the first entry with this key.
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
        // Most maps have a few short entries; excess capacity is released at the end.
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
