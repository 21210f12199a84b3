//! Documents that are not KRM, in files with resources.
//!
//! If local did not change the file, upstream's whole file is taken. Otherwise local's documents
//! are kept, and a change of upstream's documents is a conflict.

use std::collections::{BTreeMap, BTreeSet};

use super::files::shown;
use super::members::Members;
use super::packages::Packages;
use super::report::Report;
use super::untouched::Untouched;
use crate::Versions;
use krm_core::results::Mark;
use krm_core::source_text::is_krm;
use krm_yaml::{OwnedDocument, Value};

const CHANGED: &str =
    "local and upstream both changed the file, and upstream changed more than its resources";

/// Reports the files in which upstream changed documents that are kept as local has them.
pub(super) fn report_kept(
    packages: &Packages<'_, '_>,
    untouched: &Untouched,
    report: &mut Report<'_>,
) {
    if !packages.are_files() {
        return;
    }
    let counts = packages.members().map(counts);
    // Without a resource of local or of the original there is nothing to keep.
    let paths: BTreeSet<&str> = counts
        .base
        .keys()
        .chain(counts.local.keys())
        .copied()
        .collect();
    for path in paths {
        if untouched.has_file(Some(path)) || untouched.deleted.contains(path) {
            continue;
        }
        let bytes = Versions {
            base: packages.original.read_file(path).ok(),
            local: packages.local.list.read_file(path).ok(),
            upstream: packages.upstream.list.read_file(path).ok(),
        };
        if bytes.base == bytes.upstream || bytes.local == bytes.upstream {
            continue;
        }
        let files = counts.as_ref().zip(bytes.as_ref());
        let files = files.map(|(counts, bytes)| (counts.get(path).copied(), bytes.as_deref()));
        // A file that holds no resources is one value.
        if files
            .into_iter()
            .any(|(count, bytes)| bytes.is_some() && count.is_none())
        {
            continue;
        }
        let found = files.map(|(count, bytes)| others(bytes, count.unwrap_or_default()));
        let values = found.as_ref().map(|documents| values(documents));
        if values.base != values.upstream && values.local != values.upstream {
            let texts = found.as_ref().into_iter().flatten();
            let mark = Mark::within_texts(texts.map(|(text, _)| text.as_str()));
            let texts = found.map(|documents| {
                let texts: Vec<String> = documents.into_iter().map(|(text, _)| text).collect();
                (!texts.is_empty()).then(|| shown(mark, texts.join("---\n").as_bytes()))
            });
            report.kept_file(CHANGED, path, texts);
        }
    }
}

/// How many resources each file holds.
fn counts(members: &Members) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for path in members
        .members
        .iter()
        .filter_map(|member| member.path.as_deref())
    {
        *counts.entry(path).or_default() += 1;
    }
    counts
}

fn values(documents: &[(String, Value)]) -> Vec<&Value> {
    documents.iter().map(|(_, value)| value).collect()
}

/// The documents of a file that are not resources. `resources` is the number of its resources.
fn others(bytes: Option<&[u8]>, resources: usize) -> Vec<(String, Value)> {
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(text) = text else { return Vec::new() };
    // Most files contain only resources. The number of markers shows this without parsing.
    let markers = memchr::memmem::find_iter(text.as_bytes(), b"\n---").count();
    if markers < resources {
        return Vec::new();
    }
    let Ok(owned) = OwnedDocument::parse(text.to_owned()) else {
        return Vec::new();
    };
    let document = owned.document();
    let others = document.roots().filter(|root| !is_krm(*root));
    others
        .filter_map(|root| Some((root.source().to_owned(), root.value()?)))
        .collect()
}
