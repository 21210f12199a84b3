//! Patches and applies over 10,000 resources in one list, next to Kubernetes' own code where
//! `KRM_VARIANTS_SMP_ORACLE` names its binary; and one resource, next to `kubectl patch --local`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::measure::{Row, is_there, measure, with_input};
use super::programs::program;

const COUNT: usize = 10_000;

const PATCH: &str = "\
spec:
  template:
    spec:
      $setElementOrder/containers:
      - name: app
      - name: proxy
      containers:
      - name: app
        image: app:2
        env:
        - name: MODE
          value: new
        - name: OLD
          $patch: delete
";

fn deployment(number: usize) -> String {
    format!(
        "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: front-{number}
  namespace: shop
spec:
  replicas: 3
  selector:
    matchLabels:
      app: front
  template:
    metadata:
      labels:
        app: front
    spec:
      containers:
      - name: proxy
        image: proxy:1
      - name: app
        image: app:1 # tag
        env:
        - name: OLD
          value: gone
        - name: MODE
          value: live
        ports:
        - containerPort: 80
"
    )
}

fn list(count: usize) -> String {
    let mut text = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n".to_owned();
    for number in 0..count {
        for (at, line) in deployment(number).lines().enumerate() {
            let mark = if at == 0 { "- " } else { "  " };
            let _ = writeln!(text, "{mark}{line}");
        }
    }
    text
}

fn changed(text: &str) -> String {
    text.replace("app:1", "app:2")
        .replace("value: live", "value: new")
}

/// Prints the table.
// One row after the other, as they are printed.
#[allow(clippy::too_many_lines)]
pub(crate) fn table() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let text = |name: &str, text: &str| write(name, text).display().to_string();
    let live = text("live.yaml", &deployment(0));
    let one_patch = text(
        "one.yaml",
        &format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: front-0\n{PATCH}"),
    );
    let body: String = PATCH.lines().map(|line| format!("  {line}\n")).collect();
    let entry = text(
        "entry.yaml",
        &format!("target: {{kind: Deployment}}\npatch:\n{body}"),
    );
    let all: String = (0..COUNT)
        .map(|number| format!("---\n{}", deployment(number)))
        .collect();
    let all_live = text("all.yaml", &all);
    let one = &*write("list-1.yaml", &list(1));
    let many = &*write("list.yaml", &list(COUNT));
    let configs = &*write("configs.yaml", &changed(&list(COUNT)));
    let patch = program("apply-patch");
    let apply = program("apply-config");

    let mut rows = vec![
        Row::process("apply-patch", || {
            with_input(patch, &["--patches", &entry], many)
        }),
        Row::process("apply-config", || {
            with_input(apply, &["--live", &all_live], configs)
        }),
    ];
    let mut counts = vec![COUNT, COUNT];
    match std::env::var_os("KRM_VARIANTS_SMP_ORACLE") {
        Some(oracle) => {
            for (operation, question) in [
                ("patch", patch_question as fn(usize) -> String),
                ("apply", apply_question),
            ] {
                let questions: String = (0..COUNT).map(question).collect();
                let input = write(&format!("{operation}.json"), &questions);
                let name = format!("apimachinery and kubectl (smp-oracle), {operation}");
                let oracle = oracle.clone();
                rows.push(Row::process(name, move || {
                    with_input(Path::new(&oracle), &[], &input)
                }));
                counts.push(COUNT);
            }
        }
        None => println!("\nleft out: smp-oracle, since KRM_VARIANTS_SMP_ORACLE does not name it"),
    }
    rows.push(Row::process("apply-patch, one resource", || {
        with_input(patch, &["--patches", &one_patch], one)
    }));
    counts.push(1);
    if is_there("kubectl") {
        rows.push(Row::process("kubectl patch --local, one resource", || {
            let mut command = Command::new("kubectl");
            command.args(["patch", "--local", "-o", "yaml", "-f", &live]);
            command.args(["--patch-file", &one_patch]);
            command.env("KUBECONFIG", "/dev/null");
            command
        }));
        counts.push(1);
    }
    measure(&mut rows);
    println!(
        "\nPatches and applies, whole processes from YAML to YAML, {COUNT} resources in one list if not said otherwise\n"
    );
    println!(
        "| work | seconds, median (least to most) | resources a second | CPU, s | resources a CPU second | peak memory, MB |"
    );
    println!("|---|---|---|---|---|---|");
    for (row, count) in rows.iter().zip(counts) {
        let [low, median, high] = row.spread();
        let memory = row.memory_peak.map_or(f64::NAN, |bytes| bytes as f64 / 1e6);
        println!(
            "| {} | {median:.4} ({low:.4} to {high:.4}) | {:.0} | {:.4} | {:.0} | {memory:.0} |",
            row.name,
            count as f64 / median,
            row.cpu(),
            count as f64 / row.cpu(),
        );
    }
}

// The documents as YAML texts, which the oracle reads itself.
fn patch_question(number: usize) -> String {
    format!(
        "{{\"op\":\"patch\",\"gvk\":\"apps/v1/Deployment\",\"original\":{:?},\"patch\":{PATCH:?}}}\n",
        deployment(number)
    )
}

fn apply_question(number: usize) -> String {
    let live = deployment(number);
    format!(
        "{{\"op\":\"apply\",\"config\":{:?},\"live\":{live:?}}}\n",
        changed(&live)
    )
}
