//! Adds the lines that results are about: `tags.line`.
//!
//! Source: contract, merge-package (A conflict).

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{FunctionResult, ResourceRef, Results};
use crate::identity::separate_documents;
use crate::resource::Resource;
use crate::source_text::parse_document;
use krm_yaml::scalar::ScalarStyle;
use krm_yaml::{NodeKind, OwnedDocument, Path, PlaceIndex};

impl Results {
    /// Adds a line tag, counted from 1, to each result about a field of a file or about lines of one. `text_of` returns
    /// the text of a file. A missing field has the line of the nearest collection that exists. Results without tags are
    /// unchanged, because kpt's own functions create such results, too.
    #[must_use]
    pub fn with_lines<'t>(mut self, text_of: impl Fn(&str) -> Option<Cow<'t, str>>) -> Self {
        let mut files: BTreeMap<Arc<str>, Vec<&mut FunctionResult>> = BTreeMap::new();
        for result in self.iter_mut() {
            let is_placed = result.field.is_some() || result.first_line_within().is_some();
            if let Some((path, _)) = &result.file
                && is_placed
                && !result.tags.is_empty()
                && result.line.is_none()
            {
                files.entry(path.clone()).or_default().push(result);
            }
        }
        for (path, results) in files {
            let Some(text) = text_of(&path) else { continue };
            let documents = documents(&text);
            // Results come in the order of the documents, so the next document is usually near.
            let mut next = 0;
            for result in results {
                let line = match (&result.field, result.first_line_within()) {
                    (None, within) => within,
                    (Some(field), _) => {
                        let path = Path::parse(field);
                        path.and_then(|path| line_of(&documents, &mut next, result, &path))
                    }
                };
                result.line = line;
            }
        }
        self
    }
}

impl FunctionResult {
    /// The first of the lines in `tags.within`.
    fn first_line_within(&self) -> Option<usize> {
        let within = self.tag_value("within")?;
        let lines = within
            .strip_prefix("lines ")
            .or(within.strip_prefix("line "))?;
        lines.split('-').next()?.parse().ok()
    }
}

/// A document of a file, or the whole file.
struct DocumentText<'t> {
    text: &'t str,
    /// How many lines of the file precede it.
    lines_before: usize,
    /// Its only resource; `None` if the text must be parsed to know its resources.
    resource: Option<Resource>,
    parsed: OnceCell<Option<OwnedDocument>>,
    places: RefCell<PlaceIndex>,
}

fn documents(text: &str) -> Vec<DocumentText<'_>> {
    let document = |text, lines_before, resource| DocumentText {
        text,
        lines_before,
        resource,
        parsed: OnceCell::new(),
        places: RefCell::default(),
    };
    let Some(separate) = separate_documents(text) else {
        return vec![document(text, 0, None)];
    };
    let mut lines_before = 0;
    let separate = separate.into_iter().map(|(range, resource)| {
        let text = &text[range];
        let found = document(text, lines_before, resource);
        lines_before += text.matches('\n').count();
        found
    });
    separate.collect()
}

/// The line of a place. The search begins at the document `next` if the result names its resource.
fn line_of(
    documents: &[DocumentText<'_>],
    next: &mut usize,
    result: &FunctionResult,
    path: &Path,
) -> Option<usize> {
    let is_it = |resource: &Resource| {
        let about = result.resource.as_ref();
        about.is_none_or(|about| *about == ResourceRef::from(resource))
    };
    let start = result.resource.as_ref().map_or(0, |_| *next);
    let mut all = (start..documents.len()).chain(0..start);
    all.find_map(|index| {
        let document = &documents[index];
        let may_have_it = |resource: &Resource| is_it(resource) || resource.is_list();
        if !document.resource.as_ref().is_none_or(may_have_it) {
            return None;
        }
        let parse = || parse_document(document.text.to_owned()).ok();
        let parsed = document.parsed.get_or_init(parse).as_ref()?.document();
        let mut found = parsed.roots().flat_map(Resource::all_of);
        let (root, _) = found.find(|(_, resource)| is_it(resource))?;
        *next = index;
        let (at, value) = document.places.borrow_mut().place(root, path);
        let line = parsed.location(at).line + document.lines_before;
        // The lines of a literal begin below its header.
        let within = value.filter(|value| value.kind() == NodeKind::Scalar(ScalarStyle::Literal));
        let within = within.and_then(|_| result.first_line_within());
        Some(line + within.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Reason;

    const TEXT: &str = "\
# A head

apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  x: 1
  \"a.b\": 2
  list:
  - 1
  - 2
  text: |
    one
    two
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
data: {x: 1}
";

    fn result(name: &str, field: &str) -> FunctionResult {
        let resource = Resource {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            name: Some(name.into()),
            ..Resource::default()
        };
        let result = FunctionResult::warning(Reason::MergeConflict, "a").with_resource(&resource);
        result.in_file("a.yaml").with_field(field)
    }

    #[test]
    fn results_in_any_order_have_their_lines() {
        let mut results = Results::default();
        for name in ["b", "c", "a", "b"] {
            results.push(result(name, "data.x"));
        }
        let results = results.with_lines(|_| Some(TEXT.into()));
        let lines: Vec<_> = results.iter().map(|one| one.line).collect();
        assert_eq!(lines, [Some(21), None, Some(8), Some(21)]);
    }

    fn line(name: &str, field: &str, within: &str) -> Option<usize> {
        let mut results = Results::default();
        let result = result(name, field);
        results.push(if within.is_empty() {
            result
        } else {
            result.tag("within", within)
        });
        let results = results.with_lines(|path| (path == "a.yaml").then(|| TEXT.into()));
        let first = results.iter().next().expect("one");
        first.line
    }

    #[test]
    fn line_numbers_count_in_the_file() {
        for (name, field, within, expected) in [
            ("a", "data.x", "", Some(8)),
            ("a", "data[\"a.b\"]", "", Some(9)),
            ("a", "data.list[1]", "", Some(12)),
            ("a", "data.text", "line 2", Some(15)),
            ("a", "data.text", "a.b", Some(13)),
            ("a", "data.gone.x", "", Some(7)),
            ("a", "gone", "", Some(3)),
            ("b", "data.x", "", Some(21)),
            ("c", "data.x", "", None),
        ] {
            assert_eq!(line(name, field, within), expected, "{name} {field}");
        }
    }
}
