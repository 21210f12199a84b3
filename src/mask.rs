//! Masks the values of Secrets in diffs, as `kubectl diff` does.
//!
//! ```yaml
//! data:
//!   same: "***"
//!   changed: "*** (before)"     # "*** (after)" on the other side
//! ```
//!
//! Source: contract, Results.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use crate::results::LAST_APPLIED;
use crate::yaml::{NodeRef, OwnedDocument, Value};

/// A value that is masked, and its places.
struct Hidden {
    ranges: Vec<Range<usize>>,
    value: Option<Value>,
}

/// The masked values, by the Secret and the path within it.
type AllHidden = BTreeMap<(String, &'static str, String), Hidden>;

/// Two versions of a Secret with their values masked. A version that is not YAML is masked completely.
pub(crate) fn masked(before: &str, after: &str) -> (String, String) {
    let sides = [before, after].map(|text| OwnedDocument::parse(text.to_owned()).ok());
    let hidden = sides.each_ref().map(|side| {
        let mut found = AllHidden::new();
        let root = side.as_ref().and_then(OwnedDocument::root);
        root.into_iter()
            .for_each(|root| hide_values(root, "", &mut found));
        found
    });
    with_hidden([before, after], &sides, &hidden)
}

/// Two versions of a file with the values of Secrets masked; `None` if they have no Secret. A version that is not YAML
/// is masked completely if one of them mentions Secrets.
pub(crate) fn masked_file(before: &str, after: &str) -> Option<(String, String)> {
    let texts = [before, after];
    // Most files do not mention Secrets and need no parsing.
    if !texts.iter().any(|text| text.contains(SECRET)) {
        return None;
    }
    let sides = texts.map(|text| OwnedDocument::parse(text.to_owned()).ok());
    let hidden = sides.each_ref().map(|side| {
        let mut found = AllHidden::new();
        let document = side.as_ref().map(OwnedDocument::document);
        let roots = document
            .into_iter()
            .flat_map(|document| (0..document.len()).filter_map(move |index| document.root(index)));
        roots.for_each(|root| hide_secrets(root, &mut found));
        found
    });
    let is_all_read = sides.iter().all(Option::is_some);
    let is_plain = hidden.iter().all(BTreeMap::is_empty);
    (!is_all_read || !is_plain).then(|| with_hidden(texts, &sides, &hidden))
}

/// The kind whose values are masked.
const SECRET: &str = "Secret";

/// Both texts with masks in place of the masked values.
fn with_hidden(
    texts: [&str; 2],
    sides: &[Option<OwnedDocument>; 2],
    hidden: &[AllHidden; 2],
) -> (String, String) {
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
        let text = texts[own];
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

/// Collects the values of a Secret, or of the Secrets in a list.
fn hide_secrets(root: NodeRef<'_>, found: &mut AllHidden) {
    let root = root.resolved();
    let text = |path: &[&str]| Some(root.get_path(path)?.resolved().scalar_text()?.to_owned());
    if text(&["kind"]).as_deref() == Some(SECRET) {
        let part = |name| text(&["metadata", name]).unwrap_or_default();
        let name = format!("{}/{}", part("namespace"), part("name"));
        hide_values(root, &name, found);
    } else if let Some(items) = root.get("items").map(|items| items.resolved()) {
        let is_of_secrets = text(&["kind"]).as_deref() == Some("SecretList");
        for (at, item) in items.items().enumerate() {
            if is_of_secrets {
                hide_values(item.resolved(), &at.to_string(), found);
            } else {
                hide_secrets(item, found);
            }
        }
    }
}

fn hide_values(root: NodeRef<'_>, secret: &str, found: &mut AllHidden) {
    let mut hide = |section: &'static str, key: &str, node: NodeRef<'_>| {
        if node.is_null() {
            return;
        }
        // The value of an alias is elsewhere in the text.
        let ranges = vec![node.range(), node.resolved().range()];
        let value = node.value();
        let path = (secret.to_owned(), section, key.to_owned());
        match found.entry(path) {
            // A file can have two Secrets of one name.
            Entry::Occupied(mut first) => first.get_mut().ranges.extend(ranges),
            Entry::Vacant(place) => {
                place.insert(Hidden { ranges, value });
            }
        }
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
    // A JSON patch is one text, which is masked completely.
    if let Some(node) = root.get("patch").filter(|_| root.get("target").is_some()) {
        hide("patch", "", node);
    }
}

#[cfg(test)]
mod tests {
    use super::{masked, masked_file};

    #[test]
    fn values_are_distinguished_and_not_shown() {
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
    fn the_secrets_of_a_file_are_not_shown() {
        let map = "kind: ConfigMap\ndata: {a: Secret}\n";
        assert_eq!(masked_file(map, ""), None);
        let secret = "kind: Secret\nmetadata: {name: s}\ndata: {a: one}\n";
        let list = format!(
            "{map}---\nkind: List\nitems:\n- {{kind: Secret, metadata: {{name: s}}, data: {{a: two}}}}\n"
        );
        let (before, after) = masked_file(secret, &list).expect("a Secret");
        assert_eq!(before, secret.replace("one", "\"*** (before)\""));
        assert_eq!(after, list.replace("two", "\"*** (after)\""));
        let broken = "kind: Secret\ndata: [one";
        let (before, after) = masked_file("", broken).expect("a Secret");
        assert_eq!((&*before, &*after), ("", "***\n"));
    }

    #[test]
    fn a_json_patch_of_a_secret_is_not_shown() {
        let entry =
            "target:\n  kind: Secret\npatch: |\n  - op: add\n    path: /data/a\n    value: b25l\n";
        let shown = "target:\n  kind: Secret\npatch: \"***\"";
        assert_eq!(masked("", entry).1.trim_end(), shown);
    }

    #[test]
    fn what_is_no_yaml_is_not_shown() {
        assert_eq!(masked("", "a: [one").1, "***\n");
        assert_eq!(masked("", "data: one\n").1, "data: \"***\"\n");
    }
}
