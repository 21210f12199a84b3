//! Cuts the items out of a ResourceList that is one flow mapping, as JSON is, and identifies them in the
//! same scan.

use std::ops::Range;

use super::{Identities, identities};
use crate::resource::Resource;
use crate::yaml::scalar::ScalarStyle;
use crate::yaml::scan::{Bail, Events, Scalar, scan};
use crate::yaml::{Limits, NodeKind, ParseOptions};

/// Collections around an item.
pub(crate) const ITEM_DEPTH: usize = 2;

/// Where the items of a flow ResourceList are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FlowItems {
    /// Behind the bracket that opens `items`.
    pub(crate) start: usize,
    /// Each item from its brace to its brace.
    pub(crate) ranges: Vec<Range<usize>>,
    /// What each item is.
    pub(crate) resources: Vec<Resource>,
}

/// The items of a text that is a flow mapping with a sequence of non-empty mappings under `items`, and with
/// keys quoted as in JSON. `None` for other texts, and for more than `limit` items.
pub(crate) fn flow_items(text: &str, limit: usize) -> Option<FlowItems> {
    let mut found = Finder {
        inner: identities(text, ParseOptions::default(), ITEM_DEPTH, Limits::of(text)),
        depth: 0,
        at: At::Elsewhere,
        others: 0,
        start: None,
        quoted: None,
        ranges: Vec::new(),
        limit,
    };
    scan(text, &mut found).ok()?;
    let resources = found.inner.found.into_iter().map(|found| Some(found?.0));
    let resources: Option<Vec<Resource>> = resources.collect();
    let resources = resources.filter(|resources| resources.len() == found.ranges.len())?;
    Some(FlowItems {
        start: found.start?,
        ranges: found.ranges,
        resources,
    })
}

/// Where the scan is in the wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Elsewhere,
    /// Behind the key `items`.
    Key,
    /// Within the sequence.
    Items,
}

/// The sink of the scanner's events: finds the items, and identifies whatever is at their depth.
struct Finder<'t> {
    inner: Identities<'t>,
    /// Open collections.
    depth: usize,
    at: At,
    /// How many identities there were before the current field of the wrapper.
    others: usize,
    start: Option<usize>,
    /// Whether the first key of the current item is quoted as in JSON.
    quoted: Option<bool>,
    ranges: Vec<Range<usize>>,
    /// Item limit.
    limit: usize,
}

impl Events for Finder<'_> {
    #[inline]
    fn key(&mut self, key: Scalar) -> Result<(), Bail> {
        let quoted = key.style == ScalarStyle::DoubleQuoted;
        if self.depth == 1 {
            if !quoted {
                return Err(Bail);
            }
            let is_items = &self.inner.text[key.start..key.end] == "\"items\"";
            self.at = if is_items { At::Key } else { At::Elsewhere };
        } else if self.depth == ITEM_DEPTH + 1 && self.quoted.is_none() {
            self.quoted = Some(quoted);
        }
        self.inner.key(key)
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar) -> Result<(), Bail> {
        let is_item = self.depth == ITEM_DEPTH && self.at == At::Items;
        if is_item || self.at == At::Key || self.depth == 0 {
            return Err(Bail);
        }
        self.inner.scalar(scalar)
    }

    fn open(&mut self, kind: NodeKind, start: usize, mark: Option<usize>) -> Result<(), Bail> {
        let (at, expected) = match self.depth {
            0 if self.start.is_some() => return Err(Bail),
            0 => (self.at, NodeKind::FlowMapping),
            1 if self.at == At::Key => {
                self.start = Some(start + 1);
                (At::Items, NodeKind::FlowSequence)
            }
            1 => {
                self.others = self.inner.found.len();
                (self.at, kind)
            }
            ITEM_DEPTH if self.at == At::Items => {
                if self.ranges.len() == self.limit {
                    return Err(Bail);
                }
                self.quoted = None;
                self.ranges.push(start..start);
                (self.at, NodeKind::FlowMapping)
            }
            _ => (self.at, kind),
        };
        if kind != expected {
            return Err(Bail);
        }
        self.at = at;
        self.depth += 1;
        self.inner.open(kind, start, mark)
    }

    fn close(&mut self, kind: NodeKind, end: usize) -> Result<(), Bail> {
        self.inner.close(kind, end)?;
        self.depth -= 1;
        match (self.depth, self.at) {
            (ITEM_DEPTH, At::Items) => {
                if self.quoted != Some(true) {
                    return Err(Bail);
                }
                if let Some(range) = self.ranges.last_mut() {
                    range.end = end;
                }
            }
            (1, At::Items) => self.at = At::Elsewhere,
            // Other nodes at the depth of items.
            (1, _) => self.inner.found.truncate(self.others),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<Vec<(&str, String)>> {
        let found = flow_items(text, 2)?;
        assert_eq!(text.as_bytes()[found.start - 1], b'[');
        let items = found.ranges.into_iter().zip(found.resources);
        Some(
            items
                .map(|(r, item)| (&text[r], item.kind.to_string()))
                .collect(),
        )
    }

    #[test]
    fn items_are_cut_at_their_commas() {
        let text = r#"{"kind":"ResourceList","functionConfig":{"metadata":{"kind":"X"},"items":[{"kind":"Y"}]},
"items":[{"kind":"A","a":[{"kind":"Z"}]}, {"kind":"B"}],"results":[{"kind":"C"}]}"#;
        let items = [
            (r#"{"kind":"A","a":[{"kind":"Z"}]}"#, "A".to_owned()),
            (r#"{"kind":"B"}"#, "B".to_owned()),
        ];
        assert_eq!(found(text).as_deref(), Some(items.as_slice()));
        let text = "{\n  \"items\": [\n    {\n      \"kind\": \"A\"\n    }\n  ]\n}\n";
        let items = [("{\n      \"kind\": \"A\"\n    }", "A".to_owned())];
        assert_eq!(found(text).as_deref(), Some(items.as_slice()));
    }

    #[test]
    fn other_texts_have_none() {
        for text in [
            "items:\n- kind: A\n",
            "{}",
            "[]",
            "[[{\"a\":1}]]",
            r#"{"items":null}"#,
            r#"{"items":{"a":{"kind":"A"}}}"#,
            r#"{"items":[{}]}"#,
            r#"{"items":[{"kind":"A"},{"kind":"A"},{"kind":"A"}]}"#,
            r#"{"items":[{"kind":"A"},1]}"#,
            r#"{"items":[{"kind":"A"},["b"]]}"#,
            r#"{"items":[{kind: "A"}]}"#,
            r#"{items: [{"kind":"A"}]}"#,
            r#"{"items":[{"kind":"A","kind":"B"}]}"#,
            r#"{"items":[{"kind":"A"}],"items":[{"kind":"A"}]}"#,
            "{\"items\":[{\"kind\":\"A\"}]}\n---\n{\"items\":[{\"kind\":\"A\"}]}\n",
            "{\"items\":[{\"kind\":\"A\"}]}\n---\na: b\n",
            "a: b\n---\n{\"items\":[{\"kind\":\"A\"}]}\n",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        assert_eq!(found(r#"{"items":[]}"#), Some(Vec::new()));
    }
}
