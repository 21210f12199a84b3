//! What can lose data, stop a service or grant more.

use super::{check, container, deployment, review};

const RBAC: &str = "apiVersion: rbac.authorization.k8s.io/v1\n";

#[test]
fn roles_that_grant_more() {
    let role =
        |rules: &str| format!("{RBAC}kind: ClusterRole\nmetadata: {{name: a}}\nrules: [{rules}]\n");
    let pods = role("{apiGroups: [''], resources: [pods], verbs: [get, list]}");
    for (after, message) in [
        (
            "{apiGroups: [''], resources: [pods, secrets], verbs: [get, list]}",
            "get, list secrets",
        ),
        (
            "{apiGroups: [''], resources: [pods], verbs: ['*']}",
            "* pods",
        ),
        (
            "{apiGroups: [''], resources: [pods], verbs: [get, list]}, {nonResourceURLs: [/metrics], verbs: [get]}",
            "get /metrics",
        ),
    ] {
        let start = format!("dangerous GrantsMore rules: grants more: {message}");
        check(&pods, &role(after), &[&start]);
    }
    // What was granted already, in other words.
    let wide = role("{apiGroups: ['*'], resources: ['*'], verbs: ['*']}");
    check(&wide, &pods, &[]);
    let named = role("{apiGroups: [''], resources: [pods], resourceNames: [a], verbs: [list]}");
    check(&pods, &named, &[]);
    check(
        &named,
        &pods,
        &["dangerous GrantsMore rules: grants more: get, list pods"],
    );
}

#[test]
fn a_role_binding_with_another_subject() {
    let binding = |subjects: &str| {
        format!(
            "{RBAC}kind: ClusterRoleBinding\nmetadata: {{name: a}}\nroleRef: {{kind: ClusterRole, name: cluster-admin}}\n\
             subjects: [{subjects}]\n"
        )
    };
    let one = binding("{kind: ServiceAccount, name: a, namespace: ns}");
    let two = binding("{kind: Group, name: all}, {kind: ServiceAccount, name: a, namespace: ns}");
    check(
        &one,
        &two,
        &["dangerous NewSubject subjects: the role `cluster-admin` is granted to Group all"],
    );
    check(&two, &one, &[]);
    check(
        "",
        &one,
        &[
            "dangerous NewSubject subjects: the role `cluster-admin` is granted to ServiceAccount ns/a",
            "notable ResourceAdded",
        ],
    );
}

#[test]
fn pods_with_more_rights() {
    let place = "spec.template.spec.containers[0].securityContext";
    for (before, after, found) in [
        (
            "",
            "securityContext: {privileged: true}",
            format!("{place}.privileged: the container becomes privileged"),
        ),
        (
            "",
            "securityContext: {capabilities: {add: [SYS_ADMIN, CHOWN]}}",
            format!("{place}.capabilities.add: the container gets capabilities: SYS_ADMIN"),
        ),
        (
            "securityContext: {runAsNonRoot: true}",
            "",
            format!("{place}.runAsNonRoot: containers may run as root: app"),
        ),
        (
            "securityContext: {allowPrivilegeEscalation: false}",
            "",
            format!(
                "{place}.allowPrivilegeEscalation: processes may get more privileges than their parents: app"
            ),
        ),
        (
            "securityContext: {seccompProfile: {type: RuntimeDefault}}",
            "securityContext: {}",
            format!("{place}.seccompProfile.type: containers no longer have a seccomp profile: app"),
        ),
        (
            "ports: [{containerPort: 80}]",
            "ports: [{containerPort: 80, hostPort: 80}]",
            "spec.template.spec.containers[0].ports[0].hostPort: the container uses a port of the node"
                .to_owned(),
        ),
    ] {
        let found = format!("dangerous PodPrivileges {found}");
        check(&container(before), &container(after), &[&found]);
    }
}

#[test]
fn a_privilege_counts_the_same_wherever_it_is_set() {
    let of_pod = deployment("{securityContext: {runAsNonRoot: true}, containers: [{name: app}]}");
    let of_container = container("securityContext: {runAsNonRoot: true}");
    check(&of_pod, &of_container, &[]);
    check(&of_container, &of_pod, &[]);
}

#[test]
fn a_new_privileged_pod() {
    let pod = deployment(
        "{hostNetwork: true, volumes: [{name: r, hostPath: {path: /}}], containers: [{name: app, securityContext: {privileged: true}}]}",
    );
    check(
        "",
        &pod,
        &[
            "dangerous PodPrivileges spec.template.spec.hostNetwork: the pod uses the network of the node",
            "dangerous PodPrivileges spec.template.spec.volumes[0].hostPath.path: the pod mounts `/` from the node",
            "dangerous PodPrivileges spec.template.spec.containers[0].securityContext.privileged: ",
            "notable ResourceAdded the Deployment is new",
        ],
    );
}

#[test]
fn limits_and_probes_that_are_removed() {
    let full =
        container("resources: {limits: {memory: 1Gi}}, livenessProbe: {exec: {command: [a]}}");
    let start = "spec.template.spec.containers[0]";
    check(
        &full,
        &container(""),
        &[
            &format!("dangerous LimitRemoved {start}.resources.limits.memory: "),
            &format!("dangerous ProbeRemoved {start}.livenessProbe: "),
        ],
    );
    // With their container.
    let two = full.replace("containers: [", "containers: [{name: other}, ");
    let other = deployment("{containers: [{name: other}]}");
    check(&two, &other, &[]);
}

#[test]
fn nothing_runs_any_longer() {
    let scaled = |replicas: &str| {
        container("").replace(
            "spec:\n  selector",
            &format!("spec:\n  {replicas}\n  selector"),
        )
    };
    let zero = scaled("replicas: 0");
    for before in [scaled("replicas: 3"), container("")] {
        check(
            &before,
            &zero,
            &["dangerous ScaledToZero spec.replicas: no pods run"],
        );
        check(&zero, &before, &[]);
    }
}

#[test]
fn selectors_that_match_nothing() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: front}\nspec: {selector: {app: front}}\n---\n";
    let both = format!("{service}{}", container(""));
    let renamed = both.replace("labels: {app: front}", "labels: {app: other}");
    let found = "dangerous SelectsNothing spec.selector: the selector no longer matches a pod of the package";
    let own = "blocking SelectsNothing spec.template.metadata.labels: the selector of the workload";
    check(&both, &renamed, &[own, found]);
    // Of a database outside of the package.
    let other = both.replace("selector: {app: front}}", "selector: {app: database}}");
    check(&other, &other.replace("app: database", "app: store"), &[]);
}

#[test]
fn policies_that_become_looser() {
    let policy = |spec: &str| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: a}}\nspec: {{podSelector: {{}}, {spec}}}\n"
        )
    };
    let closed = policy("policyTypes: [Ingress, Egress]");
    let some = policy("policyTypes: [Ingress, Egress], ingress: [{from: [{podSelector: {}}]}]");
    let open = policy("policyTypes: [Ingress, Egress], ingress: [{}]");
    let one_way = policy("policyTypes: [Ingress]");
    let more = "dangerous NetworkOpened spec.ingress: the policy admits more ingress traffic";
    check(&closed, &some, &[more]);
    check(&some, &open, &[more]);
    let less = "notable NetworkRestricted spec.ingress: the policy admits less ingress traffic";
    check(&open, &some, &[less]);
    check(&some, &closed, &[less]);
    check(
        &closed,
        &one_way,
        &["dangerous NetworkOpened spec.policyTypes: the policy no longer restricts egress"],
    );
    check("", &closed, &["notable ResourceAdded"]);
    check(
        &closed,
        "",
        &["dangerous NetworkOpened the NetworkPolicy is deleted"],
    );
}

#[test]
fn services_that_become_public() {
    let service = |spec: &str| {
        format!("apiVersion: v1\nkind: Service\nmetadata: {{name: a}}\nspec: {{{spec}}}\n")
    };
    check(
        &service(""),
        &service("type: LoadBalancer"),
        &["dangerous ServiceExposed spec.type: the Service can be reached from outside"],
    );
    check(&service(""), &service("type: ClusterIP"), &[]);
}

#[test]
fn webhooks_that_fail_closed() {
    let webhook = |policy: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: a}}\nwebhooks:\n- {{name: a.b.c, {policy}}}\n"
        )
    };
    let found = "dangerous WebhookFailsClosed webhooks[0].failurePolicy: without its server";
    check(&webhook("failurePolicy: Ignore"), &webhook(""), &[found]);
    check(&webhook(""), &webhook("failurePolicy: Fail"), &[]);
    for (field, filter, narrower) in [
        (
            "namespaceSelector",
            "{matchLabels: {a: b}}",
            "{matchLabels: {a: b, c: d}}",
        ),
        (
            "objectSelector",
            "{matchExpressions: [{key: a, operator: Exists}]}",
            "{matchExpressions: [{key: a, operator: Exists}], matchLabels: {c: d}}",
        ),
        (
            "matchConditions",
            "[{name: a, expression: x}]",
            "[{name: a, expression: x}, {name: b, expression: y}]",
        ),
    ] {
        let found = format!(
            "dangerous WebhookFailsClosed webhooks[0].{field}: the webhook matches other requests"
        );
        let with = |filter: &str| webhook(&format!("{field}: {filter}"));
        check(&with(filter), &webhook(""), &[&found]);
        check(&with(narrower), &with(filter), &[&found]);
        check(&with(filter), &with(narrower), &[]);
        let open = |fields: &str| webhook(&format!("failurePolicy: Ignore, {fields}"));
        check(&open(&format!("{field}: {filter}")), &open(""), &[]);
    }
}

#[test]
fn budgets_that_protect_everything_or_nothing() {
    let budget = |spec: &str| {
        format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
        )
    };
    let (all, none) = (
        "no pod may be evicted: nodes cannot be drained",
        "the budget protects no pod, so all may be evicted",
    );
    for (field, value, message) in [
        ("minAvailable", "100%", all),
        ("minAvailable", "0", none),
        ("maxUnavailable", "0%", all),
        ("maxUnavailable", "100%", none),
    ] {
        let [before, after] = ["1", value].map(|value| budget(&format!("{field}: {value}")));
        let found = format!("dangerous ScaledToZero spec.{field}: {message}");
        check(&before, &after, &[&found]);
    }
}

#[test]
fn data_that_is_deleted_with_its_owner() {
    let object = |start: &str, spec: &str| {
        format!("apiVersion: {start}\nmetadata: {{name: a}}\nspec: {{{spec}}}\n")
    };
    for (start, before, after, field) in [
        (
            "apps/v1\nkind: StatefulSet",
            "",
            "persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}",
            "persistentVolumeClaimRetentionPolicy.whenDeleted",
        ),
        (
            "v1\nkind: PersistentVolume",
            "persistentVolumeReclaimPolicy: Retain",
            "persistentVolumeReclaimPolicy: Delete",
            "persistentVolumeReclaimPolicy",
        ),
    ] {
        let [before, after] = [before, after].map(|spec| object(start, spec));
        let found = format!("dangerous ResourceRemoved spec.{field}: ");
        check(&before, &after, &[&found]);
        check(&after, &before, &[]);
    }
}

#[test]
fn a_namespace_that_admits_more_privileged_pods() {
    let namespace = |label: &str| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: a, labels: {{a: b{label}}}}}\n")
    };
    let [restricted, baseline, privileged] = ["restricted", "baseline", "privileged"]
        .map(|level| namespace(&format!(", pod-security.kubernetes.io/enforce: {level}")));
    let found = "dangerous PodPrivileges metadata.labels[\"pod-security.kubernetes.io/enforce\"]: ";
    check(&restricted, &baseline, &[found]);
    check(&baseline, &namespace(""), &[found]);
    check(&privileged, &restricted, &[]);
    check(&privileged, &namespace(""), &[]);
}

#[test]
fn removals_that_affect_other_resources_come_first() {
    let one = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: a}}\n");
    let both = format!("{}---\n{}", one("Service"), one("Namespace"));
    let found = review(&both, "");
    assert_eq!(
        found[0],
        "dangerous ResourceRemoved the Namespace is deleted, with everything in it"
    );
    assert_eq!(found[1], "dangerous ResourceRemoved the Service is deleted");
}

#[test]
fn a_resource_that_another_file_still_has_goes_nowhere() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n";
    let list = "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: a}}\n";
    check(&format!("{service}{list}"), list, &[]);
}

/// Without a namespace, an object gets the one that the package is applied to, which may be the same.
#[test]
fn a_resource_with_and_without_a_namespace() {
    let map = |namespace: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{namespace}}}\n")
    };
    let start = |what: &str| {
        format!("notable ResourceRenamed metadata.namespace: the resource {what} a namespace")
    };
    let [without, with] = [map(""), map(", namespace: x")];
    check(&without, &with, &[&start("now names")]);
    check(&with, &without, &[&start("no longer names")]);
    let found =
        "dangerous ResourceRenamed metadata.namespace: the ConfigMap is deleted and created";
    check(&with, &map(", namespace: z"), &[found]);
}

/// A cluster has one object for both groups.
#[test]
fn a_resource_in_another_group() {
    for (old, new, kind) in [
        ("extensions/v1beta1", "apps/v1", "Deployment"),
        ("extensions/v1beta1", "networking.k8s.io/v1", "Ingress"),
    ] {
        let with = |version: &str, count: &str| {
            format!(
                "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{replicas: {count}}}\n"
            )
        };
        check(&with(old, "2"), &with(new, "2"), &[]);
    }
    let old = container("image: a:1").replace("apps/v1", "extensions/v1beta1");
    check(
        &old,
        &container("image: a:2"),
        &["notable ImageChanged spec.template.spec.containers[0].image: "],
    );
}

/// Tools no longer apply it, so the object in the cluster is pruned or orphaned.
#[test]
fn a_resource_that_becomes_local_config_is_deleted() {
    let map = |metadata: &str| {
        let front = container("image: a, envFrom: [{configMapRef: {name: a}}]");
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{{metadata}}}\n---\n{front}")
    };
    let applied = map("name: a");
    let local = map("name: a, annotations: {config.kubernetes.io/local-config: 'true'}");
    check(
        &applied,
        &local,
        &[
            "blocking DanglingReference spec.template.spec.containers[0].envFrom[0].configMapRef: ",
            "dangerous ResourceRemoved the ConfigMap is deleted",
        ],
    );
    check(&local, &applied, &["notable ResourceAdded"]);
}

#[test]
fn elements_of_a_list_are_resources() {
    let roles = |verbs: &str| {
        format!(
            "{RBAC}kind: RoleList\nitems:\n- metadata: {{name: a}}\n  rules: [{{apiGroups: [''], resources: [pods], verbs: [{verbs}]}}]\n"
        )
    };
    check(
        &roles("get"),
        &roles("get, list"),
        &["dangerous GrantsMore rules: grants more: list pods"],
    );
}

#[test]
fn admission_that_becomes_looser() {
    let object = |kind: &str, fields: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: a}}\n{fields}\n"
        )
    };
    for (kind, before, after, found) in [
        (
            "MutatingWebhookConfiguration",
            "webhooks: [{name: a.b.c}]",
            "webhooks: [{name: a.b.c, failurePolicy: Ignore}]",
            "notable AdmissionOpened webhooks[0].failurePolicy: without its server, requests pass",
        ),
        (
            "ValidatingWebhookConfiguration",
            "webhooks: [{name: a.b.c}, {name: d.b.c}]",
            "webhooks: [{name: a.b.c}]",
            "notable AdmissionOpened webhooks[1]: the webhook no longer sees requests",
        ),
        (
            "ValidatingAdmissionPolicy",
            "spec: {failurePolicy: Fail}",
            "spec: {failurePolicy: Ignore}",
            "notable AdmissionOpened spec.failurePolicy: requests pass if an expression fails",
        ),
        (
            "ValidatingAdmissionPolicyBinding",
            "spec: {validationActions: [Deny]}",
            "spec: {validationActions: [Warn]}",
            "dangerous AdmissionOpened spec.validationActions: requests that the policy refused now pass",
        ),
    ] {
        check(&object(kind, before), &object(kind, after), &[found]);
    }
}

#[test]
fn accounts_and_constraints_with_more_rights() {
    let account = |annotation: &str| {
        format!(
            "apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: a, annotations: {{x: y, {annotation}}}}}\n"
        )
    };
    let role = account("eks.amazonaws.com/role-arn: admin");
    let found = "dangerous GrantsMore metadata.annotations[\"eks.amazonaws.com/role-arn\"]: the pods of the account get the rights of `admin`";
    check(&account(""), &role, &[found]);
    check(&role, &account(""), &[]);
    let constraints = |fields: &str| {
        format!(
            "apiVersion: security.openshift.io/v1\nkind: SecurityContextConstraints\nmetadata: {{name: a}}\n{fields}\n"
        )
    };
    check(
        &constraints("allowedCapabilities: [MKNOD]\nallowHostPID: false"),
        &constraints("allowedCapabilities: [MKNOD, SYS_ADMIN]\nallowHostPID: true"),
        &[
            "dangerous GrantsMore allowedCapabilities: the constraints also have SYS_ADMIN",
            "dangerous GrantsMore allowHostPID: the constraints now have `allowHostPID`",
        ],
    );
}

#[test]
fn continuous_delivery_that_starts_to_delete() {
    for (start, field) in [
        (
            "argoproj.io/v1alpha1\nkind: Application",
            "syncPolicy: {automated: {prune: PRUNE}}",
        ),
        (
            "kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization",
            "prune: PRUNE",
        ),
    ] {
        let with = |value: &str| {
            let field = field.replace("PRUNE", value);
            format!("apiVersion: {start}\nmetadata: {{name: a}}\nspec: {{{field}}}\n")
        };
        check(
            &with("false"),
            &with("true"),
            &["dangerous ResourceRemoved spec."],
        );
        let stays = "notable SyncChanged spec.prune: resources that the source no longer has stay";
        let is_flux = start.contains("fluxcd");
        let expected: &[&str] = if is_flux { &[stays] } else { &[] };
        check(&with("true"), &with("false"), expected);
        // It deletes only what it has made.
        check("", &with("true"), &["notable ResourceAdded"]);
    }
}

/// The value of a label is a string: `"true"` with quotes.
#[test]
fn a_role_that_others_collect() {
    let role = |labels: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r, labels: {{{labels}}}}}\nrules: []\n"
        )
    };
    let label = |value: &str| {
        role(&format!(
            "rbac.authorization.k8s.io/aggregate-to-admin: {value}"
        ))
    };
    let found = "dangerous GrantsMore metadata.labels[\"rbac.authorization.k8s.io/aggregate-to-admin\"]: \
        everyone with the role `admin` gets what this role grants";
    for (before, after, expected) in [
        (role(""), label("\"true\""), &[found][..]),
        (label("\"false\""), label("'true'"), &[found]),
        (label("\"true\""), label("'true'"), &[]),
        (role(""), label("\"false\""), &[]),
        (label("\"true\""), role(""), &[]),
    ] {
        check(&before, &after, expected);
    }
}
