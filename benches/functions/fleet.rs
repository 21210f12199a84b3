//! One PackageVariantSet with ten expressions against many Repositories.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use super::measure::{Row, measure, with_input};
use super::programs::program;

const HEAD: &str = r#"apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: porch.kpt.dev/v1alpha1
  kind: PackageRevision
  metadata:
    name: catalog.web.v3
    namespace: default
  spec:
    repository: catalog
    packageName: web
    revision: v3
- apiVersion: config.porch.kpt.dev/v1alpha2
  kind: PackageVariantSet
  metadata:
    name: fleet
    namespace: default
  spec:
    upstream:
      repo: catalog
      package: web
      revision: v3
    targets:
    - repositorySelector:
        matchLabels:
          env: prod
      template:
        downstream:
          packageExpr: "packageDefault + '-' + repository.labels.region"
        labelExprs:
        - key: region
          valueExpr: repository.labels.region
        - key: tier
          valueExpr: "repository.labels.env == 'prod' ? 'gold' : 'bronze'"
        annotationExprs:
        - keyExpr: "'fleet.example.com/' + repository.labels.env"
          valueExpr: "has(repository.labels.zone) ? repository.labels.zone : 'none'"
        packageContext:
          dataExprs:
          - key: site
            valueExpr: "repoDefault.matches('^cluster-[0-9]+$') ? 'site-' + repoDefault : 'core'"
          - key: area
            valueExpr: "{'useast1': 'america', 'eu1': 'europe'}[repository.labels.region]"
          removeKeyExprs:
          - "'old-' + packageDefault"
        pipeline:
          mutators:
          - image: ghcr.io/kptdev/krm-functions-catalog/set-namespace:v0.4
            configMapExprs:
            - key: namespace
              valueExpr: "target.name + '-' + packageDefault"
        injectors:
        - kind: ServiceEndpoints
          nameExpr: "repository.labels.region + '-endpoints'"
"#;

/// A set, and so many Repositories.
pub(crate) fn resource_list(repositories: usize) -> String {
    let mut text = HEAD.to_owned();
    for number in 0..repositories {
        let region = ["useast1", "eu1"][number % 2];
        let _ = write!(
            text,
            "- apiVersion: config.porch.kpt.dev/v1alpha1\n  kind: Repository\n  metadata:\n    name: cluster-{number}\n    \
             namespace: default\n    labels:\n      env: prod\n      region: {region}\n      org: hr\n    annotations:\n      \
             config.kubernetes.io/path: 'repositories/{}.yaml'\n      config.kubernetes.io/index: '{}'\n  spec:\n    type: git\n",
            number / 1000,
            number % 1000,
        );
    }
    text
}

/// Prints how long it takes and how that grows: the first run makes all, the second finds all there.
pub(crate) fn table() {
    let function = program("expand-variant-set");
    let directory = tempfile::tempdir().expect("a temporary directory");
    println!(
        "\nexpand-variant-set, one set with ten expressions, median of the rounds (least to most)\n"
    );
    println!(
        "| Repositories | run | seconds | PackageVariants a second | a CPU second | time for each / least | MB of input | peak memory, MB | / input |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut least: [Option<f64>; 2] = [None, None];
    for repositories in [10_000, 100_000] {
        let first = directory.path().join("first.yaml");
        std::fs::write(&first, resource_list(repositories)).expect("the input is written");
        let second = directory.path().join("second.yaml");
        std::fs::write(&second, output(function, &first)).expect("the input is written");
        let inputs = [("all are new", &first), ("nothing changes", &second)];
        let mut rows: Vec<_> = inputs
            .iter()
            .map(|(name, input)| Row::process(*name, || with_input(function, &[], input)))
            .collect();
        measure(&mut rows);
        for ((row, (_, input)), least) in rows.iter().zip(inputs).zip(&mut least) {
            let [low, seconds, high] = row.spread();
            let each = seconds / repositories as f64;
            let growth = each / *least.get_or_insert(each);
            let memory = row.memory_peak.map_or(f64::NAN, |bytes| bytes as f64 / 1e6);
            let megabytes =
                std::fs::metadata(input).map_or(f64::NAN, |file| file.len() as f64 / 1e6);
            println!(
                "| {repositories} | {} | {seconds:.2} ({low:.2} to {high:.2}) | {:.0} | {:.0} | {growth:.2} | {megabytes:.1} | {memory:.0} | {:.1} |",
                row.name,
                1.0 / each,
                repositories as f64 / row.cpu(),
                memory / megabytes,
            );
        }
    }
}

fn output(program: &str, input: &Path) -> String {
    let output = with_input(program, &[], input)
        .stderr(Stdio::null())
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{program} failed");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    // The results of the first run are no part of the second's input.
    let end = text.find("\nresults:\n").map_or(text.len(), |end| end + 1);
    text[..end].to_owned()
}
