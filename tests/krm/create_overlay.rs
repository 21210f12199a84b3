//! create-overlay: a fork becomes its upstream and a kustomize overlay.

use expect_test::expect;
use indoc::indoc;
use std::collections::BTreeMap;
use std::path::Path;

use assert_cmd::Command;
use krm_core::config::Config;
use krm_core::results::Reason;
use krm_function::supplied::Role;
use krm_function::{Inputs, Items, Outcome, SuppliedInput, run};

use crate::all_functions::binary;
use crate::git::Folder;

const UPSTREAM: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: app
        image: docker.io/example/app:1
      - name: proxy
        image: proxy:1
---
apiVersion: v1
kind: Service
metadata:
  name: app
spec:
  ports:
  - port: 80
";

fn overlay_with(upstream: &str, fork: &str, against: Option<&str>, base: Option<&str>) -> Outcome {
    let package =
        |text: &str| SuppliedInput::Files([("app.yaml".to_owned(), text.to_owned())].into());
    let mut supplied = vec![(Role::Upstream, package(upstream))];
    supplied.extend(against.map(|text| (Role::Against, package(text))));
    let pairs: Vec<String> = base
        .map(|base| format!("base={base}"))
        .into_iter()
        .collect();
    let inputs = Inputs {
        config: Some(Config::from_pairs(&pairs).expect("a config")),
        supplied,
        ..Inputs::default()
    };
    let items = Items::Package([("app.yaml".to_owned(), fork.into())].into());
    run(&create_overlay::FUNCTION, inputs, items).expect("it runs")
}

/// The files of an overlay that was proven, without those of the base.
fn overlay(upstream: &str, fork: &str) -> BTreeMap<String, String> {
    let outcome = overlay_with(upstream, fork, None, None);
    assert!(!outcome.results.has_errors(), "{:?}", outcome.results);
    let files = outcome.documents.into_iter();
    let mut files: BTreeMap<String, String> = files
        .map(|file| (file.path.expect("a path"), file.text))
        .collect();
    files.retain(|path, _| !path.starts_with("base/"));
    files
}

/// The kustomization without its head.
fn kustomization(upstream: &str, fork: &str) -> String {
    let text = overlay(upstream, fork)["kustomization.yaml"].clone();
    let head =
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- base\n";
    text.strip_prefix(head)
        .unwrap_or_else(|| panic!("{text}"))
        .to_owned()
}

#[test]
fn a_fork_without_edits_needs_no_patch() {
    assert_eq!(kustomization(UPSTREAM, UPSTREAM), "");
}

#[test]
fn fields_of_the_kustomization_replace_many_patches() {
    let fork = UPSTREAM
        .replace("docker.io/example", "own")
        .replace("replicas: 1", "replicas: 3")
        .replace(
            "  name: app\n",
            "  name: app\n  namespace: shop\n  labels:\n    team: web\n",
        );
    expect![[r#"
        namespace: shop
        labels:
        - pairs:
            team: web
        images:
        - name: docker.io/example/app
          newName: own/app
        replicas:
        - name: app
          count: 3
    "#]]
    .assert_eq(&kustomization(UPSTREAM, &fork));
}

#[test]
fn a_field_that_would_change_more_than_the_fork_did_is_a_patch() {
    // The second use of the image is as it was.
    let twice = UPSTREAM.replace("proxy:1", "docker.io/example/app:1");
    let fork = twice.replacen("docker.io/example/app:1", "docker.io/example/app:2", 1);
    let files = overlay(&twice, &fork);
    assert!(
        !files["kustomization.yaml"].contains("images:"),
        "{files:?}"
    );
    assert!(files["patches/deployment-app.yaml"].contains("image: docker.io/example/app:2\n"));
    // One resource has another namespace.
    let fork = UPSTREAM.replacen("  name: app\n", "  name: app\n  namespace: shop\n", 1);
    assert!(!kustomization(UPSTREAM, &fork).contains("\nnamespace:"));
}

/// kustomize leaves out a resource with the annotation, whatever its value is but `false`.
#[test]
fn no_patch_is_for_local_config() {
    let edited = |value: &str| {
        let annotation = format!(
            "  name: app\n  annotations:\n    config.kubernetes.io/local-config: {value}\n"
        );
        let upstream = UPSTREAM.replacen("  name: app\n", &annotation, 1);
        kustomization(&upstream, &upstream.replace("replicas: 1", "replicas: 3"))
    };
    for value in ["\"true\"", "'yes'", "''"] {
        assert_eq!(edited(value), "", "{value}");
    }
    expect![[r#"
        replicas:
        - name: app
          count: 3
    "#]]
    .assert_eq(&edited("\"false\""));
}

#[test]
fn patches_bring_the_comments_of_their_fields() {
    let fork = UPSTREAM.replace(
        "proxy:1\n",
        "proxy:1\n        args: [--slow] # it is slow\n",
    );
    let files = overlay(UPSTREAM, &fork);
    assert_eq!(
        kustomization(UPSTREAM, &fork),
        "patches:\n- path: patches/deployment-app.yaml\n"
    );
    let patch = &files["patches/deployment-app.yaml"];
    assert!(patch.contains("args: [--slow] # it is slow\n"), "{patch}");
    assert!(
        patch.starts_with("apiVersion: apps/v1\nkind: Deployment\n"),
        "{patch}"
    );
}

#[test]
fn removed_resources_are_deleted_and_new_ones_are_files() {
    let (deployment, service) = UPSTREAM.split_once("---\n").expect("two");
    let new = "# ours\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n";
    let files = overlay(UPSTREAM, &format!("{deployment}---\n{new}"));
    assert_eq!(files["app.yaml"], new);
    expect![[r#"
        apiVersion: v1
        kind: Service
        metadata:
          name: app
        $patch: delete
    "#]]
    .assert_eq(&files["patches/service-app.yaml"]);
    let kustomization = &files["kustomization.yaml"];
    assert!(
        kustomization.contains("resources:\n- base\n- app.yaml\n"),
        "{kustomization}"
    );
    assert!(!service.is_empty());
}

#[test]
fn identifiers_of_kpt_are_not_an_edit() {
    let fork = UPSTREAM.replace(
        "metadata:\n  name: app\n",
        "metadata: # kpt-merge: /app\n  name: app\n  annotations:\n    internal.kpt.dev/upstream-identifier: 'a|b|c|d'\n",
    );
    assert_ne!(fork, UPSTREAM);
    assert_eq!(kustomization(UPSTREAM, &fork), "");
    let results = overlay_with(UPSTREAM, &fork, None, None).results;
    let texts: Vec<_> = results.iter().map(|result| result.text()).collect();
    assert!(
        !texts.iter().any(|text| text.contains("kpt-merge")),
        "{texts:?}"
    );
}

#[test]
fn changes_that_an_overlay_cannot_hold_are_listed() {
    let fork = UPSTREAM
        .replace("  replicas: 1\n", "  # by hand\n  replicas: 1\n")
        .replace("  - port: 80\n", "  - port: 80\n  type: NodePort\n");
    let fork = fork.replace(
        "apiVersion: v1\nkind: Service\n",
        "kind: Service\napiVersion: v1\n",
    );
    let outcome = overlay_with(UPSTREAM, &fork, None, None);
    let listed: Vec<String> = outcome
        .results
        .iter()
        .map(|result| result.text().into_owned())
        .collect();
    assert_eq!(
        listed[..2],
        [
            "an overlay cannot hold the comment `# by hand`",
            "an overlay cannot hold the order of its keys"
        ]
    );
}

#[test]
fn a_newer_revision_makes_patches_needless_or_dead() {
    let fork = UPSTREAM
        .replace("  - port: 80\n", "  - port: 80\n  type: NodePort\n")
        .replace("docker.io/example/app:1", "own/app:1")
        .replace("proxy:1\n", "proxy:1\n        args: [--slow]\n");
    let newer = indoc! {"
        apiVersion: v1
        kind: Service
        metadata:
          name: app
        spec:
          type: NodePort
          ports:
          - port: 80
    "};
    let outcome = overlay_with(UPSTREAM, &fork, Some(newer), None);
    let found: Vec<_> = outcome
        .results
        .iter()
        .filter_map(|result| {
            Some((
                result.tag_value("reason")?,
                result.file.as_ref()?.0.to_string(),
            ))
        })
        .collect();
    let expected = [
        ("DeadPatch", "patches/deployment-app.yaml"),
        ("NeedlessPatch", "patches/service-app.yaml"),
        ("DeadPatch", "kustomization.yaml"),
    ];
    assert_eq!(
        found,
        expected.map(|(reason, file)| (reason, file.to_owned()))
    );
}

#[test]
fn repeated_fields_of_an_element_without_keys_are_needed() {
    let upstream = indoc! {"
        apiVersion: x.io/v1
        kind: Foo
        metadata:
          name: foo
        spec:
          mode: a
          list:
          - name: a
            v: 1
          - name: b
            v: 2
    "};
    let fork = upstream
        .replace("v: 2", "v: 3")
        .replace("mode: a", "mode: b");
    for (newer, expected) in [
        (upstream.to_owned(), &[][..]),
        (
            upstream.replace("mode: a", "mode: b"),
            &["`spec.mode` changes nothing"],
        ),
        (
            upstream.replace("v: 2", "v: 3"),
            &["`spec.list` changes nothing"],
        ),
    ] {
        let outcome = overlay_with(upstream, &fork, Some(&newer), None);
        let found = outcome
            .results
            .iter()
            .filter(|result| result.tag_value("reason") == Some("NeedlessPatch"));
        let messages: Vec<String> = found.map(|result| result.message.to_string()).collect();
        assert_eq!(messages.len(), expected.len(), "{newer}: {messages:?}");
        for (message, expected) in messages.iter().zip(expected) {
            assert!(message.contains(expected), "{message}");
        }
    }
}

#[test]
fn a_base_has_no_forbidden_files_of_upstream() {
    let folder = Folder::new(&[]);
    let decisions = "apiVersion: fn.kpt.dev/v1alpha1\nkind: ConflictRules\nconflicts: []\n";
    folder.put("up/app.yaml", UPSTREAM);
    folder.put("up/.krmv.yaml", decisions);
    folder.put("fork/app.yaml", UPSTREAM.replace("port: 80", "port: 81"));
    let output = Command::new(binary("create-overlay"))
        .current_dir(folder.path("."))
        .args(["--package", "fork", "--upstream", "up", "--into", "out"])
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("RefusedFile"), "{stderr}");
    assert!(folder.path("out/base/app.yaml").exists());
    assert!(!folder.path("out/base/.krmv.yaml").exists());
}

#[test]
fn a_base_with_a_kustomization_is_named_and_not_copied() {
    let folder = Folder::new(&[]);
    let listed = "resources:\n- app.yaml\n";
    folder.put("up/app.yaml", UPSTREAM);
    folder.put("up/kustomization.yaml", listed);
    folder.put("fork/app.yaml", UPSTREAM.replace("port: 80", "port: 81"));
    folder.put("fork/kustomization.yaml", listed);
    let run = |extra: &[&str]| {
        let output = Command::new(binary("create-overlay"))
            .current_dir(folder.path("."))
            .args(["--package", "fork", "--upstream", "up", "--into", "out"])
            .args(extra)
            .output()
            .expect("it runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, stderr) = run(&["base=https://example.com/r//up?ref=v1"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        folder
            .get("out/kustomization.yaml")
            .contains("- https://example.com/r//up?ref=v1\n")
    );
    assert!(!Path::new(&folder.path("out/base")).exists());
    // What is there is not overwritten.
    let (code, stderr) = run(&[]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("expected an empty or missing directory"),
        "{stderr}"
    );
}

/// The errors of an overlay of `fork` over `up`, which cannot be created.
fn refused(folder: &Folder) -> String {
    let output = Command::new(binary("create-overlay"))
        .current_dir(folder.path("."))
        .args(["--package", "fork", "--upstream", "up"])
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    stderr
}

#[test]
fn a_field_that_is_not_evaluated_is_an_error() {
    let folder = Folder::new(&[]);
    for side in ["up", "fork"] {
        folder.put(&format!("{side}/app.yaml"), UPSTREAM);
        folder.put(
            &format!("{side}/kustomization.yaml"),
            "namePrefix: a-\nresources: [app.yaml]\n",
        );
    }
    let stderr = refused(&folder);
    assert!(stderr.contains("found `namePrefix`"), "{stderr}");
}

#[test]
fn a_label_below_a_text_is_an_error() {
    let folder = Folder::new(&[]);
    for side in ["up", "fork"] {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: text}\n";
        folder.put(&format!("{side}/a.yaml"), text);
        let text = "resources: [a.yaml]\nlabels: [{pairs: {a: b}}]\n";
        folder.put(&format!("{side}/kustomization.yaml"), text);
    }
    let stderr = refused(&folder);
    assert!(stderr.contains("ConfigMap/a: "), "{stderr}");
}

#[test]
fn files_in_a_pipe_are_items() {
    let list = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {}",
        UPSTREAM
            .split("---\n")
            .nth(1)
            .expect("two")
            .replace('\n', "\n  ")
            .trim_end()
    );
    let folder = Folder::new(&[]);
    folder.put("up.yaml", UPSTREAM);
    let output = Command::new(binary("create-overlay"))
        .current_dir(folder.path("."))
        .args(["--upstream", "up.yaml"])
        .write_stdin(format!("{list}\n"))
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for expected in [
        "config.kubernetes.io/path: kustomization.yaml",
        "config.kubernetes.io/path: patches/deployment-app.yaml",
        "config.kubernetes.io/path: base/resources.yaml",
    ] {
        assert!(
            text.contains(expected) || text.contains(&expected.replace(": ", ": '")),
            "{expected}: {text}"
        );
    }
}

#[test]
fn a_resource_with_a_generate_name_is_an_error() {
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: seed-}\n";
    let fork = format!("{UPSTREAM}---\n{job}");
    let expected = "app.yaml: expected a `metadata.name`, found `generateName` of Job/seed-";
    check_refused(UPSTREAM, &fork, expected);
}

fn check_refused(upstream: &str, fork: &str, expected: &str) {
    let outcome = overlay_with(upstream, fork, None, None);
    let errors: Vec<_> = outcome.results.iter().map(|result| result.text()).collect();
    assert!(
        outcome.results.has_errors() && errors[0].starts_with(expected),
        "{errors:?}"
    );
}

#[test]
fn a_name_that_is_not_a_string_is_refused() {
    let map = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: y}}\ndata: {{a: {value}}}\n")
    };
    let expected = "app.yaml: expected a string in `metadata.name` of a ConfigMap, found `y`";
    check_refused(&map("x"), &map("z"), expected);
}

#[test]
fn an_edit_of_a_resource_without_a_name_is_listed() {
    let cluster =
        |nodes: u8| format!("apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nnodes: {nodes}\n");
    let with = |nodes| format!("{UPSTREAM}---\n{}", cluster(nodes));
    let listed = |fork: &str| {
        let outcome = overlay_with(&with(1), fork, None, None);
        let results = outcome.results.iter().map(|result| result.to_string());
        results
            .filter(|said| said.contains("NotInOverlay"))
            .collect::<Vec<_>>()
    };
    assert!(listed(&with(1)).is_empty());
    let expected = "[info] app.yaml: Cluster/: an overlay cannot hold this resource, which has no name (NotInOverlay)";
    assert_eq!(listed(&with(3)), [expected]);
}

#[test]
fn another_spelling_of_a_value_or_key_is_not_an_edit() {
    let map = |data: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\nmode: {data}\n")
    };
    let (upstream, fork) = (
        map("0644\ndata: {8443: a, x: b}"),
        map("420\ndata: {'8443': a, x: b}"),
    );
    assert_eq!(
        overlay(&upstream, &fork).len(),
        1,
        "{:?}",
        overlay(&upstream, &fork)
    );
    let (upstream, fork) = (
        map("0644\ndata: {8443: a}"),
        map("0o600\ndata: {'8443': c}"),
    );
    let files = overlay(&upstream, &fork);
    assert!(
        files.values().any(|text| text.contains("0o600")),
        "{files:?}"
    );
}

#[test]
fn a_variable_is_named_even_if_only_some_ports_have_a_protocol() {
    let ports = |env: &str, ports: &str| {
        UPSTREAM.replace(
            "      - name: app\n        image: docker.io/example/app:1\n",
            &format!(
                "      - name: app\n        image: docker.io/example/app:1\n        env: [{{name: A, value: {env}}}]\n        \
                 ports: [{ports}]\n"
            ),
        )
    };
    let mixed = "{containerPort: 53}, {containerPort: 53, protocol: UDP}";
    let files = overlay(&ports("one", mixed), &ports("two", mixed));
    let patch = &files["patches/deployment-app.yaml"];
    assert!(patch.contains("name: A, value: two"), "{patch}");
    assert!(!files["kustomization.yaml"].contains("/env/0"));
    // kustomize drops one of two equal ports, whatever a patch says.
    let twice = "{containerPort: 53}, {containerPort: 53}";
    let files = overlay(&ports("one", twice), &ports("two", twice));
    let patch = &files["kustomization.yaml"];
    assert!(patch.contains("/env/0/value"), "{patch}");
    assert!(
        patch.contains(
            "- op: test\n      path: /spec/template/spec/containers/0/env/0/name\n      value: A\n"
        ),
        "{patch}"
    );
}

/// The next base has another variable at that position: the patch is dead, and changes no other variable.
#[test]
fn a_patch_by_position_changes_no_other_element_of_a_newer_base() {
    let with_env = |env: &str| {
        let image = "        image: docker.io/example/app:1\n";
        UPSTREAM.replace(image, &format!("{image}        env: [{env}]\n"))
    };
    let twice = "{name: A, value: a}, {name: A, value: a}, {name: B, value: ";
    let (upstream, fork) = (
        with_env(&format!("{twice}b}}")),
        with_env(&format!("{twice}mine}}")),
    );
    let newer = with_env(
        "{name: N, value: n}, {name: A, value: a}, {name: A, value: a}, {name: B, value: b}",
    );
    for (newer, reasons) in [(&upstream, 0), (&newer, 1)] {
        let outcome = overlay_with(&upstream, &fork, Some(newer), None);
        let dead = outcome.results.iter();
        let dead: Vec<String> = dead
            .filter(|result| result.has_reason(Reason::DeadPatch))
            .map(ToString::to_string)
            .collect();
        assert_eq!(dead.len(), reasons, "{dead:?}");
        assert!(
            dead.iter()
                .all(|text| text.contains("/env/2/name` has another value")),
            "{dead:?}"
        );
    }
}

#[test]
fn a_resource_twice_counts_as_one_if_the_two_are_equal() {
    let map = |value: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: {value}}}\n"
        )
    };
    let twice = |one: &str, other: &str| format!("{UPSTREAM}{}{}", map(one), map(other));
    let (upstream, fork) = (twice("b", "b"), twice("mine", "mine"));
    let outcome = overlay_with(&upstream, &fork, None, None);
    assert!(!outcome.results.has_errors(), "{:?}", outcome.results);
    let warnings = outcome.results.iter();
    let warnings = warnings.filter(|result| result.has_reason(Reason::DuplicateResource));
    let texts: Vec<_> = warnings.map(|result| result.text().into_owned()).collect();
    assert_eq!(
        texts,
        ["the fork", "upstream"].map(|name| format!(
            "{name} has the resource twice: the two are equal and count as one"
        ))
    );
    let base = outcome.documents.iter();
    let base: Vec<&str> = base
        .filter(|file| file.path.as_deref() == Some("base/app.yaml"))
        .map(|file| file.text.as_str())
        .collect();
    assert_eq!(
        base.concat().matches("kind: ConfigMap").count(),
        1,
        "{base:?}"
    );
    // Two that differ are an error that says what to do.
    let outcome = overlay_with(&upstream, &twice("b", "mine"), None, None);
    let error = outcome
        .results
        .iter()
        .find(|result| result.has_reason(Reason::DuplicateResource));
    let text = error
        .map(|result| result.text().into_owned())
        .unwrap_or_default();
    assert!(outcome.results.has_errors());
    assert!(
        text.starts_with("expected ConfigMap/c once in the fork, found two in `app.yaml`")
            && text.contains("remove one of them"),
        "{text}"
    );
}

#[test]
fn the_comment_on_replicas_comes_along() {
    let fork = UPSTREAM.replace("replicas: 1", "replicas: 5 # for the sale");
    let outcome = overlay_with(UPSTREAM, &fork, None, None);
    assert!(!outcome.results.has_errors());
    let text = kustomization(UPSTREAM, &fork);
    assert!(
        text.contains("replicas:\n- name: app\n  count: 5 # for the sale\n"),
        "{text}"
    );
    let omitted = outcome
        .results
        .iter()
        .any(|result| result.text().contains("an overlay cannot hold"));
    assert!(!omitted, "{:?}", outcome.results);
}

#[test]
fn comments_above_and_after_replicas_and_images_come_along() {
    let fork = UPSTREAM
        .replace(
            "  replicas: 1",
            "  # for the sale\n  # until May\n  replicas: 5",
        )
        .replace(
            "image: docker.io/example/app:1",
            "# a mirror\n        image: own/app:2 # signed",
        );
    let outcome = overlay_with(UPSTREAM, &fork, None, None);
    let notes: Vec<_> = outcome.results.iter().map(ToString::to_string).collect();
    assert!(
        !notes.iter().any(|text| text.contains("cannot hold")),
        "{notes:?}"
    );
    assert_eq!(
        kustomization(UPSTREAM, &fork),
        indoc! {r#"
            images:
            - name: docker.io/example/app
              # a mirror
              newName: own/app
              newTag: "2" # signed
            replicas:
            - name: app
              # for the sale
              # until May
              count: 5
        "#}
    );
}

#[test]
fn trailing_blank_lines_of_a_value_are_kept() {
    let map = |text: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  a: {text}")
    };
    for value in ["|+\n    one\n\n", "|+\n    one\n\n\n", ">+\n    one\n\n"] {
        let outcome = overlay_with(&map("one\n"), &map(value), None, None);
        assert!(
            !outcome.results.has_errors(),
            "{value:?}: {:?}",
            outcome.results
        );
    }
}

#[test]
fn a_resource_that_the_newer_base_has_too_is_needless() {
    let new = |value: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: late}}\ndata: {{a: {value}}}\n"
        )
    };
    let fork = format!("{UPSTREAM}{}", new("b"));
    for (value, next) in [
        ("b", "remove it here"),
        ("c", "replace it here with a patch"),
    ] {
        let newer = format!("{UPSTREAM}{}", new(value));
        let outcome = overlay_with(UPSTREAM, &fork, Some(&newer), None);
        let found = outcome
            .results
            .iter()
            .find(|result| result.has_reason(Reason::NeedlessPatch));
        let text = found
            .map(|result| result.text().into_owned())
            .unwrap_or_default();
        assert!(
            text.contains("the base has ConfigMap/late too") && text.contains(next),
            "{text}"
        );
    }
}

#[test]
fn files_without_resources_are_listed_unless_upstream_has_them() {
    let files = |notes: &str| {
        let files = [
            ("app.yaml", UPSTREAM),
            ("NOTES.txt", notes),
            ("values.yaml", "a: b\n"),
        ];
        files.map(|(path, text)| (path.to_owned(), text.to_owned()))
    };
    let listed = |notes: &str| {
        let inputs = Inputs {
            supplied: vec![(Role::Upstream, SuppliedInput::Files(files("theirs").into()))],
            ..Inputs::default()
        };
        let fork = files(notes).map(|(path, text)| (path, text.into_bytes()));
        let outcome = run(
            &create_overlay::FUNCTION,
            inputs,
            Items::Package(fork.into()),
        );
        let results = outcome.expect("it runs").results;
        let paths = results
            .iter()
            .filter_map(|result| Some(result.file.as_ref()?.0.to_string()));
        paths.collect::<Vec<_>>()
    };
    assert_eq!(listed("mine"), ["NOTES.txt"]);
    assert_eq!(listed("theirs"), [""; 0]);
}
