//! Every function over inputs of growing size: what it takes for each MB, and whether that stays.

use std::path::PathBuf;

use super::measure::{Row, measure, with_input};
use super::programs::program;
use super::{fleet, generate};

const EMPTY: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";

pub(crate) const VARIANT: &str = "\
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: bench
spec:
  upstream: {repo: blueprints, package: fleet, revision: v1}
  downstream: {repo: edge, package: fleet}
  packageContext:
    data:
      region: eu
  pipeline:
    mutators:
    - image: gcr.io/kpt-fn/set-namespace:v0.4.1
      configMap:
        namespace: edge
  injectors:
  - name: endpoints
";

pub(crate) const PATCH: &str = "\
target: {kind: Deployment}
patch:
  spec:
    revisionHistoryLimit: 5
";

pub(crate) const POINT: &str = "\
- apiVersion: infra.example.com/v1
  kind: ServiceEndpoints
  metadata:
    name: here
    annotations:
      kpt.dev/config-injection: required
  spec:
    host: none
";

pub(crate) const CLUSTER: &str = "\
apiVersion: infra.example.com/v1
kind: ServiceEndpoints
metadata:
  name: endpoints
spec:
  host: db.example.com
";

/// A run of a function: what it reads on standard input, its flags, and how many bytes it reads in all.
pub(crate) struct Case {
    pub(crate) function: &'static str,
    pub(crate) program: &'static str,
    pub(crate) input: PathBuf,
    pub(crate) flags: Vec<String>,
    pub(crate) bytes: usize,
    resources: usize,
}

/// Prints the table.
pub(crate) fn table(megabytes: &[usize]) {
    println!(
        "\nEvery function over lists of so many MB; a fifth of the resources changes where not said otherwise\n"
    );
    println!(
        "| function | MB read | resources | MB/s | time for each MB / at the least size | CPU, s | CPU for each MB / at the least size | peak memory / input |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut least: Vec<Option<[f64; 2]>> = Vec::new();
    for size in megabytes {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let cases = cases(size * 1_000_000, &|name: &str, text: &str| {
            let path = directory.path().join(name);
            let folder = path.parent().expect("a folder");
            std::fs::create_dir_all(folder).expect("a folder");
            std::fs::write(&path, text).expect("a file");
            path
        });
        let mut rows: Vec<Row<'_>> = cases
            .iter()
            .map(|case| {
                let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
                Row::process(case.function, move || {
                    with_input(case.program, &flags, &case.input)
                })
            })
            .collect();
        measure(&mut rows);
        least.resize(rows.len(), None);
        for ((row, case), least) in rows.iter().zip(&cases).zip(&mut least) {
            let megabytes = case.bytes as f64 / 1e6;
            let each = [row.median() / megabytes, row.cpu() / megabytes];
            let first = *least.get_or_insert(each);
            let memory = row.memory_peak.map_or("-".to_owned(), |bytes| {
                format!("{:.2}", bytes as f64 / case.bytes as f64)
            });
            println!(
                "| {} | {megabytes:.1} | {} | {:.1} | {:.2} | {:.4} | {:.2} | {memory} |",
                row.name,
                case.resources,
                1.0 / each[0],
                each[0] / first[0],
                row.cpu(),
                each[1] / first[1],
            );
        }
    }
}

/// One run of each function over inputs of so many bytes; `write` makes a file.
// A table.
#[allow(clippy::too_many_lines)]
pub(crate) fn cases(bytes: usize, write: &dyn Fn(&str, &str) -> PathBuf) -> Vec<Case> {
    let list = generate::resource_list(bytes);
    let resources = list.matches("\n- apiVersion:").count();
    let stream = generate::stream(&list);
    let changed = |text: &str| text.replace("revisionHistoryLimit: 10", "revisionHistoryLimit: 5");
    let with_point = format!("{list}{POINT}");
    let mut repositories = bytes / 350;
    let mut set = fleet::resource_list(repositories);
    while set.len() < bytes {
        repositories += repositories / 20 + 1;
        set = fleet::resource_list(repositories);
    }
    let file = |name: &str, text: &str| write(name, text).display().to_string();
    let (old, new) = (
        file("original.yaml", &stream),
        file("upstream.yaml", &changed(&stream)),
    );
    let (variant, patch) = (file("variant.yaml", VARIANT), file("patch.yaml", PATCH));
    let cluster = file("cluster.yaml", CLUSTER);
    let (kptfile, others) = stream.split_once("---\n").expect("several documents");
    write("catalog/fleet/v1/Kptfile", kptfile);
    let all = write("catalog/fleet/v1/all.yaml", others);
    let catalog = all.ancestors().nth(3).expect("the catalog");
    let catalog = format!("blueprints={}", catalog.display());
    let (input, changes) = (
        write("list.yaml", &list),
        write("changed.yaml", &changed(&list)),
    );
    let flags = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
    let (one, two, three) = (
        list.len(),
        list.len() + stream.len(),
        list.len() + 2 * stream.len(),
    );
    let case = |function, program, input: &PathBuf, flags, bytes| Case {
        function,
        program,
        input: input.clone(),
        flags,
        bytes,
        resources,
    };
    vec![
        case(
            "set-package-context, one key",
            program("set-package-context"),
            &input,
            flags(&["region=eu"]),
            one,
        ),
        case(
            "review-package, a fifth changed",
            program("review-package"),
            &changes,
            flags(&["--before", &old]),
            two,
        ),
        case(
            "prepend-pipeline, one function",
            program("prepend-pipeline"),
            &input,
            flags(&["--config", &variant]),
            one,
        ),
        case(
            "inject-config, one injection point",
            program("inject-config"),
            &write("with-point.yaml", &with_point),
            flags(&["--config", &variant, "--resources", &cluster]),
            with_point.len(),
        ),
        case(
            "render-variant, a new one",
            program("render-variant"),
            &write("empty.yaml", EMPTY),
            flags(&[
                "--config",
                &variant,
                "--upstream",
                &old,
                "--resources",
                &cluster,
            ]),
            stream.len(),
        ),
        case(
            "render-fleet, a new one of one variant",
            program("render-fleet"),
            &write("empty.yaml", EMPTY),
            flags(&["--variants", &variant, "--catalog", &catalog]),
            stream.len(),
        ),
        case(
            "merge-package, upstream changed all Deployments",
            program("merge-package"),
            &input,
            flags(&["--original", &old, "--upstream", &new]),
            three,
        ),
        case(
            "apply-patch, to all Deployments",
            program("apply-patch"),
            &input,
            flags(&["--patches", &patch]),
            one,
        ),
        case(
            "create-patch, all Deployments differ",
            program("create-patch"),
            &changes,
            flags(&["--live", &old]),
            two,
        ),
        case(
            "create-overlay, a fifth changed",
            program("create-overlay"),
            &changes,
            flags(&["--upstream", &old]),
            two,
        ),
        case(
            "apply-config, all Deployments differ",
            program("apply-config"),
            &changes,
            flags(&["--live", &old]),
            two,
        ),
        Case {
            resources: repositories,
            ..case(
                "expand-variant-set, ten expressions for each Repository",
                program("expand-variant-set"),
                &write("set.yaml", &set),
                Vec::new(),
                set.len(),
            )
        },
    ]
}
