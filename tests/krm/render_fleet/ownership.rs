//! Who owns a package: only the PackageVariant whose place it is in. A copy has no owner.

use super::{Fleet, copy};

const PRUNE: &[&str] = &["prune=true", "maxDeletions=9"];

/// A fleet of one package `east/app`, whose PackageVariant is gone; `copies` are made of it before.
fn abandoned(copies: &[(&str, &str)]) -> Fleet {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.put("b", "v1", "west/other", "");
    fleet.expect(&[], 0, &["2 created"]);
    for (from, to) in copies {
        copy(&fleet.folder.path(from), &fleet.folder.path(to));
    }
    fleet.drop("a");
    fleet
}

fn exists(fleet: &Fleet, path: &str) -> bool {
    fleet.folder.path(path).exists()
}

#[test]
fn a_copy_of_a_package_has_no_owner_and_is_never_pruned() {
    for (case, copies) in [
        ("beside it", vec![("fleet/east/app", "fleet/east/copy")]),
        (
            "in another repository",
            vec![("fleet/east/app", "fleet/north/app")],
        ),
        (
            "a copy of a copy",
            vec![
                ("fleet/east/app", "fleet/x/one"),
                ("fleet/x/one", "fleet/y/two"),
            ],
        ),
        (
            "of the whole repository",
            vec![("fleet/east", "fleet/east-2")],
        ),
        (
            "in the package",
            vec![("fleet/east/app", "fleet/east/app/sub/copy")],
        ),
        (
            "in another package",
            vec![("fleet/east/app", "fleet/west/other/copy")],
        ),
    ] {
        let fleet = abandoned(&copies);
        let before: Vec<_> = copies
            .iter()
            .map(|(_, to)| crate::git::files_in(&fleet.folder.path(to)))
            .collect();
        let report = [
            "copied from `east/app`, the package of `default/a`",
            "(CopiedPackage)",
        ];
        fleet.expect(&[], 0, &report);
        fleet.expect(&[&["--diff"], PRUNE].concat(), 0, &report);
        fleet.expect(PRUNE, 0, &[&report[..], &["1 deleted"]].concat());
        let after: Vec<_> = copies
            .iter()
            .map(|(_, to)| crate::git::files_in(&fleet.folder.path(to)))
            .collect();
        assert_eq!(after, before, "{case}");
        assert!(!exists(&fleet, "fleet/east/app/Kptfile"), "{case}");
        assert!(!exists(&fleet, "fleet/east/app/cm.yaml"), "{case}");
        fleet.expect(PRUNE, 0, &["(CopiedPackage)", "1 variant: 1 unchanged"]);
    }
}

#[test]
fn a_copy_does_not_count_towards_the_limit_of_deletions() {
    let fleet = abandoned(&[("fleet/east/app", "fleet/east/copy")]);
    fleet.expect(&["prune=true", "maxDeletions=1"], 0, &["1 deleted"]);
}

#[test]
fn a_copy_is_adopted_at_its_new_place() {
    let fleet = abandoned(&[("fleet/east/app", "fleet/east/copy")]);
    fleet.edit("fleet/east/copy/cm.yaml", "b: \"0\"", "b: \"local\"");
    fleet.put("c", "v2", "east/copy", "");
    fleet.expect(
        &[],
        0,
        &["`east/copy` exists but has no owner (it is a copy of `east/app`, the package of `default/a`)", "(NotAdopted)"],
    );
    fleet.put("c", "v2", "east/copy", "  adoptionPolicy: adoptExisting\n");
    fleet.expect(
        PRUNE,
        0,
        &["adopted: `east/copy` from `v1` to `v2`", "1 deleted"],
    );
    let kptfile = fleet.folder.get("fleet/east/copy/Kptfile");
    assert!(kptfile.contains("package-variant: default/c"), "{kptfile}");
    assert!(kptfile.contains("downstream: east/copy"), "{kptfile}");
    let map = fleet.folder.get("fleet/east/copy/cm.yaml");
    assert!(
        map.contains("b: \"local\"") && map.contains("a: \"2\""),
        "{map}"
    );
    fleet.expect(PRUNE, 0, &["2 variants: 2 unchanged"]);
}

#[test]
fn a_package_that_was_moved_has_no_owner() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    std::fs::rename(
        fleet.folder.path("fleet/east/app"),
        fleet.folder.path("fleet/east/moved"),
    )
    .expect("it moves");
    fleet.expect(PRUNE, 0, &["created: `east/app`", "(CopiedPackage)"]);
    assert!(exists(&fleet, "fleet/east/moved/Kptfile"));
}

#[test]
fn a_variant_that_moves_away_and_back_finds_its_package() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    fleet.put("a", "v1", "west/app", "");
    fleet.expect(
        &[],
        0,
        &[
            "created: `west/app`",
            "now targets another package; with `prune: true`",
        ],
    );
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(PRUNE, 0, &["1 deleted, 1 unchanged"]);
    assert!(exists(&fleet, "fleet/east/app/Kptfile") && !exists(&fleet, "fleet/west"));
}

/// Removes the place from a Kptfile, as earlier versions wrote it.
fn forget_place(fleet: &Fleet, package: &str, place: &str) {
    let line = format!("    fn.kpt.dev/downstream: {place}\n");
    fleet.edit(&format!("fleet/{package}/Kptfile"), &line, "");
}

#[test]
fn a_package_without_a_place_belongs_to_a_variant_that_targets_it() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    forget_place(&fleet, "east/app", "east/app");
    copy(
        &fleet.folder.path("fleet/east/app"),
        &fleet.folder.path("fleet/east/copy"),
    );
    fleet.expect(PRUNE, 0, &["refreshed: `east/app`", "(CopiedPackage)"]);
    assert!(
        fleet
            .folder
            .get("fleet/east/app/Kptfile")
            .contains("downstream: east/app")
    );
    forget_place(&fleet, "east/app", "east/app");
    fleet.put("a", "v1", "west/app", "");
    fleet.expect(
        PRUNE,
        0,
        &["created: `west/app`", "does not target `east/app`"],
    );
    assert!(exists(&fleet, "fleet/east/app") && exists(&fleet, "fleet/east/copy"));
}

#[test]
fn a_clone_does_not_take_over_the_owner_of_its_upstream() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    copy(
        &fleet.folder.path("fleet/east/app"),
        &fleet.folder.path("org/app/v1"),
    );
    copy(
        &fleet.folder.path("fleet/east/app"),
        &fleet.folder.path("org/app/v1/sub"),
    );
    fleet.edit(
        "org/app/v1/Kptfile",
        "metadata:\n",
        "metadata:\n  ownerReferences: [{name: a}]\n",
    );
    fleet.drop("a");
    let text = super::variant("b", "v1", "west/app", "");
    let text = text.replace("repo: catalog, package: nginx", "repo: org, package: app");
    fleet.folder.put("variants/b.yaml", &text);
    fleet.expect(&["--catalog", "org=org"], 0, &["created: `west/app`"]);
    let kptfile = fleet.folder.get("fleet/west/app/Kptfile");
    assert!(
        !kptfile.contains("default/a") && !kptfile.contains("ownerReferences"),
        "{kptfile}"
    );
    assert!(
        kptfile.contains("fn.kpt.dev/package-variant: default/b"),
        "{kptfile}"
    );
    let sub = fleet.folder.get("fleet/west/app/sub/Kptfile");
    assert!(!sub.contains("fn.kpt.dev/"), "{sub}");
    let outcome = fleet.folder.run(
        crate::running::function("render-variant"),
        &[
            "--package",
            "one",
            "--config",
            "variants/b.yaml",
            "--upstream",
            "org/app/v1",
        ],
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let kptfile = fleet.folder.get("one/Kptfile");
    assert!(!kptfile.contains("fn.kpt.dev/"), "{kptfile}");
}

#[test]
fn ownership_of_the_upstream_does_not_conflict() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    copy(
        &fleet.folder.path("fleet/east/app"),
        &fleet.folder.path("org/app/v1"),
    );
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(&[], 0, &[]);
    copy(
        &fleet.folder.path("fleet/east/app"),
        &fleet.folder.path("org/app/v2"),
    );
    for version in ["v1", "v2"] {
        let digest =
            format!("    fn.kpt.dev/upstream-digest: of-{version}\n    fn.kpt.dev/deletion-policy");
        fleet.edit(
            &format!("org/app/{version}/Kptfile"),
            "    fn.kpt.dev/deletion-policy",
            &digest,
        );
    }
    fleet.drop("a");
    for version in ["v1", "v2"] {
        let text = super::variant("b", version, "west/app", "");
        let text = text.replace("repo: catalog, package: nginx", "repo: org, package: app");
        fleet.folder.put("variants/b.yaml", &text);
        for strategy in ["onConflict=error", "strategy=fast-forward"] {
            let more = ["--catalog", "org=org", strategy];
            let outcome = fleet.expect(&more, 0, &["1 variant"]);
            assert!(
                !outcome.stderr.contains("(MergeConflict)"),
                "{}",
                outcome.stderr
            );
            copy(
                &fleet.folder.path("fleet/west/app"),
                &fleet.folder.path(&format!("before/{version}")),
            );
        }
    }
    let map = fleet.folder.get("fleet/west/app/cm.yaml");
    assert!(map.contains("a: \"2\""), "{map}");
}
