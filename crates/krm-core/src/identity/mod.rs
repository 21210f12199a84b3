//! Reads the identity of resources from the scanner's events, without a tree.
//!
//! The result is what [`Resource::read`] reads from the tree of the same text. Texts that the scanner does not accept
//! need a tree.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::resource::{
    INDEX_ANNOTATIONS, PACKAGE_PATH_ANNOTATION, PATH_ANNOTATIONS, Resource, ResourceFields,
};
use krm_yaml::scalar::{Reading, ScalarStyle};
use krm_yaml::scan::{Bail, Events, Scalar, decode, scan};
use krm_yaml::{Limits, NodeKind, ParseOptions};

/// The resource of a text that is a sequence of one mapping; `None` if the text needs a tree.
pub(crate) fn item(text: &str, options: ParseOptions) -> Option<Resource> {
    let mut found = identities_of(text, options, 1)?.found.into_iter();
    let resource = found.next().flatten()?.0;
    found.next().is_none().then_some(resource)
}

/// The documents of a text in order, each with its resource if it is KRM. `None` if the text needs a tree:
/// the scanner leaves it to the general parser ([`Tree::parse_fast`](krm_yaml::Tree::parse_fast)).
pub fn documents(text: &str) -> Option<Vec<Option<Resource>>> {
    let found = identities_of(text, ParseOptions::default(), 0)?.found;
    Some(found.into_iter().map(krm).collect())
}

/// Like [`documents`], each with its range. Together the ranges cover the text, and the text of each range alone is the
/// same document.
pub fn separate_documents(text: &str) -> Option<Vec<(Range<usize>, Option<Resource>)>> {
    let identities = identities_of(text, ParseOptions::default(), 0)?;
    let starts = std::iter::once(0).chain(identities.ends.iter().copied());
    let ranges = starts.zip(&identities.ends);
    let documents = ranges.zip(identities.found);
    Some(
        documents
            .map(|((start, end), found)| (start..*end, krm(found)))
            .collect(),
    )
}

fn krm(found: Option<(Resource, bool)>) -> Option<Resource> {
    found.and_then(|(resource, is_krm)| is_krm.then_some(resource))
}

/// Reads the nodes that are within `level` collections.
fn identities_of(text: &str, options: ParseOptions, level: usize) -> Option<Identities<'_>> {
    let mut identities = Identities {
        text,
        level,
        depth: 0,
        within: Within::Nothing,
        field: None,
        values: [None; FIELDS],
        found: Vec::with_capacity(1),
        ends: Vec::with_capacity(1),
    };
    scan(text, options.depth, Limits::of(text), &mut identities).ok()?;
    Some(identities)
}

/// The innermost open mapping with fields to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Resource,
    Metadata,
    Annotations,
}

/// A field to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdentityField {
    ApiVersion,
    Kind,
    Name,
    GenerateName,
    Namespace,
    Path,
    LegacyPath,
    Index,
    LegacyIndex,
    PackagePath,
    Metadata,
    Annotations,
}

/// Number of the fields that are scalars.
const FIELDS: usize = IdentityField::Metadata as usize;

impl IdentityField {
    #[inline]
    fn of(within: Within, key: &[u8]) -> Option<Self> {
        let is = |name: &str| key == name.as_bytes();
        Some(match (within, key) {
            (Within::Resource, b"apiVersion") => Self::ApiVersion,
            (Within::Resource, b"kind") => Self::Kind,
            (Within::Resource, b"metadata") => Self::Metadata,
            (Within::Metadata, b"name") => Self::Name,
            (Within::Metadata, b"generateName") => Self::GenerateName,
            (Within::Metadata, b"namespace") => Self::Namespace,
            (Within::Metadata, b"annotations") => Self::Annotations,
            (Within::Annotations, _) if is(PATH_ANNOTATIONS[0]) => Self::Path,
            (Within::Annotations, _) if is(PATH_ANNOTATIONS[1]) => Self::LegacyPath,
            (Within::Annotations, _) if is(INDEX_ANNOTATIONS[0]) => Self::Index,
            (Within::Annotations, _) if is(INDEX_ANNOTATIONS[1]) => Self::LegacyIndex,
            (Within::Annotations, _) if is(PACKAGE_PATH_ANNOTATION) => Self::PackagePath,
            _ => return None,
        })
    }
}

/// Receives the scanner's events and collects the fields of the current resource.
struct Identities<'t> {
    text: &'t str,
    /// Number of collections around a resource within the text.
    level: usize,
    /// Number of open collections.
    depth: usize,
    within: Within,
    /// The field whose value comes next.
    field: Option<IdentityField>,
    values: [Option<Scalar>; FIELDS],
    /// Each node within `level` collections: its resource if it is a mapping, and whether it has apiVersion and kind.
    found: Vec<Option<(Resource, bool)>>,
    /// Where each document ends.
    ends: Vec<usize>,
}

impl<'t> Identities<'t> {
    /// The number of collections that are open at the keys of `within`.
    fn depth_of(&self, within: Within) -> usize {
        self.level + within as usize
    }

    fn text(&self, field: IdentityField) -> Option<Cow<'t, str>> {
        let scalar = self.values[field as usize]?;
        Some(decode(self.text, &scalar))
    }

    /// The text of a field that is a string.
    fn string(&self, field: IdentityField) -> Option<Cow<'t, str>> {
        let scalar = self.values[field as usize]?;
        let plain = scalar.style == ScalarStyle::Plain;
        self.text(field)
            .filter(|text| !plain || Reading::Kubernetes.is_string(text))
    }

    fn resource(&self) -> (Resource, bool) {
        let last = self.found.last().and_then(Option::as_ref);
        let last = last.map(|(resource, _)| resource);
        let shared = |text: Option<Cow<'_, str>>, of: fn(&Resource) -> Option<&Arc<str>>| {
            let last = last.and_then(of);
            text.map(|text| match last {
                Some(last) if **last == *text => last.clone(),
                _ => Arc::from(text),
            })
        };
        let fields = ResourceFields {
            api_version: shared(self.string(IdentityField::ApiVersion), |last| {
                Some(&last.api_version)
            }),
            kind: shared(self.string(IdentityField::Kind), |last| Some(&last.kind)),
            name: self.string(IdentityField::Name).map(Arc::from),
            generate_name: self.string(IdentityField::GenerateName).map(Arc::from),
            namespace: shared(self.string(IdentityField::Namespace), |last| {
                last.namespace.as_ref()
            }),
            paths: [IdentityField::Path, IdentityField::LegacyPath]
                .map(|field| shared(self.text(field), |last| last.origin.path.as_ref())),
            indexes: [IdentityField::Index, IdentityField::LegacyIndex]
                .map(|field| self.text(field)),
            package_path: shared(self.text(IdentityField::PackagePath), |last| {
                last.origin.package_path.as_ref()
            }),
        };
        let krm = fields.api_version.is_some() && fields.kind.is_some();
        (Resource::from(fields), krm)
    }
}

impl Events for Identities<'_> {
    fn document_end(&mut self, end: usize) {
        self.ends.push(end);
    }

    #[inline]
    fn key(&mut self, _key: Scalar, text: &[u8]) {
        self.field = None;
        if self.within != Within::Nothing && self.depth == self.depth_of(self.within) {
            self.field = IdentityField::of(self.within, text);
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar) {
        if self.depth == self.level {
            self.found.push(None);
        }
        if let Some(field) = self.field.take()
            && let Some(value) = self.values.get_mut(field as usize)
        {
            *value = Some(scalar);
        }
    }

    fn open(&mut self, kind: NodeKind, _: usize, _: Option<usize>) -> Result<(), Bail> {
        // If resources are items, the root must be a sequence, and the text must have one document.
        let around = self.level == 1 && self.depth == 0;
        if around && (kind.is_mapping() || !self.found.is_empty()) {
            return Err(Bail);
        }
        let field = self.field.take();
        if kind.is_mapping() {
            self.within = match field {
                _ if self.depth == self.level => Within::Resource,
                Some(IdentityField::Metadata) => Within::Metadata,
                Some(IdentityField::Annotations) => Within::Annotations,
                _ => self.within,
            };
        } else if self.depth == self.level {
            self.found.push(None);
        }
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self, _: NodeKind, _: usize) {
        if self.within != Within::Nothing && self.depth == self.depth_of(self.within) {
            self.within = match self.within {
                Within::Annotations => Within::Metadata,
                Within::Metadata => Within::Resource,
                Within::Resource | Within::Nothing => {
                    let found = self.resource();
                    self.found.push(Some(found));
                    self.values = [None; FIELDS];
                    Within::Nothing
                }
            };
        }
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indoc::indoc;
    use krm_yaml::{Document, Tree};

    const RESOURCE: &str = "\
apiVersion: apps/v1
kind: \"Deployment\" # c
metadata: # d
  annotations:
    config.kubernetes.io/index: '3'
    'internal.config.kubernetes.io/path': a/b.yaml
    config.kubernetes.io/path: \"a\\u002fc.yaml\"
    internal.config.kubernetes.io/package-path: /p
    other: |
      name: x
  name: n
  generateName: g-
  labels: {name: l, kind: m}
  namespace: 12
spec:
  metadata: {name: o, annotations: {config.kubernetes.io/index: 4}}
  kind: p
  list:
  - metadata:
      name: q
";

    fn as_item(text: &str) -> String {
        let lines = text.lines().map(|line| format!("  {line}\n"));
        format!("- {}", lines.collect::<String>().trim_start())
    }

    #[test]
    fn an_item_has_the_identity_that_its_tree_has() {
        for text in [
            RESOURCE,
            "kind: A\n",
            "metadata:\n  name: {a: b}\n  annotations: []\n",
            "metadata: x\nkind: null\napiVersion: 'null'\n",
            "metadata: {name: a, annotations: {config.kubernetes.io/path: [b]}}\n",
            "metadata:\n- name: a\n",
            "spec:\n  kind: b\nkind:\n  kind: c\n",
        ] {
            let text = as_item(text);
            let options = ParseOptions::of_resources(1);
            let tree = Tree::parse(&text, options).expect("YAML");
            let root = Document::new(&text, &tree).root(0).expect("a root");
            let expected = root.items().next().map(Resource::read);
            assert_eq!(item(&text, options), expected, "{text}");
        }
    }

    #[test]
    fn a_value_that_is_not_an_item_yields_none() {
        for text in [
            "kind: A\n",
            "- a\n",
            "-\n",
            "- - kind: A\n",
            "- kind: A\n- kind: B\n",
            "- kind: A\n- b\n",
            "- kind: A\n---\n- kind: B\n",
            "- kind: A\n  kind: B\n",
            "- kind: &a A\n",
        ] {
            assert_eq!(item(text, ParseOptions::of_resources(1)), None, "{text}");
        }
        assert_eq!(item("- kind: A\n", ParseOptions::of_resources(511)), None);
    }

    #[test]
    fn documents_are_distinguished() {
        let text =
            format!("---\n{RESOURCE}---\n- kind: A\n---\na: b\n---\napiVersion: v1\nkind: B\n");
        let found = documents(&text).expect("the scanner takes it");
        let kinds = found.iter().map(|found| found.as_ref().map(|r| &*r.kind));
        let expected = [Some("Deployment"), None, None, Some("B")];
        assert_eq!(kinds.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn separate_documents_are_the_text_and_read_alike() {
        for text in [
            indoc! {"
                # head
                kind: A
                apiVersion: v1
                # foot
                ---
                kind: B
                apiVersion: v1
            "},
            indoc! {"
                ---
                # one
                kind: A
                apiVersion: v1
                --- # two

                kind: B
                apiVersion: v1"},
            "kind: A\r\napiVersion: v1\r\n---\r\n---\r\nkind: C\r\napiVersion: v1\r\n",
            "kind: A\napiVersion: v1\n---\n",
        ] {
            let parts = separate_documents(text).expect("the scanner takes it");
            let whole = documents(text).expect("the scanner takes it");
            let mut joined = String::new();
            for ((range, resource), expected) in parts.iter().zip(&whole) {
                assert_eq!(resource, expected, "{text}");
                let part = &text[range.clone()];
                assert_eq!(
                    documents(part).as_deref(),
                    Some(&[expected.clone()][..]),
                    "{part}"
                );
                joined += part;
            }
            assert_eq!(parts.len(), whole.len(), "{text}");
            assert_eq!(joined, text);
        }
    }
}
