//! Files of every kind: links, executable bits, folders in the place of files, kustomizations.

use indoc::indoc;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::git::Folder;

const SIDES: [&str; 3] = ["original", "local", "upstream"];

/// A folder with a file for each side.
fn folder(path: &str, texts: [&str; 3]) -> Folder {
    let folder = Folder::new(&[]);
    for (side, text) in SIDES.into_iter().zip(texts) {
        folder.put(&format!("{side}/a.yaml"), map("a", "{k: a}"));
        folder.put(&format!("{side}/{path}"), text);
    }
    folder
}

/// Merges, and returns what was said.
#[track_caller]
fn merged(folder: &Folder) -> String {
    let outcome = folder.merge(&["--original", "original", "--upstream", "upstream"]);
    outcome.assert_code(0);
    outcome.stderr.clone()
}

#[test]
fn a_link_is_a_separate_file() {
    let folder = folder("notes.txt", ["hello\n"; 3]);
    symlink("notes.txt", folder.path("upstream/notes.yaml")).expect("a link");
    folder.put("upstream/a.yaml", map("a", "{k: b}"));
    let said = merged(&folder);
    assert_eq!(folder.get("local/notes.txt"), "hello\n");
    assert!(!folder.path("local/notes.yaml").exists());
    assert!(
        said.contains("notes.yaml: not taken from upstream: a symbolic link"),
        "{said}"
    );
    assert_eq!(folder.get("local/a.yaml"), map("a", "{k: b}"));
}

#[test]
fn nothing_is_written_over_a_link() {
    let folder = folder("notes.txt", ["hello\n"; 3]);
    symlink("notes.txt", folder.path("local/own.yaml")).expect("a link");
    folder.put("upstream/own.yaml", map("own", "{k: b}"));
    let said = merged(&folder);
    let link = fs::symlink_metadata(folder.path("local/own.yaml")).expect("a link");
    assert!(link.is_symlink());
    assert_eq!(folder.get("local/notes.txt"), "hello\n");
    assert!(said.contains("local has a symbolic link"), "{said}");
}

#[test]
fn upstream_makes_a_file_executable() {
    let folder = folder("run.sh", ["#!/bin/sh\n"; 3]);
    let mode = |path: &str| {
        let metadata = fs::metadata(folder.path(path)).expect("a file");
        metadata.permissions().mode() & 0o777
    };
    let set = |path: &str, mode| {
        fs::set_permissions(folder.path(path), fs::Permissions::from_mode(mode)).expect("bits");
    };
    set("local/run.sh", 0o640);
    set("upstream/run.sh", 0o755);
    set("local/a.yaml", 0o755);
    merged(&folder);
    assert_eq!(mode("local/run.sh"), 0o750);
    // What local alone changed stays.
    assert_eq!(mode("local/a.yaml"), 0o755);
}

#[test]
fn a_file_becomes_a_folder_unless_both_sides_changed_it() {
    for (own, is_taken) in [("list\n", true), ("mine\n", false)] {
        let folder = folder("crds", ["list\n", own, ""]);
        fs::remove_file(folder.path("upstream/crds")).expect("removed");
        folder.put("upstream/crds/c.yaml", map("c", "{k: c}"));
        let said = merged(&folder);
        if is_taken {
            assert_eq!(folder.get("local/crds/c.yaml"), map("c", "{k: c}"));
        } else {
            assert_eq!(folder.get("local/crds"), own);
            assert!(
                said.contains("a file in local and a folder in upstream"),
                "{said}"
            );
            assert!(said.contains("1 conflict\n"), "{said}");
        }
    }
}

#[test]
fn a_folder_becomes_a_file() {
    let folder = folder("crds/c.yaml", [&map("c", "{k: c}"); 3]);
    fs::remove_dir_all(folder.path("upstream/crds")).expect("removed");
    folder.put("upstream/crds", "list\n");
    merged(&folder);
    assert_eq!(folder.get("local/crds"), "list\n");
}

#[test]
fn comments_and_format_are_not_a_change_of_a_file() {
    let old = "resources:\n- a.yaml";
    for own in ["resources:\n- a.yaml\n", "# ours\nresources: [a.yaml]\n"] {
        let folder = folder("x/kustomization.yaml", [old, own, ""]);
        fs::remove_dir_all(folder.path("upstream/x")).expect("removed");
        let said = merged(&folder);
        assert!(!folder.path("local/x/kustomization.yaml").exists());
        assert!(!said.contains("MergeConflict"), "{said}");
        assert_eq!(
            said.contains("CommentsRemoved"),
            own.contains("# ours"),
            "{said}"
        );
    }
}

#[test]
fn a_kustomization_that_gets_an_api_version_stays_one_document() {
    let head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    let [old, own, new] = [
        "resources:\n- a.yaml\n",
        "# ours\nresources:\n- a.yaml\n- b.yaml\n",
        "resources:\n- a.yaml\nimages:\n- name: c\n  newTag: v2\n",
    ];
    let expected = indoc! {"
        # ours
        resources:
        - a.yaml
        - b.yaml
        images:
        - name: c
          newTag: v2
    "};
    let with_head = format!("{new}{head}");
    let folder = folder("kustomization.yaml", [old, own, &with_head]);
    merged(&folder);
    assert_eq!(
        folder.get("local/kustomization.yaml"),
        format!("{expected}{head}")
    );
}

#[test]
fn a_file_without_resources_that_has_a_key_twice_is_text() {
    let values = |line: &str| format!("a: 1\na: 2\n{line}\nx: 1\ny: 1\nz: 1\nb: 3\n");
    let [old, mut own] = ["c: 1", "c: 2"].map(values);
    own = own.replace("b: 3", "b: 4");
    let folder = folder(
        "values.yaml",
        [
            &values("c: 1"),
            &own.replace("c: 2", "c: 1"),
            &values("c: 2"),
        ],
    );
    let said = merged(&folder);
    assert!(said.contains("NotYaml"), "{said}");
    assert_eq!(folder.get("local/values.yaml"), own);
    assert_ne!(old, own);
    // In a resource, it is an error.
    folder.put("local/a.yaml", map("a", "{k: a, k: b}"));
    let outcome = folder.merge(&["--original", "original", "--upstream", "upstream"]);
    outcome.assert_code(2);
}

#[test]
fn ignored_files_that_upstream_changed_are_named() {
    let folder = folder("gen/a.txt", ["1", "1", "2"]);
    for side in SIDES {
        folder.put(&format!("{side}/.krmignore"), "gen/\n");
    }
    let said = merged(&folder);
    assert!(
        said.contains("`gen/a.txt`") && said.contains("IgnoredFile"),
        "{said}"
    );
    assert_eq!(folder.get("local/gen/a.txt"), "1");
}

/// A file in UTF-16 that begins as such files do.
fn in_utf_16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_file_in_utf_16_is_a_binary_file_and_the_others_merge() {
    let [old, own, new] = ["a: 1\n", "a: 2\n", "a: 3\n"].map(in_utf_16);
    for (local, merged, conflicts) in [(&old, &new, 0), (&own, &own, 1)] {
        let folder = Folder::new(&[]);
        for (side, bytes, value) in [
            ("original", &old, "a"),
            ("local", local, "a"),
            ("upstream", &new, "b"),
        ] {
            folder.put(
                &format!("{side}/a.yaml"),
                map("a", &format!("{{k: {value}}}")),
            );
            folder.put(&format!("{side}/values.yaml"), bytes);
        }
        let outcome = folder.merge(&[
            "--original",
            "original",
            "--upstream",
            "upstream",
            "onConflict=local",
        ]);
        outcome.assert_code(0);
        assert_eq!(folder.get("local/a.yaml"), map("a", "{k: b}"));
        assert_eq!(
            &fs::read(folder.path("local/values.yaml")).expect("a file"),
            merged
        );
        let said = &outcome.stderr;
        let named = "values.yaml: warning: merged as text, since the local file is not YAML: line 1, column 1: \
                     expected UTF-8, found the byte 0xff (the text looks like UTF-16)";
        assert!(
            said.contains("found the byte 0xff (the text looks like UTF-16)"),
            "{said}{named}"
        );
        assert_eq!(said.matches("(MergeConflict)").count(), conflicts, "{said}");
    }
}
