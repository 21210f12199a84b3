//! Streams of `helm template` and `kustomize build` as upstreams.

use super::resource;
use crate::git::Folder;

/// What `helm template` prints of a version: files of the chart and of one below it, and a file without resources.
fn rendered(version: usize, more: &[(&str, &str)]) -> String {
    let all = [
        ("templates/a.yaml", "a"),
        ("charts/db/templates/b.yaml", "b"),
    ];
    let documents = all.iter().chain(more).map(|(file, name)| {
        let text = resource(name, version, "0");
        format!("---\n# Source: app/{file}\n{text}")
    });
    documents.collect()
}

/// A package in files of its own, made from version 1.
fn copy(folder: &Folder) {
    folder.put("local/a.yaml", resource("a", 1, "mine"));
    folder.put("local/db/b.yaml", resource("b", 1, "mine"));
}

const MORE: [(&str, &str); 3] = [
    ("templates/new.yaml", "new"),
    ("templates/a.yaml", "beside"),
    ("../../x.yaml", "out"),
];

#[test]
fn a_stream_merges_into_the_files_that_local_has_and_names_new_ones() {
    let folder = Folder::new(&[]);
    folder.put("v1.yaml", rendered(1, &[]));
    // A document of comments alone makes the general parser read the stream.
    for empty in ["", "---\n# Source: app/templates/empty.yaml\n"] {
        let _ = std::fs::remove_dir_all(folder.path("local"));
        copy(&folder);
        folder.put("v2.yaml", rendered(2, &MORE) + empty);
        let outcome = folder.merge(&["--original", "v1.yaml", "--upstream", "v2.yaml"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(folder.get("local/a.yaml"), resource("a", 2, "mine"));
        assert_eq!(folder.get("local/db/b.yaml"), resource("b", 2, "mine"));
        for (file, name) in [
            ("templates/new.yaml", "new"),
            ("templates/a.yaml", "beside"),
            ("configmap_out.yaml", "out"),
        ] {
            let text = folder.get(&format!("local/{file}"));
            assert!(text.ends_with(&resource(name, 2, "0")), "{file}: {text}");
        }
        // The same again changes nothing.
        let outcome = folder.merge(&["--original", "v2.yaml", "--upstream", "v2.yaml", "--check"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
}

#[test]
fn a_stream_and_a_directory_of_the_same_files_give_the_same_bytes() {
    let folder = Folder::new(&[]);
    for version in 1..3 {
        folder.put(&format!("v{version}.yaml"), rendered(version, &[]));
        for (file, name) in [
            ("templates/a.yaml", "a"),
            ("charts/db/templates/b.yaml", "b"),
        ] {
            folder.put(&format!("v{version}/{file}"), resource(name, version, "0"));
        }
    }
    let mut merged = Vec::new();
    for end in [".yaml", ""] {
        let _ = std::fs::remove_dir_all(folder.path("local"));
        folder.put("local/templates/a.yaml", resource("a", 1, "mine"));
        folder.put("local/charts/db/templates/b.yaml", resource("b", 1, "mine"));
        let (original, upstream) = (format!("v1{end}"), format!("v2{end}"));
        let outcome = folder.merge(&["--original", &original, "--upstream", &upstream]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        merged.push(super::all(&folder, "local"));
    }
    assert_eq!(merged[0], merged[1]);
}
