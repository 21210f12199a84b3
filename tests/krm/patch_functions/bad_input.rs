//! `apply-patch` refuses what is no patch, and says what it expected.

use indoc::indoc;
use krm_core::config::Config;

use super::*;

#[track_caller]
fn check_refused(patches: &str, result: &str) {
    let outcome = patched(DEPLOYMENT, patches);
    assert_eq!(outcome.results, [result]);
    assert!(outcome.failed);
    assert_eq!(outcome.file("d.yaml"), DEPLOYMENT);
}

#[test]
fn changes_that_cannot_be_a_patch_are_named() {
    check_refused(
        "- target: {kind: Deployment}\n  patch: |\n    - op: remove\n      path: /spec\n",
        "[error] functionConfig, field `patches`, line 6, column 3: patch: expected a strategic merge patch, found a list of JSON 6902 operations; write the part of the resource that changes, with apiVersion, kind and metadata.name (InvalidPatch)",
    );
    check_refused(
        "- target: {kind: Service}\n  patch: {spec: {}}\n",
        "[error] functionConfig, field `patches`, line 6, column 3: expected a resource for the patch (kind `Service`) among the items, found none (TargetNotFound)",
    );
    check_refused(
        "- spec: {}\n",
        "[error] functionConfig, field `patches`, line 6, column 3: expected apiVersion, kind and metadata.name, or a target next to `patch`, found a patch without them (InvalidPatch)",
    );
}

#[test]
fn an_element_without_a_key_is_named_by_its_place_in_the_patch() {
    check_refused(
        "- target: {kind: Deployment}\n  patch: {spec: {template: {spec: {containers: [{name: b, $patch: delete}, {image: x}]}}}}\n",
        "[error] d.yaml:16: Deployment/shop/front: spec.template.spec.containers[1]: element of the patch: expected the merge key `name`, found a map without it (InvalidPatch)",
    );
}

#[test]
fn a_missing_target_can_be_a_warning() {
    let config = config(
        "ApplyPatch",
        "allowMissing: true\npatches:\n- target: {kind: Service}\n  patch: {spec: {}}\n",
    );
    let outcome = on_package(&apply_patch::FUNCTION, &config, &[("d.yaml", DEPLOYMENT)]);
    let outcome = outcome.expect("a config");
    assert!(!outcome.failed);
    assert_eq!(outcome.results.len(), 1);
}

#[test]
fn values_of_secrets_are_not_shown() {
    let secret = indoc! {"
        apiVersion: v1
        kind: Secret
        metadata:
          name: s
        data:
          a: b
    "};
    let patches = "- target: {name: s}\n  patch: {data: {$patch: hunter2}}\n";
    let outcome = patched(secret, patches);
    assert_eq!(
        outcome.results,
        [
            "[error] d.yaml:5: Secret/s: data.$patch: expected another value, found <redacted> (InvalidPatch)"
        ]
    );
}

#[test]
fn a_word_outside_of_the_enumeration() {
    let config = config("ApplyPatch", "listOrder: kubectl\npatches: []\n");
    let outcome = on_package(&apply_patch::FUNCTION, &config, &[("d.yaml", DEPLOYMENT)]);
    assert_eq!(
        outcome.expect("a config").results,
        ["[error] listOrder: expected `document` or `apiserver`, found `kubectl` (InvalidConfig)"]
    );
}

#[test]
fn dollar_keys_are_fields_at_every_depth_below_unknown_ones() {
    const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: routes.example.com
spec:
  group: example.com
  names: {kind: Route, plural: routes}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              closed: {properties: {a: {type: string}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              named: {properties: {$ref: {type: string}}}
";
    let item = indoc! {"
        apiVersion: example.com/v1
        kind: Route
        metadata:
          name: r
        spec:
          free:
            a: {b: {c: 1}}
    "};
    let run = |field: &str| {
        let patches = format!("patches:\n- target: {{name: r}}\n  patch: {{spec: {{{field}}}}}\n");
        let config = config("ApplyPatch", &patches);
        let files = [("crd.yaml", CRD), ("r.yaml", item)];
        on_package(&apply_patch::FUNCTION, &config, &files).expect("a config")
    };
    let outcome = run("free: {a: {b: {$ref: '#/x', d: [{$ref: y}]}}}");
    assert_eq!(outcome.results, Vec::<String>::new());
    let after = item.replace("c: 1", "c: 1, $ref: '#/x', d: [{$ref: y}]");
    assert_eq!(outcome.file("r.yaml"), after);
    // In the free one itself, and where a schema names it.
    for field in ["free: {$ref: x}", "named: {$ref: x}"] {
        assert_eq!(run(field).results, Vec::<String>::new(), "{field}");
    }
    let outcome = run("closed: {$ref: x}");
    assert!(
        outcome.results[0].contains("(UnknownDirective)"),
        "{:?}",
        outcome.results
    );
}

#[test]
fn patches_of_a_directory_need_not_be_resources() {
    let config = config("ApplyPatch", "patches: {path: patches}\n");
    let run = |patch: &str| {
        let files = [("d.yaml", DEPLOYMENT), ("patches/p.yaml", patch)];
        on_package(&apply_patch::FUNCTION, &config, &files).expect("a config")
    };
    let outcome = run("target: {kind: Deployment}\npatch: {spec: {replicas: 3}}\n");
    assert_eq!(outcome.results, Vec::<String>::new());
    assert_eq!(
        outcome.file("d.yaml"),
        DEPLOYMENT.to_owned() + "  replicas: 3\n"
    );
    for (patch, found) in [
        (
            "- op: remove\n  path: /spec\n",
            "found a list of JSON 6902 operations",
        ),
        ("op: remove\npath: /spec\n", "found a JSON 6902 operation"),
        ("just: this\n", "found a patch without them"),
        ("text\n", "expected a patch, found a string"),
    ] {
        let outcome = run(patch);
        assert_eq!(outcome.results.len(), 1, "{:?}", outcome.results);
        let result = &outcome.results[0];
        assert!(
            result.contains(found) && result.contains("patches/p.yaml"),
            "{result}"
        );
    }
}

#[test]
fn a_config_of_comments_only_counts_as_absent() {
    for text in ["", "\n", "# nothing\n", "---\n# nothing\n"] {
        let config = Config::parse(text.to_owned(), "config").expect("YAML");
        assert!(config.node().is_none(), "{text:?}");
    }
}

#[test]
fn a_patch_is_named_by_its_line_in_its_file() {
    let folder = crate::git::Folder::new(&[]);
    folder.put("package/d.yaml", DEPLOYMENT);
    let patch = |kind: &str| format!("target: {kind: <9}\npatch: {{spec: {{}}}}\n");
    let [service, job] = ["{kind: Service}", "{kind: Job}"].map(patch);
    folder.put(
        "patches/a.yaml",
        format!("# head\n{service}---\n{job}---\n# b\n{job}"),
    );
    folder.put("patches/b.yaml", &job);
    for (patches, lines) in [
        (
            "patches",
            vec![
                "a.yaml, line 2",
                "a.yaml, line 5",
                "a.yaml, line 9",
                "b.yaml, line 1",
            ],
        ),
        (
            "patches/a.yaml",
            vec!["a.yaml, line 2", "a.yaml, line 5", "a.yaml, line 9"],
        ),
    ] {
        let outcome = folder.run(
            crate::running::function("apply-patch"),
            &["--package", "package", "--patches", patches],
        );
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let found = outcome
            .stderr
            .lines()
            .filter_map(|line| line.split_once(", column "));
        let found: Vec<&str> = found.map(|(place, _)| place).collect();
        let named = |(found, line): (&&str, &&str)| found.ends_with(line);
        assert!(found.iter().zip(&lines).all(named), "{}", outcome.stderr);
        assert_eq!(found.len(), lines.len(), "{}", outcome.stderr);
    }
}
