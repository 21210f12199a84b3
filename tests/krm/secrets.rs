//! Values of Secrets, marked, through every function, spoilt in all ways: they are in no result and no error.

use indoc::indoc;
use std::collections::BTreeMap;

use krm_core::config::Config;
use krm_function::supplied::Role;
use krm_function::{Function, Inputs, Items, SuppliedInput, run};
use krm_yaml::{OwnedDocument, Value};
use krmv::FUNCTIONS;

use crate::kpt_merge::generate::Random;

const MARK: &str = "hunter2";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The mark in each place where a Secret has values, with what makes functions speak of it: two kinds of its
/// fields, patches, injection, conflicts, keys twice.
const SECRET: &str = "\
apiVersion: v1
kind: Secret
metadata:
  name: s
  annotations:
    kpt.dev/config-injection: required
    kubectl.kubernetes.io/last-applied-configuration: |
      {\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},\"stringData\":{\"a\":\"hunter2 0\"}}
data:
  a: hunter2 1
  b: hunter2 2
stringData:
  a: \"hunter2 3\"
  c: |
    hunter2 4
    and more
spec:
  containers: [{name: a, image: x}]
";
pub(crate) const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n";

const CONFIGS: [(&str, &str); 11] = [
    (
        "set-package-context",
        "kind: SetPackageContext\ncreateIfMissing: true\ndata: {a: b}\n",
    ),
    (
        "prepend-pipeline",
        "kind: PrependPipeline\nmetadata: {name: v}\npipeline: {mutators: [{image: a}]}\n",
    ),
    (
        "inject-config",
        "kind: InjectConfig\ninjectors: [{name: s}, {kind: Secret, name: t}]\n",
    ),
    ("merge-package", "kind: MergePackage\n"),
    ("review-package", "kind: ReviewPackage\n"),
    ("create-overlay", "kind: CreateOverlay\n"),
    ("apply-config", "kind: ApplyConfig\n"),
    ("apply-patch", "kind: ApplyPatch\n"),
    ("create-patch", "kind: CreatePatch\n"),
    ("expand-variant-set", ""),
    (
        "render-variant",
        indoc! {"
            kind: PackageVariant
            metadata: {name: v}
            spec:
              upstream: {repo: a, package: b, revision: v1}
              downstream: {repo: a, package: c}
              injectors: [{name: s}]
        "},
    ),
];

pub(crate) fn config(function: &Function) -> Config {
    let found = CONFIGS.iter().find(|(name, _)| *name == function.name);
    let text = match found {
        Some((_, "")) | None => String::new(),
        Some(("render-variant", text)) => {
            format!("apiVersion: config.porch.kpt.dev/v1alpha1\n{text}")
        }
        Some((_, text)) => format!("apiVersion: fn.kpt.dev/v1alpha1\n{text}"),
    };
    Config::parse(text, "config").expect("a config")
}

/// The Secret with other values, or with lines that are gone, doubled, moved, cut or spoilt. What is left of a
/// value still is marked. A line that says whether it is a Secret at all stays.
fn spoilt(random: &mut Random) -> String {
    loop {
        let text = spoilt_once(random);
        if is_secret(&text) {
            return text;
        }
    }
}

fn spoilt_once(random: &mut Random) -> String {
    let mut lines: Vec<String> = SECRET.lines().map(str::to_owned).collect();
    for _ in 0..random.below(4) {
        let at = 3 + random.below(lines.len() - 3);
        let to = 3 + random.below(lines.len() - 3);
        match random.below(7) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(to, lines[at].clone()),
            2 => lines.swap(at, to),
            3 => {
                lines[at] =
                    lines[at].replacen("hunter2", &format!("hunter2 {}", random.below(9)), 1)
            }
            4 => lines[at] = lines[at].replacen(['"', '{', '\''], "", 1),
            5 => lines[at] = lines[at].replacen(": ", ": [", 1),
            _ => lines[at] = lines[at].replacen(' ', "\t", 1),
        }
        if lines.len() < 5 {
            break;
        }
    }
    lines.join("\n") + "\n"
}

/// Whether all marks stand where a Secret has values; also where the text is none that can be read.
fn is_secret(text: &str) -> bool {
    let Ok(document) = OwnedDocument::parse(text.to_owned()) else {
        return true;
    };
    let Some(Value::Mapping(mut fields)) = document.root().and_then(|root| root.value()) else {
        return true;
    };
    fields.retain(|(key, _)| !["data", "stringData"].contains(&key.as_str().unwrap_or_default()));
    for (_, field) in &mut fields {
        let Value::Mapping(metadata) = field else {
            continue;
        };
        for (_, annotations) in metadata {
            if let Value::Mapping(annotations) = annotations {
                annotations.retain(|(key, _)| key.as_str() != Some(LAST_APPLIED));
            }
        }
    }
    !Value::Mapping(fields).to_json().contains(MARK)
}

#[track_caller]
fn check(what: &str, texts: &[String], said: &str) {
    assert!(
        !said.contains(MARK),
        "{what}: {said}\n{}",
        texts.join("---\n")
    );
}

#[test]
fn no_value_of_a_secret_is_printed() {
    let (mut refused, mut told) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed * 31 + 7);
        let texts: Vec<String> = (0..4).map(|_| spoilt(&mut random)).collect();
        let files = |text: &String| -> BTreeMap<String, String> {
            [("Kptfile", KPTFILE), ("s.yaml", text)]
                .map(|(path, text)| (path.to_owned(), text.to_owned()))
                .into()
        };
        for function in FUNCTIONS {
            let given = texts[1..].iter().map(files).map(SuppliedInput::Files);
            let inputs = Inputs {
                config: Some(config(function)),
                supplied: function.roles.iter().copied().zip(given).collect(),
                ..Inputs::default()
            };
            let items = files(&texts[0]).into_iter();
            let items = Items::Package(
                items
                    .map(|(path, text)| (path, text.into_bytes()))
                    .collect(),
            );
            match run(function, inputs, items) {
                Err(error) => {
                    refused += 1;
                    check(function.name, &texts, &error.to_string());
                }
                Ok(outcome) => {
                    for result in outcome.results.iter() {
                        told += 1;
                        check(function.name, &texts, &result.to_string());
                        check(function.name, &texts, &result.to_value().to_json());
                    }
                }
            }
        }
    }
    assert!(refused > 100 && told > 1000, "{refused} {told}");
}

#[test]
fn secrets_in_lists_and_in_texts_are_not_shown_either() {
    let file = |value: &str| {
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{a: {value}}}\n"
        );
        let indented = secret.replace('\n', "\n    ").trim_end().to_owned();
        let item = secret.replace('\n', "\n  ").trim_end().to_owned();
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: text}}\ndata:\n  s.yaml: |\n    {indented}\n\
             ---\napiVersion: v1\nkind: List\nitems:\n- {item}\n\
             ---\napiVersion: v1\nkind: SecretList\nmetadata: {{name: l}}\nitems:\n- data: {{a: {value}}}\n"
        )
    };
    let package = |value: &str| SuppliedInput::Files([("a.yaml".to_owned(), file(value))].into());
    for combine in ["combine=image,list,text,document", "combine=none"] {
        let inputs = Inputs {
            config: Some(Config::from_pairs(&[combine.to_owned()]).expect("a config")),
            supplied: vec![
                (Role::Original, package("hunter2-o")),
                (Role::Upstream, package("hunter2-u")),
            ],
            ..Inputs::default()
        };
        let local = [("a.yaml".to_owned(), file("hunter2-l").into_bytes())].into();
        let function = &merge_package::FUNCTION;
        let outcome = run(function, inputs, Items::Package(local)).expect("it runs");
        let conflicts = outcome
            .results
            .iter()
            .filter(|result| result.tag_value("reason") == Some("MergeConflict"));
        assert_eq!(conflicts.count(), 3, "{:?}", outcome.results);
        let shown = format!("{:?}", outcome.results);
        assert!(!shown.contains(MARK), "{shown}");
    }
}
