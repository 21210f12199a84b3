//! Arbitrary KRM from a grammar: packages, edits of them and configs as people write them, and now and then
//! as nobody should.

// Each target takes a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fmt::Write;

use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// Files of a package, by path.
pub type Files = BTreeMap<String, String>;

const HEADS: [(&str, &str); 12] = [
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("v1", "Secret"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("example.com/v1", "Widget"),
    ("kpt.dev/v1", "Kptfile"),
    ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("config.porch.kpt.dev/v1alpha1", "PackageVariant"),
    ("config.porch.kpt.dev/v1alpha2", "PackageVariantSet"),
    ("config.porch.kpt.dev/v1alpha1", "Repository"),
];
const KEYS: [&str; 40] = [
    "name", "image", "spec", "template", "containers", "ports", "port", "protocol", "containerPort", "env", "value",
    "valueFrom", "volumes", "volumeMounts", "mountPath", "args", "labels", "annotations", "data", "metadata", "finalizers",
    "pipeline", "mutators", "validators", "configMap", "configPath", "selectors", "info", "readinessGates", "status",
    "conditions", "type", "upstream", "upstreamLock", "resources", "$patch", "$setElementOrder/containers", "<<",
    "app.kubernetes.io/name", "a b",
];
const WORDS: [&str; 24] = [
    "a", "b", "nginx:1", "nginx:2", "80", "8080", "TCP", "UDP", "true", "null", "~", "'5'", "\"x\\ty\"", "5.0", "0x1f",
    "on", "2001-01-01", "PackageVariant.v..0", "it's", "''", "[]", "{}", "delete", "replace",
];
const PATHS: [&str; 8] =
    ["Kptfile", "a.yaml", "b.yaml", "sub/Kptfile", "sub/a.yaml", "package-context.yaml", "notes.txt", "kustomization.yaml"];

/// Configs that each function takes, to begin with.
const CONFIGS: [(&str, &str); 10] = [
    ("set-package-context", "kind: SetPackageContext\ndata: {region: eu, zone: '042'}\nremoveKeys: [a]\ncreateIfMissing: true\n"),
    ("prepend-pipeline", "kind: PrependPipeline\nmetadata: {name: v}\npipeline:\n  mutators:\n  - image: nginx:1 # why\n    name: a\n    configMap: {a: b}\n  validators: []\n"),
    ("inject-config", "kind: InjectConfig\nmetadata: {name: v}\ninjectors:\n- name: a\n- {kind: Widget, name: b}\n"),
    ("merge-package", "kind: MergePackage\nonConflict: local\nstrategy: resource-merge\nconflicts:\n- {path: 'spec.**', take: upstream}\n"),
    ("apply-config", "kind: ApplyConfig\nlistOrder: apiserver\n"),
    ("apply-patch", "kind: ApplyPatch\nallowMissing: true\npatches:\n- target: {kind: Deployment}\n  patch:\n    spec: {replicas: 3, template: {spec: {containers: [{name: a, image: b}]}}}\n- patch: |\n    kind: Widget\n    metadata: {name: a}\n    spec: null\n"),
    ("create-patch", "kind: CreatePatch\nallowMissing: true\n"),
    ("expand-variant-set", ""),
    ("render-fleet", "kind: RenderFleet\nonConflict: upstream\nprune: true\nmaxDeletions: 100%\nallowEmpty: true\n"),
    ("render-variant", "kind: PackageVariant\nmetadata: {name: v}\nspec:\n  upstream: {repo: a, package: b, revision: v1}\n  downstream: {repo: a, package: c}\n  packageContext: {data: {a: b}}\n  pipeline: {mutators: [{image: a}]}\n  injectors: [{name: a}]\n"),
];

/// A resource, or something that nearly is one.
pub fn resource(u: &mut Unstructured<'_>, path: &str) -> Result<String> {
    let (version, kind) = if path.ends_with("Kptfile") { HEADS[6] } else { *u.choose(&HEADS)? };
    let mut out = format!("apiVersion: {version}\nkind: {kind}\nmetadata:");
    comment(u, &mut out)?;
    let _ = writeln!(out, "\n  name: {}", u.choose(&["a", "b", "kptfile.kpt.dev"])?);
    if u.ratio(1, 6)? {
        out += "  annotations: {kpt.dev/config-injection: required}\n";
    }
    let mut anchors = 0;
    for _ in 0..u.int_in_range(0..=4)? {
        let _ = write!(out, "{}:", u.choose(&["spec", "data", "pipeline", "status", "info", "stringData", "upstream"])?);
        value(u, 0, 4, &mut anchors, &mut out)?;
    }
    Ok(out)
}

fn comment(u: &mut Unstructured<'_>, out: &mut String) -> Result<()> {
    if u.ratio(1, 8)? {
        let _ = write!(out, " # c{}", u.int_in_range(0..=3)?);
    }
    Ok(())
}

/// What stands behind a key or dash at a column, to the end of its last line.
fn value(u: &mut Unstructured<'_>, column: usize, depth: usize, anchors: &mut usize, out: &mut String) -> Result<()> {
    if u.ratio(1, 12)? {
        *anchors += 1;
        let _ = write!(out, " &a{anchors}");
    }
    match u.int_in_range(0..=if depth == 0 { 4 } else { 11 })? {
        0..=2 => {
            let _ = write!(out, " {}", u.choose(&WORDS)?);
        }
        3 if *anchors > 0 => {
            let _ = write!(out, " *a{}", u.int_in_range(1..=*anchors)?);
        }
        4 => {
            let _ = write!(out, " |{}\n{:width$}text\n{:width$}# more", u.choose(&["", "-", "+"])?, "", "", width = column + 2);
        }
        3 | 5 => {
            let _ = write!(out, " {{{}: {}, {}: [{}]}}", u.choose(&KEYS)?, u.choose(&WORDS)?, "k", u.choose(&WORDS)?);
        }
        6..=8 => {
            comment(u, out)?;
            out.push('\n');
            for number in 0..=u.int_in_range(0..=3)? {
                if u.ratio(1, 10)? {
                    let _ = writeln!(out, "{:width$}# above", "", width = column + 2);
                }
                let key = if u.ratio(1, 3)? { format!("k{number}") } else { (*u.choose(&KEYS)?).to_owned() };
                let _ = write!(out, "{:width$}{key}:", "", width = column + 2);
                value(u, column + 2, depth - 1, anchors, out)?;
            }
            return Ok(());
        }
        _ => {
            comment(u, out)?;
            out.push('\n');
            for _ in 0..=u.int_in_range(0..=3)? {
                let _ = write!(out, "{:width$}-", "", width = column + 2);
                if u.ratio(1, 2)? {
                    let _ = write!(out, " name: {}\n{:width$}image:", u.choose(&WORDS)?, "", width = column + 4);
                    value(u, column + 4, depth - 1, anchors, out)?;
                } else {
                    value(u, column + 2, depth - 1, anchors, out)?;
                }
            }
            return Ok(());
        }
    }
    comment(u, out)?;
    out.push('\n');
    Ok(())
}

/// Sets, variants and what they select, as a fleet has them.
const FLEET: [&str; 5] = [
    "apiVersion: config.porch.kpt.dev/v1alpha2
kind: PackageVariantSet
metadata: {name: fleet, uid: u1}
spec:
  upstream: {repo: catalog, package: shop, revision: v2}
  targets:
  - repositorySelector:
      matchLabels: {role: cluster}
    template:
      downstream:
        packageExpr: target.package + '-' + repository.labels['region']
      packageContext:
        dataExprs:
        - key: region
          valueExpr: repository.labels['region']
      labelExprs:
      - {keyExpr: \"'a'\", valueExpr: 'repoDefault'}
  - repositories:
    - name: west
      packageNames: [a, b]
  - objectSelector: {apiVersion: v1, kind: ConfigMap, matchLabels: {role: cluster}}
    template:
      downstream: {repoExpr: target.name, package: shop}
      pipeline: {mutators: [{image: 'a:1', name: a, configMapExprs: [{key: k, valueExpr: target.labels.exists(l, l == 'role') ? 'y' : 'n'}]}]}
      injectors: [{name: a, kind: ConfigMap}, {nameExpr: repository.name}]
",
    "apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: v
  annotations: {fn.kpt.dev/on-conflict: local}
  labels: {config.porch.kpt.dev/packagevariantset: u1}
spec:
  upstream: {repo: catalog, package: shop, revision: v1}
  downstream: {repo: west, package: shop}
  adoptionPolicy: adoptExisting
  deletionPolicy: delete
  packageContext: {data: {a: b}, removeKeys: [c]}
  pipeline: {mutators: [{image: a, name: a}]}
  injectors: [{name: a}]
",
    "apiVersion: config.porch.kpt.dev/v1alpha1
kind: Repository
metadata: {name: west, labels: {role: cluster, region: eu}}
spec: {type: git, git: {repo: 'https://git.example.com/west.git', directory: packages}}
",
    "apiVersion: v1
kind: ConfigMap
metadata: {name: b, labels: {role: cluster, region: us}}
data: {a: b}
",
    "apiVersion: porch.kpt.dev/v1alpha1
kind: PackageRevision
metadata: {name: west-1}
spec: {repository: west, packageName: shop, revision: '1', workspaceName: v1, lifecycle: Published}
",
];
/// A package of a variant, with its owner.
const OWNED: &str = "apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop
  annotations: {fn.kpt.dev/package-variant: default/v, fn.kpt.dev/deletion-policy: delete}
upstream: {type: git, git: {repo: catalog, directory: shop, ref: v1}}
upstreamLock: {type: git, git: {repo: catalog, directory: shop, ref: v1, commit: x}}
";

/// What a fleet is made from.
pub fn fleet(u: &mut Unstructured<'_>) -> Result<Files> {
    let mut text = String::new();
    for resource in FLEET {
        if u.ratio(3, 4)? {
            text += "---\n";
            text += &if u.ratio(1, 3)? { edited_text(u, resource)? } else { resource.to_owned() };
        }
    }
    Ok([("fleet.yaml".to_owned(), text)].into())
}

/// The packages of a fleet.
pub fn owned_packages(u: &mut Unstructured<'_>) -> Result<Files> {
    let mut files = Files::new();
    for folder in ["west/shop", "b/shop", "west/old"] {
        if u.ratio(1, 2)? {
            files.insert(format!("{folder}/Kptfile"), edited_text(u, OWNED)?);
            files.extend(package(u)?.into_iter().filter(|(path, _)| path != "Kptfile").map(|(path, text)| (format!("{folder}/{path}"), text)));
        }
    }
    Ok(files)
}

/// The files of a package.
pub fn package(u: &mut Unstructured<'_>) -> Result<Files> {
    let mut files = Files::new();
    for _ in 0..=u.int_in_range(0..=3)? {
        let path = *u.choose(&PATHS)?;
        let mut text = resource(u, path)?;
        if u.ratio(1, 4)? {
            text = format!("{text}---\n{}", resource(u, "")?);
        }
        if u.ratio(1, 10)? {
            text = text.replace('\n', "\r\n");
        }
        files.insert(path.to_owned(), text);
    }
    Ok(files)
}

/// The package edited: lines go, come, change places and values; files go and move.
pub fn edited(u: &mut Unstructured<'_>, files: &Files) -> Result<Files> {
    let mut out = Files::new();
    for (path, text) in files {
        match u.int_in_range(0..=15)? {
            0 => {}
            1 => drop(out.insert(format!("moved/{path}"), text.clone())),
            _ => drop(out.insert(path.clone(), edited_text(u, text)?)),
        }
    }
    if u.ratio(1, 8)? {
        out.extend(package(u)?);
    }
    Ok(out)
}

pub fn edited_text(u: &mut Unstructured<'_>, text: &str) -> Result<String> {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..u.int_in_range(0..=3)? {
        if lines.is_empty() {
            break;
        }
        let at = u.choose_index(lines.len())?;
        match u.int_in_range(0..=6)? {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let to = u.choose_index(lines.len())?;
                lines.swap(at, to);
            }
            3 => lines.insert(at, format!("# new {}\n", u.int_in_range(0..=9)?)),
            4 => {
                let word = *u.choose(&WORDS)?;
                let line = &lines[at];
                lines[at] = match line.split_once(": ") {
                    Some((key, _)) => format!("{key}: {word}\n"),
                    None => line.replacen('a', "b", 1),
                };
            }
            5 => {
                let indent = lines[at].len() - lines[at].trim_start_matches(' ').len();
                lines.insert(at, format!("{:indent$}{}: {}\n", "", u.choose(&KEYS)?, u.choose(&WORDS)?));
            }
            _ => lines[at] = lines[at].replacen(|c: char| c.is_ascii_punctuation(), *u.choose(&["", ":", "-", "#", "'", "{"])?, 1),
        }
    }
    Ok(lines.concat())
}

/// A config for a function.
pub fn config(u: &mut Unstructured<'_>, function: &str) -> Result<String> {
    let of = |name: &str| CONFIGS.iter().find(|(other, _)| *other == name).map_or("", |(_, config)| config);
    let name = if u.ratio(1, 10)? { u.choose(&CONFIGS)?.0 } else { function };
    let body = of(name);
    let version = if name == "render-variant" { "config.porch.kpt.dev/v1alpha1" } else { "fn.kpt.dev/v1alpha1" };
    let text = if body.is_empty() { String::new() } else { format!("apiVersion: {version}\n{body}") };
    if u.ratio(1, 2)? { Ok(text) } else { edited_text(u, &text) }
}
