//! Finds the versions that a package names: of its images, its labels, its chart.

use std::collections::BTreeSet;

use krm_merge::image_parts;
use krm_merge::likeness::documents;
use krm_yaml::{NodeRef, OwnedDocument};

/// How many levels of a document are searched.
const DEPTH: usize = 64;

/// A set of versions, without `v`.
pub(super) struct VersionSet(BTreeSet<String>);

/// The versions that these texts name.
pub(super) fn versions_in<'t>(texts: impl Iterator<Item = &'t [u8]>) -> VersionSet {
    let mut found = VersionSet(BTreeSet::new());
    for text in texts.filter_map(|bytes| std::str::from_utf8(bytes).ok()) {
        for document in documents(text) {
            let document = OwnedDocument::parse(document.to_owned()).ok();
            if let Some(root) = document.as_ref().and_then(OwnedDocument::root) {
                found.add(root, DEPTH);
            }
        }
    }
    found
}

impl VersionSet {
    /// Whether one of the versions is a tag's: `v1.2.0`, `web/v1.2.0`, `chart-1.2.0`.
    pub(super) fn names(&self, tag: &str) -> bool {
        let name = tag.rsplit('/').next().unwrap_or_default();
        let chart = name.split_once('-').map(|(_, version)| version);
        let mut spellings = [Some(name), chart].into_iter().flatten();
        spellings.any(|name| self.0.contains(name.strip_prefix('v').unwrap_or(name)))
    }

    /// Whether these versions point to `one` rather than to `other`: they have more in common with `one`, including
    /// everything that they have in common with `other`.
    pub(super) fn speak_for(&self, one: &Self, other: &Self) -> bool {
        let named = |of: &Self| &self.0 & &of.0;
        let (one, other) = (named(one), named(other));
        one != other && one.is_superset(&other)
    }

    fn add(&mut self, node: NodeRef<'_>, depth: usize) {
        if depth == 0 {
            return;
        }
        for entry in node.entries() {
            let key = entry.key.key_text().unwrap_or_default();
            if let Some(text) = entry.value.scalar_text() {
                self.add_version(key, text);
            }
            self.add(entry.value, depth - 1);
        }
        for item in node.items() {
            self.add(item, depth - 1);
        }
    }

    fn add_version(&mut self, key: &str, text: &str) {
        let version = match key {
            "image" => image_parts(text).1,
            "newTag" | "app.kubernetes.io/version" => Some(text),
            "helm.sh/chart" => {
                let mut at = text.match_indices('-').map(|(at, _)| &text[at + 1..]);
                at.find(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == 'v'))
            }
            _ => None,
        };
        let Some(version) = version else { return };
        let version = version.strip_prefix('v').unwrap_or(version);
        self.0.insert(version.to_owned());
    }
}
