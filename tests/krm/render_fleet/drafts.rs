//! Drafts in downstream repositories, as Porch names them; the real `git` makes and reads the repositories.

use super::Fleet;

/// A fleet with a work tree `east` and a bare repository `west`.
fn fleet() -> Fleet {
    let fleet = Fleet::new();
    let init = ["init", "--quiet", "--initial-branch=main"];
    fleet
        .folder
        .git_in("", &[&init[..], &["fleet/east"]].concat());
    fleet
        .folder
        .git_in("", &[&init[..], &["--bare", "fleet/west"]].concat());
    fleet.folder.put("fleet/east/README.md", "east\n");
    fleet.folder.git_in("fleet/east", &["add", "--all"]);
    fleet
        .folder
        .git_in("fleet/east", &["commit", "--quiet", "--message", "first"]);
    fleet.folder.put("fleet/east/untracked.txt", "mine\n");
    for repository in ["east", "west"] {
        let folder = format!("fleet/{repository}");
        fleet
            .folder
            .git_in(&folder, &["config", "user.name", "Fleet"]);
        fleet
            .folder
            .git_in(&folder, &["config", "user.email", "fleet@example.com"]);
    }
    fleet
}

fn git(fleet: &Fleet, repository: &str, arguments: &[&str]) -> String {
    fleet
        .folder
        .git_in(&format!("fleet/{repository}"), arguments)
}

#[test]
fn a_package_is_drafted_on_top_of_the_default_branch() {
    let fleet = fleet();
    fleet.put("a", "v1", "east/web/app", "");
    fleet.put("b", "v1", "west/app", "");
    let before = git(&fleet, "east", &["status", "--porcelain"]);
    fleet.expect(
        &["--drafts"],
        0,
        &[
            "created: `east/web/app` from `v1`, as the draft `drafts/web/app/packagevariant-1`",
            "2 created",
        ],
    );
    assert_eq!(git(&fleet, "east", &["status", "--porcelain"]), before);
    assert_eq!(
        git(
            &fleet,
            "east",
            &[
                "log",
                "--format=%an <%ae> %s",
                "drafts/web/app/packagevariant-1"
            ]
        ),
        "Fleet <fleet@example.com> web/app: created from v1 for default/a\na <a@example.com> first"
    );
    let files = git(
        &fleet,
        "east",
        &[
            "ls-tree",
            "-r",
            "--name-only",
            "drafts/web/app/packagevariant-1",
        ],
    );
    assert_eq!(
        files,
        "README.md\nweb/app/Kptfile\nweb/app/cm.yaml\nweb/app/notes.txt\nweb/app/package-context.yaml"
    );
    let files = git(
        &fleet,
        "west",
        &[
            "ls-tree",
            "-r",
            "--name-only",
            "drafts/app/packagevariant-1",
        ],
    );
    assert_eq!(
        files,
        "app/Kptfile\napp/cm.yaml\napp/notes.txt\napp/package-context.yaml"
    );
    for repository in ["east", "west"] {
        git(&fleet, repository, &["fsck", "--strict", "--no-dangling"]);
    }
    fleet.put("a", "v2", "east/web/app", "");
    fleet.expect(&["--drafts", "--status"], 0, &["1 updated, 1 unchanged"]);
    let status = fleet.folder.get("variants/a.yaml");
    assert!(
        status.contains("downstreamTargets:\n  - name: east.web.app.packagevariant-1"),
        "{status}"
    );
    // A draft that is there is what the package is.
    fleet.expect(&["--drafts"], 0, &["2 variants: 2 unchanged"]);
}

#[test]
fn a_draft_that_is_not_published_is_updated_by_a_commit_on_top() {
    let fleet = fleet();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["1 created"]);
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(
        &["--drafts", "--check"],
        3,
        &["updated: `east/app` from `v1` to `v2`, as the draft `drafts/app/packagevariant-1`"],
    );
    fleet.expect(&["--drafts"], 0, &["1 updated"]);
    let log = git(
        &fleet,
        "east",
        &["log", "--format=%s", "drafts/app/packagevariant-1"],
    );
    assert_eq!(log.lines().count(), 3, "{log}");
    assert!(
        git(
            &fleet,
            "east",
            &["show", "drafts/app/packagevariant-1:app/cm.yaml"]
        )
        .contains("a: \"2\"")
    );
}

#[test]
fn a_published_package_gets_the_next_number() {
    let fleet = fleet();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&["--drafts"], 0, &[]);
    // What somebody does who approves it.
    git(
        &fleet,
        "east",
        &[
            "merge",
            "--quiet",
            "--ff-only",
            "drafts/app/packagevariant-1",
        ],
    );
    git(
        &fleet,
        "east",
        &[
            "branch",
            "--move",
            "drafts/app/packagevariant-1",
            "proposed/app/packagevariant-4",
        ],
    );
    fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["`drafts/app/packagevariant-5`"]);
    let log = git(
        &fleet,
        "east",
        &["log", "--format=%s", "main..drafts/app/packagevariant-5"],
    );
    assert_eq!(log, "app: updated from v2 for default/a");
    // A draft of another variant is not ours to continue.
    fleet.drop("a");
    fleet.put("other", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 1, &["(OtherOwner)"]);
}

#[test]
fn a_failed_mutation_leaves_no_draft() {
    let fleet = fleet();
    fleet.put("a", "v9", "east/app", "");
    fleet.put("b", "v1", "nowhere/app", "");
    fleet.expect(
        &["--drafts"],
        1,
        &["(UpstreamNotFound)", "(NotWritten)", "2 failed"],
    );
    assert_eq!(git(&fleet, "east", &["branch", "--list", "drafts/*"]), "");
}
