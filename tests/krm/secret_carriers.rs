//! Everything that can carry a value of a Secret, through everything that quotes values: the value is nowhere, and an ordinary
//! value next to it is shown.
//!
//! A new carrier is a line in [`carriers`], a new function is in it by [`FUNCTIONS`], and a new command of `krmv` by the list of its
//! commands.

use indoc::indoc;
use std::collections::BTreeMap;

use krm_function::{Inputs, Items, SuppliedInput, run};
use krmv::FUNCTIONS;

use crate::krmv::World;
use crate::secrets::{KPTFILE, config};

/// Begins every secret value, and nothing else.
const SECRET: &str = "hunter2";
/// Begins every ordinary value.
const OPEN: &str = "ordinary";

struct Carrier {
    name: &'static str,
    file: &'static str,
    /// `@` is the value, `%` an ordinary one in the same file, if there is any.
    text: String,
}

impl Carrier {
    /// The text with the values of a version; what it encodes is encoded with them.
    fn with(&self, version: &str) -> String {
        let secret = format!("{SECRET}-{}-{version}", self.name);
        let text = self.text.replace('%', &format!("{OPEN}-{version}"));
        let text = text.replace('@', &secret);
        let Some((before, rest)) = text.split_once("<<<") else {
            return text;
        };
        let (encoded, after) = rest.split_once(">>>").expect("an end");
        format!("{before}{}{after}", base64(encoded.as_bytes()))
    }

    fn has_open(&self) -> bool {
        self.text.contains('%')
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| {
            bits << 8 | u32::from(chunk.get(at).copied().unwrap_or_default())
        });
        for at in 0..4 {
            let digit = (bits >> (18 - 6 * at) & 63) as usize;
            text.push(if at <= chunk.len() {
                DIGITS[digit].into()
            } else {
                '='
            });
        }
    }
    text
}

const MANIFEST: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  p: '@'\n";

/// A text with each line after the first indented.
fn indented(text: &str, spaces: usize) -> String {
    let newline = format!("\n{}", " ".repeat(spaces));
    text.trim_end().replace('\n', &newline)
}

/// A resource of a kind, with an ordinary value and these fields.
fn resource(api_version: &str, kind: &str, fields: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: r\n  annotations: {{note: '%'}}\n{fields}"
    )
}

fn carriers() -> Vec<Carrier> {
    let mut found = Vec::new();
    let mut add = |name, file, text: String| found.push(Carrier { name, file, text });
    let secret = |fields: &str| resource("v1", "Secret", fields);
    let kustomization = |fields: &str| {
        format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamePrefix: '%'\n{fields}"
        )
    };
    let other = |fields: &str| resource("example.com/v1", "Release", fields);
    add("data", "a.yaml", secret("data: {p: '@'}\n"));
    add("string-data", "a.yaml", secret("stringData: {p: '@'}\n"));
    add("list-in-data", "a.yaml", secret("stringData: {p: ['@']}\n"));
    add(
        "map-in-data",
        "a.yaml",
        secret("stringData: {p: {q: '@'}}\n"),
    );
    add("no-mapping", "a.yaml", secret("stringData: '@'\n"));
    add("unknown-field", "a.yaml", secret("password: '@'\n"));
    add(
        "last-applied",
        "a.yaml",
        indoc! {"
            apiVersion: v1
            kind: Secret
            metadata:
              name: s
              annotations:
                note: '%'
                kubectl.kubernetes.io/last-applied-configuration: '@'
        "}
        .to_owned(),
    );
    let item = indented(MANIFEST, 2);
    add(
        "list",
        "a.yaml",
        format!("apiVersion: v1\nkind: List\nitems:\n- {item}\n"),
    );
    add(
        "list-in-list",
        "a.yaml",
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {}\n",
            indented(MANIFEST, 4)
        ),
    );
    add(
        "secret-list",
        "a.yaml",
        indoc! {"
            apiVersion: v1
            kind: SecretList
            metadata: {name: l}
            items:
            - metadata: {name: s}
              data: {p: '@'}
        "}
        .to_owned(),
    );
    add(
        "resource-list",
        "a.yaml",
        format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {item}\n"),
    );
    add(
        "helm-values",
        "a.yaml",
        other(&format!(
            "spec:\n  extraObjects:\n  - {}\n",
            indented(MANIFEST, 4)
        )),
    );
    add(
        "crossplane",
        "a.yaml",
        other(&format!(
            "spec:\n  forProvider:\n    manifest:\n      {}\n",
            indented(MANIFEST, 6)
        )),
    );
    add(
        "kind-last",
        "a.yaml",
        other("spec:\n  m:\n    stringData: {p: '@'}\n    metadata: {name: s}\n    kind: Secret\n"),
    );
    add(
        "merge-key",
        "a.yaml",
        other(
            "spec:\n  a: &a {kind: Secret, metadata: {name: s}}\n  m:\n    <<: *a\n    data: {p: '@'}\n",
        ),
    );
    let text = |fields: &str| resource("v1", "ConfigMap", fields);
    add(
        "text",
        "a.yaml",
        text(&format!(
            "data:\n  s.yaml: |\n    {}\n",
            indented(MANIFEST, 4)
        )),
    );
    add(
        "text-of-two",
        "a.yaml",
        text(&format!(
            "data:\n  s.yaml: |\n    kind: A\n    ---\n    {}\n",
            indented(MANIFEST, 4)
        )),
    );
    add(
        "json-text",
        "a.yaml",
        text(
            "data:\n  s.json: '{\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},\"data\":{\"p\":\"@\"}}'\n",
        ),
    );
    add(
        "escaped-text",
        "a.yaml",
        text(
            "data:\n  s.json: '{\"kind\":\"Se\\u0063ret\",\"metadata\":{},\"data\":{\"p\":\"@\"}}'\n",
        ),
    );
    add(
        "text-in-list",
        "a.yaml",
        other(&format!(
            "spec:\n  extra:\n  - |\n    {}\n",
            indented(MANIFEST, 4)
        )),
    );
    add(
        "template",
        "a.yaml",
        text(indoc! {"
                data:
                  s.tpl: |
                    {{- if .Values.a }}
                    kind: Secret
                    stringData:
                      p: '@'
                    {{- end }}
            "}),
    );
    add(
        "base64",
        "a.yaml",
        text(&format!("data:\n  s: <<<{MANIFEST}>>>\n")),
    );
    add(
        "data-address",
        "a.yaml",
        other(&format!(
            "spec:\n  files:\n  - source: data:text/plain;base64,<<<{MANIFEST}>>>\n"
        )),
    );
    add(
        "patches",
        "k1/kustomization.yaml",
        kustomization(&format!(
            "patches:\n- patch: |\n    {}\n",
            indented(MANIFEST, 4)
        )),
    );
    add(
        "strategic",
        "k2/kustomization.yaml",
        kustomization(&format!(
            "patchesStrategicMerge:\n- |\n  {}\n",
            indented(MANIFEST, 2)
        )),
    );
    add(
        "json-6902",
        "k3/kustomization.yaml",
        kustomization(indoc! {"
                patches:
                - target: {kind: Secret, name: s}
                  patch: |
                    - op: replace
                      path: /data/p
                      value: '@'
            "}),
    );
    add(
        "generator",
        "k4/kustomization.yaml",
        kustomization("secretGenerator:\n- name: g\n  literals:\n  - p=@\n"),
    );
    add(
        "bare-kustomization",
        "k5/kustomization.yaml",
        "namePrefix: '%'\nsecretGenerator:\n- name: g\n  literals: ['p=@']\n".to_owned(),
    );
    add(
        "transformer",
        "a.yaml",
        resource(
            "builtin",
            "PatchTransformer",
            "target: {kind: Secret}\npatch: '[{\"op\": \"add\", \"path\": \"/data/p\", \"value\": \"@\"}]'\n",
        ),
    );
    add(
        "generator-config",
        "a.yaml",
        resource("builtin", "SecretGenerator", "literals:\n- p=@\n"),
    );
    add(
        "operations",
        "patch.yaml",
        indoc! {"
        - op: add
          path: /stringData/p
          value: '@'
        - op: add
          path: /metadata/labels
          value: '%'
    "}
        .to_owned(),
    );
    add(
        "revision",
        "a.yaml",
        resource(
            "porch.kpt.dev/v1alpha1",
            "PackageRevisionResources",
            &format!(
                "spec:\n  resources:\n    s.yaml: |\n      {}\n",
                indented(MANIFEST, 6)
            ),
        ),
    );
    add("plain-file", "notes.txt", format!("# a\n{MANIFEST}"));
    add(
        "values-file",
        "values.yaml",
        format!("open: '%'\nextraObjects:\n- {item}\n"),
    );
    found
}

/// What looks like a Secret and is none. `%` must be shown.
fn open() -> Vec<Carrier> {
    let carrier = |name, text: String| Carrier {
        name,
        file: "a.yaml",
        text,
    };
    vec![
        carrier("named-secret", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: secret}\ndata: {kind: Secret, p: '%'}\n".to_owned()),
        carrier("other-kind", "apiVersion: v1\nkind: SecretProviderClass\nmetadata: {name: s}\nspec: {p: '%'}\n".to_owned()),
        carrier("external", "apiVersion: v1\nkind: ExternalSecret\nmetadata: {name: s}\nspec: {secretStoreRef: {kind: SecretStore, name: s}, p: '%'}\n".to_owned()),
        carrier("reference", "apiVersion: v1\nkind: A\nmetadata: {name: s}\nspec: {valuesFrom: [{kind: Secret, name: n, valuesKey: k}], p: '%'}\n".to_owned()),
        carrier("comment", indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: s}
            data:
              a.yaml: |
                # the Secret of this is made elsewhere
                p: '%'
        "}.to_owned()),
        carrier("other-target", "apiVersion: v1\nkind: PatchTransformer\nmetadata: {name: s}\ntarget: {kind: ConfigMap}\npatch: '[{op: add, path: /data/p, value: \"%\"}]'\n".to_owned()),
        carrier("type-of-secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: '%'\n".to_owned()),
    ]
}

fn package(carrier: &Carrier, version: &str) -> BTreeMap<String, String> {
    [
        ("Kptfile", KPTFILE.to_owned()),
        (carrier.file, carrier.with(version)),
    ]
    .map(|(path, text)| (path.to_owned(), text))
    .into()
}

/// All that the functions report about the three versions of a carrier, by function.
fn reports(carrier: &Carrier) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for function in FUNCTIONS {
        for combine in [None, Some("none"), Some("image,list,text,document")] {
            let mut text = String::new();
            let config = match combine {
                None => config(function),
                Some(kinds) if function.name == "merge-package" => {
                    krm_core::config::Config::from_pairs(&[format!("combine={kinds}")])
                        .expect("a config")
                }
                Some(_) => continue,
            };
            let given = ["upstream", "original", "local"].into_iter().cycle();
            let given: Vec<_> = function.roles.iter().copied().zip(given).collect();
            let version = |role: krm_function::supplied::Role, other| match role {
                krm_function::supplied::Role::Original => "original",
                krm_function::supplied::Role::Upstream => "upstream",
                _ => other,
            };
            let supplied = given.into_iter().map(|(role, other)| {
                (
                    role,
                    SuppliedInput::Files(package(carrier, version(role, other))),
                )
            });
            let inputs = Inputs {
                config: Some(config),
                supplied: supplied.collect(),
                ..Inputs::default()
            };
            let items = package(carrier, "local").into_iter();
            let items = items
                .map(|(path, text)| (path, text.into_bytes()))
                .collect();
            match run(function, inputs, Items::Package(items)) {
                Err(error) => text += &error.to_string(),
                Ok(outcome) => {
                    for result in outcome.results.iter() {
                        text += &format!("{result}\n{}\n", result.to_value().to_json());
                        text += &format!("{:?} {:?}\n", result.rule_path, result.values);
                    }
                }
            }
            found.push((function.name, text));
        }
    }
    found
}

#[test]
fn no_function_quotes_a_value_of_a_secret() {
    let carriers = carriers();
    assert!(carriers.len() >= 24, "{}", carriers.len());
    let mut shown = Vec::new();
    for carrier in &carriers {
        let reports = reports(carrier);
        for (function, report) in &reports {
            if report.contains(SECRET) {
                shown.push(format!("{function}, {}: {report}", carrier.name));
            }
        }
        let merges = reports.iter().filter(|(name, _)| *name == "merge-package");
        let merges: String = merges.map(|(_, text)| text.as_str()).collect();
        // Texts in this list are elements of a set, which both sides may replace.
        if !merges.contains("<redacted>") && carrier.name != "strategic" {
            shown.push(format!("{} has no conflict: {merges}", carrier.name));
        }
        if carrier.has_open() && !merges.contains(OPEN) {
            shown.push(format!("{} hides too much: {merges}", carrier.name));
        }
    }
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn values_outside_of_secrets_are_shown() {
    for carrier in open() {
        let reports = reports(&carrier);
        let merges = reports.iter().filter(|(name, _)| *name == "merge-package");
        for (_, merge) in merges {
            assert!(merge.contains(OPEN), "{}: {merge}", carrier.name);
        }
    }
}

/// Commands of `krmv` that print something about a package, before and while an upgrade is open.
const COMMANDS: &[&[&str]] = &[
    &["status", "web"],
    &["status", "web", "--bisect", "**"],
    &["diff", "web"],
    &["diff", "web", "--stat"],
    &["review", "web"],
    &["review", "web", "v2.0.0"],
    &["review", "web", "v2.0.0", "--format", "markdown"],
    &["overlay", "web"],
    &["blame", "web/data/a.yaml"],
    &["upgrade", "web", "v2.0.0", "--dry-run"],
    &["upgrade", "web", "v2.0.0"],
    &["status", "web"],
    &["diff", "web"],
    &["resolve", "web", "--list"],
    &["resolve", "web", "--take", "local"],
    &["diff", "web"],
];

/// The text around the first secret value.
fn found_in(text: &str) -> Option<String> {
    let (before, after) = text.split_once(SECRET)?;
    let before = before.chars().rev().take(600).collect::<Vec<_>>();
    let before: String = before.into_iter().rev().collect();
    let after: String = after.chars().take(60).collect();
    Some(format!("{before}{SECRET}{after}"))
}

/// A release of the package: each carrier in a folder.
fn release(world: &World, tag: &str, version: &str) {
    for carrier in carriers() {
        let path = format!("catalog/web/{}/{}", carrier.name, carrier.file);
        let text = with_own_name(&carrier, version);
        world.folder.put(&path, text);
    }
    world.folder.commit(tag);
    world.folder.git(&["tag", tag]);
}

/// All carriers are in one package, so each resource has another name.
fn with_own_name(carrier: &Carrier, version: &str) -> String {
    let name = |text: String, old: &str| text.replace(old, &format!("{old}-{}", carrier.name));
    let text = name(carrier.with(version), "\n  name: r");
    let text = name(text, "\n  name: s");
    name(text, "metadata: {name: s")
}

#[test]
fn no_command_quotes_a_value_of_a_secret() {
    let world = World::new();
    release(&world, "v1.5.0", "original");
    release(&world, "v2.0.0-carriers", "upstream");
    world
        .krmv(&["get", "../catalog//web@v1.5.0"])
        .assert_code(0);
    world.commit("get");
    for carrier in carriers() {
        let path = format!("web/{}/{}", carrier.name, carrier.file);
        world.write(&path, &with_own_name(&carrier, "local"));
    }
    world.commit("edits");
    let (mut shown, mut redacted) = (Vec::new(), 0);
    for command in COMMANDS {
        let command: Vec<&str> = command
            .iter()
            .map(|word| {
                if *word == "v2.0.0" {
                    "v2.0.0-carriers"
                } else {
                    word
                }
            })
            .collect();
        for more in [&[][..], &["--json"], &["-v"]] {
            let arguments = [&command[..], more].concat();
            // A state is changed once; other formats come from the dry run.
            let changes = command[0] == "upgrade" && !command.contains(&"--dry-run")
                || command.contains(&"--take");
            if changes && !more.is_empty() {
                continue;
            }
            let outcome = world.krmv(&arguments);
            let text = outcome.stdout + &outcome.stderr;
            assert_ne!(outcome.code, Some(2), "{arguments:?}: {text}");
            redacted += usize::from(text.contains("***") || text.contains("<redacted>"));
            if let Some(found) = found_in(&text) {
                shown.push(format!("{arguments:?}: {found}"));
            }
            if command[0] == "diff" && !command.contains(&"--stat") && !text.contains(OPEN) {
                shown.push(format!("{arguments:?} hides too much: {text}"));
            }
        }
    }
    assert!(shown.is_empty(), "{}", shown.join("\n\n"));
    assert!(redacted > 10, "{redacted}");
    for command in ["diff", "overlay"] {
        let outcome = world.krmv(&[command, "web", "--show-secrets"]);
        assert!(
            outcome.stdout.contains(SECRET),
            "{command}: {}{}",
            outcome.stdout,
            outcome.stderr
        );
    }
    world
        .krmv(&["overlay", "web", "--into", "over"])
        .assert_code(0);
}

#[test]
fn no_report_of_a_fleet_quotes_a_value_of_a_secret() {
    let fleet = crate::render_fleet::Fleet::new();
    for (tag, version) in [("v7", "original"), ("v8", "upstream")] {
        for carrier in carriers() {
            let path = format!("catalog/nginx/{}/{}", carrier.name, carrier.file);
            fleet.folder.put(&path, with_own_name(&carrier, version));
        }
        fleet.folder.commit(tag);
        fleet.folder.git(&["tag", tag]);
    }
    fleet.put("v", "v7", "r/app", "");
    fleet.expect(&[], 0, &["1 created"]);
    for carrier in carriers() {
        let path = format!("fleet/r/app/{}/{}", carrier.name, carrier.file);
        fleet.folder.put(&path, with_own_name(&carrier, "local"));
    }
    fleet.put("v", "v8", "r/app", "");
    let flags = [
        "--report",
        "r.json",
        "--report",
        "r.html",
        "--results",
        "results.yaml",
    ];
    let outcome = fleet.run(&flags);
    let mut texts = vec![("output".to_owned(), outcome.stdout + &outcome.stderr)];
    for name in ["r.json", "r.html", "results.yaml"] {
        texts.push((name.to_owned(), fleet.folder.get(name)));
    }
    for (name, text) in texts {
        assert_eq!(found_in(&text), None, "{name}");
        if name != "output" {
            assert!(text.contains(OPEN) && text.contains("redacted"), "{name}");
        }
    }
}
