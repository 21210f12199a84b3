//! Image layouts as upstreams.

use std::fmt::Write;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{all, archive, copy, gz, resource, tar_of};
use crate::git::{Folder, KPTFILE};

const TAR: &str = "application/vnd.oci.image.layer.v1.tar";
const GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Writes a blob; its descriptor.
fn blob(folder: &Folder, layout: &str, kind: &str, bytes: &[u8]) -> Value {
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        write!(hex, "{byte:02x}").expect("memory");
    }
    folder.put(&format!("{layout}/blobs/sha256/{hex}"), bytes);
    json!({"mediaType": kind, "digest": format!("sha256:{hex}"), "size": bytes.len()})
}

/// Adds an image with these layers to a layout; its descriptor.
pub(crate) fn image(folder: &Folder, layout: &str, tag: &str, layers: &[Value]) -> Value {
    let config = blob(folder, layout, "application/vnd.oci.empty.v1+json", b"{}");
    let manifest =
        json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers});
    let mut image = blob(folder, layout, MANIFEST, manifest.to_string().as_bytes());
    image["annotations"] = json!({"org.opencontainers.image.ref.name": tag});
    let index = folder.path(layout).join("index.json");
    let mut index: Value = match std::fs::read(&index) {
        Ok(bytes) => serde_json::from_slice(&bytes).expect("JSON"),
        Err(_) => json!({"schemaVersion": 2, "manifests": []}),
    };
    let images = index["manifests"].as_array_mut().expect("a list");
    images.retain(|other| other["annotations"] != image["annotations"]);
    images.push(image.clone());
    folder.put(&format!("{layout}/index.json"), index.to_string());
    folder.put(
        &format!("{layout}/oci-layout"),
        "{\"imageLayoutVersion\": \"1.0.0\"}",
    );
    image
}

/// Adds an image of one archive to a layout, as `flux` and `oras` push folders.
pub(crate) fn layout(folder: &Folder, layout: &str, tag: &str, archive: &[u8]) -> Value {
    let layer = blob(folder, layout, GZIP, &gz(archive));
    image(folder, layout, tag, &[layer])
}

/// Packs a layout into a tar file.
pub(super) fn pack(folder: &Folder, layout: &str, file: &str) {
    let mut builder = tar::Builder::new(Vec::new());
    let path = folder.path(layout);
    builder.append_dir_all(".", path).expect("a layout");
    folder.put(file, builder.into_inner().expect("an archive"));
}

#[test]
fn the_lock_of_an_image_is_its_digest_wherever_its_tag_moves() {
    let folder = Folder::new(&[]);
    copy(&folder, Some(KPTFILE));
    layout(&folder, "layout", "stable", &archive("", 1));
    let upstream = ["--upstream", "oci:layout:stable"];
    let outcome = folder.merge(&["--original", "oci:layout:stable", upstream[0], upstream[1]]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for version in 2..5 {
        let image = layout(&folder, "layout", "stable", &archive("", version));
        for again in [false, true] {
            let outcome = folder.merge(&upstream);
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            let is_done = outcome.stderr == "already up to date\n";
            assert!(!again || is_done, "{}", outcome.stderr);
        }
        assert_eq!(folder.get("local/a.yaml"), resource("a", version, "mine"));
        let kptfile = folder.get("local/Kptfile");
        let digest = image["digest"].as_str().expect("a digest");
        assert!(
            kptfile.contains(&format!("fn.kpt.dev/upstream-digest: {digest}\n")),
            "{kptfile}"
        );
        assert!(
            kptfile.contains("fn.kpt.dev/upstream-source: oci:layout:stable\n"),
            "{kptfile}"
        );
    }
}

#[test]
fn layers_of_other_tools_are_read() {
    let folder = Folder::new(&[]);
    folder.put("v1.tar", archive("", 1));
    let text = resource("a", 2, "0");
    let titled = |mut layer: Value, title: &str, is_packed: bool| {
        layer["annotations"] = json!({"org.opencontainers.image.title": title});
        if is_packed {
            layer["annotations"]["io.deis.oras.content.unpack"] = json!("true");
        }
        layer
    };
    let file = |name: &str| tar_of(&[(name, text.clone())]);
    // `oras push` of a file has the type of a tar file, and that of a folder an annotation.
    let plain = blob(&folder, "oras", TAR, text.as_bytes());
    image(&folder, "oras", "file", &[titled(plain, "a.yaml", false)]);
    let packed = blob(&folder, "oras", GZIP, &gz(&file("app/a.yaml")));
    image(&folder, "oras", "folder", &[titled(packed, "app", true)]);
    let chart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
    let chart = blob(&folder, "helm", chart, &gz(&file("app/a.yaml")));
    let proof = "application/vnd.cncf.helm.chart.provenance.v1.prov";
    let proof = blob(&folder, "helm", proof, b"signed");
    image(&folder, "helm", "1.0.0", &[chart, proof]);
    let flux = blob(
        &folder,
        "flux",
        "application/vnd.cncf.flux.content.v1.tar+gzip",
        &gz(&file("a.yaml")),
    );
    image(&folder, "flux", "v1", &[flux]);
    // Layers of an image: the second replaces a file of the first, and removes one.
    let below = tar_of(&[
        ("a.yaml", "old: file\n".to_owned()),
        ("gone.yaml", text.clone()),
    ]);
    let below = blob(&folder, "crane", TAR, &below);
    let above = tar_of(&[("a.yaml", text.clone()), (".wh.gone.yaml", String::new())]);
    let above = blob(&folder, "crane", TAR, &above);
    image(
        &folder,
        "crane",
        "registry.example.com/app:v1",
        &[below, above],
    );
    // The second layer hides the whole first one.
    let below = blob(&folder, "opaque", TAR, &file("gone.yaml"));
    let above = tar_of(&[(".wh..wh..opq", String::new()), ("a.yaml", text.clone())]);
    let above = blob(&folder, "opaque", TAR, &above);
    image(&folder, "opaque", "v1", &[below, above]);
    // An index of one image, as `skopeo copy --all` leaves it.
    let inner = layout(&folder, "index", "inner", &file("a.yaml"));
    let index = json!({"schemaVersion": 2, "manifests": [{"mediaType": MANIFEST, "digest": inner["digest"], "size": inner["size"]}]});
    let index = blob(
        &folder,
        "index",
        "application/vnd.oci.image.index.v1+json",
        index.to_string().as_bytes(),
    );
    let index = json!({"schemaVersion": 2, "manifests": [index]});
    folder.put("index/index.json", index.to_string());
    for upstream in [
        "oci:oras:file",
        "oci:oras:folder",
        "oci:helm",
        "oci:flux:v1",
        "oci:crane:v1",
        "oci:opaque:v1",
        "oci:index",
    ] {
        copy(&folder, None);
        let outcome = folder.merge(&["--original", "v1.tar", "--upstream", upstream]);
        assert_eq!(outcome.code, Some(0), "{upstream}: {}", outcome.stderr);
        assert_eq!(
            folder.get("local/a.yaml"),
            resource("a", 2, "mine"),
            "{upstream}"
        );
        let left = all(&folder, "local").len();
        // What local changed of the removed files stays.
        assert_eq!(left, 3, "{upstream}: {}", outcome.stderr);
    }
}

#[test]
fn invalid_layouts_are_refused_and_nothing_is_written() {
    let folder = Folder::new(&[]);
    folder.put("v1.tar", archive("", 1));
    layout(&folder, "good", "v1", &archive("", 1));
    layout(&folder, "good", "v2", &archive("", 2));
    let layer = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut layer = blob(&folder, name, GZIP, &gz(&archive("", 2)));
        change(&mut layer);
        image(&folder, name, "v2", &[layer]);
    };
    let other = blob(&folder, "digest", TAR, b"other");
    layer("digest", &|layer| {
        let path = |layer: &Value| {
            let digest = layer["digest"].as_str().expect("a digest");
            folder.path(&format!("digest/blobs/{}", digest.replace(':', "/")))
        };
        std::fs::copy(path(&other), path(layer)).expect("a blob");
    });
    layer("size", &|layer| layer["size"] = json!(1));
    layer("escape", &|layer| {
        layer["digest"] = json!("sha256:../../../v1.tar")
    });
    layer("sha512", &|layer| layer["digest"] = json!("sha512:00"));
    layer("lost", &|layer| {
        layer["digest"] = json!(format!("sha256:{}", "0".repeat(64)))
    });
    layer("zstd", &|layer| {
        layer["mediaType"] = json!(format!("{TAR}+zstd"))
    });
    layer("text", &|layer| {
        layer["annotations"] = json!({"org.opencontainers.image.title": "../x"})
    });
    folder.put("json/index.json", "{");
    folder.put("empty/index.json", "{\"manifests\": []}");
    let mut nested = json!({"manifests": []});
    for _ in 0..6 {
        let media_type = "application/vnd.oci.image.index.v1+json";
        let inner = blob(&folder, "deep", media_type, nested.to_string().as_bytes());
        nested = json!({"manifests": [inner]});
    }
    folder.put("deep/index.json", nested.to_string());
    for (upstream, expected) in [
        (
            "oci:good",
            "expected one image, or a tag (oci:PATH:TAG) in the layout, found `v1`, `v2`",
        ),
        (
            "oci:good:v3",
            "expected one image `v3` in the layout, found `v1`, `v2`",
        ),
        ("oci:good@sha256:00", "expected one image `sha256:00`"),
        ("oci:good:v2//crds", "expected a folder `crds`"),
        ("oci:good:v2//../x", "'..' component"),
        ("oci:nowhere:v2", "found nothing at 'nowhere'"),
        ("oci:digest:v2", "expected content with the digest"),
        ("oci:size:v2", "expected 1 bytes"),
        ("oci:escape:v2", "expected a digest sha256:HEX"),
        ("oci:sha512:v2", "expected a digest sha256:HEX"),
        ("oci:lost:v2", "No such file"),
        ("oci:zstd:v2", "expected layers in tar or tar+gzip"),
        ("oci:text:v2", "'..' component"),
        ("oci:json", "index.json:"),
        ("oci:empty", "found none"),
        ("oci:deep", "image indexes nested at most 4 deep"),
    ] {
        copy(&folder, Some(KPTFILE));
        let before = all(&folder, "local");
        let outcome = folder.merge(&["--original", "v1.tar", "--upstream", upstream]);
        assert_eq!(outcome.code, Some(2), "{upstream}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "{upstream}: {}",
            outcome.stderr
        );
        assert_eq!(all(&folder, "local"), before, "{upstream}");
    }
}

#[test]
fn an_image_without_files_names_the_types_of_its_layers() {
    let folder = Folder::new(&[]);
    copy(&folder, Some(KPTFILE));
    let layer = blob(&folder, "layout", "application/vnd.example.wasm", b"x");
    image(&folder, "layout", "unknown", &[layer]);
    image(&folder, "layout", "none", &[]);
    for (tag, expected) in [
        (
            "unknown",
            "expected layers in tar or tar+gzip, found `application/vnd.example.wasm`",
        ),
        ("none", "expected a package, found no files"),
    ] {
        let upstream = format!("oci:layout:{tag}");
        let outcome = folder.merge(&["--original", "local", "--upstream", &upstream]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
}
