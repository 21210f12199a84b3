//! The `.krmignore` files of all three versions.

use super::*;
use crate::git::Folder;

const KRMIGNORE: &str = "i.yaml\nvalues.yaml\ngen/\n";

fn cm(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: \"{value}\"\n")
}

#[test]
fn a_file_that_one_version_ignores_is_left_out_of_all_three() {
    let sides = ["original", "local", "upstream"];
    for ignoring in [
        &["local"][..],
        &["upstream"],
        &["original", "local"],
        &sides,
    ] {
        let folder = Folder::new(&[]);
        for (side, value) in sides.into_iter().zip(["1", "2", "3"]) {
            let put = |path: &str, text: &str| folder.put(&format!("{side}/{path}"), text);
            put("Kptfile", &kptfile("p"));
            put(
                "a.yaml",
                &cm("a", if side == "upstream" { "3" } else { "1" }),
            );
            put("i.yaml", &cm("i", value));
            put("values.yaml", &format!("a: {value}\n"));
            put("gen/g.yaml", &cm("g", value));
            // The patterns of a package are not those of its sub-packages.
            put("sub/Kptfile", &kptfile("sub"));
            put(
                "sub/i.yaml",
                &cm("s", if side == "upstream" { "3" } else { "1" }),
            );
            if ignoring.contains(&side) {
                put(".krmignore", KRMIGNORE);
            }
        }
        folder.put("upstream/gen/new.yaml", cm("new", "3"));
        let outcome = folder.merge(&["--original", "original", "--upstream", "upstream"]);
        outcome.assert_code(0);
        assert!(
            outcome.stderr.contains("2 changed") && outcome.stderr.contains(" 0 conflicts"),
            "{ignoring:?}: {}",
            outcome.stderr
        );
        let named = "`.krmignore` leaves out 4 files that upstream changed, added or removed: `gen/g.yaml`, \
                     `gen/new.yaml`, `i.yaml`, `values.yaml` (IgnoredFile)";
        assert!(outcome.stderr.contains(named), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.matches("i.yaml").count(), 1);
        for (path, text) in [
            ("a.yaml", cm("a", "3")),
            ("sub/i.yaml", cm("s", "3")),
            ("i.yaml", cm("i", "2")),
            ("values.yaml", "a: 2\n".to_owned()),
            ("gen/g.yaml", cm("g", "2")),
        ] {
            let found = folder.get(&format!("local/{path}"));
            assert_eq!(found, text, "{ignoring:?}: {path}");
        }
        assert!(!folder.path("local/gen/new.yaml").exists(), "{ignoring:?}");
    }
}
