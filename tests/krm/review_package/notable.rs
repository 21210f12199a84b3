//! What is worth a look, and who made a change.

use krm_function::supplied::Role;

use super::{check, container, deployment, lines, results, review};

#[test]
fn images_and_arguments() {
    let place = "spec.template.spec.containers[0]";
    check(
        &container("image: 'a:1.2', args: [--one, --two]"),
        &container("image: 'a:1.3', args: [--one, --three]"),
        &[
            &format!(
                "notable ImageChanged {place}.image: the image version goes up from 1.2 to 1.3 (minor)"
            ),
            &format!(
                "notable ArgumentsChanged {place}.args: other arguments, with `--three`, without `--two`"
            ),
        ],
    );
    check(
        &container("env: [{name: A, value: x}, {name: B, value: x}]"),
        &container("env: [{name: B, value: z}, {name: C, value: x}]"),
        &[
            &format!(
                "notable ArgumentsChanged {place}.env[0]: the environment variable `B` changes"
            ),
            &format!(
                "notable ArgumentsChanged {place}.env[1]: the environment variable `C` is new"
            ),
            &format!(
                "notable ArgumentsChanged {place}.env[0]: the environment variable `A` is gone"
            ),
        ],
    );
}

/// Without its key, an optional variable has no value.
#[test]
fn a_new_variable_that_is_optional() {
    let with = |optional: &str| {
        let key = format!("configMapKeyRef: {{name: a, key: b, optional: {optional}}}");
        container(&format!("env: [{{name: A, valueFrom: {{{key}}}}}]"))
    };
    check(&container(""), &with("true"), &[]);
    let found = "notable ArgumentsChanged spec.template.spec.containers[0].env[0]: the environment variable `A` ";
    check(&container(""), &with("false"), &[found]);
    check(&with("false"), &with("true"), &[found]);
    check(&with("true"), &container(""), &[found]);
}

/// Scripts that begin alike are told apart by the lines that only one has.
#[test]
fn a_script_is_shown_at_its_first_different_line() {
    let script =
        |lines: &str| container(&format!("command: [sh, -c, \"# a tool\\n{lines}exit\\n\"]"));
    let place = "notable ArgumentsChanged spec.template.spec.containers[0].command";
    for (before, after, expected) in [
        (
            "a=1\\n",
            "a=2\\n",
            "other arguments, with `a=2`, without `a=1`",
        ),
        ("", "a=1\\nb=2\\n", "other arguments, with `a=1`"),
    ] {
        check(
            &script(before),
            &script(after),
            &[&format!("{place}: {expected}")],
        );
    }
}

#[test]
fn a_long_argument_is_shown_where_it_differs() {
    let suites = "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_";
    let pod = |end: &str| container(&format!("args: [\"{suites}{end}\"]"));
    let place = "notable ArgumentsChanged spec.template.spec.containers[0].args";
    let expected =
        "other arguments, with `…CM_SHA256,TLS_ECDHE_B`, without `…CM_SHA256,TLS_ECDHE_A`";
    check(&pod("A"), &pod("B"), &[&format!("{place}: {expected}")]);
}

#[test]
fn running_pods_keep_old_values() {
    let map = |value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {{a: {value}}}\n---\n"
        )
    };
    let reads = container("envFrom: [{configMapRef: {name: m}}]");
    let found = "notable ConfigNotReloaded data: running pods keep the old values until they restart: Deployment/front";
    let with = |value: &str, pod: &str| map(value) + pod;
    check(&with("x", &reads), &with("z", &reads), &[found]);
    // The pods are replaced.
    let other = reads.replace("name: app", "name: app2");
    check(&with("x", &reads), &with("z", &other), &[]);
    // The kubelet updates the files of a volume, but not one that is mounted alone.
    let mounts = |mount: &str| {
        deployment(&format!(
            "{{volumes: [{{name: v, configMap: {{name: m}}}}], containers: [{{name: app, volumeMounts: [{{name: v{mount}}}]}}]}}"
        ))
    };
    check(&with("x", &mounts("")), &with("z", &mounts("")), &[]);
    let part = mounts(", subPath: a");
    check(&with("x", &part), &with("z", &part), &[found]);
}

/// Another rule can also accept more.
#[test]
fn schemas_with_another_validation_rule() {
    let definition = |rule: &str| {
        let spec = format!("{{x-kubernetes-validations: [{{rule: {rule}}}]}}");
        let schema = format!("{{openAPIV3Schema: {{properties: {{spec: {spec}}}}}}}");
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: as.x.io}}\n\
             spec: {{versions: [{{name: v1, served: true, storage: true, schema: {schema}}}]}}\n"
        )
    };
    let found = "notable SchemaNarrowed spec.versions: the schema may be stricter: some objects that were valid may no longer be: v1 spec has a different validation rule";
    check(&definition("a"), &definition("b"), &[found]);
}

#[test]
fn stricter_schemas() {
    let definition = |schema: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: as.x.io}}\n\
             spec:\n  versions:\n  - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{properties: {{spec: {schema}}}}}}}}}\n"
        )
    };
    let start = |what: &str| {
        format!(
            "notable SchemaNarrowed spec.versions: the schema is stricter: some objects that were valid no longer are: v1 spec{what}"
        )
    };
    let wide = definition("{properties: {a: {type: string}}}");
    for (schema, what) in [
        ("{properties: {b: {type: string}}}", " no longer has `a`"),
        (
            "{properties: {a: {type: integer}}}",
            ".a is a integer, no longer a string",
        ),
        (
            "{required: [a], properties: {a: {type: string}}}",
            " requires `a`",
        ),
        (
            "{properties: {a: {type: string, enum: [x]}}}",
            ".a accepts fewer values",
        ),
        (
            "{properties: {a: {type: string, maxLength: 3}}}",
            ".a has a `maxLength` of 3",
        ),
    ] {
        check(&wide, &definition(schema), &[&start(what)]);
    }
    check(
        &wide,
        &definition("{properties: {a: {type: string, description: A}, b: {type: string}}}"),
        &[],
    );
    for (wide, narrow, what) in [
        (
            "{type: string, nullable: true}",
            "{type: string}",
            "no longer accepts null",
        ),
        (
            "{type: object, x-kubernetes-preserve-unknown-fields: true}",
            "{type: object}",
            "no longer accepts other fields",
        ),
        (
            "{type: object, additionalProperties: {type: string}}",
            "{type: object, properties: {x: {type: string}}}",
            "no longer accepts other fields",
        ),
        (
            "{x-kubernetes-int-or-string: true}",
            "{type: integer}",
            "is a integer, no longer a integer or string",
        ),
        (
            "{type: array, items: {type: string}}",
            "{type: array, items: {type: string}, x-kubernetes-list-type: set}",
            "no longer accepts an element twice",
        ),
    ] {
        let [wide, narrow] = [wide, narrow].map(definition);
        check(&wide, &narrow, &[&start(&format!(" {what}"))]);
        check(&narrow, &wide, &[]);
    }
}

#[test]
fn objects_that_are_stored_in_another_version() {
    let definition = |versions: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: as.x.io}}\n\
             spec:\n  versions: [{versions}]\n"
        )
    };
    let first = definition("{name: v1, served: true, storage: true}");
    let added = definition("{name: v1, served: true}, {name: v2, served: true, storage: true}");
    let moved = definition("{name: v1, served: true, storage: true}, {name: v2, served: true}");
    let found = "notable StorageVersionChanged spec.versions: objects are stored in the version `v2` from now on";
    let unknown = format!("{found}: the previous definition does not serve them");
    check(&first, &added, &[&unknown]);
    check(&moved, &added, &[found]);
    check(&first, &moved, &[]);
}

#[test]
fn all_other_changes_are_counted() {
    let before = container("image: a")
        + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: x, b: x}\n";
    let after = before.replace("a: x, b: x", "a: z, c: x");
    let found = lines(&results("", &[(Role::Before, &before)], &after));
    assert_eq!(found, ["routine OtherChanges 3 other changes"]);
}

/// `{}` can mean all, or turn a feature on.
#[test]
fn an_empty_mapping_that_comes_or_goes_is_a_change() {
    let object = |kind: &str, spec: &str| {
        format!("apiVersion: {kind}\nmetadata: {{name: a}}\nspec: {{{spec}}}\n")
    };
    let service = "v1\nkind: Service";
    let issuer = "cert-manager.io/v1\nkind: Issuer";
    for (kind, before, after, count) in [
        (
            service,
            "sessionAffinityConfig: {clientIP: {}}",
            "",
            "1 other change",
        ),
        (issuer, "list: [{}]", "list: []", "1 other change"),
        (issuer, "selfSigned: {}", "acme: {}", "2 other changes"),
        (issuer, "selfSigned: {}", "", "1 other change"),
        (issuer, "", "list: []", "1 other change"),
    ] {
        let [before, after] = [before, after].map(|spec| object(kind, spec));
        let found = lines(&results("", &[(Role::Before, &before)], &after));
        assert_eq!(found, [format!("routine OtherChanges {count}")], "{after}");
    }
}

/// A Job with a `generateName` has no identity in the cluster, but its pods may do as much.
#[test]
fn a_resource_with_a_generated_name_is_reviewed() {
    let job = |fields: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{generateName: a-}}\nspec:\n  template:\n    spec: \
             {{containers: [{{name: app, {fields}}}]}}\n"
        )
    };
    check(
        &job("image: 'a:1'"),
        &job("image: 'a:2', securityContext: {privileged: true}"),
        &[
            "dangerous PodPrivileges spec.template.spec.containers[0].securityContext.privileged: ",
            "notable ImageChanged spec.template.spec.containers[0].image: ",
        ],
    );
    let found = review("", &job("image: 'a:1'"));
    assert_eq!(found, ["notable ResourceAdded the Job is new"]);
}

#[test]
fn added_and_removed_containers_are_reported() {
    let one = deployment("{containers: [{name: app, image: 'a:1'}]}");
    let two = deployment("{containers: [{name: app, image: 'a:1'}, {name: side, image: 'b:1'}]}");
    let start = "notable ImageChanged spec.template.spec.containers[1].image: the image `b:1` is";
    check(&one, &two, &[&format!("{start} new")]);
    check(&two, &one, &[&format!("{start} gone")]);
}

#[test]
fn each_change_has_an_author() {
    let pod = |replicas: u8, image: &str, priority: u8| {
        container(&format!("image: '{image}'"))
            .replace(
                "spec:\n  selector",
                &format!("spec:\n  replicas: {replicas}\n  selector"),
            )
            .replace(
                "spec: {containers",
                &format!("spec: {{priority: {priority}, containers"),
            )
    };
    let (before, after) = (pod(3, "a:1", 1), pod(0, "a:2", 3));
    let roles = [
        (Role::Before, before.as_str()),
        (Role::Original, &pod(3, "a:1", 1)),
        (Role::Upstream, &pod(3, "a:2", 2)),
    ];
    assert_eq!(
        lines(&results("", &roles, &after)),
        [
            "dangerous ScaledToZero spec.replicas: no pods run [local]",
            "notable ImageChanged spec.template.spec.containers[0].image: the image version goes up from 1 to 2 (major) [upstream]",
            "routine OtherChanges 1 other change [both]",
        ]
    );
}

fn custom(start: &str, spec: &str) -> String {
    format!("apiVersion: {start}\nmetadata: {{name: a}}\nspec: {{{spec}}}\n")
}

/// Without a schema, the elements of a list are paired by their names, or else by their order.
#[test]
fn rules_see_into_the_lists_of_custom_resources() {
    let task = |steps: &str| custom("tekton.dev/v1\nkind: Task", &format!("steps: [{steps}]"));
    check(
        &task("{name: a, image: 'a:1'}, {name: b, image: 'b:1'}"),
        &task("{name: b, image: 'b:2'}, {name: a, image: 'a:1'}"),
        &[
            "notable ImageChanged spec.steps[0].image: the image version goes up from 1 to 2 (major)",
        ],
    );
}

/// A list of a custom resource is counted as one change, also if only its order changes.
#[test]
fn a_list_without_a_schema_is_one_change() {
    let list = |items: &str| custom("example.com/v1\nkind: Own", &format!("list: [{items}]"));
    let old = list("{name: a, x: 1, y: 1}, {name: b}");
    for new in [
        "{name: b}, {name: a, x: 1, y: 1}",
        "{name: a, x: 2, y: 2}, {name: c}",
    ] {
        assert_eq!(
            review(&old, &list(new)),
            ["routine OtherChanges 1 other change"]
        );
    }
}

/// A setting of the pod is the place if the containers take it from there.
#[test]
fn a_finding_about_several_containers_names_the_field_of_the_pod_or_of_each() {
    let pod = |context: &str, of_a: &str, of_b: &str| {
        deployment(&format!(
            "{{securityContext: {{{context}}}, containers: [{{name: a, securityContext: {{{of_a}}}}}, {{name: b, \
             securityContext: {{{of_b}}}}}]}}"
        ))
    };
    let root = "containers may run as root";
    let place = "dangerous PodPrivileges spec.template.spec";
    check(
        &pod("runAsNonRoot: true", "", ""),
        &pod("", "", ""),
        &[&format!(
            "{place}.securityContext.runAsNonRoot: {root}: a, b"
        )],
    );
    check(
        &pod("", "runAsUser: 7", "runAsNonRoot: true"),
        &pod("", "", "runAsNonRoot: false"),
        &[
            &format!("{place}.containers[0].securityContext.runAsUser: {root}: a"),
            &format!("{place}.containers[1].securityContext.runAsNonRoot: {root}: b"),
        ],
    );
}

#[test]
fn an_order_that_has_a_meaning_is_a_change() {
    let init = |names: &[&str]| {
        let all = names
            .iter()
            .map(|name| format!("{{name: {name}, image: x}}"));
        let all = all.collect::<Vec<_>>().join(", ");
        deployment(&format!(
            "{{initContainers: [{all}], containers: [{{name: a}}]}}"
        ))
    };
    let found = "notable OrderChanged spec.template.spec.initContainers: the init containers run in a different order: `c`, `b`";
    check(&init(&["b", "c"]), &init(&["c", "b"]), &[found]);
    let env = |names: &[(&str, &str)]| {
        let all = names
            .iter()
            .map(|(name, value)| format!("{{name: {name}, value: '{value}'}}"));
        container(&format!("env: [{}]", all.collect::<Vec<_>>().join(", ")))
    };
    let (host, url, port) = (("HOST", "h"), ("URL", "x$(HOST)"), ("PORT", "1"));
    let found = "notable OrderChanged spec.template.spec.containers[0].env[0].value: the environment variable `URL` uses \
                 `$(HOST)`, which is now defined after it";
    check(&env(&[host, url, port]), &env(&[url, host, port]), &[found]);
    // No variable uses another one that moved past it.
    check(&env(&[host, url, port]), &env(&[port, host, url]), &[]);
    let escaped = ("URL", "x$$(HOST)");
    check(&env(&[host, escaped]), &env(&[escaped, host]), &[]);
    let route = |rules: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r}}\nspec: {{rules: [{rules}]}}\n"
        )
    };
    let (one, two) = (
        "{matches: [{path: {value: /a}}]}",
        "{matches: [{path: {value: /}}]}",
    );
    let found = "notable OrderChanged spec.rules: the rules are in a different order";
    let [before, after] = [(one, two), (two, one)].map(|(a, b)| route(&format!("{a}, {b}")));
    check(&before, &after, &[found]);
    check(&route(one), &after, &[]);
    // A rule that also changes is still the same rule, as in a merge.
    let named = |first: &str, second: &str| route(&format!("{first}, {second}"));
    let [one, two] =
        ["one", "two"].map(|name| format!("{{name: {name}, timeouts: {{request: 1s}}}}"));
    let changed = one.replace("1s", "2s");
    check(&named(&one, &two), &named(&two, &changed), &[found]);
    check(&named(&one, &two), &named(&changed, &two), &[]);
}

#[test]
fn flux_stops_moves_or_no_longer_deletes() {
    let object = |kind: &str, group: &str, spec: &str| {
        format!(
            "apiVersion: {group}.toolkit.fluxcd.io/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{interval: 1m, {spec}}}\n"
        )
    };
    for (kind, group, before, after, found) in [
        (
            "Kustomization",
            "kustomize",
            "",
            "suspend: true",
            "notable SyncChanged spec.suspend: Flux applies no further change",
        ),
        (
            "Kustomization",
            "kustomize",
            "prune: true",
            "prune: false",
            "notable SyncChanged spec.prune: resources that the source no longer has stay",
        ),
        (
            "Kustomization",
            "kustomize",
            "targetNamespace: a",
            "targetNamespace: b",
            "dangerous ResourceRenamed spec.targetNamespace: everything that the Kustomization applies",
        ),
        (
            "HelmRelease",
            "helm",
            "",
            "targetNamespace: b",
            "dangerous ResourceRenamed spec.targetNamespace: the release is uninstalled",
        ),
    ] {
        let [before, after] = [before, after].map(|spec| object(kind, group, spec));
        check(&before, &after, &[found]);
    }
}

#[test]
fn an_object_above_the_limits_of_an_api_server_is_blocking() {
    let map = |kind: &str, size: usize, annotation: usize| {
        let (value, note) = ("v".repeat(size), "n".repeat(annotation));
        format!(
            "apiVersion: v1\nkind: {kind}\nmetadata: {{name: a, annotations: {{k: {note}}}}}\ndata: {{d: {value}}}\n"
        )
    };
    let most = 1_048_576;
    let large = "blocking ObjectTooLarge data: the data has 1048577 bytes";
    check(&map("ConfigMap", 1, 1), &map("ConfigMap", most, 1), &[]);
    check(
        &map("ConfigMap", 1, 1),
        &map("ConfigMap", most + 1, 1),
        &[large],
    );
    check(
        &map("ConfigMap", most + 1, 1),
        &map("ConfigMap", most + 2, 1),
        &[],
    );
    let notes = "blocking ObjectTooLarge metadata.annotations: the annotations have 262145 bytes";
    check(&map("ConfigMap", 1, 1), &map("ConfigMap", 1, 262_143), &[]);
    check(
        &map("ConfigMap", 1, 1),
        &map("ConfigMap", 1, 262_144),
        &[notes],
    );
}

#[test]
fn a_resource_for_tools_only_is_named_as_not_reviewed() {
    let map = |value: &str, annotation: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, annotations: {{config.kubernetes.io/local-config: '{annotation}'}}}}\n\
             data: {{d: {value}}}\n"
        )
    };
    let found = "notable NotReviewed not reviewed, because of the annotation `config.kubernetes.io/local-config`";
    check("", &map("a", "true"), &[found]);
    check(&map("a", "true"), &map("b", "true"), &[found]);
    check(&map("a", "true"), "", &[found]);
    check(&map("a", "false"), &map("b", "false"), &[]);
}
