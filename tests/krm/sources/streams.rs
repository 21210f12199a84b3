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
fn a_stream_gives_the_bytes_of_its_files_from_every_other_source() {
    let folder = Folder::new(&[]);
    for version in 1..3 {
        let more = &MORE[..version - 1];
        folder.put(&format!("v{version}.yaml"), rendered(version, more));
        let all = [
            ("templates/a.yaml", "a"),
            ("charts/db/templates/b.yaml", "b"),
        ];
        // As `helm template --output-dir` writes them.
        let files = all.iter().chain(more).map(|(file, name)| {
            let text = resource(name, version, "0");
            (*file, format!("---\n# Source: app/{file}\n{text}"))
        });
        let files: Vec<(&str, String)> = files.collect();
        for (file, text) in &files {
            folder.put(&format!("v{version}/{file}"), text);
            folder.put(&format!("catalog/app/{file}"), text);
        }
        folder.commit("a version");
        folder.git(&["tag", &format!("v{version}")]);
        let tar = super::tar_of(&files);
        super::images::layout(&folder, "layout", &format!("v{version}"), &tar);
        folder.put(&format!("v{version}.tgz"), super::gz(&tar));
        folder.put(&format!("v{version}.tar"), tar);
    }
    let mut expected = None;
    for (before, after) in [
        ("", ".yaml"),
        ("", ""),
        ("catalog//app?ref=", ""),
        ("", ".tar"),
        ("", ".tgz"),
        ("oci:layout:", ""),
    ] {
        let _ = std::fs::remove_dir_all(folder.path("local"));
        folder.put("local/templates/a.yaml", resource("a", 1, "mine"));
        folder.put("local/charts/db/templates/b.yaml", resource("b", 1, "mine"));
        let [original, upstream] = [1, 2].map(|version| format!("{before}v{version}{after}"));
        let outcome = folder.merge(&["--original", &original, "--upstream", &upstream]);
        assert_eq!(outcome.code, Some(0), "{upstream}: {}", outcome.stderr);
        let merged = super::all(&folder, "local");
        assert_eq!(merged.len(), 3, "{upstream}: {}", outcome.stderr);
        let expected = expected.get_or_insert_with(|| merged.clone());
        assert_eq!(&merged, expected, "{upstream}");
    }
    assert_eq!(
        folder.get("local/templates/a.yaml"),
        resource("a", 2, "mine")
    );
}

#[test]
fn a_new_file_of_a_stream_comes_with_all_its_documents() {
    let folder = Folder::new(&[]);
    folder.put("v1.yaml", rendered(1, &[]));
    let more = [("templates/new.yaml", "one"), ("templates/new.yaml", "two")];
    let licence = "# Source: app/templates/new.yaml\n# licence\n\n# one\n";
    let text = rendered(2, &more).replace("# Source: app/templates/new.yaml\n# one\n", licence);
    folder.put("v2.yaml", text);
    copy(&folder);
    let outcome = folder.merge(&["--original", "v1.yaml", "--upstream", "v2.yaml"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let [one, two] = [resource("one", 2, "0"), resource("two", 2, "0")];
    let source = "---\n# Source: app/templates/new.yaml\n";
    assert_eq!(
        folder.get("local/templates/new.yaml"),
        format!("{source}# licence\n\n{one}{source}{two}")
    );
}
