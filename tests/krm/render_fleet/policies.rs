//! Adoption, deletion, ownership, and upstreams that move.

use super::{Fleet, render_fleet};
use indoc::indoc;

const PRUNE: &[&str] = &["prune=true", "maxDeletions=9"];

#[test]
fn a_package_is_created_then_updated_then_unchanged() {
    let fleet = Fleet::new();
    let more = "  labels: {team: web}\n  annotations: {note: mine}\n  packageContext: {data: {region: eu}}\n";
    fleet.put("a", "v1", "east/app", more);
    fleet.expect(
        &[],
        0,
        &[
            "created: `east/app` from `v1`",
            "1 variant: 1 created, 0 unchanged",
        ],
    );
    let kptfile = fleet.folder.get("fleet/east/app/Kptfile");
    for text in [
        "name: app # ours",
        "fn.kpt.dev/package-variant: default/a",
        "fn.kpt.dev/deletion-policy: delete",
        "team: web",
        "note: mine",
        "ref: v1",
    ] {
        assert!(kptfile.contains(text), "{text}: {kptfile}");
    }
    assert_eq!(fleet.folder.get("fleet/east/app/notes.txt"), "one\n");
    fleet.edit("fleet/east/app/cm.yaml", "b: \"0\"", "b: \"local\"");
    fleet.expect(&[], 0, &["1 variant: 1 unchanged"]);
    fleet.put("a", "v2", "east/app", more);
    fleet.expect(&["--check"], 3, &["updated: `east/app` from `v1` to `v2`"]);
    fleet.expect(&[], 0, &["updated: `east/app` from `v1` to `v2`"]);
    let map = fleet.folder.get("fleet/east/app/cm.yaml");
    assert!(
        map.contains("a: \"2\" # first") && map.contains("b: \"local\""),
        "{map}"
    );
    let before = fleet.files();
    fleet.expect(&["--check"], 0, &["1 variant: 1 unchanged"]);
    assert_eq!(fleet.files(), before);
}

#[test]
fn labels_are_given_once_and_context_every_time() {
    let fleet = Fleet::new();
    fleet.put(
        "a",
        "v1",
        "east/app",
        "  labels: {team: web}\n  packageContext: {data: {region: eu}}\n",
    );
    fleet.expect(&[], 0, &[]);
    fleet.put(
        "a",
        "v1",
        "east/app",
        "  labels: {team: db}\n  packageContext: {data: {region: us}}\n",
    );
    fleet.expect(&[], 0, &["refreshed: `east/app`"]);
    assert!(
        fleet
            .folder
            .get("fleet/east/app/Kptfile")
            .contains("team: web")
    );
    let context = fleet.folder.get("fleet/east/app/package-context.yaml");
    assert!(context.contains("region: us"), "{context}");
}

#[test]
fn a_package_without_an_owner_is_left_unchanged_or_adopted() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    fleet.edit("fleet/east/app/cm.yaml", "b: \"0\"", "b: \"local\"");
    let owner = "    fn.kpt.dev/package-variant: default/a\n";
    fleet.edit("fleet/east/app/Kptfile", owner, "");
    let before = fleet.files();
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(
        &[],
        0,
        &["adoptExisting", "(NotAdopted)", "1 variant: 1 unchanged"],
    );
    assert_eq!(fleet.files(), before);
    fleet.put("a", "v2", "east/app", "  adoptionPolicy: adoptExisting\n");
    fleet.expect(&[], 0, &["adopted: `east/app` from `v1` to `v2`"]);
    let map = fleet.folder.get("fleet/east/app/cm.yaml");
    assert!(
        map.contains("a: \"2\"") && map.contains("b: \"local\""),
        "{map}"
    );
    fleet.expect(&[], 0, &["1 variant: 1 unchanged"]);
}

#[test]
fn a_package_without_a_lock_cannot_be_adopted() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "  adoptionPolicy: adoptExisting\n");
    fleet
        .folder
        .put("fleet/east/app/Kptfile", crate::git::KPTFILE);
    let before = fleet.files();
    fleet.expect(
        &[],
        1,
        &["(NoOriginal)", "1 variant: 1 failed, 0 unchanged"],
    );
    assert_eq!(fleet.files(), before);
}

#[test]
fn a_package_of_another_variant_is_never_touched() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    let before = fleet.files();
    fleet.put("b", "v2", "east/app", "  adoptionPolicy: adoptExisting\n");
    fleet.expect(
        &[],
        1,
        &[
            "PackageVariant/b",
            "found `default/a` too (OtherOwner)",
            "1 failed, 1 unchanged",
        ],
    );
    fleet.drop("a");
    // The owner is gone, and its package is still its own until somebody prunes.
    fleet.expect(
        &[],
        1,
        &["found one of `default/a`; left unchanged (OtherOwner)"],
    );
    assert_eq!(fleet.files(), before);
}

#[test]
fn two_new_variants_for_one_package_or_inside_of_one_are_refused() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.put("b", "v1", "east/app", "");
    fleet.put("c", "v1", "east/app/inner", "");
    fleet.put("d", "v1", "east/other", "");
    fleet.expect(
        &[],
        1,
        &[
            "found `default/b` too",
            "found `default/a` too",
            "is inside the package of `default/a`",
            "1 created, 3 failed",
        ],
    );
    assert!(
        fleet
            .files()
            .iter()
            .all(|(path, _)| path.starts_with("east/other/"))
    );
}

#[test]
fn a_package_without_its_variant_is_named_then_deleted_or_orphaned() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.put("b", "v1", "west/app", "  deletionPolicy: orphan\n");
    fleet.put("c", "v1", "north/app", "");
    fleet.expect(&[], 0, &["3 created"]);
    fleet.folder.put("fleet/east/app/more/notes.txt", "of ours");
    let before = fleet.files();
    fleet.drop("a");
    fleet.drop("b");
    fleet.expect(&[], 0, &["it would be deleted", "it would be orphaned"]);
    assert_eq!(fleet.files(), before);
    fleet.expect(
        &["prune=true", "maxDeletions=0"],
        1,
        &["(TooManyDeletions)"],
    );
    fleet.expect(
        &[&["--check"], PRUNE].concat(),
        3,
        &["deleted: its PackageVariant `default/a` no longer exists"],
    );
    assert_eq!(fleet.files(), before);
    fleet.expect(PRUNE, 0, &["1 orphaned, 1 deleted, 1 unchanged"]);
    assert!(!fleet.folder.path("fleet/east").exists());
    let kptfile = fleet.folder.get("fleet/west/app/Kptfile");
    assert!(!kptfile.contains("fn.kpt.dev/"), "{kptfile}");
    fleet.expect(PRUNE, 0, &["1 variant: 1 unchanged"]);
}

#[test]
fn a_work_tree_is_not_deleted() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.put("b", "v1", "west/app", "");
    fleet.expect(&[], 0, &[]);
    fleet
        .folder
        .put("fleet/east/app/.git/HEAD", "ref: refs/heads/main\n");
    fleet.drop("a");
    fleet.expect(PRUNE, 1, &["(NotWritten)"]);
    assert!(fleet.folder.path("fleet/east/app/Kptfile").exists());
}

#[test]
fn a_variant_moves_away_and_back() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    fleet.edit("fleet/east/app/cm.yaml", "b: \"0\"", "b: \"local\"");
    let before = fleet.files();
    fleet.put("a", "v1", "west/app", "");
    fleet.expect(&["--check"], 3, &["now targets another package"]);
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &["1 variant: 1 unchanged"]);
    assert_eq!(fleet.files(), before);
    fleet.put("a", "v1", "west/app", "");
    fleet.expect(PRUNE, 0, &["1 created, 1 deleted, 0 unchanged"]);
    assert!(fleet.folder.path("fleet/west/app/Kptfile").exists());
    assert!(!fleet.folder.path("fleet/east").exists());
}

#[test]
fn the_old_package_of_a_variant_that_fails_elsewhere_stays() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    fleet.put("a", "v9", "west/app", "");
    fleet.expect(
        PRUNE,
        1,
        &[
            "(UpstreamNotFound)",
            "kept: its PackageVariant `default/a` now targets another package",
        ],
    );
    assert!(fleet.folder.path("fleet/east/app/Kptfile").exists());
    assert!(!fleet.folder.path("fleet/west").exists());
}

#[test]
fn a_fleet_without_variants_is_an_error_unless_it_is_intended() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&[], 0, &[]);
    let before = fleet.files();
    fleet.drop("a");
    fleet.expect(PRUNE, 1, &["(NoVariants)"]);
    assert_eq!(fleet.files(), before);
    fleet.expect(
        &["prune=true", "maxDeletions=1", "allowEmpty=true"],
        0,
        &["1 deleted"],
    );
    assert_eq!(fleet.files(), []);
}

#[test]
fn a_tag_moves_back_and_forth() {
    let fleet = Fleet::new();
    fleet.put("a", "stable", "east/app", "");
    let to = |revision: &str| {
        fleet
            .folder
            .git(&["tag", "--force", "stable", &format!("{revision}^{{}}")]);
    };
    let has = |value: &str| {
        let map = fleet.folder.get("fleet/east/app/cm.yaml");
        assert!(
            map.contains(&format!("a: \"{value}\"")) && map.contains("b: \"local\""),
            "{map}"
        );
    };
    to("v1");
    fleet.expect(&[], 0, &["created: `east/app` from `stable`"]);
    fleet.edit("fleet/east/app/cm.yaml", "b: \"0\"", "b: \"local\"");
    to("nginx/v3");
    fleet.expect(&[], 0, &["updated: `east/app`"]);
    has("3");
    to("v2");
    fleet.expect(&[], 0, &["updated: `east/app`"]);
    has("2");
    fleet.expect(&[], 0, &["1 variant: 1 unchanged"]);
}

#[test]
fn latest_numbers_and_branches_are_revisions() {
    let fleet = Fleet::new();
    fleet.put("a", "latest", "east/a", "");
    fleet.put("b", "2", "east/b", "");
    fleet.put("c", "main", "east/c", "");
    fleet.expect(&[], 0, &["from `nginx/v3`", "from `v2`", "from `main`"]);
    let lock = fleet.folder.get("fleet/east/a/Kptfile");
    assert!(lock.contains("ref: nginx/v3"), "{lock}");
    fleet
        .folder
        .put("catalog/nginx/cm.yaml", crate::git::map("4", "0"));
    fleet.folder.commit("more");
    fleet.folder.git(&["tag", "nginx/v4"]);
    fleet.expect(
        &[],
        0,
        &[
            "updated: `east/a` from `nginx/v3` to `nginx/v4`",
            "updated: `east/c`",
            "2 updated, 1 unchanged",
        ],
    );
}

/// The upstream of a PackageVariant `a` for `east/a`, with these fields for the revision.
fn put_upstream(fleet: &Fleet, fields: &str) {
    let text = super::variant("a", "v1", "east/a", "");
    let text = text.replace(", revision: v1", fields);
    fleet.folder.put("variants/a.yaml", text);
}

#[test]
fn without_a_revision_the_workspace_decides_or_main() {
    let fleet = Fleet::new();
    let folder = &fleet.folder;
    // Published from a workspace, as Porch notes it, and a draft.
    folder.put("catalog/nginx/cm.yaml", crate::git::map("4", "0"));
    let note =
        "Approve\n\nkpt:{\"package\":\"nginx\",\"workspaceName\":\"edge\",\"revision\":\"4\"}";
    folder.commit(note);
    folder.git(&["tag", "nginx/v4"]);
    folder.put("catalog/nginx/cm.yaml", crate::git::map("5", "0"));
    folder.commit("main goes on");
    folder.git(&["checkout", "-q", "-b", "drafts/nginx/new"]);
    folder.put("catalog/nginx/cm.yaml", crate::git::map("6", "0"));
    folder.commit("a draft");
    folder.git(&["checkout", "-q", "main"]);
    for (fields, expected) in [
        ("", "5"),
        (", revision: -1", "5"),
        (", revision: '-1', workspaceName: main", "5"),
        (", workspaceName: main", "5"),
        (", revision: -1, workspaceName: edge", "4"),
        (", workspaceName: edge", "4"),
        (", workspaceName: new", "6"),
        (", revision: v4, workspaceName: edge", "4"),
        (", revision: v3, workspaceName: v3", "3"),
        (", revision: 0, workspaceName: edge", "4"),
    ] {
        put_upstream(&fleet, fields);
        fleet.expect(&[], 0, &[]);
        let written = folder.get("fleet/east/a/cm.yaml");
        let line = format!("  a: \"{expected}\" # first\n");
        assert!(written.contains(&line), "{fields}: {written}");
    }
    // The workspace of a tag without a note has its name.
    for (fields, text) in [
        (
            ", revision: v4, workspaceName: other",
            "of the workspace `other`, found one of `edge`",
        ),
        (
            ", revision: v3, workspaceName: edge",
            "expected the revision `v3` of the workspace `edge`, found one of `v3`",
        ),
    ] {
        put_upstream(&fleet, fields);
        fleet.expect(&[], 1, &[text, "(UpstreamNotFound)"]);
    }
}

#[test]
fn latest_is_the_highest_version_in_any_spelling() {
    let fleet = Fleet::new();
    fleet.put("a", "latest", "east/a", "");
    for (tag, from) in [
        ("nginx/v4.0.0-rc.1", "from `nginx/v3`"),
        ("nginx/v4.0.0", "to `nginx/v4.0.0`"),
        ("nginx/v5", "to `nginx/v5`"),
        ("nginx/v5.1.0", "to `nginx/v5.1.0`"),
    ] {
        fleet
            .folder
            .put("catalog/nginx/cm.yaml", crate::git::map(tag, "0"));
        fleet.folder.commit(tag);
        fleet.folder.git(&["tag", tag]);
        fleet.expect(&[], 0, &[from]);
    }
}

/// `<package>/<revision>/`: sorted as versions, not as names.
#[test]
fn revisions_of_a_catalog_that_is_a_directory_are_found_too() {
    let fleet = Fleet::new();
    let add = |revision: &str, data: &str| {
        let place = format!("plain/nginx/{revision}");
        let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: nginx\n";
        fleet.folder.put(&format!("{place}/Kptfile"), kptfile);
        let map = crate::git::map(data, "0");
        fleet.folder.put(&format!("{place}/cm.yaml"), map);
        let notes = format!("{place}/docs/{revision}/notes.txt");
        fleet.folder.put(&notes, revision);
    };
    for (revision, data) in [("v2", "2"), ("v9", "9"), ("v10", "10"), ("draft", "d")] {
        add(revision, data);
    }
    fleet.put("a", "latest", "east/a", "");
    fleet.put("b", "2", "east/b", "");
    fleet.put("c", "draft", "east/c", "");
    let expect = |data: [&str; 3]| {
        let arguments = "--package fleet --variants variants --catalog catalog=plain";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let outcome = fleet.folder.run(render_fleet(), &arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        for (package, data) in ["a", "b", "c"].into_iter().zip(data) {
            let written = fleet.folder.get(&format!("fleet/east/{package}/cm.yaml"));
            let line = format!("  a: \"{data}\" # first\n");
            assert!(written.contains(&line), "{package}: {written}");
        }
    };
    expect(["10", "2", "d"]);
    // A package is made with all folders.
    assert_eq!(fleet.folder.get("fleet/east/a/docs/v10/notes.txt"), "v10");
    add("v11", "11");
    expect(["11", "2", "d"]);
    // Only a number finds `v` and the number.
    add("valpha", "a");
    for (revision, name) in [("3", "v3"), ("alpha", "alpha")] {
        fleet.put("d", revision, "east/d", "");
        let arguments = "--package fleet --variants variants --catalog catalog=plain";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let outcome = fleet.folder.run(render_fleet(), &arguments);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let said = format!("has no revision `{name}`");
        assert!(outcome.stderr.contains(&said), "{}", outcome.stderr);
    }
}

#[test]
fn a_missing_revision_is_an_error_for_its_variants_only() {
    let fleet = Fleet::new();
    fleet.put("a", "v2", "east/a", "");
    fleet.put("b", "v1", "east/b", "");
    fleet.expect(&[], 0, &[]);
    let before = fleet.files();
    fleet.folder.git(&["tag", "--delete", "v2"]);
    fleet.expect(&[], 1, &["has no revision `v2`", "1 failed, 1 unchanged"]);
    assert_eq!(fleet.files(), before);
    fleet.put("c", "v1", "east/c", "");
    fleet.expect(&[], 1, &["1 created, 1 failed, 1 unchanged"]);
}

#[test]
fn garbage_in_a_package_is_an_error_for_its_variant_only() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/a", "");
    fleet.put("b", "v1", "east/b", "");
    fleet.expect(&[], 0, &[]);
    fleet.folder.put("fleet/east/a/cm.yaml", "a: [");
    let before = fleet.folder.get("fleet/east/a/Kptfile");
    fleet.put("a", "v2", "east/a", "");
    fleet.put("b", "v2", "east/b", "");
    fleet.expect(
        &[],
        1,
        &[
            "[error] east/a/cm.yaml: line 1, column 4: unclosed",
            "(InvalidPackage)",
            "1 updated, 1 failed",
        ],
    );
    assert_eq!(fleet.folder.get("fleet/east/a/Kptfile"), before);
    // Without its Kptfile a package is nobody's.
    std::fs::remove_file(fleet.folder.path("fleet/east/b/Kptfile")).expect("a file");
    fleet
        .folder
        .put("fleet/east/a/cm.yaml", crate::git::map("1", "0"));
    fleet.expect(&[], 0, &["(NotAdopted)", "1 updated, 1 unchanged"]);
    fleet.put("b", "v2", "east/b", "  adoptionPolicy: adoptExisting\n");
    fleet.expect(&[], 1, &["(NoOriginal)"]);
}

#[test]
fn invalid_variants_fail_alone() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/a", "  adoptionPolicy: perhaps\n");
    fleet.put("b", "v1", "east/b", "");
    fleet.put("c", "v1", "../c", "");
    fleet.put("d", "v1", "east/d", "  unknown: 1\n");
    fleet
        .folder
        .put("variants/e.yaml", super::variant("b", "v2", "east/e", ""));
    fleet.expect(
        &[],
        1,
        &[
            "spec.adoptionPolicy",
            "(InvalidPath)",
            "spec.unknown",
            "found 2 (Ambiguous)",
            "4 failed",
        ],
    );
    assert_eq!(fleet.files(), []);
}

/// A set `name` for one repository, in this version.
fn set_of(name: &str, version: &str, repository: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/{version}\nkind: PackageVariantSet\nmetadata:\n  name: {name}\nspec:\n  \
         upstream: {{repo: catalog, package: nginx, revision: v1}}\n  targets:\n  - repositories: [{{name: {repository}}}]\n"
    )
}

const EAST: &str =
    "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata:\n  name: east\n";

#[test]
fn an_error_in_a_set_stops_its_variants_and_any_pruning() {
    for (bad, reason) in [
        (set_of("bad", "v1alpha2", "nowhere"), "(RepositoryNotFound)"),
        (set_of("bad", "v1alpha1", "east"), "(UnsupportedVersion)"),
        (
            set_of("bad", "v1alpha2", "east").replace("targets", "target"),
            "spec.target: unknown field `target`",
        ),
    ] {
        let fleet = Fleet::new();
        fleet.put("a", "v1", "east/a", "");
        fleet.put("gone", "v1", "east/gone", "");
        // The bad set owns it.
        fleet.put("own", "v1", "east/own", "");
        let label = "name: own\n  labels: {config.porch.kpt.dev/packagevariantset: bad}\n";
        fleet.edit("variants/own.yaml", "name: own\n", label);
        fleet.expect(&[], 0, &["3 created"]);
        fleet.drop("gone");
        fleet.put("a", "v2", "east/a", "");
        fleet.edit("variants/own.yaml", "v1", "v2");
        fleet.folder.put("variants/bad.yaml", bad);
        let good = set_of("good", "v1alpha2", "east");
        let good = [good, EAST.to_owned()].join("---\n");
        fleet.folder.put("variants/good.yaml", good);
        let before =
            |name: &str| crate::git::files_in(&fleet.folder.path(&format!("fleet/east/{name}")));
        let (gone, own) = (before("gone"), before("own"));
        let outcome = fleet.expect(
            PRUNE,
            1,
            &[
                reason,
                "bad.yaml",
                "2 packages without a PackageVariant left unchanged",
                "1 created, 1 updated",
            ],
        );
        assert!(!outcome.stderr.contains("deleted"), "{}", outcome.stderr);
        assert_eq!((before("gone"), before("own")), (gone, own), "{reason}");
        let made = fleet.folder.get("fleet/east/nginx/Kptfile");
        assert!(made.contains("default/good-east-nginx"), "{made}");
    }
}

#[test]
fn errors_of_sets_name_the_files_of_the_variants() {
    let fleet = Fleet::new();
    fleet.put("s-east-nginx", "v1", "east/nginx", "");
    let set = [&set_of("s", "v1alpha2", "east"), EAST].join("---\n");
    fleet.folder.put("variants/sets/s.yaml", set);
    let error = "[error] sets/s.yaml: PackageVariantSet/s: spec.targets[0].repositories[0]: expected a \
                 PackageVariant `s-east-nginx` that set `s` owns, found one (s-east-nginx.yaml)";
    fleet.expect(&[], 1, &[error]);
}

#[test]
fn objects_next_to_the_variants_are_resources() {
    let fleet = Fleet::new();
    let selector = "repositorySelector: {matchLabels: {tier: edge}}";
    let set = set_of("s", "v1alpha2", "x").replace("repositories: [{name: x}]", selector);
    fleet.folder.put("variants/s.yaml", &set);
    let texts = [
        "found 1 PackageVariantSets that select nothing",
        "--resources",
    ];
    fleet.expect(&[], 1, &texts);
    let labelled = format!("{EAST}  labels: {{tier: edge}}\n");
    fleet
        .folder
        .put("variants/s.yaml", [set, labelled].join("---\n"));
    fleet.expect(&[], 0, &["1 created"]);
}

#[test]
fn conflicts_have_paths_from_the_fleet_and_are_decided_by_rules() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/a", "");
    fleet.put("b", "v1", "east/b", "");
    fleet.expect(&[], 0, &[]);
    for name in ["a", "b"] {
        fleet.edit(
            &format!("fleet/east/{name}/cm.yaml"),
            "a: \"1\"",
            "a: \"mine\"",
        );
        fleet.put(name, "v2", &format!("east/{name}"), "");
    }
    fleet.expect(
        &["--check"],
        3,
        &[
            "east/a/cm.yaml",
            "the same in 1 more place",
            "; 2 conflicts",
        ],
    );
    fleet.expect(
        &["--check", "--verbose"],
        3,
        &["east/a/cm.yaml", "east/b/cm.yaml"],
    );
    fleet.folder.put(
        "config.yaml",
        indoc! {"
            apiVersion: fn.kpt.dev/v1alpha1
            kind: RenderFleet
            metadata: {name: f}
            conflicts:
            - path: data.a
              take: local
        "},
    );
    let outcome = fleet.expect(
        &["--config", "config.yaml", "--exit-conflicts"],
        0,
        &["2 updated"],
    );
    assert!(
        outcome.stderr.ends_with("2 updated, 0 unchanged\n"),
        "{}",
        outcome.stderr
    );
    assert!(
        fleet
            .folder
            .get("fleet/east/a/cm.yaml")
            .contains("a: \"mine\"")
    );
}

#[test]
fn variants_in_a_directory_get_their_status() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/a", "");
    fleet.put("b", "v9", "east/b", "");
    fleet.put("c", "v1", "east/c", "  adoptionPolicy: perhaps\n");
    fleet.expect(&["--status", "--check"], 1, &[]);
    assert!(!fleet.folder.get("variants/a.yaml").contains("status:"));
    fleet.expect(&["--status"], 1, &["1 created, 2 failed"]);
    let ready = fleet.folder.get("variants/a.yaml");
    for text in [
        "type: Stalled\n    status: \"False\"",
        "type: Ready\n    status: \"True\"",
        "reason: NoErrors\n    message: successfully ensured downstream package variant",
    ] {
        assert!(ready.contains(text), "{text}: {ready}");
    }
    for (name, reason) in [("b", "reason: Error"), ("c", "reason: ValidationError")] {
        let text = fleet.folder.get(&format!("variants/{name}.yaml"));
        assert!(
            text.contains("type: Stalled\n    status: \"True\""),
            "{text}"
        );
        assert!(text.contains(reason), "{text}");
    }
    fleet.expect(&["--status"], 1, &["2 failed, 1 unchanged"]);
    assert_eq!(fleet.folder.get("variants/a.yaml"), ready);
}

#[test]
fn variants_in_lists_get_their_status() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/a", "");
    fleet.put("b", "v1", "east/b", "");
    let item = |name: &str, indent: &str| {
        let text = fleet.folder.get(&format!("variants/{name}.yaml"));
        let lines: String = text
            .lines()
            .map(|line| format!("{indent}  {line}\n"))
            .collect();
        lines.replacen(&format!("{indent}  "), &format!("{indent}- "), 1)
    };
    let inner = format!(
        "- apiVersion: v1\n  kind: List\n  items:\n{}",
        item("b", "  ")
    );
    let text = format!(
        "# ours\napiVersion: v1\nkind: List\nitems:\n{}{inner}",
        item("a", "")
    );
    for name in ["a", "b"] {
        fleet.drop(name);
    }
    fleet.folder.put("variants/all.yaml", &text);
    fleet.expect(&["--status"], 0, &["2 created"]);
    let found = fleet.folder.get("variants/all.yaml");
    assert!(
        found.starts_with("# ours\napiVersion: v1\nkind: List\n"),
        "{found}"
    );
    for indent in ["  ", "    "] {
        let status =
            format!("\n{indent}status:\n{indent}  conditions:\n{indent}  - type: Stalled\n");
        assert_eq!(found.matches(&status).count(), 1, "{found}");
    }
    fleet.expect(&["--status"], 0, &["2 unchanged"]);
    assert_eq!(fleet.folder.get("variants/all.yaml"), found);
}

#[test]
fn a_fast_forward_does_not_count_what_the_variant_writes() {
    let more = |key: &str| {
        format!(
            "  labels: {{a: b}}\n  annotations: {{c: d}}\n  packageContext: {{data: {{key: {key}}}}}\n  \
             pipeline: {{mutators: [{{image: example.com/f:v1, name: {key}}}]}}\n"
        )
    };
    let run = ["strategy=fast-forward"];
    let made = |local: &dyn Fn(&Fleet)| {
        let fleet = Fleet::new();
        fleet.put("a", "v1", "east/a", &more("one"));
        fleet.expect(&run, 0, &["1 created"]);
        local(&fleet);
        fleet.put("a", "v2", "east/a", &more("two"));
        fleet
    };
    let fleet = made(&|_| {});
    fleet.expect(&run, 0, &["1 updated"]);
    let text = |path: &str| fleet.folder.get(&format!("fleet/east/a/{path}"));
    assert!(text("cm.yaml").contains("a: \"2\""), "{}", text("cm.yaml"));
    assert!(text("package-context.yaml").contains("key: two"));
    assert!(text("Kptfile").contains("name: PackageVariant.a.two.0"));
    fleet.expect(&run, 0, &["1 unchanged"]);
    for (path, old, new) in [
        ("cm.yaml", "b: \"0\"", "b: \"7\""),
        ("notes.txt", "", "mine\n"),
        ("package-context.yaml", "key: one", "key: one\n  own: x"),
        ("Kptfile", "a: b", "a: b\n    own: x"),
    ] {
        let fleet = made(&|fleet| {
            let path = format!("fleet/east/a/{path}");
            let text = fleet.folder.get(&path);
            fleet.folder.put(&path, text.replacen(old, new, 1));
        });
        let found = format!("[error] east/a/{path}: ");
        fleet.expect(&run, 1, &[&found, "(LocalChanges)", "1 failed"]);
    }
}

#[test]
fn the_status_lists_the_package_revisions_of_the_cluster() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/a", "");
    let revision = |name: &str, owner: &str, lifecycle: &str, fields: &str| {
        format!(
            "apiVersion: porch.kpt.dev/v1alpha2\nkind: PackageRevision\nmetadata:\n  name: east.a.{name}\n  ownerReferences:\n  \
             - {{apiVersion: config.porch.kpt.dev/v1alpha1, kind: PackageVariant, name: {owner}}}\n\
             spec: {{repository: east, packageName: a, workspaceName: {name}, lifecycle: {lifecycle}}}\n{fields}---\n"
        )
    };
    let published = [
        revision("one", "a", "Published", "status: {revision: 9}\n"),
        revision("two", "a", "Published", "status: {revision: 10}\n"),
        revision("three", "b", "Draft", ""),
    ];
    fleet.folder.put("cluster.yaml", published.concat());
    let run = ["--status", "--resources", "cluster.yaml"];
    fleet.expect(&run, 0, &[]);
    let targets = || {
        let text = fleet.folder.get("variants/a.yaml");
        let (_, targets) = text.split_once("downstreamTargets:\n").expect("targets");
        targets.to_owned()
    };
    assert_eq!(targets(), "  - name: east.a.two\n");
    let drafts = [
        revision("four", "a", "Proposed", ""),
        revision("five", "a", "Draft", ""),
    ];
    let all = [drafts.concat(), published.concat()].concat();
    fleet.folder.put("cluster.yaml", all);
    fleet.expect(&run, 0, &[]);
    assert_eq!(targets(), "  - name: east.a.five\n  - name: east.a.four\n");
}

#[test]
fn objects_among_the_items_are_resources_unless_they_are_in_a_package() {
    let fleet = Fleet::new();
    let selector = "repositorySelector: {matchLabels: {tier: edge}}";
    let set = set_of("s", "v1alpha2", "x").replace("repositories: [{name: x}]", selector);
    let labelled = format!("{EAST}  labels: {{tier: edge}}\n");
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: RenderFleet\nmetadata:\n  name: f\n";
    let catalog = fleet.folder.path("catalog");
    let config = format!(
        "{config}catalog: [{{name: catalog, path: '{}'}}]\n",
        catalog.display()
    );
    fleet.folder.put("fleet.yaml", config);
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: x\n";
    for (path, expected) in [("cluster/east.yaml", 0), ("east/other/east.yaml", 1)] {
        let mut list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:".to_owned();
        for (path, text) in [
            ("cluster/s.yaml", set.as_str()),
            (path, &labelled),
            ("east/other/Kptfile", kptfile),
        ] {
            let annotations = format!("  annotations: {{config.kubernetes.io/path: {path}}}\n");
            let text = text.replacen("metadata:\n", &format!("metadata:\n{annotations}"), 1);
            list += &format!("\n- {}", text.trim_end().replace('\n', "\n  "));
        }
        let mut command = assert_cmd::Command::new(super::render_fleet());
        command.current_dir(fleet.folder.path(""));
        let command = command.args(["--config", "fleet.yaml"]);
        let output = command.write_stdin(list + "\n").output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{error}");
    }
}

#[test]
fn a_package_that_another_run_works_on_is_left_to_it() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/a", "");
    fleet.put("b", "v1", "east/b", "");
    fleet.expect(&[], 0, &[]);
    fleet.put("a", "v2", "east/a", "");
    fleet.put("b", "v2", "east/b", "");
    let directory = std::fs::File::open(fleet.folder.path("fleet/east/a")).expect("a folder");
    directory.try_lock().expect("a lock");
    fleet.expect(&[], 1, &["(Locked)", "1 updated, 1 failed"]);
    drop(directory);
    fleet.expect(&[], 0, &["1 updated, 1 unchanged"]);
}

#[test]
fn folders_with_numbers_for_names_stay_in_paths() {
    let fleet = Fleet::new();
    fleet.put("a", "v9", "east/a", "");
    let text = fleet.folder.get("variants/a.yaml");
    fleet.folder.put(
        "variants/2026/11/b.yaml",
        text.replace("name: a\n", "name: b\n"),
    );
    fleet.expect(&[], 1, &["[error] 2026/11/b.yaml: "]);
}

#[test]
fn an_item_in_one_text_with_others_keeps_one_copy_of_its_comments() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "a/app", "");
    fleet.expect(&[], 0, &["1 created"]);
    fleet.put("a", "v2", "a/app", "");
    let mut list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:".to_owned();
    let files = fleet.files().into_iter();
    for (path, bytes) in files.filter(|(path, _)| !path.ends_with(".txt")) {
        let text = String::from_utf8(bytes).expect("UTF-8");
        let annotation = format!("  annotations:\n    config.kubernetes.io/path: {path}\n");
        let text = text.replacen("  annotations:\n", &annotation, 1);
        list += &format!(
            "\n- # of {path}\n  {}",
            text.trim_end().replace('\n', "\n  ")
        );
    }
    // Its last line has no end: no part of it can be cut out.
    let arguments = ["--variants", "variants", "--catalog", "catalog=catalog"];
    let mut command = assert_cmd::Command::new(super::render_fleet());
    command.current_dir(fleet.folder.path("")).args(arguments);
    let output = command.write_stdin(list).output().expect("it runs");
    let list = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        list.contains("updated: `a/app` from `v1` to `v2`"),
        "{list}"
    );
    assert_eq!(list.matches("# of a/app/cm.yaml").count(), 1, "{list}");
}
