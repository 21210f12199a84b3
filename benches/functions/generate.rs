//! Generated ResourceLists in the shape that packages have: the same bytes on every machine.

use std::fmt::Write as _;

use krm_core::resource_list::ResourceList;

/// A small linear congruential generator: benchmarks need variety, not randomness.
struct Variety(u64);

impl Variety {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A ResourceList of at least `bytes` bytes, a Kptfile and a package context first.
pub(crate) fn resource_list(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 8192);
    fill(&mut text, |text, _| text.len() >= bytes);
    text
}

/// A ResourceList of so many resources, the first two among them.
pub(crate) fn resources(count: usize) -> String {
    let mut text = String::new();
    fill(&mut text, |_, number| number + 2 >= count);
    text
}

/// As many resources of a ResourceList as fit into so many bytes of JSON, on one line or printed.
pub(crate) fn json(list: &str, bytes: usize, printed: bool) -> String {
    let list = ResourceList::parse(list.to_owned()).expect("a ResourceList");
    let mut text =
        r#"{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":["#.to_owned();
    for (id, _) in list.items() {
        let item = list
            .read(id, |node| node.value())
            .expect("a value")
            .to_json();
        if text.len() >= bytes {
            break;
        }
        if !text.ends_with('[') {
            text.push(',');
        }
        if printed {
            let item: serde_json::Value = item.parse().expect("JSON");
            text.push_str(&format!("\n{item:#}").replace('\n', "\n    "));
        } else {
            text.push_str(&item);
        }
    }
    text.push_str("]}\n");
    text
}

/// The resources of a ResourceList as a YAML stream, without the annotations of a package.
pub(crate) fn stream(list: &str) -> String {
    let items = list.split_once("items:\n").map_or("", |(_, items)| items);
    let mut text = String::with_capacity(items.len());
    for line in items.lines() {
        let annotation = line.starts_with("      config.kubernetes.io/")
            || line.starts_with("      internal.config.kubernetes.io/");
        if annotation || line == "    annotations:" {
            continue;
        }
        if line.starts_with("- ") {
            text.push_str("---\n");
        }
        text.push_str(line.get(2..).unwrap_or_default());
        text.push('\n');
    }
    text
}

/// Adds a whole ResourceList; `enough` is asked with the text so far and the number of the next item.
fn fill(text: &mut String, enough: impl Fn(&str, usize) -> bool) {
    let mut variety = Variety(42);
    text.push_str("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n");
    item(text, 0, "Kptfile", &kptfile());
    item(text, 0, "package-context.yaml", &package_context());
    let mut number = 0;
    while !enough(text, number) {
        let (folder, resource) = match variety.below(20) {
            0..8 => ("deployments", deployment(&mut variety, number)),
            8..12 => ("services", service(number)),
            12..17 => ("configmaps", config_map(&mut variety, number)),
            _ => ("rules", rules(&mut variety, number)),
        };
        item(
            text,
            number,
            &format!("{folder}/app-{number}.yaml"),
            &resource,
        );
        number += 1;
    }
}

/// One item behind a dash, with the annotations that kpt gives it.
fn item(text: &mut String, number: usize, path: &str, resource: &str) {
    let paths = format!(
        "  annotations:\n    config.kubernetes.io/index: '0'\n    config.kubernetes.io/path: '{path}'\n    \
         internal.config.kubernetes.io/index: '0'\n    internal.config.kubernetes.io/path: '{path}'\n    \
         internal.config.kubernetes.io/annotations-migration-resource-id: '{number}'\n"
    );
    let resource = resource.replacen("  ANNOTATIONS\n", &paths, 1);
    for (index, line) in resource.lines().enumerate() {
        let lead = match (index, line.is_empty()) {
            (0, _) => "- ",
            (_, true) => "",
            (_, false) => "  ",
        };
        let _ = writeln!(text, "{lead}{line}");
    }
}

fn kptfile() -> String {
    "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: fleet\n  ANNOTATIONS\ninfo:\n  description: a fleet\n".to_owned()
}

fn package_context() -> String {
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n  ANNOTATIONS\ndata:\n  name: fleet # by kpt\n"
        .to_owned()
}

fn deployment(variety: &mut Variety, number: usize) -> String {
    let replicas = variety.below(9) + 1;
    let mut text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: # kpt-merge: ns/app-{number}\n  name: app-{number}\n  \
         namespace: ns-{} # kpt-set: ${{namespace}}\n  labels:\n    app.kubernetes.io/name: app-{number}\n    \
         app.kubernetes.io/version: \"1.{replicas}.0\"\n  ANNOTATIONS\nspec:\n  # owned by team {}\n  replicas: {replicas} # kpt-set: ${{replicas}}\n  \
         revisionHistoryLimit: 10\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: app-{number}\n  strategy:\n    \
         type: RollingUpdate\n    rollingUpdate: {{maxSurge: 25%, maxUnavailable: 0}}\n  template:\n    metadata:\n      labels:\n        \
         app.kubernetes.io/name: app-{number}\n    spec:\n      serviceAccountName: app-{number}\n      containers:\n",
        number % 50,
        number % 13,
    );
    for container in 0..=variety.below(3) {
        let _ = write!(
            text,
            "      - name: c{container}\n        image: \"registry.example.com/team-{}/app-{number}:v{}\" # kpt-set: ${{image}}\n        \
             command: [\"/bin/sh\", \"-c\"]\n        args:\n        - --listen=:{}\n        - \"--config=/etc/app-{number}/config.yaml\"\n        \
             ports:\n        - name: http\n          containerPort: {}\n          protocol: TCP\n        env:\n        - name: POD_NAME\n          \
             valueFrom:\n            fieldRef:\n              fieldPath: metadata.name\n        - name: FLAGS\n          \
             value: '{{\"a\":true,\"b\":{}}}'\n        resources:\n          limits:\n            cpu: 500m\n            memory: 256Mi\n          \
             requests: # see the capacity plan\n            cpu: 100m\n            memory: 128Mi\n        volumeMounts:\n        - name: config\n          \
             mountPath: /etc/app-{number}\n          readOnly: true\n",
            number % 7,
            variety.below(40),
            8000 + container,
            8000 + container,
            variety.below(100),
        );
    }
    text.push_str("      volumes:\n      - name: config\n        configMap:\n          name: config\n      nodeSelector: {}\n      tolerations: []\n");
    text
}

fn service(number: usize) -> String {
    format!(
        "# Service of app {number}\napiVersion: v1\nkind: Service\nmetadata:\n  name: app-{number}\n  ANNOTATIONS\nspec:\n  type: ClusterIP\n  \
         selector:\n    app.kubernetes.io/name: app-{number}\n  ports:\n  - name: http\n    port: 80\n    targetPort: http\n  - name: metrics\n    \
         port: 9090 # scraped\n    targetPort: metrics\n"
    )
}

fn config_map(variety: &mut Variety, number: usize) -> String {
    let mut text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-{number}\n  ANNOTATIONS\ndata:\n  level: info\n  enabled: \"true\"\n  \
         legacy: 'yes'\n  server.conf: |\n    # no comment of this document\n    server {{\n"
    );
    for line in 0..3 + variety.below(22) {
        let _ = writeln!(
            text,
            "        location /part/{line} {{ proxy_pass http://app-{line}.ns:80; }}"
        );
    }
    text.push_str("    }\n  app.properties: |-\n");
    for line in 0..4 + variety.below(20) {
        let _ = writeln!(
            text,
            "    some.property.{line}=value of {}",
            variety.below(1000)
        );
    }
    text.push_str("  description: >-\n    Words that are folded\n    over two lines.\n  unicode: \"naïve café – 日本語\"\n");
    text
}

fn rules(variety: &mut Variety, number: usize) -> String {
    let mut text = format!(
        "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: rules-{number}\n  labels: {{prometheus: k8s, role: alert-rules}}\n  \
         ANNOTATIONS\nspec:\n  groups:\n  - name: app-{number}.rules\n    interval: 30s\n    rules:\n"
    );
    for rule in 0..=variety.below(6) {
        let _ = write!(
            text,
            "    # rule {rule}\n    - alert: AppDown{rule}\n      expr: sum(rate(http_requests_total{{job=\"app-{number}\",code=~\"5..\"}}[5m])) > {}\n      \
             for: 10m\n      labels:\n        severity: warning\n      annotations:\n        summary: \"Instance {{{{ $labels.instance }}}} down\"\n        \
             description: |\n          The first line.\n          The second line.\n",
            variety.below(50),
        );
    }
    text
}
