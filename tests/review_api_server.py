#!/usr/bin/env python3
"""Asks a real API server about the immutable fields that review-package knows.

    tests/review_api_server.py DIR        DIR holds the built programs; kubectl uses the current KUBECONFIG

For each field one update that the server must refuse and one that it must take; review-package must say of each what the
server says. Ends with 77 without kubectl or a server. Objects are made in a namespace of their own and deleted.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

NAMESPACE = "review-fields"
LABELS = {"matchLabels": {"a": "b"}}
TEMPLATE = {"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
JOB_POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}
CLAIM = {"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}


def with_(base, **fields):
    return {**base, **fields}


def claim(size, **fields):
    return with_(CLAIM, spec={**CLAIM["spec"], "resources": {"requests": {"storage": size}}, **fields})


STATEFUL = {"selector": LABELS, "serviceName": "a", "template": TEMPLATE, "volumeClaimTemplates": [CLAIM]}
JOB = {"template": JOB_POD, "suspend": True}
PVC = {"accessModes": ["ReadWriteOnce"], "storageClassName": "grows", "resources": {"requests": {"storage": "2Gi"}}}
VOLUME = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}
CRD_VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
CRD = {"group": "review.example.com", "scope": "Namespaced", "names": {"kind": "A", "plural": "as"}, "versions": [CRD_VERSION]}
ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}
SERVICE = {"ports": [{"port": 80}]}
OTHER_LABELS = {"labels": {"a": "z", "c": "d"}}
MORE_LABELS = {"labels": {"a": "b", "c": "z"}}
BALANCER = with_(SERVICE, type="LoadBalancer", loadBalancerClass="a.b/c")
LOCAL = with_(SERVICE, type="LoadBalancer", externalTrafficPolicy="Local")
DEVICE = {"name": "a", "exactly": {"deviceClassName": "a.b"}}
DEVICES = {"devices": {"requests": [DEVICE]}}
PARENT = {"resource": "services", "namespace": NAMESPACE, "name": "a"}
POD = TEMPLATE["spec"]
TOLERATIONS = [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}]
GATED = with_(POD, schedulingGates=[{"name": "example.com/a"}, {"name": "example.com/b"}])

# apiVersion, kind, the object, an update that is refused, one that is taken; each the fields in addition to apiVersion, kind, metadata.
CASES = [
    ("apps/v1", "Deployment", {"spec": {"selector": LABELS, "template": TEMPLATE}},
     {"spec": {"selector": {"matchLabels": {"c": "d"}}, "template": TEMPLATE}},
     {"spec": {"selector": LABELS, "template": TEMPLATE, "replicas": 2}}),
    ("apps/v1", "DaemonSet", {"spec": {"selector": LABELS, "template": TEMPLATE}},
     {"spec": {"selector": {"matchLabels": {"c": "d"}}, "template": TEMPLATE}},
     {"spec": {"selector": LABELS, "template": TEMPLATE, "minReadySeconds": 2}}),
    ("apps/v1", "ReplicaSet", {"spec": {"selector": LABELS, "template": TEMPLATE}},
     {"spec": {"selector": {"matchLabels": {"c": "d"}}, "template": TEMPLATE}},
     {"spec": {"selector": LABELS, "template": TEMPLATE, "replicas": 2}}),
    ("apps/v1", "StatefulSet", {"spec": STATEFUL},
     {"spec": with_(STATEFUL, selector={"matchLabels": {"c": "d"}})}, {"spec": with_(STATEFUL, replicas=3)}),
    ("apps/v1", "StatefulSet", {"spec": STATEFUL},
     {"spec": with_(STATEFUL, serviceName="b")}, {"spec": with_(STATEFUL, minReadySeconds=3)}),
    ("apps/v1", "StatefulSet", {"spec": STATEFUL},
     {"spec": with_(STATEFUL, podManagementPolicy="Parallel")}, {"spec": with_(STATEFUL, podManagementPolicy="OrderedReady")}),
    ("apps/v1", "StatefulSet", {"spec": STATEFUL},
     {"spec": with_(STATEFUL, volumeClaimTemplates=[with_(CLAIM, metadata={"name": "v", "labels": {"a": "b"}})])},
     {"spec": with_(STATEFUL, revisionHistoryLimit=3)}),
    ("batch/v1", "Job", {"spec": {"template": JOB_POD}},
     {"spec": {"template": {"spec": with_(JOB_POD["spec"], hostNetwork=True)}}}, {"spec": {"template": JOB_POD, "parallelism": 2}}),
    ("batch/v1", "Job", {"spec": {"template": JOB_POD}},
     {"spec": {"template": JOB_POD, "completionMode": "Indexed", "completions": 1}}, {"spec": {"template": JOB_POD, "completionMode": "NonIndexed"}}),
    ("batch/v1", "Job", {"spec": {"template": JOB_POD, "completionMode": "Indexed", "completions": 2, "parallelism": 2}},
     {"spec": {"template": JOB_POD, "completionMode": "Indexed", "completions": 3, "parallelism": 2}},
     {"spec": {"template": JOB_POD, "completionMode": "Indexed", "completions": 3, "parallelism": 3}}),
    ("batch/v1", "Job", {"spec": {"template": JOB_POD}},
     {"spec": {"template": JOB_POD, "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "A", "status": "True"}]}]}}},
     {"spec": {"template": JOB_POD, "backoffLimit": 2}}),
    ("batch/v1", "Job", {"spec": {"template": JOB_POD}},
     {"spec": {"template": JOB_POD, "managedBy": "example.com/a"}}, {"spec": {"template": JOB_POD, "ttlSecondsAfterFinished": 2}}),
    ("v1", "Service", {"spec": SERVICE}, {"spec": with_(SERVICE, clusterIP="None")}, {"spec": with_(SERVICE, type="NodePort")}),
    ("v1", "Service", {"spec": with_(SERVICE, clusterIP="None")}, {"spec": with_(SERVICE, clusterIP="10.96.0.77")}, {"spec": SERVICE}),
    ("v1", "PersistentVolumeClaim", {"spec": PVC}, {"spec": with_(PVC, resources={"requests": {"storage": "1Gi"}})}, {"spec": with_(PVC, volumeMode="Filesystem")}),
    ("v1", "PersistentVolumeClaim", {"spec": PVC}, {"spec": with_(PVC, accessModes=["ReadWriteMany"])}, {"metadata": {"labels": {"a": "b"}}, "spec": PVC}),
    ("v1", "PersistentVolumeClaim", {"spec": PVC}, {"spec": with_(PVC, storageClassName="other")}, {"spec": PVC, "metadata": {"labels": {"a": "c"}}}),
    ("v1", "PersistentVolume", {"spec": VOLUME}, {"spec": with_(VOLUME, hostPath={"path": "/b"})}, {"spec": with_(VOLUME, persistentVolumeReclaimPolicy="Delete")}),
    ("v1", "ConfigMap", {"immutable": True, "data": {"a": "b"}}, {"immutable": True, "data": {"a": "c"}}, {"immutable": True, "data": {"a": "b"}, "metadata": {"labels": {"a": "b"}}}),
    ("v1", "ConfigMap", {"immutable": True, "data": {"a": "b"}}, {"immutable": False, "data": {"a": "b"}}, {"immutable": True, "data": {"a": "b"}, "metadata": {"annotations": {"a": "b"}}}),
    ("v1", "Secret", {"immutable": True, "stringData": {"a": "b"}}, {"immutable": True, "stringData": {"a": "c"}}, {"immutable": True, "stringData": {"a": "b"}, "metadata": {"labels": {"a": "b"}}}),
    ("v1", "Secret", {"type": "a/b"}, {"type": "a/c"}, {"type": "a/b", "stringData": {"a": "b"}}),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", {"roleRef": ROLE}, {"roleRef": with_(ROLE, name="b")}, {"roleRef": ROLE, "metadata": {"labels": {"a": "b"}}}),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", {"roleRef": with_(ROLE, kind="ClusterRole")}, {"roleRef": with_(ROLE, kind="ClusterRole", name="b")}, {"roleRef": with_(ROLE, kind="ClusterRole"), "metadata": {"labels": {"a": "b"}}}),
    ("storage.k8s.io/v1", "StorageClass", {"provisioner": "a.b"}, {"provisioner": "a.c"}, {"provisioner": "a.b", "allowVolumeExpansion": True}),
    ("storage.k8s.io/v1", "StorageClass", {"provisioner": "a.b", "parameters": {"a": "b"}}, {"provisioner": "a.b", "parameters": {"a": "c"}}, {"provisioner": "a.b", "parameters": {"a": "b"}, "mountOptions": ["ro"]}),
    ("storage.k8s.io/v1", "StorageClass", {"provisioner": "a.b"}, {"provisioner": "a.b", "reclaimPolicy": "Retain"}, {"provisioner": "a.b", "reclaimPolicy": "Delete"}),
    ("storage.k8s.io/v1", "StorageClass", {"provisioner": "a.b"}, {"provisioner": "a.b", "volumeBindingMode": "WaitForFirstConsumer"}, {"provisioner": "a.b", "volumeBindingMode": "Immediate"}),
    ("scheduling.k8s.io/v1", "PriorityClass", {"value": 1}, {"value": 2}, {"value": 1, "description": "a"}),
    ("scheduling.k8s.io/v1", "PriorityClass", {"value": 1}, {"value": 1, "preemptionPolicy": "Never"}, {"value": 1, "preemptionPolicy": "PreemptLowerPriority"}),
    ("storage.k8s.io/v1", "CSIDriver", {"spec": {}}, {"spec": {"attachRequired": False}}, {"spec": {"attachRequired": True}}),
    ("storage.k8s.io/v1", "CSIDriver", {"spec": {"volumeLifecycleModes": ["Persistent"]}}, {"spec": {"volumeLifecycleModes": ["Ephemeral"]}}, {"spec": {"volumeLifecycleModes": ["Persistent"], "requiresRepublish": True}}),
    ("storage.k8s.io/v1", "VolumeAttributesClass", {"driverName": "a.b", "parameters": {"a": "b"}}, {"driverName": "a.c", "parameters": {"a": "b"}}, {"driverName": "a.b", "parameters": {"a": "b"}, "metadata": {"labels": {"a": "b"}}}),
    ("storage.k8s.io/v1", "VolumeAttributesClass", {"driverName": "a.b", "parameters": {"a": "b"}}, {"driverName": "a.b", "parameters": {"a": "c"}}, {"driverName": "a.b", "parameters": {"a": "b"}, "metadata": {"labels": {"a": "b"}}}),
    ("networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "a.b/c"}}, {"spec": {"controller": "a.b/d"}}, {"spec": {"controller": "a.b/c", "parameters": {"kind": "A", "name": "a"}}}),
    ("node.k8s.io/v1", "RuntimeClass", {"handler": "a"}, {"handler": "b"}, {"handler": "a", "metadata": {"labels": {"a": "b"}}}),
    ("v1", "ResourceQuota", {"spec": {"scopes": ["BestEffort"], "hard": {"pods": 1}}}, {"spec": {"scopes": ["NotBestEffort"], "hard": {"pods": 1}}}, {"spec": {"scopes": ["BestEffort"], "hard": {"pods": 2}}}),
    ("discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "endpoints": []}, {"addressType": "IPv6", "endpoints": []}, {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}]}),
    ("apps/v1", "ControllerRevision", {"revision": 1, "data": {"a": "b"}}, {"revision": 1, "data": {"a": "c"}}, {"revision": 2, "data": {"a": "b"}}),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {"metadata": {"name": "as.review.example.com"}, "spec": CRD},
     {"metadata": {"name": "as.review.example.com"}, "spec": with_(CRD, scope="Cluster")},
     {"metadata": {"name": "as.review.example.com"}, "spec": with_(CRD, names={"kind": "A", "plural": "as", "shortNames": ["aa"]})}),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {"metadata": {"name": "as.review.example.com"}, "spec": CRD},
     {"metadata": {"name": "as.review.example.com"}, "spec": with_(CRD, names={"kind": "B", "plural": "as"})},
     {"metadata": {"name": "as.review.example.com"}, "spec": with_(CRD, names={"kind": "A", "plural": "as", "categories": ["all"]})}),
    ("apps/v1", "Deployment", {"spec": {"selector": LABELS, "template": TEMPLATE}},
     {"spec": {"selector": LABELS, "template": with_(TEMPLATE, metadata=OTHER_LABELS)}},
     {"spec": {"selector": LABELS, "template": with_(TEMPLATE, metadata=MORE_LABELS)}}),
    ("apps/v1", "DaemonSet", {"spec": {"selector": LABELS, "template": TEMPLATE}},
     {"spec": {"selector": LABELS, "template": with_(TEMPLATE, metadata=OTHER_LABELS)}},
     {"spec": {"selector": LABELS, "template": with_(TEMPLATE, metadata=MORE_LABELS)}}),
    ("apps/v1", "ReplicaSet", {"spec": {"selector": LABELS, "template": TEMPLATE}},
     {"spec": {"selector": LABELS, "template": with_(TEMPLATE, metadata=OTHER_LABELS)}},
     {"spec": {"selector": LABELS, "template": with_(TEMPLATE, metadata=MORE_LABELS)}}),
    ("apps/v1", "StatefulSet", {"spec": STATEFUL},
     {"spec": with_(STATEFUL, template=with_(TEMPLATE, metadata=OTHER_LABELS))},
     {"spec": with_(STATEFUL, template=with_(TEMPLATE, metadata=MORE_LABELS))}),
    ("v1", "ReplicationController", {"spec": {"selector": {"a": "b"}, "template": TEMPLATE}},
     {"spec": {"selector": {"a": "b"}, "template": with_(TEMPLATE, metadata=OTHER_LABELS)}},
     {"spec": {"selector": {"c": "d"}, "template": with_(TEMPLATE, metadata={"labels": {"c": "d"}})}}),
    ("apps/v1", "StatefulSet", {"spec": STATEFUL},
     {"spec": with_(STATEFUL, volumeClaimTemplates=[claim("2Gi")])},
     {"spec": with_(STATEFUL, volumeClaimTemplates=[{"apiVersion": "v1", "kind": "PersistentVolumeClaim", **CLAIM}])}),
    ("apps/v1", "StatefulSet", {"spec": STATEFUL},
     {"spec": with_(STATEFUL, volumeClaimTemplates=[claim("1Gi", volumeMode="Block")])},
     {"spec": with_(STATEFUL, volumeClaimTemplates=[claim("1024Mi", volumeMode="Filesystem")])}),
    ("v1", "Service", {"spec": with_(SERVICE, ipFamilies=["IPv4"])}, {"spec": with_(SERVICE, ipFamilies=["IPv6"])}, {"spec": SERVICE}),
    ("v1", "Service", {"spec": with_(SERVICE, clusterIP="None", ipFamilies=["IPv4"])},
     {"spec": with_(SERVICE, clusterIP="None", ipFamilies=["IPv6"])},
     {"spec": with_(SERVICE, clusterIP="None", ipFamilyPolicy="SingleStack")}),
    ("v1", "Service", {"spec": BALANCER}, {"spec": with_(BALANCER, loadBalancerClass="a.b/d")}, {"spec": with_(SERVICE, type="ClusterIP")}),
    ("v1", "Service", {"spec": with_(SERVICE, type="LoadBalancer")}, {"spec": BALANCER}, {"spec": with_(SERVICE, type="LoadBalancer", sessionAffinity="ClientIP")}),
    ("v1", "Service", {"spec": SERVICE}, {"spec": with_(SERVICE, clusterIP="None")}, {"spec": BALANCER}),
    ("v1", "Service", {"spec": with_(LOCAL, healthCheckNodePort=31000)}, {"spec": with_(LOCAL, healthCheckNodePort=31001)}, {"spec": LOCAL}),
    ("v1", "Service", {"spec": with_(LOCAL, healthCheckNodePort=31002)},
     {"spec": with_(LOCAL, healthCheckNodePort=31003)},
     {"spec": with_(SERVICE, type="LoadBalancer", externalTrafficPolicy="Cluster")}),
    ("v1", "Service", {"spec": with_(SERVICE, clusterIP="None")}, {"spec": with_(SERVICE, type="LoadBalancer")}, {"spec": with_(SERVICE, type="ClusterIP")}),
    ("v1", "Service", {"spec": with_(SERVICE, clusterIP="None")},
     {"spec": with_(SERVICE, type="NodePort", clusterIP="None")},
     {"spec": with_(SERVICE, type="ExternalName", externalName="a.example.com")}),
    ("v1", "PersistentVolumeClaim", {"spec": PVC},
     {"spec": with_(PVC, resources={"requests": {"storage": "2Gi"}, "limits": {"storage": "3Gi"}})},
     {"spec": with_(PVC, resources={"requests": {"storage": "2048Mi"}, "limits": {}})}),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", {"roleRef": ROLE}, {"roleRef": with_(ROLE, kind="ClusterRole")}, {"roleRef": with_(ROLE, apiGroup="")}),
    ("storage.k8s.io/v1", "StorageClass", {"provisioner": "a.b"}, {"provisioner": "a.b", "parameters": {"a": "b"}}, {"provisioner": "a.b", "parameters": {}}),
    ("resource.k8s.io/v1", "ResourceClaim", {"spec": DEVICES}, {"spec": {"devices": {"requests": [with_(DEVICE, name="b")]}}}, {"spec": DEVICES, "metadata": {"labels": {"a": "b"}}}),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": {"spec": DEVICES}},
     {"spec": {"spec": {"devices": {"requests": [with_(DEVICE, name="b")]}}}},
     {"spec": {"spec": DEVICES}, "metadata": {"labels": {"a": "b"}}}),
    ("networking.k8s.io/v1", "ServiceCIDR", {"spec": {"cidrs": ["10.9.0.0/24"]}}, {"spec": {"cidrs": ["10.8.0.0/24"]}}, {"spec": {"cidrs": ["10.9.0.0/24", "fd00::/120"]}}),
    ("networking.k8s.io/v1", "ServiceCIDR", {"spec": {"cidrs": ["10.9.0.0/24", "fd00::/120"]}},
     {"spec": {"cidrs": ["10.9.0.0/24"]}}, {"spec": {"cidrs": ["10.9.0.0/24", "fd00::/120"]}, "metadata": {"labels": {"a": "b"}}}),
    ("networking.k8s.io/v1", "IPAddress", {"metadata": {"name": "10.0.0.9"}, "spec": {"parentRef": PARENT}},
     {"metadata": {"name": "10.0.0.9"}, "spec": {"parentRef": with_(PARENT, name="b")}},
     {"metadata": {"name": "10.0.0.9", "labels": {"a": "b"}}, "spec": {"parentRef": PARENT}}),
    ("v1", "Pod", {"spec": TEMPLATE["spec"]}, {"spec": with_(TEMPLATE["spec"], hostNetwork=True)}, {"spec": {"containers": [{"name": "a", "image": "b"}]}}),
    ("v1", "Pod", {"spec": TEMPLATE["spec"]}, {"spec": {"containers": [{"name": "a", "image": "a", "args": ["b"]}]}}, {"spec": with_(TEMPLATE["spec"], activeDeadlineSeconds=3)}),
    ("v1", "Pod", {"spec": with_(POD, tolerations=TOLERATIONS)},
     {"spec": with_(POD, tolerations=[{"key": "b", "operator": "Exists"}])},
     {"spec": with_(POD, tolerations=[*TOLERATIONS, {"key": "b", "operator": "Exists"}])}),
    ("v1", "Pod", {"spec": with_(POD, tolerations=TOLERATIONS)},
     {"spec": with_(POD, tolerations=[with_(TOLERATIONS[0], key="c")])},
     {"spec": with_(POD, tolerations=[with_(TOLERATIONS[0], tolerationSeconds=10)])}),
    ("v1", "Pod", {"spec": GATED},
     {"spec": with_(POD, schedulingGates=[*GATED["schedulingGates"], {"name": "example.com/c"}])},
     {"spec": with_(POD, schedulingGates=[GATED["schedulingGates"][1]])}),
    ("v1", "Pod", {"spec": GATED},
     {"spec": with_(POD, schedulingGates=[{"name": "example.com/c"}])}, {"spec": POD}),
]
SETUP = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
         {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "grows"}, "provisioner": "a.b", "allowVolumeExpansion": True},
         {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": NAMESPACE}}]


def kubectl(*arguments, stdin=None):
    command = ["kubectl", "--request-timeout=20s", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def manifest(version, kind, fields, name):
    metadata = {"name": name, "namespace": NAMESPACE, **fields.get("metadata", {})}
    return {"apiVersion": version, "kind": kind, **fields, "metadata": metadata}


def apply(resource):
    # --validate=false: the server's own validation is asked, and not the client's.
    return kubectl("apply", "--validate=false", "-f", "-", stdin=json.dumps(resource))


def finds(programs, before, after):
    with tempfile.TemporaryDirectory() as folder:
        for name, resource in (("before", before), ("after", after)):
            path = pathlib.Path(folder, name)
            path.mkdir()
            (path / "a.json").write_text(json.dumps(resource) + "\n")
        command = [str(programs / "review-package"), "--package", f"{folder}/after", "--before", f"{folder}/before", "--format", "json"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        results = json.loads(output)["items"][0].get("results", [])
        return [result["field"]["path"] for result in results if result["tags"]["risk"] == "blocking"]


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    programs = pathlib.Path(sys.argv[1])
    try:
        server = kubectl("version", "-o", "json")
    except FileNotFoundError:
        server = None
    if server is None or server.returncode != 0 or "serverVersion" not in server.stdout:
        print("no kubectl on PATH, or no API server", file=sys.stderr)
        return 77
    print("Kubernetes", json.loads(server.stdout)["serverVersion"]["gitVersion"])
    for resource in SETUP:
        apply(resource)
    failed = 0
    # Without controllers some objects are never quite deleted: each update gets one of its own.
    number = 0
    for version, kind, before, refused, taken in CASES:
        for update, is_refused in ((refused, True), (taken, False)):
            number += 1
            first = manifest(version, kind, before, f"review-{number}")
            made = apply(first)
            if made.returncode != 0:
                print(f"FAILED: {kind}: cannot be made: {made.stderr.strip()}")
                failed += 1
                continue
            second = manifest(version, kind, update, f"review-{number}")
            answer = apply(second)
            found = finds(programs, first, second)
            says = answer.returncode != 0
            if says != is_refused or bool(found) != is_refused:
                failed += 1
                print(f"FAILED: {kind} {json.dumps(update)[:200]}: server {'refuses' if says else 'takes'}, review {found}: {answer.stderr.strip()[:300]}")
            elif is_refused:
                print(f"ok: {kind} {found[0]}")
            arguments = ("-n", NAMESPACE, "--wait=false", "--ignore-not-found")
            kubectl("delete", kind, first["metadata"]["name"], *arguments)
            if kind == "CustomResourceDefinition":
                kubectl("wait", "--for=delete", "crd", first["metadata"]["name"], "--timeout=20s")
    for resource in reversed(SETUP[:2]):
        kubectl("delete", resource["kind"], resource["metadata"]["name"], "--wait=false")
    print(f"{2 * len(CASES)} updates, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
