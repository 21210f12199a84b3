//! What runs, how much of it, where and when.

use super::{check, container, deployment};

fn object(start: &str, spec: &str) -> String {
    format!("apiVersion: {start}\nmetadata: {{name: a}}\nspec: {{{spec}}}\n")
}

#[test]
fn pods_that_leave_a_claim() {
    let with = |volume: &str| {
        deployment(&format!(
            "{{containers: [{{name: app}}], volumes: [{volume}]}}"
        ))
    };
    let claim = with("{name: data, persistentVolumeClaim: {claimName: db}}");
    let found = "dangerous ClaimReplaced spec.template.spec.volumes: the pods no longer see the data of the claim `db`";
    for other in [
        "{name: data, emptyDir: {}}",
        "{name: data, persistentVolumeClaim: {claimName: new}}",
        "",
    ] {
        check(&claim, &with(other), &[found]);
    }
    check(&claim, &claim.replace("name: data", "name: store"), &[]);
    check(&with("{name: data, emptyDir: {}}"), &claim, &[]);
}

#[test]
fn less_than_before() {
    let found = |place: &str, message: &str| format!("notable CapacityReduced {place}: {message}");
    let limit = |size: &str| container(&format!("resources: {{limits: {{memory: {size}}}}}"));
    let place = "spec.template.spec.containers[0].resources.limits.memory";
    check(
        &limit("1Gi"),
        &limit("512Mi"),
        &[&found(place, "the limit gets lower")],
    );
    check(&limit("1Gi"), &limit("1024Mi"), &[]);
    check(&limit("512Mi"), &limit("1Gi"), &[]);
    for (start, before, after, field, message) in [
        (
            "apps/v1\nkind: StatefulSet",
            "replicas: 3",
            "replicas: 1",
            "replicas",
            "fewer pods run",
        ),
        (
            "autoscaling/v2\nkind: HorizontalPodAutoscaler",
            "maxReplicas: 9",
            "maxReplicas: 3",
            "maxReplicas",
            "fewer",
        ),
        (
            "kafka.strimzi.io/v1\nkind: Kafka",
            "kafka: {replicas: 3}",
            "kafka: {replicas: 1}",
            "kafka.replicas",
            "fewer",
        ),
        (
            "v1\nkind: ResourceQuota",
            "hard: {cpu: 4}",
            "hard: {cpu: 500m}",
            "hard.cpu",
            "the namespace may use less",
        ),
        (
            "apps/v1\nkind: Deployment",
            "",
            "strategy: {type: Recreate}",
            "strategy.type",
            "all pods stop",
        ),
    ] {
        let [before, after] = [before, after].map(|spec| object(start, spec));
        check(
            &before,
            &after,
            &[&found(&format!("spec.{field}"), message)],
        );
        check(&after, &before, &[]);
    }
    let custom = |count: &str| {
        object(
            "argoproj.io/v1alpha1\nkind: Rollout",
            &format!("replicas: {count}"),
        )
    };
    let none = "dangerous ScaledToZero spec.replicas: no pods run";
    check(&custom("2"), &custom("0"), &[none]);
    // Nothing ran before.
    for (start, spec) in [
        ("apps/v1\nkind: Deployment", "strategy: {type: Recreate}"),
        ("apps/v1\nkind: Deployment", "replicas: 0"),
        ("argoproj.io/v1alpha1\nkind: Rollout", "replicas: 0"),
        ("batch/v1\nkind: CronJob", "suspend: true"),
    ] {
        check("", &object(start, spec), &["notable ResourceAdded"]);
    }
}

#[test]
fn pods_that_run_elsewhere() {
    for field in [
        "tolerations: [{operator: Exists}]",
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]",
        "priorityClassName: low",
    ] {
        let with = deployment(&format!("{{containers: [{{name: app}}], {field}}}"));
        let place = field.split(':').next().expect("a name");
        let found = format!("notable PlacementChanged spec.template.spec.{place}: ");
        check(&with, &container(""), &[&found]);
        check(&container(""), &with, &[&found]);
    }
    let rules = |rules: &str| {
        deployment(&format!(
            "{{containers: [{{name: app}}], affinity: {{podAntiAffinity: {{{rules}}}}}}}"
        ))
    };
    let required =
        rules("requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, x: y}]");
    let found = "notable PlacementChanged spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution: ";
    check(&required, &container(""), &[found]);
    check(&container(""), &required, &[found]);
    // No pod stays without a node because of a preference.
    let preferred = required.replace("required", "preferred");
    check(&preferred, &container(""), &[]);
    check(&required, &preferred, &[found]);
    let on = |labels: &str| {
        deployment(&format!(
            "{{containers: [{{name: app}}], nodeSelector: {{{labels}}}}}"
        ))
    };
    let found = "notable PlacementChanged spec.template.spec.nodeSelector.disk: ";
    check(&on("disk: ssd"), &container(""), &[found]);
    check(
        &on("kubernetes.io/os: linux, disk: ssd"),
        &on("kubernetes.io/os: linux, disk: hdd"),
        &[found],
    );
    // Images are for one operating system, whether the manifest has its name or not.
    check(&container(""), &on("kubernetes.io/os: linux"), &[]);
    check(
        &on("beta.kubernetes.io/os: linux"),
        &on("kubernetes.io/os: linux"),
        &[],
    );
    let empty = deployment("{containers: [{name: app}], tolerations: []}");
    check(&empty, &container(""), &[]);
}

#[test]
fn a_job_with_another_schedule() {
    let job = |fields: &str| object("batch/v1\nkind: CronJob", fields);
    let found = "notable ScheduleChanged spec.schedule: the job runs at other times";
    check(
        &job("schedule: '0 3 * * *'"),
        &job("schedule: '0 4 * * *'"),
        &[found],
    );
}

#[test]
fn a_volume_that_a_container_mounts_is_removed() {
    let pod = |volumes: &str| {
        let mounts = "volumeMounts: [{name: a, mountPath: /a}, {name: b, mountPath: /b}]";
        deployment(&format!(
            "{{containers: [{{name: app, image: a, {mounts}}}], volumes: [{volumes}]}}"
        ))
    };
    let both = pod("{name: a, emptyDir: {}}, {name: b, emptyDir: {}}");
    let one = pod("{name: a, emptyDir: {}}");
    let lacks = "blocking DanglingReference spec.template.spec.containers[0].volumeMounts[1].name: the pod lacks a mounted \
                 volume: `b` of app";
    check(&both, &one, &[lacks]);
    check(&one, &both, &[]);
    // A patch has no image, and its volumes are elsewhere.
    let patch = |text: &str| text.replace(", image: a", "");
    check(&patch(&both), &patch(&one), &[]);
    // A claim template is a volume.
    let set = |text: &str| {
        let claims = "  volumeClaimTemplates: [{metadata: {name: b}}]\n";
        format!("{}{claims}", text.replace("Deployment", "StatefulSet"))
    };
    check(&set(&both), &set(&one), &[]);
}

#[test]
fn a_port_that_a_probe_uses_is_removed() {
    let named = |name: &str, port: &str| {
        container(&format!(
            "image: a, ports: [{{name: {name}, containerPort: 80}}], readinessProbe: {{httpGet: {{port: {port}}}}}"
        ))
    };
    let before = named("http", "http");
    let lacks = "dangerous DanglingReference spec.template.spec.containers[0].readinessProbe.httpGet.port: a probe uses a port that \
                 its container does not have: `http` of app";
    check(&before, &named("web", "http"), &[lacks]);
    check(&before, &named("web", "web"), &[]);
    check(&before, &named("web", "80"), &[]);
}
