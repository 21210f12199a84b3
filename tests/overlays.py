#!/usr/bin/env python3
"""Asks the real kustomize whether overlays of real forks make the forks.

    tests/overlays.py DIR_OF_BUILT_BINARIES BUILD MIRRORS [TABLE]

MIRRORS holds bare clones as OWNER+NAME/repo; those that are missing are left out. Each package is forked twice: edited as
people edit (registry, replicas, limits, arguments, namespace, labels, resources that go and come, comments), and as its own
next release, the largest fork there is. create-overlay makes an overlay of each, BUILD ("kustomize build", "kubectl
kustomize") builds it, and the output must be that of BUILD over the fork. Prints a table; needs PyYAML.
"""

import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import yaml

# Clone, directory or file, two releases.
PACKAGES = [
    ("argoproj+argo-cd", "manifests/install.yaml", "v3.0.0", "v3.1.0"),
    ("metallb+metallb", "config/manifests/metallb-native.yaml", "v0.14.5", "v0.15.2"),
    ("kubernetes+ingress-nginx", "deploy/static/provider/cloud/deploy.yaml", "controller-v1.9.0", "controller-v1.12.0"),
    ("prometheus-operator+kube-prometheus", "manifests", "v0.13.0", "v0.15.0"),
    ("kubernetes-csi+external-snapshotter", "deploy/kubernetes/snapshot-controller", "v7.0.0", "v8.2.0"),
    ("strimzi+strimzi-kafka-operator", "install/cluster-operator", "0.44.0", "0.46.0"),
    ("longhorn+longhorn", "deploy/longhorn.yaml", "v1.7.0", "v1.8.0"),
    ("rook+rook", "deploy/examples/common.yaml", "v1.15.0", "v1.17.0"),
    ("tektoncd+pipeline", "config", "v0.60.0", "v0.65.0"),
]
TOOLS = ("kustomize.config.k8s.io", "kpt.dev", "config.kubernetes.io", "fn.kpt.dev")


class Loader(yaml.SafeLoader):
    pass


Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in pairs if tag != "tag:yaml.org,2002:timestamp"]
    for key, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=300, **options)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def files_of(repo, path, revision):
    """The YAML files of a package at a revision, by name; None if it has none."""
    code, listed, _ = run("git", "-C", repo, "ls-tree", "-r", "--name-only", revision, "--", path)
    names = [n for n in listed.decode().split("\n") if n.endswith((".yaml", ".yml"))]
    if code or not names:
        return None
    found = {}
    for name in names:
        text = run("git", "-C", repo, "show", f"{revision}:{name}")[1].decode()
        short = name[len(path):].lstrip("/") or name.rsplit("/", 1)[-1]
        found[short] = text
    return found


def is_resource(doc):
    return isinstance(doc, dict) and "kind" in doc and "apiVersion" in doc and doc["apiVersion"].split("/")[0] not in TOOLS \
        and ((doc.get("metadata") or {}).get("name") or doc["kind"].endswith("List") and "items" in doc)


def write(directory, files):
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def with_kustomization(directory):
    """Makes a fork buildable: a kustomization of all its files, unless it has one."""
    if any((directory / name).exists() for name in ("kustomization.yaml", "kustomization.yml", "Kustomization")):
        return
    names = []
    for path in sorted(directory.rglob("*.y*ml")):
        docs = [doc for doc in yaml.load_all(path.read_text(), Loader) if doc is not None]
        if docs and all(is_resource(doc) for doc in docs):
            names.append(str(path.relative_to(directory)))
    (directory / "kustomization.yaml").write_text(yaml.safe_dump({"resources": names}))


def objects(text):
    found = {}
    for doc in yaml.load_all(text, Loader):
        if doc is None:
            continue
        meta = doc["metadata"]
        key = (doc["apiVersion"], doc["kind"], meta.get("namespace"), meta["name"])
        assert key not in found, key
        found[key] = doc
    return found


def edited(files, rng):
    """Edits as people make them, in the text where that is possible, so that comments and forms stay."""
    made = {}
    for name, text in files.items():
        docs = text.split("\n---\n")
        kept = []
        for at, doc in enumerate(docs):
            parsed = list(yaml.load_all(doc, Loader))
            parsed = parsed[0] if len(parsed) == 1 else None
            if not is_resource(parsed):
                kept.append(doc)
                continue
            kind = parsed["kind"]
            if kind in ("PodDisruptionBudget", "NetworkPolicy", "PrometheusRule") and rng.random() < .5:
                continue
            lines = []
            for line in doc.split("\n"):
                bare = line.lstrip()
                pad = line[:len(line) - len(bare)]
                if bare.startswith(("image: ", "- image: ")) and kind != "CustomResourceDefinition":
                    head, image = line.split("image: ", 1)
                    image = image.strip().strip('"')
                    first, slash, rest = image.partition("/")
                    rest = rest if slash and ("." in first or ":" in first) else image
                    line = f"{head}image: registry.example.com/{rest}"
                elif bare.startswith("replicas: ") and kind in ("Deployment", "StatefulSet"):
                    line = f"{pad}replicas: 3 # two were too few"
                elif bare.startswith(("memory: ", "cpu: ")) and rng.random() < .5:
                    line = f"{pad}{bare.split(':')[0]}: 300m"
                elif bare.startswith(("- --", '- "--')) and rng.random() < .2:
                    line = f"{line}\n{pad}- --own-flag=yes"
                elif bare.startswith("periodSeconds: ") and rng.random() < .5:
                    line = f"{pad}periodSeconds: 33"
                elif bare.startswith("name: ") and pad == "  " and kind == "ServiceAccount" and rng.random() < .5:
                    line = f"{line}\n  annotations:\n    example.com/role: {parsed['metadata']['name']}"
                elif bare.startswith("serviceAccountName: ") and kind == "Deployment" and "priorityClassName" not in doc:
                    line = f"{line}\n{pad}priorityClassName: high # ours"
                lines.append(line)
            kept.append("\n".join(lines))
        made[name] = "\n---\n".join(kept)
    made = {name: text for name, text in made.items() if text.strip()}
    made["own.yaml"] = "# ours\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own-settings\ndata:\n  a: b\n"
    kustomization = made.get("kustomization.yaml")
    if kustomization:
        parsed = yaml.safe_load(kustomization)
        parsed["resources"] = [n for n in parsed["resources"] if n in made or not n.endswith(".yaml")] + ["own.yaml"]
        made["kustomization.yaml"] = yaml.safe_dump(parsed)
    return made


def namespaced(files):
    """All in another namespace, with a label of the team."""
    made = {}
    for name, text in files.items():
        docs = [doc for doc in yaml.load_all(text, Loader) if doc is not None]
        if not docs or not all(is_resource(doc) for doc in docs):
            made[name] = text
            continue
        for doc in [item for doc in docs for item in doc.get("items") or [doc]]:
            meta = doc["metadata"]
            meta.setdefault("labels", {})
            meta["labels"] = {**(meta["labels"] or {}), "team": "infra"}
        made[name] = yaml.safe_dump_all(docs, sort_keys=False)
    return made


def main():
    binaries, build, mirrors = pathlib.Path(sys.argv[1]), sys.argv[2].split(), pathlib.Path(sys.argv[3])
    rng = random.Random(7)
    failed, rows = 0, []
    for clone, path, old, new in PACKAGES:
        repo = mirrors / clone / "repo"
        if not repo.exists():
            print(f"left out: {clone}")
            continue
        upstream, later = files_of(repo, path, old), files_of(repo, path, new)
        if not upstream or not later:
            print(f"left out: {clone} {path} {old if not upstream else new}")
            continue
        forks = {"edited": edited(upstream, rng), "labelled": namespaced(upstream), f"{new}": later}
        for what, fork in forks.items():
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                write(folder / "upstream", upstream)
                write(folder / "fork", fork)
                start = time.monotonic()
                code, _, errors = run(binaries / "create-overlay", "--package", folder / "fork", "--upstream",
                                      folder / "upstream", "--into", folder / "overlay")
                took = time.monotonic() - start
                name = f"{clone.split('+')[1]} {path} {old} -> {what}"
                if code:
                    failed += 1
                    print(f"FAILED {name}: {errors[:1500]}")
                    continue
                with_kustomization(folder / "fork")
                results = [run(*build, folder / side) for side in ("overlay", "fork")]
                if results[0][0] or results[1][0]:
                    failed += 1
                    print(f"FAILED {name}: {results[0][2][:800]} {results[1][2][:800]}")
                    continue
                built, wanted = [objects(result[1].decode()) for result in results]
                wrong = [key for key in {**built, **wanted} if built.get(key) != wanted.get(key)]
                if wrong:
                    failed += 1
                    print(f"FAILED {name}: {len(wrong)} differ")
                    for key in wrong[:3]:
                        print(key, json.dumps(built.get(key), default=str)[:600], json.dumps(wanted.get(key), default=str)[:600])
                    continue
                own = [p for p in (folder / "overlay").rglob("*") if p.is_file() and "base" not in p.relative_to(folder / "overlay").parts[:1]]
                lines = sum(len(p.read_text().splitlines()) for p in own)
                size = sum(len(text.splitlines()) for text in fork.values())
                summary = [line for line in errors.splitlines() if "overlay: " in line]
                summary = summary[-1].split("overlay: ")[1].split(";")[0] if summary else ""
                rows.append((clone.replace("+", "/"), path, f"{old}, {what}", len(wanted), size, lines, summary, took))
                print(f"ok: {name}: {len(wanted)} resources, {size} lines, overlay {lines} lines, {summary}, {took * 1000:.0f} ms")
    print("\n| project | package | fork | overlay | resources | lines of the fork | lines of the overlay |\n|---|---|---|---|---|---|---|")
    for project, path, fork, count, size, lines, summary, took in rows:
        print(f"| {project} | `{path}` | {fork} | {summary} | {count} | {size} | {lines} |")
    print(f"{len(rows)} overlays make their forks, {failed} failed")
    sys.exit(failed > 0)


main()
