//! Conflicts decided by rules: the examples of the README, and what is no rule.

use expect_test::expect_file;
use indoc::indoc;
use std::fs;
use std::path::Path;
use std::process::Command;

use krm_core::results::Severity;
use proptest::prelude::*;

use super::*;

const README: &str = "functions/merge-package/README.md";

fn deployment(tier: &str, replicas: u32, image: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels:\n    tier: {tier}\nspec:\n  replicas: {replicas}\n  template:\n    spec:\n      containers:\n      - name: app\n        image: {image}\n"
    )
}

/// The package of the README's table.
fn versions() -> [Vec<(&'static str, String)>; 3] {
    let cache = |size: &str| map("cache", &format!("{{size: {size}}}"));
    [
        vec![
            ("cache.yaml", cache("small")),
            ("web.yaml", deployment("front", 1, "app:1")),
            ("NOTES.md", "1\n".to_owned()),
        ],
        vec![
            ("cache.yaml", cache("large")),
            ("web.yaml", deployment("edge", 5, "app:1-fips")),
            ("NOTES.md", "2\n".to_owned()),
        ],
        vec![
            ("web.yaml", deployment("web", 3, "app:2")),
            ("NOTES.md", "3\n".to_owned()),
        ],
    ]
}

fn run(fields: &str) -> (Files, Vec<String>) {
    let versions = versions();
    let borrowed = versions.each_ref().map(|files| {
        let files = files.iter().map(|(path, text)| (*path, text.as_str()));
        files.collect::<Vec<_>>()
    });
    merge_files([&borrowed[0], &borrowed[1], &borrowed[2]], fields)
}

/// Each block of rules in the README gives the results below it; `UPDATE_EXPECT=1` writes them.
#[test]
fn the_examples_of_the_readme() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(README);
    let readme = std::fs::read_to_string(&file).expect("the README");
    let mut written = String::new();
    let mut rest = readme.as_str();
    let mut count = 0;
    while let Some((before, behind)) = rest.split_once("```yaml\nconflicts:\n") {
        let (rules, behind) = behind.split_once("```\n").expect("the end of the rules");
        let (between, behind) = behind.split_once("```text\n").expect("results");
        let (_, behind) = behind.split_once("```\n").expect("the end of the results");
        let (_, said) = run(&format!("conflicts:\n{rules}"));
        let found: String = said.iter().map(|line| format!("{line}\n")).collect();
        written +=
            &format!("{before}```yaml\nconflicts:\n{rules}```\n{between}```text\n{found}```\n");
        rest = behind;
        count += 1;
    }
    assert!(count >= 5, "{count} examples");
    expect_file![file].assert_eq(&(written + rest));
}

/// In all three kinds of conflict.
#[test]
fn a_rule_decides_about_fields_resources_and_files() {
    let (files, said) = run("conflicts: [{take: upstream}]\n");
    assert_eq!(keys(&files), ["NOTES.md", "web.yaml"], "{said:?}");
    assert_eq!(files["web.yaml"], deployment("web", 3, "app:2"));
    assert_eq!(files["NOTES.md"], "3\n");
    assert!(
        said[..5].iter().all(|line| line.starts_with("[info]")),
        "{said:?}"
    );
    let (files, said) = run("conflicts: [{take: local}]\nonConflict: error\n");
    assert_eq!(keys(&files), ["NOTES.md", "cache.yaml", "web.yaml"]);
    assert_eq!(files["web.yaml"], deployment("edge", 5, "app:1-fips"));
    assert!(
        said[..5].iter().all(|line| line.starts_with("[info]")),
        "{said:?}"
    );
    assert!(
        said[5].contains("0 conflicts, 5 decided by rules"),
        "{said:?}"
    );
    // An error for these alone.
    let (files, said) = run("conflicts: [{path: spec.replicas, take: error}]\n");
    assert_eq!(files["web.yaml"], deployment("edge", 5, "app:1-fips"));
    let errors: Vec<_> = said
        .iter()
        .filter(|line| line.starts_with("[error]"))
        .collect();
    assert_eq!(errors.len(), 1, "{said:?}");
    assert!(
        said.iter().any(|line| line.contains("not merged: ")),
        "{said:?}"
    );
}

#[test]
fn deleted_locally_and_taken_from_upstream() {
    let (a, b) = (map("a", "{x: a}"), map("b", "{x: b}"));
    let changed = map("b", "{x: c}");
    let sources: [&[(&str, &str)]; 3] = [
        &[("a.yaml", &a), ("b.yaml", &b)],
        &[("a.yaml", &a)],
        &[("a.yaml", &a), ("b.yaml", &changed)],
    ];
    let (files, said) = merge_files(
        sources,
        "conflicts: [{target: {name: b*}, take: upstream}]\n",
    );
    assert_eq!(files["b.yaml"], changed, "{said:?}");
    assert!(said[0].starts_with("[info]"), "{said:?}");
    let (files, said) = merge_files(
        sources,
        "conflicts: [{target: {name: a*}, take: upstream}]\n",
    );
    assert!(!files.contains_key("b.yaml"));
    assert!(said[0].ends_with("(StaysDeleted)"), "{said:?}");
    let (_, said) = merge_files(sources, "conflicts: [{target: {name: b*}, take: error}]\n");
    assert!(said[0].starts_with("[error]"), "{said:?}");
}

/// Whoever wins, and without an error.
#[test]
fn a_deletion_is_a_decision_and_not_a_conflict() {
    let (keep, old, new) = (
        map("keep", "{x: a}"),
        map("gone", "{x: a}"),
        map("gone", "{x: b}"),
    );
    let sources: [&[(&str, &str)]; 3] = [
        &[("keep.yaml", &keep), ("gone.yaml", &old), ("n.txt", "1\n")],
        &[("keep.yaml", &keep)],
        &[("keep.yaml", &keep), ("gone.yaml", &new), ("n.txt", "2\n")],
    ];
    for winner in ["upstream", "local", "error"] {
        let (files, said) = merge_files(sources, &format!("onConflict: {winner}\n"));
        assert_eq!(keys(&files), ["keep.yaml"], "{winner}");
        let expected = [
            "[info] gone.yaml: ConfigMap/gone: local deleted the resource, and upstream changed it: it stays deleted (StaysDeleted)",
            "[info] n.txt: local deleted the file, and upstream changed it: it stays deleted (StaysDeleted)",
        ];
        assert_eq!(said, expected, "{winner}");
    }
    let (files, said) = merge_files(sources, "conflicts: [{take: upstream}]\n");
    assert_eq!(keys(&files), ["gone.yaml", "keep.yaml", "n.txt"]);
    assert_eq!(conflicts(&said).len(), 2, "{said:?}");
}

#[test]
fn results_name_the_rule() {
    let config = "conflicts:\n- {target: {kind: Service}, take: local}\n- {path: 'metadata.labels.**', take: local}\n";
    let versions = versions();
    let borrowed = versions.each_ref().map(|files| {
        let files = files.iter().map(|(path, text)| (*path, text.as_str()));
        files.collect::<Vec<_>>()
    });
    let (_, results) =
        crate::merge_cases::merge_with_results([&borrowed[0], &borrowed[1], &borrowed[2]], config);
    let rules: Vec<_> = results
        .iter()
        .filter_map(|result| result.tags.iter().find(|(name, _)| name == "rule"))
        .map(|(_, rule)| rule.as_str())
        .collect();
    assert_eq!(rules, ["conflicts[1]"]);
}

#[test]
fn an_invalid_rule_is_reported_at_its_field() {
    let config = "conflicts:\n- {path: 'a..b', take: mine}\n- {path: a}\n";
    let (_, said) = run(config);
    let found: Vec<_> = said
        .iter()
        .filter(|line| line.ends_with("(InvalidConfig)"))
        .collect();
    assert_eq!(found.len(), 3, "{said:?}");
    for field in [
        "conflicts[0].take: ",
        "conflicts[0].path: ",
        "conflicts[1].take: ",
    ] {
        assert!(found.iter().any(|line| line.contains(field)), "{said:?}");
    }
}

#[test]
fn rules_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for (name, files) in ["old", "package", "new"].into_iter().zip(versions()) {
        for (path, text) in files {
            let file = at(name).join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, text).expect("a file");
        }
    }
    let rules = at("rules.yaml");
    let write = |text: &str| std::fs::write(&rules, text).expect("a file");
    let run = |config: &[&str]| {
        let mut command = assert_cmd::Command::new(merge_package());
        command.arg("--package").arg(at("package"));
        command.arg("--original").arg(at("old"));
        command.arg("--upstream").arg(at("new"));
        command.arg("--conflicts").arg(&rules).args(config);
        let output = command.output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    write("apiVersion: fn.kpt.dev/v1alpha1\nkind: Rules\nconflicts: []\n");
    let (code, stderr) = run(&[]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("a ConflictRules (fn.kpt.dev/v1alpha1)"),
        "{stderr}"
    );
    assert!(stderr.contains("rules.yaml"), "{stderr}");
    write("apiVersion: fn.kpt.dev/v1alpha1\nkind: ConflictRules\nconflicts:\n- take: mine\n");
    let (code, stderr) = run(&[]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("rules.yaml:4: conflicts[0].take: "),
        "{stderr}"
    );
    write(
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: ConflictRules\nconflicts:\n- path: spec.replicas\n  take: local\n",
    );
    let (code, stderr) = run(&["onConflict=upstream"]);
    assert_eq!(code, Some(0), "{stderr}");
    let merged = std::fs::read_to_string(at("package/web.yaml")).expect("a file");
    assert_eq!(merged, deployment("web", 5, "app:2"));
    assert!(stderr.contains("because of `conflicts[0]`"), "{stderr}");
}

/// A fleet has its rules in an annotation of its sets.
#[test]
fn rules_of_a_variant() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let root = kptfile("root");
    let [old, local, new] = versions();
    for (name, files) in [("old", &old), ("new", &new)] {
        std::fs::create_dir(at(name)).expect("a folder");
        std::fs::write(at(name).join("Kptfile"), &root).expect("a file");
        for (path, text) in files {
            std::fs::write(at(name).join(path), text).expect("a file");
        }
    }
    let flags = [(Role::Original, at("old")), (Role::Upstream, at("new"))];
    let mut files: Vec<_> = local
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    files.push(("Kptfile", &root));
    files.retain(|(path, _)| *path != "NOTES.md");
    let run = |rules: &str| {
        let config = format!(
            "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: pv\n  annotations:\n    fn.kpt.dev/conflicts: |\n      {rules}\nspec:\n  upstream: {{repo: r, package: p, revision: v2}}\n  downstream: {{repo: d, package: root}}\n"
        );
        let function = &render_variant::FUNCTION;
        on_package_with(function, &config, &files, &flags).expect("a config")
    };
    let outcome = run("- {target: {kind: Deployment}, path: spec.replicas, take: local}");
    assert!(!outcome.failed, "{:?}", outcome.results);
    assert!(outcome.file("web.yaml").contains("replicas: 5"));
    assert!(outcome.file("web.yaml").contains("image: app:2"));
    for wrong in ["- {take: mine}", "- {takes: local}", "- [", "take: local"] {
        let outcome = run(wrong);
        let found = outcome
            .results
            .iter()
            .filter(|line| line.ends_with("(InvalidConfig)"));
        assert_eq!(found.count(), 1, "{wrong}: {:?}", outcome.results);
    }
}

/// Each side moved another element, and no order has both moves.
#[test]
fn a_rule_decides_the_order_of_a_list() {
    let texts = [["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]].map(|names| {
        let env = names.map(|name| format!("    - name: {name}\n      value: x\n"));
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: app\n    env:\n{}",
            env.concat()
        )
    });
    let files = texts.each_ref().map(|text| [("p.yaml", text.as_str())]);
    let order = |winner: &str, rule: &str| {
        let fields = format!("onConflict: {winner}\n{rule}");
        let (files, said) = merge_files([&files[0], &files[1], &files[2]], &fields);
        assert!(said[0].contains("the order of the elements"), "{said:?}");
        files["p.yaml"].clone()
    };
    let rule = |side: &str| format!("conflicts:\n- {{path: 'spec.**', take: {side}}}\n");
    assert_eq!(order("local", ""), texts[1]);
    assert_eq!(order("upstream", ""), texts[2]);
    assert_eq!(order("local", &rule("upstream")), texts[2]);
    assert_eq!(order("upstream", &rule("local")), texts[1]);
}

/// Characters that mean something in a path, in YAML, or on a terminal.
fn awkward_text() -> impl Strategy<Value = String> {
    let characters = "ab0.[]\"\\=,*' \n\t#:{}&/-é\u{301}\u{1b}\u{202e}";
    let characters: Vec<char> = characters.chars().collect();
    let text = prop::collection::vec(prop::sample::select(characters), 0..6);
    text.prop_map(|characters| characters.into_iter().collect())
}

/// A Deployment with an annotation, and with an image in an element of a list with keys.
fn awkward_deployment(key: &str, name: &str, value: u32) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (key, name) = (quoted(key), quoted(name));
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations: {{{key}: \"{value}\"}}\nspec:\n  template:\n    spec:\n      containers:\n      - name: {name}\n        image: \"{value}\"\n      - name: other\n        image: same\n"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// `field.path` of a result, and the path that a report gives, are those of a rule as they are.
    #[test]
    fn a_path_that_a_result_prints_is_the_path_of_a_rule(key in awkward_text(), name in awkward_text()) {
        let texts = [1, 2, 3].map(|value| awkward_deployment(&key, &name, value));
        let files = texts.each_ref().map(|text| [("web.yaml", text.as_str())]);
        let conflicts = |config: &str| {
            let sources: [&[(&str, &str)]; 3] = [&files[0], &files[1], &files[2]];
            let (_, results) = crate::merge_cases::merge_with_results(sources, config);
            let conflicts = results.iter().filter(|result| result.field.is_some()).cloned();
            conflicts.collect::<Vec<_>>()
        };
        let found = conflicts("");
        prop_assert_eq!(found.len(), 2);
        for (at, conflict) in found.iter().enumerate() {
            let paths = [conflict.field.as_deref(), conflict.rule_path.as_deref()];
            for path in paths.into_iter().flatten() {
                let path = serde_json::Value::from(path).to_string();
                let again = conflicts(&format!("conflicts: [{{path: {path}, take: local}}]\n"));
                let is_decided = again.iter().map(|result| result.severity == Severity::Info);
                let is_decided: Vec<bool> = is_decided.collect();
                prop_assert_eq!(is_decided, [at == 0, at == 1], "{}", path);
            }
        }
    }
}

/// Upstream's value took the place of a local one: the output ends with a rule that keeps that one.
#[test]
fn a_conflict_ends_with_a_rule_that_decides_it_in_the_next_merge() {
    let folder = tempfile::tempdir().expect("a folder");
    let [original, local, upstream] = versions();
    for (name, files) in [
        ("original", original),
        ("local", local),
        ("upstream", upstream),
    ] {
        for (path, text) in files.iter().filter(|(path, _)| *path == "web.yaml") {
            let file = folder.path().join(name).join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, text).expect("a file");
        }
    }
    let merge = |more: &[&str]| {
        let mut command = Command::new(merge_package());
        command
            .current_dir(folder.path())
            .args(["--package", "local", "--diff"]);
        command
            .args(["--original", "original", "--upstream", "upstream"])
            .args(more);
        let output = command.output().expect("it runs");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let first = merge(&[]);
    let (said, rule) = first.split_once("hint: ").expect("a hint");
    assert!(
        said.contains("replicas: local and upstream both changed"),
        "{said}"
    );
    let (_, rule) = rule.split_once('\n').expect("a rule below");
    let head = "apiVersion: fn.kpt.dev/v1alpha1\nkind: ConflictRules\n";
    let lines = rule.lines().map(|line| format!("{}\n", &line[2..]));
    fs::write(
        folder.path().join("rules.yaml"),
        head.to_owned() + &lines.collect::<String>(),
    )
    .expect("a file");
    let field = first
        .lines()
        .next()
        .expect("a conflict")
        .split(": local and")
        .next()
        .expect("a place");
    let second = merge(&["--conflicts", "rules.yaml"]);
    let decided = second
        .lines()
        .find(|line| line.contains(field.trim_start_matches("[warning] ")));
    let decided = decided.unwrap_or_else(|| panic!("{field}: {second}"));
    assert!(
        decided.starts_with("[info]") && decided.contains("kept your value because of"),
        "{second}"
    );
    assert!(!merge(&["onConflict=local"]).contains("hint: "));
    assert!(!merge(&["--quiet"]).contains("hint: "));
}

/// What is merged into `local`, with these guards.
fn guarded(guards: &str, local: &str, upstream: &str) -> (String, Vec<String>) {
    guarded_from([BASE, local, upstream], guards)
}

fn guarded_from(versions: [&str; 3], guards: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for (name, text) in ["old", "package", "new"].into_iter().zip(versions) {
        fs::create_dir(at(name)).expect("a folder");
        fs::write(at(name).join("web.yaml"), text).expect("a file");
    }
    let policy = format!("apiVersion: fn.kpt.dev/v1alpha1\nkind: UpgradePolicy\nguards:\n{guards}");
    fs::write(at("policy.yaml"), policy).expect("a file");
    let mut command = Command::new(merge_package());
    command
        .current_dir(folder.path())
        .args(["--package", "package", "--original", "old"]);
    command.args(["--upstream", "new", "--conflicts", "policy.yaml"]);
    let output = command.output().expect("it runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let text = fs::read_to_string(at("package/web.yaml")).expect("a file");
    (text, stderr.lines().map(str::to_owned).collect())
}

const BASE: &str = indoc! {"
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
    spec:
      replicas: 1
      template:
        spec:
          nodeSelector: {disk: hdd}
          containers:
          - name: app
            image: app:1
"};

#[test]
fn a_guard_keeps_your_value_whoever_changed_it() {
    let new = BASE
        .replace("replicas: 1", "replicas: 3")
        .replace("app:1", "app:2");
    for (local, kept) in [
        (BASE.to_owned(), "replicas: 1"),
        (BASE.replace("replicas: 1", "replicas: 5"), "replicas: 5"),
    ] {
        let (text, said) = guarded("- {path: spec.replicas, reason: by load}\n", &local, &new);
        assert!(text.contains(kept) && text.contains("app:2"), "{text}");
        let warning = said
            .iter()
            .find(|line| line.contains("(Guarded)"))
            .expect("a warning");
        assert!(
            warning.starts_with("[warning] web.yaml:6: ")
                && warning.contains("upstream 3): kept your value: by load"),
            "{warning}"
        );
        assert!(
            !said.iter().any(|line| line.contains("(MergeConflict)")),
            "{said:?}"
        );
    }
    // Nothing is said where upstream changed nothing, or made the same change.
    let same = BASE.replace("app:1", "app:2");
    for (local, new) in [(BASE, &*same), (&*new, &*new)] {
        let (_, said) = guarded("- {path: spec.replicas}\n", local, new);
        assert!(
            !said.iter().any(|line| line.contains("(Guarded)")),
            "{said:?}"
        );
    }
}

#[test]
fn a_guard_keeps_what_upstream_removes_and_what_it_adds_out() {
    let removed = BASE.replace("      nodeSelector: {disk: hdd}\n", "");
    let (text, _) = guarded(
        "- {path: spec.template.spec.nodeSelector}\n",
        BASE,
        &removed,
    );
    assert_eq!(text, BASE);
    let added = BASE.replace(
        "  replicas: 1\n",
        "  replicas: 1\n  strategy:\n    type: Recreate\n    x: 1\n",
    );
    let (text, said) = guarded("- {path: spec.strategy.x}\n", BASE, &added);
    assert_eq!(text, added.replace("    x: 1\n", ""), "{said:?}");
    // Of an element, by its name.
    let image = BASE.replace("app:1", "app:2");
    let (text, _) = guarded(
        "- {path: 'spec.template.spec.containers[name=app].image'}\n",
        BASE,
        &image,
    );
    assert_eq!(text, BASE);
    let (text, _) = guarded(
        "- {path: 'spec.**', target: {kind: Service}}\n",
        BASE,
        &image,
    );
    assert_eq!(text, image);
}

#[test]
fn a_guard_keeps_your_value_within_a_list() {
    let new = BASE.replace("replicas: 1", "replicas: 3");
    for (kind, is_kept) in [("Deployment", true), ("StatefulSet", false)] {
        let guard = format!("- {{path: spec.replicas, target: {{kind: {kind}}}}}\n");
        for wrapped in [list as fn(&str) -> String, nested] {
            let (base, new) = (wrapped(BASE), wrapped(&new));
            let (text, said) = guarded_from([&base, &base, &new], &guard);
            assert_eq!(text, if is_kept { base } else { new }, "{said:?}");
        }
    }
    // Elements that no schema names, of which only upstream changed some.
    let routes = |one: &str, two: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: Router\nmetadata: {{name: r}}\nspec:\n  routes:\n  - name: one\n    timeout: {one}\n  \
             - name: two\n    timeout: {two}\n"
        )
    };
    let guard = "- {path: 'spec.routes[name=one].timeout'}\n";
    let (old, new) = (routes("1s", "1s"), routes("5s", "5s"));
    let (text, said) = guarded_from([&old, &old, &new], guard);
    assert_eq!(text, routes("1s", "5s"), "{said:?}");
    assert!(
        said.iter().any(|line| line.contains("(Guarded)")),
        "{said:?}"
    );
}

fn list(text: &str) -> String {
    let element = text.trim_end().replace('\n', "\n  ");
    format!("apiVersion: v1\nkind: List\nitems:\n- {element}\n")
}

fn nested(text: &str) -> String {
    list(&list(text))
}

/// A List only says how its file writes the resources in it.
#[test]
fn rules_are_for_the_resources_of_a_list() {
    let [old, own, new] = [1, 5, 3].map(|replicas| deployment("front", replicas, "app:1"));
    let web = "target: {kind: Deployment, name: web}";
    for (rule, is_taken) in [
        (format!("{web}, path: spec.replicas, take: local"), true),
        (format!("{web}, take: local"), true),
        ("path: spec.replicas, take: local".to_owned(), true),
        ("path: \"spec.**\", take: local".to_owned(), true),
        ("target: {kind: List}, take: local".to_owned(), true),
        (
            "target: {kind: Deployment, name: other}, take: upstream".to_owned(),
            false,
        ),
        (format!("{web}, path: spec.other, take: local"), false),
        (
            "target: {kind: List}, path: spec.replicas, take: upstream".to_owned(),
            false,
        ),
    ] {
        for wrapped in [list as fn(&str) -> String, nested] {
            let [old, own, new] = [&old, &own, &new].map(|text| wrapped(text));
            let versions: [&[(&str, &str)]; 3] = [
                &[("a.yaml", &old)],
                &[("a.yaml", &own)],
                &[("a.yaml", &new)],
            ];
            let (files, said) = merge_files(versions, &format!("conflicts:\n- {{{rule}}}\n"));
            let expected = if is_taken { &own } else { &new };
            assert_eq!(files["a.yaml"], *expected, "{rule}: {said:?}");
        }
    }
}

#[test]
fn findings_in_a_list_name_the_resource() {
    let [old, own, new] = [1, 5, 3].map(|replicas| deployment("front", replicas, "app:1"));
    let own = own.replace("app:1", "mirror/app:1");
    let new = new.replace("app:1", "app:2");
    for wrapped in [list as fn(&str) -> String, nested] {
        let texts = [&old, &own, &new].map(|text| wrapped(text));
        let (_, said) = guarded_from(
            texts.each_ref().map(String::as_str),
            "- {path: spec.other}\n",
        );
        let conflict = "Deployment/web: spec.replicas: local and upstream both changed the value (original 1, local 5, upstream 3)";
        let combined = "Deployment/web: spec.template.spec.containers[0].image: combined local's";
        for expected in [conflict, combined] {
            let found = said
                .iter()
                .find(|line| line.contains(expected))
                .unwrap_or_else(|| panic!("{said:?}"));
            let line: usize = found
                .split(':')
                .nth(1)
                .and_then(|line| line.parse().ok())
                .expect("a line");
            let text = texts[1].lines().nth(line - 1).expect("a line");
            let field = if expected == conflict {
                "replicas: 5"
            } else {
                "image: mirror"
            };
            assert!(text.contains(field), "{found}: {text}");
        }
    }
}
