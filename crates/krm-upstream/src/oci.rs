//! Upstream packages in image layouts, which `oras`, `skopeo`, `crane` and `flux` write, in a folder or a tar file.
//!
//! ```text
//! oci:layout                     its only image
//! oci:layout:v1                  the image with a tag
//! oci:layout@sha256:9f86...      the image with a digest
//! oci:layout:v1//crds            a folder of the image's files
//! ```
//!
//! All digests are verified. Layers are tar files, which may be compressed, or, if they have a title, files (`oras
//! push`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::archive::{bytes, is_archive};
use super::digest::ContentDigest;
use super::outside_git::{FolderOutsideGit, split_folder};
use super::unpacked::Unpacked;
use krm_core::config::UsageError;
use krm_core::results::listed;
use krm_core::upstream_revision::UpstreamRevision;
use krm_package::escaped::printable;
use krm_package::{check_package_path, normalize_package_path};

pub(super) const SCHEME: &str = "oci:";
/// The most bytes that a JSON document about an image may have.
const LARGEST_DESCRIPTION: usize = 4 << 20;
/// How deep image indexes may be nested.
const MOST_INDEXES: usize = 4;
/// The most images that a layout may have.
const MOST_IMAGES: usize = 10_000;

#[derive(Debug, Deserialize)]
struct ImageIndex {
    #[serde(default)]
    manifests: Vec<Descriptor>,
}

#[derive(Debug, Deserialize)]
struct Manifest {
    #[serde(default)]
    layers: Vec<Descriptor>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    #[serde(default)]
    media_type: String,
    digest: String,
    size: u64,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

impl Descriptor {
    fn title(&self) -> Option<&str> {
        let title = self.annotations.get("org.opencontainers.image.title");
        title.map(String::as_str)
    }

    /// Whether a layer with a title contains several files. `oras` gives single files the type of a tar file as well.
    fn is_packed(&self) -> bool {
        let is_unpacked = self.annotations.get("io.deis.oras.content.unpack");
        is_unpacked.is_some_and(|word| word == "true") || self.title().is_some_and(is_archive)
    }

    /// Whether a tag names this image: its annotated name is the tag, such as `v1`, or ends with it.
    fn has_tag(&self, tag: &str) -> bool {
        let names = [
            "org.opencontainers.image.ref.name",
            "io.containerd.image.name",
        ];
        let mut names = names.iter().filter_map(|name| self.annotations.get(*name));
        names.any(|name| name == tag || name.rsplit_once(':').is_some_and(|(_, of)| of == tag))
    }
}

/// Opens the image that a flag names; `None` if the flag does not name an image layout.
pub(super) fn open(flag: &FilePath) -> Result<Option<Arc<dyn UpstreamRevision>>, UsageError> {
    let rest = flag.to_str().and_then(|text| text.strip_prefix(SCHEME));
    let Some(rest) = rest.filter(|rest| !rest.is_empty() && !flag.exists()) else {
        return Ok(None);
    };
    let failed = |message: String| UsageError::at(flag.display(), message);
    let start = rest.len() - rest.trim_start_matches('/').len();
    let (place, folder) = match rest[start..].find("//") {
        Some(at) => (&rest[..start + at], &rest[start + at + 2..]),
        None => (rest, ""),
    };
    if !folder.is_empty() {
        check_package_path(folder).map_err(|error| failed(error.to_string()))?;
    }
    let (path, reference) = parts(place);
    let layout = Layout::open(FilePath::new(path)).map_err(failed)?;
    let digest = layout.image(reference).map_err(failed)?.digest;
    let name = FilePath::new(path)
        .file_name()
        .and_then(|name| name.to_str());
    let name = name.unwrap_or("package");
    Ok(Some(Arc::new(FolderOutsideGit {
        source: format!("{SCHEME}{path}{reference}"),
        folder: normalize_package_path(folder),
        path: path.into(),
        name: match reference.strip_prefix(':') {
            Some(tag) => tag.to_owned(),
            None => digest.clone(),
        },
        digest,
        package_name: name.strip_suffix(".tar").unwrap_or(name).to_owned(),
        unpack,
        sibling_flag,
    })))
}

/// Splits a place into the path of the layout and the rest: a tag or a digest with the character in front of it.
pub(super) fn parts(place: &str) -> (&str, &str) {
    if FilePath::new(place).exists() {
        return (place, "");
    }
    let name = place.rfind('/').map_or(0, |at| at + 1);
    let at = place[name..].find('@').or(place[name..].rfind(':'));
    place.split_at(at.map_or(place.len(), |at| name + at))
}

/// The tags of an image layout in a folder; `None` if the folder is not an image layout.
pub fn tags(folder: &FilePath) -> Result<Option<Vec<String>>, UsageError> {
    if !folder.join("oci-layout").is_file() || !folder.join("index.json").is_file() {
        return Ok(None);
    }
    all_tags(folder).map(Some)
}

/// The tags of an image layout in a folder or a tar file.
pub(super) fn all_tags(path: &FilePath) -> Result<Vec<String>, UsageError> {
    let images = Layout::open(path).and_then(|layout| layout.images());
    let images = images.map_err(|error| UsageError::at(path.display(), error))?;
    let tag = |image: &Descriptor| {
        let name = image.annotations.get("org.opencontainers.image.ref.name")?;
        // In a full image name, the tag comes after the registry and path.
        let name = name.rsplit('/').next()?;
        Some(name.rsplit(':').next()?.to_owned())
    };
    Ok(images.iter().filter_map(tag).collect())
}

/// The storage of an image layout's blobs.
enum Layout {
    Folder(PathBuf),
    Tar(Unpacked),
}

impl Layout {
    fn open(path: &FilePath) -> Result<Self, String> {
        if path.is_dir() {
            return Ok(Self::Folder(path.to_path_buf()));
        }
        if !path.exists() {
            return Err(format!(
                "expected an image layout, found nothing at '{}'",
                path.display()
            ));
        }
        let mut unpacked = Unpacked::default();
        let bytes = bytes(path).map_err(|error| error.to_string())?;
        unpacked
            .add_tar(&bytes)
            .map_err(|error| error.to_string())?;
        Ok(Self::Tar(unpacked))
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Folder(folder) => bytes(&folder.join(path)).map_err(|error| error.to_string()),
            Self::Tar(unpacked) => {
                let file = unpacked.file(path).map(<[u8]>::to_vec);
                file.ok_or_else(|| format!("expected a file `{path}` in the layout, found none"))
            }
        }
    }

    /// The content with a digest, which is verified.
    fn content(&self, expected: &str) -> Result<Vec<u8>, String> {
        let expected = ContentDigest::read(expected)?;
        let bytes = self.file(&format!("blobs/sha256/{}", expected.hex()))?;
        expected.check(&bytes)?;
        Ok(bytes)
    }

    fn blob(&self, of: &Descriptor) -> Result<Vec<u8>, String> {
        let bytes = self.content(&of.digest)?;
        let (expected, found) = (of.size, bytes.len());
        if found as u64 != expected {
            let name = &of.digest;
            return Err(format!("{name}: expected {expected} bytes, found {found}"));
        }
        Ok(bytes)
    }

    fn description<T: DeserializeOwned>(&self, of: &Descriptor) -> Result<T, String> {
        described(&self.blob(of)?, &of.digest)
    }

    /// All images of the layout. An image from a nested index gets the annotations, and so the tags, of the index.
    fn images(&self) -> Result<Vec<Descriptor>, String> {
        let index: ImageIndex = described(&self.file("index.json")?, "index.json")?;
        let mut images: Vec<Descriptor> = Vec::new();
        let mut pending: Vec<(Descriptor, usize)> = Vec::new();
        pending.extend(index.manifests.into_iter().rev().map(|one| (one, 0)));
        while let Some((descriptor, depth)) = pending.pop() {
            if depth > MOST_INDEXES {
                return Err(format!(
                    "expected image indexes nested at most {MOST_INDEXES} deep, found deeper ones"
                ));
            }
            if images.len() + pending.len() > MOST_IMAGES {
                return Err(format!("expected at most {MOST_IMAGES} images, found more"));
            }
            let is_index = descriptor.media_type.contains(".index.")
                || descriptor.media_type.contains(".manifest.list.");
            if !is_index {
                images.push(descriptor);
                continue;
            }
            let index: ImageIndex = self.description(&descriptor)?;
            for mut one in index.manifests.into_iter().rev() {
                one.annotations.extend(descriptor.annotations.clone());
                pending.push((one, depth + 1));
            }
        }
        Ok(images)
    }

    /// The image of a reference, which is a tag with `:`, a digest with `@`, or empty for the only image.
    fn image(&self, reference: &str) -> Result<Descriptor, String> {
        let all = self.images()?;
        let is_it = |image: &&Descriptor| match reference.split_at_checked(1) {
            Some(("@", digest)) => image.digest == digest,
            Some((_, tag)) => image.has_tag(tag),
            None => true,
        };
        let mut images: Vec<&Descriptor> = all.iter().filter(is_it).collect();
        images.dedup_by(|a, b| a.digest == b.digest);
        if let [image] = images[..] {
            return Ok(image.clone());
        }
        // After a tag has moved, the index may no longer list the tag's old image, though its content still exists.
        if let Some(digest) = reference.strip_prefix('@')
            && let Ok(bytes) = self.content(digest)
        {
            return Ok(Descriptor {
                media_type: String::new(),
                digest: digest.to_owned(),
                size: bytes.len() as u64,
                annotations: BTreeMap::new(),
            });
        }
        let named = all.iter().map(|image| {
            let name = image.annotations.get("org.opencontainers.image.ref.name");
            format!("`{}`", name.unwrap_or(&image.digest))
        });
        let named: Vec<String> = named.take(20).collect();
        let expected = match reference {
            "" => "one image, or a tag (oci:PATH:TAG)".to_owned(),
            reference => format!("one image `{}`", &reference[1..]),
        };
        let found = if named.is_empty() {
            "none".to_owned()
        } else {
            named.join(", ")
        };
        Err(format!("expected {expected} in the layout, found {found}"))
    }
}

fn described<T: DeserializeOwned>(bytes: &[u8], name: &str) -> Result<T, String> {
    if bytes.len() > LARGEST_DESCRIPTION {
        let limit = LARGEST_DESCRIPTION >> 20;
        return Err(format!(
            "expected {name} with at most {limit} MB, found more"
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| format!("{name}: {error}"))
}

fn unpack(image: &FolderOutsideGit) -> Result<Unpacked, UsageError> {
    let failed = |message: String| UsageError::at(image, message);
    let layout = Layout::open(&image.path).map_err(failed)?;
    let found = layout
        .image(&format!("@{}", image.digest))
        .map_err(failed)?;
    let manifest: Manifest = layout.description(&found).map_err(failed)?;
    let mut unpacked = Unpacked::default();
    let mut unknown = BTreeSet::new();
    for layer in &manifest.layers {
        let file = layer.title().filter(|_| !layer.is_packed());
        let is_tar = layer.media_type.contains("tar");
        if layer.media_type.contains("zstd") {
            let found = &layer.media_type;
            let message = format!("expected layers in tar or tar+gzip, found `{found}`");
            return Err(failed(message));
        }
        // Skips layers without files, such as the provenance of a chart.
        if !is_tar && file.is_none() {
            unknown.insert(layer.media_type.as_str());
            continue;
        }
        let bytes = layout.blob(layer).map_err(failed)?;
        let added = match file {
            Some(path) => unpacked.add_file(path, bytes),
            None => unpacked.add_tar(&bytes),
        };
        added.map_err(|error| failed(format!("layer {}: {error}", layer.digest)))?;
    }
    if !unpacked.has_files() && !unknown.is_empty() {
        let found = listed(unknown.iter().map(|name| printable(name)));
        let message = format!("expected layers in tar or tar+gzip, found {found}");
        return Err(failed(message));
    }
    Ok(unpacked)
}

fn sibling_flag(image: &FolderOutsideGit, recorded: &str, digest: &str) -> String {
    let (_, folder) = split_folder(recorded);
    format!("{SCHEME}{}@{digest}{folder}", image.path.display())
}

/// The flag that names an image by its digest, because its tag may have moved.
pub(super) fn exact(recorded: &str, digest: &str) -> String {
    let (place, folder) = split_folder(recorded);
    let (path, _) = parts(place.strip_prefix(SCHEME).unwrap_or(place));
    format!("{SCHEME}{path}@{digest}{folder}")
}
