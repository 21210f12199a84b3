//! The JSON Schemas in `schemas/` next to the functions: what is right is right for both, and what is wrong is
//! wrong for both.

use indoc::indoc;
use std::collections::BTreeMap;
use std::path::Path;

use jsonschema::Validator;
use krm_core::config::{Config, NamedDocument};
use krm_function::supplied::Role;
use krm_function::{Function, Inputs, Items, SuppliedInput, run};
use krm_yaml::OwnedDocument;

const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n";
const CONTEXT: &str = indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: kptfile.kpt.dev
        data:
          name: shop
    "};
const WEB: &str = indoc! {"
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: web
        spec:
          replicas: 1
    "};
const CLUSTER: &str = "\
apiVersion: config.porch.kpt.dev/v1alpha1
kind: Repository
metadata: {name: edge, namespace: default}
---
apiVersion: porch.kpt.dev/v1alpha1
kind: PackageRevision
metadata: {name: catalog.web.v1, namespace: default}
spec: {repository: catalog, packageName: web, revision: v1, lifecycle: Published}
";

/// Configs of one kind: texts that are right, and texts with one fault.
struct Kind {
    name: &'static str,
    function: &'static Function,
    head: &'static str,
    right: &'static [&'static str],
    wrong: &'static [&'static str],
}

const OWN: &str = "apiVersion: fn.kpt.dev/v1alpha1\nmetadata: {name: x}\n";

const KINDS: &[Kind] = &[
    Kind {
        name: "RenderFleet",
        function: &render_fleet::FUNCTION,
        head: OWN,
        right: &[
            "allowEmpty: true",
            "allowEmpty: true\nvariants: []\nprune: true\nmaxDeletions: 3\nshard: 0/4",
            "allowEmpty: true\nvariants: []\nmaxDeletions: 10%\nonConflict: error\nstrategy: copy-merge",
            "allowEmpty: true\nvariants: []\ncatalog: [{name: catalog, path: ../catalog.git}]",
        ],
        wrong: &[
            "maxDeletions: 101%",
            "maxDeletions: -1",
            "maxDeletions: few",
            "maxDeletions: [1]",
            "shard: 1",
            "shard: first/2",
            "prune: 1",
            "catalog: {name: catalog, path: x}",
            "catalog: [{name: catalog}]",
            "catalog: [{name: catalog, path: x, ref: v1}]",
            "onConflict: ours",
        ],
    },
    Kind {
        name: "MergePackage",
        function: &merge_package::FUNCTION,
        head: OWN,
        right: &[
            "",
            "onConflict: local\nstrategy: fast-forward\nallowEmpty: true\ncreateKptfile: false",
            "conflicts: [{path: spec.replicas, take: local, target: {kind: Deployment}}]",
            "original: []\nallowEmpty: true",
        ],
        wrong: &[
            "onConflict: ours",
            "onConflict: Local",
            "onConflict: true",
            "onConflict: [local]",
            "onconflict: local",
            "strategy: rebase",
            "strategy: 1",
            "allowEmpty: yes",
            "allowEmpty: \"true\"",
            "createKptfile: 1",
            "conflictStyle: markers",
            "spec: {onConflict: local}",
            "data: {onConflict: local}",
            "conflicts: {spec.replicas: local}",
            "conflicts: [spec.replicas]",
            "conflicts: [{path: spec.replicas}]",
            "conflicts: [{path: spec.replicas, take: mine}]",
            "conflicts: [{path: spec.replicas, keep: local}]",
            "conflicts: [{path: 1, take: local}]",
            "conflicts: [{take: local, target: Deployment}]",
            "conflicts: [{take: local, target: {kinds: Deployment}}]",
            "upstream: ../upstream",
            "upstream: {path: ../upstream}",
            "upstream: {path: /upstream}",
            "upstream: {directory: upstream}",
            "upstream: {path: [upstream]}",
            "original: {path: original, ref: v1}",
        ],
    },
    Kind {
        name: "UpgradePolicy",
        function: &merge_package::FUNCTION,
        head: OWN,
        right: &[
            "",
            "conflicts: [{take: upstream}]\nguards: [{path: spec.replicas, reason: ours, target: {kind: Deployment}}]",
            "releases: {skip: [v1.4.0], allow: <4}",
            "render: {helm: {values: [values.yaml], release: a, namespace: b, kubeVersion: '1.34'}}",
            "render: {kustomize: {}}",
        ],
        wrong: &[
            "rules: []",
            "conflicts: [{take: no}]",
            "guards: [{reason: ours}]",
            "guards: [{path: spec.replicas, take: local}]",
            "releases: {skip: v1.4.0}",
            "releases: {only: v1}",
            "render: {helm: {values: values.yaml}}",
            "render: {kustomize: {a: b}}",
            "render: {jsonnet: {}}",
        ],
    },
    Kind {
        name: "ConflictRules",
        function: &merge_package::FUNCTION,
        head: OWN,
        right: &["", "conflicts: [{take: upstream}]"],
        wrong: &[
            "rules: []",
            "conflicts: [{take: }]",
            "conflicts: [{take: no}]",
            "conflicts: local",
        ],
    },
    Kind {
        name: "SetPackageContext",
        function: &set_package_context::FUNCTION,
        head: OWN,
        right: &[
            "data: {region: east}",
            "removeKeys: [region]\ncreateIfMissing: true",
            "data: {port: \"8080\"}",
        ],
        wrong: &[
            "data: {flag: true}",
            "data: {port: 8080}",
            "data: {region: }",
            "data: {region: [east]}",
            "data: [region]",
            "data: region=east",
            "data: {name: shop}",
            "data: {package-path: shop}",
            "removeKeys: region",
            "removeKeys: [1]",
            "removeKeys: [name]",
            "removeKeys: [package-path]",
            "removeKey: [region]",
            "createIfMissing: yes",
            "createIfMissing: \"false\"",
            "createIfMissing: 1",
            "spec: {data: {region: east}}",
        ],
    },
    Kind {
        name: "PrependPipeline",
        function: &prepend_pipeline::FUNCTION,
        head: OWN,
        right: &[
            "pipeline: {}",
            "pipeline: {mutators: [{image: a, configMap: {b: c}}], validators: [{exec: ./b, configPath: c.yaml}]}",
        ],
        wrong: &[
            "",
            "mutators: [{image: a}]",
            "pipeline: [{image: a}]",
            "pipeline: {mutator: [{image: a}]}",
            "pipeline: {generators: []}",
            "pipeline: {mutators: {image: a}}",
            "pipeline: {mutators: [a]}",
            "pipeline: {mutators: [{name: a}]}",
            "pipeline: {mutators: [{image: a, exec: b}]}",
            "pipeline: {mutators: [{image: 1}]}",
            "pipeline: {mutators: [{image: \"\"}]}",
            "pipeline: {mutators: [{image: a, name: b.c}]}",
            "pipeline: {mutators: [{image: a, configPath: ../b.yaml}]}",
            "pipeline: {mutators: [{image: a, configPath: /b.yaml}]}",
            "pipeline: {mutators: [{image: a, configMap: {b: c}, configPath: d.yaml}]}",
            "pipeline: {mutators: [{image: a, configMap: [b]}]}",
            "pipeline: {validators: [{image: a, selectors: {kind: A}}]}",
            "pipeline: {validators: [{image: a, exclude: [A]}]}",
        ],
    },
    Kind {
        name: "InjectConfig",
        function: &inject_config::FUNCTION,
        head: OWN,
        right: &[
            "",
            "injectors: [{kind: ConfigMap, name: a}]",
            "resources: []",
        ],
        wrong: &[
            "injectors: {name: a}",
            "injectors: [a]",
            "injectors: [{kind: ConfigMap}]",
            "injectors: [{name: \"\"}]",
            "injectors: [{name: 1}]",
            "injectors: [{name: a, namespace: b}]",
            "injectors: [{name: a, group: apps/v1}]",
            "injectors: [{name: a, version: \"\"}]",
            "injectors: [{name: a, kind: \"\"}]",
            "injector: [{name: a}]",
            "resources: cluster.yaml",
            "resources: {file: cluster.yaml}",
        ],
    },
    Kind {
        name: "ApplyPatch",
        function: &apply_patch::FUNCTION,
        head: OWN,
        right: &[
            "listOrder: apiserver\nallowMissing: true",
            "patches: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2}}]",
            "patches: [{target: {kind: Deployment, labelSelector: a=b}, patch: {spec: {replicas: 2}}}]\nallowMissing: true",
        ],
        wrong: &[
            "listOrder: server",
            "listorder: document",
            "allowMissing: no",
            "patches: patch.yaml",
            "patches: [{op: replace, path: /spec/replicas, value: 3}]",
            "patches: [{spec: {replicas: 2}}]",
            "patches: [{target: {kinds: Deployment}, patch: {spec: {replicas: 2}}}]",
            "patches: [{target: {kind: Deployment}, patch: {spec: {replicas: 2}}, options: {}}]",
            "patches: [{target: {kind: Deployment, labelSelector: {matchLabel: {a: b}}}, patch: {spec: {}}}]",
            "patches: {path: ../patches}",
        ],
    },
    Kind {
        name: "CreatePatch",
        function: &create_patch::FUNCTION,
        head: OWN,
        right: &["", "listOrder: document\nallowMissing: true"],
        wrong: &[
            "listOrder: documents",
            "allowMissing: \"true\"",
            "live: live.yaml",
            "original: {path: ../original}",
            "patches: []",
        ],
    },
    Kind {
        name: "ApplyConfig",
        function: &apply_config::FUNCTION,
        head: OWN,
        right: &["", "listOrder: document"],
        wrong: &[
            "listOrder: none",
            "allowMissing: true",
            "live: {path: /live}",
            "original: 1",
        ],
    },
    Kind {
        name: "PackageVariant",
        function: &render_variant::FUNCTION,
        head: "apiVersion: config.porch.kpt.dev/v1alpha1\nmetadata: {name: x}\n",
        right: &[
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d}}",
            "spec: {upstream: {repo: a, package: b, revision: 1}, downstream: {repo: c, package: d}}\nstatus: {a: b}",
            "spec: {upstream: {repo: a, package: b, workspaceName: w}, downstream: {repo: c, package: d}, \
             adoptionPolicy: adoptExisting, deletionPolicy: orphan, labels: {a: b}}",
            "spec: {upstream: {repo: a, package: b}, downstream: {repo: c, package: d}}",
        ],
        wrong: &[
            "",
            "spec: {}",
            "spec: {upstream: a/b, downstream: {repo: c, package: d}}",
            "spec: {upstream: {repo: a, package: b, revision: [v1]}, downstream: {repo: c, package: d}}",
            "spec: {upstream: {repo: a, revision: v1}, downstream: {repo: c, package: d}}",
            "spec: {upstream: {repo: \"\", package: b, revision: v1}, downstream: {repo: c, package: d}}",
            "spec: {upstream: {repo: a, package: b, revision: 1.5}, downstream: {repo: c, package: d}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {package: d}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d, revision: v1}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: .git, package: hooks}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d/.GIT./hooks}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: ../d}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c/d, package: e}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d}, adoptionPolicy: adopt}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d}, deletionPolicy: keep}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d}, labels: {a: true}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d}, packageContext: {a: b}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d}, \
             packageContext: {data: {name: a}}}",
            "spec: {upstream: {repo: a, package: b, revision: v1}, downstream: {repo: c, package: d}, \
             injectors: [{kind: ConfigMap}]}",
            "specs: {}",
        ],
    },
    Kind {
        name: "PackageVariantSet",
        function: &expand_variant_set::FUNCTION,
        head: "apiVersion: config.porch.kpt.dev/v1alpha2\nmetadata: {name: x, namespace: default}\n",
        right: &[
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, targets: [{repositories: [{name: edge}]}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, targets: [{repositories: [{name: edge}], \
             template: {downstream: {packageExpr: \"'web'\"}, labelExprs: [{key: a, valueExpr: \"'b'\"}]}}]}",
        ],
        wrong: &[
            "spec: {}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, targets: []}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, targets: [{}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, targets: [{repositories: [edge]}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, targets: [{repositories: [{}]}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositories: [{name: edge}], repositorySelector: {}}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositories: [{name: edge}], packageNames: [a]}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, targets: [{objectSelector: {kind: Team}}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositorySelector: {matchExpressions: [{key: a, operator: Is}]}}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositories: [{name: edge}], template: {downstream: {repo: a, repoExpr: b}}}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositories: [{name: edge}], template: {labelExprs: [{key: a}]}}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositories: [{name: edge}], template: {injectors: [{kind: A}]}}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositories: [{name: edge}], template: {pipeline: {mutators: [{name: a}]}}}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositories: [{name: edge}], template: {packageContext: {data: {name: a}}}}]}",
            "spec: {upstream: {repo: catalog, package: web, revision: v1}, \
             targets: [{repositories: [{name: edge}], tempate: {}}]}",
        ],
    },
];

fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The validator of a kind's schema.
fn validator(kind: &str) -> Validator {
    let text = std::fs::read_to_string(path(&format!("schemas/{kind}.json"))).expect("a schema");
    let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

/// A YAML text as JSON.
fn to_json(text: &str) -> serde_json::Value {
    let document = OwnedDocument::parse(text.to_owned()).expect(text);
    let document = document.document();
    let root = (0..document.len()).find_map(|index| document.root(index));
    let value = root.expect("a document").value().expect("a value");
    serde_json::from_str(&value.to_json()).expect("JSON")
}

/// Why the function refuses a config.
fn refusal(kind: &Kind, text: &str) -> Option<String> {
    let files = |files: &[(&str, &str)]| -> BTreeMap<String, String> {
        let files = files.iter();
        files
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect()
    };
    let is_named = |role: Role| {
        text.lines()
            .any(|line| line.starts_with(&format!("{role}:")))
    };
    let roles = kind.function.roles.iter().filter(|role| !is_named(**role));
    // A clone: an update would need the original of the PackageVariant.
    let roles = roles.filter(|role| kind.name != "PackageVariant" || **role != Role::Original);
    let supplied = roles.map(|role| {
        let input = match role {
            Role::Resources => files(&[("cluster.yaml", CLUSTER)]),
            Role::Patches => files(&[("patch.yaml", WEB)]),
            _ => files(&[
                ("Kptfile", KPTFILE),
                ("package-context.yaml", CONTEXT),
                ("web.yaml", WEB),
            ]),
        };
        (*role, SuppliedInput::Files(input))
    });
    let mut inputs = Inputs {
        supplied: supplied.collect(),
        ..Inputs::default()
    };
    if ["ConflictRules", "UpgradePolicy"].contains(&kind.name) {
        inputs.conflicts = Some(NamedDocument {
            place: "rules.yaml".to_owned(),
            document: OwnedDocument::parse(text.to_owned()).expect(text),
        });
    } else {
        inputs.config = Some(Config::parse(text.to_owned(), "config").expect(text));
    }
    let package = match kind.name {
        "PackageVariant" => BTreeMap::new(),
        _ => {
            let files = files(&[
                ("Kptfile", KPTFILE),
                ("package-context.yaml", CONTEXT),
                ("web.yaml", WEB),
            ]);
            files
                .into_iter()
                .map(|(name, text)| (name, text.into_bytes()))
                .collect()
        }
    };
    match run(kind.function, inputs, Items::Package(package)) {
        Err(error) => Some(error.to_string()),
        Ok(outcome) => {
            let mut errors = outcome.results.iter().map(ToString::to_string);
            errors.find(|result| result.starts_with("[error]"))
        }
    }
}

#[test]
fn schemas_and_functions_agree_on_a_hundred_wrong_configs() {
    let mut faults = Vec::new();
    let mut wrong = 0;
    for kind in KINDS {
        let validator = validator(kind.name);
        let text = |body: &str| format!("kind: {}\n{}{body}\n", kind.name, kind.head);
        for body in kind.right {
            let text = text(body);
            let config = to_json(&text);
            let errors = validator.iter_errors(&config);
            faults.extend(errors.map(|error| format!("schema of {}: {body}: {error}", kind.name)));
            let refusal = refusal(kind, &text);
            faults.extend(refusal.map(|why| format!("{}: {body}: {why}", kind.function.name)));
        }
        for body in kind.wrong {
            wrong += 1;
            let text = text(body);
            if validator.is_valid(&to_json(&text)) {
                faults.push(format!("the schema of {} accepts: {body}", kind.name));
            }
            if refusal(kind, &text).is_none() {
                faults.push(format!("{} accepts: {body}", kind.function.name));
            }
        }
        // The head belongs to the schema as well.
        for text in [
            text(kind.right[0]).replace("v1alpha", "v2alpha"),
            text(kind.right[0]).replace("kind: ", "kind: My"),
        ] {
            wrong += 1;
            assert!(!validator.is_valid(&to_json(&text)), "{text}");
            assert!(refusal(kind, &text).is_some(), "{text}");
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(wrong >= 100, "{wrong}");
}

/// Configs of the examples name their schema, and fit it.
#[test]
fn examples_fit_the_schemas_that_they_name() {
    let mut count = 0;
    for example in std::fs::read_dir(path("examples")).expect("examples") {
        let file = example.expect("an example").path().join("fn-config.yaml");
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        let config = to_json(&text);
        let kind = config["kind"].as_str().expect("a kind");
        let line = format!("# yaml-language-server: $schema=../../schemas/{kind}.json");
        assert_eq!(
            text.lines().next(),
            Some(line.as_str()),
            "{}",
            file.display()
        );
        let errors: Vec<String> = validator(kind)
            .iter_errors(&config)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", file.display());
        count += 1;
    }
    assert!(count >= 7, "{count}");
}
