#!/usr/bin/env python3
"""Asks the real kustomize whether the patches of `create-patch format=kustomize` do what they should.

    tests/kustomize_patches.py DIR_OF_BUILT_BINARIES BUILD [SEED [ROUNDS]]

Many pairs of a resource and an edited copy: written out below, generated from samples of built-in and custom kinds, and
generated from the packages in KRM_VARIANTS_SHARED/corpus (default ../shared; needs PyYAML). create-patch makes patches
from each live resource to its copy, BUILD ("kustomize build", "kubectl kustomize") applies them, and the output must be
that of BUILD over the copies.
"""

import copy
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIRECTIVES = ("$setElementOrder", "$deleteFromPrimitiveList", "$retainKeys")

# Pairs by name: what stands below `metadata.name` in the live resource and in its copy. A copy of None is gone.
DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\n"
POD = "apiVersion: v1\nkind: Pod\n"
MAP = "apiVersion: v1\nkind: ConfigMap\n"
CUSTOM = "apiVersion: example.com/v1\nkind: Thing\n"
PAIRS = {
    "list-order": (POD, "spec:\n  containers:\n  - {name: a, image: x}\n  - {name: b, image: x}\n  - {name: c}\n",
                   "spec:\n  containers:\n  - {name: c}\n  - {name: a, image: x}\n  - {name: b, image: z}\n"),
    "element-appended": (POD, "spec:\n  containers:\n  - {name: a, image: x}\n",
                         "spec:\n  containers:\n  - {name: a, image: x}\n  - {name: b, image: z}\n"),
    "element-deleted": (POD, "spec:\n  containers:\n  - {name: a}\n  - {name: b}\n  volumes: [{name: v, emptyDir: {}}]\n",
                        "spec:\n  containers:\n  - {name: b}\n  volumes: []\n"),
    "last-unchanged": (POD, "spec:\n  containers:\n  - {name: a, image: x}\n  - {name: b}\n",
                       "spec:\n  containers:\n  - {name: a, image: z}\n  - {name: b}\n"),
    "ports-by-protocol": ("apiVersion: v1\nkind: Service\n",
                          "spec:\n  ports:\n  - {port: 53, protocol: UDP, name: u}\n  - {port: 53, protocol: TCP, name: t}\n",
                          "spec:\n  ports:\n  - {port: 53, protocol: UDP, name: u, targetPort: 5353}\n  - {port: 53, protocol: TCP, name: t}\n"),
    "ports-without-protocol": ("apiVersion: v1\nkind: Service\n", "spec:\n  ports:\n  - {port: 80}\n  - {port: 443}\n",
                               "spec:\n  ports:\n  - {port: 443, name: tls}\n  - {port: 80}\n"),
    "port-one-protocol": ("apiVersion: v1\nkind: Service\n", "spec:\n  ports:\n  - {port: 80}\n  - {port: 443, protocol: TCP}\n",
                          "spec:\n  ports:\n  - {port: 80, name: http}\n  - {port: 443, protocol: TCP}\n"),
    "untouched-duplicates": (POD, "spec:\n  restartPolicy: Always\n  containers:\n  - {name: a, env: [{name: A, value: x}, {name: A, value: y}]}\n",
                             "spec:\n  restartPolicy: Never\n  containers:\n  - {name: a, env: [{name: A, value: x}, {name: A, value: y}]}\n"),
    "ephemeral": (POD, "spec:\n  ephemeralContainers:\n  - {name: a, image: x, ports: [{containerPort: 1}, {containerPort: 2}]}\n",
                  "spec:\n  ephemeralContainers:\n  - {name: a, image: z, ports: [{containerPort: 2}]}\n"),
    "newer-than-kustomize": (POD, "spec:\n  resourceClaims:\n  - {name: a, resourceClaimName: x}\n  - {name: b}\n",
                             "spec:\n  resourceClaims:\n  - {name: b, resourceClaimName: z}\n"),
    "primitives-removed": (MAP, "  finalizers: [x/a, x/b, x/c]\ndata: {a: b}\n", "  finalizers: [x/c, x/d]\ndata: {a: c}\n"),
    "finalizers-added": (DEPLOYMENT, "  finalizers: [x/a, x/b]\n", "  finalizers: [x/b, x/a, x/c]\n"),
    "finalizers-removed": (DEPLOYMENT, "  finalizers: [x/a, x/b]\nspec: {replicas: 1}\n", "  finalizers: [x/b]\nspec: {replicas: 2}\n"),
    "list-replaced": (DEPLOYMENT, "spec: {template: {spec: {containers: [{name: a, args: [x, z]}]}}}\n",
                      "spec: {template: {spec: {containers: [{name: a, args: [z]}]}}}\n"),
    "custom-list": (CUSTOM, "spec:\n  items: [{name: a, x: 1}, {name: b}]\n  tags: [a, b]\n", "spec:\n  items: [{name: b}]\n  tags: []\n"),
    "custom-null": (CUSTOM, "spec: {a: 1}\nempty:\n", "spec: {a: 1, n: {m: [null, {}]}}\nempty:\n"),
    "map-removed": (DEPLOYMENT, "spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}\n", "spec: {strategy: {type: Recreate}}\n"),
    "map-emptied": (POD, "spec: {volumes: [{name: a, emptyDir: {medium: Memory}}], securityContext: {runAsUser: 1}}\n",
                    "spec: {volumes: [{name: a, emptyDir: {}}], securityContext: {}}\n"),
    "kind-of-value": (CUSTOM, "spec: {a: {b: 1}, c: [1], d: x, e: '5', f: 5, g: 'true'}\n",
                      "spec: {a: [1], c: {b: 1}, d: {b: 1}, e: 5, f: '5', g: true}\n"),
    "texts-like-numbers": (MAP, "data: {a: abc, b: \"1\", c: 'x'}\n",
                           "data: {a: '5', b: 'true', c: '1e3', d: 'null', e: '0x1f', f: 'yes', g: '~', h: '012', i: '2024-01-01'}\n"),
    "texts-of-lines": (MAP, "data:\n  a: |\n    x\n  b: one\n  c: \"q\\tr\"\n", "data:\n  a: one\n  b: |\n    x\n    y\n  c: \"\\t\\n  z \"\n"),
    "keys": (MAP, "data: {a/b: x, a~b: x, 'y': x, '1': x}\n", "data: {a/b: z, c~1d: x, 'y': z, '1': a, '01': b, 'on': c}\n"),
    "words-as-keys": (CUSTOM, "spec: {n: 5, m: {on: x, a: {'No': 1}}}\n", "spec: {n: x, m: {on: z, a: {No: [1]}, off: 3}}\n"),
    "keys-in-pointers": (CUSTOM, "spec: {m: {a/b~c: {x: [1]}, '': 2, '~1': 1}}\n", "spec: {m: {a/b~c: {x: {y: 1}}, '': 3, '/': 1}}\n"),
    "anchors": (CUSTOM, "spec: {a: &x {k: 1}, b: *x, c: {<<: *x, l: 2}}\n", "spec: {a: &x {k: 2}, b: *x, c: {<<: *x, l: 3}}\n"),
    "null-without-text": (POD, "spec:\n  volumes:\n  - name: v\n    emptyDir:\n  hostNetwork:\n  nodeName: a\n",
                          "spec:\n  volumes:\n  - name: v\n    emptyDir:\n  hostNetwork:\n  nodeName: b\n"),
    "api-version": ("apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\n", "spec: {minReplicas: 1, maxReplicas: 3}\n",
                    "apiVersion: autoscaling/v2\nspec: {minReplicas: 2, maxReplicas: 3}\n"),
    "namespace": (MAP, "data: {a: b}\n", "  namespace: here\ndata: {a: c}\n"),
    "gone": (MAP, "data: {a: b}\n", None),
    "gone.with.dots": (DEPLOYMENT, "spec: {}\n", None),
}

SAMPLES = """
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"app":"a"},"finalizers":["x/a","x/b"],"ownerReferences":[{"uid":"u1","name":"o"}]},
 "spec":{"replicas":2,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{
 "imagePullSecrets":[{"name":"s"},{"name":"t"}],"hostAliases":[{"ip":"1.1.1.1","hostnames":["a","b"]}],
 "tolerations":[{"key":"a","operator":"Exists"},{"key":"b"}],
 "topologySpreadConstraints":[{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","maxSkew":1},{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}],
 "initContainers":[{"name":"i","image":"i:1"}],
 "containers":[{"name":"a","image":"a:1","args":["x","y"],"env":[{"name":"A","value":"1"},{"name":"B","value":"two"},{"name":"C"}],
  "ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":81,"protocol":"UDP"}],"volumeMounts":[{"mountPath":"/a","name":"v"},{"mountPath":"/b","name":"w"}],
  "volumeDevices":[{"devicePath":"/dev/a","name":"v"}],"resources":{"limits":{"cpu":1,"memory":"1Gi"}},"envFrom":[{"configMapRef":{"name":"a"}}]},
  {"name":"b","image":"b:1","ports":[{"containerPort":90},{"containerPort":91,"name":"m"}]},{"name":"c","image":"c"}],
 "volumes":[{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"c","items":[{"key":"k","path":"p"}]}}]}}}}
{"apiVersion":"v1","kind":"Service","metadata":{"annotations":{"a/b":"c"}},"spec":{"selector":{"a":"b"},"externalIPs":["1.1.1.1","2.2.2.2"],
 "ports":[{"name":"u","port":53,"protocol":"UDP"},{"name":"t","port":53,"protocol":"TCP"},{"name":"h","port":80,"protocol":"TCP","targetPort":"web"}]}}
{"apiVersion":"v1","kind":"ServiceAccount","metadata":{},"secrets":[{"name":"a"},{"name":"b"}],"imagePullSecrets":[{"name":"a"},{"name":"b"}]}
{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"finalizers":["x/a"]},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{
 "restartPolicy":"Never","containers":[{"name":"a","image":"x","env":[{"name":"A","value":"5"}]},{"name":"b"}],"volumes":[{"name":"v"}]}}}}}}
{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{},"spec":{"serviceName":"s","volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"]}}],
 "template":{"spec":{"containers":[{"name":"a","volumeMounts":[{"mountPath":"/d","name":"d"}]},{"name":"b"}]}}}}
{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{},"spec":{"template":{"spec":{"initContainers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"c"}]}}}}
{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{},"spec":{"template":{"spec":{"containers":[{"name":"c"},{"name":"d"}]}}}}
{"apiVersion":"batch/v1","kind":"Job","metadata":{},"spec":{"template":{"spec":{"containers":[{"name":"c"},{"name":"d","env":[{"name":"A"},{"name":"B"}]}]}}}}
{"apiVersion":"v1","kind":"ReplicationController","metadata":{},"spec":{"template":{"spec":{"containers":[{"name":"c"},{"name":"d"}]}}}}
{"apiVersion":"v1","kind":"PodTemplate","metadata":{},"template":{"spec":{"containers":[{"name":"c"},{"name":"d"}]}}}
{"apiVersion":"v1","kind":"Pod","metadata":{"finalizers":["x/a","x/b"]},"spec":{"containers":[{"name":"c","ports":[{"containerPort":1},{"containerPort":2}]},{"name":"d"}],
 "ephemeralContainers":[{"name":"e","ports":[{"containerPort":1}],"env":[{"name":"A"}]}],"resourceClaims":[{"name":"a"}],"readinessGates":[{"conditionType":"a"}],"hostNetwork":true}}
{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{},"webhooks":[{"name":"a.b.c","rules":[{"operations":["*"]}],"clientConfig":{"url":"x"}},{"name":"d"}]}
{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{},"webhooks":[{"name":"a.b.c","rules":[{"operations":["*"]}]},{"name":"d"}]}
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"finalizers":["x/a"]},"data":{"a":"b","n":"5","t.x":"true","text":"a\\nb\\n"}}
{"apiVersion":"v1","kind":"Secret","metadata":{},"type":"Opaque","data":{"a":"YQ=="},"stringData":{"b":"c"}}
{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"finalizers":["x/a"]},"spec":{"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"cpu"}},{"type":"Pods"}]}}
{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]},{"apiGroups":["apps"],"resources":["deployments"],"verbs":["*"]}]}
{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{},"spec":{"rules":[{"host":"a","http":{"paths":[{"path":"/"}]}},{"host":"b"}],"tls":[{"hosts":["a"]}]}}
{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"finalizers":["x/a","x/b"],"labels":{"a":"b"}},"spec":{"items":[{"name":"a","x":[1,2]},{"name":"b"}],"tags":["a","b","b"],
 "map":{"a":{"b":1},"c/d":"x","e~f":"y","n":5,"f":1.5,"t":true},"text":"x"},"status":{"conditions":[{"type":"A"},{"type":"B"}]}}
"""
SCALARS = [0, 5, 80, 1.5, True, False, "a", "5", "true", "yes", "null", "", "1e3", "a b", "x\ny\n", "a: b", "# c", " x ", "~"]
MERGE_KEYS = ("name", "containerPort", "port", "mountPath", "devicePath", "ip", "topologyKey", "uid")
KEYS = ["a", "name", "b/c", "d~e", "x.y/z", "5", "y", "new"]


def text_of(value, random, indent=0):
    """A value as YAML: block or flow style, texts plain or quoted."""
    pad = "  " * indent
    if isinstance(value, dict) and value and random.random() < 0.9:
        lines = []
        for key, item in value.items():
            is_nested = isinstance(item, (dict, list)) and item
            lines.append(pad + scalar(key, random) + ":" + ("\n" if is_nested else " ") + nested(item, random, indent + 1))
        return "".join(lines)
    if isinstance(value, list) and value and random.random() < 0.9:
        return "".join(f"{pad}- {nested(item, random, indent + 1).lstrip(' ')}" for item in value)
    return scalar(value, random) + "\n"


def nested(value, random, indent):
    text = text_of(value, random, indent)
    return text if not (isinstance(value, (dict, list)) and value) or text.startswith(" ") else "  " * indent + text


def scalar(value, random):
    if isinstance(value, str) and value.replace("-", "").isalpha() and value.isascii() and value[:1] != "-" \
            and value.lower() not in ("true", "false", "null", "yes", "no", "on", "off", "y", "n") and random.random() < 0.7:
        return value
    if isinstance(value, str) and "'" not in value and value.isprintable() and random.random() < 0.5:
        return f"'{value}'"
    return json.dumps(value)


def edited(value, random, path=()):
    """A copy with one edit somewhere."""
    value = copy.deepcopy(value)
    place, steps = value, []
    for _ in range(random.randrange(1, 9)):
        keys = list(place) if isinstance(place, dict) else range(len(place))
        keys = [key for key in keys if isinstance(place[key], (dict, list)) and place[key] and not is_identity(steps, key)]
        if not keys:
            break
        key = random.choice(keys)
        steps.append(key)
        place = place[key]
    if isinstance(place, dict):
        keys = [key for key in place if not is_identity(steps, key)]
        what = random.choice(("set", "set", "remove", "add", "kind"))
        if what == "add" or not keys:
            key = random.choice(KEYS)
            if not is_identity(steps, key):
                place[key] = new_value(random) if steps[:1] != ["metadata"] else "v"
        elif what == "remove":
            del place[random.choice(keys)]
        else:
            key = random.choice(keys)
            same = isinstance(place[key], str) and what == "set"
            if steps[:1] == ["metadata"]:
                place[key] = random.choice(("v", "5", "true")) if isinstance(place[key], str) else place[key]
            else:
                place[key] = random.choice([each for each in SCALARS if isinstance(each, str)]) if same else new_value(random)
    else:
        what = random.choice(("move", "remove", "add", "set"))
        index = random.randrange(len(place))
        if what == "move":
            random.shuffle(place)
        elif what == "remove":
            del place[index]
        elif what == "add":
            element = copy.deepcopy(place[index])
            if isinstance(element, dict):
                for key, item in element.items():
                    element[key] = item + 1 if type(item) is int else item + "-new" if isinstance(item, str) else item
            place.insert(random.randrange(len(place) + 1), element if isinstance(element, dict) else "new")
        elif isinstance(place[index], dict):
            place[index]["extra"] = new_value(random)
        else:
            place[index] = "other"
    return value


def is_identity(steps, key):
    """Whether a field identifies the resource, or an element of a list, without which there is no patch."""
    is_element = steps and isinstance(steps[-1], int)
    return (not steps and key in ("apiVersion", "kind")) or (is_element and key in MERGE_KEYS) \
        or (steps == ["metadata"] and key in ("name", "namespace"))


def new_value(random):
    return random.choice((random.choice(SCALARS), random.choice(SCALARS), {"a": random.choice(SCALARS)}, ["a", 5], {}, [], [{"name": "a"}, {"name": "b", "x": 1}]))


def generated(samples, random, count):
    for number in range(count):
        live = copy.deepcopy(samples[number % len(samples)])
        name = f"{live['metadata'].get('name', 'x')}.{number}"
        live["metadata"]["name"] = name
        new = live
        for _ in range(random.choice((1, 1, 2, 3, 6))):
            new = edited(new, random)
        yield name, text_of(live, random), None if random.random() < 0.03 else text_of(new, random), None


def three_versions(samples, random, count):
    for number in range(count):
        original = copy.deepcopy(samples[number % len(samples)])
        original["metadata"]["name"] = name = f"x.{number}"
        live, new = (edited(edited(original, random), random) for _ in range(2))
        yield name, *(text_of(version, random) for version in (live, new, original))


def written():
    for name, (head, live, new) in PAIRS.items():
        lines = lambda text: head + f"metadata:\n  name: {name}\n" + text
        copied = new
        if new is not None and new.startswith("apiVersion"):
            version, copied = new.split("\n", 1)
            copied = lines(copied).replace(head.split("\n", 1)[0], version)
        elif new is not None:
            copied = lines(new)
        yield name, lines(live), copied, None


def alike():
    """Resources of which a target must not select another one."""
    kinds = (("v1", "Service", "web.a"), ("serving.knative.dev/v1", "Service", "web.a"), ("v1", "Service", "webxa"), ("v1", "Service", "web.a.b"))
    for version, kind, name in kinds:
        for namespace in ("", "  namespace: here\n", "  namespace: here-too\n"):
            live = f"apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}spec: {{a: x, n: 5}}\n"
            yield name, live, live.replace("5", f"'{name}'").replace("a: x", f"a: {json.dumps(namespace)}"), None


def corpus():
    try:
        import yaml
    except ImportError:
        print("left out the corpus: there is no PyYAML")
        return []
    root = pathlib.Path(os.environ.get("KRM_VARIANTS_SHARED", ROOT.parent / "shared")) / "corpus"
    found = []
    for path in sorted(root.glob("**/*.y*ml")):
        for document in yaml.load_all(path.read_text(), yaml.SafeLoader):
            is_resource = isinstance(document, dict) and document.get("metadata", {}).get("name") and document.get("kind") != "Kustomization"
            if is_resource and len(json.dumps(document, default=str)) < 40_000:
                document = json.loads(json.dumps(document, default=str))
                document["metadata"].pop("annotations", None)
                found.append(without_nulls(document))
    return found


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def check(name, pairs, binaries, build):
    """Makes the patches of all pairs, and compares two builds. Where a pair has a previous configuration as well, the
    other build is over what apply-patch makes of the patches for kubectl."""
    pairs = list(pairs)
    with tempfile.TemporaryDirectory() as work:
        made, entries = patched(pathlib.Path(work), pairs, binaries)
        found, wanted = (subprocess.run([*build, directory], capture_output=True, text=True)
                         for directory in (work, pathlib.Path(work) / "want"))
    is_refused = made.returncode == 1 and "(InvalidValue)" in made.stderr
    if made.returncode == found.returncode == wanted.returncode == 0 and found.stdout == wanted.stdout:
        json_patches = sum(entry.startswith("- target:") for entry in entries)
        print(f"ok: {name}: {len(pairs)} pairs, {len(entries) - json_patches} merge patches, {json_patches} JSON patches")
        return True
    if len(pairs) > 1:
        middle = len(pairs) // 2
        return all([check(name, half, binaries, build) for half in (pairs[:middle], pairs[middle:])])
    # Random edits make what nobody can build, too.
    if is_refused or wanted.returncode:
        return True
    print(f"FAILED: {name}: {pairs[0][0]}\n--- live\n{pairs[0][1]}--- new\n{pairs[0][2]}--- patches\n{made.stdout}{made.stderr}"
          f"--- wanted\n{wanted.stdout}--- found\n{found.stdout or found.stderr[-2000:]}")
    return False


def patched(work, pairs, binaries):
    """Writes the kustomization with the patches, and that of what they should make."""
    live, original, config, want = work / "live.yaml", work / "original.yaml", work / "config", work / "want"
    config.mkdir()
    want.mkdir()
    live.write_text("---\n".join(pair[1] for pair in pairs))
    original.write_text("---\n".join(pair[3] or pair[1] for pair in pairs))
    new = "---\n".join(pair[2] for pair in pairs if pair[2] is not None)
    (config / "new.yaml").write_text(new)
    flags = ["--package", config, "--live", live, "--original", original]
    made = subprocess.run([binaries / "create-patch", *flags, "format=kustomize"], capture_output=True, text=True)
    patches = made.stdout.removesuffix("\n").split("\n---\n") if made.stdout else []
    entries = []
    for number, patch in enumerate(patches):
        for directive in DIRECTIVES:
            assert directive not in patch, patch
        if patch.startswith("target:"):
            entries.append("- " + patch.replace("\n", "\n  "))
        else:
            (work / f"{number}.yaml").write_text(patch + "\n")
            entries.append(f"- path: {number}.yaml")
    (work / "kustomization.yaml").write_text("resources: [live.yaml]\n" + ("patches:\n" + "\n".join(entries) + "\n" if entries else ""))
    (want / "kustomization.yaml").write_text("resources: [new.yaml]\n")
    (want / "new.yaml").write_text(new)
    if pairs[0][3]:
        (want / "new.yaml").write_text(live.read_text())
        plain = work / "plain"
        plain.mkdir()
        patches = subprocess.run([binaries / "create-patch", *flags], capture_output=True, text=True)
        (plain / "patches.yaml").write_text(patches.stdout)
        command = [binaries / "apply-patch", "--package", want, "--patches", plain]
        if patches.returncode or subprocess.run(command, capture_output=True).returncode:
            (want / "kustomization.yaml").unlink()
    return made, entries


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    build = sys.argv[2].split()
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    generator = random.Random(seed)
    samples = [json.loads(text) for text in SAMPLES.strip().replace("\n ", " ").splitlines()]
    good = [check(f"written: {pair[0]}", [pair], binaries, build) for pair in written()]
    good.append(check("all at once", written(), binaries, build))
    good.append(check("alike", alike(), binaries, build))
    good.append(check("generated", generated(samples, generator, rounds), binaries, build))
    good.append(check("three versions", three_versions(samples, generator, rounds), binaries, build))
    packages = corpus()
    if packages:
        good.append(check("corpus", generated(packages, generator, max(rounds, len(packages))), binaries, build))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
