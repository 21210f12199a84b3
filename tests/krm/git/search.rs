//! `--original auto`: the revision that a copy was made from.

use super::{Folder, KPTFILE, map};

fn resource(name: &str, values: &[(String, String)]) -> String {
    let head = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n");
    let data = values
        .iter()
        .map(|(key, value)| format!("  {key}: \"{value}\"\n"));
    head + &data.collect::<String>()
}

/// Ten values, the first of which are of a later version.
fn values(version: usize) -> Vec<(String, String)> {
    let value = |at: usize| {
        if at < version {
            format!("new{version}")
        } else {
            "old".to_owned()
        }
    };
    (0..10).map(|at| (format!("k{at}"), value(at))).collect()
}

/// A project with the tags v0 to v4, of which `v1-again` is v1 once more.
fn project() -> Folder {
    let folder = Folder::new(&[]);
    for version in 0..5 {
        folder.put("catalog/m/a.yaml", resource("a", &values(version)));
        folder.put("catalog/m/b.yaml", resource("b", &values(2 * version)));
        folder.put("catalog/m/notes.txt", format!("notes\nof {version}\n"));
        folder.commit(&format!("v{version}"));
        folder.git(&["tag", &format!("v{version}")]);
    }
    folder
}

/// A copy of a version, with an edit of its own.
fn copy(folder: &Folder, version: usize) {
    let own = resource("a", &values(version)).replace("k9: \"old\"", "k9: \"mine\"");
    folder.put("local/a.yaml", own);
    folder.put("local/b.yaml", resource("b", &values(2 * version)));
    folder.put("local/notes.txt", format!("notes\nof {version}\n"));
}

const AUTO: [&str; 4] = ["--original", "auto", "--upstream", "catalog//m?ref=v4"];

#[test]
fn the_revision_of_a_copy_is_found() {
    let folder = project();
    for version in 0..4 {
        copy(&folder, version);
        let outcome = folder.merge(&[&AUTO[..], &["--results", "results.yaml"]].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let found = format!("a copy of `v{version}`, from which it differs in 1 values");
        assert!(outcome.stderr.contains(&found), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("(KptfileNotFound)"),
            "{}",
            outcome.stderr
        );
        let results = folder.get("results.yaml");
        for expected in [
            "reason: OriginalFound",
            &format!("original: v{version}"),
            "differences: \"1\"",
        ] {
            assert!(results.contains(expected), "{expected}: {results}");
        }
        let expected = resource("a", &values(4)).replace("k9: \"old\"", "k9: \"mine\"");
        assert_eq!(folder.get("local/a.yaml"), expected);
        assert_eq!(folder.get("local/notes.txt"), "notes\nof 4\n");
    }
}

#[test]
fn a_kptfile_is_made_for_the_lock() {
    let folder = project();
    copy(&folder, 1);
    let outcome = folder.merge(&[&AUTO[..], &["createKptfile=true"]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let kptfile = folder.get("local/Kptfile");
    let commit = folder.git(&["rev-parse", "v4"]);
    for expected in [
        "name: m\n",
        "directory: /m\n",
        "ref: v4\n",
        &format!("commit: {commit}\n"),
    ] {
        assert!(kptfile.contains(expected), "{expected}: {kptfile}");
    }
    // From then on the lock tells it.
    let outcome = folder.merge(&["--upstream", "catalog//m?ref=v4"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[test]
fn without_tags_the_history_is_searched() {
    let folder = project();
    copy(&folder, 2);
    let commit = folder.git(&["rev-parse", "v2"]);
    for tag in 0..5 {
        folder.git(&["tag", "--delete", &format!("v{tag}")]);
    }
    let outcome = folder.merge(&["--original", "auto", "--upstream", "catalog//m?ref=main"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains(&format!("a copy of `{commit}`")),
        "{}",
        outcome.stderr
    );
}

#[test]
fn of_equal_ones_the_newest_that_upstream_contains() {
    let folder = project();
    // v1 came back, on a branch that upstream does not contain, and in upstream itself.
    folder.git(&["checkout", "--quiet", "-b", "side"]);
    folder.git(&["checkout", "--quiet", "v1", "--", "m"]);
    folder.commit("v1 on the side");
    folder.git(&["tag", "aside"]);
    folder.git(&["tag", "earlier", "v1"]);
    copy(&folder, 1);
    let outcome = folder.merge(&AUTO);
    assert!(
        outcome.stderr.contains("a copy of `v1`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn what_is_a_copy_of_nothing_is_an_error() {
    let folder = project();
    folder.put("local/Kptfile", KPTFILE);
    folder.put("local/other.yaml", map("1", "2"));
    let outcome = folder.merge(&AUTO);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("(OriginalUncertain)"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        outcome.stderr.matches(" values)").count(),
        3,
        "{}",
        outcome.stderr
    );
    let outcome = folder.merge(&["--original", "auto", "--upstream", "catalog/m"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
}
