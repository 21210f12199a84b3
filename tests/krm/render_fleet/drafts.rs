//! Drafts in downstream repositories, as Porch names them; the real `git` makes and reads the repositories.

use super::Fleet;

pub(super) const V1: &str = "drafts/app/packagevariant-1";
pub(super) const V2: &str = "drafts/app/packagevariant-2";

/// A fleet with a work tree `east` and a bare repository `west`.
pub(super) fn fleet() -> Fleet {
    let fleet = Fleet::new();
    init(&fleet, "fleet/east", &[]);
    init(&fleet, "fleet/west", &["--bare"]);
    commit(&fleet, "README.md", "east\n");
    fleet.folder.put("fleet/east/untracked.txt", "mine\n");
    fleet
}

/// A fleet with the package `app` of the variant `a` as a draft.
pub(super) fn drafted() -> Fleet {
    let fleet = fleet();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["1 created"]);
    fleet
}

fn init(fleet: &Fleet, folder: &str, options: &[&str]) {
    let init = ["init", "--quiet", "--initial-branch=main"];
    fleet
        .folder
        .git_in("", &[&init[..], options, &[folder]].concat());
    identify(fleet, folder);
}

fn identify(fleet: &Fleet, folder: &str) {
    for (key, value) in [("user.name", "Fleet"), ("user.email", "fleet@example.com")] {
        fleet.folder.git_in(folder, &["config", key, value]);
    }
}

pub(super) fn east(fleet: &Fleet, arguments: &[&str]) -> String {
    fleet.folder.git_in("fleet/east", arguments)
}

/// Commits a file in the work tree `east`.
fn commit(fleet: &Fleet, path: &str, text: &str) {
    fleet.folder.put(&format!("fleet/east/{path}"), text);
    east(fleet, &["add", path]);
    east(fleet, &["commit", "--quiet", "--message", path]);
}

/// Edits a file of a branch, and commits that.
pub(super) fn edit(fleet: &Fleet, branch: &str, path: &str, old: &str, new: &str) {
    east(fleet, &["checkout", "--quiet", branch]);
    let text = fleet.folder.get(&format!("fleet/east/{path}"));
    assert!(text.contains(old), "{text}");
    commit(fleet, path, &text.replace(old, new));
    east(fleet, &["checkout", "--quiet", "main"]);
}

/// What a person does who approves a draft without Porch.
pub(super) fn merge(fleet: &Fleet, branch: &str, tag: &str) {
    east(fleet, &["merge", "--quiet", "--no-ff", "--no-edit", branch]);
    east(fleet, &["tag", tag]);
}

pub(super) fn branches(fleet: &Fleet) -> Vec<String> {
    let format = "--format=%(refname:short)";
    let names = east(fleet, &["for-each-ref", format, "refs/heads"]);
    names.lines().map(str::to_owned).collect()
}

pub(super) fn show(fleet: &Fleet, branch: &str, path: &str) -> String {
    east(fleet, &["show", &format!("{branch}:{path}")])
}

pub(super) fn commit_of(fleet: &Fleet, revision: &str) -> String {
    east(fleet, &["rev-parse", revision])
}

fn files(fleet: &Fleet, folder: &str, branch: &str) -> String {
    let list = ["ls-tree", "-r", "--name-only", branch];
    fleet.folder.git_in(folder, &list).replace('\n', " ")
}

#[test]
fn a_package_is_drafted_on_top_of_the_default_branch() {
    let fleet = fleet();
    fleet.put("a", "v1", "east/web/app", "");
    fleet.put("b", "v1", "west/app", "");
    let before = east(&fleet, &["status", "--porcelain"]);
    fleet.expect(
        &["--drafts"],
        0,
        &[
            "created: `east/web/app` from `v1`, as the draft `drafts/web/app/packagevariant-1`",
            "2 created",
        ],
    );
    assert_eq!(east(&fleet, &["status", "--porcelain"]), before);
    let draft = "drafts/web/app/packagevariant-1";
    assert_eq!(
        east(&fleet, &["log", "--format=%an <%ae> %s", draft]),
        "Fleet <fleet@example.com> web/app: created from v1 for default/a\na <a@example.com> README.md"
    );
    assert_eq!(
        files(&fleet, "fleet/east", draft),
        "README.md web/app/Kptfile web/app/cm.yaml web/app/notes.txt web/app/package-context.yaml"
    );
    assert_eq!(
        files(&fleet, "fleet/west", V1),
        "app/Kptfile app/cm.yaml app/notes.txt app/package-context.yaml"
    );
    for repository in ["fleet/east", "fleet/west"] {
        let fsck = ["fsck", "--strict", "--no-dangling"];
        fleet.folder.git_in(repository, &fsck);
    }
    fleet.put("a", "v2", "east/web/app", "");
    fleet.expect(&["--drafts", "--status"], 0, &["1 updated, 1 unchanged"]);
    let status = fleet.folder.get("variants/a.yaml");
    assert!(
        status.contains("downstreamTargets:\n  - name: east.web.app.packagevariant-1"),
        "{status}"
    );
    // A draft that exists is what the package is.
    fleet.expect(&["--drafts"], 0, &["2 variants: 2 unchanged"]);
}

#[test]
fn a_draft_that_is_not_published_is_updated_by_a_commit_on_top() {
    let fleet = drafted();
    let before = commit_of(&fleet, V1);
    fleet.put("a", "v2", "east/app", "");
    let check = ["--drafts", "--check"];
    let expected = format!("updated: `east/app` from `v1` to `v2`, as the draft `{V1}`");
    fleet.expect(&check, 3, &[&expected]);
    assert_eq!(commit_of(&fleet, V1), before);
    fleet.expect(&["--drafts"], 0, &["1 updated"]);
    assert_eq!(commit_of(&fleet, &format!("{V1}~1")), before);
    assert!(show(&fleet, V1, "app/cm.yaml").contains("a: \"2\""));
}

/// Porch finds the workspace and the upstream package revision of a commit by its note.
#[test]
fn a_commit_says_from_which_revision_to_which_and_has_porchs_note() {
    let fleet = drafted();
    let message = |branch: &str| east(&fleet, &["log", "-1", "--format=%B", branch]);
    assert_eq!(
        message(V1),
        "app: created from v1 for default/a\n\n\
         kpt:{\"package\":\"app\",\"revision\":\"0\",\
         \"task\":{\"clone\":{\"upstreamRef\":{\"upstreamRef\":{\"name\":\"catalog.nginx.v1\"}}},\"type\":\"clone\"},\
         \"workspaceName\":\"packagevariant-1\"}"
    );
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["1 updated"]);
    let subject = message(V1);
    assert!(
        subject.starts_with("app: updated from v1 to v2 for default/a\n\nkpt:"),
        "{subject}"
    );
    let labelled = "  pipeline: {mutators: [{image: set-labels, name: labels}]}\n";
    fleet.put("a", "v2", "east/app", labelled);
    fleet.expect(&["--drafts"], 0, &["1 refreshed"]);
    assert!(message(V1).starts_with("app: refreshed at v2 for default/a\n\n"));
}

#[test]
fn a_merged_draft_is_not_open_though_its_branch_remains() {
    for squashes in [false, true] {
        let fleet = drafted();
        if squashes {
            east(&fleet, &["merge", "--quiet", "--squash", V1]);
            east(&fleet, &["commit", "--quiet", "--message", "squashed"]);
            east(&fleet, &["tag", "app/v1"]);
        } else {
            merge(&fleet, V1, "app/v1");
        }
        let merged = commit_of(&fleet, V1);
        edit(&fleet, "main", "app/cm.yaml", "b: \"0\"", "b: \"77\"");
        fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
        fleet.put("a", "v2", "east/app", "");
        fleet.expect(&["--drafts"], 0, &[V2]);
        let upgraded = show(&fleet, V2, "app/cm.yaml");
        assert!(upgraded.contains("a: \"2\""), "{upgraded}");
        assert!(upgraded.contains("b: \"77\""), "{upgraded}");
        assert_eq!(commit_of(&fleet, V1), merged);
        let parent = commit_of(&fleet, &format!("{V2}~1"));
        assert_eq!(parent, commit_of(&fleet, "main"));
    }
}

#[test]
fn the_local_branch_of_a_published_draft_is_deleted_unless_a_person_made_it() {
    let fleet = drafted();
    merge(&fleet, V1, "app/v1");
    east(&fleet, &["branch", "drafts/app/mine", "main"]);
    // Without a remote, no push brings it back.
    fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
    assert_eq!(branches(&fleet), ["drafts/app/mine", V1, "main"]);
    east(&fleet, &["update-ref", "refs/remotes/origin/main", "main"]);
    east(
        &fleet,
        &["update-ref", &format!("refs/remotes/origin/{V1}"), V1],
    );
    fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
    assert_eq!(branches(&fleet), ["drafts/app/mine", V1, "main"]);
    east(
        &fleet,
        &["update-ref", "-d", &format!("refs/remotes/origin/{V1}")],
    );
    fleet.expect(&["--drafts", "--check"], 0, &["1 unchanged"]);
    assert_eq!(branches(&fleet), ["drafts/app/mine", V1, "main"]);
    let deleted = format!("deleted the local branch `{V1}`, which is published");
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 0, &[&deleted, V2]);
    assert_eq!(branches(&fleet), ["drafts/app/mine", V2, "main"]);
}

/// Porch approves a draft by putting its whole package in the place of the published one.
#[test]
fn a_later_published_revision_is_merged_into_an_open_draft() {
    let fleet = fleet();
    fleet.put("a", "v1", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["1 created"]);
    merge(&fleet, V1, "app/v1");
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["1 updated"]);
    let draft = commit_of(&fleet, V2);
    edit(&fleet, "main", "app/cm.yaml", "b: \"0\"", "b: \"77\"");
    commit(&fleet, "other.txt", "another file\n");
    fleet.expect(&["--drafts"], 0, &["refreshed: `east/app`"]);
    let merged = show(&fleet, V2, "app/cm.yaml");
    assert!(merged.contains("a: \"2\""), "{merged}");
    assert!(merged.contains("b: \"77\""), "{merged}");
    let parents = east(&fleet, &["log", "-1", "--format=%P", V2]);
    let main = commit_of(&fleet, "main");
    assert_eq!(parents, format!("{draft} {main}"));
    assert_eq!(show(&fleet, V2, "other.txt"), "another file");
    fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
    // Both changed one field: a conflict is reported once.
    edit(&fleet, V2, "app/cm.yaml", "b: \"77\"", "b: \"5\"");
    edit(&fleet, "main", "app/cm.yaml", "b: \"77\"", "b: \"6\"");
    fleet.expect(&["--drafts"], 0, &["(MergeConflict)", "east/app/cm.yaml"]);
    fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
}

#[test]
fn the_next_workspace_is_one_more_than_the_highest_of_all_revisions() {
    let note = |workspace: &str| {
        format!(
            "approved\n\nkpt:{{\"package\":\"app\",\"workspaceName\":\"{workspace}\",\"revision\":\"1\"}}"
        )
    };
    let approve = |fleet: &Fleet, message: &str| {
        east(fleet, &["merge", "--quiet", "--no-ff", "-m", message, V1]);
        east(fleet, &["tag", "app/v7"]);
        east(fleet, &["branch", "--quiet", "-D", V1]);
    };
    type Change<'c> = &'c dyn Fn(&Fleet);
    let cases: [(&str, Change<'_>); 7] = [
        ("packagevariant-2", &|fleet| approve(fleet, "by hand")),
        ("packagevariant-2", &|fleet| {
            approve(fleet, &note("packagevariant-1"))
        }),
        ("packagevariant-10", &|fleet| {
            approve(fleet, &note("packagevariant-9"))
        }),
        ("packagevariant-2", &|fleet| approve(fleet, &note("main"))),
        ("packagevariant-5", &|fleet| {
            approve(fleet, "by hand");
            east(fleet, &["branch", "proposed/app/packagevariant-4"]);
        }),
        ("packagevariant-4", &|fleet| {
            approve(fleet, "by hand");
            east(fleet, &["branch", "deletionProposed/app/packagevariant-3"]);
        }),
        ("packagevariant-7", &|fleet| {
            approve(fleet, "by hand");
            let remote = "refs/remotes/origin/drafts/app/packagevariant-6";
            east(fleet, &["update-ref", remote, "main"]);
        }),
    ];
    for (expected, change) in cases {
        let fleet = drafted();
        change(&fleet);
        fleet.put("a", "v2", "east/app", "");
        fleet.expect(&["--drafts"], 0, &[&format!("`drafts/app/{expected}`")]);
    }
}

#[test]
fn a_draft_is_on_top_of_the_base_branch_and_not_of_head() {
    let repository = |branch: &str| {
        format!(
            "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata: {{name: east}}\n\
             spec: {{git: {{repo: east.git{branch}}}}}\n"
        )
    };
    for (make, object, base) in [
        // A clone: the default branch of the remote.
        (
            &["remote", "set-head", "origin", "release"][..],
            "",
            "origin/release",
        ),
        (
            &["remote", "set-head", "origin", "--delete"],
            "",
            "origin/main",
        ),
        (
            &["remote", "set-head", "origin", "release"],
            ", branch: prod",
            "origin/prod",
        ),
        (&["remote", "remove", "origin"], "", "main"),
        (&["branch", "--quiet", "local"], ", branch: local", "local"),
    ] {
        let fleet = fleet();
        for (branch, file) in [("release", "release.txt"), ("prod", "prod.txt")] {
            east(&fleet, &["checkout", "--quiet", "-b", branch]);
            commit(&fleet, file, "x\n");
            east(&fleet, &["checkout", "--quiet", "main"]);
        }
        clone_of_east(&fleet);
        east(&fleet, make);
        east(&fleet, &["checkout", "--quiet", "-b", "unfinished"]);
        commit(&fleet, "WIP", "not to be published\n");
        fleet.put("a", "v1", "east/app", "");
        fleet.folder.put("east.yaml", repository(object));
        let resources = ["--drafts", "--resources", "east.yaml"];
        fleet.expect(&resources, 0, &["1 created"]);
        let parent = commit_of(&fleet, &format!("{V1}~1"));
        assert_eq!(parent, commit_of(&fleet, base), "{make:?} {object}");
    }
    let fleet = fleet();
    fleet.put("a", "v1", "east/app", "");
    fleet.folder.put("east.yaml", repository(", branch: gone"));
    let resources = ["--drafts", "--resources", "east.yaml"];
    fleet.expect(&resources, 1, &["`gone`", "spec.git.branch"]);
    for name in ["a", "b", "c"] {
        east(&fleet, &["branch", name]);
    }
    fleet.folder.put("east.yaml", repository(", branch: mian"));
    fleet.expect(&resources, 1, &["`mian`", "the nearest are `main`"]);
}

#[test]
fn a_fleet_that_cannot_be_read_is_not_an_empty_one() {
    let fleet = Fleet::new();
    fleet.put("a", "v1", "east/app", "");
    fleet.folder.put("fleet", "a file\n");
    fleet.expect(&["--drafts"], 2, &["cannot read '", "Not a directory"]);
}

/// A clone of `east` in its place, as in CI.
pub(super) fn clone_of_east(fleet: &Fleet) {
    let mirror = ["clone", "--quiet", "--mirror", "fleet/east", "east.git"];
    fleet.folder.git_in("", &mirror);
    std::fs::remove_dir_all(fleet.folder.path("fleet/east")).expect("removed");
    fleet
        .folder
        .git_in("", &["clone", "--quiet", "east.git", "fleet/east"]);
    identify(fleet, "fleet/east");
}

#[test]
fn a_draft_at_origin_counts_like_a_local_one() {
    let fleet = drafted();
    edit(&fleet, V1, "app/cm.yaml", "b: \"0\"", "b: \"9\"");
    clone_of_east(&fleet);
    fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
    assert_eq!(branches(&fleet), ["main"]);
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["1 updated"]);
    let remote = commit_of(&fleet, &format!("origin/{V1}"));
    assert_eq!(commit_of(&fleet, &format!("{V1}~1")), remote);
    let merged = show(&fleet, V1, "app/cm.yaml");
    assert!(
        merged.contains("a: \"2\"") && merged.contains("b: \"9\""),
        "{merged}"
    );
    // The branch here follows what another clone pushed; what both changed is a user's to merge.
    east(&fleet, &["push", "--quiet", "origin", V1]);
    east(&fleet, &["branch", "--quiet", "--force", V1, &remote]);
    fleet.put("a", "nginx/v3", "east/app", "");
    fleet.expect(&["--drafts"], 0, &["1 updated"]);
    let pushed = commit_of(&fleet, &format!("origin/{V1}"));
    assert_eq!(commit_of(&fleet, &format!("{V1}~1")), pushed);
    let other = east(
        &fleet,
        &["commit-tree", "-p", &remote, "-m", "other", "HEAD^{tree}"],
    );
    let tracking = format!("refs/remotes/origin/{V1}");
    east(&fleet, &["update-ref", &tracking, &other]);
    fleet.expect(&["--drafts"], 1, &["merge them first"]);
}

#[test]
fn a_proposed_revision_stays_as_it_is_and_counts() {
    let fleet = drafted();
    let proposed = "proposed/app/packagevariant-1";
    east(&fleet, &["branch", "--move", V1, proposed]);
    let before = commit_of(&fleet, proposed);
    fleet.expect(&["--drafts", "--status"], 0, &["1 variant: 1 unchanged"]);
    assert!(
        fleet
            .folder
            .get("variants/a.yaml")
            .contains("- name: east.app.packagevariant-1")
    );
    fleet.put("a", "v2", "east/app", "");
    let expected = [
        "`proposed/app/packagevariant-1` waits for approval",
        "is not updated from v1 to v2 (ProposalPending)",
        "1 variant: 1 unchanged",
    ];
    fleet.expect(&["--drafts"], 0, &expected);
    assert_eq!(branches(&fleet), ["main", proposed]);
    assert_eq!(commit_of(&fleet, proposed), before);
}

#[test]
fn a_draft_without_owner_is_adopted_or_left() {
    let fleet = drafted();
    let mine = "drafts/app/my-fix";
    edit(&fleet, V1, "app/cm.yaml", "b: \"0\"", "b: \"33\"");
    let kptfile = show(&fleet, V1, "app/Kptfile");
    let lines = kptfile
        .lines()
        .filter(|line| !line.contains("fn.kpt.dev/") && !line.contains("annotations:"));
    let loose = lines.collect::<Vec<_>>().join("\n") + "\n";
    edit(&fleet, V1, "app/Kptfile", &(kptfile + "\n"), &loose);
    east(&fleet, &["branch", "--move", V1, mine]);
    let before = commit_of(&fleet, mine);
    fleet.expect(
        &["--drafts"],
        0,
        &["`drafts/app/my-fix`", "(NotAdopted)", "1 created"],
    );
    assert_eq!(branches(&fleet), [mine, V1, "main"]);
    assert_eq!(commit_of(&fleet, mine), before);
    east(&fleet, &["branch", "--quiet", "-D", V1]);
    fleet.put("a", "v1", "east/app", "  adoptionPolicy: adoptExisting\n");
    fleet.expect(&["--drafts"], 0, &["adopted: `east/app`"]);
    assert_eq!(branches(&fleet), [mine, "main"]);
    assert_eq!(commit_of(&fleet, &format!("{mine}~1")), before);
    assert!(show(&fleet, mine, "app/cm.yaml").contains("b: \"33\""));
    assert!(show(&fleet, mine, "app/Kptfile").contains("fn.kpt.dev/package-variant: default/a"));
    fleet.expect(&["--drafts"], 0, &["1 variant: 1 unchanged"]);
    // Another one is named in each run.
    east(&fleet, &["branch", "drafts/app/second", &before]);
    let texts = [
        "the branch `drafts/app/second` of the package `east/app` has no owner",
        "the variant continues `drafts/app/my-fix`",
    ];
    fleet.expect(&["--drafts"], 0, &texts);
    fleet.expect(&["--drafts"], 0, &texts);
}

#[test]
fn a_draft_of_a_copied_package_has_no_owner() {
    let fleet = drafted();
    let place = ("downstream: east/app", "downstream: east/web");
    edit(&fleet, V1, "app/Kptfile", place.0, place.1);
    let before = commit_of(&fleet, V1);
    fleet.expect(&["--drafts"], 0, &["(NotAdopted)", "1 created"]);
    assert_eq!(commit_of(&fleet, V1), before);
    assert_eq!(branches(&fleet), [V1, V2, "main"]);
}

#[test]
fn the_directory_of_a_repository_is_in_paths_and_branches_but_not_in_names() {
    let fleet = fleet();
    fleet.put("a", "v1", "east/app", "");
    fleet.folder.put(
        "east.yaml",
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata: {name: east}\n\
         spec: {git: {repo: east.git, directory: /site/}}\n",
    );
    let run = ["--drafts", "--resources", "east.yaml", "--status"];
    fleet.expect(
        &run,
        0,
        &["as the draft `drafts/site/app/packagevariant-1`"],
    );
    let branch = "drafts/site/app/packagevariant-1";
    let found = files(&fleet, "fleet/east", branch);
    assert!(found.contains(" site/app/cm.yaml"), "{found}");
    let note = east(&fleet, &["log", "-1", "--format=%B", branch]);
    assert!(note.contains("\"package\":\"site/app\""), "{note}");
    assert!(
        fleet
            .folder
            .get("variants/a.yaml")
            .contains("- name: east.app.packagevariant-1")
    );
    fleet.expect(&run, 0, &["1 variant: 1 unchanged"]);
}

/// One repository holds many downstream repositories as directories.
#[test]
fn a_folder_of_a_repository_is_a_downstream_repository() {
    for (directory, path) in [
        ("", "clusters/east"),
        ("/clusters/east", "clusters/east"),
        ("site", "clusters/east/site"),
    ] {
        let fleet = Fleet::new();
        init(&fleet, "fleet", &[]);
        let empty = ["commit", "--quiet", "--allow-empty", "-m", "first"];
        fleet.folder.git_in("fleet", &empty);
        fleet.put("a", "v1", "east/app", "");
        fleet.put("b", "v1", "west/app", "");
        fleet.folder.put(
            "east.yaml",
            format!(
                "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata: {{name: east}}\n\
                 spec: {{git: {{repo: mono.git, directory: \"{directory}\"}}}}\n"
            ),
        );
        let run = |more: &[&str]| {
            let first = [
                "--package",
                "fleet/clusters",
                "--drafts",
                "--resources",
                "east.yaml",
            ];
            let inputs = ["--variants", "variants", "--catalog", "catalog=catalog"];
            let all = [&first[..], &inputs, more].concat();
            let outcome = fleet.folder.run(super::render_fleet(), &all);
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            outcome.stderr
        };
        run(&["--status"]);
        let branch = format!("drafts/{path}/app/packagevariant-1");
        let found = files(&fleet, "fleet", &branch);
        assert!(found.starts_with(&format!("{path}/app/Kptfile")), "{found}");
        files(&fleet, "fleet", "drafts/clusters/west/app/packagevariant-1");
        let name = "- name: east.app.packagevariant-1";
        assert!(fleet.folder.get("variants/a.yaml").contains(name));
        assert!(run(&[]).contains("2 variants: 2 unchanged"));
    }
}

#[test]
fn a_branch_that_is_checked_out_is_not_moved() {
    let fleet = drafted();
    east(&fleet, &["checkout", "--quiet", V1]);
    let before = commit_of(&fleet, V1);
    fleet.put("a", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 1, &["it is checked out in", "(NotWritten)"]);
    assert_eq!(commit_of(&fleet, V1), before);
    east(&fleet, &["checkout", "--quiet", "main"]);
    fleet.expect(&["--drafts"], 0, &["1 updated"]);
}

#[test]
fn a_submodule_or_a_link_is_not_replaced_by_a_package() {
    for entry in ["160000,1111111111111111111111111111111111111111,app", ""] {
        let fleet = fleet();
        if entry.is_empty() {
            let link = fleet.folder.path("fleet/east/app");
            std::os::unix::fs::symlink("elsewhere", link).expect("a link");
            east(&fleet, &["add", "app"]);
        } else {
            east(&fleet, &["update-index", "--add", "--cacheinfo", entry]);
        }
        east(&fleet, &["commit", "--quiet", "--message", "app"]);
        fleet.put("a", "v1", "east/app", "");
        fleet.expect(
            &["--drafts"],
            1,
            &["expected a folder `app`", "(NotWritten)"],
        );
        assert_eq!(branches(&fleet), ["main"]);
    }
}

#[test]
fn a_draft_of_another_variant_is_not_continued() {
    let fleet = drafted();
    let before = commit_of(&fleet, V1);
    fleet.drop("a");
    fleet.put("other", "v2", "east/app", "");
    fleet.expect(&["--drafts"], 0, &[V2]);
    assert_eq!(commit_of(&fleet, V1), before);
    merge(&fleet, V1, "app/v1");
    east(&fleet, &["branch", "--quiet", "-D", V2]);
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
    assert_eq!(branches(&fleet), ["main"]);
}
