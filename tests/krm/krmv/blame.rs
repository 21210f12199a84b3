//! `krmv blame`.

use super::{World, hints};
use indoc::indoc;

/// Who set a field: a release, the summary of a commit, or nothing for what is not committed.
fn setter(world: &World, file: &str, field: &str) -> String {
    let json = world.json(&["blame", file, field]);
    let field = &json["fields"][0];
    let text = |name: &str| field[name].as_str().unwrap_or_default().to_owned();
    match text("by").as_str() {
        "upstream" => format!("upstream {}", text("revision")),
        _ => format!("local {}", text("summary")),
    }
}

const IMAGE: &str = "spec.template.spec.containers[0].image";
const MEMORY: &str = "spec.template.spec.containers[name=app].resources.limits.memory";

#[test]
fn each_field_has_the_release_or_the_commit_that_set_it() {
    let world = World::edited();
    world.krmv(&["upgrade", "web", "v1.1.0"]).assert_code(0);
    world.commit("upgrade one");
    world
        .krmv(&["upgrade", "web", "--take", "local"])
        .assert_code(0);
    world.commit("upgrade two");
    for (file, field, expected) in [
        ("web/app.yaml", "kind", "upstream v1.0.0"),
        ("web/app.yaml", "spec.replicas", "local edits"),
        ("web/app.yaml", MEMORY, "local edits"),
        ("web/app.yaml", IMAGE, "upstream v2.0.0"),
        ("web/service.yaml", "metadata.name", "upstream v1.0.0"),
        ("web/service.yaml", "spec.type", "upstream v2.0.0"),
    ] {
        assert_eq!(setter(&world, file, field), expected, "{file} {field}");
    }
    let text = world
        .krmv(&["blame", "web/app.yaml", "spec.replicas"])
        .stdout;
    assert!(
        text.starts_with("Deployment/app\n  spec.replicas: a on "),
        "{text}"
    );
}

#[test]
fn an_upgrade_over_several_releases_names_the_one_that_brought_a_value() {
    let world = World::with_package();
    world.release(
        "v2.1.0",
        &super::deployment(2, "app:4", "128Mi"),
        super::SERVICE,
    );
    world.krmv(&["upgrade", "web", "v2.1.0"]).assert_code(0);
    world.commit("upgrade");
    assert_eq!(
        setter(&world, "web/app.yaml", "spec.replicas"),
        "upstream v2.0.0"
    );
    assert_eq!(setter(&world, "web/app.yaml", IMAGE), "upstream v2.1.0");
}

/// An element that was put before others leaves them to who set them.
#[test]
fn elements_without_names_are_followed_through_their_list() {
    let world = World::with_package();
    let with = |tolerations: &str| {
        let text = super::deployment(1, "app:1", "64Mi");
        text.replace(
            "      containers:\n",
            &format!("      tolerations:\n{tolerations}      containers:\n"),
        )
    };
    let (one, two) = (
        "      - {key: one, operator: Exists}\n",
        "      - {key: two, operator: Exists}\n",
    );
    world.release("v3.0.0", &with(&format!("{one}{two}")), super::SERVICE);
    world.krmv(&["upgrade", "web", "v3.0.0"]).assert_code(0);
    world.commit("upgrade");
    let text = world.read("web/app.yaml");
    let own = "      - {key: own, operator: Exists}\n";
    world.write("web/app.yaml", &text.replace(one, &format!("{own}{one}")));
    world.commit("our own");
    let text = world.read("web/app.yaml");
    world.write("web/app.yaml", &text.replace("key: two", "key: other"));
    world.commit("another key");
    for (field, expected) in [
        ("tolerations[0].key", "local our own"),
        ("tolerations[0].operator", "local our own"),
        ("tolerations[1].key", "upstream v3.0.0"),
        ("tolerations[1].operator", "upstream v3.0.0"),
        ("tolerations[2].key", "local another key"),
        // A merge takes a toleration with another key for another one.
        ("tolerations[2].operator", "local another key"),
    ] {
        let field = format!("spec.template.spec.{field}");
        assert_eq!(setter(&world, "web/app.yaml", &field), expected, "{field}");
    }
}

#[test]
fn moved_files_and_renamed_resources_do_not_end_the_trail() {
    let world = World::edited();
    world
        .folder
        .git_in("own", &["mv", "web/app.yaml", "web/moved.yaml"]);
    world.commit("move");
    let text = world.read("web/moved.yaml");
    world.write(
        "web/moved.yaml",
        &text.replacen("name: app\n", "name: shop\n", 1),
    );
    world.commit("rename");
    let file = "web/moved.yaml";
    assert_eq!(setter(&world, file, "metadata.name"), "local rename");
    assert_eq!(setter(&world, file, "spec.replicas"), "local edits");
    assert_eq!(setter(&world, file, IMAGE), "upstream v1.0.0");
}

#[test]
fn an_upstream_directory_that_moved_does_not_end_the_trail() {
    let world = World::edited();
    world.move_to_shop(&super::deployment(2, "app:4", "128Mi"));
    world
        .krmv(&["upgrade", "web", "v4.0.0", "--take", "local"])
        .assert_code(0);
    world.commit("upgrade");
    for (file, field, expected) in [
        ("web/app.yaml", "kind", "upstream v1.0.0"),
        ("web/app.yaml", "spec.replicas", "local edits"),
        ("web/app.yaml", IMAGE, "upstream v4.0.0"),
        ("web/service.yaml", "spec.type", "upstream v2.0.0"),
    ] {
        assert_eq!(setter(&world, file, field), expected, "{file} {field}");
    }
}

#[test]
fn uncommitted_changes_are_yours() {
    let world = World::edited();
    let text = world.read("web/app.yaml");
    world.write("web/app.yaml", &text.replace("app:1", "own:1"));
    assert_eq!(setter(&world, "web/app.yaml", IMAGE), "local ");
    assert_eq!(
        setter(&world, "web/app.yaml", "spec.replicas"),
        "local edits"
    );
}

/// A flag of a field.
fn flag(world: &World, file: &str, field: &str, name: &str) -> bool {
    world.json(&["blame", file, field])["fields"][0][name] == true
}

#[test]
fn injected_values_are_injected_and_later_edits_are_not() {
    let world = World::with_package();
    let secret = indoc! {"
        apiVersion: v1
        kind: Secret
        metadata:
          name: key
          annotations:
            kpt.dev/config-injection: required
        data:
          password: aHVzaA==
          user: bWU=
    "};
    world.write("web/secret.yaml", secret);
    world.commit("a point that nothing was injected into");
    assert!(!flag(
        &world,
        "web/secret.yaml",
        "data.password",
        "injected"
    ));
    let name = "required\n    kpt.dev/injected-resource-name: keys\n";
    let injected = secret
        .replace("required\n", name)
        .replace("aHVzaA==", "aHVzaDI=")
        .replace("bWU=", "eW91");
    world.write("web/secret.yaml", &injected);
    world.commit("inject");
    let outcome = world.krmv(&["blame", "web/secret.yaml"]);
    outcome.assert_code(0);
    assert!(
        outcome.stdout.contains("(injected from keys)"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains("aHVz"), "{}", outcome.stdout);
    world.write("web/secret.yaml", &injected.replace("eW91", "bm8="));
    world.commit("by hand");
    assert!(flag(&world, "web/secret.yaml", "data.password", "injected"));
    assert!(!flag(&world, "web/secret.yaml", "data.user", "injected"));
    assert!(!flag(
        &world,
        "web/secret.yaml",
        "metadata.name",
        "injected"
    ));
}

#[test]
fn a_rule_counts_where_it_decided_a_conflict() {
    let world = World::edited();
    let rules = indoc! {r#"
        apiVersion: fn.kpt.dev/v1alpha1
        kind: ConflictRules
        metadata:
          name: krmv
          annotations:
            config.kubernetes.io/local-config: "true"
        conflicts:
        - path: spec.replicas
          take: local
        - path: 'spec.template.spec.containers[*].resources.limits.memory'
          take: upstream
        - path: '*image'
          take: local
    "#};
    world.write("web/.krmv.yaml", rules);
    world.commit("rules");
    let file = "web/app.yaml";
    let rule = |field| flag(&world, file, field, "rule");
    assert!(!rule("spec.replicas") && !rule(MEMORY));
    world.krmv(&["upgrade", "web", "v2.0.0"]).assert_code(0);
    assert!(rule("spec.replicas") && rule(MEMORY), "before a commit");
    world.commit("upgrade");
    assert!(rule("spec.replicas") && rule(MEMORY));
    assert_eq!(setter(&world, file, "spec.replicas"), "local edits");
    assert_eq!(setter(&world, file, MEMORY), "upstream v2.0.0");
    // No conflict, so that no rule was asked.
    assert!(!rule(IMAGE));
    let text = world.read(file).replace("replicas: 5", "replicas: 7");
    world.write(file, &text);
    assert!(!rule("spec.replicas"), "the value came after the decision");
}

#[test]
fn a_function_of_a_variant_is_one_in_the_pipeline() {
    let world = World::with_package();
    let text = world.read("web/Kptfile");
    let pipeline = indoc! {"
        pipeline:
          mutators:
          - name: PackageVariant.east..0
            image: set-labels:v1
          - name: own
            image: set-labels:v1
    "};
    world.write("web/Kptfile", &format!("{text}{pipeline}"));
    world.write(
        "web/list.yaml",
        indoc! {"
        apiVersion: v1
        kind: Thing
        metadata:
          name: x
        spec:
        - name: PackageVariant.east..0
    "},
    );
    world.commit("pipeline");
    let variant = |file, field| flag(&world, file, field, "variant");
    assert!(variant("web/Kptfile", "pipeline.mutators[0].image"));
    assert!(!variant("web/Kptfile", "pipeline.mutators[1].image"));
    assert!(!variant("web/list.yaml", "spec[0].name"));
}

#[test]
fn names_are_shown_in_any_encoding_of_git() {
    let world = World::edited();
    let encoding = ["config", "i18n.logOutputEncoding", "ISO-8859-1"];
    world.folder.git_in("own", &encoding);
    let own = world
        .read("web/app.yaml")
        .replace("replicas: 5", "replicas: 6");
    world.write("web/app.yaml", &own);
    world.commit("größer");
    assert_eq!(
        setter(&world, "web/app.yaml", "spec.replicas"),
        "local größer"
    );
}

#[test]
fn signatures_in_the_log_are_not_read_as_commits() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::with_package();
    let gpg = world.folder.path("gpg");
    let script = "#!/bin/sh\ncat > /dev/null\nprintf '\\n[GNUPG:] SIG_CREATED \\ngpg: signature\\n' >&2\n\
                  echo '-----BEGIN PGP SIGNATURE-----'\n";
    std::fs::write(&gpg, script).expect("a file");
    std::fs::set_permissions(&gpg, PermissionsExt::from_mode(0o755)).expect("a mode");
    for (key, value) in [
        ("gpg.program", gpg.to_str().expect("UTF-8")),
        ("commit.gpgSign", "true"),
        ("log.showSignature", "true"),
    ] {
        world.folder.git_in("own", &["config", key, value]);
    }
    world.edit_app();
    let log = world.folder.git_in("own", &["log", "-1", "--format=%s"]);
    assert_ne!(log, "edits", "Git shows the signature");
    assert_eq!(
        setter(&world, "web/app.yaml", "spec.replicas"),
        "local edits"
    );
    world.krmv(&["upgrade", "web", "v2.0.0"]).assert_code(1);
    world.commit("open");
    world.krmv(&["upgrade", "web", "--abort"]).assert_code(0);
}

/// An edit on one branch while an upgrade was open on another.
#[test]
fn a_merge_of_branches_does_not_end_the_trail() {
    let world = World::with_package();
    let git = |arguments: &[&str]| world.folder.git_in("own", arguments);
    git(&["checkout", "--quiet", "-b", "up"]);
    world.krmv(&["upgrade", "web", "v1.1.0"]).assert_code(0);
    world.commit("upgrade");
    git(&["checkout", "--quiet", "main"]);
    let own = world.read("web/app.yaml");
    world.write("web/app.yaml", &own.replace("replicas: 1", "replicas: 5"));
    world.commit("scale");
    git(&["merge", "--quiet", "--no-ff", "-m", "merge", "up"]);
    for (field, expected) in [
        ("spec.replicas", "local scale"),
        (IMAGE, "upstream v1.1.0"),
        (MEMORY, "upstream v1.0.0"),
    ] {
        assert_eq!(setter(&world, "web/app.yaml", field), expected, "{field}");
    }
}

#[test]
fn a_package_that_moved_does_not_end_the_trail() {
    let world = World::edited();
    std::fs::create_dir(world.path("apps")).expect("a folder");
    world.folder.git_in("own", &["mv", "web", "apps/shop"]);
    world.commit("move");
    for (field, expected) in [("spec.replicas", "local edits"), (IMAGE, "upstream v1.0.0")] {
        let found = setter(&world, "apps/shop/app.yaml", field);
        assert_eq!(found, expected, "{field}");
    }
}

#[test]
fn a_revision_that_cannot_be_read_is_named() {
    let world = World::with_package();
    let locked = world.commit_of("v1.0.0");
    assert_eq!(world.krmv(&["blame", "web/app.yaml"]).stderr, "");
    let kptfile = world.read("web/Kptfile");
    world.write("web/Kptfile", &kptfile.replace(&locked, &"1".repeat(40)));
    let amend = ["commit", "--quiet", "--all", "--amend", "--no-edit"];
    world.folder.git_in("own", &amend);
    let outcome = world.krmv(&["blame", "web/app.yaml"]);
    outcome.assert_code(0);
    let expected = "warning: cannot read v1.0.0 of ";
    assert!(outcome.stderr.starts_with(expected), "{}", outcome.stderr);
}

#[test]
fn a_clone_with_a_filter_lacks_older_files() {
    let world = World::edited();
    // The version between the two exists only here.
    let text = world.read("web/app.yaml").replace("256Mi", "512Mi");
    world.write("web/app.yaml", &text);
    world.commit("more memory");
    let config = ["config", "uploadpack.allowFilter", "true"];
    world.folder.git_in("own", &config);
    let url = format!("file://{}", world.path("").display());
    let clone = ["clone", "--quiet", "--filter=blob:none", &url, "part"];
    world.folder.git_in("", &clone);
    let blamed = world.krmv_in("part", &["blame", "web/app.yaml"]);
    blamed.assert_code(0);
    let expected = "is missing; a clone with `--filter`";
    assert!(blamed.stderr.contains(expected), "{}", blamed.stderr);
    assert_eq!(blamed.stderr.lines().count(), 1, "{}", blamed.stderr);
}

#[test]
fn blame_names_missing_files_and_fields() {
    let world = World::with_package();
    let outcome = world.krmv(&["blame", "web"]);
    outcome.assert_code(2);
    assert!(outcome.stderr.contains("'web' is a directory"));
    assert_eq!(hints(&outcome.stderr), ["krmv blame web/app.yaml"]);
    let outcome = world.krmv(&["blame", "web/none.yaml"]);
    outcome.assert_code(2);
    assert_eq!(hints(&outcome.stderr), ["ls web"]);
    let outcome = world.krmv(&["blame", "web/app.yaml", "spec.none"]);
    outcome.assert_code(2);
    assert_eq!(hints(&outcome.stderr), ["krmv blame web/app.yaml"]);
}

/// A `values.yaml` is followed like a resource, also where it was renamed.
#[test]
fn a_file_without_resources_is_blamed_field_by_field() {
    let world = World::new();
    let folder = &world.folder;
    folder.put("catalog/web/values.yaml", "a: 1\nb: 1\nc:\n  d: 1\n");
    folder.commit("values");
    folder.git(&["tag", "v5.0.0"]);
    folder.put("catalog/web/values.yaml", "a: 1\nb: 2\nc:\n  d: 1\n");
    folder.commit("values");
    folder.git(&["tag", "v6.0.0"]);
    world
        .krmv(&["get", "../catalog//web@v6.0.0"])
        .assert_code(0);
    world.commit("get");
    let text = world.read("web/values.yaml").replace("a: 1", "a: 3");
    world.write("web/values.yaml", &text);
    world.commit("mine");
    let own = world.path("web");
    std::fs::rename(own.join("values.yaml"), own.join("site.yaml")).expect("a rename");
    world.commit("rename");
    let outcome = world.krmv(&["blame", "web/site.yaml"]);
    outcome.assert_code(0);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[0], "site.yaml", "{}", outcome.stdout);
    assert!(
        lines[1].starts_with("  a: ") && lines[1].ends_with(": mine"),
        "{}",
        outcome.stdout
    );
    assert_eq!(
        lines[2..],
        ["  b: upstream v6.0.0", "  c.d: upstream v5.0.0"]
    );
    world.write("web/notes.txt", "one text\n");
    let outcome = world.krmv(&["blame", "web/notes.txt"]);
    assert_eq!(
        outcome.stdout,
        "notes.txt\n  the whole text: you, not committed\n"
    );
}
