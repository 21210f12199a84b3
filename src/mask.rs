//! Masks the values of Secrets in what a diff shows, as `kubectl diff` does.
//!
//! ```yaml
//! data:
//!   same: "***"
//!   changed: "*** (before)"     # "*** (after)" on the other side
//! ```
//!
//! Source: contract, Results.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::results::LAST_APPLIED;
use crate::yaml::{NodeRef, OwnedDocument, Value};

/// A value that is not shown.
struct Hidden {
    ranges: Vec<Range<usize>>,
    value: Option<Value>,
}

/// By the path that leads to it.
type AllHidden = BTreeMap<(&'static str, String), Hidden>;

/// Two versions of a Secret, without their values. One that is no YAML is not shown at all.
pub(crate) fn masked(before: &str, after: &str) -> (String, String) {
    let sides = [before, after].map(|text| OwnedDocument::parse(text.to_owned()).ok());
    let hidden = sides.each_ref().map(|side| {
        let root = side.as_ref().and_then(OwnedDocument::root);
        root.map(hidden).unwrap_or_default()
    });
    let masked = |own: usize, changed: &'static str| {
        let (own_hidden, other) = (&hidden[own], &hidden[1 - own]);
        let mut ranges = BTreeMap::new();
        for (path, value) in own_hidden {
            let differs = other
                .get(path)
                .is_some_and(|other| other.value != value.value);
            let mask = if differs { changed } else { "\"***\"" };
            for range in &value.ranges {
                ranges.insert(range.start, (range.end, mask));
            }
        }
        let text = [before, after][own];
        if sides[own].is_some() {
            with_masks(text, &ranges)
        } else {
            "***\n".to_owned()
        }
    };
    (masked(0, "\"*** (before)\""), masked(1, "\"*** (after)\""))
}

fn with_masks(text: &str, ranges: &BTreeMap<usize, (usize, &str)>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for (start, (end, mask)) in ranges {
        if *start >= at {
            masked.push_str(&text[at..*start]);
            masked.push_str(mask);
            at = *end;
        }
    }
    masked.push_str(&text[at..]);
    masked
}

fn hidden(root: NodeRef<'_>) -> AllHidden {
    let mut found = AllHidden::new();
    let mut hide = |section: &'static str, key: &str, node: NodeRef<'_>| {
        if node.is_null() {
            return;
        }
        // What an alias stands for is written somewhere else.
        let ranges = vec![node.range(), node.resolved().range()];
        let value = node.value();
        found.insert((section, key.to_owned()), Hidden { ranges, value });
    };
    for section in ["data", "stringData"] {
        let Some(node) = root.get(section) else {
            continue;
        };
        if node.resolved().kind().is_mapping() {
            node.resolved().entries().for_each(|entry| {
                let key = entry.key.scalar_text().unwrap_or_default();
                hide(section, key, entry.value);
            })
        } else {
            hide(section, "", node)
        }
    }
    if let Some(node) = root.get_path(&["metadata", "annotations", LAST_APPLIED]) {
        hide("metadata", LAST_APPLIED, node);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn values_are_told_apart_and_not_shown() {
        let before = "kind: Secret\nmetadata:\n  name: s\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"data\":\"one\"}\ndata:\n  same: one\n  changed: one # why\n  gone: &x one\n  none: null\n  alias: *x\nstringData: {text: |one|}\n";
        let after = "kind: Secret\nmetadata:\n  name: s\ndata: {same: \"one\", changed: two, new: one}\nstringData:\n  text: |\n    one\n    two\ntype: Opaque\n";
        let before = before.replace("|one|", "one");
        let (before, after) = masked(&before, after);
        assert_eq!(
            before,
            "kind: Secret\nmetadata:\n  name: s\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: \"***\"\ndata:\n  same: \"***\"\n  changed: \"*** (before)\" # why\n  gone: &x \"***\"\n  none: null\n  alias: *x\nstringData: {text: \"*** (before)\"}\n"
        );
        assert_eq!(
            after,
            "kind: Secret\nmetadata:\n  name: s\ndata: {same: \"***\", changed: \"*** (after)\", new: \"***\"}\nstringData:\n  text: \"*** (after)\"\ntype: Opaque\n"
        );
    }

    #[test]
    fn what_is_no_yaml_is_not_shown() {
        assert_eq!(masked("", "a: [one").1, "***\n");
        assert_eq!(masked("", "data: one\n").1, "data: \"***\"\n");
    }
}
