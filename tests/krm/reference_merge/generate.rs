//! Triples of real kinds: a template, edited at random to a base, and the base edited to local and upstream.

use krm_yaml::OwnedDocument;

use super::plain::Plain;
use super::texts::{document, has_lines};
use crate::kpt_merge::generate::Random;

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  labels: {app: shop, tier: front}
  annotations: {example.com/owner: team}
  finalizers: [a.com/f, b.com/f, c.com/f]
spec:
  replicas: 3
  selector:
    matchLabels: {app: shop}
  template:
    metadata:
      labels: {app: shop}
    spec:
      nodeSelector: {disk: ssd}
      imagePullSecrets: [{name: c1}, {name: c2}]
      hostAliases:
      - ip: 10.0.0.1
        hostnames: [a, b]
      topologySpreadConstraints:
      - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 1}
      - {topologyKey: host, whenUnsatisfiable: ScheduleAnyway, maxSkew: 2}
      tolerations:
      - {key: a, operator: Exists}
      initContainers:
      - {name: c1, image: init:v1}
      containers:
      - name: c1
        image: shop:v1
        args: [--one, --two=2, --app=quay.io/team/app:v1, --level=1]
        env:
        - {name: A, value: a}
        - name: B
          valueFrom:
            configMapKeyRef: {name: config, key: b}
        - {name: C, value: c}
        ports:
        - {name: http, containerPort: 80}
        - {name: dns, containerPort: 53, protocol: UDP}
        - {name: dns-tcp, containerPort: 53, protocol: TCP}
        volumeMounts:
        - {name: c1, mountPath: /one}
        - {name: c2, mountPath: /two, readOnly: true}
        resources:
          limits: {cpu: 1, memory: 1Gi}
      - name: c2
        image: side:v1
      volumes:
      - name: c1
        emptyDir: {}
      - name: c2
        configMap: {name: config, items: [{key: k, path: p}]}
";

const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata:
  name: shop
  labels: {app: shop}
spec:
  type: ClusterIP
  selector: {app: shop, tier: front}
  externalIPs: [10.0.0.1]
  ports:
  - {name: http, port: 80, targetPort: 8080}
  - {name: https, port: 443, targetPort: 8443, protocol: TCP}
  - {name: dns, port: 53, protocol: UDP}
";

const CONFIG_MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  annotations: {a: b, c: d}
data:
  one: '1'
  two: \"two\\nlines\\n\"
  list.txt: \"one\\ntwo\\nthree\\nfour\\nfive\\nsix\\n\"
  conf.yaml: \"level: info\\nport: 80\\nhosts: [a, b]\\nlimits:\\n  cpu: 1\\n  memory: 2\\n\"
  three: x
binaryData: {b: AAAA}
";

const ACCOUNT: &str = "
apiVersion: v1
kind: ServiceAccount
metadata:
  name: shop
  ownerReferences:
  - {apiVersion: v1, kind: Pod, name: a, uid: u1}
  - {apiVersion: v1, kind: Pod, name: b, uid: u2}
secrets: [{name: c1}, {name: c2}, {name: c3}]
automountServiceAccountToken: true
";

const CUSTOM: &str = "
apiVersion: example.com/v1
kind: Widget
metadata:
  name: w
  labels: {app: w}
spec:
  size: 5
  ratio: 0.5
  nothing: null
  ports: [{name: a, port: 1}, {name: b, port: 2}]
  words: [a, b, c]
  rules:
  - {apiGroups: [x], resources: [c1, c2], verbs: [get, list]}
  - {apiGroups: [x], resources: [c3], verbs: [get]}
  alerts: [{alert: A, for: 1m, labels: {severity: x}}, {alert: B, for: 1m}, {record: c, expr: 1}]
  egress:
  - {to: [{cidr: a}, {cidr: b}], ports: [{port: 1, protocol: TCP}]}
  - {to: [{cidr: c}], ports: [{port: 2, protocol: TCP}]}
  images: [r.io/c1:v1, r.io/c2:v1]
  deep:
    deeper:
      deepest: {x: 1, w: [1, 2, {z: 3}]}
    other: {}
status: {}
";

const KPTFILE_BY_IMAGE: &str = "
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: p
  labels: {app: p}
info:
  description: text
  readinessGates: [{conditionType: c1}, {conditionType: c2}]
pipeline:
  mutators:
  - image: gcr.io/kpt-fn/set-labels:v1
    configMap: {app: p, tier: x}
  - image: localhost:5000/fn/set-namespace@sha256:00
    configPath: ns.yaml
    selectors: [{kind: Deployment}]
  - image: gcr.io/kpt-fn/apply-setters:v0.1
    configMap: {a: b}
  validators:
  - image: gcr.io/kpt-fn/kubeval:v1
status:
  conditions:
  - {type: c1, status: 'True'}
";

const KPTFILE_BY_NAME: &str = "
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: p
info:
  keywords: [a, b]
pipeline:
  mutators:
  - {name: PackageVariant.v..0, image: 'a:v1', configMap: {x: w}}
  - {name: c1, image: 'a:v1', configMap: {app: p, tier: x}}
  - {name: c2, image: 'b:v1', configPath: ns.yaml, exclude: [{kind: A}]}
  - {name: c3, exec: run it}
";

const TEMPLATES: [(&str, &str); 7] = [
    ("Deployment", DEPLOYMENT),
    ("Service", SERVICE),
    ("ConfigMap", CONFIG_MAP),
    ("ServiceAccount", ACCOUNT),
    ("Widget", CUSTOM),
    ("Kptfile", KPTFILE_BY_IMAGE),
    ("Kptfile", KPTFILE_BY_NAME),
];

pub(super) struct Triple {
    pub(super) kind: &'static str,
    pub(super) versions: [Option<Plain>; 3],
}

pub(super) fn read(text: &str) -> Plain {
    let document = OwnedDocument::parse(text.to_owned()).expect("YAML");
    Plain::from(
        &document
            .root()
            .and_then(|root| root.value())
            .expect("a value"),
    )
}

pub(super) fn triple(seed: u64) -> Triple {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let (kind, template) = TEMPLATES[random.below(TEMPLATES.len())];
    let mut base = read(template);
    edit_some(&mut base, 0, 3, &mut random);
    let (mut local, mut upstream) = (base.clone(), base.clone());
    if random.below(4) == 0 {
        // Something that both sides did.
        edit_some(&mut local, 1, 2, &mut random);
        upstream = local.clone();
    }
    edit_some(&mut local, 1, 4, &mut random);
    edit_some(&mut upstream, 1, 4, &mut random);
    let mut versions = [Some(base), Some(local), Some(upstream)];
    if random.below(30) == 0 && kind != "Kptfile" {
        versions[random.below(3)] = None;
    }
    Triple { kind, versions }
}

fn edit_some(value: &mut Plain, least: usize, most: usize, random: &mut Random) {
    for _ in 0..least + random.below(most - least + 1) {
        let mut containers = Vec::new();
        collect(value, &mut Vec::new(), &mut containers);
        let at = containers[random.below(containers.len())].clone();
        edit(value, &at, random);
    }
}

/// The ways to all maps and lists below the root, by position.
fn collect(value: &Plain, at: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
    let children: Vec<&Plain> = match value {
        Plain::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
        Plain::List(elements) => elements.iter().collect(),
        _ => return,
    };
    if !at.is_empty() {
        out.push(at.clone());
    }
    for (index, child) in children.into_iter().enumerate() {
        at.push(index);
        collect(child, at, out);
        at.pop();
    }
}

fn edit(value: &mut Plain, at: &[usize], random: &mut Random) {
    let is_metadata =
        matches!((&*value, at), (Plain::Map(entries), [only]) if entries[*only].0 == "metadata");
    let mut place = value;
    for index in at {
        place = match place {
            Plain::Map(entries) => &mut entries[*index].1,
            Plain::List(elements) => &mut elements[*index],
            _ => return,
        };
    }
    match place {
        Plain::Map(entries) => edit_map(entries, is_metadata, random),
        Plain::List(elements) => edit_list(elements, random),
        _ => {}
    }
}

fn edit_map(entries: &mut Vec<(String, Plain)>, is_metadata: bool, random: &mut Random) {
    let at = random.below(entries.len() + 1);
    let is_own = is_metadata && entries.get(at).is_some_and(|(key, _)| key == "name");
    if at == entries.len() || is_own {
        let key = [
            "k1",
            "k2",
            "app",
            "config.io/x",
            "value",
            "protocol",
            "name",
        ][random.below(7)];
        if !entries.iter().any(|(name, _)| name == key) {
            let place = random.below(entries.len() + 1);
            entries.insert(place, (key.to_owned(), any(random)));
        }
        return;
    }
    match random.below(8) {
        0 | 1 => {
            entries.remove(at);
        }
        2 if !is_metadata => {
            let entry = entries.remove(at);
            let place = random.below(entries.len() + 1);
            entries.insert(place, entry);
        }
        3 if !is_metadata => entries[at].1 = any(random),
        _ => {
            let value = &mut entries[at].1;
            match value {
                Plain::Number(number) => *number += 1.0,
                Plain::Bool(value) => *value = !*value,
                Plain::Text(text) if has_lines(text) && random.below(8) > 0 => {
                    edit_text(text, random);
                }
                Plain::Text(text) => {
                    // The same few for both sides.
                    let choices = [
                        "x",
                        "c1",
                        "c2",
                        "UDP",
                        "gcr.io/kpt-fn/set-labels:v2",
                        "ghcr.io/catalog/set-labels:v2",
                        "it's: new #\n",
                    ];
                    *text = choices[random.below(7)].to_owned();
                }
                _ => {}
            }
        }
    }
}

/// Edits a text of several lines: one of them, or the document that it is.
fn edit_text(text: &mut String, random: &mut Random) {
    if let Some(document) = document(text)
        && random.below(3) > 0
    {
        let mut root = Plain::Map(vec![("root".to_owned(), document)]);
        edit_some(&mut root, 1, 2, random);
        if let Some(edited) = root.get("root").filter(|value| !value.is_empty()) {
            *text = to_yaml(edited, random);
        }
        return;
    }
    let mut lines: Vec<&str> = text.lines().collect();
    let at = random.below(lines.len());
    let line = ["one", "new", "port: 81", "level: debug"][random.below(4)];
    match random.below(3) {
        0 => lines[at] = line,
        1 => lines.insert(at, line),
        _ => _ = lines.remove(at),
    }
    *text = lines.into_iter().map(|line| format!("{line}\n")).collect();
}

fn edit_list(elements: &mut Vec<Plain>, random: &mut Random) {
    let count = elements.len();
    let at = random.below(count.max(1));
    match random.below(7) {
        _ if count == 0 => elements.push(any(random)),
        0 | 1 => {
            elements.remove(at);
        }
        2 if elements[at].text().is_some() => {
            if let Plain::Text(text) = &mut elements[at] {
                *text = changed(text, random);
            }
        }
        2 | 3 => {
            let element = elements.remove(at);
            let place = random.below(elements.len() + 1);
            elements.insert(place, element);
        }
        _ => {
            let mut new = elements[at].clone();
            rename(&mut new, random);
            let place = random.below(count + 1);
            elements.insert(place, new);
        }
    }
}

/// Another value of a flag, another registry or tag.
fn changed(text: &str, random: &mut Random) -> String {
    let number = random.below(3);
    match (text.rsplit_once('/'), text.split_once('=')) {
        (Some((_, image)), _) if random.below(2) == 0 => {
            let flag = text.split_once('=').map(|(flag, _)| format!("{flag}="));
            format!("{}m{number}.io/{image}", flag.unwrap_or_default())
        }
        (Some(_), _) => match text.rsplit_once(':') {
            Some((image, _)) => format!("{image}:v{number}"),
            None => text.to_owned(),
        },
        (None, Some((flag, _))) => format!("{flag}={number}"),
        (None, None) => format!("{text}{number}"),
    }
}

/// Makes another element of one: by its first field of the usual keys.
fn rename(element: &mut Plain, random: &mut Random) {
    let number = random.below(4);
    match element {
        Plain::Text(text) if text.starts_with("--") => *text = format!("--new{number}"),
        Plain::Text(text) => *text = format!("new{number}"),
        Plain::Number(value) => *value += 10.0,
        Plain::Map(entries) => {
            const KEYS: [&str; 10] = [
                "alert",
                "port",
                "containerPort",
                "mountPath",
                "name",
                "image",
                "ip",
                "type",
                "conditionType",
                "topologyKey",
            ];
            // Now and then it stays a second element with the same key.
            let keys = entries
                .iter_mut()
                .filter(|(key, _)| KEYS.contains(&key.as_str()) && random.below(12) > 0);
            for (_, value) in keys {
                match value {
                    Plain::Number(value) => {
                        *value += 10.0 * (1.0 + f64::from(u8::try_from(number).unwrap_or(0)))
                    }
                    Plain::Text(text) => *text = format!("new{number}:v1"),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn any(random: &mut Random) -> Plain {
    match random.below(8) {
        0 => Plain::Null,
        1 => Plain::Map(Vec::new()),
        2 => Plain::List(Vec::new()),
        3 => Plain::Map(vec![
            ("name".to_owned(), Plain::Text("c1".to_owned())),
            ("k1".to_owned(), Plain::Number(5.0)),
        ]),
        4 => Plain::List(vec![Plain::Text("new1".to_owned())]),
        5 => Plain::Number(5.0),
        _ => Plain::Text("x".to_owned()),
    }
}

/// The value as YAML; equal values now and then in another spelling.
pub(super) fn to_yaml(value: &Plain, random: &mut Random) -> String {
    let mut out = String::new();
    for (key, value) in value.entries() {
        out += &format!("{}:", spelled(key, random));
        block(value, 2, random, &mut out);
    }
    out
}

/// What stands behind a key or dash, to the end of its last line.
fn block(value: &Plain, column: usize, random: &mut Random, out: &mut String) {
    if value.is_empty() || random.below(5) == 0 {
        *out += &format!(" {}\n", flow(value, random));
        return;
    }
    out.push('\n');
    for (key, value) in value.entries() {
        *out += &format!("{:column$}{}:", "", spelled(key, random));
        block(value, column + 2, random, out);
    }
    for element in value.elements() {
        *out += &format!("{:column$}-", "");
        block(element, column + 2, random, out);
    }
}

fn flow(value: &Plain, random: &mut Random) -> String {
    match value {
        Plain::List(elements) => {
            let elements: Vec<String> = elements
                .iter()
                .map(|element| flow(element, random))
                .collect();
            format!("[{}]", elements.join(", "))
        }
        Plain::Map(entries) => {
            let entry = |(key, value): &(String, Plain)| {
                format!("{}: {}", spelled(key, random), flow(value, random))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Plain::Text(text) => spelled(text, random),
        Plain::Number(number) if random.below(6) == 0 => format!("{number:?}"),
        other => other.to_string(),
    }
}

fn spelled(text: &str, random: &mut Random) -> String {
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "./-".contains(c))
        && !["true", "false", "null", "True"].contains(&text);
    if is_word && random.below(6) > 0 {
        text.to_owned()
    } else {
        format!("{text:?}")
    }
}
