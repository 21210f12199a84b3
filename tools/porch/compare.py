#!/usr/bin/env python3
"""Compares Porch's controllers with expand-variant-set and the functions of render-variant, as data.

    tools/porch/compare.py sets SEED COUNT PORCH KRMV
    tools/porch/compare.py packages SEED COUNT PORCH KRMV
    tools/porch/compare.py states PORCH

PORCH is a clone of nephio-project/porch whose Go modules can be had (`go mod edit -replace github.com/kptdev/kpt=DIR` takes a clone of kpt
at the tag that go.mod names); KRMV is the built program. Generates COUNT sets, or COUNT packages, and compares what Porch's reconcilers
make of them with what the functions make of them. Prints each difference that has no class; exits with 1 if there is one.
"""

import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).parent
SETS = "controllers/packagevariantsets/pkg/controllers/packagevariantset"
VARIANTS = "controllers/packagevariants/pkg/controllers/packagevariant"
GROUP = "config.porch.kpt.dev"


def built(porch, folder, name):
    """The test program of a folder of Porch, with one of our tests in it."""
    copy = pathlib.Path(porch) / folder / f"compared_{name}"
    shutil.copy(HERE / name, copy)
    program = pathlib.Path(tempfile.mkdtemp()) / "compared"
    try:
        environment = {**os.environ, "GOFLAGS": "-mod=mod -buildvcs=false"}
        subprocess.run(["go", "test", "-c", "-o", program, f"./{folder}"], cwd=porch, check=True, env=environment)
    finally:
        copy.unlink()
    return program


def run(program, test, **variables):
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run([program, "-test.run", test, "-test.v"], env=environment, capture_output=True, text=True, check=False)
    return done.stdout


def documents(*files):
    return [document for file in sorted(files) for document in yaml.safe_load_all(file.read_text()) if document]


def without_empty(value):
    if isinstance(value, dict):
        return {key: without_empty(inner) for key, inner in value.items() if inner not in (None, {}, [], "")}
    return [without_empty(inner) for inner in value] if isinstance(value, list) else value


class Generator(random.Random):
    """Random sets, PackageVariants and packages, of few names, so that they meet."""

    def some(self, chance):
        return self.random() < chance

    def entries(self):
        return {f"k{self.randrange(6)}": self.choice(["v", "042", "true", "a: b"]) for _ in range(self.randrange(1, 4))}

    def expression(self, selects):
        field = "name" if selects else self.choice(["repo", "package"])
        return self.choice([
            "repository.name", "repoDefault", "packageDefault + '-x'", "upstream.name", "repository.labels.env", f"target.{field}",
            "has(repository.annotations.a) ? 'yes' : 'no'", "repoDefault.startsWith('e') ? 'e' : 'o'", "string(size(packageDefault))",
        ])

    def computed(self, selects):
        found = {}
        for _ in range(self.randrange(1, 3)):
            key = {"key": f"k{self.randrange(5)}"} if self.some(0.7) else {"keyExpr": f"'c{self.randrange(3)}-' + repoDefault"}
            value = {"value": "literal"} if self.some(0.3) else {"valueExpr": self.expression(selects)}
            found.setdefault(str(key), {**key, **value})
        return list(found.values())

    def function(self, owner=None, selects=None):
        function = {"image": f"r/i{self.randrange(3)}:v{self.randrange(3)}"}
        if self.some(0.7):
            function["name"] = f"f{self.randrange(4)}"
        if owner:
            function["name"] = f"PackageVariant.{owner}.{function.get('name', '')}.{self.randrange(3)}"
        if self.some(0.3):
            function["configPath"] = "c.yaml"
        else:
            if self.some(0.5):
                function["configMap"] = self.entries()
            if selects is not None and self.some(0.5):
                function["configMapExprs"] = self.computed(selects)
        if self.some(0.3):
            function["selectors"] = [{"kind": "Deployment", "labels": {"a": "b"}}]
        return function

    def pipeline(self, make):
        lists = self.sample(["mutators", "validators"], self.randrange(1, 3))
        return {name: [make() for _ in range(self.randrange(1, 4))] for name in lists}

    def selector(self):
        if self.some(0.3):
            return {}
        key, values = self.choice(["env", "region", "t"]), ["prod", "dev", "eu", "us", "1"]
        if self.some(0.5):
            return {"matchLabels": {key: self.choice(values)}}
        operator = self.choice(["In", "NotIn", "Exists", "DoesNotExist"])
        listed = {"values": self.sample(values, 2)} if "In" in operator else {}
        return {"matchExpressions": [{"key": key, "operator": operator, **listed}]}

    def template(self, selects):
        template = {}
        if selects:
            template["downstream"] = {"repo": "edge", "packageExpr": "'o-' + target.name"}
        elif self.some(0.4):
            template["downstream"] = {"packageExpr": "packageDefault + '-' + repository.name"}
        if self.some(0.5):
            template["adoptionPolicy"] = self.choice(["adoptNone", "adoptExisting"])
        if self.some(0.5):
            template["deletionPolicy"] = self.choice(["delete", "orphan"])
        for field in ["label", "annotation"]:
            if self.some(0.4):
                template[f"{field}s"] = self.entries()
            if self.some(0.4):
                template[f"{field}Exprs"] = self.computed(selects)
        if self.some(0.5):
            context = {"data": self.entries(), "dataExprs": self.computed(selects)}
            context |= {"removeKeys": self.sample(["z", "y1", "x", "w"], 2), "removeKeyExprs": [self.expression(selects)]}
            template["packageContext"] = dict(self.sample(list(context.items()), self.randrange(1, 5)))
        if self.some(0.5):
            template["pipeline"] = self.pipeline(lambda: self.function(selects=selects))
        if self.some(0.4):
            template["injectors"] = [{"group": "g", "name": "first"}, {"nameExpr": self.expression(selects)}]
        return template

    def target(self):
        kind = self.choice(["repositories", "repositorySelector", "objectSelector"])
        if kind == "repositories":
            names = self.sample(["edge", "core"], self.randrange(1, 3))
            target = {kind: [{"name": name, **({"packageNames": ["p", "q"]} if self.some(0.5) else {})} for name in names]}
        elif kind == "repositorySelector":
            target = {kind: self.selector()}
        else:
            target = {kind: {"apiVersion": "fleet.example.com/v1", "kind": "Team", **self.selector()}}
        selects = kind == "objectSelector"
        if selects or self.some(0.8):
            target["template"] = self.template(selects)
        return target


def thing(version, kind, name, spec=None, **metadata):
    found = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default", **metadata}}
    return found if spec is None else {**found, "spec": spec}


def revision(workspace, number):
    spec = {"packageName": "foo", "repository": "blueprints", "revision": number, "workspaceName": workspace, "lifecycle": "Published"}
    return thing("porch.kpt.dev/v1alpha1", "PackageRevision", f"blueprints.foo.{workspace}", spec)


OBJECTS = [
    thing(f"{GROUP}/v1alpha1", "Repository", "edge", {"type": "git"}, labels={"env": "prod", "region": "eu"}),
    thing(f"{GROUP}/v1alpha1", "Repository", "core", {"type": "git"}, labels={"env": "dev", "region": "us"}, annotations={"a": "b"}),
    revision("ws2", 2),
    revision("main", -1),
    thing("fleet.example.com/v1", "Team", "first", labels={"t": "1"}),
    thing("fleet.example.com/v1", "Team", "second", labels={"t": "1"}),
]


def compare_set(generator, folder, program, krmv):
    """The class of what becomes of one set, and how many PackageVariants are the same."""
    inputs, theirs, ours = folder / "in", folder / "porch", folder / "ours"
    for made in (inputs, theirs):
        made.mkdir(parents=True)
    upstream = {"repo": "blueprints", "package": "foo", "workspaceName": "ws2"}
    spec = {"upstream": upstream, "targets": [generator.target() for _ in range(generator.randrange(1, 4))]}
    fleet = thing(f"{GROUP}/v1alpha2", "PackageVariantSet", "fleet", spec, uid="u-1")
    (inputs / "set.yaml").write_text(yaml.safe_dump(fleet, sort_keys=False))
    (inputs / "cluster.yaml").write_text("\n---\n".join(yaml.safe_dump(found) for found in OBJECTS))
    log = run(program, "TestCompareSets", IN=inputs, OUT=theirs)
    shutil.copytree(inputs, ours)
    (ours / "Kptfile").write_text("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: fleet\n")
    done = subprocess.run([krmv, "expand-variant-set", "--package", ours], capture_output=True, text=True, check=False)
    made = [found for found in documents(*ours.rglob("*.yaml")) if found["kind"] == "PackageVariant"]
    expected, found = ({variant["metadata"]["name"]: without_empty(variant["spec"]) for variant in variants}
                       for variants in (documents(*theirs.glob("*.yaml")), made))
    for reason in ("NameCollision", "InvalidExpression"):
        if f"({reason})" in done.stderr:
            return f"{reason}, refused here", 0
    if "Condition Stalled True" in log or expected != found:
        return f"differs: {folder}", 0
    return "the same", len(found)


CLUSTER = [
    {**thing("v1", "ConfigMap", "src"), "data": {"a": "b"}},
    thing("v1", "ConfigMap", "empty"),
    thing("x.y/v1", "Foo", "src", {"q": [1, "two"]}),
]


def compare_package(generator, folder, program, krmv):
    """The class of what becomes of one package."""
    inputs, theirs, ours = folder / "package", folder / "porch", folder / "ours"
    for made in (inputs, theirs):
        made.mkdir(parents=True)
    spec = {"upstream": {"repo": "a", "package": "b", "workspaceName": "w"}, "downstream": {"repo": "c", "package": "d"}}
    if generator.some(0.7):
        spec["pipeline"] = generator.pipeline(generator.function)
    if generator.some(0.6):
        spec["packageContext"] = {"data": generator.entries(), "removeKeys": generator.sample(["k9", "zone", "k8"], 2)}
    if generator.some(0.7):
        spec["injectors"] = [{"kind": generator.choice(["ConfigMap", "Foo"]), "name": generator.choice(["src", "empty", "nope"])},
                             {"name": generator.choice(["src", "nope"])}]
    variant, cluster = folder / "variant.yaml", folder / "cluster.yaml"
    variant.write_text(yaml.safe_dump(thing(f"{GROUP}/v1alpha1", "PackageVariant", "mine", spec), sort_keys=False))
    cluster.write_text("\n---\n".join(yaml.safe_dump(found) for found in CLUSTER))
    kptfile = {"apiVersion": "kpt.dev/v1", "kind": "Kptfile", "metadata": {"name": "web"}}
    if generator.some(0.6):
        kptfile["pipeline"] = generator.pipeline(lambda: generator.function(generator.choice([None, "mine", "other"])))
    if generator.some(0.3):
        kptfile["info"] = {"readinessGates": [{"conditionType": "z.a"}, {"conditionType": "a.z"}]}
    if generator.some(0.3):
        condition = {"type": "config.injection.ConfigMap.point", "status": "False", "reason": "NoResourceSelected", "message": "old"}
        kptfile["status"] = {"conditions": [{"type": "z.a", "status": "True", "reason": "r", "message": "m"}, condition]}
    context = {**thing("v1", "ConfigMap", "kptfile.kpt.dev"), "data": {"name": "web", "zone": "z", "k1": "old"}}
    points = [{**thing("v1", "ConfigMap", "point"), "data": {"old": "x"}}, thing("x.y/v1", "Foo", "other", {"old": 1})]
    for point in points:
        point["metadata"]["annotations"] = {"kpt.dev/config-injection": generator.choice(["required", "optional"])}
    for name, text in (("Kptfile", yaml.safe_dump(kptfile, sort_keys=False)), ("package-context.yaml", yaml.safe_dump(context)),
                       ("points.yaml", yaml.safe_dump_all(points[: generator.randrange(1, 3)]))):
        (inputs / name).write_text(text)
    log = run(program, "TestComparePackages", PACKAGE=inputs, VARIANT=variant, CLUSTER=cluster, OUT=theirs)
    shutil.copytree(inputs, ours)
    steps = (["set-package-context"] if "packageContext" in spec else []) + ["prepend-pipeline", "inject-config"]
    for step in steps:
        resources = ["--resources", cluster] if step == "inject-config" else []
        subprocess.run([krmv, step, "-q", "--package", ours, "--config", variant, *resources], check=False, capture_output=True)
    same = not "--- FAIL" in log and normal(theirs) == normal(ours)
    return ("the same" if same else f"differs: {folder}"), 1


def normal(folder):
    """The files of a package without the differences that docs/compatibility.md names."""
    found = {file.name: documents(file) for file in folder.iterdir()}
    for resource in (resource for file in found.values() for resource in file):
        annotations = resource["metadata"].get("annotations", {})
        if "kpt.dev/injected-resource-name" in annotations:
            annotations["kpt.dev/injected-resource"] = annotations.pop("kpt.dev/injected-resource-name")
        resource.get("info", {}).get("readinessGates", []).sort(key=str)
        conditions = resource.get("status", {}).get("conditions", [])
        conditions.sort(key=lambda condition: condition["type"])
        for condition in conditions:
            condition["reason"] = condition["reason"].replace("FieldNotFound", "NoResourceSelected")
    return found


def main():
    what, *arguments = sys.argv[1:]
    if what == "states":
        print(run(built(arguments[0], VARIANTS, "variants_test.go"), "TestStates"))
        return
    seed, count, porch, krmv = arguments
    compare = compare_set if what == "sets" else compare_package
    program = built(porch, *((SETS, "sets_test.go") if what == "sets" else (VARIANTS, "variants_test.go")))
    generator, folder = Generator(int(seed)), pathlib.Path(tempfile.mkdtemp())
    classes, objects = collections.Counter(), 0
    for number in range(int(count)):
        found, same = compare(generator, folder / str(number), program, pathlib.Path(krmv).resolve())
        classes[found] += 1
        objects += same
    for found, number in classes.most_common():
        print(number, found)
    print(objects, "PackageVariants" if what == "sets" else "packages", "compared")
    sys.exit(any(found.startswith("differs") for found in classes))


if __name__ == "__main__":
    main()
