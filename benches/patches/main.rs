//! Patches beside `kubectl patch --local`: one resource (process start included), and 10,000 resources in
//! one run of ours; beside the oracle where `KRM_VARIANTS_SMP_ORACLE` names it. `cargo bench --bench patches`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
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

fn run(program: &Path, arguments: &[&str], stdin: &[u8]) -> (Duration, usize) {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .env("KUBECONFIG", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(stdin).expect("the program reads"));
        child.wait_with_output().expect("the program ends")
    });
    assert!(output.status.success(), "{}", program.display());
    (start.elapsed(), output.stdout.len())
}

fn row(name: &str, count: usize, work: impl Fn() -> (Duration, usize)) {
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| work().0).collect();
    times.sort();
    let (least, median) = (times[0], times[ROUNDS / 2]);
    let rate = count as f64 / median.as_secs_f64();
    println!("| {name} | {median:.1?} ({least:.1?}) | {rate:.0} |");
}

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let sparse = |number: usize| {
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: front-{number}\n{PATCH}")
    };
    let live = file("live.yaml", &deployment(0));
    let one_patch = file("one.yaml", &sparse(0));
    let body: String = PATCH.lines().map(|line| format!("  {line}\n")).collect();
    let entry = file(
        "entry.yaml",
        &format!("target: {{kind: Deployment}}\npatch:\n{body}"),
    );
    let items = |count: usize| {
        let mut text =
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n".to_owned();
        for number in 0..count {
            for (at, line) in deployment(number).lines().enumerate() {
                let mark = if at == 0 { "- " } else { "  " };
                let _ = writeln!(text, "{mark}{line}");
            }
        }
        text
    };
    let (one, many) = (items(1), items(COUNT));
    let all: String = (0..COUNT)
        .map(|n| format!("---\n{}", deployment(n)))
        .collect();
    let all_live = file("all.yaml", &all);
    let apply_patch = Path::new(env!("CARGO_BIN_EXE_apply-patch"));
    let apply_config = Path::new(env!("CARGO_BIN_EXE_apply-config"));
    println!("| work | median of {ROUNDS} (least) | resources a second |\n|---|---|---|");
    row("apply-patch, one resource (process)", 1, || {
        run(apply_patch, &["--patches", &one_patch], one.as_bytes())
    });
    let version = Command::new("kubectl")
        .args(["version", "--client"])
        .output();
    if version.is_ok() {
        let arguments = [
            "patch",
            "--local",
            "-o",
            "yaml",
            "-f",
            &live,
            "--patch-file",
            &one_patch,
        ];
        row("kubectl patch --local, one resource (process)", 1, || {
            run(Path::new("kubectl"), &arguments, b"")
        });
    }
    row("apply-patch, 10,000 resources (process)", COUNT, || {
        run(apply_patch, &["--patches", &entry], many.as_bytes())
    });
    let changed = many
        .replace("app:1", "app:2")
        .replace("value: live", "value: new");
    row("apply-config, 10,000 resources (process)", COUNT, || {
        run(apply_config, &["--live", &all_live], changed.as_bytes())
    });
    if let Some(oracle) = std::env::var_os("KRM_VARIANTS_SMP_ORACLE") {
        let quoted = |text: &str| format!("{text:?}");
        let question = |number| {
            format!(
                "{{\"op\":\"patch\",\"gvk\":\"apps/v1/Deployment\",\"original\":{},\"patch\":{}}}\n",
                quoted(&deployment(number)),
                quoted(PATCH)
            )
        };
        let questions: String = (0..COUNT).map(question).collect();
        row(
            "smp-oracle, 10,000 patches of YAML texts (process)",
            COUNT,
            || run(Path::new(&oracle), &[], questions.as_bytes()),
        );
    }
}
