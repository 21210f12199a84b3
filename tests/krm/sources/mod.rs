//! Upstreams that are archives and image layouts.

mod archives;
mod catalogs;
pub(crate) mod images;
mod streams;

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use crate::git::Folder;

/// An entry of an archive: its name, its type, and its content or where it leads.
type Entry<'e> = (&'e str, EntryType, &'e str);

/// An archive of entries, whatever their names.
fn tar(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = Header::new_gnu();
        let bytes = header.as_old_mut();
        bytes.name[..name.len()].copy_from_slice(name.as_bytes());
        let data = if matches!(kind, EntryType::Link | EntryType::Symlink) {
            bytes.linkname[..content.len()].copy_from_slice(content.as_bytes());
            ""
        } else {
            content
        };
        header.set_entry_type(*kind);
        header.set_mode(if name.ends_with(".sh") { 0o755 } else { 0o644 });
        header.set_size(data.len() as u64);
        header.set_cksum();
        builder.append(&header, data.as_bytes()).expect("an entry");
    }
    builder.into_inner().expect("an archive")
}

/// An archive of files.
pub(crate) fn tar_of(files: &[(&str, String)]) -> Vec<u8> {
    let entries = files.iter();
    let entries = entries.map(|(name, text)| (*name, EntryType::Regular, text.as_str()));
    tar(&entries.collect::<Vec<_>>())
}

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn resource(name: &str, version: usize, own: &str) -> String {
    format!(
        "# {name}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  version: \"{version}\"\n  own: \"{own}\" # own\n"
    )
}

/// The files of a version: KRM and others, one that `.krmignore` keeps out, and one resource more in each.
fn files(version: usize) -> Vec<(String, String)> {
    let mut files = vec![
        (".krmignore".to_owned(), "ignored.yaml\n".to_owned()),
        ("README.md".to_owned(), format!("# Version {version}\n")),
        ("a.yaml".to_owned(), resource("a", version, "0")),
        ("ignored.yaml".to_owned(), format!("{version}: [\n")),
        ("run.sh".to_owned(), format!("echo {version}\n")),
    ];
    for at in 0..version {
        let name = format!("r{at}");
        files.push((format!("deep/{name}.yaml"), resource(&name, version, "0")));
    }
    files
}

/// The files of a version below a folder.
fn below<'f>(folder: &str, files: &'f [(String, String)]) -> Vec<(String, &'f str)> {
    let path = |path: &str| format!("{folder}{path}");
    let files = files.iter();
    files
        .map(|(name, text)| (path(name), text.as_str()))
        .collect()
}

/// The archive of a version, in a folder.
fn archive(folder: &str, version: usize) -> Vec<u8> {
    let files = files(version);
    let files = below(folder, &files);
    let entries = files.iter();
    let entries = entries.map(|(name, text)| (name.as_str(), EntryType::Regular, *text));
    tar(&entries.collect::<Vec<_>>())
}

/// A copy of the first version with an edit, and files of its own.
fn copy(folder: &Folder, kptfile: Option<&str>) {
    let _ = std::fs::remove_dir_all(folder.path("local"));
    for (path, text) in files(1) {
        let text = text.replace("own: \"0\"", "own: \"mine\"");
        folder.put(&format!("local/{path}"), text);
    }
    if let Some(kptfile) = kptfile {
        folder.put("local/Kptfile", kptfile);
    }
}

/// All files of a folder, by path.
fn all(folder: &Folder, path: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.path(path)];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder");
            pending.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else {
            let bytes = std::fs::read(&path).expect("a file");
            found.insert(path.display().to_string(), bytes);
        }
    }
    found
}
