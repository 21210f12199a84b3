#!/usr/bin/env python3
"""Asks the real kustomize whether a merged kustomization has the edits of both sides.

    tests/kustomize_merges.py DIR_OF_BUILT_BINARIES BUILD [SEED [ROUNDS]]

Each round makes a kustomization, and gives local and upstream some edits of a list. merge-package merges the two
files, and BUILD ("kustomize build") builds the result. The edits know nothing of the merge: applied one after the
other to the same kustomization, in both orders, they say what the build must be. Where the orders differ, the sides
disagree: the result must be one of the two, in each place, and the merge must report a conflict. Needs PyYAML.
"""

import collections
import copy
import pathlib
import random
import subprocess
import sys
import tempfile

import yaml

REMOTE = "https://github.com/org/app//deploy?ref=%s"

FILES = {
    "web.yaml": """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: "registry.local/app:1", env: [{name: A, value: a}, {name: B, value: b}]}
      - {name: proxy, image: "proxy:1"}
""",
    "service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  selector: {app: web}\n  ports: [{name: http, port: 80}]\n",
    "replicas.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {revisionHistoryLimit: 3}\n",
    "wait.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {minReadySeconds: 9}\n",
    "a.conf": "a\n", "b.conf": "b\n", "c.conf": "c\n",
    "part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {part: 'yes'}\n",
    "other/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {other: 'yes'}\n",
}
for extra in "abcd":
    FILES[f"extra-{extra}.yaml"] = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: extra-{extra}}}\ndata: {{k: {extra}}}\n"

HEAD = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}


class Text(str):
    """A text in block style."""


def represent(dumper, text):
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")


yaml.SafeDumper.add_representer(Text, represent)


def start(rng):
    """A kustomization, with or without each of its fields."""
    fields = {
        "resources": ["web.yaml", "service.yaml", "extra-a.yaml"],
        "components": ["part"],
        "images": [{"name": "registry.local/app", "newTag": "2"}],
        "labels": [{"includeSelectors": True, "pairs": {"env": "dev", "ver": "1"}}, {"pairs": {"team": "x"}}],
        "commonAnnotations": {"owner": "base"},
        "configMapGenerator": [{"name": "config", "literals": ["A=1", "B=2"], "files": ["a.conf"]},
                               {"name": "config", "namespace": "two", "literals": ["A=1"]}],
        "generatorOptions": {"disableNameSuffixHash": True},
        "patches": [
            {"path": "replicas.yaml"},
            {"patch": Text("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n"
                           "      containers:\n      - name: app\n        env:\n        - name: A\n          value: patched\n")},
            {"target": {"kind": "Service"}, "patch": Text("- op: add\n  path: /metadata/annotations\n  value:\n    first: '1'\n")},
        ],
        "replacements": [{"source": {"kind": "ConfigMap", "name": "extra-a", "fieldPath": "data.k"},
                          "targets": [{"select": {"kind": "Deployment"}, "fieldPaths": ["metadata.annotations.k"],
                                       "options": {"create": True}}]}],
        "transformers": [Text("apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata:\n  name: notes\nannotations:\n"
                              "  note: base\nfieldSpecs:\n- path: metadata/annotations\n  create: true\n")],
    }
    needed = ("resources", "generatorOptions")
    chosen = {name: value for name, value in fields.items() if name in needed or rng.random() < 0.8}
    return {**(HEAD if rng.random() < 0.7 else {}), **chosen}


def named(items, **names):
    """The element with these fields, which is made if it is missing."""
    for item in items:
        if all(item.get(key) == value for key, value in names.items()):
            return item
    items.append(dict((key, value) for key, value in names.items() if value is not None))
    return items[-1]


def edits(rng):
    """An edit of a kustomization: its name, and a function."""
    value = rng.choice(["x", "w", "z"])
    key = rng.choice(["k1", "k2", "k3", "env", "ver", "team", "owner"])
    extra = rng.choice("bcd")

    def resource(k):
        paths = k["resources"]
        if f"extra-{extra}.yaml" not in paths:
            paths.insert(rng_at % (len(paths) + 1), f"extra-{extra}.yaml")

    def image(k):
        named(k.setdefault("images", []), name=rng_image)["newTag"] = value

    def mirror(k):
        named(k.setdefault("images", []), name=rng_image)["newName"] = f"mirror.local/{value}"

    def label(k):
        for entry in k.setdefault("labels", []):
            if key in entry["pairs"]:
                entry["pairs"][key] = value
                return
        if k["labels"] and rng_at % 2:
            k["labels"][-1]["pairs"][key] = value
        else:
            k["labels"].append({"pairs": {key: value}})

    def annotation(k):
        k.setdefault("commonAnnotations", {})[key] = value

    def literal(k):
        generator = named(k.setdefault("configMapGenerator", []), name=rng_generator, namespace=rng_namespace)
        literals = generator.setdefault("literals", [])
        literals[:] = [one for one in literals if not one.startswith(key + "=")] + [f"{key}={value}"]

    def changed_literal(k):
        generator = named(k.setdefault("configMapGenerator", []), name="config", namespace=None)
        literals = generator.setdefault("literals", [])
        for at, one in enumerate(literals):
            if one.startswith("A="):
                literals[at] = f"A={value}"
                return
        literals.append(f"A={value}")

    def file(k):
        generator = named(k.setdefault("configMapGenerator", []), name="config", namespace=None)
        files = generator.setdefault("files", [])
        if f"{rng_file}.conf" not in files:
            files.append(f"{rng_file}.conf")

    def patch_by_path(k):
        named(k.setdefault("patches", []), path="wait.yaml")

    def inline(k):
        """A field of the inline patch of the Deployment, which is made if it is missing."""
        for entry in k.setdefault("patches", []):
            if "patch" in entry and "target" not in entry:
                patch = yaml.safe_load(entry["patch"])
                break
        else:
            entry = {}
            k["patches"].append(entry)
            patch = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
        change(patch)
        entry["patch"] = Text(yaml.safe_dump(patch, sort_keys=False))

    def change(patch):
        if rng_at % 3 == 0:
            patch.setdefault("spec", {})["progressDeadlineSeconds"] = 100 + len(value) + ord(value)
        elif rng_at % 3 == 1:
            patch["metadata"].setdefault("annotations", {})[f"p-{key}"] = value
        else:
            spec = patch.setdefault("spec", {}).setdefault("template", {}).setdefault("spec", {})
            app = named(spec.setdefault("containers", []), name="app")
            named(app.setdefault("env", []), name="AB"[len(key) % 2])["value"] = value

    def json_patch(k):
        target = {"kind": "Service", "name": "web"} if rng_at % 2 else {"kind": "Deployment"}
        if any(entry.get("target") == target for entry in k.get("patches", [])):
            return
        text = f"- op: add\n  path: /metadata/labels/{key}j\n  value: {value}\n"
        if target["kind"] == "Service":
            text = f"- op: replace\n  path: /spec/ports/0/port\n  value: {80 + ord(value)}\n"
        k.setdefault("patches", []).append({"target": target, "patch": Text(text)})

    def replacement(k):
        source = {"kind": "ConfigMap", "name": "extra-a", "fieldPath": "data.k"}
        for entry in k.setdefault("replacements", []):
            if entry["source"] == source:
                break
        else:
            entry = {"source": source, "targets": [{"select": {"kind": "Deployment"}, "fieldPaths": [],
                                                    "options": {"create": True}}]}
            k["replacements"].append(entry)
        paths = entry["targets"][0]["fieldPaths"]
        path = f"metadata.annotations.{key}"
        if path not in paths:
            paths.append(path)

    def transformer(k):
        for at, text in enumerate(k.setdefault("transformers", [])):
            document = yaml.safe_load(text)
            document["annotations"][f"t-{key}"] = value
            k["transformers"][at] = Text(yaml.safe_dump(document, sort_keys=False))
            return

    def component(k):
        if "other" not in k.setdefault("components", []):
            k["components"].append("other")

    def head(k):
        for name in HEAD:
            if name in k:
                del k[name]
            else:
                k[name] = HEAD[name]

    def replicas(k):
        named(k.setdefault("replicas", []), name="web")["count"] = 2 + "xwz".index(value)

    rng_at = rng.randrange(6)
    rng_image = rng.choice(["registry.local/app", "proxy"])
    rng_generator, rng_namespace = rng.choice([("config", None), ("config", "two"), ("more", None)])
    rng_file = rng.choice("bc")
    all_edits = [resource, image, mirror, label, annotation, literal, changed_literal, file, patch_by_path, inline, inline,
                 json_patch, replacement, transformer, component, head, replicas]
    return rng.choice(all_edits)


def applied(kustomization, changes):
    kustomization = copy.deepcopy(kustomization)
    for change in changes:
        change(kustomization)
    return kustomization


def leaves(value, path=()):
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from leaves(below, path + (key,))
    elif isinstance(value, list) and value and all(isinstance(item, dict) and "name" in item for item in value):
        for item in value:
            yield from leaves(item, path + (item["name"],))
    elif isinstance(value, list):
        yield path, tuple(sorted(map(str, value)))
    else:
        yield path, value


class Builder:
    def __init__(self, folder, command):
        self.folder, self.command = folder, command.split()
        self.put("built", {})
        for path, text in FILES.items():
            file = folder / "built" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def put(self, name, kustomization):
        text = kustomization
        if not isinstance(kustomization, str):
            text = yaml.safe_dump(kustomization, sort_keys=False, width=1000)
        file = self.folder / name / "kustomization.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def build(self, kustomization):
        """The leaves of what is built, or the error."""
        self.put("built", kustomization)
        run = subprocess.run(self.command + [str(self.folder / "built")], capture_output=True, text=True)
        if run.returncode:
            return run.stderr
        found = {}
        for resource in yaml.safe_load_all(run.stdout):
            metadata = resource["metadata"]
            place = (resource["kind"], metadata.get("namespace"), metadata["name"])
            found.update(leaves(resource, place))
        return found


def wrong(built, orders, is_reported):
    """What is wrong with a build of the merge, given the builds of both orders. Empty if nothing is."""
    expected = [order for order in orders if isinstance(order, dict)]
    if not expected:
        return ""
    if isinstance(built, str):
        return f"no build: {built}"
    for place in set(built).union(*expected):
        allowed = [order.get(place) for order in orders if isinstance(order, dict)]
        if built.get(place) not in allowed:
            return f"{place}: expected {allowed}, found {built.get(place)!r}"
        if any(value != allowed[0] for value in allowed) and not is_reported:
            return f"{place}: the sides disagree ({allowed}), and no conflict is reported"
    return ""


def main():
    binaries, command = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    counts, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        builder = Builder(folder, command)
        for number in range(rounds):
            rng = random.Random(f"{seed}.{number}")
            base = start(rng)
            local, upstream = ([edits(rng) for _ in range(rng.randint(1, 3))] for _ in range(2))
            names = [[edit.__name__ for edit in side] for side in (local, upstream)]
            sides = base, applied(base, local), applied(base, upstream)
            for name, kustomization in zip(("base", "local", "upstream"), sides):
                builder.put(name, kustomization)
            orders = [builder.build(applied(base, one + other)) for one, other in ((local, upstream), (upstream, local))]
            merge = [binaries / "merge-package", "--package", "local", "--original", "base", "--upstream", "upstream"]
            run = subprocess.run(merge, cwd=folder, capture_output=True, text=True)
            merged = (folder / "local" / "kustomization.yaml").read_text()
            is_reported = "MergeConflict" in run.stderr
            what = wrong(builder.build(merged), orders, is_reported)
            agree = isinstance(orders[0], dict) and orders[0] == orders[1]
            counts["unbuildable"] += all(isinstance(order, str) for order in orders)
            if run.returncode or what:
                failed += 1
                print(f"FAILED: seed {seed}, round {number}, {names}: {run.stderr if run.returncode else what}")
                for name in ("base", "upstream"):
                    print(f"--- {name}\n{(folder / name / 'kustomization.yaml').read_text()}", end="")
                print(f"--- merged\n{merged}--- results\n{run.stderr}")
            elif agree and is_reported:
                counts["needless"] += 1
                print(f"needless: seed {seed}, round {number}, {names}: {run.stderr}")
            else:
                counts["asked" if is_reported else "right"] += 1
    print(f"seed {seed}: {rounds} merges: {counts['right']} right, {counts['asked']} asked, {counts['needless']} needless, {failed} wrong, "
          f"{counts['unbuildable']} not to be built")
    sys.exit(1 if failed or counts["needless"] * 50 > rounds or counts["unbuildable"] * 20 > rounds else 0)


main()
