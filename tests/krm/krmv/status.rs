//! `krmv status` and `krmv diff`.

use super::{SERVICE, World, deployment, hints};
use indoc::indoc;

#[test]
fn status_tries_every_newer_release() {
    let world = World::edited();
    let outcome = world.krmv(&["status"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    for text in [
        "web: v1.0.0, 2 edits",
        "v1.1.0: no conflict, notable\n",
        "v2.0.0: 2 conflicts, dangerous\n",
    ] {
        assert!(outcome.stdout.contains(text), "{text}: {}", outcome.stdout);
    }
    assert_eq!(hints(&outcome.stdout), ["krmv upgrade web v1.1.0"]);
    let json = world.json(&["status"]);
    let package = &json["packages"][0];
    assert_eq!(package["newestWithoutConflict"], "v1.1.0");
    assert_eq!(package["firstWithConflict"], "v2.0.0");
    assert_eq!(package["newer"][1]["conflicts"], 2);
    assert_eq!(package["newer"][1]["risk"], "dangerous");
    assert_eq!(package["newer"][1]["changes"]["dangerous"], 1);
    assert_eq!(package["edits"], 2);
    world.krmv(&["upgrade", "web", "--take", "local"]);
    let outcome = world.krmv(&["status", "web"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("up to date"), "{}", outcome.stdout);
}

/// Each can be a download and a merge.
#[test]
fn only_the_first_and_last_hundred_of_many_newer_releases_are_tried() {
    let world = World::with_package();
    let tags = "for at in $(seq 500); do echo create refs/tags/v1.1.$at v1.1.0; done";
    let outcome = world.shell(&format!(
        "cd ../catalog && ({tags}) | git update-ref --stdin"
    ));
    outcome.assert_code(0);
    let json = world.json(&["status", "web"]);
    let package = &json["packages"][0];
    assert_eq!(package["newer"].as_array().map(Vec::len), Some(200));
    assert_eq!(package["newestWithoutConflict"], "v2.0.0");
    let note = "302 releases from v1.1.100 to v1.1.401 were not tried";
    assert_eq!(package["notes"], serde_json::json!([note]));
}

/// What is known of one release is used for the next ones.
#[test]
fn a_release_is_tried_among_others_as_alone() {
    let world = World::edited();
    let map = |name: &str, value: u8| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: \"{value}\"\n"
        )
    };
    let definition = |name: &str| {
        let start = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: as.e.com\n";
        format!(
            "{start}spec:\n  group: e.com\n  names: {{kind: A}}\n  versions:\n  - name: v1\n    schema:\n      \
             openAPIV3Schema:\n        description: |-\n          One.\n\n          {name}\n"
        )
    };
    for at in 3..9 {
        world.folder.put(
            "catalog/web/map.yaml",
            map("one", at / 3) + "---\n" + &map("two", at),
        );
        world.folder.put(
            "catalog/web/crd.yaml",
            definition(if at < 6 { "Two." } else { "Three." }),
        );
        let template = if at == 5 {
            "a: {{ .Values.a }}\n"
        } else {
            "a: 1\n"
        };
        world.folder.put("catalog/web/template.yaml", template);
        let (image, limit) = (
            format!("app:{}", at / 2),
            if at < 7 { "64Mi" } else { "128Mi" },
        );
        world.release(
            &format!("v{at}.0.0"),
            &deployment(at / 4, &image, limit),
            SERVICE,
        );
    }
    let json = world.json(&["status", "web"]);
    let all = json["packages"][0]["newer"].as_array().expect("a list");
    assert_eq!(all.len(), 8, "{json}");
    let tags = world.folder.git(&["tag"]);
    let commits: Vec<String> = tags
        .lines()
        .map(|tag| world.folder.git(&["rev-parse", tag]))
        .collect();
    for newer in all {
        let revision = newer["revision"].as_str().expect("a name");
        for (tag, commit) in tags.lines().zip(&commits) {
            world
                .folder
                .git(&["update-ref", "-d", &format!("refs/tags/{tag}")]);
            if tag == "v1.0.0" || tag == revision {
                world
                    .folder
                    .git(&["update-ref", &format!("refs/tags/{tag}"), commit]);
            }
        }
        let alone = world.json(&["status", "web"]);
        assert_eq!(
            alone["packages"][0]["newer"],
            serde_json::json!([newer]),
            "{revision}"
        );
    }
}

/// The commits are of different years, and the clock of one was wrong by two months.
#[test]
fn a_lock_is_at_its_own_commit_whatever_is_older() {
    let world = World::with_package();
    let commit = |days: u64, tag: &str| {
        let date = format!("@{} +0000", 1_600_000_000 + days * 86_400);
        let script = format!(
            "cd ../catalog && echo {tag} > web/notes.txt && git add -A && GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@e.com \
             GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@e.com GIT_COMMITTER_DATE='{date}' git commit -qm {tag} && git tag {tag}"
        );
        world.shell(&script).assert_code(0);
    };
    for (days, tag) in [
        (0, "v5.0.0"),
        (400, "v6.0.0"),
        (340, "skewed"),
        (800, "other"),
        (1200, "v6.1.0"),
        (1600, "v7.0.0"),
    ] {
        commit(days, tag);
    }
    // Releases that the lock contains are not newer, whatever their names are.
    world.shell("cd ../catalog && git tag v6.2.0 v6.0.0 && git tag v9.0.0 v5.0.0 && git tag v8.0.0 skewed").assert_code(0);
    world
        .krmv(&["get", "../catalog//web@v6.1.0", "late"])
        .assert_code(0);
    world.commit("late");
    let names = |package: &str| -> Vec<String> {
        let json = world.json(&["status", package]);
        let newer = json["packages"][0]["newer"].as_array().expect("a list");
        newer
            .iter()
            .map(|one| one["revision"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(names("late"), ["v7.0.0"]);
    // A commit between releases.
    let commit = world.folder.git(&["rev-parse", "other"]);
    world
        .krmv(&["get", &format!("../catalog//web@{commit}"), "between"])
        .assert_code(0);
    world.commit("between");
    assert_eq!(names("between"), ["v7.0.0"]);
}

/// As after a merge of two branches.
#[test]
fn a_kptfile_with_conflict_markers_hides_no_other_package() {
    let world = World::with_package();
    world
        .krmv(&["get", "../catalog//web@v1.0.0", "two"])
        .assert_code(0);
    let text = world.read("two/Kptfile") + "<<<<<<< a\n";
    world.write("two/Kptfile", &text);
    let status = world.krmv(&["status"]);
    // A package that could not be looked at goes before a newer release.
    status.assert_code(2);
    assert!(
        status.stdout.contains("\n  'two': Kptfile: line "),
        "{}",
        status.stdout
    );
    assert!(
        status.stdout.contains("web: v1.0.0, no edits\n"),
        "{}",
        status.stdout
    );
    let alone = world.krmv(&["status", "two"]);
    alone.assert_code(2);
    assert!(
        alone.stderr.contains("'two': Kptfile: line "),
        "{}",
        alone.stderr
    );
}

#[test]
fn status_names_the_release_that_changes_a_field() {
    let world = World::with_package();
    let text = world.krmv(&["status", "--bisect", "spec.replicas"]).stdout;
    assert!(
        text.contains("  Deployment/app:spec.replicas changes in v2.0.0\n"),
        "{text}"
    );
    assert_eq!(text.matches(" changes ").count(), 1, "{text}");
    let json = world.json(&["status", "--bisect", "Service/app:*"]);
    let changed = &json["packages"][0]["changed"];
    assert_eq!(changed[0]["field"], "Service/app:spec.type", "{json}");
    assert_eq!(changed.as_array().map(Vec::len), Some(1));
}

#[test]
fn status_names_an_open_upgrade() {
    let world = World::open();
    let outcome = world.krmv(&["status"]);
    assert!(
        outcome.stdout.contains("2 conflicts undecided"),
        "{}",
        outcome.stdout
    );
    assert_eq!(hints(&outcome.stdout), ["krmv resolve web"]);
}

/// A resource is the one that it was upstream, and a copy of it is another.
#[test]
fn diff_pairs_a_renamed_resource_with_the_one_that_it_was() {
    let world = World::with_package();
    let app = world.read("web/app.yaml");
    world.write("web/a-copy.yaml", &app.replace("name: app", "name: copy"));
    let heads = |text: &str| -> Vec<String> {
        let heads = text.lines().filter(|line| line.starts_with("==="));
        heads.map(str::to_owned).collect()
    };
    let text = world.krmv(&["diff", "web"]).stdout;
    assert!(
        heads(&text).contains(&"=== a-copy.yaml: Deployment/copy (added)".to_owned()),
        "{text}"
    );
    assert!(!text.contains("app.yaml: Deployment/app"), "{text}");

    std::fs::remove_file(world.path("web/a-copy.yaml")).expect("a file");
    let renamed = app.replace("  name: app\n", "  name: app\n  namespace: ours\n");
    world.write("web/app.yaml", &renamed);
    let text = world.krmv(&["diff", "web"]).stdout;
    assert!(
        heads(&text).contains(&"=== app.yaml: Deployment/ours/app".to_owned()),
        "{text}"
    );
    assert!(!text.contains("(removed)"), "{text}");
    assert!(text.contains("\n+  namespace: ours\n"), "{text}");
}

#[test]
fn diff_shows_the_edits_and_no_more() {
    let world = World::edited();
    let outcome = world.krmv(&["diff", "web"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let changed: Vec<&str> = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with(['+', '-']))
        .collect();
    assert_eq!(
        changed,
        [
            "-  replicas: 1",
            "+  replicas: 5 # by load",
            "-            memory: 64Mi",
            "+            memory: 256Mi"
        ]
    );
    assert!(
        outcome.stdout.starts_with("=== app.yaml: Deployment/app\n"),
        "{}",
        outcome.stdout
    );
    let stat = world.krmv(&["diff", "web", "--stat"]).stdout;
    assert!(
        stat.contains("+2     -2     app.yaml: Deployment/app"),
        "{stat}"
    );
    world.krmv(&["upgrade", "web"]);
    let open = world.krmv(&["diff", "web"]).stdout;
    assert!(
        open.contains("-  replicas: 2\n+  replicas: 5 # by load"),
        "{open}"
    );
    assert!(!open.contains("app:3\n+"), "{open}");
}

#[test]
fn diff_shows_nothing_that_a_clone_leaves_out() {
    let world = World::new();
    let kptfile = indoc! {"
        apiVersion: kpt.dev/v1
        kind: Kptfile
        metadata:
          name: web
          annotations:
            fn.kpt.dev/package-variant: default/x
            keep: me
        status:
          renderStatus: {a: b}
    "};
    for path in ["web/Kptfile", "web/db/Kptfile"] {
        world.folder.put(&format!("catalog/{path}"), kptfile);
    }
    world.release("v3.1.0", &deployment(1, "app:1", "64Mi"), SERVICE);
    world
        .krmv(&["get", "../catalog//web@v3.1.0"])
        .assert_code(0);
    let diff = world.krmv(&["diff", "web"]);
    assert_eq!(diff.stdout, "", "{}", diff.stderr);
    world.write(
        "web/Kptfile",
        &world.read("web/Kptfile").replace("me", "mine"),
    );
    let diff = world.krmv(&["diff", "web"]).stdout;
    assert!(diff.contains("-    keep: me\n+    keep: mine\n"), "{diff}");
}

#[test]
fn diff_shows_a_line_that_looks_like_a_head() {
    let world = World::with_package();
    world.write("web/own.txt", "++ one\ntwo\n");
    let text = world.krmv(&["diff", "web"]).stdout;
    assert!(text.contains("\n+++ one\n+two\n"), "{text}");
    let stat = world.krmv(&["diff", "web", "--stat"]).stdout;
    assert!(stat.contains("+2     -0     own.txt"), "{stat}");
}

/// A file can hold resources by its name, in any folder.
#[test]
fn diff_shows_the_kptfile_of_a_sub_package_as_a_resource() {
    let world = World::with_package();
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: db\n";
    world.write("web/db/Kptfile", kptfile);
    let text = world.krmv(&["diff", "web"]).stdout;
    assert!(
        text.contains("=== db/Kptfile: Kptfile/db (added)\n"),
        "{text}"
    );
}

#[test]
fn the_upstream_of_a_subpackage_that_upstream_brought_is_named_and_not_contacted() {
    let world = World::new();
    let kptfile = |repo: &str| {
        let git = format!("git: {{repo: '{repo}', directory: /web, ref: v1.0.0");
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: sub}}\nupstream:\n  type: git\n  {git}}}\n\
             upstreamLock:\n  type: git\n  {git}, commit: {}}}\n",
            "1".repeat(40)
        )
    };
    let theirs = "http://127.0.0.1:1/theirs";
    world.folder.put("catalog/web/sub/Kptfile", kptfile(theirs));
    world
        .folder
        .put("catalog/web/sub/deep/Kptfile", kptfile(theirs));
    world.folder.commit("sub");
    world.folder.git(&["tag", "v4.0.0"]);
    world
        .krmv(&["get", "../catalog//web@v4.0.0"])
        .assert_code(0);
    // One that the user added is contacted.
    world.write("web/own/Kptfile", &kptfile("http://127.0.0.1:1/ours"));
    let json = world.json(&["status", "web"]);
    let packages = json["packages"].as_array().expect("packages");
    let of = |path: &str| packages.iter().find(|one| one["path"] == path).expect(path);
    for path in ["web/sub", "web/sub/deep"] {
        assert_eq!(of(path)["notContacted"], theirs, "{json}");
        assert!(of(path)["problem"].is_null(), "{json}");
    }
    assert!(of("web/own")["problem"].is_string(), "{json}");
    let outcome = world.krmv(&["status", "web"]);
    assert!(
        outcome.stdout.contains("not contacted") && outcome.stdout.contains(theirs),
        "{}",
        outcome.stdout
    );
    for arguments in [["status", "web/sub"], ["status", "--all-upstreams"]] {
        let json = world.json(&arguments);
        let packages = json["packages"].as_array().expect("packages");
        let sub = packages
            .iter()
            .find(|one| one["path"] == "web/sub")
            .expect("the subpackage");
        assert!(
            sub["problem"].is_string() && sub["notContacted"].is_null(),
            "{json}"
        );
    }
}

#[test]
fn packages_of_one_upstream_are_shown_together_as_alone() {
    let world = World::edited();
    for (name, revision) in [
        ("plain", "v1.0.0"),
        ("newer", "v1.1.0"),
        ("other", "v1.0.0"),
    ] {
        let source = format!("../catalog//web@{revision}");
        world.krmv(&["get", &source, name]).assert_code(0);
    }
    world.write("other/app.yaml", &deployment(9, "app:1", "200m"));
    world.commit("variants");
    let alone: Vec<_> = ["newer", "other", "plain", "web"]
        .map(|name| world.json(&["status", name])["packages"][0].clone())
        .into();
    assert_eq!(
        world.json(&["status"])["packages"],
        serde_json::json!(alone)
    );
}
