//! What an API server refuses.

use krm_function::supplied::Role;

use super::{check, container, lines, results};

fn object(version: &str, kind: &str, rest: &str) -> String {
    format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: n}}\n{rest}\n")
}

#[track_caller]
fn check_field(version: &str, kind: &str, field: &str, before: &str, after: &str) {
    let [before, after] = [before, after].map(|rest| object(version, kind, rest));
    let start = format!("blocking ImmutableField {field}: the ");
    check(&before, &after, &[&start]);
}

#[track_caller]
fn check_taken(version: &str, kind: &str, before: &str, after: &str) {
    let [before, after] = [before, after].map(|rest| object(version, kind, rest));
    check(&before, &after, &[]);
}

#[test]
fn fields_that_cannot_change() {
    for (version, kind, field, before, after) in [
        (
            "apps/v1",
            "Deployment",
            "spec.selector",
            "spec: {selector: {matchLabels: {a: b}}}",
            "spec: {selector: {matchLabels: {a: c}}}",
        ),
        (
            "apps/v1",
            "StatefulSet",
            "spec.serviceName",
            "spec: {serviceName: a}",
            "spec: {serviceName: b}",
        ),
        (
            "apps/v1",
            "StatefulSet",
            "spec.podManagementPolicy",
            "spec: {}",
            "spec: {podManagementPolicy: Parallel}",
        ),
        (
            "batch/v1",
            "Job",
            "spec.template",
            "spec: {template: {spec: {priority: 1}}}",
            "spec: {template: {spec: {priority: 2}}}",
        ),
        (
            "v1",
            "Service",
            "spec.clusterIP",
            "spec: {}",
            "spec: {clusterIP: None}",
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            "spec.resources",
            "spec: {resources: {requests: {storage: 10Gi}}}",
            "spec: {resources: {requests: {storage: 5Gi}}}",
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            "spec.accessModes",
            "spec: {accessModes: [ReadWriteOnce]}",
            "spec: {accessModes: [ReadWriteMany]}",
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            "roleRef.name",
            "roleRef: {kind: Role, name: a}",
            "roleRef: {kind: Role, name: b}",
        ),
        (
            "v1",
            "Service",
            "spec.ipFamilies",
            "spec: {ipFamilies: [IPv4]}",
            "spec: {ipFamilies: [IPv6]}",
        ),
        (
            "v1",
            "Service",
            "spec.loadBalancerClass",
            "spec: {type: LoadBalancer}",
            "spec: {type: LoadBalancer, loadBalancerClass: a.b/c}",
        ),
        (
            "v1",
            "Service",
            "spec.healthCheckNodePort",
            "spec: {type: LoadBalancer, externalTrafficPolicy: Local}",
            "spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 31000}",
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            "spec.resources.limits",
            "spec: {resources: {requests: {storage: 1Gi}}}",
            "spec: {resources: {requests: {storage: 1Gi}, limits: {storage: 2Gi}}}",
        ),
        (
            "apps/v1",
            "StatefulSet",
            "spec.volumeClaimTemplates",
            "spec: {volumeClaimTemplates: [{spec: {resources: {requests: {storage: 1Gi}}}}]}",
            "spec: {volumeClaimTemplates: [{spec: {resources: {requests: {storage: 1G}}}}]}",
        ),
        (
            "resource.k8s.io/v1",
            "ResourceClaim",
            "spec",
            "spec: {devices: {requests: [{name: a}]}}",
            "spec: {devices: {requests: [{name: b}]}}",
        ),
        (
            "resource.k8s.io/v1",
            "ResourceClaimTemplate",
            "spec",
            "spec: {spec: {devices: {requests: [{name: a}]}}}",
            "spec: {spec: {devices: {requests: [{name: b}]}}}",
        ),
        (
            "networking.k8s.io/v1",
            "ServiceCIDR",
            "spec.cidrs",
            "spec: {cidrs: [10.9.0.0/24]}",
            "spec: {cidrs: [10.8.0.0/24]}",
        ),
        (
            "networking.k8s.io/v1",
            "IPAddress",
            "spec.parentRef",
            "spec: {parentRef: {resource: services, name: a}}",
            "spec: {parentRef: {resource: services, name: b}}",
        ),
        (
            "v1",
            "ConfigMap",
            "data",
            "immutable: true\ndata: {a: b}",
            "immutable: true\ndata: {a: c}",
        ),
        (
            "storage.k8s.io/v1",
            "StorageClass",
            "parameters",
            "parameters: {a: b}",
            "parameters: {a: c}",
        ),
        (
            "v1",
            "Secret",
            "type",
            "type: Opaque",
            "type: kubernetes.io/tls",
        ),
        (
            "v1",
            "Pod",
            "spec.tolerations",
            "spec: {tolerations: [{key: a, operator: Exists}]}",
            "spec: {tolerations: [{key: b, operator: Exists}]}",
        ),
        (
            "v1",
            "Pod",
            "spec.schedulingGates",
            "spec: {schedulingGates: [{name: a.x.io/a}]}",
            "spec: {schedulingGates: [{name: a.x.io/a}, {name: a.x.io/b}]}",
        ),
    ] {
        check_field(version, kind, field, before, after);
    }
}

#[test]
fn fields_that_can_change() {
    for (version, kind, before, after) in [
        (
            "apps/v1",
            "StatefulSet",
            "spec: {}",
            "spec: {podManagementPolicy: OrderedReady, replicas: 5}",
        ),
        ("v1", "Service", "spec: {clusterIP: None}", "spec: {}"),
        (
            "v1",
            "Service",
            "spec: {type: ExternalName}",
            "spec: {type: ClusterIP, clusterIP: 10.0.0.1}",
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            "spec: {resources: {requests: {storage: 1024Mi}}}",
            "spec: {volumeMode: Filesystem, resources: {requests: {storage: 2Gi}}}",
        ),
        (
            "v1",
            "Service",
            "spec: {ipFamilies: [IPv4], type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 31000}",
            "spec: {ipFamilies: [IPv4, IPv6], type: LoadBalancer, externalTrafficPolicy: Local}",
        ),
        (
            "apps/v1",
            "StatefulSet",
            "spec: {volumeClaimTemplates: [{spec: {resources: {requests: {storage: 1Gi}}}}]}",
            "spec: {volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {labels: {}}, \
             spec: {volumeMode: Filesystem, resources: {requests: {storage: 1024Mi}}}}]}",
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}",
            "roleRef: {apiGroup: '', kind: Role, name: a}",
        ),
        (
            "storage.k8s.io/v1",
            "StorageClass",
            "provisioner: a.b",
            "provisioner: a.b\nparameters: {}",
        ),
        (
            "networking.k8s.io/v1",
            "ServiceCIDR",
            "spec: {cidrs: [10.9.0.0/24]}",
            "spec: {cidrs: [10.9.0.0/24, 'fd00::/120']}",
        ),
        (
            "v1",
            "ConfigMap",
            "data: {a: b}",
            "immutable: true\ndata: {a: c}",
        ),
        ("v1", "Secret", "data: {a: b}", "type: Opaque\ndata: {a: b}"),
        (
            "batch/v1",
            "Job",
            "spec: {completionMode: Indexed, completions: 1, parallelism: 1}",
            "spec: {completionMode: Indexed, completions: 2, parallelism: 2}",
        ),
        (
            "v1",
            "Pod",
            "spec: {tolerations: [{key: a, operator: Exists}], schedulingGates: [{name: a.x.io/a}]}",
            "spec: {tolerations: [{key: b}, {key: a, operator: Exists, tolerationSeconds: 5}]}",
        ),
    ] {
        check_taken(version, kind, before, after);
    }
}

#[test]
fn a_headless_service_stays_internal() {
    let service = |spec: &str| object("v1", "Service", &format!("spec: {{{spec}}}"));
    check(
        &service("clusterIP: None"),
        &service("type: NodePort"),
        &[
            "blocking ImmutableField spec.type: a headless Service cannot get this type",
            "dangerous ServiceExposed spec.type: ",
        ],
    );
    let named = service("type: ExternalName, externalName: a");
    check(&service("clusterIP: None"), &named, &[]);
}

#[test]
fn the_pods_of_a_workload_keep_the_labels_of_its_selector() {
    let labels = |labels: &str| container("").replace("labels: {app: front}", labels);
    check(
        &container(""),
        &labels("labels: {app: other}"),
        &["blocking SelectsNothing spec.template.metadata.labels: the selector of the workload"],
    );
    check(&container(""), &labels("labels: {app: front, a: b}"), &[]);
}

#[test]
fn a_new_object_has_no_immutable_fields() {
    let before = object("apps/v1", "StatefulSet", "spec: {serviceName: a}");
    let after = object("apps/v1", "StatefulSet", "spec: {serviceName: b}").replace(
        "metadata: {name: a",
        "metadata: # kpt-merge: n/a\n  {name: b",
    );
    check(
        &before,
        &after,
        &["dangerous ResourceRenamed metadata.name: "],
    );
}

#[test]
fn a_release_does_not_serve_a_version() {
    let budget = object(
        "policy/v1beta1",
        "PodDisruptionBudget",
        "spec: {minAvailable: 1}",
    );
    let found = |version: &str| {
        let config = format!(
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: ReviewPackage\nkubernetesVersion: {version}\n"
        );
        lines(&results(&config, &[(Role::Before, &budget)], &budget))
    };
    assert_eq!(found("1.24"), [""; 0]);
    assert_eq!(
        found("1.30"),
        [
            "blocking VersionNotServed apiVersion: Kubernetes 1.30 does not serve PodDisruptionBudget of `policy/v1beta1`, \
             since 1.25: use `policy/v1`"
        ]
    );
    let local = "namespace: n, annotations: {config.kubernetes.io/local-config: 'true'}";
    let local = budget.replace("namespace: n", local);
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: ReviewPackage\nkubernetesVersion: 1.30\n";
    assert_eq!(
        lines(&results(config, &[(Role::Before, &local)], &local)),
        [""; 0],
        "no cluster gets local config"
    );
}

#[test]
fn a_definition_drops_versions() {
    let versions = |names: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: as.x.io}}\n\
             spec: {{group: x.io, names: {{kind: A, plural: as}}, versions: [{names}]}}\n---\n\
             apiVersion: x.io/v1\nkind: A\nmetadata: {{name: one}}\n"
        )
    };
    let both = versions("{name: v1, served: true, storage: true}, {name: v2, served: true}");
    let one = versions("{name: v2, served: true, storage: true}");
    check(
        &both,
        &one,
        &[
            "blocking CrdVersionDropped spec.versions: the definition drops the version `v1`",
            "blocking CrdVersionDropped apiVersion: the definition of A no longer serves `x.io/v1`",
            "dangerous CrdVersionDropped spec.versions: the definition no longer serves `v1`",
        ],
    );
}

#[test]
fn references_to_removed_resources_are_found() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n---\n";
    let pod = super::deployment(
        "{containers: [{name: app, envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: never}}]}]}",
    );
    check(
        &format!("{map}{pod}"),
        &pod,
        &[
            "blocking DanglingReference spec.template.spec.containers[0].envFrom[0].configMapRef: the package no longer has",
            "dangerous ResourceRemoved the ConfigMap is deleted",
        ],
    );
    let optional = pod.replace("name: settings", "name: settings, optional: true");
    check(
        &format!("{map}{optional}"),
        &optional,
        &["dangerous ResourceRemoved the ConfigMap is deleted"],
    );
    let generated = format!(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nconfigMapGenerator: [{{name: settings}}]\n---\n{pod}"
    );
    check(
        &format!("{map}{pod}"),
        &generated,
        &["dangerous ResourceRemoved the ConfigMap is deleted"],
    );
    let other = generated.replace("configMapGenerator", "secretGenerator");
    check(
        &format!("{map}{pod}"),
        &other,
        &[
            "blocking DanglingReference spec.template",
            "dangerous ResourceRemoved the ConfigMap is deleted",
        ],
    );
}
