//! `krmv diff`: shows what the user changed since the revision that the package was made from, resource by resource.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use krm_core::diff::{file_diff, masked_diff};
use krm_core::results::{ResourceRef, Results};
use krm_core::source_text::parse_document;
use krm_function::supplied::SuppliedPackage;
use krm_merge::with_line_ends_of;
use krm_package::escaped::ShownLine;
use krm_package::is_setting;
use krm_package::{FileChange, is_krm_name};
use krm_yaml::Document;
use render_variant::{Identified, cloned_files};
use serde_json::json;

use super::cli::{Common, DiffArguments};
use super::failure::Result;
use super::kptfile;
use super::package::{Contents, KPTFILE, LocalPackage, PackageResources, resources};
use super::print::{self, BOLD, GREEN, RED};
use super::rendering::values_within;
use super::session::FollowedPackage;
use super::upstream::contents;

pub(crate) fn run(diff: &DiffArguments, common: &Common) -> Result<u8> {
    let package = LocalPackage::open(&diff.directory)?;
    let base = base(&FollowedPackage::open_cached(&package)?);
    let base = base.map_err(|error| error.hint(package.command(&["status"])))?;
    let edits = edits(&package, &base, diff.show_secrets)?;
    let document = || {
        let list: Vec<_> = edits.iter().map(Edit::to_json).collect();
        json!({"path": package.name(), "edits": list})
    };
    print::answer(common, document, |page| {
        for edit in &edits {
            let (removed, added) = edit.counts();
            let name = page.styled(BOLD, &edit.name);
            if diff.stat {
                let [added, removed] = [format!("+{added}"), format!("-{removed}")];
                let added = page.styled(GREEN, format_args!("{added:<6}"));
                let removed = page.styled(RED, format_args!("{removed:<6}"));
                page.line(ShownLine::of(&[&added, &" ", &removed, &" ", &name]));
                continue;
            }
            page.line(ShownLine::of(&[&"=== ", &name]));
            page.diff(edit.hunks());
        }
        if diff.stat {
            page.line(format_args!("{} changed", edits.len()));
        }
    })
}

/// A resource or file that the user changed.
struct Edit {
    name: String,
    text: String,
}

impl Edit {
    /// The diff without its head, if it has hunks.
    fn hunks(&self) -> &str {
        let hunks = self.text.find("\n@@ ").map(|at| at + 1);
        &self.text[hunks.unwrap_or_default()..]
    }

    /// The numbers of removed and added lines.
    fn counts(&self) -> (usize, usize) {
        let count = |sign: char| {
            let lines = self.hunks().lines();
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
    is_rendered: bool,
}

/// The package without edits, at the revision that the files were last merged with: the revision of the open upgrade,
/// otherwise the locked one.
fn base(followed: &FollowedPackage<'_>) -> Result<UneditedPackage> {
    let FollowedPackage { package, lock, .. } = followed;
    let (supplied, revision) = match &package.tracking.open {
        None => (
            followed.original()?,
            followed.upstream.locked_revision(lock)?,
        ),
        Some(open) => {
            let target = followed.open_target(open);
            (followed.merger(&target)?.upstream, target)
        }
    };
    let mut raw = contents(&supplied)?;
    let own = LocalPackage::kptfile(&package.contents);
    let name = kptfile::name(&own).unwrap_or_default();
    let mut cloned = cloned(&supplied, &name)?;
    let text = match cloned.get(KPTFILE) {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => kptfile::new(&name),
    };
    let lock = lock.moved_to(&followed.upstream.remote, &revision);
    let text = kptfile::locked(&text, &lock, &followed.package.surroundings())?;
    cloned.insert(KPTFILE.to_owned(), text.into_bytes());
    // A clone leaves out the bookkeeping in upstream's Kptfiles.
    let kptfiles = cloned
        .iter()
        .filter(|(path, _)| path.rsplit('/').next() == Some(KPTFILE));
    raw.extend(kptfiles.map(|(path, bytes)| (path.clone(), bytes.clone())));
    Ok(UneditedPackage {
        raw,
        cloned,
        is_rendered: followed.rendering.is_some(),
    })
}

/// A revision as `get` writes it under a name, with identities for later merges. A copy by another tool may have them.
pub(crate) fn cloned(supplied: &SuppliedPackage, name: &str) -> Result<Contents> {
    let mut results = Results::default();
    let changes = cloned_files(supplied, name, Identified::All, &mut results)?;
    let files = changes.into_iter().filter_map(|change| match change {
        FileChange::Write { path, bytes, .. } => Some((path, bytes)),
        FileChange::Delete { .. } => None,
    });
    Ok(files.collect())
}

struct ResourceText {
    file: String,
    shown: String,
    text: String,
}

/// The resources of a package with their texts, and the files that hold none, by path.
struct PackageParts<'a> {
    resources: PackageResources,
    texts: Vec<ResourceText>,
    others: BTreeMap<&'a str, &'a [u8]>,
}

impl<'a> PackageParts<'a> {
    fn of(files: &'a Contents) -> Self {
        let (mut parsed, mut texts) = (Vec::new(), Vec::new());
        let mut others: BTreeMap<&str, &[u8]> = BTreeMap::new();
        for (path, bytes) in files {
            let text = std::str::from_utf8(bytes).ok();
            let text = text.filter(|_| is_krm_name(path));
            let document = text.and_then(|text| parse_document(text.to_owned()).ok());
            let before = texts.len();
            if let Some(document) = document {
                texts.extend(texts_of(path, document.document()));
                parsed.push((path.as_str(), Rc::new(document)));
            }
            if texts.len() == before {
                others.insert(path, bytes);
            }
        }
        Self {
            resources: PackageResources::of(parsed.into_iter()),
            texts,
            others,
        }
    }
}

fn texts_of(file: &str, document: Document<'_>) -> Vec<ResourceText> {
    let found = resources(document).map(|(at, _, resource)| {
        let text = document
            .range(at)
            .and_then(|range| document.text.get(range));
        let text = text.unwrap_or_default().trim_start_matches("---");
        let text = text.trim_start_matches(['\r', '\n']);
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        ResourceText {
            file: file.to_owned(),
            shown: ResourceRef::from(&resource).to_string(),
            text: format!("{}{newline}", text.trim_end()),
        }
    });
    found.collect()
}

/// The edits of a package, in the order of its files.
fn edits(package: &LocalPackage, base: &UneditedPackage, shows_secrets: bool) -> Result<Vec<Edit>> {
    let mut own = package.contents.clone();
    let text = LocalPackage::kptfile(&own);
    let text = kptfile::with_lock_of(&text, &LocalPackage::kptfile(&base.raw))?;
    own.insert(KPTFILE.to_owned(), text.into_bytes());
    let values = values_within(&own);
    let is_own = |path: &str| !base.is_rendered || !is_setting(path);
    own.retain(|path, _| is_own(path) && !values.contains(path));
    if let Some(only) = package.only_file()? {
        own.retain(|path, _| path == KPTFILE || *path == only);
    }
    let [ours, raw, cloned] = [&own, &base.raw, &base.cloned].map(PackageParts::of);
    let pairs = raw.resources.pairs(&ours.resources);
    let mut olds: HashMap<usize, usize> = pairs.into_iter().map(|(old, new)| (new, old)).collect();
    let mut changed: Vec<[Option<&ResourceText>; 2]> = Vec::new();
    let mut removed: BTreeSet<usize> = (0..raw.texts.len()).collect();
    for (at, new) in ours.texts.iter().enumerate() {
        let carries = new.text.contains("internal.kpt.dev/upstream-identifier")
            || new.text.contains("# kpt-merge:");
        let from = if carries { &cloned } else { &raw };
        let old = olds.remove(&at);
        old.iter().for_each(|old| {
            removed.remove(old);
        });
        changed.push([old.and_then(|old| from.texts.get(old)), Some(new)]);
    }
    changed.extend(removed.into_iter().map(|old| [raw.texts.get(old), None]));
    let mut edits: Vec<(&str, Edit)> = Vec::new();
    for sides in changed {
        let [old, new] = sides.map(|side| side.map(|side| side.text.as_bytes()));
        let Some(ResourceText { file, shown, .. }) = sides[1].or(sides[0]) else {
            continue;
        };
        let what = match (old, new) {
            (Some(_), None) => " (removed)",
            (None, Some(_)) => " (added)",
            _ => "",
        };
        let name = format!("{file}: {shown}{what}");
        edits.extend(edit(name, file, [old, new], shows_secrets));
    }
    let paths: BTreeSet<&&str> = ours.others.keys().chain(raw.others.keys()).collect();
    for path in paths {
        let [before, after] = [&raw, &ours].map(|parts| parts.others.get(path).copied());
        edits.extend(edit(
            (*path).to_owned(),
            path,
            [before, after],
            shows_secrets,
        ));
    }
    edits.sort_by_key(|(file, _)| *file);
    Ok(edits.into_iter().map(|(_, edit)| edit).collect())
}

/// The edit of a resource or file, with its path. `None` if at most its line endings differ.
fn edit<'p>(
    name: String,
    path: &'p str,
    [before, after]: [Option<&[u8]>; 2],
    shows_secrets: bool,
) -> Option<(&'p str, Edit)> {
    let before = before.map(|before| with_line_ends_of(before, after.unwrap_or(before)));
    let before = before.as_deref();
    let with_mode = |bytes| (bytes, 0o644);
    let text = || {
        let (before, after) = (before.map(with_mode), after.map(with_mode));
        let masked = masked_diff(path, before, after).filter(|_| !shows_secrets);
        masked.unwrap_or_else(|| file_diff(path, before, after))
    };
    (before != after).then(|| (path, Edit { name, text: text() }))
}
