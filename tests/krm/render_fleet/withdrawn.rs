//! Drafts and published packages whose variant no longer exists: withdrawn, proposed for deletion, orphaned.

use super::Fleet;
use super::drafts::{
    V1, V2, branches, clone_of_east, commit_of, drafted, east, edit, fleet, merge, show,
};

const PRUNE: &str =
    "apiVersion: fn.kpt.dev/v1alpha1\nkind: RenderFleet\nmetadata: {name: fleet}\nprune: true\n";

/// The variant `a` no longer exists, and the fleet has another one.
fn without_a(fleet: &Fleet) {
    fleet.drop("a");
    fleet.put("other", "v1", "east/other", "");
    fleet.expect(&["--drafts"], 0, &["1 created"]);
    fleet.folder.put("fleet.yaml", PRUNE);
}

fn pruned(fleet: &Fleet, code: i32, texts: &[&str]) {
    fleet.expect(&["--drafts", "--config", "fleet.yaml"], code, texts);
}

const OTHER: &str = "drafts/other/packagevariant-1";
const V1_DELETION: &str = "deletionProposed/app/v1";

#[test]
fn a_published_package_without_its_variant_is_proposed_for_deletion() {
    let fleet = drafted();
    merge(&fleet, V1, "app/v1");
    edit(&fleet, "main", "app/cm.yaml", "b: \"0\"", "b: \"77\"");
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["1 updated"]);
    merge(&fleet, V2, "app/v2");
    east(&fleet, &["branch", "--quiet", "-D", V1, V2]);
    without_a(&fleet);
    let would = "with `prune: true` it would be proposed for deletion as `deletionProposed/app/v1`, \
                 `deletionProposed/app/v2`";
    fleet.expect(&["--drafts"], 0, &["east/app/Kptfile", would]);
    assert_eq!(branches(&fleet), [OTHER, "main"]);
    let check = ["--drafts", "--config", "fleet.yaml", "--check"];
    fleet.expect(&check, 3, &["proposed for deletion", "1 deleted"]);
    assert_eq!(branches(&fleet), [OTHER, "main"]);
    pruned(
        &fleet,
        0,
        &["proposed for deletion", "1 deleted, 1 unchanged"],
    );
    let second = "deletionProposed/app/v2";
    assert_eq!(branches(&fleet), [V1_DELETION, second, OTHER, "main"]);
    for (branch, tag) in [(V1_DELETION, "app/v1"), (second, "app/v2")] {
        assert_eq!(commit_of(&fleet, branch), commit_of(&fleet, tag));
    }
    pruned(
        &fleet,
        0,
        &[
            "`deletionProposed/app/v1`, waits for approval",
            "1 variant: 1 unchanged",
        ],
    );
    // Porch has the package on the base branch deleted after all of its revisions.
    for revision in ["v1", "v2"] {
        east(
            &fleet,
            &[
                "branch",
                "--quiet",
                "-D",
                &format!("deletionProposed/app/{revision}"),
            ],
        );
        east(&fleet, &["tag", "--delete", &format!("app/{revision}")]);
    }
    pruned(&fleet, 0, &["`deletionProposed/app/main`", "1 deleted"]);
    assert_eq!(
        commit_of(&fleet, "deletionProposed/app/main"),
        commit_of(&fleet, "main")
    );
}

#[test]
fn a_draft_without_its_variant_is_withdrawn() {
    for (branch, published) in [
        (V1, false),
        ("proposed/app/packagevariant-1", false),
        (V2, true),
    ] {
        let fleet = drafted();
        if published {
            merge(&fleet, V1, "app/v1");
            east(&fleet, &["branch", "--quiet", "-D", V1]);
            fleet.put("a", "v2", "east/app", "");
            fleet.expect(&["--drafts"], 0, &["1 updated"]);
        } else if branch != V1 {
            east(&fleet, &["branch", "--move", V1, branch]);
        }
        let commit = commit_of(&fleet, branch);
        without_a(&fleet);
        let named = format!("withdrawn: `{branch}` (at commit {commit})");
        fleet.expect(&["--drafts"], 0, &["prune: true", &named]);
        assert_eq!(commit_of(&fleet, branch), commit);
        pruned(&fleet, 0, &[&named, "1 deleted"]);
        let left = branches(&fleet);
        assert_eq!(
            left.contains(&V1_DELETION.to_owned()),
            published,
            "{left:?}"
        );
        assert!(!left.contains(&branch.to_owned()), "{left:?}");
        pruned(&fleet, 0, &["1 variant: 1 unchanged"]);
    }
}

#[test]
fn a_draft_at_the_remote_without_its_variant_is_named() {
    let fleet = drafted();
    clone_of_east(&fleet);
    without_a(&fleet);
    let push = format!("`git push origin --delete {V1}`");
    pruned(&fleet, 0, &[&push, "1 variant: 1 unchanged"]);
    east(&fleet, &["branch", "--quiet", V1, &format!("origin/{V1}")]);
    pruned(&fleet, 0, &[&push, "1 deleted"]);
    assert_eq!(branches(&fleet), [OTHER, "main"]);
}

#[test]
fn a_persons_draft_stays_when_its_variant_no_longer_exists() {
    let fleet = drafted();
    edit(
        &fleet,
        V1,
        "app/Kptfile",
        "fn.kpt.dev/package-variant: default/a",
        "mine: x",
    );
    without_a(&fleet);
    pruned(&fleet, 0, &["1 variant: 1 unchanged"]);
    assert_eq!(branches(&fleet), [V1, OTHER, "main"]);
}

#[test]
fn an_orphaned_package_loses_its_owner_in_a_draft() {
    let policy = "  deletionPolicy: orphan\n";
    let fleet = fleet();
    fleet.put("a", "v1", "east/app", policy);
    fleet.expect(&["--drafts"], 0, &["1 created"]);
    merge(&fleet, V1, "app/v1");
    without_a(&fleet);
    fleet.expect(
        &["--drafts"],
        0,
        &["east/app/Kptfile", "it would be orphaned"],
    );
    pruned(&fleet, 0, &[&format!("as the draft `{V2}`"), "1 orphaned"]);
    assert_eq!(branches(&fleet), [V1, V2, OTHER, "main"]);
    assert!(!show(&fleet, V2, "app/Kptfile").contains("fn.kpt.dev/"));
    let changed = east(&fleet, &["diff", "--name-only", "main", V2]);
    assert_eq!(changed, "app/Kptfile");
    let subject = east(&fleet, &["log", "-1", "--format=%s", V2]);
    assert_eq!(subject, "app: orphaned for default/a");
    pruned(
        &fleet,
        0,
        &[
            &format!("`{V2}`, which has no owner, waits for approval"),
            "1 unchanged",
        ],
    );
    assert_eq!(branches(&fleet), [V1, V2, OTHER, "main"]);
    merge(&fleet, V2, "app/v2");
    fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
    // The policy of the newest draft decides, not the published one.
    let fleet = drafted();
    merge(&fleet, V1, "app/v1");
    fleet.put("a", "v1", "east/app", policy);
    fleet.expect(&["--drafts"], 0, &["1 refreshed"]);
    without_a(&fleet);
    pruned(&fleet, 0, &[&format!("as the draft `{V2}`"), "1 orphaned"]);
    assert_eq!(branches(&fleet), [V1, V2, OTHER, "main"]);
    // In an open draft, by a commit on top.
    let fleet = self::fleet();
    fleet.put("a", "v1", "east/app", policy);
    fleet.expect(&["--drafts"], 0, &["1 created"]);
    let before = commit_of(&fleet, V1);
    without_a(&fleet);
    pruned(&fleet, 0, &[&format!("as the draft `{V1}`"), "1 orphaned"]);
    assert_eq!(commit_of(&fleet, &format!("{V1}~1")), before);
    pruned(&fleet, 0, &["1 variant: 1 unchanged"]);
}

#[test]
fn more_proposals_of_deletion_than_allowed_are_an_error() {
    let fleet = fleet();
    for name in ["a", "b"] {
        fleet.put(name, "v1", &format!("east/{name}"), "");
    }
    fleet.expect(&["--drafts"], 0, &["2 created"]);
    for name in ["a", "b"] {
        merge(
            &fleet,
            &format!("drafts/{name}/packagevariant-1"),
            &format!("{name}/v1"),
        );
        east(
            &fleet,
            &[
                "branch",
                "--quiet",
                "-D",
                &format!("drafts/{name}/packagevariant-1"),
            ],
        );
    }
    without_a(&fleet);
    fleet.drop("b");
    let before = branches(&fleet);
    pruned(
        &fleet,
        1,
        &["2 of 3 packages would be deleted", "(TooManyDeletions)"],
    );
    assert_eq!(branches(&fleet), before);
    fleet
        .folder
        .put("fleet.yaml", format!("{PRUNE}maxDeletions: 2\n"));
    pruned(&fleet, 0, &["2 deleted"]);
    // What waits for approval is not proposed again.
    fleet
        .folder
        .put("fleet.yaml", format!("{PRUNE}maxDeletions: 0\n"));
    pruned(&fleet, 0, &["1 variant: 1 unchanged"]);
}

#[test]
fn a_variant_that_needs_its_package_again_withdraws_the_proposal() {
    let fleet = drafted();
    merge(&fleet, V1, "app/v1");
    east(&fleet, &["branch", "--quiet", "-D", V1]);
    without_a(&fleet);
    pruned(&fleet, 0, &["1 deleted"]);
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&["--drafts", "--check"], 3, &["is withdrawn"]);
    assert_eq!(branches(&fleet), [V1_DELETION, OTHER, "main"]);
    pruned(
        &fleet,
        0,
        &[
            "`deletionProposed/app/v1` is withdrawn",
            "1 refreshed, 1 unchanged",
        ],
    );
    assert_eq!(branches(&fleet), [OTHER, "main"]);
    pruned(&fleet, 0, &["2 variants: 2 unchanged"]);
}

#[test]
fn a_variant_that_moves_leaves_its_old_place_to_prune() {
    let fleet = drafted();
    merge(&fleet, V1, "app/v1");
    east(&fleet, &["branch", "--quiet", "-D", V1]);
    fleet.folder.put("fleet.yaml", PRUNE);
    // Where it fails at the new place, the old package stays.
    fleet.put("a", "v9", "east/moved", "");
    pruned(
        &fleet,
        1,
        &[
            "kept: its PackageVariant `default/a` now targets another package",
            "1 failed",
        ],
    );
    fleet.put("a", "v1", "east/moved", "");
    pruned(&fleet, 0, &["1 created, 1 deleted"]);
    assert_eq!(
        branches(&fleet),
        [V1_DELETION, "drafts/moved/packagevariant-1", "main"]
    );
}

/// With the same time the same commits come out.
#[test]
fn shards_draft_and_propose_the_same_as_one_run() {
    let make = || {
        let fleet = fleet();
        let url = ["config", "remote.origin.url", "https://example.com/catalog"];
        fleet.folder.git(&url);
        for name in ["a", "b", "c", "d", "e"] {
            fleet.put(name, "v1", &format!("east/{name}"), "");
        }
        fleet.expect(&["--drafts"], 0, &["5 created"]);
        for name in ["a", "b"] {
            merge(
                &fleet,
                &format!("drafts/{name}/packagevariant-1"),
                &format!("{name}/v1"),
            );
            fleet.drop(name);
        }
        fleet.put("c", "v2", "east/c", "");
        fleet.put("f", "v1", "east/f", "");
        fleet
            .folder
            .put("fleet.yaml", format!("{PRUNE}maxDeletions: 2\n"));
        fleet
    };
    let whole = make();
    pruned(&whole, 0, &["1 created, 1 updated, 2 deleted, 2 unchanged"]);
    let shared = make();
    for shard in ["2/3", "0/3", "1/3", "0/3"] {
        let arguments = ["--drafts", "--config", "fleet.yaml", "--shard", shard];
        shared.expect(&arguments, 0, &[]);
    }
    let references = |fleet: &Fleet| east(fleet, &["for-each-ref", "refs/heads"]);
    assert_eq!(references(&shared), references(&whole));
}
