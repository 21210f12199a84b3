//! Variants within a ResourceList.

use indoc::indoc;
use krm_yaml::OwnedDocument;

use super::updates::{NEW_SOURCE, WITH_NEW_POINT};
use super::*;

/// A ResourceList as `kpt fn eval` sends it: the PackageVariant, upstream and supplied resources in
/// directories of their own.
fn resource_list(items: &[(&str, &str)]) -> String {
    let items: String = items
        .iter()
        .map(|(path, text)| {
            let mut annotations = String::new();
            for name in ["config.kubernetes.io", "internal.config.kubernetes.io"] {
                annotations.push_str(&format!(
                    "    {name}/index: '0'\n    {name}/path: '{path}'\n"
                ));
            }
            let annotated = if text.contains("  annotations:\n") {
                text.replacen(
                    "  annotations:\n",
                    &format!("  annotations:\n{annotations}"),
                    1,
                )
            } else {
                text.replacen(
                    "metadata:\n",
                    &format!("metadata:\n  annotations:\n{annotations}"),
                    1,
                )
            };
            let lines: String = annotated
                .lines()
                .map(|line| format!("  {line}\n"))
                .collect();
            format!("-{}", &lines[1..])
        })
        .collect();
    let items = if items.is_empty() {
        " []\n".to_owned()
    } else {
        format!("\n{items}")
    };
    format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:{items}")
}

#[test]
fn clone_within_a_resource_list() {
    let config = VARIANT.replace(
        "metadata:\n",
        "metadata:\n  annotations:\n    fn.kpt.dev/upstream-path: upstream\n    fn.kpt.dev/resources-path: cluster\n",
    );
    let revision = "apiVersion: porch.kpt.dev/v1alpha1
kind: PackageRevision
metadata:
  name: edge.edge-app.v1
  ownerReferences:
  - apiVersion: config.porch.kpt.dev/v1alpha1
    kind: PackageVariant
    name: my-pv
spec:
  repository: edge
  packageName: regions/edge-app
  revision: v1
  lifecycle: Published
";
    let items = [
        ("pv.yaml", &*config),
        ("upstream/Kptfile", KPTFILE),
        ("upstream/points/endpoints.yaml", POINT),
        ("cluster/r.yaml", SUPPLIED),
        ("cluster/p.yaml", revision),
    ];
    let before = resource_list(&items);
    let outcome = on_list(&FUNCTION, &config, &before).expect("a valid config");
    assert!(!outcome.failed, "{:?}", outcome.results);
    let after = outcome.file("-");
    let status = "  status:
    conditions:
    - type: Stalled
      status: \"False\"
      reason: Valid
      message: all validation checks passed
    - type: Ready
      status: \"True\"
      reason: NoErrors
      message: successfully ensured downstream package variant
    downstreamTargets:
    - name: edge.edge-app.v1
";
    assert!(after.contains(status), "{after}");
    let at = after.find(status).expect("a status");
    let without_status = format!("{}{}", &after[..at], &after[at + status.len()..]);
    assert!(without_status.starts_with(&before), "{after}");
    let new = &without_status[before.len()..];
    assert!(
        new.contains("    name: edge-app # the blueprint\n"),
        "{new}"
    );
    assert!(new.contains("path: 'Kptfile'\n"), "{new}");
    assert!(new.contains("path: 'points/endpoints.yaml'\n"), "{new}");
    assert!(
        new.contains("name: PackageVariant.my-pv.my-func.0"),
        "{new}"
    );
    assert!(new.contains("  spec:\n    dns: 10.0.0.1\n"), "{new}");
    assert!(!new.contains("path: 'upstream"), "{new}");
    // The same into an empty list, from outside.
    let upstream = upstream();
    let list = resource_list(&[]);
    let (text, _) = succeed(
        Command::new(binary("render-variant"))
            .arg("--config")
            .arg(directory_file("pv.yaml", VARIANT).as_path())
            .arg("--upstream")
            .arg(upstream.path())
            .write_stdin(list),
    );
    assert!(text.contains("path: 'two.yaml'\n"), "{text}");
    assert!(text.contains("index: '1'"), "{text}");
    assert!(text.contains("README.md"), "a warning: {text}");
    assert!(text.contains("region: useast1 # where\n"), "{text}");
}

#[test]
fn downstream_targets_are_drafts_and_proposed_else_the_latest_published() {
    let revision = |name: &str, revision: &str, lifecycle: &str, owner: &str| {
        format!(
            "---\napiVersion: porch.kpt.dev/v1alpha1\nkind: PackageRevision\nmetadata:\n  name: {name}\n  ownerReferences:\n  - {{apiVersion: config.porch.kpt.dev/v1alpha1, kind: PackageVariant, name: {owner}}}\nspec:\n  repository: edge\n  packageName: regions/edge-app\n  revision: {revision}\n  lifecycle: {lifecycle}\n"
        )
    };
    let published = revision("p9", "v9", "Published", "my-pv")
        + &revision("p10", "v10", "Published", "my-pv")
        + &revision("p11", "v11", "Published", "another");
    let drafts =
        revision("d2", "v12", "Draft", "my-pv") + &revision("d1", "v13", "Proposed", "my-pv");
    for (revisions, expected) in [
        (
            published.clone(),
            "    downstreamTargets:\n    - name: p10\n",
        ),
        (
            published + &drafts,
            "    downstreamTargets:\n    - name: d1\n    - name: d2\n",
        ),
        (revision("p11", "v11", "Published", "another"), ""),
    ] {
        let resources = directory(&[("r.yaml", &(SUPPLIED.to_owned() + &revisions))]);
        let context = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kptfile.kpt.dev}\n";
        let files = [
            ("Kptfile", KPTFILE),
            ("package-context.yaml", context),
            ("pv.yaml", VARIANT),
        ];
        let flags = [(Role::Resources, resources.path().to_owned())];
        let outcome = on_package_with(&FUNCTION, VARIANT, &files, &flags).expect("a valid config");
        let status = outcome.file("pv.yaml").split_once("\nstatus:\n");
        let (_, status) = status.expect("a status");
        let targets = status
            .split_once("downstreamTargets:")
            .map_or(String::new(), |(_, t)| {
                format!("    downstreamTargets:{}", t.replace("\n  -", "\n    -"))
            });
        assert_eq!(targets, expected, "{status}");
    }
}

#[test]
fn later_steps_work_on_list_elements_that_an_update_brings() {
    let (base, local, upstream, variant) = WITH_NEW_POINT;
    let (base, upstream) = (directory(&base), directory(&upstream));
    let block = resource_list(&local);
    let value = |text: &str| {
        let document = OwnedDocument::parse(text.to_owned()).expect("YAML");
        document
            .root()
            .and_then(|root| root.value())
            .expect("a value")
    };
    let json = value(&block).to_json();
    let values = [&block, &json].map(|list| {
        let (text, _) = succeed(
            Command::new(binary("render-variant"))
                .arg("--config")
                .arg(directory_file("pv.yaml", variant).as_path())
                .arg("--original")
                .arg(base.path())
                .arg("--upstream")
                .arg(upstream.path())
                .arg("--resources")
                .arg(directory_file("r.yaml", NEW_SOURCE).as_path())
                .write_stdin(list.as_str()),
        );
        assert_eq!(text.matches("auth.example.com").count(), 1, "{text}");
        assert!(text.contains("my-pkg"), "{text}");
        value(&text)
    });
    assert_eq!(values[0], values[1]);
}

#[test]
fn a_clone_within_a_resource_list_keeps_the_text() {
    let config = VARIANT.replace(
        "metadata:\n",
        "metadata:\n  annotations:\n    fn.kpt.dev/upstream-path: upstream\n",
    );
    let map = indoc! {"
        # Licence

        # above
        apiVersion: v1
        kind:   ConfigMap # c
        metadata:
          name:   'a'
        data:
                # deep
                k  : v
                t: |+
                  one

                l: [ a,
                     b ]
          # foot
    "};
    let items = [("upstream/Kptfile", KPTFILE), ("upstream/map.yaml", map)];
    let supplied = resource_list(&items);
    // From items of a list that is read as a whole, and from files into an empty list.
    let from_items = on_list(&FUNCTION, &config, &supplied).expect("a valid config");
    let upstream = directory(&[("Kptfile", KPTFILE), ("map.yaml", map)]);
    let (into_empty, _) = succeed(
        Command::new(binary("render-variant"))
            .arg("--config")
            .arg(directory_file("pv.yaml", VARIANT).as_path())
            .arg("--upstream")
            .arg(upstream.path())
            .write_stdin(resource_list(&[])),
    );
    let several = resource_list(&[(
        "other/x.yaml",
        "apiVersion: porch.kpt.dev/v1alpha1\nkind: X\nmetadata:\n  name: x\n",
    )]);
    let (into_block, _) = succeed(
        Command::new(binary("render-variant"))
            .arg("--config")
            .arg(directory_file("pv.yaml", VARIANT).as_path())
            .arg("--upstream")
            .arg(upstream.path())
            .write_stdin(several),
    );
    let from_items = from_items.file("-")[supplied.len()..].to_owned();
    let body = map.split_once("kind").expect("a kind").1;
    for after in [from_items, into_empty, into_block] {
        assert!(
            after.contains("- # Licence\n\n  # above\n  apiVersion: v1\n"),
            "{after}"
        );
        for line in body.lines().skip(1).filter(|line| !line.is_empty()) {
            assert!(after.contains(&format!("\n  {line}\n")), "{line}\n{after}");
        }
    }
}
