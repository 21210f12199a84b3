//! `krmv diff`: shows what the user changed since the revision that the package was made from, resource by resource.

use std::collections::{BTreeMap, BTreeSet};

use krm_variants::diff::file_diff;
use krm_variants::functions::render_variant::cloned_files;
use krm_variants::merge::upstream_identifier::UpstreamIdentifier;
use krm_variants::package::{FileChange, is_krm_name};
use krm_variants::results::Results;
use krm_variants::supplied::SuppliedPackage;
use krm_variants::yaml::{Document, OwnedDocument};
use serde_json::json;

use super::cli::{Common, DiffArguments};
use super::failure::Result;
use super::package::{Contents, KPTFILE, LocalPackage, resources};
use super::print::{self, BOLD, CYAN, GREEN, Page, RED};
use super::session::FollowedPackage;
use super::upstream::contents;
use super::{exit, kptfile};

pub(crate) fn run(diff: &DiffArguments, common: &Common) -> Result<u8> {
    let package = LocalPackage::open(&diff.directory)?;
    let base = base(&FollowedPackage::open_cached(&package)?);
    let base = base.map_err(|error| error.hint(package.command(&["status"])))?;
    let edits = edits(&package, &base)?;
    if common.json {
        let list: Vec<_> = edits.iter().map(Edit::to_json).collect();
        print::json(&json!({"path": package.name(), "edits": list}))?;
        return Ok(exit::DONE);
    }
    let mut page = Page::new(common);
    for edit in &edits {
        let (removed, added) = edit.counts();
        let name = page.styled(BOLD, &edit.name);
        if diff.stat {
            let added = page.styled(GREEN, format!("+{added}"));
            let removed = page.styled(RED, format!("-{removed}"));
            page.line(format_args!("{added:<6} {removed:<6} {name}"));
            continue;
        }
        page.line(format_args!("=== {name}"));
        for line in edit.text.lines().filter(|line| !is_head(line)) {
            let style = match line.as_bytes().first() {
                Some(b'+') => GREEN,
                Some(b'-') => RED,
                Some(b'@') => CYAN,
                _ => {
                    page.line(line);
                    continue;
                }
            };
            let line = page.styled(style, line);
            page.line(line);
        }
    }
    if diff.stat {
        page.line(format_args!("{} changed", edits.len()));
    }
    page.finish()?;
    Ok(exit::DONE)
}

fn is_head(line: &str) -> bool {
    line.starts_with("--- ") || line.starts_with("+++ ")
}

/// A resource or file that the user changed.
struct Edit {
    name: String,
    text: String,
}

impl Edit {
    /// The numbers of removed and added lines.
    fn counts(&self) -> (usize, usize) {
        let count = |sign: char| {
            let lines = self.text.lines().filter(|line| !is_head(line));
            lines.filter(|line| line.starts_with(sign)).count()
        };
        (count('-'), count('+'))
    }

    fn to_json(&self) -> serde_json::Value {
        let (removed, added) = self.counts();
        json!({"name": self.name, "added": added, "removed": removed, "diff": self.text})
    }
}

/// The package without edits: as it is upstream, and as `get` writes it.
struct UneditedPackage {
    raw: Contents,
    cloned: Contents,
}

/// The package without edits, at the revision that the files were last merged with: the revision of the open upgrade,
/// otherwise the locked one.
fn base(followed: &FollowedPackage<'_>) -> Result<UneditedPackage> {
    let FollowedPackage { package, lock, .. } = followed;
    let (supplied, revision) = match &package.tracking.open {
        None => (followed.original()?, followed.locked_revision(lock)?),
        Some(open) => {
            let target = followed.open_target(open);
            (followed.merger(&target)?.upstream, target)
        }
    };
    let mut raw = contents(&supplied)?;
    let mut cloned = cloned(&supplied)?;
    let own = LocalPackage::kptfile(&package.contents);
    for files in [&mut raw, &mut cloned] {
        let text = match files.get(KPTFILE) {
            Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            None => kptfile::new(&kptfile::name(&own).unwrap_or_default()),
        };
        let text = kptfile::named(&text, &own)?;
        let text = kptfile::locked(
            &text,
            &lock.moved_to(followed.upstream.address(), &revision),
        )?;
        files.insert(KPTFILE.to_owned(), text.into_bytes());
    }
    Ok(UneditedPackage { raw, cloned })
}

/// A revision as `get` writes it, with identities for later merges.
pub(crate) fn cloned(supplied: &SuppliedPackage) -> Result<Contents> {
    let mut results = Results::default();
    let changes = cloned_files(supplied, "", &mut results)?;
    let files = changes.into_iter().filter_map(|change| match change {
        FileChange::Write { path, bytes, .. } => Some((path, bytes)),
        FileChange::Delete { .. } => None,
    });
    Ok(files.collect())
}

struct ResourceText {
    file: String,
    /// `Kind/namespace/name`, or `Kind/name`.
    shown: String,
    text: String,
}

/// The files that hold no resources, by path.
type OtherFiles<'a> = BTreeMap<&'a str, &'a [u8]>;

/// Splits a package into its resources, by their upstream identity, and the files that hold no resources.
fn parts(files: &Contents) -> Result<(BTreeMap<String, ResourceText>, OtherFiles<'_>)> {
    let mut found: Vec<(bool, String, ResourceText)> = Vec::new();
    let mut others: BTreeMap<&str, &[u8]> = BTreeMap::new();
    for (path, bytes) in files {
        let text = std::str::from_utf8(bytes).ok();
        let parsed = text
            .filter(|_| is_krm_name(path))
            .map(|text| OwnedDocument::parse(text.to_owned()));
        let Some(Ok(parsed)) = parsed else {
            others.insert(path, bytes);
            continue;
        };
        let before = found.len();
        found.extend(resources_of(path, parsed.document()));
        if found.len() == before {
            others.insert(path, bytes);
        }
    }
    // A resource comes before its renamed copies, so that the resource gets the key without `+`.
    found.sort_by_key(|(is_renamed, ..)| *is_renamed);
    let mut resources = BTreeMap::new();
    for (_, mut key, part) in found {
        while resources.contains_key(&key) {
            key.push('+');
        }
        resources.insert(key, part);
    }
    Ok((resources, others))
}

/// The resources of a file: whether each was renamed, its identity upstream, and its text.
fn resources_of(file: &str, document: Document<'_>) -> Vec<(bool, String, ResourceText)> {
    let found = resources(document).filter_map(|(at, root, resource)| {
        let range = document.range(at)?;
        let (group, kind) = (resource.group(), &resource.kind);
        let namespace = resource.namespace.as_deref().unwrap_or_default();
        let name = resource.name.as_deref().unwrap_or_default();
        let own = UpstreamIdentifier::new(group, kind, namespace, name);
        let upstream = UpstreamIdentifier::declared(&resource, root);
        let is_renamed = upstream.as_ref().is_some_and(|upstream| *upstream != own);
        let text = document.text.get(range).unwrap_or_default();
        let text = text
            .trim_start_matches("---")
            .trim_start_matches(['\r', '\n']);
        let part = ResourceText {
            file: file.to_owned(),
            shown: format!("{kind}/{namespace}/{name}").replace("//", "/"),
            text: format!("{}\n", text.trim_end()),
        };
        Some((is_renamed, upstream.unwrap_or(own).to_string(), part))
    });
    found.collect()
}

/// The edits of a package, in the order of its files.
fn edits(package: &LocalPackage, base: &UneditedPackage) -> Result<Vec<Edit>> {
    let mut own = package.contents.clone();
    let text = LocalPackage::kptfile(&own);
    let text = kptfile::with_lock_of(&text, &LocalPackage::kptfile(&base.raw))?;
    own.insert(KPTFILE.to_owned(), text.into_bytes());
    if let Some(only) = package.only_file()? {
        own.retain(|path, _| path == KPTFILE || *path == only);
    }
    let (ours, our_files) = parts(&own)?;
    let (raw, raw_files) = parts(&base.raw)?;
    let (cloned, _) = parts(&base.cloned)?;
    let keys: BTreeSet<&String> = ours.keys().chain(raw.keys()).collect();
    let mut edits: Vec<(String, Edit)> = Vec::new();
    for key in keys {
        let our = ours.get(key);
        let carries = our.is_some_and(|part| {
            part.text.contains("internal.kpt.dev/upstream-identifier")
                || part.text.contains("# kpt-merge:")
        });
        let old = if carries {
            cloned.get(key)
        } else {
            raw.get(key)
        };
        let text = |part: Option<&ResourceText>| part.map(|part| part.text.clone());
        let (before, after) = (text(old), text(our));
        if before == after {
            continue;
        }
        let Some(ResourceText { file, shown, .. }) = our.or(old) else {
            continue;
        };
        let name = match (&before, &after) {
            (Some(_), None) => format!("{file}: {shown} (removed)"),
            (None, Some(_)) => format!("{file}: {shown} (added)"),
            _ => format!("{file}: {shown}"),
        };
        edits.push((
            file.clone(),
            edit(
                name,
                file,
                before.as_deref().map(str::as_bytes),
                after.as_deref().map(str::as_bytes),
            ),
        ));
    }
    let paths: BTreeSet<&str> = our_files.keys().chain(raw_files.keys()).copied().collect();
    for path in paths {
        let (before, after) = (raw_files.get(path).copied(), our_files.get(path).copied());
        if before != after {
            edits.push((path.to_owned(), edit(path.to_owned(), path, before, after)));
        }
    }
    edits.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(edits.into_iter().map(|(_, edit)| edit).collect())
}

fn edit(name: String, path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Edit {
    let with_mode = |bytes| (bytes, 0o644);
    let text = file_diff(path, before.map(with_mode), after.map(with_mode));
    Edit { name, text }
}
