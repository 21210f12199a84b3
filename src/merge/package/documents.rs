//! Documents that are not KRM, in files with resources.
//!
//! Where local did not touch the file, upstream's stands with all that it holds. Else local's
//! documents stay, with a conflict if upstream changed them.

use std::collections::{BTreeMap, BTreeSet};

use super::Source;
use super::files::shown;
use super::members::Members;
use super::packages::Packages;
use super::report::Report;
use super::untouched::Untouched;
use crate::resource_list::ResourceList;
use crate::source_text::is_krm;
use crate::yaml::{OwnedDocument, Value};

const CHANGED: &str =
    "local and upstream both changed the file, and upstream what it holds besides resources";

/// Says in which files upstream changed documents that stay as local has them.
pub(super) fn report_kept(
    packages: &Packages<'_, '_>,
    [original, upstream]: [Source<'_>; 2],
    local: &ResourceList,
    untouched: &Untouched,
    report: &mut Report<'_>,
) {
    let (Some(old), Some(new)) = (original.files(), upstream.files()) else {
        return;
    };
    if !local.is_package() {
        return;
    }
    let members = [
        &packages.base.all,
        &packages.local.all,
        &packages.upstream.all,
    ];
    let counts = members.map(counts);
    // Without one of local's or of the original there is nothing to keep.
    let paths: BTreeSet<&str> = counts[..2].iter().flat_map(|c| c.keys().copied()).collect();
    for path in paths
        .into_iter()
        .filter(|path| !untouched.has_file(Some(path)))
    {
        let texts = [
            old.read_file(path).ok(),
            local.read_file(path).ok(),
            new.read_file(path).ok(),
        ];
        if texts[0] == texts[2] || texts[1] == texts[2] {
            continue;
        }
        let is_other = |side: usize| texts[side].is_some() && !counts[side].contains_key(path);
        // A file that holds no resources is one value.
        if (0..3).any(is_other) || untouched.is_deleted(path) {
            continue;
        }
        let found = [0, 1, 2].map(|side| {
            let count = counts[side].get(path).copied().unwrap_or_default();
            others(texts[side].as_deref(), count)
        });
        let [base, ours, theirs] = found.each_ref().map(|documents| values(documents));
        if base != theirs && ours != theirs {
            let texts = found.map(|o| {
                (!o.is_empty()).then(|| {
                    let texts: Vec<String> = o.into_iter().map(|(text, _)| text).collect();
                    shown(texts.join("---\n").as_bytes())
                })
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

/// The documents of a file with so many resources that are something else.
fn others(bytes: Option<&[u8]>, resources: usize) -> Vec<(String, Value)> {
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(text) = text else { return Vec::new() };
    // Most files hold resources alone, and need not be parsed to know it.
    let markers = memchr::memmem::find_iter(text.as_bytes(), b"\n---").count();
    if markers < resources {
        return Vec::new();
    }
    let Ok(owned) = OwnedDocument::parse(text.to_owned()) else {
        return Vec::new();
    };
    let document = owned.document();
    let roots = (0..document.len()).filter_map(|index| document.root(index));
    let others = roots.filter(|root| !is_krm(*root));
    others
        .filter_map(|root| Some((root.source().to_owned(), root.value()?)))
        .collect()
}
