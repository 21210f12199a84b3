//! What the schema says of places in resources.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use krm_core::schema::{Groups, ListType, MapType, Schema, SchemaError, TypeRef};
use krm_yaml::{Document, ParseOptions, Tree, Value};

/// The type at the end of a path such as `spec.containers[].ports`.
fn at<'s>(root: TypeRef<'s>, path: &str) -> Option<TypeRef<'s>> {
    let mut place = Some(root);
    for step in path.split('.') {
        let name = step.trim_end_matches("[]");
        place = place?.field(name);
        for _ in step[name.len()..].split("[]").skip(1) {
            place = place?.items();
        }
    }
    place
}

/// What is known of a type, as `map containerPort protocol=TCP; merge containerPort`; empty for a granular map,
/// an atomic list or a scalar, whether it is known or not.
fn words(of: Option<TypeRef<'_>>) -> String {
    let Some(of) = of else {
        return String::new();
    };
    let mut words = Vec::new();
    match of.list() {
        ListType::Atomic => {}
        ListType::Set => words.push("set".to_owned()),
        ListType::Map(keys) => {
            words.push("map".to_owned());
            words.extend(keys.iter().map(|key| match &key.default {
                None => key.name.to_string(),
                Some(default) => format!("{}={}", key.name, default.to_json()),
            }));
        }
        ListType::KeyedStrings(_) | ListType::Functions => panic!("no list of Kubernetes"),
    }
    if of.map() == MapType::Atomic {
        words.push("atomic".to_owned());
    }
    let strategy = of.patch_strategy();
    let patch = [
        (strategy.merge, "merge"),
        (strategy.replace, "replace"),
        (strategy.retain_keys, "retainKeys"),
    ];
    let patch = patch.into_iter().filter(|(is, _)| *is);
    let mut patch: Vec<&str> = patch.map(|(_, word)| word).collect();
    patch.extend(of.patch_merge_key().map(|key| &*key.name));
    if !patch.is_empty() {
        words.push(format!("; {}", patch.join(" ")));
    }
    let text = words.join(" ").replace(" ;", ";");
    text.trim_start_matches("; ").to_owned()
}

fn check(schema: &Schema, table: &[(&str, &str, &str, &str)]) {
    let found: Vec<String> = table
        .iter()
        .map(|(api_version, kind, path, _)| {
            let root = schema.resource(api_version, kind).expect(kind);
            format!("{kind} {path}: {}", words(at(root, path)))
        })
        .collect();
    let expected: Vec<String> = table
        .iter()
        .map(|(_, kind, path, words)| format!("{kind} {path}: {words}"))
        .collect();
    assert_eq!(found, expected);
}

fn with_document<T>(text: &str, read: impl FnOnce(Document<'_>) -> T) -> T {
    let tree = Tree::parse(text, ParseOptions::default()).expect("YAML");
    read(Document::new(text, &tree))
}

fn with_crds(text: &str) -> Schema {
    with_document(text, |document| {
        let roots = (0..document.len()).filter_map(|index| document.root(index));
        let groups = roots
            .clone()
            .filter_map(|root| root.get_path(&["spec", "group"])?.as_str());
        let groups = Groups::of(groups);
        Schema::builtin().with_crds(roots, &groups)
    })
}

/// Kubernetes' API reference and the struct tags of k8s.io/api.
#[test]
fn facts_of_built_in_kinds() {
    let pod = [
        ("containers", "map name; merge name"),
        ("initContainers", "map name; merge name"),
        ("ephemeralContainers", "map name; merge name"),
        ("containers[].image", ""),
        ("containers[].args", ""),
        ("containers[].env", "map name; merge name"),
        ("containers[].envFrom", ""),
        (
            "containers[].ports",
            "map containerPort protocol=\"TCP\"; merge containerPort",
        ),
        (
            "containers[].volumeMounts",
            "map mountPath; merge mountPath",
        ),
        (
            "containers[].volumeDevices",
            "map devicePath; merge devicePath",
        ),
        ("containers[].resources.claims", "map name"),
        ("containers[].resources.limits", ""),
        ("volumes", "map name; merge retainKeys name"),
        ("volumes[].configMap.items", ""),
        ("imagePullSecrets", "map name; merge name"),
        ("hostAliases", "map ip; merge ip"),
        ("tolerations", ""),
        ("nodeSelector", "atomic"),
        (
            "topologySpreadConstraints",
            "map topologyKey whenUnsatisfiable; merge topologyKey",
        ),
        ("topologySpreadConstraints[].labelSelector", "atomic"),
    ];
    let schema = Schema::builtin();
    for (prefix, api_version, kind) in [
        ("spec", "v1", "Pod"),
        ("template.spec", "v1", "PodTemplate"),
        ("spec.template.spec", "apps/v1", "Deployment"),
        ("spec.template.spec", "apps/v1", "StatefulSet"),
        ("spec.template.spec", "apps/v1", "DaemonSet"),
        ("spec.template.spec", "batch/v1", "Job"),
        ("spec.jobTemplate.spec.template.spec", "batch/v1", "CronJob"),
    ] {
        let root = schema.resource(api_version, kind).expect(kind);
        for (path, expected) in pod {
            let path = format!("{prefix}.{path}");
            assert_eq!(words(at(root, &path)), expected, "{kind} {path}");
        }
    }
    let root = schema.resource("v1", "ConfigMap").expect("a kind");
    let labels = at(root, "metadata.labels").expect("known");
    assert!(labels.takes_unknown_fields() && labels.values().is_some());
    assert_eq!(labels.field("any"), labels.values());
    assert!(!root.takes_unknown_fields());
    check(
        &schema,
        &[
            ("v1", "ConfigMap", "metadata.finalizers", "set; merge"),
            (
                "v1",
                "ConfigMap",
                "metadata.ownerReferences",
                "map uid; merge uid",
            ),
            ("v1", "ConfigMap", "metadata.ownerReferences[]", "atomic"),
            ("v1", "ConfigMap", "metadata.labels", ""),
            ("v1", "ConfigMap", "metadata.labels.any", ""),
            ("v1", "ConfigMap", "data", ""),
            (
                "v1",
                "Service",
                "spec.ports",
                "map port protocol=\"TCP\"; merge port",
            ),
            ("v1", "Service", "spec.selector", "atomic"),
            ("v1", "ReplicationController", "spec.selector", "atomic"),
            ("v1", "ServiceAccount", "secrets", "map name; merge name"),
            ("v1", "ServiceAccount", "imagePullSecrets", ""),
            ("v1", "Pod", "status.hostIPs", "merge ip"),
            ("v1", "Pod", "status.podIPs", "map ip; merge ip"),
            ("v1", "PersistentVolume", "spec.claimRef", ""),
            ("apps/v1", "Deployment", "spec.strategy", "retainKeys"),
            ("apps/v1", "Deployment", "spec.selector", "atomic"),
            ("apps/v1", "Deployment", "spec.selector.matchLabels", ""),
            (
                "apps/v1",
                "Deployment",
                "status.conditions",
                "map type; merge type",
            ),
            ("apps/v1", "StatefulSet", "spec.selector", "atomic"),
            ("apps/v1", "StatefulSet", "spec.volumeClaimTemplates", ""),
            ("batch/v1", "Job", "status.conditions", "merge type"),
            (
                "policy/v1",
                "PodDisruptionBudget",
                "spec.selector",
                "atomic; replace",
            ),
            ("networking.k8s.io/v1", "Ingress", "spec.rules", ""),
            (
                "networking.k8s.io/v1",
                "NetworkPolicy",
                "spec.podSelector",
                "atomic",
            ),
            (
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                "status.conditions",
                "map type; merge type",
            ),
            (
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                "spec.metrics[].object.metric.selector",
                "atomic",
            ),
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
                "webhooks",
                "map name; merge name",
            ),
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
                "webhooks[].namespaceSelector",
                "atomic",
            ),
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
                "webhooks[].matchConditions",
                "map name; merge name",
            ),
        ],
    );
}

/// JSONSchemaProps refers to itself, and has fields that look like directives.
#[test]
fn a_type_may_contain_itself() {
    let schema = Schema::builtin();
    let root = schema.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    let root = root.expect("a kind");
    let one = at(root, "spec.versions[].schema.openAPIV3Schema").expect("known");
    let mut deep = one;
    for _ in 0..1000 {
        deep = at(deep, "properties.anything").expect("known");
    }
    assert_eq!(deep, at(one, "properties.anything").expect("known"));
    assert_eq!(
        words(deep.field("x-kubernetes-validations")),
        "map rule; merge rule"
    );
    assert!(deep.field("$ref").is_some());
    assert!(deep.field("$patch").is_none());
    assert!(!deep.takes_unknown_fields());
    // JSON of the user's choice.
    assert!(deep.field("default").expect("known").takes_unknown_fields());
}

#[test]
fn all_kinds_of_kubernetes_are_found() {
    let schema = Schema::builtin();
    let mut count = 0;
    for (names, root) in schema.kinds() {
        let api_version = match names.group {
            "" => names.version.to_owned(),
            group => format!("{group}/{}", names.version),
        };
        assert_eq!(schema.resource(&api_version, names.kind), Some(root));
        assert!(root.is_builtin());
        count += 1;
    }
    assert_eq!(count, 325);
    assert_eq!(schema.resource("v1", "Unknown"), None);
    assert_eq!(schema.resource("example.com/v1", "Deployment"), None);
    assert_eq!(schema.resource("", ""), None);
    assert_eq!(Schema::empty().resource("v1", "Pod"), None);
}

/// Kubernetes documentation, "Deprecated API Migration Guide".
#[test]
fn removed_versions_have_the_type_of_the_newest() {
    let schema = Schema::builtin();
    for (removed, present, kind) in [
        ("batch/v1beta1", "batch/v1", "CronJob"),
        ("batch/v2alpha1", "batch/v1", "CronJob"),
        ("apps/v1beta2", "apps/v1", "Deployment"),
        ("extensions/v1beta1", "apps/v1", "Deployment"),
        ("extensions/v1beta1", "apps/v1", "DaemonSet"),
        ("extensions/v1beta1", "apps/v1", "ReplicaSet"),
        ("extensions/v1beta1", "networking.k8s.io/v1", "Ingress"),
        (
            "extensions/v1beta1",
            "networking.k8s.io/v1",
            "NetworkPolicy",
        ),
        (
            "networking.k8s.io/v1beta1",
            "networking.k8s.io/v1",
            "Ingress",
        ),
        ("policy/v1beta1", "policy/v1", "PodDisruptionBudget"),
        (
            "autoscaling/v2beta2",
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
        ),
        (
            "rbac.authorization.k8s.io/v1alpha1",
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
        ),
        (
            "apiextensions.k8s.io/v1beta1",
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
        ),
    ] {
        let expected = schema.resource(present, kind);
        assert!(expected.is_some(), "{kind}");
        assert_eq!(schema.resource(removed, kind), expected, "{kind}");
    }
    assert_eq!(
        schema.resource("extensions/v1beta1", "PodSecurityPolicy"),
        None
    );
    assert_ne!(
        schema.resource("autoscaling/v1", "HorizontalPodAutoscaler"),
        schema.resource("autoscaling/v2", "HorizontalPodAutoscaler")
    );
}

const CRD: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gateways.example.com}
spec:
  group: example.com
  names: {kind: Gateway, plural: gateways}
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          metadata: {type: object}
          spec:
            type: object
            properties:
              listeners:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port, protocol, weight, secure, zone]
                items:
                  type: object
                  properties:
                    port: {type: integer}
                    protocol: {type: string}
                    weight: {type: integer, default: 1}
                    secure: {type: boolean, default: false}
                    zone: {type: string, default: a}
                    hosts: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              plain: {type: array, items: {type: object}}
              selector:
                type: object
                x-kubernetes-map-type: atomic
                additionalProperties: {type: string}
              keyless: {type: array, x-kubernetes-list-type: map, items: {type: object}}
              template:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
              closed: {type: object, properties: {a: {type: string}}}
              amount: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
  - name: v1alpha1
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

#[test]
fn custom_resources_have_the_types_of_their_definition() {
    let schema = with_crds(CRD);
    let keys = r#"map port protocol="TCP" weight=1 secure=false zone="a""#;
    let row = |path, words| ("example.com/v1", "Gateway", path, words);
    check(
        &schema,
        &[
            row("spec.listeners", keys),
            row("spec.listeners[].hosts", "set"),
            row("spec.plain", ""),
            row("spec.selector", "atomic"),
            row("spec.keyless", ""),
            row("spec.unknown", ""),
            row("metadata.finalizers", "set; merge"),
            row("spec.template.metadata.finalizers", "set; merge"),
        ],
    );
    let root = schema
        .resource("example.com/v1", "Gateway")
        .expect("a kind");
    assert!(!root.is_builtin());
    assert!(root.field("metadata").expect("known").is_builtin());
    let takes = |path| at(root, path).expect("known").takes_unknown_fields();
    assert!(takes("spec.template") && takes("spec.selector"));
    assert!(!takes("spec.closed") && !takes("spec.amount"));
    let ListType::Map(keys) = at(root, "spec.listeners").expect("known").list() else {
        panic!("a map");
    };
    let weight = &keys.iter().nth(2).expect("five keys").default;
    assert_eq!(*weight, Some(Value::from(1)));

    let older = schema.resource("example.com/v1alpha1", "Gateway");
    assert!(older.expect("a kind").takes_unknown_fields());
    // Only built-in kinds have other versions than those that are defined.
    assert_eq!(schema.resource("example.com/v2", "Gateway"), None);
    assert!(schema.resource("v1", "Pod").is_some());
}

#[test]
fn the_later_of_two_definitions_counts() {
    let other = CRD.replace("list-type: set", "list-type: atomic");
    for (text, expected) in [
        (format!("{CRD}\n---\n{other}"), ""),
        (format!("{other}\n---\n{CRD}"), "set"),
    ] {
        let row = (
            "example.com/v1",
            "Gateway",
            "spec.listeners[].hosts",
            expected,
        );
        check(&with_crds(&text), &[row]);
    }
}

#[test]
fn an_old_definition_has_one_schema_for_all_versions() {
    let text = r"
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: Old}
  version: v1
  validation:
    openAPIV3Schema:
      properties: {tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}}
";
    check(
        &with_crds(text),
        &[("example.com/v1", "Old", "tags", "set")],
    );
    let versions = text.replace("version: v1\n", "versions: [{name: v2}, {name: v3}]\n");
    let schema = with_crds(&versions);
    check(&schema, &[("example.com/v3", "Old", "tags", "set")]);
    assert_eq!(schema.resource("example.com/v1", "Old"), None);
}

/// What is no schema counts as absent; nothing fails, and nothing takes long.
#[test]
fn odd_definitions_are_harmless() {
    for text in [
        "kind: CustomResourceDefinition",
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: 5}",
        "[]",
        "just text",
    ] {
        assert_eq!(with_crds(text).kinds().count(), 325, "{text}");
    }
    let odd = CRD.replace("[port, protocol, weight, secure, zone]", "{a: 1}");
    let odd = odd.replace(
        "list-type: set, items: {type: string}",
        "list-type: 7, items: [1]",
    );
    check(
        &with_crds(&odd),
        &[
            ("example.com/v1", "Gateway", "spec.listeners", ""),
            ("example.com/v1", "Gateway", "spec.listeners[].hosts", ""),
        ],
    );

    // Aliases: each schema is read once, a schema may hold itself, and one that is shared stays small.
    let many = |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<String>();
    let properties = many(20_000, &|i| format!("    p{i}: {{type: string}}\n"));
    let shared = many(20_000, &|i| format!("    q{i}: {{properties: *big}}\n"));
    let text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: g.example\n  \
         names: {{kind: K}}\n  validation:\n   openAPIV3Schema: &self\n    properties: &all\n     \
         self: *self\n     big:\n      properties: &big\n{}     more:\n      properties:\n{}  \
         versions: [{{name: v1}}]\n",
        properties.replace("    p", "       p"),
        shared.replace("    q", "       q"),
    );
    // Written out, it would have 400 million properties.
    let schema = with_crds(&text);
    let root = schema.resource("g.example/v1", "K").expect("a kind");
    assert_eq!(at(root, "self.self.self"), Some(root));
    assert!(at(root, "more.q19999.p19999").is_some());
}

/// Rook's and Cluster API's definitions of the shared corpus, where that is there.
#[test]
#[expect(clippy::print_stdout, reason = "says that it was skipped")]
fn real_definitions() {
    let shared = std::env::var_os("KRM_VARIANTS_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let read = |name| std::fs::read_to_string(shared.join("corpus").join(name));
    let (Ok(rook), Ok(capi)) = (
        read("rook/upstream/crds.yaml"),
        read("cluster-capi/upstream/cluster-api-core.yaml"),
    ) else {
        println!("skipped: no shared corpus");
        return;
    };
    check(
        &with_crds(&rook),
        &[
            (
                "ceph.rook.io/v1",
                "CephObjectStoreUser",
                "spec.opMask",
                "set",
            ),
            (
                "ceph.rook.io/v1",
                "CephCluster",
                "spec.resources.mon.claims",
                "map name",
            ),
            ("ceph.rook.io/v1", "CephCluster", "spec.mon", ""),
            (
                "ceph.rook.io/v1",
                "CephCluster",
                "metadata.finalizers",
                "set; merge",
            ),
        ],
    );
    let group = "runtime.cluster.x-k8s.io/v1alpha1";
    check(
        &with_crds(&capi),
        &[(group, "ExtensionConfig", "status.handlers", "map name")],
    );
}

/// As `kubectl get --raw /openapi/v2` prints it, cut to a few types.
const OPENAPI: &str = r##"{
  "swagger": "2.0",
  "definitions": {
    "com.example.v1.Robot": {
      "type": "object",
      "properties": {
        "metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
        "arms": {
          "type": "array",
          "items": {"$ref": "#/definitions/com.example.v1.Arm"},
          "x-kubernetes-patch-merge-key": "side",
          "x-kubernetes-patch-strategy": "merge,retainKeys"
        },
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-patch-strategy": "merge"},
        "ports": {
          "type": "array",
          "items": {"allOf": [{"$ref": "#/definitions/com.example.v1.Port"}]},
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol", "family"]
        },
        "selector": {"$ref": "#/definitions/com.example.v1.Selector"},
        "freeSelector": {
          "$ref": "#/definitions/com.example.v1.Selector",
          "x-kubernetes-map-type": "granular"
        },
        "lost": {"$ref": "#/definitions/nowhere"},
        "loop": {"$ref": "#/definitions/loop"}
      },
      "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Robot", "version": "v1"}]
    },
    "com.example.v1.Arm": {
      "properties": {
        "arms": {"type": "array", "items": {"$ref": "#/definitions/com.example.v1.Arm"},
          "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["side"]}
      }
    },
    "com.example.v1.Port": {"properties": {
      "port": {"type": "integer"}, "protocol": {"type": "string"}, "family": {"default": "IPv4"}
    }},
    "com.example.v1.Selector": {
      "type": "object", "additionalProperties": {"type": "string"}, "x-kubernetes-map-type": "atomic"
    },
    "loop": {"$ref": "#/definitions/loop"},
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"type": "object", "properties": {
      "finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set",
        "x-kubernetes-patch-strategy": "merge"}
    }},
    "io.k8s.api.core.v1.ConfigMap": {
      "properties": {"data": {"x-kubernetes-map-type": "atomic"}},
      "x-kubernetes-group-version-kind": [{"group": "", "kind": "ConfigMap", "version": "v1"}]
    }
  }
}"##;

#[test]
fn an_openapi_document_adds_its_kinds() {
    let schema = with_document(OPENAPI, |document| {
        let root = document.root(0).expect("a document");
        Schema::builtin().with_openapi(root).expect("definitions")
    });
    let row = |path, words| ("example.com/v1", "Robot", path, words);
    check(
        &schema,
        &[
            row("metadata.finalizers", "set; merge"),
            row("arms", "map side; merge retainKeys side"),
            row("arms[].arms[].arms", "map side"),
            row("tags", "set; merge"),
            row("ports", r#"map port protocol="TCP" family="IPv4""#),
            row("selector", "atomic"),
            row("selector.any", ""),
            row("freeSelector", ""),
            row("lost", ""),
            row("loop", ""),
            // Before the built-in type.
            ("v1", "ConfigMap", "data", "atomic"),
            ("v1", "Pod", "spec.containers", "map name; merge name"),
        ],
    );
    let error = with_document("{openapi: 3.0.0}", |document| {
        let root = document.root(0).expect("a document");
        Schema::builtin().with_openapi(root).err()
    });
    assert_eq!(error, Some(SchemaError::NoDefinitions("mapping")));
}

/// Every place below every kind: in Kubernetes' own definitions, and in what `tools/schema_table.py` left of them.
#[test]
#[ignore = "KRM_VARIANTS_DEFINITIONS is set"]
fn the_built_in_schema_says_what_kubernetes_says() {
    let path = std::env::var_os("KRM_VARIANTS_DEFINITIONS").expect("KRM_VARIANTS_DEFINITIONS");
    let text = std::fs::read_to_string(path).expect("the definitions");
    let tree = Tree::parse(&text, ParseOptions::default()).expect("JSON");
    let root = Document::new(&text, &tree).root(0).expect("a document");
    let document = Schema::empty().with_openapi(root).expect("definitions");
    let builtin = Schema::builtin();
    assert_eq!(builtin.kinds().count(), 325);

    let mut open: Vec<(TypeRef<'_>, Option<TypeRef<'_>>)> = Vec::new();
    for ((names, root), (other_names, other)) in document.kinds().zip(builtin.kinds()) {
        assert_eq!(names, other_names);
        open.push((root, Some(other)));
    }
    let mut seen = HashSet::new();
    while let Some((type_, other)) = open.pop() {
        if !seen.insert((type_, other)) {
            continue;
        }
        // What is left out says nothing, and neither does what is below it.
        let facts = |of: TypeRef<'_>| (words(Some(of)), of.takes_unknown_fields());
        let other_facts = other.map(facts).unwrap_or_default();
        assert_eq!(facts(type_), other_facts, "{type_:?}");
        for (name, field) in type_.fields() {
            open.push((field, other.and_then(|other| other.field(name))));
            assert!(other.is_some() || !name.starts_with('$'));
        }
        let items = type_.items();
        open.extend(items.map(|items| (items, other.and_then(TypeRef::items))));
        let values = type_.values();
        open.extend(values.map(|values| (values, other.and_then(TypeRef::values))));
        let known: HashSet<&str> = type_.fields().map(|(name, _)| name).collect();
        let mut kept = other.into_iter().flat_map(TypeRef::fields);
        assert!(kept.all(|(name, _)| known.contains(name)));
    }
    assert!(seen.len() > 1000, "{} places", seen.len());
}
