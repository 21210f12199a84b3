//! Masks the values of Secrets in diffs and printed documents, as `kubectl diff` does.
//!
//! ```yaml
//! data:
//!   same: "***"
//!   changed: "*** (before)"     # "*** (after)" on the other side
//! ```
//!
//! Source: contract, Results.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use crate::results::{hidden_nodes, text_holds_secret};
use krm_yaml::{NodeKind, NodeRef, OwnedDocument, Path, PathElement, Value};

/// A value that is masked, and its places.
struct Hidden {
    ranges: Vec<Range<usize>>,
    value: Option<Value>,
}

/// The masked values, by the name of the resource and the path within it.
type AllHidden = BTreeMap<(String, String), Hidden>;

/// Two versions of a Secret, or of a patch of one, with their values masked. A version that is not YAML is masked
/// completely.
pub fn masked(before: &str, after: &str) -> (String, String) {
    let (sides, hidden) = read([before, after], true);
    with_hidden([before, after], &sides, &hidden)
}

/// Two versions of a file with the values of Secrets masked; `None` if they have no Secret. A version that is not YAML
/// is masked completely if it seems to define a Secret.
pub fn masked_file(before: &str, after: &str) -> Option<(String, String)> {
    let texts = [before, after];
    // Most files do not mention Secrets and need no parsing.
    if !texts.iter().any(|text| text_holds_secret(text)) {
        return None;
    }
    let (sides, hidden) = read(texts, false);
    let is_all_read = sides.iter().all(Option::is_some);
    let is_plain = hidden.iter().all(BTreeMap::is_empty);
    (!is_all_read || !is_plain).then(|| with_hidden(texts, &sides, &hidden))
}

/// A text with the values of Secrets masked.
fn masked_text(text: &str) -> Cow<'_, str> {
    match masked_file(text, "") {
        Some((masked, _)) => Cow::Owned(masked),
        None => Cow::Borrowed(text),
    }
}

/// The values of the Secrets of packages, to mask them in a text that does not say of which kind it is a part: a patch of
/// a resource that holds a Secret has its `data` without its `kind`.
#[derive(Debug, Default)]
pub struct SecretTexts(HashSet<String>);

impl SecretTexts {
    /// The values in some texts. A text that is not YAML has none that a patch could repeat.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut found = HashSet::new();
        for text in texts.into_iter().filter(|text| text_holds_secret(text)) {
            let Ok(document) = OwnedDocument::parse(text.to_owned()) else {
                continue;
            };
            let roots = document.roots();
            for hidden in roots.flat_map(|root| hidden_nodes(root, false)) {
                let texts = scalars(hidden).filter_map(|node| node.scalar_text());
                found.extend(texts.map(str::to_owned));
            }
        }
        found.remove("");
        Self(found)
    }

    /// The text with these values masked below `data` and `stringData`, in addition to what `masked_file` masks. Of a
    /// JSON patch with one of them, nothing is shown.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let shown = masked_text(text);
        if self.0.is_empty() {
            return shown;
        }
        let Ok(document) = OwnedDocument::parse(shown.to_string()) else {
            return shown;
        };
        let mut ranges = BTreeMap::new();
        let nodes = document.roots().flat_map(scalars);
        for node in nodes.filter(|node| self.is_hidden(*node)) {
            let range = node.range();
            ranges.insert(range.start, (range.end, "\"***\""));
        }
        if ranges.is_empty() {
            return shown;
        }
        Cow::Owned(with_masks(&shown, &ranges))
    }

    fn is_hidden(&self, node: NodeRef<'_>) -> bool {
        const DATA: [&str; 2] = ["data", "stringData"];
        let Some(text) = node.scalar_text() else {
            return false;
        };
        let path = node.path();
        let mut fields = path.elements().iter().filter_map(|step| match step {
            PathElement::Field(name) => Some(name.as_str()),
            _ => None,
        });
        let is_below = fields.clone().any(|name| DATA.contains(&name));
        if is_below && self.0.contains(text) {
            return true;
        }
        // The text of a JSON patch.
        fields.next_back() == Some("patch")
            && self.0.iter().any(|hidden| text.contains(hidden.as_str()))
    }
}

/// The scalars of a node, itself included.
fn scalars(node: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    let mut pending = vec![node];
    std::iter::from_fn(move || {
        while let Some(node) = pending.pop() {
            if node.kind() == NodeKind::Alias {
                continue;
            }
            if node.scalar_text().is_some() {
                return Some(node);
            }
            pending.extend(node.items());
            pending.extend(node.entries().map(|entry| entry.value));
        }
        None
    })
}

/// Both versions parsed, and what is masked in them. `is_secret` means that each is a Secret without saying so.
fn read(texts: [&str; 2], is_secret: bool) -> ([Option<OwnedDocument>; 2], [AllHidden; 2]) {
    let sides = texts.map(|text| OwnedDocument::parse(text.to_owned()).ok());
    let hidden = sides.each_ref().map(|side| {
        let mut found = AllHidden::new();
        for root in side.iter().flat_map(OwnedDocument::roots) {
            let is_secret = is_secret && root.get("target").is_none();
            for node in hidden_nodes(root, is_secret) {
                hide(node, &mut found);
            }
        }
        found
    });
    (sides, hidden)
}

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

/// Hides a value. Of a collection, such as `data`, the parts are hidden, so that their names remain.
fn hide(node: NodeRef<'_>, found: &mut AllHidden) {
    let parts: Vec<NodeRef<'_>> = node
        .entries()
        .map(|entry| entry.value)
        .chain(node.items())
        .collect();
    let parts = if parts.is_empty() { vec![node] } else { parts };
    for part in parts.into_iter().filter(|part| !part.is_null()) {
        // The value of an alias is elsewhere in the text.
        let ranges = vec![part.range(), part.resolved().range()];
        match found.entry(key(part)) {
            // A file can have two Secrets of one name.
            Entry::Occupied(mut first) => first.get_mut().ranges.extend(ranges),
            Entry::Vacant(place) => {
                let value = part.value();
                place.insert(Hidden { ranges, value });
            }
        }
    }
}

/// The name of the resource around a node, and the node's path within the resource.
fn key(node: NodeRef<'_>) -> (String, String) {
    let above = std::iter::successors(node.parent(), NodeRef::parent);
    let named = above.into_iter().find_map(|above| {
        let part = |name| {
            Some(
                above
                    .get_path(&["metadata", name])?
                    .scalar_text()?
                    .to_owned(),
            )
        };
        let name = part("name")?;
        Some((
            above,
            format!("{}/{name}", part("namespace").unwrap_or_default()),
        ))
    });
    let (above, name) = match named {
        Some((above, name)) => (above.path().elements().len(), name),
        None => (0, String::new()),
    };
    let path = node.path();
    let within = path.elements().iter().skip(above).cloned();
    let within = within.fold(Path::root(), |path, element| path.child(element));
    (name, within.to_string())
}

#[cfg(test)]
mod tests {
    use super::{SecretTexts, masked, masked_file};

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

    /// Aliases are not followed, so a List within itself is read once.
    #[test]
    fn a_list_that_contains_itself_is_read_once() {
        let list = "&r\nkind: List\nitems:\n- *r\n- {kind: Secret, data: {a: one}}\n- &i {kind: List, items: [*i, *r]}\n";
        let (before, after) = masked_file("", list).expect("a Secret");
        assert!(before.is_empty());
        assert!(!after.contains("one"), "{after}");
    }

    #[test]
    fn a_json_patch_of_a_secret_is_not_shown() {
        let entry =
            "target:\n  kind: Secret\npatch: |\n  - op: add\n    path: /data/a\n    value: b25l\n";
        let shown = "target:\n  kind: Secret\npatch: \"***\"";
        assert_eq!(masked("", entry).1.trim_end(), shown);
    }

    #[test]
    fn values_that_a_patch_repeats_are_not_shown() {
        let whole = "kind: Wrapper\nspec:\n  template:\n    kind: Secret\n    data: {k: b25l}\n    stringData: {t: on}\n";
        let secrets = SecretTexts::of([whole, "kind: ConfigMap\ndata: {a: plain}\n", "a: ["]);
        for (patch, shown) in [
            (
                "kind: Wrapper\nspec: {template: {data: {k: b25l}}}\n",
                "kind: Wrapper\nspec: {template: {data: {k: \"***\"}}}\n",
            ),
            (
                "kind: Wrapper\nspec: {template: {stringData: {t: on}, mode: on}}\n",
                "kind: Wrapper\nspec: {template: {stringData: {t: \"***\"}, mode: on}}\n",
            ),
            (
                "patches:\n- patch: |\n    - {op: add, path: /spec/template/data/k, value: b25l}\n",
                "patches:\n- patch: \"***\"",
            ),
            ("data: {a: plain}\n", "data: {a: plain}\n"),
        ] {
            assert_eq!(secrets.masked(patch).trim_end(), shown.trim_end());
        }
    }

    #[test]
    fn text_that_is_not_yaml_is_not_shown() {
        assert_eq!(masked("", "a: [one").1, "***\n");
        assert_eq!(masked("", "data: one\n").1, "data: \"***\"\n");
    }
}
