//! Which places of a document hold values of Secrets.
//!
//! ```yaml
//! extraObjects:
//! - kind: Secret            # a manifest, in whatever it lies
//!   stringData: {a: one}    # hidden
//! secretGenerator:
//! - literals: [a=one]       # hidden
//! patches:
//! - target: {kind: Secret}
//!   patch: "..."            # hidden
//! ```
//!
//! [`Inside::step`] is the only answer. It goes from a collection to a part of it, so a walk down a document and a climb from a
//! node up to its root ask the same question.

use krm_yaml::{NodeKind, NodeRef, Value};

/// The annotation in which `kubectl apply` stores the previous configuration.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A part of a document: a node, or a value that was read from one.
pub(super) trait CarrierPart: Copy {
    /// The entries of a mapping, without those that a merge key brings.
    fn each_entry(self, visit: &mut dyn FnMut(&str, Self));
    fn each_item(self, visit: &mut dyn FnMut(Self));
    fn text(&self) -> Option<&str>;
    fn is_null(self) -> bool;
    fn is_mapping(self) -> bool;
}

impl CarrierPart for NodeRef<'_> {
    fn each_entry(self, visit: &mut dyn FnMut(&str, Self)) {
        let entries = self.resolved().entries();
        entries.for_each(|entry| visit(entry.key.field_name(), entry.value));
    }

    fn each_item(self, visit: &mut dyn FnMut(Self)) {
        self.resolved().items().for_each(visit);
    }

    fn text(&self) -> Option<&str> {
        self.resolved().scalar_text()
    }

    fn is_null(self) -> bool {
        NodeRef::is_null(&self)
    }

    fn is_mapping(self) -> bool {
        self.resolved().kind().is_mapping()
    }
}

impl CarrierPart for &Value {
    fn each_entry(self, visit: &mut dyn FnMut(&str, Self)) {
        for (key, value) in self.entries() {
            visit(key.as_str().unwrap_or_default(), value);
        }
    }

    fn each_item(self, visit: &mut dyn FnMut(Self)) {
        self.items().iter().for_each(visit);
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn is_null(self) -> bool {
        matches!(self, Value::Null)
    }

    fn is_mapping(self) -> bool {
        matches!(self, Value::Mapping(_))
    }
}

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SecretPlace {
    #[default]
    Plain,
    /// CarrierPart of a patch whose target is a kind other than Secret.
    OtherPatch,
    /// A Secret, whether it says so or not.
    Secret,
    /// The items of a SecretList.
    Secrets,
    /// `metadata` of a Secret.
    Metadata,
    /// `metadata.annotations` of a Secret.
    Annotations,
    /// `secretGenerator` of a kustomization.
    Generators,
    /// What makes a Secret from literals and files.
    Generator,
    /// A value of a Secret, or part of one.
    Hidden,
}

/// What a mapping says about its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum CarrierRole {
    #[default]
    Plain,
    Secret,
    SecretList,
    Generator,
    /// A patch with a target that can be a Secret.
    Patch,
    OtherPatch,
    /// An operation of JSON 6902 on `stringData`, or on `data` of an unknown kind.
    StringData,
    Data,
}

/// A collection, as far as the places of its parts depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inside {
    place: SecretPlace,
    role: CarrierRole,
}

/// Fields of a Secret without secret values. All others are hidden, those that Kubernetes does not know included.
const OPEN_FIELDS: [&str; 10] = [
    "apiVersion",
    "kind",
    "type",
    "immutable",
    "name",
    "namespace",
    "status",
    "sops",
    "$patch",
    "$retainKeys",
];

/// Fields of a generator without secret values; `files` and `envs` name files.
const OPEN_GENERATOR_FIELDS: [&str; 13] = [
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "namespace",
    "behavior",
    "type",
    "options",
    "files",
    "env",
    "envs",
    "disableNameSuffixHash",
    "immutable",
];

/// Fields next to `target` that are not the patch.
const OPEN_PATCH_FIELDS: [&str; 6] = [
    "apiVersion",
    "kind",
    "metadata",
    "target",
    "path",
    "options",
];

impl Inside {
    /// `place` is what the collection itself is.
    pub(super) fn of<P: CarrierPart>(place: SecretPlace, collection: P) -> Self {
        let role = if place == SecretPlace::Hidden {
            CarrierRole::Plain
        } else {
            role_of(collection)
        };
        Self { place, role }
    }

    /// A collection that no version has.
    pub(super) fn unknown(place: SecretPlace) -> Self {
        Self {
            place,
            role: CarrierRole::Plain,
        }
    }

    /// The place of an entry, or of an item if there is no key.
    pub(super) fn step(self, key: Option<&str>) -> SecretPlace {
        let Some(key) = key else {
            return match self.place {
                SecretPlace::Secrets => SecretPlace::Secret,
                SecretPlace::Generators => SecretPlace::Generator,
                SecretPlace::Hidden | SecretPlace::OtherPatch => self.place,
                _ => SecretPlace::Plain,
            };
        };
        match self.place {
            SecretPlace::Hidden | SecretPlace::Secrets => SecretPlace::Hidden,
            SecretPlace::Secret => of_secret(key),
            SecretPlace::Metadata if key == "annotations" => SecretPlace::Annotations,
            SecretPlace::Annotations if key == LAST_APPLIED => SecretPlace::Hidden,
            SecretPlace::Generators | SecretPlace::Generator => {
                hidden_unless(&OPEN_GENERATOR_FIELDS, key)
            }
            _ => self.by_role(key),
        }
    }

    fn by_role(self, key: &str) -> SecretPlace {
        let is_other = self.place == SecretPlace::OtherPatch;
        match (self.role, key) {
            (CarrierRole::Secret, _) => of_secret(key),
            // Only Secrets have this field.
            (_, "stringData") => SecretPlace::Hidden,
            (_, "secretGenerator") => SecretPlace::Generators,
            (CarrierRole::SecretList, "items") => SecretPlace::Secrets,
            (CarrierRole::Generator, _) => hidden_unless(&OPEN_GENERATOR_FIELDS, key),
            (CarrierRole::Patch, _) => hidden_unless(&OPEN_PATCH_FIELDS, key),
            (CarrierRole::OtherPatch, _) if !OPEN_PATCH_FIELDS.contains(&key) => {
                SecretPlace::OtherPatch
            }
            (CarrierRole::StringData, "value") => SecretPlace::Hidden,
            (CarrierRole::Data, "value") if !is_other => SecretPlace::Hidden,
            _ if is_other => SecretPlace::OtherPatch,
            _ => SecretPlace::Plain,
        }
    }

    /// Whether the collection is a Secret.
    fn is_secret(self) -> bool {
        self.place == SecretPlace::Secret || self.role == CarrierRole::Secret
    }
}

fn of_secret(key: &str) -> SecretPlace {
    match key {
        "metadata" => SecretPlace::Metadata,
        _ => hidden_unless(&OPEN_FIELDS, key),
    }
}

fn hidden_unless(open: &[&str], key: &str) -> SecretPlace {
    if open.contains(&key) {
        SecretPlace::Plain
    } else {
        SecretPlace::Hidden
    }
}

/// The fields of a mapping that decide its role.
#[derive(Default)]
struct CarrierHead {
    kind: Option<String>,
    is_manifest: bool,
    /// The kind of `target`; empty if it names none.
    target: Option<String>,
    is_operation: bool,
    path: Option<String>,
}

impl CarrierHead {
    fn read<P: CarrierPart>(&mut self, mapping: P, merges_left: usize) {
        mapping.each_entry(&mut |key, value| match key {
            "kind" => self.kind = self.kind.take().or(value.text().map(str::to_owned)),
            "metadata" | "data" | "stringData" => self.is_manifest = true,
            "target" => {
                let mut kind = None;
                value.each_entry(&mut |key, value| {
                    if key == "kind" {
                        kind = value.text().map(str::to_owned);
                    }
                });
                self.target = Some(kind.unwrap_or_default());
            }
            "op" => self.is_operation = true,
            "path" => self.path = value.text().map(str::to_owned),
            "<<" if merges_left > 0 => {
                self.read(value, merges_left - 1);
                value.each_item(&mut |item| self.read(item, merges_left - 1));
            }
            _ => {}
        });
    }
}

/// Merge keys within merge keys that are read for the kind of a mapping.
const MERGES: usize = 4;

fn role_of<P: CarrierPart>(mapping: P) -> CarrierRole {
    let mut head = CarrierHead::default();
    head.read(mapping, MERGES);
    let kind = head.kind.as_deref().map(str::trim);
    let begins = |field: &str| {
        let path = head.path.as_deref().unwrap_or_default();
        let rest = path.strip_prefix(field);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match kind {
        Some("Secret") if head.is_manifest => CarrierRole::Secret,
        Some("SecretList") => CarrierRole::SecretList,
        Some("SecretGenerator") => CarrierRole::Generator,
        _ if head.target.is_some() => match head.target.as_deref() {
            Some("") | None => CarrierRole::Plain,
            Some(target) if may_select_secret(target) => CarrierRole::Patch,
            Some(_) => CarrierRole::OtherPatch,
        },
        _ if head.is_operation && begins("/stringData") => CarrierRole::StringData,
        _ if head.is_operation && begins("/data") => CarrierRole::Data,
        _ => CarrierRole::Plain,
    }
}

/// Whether the kind of a selector, a regular expression, can match Secrets.
fn may_select_secret(kind: &str) -> bool {
    let is_name = kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    kind == "Secret" || !is_name && (kind.contains("Secret") || kind.contains(['*', '.', '+', '[']))
}

/// The maximum number of parts of one value that are looked at. A value with more is hidden.
const MOST_PARTS: usize = 10_000_000;

/// Reads the texts within a value.
#[derive(Clone, Copy)]
pub(super) struct TextReader {
    /// How many times texts within texts are followed.
    pub(super) levels: usize,
    /// Whether a text holds a value of a Secret, if it is in this place.
    pub(super) holds_secret: fn(&str, SecretPlace, usize) -> bool,
}

impl TextReader {
    pub(super) fn holds(self, text: &str, place: SecretPlace) -> bool {
        (self.holds_secret)(text, place, self.levels)
    }
}

/// Whether a value, in a place, is a value of a Secret or holds one.
pub(super) fn holds<P: CarrierPart>(place: SecretPlace, part: P, texts: TextReader) -> bool {
    let mut search = SecretSearch {
        parts_left: MOST_PARTS,
        texts,
    };
    search.holds(place, part, 0)
}

struct SecretSearch {
    parts_left: usize,
    texts: TextReader,
}

/// Levels of a value, those of aliases included. A deeper value is hidden.
const MOST_LEVELS: usize = 1_024;

impl SecretSearch {
    fn holds<P: CarrierPart>(&mut self, place: SecretPlace, part: P, depth: usize) -> bool {
        if place == SecretPlace::Hidden {
            return !part.is_null();
        }
        let Some(left) = self.parts_left.checked_sub(1) else {
            return true;
        };
        self.parts_left = left;
        if depth > MOST_LEVELS {
            return true;
        }
        if let Some(text) = part.text() {
            return self.texts.holds(text, place);
        }
        let inside = Inside::of(place, part);
        if inside.is_secret() && part.is_mapping() {
            return true;
        }
        let mut found = false;
        part.each_entry(&mut |key, value| {
            found = found || self.holds(inside.step(Some(key)), value, depth + 1);
        });
        part.each_item(&mut |item| {
            found = found || self.holds(inside.step(None), item, depth + 1);
        });
        found
    }
}

/// Calls `found` for each outermost node with values of Secrets below a root.
pub(super) fn hidden_nodes<'n>(
    place: SecretPlace,
    root: NodeRef<'n>,
    texts: TextReader,
    found: &mut dyn FnMut(NodeRef<'n>),
) {
    let mut pending = vec![(place, root)];
    while let Some((place, node)) = pending.pop() {
        if place == SecretPlace::Hidden {
            if !node.is_null() {
                found(node);
            }
            continue;
        }
        if node.kind() == NodeKind::Alias {
            // What the alias stands for is elsewhere in the text.
            if holds(place, node, texts) {
                found(node);
            }
            continue;
        }
        if let Some(text) = node.scalar_text() {
            if texts.holds(text, place) {
                found(node);
            }
            continue;
        }
        let inside = Inside::of(place, node);
        let entries = node.entries();
        pending.extend(entries.map(|entry| {
            let key = entry.key.field_name();
            (inside.step(Some(key)), entry.value)
        }));
        pending.extend(node.items().map(|item| (inside.step(None), item)));
    }
}

/// The place of the root of a document: a resource of the kind Secret needs no metadata to be one. Without a kind, which an
/// item of a SecretList and a patch can do without, what has data may be one.
pub(super) fn of_root(root: NodeRef<'_>) -> SecretPlace {
    let kind = root.get("kind").and_then(|kind| kind.scalar_text());
    let may_be_secret = || root.get("metadata").is_some() && root.get("data").is_some();
    match kind.map(str::trim) {
        Some("Secret") => SecretPlace::Secret,
        None if may_be_secret() => SecretPlace::Secret,
        _ => SecretPlace::Plain,
    }
}
